//! Rows of text formats on their way into chunks: keys, row numbers, carried columns, sizes and bad rows.

use std::num::NonZero;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::StringBuilder;
use arrow_schema::{DataType, Field};

use super::chunk::{KeyChunk, Rows};
use super::fault::{Fault, stopping};
use super::key_sink::KeySink;
use super::options::{BadRows, ReadOptions};
use super::position::Position;
use super::report::RowReport;
use crate::error::{Place, Result};
use crate::keys::KeyType;

/// The most text a chunk is let have, whatever was asked for: offsets are 31 bits, and one long row may come on top.
const MOST_TEXT: usize = 1 << 30;

/// Collects rows until a chunk is full.
#[derive(Debug)]
pub(super) struct RowSink {
    first: KeySink,
    second: Option<KeySink>,
    kept: Vec<StringBuilder>,
    sizes: Option<Vec<u64>>,
    /// Bytes of carried text in this chunk.
    kept_bytes: usize,
    rows: Rows,
    /// The first row of this chunk, and the row that comes next.
    start: u64,
    next: u64,
    chunk_rows: u64,
    /// One past the last row that this chunk may hold.
    limit: u64,
    part_rows: Option<NonZero<u64>>,
    chunk_bytes: usize,
    /// Rows of the inputs before this one.
    rows_before: u64,
    bad_rows: BadRows,
    looks: bool,
    report: RowReport,
}

/// A value that made its row bad: its column, its text, and why.
pub(super) type Found<'a> = (Option<&'a str>, Option<&'a [u8]>, Fault);

impl RowSink {
    /// A sink for rows from `at` on, with `kept` carried columns, and sizes or not.
    pub(super) fn new(options: &ReadOptions, at: &Position, kept: usize, sizes: bool) -> Self {
        let kind = options.key_type.unwrap_or(KeyType::Text);
        Self {
            first: KeySink::new(kind, options.max_key),
            second: options
                .second_key_type
                .filter(|second| *second != kind)
                .map(|second| KeySink::new(second, options.max_key)),
            kept: (0..kept).map(|_| StringBuilder::new()).collect(),
            sizes: sizes.then(Vec::new),
            kept_bytes: 0,
            rows: Rows::From(at.row),
            start: at.row,
            next: at.row,
            chunk_rows: options.chunk_rows.max(1) as u64,
            limit: limit(at.row, options.chunk_rows.max(1) as u64, options.part_rows),
            part_rows: options.part_rows,
            rows_before: at.row - at.input_row,
            chunk_bytes: options.chunk_bytes.clamp(1, MOST_TEXT),
            bad_rows: options.bad_rows,
            looks: kind == KeyType::Text,
            report: RowReport::default(),
        }
    }

    pub(super) fn key_type(&self) -> KeyType {
        self.first.kind()
    }

    pub(super) fn report(&self) -> &RowReport {
        &self.report
    }

    pub(super) fn report_mut(&mut self) -> &mut RowReport {
        &mut self.report
    }

