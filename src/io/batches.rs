//! Record batches into chunks of keys: what Parquet and Arrow have in common.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_buffer::{BooleanBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field};
use arrow_select::filter::filter;

use super::InputFormat;
use super::chunk::{KeyChunk, Rows};
use super::errors::unreadable;
use super::fault::{Fault, stopping};
use super::input::ChunkSource;
use super::metered::Progress;
use super::options::{BadRows, ReadOptions};
use super::position::Position;
use super::report::RowReport;
use super::typed_columns::Layout;
use super::typed_keys::{KeyShape, sizes};
use crate::error::{Error, Place, Result};
use crate::keys::KeyType;

/// The record batches of one input, in the order of its rows.
pub(super) trait BatchSource: Send {
    /// The next rows.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>>;

    /// Bytes of the file that were needed for the rows before `row`.
    fn consumed(&self, row: u64) -> u64;
}

/// An input of record batches.
pub(super) struct BatchReader<S> {
    source: S,
    format: InputFormat,
    /// The chosen columns, by where they are in a batch.
    layout: Layout,
    /// Where the next row is: counted over all inputs, and in this one.
    next_row: u64,
    input_row: u64,
    /// A batch, and its rows that are done.
    current: Option<(RecordBatch, usize)>,
    /// Rows to be dropped before the first.
    dropped: u64,
    options: ReadOptions,
    report: RowReport,
    progress: Option<Progress>,
}

impl<S: BatchSource> BatchReader<S> {
    /// Reads on from `position`; `source` begins `dropped` rows before it.
    pub(super) fn new(
        source: S,
        format: InputFormat,
        layout: Layout,
        options: &ReadOptions,
        position: &Position,
        dropped: u64,
    ) -> Self {
        Self {
            source,
            format,
            layout,
            next_row: position.row,
            input_row: position.input_row,
            current: None,
            dropped,
            options: options.clone(),
            report: RowReport::of(false),
            progress: None,
        }
    }

    fn broken(&self, error: &ArrowError) -> Error {
        unreadable(self.format, "", error)
    }

