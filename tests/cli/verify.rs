//! `rehome verify`: whatever is altered in a plan, or in what it was made from, is found and told.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};

use crate::planted::{both_find, copy, dir_with_plan, edit, finds};
use crate::support::{Dir, integer_keys, write_parquet};

const PART: &str = "moves/part-00001.parquet";

#[test]
fn plans_of_every_kind_verify_as_they_were_written() {
    let dir = Dir::with_clusters(3000);
    dir.ok("cluster weight c11.toml node-3=0.5 -o weighted.toml");
    dir.ok("cluster down c11.toml node-5 node-6 -o down.toml");
    dir.sh("rehome cluster new none.toml --algorithm dx --nodes 2 && rehome cluster down none.toml node-0 node-1")
        .succeeds();
    dir.ok("cluster new crc.toml --algorithm dx-crc32c --slots 16 --nodes 10 --key u32");
    dir.ok("cluster new text.toml --algorithm dx --slots 16 --nodes 10 --key text");
    dir.ok("cluster new seed.toml --algorithm dx --slots 16 --nodes 10 --seed 7");
    let names =
        ["cluster", "new", "odd.toml", "--algorithm", "dx", "--node", "a,b", "--node", "c\"d", "--node", "e\nf"];
    dir.args(&names).succeeds();
    dir.write("ids.txt", integer_keys(3000));
    dir.write("small.txt", (1..=3000).map(|id| format!("{id}\n")).collect::<String>());
    let keys: ArrayRef = Arc::new(Int64Array::from_iter_values((0..3000).map(|key| key * 7919 - 5)));
    write_parquet(&dir.path("ids.parquet"), &RecordBatch::try_from_iter([("id", keys)]).expect("a batch"));
    let mut table = "name;size\n".to_owned();
    for number in 0..3000_u64 {
        let size = if number % 500 == 3 { "unknown".to_owned() } else { (number * 31).to_string() };
        writeln!(table, "object-{number};{size}").expect("a String takes all");
    }
    dir.write("bad.csv", &table);
    dir.write("sized.csv", table.replace("unknown", "5"));
    dir.write("bare.csv", "a,1\nb,2\n\nc,3\n");
    dir.write("blanks.txt", "a\n\nb\n\n");
    dir.write("empty.txt", "");
    for (inputs, options) in [
        ("keys.txt", "--from c10.toml --to c11.toml"),
        ("keys.txt", "--from c10.toml --to c11.toml --part-rows 1000"),
        ("keys.txt", "--from c10.toml --to c11.toml --part-rows 7"),
        ("keys.txt", "--from c10.toml --to c10.toml --part-rows 1000"),
        ("keys.txt", "--from weighted.toml --to down.toml"),
        ("keys.txt", "--from c10.toml --to none.toml --part-rows 999"),
        ("keys.txt", "--from none.toml --to c10.toml"),
        ("keys.txt", "--from odd.toml --to c10.toml"),
        ("keys.txt", "--from c10.toml --to seed.toml --allow-rehash"),
        ("keys.txt", "--from c10.toml --to c11.toml --summary-only"),
        ("ids.txt", "--from c10.toml --to c11.toml --key-type u64 --part-rows 500"),
        ("small.txt", "--from crc.toml --to text.toml --part-rows 1000"),
        ("small.txt", "--from text.toml --to crc.toml --part-rows 1000"),
        ("ids.parquet", "--from c10.toml --to c11.toml --part-rows 1000"),
        ("sized.csv", "--from c10.toml --to c11.toml --column name --size-column size --delimiter ;"),
        ("bad.csv", "--from c10.toml --to c11.toml --column name --size-column size --delimiter ; --bad-rows skip"),
        ("bad.csv", "--from c10.toml --to c11.toml --column name --delimiter ; --summary-only --part-rows 100"),
        ("bare.csv", "--from c10.toml --to c11.toml --no-header --column 1 --size-column 2"),
        ("blanks.txt", "--from c10.toml --to c11.toml --blank keep"),
        ("empty.txt", "--from c10.toml --to c11.toml"),
    ] {
        let run = dir.run(&format!("plan {options} {inputs} -o plan --force --quiet"));
        assert!(run.code == Some(0) || (options.contains("skip") && run.code == Some(3)), "{}", run.shown());
        dir.ok(&format!("verify plan {inputs}")).prints(&["plan: all files are whole, and ", " rows give the same "]);
        dir.ok(&format!("verify plan {inputs} --quiet --threads 1")).stays_quiet();
        dir.ok("verify plan").prints(&["plan: all files are whole and agree with one another"]);
    }
    dir.sh("cat keys.txt | rehome plan --from c10.toml --to c11.toml - -o stream -q --part-rows 1000").succeeds();
    dir.sh("cat keys.txt | rehome verify stream -").succeeds().prints(&["3000 rows give the same"]);
    dir.sh("tail -n +2 keys.txt | rehome verify stream -").exits(4).prints(&["inputs: rows 0 to 999 (part 0)"]);
}

