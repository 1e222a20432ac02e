//! The frozen test vectors, and the examples that `spec/placement.md` gives in its text.

mod twin;

use rehome::engine::{BoundedLoads, WholeSet, capacities};
use rehome::hash::{KeyHash, KeyHasher, ProbeSequence, fmix64, mix32, murmur3_x64_128_h1, node_hash};
use rehome::{Cluster, Engine, Key, KeyBuffer, KeyType, Keys, Node, NodeId, Placement, Spread};
use serde_json::Value;
use twin::{FULL, NONE, Order};

// ---- reading the vectors ---------------------------------------------------------------------------------------

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn placement_v1() -> Value {
    read(include_str!("vectors/placement-v1.json"))
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

// ---- clusters of the vectors -----------------------------------------------------------------------------------

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

// ---- hashing ---------------------------------------------------------------------------------------------------

#[test]
fn digests_of_integer_keys() {
    let vectors = placement_v1();
    let keys = numbers(&vectors["keys"]);
    assert_eq!(keys.len(), 256);
    assert_eq!(words(KeyHash::Default, 0, &keys), digests(&vectors));
    assert_eq!(words(KeyHash::Default, 7, &keys), numbers(&vectors["digest_seed_7"]));
    assert_eq!(words(KeyHash::Crc32, 0, &keys), numbers(&vectors["digest_crc32_of_8_le_bytes"]));
    assert_eq!(words(KeyHash::Murmur3, 7, &keys), numbers(&vectors["digest_murmur3_of_8_le_bytes_seed_7"]));
    assert_eq!(words(KeyHash::Identity, 0, &keys), keys);
}

#[test]
fn wide_seeds_and_negative_keys() {
    let edge = &placement_v1()["edge"];
    let keys = numbers(&placement_v1()["keys"])[..16].to_vec();
    let seed = edge["wide_seed"]["seed"].as_u64().unwrap();
    assert_eq!(words(KeyHash::Default, seed, &keys), numbers(&edge["wide_seed"]["digest"]));
    assert_eq!(words(KeyHash::Murmur3, seed, &keys), numbers(&edge["wide_seed"]["murmur3_of_8_le_bytes"]));
    let negative = edge["negative_i32_key"]["key"].as_i64().unwrap().cast_unsigned();
    assert_eq!(words(KeyHash::Default, 0, &[negative]), [edge["negative_i32_key"]["digest"].as_u64().unwrap()]);
}

#[test]
fn murmur3_of_text() {
    let hasher = KeyHasher::new(KeyHash::Murmur3, 0).unwrap();
    for pair in placement_v1()["digest_murmur3_of_text"].as_array().unwrap() {
        let (text, digest) = (pair[0].as_str().unwrap().as_bytes(), pair[1].as_u64().unwrap());
        assert_eq!(hasher.word(Key::Bytes(text)).unwrap(), digest);
        assert_eq!(murmur3_x64_128_h1(text, 0), digest);
    }
}

#[test]
fn mixing_and_probes() {
    let vectors = placement_v1();
    for pair in rows(&vectors["mix32"]) {
        assert_eq!(mix32(pair[0]), pair[1]);
    }
    let probes = rows(&vectors["probe"]);
    assert_eq!(probes.len(), 64);
    for (digest, probes) in digests(&vectors).into_iter().zip(probes) {
        let sequence = ProbeSequence::new(digest);
        assert_eq!((0..6).map(|index| sequence.word(index)).collect::<Vec<_>>(), probes);
        assert_eq!(sequence.take(6).collect::<Vec<_>>(), probes);
    }
}

#[test]
fn texts_and_names() {
    let names = read(include_str!("vectors/names.json"));
    let word = |hash, seed, text: &str| KeyHasher::new(hash, seed).unwrap().word(Key::Bytes(text.as_bytes())).unwrap();
    for case in names["cases"].as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        let wanted = |field: &str| case[field].as_u64().unwrap();
        assert_eq!(node_hash(text), wanted("xxh3"));
        for hash in [KeyHash::Default, KeyHash::Xxh3] {
            assert_eq!(word(hash, 0, text), wanted("xxh3"));
            assert_eq!(word(hash, 7, text), wanted("xxh3_seed_7"));
        }
        assert_eq!(word(KeyHash::Xxh64, 0, text), wanted("xxh64"));
        assert_eq!(word(KeyHash::Crc32, 0, text), fmix64(wanted("crc32")));
    }
    let end_to_end = read(include_str!("vectors/end-to-end.json"));
    for case in end_to_end["xxh64"].as_array().unwrap() {
        let digest = case["xxh64_seed_7"].as_u64().unwrap();
        assert_eq!(word(KeyHash::Xxh64, 7, case["text"].as_str().unwrap()), digest);
    }
}

