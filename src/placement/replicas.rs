//! Choosing r replicas from a preference list, with or without zones.
//!
//! Source: `spec/placement.md`, "Preference lists and replicas".

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::{Locate, NodeId};
use crate::cluster::Cluster;
use crate::error::Result;

/// The zone of every node, numbered; a node without a zone has a number of its own.
#[derive(Debug)]
pub(super) struct Zones {
    of_node: Vec<u32>,
    /// How many zones have an eligible node.
    eligible: usize,
}

impl Zones {
    pub(super) fn of(cluster: &Cluster) -> Self {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut next = 0;
        let mut of_node = Vec::with_capacity(cluster.nodes().len());
        for node in cluster.nodes() {
            let number = match node.zone() {
                Some(zone) => *numbers.entry(zone).or_insert(next),
                None => next,
            };
            next = next.max(number + 1);
            of_node.push(number);
        }
        let mut seen = vec![false; next as usize];
        for (node, zone) in cluster.nodes().iter().zip(&of_node) {
            seen[*zone as usize] |= node.is_eligible();
        }
        Self { of_node, eligible: seen.into_iter().filter(|seen| *seen).count() }
    }

    fn zone(&self, node: NodeId) -> u32 {
        node.index().map_or(u32::MAX, |index| self.of_node[index])
    }
}

/// The first nodes of the list.
pub(super) fn first(lookup: &dyn Locate, word: u64, replicas: &mut [NodeId]) -> Result<()> {
    replicas.fill(NodeId::NONE);
    let mut places = replicas.iter_mut();
    let Some(mut place) = places.next() else { return Ok(()) };
    lookup.prefer(word, &mut |node| {
        *place = node;
        match places.next() {
            Some(next) => {
                place = next;
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        }
    })
}

/// Two passes over the list: each node whose zone is new, then the others in list order. One walk does both, since the
/// second pass takes the nodes that the first one passed over.
pub(super) fn spread(lookup: &dyn Locate, word: u64, zones: &Zones, replicas: &mut [NodeId]) -> Result<()> {
    replicas.fill(NodeId::NONE);
    let wanted = replicas.len();
    if wanted == 0 {
        return Ok(());
    }
    let mut taken = 0;
    let mut passed_over = Vec::new();
    lookup.prefer(word, &mut |node| {
        let zone = zones.zone(node);
        if replicas[..taken].iter().any(|chosen| zones.zone(*chosen) == zone) {
            if passed_over.len() < wanted {
                passed_over.push(node);
            }
        } else {
            replicas[taken] = node;
            taken += 1;
        }
        // Once every zone that has an eligible node is taken, only others are left.
        let zones_left = taken < zones.eligible;
        if taken == wanted || !zones_left && taken + passed_over.len() >= wanted {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    for (place, node) in replicas[taken..].iter_mut().zip(passed_over) {
        *place = node;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A preference list that is the same for every word.
    #[derive(Debug)]
    struct Fixed(Vec<u32>);

    impl Locate for Fixed {
        fn locate(&self, _word: u64) -> (NodeId, u64) {
            (self.0.first().map_or(NodeId::NONE, |node| NodeId::new(*node)), 1)
        }

        fn prefer(&self, _word: u64, visit: &mut dyn FnMut(NodeId) -> ControlFlow<()>) -> Result<()> {
            let _ = self.0.iter().try_for_each(|node| visit(NodeId::new(*node)));
            Ok(())
        }

        fn memory_bytes(&self) -> u64 {
            0
        }
    }

    fn chosen(list: &[u32], zones: &[u32], r: usize) -> Vec<u32> {
        let eligible = zones.iter().collect::<std::collections::HashSet<_>>().len();
        let zones = Zones { of_node: zones.to_vec(), eligible };
        let mut replicas = vec![NodeId::NONE; r];
        spread(&Fixed(list.to_vec()), 0, &zones, &mut replicas).unwrap();
        replicas.iter().filter_map(|node| node.index()).map(|index| u32::try_from(index).unwrap()).collect()
    }

    #[test]
    fn the_second_pass_takes_the_others_in_list_order() {
        let zones: Vec<u32> = (0..9).map(|node| node % 3).collect();
        assert_eq!(chosen(&[0, 1, 2, 3, 4, 5, 6, 7, 8], &zones, 7), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(chosen(&[0, 3, 6, 1, 4, 2], &zones, 4), [0, 1, 2, 3]);
    }

    #[test]
    fn a_short_list_gives_fewer() {
        assert_eq!(chosen(&[2, 0], &[0, 0, 0], 4), [2, 0]);
        assert_eq!(chosen(&[], &[0], 2), [] as [u32; 0]);
        assert_eq!(chosen(&[1], &[0, 0], 0), [] as [u32; 0]);
    }
}
