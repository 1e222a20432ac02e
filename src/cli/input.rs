//! Options that say which keys to read and how, and the checks that a cluster asks of them.

use std::num::NonZero;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use rehome::algorithm::KeyRule;
use rehome::hash::{KeyHash, RAW32_RANGE};
use rehome::io::{
    BadRows, Blank, InputFormat, KeyChunk, KeyReader, Position, ReadOptions, Source, detect, find_inputs, open_at,
};
use rehome::plan::Manifest;
use rehome::{Cluster, Error, KeyType, Result};

use super::failure::Failure;
use super::message;
use super::progress::Progress;

/// Which keys to read, and how.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// The key files (lines of text, CSV, Parquet or Arrow; gzip and zstd are unpacked), directories of such files,
    /// patterns such as 'part-*.parquet', or - for standard input; several are read in the order given
    #[arg(value_name = "KEYS", required = true)]
    pub inputs: Vec<PathBuf>,
    /// The format of the key files: lines, csv, parquet or arrow (default: by their names, then by their content)
    #[arg(long, value_name = "FORMAT", value_parser = clap::value_parser!(InputFormat))]
    pub input_format: Option<InputFormat>,
    /// The column that holds the keys (default: the only one, or the one named key; without a header, its number; in
    /// Parquet and Arrow, a.b is field b of struct a)
    #[arg(long, value_name = "COL")]
    pub column: Option<String>,
    /// What the keys are: text, bytes (hexadecimal), u64, i64, u32, i32 or uuid (default: what the cluster file says,
    /// else text; Parquet and Arrow columns know their type)
    #[arg(long, value_name = "TYPE", value_parser = clap::value_parser!(KeyType))]
    pub key_type: Option<KeyType>,
    /// A column of sizes in bytes, to be summed up per node
    #[arg(long, value_name = "COL")]
    pub size_column: Option<String>,
    /// The CSV file has no header line; its columns are called 1, 2, ..
    #[arg(long)]
    pub no_header: bool,
    /// What separates CSV fields (default: a comma; a tab in .tsv files)
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// What a blank line of a file of lines is: nothing, or the empty key
    #[arg(long, value_enum, default_value_t = BlankArg::Skip)]
    pub blank: BlankArg,
    /// What a row that is no key does: stop the run, or be skipped and counted (exit code 3)
    #[arg(long, value_enum, default_value_t = BadRowsArg::Stop)]
    pub bad_rows: BadRowsArg,
    /// Rows that go through the stages at once; never changes a result
    #[arg(long, value_name = "N", hide = true, default_value_t = CHUNK_ROWS, value_parser = clap::value_parser!(u32).range(1..))]
    pub chunk_rows: u32,
}

/// How the keys of one run are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// Whether the two clusters of a plan may read keys differently.
    pub allow_rehash: bool,
    /// Plans: chunks are cut at the ends of parts of so many rows.
    pub part_rows: Option<NonZero<u64>>,
    /// Where reading begins.
    pub position: Position,
    /// Threads that decode, where the format allows it.
    pub threads: usize,
}

