//! `rehome compare`: the figures of every algorithm against what the other verbs say, the table, the page, and what is
//! refused.

use rehome::algorithms;
use serde_json::Value;

use crate::support::{Dir, Table, is_partial};

/// The fields of a row, in their order.
const FIELDS: [&str; 19] = [
    "algorithm",
    "reason",
    "keys",
    "moved",
    "moved_fraction",
    "ideal",
    "ideal_fraction",
    "excess",
    "max_over_avg",
    "cv",
    "max_over_avg_before",
    "cv_before",
    "max_over_avg_after",
    "cv_after",
    "memory_bytes",
    "build_seconds",
    "keys_per_second",
    "unplaced",
    "nodes",
];

fn rows(dir: &Dir, words: &str) -> Vec<Value> {
    dir.ok(&format!("compare {words} --json")).json().as_array().expect("a list").clone()
}

#[track_caller]
fn row<'a>(rows: &'a [Value], algorithm: &str) -> &'a Value {
    rows.iter().find(|row| row["algorithm"] == algorithm).unwrap_or_else(|| panic!("no {algorithm} in {rows:?}"))
}

#[test]
fn the_first_line_of_the_issue_works() {
    let dir = Dir::new();
    // Fewer keys: the words are what is tried here.
    let run = dir.ok("compare --nodes 10 --join 1 --keys 100000 --json").stays_quiet();
    let rows = run.json();
    let rows = rows.as_array().expect("a list");
    let names: Vec<_> = rows.iter().map(|row| row["algorithm"].as_str().expect("a name")).collect();
    assert_eq!(names, algorithms().iter().map(|algorithm| algorithm.name).collect::<Vec<_>>());
    for row in rows {
        assert_eq!(row.as_object().expect("an object").keys().collect::<Vec<_>>(), FIELDS);
        assert_eq!((&row["reason"], &row["keys"]), (&Value::Null, &100_000.into()), "{row:#}");
        for field in ["moved_fraction", "ideal_fraction", "max_over_avg", "cv", "build_seconds", "keys_per_second"] {
            assert!(row[field].as_f64().is_some_and(|number| number > 0.0), "{field}: {row:#}");
        }
        assert!(row["memory_bytes"].is_u64());
        assert_eq!((&row["max_over_avg"], &row["cv"]), (&row["max_over_avg_after"], &row["cv_after"]));
        let nodes = row["nodes"].as_array().expect("nodes");
        let sum = |field: &str| nodes.iter().filter_map(|node| node[field].as_u64()).sum::<u64>();
        assert_eq!((nodes.len(), sum("before"), sum("after")), (11, 100_000, 100_000));
        assert_eq!((&nodes[10]["name"], &nodes[10]["before"]), (&"node-10".into(), &Value::Null));
        assert_eq!(nodes[0]["fair_before"], 10_000.0);
    }
    // An eleventh, as evenly as the algorithm is; and what moves too much.
    for (algorithm, fraction, within) in [
        ("dx", 1.0 / 11.0, 0.005),
        ("dx-crc32c", 1.0 / 11.0, 0.005),
        ("rendezvous", 1.0 / 11.0, 0.005),
        ("jump", 1.0 / 11.0, 0.005),
        ("anchor", 1.0 / 11.0, 0.005),
        ("ring", 1.0 / 11.0, 0.02),
        ("multi-probe", 1.0 / 11.0, 0.02),
        ("lrh", 0.163, 0.02),
        ("modulo", 10.0 / 11.0, 0.005),
    ] {
        let row = row(rows, algorithm);
        let [moved, ideal] = ["moved_fraction", "ideal_fraction"].map(|field| row[field].as_f64().expect("a number"));
        assert!((moved - fraction).abs() < within, "{row:#}");
        if fraction < 0.1 {
            assert!(moved == ideal && row["excess"] == 0, "{row:#}");
        } else {
            assert!(row["excess"].as_u64().is_some_and(|keys| keys > 1000), "{row:#}");
        }
    }
}

