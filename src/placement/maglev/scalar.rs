//! Maglev, literally: the table filled turn by turn, the truth that every faster filling must equal.
//!
//! Source: `spec/placement.md`, "Tables and stateful baselines".

use crate::hash::{GOLDEN, fmix64, halves};
use crate::placement::{HashedNode, NodeId};

/// Maps a 32-bit word onto 0..n.
#[inline(always)]
pub fn reduce32(word: u32, n: u32) -> u32 {
    halves(u64::from(word) * u64::from(n)).1
}

/// The entry at which a node's walk through a table of this size starts, and its step.
///
/// # Panics
/// If the size is below 2.
pub fn walk(node_hash: u64, size: u32) -> (u32, u32) {
    let size = u64::from(size);
    let position = fmix64(node_hash.wrapping_add(GOLDEN)) % size;
    let skip = fmix64(node_hash.wrapping_add(GOLDEN.wrapping_mul(2))) % (size - 1) + 1;
    (halves(position).0, halves(skip).0)
}

/// The table of the nodes that take part, of a prime size; without any all entries are NONE. A node that takes part
/// may get no entry: whether that is an error is not decided here.
///
/// # Complexity
/// O(turns * nodes + size * log size).
///
/// # Panics
/// If the size is not prime, or a node with weight 0 takes part.
pub fn table(nodes: &[HashedNode], takes_part: impl Fn(&HashedNode) -> bool, size: u32) -> Vec<NodeId> {
    let mut table = vec![NodeId::NONE; size as usize];
    let top = nodes.iter().map(|node| u64::from(node.quantum)).max().unwrap_or(0);
    let mut order: Vec<(u64, u64, NodeId)> = Vec::new();
    for (id, node) in (0..).zip(nodes) {
        if takes_part(node) {
            assert!(node.quantum > 0, "a node with weight 0 gets no entries");
            order.push((node.hash, u64::from(node.quantum), NodeId::new(id)));
        }
    }
    if order.is_empty() {
        return table;
    }
    order.sort_by_key(|(hash, ..)| *hash);
    let mut walks: Vec<_> = order.iter().map(|(hash, ..)| walk(*hash, size)).collect();
    let entries = |turn: u64, q: u64| (2 * turn * q + top) / (2 * top);
    let (mut filled, mut turn) = (0, 0);
    while filled < size {
        turn += 1;
        for ((_, q, id), (at, skip)) in order.iter().zip(&mut walks) {
            if entries(turn, *q) == entries(turn - 1, *q) {
                continue;
            }
            let start = *at;
            while table[*at as usize] != NodeId::NONE {
                *at = halves((u64::from(*at) + u64::from(*skip)) % u64::from(size)).0;
                assert!(*at != start, "the size is not prime");
            }
            table[*at as usize] = *id;
            filled += 1;
            if filled == size {
                break;
            }
        }
    }
    table
}

/// The node of a digest.
///
/// # Panics
/// If the table is empty.
pub fn lookup(digest: u64, table: &[NodeId]) -> NodeId {
    let size = u32::try_from(table.len()).unwrap_or(u32::MAX);
    table[reduce32(halves(digest).0, size) as usize]
}
