//! The plan directory: written beside its final name as `NAME.partial`, and renamed when it is complete.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde::Serialize;
use serde_json::Value;

use super::manifest::{FORMAT, FileRecord, InputRecord, Manifest, PLACEMENT_VERSION, RecordedFile};
use super::node_names::NodeNames;
use super::summary::Summary;
use super::tally::Tally;
use super::target::{MANIFEST, MOVES, places};
use crate::error::{Error, Result};
use crate::io::{OutputFormat, TableWriter, directory_of, sync_directory};

/// Input rows whose moves make one part, unless the options say otherwise.
pub const PART_ROWS: u64 = 1 << 20;

/// How a plan directory is written.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// Replace an existing plan.
    pub force: bool,
    /// Write no moves, only the sums.
    pub summary_only: bool,
    /// Input rows whose moves make one part.
    pub part_rows: u64,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self { force: false, summary_only: false, part_rows: PART_ROWS }
    }
}

/// Writes a plan directory. Dropped before [`finish`](Self::finish), it leaves `NAME.partial`, never `NAME`.
#[derive(Debug)]
pub struct PlanWriter {
    place: PathBuf,
    partial: PathBuf,
    options: PlanOptions,
    schema: SchemaRef,
    part: Option<Part>,
    parts: u64,
    files: Vec<FileRecord>,
}

#[derive(Debug)]
struct Part {
    path: String,
    table: TableWriter<RecordedFile>,
    rows: u64,
}

impl PlanWriter {
    /// Starts a plan at `target` for keys of this column (`sized`: with sizes).
    ///
    /// # Errors
    /// As [`check_plan_target`](crate::plan::check_plan_target), and if the folder cannot be made.
    pub fn create(target: &Path, options: PlanOptions, key: Field, sized: bool) -> Result<Self> {
        let (place, partial) = places(target, options.force)?;
        if partial.symlink_metadata().is_ok() {
            fs::remove_dir_all(&partial).map_err(|error| Error::io("remove", &partial, error))?;
        }
        fs::create_dir(&partial).map_err(|error| Error::io("create", &partial, error))?;
        let moves = partial.join(MOVES);
        fs::create_dir(&moves).map_err(|error| Error::io("create", &moves, error))?;
        let mut fields = vec![Field::new("row", DataType::UInt64, false), key];
        fields.extend([NodeNames::field("from"), NodeNames::field("to")]);
        if sized {
            fields.push(Field::new("bytes", DataType::UInt64, false));
        }
        let schema = Arc::new(Schema::new(fields));
        let options = PlanOptions { part_rows: options.part_rows.max(1), ..options };
        Ok(Self { place, partial, options, schema, part: None, parts: 0, files: Vec::new() })
    }

