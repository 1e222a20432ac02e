//! Parquet files: the same bytes for the same rows, and every key type there and back.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::{KEYS_OF_EVERY_TYPE, file, keys};
use crate::io::{KeyChunk, OutputFormat, ReadOptions, TableWriter};
use crate::keys::KeyType;

fn schema(key: Field) -> SchemaRef {
    let names = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    Arc::new(Schema::new(vec![key, Field::new("node", names, true), Field::new("row", DataType::UInt64, false)]))
}

fn written(schema: &SchemaRef, batches: impl IntoIterator<Item = RecordBatch>) -> Vec<u8> {
    let mut writer = TableWriter::new(OutputFormat::Parquet, Arc::clone(schema), Vec::new(), "test").unwrap();
    for batch in batches {
        writer.write(&batch).unwrap();
    }
    writer.finish().unwrap()
}

#[test]
fn the_bytes_do_not_depend_on_the_batches() {
    // More than two row groups, so that their ends are passed too.
    let rows: usize = 2_200_001;
    let node_names: ArrayRef = Arc::new(StringArray::from_iter_values((0..50).map(|node| format!("node-{node}"))));
    let schema = schema(Field::new("key", DataType::Utf8, false));
    let batch = |start: usize, length: usize| {
        let range = || start as u64..(start + length) as u64;
        let key =
            StringArray::from_iter_values(range().map(|row| format!("k{}", row.wrapping_mul(0x9e37_79b9) % 1_000_003)));
        let node = range().map(|row| (row % 11 != 0).then(|| i32::try_from(row.wrapping_mul(31) % 50).unwrap()));
        let node = DictionaryArray::<Int32Type>::new(node.collect::<Int32Array>(), Arc::clone(&node_names));
        let columns: Vec<ArrayRef> =
            vec![Arc::new(key), Arc::new(node), Arc::new(UInt64Array::from_iter_values(range()))];
        RecordBatch::try_new(Arc::clone(&schema), columns).unwrap()
    };
    let cut = |size: usize| written(&schema, (0..rows).step_by(size).map(|start| batch(start, size.min(rows - start))));
    let whole = cut(70_000);
    assert!(cut(1000) == whole, "batches of 1000 rows");
    assert!(cut(65_536) == whole, "batches of 65536 rows");
    assert!(cut(3_000_000) == whole, "one batch");
    let sliced = batch(0, rows);
    let sizes = [1, 99_999, 0, 65_535, 300_000];
    let mut at = 0;
    let mut pieces = Vec::new();
    for size in sizes.into_iter().cycle() {
        if at == rows {
            break;
        }
        let length = size.min(rows - at);
        pieces.push(sliced.slice(at, length));
        at += length;
    }
    assert!(written(&schema, pieces) == whole, "slices of one batch");

    let reader = ParquetRecordBatchReaderBuilder::try_new(file("t.parquet", &whole).reopen()).unwrap();
    let groups: Vec<i64> = reader.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
    assert_eq!(groups, [1_048_576, 1_048_576, 102_849]);
}

#[test]
fn single_rows_make_the_same_bytes() {
    let schema = Arc::new(Schema::new(vec![Field::new("key", DataType::UInt64, false)]));
    let batch = |range: std::ops::Range<u64>| {
        RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(UInt64Array::from_iter_values(range)) as ArrayRef])
            .unwrap()
    };
    let singles = written(&schema, (0..70_000).map(|row| batch(row..row + 1)));
    assert!(singles == written(&schema, [batch(0..70_000)]));
}

#[test]
fn keys_of_every_type_come_back() {
    for (kind, text) in KEYS_OF_EVERY_TYPE {
        let input = file("keys.txt", text.as_bytes());
        let mut reader = input.open(ReadOptions { key_type: Some(kind), ..ReadOptions::default() }).unwrap();
        let chunk = reader.next_chunk().unwrap().unwrap();
        let schema: SchemaRef = Arc::new(Schema::new(vec![reader.key_field()]));
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![chunk.key_array()]).unwrap();
        let output = file("keys.parquet", &written(&schema, [batch]));
        let mut back = output.open(ReadOptions::default()).unwrap();
        assert_eq!(back.key_type(), kind);
        assert_eq!(back.key_field(), reader.key_field());
        let chunks: Vec<KeyChunk> = back.by_ref().map(Result::unwrap).collect();
        assert_eq!(keys(&chunks), keys(std::slice::from_ref(&chunk)), "{kind}");
        assert_eq!(&chunks[0].key_array(), &chunk.key_array());
    }
}

#[test]
fn uuids_are_marked_for_every_reader() {
    let input = file("keys.txt", b"6f1ed002-ab5d-4b0a-8c70-2c5a0a6a3a52");
    let mut reader = input.open(ReadOptions { key_type: Some(KeyType::Uuid), ..ReadOptions::default() }).unwrap();
    let chunk = reader.next_chunk().unwrap().unwrap();
    let schema = schema(reader.key_field());
    let node = DictionaryArray::<Int32Type>::new(
        Int32Array::from(vec![None::<i32>]),
        Arc::new(StringArray::from_iter_values(["n"])),
    );
    let columns: Vec<ArrayRef> = vec![chunk.key_array(), Arc::new(node), Arc::new(UInt64Array::from(vec![0]))];
    let bytes = written(&schema, [RecordBatch::try_new(Arc::clone(&schema), columns).unwrap()]);
    let reader = ParquetRecordBatchReaderBuilder::try_new(file("t.parquet", &bytes).reopen()).unwrap();
    let logical = reader.parquet_schema().column(0).logical_type_ref().cloned();
    assert_eq!(logical, Some(parquet::basic::LogicalType::Uuid));
    let row = reader.build().unwrap().next().unwrap().unwrap();
    assert_eq!(row.column(1).data_type(), schema.field(1).data_type());
    assert!(row.column(1).is_null(0));
}

#[test]
fn a_type_that_parquet_cannot_hold_is_an_error() {
    use arrow_schema::{DataType, Field, Schema, UnionFields, UnionMode};
    let inner = UnionFields::try_new([0], [Field::new("a", DataType::Int32, true)]).unwrap();
    let schema = Arc::new(Schema::new(vec![Field::new("u", DataType::Union(inner, UnionMode::Sparse), true)]));
    let error = TableWriter::new(OutputFormat::Parquet, schema, Vec::new(), "out.parquet").unwrap_err().to_string();
    assert!(error.contains("out.parquet") && error.contains("a type that Parquet files cannot hold"), "{error}");
}
