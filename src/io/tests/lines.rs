//! Files of lines: line ends, blank lines, row numbers, and blocks cut anywhere.

use super::{file, keys, rows};
use crate::error::Place;
use crate::io::{BadRows, Blank, InputFormat, KeyChunk, LineDecoder, ReadOptions, Source, open};
use crate::keys::{Key, KeyColumn, KeyType};

fn read(content: &[u8], options: ReadOptions) -> Vec<KeyChunk> {
    file("keys.txt", content).open(options).unwrap().collect::<Result<_, _>>().unwrap()
}

fn text(content: &[u8]) -> Vec<(u64, String)> {
    rows(&read(content, ReadOptions::default()))
}

fn numbered(keys: &[&str]) -> Vec<(u64, String)> {
    (0..).zip(keys.iter().map(|key| (*key).to_owned())).collect()
}

#[test]
fn lines_end_with_lf_or_crlf_or_the_file() {
    assert_eq!(text(b"a\nb\n"), numbered(&["a", "b"]));
    assert_eq!(text(b"a\r\nb\r\n"), numbered(&["a", "b"]));
    assert_eq!(text(b"a\nb"), numbered(&["a", "b"]));
    assert_eq!(text(b"a\r\r\nb"), numbered(&["a\r", "b"]), "one CR belongs to the line end, no more");
    assert_eq!(text(b"a\rb\n"), numbered(&["a\rb"]));
    assert_eq!(text(b"a\n\n\r\n b\n"), numbered(&["a", " b"]));
    assert_eq!(text(b""), numbered(&[]));
    assert_eq!(text(b"\n\n"), numbered(&[]));
    assert_eq!(text("\u{feff}a\nb".as_bytes()), numbered(&["a", "b"]));
    assert_eq!(text("\u{feff}".as_bytes()), numbered(&[]));
    assert_eq!(text("\u{feff}\na".as_bytes()), numbered(&["a"]));
    assert_eq!(text("a\n\u{feff}b".as_bytes()), numbered(&["a", "\u{feff}b"]), "only at the very start");
}

#[test]
fn blank_lines_are_rows_when_kept() {
    let keep = || ReadOptions { blank: Blank::Keep, ..ReadOptions::default() };
    assert_eq!(rows(&read(b"a\n\nb\n\r\n", keep())), numbered(&["a", "", "b", ""]));
    let error = file("keys.txt", b"1\n\n2").error(ReadOptions { key_type: Some(KeyType::U64), ..keep() });
    assert!(error.starts_with("keys.txt: line 2: \"\" is not a u64 key: it is empty"), "{error}");
}

#[test]
fn every_cut_into_two_blocks_gives_the_same_rows() {
    let content = "\u{feff}10\r\n\r\nx\r\n-7\n99999999999\n\n5\r\r\n12345678901234567890\r\n8".as_bytes();
    let options =
        ReadOptions { key_type: Some(KeyType::U64), bad_rows: BadRows::Skip, chunk_rows: 2, ..ReadOptions::default() };
    let decode = |blocks: &[&[u8]]| {
        let mut decoder = LineDecoder::new(&options);
        let mut chunks = Vec::new();
        let mut take = |decoder: &mut LineDecoder| chunks.extend(decoder.take_chunk().unwrap());
        for block in blocks {
            let mut at = 0;
            while at < block.len() {
                at += decoder.decode(&block[at..]).unwrap();
                if decoder.is_full() {
                    take(&mut decoder);
                }
            }
        }
        decoder.end().unwrap();
        take(&mut decoder);
        let ends: Vec<u64> = chunks.iter().map(KeyChunk::end_row).collect();
        (rows(&chunks), ends, decoder.report().bad, decoder.report().first_bad.clone())
    };
    let whole = decode(&[content]);
    let expected = [(0, "10"), (3, "99999999999"), (5, "12345678901234567890"), (6, "8")];
    assert_eq!(whole.0, expected.map(|(row, key)| (row, key.to_owned())));
    assert_eq!(whole.1, [2, 4, 6, 7]);
    assert_eq!(whole.2, 3);
    assert_eq!(whole.3.iter().map(|bad| bad.place).collect::<Vec<_>>(), [3, 4, 7].map(Place::Line));
    for first in 0..=content.len() {
        for second in first..=content.len() {
            let cut = decode(&[&content[..first], &content[first..second], &content[second..]]);
            assert_eq!(cut, whole, "cut at {first} and {second}");
        }
    }
    assert_eq!(decode(&content.chunks(1).collect::<Vec<_>>()), whole);
}

