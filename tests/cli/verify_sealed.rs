//! `rehome verify` against somebody who repairs the checksums too: only the inputs tell then, but they do.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, UInt64Array};
use arrow_select::concat::concat_batches;

use crate::planted::{
    both_find, copy, dir_with_plan, edit, finds, finds_nothing_alone, read_part, seal, with_column, with_node,
    write_part,
};
use crate::support::{Dir, integer_keys, write_parquet};

const PART: &str = "moves/part-00001.parquet";

fn rows(batch: &RecordBatch) -> Vec<u64> {
    batch.column(0).as_primitive::<UInt64Type>().values().to_vec()
}

fn joined(batches: &[RecordBatch]) -> RecordBatch {
    concat_batches(&batches[0].schema(), batches).expect("a batch")
}

#[test]
fn a_sealed_copy_without_a_change_is_as_good_as_the_plan() {
    let dir = dir_with_plan();
    copy(&dir);
    seal(&dir, |_| ());
    assert_eq!(
        dir.bytes("copy/manifest.json"),
        dir.bytes("plan/manifest.json"),
        "the checksum of these tests is wrong"
    );
    // What a part says counts, not how Parquet packs it.
    write_part(&dir, PART, &read_part(&dir, PART));
    seal(&dir, |_| ());
    dir.ok("verify copy keys.txt").prints(&["3000 rows give the same"]);
}

#[test]
fn a_changed_row_is_found_in_every_column() {
    let dir = dir_with_plan();
    copy(&dir);
    let batch = read_part(&dir, PART);
    let third = rows(&batch)[2];
    let column = |name: &str| batch.column_by_name(name).expect("a column").clone();
    let key = column("key").as_string::<i32>().value(2).to_owned();
    let other_keys: ArrayRef = Arc::new(
        column("key")
            .as_string::<i32>()
            .iter()
            .map(|text| text.filter(|text| *text != key).or(Some("user:0")))
            .collect::<arrow_array::StringArray>(),
    );
    write_part(&dir, PART, &with_node(&batch, "to", 2, "node-1"));
    seal(&dir, |_| ());
    finds(&dir, "keys.txt", &[&format!("{PART}: row {third}: to is \"node-1\" in the plan, and \"node-10\" now\n")]);
    finds(&dir, "", &["flows.csv: from \"node-"]);
    write_part(&dir, PART, &with_node(&batch, "from", 2, "node-10"));
    seal(&dir, |_| ());
    finds(&dir, "keys.txt", &[&format!("{PART}: row {third}: from is \"node-10\" in the plan, and \"node-")]);
    write_part(&dir, PART, &with_column(&batch, "key", other_keys));
    seal(&dir, |_| ());
    let what = format!("{PART}: row {third}: key is \"user:0\" in the plan, and {key:?} now\n");
    let run = finds(&dir, "keys.txt", &[&what]);
    assert_eq!(run.out, what, "one cell differs");
    finds_nothing_alone(&dir);
    // The row number itself: one row too few, and one too many.
    let mut numbers = rows(&batch);
    let free = (numbers[2] + 1..).find(|row| !numbers.contains(row)).expect("a row that does not move");
    numbers[2] = free;
    numbers.sort_unstable();
    write_part(&dir, PART, &with_column(&batch, "row", Arc::new(UInt64Array::from(numbers))));
    seal(&dir, |_| ());
    finds(&dir, "keys.txt", &[&format!("{PART}: row {third}")]);
}

