//! The kernels of dx-crc32c.

use std::any::Any;

use super::dx::misfit;
use super::entries::Entries;
#[cfg(target_arch = "aarch64")]
use super::entries::OnNeon;
#[cfg(target_arch = "x86_64")]
use super::entries::{OnAvx2, OnAvx512};
use super::kernel::{Kernel, Run};
use crate::error::Result;
use crate::lanes::Table;
use crate::placement::dx::lanes::{Array, CrcProbe, FewSlots, Finish, InTable, NONE};
use crate::placement::dx::{DxCrc32c, FEW_SLOTS};
use crate::placement::{Locate, NodeId, Words};

/// The lines of one instruction set.
macro_rules! lines {
    ($entries:ty) => {
        [
            Kernel {
                algorithm: "dx-crc32c",
                shape: "registers",
                isa: <$entries>::ISA,
                fits: |lookup| of(lookup).is_some_and(|dx| dx.map().slots() <= FEW_SLOTS),
                run: Run::Nodes { locate: registers::<$entries>, lengths: registers_lengths::<$entries> },
            },
            Kernel {
                algorithm: "dx-crc32c",
                shape: "worklist",
                isa: <$entries>::ISA,
                fits: |lookup| of(lookup).is_some(),
                run: Run::Nodes { locate: worklist::<$entries>, lengths: worklist_lengths::<$entries> },
            },
        ]
    };
}

#[cfg(target_arch = "x86_64")]
static LINES: [[Kernel; 2]; 2] = [lines!(OnAvx2), lines!(OnAvx512)];
#[cfg(target_arch = "aarch64")]
static LINES: [[Kernel; 2]; 1] = [lines!(OnNeon)];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
static LINES: [[Kernel; 2]; 0] = [];

pub(super) fn kernels() -> impl Iterator<Item = &'static Kernel> {
    LINES.as_flattened().iter()
}

fn of(lookup: &dyn Locate) -> Option<&DxCrc32c> {
    (lookup as &dyn Any).downcast_ref()
}

/// Literal searches of a batch.
struct Literal<'a> {
    words: Words<'a>,
    dx: &'a DxCrc32c,
}

impl Finish for Literal<'_> {
    fn search(&self, index: usize) -> (u32, u32) {
        let (slot, length) = self.dx.search(self.words.get(index));
        (slot.unwrap_or(NONE), u32::try_from(length).unwrap_or(u32::MAX))
    }
}

/// The worklist, over a power of two of slots or any other number.
fn run<E: Entries, A: Array<E::Token>, const LENGTHS: bool>(
    dx: &DxCrc32c,
    words: Words<'_>,
    accept: A,
    nodes: &mut [NodeId],
    lengths: &mut [u32],
) -> Result<()> {
    let t = E::token()?;
    // Keys are raw, so words that would have to be made do not come up; the literal code takes them all the same.
    let (Words::Known(list), true) = (words, dx.map().active() > 0) else {
        for (index, node) in nodes.iter_mut().enumerate() {
            let (found, length) = dx.locate(words.get(index));
            *node = found;
            if LENGTHS {
                lengths[index] = u32::try_from(length).unwrap_or(u32::MAX);
            }
        }
        return Ok(());
    };
    let slots = dx.map().slots();
    let finish = Literal { words, dx };
    let out = NodeId::raw_slice_mut(nodes);
    if slots.is_power_of_two() {
        E::worklist::<_, 1, LENGTHS>(t, list, CrcProbe::<A, true>::new(slots, accept), out, lengths, &finish);
    } else {
        E::worklist::<_, 1, LENGTHS>(t, list, CrcProbe::<A, false>::new(slots, accept), out, lengths, &finish);
    }
    dx.map().slots_to_nodes(nodes);
    Ok(())
}

fn registers<E: Entries>(lookup: &dyn Locate, words: Words<'_>, nodes: &mut [NodeId]) -> Result<()> {
    let dx = of(lookup).ok_or_else(misfit)?;
    run::<E, _, false>(dx, words, FewSlots(dx.map().bits()), nodes, &mut [])
}

fn registers_lengths<E: Entries>(
    lookup: &dyn Locate,
    words: Words<'_>,
    nodes: &mut [NodeId],
    lengths: &mut [u32],
) -> Result<()> {
    let dx = of(lookup).ok_or_else(misfit)?;
    run::<E, _, true>(dx, words, FewSlots(dx.map().bits()), nodes, lengths)
}

fn worklist<E: Entries>(lookup: &dyn Locate, words: Words<'_>, nodes: &mut [NodeId]) -> Result<()> {
    let dx = of(lookup).ok_or_else(misfit)?;
    run::<E, _, false>(dx, words, InTable(Table::new(dx.map().bits())), nodes, &mut [])
}

fn worklist_lengths<E: Entries>(
    lookup: &dyn Locate,
    words: Words<'_>,
    nodes: &mut [NodeId],
    lengths: &mut [u32],
) -> Result<()> {
    let dx = of(lookup).ok_or_else(misfit)?;
    run::<E, _, true>(dx, words, InTable(Table::new(dx.map().bits())), nodes, lengths)
}
