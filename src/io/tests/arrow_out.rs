//! Arrow IPC files and streams: the same bytes for the same rows, dictionaries kept, and every key type.

use std::io::Cursor;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, FixedSizeBinaryArray, Int64Array, ListArray, RecordBatch, StringArray,
    StructArray, UInt32Array, UInt64Array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;

use super::KEYS_OF_EVERY_TYPE;
use super::file;
use crate::io::{Compression, OutputFormat, ReadOptions, TableOptions, TableWriter};

const FORMATS: [OutputFormat; 2] = [OutputFormat::Arrow, OutputFormat::ArrowStream];

fn written(
    options: impl Into<TableOptions>,
    schema: &SchemaRef,
    batches: impl IntoIterator<Item = RecordBatch>,
) -> Vec<u8> {
    let mut writer = TableWriter::new(options, Arc::clone(schema), Vec::new(), "test").unwrap();
    for batch in batches {
        writer.write(&batch).unwrap();
    }
    writer.finish().unwrap()
}

/// The batches of a file or a stream.
fn read(format: OutputFormat, bytes: Vec<u8>) -> (SchemaRef, Vec<RecordBatch>) {
    if format == OutputFormat::Arrow {
        let reader = FileReader::try_new(Cursor::new(bytes), None).unwrap();
        (reader.schema(), reader.map(Result::unwrap).collect())
    } else {
        let reader = StreamReader::try_new(Cursor::new(bytes), None).unwrap();
        (reader.schema(), reader.map(Result::unwrap).collect())
    }
}

fn names() -> ArrayRef {
    Arc::new(StringArray::from_iter_values((0..50).map(|node| format!("node-{node}"))))
}

fn nodes_field(name: &str) -> Field {
    Field::new(name, DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8)), true)
}

/// Rows of columns that hold nulls, with something else under every null in every batch.
fn rows(schema: &SchemaRef, names: &ArrayRef, start: u64, length: usize, stale: u32) -> RecordBatch {
    let range = || start..start + length as u64;
    let valid = || Some(NullBuffer::from_iter(range().map(|row| row % 11 != 0)));
    let under = |row: u64, value: u64| if row.is_multiple_of(11) { u64::from(stale) } else { value };
    let key = StringArray::from_iter_values(range().map(|row| format!("k{}", row * row % 10_007)));
    let node = range().map(|row| u32::try_from(under(row, row * 31) % 50).unwrap());
    let node = UInt32Array::new(node.collect(), valid());
    let node = DictionaryArray::<UInt32Type>::new(node, Arc::clone(names));
    let size = range().map(|row| i64::try_from(under(row, row)).unwrap()).collect();
    let flag = BooleanArray::new(range().map(|row| under(row, row) % 3 == 1).collect(), valid());
    let uuid = range().flat_map(|row| u128::from(under(row, row)).to_be_bytes()).collect::<Vec<_>>();
    let list = ListArray::new(
        Arc::new(Field::new_list_field(DataType::Int64, true)),
        OffsetBuffer::from_repeated_length(2, length),
        Arc::new(Int64Array::new(
            range().flat_map(|row| [0, i64::try_from(under(row, row)).unwrap()]).collect(),
            Some(NullBuffer::from_iter(range().flat_map(|row| [true, row % 11 != 0]))),
        )),
        None,
    );
    let inner = BooleanArray::new(range().map(|row| under(row, row) % 3 == 1).collect(), valid());
    let group =
        StructArray::new(vec![Field::new("inner", DataType::Boolean, true)].into(), vec![Arc::new(inner)], None);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(key),
        Arc::new(node),
        Arc::new(Int64Array::new(size, valid())),
        Arc::new(flag),
        Arc::new(FixedSizeBinaryArray::new(16, uuid.into(), valid())),
        Arc::new(list),
        Arc::new(group),
    ];
    RecordBatch::try_new(Arc::clone(schema), columns).unwrap()
}

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("key", DataType::Utf8, false),
        nodes_field("node"),
        Field::new("size", DataType::Int64, true),
        Field::new("flag", DataType::Boolean, true),
        Field::new("uuid", DataType::FixedSizeBinary(16), true),
        Field::new("list", DataType::new_list(DataType::Int64, true), true),
        Field::new("group", DataType::Struct(vec![Field::new("inner", DataType::Boolean, true)].into()), true),
    ]))
}

