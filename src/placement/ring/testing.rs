//! What the tests of `ring`, `multi-probe` and `lrh` share: clusters with corners, and the golden vectors.

use std::ops::ControlFlow;

use serde_json::Value;

use super::token_count;
use crate::hash::{GOLDEN, fmix64, halves};
use crate::placement::{HashedNode, Locate, NodeId};

/// A cluster with what it is about.
pub(in crate::placement) type Named = (String, Vec<HashedNode>);

/// The hash of the node whose first token is `token`, one of 2^32 such nodes.
fn hash_for(token: u32, which: u32) -> u64 {
    unmix(u64::from(token) << 32 | u64::from(which)).wrapping_sub(GOLDEN)
}

/// The inverse of [`fmix64`].
fn unmix(word: u64) -> u64 {
    let inverse = |odd: u64| (0..6).fold(1_u64, |x, _| x.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(x))));
    let mut z = word;
    z ^= z >> 33;
    z = z.wrapping_mul(inverse(0xC4CE_B9FE_1A85_EC53));
    z ^= z >> 33;
    z = z.wrapping_mul(inverse(0xFF51_AFD7_ED55_8CCD));
    z ^ (z >> 33)
}

fn draw(seed: u64, below: u32) -> u32 {
    u32::try_from(fmix64(seed.wrapping_mul(GOLDEN)) % u64::from(below)).unwrap()
}

/// A node that is up and weighs 1.
fn plain(hash: u64, tokens: u32) -> HashedNode {
    HashedNode { hash, quantum: 65_536, tokens, up: true }
}

/// Clusters of random nodes, and clusters that are corners of the definition.
pub(in crate::placement) fn clusters() -> Vec<Named> {
    let mut all = corners();
    for seed in 0..60 {
        let base = seed * 1_000_000;
        let most = [1, 3, 40, 300][draw(base, 4) as usize];
        let nodes = (1..=u64::from(1 + draw(base + 1, 40))).map(|i| {
            let (at, tokens) = (base + 10 * i, draw(base + 10 * i + 1, most + 1));
            let quantum = [0, 1, 65_536, 65_536, 1 + draw(at + 2, 1 << 20), u32::MAX][draw(at + 3, 6) as usize];
            HashedNode { hash: fmix64(at), quantum, tokens, up: draw(at + 4, 4) > 0 }
        });
        all.push((format!("random {seed}"), nodes.collect()));
    }
    all
}

fn corners() -> Vec<Named> {
    let many = |count: u64, tokens| (0..count).map(|i| plain(fmix64(i + 77), tokens)).collect::<Vec<_>>();
    let changed = |mut nodes: Vec<HashedNode>, change: fn(usize, &mut HashedNode)| {
        nodes.iter_mut().enumerate().for_each(|(i, node)| change(i, node));
        nodes
    };
    // Equal tokens whose order by hash is not that of the nodes.
    let equal = (0..40_u32).map(|i| plain(hash_for(1 << 31, i.wrapping_mul(0x9E37_79B9)), 1)).collect();
    let packed = (0..300_u32).map(|i| plain(hash_for(0xABCD_0000 + i * i % 97, i), 1 + i % 2)).collect();
    let ends = [0, 0, 1, u32::MAX, u32::MAX, u32::MAX - 1].into_iter().zip(0..);
    let named: Vec<(&str, Vec<HashedNode>)> = vec![
        ("no node", vec![]),
        ("one node", many(1, 1)),
        ("one node, many tokens", many(1, 100)),
        ("one node without tokens", many(1, 0)),
        ("one node, down", changed(many(1, 5), |_, node| node.up = false)),
        ("two nodes", many(2, 3)),
        ("two nodes, one down", changed(many(2, 3), |i, node| node.up = i == 1)),
        ("all down", changed(many(9, 4), |_, node| node.up = false)),
        ("all drained", changed(many(9, 4), |_, node| node.quantum = 0)),
        ("all but one down", changed(many(50, 4), |i, node| node.up = i == 31)),
        ("drained and down", changed(many(30, 7), |i, node| (node.quantum, node.up) = ([0, 65_536][i % 2], i % 3 > 0))),
        ("one token each", many(60, 1)),
        ("huge counts", changed(many(4, 40_000), |i, node| node.up = i != 2)),
        ("one huge count", changed(many(20, 1), |i, node| node.tokens = if i == 3 { 50_000 } else { 2 })),
        ("equal tokens", equal),
        ("packed into one bucket", packed),
        ("tokens at both ends", ends.map(|(token, which)| plain(hash_for(token, which), 1)).collect()),
        ("many nodes", changed(many(700, 3), |i, node| node.up = i % 5 != 2)),
    ];
    named.into_iter().map(|(name, nodes)| (name.to_owned(), nodes)).collect()
}

/// Digests whose word 0 is random, on a token, beside one, or at an end; fewer for long rings.
pub(in crate::placement) fn some_digests(ring: &[(u32, NodeId)]) -> Vec<u64> {
    let places = match ring.len() {
        0 => 0,
        1..10_000 => 30,
        _ => 3,
    };
    let token = |i: u64| ring[draw(i, u32::try_from(ring.len()).unwrap()) as usize].0;
    let on_tokens = (0..places).map(token);
    let near = on_tokens.flat_map(|token| [token, token.wrapping_add(1), token.wrapping_sub(1)]);
    let anywhere = (0..places + 3).map(|i| halves(fmix64(i + 5)).0);
    let lows = near.chain(anywhere).chain([0, u32::MAX]);
    lows.zip(1..).map(|(low, i)| fmix64(i) >> 32 << 32 | u64::from(low)).collect()
}

