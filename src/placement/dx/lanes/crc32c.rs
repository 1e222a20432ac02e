//! The probe sequence of dx-crc32c in lanes: x is the state of the chain, b its seed.

use super::probes::{Accept, Array};
use super::{Probe, Sequence};
use crate::lanes::Lanes;

/// The authors' chain over any number of slots. Words are raw 32-bit keys.
///
/// The chain's step, crc(seed, x), is one CRC-32C step of `seed ^ x` from state 0, since the state enters the sum where
/// the first four bytes do.
#[derive(Clone, Copy)]
pub(crate) struct CrcProbe<A, const POWER_OF_TWO: bool> {
    slots: u32,
    /// floor(2^32 / slots), for the quotient: 0 for one slot, which is a power of two.
    reciprocal: u32,
    accept: A,
}

impl<A, const POWER_OF_TWO: bool> CrcProbe<A, POWER_OF_TWO> {
    /// For `slots` slots, at least one.
    #[inline(always)]
    pub(crate) fn new(slots: u32, accept: A) -> Self {
        let reciprocal = u32::try_from((1_u64 << 32) / u64::from(slots)).unwrap_or(0);
        Self { slots, reciprocal, accept }
    }

    /// `x % slots`.
    #[inline(always)]
    fn slot<L: Lanes>(&self, t: L, x: L::U32) -> L::U32 {
        let slots = t.splat(self.slots);
        if POWER_OF_TWO {
            return t.and(x, t.splat(self.slots.wrapping_sub(1)));
        }
        // With r = floor(2^32 / n), x / n - x * r / 2^32 is from 0 to below x / 2^32 < 1: rounded down, the quotient is
        // right or one too small.
        let quotient = t.mul_high(x, t.splat(self.reciprocal));
        let rest = t.sub(x, t.mul(quotient, slots));
        t.select(t.at_most(slots, rest), t.sub(rest, slots), rest)
    }
}

impl<L: Lanes, A: Array<L>, const POWER_OF_TWO: bool> Sequence<L> for CrcProbe<A, POWER_OF_TWO> {
    type Probe = CrcProbe<A::Accept, POWER_OF_TWO>;

    #[inline(always)]
    fn ready(self, t: L) -> Self::Probe {
        CrcProbe { slots: self.slots, reciprocal: self.reciprocal, accept: self.accept.ready(t) }
    }
}

impl<L: Lanes, A: Accept<L>, const POWER_OF_TWO: bool> Probe<L> for CrcProbe<A, POWER_OF_TWO> {
    #[inline(always)]
    fn start(self, t: L, words: L::U64) -> (L::U32, L::U32) {
        let (key, _) = t.halves(words);
        let seed = t.add(t.mul(key, t.splat(421_757)), t.splat(1));
        (t.crc32c(t.xor(seed, key)), seed)
    }

    #[inline(always)]
    fn first(self, t: L, x: L::U32, b: L::U32) -> (L::U32, L::Mask) {
        self.probe(t, x, b)
    }

    #[inline(always)]
    fn next(self, t: L, x: L::U32, b: L::U32) -> L::U32 {
        t.crc32c(t.xor(b, x))
    }

    #[inline(always)]
    fn probe(self, t: L, x: L::U32, b: L::U32) -> (L::U32, L::Mask) {
        let slot = self.slot(t, x);
        (slot, self.accept.accepts(t, slot, x, b))
    }

    #[inline(always)]
    fn most_probes(self) -> usize {
        // A search gives up after 4n - 1 words, of which the first is one.
        4 * self.slots as usize - 2
    }
}
