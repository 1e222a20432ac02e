//! `rehome plan`: the laws of the main job on data, and the directory it writes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::support::{Dir, Table, integer_keys, is_partial};

/// All moves of a plan, part after part.
fn moves(dir: &Dir, plan: &str) -> Table {
    let mut all = Table { columns: Vec::new(), rows: Vec::new() };
    for name in dir.tree(plan).into_keys().filter(|name| name.starts_with("moves/")) {
        let part = Table::parquet(&dir.path(plan).join(name));
        all.columns = part.columns;
        all.rows.extend(part.rows);
    }
    all
}

fn summary(dir: &Dir, plan: &str) -> serde_json::Value {
    serde_json::from_str(&dir.text(&format!("{plan}/summary.json"))).expect("JSON")
}

/// What the moves of `plan` must be: the difference of two locates over the same input.
#[track_caller]
fn is_the_difference_of_two_locates(dir: &Dir, plan: &str, from: &str, to: &str, input: &str) {
    let before = Table::csv(&dir.ok(&format!("locate --cluster {from} {input} --quiet")).out);
    let after = Table::csv(&dir.ok(&format!("locate --cluster {to} {input} --quiet")).out);
    assert_eq!(before.rows.len(), after.rows.len());
    let mut expected = Vec::new();
    for (row, (before, after)) in before.rows.iter().zip(&after.rows).enumerate() {
        if before[1] != after[1] {
            expected.push(vec![row.to_string(), before[0].clone(), before[1].clone(), after[1].clone()]);
        }
    }
    let found = moves(dir, plan);
    assert_eq!(found.columns, ["row", "key", "from", "to"]);
    assert_eq!(found.rows, expected, "the moves of {plan} are not the difference of two locates");

    // The sums say what the rows say.
    let sums = summary(dir, plan);
    assert_eq!(sums["keys"], before.rows.len());
    assert_eq!(sums["moved"], expected.len());
    let mut flows = BTreeMap::new();
    for row in &expected {
        *flows.entry((row[2].clone(), row[3].clone())).or_insert(0) += 1;
    }
    let table = Table::csv(&dir.text(&format!("{plan}/flows.csv")));
    let written: BTreeMap<_, _> =
        table.rows.iter().map(|row| ((row[0].clone(), row[1].clone()), row[2].parse::<u64>().expect("keys"))).collect();
    assert_eq!(written, flows, "flows.csv");
    assert_eq!(written.len(), table.rows.len(), "a flow twice in flows.csv");
    let nodes = Table::csv(&dir.text(&format!("{plan}/nodes.csv")));
    let mut least = 0;
    for row in &nodes.rows {
        let on = |table: &Table| table.rows.iter().filter(|keys| keys[1] == row[0]).count() as u64;
        let (was, is) = (row[1].parse::<u64>().expect("keys"), row[2].parse::<u64>().expect("keys"));
        assert_eq!((was, is), (on(&before), on(&after)), "nodes.csv, {row:?}");
        least += was.saturating_sub(is);
    }
    assert_eq!(nodes.numbers("keys_from").iter().sum::<u64>(), before.rows.len() as u64);
    assert_eq!(nodes.numbers("keys_to").iter().sum::<u64>(), before.rows.len() as u64);
    assert_eq!(sums["least_moves"], least);
    assert_eq!(sums["unplaced"], after.rows.iter().filter(|row| row[1].is_empty()).count());
}

#[test]
fn one_node_joining_ten_moves_an_eleventh_all_of_it_to_the_new_node() {
    let dir = Dir::with_clusters(50_000);
    dir.ok("plan --from c10.toml --to c11.toml keys.txt -o plan").stays_quiet();
    let sums = summary(&dir, "plan");
    let share = sums["moved_fraction"].as_f64().expect("a number");
    assert!((share - 1.0 / 11.0).abs() < 0.005, "moved {share}, wanted about 1/11: {sums:#}");
    assert_eq!(sums["excess"], 0);
    assert_eq!(sums["least_moves"], sums["moved"]);
    assert!(moves(&dir, "plan").column("to").iter().all(|to| *to == "node-10"));
    is_the_difference_of_two_locates(&dir, "plan", "c10.toml", "c11.toml", "keys.txt");
}

