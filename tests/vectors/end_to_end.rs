//! From texts and integers to names of nodes: every algorithm that places on names, and `dx`.

use rehome::engine::{BoundedLoads, WholeSet};
use rehome::{Cluster, Key, KeyBuffer, KeyType, Keys, Node, NodeId, Placement, algorithms};
use serde_json::Value;

use crate::{engines, numbers, read};

fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// The cluster of a case; its parameters are the numbers that bear the names of parameters.
fn cluster(vectors: &Value, case: &Value) -> Cluster {
    let (names, down) = (texts(&vectors["names"]), texts(&vectors["down"]));
    let mut builder = Cluster::builder(case["algorithm"].as_str().unwrap()).unwrap();
    let parameters =
        builder.algorithm().parameters.iter().filter_map(|known| Some((known.name, case.get(known.name)?)));
    for (name, value) in parameters.collect::<Vec<_>>() {
        builder = builder.parameter(name, value);
    }
    let nodes = names.iter().map(|name| Node::new(name.as_str()).with_up(!down.contains(name)));
    let key_type: KeyType = case["key_type"].as_str().unwrap().parse().unwrap();
    builder.seed(case["seed"].as_u64().unwrap()).key(key_type).nodes(nodes).build().unwrap()
}

/// Every way to look keys up gives these names.
fn check(placement: &Placement, keys: Keys<'_>, wanted: &[String]) {
    let name = |node: &NodeId| placement.node_name(*node).unwrap();
    let mut found = vec![NodeId::NONE; keys.len()];
    for engine in engines() {
        found.fill(NodeId::NONE);
        engine.locate(placement, keys, &mut found).unwrap();
        assert_eq!(found.iter().map(name).collect::<Vec<_>>(), wanted, "{engine:?}");
    }
    assert_eq!(keys.iter().map(|key| placement.locate(key).unwrap()).collect::<Vec<_>>(), found);
    let mut words = vec![0; keys.len()];
    placement.hasher().words(keys, &mut words).unwrap();
    assert_eq!(words.iter().map(|word| placement.lookup().locate(*word).0).collect::<Vec<_>>(), found);

    let mut bounded = BoundedLoads::new(placement, 1000.0);
    let mut two = vec![NodeId::NONE; 2 * keys.len()];
    let replicas = engines()[0].replicas(placement, keys, 2, &mut two);
    if placement.cluster().algorithm().list {
        replicas.unwrap();
        assert!(two.chunks(2).map(|two| two[0]).eq(found.iter().copied()));
        assert!(two.chunks(2).all(|two| two[0] != two[1] && two[1] != NodeId::NONE));
        // There is room for all on every node.
        let bounded = bounded.as_mut().unwrap();
        bounded.observe(keys).unwrap();
        let mut nodes = vec![NodeId::NONE; keys.len()];
        bounded.nodes(&mut nodes).unwrap();
        assert_eq!(nodes, found);
    } else {
        assert!(replicas.is_err() && bounded.is_err());
    }
}

#[test]
fn end_to_end() {
    let vectors = read(include_str!("end-to-end.json"));
    let cases = vectors["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 28);
    for case in cases {
        let cluster = cluster(&vectors, case);
        let wanted = texts(&case["node"]);
        let (mut buffer, integers);
        let keys = if cluster.key() == Some(KeyType::Text) {
            buffer = KeyBuffer::new();
            texts(&case["keys"]).iter().for_each(|text| buffer.push(text.as_bytes()).unwrap());
            buffer.keys()
        } else {
            integers = numbers(&case["keys"]);
            Keys::from(&integers)
        };
        check(&cluster.placement().unwrap(), keys, &wanted);
        // A file brings the same answers.
        let again = Cluster::from_toml(&cluster.to_toml().unwrap()).unwrap();
        check(&again.placement().unwrap(), keys, &wanted);
        let again = Cluster::from_json(&cluster.to_json().to_string()).unwrap();
        check(&again.placement().unwrap(), keys, &wanted);
    }
    // All that these vectors can have, on which nothing but names, keys and seeds decides.
    let named = algorithms().iter().filter(|algorithm| !algorithm.layout.is_numbered() || algorithm.name == "dx");
    for algorithm in named {
        assert_eq!(cases.iter().filter(|case| case["algorithm"] == algorithm.name).count(), 4, "{algorithm:?}");
    }
}

/// Where no node is eligible every key is on none, whatever the algorithm.
#[test]
fn none_up() {
    let vectors = crate::placement_v1();
    let none = [
        &vectors["ring_16"]["none_up"],
        &vectors["lrh_16_c4"]["none_up"],
        &vectors["multi_probe_1_k21"]["none_up"],
        &vectors["rendezvous"]["none_up"],
        &vectors["sach_1009"]["none_up"],
        &vectors["edge"]["anchor_all_removed"]["lookup"],
    ];
    assert!(none.iter().all(|none| crate::number(none) == crate::twin::NONE));
    assert!(numbers(&vectors["edge"]["maglev_none_up"]).iter().all(|none| *none == u64::from(crate::twin::NONE)));
    for algorithm in
        algorithms().iter().filter(|algorithm| algorithm.removal != rehome::algorithm::Removal::LastNeverDown)
    {
        let nodes = (0..4).map(|number| Node::new(format!("n{number}")).with_up(false));
        let builder = Cluster::builder(algorithm.name).unwrap().nodes(nodes);
        let placement = builder.build().unwrap().placement().unwrap();
        for key in [0, 1, 4_294_967_295] {
            assert_eq!(placement.locate(Key::Integer(key)).unwrap(), NodeId::NONE, "{algorithm:?}");
        }
    }
}
