//! The verbs of `rehome cluster`: what they do to a file, and that they do it whole or not at all.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use arrow_array::{BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};

use crate::support::{Dir, is_partial, write_parquet};

fn shown(dir: &Dir, name: &str) -> serde_json::Value {
    dir.ok(&format!("cluster show {name} --json")).json()
}

#[test]
fn new_has_defaults_and_takes_every_option() {
    let dir = Dir::new();
    for (nodes, slots) in [(0, 2), (1, 2), (2, 4), (3, 8), (10, 32), (16, 32), (17, 64)] {
        dir.ok(&format!("cluster new c.toml --algorithm dx --nodes {nodes} --force"));
        assert_eq!(shown(&dir, "c.toml")["dx"]["slots"], slots, "{nodes} nodes");
    }
    dir.ok("cluster new all.toml --algorithm dx --slots 64 --nodes 3 --hash xxh64 --seed 18446744073709551615 --key uuid --spread zone");
    let value = shown(&dir, "all.toml");
    assert_eq!(value["hash"], "xxh64");
    assert_eq!(value["seed"], "18446744073709551615", "above 2^63 - 1 a string, as TOML integers end there");
    assert_eq!((&value["key"], &value["spread"]), (&"uuid".into(), &"zone".into()));
    dir.ok("cluster show all.toml").prints(&["seed 18446744073709551615", "xxh64", "uuid", "zone"]);
    dir.ok("cluster new crc.toml --algorithm dx-crc32c --slots 10 --nodes 4 --key u32");
    assert_eq!(shown(&dir, "crc.toml")["dx-crc32c"]["slots"], 10);
    dir.ok("cluster new one.toml --algorithm dx --slots 1 --node only");
    dir.ok("cluster check one.toml").stays_quiet();
}

#[test]
fn new_does_not_replace_a_file_without_force() {
    let dir = Dir::new();
    dir.write("c.toml", "precious");
    dir.run("cluster new c.toml --algorithm dx").fails(&["c.toml", "already exists", "--force"]);
    assert_eq!(dir.text("c.toml"), "precious");
    dir.ok("cluster new c.toml --algorithm dx --force");
    dir.ok("cluster new d.toml --algorithm dx --nodes 3 --dry-run").prints(&["node-2"]);
    assert!(!dir.exists("d.toml"));
}

#[test]
fn show_says_what_a_cluster_is_and_takes() {
    let dir = Dir::with_clusters(0);
    let run = dir.ok("cluster show c10.toml").stays_quiet();
    let run = run.prints(&["algorithm", "dx", "seed 0", "10, 10 eligible", "16", "10-15", "bytes", "node-9"]);
    let bytes = shown(&dir, "c10.toml")["memory_bytes"].as_u64().expect("a number of bytes");
    assert!(bytes > 0 && run.out.contains(&format!("{bytes} bytes")), "{}", run.shown());
    assert_eq!(shown(&dir, "c10.toml")["mean_search"], 1.6);
    // A larger cluster takes more.
    dir.ok("cluster new big.toml --algorithm dx --slots 1048576 --nodes 1000");
    assert!(shown(&dir, "big.toml")["memory_bytes"].as_u64().expect("bytes") >= 1_048_576 / 8);
    let run = dir.ok("cluster show big.toml");
    assert!(run.out.contains("and 980 more") && !run.out.contains("node-500"), "{}", run.shown());
    dir.ok("cluster show big.toml --all").prints(&["node-500", "node-999"]);
}

#[test]
fn clusters_of_2_31_slots_are_made_and_searched() {
    let dir = Dir::with_clusters(3);
    dir.ok("cluster new big.toml --algorithm dx --slots 2147483648 --nodes 4096");
    assert_eq!(shown(&dir, "big.toml")["dx"]["slots"], 2_147_483_648_u64);
    dir.ok("locate --cluster big.toml keys.txt -o out.csv");
    assert_eq!(dir.text("out.csv").lines().filter(|line| line.contains(",node-")).count(), 3);
    dir.run("cluster scale big.toml").fails(&["big.toml", "4294967296 slots", "2147483648"]);
}

