//! The change that every algorithm of a comparison goes through: equal nodes, of which some leave, go down or join.

use std::collections::HashSet;

use crate::algorithm::{Algorithm, DefaultValue, ParameterKind};
use crate::cluster::{Cluster, Node};
use crate::error::{Error, Result};

/// The most nodes of a [`Change`], before and after together: more would take long to describe alone.
pub const MOST_NODES: u32 = 1 << 24;

/// A change of a cluster of equal nodes, the same for every algorithm.
///
/// It starts with nodes `node-0`, `node-1`, .. of weight 1, all up. First nodes leave for good, in the order named, then
/// nodes go down, then new nodes join, whose numbers go on where the first ones end.
///
/// ```
/// use rehome::measure::Change;
/// use rehome::Algorithm;
///
/// let (before, after) = Change::of(10).leave(["node-3"]).join(2).clusters(Algorithm::named("dx")?)?;
/// assert_eq!((before.nodes().len(), after.nodes().len()), (10, 11));
/// assert_eq!(after.nodes()[10].name(), "node-11");
/// # Ok::<(), rehome::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    nodes: u32,
    join: u32,
    leave: Vec<String>,
    down: Vec<String>,
}

impl Change {
    /// So many nodes, and nothing changed yet.
    pub fn of(nodes: u32) -> Self {
        Self { nodes, join: 0, leave: Vec::new(), down: Vec::new() }
    }

    /// So many nodes join.
    #[must_use]
    pub fn join(mut self, count: u32) -> Self {
        self.join = count;
        self
    }

    /// These nodes are removed, in this order.
    #[must_use]
    pub fn leave(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.leave = names.into_iter().map(Into::into).collect();
        self
    }

    /// These nodes go down, in this order, and stay in the cluster.
    #[must_use]
    pub fn down(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.down = names.into_iter().map(Into::into).collect();
        self
    }

    /// Fails if no algorithm could do it.
    ///
    /// # Complexity
    /// O(nodes that leave or go down).
    ///
    /// # Errors
    /// No node, more than [`MOST_NODES`], a name that no node has, or a node that is named twice.
    pub fn check(&self) -> Result<()> {
        if self.nodes == 0 {
            return Err(Error::invalid("a comparison starts with no node", "give it 1 or more"));
        }
        let nodes = u64::from(self.nodes) + u64::from(self.join);
        if nodes > u64::from(MOST_NODES) {
            return Err(Error::invalid(
                format!("{nodes} nodes are too many to compare"),
                format!("use {MOST_NODES} at most"),
            ));
        }
        let mut seen = HashSet::new();
        for name in self.leave.iter().chain(&self.down) {
            if !self.has(name) {
                let hint = format!("there are node-0 to node-{}", self.nodes - 1);
                return Err(Error::invalid(format!("no node is named {name:?}"), hint));
            }
            if !seen.insert(name) {
                return Err(Error::invalid(format!("node {name:?} is named twice"), "name each node once"));
            }
        }
        Ok(())
    }

    /// Whether a node of this name is there at the start. (`node-03` and `node-+3` are no names.)
    fn has(&self, name: &str) -> bool {
        let number = name.strip_prefix("node-").and_then(|digits| digits.parse::<u32>().ok());
        number.is_some_and(|number| number < self.nodes && name == name_of(number))
    }

    /// The clusters before and after, with the defaults of the algorithm for everything but the nodes; where the
    /// default number of slots leaves no room for those that join, it is that of all nodes together.
    ///
    /// # Complexity
    /// O(nodes), and what the edits of the algorithm cost.
    ///
    /// # Errors
    /// As [`check`](Self::check), and whatever the algorithm refuses.
    pub fn clusters(&self, algorithm: &Algorithm) -> Result<(Cluster, Cluster)> {
        self.check()?;
        let mut builder = Cluster::builder(algorithm.name)?;
        for parameter in algorithm.parameters.iter().filter(|parameter| parameter.kind == ParameterKind::Slots) {
            let DefaultValue::OfNodes { value, .. } = parameter.default else { continue };
            let most = u64::from(self.nodes) + u64::from(self.join);
            if value(u64::from(self.nodes))? < most {
                builder = builder.parameter(parameter.name, value(most)?);
            }
        }
        let before = builder.nodes((0..self.nodes).map(|number| Node::new(name_of(number)))).build()?;
        let mut after = before.clone();
        if !self.leave.is_empty() {
            after.remove(self.leave.iter().map(String::as_str))?;
        }
        for name in &self.down {
            after.set_up(name, false)?;
        }
        for number in self.nodes..self.nodes + self.join {
            after.add(Node::new(name_of(number)))?;
        }
        Ok((before, after))
    }
}

/// The name that `rehome cluster new --nodes` gives a node.
fn name_of(number: u32) -> String {
    format!("node-{number}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::algorithms;

    #[test]
    fn nodes_leave_then_go_down_then_join() {
        let change = Change::of(4).join(2).leave(["node-1", "node-0"]).down(["node-3"]);
        let (before, after) = change.clusters(Algorithm::named("dx").unwrap()).unwrap();
        assert_eq!(before.nodes().len(), 4);
        let rows: Vec<_> = after.nodes().iter().map(|node| (node.name(), node.is_up(), node.slot())).collect();
        // The queue of a fresh cluster of 8 slots is 4, 5, ..: what left comes behind.
        let expected = [("node-2", true, 2), ("node-3", false, 3), ("node-4", true, 4), ("node-5", true, 5)];
        assert_eq!(rows, expected.map(|(name, up, slot)| (name, up, Some(slot))));
        let mut by_hand = before.clone();
        by_hand.remove(["node-1", "node-0"]).unwrap();
        by_hand.set_up("node-3", false).unwrap();
        by_hand.add(Node::new("node-4")).unwrap();
        by_hand.add(Node::new("node-5")).unwrap();
        assert_eq!(after.to_json(), by_hand.to_json());
    }

    #[test]
    fn slots_have_room_for_all_that_join() {
        // 10 nodes have 32 slots by default: 22 more fit.
        for (join, slots) in [(22, 32), (23, 128)] {
            for name in ["dx", "anchor"] {
                let (before, after) = Change::of(10).join(join).clusters(Algorithm::named(name).unwrap()).unwrap();
                assert_eq!([before.slots().size(), after.slots().size()], [slots; 2], "{name}");
            }
        }
    }

    #[test]
    fn what_no_algorithm_could_do_is_refused() {
        let change = Change::of(10);
        for (change, expected) in [
            (Change::of(0).join(1), "starts with no node"),
            (Change::of(MOST_NODES).join(1), "16777217 nodes are too many to compare: use 16777216 at most"),
            (Change::of(u32::MAX).join(u32::MAX), "too many"),
            (change.clone().leave(["node-10"]), "no node is named \"node-10\": there are node-0 to node-9"),
            (change.clone().down(["node-03"]), "no node is named \"node-03\""),
            (change.clone().leave(["node-+3"]), "no node is named"),
            (change.clone().leave(["3"]), "no node is named"),
            (change.clone().leave(["node-"]), "no node is named"),
            (change.clone().leave(["node-4294967296"]), "no node is named"),
            (change.clone().leave(["node-1", "node-1"]), "\"node-1\" is named twice"),
            (change.clone().leave(["node-1"]).down(["node-1"]), "\"node-1\" is named twice"),
        ] {
            let error = change.check().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
            for algorithm in algorithms() {
                assert_eq!(change.clusters(algorithm).unwrap_err().to_string(), error);
            }
        }
        Change::of(MOST_NODES).check().unwrap();
        change.leave((0..10).map(name_of)).check().unwrap();
    }
}
