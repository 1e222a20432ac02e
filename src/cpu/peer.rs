//! The peer that benches measure DxHash against: the authors' way of doing it, written by us.

use std::hint::black_box;

use crate::hash::halves;

/// DxHash as its authors run it: a byte per slot, the CRC-32C instruction, a remainder by a size that is known at run
/// time only, and one key per call that the compiler cannot look through.
///
/// It gives the slots of `dx-crc32c`.
#[derive(Debug)]
pub struct Peer {
    slots: Vec<u8>,
}

impl Peer {
    /// Over slots that are 1 where they are up. None where the processor has no such instruction, or there are no slots.
    pub fn new(slots: Vec<u8>) -> Option<Self> {
        (has_instruction() && !slots.is_empty()).then_some(Self { slots })
    }

    /// The slots of keys, of which the low 32 bits count; `u32::MAX` where the search gives up. The slices end together.
    pub fn locate(&self, keys: &[u64], slots: &mut [u32]) {
        for (key, slot) in keys.iter().zip(slots) {
            *slot = self.one(halves(*key).0);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn one(&self, key: u32) -> u32 {
        // SAFETY: `new` has found SSE4.2, which is all that the function enables.
        black_box(unsafe { search(black_box(key), black_box(&self.slots)) })
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn one(&self, key: u32) -> u32 {
        black_box(key)
    }
}

#[cfg(target_arch = "x86_64")]
fn has_instruction() -> bool {
    std::arch::is_x86_feature_detected!("sse4.2")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_instruction() -> bool {
    false
}

/// A chain of CRC-32C words, at most 4n of them.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
#[inline(never)]
#[expect(clippy::cast_possible_truncation, reason = "the instruction gives 32 bits in a 64-bit register")]
fn search(key: u32, slots: &[u8]) -> u32 {
    let crc = |seed: u32, word: u32| std::arch::x86_64::_mm_crc32_u64(u64::from(seed), u64::from(word)) as u32;
    let size = u32::try_from(slots.len()).unwrap_or(u32::MAX);
    let seed = key.wrapping_mul(421_757).wrapping_add(1);
    let mut x = crc(seed, key);
    let mut steps: u64 = 1;
    while slots[(x % size) as usize] == 0 {
        x = crc(seed, x);
        steps += 1;
        if steps >= 4 * u64::from(size) {
            return u32::MAX;
        }
    }
    x % size
}
