//! SACH against its literal twin, key by key and step by step, and against the golden vectors.

use serde_json::Value;

use super::super::maglev::tests::{WEIGHTS, golden_nodes, golden_quanta, nodes, numbers, raw, vectors};
use super::*;
use crate::hash::fmix64;

fn ups(nodes: &[HashedNode]) -> Vec<bool> {
    nodes.iter().map(|node| node.up).collect()
}

fn assert_golden(nodes: &[HashedNode], size: u32, digests: &[u64], golden: &Value) {
    let sach = Sach::new(nodes, size).unwrap();
    let (table, up) = (scalar::slow_update(nodes, size), ups(nodes));
    let located: Vec<_> = digests.iter().map(|digest| sach.locate(*digest)).collect();
    let by_twin: Vec<_> = digests.iter().map(|digest| scalar::lookup(*digest, &table, &up)).collect();
    assert_eq!(located, by_twin);
    assert_eq!(raw(&located.into_iter().map(|(node, _)| node).collect::<Vec<_>>()), numbers(golden));
}

#[test]
fn places_as_the_golden_vectors() {
    let vectors = vectors();
    let digests = numbers(&vectors["digest"]);
    let quanta = golden_quanta(&vectors);
    let plain = golden_nodes(&vectors, &vectors["up"], None);
    let weighted = golden_nodes(&vectors, &vectors["up"], Some(&quanta));
    assert_eq!(digests.len(), 256);
    assert_golden(&plain, 1009, &digests, &vectors["sach_1009"]["node"]);
    assert_eq!(vectors["edge"]["sach_weighted"]["size"].as_u64(), Some(1009));
    assert_golden(&weighted, 1009, &digests[..64], &vectors["edge"]["sach_weighted"]["node"]);

    let small = &vectors["edge"]["sach_small"];
    assert_eq!(small["size"].as_u64(), Some(3));
    assert_golden(&golden_nodes(&vectors, &small["up"], None), 3, &digests[..64], &small["node"]);

    let down = golden_nodes(&vectors, &Value::from(vec![false; 12]), None);
    let none = Sach::new(&down, 1009).unwrap().locate(digests[0]);
    assert_eq!((u64::from(none.0.raw()), none.1), (vectors["sach_1009"]["none_up"].as_u64().unwrap(), 0));
    assert_eq!(scalar::lookup(digests[0], &scalar::slow_update(&down, 1009), &[false; 12]).0, NodeId::NONE);
}

#[test]
fn equals_the_literal_twin() {
    for count in [0, 1, 2, 3, 64, 65, 90] {
        for up in [0, 1, 6, 8] {
            for (seed, weights) in (0..).zip(WEIGHTS) {
                let nodes = nodes(seed * 1000 + count * 8 + up, count, up, weights);
                for size in [2, 3, 101, 4099] {
                    let Ok(sach) = Sach::new(&nodes, size) else { continue };
                    let (table, up) = (scalar::slow_update(&nodes, size), ups(&nodes));
                    assert_eq!(*sach.table(), *table);
                    assert_eq!(estimate(count, size, 0.5).memory_bytes, sach.memory_bytes());
                    let eligible = nodes.iter().any(HashedNode::is_eligible);
                    for digest in (0..100).map(fmix64).chain([0, u64::MAX]) {
                        let (node, steps) = scalar::lookup(digest, &table, &up);
                        assert_eq!(sach.locate(digest), (node, if eligible { steps } else { 0 }));
                        assert_eq!(eligible, node != NodeId::NONE);
                    }
                }
            }
        }
    }
}

#[test]
fn the_only_node_up_is_found_for_every_key() {
    let mut nodes = nodes(7, 100, 0, |_| 65_536);
    nodes[42].up = true;
    let sach = Sach::new(&nodes, 101).unwrap();
    let mut longest = 0;
    for digest in (0..2000).map(fmix64) {
        let (node, steps) = sach.locate(digest);
        assert_eq!(node, NodeId::new(42));
        longest = longest.max(steps);
    }
    assert!((95..=101).contains(&longest), "{longest}");
}

#[test]
fn a_node_that_goes_down_moves_only_its_own_keys() {
    let before = nodes(3, 40, 6, |random| 1000 + u32::from(random.to_le_bytes()[2]));
    let mut after = before.clone();
    let gone = after.iter().position(|node| node.up).unwrap();
    after[gone].up = false;
    let (before, after) = (Sach::new(&before, 4099).unwrap(), Sach::new(&after, 4099).unwrap());
    for digest in (0..5000).map(fmix64) {
        let (old, new) = (before.locate(digest).0, after.locate(digest).0);
        assert!(old == new || old.index() == Some(gone));
        assert_ne!(new.index(), Some(gone));
    }
}

#[test]
fn searches_are_as_long_as_estimated() {
    let nodes = nodes(11, 200, 4, |_| 65_536);
    let up = nodes.iter().filter(|node| node.up).count() as f64;
    let sach = Sach::new(&nodes, 20_011).unwrap();
    let keys = 20_000;
    let steps: u64 = (0..keys).map(|key| sach.locate(fmix64(key)).1).sum();
    let mean = steps as f64 / keys as f64;
    let expected = estimate(200, 20_011, up / 200.0).steps;
    assert!((mean - expected).abs() < 0.1, "{mean}, not {expected}");
    assert_eq!(estimate(200, 101, 0.0).steps, 0.0);
    assert_eq!(estimate(200, 101, 1e-9).steps, 101.0);
}

#[test]
fn a_node_without_an_entry_is_refused_though_it_is_down() {
    let mut nodes = nodes(1, 3, 8, |_| 65_536);
    nodes[1] = HashedNode { quantum: 1024, up: false, ..nodes[1] };
    assert!(Sach::new(&nodes, 61).is_err() && Sach::new(&nodes, 101).is_ok());
    assert!(super::super::maglev::check(&nodes, 61, &by_position).is_ok());
    assert!(Sach::new(&nodes, 102).is_err());
}

#[test]
fn there_is_no_list() {
    let sach = Sach::new(&nodes(1, 3, 8, |_| 65_536), 101).unwrap();
    assert!(sach.prefer(1, &mut |_| ControlFlow::Continue(())).is_err());
}
