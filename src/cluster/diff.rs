//! What differs between two clusters, node by node.

use serde::Serialize;

use super::{Cluster, Node};

/// What differs between two clusters: options of the whole, and nodes matched by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ClusterDiff {
    /// Options that differ: name, value before, value after.
    pub options: Vec<(&'static str, String, String)>,
    /// Names of nodes that only the second cluster has, with their slots.
    pub added: Vec<(String, Option<u32>)>,
    /// Names of nodes that only the first cluster has, with their slots.
    pub removed: Vec<(String, Option<u32>)>,
    /// Nodes that both have, but not alike.
    pub changed: Vec<NodeChange>,
}

/// A node that two clusters describe differently.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeChange {
    /// The node.
    pub name: String,
    /// What differs: field, value before, value after.
    pub fields: Vec<(&'static str, String, String)>,
}

impl ClusterDiff {
    /// Compares two clusters.
    ///
    /// # Complexity
    /// O(nodes of both).
    pub fn between(from: &Cluster, to: &Cluster) -> Self {
        let mut diff = Self::default();
        let pairs = [
            ("algorithm", from.algorithm.name.to_owned(), to.algorithm.name.to_owned()),
            ("hash", from.hash.to_string(), to.hash.to_string()),
            ("seed", from.seed.to_string(), to.seed.to_string()),
            ("key", or_none(from.key), or_none(to.key)),
            ("spread", from.spread.to_string(), to.spread.to_string()),
            ("weighted", from.weighted.to_string(), to.weighted.to_string()),
            ("slots", from.slots.size.to_string(), to.slots.size.to_string()),
            ("queue", from.slots.queue.to_string(), to.slots.queue.to_string()),
        ];
        diff.options.extend(pairs.into_iter().filter(|(_, before, after)| before != after));
        for node in &from.nodes {
            match to.position(node.name()) {
                None => diff.removed.push((node.name().to_owned(), node.slot())),
                Some(position) => {
                    let fields = changed_fields(node, &to.nodes[position]);
                    if !fields.is_empty() {
                        diff.changed.push(NodeChange { name: node.name().to_owned(), fields });
                    }
                }
            }
        }
        let joined = to.nodes.iter().filter(|node| from.position(node.name()).is_none());
        diff.added.extend(joined.map(|node| (node.name().to_owned(), node.slot())));
        diff
    }

    /// Whether the clusters are alike.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn changed_fields(from: &Node, to: &Node) -> Vec<(&'static str, String, String)> {
    let pairs = [
        ("slot", or_none(from.slot()), or_none(to.slot())),
        ("weight", from.weight().to_string(), to.weight().to_string()),
        ("zone", or_none(from.zone()), or_none(to.zone())),
        ("up", from.is_up().to_string(), to.is_up().to_string()),
    ];
    pairs.into_iter().filter(|(_, before, after)| before != after).collect()
}

fn or_none<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}