#[test]
fn a_plan_over_every_kind_of_change_is_the_difference_of_two_locates() {
    let dir = Dir::with_clusters(20_000);
    dir.ok("cluster remove c11.toml node-2 -o other.toml");
    dir.ok("cluster add other.toml node-11 node-12");
    dir.ok("cluster down other.toml node-5");
    dir.ok("cluster weight other.toml node-3=0.5 node-7=0");
    dir.ok("plan --from c10.toml --to other.toml keys.txt -o plan");
    is_the_difference_of_two_locates(&dir, "plan", "c10.toml", "other.toml", "keys.txt");
    let sums = summary(&dir, "plan");
    assert_eq!(sums["excess"], 0, "only changed nodes may be the reason of a move: {sums:#}");
    assert_eq!((&sums["to"]["nodes"], &sums["to"]["eligible"]), (&12.into(), &10.into()));
    // And back.
    dir.ok("plan --from other.toml --to c10.toml keys.txt -o back");
    is_the_difference_of_two_locates(&dir, "back", "other.toml", "c10.toml", "keys.txt");
    assert_eq!(summary(&dir, "back")["moved"], sums["moved"]);
}

#[test]
fn scale_shrink_and_no_change_are_planned_too() {
    let dir = Dir::with_clusters(10_000);
    dir.ok("cluster scale c10.toml -o c32.toml");
    dir.ok("plan --from c10.toml --to c32.toml keys.txt -o scaled");
    is_the_difference_of_two_locates(&dir, "scaled", "c10.toml", "c32.toml", "keys.txt");
    dir.ok("cluster shrink c32.toml -o c16.toml");
    dir.ok("plan --from c10.toml --to c16.toml keys.txt -o none").prints(&["Nothing moves"]);
    is_the_difference_of_two_locates(&dir, "none", "c10.toml", "c16.toml", "keys.txt");
    assert_eq!(summary(&dir, "none")["moved"], 0);
    assert_eq!(moves(&dir, "none").columns, ["row", "key", "from", "to"], "a plan without moves has an empty part");
}

#[test]
fn keys_without_a_node_are_in_the_sums() {
    let dir = Dir::with_clusters(500);
    dir.ok("cluster new none.toml --algorithm dx --nodes 2");
    dir.ok("cluster down none.toml node-0 node-1");
    let run = dir.ok("plan --from c10.toml --to none.toml keys.txt -o plan");
    run.says(&["500 keys have no node", "none.toml"]).prints(&["unplaced"]);
    is_the_difference_of_two_locates(&dir, "plan", "c10.toml", "none.toml", "keys.txt");
    assert_eq!(summary(&dir, "plan")["unplaced"], 500);
    let flows = Table::csv(&dir.text("plan/flows.csv"));
    assert!(flows.column("to").iter().all(|to| to.is_empty()), "{flows:?}");
    dir.ok("plan --from none.toml --to c10.toml keys.txt -o back");
    is_the_difference_of_two_locates(&dir, "back", "none.toml", "c10.toml", "keys.txt");
}

#[test]
fn names_that_csv_must_quote_survive() {
    let dir = Dir::with_clusters(2000);
    let names = ["a,b", "c\"d", "e\nf", "\u{fc}\u{4e2d}", " ", "k=v"];
    let args: Vec<&str> = ["cluster", "new", "odd.toml", "--algorithm", "dx"]
        .into_iter()
        .chain(names.iter().flat_map(|name| ["--node", *name]))
        .collect();
    dir.args(&args).succeeds();
    dir.ok("plan --from odd.toml --to c10.toml keys.txt -o plan");
    is_the_difference_of_two_locates(&dir, "plan", "odd.toml", "c10.toml", "keys.txt");
    dir.args(&["cluster", "weight", "odd.toml", "k=v=0.5"]).succeeds();
    assert_eq!(dir.ok("cluster show odd.toml --json").json()["nodes"][5]["weight"], 0.5);
}

