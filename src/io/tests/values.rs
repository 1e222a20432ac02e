//! Every key type: what it takes, what it becomes, and what it refuses in which words.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_schema::DataType;

use super::file;
use crate::io::{BadRows, KeyChunk, ReadOptions};
use crate::keys::{KeyColumn, KeyType};

fn options(kind: KeyType) -> ReadOptions {
    ReadOptions { key_type: Some(kind), ..ReadOptions::default() }
}

fn one_chunk(kind: KeyType, content: &[u8]) -> KeyChunk {
    let file = file("keys.txt", content);
    let mut reader = file.open(options(kind)).unwrap();
    let chunk = reader.next_chunk().unwrap().unwrap();
    assert_eq!(chunk.key_array().data_type(), reader.key_field().data_type());
    assert_eq!(chunk.key_array().len(), chunk.len());
    chunk
}

#[test]
fn integers_are_widened_and_given_back_as_they_were() {
    let chunk = one_chunk(
        KeyType::U64,
        b"0\n007\n12345678\n123456789012345678\n18446744073709551615\n000000000000000000000000001",
    );
    let words = [0, 7, 12_345_678, 123_456_789_012_345_678, u64::MAX, 1];
    assert_eq!(chunk.keys(0).as_integers(), Some(&words[..]));
    assert_eq!(&chunk.key_array().as_primitive::<UInt64Type>().values()[..], words);

    let chunk = one_chunk(KeyType::I64, b"-1\n9223372036854775807\n-9223372036854775808\n-0");
    assert_eq!(chunk.keys(0).as_integers(), Some(&[u64::MAX, i64::MAX.cast_unsigned(), 1 << 63, 0][..]));
    assert_eq!(&chunk.key_array().as_primitive::<Int64Type>().values()[..], [-1, i64::MAX, i64::MIN, 0]);

    let chunk = one_chunk(KeyType::U32, b"4294967295\n5");
    assert_eq!(chunk.keys(0).as_integers(), Some(&[u64::from(u32::MAX), 5][..]));
    assert_eq!(&chunk.key_array().as_primitive::<UInt32Type>().values()[..], [u32::MAX, 5]);

    let chunk = one_chunk(KeyType::I32, b"-2147483648\n2147483647\n-1");
    assert_eq!(chunk.keys(0).as_integers(), Some(&[0xffff_ffff_8000_0000, 0x7fff_ffff, u64::MAX][..]));
    assert_eq!(&chunk.key_array().as_primitive::<Int32Type>().values()[..], [i32::MIN, i32::MAX, -1]);
}

#[test]
fn every_number_of_digits_is_read() {
    for digits in 1..=20 {
        let text = &"12345678901234567890"[..digits];
        let chunk = one_chunk(KeyType::U64, text.as_bytes());
        assert_eq!(chunk.keys(0).as_integers(), Some(&[text.parse().unwrap()][..]));
        for place in 0..digits {
            for wrong in [b'/', b':', b'x', b' ', 0, 0xff, b'\xb0'] {
                let mut bytes = text.as_bytes().to_vec();
                bytes[place] = wrong;
                let error = file("keys.txt", &bytes).error(options(KeyType::U64));
                assert!(error.contains("is not a u64 key: it is written with decimal digits"), "{bytes:?}: {error}");
            }
        }
    }
}

#[test]
fn strings_bytes_and_uuids() {
    let chunk = one_chunk(KeyType::Text, "grün\n \nx".as_bytes());
    assert_eq!(chunk.key_array().as_string::<i32>().iter().flatten().collect::<Vec<_>>(), ["grün", " ", "x"]);
    assert_eq!(super::shown(chunk.keys(0).get(0)), "grün");

    let chunk = one_chunk(KeyType::Bytes, b"00fF\nab");
    let values: Vec<_> = chunk.key_array().as_binary::<i32>().iter().flatten().map(<[u8]>::to_vec).collect();
    assert_eq!(values, [vec![0, 255], vec![0xab]]);

    let chunk = one_chunk(KeyType::Uuid, b"6f1ed002ab5d4b0a8c702c5a0a6a3a52\n6F1ED002-AB5D-4B0A-8C70-2C5A0A6A3A52");
    assert_eq!(chunk.keys(0).get(0), chunk.keys(0).get(1));
    assert_eq!(chunk.key_array().data_type(), &DataType::FixedSizeBinary(16));
    assert_eq!(chunk.key_array().as_fixed_size_binary().value(1)[..2], [0x6f, 0x1e]);
}

