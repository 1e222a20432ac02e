//! Several inputs as one stream, and reading that goes on where another reader stopped.

use std::num::NonZero;
use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int8Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
    TimestampMillisecondArray,
};
use arrow_ipc::writer::StreamWriter;

use super::arrow_in::arrow_file;
use super::compressed::{gzip, zstd};
use super::parallel::grouped;
use super::*;
use crate::error::BadRow;
use crate::io::{BadRows, Input, InputFormat, Position, open_all, open_at};
use crate::keys::KeyType;

fn inputs(files: &[&Scratch]) -> Vec<Input> {
    files.iter().map(|file| Input::from(Source::Path(file.path.clone()))).collect()
}

/// Rows with their keys, and where each chunk ended.
fn drain(reader: &mut KeyReader) -> (Vec<(u64, String)>, Vec<Position>) {
    let (mut rows, mut ends) = (Vec::new(), Vec::new());
    while let Some(chunk) = reader.next_chunk().unwrap() {
        rows.extend(chunk.keys(0).iter().enumerate().map(|(index, key)| (chunk.row(index), shown(key))));
        ends.push(chunk.end().clone());
    }
    (rows, ends)
}

/// From every place where a chunk ends, the rest is what it was.
fn goes_on_everywhere(files: &[&Scratch], options: &ReadOptions) -> (Vec<(u64, String)>, Vec<Position>) {
    let mut reader = open_all(inputs(files), options.clone()).unwrap();
    let (rows, ends) = drain(&mut reader);
    let (facts, bad) = (reader.finished().to_vec(), reader.report().bad);
    assert_eq!(facts.iter().map(|facts| facts.rows).sum::<u64>(), ends.last().unwrap().row);
    assert_eq!(facts.iter().map(|facts| facts.bad_rows).sum::<u64>(), bad);
    for (index, end) in ends.iter().enumerate() {
        let mut rest = open_at(inputs(files), options.clone(), end.clone()).unwrap();
        let (rest_rows, rest_ends) = drain(&mut rest);
        let skipped = rows.partition_point(|(row, _)| *row < end.row);
        assert_eq!(rest_rows, rows[skipped..], "from {end:?}");
        assert_eq!(rest_ends, ends[index + 1..], "from {end:?}");
        assert_eq!(rest.finished(), &facts[end.input..], "from {end:?}");
    }
    (rows, ends)
}

fn small_chunks() -> ReadOptions {
    ReadOptions { chunk_rows: 3, part_rows: NonZero::new(4), bad_rows: BadRows::Skip, ..ReadOptions::default() }
}

#[test]
fn lines_go_on_from_every_chunk() {
    let first = file("a.txt", b"\xef\xbb\xbf1\r\n2\nx\n\n4\n5\n6\n7");
    let (empty, last) = (file("b.txt", b""), file("c.txt", b"8\n9\ny\n11\n"));
    let options = ReadOptions { key_type: Some(KeyType::U64), ..small_chunks() };
    let (rows, ends) = goes_on_everywhere(&[&first, &empty, &last], &options);
    let numbers: Vec<u64> = rows.iter().map(|(row, _)| *row).collect();
    assert_eq!(numbers, [0, 1, 3, 4, 5, 6, 7, 8, 10]);
    assert_eq!(ends.iter().map(|end| end.row).collect::<Vec<_>>(), [3, 4, 7, 8, 11]);
    assert_eq!(ends[4], Position { row: 11, input: 2, input_row: 4, bad_rows: 1, byte: 9, line: 4 });
}

