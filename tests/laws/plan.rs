//! A plan is the difference of two lookups, counted here a second time from the definitions in words.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rehome::plan::{Side, Tally};
use rehome::{Cluster, Node};

use crate::twin::Random;
use crate::{cases, clusters, located, names, relisted, some_keys};

/// Another cluster, by a few edits of any kind, its nodes listed in another order.
fn edited(from: &Cluster, seed: u64) -> Cluster {
    let mut random = Random::new(seed);
    let mut to = from.clone();
    for step in 0..random.below(12) {
        let some = |to: &Cluster, random: &mut Random| {
            let count = u32::try_from(to.nodes().len()).unwrap();
            (count > 0).then(|| to.nodes()[random.below(count) as usize].name().to_owned())
        };
        match (random.below(7), some(&to, &mut random)) {
            // A full cluster stays as it is.
            (0, _) => drop(to.add(Node::new(format!("new{step}")).with_weight(0.02 + 0.9 * random.unit()))),
            (1, Some(node)) => to.remove([node.as_str()]).unwrap(),
            (2 | 3, Some(node)) => drop(to.set_up(&node, random.below(2) == 0).unwrap()),
            (4 | 5, Some(node)) => drop(to.set_weight(&node, 0.02 + 0.9 * random.unit()).unwrap()),
            (6, _) if random.below(4) == 0 && to.slots().size() <= 256 => to.scale().unwrap(),
            _ => {}
        }
    }
    relisted(&to, seed)
}

/// What a name is in a cluster: eligible, weight, slot.
fn described<'a>(cluster: &'a Cluster, name: &str) -> Option<&'a Node> {
    cluster.nodes().iter().find(|node| node.name() == name)
}

/// "Old node lost nothing (still eligible, weight not lower, same slot)": unplaced has nothing to lose.
fn lost_nothing(from: &Cluster, to: &Cluster, name: Option<&str>) -> bool {
    let Some(name) = name else { return true };
    let before = described(from, name).unwrap();
    described(to, name)
        .is_some_and(|after| after.is_eligible() && after.weight() >= before.weight() && after.slot() == before.slot())
}

/// "New node gained nothing (eligible before, weight not higher, same slot)".
fn gained_nothing(from: &Cluster, to: &Cluster, name: Option<&str>) -> bool {
    let Some(name) = name else { return true };
    let after = described(to, name).unwrap();
    described(from, name).is_some_and(|before| {
        before.is_eligible() && after.weight() <= before.weight() && after.slot() == before.slot()
    })
}

/// Max/Avg and cv of the eligible nodes.
fn balance(cluster: &Cluster, keys: usize, load: impl Fn(&str) -> u64) -> Option<(f64, f64)> {
    let eligible: Vec<&Node> = cluster.nodes().iter().filter(|node| node.is_eligible()).collect();
    if keys == 0 || eligible.is_empty() {
        return None;
    }
    let sum: f64 = eligible.iter().map(|node| node.weight()).sum();
    let ratio = |node: &&Node| load(node.name()) as f64 / (keys as f64 * node.weight() / sum);
    let ratios: Vec<f64> = eligible.iter().map(ratio).collect();
    let count = ratios.len() as f64;
    let mean = ratios.iter().sum::<f64>() / count;
    let variance = ratios.iter().map(|ratio| (ratio - mean) * (ratio - mean)).sum::<f64>() / count;
    Some((ratios.into_iter().fold(0.0, f64::max), variance.sqrt()))
}

fn same_balance(side: &Side, wanted: Option<(f64, f64)>) {
    match (side.max_over_avg.zip(side.cv), wanted) {
        (None, None) => {}
        (Some((max, cv)), Some((wanted_max, wanted_cv))) => {
            assert!((max - wanted_max).abs() < 1e-9 && (cv - wanted_cv).abs() < 1e-9, "{side:?}");
        }
        (found, wanted) => panic!("{found:?} is not {wanted:?}"),
    }
}

type Totals = BTreeMap<(Option<String>, Option<String>), (u64, u64)>;

