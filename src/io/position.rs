//! Places between two rows of the inputs, from which reading can go on, and what a finished input came to.

use std::fs::Metadata;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

/// A place between two rows of a list of inputs. Chunks tell where they end, and
/// [`open_at`](super::open_at) goes on from there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// Rows before it, those of the inputs before included.
    pub row: u64,
    /// Which input it is in, from 0.
    pub input: usize,
    /// Rows before it in that input.
    pub input_row: u64,
    /// How many of those could not be read as keys.
    pub bad_rows: u64,
    /// Text formats: bytes before it in that input, after decompression.
    pub byte: u64,
    /// Text formats: line ends before it in that input.
    pub line: u64,
}

/// What an input that was read to its end came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputFacts {
    /// Its name without the folder it was found through, or `-`.
    pub name: String,
    /// Its length, unless it was a stream.
    pub bytes: Option<u64>,
    /// CRC-32 (IEEE) of its Parquet footer, as 8 hexadecimal digits, if it has one.
    pub footer_crc32: Option<String>,
    /// Rows, bad ones included.
    pub rows: u64,
    /// Rows that were skipped because they are no keys.
    pub bad_rows: u64,
}

/// What tells, without reading it, that a file is still the same: its length, when it was last written, and where the
/// system says so, which file it is and when anything about it changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stamp {
    /// Its length.
    pub bytes: u64,
    /// When it was last written, in nanoseconds since 1970, if the system tells.
    pub written: Option<i128>,
    /// The file system's numbers for it: device, inode, and the time of the last change in nanoseconds.
    pub identity: Option<(u64, u64, i128)>,
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let written = metadata.modified().ok().map(|time| match time.duration_since(UNIX_EPOCH) {
            Ok(after) => i128::try_from(after.as_nanos()).unwrap_or(i128::MAX),
            Err(before) => -i128::try_from(before.duration().as_nanos()).unwrap_or(i128::MAX),
        });
        Self { bytes: metadata.len(), written, identity: identity(metadata) }
    }

    /// Whether the bytes are those of `other`, as far as length and time of writing tell.
    pub(super) fn same_bytes(&self, other: &Self) -> bool {
        (self.bytes, self.written) == (other.bytes, other.written)
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have no such numbers")]
fn identity(metadata: &Metadata) -> Option<(u64, u64, i128)> {
    use std::os::unix::fs::MetadataExt;
    let changed = i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec());
    Some((metadata.dev(), metadata.ino(), changed))
}

#[cfg(not(unix))]
fn identity(_metadata: &Metadata) -> Option<(u64, u64, i128)> {
    None
}
