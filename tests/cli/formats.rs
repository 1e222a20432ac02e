//! Key files: lines and CSV, every key type, and the warning about integers that are read as text.

use crate::support::{Dir, Table, integer_keys};

/// The keys that `locate` sees in a file.
fn keys(dir: &Dir, words: &str) -> Vec<String> {
    let run = dir.ok(&format!("locate --cluster c10.toml {words}"));
    Table::csv(&run.out).column("key").into_iter().map(str::to_owned).collect()
}

#[test]
fn line_ends_marks_and_last_newlines_make_no_difference() {
    let dir = Dir::with_clusters(0);
    dir.write("lf.txt", "alpha\nbeta\ngamma\n");
    let expected = dir.ok("locate --cluster c10.toml lf.txt").out;
    assert_eq!(expected.lines().count(), 4);
    for (name, text) in [
        ("crlf.txt", "alpha\r\nbeta\r\ngamma\r\n"),
        ("mark.txt", "\u{feff}alpha\nbeta\ngamma\n"),
        ("mark-crlf.txt", "\u{feff}alpha\r\nbeta\r\ngamma"),
        ("no-last.txt", "alpha\nbeta\ngamma"),
        ("blank.txt", "\nalpha\n\n\nbeta\r\n\r\ngamma\n\n"),
        ("no-extension", "alpha\nbeta\ngamma\n"),
        ("other.extension", "alpha\nbeta\ngamma\n"),
        ("one.csv", "key\nalpha\nbeta\ngamma\n"),
        ("mark.csv", "\u{feff}key\r\nalpha\r\nbeta\r\ngamma\r\n"),
        ("quoted.csv", "\"key\"\n\"alpha\"\n\"beta\"\n\"gamma\""),
        ("named.csv", "anything\nalpha\nbeta\ngamma\n"),
    ] {
        dir.write(name, text);
        assert_eq!(dir.ok(&format!("locate --cluster c10.toml {name}")).stays_quiet().out, expected, "{name}");
    }
}

#[test]
fn blank_lines_are_keys_only_when_asked_for() {
    let dir = Dir::with_clusters(0);
    dir.write("k.txt", "\nalpha\n\r\nbeta\n\n");
    assert_eq!(keys(&dir, "k.txt"), ["alpha", "beta"]);
    assert_eq!(keys(&dir, "k.txt --blank skip"), ["alpha", "beta"]);
    assert_eq!(keys(&dir, "k.txt --blank keep"), ["", "alpha", "", "beta", ""]);
    // Blank lines that are passed over are no rows; those that are kept are.
    dir.ok("plan --from c10.toml --to c11.toml k.txt --blank keep -o keep");
    let manifest: serde_json::Value = serde_json::from_str(&dir.text("keep/manifest.json")).expect("JSON");
    assert_eq!(manifest["inputs"][0]["rows"], 5);
    dir.run("locate --cluster c10.toml k.txt --blank keep --key-type u64").fails(&["k.txt", "line 1", "empty"]);
    dir.run("locate --cluster c10.toml k.txt --blank maybe").misused(&["--blank"]);
}

#[test]
fn spaces_tabs_and_odd_bytes_belong_to_text_keys() {
    let dir = Dir::with_clusters(0);
    dir.write("k.txt", " alpha\nalpha \n\talpha\na,b\n\"quoted\"\n\u{1F600}\nnul\0inside\n");
    let found = keys(&dir, "k.txt");
    assert_eq!(found, [" alpha", "alpha ", "\talpha", "a,b", "\"quoted\"", "\u{1F600}", "nul\0inside"]);
}