#[test]
fn add_takes_the_head_of_the_queue_and_remove_gives_to_its_tail() {
    let dir = Dir::new();
    // The example of spec/placement.md, "Slots and their queue".
    dir.ok("cluster new c.toml --algorithm dx --slots 4 --node a --node b --node c");
    let slot = |name: &str| {
        let value = shown(&dir, "c.toml");
        let nodes = value["nodes"].as_array().expect("nodes").clone();
        nodes.into_iter().find(|node| node["name"] == name).expect(name)["slot"].as_u64().expect("a slot")
    };
    dir.ok("cluster add c.toml d");
    assert_eq!(slot("d"), 3);
    dir.run("cluster add c.toml e").fails(&["c.toml", "no slot is left for \"e\"", "scale"]);
    dir.ok("cluster remove c.toml b");
    dir.ok("cluster remove c.toml a");
    dir.ok("cluster add c.toml e");
    assert_eq!(slot("e"), 1);
    dir.ok("cluster scale c.toml");
    dir.ok("cluster add c.toml f");
    assert_eq!(slot("f"), 0);
    dir.ok("cluster remove c.toml c");
    dir.ok("cluster add c.toml g");
    assert_eq!(slot("g"), 4);
    dir.ok("cluster remove c.toml e d");
    assert_eq!(shown(&dir, "c.toml")["dx"]["queue"], "5-7,2,1,3");
    dir.ok("cluster shrink c.toml").prints(&["g", "slot 4 -> 1"]);
    assert_eq!(slot("g"), 1);
    dir.ok("cluster add c.toml h");
    assert_eq!(slot("h"), 2);
    assert_eq!(shown(&dir, "c.toml")["dx"]["slots"], 4);
}

#[test]
fn add_takes_weights_and_zones() {
    let dir = Dir::with_clusters(0);
    dir.ok("cluster add c10.toml big-1 big-2 --zone dc1/rack2 --weight 0.5");
    let nodes = &shown(&dir, "c10.toml")["nodes"];
    assert_eq!(
        nodes[11],
        serde_json::json!({ "name": "big-2", "slot": 11, "weight": 0.5, "zone": "dc1/rack2", "up": true })
    );
    dir.run("cluster add c10.toml bad --weight 1.5").fails(&["c10.toml", "\"bad\"", "1.5"]);
    dir.run("cluster add c10.toml bad --weight -1").fails(&["c10.toml", "\"bad\"", "-1"]);
    dir.run("cluster add c10.toml bad --weight nan").fails(&["c10.toml", "NaN"]);
    dir.args(&["cluster", "add", "c10.toml", "bad", "--zone", ""]).exits(2);
    dir.run("cluster add c10.toml").misused(&["NODE"]);
}

#[test]
fn up_down_and_weight_edit_what_they_name() {
    let dir = Dir::with_clusters(0);
    dir.ok("cluster down c10.toml node-1 node-2").prints(&["node-1", "up true -> false"]);
    assert_eq!(shown(&dir, "c10.toml")["eligible"], 8);
    dir.ok("cluster down c10.toml node-1").prints(&["nothing changes"]);
    dir.ok("cluster up c10.toml node-1 node-2");
    assert_eq!(dir.bytes("c10.toml"), {
        dir.ok("cluster new fresh.toml --algorithm dx --slots 16 --nodes 10");
        dir.bytes("fresh.toml")
    });
    dir.ok("cluster weight c10.toml node-3=0.5 node-4=0 node-5=1e-3").prints(&["weight 1 -> 0.5"]);
    let value = shown(&dir, "c10.toml");
    assert_eq!(
        (&value["nodes"][3]["weight"], &value["nodes"][5]["weight"], &value["eligible"]),
        (&0.5.into(), &0.001.into(), &9.into())
    );
    for (line, parts) in [
        ("cluster weight c10.toml node-3", &["NODE=WEIGHT"][..]),
        ("cluster weight c10.toml node-3=much", &["much", "not a number"]),
        ("cluster weight c10.toml node-3=", &["not a number"]),
    ] {
        dir.run(line).misused(parts);
    }
}

