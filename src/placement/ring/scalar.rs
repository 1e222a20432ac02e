//! The ring, literally: a sorted list of tokens, walked from the successor of a word on.
//!
//! Source: `spec/placement.md`, "Rings".

use std::collections::HashSet;

use crate::hash::{GOLDEN, ProbeSequence, fmix64, halves};
use crate::placement::{HashedNode, NodeId};

/// The tokens of a node, the first one first: token v is the high half of `fmix64(hash + (v + 1) * GOLDEN)`.
pub fn tokens_of(node: &HashedNode) -> impl Iterator<Item = u32> {
    let hash = node.hash;
    (1..=u64::from(node.tokens)).map(move |v| halves(fmix64(hash.wrapping_add(v.wrapping_mul(GOLDEN)))).1)
}

/// All tokens with their nodes, sorted by token and then by node hash.
pub fn sorted(nodes: &[HashedNode]) -> Vec<(u32, NodeId)> {
    let of_node = |(id, node)| tokens_of(node).map(move |token| (token, node.hash, NodeId::new(id)));
    let mut tokens: Vec<_> = (0..).zip(nodes).flat_map(of_node).collect();
    tokens.sort_unstable();
    tokens.into_iter().map(|(token, _, node)| (token, node)).collect()
}

/// The position of the first token at or above the word; behind the last token that is position 0.
pub fn successor(ring: &[(u32, NodeId)], word: u32) -> usize {
    let position = ring.partition_point(|(token, _)| *token < word);
    if position == ring.len() { 0 } else { position }
}

/// The tokens from the successor of the word on, once around the ring.
pub fn around(ring: &[(u32, NodeId)], word: u32) -> impl Iterator<Item = (u32, NodeId)> {
    let (behind, from_here) = ring.split_at(successor(ring, word));
    from_here.iter().chain(behind).copied()
}

/// The distinct nodes that `eligible` accepts, in the order of the walk from the successor of the word on.
///
/// # Complexity
/// O(tokens) for all of them.
pub fn walk(ring: &[(u32, NodeId)], word: u32, eligible: impl Fn(NodeId) -> bool) -> impl Iterator<Item = NodeId> {
    let mut seen = HashSet::new();
    around(ring, word).map(|(_, node)| node).filter(move |node| eligible(*node) && seen.insert(*node))
}

/// The preference list of `ring`: the distinct eligible nodes in walking order from word 0 of the key on.
///
/// # Complexity
/// O(tokens) for the whole list.
pub fn list(digest: u64, ring: &[(u32, NodeId)], nodes: &[HashedNode]) -> impl Iterator<Item = NodeId> {
    walk(ring, ProbeSequence::new(digest).word(0), |node| nodes[node.raw() as usize].is_eligible())
}