#[test]
fn csv_has_columns_delimiters_quotes_and_headers() {
    let dir = Dir::with_clusters(0);
    dir.write("plain.csv", "id,key,size\n1,alpha,10\n2,\"be,ta\",20\n3,\"ga\"\"mma\",30\n4,\"two\nlines\",40\n");
    let expected = ["alpha", "be,ta", "ga\"mma", "two\nlines"];
    assert_eq!(keys(&dir, "plain.csv"), expected);
    dir.write("semicolon.csv", "id;key\n1;alpha\n2;be,ta\n3;\"ga\"\"mma\"\n4;\"two\nlines\"\n");
    assert_eq!(keys(&dir, "semicolon.csv --delimiter ;"), expected);
    dir.write("tabs.tsv", "id\tkey\n1\talpha\n2\tbe,ta\n3\t\"ga\"\"mma\"\n4\t\"two\nlines\"\n");
    assert_eq!(keys(&dir, "tabs.tsv"), expected);
    dir.write("tabs.txt", "id\tkey\n1\talpha\n2\tbe,ta\n3\t\"ga\"\"mma\"\n4\t\"two\nlines\"\n");
    for name in ["tab", "\\t"] {
        assert_eq!(keys(&dir, &format!("tabs.txt --input-format csv --delimiter {name}")), expected);
    }
    dir.write("bare.csv", "1,alpha\n2,\"be,ta\"\n3,\"ga\"\"mma\"\n4,\"two\nlines\"\n");
    assert_eq!(keys(&dir, "bare.csv --no-header --column 2"), expected);
    assert_eq!(keys(&dir, "plain.csv --column id --key-type u64"), ["1", "2", "3", "4"]);
    dir.run("locate --cluster c10.toml bare.csv --no-header").fails(&["bare.csv", "\"1\", \"2\"", "--column"]);
    dir.run("locate --cluster c10.toml plain.csv --delimiter ab").misused(&["--delimiter"]);
    dir.run("locate --cluster c10.toml plain.csv --delimiter \"").misused(&["--delimiter"]);
    // One column and no header.
    dir.write("single.csv", "alpha\nbeta\n");
    assert_eq!(keys(&dir, "single.csv --no-header"), ["alpha", "beta"]);
}

#[test]
fn an_empty_field_is_the_empty_key_of_text() {
    let dir = Dir::with_clusters(0);
    dir.write("t.csv", "id,key\n1,\n2,b\n3,\"\"\n");
    assert_eq!(keys(&dir, "t.csv"), ["", "b", ""]);
    dir.run("locate --cluster c10.toml t.csv --key-type u64").fails(&["t.csv", "line 2", "\"key\"", "empty"]);
}

#[test]
fn columns_are_passed_through() {
    let dir = Dir::with_clusters(0);
    dir.write("t.csv", "id,key,country,note\n1,alpha,de,\"a,b\"\n2,beta,,\"\"\n3,gamma,fr,\"line\nbreak\"\n");
    dir.ok("locate --cluster c10.toml t.csv --keep note,id --keep country -o out.csv");
    let table = Table::csv(&dir.text("out.csv"));
    assert_eq!(table.columns, ["key", "note", "id", "country", "node"]);
    assert_eq!(table.column("note"), ["a,b", "", "line\nbreak"]);
    assert_eq!(table.column("id"), ["1", "2", "3"]);
    assert_eq!(table.column("country"), ["de", "", "fr"]);
    dir.ok("locate --cluster c10.toml t.csv --keep note,id --keep country -o out.jsonl");
    assert_eq!(Table::json_lines(&dir.text("out.jsonl")), table);
    dir.ok("locate --cluster c10.toml t.csv --keep note,id --keep country -o out.parquet");
    assert_eq!(Table::parquet(&dir.path("out.parquet")), table);
    let three = dir.ok("locate --cluster c10.toml t.csv --keep id --replicas 2").out;
    assert_eq!(Table::csv(&three).columns, ["key", "id", "node_1", "node_2"]);
    // Names that the output would have twice.
    dir.write("clash.csv", "key,node,node_2,other\na,b,c,d\n");
    dir.run("locate --cluster c10.toml clash.csv --keep node").misused(&["--keep node", "two columns"]);
    dir.run("locate --cluster c10.toml clash.csv --keep node_2 --replicas 2")
        .misused(&["--keep node_2", "two columns"]);
    dir.ok("locate --cluster c10.toml clash.csv --keep node_2");
    dir.run("locate --cluster c10.toml clash.csv --keep key").misused(&["--keep key"]);
    dir.run("locate --cluster c10.toml clash.csv --column other --keep key").misused(&["--keep key"]);
    dir.run("locate --cluster c10.toml clash.csv --keep other,other").fails(&["other", "twice"]);
    dir.run("locate --cluster c10.toml clash.csv --keep nix").fails(&["clash.csv", "no column \"nix\"", "\"other\""]);
    dir.run("locate --cluster c10.toml keys.txt --keep nix").fails(&["keys.txt", "no columns", "--input-format csv"]);
}