fn check(from: &Cluster, to: &Cluster, keys: &[u64], sizes: Option<&[u64]>, seed: u64) {
    // Counted in pieces of any length.
    let (nodes_before, nodes_after) = (located(from, keys), located(to, keys));
    let mut tally = Tally::new(from, to);
    let (mut random, mut start, mut moved_rows) = (Random::new(seed), 0, Vec::new());
    while start < keys.len() {
        let end = keys.len().min(start + random.below(400) as usize);
        let sizes = sizes.map(|sizes| &sizes[start..end]);
        tally
            .add(&nodes_before[start..end], &nodes_after[start..end], sizes, |row| moved_rows.push(start + row))
            .unwrap();
        start = end;
    }

    // Counted by name.
    let (before, after) = (names(from, keys), names(to, keys));
    let mut flows = Totals::new();
    let mut loads: BTreeMap<Option<String>, [u64; 4]> = BTreeMap::new();
    for node in from.nodes().iter().chain(to.nodes()) {
        loads.entry(Some(node.name().to_owned())).or_default();
    }
    let mut wanted_rows = Vec::new();
    for row in 0..keys.len() {
        let size = sizes.map_or(0, |sizes| sizes[row]);
        let (old, new) = (before[row].map(str::to_owned), after[row].map(str::to_owned));
        let load = loads.entry(old.clone()).or_default();
        load[0] += 1;
        load[2] += size;
        let load = loads.entry(new.clone()).or_default();
        load[1] += 1;
        load[3] += size;
        if old != new {
            wanted_rows.push(row);
            let flow = flows.entry((old, new)).or_default();
            *flow = (flow.0 + 1, flow.1 + size);
        }
    }
    assert_eq!(moved_rows, wanted_rows);

    let found = tally.flows();
    for flow in &found {
        let (old, new) = (flow.from.as_deref(), flow.to.as_deref());
        assert_eq!(flow.excess, lost_nothing(from, to, old) && gained_nothing(from, to, new), "{flow:?}");
        assert_eq!(flow.bytes.is_some(), sizes.is_some() && !keys.is_empty());
    }
    let as_map: Totals =
        found.iter().map(|flow| ((flow.from.clone(), flow.to.clone()), (flow.keys, flow.bytes.unwrap_or(0)))).collect();
    assert_eq!(as_map.len(), found.len());
    assert_eq!(as_map, flows);
    let found = tally.loads();
    let as_map: BTreeMap<_, _> = found
        .iter()
        .map(|load| {
            let bytes = load.bytes.unwrap_or((0, 0));
            (load.name.clone(), [load.keys.0, load.keys.1, bytes.0, bytes.1])
        })
        .collect();
    assert_eq!(as_map.len(), found.len());
    assert_eq!(as_map, loads);

    // Nodes come in the order of the first cluster, then those only the second has; unplaced is last.
    let fresh = to.nodes().iter().filter(|node| described(from, node.name()).is_none());
    let order: Vec<&str> = from.nodes().iter().chain(fresh).map(Node::name).collect();
    let rank = |name: &Option<String>| {
        name.as_deref().map_or(order.len(), |name| order.iter().position(|n| *n == name).unwrap())
    };
    assert!(tally.flows().iter().map(|flow| (rank(&flow.from), rank(&flow.to))).is_sorted());
    assert!(found.iter().map(|load| rank(&load.name)).eq(0..found.len()));

    let summary = tally.summary(3);
    let total = |excess_only: bool, bytes: bool| -> u64 {
        let counted = flows.iter().filter(|((old, new), _)| {
            !excess_only || lost_nothing(from, to, old.as_deref()) && gained_nothing(from, to, new.as_deref())
        });
        counted.map(|(_, (keys, size))| if bytes { *size } else { *keys }).sum()
    };
    let least = |at: usize| -> u64 { loads.values().map(|load| load[at].saturating_sub(load[at + 1])).sum() };
    let sized = |value: u64| sizes.filter(|_| !keys.is_empty()).map(|_| value);
    let unplaced = loads.get(&None).copied().unwrap_or_default();
    assert_eq!((summary.keys, summary.bad_rows), (keys.len() as u64, 3));
    assert_eq!((summary.moved, summary.excess), (total(false, false), total(true, false)));
    assert_eq!(summary.least_moves, least(0));
    assert!(summary.least_moves <= summary.moved);
    assert_eq!(summary.unplaced, unplaced[1]);
    assert_eq!((summary.from.unplaced, summary.to.unplaced), (unplaced[0], unplaced[1]));
    assert_eq!(summary.bytes, sized(sizes.map_or(0, |sizes| sizes.iter().sum())));
    assert_eq!((summary.moved_bytes, summary.excess_bytes), (sized(total(false, true)), sized(total(true, true))));
    assert_eq!(summary.least_moves_bytes, sized(least(2)));
    let fraction = if keys.is_empty() { 0.0 } else { summary.moved as f64 / keys.len() as f64 };
    assert!((summary.moved_fraction - fraction).abs() < 1e-12);
    for (cluster, side, at) in [(from, &summary.from, 0), (to, &summary.to, 1)] {
        let eligible = cluster.nodes().iter().filter(|node| node.is_eligible()).count();
        assert_eq!((side.nodes, side.eligible), (cluster.nodes().len(), eligible));
        same_balance(side, balance(cluster, keys.len(), |name| loads[&Some(name.to_owned())][at]));
    }
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn equals_two_lookups(from in clusters(), seed: u64, count in 0_usize..3000, sized: bool) {
        let keys = some_keys(seed, count);
        let mut random = Random::new(seed);
        let sizes: Vec<u64> = keys.iter().map(|_| u64::from(random.below(5000))).collect();
        check(&from, &edited(&from, seed), &keys, sized.then_some(&sizes[..]), seed);
    }

    #[test]
    fn of_two_unrelated_clusters(from in clusters(), to in clusters(), seed: u64) {
        check(&from, &to, &some_keys(seed, 1000), None, seed);
    }

    #[test]
    fn to_the_same_cluster_is_empty(cluster in clusters(), seed: u64) {
        let keys = some_keys(seed, 1000);
        let other = relisted(&cluster, seed);
        let mut tally = Tally::new(&cluster, &other);
        tally.add(&located(&cluster, &keys), &located(&other, &keys), None, |row| panic!("row {row} moves")).unwrap();
        prop_assert_eq!(tally.flows(), []);
        prop_assert_eq!(tally.summary(0).moved, 0);
    }
}

/// Above 512 nodes flows are kept in another way.
#[test]
fn of_many_nodes() {
    let nodes = (0..900).map(|number| Node::new(format!("n{number}")));
    let from = Cluster::builder("dx").unwrap().slots(1024).nodes(nodes).build().unwrap();
    let keys = some_keys(1, 20_000);
    let sizes: Vec<u64> = (0..20_000).collect();
    for seed in 0..4 {
        check(&from, &edited(&from, seed), &keys, Some(&sizes), seed);
    }
}
