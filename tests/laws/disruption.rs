//! A change of one node moves only the keys of that node; a change of the number of slots moves half of all.

use proptest::prelude::*;
use proptest::sample::Index;
use rehome::hash::ProbeSequence;
use rehome::plan::{Summary, Tally};
use rehome::{Cluster, Node};

use crate::twin::{FULL, Order, Random};
use crate::{cases, clusters, located, name, names, some_keys, twin, words};

pub(crate) fn tally(from: &Cluster, to: &Cluster, keys: &[u64]) -> Summary {
    let mut tally = Tally::new(from, to);
    tally.add(&located(from, keys), &located(to, keys), None, |_| ()).unwrap();
    tally.summary(0)
}

/// Whether keys may move to the changed node or away from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Change {
    Gains,
    Loses,
    Neither,
}

/// Every key that moves goes to, or comes from, the node `changed`, and the plan says the same.
pub(crate) fn check(from: &Cluster, to: &Cluster, changed: &str, change: Change, keys: &[u64]) {
    let (before, after) = (names(from, keys), names(to, keys));
    let mut moved = 0;
    for (before, after) in before.iter().zip(&after).filter(|(before, after)| before != after) {
        moved += 1;
        match change {
            Change::Gains => assert_eq!(*after, Some(changed), "from {before:?}"),
            Change::Loses => assert_eq!(*before, Some(changed), "to {after:?}"),
            Change::Neither => panic!("moved from {before:?} to {after:?}"),
        }
    }
    let summary = tally(from, to, keys);
    assert_eq!((summary.moved, summary.excess, summary.least_moves), (moved, 0, moved));
}

/// The node is gone: each of its keys is on the second entry of its list.
pub(crate) fn check_failover(from: &Cluster, to: &Cluster, gone: &str, keys: &[u64]) {
    check(from, to, gone, Change::Loses, keys);
    // Without zones the second replica is the second entry of the list.
    let placement = from.placement().unwrap();
    for (word, (before, after)) in
        words(from, keys.into()).into_iter().zip(names(from, keys).iter().zip(names(to, keys)))
    {
        if *before == Some(gone) {
            let mut list = Vec::new();
            let visit = &mut |node| {
                list.push(name(from, node).unwrap());
                if list.len() == 2 { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
            };
            placement.lookup().prefer(word, visit).unwrap();
            assert_eq!(list[0], gone);
            assert_eq!(list.get(1).copied(), after);
        }
    }
}

fn weights() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), 0.02..1.0]
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn a_node_that_joins_takes_keys_only(from in clusters(), seed: u64, weight in 0.02..=1.0) {
        let mut to = from.clone();
        if to.add(Node::new("new").with_weight(weight)).is_ok() {
            check(&from, &to, "new", Change::Gains, &some_keys(seed, 2000));
        }
    }

    #[test]
    fn a_node_that_leaves_moves_its_own_keys(from in clusters(), seed: u64, which: Index) {
        prop_assume!(!from.nodes().is_empty());
        let gone = which.get(from.nodes()).name();
        let mut to = from.clone();
        to.remove([gone]).unwrap();
        check_failover(&from, &to, gone, &some_keys(seed, 2000));
    }

    #[test]
    fn up_and_down_move_the_nodes_own_keys(from in clusters(), seed: u64, which: Index) {
        prop_assume!(!from.nodes().is_empty());
        let node = which.get(from.nodes());
        let mut to = from.clone();
        prop_assert!(to.set_up(node.name(), !node.is_up()).unwrap());
        let keys = some_keys(seed, 2000);
        if node.is_up() {
            check_failover(&from, &to, node.name(), &keys);
        } else {
            check(&from, &to, node.name(), Change::Gains, &keys);
        }
    }

    #[test]
    fn a_weight_moves_the_nodes_own_keys(from in clusters(), seed: u64, which: Index, weight in weights()) {
        prop_assume!(!from.nodes().is_empty());
        let node = which.get(from.nodes());
        let mut to = from.clone();
        prop_assert_eq!(to.set_weight(node.name(), weight).unwrap(), node.weight());
        let change = match weight.total_cmp(&node.weight()) {
            _ if !node.is_up() => Change::Neither,
            std::cmp::Ordering::Less => Change::Loses,
            std::cmp::Ordering::Equal => Change::Neither,
            std::cmp::Ordering::Greater => Change::Gains,
        };
        check(&from, &to, node.name(), change, &some_keys(seed, 2000));
    }

    /// Changes that are undone, in whatever order, leave no trace.
    #[test]
    fn up_and_down_have_no_memory(cluster in clusters(), seed: u64) {
        let mut random = Random::new(seed);
        let mut changed = cluster.clone();
        let mut nodes = cluster.nodes().to_vec();
        for _ in 0..2 {
            random.shuffle(&mut nodes);
            for node in &nodes {
                changed.set_up(node.name(), !node.is_up()).unwrap();
                changed.set_weight(node.name(), 0.5).unwrap();
            }
            random.shuffle(&mut nodes);
            for node in &nodes {
                changed.set_up(node.name(), node.is_up()).unwrap();
                changed.set_weight(node.name(), node.weight()).unwrap();
            }
        }
        let keys = some_keys(seed, 500);
        prop_assert_eq!(located(&cluster, &keys), located(&changed, &keys));
    }

    #[test]
    fn scale_keeps_a_first_probe_in_the_lower_half(from in clusters(), seed: u64) {
        let n = from.slots().size();
        let mut to = from.clone();
        to.scale().unwrap();
        prop_assert_eq!(to.slots().size(), 2 * n);
        let keys = some_keys(seed, 1000);
        let (before, after) = (from.placement().unwrap(), to.placement().unwrap());
        for word in words(&from, keys.as_slice().into()) {
            let (old, length) = before.lookup().locate(word);
            let first = ProbeSequence::new(word).word(0);
            if length == 1 && first & (2 * n - 1) < n {
                prop_assert_eq!(after.lookup().locate(word).0, old);
            }
        }
        // Shrinking undoes it; the queue is the ascending one then.
        prop_assert_eq!(to.shrink().unwrap(), []);
        prop_assert_eq!(to.nodes(), from.nodes());
        prop_assert_eq!(to.slots(), from.slots());
        prop_assert_eq!(located(&to, &keys), located(&from, &keys));
    }
}

