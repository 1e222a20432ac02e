//! Every slot is up: the first word decides.

use crate::hash::lanes::fmix64_halves;
use crate::lanes::{Lanes, MOST_LANES};

/// How far ahead keys are asked for: 2 KiB.
const AHEAD: usize = 256;

/// `slots[i]` becomes the low half of word i under the mask, where word i is `words[i]`, or `fmix64(words[i] ^ mixed)`
/// with `MIX`.
#[inline(always)]
pub(crate) fn all_up<L: Lanes, const MIX: bool>(t: L, words: &[u64], mixed: u64, mask: u32, slots: &mut [u32]) {
    assert_eq!(words.len(), slots.len(), "a slot per word");
    let whole = words.len() / L::LANES * L::LANES;
    let mut at = 0;
    while at < whole {
        t.prefetch(words, at + AHEAD);
        if L::LANES > 8 {
            t.prefetch(words, at + AHEAD + 8);
        }
        t.store(slots, at, first_slots::<L, MIX>(t, words, at, mixed, mask));
        at += L::LANES;
    }
    let rest = words.len() - whole;
    if rest > 0 {
        let (mut last_words, mut last_slots) = ([0; MOST_LANES], [0; MOST_LANES]);
        last_words[..rest].copy_from_slice(&words[whole..]);
        t.store(&mut last_slots, 0, first_slots::<L, MIX>(t, &last_words, 0, mixed, mask));
        slots[whole..].copy_from_slice(&last_slots[..rest]);
    }
}

#[inline(always)]
fn first_slots<L: Lanes, const MIX: bool>(t: L, words: &[u64], at: usize, mixed: u64, mask: u32) -> L::U32 {
    let words = t.load_u64(words, at);
    let (a, _) = if MIX { fmix64_halves(t, t.xor_u64(words, t.splat_u64(mixed))) } else { t.halves(words) };
    t.and(a, t.splat(mask))
}
