//! `rehome locate` and `count`: what they write, where, and that nothing but the keys decides it.

use crate::support::{Dir, Table, integer_keys, is_partial};

#[test]
fn every_format_has_the_same_rows() {
    let dir = Dir::with_clusters(3000);
    dir.ok("locate --cluster c10.toml keys.txt -o out.csv").stays_quiet();
    dir.ok("locate --cluster c10.toml keys.txt -o out.jsonl").stays_quiet();
    dir.ok("locate --cluster c10.toml keys.txt -o out.parquet").stays_quiet();
    let csv = Table::csv(&dir.text("out.csv"));
    assert_eq!(csv.rows.len(), 3000);
    assert_eq!(Table::json_lines(&dir.text("out.jsonl")), csv);
    assert_eq!(Table::parquet(&dir.path("out.parquet")), csv);
    // By name, to standard output, and to a file whose name says nothing.
    for (option, name) in [("csv", "out.csv"), ("jsonl", "out.jsonl"), ("parquet", "out.parquet")] {
        dir.sh(&format!("rehome locate --cluster c10.toml keys.txt --output-format {option} > piped"))
            .succeeds()
            .stays_quiet();
        assert!(dir.bytes("piped") == dir.bytes(name), "standard output and {name} differ");
        dir.ok(&format!("locate --cluster c10.toml keys.txt --output-format {option} -o plain --force"));
        assert!(dir.bytes("plain") == dir.bytes(name), "--output-format {option} and {name} differ");
    }
    dir.sh("rehome locate --cluster c10.toml keys.txt -o - > dash").succeeds();
    assert_eq!(dir.bytes("dash"), dir.bytes("out.csv"));
    assert!(!dir.exists("-"));
    dir.run("locate --cluster c10.toml keys.txt -o out.xls").misused(&["out.xls", "--output-format"]);
    dir.run("locate --cluster c10.toml keys.txt -o out.csv2 --output-format xls").misused(&["xls", "csv"]);
}

#[test]
fn threads_and_chunks_never_change_a_byte() {
    let dir = Dir::with_clusters(0);
    dir.write("ids.txt", integer_keys(150_000));
    for (name, more) in [
        ("out.csv", ""),
        ("out.jsonl", ""),
        ("out.parquet", ""),
        ("out.arrow", ""),
        ("out.arrows", "--compression zstd"),
        ("out.csv.gz", ""),
        ("out.jsonl.zst", ""),
        ("three.csv", "--replicas 3"),
        ("three.parquet", "--replicas 3"),
        ("three.arrow", "--replicas 3"),
    ] {
        let line = format!("locate --cluster c10.toml --key-type u64 ids.txt -o {name} {more} --force");
        dir.ok(&format!("{line} --threads 1"));
        let one = dir.bytes(name);
        for options in
            ["--threads 2", "--threads 2 --chunk-rows 1000", "--threads 1 --chunk-rows 65536", "--chunk-rows 777"]
        {
            dir.ok(&format!("{line} {options}"));
            assert!(dir.bytes(name) == one, "{options} changed a byte of {name}");
        }
    }
    let counts = dir.ok("count --cluster c10.toml --key-type u64 ids.txt --json --threads 1").out;
    for options in ["--threads 2", "--threads 2 --chunk-rows 1000"] {
        let other = dir.ok(&format!("count --cluster c10.toml --key-type u64 ids.txt --json {options}")).out;
        assert_eq!(other, counts, "{options}");
    }
}

#[test]
fn two_halves_of_a_file_are_the_whole() {
    let dir = Dir::with_clusters(20_001);
    let text = dir.text("keys.txt");
    let half = text[..text.len() / 2].rfind('\n').expect("a line") + 1;
    dir.write("a.txt", &text[..half]);
    dir.write("b.txt", &text[half..]);
    for cluster in ["c10.toml", "c11.toml"] {
        let whole = dir.ok(&format!("locate --cluster {cluster} keys.txt")).out;
        let (a, b) = (
            dir.ok(&format!("locate --cluster {cluster} a.txt")).out,
            dir.ok(&format!("locate --cluster {cluster} b.txt")).out,
        );
        let joined = a + b.strip_prefix("key,node\n").expect("a header");
        assert!(joined == whole, "two halves and the whole differ over {cluster}");
    }
}

