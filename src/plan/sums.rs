//! The sums of a run of keys: small enough to be written down after every part, and enough to go on from.

use serde::{Deserialize, Serialize};

/// What a run of keys adds to a [`Tally`](super::Tally). Nodes are numbers of
/// [`MatchedNodes`](super::MatchedNodes), "unplaced" among them; those that nothing is known of are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sums {
    /// Keys.
    pub keys: u64,
    /// Their sizes together, if sizes are known.
    pub bytes: Option<u64>,
    /// Per node: its number, and its keys and bytes before; in ascending order.
    pub nodes: Vec<(usize, u64, u64)>,
    /// Per pair of different nodes: their numbers, keys and bytes that move; in ascending order.
    pub flows: Vec<(usize, usize, u64, u64)>,
}
