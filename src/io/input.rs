//! A list of inputs as one stream of chunks of keys.

use std::collections::VecDeque;
use std::fs::Metadata;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::Field;

use super::InputFormat;
use super::chunk::KeyChunk;
use super::decoders::{BUDGET, Decoders};
use super::metered::Progress;
use super::opened::{Opened, Opening, Settled};
use super::options::{Input, ReadOptions, Source};
use super::position::{InputFacts, Position, Stamp};
use super::report::{REMEMBERED, RowReport};
use crate::clock::Cost;
use crate::error::{BadRow, Error, Result};
use crate::keys::KeyType;

/// What a reader of one format does.
pub(super) trait ChunkSource: Send {
    /// How keys are read.
    fn key_type(&self) -> KeyType;
    /// The column of keys in outputs.
    fn key_field(&self) -> Field;
    /// The name of the column of keys, where it has one.
    fn key_column(&self) -> Option<&str> {
        None
    }
    /// The carried columns.
    fn kept_fields(&self) -> Vec<Field>;
    /// What reading came to so far.
    fn report(&self) -> &RowReport;
    /// Says, before the first chunk, which number the first row has over all inputs, and where to tell how much is read.
    fn begin(&mut self, _row: u64, _progress: Option<Progress>) {}
    /// The next chunk; `name` is what errors call the input.
    fn next_chunk(&mut self, name: &Path) -> Result<Option<KeyChunk>>;
}

/// A stream of chunks of keys from one input after the other.
pub struct KeyReader {
    inputs: Vec<Input>,
    options: ReadOptions,
    /// What the first input settles for all: its name and format, and its columns.
    first: Settled,
    current: Option<Opened>,
    /// Inputs that were opened before their turn.
    ahead: VecDeque<Result<Opened>>,
    decoders: Option<Arc<Decoders>>,
    /// The input that is opened next.
    next: usize,
    /// Where the next input is to be read from, if not from its start.
    position: Position,
    finished: Vec<InputFacts>,
    /// How many of these came with a chunk.
    told: usize,
    /// What the finished inputs came to.
    report: RowReport,
    first_bad: Vec<(PathBuf, BadRow)>,
    progress: Progress,
    /// Bytes of the inputs before the current one.
    bytes_before: u64,
    total_bytes: Option<u64>,
    /// Whether the inputs are over, by their end or by an error.
    is_over: bool,
}

/// Opens an input and reads as much of it as tells its format and its columns.
///
/// gzip and zstd, told by the first bytes, are unpacked on the way. Parquet and Arrow that are compressed, or that come
/// from standard input or another stream, are copied into a temporary file first.
///
/// # Errors
/// If it cannot be opened or read, if it is not what its format says, or if `options` do not fit it.
pub fn open(source: &Source, options: ReadOptions) -> Result<KeyReader> {
    open_all(vec![Input::from(source.clone())], options)
}

/// Opens inputs that are read one after the other, and of the first as much as tells its format and its columns.
///
/// # Errors
/// As [`open`], and if there is no input. Those after the first are opened when it is their turn; they must be of the
/// same format and have the same columns.
pub fn open_all(inputs: Vec<Input>, options: ReadOptions) -> Result<KeyReader> {
    open_at(inputs, options, Position::default())
}

/// Opens inputs to go on behind `position`, where a [chunk](KeyChunk::end) of an earlier reader of the same inputs with
/// the same options ended. What comes is what would have come there.
///
/// # Errors
/// As [`open_all`], and if the position is not in these inputs.
///
/// # Complexity
/// What is before the position in its input is not read, but for text that is compressed, which is unpacked from its
/// start, and for the batch of an Arrow or Parquet file that the position is in.
pub fn open_at(inputs: Vec<Input>, options: ReadOptions, position: Position) -> Result<KeyReader> {
    if inputs.is_empty() {
        return Err(Error::invalid("there is no input", "give at least one"));
    }
    if position.input > 0 && position.input >= inputs.len() {
        return Err(Error::invalid(
            format!("reading is to go on in input {}, and there are {}", position.input + 1, inputs.len()),
            "give the same inputs as before",
        ));
    }
    let lengths: Option<Vec<u64>> = inputs.iter().map(|input| file_length(&input.source)).collect();
    let bytes_before = lengths.iter().flatten().take(position.input).sum();
    let progress = Progress::default().behind(bytes_before);
    // The columns are those of the first input even where reading begins in another.
    let decoders = decoders(&options);
    let mut options = options;
    let mut first = None;
    if position.input > 0 {
        let opened = open_one(&inputs, &options, None, 0, &Position::default(), Progress::default())?.settled();
        options.bind_column(&opened);
        first = Some(opened);
    }
    let current = open_one(&inputs, &options, decoders.as_ref(), position.input, &position, progress.clone())?;
    let first = first.unwrap_or_else(|| current.settled());
    first.check_alike(&current.settled())?;
    options.bind_column(&current.settled());
    Ok(KeyReader {
        first,
        current: Some(current),
        ahead: VecDeque::new(),
        decoders,
        next: position.input + 1,
        finished: Vec::new(),
        told: 0,
        report: RowReport::of(position.row == 0),
        first_bad: Vec::new(),
        progress,
        bytes_before,
        total_bytes: lengths.map(|lengths| lengths.iter().sum()),
        is_over: false,
        inputs,
        options,
        position,
    })
}

