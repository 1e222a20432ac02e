//! How evenly every algorithm loads its nodes: chi-square where loads are those of independent throws, the closed forms of
//! the papers where a ring's arcs decide. On fixed keys and names, so that a run cannot fail by chance.

use rehome::{Cluster, Engine, Node};

use super::{keys_for, kinds};
use crate::twin::Random;

/// Parameters by name.
type Parameters<T> = &'static [(&'static str, T)];

/// Nodes with the names of one trial among several, since a ring is what its names make it.
fn named(trial: u32, count: u32) -> impl Iterator<Item = Node> {
    (0..count).map(move |number| Node::new(format!("node-{trial}-{number}")))
}

/// The keys of every node.
fn counts(cluster: &Cluster, keys: usize) -> Vec<u64> {
    let keys = keys_for(cluster, 11, keys);
    let engine = Engine::builder().threads(2).build().unwrap();
    let counts = engine.count(&cluster.placement().unwrap(), &keys).unwrap();
    assert_eq!(counts.unplaced, 0);
    counts.per_node
}

/// The square of the coefficient of variation of the load of equal nodes.
fn cv_squared(counts: &[u64]) -> f64 {
    let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    counts.iter().map(|count| (*count as f64 / mean - 1.0).powi(2)).sum::<f64>() / counts.len() as f64
}

/// Algorithms without arcs or tables give every node the same chance for every key.
#[test]
fn without_a_ring_loads_are_those_of_independent_throws() {
    for name in ["dx", "dx-crc32c", "rendezvous", "jump", "anchor", "modulo"] {
        let cluster = Cluster::builder(name).unwrap().nodes(named(0, 100)).build().unwrap();
        let counts = counts(&cluster, 1 << 18);
        let degrees = counts.len() as f64 - 1.0;
        let mean = (1 << 18) as f64 / counts.len() as f64;
        let z = (cv_squared(&counts) * counts.len() as f64 * mean - degrees) / (2.0 * degrees).sqrt();
        assert!(z.abs() < 5.0, "{name}: z = {z:.2}");
    }
}

/// A table has as many entries of one node as of another, up to one; the rest are throws of keys.
#[test]
fn tables_are_as_even_as_their_entries() {
    for name in ["maglev", "sach"] {
        let cluster = Cluster::builder(name).unwrap().nodes(named(0, 100)).build().unwrap();
        let counts = counts(&cluster, 1 << 20);
        let (throws, entries) = (100.0 / (1 << 20) as f64, f64::from(cluster.number("size")) / 100.0);
        let bound = throws * 1.6 + (0.5 / entries).powi(2);
        assert!(cv_squared(&counts) < bound, "{name}: {} of {bound}", cv_squared(&counts));
    }
}

/// The closed forms of the LRH paper's quantities, which simulations confirmed: with V tokens per node, N nodes and K
/// keys, CV^2 is 1/V + N/K on a ring, 1/(C V) + N/K with a window of C and 1/((2P - 1) V) + N/K with P probes.
#[test]
fn rings_are_as_even_as_their_closed_forms() {
    const NODES: u32 = 400;
    const KEYS: usize = 400_000;
    let throws = f64::from(NODES) / KEYS as f64;
    let forms: [(&str, Parameters<u32>, f64); 5] = [
        ("ring", &[("tokens", 16)], 1.0 / 16.0),
        ("ring", &[("tokens", 128)], 1.0 / 128.0),
        ("lrh", &[("tokens", 16), ("window", 4)], 1.0 / 64.0),
        ("lrh", &[("tokens", 64), ("window", 8)], 1.0 / 512.0),
        ("multi-probe", &[("tokens", 32), ("probes", 4)], 1.0 / 224.0),
    ];
    for (name, parameters, form) in forms {
        let cv_squared = (0..4).map(|trial| {
            let mut builder = Cluster::builder(name).unwrap();
            for (parameter, value) in parameters {
                builder = builder.parameter(parameter, value);
            }
            cv_squared(&counts(&builder.nodes(named(trial, NODES)).build().unwrap(), KEYS))
        });
        let ratio = cv_squared.sum::<f64>() / 4.0 / (form + throws);
        println!("{name} {parameters:?}: {ratio:.3} of the closed form");
        assert!((0.85..1.15).contains(&ratio), "{name} {parameters:?}: {ratio:.3} of the closed form");
    }
}

/// Many probes on one token per node: the largest load is bounded near 1 + 1/(k - 1), the smallest is not.
#[test]
fn multi_probe_bounds_only_the_largest_load() {
    let cluster = Cluster::builder("multi-probe").unwrap().nodes(named(0, 200)).build().unwrap();
    let counts = counts(&cluster, 2_000_000);
    let share = |count: Option<&u64>| *count.unwrap() as f64 / 10_000.0;
    let (largest, smallest) = (share(counts.iter().max()), share(counts.iter().min()));
    println!("multi-probe, 21 probes: {smallest:.3} to {largest:.3} of the average");
    assert!((1.0..1.15).contains(&largest), "{largest}");
    assert!(smallest < 0.3, "{smallest}");
}

