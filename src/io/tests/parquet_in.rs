//! Keys of Parquet files: every type of column, nulls, and files that are none.

use std::sync::Arc;

use arrow_array::types::{Int32Type, UInt8Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, Date32Array, Date64Array, Decimal128Array,
    DictionaryArray, FixedSizeBinaryArray, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array,
    LargeBinaryArray, LargeStringArray, RecordBatch, StringArray, StringViewArray, StructArray, Time32SecondArray,
    Time64MicrosecondArray, TimestampMillisecondArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;

use super::{Scratch, file, keys, rows};
use crate::io::{BadRows, InputFormat, KeyChunk, ReadOptions};
use crate::keys::{KeyColumn, KeyType};

fn parquet(columns: Vec<(&str, ArrayRef)>) -> Scratch {
    let batch =
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    file("keys.parquet", &bytes)
}

fn read(file: &Scratch, options: ReadOptions) -> Vec<KeyChunk> {
    file.open(options).unwrap().collect::<Result<_, _>>().unwrap()
}

/// Reads one column, checks its types, and gives its keys.
fn one(array: ArrayRef, key_type: KeyType, data_type: &DataType) -> KeyChunk {
    let file = parquet(vec![("id", array)]);
    let mut reader = file.open(ReadOptions::default()).unwrap();
    assert_eq!((reader.format(), reader.key_type()), (InputFormat::Parquet, key_type));
    let field = reader.key_field();
    assert_eq!((field.name().as_str(), field.data_type()), ("key", data_type));
    let chunk = reader.next_chunk().unwrap().unwrap();
    assert!(reader.next_chunk().unwrap().is_none());
    assert_eq!(chunk.key_array().data_type(), data_type);
    assert_eq!(chunk.key_array().len(), chunk.len());
    // The array fits the column it is said to be in.
    RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![chunk.key_array()]).unwrap();
    chunk
}

#[test]
fn integers_are_widened_by_their_sign() {
    let minus = |value: i64| value.cast_unsigned();
    let check = |array: ArrayRef, key_type, words: [u64; 2]| {
        let data_type = array.data_type().clone();
        let chunk = one(Arc::clone(&array), key_type, &data_type);
        assert_eq!(chunk.keys(0).as_integers(), Some(&words[..]), "{data_type}");
        assert_eq!(&chunk.key_array(), &array);
    };
    check(Arc::new(Int8Array::from(vec![-1, 5])), KeyType::I32, [minus(-1), 5]);
    check(Arc::new(Int16Array::from(vec![-300, 5])), KeyType::I32, [minus(-300), 5]);
    check(Arc::new(Int32Array::from(vec![i32::MIN, 5])), KeyType::I32, [minus(i64::from(i32::MIN)), 5]);
    check(Arc::new(Int64Array::from(vec![i64::MIN, 5])), KeyType::I64, [1 << 63, 5]);
    check(Arc::new(UInt8Array::from(vec![255, 5])), KeyType::U32, [255, 5]);
    check(Arc::new(UInt16Array::from(vec![65535, 5])), KeyType::U32, [65535, 5]);
    check(Arc::new(UInt32Array::from(vec![u32::MAX, 5])), KeyType::U32, [u64::from(u32::MAX), 5]);
    check(Arc::new(UInt64Array::from(vec![u64::MAX, 5])), KeyType::U64, [u64::MAX, 5]);
    check(Arc::new(Date32Array::from(vec![-2, 20_000])), KeyType::I32, [minus(-2), 20_000]);
    check(Arc::new(Date64Array::from(vec![-86_400_000, 0])), KeyType::I64, [minus(-86_400_000), 0]);
    check(Arc::new(Time32SecondArray::from(vec![1, 2])), KeyType::I32, [1, 2]);
    check(Arc::new(Time64MicrosecondArray::from(vec![1, 2])), KeyType::I64, [1, 2]);
    check(Arc::new(TimestampMillisecondArray::from(vec![-1, 2]).with_timezone("UTC")), KeyType::I64, [minus(-1), 2]);
    let dictionary: DictionaryArray<UInt8Type> =
        DictionaryArray::new(UInt8Array::from(vec![1, 0]), Arc::new(Int32Array::from(vec![7, -9])));
    let chunk = one(Arc::new(dictionary), KeyType::I32, &DataType::Int32);
    assert_eq!(chunk.keys(0).as_integers(), Some(&[minus(-9), 7][..]));
}

