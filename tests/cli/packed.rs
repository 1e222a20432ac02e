//! Arrow outputs and compressed ones: read back with other libraries, told by name or by flag, and refused where they
//! cannot be.

use std::fs::File;
use std::io::Read;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{ArrayRef, DictionaryArray, RecordBatch, StringViewArray, UInt64Array};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{DataType, Schema};

use crate::support::{Dir, Table, integer_keys, is_partial, text_keys, write_parquet};

/// An Arrow file or stream.
fn arrow(dir: &Dir, name: &str) -> (Schema, Vec<RecordBatch>) {
    let file = File::open(dir.path(name)).expect("a file");
    if name.ends_with("s") {
        let reader = StreamReader::try_new(file, None).expect("an Arrow stream");
        (reader.schema().as_ref().clone(), reader.map(|batch| batch.expect("a batch")).collect())
    } else {
        let reader = FileReader::try_new(file, None).expect("an Arrow file");
        (reader.schema().as_ref().clone(), reader.map(|batch| batch.expect("a batch")).collect())
    }
}

fn table(dir: &Dir, name: &str) -> Table {
    let (schema, batches) = arrow(dir, name);
    Table::batches(&schema, batches)
}

fn gunzip(bytes: &[u8]) -> std::io::Result<String> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes).read_to_string(&mut text).map(|_| text)
}

fn unzstd(bytes: &[u8]) -> std::io::Result<String> {
    let mut text = String::new();
    zstd::Decoder::new(bytes)?.read_to_string(&mut text).map(|_| text)
}

#[test]
fn arrow_has_the_same_rows_and_a_dictionary_of_nodes() {
    let dir = Dir::with_clusters(3000);
    dir.ok("locate --cluster c10.toml keys.txt -o out.csv");
    let csv = Table::csv(&dir.text("out.csv"));
    for name in ["out.arrow", "out.feather", "out.ipc", "out.arrows"] {
        dir.ok(&format!("locate --cluster c10.toml keys.txt -o {name}")).stays_quiet();
        assert_eq!(table(&dir, name), csv, "{name}");
        let (schema, batches) = arrow(&dir, name);
        assert_eq!((schema.field(0).data_type(), schema.field(0).is_nullable()), (&DataType::Utf8, false));
        assert!(schema.field(1).is_nullable());
        for batch in &batches {
            let node = batch.column(1).as_dictionary::<UInt32Type>();
            let names: Vec<&str> = node.values().as_string::<i32>().iter().flatten().collect();
            assert_eq!(names, (0..10).map(|node| format!("node-{node}")).collect::<Vec<_>>());
        }
    }
    assert_eq!(dir.bytes("out.feather"), dir.bytes("out.arrow"));
    for (option, name) in [("arrow", "out.arrow"), ("arrow-stream", "out.arrows")] {
        dir.sh(&format!("rehome locate --cluster c10.toml keys.txt --output-format {option} > piped")).succeeds();
        assert!(dir.bytes("piped") == dir.bytes(name), "standard output and {name} differ");
    }
    for (name, more) in [("packed.arrow", "--compression zstd"), ("plain.arrow", "--compression none")] {
        dir.ok(&format!("locate --cluster c10.toml keys.txt -o {name} {more}"));
        assert_eq!(table(&dir, name), csv, "{name}");
    }
    assert_eq!(dir.bytes("plain.arrow"), dir.bytes("out.arrow"));
    assert!(dir.bytes("packed.arrow").len() * 2 < dir.bytes("plain.arrow").len());
    // Keys without a node, and every key of a type.
    dir.ok("cluster down c10.toml node-0 node-1 node-2 node-3 node-4 node-5 node-6 node-7 node-8 node-9 -o none.toml");
    dir.ok("locate --cluster none.toml keys.txt -o none.arrow --quiet");
    assert!(table(&dir, "none.arrow").column("node").iter().all(|node| node.is_empty()));
    dir.write("ids.txt", "6f1ed002-ab5d-4b0a-8c70-2c5a0a6a3a52\n");
    dir.ok("locate --cluster c10.toml ids.txt --key-type uuid -o ids.arrow");
    let (schema, _) = arrow(&dir, "ids.arrow");
    assert_eq!(schema.field(0).metadata().get("ARROW:extension:name").map(String::as_str), Some("arrow.uuid"));
    dir.write("empty.txt", "");
    for name in ["empty.arrow", "empty.arrows"] {
        dir.ok(&format!("locate --cluster c10.toml empty.txt -o {name} --quiet"));
        assert_eq!(table(&dir, name), Table { columns: vec!["key".into(), "node".into()], rows: Vec::new() });
    }
}

