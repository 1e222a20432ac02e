//! Batches cut anew, so that where they end depends on the rows alone: files then have the same bytes however the rows
//! came.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use arrow_select::concat::concat;

/// Rows of a full batch.
pub(super) const BATCH: usize = 65_536;
/// Bytes of text in a batch: it ends early at the row that reaches them, wherever the rows were cut before.
const BATCH_BYTES: usize = 8 << 20;

/// Gathers rows until a batch is full.
pub(super) struct Rebatcher {
    schema: SchemaRef,
    /// Rows not yet handed over, fewer than [`BATCH`] between calls.
    waiting: Vec<RecordBatch>,
    rows: usize,
    /// Bytes of their text.
    bytes: usize,
}

impl Rebatcher {
    pub(super) fn new(schema: SchemaRef) -> Self {
        Self { schema, waiting: Vec::new(), rows: 0, bytes: 0 }
    }

    /// Takes in the rows of a batch, and hands every batch over that becomes full.
    pub(super) fn push<E: From<ArrowError>>(
        &mut self,
        batch: &RecordBatch,
        mut hand_over: impl FnMut(RecordBatch) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut start = 0;
        while start < batch.num_rows() {
            let (taken, bytes) = self.room(batch, start);
            self.waiting.push(batch.slice(start, taken));
            (self.rows, self.bytes) = (self.rows + taken, self.bytes + bytes);
            start += taken;
            if self.rows >= BATCH || self.bytes >= BATCH_BYTES {
                hand_over(self.join()?)?;
            }
        }
        Ok(())
    }

    /// The rows that fill no batch, if there are any.
    pub(super) fn rest(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        if self.rows > 0 { self.join().map(Some) } else { Ok(None) }
    }

    /// How many rows of a batch, from `start` on, belong to the present batch, and their bytes of text.
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

    /// All waiting rows as one batch.
    fn join(&mut self) -> Result<RecordBatch, ArrowError> {
        let parts = std::mem::take(&mut self.waiting);
        (self.rows, self.bytes) = (0, 0);
        let column = |index: usize| -> Result<ArrayRef, ArrowError> {
            match parts.as_slice() {
                [only] => Ok(Arc::clone(only.column(index))),
                several => concat(&several.iter().map(|part| part.column(index).as_ref()).collect::<Vec<_>>()),
            }
        };
        let columns = (0..self.schema.fields().len()).map(column).collect::<Result<_, _>>()?;
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
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
