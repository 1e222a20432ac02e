//! Compressed tables: what comes out of a decompressor is the table, cut ends are noticed, and impossible pairs refused.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression as Codec;

use super::encode::Failing;
use super::file;
use crate::io::{Compression, OutputFormat, TableOptions, TableWriter};

const TEXT: [OutputFormat; 2] = [OutputFormat::Csv, OutputFormat::JsonLines];

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("key", DataType::UInt64, false), Field::new("word", DataType::Utf8, false)]))
}

fn batch(rows: std::ops::Range<u64>) -> RecordBatch {
    let words = StringArray::from_iter_values(rows.clone().map(|row| format!("word {}", row * row % 997)));
    let columns: Vec<ArrayRef> = vec![Arc::new(UInt64Array::from_iter_values(rows)), Arc::new(words)];
    RecordBatch::try_new(schema(), columns).unwrap()
}

fn written(options: impl Into<TableOptions>, step: usize) -> Vec<u8> {
    let mut writer = TableWriter::new(options, schema(), Vec::new(), "test").unwrap();
    for start in (0..30_000).step_by(step) {
        writer.write(&batch(start..30_000.min(start + step as u64))).unwrap();
    }
    writer.finish().unwrap()
}

fn unpacked(compression: Compression, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    match compression {
        Compression::None => text.extend_from_slice(bytes),
        // One member, and nothing after it.
        Compression::Gzip => {
            let mut rest = bytes;
            flate2::bufread::GzDecoder::new(&mut rest).read_to_end(&mut text)?;
            assert!(rest.is_empty(), "{} bytes after the member", rest.len());
        }
        Compression::Zstd => {
            let size = zstd::zstd_safe::find_frame_compressed_size(bytes).map_err(|_| io::ErrorKind::UnexpectedEof)?;
            assert_eq!(size, bytes.len(), "one frame");
            zstd::Decoder::new(bytes)?.read_to_end(&mut text)?;
        }
    }
    Ok(text)
}

#[test]
fn text_is_one_member_or_one_frame() {
    for format in TEXT {
        let plain = written(format, 30_000);
        for compression in [Compression::Gzip, Compression::Zstd] {
            let options = TableOptions { format, compression };
            let packed = written(options, 30_000);
            assert!(packed.len() * 2 < plain.len(), "{format}, {compression}: {} bytes", packed.len());
            assert!(unpacked(compression, &packed).unwrap() == plain);
            assert!(written(options, 7) == packed, "{format}, {compression}: rows seven by seven");

            let mut writer = TableWriter::new(options, schema(), Vec::new(), "test").unwrap();
            let encoder = writer.encoder().unwrap();
            for start in (0..30_000).step_by(1000) {
                let text = encoder.encode(&batch(start..start + 1000), start == 0).unwrap();
                writer.write_encoded(&text).unwrap();
            }
            assert!(writer.finish().unwrap() == packed, "{format}, {compression}: encoded elsewhere");

            let empty = TableWriter::new(options, schema(), Vec::new(), "test").unwrap().finish().unwrap();
            let header: &[u8] = if format == OutputFormat::Csv { b"key,word\n" } else { b"" };
            assert_eq!(unpacked(compression, &empty).unwrap(), header);
        }
    }
}

#[test]
fn a_gzip_header_tells_no_time_and_no_name() {
    let packed = written(TableOptions { format: OutputFormat::Csv, compression: Compression::Gzip }, 1000);
    assert_eq!(packed[..8], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0], "magic, deflate, no flags, no time");
    assert_eq!(packed[9], 255, "no system");
}