#[test]
fn the_second_line_of_the_issue_works() {
    let dir = Dir::with_clusters(20_000);
    let run = dir.ok("compare --nodes 10 --leave node-3 keys.txt -o report.html").stays_quiet();
    let run = run.prints(&["20,000 keys of keys.txt; 10 nodes, node-3 leaves", "algorithm", "dx", "▄|▄▄▄ ▄▄▄▄▄▄"]);
    // A table: the columns of every row end where those of the head do.
    let table: Vec<_> = run.out.lines().skip_while(|line| !line.starts_with("algorithm")).collect();
    let rows = table.iter().take_while(|line| !line.is_empty()).filter(|line| !line.contains("  cannot: "));
    let widths: Vec<_> = rows.map(|line| line.chars().count()).collect();
    assert!(widths.len() >= 2 && widths.iter().all(|width| *width == widths[0]), "{}", run.shown());
    assert!(dir.names().iter().all(|name| !is_partial(name)), "{:?}", dir.names());

    let page = dir.text("report.html");
    for part in ["<!DOCTYPE html>", "rehome compare --nodes 10 --leave node-3 keys.txt -o report.html", "Keys moved"] {
        assert!(page.contains(part), "no {part:?} in the page");
    }
    is_self_contained(&page);
    dir.run("compare --nodes 10 --leave node-3 keys.txt -o report.html").fails(&["already exists", "--force"]);
    assert_eq!(dir.text("report.html"), page);
    let run = dir.ok("compare --nodes 10 --join 2 --keys 500 -o report.html --force --quiet").stays_quiet();
    assert_eq!(run.out, "");
    assert!(dir.text("report.html").contains("10 nodes, 2 join<"));
    // With both, the page is written and the rows are printed.
    assert!(rows_of(&dir.ok("compare --nodes 10 --join 2 --keys 500 -o both.html --json").out) > 0);
    assert!(dir.exists("both.html"));
}

fn rows_of(json: &str) -> usize {
    serde_json::from_str::<Value>(json).expect("JSON").as_array().expect("a list").len()
}

/// Nothing is fetched from elsewhere, and every element that is opened is closed.
#[track_caller]
fn is_self_contained(page: &str) {
    for part in ["http://", "https://", "src=", "href=", "<script", "<link", "url(", "@import", "NaN"] {
        assert!(!page.contains(part), "{part:?} in the page");
    }
    let body = page.split_once("</style>").expect("a style").1;
    let mut open = vec!["html", "head"];
    for tag in body.split('<').skip(1).map(|part| part.split_once('>').expect("a tag").0) {
        let name = tag.split(' ').next().unwrap_or(tag);
        match name.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop(), Some(closed)),
            None if tag.ends_with('/') => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
}