/// The first `most` nodes of a preference list.
pub(in crate::placement) fn list_of(lookup: &dyn Locate, word: u64, most: usize) -> Vec<NodeId> {
    let mut list = Vec::new();
    let visit = &mut |node| {
        list.push(node);
        if list.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    lookup.prefer(word, visit).unwrap();
    list
}

// ---- the golden vectors ----------------------------------------------------------------------------------------

pub(in crate::placement) fn vectors() -> Value {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/placement-v1.json"));
    serde_json::from_str(text).unwrap()
}

pub(in crate::placement) fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

pub(in crate::placement) fn node(value: &Value) -> NodeId {
    NodeId::new(u32::try_from(value.as_u64().unwrap()).unwrap())
}

pub(in crate::placement) fn node_list(value: &Value) -> Vec<NodeId> {
    value.as_array().unwrap().iter().map(node).collect()
}

/// (token, node) pairs.
pub(in crate::placement) fn tokens(value: &Value) -> Vec<(u32, NodeId)> {
    value.as_array().unwrap().iter().map(|pair| (node(&pair[0]).raw(), node(&pair[1]))).collect()
}

/// The nodes of the vectors without their weights, all with so many tokens.
pub(in crate::placement) fn golden_nodes(vectors: &Value, tokens: u32) -> Vec<HashedNode> {
    let up = vectors["up"].as_array().unwrap().iter().map(|up| up.as_bool().unwrap());
    let hashes = numbers(&vectors["node_hashes"]);
    hashes.into_iter().zip(up).map(|(hash, up)| HashedNode { hash, quantum: 65_536, tokens, up }).collect()
}

/// The nodes of the vectors with their weights; `tokens` says how many tokens a node of a weight has.
pub(in crate::placement) fn golden_weighted_nodes(vectors: &Value, tokens: fn(f64) -> u32) -> Vec<HashedNode> {
    let mut nodes = golden_nodes(vectors, 0);
    for (node, weight) in nodes.iter_mut().zip(vectors["weights"].as_array().unwrap()) {
        // Token counts of 65536 per node are weights in units of 1/65536.
        node.quantum = token_count(65_536, weight.as_f64().unwrap());
        node.tokens = tokens(weight.as_f64().unwrap());
    }
    nodes
}

/// Asserts that the first keys have these nodes; `None` says how many keys that must be: all of them.
pub(in crate::placement) fn assert_nodes(lookup: &dyn Locate, vectors: &Value, golden: &Value, count: Option<usize>) {
    let (digests, golden) = (numbers(&vectors["digest"]), node_list(golden));
    assert_eq!(golden.len(), count.unwrap_or(digests.len()));
    let mut nodes = vec![NodeId::NONE; digests.len()];
    lookup.locate_batch((&digests).into(), &mut nodes);
    assert_eq!(nodes[..golden.len()], golden);
    for (digest, node) in digests.iter().zip(golden) {
        assert_eq!(list_of(lookup, *digest, 1), [node]);
    }
}

/// Asserts that the first keys have lists that start like this.
pub(in crate::placement) fn assert_lists(lookup: &dyn Locate, vectors: &Value, golden: &Value, count: usize, r: usize) {
    let golden = golden.as_array().unwrap();
    assert_eq!(golden.len(), count);
    for (digest, golden) in numbers(&vectors["digest"]).into_iter().zip(golden) {
        let golden = node_list(golden);
        assert_eq!(golden.len(), r);
        assert_eq!(list_of(lookup, digest, r), golden);
    }
}

/// Asserts the golden result of placing all keys with capacities, in ascending (digest, key) order.
pub(in crate::placement) fn assert_bounded(lookup: &dyn Locate, vectors: &Value, golden: &Value) {
    let capacity = numbers(&golden["capacity"]);
    let (digests, keys) = (numbers(&vectors["digest"]), numbers(&vectors["keys"]));
    let mut order: Vec<_> = (0..digests.len()).collect();
    order.sort_by_key(|i| (digests[*i], keys[*i], *i));
    let (mut load, mut nodes) = (vec![0; capacity.len()], vec![NodeId::NONE; digests.len()]);
    for i in order {
        let list = list_of(lookup, digests[i], usize::MAX);
        if let Some(free) = list.into_iter().find(|node| load[node.raw() as usize] < capacity[node.raw() as usize]) {
            load[free.raw() as usize] += 1;
            nodes[i] = free;
        }
    }
    assert_eq!(nodes, node_list(&golden["node"]));
}

/// The first r of a list, new zones first.
pub(in crate::placement) fn spread(list: &[NodeId], zones: &[u64], r: usize) -> Vec<NodeId> {
    let zone = |node: &NodeId| zones[node.raw() as usize];
    let mut chosen: Vec<NodeId> = Vec::new();
    for node in list {
        if chosen.len() < r && !chosen.iter().any(|other| zone(other) == zone(node)) {
            chosen.push(*node);
        }
    }
    for node in list {
        if chosen.len() < r && !chosen.contains(node) {
            chosen.push(*node);
        }
    }
    chosen
}