#[test]
fn a_changed_size_of_a_move_is_found() {
    let dir = Dir::with_clusters(0);
    let table: String = (0..3000).map(|number| format!("object-{number},{number}\n")).collect();
    dir.write("sized.csv", format!("name,size\n{table}"));
    let options = "--from c10.toml --to c11.toml --column name --size-column size --part-rows 1000";
    dir.ok(&format!("plan {options} sized.csv -o plan -q"));
    copy(&dir);
    let batch = read_part(&dir, PART);
    let mut sizes = batch.column_by_name("bytes").expect("bytes").as_primitive::<UInt64Type>().values().to_vec();
    sizes[0] += 1;
    write_part(&dir, PART, &with_column(&batch, "bytes", Arc::new(UInt64Array::from(sizes))));
    seal(&dir, |_| ());
    let row = rows(&batch)[0];
    finds(&dir, "sized.csv", &[&format!("{PART}: row {row}: bytes is \"{}\" in the plan, and \"{row}\" now", row + 1)]);
    finds(&dir, "", &["flows.csv: from \"node-", " bytes, and the moves make "]);
    copy(&dir);
    seal(&dir, |manifest| manifest["parts"][1]["sizes_crc32"] = "00000000".into());
    finds(&dir, "sized.csv", &["inputs: rows 1000 to 1999 (part 1): the sizes are others"]);
    copy(&dir);
    seal(&dir, |manifest| manifest["options"]["size_column"] = serde_json::Value::Null);
    finds(&dir, "sized.csv", &["part-00000.parquet: has the columns row UInt64, ", ", bytes UInt64 instead of "]);
    copy(&dir);
    seal(&dir, |manifest| manifest["options"]["column"] = "size".into());
    finds(&dir, "sized.csv", &["inputs: rows 0 to 999 (part 0): the keys are others"]);
    copy(&dir);
    seal(&dir, |manifest| manifest["options"]["column"] = "nothing".into());
    finds(&dir, "sized.csv", &["inputs: sized.csv: ", "nothing"]);
}

#[test]
fn a_move_that_was_left_out_or_added_is_found_in_its_own_part() {
    let dir = dir_with_plan();
    for at in [0, 40] {
        copy(&dir);
        let batch = read_part(&dir, PART);
        let count = batch.num_rows();
        // From within, or the last one, behind which only the next part comes.
        let at = if at == 0 { count - 1 } else { at };
        let without = joined(&[batch.slice(0, at), batch.slice(at + 1, count - at - 1)]);
        write_part(&dir, PART, &without);
        let row = rows(&batch)[at];
        seal(&dir, |_| ());
        let less = count - 1;
        finds(&dir, "", &[&format!("{PART}: has {less} moves, and the manifest says {count}")]);
        seal(&dir, |manifest| {
            manifest["parts"][1]["moves"] = less.into();
            manifest["files"][1]["rows"] = less.into();
        });
        finds(
            &dir,
            "keys.txt",
            &[
                &format!("{PART}: row {row} moves now, and not in the plan\n"),
                &format!("manifest.json: part 1 has {less} moves, and the keys make {count}"),
            ],
        );
    }
    copy(&dir);
    let batch = read_part(&dir, PART);
    let more = batch.num_rows() + 1;
    let last = rows(&batch)[batch.num_rows() - 1];
    assert!(last < 1999, "the last row of the part moves; take other keys");
    let extra = batch.slice(0, 1);
    let extra = with_column(&extra, "row", Arc::new(UInt64Array::from(vec![1999])));
    write_part(&dir, PART, &joined(&[batch, extra]));
    seal(&dir, |manifest| {
        manifest["parts"][1]["moves"] = more.into();
        manifest["files"][1]["rows"] = more.into();
    });
    finds(&dir, "keys.txt", &[&format!("{PART}: row 1999 moves in the plan, and not now\n")]);
    finds(&dir, "", &["flows.csv: from \"node-", " keys, and the moves make "]);
}

