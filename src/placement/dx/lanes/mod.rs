//! The kernels of DxHash: one text for every instruction set, over [`Lanes`].
//!
//! `all_up.rs` is for arrays without a gap; `worklist.rs` for the others; `refill.rs` does without a worklist where the
//! bit array fits in registers; `replicas.rs` finds several nodes per key. What a kernel probes, and with which
//! sequence, is a [`Probe`]: `probes.rs` has those of dx, plain and weighted, `crc32c.rs` that of the authors' variant.
//!
//! Kernels write *slots*, as numbers, or `u32::MAX` for none. Which one is fastest where is measured:
//! `benches/README.md`.

mod all_up;
mod crc32c;
mod probes;
mod refill;
mod replicas;
mod worklist;

pub(crate) use all_up::all_up;
pub(crate) use crc32c::CrcProbe;
pub(crate) use probes::{Array, ByThreshold, DxProbe, FewSlots, InTable};
pub(crate) use refill::refill;
pub(crate) use replicas::{FinishReplicas, MOST_REPLICAS, replicas};
pub(crate) use worklist::worklist;

use crate::lanes::Lanes;

/// No slot.
pub(crate) const NONE: u32 = u32::MAX;

/// A probe sequence in lanes. Two words of state per key: `x` changes from probe to probe, `b` stays.
pub(crate) trait Probe<L: Lanes>: Copy {
    /// What the first probe of a key starts from.
    fn start(self, t: L, words: L::U64) -> (L::U32, L::U32);

    /// The slot of the first probe, and whether it accepts.
    fn first(self, t: L, x: L::U32, b: L::U32) -> (L::U32, L::Mask);

    /// The state of the next probe.
    fn next(self, t: L, x: L::U32, b: L::U32) -> L::U32;

    /// The slot of a probe that is not the first, and whether it accepts.
    fn probe(self, t: L, x: L::U32, b: L::U32) -> (L::U32, L::Mask);

    /// How many probes behind the first a kernel may make for a key. Then the key is [finished](Finish) by code that knows
    /// when to give up.
    fn most_probes(self) -> usize;
}

/// A probe sequence as a kernel is told, made outside of it: without vectors.
pub(crate) trait Sequence<L: Lanes>: Copy {
    /// What the kernel probes with.
    type Probe: Probe<L>;

    /// Takes it into registers, as far as it goes there.
    fn ready(self, t: L) -> Self::Probe;
}

/// What finishes the searches that a kernel gives up: so few that they may take their time.
pub(crate) trait Finish {
    /// The slot of the key at this place of the batch, or [`NONE`], and its search length.
    fn search(&self, index: usize) -> (u32, u32);
}
