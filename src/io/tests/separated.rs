//! CSV: columns, quotes, line numbers and rows of other widths.

use arrow_array::cast::AsArray;

use super::{file, keys, rows};
use crate::io::{BadRows, InputFormat, KeyChunk, ReadOptions, open_reader};
use crate::keys::{KeyColumn, KeyType};

fn read(content: &str, options: ReadOptions) -> Vec<KeyChunk> {
    file("keys.csv", content.as_bytes()).open(options).unwrap().collect::<Result<_, _>>().unwrap()
}

fn column(name: &str) -> ReadOptions {
    ReadOptions { column: Some(name.into()), ..ReadOptions::default() }
}

#[test]
fn the_column_of_keys() {
    assert_eq!(keys(&read("id\na\nb\n", ReadOptions::default())), ["a", "b"]);
    assert_eq!(keys(&read("id,key\n1,a\n2,b\n", ReadOptions::default())), ["a", "b"]);
    assert_eq!(keys(&read("id,key\n1,a\n2,b", column("id"))), ["1", "2"]);
    assert_eq!(keys(&read("\u{feff}key,id\r\na,1\r\n", ReadOptions::default())), ["a"]);
    let plain =
        |column: Option<&str>| ReadOptions { header: false, column: column.map(Into::into), ..Default::default() };
    assert_eq!(keys(&read("a\nb\n", plain(None))), ["a", "b"]);
    assert_eq!(keys(&read("a,1\nb,2\n", plain(Some("2")))), ["1", "2"]);
    assert!(file("keys.csv", b"a,1\n").error(plain(None)).contains("the columns are \"1\", \"2\""));
    assert!(file("keys.csv", b"a,b\n").error(ReadOptions::default()).contains("--column"));
    assert!(file("keys.csv", b"").error(ReadOptions::default()).starts_with("keys.csv: there is no header line"));
    assert_eq!(read("", plain(None)).len(), 0);
}

#[test]
fn delimiters() {
    let file = file("keys.tsv", b"key\tx\na,b\t1\n");
    let chunks: Vec<KeyChunk> = file.open(ReadOptions::default()).unwrap().map(Result::unwrap).collect();
    assert_eq!(keys(&chunks), ["a,b"]);
    assert_eq!(keys(&read("key;x\na;1\n", ReadOptions { delimiter: Some(b';'), ..ReadOptions::default() })), ["a"]);
    let error = file.error(ReadOptions { delimiter: Some(b'"'), ..ReadOptions::default() });
    assert!(error.contains("cannot separate fields"), "{error}");
}

#[test]
fn quotes_hold_separators_and_newlines_and_lines_are_counted_through_them() {
    for newline in ["\n", "\r\n"] {
        let content = ["key,n", "\"a,\"\"b\n\nc\",1", "", "d,x", "\"e\nf\",y", "", "", "g,2", "h,z"].join(newline);
        let options = || ReadOptions { bad_rows: BadRows::Skip, keep: vec!["n".into()], ..column("key") };
        assert_eq!(keys(&read(&content, options())), ["a,\"b\n\nc", "d", "e\nf", "g", "h"]);
        let numbers = ReadOptions { key_type: Some(KeyType::U64), bad_rows: BadRows::Skip, ..column("n") };
        let file = file("keys.csv", content.as_bytes());
        let mut reader = file.open(numbers).unwrap();
        let chunks: Vec<KeyChunk> = reader.by_ref().map(Result::unwrap).collect();
        assert_eq!(rows(&chunks), [(0, "1".to_owned()), (3, "2".to_owned())]);
        let bad: Vec<String> = reader.report().first_bad.iter().map(ToString::to_string).collect();
        // Line 1 is the header, 2 to 4 the first row, 5 is blank, and so on.
        for (bad, start) in
            bad.iter().zip(["line 6, column \"n\": \"x\" is", "line 7, ", "line 12, column \"n\": \"z\" is"])
        {
            assert!(bad.starts_with(start), "{newline:?}: {bad} is not {start}");
        }
        assert_eq!(chunks[0].end_row(), 5);
    }
}

#[test]
fn line_numbers_hold_across_blocks() {
    // Rows of 7 bytes, so that every kind of cut at the end of a block comes up.
    let mut content = "\u{feff}key\r\n".to_owned();
    content.push_str(&"12345\r\n".repeat(100_000));
    content.push_str("x\r\n");
    let error =
        file("k.csv", content.as_bytes()).error(ReadOptions { key_type: Some(KeyType::U32), ..ReadOptions::default() });
    assert!(error.starts_with("k.csv: line 100002, column \"key\": \"x\" is"), "{error}");
}

