//! DxHash: a key tries pseudo-random slots until it meets an active one.
//!
//! Every key has a [probe sequence](crate::hash::ProbeSequence), and every node a slot of a power-of-two array. The
//! key's node is in the first active slot of the sequence, so a node that joins or leaves moves only its own keys,
//! and the array costs one bit per slot. Weighted: a slot met at some step accepts the key with the probability of its
//! weight, so a changed weight moves keys only to or from its node.
//!
//! # Complexity
//! A lookup takes slots / (sum of the eligible weights) probes on average, geometrically distributed.
//!
//! # Files
//! `scalar.rs` is the literal function; `block.rs` runs many keys through it at once; `crc32c.rs` is the authors' own
//! variant; `slot_map.rs` turns slots into nodes.
//!
//! Source: C. Dong, F. Wang, D. Feng, "DxHash", arXiv 2107.07930; `spec/placement.md`, "DxHash".

mod block;
mod crc32c;
pub mod scalar;
mod slot_map;

use std::ops::ControlFlow;

pub use crc32c::DxCrc32c;
pub use slot_map::SlotMap;

use super::{Algorithm, KeyRule, Layout, Locate, NodeId, Parameter, Removal, Weights};
use crate::cluster::Cluster;
use crate::error::{ErrorKind, Result};
use block::Digests;
use scalar::{Accept, Thresholds, search};

const SLOTS: Parameter = Parameter {
    name: "slots",
    default: "the next power of two at or above the number of nodes, times 2",
    meaning: "places for nodes; a lookup takes slots / nodes probes on average, and doubling them moves half of all keys",
};

const QUEUE: Parameter = Parameter {
    name: "queue",
    default: "the inactive slots, ascending",
    meaning: "the order in which new nodes take inactive slots",
};

/// The registry line of `dx`.
pub(super) static DX: Algorithm = Algorithm {
    name: "dx",
    summary: "pseudo-random probes into a bit array of slots: any node joins or leaves with the least moves, weights up to 1",
    parameters: &[SLOTS, QUEUE],
    weights: Weights::UpToOne,
    list: true,
    removal: Removal::Any,
    keys: KeyRule::Digest,
    layout: Layout::Slots { most: 1 << 31, power_of_two: true },
    compile: |cluster| Ok(Box::new(Dx::compile(cluster)?)),
};

/// The registry line of `dx-crc32c`.
pub(super) static DX_CRC32C: Algorithm = Algorithm {
    name: "dx-crc32c",
    summary: "the DxHash authors' own CRC-32C chain over 32-bit keys, bit for bit; loads slots unevenly for strided keys, \
              so take it only to match a system that uses it",
    parameters: &[SLOTS, QUEUE],
    weights: Weights::One,
    list: false,
    removal: Removal::Any,
    keys: KeyRule::Raw32,
    layout: Layout::Slots { most: (1 << 30) - 1, power_of_two: false },
    compile: |cluster| Ok(Box::new(DxCrc32c::compile(cluster))),
};

/// A cluster compiled for DxHash.
#[derive(Debug)]
pub struct Dx {
    map: SlotMap,
    /// The acceptance thresholds, if any eligible weight is below 1.
    thresholds: Option<Thresholds>,
    mean_search: f64,
}

/// Slots that one 1/65536 of weight may serve: the mean search is then at most 2^20 steps.
const SLOTS_PER_QUANTUM: u64 = (1 << 20) / 65_536;

impl Dx {
    fn compile(cluster: &Cluster) -> Result<Self> {
        let slots = u64::from(cluster.slots().size());
        let eligible = cluster.nodes().iter().filter(|node| node.is_eligible());
        let sum: u64 = eligible.clone().map(|node| u64::from(node.quantum())).sum();
        if sum > 0 && sum * SLOTS_PER_QUANTUM < slots {
            let sum = sum as f64 / 65_536.0;
            return Err(ErrorKind::TooSparse { sum, slots, mean: slots as f64 / sum }.into());
        }
        let weighted = eligible.clone().any(|node| node.quantum() < 65_536);
        let thresholds = weighted.then(|| {
            let quanta = eligible.filter_map(|node| Some((node.slot()?, node.quantum())));
            Thresholds::new(cluster.slots().size(), quanta)
        });
        Ok(Self { map: SlotMap::of(cluster), thresholds, mean_search: slots as f64 * 65_536.0 / sum as f64 })
    }

    /// Chooses the form of the batch loop by how many slots there are and how many are up.
    fn locate_many(&self, digests: Digests<'_>, nodes: &mut [NodeId]) {
        match (&self.thresholds, self.map.bytes()) {
            (None, _) if self.map.is_full() => block::first_slots(digests, nodes, self.map.slots()),
            (None, Some(bytes)) => self.locate_slots::<3>(digests, nodes, &bytes),
            (None, None) => self.locate_slots::<2>(digests, nodes, &self.map),
            (Some(thresholds), _) => self.locate_slots::<2>(digests, nodes, thresholds),
        }
        self.map.slots_to_nodes(nodes);
    }

    /// Chooses how many words a round tries per key: `MOST` where few slots are up (`benches/dx.rs`).
    fn locate_slots<const MOST: usize>(&self, digests: Digests<'_>, nodes: &mut [NodeId], accept: &impl Accept) {
        match self.mean_search {
            ..2.5 => block::slots_of::<_, 1>(digests, nodes, accept),
            2.5..6.0 => block::slots_of::<_, 2>(digests, nodes, accept),
            _ => block::slots_of::<_, MOST>(digests, nodes, accept),
        }
    }

    /// The slots and the nodes in them.
    pub fn map(&self) -> &SlotMap {
        &self.map
    }
}

impl Locate for Dx {
    fn locate(&self, word: u64) -> (NodeId, u64) {
        let found = match &self.thresholds {
            None => search(word, &self.map),
            Some(thresholds) => search(word, thresholds),
        };
        found.map_or((NodeId::NONE, 0), |(slot, length)| (self.map.node(slot), length))
    }

    fn locate_batch(&self, words: &[u64], nodes: &mut [NodeId]) {
        self.locate_many(Digests::Known(words), nodes);
    }

    fn locate_integers(&self, keys: &[u64], mixed: u64, nodes: &mut [NodeId]) {
        self.locate_many(Digests::OfIntegers { keys, mixed }, nodes);
    }

    fn prefer(&self, word: u64, visit: &mut dyn FnMut(NodeId) -> ControlFlow<()>) -> Result<()> {
        let mut visit_slot = |slot| visit(self.map.node(slot));
        let _ = match &self.thresholds {
            None => scalar::prefer(word, &self.map, self.map.active(), &mut visit_slot),
            Some(thresholds) => scalar::prefer(word, thresholds, self.map.active(), &mut visit_slot),
        };
        Ok(())
    }

    fn memory_bytes(&self) -> u64 {
        self.map.memory_bytes() + self.thresholds.as_ref().map_or(0, Thresholds::memory_bytes)
    }
}
