//! The frozen test vectors, and the examples that `spec/placement.md` gives in its text. The unit tests read those of
//! node hashes, which no name has.

mod bounded;
mod dx;
mod end_to_end;
mod hashing;
mod numbered;
#[path = "../twin/mod.rs"]
mod twin;

use rehome::hash::{KeyHash, KeyHasher, fmix64};
use rehome::{Cluster, Engine, Key, Keys, NodeId, Placement, Spread};
use serde_json::Value;
use twin::{FULL, Order};

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn placement_v1() -> Value {
    read(include_str!("placement-v1.json"))
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|value| value.as_u64().unwrap()).collect()
}

fn number(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

fn short_numbers(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn rows(value: &Value) -> Vec<Vec<u32>> {
    value.as_array().unwrap().iter().map(short_numbers).collect()
}

fn words(hash: KeyHash, seed: u64, keys: &[u64]) -> Vec<u64> {
    let mut words = vec![0; keys.len()];
    KeyHasher::new(hash, seed).unwrap().words(Keys::from(keys), &mut words).unwrap();
    words
}

/// The digests of all `keys` of the vectors: `default`, seed 0.
fn digests(vectors: &Value) -> Vec<u64> {
    numbers(&vectors["digest"])
}

/// Every way to list the nodes; the second and third make the compiled map count bits.
const ORDERS: [Order; 3] = [Order::Slots, Order::Shuffled(1), Order::Shuffled(2)];

fn active_rule(slots: u32, share: u64, also: Option<u32>) -> Vec<u32> {
    let active = |slot: u32| fmix64(u64::from(slot) * 77 + u64::from(slots)) % 100 < share || Some(slot) == also;
    (0..slots).map(|slot| if active(slot) { FULL } else { 0 }).collect()
}

/// `dx[5]`: 1024 slots, a tenth of them up.
fn tenth_up() -> Vec<u32> {
    active_rule(1024, 10, Some(512))
}

fn threshold_rule() -> Vec<u32> {
    let threshold = |slot: u32| match slot % 3 {
        0 => FULL * (slot % 2),
        _ => u32::try_from(fmix64(u64::from(slot) + 5) % 65_537).unwrap(),
    };
    (0..1024).map(threshold).collect()
}

fn engines() -> Vec<Engine> {
    let engine = |threads, keys| Engine::builder().threads(threads).chunk_keys(keys).build().unwrap();
    [1, 2].into_iter().flat_map(|threads| [1, 7, 256].map(|keys| engine(threads, keys))).collect()
}

/// Every way to look keys up gives these slots and search lengths. `words` are the words of `keys`.
fn check(placement: &Placement, keys: &[u64], words: &[u64], slots: &[u32], lengths: Option<&[u64]>) {
    assert_eq!((keys.len(), words.len()), (slots.len(), slots.len()));
    for (index, word) in words.iter().enumerate() {
        let (node, length) = placement.lookup().locate(*word);
        assert_eq!(twin::slot(placement, node), slots[index], "key {}", keys[index]);
        if let Some(lengths) = lengths {
            assert_eq!(length, lengths[index], "search length of key {}", keys[index]);
        }
        assert_eq!(placement.locate(Key::Integer(keys[index])).unwrap(), node);
    }
    assert_eq!(twin::slots(placement, &twin::batch(placement, words)), slots);
    for engine in engines() {
        let mut nodes = vec![NodeId::NONE; keys.len()];
        engine.locate(placement, keys, &mut nodes).unwrap();
        assert_eq!(twin::slots(placement, &nodes), slots, "{engine:?}");
    }
}

fn replicas(placement: &Placement, word: u64, r: usize) -> Vec<u32> {
    let mut nodes = vec![NodeId::NONE; r];
    placement.replicas(word, &mut nodes).unwrap();
    twin::slots(placement, &nodes)
}

fn spread_over_zones(t: &[u32], order: Order, zone: impl Fn(u32) -> String) -> Placement {
    let nodes = twin::nodes(t, order).into_iter().map(|node| {
        let zone = zone(node.slot().unwrap());
        node.with_zone(zone)
    });
    let builder = Cluster::builder("dx").unwrap().slots(t.len() as u64).spread(Spread::Zone);
    builder.nodes(nodes).build().unwrap().placement().unwrap()
}
