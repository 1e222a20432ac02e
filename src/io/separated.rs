//! Keys of CSV files: one column, with others carried along.

use std::path::Path;

use arrow_schema::{DataType, Field};
use csv::ByteRecord;

use super::chunk::KeyChunk;
use super::columns::{Chosen, choose};
use super::errors::syntax;
use super::fault::{Fault, stopping};
use super::input::ChunkSource;
use super::metered::{LONGEST_ROW, Metered};
use super::options::{BadRows, ReadOptions};
use super::position::Position;
use super::quotes::BadQuote;
use super::report::RowReport;
use super::row_sink::{RowSink, key_field};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::keys::KeyType;

/// Bytes read at a time.
const BLOCK: usize = 256 << 10;

/// A CSV file.
pub(super) struct SeparatedReader {
    reader: csv::Reader<Metered>,
    /// The row that was read last.
    record: ByteRecord,
    /// Whether `record` is the first row of a file without a header, and is still to be taken in.
    pending: bool,
    names: Vec<String>,
    chosen: Chosen,
    sink: RowSink,
    /// Where `reader` began to read: bytes and line ends of the file before it.
    start: (u64, u64),
}

impl SeparatedReader {
    /// Reads the header, or the first row where there is none, and goes to `position`; `open` opens the file behind so
    /// many bytes. Where it `may_be_empty`, a file without a header has no rows.
    pub(super) fn new(
        mut open: impl FnMut(u64) -> Result<Metered>,
        options: &ReadOptions,
        position: &Position,
        delimiter: u8,
        name: &Path,
        may_be_empty: bool,
    ) -> Result<Self> {
        if matches!(delimiter, b'\n' | b'\r' | b'"') || !delimiter.is_ascii() {
            return Err(Error::invalid(
                format!("{:?} cannot separate fields", char::from(delimiter)),
                "use a comma, a tab, a semicolon or another ASCII character",
            ));
        }
        let table = |input: Metered| {
            let mut options = csv::ReaderBuilder::new();
            options.has_headers(false).flexible(true).delimiter(delimiter).buffer_capacity(BLOCK);
            options.from_reader(input.with_quotes(delimiter))
        };
        let mut reader = table(open(0)?);
        let mut record = ByteRecord::new();
        let found = read_row(&mut reader, &mut record, name)?;
        let bad_quote = bad_quote(&mut reader, &record);
        // The names of columns cannot be passed over; of rows, the first tells how many columns there are.
        if let Some((line, fault)) = bad_quote {
            let row = fault.at(Place::Line(line), None, None);
            if options.header {
                return Err(ErrorKind::BadRow(row).into());
            } else if options.bad_rows == BadRows::Stop {
                return Err(stopping(row));
            }
        }
        if !found && options.header && !may_be_empty {
            return Err(syntax("there is no header line: give a file that has one, or pass --no-header"));
        }
        let names: Vec<String> = if !found {
            options.keep.clone()
        } else if options.header {
            record.iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect()
        } else {
            (1..=record.len()).map(|number| number.to_string()).collect()
        };
        let chosen = if found {
            choose(&names, options)?
        } else {
            // No row tells how many columns there are, and none will need them.
            Chosen { key: 0, kept: (0..names.len()).collect(), size: None }
        };
        let mut sink = RowSink::new(options, position, chosen.kept.len(), chosen.size.is_some());
        sink.report_mut().empty = !found;
        let mut pending = found && !options.header && bad_quote.is_none();
        let start = (position.byte, position.line);
        if position.byte > 0 {
            (reader, pending) = (table(open(position.byte)?), false);
        } else if let Some((line, fault)) = bad_quote {
            sink.bad_row(line, (None, None, fault))?;
        }
        Ok(Self { reader, record, pending, names, chosen, sink, start })
    }

    /// The next row into `record`, if there is one.
    fn read(&mut self, name: &Path) -> Result<bool> {
        if std::mem::take(&mut self.pending) {
            return Ok(true);
        }
        read_row(&mut self.reader, &mut self.record, name)
    }

    fn take_in(&mut self) -> Result<()> {
        let Self { reader, record, names, chosen, sink, start, .. } = self;
        if let Some((line, fault)) = bad_quote(reader, record) {
            return sink.bad_row(start.1 + line, (None, None, fault));
        }
        let line = || start.1 + line(reader, record);
        if record.len() != names.len() {
            let fault = Fault::Fields { found: record.len(), expected: names.len() };
            return sink.bad_row(line(), (None, None, fault));
        }
        let field = |index: usize| (names[index].as_str(), record.get(index).unwrap_or_default());
        sink.push_row(line, field(chosen.key), chosen.size.map(field), chosen.kept.iter().map(|index| field(*index)))
    }
}

/// The line that `record`, the row read last, starts on. (The position that the library gives it is that of the end of
/// the row before, which is another line after CR LF and before blank lines.)
pub(super) fn line(reader: &csv::Reader<Metered>, record: &ByteRecord) -> u64 {
    let after = reader.position();
    let inside = record.as_slice().iter().filter(|byte| **byte == b'\n').count() as u64;
    let ended = reader.get_ref().byte_before(after.byte()) == Some(b'\n');
    after.line().saturating_sub(inside + u64::from(ended)).max(1)
}

impl ChunkSource for SeparatedReader {
    fn key_type(&self) -> KeyType {
        self.sink.key_type()
    }

    fn key_column(&self) -> Option<&str> {
        // A file without a row has no columns.
        if self.sink.report().empty { None } else { self.names.get(self.chosen.key).map(String::as_str) }
    }

    fn key_field(&self) -> Field {
        key_field(self.key_type())
    }

    fn kept_fields(&self) -> Vec<Field> {
        self.chosen.kept.iter().map(|index| Field::new(&self.names[*index], DataType::Utf8, false)).collect()
    }

    fn report(&self) -> &RowReport {
        self.sink.report()
    }

    fn next_chunk(&mut self, name: &Path) -> Result<Option<KeyChunk>> {
        while !self.sink.is_full() && self.read(name)? {
            self.take_in()?;
        }
        let at = self.reader.position();
        self.sink.take(self.start.0 + at.byte(), self.start.1 + at.line() - 1)
    }
}

/// Reads the next row into `record`, if there is one.
pub(super) fn read_row(reader: &mut csv::Reader<Metered>, record: &mut ByteRecord, name: &Path) -> Result<bool> {
    reader.get_mut().allow();
    let read = reader.read_byte_record(record);
    read.map_err(|error| match reader.get_ref().endless_quote() {
        Some(BadQuote::Unclosed { newlines }) => syntax(format!(
            "line {}: the quote that opens on this line is not closed within {} MiB: close it",
            reader.position().line().saturating_sub(newlines).max(1),
            LONGEST_ROW >> 20
        )),
        _ => reading(name, error),
    })
}

/// What is wrong with the quotes of `record`, the row read last, and the line to name for it.
#[inline]
pub(super) fn bad_quote(reader: &mut csv::Reader<Metered>, record: &ByteRecord) -> Option<(u64, Fault)> {
    let after = reader.position().byte();
    Some(match reader.get_mut().bad_quote(after)? {
        // Such a row ends with the file, and so do the lines that are counted.
        BadQuote::Unclosed { newlines } => {
            (reader.position().line().saturating_sub(newlines).max(1), Fault::QuoteUnclosed)
        }
        BadQuote::TextBehind => (line(reader, record), Fault::TextBehindQuote),
    })
}

/// A failed read, of the system or of the CSV reader.
fn reading(name: &Path, error: csv::Error) -> Error {
    let text = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(source) => super::errors::reading(name, source),
        _ => syntax(text),
    }
}