#[test]
fn what_was_not_finished_does_not_look_complete() {
    struct Shared(Arc<std::sync::Mutex<Vec<u8>>>);
    impl io::Write for Shared {
        fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(buf);
            Ok(buf.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    for compression in [Compression::Gzip, Compression::Zstd] {
        let left = Arc::new(std::sync::Mutex::new(Vec::new()));
        let options = TableOptions { format: OutputFormat::Csv, compression };
        let mut writer = TableWriter::new(options, schema(), Shared(Arc::clone(&left)), "test").unwrap();
        writer.write(&batch(0..100_000)).unwrap();
        drop(writer);
        let left = left.lock().unwrap();
        assert!(!left.is_empty());
        assert!(unpacked(compression, &left).is_err(), "{compression}: {} bytes look complete", left.len());
    }
}

#[test]
fn a_sink_that_fails_fails_the_table_wherever_it_does() {
    for format in OutputFormat::ALL.into_iter().filter(|format| *format != OutputFormat::Lines) {
        for compression in Compression::ALL {
            let options = TableOptions { format, compression };
            if format.is_arrow() && compression == Compression::Gzip {
                continue;
            }
            let whole = written(options, 30_000).len();
            for room in [0, 1, 20, whole / 2, whole - 9, whole - 1] {
                let run = || -> crate::error::Result<()> {
                    let failing = Failing(room, io::ErrorKind::StorageFull);
                    let mut writer = TableWriter::new(options, schema(), failing, "out.x")?;
                    writer.write(&batch(0..30_000))?;
                    writer.finish().map(drop)
                };
                let error = run().expect_err(&format!("{format}, {compression}, room for {room} of {whole}"));
                assert!(error.to_string().starts_with("out.x: cannot write: "), "{error}");
            }
        }
    }
}

#[test]
fn parquet_has_the_codec_inside() {
    let codec = |options: TableOptions| {
        let bytes = written(options, 1000);
        let reader = ParquetRecordBatchReaderBuilder::try_new(file("t.parquet", &bytes).reopen()).unwrap();
        let codec = reader.metadata().row_group(0).column(1).compression();
        let rows: usize = reader.build().unwrap().map(|batch| batch.unwrap().num_rows()).sum();
        assert_eq!(rows, 30_000);
        codec
    };
    let inside = |compression| codec(TableOptions { format: OutputFormat::Parquet, compression });
    assert_eq!(inside(Compression::None), Codec::UNCOMPRESSED);
    assert!(matches!(inside(Compression::Gzip), Codec::GZIP(_)));
    assert!(matches!(inside(Compression::Zstd), Codec::ZSTD(_)));
    assert!(matches!(codec(OutputFormat::Parquet.into()), Codec::ZSTD(_)), "zstd unless asked otherwise");
}

#[test]
fn names_and_wishes_make_options() {
    use Compression::{Gzip, None as Plain, Zstd};
    use OutputFormat::{Arrow, ArrowStream, Csv, JsonLines, Lines, Parquet};
    let told = |name: &str, format, compression| {
        TableOptions::of_path(Path::new(name), format, compression)
            .map(|options| (options.format, options.compression))
            .map_err(|error| error.to_string())
    };
    for (name, format, compression, expected) in [
        ("a.csv", None, None, (Csv, Plain)),
        ("a.csv.gz", None, None, (Csv, Gzip)),
        ("a.jsonl.zst", None, None, (JsonLines, Zstd)),
        ("a.txt.zstd", None, None, (Lines, Zstd)),
        ("a.csv.gz", None, Some(Plain), (Csv, Plain)),
        ("a.csv.gz", None, Some(Zstd), (Csv, Zstd)),
        ("a.csv", None, Some(Gzip), (Csv, Gzip)),
        ("a.gz", Some(JsonLines), None, (JsonLines, Gzip)),
        ("a.csv", Some(Parquet), None, (Parquet, Zstd)),
        ("a.parquet", None, None, (Parquet, Zstd)),
        ("a.parquet", None, Some(Gzip), (Parquet, Gzip)),
        ("a.parquet", None, Some(Plain), (Parquet, Plain)),
        ("a.arrow", None, None, (Arrow, Plain)),
        ("a.feather", None, Some(Zstd), (Arrow, Zstd)),
        ("a.arrows", None, None, (ArrowStream, Plain)),
    ] {
        assert_eq!(told(name, format, compression), Ok(expected), "{name}, {format:?}, {compression:?}");
    }
    for (name, format, compression, parts) in [
        ("a.gz", None, None, ["a.gz: ", "does not tell a format", "--output-format"]),
        ("a", None, Some(Gzip), ["a: ", "does not tell a format", ".csv"]),
        (
            "a.parquet.gz",
            None,
            None,
            ["a.parquet.gz: ", "compressed inside", "leave .gz out of the name and pass --compression gzip"],
        ),
        ("a.parquet.zst", None, Some(Plain), ["a.parquet.zst: ", "parquet is compressed inside", "--compression zstd"]),
        ("a.arrow.gz", None, None, ["a.arrow.gz: ", "arrow is compressed inside", "--compression zstd"]),
        (
            "a.csv.gz",
            Some(ArrowStream),
            None,
            ["a.csv.gz: ", "arrow-stream is compressed inside", "--compression zstd"],
        ),
        ("a.arrow", None, Some(Gzip), ["a.arrow: ", "cannot be compressed with gzip", "--compression zstd or none"]),
    ] {
        let error = told(name, format, compression).expect_err(name);
        for part in parts {
            assert!(error.contains(part), "{name}: {error}");
        }
    }
    assert!(TableOptions::of_stdout(Arrow, Some(Gzip)).is_err());
    assert_eq!(TableOptions::of_stdout(Parquet, None).unwrap().compression, Zstd);
    let refused = TableOptions { format: ArrowStream, compression: Gzip };
    let error = TableWriter::new(refused, schema(), Vec::new(), "x").unwrap_err().to_string();
    assert_eq!(error, "x: Arrow files cannot be compressed with gzip: use --compression zstd or none");
}

#[test]
fn lines_are_one_column_as_it_is() {
    let lines = |column: ArrayRef| {
        let schema = Arc::new(Schema::new(vec![Field::new("key", column.data_type().clone(), true)]));
        let mut writer = TableWriter::new(OutputFormat::Lines, Arc::clone(&schema), Vec::new(), "k.txt").unwrap();
        writer.write(&RecordBatch::try_new(schema, vec![column]).unwrap())?;
        writer.finish().map(|bytes| String::from_utf8(bytes).unwrap())
    };
    assert_eq!(lines(Arc::new(UInt64Array::from(vec![0, u64::MAX]))).unwrap(), "0\n18446744073709551615\n");
    assert_eq!(lines(Arc::new(StringArray::from(vec!["a,b", "\"", ""]))).unwrap(), "a,b\n\"\n\n");
    for text in ["a\nb", "a\r"] {
        let error = lines(Arc::new(StringArray::from(vec!["fine", text]))).unwrap_err().to_string();
        assert!(error.starts_with("k.txt: ") && error.contains("end of line"), "{error}");
    }
    let error = TableWriter::new(OutputFormat::Lines, schema(), Vec::new(), "k.txt").unwrap_err().to_string();
    assert!(error.starts_with("k.txt: lines have room for one column"), "{error}");
}
