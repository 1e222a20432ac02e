//! Edits of clusters of every algorithm, and what each of them cannot.

use rehome::algorithm::{Removal, Weights};
use rehome::algorithms;

use crate::support::Dir;

fn new(dir: &Dir, algorithm: &str, nodes: u32) {
    dir.ok(&format!("cluster new c.toml --algorithm {algorithm} --nodes {nodes} --force"));
}

/// An edit that must fail, and leave the file as it was.
#[track_caller]
fn refused(dir: &Dir, edit: &str, parts: &[&str]) {
    let before = dir.bytes("c.toml");
    dir.run(edit).fails(&["c.toml"]).says(parts);
    assert_eq!(dir.bytes("c.toml"), before, "{edit} changed the file");
}

#[test]
fn nodes_join_and_leave() {
    let dir = Dir::new();
    for algorithm in algorithms() {
        new(&dir, algorithm.name, 5);
        let before = dir.text("c.toml");
        dir.ok("cluster add c.toml new").prints(&["+ new"]);
        match algorithm.removal {
            Removal::Any => {
                dir.ok("cluster remove c.toml node-2").prints(&["- node-2"]);
            }
            _ => {
                let last = "the last slot is 5";
                refused(&dir, "cluster remove c.toml node-2", &["\"node-2\" of slot 2 leaves", last, "dx, "]);
                dir.ok("cluster remove c.toml new").prints(&["- new"]);
                assert_eq!(dir.text("c.toml"), before);
            }
        }
        refused(&dir, "cluster remove c.toml nobody", &["\"nobody\""]);
        refused(&dir, "cluster add c.toml node-1", &["\"node-1\""]);
        dir.ok("cluster check c.toml");
    }
}

#[test]
fn nodes_go_down_and_come_up() {
    let dir = Dir::new();
    for algorithm in algorithms() {
        new(&dir, algorithm.name, 5);
        let before = dir.text("c.toml");
        match algorithm.removal {
            Removal::Any => {
                dir.ok("cluster down c.toml node-1").prints(&["node-1: up true -> false"]);
                dir.ok("cluster up c.toml node-1").prints(&["node-1: up false -> true"]);
            }
            Removal::Last => {
                refused(&dir, "cluster down c.toml node-1", &["\"node-1\" of slot 1 is down", "the last slot is 4"]);
                dir.ok("cluster down c.toml node-4");
                dir.ok("cluster down c.toml node-3");
                refused(&dir, "cluster up c.toml node-4", &["\"node-3\" of slot 3"]);
                dir.ok("cluster up c.toml node-3");
                dir.ok("cluster up c.toml node-4");
            }
            _ => refused(&dir, "cluster down c.toml node-4", &["\"node-4\" of slot 4", "none can be down"]),
        }
        assert_eq!(dir.text("c.toml"), before, "{}", algorithm.name);
    }
}

#[test]
fn weights_where_the_algorithm_takes_them() {
    let dir = Dir::new();
    for algorithm in algorithms() {
        new(&dir, algorithm.name, 5);
        let edit = "cluster weight c.toml node-0=0.5";
        match algorithm.weights {
            Weights::One => {
                refused(&dir, edit, &["\"node-0\" has weight 0.5", "takes no weights", "dx, lrh, multi-probe"])
            }
            Weights::UpToOne => {
                dir.ok(edit).prints(&["node-0: weight 1 -> 0.5"]);
                refused(&dir, "cluster weight c.toml node-0=2", &["2"]);
            }
            _ => {
                dir.ok(edit).prints(&["node-0: weight 1 -> 0.5"]);
                dir.ok("cluster weight c.toml node-0=2").prints(&["node-0: weight 0.5 -> 2"]);
            }
        }
    }
}

#[test]
fn only_slots_are_doubled_and_halved() {
    let dir = Dir::new();
    for algorithm in algorithms() {
        new(&dir, algorithm.name, 5);
        if algorithm.name.starts_with("dx") {
            let before = dir.text("c.toml");
            dir.ok("cluster scale c.toml");
            dir.ok("cluster shrink c.toml");
            assert_eq!(dir.text("c.toml"), before);
        } else {
            for edit in ["scale", "shrink"] {
                refused(&dir, &format!("cluster {edit} c.toml"), &[algorithm.name, "only dx, dx-crc32c have"]);
            }
        }
    }
}

/// Removals are a history: slots come back in reverse order, and coming up out of order moves keys between others.
#[test]
fn anchor_keeps_the_order_of_removals() {
    let dir = Dir::new();
    dir.ok("cluster new c.toml --algorithm anchor --nodes 5 --capacity 8");
    dir.ok("cluster remove c.toml node-2").prints(&["removed: 7-5 -> 7-5,2"]);
    dir.ok("cluster down c.toml node-0").prints(&["removed: 7-5,2 -> 7-5,2,0"]);
    dir.ok("cluster down c.toml node-3").prints(&["removed: 7-5,2,0 -> 7-5,2,0,3"]);
    refused(&dir, "cluster add c.toml new", &["the next slot, 3, is that of node \"node-3\"", "bring that node up"]);
    dir.ok("cluster up c.toml node-0").prints(&["removed: 7-5,2,0,3 -> 7-5,2-3", "of all keys move between nodes"]);
    let up = dir.ok("cluster up c.toml node-3").prints(&["removed: 7-5,2-3 -> 7-5,2"]);
    assert!(!up.out.contains("of all keys"), "the last one that went down moves only its own keys:{}", up.shown());
    dir.ok("cluster add c.toml new").prints(&["+ new (slot 2)"]);
    for (number, slot) in [(6, 5), (7, 6), (8, 7)] {
        dir.ok(&format!("cluster add c.toml more-{number}")).prints(&[&format!("(slot {slot})")]);
    }
    refused(&dir, "cluster add c.toml more-9", &["8", "capacity"]);
}

#[test]
fn maglev_keeps_its_size() {
    let dir = Dir::new();
    dir.ok("cluster new c.toml --algorithm maglev --nodes 4 --size 13");
    for number in 4..13 {
        dir.ok(&format!("cluster add c.toml node-{number}"));
        assert!(dir.text("c.toml").contains("\nsize = 13\n"));
    }
    refused(&dir, "cluster add c.toml node-13", &["size 13 is too small for 14 nodes", "at least 17"]);
    // A light node gets no entry of so few.
    refused(&dir, "cluster weight c.toml node-3=0.01", &["leaves no entry for node \"node-3\" (weight 0.00999"]);
}

#[test]
fn parameters_are_changed_by_converting_to_the_same_algorithm() {
    let dir = Dir::with_clusters(500);
    dir.ok("cluster convert c10.toml --to ring --tokens 64 -o ring.toml");
    assert!(dir.text("ring.toml").contains("\ntokens = 64\n"));
    dir.ok("cluster convert ring.toml --to ring --tokens 128 -o more.toml");
    assert!(dir.text("more.toml").contains("\ntokens = 128\n"));
    dir.ok("plan --from ring.toml --to more.toml keys.txt -o plan").prints(&["moved"]);
}
