//! Keys of Parquet files: only the columns that are needed are read.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{ArrowError, Field};
use arrow_select::filter::filter;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::LogicalType;

use super::chunk::{KeyChunk, Rows};
use super::columns::choose;
use super::errors::{read_parquet, reading_parquet};
use super::fault::{Fault, stopping};
use super::input::ChunkSource;
use super::metered::Progress;
use super::options::{BadRows, ReadOptions};
use super::parquet_keys::{KeyShape, is_size, sizes};
use super::position::Position;
use super::report::RowReport;
use super::row_sink::is_uuid;
use crate::error::{Error, Place, Result};
use crate::keys::KeyType;

/// A Parquet file.
pub(super) struct ParquetReader {
    batches: ParquetRecordBatchReader,
    /// The chosen columns: their fields in the file, and where they are in a batch.
    key: (Arc<Field>, usize),
    kept: Vec<(Arc<Field>, usize)>,
    size: Option<(Arc<Field>, usize)>,
    shape: KeyShape,
    /// Where the next row is: counted over all inputs, and in this one.
    next_row: u64,
    input_row: u64,
    /// Rows that were decoded and belong to the next part.
    rest: Option<RecordBatch>,
    options: ReadOptions,
    report: RowReport,
    progress: Progress,
    total_rows: u64,
    total_bytes: u64,
}

impl ParquetReader {
    pub(super) fn new(
        file: File,
        options: &ReadOptions,
        position: &Position,
        progress: Progress,
        total_bytes: u64,
    ) -> Result<Self> {
        if options.second_key_type.is_some() {
            return Err(Error::invalid(
                "two ways to read a key were asked for, and a Parquet column has a type of its own",
                "leave --key-type out, or give the keys as lines or CSV",
            ));
        }
        let builder = read_parquet(|| ParquetRecordBatchReaderBuilder::try_new(file))?;
        let fields = builder.schema().fields().clone();
        let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
        let chosen = choose(&names, options)?;

        let key = Arc::clone(&fields[chosen.key]);
        let root = builder.parquet_schema().root_schema();
        let says_uuid = root
            .get_fields()
            .get(chosen.key)
            .is_some_and(|leaf| matches!(leaf.get_basic_info().logical_type_ref(), Some(LogicalType::Uuid)));
        let shape = KeyShape::of(key.name(), key.data_type(), says_uuid || is_uuid(&key), options.key_type)?;
        if let Some(field) = chosen.size.map(|index| &fields[index])
            && !is_size(field.data_type())
        {
            return Err(Error::invalid(
                format!("column {:?} is {}, which cannot be sizes", field.name(), field.data_type()),
                "choose a column of integers",
            ));
        }

        let mut roots: Vec<usize> = chosen.kept.iter().copied().chain(chosen.size).chain([chosen.key]).collect();
        roots.sort_unstable();
        roots.dedup();
        // A batch has the columns that are read in the order of the file.
        let place = |index: usize| (Arc::clone(&fields[index]), roots.partition_point(|root| *root < index));
        let mask = ProjectionMask::roots(builder.parquet_schema(), roots.iter().copied());
        let total_rows = u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
        let skipped = usize::try_from(position.input_row).unwrap_or(usize::MAX);
        let batches = builder.with_projection(mask).with_batch_size(options.chunk_rows.max(1)).with_offset(skipped);
        let batches = read_parquet(|| batches.build())?;
        Ok(Self {
            batches,
            key: place(chosen.key),
            kept: chosen.kept.iter().map(|index| place(*index)).collect(),
            size: chosen.size.map(place),
            shape,
            next_row: position.row,
            input_row: position.input_row,
            rest: None,
            options: options.clone(),
            report: RowReport::of(total_rows == 0),
            progress,
            total_rows,
            total_bytes,
        })
    }

