//! Alterations of plans: what somebody, or a failing disk, could do to a plan directory.

use std::fs::File;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{ArrayRef, DictionaryArray, RecordBatch};
use arrow_cast::cast;
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

use crate::support::{Dir, Run, write_parquet};

/// Three parts of 1000 keys each in `plan`.
pub(crate) fn dir_with_plan() -> Dir {
    let dir = Dir::with_clusters(3000);
    dir.ok("plan --from c10.toml --to c11.toml keys.txt -o plan --part-rows 1000 --quiet").stays_quiet();
    dir
}

/// A fresh copy of `plan`, called `copy`.
pub(crate) fn copy(dir: &Dir) {
    dir.sh("rm -rf copy && cp -r plan copy").succeeds();
}

/// The manifest of `copy`.
pub(crate) fn manifest(dir: &Dir) -> Value {
    serde_json::from_str(&dir.text("copy/manifest.json")).expect("JSON")
}

/// Edits the text of a file in `copy`; it must change.
#[track_caller]
pub(crate) fn edit(dir: &Dir, name: &str, old: &str, new: &str) {
    let text = dir.text(&format!("copy/{name}"));
    assert!(text.contains(old), "{name} has no {old:?}: {text}");
    dir.write(&format!("copy/{name}"), text.replacen(old, new, 1));
}

/// Edits the manifest of `copy` as one would who wants it to pass: with the lengths and checksums of its files as they
/// are now, and its own checksum.
pub(crate) fn seal(dir: &Dir, edit: impl FnOnce(&mut Value)) {
    let mut manifest = manifest(dir);
    for file in manifest["files"].as_array_mut().expect("files") {
        let path = dir.path("copy").join(file["path"].as_str().expect("a path"));
        if let Ok(bytes) = std::fs::read(path) {
            file["bytes"] = bytes.len().into();
            file["crc32"] = format!("{:08x}", crc32fast::hash(&bytes)).into();
        }
    }
    edit(&mut manifest);
    manifest["crc32"] = "".into();
    let text = format!("{manifest:#}\n");
    manifest["crc32"] = format!("{:08x}", crc32fast::hash(text.as_bytes())).into();
    dir.write("copy/manifest.json", format!("{manifest:#}\n"));
}

/// The moves of a part of `copy`.
pub(crate) fn read_part(dir: &Dir, part: &str) -> RecordBatch {
    let file = File::open(dir.path("copy").join(part)).expect("a part");
    let mut reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet").build().expect("a reader");
    reader.next().expect("a batch").expect("a batch")
}

/// Replaces the moves of a part of `copy`.
pub(crate) fn write_part(dir: &Dir, part: &str, batch: &RecordBatch) {
    write_parquet(&dir.path("copy").join(part), batch);
}

/// The batch with another column.
pub(crate) fn with_column(batch: &RecordBatch, name: &str, column: ArrayRef) -> RecordBatch {
    let index = batch.schema().index_of(name).expect("a column");
    let mut columns = batch.columns().to_vec();
    columns[index] = column;
    RecordBatch::try_new(batch.schema(), columns).expect("a batch")
}

/// The batch with one node name replaced.
pub(crate) fn with_node(batch: &RecordBatch, column: &str, index: usize, name: &str) -> RecordBatch {
    let names = cast(batch.column_by_name(column).expect("a column"), &DataType::Utf8).expect("text");
    let mut names: Vec<Option<String>> = names.as_string::<i32>().iter().map(|name| name.map(str::to_owned)).collect();
    names[index] = Some(name.to_owned());
    let column_of: DictionaryArray<UInt32Type> = names.iter().map(Option::as_deref).collect();
    with_column(batch, column, Arc::new(column_of))
}

/// Verifies `copy` without inputs and with `inputs`, both of which must find something in each of the places.
#[track_caller]
pub(crate) fn both_find(dir: &Dir, inputs: &str, parts: &[&str]) -> [Run; 2] {
    [finds(dir, "", parts), finds(dir, inputs, parts)]
}

/// Verifies `copy`, which must find what begins or reads so, and only differences.
#[track_caller]
pub(crate) fn finds(dir: &Dir, inputs: &str, parts: &[&str]) -> Run {
    let run = dir.run(&format!("verify copy {inputs}"));
    assert!(!run.err.contains("panicked") && !run.err.contains("error: "), "{}", run.shown());
    run.exits(4).prints(parts).says(&["warning: copy: ", "difference"])
}

/// Verifies `copy` without inputs, which must find nothing.
#[track_caller]
pub(crate) fn finds_nothing_alone(dir: &Dir) {
    dir.ok("verify copy").prints(&["copy: all files are whole and agree with one another"]);
}