/// Rows that go through the stages at once.
const CHUNK_ROWS: u32 = 65_536;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BlankArg {
    Skip,
    Keep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BadRowsArg {
    Stop,
    Skip,
}

fn delimiter(text: &str) -> std::result::Result<u8, String> {
    match text {
        "\\t" | "tab" => Ok(b'\t'),
        _ => match text.as_bytes() {
            [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n') => Ok(*byte),
            _ => Err("a delimiter is one ASCII character other than a quote or a newline, or tab".to_owned()),
        },
    }
}

/// Keys on their way in, with what must be said of them.
pub(crate) struct Input {
    pub reader: KeyReader,
    /// How the second cluster reads keys, if that is another way.
    pub second_key_type: Option<KeyType>,
    /// Whether nobody said that the keys are text.
    guessed_text: bool,
    name: String,
}

impl InputArgs {
    /// The options that a plan was made with, for other `inputs`, and whether its clusters may hash differently.
    pub(crate) fn of_manifest(manifest: &Manifest, inputs: Vec<PathBuf>) -> Result<(Self, bool), Failure> {
        let text = |name: &str| manifest.option(name).and_then(serde_json::Value::as_str);
        let flag = |name: &str| manifest.option(name).and_then(serde_json::Value::as_bool).unwrap_or(false);
        let damaged = |error: rehome::Error| Error::syntax(format!("the options in its manifest: {error}"));
        let separator = text("delimiter").map(|text| delimiter(text).map_err(|error| damaged(Error::syntax(error))));
        let args = Self {
            inputs,
            input_format: text("input_format").map(|name| name.parse().map_err(damaged)).transpose()?,
            column: text("column").map(str::to_owned),
            key_type: text("key_type").map(|name| name.parse().map_err(damaged)).transpose()?,
            size_column: text("size_column").map(str::to_owned),
            no_header: !flag("header"),
            delimiter: separator.transpose()?,
            blank: if text("blank") == Some("keep") { BlankArg::Keep } else { BlankArg::Skip },
            bad_rows: if text("bad_rows") == Some("skip") { BadRowsArg::Skip } else { BadRowsArg::Stop },
            chunk_rows: CHUNK_ROWS,
        };
        Ok((args, flag("allow_rehash")))
    }

    /// The options that decide what the rows of a plan are, for its manifest.
    pub(crate) fn recorded(&self, input: &Input, reading: &Reading, summary_only: bool) -> serde_json::Value {
        let second = input.second_key_type.unwrap_or(input.reader.key_type());
        serde_json::json!({
            "input_format": input.reader.format().name(),
            "key_type": self.key_type.map(KeyType::name),
            "keys_read_as": [input.reader.key_type().name(), second.name()],
            "column": self.column,
            "size_column": self.size_column,
            "header": !self.no_header,
            "delimiter": self.delimiter.map(|byte| char::from(byte).to_string()),
            "blank": if self.blank == BlankArg::Keep { "keep" } else { "skip" },
            "bad_rows": if self.bad_rows == BadRowsArg::Skip { "skip" } else { "stop" },
            "allow_rehash": reading.allow_rehash,
            "summary_only": summary_only,
            "part_rows": reading.part_rows,
        })
    }

    /// Opens the keys for one or two clusters, which must agree with the options on what keys are; `inputs` are those
    /// that the arguments [name](Self::resolve).
    pub(crate) fn open(
        &self,
        inputs: Vec<rehome::io::Input>,
        clusters: &[&Cluster],
        keep: &[String],
        reading: &Reading,
    ) -> Result<Input, Failure> {
        let mut key_types = Vec::new();
        for cluster in clusters {
            if let Some((flag, file)) = self.key_type.zip(cluster.key()).filter(|(flag, file)| flag != file) {
                return Err(Failure::usage(format!(
                    "--key-type says {flag}, but the cluster file says {file}: leave the option out, or correct the file"
                )));
            }
            key_types.push(self.key_type.or(cluster.key()));
        }
        let (first, second) = self.key_types(&inputs[0].source, &key_types, reading.allow_rehash)?;
        let options = ReadOptions {
            format: self.input_format,
            column: self.column.clone(),
            key_type: first,
            second_key_type: second,
            header: !self.no_header,
            delimiter: self.delimiter,
            blank: if self.blank == BlankArg::Keep { Blank::Keep } else { Blank::Skip },
            bad_rows: if self.bad_rows == BadRowsArg::Skip { BadRows::Skip } else { BadRows::Stop },
            keep: keep.to_vec(),
            size_column: self.size_column.clone(),
            max_key: clusters
                .iter()
                .any(|cluster| cluster.algorithm().keys == KeyRule::Raw32)
                .then_some((u64::from(u32::MAX), RAW32_RANGE)),
            chunk_rows: self.chunk_rows as usize,
            part_rows: reading.part_rows,
            threads: reading.threads,
            ..ReadOptions::default()
        };
        let reader = open_at(inputs, options, reading.position.clone())?;
        for (side, cluster) in clusters.iter().enumerate() {
            let key_type = if side == 1 { second } else { None }.unwrap_or(reader.key_type());
            if let Some(who) = needs_integers(cluster).filter(|_| !key_type.is_integer()) {
                let what = format!("{who} takes integer keys, but these are {key_type}");
                let hint = "pass --key-type u64 (or u32, i64, i32) if they are numbers, or use another cluster";
                return Err(rehome::Error::invalid(what, hint).in_file(self.label()).into());
            }
        }
        let guessed_text = first.is_none() && reader.key_type() == KeyType::Text && !reader.format().has_types();
        let name = self.label().display().to_string();
        Ok(Input { reader, second_key_type: second, guessed_text, name })
    }

    /// The inputs that the arguments name.
    pub(crate) fn resolve(&self) -> Result<Vec<rehome::io::Input>> {
        find_inputs(&self.inputs)
    }

    /// What messages about all inputs together call them.
    pub(crate) fn label(&self) -> PathBuf {
        match &self.inputs[..] {
            [one] => Source::from_arg(one).to_string().into(),
            [first, rest @ ..] => format!("{} and {} more", Source::from_arg(first), rest.len()).into(),
            [] => PathBuf::new(),
        }
    }

    /// Fails if one of the inputs is the file that `output` is to replace.
    pub(crate) fn refuse_output(inputs: &[rehome::io::Input], cluster: &Path, output: &Path) -> Result<(), Failure> {
        let inputs = inputs.iter().filter_map(|input| match &input.source {
            Source::Path(path) => Some(path.as_path()),
            Source::Stdin => None,
        });
        match inputs.chain([cluster]).find(|path| is_same_file(path, output)) {
            Some(path) => Err(Failure::usage(format!(
                "{} is read and is to be written too: give the output another name",
                path.display()
            ))),
            None => Ok(()),
        }
    }

    /// Refuses an output inside a directory of inputs, where the next run would read it.
    pub(crate) fn refuse_inside(&self, output: &Path) -> Result<(), Failure> {
        let parent = output.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        let Ok(parent) = parent.canonicalize() else { return Ok(()) };
        let holds =
            |input: &&PathBuf| input.is_dir() && input.canonicalize().is_ok_and(|input| parent.starts_with(input));
        match self.inputs.iter().find(holds) {
            Some(input) => Err(Failure::usage(format!(
                "{} would be inside {}, whose files are the keys: give the output another place",
                output.display(),
                input.display()
            ))),
            None => Ok(()),
        }
    }

    /// How keys are read, and how the second side reads them if that is another way. A side that says nothing reads
    /// lines and CSV as text, and a Parquet or Arrow column as what it is.
    fn key_types(
        &self,
        source: &Source,
        sides: &[Option<KeyType>],
        allow_rehash: bool,
    ) -> Result<(Option<KeyType>, Option<KeyType>), Failure> {
        let said: Vec<KeyType> = sides.iter().copied().flatten().collect();
        let Some(first) = said.first().copied() else { return Ok((None, None)) };
        if detect(source, self.input_format).has_types() {
            // Integers are widened alike under every integer type.
            return match said.iter().find(|other| **other != first && !(other.is_integer() && first.is_integer())) {
                Some(other) => Err(Failure::usage(format!(
                    "the cluster files say that keys are {first} and {other}, but a column with a type is one of them: \
                     correct the files"
                ))),
                None => Ok((Some(first), None)),
            };
        }
        let read: Vec<KeyType> = sides.iter().map(|side| side.unwrap_or(KeyType::Text)).collect();
        if read.iter().all(|other| *other == first) {
            return Ok((Some(first), None));
        }
        if said.len() < sides.len() && !allow_rehash {
            return Err(Failure::usage(format!(
                "one cluster file says that keys are {first}, and the other says nothing and would read them as text, so \
                 nearly every key would move: add `key = \"{first}\"` to it, pass --key-type {first}, or --allow-rehash if \
                 that is what you want"
            )));
        }
        Ok((read.first().copied(), read.get(1).copied()))
    }
}

/// Who in this cluster takes integers only.
fn needs_integers(cluster: &Cluster) -> Option<&'static str> {
    if cluster.algorithm().keys == KeyRule::Raw32 {
        Some(cluster.algorithm().name)
    } else {
        (cluster.hash() == KeyHash::Identity).then_some("the identity hash")
    }
}

impl Input {
    /// The chunks, for a stream: moves the bar, and warns as soon as the keys look like something else.
    pub(crate) fn chunks<'a>(
        &'a mut self,
        progress: &'a Progress,
        quiet: bool,
    ) -> impl Iterator<Item = Result<KeyChunk>> + Send + 'a {
        let mut unwarned = self.guessed_text && !quiet;
        let name = &self.name;
        let reader = &mut self.reader;
        std::iter::from_fn(move || {
            let next = reader.next_chunk().transpose();
            progress.tick();
            if unwarned && (next.is_none() || reader.report().rows >= 10_000) {
                unwarned = false;
                if reader.report().integer_like {
                    progress.suspend(|| {
                        message::warn(&format!(
                            "{name}: the keys look like integers but are hashed as text; pass --key-type u64 if they are \
                             integers, or --key-type text to say that they are text"
                        ));
                    });
                }
            }
            next
        })
    }

    /// Says what was skipped, and that nothing came. Returns how many rows were skipped.
    pub(crate) fn end(&self, quiet: bool) -> u64 {
        self.end_resumed(0, 0, quiet)
    }

    /// The same, where an earlier run has read so many rows, and skipped so many of them.
    pub(crate) fn end_resumed(&self, rows_before: u64, bad_before: u64, quiet: bool) -> u64 {
        let mut report = self.reader.report();
        report.bad += bad_before;
        if report.rows + report.bad + rows_before == 0 && !quiet {
            let what = if report.empty { "the input is empty" } else { "there is no key in it" };
            message::warn(&format!("{}: {what}: 0 keys", self.name));
        }
        if report.bad > 0 {
            let rows = if report.bad == 1 { "row was" } else { "rows were" };
            message::warn(&format!("{}: {} {rows} skipped", self.name, report.bad));
            for (name, bad) in self.reader.first_bad() {
                message::note(&format!("{}: {bad}", name.display()));
            }
            if report.bad > report.first_bad.len() as u64 {
                message::note(&format!("and {} more", report.bad - report.first_bad.len() as u64));
            }
        }
        report.bad
    }
}

