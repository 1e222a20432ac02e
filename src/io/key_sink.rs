//! The text of keys, one at a time, into a column of one type.

use arrow_array::{BinaryArray, FixedSizeBinaryArray, StringArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;

use super::chunk::Column;
use super::errors::syntax;
use super::fault::Fault;
use crate::error::Result;
use crate::keys::KeyType;

/// The bytes of a UUID.
const UUID: usize = 16;

/// A column of keys under construction.
#[derive(Debug)]
pub(super) struct KeySink {
    kind: KeyType,
    max: Option<(u64, &'static str)>,
    store: Store,
}

#[derive(Debug)]
enum Store {
    Words(Vec<u64>),
    /// Key `i` is `data[offsets[i]..offsets[i + 1]]`.
    Strings {
        offsets: Vec<i32>,
        data: Vec<u8>,
    },
    Uuids(Vec<u8>),
}

impl KeySink {
    pub(super) fn new(kind: KeyType, max: Option<(u64, &'static str)>) -> Self {
        let store = match kind {
            KeyType::Text | KeyType::Bytes => Store::Strings { offsets: vec![0], data: Vec::new() },
            KeyType::Uuid => Store::Uuids(Vec::new()),
            _ => Store::Words(Vec::new()),
        };
        Self { kind, max, store }
    }

    pub(super) fn kind(&self) -> KeyType {
        self.kind
    }

    pub(super) fn len(&self) -> usize {
        match &self.store {
            Store::Words(words) => words.len(),
            Store::Strings { offsets, .. } => offsets.len() - 1,
            Store::Uuids(data) => data.len() / UUID,
        }
    }

    /// Bytes of text held.
    pub(super) fn bytes(&self) -> usize {
        match &self.store {
            Store::Strings { data, .. } => data.len(),
            _ => 0,
        }
    }

    /// Appends the key that `text` is, or appends nothing; `is_utf8` says that it is known to be UTF-8.
    #[inline]
    pub(super) fn push(&mut self, text: &[u8], is_utf8: bool) -> Result<(), Fault> {
        match &mut self.store {
            Store::Words(words) => {
                let word = integer(self.kind, text)?;
                if let Some((max, reason)) = self.max
                    && word > max
                {
                    return Err(Fault::TooLarge(reason));
                }
                words.push(word);
            }
            Store::Strings { offsets, data } => {
                if self.kind == KeyType::Text {
                    if !is_utf8 && std::str::from_utf8(text).is_err() {
                        return Err(Fault::NotUtf8);
                    }
                    data.extend_from_slice(text);
                } else {
                    hexadecimal(text, data)?;
                }
                // Chunks end long before 2^31 bytes: see `RowSink::is_full` and `LONGEST_ROW`.
                offsets.push(i32::try_from(data.len()).unwrap_or(i32::MAX));
            }
            Store::Uuids(data) => {
                // The braced and URN forms that the library also takes would not be written back as they were.
                if text.is_empty() {
                    return Err(Fault::EmptyKey(KeyType::Uuid));
                }
                let plain = matches!(text.len(), 32 | 36);
                let uuid = uuid::Uuid::try_parse_ascii(text).ok().filter(|_| plain).ok_or(Fault::NotUuid)?;
                data.extend_from_slice(uuid.as_bytes());
            }
        }
        Ok(())
    }

    /// Takes the last key back.
    pub(super) fn pop(&mut self) {
        match &mut self.store {
            Store::Words(words) => drop(words.pop()),
            Store::Strings { offsets, data } => {
                if offsets.len() > 1 {
                    offsets.pop();
                    data.truncate(offsets.last().map_or(0, |end| usize::try_from(*end).unwrap_or(0)));
                }
            }
            Store::Uuids(data) => data.truncate(data.len().saturating_sub(UUID)),
        }
    }

    /// The keys so far; the sink starts anew, with as much room as they took.
    pub(super) fn take(&mut self) -> Result<Column> {
        Ok(match &mut self.store {
            Store::Words(words) => {
                let room = Vec::with_capacity(words.len());
                let data_type = match self.kind {
                    KeyType::I64 => DataType::Int64,
                    KeyType::U32 => DataType::UInt32,
                    KeyType::I32 => DataType::Int32,
                    _ => DataType::UInt64,
                };
                Column::words(std::mem::replace(words, room).into(), data_type)
            }
            Store::Strings { offsets, data } => {
                let mut start = Vec::with_capacity(offsets.len());
                start.push(0);
                let data_room = Vec::with_capacity(data.len());
                let offsets = OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(offsets, start)));
                let data = Buffer::from_vec(std::mem::replace(data, data_room));
                let built = if self.kind == KeyType::Text {
                    StringArray::try_new(offsets, data, None).map(Column::text)
                } else {
                    BinaryArray::try_new(offsets, data, None).map(Column::binary)
                };
                built.map_err(|error| syntax(error.to_string()))?
            }
            Store::Uuids(data) => {
                let room = Vec::with_capacity(data.len());
                let data = Buffer::from_vec(std::mem::replace(data, room));
                FixedSizeBinaryArray::try_new(16, data, None)
                    .map(Column::fixed)
                    .map_err(|error| syntax(error.to_string()))?
            }
        })
    }
}

/// The integer that `text` is, widened to 64 bits.
#[inline]
fn integer(kind: KeyType, text: &[u8]) -> Result<u64, Fault> {
    match kind {
        KeyType::I64 | KeyType::I32 => {
            let (minus, digits) = match text {
                [b'-', digits @ ..] => (true, digits),
                digits => (false, digits),
            };
            let magnitude = magnitude(digits).map_err(|misread| misread.fault(kind, text))?;
            let limit = if kind == KeyType::I64 { 1_u64 << 63 } else { 1 << 31 };
            match (minus, magnitude) {
                (true, magnitude) if magnitude <= limit => Ok(magnitude.wrapping_neg()),
                (false, magnitude) if magnitude < limit => Ok(magnitude),
                _ => Err(Fault::OutOfRange(kind)),
            }
        }
        _ => match magnitude(text) {
            Ok(word) if kind == KeyType::U32 && word > u64::from(u32::MAX) => Err(Fault::OutOfRange(kind)),
            Ok(word) => Ok(word),
            Err(misread) => Err(misread.fault(kind, text)),
        },
    }
}

/// Why digits are no 64-bit number.
enum Misread {
    NotDigits,
    TooMany,
}

impl Misread {
    #[cold]
    fn fault(self, kind: KeyType, text: &[u8]) -> Fault {
        match self {
            Self::TooMany => Fault::OutOfRange(kind),
            Self::NotDigits if text.is_empty() => Fault::EmptyKey(kind),
            Self::NotDigits => Fault::NotInteger(kind),
        }
    }
}

/// The number that decimal digits make.
#[inline]
fn magnitude(digits: &[u8]) -> Result<u64, Misread> {
    match digits.len() {
        1..20 => short_magnitude(digits),
        // The 20th digit is the first that may not fit.
        20 => {
            let (most, last) = digits.split_at(19);
            let (most, last) = (short_magnitude(most)?, short_magnitude(last)?);
            most.checked_mul(10).and_then(|tens| tens.checked_add(last)).ok_or(Misread::TooMany)
        }
        _ => long_magnitude(digits),
    }
}

/// The same for at most 19 digits, which always fit 64 bits.
#[inline]
fn short_magnitude(digits: &[u8]) -> Result<u64, Misread> {
    // Eight at a time; whether the others are digits is asked once, at the end.
    let (mut value, mut worst, mut rest) = (0_u64, 0_u8, digits);
    while let Some((eight, tail)) = rest.split_first_chunk::<8>() {
        let Some(part) = eight_digits(u64::from_le_bytes(*eight)) else {
            return Err(Misread::NotDigits);
        };
        value = value * 100_000_000 + part;
        rest = tail;
    }
    for byte in rest {
        let digit = byte.wrapping_sub(b'0');
        worst = worst.max(digit);
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
    }
    if worst <= 9 { Ok(value) } else { Err(Misread::NotDigits) }
}

/// The same for no digit at all, and for more than 20, which leading zeros can make.
#[cold]
fn long_magnitude(digits: &[u8]) -> Result<u64, Misread> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Misread::NotDigits);
    }
    digits
        .iter()
        .try_fold(0_u64, |value, byte| value.checked_mul(10)?.checked_add(u64::from(byte - b'0')))
        .ok_or(Misread::TooMany)
}

