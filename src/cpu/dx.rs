//! The kernels of dx: from a compiled cluster to the sequence that a kernel probes.

use std::any::Any;

use super::entries::Entries;
#[cfg(target_arch = "aarch64")]
use super::entries::OnNeon;
#[cfg(target_arch = "x86_64")]
use super::entries::{OnAvx2, OnAvx512};
use super::kernel::{Kernel, Run};
use crate::error::Result;
use crate::lanes::Table;
use crate::placement::dx::lanes::{
    ByThreshold, DxProbe, FewSlots, Finish, FinishReplicas, InTable, MOST_REPLICAS, NONE, Sequence,
};
use crate::placement::dx::scalar::{Accept, prefer, search};
use crate::placement::dx::{Dx, FEW_SLOTS};
use crate::placement::{Locate, NodeId, Words};

/// The lines of one instruction set.
macro_rules! lines {
    ($entries:ty) => {
        [
            Kernel {
                algorithm: "dx",
                shape: "all-up",
                isa: <$entries>::ISA,
                fits: |lookup| of(lookup).is_some_and(Dx::is_full),
                run: Run::Nodes { locate: all_up::<$entries>, lengths: all_up_lengths::<$entries> },
            },
            Kernel {
                algorithm: "dx",
                shape: "registers",
                isa: <$entries>::ISA,
                fits: |lookup| of(lookup).is_some_and(|dx| fits_registers(dx)),
                run: Run::Nodes { locate: registers::<$entries>, lengths: registers_lengths::<$entries> },
            },
            Kernel {
                algorithm: "dx",
                shape: "refill",
                isa: <$entries>::ISA,
                fits: |lookup| of(lookup).is_some_and(|dx| fits_registers(dx)),
                run: Run::Nodes { locate: refill::<$entries>, lengths: registers_lengths::<$entries> },
            },
            Kernel {
                algorithm: "dx",
                shape: "worklist",
                isa: <$entries>::ISA,
                fits: |lookup| of(lookup).is_some_and(|dx| dx.thresholds().is_none()),
                run: Run::Nodes { locate: worklist::<$entries>, lengths: worklist_lengths::<$entries> },
            },
            Kernel {
                algorithm: "dx",
                shape: "weighted",
                isa: <$entries>::ISA,
                fits: |lookup| of(lookup).is_some_and(|dx| dx.thresholds().is_some()),
                run: Run::Nodes { locate: weighted::<$entries>, lengths: weighted_lengths::<$entries> },
            },
            Kernel {
                algorithm: "dx",
                shape: "replicas",
                isa: <$entries>::ISA,
                fits: |lookup| of(lookup).is_some(),
                run: Run::Replicas { replicas: replicas::<$entries>, most: MOST_REPLICAS },
            },
        ]
    };
}

#[cfg(target_arch = "x86_64")]
static LINES: [[Kernel; 6]; 2] = [lines!(OnAvx2), lines!(OnAvx512)];
#[cfg(target_arch = "aarch64")]
static LINES: [[Kernel; 6]; 1] = [lines!(OnNeon)];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
static LINES: [[Kernel; 6]; 0] = [];

pub(super) fn kernels() -> impl Iterator<Item = &'static Kernel> {
    LINES.as_flattened().iter()
}

fn of(lookup: &dyn Locate) -> Option<&Dx> {
    (lookup as &dyn Any).downcast_ref()
}

/// What a kernel that does not fit is told: `Kernel` has checked that before.
pub(super) fn misfit() -> crate::Error {
    crate::Error::invalid("a kernel does not fit the placement", "this is a bug: please report it")
}

fn fits_registers(dx: &Dx) -> bool {
    dx.thresholds().is_none() && dx.map().slots() <= FEW_SLOTS
}

/// Literal searches of a batch.
struct Literal<'a, A> {
    words: Words<'a>,
    accept: &'a A,
    eligible: u64,
}

impl<A: Accept> Finish for Literal<'_, A> {
    fn search(&self, index: usize) -> (u32, u32) {
        search(self.words.get(index), self.accept)
            .map_or((NONE, 0), |(slot, length)| (slot, u32::try_from(length).unwrap_or(u32::MAX)))
    }
}

