//! The ceiling of every kernel: keys are read and as many words of 32 bits written, and nothing else is done.

use super::{Lanes, MOST_LANES};

/// How far ahead words are asked for: 2 KiB.
const AHEAD: usize = 256;

/// `low[i]` becomes the low half of `words[i]`.
///
/// # Panics
/// If the lengths differ.
#[inline(always)]
pub(crate) fn copy_low_halves<L: Lanes>(t: L, words: &[u64], low: &mut [u32]) {
    assert_eq!(words.len(), low.len(), "a half per word");
    let whole = words.len() / L::LANES * L::LANES;
    let mut at = 0;
    while at < whole {
        t.prefetch(words, at + AHEAD);
        if L::LANES > 8 {
            t.prefetch(words, at + AHEAD + 8);
        }
        let (halves, _) = t.halves(t.load_u64(words, at));
        t.store(low, at, halves);
        at += L::LANES;
    }
    let rest = words.len() - whole;
    if rest > 0 {
        let (mut last_words, mut last_low) = ([0; MOST_LANES], [0; MOST_LANES]);
        last_words[..rest].copy_from_slice(&words[whole..]);
        let (halves, _) = t.halves(t.load_u64(&last_words, 0));
        t.store(&mut last_low, 0, halves);
        low[whole..].copy_from_slice(&last_low[..rest]);
    }
}
