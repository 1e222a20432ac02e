//! Multi-probe consistent hashing: a key tries several places on a ring of few tokens, and the closest token wins.
//!
//! One token per node would load nodes very unevenly. With k probes a node gets a key only if its token is the closest
//! behind any of them, so that nodes with long arcs win less often: the largest load is about 1 + 1/(k - 1) of the
//! average. The smallest is not bounded, and with one token per node some node is almost empty. Any node joins or leaves
//! with the least moves, and the memory is that of the tokens.
//!
//! # Complexity
//! A lookup reads one token per probe, each found through an index.
//!
//! # Files
//! `scalar.rs` is the literal function. The tokens are those of [`ring`].
//!
//! Source: B. Appleton, M. O'Reilly, "Multi-Probe Consistent Hashing", arXiv 1505.00062; `spec/placement.md`, "Rings".

pub mod scalar;

use std::ops::ControlFlow;

use super::ring::{self, NodeSet, TokenRing};
use super::{Estimate, HashedNode, Locate, NodeId};
use crate::error::{Error, Result};
use crate::hash::ProbeSequence;

/// Nodes compiled for multi-probe hashing: the ring of the tokens of those that are eligible.
///
/// ```
/// use rehome::placement::{HashedNode, Locate, multi_probe::MultiProbe};
///
/// let node = |hash| HashedNode { hash, quantum: 65_536, tokens: 1, up: true };
/// let placement = MultiProbe::new(&[node(1), node(2), node(3)], 21)?;
/// assert!(placement.locate(42).0.index().is_some());
/// # Ok::<(), rehome::Error>(())
/// ```
///
/// Source: `spec/placement.md`, "Rings".
#[derive(Debug)]
pub struct MultiProbe {
    ring: TokenRing,
    probes: u32,
}

impl MultiProbe {
    /// The nodes with as many tokens as each says, and so many probes per key. Its position in the slice is a node's
    /// [`NodeId`].
    ///
    /// # Complexity
    /// O(nodes + tokens * log tokens).
    ///
    /// # Errors
    /// No probe; more than 2^32 - 1 nodes or tokens of eligible nodes, or not enough memory.
    pub fn new(nodes: &[HashedNode], probes: u32) -> Result<Self> {
        if probes == 0 {
            return Err(Error::invalid("multi-probe with 0 probes finds no node", "use at least 1 probe"));
        }
        Ok(Self { ring: TokenRing::new(nodes, HashedNode::is_eligible)?, probes })
    }

    /// The tokens of the eligible nodes.
    pub fn tokens(&self) -> &TokenRing {
        &self.ring
    }

    fn words(&self, digest: u64) -> impl Iterator<Item = u32> {
        ProbeSequence::new(digest).take(self.probes as usize)
    }
}

/// What so many tokens of eligible nodes and so many probes will cost.
pub(super) fn estimate(tokens: u64, probes: u32) -> Estimate {
    let ring = ring::estimate(tokens);
    Estimate { steps: ring.steps * f64::from(probes), ..ring }
}

/// A probe on its way around the ring, past tokens of nodes that were chosen.
struct Probe {
    word: u32,
    position: usize,
}

impl Locate for MultiProbe {
    /// The node, and the number of probes.
    fn locate(&self, word: u64) -> (NodeId, u64) {
        if self.ring.is_empty() {
            return (NodeId::NONE, 0);
        }
        let mut best = (u32::MAX, NodeId::NONE);
        for probe in self.words(word) {
            let position = self.ring.successor(probe);
            let distance = self.ring.token(position).wrapping_sub(probe);
            // A distance of 2^32 - 1 must win against none.
            if distance < best.0 || best.1 == NodeId::NONE {
                best = (distance, self.ring.node(position));
            }
        }
        (best.1, u64::from(self.probes))
    }

