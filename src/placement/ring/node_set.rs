//! A set of nodes that costs little while it is small.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use crate::hash::GOLDEN;
use crate::placement::NodeId;

/// Nodes that a short list holds.
const FEW: usize = 32;

/// The nodes that a walk has already met: a list of up to 32 without an allocation, as windows and replicas need only a
/// handful, and a hash table when there are more.
#[derive(Debug)]
pub(in crate::placement) struct NodeSet {
    few: [u32; FEW],
    /// How many of `few` are taken; 0 once the table has all.
    short: usize,
    many: HashSet<u32, BuildHasherDefault<Spread>>,
}

impl NodeSet {
    /// The empty set.
    #[inline(always)]
    pub(in crate::placement) fn new() -> Self {
        Self { few: [0; FEW], short: 0, many: HashSet::default() }
    }

    /// The number of nodes in it.
    #[inline(always)]
    pub(in crate::placement) fn len(&self) -> usize {
        self.short + self.many.len()
    }

    /// Adds a node. Says whether it is new.
    #[inline(always)]
    pub(in crate::placement) fn insert(&mut self, node: NodeId) -> bool {
        if !self.many.is_empty() {
            return self.many.insert(node.raw());
        }
        if self.few[..self.short].contains(&node.raw()) {
            return false;
        }
        if self.short == FEW {
            self.grow();
            return self.many.insert(node.raw());
        }
        self.few[self.short] = node.raw();
        self.short += 1;
        true
    }

    /// Whether the node is in it.
    #[inline(always)]
    pub(in crate::placement) fn contains(&self, node: NodeId) -> bool {
        self.few[..self.short].contains(&node.raw()) || (self.short == 0 && self.many.contains(&node.raw()))
    }

    #[cold]
    fn grow(&mut self) {
        self.many.extend(self.few);
        self.short = 0;
    }
}

/// A hasher for node numbers: they are dense, so a product that spreads them is enough.
#[derive(Default)]
pub(in crate::placement) struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32((*byte).into());
        }
    }

    #[inline(always)]
    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(GOLDEN);
    }

    #[inline(always)]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::fmix64;

    #[test]
    fn it_holds_what_a_hash_set_holds() {
        let (mut set, mut expected) = (NodeSet::new(), HashSet::new());
        for draw in 0..3000 {
            let node = NodeId::new(u32::try_from(fmix64(draw) % 500).unwrap());
            assert_eq!(set.contains(node), expected.contains(&node), "draw {draw}");
            assert_eq!(set.insert(node), expected.insert(node), "draw {draw}");
            assert_eq!(set.len(), expected.len(), "draw {draw}");
            assert!(set.contains(node));
        }
        assert!(set.len() > 400);
    }
}
