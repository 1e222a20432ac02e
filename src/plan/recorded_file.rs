//! Files of a plan directory, with the length and the checksum that the manifest keeps of them.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A file of a plan directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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

impl FileRecord {
    /// What is wrong with the file under `folder`: it is missing, or its bytes are others. Nothing if it is as recorded.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn fault(&self, folder: &Path) -> Result<Option<String>> {
        let path = folder.join(&self.path);
        match check_regular(folder, &self.path) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => return Ok(Some(error.to_string())),
            Err(error) if is_missing(&error) => return Ok(Some("is missing".to_owned())),
            _ => {}
        }
        let failed = |error| Error::io("read", &path, error);
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if is_missing(&error) => return Ok(Some("is missing".to_owned())),
            Err(error) => return Err(failed(error)),
        };
        let bytes = file.metadata().map_err(failed)?.len();
        if bytes != self.bytes {
            return Ok(Some(format!("has {bytes} bytes instead of {}", self.bytes)));
        }
        let (mut checksum, mut block) = (crc32fast::Hasher::new(), vec![0; 1 << 18]);
        loop {
            match file.read(&mut block) {
                Ok(0) => break,
                Ok(count) => checksum.update(&block[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
        }
        let found = hexadecimal(checksum.finalize());
        Ok((found != self.crc32)
            .then(|| format!("has the checksum {found} instead of {}: its bytes changed", self.crc32)))
    }
}

/// Fails if `path` inside a plan directory is no regular file of it (kind `Unsupported`): what a link leads to may be
/// anybody's, and a pipe or a device can keep a reader waiting for ever.
pub(super) fn check_regular(folder: &Path, path: &str) -> io::Result<()> {
    let refused = |what| Err(io::Error::new(io::ErrorKind::Unsupported, what));
    let mut inner = folder.to_path_buf();
    for component in Path::new(path).components() {
        if !matches!(component, Component::Normal(_)) {
            return refused("is outside the plan directory");
        }
        inner.push(component);
        if fs::symlink_metadata(&inner)?.is_symlink() {
            return refused("is behind a symbolic link, which is not followed");
        }
    }
    if fs::symlink_metadata(&inner)?.is_file() { Ok(()) } else { refused("is no regular file") }
}

/// Whether a file is not there, be it that its folder is none.
pub(super) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A checksum as 8 hexadecimal digits.
pub(super) fn hexadecimal(checksum: u32) -> String {
    format!("{checksum:08x}")
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

    /// Ends the file, which is still to be put on the disk.
    pub(super) fn finish(self, folder: &Path, path: String, rows: Option<u64>) -> Result<(FileRecord, File)> {
        let failed = |error| Error::io("write", folder.join(&path), error);
        let file = self.file.into_inner().map_err(|error| failed(error.into_error()))?;
        Ok((FileRecord { rows, bytes: self.bytes, crc32: hexadecimal(self.checksum.finalize()), path }, file))
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