#[test]
fn standard_input_gives_the_same_as_the_file() {
    let dir = Dir::with_clusters(5000);
    dir.ok("locate --cluster c10.toml keys.txt -o file.csv");
    let file = dir.text("file.csv");
    for line in [
        "cat keys.txt | rehome locate --cluster c10.toml -",
        "rehome locate --cluster c10.toml - < keys.txt",
        "cat keys.txt | rehome locate --cluster c10.toml /dev/stdin",
        "rehome locate --cluster c10.toml /dev/stdin < keys.txt",
        "mkfifo pipe && (cat keys.txt > pipe &) && rehome locate --cluster c10.toml pipe",
        // A key at a time, so that reads end within lines.
        "(head -c 100 keys.txt; sleep 0.1; tail -c +101 keys.txt) | rehome locate --cluster c10.toml -",
    ] {
        assert!(dir.sh(line).succeeds().stays_quiet().out == file, "{line} gave other rows than the file");
    }
    dir.write("t.csv", "id,key\n1,a\n2,b\n");
    let from_file = dir.ok("locate --cluster c10.toml t.csv --keep id").out;
    let piped = dir.sh("cat t.csv | rehome locate --cluster c10.toml - --input-format csv --keep id").succeeds().out;
    assert_eq!(piped, from_file);
}

#[test]
fn an_output_that_exists_is_replaced_only_with_force() {
    let dir = Dir::with_clusters(100);
    for name in ["out.csv", "out.jsonl", "out.parquet", "out.arrow", "out.arrows", "out.csv.gz"] {
        dir.write(name, "precious");
        dir.run(&format!("locate --cluster c10.toml keys.txt -o {name}")).fails(&[name, "already exists", "--force"]);
        assert_eq!(dir.text(name), "precious");
        dir.ok(&format!("locate --cluster c10.toml keys.txt -o {name} --force"));
        assert_ne!(dir.bytes(name), b"precious");
    }
    // Not even an empty file, or a link that leads nowhere.
    dir.write("empty.csv", "");
    dir.run("locate --cluster c10.toml keys.txt -o empty.csv").fails(&["already exists"]);
    dir.sh("ln -s nowhere.csv link.csv").succeeds();
    dir.run("locate --cluster c10.toml keys.txt -o link.csv").fails(&["already exists"]);
    assert!(!dir.exists("nowhere.csv"));
    // A link to a file stays a link, and the file gets the rows.
    dir.sh("ln -sf empty.csv link.csv && rehome locate --cluster c10.toml keys.txt -o link.csv --force").succeeds();
    assert_eq!(dir.text("empty.csv").lines().count(), 101);
    assert!(dir.path("link.csv").symlink_metadata().expect("a link").is_symlink());
    assert!(!dir.names().iter().any(|name| is_partial(name)), "{:?}", dir.names());
}

#[test]
fn the_input_may_not_be_its_own_output() {
    let dir = Dir::with_clusters(0);
    let keys = format!("key\n{}", integer_keys(1000));
    dir.write("keys.csv", &keys);
    dir.run("locate --cluster c10.toml keys.csv -o keys.csv --key-type u64").fails(&["already exists"]);
    let run = dir.run("locate --cluster c10.toml keys.csv -o keys.csv --key-type u64 --force");
    run.misused(&["keys.csv is read and is to be written too", "another name"]);
    assert!(dir.text("keys.csv") == keys);
}

#[test]
fn an_output_that_cannot_be_is_refused() {
    let dir = Dir::with_clusters(100);
    let before = dir.names();
    for (target, parts) in [
        ("nowhere/out.csv", ["nowhere", "does not exist"]),
        ("c10.toml/out.csv", ["c10.toml", "Not a directory"]),
        ("/dev/null --output-format csv", ["/dev/null", "no regular file"]),
        ("/dev/full --output-format csv --force", ["/dev/full", "no regular file"]),
        (". --output-format csv", [".", "directory"]),
        (".. --output-format csv --force", ["..", "directory"]),
    ] {
        dir.run(&format!("locate --cluster c10.toml keys.txt -o {target}")).fails(&parts);
        assert_eq!(dir.names(), before);
    }
}

#[test]
fn a_full_standard_output_is_said() {
    let dir = Dir::with_clusters(5000);
    for line in [
        "locate --cluster c10.toml keys.txt",
        "locate --cluster c10.toml keys.txt --output-format parquet",
        "locate --cluster c10.toml keys.txt --output-format arrow",
        "locate --cluster c10.toml keys.txt --output-format arrow-stream",
        "locate --cluster c10.toml keys.txt --compression gzip",
        "locate --cluster c10.toml keys.txt --compression zstd",
        "count --cluster c10.toml keys.txt",
        "plan --from c10.toml --to c11.toml keys.txt --summary-only",
        "cluster show c10.toml",
        "hash 42",
        "completions bash",
        "man",
    ] {
        dir.sh(&format!("rehome {line} > /dev/full")).fails(&["standard output", "No space left"]);
    }
}

