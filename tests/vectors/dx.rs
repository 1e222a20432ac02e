//! `dx` and `dx-crc32c`: nodes, search lengths, lists, zones and slots.

use rehome::{Cluster, Node, NodeId, Spread};
use serde_json::Value;

use crate::twin::{FULL, NONE, Order};
use crate::{
    ORDERS, active_rule, check, digests, engines, number, numbers, placement_v1, replicas, rows, short_numbers,
    spread_over_zones, tenth_up, threshold_rule, twin,
};

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
