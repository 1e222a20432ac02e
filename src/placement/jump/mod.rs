//! Jump consistent hash: no table at all, but only the last slot can leave.
//!
//! Slots are numbered 0 to n - 1. When a slot n is added, each key jumps there with probability 1 / (n + 1), and no
//! other key moves; the function replays these jumps from one slot on, skipping those that do not happen. It needs no
//! memory, balances as well as chance allows, and takes no weights. What it cannot do is to lose a slot other than the
//! last.
//!
//! # Complexity
//! A lookup in n slots takes about ln n + 0.58 draws.
//!
//! # Files
//! `scalar.rs` is the function; `numbered.rs` turns slots into nodes.
//!
//! Source: J. Lamping, E. Veach, arXiv 1406.2294; `spec/placement.md`, "jump".

mod numbered;
pub mod scalar;

use std::ops::ControlFlow;

use super::registry::without_list;
use super::{Estimate, Locate, NodeId};
use crate::error::Result;
pub(super) use numbered::{NodesBySlot, try_collect};

/// Numbered nodes, compiled for jump consistent hash.
///
/// ```
/// use rehome::NodeId;
/// use rehome::placement::{Locate, jump::Jump};
///
/// let nobody = Jump::new(Box::default());
/// assert_eq!(nobody.locate(42), (NodeId::NONE, 0));
/// ```
#[derive(Debug)]
pub struct Jump {
    slots: u32,
    nodes: NodesBySlot,
}

impl Jump {
    /// From the nodes that are up: `nodes_by_slot[i]` is the node in slot i. Without nodes every key gets NONE.
    ///
    /// # Complexity
    /// O(n); no table is kept where node i is in slot i.
    ///
    /// # Panics
    /// If there are 2^32 nodes or more.
    pub fn new(nodes_by_slot: Box<[NodeId]>) -> Self {
        let slots = u32::try_from(nodes_by_slot.len()).expect("a node's number has 32 bits");
        Self { slots, nodes: NodesBySlot::new(nodes_by_slot) }
    }
}

/// What n nodes will cost; `table`: whether some node i is not in slot i.
pub(super) fn estimate(nodes: u32, table: bool) -> Estimate {
    let list = u64::from(nodes) * size_of::<NodeId>() as u64;
    let memory_bytes = if table { list } else { 0 };
    Estimate { memory_bytes, building_bytes: list, steps: harmonic(nodes) }
}

/// 1 + 1/2 + .. + 1/n.
pub(super) fn harmonic(n: u32) -> f64 {
    /// Euler's constant.
    const GAMMA: f64 = 0.577_215_664_901_532_9;
    if n < 32 {
        return (1..=n).map(|k| 1.0 / f64::from(k)).sum();
    }
    let n = f64::from(n);
    libm::log(n) + GAMMA + 1.0 / (2.0 * n) - 1.0 / (12.0 * n * n)
}

impl Locate for Jump {
    fn locate(&self, word: u64) -> (NodeId, u64) {
        scalar::jump(word, self.slots).map_or((NodeId::NONE, 0), |(slot, draws)| (self.nodes.node(slot), draws))
    }

    fn prefer(&self, _word: u64, _visit: &mut dyn FnMut(NodeId) -> ControlFlow<()>) -> Result<()> {
        without_list("jump")
    }

    fn memory_bytes(&self) -> u64 {
        self.nodes.memory_bytes()
    }
}

#[cfg(test)]
mod tests;
