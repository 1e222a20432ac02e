//! Maglev against its literal twin, entry by entry, and against the golden vectors. The helpers serve sach too.

use serde_json::Value;

use super::*;
use crate::algorithm::is_prime;
use crate::hash::fmix64;

// ---- clusters and keys -------------------------------------------------------------------------------------------

pub(in crate::placement) fn vectors() -> Value {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/placement-v1.json"));
    serde_json::from_str(text).unwrap()
}

pub(in crate::placement) fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

fn flags(value: &Value) -> Vec<bool> {
    value.as_array().unwrap().iter().map(|flag| flag.as_bool().unwrap()).collect()
}

pub(in crate::placement) fn raw(nodes: &[NodeId]) -> Vec<u64> {
    nodes.iter().map(|node| node.raw().into()).collect()
}

/// The first nodes of the vectors: as many as `up` says, with these quanta, or all of weight 1.
pub(in crate::placement) fn golden_nodes(vectors: &Value, up: &Value, quanta: Option<&[u32]>) -> Vec<HashedNode> {
    let hashes = numbers(&vectors["node_hashes"]);
    let node = |(index, up): (usize, bool)| {
        let quantum = quanta.map_or(65_536, |quanta| quanta[index]);
        HashedNode { hash: hashes[index], quantum, tokens: 0, up }
    };
    flags(up).into_iter().enumerate().map(node).collect()
}

/// The quanta of the vectors' weights.
pub(in crate::placement) fn golden_quanta(vectors: &Value) -> Vec<u32> {
    let weights = vectors["weights"].as_array().unwrap().iter().map(|weight| weight.as_f64().unwrap());
    // All are quarters.
    let quarters = |weight: f64| (0..100).find(|quarters| f64::from(*quarters) == weight * 4.0).unwrap();
    weights.map(|weight| quarters(weight) * 16_384).collect()
}

/// Nodes of which about `up` in 8 are up, with quanta from `quantum`.
pub(in crate::placement) fn nodes(seed: u64, count: u64, up: u64, quantum: impl Fn(u64) -> u32) -> Vec<HashedNode> {
    let node = |i: u64| {
        let random = fmix64(seed << 32 | i);
        HashedNode { hash: fmix64(random), quantum: quantum(random), tokens: 0, up: random % 8 < up }
    };
    (1..=count).map(node).collect()
}

/// Equal weights, a few uneven ones with 0 among them, and very uneven ones.
pub(in crate::placement) const WEIGHTS: [fn(u64) -> u32; 4] = [
    |_| 65_536,
    |random| [0, 1, 2, 3, 3, 7][usize::from(random.to_le_bytes()[2]) % 6],
    |random| 60_000 + u32::from(random.to_le_bytes()[2]) * 100,
    |random| 1 << (random.to_le_bytes()[2] % 12),
];

fn primes(below: u32) -> impl Iterator<Item = u32> {
    (2..below).filter(|size| is_prime(u64::from(*size)))
}

fn text(result: Result<impl Sized>) -> String {
    result.err().unwrap().to_string()
}

// ---- the golden vectors ------------------------------------------------------------------------------------------

fn assert_golden(vectors: &Value, nodes: &[HashedNode], golden: &Value) {
    let maglev = Maglev::new(nodes, 1009).unwrap();
    let literal = scalar::table(nodes, HashedNode::is_eligible, 1009);
    let entries = (0..12).map(|id| maglev.table().iter().filter(|node| node.raw() == id).count() as u64);
    assert_eq!(entries.collect::<Vec<_>>(), numbers(&golden["entries"]));
    let digests = numbers(&vectors["digest"]);
    let located: Vec<_> = digests.iter().map(|digest| maglev.locate(*digest).0).collect();
    let by_twin: Vec<_> = digests.iter().map(|digest| scalar::lookup(*digest, &literal)).collect();
    assert_eq!((digests.len(), raw(&located)), (256, numbers(&golden["node"])));
    assert_eq!(located, by_twin);
}

#[test]
fn places_as_the_golden_vectors() {
    let vectors = vectors();
    let quanta = golden_quanta(&vectors);
    assert_golden(&vectors, &golden_nodes(&vectors, &vectors["up"], None), &vectors["maglev_1009"]);
    assert_golden(&vectors, &golden_nodes(&vectors, &vectors["up"], Some(&quanta)), &vectors["maglev_1009_weighted"]);
}

#[test]
fn fills_as_the_golden_vectors() {
    let vectors = vectors();
    let case = &vectors["edge"]["maglev_heaviest_down"];
    let quanta: Vec<_> = numbers(&case["q16"]).into_iter().map(|q| u32::try_from(q).unwrap()).collect();
    let nodes = golden_nodes(&vectors, &case["up"], Some(&quanta));
    assert_eq!(case["size"].as_u64(), Some(211));
    assert_eq!(raw(Maglev::new(&nodes, 211).unwrap().table()), numbers(&case["table"]));
    assert_eq!(raw(&scalar::table(&nodes, HashedNode::is_eligible, 211)), numbers(&case["table"]));

    let down = Value::from(vec![false; 12]);
    let maglev = Maglev::new(&golden_nodes(&vectors, &down, None), 7).unwrap();
    assert_eq!(raw(maglev.table()), numbers(&vectors["edge"]["maglev_none_up"]));
    assert_eq!(maglev.locate(5), (NodeId::NONE, 0));
}

// ---- the literal twin --------------------------------------------------------------------------------------------

