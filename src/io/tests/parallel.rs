//! Row groups that several threads decode: the same as one thread, in rows, bad rows and errors.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::metadata::{FileMetaData, ParquetMetaData, ParquetMetaDataWriter};
use parquet::file::properties::WriterProperties;

use super::*;
use crate::io::decoders::Decoders;
use crate::io::input::ChunkSource;
use crate::io::parquet_reader::open_parquet;
use crate::io::positioned::SharedFile;
use crate::io::{BadRows, Input, Position, open_all};

/// A file of these rows, in groups of so many; every 7th key and every 11th size is bad.
pub(super) fn grouped(name: &str, rows: std::ops::Range<i64>, group: usize) -> Scratch {
    let keys = rows.clone().map(|row| (row % 7 != 6).then(|| format!("key-{row}"))).collect::<StringArray>();
    let sizes = rows.map(|row| if row % 11 == 3 { -1 } else { row }).collect::<Int64Array>();
    let columns: [(&str, ArrayRef); 2] = [("key", Arc::new(keys)), ("size", Arc::new(sizes))];
    let batch = RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true))).unwrap();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(group))
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    file(name, &bytes)
}

fn options(threads: usize) -> ReadOptions {
    ReadOptions {
        threads,
        chunk_rows: 50,
        bad_rows: BadRows::Skip,
        size_column: Some("size".into()),
        column: Some("key".into()),
        ..ReadOptions::default()
    }
}

fn inputs(files: &[&Scratch]) -> Vec<Input> {
    files.iter().map(|file| Source::Path(file.path.clone()).into()).collect()
}

/// Rows, where chunks end, bad rows, and the error at the end if there is one.
type Outcome = (Vec<(u64, String)>, Vec<Position>, Vec<(PathBuf, String)>, Option<String>);

fn outcome(files: &[&Scratch], options: ReadOptions) -> Outcome {
    let mut reader = match open_all(inputs(files), options) {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), Vec::new(), Vec::new(), Some(error.to_string())),
    };
    let (mut chunks, mut failed) = (Vec::new(), None);
    for next in reader.by_ref() {
        match next {
            Ok(chunk) => chunks.push(chunk),
            Err(error) => failed = Some(error.to_string()),
        }
    }
    let ends = chunks.iter().map(|chunk| chunk.end().clone()).collect();
    let bad = reader.first_bad().into_iter().map(|(name, bad)| (name, bad.to_string())).collect();
    (rows(&chunks), ends, bad, failed)
}

#[test]
fn threads_change_nothing() {
    for group in [1, 7, 50, 99, 1000] {
        let files = [
            grouped("a.parquet", 0..400, group),
            grouped("b.parquet", 400..401, group),
            grouped("c.parquet", 401..700, group),
        ];
        let list: Vec<&Scratch> = files.iter().collect();
        for files in [&list[..1], &list[..]] {
            let one = outcome(files, options(1));
            assert!(one.3.is_none() && one.2.len() == 10, "{:?}", one.3);
            for threads in [2, 3, 8] {
                assert_eq!(outcome(files, options(threads)), one, "groups of {group}, {threads} threads");
            }
            let stop = ReadOptions { bad_rows: BadRows::Stop, ..options(1) };
            let stopped = outcome(files, stop.clone());
            assert!(stopped.3.as_ref().is_some_and(|error| error.contains("row 3, column \"size\"")), "{stopped:?}");
            assert_eq!(outcome(files, ReadOptions { threads: 4, ..stop }), stopped);
        }
    }
}

#[test]
fn threads_start_where_there_is_work_for_them() {
    let cost = |files: &[&Scratch], threads| {
        let mut reader = open_all(inputs(files), options(threads)).unwrap();
        assert!(reader.by_ref().all(|chunk| chunk.is_ok()));
        reader.decoding()
    };
    let (small, large) = (grouped("a.parquet", 0..400, 1000), grouped("b.parquet", 0..20_000, 1000));
    assert_eq!(cost(&[&large], 1), crate::clock::Cost::default());
    assert_eq!(cost(&[&small], 8), crate::clock::Cost::default());
    assert!(cost(&[&large], 2).cpu > std::time::Duration::ZERO);
    assert!(cost(&[&small, &large], 2).cpu > std::time::Duration::ZERO);
}

#[test]
fn errors_come_behind_the_rows_before_them() {
    let whole = grouped("a.parquet", 0..1000, 100);
    let (good, _, _, none) = outcome(&[&whole], options(1));
    assert_eq!(none, None);
    let mut bytes = std::fs::read(&whole.path).unwrap();
    let metadata = ParquetRecordBatchReaderBuilder::try_new(whole.reopen()).unwrap().metadata().clone();
    let (start, length) = metadata.row_group(3).column(0).byte_range();
    let middle = usize::try_from(start + length / 2).unwrap();
    bytes[middle..middle + 40].fill(0xff);
    let (damaged, after) = (file("a.parquet", &bytes), grouped("b.parquet", 0..10, 5));
    for threads in [1, 2, 6] {
        let (rows, _, _, error) = outcome(&[&damaged, &after], options(threads));
        let error = error.expect("an error");
        assert!(error.contains("a.parquet: not a readable Parquet file (row group 3: "), "{error}");
        assert_eq!(rows, good[..rows.len()], "{threads} threads");
        assert!(rows.last().unwrap().0 < 400 && rows.last().unwrap().0 >= 298, "{threads} threads");
        // An input that is none is told at its turn.
        let none = file("n.parquet", b"PAR1 and no more");
        let (rows, _, _, error) = outcome(&[&whole, &none, &after], options(threads));
        assert_eq!(rows, good);
        assert!(error.expect("an error").contains("n.parquet: not a readable Parquet file ("));
    }
}