#[test]
fn csv_goes_on_from_every_chunk_with_its_lines() {
    let first = file("a.csv", b"n,key\r\n1,a\r\n2,\"b\r\nb\"\r\n3\r\n\r\n4,d\r\n5,e\r\n");
    let second = file("b.csv", b"key,n\nf,1\ng,2\nh\ni,4\nj,5\n");
    let options = ReadOptions { column: Some("key".into()), ..small_chunks() };
    let (rows, ends) = goes_on_everywhere(&[&first, &second], &options);
    assert_eq!(
        rows.iter().map(|(_, key)| key.as_str()).collect::<Vec<_>>(),
        ["a", "b\r\nb", "d", "e", "f", "g", "i", "j"]
    );
    let bad = |at: Position| -> Vec<String> {
        let mut reader = open_at(inputs(&[&first, &second]), options.clone(), at).unwrap();
        drain(&mut reader);
        reader.report().first_bad.iter().map(BadRow::to_string).map(|text| text[..7].to_owned()).collect()
    };
    assert_eq!(bad(Position::default()), ["line 5:", "line 4:"]);
    assert_eq!(bad(ends[1].clone()), ["line 4:"]);
    let no_header = ReadOptions { header: false, column: Some("2".into()), ..small_chunks() };
    goes_on_everywhere(&[&first, &second], &no_header);
}

#[test]
fn inputs_must_be_alike() {
    let lines = file("a.txt", b"1\n");
    let table = file("b.csv", b"key\n1\n");
    let options = ReadOptions { format: None, ..ReadOptions::default() };
    let mut reader = open_all(inputs(&[&lines, &table]), options).unwrap();
    reader.next_chunk().unwrap();
    let error = reader.next_chunk().unwrap_err().to_string();
    assert!(error.contains("b.csv: the format is csv, and in ") && error.contains("it is lines"), "{error}");
    assert!(reader.next_chunk().unwrap().is_none());
    assert!(open_all(Vec::new(), ReadOptions::default()).is_err());
    let behind = Position { input: 1, ..Position::default() };
    assert!(open_at(inputs(&[&lines]), ReadOptions::default(), behind).is_err());
}

#[test]
fn a_file_that_grows_while_it_is_read_is_an_error() {
    let file = file("a.txt", b"1\n2\n");
    let mut reader = open_all(inputs(&[&file]), ReadOptions { chunk_rows: 1, ..ReadOptions::default() }).unwrap();
    reader.next_chunk().unwrap();
    std::fs::write(&file.path, "1\n2\n3\n").unwrap();
    let rest: Result<Vec<_>, _> = reader.collect();
    assert!(rest.unwrap_err().to_string().contains("a.txt: the file changed while it was read"));
}

#[test]
fn packed_text_goes_on_behind_what_is_unpacked_and_dropped() {
    let content = b"key,n\na,1\nb,2\n3\nd,4\ne,5\nf,6\ng,7\n";
    let plain = file("p.csv", content);
    let options = ReadOptions { column: Some("key".into()), ..small_chunks() };
    let (expected, ends) = goes_on_everywhere(&[&plain, &plain], &options);
    for packed in [
        file("g.csv.gz", &[gzip(&content[..20]), gzip(&content[20..])].concat()),
        file("z.csv.zst", &[zstd(&content[..9]), zstd(&content[9..])].concat()),
    ] {
        assert_eq!(goes_on_everywhere(&[&packed, &packed], &options), (expected.clone(), ends.clone()));
        let lines = ReadOptions { format: Some(InputFormat::Lines), ..small_chunks() };
        assert_eq!(goes_on_everywhere(&[&packed], &lines), goes_on_everywhere(&[&plain], &lines));
        let behind = Position { byte: 1000, ..Position::default() };
        let error = open_at(inputs(&[&packed]), lines, behind).unwrap_err().to_string();
        assert!(error.contains("fewer bytes than reading is to go on behind"), "{error}");
    }
}

