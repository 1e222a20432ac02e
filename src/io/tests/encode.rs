//! Batches as CSV and JSON lines.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::types::UInt32Type;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, DictionaryArray, FixedSizeBinaryArray, Float64Array, Int8Array, Int64Array,
    RecordBatch, StringArray, StringViewArray, TimestampSecondArray, UInt32Array, UInt64Array,
};
use arrow_schema::{Field, Schema, SchemaRef};

use crate::io::row_sink::uuid_field;
use crate::io::{OutputFormat, TableWriter};

fn table(columns: Vec<(&str, ArrayRef)>) -> (SchemaRef, RecordBatch) {
    let field = |(name, array): &(&str, ArrayRef)| match *name {
        "uuid" => uuid_field("uuid", true),
        name => Field::new(name, array.data_type().clone(), true),
    };
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let batch =
        RecordBatch::try_new(Arc::clone(&schema), columns.into_iter().map(|(_, array)| array).collect()).unwrap();
    (schema, batch)
}

fn written(format: OutputFormat, columns: Vec<(&str, ArrayRef)>) -> String {
    let (schema, batch) = table(columns);
    let mut writer = TableWriter::new(format, schema, Vec::new(), "test").unwrap();
    writer.write(&batch.slice(0, 1)).unwrap();
    writer.write(&batch.slice(1, batch.num_rows() - 1)).unwrap();
    String::from_utf8(writer.finish().unwrap()).unwrap()
}

fn nodes(values: &[Option<&str>]) -> ArrayRef {
    Arc::new(values.iter().copied().collect::<DictionaryArray<UInt32Type>>())
}

#[test]
fn csv_quotes_what_must_be_and_tells_empty_from_null() {
    let keys = ["plain", "a,b", "say \"hi\"", "two\nlines", "", " x ", "cr\r"];
    let node = [Some("n1"), None, Some("n,2"), Some("n1"), Some(""), None, Some("n1")];
    let text = written(
        OutputFormat::Csv,
        vec![("key", Arc::new(StringArray::from_iter_values(keys))), ("node", nodes(&node))],
    );
    let expected =
        "key,node\nplain,n1\n\"a,b\",\n\"say \"\"hi\"\"\",\"n,2\"\n\"two\nlines\",n1\n\"\",\"\"\n x ,\n\"cr\r\",n1\n";
    assert_eq!(text, expected);
    let read: Vec<Vec<String>> = csv::Reader::from_reader(text.as_bytes())
        .records()
        .map(|record| record.unwrap().iter().map(str::to_owned).collect())
        .collect();
    assert_eq!(read.iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), keys);
}

#[test]
fn json_lines_parse_back() {
    let keys = ["plain", "q\"\\/", "a\nb\t\u{1}", "", "grün\u{2028}", "\u{7f}", "😀"];
    let node = [Some("n1"), None, Some("n\"2"), Some("n1"), Some(""), None, Some("n1")];
    let text = written(
        OutputFormat::JsonLines,
        vec![("key", Arc::new(StringArray::from_iter_values(keys))), ("no\"de", nodes(&node))],
    );
    assert!(text.starts_with("{\"key\":\"plain\",\"no\\\"de\":\"n1\"}\n"), "{text}");
    for ((line, key), node) in text.lines().zip(keys).zip(node) {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["key"], key);
        assert_eq!(value["no\"de"].as_str(), node);
    }
    assert_eq!(text.lines().count(), keys.len());
}

/// Two rows of every kind of column; the second is null where it can be.
fn kinds() -> Vec<(&'static str, ArrayRef)> {
    let uuid = [0x6f, 0x1e, 0xd0, 2, 0xab, 0x5d, 0x4b, 0x0a, 0x8c, 0x70, 0x2c, 0x5a, 0x0a, 0x6a, 0x3a, 0x52];
    let sixteen = |bytes: [u8; 16]| {
        Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size([Some(bytes), None].into_iter(), 16).unwrap())
    };
    vec![
        ("u64", Arc::new(UInt64Array::from(vec![u64::MAX, 0])) as ArrayRef),
        ("i64", Arc::new(Int64Array::from(vec![Some(i64::MIN), None]))),
        ("i8", Arc::new(Int8Array::from(vec![-128, 100]))),
        ("u32", Arc::new(UInt32Array::from(vec![Some(1000), None]))),
        ("bytes", Arc::new(BinaryArray::from(vec![&b"\x00\xff"[..], b""]))),
        ("uuid", sixteen(uuid)),
        ("fixed", sixteen([0; 16])),
        ("view", Arc::new(StringViewArray::from(vec![Some("a,b"), None]))),
        ("float", Arc::new(Float64Array::from(vec![Some(0.25), None]))),
        ("bool", Arc::new(BooleanArray::from(vec![Some(true), None]))),
        ("time", Arc::new(TimestampSecondArray::from(vec![Some(0), None]))),
    ]
}

#[test]
fn every_kind_of_column_as_csv() {
    assert_eq!(
        written(OutputFormat::Csv, kinds()),
        "u64,i64,i8,u32,bytes,uuid,fixed,view,float,bool,time\n\
         18446744073709551615,-9223372036854775808,-128,1000,00ff,6f1ed002-ab5d-4b0a-8c70-2c5a0a6a3a52,\
         00000000000000000000000000000000,\"a,b\",0.25,true,1970-01-01T00:00:00\n\
         0,,100,,\"\",,,,,,\n"
    );
}

