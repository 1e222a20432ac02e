//! Local rendezvous hashing, literally: the window is walked on the sorted list of all tokens, and sorted by score.
//!
//! Source: `spec/placement.md`, "Rings".

use std::cmp::Reverse;

use crate::hash::{ProbeSequence, halves, mix32};
use crate::placement::rendezvous::scalar::race;
use crate::placement::ring::scalar::walk;
use crate::placement::{HashedNode, NodeId};

/// The score of a node for a key: the key's high half, since its place on the ring is the low one.
pub fn score(digest: u64, node_hash: u64) -> u32 {
    mix32(halves(digest).1 ^ halves(node_hash).0)
}

/// The preference list: the eligible ones of the first `window` distinct nodes of the walk, best first, by score or by the
/// weighted race; then the rest of the walk.
///
/// # Complexity
/// O(tokens) for the walk.
pub fn list(digest: u64, ring: &[(u32, NodeId)], nodes: &[HashedNode], window: u32, by_score: bool) -> Vec<NodeId> {
    let node = |id: NodeId| &nodes[id.raw() as usize];
    let place = ProbeSequence::new(digest).word(0);
    let window: Vec<_> = walk(ring, place, |_| true).take(window as usize).collect();
    let mut inside: Vec<_> = window.into_iter().filter(|id| node(*id).is_eligible()).collect();
    let score = |id: &NodeId| score(digest, node(*id).hash);
    if by_score {
        inside = race(inside.iter().map(|id| (score(id), node(*id).quantum, *id)));
    } else {
        // Stable, so walking order decides where scores are equal.
        inside.sort_by_key(|id| Reverse(score(id)));
    }
    let rest: Vec<_> = walk(ring, place, |id| node(id).is_eligible()).filter(|id| !inside.contains(id)).collect();
    inside.into_iter().chain(rest).collect()
}
