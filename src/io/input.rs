//! Opening an input: which format it is in, and the reader for it.

use std::fs::{File, Metadata};
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use arrow_schema::Field;

use super::InputFormat;
use super::chunk::KeyChunk;
use super::format::extension;
use super::lines::LineReader;
use super::metered::{Bytes, Metered, Progress};
use super::options::{Input, ReadOptions, Source};
use super::parquet_reader::ParquetReader;
use super::position::{InputFacts, Position, Stamp};
use super::report::RowReport;
use super::separated::SeparatedReader;
use crate::error::{Error, ErrorKind, Result};
use crate::keys::KeyType;

/// What a reader of one format does.
pub(super) trait ChunkSource: Send {
    /// How keys are read.
    fn key_type(&self) -> KeyType;
    /// The column of keys in outputs.
    fn key_field(&self) -> Field;
    /// The carried columns.
    fn kept_fields(&self) -> Vec<Field>;
    /// What reading came to so far.
    fn report(&self) -> &RowReport;
    /// The next chunk; `name` is what errors call the input.
    fn next_chunk(&mut self, name: &Path) -> Result<Option<KeyChunk>>;
}

/// A stream of chunks of keys from one input after the other.
pub struct KeyReader {
    inputs: Vec<Input>,
    options: ReadOptions,
    /// What the first input settles for all: its name and format, and its columns.
    first: Settled,
    current: Option<Current>,
    /// The input that is opened next.
    next: usize,
    /// Where the next input is to be read from, if not from its start.
    position: Position,
    finished: Vec<InputFacts>,
    /// How many of these came with a chunk.
    told: usize,
    /// What the finished inputs came to.
    report: RowReport,
    progress: Progress,
    /// Bytes of the inputs before the current one.
    bytes_before: u64,
    total_bytes: Option<u64>,
    /// Whether the inputs are over, by their end or by an error.
    is_over: bool,
}

/// What all inputs of a reader must have in common.
#[derive(Debug, PartialEq)]
struct Settled {
    name: PathBuf,
    format: InputFormat,
    key_type: KeyType,
    key: Field,
    kept: Vec<Field>,
}

/// The input that is being read.
struct Current {
    name: PathBuf,
    format: InputFormat,
    source: Box<dyn ChunkSource>,
    facts: InputFacts,
    /// The file, and what told it when it was opened.
    file: Option<(File, Stamp)>,
    /// Rows before the start of reading, and the bad ones of them.
    before: (u64, u64),
}

/// Opens an input and reads as much of it as tells its format and its columns.
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
pub fn open_at(inputs: Vec<Input>, options: ReadOptions, position: Position) -> Result<KeyReader> {
    let Some(first) = inputs.get(position.input.min(inputs.len().saturating_sub(1))) else {
        return Err(Error::invalid("there is no input", "give at least one"));
    };
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
    let settled = match position.input {
        0 => None,
        _ => Some(Current::open(&inputs[0], &options, &Position::default(), Progress::default())?.settled()),
    };
    let current = Current::open(first, &options, &position, progress.clone())?;
    let reader = KeyReader {
        first: settled.unwrap_or_else(|| current.settled()),
        current: Some(current),
        next: position.input + 1,
        finished: Vec::new(),
        told: 0,
        report: RowReport::of(position.row == 0),
        progress,
        bytes_before,
        total_bytes: lengths.map(|lengths| lengths.iter().sum()),
        is_over: false,
        inputs,
        options,
        position,
    };
    reader.check_alike()?;
    Ok(reader)
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

/// The format in which [`open`] would read a source, without opening it for good: what is given, what the name tells,
/// or what the first bytes of a file tell. A stream can be looked at only once, so it counts as lines, and so does what
/// cannot be read: `open` has the error to tell.
pub fn detect(source: &Source, given: Option<InputFormat>) -> InputFormat {
    let looked_at = || match source {
        Source::Path(path) if path.is_file() => {
            let mut head = Vec::new();
            File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head)).ok()?;
            sniff(&head).ok()
        }
        _ => None,
    };
    told_format(source, given).or_else(looked_at).unwrap_or(InputFormat::Lines)
}