#[test]
fn weights_become_quanta() {
    for pair in placement_v1()["weight_to_q16"].as_array().unwrap() {
        let node = Node::new("a").with_weight(pair[0].as_f64().unwrap());
        assert_eq!(node.quantum(), number(&pair[1]), "{pair}");
    }
    assert_eq!(Node::new("a").with_weight(0.3).quantum(), 19_661);
}

// ---- dx --------------------------------------------------------------------------------------------------------

#[test]
fn dx() {
    let vectors = placement_v1();
    let (keys, digests) = (numbers(&vectors["keys"]), digests(&vectors));
    let cases = vectors["dx"].as_array().unwrap();
    assert_eq!(cases.len(), 8);
    for case in cases {
        let slots = number(&case["slots"]);
        let t = active_rule(slots, case["share"].as_u64().unwrap(), Some(slots / 2));
        for order in ORDERS {
            let placement = twin::cluster("dx", &t, order).placement().unwrap();
            let (slot, length) = (short_numbers(&case["slot"]), numbers(&case["search_length"]));
            check(&placement, &keys, &digests, &slot, Some(&length));
        }
    }
}

#[test]
fn dx_replicas() {
    let vectors = placement_v1();
    let digests = digests(&vectors);
    for order in ORDERS {
        let plain = twin::cluster("dx", &tenth_up(), order).placement().unwrap();
        let zoned = spread_over_zones(&tenth_up(), order, |slot| (slot % 3).to_string());
        let (three, four) = (rows(&vectors["dx_replicas_3"]["slots"]), rows(&vectors["dx_replicas_4_zones"]["slots"]));
        assert_eq!((three.len(), four.len()), (64, 32));
        for (word, wanted) in digests.iter().zip(&three) {
            assert_eq!(replicas(&plain, *word, 3), *wanted);
        }
        for (word, wanted) in digests.iter().zip(&four) {
            assert_eq!(replicas(&zoned, *word, 4), *wanted);
        }
        let keys = &numbers(&vectors["keys"])[..64];
        for engine in engines() {
            let mut nodes = vec![NodeId::NONE; 3 * keys.len()];
            engine.replicas(&plain, keys, 3, &mut nodes).unwrap();
            assert_eq!(twin::slots(&plain, &nodes), three.concat(), "{engine:?}");
        }
    }
}

#[test]
fn dx_weighted() {
    let vectors = placement_v1();
    let (keys, case) = (numbers(&vectors["keys"]), &vectors["dx_weighted"]);
    for order in ORDERS {
        let placement = twin::cluster("dx", &threshold_rule(), order).placement().unwrap();
        let (slot, length) = (short_numbers(&case["slot"]), numbers(&case["search_length"]));
        check(&placement, &keys, &digests(&vectors), &slot, Some(&length));
        let three = rows(&case["replicas_3"]);
        assert_eq!(three.len(), 16);
        for (word, wanted) in digests(&vectors).iter().zip(three) {
            assert_eq!(replicas(&placement, *word, 3), wanted);
        }
    }
}

/// The whole list of an integer key over these thresholds.
fn whole_list(key: u64, t: &[u32]) -> Vec<u32> {
    let placement = twin::cluster("dx", t, Order::Slots).placement().unwrap();
    let eligible = placement.eligible();
    replicas(&placement, twin::digest(key, 0), eligible)
}

#[test]
fn lists_are_cut_after_2_20_steps() {
    let lists = rows(&placement_v1()["edge"]["dx_list_cut_at_2_20"]["lists"]);
    assert_eq!(lists.len(), 6);
    for (key, list) in (0..).zip(lists) {
        assert_eq!(whole_list(key, &[FULL, 1, 1, 1]), list);
    }
    // The vectors happen to meet every slot in time; these two do not.
    assert_eq!(whole_list(9, &[FULL, 1, 1, 1, 1, 1, 1, 1]), [0, 3, 6, 4, 1, 7, 2, 5]);
    let list = whole_list(0, &vec![FULL; 1 << 20]);
    assert_eq!(list[..3], [399_580, 418_651, 717_048]);
    assert_eq!(list[662_756..662_760], [361_179, 1, 2, 5]);
    assert_eq!(list.len(), 1 << 20);
    assert!(list[662_757..].is_sorted());
}

