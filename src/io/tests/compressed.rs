//! gzip and zstd around lines, CSV, Parquet and Arrow: all that is in them, or an error.

use std::io::Write as _;

use super::*;
use crate::io::{InputFormat, Progress};

pub(super) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// With a checksum, as the tool writes it.
pub(super) fn zstd(content: &[u8]) -> Vec<u8> {
    let mut encoder = ::zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// A frame that says nothing.
fn skippable() -> Vec<u8> {
    [&[0x53, 0x2a, 0x4d, 0x18, 5, 0, 0, 0][..], b"aside"].concat()
}

fn outcome(file: &Scratch) -> Result<Vec<(u64, String)>, Error> {
    let chunks: Result<Vec<KeyChunk>, Error> = file.open(ReadOptions::default())?.collect();
    Ok(rows(&chunks?))
}

#[test]
fn packed_files_read_as_what_is_in_them() {
    let csv: String = (0..30_000).map(|row| format!("key-{row},{row}\n")).collect();
    let csv = format!("key,n\n{csv}");
    let plain = outcome(&file("keys.csv", csv.as_bytes())).unwrap();
    assert_eq!(plain.len(), 30_000);
    let (start, end) = csv.as_bytes().split_at(70_001);
    let forms = [
        gzip(csv.as_bytes()),
        [gzip(start), gzip(end)].concat(),
        [gzip(b""), gzip(start), gzip(b""), gzip(end), vec![0; 300_000]].concat(),
        zstd(csv.as_bytes()),
        [zstd(start), zstd(end)].concat(),
        [skippable(), zstd(start), skippable(), zstd(b""), zstd(end), skippable()].concat(),
    ];
    for (number, form) in forms.iter().enumerate() {
        // Content tells, whatever the name.
        let name = if number < 3 { "keys.csv.gz" } else { "keys.csv.zst" };
        for name in ["keys.csv", name] {
            let packed = file(name, form);
            let mut reader = packed.open(ReadOptions::default()).unwrap();
            assert_eq!((reader.format(), reader.total_bytes()), (InputFormat::Csv, Some(form.len() as u64)));
            let progress: Progress = reader.progress();
            let chunks: Vec<KeyChunk> = reader.by_ref().map(Result::unwrap).collect();
            assert_eq!(rows(&chunks), plain, "{number} as {name}");
            assert_eq!(progress.bytes(), form.len() as u64, "{number} as {name}");
            assert_eq!(reader.finished()[0].bytes, Some(form.len() as u64));
        }
    }
    assert_eq!(file("keys.GZ", &gzip(b"a\nb\n")).open(ReadOptions::default()).unwrap().format(), InputFormat::Lines);
    let tabs = file("keys.tsv.zstd", &zstd(b"key\tx\na,b\t1\n"));
    assert_eq!(outcome(&tabs).unwrap(), [(0, "a,b".to_owned())]);
    let nothing = file("keys.gz", &gzip(b""));
    let mut reader = nothing.open(ReadOptions::default()).unwrap();
    assert!(reader.next_chunk().unwrap().is_none() && reader.report().empty);
}

#[test]
fn what_is_cut_short_or_damaged_is_an_error() {
    let content: String = (0..200).map(|row| format!("key-{}\n", row * row)).collect();
    let plain = outcome(&file("keys", content.as_bytes())).unwrap();
    for (name, whole) in [("k.gz", gzip(content.as_bytes())), ("k.zst", zstd(content.as_bytes()))] {
        for length in 0..whole.len() {
            let error = outcome(&file(name, &whole[..length])).expect_err(name).to_string();
            assert!(error.contains(name) && error.contains("get the whole file"), "{length}: {error}");
            // Two bytes tell gzip, four tell zstd.
            if length >= 4 || (length > 0 && name == "k.gz") {
                assert!(outcome(&file("k.txt", &whole[..length])).is_err(), "{length} of {name}");
            }
        }
        for at in 0..whole.len() {
            for flip in [0x01, 0x80] {
                let mut damaged = whole.clone();
                damaged[at] ^= flip;
                // Some bytes of a header mean nothing.
                if let Ok(rows) = outcome(&file(name, &damaged)) {
                    assert_eq!(rows, plain, "byte {at} of {name}");
                }
            }
        }
        let mut damaged = whole.clone();
        let last = damaged.len() - 6;
        damaged[last] ^= 0x10;
        let error = outcome(&file(name, &damaged)).unwrap_err().to_string();
        assert!(error.contains("data is damaged (") && error.contains("once more"), "{error}");
        for behind in [&b"x"[..], b"\0\0\0x", b"\x1fx", b"\n"] {
            assert!(outcome(&file(name, &[&whole[..], behind].concat())).is_err(), "{behind:?} behind {name}");
        }
    }
    assert!(outcome(&file("k.zst", &[zstd(b"a\n"), vec![0; 8]].concat())).is_err());
    let skip = skippable();
    for length in 1..skip.len() {
        assert!(outcome(&file("k.zst", &[zstd(b"a\n"), skip[..length].to_vec()].concat())).is_err(), "{length}");
    }
    let behind = outcome(&file("k.gz", &[gzip(b"a\n"), b"more".to_vec()].concat())).unwrap_err().to_string();
    assert!(behind.ends_with("k.gz: something that is no gzip data follows the gzip data: cut it off"), "{behind}");
    let named = outcome(&file("k.gz", b"a\nb\n")).unwrap_err().to_string();
    assert!(named.contains("the name says gzip, and it does not begin like that"), "{named}");
}

#[test]
fn what_is_no_text_is_refused_whatever_its_name() {
    for (head, word) in [
        (&b"\xff\xfek\0e\0y\0"[..], "UTF-16"),
        (b"\xfe\xff\0k\0e\0y", "UTF-16"),
        (b"\xfd7zXZ\0\0\x04", "xz"),
        (b"\x04\x22\x4d\x18d@", "lz4"),
        (b"BZh91AY&SYabc", "bzip2"),
        (b"PK\x03\x04\x14\0", "zip"),
    ] {
        for name in ["keys", "keys.txt", "keys.csv"] {
            let error = file(name, head).error(ReadOptions::default());
            assert!(error.starts_with(&format!("{name}: this is ")) && error.contains(word), "{error}");
        }
    }
    for name in ["k.json", "k.jsonl", "k.ndjson.gz"] {
        let error = file(name, b"{}\n").error(ReadOptions::default());
        assert!(error.contains("JSON is no format of keys") && error.contains("--input-format lines"), "{error}");
    }
    let lines = ReadOptions { format: Some(InputFormat::Lines), ..ReadOptions::default() };
    assert_eq!(file("k.json", b"{}\n").open(lines).unwrap().count(), 1);
    // Keys that begin like magic numbers.
    assert_eq!(outcome(&file("keys", b"(\nPAR1\nARROW1\nBZh9\nPK\n")).unwrap().len(), 5);
}
