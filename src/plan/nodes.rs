//! Matching the nodes of two clusters by name.

use crate::cluster::{Cluster, Node};
use crate::error::{Error, Result};
use crate::placement::NodeId;

/// The nodes of two clusters under one numbering: those of the first in their order, then those that only the second
/// has. The number after the last stands for "unplaced".
#[derive(Clone, Debug)]
pub struct MatchedNodes {
    from: Cluster,
    to: Cluster,
    /// Number of each node of the second cluster.
    of_to: Vec<u32>,
    /// Position in the second cluster of each numbered node.
    in_to: Vec<Option<usize>>,
    shared: usize,
    is_aligned: bool,
}

impl MatchedNodes {
    /// Matches the nodes of two clusters.
    ///
    /// # Complexity
    /// O(nodes of both).
    pub fn new(from: &Cluster, to: &Cluster) -> Self {
        let mut in_to: Vec<Option<usize>> = from.nodes().iter().map(|node| to.position(node.name())).collect();
        let mut of_to = vec![u32::MAX; to.nodes().len()];
        let mut shared = 0;
        for (number, position) in (0..).zip(&in_to) {
            if let Some(position) = *position {
                of_to[position] = number;
                shared += 1;
            }
        }
        for (position, number) in of_to.iter_mut().enumerate().filter(|(_, number)| **number == u32::MAX) {
            // Two clusters can have more than 2^32 names together only where memory has no end.
            *number = u32::try_from(in_to.len()).unwrap_or(u32::MAX - 1);
            in_to.push(Some(position));
        }
        let is_aligned = (0..).zip(&of_to).all(|(position, number)| position == *number);
        Self { from: from.clone(), to: to.clone(), of_to, in_to, shared, is_aligned }
    }

    /// The two clusters.
    pub fn clusters(&self) -> (&Cluster, &Cluster) {
        (&self.from, &self.to)
    }

    /// How many nodes there are in either cluster.
    pub fn len(&self) -> usize {
        self.in_to.len()
    }

    /// Whether neither cluster has a node.
    pub fn is_empty(&self) -> bool {
        self.in_to.is_empty()
    }

    /// How many nodes are in both clusters.
    pub fn shared(&self) -> usize {
        self.shared
    }

    /// The name of a numbered node; none for "unplaced".
    pub fn name(&self, number: usize) -> Option<&str> {
        self.before(number).or_else(|| self.after(number)).map(Node::name)
    }

    /// Whether every node has the same position in both clusters that have it, so that positions can be compared.
    pub(super) fn is_aligned(&self) -> bool {
        self.is_aligned
    }

    /// The number of a node of the first cluster.
    #[inline(always)]
    pub(super) fn number_from(&self, node: NodeId) -> usize {
        node.index().unwrap_or(self.in_to.len())
    }

    /// The number of a node of the second cluster.
    #[inline(always)]
    pub(super) fn number_to(&self, node: NodeId) -> usize {
        node.index().map_or(self.in_to.len(), |index| self.of_to[index] as usize)
    }

    fn before(&self, number: usize) -> Option<&Node> {
        self.from.nodes().get(number)
    }

    fn after(&self, number: usize) -> Option<&Node> {
        self.to.nodes().get(*self.in_to.get(number)?.as_ref()?)
    }

    /// Whether a key that moves along this flow did so without need: the old node lost nothing, the new one gained
    /// nothing. "Unplaced" neither loses nor gains.
    pub(super) fn is_excess(&self, from: usize, to: usize) -> bool {
        !self.lost(from) && !self.gained(to)
    }

    fn lost(&self, number: usize) -> bool {
        match (self.before(number), self.after(number)) {
            (Some(before), Some(after)) => {
                !after.is_eligible() || after.weight() < before.weight() || self.changed_slot(before, after)
            }
            (Some(_), None) => true,
            (None, _) => false,
        }
    }

    fn gained(&self, number: usize) -> bool {
        match (self.before(number), self.after(number)) {
            (Some(before), Some(after)) => {
                !before.is_eligible() || after.weight() > before.weight() || self.changed_slot(before, after)
            }
            (None, Some(_)) => true,
            (_, None) => false,
        }
    }

    fn changed_slot(&self, before: &Node, after: &Node) -> bool {
        // Slots of different algorithms have nothing to do with each other.
        self.from.algorithm() == self.to.algorithm() && before.slot() != after.slot()
    }
}

/// Fails if the two sides of a plan hash their keys differently, which moves nearly every key, unless that is allowed.
///
/// # Errors
/// Names what differs and what to do.
pub fn check_sides(from: &Cluster, to: &Cluster, allow_rehash: bool) -> Result<()> {
    if allow_rehash || from.algorithm() != to.algorithm() {
        return Ok(());
    }
    let different_key = from.key().zip(to.key()).filter(|(before, after)| before != after);
    let mut different: Vec<(&str, String, String)> = Vec::new();
    if from.seed() != to.seed() {
        different.push(("seed", from.seed().to_string(), to.seed().to_string()));
    }
    if from.hash() != to.hash() {
        different.push(("hash", from.hash().to_string(), to.hash().to_string()));
    }
    if let Some((before, after)) = different_key {
        different.push(("key type", before.to_string(), after.to_string()));
    }
    if different.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = different.iter().map(|(name, ..)| *name).collect();
    let values: Vec<String> =
        different.iter().map(|(name, before, after)| format!("{name} ({before} and {after})")).collect();
    Err(Error::invalid(
        format!("the clusters have different values of {}, so nearly every key would move", values.join(" and ")),
        format!("give both the same {}, or pass --allow-rehash if that is what you want", names.join(" and ")),
    ))
}
