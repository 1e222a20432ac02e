//! Keys of files of lines: a decoder that takes bytes in any pieces, and the reader that feeds it.

use std::io::Read;
use std::path::Path;

use arrow_schema::Field;
use memchr::{memchr, memrchr};

use super::chunk::KeyChunk;
use super::errors::{reading, syntax};
use super::fault::Fault;
use super::input::ChunkSource;
use super::metered::{LONGEST_ROW, Metered};
use super::options::{Blank, ReadOptions};
use super::position::Position;
use super::report::RowReport;
use super::row_sink::{RowSink, key_field};
use crate::error::{Error, Result};
use crate::keys::KeyType;

/// UTF-8's byte order mark, which some editors put before the first line.
const MARK: &[u8] = b"\xef\xbb\xbf";
/// Bytes read at a time: within the second-level cache.
const BLOCK: usize = 256 << 10;
/// Bytes of lines looked at at a time: a chunk that becomes full does not cost more than this.
const WINDOW: usize = 16 << 10;

/// Turns the bytes of a file of lines into chunks of keys; how the bytes are cut into blocks makes no difference.
///
/// A line ends with LF or CR LF; the last one need not end. A byte order mark before the first line is no part of it.
///
/// ```
/// use rehome::io::{LineDecoder, ReadOptions};
///
/// let mut decoder = LineDecoder::new(&ReadOptions::default());
/// assert_eq!(decoder.decode(b"one\ntwo\nthr")?, 11);
/// assert_eq!(decoder.decode(b"ee")?, 2);
/// decoder.end()?;
/// assert_eq!(decoder.take_chunk()?.map(|chunk| chunk.len()), Some(3));
/// # Ok::<(), rehome::Error>(())
/// ```
#[derive(Debug)]
pub struct LineDecoder {
    sink: RowSink,
    blank: Blank,
    /// The start of a line whose end is yet to come.
    carry: Vec<u8>,
    /// Lines that are done, and their bytes.
    lines: u64,
    bytes: u64,
}

impl LineDecoder {
    /// A decoder at the start of a file. Options about columns are not looked at.
    pub fn new(options: &ReadOptions) -> Self {
        Self::at(options, &Position::default())
    }

    /// A decoder of what follows `position` in a file.
    pub(super) fn at(options: &ReadOptions, position: &Position) -> Self {
        Self {
            sink: RowSink::new(options, position, 0, false),
            blank: options.blank,
            carry: Vec::new(),
            lines: position.line,
            bytes: position.byte,
        }
    }

    /// How keys are read.
    pub fn key_type(&self) -> KeyType {
        self.sink.key_type()
    }

    /// What decoding came to so far.
    pub fn report(&self) -> &RowReport {
        self.sink.report()
    }

    /// Whether a chunk is complete and must be taken before more bytes are.
    pub fn is_full(&self) -> bool {
        self.sink.is_full()
    }

    /// Takes bytes in and says how many: fewer than all only when a chunk became full.
    ///
    /// # Errors
    /// At a bad row, unless such rows are passed over; at a line above 64 MiB.
    pub fn decode(&mut self, block: &[u8]) -> Result<usize> {
        let mut at = 0;
        if !self.carry.is_empty() && !self.is_full() {
            let Some(end) = memchr(b'\n', block) else {
                self.keep(block)?;
                return Ok(block.len());
            };
            self.keep(&block[..end])?;
            // The line is moved out and back, to keep its memory.
            let mut line = std::mem::take(&mut self.carry);
            let taken = self.line(&line, true, false);
            line.clear();
            self.carry = line;
            taken?;
            at = end + 1;
        }
        while !self.is_full()
            && let Some(window) = whole_lines(&block[at..])
        {
            // Text is checked by the window, which is much faster than line by line; where that fails, line by line.
            let is_utf8 = self.key_type() == KeyType::Text && std::str::from_utf8(window).is_ok();
            let mut rest = window;
            while !self.is_full()
                && let Some(length) = memchr(b'\n', rest)
            {
                self.line(&rest[..length], true, is_utf8)?;
                rest = &rest[length + 1..];
            }
            at += window.len() - rest.len();
        }
        if !self.is_full() {
            self.keep(&block[at..])?;
            at = block.len();
        }
        Ok(at)
    }

