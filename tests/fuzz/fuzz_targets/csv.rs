//! A CSV file in any pieces gives the keys and the bad rows that it gives whole, and those that a plain reading by the
//! rules gives: fields as the CSV library has them, faults of quotes as RFC 4180 says.

#![no_main]

use std::io::Read;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use rehome::io::{BadRows, InputFormat, ReadOptions, open_reader};
use rehome::{Key, KeyColumn};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    delimiter: Option<u8>,
    header: bool,
    chunk_rows: u8,
    pieces: [u8; 4],
    text: &'a [u8],
}

type Keys = Vec<(u64, Vec<u8>)>;

/// What begins like this is unpacked, or refused as no text, before it is CSV.
const NO_TEXT: [&[u8]; 8] = [
    b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd",
    b"\xff\xfe",
    b"\xfe\xff",
    b"\xfd7zXZ",
    b"\x04\x22\x4d\x18",
    b"PK\x03\x04",
    b"BZh",
];

fuzz_target!(|input: Input| {
    let skippable = matches!(input.text, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]);
    if skippable || NO_TEXT.iter().any(|head| input.text.starts_with(head)) {
        return;
    }
    let options = ReadOptions {
        format: Some(InputFormat::Csv),
        delimiter: input.delimiter,
        header: input.header,
        chunk_rows: input.chunk_rows.into(),
        column: (!input.header).then(|| "1".to_owned()),
        bad_rows: BadRows::Skip,
        ..ReadOptions::default()
    };
    let whole = read(&options, input.text, &[255]);
    assert_eq!(read(&options, input.text, &input.pieces), whole);
    assert_eq!(read(&options, input.text, &[1]), whole);
    let delimiter = input.delimiter.unwrap_or(b',');
    if matches!(delimiter, b'\n' | b'\r' | b'"') || !delimiter.is_ascii() {
        assert!(whole.is_err());
        return;
    }
    let rows = plain(input.text, delimiter);
    agrees_with_the_library(&rows, input.text, delimiter);
    match whole {
        Ok(found) => assert_eq!(found, expected(&rows, input.header)),
        // The header is missing, has a fault, or does not say which column has the keys.
        Err(error) => {
            assert!(input.header, "{error}");
            if let Some(Row { line, fault: true, .. }) = rows.first() {
                assert!(error.starts_with(&format!("keys: line {line}: ")), "{error}");
            }
        }
    }
    stops_at_the_first(&options, &input);
});

/// The keys with their rows, the number of rows, and the lines of the first bad ones; or the error.
fn read(options: &ReadOptions, text: &[u8], pieces: &[u8]) -> Result<(Keys, u64, Vec<u64>), String> {
    let pieces = Pieces { text: text.to_vec(), at: 0, sizes: pieces.to_vec(), next: 0 };
    let mut reader = open_reader(pieces, "keys", options).map_err(|error| error.to_string())?;
    let (mut keys, mut end) = (Keys::new(), 0);
    while let Some(chunk) = reader.next_chunk().map_err(|error| error.to_string())? {
        for index in 0..chunk.len() {
            let Key::Bytes(key) = chunk.keys(0).get(index) else { panic!("text keys are bytes") };
            keys.push((chunk.row(index), key.to_vec()));
        }
        end = chunk.end_row();
    }
    let report = reader.report();
    assert_eq!((report.rows, report.rows + report.bad), (keys.len() as u64, end));
    let lines = report.first_bad.iter().map(|row| {
        let text = row.to_string();
        let digits = text.strip_prefix("line ").and_then(|rest| rest.split([',', ':']).next());
        digits.and_then(|digits| digits.parse().ok()).unwrap_or_else(|| panic!("no line in {text}"))
    });
    Ok((keys, end, lines.collect()))
}

