//! The number of a node inside one placement.

use std::fmt;

use bytemuck::TransparentWrapper;

/// A node, as its position in [`Cluster::nodes`](crate::Cluster::nodes) of the cluster that was compiled.
///
/// Positions of different clusters have nothing to do with each other: match nodes by name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, TransparentWrapper)]
#[repr(transparent)]
pub struct NodeId(u32);

impl NodeId {
    /// No node: what a key gets where no node is eligible, and where `dx-crc32c` gives up.
    pub const NONE: Self = Self(u32::MAX);

    /// The node at this position.
    pub(crate) const fn new(position: u32) -> Self {
        Self(position)
    }

    /// The position as a number; that of [`NONE`](Self::NONE) is above all others.
    #[inline(always)]
    pub(crate) const fn raw(self) -> u32 {
        self.0
    }

    /// Nodes as kernels write them: their positions as numbers.
    #[inline(always)]
    pub(crate) fn raw_slice_mut(nodes: &mut [Self]) -> &mut [u32] {
        Self::peel_slice_mut(nodes)
    }

    /// The position, or none for [`NONE`](Self::NONE).
    pub fn index(self) -> Option<usize> {
        (self != Self::NONE).then_some(self.0 as usize)
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index() {
            Some(index) => write!(f, "NodeId({index})"),
            None => f.write_str("NodeId::NONE"),
        }
    }
}
