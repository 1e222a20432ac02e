//! Comparisons against plain loops over every registered algorithm.

use std::collections::HashMap;

use super::*;
use crate::algorithm::algorithms;
use crate::keys::KeyBuffer;
use crate::{Key, Node};

/// Every cost can be afforded.
const ANY: fn(&Cluster) -> Result<()> = |_| Ok(());

fn engine(threads: usize) -> Engine {
    Engine::builder().threads(threads).build().unwrap()
}

/// Keys that every algorithm takes.
fn keys(count: u64) -> Vec<u64> {
    (0..count).map(|key| key * 2_654_435_761 % (1 << 32)).collect()
}

fn row(comparison: &Comparison, algorithm: &str) -> Row {
    comparison.rows().into_iter().find(|row| row.algorithm == algorithm).expect("a row")
}

/// The name of a key's node, one key at a time.
fn names(cluster: &Cluster, keys: &[u64]) -> Vec<Option<String>> {
    let placement = cluster.placement().unwrap();
    let name = |key: &u64| placement.node_name(placement.locate(Key::Integer(*key)).unwrap()).map(str::to_owned);
    keys.iter().map(name).collect()
}

#[test]
fn moved_keys_are_those_whose_nodes_differ() {
    let keys = keys(5000);
    let ten = Change::of(10);
    for change in [
        ten.clone().join(1),
        ten.clone().join(3).leave(["node-9"]),
        ten.clone().leave(["node-3", "node-0"]),
        ten.clone().down(["node-4"]),
        ten.clone().leave(["node-9"]),
        Change::of(1).leave(["node-0"]),
        Change::of(2).down(["node-0", "node-1"]),
    ] {
        let mut comparison = Comparison::of(&change, algorithms().iter().copied(), ANY).unwrap();
        comparison.add(&engine(2), &keys).unwrap();
        for (row, algorithm) in comparison.rows().into_iter().zip(algorithms()) {
            assert_eq!(row.algorithm, algorithm.name);
            let clusters = change.clusters(algorithm).and_then(|(from, to)| {
                from.placement()?;
                to.placement()?;
                Ok((from, to))
            });
            let Ok((from, to)) = clusters else {
                assert_eq!((row.reason, row.figures), (clusters.err().map(|error| error.to_string()), None));
                continue;
            };
            let figures = row.figures.unwrap();
            let (before, after) = (names(&from, &keys), names(&to, &keys));
            let moved = before.iter().zip(&after).filter(|(before, after)| before != after).count() as u64;
            assert_eq!((figures.keys, figures.moved), (5000, moved), "{} {change:?}", algorithm.name);
            assert!(figures.excess <= moved && figures.ideal <= moved);
            let count = |names: &[Option<String>]| {
                let mut counts = HashMap::new();
                names.iter().for_each(|name| *counts.entry(name.clone()).or_insert(0_u64) += 1);
                counts
            };
            let (before, after) = (count(&before), count(&after));
            let nodes = figures.nodes.unwrap();
            let fewer = |node: &NodeKeys| node.before.unwrap_or(0).saturating_sub(node.after.unwrap_or(0));
            assert_eq!(figures.ideal, nodes.iter().map(fewer).sum::<u64>());
            for node in &nodes {
                for (cluster, side, counts) in [(&from, node.before, &before), (&to, node.after, &after)] {
                    let there = node.name.as_ref().is_none_or(|name| cluster.position(name).is_some());
                    assert_eq!(side, there.then(|| counts.get(&node.name).copied().unwrap_or(0)));
                }
            }
            for (fair, eligible) in [
                (nodes.iter().filter_map(|node| node.fair_before).sum::<f64>(), from.placement().unwrap().eligible()),
                (nodes.iter().filter_map(|node| node.fair_after).sum(), to.placement().unwrap().eligible()),
            ] {
                assert!((fair - if eligible > 0 { 5000.0 } else { 0.0 }).abs() < 1e-6, "{fair}");
            }
            assert_eq!(figures.unplaced, after.get(&None).copied().unwrap_or(0));
            assert!(figures.build_seconds > 0.0 && figures.keys_per_second.unwrap() > 0.0);
        }
    }
}

/// Figures without the times.
fn counted(comparison: &Comparison) -> Vec<Row> {
    let mut rows = comparison.rows();
    for figures in rows.iter_mut().filter_map(|row| row.figures.as_mut()) {
        (figures.build_seconds, figures.keys_per_second) = (0.0, None);
    }
    rows
}

struct Column(Vec<u64>);

impl KeyColumn for Column {
    fn keys(&self, _side: usize) -> Keys<'_> {
        Keys::from(&self.0)
    }
}

