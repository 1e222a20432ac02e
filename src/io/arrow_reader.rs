//! Keys of Arrow IPC files and streams.
//!
//! Messages are cut out here, with every length checked against the file before memory is taken for it; the library
//! turns them into batches. A stream must end with its mark, and a file with its footer, so that nothing is read short.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::io;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::{RecordBatchDecoder, read_dictionary};
use arrow_ipc::{Block, Message, MessageHeader, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};

use super::InputFormat;
use super::batches::{BatchReader, BatchSource};
use super::errors::{contradictory, guarded, syntax, unreadable};
use super::options::ReadOptions;
use super::position::Position;
use super::positioned::{SharedFile, reserve};
use super::row_sink::is_uuid;
use super::typed_columns::Layout;
use crate::error::{Error, Result};

const FORMAT: InputFormat = InputFormat::Arrow;
/// What files begin with and end with; streams do neither.
const MAGIC: &[u8] = b"ARROW1";
/// What files of an older format with the same extension begin with.
const OLD_MAGIC: &[u8] = b"FEA1";
/// What messages begin with, but for those of the oldest writers.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Opens an Arrow IPC file or stream to go on behind `position`.
pub(super) fn open_arrow(
    file: SharedFile,
    options: &ReadOptions,
    position: &Position,
) -> Result<BatchReader<ArrowSource>> {
    let mut messages = Messages { file, at: 0 };
    if messages.file.read(0, OLD_MAGIC.len() as u64).is_ok_and(|head| head == OLD_MAGIC) {
        return Err(Error::invalid("this is a Feather file of version 1", "write it as version 2, which is Arrow IPC"));
    }
    let is_file = messages.file.read(0, MAGIC.len() as u64).is_ok_and(|head| head == MAGIC);
    let (schema, batches, dictionaries) = if is_file {
        let Footer { schema, dictionaries, batches } = footer(&messages.file)?;
        (schema, Some(batches), dictionaries)
    } else {
        (stream_schema(&mut messages)?, None, VecDeque::new())
    };
    let mut layout = Layout::choose(schema.fields(), options, |column| is_uuid(&column.field))?;
    // Columns are read as a whole, with all that is inside a struct.
    let columns: Vec<usize> =
        layout.needed().iter().map(|steps| steps[0]).collect::<BTreeSet<_>>().into_iter().collect();
    let layout = layout.within(&columns.iter().map(|column| vec![*column]).collect());
    let mut source = ArrowSource { messages, batches, schema, columns, dictionaries: HashMap::new(), number: 0 };
    for block in dictionaries {
        let message = source.messages.of_block(&block)?;
        source.take_dictionary(&message)?;
    }
    let dropped = source.skip(position.input_row)?;
    Ok(BatchReader::new(source, FORMAT, layout, options, position, dropped))
}

/// Where the parts of a file are.
struct Footer {
    schema: SchemaRef,
    dictionaries: VecDeque<Block>,
    batches: VecDeque<Block>,
}

fn footer(file: &SharedFile) -> Result<Footer> {
    let tail_length = 4 + MAGIC.len() as u64;
    let cut = || unreadable(FORMAT, "", &io::Error::other("it does not end like one"));
    let tail_start = file.bytes().checked_sub(tail_length).ok_or_else(cut)?;
    let tail = file.read(tail_start, tail_length).map_err(|error| unreadable(FORMAT, "", &error))?;
    let length = tail.strip_suffix(MAGIC).and_then(|length| length.first_chunk::<4>()).ok_or_else(cut)?;
    let start = tail_start.checked_sub(u64::from(u32::from_le_bytes(*length))).ok_or_else(cut)?;
    let bytes = file.read(start, tail_start - start).map_err(|error| unreadable(FORMAT, "", &error))?;
    let footer = guarded(FORMAT, "", || {
        let footer = root_as_footer(&bytes).map_err(|error| ArrowError::ParseError(error.to_string()))?;
        let none = || ArrowError::ParseError("the footer lacks a part".into());
        let schema = footer.schema().ok_or_else(none)?;
        same_endianness(schema.endianness().equals_to_target_endianness())?;
        let blocks = footer.recordBatches().ok_or_else(none)?.iter().copied().collect();
        let dictionaries = footer.dictionaries().iter().flatten().copied().collect();
        Ok::<_, ArrowError>(Footer { schema: Arc::new(fb_to_schema(schema)), dictionaries, batches: blocks })
    })?;
    check_complete(file, &footer, start)?;
    Ok(footer)
}

/// The most bytes between the last message and the footer: an end-of-stream mark and what aligns them.
const MOST_BETWEEN: u64 = 128;