/// The format that is given or that the name tells; names without an extension tell nothing.
fn told_format(source: &Source, given: Option<InputFormat>) -> Option<InputFormat> {
    given.or_else(|| match source {
        Source::Path(path) if path.extension().is_some() => InputFormat::of_path(path),
        _ => None,
    })
}

/// Bytes that tell a format.
const HEAD: u64 = 8;

impl Current {
    fn open(input: &Input, options: &ReadOptions, position: &Position, progress: Progress) -> Result<Self> {
        let name = input.source.name();
        Self::open_named(input, &name, options, position, progress).map_err(|error| error.in_file(name))
    }

    fn open_named(
        input: &Input,
        name: &Path,
        options: &ReadOptions,
        position: &Position,
        progress: Progress,
    ) -> Result<Self> {
        let source = &input.source;
        let mut file = None;
        let mut bytes: Bytes = match source {
            Source::Stdin => Box::new(io::stdin()),
            Source::Path(path) => {
                let (opened, metadata) = open_file(path)?;
                let reader = opened.try_clone().map_err(|error| Error::io("open", path, error))?;
                file = Some((opened, metadata));
                Box::new(reader)
            }
        };
        let format = match told_format(source, options.format) {
            Some(format) => format,
            None => {
                // The bytes that were looked at are put back before the rest.
                let mut head = Vec::new();
                bytes.by_ref().take(HEAD).read_to_end(&mut head).map_err(|error| Error::io("read", name, error))?;
                let format = sniff(&head)?;
                bytes = Box::new(Cursor::new(head).chain(bytes));
                format
            }
        };
        let file = file.filter(|(_, metadata)| metadata.is_file());
        let total_bytes = file.as_ref().map(|(_, metadata)| metadata.len());
        let mut footer_crc32 = None;
        // Where reading does not begin at the start, text is opened anew there.
        let mut first = Some(bytes);
        let mut open_behind = |byte: u64| -> Result<Bytes> {
            match (first.take(), &file) {
                (Some(bytes), _) if byte == 0 => Ok(bytes),
                (_, Some((file, _))) => {
                    let mut file = file.try_clone().map_err(|error| Error::io("open", name, error))?;
                    file.seek(SeekFrom::Start(byte)).map_err(|error| Error::io("read", name, error))?;
                    Ok(Box::new(file))
                }
                _ => Err(Error::invalid("a stream cannot be read from its middle", "give a file")),
            }
        };
        let source: Box<dyn ChunkSource> = match format {
            InputFormat::Lines => {
                let input = Metered::new(open_behind(position.byte)?, progress);
                Box::new(LineReader::new(input, options, position)?)
            }
            InputFormat::Csv => {
                let open = |byte| open_behind(byte).map(|bytes| Metered::with_memory(bytes, progress.clone()));
                Box::new(SeparatedReader::new(open, options, position, delimiter(name, options), name)?)
            }
            InputFormat::Parquet => {
                let Some((file, total)) = file.as_ref().map(|(file, _)| file).zip(total_bytes) else {
                    return Err(Error::invalid(
                        "a Parquet file is read from its end, which a stream does not have yet",
                        "give the path of the file instead of standard input or a pipe",
                    ));
                };
                let file = file.try_clone().map_err(|error| Error::io("open", name, error))?;
                footer_crc32 = Some(footer_checksum(&file, total)?);
                Box::new(ParquetReader::new(file, options, position, progress, total)?)
            }
        };
        Ok(Self {
            name: name.to_path_buf(),
            format,
            source,
            facts: InputFacts {
                name: input.name.clone(),
                bytes: total_bytes,
                footer_crc32,
                rows: position.input_row,
                bad_rows: position.bad_rows,
            },
            file: file.map(|(file, metadata)| (file, Stamp::of(&metadata))),
            before: (position.input_row, position.bad_rows),
        })
    }