#[test]
fn every_kind_of_column_as_json() {
    assert_eq!(
        written(OutputFormat::JsonLines, kinds()),
        "{\"u64\":18446744073709551615,\"i64\":-9223372036854775808,\"i8\":-128,\"u32\":1000,\"bytes\":\"00ff\",\
         \"uuid\":\"6f1ed002-ab5d-4b0a-8c70-2c5a0a6a3a52\",\"fixed\":\"00000000000000000000000000000000\",\
         \"view\":\"a,b\",\"float\":0.25,\"bool\":true,\"time\":\"1970-01-01T00:00:00\"}\n\
         {\"u64\":0,\"i64\":null,\"i8\":100,\"u32\":null,\"bytes\":\"\",\"uuid\":null,\"fixed\":null,\"view\":null,\
         \"float\":null,\"bool\":null,\"time\":null}\n"
    );
}

#[test]
fn numbers_of_every_length() {
    let mut values: Vec<u64> =
        (0..20).flat_map(|power| [10_u64.pow(power) - 1, 10_u64.pow(power), 5 * 10_u64.pow(power.min(18))]).collect();
    values.extend(0..1000);
    let text = written(OutputFormat::Csv, vec![("key", Arc::new(UInt64Array::from(values.clone())))]);
    let expected: Vec<String> = values.iter().map(ToString::to_string).collect();
    assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), expected);
}

#[test]
fn pieces_encoded_apart_are_the_table() {
    let keys: ArrayRef = Arc::new(StringArray::from_iter_values((0..100).map(|key| format!("k{key}"))));
    let names: Vec<String> = (0..10).map(|node| format!("node,{node}")).collect();
    let node: ArrayRef = nodes(&(0..100).map(|key| Some(names[key % 10].as_str())).collect::<Vec<_>>());
    let columns = || vec![("key", Arc::clone(&keys)), ("node", Arc::clone(&node))];
    for format in [OutputFormat::Csv, OutputFormat::JsonLines] {
        let whole = written(format, columns());
        let (schema, batch) = table(columns());
        let mut writer = TableWriter::new(format, schema, Vec::new(), "test").unwrap();
        let encoder = writer.encoder().unwrap();
        // Pieces of 7 rows have fewer rows than there are names, which are then quoted row by row.
        for start in (0..100).step_by(7) {
            let piece = batch.slice(start, 7.min(100 - start));
            writer.write_encoded(&encoder.encode(&piece, start == 0).unwrap()).unwrap();
        }
        assert_eq!(String::from_utf8(writer.finish().unwrap()).unwrap(), whole);
    }
}

#[test]
fn tables_of_no_rows_and_of_one_column() {
    let none: Vec<(&str, ArrayRef)> = vec![("a,b", Arc::new(StringArray::from_iter_values([""; 0])))];
    let (schema, batch) = table(none);
    let finish = |format| TableWriter::new(format, Arc::clone(&schema), Vec::new(), "test").unwrap().finish().unwrap();
    assert_eq!(finish(OutputFormat::Csv), b"\"a,b\"\n");
    assert_eq!(finish(OutputFormat::JsonLines), b"");
    let mut writer = TableWriter::new(OutputFormat::Csv, Arc::clone(&schema), Vec::new(), "test").unwrap();
    writer.write(&batch).unwrap();
    assert_eq!(writer.finish().unwrap(), b"\"a,b\"\n");
    let one = written(OutputFormat::Csv, vec![("key", Arc::new(StringArray::from(vec![Some("a"), None, Some("")])))]);
    assert_eq!(one, "key\na\n\"\"\n\"\"\n", "no row is an empty line");
    let (other, _) = table(kinds());
    let mut writer = TableWriter::new(OutputFormat::Csv, other, Vec::new(), "test").unwrap();
    assert!(writer.write(&batch).is_err());
}

/// A sink that takes some bytes and then fails.
pub(super) struct Failing(pub(super) usize, pub(super) io::ErrorKind);

impl Write for Failing {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(self.1.into());
        }
        let taken = self.0.min(buf.len());
        self.0 -= taken;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn failed_writes_keep_their_kind_in_every_format() {
    for format in OutputFormat::ALL.into_iter().filter(|format| *format != OutputFormat::Lines) {
        for room in [0, 3, 40] {
            let (schema, batch) = table(kinds());
            let run = |kind| -> crate::error::Result<()> {
                let mut writer = TableWriter::new(format, Arc::clone(&schema), Failing(room, kind), "out.x")?;
                writer.write(&batch)?;
                writer.finish().map(drop)
            };
            let error = run(io::ErrorKind::BrokenPipe).unwrap_err();
            assert!(error.is_broken_pipe(), "{format} with room for {room}: {error}");
            let error = run(io::ErrorKind::StorageFull).unwrap_err();
            assert!(error.to_string().starts_with("out.x: cannot write: "), "{format}: {error}");
            assert!(!error.is_broken_pipe());
        }
    }
}
