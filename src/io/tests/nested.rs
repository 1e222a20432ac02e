//! Columns inside structs, in Parquet and in Arrow.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, Int32Array, Int64Array, ListArray, RecordBatch, StringArray, StructArray, types::Int32Type,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::arrow_in::arrow_file;
use super::*;
use crate::io::{BadRows, InputFormat};

fn structs(fields: Vec<(&str, ArrayRef, bool)>, valid: [bool; 4]) -> ArrayRef {
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = fields
        .into_iter()
        .map(|(name, array, nullable)| (Field::new(name, array.data_type().clone(), nullable), array))
        .unzip();
    Arc::new(StructArray::new(fields.into(), arrays, Some(NullBuffer::from(valid.to_vec()))))
}

/// Columns `first`, `a` (of `text`, `b` (of `id`, `size` and `list`) and `x.y`) and `a.dot`.
fn batch() -> RecordBatch {
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>((0..4).map(|row| Some(vec![Some(row)])));
    let inner = structs(
        vec![
            ("id", Arc::new(Int32Array::from(vec![10, 11, 12, 13])) as ArrayRef, false),
            ("size", Arc::new(Int64Array::from(vec![Some(1), Some(2), Some(3), Some(4)])), true),
            ("list", Arc::new(list), true),
        ],
        [true, true, false, true],
    );
    let outer = structs(
        vec![
            ("text", Arc::new(StringArray::from(vec![Some("p"), Some("q"), Some("r"), None])) as ArrayRef, true),
            ("b", inner, true),
            ("x.y", Arc::new(Int32Array::from(vec![7, 8, 9, 10])), false),
        ],
        [true, false, true, true],
    );
    let schema = Schema::new(vec![
        Field::new("first", DataType::Int32, false),
        Field::new("a", outer.data_type().clone(), true),
        Field::new("a.dot", DataType::Int32, false),
    ]);
    let numbers = |from: i32| Arc::new(Int32Array::from_iter_values(from..from + 4)) as ArrayRef;
    RecordBatch::try_new(Arc::new(schema), vec![numbers(0), outer, numbers(100)]).unwrap()
}

fn files() -> [Scratch; 2] {
    let batch = batch();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    [file("k.parquet", &bytes), file("k.arrow", &arrow_file(&[batch], Default::default()))]
}

fn of(column: &str) -> ReadOptions {
    ReadOptions { column: Some(column.into()), bad_rows: BadRows::Skip, ..ReadOptions::default() }
}

#[test]
fn a_path_walks_through_structs() {
    for file in files() {
        let read = |options: ReadOptions| {
            let mut reader = file.open(options).unwrap();
            let chunks: Vec<KeyChunk> = reader.by_ref().map(Result::unwrap).collect();
            let bad: Vec<String> = reader.report().first_bad.iter().map(ToString::to_string).collect();
            (rows(&chunks), bad, reader.kept_fields(), chunks)
        };
        // Where a struct on the way is null, so is the key, also where the field itself never is.
        let (keys, bad, ..) = read(of("a.b.id"));
        assert_eq!(keys, [(0, "10".to_owned()), (3, "13".to_owned())]);
        assert_eq!(bad, ["row 1, column \"a.b.id\": the key is null", "row 2, column \"a.b.id\": the key is null"]);
        assert_eq!(read(of("a.text")).0, [(0, "p".to_owned()), (2, "r".to_owned())]);
        assert_eq!(read(of("a.x.y")).0.len(), 3);
        // A name at the top wins over dots.
        assert_eq!(read(of("a.dot")).0[0], (0, "100".to_owned()));
        let keep = ReadOptions {
            keep: ["a.b.size", "first", "a.x.y", "a.b.id"].map(Into::into).to_vec(),
            size_column: Some("a.b.size".into()),
            ..of("a.dot")
        };
        let (keys, bad, fields, chunks) = read(keep);
        assert_eq!(keys, [(0, "100".to_owned()), (3, "103".to_owned())]);
        assert_eq!(bad[0], "row 1, column \"a.b.size\": the size is null");
        let named: Vec<(&str, bool)> =
            fields.iter().map(|field| (field.name().as_str(), field.is_nullable())).collect();
        assert_eq!(named, [("a.b.size", true), ("first", false), ("a.x.y", true), ("a.b.id", true)]);
        assert_eq!(chunks[0].sizes(), Some(&[1, 4][..]));
        let expected: [ArrayRef; 4] = [
            Arc::new(Int64Array::from(vec![1, 4])),
            Arc::new(Int32Array::from(vec![0, 3])),
            Arc::new(Int32Array::from(vec![7, 10])),
            Arc::new(Int32Array::from(vec![10, 13])),
        ];
        assert_eq!(chunks[0].kept(), expected);
        // Null where a struct is, in carried columns too; and a whole struct beside a part of it.
        let (.., chunks) = read(ReadOptions { keep: vec!["a.x.y".into(), "a".into()], ..of("first") });
        assert_eq!(
            chunks[0].kept()[0].as_ref(),
            &Int32Array::from(vec![Some(7), None, Some(9), Some(10)]) as &dyn Array
        );
        assert_eq!(chunks[0].kept()[1].data_type(), batch().column(1).data_type());
    }
}

#[test]
fn what_is_not_there_or_no_column_is_said() {
    for file in files() {
        let says = |options: ReadOptions, parts: &[&str]| {
            let error = file.error(options);
            for part in parts {
                assert!(error.contains(part), "{error} lacks {part}");
            }
        };
        says(of("z"), &["there is no column \"z\": the columns are \"first\", \"a\", \"a.dot\""]);
        says(of("z.b"), &["there is no column \"z.b\"", "the columns are"]);
        says(of("a.nix.id"), &["\"a\" has no field \"nix\": its fields are \"text\", \"b\", \"x.y\""]);
        says(of("a.b.nix"), &["\"a.b\" has no field \"nix\": its fields are \"id\", \"size\", \"list\""]);
        says(of("first.b"), &["\"first\" is Int32, not a struct"]);
        says(of("a.b.list.item"), &["\"a.b.list\" is a list, not a struct"]);
        says(of("a.b.list"), &["column \"a.b.list\" is a list, which cannot be a key"]);
        says(of("a.b"), &["column \"a.b\" is a struct", "\"a.b.id\", \"a.b.size\""]);
        says(
            ReadOptions { size_column: Some("a.b.list".into()), ..of("first") },
            &["is a list, which cannot be sizes"],
        );
        says(ReadOptions { keep: vec!["a.no".into()], ..of("first") }, &["\"a\" has no field \"no\""]);
        says(of("a."), &["\"a\" has no field \"\""]);
    }
}

#[test]
fn only_needed_leaves_of_parquet_are_read() {
    let [parquet, _] = files();
    let mut bytes = std::fs::read(&parquet.path).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(parquet.reopen()).unwrap();
    for column in builder.metadata().row_group(0).columns() {
        if column.column_path().string() != "a.b.id" {
            let (start, length) = column.byte_range();
            let range = usize::try_from(start).unwrap()..usize::try_from(start + length).unwrap();
            bytes[range].fill(0xff);
        }
    }
    let damaged = file("k.parquet", &bytes);
    let mut reader = damaged.open(of("a.b.id")).unwrap();
    assert_eq!(reader.format(), InputFormat::Parquet);
    assert_eq!(rows(&[reader.next_chunk().unwrap().unwrap()]).len(), 2);
    assert!(damaged.error(of("a.text")).contains("not a readable Parquet file (row group 0: "));
}
