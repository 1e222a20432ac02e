//! Maglev hashing: a table of nodes, filled so that each gets its share of the entries, and read once per key.
//!
//! Every node walks through the entries in an order of its own and takes the next free one when its turn comes, so
//! the shares are as exact as the table is large. A node that joins or leaves moves its own keys and some others', as
//! the later turns of all nodes shift. The size of the table is prime, and part of the cluster's description: a new
//! size would move nearly all keys.
//!
//! # Complexity
//! A lookup reads one entry.
//!
//! # Files
//! `scalar.rs` is the literal function; `table.rs` fills the same table faster.
//!
//! Source: D. Eisenbud and others, "Maglev: a fast and reliable software network load balancer", NSDI 2016, section
//! 3.4; `spec/placement.md`, "Tables and stateful baselines".

pub mod scalar;
pub(super) mod table;
#[cfg(test)]
pub(super) mod tests;

use std::ops::ControlFlow;

use super::registry::without_list;
use super::{Estimate, HashedNode, Locate, NodeId};
use crate::error::Result;
use crate::hash::halves;
use scalar::reduce32;
use table::{NameOf, by_position};

/// A cluster compiled for maglev hashing: the table of its eligible nodes.
///
/// It takes 4 bytes per entry, and 100 to 200 entries per node if the size is the default.
///
/// ```
/// use rehome::placement::{HashedNode, Locate, maglev::Maglev};
///
/// let node = |hash, up| HashedNode { hash, quantum: 65_536, tokens: 0, up };
/// let maglev = Maglev::new(&[node(11, true), node(22, true), node(33, false)], 101)?;
/// assert_eq!(maglev.table().iter().filter(|node| node.index() == Some(0)).count(), 51);
/// # Ok::<(), rehome::Error>(())
/// ```
///
/// Source: `spec/placement.md`, "Tables and stateful baselines".
#[derive(Debug)]
pub struct Maglev {
    table: Box<[NodeId]>,
    size: u32,
}

impl Maglev {
    /// Compiles these nodes to a table of `size` entries; a node's position is its [`NodeId`]. Without an eligible
    /// node all entries are [`NodeId::NONE`].
    ///
    /// # Complexity
    /// O(size * log size) tries of entries, on average; O(size * log nodes) more if weights differ.
    ///
    /// # Errors
    /// A size that is not prime, or so small that an eligible node would get no entry.
    ///
    /// # Panics
    /// If there are 2^32 nodes or more.
    pub fn new(nodes: &[HashedNode], size: u32) -> Result<Self> {
        check(nodes, size, &by_position)?;
        Ok(Self { table: table::fill(nodes, HashedNode::is_eligible, size), size })
    }

    /// The table: the node of each entry.
    pub fn table(&self) -> &[NodeId] {
        &self.table
    }
}

impl Locate for Maglev {
    #[inline]
    fn locate(&self, word: u64) -> (NodeId, u64) {
        let node = self.table[reduce32(halves(word).0, self.size) as usize];
        (node, u64::from(node != NodeId::NONE))
    }

    fn prefer(&self, _word: u64, _visit: &mut dyn FnMut(NodeId) -> ControlFlow<()>) -> Result<()> {
        without_list("maglev")
    }

    fn memory_bytes(&self) -> u64 {
        size_of_val(&*self.table) as u64
    }
}

/// Fails where [`Maglev::new`] would, without making the table.
pub(super) fn check(nodes: &[HashedNode], size: u32, name: NameOf<'_>) -> Result<()> {
    table::check(nodes, HashedNode::is_eligible, size, name)
}

/// What [`Maglev::new`] and its lookups cost with so many eligible nodes.
pub(super) fn estimate(eligible: u64, size: u32) -> Estimate {
    let size = u64::from(size);
    // While it is filled: a bit per entry; per node its place in the order, its walk, and what it takes next.
    let building = size.div_ceil(8) + eligible * (16 + 12 + 56);
    Estimate { memory_bytes: size * 4, building_bytes: size * 4 + building, steps: 1.0 }
}