#[test]
fn the_bytes_do_not_depend_on_the_batches() {
    let (schema, names, total) = (schema(), names(), 150_003);
    for format in FORMATS {
        for compression in [Compression::None, Compression::Zstd] {
            let options = TableOptions { format, compression };
            let cut = |size: usize, stale: u32| {
                let starts = (0..total).step_by(size);
                // Equal names in an array of their own are the same dictionary.
                let names = if size == 777 {
                    Arc::new(names.as_string::<i32>().clone()) as ArrayRef
                } else {
                    Arc::clone(&names)
                };
                written(
                    options,
                    &schema,
                    starts.map(|at| rows(&schema, &names, at as u64, size.min(total - at), stale)),
                )
            };
            let whole = cut(total, 1);
            for size in [777, 65_536, 100_000] {
                assert!(cut(size, 2) == whole, "{format}, {compression}, batches of {size}");
            }
            let all = rows(&schema, &names, 0, total, 3);
            let slices = (0..total).step_by(33_333).map(|at| all.slice(at, 33_333.min(total - at)));
            assert!(written(options, &schema, slices) == whole, "{format}, {compression}, slices");

            let (read_schema, batches) = read(format, whole);
            assert_eq!(read_schema, schema);
            assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [65_536, 65_536, 18_931]);
            assert_eq!(concat_batches(&schema, &batches).unwrap(), all);
            for batch in &batches {
                let node = batch.column(1).as_dictionary::<UInt32Type>();
                assert_eq!(node.values(), &names, "every name once, in the order of the cluster");
            }
        }
    }
}

#[test]
fn batches_end_at_bytes_of_text_too() {
    let schema: SchemaRef = Arc::new(Schema::new(vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("size", DataType::UInt64, true),
    ]));
    let batch = |rows: std::ops::Range<u64>| {
        let key = StringArray::from_iter_values(rows.clone().map(|row| format!("{row:01000}")));
        let size: UInt64Array = rows.map(|row| (row % 3 > 0).then_some(row)).collect();
        RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(key), Arc::new(size)]).unwrap()
    };
    let whole = written(OutputFormat::Arrow, &schema, [batch(0..20_000)]);
    let pieces = (0..20_000).step_by(501).map(|row| batch(row..(row + 501).min(20_000)));
    assert!(written(OutputFormat::Arrow, &schema, pieces) == whole);
    let (_, batches) = read(OutputFormat::Arrow, whole);
    // 8 MiB at 1000 bytes a row: no multiple of 8, so bits are left over.
    assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [8389, 8389, 3222]);
}

#[test]
fn zstd_is_really_inside() {
    let schema: SchemaRef = Arc::new(Schema::new(vec![Field::new("key", DataType::UInt64, false)]));
    let batch =
        RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(UInt64Array::from_iter_values(0..50_000))]).unwrap();
    for format in FORMATS {
        let sizes = [Compression::None, Compression::Zstd].map(|compression| {
            let bytes = written(TableOptions { format, compression }, &schema, [batch.clone()]);
            assert_eq!(read(format, bytes.clone()).1, std::slice::from_ref(&batch));
            bytes.len()
        });
        assert!(sizes[0] > 400_000 && sizes[1] < 200_000, "{format}: {sizes:?}");
    }
}

#[test]
fn keys_of_every_type_come_back() {
    for format in FORMATS {
        for (kind, text) in KEYS_OF_EVERY_TYPE {
            let input = file("keys.txt", text.as_bytes());
            let mut reader = input.open(ReadOptions { key_type: Some(kind), ..ReadOptions::default() }).unwrap();
            let chunk = reader.next_chunk().unwrap().unwrap();
            let schema: SchemaRef = Arc::new(Schema::new(vec![reader.key_field()]));
            let batch = RecordBatch::try_new(Arc::clone(&schema), vec![chunk.key_array()]).unwrap();
            let (back, batches) = read(format, written(format, &schema, [batch.clone()]));
            assert_eq!(back.field(0), &reader.key_field(), "{kind}: type, and the mark of UUIDs");
            assert_eq!(batches, [batch]);
        }
        let marked = Field::new("key", DataType::FixedSizeBinary(16), false)
            .with_metadata([("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned())].into());
        let (back, batches) = read(format, written(format, &Arc::new(Schema::new(vec![marked.clone()])), []));
        assert_eq!(back.field(0), &marked);
        assert!(batches.is_empty());
    }
}

#[test]
fn another_dictionary_and_other_columns_are_refused() {
    let schema: SchemaRef = Arc::new(Schema::new(vec![nodes_field("node")]));
    let batch = |names: [&str; 2]| {
        let names = Arc::new(StringArray::from_iter_values(names));
        let node = DictionaryArray::<UInt32Type>::new(UInt32Array::from(vec![1]), names);
        RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(node)]).unwrap()
    };
    for format in FORMATS {
        let mut writer = TableWriter::new(format, Arc::clone(&schema), Vec::new(), "x.arrow").unwrap();
        writer.write(&batch(["a", "b"])).unwrap();
        let error = writer.write(&batch(["a", "c"])).unwrap_err().to_string();
        assert!(error.starts_with("x.arrow: the dictionary of column \"node\" changed"), "{error}");
        let other = Arc::new(Schema::new(vec![Field::new("node", DataType::UInt64, true)]));
        let other = RecordBatch::try_new(other, vec![Arc::new(UInt64Array::from(vec![1]))]).unwrap();
        assert!(writer.write(&other).unwrap_err().to_string().contains("columns"));
        writer.write_encoded(b"text").unwrap_err();
    }
}
