//! The lines of the issue that must work as they stand, and what they must give.

use crate::support::{Dir, Table, integer_keys, text_keys};

/// The clusters and the inputs that the lines name.
fn desk() -> Dir {
    let dir = Dir::new();
    dir.write("keys.txt", text_keys(1000));
    dir.write("ids.txt", integer_keys(1000));
    dir.write("nodes.csv", "name,slot,weight,zone,up\nalpha,3,1,dc1/r1,true\nbeta,900,0.5,,\ngamma,77,,dc2/r1,false\n");
    dir
}

const NEW: &str =
    "rehome cluster new c10.toml --algorithm dx --slots 16 --nodes 10        # node-0 .. node-9 in slots 0 .. 9";
const ADD: &str = "rehome cluster add c10.toml node-10 -o c11.toml                         # without -o: in place";

fn with_both() -> Dir {
    let dir = desk();
    dir.sh(NEW).succeeds().stays_quiet();
    dir.sh(ADD).succeeds().stays_quiet();
    dir
}

#[test]
fn new_makes_numbered_nodes_in_slots_from_0() {
    let dir = desk();
    dir.sh(NEW).succeeds().stays_quiet();
    let shown = dir.ok("cluster show c10.toml --json").json();
    assert_eq!(shown["dx"]["slots"], 16);
    let nodes = shown["nodes"].as_array().expect("nodes");
    assert_eq!(nodes.len(), 10);
    for (slot, node) in nodes.iter().enumerate() {
        assert_eq!(node["name"], format!("node-{slot}"));
        assert_eq!(node["slot"], slot);
    }
    assert_eq!(dir.names(), ["c10.toml", "ids.txt", "keys.txt", "nodes.csv"]);
}

#[test]
fn new_takes_names_a_seed_and_force() {
    let dir = desk();
    dir.write("named.toml", "something else");
    let line = "rehome cluster new named.toml --algorithm dx --node cache-a --node cache-b --seed 7 --force   # --force overwrites, in every verb";
    dir.sh(line).succeeds().stays_quiet();
    let shown = dir.ok("cluster show named.toml --json").json();
    assert_eq!(shown["seed"], 7);
    assert_eq!(shown["dx"]["slots"], 4);
    assert_eq!((&shown["nodes"][0]["name"], &shown["nodes"][1]["name"]), (&"cache-a".into(), &"cache-b".into()));
}

#[test]
fn new_takes_a_node_table() {
    let dir = desk();
    let line = "rehome cluster new c.toml --algorithm dx --slots 1024 --node-table nodes.csv   # columns name,slot[,weight,zone,up]";
    dir.sh(line).succeeds().stays_quiet();
    let shown = dir.ok("cluster show c.toml --json").json();
    let expected = serde_json::json!([
        { "name": "alpha", "slot": 3, "weight": 1.0, "zone": "dc1/r1", "up": true },
        { "name": "beta", "slot": 900, "weight": 0.5, "up": true },
        { "name": "gamma", "slot": 77, "weight": 1.0, "zone": "dc2/r1", "up": false },
    ]);
    assert_eq!(shown["nodes"], expected);
    assert_eq!(shown["dx"]["slots"], 1024);
    // The shortest table there is.
    dir.write("nodes.csv", "name,slot\na,0\n");
    dir.sh(&(line.replace("   #", " --force   #"))).succeeds().stays_quiet();
    assert_eq!(dir.ok("cluster show c.toml --json").json()["nodes"][0]["name"], "a");
}

#[test]
fn add_writes_another_file_or_edits_in_place() {
    let dir = desk();
    dir.sh(NEW).succeeds();
    let before = dir.bytes("c10.toml");
    dir.sh(ADD).succeeds().stays_quiet();
    assert_eq!(dir.bytes("c10.toml"), before, "-o must leave the first file as it is");
    dir.sh("rehome cluster add c10.toml node-10").succeeds().stays_quiet();
    assert_eq!(dir.bytes("c10.toml"), dir.bytes("c11.toml"));
    assert_eq!(
        dir.ok("cluster show c11.toml --json").json()["nodes"][10],
        serde_json::json!({
            "name": "node-10", "slot": 10, "weight": 1.0, "up": true,
        })
    );
}

#[test]
fn weight_down_and_a_dry_scale() {
    let dir = with_both();
    let line = "rehome cluster weight c11.toml node-3=0.5 && rehome cluster down c11.toml node-4 && rehome cluster scale c11.toml --dry-run";
    let run = dir.sh(line).succeeds().stays_quiet();
    assert!(run.out.contains("slots: 16 -> 32") && run.out.contains("nothing was written"), "{}", run.shown());
    let shown = dir.ok("cluster show c11.toml --json").json();
    assert_eq!(shown["nodes"][3]["weight"], 0.5);
    assert_eq!(shown["nodes"][4]["up"], false);
    assert_eq!(shown["dx"]["slots"], 16);
    assert_eq!(shown["eligible"], 10);
}

