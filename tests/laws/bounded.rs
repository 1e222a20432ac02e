//! Bounded loads: the literal assignment, whatever the order of the input and the batches.

use proptest::prelude::*;
use rehome::engine::{BoundedLoads, WholeSet};
use rehome::{Cluster, KeyBuffer, Keys, NodeId};

use crate::twin::{FULL, Random};
use crate::{cases, clusters, located, name, relisted, some_keys, twin, words};

/// Integer keys in batches of any length, and the nodes in others.
fn bounded(cluster: &Cluster, epsilon: f64, keys: &[u64], random: &mut Random) -> Vec<NodeId> {
    let mut bounded = BoundedLoads::new(&cluster.placement().unwrap(), epsilon).unwrap();
    let mut rest = keys;
    while !rest.is_empty() {
        let (batch, behind) = rest.split_at((random.below(100) as usize).min(rest.len()));
        bounded.observe(Keys::from(batch)).unwrap();
        rest = behind;
    }
    let mut nodes = vec![NodeId::NONE; keys.len()];
    let mut rest = &mut nodes[..];
    while !rest.is_empty() {
        let (batch, behind) = rest.split_at_mut((random.below(100) as usize).min(rest.len()));
        bounded.nodes(batch).unwrap();
        rest = behind;
    }
    nodes
}

/// The threshold of every slot.
fn thresholds(cluster: &Cluster) -> Vec<u32> {
    let mut t = vec![0; cluster.slots().size() as usize];
    for node in cluster.nodes().iter().filter(|node| node.is_eligible()) {
        t[node.slot().unwrap() as usize] = node.quantum();
    }
    t
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn equals_the_literal_assignment(cluster in clusters(), seed: u64, count in 0_usize..600, epsilon in 0.0..1.0) {
        let mut random = Random::new(seed);
        // Some keys several times.
        let mut keys = some_keys(seed, count);
        keys.extend_from_within(..count / 3);
        random.shuffle(&mut keys);
        let nodes = bounded(&cluster, epsilon, &keys, &mut random);

        let t = thresholds(&cluster);
        let bytes = keys.iter().map(|key| key.to_be_bytes().to_vec());
        let literal: Vec<_> = words(&cluster, Keys::from(&keys)).into_iter().zip(bytes).collect();
        let placement = cluster.placement().unwrap();
        prop_assert_eq!(twin::slots(&placement, &nodes), twin::bounded(&literal, epsilon, &t));

        // No node has more than its capacity; nobody is left out unless nobody is eligible.
        let capacities = twin::capacities(keys.len() as u64, epsilon, &t);
        for (node, slot) in cluster.nodes().iter().map(|node| (node, node.slot().unwrap())) {
            let load = nodes.iter().filter(|found| name(&cluster, **found) == Some(node.name())).count();
            prop_assert!(load as u64 <= capacities[slot as usize]);
        }
        prop_assert!(placement.eligible() == 0 || nodes.iter().all(|node| *node != NodeId::NONE));
    }

    #[test]
    fn order_of_input_and_nodes_does_not_matter(cluster in clusters(), seed: u64) {
        let mut random = Random::new(seed);
        let keys = some_keys(seed, 500);
        let mut shuffled: Vec<usize> = (0..keys.len()).collect();
        random.shuffle(&mut shuffled);
        let other = relisted(&cluster, seed);
        let straight = bounded(&cluster, 0.1, &keys, &mut random);
        let crooked = bounded(&other, 0.1, &shuffled.iter().map(|row| keys[*row]).collect::<Vec<_>>(), &mut random);
        for (row, node) in shuffled.into_iter().zip(crooked) {
            prop_assert_eq!(name(&other, node), name(&cluster, straight[row]));
        }
    }

    #[test]
    fn with_room_for_all_nobody_is_displaced(cluster in clusters(), seed: u64) {
        let keys = some_keys(seed, 500);
        // The smallest weight is 1/64 and at most 256 nodes share: this is room for every key on every node.
        let nodes = bounded(&cluster, 20_000.0, &keys, &mut Random::new(seed));
        prop_assert_eq!(nodes, located(&cluster, &keys));
    }
}

/// Texts of any length, some of them prefixes of others.
#[test]
fn byte_keys() {
    let mut random = Random::new(3);
    let texts: Vec<Vec<u8>> =
        (0..2000).map(|_| (0..random.below(6)).map(|_| random.word().to_le_bytes()[0] % 3).collect()).collect();
    let mut keys = KeyBuffer::new();
    texts.iter().for_each(|text| keys.push(text).unwrap());
    let t: Vec<u32> = (0..16).map(|slot| if slot % 5 == 0 { 0 } else { FULL - slot * 1000 }).collect();
    let cluster = twin::cluster("dx", &t, twin::Order::Shuffled(4));
    let placement = cluster.placement().unwrap();
    let mut bounded = BoundedLoads::new(&placement, 0.02).unwrap();
    bounded.observe(keys.keys().slice(0, 700)).unwrap();
    bounded.observe(keys.keys().slice(700, 2000)).unwrap();
    let mut nodes = vec![NodeId::NONE; 2000];
    bounded.nodes(&mut nodes).unwrap();
    let literal: Vec<_> = words(&cluster, keys.keys()).into_iter().zip(texts).collect();
    assert_eq!(twin::slots(&placement, &nodes), twin::bounded(&literal, 0.02, &t));
}
