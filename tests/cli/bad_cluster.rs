//! Cluster files and node tables that cannot be: each is refused in every verb, with what is wrong and what to do.

use crate::support::Dir;

/// Every verb refuses this file of `tests/data`, and an edit leaves it as it was.
#[track_caller]
fn refused(name: &str, parts: &[&str]) {
    let dir = Dir::with_clusters(3);
    dir.data("table-good.csv");
    dir.data(name);
    let (before, text) = (dir.names(), dir.bytes(name));
    let mut parts = parts.to_vec();
    parts.push(name);
    for line in [
        "cluster check FILE",
        "cluster show FILE",
        "cluster scale FILE",
        "cluster add FILE another -o other.toml",
        "locate --cluster FILE keys.txt -o out.csv",
        "count --cluster FILE keys.txt",
        "plan --from c10.toml --to FILE keys.txt -o plan",
        "plan --from FILE --to c10.toml keys.txt -o plan",
    ] {
        // What is too sparse may be so because of what an edit is about to change.
        if name == "cluster-too-sparse.toml"
            && line.starts_with("cluster ")
            && !line.contains("show")
            && !line.contains("check")
        {
            continue;
        }
        dir.run(&line.replace("FILE", name)).fails(&parts);
        assert_eq!(dir.names(), before, "{line} left something");
        assert_eq!(dir.bytes(name), text, "{line} changed the file");
    }
}