#[test]
fn rows_of_another_part_twice_or_out_of_order_are_found() {
    let dir = dir_with_plan();
    copy(&dir);
    dir.sh("cd copy/moves && mv part-00000.parquet x && mv part-00001.parquet part-00000.parquet && mv x part-00001.parquet")
        .succeeds();
    seal(&dir, |_| ());
    let places = ["part-00000.parquet: has row 1", "but is for rows 0 to 999", "part-00001.parquet: has row "];
    both_find(&dir, "keys.txt", &places);
    copy(&dir);
    let batch = read_part(&dir, PART);
    write_part(&dir, PART, &joined(&[batch.slice(0, 1), batch.clone()]));
    seal(&dir, |_| ());
    both_find(&dir, "keys.txt", &[&format!("{PART}: row {} is there twice or out of order", rows(&batch)[0])]);
    // A part of another plan over the same keys.
    dir.ok("cluster add c11.toml node-11 -o c12.toml");
    dir.ok("plan --from c10.toml --to c12.toml keys.txt -o other --part-rows 1000 -q");
    copy(&dir);
    dir.sh(&format!("cp other/{PART} copy/{PART}")).succeeds();
    seal(&dir, |_| ());
    both_find(&dir, "keys.txt", &[&format!("{PART}: ")]);
    finds(&dir, "keys.txt", &[" moves in the plan, and not now"]);
}

#[test]
fn sums_that_were_changed_are_found() {
    let dir = dir_with_plan();
    for (name, old, new) in [
        ("flows.csv", ",false", ",true"),
        ("flows.csv", "node-0,node-10,", "node-0,node-1,"),
        ("nodes.csv", "node-10,0,", "node-10,1,"),
        ("summary.json", "\"keys\": 3000", "\"keys\": 3001"),
        ("summary.json", "\"excess\": 0", "\"excess\": 1"),
        ("summary.json", "\"cv\": 0.0", "\"cv\": 0.1"),
        ("summary.json", "\"eligible\": 10", "\"eligible\": 9"),
        ("summary.json", "  \"excess\"", "\t\"excess\""),
    ] {
        copy(&dir);
        edit(&dir, name, old, new);
        seal(&dir, |_| ());
        finds(&dir, "keys.txt", &[&format!("{name}: line "), "and the keys give "]);
    }
    // Where they are no sums at all, no inputs are needed.
    for (name, what) in [
        ("flows.csv", "flows.csv: is not what a plan has there: its first row is not from,to,keys,bytes,excess"),
        ("nodes.csv", "nodes.csv: is not what a plan has there: its first row is not name,"),
        ("summary.json", "summary.json: is not what a plan has there: "),
        (PART, "moves/part-00001.parquet: not a readable Parquet file"),
    ] {
        copy(&dir);
        dir.write(&format!("copy/{name}"), "hello");
        seal(&dir, |_| ());
        for run in both_find(&dir, "keys.txt", &[what]) {
            assert_eq!(run.out.matches(what).count(), 1, "told twice:{}", run.shown());
        }
    }
    copy(&dir);
    let flow = dir.text("copy/flows.csv").lines().nth(1).expect("a flow").to_owned() + "\n";
    edit(&dir, "flows.csv", &flow, &flow.repeat(2));
    seal(&dir, |manifest| manifest["files"][3]["rows"] = 11.into());
    both_find(&dir, "keys.txt", &["flows.csv: is not what a plan has there: row 3 has a flow that was there before"]);
}