#[test]
fn a_chunk_of_bad_rows_is_delivered_empty() {
    let options =
        ReadOptions { key_type: Some(KeyType::U32), bad_rows: BadRows::Skip, chunk_rows: 3, ..ReadOptions::default() };
    let file = file("keys.txt", b"a\nb\nc\n1\nd\n2\n3\ne\n");
    let mut reader = file.open(options).unwrap();
    let chunks: Vec<KeyChunk> = reader.by_ref().collect::<Result<_, _>>().unwrap();
    let shape: Vec<_> = chunks.iter().map(|chunk| (chunk.len(), chunk.end_row())).collect();
    assert_eq!(shape, [(0, 3), (2, 6), (1, 8)]);
    assert_eq!(rows(&chunks), [(3, "1"), (5, "2"), (6, "3")].map(|(row, key)| (row, key.to_owned())));
    let report = reader.report();
    assert_eq!((report.rows, report.bad, report.first_bad.len()), (3, 5, 5));
    assert_eq!(
        report.first_bad[0].to_string(),
        "line 1: \"a\" is not a u32 key: it is written with decimal digits only, as 42"
    );
}

#[test]
fn chunks_end_by_rows_or_by_bytes() {
    let by = |chunk_rows, chunk_bytes| {
        let chunks =
            read(b"aaaa\nbbbb\ncccc\ndddd\n", ReadOptions { chunk_rows, chunk_bytes, ..ReadOptions::default() });
        assert_eq!(keys(&chunks), ["aaaa", "bbbb", "cccc", "dddd"]);
        chunks.iter().map(KeyChunk::len).collect::<Vec<_>>()
    };
    assert_eq!(by(3, 1000), [3, 1]);
    assert_eq!(by(1000, 8), [2, 2]);
    assert_eq!(by(1000, 9), [3, 1]);
    assert_eq!(by(0, 0), [1, 1, 1, 1], "a chunk has a row at least");
}

#[test]
fn a_bad_row_stops_the_run_with_its_line_and_the_way_on() {
    let options = || ReadOptions { key_type: Some(KeyType::U64), ..ReadOptions::default() };
    let file = file("keys.txt", b"1\n\nabc\n2\n");
    assert_eq!(
        file.error(options()),
        "keys.txt: line 3: \"abc\" is not a u64 key: it is written with decimal digits only, as 42; \
         --bad-rows skip passes over such rows"
    );
    let mut reader = file.open(options()).unwrap();
    assert!(reader.next_chunk().is_err());
    assert_eq!(reader.report().bad, 1);
    assert!(reader.next_chunk().unwrap().is_none(), "an error ends the stream");
}

#[test]
fn only_ten_bad_rows_are_remembered() {
    let options = ReadOptions { key_type: Some(KeyType::Uuid), bad_rows: BadRows::Skip, ..ReadOptions::default() };
    let file = file("keys.txt", "no\n".repeat(25).as_bytes());
    let mut reader = file.open(options).unwrap();
    assert_eq!(reader.by_ref().map(|chunk| chunk.unwrap().len()).sum::<usize>(), 0);
    assert_eq!((reader.report().bad, reader.report().first_bad.len()), (25, 10));
}

#[test]
fn two_readings_of_a_key_stay_together() {
    let options = || ReadOptions {
        key_type: Some(KeyType::Text),
        second_key_type: Some(KeyType::U64),
        bad_rows: BadRows::Skip,
        ..ReadOptions::default()
    };
    let chunks = read(b"07\nx\n12\n", options());
    assert_eq!(rows(&chunks), [(0, "07".to_owned()), (2, "12".to_owned())]);
    assert_eq!(chunks[0].keys(1).as_integers(), Some(&[7, 12][..]));
    assert_eq!(chunks[0].keys(0).get(1), Key::Bytes(b"12"));
    let same = read(b"07\n", ReadOptions { second_key_type: Some(KeyType::Text), ..options() });
    assert!(same[0].keys(0).same_column(&same[0].keys(1)));
}