/// Whether two paths lead to the same file.
fn is_same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |path: &Path| path.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()));
        identity(one).is_some_and(|file| identity(other) == Some(file))
    }
    #[cfg(not(unix))]
    one.canonicalize().ok().is_some_and(|file| other.canonicalize().ok() == Some(file))
}

/// Warns where a placement leaves keys without a node.
pub(crate) fn warn_unplaced(cluster: &Cluster, name: &str, unplaced: u64, quiet: bool) {
    if unplaced == 0 || quiet {
        return;
    }
    if cluster.nodes().iter().any(|node| node.is_eligible()) {
        message::warn(&format!("{unplaced} keys have no node: {} gave up on them ({name})", cluster.algorithm().name));
    } else {
        message::warn(&format!("{unplaced} keys have no node: no node of {name} is up with a weight above 0"));
    }
}

/// Ends the run at an error of the output while standard input may keep the reader waiting for ever: the reader cannot
/// be called back. Other inputs end by themselves.
pub(crate) fn leave_if_waiting(input: &InputArgs, error: rehome::Error) -> rehome::Error {
    if input.inputs.iter().all(|arg| arg.as_os_str() != "-") {
        return error;
    }
    rehome::io::remove_partial_files();
    if error.is_broken_pipe() {
        std::process::exit(0);
    }
    message::error(&error);
    std::process::exit(1);
}
