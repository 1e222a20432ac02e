//! What can go wrong, as data: every kind says what, where, why and what to do.

use std::fmt;
use std::path::{Path, PathBuf};

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of this crate: a [kind](ErrorKind), and the file it was met in where there is one.
#[derive(Debug)]
pub struct Error {
    inner: Box<Inner>,
}

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    file: Option<PathBuf>,
}

impl Error {
    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.inner.kind
    }

    /// The file in which it went wrong, if it was one.
    pub fn file(&self) -> Option<&Path> {
        self.inner.file.as_deref()
    }

    /// The same error, said to have been met in `file` (an inner file, if named, stays).
    #[must_use]
    pub fn in_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.inner.file.get_or_insert_with(|| file.into());
        self
    }

    /// A failed read or write, with what was being done.
    pub fn io(action: &'static str, file: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::from(ErrorKind::Io { action, source }).in_file(file)
    }

    /// A description that cannot be accepted: what is wrong and what to do about it.
    pub fn invalid(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::from(ErrorKind::Invalid { what: what.into(), hint: hint.into() })
    }

    /// Something that is not what its format or type says, in the words of the decoder.
    pub fn syntax(message: impl fmt::Display) -> Self {
        ErrorKind::Syntax { message: message.to_string() }.into()
    }

    /// Whether this is a reader that went away (`rehome locate .. | head`).
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self.kind(), ErrorKind::Io { source, .. } if source.kind() == std::io::ErrorKind::BrokenPipe)
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self { inner: Box::new(Inner { kind, file: None }) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file() {
            Some(file) => write!(f, "{}: {}", file.display(), self.inner.kind),
            None => self.inner.kind.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.inner.kind.source()
    }
}

/// The one of `all` that has this name; `what` is what they are.
pub(crate) fn by_name<T: Copy, const N: usize>(
    what: &str,
    all: [T; N],
    name_of: fn(T) -> &'static str,
    name: &str,
) -> Result<T> {
    all.into_iter().find(|one| name_of(*one) == name).ok_or_else(|| {
        Error::invalid(format!("unknown {what} {name:?}"), format!("use one of {}", all.map(name_of).join(", ")))
    })
}

/// The kinds of [`Error`]. New ones may be added.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Reading or writing failed.
    #[error("cannot {action}: {source}")]
    Io {
        /// What was being done, as a verb phrase: "open", "write".
        action: &'static str,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },

    /// A file is not what its format says.
    #[error("{message}")]
    Syntax {
        /// What the decoder said, with line and column where it knows them.
        message: String,
    },

    /// Something the user described cannot be accepted.
    #[error("{what}{}{hint}", if hint.is_empty() { "" } else { ": " })]
    Invalid {
        /// What is wrong, with the name or value it is about.
        what: String,
        /// What to do about it.
        hint: String,
    },

    /// A file of a later version of the format.
    #[error("version {found} is newer than this program, which reads version {known}: use a newer rehome")]
    NewerVersion {
        /// The version the file has.
        found: u64,
        /// The newest version this program knows.
        known: u64,
    },

    /// No node has this name.
    #[error("no node is named {name:?}{}", similar(suggestion.as_deref()))]
    UnknownNode {
        /// The name that was asked for.
        name: String,
        /// The closest name there is.
        suggestion: Option<String>,
    },

    /// Two nodes have one name, or two names have one hash.
    #[error("nodes {first:?} and {second:?} cannot be told apart: names (and their XXH3 hashes) must differ")]
    DuplicateNode {
        /// The name listed first.
        first: String,
        /// The name listed later.
        second: String,
    },

    /// Two nodes sit in one slot.
    #[error("slot {slot} has two nodes, {first:?} and {second:?}: give each node a slot of its own")]
    SlotTaken {
        /// The slot.
        slot: u64,
        /// The node listed first.
        first: String,
        /// The node listed later.
        second: String,
    },

    /// A slot number at or above the number of slots.
    #[error("node {name:?} is in slot {slot}, but there are {slots} slots (0 to {last}): change the slot, or scale the cluster", last = slots.saturating_sub(1))]
    SlotOutside {
        /// The node.
        name: String,
        /// Its slot.
        slot: u64,
        /// The number of slots.
        slots: u64,
    },

    /// A weight the algorithm cannot take.
    #[error("node {name:?} has weight {weight}: {reason}")]
    Weight {
        /// The node.
        name: String,
        /// Its weight.
        weight: f64,
        /// What the algorithm takes instead.
        reason: String,
    },

    /// So few slots are eligible that a search would take more than 2^20 steps on average.
    #[error(
        "too sparse to search: eligible weights sum to {sum} on {slots} slots, a mean search of {mean:.0} steps \
         (the limit is 1048576): shrink the cluster (`rehome cluster shrink`) or add nodes"
    )]
    TooSparse {
        /// Sum of the weights of the eligible nodes.
        sum: f64,
        /// Number of slots.
        slots: u64,
        /// The mean search length.
        mean: f64,
    },

    /// Replicas or bounds were asked of an algorithm that has no preference list.
    #[error("{algorithm} has no preference list, so it gives one node per key only: {} can", available.join(", "))]
    NoPreferenceList {
        /// The algorithm.
        algorithm: &'static str,
        /// The algorithms that have one.
        available: Vec<&'static str>,
    },

    /// A key that the cluster's hash or algorithm cannot take.
    #[error("key {index} of the batch ({key}) {reason}")]
    Key {
        /// Its position in the batch, from 0.
        index: u64,
        /// The key, shortened.
        key: String,
        /// Why it cannot be taken, and what to do.
        reason: &'static str,
    },

    /// A row of an input that is not what it should be.
    #[error("{0}")]
    BadRow(BadRow),

    /// Two arguments that do not fit each other, such as slices of different lengths.
    #[error("{what}: expected {expected}, found {found}")]
    Mismatch {
        /// What does not fit.
        what: &'static str,
        /// The number that would fit.
        expected: u64,
        /// The number that was given.
        found: u64,
    },
}

/// A row of an input that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRow {
    /// Line (text formats, from 1) or row (binary formats, from 0) of the file.
    pub place: Place,
    /// The column, where the format has columns.
    pub column: Option<String>,
    /// The value, shortened, if it can be shown.
    pub value: Option<String>,
    /// Why it is bad and what would be good.
    pub reason: String,
}

/// Where in a file a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of a text file, counted from 1.
    Line(u64),
    /// A row of a binary file, counted from 0.
    Row(u64),
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Line(line) => write!(f, "line {line}")?,
            Place::Row(row) => write!(f, "row {row}")?,
        }
        if let Some(column) = &self.column {
            write!(f, ", column {column:?}")?;
        }
        match &self.value {
            Some(value) => write!(f, ": {value} {}", self.reason),
            None => write!(f, ": {}", self.reason),
        }
    }
}

fn similar(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!(", did you mean {name:?}?"))
}

/// A value as it may stand in a message: quoted, without control characters, at most 40 characters.
pub fn shown(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

/// A name as it may stand in a table on a terminal: control characters are written out.
pub fn printable(name: &str) -> std::borrow::Cow<'_, str> {
    if !name.contains(char::is_control) {
        return name.into();
    }
    let written = |letter: char| if letter.is_control() { letter.escape_default().to_string() } else { letter.into() };
    name.chars().map(written).collect::<String>().into()
}