#[test]
fn a_manifest_that_was_changed_is_found() {
    let dir = dir_with_plan();
    type Edit = fn(&mut serde_json::Value);
    let edits: [(Edit, &str); 12] = [
        (|manifest| manifest["to"]["nodes"][3]["weight"] = 0.5.into(), "moves/part-00000.parquet: row "),
        (|manifest| manifest["to"]["nodes"][3]["name"] = "node-x".into(), "moves/part-00000.parquet: row "),
        (|manifest| manifest["from"]["seed"] = 1.into(), "moves/part-00000.parquet: row "),
        (|manifest| manifest["to"]["dx"]["slots"] = (1_u64 << 31).into(), "manifest.json: too sparse to search"),
        (|manifest| manifest["to"]["nodes"][3]["slot"] = 99.into(), "manifest.json: the cluster \"to\" cannot be read"),
        (|manifest| manifest["options"]["part_rows"] = 500.into(), "which does not fit parts of 500 rows each"),
        (|manifest| manifest["options"]["part_rows"] = 0.into(), "manifest.json: the option part_rows is no number"),
        (|manifest| manifest["options"]["keys_read_as"][1] = "u64".into(), "options: --keys-read-as: was "),
        (|manifest| manifest["options"]["input_format"] = "parquet".into(), "inputs: keys.txt: not a readable Parquet"),
        (|manifest| manifest["options"]["mood"] = "good".into(), "options: --mood: was \"good\" and is not given"),
        (|manifest| manifest["parts"][1]["keys_crc32"] = "00000000".into(), "inputs: rows 1000 to 1999 (part 1)"),
        (
            |manifest| {
                manifest["to"]["key"] = "u64".into();
                manifest["options"]["key_type"] = "text".into();
            },
            "manifest.json: its options and its clusters contradict each other",
        ),
    ];
    for (edit, what) in edits {
        copy(&dir);
        seal(&dir, edit);
        finds(&dir, "keys.txt", &[what]);
    }
    for (number, name) in ["flows.csv", "nodes.csv"].into_iter().enumerate() {
        copy(&dir);
        seal(&dir, |manifest| manifest["files"][3 + number]["rows"] = 99.into());
        both_find(&dir, "keys.txt", &[&format!("manifest.json: it says that {name} has 99 rows, and there are 1")]);
    }
    copy(&dir);
    seal(&dir, |manifest| manifest["files"][0]["rows"] = serde_json::Value::Null);
    both_find(&dir, "keys.txt", &["moves, and moves/part-00000.parquet no rows"]);
}

#[test]
fn other_kinds_of_plans_are_recomputed_in_their_own_way() {
    let dir = Dir::with_clusters(0);
    dir.write("ids.txt", integer_keys(3000));
    let keys: ArrayRef = Arc::new(Int64Array::from_iter_values((0..3000).map(|key| key * 7919 - 5)));
    write_parquet(&dir.path("ids.parquet"), &RecordBatch::try_from_iter([("id", keys)]).expect("a batch"));
    let mut table = "name,size\n".to_owned();
    for number in 0..3000 {
        let size = if number % 500 == 3 { "unknown".to_owned() } else { number.to_string() };
        writeln!(table, "object-{number},{size}").expect("a String takes all");
    }
    dir.write("bad.csv", table);
    dir.write("small.txt", (1..=3000).map(|id| format!("{id}\n")).collect::<String>());
    dir.ok("cluster new crc.toml --algorithm dx-crc32c --slots 16 --nodes 10 --key u32");
    dir.ok("cluster new text.toml --algorithm dx --slots 16 --nodes 10 --key text");
    for (inputs, options) in [
        ("ids.txt", "--from c10.toml --to c11.toml --key-type u64"),
        ("ids.parquet", "--from c10.toml --to c11.toml"),
        ("bad.csv", "--from c10.toml --to c11.toml --column name --size-column size --bad-rows skip"),
        ("small.txt", "--from crc.toml --to text.toml"),
    ] {
        dir.run(&format!("plan {options} {inputs} -o plan --force --quiet --part-rows 1000"));
        copy(&dir);
        let batch = read_part(&dir, PART);
        write_part(&dir, PART, &with_node(&batch, "to", 5, "node-x"));
        seal(&dir, |_| ());
        finds(&dir, inputs, &[&format!("{PART}: row {}: to is \"node-x\" in the plan", rows(&batch)[5])]);
    }
    // Only sums, of which one is wrong.
    dir.ok("plan --from c10.toml --to c11.toml ids.txt -o plan --force -q --summary-only --key-type u64");
    copy(&dir);
    edit(&dir, "nodes.csv", "node-10,0,", "node-10,1,");
    seal(&dir, |_| ());
    both_find(&dir, "ids.txt", &["nodes.csv: \"node-10\" has 1 keys before and "]);
    finds(&dir, "ids.txt", &["nodes.csv: line 12 is \"node-10,1,"]);
}