#[test]
fn a_flipped_byte_is_found_in_every_file() {
    let dir = dir_with_plan();
    for name in dir.tree("plan").into_keys() {
        copy(&dir);
        let mut bytes = dir.bytes(&format!("copy/{name}"));
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        dir.write(&format!("copy/{name}"), &bytes);
        both_find(&dir, "keys.txt", &[&format!("{name}: ")]);
    }
    // Between the words of the manifest there is nothing to say, but there are bytes.
    copy(&dir);
    edit(&dir, "manifest.json", "  \"files\"", "\t \"files\"");
    both_find(&dir, "keys.txt", &["manifest.json: it says what it said, but its bytes are others"]);
    copy(&dir);
    edit(&dir, "manifest.json", "\"part_rows\": 1000", "\"part_rows\": 5,\n    \"part_rows\": 1000");
    both_find(&dir, "keys.txt", &["manifest.json: it says what it said, but its bytes are others"]);
}

#[test]
fn a_part_that_was_removed_added_swapped_or_cut_off_is_found() {
    let dir = dir_with_plan();
    copy(&dir);
    dir.sh(&format!("rm copy/{PART}")).succeeds();
    for run in both_find(&dir, "keys.txt", &["moves/part-00001.parquet: is missing\n"]) {
        assert_eq!(run.out.lines().count(), 1, "one thing is wrong, and it is told once:{}", run.shown());
    }
    copy(&dir);
    dir.sh(&format!("cp copy/{PART} copy/moves/part-00003.parquet")).succeeds();
    both_find(&dir, "keys.txt", &["moves/part-00003.parquet: is there, and the manifest does not name it"]);
    copy(&dir);
    dir.sh("cd copy/moves && mv part-00000.parquet x && mv part-00001.parquet part-00000.parquet && mv x part-00001.parquet")
        .succeeds();
    both_find(&dir, "keys.txt", &["moves/part-00000.parquet: ", "moves/part-00001.parquet: "]);
    finds(&dir, "keys.txt", &["part-00000.parquet: has row 1", "but is for rows 0 to 999"]);
    for name in [PART, "flows.csv", "nodes.csv", "summary.json"] {
        for length in [0, 10, 100] {
            copy(&dir);
            let bytes = dir.bytes(&format!("copy/{name}"));
            dir.write(&format!("copy/{name}"), &bytes[..length]);
            let what = format!("{name}: has {length} bytes instead of {}", bytes.len());
            both_find(&dir, "keys.txt", &[&what]);
        }
    }
}

#[test]
fn a_wrong_sum_is_found() {
    let dir = dir_with_plan();
    let flow = dir.text("plan/flows.csv").lines().nth(1).expect("a flow").to_owned();
    let keys = flow.split(',').nth(2).expect("keys").to_owned();
    copy(&dir);
    edit(&dir, "flows.csv", &flow, &flow.replace(&format!(",{keys},"), ",99,"));
    both_find(&dir, "keys.txt", &["flows.csv: "]);
    finds(&dir, "keys.txt", &[&format!("line 2 is \"node-0,node-10,99,,false\", and the keys give {flow:?}")]);
    copy(&dir);
    edit(&dir, "summary.json", "\"keys\": 3000", "\"keys\": 3001");
    both_find(&dir, "keys.txt", &["summary.json: has the checksum "]);
    copy(&dir);
    edit(&dir, "nodes.csv", "node-10,0,", "node-10,1,");
    both_find(&dir, "keys.txt", &["nodes.csv: has the checksum "]);
}

