//! From slots to nodes: the bit array of active slots, and which node is in each.

use super::scalar::{Accept, bit_array, mask, next_bit};
use crate::cluster::Cluster;
use crate::placement::NodeId;

/// The slots of a cluster: a bit for each, set where an eligible node is, and the nodes.
///
/// A slot's node is found by counting the set bits before it, so that the map costs 1.5 bits per slot and 4 bytes per
/// node and stays in the caches where a table of nodes by slot would not. Where slot and node have one number for
/// every eligible node, as in a cluster that only grew, no map is needed.
#[derive(Debug)]
pub struct SlotMap {
    slots: u32,
    /// A power of two of words, at least two, so that lanes read it as a table and ranks in pairs.
    bits: Box<[u32]>,
    /// For few slots, 1 for each active one as a byte: less work per probe, and still in the first-level cache.
    bytes: Option<Box<[u8]>>,
    active: u64,
    nodes: Nodes,
}

/// The most slots that get a byte each.
const MOST_BYTES: u32 = 1 << 14;

#[derive(Debug)]
enum Nodes {
    /// Node i is in slot i.
    SlotNumbers,
    Ranked {
        /// For every pair of words of bits, how many bits are set before it.
        before: Box<[u32]>,
        /// The eligible nodes in the order of their slots.
        in_order: Box<[NodeId]>,
    },
}

impl SlotMap {
    pub(super) fn of(cluster: &Cluster) -> Self {
        let eligible = (0..).zip(cluster.nodes()).filter(|(_, node)| node.is_eligible());
        let mut in_order: Vec<(u32, u32)> = eligible.filter_map(|(id, node)| Some((node.slot()?, id))).collect();
        in_order.sort_unstable();
        Self::new(cluster.slots().size(), &in_order)
    }

    /// From (slot, node) pairs in ascending order of slots.
    fn new(slots: u32, in_order: &[(u32, u32)]) -> Self {
        let bits = bit_array(slots, in_order.iter().map(|(slot, _)| *slot));
        let nodes = if in_order.iter().all(|(slot, node)| slot == node) {
            Nodes::SlotNumbers
        } else {
            let mut count = 0;
            let mut before = Vec::with_capacity(bits.len() / 2);
            for [low, high] in bits.as_chunks().0 {
                before.push(count);
                count += low.count_ones() + high.count_ones();
            }
            let before = before.into_boxed_slice();
            Nodes::Ranked { before, in_order: in_order.iter().map(|(_, node)| NodeId::new(*node)).collect() }
        };
        let bytes = (slots <= MOST_BYTES).then(|| {
            let mut bytes = vec![0; slots as usize].into_boxed_slice();
            in_order.iter().for_each(|(slot, _)| bytes[*slot as usize] = 1);
            bytes
        });
        Self { slots, bits, bytes, active: in_order.len() as u64, nodes }
    }

    /// The number of slots.
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// A bit per slot, set where it is active: a power of two of words, at least two.
    pub(crate) fn bits(&self) -> &[u32] {
        &self.bits
    }

    /// The number of active slots.
    pub fn active(&self) -> u64 {
        self.active
    }

    /// Whether every slot is active.
    pub(super) fn is_full(&self) -> bool {
        self.active == u64::from(self.slots)
    }

    /// The slots as bytes, if they are few enough.
    pub(super) fn bytes(&self) -> Option<SlotBytes<'_>> {
        self.bytes.as_deref().map(|bytes| SlotBytes { bytes, map: self })
    }

    /// Whether the slot is active.
    ///
    /// # Panics
    /// If there is no such slot.
    #[inline(always)]
    pub fn is_active(&self, slot: u32) -> bool {
        self.bits[slot as usize / 32] >> (slot % 32) & 1 == 1
    }

    /// The node in an active slot.
    #[inline(always)]
    pub(super) fn node(&self, slot: u32) -> NodeId {
        match &self.nodes {
            Nodes::SlotNumbers => NodeId::new(slot),
            Nodes::Ranked { before, in_order } => self.ranked(before, in_order, slot),
        }
    }

    /// Turns active slots, held as node numbers, into their nodes; NONE stays.
    pub(crate) fn slots_to_nodes(&self, slots: &mut [NodeId]) {
        if let Nodes::Ranked { before, in_order } = &self.nodes {
            for node in slots {
                if let Some(slot) = node.index().and_then(|slot| u32::try_from(slot).ok()) {
                    *node = self.ranked(before, in_order, slot);
                }
            }
        }
    }

    #[inline(always)]
    fn ranked(&self, before: &[u32], in_order: &[NodeId], slot: u32) -> NodeId {
        let pair = slot as usize / 64;
        let bits = u64::from(self.bits[2 * pair + 1]) << 32 | u64::from(self.bits[2 * pair]);
        let lower = bits & ((1 << (slot % 64)) - 1);
        in_order[(before[pair] + lower.count_ones()) as usize]
    }

    /// The bytes that a lookup may touch.
    pub fn memory_bytes(&self) -> u64 {
        let nodes = match &self.nodes {
            Nodes::SlotNumbers => 0,
            Nodes::Ranked { before, in_order } => size_of_val(&**before) + size_of_val(&**in_order),
        };
        (size_of_val(&*self.bits) + self.bytes.as_deref().map_or(0, size_of_val) + nodes) as u64
    }
}

impl Accept for SlotMap {
    fn any(&self) -> bool {
        self.active > 0
    }

    #[inline(always)]
    fn test(&self, word: u32, _b: u32) -> (u32, bool) {
        let slot = word & mask(self.slots as usize);
        (slot, self.is_active(slot))
    }

    fn next_eligible(&self, first: u32) -> Option<u32> {
        next_bit(&self.bits, first)
    }
}

/// The slots of a small map, a byte each.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotBytes<'a> {
    bytes: &'a [u8],
    map: &'a SlotMap,
}

impl Accept for SlotBytes<'_> {
    fn any(&self) -> bool {
        self.map.any()
    }

    #[inline(always)]
    fn test(&self, word: u32, _b: u32) -> (u32, bool) {
        let slot = word & mask(self.bytes.len());
        (slot, self.bytes[slot as usize] != 0)
    }

    fn next_eligible(&self, first: u32) -> Option<u32> {
        self.map.next_eligible(first)
    }
}
