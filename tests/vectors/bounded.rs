//! Bounded loads.

use rehome::engine::{BoundedLoads, WholeSet, capacities};
use rehome::hash::{KeyHash, fmix64};
use rehome::{Cluster, KeyBuffer, Keys, NodeId, Placement};

use crate::twin::{FULL, Order};
use crate::{ORDERS, numbers, placement_v1, short_numbers, twin};

#[test]
fn bounded_capacities() {
    for row in placement_v1()["bounded"]["capacities"].as_array().unwrap() {
        let (keys, epsilon) = (row[0].as_u64().unwrap(), row[1].as_f64().unwrap());
        assert_eq!(capacities(keys, epsilon, &numbers(&row[2])).unwrap(), numbers(&row[3]));
    }
    // More of the page's rows, and what epsilon rounds to.
    assert_eq!(capacities(10, 0.1, &[65_536, 32_768, 16_384]).unwrap(), [7, 4, 2]);
    assert_eq!(capacities(5, 0.0, &[65_536, 65_536, 0]).unwrap(), [3, 3, 0]);
    assert_eq!(capacities(1_000_000, 0.000_000_5, &[1]).unwrap(), [1_000_001]);
    assert_eq!(capacities(1_000_000, 0.000_000_49, &[1]).unwrap(), [1_000_000]);
    assert_eq!(capacities(5, 1.0, &[0, 0]).unwrap(), [0, 0]);
}

fn bounded(placement: &Placement, epsilon: f64, keys: Keys<'_>) -> Vec<u32> {
    let mut bounded = BoundedLoads::new(placement, epsilon).unwrap();
    bounded.observe(keys).unwrap();
    let mut nodes = vec![NodeId::NONE; keys.len()];
    bounded.nodes(&mut nodes).unwrap();
    twin::slots(placement, &nodes)
}

#[test]
fn bounded_loads() {
    let vectors = placement_v1();
    let case = &vectors["bounded"]["dx_8_slot_6_down_eps_0.05"];
    let keys = numbers(&vectors["keys"]);
    let mut t = [FULL; 8];
    t[6] = 0;
    assert_eq!(capacities(256, 0.05, &t.map(u64::from)).unwrap(), numbers(&case["capacity"]));
    for order in ORDERS {
        let placement = twin::cluster("dx", &t, order).placement().unwrap();
        assert_eq!(bounded(&placement, 0.05, Keys::from(&keys)), short_numbers(&case["slot"]));
    }
    // The page's example.
    let mut t = [0; 8];
    (t[1], t[4], t[6]) = (FULL, FULL, FULL);
    let placement = twin::cluster("dx", &t, Order::Slots).placement().unwrap();
    let keys: Vec<u64> = (0..10).collect();
    assert_eq!(bounded(&placement, 0.05, Keys::from(&keys)), [4, 4, 1, 4, 6, 1, 1, 4, 1, 6]);
}

/// Two texts of eight digits with one CRC-32, in ascending order.
fn colliding_texts() -> (String, String) {
    let mut seen = std::collections::HashMap::new();
    let text = |number: u32| format!("{:08}", number.wrapping_mul(2_654_435_761) % 100_000_000);
    (0..)
        .map(text)
        .find_map(|text| {
            let earlier = seen.insert(crc32fast::hash(text.as_bytes()), text.clone())?;
            (earlier != text).then(|| if earlier < text { (earlier, text) } else { (text, earlier) })
        })
        .unwrap()
}

#[test]
fn equal_digests_are_ordered_by_bytes_then_row() {
    let case = &placement_v1()["bounded"]["equal_digests"];
    assert_eq!(case["keys"], serde_json::json!([[5, "b"], [5, "a"], [5, "a"], [4, "z"]]));
    let wanted = short_numbers(&case["node"]);
    // No hash gives the vector's digests, but CRC-32 gives two texts one digest, and some third text a smaller one.
    let (a, b) = colliding_texts();
    let digest = |text: &str| fmix64(u64::from(crc32fast::hash(text.as_bytes())));
    assert_eq!(digest(&a), digest(&b));
    let t = [FULL, FULL];
    let list = twin::dx_list(digest(&a), &t, 2);
    let fits = |text: &String| digest(text) < digest(&a) && twin::dx_list(digest(text), &t, 2) == list;
    let z = (0..).map(|number: u32| format!("z{number}")).find(fits).unwrap();

    let mut keys = KeyBuffer::new();
    for text in [&b, &a, &a, &z] {
        keys.push(text.as_bytes()).unwrap();
    }
    let builder = Cluster::builder("dx").unwrap().hash(KeyHash::Crc32).slots(2);
    let placement = builder.nodes(twin::nodes(&t, Order::Slots)).build().unwrap().placement().unwrap();
    let slots = bounded(&placement, 0.0, keys.keys());
    assert_eq!(slots, wanted.iter().map(|node| list[*node as usize]).collect::<Vec<_>>());
}
