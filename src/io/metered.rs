//! A reader that counts what passes through it, for progress bars, line numbers and limits.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::quotes::{BadQuote, Quotes};

/// The longest row of a text format: a file that is no text must not fill the memory in search of a newline.
pub(super) const LONGEST_ROW: usize = 64 << 20;

/// The bytes of UTF-8's byte order mark and one more.
const MARK_AND_MORE: usize = 4;

/// How many bytes of an input have been consumed; clones watch the same input, from any thread.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    consumed: Arc<AtomicU64>,
    /// Bytes of the inputs before the one that this handle counts.
    before: u64,
}

impl Progress {
    /// Bytes consumed so far, compressed as they are. For Parquet an estimate: the file's size in proportion to the rows
    /// read.
    pub fn bytes(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    /// A handle for the input behind so many bytes.
    pub(super) fn behind(&self, before: u64) -> Self {
        let next = Self { consumed: Arc::clone(&self.consumed), before };
        next.set(0);
        next
    }

    pub(super) fn set(&self, bytes: u64) {
        self.consumed.store(self.before + bytes, Ordering::Relaxed);
    }
}

/// What [`Metered`] reads from.
pub(super) type Bytes = Box<dyn Read + Send>;

/// A reader that says how much of a file is consumed, of which it reads what follows some place.
pub(super) struct Counted<R> {
    inner: R,
    progress: Progress,
    at: u64,
}

impl<R> Counted<R> {
    pub(super) fn new(inner: R, progress: Progress, at: u64) -> Self {
        Self { inner, progress, at }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buf)?;
        self.at += count as u64;
        self.progress.set(self.at);
        Ok(count)
    }
}

/// A reader that counts, refuses rows that never end, remembers its last block and follows its quotes.
pub(super) struct Metered {
    inner: Bytes,
    /// Bytes read so far, and how many may be read before the next [`allow`](Self::allow).
    read: u64,
    allowed: u64,
    /// The last block, if it is to be remembered.
    last: Option<Vec<u8>>,
    /// The quotes of a CSV file.
    quotes: Option<Quotes>,
}

impl Metered {
    /// Only counts.
    pub(super) fn new(inner: Bytes) -> Self {
        Self { inner, read: 0, allowed: u64::MAX, last: None, quotes: None }
    }

    /// Also remembers the last block, for [`byte_before`](Self::byte_before), and keeps to what is allowed.
    pub(super) fn with_memory(inner: Bytes) -> Self {
        Self { last: Some(Vec::new()), allowed: LONGEST_ROW as u64, ..Self::new(inner) }
    }

    /// Also follows the quotes of a CSV file whose fields this byte separates.
    pub(super) fn with_quotes(self, delimiter: u8) -> Self {
        Self { quotes: Some(Quotes::new(delimiter)), ..self }
    }

    /// What is wrong with the quotes before `end`, the end of a row; asked once a row.
    #[inline]
    pub(super) fn bad_quote(&mut self, end: u64) -> Option<BadQuote> {
        self.quotes.as_mut()?.fault_before(end)
    }

    /// The quoted field that is open in a row for which more was asked than is allowed.
    pub(super) fn endless_quote(&self) -> Option<BadQuote> {
        self.quotes.as_ref().filter(|_| self.read > self.allowed)?.unclosed()
    }

    /// Allows one more row of [`LONGEST_ROW`] bytes from here on.
    pub(super) fn allow(&mut self) {
        self.allowed = self.read + LONGEST_ROW as u64;
    }

    /// Whether nothing has been read.
    pub(super) fn is_untouched(&self) -> bool {
        self.read == 0
    }

    /// The byte before `position`, if it is in the last block.
    pub(super) fn byte_before(&self, position: u64) -> Option<u8> {
        let last = self.last.as_ref()?;
        let back = usize::try_from(self.read.checked_sub(position)?).ok()?;
        last.len().checked_sub(back + 1).and_then(|index| last.get(index)).copied()
    }
}

impl Read for Metered {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.read > self.allowed {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("a row is longer than {} MiB: is this a CSV file?", LONGEST_ROW >> 20),
            ));
        }
        let mut count = self.inner.read(buf)?;
        // The CSV library knows a byte order mark only in one piece, and takes a block of nothing else for the end.
        while self.quotes.is_some() && self.read == 0 && (1..MARK_AND_MORE).contains(&count) && count < buf.len() {
            match self.inner.read(&mut buf[count..]) {
                Ok(0) => break,
                Ok(more) => count += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.read += count as u64;
        if let Some(quotes) = &mut self.quotes {
            quotes.follow(&buf[..count]);
        }
        if count > 0
            && let Some(last) = &mut self.last
        {
            last.clear();
            last.extend_from_slice(&buf[..count]);
        }
        Ok(count)
    }
}