impl<A: Accept> FinishReplicas for Literal<'_, A> {
    fn replicas(&self, index: usize, slots: &mut [u32]) {
        slots.fill(NONE);
        let mut places = slots.iter_mut();
        let _ = prefer(self.words.get(index), self.accept, self.eligible, &mut |slot| match places.next() {
            Some(place) => {
                *place = slot;
                std::ops::ControlFlow::Continue(())
            }
            None => std::ops::ControlFlow::Break(()),
        });
    }
}

// ---- all slots up ----------------------------------------------------------------------------------------------

fn all_up<E: Entries>(lookup: &dyn Locate, words: Words<'_>, nodes: &mut [NodeId]) -> Result<()> {
    let (t, dx) = (E::token()?, of(lookup).ok_or_else(misfit)?);
    let mask = dx.map().slots() - 1;
    match words {
        Words::Known(words) => E::all_up::<false>(t, words, 0, mask, NodeId::raw_slice_mut(nodes)),
        Words::OfIntegers { keys, mixed } => E::all_up::<true>(t, keys, mixed, mask, NodeId::raw_slice_mut(nodes)),
    }
    dx.map().slots_to_nodes(nodes);
    Ok(())
}

fn all_up_lengths<E: Entries>(
    lookup: &dyn Locate,
    words: Words<'_>,
    nodes: &mut [NodeId],
    lengths: &mut [u32],
) -> Result<()> {
    lengths.fill(1);
    all_up::<E>(lookup, words, nodes)
}

// ---- searches --------------------------------------------------------------------------------------------------