#[test]
fn scale_moves_half_of_all_keys() {
    for n in [1_u32, 2, 16, 1024] {
        let from = twin::cluster("dx", &vec![FULL; n as usize], Order::Shuffled(1));
        let mut to = from.clone();
        to.scale().unwrap();
        let keys = some_keys(u64::from(n), 100_000);
        let stay =
            names(&from, &keys).iter().zip(names(&to, &keys)).filter(|(before, after)| **before == *after).count();
        // Half by the first probe, and of the others those whose next hit happens to be the same slot.
        let p = 0.5 + 0.5 / f64::from(n);
        let (mean, sigma) = (1e5 * p, (1e5 * p * (1.0 - p)).sqrt());
        assert!((stay as f64 - mean).abs() <= 5.0 * sigma, "{stay} of 100000 stay on {n} slots, {mean} are expected");
    }
}

#[test]
fn crc32c_moves_only_the_keys_of_the_changed_node() {
    let mut random = Random::new(1);
    for n in [3_u32, 10, 97, 1000] {
        let mut t = vec![FULL; n as usize];
        t[..n as usize / 3].fill(0);
        random.shuffle(&mut t);
        let from = twin::cluster("dx-crc32c", &t, Order::Shuffled(2));
        let keys: Vec<u64> = (0..5000).map(|_| random.word() >> 32).collect();
        let gone = from.nodes()[0].name();
        let (mut without, mut down, mut more) = (from.clone(), from.clone(), from.clone());
        without.remove([gone]).unwrap();
        down.set_up(gone, false).unwrap();
        more.add(Node::new("new")).unwrap();
        check(&from, &without, gone, Change::Loses, &keys);
        check(&from, &down, gone, Change::Loses, &keys);
        check(&from, &more, "new", Change::Gains, &keys);
    }
}
