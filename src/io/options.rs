//! Where keys come from and how they are read, as plain data.

use std::fmt;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use super::InputFormat;
use crate::keys::KeyType;

/// Where an input comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file, or whatever else has a path and can be read.
    Path(PathBuf),
}

impl Source {
    /// The source that an argument names: `-` is standard input.
    pub fn from_arg(arg: impl AsRef<Path>) -> Self {
        let path = arg.as_ref();
        if path == Path::new("-") { Self::Stdin } else { Self::Path(path.to_path_buf()) }
    }

    /// The name that errors give it.
    pub(super) fn name(&self) -> PathBuf {
        match self {
            Self::Stdin => PathBuf::from("standard input"),
            Self::Path(path) => path.clone(),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name().display().fmt(f)
    }
}

/// An input by where it is and by what plans call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Where it is.
    pub source: Source,
    /// Its name without the folder it was found through, or `-`.
    pub name: String,
}

impl From<Source> for Input {
    fn from(source: Source) -> Self {
        let name = match &source {
            Source::Stdin => "-".to_owned(),
            Source::Path(path) => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
        };
        Self { source, name }
    }
}

/// What an empty line of a file of lines is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Blank {
    /// Nothing: it is passed over and not counted.
    #[default]
    Skip,
    /// A row: the empty key for text, a bad row for other types.
    Keep,
}

/// What a row that cannot be read as a key does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BadRows {
    /// It ends the run with an error.
    #[default]
    Stop,
    /// It is counted, remembered if it is one of the first ten, and passed over.
    Skip,
}

/// How keys are read.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The format; by default what the name of the file tells, and then its first bytes.
    pub format: Option<InputFormat>,
    /// The column of the keys; by default the only one, or else the one named `key`. In Parquet and Arrow, here and in
    /// `keep` and `size_column`, `a.b` is field `b` of struct `a`, unless a column is named so.
    pub column: Option<String>,
    /// How keys are read; by default text for lines and CSV, and the column's own type for Parquet and
    /// Arrow.
    pub key_type: Option<KeyType>,
    /// Text formats only: how the second placement reads the same keys, where it reads them differently.
    pub second_key_type: Option<KeyType>,
    /// CSV: whether the first line names the columns. Without, they are called `1`, `2`, ...
    pub header: bool,
    /// CSV: what separates fields; by default a tab in a `.tsv` file and a comma elsewhere.
    pub delimiter: Option<u8>,
    /// What an empty line is.
    pub blank: Blank,
    /// What a bad row does.
    pub bad_rows: BadRows,
    /// Formats with columns: those that are carried along.
    pub keep: Vec<String>,
    /// Formats with columns: one of sizes in bytes.
    pub size_column: Option<String>,
    /// The largest integer key there may be (after widening to 64 bits), and what is said of a larger one: the end of
    /// a sentence that begins with the key.
    pub max_key: Option<(u64, &'static str)>,
    /// A chunk ends after this many rows ..
    pub chunk_rows: usize,
    /// .. or when its text (of keys and carried columns) has this many bytes, whichever comes first.
    pub chunk_bytes: usize,
    /// A chunk never holds rows of two parts of this many rows.
    pub part_rows: Option<NonZero<u64>>,
    /// Parquet: threads that decode row groups ahead; with 1, whoever reads decodes. Never changes what is read.
    pub threads: usize,
}

impl ReadOptions {
    /// The rows from `row` on that may still be in one chunk.
    pub(super) fn room(&self, row: u64) -> u64 {
        self.part_rows.map_or(u64::MAX, |part| part.get() - row % part.get())
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            column: None,
            key_type: None,
            second_key_type: None,
            header: true,
            delimiter: None,
            blank: Blank::Skip,
            bad_rows: BadRows::Stop,
            keep: Vec::new(),
            size_column: None,
            max_key: None,
            chunk_rows: 65_536,
            chunk_bytes: 8 << 20,
            part_rows: None,
            threads: 1,
        }
    }
}