#[test]
fn an_edit_that_fails_changes_nothing() {
    let dir = Dir::with_clusters(0);
    let (before, names) = (dir.bytes("c10.toml"), dir.names());
    for (line, parts) in [
        ("cluster add c10.toml node-3", &["\"node-3\"", "must differ"][..]),
        ("cluster add c10.toml new-1 new-2 new-2", &["\"new-2\"", "must differ"]),
        ("cluster add c10.toml a b c d e f g", &["no slot is left for \"g\""]),
        ("cluster remove c10.toml node-33", &["no node is named \"node-33\"", "did you mean \"node-3\"?"]),
        ("cluster remove c10.toml node-1 node-1", &["\"node-1\"", "twice"]),
        ("cluster remove c10.toml node-1 nothing-like-it", &["no node is named"]),
        ("cluster up c10.toml node-1 nope", &["no node is named \"nope\""]),
        ("cluster down c10.toml node-1 nope", &["no node is named \"nope\""]),
        ("cluster weight c10.toml node-1=0.5 node-2=2", &["\"node-2\"", "weight 2"]),
        ("cluster weight c10.toml node-1=0.5 node-2=nan", &["\"node-2\"", "NaN"]),
        ("cluster weight c10.toml node-1=inf", &["inf", "finite"]),
        ("cluster weight c10.toml node-1=-1", &["-1"]),
        ("cluster shrink c10.toml", &["10 nodes", "8 slots"]),
        ("cluster weight c10.toml node-1=0.5 -o nowhere/c.toml", &["nowhere", "does not exist"]),
        ("cluster weight c10.toml node-1=0.5 -o c.txt", &["c.txt", ".toml or .json"]),
        ("cluster weight c10.toml node-1=0.5 -o c11.toml", &["c11.toml", "already exists", "--force"]),
    ] {
        dir.run(line).fails(parts);
        assert_eq!(dir.bytes("c10.toml"), before, "{line} changed the file");
        assert_eq!(dir.names(), names, "{line} left something");
    }
    dir.ok("cluster weight c10.toml node-1=0.5 -o c11.toml --force");
    assert_eq!(dir.bytes("c10.toml"), before);
    assert_eq!(shown(&dir, "c11.toml")["nodes"][1]["weight"], 0.5);
}

#[test]
fn an_edit_may_not_make_a_cluster_that_cannot_be_searched() {
    let dir = Dir::new();
    dir.ok("cluster new c.toml --algorithm dx --slots 1048576 --nodes 1");
    let before = dir.bytes("c.toml");
    dir.run("cluster scale c.toml").fails(&["c.toml", "too sparse"]);
    dir.run("cluster weight c.toml node-0=0.25").fails(&["c.toml", "too sparse"]);
    assert_eq!(dir.bytes("c.toml"), before);
    dir.ok("cluster add c.toml node-1");
    dir.ok("cluster scale c.toml");
}

#[test]
fn a_dry_run_writes_nothing_and_shows_what_would_change() {
    let dir = Dir::with_clusters(0);
    dir.ok("cluster new half.toml --algorithm dx --slots 64 --nodes 4");
    let (before, names) = (dir.tree(""), dir.names());
    for (line, parts) in [
        ("cluster add c10.toml x", &["+ x (slot 10)"][..]),
        ("cluster remove c10.toml node-1", &["- node-1 (slot 1)"]),
        ("cluster down c10.toml node-1", &["node-1: up true -> false"]),
        ("cluster up c10.toml node-1", &["nothing changes"]),
        ("cluster weight c10.toml node-1=0.5", &["node-1: weight 1 -> 0.5"]),
        ("cluster scale c10.toml", &["slots: 16 -> 32"]),
        ("cluster shrink half.toml", &["slots: 64 -> 32"]),
        ("cluster add c10.toml x -o new.toml", &["new.toml", "+ x"]),
        ("cluster new other.toml --algorithm dx --nodes 2", &["node-1"]),
    ] {
        let run = dir.ok(&format!("{line} --dry-run")).prints(parts);
        assert!(dir.tree("") == before && dir.names() == names, "a dry run wrote something:{}", run.shown());
    }
    // What cannot be done for real fails in a dry run too.
    dir.run("cluster remove c10.toml nope --dry-run").fails(&["no node is named"]);
}

