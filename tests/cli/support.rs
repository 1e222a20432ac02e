//! Running the binary in a directory of its own, and looking at what it left there.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_cast::display::array_value_to_string;
use arrow_schema::Schema;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// The built binary.
pub(crate) const REHOME: &str = env!("CARGO_BIN_EXE_rehome");

/// A directory that one test has for itself, removed at its end.
pub(crate) struct Dir(tempfile::TempDir);

impl Dir {
    pub(crate) fn new() -> Self {
        Self(tempfile::Builder::new().prefix("rehome-cli-").tempdir().expect("a temporary directory"))
    }

    /// A directory with `c10.toml` (node-0 to node-9 on 16 slots), `c11.toml` (node-10 added) and `keys.txt`.
    pub(crate) fn with_clusters(keys: usize) -> Self {
        let dir = Self::new();
        dir.ok("cluster new c10.toml --algorithm dx --slots 16 --nodes 10");
        dir.ok("cluster add c10.toml node-10 -o c11.toml");
        dir.write("keys.txt", text_keys(keys));
        dir
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap_or_else(|error| panic!("write {name}: {error}"));
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("read {name}: {error}; there is {:?}", self.names()))
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap_or_else(|error| panic!("{name} is not UTF-8: {error}"))
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        fs::symlink_metadata(self.path(name)).is_ok()
    }

    /// Copies a file of `tests/data` here.
    pub(crate) fn data(&self, name: &str) {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
        fs::copy(&from, self.path(name)).unwrap_or_else(|error| panic!("copy {}: {error}", from.display()));
    }

    /// What is directly in this directory, hidden files too.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("the directory");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Every file below `name`, by path, with its bytes.
    pub(crate) fn tree(&self, name: &str) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        walk(&self.path(name), &mut |path| {
            let inside = path.strip_prefix(self.path(name)).expect("below the root");
            files.insert(inside.to_string_lossy().into_owned(), fs::read(path).expect("a file"));
        });
        files
    }

    /// Runs the binary with arguments that have no spaces in them.
    pub(crate) fn run(&self, words: &str) -> Run {
        self.args(&words.split_whitespace().collect::<Vec<_>>())
    }

    /// Runs the binary.
    pub(crate) fn args(&self, args: &[&str]) -> Run {
        self.finish(Command::new(REHOME).args(args), format!("rehome {}", args.join(" ")))
    }

    /// Runs a line of shell with the binary on the path.
    pub(crate) fn sh(&self, line: &str) -> Run {
        self.finish(Command::new("sh").args(["-c", line]).env("PATH", path_with_binary()), line.to_owned())
    }

    /// As [`run`](Self::run), which must succeed.
    pub(crate) fn ok(&self, words: &str) -> Run {
        self.run(words).succeeds()
    }

    fn finish(&self, command: &mut Command, shown: String) -> Run {
        let output = command
            .current_dir(self.0.path())
            .stdin(Stdio::null())
            .output()
            .unwrap_or_else(|error| panic!("{shown}: {error}"));
        Run {
            command: shown,
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// `PATH` with the directory of the binary first.
pub(crate) fn path_with_binary() -> String {
    let folder = Path::new(REHOME).parent().expect("the binary is in a directory");
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default())
}

fn walk(path: &Path, see: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(path).unwrap_or_else(|error| panic!("read {}: {error}", path.display())) {
        let path = entry.expect("an entry").path();
        if path.is_dir() { walk(&path, see) } else { see(&path) }
    }
}

/// What a command came to.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub command: String,
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Run {
    /// The command and its outputs, for failure messages.
    pub(crate) fn shown(&self) -> String {
        let short = |text: &str| text.chars().take(3000).collect::<String>();
        format!(
            "\n$ {}\nexit code {:?}\n--- standard output\n{}\n--- standard error\n{}\n---",
            self.command,
            self.code,
            short(&self.out),
            short(&self.err)
        )
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "wanted exit code {code}:{}", self.shown());
        self
    }

    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        self.exits(0)
    }

    /// Standard error has these parts.
    #[track_caller]
    pub(crate) fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.err.contains(part), "standard error should say {part:?}:{}", self.shown());
        }
        self
    }

    /// Standard output has these parts.
    #[track_caller]
    pub(crate) fn prints(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.out.contains(part), "standard output should have {part:?}:{}", self.shown());
        }
        self
    }

    /// Standard error is empty.
    #[track_caller]
    pub(crate) fn stays_quiet(self) -> Self {
        assert_eq!(self.err, "", "standard error should be empty:{}", self.shown());
        self
    }

    /// An error: exit code 1, one message that begins so and has these parts, nothing of a panic.
    #[track_caller]
    pub(crate) fn fails(self, parts: &[&str]) -> Self {
        assert!(!self.err.contains("panicked"), "a panic:{}", self.shown());
        self.exits(1).says(&["error: "]).says(parts)
    }

    /// Wrong usage: exit code 2.
    #[track_caller]
    pub(crate) fn misused(self, parts: &[&str]) -> Self {
        self.exits(2).says(&["error: "]).says(parts)
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("not JSON ({error}):{}", self.shown()))
    }
}

/// `user:1` and so on, a key a line.
pub(crate) fn text_keys(count: usize) -> String {
    let mut text = String::new();
    for number in 1..=count {
        writeln!(text, "user:{number}").expect("a String takes all");
    }
    text
}

