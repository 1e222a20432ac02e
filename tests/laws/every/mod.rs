//! Laws over every algorithm of the registry: random clusters of each, with all that it can take.

mod balance;
mod changes;
#[cfg(feature = "io")]
mod files;
mod lists;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use rehome::algorithm::{KeyRule, Removal, Weights};
use rehome::{Algorithm, Cluster, Node, Spread, algorithms};

use crate::some_keys;
use crate::twin::Random;

/// A node as the strategy makes it: weight in 64ths, zone, down or not.
type Drawn = (u32, Option<u32>, bool);

/// All algorithms that the filter leaves.
fn kinds(filter: impl Fn(&Algorithm) -> bool) -> Vec<&'static Algorithm> {
    algorithms().iter().copied().filter(|algorithm| filter(algorithm)).collect()
}

/// Random clusters of 1 to 40 nodes of the algorithms that the filter leaves: weights, zones, nodes that are down and
/// parameters as far as the algorithm takes them.
fn clusters_of(filter: impl Fn(&Algorithm) -> bool) -> impl Strategy<Value = Cluster> {
    let weight = prop_oneof![3 => Just(64_u32), 1 => Just(0), 3 => 16_u32..=64];
    let drawn = (weight, option::of(0_u32..4), prop::bool::weighted(0.15));
    (select(kinds(filter)), vec(drawn, 1..40), any::<u64>()).prop_map(|(algorithm, drawn, random)| {
        let mut random = Random::new(random);
        let mut cluster = built(algorithm, &drawn, &mut random);
        // Nodes go down one after another: on anchor their order counts.
        let mut down: Vec<usize> = (0..drawn.len()).filter(|index| drawn[*index].2).collect();
        random.shuffle(&mut down);
        match algorithm.removal {
            Removal::Any => {}
            Removal::Last => down = (drawn.len() - down.len()..drawn.len()).rev().collect(),
            _ => down.clear(),
        }
        for index in down {
            assert!(cluster.set_up(&format!("n{index}"), false).unwrap());
        }
        cluster
    })
}

fn built(algorithm: &Algorithm, drawn: &[Drawn], random: &mut Random) -> Cluster {
    let nodes = (0..).zip(drawn).map(|(number, (weight, zone, _))| {
        let weight = if algorithm.weights == Weights::One { 1.0 } else { f64::from(*weight) / 64.0 };
        let node = Node::new(format!("n{number}")).with_weight(weight);
        zone.filter(|_| algorithm.list).map_or(node.clone(), |zone| node.with_zone(format!("z{zone}")))
    });
    let seed = if algorithm.keys == KeyRule::Raw32 { 0 } else { random.word() };
    let mut builder = Cluster::builder(algorithm.name).unwrap().seed(seed).nodes(nodes);
    for parameter in algorithm.parameters {
        builder = match parameter.name {
            "tokens" => builder.parameter("tokens", 1 + random.below(24)),
            "window" => builder.parameter("window", 1 + random.below(12)),
            "weight_by" => builder.parameter("weight_by", ["score", "tokens"][random.below(2) as usize]),
            "probes" => builder.parameter("probes", 1 + random.below(8)),
            "size" => builder.parameter("size", [8191, 12_289][random.below(2) as usize]),
            "slots" => builder.parameter("slots", 64 << random.below(3)),
            "capacity" => builder.parameter("capacity", 64 + random.below(64)),
            _ => builder,
        };
    }
    let spread = if algorithm.list && random.below(2) == 1 { Spread::Zone } else { Spread::Node };
    builder.spread(spread).build().unwrap()
}

/// Keys that the cluster's algorithm takes.
fn keys_for(cluster: &Cluster, seed: u64, count: usize) -> Vec<u64> {
    let mut keys = some_keys(seed, count);
    if cluster.algorithm().keys == KeyRule::Raw32 {
        keys.iter_mut().for_each(|key| *key >>= if *key > u64::from(u32::MAX) { 32 } else { 0 });
    }
    keys
}

/// The names of the eligible nodes.
fn eligible(cluster: &Cluster) -> Vec<&str> {
    cluster.nodes().iter().filter(|node| node.is_eligible()).map(Node::name).collect()
}
