//! Keys of Parquet files, row group by row group; only the columns that are needed are read.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::LogicalType;
use parquet::errors::ParquetError;
use parquet::schema::types::{SchemaDescriptor, Type};

use super::InputFormat;
use super::batches::{BatchReader, BatchSource};
use super::decoders::Decoders;
use super::errors::{contradictory, guarded};
use super::options::ReadOptions;
use super::position::Position;
use super::positioned::SharedFile;
use super::row_sink::is_uuid;
use super::typed_columns::Layout;
use crate::error::Result;

const FORMAT: InputFormat = InputFormat::Parquet;

/// Opens a Parquet file to go on behind `position`. Row groups are decoded by `decoders` if there are any, unless all
/// there is to do is one group; else by whoever asks for rows.
pub(super) fn open_parquet(
    file: SharedFile,
    options: &ReadOptions,
    position: &Position,
    several: bool,
    decoders: Option<&Arc<Decoders>>,
) -> Result<BatchReader<ParquetSource>> {
    let metadata = guarded(FORMAT, "", || ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()))?;
    let schema = metadata.parquet_schema();
    let mut layout = Layout::choose(metadata.schema().fields(), options, |column| {
        says_uuid(schema, &column.steps) || is_uuid(&column.field)
    })?;
    let needed = layout.needed();
    let layout = layout.within(&needed);
    let leaves = leaves(schema, &needed);
    let mask = ProjectionMask::leaves(schema, leaves.iter().copied());
    let chunk_rows = options.chunk_rows.max(1);
    let mut total_rows = 0_u64;
    let (mut groups, mut dropped) = (VecDeque::new(), position.input_row);
    for (number, group) in metadata.metadata().row_groups().iter().enumerate() {
        let rows = u64::try_from(group.num_rows()).map_err(|_| contradictory(FORMAT, &place(number)))?;
        // Columns outside of lists have a value a row, nulls included.
        let is_short = |leaf: &usize| {
            schema.column(*leaf).max_rep_level() == 0 && group.column(*leaf).num_values() != group.num_rows()
        };
        if leaves.iter().any(is_short) {
            return Err(contradictory(FORMAT, &place(number)));
        }
        total_rows = total_rows.checked_add(rows).ok_or_else(|| contradictory(FORMAT, ""))?;
        if groups.is_empty() && dropped >= rows {
            dropped -= rows;
            continue;
        }
        // Whole batches before the position are not read; the rest of one is dropped behind the decoder.
        let skipped = if groups.is_empty() { dropped - dropped % chunk_rows as u64 } else { 0 };
        if groups.is_empty() {
            dropped %= chunk_rows as u64;
        }
        let (file, metadata, mask) = (file.clone(), metadata.clone(), mask.clone());
        groups.push_back(RowGroup { file, metadata, mask, number, rows, skipped, chunk_rows });
    }
    if u64::try_from(metadata.metadata().file_metadata().num_rows()) != Ok(total_rows) {
        return Err(contradictory(FORMAT, ""));
    }
    let work = match decoders {
        Some(decoders) if several || groups.len() > 1 => Work::Ahead(Arc::clone(decoders), decoders.submit(groups)?),
        _ => Work::Here(groups, None),
    };
    let source = ParquetSource { work, total_rows, total_bytes: file.bytes() };
    Ok(BatchReader::new(source, FORMAT, layout, options, position, dropped))
}

/// What messages call a row group.
fn place(number: usize) -> String {
    format!("row group {number}")
}

/// Whether the column at the end of `steps` is marked as UUIDs by Parquet's own means.
fn says_uuid(schema: &SchemaDescriptor, steps: &[usize]) -> bool {
    let mut node: &Type = schema.root_schema();
    for step in steps {
        if !node.is_group() {
            return false;
        }
        match node.get_fields().get(*step) {
            Some(field) => node = field,
            None => return false,
        }
    }
    matches!(node.get_basic_info().logical_type_ref(), Some(LogicalType::Uuid))
}

