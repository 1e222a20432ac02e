//! SACH: a table of nodes as maglev's, in which nodes that are down are only marked, and passed by double hashing.
//!
//! The slow update makes the table anew, over all configured nodes; the fast one marks a node. So a node that goes
//! down and comes back moves only its own keys, which spread over the others. The price is a lookup that reads more
//! entries the more nodes are down, and a table of all nodes.
//!
//! This is built from the abstract of the article and from what the `DxHash` paper says of it. How the article itself
//! gives entries to nodes is not public, so a system that uses its allocation places keys differently.
//!
//! # Complexity
//! A lookup reads 1 / (share of the weight that is up) entries on average.
//!
//! # Files
//! `scalar.rs` is the literal function; the table is that of [`maglev`](super::maglev).
//!
//! Source: the abstract of the article on SACH, and section I of C. Dong, F. Wang, D. Feng, "DxHash", arXiv
//! 2107.07930; `spec/placement.md`, "Tables and stateful baselines".

pub mod scalar;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use super::maglev::scalar::reduce32;
use super::maglev::table::{self, NameOf, by_position};
use super::registry::without_list;
use super::{Estimate, HashedNode, Locate, NodeId};
use crate::error::Result;
use crate::hash::{ProbeSequence, halves};

/// A cluster compiled for SACH: the table of its nodes, and which of them are up.
///
/// It takes 4 bytes per entry and a bit per node. The article's own allocation of entries is not public; see the
/// [module](self).
///
/// ```
/// use rehome::placement::{HashedNode, Locate, sach::Sach};
///
/// let node = |hash, up| HashedNode { hash, quantum: 65_536, tokens: 0, up };
/// let sach = Sach::new(&[node(11, false), node(22, true)], 101)?;
/// assert_eq!(sach.locate(7).0.index(), Some(1));
/// # Ok::<(), rehome::Error>(())
/// ```
///
/// Source: `spec/placement.md`, "Tables and stateful baselines".
#[derive(Debug)]
pub struct Sach {
    table: Box<[NodeId]>,
    size: u32,
    /// One bit per node.
    up: Box<[u64]>,
    any: bool,
}

impl Sach {
    /// Compiles these nodes to a table of `size` entries; a node's position is its [`NodeId`].
    ///
    /// # Complexity
    /// O(size * log size) tries of entries, on average; O(size * log nodes) more if weights differ.
    ///
    /// # Errors
    /// A size that is not prime, or so small that a node with a weight above 0 would get no entry.
    ///
    /// # Panics
    /// If there are 2^32 nodes or more.
    pub fn new(nodes: &[HashedNode], size: u32) -> Result<Self> {
        check(nodes, size, &by_position)?;
        let mut up = vec![0_u64; nodes.len().div_ceil(64)].into_boxed_slice();
        for (index, node) in nodes.iter().enumerate() {
            up[index / 64] |= u64::from(node.up) << (index % 64);
        }
        let any = nodes.iter().any(HashedNode::is_eligible);
        Ok(Self { table: table::fill(nodes, takes_part, size), size, up, any })
    }

    /// The table: the node of each entry, up or down.
    pub fn table(&self) -> &[NodeId] {
        &self.table
    }

    /// Whether a node of the table is up.
    #[inline(always)]
    fn is_up(&self, node: NodeId) -> bool {
        self.up[node.raw() as usize / 64] >> (node.raw() % 64) & 1 == 1
    }
}

impl Locate for Sach {
    fn locate(&self, word: u64) -> (NodeId, u64) {
        if !self.any {
            return (NodeId::NONE, 0);
        }
        // Some node is eligible, so every entry has a node.
        let mut entry = reduce32(halves(word).0, self.size);
        let node = self.table[entry as usize];
        if self.is_up(node) {
            return (node, 1);
        }
        let skip = 1 + reduce32(ProbeSequence::new(word).word(1), self.size - 1);
        for steps in 2..=u64::from(self.size) {
            entry = table::step(entry, skip, u64::from(self.size));
            let node = self.table[entry as usize];
            if self.is_up(node) {
                return (node, steps);
            }
        }
        // Not reached: the size is prime, so all entries were read, and an eligible node has one.
        (NodeId::NONE, u64::from(self.size))
    }

    fn prefer(&self, _word: u64, _visit: &mut dyn FnMut(NodeId) -> ControlFlow<()>) -> Result<()> {
        without_list("sach")
    }

    fn memory_bytes(&self) -> u64 {
        (size_of_val(&*self.table) + size_of_val(&*self.up)) as u64
    }
}

/// Down nodes keep their entries.
fn takes_part(node: &HashedNode) -> bool {
    node.quantum > 0
}

/// Fails where [`Sach::new`] would, without making the table.
pub(super) fn check(nodes: &[HashedNode], size: u32, name: NameOf<'_>) -> Result<()> {
    table::check(nodes, takes_part, size, name)
}

/// What [`Sach::new`] and its lookups cost with so many configured nodes, of whose weight this share is up.
pub(super) fn estimate(configured: u64, size: u32, share_up: f64) -> Estimate {
    let table = super::maglev::estimate(configured, size);
    let bits = configured.div_ceil(64) * 8;
    let steps = if share_up > 0.0 { (1.0 / share_up).min(f64::from(size)) } else { 0.0 };
    Estimate { memory_bytes: table.memory_bytes + bits, building_bytes: table.building_bytes + bits, steps }
}