#[test]
fn another_cluster_input_option_or_node_name_in_the_manifest_is_found() {
    let dir = dir_with_plan();
    let altered = "manifest.json: its checksum is not that of what it says: it was altered";
    for (old, new, with_inputs) in [
        ("\"weight\": 1.0", "\"weight\": 0.5", "moves/part-00000.parquet: row "),
        ("\"up\": true", "\"up\": false", "moves/part-00000.parquet: row "),
        ("\"name\": \"node-4\"", "\"name\": \"node-x\"", "from is \"node-4\" in the plan, and \"node-x\" now"),
        ("\"slots\": 16", "\"slots\": 32", "moves/part-00000.parquet: row "),
        ("\"keys.txt\"", "\"other.txt\"", "inputs: instead of input \"other.txt\" there is \"keys.txt\""),
        ("\"bytes\": 28893", "\"bytes\": 28894", "inputs: input \"keys.txt\" was 28894 bytes and is 28893 bytes"),
        ("\"part_rows\": 1000", "\"part_rows\": 500", "part 0 has 1000 rows from row 0 on"),
        ("\"key_type\": null", "\"key_type\": \"u64\"", "inputs: keys.txt: line 1: \"user:1\" is not a u64 key"),
        ("\"column\": null", "\"column\": \"id\"", "a file of lines has no columns"),
        ("\"bad_rows\": \"stop\"", "\"bad_rows\": \"never\"", "--bad-rows: was \"never\" and is \"stop\""),
        ("\"rows\": 1000", "\"rows\": 999", "part 0 has 999 rows"),
    ] {
        copy(&dir);
        edit(&dir, "manifest.json", old, new);
        both_find(&dir, "keys.txt", &[altered]);
        finds(&dir, "keys.txt", &[with_inputs]);
    }
    // A renamed node in the sums.
    copy(&dir);
    edit(&dir, "nodes.csv", "node-4", "node-x");
    both_find(&dir, "keys.txt", &["nodes.csv: has the checksum "]);
}

#[test]
fn inputs_that_changed_are_found() {
    let dir = dir_with_plan();
    let advice = "these are not the inputs that it was made from";
    dir.sh("mkdir new && sed 's/^user:1500$/user:15x0/' keys.txt > new/keys.txt").succeeds();
    dir.run("verify plan new/keys.txt")
        .exits(4)
        .prints(&["inputs: rows 1000 to 1999 (part 1): the keys are others than the plan was made with"])
        .says(&[advice]);
    dir.sh("(cat keys.txt; echo one-more) > new/keys.txt").succeeds();
    dir.run("verify plan new/keys.txt")
        .exits(4)
        .prints(&[
            "inputs: input \"keys.txt\" was 28893 bytes and is 28902 bytes",
            "inputs: \"keys.txt\" had 3000 rows, 0 of them bad, and has 3001, 0 of them bad",
            "inputs: their rows make 4 parts and the plan has 3 parts",
        ])
        .says(&[advice]);
    dir.sh("sed 1500d keys.txt > new/keys.txt").succeeds();
    dir.run("verify plan new/keys.txt").exits(4).prints(&["part 1", "part 2", "moves in the plan, and not now"]);
    dir.sh("mv keys.txt other.txt").succeeds();
    let run = dir.run("verify plan other.txt").exits(4).says(&[advice]);
    assert_eq!(run.out, "inputs: instead of input \"keys.txt\" there is \"other.txt\"\n");
    // Not keys any more, and not the same kind of file.
    dir.write("ids.txt", integer_keys(2000));
    dir.ok("plan --from c10.toml --to c11.toml --key-type u64 ids.txt -o ids -q --part-rows 1000");
    dir.sh("sed '1500s/.*/x/' ids.txt > new/ids.txt").succeeds();
    let run =
        dir.run("verify ids new/ids.txt").exits(4).prints(&["inputs: new/ids.txt: line 1500: \"x\" is not a u64"]);
    assert!(!run.out.contains("--bad-rows"), "verify has no such option:{}", run.shown());
    dir.run("verify plan gone.txt").fails(&["gone.txt: cannot open"]);
}

