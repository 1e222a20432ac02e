//! The summary of a plan, and how evenly keys lie.

use serde::Serialize;

/// What a plan does, in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Keys read.
    pub keys: u64,
    /// Keys whose node changes.
    pub moved: u64,
    /// `moved / keys`; 0 without keys.
    pub moved_fraction: f64,
    /// Moves that no plan between these two distributions could do without: over the nodes (and "unplaced"), the sum
    /// of what each has fewer afterwards.
    pub least_moves: u64,
    /// Moved keys whose old node lost nothing and whose new node gained nothing.
    pub excess: u64,
    /// Keys that have no node afterwards.
    pub unplaced: u64,
    /// Rows that were skipped because they are no keys.
    pub bad_rows: u64,
    /// Sizes of all keys together, if sizes are known; the next three likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Bytes of the keys that move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_bytes: Option<u64>,
    /// The least moves, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_moves_bytes: Option<u64>,
    /// The excess, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excess_bytes: Option<u64>,
    /// The keys as they lie before.
    pub from: Side,
    /// The keys as they lie after.
    pub to: Side,
}

/// How the keys lie on one side of a plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// Nodes described.
    pub nodes: usize,
    /// Nodes that can get keys.
    pub eligible: usize,
    /// Keys that have no node.
    pub unplaced: u64,
    /// The largest load over its fair share; none without keys or eligible nodes.
    pub max_over_avg: Option<f64>,
    /// The standard deviation of the loads over their fair shares.
    pub cv: Option<f64>,
}

impl Side {
    pub(super) fn new(nodes: usize, eligible: usize, keys: u64, unplaced: u64, loads: &[(u64, f64)]) -> Self {
        let (max_over_avg, cv) = balance(keys, loads).unzip();
        Self { nodes, eligible, unplaced, max_over_avg, cv }
    }
}

/// Max/Avg and cv of (keys, weight) loads: with each load divided by its fair share `keys * w / sum w`, the largest and
/// the standard deviation. None without keys or loads.
///
/// ```
/// assert_eq!(rehome::plan::balance(4, &[(3, 1.0), (1, 1.0)]), Some((1.5, 0.5)));
/// ```
pub fn balance(keys: u64, loads: &[(u64, f64)]) -> Option<(f64, f64)> {
    let sum: f64 = loads.iter().map(|(_, weight)| weight).sum();
    if keys == 0 || sum <= 0.0 {
        return None;
    }
    let ratios: Vec<f64> = loads.iter().map(|(load, weight)| *load as f64 / (keys as f64 * weight / sum)).collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    let variance = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / ratios.len() as f64;
    Some((ratios.iter().copied().fold(0.0, f64::max), variance.sqrt()))
}