    /// Whether the chunk should be taken before more rows come.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        let second = self.second.as_ref().map_or(0, KeySink::bytes);
        let text = self.first.bytes().max(second) + self.kept_bytes;
        self.next >= self.limit || text >= self.chunk_bytes
    }

    /// Takes in a row that has a key and nothing else; `line` is where it is, and `is_utf8` says that the text is known
    /// to be UTF-8.
    #[inline]
    pub(super) fn push_key(&mut self, text: &[u8], is_utf8: bool, line: u64) -> Result<()> {
        match self.key(text, is_utf8) {
            Ok(()) => {
                self.good_row(text);
                Ok(())
            }
            Err(fault) => self.bad_row(line, (None, Some(text), fault)),
        }
    }

    /// Takes in a row with a key, a size if the sink has sizes, and carried values; `line` finds out where it is.
    pub(super) fn push_row<'a>(
        &mut self,
        line: impl Fn() -> u64,
        key: (&'a str, &'a [u8]),
        size: Option<(&'a str, &'a [u8])>,
        kept: impl Iterator<Item = (&'a str, &'a [u8])> + Clone,
    ) -> Result<()> {
        let size = match size.map(|(name, text)| parse_size(text).ok_or((name, text))).transpose() {
            Ok(size) => size,
            Err((name, text)) => return self.bad_row(line(), (Some(name), Some(text), Fault::NotSize)),
        };
        for (name, value) in kept.clone() {
            if std::str::from_utf8(value).is_err() {
                return self.bad_row(line(), (Some(name), Some(value), Fault::KeptNotUtf8));
            }
        }
        if let Err(fault) = self.key(key.1, false) {
            return self.bad_row(line(), (Some(key.0), Some(key.1), fault));
        }
        if let (Some(sizes), Some(size)) = (&mut self.sizes, size) {
            sizes.push(size);
        }
        for ((_, value), builder) in kept.zip(&mut self.kept) {
            // Checked above; the lossy form of valid text is the text itself.
            builder.append_value(String::from_utf8_lossy(value));
            self.kept_bytes += value.len();
        }
        self.good_row(key.1);
        Ok(())
    }

    /// Takes in a row that cannot be used.
    #[cold]
    pub(super) fn bad_row(&mut self, line: u64, (column, value, fault): Found<'_>) -> Result<()> {
        let describe = || fault.at(Place::Line(line), column, value);
        self.report.bad_row(describe);
        if self.bad_rows == BadRows::Stop {
            return Err(stopping(describe()));
        }
        // Up to the first bad row among keys, row numbers are implied.
        match &self.rows {
            Rows::From(_) if self.first.len() == 0 => self.rows = Rows::From(self.next + 1),
            Rows::From(first) => self.rows = Rows::Listed((*first..self.next).collect()),
            Rows::Listed(_) => {}
        }
        self.next += 1;
        Ok(())
    }

    /// The chunk of the rows since the last one, if there are any; behind it are `byte` bytes and `line` line ends.
    pub(super) fn take(&mut self, byte: u64, line: u64) -> Result<Option<KeyChunk>> {
        if self.next == self.start {
            return Ok(None);
        }
        let first = self.first.take()?;
        let second = self.second.as_mut().map(KeySink::take).transpose()?;
        self.start = self.next;
        self.limit = limit(self.next, self.chunk_rows, self.part_rows);
        self.kept_bytes = 0;
        self.report.rows += first.len() as u64;
        Ok(Some(KeyChunk {
            first,
            second,
            finished: Vec::new(),
            rows: std::mem::replace(&mut self.rows, Rows::From(self.next)),
            end: Position {
                row: self.next,
                input_row: self.next - self.rows_before,
                byte,
                line,
                ..Position::default()
            },
            kept: self.kept.iter_mut().map(|builder| Arc::new(builder.finish()) as ArrayRef).collect(),
            sizes: self.sizes.as_mut().map(|sizes| std::mem::take(sizes).into()),
        }))
    }

    /// Appends a key to every column of keys, or to none.
    #[inline]
    fn key(&mut self, text: &[u8], is_utf8: bool) -> Result<(), Fault> {
        self.first.push(text, is_utf8)?;
        if let Some(second) = &mut self.second
            && let Err(fault) = second.push(text, is_utf8)
        {
            self.first.pop();
            return Err(fault);
        }
        Ok(())
    }

    #[inline]
    fn good_row(&mut self, key: &[u8]) {
        if let Rows::Listed(rows) = &mut self.rows {
            rows.push(self.next);
        }
        self.next += 1;
        if self.looks {
            self.report.look(key);
            self.looks = !self.report.has_looked();
        }
    }
}

/// One past the last row of a chunk that starts with row `start`.
fn limit(start: u64, chunk_rows: u64, part_rows: Option<NonZero<u64>>) -> u64 {
    let part_end = part_rows.map_or(u64::MAX, |part| (start - start % part.get()).saturating_add(part.get()));
    start.saturating_add(chunk_rows).min(part_end)
}

/// The size that `text` is: decimal digits only, without a sign.
fn parse_size(text: &[u8]) -> Option<u64> {
    if !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The column of keys of a type, as it appears in outputs.
pub(super) fn key_field(kind: KeyType) -> Field {
    let data_type = match kind {
        KeyType::Text => DataType::Utf8,
        KeyType::Bytes => DataType::Binary,
        KeyType::U64 => DataType::UInt64,
        KeyType::I64 => DataType::Int64,
        KeyType::U32 => DataType::UInt32,
        KeyType::I32 => DataType::Int32,
        KeyType::Uuid => return uuid_field("key", false),
    };
    Field::new("key", data_type, false)
}

/// A column of UUIDs, marked so that writers know them from other 16 bytes.
pub(super) fn uuid_field(name: &str, nullable: bool) -> Field {
    let mark = (EXTENSION.to_owned(), UUID_EXTENSION.to_owned());
    Field::new(name, DataType::FixedSizeBinary(16), nullable).with_metadata([mark].into())
}

/// Whether a column is marked as UUIDs.
pub(super) fn is_uuid(field: &Field) -> bool {
    field.data_type() == &DataType::FixedSizeBinary(16)
        && field.metadata().get(EXTENSION).is_some_and(|name| name == UUID_EXTENSION)
}

/// Where Arrow keeps the name of an extension type, and its name for UUIDs.
const EXTENSION: &str = "ARROW:extension:name";
const UUID_EXTENSION: &str = "arrow.uuid";