#[test]
fn diff_tells_clusters_apart() {
    let dir = Dir::with_clusters(0);
    dir.ok("cluster diff c10.toml c10.toml").prints(&["alike"]);
    dir.ok("cluster remove c11.toml node-2 -o other.toml");
    dir.ok("cluster weight other.toml node-3=0.5");
    dir.ok("cluster down other.toml node-4");
    dir.ok("cluster scale other.toml");
    dir.ok("cluster diff c10.toml other.toml").prints(&[
        "- node-2 (slot 2)",
        "+ node-10 (slot 10)",
        "node-3: weight 1 -> 0.5",
        "node-4: up true -> false",
        "slots: 16 -> 32",
    ]);
    let diff = dir.ok("cluster diff c10.toml other.toml --json").json();
    assert_eq!(diff["changed"].as_array().expect("changes").len(), 2);
    assert!(
        diff["added"].to_string().contains("node-10") && diff["removed"].to_string().contains("node-2"),
        "{diff:#}"
    );
    let none = dir.ok("cluster diff c10.toml c10.toml --json").json();
    assert_eq!(none, serde_json::json!({ "options": [], "added": [], "removed": [], "changed": [] }));
    dir.run("cluster diff c10.toml missing.toml").fails(&["missing.toml", "No such file"]);
}

#[test]
fn json_files_are_cluster_files_too() {
    let dir = Dir::with_clusters(500);
    dir.ok("cluster new c.json --algorithm dx --slots 16 --nodes 10 --seed 0");
    serde_json::from_str::<serde_json::Value>(&dir.text("c.json")).expect("JSON");
    assert_eq!(dir.ok("locate --cluster c.json keys.txt").out, dir.ok("locate --cluster c10.toml keys.txt").out);
    // From one to the other and back, through every kind of field.
    dir.ok("cluster add c.json extra --weight 0.25 --zone a/b -o c.toml");
    dir.ok("cluster remove c.toml node-3");
    dir.ok("cluster down c.toml node-4 -o d.json");
    dir.ok("cluster up d.json node-4 -o e.toml");
    assert_eq!(dir.bytes("e.toml"), dir.bytes("c.toml"));
    dir.ok("cluster diff c.toml e.toml").prints(&["alike"]);
    // A byte-order mark, which some editors write.
    dir.write("mark.json", [b"\xef\xbb\xbf".as_slice(), &dir.bytes("c.json")].concat());
    dir.write("mark.toml", [b"\xef\xbb\xbf".as_slice(), &dir.bytes("c10.toml")].concat());
    dir.ok("cluster check mark.json");
    dir.ok("cluster check mark.toml");
}

#[test]
fn what_show_prints_is_a_cluster_file_but_for_what_it_adds() {
    let dir = Dir::with_clusters(0);
    dir.ok("cluster remove c11.toml node-2");
    let mut value = shown(&dir, "c11.toml");
    for added in ["eligible", "memory_bytes", "mean_search"] {
        value.as_object_mut().expect("an object").remove(added).expect(added);
    }
    dir.write("again.json", value.to_string());
    dir.ok("cluster diff c11.toml again.json").prints(&["alike"]);
}

#[test]
fn a_table_gets_a_new_name_from_its_content() {
    let dir = Dir::with_clusters(500);
    dir.write("nodes.csv", "name,slot,weight,zone,up\na,0,1,x,1\nb,1,0.5,y,down\n\"c,d\",2,,,\n");
    dir.ok("cluster new c.toml --algorithm dx --slots 8 --node-table nodes.csv").prints(&["nodes are in c.nodes-"]);
    let tables = || dir.names().into_iter().filter(|name| name.starts_with("c.nodes-")).collect::<Vec<_>>();
    let first = tables();
    assert_eq!(first.len(), 1);
    let named = |table: &str| dir.text("c.toml").contains(&format!("node_table = \"{table}\""));
    assert!(named(&first[0]), "{}", dir.text("c.toml"));
    let table = dir.bytes(&first[0]);

    dir.ok("cluster up c.toml b");
    let second = tables();
    assert_eq!(second.len(), 2, "the table before the edit must be kept: {second:?}");
    let new = second.iter().find(|name| **name != first[0]).expect("a new table");
    assert!(named(new));
    assert_eq!(dir.bytes(&first[0]), table);
    // The edit undone gives the first table again.
    dir.ok("cluster down c.toml b");
    assert!(named(&first[0]) && tables().len() == 2);
    // Names with commas are quoted, and nothing was lost.
    assert_eq!(
        shown(&dir, "c.toml")["nodes"],
        serde_json::json!([
            { "name": "a", "slot": 0, "weight": 1.0, "zone": "x", "up": true },
            { "name": "b", "slot": 1, "weight": 0.5, "zone": "y", "up": false },
            { "name": "c,d", "slot": 2, "weight": 1.0, "up": true },
        ])
    );
    // The table that it was made from is not needed any more.
    dir.sh("rm nodes.csv").succeeds();
    dir.ok("locate --cluster c.toml keys.txt -o out.csv");
    // In another directory, with its table.
    dir.sh("mkdir sub && cp c.toml c.nodes-*.csv sub && cd / && rehome cluster check \"$OLDPWD/sub/c.toml\"")
        .succeeds();
}