/// 10,000 keys per node, some nodes down. One token per node and many probes may leave a node almost empty, so
/// multi-probe has more tokens here.
#[test]
fn every_eligible_node_has_keys() {
    for algorithm in kinds(|_| true) {
        let mut builder = Cluster::builder(algorithm.name).unwrap().nodes(named(1, 20));
        if algorithm.name == "multi-probe" {
            builder = builder.parameter("tokens", 16);
        }
        let mut cluster = builder.build().unwrap();
        if cluster.set_up("node-1-19", false).is_err() {
            assert_eq!(algorithm.name, "modulo");
        }
        for (node, count) in cluster.nodes().iter().zip(counts(&cluster, 200_000)) {
            assert_eq!(node.is_eligible(), count > 0, "{}: {} has {count} keys", algorithm.name, node.name());
        }
    }
}

/// Shares are w / sum(w). What chance leaves is that of the throws, and of a node's tokens or entries.
#[test]
fn weights_move_shares() {
    const KEYS: usize = 400_000;
    // The variance, relative to a share squared, that the share of a node with this weight and part of all has.
    type Chance = fn(f64) -> f64;
    let subjects: [(&str, Parameters<&str>, Chance); 7] = [
        ("dx", &[], |_| 0.0),
        ("rendezvous", &[], |_| 0.0),
        ("ring", &[("tokens", "200")], |weight| 1.0 / (200.0 * weight)),
        ("multi-probe", &[("tokens", "64"), ("probes", "4")], |weight| 1.0 / (7.0 * 64.0 * weight)),
        ("lrh", &[("tokens", "200"), ("weight_by", "tokens")], |weight| 1.0 / (200.0 * weight)),
        // Half an entry of about 160 for a node of weight 1.
        ("maglev", &[("size", "8191")], |weight| (0.5 / (160.0 * weight)).powi(2)),
        ("sach", &[("size", "8191")], |weight| (0.5 / (160.0 * weight)).powi(2)),
    ];
    for (name, parameters, chance) in subjects {
        let mut random = Random::new(8);
        let nodes = named(2, 64).map(|node| node.with_weight(f64::from(16 + random.below(49)) / 64.0));
        let mut builder = Cluster::builder(name).unwrap();
        for (parameter, value) in parameters {
            builder = builder.parameter(parameter, value);
        }
        let cluster = builder.nodes(nodes).build().unwrap();
        let total: f64 = cluster.nodes().iter().map(Node::weight).sum();
        for (node, count) in cluster.nodes().iter().zip(counts(&cluster, KEYS)) {
            let expected = KEYS as f64 * node.weight() / total;
            let sigma = (1.0 / expected + chance(node.weight())).sqrt();
            let off = count as f64 / expected - 1.0;
            assert!(off.abs() < 5.0 * sigma, "{name}: weight {}, {off:.4} off, sigma {sigma:.4}", node.weight());
        }
    }
}

/// By score, the paper's form, a window caps a share near C/N: one node of ten with half of all the weight gets no more.
#[test]
fn lrh_by_score_caps_a_share_near_the_window() {
    let share = |weight_by: &str| {
        let light = named(3, 99).map(|node| node.with_weight(0.01));
        let heavy = Node::new("heavy").with_weight(0.99);
        let builder = Cluster::builder("lrh").unwrap().parameter("weight_by", weight_by).parameter("window", 4);
        let cluster = builder.nodes(light.chain([heavy])).build().unwrap();
        *counts(&cluster, 100_000).last().unwrap() as f64 / 100_000.0
    };
    assert!((0.02..0.05).contains(&share("score")), "{}", share("score"));
    assert!(share("tokens") > 0.05, "{}", share("tokens"));
}

/// What the specification says of the chain that is offered to match others' systems: strided keys lie unevenly on it.
#[test]
fn the_crc_chain_loads_strided_keys_unevenly() {
    // Every multiple of 4096 that it takes, 16 per slot.
    let keys: Vec<u64> = (0..1 << 20).map(|key| key << 12).collect();
    let max_over_avg = |name: &str| {
        let cluster = Cluster::builder(name).unwrap().slots(1 << 16).nodes(named(4, 1 << 16)).build().unwrap();
        let engine = Engine::builder().threads(2).build().unwrap();
        let counts = engine.count(&cluster.placement().unwrap(), &keys).unwrap();
        *counts.per_node.iter().max().unwrap() as f64 / 16.0
    };
    let (chain, dx) = (max_over_avg("dx-crc32c"), max_over_avg("dx"));
    println!("multiples of 4096 on 65,536 slots, Max/Avg: dx-crc32c {chain:.2}, dx {dx:.2}");
    assert!(chain > 8.0 && dx < 2.7, "dx-crc32c {chain}, dx {dx}");
}
