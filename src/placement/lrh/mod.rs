//! Local rendezvous hashing (LRH): a ring narrows each key to a window of nodes, and these compete for it by score.
//!
//! The window is the first C distinct nodes behind the key's place on the ring, up or down. Scoring within it evens the
//! loads out almost as far as C times the tokens would, and reads one stretch of the ring instead of many places. A node
//! that goes down moves only its own keys, since windows stay what they are. A node that joins enters windows and pushes
//! others out, so some keys also move between nodes that were there.
//!
//! Weights count as the description says: by score (the weighted race of rendezvous inside the window, which caps a share
//! near C / nodes), or by tokens.
//!
//! # Complexity
//! A lookup walks the tokens of its window: C and a few more, where a node comes twice.
//!
//! # Files
//! `scalar.rs` is the literal function. The tokens are those of [`ring`].
//!
//! Source: Y. Guan, "Local Rendezvous Hashing", arXiv 2512.23434; `spec/placement.md`, "Rings".

pub mod scalar;

use std::cmp::Reverse;
use std::ops::ControlFlow;

use super::race::{beats, neg_log2};
use super::ring::{self, NodeSet, TokenRing};
use super::{Estimate, HashedNode, Locate, NodeId};
use crate::error::{Error, Result};
use crate::hash::{halves, mix32};

/// Nodes compiled for local rendezvous hashing.
///
/// ```
/// use rehome::placement::{HashedNode, Locate, lrh::Lrh};
///
/// let node = |hash| HashedNode { hash, quantum: 65_536, tokens: 256, up: true };
/// let placement = Lrh::new(&[node(1), node(2), node(3)], 8, false)?;
/// assert!(placement.locate(42).0.index().is_some());
/// # Ok::<(), rehome::Error>(())
/// ```
///
/// Source: `spec/placement.md`, "Rings".
#[derive(Debug)]
pub struct Lrh {
    /// The tokens of all nodes, also of those that are not eligible: they take their places in windows.
    ring: TokenRing,
    members: Box<[Member]>,
    /// Distinct nodes of a window, no more than have tokens.
    window: usize,
    by_score: bool,
    /// Whether any node with a token is eligible.
    any: bool,
}

/// What the window needs of a node.
#[derive(Clone, Copy, Debug)]
struct Member {
    /// The low half of its hash.
    salt: u32,
    /// Its weight in units of 1/65536; 0 if it is not eligible.
    quantum: u32,
}

impl Lrh {
    /// The nodes with as many tokens as each says, and windows of so many distinct ones. `by_score`: whether weights count
    /// inside the window; otherwise they count by the tokens alone. Its position in the slice is a node's [`NodeId`].
    ///
    /// # Complexity
    /// O(nodes + tokens * log tokens).
    ///
    /// # Errors
    /// A window of 0; more than 2^32 - 1 nodes or tokens, or not enough memory.
    pub fn new(nodes: &[HashedNode], window: u32, by_score: bool) -> Result<Self> {
        if window == 0 {
            return Err(Error::invalid("lrh with a window of 0 finds no node", "use a window of at least 1"));
        }
        let ring = TokenRing::new(nodes, |_| true)?;
        let quantum = |node: &HashedNode| if node.is_eligible() { node.quantum } else { 0 };
        let member = |node: &HashedNode| Member { salt: halves(node.hash).0, quantum: quantum(node) };
        Ok(Self {
            window: window.min(ring.distinct_nodes()) as usize,
            members: nodes.iter().map(member).collect(),
            any: nodes.iter().any(|node| node.tokens > 0 && node.is_eligible()),
            ring,
            by_score,
        })
    }

    /// The tokens of all nodes.
    pub fn tokens(&self) -> &TokenRing {
        &self.ring
    }

    fn member(&self, node: NodeId) -> Member {
        self.members[node.raw() as usize]
    }

    /// Whether the first of two candidates, each as score and weight, wins although it comes later in the walk.
    #[inline(always)]
    fn wins(&self, (score, quantum): (u32, u32), (other, other_quantum): (u32, u32)) -> bool {
        if self.by_score { beats(neg_log2(score), quantum, neg_log2(other), other_quantum) } else { score > other }
    }
}

/// What so many tokens and nodes with windows of so many nodes will cost.
pub(super) fn estimate(tokens: u64, nodes: u64, window: u32) -> Estimate {
    let ring = ring::estimate(tokens);
    let members = nodes * size_of::<Member>() as u64;
    Estimate {
        memory_bytes: ring.memory_bytes.saturating_add(members),
        building_bytes: ring.building_bytes.saturating_add(members),
        steps: nodes.min(u64::from(window)) as f64,
    }
}

impl Locate for Lrh {
    /// The node, and the number of tokens that were walked.
    fn locate(&self, word: u64) -> (NodeId, u64) {
        if !self.any {
            return (NodeId::NONE, 0);
        }
        let (place, b) = halves(word);
        let mut seen = NodeSet::new();
        let mut best: Option<((u32, u32), NodeId)> = None;
        let mut steps = 0;
        for node in self.ring.walk(self.ring.successor(place)) {
            steps += 1;
            if !seen.insert(node) {
                continue;
            }
            let member = self.member(node);
            if member.quantum > 0 {
                let candidate = (mix32(b ^ member.salt), member.quantum);
                if best.is_none_or(|(best, _)| self.wins(candidate, best)) {
                    best = Some((candidate, node));
                }
            }
            // Behind the window the first eligible node is taken.
            if seen.len() >= self.window && best.is_some() {
                break;
            }
        }
        (best.map_or(NodeId::NONE, |(_, node)| node), steps)
    }