#[test]
fn every_key_type_is_read_and_written() {
    let dir = Dir::with_clusters(0);
    let uuid = "6f1ed002-ab5d-4b0a-8c70-2c5a0a6a3a52";
    for (kind, text, expected) in [
        ("text", "007\nx\n", vec!["007", "x"]),
        ("bytes", "00FF7a\n\nff\n", vec!["00ff7a", "ff"]),
        ("u64", "0\n007\n18446744073709551615\n", vec!["0", "7", "18446744073709551615"]),
        (
            "i64",
            "-9223372036854775808\n-5\n9223372036854775807\n",
            vec!["-9223372036854775808", "-5", "9223372036854775807"],
        ),
        ("u32", "0\n4294967295\n", vec!["0", "4294967295"]),
        ("i32", "-2147483648\n2147483647\n", vec!["-2147483648", "2147483647"]),
        ("uuid", "6F1ED002-AB5D-4B0A-8C70-2C5A0A6A3A52\n6f1ed002ab5d4b0a8c702c5a0a6a3a52\n", vec![uuid, uuid]),
    ] {
        dir.write("k.txt", text);
        assert_eq!(keys(&dir, &format!("k.txt --key-type {kind}")), expected, "{kind}");
        dir.write("k.csv", format!("key,x\n{}", text.replace("\n\n", "\n").replace('\n', ",y\n")));
        assert_eq!(keys(&dir, &format!("k.csv --key-type {kind}")), expected, "{kind} in CSV");
        for name in ["out.csv", "out.jsonl", "out.parquet"] {
            dir.ok(&format!("locate --cluster c10.toml k.txt --key-type {kind} -o {name} --force"));
        }
        let csv = Table::csv(&dir.text("out.csv"));
        assert_eq!(Table::json_lines(&dir.text("out.jsonl")), csv, "{kind}");
        let parquet = Table::parquet(&dir.path("out.parquet"));
        assert_eq!(parquet.column("node"), csv.column("node"), "{kind}");
        // A Parquet file that was written is read again, with the same nodes: its column knows its type.
        let again = Table::csv(&dir.ok("locate --cluster c10.toml out.parquet --column key").out);
        assert_eq!(again, csv, "{kind} through Parquet");
    }
    dir.write("k.txt", "5\n");
    dir.run("locate --cluster c10.toml k.txt --key-type float").misused(&["float", "u64"]);
}