macro_rules! refusals {
    ($($test:ident: $file:literal, [$($part:literal),*];)*) => {
        $(#[test] fn $test() { refused($file, &[$($part),*]); })*
    };
}

refusals! {
    one_name_twice: "cluster-duplicate-name.toml", ["\"a\"", "must differ"];
    two_nodes_in_one_slot: "cluster-two-in-one-slot.toml", ["slot 0", "\"a\"", "\"b\"", "a slot of its own"];
    a_slot_outside: "cluster-slot-outside.toml", ["\"a\"", "slot 4", "0 to 3", "scale"];
    a_slot_far_outside: "cluster-slot-huge.toml", ["\"a\"", "slot 4294967296", "2^31"];
    a_negative_slot: "cluster-slot-negative.toml", ["line 8", "-1"];
    a_node_without_a_slot: "cluster-no-slot.toml", ["\"a\" has no slot"];
    slots_that_are_no_power_of_two: "cluster-slots-no-power.toml", ["12 slots", "power of two", "16"];
    slots_above_2_31: "cluster-slots-above-2-31.toml", ["4294967296 slots", "2147483648"];
    no_slots: "cluster-slots-zero.toml", ["0 slots", "at least one"];
    a_negative_weight: "cluster-weight-negative.toml", ["\"a\"", "-0.5", "0 (drained)"];
    a_weight_that_is_no_number: "cluster-weight-nan.toml", ["\"a\"", "NaN", "finite number"];
    an_infinite_weight: "cluster-weight-infinite.toml", ["\"a\"", "inf", "finite number"];
    a_weight_above_1: "cluster-weight-above-one.toml", ["\"a\"", "1.5", "0 (drained) to 1"];
    a_weight_for_crc32c: "cluster-weight-crc32c.toml", ["\"a\"", "0.5", "no weights"];
    a_seed_for_crc32c: "cluster-seed-crc32c.toml", ["dx-crc32c", "no seed"];
    too_sparse_to_search: "cluster-too-sparse.toml", ["too sparse to search", "2097152 slots", "shrink"];
    a_newer_version: "cluster-newer.toml", ["version 2 is newer", "reads version 1", "newer rehome"];
    no_version: "cluster-no-version.toml", ["no version", "version = 1"];
    an_unknown_algorithm: "cluster-unknown-algorithm.toml", ["\"dxx\"", "dx, dx-crc32c"];
    an_unknown_hash: "cluster-unknown-hash.toml", ["\"md5\"", "xxh3"];
    an_unknown_key_type: "cluster-unknown-key.toml", ["\"float\"", "uuid"];
    an_unknown_spread: "cluster-unknown-spread.toml", ["\"rack\"", "node or zone"];
    a_misspelt_field: "cluster-misspelt-top.toml", ["line 3, column 1", "`sede`", "`seed`"];
    a_misspelt_field_of_a_node: "cluster-misspelt-node.toml", ["line 9, column 1", "`wieght`", "`weight`"];
    a_misspelt_field_of_the_slots: "cluster-misspelt-slots.toml", ["line 4, column 1", "`slotz`", "`slots`"];
    a_misspelt_field_in_json: "cluster-misspelt.json", ["line 6 column", "`wieght`", "`weight`"];
    no_table_of_slots: "cluster-missing-table.toml", ["number of slots is missing", "[dx]"];
    the_table_of_another_algorithm: "cluster-wrong-table.toml", ["[dx-crc32c]", "algorithm is dx"];
    a_queue_with_a_taken_slot: "cluster-queue-has-taken.toml", ["queue", "slot 0", "a node has that slot"];
    a_queue_that_lacks_a_slot: "cluster-queue-short.toml", ["queue", "2 slots", "3"];
    a_queue_that_leaves_the_array: "cluster-queue-outside.toml", ["queue", "slot 4"];
    a_queue_with_a_slot_twice: "cluster-queue-twice.toml", ["queue", "slot 2", "twice"];
    a_queue_of_words: "cluster-queue-words.toml", ["queue", "\"one\""];
    a_node_without_a_name: "cluster-empty-name.toml", ["empty name"];
    a_node_with_an_empty_zone: "cluster-empty-zone.toml", ["\"a\"", "empty zone"];
    toml_that_is_none: "cluster-broken.toml", ["line 3", "unclosed table"];
    json_that_is_none: "cluster-broken.json", ["line 4", "EOF"];
    text_that_is_none: "cluster-not-utf8.toml", ["UTF-8"];
    nodes_in_two_places: "cluster-nodes-twice.toml", ["both nodes and a node_table"];
}

#[test]
fn a_table_that_is_missing_is_named() {
    let dir = Dir::with_clusters(1);
    dir.data("cluster-table-missing.toml");
    dir.run("cluster check cluster-table-missing.toml").fails(&["table-missing.csv", "No such file"]);
}

#[test]
fn no_node_up_leaves_every_key_unplaced_and_says_so() {
    let dir = Dir::with_clusters(100);
    dir.data("cluster-nobody-up.toml");
    let said = ["warning: ", "100 keys have no node", "cluster-nobody-up.toml", "is up"];
    dir.ok("locate --cluster cluster-nobody-up.toml keys.txt -o out.csv").says(&said);
    assert!(dir.text("out.csv").lines().skip(1).all(|line| line.ends_with(',')));
    dir.ok("locate --cluster cluster-nobody-up.toml keys.txt --replicas 2 -o two.csv").says(&said);
    dir.ok("count --cluster cluster-nobody-up.toml keys.txt").says(&said).prints(&["(unplaced)", "100.00 %"]);
    let counts = dir.ok("count --cluster cluster-nobody-up.toml keys.txt --json").json();
    assert_eq!((&counts["unplaced"], &counts["nodes"][0]["keys"]), (&100.into(), &0.into()));
    dir.ok("cluster check cluster-nobody-up.toml").says(&["warning: ", "every key is unplaced"]);
    // A cluster of no nodes at all is the same.
    dir.ok("cluster new none.toml --algorithm dx");
    dir.ok("locate --cluster none.toml keys.txt -o none.csv").says(&["100 keys have no node"]);
    // An edit that takes the last node away says it.
    dir.ok("cluster new one.toml --algorithm dx --nodes 1");
    dir.ok("cluster down one.toml node-0").says(&["every key is unplaced"]);
}

#[test]
fn node_tables_are_checked() {
    let dir = Dir::new();
    for (name, parts) in [
        ("table-no-name.csv", &["\"node\"", "name, slot, weight, zone, up"][..]),
        ("table-bad-slot.csv", &["line 3", "column \"slot\"", "\"one\""]),
        ("table-bad-weight.csv", &["line 3", "column \"weight\"", "\"nan\""]),
        ("table-bad-up.csv", &["line 2", "column \"up\"", "\"maybe\"", "true or false"]),
        ("table-no-slot.csv", &["\"a\" has no slot"]),
        ("table-short-row.csv", &["line 3", "1 field"]),
        ("table-quote-unclosed.csv", &["line 3", "never closed", "close it"]),
        ("table-unknown-column.csv", &["\"wieght\"", "name, slot, weight, zone, up"]),
        ("table-duplicate-name.csv", &["\"a\"", "must differ"]),
        ("table-empty.csv", &["no header line"]),
        ("table-slot-outside.csv", &["\"a\"", "slot 1024", "0 to 1023"]),
    ] {
        dir.data(name);
        let run = dir.run(&format!("cluster new c.toml --algorithm dx --slots 1024 --node-table {name}"));
        run.fails(parts).says(&[name]);
        assert!(!dir.names().iter().any(|file| file.starts_with("c.")), "{name} left {:?}", dir.names());
        dir.sh(&format!("rm {name}")).succeeds();
    }
    dir.write("nodes.txt", "name,slot\na,0\n");
    dir.run("cluster new c.toml --algorithm dx --node-table nodes.txt").fails(&["nodes.txt", ".csv or .parquet"]);
    dir.run("cluster new c.toml --algorithm dx --node-table missing.csv").fails(&["missing.csv", "No such file"]);
    assert_eq!(dir.names(), ["nodes.txt"]);
}

#[test]
fn new_refuses_what_cannot_be() {
    let dir = Dir::new();
    for (line, parts) in [
        ("cluster new c.toml --algorithm dx --slots 3 --nodes 1", &["3 slots", "power of two", "4"][..]),
        ("cluster new c.toml --algorithm dx --slots 4294967296", &["the most is 2147483648"]),
        ("cluster new c.toml --algorithm dx-crc32c --slots 1073741824", &["the most is 1073741823"]),
        ("cluster new c.toml --algorithm dx --slots 0", &["at least one"]),
        ("cluster new c.toml --algorithm dx --slots 2 --nodes 3", &["slots = 2", "3 nodes"]),
        ("cluster new c.toml --algorithm dx --slots 2147483648 --nodes 1", &["too sparse"]),
        ("cluster new c.toml --algorithm dx --node a --node a", &["\"a\"", "must differ"]),
        ("cluster new c.toml --algorithm dx --hash crc32 --seed 1", &["crc32", "seed"]),
        ("cluster new c.toml --algorithm dx --hash identity --key text", &["identity", "integer keys"]),
        ("cluster new c.toml --algorithm dx-crc32c --key text", &["integer keys"]),
        ("cluster new c.txt --algorithm dx", &["c.txt", ".toml or .json"]),
        ("cluster new c --algorithm dx", &["c:", ".toml or .json"]),
        ("cluster new nowhere/c.toml --algorithm dx", &["nowhere", "does not exist"]),
    ] {
        dir.run(line).fails(parts);
        assert!(dir.names().is_empty(), "{line} left {:?}", dir.names());
    }
    dir.args(&["cluster", "new", "c.toml", "--algorithm", "dx", "--node", ""]).exits(2);
    dir.run("cluster new c.toml").misused(&["--algorithm"]);
    dir.run("cluster new c.toml --algorithm dxx").misused(&["dxx", "dx-crc32c"]);
    dir.run("cluster new c.toml --algorithm dx --nodes 2 --node a").misused(&["--nodes", "--node"]);
    dir.run("cluster new c.toml --algorithm dx --nodes 2 --node-table a.csv").misused(&["--node-table"]);
    dir.run("cluster new c.toml --algorithm dx --seed -1").misused(&["-1"]);
    dir.run("cluster new c.toml --algorithm dx --seed 18446744073709551616").misused(&["--seed"]);
    dir.run("cluster new c.toml --algorithm dx --hash md5").misused(&["md5", "murmur3"]);
    assert!(dir.names().is_empty(), "{:?}", dir.names());
}

#[test]
fn more_nodes_than_any_cluster_holds_are_refused_at_once() {
    let dir = Dir::new();
    // Four billion names would not fit into memory: the number must be looked at first.
    let run = dir.sh("ulimit -v 2000000; rehome cluster new c.toml --algorithm dx --slots 16 --nodes 4294967295");
    run.fails(&["slots = 16", "4294967295 nodes"]);
    assert!(dir.names().is_empty(), "{:?}", dir.names());
}