    /// Says that no more bytes come, which ends a last line without a newline. While a chunk is full it waits: take the
    /// chunk and say it again.
    ///
    /// # Errors
    /// If that line is a bad row that ends the run.
    pub fn end(&mut self) -> Result<()> {
        if self.carry.is_empty() || self.is_full() {
            return Ok(());
        }
        let line = std::mem::take(&mut self.carry);
        if self.lines == 0 && line == MARK {
            return Ok(());
        }
        self.line(&line, false, false)
    }

    /// The chunk of the rows decoded since the last one, if there are any.
    ///
    /// # Errors
    /// If the keys do not fit an Arrow array, which the limits on chunks rule out.
    pub fn take_chunk(&mut self) -> Result<Option<KeyChunk>> {
        self.sink.take(self.bytes, self.lines)
    }

    fn keep(&mut self, start: &[u8]) -> Result<()> {
        if self.carry.len() + start.len() > LONGEST_ROW {
            return Err(syntax(format!(
                "line {} is longer than {} MiB: is this a file of lines?",
                self.lines + 1,
                LONGEST_ROW >> 20
            )));
        }
        self.carry.extend_from_slice(start);
        Ok(())
    }

    /// Takes in a line without its LF; `ended` says that it had one, and `is_utf8` that it is known to be UTF-8.
    #[inline]
    fn line(&mut self, line: &[u8], ended: bool, is_utf8: bool) -> Result<()> {
        let mut key = line;
        if ended && let [rest @ .., b'\r'] = key {
            key = rest;
        }
        if self.lines == 0 {
            key = key.strip_prefix(MARK).unwrap_or(key);
        }
        self.lines += 1;
        self.bytes += line.len() as u64 + u64::from(ended);
        if key.is_empty() {
            return self.blank_line();
        }
        self.sink.push_key(key, is_utf8, self.lines)
    }

    #[cold]
    fn blank_line(&mut self) -> Result<()> {
        match self.blank {
            Blank::Skip => Ok(()),
            Blank::Keep if self.key_type() == KeyType::Text => self.sink.push_key(b"", true, self.lines),
            Blank::Keep => self.sink.bad_row(self.lines, (None, Some(b""), Fault::EmptyKey(self.key_type()))),
        }
    }
}

/// Some whole lines from the start of `block`, about [`WINDOW`] bytes of them; nothing if no line ends in it.
fn whole_lines(block: &[u8]) -> Option<&[u8]> {
    let last = match memrchr(b'\n', &block[..block.len().min(WINDOW)]) {
        Some(last) => last,
        None => memchr(b'\n', block)?,
    };
    Some(&block[..=last])
}

/// A file of lines.
pub(super) struct LineReader {
    input: Metered,
    decoder: LineDecoder,
    block: Vec<u8>,
    /// The part of `block` that is read and not decoded.
    ready: std::ops::Range<usize>,
    at_end: bool,
}

impl LineReader {
    /// Reads `input`, which is what follows `position` in a file.
    pub(super) fn new(input: Metered, options: &ReadOptions, position: &Position) -> Result<Self> {
        if options.column.is_some() || !options.keep.is_empty() || options.size_column.is_some() {
            return Err(Error::invalid(
                "a file of lines has no columns, so --column, --keep and --size-column have nothing to name",
                "pass --input-format csv if this is a CSV file",
            ));
        }
        Ok(Self {
            input,
            decoder: LineDecoder::at(options, position),
            block: vec![0; BLOCK],
            ready: 0..0,
            at_end: false,
        })
    }
}

impl ChunkSource for LineReader {
    fn key_type(&self) -> KeyType {
        self.decoder.key_type()
    }

    fn key_field(&self) -> Field {
        key_field(self.key_type())
    }

    fn kept_fields(&self) -> Vec<Field> {
        Vec::new()
    }

    fn report(&self) -> &RowReport {
        self.decoder.report()
    }

    fn next_chunk(&mut self, name: &Path) -> Result<Option<KeyChunk>> {
        while !self.decoder.is_full() {
            if self.ready.is_empty() && !self.at_end {
                let count = read_some(&mut self.input, &mut self.block).map_err(|error| reading(name, error))?;
                self.ready = 0..count;
                self.at_end = count == 0;
            }
            if self.at_end {
                self.decoder.end()?;
                break;
            }
            self.ready.start += self.decoder.decode(&self.block[self.ready.clone()])?;
        }
        if self.at_end && self.input.is_untouched() {
            self.decoder.sink.report_mut().empty = true;
        }
        self.decoder.take_chunk()
    }
}

/// Reads at least a byte, unless there is none; a read that a signal interrupted is tried again.
fn read_some(input: &mut impl Read, block: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match input.read(block) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