#[test]
fn batches_and_threads_make_no_difference() {
    let keys = keys(140_000);
    let change = Change::of(7).join(1);
    let new = || Comparison::of(&change, algorithms().iter().copied(), ANY).unwrap();
    let mut whole = new();
    whole.add(&engine(1), &keys).unwrap();
    let mut pieces = new();
    for piece in keys.chunks(9999) {
        pieces.add(&engine(3), piece).unwrap();
    }
    let mut columns = new();
    let owned: Vec<_> = keys.chunks(31_000).map(|piece| Arc::new(Column(piece.to_vec()))).collect();
    columns.add_columns(&engine(2), &owned).unwrap();
    assert_eq!(counted(&pieces), counted(&whole));
    assert_eq!(counted(&columns), counted(&whole));
    let costs = whole.costs();
    assert!(costs.place.cpu.as_nanos() > 0 && costs.write.wall.as_nanos() > 0);
}

#[test]
fn keys_that_one_algorithm_refuses_are_its_reason_only() {
    let change = Change::of(5).join(1);
    let mut text = KeyBuffer::new();
    (0..100).for_each(|number| text.push(format!("user:{number}").as_bytes()).unwrap());
    let mut comparison = Comparison::of(&change, algorithms().iter().copied(), ANY).unwrap();
    comparison.add(&engine(1), &text).unwrap();
    let refused = row(&comparison, "dx-crc32c");
    assert!(refused.reason.unwrap().starts_with("key \"user:0\" is bytes, but dx-crc32c"));
    assert_eq!(refused.figures, None);
    assert_eq!(row(&comparison, "dx").figures.unwrap().keys, 100);
    assert!(!comparison.is_over());

    let mut comparison = Comparison::of(&change, [Algorithm::named("dx-crc32c").unwrap()], ANY).unwrap();
    comparison.add(&engine(1), &vec![7, 8]).unwrap();
    assert_eq!(row(&comparison, "dx-crc32c").figures.unwrap().keys, 2);
    comparison.add(&engine(1), &vec![9, 1 << 32]).unwrap();
    assert!(comparison.is_over());
    // Once out, out.
    comparison.add(&engine(1), &vec![9]).unwrap();
    assert!(row(&comparison, "dx-crc32c").reason.unwrap().starts_with("key 4294967296 is not in 0..2^32"));
}

#[test]
fn a_change_that_one_algorithm_refuses_is_its_reason_only() {
    let change = Change::of(3).leave(["node-1"]);
    let comparison = Comparison::of(&change, algorithms().iter().copied(), ANY).unwrap();
    let jump = row(&comparison, "jump");
    assert!(jump.reason.as_ref().unwrap().contains("node-1"), "{jump:?}");
    assert_eq!(jump.figures, None);
    assert!(row(&comparison, "dx").figures.is_some());
    assert!(Comparison::of(&Change::of(1).leave(["node-1"]), algorithms().iter().copied(), ANY).is_err());
}

#[test]
fn described_clusters_are_one_row() {
    let from = Cluster::builder("dx")
        .unwrap()
        .nodes([Node::new("a"), Node::new("b").with_weight(0.5), Node::new("c").with_up(false)])
        .build()
        .unwrap();
    let mut to = from.clone();
    to.set_weight("b", 1.0).unwrap();
    let keys = keys(30_000);
    let mut comparison = Comparison::between(&from, &to).unwrap();
    comparison.add(&engine(2), &keys).unwrap();
    let [row] = &comparison.rows()[..] else { panic!("one row") };
    let figures = row.figures.clone().unwrap();
    assert_eq!((row.algorithm.as_str(), figures.excess), ("dx", 0));
    let nodes = figures.nodes.unwrap();
    assert_eq!(nodes.iter().map(|node| node.fair_before).collect::<Vec<_>>(), [Some(20_000.0), Some(10_000.0), None]);
    assert_eq!((nodes[0].fair_after, nodes[2].before, nodes[2].after), (Some(15_000.0), Some(0), Some(0)));

    let other = Cluster::builder("dx-crc32c").unwrap().nodes(["a", "b"].map(Node::new)).build().unwrap();
    assert_eq!(Comparison::between(&from, &other).unwrap().rows()[0].algorithm, "dx to dx-crc32c");
}

#[test]
fn without_keys_there_is_no_balance_to_tell() {
    let comparison = Comparison::of(&Change::of(3).join(1), [Algorithm::named("dx").unwrap()], ANY).unwrap();
    let figures = row(&comparison, "dx").figures.unwrap();
    assert_eq!((figures.keys, figures.moved, figures.ideal_fraction), (0, 0, 0.0));
    assert_eq!((figures.max_over_avg, figures.cv_before, figures.keys_per_second), (None, None, None));
    assert!(figures.nodes.unwrap().iter().all(|node| node.fair_before.unwrap_or(0.0) == 0.0));
}

#[test]
fn what_cannot_be_afforded_is_the_reason_of_its_row() {
    let no_rings = |cluster: &Cluster| match cluster.algorithm().name {
        "ring" if cluster.nodes().len() > 10 => Err(Error::invalid("11 nodes cost too much", "use 10")),
        _ => Ok(()),
    };
    let comparison = Comparison::of(&Change::of(10).join(1), algorithms().iter().copied(), no_rings).unwrap();
    for row in comparison.rows() {
        let reason = (row.algorithm == "ring").then(|| "11 nodes cost too much: use 10".to_owned());
        assert_eq!((row.figures.is_none(), row.reason), (reason.is_some(), reason));
    }
}