#[test]
fn one_number_is_the_same_key_in_every_integer_type() {
    let dir = Dir::with_clusters(0);
    let text: String = (0..2000).map(|number| format!("{number}\n")).collect();
    dir.write("k.txt", text);
    let nodes = |kind: &str| {
        let run = dir.ok(&format!("locate --cluster c10.toml k.txt --key-type {kind}"));
        Table::csv(&run.out).column("node").into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let u64 = nodes("u64");
    for kind in ["i64", "u32", "i32"] {
        assert!(nodes(kind) == u64, "{kind}");
    }
    assert!(nodes("text") != u64, "text keys must not be hashed as integers");
}

#[test]
fn the_cluster_file_says_what_keys_are() {
    let dir = Dir::with_clusters(0);
    dir.write("ids.txt", integer_keys(500));
    dir.ok("cluster new typed.toml --algorithm dx --slots 16 --nodes 10 --key u64");
    let by_flag = dir.ok("locate --cluster c10.toml ids.txt --key-type u64").out;
    assert_eq!(dir.ok("locate --cluster typed.toml ids.txt").stays_quiet().out, by_flag);
    assert_eq!(dir.ok("locate --cluster typed.toml ids.txt --key-type u64").stays_quiet().out, by_flag);
    for verb in
        ["locate --cluster typed.toml", "count --cluster typed.toml", "plan --from typed.toml --to typed.toml -o p"]
    {
        dir.run(&format!("{verb} ids.txt --key-type text")).misused(&["--key-type says text", "cluster file says u64"]);
    }
    dir.run("hash 5 --cluster typed.toml --key-type text").misused(&["--key-type says text", "cluster file says u64"]);
}

#[test]
fn text_keys_that_look_like_integers_are_pointed_out() {
    let dir = Dir::with_clusters(0);
    dir.write("ids.txt", integer_keys(12_000));
    dir.write("ids.csv", format!("key\n{}", integer_keys(100)));
    for line in [
        "locate --cluster c10.toml ids.txt -o out.csv",
        "locate --cluster c10.toml ids.csv -o out2.csv",
        "count --cluster c10.toml ids.txt",
        "plan --from c10.toml --to c11.toml ids.txt -o plan",
    ] {
        let run = dir.ok(line).says(&["warning: ", "look like integers", "--key-type u64", "--key-type text"]);
        assert_eq!(run.err.matches("warning").count(), 1, "once:{}", run.shown());
    }
    // The last of the first 10,000 keys is no integer, or somebody said what the keys are.
    let mut lines: Vec<String> = integer_keys(12_000).lines().map(str::to_owned).collect();
    lines[10_000] = "x".into();
    dir.write("late.txt", lines.join("\n"));
    dir.ok("count --cluster c10.toml late.txt").says(&["look like integers"]);
    lines[9_999] = "x".into();
    dir.write("mixed.txt", lines.join("\n"));
    dir.ok("count --cluster c10.toml mixed.txt").stays_quiet();
    dir.ok("count --cluster c10.toml ids.txt --key-type text").stays_quiet();
    dir.ok("count --cluster c10.toml ids.txt --key-type u64").stays_quiet();
    dir.ok("count --cluster c10.toml ids.txt --quiet").stays_quiet();
    dir.ok("cluster new typed.toml --algorithm dx --slots 16 --nodes 10 --key text");
    dir.ok("count --cluster typed.toml ids.txt").stays_quiet();
}

#[test]
fn odd_paths_are_paths() {
    let dir = Dir::with_clusters(100);
    let expected = dir.ok("locate --cluster c10.toml keys.txt").out;
    for name in ["with space.txt", "\u{fc}n\u{ef}.txt", "-dash.txt", "new\nline.txt", "--help.txt", ".hidden"] {
        dir.write(name, dir.bytes("keys.txt"));
        let path = format!("./{name}");
        assert_eq!(dir.args(&["locate", "--cluster", "c10.toml", &path]).succeeds().out, expected, "{name:?}");
        assert_eq!(dir.args(&["locate", "--cluster", "c10.toml", "--", name]).succeeds().out, expected, "{name:?}");
        let output = format!("./{name}.out.csv");
        dir.args(&["locate", "--cluster", "c10.toml", "keys.txt", "-o", &output]).succeeds();
        assert_eq!(dir.text(&format!("{name}.out.csv")), expected, "{name:?}");
    }
}

#[test]
fn a_single_column_that_looks_like_several_is_refused() {
    let dir = Dir::with_clusters(0);
    dir.write("semicolons.csv", "key;x\na;1\n");
    dir.run("locate --cluster c10.toml semicolons.csv").fails(&["semicolons.csv", "key;x", "--delimiter ';'"]);
    let out = dir.ok("locate --cluster c10.toml semicolons.csv --delimiter ;").out;
    assert!(out.starts_with("key,node\na,node-"), "{out}");
    dir.sh("rehome locate --cluster c10.toml semicolons.csv --column 'key;x'").succeeds();
}

#[test]
fn long_keys_go_to_parquet_whatever_the_chunks() {
    let dir = Dir::with_clusters(0);
    // 60 MB of keys of 100 KB: far more than a hand-over to the encoder may hold.
    let long = "x".repeat(100_000);
    dir.write("long.txt", (0..600).map(|key| format!("{key}{long}\n")).collect::<String>());
    dir.ok("locate --cluster c10.toml long.txt -o long.parquet");
    dir.ok("locate --cluster c10.toml long.txt -o long-7.parquet --chunk-rows 7");
    assert!(dir.bytes("long.parquet") == dir.bytes("long-7.parquet"));
    assert_eq!(Table::parquet(&dir.path("long.parquet")).rows.len(), 600);
}
