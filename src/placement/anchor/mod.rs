//! AnchorHash: numbered slots up to a fixed capacity, of which any can be removed with the least moves.
//!
//! A key that meets a removed slot draws again among the slots that were working when that one was removed, and so on
//! until it meets one that works. So the order of removals is part of the state: the slot that was removed last comes
//! back exactly as it was, another one only by replaying the history without it, which moves other keys too.
//!
//! # Complexity
//! With c slots of which N work, a lookup looks at 1 + ln(c / N) slots on average where unused slots were removed in
//! descending order and no others, and at about 1 + ln(c / N) + ln(c / N)^2 / 2 where they were removed in random order.
//!
//! # Files
//! `scalar.rs` is the state with its updates, literally.
//!
//! Source: G. Mendelson and others, "AnchorHash", arXiv 1812.09674; `spec/placement.md`, "anchor".

pub mod scalar;

use std::ops::ControlFlow;

use super::jump::{NodesBySlot, harmonic};
use super::registry::without_list;
use super::{Estimate, Locate, NodeId};
use crate::error::Result;
use scalar::{AnchorState, cannot_remove, first_slot, next_slot};

/// Slots with their order of removal, compiled for AnchorHash.
///
/// Where the history starts by removing c - 1, c - 2, .. down to some slot, as unused slots are, that slot and all above
/// it need no table: right after the removal of such a slot as many worked as its number says, and no other took its
/// place. So a large capacity costs nothing by itself.
///
/// ```
/// use rehome::NodeId;
/// use rehome::placement::{Locate, anchor::Anchor};
///
/// let nobody = Anchor::new(3, [2, 0, 1].into_iter(), |_| NodeId::NONE)?;
/// assert_eq!(nobody.locate(42), (NodeId::NONE, 0));
/// assert!(Anchor::new(3, [3].into_iter(), |_| NodeId::NONE).is_err());
/// # Ok::<(), rehome::Error>(())
/// ```
#[derive(Debug)]
pub struct Anchor {
    capacity: u32,
    /// How many slots work.
    working: u32,
    /// For the slots that need a table: how many worked right after the removal; 0 for a working slot. (A)
    left: Box<[u32]>,
    /// For the same slots: the one that took the place of a removed one. (K)
    successor: Box<[u32]>,
    nodes: NodesBySlot,
}

impl Anchor {
    /// From the slots that are removed, in the order of their removal; all other slots below `capacity` work, and
    /// `node_of_slot` gives their nodes. It may be called more than once for a slot.
    ///
    /// # Complexity
    /// O(s + removals) time and 8 s bytes, 12 s where some slot and its node have different numbers, for the s slots
    /// that need a table; 20 s while it is built.
    ///
    /// # Errors
    /// A removed slot that is not below the capacity or was removed before; tables that the memory does not hold.
    pub fn new(
        capacity: u32,
        removed: impl Iterator<Item = u32>,
        node_of_slot: impl Fn(u32) -> NodeId,
    ) -> Result<Self> {
        let mut removed = removed.peekable();
        let mut tabled = capacity;
        while removed.next_if(|slot| slot.checked_add(1) == Some(tabled)).is_some() {
            tabled -= 1;
        }
        // The slots above changed nothing in the entries of those below.
        let mut state = AnchorState::new(tabled, tabled)?;
        for slot in removed {
            if slot >= tabled {
                return Err(cannot_remove(slot, u64::from(capacity)));
            }
            state.remove(slot)?;
        }
        let (working, left, successor) = state.into_tables();
        let nodes = NodesBySlot::with_gaps(tabled, |slot| {
            let works = working > 0 && left[slot as usize] == 0;
            works.then(|| node_of_slot(slot))
        })?;
        Ok(Self { capacity, working, left, successor, nodes })
    }

    /// The number of slots, working or not.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// The number of working slots.
    pub fn working(&self) -> u32 {
        self.working
    }

    /// How many slots worked right after this one was removed; 0 for a working slot.
    #[inline(always)]
    fn left(&self, slot: u32) -> u32 {
        self.left.get(slot as usize).copied().unwrap_or(slot)
    }

    #[inline(always)]
    fn search(&self, digest: u64) -> Option<(u32, u64)> {
        if self.working == 0 {
            return None;
        }
        let mut slot = first_slot(digest, self.capacity);
        let mut left = self.left(slot);
        let mut steps = 1;
        while left > 0 {
            slot = next_slot(digest, slot, left);
            let mut of_slot = self.left(slot);
            steps += 1;
            // A slot without a table is never met here: what was drawn is below `left`.
            while of_slot >= left {
                slot = self.successor[slot as usize];
                of_slot = self.left(slot);
                steps += 1;
            }
            left = of_slot;
        }
        Some((slot, steps))
    }
}

/// What an anchor will cost whose first removals, of unused slots in descending order, went down to `tabled` (the
/// capacity if there were none), and then in random order to `working`; `table`: whether some slot and its node have
/// different numbers.
pub(super) fn estimate(capacity: u32, tabled: u32, working: u32, table: bool) -> Estimate {
    let per_slot = size_of::<u32>() as u64;
    let memory_bytes = u64::from(tabled) * per_slot * if table { 3 } else { 2 };
    let building_bytes = u64::from(tabled) * per_slot * 5;
    Estimate { memory_bytes, building_bytes, steps: mean_steps(capacity, tabled, working) }
}

/// A key that stands among s equally likely slots is behind each of the removals that brought their number from s down
/// to N with probability 1 / (that number + 1): H(c) - H(N) draws in all. A draw behind the removal that left m slots
/// meets a place whose slot was replaced by each earlier removal in random order with probability 1 / (number before
/// it): H(tabled) - H(m) steps more.
fn mean_steps(capacity: u32, tabled: u32, working: u32) -> f64 {
    if working == 0 {
        return 0.0;
    }
    let of_working = harmonic(working);
    let replaced = harmonic(tabled) - of_working;
    // The sum of 1 / k^2 over the same k, which the sum over pairs of them counts once.
    let squares = 1.0 / (f64::from(working) + 0.5) - 1.0 / (f64::from(tabled) + 0.5);
    1.0 + harmonic(capacity) - of_working + (replaced * replaced + squares) / 2.0
}

impl Locate for Anchor {
    fn locate(&self, word: u64) -> (NodeId, u64) {
        self.search(word).map_or((NodeId::NONE, 0), |(slot, steps)| (self.nodes.node(slot), steps))
    }

    fn prefer(&self, _word: u64, _visit: &mut dyn FnMut(NodeId) -> ControlFlow<()>) -> Result<()> {
        without_list("anchor")
    }

    fn memory_bytes(&self) -> u64 {
        (size_of_val(&*self.left) + size_of_val(&*self.successor)) as u64 + self.nodes.memory_bytes()
    }
}

#[cfg(test)]
mod tests;
