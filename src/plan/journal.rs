//! The journal of an unfinished plan: a header that says what it is made from, then a line per finished part. A line
//! counts only if its checksum fits and its part is on the disk as it says, so it matters neither at which moment a run
//! was killed nor in which order the system wrote its files.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::compare::{cluster_differences, input_differences, option_differences};
use super::manifest::{FORMAT, PLACEMENT_VERSION};
use super::part::Part;
use super::recorded_file::{FileRecord, hexadecimal};
use super::sums::Sums;
use crate::cluster::Cluster;
use crate::error::{Error, Result};
use crate::io::{Input, InputFacts, Position, Stamp};

/// Its name in the folder of an unfinished plan.
pub(super) const JOURNAL: &str = "journal.jsonl";

/// What an unfinished plan is made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    format: u64,
    placement_version: String,
    from: Value,
    to: Value,
    options: Value,
    inputs: Vec<StampedInput>,
}

/// An input as it was when the plan was begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StampedInput {
    name: String,
    stamp: Option<Stamp>,
}

impl StampedInput {
    fn of(input: &Input) -> Result<Self> {
        Ok(Self { name: input.name.clone(), stamp: Stamp::of_source(&input.source)? })
    }

    /// The same of each of these.
    pub(super) fn of_all(inputs: &[Input]) -> Result<Vec<Self>> {
        inputs.iter().map(Self::of).collect()
    }

    /// Whether it cannot be read again.
    pub(super) fn is_stream(&self) -> bool {
        self.stamp.is_none()
    }

    fn name_and_length(&self) -> (&str, Option<u64>) {
        (&self.name, self.stamp.as_ref().map(|stamp| stamp.bytes))
    }
}

/// A finished part of an unfinished plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub part: Part,
    /// Its file, if the plan has moves.
    pub file: Option<FileRecord>,
    pub sums: Sums,
    /// Where the next part begins.
    pub end: Position,
    /// Inputs that ended since the part before.
    pub inputs: Vec<InputFacts>,
}

impl Header {
    pub(super) fn new(from: &Cluster, to: &Cluster, options: Value, inputs: Vec<StampedInput>) -> Self {
        Self {
            format: FORMAT,
            placement_version: PLACEMENT_VERSION.to_owned(),
            from: from.to_json(),
            to: to.to_json(),
            options,
            inputs,
        }
    }

    /// What differs from these clusters and inputs, and whether the inputs are surely the same: their time stamps too.
    pub(super) fn differences(&self, from: &Cluster, to: &Cluster, now: &[StampedInput]) -> (Vec<String>, bool) {
        let mut texts = cluster_differences("from", &self.from, from);
        texts.extend(cluster_differences("to", &self.to, to));
        let made_with = self.inputs.iter().map(StampedInput::name_and_length);
        texts.extend(input_differences(made_with, now.iter().map(StampedInput::name_and_length)));
        (texts, self.inputs == now)
    }

    pub(super) fn option_differences(&self, options: &Value) -> Vec<String> {
        option_differences(&self.options, options)
    }

    /// Whether the plan reads a stream, which cannot be read again.
    pub(super) fn reads_a_stream(&self) -> bool {
        self.inputs.iter().any(StampedInput::is_stream)
    }
}

/// A journal that was read: the header, and the entries up to the first that cannot be trusted.
#[derive(Debug)]
pub(super) struct Journal {
    pub header: Header,
    pub entries: Vec<Entry>,
    /// Its bytes up to the end of the last entry.
    length: u64,
    path: PathBuf,
}

impl Journal {
    /// Reads the journal in the folder of an unfinished plan; nothing if there is none, or one without a whole header.
    ///
    /// # Errors
    /// If reading it or a part fails.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(JOURNAL);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", &path, error)),
        };
        let mut lines = text.split_inclusive(|byte| *byte == b'\n');
        let Some((header, mut length)) = lines.next().and_then(|line| Some((unseal::<Header>(line)?, line.len())))
        else {
            return Ok(None);
        };
        if header.format != FORMAT || header.placement_version != PLACEMENT_VERSION {
            let what = "is an unfinished plan of another version of rehome";
            return Err(Error::invalid(what, "finish it with that one, or pass --force to start anew").in_file(folder));
        }
        let mut entries: Vec<Entry> = Vec::new();
        for line in lines {
            let Some(entry) = unseal::<Entry>(line) else { break };
            let next = entries.last().map_or(0, |last| last.end.row);
            if entry.part.first_row != next || next.checked_add(entry.part.rows) != Some(entry.end.row) {
                break;
            }
            if let Some(file) = &entry.file
                && file.fault(folder)?.is_some()
            {
                break;
            }
            entries.push(entry);
            length += line.len();
        }
        Ok(Some(Self { header, entries, length: length as u64, path }))
    }

    /// Goes on behind the last entry.
    pub(super) fn go_on(&self) -> Result<JournalWriter> {
        let failed = |error| Error::io("write", &self.path, error);
        let file = OpenOptions::new().append(true).open(&self.path).map_err(failed)?;
        file.set_len(self.length).map_err(failed)?;
        Ok(JournalWriter { file, path: self.path.clone() })
    }
}

/// Writes a journal.
#[derive(Debug)]
pub(super) struct JournalWriter {
    file: File,
    path: PathBuf,
}

impl JournalWriter {
    pub(super) fn create(folder: &Path, header: &Header) -> Result<Self> {
        let path = folder.join(JOURNAL);
        let file = File::create_new(&path).map_err(|error| Error::io("create", &path, error))?;
        let mut journal = Self { file, path };
        journal.append(header)?;
        Ok(journal)
    }

    pub(super) fn push(&mut self, entry: &Entry) -> Result<()> {
        self.append(entry)
    }

    fn append(&mut self, line: &impl Serialize) -> Result<()> {
        let line = seal(line)?;
        self.file.write_all(&line).map_err(|error| Error::io("write", &self.path, error))
    }

    /// The file and its path, for whoever puts it on the disk.
    pub(super) fn file(&self) -> Result<(File, PathBuf)> {
        let file = self.file.try_clone().map_err(|error| Error::io("write", &self.path, error))?;
        Ok((file, self.path.clone()))
    }

    /// Takes the journal away, when nothing is left to go on with.
    pub(super) fn remove(self) -> Result<()> {
        fs::remove_file(&self.path).map_err(|error| Error::io("remove", &self.path, error))
    }
}

/// A value as a line with its checksum before it.
fn seal(value: &impl Serialize) -> Result<Vec<u8>> {
    let text = serde_json::to_string(value).map_err(Error::syntax)?;
    Ok(format!("{} {text}\n", hexadecimal(crc32fast::hash(text.as_bytes()))).into_bytes())
}

/// The value of a line that is whole.
fn unseal<T: for<'a> Deserialize<'a>>(line: &[u8]) -> Option<T> {
    let (checksum, text) = line.strip_suffix(b"\n")?.split_at_checked(9)?;
    let expected = format!("{} ", hexadecimal(crc32fast::hash(text)));
    (checksum == expected.as_bytes()).then(|| serde_json::from_slice(text).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_counts_only_if_it_is_whole() {
        let line = seal(&Position { row: 7, ..Position::default() }).unwrap();
        assert_eq!(unseal::<Position>(&line).unwrap().row, 7);
        for end in 0..line.len() {
            assert!(unseal::<Position>(&line[..end]).is_none(), "{end}");
        }
        for at in 0..line.len() - 1 {
            let mut damaged = line.clone();
            damaged[at] ^= 1;
            assert!(unseal::<Position>(&damaged).is_none(), "{at}");
        }
    }
}