#[test]
fn equals_the_literal_twin() {
    for count in [0, 1, 2, 3, 20, 90] {
        for up in [0, 1, 6, 8] {
            for (seed, weights) in (0..).zip(WEIGHTS) {
                let nodes = nodes(seed * 1000 + count * 8 + up, count, up, weights);
                for size in [2, 3, 5, 101, 907, 4099] {
                    let literal = scalar::table(&nodes, HashedNode::is_eligible, size);
                    assert_eq!(*table::fill(&nodes, HashedNode::is_eligible, size), *literal);
                    let Ok(maglev) = Maglev::new(&nodes, size) else { continue };
                    assert_eq!(estimate(count, size).memory_bytes, maglev.memory_bytes());
                    for digest in (0..100).map(fmix64).chain([u64::MAX]) {
                        let (node, steps) = maglev.locate(digest);
                        assert_eq!(node, scalar::lookup(digest, &literal));
                        assert_eq!(steps, u64::from(nodes.iter().any(HashedNode::is_eligible)));
                    }
                }
            }
        }
    }
}

/// With a very heavy node down, turns are too many to go through: here the entries are sorted by the formula.
#[test]
fn very_uneven_weights_fill_by_the_formula() {
    let mut nodes = nodes(3, 12, 8, |random| 1 << (random.to_le_bytes()[2] % 3));
    let heaviest = HashedNode { hash: 1, quantum: u32::MAX, tokens: 0, up: false };
    nodes.push(heaviest);
    let size = 1009;
    let mut entries = Vec::new();
    for (id, node) in (0..).zip(&nodes).filter(|(_, node)| node.up) {
        for c in 1..=u64::from(size) {
            let turn = ((2 * c - 1) * u64::from(u32::MAX)).div_ceil(2 * u64::from(node.quantum));
            entries.push((turn, node.hash, id));
        }
    }
    entries.sort_unstable();
    let mut expected = vec![NodeId::NONE; size as usize];
    for (_, hash, id) in entries.into_iter().take(size as usize) {
        let (mut at, skip) = scalar::walk(hash, size);
        while expected[at as usize] != NodeId::NONE {
            at = (at + skip) % size;
        }
        expected[at as usize] = NodeId::new(id);
    }
    assert_eq!(Maglev::new(&nodes, size).unwrap().table(), expected);
}

// ---- sizes that are refused --------------------------------------------------------------------------------------

/// Whether every eligible node has an entry of the real table.
fn all_served(nodes: &[HashedNode], size: u32) -> bool {
    let table = scalar::table(nodes, HashedNode::is_eligible, size);
    (0..).zip(nodes).all(|(id, node)| !node.is_eligible() || table.contains(&NodeId::new(id)))
}

#[test]
fn the_check_finds_what_filling_finds() {
    let mut refused = 0;
    for count in [1, 2, 3, 9, 30] {
        for up in [3, 8] {
            for (seed, weights) in (0..).zip(WEIGHTS) {
                let nodes = nodes(seed * 1000 + count * 8 + up, count, up, weights);
                for size in primes(1000) {
                    let result = check(&nodes, size, &by_position);
                    assert_eq!(result.is_ok(), all_served(&nodes, size), "{count} nodes, weights {seed}, size {size}");
                    refused += u32::from(result.is_err());
                }
            }
        }
    }
    assert!(refused > 200, "{refused}");
}

#[test]
fn the_size_that_the_error_names_would_do() {
    let mut named = 0;
    for count in [2, 3, 9, 30] {
        for (seed, weights) in (0..).zip(WEIGHTS) {
            let nodes = nodes(seed * 1000 + count, count, 8, weights);
            let Err(error) = check(&nodes, 2, &by_position) else { continue };
            let error = error.to_string();
            let size = error.split("at least ").nth(1).unwrap().split(',').next().unwrap().parse().unwrap();
            assert!(check(&nodes, size, &by_position).is_ok());
            let smaller = primes(size).last().unwrap();
            assert!(check(&nodes, smaller, &by_position).is_err());
            named += 1;
        }
    }
    assert!(named > 8);
}

#[test]
fn errors_say_what_would_do() {
    let three = nodes(1, 3, 8, |_| 65_536);
    let not_prime = text(Maglev::new(&three, 100));
    assert!(not_prime.contains("size 100 is not a prime") && not_prime.contains("use 101"), "{not_prime}");
    let too_many = text(Maglev::new(&three, 2));
    assert!(too_many.contains("too small for 3 nodes") && too_many.contains("at least 3"), "{too_many}");
    let mut light = three;
    light[1].quantum = 1024;
    let too_light = text(Maglev::new(&light, 61));
    assert!(too_light.contains("position 1 (weight 0.015625)"), "{too_light}");
    for size in [0, 1, 4, 4_294_967_295] {
        assert!(Maglev::new(&[], size).is_err());
    }
    assert!(text(Maglev::new(&[], 4_294_967_295)).contains("use a prime"));
}

/// Sizes whose tables would not fit are judged too.
#[test]
fn the_check_allocates_no_table() {
    let mut nodes = nodes(1, 3, 8, |_| u32::MAX);
    assert!(check(&nodes, 4_294_967_291, &by_position).is_ok());
    nodes[2].quantum = 1;
    assert!(text(check(&nodes, 4_294_967_291, &by_position)).contains("no table is large enough"));
    nodes[1].up = false;
    assert!(check(&nodes, 4_294_967_291, &by_position).is_ok());
    assert!(check(&nodes, 2_147_483_647, &by_position).is_err());
}

#[test]
fn there_is_no_list() {
    let maglev = Maglev::new(&nodes(1, 3, 8, |_| 65_536), 101).unwrap();
    assert!(maglev.prefer(1, &mut |_| ControlFlow::Continue(())).is_err());
}