#[test]
fn strings_bytes_and_uuids() {
    let text = ["a", "grün and longer than twelve bytes"];
    let dictionary: DictionaryArray<Int32Type> = text.into_iter().collect();
    let texts: [ArrayRef; 4] = [
        Arc::new(StringArray::from_iter_values(text)),
        Arc::new(LargeStringArray::from_iter_values(text)),
        Arc::new(StringViewArray::from_iter_values(text)),
        Arc::new(dictionary),
    ];
    for array in texts {
        assert_eq!(keys(&[one(array, KeyType::Text, &DataType::Utf8)]), text);
    }
    let bytes = || text.map(str::as_bytes);
    let binaries: [ArrayRef; 3] = [
        Arc::new(BinaryArray::from_iter_values(bytes())),
        Arc::new(LargeBinaryArray::from_iter_values(bytes())),
        Arc::new(BinaryViewArray::from_iter_values(bytes())),
    ];
    for array in binaries {
        assert_eq!(keys(&[one(array, KeyType::Bytes, &DataType::Binary)]), text);
    }
    let fixed = FixedSizeBinaryArray::try_from_iter([b"abc", b"xyz"].into_iter()).unwrap();
    assert_eq!(keys(&[one(Arc::new(fixed), KeyType::Bytes, &DataType::FixedSizeBinary(3))]), ["abc", "xyz"]);

    let sixteen = || Arc::new(FixedSizeBinaryArray::try_from_iter([b"0123456789abcdef"].into_iter()).unwrap());
    one(sixteen(), KeyType::Bytes, &DataType::FixedSizeBinary(16));
    let asked = ReadOptions { key_type: Some(KeyType::Uuid), ..ReadOptions::default() };
    assert_eq!(parquet(vec![("id", sixteen())]).open(asked).unwrap().key_type(), KeyType::Uuid);
}

#[test]
fn columns_are_chosen_and_types_must_fit() {
    let file = parquet(vec![
        ("a", Arc::new(Int32Array::from(vec![1, 2]))),
        ("key", Arc::new(StringArray::from_iter_values(["x", "y"]))),
        ("size", Arc::new(Int64Array::from(vec![10, 20]))),
        ("f", Arc::new(Float64Array::from(vec![0.5, 1.5]))),
    ]);
    let keep =
        ReadOptions { keep: vec!["f".into(), "a".into()], size_column: Some("size".into()), ..ReadOptions::default() };
    let chunks = read(&file, keep.clone());
    assert_eq!(keys(&chunks), ["x", "y"]);
    assert_eq!(chunks[0].sizes(), Some(&[10, 20][..]));
    assert_eq!(chunks[0].kept()[0].data_type(), &DataType::Float64);
    assert_eq!(chunks[0].kept()[1].data_type(), &DataType::Int32);
    let mut fields = file.open(keep).unwrap().kept_fields().into_iter().map(|field| field.name().clone());
    assert_eq!((fields.next().as_deref(), fields.next().as_deref()), (Some("f"), Some("a")));

    let of = |column: &str, key_type| ReadOptions { column: Some(column.into()), key_type, ..ReadOptions::default() };
    assert_eq!(read(&file, of("a", Some(KeyType::I64))).len(), 1, "a wider type reads the same");
    let signed = file.error(of("a", Some(KeyType::U64)));
    assert!(signed.contains("column \"a\" is Int32") && signed.contains("read it as i32"), "{signed}");
    let float = file.error(of("f", None));
    assert!(float.contains("column \"f\" is Float64, which cannot be a key"), "{float}");
    let other = file.error(of("key", Some(KeyType::U64)));
    assert!(other.contains("column \"key\" is Utf8, and u64 keys were asked for"), "{other}");
    assert!(file.error(of("a", Some(KeyType::Text))).contains("is Int32, and text keys"));
    assert!(file.error(of("z", None)).contains("the columns are \"a\", \"key\", \"size\", \"f\""));
    let size = file.error(ReadOptions { size_column: Some("f".into()), ..ReadOptions::default() });
    assert!(size.contains("column \"f\" is Float64, which cannot be sizes"), "{size}");
    let two = file.error(ReadOptions { second_key_type: Some(KeyType::U64), ..ReadOptions::default() });
    assert!(two.contains("column has a type of its own"), "{two}");

    let nested: ArrayRef = Arc::new(StructArray::from(vec![(
        Arc::new(Field::new("in", DataType::Int32, true)),
        Arc::new(Int32Array::from(vec![1])) as ArrayRef,
    )]));
    let decimal: ArrayRef = Arc::new(Decimal128Array::from(vec![1]));
    let error = parquet(vec![("id", nested)]).error(ReadOptions::default());
    assert!(error.contains("column \"id\" is a struct") && error.contains("\"id.in\""), "{error}");
    for array in [decimal, Arc::new(BooleanArray::from(vec![true]))] {
        let error = parquet(vec![("id", array)]).error(ReadOptions::default());
        assert!(error.contains("cannot be a key: choose a column of text"), "{error}");
    }
}

