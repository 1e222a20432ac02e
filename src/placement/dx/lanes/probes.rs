//! The probe sequence of dx in lanes, and the three ways to ask whether a slot accepts.

use super::{Probe, Sequence};
use crate::hash::lanes::{fmix64_halves, mix32};
use crate::lanes::{Lanes, Table};

/// The sequence of `hash::ProbeSequence`: x is the running sum a + i * (b | 1).
#[derive(Clone, Copy)]
pub(crate) struct DxProbe<A, const MIX: bool> {
    /// With `MIX`, words are `fmix64(key ^ mixed)`; otherwise they are there.
    pub(crate) mixed: u64,
    /// The number of slots, less one.
    pub(crate) mask: u32,
    /// Which slots accept.
    pub(crate) accept: A,
}

/// Which slots accept, as a kernel is told: what it asks, it makes of it on its own side, where vectors live in registers.
pub(crate) trait Array<L: Lanes>: Copy {
    /// What the kernel asks.
    type Accept: Accept<L>;

    /// Takes it into registers, as far as it goes there.
    fn ready(self, t: L) -> Self::Accept;
}

/// Which slots accept, in lanes.
pub(crate) trait Accept<L: Lanes>: Copy {
    /// Whether the slot accepts this probe word of a key with the high half `b`.
    fn accepts(self, t: L, slot: L::U32, word: L::U32, b: L::U32) -> L::Mask;
}

impl<L: Lanes, A: Array<L>, const MIX: bool> Sequence<L> for DxProbe<A, MIX> {
    type Probe = DxProbe<A::Accept, MIX>;

    #[inline(always)]
    fn ready(self, t: L) -> Self::Probe {
        DxProbe { mixed: self.mixed, mask: self.mask, accept: self.accept.ready(t) }
    }
}

impl<L: Lanes, A: Accept<L>, const MIX: bool> Probe<L> for DxProbe<A, MIX> {
    #[inline(always)]
    fn start(self, t: L, words: L::U64) -> (L::U32, L::U32) {
        if MIX { fmix64_halves(t, t.xor_u64(words, t.splat_u64(self.mixed))) } else { t.halves(words) }
    }

    #[inline(always)]
    fn first(self, t: L, x: L::U32, b: L::U32) -> (L::U32, L::Mask) {
        let slot = t.and(x, t.splat(self.mask));
        (slot, self.accept.accepts(t, slot, x, b))
    }

    #[inline(always)]
    fn next(self, t: L, x: L::U32, b: L::U32) -> L::U32 {
        t.add(x, t.or(b, t.splat(1)))
    }

    #[inline(always)]
    fn probe(self, t: L, x: L::U32, b: L::U32) -> (L::U32, L::Mask) {
        let word = mix32(t, x);
        let slot = t.and(word, t.splat(self.mask));
        (slot, self.accept.accepts(t, slot, word, b))
    }

    #[inline(always)]
    fn most_probes(self) -> usize {
        // All 2^32 words are met behind the first, and clusters that compile accept one in 2^20 on average.
        1 << 31
    }
}

/// A bit array of at most 1024 slots, which goes into registers.
#[derive(Clone, Copy)]
pub(crate) struct FewSlots<'a>(pub(crate) &'a [u32]);

/// The same, there.
#[derive(Clone, Copy)]
pub(crate) struct InRegisters<B>(B);

impl<L: Lanes> Array<L> for FewSlots<'_> {
    type Accept = InRegisters<L::Bits1024>;

    #[inline(always)]
    fn ready(self, t: L) -> Self::Accept {
        let mut words = [0; 32];
        words[..self.0.len()].copy_from_slice(self.0);
        InRegisters(t.bits_1024(&words))
    }
}

impl<L: Lanes<Bits1024 = B>, B: Copy> Accept<L> for InRegisters<B> {
    #[inline(always)]
    fn accepts(self, t: L, slot: L::U32, _word: L::U32, _b: L::U32) -> L::Mask {
        t.bit(t.word_of_1024(self.0, t.shr::<5>(slot)), slot)
    }
}

/// A bit array in memory.
#[derive(Clone, Copy)]
pub(crate) struct InTable<'a>(pub(crate) Table<'a, u32>);

impl<L: Lanes> Array<L> for InTable<'_> {
    type Accept = Self;

    #[inline(always)]
    fn ready(self, _t: L) -> Self {
        self
    }
}

impl<L: Lanes> Accept<L> for InTable<'_> {
    #[inline(always)]
    fn accepts(self, t: L, slot: L::U32, _word: L::U32, _b: L::U32) -> L::Mask {
        t.bit(t.gather(self.0, t.shr::<5>(slot)), slot)
    }
}

/// Weighted: the bits of the slots that can accept at all, and the acceptance thresholds less one.
#[derive(Clone, Copy)]
pub(crate) struct ByThreshold<'a> {
    pub(crate) eligible: Table<'a, u32>,
    pub(crate) less_one: Table<'a, u16>,
}

impl<L: Lanes> Array<L> for ByThreshold<'_> {
    type Accept = Self;

    #[inline(always)]
    fn ready(self, _t: L) -> Self {
        self
    }
}

impl<L: Lanes> Accept<L> for ByThreshold<'_> {
    #[inline(always)]
    fn accepts(self, t: L, slot: L::U32, word: L::U32, b: L::U32) -> L::Mask {
        let eligible = t.bit(t.gather(self.eligible, t.shr::<5>(slot)), slot);
        let drawn = t.shr::<16>(mix32(t, t.xor(word, b)));
        t.both(eligible, t.at_most(drawn, t.gather_u16(self.less_one, slot)))
    }
}