/// The numbers from 0, a key a line: integers that every algorithm takes.
pub(crate) fn small_integer_keys(count: u64) -> String {
    (0..count).map(|key| format!("{key}\n")).collect()
}

/// Integers of no order, one a line.
pub(crate) fn integer_keys(count: u64) -> String {
    let mut text = String::new();
    for number in 1..=count {
        writeln!(text, "{}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15)).expect("a String takes all");
    }
    text
}

/// A table as text: the names of its columns, and its rows (null as empty text).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn csv(text: &str) -> Self {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let words = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect::<Vec<_>>();
        let columns = words(reader.headers().expect("a header"));
        Self { columns, rows: reader.records().map(|record| words(&record.expect("a row"))).collect() }
    }

    pub(crate) fn json_lines(text: &str) -> Self {
        let mut table = Self { columns: Vec::new(), rows: Vec::new() };
        for line in text.lines() {
            let value: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
            let object = value.as_object().expect("an object a line");
            table.columns = object.keys().cloned().collect();
            table.rows.push(
                object
                    .values()
                    .map(|cell| match cell {
                        serde_json::Value::Null => String::new(),
                        serde_json::Value::String(text) => text.clone(),
                        other => other.to_string(),
                    })
                    .collect(),
            );
        }
        table
    }

    pub(crate) fn parquet(path: &Path) -> Self {
        let file = File::open(path).unwrap_or_else(|error| panic!("open {}: {error}", path.display()));
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).expect("a Parquet file");
        let schema = builder.schema().clone();
        Self::batches(&schema, builder.build().expect("a reader").map(|batch| batch.expect("a batch")))
    }

    /// Batches with columns of this schema.
    pub(crate) fn batches(schema: &Schema, batches: impl IntoIterator<Item = RecordBatch>) -> Self {
        let columns = schema.fields().iter().map(|field| field.name().clone()).collect();
        let mut rows = Vec::new();
        for batch in batches {
            for row in 0..batch.num_rows() {
                let cell = |array: &ArrayRef| array_value_to_string(array, row).expect("a cell");
                rows.push(batch.columns().iter().map(cell).collect());
            }
        }
        Self { columns, rows }
    }

    /// A column by its name.
    #[track_caller]
    pub(crate) fn column(&self, name: &str) -> Vec<&str> {
        let index = self.columns.iter().position(|column| column == name);
        let index = index.unwrap_or_else(|| panic!("no column {name:?} in {:?}", self.columns));
        self.rows.iter().map(|row| row[index].as_str()).collect()
    }

    /// A column of numbers, empty as 0.
    #[track_caller]
    pub(crate) fn numbers(&self, name: &str) -> Vec<u64> {
        self.column(name)
            .into_iter()
            .map(|text| if text.is_empty() { 0 } else { text.parse().expect("a number") })
            .collect()
    }
}

/// A gzip member.
pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).expect("a Vec takes all");
    encoder.finish().expect("a Vec takes all")
}

/// A zstd frame with a checksum.
pub(crate) fn zstd(content: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("an encoder");
    encoder.include_checksum(true).expect("an encoder that can");
    encoder.write_all(content).expect("a Vec takes all");
    encoder.finish().expect("a Vec takes all")
}

/// Writes a Parquet file of these columns.
pub(crate) fn write_parquet(path: &Path, batch: &RecordBatch) {
    let file = File::create(path).expect("a file");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
    writer.write(batch).expect("a batch");
    writer.close().expect("a file");
}

/// A running binary that is fed by hand.
pub(crate) struct Live {
    pub child: std::process::Child,
    command: String,
}

impl Live {
    /// Starts `rehome WORDS` with a pipe as its input.
    pub(crate) fn start(dir: &Dir, words: &str) -> Self {
        let child = Command::new(REHOME)
            .args(words.split_whitespace())
            .current_dir(dir.path(""))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("rehome {words}: {error}"));
        Self { child, command: format!("rehome {words}") }
    }

    /// Gives it input and keeps the pipe open.
    pub(crate) fn feed(&mut self, text: &str) {
        let input = self.child.stdin.as_mut().expect("the pipe is open");
        input.write_all(text.as_bytes()).unwrap_or_else(|error| panic!("{}: {error}", self.command));
        input.flush().expect("a pipe");
    }

    /// Waits, half a minute at most, until `there` says so.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, what: &str, there: impl Fn() -> bool) {
        for _ in 0..3000 {
            if there() {
                return;
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                panic!("{} ended ({status}) before there was {what}", self.command);
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("{}: no {what} in half a minute", self.command);
    }

    /// Sends it a signal by name, such as INT.
    pub(crate) fn signal(&self, name: &str) {
        let status =
            Command::new("kill").args([format!("-{name}"), self.child.id().to_string()]).status().expect("kill");
        assert!(status.success(), "kill -{name}: {status}");
    }

    /// Waits for its end with the pipe to it open, and says what it came to; no exit code if a signal killed it.
    pub(crate) fn end(mut self) -> Run {
        let pipe = self.child.stdin.take();
        for _ in 0..3000 {
            if self.child.try_wait().expect("a child").is_some() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        if self.child.try_wait().expect("a child").is_none() {
            self.child.kill().expect("a child");
            panic!("{} still runs after half a minute", self.command);
        }
        let output = self.child.wait_with_output().expect("outputs");
        drop(pipe);
        Run {
            command: self.command,
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Whether a file's name says that it is unfinished.
pub(crate) fn is_partial(name: &str) -> bool {
    name.ends_with(".partial")
}