#[test]
fn threads_and_chunks_never_change_a_byte() {
    let dir = Dir::with_clusters(0);
    dir.write("ids.txt", integer_keys(150_000));
    let common = "plan --from c10.toml --to c11.toml --key-type u64 ids.txt --part-rows 1000";
    dir.ok(&format!("{common} -o one --threads 1"));
    let one = dir.tree("one");
    assert_eq!(one.len(), 150 + 4, "a part for every 1000 rows: {:?}", one.keys());
    for (name, options) in [
        ("two", "--threads 2"),
        ("small", "--threads 2 --chunk-rows 1000"),
        ("odd", "--threads 2 --chunk-rows 777"),
        ("large", "--threads 1 --chunk-rows 65536"),
    ] {
        dir.ok(&format!("{common} -o {name} {options}"));
        assert!(dir.tree(name) == one, "{options} changed a byte of the plan");
    }
    // Again, to the same name, and from another directory: no time and no path inside.
    dir.ok(&format!("{common} -o two --force"));
    assert!(dir.tree("two") == one, "a second run gave other bytes");
    dir.sh("mkdir elsewhere && mv ids.txt c10.toml c11.toml elsewhere").succeeds();
    dir.sh("cd elsewhere && rehome plan --from ./c10.toml --to ./c11.toml --key-type u64 \"$PWD/ids.txt\" --part-rows 1000 -o p")
        .succeeds();
    assert!(dir.tree("elsewhere/p") == one, "the directory it ran in changed a byte of the plan");
}

#[test]
fn parts_end_at_input_rows() {
    let dir = Dir::with_clusters(4500);
    dir.ok("plan --from c10.toml --to c11.toml keys.txt -o plan --part-rows 1000");
    let parts: Vec<_> = dir.tree("plan").into_keys().filter(|name| name.starts_with("moves/")).collect();
    assert_eq!(parts.len(), 5, "{parts:?}");
    for (number, name) in parts.iter().enumerate() {
        assert_eq!(*name, format!("moves/part-{number:05}.parquet"));
        let part = Table::parquet(&dir.path("plan").join(name));
        let rows = part.numbers("row");
        assert!(rows.iter().all(|row| row / 1000 == number as u64), "{name}: {rows:?}");
        assert!(rows.is_sorted_by(|a, b| a < b), "{name}: {rows:?}");
    }
    is_the_difference_of_two_locates(&dir, "plan", "c10.toml", "c11.toml", "keys.txt");
    // The last rows of the input move nowhere, and still there is a part for them.
    dir.ok("plan --from c10.toml --to c10.toml keys.txt -o same --part-rows 1000");
    assert_eq!(dir.tree("same").keys().filter(|name| name.starts_with("moves/")).count(), 5);
    dir.run("plan --from c10.toml --to c11.toml keys.txt -o zero --part-rows 0").misused(&["--part-rows"]);
}

#[test]
fn the_manifest_lists_every_file_with_its_checksum() {
    let dir = Dir::with_clusters(3000);
    dir.ok("plan --from c10.toml --to c11.toml keys.txt -o plan --part-rows 1000");
    let manifest: serde_json::Value = serde_json::from_str(&dir.text("plan/manifest.json")).expect("JSON");
    let files = dir.tree("plan");
    let mut listed = Vec::new();
    for file in manifest["files"].as_array().expect("files") {
        let path = file["path"].as_str().expect("a path");
        let bytes = &files[path];
        assert_eq!(file["bytes"], bytes.len(), "{path}");
        assert_eq!(file["crc32"], format!("{:08x}", crc32fast::hash(bytes)), "{path}");
        listed.push(path.to_owned());
    }
    listed.push("manifest.json".to_owned());
    listed.sort();
    assert_eq!(listed, files.keys().cloned().collect::<Vec<_>>());
    let text = dir.text("plan/manifest.json");
    let here = dir.path("").to_string_lossy().into_owned();
    assert!(!text.contains(here.trim_end_matches('/')), "a path of this machine is in the manifest: {text}");
    assert_eq!(manifest["inputs"][0]["name"], "keys.txt");
    assert_eq!(manifest["inputs"][0]["rows"], 3000);
}