/// Fails if there are messages before the footer, at `end`, that it does not name.
fn check_complete(file: &SharedFile, footer: &Footer, end: u64) -> Result<()> {
    let end_of = |block: &Block| -> Option<u64> {
        let length = i64::from(block.metaDataLength()).checked_add(block.bodyLength())?;
        u64::try_from(block.offset().checked_add(length)?).ok()
    };
    let mut last = None;
    for block in footer.batches.iter().chain(&footer.dictionaries) {
        last = last.max(Some(end_of(block).ok_or_else(|| contradictory(FORMAT, "footer"))?));
    }
    let last = match last {
        Some(last) => last,
        // Only the schema comes first.
        None => {
            let mut messages = Messages { file: file.clone(), at: 8 };
            messages.next()?;
            messages.at
        }
    };
    if end.saturating_sub(last) > MOST_BETWEEN {
        return Err(contradictory(FORMAT, "footer"));
    }
    Ok(())
}

fn stream_schema(messages: &mut Messages) -> Result<SchemaRef> {
    let first = messages.next()?.ok_or_else(|| unreadable(FORMAT, "", &io::Error::other("it has no schema")))?;
    guarded(FORMAT, "", || {
        let schema = first.header()?.header_as_schema();
        let schema = schema.ok_or_else(|| ArrowError::ParseError("it does not begin with a schema".into()))?;
        same_endianness(schema.endianness().equals_to_target_endianness())?;
        Ok::<_, ArrowError>(Arc::new(fb_to_schema(schema)))
    })
}

fn same_endianness(is_same: bool) -> Result<(), ArrowError> {
    if is_same { Ok(()) } else { Err(ArrowError::ParseError("its bytes are in the order of another system".into())) }
}

/// The messages of a file or a stream.
struct Messages {
    file: SharedFile,
    /// Where the next message begins.
    at: u64,
}

/// A message whose lengths have been checked.
struct OneMessage {
    metadata: Vec<u8>,
    file: SharedFile,
    body_start: u64,
    body_length: u64,
}

impl OneMessage {
    fn header(&self) -> Result<Message<'_>, ArrowError> {
        root_as_message(&self.metadata).map_err(|error| ArrowError::ParseError(error.to_string()))
    }

    fn body(&self) -> io::Result<Buffer> {
        self.file.read(self.body_start, self.body_length).map(Buffer::from_vec)
    }
}

impl Messages {
    fn broken(&self, error: &io::Error) -> Error {
        unreadable(FORMAT, &format!("byte {}", self.at), error)
    }

    fn length_at(&self, at: u64) -> Result<[u8; 4]> {
        let bytes = self.file.read(at, 4).map_err(|error| self.broken(&error))?;
        bytes.first_chunk().copied().ok_or_else(|| contradictory(FORMAT, ""))
    }

    /// The next message of a stream, or nothing behind its end mark.
    fn next(&mut self) -> Result<Option<OneMessage>> {
        if self.at == self.file.bytes() {
            return Err(syntax(
                "the Arrow stream is cut short: it has no end mark (get it once more, and close its writer)",
            ));
        }
        let mut length = self.length_at(self.at)?;
        let mut start = self.at + 4;
        if length == CONTINUATION {
            length = self.length_at(start)?;
            start += 4;
        }
        let length = u32::from_le_bytes(length);
        if length == 0 {
            return match self.file.bytes() - start {
                0 => Ok(None),
                behind => {
                    Err(syntax(format!("{behind} bytes follow the end of the Arrow stream: give one stream a file")))
                }
            };
        }
        let metadata = self.file.read(start, u64::from(length)).map_err(|error| self.broken(&error))?;
        let body_start = start + u64::from(length);
        let mut message = OneMessage { metadata, file: self.file.clone(), body_start, body_length: 0 };
        let place = format!("byte {}", self.at);
        message.body_length = guarded(FORMAT, &place, || message.header().map(|header| header.bodyLength()))?
            .try_into()
            .map_err(|_| contradictory(FORMAT, &place))?;
        self.at = body_start
            .checked_add(message.body_length)
            .filter(|end| *end <= self.file.bytes())
            .ok_or_else(|| self.broken(&io::ErrorKind::UnexpectedEof.into()))?;
        Ok(Some(message))
    }

    /// The message in a block that the footer of a file names.
    fn of_block(&mut self, block: &Block) -> Result<OneMessage> {
        self.at = block.offset().try_into().map_err(|_| contradictory(FORMAT, "footer"))?;
        let start = self.at;
        let message = self.next()?.ok_or_else(|| contradictory(FORMAT, "footer"))?;
        let lengths = (i128::from(block.metaDataLength()), i128::from(block.bodyLength()));
        if lengths != (i128::from(message.body_start - start), i128::from(message.body_length)) {
            return Err(contradictory(FORMAT, &format!("byte {start}")));
        }
        Ok(message)
    }
}