#[test]
fn an_edit_whose_file_cannot_be_renamed_keeps_the_old_cluster() {
    let dir = Dir::new();
    dir.write("nodes.csv", "name,slot\na,0\nb,1\n");
    dir.ok("cluster new c.toml --algorithm dx --slots 8 --node-table nodes.csv");
    let before = dir.tree("");
    // The table's new name is taken by a directory, so the table cannot be written; the cluster file is still whole.
    dir.ok("cluster down c.toml a -o d.toml");
    let table =
        dir.names().into_iter().find(|name| name.starts_with("d.nodes-")).expect("a table").replacen("d.", "c.", 1);
    dir.sh(&format!("rm d.* && mkdir {table} && touch {table}/x")).succeeds();
    dir.run("cluster down c.toml a").fails(&["c.nodes-"]);
    dir.sh(&format!("rm -r {table}")).succeeds();
    assert!(dir.tree("") == before, "{:?}", dir.names());
    assert_eq!(shown(&dir, "c.toml")["eligible"], 2);
}

#[test]
fn tables_may_be_parquet() {
    let dir = Dir::with_clusters(200);
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("name", Arc::new(StringArray::from(vec!["a", "b", "c"])) as arrow_array::ArrayRef, false),
        ("slot", Arc::new(Int64Array::from(vec![5, 0, 1])) as _, false),
        ("weight", Arc::new(Float64Array::from(vec![Some(0.5), None, Some(1.0)])) as _, true),
        ("zone", Arc::new(StringArray::from(vec![Some("x/y"), None, None])) as _, true),
        ("up", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])) as _, true),
    ]);
    write_parquet(&dir.path("nodes.parquet"), &batch.expect("columns"));
    dir.ok("cluster new c.toml --algorithm dx --slots 8 --node-table nodes.parquet");
    let expected = serde_json::json!([
        { "name": "a", "slot": 5, "weight": 0.5, "zone": "x/y", "up": true },
        { "name": "b", "slot": 0, "weight": 1.0, "up": true },
        { "name": "c", "slot": 1, "weight": 1.0, "up": false },
    ]);
    assert_eq!(shown(&dir, "c.toml")["nodes"], expected);
    dir.ok("cluster add c.toml d");
    let tables: Vec<_> = dir.names().into_iter().filter(|name| name.starts_with("c.nodes-")).collect();
    assert!(tables.len() == 2 && tables.iter().all(|name| name.ends_with(".parquet")), "{tables:?}");
    assert_eq!(shown(&dir, "c.toml")["nodes"][3]["slot"], 2);
    // A negative slot, and a column of the wrong type.
    let bad = |slots: arrow_array::ArrayRef| {
        let names: arrow_array::ArrayRef = Arc::new(StringArray::from(vec!["a"]));
        write_parquet(
            &dir.path("bad.parquet"),
            &RecordBatch::try_from_iter([("name", names), ("slot", slots)]).expect("columns"),
        );
        dir.run("cluster new bad.toml --algorithm dx --slots 8 --node-table bad.parquet")
    };
    bad(Arc::new(Int64Array::from(vec![-1]))).fails(&["bad.parquet", "row 0", "\"slot\"", "-1"]);
    bad(Arc::new(StringArray::from(vec!["0"]))).fails(&["bad.parquet", "\"slot\"", "integers"]);
}