#[test]
fn a_slot_of_the_tail_need_not_be_the_failover_target() {
    let mut t = [0; 16];
    (t[0], t[1], t[2]) = (FULL, 1, 1);
    assert_eq!(whole_list(16, &t), [0, 1, 2]);
    t[0] = 0;
    let placement = twin::cluster("dx", &t, Order::Slots).placement().unwrap();
    let (node, length) = placement.lookup().locate(twin::digest(16, 0));
    assert_eq!((twin::slot(&placement, node), length), (2, 1_582_637));
}

#[test]
fn the_second_pass_over_zones() {
    // The vector gives a list and its zones. Any key's list serves, if the zones are laid over it.
    let wanted = short_numbers(&placement_v1()["edge"]["zones_second_pass"]["chosen"]);
    let mut t = [FULL; 16];
    t[9..].fill(0);
    for key in 0..20 {
        let list = whole_list(key, &t);
        assert_eq!(list.len(), 9);
        let place = |slot: u32| list.iter().position(|entry| *entry == slot).map_or(99, |place| place % 3);
        let placement = spread_over_zones(&t, Order::Slots, |slot| format!("zone {}", place(slot)));
        let chosen = replicas(&placement, twin::digest(key, 0), 7);
        assert_eq!(chosen, wanted.iter().map(|entry| list[*entry as usize]).collect::<Vec<_>>());
    }
}

#[test]
fn examples_of_the_page() {
    let mut plain = [0; 8];
    (plain[1], plain[4], plain[6]) = (FULL, FULL, FULL);
    let weighted = [FULL, FULL / 2, FULL / 4, 0];
    let plain_rows = [(0, 1, [4, 6, 1]), (1, 1, [4, 1, 6]), (2, 2, [1, 4, 6]), (3, 1, [4, 6, 1]), (42, 2, [6, 1, 4])];
    let weighted_rows =
        [(0, 1, [0, 1, 2]), (1, 1, [0, 1, 2]), (2, 2, [1, 0, 2]), (3, 1, [0, 1, 2]), (42, 5, [1, 0, 2])];
    for (t, rows) in [(&plain[..], plain_rows), (&weighted[..], weighted_rows)] {
        let placement = twin::cluster("dx", t, Order::Slots).placement().unwrap();
        for (key, length, list) in rows {
            assert_eq!(whole_list(key, t), list);
            assert_eq!(placement.lookup().locate(twin::digest(key, 0)).1, length);
        }
    }
}

#[test]
fn zones_of_the_page() {
    // List 0, 1, 2, 3, 4, 5; 0 and 1 in zone x, 2 and 4 in zone y, 3 and 5 in none.
    let mut t = [FULL; 8];
    t[6..].fill(0);
    let list = whole_list(5, &t);
    let nodes = list.iter().zip([Some("x"), Some("x"), Some("y"), None, Some("y"), None]).map(|(slot, zone)| {
        let node = Node::new(format!("s{slot}")).with_slot(*slot);
        zone.map_or(node.clone(), |zone| node.with_zone(zone))
    });
    let cluster = Cluster::builder("dx").unwrap().slots(8).spread(Spread::Zone).nodes(nodes).build().unwrap();
    let placement = cluster.placement().unwrap();
    for wanted in [&[0, 2, 3][..], &[0, 2, 3, 5, 1], &[0, 2, 3, 5, 1, 4]] {
        let chosen = replicas(&placement, twin::digest(5, 0), wanted.len());
        assert_eq!(chosen, wanted.iter().map(|entry| list[*entry]).collect::<Vec<_>>());
    }
}

// ---- slots -----------------------------------------------------------------------------------------------------

fn queue(cluster: &Cluster) -> Vec<u32> {
    cluster.slots().queue().ranges().flat_map(|(first, last)| first..=last).collect()
}

