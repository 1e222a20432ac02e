//! Amounts per node, counted without waiting for the count before: neighbouring keys often have the same node, and a
//! count that has just been written is slow to read again.

use crate::placement::NodeId;

/// Lanes that take turns, where there are few enough nodes for their tables to stay in the caches.
const LANES: usize = 4;
/// The most nodes that have lanes.
const FEW: usize = 4096;

/// Keys per numbered node.
#[derive(Clone, Debug)]
pub(super) struct Loads {
    /// One table after the other, each of `nodes` counts.
    tables: Vec<u64>,
    nodes: usize,
}

impl Loads {
    pub(super) fn new(nodes: usize) -> Self {
        Self { tables: vec![0; nodes * if nodes <= FEW { LANES } else { 1 }], nodes }
    }

    /// Counts one more key on each of these nodes, whose positions are their numbers; on the last for those without one.
    #[inline]
    pub(super) fn count(&mut self, nodes: &[NodeId]) {
        let last = self.nodes - 1;
        let number = |node: &NodeId| (node.raw() as usize).min(last);
        let (first, rest) = self.tables.split_at_mut(self.nodes);
        if rest.is_empty() {
            nodes.iter().for_each(|node| first[number(node)] += 1);
            return;
        }
        let (second, rest) = rest.split_at_mut(self.nodes);
        let (third, fourth) = rest.split_at_mut(self.nodes);
        let mut groups = nodes.chunks_exact(LANES);
        for group in &mut groups {
            first[number(&group[0])] += 1;
            second[number(&group[1])] += 1;
            third[number(&group[2])] += 1;
            fourth[number(&group[3])] += 1;
        }
        groups.remainder().iter().for_each(|node| first[number(node)] += 1);
    }

    /// Adds keys to a node.
    pub(super) fn add(&mut self, node: usize, keys: u64) {
        self.tables[..self.nodes][node] += keys;
    }

    /// The keys of every node.
    pub(super) fn sums(&self) -> Vec<u64> {
        let sum = |node| self.tables[node..].iter().step_by(self.nodes).sum();
        (0..self.nodes).map(sum).collect()
    }

    pub(super) fn clear(&mut self) {
        self.tables.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_make_no_difference() {
        for nodes in [1, 7, FEW, FEW + 1] {
            let mut loads = Loads::new(nodes);
            let mut expected = vec![0; nodes];
            for keys in [0, 1, 2, 3, 4, 5, 1001] {
                let number = |key: usize| key * 7 % nodes;
                let node = |key| NodeId::new(u32::try_from(number(key)).unwrap());
                loads.count(&(0..keys).map(node).collect::<Vec<_>>());
                (0..keys).for_each(|key| expected[number(key)] += 1);
            }
            loads.count(&[NodeId::NONE; 6]);
            loads.add(nodes - 1, 5);
            expected[nodes - 1] += 11;
            assert_eq!(loads.sums(), expected);
            loads.clear();
            assert!(loads.sums().iter().all(|keys| *keys == 0));
        }
    }
}
