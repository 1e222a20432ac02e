//! Key files in Parquet: types, other columns, nulls, and files that are none.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, FixedSizeBinaryArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt32Array,
    UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};

use crate::support::{Dir, Table, integer_keys, text_keys, write_parquet};

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}

#[test]
fn columns_know_their_type() {
    let dir = Dir::with_clusters(0);
    let count = 3000;
    let words: Vec<u64> = integer_keys(count).lines().map(|line| line.parse().expect("a number")).collect();
    let texts = text_keys(3000);
    let ids: Vec<[u8; 16]> = words.iter().map(|word| (u128::from(*word) * 0x1_0000_0001).to_be_bytes()).collect();
    let fixed = FixedSizeBinaryArray::try_from_iter(ids.iter()).expect("16 bytes each");

    dir.write("u64.txt", integer_keys(count));
    dir.write("i64.txt", words.iter().map(|word| format!("{}\n", word.cast_signed())).collect::<String>());
    dir.write("u32.txt", words.iter().map(|word| format!("{}\n", word >> 32)).collect::<String>());
    dir.write("text.txt", &texts);
    dir.write(
        "bytes.txt",
        texts
            .lines()
            .map(|line| line.bytes().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n")
            .collect::<String>(),
    );
    dir.write(
        "uuid.txt",
        ids.iter().map(|id| id.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n").collect::<String>(),
    );
    let u32s = words.iter().map(|word| u32::try_from(word >> 32).expect("32 bits"));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("number", Arc::new(Float64Array::from(vec![0.5; 3000]))),
        ("u64", Arc::new(UInt64Array::from(words.clone()))),
        ("i64", Arc::new(words.iter().map(|word| word.cast_signed()).collect::<Int64Array>())),
        ("u32", Arc::new(u32s.collect::<UInt32Array>())),
        ("text", Arc::new(StringArray::from_iter_values(texts.lines().collect::<Vec<_>>()))),
        ("bytes", Arc::new(BinaryArray::from_iter_values(texts.lines().collect::<Vec<_>>()))),
        ("uuid", Arc::new(fixed)),
    ];
    write_parquet(&dir.path("all.parquet"), &batch(columns));
    for kind in ["u64", "i64", "u32", "text", "bytes"] {
        let lines = dir.ok(&format!("locate --cluster c10.toml {kind}.txt --key-type {kind}")).out;
        let parquet = dir.ok(&format!("locate --cluster c10.toml all.parquet --column {kind}")).stays_quiet().out;
        assert!(parquet == lines, "{kind} keys of lines and of Parquet differ");
        let also = dir.ok(&format!("locate --cluster c10.toml all.parquet --column {kind} --key-type {kind}")).out;
        assert!(also == lines, "{kind} with --key-type");
        let small =
            dir.ok(&format!("locate --cluster c10.toml all.parquet --column {kind} --chunk-rows 100 --threads 2")).out;
        assert!(small == lines, "{kind} in chunks of 100");
    }
    // 16 bytes are a UUID if somebody says so; either way it is the 16 bytes that are hashed.
    let lines = dir.ok("locate --cluster c10.toml uuid.txt --key-type uuid").out;
    assert!(dir.ok("locate --cluster c10.toml all.parquet --column uuid --key-type uuid").out == lines);
    let plain = Table::csv(&dir.ok("locate --cluster c10.toml all.parquet --column uuid").out);
    assert_eq!(plain.column("node"), Table::csv(&lines).column("node"));
    // A plan over the same keys.
    dir.ok("plan --from c10.toml --to c11.toml u64.txt --key-type u64 -o a");
    dir.ok("plan --from c10.toml --to c11.toml all.parquet --column u64 -o b");
    assert_eq!(dir.bytes("a/moves/part-00000.parquet"), dir.bytes("b/moves/part-00000.parquet"));
    // Other columns go through as they are.
    dir.ok("locate --cluster c10.toml all.parquet --column text --keep number,u64,uuid -o kept.parquet");
    let kept = Table::parquet(&dir.path("kept.parquet"));
    assert_eq!(kept.columns, ["key", "number", "u64", "uuid", "node"]);
    assert_eq!(kept.numbers("u64"), words);
    // What cannot be a key, and what is not of the type asked for.
    dir.run("locate --cluster c10.toml all.parquet").fails(&["all.parquet", "--column", "\"u64\""]);
    dir.run("locate --cluster c10.toml all.parquet --column number").fails(&[
        "all.parquet",
        "\"number\"",
        "Float64",
        "cannot be a key",
    ]);
    dir.run("locate --cluster c10.toml all.parquet --column text --key-type u64").fails(&[
        "all.parquet",
        "\"text\"",
        "u64 keys were asked for",
    ]);
    dir.run("locate --cluster c10.toml all.parquet --column nix").fails(&["no column \"nix\""]);
    dir.run("count --cluster c10.toml all.parquet --column text --size-column number").fails(&["\"number\"", "sizes"]);
}

#[test]
fn uuid_columns_are_known_by_their_mark() {
    let dir = Dir::with_clusters(0);
    dir.write("ids.txt", "6f1ed002-ab5d-4b0a-8c70-2c5a0a6a3a52\n00000000-0000-0000-0000-000000000001\n");
    dir.ok("locate --cluster c10.toml ids.txt --key-type uuid -o out.parquet");
    let again = dir.ok("locate --cluster c10.toml out.parquet --column key").stays_quiet().out;
    assert_eq!(again, dir.ok("locate --cluster c10.toml ids.txt --key-type uuid").out);
}

#[test]
fn nulls_are_bad_rows() {
    let dir = Dir::with_clusters(0);
    let keys: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("c"), None, Some("e")]));
    let sizes: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), Some(2), Some(-3), Some(4), None]));
    write_parquet(&dir.path("nulls.parquet"), &batch(vec![("key", keys), ("size", sizes)]));
    let before = dir.names();
    dir.run("locate --cluster c10.toml nulls.parquet -o out.csv").fails(&[
        "nulls.parquet",
        "row 1",
        "\"key\"",
        "null",
        "--bad-rows skip",
    ]);
    dir.run("plan --from c10.toml --to c11.toml nulls.parquet -o plan").fails(&["nulls.parquet", "row 1"]);
    assert!(!dir.exists("plan"));
    dir.sh("rm -rf plan.partial").succeeds();
    assert_eq!(dir.names(), before);
    let run = dir.run("locate --cluster c10.toml nulls.parquet -o out.csv --bad-rows skip").exits(3);
    run.says(&["2 rows were skipped", "row 1", "row 3"]);
    assert_eq!(Table::csv(&dir.text("out.csv")).column("key"), ["a", "c", "e"]);
    let run = dir.run("count --cluster c10.toml nulls.parquet --size-column size --bad-rows skip --json").exits(3);
    assert_eq!((&run.json()["keys"], &run.json()["bad_rows"]), (&1.into(), &4.into()));
    run.says(&["row 2, column \"size\": \"-3\"", "row 4, column \"size\": the size is null"]);
    // Row numbers of moves are those of the file.
    dir.ok("cluster new b.toml --algorithm dx --node z");
    dir.run("plan --from c10.toml --to b.toml nulls.parquet --bad-rows skip -o plan").exits(3);
    assert_eq!(Table::parquet(&dir.path("plan/moves/part-00000.parquet")).numbers("row"), [0, 2, 4]);
}

