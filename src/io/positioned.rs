//! A file that many readers share: each keeps its own place, so that none moves the others'.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

/// An open file of a known length, for readers in any thread.
#[derive(Clone, Debug)]
pub(super) struct SharedFile {
    file: Arc<File>,
    bytes: u64,
}

impl SharedFile {
    pub(super) fn new(file: File, bytes: u64) -> Self {
        Self { file: Arc::new(file), bytes }
    }

    /// Its length when it was opened.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// A reader of what follows `start`.
    pub(super) fn reader(&self, start: u64) -> FileBytes {
        FileBytes { file: Arc::clone(&self.file), at: start }
    }

    /// The `length` bytes behind `start`.
    ///
    /// # Errors
    /// If they are not in the file, or more than the memory holds: lengths come from files and may be anything.
    pub(super) fn read(&self, start: u64, length: u64) -> io::Result<Vec<u8>> {
        if start.checked_add(length).is_none_or(|end| end > self.bytes) {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("{length} bytes at {start} are outside the {} bytes of the file", self.bytes),
            ));
        }
        let mut bytes = reserve(length)?;
        self.reader(start).take(length).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

/// An empty vector with room for `length` bytes.
///
/// # Errors
/// If the memory does not hold them.
pub(super) fn reserve(length: u64) -> io::Result<Vec<u8>> {
    let refused =
        || io::Error::new(io::ErrorKind::OutOfMemory, format!("{length} bytes are more than the memory holds"));
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(length).map_err(|_| refused())?).map_err(|_| refused())?;
    Ok(bytes)
}

/// Reads a file from some place on.
#[derive(Debug)]
pub(super) struct FileBytes {
    file: Arc<File>,
    at: u64,
}

impl Read for FileBytes {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = read_at(&self.file, buf, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

#[cfg(unix)]
fn read_at(file: &File, buf: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buf, at)
}

/// Other systems move the place that all handles of a file share, so only one reads at a time.
#[cfg(not(unix))]
fn read_at(mut file: &File, buf: &mut [u8], at: u64) -> io::Result<usize> {
    use std::io::{Seek, SeekFrom};
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    file.seek(SeekFrom::Start(at))?;
    file.read(buf)
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<FileBytes>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(BufReader::new(self.reader(start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        Ok(self.read(start, length as u64)?.into())
    }
}