#[test]
fn sizes_are_summed() {
    let dir = Dir::with_clusters(0);
    let mut table = "name,bytes\n".to_owned();
    for number in 0..5000_u64 {
        writeln!(table, "object-{number},{}", number * number % 10_007).expect("a String takes all");
    }
    dir.write("objects.csv", &table);
    dir.ok("plan --from c10.toml --to c11.toml objects.csv --column name --size-column bytes -o plan")
        .prints(&["bytes"]);
    let sizes = Table::csv(&table).numbers("bytes");
    let found = moves(&dir, "plan");
    assert_eq!(found.columns, ["row", "key", "from", "to", "bytes"]);
    let mut moved = 0;
    for row in &found.rows {
        let index: usize = row[0].parse().expect("a row");
        assert_eq!(row[1], format!("object-{index}"));
        assert_eq!(row[4], sizes[index].to_string());
        moved += sizes[index];
    }
    let total: u64 = sizes.iter().sum();
    let sums = summary(&dir, "plan");
    assert_eq!(
        (&sums["bytes"], &sums["moved_bytes"], &sums["excess_bytes"]),
        (&total.into(), &moved.into(), &0.into())
    );
    assert_eq!(Table::csv(&dir.text("plan/flows.csv")).numbers("bytes").iter().sum::<u64>(), moved);
    let nodes = Table::csv(&dir.text("plan/nodes.csv"));
    assert_eq!(nodes.numbers("bytes_from").iter().sum::<u64>(), total);
    assert_eq!(nodes.numbers("bytes_to").iter().sum::<u64>(), total);
    // `count` sees the same bytes on each node.
    let counts = dir.ok("count --cluster c11.toml objects.csv --column name --size-column bytes --json").json();
    let counted: Vec<u64> =
        counts["nodes"].as_array().expect("nodes").iter().map(|node| node["bytes"].as_u64().expect("bytes")).collect();
    assert_eq!(counted, nodes.numbers("bytes_to"));
}

#[test]
fn a_summary_alone_needs_no_directory() {
    let dir = Dir::with_clusters(1000);
    let before = dir.names();
    let sums = dir.ok("plan --from c10.toml --to c11.toml keys.txt --summary-only --json").stays_quiet().json();
    assert_eq!(dir.names(), before);
    dir.ok("plan --from c10.toml --to c11.toml keys.txt --summary-only -o plan --quiet");
    assert_eq!(
        dir.tree("plan").into_keys().collect::<Vec<_>>(),
        ["flows.csv", "manifest.json", "nodes.csv", "summary.json"]
    );
    assert_eq!(summary(&dir, "plan"), sums);
    dir.ok("plan --from c10.toml --to c11.toml keys.txt -o full --quiet").stays_quiet();
    assert_eq!(summary(&dir, "full"), sums);
    dir.run("plan --from c10.toml --to c11.toml keys.txt").misused(&["--output"]);
}

#[test]
fn standard_input_gives_the_same_moves_as_the_file() {
    let dir = Dir::with_clusters(3000);
    dir.ok("plan --from c10.toml --to c11.toml keys.txt -o file");
    dir.sh("cat keys.txt | rehome plan --from c10.toml --to c11.toml - -o stream").succeeds().stays_quiet();
    let (file, mut stream) = (dir.tree("file"), dir.tree("stream"));
    // Only the manifest says where the keys came from.
    stream.insert("manifest.json".into(), file["manifest.json"].clone());
    assert!(file == stream, "a stream gave another plan than the file");
}

#[test]
fn a_plan_that_exists_is_replaced_only_with_force() {
    let dir = Dir::with_clusters(1000);
    dir.ok("plan --from c10.toml --to c11.toml keys.txt -o plan");
    let first = dir.tree("plan");
    dir.run("plan --from c11.toml --to c10.toml keys.txt -o plan").fails(&["plan: already exists", "--force"]);
    assert!(dir.tree("plan") == first, "a refused plan changed the old one");
    dir.ok("plan --from c11.toml --to c10.toml keys.txt -o plan --force");
    assert!(dir.tree("plan") != first);
    dir.ok("plan --from c10.toml --to c11.toml keys.txt -o plan/ --force");
    assert!(dir.tree("plan") == first);
    assert!(!dir.names().iter().any(|name| is_partial(name) || name.ends_with(".old")), "{:?}", dir.names());
}

