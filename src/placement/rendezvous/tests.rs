//! Rendezvous against its literal twin, on every key and the whole list, and against the golden vectors.

use serde_json::Value;

use super::*;
use crate::hash::{fmix64, mix32};

// ---- clusters and keys -------------------------------------------------------------------------------------------

fn vectors() -> Value {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/placement-v1.json"));
    serde_json::from_str(text).unwrap()
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

/// The 12 nodes of the vectors, with weight 1 or with those of the vectors.
fn golden_nodes(vectors: &Value, weighted: bool) -> Vec<HashedNode> {
    // The weights of the vectors are quarters.
    let quarters = |weight: f64| (0..100_u32).find(|quarters| f64::from(*quarters) == weight * 4.0).unwrap();
    let quantum = |weight: &Value| quarters(weight.as_f64().unwrap()) * 16_384;
    let weights = vectors["weights"].as_array().unwrap();
    let up = vectors["up"].as_array().unwrap();
    let node = |((hash, weight), up): ((u64, &Value), &Value)| HashedNode {
        hash,
        quantum: if weighted { quantum(weight) } else { 65_536 },
        tokens: 0,
        up: up.as_bool().unwrap(),
    };
    numbers(&vectors["node_hashes"]).into_iter().zip(weights).zip(up).map(node).collect()
}

/// Nodes of which about `up` in 8 are up, with quanta from `quantum`.
fn nodes(seed: u64, count: u64, up: u64, quantum: impl Fn(u64) -> u32) -> Vec<HashedNode> {
    let node = |i: u64| {
        let random = fmix64(seed << 32 | i);
        HashedNode { hash: fmix64(random), quantum: quantum(random), tokens: 0, up: random % 8 < up }
    };
    (1..=count).map(node).collect()
}

fn keys(count: u64) -> impl Iterator<Item = u64> + Clone {
    (0..count).map(|key| fmix64(key + 77)).chain([0, u64::MAX, 1 << 32, u64::from(u32::MAX)])
}

fn list(rendezvous: &Rendezvous, digest: u64, most: usize) -> Vec<NodeId> {
    let mut list = Vec::new();
    let push = &mut |node| {
        list.push(node);
        if list.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    rendezvous.prefer(digest, push).unwrap();
    list
}

fn numbers_of(list: &[NodeId]) -> Vec<u64> {
    list.iter().map(|node| u64::from(node.raw())).collect()
}

// ---- the golden vectors ------------------------------------------------------------------------------------------

fn assert_golden(name: &str, weighted: bool, lists: usize) {
    let vectors = vectors();
    let digests = numbers(&vectors["digest"]);
    let nodes = golden_nodes(&vectors, weighted);
    let rendezvous = Rendezvous::new(&nodes, weighted);
    let heads = numbers(&vectors[name]["node"]);
    assert_eq!((heads.len(), digests.len()), (256, 256));
    for (digest, head) in digests.iter().zip(heads) {
        assert_eq!(u64::from(rendezvous.locate(*digest).0.raw()), head);
        assert_eq!(numbers_of(&scalar::preferences(*digest, &nodes, weighted))[0], head);
    }
    let golden = vectors[name]["replicas_3"].as_array().unwrap();
    assert_eq!(golden.len(), lists);
    for (digest, replicas) in digests.iter().zip(golden) {
        assert_eq!(numbers_of(&list(&rendezvous, *digest, 3)), numbers(replicas));
    }
}

#[test]
fn places_as_the_golden_vectors() {
    assert_golden("rendezvous", false, 64);
    assert_golden("rendezvous_weighted", true, 32);
    let vectors = vectors();
    let down: Vec<_> = golden_nodes(&vectors, false).into_iter().map(|node| HashedNode { up: false, ..node }).collect();
    let none = Rendezvous::new(&down, false).locate(numbers(&vectors["digest"])[0]);
    assert_eq!((u64::from(none.0.raw()), none.1), (vectors["rendezvous"]["none_up"].as_u64().unwrap(), 0));
}

// ---- the literal twin --------------------------------------------------------------------------------------------

fn assert_twin(nodes: &[HashedNode], keys: impl Iterator<Item = u64> + Clone) {
    let eligible = nodes.iter().filter(|node| node.is_eligible()).count();
    for weighted in [false, true] {
        let rendezvous = Rendezvous::new(nodes, weighted);
        let estimate = estimate(eligible as u64, weighted);
        assert_eq!((estimate.memory_bytes, estimate.steps), (rendezvous.memory_bytes(), eligible as f64));
        for digest in keys.clone() {
            let expected = scalar::preferences(digest, nodes, weighted);
            assert_eq!(list(&rendezvous, digest, usize::MAX), expected, "digest {digest}, weighted {weighted}");
            let head = expected.first().copied().unwrap_or(NodeId::NONE);
            assert_eq!(rendezvous.locate(digest), (head, eligible as u64));
        }
    }
}

#[test]
fn equals_the_literal_twin() {
    let one = |_| 65_536;
    let uneven = |random: u64| [0, 1, 2, 65_536, 65_537, 1 << 20, u32::MAX][(random >> 8) as usize % 7];
    for count in [0, 1, 2, 3, 7, 8, 9, 10, 33, 200] {
        for up in [0, 1, 6, 8] {
            assert_twin(&nodes(count * 8 + up, count, up, one), keys(40));
            assert_twin(&nodes(count * 8 + up, count, up, uneven), keys(40));
        }
    }
}

/// A node that draws the same word as `node` for the key with this digest.
fn tied(digest: u64, node: HashedNode, low: u32) -> HashedNode {
    let ((a, b), (its_low, high)) = (halves(digest), halves(node.hash));
    let sum = mix32(a ^ its_low).wrapping_add(b ^ high);
    let high = b ^ sum.wrapping_sub(mix32(a ^ low));
    HashedNode { hash: u64::from(high) << 32 | u64::from(low), ..node }
}

#[test]
fn the_smaller_hash_wins_a_tie() {
    for digest in keys(200) {
        let mut nodes = nodes(digest, 3, 8, |_| 65_536);
        let ties: Vec<_> = (1..=12).map(|low| tied(digest, nodes[0], low)).collect();
        assert_twin(&ties, [digest].into_iter());
        nodes.extend(ties);
        nodes[6].up = digest % 2 == 0;
        assert_twin(&nodes, [digest].into_iter());
        nodes.reverse();
        assert_twin(&nodes, [digest].into_iter());
    }
}

/// The number that `mix32` maps to this one.
fn unmixed(mixed: u32) -> u32 {
    // Each step doubles the digits that are right.
    let inverse = |odd: u32| (0..5).fold(odd, |x, _| x.wrapping_mul(2_u32.wrapping_sub(odd.wrapping_mul(x))));
    let unshift = |x: u32| x ^ x >> 15 ^ x >> 30;
    let x = unshift(mixed).wrapping_mul(inverse(0xD35A_2D97));
    let x = unshift(x).wrapping_mul(inverse(0x21F0_AAAD));
    x ^ x >> 16
}

/// A node that draws the word `wanted` for the key with this digest.
fn drawing(digest: u64, wanted: u32, quantum: u32, low: u32) -> HashedNode {
    let (a, b) = halves(digest);
    let high = b ^ unmixed(wanted).wrapping_sub(mix32(a ^ low));
    HashedNode { hash: u64::from(high) << 32 | u64::from(low), quantum, tokens: 0, up: true }
}

/// Words 2 and 3 cost the same: the race ties, the comparison of words does not.
#[test]
fn words_are_compared_to_the_last_bit() {
    for digest in keys(100) {
        let nodes = [2, 3].map(|wanted| drawing(digest, wanted, 65_536, 7));
        assert_twin(&nodes, [digest].into_iter());
        let smaller_hash = NodeId::new(u32::from(nodes[1].hash < nodes[0].hash));
        assert_eq!(list(&Rendezvous::new(&nodes, false), digest, 1), [NodeId::new(1)]);
        assert_eq!(list(&Rendezvous::new(&nodes, true), digest, 1), [smaller_hash]);
    }
}

#[test]
fn equal_ratios_of_different_weights_tie() {
    // Costs are 2^26 and 2^27, weights 1 and 2: equal ratios, so that the ascending hash decides.
    let digest = fmix64(3);
    let half = drawing(digest, 1 << 31, 65_536, 5);
    let quarter = drawing(digest, 1 << 30, 131_072, 9);
    let words = [half, quarter].map(|node| word(halves(digest), halves(node.hash)));
    assert_eq!(words.map(neg_log2), [1 << 26, 1 << 27]);
    for nodes in [[half, quarter], [quarter, half]] {
        let first = if nodes[0].hash < nodes[1].hash { 0 } else { 1 };
        assert_eq!(Rendezvous::new(&nodes, true).locate(digest).0, NodeId::new(first));
        assert_twin(&nodes, [digest].into_iter());
    }
}

// ---- laws --------------------------------------------------------------------------------------------------------

#[test]
fn shares_are_those_of_the_weights() {
    let nodes = nodes(5, 7, 8, |random| 65_536 * (1 + halves(random).1 % 5));
    let rendezvous = Rendezvous::new(&nodes, true);
    let mut counts = [0_u32; 7];
    let total: f64 = nodes.iter().map(|node| f64::from(node.quantum)).sum();
    let keys = 100_000;
    for key in 0..keys {
        counts[rendezvous.locate(fmix64(key)).0.index().unwrap()] += 1;
    }
    for (node, count) in nodes.iter().zip(counts) {
        let expected = keys as f64 * f64::from(node.quantum) / total;
        assert!((f64::from(count) - expected).abs() < 5.0 * expected.sqrt(), "{count}, not {expected}");
    }
}

#[test]
fn a_changed_weight_moves_keys_only_to_or_from_its_node() {
    let before = nodes(9, 20, 8, |random| 1 + halves(random).1 % 100_000);
    let mut after = before.clone();
    after[4].quantum *= 3;
    let (before, after) = (Rendezvous::new(&before, true), Rendezvous::new(&after, true));
    let changed = NodeId::new(4);
    let moved = keys(20_000).filter(|key| {
        let (old, new) = (before.locate(*key).0, after.locate(*key).0);
        assert!(old == new || new == changed);
        old != new
    });
    assert!(moved.count() > 100);
}

#[test]
fn long_lists_end_and_short_ones_are_cheap() {
    let nodes = nodes(1, 100_000, 8, |random| 1 + halves(random).1 % 100_000);
    for weighted in [false, true] {
        let rendezvous = Rendezvous::new(&nodes, weighted);
        let mut whole: Vec<_> = list(&rendezvous, fmix64(1), usize::MAX);
        assert_eq!(list(&rendezvous, fmix64(1), 12), whole[..12]);
        whole.sort_unstable();
        whole.dedup();
        assert_eq!(whole.len(), 100_000);
    }
}
