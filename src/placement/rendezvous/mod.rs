//! Rendezvous hashing (highest random weight): every node draws a word for the key, and the best word wins.
//!
//! A node that joins or leaves moves only its own keys, and each node has exactly the share of its weight. Weighted,
//! the words race: the smallest `-log2(word) / weight` wins, in integers. The price is the lookup, which asks every
//! eligible node. The list of all nodes by their words is a preference list.
//!
//! # Complexity
//! A lookup compares all eligible nodes.
//!
//! # Files
//! `scalar.rs` is the literal function.
//!
//! Source: D. Thaler, C. Ravishankar, "Using name-based mappings to increase hit rates", IEEE/ACM Transactions on
//! Networking 6(1), 1998; `spec/placement.md`, "Rendezvous".

pub mod scalar;
#[cfg(test)]
mod tests;

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use super::race::{beats, neg_log2};
use super::{Estimate, HashedNode, Locate, NodeId};
use crate::error::Result;
use crate::hash::halves;
use scalar::word;

/// A cluster compiled for rendezvous hashing.
///
/// It holds the eligible nodes only, 12 bytes for each, 16 if weighted.
///
/// ```
/// use rehome::placement::{HashedNode, Locate, rendezvous::Rendezvous};
///
/// let node = |hash, up| HashedNode { hash, quantum: 65_536, tokens: 0, up };
/// let both = Rendezvous::new(&[node(11, true), node(22, true)], false);
/// let one = Rendezvous::new(&[node(11, true), node(22, false)], false);
/// assert_eq!((both.locate(7).1, one.locate(7).0.index()), (2, Some(0)));
/// ```
///
/// Source: `spec/placement.md`, "Rendezvous".
#[derive(Debug)]
pub struct Rendezvous {
    /// The low and the high halves of the hashes of the eligible nodes, whose ascending order decides ties.
    low: Box<[u32]>,
    high: Box<[u32]>,
    nodes: Box<[NodeId]>,
    /// The weights, if the nodes race.
    quanta: Option<Box<[u32]>>,
}

impl Rendezvous {
    /// Compiles these nodes; a node's position is its [`NodeId`]. `weighted` is a property of the description: then
    /// the nodes race even where all weights are equal.
    ///
    /// # Complexity
    /// O(nodes * log nodes).
    ///
    /// # Panics
    /// If there are 2^32 nodes or more.
    pub fn new(nodes: &[HashedNode], weighted: bool) -> Self {
        let eligible = (0..).zip(nodes).filter(|(_, node)| node.is_eligible());
        let mut order: Vec<(u64, u32, u32)> = eligible.map(|(id, node)| (node.hash, node.quantum, id)).collect();
        order.sort_unstable();
        Self {
            low: order.iter().map(|(hash, ..)| halves(*hash).0).collect(),
            high: order.iter().map(|(hash, ..)| halves(*hash).1).collect(),
            nodes: order.iter().map(|(.., id)| NodeId::new(*id)).collect(),
            quanta: weighted.then(|| order.iter().map(|(_, q, _)| *q).collect()),
        }
    }

    /// The words that the nodes draw for a key.
    #[inline(always)]
    fn words(&self, digest: u64) -> impl Iterator<Item = u32> + Clone + '_ {
        let key = halves(digest);
        self.low.iter().zip(&self.high).map(move |(low, high)| word(key, (*low, *high)))
    }

    /// The place of the best word; on a tie the first.
    fn best_word(&self, digest: u64) -> usize {
        let (mut best, mut at) = (0, 0);
        for (place, word) in self.words(digest).enumerate() {
            if word > best {
                (best, at) = (word, place);
            }
        }
        at
    }

    /// The place of the winner of the race; on a tie the first.
    fn winner(&self, digest: u64, quanta: &[u32]) -> usize {
        let (mut best, mut best_q, mut at) = (u32::MAX, 1, 0);
        for (place, (word, q)) in self.words(digest).zip(quanta).enumerate() {
            let cost = neg_log2(word);
            if beats(cost, *q, best, best_q) {
                (best, best_q, at) = (cost, *q, place);
            }
        }
        at
    }

    /// Visits the nodes in the order of `costs`, pairs of (cost, q) in the order of places.
    ///
    /// A short list of the best is made in one pass and without memory. Who wants more gets it from a heap, so that a
    /// whole walk is a sort, and a walk that stops early is not.
    fn visit(
        &self,
        costs: impl Iterator<Item = (u32, u32)> + Clone,
        visit: &mut dyn FnMut(NodeId) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        const FIRST: usize = 8;
        let ranks = (0..).zip(costs).map(|(place, (cost, q))| Rank { cost, q, place });
        let mut first = [Rank::LAST; FIRST];
        for rank in ranks.clone() {
            if rank < first[FIRST - 1] {
                let at = first.partition_point(|other| *other < rank);
                first.copy_within(at..FIRST - 1, at + 1);
                first[at] = rank;
            }
        }
        let mut visit = |rank: Rank| visit(self.nodes[rank.place as usize]);
        first.into_iter().take(self.nodes.len()).try_for_each(&mut visit)?;
        if self.nodes.len() <= FIRST {
            return ControlFlow::Continue(());
        }
        let rest: Vec<_> = ranks.filter(|rank| *rank > first[FIRST - 1]).map(Reverse).collect();
        let mut rest = BinaryHeap::from(rest);
        while let Some(Reverse(rank)) = rest.pop() {
            visit(rank)?;
        }
        ControlFlow::Continue(())
    }
}

/// A node's rank for a key: the smaller the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rank {
    cost: u32,
    q: u32,
    place: u32,
}

impl Rank {
    /// Behind every rank of a node: a cost above 2^31 is one of words, all with the same q.
    const LAST: Self = Self { cost: u32::MAX, q: 1, place: u32::MAX };
}

impl Ord for Rank {
    #[inline(always)]
    fn cmp(&self, other: &Self) -> Ordering {
        if beats(self.cost, self.q, other.cost, other.q) {
            Ordering::Less
        } else if beats(other.cost, other.q, self.cost, self.q) {
            Ordering::Greater
        } else {
            self.place.cmp(&other.place)
        }
    }
}

impl PartialOrd for Rank {
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Locate for Rendezvous {
    fn locate(&self, word: u64) -> (NodeId, u64) {
        if self.nodes.is_empty() {
            return (NodeId::NONE, 0);
        }
        let place = match &self.quanta {
            None => self.best_word(word),
            Some(quanta) => self.winner(word, quanta),
        };
        (self.nodes[place], self.nodes.len() as u64)
    }

    fn prefer(&self, word: u64, visit: &mut dyn FnMut(NodeId) -> ControlFlow<()>) -> Result<()> {
        let _ = match &self.quanta {
            None => self.visit(self.words(word).map(|word| (!word, 1)), visit),
            Some(quanta) => self.visit(self.words(word).zip(quanta).map(|(word, q)| (neg_log2(word), *q)), visit),
        };
        Ok(())
    }

    fn memory_bytes(&self) -> u64 {
        let quanta = self.quanta.as_deref().map_or(0, size_of_val);
        (size_of_val(&*self.low) + size_of_val(&*self.high) + size_of_val(&*self.nodes) + quanta) as u64
    }
}

/// What [`Rendezvous::new`] and its lookups cost with so many eligible nodes.
pub(super) fn estimate(eligible: u64, weighted: bool) -> Estimate {
    let memory_bytes = eligible * if weighted { 16 } else { 12 };
    Estimate { memory_bytes, building_bytes: memory_bytes + eligible * 16, steps: eligible as f64 }
}
