//! Replicas: distinct, eligible, over as many zones as there are, and the same however nodes are listed.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rehome::{Cluster, Engine, Node, NodeId, Spread};

use crate::{cases, clusters, name, names, relisted, some_keys, words, zone};

fn replicas(cluster: &Cluster, keys: &[u64], r: usize) -> Vec<Vec<NodeId>> {
    let placement = cluster.placement().unwrap();
    let of_word = |word| {
        let mut nodes = vec![NodeId::NONE; r];
        placement.replicas(word, &mut nodes).unwrap();
        nodes
    };
    words(cluster, keys.into()).into_iter().map(of_word).collect()
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn replicas_are_distinct_and_spread(cluster in clusters(), seed: u64, r in 0_usize..9) {
        let keys = some_keys(seed, 200);
        let eligible: Vec<&Node> = cluster.nodes().iter().filter(|node| node.is_eligible()).collect();
        let zones: BTreeSet<_> = eligible.iter().map(|node| zone(node)).collect();
        for (chosen, first) in replicas(&cluster, &keys, r).into_iter().zip(names(&cluster, &keys)) {
            let found: Vec<&Node> = chosen.iter().map_while(|node| Some(&cluster.nodes()[node.index()?])).collect();
            // As many as there can be, and nothing behind them.
            prop_assert_eq!(found.len(), r.min(eligible.len()));
            prop_assert!(chosen[found.len()..].iter().all(|node| *node == NodeId::NONE));
            prop_assert!(found.iter().all(|node| node.is_eligible()));
            prop_assert_eq!(found.iter().map(|node| node.name()).collect::<BTreeSet<_>>().len(), found.len());
            if r > 0 {
                prop_assert_eq!(found.first().map(|node| node.name()), first);
            }
            if cluster.spread() == Spread::Zone {
                let seen: BTreeSet<_> = found.iter().map(|node| zone(node)).collect();
                prop_assert_eq!(seen.len(), r.min(zones.len()));
                // New zones come first.
                let leading: BTreeSet<_> = found[..seen.len()].iter().map(|node| zone(node)).collect();
                prop_assert_eq!(leading.len(), seen.len());
            }
        }
    }

    /// Fewer replicas are the first of more.
    #[test]
    fn replicas_of_a_plain_list_are_prefixes(cluster in clusters(), seed: u64) {
        let keys = some_keys(seed, 100);
        let most = replicas(&cluster, &keys, 6);
        for r in 0..6 {
            for (few, most) in replicas(&cluster, &keys, r).iter().zip(&most) {
                if cluster.spread() == Spread::Node {
                    prop_assert_eq!(few, &most[..r]);
                }
            }
        }
    }

    #[test]
    fn the_order_of_nodes_does_not_matter(cluster in clusters(), seed: u64) {
        let other = relisted(&cluster, seed);
        let keys = some_keys(seed, 500);
        prop_assert_eq!(names(&cluster, &keys), names(&other, &keys));
        let by_name = |cluster: &Cluster| -> Vec<Option<String>> {
            let all = replicas(cluster, &keys[..100], 4).concat();
            all.into_iter().map(|node| name(cluster, node).map(str::to_owned)).collect()
        };
        prop_assert_eq!(by_name(&cluster), by_name(&other));
    }
}

#[test]
fn three_zones_hold_four_replicas() {
    let nodes = (0..30).map(|number| Node::new(format!("n{number}")).with_zone(format!("zone {}", number % 3)));
    let cluster = Cluster::builder("dx").unwrap().slots(64).spread(Spread::Zone).nodes(nodes).build().unwrap();
    let mut fourth = [0; 3];
    for chosen in replicas(&cluster, &some_keys(1, 3000), 4) {
        let zones: Vec<usize> = chosen.iter().map(|node| node.index().unwrap() % 3).collect();
        let mut first = zones[..3].to_vec();
        first.sort_unstable();
        assert_eq!(first, [0, 1, 2]);
        fourth[zones[3]] += 1;
    }
    assert!(fourth.iter().all(|count| (800..1200).contains(count)), "{fourth:?}");
}

/// The walk over a list ends once every zone is taken: it must not visit a million nodes for a fourth replica.
#[test]
fn a_million_nodes_in_three_zones() {
    let nodes = (0..1_000_000).map(|number| Node::new(format!("n{number}")).with_zone(format!("zone {}", number % 3)));
    let cluster = Cluster::builder("dx").unwrap().slots(1 << 20).spread(Spread::Zone).nodes(nodes).build().unwrap();
    let keys = some_keys(2, 1000);
    let mut nodes = vec![NodeId::NONE; 4000];
    Engine::builder().build().unwrap().replicas(&cluster.placement().unwrap(), &keys, 4, &mut nodes).unwrap();
    for chosen in nodes.chunks(4) {
        let numbers: Vec<usize> = chosen.iter().map(|node| node.index().unwrap()).collect();
        assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), 4);
        assert_eq!(numbers[..3].iter().map(|number| number % 3).collect::<BTreeSet<_>>().len(), 3);
    }
}
