//! Opening an input: which format it is in, and the reader for it.

use std::fs::{File, Metadata};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use arrow_schema::Field;

use super::InputFormat;
use super::chunk::KeyChunk;
use super::format::extension;
use super::lines::LineReader;
use super::metered::{Bytes, Metered, Progress};
use super::options::{ReadOptions, Source};
use super::parquet_reader::ParquetReader;
use super::report::RowReport;
use super::separated::SeparatedReader;
use crate::error::{Error, Result};
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

/// A stream of chunks of keys from a file or from standard input.
pub struct KeyReader {
    name: PathBuf,
    format: InputFormat,
    source: Box<dyn ChunkSource>,
    progress: Progress,
    total_bytes: Option<u64>,
    /// Whether the input is over, by its end or by an error.
    is_over: bool,
}

/// Opens an input and reads as much of it as tells its format and its columns.
///
/// # Errors
/// If it cannot be opened or read, if it is not what its format says, or if `options` do not fit it.
pub fn open(source: &Source, options: ReadOptions) -> Result<KeyReader> {
    let name = source.name();
    open_named(source, &name, &options).map_err(|error| error.in_file(name))
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

fn open_named(source: &Source, name: &Path, options: &ReadOptions) -> Result<KeyReader> {
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
    let total_bytes = file.as_ref().filter(|(_, metadata)| metadata.is_file()).map(|(_, metadata)| metadata.len());
    let progress = Progress::default();
    let source: Box<dyn ChunkSource> = match format {
        InputFormat::Lines => Box::new(LineReader::new(Metered::new(bytes, progress.clone()), options)?),
        InputFormat::Csv => {
            let tabs = extension(name).is_some_and(|extension| extension == "tsv");
            let delimiter = options.delimiter.unwrap_or(if tabs { b'\t' } else { b',' });
            let input = Metered::with_memory(bytes, progress.clone());
            Box::new(SeparatedReader::new(input, options, delimiter, name)?)
        }
        InputFormat::Parquet => {
            let (Some((file, _)), Some(total)) = (file, total_bytes) else {
                return Err(Error::invalid(
                    "a Parquet file is read from its end, which a stream does not have yet",
                    "give the path of the file instead of standard input or a pipe",
                ));
            };
            Box::new(ParquetReader::new(file, options, progress.clone(), total)?)
        }
    };
    Ok(KeyReader { name: name.to_path_buf(), format, source, progress, total_bytes, is_over: false })
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
        self.format
    }

    /// How keys are read; for Parquet, the type that the column comes closest to.
    pub fn key_type(&self) -> KeyType {
        self.source.key_type()
    }

    /// The column `key` of outputs, with the Arrow type of [`KeyChunk::key_array`].
    pub fn key_field(&self) -> Field {
        self.source.key_field()
    }

    /// The carried columns, in the order they were asked for.
    pub fn kept_fields(&self) -> Vec<Field> {
        self.source.kept_fields()
    }

    /// The next chunk, or nothing at the end, or after an error.
    ///
    /// # Errors
    /// At a failed read, and at a bad row unless such rows are passed over.
    pub fn next_chunk(&mut self) -> Result<Option<KeyChunk>> {
        if self.is_over {
            return Ok(None);
        }
        let next = self.source.next_chunk(&self.name).map_err(|error| error.in_file(&self.name));
        self.is_over = !matches!(next, Ok(Some(_)));
        next
    }

    /// What reading came to so far.
    pub fn report(&self) -> &RowReport {
        self.source.report()
    }

    /// The size of the input, if it is a file.
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
        f.debug_struct("KeyReader").field("name", &self.name).field("format", &self.format).finish_non_exhaustive()
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
    let opened = match format {
        InputFormat::Lines => LineReader::new(Metered::new(bytes, progress.clone()), options).map(boxed),
        InputFormat::Csv => {
            let tabs = extension(&name).is_some_and(|extension| extension == "tsv");
            let delimiter = options.delimiter.unwrap_or(if tabs { b'\t' } else { b',' });
            SeparatedReader::new(Metered::with_memory(bytes, progress.clone()), options, delimiter, &name).map(boxed)
        }
        InputFormat::Parquet => Err(Error::invalid(
            "a Parquet file is read from its end, which a stream does not have yet",
            "open the file by its path",
        )),
    };
    let source = opened.map_err(|error| error.in_file(&name))?;
    Ok(KeyReader { name, format, source, progress, total_bytes: None, is_over: false })
}

fn boxed(source: impl ChunkSource + 'static) -> Box<dyn ChunkSource> {
    Box::new(source)
}