#[test]
fn bad_values_say_what_would_be_good() {
    let cases: [(KeyType, &[u8], &str); 23] = [
        (KeyType::Text, b"a\xff", "is not valid UTF-8: use --key-type bytes"),
        (KeyType::Bytes, b"abc", "one digit is left over"),
        (KeyType::Bytes, b"0x", "hexadecimal digits only"),
        (KeyType::Bytes, b"abz", "hexadecimal digits only"),
        (KeyType::U64, b"-1", "\"-1\" is not a u64 key: it is written with decimal digits only"),
        (KeyType::U64, b"+1", "decimal digits only"),
        (KeyType::U64, b" 1", "decimal digits only"),
        (KeyType::U64, b"1.0", "decimal digits only"),
        (KeyType::U64, b"18446744073709551616", "it is outside 0 to 18446744073709551615"),
        (KeyType::U64, b"99999999999999999999999", "it is outside 0 to"),
        (KeyType::U64, b"1844674407370955161x", "decimal digits only"),
        (KeyType::I64, b"9223372036854775808", "outside -9223372036854775808 to 9223372036854775807"),
        (KeyType::I64, b"-9223372036854775809", "outside"),
        (KeyType::I64, b"-", "a minus and decimal digits only"),
        (KeyType::I64, b"--1", "a minus and decimal digits only"),
        (KeyType::U32, b"4294967296", "is not a u32 key: it is outside 0 to 4294967295"),
        (KeyType::I32, b"2147483648", "outside -2147483648 to 2147483647"),
        (KeyType::I32, b"-2147483649", "outside"),
        (KeyType::I32, b"1e3", "decimal digits only"),
        (KeyType::Uuid, b"6f1ed002", "32 hexadecimal digits"),
        (KeyType::Uuid, b"{6f1ed002-ab5d-4b0a-8c70-2c5a0a6a3a52}", "32 hexadecimal digits"),
        (KeyType::Uuid, b"urn:uuid:6f1ed002-ab5d-4b0a-8c70-2c5a0a6a3a52", "32 hexadecimal digits"),
        (KeyType::Uuid, b"6f1ed002-ab5d-4b0a-8c70-2c5a0a6a3a5g", "32 hexadecimal digits"),
    ];
    for (kind, bad, reason) in cases {
        let error = file("keys.txt", bad).error(options(kind));
        assert!(error.starts_with("keys.txt: line 1: ") && error.contains(reason), "{kind}: {error}");
        // The rows around it are read as if it were not there.
        let good: &[u8] = match kind {
            KeyType::Uuid => b"6f1ed002ab5d4b0a8c702c5a0a6a3a52",
            _ => b"12",
        };
        let content = [good, b"\n", bad, b"\n", good].concat();
        let skipping = ReadOptions { bad_rows: BadRows::Skip, ..options(kind) };
        let file = file("keys.txt", &content);
        let mut reader = file.open(skipping).unwrap();
        let chunk = reader.next_chunk().unwrap().unwrap();
        assert_eq!((chunk.row(0), chunk.row(1), chunk.len(), chunk.end_row()), (0, 2, 2, 3));
        assert_eq!(chunk.keys(0).get(0), chunk.keys(0).get(1));
        assert!(reader.report().first_bad[0].value.is_some());
    }
}

#[test]
fn integers_above_the_largest_are_bad() {
    let limited = |kind| ReadOptions { max_key: Some((u64::from(u32::MAX), "is above it")), ..options(kind) };
    let error = file("keys.txt", b"4294967295\n4294967296").error(limited(KeyType::U64));
    assert!(error.contains("line 2: \"4294967296\" is above it; --bad-rows"), "{error}");
    let error = file("keys.txt", b"1\n-1").error(limited(KeyType::I32));
    assert!(error.contains("line 2: \"-1\" is above it"), "{error}");
    let file = file("keys.txt", b"4294967296");
    assert_eq!(file.open(limited(KeyType::Text)).unwrap().count(), 1, "text has no largest key");
}