    fn prefer(&self, word: u64, visit: &mut dyn FnMut(NodeId) -> ControlFlow<()>) -> Result<()> {
        if !self.any {
            return Ok(());
        }
        let (place, b) = halves(word);
        let mut walk = self.ring.walk(self.ring.successor(place));
        let mut seen = NodeSet::new();
        let mut inside = Vec::with_capacity(self.window.min(64));
        while seen.len() < self.window {
            let Some(node) = walk.next() else { break };
            let member = self.member(node);
            if seen.insert(node) && member.quantum > 0 {
                inside.push((mix32(b ^ member.salt), member.quantum, node));
            }
        }
        // Both sorts are stable, so walking order decides ties.
        if self.by_score {
            let cost = |score, other_quantum: u32| u64::from(neg_log2(score)) * u64::from(other_quantum);
            inside.sort_by(|(a, qa, _), (b, qb, _)| cost(*a, *qb).cmp(&cost(*b, *qa)));
        } else {
            inside.sort_by_key(|(score, ..)| Reverse(*score));
        }
        if inside.into_iter().any(|(.., node)| visit(node).is_break()) {
            return Ok(());
        }
        for node in walk {
            if seen.len() == self.ring.distinct_nodes() as usize {
                break;
            }
            if seen.insert(node) && self.member(node).quantum > 0 && visit(node).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn memory_bytes(&self) -> u64 {
        self.ring.memory_bytes() + size_of_val(&*self.members) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::ring::scalar::sorted;
    use super::super::ring::testing::*;
    use super::super::ring::token_count;
    use super::*;

    #[test]
    fn it_equals_the_literal_window() {
        for (name, nodes) in clusters() {
            let literal = sorted(&nodes);
            for (window, by_score) in [(1, false), (1, true), (3, true), (8, false), (40, true), (u32::MAX, false)] {
                let lrh = Lrh::new(&nodes, window, by_score).unwrap();
                for digest in some_digests(&literal).into_iter().step_by(5) {
                    let expected = scalar::list(digest, &literal, &nodes, window, by_score);
                    let case = format!("{name}, window {window}, {by_score}, {digest}");
                    assert_eq!(lrh.locate(digest).0, expected.first().copied().unwrap_or(NodeId::NONE), "{case}");
                    assert_eq!(list_of(&lrh, digest, usize::MAX), expected, "{case}");
                    assert_eq!(list_of(&lrh, digest, 3), expected[..expected.len().min(3)], "{case}");
                }
            }
        }
    }

    #[test]
    fn it_gives_the_golden_nodes() {
        let vectors = vectors();
        let golden = &vectors["lrh_16_c4"];
        let mut nodes = golden_nodes(&vectors, 16);
        let lrh = Lrh::new(&nodes, 4, false).unwrap();
        assert_nodes(&lrh, &vectors, &golden["node"], None);
        assert_lists(&lrh, &vectors, &golden["replicas_6"], 64, 6);
        let up_only = |nodes: &mut Vec<HashedNode>, up: &[usize]| {
            nodes.iter_mut().enumerate().for_each(|(i, node)| node.up = up.contains(&i));
        };
        up_only(&mut nodes, &[2, 7]);
        assert_eq!(halves(nodes[2].hash).0, halves(nodes[7].hash).0);
        assert_nodes(&Lrh::new(&nodes, 12, false).unwrap(), &vectors, &vectors["lrh_16_c12_ties"]["node"], None);
        up_only(&mut nodes, &[5]);
        assert_nodes(&Lrh::new(&nodes, 1, false).unwrap(), &vectors, &vectors["lrh_16_c1_only_5_up"], Some(32));
        up_only(&mut nodes, &[]);
        let digest = numbers(&vectors["digest"])[0];
        assert_eq!(Lrh::new(&nodes, 4, false).unwrap().locate(digest), (node(&golden["none_up"]), 0));
    }

    #[test]
    fn it_gives_the_golden_nodes_with_weights() {
        let vectors = vectors();
        let golden = &vectors["lrh_16_c4_weighted"];
        let by_score = Lrh::new(&golden_weighted_nodes(&vectors, |_| 16), 4, true).unwrap();
        assert_nodes(&by_score, &vectors, &golden["node"], None);
        assert_lists(&by_score, &vectors, &golden["replicas_3"], 32, 3);
        assert_bounded(&by_score, &vectors, &vectors["bounded"]["lrh_16_c4_weighted_eps_0.1"]);

        let golden = &vectors["lrh_25_tokens_c4"];
        let nodes = golden_weighted_nodes(&vectors, |weight| token_count(25, weight));
        assert_eq!(nodes.iter().map(|node| u64::from(node.tokens)).collect::<Vec<_>>(), numbers(&golden["counts"]));
        assert_nodes(&Lrh::new(&nodes, 4, false).unwrap(), &vectors, &golden["node"], None);
    }

    #[test]
    fn a_window_of_0_is_refused_and_the_estimate_is_what_it_takes() {
        assert!(Lrh::new(&[], 0, false).unwrap_err().to_string().contains("window of 0"));
        for (name, nodes) in clusters() {
            let lrh = Lrh::new(&nodes, 8, false).unwrap();
            let estimate = estimate(lrh.tokens().len() as u64, nodes.len() as u64, 8);
            assert_eq!(estimate.memory_bytes, lrh.memory_bytes(), "{name}");
        }
    }
}