/// The number that eight digits make, which are the bytes of `word` with the first digit lowest.
#[inline]
fn eight_digits(word: u64) -> Option<u64> {
    const HIGH: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    // Digits are 0x30 to 0x39: the high half is 3, and stays 3 when 6 is added.
    let above_nine = word.wrapping_add(0x0606_0606_0606_0606);
    if (word & HIGH) != ZEROS || (above_nine & HIGH) != ZEROS {
        return None;
    }
    // Neighbours are joined three times: digits to pairs, pairs to fours, fours to eight.
    let digits = word - ZEROS;
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
}

/// Appends the bytes that hexadecimal digits are, or nothing.
fn hexadecimal(digits: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    if digits.is_empty() {
        return Err(Fault::EmptyKey(KeyType::Bytes));
    }
    let start = out.len();
    let (pairs, rest) = digits.as_chunks::<2>();
    for [high, low] in pairs {
        let (Some(high), Some(low)) = (nibble(*high), nibble(*low)) else {
            out.truncate(start);
            return Err(Fault::NotHex);
        };
        out.push(high << 4 | low);
    }
    match rest {
        [] => Ok(()),
        [digit, ..] => {
            out.truncate(start);
            Err(if nibble(*digit).is_some() { Fault::OddHex } else { Fault::NotHex })
        }
    }
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}
