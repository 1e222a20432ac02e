//! Tables written batch by batch, in any of the output formats.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::atomic::Target;
use super::encode::{Style, TextEncoder};
use super::errors::writing;
use super::format::OutputFormat;
use super::parquet_writer::ParquetWriter;
use crate::error::{Error, Result};

/// Writes a table to a sink. The bytes depend on the format, the schema and the rows alone, not on how the rows are
/// cut into batches.
pub struct TableWriter<W: Write + Send = Target> {
    body: Body<W>,
    name: PathBuf,
}

enum Body<W: Write + Send> {
    Text {
        encoder: Arc<TextEncoder>,
        sink: W,
        /// Whether the header is written, or was left to the encoder.
        started: bool,
    },
    Parquet(Box<ParquetWriter<W>>),
}

impl<W: Write + Send> TableWriter<W> {
    /// Starts a table of the columns of `schema`; `name` is what errors call the sink.
    ///
    /// # Errors
    /// If the format cannot hold such columns, or the sink fails.
    pub fn new(format: OutputFormat, schema: SchemaRef, sink: W, name: impl Into<PathBuf>) -> Result<Self> {
        let name = name.into();
        let text = |style, schema, sink| Body::Text {
            encoder: Arc::new(TextEncoder::new(style, schema)),
            sink,
            started: false,
        };
        let body = match format {
            OutputFormat::Csv => text(Style::Csv, schema, sink),
            OutputFormat::JsonLines => text(Style::Json, schema, sink),
            OutputFormat::Parquet => Body::Parquet(Box::new(ParquetWriter::new(schema, sink, &name)?)),
        };
        Ok(Self { body, name })
    }

    /// Appends the rows of a batch.
    ///
    /// # Errors
    /// If the sink fails ([`Error::is_broken_pipe`] tells a reader that went away), or the batch has other columns.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match &mut self.body {
            Body::Text { encoder, sink, started } => {
                let bytes = encoder.encode(batch, !*started).map_err(|error| error.in_file(&self.name))?;
                *started = true;
                sink.write_all(&bytes).map_err(|error| writing(&self.name, &error))
            }
            Body::Parquet(writer) => writer.write(batch, &self.name),
        }
    }

    /// For the text formats, the encoder of this table, for use on other threads: what it makes of successive pieces
    /// goes to [`write_encoded`](Self::write_encoded) in order. The first piece, and only that, is encoded with its
    /// header. `None` for Parquet.
    pub fn encoder(&self) -> Option<Arc<TextEncoder>> {
        match &self.body {
            Body::Text { encoder, .. } => Some(Arc::clone(encoder)),
            Body::Parquet(_) => None,
        }
    }

    /// Appends bytes that the [encoder](Self::encoder) made.
    ///
    /// # Errors
    /// If the sink fails, or this is a Parquet file.
    pub fn write_encoded(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.body {
            Body::Text { sink, started, .. } => {
                *started |= !bytes.is_empty();
                sink.write_all(bytes).map_err(|error| writing(&self.name, &error))
            }
            Body::Parquet(_) => {
                Err(Error::invalid("encoded text does not go into a Parquet file", "write batches").in_file(&self.name))
            }
        }
    }

    /// Ends the table (with its header, if no row came) and gives the sink back.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn finish(self) -> Result<W> {
        match self.body {
            Body::Text { encoder, mut sink, started } => {
                let header = if started { Vec::new() } else { encoder.header() };
                let done = sink.write_all(&header).and_then(|()| sink.flush());
                done.map_err(|error| writing(&self.name, &error))?;
                Ok(sink)
            }
            Body::Parquet(writer) => writer.finish(&self.name),
        }
    }
}

impl<W: Write + Send> std::fmt::Debug for TableWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableWriter").field("name", &self.name).finish_non_exhaustive()
    }
}
