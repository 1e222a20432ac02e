//! Tables written batch by batch, in any of the output formats.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::arrow_writer::ArrowWriter;
use super::atomic::Target;
use super::compression::Compressor;
use super::encode::{Style, TextEncoder};
use super::errors::writing;
use super::format::OutputFormat;
use super::parquet_writer::ParquetWriter;
use super::table_options::TableOptions;
use crate::error::{Error, Result};

/// Writes a table to a sink. The bytes depend on the options, the schema and the rows alone, not on how the rows are
/// cut into batches.
///
/// # Columns
/// What the tables of `rehome locate` have in the formats that know types:
///
/// | column | Arrow | Parquet | null |
/// |---|---|---|---|
/// | `key`, text | Utf8 | BYTE_ARRAY, string | never |
/// | `key`, bytes | Binary | BYTE_ARRAY | never |
/// | `key`, u64, i64, u32, i32 | UInt64, Int64, UInt32, Int32 | INT64 or INT32, integer of that width and sign | never |
/// | `key`, uuid | FixedSizeBinary(16), extension `arrow.uuid` | FIXED_LEN_BYTE_ARRAY(16), UUID | never |
/// | carried columns | as in the input; text from CSV | as in the input; text from CSV | as in the input |
/// | `node`, `node_1` .. | Dictionary(UInt32, Utf8), all names of the cluster | BYTE_ARRAY, string | key without a node |
///
/// An Arrow file has one dictionary per column for all rows, so every batch must bring the same one.
pub struct TableWriter<W: Write + Send = Target> {
    body: Body<W>,
    name: PathBuf,
}

enum Body<W: Write + Send> {
    Text {
        encoder: Arc<TextEncoder>,
        sink: Box<Compressor<W>>,
        /// Whether the header is written, or was left to the encoder.
        started: bool,
    },
    Parquet(Box<ParquetWriter<W>>),
    Arrow(Box<ArrowWriter<W>>),
}

impl<W: Write + Send> TableWriter<W> {
    /// Starts a table of the columns of `schema`; `name` is what errors call the sink. A format alone is options too:
    /// it has its usual compression.
    ///
    /// # Errors
    /// If the format cannot hold such columns or cannot be compressed so, or the sink fails.
    pub fn new(options: impl Into<TableOptions>, schema: SchemaRef, sink: W, name: impl Into<PathBuf>) -> Result<Self> {
        let name = name.into();
        let TableOptions { format, compression } = options.into();
        let style = match format {
            OutputFormat::Lines if schema.fields().len() != 1 => {
                return Err(Error::invalid("lines have room for one column only", "write another format").in_file(name));
            }
            OutputFormat::Lines => Style::Lines,
            OutputFormat::Csv => Style::Csv,
            OutputFormat::JsonLines => Style::Json,
            OutputFormat::Parquet => {
                let body = Body::Parquet(Box::new(ParquetWriter::new(schema, compression, sink, &name)?));
                return Ok(Self { body, name });
            }
            OutputFormat::Arrow | OutputFormat::ArrowStream => {
                let is_file = format == OutputFormat::Arrow;
                let body = Body::Arrow(Box::new(ArrowWriter::new(schema, is_file, compression, sink, &name)?));
                return Ok(Self { body, name });
            }
        };
        let sink = Box::new(Compressor::new(compression, sink).map_err(|error| writing(&name, &error))?);
        let encoder = Arc::new(TextEncoder::new(style, schema));
        Ok(Self { body: Body::Text { encoder, sink, started: false }, name })
    }

    /// Appends the rows of a batch.
    ///
    /// # Errors
    /// If the sink fails ([`Error::is_broken_pipe`] tells a reader that went away), or the batch has other columns, or
    /// for Arrow another dictionary.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match &mut self.body {
            Body::Text { encoder, sink, started } => {
                let bytes = encoder.encode(batch, !*started).map_err(|error| error.in_file(&self.name))?;
                *started = true;
                sink.write_all(&bytes).map_err(|error| writing(&self.name, &error))
            }
            Body::Parquet(writer) => writer.write(batch, &self.name),
            Body::Arrow(writer) => writer.write(batch, &self.name),
        }
    }

    /// For the text formats, the encoder of this table, for use on other threads: what it makes of successive pieces
    /// goes to [`write_encoded`](Self::write_encoded) in order. The first piece, and only that, is encoded with its
    /// header. `None` for Parquet and Arrow.
    pub fn encoder(&self) -> Option<Arc<TextEncoder>> {
        match &self.body {
            Body::Text { encoder, .. } => Some(Arc::clone(encoder)),
            Body::Parquet(_) | Body::Arrow(_) => None,
        }
    }

    /// Appends bytes that the [encoder](Self::encoder) made; they are compressed here.
    ///
    /// # Errors
    /// If the sink fails, or this is a Parquet or Arrow file.
    pub fn write_encoded(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.body {
            Body::Text { sink, started, .. } => {
                *started |= !bytes.is_empty();
                sink.write_all(bytes).map_err(|error| writing(&self.name, &error))
            }
            Body::Parquet(_) | Body::Arrow(_) => {
                Err(Error::invalid("encoded text goes into text formats only", "write batches").in_file(&self.name))
            }
        }
    }

    /// Ends the table (with its header, if no row came), and its compression, and gives the sink back. Without this,
    /// what is written is not complete and, but for plain text, does not look so.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn finish(self) -> Result<W> {
        match self.body {
            Body::Text { encoder, mut sink, started } => {
                let header = if started { Vec::new() } else { encoder.header() };
                let done = sink.write_all(&header).and_then(|()| sink.finish());
                done.map_err(|error| writing(&self.name, &error))
            }
            Body::Parquet(writer) => writer.finish(&self.name),
            Body::Arrow(writer) => writer.finish(&self.name),
        }
    }
}

impl<W: Write + Send> std::fmt::Debug for TableWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableWriter").field("name", &self.name).finish_non_exhaustive()
    }
}
