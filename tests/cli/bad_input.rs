//! Key files that are not what they should be: each gets an error that says where and what to do, and no output.

use crate::support::{Dir, Table, integer_keys, is_partial};

/// Runs `locate`, `count` and `plan` over a bad file of `tests/data`; each must fail, say these parts and leave nothing
/// but an unfinished plan.
#[track_caller]
fn refused(name: &str, options: &str, parts: &[&str]) {
    let dir = Dir::with_clusters(3);
    dir.data(name);
    let before = dir.names();
    let mut parts = parts.to_vec();
    parts.push(name);
    for output in ["out.csv", "out.jsonl", "out.parquet"] {
        dir.run(&format!("locate --cluster c10.toml {name} {options} -o {output}")).fails(&parts);
        assert_eq!(dir.names(), before, "locate -o {output} left something");
    }
    dir.run(&format!("count --cluster c10.toml {name} {options}")).fails(&parts);
    dir.run(&format!("plan --from c10.toml --to c11.toml {name} {options} -o plan")).fails(&parts);
    let left: Vec<_> = dir.names().into_iter().filter(|name| !before.contains(name)).collect();
    assert!(left.is_empty() || left == ["plan.partial"], "plan left {left:?}");
}

macro_rules! refusals {
    ($($test:ident: $file:literal, $options:literal, [$($part:literal),*];)*) => {
        $(#[test] fn $test() { refused($file, $options, &[$($part),*]); })*
    };
}

refusals! {
    words_are_no_u64: "not-u64.txt", "--key-type u64", ["line 3", "\"forty-two\" is not a u64 key", "decimal digits", "--bad-rows skip"];
    a_negative_number_is_no_u64: "negative-u64.txt", "--key-type u64", ["line 2", "\"-1\" is not a u64 key"];
    u64_ends_at_2_64: "u64-too-large.txt", "--key-type u64", ["line 2", "\"18446744073709551616\"", "outside 0 to 18446744073709551615"];
    i64_begins_at_minus_2_63: "i64-too-small.txt", "--key-type i64", ["line 2", "\"-9223372036854775809\"", "outside -9223372036854775808"];
    u32_ends_at_2_32: "u32-too-large.txt", "--key-type u32", ["line 2", "\"4294967296\"", "outside 0 to 4294967295"];
    i32_ends_at_2_31: "i32-too-large.txt", "--key-type i32", ["line 3", "\"2147483648\"", "2147483647"];
    a_plus_is_no_integer: "plus-sign.txt", "--key-type u64", ["line 2", "\"+5\""];
    a_fraction_is_no_integer: "decimal-point.txt", "--key-type i64", ["line 2", "\"5.0\""];
    a_space_is_no_integer: "space-before.txt", "--key-type u64", ["line 2", "\" 5\""];
    letters_are_no_bytes: "not-hex.txt", "--key-type bytes", ["line 2", "\"xyz0\"", "hexadecimal digits"];
    half_a_byte_is_no_bytes: "odd-hex.txt", "--key-type bytes", ["line 2", "\"abc\"", "one digit is left over"];
    half_a_uuid_is_none: "not-uuid.txt", "--key-type uuid", ["line 2", "\"6f1ed002-ab5d\"", "32 hexadecimal digits"];
    a_uuid_has_no_braces: "braced-uuid.txt", "--key-type uuid", ["line 1", "is not a uuid key"];
    text_is_utf8: "not-utf8.txt", "", ["line 2", "not valid UTF-8", "--key-type bytes"];
    text_in_csv_is_utf8: "not-utf8.csv", "", ["line 3", "column \"key\"", "not valid UTF-8"];
    a_csv_file_has_a_header: "empty.csv", "", ["no header line", "--no-header"];
    the_key_column_must_be_clear: "no-key-column.csv", "", ["--column", "\"id\", \"name\""];
    the_key_column_must_be_there: "no-key-column.csv", "--column user", ["no column \"user\"", "\"id\", \"name\""];
    the_key_column_must_be_one: "key-twice.csv", "", ["columns 1 and 3", "\"key\"", "rename"];
    a_row_may_not_be_short: "short-row.csv", "", ["line 3", "1 field", "2"];
    a_row_may_not_be_long: "long-row.csv", "", ["line 3", "3 fields", "2"];
    an_empty_field_is_no_u64: "empty-field.csv", "--key-type u64", ["line 3", "column \"key\"", "empty"];
    lines_are_counted_through_quotes: "bad-after-quotes.csv", "--key-type u64", ["line 4", "column \"key\"", "\"x\""];
    a_quote_is_closed: "quote-unclosed.csv", "", ["line 3", "quote", "never closed", "close it", "--bad-rows skip"];
    nothing_follows_a_closing_quote: "text-behind-quote.csv", "", ["line 4", "text follows a closing quote", "double", "--bad-rows skip"];
    an_i64_key_has_its_article: "decimal-point.txt", "--key-type i64", ["is not an i64 key"];
}

#[test]
fn carried_text_is_utf8() {
    let dir = Dir::with_clusters(0);
    dir.data("kept-not-utf8.csv");
    let run = dir.run("locate --cluster c10.toml kept-not-utf8.csv --keep id -o out.csv");
    run.fails(&["kept-not-utf8.csv", "line 3", "column \"id\"", "not valid UTF-8"]);
    assert!(!dir.exists("out.csv"));
    dir.ok("locate --cluster c10.toml kept-not-utf8.csv");
}

#[test]
fn sizes_are_whole_numbers() {
    let dir = Dir::with_clusters(0);
    dir.data("bad-size.csv");
    dir.data("size-too-large.csv");
    for verb in ["count --cluster c10.toml", "plan --from c10.toml --to c11.toml -o plan --force"] {
        let run = dir.run(&format!("{verb} bad-size.csv --size-column size"));
        run.fails(&["bad-size.csv", "line 3", "column \"size\"", "\"-1\" is not a size"]);
        dir.run(&format!("{verb} bad-size.csv --size-column size --bad-rows skip")).exits(3);
        dir.run(&format!("{verb} bad-size.csv --size-column nix")).fails(&["bad-size.csv", "no column \"nix\""]);
        let run = dir.run(&format!("{verb} size-too-large.csv --size-column size"));
        run.fails(&["size-too-large.csv", "2^64 - 1", "size"]);
    }
}

#[test]
fn a_directory_without_files_is_no_input() {
    let dir = Dir::with_clusters(3);
    dir.sh("mkdir folder folder.csv folder.parquet").succeeds();
    let before = dir.names();
    for name in ["folder", "folder.csv", "folder.parquet"] {
        dir.run(&format!("locate --cluster c10.toml {name} -o out.csv")).fails(&[name, "directory"]);
        dir.run(&format!("plan --from c10.toml --to c11.toml {name} -o plan")).fails(&[name, "directory"]);
    }
    dir.run("locate --cluster c10.toml missing.txt -o out.csv").fails(&["missing.txt", "No such file"]);
    dir.run("locate --cluster c10.toml keys.txt/ -o out.csv").fails(&["keys.txt/", "Not a directory"]);
    dir.run("locate --cluster folder keys.txt -o out.csv").fails(&["folder"]);
    assert_eq!(dir.names(), before);
}

#[test]
fn an_empty_file_gives_an_empty_result_and_a_warning() {
    let dir = Dir::with_clusters(0);
    dir.data("empty.txt");
    dir.data("empty.csv");
    for line in ["empty.txt", "empty.csv --no-header", "- --input-format lines"] {
        dir.ok(&format!("locate --cluster c10.toml {line} -o out.csv --force")).says(&["warning: ", "empty", "0 keys"]);
        assert_eq!(dir.text("out.csv"), "key,node\n");
        dir.ok(&format!("locate --cluster c10.toml {line} -o out.jsonl --force"));
        assert_eq!(dir.text("out.jsonl"), "");
        dir.ok(&format!("locate --cluster c10.toml {line} -o out.parquet --force"));
        assert_eq!(Table::parquet(&dir.path("out.parquet")).columns, ["key", "node"]);
        let counts = dir.ok(&format!("count --cluster c10.toml {line} --json")).json();
        assert_eq!((&counts["keys"], &counts["max_over_avg"]), (&0.into(), &serde_json::Value::Null));
        dir.ok(&format!("plan --from c10.toml --to c11.toml {line} -o plan --force")).says(&["0 keys"]);
        let sums: serde_json::Value = serde_json::from_str(&dir.text("plan/summary.json")).expect("JSON");
        assert_eq!((&sums["keys"], &sums["moved"], &sums["moved_fraction"]), (&0.into(), &0.into(), &0.0.into()));
    }
}

#[test]
fn a_file_with_no_keys_in_it_gets_a_warning_too() {
    let dir = Dir::with_clusters(0);
    dir.data("header-only.csv");
    dir.write("blank.txt", "\n\n\n");
    for name in ["header-only.csv", "blank.txt"] {
        let run = dir.ok(&format!("locate --cluster c10.toml {name}"));
        assert_eq!(run.out, "key,node\n");
        run.says(&["warning: ", name, "0 keys"]);
    }
}

#[test]
fn bad_rows_are_skipped_counted_and_listed() {
    let dir = Dir::with_clusters(0);
    dir.data("many-bad.txt");
    let listed = |run: crate::support::Run| {
        let run =
            run.exits(3).says(&["many-bad.txt: 15 rows were skipped", "line 2", "\"bad-2\"", "line 20", "and 5 more"]);
        assert!(!run.err.contains("bad-22"), "more than ten are listed:{}", run.shown());
        assert_eq!(run.err.matches("is not a u64 key").count(), 10, "{}", run.shown());
        run
    };
    let odd: Vec<String> = (0..15).map(|number| (number * 2 + 1).to_string()).collect();
    let options = "--key-type u64 many-bad.txt --bad-rows skip";
    for name in ["out.csv", "out.jsonl", "out.parquet"] {
        let run = listed(dir.run(&format!("locate --cluster c10.toml {options} -o {name} --json")));
        assert_eq!(run.json(), serde_json::json!({ "keys": 15, "unplaced": 0, "bad_rows": 15 }));
    }
    assert_eq!(Table::csv(&dir.text("out.csv")).column("key"), odd);
    assert_eq!(Table::parquet(&dir.path("out.parquet")).column("key"), odd);
    let counts = listed(dir.run(&format!("count --cluster c10.toml {options} --json"))).json();
    assert_eq!((&counts["keys"], &counts["bad_rows"]), (&15.into(), &15.into()));

    dir.ok("cluster new b.toml --algorithm dx --node z");
    let run = listed(dir.run(&format!("plan --from c10.toml --to b.toml {options} -o plan")));
    assert!(run.out.contains("bad rows"), "{}", run.shown());
    let sums: serde_json::Value = serde_json::from_str(&dir.text("plan/summary.json")).expect("JSON");
    assert_eq!((&sums["keys"], &sums["bad_rows"], &sums["moved"]), (&15.into(), &15.into(), &15.into()));
    // Rows are counted with the bad ones, whatever the chunks.
    let rows: Vec<u64> = (0..15).map(|number| number * 2).collect();
    assert_eq!(Table::parquet(&dir.path("plan/moves/part-00000.parquet")).numbers("row"), rows);
    for chunk in [1, 2, 7] {
        dir.run(&format!("plan --from c10.toml --to b.toml {options} -o chunked --force --chunk-rows {chunk}"))
            .exits(3);
        assert!(dir.tree("chunked") == dir.tree("plan"), "--chunk-rows {chunk} changed a byte of the plan");
    }
    let manifest: serde_json::Value = serde_json::from_str(&dir.text("plan/manifest.json")).expect("JSON");
    assert_eq!((&manifest["inputs"][0]["rows"], &manifest["inputs"][0]["bad_rows"]), (&30.into(), &15.into()));
}

#[test]
fn an_input_of_nothing_but_bad_rows_is_finished() {
    let dir = Dir::with_clusters(5);
    let run = dir.run("locate --cluster c10.toml keys.txt --key-type u64 --bad-rows skip -o out.csv");
    run.exits(3).says(&["5 rows were skipped"]);
    assert_eq!(dir.text("out.csv"), "key,node\n");
    dir.run("plan --from c10.toml --to c11.toml keys.txt --key-type u64 --bad-rows skip -o plan").exits(3);
    assert!(dir.exists("plan/summary.json"));
}

#[test]
fn an_error_far_down_leaves_no_output() {
    // Far enough for output to have been written before.
    let dir = Dir::with_clusters(0);
    dir.write("late.txt", integer_keys(300_000) + "oops\n");
    let before = dir.names();
    for name in ["out.csv", "out.jsonl", "out.parquet"] {
        let run = dir.run(&format!("locate --cluster c10.toml --key-type u64 late.txt -o {name}"));
        run.fails(&["late.txt", "line 300001", "\"oops\""]);
        assert_eq!(dir.names(), before);
    }
    dir.write("out.csv", "precious");
    dir.run("locate --cluster c10.toml --key-type u64 late.txt -o out.csv --force").fails(&["line 300001"]);
    assert_eq!(dir.text("out.csv"), "precious");
    dir.run("plan --from c10.toml --to c11.toml --key-type u64 late.txt -o plan --part-rows 1000")
        .fails(&["line 300001"]);
    assert!(!dir.exists("plan"));
    assert!(!dir.names().iter().any(|name| is_partial(name) && name != "plan.partial"), "{:?}", dir.names());
}

#[test]
fn keys_above_32_bits_are_not_for_crc32c() {
    let dir = Dir::with_clusters(10);
    dir.data("above-32-bits.txt");
    dir.data("negative-32.txt");
    dir.ok("cluster new crc.toml --algorithm dx-crc32c --slots 10 --nodes 4");
    for (name, kind, value) in [("above-32-bits.txt", "u64", "4294967296"), ("negative-32.txt", "i64", "-1")] {
        let line = format!("locate --cluster crc.toml --key-type {kind} {name} -o out.csv");
        dir.run(&line).fails(&[name, "line 2", value, "32-bit integer keys", "--bad-rows skip"]);
        assert!(!dir.exists("out.csv"));
        dir.run(&format!("{line} --bad-rows skip")).exits(3);
        assert_eq!(dir.text("out.csv").lines().count(), 2);
        dir.sh("rm out.csv").succeeds();
    }
    dir.run("locate --cluster crc.toml keys.txt").fails(&[
        "keys.txt",
        "dx-crc32c takes integer keys",
        "--key-type u64",
    ]);
    dir.run("locate --cluster crc.toml keys.txt --key-type uuid").fails(&["dx-crc32c takes integer keys"]);
    dir.run("hash 4294967296 --key-type u64 --cluster crc.toml").fails(&["4294967296", "32"]);
}

#[test]
fn replicas_need_a_list() {
    let dir = Dir::with_clusters(10);
    dir.ok("cluster new crc.toml --algorithm dx-crc32c --slots 10 --nodes 4 --key u32");
    let run = dir.run("locate --cluster crc.toml keys.txt --replicas 2 -o out.csv");
    run.fails(&["crc.toml", "dx-crc32c has no preference list", "dx, lrh, multi-probe, ring, rendezvous can"]);
    assert!(!dir.exists("out.csv"));
}

#[test]
fn a_line_that_never_ends_is_refused() {
    let dir = Dir::with_clusters(0);
    let run = dir.sh("head -c 70000000 /dev/zero | tr '\\0' x | rehome locate --cluster c10.toml - -o out.csv");
    run.fails(&["standard input", "line 1", "longer than 64 MiB"]);
    let run = dir.sh("(printf 'key,x\\n\"'; head -c 70000000 /dev/zero | tr '\\0' x) | rehome locate --cluster c10.toml - --input-format csv -o out.csv");
    run.fails(&["standard input", "64 MiB", "quote"]);
    assert!(!dir.exists("out.csv"));
}
