//! The manifest of a plan directory: what it was made from, and every file in it.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::error::{Error, Result};

/// The version of the plan directory's layout.
pub(super) const FORMAT: u64 = 1;

/// The name under which the placement functions are frozen.
pub(super) const PLACEMENT_VERSION: &str = "v1";

/// What a plan was made from and consists of. Holds no time and no path of the machine, so that the same input gives
/// the same bytes.
#[derive(Debug, Serialize)]
pub(super) struct Manifest {
    pub format: u64,
    pub placement_version: &'static str,
    pub from: Value,
    pub to: Value,
    pub options: Value,
    pub inputs: Vec<InputRecord>,
    pub files: Vec<FileRecord>,
}

/// An input of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputRecord {
    /// The file's name without its folder, or `-`.
    pub name: String,
    /// Its length, unless it was a stream.
    pub bytes: Option<u64>,
    /// Rows, bad ones included.
    pub rows: u64,
    /// Rows that were skipped because they are no keys.
    pub bad_rows: u64,
}

/// A file of a plan directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileRecord {
    /// Its path inside the directory.
    pub path: String,
    /// Its data rows, if it has rows.
    pub rows: Option<u64>,
    /// Its length.
    pub bytes: u64,
    /// CRC-32 (IEEE) of its bytes, as 8 hexadecimal digits.
    pub crc32: String,
}

/// A file that is written once, front to back, and takes note of its length and checksum.
#[derive(Debug)]
pub(super) struct RecordedFile {
    file: BufWriter<File>,
    checksum: crc32fast::Hasher,
    bytes: u64,
}

impl RecordedFile {
    pub(super) fn create(path: &Path) -> Result<Self> {
        let file = File::create_new(path).map_err(|error| Error::io("create", path, error))?;
        Ok(Self { file: BufWriter::with_capacity(1 << 18, file), checksum: crc32fast::Hasher::new(), bytes: 0 })
    }

    /// Puts the file on the disk.
    pub(super) fn finish(self, folder: &Path, path: String, rows: Option<u64>) -> Result<FileRecord> {
        let failed = |error| Error::io("write", folder.join(&path), error);
        let file = self.file.into_inner().map_err(|error| failed(error.into_error()))?;
        file.sync_all().map_err(failed)?;
        Ok(FileRecord { rows, bytes: self.bytes, crc32: format!("{:08x}", self.checksum.finalize()), path })
    }
}

impl Write for RecordedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_all(bytes)?;
        self.checksum.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
