//! A description that goes through a file comes back the same.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use rehome::hash::KeyHash;
use rehome::{Cluster, ClusterDiff, KeyType, Node, Spread};

use crate::twin::Random;
use crate::{cases, some_keys};

/// A cluster with everything that a file can say, after edits that leave the queue in any order.
fn described() -> impl Strategy<Value = Cluster> {
    let weight = prop_oneof![Just(1.0), Just(0.0), Just(0.1), Just(f64::MIN_POSITIVE), Just(1.0 / 3.0), 0.0..=1.0];
    let node = ("\\PC{0,6}", weight, option::of("\\PC{1,6}"), any::<bool>());
    let seed = prop_oneof![Just(0), Just(u64::MAX), Just(1 << 63), Just((1 << 63) - 1), any::<u64>()];
    let options = (select(&KeyHash::ALL[..]), seed, option::of(select(&KeyType::ALL[..])), any::<bool>());
    (vec(node, 0..40), options, any::<u64>()).prop_map(|(nodes, (hash, seed, key, zones), random)| {
        let mut random = Random::new(random);
        // Names must differ; those that are left out at random bring the queue into disorder.
        let nodes: Vec<Node> = (0..)
            .zip(nodes)
            .map(|(number, (name, weight, zone, up))| {
                let node = Node::new(format!("{name}#{number}")).with_weight(weight).with_up(up);
                zone.map_or(node.clone(), |zone| node.with_zone(zone))
            })
            .collect();
        let seed = if matches!(hash, KeyHash::Crc32 | KeyHash::Identity) { 0 } else { seed };
        let mut builder = Cluster::builder("dx").unwrap().hash(hash).seed(seed).slots(64).nodes(nodes);
        if let Some(key) = key.filter(|key| hash != KeyHash::Identity || key.is_integer()) {
            builder = builder.key(key);
        }
        let mut cluster = builder.spread(if zones { Spread::Zone } else { Spread::Node }).build().unwrap();
        let mut names: Vec<String> = cluster.nodes().iter().map(|node| node.name().to_owned()).collect();
        random.shuffle(&mut names);
        names.truncate(names.len() / 3);
        cluster.remove(names.iter().map(String::as_str)).unwrap();
        for number in 0..random.below(70) {
            // Until the cluster is full.
            let _ = cluster.add(Node::new(format!("later {number}")));
        }
        cluster
    })
}

pub(crate) fn assert_same(a: &Cluster, b: &Cluster) {
    assert_eq!(a.algorithm(), b.algorithm());
    assert_eq!((a.hash(), a.seed(), a.key(), a.spread()), (b.hash(), b.seed(), b.key(), b.spread()));
    assert_eq!(a.is_weighted(), b.is_weighted());
    assert_eq!(a.nodes(), b.nodes());
    assert_eq!(a.slots(), b.slots());
    assert!(ClusterDiff::between(a, b).is_empty());
    assert!(a.nodes().iter().all(|node| a.position(node.name()) == b.position(node.name())));
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn toml_keeps_every_field(cluster in described()) {
        let text = cluster.to_toml().unwrap();
        let again = Cluster::from_toml(&text).unwrap();
        assert_same(&cluster, &again);
        prop_assert_eq!(again.to_toml().unwrap(), text);
    }

    #[test]
    fn json_keeps_every_field(cluster in described()) {
        let value = cluster.to_json();
        let again = Cluster::from_json(&value.to_string()).unwrap();
        assert_same(&cluster, &again);
        prop_assert_eq!(again.to_json(), value);
    }

    /// Every weight that is a multiple of 1/65536, and the numbers beside it, which may be of 17 digits.
    #[test]
    fn weights_keep_every_bit(bits in vec(0..=1.0_f64.to_bits(), 50)) {
        let node = |(number, bits): (u32, &u64)| Node::new(format!("n{number}")).with_weight(f64::from_bits(*bits));
        let cluster = Cluster::builder("dx").unwrap().nodes((0..).zip(&bits).map(node)).build().unwrap();
        let (toml, json) = (cluster.to_toml().unwrap(), cluster.to_json().to_string());
        for again in [Cluster::from_toml(&toml), Cluster::from_json(&json)] {
            for (node, bits) in again.unwrap().nodes().iter().zip(&bits) {
                prop_assert_eq!(node.weight().to_bits(), *bits, "{} became {}", f64::from_bits(*bits), node.weight());
            }
        }
    }
}

#[test]
fn files_of_dx_crc32c() {
    let nodes = (0..7).map(|number| Node::new(format!("n{number}")).with_up(number % 3 > 0));
    let mut cluster = Cluster::builder("dx-crc32c").unwrap().slots(11).key(KeyType::U32).nodes(nodes).build().unwrap();
    cluster.remove(["n5", "n1"]).unwrap();
    assert_eq!(cluster.slots().queue().to_string(), "7-10,5,1");
    assert_same(&cluster, &Cluster::from_toml(&cluster.to_toml().unwrap()).unwrap());
    assert_same(&cluster, &Cluster::from_json(&cluster.to_json().to_string()).unwrap());
}

#[test]
fn a_byte_order_mark_and_other_spellings() {
    let toml = "\u{feff}version = 1\nalgorithm = 'dx'\nseed = '18446744073709551615'\n[dx]\nslots = 4\n\
                queue = ' 3 , 1-2 '\n[[nodes]]\nname = 'a'\nslot = 0\n";
    let json = r#"{"version":1,"algorithm":"dx","seed":18446744073709551615,"dx":{"slots":4,"queue":"3,1-2"},
                   "nodes":[{"name":"a","slot":0,"weight":1,"up":true}]}"#;
    let (toml, json) = (Cluster::from_toml(toml).unwrap(), Cluster::from_json(json).unwrap());
    assert_same(&toml, &json);
    assert_eq!(toml.seed(), u64::MAX);
    // Integers of TOML end at 2^63 - 1, so other readers need a string there.
    assert!(toml.to_toml().unwrap().contains("\nseed = \"18446744073709551615\"\n"));
    assert_eq!(toml.slots().queue().ranges().collect::<Vec<_>>(), [(3, 3), (1, 2)]);
    assert_eq!(crate::names(&toml, &some_keys(1, 10)), [Some("a"); 10]);
}
