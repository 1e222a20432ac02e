//! One input that is open: found out what it is, and a reader for it.

use std::fs::{File, Metadata};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::Field;

use super::InputFormat;
use super::arrow_reader::open_arrow;
use super::decoders::Decoders;
use super::errors::reading;
use super::format::extension;
use super::input::ChunkSource;
use super::lines::LineReader;
use super::metered::{Bytes, Counted, Metered, Progress};
use super::options::{Input, ReadOptions, Source};
use super::packed::{Packing, spool};
use super::parquet_reader::open_parquet;
use super::position::{InputFacts, Position, Stamp};
use super::positioned::SharedFile;
use super::separated::SeparatedReader;
use super::sniff::{self, inner_path, path_of};
use crate::error::{Error, ErrorKind, Result};
use crate::keys::KeyType;

/// What inputs of a list have in common when they are opened.
pub(super) struct Opening<'a> {
    pub(super) options: &'a ReadOptions,
    /// Whether there are several, of which some may have no bytes.
    pub(super) several: bool,
    pub(super) decoders: Option<&'a Arc<Decoders>>,
}

/// An input that is being read.
pub(super) struct Opened {
    pub(super) name: PathBuf,
    pub(super) format: InputFormat,
    pub(super) source: Box<dyn ChunkSource>,
    pub(super) facts: InputFacts,
    /// Bad rows before the start of reading.
    pub(super) bad_before: u64,
    /// The file, and what told it when it was opened.
    file: Option<(SharedFile, Stamp)>,
    /// Whether a copy of it is read.
    is_copy: bool,
}

/// What all inputs of a reader must have in common.
#[derive(Debug)]
pub(super) struct Settled {
    pub(super) name: PathBuf,
    pub(super) format: InputFormat,
    pub(super) key_type: KeyType,
    pub(super) key: Field,
    /// The column of the keys, where there are columns.
    pub(super) column: Option<String>,
    pub(super) kept: Vec<Field>,
}

/// Where the bytes of an input come from, compressed as they may be.
struct Origin<'a> {
    name: &'a Path,
    file: Option<SharedFile>,
    packing: Option<Packing>,
    /// What is in it, from its start, until somebody takes it.
    unpacked: Option<Bytes>,
    progress: Progress,
}

impl Origin<'_> {
    /// What follows `byte` of what is in the input.
    fn behind(&mut self, byte: u64) -> Result<Bytes> {
        if let Some(bytes) = self.unpacked.take().filter(|_| byte == 0) {
            return Ok(bytes);
        }
        let Some(file) = &self.file else {
            return Err(Error::invalid("a stream cannot be read from its middle", "give a file"));
        };
        let Some(packing) = self.packing else {
            return Ok(Box::new(Counted::new(file.reader(byte), self.progress.clone(), byte)));
        };
        let packed = Counted::new(file.reader(0), self.progress.clone(), 0);
        let failed = |error| reading(self.name, error);
        let mut bytes = packing.unpack(Box::new(packed)).map_err(failed)?;
        if io::copy(&mut bytes.by_ref().take(byte), &mut io::sink()).map_err(failed)? < byte {
            return Err(Error::invalid("it has fewer bytes than reading is to go on behind", "give the same file"));
        }
        Ok(bytes)
    }

    /// The input as a file that can be read anywhere, and whether it is itself that file.
    fn seekable(mut self) -> Result<(SharedFile, bool)> {
        match (self.packing, self.file.take()) {
            (None, Some(file)) => Ok((file, true)),
            (_, file) => {
                self.file = file;
                let bytes = self.behind(0)?;
                spool(self.name, bytes).map(|copy| (copy, false))
            }
        }
    }
}

impl Opened {
    /// Opens an input to go on behind `position`, and reads what tells its format and its columns.
    pub(super) fn open(input: &Input, opening: &Opening<'_>, position: &Position, progress: Progress) -> Result<Self> {
        let name = input.source.name();
        let opened = Self::raw(&input.source)
            .and_then(|(raw, file)| Self::open_raw(input, &name, raw, file, opening, position, progress));
        opened.map_err(|error| error.in_file(name))
    }

    /// The bytes of a source as they are, and the file that they are of, if they are of one.
    fn raw(source: &Source) -> Result<(Bytes, Option<(SharedFile, Stamp)>)> {
        Ok(match source {
            Source::Stdin => (Box::new(io::stdin()), None),
            Source::Path(path) => {
                let (file, metadata) = open_file(path)?;
                if metadata.is_file() {
                    let file = SharedFile::new(file, metadata.len());
                    (Box::new(file.reader(0)), Some((file, Stamp::of(&metadata))))
                } else {
                    (Box::new(file), None)
                }
            }
        })
    }

