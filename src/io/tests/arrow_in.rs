//! Keys of Arrow IPC files and streams: as those of Parquet, whole or an error.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    Array, ArrayRef, BinaryViewArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray,
    FixedSizeBinaryArray, Float32Array, Int8Array, Int16Array, Int32Array, Int64Array, LargeStringArray, ListArray,
    NullArray, RecordBatch, StringArray, StringViewArray, TimestampMillisecondArray, UInt64Array,
};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_ipc::{CompressionType, MetadataVersion};
use arrow_schema::{DataType, Field, Schema};

use super::compressed::{gzip, zstd};
use super::*;
use crate::io::{BadRows, InputFormat};
use crate::keys::KeyType;

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

fn options(compression: Option<CompressionType>) -> IpcWriteOptions {
    IpcWriteOptions::default().try_with_compression(compression).unwrap()
}

pub(super) fn arrow_file(batches: &[RecordBatch], options: IpcWriteOptions) -> Vec<u8> {
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

fn arrow_stream(batches: &[RecordBatch], options: IpcWriteOptions) -> Vec<u8> {
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

fn outcome(file: &Scratch, options: ReadOptions) -> Result<Vec<(u64, String)>, Error> {
    let chunks: Result<Vec<KeyChunk>, Error> = file.open(options)?.collect();
    Ok(rows(&chunks?))
}

/// A few batches with text, dictionaries and numbers.
fn mixed() -> Vec<RecordBatch> {
    let text = ["a", "bb", "grün and longer than twelve bytes"];
    let of = |rows: std::ops::Range<usize>| {
        // A file has one dictionary for all batches.
        let codes = rows.clone().map(|row| i8::try_from(row % 2).unwrap()).collect::<Int8Array>();
        let dictionary = DictionaryArray::new(codes, Arc::new(StringArray::from_iter_values(text)));
        batch(vec![
            ("n", Arc::new(rows.clone().map(|row| i64::try_from(row).unwrap()).collect::<Int64Array>())),
            (
                "key",
                Arc::new(LargeStringArray::from_iter_values(rows.clone().map(|row| format!("{}{row}", text[row % 3])))),
            ),
            ("code", Arc::new(dictionary)),
            ("view", Arc::new(StringViewArray::from_iter_values(rows.map(|row| text[row % 3])))),
        ])
    };
    vec![of(0..7), of(7..8), of(8..28)]
}

#[test]
fn files_and_streams_of_every_compression_read_alike() {
    let text = ["a", "bb", "grün and longer than twelve bytes"];
    let expected: Vec<(u64, String)> =
        text.iter().cycle().zip(0..28).map(|(text, row)| (row, format!("{text}{row}"))).collect();
    for compression in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
        let forms = [arrow_file(&mixed(), options(compression)), arrow_stream(&mixed(), options(compression))];
        for (form, names) in forms.iter().zip([["k.arrow", "k.feather"], ["k.arrows", "k.ipc"]]) {
            for name in [names[0], names[1], "k", "k.bin"] {
                for chunk_rows in [1, 3, 8, 100] {
                    let small =
                        ReadOptions { chunk_rows, keep: vec!["view".into(), "n".into()], ..ReadOptions::default() };
                    let keys = file(name, form);
                    let mut reader = keys.open(small).unwrap();
                    assert_eq!((reader.format(), reader.key_type()), (InputFormat::Arrow, KeyType::Text));
                    let chunks: Vec<KeyChunk> = reader.by_ref().map(Result::unwrap).collect();
                    assert_eq!(rows(&chunks), expected, "{name}");
                    assert!(
                        chunks.iter().all(|chunk| chunk.len() <= chunk_rows && chunk.kept()[1].len() == chunk.len())
                    );
                    assert_eq!(reader.finished()[0].rows, 28);
                    assert!(reader.progress().bytes() + 1000 > form.len() as u64);
                }
            }
            // Values of dictionaries, not their codes.
            let code = ReadOptions { column: Some("code".into()), ..ReadOptions::default() };
            let codes = outcome(&file("k", form), code).unwrap();
            assert_eq!(codes[..2], [(0, "a".to_owned()), (1, "bb".to_owned())]);
            for packed in [file("k.gz", &gzip(form)), file("k", &zstd(form))] {
                assert_eq!(outcome(&packed, ReadOptions::default()).unwrap(), expected);
            }
        }
    }
}

#[test]
fn every_type_reads_as_in_parquet() {
    let rows_of = |array: ArrayRef| {
        let batch = batch(vec![("id", Arc::clone(&array))]);
        let arrow = file("k.arrow", &arrow_file(std::slice::from_ref(&batch), IpcWriteOptions::default()));
        let mut bytes = Vec::new();
        let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let parquet = file("k.parquet", &bytes);
        let all = |file: &Scratch| {
            let mut reader = file.open(ReadOptions { bad_rows: BadRows::Skip, ..ReadOptions::default() }).unwrap();
            let chunks: Vec<KeyChunk> = reader.by_ref().map(Result::unwrap).collect();
            let bad: Vec<String> = reader.report().first_bad.iter().map(ToString::to_string).collect();
            (reader.key_field(), reader.key_type(), rows(&chunks), bad)
        };
        assert_eq!(all(&arrow), all(&parquet), "{}", array.data_type());
        all(&arrow).2
    };
    assert_eq!(rows_of(Arc::new(Int16Array::from(vec![Some(-1), None, Some(3)])))[1], (2, "3".to_owned()));
    rows_of(Arc::new(Int64Array::from(vec![i64::MIN])));
    rows_of(Arc::new(UInt64Array::from(vec![u64::MAX])));
    rows_of(Arc::new(Date32Array::from(vec![-2])));
    rows_of(Arc::new(TimestampMillisecondArray::from(vec![-1, 2]).with_timezone("UTC")));
    rows_of(Arc::new(StringViewArray::from(vec![Some("a"), None, Some("long enough to be elsewhere")])));
    rows_of(Arc::new(BinaryViewArray::from_iter_values([b"ab", b"cd"])));
    rows_of(Arc::new(FixedSizeBinaryArray::try_from_iter([b"abc", b"xyz"].into_iter()).unwrap()));
    let nulls: DictionaryArray<Int8Type> = [None, Some("b"), None].into_iter().collect();
    assert_eq!(rows_of(Arc::new(nulls)), [(1, "b".to_owned())]);
    let lists = ListArray::from_iter_primitive::<Int8Type, _, _>([Some(vec![Some(1)])]);
    let refused: [ArrayRef; 5] = [
        Arc::new(Float32Array::from(vec![1.0])),
        Arc::new(BooleanArray::from(vec![true])),
        Arc::new(Decimal128Array::from(vec![1])),
        Arc::new(lists),
        Arc::new(NullArray::new(1)),
    ];
    for array in refused {
        let bytes = arrow_file(&[batch(vec![("id", array)])], IpcWriteOptions::default());
        let error = file("k.arrow", &bytes).error(ReadOptions::default());
        assert!(error.starts_with("k.arrow: column \"id\" is ") && error.contains("cannot be a key"), "{error}");
    }
}

#[test]
fn uuids_sizes_and_largest_keys() {
    let mark = HashMap::from([("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned())]);
    let schema = Schema::new(vec![
        Field::new("id", DataType::FixedSizeBinary(16), false).with_metadata(mark),
        Field::new("n", DataType::Int32, true),
    ]);
    let ids = FixedSizeBinaryArray::try_from_iter([b"0123456789abcdef", b"0123456789abcdeX"].into_iter()).unwrap();
    let numbers = Int32Array::from(vec![Some(-5), Some(7)]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![Arc::new(ids), Arc::new(numbers)]).unwrap();
    let keys = file("k.arrow", &arrow_file(&[batch], IpcWriteOptions::default()));
    let of =
        |column: &str| ReadOptions { column: Some(column.into()), bad_rows: BadRows::Skip, ..ReadOptions::default() };
    assert_eq!(keys.open(of("id")).unwrap().key_type(), KeyType::Uuid);
    let sized = ReadOptions { size_column: Some("n".into()), ..of("id") };
    let mut reader = keys.open(sized).unwrap();
    assert_eq!(reader.next_chunk().unwrap().unwrap().sizes(), Some(&[7][..]));
    assert!(reader.report().first_bad[0].to_string().starts_with("row 0, column \"n\": \"-5\" is not a size"));
    let small = ReadOptions { max_key: Some((9, "is above it")), ..of("n") };
    assert_eq!(outcome(&keys, small).unwrap(), [(1, "7".to_owned())]);
    let none = RecordBatch::new_empty(
        keys.open(of("n")).map(|_| Arc::new(Schema::new(vec![Field::new("k", DataType::Int8, true)]))).unwrap(),
    );
    for bytes in [arrow_file(std::slice::from_ref(&none), options(None)), arrow_stream(&[none], options(None))] {
        let file = file("k.arrow", &bytes);
        let mut reader = file.open(ReadOptions::default()).unwrap();
        assert!(reader.next_chunk().unwrap().is_none() && reader.report().empty);
    }
}

#[test]
fn dictionaries_may_change_on_the_way() {
    // A stream may replace a dictionary between batches.
    let of = |words: [&str; 2]| {
        let codes: DictionaryArray<Int8Type> = [Some(words[0]), Some(words[1]), None].into_iter().collect();
        batch(vec![("key", Arc::new(codes))])
    };
    let bytes = arrow_stream(&[of(["a", "b"]), of(["c", "d"]), of(["b", "a"])], IpcWriteOptions::default());
    let skip = ReadOptions { bad_rows: BadRows::Skip, ..ReadOptions::default() };
    let keys: Vec<String> = outcome(&file("k", &bytes), skip).unwrap().into_iter().map(|(_, key)| key).collect();
    assert_eq!(keys, ["a", "b", "c", "d", "b", "a"]);
}

#[test]
fn what_is_cut_short_or_damaged_is_an_error() {
    let strings: ArrayRef = Arc::new(StringArray::from_iter_values(["one", "two"]));
    let codes: DictionaryArray<Int8Type> = [Some("x"), Some("y")].into_iter().collect();
    let batches = [batch(vec![("key", strings), ("code", Arc::new(codes) as ArrayRef)])];
    let old = IpcWriteOptions::try_new(8, true, MetadataVersion::V4).unwrap();
    for (name, bytes) in [
        ("k.arrow", arrow_file(&batches, options(None))),
        ("z.arrow", arrow_file(&batches, options(Some(CompressionType::ZSTD)))),
        ("k.arrows", arrow_stream(&batches, options(None))),
        ("l.arrows", arrow_stream(&batches, options(Some(CompressionType::LZ4_FRAME)))),
        ("o.arrows", arrow_stream(&batches, old)),
    ] {
        assert_eq!(outcome(&file(name, &bytes), ReadOptions::default()).unwrap().len(), 2, "{name}");
        for length in 0..bytes.len() {
            let error = outcome(&file(name, &bytes[..length]), ReadOptions::default());
            let error = error.expect_err(&format!("{length} bytes of {name}")).to_string();
            assert!(error.contains(&format!("{name}: ")), "{error}");
        }
        // Any other bytes are rows or an error, and never the end of the program.
        for at in 0..bytes.len() {
            for (flip, column) in [(0x01, "key"), (0x40, "code"), (0xff, "key")] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                let asked =
                    ReadOptions { column: Some(column.into()), bad_rows: BadRows::Skip, ..ReadOptions::default() };
                let _ = outcome(&file(name, &damaged), asked);
            }
        }
    }
    let stream = arrow_stream(&batches, options(None));
    let twice = file("k.arrows", &[stream.clone(), stream.clone()].concat()).error(ReadOptions::default());
    assert!(twice.contains("bytes follow the end of the Arrow stream"), "{twice}");
    let open_end = file("k.arrows", &stream[..stream.len() - 8]).error(ReadOptions::default());
    assert!(open_end.contains("the Arrow stream is cut short: it has no end mark"), "{open_end}");
    let old = file("k.feather", b"FEA1\0\0\0\0").error(ReadOptions::default());
    assert!(old.contains("k.feather: this is a Feather file of version 1: write it as version 2"), "{old}");
    let garbage = file("k.arrow", b"no such thing at all").error(ReadOptions::default());
    assert!(garbage.starts_with("k.arrow: not a readable Arrow IPC file ("), "{garbage}");
}

#[test]
fn a_footer_that_hides_batches_is_no_short_read() {
    // Large enough that what is between the last named batch and the footer is no alignment.
    let many = batch(vec![("key", Arc::new(UInt64Array::from_iter_values(0..500)) as ArrayRef)]);
    let whole = arrow_file(&[many.clone(), many], options(None));
    let length = whole.len();
    let (mut short, mut errors) = (0, 0);
    for at in length - 400..length {
        for bit in 0..8 {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << bit;
            match outcome(&file("a.arrow", &damaged), ReadOptions::default()) {
                Ok(rows) => short += usize::from(rows.len() != 1000),
                Err(_) => errors += 1,
            }
        }
    }
    assert_eq!(short, 0, "{errors} errors");
    assert!(errors > 500);
}

#[test]
fn times_that_cannot_be_written_are_errors_in_every_text() {
    use arrow_array::TimestampSecondArray;
    for (output, zone) in [(crate::io::OutputFormat::Csv, None), (crate::io::OutputFormat::JsonLines, Some("UTC"))] {
        let write = |seconds: i64| -> Result<String, Error> {
            let mut times = TimestampSecondArray::from(vec![seconds]);
            if let Some(zone) = zone {
                times = times.with_timezone(zone);
            }
            let rows = batch(vec![("t", Arc::new(times) as ArrayRef)]);
            let mut table = crate::io::TableWriter::new(output, rows.schema(), Vec::new(), "out")?;
            table.write(&rows)?;
            Ok(String::from_utf8(table.finish()?).unwrap())
        };
        assert!(write(0).unwrap().contains("1970-01-01T00:00:00"), "{output}");
        write(1 << 62).unwrap_err();
    }
}