#[test]
fn a_parquet_file_without_rows_is_said() {
    let dir = Dir::with_clusters(0);
    let schema = Arc::new(Schema::new(vec![Field::new("key", DataType::UInt64, false)]));
    write_parquet(&dir.path("none.parquet"), &RecordBatch::new_empty(schema));
    dir.ok("locate --cluster c10.toml none.parquet -o out.csv").says(&["none.parquet", "empty", "0 keys"]);
    assert_eq!(dir.text("out.csv"), "key,node\n");
    dir.ok("locate --cluster c10.toml none.parquet -o out.parquet");
    assert_eq!(Table::parquet(&dir.path("out.parquet")).columns, ["key", "node"]);
}

#[test]
fn files_that_are_no_parquet_are_refused() {
    let dir = Dir::with_clusters(100);
    dir.data("not-parquet.parquet");
    dir.data("magic-only.parquet");
    write_parquet(
        &dir.path("whole.parquet"),
        &batch(vec![("key", Arc::new(StringArray::from_iter_values(text_keys(1000).lines().collect::<Vec<_>>())))]),
    );
    let whole = dir.bytes("whole.parquet");
    dir.write("cut.parquet", &whole[..whole.len() / 2]);
    dir.write("empty.parquet", "");
    let mut scrambled = whole.clone();
    scrambled[20..200].fill(0xff);
    dir.write("scrambled.parquet", scrambled);
    for name in ["not-parquet.parquet", "magic-only.parquet", "cut.parquet", "empty.parquet", "scrambled.parquet"] {
        dir.run(&format!("locate --cluster c10.toml {name} -o out.csv")).fails(&[name, "not a readable Parquet file"]);
        assert!(!dir.exists("out.csv"), "{name}");
    }
    dir.run("locate --cluster c10.toml keys.txt --input-format parquet")
        .fails(&["keys.txt", "not a readable Parquet file"]);
    dir.sh("head -c 1000 whole.parquet | rehome locate --cluster c10.toml -")
        .fails(&["standard input", "not a readable Parquet file"]);
    dir.ok("locate --cluster c10.toml whole.parquet");
    // A Parquet file without the name of one is known by its first bytes.
    dir.write("whole", whole);
    dir.ok("locate --cluster c10.toml whole -o out.csv");
    assert_eq!(Table::csv(&dir.text("out.csv")).rows.len(), 1000);
}

#[test]
fn the_cluster_and_the_column_must_agree() {
    let dir = Dir::with_clusters(0);
    write_parquet(&dir.path("k.parquet"), &batch(vec![("key", Arc::new(UInt64Array::from(vec![1, 2, 1 << 40])))]));
    dir.ok("cluster new text.toml --algorithm dx --nodes 2 --key text");
    dir.run("locate --cluster text.toml k.parquet").fails(&["k.parquet", "UInt64", "text"]);
    dir.ok("cluster new crc.toml --algorithm dx-crc32c --nodes 4 --slots 10");
    dir.run("locate --cluster crc.toml k.parquet").fails(&["k.parquet", "row 2", "1099511627776", "dx-crc32c"]);
    dir.run("locate --cluster crc.toml k.parquet --bad-rows skip").exits(3).says(&["1 row was skipped"]);
}
