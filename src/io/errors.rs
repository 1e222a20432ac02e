//! Errors of the libraries beneath, as errors of ours that keep the kind of a failed read or write.

use std::cell::Cell;
use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;

use super::InputFormat;
use crate::error::{Error, ErrorKind};

/// The failed read or write at the root of an error, with its own kind, if that is what it comes from.
fn io_root(error: &(dyn StdError + 'static)) -> Option<io::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        let io = match error.downcast_ref::<ArrowError>() {
            Some(ArrowError::IoError(_, io)) => Some(io),
            _ => error.downcast_ref::<io::Error>(),
        };
        if let Some(io) = io {
            // A wrapper made by a library hides the system's own error one level down.
            if let Some(inner) = io.get_ref().and_then(|inner| io_root(inner)) {
                return Some(inner);
            }
            return Some(copy(io));
        }
        next = match error.downcast_ref::<ParquetError>() {
            Some(ParquetError::External(inner)) => Some(inner.as_ref()),
            _ => error.source(),
        };
    }
    None
}

/// The same error once more: `io::Error` cannot be cloned.
fn copy(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

/// A failed write: of the system where one is at the root, or else of the encoder.
pub(super) fn writing(name: &Path, error: &(dyn StdError + 'static)) -> Error {
    match io_root(error) {
        Some(source) => Error::io("write", name, source),
        None => Error::io("write", name, io::Error::other(error.to_string())),
    }
}

/// Data that a decompressor cannot make sense of, on its way through `io::Error`: what is wrong and what to do.
#[derive(Debug)]
pub(super) struct Damaged(pub(super) String);

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for Damaged {}

impl From<Damaged> for io::Error {
    fn from(damaged: Damaged) -> Self {
        Self::new(io::ErrorKind::InvalidData, damaged)
    }
}

/// A failed read of an input: of the system, or because what is read is damaged.
pub(super) fn reading(name: &Path, error: io::Error) -> Error {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Damaged>()) {
        Some(damaged) => syntax(damaged.to_string()).in_file(name),
        None => Error::io("read", name, error),
    }
}

/// A failed read of a file of `format`: of the system, or because the file is none. `place` says where, if it is known.
pub(super) fn unreadable(format: InputFormat, place: &str, error: &(dyn StdError + 'static)) -> Error {
    let name = match format {
        InputFormat::Arrow => "Arrow IPC",
        _ => "Parquet",
    };
    match io_root(error) {
        // Decoders make errors of reading too, without a number.
        Some(source) if source.raw_os_error().is_some() => ErrorKind::Io { action: "read", source }.into(),
        _ => {
            let colon = if place.is_empty() { "" } else { ": " };
            syntax(format!(
                "not a readable {name} file ({place}{colon}{error}): check that it is complete and is {name}"
            ))
        }
    }
}

/// Does a piece of reading a file of `format`. The libraries panic over some files whose parts contradict each other;
/// such a file is an error like any other, and its reader is not used again.
pub(super) fn guarded<T, E: StdError + 'static>(
    format: InputFormat,
    place: &str,
    work: impl FnOnce() -> Result<T, E>,
) -> crate::error::Result<T> {
    match unpanicked(work) {
        Some(result) => result.map_err(|error| unreadable(format, place, &error)),
        None => Err(contradictory(format, place)),
    }
}

/// What a piece of work gives, or nothing if it panics, which no hook reports then.
pub(super) fn unpanicked<T>(work: impl FnOnce() -> T) -> Option<T> {
    let outer = GUARDED.replace(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    outcome.ok()
}

/// A file whose parts contradict each other.
pub(super) fn contradictory(format: InputFormat, place: &str) -> Error {
    unreadable(format, place, &io::Error::other("its parts contradict each other"))
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread would be caught now and told as a damaged file, so that a hook may keep quiet.
pub fn catches_panics() -> bool {
    GUARDED.get()
}

/// A file is not what its format says.
pub(super) fn syntax(message: impl Into<String>) -> Error {
    Error::syntax(message.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_pipe_is_found_under_every_wrapper() {
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        let name = Path::new("out");
        assert!(writing(name, &broken()).is_broken_pipe());
        assert!(writing(name, &ParquetError::from(broken())).is_broken_pipe());
        assert!(writing(name, &ParquetError::from(ArrowError::from(broken()))).is_broken_pipe());
        assert!(writing(name, &ArrowError::from(broken())).is_broken_pipe());
        assert!(writing(name, &ArrowError::from_external_error(Box::new(broken()))).is_broken_pipe());
        assert!(writing(name, &io::Error::other(ParquetError::from(broken()))).is_broken_pipe());
        assert!(!writing(name, &ParquetError::General("no".into())).is_broken_pipe());
    }

    #[test]
    fn a_panic_of_a_library_is_an_error() {
        let result = guarded::<(), ParquetError>(InputFormat::Arrow, "batch 1", || panic!("on purpose"));
        assert!(result.unwrap_err().to_string().starts_with("not a readable Arrow IPC file (batch 1: "));
    }

    #[test]
    fn the_systems_words_are_kept() {
        let full = io::Error::from_raw_os_error(28);
        let text = writing(Path::new("out.csv"), &ParquetError::from(full)).to_string();
        assert!(text.starts_with("out.csv: cannot write: "), "{text}");
        assert!(text.contains("No space left") || text.contains("28"), "{text}");
    }
}