    fn settled(&self) -> Settled {
        Settled {
            name: self.name.clone(),
            format: self.format,
            key_type: self.source.key_type(),
            key: self.source.key_field(),
            kept: self.source.kept_fields(),
        }
    }

    /// Fails if the file was written to since it was opened.
    fn check_unchanged(&self) -> Result<()> {
        let Some((file, stamp)) = &self.file else { return Ok(()) };
        let now = file.metadata().map_err(|error| Error::io("read", &self.name, error))?;
        if Stamp::of(&now).same_bytes(stamp) {
            return Ok(());
        }
        Err(Error::invalid("the file changed while it was read", "start again when nothing writes to it"))
    }
}

/// Opens a file for reading, and says of a directory that it is one.
pub(super) fn open_file(path: &Path) -> Result<(File, Metadata)> {
    let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    let metadata = file.metadata().map_err(|error| Error::io("open", path, error))?;
    if metadata.is_dir() {
        return Err(Error::invalid("this is a directory", "give a file").in_file(path));
    }
    Ok((file, metadata))
}

/// The format that the first bytes of an input tell.
fn sniff(head: &[u8]) -> Result<InputFormat> {
    // What follows the magic number is binary in Parquet; in a file of lines it could only be a key.
    if let Some(rest) = head.strip_prefix(b"PAR1")
        && rest.first().is_none_or(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace())
    {
        return Ok(InputFormat::Parquet);
    }
    let packed =
        [(&b"\x1f\x8b"[..], "gzip", "zcat"), (b"\x28\xb5\x2f\xfd", "zstd", "zstdcat"), (b"\xfd7zXZ\0", "xz", "xzcat")];
    match packed.into_iter().find(|(magic, ..)| head.starts_with(magic)) {
        Some((_, name, tool)) => Err(Error::invalid(
            format!("this is compressed with {name}"),
            format!("decompress it first, as in `{tool} FILE | rehome .. -`"),
        )),
        None => Ok(InputFormat::Lines),
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
                let Some(input) = self.inputs.get(self.next) else { return Ok(None) };
                let progress = self.progress.behind(self.bytes_before);
                self.position = Position { row: self.position.row, input: self.next, ..Position::default() };
                self.current = Some(Current::open(input, &self.options, &self.position, progress)?);
                self.next += 1;
                self.check_alike()?;
                continue;
            };
            let next = current.source.next_chunk(&current.name).map_err(|error| error.in_file(&current.name))?;
            let report = current.source.report();
            current.facts.bad_rows = current.before.1 + report.bad;
            if let Some(mut chunk) = next {
                chunk.end.input = self.next - 1;
                chunk.end.bad_rows = current.facts.bad_rows;
                current.facts.rows = chunk.end.input_row;
                self.position = chunk.end.clone();
                chunk.finished = self.finished[self.told..].to_vec();
                self.told = self.finished.len();
                return Ok(Some(chunk));
            }
            current.check_unchanged().map_err(|error| error.in_file(&current.name))?;
            self.report.add(report);
            self.bytes_before += current.facts.bytes.unwrap_or(0);
            self.finished.push(current.facts.clone());
            self.current = None;
        }
    }

    /// Fails if the current input is of another kind than the first.
    fn check_alike(&self) -> Result<()> {
        let Some(current) = &self.current else { return Ok(()) };
        let (first, now) = (&self.first, current.settled());
        let name = first.name.display();
        let differs = |what: &str, now: String, then: String| {
            let what = format!("{what} {now}, and in {name} {then}: all inputs must be alike");
            Err(Error::invalid(what, "convert one of them, or run on each alone").in_file(&current.name))
        };
        if now.format != first.format {
            return differs("the format is", now.format.to_string(), format!("it is {}", first.format));
        }
        if now.key.data_type() != first.key.data_type() || now.key_type != first.key_type {
            let shown = |side: &Settled| match side.key_type {
                KeyType::Uuid => "uuid".to_owned(),
                _ => side.key.data_type().to_string(),
            };
            return differs("the keys are", shown(&now), format!("they are {}", shown(first)));
        }
        match now.kept.iter().zip(&first.kept).find(|(now, first)| now.data_type() != first.data_type()) {
            Some((kept, other)) => differs(
                &format!("column {:?} is", kept.name()),
                kept.data_type().to_string(),
                format!("it is {}", other.data_type()),
            ),
            None => Ok(()),
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

/// CRC-32 of the footer of a Parquet file: its metadata and what follows. A file that is none has a checksum too; its
/// reader says what is wrong with it.
fn footer_checksum(file: &File, total: u64) -> Result<String> {
    let read = |start: u64| -> io::Result<Vec<u8>> {
        let mut file = file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.take(total - start).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let failed = |source: io::Error| Error::from(ErrorKind::Io { action: "read", source });
    let tail = read(total.saturating_sub(8)).map_err(failed)?;
    let length = tail.first_chunk::<4>().map_or(0, |length| u64::from(u32::from_le_bytes(*length)));
    let footer = read(total.saturating_sub(8).saturating_sub(length)).map_err(failed)?;
    Ok(format!("{:08x}", crc32fast::hash(&footer)))
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

/// Reads keys from anything that gives bytes: lines or CSV, as `options` or the extension of `name` say, or else lines.
/// `name` is what errors call it. How the bytes come in pieces makes no difference.
///
/// # Errors
/// If it cannot be read, if it is not what its format says, if `options` do not fit it, and for Parquet, which is read
/// from its end: [`open`] does that with a file.
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
    let format = told_format(&Source::Path(name.clone()), options.format).unwrap_or(InputFormat::Lines);
    let (bytes, progress): (Bytes, _) = (Box::new(reader), Progress::default());
    let position = Position::default();
    let opened = match format {
        InputFormat::Lines => LineReader::new(Metered::new(bytes, progress.clone()), options, &position).map(boxed),
        InputFormat::Csv => {
            let input = Metered::with_memory(bytes, progress.clone());
            // Only a position behind the start opens it once more.
            let mut input = Some(input);
            let open = |_| input.take().ok_or_else(|| Error::invalid("a stream is read once", "give a file"));
            SeparatedReader::new(open, options, &position, delimiter(&name, options), &name).map(boxed)
        }
        InputFormat::Parquet => Err(Error::invalid(
            "a Parquet file is read from its end, which a stream does not have yet",
            "open the file by its path",
        )),
    };
    let source = opened.map_err(|error| error.in_file(&name))?;
    let facts =
        InputFacts { name: name.to_string_lossy().into_owned(), bytes: None, footer_crc32: None, rows: 0, bad_rows: 0 };
    let current = Current { name, format, source, facts, file: None, before: (0, 0) };
    Ok(KeyReader {
        inputs: Vec::new(),
        options: options.clone(),
        first: current.settled(),
        current: Some(current),
        next: 1,
        position,
        finished: Vec::new(),
        told: 0,
        report: RowReport::of(true),
        progress,
        bytes_before: 0,
        total_bytes: None,
        is_over: false,
    })
}

/// What separates fields: a tab in a `.tsv` file and a comma elsewhere, unless the options say otherwise.
fn delimiter(name: &Path, options: &ReadOptions) -> u8 {
    let tabs = extension(name).is_some_and(|extension| extension == "tsv");
    options.delimiter.unwrap_or(if tabs { b'\t' } else { b',' })
}

fn boxed(source: impl ChunkSource + 'static) -> Box<dyn ChunkSource> {
    Box::new(source)
}