#[test]
fn force_replaces_nothing_but_plans() {
    let dir = Dir::with_clusters(100);
    let plan = |target: &str| dir.run(&format!("plan --from c10.toml --to c11.toml keys.txt --force -o {target}"));
    dir.sh("mkdir photos && echo precious > photos/one").succeeds();
    plan("photos").fails(&["photos", "no plan directory"]);
    assert_eq!(dir.text("photos/one"), "precious\n");
    dir.write("file", "precious");
    plan("file").fails(&["file", "no plan directory"]);
    assert_eq!(dir.text("file"), "precious");
    dir.sh("mkdir out.partial && echo precious > out.partial/one").succeeds();
    plan("out").fails(&["out.partial", "no unfinished plan"]);
    assert_eq!(dir.text("out.partial/one"), "precious\n");
    for target in [".", "..", "/", "photos/.."] {
        plan(target).fails(&["no name for a plan directory"]);
    }
    plan("nowhere/plan").fails(&["nowhere/plan", "the directory nowhere does not exist", "create it first"]);
    assert!(!dir.exists("nowhere"));
    // An empty directory has nothing to lose.
    dir.sh("mkdir empty").succeeds();
    plan("empty").succeeds();
    assert!(dir.exists("empty/manifest.json"));
}

#[test]
fn a_manifest_of_something_else_makes_no_plan() {
    let dir = Dir::with_clusters(100);
    // Browser extensions, web applications and many tools have a manifest.json of their own.
    dir.sh(
        "mkdir extension && echo '{\"name\": \"mine\"}' > extension/manifest.json && echo precious > extension/main.js",
    )
    .succeeds();
    dir.run("plan --from c10.toml --to c11.toml keys.txt --force -o extension")
        .fails(&["extension", "no plan directory"]);
    assert_eq!(dir.text("extension/main.js"), "precious\n");
    // A plan to which something was added is not thrown away either.
    dir.ok("plan --from c10.toml --to c11.toml keys.txt -o plan");
    dir.write("plan/notes.txt", "precious");
    dir.run("plan --from c10.toml --to c11.toml keys.txt --force -o plan").fails(&["plan", "notes.txt"]);
    assert_eq!(dir.text("plan/notes.txt"), "precious");
}

#[test]
fn an_unfinished_plan_of_something_else_is_kept() {
    let dir = Dir::with_clusters(100);
    dir.sh("mkdir -p out.partial/moves && echo precious > out.partial/moves/one").succeeds();
    dir.run("plan --from c10.toml --to c11.toml keys.txt --force -o out").fails(&["out.partial"]);
    assert_eq!(dir.text("out.partial/moves/one"), "precious\n");
}

#[test]
fn sides_that_hash_differently_are_refused() {
    let dir = Dir::with_clusters(100);
    for (name, option, what) in
        [("seed.toml", "--seed 7", "seed (0 and 7)"), ("hash.toml", "--hash xxh64", "hash (default and xxh64)")]
    {
        dir.ok(&format!("cluster new {name} --algorithm dx --slots 16 --nodes 10 {option}"));
        let line = format!("plan --from c10.toml --to {name} keys.txt -o plan");
        dir.run(&line).fails(&[what, "--allow-rehash"]);
        assert!(!dir.exists("plan") && !dir.exists("plan.partial"));
        dir.ok(&format!("{line} --allow-rehash --force"));
        is_the_difference_of_two_locates(&dir, "plan", "c10.toml", name, "keys.txt");
        dir.sh("rm -r plan").succeeds();
    }
    dir.write("ids.txt", integer_keys(1000));
    dir.ok("cluster new text.toml --algorithm dx --slots 16 --nodes 10 --key text");
    dir.ok("cluster new u64.toml --algorithm dx --slots 16 --nodes 10 --key u64");
    dir.run("plan --from text.toml --to u64.toml ids.txt -o plan")
        .fails(&["key type (text and u64)", "--allow-rehash"]);
    dir.ok("plan --from text.toml --to u64.toml ids.txt -o plan --allow-rehash");
    is_the_difference_of_two_locates(&dir, "plan", "text.toml", "u64.toml", "ids.txt");
}

