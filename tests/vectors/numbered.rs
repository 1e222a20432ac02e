//! Algorithms that place on numbered slots, through descriptions and their edits, and the sizes of new tables.

use rehome::hash::KeyHash;
use rehome::{Cluster, Node};

use crate::{check, digests, number, numbers, placement_v1, read, rows, short_numbers, twin};

/// Nodes in slots 0 to `count` - 1, listed in this or the reverse order.
fn cluster(algorithm: &str, count: u32, reversed: bool) -> Cluster {
    let node = |slot| Node::new(format!("s{slot}")).with_slot(slot);
    let mut nodes: Vec<Node> = (0..count).map(node).collect();
    if reversed {
        nodes.reverse();
    }
    Cluster::builder(algorithm).unwrap().nodes(nodes).build().unwrap()
}

#[test]
fn modulo() {
    let vectors = placement_v1();
    let slots = short_numbers(&vectors["modulo_12"]);
    for reversed in [false, true] {
        let placement = cluster("modulo", 12, reversed).placement().unwrap();
        check(&placement, &numbers(&vectors["keys"]), &digests(&vectors), &slots, None);
    }
}

#[test]
fn jump() {
    let vectors = placement_v1();
    let keys = numbers(&vectors["keys"]);
    for (column, buckets) in [1, 10, 1000].into_iter().enumerate() {
        let of = |name: &str| rows(&vectors[name]).iter().map(|row| row[column]).collect::<Vec<_>>();
        for reversed in [false, true] {
            let cluster = cluster("jump", buckets, reversed);
            check(&cluster.placement().unwrap(), &keys, &digests(&vectors), &of("jump_digest"), None);
            // The numbers of the paper's authors, on the key itself.
            let raw = Cluster::builder("jump").unwrap().hash(KeyHash::Identity).nodes(cluster.nodes().to_vec());
            check(&raw.build().unwrap().placement().unwrap(), &keys, &keys, &of("jump_raw_key"), None);
        }
    }
}

#[test]
fn anchor() {
    let vectors = placement_v1();
    let (keys, digests) = (numbers(&vectors["keys"]), digests(&vectors));
    let nodes = (0..26).map(|slot| Node::new(format!("s{slot}")));
    let mut removed = Cluster::builder("anchor").unwrap().parameter("capacity", 32).nodes(nodes).build().unwrap();
    // Up and down, beside leave and join.
    let mut down = removed.clone();
    let steps = vectors["anchor_32_working_26"].as_array().unwrap();
    assert_eq!(steps.len(), 20);
    for step in steps {
        let bucket = &step["bucket"];
        let name = format!("s{bucket}");
        match step["op"].as_str().unwrap() {
            "start" => {}
            "remove" => {
                removed.remove([name.as_str()]).unwrap();
                assert!(down.set_up(&name, false).unwrap());
            }
            "add" => {
                assert_eq!(removed.add(Node::new(name.as_str())).unwrap(), Some(number(bucket)));
                assert!(down.set_up(&name, true).unwrap());
            }
            other => panic!("what is {other}?"),
        }
        let slots = short_numbers(&step["lookup"]);
        for cluster in [&removed, &down] {
            let again = Cluster::from_toml(&cluster.to_toml().unwrap()).unwrap();
            for cluster in [cluster, &again] {
                let placement = cluster.placement().unwrap();
                assert_eq!(placement.eligible() as u64, step["working"].as_u64().unwrap());
                check(&placement, &keys[..64], &digests[..64], &slots, None);
            }
        }
    }
}

#[test]
fn sizes_of_new_maglev_tables() {
    for algorithm in ["maglev", "sach"] {
        for pair in rows(&placement_v1()["maglev_size"]) {
            let nodes = (0..pair[0]).map(|number| Node::new(format!("n{number}")));
            let cluster = Cluster::builder(algorithm).unwrap().nodes(nodes).build().unwrap();
            assert_eq!(cluster.number("size"), pair[1]);
        }
    }
}

/// The names of the other vectors give every algorithm a description that knows the order of its nodes or not.
#[test]
fn names_have_the_slots_of_their_order() {
    let vectors = read(include_str!("end-to-end.json"));
    let names = vectors["names"].as_array().unwrap();
    for algorithm in rehome::algorithms() {
        let nodes = names.iter().map(|name| Node::new(name.as_str().unwrap()));
        let cluster = Cluster::builder(algorithm.name).unwrap().nodes(nodes).build().unwrap();
        for (position, node) in (0..).zip(cluster.nodes()) {
            assert_eq!(node.slot(), algorithm.layout.is_numbered().then_some(position), "{algorithm:?}");
        }
        let placement = cluster.placement().unwrap();
        let found = twin::batch(&placement, &[1 << 40]);
        assert!(placement.node_name(found[0]).is_some());
    }
}
