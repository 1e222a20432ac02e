//! Rendezvous hashing, literally: the truth that every other form of it must equal, list by list.
//!
//! Source: `spec/placement.md`, "Rendezvous".

use crate::hash::{halves, mix32};
use crate::placement::race::{beats, neg_log2};
use crate::placement::{HashedNode, NodeId};

/// The word that a node draws for a key. Both are given by the low and the high half of their hash.
#[inline(always)]
pub fn word((a, b): (u32, u32), (low, high): (u32, u32)) -> u32 {
    mix32(mix32(a ^ low).wrapping_add(b ^ high))
}

/// The preference list of a digest: all eligible nodes, best first; not weighted, the weights count for nothing
/// beyond eligibility.
///
/// # Complexity
/// O(nodes * log nodes); weighted O(nodes^2).
pub fn preferences(digest: u64, nodes: &[HashedNode], weighted: bool) -> Vec<NodeId> {
    let mut order: Vec<(u64, u32, NodeId)> = Vec::new();
    for (id, node) in (0..).zip(nodes) {
        if node.is_eligible() {
            order.push((node.hash, node.quantum, NodeId::new(id)));
        }
    }
    order.sort_by_key(|(hash, ..)| *hash);
    if weighted {
        return race(order.into_iter().map(|(hash, q, node)| (word(halves(digest), halves(hash)), q, node)));
    }
    // A stable sort: ascending hash on a tie.
    order.sort_by_key(|(hash, ..)| !word(halves(digest), halves(*hash)));
    order.into_iter().map(|(.., node)| node).collect()
}

/// The nodes of (word, q, node) by ascending cost / q; the order given decides a tie.
pub fn race(candidates: impl Iterator<Item = (u32, u32, NodeId)>) -> Vec<NodeId> {
    let mut order: Vec<(u32, u32, NodeId)> = Vec::new();
    for (word, q, node) in candidates {
        let cost = neg_log2(word);
        let mut at = order.len();
        while at > 0 && beats(cost, q, order[at - 1].0, order[at - 1].1) {
            at -= 1;
        }
        order.insert(at, (cost, q, node));
    }
    order.into_iter().map(|(.., node)| node).collect()
}
