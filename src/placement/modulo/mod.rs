//! Modulo: the remainder of the digest. What consistent hashing is measured against.
//!
//! Nothing is faster or more even, but when the number of nodes changes from n to n + 1 nearly all keys move: all but
//! about 1 / (n + 1) of them. Slots are numbered 0 to n - 1, and none of their nodes may be down.
//!
//! # Complexity
//! A lookup takes one division.
//!
//! # Files
//! `scalar.rs` is the function.
//!
//! Source: `spec/placement.md`, "modulo".

pub mod scalar;

use std::ops::ControlFlow;

use super::jump::NodesBySlot;
use super::registry::without_list;
use super::{Estimate, Locate, NodeId};
use crate::error::Result;

/// Numbered nodes, compiled for the remainder of the digest.
///
/// ```
/// use rehome::NodeId;
/// use rehome::placement::{Locate, modulo::Modulo};
///
/// let nobody = Modulo::new(Box::default());
/// assert_eq!(nobody.locate(42), (NodeId::NONE, 0));
/// ```
#[derive(Debug)]
pub struct Modulo {
    slots: u32,
    nodes: NodesBySlot,
}

impl Modulo {
    /// `nodes_by_slot[i]` is the node in slot i. Without nodes every key gets NONE.
    ///
    /// # Complexity
    /// O(n); no table is kept where node i is in slot i.
    ///
    /// # Panics
    /// If there are 2^32 nodes or more.
    pub fn new(nodes_by_slot: Box<[NodeId]>) -> Self {
        let slots = u32::try_from(nodes_by_slot.len()).expect("a node's number has 32 bits");
        Self { slots, nodes: NodesBySlot::new(nodes_by_slot) }
    }
}

/// What n nodes will cost; `table`: whether some node i is not in slot i.
pub(super) fn estimate(nodes: u32, table: bool) -> Estimate {
    let list = u64::from(nodes) * size_of::<NodeId>() as u64;
    let memory_bytes = if table { list } else { 0 };
    Estimate { memory_bytes, building_bytes: list, steps: f64::from(nodes.min(1)) }
}

impl Locate for Modulo {
    fn locate(&self, word: u64) -> (NodeId, u64) {
        scalar::modulo(word, self.slots).map_or((NodeId::NONE, 0), |slot| (self.nodes.node(slot), 1))
    }

    fn prefer(&self, _word: u64, _visit: &mut dyn FnMut(NodeId) -> ControlFlow<()>) -> Result<()> {
        without_list("modulo")
    }

    fn memory_bytes(&self) -> u64 {
        self.nodes.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::scalar::modulo;
    use super::*;
    use crate::hash::fmix64;

    #[test]
    fn golden_vectors() {
        let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/placement-v1.json"));
        let vectors: Value = serde_json::from_str(text).unwrap();
        let (words, wanted) = (vectors["digest"].as_array().unwrap(), vectors["modulo_12"].as_array().unwrap());
        assert_eq!((words.len(), wanted.len()), (256, 256));
        let compiled = Modulo::new((0..12).map(NodeId::new).collect());
        for (word, wanted) in words.iter().map(|word| word.as_u64().unwrap()).zip(wanted) {
            assert_eq!(*wanted, Value::from(modulo(word, 12)));
            assert_eq!(compiled.locate(word).0.raw(), modulo(word, 12).unwrap());
        }
    }

    #[test]
    fn remainders() {
        assert_eq!([0, 11, 12, 25].map(|word| modulo(word, 12)), [0, 11, 0, 1].map(Some));
        assert_eq!(modulo(u64::MAX, u32::MAX), Some(0));
        assert_eq!(modulo(u64::MAX - 1, u32::MAX), Some(u32::MAX - 1));
        assert_eq!((modulo(u64::MAX, 1), modulo(7, 0)), (Some(0), None));
    }

    #[test]
    fn nodes_come_from_their_slots() {
        let listed: Box<[NodeId]> = [4, 2, 0, 1, 3].map(NodeId::new).into();
        let (shuffled, agreeing) = (Modulo::new(listed.clone()), Modulo::new((0..5).map(NodeId::new).collect()));
        assert_eq!((shuffled.memory_bytes(), agreeing.memory_bytes()), (20, 0));
        for (word, slot) in (0..1000).map(fmix64).map(|word| (word, modulo(word, 5).unwrap())) {
            assert_eq!(shuffled.locate(word), (listed[slot as usize], 1));
            assert_eq!(agreeing.locate(word), (NodeId::new(slot), 1));
        }
    }

    #[test]
    fn one_node_gets_everything_and_nobody_nothing() {
        let (one, nobody) = (Modulo::new([NodeId::new(7)].into()), Modulo::new(Box::default()));
        assert_eq!((one.locate(u64::MAX), nobody.locate(u64::MAX)), ((NodeId::new(7), 1), (NodeId::NONE, 0)));
    }

    #[test]
    fn a_key_stays_where_both_remainders_agree() {
        let stays = (0..10_000).map(fmix64).filter(|word| modulo(*word, 10) == modulo(*word, 11)).count();
        assert!((800..1020).contains(&stays), "{stays} of 10000, about one in 11 expected");
    }

    #[test]
    fn no_preference_list() {
        let one = Modulo::new([NodeId::new(0)].into());
        assert!(one.prefer(1, &mut |_| panic!("visited a node")).is_err());
    }

    #[test]
    fn estimates_hold() {
        let compiled = Modulo::new([1, 0, 2].map(NodeId::new).into());
        let known = estimate(3, true);
        assert_eq!((known.memory_bytes, known.building_bytes, known.steps), (compiled.memory_bytes(), 12, 1.0));
        assert_eq!((estimate(3, false).memory_bytes, estimate(0, false).steps), (0, 0.0));
    }
}