#[test]
fn report_and_progress() {
    let file = file("keys.keys", b"17\n-4\n");
    let mut reader = file.open(ReadOptions::default()).unwrap();
    let progress = reader.progress();
    assert_eq!(reader.total_bytes(), Some(6));
    assert_eq!((reader.format(), reader.key_type()), (InputFormat::Lines, KeyType::Text));
    assert_eq!(reader.by_ref().count(), 1);
    assert_eq!(progress.bytes(), 6);
    assert!(reader.report().integer_like && !reader.report().empty);
    let empty = super::file("keys", b"");
    let mut reader = empty.open(ReadOptions::default()).unwrap();
    assert!(reader.next_chunk().unwrap().is_none());
    assert!(reader.report().empty && !reader.report().integer_like);
}

#[test]
fn what_cannot_be_opened_says_why() {
    let file = file("keys.txt", b"a\n");
    let directory = file.directory.path();
    let error = |path: &std::path::Path| open(&Source::from_arg(path), ReadOptions::default()).unwrap_err().to_string();
    assert!(error(directory).ends_with("this is a directory: give a file"), "{}", error(directory));
    assert!(error(&directory.join("none")).contains("none: cannot open: "), "{}", error(&directory.join("none")));
    let columns = file.error(ReadOptions { keep: vec!["a".into()], ..ReadOptions::default() });
    assert!(columns.contains("has no columns") && columns.contains("--input-format csv"), "{columns}");
    let packed = super::file("keys.gz", b"\x1f\x8b\x08\x00").error(ReadOptions::default());
    assert!(packed.contains("keys.gz: the gzip data is cut short"), "{packed}");
    assert_eq!(Source::from_arg("-").to_string(), "standard input");
}

#[test]
fn lines_of_every_length_pass_through_every_block() {
    // Longer than what is looked at at a time, and in all longer than a block.
    let lines: Vec<String> = (0..600_usize)
        .map(|row| "é5-\u{1F600}x".chars().cycle().skip(row % 5).take(1 + row * 7 % 40_000).collect())
        .collect();
    let long: Vec<String> = (0..5).map(|row| "ü".repeat(300_000 + row)).collect();
    let all: Vec<&str> = lines.iter().chain(&long).chain(&lines).map(String::as_str).collect();
    for end in ["\n", "\r\n"] {
        let chunks = read(all.join(end).as_bytes(), ReadOptions { chunk_rows: 7, ..ReadOptions::default() });
        assert!(keys(&chunks) == all, "with {end:?}");
    }
    // One bad line does not make its neighbours bad.
    let mut content = all.join("\n").into_bytes();
    content.extend_from_slice(b"\n\xff\n");
    content.extend_from_slice(all.join("\n").as_bytes());
    let file = file("keys.txt", &content);
    let mut reader = file.open(ReadOptions { bad_rows: BadRows::Skip, ..ReadOptions::default() }).unwrap();
    let chunks: Vec<KeyChunk> = reader.by_ref().map(Result::unwrap).collect();
    assert!(keys(&chunks) == [all.clone(), all.clone()].concat());
    assert_eq!(reader.report().bad, 1);
    assert_eq!(reader.report().first_bad[0].place, Place::Line(all.len() as u64 + 1));
}

#[test]
fn a_line_without_end_is_refused_before_it_fills_the_memory() {
    let mut decoder = LineDecoder::new(&ReadOptions::default());
    decoder.decode(b"a\n").unwrap();
    let block = vec![b'x'; 1 << 20];
    let error = (0..100).find_map(|_| decoder.decode(&block).err()).unwrap().to_string();
    assert_eq!(error, "line 2 is longer than 64 MiB: is this a file of lines?");
}
