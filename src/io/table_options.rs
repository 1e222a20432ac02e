//! In what format and compression a table is written: what is asked for, and what its name tells.

use std::path::Path;

use super::arrow_writer::{NO_GZIP, ZSTD_INSTEAD};
use super::compression::Compression;
use super::format::OutputFormat;
use crate::error::{Error, Result};

/// How a [`TableWriter`](super::TableWriter) writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableOptions {
    /// The format.
    pub format: OutputFormat,
    /// The compression: around text, inside Parquet and Arrow.
    pub compression: Compression,
}

impl From<OutputFormat> for TableOptions {
    /// The format with its usual compression: zstd inside Parquet, none otherwise.
    fn from(format: OutputFormat) -> Self {
        let compression = if format == OutputFormat::Parquet { Compression::Zstd } else { Compression::None };
        Self { format, compression }
    }
}

impl TableOptions {
    /// The options for an output of this name, where `format` and `compression` are what was asked for. Either wins
    /// over the name, so `nodes.csv.gz` with [`Compression::None`] is plain text.
    ///
    /// ```
    /// use rehome::io::{Compression, OutputFormat, TableOptions};
    ///
    /// let options = TableOptions::of_path("nodes.jsonl.zst".as_ref(), None, None)?;
    /// assert_eq!(options, TableOptions { format: OutputFormat::JsonLines, compression: Compression::Zstd });
    /// # Ok::<(), rehome::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the name tells no format and none was asked for, if it says that a Parquet or Arrow file is compressed as a
    /// whole, or if the format cannot be compressed as asked.
    pub fn of_path(path: &Path, format: Option<OutputFormat>, compression: Option<Compression>) -> Result<Self> {
        let Some(format) = format.or_else(|| OutputFormat::of_path(path)) else {
            return Err(Error::invalid(
                "the name does not tell a format",
                "name it .csv, .jsonl (either with .gz or .zst), .parquet, .arrow or .arrows, or pass --output-format",
            )
            .in_file(path));
        };
        if let Some(around) = Compression::of_path(path).filter(|_| !format.is_text()) {
            let inside = if format.is_arrow() && around == Compression::Gzip { Compression::Zstd } else { around };
            return Err(Error::invalid(
                format!("{format} is compressed inside, not as a whole"),
                format!("leave .{} out of the name and pass --compression {inside}", extension_of(path)),
            )
            .in_file(path));
        }
        let told = || Compression::of_path(path).unwrap_or(Self::from(format).compression);
        let options = Self { format, compression: compression.unwrap_or_else(told) };
        options.check().map_err(|error| error.in_file(path))
    }

    /// The options for standard output, which has no name.
    ///
    /// # Errors
    /// If the format cannot be compressed as asked.
    pub fn of_stdout(format: OutputFormat, compression: Option<Compression>) -> Result<Self> {
        Self { format, compression: compression.unwrap_or(Self::from(format).compression) }.check()
    }

    fn check(self) -> Result<Self> {
        if self.format.is_arrow() && self.compression == Compression::Gzip {
            return Err(Error::invalid(NO_GZIP, ZSTD_INSTEAD));
        }
        Ok(self)
    }
}

fn extension_of(path: &Path) -> String {
    path.extension().map(|extension| extension.to_string_lossy().into_owned()).unwrap_or_default()
}
