//! Parquet files whose bytes depend on their rows alone, and not on the batches that the rows came in.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{
    Compression as Codec, Encoding, GzipLevel, LogicalType, Repetition, Type as PhysicalType, ZstdLevel,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::{ColumnPath, SchemaDescriptor, Type};

use super::compression::Compression;
use super::errors::{unpanicked, writing};
use super::rebatch::{BATCH, Rebatcher};
use super::row_sink::is_uuid;
use crate::error::{Error, Result};

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
    /// Pages end where a hand-over to the encoder does, so hand-overs must not depend on how the rows came.
    rows: Rebatcher,
}

impl<W: Write + Send> ParquetWriter<W> {
    pub(super) fn new(schema: SchemaRef, compression: Compression, sink: W, name: &Path) -> Result<Self> {
        let sink = Arc::new(Mutex::new(sink));
        let lent = Lent(Arc::clone(&sink));
        let start = || -> Result<_, ParquetError> {
            let properties = properties(&schema, compression)?;
            let options = ArrowWriterOptions::new().with_properties(properties).with_parquet_schema(columns(&schema)?);
            ArrowWriter::try_new_with_options(lent, Arc::clone(&schema), options)
        };
        // The library panics over types that it cannot store.
        let writer = unpanicked(start)
            .unwrap_or_else(|| Err(ParquetError::NYI("a column is of a type that Parquet files cannot hold".into())))
            .map_err(|error| writing(name, &error))?;
        Ok(Self { writer, sink, rows: Rebatcher::new(schema) })
    }

    pub(super) fn write(&mut self, batch: &RecordBatch, name: &Path) -> Result<()> {
        let Self { writer, rows, .. } = self;
        rows.push(batch, |full| writer.write(&full)).map_err(|error: ParquetError| writing(name, &error))
    }

    pub(super) fn finish(mut self, name: &Path) -> Result<W> {
        let mut end = || -> Result<(), ParquetError> {
            if let Some(rest) = self.rows.rest()? {
                self.writer.write(&rest)?;
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
}

/// How columns are stored. Nothing here depends on the time, the machine or the number of threads.
fn properties(schema: &SchemaRef, compression: Compression) -> Result<WriterProperties, ParquetError> {
    let codec = match compression {
        Compression::None => Codec::UNCOMPRESSED,
        Compression::Gzip => Codec::GZIP(GzipLevel::default()),
        Compression::Zstd => Codec::ZSTD(ZstdLevel::try_new(1)?),
    };
    let mut properties = WriterProperties::builder()
        .set_compression(codec)
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
