//! Jump consistent hash, literally.
//!
//! Source: `spec/placement.md`, "jump".

use crate::hash::halves;

/// The slot of a key among `slots` slots, and the number of jumps drawn; none without slots.
///
/// The key's slot is followed while the number of slots grows from 1: each draw of a linear congruential generator
/// says at which number of slots the key jumps next, and to which slot. The last jump that stays inside counts. The
/// doubles are part of the definition: they are the same on every machine with IEEE arithmetic.
///
/// # Complexity
/// 1 + 1/2 + .. + 1/n draws on average for n slots: about ln n + 0.58.
///
/// Source: J. Lamping, E. Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm", arXiv 1406.2294, figure 1 (a
/// slot is a "bucket" there); `spec/placement.md`, "jump".
///
/// ```
/// use rehome::placement::jump::scalar::jump;
///
/// assert_eq!(jump(256, 1024).map(|(slot, _)| slot), Some(520));
/// ```
#[inline]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cut off as defined: 1 to 2^63")]
pub fn jump(key: u64, slots: u32) -> Option<(u32, u64)> {
    let mut state = key;
    let mut next = 0_u64;
    let mut found = None;
    for draws in 1.. {
        let Some(slot) = u32::try_from(next).ok().filter(|slot| *slot < slots) else { break };
        found = Some((slot, draws));
        state = state.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
        // The upper 31 bits, plus 1: 1 to 2^31.
        let draw = (halves(state).1 >> 1) + 1;
        next = ((f64::from(slot) + 1.0) * (f64::from(1_u32 << 31) / f64::from(draw))) as u64;
    }
    found
}