#[test]
fn columns_go_on_from_every_chunk() {
    for group in [1, 4, 10, 25, 100] {
        let (first, second) = (grouped("a.parquet", 0..60, group), grouped("b.parquet", 60..95, group));
        for threads in [1, 3] {
            for chunk_rows in [3, 10, 100] {
                let options = ReadOptions { column: Some("key".into()), threads, chunk_rows, ..small_chunks() };
                let options = ReadOptions { part_rows: NonZero::new(7), ..options };
                let (rows, _) = goes_on_everywhere(&[&first, &second], &options);
                assert_eq!(rows.len(), 95 - 13);
                let wide = ReadOptions { part_rows: None, ..options };
                assert_eq!(goes_on_everywhere(&[&first, &second], &wide).0, rows);
            }
        }
    }
    let batch = |rows: std::ops::Range<i64>| {
        let codes = rows.map(|row| (row % 5 != 4).then(|| i8::try_from(row % 2).unwrap())).collect::<Int8Array>();
        let codes = DictionaryArray::new(codes, Arc::new(StringArray::from_iter_values(["a", "b"])));
        RecordBatch::try_from_iter_with_nullable([("key", Arc::new(codes) as ArrayRef, true)]).unwrap()
    };
    for batches in [vec![batch(0..30)], vec![batch(0..1), batch(1..20), batch(20..20), batch(20..30)]] {
        let mut stream = StreamWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
        batches.iter().for_each(|batch| stream.write(batch).unwrap());
        stream.finish().unwrap();
        let stream = file("k.arrows", &stream.into_inner().unwrap());
        let keys = file("k.arrow", &arrow_file(&batches, Default::default()));
        for chunk_rows in [1, 4, 100] {
            let options = ReadOptions { chunk_rows, part_rows: NonZero::new(11), ..small_chunks() };
            let (rows, _) = goes_on_everywhere(&[&keys, &keys], &options);
            assert_eq!((rows.len(), &rows[24]), (48, &(30, "a".to_owned())));
            assert_eq!(goes_on_everywhere(&[&stream, &stream], &options).0, rows);
        }
        let behind = Position { row: 31, input_row: 31, ..Position::default() };
        assert!(open_at(inputs(&[&keys]), small_chunks(), behind).unwrap().next_chunk().is_err());
    }
}

#[test]
fn inputs_of_columns_must_be_of_one_type() {
    let of = |name: &str, array: ArrayRef| {
        let batch = RecordBatch::try_from_iter([("id", array)]).unwrap();
        if name.ends_with("arrow") {
            return file(name, &arrow_file(&[batch], Default::default()));
        }
        let mut bytes = Vec::new();
        let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        file(name, &bytes)
    };
    for end in ["parquet", "arrow"] {
        let first = of(&format!("a.{end}"), Arc::new(TimestampMillisecondArray::from(vec![1])));
        let others: [(ArrayRef, &str); 4] = [
            (Arc::new(TimestampMicrosecondArray::from(vec![1])), "Timestamp(µs)"),
            (Arc::new(TimestampMillisecondArray::from(vec![1]).with_timezone("UTC")), "Timestamp(ms, \"UTC\")"),
            (Arc::new(Int64Array::from(vec![1])), "Int64"),
            (Arc::new(StringArray::from(vec!["1"])), "Utf8"),
        ];
        for (array, shown) in others {
            let other = of(&format!("b.{end}"), array);
            for threads in [1, 2] {
                let options = ReadOptions { threads, ..ReadOptions::default() };
                let mut reader = open_all(inputs(&[&first, &other]), options).unwrap();
                assert_eq!(reader.next_chunk().unwrap().unwrap().len(), 1);
                let error = reader.next_chunk().unwrap_err().to_string();
                assert!(error.contains(&format!("b.{end}: column \"id\" is {shown}, and in ")), "{error}");
                assert!(error.contains(&format!("a.{end} it is Timestamp(ms): all inputs must be alike")), "{error}");
            }
        }
        // Ways to store the same type are alike.
        let plain = of(&format!("c.{end}"), Arc::new(StringArray::from(vec!["1"])));
        let codes: DictionaryArray<Int8Type> = [Some("2")].into_iter().collect();
        let coded = of(&format!("d.{end}"), Arc::new(codes));
        assert_eq!(
            keys(
                &open_all(inputs(&[&plain, &coded]), ReadOptions::default())
                    .unwrap()
                    .map(Result::unwrap)
                    .collect::<Vec<_>>()
            ),
            ["1", "2"]
        );
    }
}