    /// The columns of the moves: row, key, from, to, and bytes where sizes are known.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Appends moves; `rows` are their rows in the input, ascending, as in the batch.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&mut self, rows: &[u64], batch: &RecordBatch) -> Result<()> {
        let mut start = 0;
        while let Some(row) = rows.get(start) {
            let part = row / self.options.part_rows;
            self.open_part(part)?;
            let end = start + rows[start..].partition_point(|row| row / self.options.part_rows == part);
            if let Some(open) = &mut self.part {
                open.table.write(&batch.slice(start, end - start))?;
                open.rows += (end - start) as u64;
            }
            start = end;
        }
        Ok(())
    }

    /// Opens a part, after closing those before it; parts without moves are files without rows.
    fn open_part(&mut self, index: u64) -> Result<()> {
        while self.part.is_none() || self.parts <= index {
            self.close_part()?;
            let path = format!("{MOVES}/part-{:05}.parquet", self.parts);
            let full = self.partial.join(&path);
            let file = RecordedFile::create(&full)?;
            let table = TableWriter::new(OutputFormat::Parquet, self.schema(), file, full)?;
            self.part = Some(Part { path, table, rows: 0 });
            self.parts += 1;
        }
        Ok(())
    }

    fn close_part(&mut self) -> Result<()> {
        if let Some(part) = self.part.take() {
            let file = part.table.finish()?;
            self.files.push(file.finish(&self.partial, part.path, Some(part.rows))?);
        }
        Ok(())
    }

    /// Writes the sums and the manifest, and gives the directory its final name. `rows` is the number of input rows.
    ///
    /// # Errors
    /// If writing fails; `NAME.partial` is left then.
    pub fn finish(mut self, tally: &Tally, summary: &Summary, options: Value, inputs: Vec<InputRecord>) -> Result<()> {
        let rows: u64 = inputs.iter().map(|input| input.rows).sum();
        if rows > 0 && !self.options.summary_only {
            self.open_part((rows - 1) / self.options.part_rows)?;
        }
        self.close_part()?;
        self.write_flows(tally)?;
        self.write_nodes(tally)?;
        self.write_json("summary.json", summary)?;
        let (from, to) = tally.nodes().clusters();
        let manifest = Manifest {
            format: FORMAT,
            placement_version: PLACEMENT_VERSION,
            from: from.to_json(),
            to: to.to_json(),
            options,
            inputs,
            files: std::mem::take(&mut self.files),
        };
        self.write_json(MANIFEST, &manifest)?;
        self.publish()
    }

    fn write_flows(&mut self, tally: &Tally) -> Result<()> {
        let flows = tally.flows();
        let rows = flows.iter().map(|flow| {
            let name = |name: &Option<String>| name.clone().unwrap_or_default();
            [name(&flow.from), name(&flow.to), flow.keys.to_string(), or_empty(flow.bytes)]
        });
        self.write_csv("flows.csv", ["from", "to", "keys", "bytes"], rows)
    }

    fn write_nodes(&mut self, tally: &Tally) -> Result<()> {
        let loads = tally.loads();
        let rows = loads.iter().map(|load| {
            let (before, after) = load.bytes.unzip();
            let name = load.name.clone().unwrap_or_default();
            [name, load.keys.0.to_string(), load.keys.1.to_string(), or_empty(before), or_empty(after)]
        });
        self.write_csv("nodes.csv", ["name", "keys_from", "keys_to", "bytes_from", "bytes_to"], rows)
    }

    fn write_csv<const N: usize>(
        &mut self,
        name: &str,
        header: [&str; N],
        rows: impl ExactSizeIterator<Item = [String; N]>,
    ) -> Result<()> {
        let count = rows.len() as u64;
        let path = self.partial.join(name);
        let failed = |error: csv::Error| Error::io("write", &path, error.into());
        let mut table = csv::Writer::from_writer(RecordedFile::create(&path)?);
        table.write_record(header).map_err(failed)?;
        for row in rows {
            table.write_record(row).map_err(failed)?;
        }
        let file = table.into_inner().map_err(|error| Error::io("write", &path, error.into_error()))?;
        self.files.push(file.finish(&self.partial, name.to_owned(), Some(count))?);
        Ok(())
    }

    fn write_json(&mut self, name: &str, value: &impl Serialize) -> Result<()> {
        let path = self.partial.join(name);
        let mut text = serde_json::to_vec_pretty(value).map_err(|error| Error::syntax(error).in_file(&path))?;
        text.push(b'\n');
        let mut file = RecordedFile::create(&path)?;
        file.write_all(&text).map_err(|error| Error::io("write", &path, error))?;
        let record = file.finish(&self.partial, name.to_owned(), None)?;
        // The manifest cannot hold its own checksum.
        if name != MANIFEST {
            self.files.push(record);
        }
        Ok(())
    }

    /// Gives the finished folder its name; a plan that was there before is removed only after that.
    fn publish(self) -> Result<()> {
        let failed = |error| Error::io("rename", &self.partial, error);
        for folder in [self.partial.join(MOVES), self.partial.clone()] {
            sync_directory(&folder).map_err(|error| Error::io("write", &folder, error))?;
        }
        if self.place.symlink_metadata().is_err() {
            fs::rename(&self.partial, &self.place).map_err(failed)?;
        } else if exchange(&self.partial, &self.place) {
            // What has the partial name now is the plan that was replaced.
            fs::remove_dir_all(&self.partial).map_err(|error| Error::io("remove", &self.partial, error))?;
        } else {
            // Where names cannot be exchanged, nothing is under the final name for a moment.
            fs::remove_dir_all(&self.place).map_err(|error| Error::io("remove", &self.place, error))?;
            fs::rename(&self.partial, &self.place).map_err(failed)?;
        }
        let parent = directory_of(&self.place);
        sync_directory(parent).map_err(|error| Error::io("write", parent, error))
    }
}

/// Exchanges the names of two folders in one step, where the system can.
#[cfg(target_os = "linux")]
fn exchange(a: &Path, b: &Path) -> bool {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn exchange(_a: &Path, _b: &Path) -> bool {
    false
}

fn or_empty(value: Option<u64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
