//! The file formats by name and by file extension.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use super::compression::Compression;
use crate::error::{Error, Result, by_name};

/// A format that keys are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputFormat {
    /// One key a line.
    Lines,
    /// Separated fields, with quotes as in RFC 4180.
    Csv,
    /// An Apache Parquet file.
    Parquet,
    /// An Apache Arrow IPC file or stream.
    Arrow,
}

impl InputFormat {
    /// Every input format.
    pub const ALL: [Self; 4] = [Self::Lines, Self::Csv, Self::Parquet, Self::Arrow];

    /// Whether columns of this format have types of their own, so that nobody need say what the keys are.
    pub fn has_types(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow)
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Csv => "csv",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
        }
    }

    /// The format that the name of a file tells, if it tells one (a name without an extension tells lines).
    pub fn of_path(path: &Path) -> Option<Self> {
        match extension(path).as_deref() {
            None | Some("txt" | "lines" | "keys") => Some(Self::Lines),
            Some("csv" | "tsv") => Some(Self::Csv),
            Some("parquet" | "pq") => Some(Self::Parquet),
            Some("arrow" | "arrows" | "feather" | "ipc") => Some(Self::Arrow),
            Some(_) => None,
        }
    }
}

/// A format that results are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutputFormat {
    /// The values of one column, each on a line of its own, without quotes or a header.
    Lines,
    /// Comma-separated values with a header line.
    Csv,
    /// One JSON object a line.
    JsonLines,
    /// An Apache Parquet file.
    Parquet,
    /// An Apache Arrow IPC file, also known as Feather version 2.
    Arrow,
    /// An Apache Arrow IPC stream.
    ArrowStream,
}

impl OutputFormat {
    /// Every output format.
    pub const ALL: [Self; 6] = [Self::Lines, Self::Csv, Self::JsonLines, Self::Parquet, Self::Arrow, Self::ArrowStream];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Csv => "csv",
            Self::JsonLines => "jsonl",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::ArrowStream => "arrow-stream",
        }
    }

    /// Whether a file of this format is text, which is compressed as a whole.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Lines | Self::Csv | Self::JsonLines)
    }

    /// Whether this is one of Arrow's own formats.
    pub fn is_arrow(self) -> bool {
        matches!(self, Self::Arrow | Self::ArrowStream)
    }

    /// The format that the name of a file tells, if it tells one. An extension that tells a compression is looked
    /// through: `nodes.csv.gz` is CSV.
    pub fn of_path(path: &Path) -> Option<Self> {
        if Compression::of_path(path).is_some() {
            return Self::of_path(Path::new(path.file_stem()?));
        }
        match extension(path)?.as_str() {
            "txt" | "lines" | "keys" => Some(Self::Lines),
            "csv" => Some(Self::Csv),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            "parquet" | "pq" => Some(Self::Parquet),
            "arrow" | "feather" | "ipc" => Some(Self::Arrow),
            "arrows" => Some(Self::ArrowStream),
            _ => None,
        }
    }
}

impl fmt::Display for InputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for OutputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for InputFormat {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        by_name("input format", Self::ALL, Self::name, name)
    }
}

impl FromStr for OutputFormat {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        by_name("output format", Self::ALL, Self::name, name)
    }
}

/// The extension of a file name in lower case.
pub(super) fn extension(path: &Path) -> Option<String> {
    path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_unknown_ones_list_the_known() {
        for format in InputFormat::ALL {
            assert_eq!(format.to_string().parse::<InputFormat>().unwrap(), format);
        }
        for format in OutputFormat::ALL {
            assert_eq!(format.to_string().parse::<OutputFormat>().unwrap(), format);
        }
        let error = "xls".parse::<InputFormat>().unwrap_err().to_string();
        assert!(error.contains("lines, csv, parquet, arrow"), "{error}");
        assert!(
            "xls".parse::<OutputFormat>().unwrap_err().to_string().contains("csv, jsonl, parquet, arrow, arrow-stream")
        );
    }

    #[test]
    fn extensions_tell_formats() {
        let input = |name: &str| InputFormat::of_path(Path::new(name));
        assert_eq!(input("a.CSV"), Some(InputFormat::Csv));
        assert_eq!(input("a.tsv"), Some(InputFormat::Csv));
        assert_eq!(input("a.pq"), Some(InputFormat::Parquet));
        assert_eq!(input("a.feather"), Some(InputFormat::Arrow));
        assert_eq!(input("dir.d/keys"), Some(InputFormat::Lines));
        assert_eq!(input("a.keys"), Some(InputFormat::Lines));
        assert_eq!(input("a.dat"), None);
        let output = |name: &str| OutputFormat::of_path(Path::new(name));
        assert_eq!(output("x/a.ndjson"), Some(OutputFormat::JsonLines));
        assert_eq!(output("a.parquet"), Some(OutputFormat::Parquet));
        assert_eq!(output("a.txt"), Some(OutputFormat::Lines));
        for name in ["a.arrow", "a.feather", "a.ipc"] {
            assert_eq!(output(name), Some(OutputFormat::Arrow));
        }
        assert_eq!(output("a.arrows"), Some(OutputFormat::ArrowStream));
        assert_eq!(output("a.csv.gz"), Some(OutputFormat::Csv));
        assert_eq!(output("a.jsonl.zst"), Some(OutputFormat::JsonLines));
        assert_eq!(output("a.parquet.gz"), Some(OutputFormat::Parquet));
        for name in ["a", "a.gz", "csv.gz", ".csv.xz", "a.arrow.txt.xz"] {
            assert_eq!(output(name), None, "{name}");
        }
    }
}
