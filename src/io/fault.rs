//! Why a row is bad, as small data that becomes words only for the rows that are shown.

use std::borrow::Cow;

use crate::error::{BadRow, Place, shown};
use crate::keys::KeyType;

/// Why a row is bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Text that is not UTF-8.
    NotUtf8,
    /// Carried text that is not UTF-8.
    KeptNotUtf8,
    /// Nothing where a key of this type should be.
    EmptyKey(KeyType),
    /// Not the decimal digits of an integer of this type.
    NotInteger(KeyType),
    /// An integer outside this type.
    OutOfRange(KeyType),
    /// A digit that is missing at the end of hexadecimal digits.
    OddHex,
    /// Not hexadecimal digits.
    NotHex,
    /// Not a UUID.
    NotUuid,
    /// More than the cluster takes; the end of the sentence.
    TooLarge(&'static str),
    /// A null key.
    NullKey,
    /// Not a size.
    NotSize,
    /// A null size.
    NullSize,
    /// A row of a width of its own.
    Fields {
        /// The fields it has.
        found: usize,
        /// The fields it should have.
        expected: usize,
    },
    /// A quoted field without an end.
    QuoteUnclosed,
    /// A quoted field that goes on behind its closing quote.
    TextBehindQuote,
}

impl Fault {
    /// The end of a sentence that begins with the value, or the whole sentence where there is no value.
    fn reason(self) -> Cow<'static, str> {
        match self {
            Self::NotUtf8 => {
                "is not valid UTF-8: use --key-type bytes with hexadecimal digits, or clean the file".into()
            }
            Self::KeptNotUtf8 => "is not valid UTF-8: clean the file, or do not keep this column".into(),
            Self::EmptyKey(kind) => format!("is not {}: it is empty (give {})", label(kind), example(kind)).into(),
            Self::NotInteger(kind) => {
                let sign = if matches!(kind, KeyType::I64 | KeyType::I32) { "a minus and " } else { "" };
                format!("is not {}: it is written with {sign}decimal digits only, as {}", label(kind), example(kind))
                    .into()
            }
            Self::OutOfRange(kind) => format!("is not {}: it is outside {}", label(kind), range(kind)).into(),
            Self::OddHex => "is not a bytes key: two hexadecimal digits make a byte, and one digit is left over".into(),
            Self::NotHex => "is not a bytes key: it is written with hexadecimal digits only, as 00ff7a".into(),
            Self::NotUuid => "is not a uuid key: it is written with 32 hexadecimal digits, hyphenated as \
                 6f1ed002-ab5d-4b0a-8c70-2c5a0a6a3a52 or not at all"
                .into(),
            Self::TooLarge(reason) => reason.into(),
            Self::NullKey => "the key is null".into(),
            Self::NotSize => "is not a size: give a whole number of bytes from 0 to 18446744073709551615".into(),
            Self::NullSize => "the size is null".into(),
            Self::Fields { found, expected } => {
                let plural = if found == 1 { "" } else { "s" };
                format!(
                    "the row has {found} field{plural}, and the first has {expected}: check its separators and quotes"
                )
                .into()
            }
            Self::QuoteUnclosed => {
                "the quote that opens on this line is never closed: close it, or complete the file if its end is missing"
                    .into()
            }
            Self::TextBehindQuote => "text follows a closing quote: end the field at the quote, or double a quote that \
                 belongs to the text"
                .into(),
        }
    }

    /// The bad row that has this fault.
    pub(super) fn at(self, place: Place, column: Option<&str>, value: Option<&[u8]>) -> BadRow {
        BadRow { place, column: column.map(str::to_owned), value: value.map(shown), reason: self.reason().into_owned() }
    }
}

/// A bad row that ends the run, with the way to go on.
pub(super) fn stopping(mut row: BadRow) -> crate::error::Error {
    row.reason.push_str("; --bad-rows skip passes over such rows");
    crate::error::ErrorKind::BadRow(row).into()
}

/// A key of this type, with its article.
fn label(kind: KeyType) -> &'static str {
    match kind {
        KeyType::Text => "a text key",
        KeyType::Bytes => "a bytes key",
        KeyType::U64 => "a u64 key",
        KeyType::I64 => "an i64 key",
        KeyType::U32 => "a u32 key",
        KeyType::I32 => "an i32 key",
        KeyType::Uuid => "a uuid key",
    }
}

fn example(kind: KeyType) -> &'static str {
    match kind {
        KeyType::Text => "some text",
        KeyType::Bytes => "00ff7a",
        KeyType::U64 | KeyType::U32 => "42",
        KeyType::I64 | KeyType::I32 => "-42",
        KeyType::Uuid => "6f1ed002-ab5d-4b0a-8c70-2c5a0a6a3a52",
    }
}

fn range(kind: KeyType) -> String {
    match kind {
        KeyType::I64 => format!("{} to {}", i64::MIN, i64::MAX),
        KeyType::U32 => format!("0 to {}", u32::MAX),
        KeyType::I32 => format!("{} to {}", i32::MIN, i32::MAX),
        _ => format!("0 to {}", u64::MAX),
    }
}