#[test]
fn carried_columns_and_sizes() {
    let options = |bad_rows| ReadOptions {
        keep: vec!["b".into(), "a".into()],
        size_column: Some("size".into()),
        bad_rows,
        ..column("key")
    };
    let content = "a,key,b,size\n1,k1,x,10\n2,k2,\"y\"\"\",\n3,k3,z,-5\n4,k4,,18446744073709551615\n5,k5\n";
    let file = file("keys.csv", content.as_bytes());
    let mut reader = file.open(options(BadRows::Skip)).unwrap();
    let fields: Vec<String> = reader.kept_fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(fields, ["b", "a"]);
    let chunk = reader.next_chunk().unwrap().unwrap();
    assert_eq!(rows(std::slice::from_ref(&chunk)), [(0, "k1".to_owned()), (3, "k4".to_owned())]);
    assert_eq!(chunk.sizes(), Some(&[10, u64::MAX][..]));
    assert_eq!(chunk.kept()[0].as_string::<i32>().iter().flatten().collect::<Vec<_>>(), ["x", ""]);
    assert_eq!(chunk.kept()[1].as_string::<i32>().iter().flatten().collect::<Vec<_>>(), ["1", "4"]);
    assert_eq!(chunk.end_row(), 5);
    let bad: Vec<String> = reader.report().first_bad.iter().map(ToString::to_string).collect();
    assert!(bad[0].starts_with("line 3, column \"size\": \"\" is not a size"), "{bad:?}");
    assert!(bad[1].starts_with("line 4, column \"size\": \"-5\" is not a size"), "{bad:?}");
    assert_eq!(bad[2], "line 6: the row has 2 fields, and the first has 4: check its separators and quotes");
    assert!(file.error(options(BadRows::Stop)).starts_with("keys.csv: line 3, column \"size\""));
}

#[test]
fn empty_fields_and_foreign_bytes() {
    assert_eq!(keys(&read("key,n\n,1\n", ReadOptions::default())), [""]);
    let integers = ReadOptions { key_type: Some(KeyType::I64), ..ReadOptions::default() };
    let error = file("keys.csv", b"key,n\n,1\n").error(integers);
    assert!(error.contains("line 2, column \"key\": \"\" is not an i64 key: it is empty"), "{error}");
    let error = file("keys.csv", b"key,n\n\xff,1\n").error(ReadOptions::default());
    assert!(
        error.contains("line 2, column \"key\"") && error.contains("is not valid UTF-8: use --key-type"),
        "{error}"
    );
    let keep = ReadOptions { keep: vec!["n".into()], ..ReadOptions::default() };
    let error = file("keys.csv", b"key,n\na,\xff\n").error(keep);
    assert!(error.contains("line 2, column \"n\"") && error.contains("do not keep this column"), "{error}");
    assert!(file("k.csv", b"key,a,a\n").error(column("a")).contains("both named \"a\""));
}

#[test]
fn chunks_are_cut_by_text_of_all_columns() {
    let options = ReadOptions { keep: vec!["v".into()], chunk_bytes: 8, ..column("key") };
    let chunks = read("key,v\na,1234567\nb,1234567\nc,1\n", options);
    assert_eq!(chunks.iter().map(KeyChunk::len).collect::<Vec<_>>(), [1, 1, 1]);
    assert_eq!(chunks[2].keys(0).len(), 1);
    let mut reader =
        file("k", b"key\na\n").open(ReadOptions { format: Some(InputFormat::Csv), ..Default::default() }).unwrap();
    assert_eq!(reader.by_ref().count(), 1);
    assert_eq!(reader.format(), InputFormat::Csv);
}

#[test]
fn a_quote_that_is_never_closed_is_refused_before_it_fills_the_memory() {
    let mut content = b"key\na\n\"".to_vec();
    content.resize(70 << 20, b'x');
    let error = file("keys.csv", &content).error(ReadOptions::default());
    assert_eq!(error, "keys.csv: line 3: the quote that opens on this line is not closed within 64 MiB: close it");
    content[6] = b'x';
    let error = file("keys.csv", &content).error(ReadOptions::default());
    assert_eq!(error, "keys.csv: cannot read: a row is longer than 64 MiB: is this a CSV file?");
}

/// The keys of a file that is read over its bad rows in pieces of `size`, and the bad rows.
fn over_bad_rows(content: &[u8], options: &ReadOptions, size: usize) -> (Vec<String>, Vec<String>) {
    let options = ReadOptions { bad_rows: BadRows::Skip, ..options.clone() };
    let pieces = Pieces { content: content.to_vec(), at: 0, size };
    let mut reader = open_reader(pieces, "keys.csv", &options).unwrap();
    let chunks: Vec<KeyChunk> = reader.by_ref().map(Result::unwrap).collect();
    (keys(&chunks), reader.report().first_bad.iter().map(ToString::to_string).collect())
}

/// A stream that gives a few bytes at a time.
struct Pieces {
    content: Vec<u8>,
    at: usize,
    size: usize,
}

impl std::io::Read for Pieces {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let mut rest = &self.content[self.at..];
        let size = self.size.min(buf.len());
        let count = std::io::Read::read(&mut rest, &mut buf[..size])?;
        self.at += count;
        Ok(count)
    }
}

const UNCLOSED: &str =
    "the quote that opens on this line is never closed: close it, or complete the file if its end is missing";
const BEHIND: &str =
    "text follows a closing quote: end the field at the quote, or double a quote that belongs to the text";