/// Opens an input of a list, to go on behind `position`.
fn open_one(
    inputs: &[Input],
    options: &ReadOptions,
    decoders: Option<&Arc<Decoders>>,
    number: usize,
    position: &Position,
    progress: Progress,
) -> Result<Opened> {
    Opened::open(&inputs[number], &Opening { options, several: inputs.len() > 1, decoders }, position, progress)
}

impl ReadOptions {
    /// What was chosen in one input, for want of a name, is asked for by its name in those after it.
    fn bind_column(&mut self, settled: &Settled) {
        if self.column.is_none() {
            self.column.clone_from(&settled.column);
        }
    }
}

/// Threads that decode, if there may be several.
fn decoders(options: &ReadOptions) -> Option<Arc<Decoders>> {
    (options.threads > 1).then(|| Arc::new(Decoders::new(options.threads, BUDGET)))
}

/// The length of a source, if it is a file.
fn file_length(source: &Source) -> Option<u64> {
    let Source::Path(path) = source else { return None };
    path.metadata().ok().filter(Metadata::is_file).map(|metadata| metadata.len())
}

impl Stamp {
    /// The stamp of a file; none for standard input and other streams.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn of_source(source: &Source) -> Result<Option<Self>> {
        let Source::Path(path) = source else { return Ok(None) };
        let metadata = path.metadata().map_err(|error| Error::io("open", path, error))?;
        Ok(metadata.is_file().then(|| Self::of(&metadata)))
    }
}

impl KeyReader {
    /// The format that is read.
    pub fn format(&self) -> InputFormat {
        self.first.format
    }

    /// How keys are read; for formats with types of their own, the type that the column comes closest to.
    pub fn key_type(&self) -> KeyType {
        self.first.key_type
    }

    /// The column `key` of outputs, with the Arrow type of [`KeyChunk::key_array`].
    pub fn key_field(&self) -> Field {
        self.first.key.clone()
    }

    /// The carried columns, in the order they were asked for.
    pub fn kept_fields(&self) -> Vec<Field> {
        self.first.kept.clone()
    }

    /// The next chunk, or nothing at the end, or after an error.
    ///
    /// # Errors
    /// At a failed read, at a bad row unless such rows are passed over, at an input that is of another format or has
    /// other columns than the first, and at one that changed while it was read.
    pub fn next_chunk(&mut self) -> Result<Option<KeyChunk>> {
        if self.is_over {
            return Ok(None);
        }
        let next = self.advance();
        self.is_over = !matches!(next, Ok(Some(_)));
        next
    }

    fn advance(&mut self) -> Result<Option<KeyChunk>> {
        loop {
            let Some(current) = &mut self.current else {
                if self.next == self.inputs.len() {
                    return Ok(None);
                }
                self.turn()?;
                continue;
            };
            let next = current.source.next_chunk(&current.name).map_err(|error| error.in_file(&current.name))?;
            let report = current.source.report();
            current.facts.bad_rows = current.bad_before + report.bad;
            if let Some(mut chunk) = next {
                chunk.end.input = self.next - 1;
                chunk.end.bad_rows = current.facts.bad_rows;
                current.facts.rows = chunk.end.input_row;
                self.position = chunk.end.clone();
                chunk.finished = self.finished[self.told..].to_vec();
                self.told = self.finished.len();
                self.open_ahead();
                return Ok(Some(chunk));
            }
            current.check_unchanged().map_err(|error| error.in_file(&current.name))?;
            self.report.add(report);
            self.first_bad = self.first_bad();
            if let Some(current) = self.current.take() {
                self.bytes_before += current.facts.bytes.unwrap_or(0);
                self.finished.push(current.facts);
            }
        }
    }