#[test]
fn dx_slots() {
    let vectors = &placement_v1()["dx_slots"];
    let start = vectors["start"]["name"].as_array().unwrap();
    let nodes = (0..).zip(start).filter_map(|(slot, name)| Some(Node::new(name.as_str()?).with_slot(slot)));
    let mut cluster = Cluster::builder("dx").unwrap().slots(4).nodes(nodes).build().unwrap();
    assert_eq!(queue(&cluster), short_numbers(&vectors["start"]["queue"]));
    let steps = vectors["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 14);
    for step in steps {
        match step["op"].as_str().unwrap() {
            "add" => {
                let slot = cluster.add(Node::new(step["arg"].as_str().unwrap())).unwrap();
                assert_eq!(slot, Some(number(&step["result"])));
            }
            "remove" => {
                let slot = Some(number(&step["arg"]));
                let name = cluster.nodes().iter().find(|node| node.slot() == slot).unwrap().name().to_owned();
                cluster.remove([name.as_str()]).unwrap();
            }
            "scale" => cluster.scale().unwrap(),
            "shrink" => {
                let moved = cluster.shrink().unwrap();
                let moved: Vec<Value> = moved.iter().map(|node| serde_json::json!([node.name, node.to])).collect();
                assert_eq!(Value::from(moved), step["result"]);
            }
            other => panic!("what is {other}?"),
        }
        let mut names = vec![Value::Null; cluster.slots().size() as usize];
        for node in cluster.nodes() {
            names[node.slot().unwrap() as usize] = node.name().into();
        }
        assert_eq!(Value::from(names), step["name"], "{step}");
        assert_eq!(queue(&cluster), short_numbers(&step["queue"]), "{step}");
        // The file keeps the queue.
        let again = Cluster::from_toml(&cluster.to_toml().unwrap()).unwrap();
        assert_eq!(again.slots(), cluster.slots());
    }
}

// ---- dx-crc32c -------------------------------------------------------------------------------------------------

#[test]
fn dx_crc32c() {
    let vectors = placement_v1();
    let case = &vectors["dx_crc32c"];
    let keys = numbers(&case["key32"]);
    let t = active_rule(number(&case["slots"]), 30, None);
    let only_two = [0, 0, FULL, 0, 0];
    let gives_up = &vectors["edge"]["dx_crc32c_gives_up"];
    for order in ORDERS {
        let placement = twin::cluster("dx-crc32c", &t, order).placement().unwrap();
        let (slot, length) = (short_numbers(&case["slot"]), numbers(&case["search_length"]));
        check(&placement, &keys, &keys, &slot, Some(&length));

        let lone = twin::cluster("dx-crc32c", &only_two, order).placement().unwrap();
        check(&lone, &keys, &keys, &short_numbers(&case["only_slot_2_of_5"]), None);
        let (keys, length) = (numbers(&gives_up["key32"]), numbers(&gives_up["search_length"]));
        check(&lone, &keys, &keys, &short_numbers(&gives_up["slot"]), Some(&length));
        assert_eq!(length, [20; 4]);
    }
    // The page's table of ten slots, 2 and 5 up.
    let mut t = [0; 10];
    (t[2], t[5]) = (FULL, FULL);
    let placement = twin::cluster("dx-crc32c", &t, Order::Slots).placement().unwrap();
    let keys = [0, 1, 42, 4_294_967_295];
    check(&placement, &keys, &keys, &[5, 2, 5, 5], Some(&[8, 5, 6, 1]));
    // Nothing active: unlike dx, the search length is 4n.
    let none = twin::cluster("dx-crc32c", &[0; 10], Order::Slots).placement().unwrap();
    check(&none, &keys, &keys, &[NONE; 4], Some(&[40; 4]));
}

// ---- bounded loads ---------------------------------------------------------------------------------------------

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

// ---- from text to names ----------------------------------------------------------------------------------------

#[test]
fn end_to_end() {
    let vectors = read(include_str!("vectors/end-to-end.json"));
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let (names, down) = (texts(&vectors["names"]), texts(&vectors["down"]));
    let cases: Vec<_> = vectors["cases"].as_array().unwrap().iter().filter(|case| case["algorithm"] == "dx").collect();
    assert_eq!(cases.len(), 4);
    for case in cases {
        let key_type: KeyType = case["key_type"].as_str().unwrap().parse().unwrap();
        let nodes = names.iter().map(|name| Node::new(name.as_str()).with_up(!down.contains(name)));
        let builder = Cluster::builder("dx").unwrap().slots(case["slots"].as_u64().unwrap());
        let builder = builder.seed(case["seed"].as_u64().unwrap()).key(key_type).nodes(nodes);
        let placement = builder.build().unwrap().placement().unwrap();

        let mut buffer = KeyBuffer::new();
        let integers;
        let keys = if key_type == KeyType::Text {
            texts(&case["keys"]).iter().for_each(|text| buffer.push(text.as_bytes()).unwrap());
            buffer.keys()
        } else {
            integers = numbers(&case["keys"]);
            Keys::from(&integers)
        };
        let mut found = vec![NodeId::NONE; keys.len()];
        for engine in engines() {
            engine.locate(&placement, keys, &mut found).unwrap();
            let found: Vec<_> = found.iter().map(|node| placement.node_name(*node).unwrap()).collect();
            assert_eq!(found, texts(&case["node"]));
        }
        let one_by_one: Vec<_> = keys.iter().map(|key| placement.locate(key).unwrap()).collect();
        assert_eq!(one_by_one, found);
    }
}