#[test]
fn replicas_beyond_the_nodes_are_empty_and_said() {
    let dir = Dir::with_clusters(50);
    dir.ok("cluster new two.toml --algorithm dx --nodes 2");
    let run = dir.ok("locate --cluster two.toml keys.txt --replicas 4 -o out.csv");
    run.says(&["warning: ", "only 2 nodes", "node_3", "node_4"]);
    let table = Table::csv(&dir.text("out.csv"));
    assert_eq!(table.columns, ["key", "node_1", "node_2", "node_3", "node_4"]);
    for row in &table.rows {
        assert!(!row[1].is_empty() && !row[2].is_empty() && row[3].is_empty() && row[4].is_empty(), "{row:?}");
    }
    dir.ok("locate --cluster two.toml keys.txt --replicas 4 -o out.jsonl --quiet").stays_quiet();
    assert!(dir.text("out.jsonl").lines().all(|line| line.ends_with(r#""node_3":null,"node_4":null}"#)));
    dir.ok("locate --cluster two.toml keys.txt --replicas 4 -o out.parquet --quiet");
    assert_eq!(Table::parquet(&dir.path("out.parquet")), table);
    dir.run("locate --cluster two.toml keys.txt --replicas 0").misused(&["--replicas"]);
}

#[test]
fn replicas_spread_over_zones() {
    let dir = Dir::with_clusters(500);
    dir.write("nodes.csv", "name,slot,zone\na,0,x\nb,1,x\nc,2,y\nd,3,y\ne,4,z/very/deep/zone/with/many/parts\n");
    dir.ok("cluster new zoned.toml --algorithm dx --slots 8 --node-table nodes.csv --spread zone");
    let zone = |node: &str| match node {
        "a" | "b" => "x",
        "c" | "d" => "y",
        _ => "z",
    };
    let table = Table::csv(&dir.ok("locate --cluster zoned.toml keys.txt --replicas 3").out);
    for row in &table.rows {
        let mut zones = [zone(&row[1]), zone(&row[2]), zone(&row[3])];
        zones.sort_unstable();
        assert_eq!(zones, ["x", "y", "z"], "{row:?}");
    }
}

#[test]
fn the_sums_of_locate_are_printed_as_json_beside_a_file() {
    let dir = Dir::with_clusters(100);
    let sums = dir.ok("locate --cluster c10.toml keys.txt -o out.csv --json").stays_quiet().json();
    assert_eq!(sums, serde_json::json!({ "keys": 100, "unplaced": 0, "bad_rows": 0 }));
    dir.run("locate --cluster c10.toml keys.txt --json").misused(&["--json", "-o FILE"]);
    dir.run("locate --cluster c10.toml keys.txt --size-column x").misused(&["--size-column", "--keep"]);
}

#[test]
fn timings_tell_stages_rows_and_memory() {
    let dir = Dir::with_clusters(1000);
    for line in [
        "locate --cluster c10.toml keys.txt -o out.csv",
        "count --cluster c10.toml keys.txt",
        "plan --from c10.toml --to c11.toml keys.txt -o plan",
    ] {
        let run = dir.ok(&format!("{line} --timings"));
        run.says(&["read", "hash", "place", "write", "total", "1000 rows,", "rows/s", "peak resident memory", "KiB"]);
    }
}

#[test]
fn count_has_a_table_for_people() {
    let dir = Dir::with_clusters(1000);
    let run = dir.ok("count --cluster c10.toml keys.txt").stays_quiet();
    assert!(run.out.contains("node-9") && run.out.contains("Max/Avg"), "{}", run.shown());
    let total =
        run.out.lines().find(|line| line.starts_with("total")).unwrap_or_else(|| panic!("no total:{}", run.shown()));
    assert!(total.contains("1000"), "{total}");
}

#[test]
fn threads_are_checked() {
    let dir = Dir::with_clusters(10);
    dir.ok("locate --cluster c10.toml keys.txt --threads 16");
    dir.run("locate --cluster c10.toml keys.txt --threads 4097").misused(&["--threads 4097"]);
    dir.run("locate --cluster c10.toml keys.txt --threads two").misused(&["--threads"]);
    dir.run("locate --cluster c10.toml keys.txt --chunk-rows 0").misused(&["--chunk-rows"]);
    dir.run("locate keys.txt").misused(&["--cluster"]);
}
