//! Parquet files whose bytes depend on their rows alone, and not on the batches that the rows came in.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use arrow_select::concat::concat;
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::{ColumnPath, SchemaDescriptor, Type};

use super::errors::writing;
use super::row_sink::is_uuid;
use crate::error::{Error, Result};

/// Rows handed to the encoder at once: pages end where a hand-over does, so it is always the same number.
const BATCH: usize = 65_536;
/// Bytes of text in a hand-over: it ends early at the row that reaches them, wherever the batches were cut.
const BATCH_BYTES: usize = 8 << 20;
/// Rows of a row group, which is what is kept in memory, encoded ..
const ROW_GROUP: usize = 16 * BATCH;
/// .. and its bytes.
const ROW_GROUP_BYTES: usize = 64 << 20;

/// A sink lent to the encoder, which would give it back only with a last flush whose failure loses its kind.
struct Lent<W>(Arc<Mutex<W>>);

impl<W: Write> Write for Lent<W> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

/// Writes a Parquet file.
pub(super) struct ParquetWriter<W: Write + Send> {
    writer: ArrowWriter<Lent<W>>,
    sink: Arc<Mutex<W>>,
    schema: SchemaRef,
    /// Rows not yet handed over, fewer than [`BATCH`] between calls.
    waiting: VecDeque<RecordBatch>,
    rows: usize,
    /// Bytes of their text.
    bytes: usize,
}

impl<W: Write + Send> ParquetWriter<W> {
    pub(super) fn new(schema: SchemaRef, sink: W, name: &Path) -> Result<Self> {
        let sink = Arc::new(Mutex::new(sink));
        let lent = Lent(Arc::clone(&sink));
        let start = || -> Result<_, ParquetError> {
            let options =
                ArrowWriterOptions::new().with_properties(properties(&schema)?).with_parquet_schema(columns(&schema)?);
            ArrowWriter::try_new_with_options(lent, Arc::clone(&schema), options)
        };
        let writer = start().map_err(|error| writing(name, &error))?;
        Ok(Self { writer, sink, schema, waiting: VecDeque::new(), rows: 0, bytes: 0 })
    }

    pub(super) fn write(&mut self, batch: &RecordBatch, name: &Path) -> Result<()> {
        let mut start = 0;
        while start < batch.num_rows() {
            let (taken, bytes) = self.room(batch, start);
            self.waiting.push_back(batch.slice(start, taken));
            (self.rows, self.bytes) = (self.rows + taken, self.bytes + bytes);
            start += taken;
            if self.rows >= BATCH || self.bytes >= BATCH_BYTES {
                self.hand_over(self.rows).map_err(|error| writing(name, &error))?;
            }
        }
        Ok(())
    }

    /// How many rows of a batch, from `start` on, belong to the present hand-over, and their bytes of text.
    fn room(&self, batch: &RecordBatch, start: usize) -> (usize, usize) {
        let most = (batch.num_rows() - start).min(BATCH - self.rows);
        let texts: Vec<&[i32]> = batch.columns().iter().filter_map(|column| offsets(column)).collect();
        let bytes = |rows: usize| -> usize {
            let of_column = |offsets: &&[i32]| offsets[start + rows].abs_diff(offsets[start]) as usize;
            texts.iter().map(of_column).sum()
        };
        if self.bytes + bytes(most) < BATCH_BYTES {
            return (most, bytes(most));
        }
        // The first row at which the limit is reached; sums only rise.
        let (mut low, mut high) = (1, most);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.bytes + bytes(middle) >= BATCH_BYTES { high = middle } else { low = middle + 1 }
        }
        (low, bytes(low))
    }

    pub(super) fn finish(mut self, name: &Path) -> Result<W> {
        let mut end = || -> Result<(), ParquetError> {
            if self.rows > 0 {
                self.hand_over(self.rows)?;
            }
            self.writer.finish().map(drop)
        };
        end().map_err(|error| writing(name, &error))?;
        let Self { writer, sink, .. } = self;
        drop(writer);
        let Some(sink) = Arc::into_inner(sink) else {
            return Err(Error::io("write", name, io::Error::other("the encoder kept the file")));
        };
        Ok(sink.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Hands the next `rows` rows to the encoder, as one batch.
    fn hand_over(&mut self, rows: usize) -> Result<(), ParquetError> {
        let mut parts = Vec::new();
        let mut missing = rows;
        while missing > 0
            && let Some(batch) = self.waiting.pop_front()
        {
            let taken = batch.num_rows().min(missing);
            if taken < batch.num_rows() {
                self.waiting.push_front(batch.slice(taken, batch.num_rows() - taken));
            }
            parts.push(batch.slice(0, taken));
            missing -= taken;
        }
        (self.rows, self.bytes) = (self.rows - rows, 0);
        let column = |index: usize| -> Result<ArrayRef, ArrowError> {
            match parts.as_slice() {
                [only] => Ok(Arc::clone(only.column(index))),
                several => concat(&several.iter().map(|part| part.column(index).as_ref()).collect::<Vec<_>>()),
            }
        };
        let columns = (0..self.schema.fields().len()).map(column).collect::<Result<_, _>>()?;
        self.writer.write(&RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}

/// Where the texts of a column begin, if it has texts of any length.
fn offsets(column: &ArrayRef) -> Option<&[i32]> {
    match column.data_type() {
        DataType::Utf8 => Some(column.as_string::<i32>().value_offsets()),
        DataType::Binary => Some(column.as_binary::<i32>().value_offsets()),
        _ => None,
    }
}

/// How columns are stored. Nothing here depends on the time, the machine or the number of threads.
fn properties(schema: &SchemaRef) -> Result<WriterProperties, ParquetError> {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_max_row_group_row_count(Some(ROW_GROUP))
        .set_max_row_group_bytes(Some(ROW_GROUP_BYTES));
    for field in schema.fields() {
        let path = ColumnPath::from(field.name().as_str());
        // Keys and row numbers hardly repeat: a dictionary of them would be built only to be given up.
        if matches!(field.name().as_str(), "key" | "row") {
            properties = properties.set_column_dictionary_enabled(path.clone(), false);
        }
        if field.name() == "row" && field.data_type().is_integer() {
            properties = properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
    }
    Ok(properties.build())
}

/// The columns as Parquet describes them, with UUIDs marked as such.
fn columns(schema: &SchemaRef) -> Result<SchemaDescriptor, ParquetError> {
    let plain = ArrowSchemaConverter::new().convert(schema)?;
    if !schema.fields().iter().any(|field| is_uuid(field)) {
        return Ok(plain);
    }
    let root = plain.root_schema();
    let mut fields = Vec::with_capacity(schema.fields().len());
    for (field, described) in schema.fields().iter().zip(root.get_fields()) {
        if !is_uuid(field) {
            fields.push(Arc::clone(described));
            continue;
        }
        let repetition = if field.is_nullable() { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let uuid = Type::primitive_type_builder(field.name(), PhysicalType::FIXED_LEN_BYTE_ARRAY)
            .with_length(16)
            .with_repetition(repetition)
            .with_logical_type(Some(LogicalType::Uuid))
            .build()?;
        fields.push(Arc::new(uuid));
    }
    let root = Type::group_type_builder(root.name()).with_fields(fields).build()?;
    Ok(SchemaDescriptor::new(Arc::new(root)))
}