#[test]
fn carried_columns_do_not_depend_on_how_they_are_read() {
    let dir = Dir::with_clusters(0);
    let rows = 5000_u32;
    let words: Vec<String> = (0..rows).map(|row| format!("a word of more than twelve bytes {}", row % 700)).collect();
    let node: DictionaryArray<UInt32Type> =
        words.iter().enumerate().map(|(row, word)| (row % 5 > 0).then_some(word.as_str())).collect();
    let view = StringViewArray::from_iter(words.iter().enumerate().map(|(row, word)| (row % 7 > 0).then_some(word)));
    let size: UInt64Array = (0..u64::from(rows)).map(|row| (row % 3 > 0).then_some(row)).collect();
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("key", std::sync::Arc::new(UInt64Array::from_iter_values(0..u64::from(rows))) as ArrayRef, false),
        ("word", std::sync::Arc::new(node), true),
        ("view", std::sync::Arc::new(view), true),
        ("size", std::sync::Arc::new(size), true),
    ])
    .expect("a batch");
    write_parquet(&dir.path("t.parquet"), &batch);
    let line = "locate --cluster c10.toml t.parquet --column key --keep word,view,size";
    dir.ok(&format!("{line} -o out.csv"));
    for name in ["out.arrow", "out.arrows"] {
        dir.ok(&format!("{line} -o {name}"));
        assert_eq!(table(&dir, name), Table::csv(&dir.text("out.csv")));
        let whole = dir.bytes(name);
        for chunk in [1, 10, 333, 4096] {
            dir.ok(&format!("{line} -o {name} --chunk-rows {chunk} --force"));
            assert!(dir.bytes(name) == whole, "--chunk-rows {chunk} changed a byte of {name}");
        }
    }
    let (schema, _) = arrow(&dir, "out.arrow");
    for name in ["word", "view"] {
        assert_eq!(schema.field_with_name(name).expect("a column").data_type(), &DataType::Utf8);
    }
}

#[test]
fn text_is_compressed_by_name_or_by_flag() {
    let dir = Dir::with_clusters(3000);
    for format in ["csv", "jsonl"] {
        dir.ok(&format!("locate --cluster c10.toml keys.txt -o out.{format}"));
        let plain = dir.text(&format!("out.{format}"));
        for (end, compression) in [("gz", "gzip"), ("zst", "zstd"), ("zstd", "zstd")] {
            let name = format!("out.{format}.{end}");
            dir.ok(&format!("locate --cluster c10.toml keys.txt -o {name}")).stays_quiet();
            let packed = dir.bytes(&name);
            let text = if end == "gz" { gunzip(&packed) } else { unzstd(&packed) };
            assert!(text.expect("a whole stream") == plain, "{name}");
            let flags = format!("--output-format {format} --compression {compression}");
            dir.sh(&format!("rehome locate --cluster c10.toml keys.txt {flags} > piped")).succeeds().stays_quiet();
            assert!(dir.bytes("piped") == packed, "standard output with {flags} and {name} differ");
            // The flag wins over the name.
            dir.ok(&format!(
                "locate --cluster c10.toml keys.txt -o other.{format} --compression {compression} --force"
            ));
            assert!(dir.bytes(&format!("other.{format}")) == packed);
            dir.ok(&format!("locate --cluster c10.toml keys.txt -o {name} --compression none --force"));
            assert!(dir.text(&name) == plain);
        }
    }
    // Whatever tools are there agree.
    dir.ok("locate --cluster c10.toml keys.txt -o out.csv.gz --force");
    dir.sh("command -v gzip > /dev/null || exit 0; gzip -dc out.csv.gz | cmp - out.csv").succeeds();
    dir.ok("locate --cluster c10.toml keys.txt -o out.csv.zst --force");
    dir.sh("command -v zstd > /dev/null || exit 0; zstd -dc out.csv.zst | cmp - out.csv").succeeds();
}