    /// Opens an input to go on behind `position`.
    fn open(&self, number: usize, position: &Position, progress: Progress) -> Result<Opened> {
        open_one(&self.inputs, &self.options, self.decoders.as_ref(), number, position, progress)
    }

    /// Goes on with the next input.
    fn turn(&mut self) -> Result<()> {
        let progress = self.progress.behind(self.bytes_before);
        self.position = Position { row: self.position.row, input: self.next, ..Position::default() };
        let mut current = match self.ahead.pop_front() {
            Some(opened) => opened?,
            None => self.open(self.next, &self.position, progress.clone())?,
        };
        current.begin(self.position.row, progress);
        self.next += 1;
        let settled = current.settled();
        self.first.check_alike(&settled)?;
        self.options.bind_column(&settled);
        self.current = Some(current);
        Ok(())
    }

    /// Opens files before their turn while threads would have nothing to do. Their errors wait for their turn.
    fn open_ahead(&mut self) {
        let Some(decoders) = self.decoders.clone().filter(|_| self.first.format == InputFormat::Parquet) else {
            return;
        };
        while decoders.wants_more()
            && self.ahead.len() < self.options.threads
            && self.ahead.back().is_none_or(Result::is_ok)
            && let number = self.next + self.ahead.len()
            && self.inputs.get(number).is_some_and(|input| file_length(&input.source).is_some())
        {
            self.ahead.push_back(self.open(number, &Position::default(), Progress::default()));
        }
    }

    /// What reading came to so far.
    pub fn report(&self) -> RowReport {
        let mut report = self.report.clone();
        if let Some(current) = &self.current {
            report.add(current.source.report());
        }
        report
    }

    /// The first bad rows, ten at most, each with the input that it is in.
    pub fn first_bad(&self) -> Vec<(PathBuf, BadRow)> {
        let mut first = self.first_bad.clone();
        if let Some(current) = &self.current {
            let bad = current.source.report().first_bad.iter().take(REMEMBERED - first.len());
            first.extend(bad.map(|row| (current.name.clone(), row.clone())));
        }
        first
    }

    /// What decoding has cost so far on threads of its own: nothing with one thread, and for formats other than Parquet.
    pub fn decoding(&self) -> Cost {
        self.decoders.as_ref().map_or_else(Cost::default, |decoders| decoders.cost())
    }

    /// What the inputs that were read to their end came to, in their order, from the one that reading began in.
    pub fn finished(&self) -> &[InputFacts] {
        &self.finished
    }

    /// Those of them that were read to their end since the last chunk.
    pub fn last_finished(&self) -> &[InputFacts] {
        &self.finished[self.told..]
    }

    /// The size of all inputs together, if they are files.
    pub fn total_bytes(&self) -> Option<u64> {
        self.total_bytes
    }

    /// A handle that says, from any thread, how much has been consumed.
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }
}

impl std::fmt::Debug for KeyReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyReader")
            .field("first", &self.first)
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

impl Iterator for KeyReader {
    type Item = Result<KeyChunk>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_chunk().transpose()
    }
}

/// Reads keys from anything that gives bytes, in the format that `options`, the extension of `name` or the first bytes
/// tell. `name` is what errors call it. How the bytes come in pieces makes no difference.
///
/// # Errors
/// As [`open`].
///
/// ```
/// use rehome::io::{ReadOptions, open_reader};
///
/// let mut reader = open_reader(&b"key,n\na,1\nb,2\n"[..], "keys.csv", &ReadOptions::default())?;
/// assert_eq!(reader.next_chunk()?.map(|chunk| chunk.len()), Some(2));
/// # Ok::<(), rehome::Error>(())
/// ```
pub fn open_reader(
    reader: impl Read + Send + 'static,
    name: impl Into<PathBuf>,
    options: &ReadOptions,
) -> Result<KeyReader> {
    let name = name.into();
    let input = Input::from(Source::Path(name.clone()));
    let (decoders, progress, position) = (decoders(options), Progress::default(), Position::default());
    let opening = Opening { options, several: false, decoders: decoders.as_ref() };
    let current = Opened::open_raw(&input, &name, Box::new(reader), None, &opening, &position, progress.clone())
        .map_err(|error| error.in_file(name))?;
    Ok(KeyReader {
        first: current.settled(),
        current: Some(current),
        ahead: VecDeque::new(),
        decoders,
        next: 1,
        finished: Vec::new(),
        told: 0,
        report: RowReport::of(true),
        first_bad: Vec::new(),
        progress,
        bytes_before: 0,
        total_bytes: None,
        is_over: false,
        // Nothing is opened by its name.
        inputs: vec![input],
        options: options.clone(),
        position,
    })
}
