//! Tables that this program wrote as Parquet files, read back batch by batch.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use super::InputFormat;
use super::errors::guarded;
use crate::error::{Error, Result};

/// Rows of a batch.
const BATCH: usize = 65_536;

/// Reads a Parquet file from front to back.
pub(crate) struct TableReader {
    batches: ParquetRecordBatchReader,
    schema: SchemaRef,
    path: PathBuf,
}

impl TableReader {
    /// Opens a file.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
        let open = || ParquetRecordBatchReaderBuilder::try_new(file)?.with_batch_size(BATCH).build();
        let batches = guarded(InputFormat::Parquet, "", open).map_err(|error| error.in_file(path))?;
        let schema = arrow_array::RecordBatchReader::schema(&batches);
        Ok(Self { batches, schema, path: path.to_path_buf() })
    }

    /// Its columns.
    pub(crate) fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }

    /// The next rows, at least one, or nothing at the end.
    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let next = guarded(InputFormat::Parquet, "", || self.batches.next().transpose())
                .map_err(|error| error.in_file(&self.path))?;
            match next {
                Some(batch) if batch.num_rows() == 0 => {}
                next => return Ok(next),
            }
        }
    }
}

impl std::fmt::Debug for TableReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableReader").field("path", &self.path).finish_non_exhaustive()
    }
}