#[test]
fn moved_is_the_difference_of_two_locate_runs() {
    let dir = Dir::new();
    // The same keys, made by the verb that makes keys.
    dir.ok("keys --count 20000 --family sequential --seed 5 -o keys.parquet");
    let all = rows(&dir, "--nodes 10 --join 1 --keys 20000 --seed 5 --threads 3 --chunk-rows 999");
    let of_file = rows(&dir, "--nodes 10 --join 1 keys.parquet");
    for algorithm in algorithms().iter().map(|algorithm| algorithm.name) {
        dir.ok(&format!("cluster new {algorithm}-10.toml --algorithm {algorithm} --nodes 10"));
        dir.ok(&format!("cluster add {algorithm}-10.toml node-10 -o {algorithm}-11.toml"));
        let nodes = |size: u32| {
            let run = dir.ok(&format!("locate --cluster {algorithm}-{size}.toml keys.parquet"));
            Table::csv(&run.out).column("node").into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        let (before, after) = (nodes(10), nodes(11));
        let moved = before.iter().zip(&after).filter(|(before, after)| before != after).count();
        for rows in [&all, &of_file] {
            let row = row(rows, algorithm);
            assert_eq!((&row["keys"], &row["moved"]), (&20_000.into(), &moved.into()), "{algorithm}");
            for node in row["nodes"].as_array().expect("nodes") {
                for (side, nodes) in [("before", &before), ("after", &after)] {
                    let keys = nodes.iter().filter(|name| node["name"] == name.as_str()).count();
                    assert_eq!(node[side].as_u64().unwrap_or(0), keys as u64, "{algorithm}: {node}");
                }
            }
        }
        // And what a plan says of the same two files.
        let sums = dir
            .ok(&format!("plan --from {algorithm}-10.toml --to {algorithm}-11.toml keys.parquet --summary-only --json"))
            .json();
        let row = row(&all, algorithm);
        for (field, sum) in [
            ("moved", &sums["moved"]),
            ("moved_fraction", &sums["moved_fraction"]),
            ("ideal", &sums["least_moves"]),
            ("excess", &sums["excess"]),
            ("max_over_avg", &sums["to"]["max_over_avg"]),
            ("cv", &sums["to"]["cv"]),
            ("max_over_avg_before", &sums["from"]["max_over_avg"]),
            ("cv_before", &sums["from"]["cv"]),
        ] {
            assert_eq!(&row[field], sum, "{algorithm}: {field}");
        }
    }
}

#[test]
fn nodes_leave_go_down_and_join_in_one_change() {
    let dir = Dir::new();
    dir.ok("keys --count 5000 --family text -o keys.txt");
    dir.ok("cluster new a.toml --algorithm dx --nodes 6");
    dir.ok("cluster remove a.toml node-4 node-1 -o b.toml");
    dir.ok("cluster down b.toml node-0");
    dir.ok("cluster add b.toml node-6 node-7");
    let of_files = rows(&dir, "--from a.toml --to b.toml keys.txt");
    assert_eq!(of_files.len(), 1);
    let change = "--nodes 6 --leave node-4 --leave node-1 --down node-0 --join 2 --algorithms dx";
    for more in ["keys.txt", "--keys 5000 --family text --chunk-rows 77", "keys.txt --threads 1 --chunk-rows 77"] {
        let made = rows(&dir, &format!("{change} {more}"));
        for field in FIELDS.iter().filter(|field| !["build_seconds", "keys_per_second"].contains(field)) {
            assert_eq!(made[0][field], of_files[0][field], "{field}, {more}");
        }
    }
    dir.ok(&format!("compare {change} --keys 10"))
        .prints(&["6 nodes, node-4 and node-1 leave, node-0 goes down, 2 join\n"]);
    // Separated by commas, in the same order.
    let commas = rows(&dir, "--nodes 6 --leave node-4,node-1 --down node-0 --join 2 -a dx,dx,dx-crc32c keys.txt");
    assert_eq!(commas.len(), 2);
    assert_eq!(commas[0]["nodes"], of_files[0]["nodes"]);
}

#[test]
fn an_algorithm_that_cannot_has_a_row_with_the_reason() {
    let dir = Dir::with_clusters(100);
    let rows = rows(&dir, "--nodes 10 --join 1 keys.txt");
    let refused = row(&rows, "dx-crc32c");
    assert_eq!(refused.as_object().expect("an object").keys().collect::<Vec<_>>(), FIELDS);
    assert!(refused["reason"].as_str().expect("a reason").contains("\"user:1\" is bytes, but dx-crc32c takes integer"));
    assert!(FIELDS[2..].iter().all(|field| refused[field].is_null()));
    assert_eq!(row(&rows, "dx")["keys"], 100);
    dir.ok("compare --nodes 10 --join 1 keys.txt").prints(&["cannot: key \"user:1\" is bytes"]);
    // Integers that only some take.
    for family in ["random", "zipf"] {
        let refused = dir.ok(&format!("compare --nodes 10 --join 1 --keys 100 --family {family}")).stays_quiet();
        refused.prints(&["cannot: key ", "is not in 0..2^32"]);
    }
    // A change that it cannot do, which leaves no row with figures, and a page without charts.
    let run = dir.ok("compare --nodes 10 --leave node-3 --keys 100 -a jump -o r.html").stays_quiet();
    run.prints(&["cannot: node \"node-3\" of slot 3 leaves", "only nodes in the last slots"]);
    is_self_contained(&dir.text("r.html"));
    dir.ok("compare --nodes 10 --join 1 --keys 100 -a dx-crc32c --family text").prints(&["cannot"]);
}

#[test]
fn two_cluster_files_are_one_row() {
    let dir = Dir::new();
    dir.write("nodes.csv", "name,slot,weight\n<b>&'x,0,1\nhalf,1,0.5\n\u{7}bell,2,0\n");
    dir.ok("cluster new a.toml --algorithm dx --slots 8 --node-table nodes.csv --key u32");
    dir.ok("cluster add a.toml late -o b.toml");
    dir.ok("keys --count 3000 --family sequential -o k.txt");
    let run = dir.ok("compare --from a.toml --to b.toml k.txt -o r.html").stays_quiet();
    run.prints(&["3,000 keys of k.txt; a.toml to b.toml", "dx  "]);
    let page = dir.text("r.html");
    is_self_contained(&page);
    assert!(page.contains("&lt;b&gt;&amp;&#39;x") && !page.contains("<b>"), "names are escaped");
    assert!(page.contains("\\u{7}bell"));
    // From one algorithm to another.
    dir.ok("cluster new crc.toml --algorithm dx-crc32c --nodes 3 --key u32");
    let other = rows(&dir, "--from a.toml --to crc.toml k.txt");
    assert_eq!((other.len(), &other[0]["algorithm"]), (1, &"dx to dx-crc32c".into()));
    assert_eq!(rows(&dir, "--from a.toml --to crc.toml --keys 3000")[0]["nodes"], other[0]["nodes"]);
    // What plan refuses is refused here.
    dir.ok("cluster new seed.toml --algorithm dx --nodes 3 --seed 7 --key u32");
    dir.run("compare --from a.toml --to seed.toml k.txt").fails(&["seed", "--allow-rehash"]);
    dir.ok("compare --from a.toml --to seed.toml k.txt --allow-rehash");
    dir.run("compare --from a.toml --to b.toml --keys 5 --family text").misused(&["keys are u32", "text", "--family"]);
    dir.run("compare --from a.toml --to nowhere.toml k.txt").fails(&["nowhere.toml"]);
    dir.data("cluster-too-sparse.toml");
    dir.run("compare --from cluster-too-sparse.toml --to a.toml --keys 5")
        .fails(&["cluster-too-sparse.toml", "too sparse"]);
    dir.run("compare --from a.toml --to cluster-too-sparse.toml --keys 5")
        .fails(&["cluster-too-sparse.toml", "too sparse"]);
}

#[test]
fn keys_come_as_for_other_verbs() {
    let dir = Dir::with_clusters(1000);
    let change = "--nodes 10 --join 1 -a dx";
    let nodes = |run: &str| serde_json::from_str::<Value>(run).expect("JSON")[0]["nodes"].clone();
    let of_file = nodes(&dir.ok(&format!("compare {change} keys.txt --json")).out);
    let piped = dir.sh(&format!("cat keys.txt | rehome compare {change} - --json")).succeeds().stays_quiet();
    assert_eq!(nodes(&piped.out), of_file);
    dir.write("mixed.txt", "5\nx\n6\n");
    let run = dir.run(&format!("compare {change} mixed.txt --key-type u64 --bad-rows skip --json")).exits(3);
    assert_eq!(run.says(&["1 row was skipped", "line 2"]).json()[0]["keys"], 2);
    dir.run(&format!("compare {change} mixed.txt --key-type u64")).fails(&["mixed.txt", "line 2"]);
    dir.write("empty.txt", "");
    let run = dir.ok(&format!("compare {change} empty.txt")).says(&["0 keys"]);
    run.prints(&["0 keys of empty.txt", "0.00 %", "-"]);
    dir.ok(&format!("compare {change} --keys 0")).stays_quiet().prints(&["0 keys (sequential, seed 0)"]);
    // Keys that nobody takes are said, as by plan.
    let run = dir.ok("compare --nodes 2 --down node-0,node-1 --keys 50 -a dx").says(&["dx: 50 keys have no node"]);
    run.prints(&["▄|··"]);
    dir.ok(&format!("compare {change} --keys 1 --timings")).says(&["place", "1 rows"]).prints(&["1 key (sequential"]);
    // Many nodes are drawn in groups.
    dir.ok("compare --nodes 200 --join 1 --keys 1000 -a dx").prints(&["a bar is 4 neighbouring nodes together"]);
    let run = dir.ok("compare --nodes 100000 --join 1 --keys 100 -a dx").prints(&["too many nodes to draw"]);
    assert!(!run.out.contains("a bar is"), "{}", run.shown());
}

#[test]
fn what_makes_no_sense_is_refused() {
    let dir = Dir::with_clusters(10);
    dir.write("precious.html", "precious");
    let before = dir.names();
    for (line, parts) in [
        ("", &["--nodes"][..]),
        ("--join 1 --keys 5", &["--nodes"]),
        ("--nodes 0 --join 1 --keys 5", &["--nodes", "0"]),
        ("--nodes 10 --join 0 --keys 5", &["--join", "0"]),
        ("--nodes ten --join 1 --keys 5", &["--nodes", "ten"]),
        ("--nodes 10 --keys 5", &["nothing changes", "--join", "--leave", "--down"]),
        ("--nodes 10 --join 1", &["KEYS"]),
        ("--nodes 10 --join 1 keys.txt --keys 5", &["--keys", "KEYS"]),
        ("--nodes 10 --join 1 --keys 5 --key-type u64", &["--keys", "--key-type"]),
        ("--nodes 10 --join 1 keys.txt --seed 5", &["--seed", "KEYS"]),
        ("--nodes 10 --join 1 keys.txt --family text", &["--family", "KEYS"]),
        ("--nodes 10 --join 1 --keys 9007199254740993 --family zipf", &["--keys", "2^53"]),
        ("--nodes 10 --leave node-10 --keys 5", &["no node is named \"node-10\"", "node-0 to node-9"]),
        ("--nodes 10 --down node-x --keys 5", &["no node is named \"node-x\""]),
        ("--nodes 10 --leave node-1,node-1 --keys 5", &["named twice"]),
        ("--nodes 10 --leave node-1, --keys 5", &["--leave"]),
        ("--nodes 4000000000 --join 1 --keys 5", &["4000000001 nodes are too many"]),
        ("--nodes 10 --join 1 --keys 5 --algorithms dx,nonsense", &["nonsense", "dx-crc32c"]),
        ("--from c10.toml --to c11.toml keys.txt -a dx", &["--from", "--algorithms"]),
        ("--from c10.toml --to c11.toml keys.txt --nodes 5", &["--from", "--nodes"]),
        ("--from c10.toml --to c11.toml keys.txt --join 1", &["--from", "--join"]),
        ("--from c10.toml --to c11.toml keys.txt --leave node-1", &["--from", "--leave"]),
        ("--from c10.toml --to c11.toml keys.txt --down node-1", &["--from", "--down"]),
        ("--from c10.toml keys.txt", &["--to"]),
        ("--to c10.toml keys.txt", &["--from"]),
        ("--nodes 10 --join 1 keys.txt --allow-rehash", &["--allow-rehash", "--nodes"]),
        ("--nodes 10 --join 1 keys.txt --size-column bytes", &["--size-column", "count and plan"]),
        ("--nodes 10 --join 1 --keys 5 -o r.json", &["r.json", ".html", "--json"]),
        ("--nodes 10 --join 1 --keys 5 -o -", &[".html"]),
        ("--nodes 10 --join 1 --keys 5 --force", &["--output"]),
        ("--nodes 10 --join 1 --keys 5 --threads 5000", &["--threads 5000"]),
        ("--nodes 10 --join 1 precious.html -o precious.html --force", &["is read and is to be written"]),
    ] {
        let run = dir.run(&format!("compare {line}")).misused(parts);
        assert_eq!(run.out, "", "{}", run.shown());
        assert_eq!(dir.names(), before, "{line}");
    }
    for (line, parts) in [
        ("--nodes 10 --join 1 nowhere.txt", &["nowhere.txt"][..]),
        ("--nodes 10 --join 1 --keys 5 -o nowhere/r.html", &["nowhere", "does not exist"]),
        ("--nodes 10 --join 1 keys.txt -o precious.html", &["precious.html", "already exists", "--force"]),
        ("--nodes 10 --join 1 keys.txt --key-type u64 -o r.html", &["keys.txt", "line 1"]),
    ] {
        let run = dir.run(&format!("compare {line}")).fails(parts);
        assert_eq!(run.out, "", "{}", run.shown());
        assert_eq!(dir.names(), before, "{line}");
    }
    assert_eq!(dir.text("precious.html"), "precious");
    dir.sh("rehome compare --nodes 10 --join 1 --keys 100 > /dev/full").fails(&["standard output", "No space left"]);
}
