//! A node as the algorithms that place on names see it.

/// A node as the algorithms that place on names see it: nothing here depends on the order in which nodes are listed,
/// but the position in a list of them is the node's [`NodeId`](super::NodeId).
///
/// Source: `spec/placement.md`, "Nodes".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashedNode {
    /// The [hash of its name](crate::hash::node_hash), by which it is placed.
    pub hash: u64,
    /// Its weight in units of 1/65536 (65536 for weight 1); 0: configured, but given no keys.
    pub quantum: u32,
    /// How many tokens it has, on algorithms with a ring.
    pub tokens: u32,
    /// Whether it is up.
    pub up: bool,
}

impl HashedNode {
    /// Whether it can get keys: up, and with a weight above 0.
    pub fn is_eligible(&self) -> bool {
        self.up && self.quantum > 0
    }
}