/// Without `--bad-rows skip` the first bad row is an error that names its line.
fn stops_at_the_first(options: &ReadOptions, input: &Input) {
    let stopping = ReadOptions { bad_rows: BadRows::Stop, ..options.clone() };
    match (read(options, input.text, &[255]), read(&stopping, input.text, &input.pieces)) {
        (Ok((.., lines)), Err(error)) => assert!(error.starts_with(&format!("keys: line {}", lines[0])), "{error}"),
        (Ok((keys, end, lines)), Ok(found)) => {
            assert!(lines.is_empty());
            assert_eq!(found, (keys, end, lines));
        }
        (Err(first), Err(second)) => assert_eq!(first, second),
        (Err(error), Ok(_)) => panic!("{error}"),
    }
}

/// What a reader gives for these rows.
fn expected(rows: &[Row], header: bool) -> (Keys, u64, Vec<u64>) {
    let Some(first) = rows.first() else { return (Keys::new(), 0, Vec::new()) };
    let key = first.fields.iter().position(|field| header && first.fields.len() > 1 && field == b"key").unwrap_or(0);
    let (mut keys, mut bad) = (Keys::new(), Vec::new());
    let body = &rows[usize::from(header)..];
    for (number, row) in (0..).zip(body) {
        if row.fault || row.fields.len() != first.fields.len() || std::str::from_utf8(&row.fields[key]).is_err() {
            bad.push(row.line);
        } else {
            keys.push((number, row.fields[key].clone()));
        }
    }
    bad.truncate(10);
    (keys, body.len() as u64, bad)
}

/// A row as the plain reading has it.
struct Row {
    /// Where it starts; where its quote opens, if that is never closed.
    line: u64,
    fields: Vec<Vec<u8>>,
    fault: bool,
}

/// Reads a file by the rules, byte by byte.
fn plain(text: &[u8], delimiter: u8) -> Vec<Row> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let (mut rows, mut line, mut at) = (Vec::new(), 1, 0);
    while let Some(byte) = text.get(at) {
        if matches!(byte, b'\n' | b'\r') {
            line += u64::from(*byte == b'\n');
            at += 1;
            continue;
        }
        let mut row = Row { line, fields: Vec::new(), fault: false };
        loop {
            let mut field = Vec::new();
            if text.get(at) == Some(&b'"') {
                let opened = line;
                at += 1;
                loop {
                    match (text.get(at), text.get(at + 1)) {
                        (None, _) => {
                            (row.line, row.fault) = (opened, true);
                            break;
                        }
                        (Some(b'"'), Some(b'"')) => {
                            field.push(b'"');
                            at += 2;
                        }
                        (Some(b'"'), _) => {
                            at += 1;
                            break;
                        }
                        (Some(byte), _) => {
                            line += u64::from(*byte == b'\n');
                            field.push(*byte);
                            at += 1;
                        }
                    }
                }
                row.fault |= text.get(at).is_some_and(|byte| *byte != delimiter && !matches!(byte, b'\n' | b'\r'));
            }
            while let Some(byte) = text.get(at).filter(|byte| **byte != delimiter && !matches!(byte, b'\n' | b'\r')) {
                field.push(*byte);
                at += 1;
            }
            row.fields.push(field);
            if text.get(at) != Some(&delimiter) {
                break;
            }
            at += 1;
        }
        rows.push(row);
    }
    rows
}

fn agrees_with_the_library(rows: &[Row], text: &[u8], delimiter: u8) {
    let mut builder = csv::ReaderBuilder::new();
    builder.has_headers(false).flexible(true).delimiter(delimiter);
    let records =
        builder.from_reader(text).into_byte_records().collect::<Result<Vec<_>, _>>().expect("bytes in memory");
    assert_eq!(records.len(), rows.len());
    for (record, row) in records.iter().zip(rows) {
        assert!(record.iter().eq(row.fields.iter().map(Vec::as_slice)), "{record:?} and {:?}", row.fields);
    }
}

/// A stream that gives pieces of these sizes, over and over.
struct Pieces {
    text: Vec<u8>,
    at: usize,
    sizes: Vec<u8>,
    next: usize,
}

impl Read for Pieces {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let size = usize::from(self.sizes[self.next % self.sizes.len()]).max(1).min(buf.len());
        self.next += 1;
        let count = (&self.text[self.at..]).read(&mut buf[..size])?;
        self.at += count;
        Ok(count)
    }
}