    /// The next rows that make up a chunk. Chunks begin at the same rows wherever reading began.
    fn piece(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some((batch, done)) = &mut self.current {
                let left = batch.num_rows() - *done;
                let dropped = usize::try_from(self.dropped).unwrap_or(usize::MAX).min(left);
                *done += dropped;
                self.dropped -= dropped as u64;
                let rows = self.options.chunk_rows.max(1);
                let room = usize::try_from(self.options.room(self.next_row)).unwrap_or(usize::MAX);
                let length = (rows - *done % rows).min(room).min(left - dropped);
                if length > 0 {
                    let piece = batch.slice(*done, length);
                    *done += length;
                    return Ok(Some(piece));
                }
            }
            self.current = self.source.next_batch()?.map(|batch| (batch, 0));
            if self.current.is_none() {
                if self.dropped > 0 {
                    return Err(Error::invalid(
                        "it has fewer rows than reading is to go on behind",
                        "give the same file",
                    ));
                }
                return Ok(None);
            }
        }
    }

    /// Why row `index` of a batch is bad, if it is: the column and the value too.
    fn fault(&self, columns: &Columns, index: usize) -> Option<(&Field, Option<String>, Fault)> {
        let key = &self.layout.key.field;
        if columns.key.is_null(index) {
            return Some((key, None, Fault::NullKey));
        }
        if let (Some(words), Some((max, reason))) = (&columns.words, self.options.max_key)
            && words[index] > max
        {
            return Some((key, KeyShape::shown(&columns.key, index), Fault::TooLarge(reason)));
        }
        let (Some((raw, sizes)), Some(size)) = (&columns.sizes, &self.layout.size) else { return None };
        if raw.is_null(index) {
            return Some((&size.field, None, Fault::NullSize));
        }
        sizes.is_null(index).then(|| (&size.field, KeyShape::shown(raw, index), Fault::NotSize))
    }

    /// Which rows of a batch are good; nothing if all are.
    fn sieve(&mut self, columns: &Columns, rows: usize) -> Result<Option<BooleanArray>> {
        let too_large = match (&columns.words, self.options.max_key) {
            (Some(words), Some((max, _))) => words.iter().any(|word| *word > max),
            _ => false,
        };
        let null_size = columns.sizes.as_ref().is_some_and(|(_, sizes)| sizes.null_count() > 0);
        if columns.key.null_count() == 0 && !too_large && !null_size {
            return Ok(None);
        }
        let mut good = vec![true; rows];
        for (index, good) in good.iter_mut().enumerate() {
            let Some((field, value, fault)) = self.fault(columns, index) else { continue };
            let (name, place) = (field.name().clone(), Place::Row(self.input_row + index as u64));
            let describe = || fault.at(place, Some(&name), value.as_ref().map(String::as_bytes));
            self.report.bad_row(describe);
            if self.options.bad_rows == BadRows::Stop {
                return Err(stopping(describe()));
            }
            *good = false;
        }
        Ok(Some(BooleanArray::new(BooleanBuffer::from(good), None)))
    }

    /// The columns of a batch, of which the carried ones come extra.
    fn columns(&self, batch: &RecordBatch) -> Result<(Columns, Vec<ArrayRef>), ArrowError> {
        let Layout { key, kept, size, shape } = &self.layout;
        let key = shape.plain(&key.of(batch)?)?;
        let words = if self.options.max_key.is_some() { shape.words(&key)? } else { None };
        let sizes = match size {
            Some(size) => {
                let raw = logical(&size.of(batch)?)?;
                let wide = sizes(&raw)?;
                Some((raw, wide))
            }
            None => None,
        };
        let kept = kept.iter().map(|column| column.of(batch)).collect::<Result<_, _>>()?;
        Ok((Columns { key, words, sizes }, kept))
    }

    fn chunk(&mut self, batch: &RecordBatch) -> Result<KeyChunk> {
        let (first, rows) = (self.next_row, batch.num_rows());
        let end_row = first + rows as u64;
        let (mut columns, mut kept) = self.columns(batch).map_err(|error| self.broken(&error))?;
        let good = self.sieve(&columns, rows)?;
        (self.next_row, self.input_row) = (end_row, self.input_row + rows as u64);
        let mut numbers = Rows::From(first);
        if let Some(good) = &good {
            keep(good, &mut columns, &mut kept).map_err(|error| self.broken(&error))?;
            numbers = Rows::Listed(good.values().set_indices().map(|index| first + index as u64).collect());
        }
        if let Some(text) = columns.key.as_string_opt::<i32>().filter(|_| !self.report.has_looked()) {
            text.iter().flatten().for_each(|key| self.report.look(key.as_bytes()));
        }
        self.report.rows += columns.key.len() as u64;
        if let Some(progress) = &self.progress {
            progress.set(self.source.consumed(self.input_row));
        }
        Ok(KeyChunk {
            first: self.layout.shape.column(columns.key).map_err(|error| self.broken(&error))?,
            second: None,
            rows: numbers,
            finished: Vec::new(),
            end: Position { row: end_row, input_row: self.input_row, ..Position::default() },
            kept,
            sizes: columns.sizes.map(|(_, sizes)| sizes.as_primitive::<UInt64Type>().values().clone()),
        })
    }
}

/// The columns of a batch that can make a row bad.
struct Columns {
    key: ArrayRef,
    /// The keys widened, where there is a largest key.
    words: Option<ScalarBuffer<u64>>,
    /// Sizes as they are in the file, and as unsigned integers.
    sizes: Option<(ArrayRef, ArrayRef)>,
}

/// Leaves only the good rows.
fn keep(good: &BooleanArray, columns: &mut Columns, kept: &mut [ArrayRef]) -> Result<(), ArrowError> {
    columns.key = filter(&columns.key, good)?;
    for array in kept {
        *array = filter(array, good)?;
    }
    if let Some((_, sizes)) = &mut columns.sizes {
        *sizes = filter(sizes, good)?;
    }
    Ok(())
}

/// The array without a dictionary around it, so that its nulls are where its rows are.
fn logical(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match array.data_type() {
        DataType::Dictionary(_, values) => arrow_cast::cast(array, values),
        _ => Ok(Arc::clone(array)),
    }
}

impl<S: BatchSource> ChunkSource for BatchReader<S> {
    fn key_type(&self) -> KeyType {
        self.layout.shape.key_type()
    }

    fn key_field(&self) -> Field {
        self.layout.shape.field()
    }

    fn key_column(&self) -> Option<&str> {
        Some(self.layout.key.field.name())
    }

    fn kept_fields(&self) -> Vec<Field> {
        self.layout.kept.iter().map(|column| column.field.clone()).collect()
    }

    fn report(&self) -> &RowReport {
        &self.report
    }

    fn begin(&mut self, row: u64, progress: Option<Progress>) {
        self.next_row = row;
        self.progress = progress;
    }

    fn next_chunk(&mut self, _name: &Path) -> Result<Option<KeyChunk>> {
        let Some(batch) = self.piece()? else {
            self.report.empty = self.input_row == 0;
            return Ok(None);
        };
        self.chunk(&batch).map(Some)
    }
}
