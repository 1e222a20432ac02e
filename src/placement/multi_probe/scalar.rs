//! Multi-probe hashing, literally: every probe walks the sorted list of all tokens to one whose node is eligible.
//!
//! Source: `spec/placement.md`, "Rings".

use crate::hash::ProbeSequence;
use crate::placement::NodeId;
use crate::placement::ring::scalar::around;

/// The node whose token is closest behind one of the first `probes` words of the key; the earliest probe wins a tie. None
/// if no node with a token is eligible.
///
/// # Complexity
/// O(probes * log tokens), and the tokens that are passed over.
pub fn locate(digest: u64, ring: &[(u32, NodeId)], probes: u32, eligible: impl Fn(NodeId) -> bool) -> Option<NodeId> {
    let mut best: Option<(u32, NodeId)> = None;
    for word in ProbeSequence::new(digest).take(probes as usize) {
        let Some((token, node)) = around(ring, word).find(|(_, node)| eligible(*node)) else { continue };
        let distance = token.wrapping_sub(word);
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, node));
        }
    }
    best.map(|(_, node)| node)
}

/// The preference list: each entry is what multi-probe gives when the earlier ones count as down.
///
/// # Complexity
/// Quadratic in the number of nodes.
pub fn list(digest: u64, ring: &[(u32, NodeId)], probes: u32, eligible: impl Fn(NodeId) -> bool) -> Vec<NodeId> {
    let mut list = Vec::new();
    while let Some(node) = locate(digest, ring, probes, |node| eligible(node) && !list.contains(&node)) {
        list.push(node);
    }
    list
}
