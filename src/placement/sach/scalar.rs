//! SACH, literally: the truth that every other form of it must equal.
//!
//! Source: `spec/placement.md`, "Tables and stateful baselines".

use crate::hash::{ProbeSequence, halves};
use crate::placement::maglev::scalar::{reduce32, table};
use crate::placement::{HashedNode, NodeId};

/// The table of a slow update: maglev's, over all configured nodes with a weight above 0, down ones included.
///
/// # Panics
/// If the size is not prime.
pub fn slow_update(nodes: &[HashedNode], size: u32) -> Vec<NodeId> {
    table(nodes, |node| node.quantum > 0, size)
}

/// The node of a digest, NONE if none was met, and how many entries were read. `up[i]` tells whether node i is up.
///
/// # Complexity
/// 1 / (share of the entries whose nodes are up) entries on average, at most all of them.
///
/// # Panics
/// If the table has fewer than two entries, or names a node that `up` does not have.
pub fn lookup(digest: u64, table: &[NodeId], up: &[bool]) -> (NodeId, u64) {
    let size = u32::try_from(table.len()).unwrap_or(u32::MAX);
    let probes = ProbeSequence::new(digest);
    let mut entry = u64::from(reduce32(halves(digest).0, size));
    let skip = 1 + u64::from(reduce32(probes.word(1), size - 1));
    for steps in 1..=u64::from(size) {
        let node = table[usize::try_from(entry).unwrap_or(usize::MAX)];
        if node.index().is_some_and(|index| up[index]) {
            return (node, steps);
        }
        entry = (entry + skip) % u64::from(size);
    }
    (NodeId::NONE, u64::from(size))
}
