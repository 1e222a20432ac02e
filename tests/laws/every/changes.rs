//! A change of one node moves only the keys of that node where the algorithm promises it, and little more where it does
//! not.

use proptest::prelude::*;
use proptest::sample::Index;
use rehome::algorithm::{Moves, Removal, Weights};
use rehome::plan::Summary;
use rehome::{Algorithm, Cluster, Node};

use super::{clusters_of, keys_for, kinds};
use crate::disruption::{Change, check, check_failover, tally};
use crate::{cases, names};

fn promises(algorithm: &Algorithm) -> bool {
    algorithm.moves == Moves::Least
}

/// The algorithm moves as little as can be when a node is down and nothing else changes.
fn promises_when_down(algorithm: &Algorithm) -> bool {
    matches!(algorithm.moves, Moves::Least | Moves::LeastWhenDown) && algorithm.removal == Removal::Any
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn a_node_that_joins_takes_keys_only(from in clusters_of(promises), seed: u64) {
        // On anchor a node that joins takes the bucket that was removed last, so nobody may be down above it.
        let all_up = from.nodes().iter().all(Node::is_up);
        let mut to = from.clone();
        if (all_up || from.algorithm().name != "anchor") && to.add(Node::new("new")).is_ok() {
            check(&from, &to, "new", Change::Gains, &keys_for(&from, seed, 1000));
        }
    }

    #[test]
    fn a_node_that_leaves_moves_its_own_keys(from in clusters_of(promises), seed: u64, which: Index) {
        let nodes = from.nodes();
        let gone = match from.algorithm().removal {
            Removal::Any => which.get(nodes).name(),
            // The last slot: nodes are listed in the order of their slots here.
            _ => nodes[nodes.len() - 1].name(),
        };
        let mut to = from.clone();
        if to.remove([gone]).is_ok() {
            check(&from, &to, gone, Change::Loses, &keys_for(&from, seed, 1000));
        } else {
            prop_assert!(nodes.len() == 1 && from.algorithm().removal != Removal::Any);
        }
    }

    #[test]
    fn a_node_that_goes_down_moves_its_own_keys_to_the_next_of_their_lists(
        from in clusters_of(promises_when_down), seed: u64, which: Index
    ) {
        let node = which.get(from.nodes());
        prop_assume!(node.is_up());
        let mut to = from.clone();
        prop_assert!(to.set_up(node.name(), false).unwrap());
        let keys = keys_for(&from, seed, 500);
        if from.algorithm().list {
            check_failover(&from, &to, node.name(), &keys);
        } else {
            check(&from, &to, node.name(), Change::Loses, &keys);
        }
        // Coming up undoes it: it is the last that went down.
        prop_assert!(to.set_up(node.name(), true).unwrap());
        prop_assert_eq!(names(&to, &keys), names(&from, &keys));
    }

    #[test]
    fn a_weight_moves_the_nodes_own_keys(
        from in clusters_of(|algorithm| promises(algorithm) && algorithm.weights != Weights::One),
        seed: u64, which: Index, weight in 0_u32..=64
    ) {
        let node = which.get(from.nodes());
        let weight = f64::from(weight) / 64.0;
        let mut to = from.clone();
        to.set_weight(node.name(), weight).unwrap();
        let change = match weight.total_cmp(&node.weight()) {
            _ if !node.is_up() => Change::Neither,
            std::cmp::Ordering::Less => Change::Loses,
            std::cmp::Ordering::Equal => Change::Neither,
            std::cmp::Ordering::Greater => Change::Gains,
        };
        check(&from, &to, node.name(), change, &keys_for(&from, seed, 1000));
    }
}

/// Clusters of plain nodes with default parameters.
fn plain(algorithm: &Algorithm, nodes: u32) -> Cluster {
    let nodes = (0..nodes).map(|number| Node::new(format!("node-{number}")));
    Cluster::builder(algorithm.name).unwrap().nodes(nodes).build().unwrap()
}

fn moved(from: &Cluster, to: &Cluster) -> Summary {
    tally(from, to, &keys_for(from, 5, 100_000))
}

/// Clusters of those that move keys between others, and the bound on what share of all keys does. The specification
/// measured 16.3 % moved against 9.1 % on 10 nodes, and 0.18 % against 0.10 % on 1000, for lrh.
fn that_promise_less() -> impl Iterator<Item = (Cluster, f64)> {
    let bounds = [("lrh", 0.10, 0.012), ("maglev", 0.05, 0.05), ("sach", 0.05, 0.05)];
    bounds.into_iter().flat_map(|(name, at_10, at_100)| {
        let algorithm = Algorithm::named(name).unwrap();
        [(10, at_10), (100, at_100)].map(|(nodes, bound)| (plain(algorithm, nodes), bound))
    })
}

/// What moves between others stays below a bound, and the bound says something: without excess the law above would hold,
/// and belong there.
fn bounded(from: &Cluster, to: &Cluster, bound: f64, change: &str) {
    let summary = moved(from, to);
    let excess = summary.excess as f64 / summary.keys as f64;
    let what = format!("{}, {} nodes, one {change}", from.algorithm().name, from.nodes().len());
    println!("{what}: {:.2} % of the keys move between other nodes", 100.0 * excess);
    assert!(excess > 0.0 && excess < bound, "{what}: {excess}");
}

#[test]
fn what_moves_between_others_when_a_node_joins() {
    for (from, bound) in that_promise_less() {
        let mut to = from.clone();
        to.add(Node::new("new")).unwrap();
        bounded(&from, &to, bound, "joins");
    }
}

/// A Maglev table is filled anew when a node is down; sach and lrh lose nothing then, and all three do when it leaves.
#[test]
fn what_moves_between_others_when_a_node_is_down_or_leaves() {
    for (from, bound) in that_promise_less() {
        let (mut down, mut left) = (from.clone(), from.clone());
        down.set_up("node-3", false).unwrap();
        left.remove(["node-3"]).unwrap();
        match from.algorithm().name {
            "maglev" => bounded(&from, &down, bound, "is down"),
            name => assert_eq!(moved(&from, &down).excess, 0, "{name}, one of {} is down", from.nodes().len()),
        }
        bounded(&from, &left, bound, "leaves");
    }
}

/// Every algorithm that promises the least moves what a node more or less must take or give, and no other keys.
#[test]
fn a_tenth_moves() {
    for algorithm in kinds(promises) {
        let from = plain(algorithm, 10);
        let mut to = from.clone();
        to.add(Node::new("new")).unwrap();
        let summary = moved(&from, &to);
        assert_eq!(summary.excess, 0, "{}", algorithm.name);
        // The new node's share of a ring of 256 tokens or of one token and 21 probes differs from 1/11 by its own chance.
        assert!((0.07..0.12).contains(&summary.moved_fraction), "{}: {}", algorithm.name, summary.moved_fraction);
    }
    let modulo = Algorithm::named("modulo").unwrap();
    let summary = moved(&plain(modulo, 10), &plain(modulo, 11));
    assert!((0.90..0.92).contains(&summary.moved_fraction), "{}", summary.moved_fraction);
    assert!(summary.excess > summary.keys * 8 / 10);
}