#[test]
fn a_side_that_leaves_the_key_type_open_is_not_silently_read_as_the_other() {
    // `locate` over c10.toml hashes these keys as text, and over typed.toml as integers: what moves between them is
    // nearly everything. A plan may refuse this or say it, but not claim that nothing moves.
    let dir = Dir::with_clusters(0);
    dir.write("ids.txt", integer_keys(1000));
    dir.ok("cluster new typed.toml --algorithm dx --slots 16 --nodes 10 --key u64");
    let run = dir.run("plan --from c10.toml --to typed.toml ids.txt -o plan");
    if run.code == Some(0) && run.err.is_empty() {
        is_the_difference_of_two_locates(&dir, "plan", "c10.toml", "typed.toml", "ids.txt");
    } else {
        run.says(&["key"]);
    }
}

#[test]
fn clusters_without_a_common_node_are_pointed_out() {
    let dir = Dir::with_clusters(100);
    dir.ok("cluster new other.toml --algorithm dx --node a --node b");
    dir.ok("plan --from c10.toml --to other.toml keys.txt -o plan").says(&["warning: ", "share no node name"]);
    is_the_difference_of_two_locates(&dir, "plan", "c10.toml", "other.toml", "keys.txt");
    assert_eq!(summary(&dir, "plan")["moved"], 100);
    dir.ok("plan --from c10.toml --to other.toml keys.txt -o plan --force --quiet").stays_quiet();
}

#[test]
fn nodes_are_matched_by_name_not_by_number() {
    let dir = Dir::with_clusters(2000);
    // The same cluster with its rows turned round: nothing moves.
    let mut text = "version = 1\nalgorithm = \"dx\"\ndx = { slots = 16 }\n".to_owned();
    for number in (0..10).rev() {
        write!(text, "[[nodes]]\nname = \"node-{number}\"\nslot = {number}\n").expect("a String takes all");
    }
    dir.write("turned.toml", text);
    dir.ok("plan --from c10.toml --to turned.toml keys.txt -o plan");
    assert_eq!(summary(&dir, "plan")["moved"], 0);
    is_the_difference_of_two_locates(&dir, "plan", "c10.toml", "turned.toml", "keys.txt");
}

#[test]
fn each_side_reads_keys_as_its_own_cluster_says() {
    let dir = Dir::with_clusters(0);
    dir.write("ids.txt", (1..=1000).map(|id| format!("{id}\n")).collect::<String>());
    dir.ok("cluster new crc.toml --algorithm dx-crc32c --slots 16 --nodes 10 --key u32");
    dir.ok("cluster new text.toml --algorithm dx --slots 16 --nodes 10 --key text");
    dir.ok("plan --from crc.toml --to text.toml ids.txt -o plan");
    is_the_difference_of_two_locates(&dir, "plan", "crc.toml", "text.toml", "ids.txt");
    dir.ok("plan --from text.toml --to crc.toml ids.txt -o back");
    is_the_difference_of_two_locates(&dir, "back", "text.toml", "crc.toml", "ids.txt");
}

#[test]
fn keys_that_begin_as_a_parquet_file_does_are_still_lines() {
    let dir = Dir::with_clusters(0);
    dir.write("ids", "PAR1-first\nsecond\n");
    dir.ok("cluster new typed.toml --algorithm dx --slots 16 --nodes 10 --key bytes");
    let run = dir.run("plan --from c10.toml --to typed.toml ids -o plan");
    assert_eq!(run.code, Some(2), "one side reads text and the other bytes:{}", run.shown());
    run.says(&["nearly every key would move"]);
}