/// The numbers of the leaf columns at or under the ends of these ways. Structs have the same fields in both schemas.
fn leaves(schema: &SchemaDescriptor, ways: &BTreeSet<Vec<usize>>) -> Vec<usize> {
    let below = |way: &Vec<usize>| -> Range<usize> {
        let (mut node, mut start): (&Type, usize) = (schema.root_schema(), 0);
        for step in way {
            if !node.is_group() {
                break;
            }
            let fields = node.get_fields();
            start += fields.iter().take(*step).map(|field| leaf_count(field)).sum::<usize>();
            match fields.get(*step) {
                Some(field) => node = field,
                None => return start..start,
            }
        }
        start..start + leaf_count(node)
    };
    ways.iter().flat_map(below).collect()
}

fn leaf_count(node: &Type) -> usize {
    if node.is_group() { node.get_fields().iter().map(|field| leaf_count(field)).sum() } else { 1 }
}

/// A row group that is to be decoded, by any thread.
pub(super) struct RowGroup {
    file: SharedFile,
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
    number: usize,
    rows: u64,
    /// Rows at its start that are not wanted.
    skipped: u64,
    chunk_rows: usize,
}

impl RowGroup {
    /// Opens it for decoding.
    pub(super) fn open(self) -> Result<GroupBatches> {
        let Self { file, metadata, mask, number, rows, skipped, chunk_rows } = self;
        let batches = guarded(FORMAT, &place(number), || {
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
                .with_row_groups(vec![number])
                .with_projection(mask)
                .with_batch_size(chunk_rows)
                .with_offset(usize::try_from(skipped).unwrap_or(usize::MAX))
                .build()
        })?;
        Ok(GroupBatches { batches, number, left: rows - skipped })
    }
}

/// The batches of one row group.
pub(super) struct GroupBatches {
    batches: ParquetRecordBatchReader,
    number: usize,
    /// Rows that are still to come.
    left: u64,
}

impl GroupBatches {
    /// The next batch, or nothing at the end.
    ///
    /// # Errors
    /// If the group is damaged or cannot be read, or if it does not have the rows that it should.
    pub(super) fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let place = place(self.number);
        let next = guarded(FORMAT, &place, || self.batches.next().transpose().map_err(ParquetError::from))?;
        let rows = next.as_ref().map_or(0, RecordBatch::num_rows) as u64;
        match self.left.checked_sub(rows) {
            Some(left) if left == 0 || next.is_some() => self.left = left,
            _ => return Err(contradictory(FORMAT, &place)),
        }
        Ok(next)
    }
}

/// The row groups of a file.
pub(super) struct ParquetSource {
    work: Work,
    total_rows: u64,
    total_bytes: u64,
}

enum Work {
    /// Groups to come, and the one that is decoded.
    Here(VecDeque<RowGroup>, Option<GroupBatches>),
    /// Decoders, and the numbers that they gave to the groups.
    Ahead(Arc<Decoders>, Range<u64>),
}

impl BatchSource for ParquetSource {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let next = match &mut self.work {
                Work::Here(groups, current) => match current {
                    Some(batches) => batches.next_batch()?,
                    None => match groups.pop_front() {
                        None => return Ok(None),
                        Some(group) => {
                            *current = Some(group.open()?);
                            continue;
                        }
                    },
                },
                Work::Ahead(_, units) if units.is_empty() => return Ok(None),
                Work::Ahead(decoders, units) => decoders.next_batch(units.start)?,
            };
            match (&mut self.work, next) {
                (_, Some(batch)) => return Ok(Some(batch)),
                (Work::Here(_, current), None) => *current = None,
                (Work::Ahead(_, units), None) => units.start += 1,
            }
        }
    }

    /// An estimate: the file's size in proportion to the rows.
    fn consumed(&self, row: u64) -> u64 {
        let estimate = u128::from(self.total_bytes) * u128::from(row) / u128::from(self.total_rows.max(1));
        u64::try_from(estimate).unwrap_or(self.total_bytes).min(self.total_bytes)
    }
}