#[test]
fn bad_quotes_are_bad_rows_with_the_line_of_the_quote() {
    let options = column("key");
    for (content, good, bad) in [
        ("key,n\na,1\n\"b,2\nc,3\n", &["a"][..], format!("line 3: {UNCLOSED}")),
        ("key,n\na,1\n\"b,2\nc,3", &["a"], format!("line 3: {UNCLOSED}")),
        ("key,n\r\na,1\r\n\r\n\"b\r\nc\",\"2\r\n\r\n", &["a"], format!("line 5: {UNCLOSED}")),
        ("key,n\na,\"", &[], format!("line 2: {UNCLOSED}")),
        ("key,n\n\"a\"\"\n", &[], format!("line 2: {UNCLOSED}")),
        ("key,n\n\"a\"x,\"\n", &[], format!("line 2: {UNCLOSED}")),
        ("key,n\na,1\n\n\"c\"d,1\nb,2\n", &["a", "b"], format!("line 4: {BEHIND}")),
        ("key,n\r\n\"a\r\nb\",1\r\nx,\"c\" \r\nb,2\r\n", &["a\r\nb", "b"], format!("line 4: {BEHIND}")),
        ("\u{feff}\"key\",n\n\"c\"\"d\"e,1", &[], format!("line 2: {BEHIND}")),
    ] {
        for size in [1, 2, 3, 4, 100] {
            let found = over_bad_rows(content.as_bytes(), &options, size);
            assert_eq!(
                found,
                (good.iter().map(ToString::to_string).collect(), vec![bad.clone()]),
                "{content:?}, {size}"
            );
        }
        let error = file("keys.csv", content.as_bytes()).error(options.clone());
        assert_eq!(error, format!("keys.csv: {bad}; --bad-rows skip passes over such rows"));
    }
}

#[test]
fn bad_quotes_in_the_first_row() {
    let error = |content: &str, options| file("keys.csv", content.as_bytes()).error(options);
    let skip = || ReadOptions { bad_rows: BadRows::Skip, ..ReadOptions::default() };
    assert_eq!(error("\"key\na\n", skip()), format!("keys.csv: line 1: {UNCLOSED}"));
    assert_eq!(error("\n\"key\"s\na\n", skip()), format!("keys.csv: line 2: {BEHIND}"));
    let plain = |bad_rows| ReadOptions { header: false, bad_rows, ..ReadOptions::default() };
    let expected = format!("keys.csv: line 1: {BEHIND}; --bad-rows skip passes over such rows");
    assert_eq!(error("\"a\"b\nc\n", plain(BadRows::Stop)), expected);
    let found = over_bad_rows(b"\"a\"b\nc\n", &plain(BadRows::Skip), 100);
    assert_eq!(found, (vec!["c".to_owned()], vec![format!("line 1: {BEHIND}")]));
}

#[test]
fn quotes_that_are_well_or_only_characters_are_taken() {
    let semicolons = ReadOptions { delimiter: Some(b';'), ..ReadOptions::default() };
    for size in [1, 2, 100] {
        let found = over_bad_rows(b"key;n\nab\"c;\"\"\n\"d\"\"\";\"\n\"\r\n\"\";e\"\"", &semicolons, size);
        assert_eq!(found, (vec!["ab\"c".to_owned(), "d\"".to_owned(), String::new()], Vec::new()));
    }
    let options = ReadOptions { delimiter: Some(b','), ..ReadOptions::default() };
    let (found, bad) = over_bad_rows(b"key\n\"d\";\"e\"\n", &options, 100);
    assert_eq!((found.len(), bad), (0, vec![format!("line 2: {BEHIND}")]));
}

#[test]
fn a_byte_order_mark_in_pieces_is_one() {
    for size in [1, 2, 3] {
        let found = over_bad_rows("\u{feff}key,n\na,1\n".as_bytes(), &column("key"), size);
        assert_eq!(found, (vec!["a".to_owned()], Vec::new()));
        let plain = ReadOptions { header: false, ..ReadOptions::default() };
        assert_eq!(over_bad_rows("\u{feff}\"a\"\n".as_bytes(), &plain, size).0, ["a"]);
        assert_eq!(over_bad_rows(b"\xef\xbb", &plain, size).1.len(), 1);
    }
}

#[test]
fn streams_are_read_by_the_extension_of_their_name() {
    let read = |name: &str, options| {
        keys(&open_reader(&b"key\tn\nab\t1\n"[..], name, &options).unwrap().map(Result::unwrap).collect::<Vec<_>>())
    };
    assert_eq!(read("keys.tsv", ReadOptions::default()), ["ab"]);
    assert_eq!(read("keys", ReadOptions::default()), ["key\tn", "ab\t1"]);
    let parquet = ReadOptions { format: Some(InputFormat::Parquet), ..ReadOptions::default() };
    let error = open_reader(&b""[..], "a stream", &parquet).unwrap_err().to_string();
    assert!(error.starts_with("a stream: not a readable Parquet file"), "{error}");
}
