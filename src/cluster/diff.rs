//! What differs between two clusters, node by node.

use serde::Serialize;

use super::{Cluster, Node};

/// What differs between two clusters: options of the whole, and nodes matched by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ClusterDiff {
    /// Options that differ.
    pub options: Vec<Change>,
    /// Nodes that only the second cluster has.
    pub added: Vec<NodePlace>,
    /// Nodes that only the first cluster has.
    pub removed: Vec<NodePlace>,
    /// Nodes that both have, but not alike.
    pub changed: Vec<NodeChange>,
}

/// An option or a field of a node that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The option or field.
    pub name: &'static str,
    /// Its value before.
    pub from: String,
    /// Its value after.
    pub to: String,
}

/// A node and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodePlace {
    /// The node.
    pub name: String,
    /// Its slot.
    pub slot: Option<u32>,
}

/// A node that two clusters describe differently.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeChange {
    /// The node.
    pub name: String,
    /// What differs.
    pub fields: Vec<Change>,
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
        ];
        diff.options = changes(pairs.into_iter().chain(parameters(from, to)));
        for node in &from.nodes {
            match to.position(node.name()) {
                None => diff.removed.push(NodePlace::of(node)),
                Some(position) => {
                    let fields = changed_fields(node, &to.nodes[position]);
                    if !fields.is_empty() {
                        diff.changed.push(NodeChange { name: node.name().to_owned(), fields });
                    }
                }
            }
        }
        let joined = to.nodes.iter().filter(|node| from.position(node.name()).is_none());
        diff.added.extend(joined.map(NodePlace::of));
        diff
    }

    /// Whether the clusters are alike.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl NodePlace {
    fn of(node: &Node) -> Self {
        Self { name: node.name().to_owned(), slot: node.slot() }
    }
}

fn changed_fields(from: &Node, to: &Node) -> Vec<Change> {
    let pairs = [
        ("slot", or_none(from.slot()), or_none(to.slot())),
        ("weight", from.weight().to_string(), to.weight().to_string()),
        ("zone", or_none(from.zone()), or_none(to.zone())),
        ("up", from.is_up().to_string(), to.is_up().to_string()),
    ];
    changes(pairs)
}

/// The parameters of both; "none" where one side has no such parameter.
fn parameters(from: &Cluster, to: &Cluster) -> Vec<(&'static str, String, String)> {
    let before: Vec<_> = from.parameters().collect();
    let after: Vec<_> = to.parameters().collect();
    let value = |side: &[(&str, String)], name| {
        side.iter().find(|(other, _)| *other == name).map_or_else(|| "none".to_owned(), |(_, value)| value.clone())
    };
    let only_after = after.iter().filter(|(name, _)| before.iter().all(|(other, _)| other != name));
    let names: Vec<_> = before.iter().chain(only_after).map(|(name, _)| *name).collect();
    names.into_iter().map(|name| (name, value(&before, name), value(&after, name))).collect()
}

/// The pairs that differ.
fn changes(pairs: impl IntoIterator<Item = (&'static str, String, String)>) -> Vec<Change> {
    let differ = pairs.into_iter().filter(|(_, from, to)| from != to);
    differ.map(|(name, from, to)| Change { name, from, to }).collect()
}

fn or_none<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}