#[test]
fn locate_writes_key_and_node() {
    let dir = with_both();
    dir.sh("rehome locate --cluster c10.toml keys.txt -o nodes.csv --force                 # columns key,node")
        .succeeds()
        .stays_quiet();
    let table = Table::csv(&dir.text("nodes.csv"));
    assert_eq!(table.columns, ["key", "node"]);
    let expected: Vec<String> = (1..=1000).map(|number| format!("user:{number}")).collect();
    assert_eq!(table.column("key"), expected);
    assert!(table.column("node").iter().all(|node| node.starts_with("node-")), "{table:?}");
    // As it stands, where nodes.csv is not there yet.
    let fresh = Dir::with_clusters(1000);
    fresh
        .sh("rehome locate --cluster c10.toml keys.txt -o nodes.csv                  # columns key,node")
        .succeeds()
        .stays_quiet();
    assert_eq!(fresh.bytes("nodes.csv"), dir.bytes("nodes.csv"));
}

#[test]
fn locate_writes_replicas_to_parquet() {
    let dir = with_both();
    let line =
        "rehome locate --cluster c10.toml --key-type u64 ids.txt -o nodes.parquet --replicas 3   # node_1 .. node_3";
    dir.sh(line).succeeds().stays_quiet();
    let table = Table::parquet(&dir.path("nodes.parquet"));
    assert_eq!(table.columns, ["key", "node_1", "node_2", "node_3"]);
    let keys = dir.text("ids.txt");
    assert_eq!(table.column("key"), keys.lines().collect::<Vec<_>>());
    for row in &table.rows {
        assert!(row[1] != row[2] && row[1] != row[3] && row[2] != row[3], "a node twice: {row:?}");
    }
    // The first replica is the node of the key.
    let single = dir.ok("locate --cluster c10.toml --key-type u64 ids.txt");
    assert_eq!(table.column("node_1"), Table::csv(&single.out).column("node"));
}

#[test]
fn count_prints_sums_as_json() {
    let dir = with_both();
    let counts = dir.sh("rehome count --cluster c10.toml keys.txt --json").succeeds().stays_quiet().json();
    let nodes = counts["nodes"].as_array().expect("nodes");
    assert_eq!(nodes.iter().map(|node| node["keys"].as_u64().expect("keys")).sum::<u64>(), 1000);
    assert_eq!((&counts["keys"], &counts["unplaced"], &counts["bad_rows"]), (&1000.into(), &0.into(), &0.into()));
    // The same as counting the rows of locate.
    let table = Table::csv(&dir.ok("locate --cluster c10.toml keys.txt").out);
    for node in nodes {
        let located = table.column("node").iter().filter(|name| node["name"] == **name).count();
        assert_eq!(node["keys"], located, "{node}");
    }
}

#[test]
fn plan_writes_its_directory() {
    let dir = with_both();
    let run = dir.sh("rehome plan --from c10.toml --to c11.toml keys.txt -o plan/").succeeds().stays_quiet();
    assert!(run.out.contains("moved") && run.out.contains("node-10"), "a table for people:{}", run.shown());
    let files: Vec<_> = dir.tree("plan").into_keys().collect();
    assert_eq!(files, ["flows.csv", "manifest.json", "moves/part-00000.parquet", "nodes.csv", "summary.json"]);
    assert!(!dir.exists("plan.partial"));

    let summary: serde_json::Value = serde_json::from_str(&dir.text("plan/summary.json")).expect("JSON");
    let fields = ["keys", "moved", "moved_fraction", "least_moves", "excess", "unplaced", "bad_rows", "from", "to"];
    for field in fields {
        assert!(summary.get(field).is_some(), "summary.json has no {field}: {summary:#}");
    }
    for side in ["from", "to"] {
        for field in ["max_over_avg", "cv", "nodes", "eligible"] {
            assert!(
                summary[side].get(field).is_some_and(|value| value.is_number()),
                "{side} has no {field}: {summary:#}"
            );
        }
    }
    assert_eq!((&summary["from"]["nodes"], &summary["to"]["nodes"]), (&10.into(), &11.into()));
    assert_eq!(dir.text("plan/flows.csv").lines().next(), Some("from,to,keys,bytes,excess"));
    assert_eq!(dir.text("plan/nodes.csv").lines().next(), Some("name,keys_from,keys_to,bytes_from,bytes_to"));
    let moves = Table::parquet(&dir.path("plan/moves/part-00000.parquet"));
    assert_eq!(moves.columns, ["row", "key", "from", "to"]);
}

#[test]
fn locate_from_a_pipe_into_head_is_quiet() {
    let dir = with_both();
    let run = dir.sh("cat keys.txt | rehome locate --cluster c10.toml - | head").succeeds().stays_quiet();
    assert_eq!(run.out.lines().count(), 10);
    assert_eq!(run.out.lines().next(), Some("key,node"));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let dir = with_both();
    // Far more than a pipe holds, so that the writer meets the closed pipe. The code of the first command is printed.
    dir.write("many.txt", text_keys(200_000));
    let commands = [
        "rehome locate --cluster c10.toml many.txt",
        "rehome locate --cluster c10.toml many.txt --output-format jsonl",
        "rehome locate --cluster c10.toml many.txt --output-format parquet",
        "rehome completions bash",
        "rehome --help",
    ];
    for command in commands {
        let run = dir.sh(&format!("{{ {command}; echo \"code $?\" >&2; }} | head -c 10 > /dev/null")).succeeds();
        assert_eq!(run.err, "code 0\n", "a closed pipe should be quiet:{}", run.shown());
    }
}
