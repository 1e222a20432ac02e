//! Amounts per node, counted without waiting for the count before: neighbouring keys often have the same node, and a
//! count that has just been written is slow to read again.

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

    /// Counts one more key on each of these nodes.
    ///
    /// # Panics
    /// If one is not below the number of nodes.
    #[inline(always)]
    pub(super) fn count(&mut self, nodes: impl Iterator<Item = usize>) {
        if self.tables.len() == self.nodes {
            nodes.for_each(|node| self.tables[node] += 1);
            return;
        }
        let (first, rest) = self.tables.split_at_mut(self.nodes);
        let (second, rest) = rest.split_at_mut(self.nodes);
        let (third, fourth) = rest.split_at_mut(self.nodes);
        let mut nodes = nodes;
        loop {
            let Some(node) = nodes.next() else { return };
            first[node] += 1;
            let Some(node) = nodes.next() else { return };
            second[node] += 1;
            let Some(node) = nodes.next() else { return };
            third[node] += 1;
            let Some(node) = nodes.next() else { return };
            fourth[node] += 1;
        }
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
            for keys in [0, 1, 2, 3, 4, 5, 1001] {
                loads.count((0..keys).map(|key| key % nodes));
            }
            loads.add(nodes - 1, 5);
            let mut expected = vec![0; nodes];
            for keys in [0, 1, 2, 3, 4, 5, 1001] {
                (0..keys).for_each(|key| expected[key % nodes] += 1);
            }
            expected[nodes - 1] += 5;
            assert_eq!(loads.sums(), expected);
            loads.clear();
            assert!(loads.sums().iter().all(|keys| *keys == 0));
        }
    }
}
