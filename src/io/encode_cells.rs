//! Cells of one column as text: common types without detours, all others by Arrow's own formatters.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BinaryArray, FixedSizeBinaryArray, StringArray};
use arrow_buffer::NullBuffer;
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_json::writer::{EncoderOptions, NullableEncoder, make_encoder};
use arrow_schema::{ArrowError, DataType, FieldRef};

use super::encode::Style;
use super::row_sink::is_uuid;

/// The array in one of the few forms that [`Cells`] writes fast, where it has one.
pub(super) fn prepare(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let form = match array.data_type() {
        DataType::Int8 | DataType::Int16 | DataType::Int32 => DataType::Int64,
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => DataType::UInt64,
        DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::LargeBinary | DataType::BinaryView => DataType::Binary,
        DataType::Dictionary(keys, values) => match values.as_ref() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                if (keys.as_ref(), values.as_ref()) == (&DataType::Int32, &DataType::Utf8) {
                    return Ok(Arc::clone(array));
                }
                DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
            }
            other => return prepare(&cast(array, other)?),
        },
        _ => return Ok(Arc::clone(array)),
    };
    cast(array, &form)
}

/// Whether a text of an array that [`prepare`] made has an end of line in it, so that a line could not be told from it.
pub(super) fn has_line_end(array: &ArrayRef) -> bool {
    let has = |texts: &StringArray| {
        let (offsets, bytes) = (texts.value_offsets(), texts.value_data());
        let place = |offset: Option<&i32>| offset.and_then(|offset| usize::try_from(*offset).ok()).unwrap_or(0);
        memchr::memchr2(b'\n', b'\r', &bytes[place(offsets.first())..place(offsets.last())]).is_some()
    };
    match array.data_type() {
        DataType::Utf8 => has(array.as_string()),
        DataType::Dictionary(..) => has(array.as_dictionary::<Int32Type>().values().as_string()),
        _ => false,
    }
}