    /// The same for bytes that come from anywhere; `input` tells their names.
    pub(super) fn open_raw(
        input: &Input,
        name: &Path,
        raw: Bytes,
        file: Option<(SharedFile, Stamp)>,
        opening: &Opening<'_>,
        position: &Position,
        progress: Progress,
    ) -> Result<Self> {
        let options = opening.options;
        let told = sniff::told(&input.source, options.format)?;
        // The bytes that are looked at are put back before the rest.
        let look = |mut bytes: Bytes| -> Result<(Vec<u8>, Bytes)> {
            let head = sniff::head(&mut bytes).map_err(|error| reading(name, error))?;
            Ok((head.clone(), Box::new(Cursor::new(head).chain(bytes))))
        };
        let (mut head, mut bytes) = look(Box::new(Counted::new(raw, progress.clone(), 0)))?;
        let packing = sniff::packing(&path_of(&input.source), &head)?;
        if let Some(packing) = packing {
            (head, bytes) = look(packing.unpack(bytes).map_err(|error| reading(name, error))?)?;
        }
        let format = told.unwrap_or_else(|| sniff::of_head(&head));
        let shared = file.as_ref().map(|(file, _)| file.clone());
        let mut origin = Origin { name, file: shared, packing, unpacked: Some(bytes), progress: progress.clone() };
        let (mut footer_crc32, mut is_copy) = (None, false);
        if !format.has_types() {
            sniff::refuse_no_text(&head)?;
        }
        let source: Box<dyn ChunkSource> = match format {
            InputFormat::Lines => {
                Box::new(LineReader::new(Metered::new(origin.behind(position.byte)?), options, position)?)
            }
            InputFormat::Csv => {
                let tabs = extension(&inner_path(name)).is_some_and(|extension| extension == "tsv");
                let delimiter = options.delimiter.unwrap_or(if tabs { b'\t' } else { b',' });
                let open = |byte| origin.behind(byte).map(Metered::with_memory);
                let may_be_empty = opening.several && head.is_empty();
                Box::new(SeparatedReader::new(open, options, position, delimiter, name, may_be_empty)?)
            }
            InputFormat::Parquet => {
                let (file, itself) = origin.seekable()?;
                footer_crc32 = Some(footer_checksum(&file)?);
                is_copy = !itself;
                Box::new(open_parquet(file, options, position, opening.several, opening.decoders)?)
            }
            InputFormat::Arrow => {
                let (file, itself) = origin.seekable()?;
                is_copy = !itself;
                Box::new(open_arrow(file, options, position)?)
            }
        };
        let (rows, bad_rows) = (position.input_row, position.bad_rows);
        let bytes = file.as_ref().map(|(file, _)| file.bytes());
        let mut opened = Self {
            name: name.to_path_buf(),
            format,
            source,
            facts: InputFacts { name: input.name.clone(), bytes, footer_crc32, rows, bad_rows },
            bad_before: bad_rows,
            file,
            is_copy,
        };
        opened.begin(position.row, progress);
        Ok(opened)
    }

    /// Says what is known only when the inputs before are done: the number of the first row that is read, and where to
    /// tell how much of the input is.
    pub(super) fn begin(&mut self, row: u64, progress: Progress) {
        // What is read from a copy was consumed when the copy was made.
        self.source.begin(row, (!self.is_copy).then_some(progress));
    }

    pub(super) fn settled(&self) -> Settled {
        Settled {
            name: self.name.clone(),
            format: self.format,
            key_type: self.source.key_type(),
            key: self.source.key_field(),
            column: self.source.key_column().map(str::to_owned),
            kept: self.source.kept_fields(),
        }
    }

    /// Fails if the file was written to since it was opened.
    pub(super) fn check_unchanged(&self) -> Result<()> {
        let Some((file, stamp)) = &self.file else { return Ok(()) };
        let now = file.file().metadata().map_err(|error| Error::io("read", &self.name, error))?;
        if Stamp::of(&now).same_bytes(stamp) {
            return Ok(());
        }
        Err(Error::invalid("the file changed while it was read", "start again when nothing writes to it"))
    }
}

impl Settled {
    /// Fails if `now` is of another kind than this, the first of a list.
    pub(super) fn check_alike(&self, now: &Self) -> Result<()> {
        let name = self.name.display();
        let differs = |what: &str, is: String, was: String| {
            let what = format!("{what} {is}, and in {name} {was}: all inputs must be alike");
            Err(Error::invalid(what, "convert one of them, or run on each alone").in_file(&now.name))
        };
        if now.format != self.format {
            return differs("the format is", now.format.to_string(), format!("it is {}", self.format));
        }
        if now.key.data_type() != self.key.data_type() || now.key_type != self.key_type {
            let shown = |side: &Self| match side.key_type {
                KeyType::Uuid => "uuid".to_owned(),
                _ => side.key.data_type().to_string(),
            };
            let column = now.column.as_deref().unwrap_or("key");
            let other = match &self.column {
                Some(other) if other != column => format!("{other:?} is {}", shown(self)),
                _ => format!("it is {}", shown(self)),
            };
            return differs(&format!("column {column:?} is"), shown(now), other);
        }
        match now.kept.iter().zip(&self.kept).find(|(now, first)| now.data_type() != first.data_type()) {
            Some((kept, other)) => differs(
                &format!("column {:?} is", kept.name()),
                kept.data_type().to_string(),
                format!("it is {}", other.data_type()),
            ),
            None => Ok(()),
        }
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

/// CRC-32 of the footer of a Parquet file: its metadata and what follows. A file that is none has a checksum too; its
/// reader says what is wrong with it.
fn footer_checksum(file: &SharedFile) -> Result<String> {
    let tail = file.bytes().saturating_sub(8);
    let read = |start: u64| {
        let bytes = file.read(start, file.bytes() - start);
        bytes.map_err(|source| Error::from(ErrorKind::Io { action: "read", source }))
    };
    let length = read(tail)?.first_chunk::<4>().map_or(0, |length| u64::from(u32::from_le_bytes(*length)));
    Ok(format!("{:08x}", crc32fast::hash(&read(tail.saturating_sub(length))?)))
}
