//! Placements and preference lists of every algorithm: who is in them, and that the order of nodes does not matter.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use proptest::prelude::*;
use rehome::{Algorithm, Cluster, Engine, Node, NodeId, Spread};

use super::{clusters_of, eligible, keys_for, kinds};
use crate::{cases, name, names, relisted, words, zone};

/// The whole list of a word, by name.
fn list(cluster: &Cluster, word: u64) -> Vec<&str> {
    let mut list = Vec::new();
    let mut visit = |node| {
        list.push(name(cluster, node).unwrap());
        ControlFlow::Continue(())
    };
    cluster.placement().unwrap().lookup().prefer(word, &mut visit).unwrap();
    list
}

/// Replicas by name, without the places that stay empty.
fn replicas<'c>(cluster: &'c Cluster, keys: &[u64], r: usize) -> Vec<Vec<&'c Node>> {
    let placement = cluster.placement().unwrap();
    let mut nodes = vec![NodeId::NONE; keys.len() * r];
    Engine::builder().threads(1).build().unwrap().replicas(&placement, keys, r, &mut nodes).unwrap();
    let found = |row: &[NodeId]| -> Vec<&Node> {
        let found: Vec<_> = row.iter().map_while(|node| Some(&cluster.nodes()[node.index()?])).collect();
        assert!(row[found.len()..].iter().all(|node| *node == NodeId::NONE));
        found
    };
    nodes.chunks(r).map(found).collect()
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn every_key_is_on_an_eligible_node_if_there_is_one(cluster in clusters_of(|_| true), seed: u64) {
        let eligible = eligible(&cluster);
        let keys = keys_for(&cluster, seed, 300);
        for (key, node) in keys.iter().zip(names(&cluster, &keys)) {
            match node {
                Some(node) => prop_assert!(eligible.contains(&node), "{} on {}", key, node),
                // The authors' code gives up after a while.
                None => prop_assert!(
                    eligible.is_empty() || cluster.algorithm().name == "dx-crc32c",
                    "key {} of {} is on no node", key, cluster.algorithm().name
                ),
            }
        }
    }

    #[test]
    fn lists_hold_every_eligible_node_once(cluster in clusters_of(|algorithm| algorithm.list), seed: u64) {
        let all: BTreeSet<_> = eligible(&cluster).into_iter().collect();
        let keys = keys_for(&cluster, seed, 10);
        for (word, first) in words(&cluster, (&keys).into()).into_iter().zip(names(&cluster, &keys)) {
            let list = list(&cluster, word);
            prop_assert_eq!(list.len(), all.len());
            prop_assert_eq!(list.first().copied(), first);
            prop_assert_eq!(&list.into_iter().collect::<BTreeSet<_>>(), &all);
        }
    }

    #[test]
    fn replicas_are_distinct_and_spread(
        cluster in clusters_of(|algorithm| algorithm.list), seed: u64, r in 1_usize..7
    ) {
        let keys = keys_for(&cluster, seed, 100);
        let eligible: Vec<&Node> = cluster.nodes().iter().filter(|node| node.is_eligible()).collect();
        let zones: BTreeSet<_> = eligible.iter().map(|node| zone(node)).collect();
        for (found, first) in replicas(&cluster, &keys, r).into_iter().zip(names(&cluster, &keys)) {
            prop_assert_eq!(found.len(), r.min(eligible.len()));
            prop_assert!(found.iter().all(|node| node.is_eligible()));
            prop_assert_eq!(found.iter().map(|node| node.name()).collect::<BTreeSet<_>>().len(), found.len());
            prop_assert_eq!(found.first().map(|node| node.name()), first);
            if cluster.spread() == Spread::Zone {
                // New zones come first, as many as there are.
                let seen = r.min(zones.len());
                prop_assert_eq!(found[..seen].iter().map(|node| zone(node)).collect::<BTreeSet<_>>().len(), seen);
            }
        }
    }

    #[test]
    fn the_order_of_nodes_does_not_matter(cluster in clusters_of(|_| true), seed: u64) {
        let other = relisted(&cluster, seed);
        let keys = keys_for(&cluster, seed, 300);
        prop_assert_eq!(names(&cluster, &keys), names(&other, &keys));
        if cluster.algorithm().list {
            let by_name = |cluster: &Cluster| -> Vec<Vec<String>> {
                let of_key = |nodes: Vec<&Node>| nodes.into_iter().map(|node| node.name().to_owned()).collect();
                replicas(cluster, &keys[..50], 4).into_iter().map(of_key).collect()
            };
            prop_assert_eq!(by_name(&cluster), by_name(&other));
        }
    }
}

/// A million nodes in three zones: a fourth replica, for which no zone is left, must not walk over all of them.
#[test]
fn four_replicas_among_a_million_nodes_in_three_zones() {
    // Rendezvous scores every node for every key, so its keys are few; see the estimate that it asks with.
    let keys = |algorithm: &Algorithm| if algorithm.name == "rendezvous" { 3 } else { 300 };
    for algorithm in kinds(|algorithm| algorithm.list) {
        let node = |number| Node::new(format!("n{number}")).with_zone(format!("zone {}", number % 3));
        let mut builder = Cluster::builder(algorithm.name).unwrap().spread(Spread::Zone);
        if algorithm.parameters.iter().any(|parameter| parameter.name == "tokens") {
            builder = builder.parameter("tokens", 1);
        }
        let cluster = builder.nodes((0..1_000_000).map(node)).build().unwrap();
        let keys = keys_for(&cluster, 2, keys(algorithm));
        for found in replicas(&cluster, &keys, 4) {
            assert_eq!(found.iter().map(|node| node.name()).collect::<BTreeSet<_>>().len(), 4);
            assert_eq!(found[..3].iter().map(|node| zone(node)).collect::<BTreeSet<_>>().len(), 3);
        }
    }
}