/// The batches of an Arrow IPC file or stream.
pub(super) struct ArrowSource {
    messages: Messages,
    /// The batches that are to come, in a file.
    batches: Option<VecDeque<Block>>,
    schema: SchemaRef,
    /// The columns that are read.
    columns: Vec<usize>,
    dictionaries: HashMap<i64, ArrayRef>,
    /// The number of batches that were read or passed over.
    number: u64,
}

impl ArrowSource {
    /// Passes over whole batches before row `row`, and says how many rows of the next one are before it too.
    fn skip(&mut self, row: u64) -> Result<u64> {
        let mut left = row;
        while left > 0 {
            let (at, block) = (self.messages.at, self.batches.as_ref().and_then(|blocks| blocks.front().copied()));
            let Some(message) = self.next_message()? else { break };
            let place = self.place();
            let rows = guarded(FORMAT, &place, || {
                message.header().map(|header| header.header_as_record_batch().map(|batch| batch.length()))
            })?;
            let rows = u64::try_from(rows.unwrap_or(0)).map_err(|_| contradictory(FORMAT, &place))?;
            if rows > left {
                // It is read again, as a batch.
                self.messages.at = at;
                if let (Some(blocks), Some(block)) = (&mut self.batches, block) {
                    blocks.push_front(block);
                }
                self.number -= 1;
                break;
            }
            left -= rows;
        }
        Ok(left)
    }

    /// What messages call the batch that was read last.
    fn place(&self) -> String {
        format!("batch {}", self.number.saturating_sub(1))
    }

    /// The message of the next batch, behind the dictionaries before it.
    fn next_message(&mut self) -> Result<Option<OneMessage>> {
        loop {
            let next = match &mut self.batches {
                Some(blocks) => blocks.pop_front().map(|block| self.messages.of_block(&block)).transpose()?,
                None => self.messages.next()?,
            };
            let Some(message) = next else { return Ok(None) };
            match guarded(FORMAT, "", || message.header().map(|header| header.header_type()))? {
                MessageHeader::RecordBatch => {
                    self.number += 1;
                    return Ok(Some(message));
                }
                MessageHeader::DictionaryBatch if self.batches.is_none() => self.take_dictionary(&message)?,
                _ => return Err(contradictory(FORMAT, "")),
            }
        }
    }

    fn take_dictionary(&mut self, message: &OneMessage) -> Result<()> {
        let (schema, dictionaries) = (&self.schema, &mut self.dictionaries);
        guarded(FORMAT, "a dictionary", || {
            let header = message.header()?;
            let none = || ArrowError::ParseError("a dictionary lacks a part".into());
            let batch = header.header_as_dictionary_batch().ok_or_else(none)?;
            let body = message.body()?;
            check_buffers(batch.data().ok_or_else(none)?, &body)?;
            read_dictionary(&body, batch, schema, dictionaries, &header.version())
        })
    }
}

/// Checks that the buffers of a batch are in its body, and that memory can hold what they say they become.
fn check_buffers(batch: arrow_ipc::RecordBatch<'_>, body: &[u8]) -> Result<(), ArrowError> {
    let outside = || ArrowError::ParseError("a buffer is outside its batch".into());
    let mut unpacked = 0_u64;
    for buffer in batch.buffers().iter().flatten() {
        let start = usize::try_from(buffer.offset()).map_err(|_| outside())?;
        let length = usize::try_from(buffer.length()).map_err(|_| outside())?;
        let bytes = body.get(start..).and_then(|rest| rest.get(..length)).ok_or_else(outside)?;
        if batch.compression().is_some() && !bytes.is_empty() {
            let length = i64::from_le_bytes(*bytes.first_chunk::<8>().ok_or_else(outside)?);
            // -1 says that the buffer was left as it is.
            unpacked = unpacked.saturating_add(u64::try_from(length.max(0)).unwrap_or(0));
        }
    }
    reserve(unpacked)?;
    Ok(())
}

impl BatchSource for ArrowSource {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let Some(message) = self.next_message()? else { return Ok(None) };
        guarded(FORMAT, &self.place(), || {
            let header = message.header()?;
            let batch = header.header_as_record_batch();
            let batch = batch.ok_or_else(|| ArrowError::ParseError("a batch lacks a part".into()))?;
            let body = message.body()?;
            check_buffers(batch, &body)?;
            RecordBatchDecoder::try_new(&body, batch, Arc::clone(&self.schema), &self.dictionaries, &header.version())?
                .with_projection(Some(&self.columns))
                .read_record_batch()
                .map(Some)
        })
    }

    fn consumed(&self, _row: u64) -> u64 {
        self.messages.at
    }
}