/// The cells of one column of a batch.
pub(super) struct Cells<'a> {
    nulls: Option<NullBuffer>,
    style: Style,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Unsigned(&'a [u64]),
    Signed(&'a [i64]),
    Text(&'a StringArray),
    /// Names by number, as they are written.
    Names {
        keys: &'a [i32],
        names: Names<'a>,
    },
    Binary(&'a BinaryArray),
    Fixed(&'a FixedSizeBinaryArray),
    Uuid(&'a FixedSizeBinaryArray),
    Formatted(ArrayFormatter<'a>),
    Json(NullableEncoder<'a>),
}

/// The names of a dictionary.
enum Names<'a> {
    /// Quoted once: name `i` is `bytes[ends[i]..ends[i + 1]]`.
    Quoted { ends: Vec<usize>, bytes: Vec<u8> },
    /// More names than rows, quoted as they come.
    Plain(&'a StringArray),
}

impl<'a> Cells<'a> {
    /// The cells of an array that [`prepare`] made.
    pub(super) fn new(
        style: Style,
        field: &'a FieldRef,
        array: &'a ArrayRef,
        options: &'a EncoderOptions,
    ) -> Result<Self, ArrowError> {
        let kind = match array.data_type() {
            DataType::UInt64 => Kind::Unsigned(array.as_primitive::<UInt64Type>().values()),
            DataType::Int64 => Kind::Signed(array.as_primitive::<Int64Type>().values()),
            DataType::Utf8 => Kind::Text(array.as_string()),
            DataType::Binary => Kind::Binary(array.as_binary()),
            DataType::FixedSizeBinary(_) if is_uuid(field) => Kind::Uuid(array.as_fixed_size_binary()),
            DataType::FixedSizeBinary(_) => Kind::Fixed(array.as_fixed_size_binary()),
            DataType::Dictionary(..) => {
                let dictionary = array.as_dictionary::<Int32Type>();
                let names = Names::new(style, dictionary.values().as_string(), array.len());
                Kind::Names { keys: dictionary.keys().values(), names }
            }
            _ => match style {
                Style::Csv | Style::Lines => {
                    Kind::Formatted(ArrayFormatter::try_new(array.as_ref(), &FormatOptions::new())?)
                }
                // The JSON writer puts its errors into the text.
                Style::Json if array.data_type().is_temporal() => {
                    Kind::Formatted(ArrayFormatter::try_new(array.as_ref(), &FormatOptions::new())?)
                }
                Style::Json => Kind::Json(make_encoder(field, array.as_ref(), options)?),
            },
        };
        Ok(Self { nulls: array.logical_nulls().filter(|nulls| nulls.null_count() > 0), style, kind })
    }

    #[inline]
    pub(super) fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// Appends the cell of a row that is not null.
    #[inline]
    pub(super) fn write(&mut self, row: usize, out: &mut Vec<u8>) -> Result<(), ArrowError> {
        match &mut self.kind {
            Kind::Unsigned(values) => decimal(values[row], out),
            Kind::Signed(values) => {
                if values[row] < 0 {
                    out.push(b'-');
                }
                decimal(values[row].unsigned_abs(), out);
            }
            Kind::Text(array) => self.style.quote(array.value(row), out),
            Kind::Names { keys, names } => {
                let name = usize::try_from(keys[row]).unwrap_or(0);
                match names {
                    Names::Quoted { ends, bytes } => out.extend_from_slice(&bytes[ends[name]..ends[name + 1]]),
                    Names::Plain(array) => self.style.quote(array.value(name), out),
                }
            }
            Kind::Binary(array) => hexadecimal(self.style, array.value(row), out),
            Kind::Fixed(array) => hexadecimal(self.style, array.value(row), out),
            Kind::Uuid(array) => {
                let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
                if let Ok(uuid) = uuid::Uuid::from_slice(array.value(row)) {
                    self.style.quote(uuid.as_hyphenated().encode_lower(&mut text), out);
                }
            }
            Kind::Formatted(formatter) => self.style.quote(&formatter.value(row).try_to_string()?, out),
            Kind::Json(encoder) => encoder.encode(row, out),
        }
        Ok(())
    }
}

impl<'a> Names<'a> {
    fn new(style: Style, values: &'a StringArray, rows: usize) -> Self {
        if values.len() > rows {
            return Self::Plain(values);
        }
        let (mut ends, mut bytes) = (vec![0], Vec::new());
        for name in values {
            style.quote(name.unwrap_or_default(), &mut bytes);
            ends.push(bytes.len());
        }
        Self::Quoted { ends, bytes }
    }
}

/// Whether a byte makes a field of CSV need quotes.
const NEEDS_QUOTES: [bool; 256] = {
    let mut table = [false; 256];
    table[b',' as usize] = true;
    table[b'"' as usize] = true;
    table[b'\n' as usize] = true;
    table[b'\r' as usize] = true;
    table
};

/// Appends text as a field of CSV. Empty text is told from null by its quotes.
#[inline]
pub(super) fn quote_csv(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    if !bytes.is_empty() && !bytes.iter().any(|byte| NEEDS_QUOTES[usize::from(*byte)]) {
        out.extend_from_slice(bytes);
        return;
    }
    out.push(b'"');
    for part in bytes.split_inclusive(|byte| *byte == b'"') {
        out.extend_from_slice(part);
        if part.ends_with(b"\"") {
            out.push(b'"');
        }
    }
    out.push(b'"');
}

/// Whether a byte cannot stand for itself in a string of JSON.
const NEEDS_ESCAPE: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = true;
        byte += 1;
    }
    table[b'"' as usize] = true;
    table[b'\\' as usize] = true;
    table
};

/// Appends text as a string of JSON.
#[inline]
pub(super) fn quote_json(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    if bytes.iter().any(|byte| NEEDS_ESCAPE[usize::from(*byte)]) {
        // `Display` of a JSON value cannot fail, and escapes as every reader expects.
        out.extend_from_slice(serde_json::Value::from(text).to_string().as_bytes());
        return;
    }
    out.push(b'"');
    out.extend_from_slice(bytes);
    out.push(b'"');
}

fn hexadecimal(style: Style, bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let quoted = style == Style::Json || style == Style::Csv && bytes.is_empty();
    if quoted {
        out.push(b'"');
    }
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
    if quoted {
        out.push(b'"');
    }
}

/// The digits of 00 to 99.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut value = 0_u8;
    while value < 100 {
        pairs[value as usize] = [b'0' + value / 10, b'0' + value % 10];
        value += 1;
    }
    pairs
};

/// Appends an integer, two digits at a time from the last.
#[inline]
fn decimal(mut value: u64, out: &mut Vec<u8>) {
    let mut digits = [b'0'; 20];
    let mut start = digits.len();
    while value >= 10 {
        start -= 2;
        digits[start..start + 2].copy_from_slice(&PAIRS[usize::try_from(value % 100).unwrap_or(0)]);
        value /= 100;
    }
    if value > 0 || start == digits.len() {
        start -= 1;
        digits[start] = PAIRS[usize::try_from(value).unwrap_or(0)][1];
    }
    out.extend_from_slice(&digits[start..]);
}
