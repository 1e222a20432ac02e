//! Files that appear whole or not at all: written under another name beside their place, then renamed.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{Builder, NamedTempFile};

use crate::error::{Error, Result};

/// Bytes gathered before the system is called.
const BUFFER: usize = 256 << 10;

/// The temporary files of this process that are neither committed nor removed.
static PARTIAL: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A list of paths is whole after every single step, so a panic elsewhere does not spoil it.
fn partial() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    PARTIAL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files of every [`AtomicFile`] that is not committed: for a handler of Ctrl-C, which ends the
/// process without dropping anything. Files that cannot be removed stay.
pub fn remove_partial_files() {
    for path in std::mem::take(&mut *partial()) {
        // Nobody is left to tell.
        let _ = fs::remove_file(path);
    }
}

/// An entry in the list of temporary files.
#[derive(Debug)]
struct Listed(PathBuf);

impl Listed {
    fn new(path: &Path) -> Self {
        partial().insert(path.to_path_buf());
        Self(path.to_path_buf())
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        partial().remove(&self.0);
    }
}

/// A file that takes its place only when it is [committed](Self::commit).
///
/// It is written to `.NAME.XXXXXX.partial` beside its place. Dropping it without a commit removes that file.
#[derive(Debug)]
pub struct AtomicFile {
    writer: BufWriter<NamedTempFile>,
    /// After the writer, which removes the file when it is dropped.
    listed: Listed,
    /// Where the file goes, with symbolic links followed, and the name errors give it.
    place: PathBuf,
    name: PathBuf,
    overwrite: bool,
}

impl AtomicFile {
    /// Starts a file that is to be at `target`.
    ///
    /// # Errors
    /// If `target` exists and is not to be overwritten, or is no regular file, or if its directory does not exist or
    /// cannot be written to.
    pub fn create(target: &Path, overwrite: bool) -> Result<Self> {
        let mut place = target.to_path_buf();
        let mut permissions = None;
        match fs::metadata(target) {
            Ok(metadata) if metadata.is_dir() => {
                return Err(Error::invalid("this is a directory", "give the name of a file in it").in_file(target));
            }
            Ok(metadata) if !metadata.is_file() => {
                return Err(Error::invalid(
                    "this is no regular file, and a finished file cannot take its place",
                    "write to standard output and redirect it",
                )
                .in_file(target));
            }
            Ok(_) if !overwrite => return Err(exists(target)),
            Ok(metadata) => {
                // Replace what a link leads to, not the link, and keep who may read it.
                place = fs::canonicalize(target).map_err(|error| Error::io("create", target, error))?;
                permissions = Some(metadata.permissions());
            }
            Err(_) if !overwrite && fs::symlink_metadata(target).is_ok() => return Err(exists(target)),
            Err(_) => {}
        }
        let Some(file_name) = place.file_name() else {
            return Err(Error::invalid("this is no name of a file", "give one").in_file(target));
        };
        let directory = directory_of(&place);
        if let Err(error) = fs::metadata(directory) {
            return Err(match error.kind() {
                io::ErrorKind::NotFound => {
                    Error::invalid(format!("the directory {} does not exist", directory.display()), "create it first")
                        .in_file(target)
                }
                _ => Error::io("create", target, error),
            });
        }
        let prefix = format!(".{}.", file_name.to_string_lossy());
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(".partial");
        open_to_umask(&mut builder);
        let file = builder.tempfile_in(directory).map_err(|error| Error::io("create", target, error))?;
        if let Some(permissions) = permissions {
            file.as_file().set_permissions(permissions).map_err(|error| Error::io("create", target, error))?;
        }
        let listed = Listed::new(file.path());
        Ok(Self {
            writer: BufWriter::with_capacity(BUFFER, file),
            listed,
            place,
            name: target.to_path_buf(),
            overwrite,
        })
    }

    /// Where the file will be.
    pub fn target(&self) -> &Path {
        &self.name
    }

    /// Puts the file in its place, once all of it is on the disk.
    ///
    /// # Errors
    /// If a write, the rename or a flush to the disk fails; nothing is then at the target that was not there before,
    /// unless only the last flush, that of the directory, failed.
    pub fn commit(self) -> Result<()> {
        let Self { writer, listed, place, name, overwrite } = self;
        let result = commit(writer, &place, &name, overwrite);
        // By now the file is renamed, or removed.
        drop(listed);
        result
    }
}

fn commit(writer: BufWriter<NamedTempFile>, place: &Path, name: &Path, overwrite: bool) -> Result<()> {
    let failed = |error: io::Error| Error::io("write", name, error);
    let file = writer.into_inner().map_err(|error| failed(error.into_error()))?;
    file.as_file().sync_all().map_err(failed)?;
    if overwrite {
        file.persist(place).map_err(|error| failed(error.error))?;
    } else {
        file.persist_noclobber(place).map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => exists(name),
            _ => failed(error.error),
        })?;
    }
    sync_directory(directory_of(place)).map_err(failed)
}

impl Write for AtomicFile {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.writer.write(buf)
    }

    fn write_all(&mut self, buf: &[u8]) -> io::Result<()> {
        self.writer.write_all(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

fn exists(target: &Path) -> Error {
    Error::invalid("already exists", "pass --force to replace it").in_file(target)
}

pub(crate) fn directory_of(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Lets the umask alone decide who may read the file, as for any other new file.
#[cfg(unix)]
fn open_to_umask(builder: &mut Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn open_to_umask(_builder: &mut Builder<'_, '_>) {}

/// Makes a rename last: on Unix, names are kept by the directory.
#[cfg(unix)]
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

#[cfg(not(unix))]
pub(crate) fn sync_directory(_directory: &Path) -> io::Result<()> {
    Ok(())
}

/// Where a result goes.
#[derive(Debug)]
pub enum Target {
    /// Standard output.
    Stdout,
    /// A file that appears when it is complete.
    File(AtomicFile),
}

impl Target {
    /// The name that errors give it.
    pub fn name(&self) -> PathBuf {
        match self {
            Self::Stdout => PathBuf::from("standard output"),
            Self::File(file) => file.target().to_path_buf(),
        }
    }

    /// Flushes standard output, or puts the file in its place.
    ///
    /// # Errors
    /// As [`AtomicFile::commit`], and if the reader of standard output went away.
    pub fn commit(self) -> Result<()> {
        match self {
            Self::Stdout => io::stdout().flush().map_err(|error| Error::io("write", "standard output", error)),
            Self::File(file) => file.commit(),
        }
    }
}

impl Write for Target {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout => io::stdout().write(buf),
            Self::File(file) => file.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout => io::stdout().flush(),
            Self::File(file) => file.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_listed_until_they_are_done() {
        let directory = tempfile::tempdir().unwrap();
        let listed = || partial().iter().filter(|path| path.starts_with(directory.path())).count();
        let first = AtomicFile::create(&directory.path().join("a"), false).unwrap();
        let second = AtomicFile::create(&directory.path().join("b"), false).unwrap();
        assert_eq!(listed(), 2);
        first.commit().unwrap();
        assert_eq!(listed(), 1);
        drop(second);
        assert_eq!(listed(), 0);
    }
}