#[test]
fn nulls_and_bad_sizes_are_bad_rows() {
    let key: DictionaryArray<Int32Type> =
        [Some("a"), None, Some("c"), Some("d"), Some("e"), Some("f")].into_iter().collect();
    let file = parquet(vec![
        ("key", Arc::new(key)),
        ("size", Arc::new(Int64Array::from(vec![Some(1), Some(2), None, Some(-4), Some(5), Some(6)]))),
        ("kept", Arc::new(Int32Array::from(vec![Some(10), None, None, None, None, Some(60)]))),
    ]);
    let options = |bad_rows, chunk_rows| ReadOptions {
        size_column: Some("size".into()),
        keep: vec!["kept".into()],
        bad_rows,
        chunk_rows,
        ..ReadOptions::default()
    };
    for chunk_rows in [1, 2, 4, 100] {
        let mut reader = file.open(options(BadRows::Skip, chunk_rows)).unwrap();
        let chunks: Vec<KeyChunk> = reader.by_ref().map(Result::unwrap).collect();
        assert_eq!(rows(&chunks), [(0, "a"), (4, "e"), (5, "f")].map(|(row, key)| (row, key.to_owned())));
        assert_eq!(chunks.iter().flat_map(|chunk| chunk.sizes().unwrap().to_vec()).collect::<Vec<_>>(), [1, 5, 6]);
        assert_eq!(chunks.last().unwrap().end_row(), 6);
        let bad: Vec<String> = reader.report().first_bad.iter().map(ToString::to_string).collect();
        assert_eq!(bad[0], "row 1, column \"key\": the key is null");
        assert_eq!(bad[1], "row 2, column \"size\": the size is null");
        assert!(bad[2].starts_with("row 3, column \"size\": \"-4\" is not a size"), "{bad:?}");
        assert_eq!((reader.report().rows, reader.report().bad), (3, 3));
        assert_eq!(reader.progress().bytes(), reader.total_bytes().unwrap());
    }
    let error = file.error(options(BadRows::Stop, 100));
    assert_eq!(error, "keys.parquet: row 1, column \"key\": the key is null; --bad-rows skip passes over such rows");
}

#[test]
fn integers_above_the_largest_are_bad() {
    let file = parquet(vec![("key", Arc::new(Int64Array::from(vec![1, -1, 1 << 40, 7])))]);
    let options = |bad_rows| ReadOptions { max_key: Some((9, "is above it")), bad_rows, ..ReadOptions::default() };
    assert_eq!(rows(&read(&file, options(BadRows::Skip))), [(0, "1".to_owned()), (3, "7".to_owned())]);
    let error = file.error(options(BadRows::Stop));
    assert!(error.starts_with("keys.parquet: row 1, column \"key\": \"-1\" is above it; --bad-rows"), "{error}");
}

#[test]
fn text_that_looks_like_integers_and_empty_files() {
    let file = parquet(vec![("key", Arc::new(StringArray::from_iter_values(["1", "22"])))]);
    let mut reader = file.open(ReadOptions::default()).unwrap();
    assert_eq!(reader.by_ref().count(), 1);
    assert!(reader.report().integer_like);
    let none = parquet(vec![("key", Arc::new(StringArray::from_iter_values([""; 0])))]);
    let mut reader = none.open(ReadOptions::default()).unwrap();
    assert!(reader.next_chunk().unwrap().is_none() && reader.report().empty);
}

#[test]
fn files_that_are_none_or_not_whole() {
    let good = parquet(vec![("key", Arc::new(Int64Array::from_iter_values(0..1000)))]);
    let bytes = std::fs::read(&good.path).unwrap();
    for length in [0, 3, 8, 100, bytes.len() - 1] {
        let error = file("k.parquet", &bytes[..length]).error(ReadOptions::default());
        assert!(error.starts_with("k.parquet: not a readable Parquet file ("), "{length}: {error}");
    }
    let text = file("k.pq", b"just some lines\nof text\n").error(ReadOptions::default());
    assert!(text.starts_with("k.pq: not a readable Parquet file ("), "{text}");
    // Without a telling name the first bytes tell.
    for name in ["keys", "keys.bin"] {
        let unnamed = file(name, &bytes);
        assert_eq!(unnamed.open(ReadOptions::default()).unwrap().format(), InputFormat::Parquet);
        assert_eq!(keys(&read(&unnamed, ReadOptions::default())).len(), 1000);
    }
    assert_eq!(file("keys.bin", b"PAR1\n").open(ReadOptions::default()).unwrap().format(), InputFormat::Lines);
}