#[test]
fn parquet_takes_every_compression_inside() {
    let dir = Dir::with_clusters(3000);
    dir.ok("locate --cluster c10.toml keys.txt -o usual.parquet");
    let rows = Table::parquet(&dir.path("usual.parquet"));
    let mut sizes = Vec::new();
    for compression in ["none", "gzip", "zstd"] {
        let name = format!("{compression}.parquet");
        dir.ok(&format!("locate --cluster c10.toml keys.txt -o {name} --compression {compression}"));
        assert_eq!(Table::parquet(&dir.path(&name)), rows);
        sizes.push(dir.bytes(&name).len());
    }
    assert_eq!(dir.bytes("zstd.parquet"), dir.bytes("usual.parquet"));
    assert!(sizes[1] < sizes[0] && sizes[2] < sizes[0], "{sizes:?}");
}

#[test]
fn what_cannot_be_compressed_so_is_refused() {
    let dir = Dir::with_clusters(10);
    let before = dir.names();
    for (line, parts) in [
        ("-o x.parquet.gz", &["x.parquet.gz", "compressed inside", "--compression gzip"][..]),
        ("-o x.pq.zst --compression none", &["x.pq.zst", "compressed inside", "--compression zstd"]),
        ("-o x.arrow.gz", &["x.arrow.gz", "compressed inside", "--compression zstd"]),
        ("-o x.arrows.zst", &["x.arrows.zst", "compressed inside", "--compression zstd"]),
        ("-o x.csv.gz --output-format parquet", &["x.csv.gz", "compressed inside"]),
        ("-o x.arrow --compression gzip", &["x.arrow", "gzip", "--compression zstd or none"]),
        ("--output-format arrow-stream --compression gzip", &["gzip", "--compression zstd or none"]),
        ("-o x.gz", &["x.gz", "does not tell a format", "--output-format"]),
        ("-o x.csv --compression xz", &["--compression", "xz", "none, gzip, zstd"]),
        ("-o x.csv --output-format xls", &["xls", "lines, csv, jsonl, parquet, arrow, arrow-stream"]),
        ("-o x.txt", &["lines", "keys only", ".csv"]),
        ("--output-format lines", &["lines", "keys only", ".csv"]),
    ] {
        dir.run(&format!("locate --cluster c10.toml keys.txt {line}")).misused(parts);
        assert_eq!(dir.names(), before, "{line}");
    }
}

#[test]
fn what_fails_on_the_way_does_not_look_complete() {
    let dir = Dir::with_clusters(0);
    // A bad row after so many good ones that much is written before it.
    dir.write("keys.csv", format!("key\n{}no number\n", integer_keys(300_000)));
    for name in ["x.csv.gz", "x.jsonl.zst", "x.arrow", "x.arrows"] {
        dir.run(&format!("locate --cluster c10.toml keys.csv --key-type u64 -o {name}"))
            .fails(&["keys.csv", "line 300002"]);
        assert!(!dir.exists(name) && !dir.names().iter().any(|name| is_partial(name)), "{:?}", dir.names());
    }
    for (compression, unpack) in [("gzip", gunzip as fn(&[u8]) -> _), ("zstd", unzstd)] {
        let line =
            format!("rehome locate --cluster c10.toml keys.csv --key-type u64 --compression {compression} > cut");
        dir.sh(&line).fails(&["keys.csv", "line 300002"]);
        assert!(dir.bytes("cut").len() > 100_000);
        assert!(unpack(&dir.bytes("cut")).is_err(), "{compression}: a failed run looks complete");
    }
    // A reader that goes away is no error.
    dir.write("keys.txt", text_keys(300_000));
    for more in ["--compression gzip", "--compression zstd", "--output-format arrow", "--output-format arrow-stream"] {
        let line = format!("(rehome locate --cluster c10.toml keys.txt {more}; echo $? > code) | head -c 100 > start");
        dir.sh(&line).succeeds().stays_quiet();
        assert_eq!((dir.text("code").as_str(), dir.bytes("start").len()), ("0\n", 100), "{more}");
    }
}