#[test]
fn a_tiny_budget_only_slows_down() {
    let whole = grouped("a.parquet", 0..1000, 30);
    let one = outcome(&[&whole], options(1)).0;
    for threads in [1, 2, 5] {
        let decoders = Arc::new(Decoders::new(threads, 1));
        let length = std::fs::metadata(&whole.path).unwrap().len();
        let shared = SharedFile::new(whole.reopen(), length);
        let small = ReadOptions { chunk_rows: 10, ..options(threads) };
        let mut reader = open_parquet(shared, &small, &Position::default(), false, Some(&decoders)).unwrap();
        let mut chunks = Vec::new();
        while let Some(chunk) = reader.next_chunk(&whole.path).unwrap() {
            assert!(decoders.waiting_bytes() <= (threads + 1) * 4096, "{} bytes wait", decoders.waiting_bytes());
            chunks.push(chunk);
        }
        assert_eq!(rows(&chunks), one);
    }
}

#[test]
fn a_reader_may_be_left_at_any_time() {
    let whole = grouped("a.parquet", 0..1000, 10);
    for chunks in 0..5 {
        let mut reader = open_all(inputs(&[&whole, &whole]), options(4)).unwrap();
        assert_eq!(reader.by_ref().take(chunks).filter(Result::is_ok).count(), chunks);
    }
}

#[test]
fn a_file_that_changes_is_told_with_threads_too() {
    let (first, second) = (grouped("a.parquet", 0..100, 10), grouped("b.parquet", 0..100, 10));
    let mut reader = open_all(inputs(&[&first, &second]), ReadOptions { chunk_rows: 5, ..options(3) }).unwrap();
    reader.next_chunk().unwrap();
    let mut bytes = std::fs::read(&second.path).unwrap();
    bytes.push(0);
    // Before or after it is opened, it is no longer what it was.
    std::fs::write(&second.path, bytes).unwrap();
    let error = reader.find_map(Result::err).expect("an error").to_string();
    assert!(error.contains("b.parquet: "), "{error}");
}

#[test]
fn damaged_pages_never_pass_for_others_without_an_error_or_the_same_number_of_rows() {
    let whole = grouped("a.parquet", 0..60, 20);
    let bytes = std::fs::read(&whole.path).unwrap();
    for length in 0..bytes.len() {
        let (rows, .., error) = outcome(&[&file("a.parquet", &bytes[..length])], options(1));
        assert!(rows.is_empty() && error.is_some(), "{length} bytes");
    }
    for at in (0..bytes.len()).step_by(3) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x55;
        let (_, ends, _, error) = outcome(&[&file("a.parquet", &damaged)], options(2));
        assert!(error.is_some() || ends.last().is_some_and(|end| end.row == 60), "byte {at}: {ends:?}");
    }
}

#[test]
fn checksums_of_pages_are_checked() {
    // 40 rows in two groups, written by another library with a checksum in each page, uncompressed.
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/page-checksums.parquet");
    let bytes = std::fs::read(path).unwrap();
    let whole = file("a.parquet", &bytes);
    let columns = ReadOptions { size_column: None, ..options(1) };
    let (good, .., error) = outcome(&[&whole], columns.clone());
    assert_eq!((good.len(), error), (40, None));
    let metadata = ParquetRecordBatchReaderBuilder::try_new(whole.reopen()).unwrap().metadata().clone();
    for group in 0..2 {
        let (start, length) = metadata.row_group(group).column(0).byte_range();
        let mut refused = 0;
        for at in start..start + length {
            let mut damaged = bytes.clone();
            damaged[usize::try_from(at).unwrap()] ^= 0x04;
            let (rows, .., error) = outcome(&[&file("a.parquet", &damaged)], columns.clone());
            // A few bytes of a page's header mean nothing for its rows.
            let Some(error) = error else {
                assert_eq!(rows, good, "byte {at}");
                continue;
            };
            assert!(error.contains(&format!("a.parquet: not a readable Parquet file (row group {group}: ")), "{error}");
            refused += 1;
        }
        assert!(refused + 16 > length, "{refused} of {length} bytes");
    }
}

#[test]
fn a_group_that_has_fewer_rows_than_it_says_is_an_error() {
    let whole = grouped("a.parquet", 0..60, 20);
    let metadata = ParquetRecordBatchReaderBuilder::try_new(whole.reopen()).unwrap().metadata().as_ref().clone();
    let said = metadata.file_metadata();
    for more in [1, -1] {
        let mut groups = metadata.row_groups().to_vec();
        groups[1] = groups[1].clone().into_builder().set_num_rows(20 + more).build().unwrap();
        let said = FileMetaData::new(
            said.version(),
            said.num_rows() + more,
            None,
            said.key_value_metadata().cloned(),
            said.schema_descr_ptr(),
            None,
        );
        let lying = ParquetMetaData::new(said, groups);
        let mut bytes = std::fs::read(&whole.path).unwrap();
        ParquetMetaDataWriter::new(&mut bytes, &lying).finish().unwrap();
        for threads in [1, 2] {
            let (.., error) = outcome(&[&file("a.parquet", &bytes)], options(threads));
            let error = error.expect("an error");
            assert!(error.contains("not a readable Parquet file (row group 1: "), "{more}: {error}");
        }
    }
}
