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
//! `scalar.rs` is the literal function; `block.rs` runs many keys through it at once, `lanes/` as many in vector registers;
//! `crc32c.rs` is the authors' own variant; `slot_map.rs` turns slots into nodes.
//!
//! Source: C. Dong, F. Wang, D. Feng, "DxHash", arXiv 2107.07930; `spec/placement.md`, "DxHash".

mod block;
mod crc32c;
pub(crate) mod lanes;
pub mod scalar;
mod slot_map;

use std::ops::ControlFlow;

pub use crc32c::DxCrc32c;
pub use slot_map::SlotMap;

use super::{Estimate, Locate, NodeId, Words};
use crate::cluster::Cluster;
use crate::error::{ErrorKind, Result};
use scalar::{Accept, Thresholds, search};

/// Fails if searches would take too long.
pub(super) fn check(cluster: &Cluster) -> Result<()> {
    let (slots, sum) = (u64::from(cluster.slots().size()), eligible_quanta(cluster));
    if sum > 0 && sum * SLOTS_PER_QUANTUM < slots {
        let sum = sum as f64 / 65_536.0;
        return Err(ErrorKind::TooSparse { sum, slots, mean: slots as f64 / sum }.into());
    }
    Ok(())
}

/// What a cluster of either variant will cost.
pub(super) fn estimate(cluster: &Cluster) -> Estimate {
    let (slots, nodes) = (u64::from(cluster.slots().size()), cluster.nodes().len() as u64);
    let weighted = cluster.nodes().iter().any(|node| node.is_eligible() && node.quantum() < 65_536);
    let memory_bytes = slots * 3 / 16 + 4 * nodes + if weighted { slots * 17 / 8 } else { 0 };
    let sum = eligible_quanta(cluster) as f64 / 65_536.0;
    let steps = if sum > 0.0 { slots as f64 / sum } else { 0.0 };
    Estimate { memory_bytes, building_bytes: memory_bytes + 8 * nodes, steps }
}

fn eligible_quanta(cluster: &Cluster) -> u64 {
    cluster.nodes().iter().filter(|node| node.is_eligible()).map(|node| u64::from(node.quantum())).sum()
}

/// Compiles a cluster for `dx`.
#[expect(clippy::unnecessary_wraps, reason = "the type of all rooms")]
pub(super) fn compile(cluster: &Cluster) -> Result<Box<dyn Locate>> {
    Ok(Box::new(Dx::compile(cluster)))
}

/// Compiles a cluster for `dx-crc32c`.
#[expect(clippy::unnecessary_wraps, reason = "the type of all rooms")]
pub(super) fn compile_crc32c(cluster: &Cluster) -> Result<Box<dyn Locate>> {
    Ok(Box::new(DxCrc32c::compile(cluster)))
}

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
    fn compile(cluster: &Cluster) -> Self {
        let slots = u64::from(cluster.slots().size());
        let eligible = cluster.nodes().iter().filter(|node| node.is_eligible());
        let mean_search = slots as f64 * 65_536.0 / eligible_quanta(cluster) as f64;
        let weighted = eligible.clone().any(|node| node.quantum() < 65_536);
        let thresholds = weighted.then(|| {
            let quanta = eligible.filter_map(|node| Some((node.slot()?, node.quantum())));
            Thresholds::new(cluster.slots().size(), quanta)
        });
        Self { map: SlotMap::of(cluster), thresholds, mean_search }
    }

    /// Chooses the form of the batch loop by how many slots there are and how many are up.
    fn locate_many(&self, words: Words<'_>, nodes: &mut [NodeId]) {
        match (&self.thresholds, self.map.bytes()) {
            (None, _) if self.map.is_full() => block::first_slots(words, nodes, self.map.slots()),
            (None, Some(bytes)) => self.locate_slots::<3>(words, nodes, &bytes),
            (None, None) => self.locate_slots::<2>(words, nodes, &self.map),
            (Some(thresholds), _) => self.locate_slots::<2>(words, nodes, thresholds),
        }
        self.map.slots_to_nodes(nodes);
    }

    /// Chooses how many words a round tries per key: `MOST` where few slots are up (`benches/dx.rs`).
    fn locate_slots<const MOST: usize>(&self, words: Words<'_>, nodes: &mut [NodeId], accept: &impl Accept) {
        match self.mean_search {
            ..2.5 => block::slots_of::<_, 1>(words, nodes, accept),
            2.5..6.0 => block::slots_of::<_, 2>(words, nodes, accept),
            _ => block::slots_of::<_, MOST>(words, nodes, accept),
        }
    }

    /// The slots and the nodes in them.
    pub fn map(&self) -> &SlotMap {
        &self.map
    }

    /// The acceptance thresholds, if any eligible weight is below 1.
    pub fn thresholds(&self) -> Option<&Thresholds> {
        self.thresholds.as_ref()
    }

    /// The mean search length.
    pub fn mean_search(&self) -> f64 {
        self.mean_search
    }

    /// Whether the first word decides: every slot is up, and none has a weight below 1.
    pub fn is_full(&self) -> bool {
        self.thresholds.is_none() && self.map.is_full()
    }
}

/// As many slots go into vector registers.
pub(crate) const FEW_SLOTS: u32 = 1024;

impl Locate for Dx {
    fn locate(&self, word: u64) -> (NodeId, u64) {
        let found = match &self.thresholds {
            None => search(word, &self.map),
            Some(thresholds) => search(word, thresholds),
        };
        found.map_or((NodeId::NONE, 0), |(slot, length)| (self.map.node(slot), length))
    }

    fn locate_batch(&self, words: Words<'_>, nodes: &mut [NodeId]) {
        self.locate_many(words, nodes);
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
