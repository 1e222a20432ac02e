//! The probe sequence: the pseudo-random words that a key tries, one after the other.

use super::mix::mix32;

/// The low and the high 32 bits of a word.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the truncation is the point")]
pub const fn halves(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

/// The probe sequence of a key: word 0 is the digest's low half `a`, word i is `mix32(a + i * (b | 1))` with the high
/// half `b`, wrapping at 32 bits.
///
/// `b | 1` is odd and [`mix32`] a bijection, so the first 2^32 words after word 0 are all 32-bit words: every slot is
/// met. The iterator gives those words, 0 to 2^32 - 1, and ends.
///
/// Source: `spec/placement.md`, "The probe sequence"; the idea is DxHash's (arXiv 2107.07930, section III).
///
/// ```
/// use rehome::hash::ProbeSequence;
///
/// let words: Vec<u32> = ProbeSequence::new(7_175_312_947_680_778_460).take(3).collect();
/// assert_eq!(words, [113_645_788, 40_264_539, 1_120_596_216]);
/// ```
#[derive(Clone, Debug)]
pub struct ProbeSequence {
    a: u32,
    step: u32,
    /// The index of the next word; 2^32 at the end.
    next: u64,
}

impl ProbeSequence {
    /// The sequence of the key with this digest.
    #[inline(always)]
    pub fn new(digest: u64) -> Self {
        let (a, b) = halves(digest);
        Self { a, step: b | 1, next: 0 }
    }

    /// Word `index`.
    #[inline(always)]
    pub fn word(&self, index: u32) -> u32 {
        if index == 0 { self.a } else { mix32(self.a.wrapping_add(index.wrapping_mul(self.step))) }
    }
}

impl Iterator for ProbeSequence {
    type Item = u32;

    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        let index = u32::try_from(self.next).ok()?;
        self.next += 1;
        Some(self.word(index))
    }
}