    fn prefer(&self, word: u64, visit: &mut dyn FnMut(NodeId) -> ControlFlow<()>) -> Result<()> {
        if self.ring.is_empty() {
            return Ok(());
        }
        let start = |word| Probe { word, position: self.ring.successor(word) };
        let mut probes: Vec<Probe> = self.words(word).map(start).collect();
        let mut chosen = NodeSet::new();
        while chosen.len() < self.ring.distinct_nodes() as usize {
            let mut best = (u32::MAX, NodeId::NONE);
            for probe in &mut probes {
                // Some node is not chosen yet, so this ends before it is around the ring.
                while chosen.contains(self.ring.node(probe.position)) {
                    probe.position = self.ring.next(probe.position);
                }
                let distance = self.ring.token(probe.position).wrapping_sub(probe.word);
                if distance < best.0 || best.1 == NodeId::NONE {
                    best = (distance, self.ring.node(probe.position));
                }
            }
            chosen.insert(best.1);
            if visit(best.1).is_break() {
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
    use super::super::ring::scalar::sorted;
    use super::super::ring::testing::*;
    use super::super::ring::token_count;
    use super::*;

    #[test]
    fn it_equals_the_literal_probes() {
        for (name, nodes) in clusters() {
            let literal = sorted(&nodes);
            let eligible = |node: NodeId| nodes[node.raw() as usize].is_eligible();
            for probes in [1, 2, 7, 21] {
                let placement = MultiProbe::new(&nodes, probes).unwrap();
                for digest in some_digests(&literal).into_iter().step_by(5) {
                    let expected = scalar::locate(digest, &literal, probes, eligible);
                    let steps = expected.map_or(0, |_| u64::from(probes));
                    let found = placement.locate(digest);
                    assert_eq!(found, (expected.unwrap_or(NodeId::NONE), steps), "{name}, {probes} probes, {digest}");
                    if nodes.len() > 100 {
                        assert_eq!(list_of(&placement, digest, 1), expected.as_slice());
                        continue;
                    }
                    let expected = scalar::list(digest, &literal, probes, eligible);
                    assert_eq!(list_of(&placement, digest, usize::MAX), expected, "{name}, {probes} probes, {digest}");
                    assert_eq!(list_of(&placement, digest, 3), expected[..expected.len().min(3)]);
                }
            }
        }
    }

    #[test]
    fn a_list_of_many_nodes_has_each_once() {
        let node = |i| HashedNode { hash: crate::hash::fmix64(i), quantum: 65_536, tokens: 2, up: true };
        let nodes: Vec<_> = (0..20_000).map(node).collect();
        let mut list = list_of(&MultiProbe::new(&nodes, 5).unwrap(), 7, usize::MAX);
        list.sort_unstable();
        list.dedup();
        assert_eq!(list.len(), nodes.len());
    }

    #[test]
    fn it_gives_the_golden_nodes() {
        let vectors = vectors();
        let golden = &vectors["multi_probe_1_k21"];
        let mut nodes = golden_nodes(&vectors, 1);
        let one = MultiProbe::new(&nodes, 21).unwrap();
        assert_nodes(&one, &vectors, &golden["node"], None);
        assert_lists(&one, &vectors, &golden["replicas_3"], 32, 3);
        nodes.iter_mut().for_each(|node| node.up = false);
        let digest = numbers(&vectors["digest"])[0];
        assert_eq!(MultiProbe::new(&nodes, 21).unwrap().locate(digest).0, node(&golden["none_up"]));

        let sixteen = MultiProbe::new(&golden_nodes(&vectors, 16), 8).unwrap();
        assert_nodes(&sixteen, &vectors, &vectors["multi_probe_16_k8"], None);

        let golden = &vectors["edge"]["multi_probe_weighted"];
        let nodes = golden_weighted_nodes(&vectors, |weight| token_count(25, weight));
        assert_eq!(nodes.iter().map(|node| u64::from(node.tokens)).collect::<Vec<_>>(), numbers(&golden["counts"]));
        assert_nodes(&MultiProbe::new(&nodes, 8).unwrap(), &vectors, &golden["k8"], Some(64));
    }

    #[test]
    fn the_earliest_probe_wins_a_tie_and_a_token_is_its_own_successor() {
        let vectors = vectors();
        for (golden, probes, node_at) in [("multi_probe_tie", 2, "k2"), ("word_on_a_token", 1, "multi_probe_k1")] {
            let golden = &vectors["edge"][golden];
            let tokens: Vec<_> = tokens(&golden["ring"]).into_iter().map(|(token, node)| (token, node.raw())).collect();
            let placement = MultiProbe { ring: TokenRing::of_tokens(&tokens), probes };
            assert_eq!(placement.locate(golden["digest"].as_u64().unwrap()).0, node(&golden[node_at]));
        }
    }

    #[test]
    fn no_probe_is_refused() {
        assert!(MultiProbe::new(&[], 0).unwrap_err().to_string().contains("0 probes"));
        assert_eq!(estimate(100, 21).memory_bytes, ring::estimate(100).memory_bytes);
        assert!((estimate(100, 21).steps - 21.0).abs() < f64::EPSILON && estimate(0, 21).steps == 0.0);
    }
}
