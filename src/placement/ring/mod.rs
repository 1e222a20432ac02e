//! The ring of Karger and others: a key lives on the node of the first token behind it.
//!
//! Every node has many tokens, pseudo-random 32-bit words. A key's word 0 is a place among them, and the walk from
//! there on meets its node first and then the nodes that take over, so a node that joins or leaves moves only its own
//! keys. Shares are uneven: their standard deviation is about 1 / sqrt(tokens per node).
//!
//! # Complexity
//! A lookup reads one token, found through an index; no node is compared.
//!
//! # Files
//! `scalar.rs` is the literal walk; `tokens.rs` is the ring with its index, which `multi-probe` and `lrh` share;
//! `node_set.rs` remembers the nodes that a walk has met.
//!
//! Source: D. Karger and others, "Consistent Hashing and Random Trees", STOC 1997; `spec/placement.md`, "Rings".

mod node_set;
pub mod scalar;
#[cfg(test)]
pub(super) mod testing;
mod tokens;

use std::ops::ControlFlow;

pub(super) use node_set::NodeSet;
pub use tokens::{TokenRing, token_count};

use super::{Estimate, HashedNode, Locate, NodeId};
use crate::error::Result;
use crate::hash::halves;

/// Nodes compiled for the ring.
///
/// Only the tokens of eligible nodes are kept: a walk over them meets the same nodes as one that passes the others over.
///
/// # Complexity
/// A lookup looks at one token. The whole preference list takes O(tokens).
///
/// Source: `spec/placement.md`, "Rings".
///
/// ```
/// use rehome::placement::{HashedNode, Locate, ring::Ring};
///
/// let node = |hash| HashedNode { hash, quantum: 65_536, tokens: 100, up: true };
/// let ring = Ring::new(&[node(1), node(2), node(3)])?;
/// assert!(ring.locate(7_175_312_947_680_778_460).0.index().is_some());
/// # Ok::<(), rehome::Error>(())
/// ```
#[derive(Debug)]
pub struct Ring {
    ring: TokenRing,
}

impl Ring {
    /// The ring of these nodes, each with as many tokens as it says. Its position in the slice is a node's [`NodeId`].
    ///
    /// # Complexity
    /// O(nodes + tokens * log tokens).
    ///
    /// # Errors
    /// More than 2^32 - 1 nodes or tokens of eligible nodes, or not enough memory.
    pub fn new(nodes: &[HashedNode]) -> Result<Self> {
        Ok(Self { ring: TokenRing::new(nodes, HashedNode::is_eligible)? })
    }

    /// The tokens of the eligible nodes.
    pub fn tokens(&self) -> &TokenRing {
        &self.ring
    }
}

/// What a ring with so many tokens of eligible nodes will cost.
pub(super) fn estimate(tokens: u64) -> Estimate {
    let (memory_bytes, building_bytes) = TokenRing::bytes_of(tokens);
    Estimate { memory_bytes, building_bytes, steps: if tokens == 0 { 0.0 } else { 1.0 } }
}

impl Locate for Ring {
    /// The node, and 1 for the one token that is looked at.
    #[inline]
    fn locate(&self, word: u64) -> (NodeId, u64) {
        if self.ring.is_empty() {
            return (NodeId::NONE, 0);
        }
        (self.ring.node(self.ring.successor(halves(word).0)), 1)
    }

    fn prefer(&self, word: u64, visit: &mut dyn FnMut(NodeId) -> ControlFlow<()>) -> Result<()> {
        let mut seen = NodeSet::new();
        for node in self.ring.walk(self.ring.successor(halves(word).0)) {
            if !seen.insert(node) {
                continue;
            }
            if visit(node).is_break() || seen.len() == self.ring.distinct_nodes() as usize {
                break;
            }
        }
        Ok(())
    }

    fn memory_bytes(&self) -> u64 {
        self.ring.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::*;
    use super::*;

    #[test]
    fn it_equals_the_literal_walk() {
        for (name, nodes) in clusters() {
            let (ring, literal) = (Ring::new(&nodes).unwrap(), scalar::sorted(&nodes));
            for digest in some_digests(&literal) {
                let expected: Vec<_> = scalar::list(digest, &literal, &nodes).collect();
                let head = expected.first().map_or((NodeId::NONE, 0), |node| (*node, 1));
                assert_eq!(ring.locate(digest), head, "{name}, {digest}");
                assert_eq!(list_of(&ring, digest, usize::MAX), expected, "{name}, {digest}");
                assert_eq!(list_of(&ring, digest, 3), expected[..expected.len().min(3)], "{name}, {digest}");
            }
        }
    }

    #[test]
    fn it_gives_the_golden_nodes() {
        let vectors = vectors();
        let golden = &vectors["ring_16"];
        let mut nodes = golden_nodes(&vectors, 16);
        let ring = Ring::new(&nodes).unwrap();
        assert_nodes(&ring, &vectors, &golden["node"], None);
        assert_lists(&ring, &vectors, &golden["replicas_3"], 64, 3);
        assert_bounded(&ring, &vectors, &vectors["bounded"]["ring_16_eps_0.25"]);

        let (zones, digests) = (numbers(&vectors["zones"]), numbers(&vectors["digest"]));
        let in_zones = golden["replicas_4_zones"].as_array().unwrap();
        assert_eq!(in_zones.len(), 32);
        for (digest, golden) in digests.iter().zip(in_zones) {
            assert_eq!(spread(&list_of(&ring, *digest, usize::MAX), &zones, 4), node_list(golden));
        }

        nodes.iter_mut().for_each(|node| node.up = false);
        assert_eq!(Ring::new(&nodes).unwrap().locate(digests[0]).0, node(&golden["none_up"]));
    }

    #[test]
    fn it_gives_the_golden_nodes_of_weighted_counts() {
        let vectors = vectors();
        let golden = &vectors["ring_25_weighted"];
        let nodes = golden_weighted_nodes(&vectors, |weight| token_count(25, weight));
        assert_eq!(nodes.iter().map(|node| u64::from(node.tokens)).collect::<Vec<_>>(), numbers(&golden["counts"]));
        assert_nodes(&Ring::new(&nodes).unwrap(), &vectors, &golden["node"], None);
    }

    #[test]
    fn a_word_on_a_token_belongs_to_it() {
        let vectors = vectors();
        let golden = &vectors["edge"]["word_on_a_token"];
        let tokens: Vec<_> = tokens(&golden["ring"]).into_iter().map(|(token, node)| (token, node.raw())).collect();
        let ring = Ring { ring: TokenRing::of_tokens(&tokens) };
        assert_eq!(ring.locate(golden["digest"].as_u64().unwrap()).0, node(&golden["ring_node"]));
    }

    #[test]
    fn the_estimate_is_what_the_ring_takes() {
        for (name, nodes) in clusters() {
            let ring = Ring::new(&nodes).unwrap();
            let estimate = estimate(ring.tokens().len() as u64);
            assert_eq!(estimate.memory_bytes, ring.memory_bytes(), "{name}");
            assert!(estimate.building_bytes >= estimate.memory_bytes, "{name}");
            assert!((estimate.steps - ring.locate(1).1 as f64).abs() < f64::EPSILON, "{name}");
        }
        assert_eq!(estimate(1 << 24).memory_bytes, (12 << 24) + 16 + 4);
        assert_eq!(estimate(1 << 24).building_bytes, (16 << 24) + 16);
        assert!(estimate(u64::MAX).memory_bytes == u64::MAX);
    }
}