    /// Why row `index` of a batch is bad, if it is: the column and the value too.
    fn fault(&self, columns: &Columns, index: usize) -> Option<(&Field, Option<String>, Fault)> {
        let key = self.key.0.as_ref();
        if columns.key.is_null(index) {
            return Some((key, None, Fault::NullKey));
        }
        if let (Some(words), Some((max, reason))) = (&columns.words, self.options.max_key)
            && words[index] > max
        {
            return Some((key, KeyShape::shown(&columns.key, index), Fault::TooLarge(reason)));
        }
        let (Some((raw, sizes)), Some((field, _))) = (&columns.sizes, &self.size) else { return None };
        if raw.is_null(index) {
            return Some((field, None, Fault::NullSize));
        }
        sizes.is_null(index).then(|| (field.as_ref(), KeyShape::shown(raw, index), Fault::NotSize))
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

    fn chunk(&mut self, batch: &RecordBatch) -> Result<KeyChunk> {
        let broken = |error: ArrowError| reading_parquet(&error);
        let (first, rows) = (self.next_row, batch.num_rows());
        let end_row = first + rows as u64;
        let key = self.shape.plain(batch.column(self.key.1)).map_err(broken)?;
        let words = if self.options.max_key.is_some() { self.shape.words(&key).map_err(broken)? } else { None };
        let size = match &self.size {
            Some((_, at)) => {
                let raw = logical(batch.column(*at)).map_err(broken)?;
                let wide = sizes(&raw).map_err(broken)?;
                Some((raw, wide))
            }
            None => None,
        };
        let mut columns = Columns { key, words, sizes: size };
        let good = self.sieve(&columns, rows)?;
        (self.next_row, self.input_row) = (end_row, self.input_row + rows as u64);
        let mut kept: Vec<ArrayRef> = self.kept.iter().map(|(_, at)| Arc::clone(batch.column(*at))).collect();
        let mut numbers = Rows::From(first);
        if let Some(good) = &good {
            columns.key = filter(&columns.key, good).map_err(broken)?;
            for array in &mut kept {
                *array = filter(array, good).map_err(broken)?;
            }
            if let Some((_, sizes)) = &mut columns.sizes {
                *sizes = filter(sizes, good).map_err(broken)?;
            }
            numbers = Rows::Listed(good.values().set_indices().map(|index| first + index as u64).collect());
        }
        if let Some(text) = columns.key.as_string_opt::<i32>().filter(|_| !self.report.has_looked()) {
            text.iter().flatten().for_each(|key| self.report.look(key.as_bytes()));
        }
        self.report.rows += columns.key.len() as u64;
        let estimate = u128::from(self.total_bytes) * u128::from(self.input_row) / u128::from(self.total_rows.max(1));
        self.progress.set(u64::try_from(estimate).unwrap_or(self.total_bytes).min(self.total_bytes));
        Ok(KeyChunk {
            first: self.shape.column(columns.key).map_err(broken)?,
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
    words: Option<arrow_buffer::ScalarBuffer<u64>>,
    /// Sizes as they are in the file, and as unsigned integers.
    sizes: Option<(ArrayRef, ArrayRef)>,
}

/// The array without a dictionary around it, so that its nulls are where its rows are.
fn logical(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match array.data_type() {
        arrow_schema::DataType::Dictionary(_, values) => arrow_cast::cast(array, values),
        _ => Ok(Arc::clone(array)),
    }
}

impl ChunkSource for ParquetReader {
    fn key_type(&self) -> KeyType {
        self.shape.key_type()
    }

    fn key_field(&self) -> Field {
        self.shape.field()
    }

    fn kept_fields(&self) -> Vec<Field> {
        self.kept.iter().map(|(field, _)| field.as_ref().clone()).collect()
    }

    fn report(&self) -> &RowReport {
        &self.report
    }

    fn next_chunk(&mut self, _name: &Path) -> Result<Option<KeyChunk>> {
        let next = match self.rest.take() {
            Some(rest) => Some(rest),
            None => read_parquet(|| self.batches.next().transpose())?,
        };
        let Some(mut batch) = next else { return Ok(None) };
        let room = usize::try_from(self.options.room(self.next_row)).unwrap_or(usize::MAX);
        if batch.num_rows() > room {
            self.rest = Some(batch.slice(room, batch.num_rows() - room));
            batch = batch.slice(0, room);
        }
        self.chunk(&batch).map(Some)
    }
}