#[test]
fn an_edit_keeps_permissions_and_links() {
    let dir = Dir::with_clusters(0);
    dir.sh("chmod 640 c10.toml && ln -s c10.toml link.toml").succeeds();
    dir.ok("cluster down link.toml node-1");
    assert!(dir.path("link.toml").symlink_metadata().expect("a link").is_symlink());
    assert_eq!(shown(&dir, "c10.toml")["eligible"], 9);
    let mode = dir.path("c10.toml").metadata().expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert!(!dir.names().iter().any(|name| is_partial(name)));
}

#[test]
fn a_link_to_a_cluster_with_a_table_is_that_cluster() {
    let dir = Dir::new();
    dir.write("nodes.csv", "name,slot\na,0\nb,1\n");
    dir.sh("mkdir real links && ln -s ../real/c.toml links/c.toml").succeeds();
    dir.ok("cluster new real/c.toml --algorithm dx --slots 8 --node-table nodes.csv");
    dir.ok("cluster check links/c.toml");
    dir.ok("cluster down links/c.toml a");
    assert_eq!(shown(&dir, "real/c.toml")["eligible"], 1);
    assert_eq!(dir.tree("links").len(), 1, "the table belongs beside the file, not beside the link");
}

#[test]
fn edits_keep_comments_and_order() {
    let dir = Dir::new();
    let blocks = "# Our caches.\nalgorithm = \"dx\" # see the wiki\nversion = 1\n\n# Grown twice.\n[dx]\nslots = 8 # room for four more\n\n\
                  # The old one.\n[[nodes]]\nname = \"a\"\nslot = 0\n\n[[nodes]]\nname = \"b\" # to be replaced\nslot = 1\nweight = 1\n\n\
                  [[nodes]]\nslot = 2\nname = \"c\"\n";
    dir.write("blocks.toml", blocks);
    dir.ok("cluster down blocks.toml a");
    dir.ok("cluster remove blocks.toml b");
    dir.ok("cluster add blocks.toml d");
    dir.ok("cluster scale blocks.toml");
    let text = dir.text("blocks.toml");
    for kept in [
        "# Our caches.\n",
        "# see the wiki\n",
        "# Grown twice.\n",
        "# room for four more\n",
        "# The old one.\n",
        "slots = 16",
        "slot = 2\nname = \"c\"\n",
    ] {
        assert!(text.contains(kept), "{kept:?} is not in\n{text}");
    }
    assert!(!text.contains("to be replaced"), "{text}");
    let nodes = shown(&dir, "blocks.toml")["nodes"].clone();
    assert_eq!(
        (&nodes[0]["up"], &nodes[1]["name"], &nodes[2]["name"], &nodes[2]["slot"]),
        (&false.into(), &"c".into(), &"d".into(), &3.into())
    );

    let inline = "version = 1\nalgorithm = \"dx\"\ndx = { slots = 8 }\nnodes = [\n  { name = \"a\", slot = 0 }, # first\n  { name = \"b\", slot = 5, weight = 1.0 },\n]\n";
    dir.write("inline.toml", inline);
    dir.ok("cluster weight inline.toml b=0.25");
    dir.ok("cluster add inline.toml c");
    let text = dir.text("inline.toml");
    assert!(
        text.contains("dx = { slots = 8 }\n") && text.contains("weight = 0.25") && text.matches("# first").count() == 1,
        "{text}"
    );
    assert_eq!(shown(&dir, "inline.toml")["nodes"][2]["slot"], 1);
    dir.ok("cluster check inline.toml");
}

#[test]
fn edits_at_the_same_time_take_turns() {
    let dir = Dir::with_clusters(0);
    dir.ok("cluster new many.toml --algorithm dx --slots 64 --nodes 1");
    dir.sh("for i in 1 2 3 4 5 6 7 8; do rehome cluster add many.toml x$i & done; wait").succeeds();
    assert_eq!(shown(&dir, "many.toml")["nodes"].as_array().map(Vec::len), Some(9));
}

#[test]
fn control_characters_of_names_stay_out_of_tables() {
    let dir = Dir::new();
    dir.args(&["cluster", "new", "odd.toml", "--algorithm", "dx", "--node", "a\nb\u{1b}[1m"]).succeeds();
    let table = dir.ok("cluster show odd.toml").out;
    assert!(table.contains("a\\nb\\u{1b}[1m") && !table.contains('\u{1b}'), "{table}");
}