#[test]
fn inputs_in_another_order_or_number_are_found() {
    let dir = Dir::with_clusters(3000);
    dir.sh("head -n 1500 keys.txt > a.txt && tail -n +1501 keys.txt > b.txt && cp b.txt c.txt").succeeds();
    dir.ok("plan --from c10.toml --to c11.toml a.txt b.txt -o plan --part-rows 1000 -q");
    dir.ok("verify plan a.txt b.txt").prints(&["3000 rows give the same"]);
    dir.ok("verify plan ./a.txt ./b.txt");
    for (inputs, what) in [
        ("a.txt", "inputs: there were 2 inputs and are 1"),
        ("a.txt b.txt c.txt", "inputs: there were 2 inputs and are 3"),
        ("b.txt a.txt", "inputs: instead of input \"a.txt\" there is \"b.txt\""),
        ("a.txt c.txt", "inputs: instead of input \"b.txt\" there is \"c.txt\""),
    ] {
        dir.run(&format!("verify plan {inputs}"))
            .exits(4)
            .prints(&[what])
            .says(&["these are not the inputs that it was made from"]);
    }
}

#[test]
fn sizes_that_changed_are_found() {
    let dir = Dir::with_clusters(0);
    let table: String = (0..2000).map(|number| format!("object-{number},{number}\n")).collect();
    dir.write("sized.csv", format!("name,size\n{table}"));
    let options = "--from c10.toml --to c11.toml --column name --size-column size --part-rows 1000";
    dir.ok(&format!("plan {options} sized.csv -o plan -q"));
    dir.sh("mkdir new && sed 's/^object-1500,1500$/object-1500,1501/' sized.csv > new/sized.csv").succeeds();
    dir.run("verify plan new/sized.csv")
        .exits(4)
        .prints(&["inputs: rows 1000 to 1999 (part 1): the sizes are others", "summary.json: "]);
}

#[test]
fn what_was_found_is_told_as_json_too() {
    let dir = dir_with_plan();
    let whole = dir.ok("verify plan keys.txt --json").stays_quiet().json();
    let moved = dir.ok("plan --from c10.toml --to c11.toml keys.txt --summary-only --json").json()["moved"].clone();
    let moves = serde_json::json!({ "same": moved, "different": 0, "only_in_plan": 0, "only_now": 0 });
    assert_eq!(whole, serde_json::json!({ "differences": [], "rows": 3000, "moves": moves }));
    let alone = dir.ok("verify plan --json --quiet").stays_quiet().json();
    assert_eq!(alone, serde_json::json!({ "differences": [], "rows": null, "moves": null }));
    copy(&dir);
    dir.sh(&format!("rm copy/{PART}")).succeeds();
    let found = dir.run("verify copy keys.txt --json -q").exits(4).stays_quiet().json();
    assert_eq!(found["differences"], serde_json::json!([{ "place": PART, "what": "is missing" }]));
    assert!(found["moves"]["same"].as_u64() < moved.as_u64(), "{found:#}");
    // For people, quiet or not, the list is the result.
    let run = dir.run("verify copy keys.txt -q").exits(4).stays_quiet();
    assert_eq!(run.out, format!("{PART}: is missing\n"));
}

#[test]
fn many_differences_are_counted_and_not_listed() {
    let dir = dir_with_plan();
    dir.ok("plan --from c10.toml --to c11.toml keys.txt -o plan --force --quiet --part-rows 20");
    copy(&dir);
    dir.sh("mkdir new && (echo first; cat keys.txt) > new/keys.txt").succeeds();
    let run = finds(&dir, "new/keys.txt", &["inputs: and ", "moves: ", " rows more differ"]);
    assert!(run.out.lines().count() < 60, "{} lines", run.out.lines().count());
}
