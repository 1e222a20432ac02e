//! Arrow IPC files and streams whose bytes depend on their rows alone, and not on the batches that the rows came in.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, make_array};
use arrow_data::ArrayData;
use arrow_data::transform::MutableArrayData;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, DataType, SchemaRef};

use super::compression::Compression;
use super::errors::{syntax, writing};
use super::rebatch::Rebatcher;
use crate::error::{Error, Result};

/// Writes an Arrow IPC file or stream.
pub(super) struct ArrowWriter<W: Write> {
    framing: Framing<W>,
    schema: SchemaRef,
    /// Record batches of the file end where a hand-over does, so hand-overs must not depend on how the rows came.
    rows: Rebatcher,
    /// The dictionary of each column that has one, from the first batch on.
    dictionaries: Vec<Option<ArrayRef>>,
}

enum Framing<W: Write> {
    /// With a footer that tells where each batch is, for random access.
    File(Box<FileWriter<W>>),
    Stream(Box<StreamWriter<W>>),
}

impl<W: Write> Framing<W> {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let columns = batch.columns().iter().map(canonical).collect::<Result<_, _>>()?;
        let batch = RecordBatch::try_new(batch.schema(), columns)?;
        match self {
            Self::File(writer) => writer.write(&batch),
            Self::Stream(writer) => writer.write(&batch),
        }
    }

    fn finish(self) -> Result<W, ArrowError> {
        match self {
            Self::File(writer) => writer.into_inner(),
            Self::Stream(writer) => writer.into_inner(),
        }
    }
}

impl<W: Write> ArrowWriter<W> {
    /// A file, or else a stream. Gzip is no compression of Arrow's.
    pub(super) fn new(
        schema: SchemaRef,
        is_file: bool,
        compression: Compression,
        sink: W,
        name: &Path,
    ) -> Result<Self> {
        let inside = match compression {
            Compression::None => None,
            Compression::Zstd => Some(CompressionType::ZSTD),
            Compression::Gzip => return Err(Error::invalid(NO_GZIP, ZSTD_INSTEAD).in_file(name)),
        };
        let start = || -> Result<_, ArrowError> {
            let options = IpcWriteOptions::default().try_with_compression(inside)?;
            Ok(if is_file {
                Framing::File(Box::new(FileWriter::try_new_with_options(sink, &schema, options)?))
            } else {
                Framing::Stream(Box::new(StreamWriter::try_new_with_options(sink, &schema, options)?))
            })
        };
        let framing = start().map_err(|error| writing(name, &error))?;
        let dictionaries = vec![None; schema.fields().len()];
        Ok(Self { framing, rows: Rebatcher::new(Arc::clone(&schema)), schema, dictionaries })
    }

    pub(super) fn write(&mut self, batch: &RecordBatch, name: &Path) -> Result<()> {
        let batch = self.with_one_dictionary(batch).map_err(|error| error.in_file(name))?;
        let Self { framing, rows, .. } = self;
        rows.push(&batch, |full| framing.write(&full)).map_err(|error: ArrowError| writing(name, &error))
    }

    pub(super) fn finish(mut self, name: &Path) -> Result<W> {
        let end = || -> Result<W, ArrowError> {
            if let Some(rest) = self.rows.rest()? {
                self.framing.write(&rest)?;
            }
            self.framing.finish()
        };
        end().map_err(|error| writing(name, &error))
    }

    /// The batch with the dictionaries of the first one: a file holds one per column, written once.
    fn with_one_dictionary(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut columns = Vec::with_capacity(batch.num_columns());
        for (index, column) in batch.columns().iter().enumerate() {
            let Some(dictionary) = column.as_any_dictionary_opt() else {
                columns.push(Arc::clone(column));
                continue;
            };
            let first = match self.dictionaries.get_mut(index) {
                Some(first) => first.get_or_insert_with(|| Arc::clone(dictionary.values())),
                None => return Err(other_columns()),
            };
            if !Arc::ptr_eq(first, dictionary.values()) && first != dictionary.values() {
                let column = self.schema.field(index).name();
                return Err(Error::invalid(
                    format!("the dictionary of column {column:?} changed, and an Arrow file has one for all rows"),
                    "give every batch the same dictionary, or plain values",
                ));
            }
            columns.push(dictionary.with_values(Arc::clone(first)));
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(|_| other_columns())
    }
}

/// Why gzip is refused for Arrow, and what to do.
pub(super) const NO_GZIP: &str = "Arrow files cannot be compressed with gzip";
pub(super) const ZSTD_INSTEAD: &str = "use --compression zstd or none";

fn other_columns() -> Error {
    syntax("a batch does not have the columns of the table it is written to")
}

/// The array without what the format would write beside its values: what is stored where a null is, and the bits after
/// the last row, are left over from the batch that the rows came in.
fn canonical(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let is_flat = !array.data_type().is_nested() && array.data_type() != &DataType::Boolean;
    if is_flat && array.null_count() == 0 {
        return Ok(Arc::clone(array));
    }
    canonical_data(&array.to_data()).map(make_array)
}

fn canonical_data(data: &ArrayData) -> Result<ArrayData, ArrowError> {
    let nulls = data.nulls().filter(|nulls| nulls.null_count() > 0);
    let mut copy = MutableArrayData::new(vec![data], nulls.is_some(), data.len());
    match nulls {
        None => copy.try_extend(0, 0, data.len())?,
        Some(nulls) => {
            let mut end = 0;
            for (from, to) in nulls.valid_slices() {
                copy.try_extend_nulls(from - end)?;
                copy.try_extend(0, from, to)?;
                end = to;
            }
            copy.try_extend_nulls(data.len() - end)?;
        }
    }
    let copy = copy.freeze();
    if !copy.data_type().is_nested() {
        return Ok(copy);
    }
    let children = copy.child_data().iter().map(canonical_data).collect::<Result<_, _>>()?;
    copy.into_builder().child_data(children).build()
}