/// Runs one of the searching kernels: `$body` with `$sequence`, `$words` and `$finish` set for the words at hand.
macro_rules! search {
    ($dx:expr, $words:expr, $nodes:expr, $accept:expr, $literal:expr, |$list:ident, $sequence:ident, $finish:ident| $body:expr) => {{
        let (dx, words): (&Dx, Words<'_>) = ($dx, $words);
        if dx.map().active() == 0 {
            $nodes.fill(NodeId::NONE);
        } else {
            let $finish = &Literal { words, accept: $literal, eligible: dx.map().active() };
            let mask = dx.map().slots() - 1;
            match words {
                Words::Known($list) => {
                    let $sequence = DxProbe::<_, false> { mixed: 0, mask, accept: $accept };
                    $body
                }
                Words::OfIntegers { keys: $list, mixed } => {
                    let $sequence = DxProbe::<_, true> { mixed, mask, accept: $accept };
                    $body
                }
            }
            dx.map().slots_to_nodes($nodes);
        }
    }};
}

/// The worklist with as many probes per round as pay.
fn by_mean<E: Entries, S: Sequence<E::Token>>(
    t: E::Token,
    dx: &Dx,
    words: &[u64],
    sequence: S,
    nodes: &mut [NodeId],
    finish: &dyn Finish,
) {
    let slots = NodeId::raw_slice_mut(nodes);
    if dx.mean_search() < MANY_PROBES {
        E::worklist::<S, 1, false>(t, words, sequence, slots, &mut [], finish);
    } else {
        E::worklist::<S, 2, false>(t, words, sequence, slots, &mut [], finish);
    }
}

/// The mean search above which a round makes two probes (`benches/README.md`).
const MANY_PROBES: f64 = 3.0;

fn registers<E: Entries>(lookup: &dyn Locate, words: Words<'_>, nodes: &mut [NodeId]) -> Result<()> {
    let (t, dx) = (E::token()?, of(lookup).ok_or_else(misfit)?);
    search!(dx, words, nodes, FewSlots(dx.map().bits()), dx.map(), |list, sequence, finish| {
        by_mean::<E, _>(t, dx, list, sequence, nodes, finish);
    });
    Ok(())
}

fn registers_lengths<E: Entries>(
    lookup: &dyn Locate,
    words: Words<'_>,
    nodes: &mut [NodeId],
    lengths: &mut [u32],
) -> Result<()> {
    let (t, dx) = (E::token()?, of(lookup).ok_or_else(misfit)?);
    lengths.fill(0);
    search!(dx, words, nodes, FewSlots(dx.map().bits()), dx.map(), |list, sequence, finish| {
        E::worklist::<_, 2, true>(t, list, sequence, NodeId::raw_slice_mut(nodes), lengths, finish);
    });
    Ok(())
}

fn refill<E: Entries>(lookup: &dyn Locate, words: Words<'_>, nodes: &mut [NodeId]) -> Result<()> {
    let (t, dx) = (E::token()?, of(lookup).ok_or_else(misfit)?);
    search!(dx, words, nodes, FewSlots(dx.map().bits()), dx.map(), |list, sequence, finish| {
        E::refill(t, list, sequence, NodeId::raw_slice_mut(nodes), finish);
    });
    Ok(())
}

fn worklist<E: Entries>(lookup: &dyn Locate, words: Words<'_>, nodes: &mut [NodeId]) -> Result<()> {
    let (t, dx) = (E::token()?, of(lookup).ok_or_else(misfit)?);
    let bits = Table::new(dx.map().bits());
    search!(dx, words, nodes, InTable(bits), dx.map(), |list, sequence, finish| {
        by_mean::<E, _>(t, dx, list, sequence, nodes, finish);
    });
    Ok(())
}

fn worklist_lengths<E: Entries>(
    lookup: &dyn Locate,
    words: Words<'_>,
    nodes: &mut [NodeId],
    lengths: &mut [u32],
) -> Result<()> {
    let (t, dx) = (E::token()?, of(lookup).ok_or_else(misfit)?);
    let bits = Table::new(dx.map().bits());
    lengths.fill(0);
    search!(dx, words, nodes, InTable(bits), dx.map(), |list, sequence, finish| {
        E::worklist::<_, 1, true>(t, list, sequence, NodeId::raw_slice_mut(nodes), lengths, finish);
    });
    Ok(())
}

fn weighted<E: Entries>(lookup: &dyn Locate, words: Words<'_>, nodes: &mut [NodeId]) -> Result<()> {
    let (t, dx) = (E::token()?, of(lookup).ok_or_else(misfit)?);
    let thresholds = dx.thresholds().ok_or_else(misfit)?;
    let accept =
        ByThreshold { eligible: Table::new(thresholds.eligible()), less_one: Table::new(thresholds.less_one()) };
    search!(dx, words, nodes, accept, thresholds, |list, sequence, finish| {
        by_mean::<E, _>(t, dx, list, sequence, nodes, finish);
    });
    Ok(())
}

fn weighted_lengths<E: Entries>(
    lookup: &dyn Locate,
    words: Words<'_>,
    nodes: &mut [NodeId],
    lengths: &mut [u32],
) -> Result<()> {
    let (t, dx) = (E::token()?, of(lookup).ok_or_else(misfit)?);
    let thresholds = dx.thresholds().ok_or_else(misfit)?;
    let accept =
        ByThreshold { eligible: Table::new(thresholds.eligible()), less_one: Table::new(thresholds.less_one()) };
    lengths.fill(0);
    search!(dx, words, nodes, accept, thresholds, |list, sequence, finish| {
        E::worklist::<_, 2, true>(t, list, sequence, NodeId::raw_slice_mut(nodes), lengths, finish);
    });
    Ok(())
}

// ---- replicas --------------------------------------------------------------------------------------------------

fn replicas<E: Entries>(lookup: &dyn Locate, words: Words<'_>, replicas: usize, nodes: &mut [NodeId]) -> Result<()> {
    let (t, dx) = (E::token()?, of(lookup).ok_or_else(misfit)?);
    // The lists of fewer nodes end early, which the literal code knows how to do.
    let enough = dx.map().active() >= replicas as u64;
    match dx.thresholds() {
        None => {
            let accept = InTable(Table::new(dx.map().bits()));
            search!(dx, words, nodes, accept, dx.map(), |list, sequence, finish| {
                let slots = NodeId::raw_slice_mut(nodes);
                if enough {
                    E::replicas(t, list, replicas, sequence, slots, finish);
                } else {
                    literal_replicas(replicas, slots, finish);
                }
            });
        }
        Some(thresholds) => {
            let accept = ByThreshold {
                eligible: Table::new(thresholds.eligible()),
                less_one: Table::new(thresholds.less_one()),
            };
            search!(dx, words, nodes, accept, thresholds, |list, sequence, finish| {
                let slots = NodeId::raw_slice_mut(nodes);
                if enough {
                    E::replicas(t, list, replicas, sequence, slots, finish);
                } else {
                    literal_replicas(replicas, slots, finish);
                }
            });
        }
    }
    Ok(())
}

fn literal_replicas(replicas: usize, slots: &mut [u32], finish: &dyn FinishReplicas) {
    for (index, slots) in slots.chunks_mut(replicas).enumerate() {
        finish.replicas(index, slots);
    }
}
