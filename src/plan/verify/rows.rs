//! Moves against moves: the rows that come out of a run, compared with those in the files of a plan.

use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, RecordBatch};
use arrow_cast::display::array_value_to_string;
use arrow_schema::{DataType, Schema, SchemaRef};

use super::findings::Findings;
use crate::error::Result;
use crate::io::TableReader;
use crate::plan::directory::part_path;
use crate::plan::manifest::Manifest;
use crate::plan::recorded_file::{check_regular, is_missing};
use crate::plan::run::{PartDone, PartSink};
use crate::plan::target::MOVES;

/// How moves compare with those of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct RowCounts {
    /// Moves that are the same.
    pub same: u64,
    /// Rows that move in both, but otherwise.
    pub different: u64,
    /// Rows that move only in the plan.
    pub only_in_plan: u64,
    /// Rows that move only now.
    pub only_now: u64,
}

/// Compares moves, as they come, with the files of a plan.
#[derive(Debug)]
pub(in crate::plan) struct RowComparison {
    stored: StoredMoves,
    counts: RowCounts,
    findings: Findings,
    /// Rows that were told one by one.
    told: u64,
}

/// Rows that are told one by one before the rest is only counted.
const TOLD: u64 = 10;

impl RowComparison {
    /// The moves that come have the columns of `schema`.
    pub(in crate::plan) fn new(folder: &Path, manifest: &Manifest, schema: SchemaRef) -> Self {
        Self {
            stored: StoredMoves::new(folder, manifest, schema),
            counts: RowCounts::default(),
            findings: Findings::default(),
            told: 0,
        }
    }

    /// Ends the comparison: what the plan has beyond all that came is only in the plan.
    pub(in crate::plan) fn finish(mut self) -> (RowCounts, Findings) {
        self.pass_over(u64::MAX);
        let RowCounts { different, only_in_plan, only_now, .. } = self.counts;
        let more = different + only_in_plan + only_now - self.told;
        if more > 0 {
            self.findings.add(MOVES, format!("{more} rows more differ"));
        }
        (self.counts, self.findings)
    }

    /// Tells of a row that differs, if it is one of the first.
    fn tell(&mut self, place: String, what: String) {
        if self.told < TOLD {
            self.told += 1;
            self.findings.add(place, what);
        }
    }

    /// Passes over the moves of the plan up to `row`.
    fn pass_over(&mut self, row: u64) {
        while let Some(stored) = self.stored.row(&mut self.findings).filter(|stored| *stored < row) {
            self.counts.only_in_plan += 1;
            self.tell(self.stored.path.clone(), format!("row {stored} moves in the plan, and not now"));
            self.stored.advance(1);
        }
    }

    /// Compares the row at `index` with the next one of the plan.
    fn compare_one(&mut self, rows: &[u64], batch: &RecordBatch, index: usize) {
        let row = rows[index];
        self.pass_over(row);
        if self.stored.row(&mut self.findings) == Some(row) {
            match self.stored.first_difference(batch, index) {
                None => self.counts.same += 1,
                Some(what) => {
                    self.counts.different += 1;
                    self.tell(self.stored.path.clone(), format!("row {row}: {what}"));
                }
            }
            self.stored.advance(1);
        } else if !self.stored.is_unreadable(row) {
            self.counts.only_now += 1;
            let place = self.stored.place_of(row);
            self.tell(place, format!("row {row} moves now, and not in the plan"));
        }
    }
}

impl PartSink for RowComparison {
    fn wants_moves(&self) -> bool {
        true
    }

    fn moves(&mut self, _number: u64, rows: &[u64], batch: &RecordBatch) -> Result<()> {
        let mut at = 0;
        while at < rows.len() {
            // Nearly always whole runs are equal, which columns tell much faster than rows.
            let run = self.stored.equal_run(batch, at, &mut self.findings);
            if run > 0 {
                self.counts.same += run as u64;
                self.stored.advance(run);
                at += run;
                continue;
            }
            let end = rows.len().min(at + 4096);
            while at < end {
                self.compare_one(rows, batch, at);
                at += 1;
            }
        }
        Ok(())
    }

    fn part(&mut self, _number: u64, _done: &PartDone<'_>) -> Result<()> {
        Ok(())
    }
}

/// The moves of a plan in the order of their rows, whatever the state of its files.
#[derive(Debug)]
struct StoredMoves {
    folder: PathBuf,
    /// The input rows that each file with moves is for.
    files: Vec<(u64, u64)>,
    /// The file to read next.
    next: usize,
    schema: SchemaRef,
    /// The file that is being read, and its rows.
    path: String,
    range: (u64, u64),
    reader: Option<TableReader>,
    batch: Option<RecordBatch>,
    at: usize,
    /// The row before.
    last: Option<u64>,
    /// Rows whose moves cannot be read.
    unreadable: Vec<(u64, u64)>,
}

impl StoredMoves {
    fn new(folder: &Path, manifest: &Manifest, schema: SchemaRef) -> Self {
        let rows = |part: &crate::plan::Part| (part.first_row, part.first_row.saturating_add(part.rows));
        let files = if manifest.has_moves() { manifest.parts.iter().map(rows).collect() } else { Vec::new() };
        Self {
            folder: folder.to_path_buf(),
            files,
            next: 0,
            schema,
            path: MOVES.to_owned(),
            range: (0, 0),
            reader: None,
            batch: None,
            at: 0,
            last: None,
            unreadable: Vec::new(),
        }
    }

    /// The file that the moves of this input row belong in.
    fn place_of(&self, row: u64) -> String {
        let file = self.files.partition_point(|(_, end)| *end <= row);
        if file < self.files.len() { part_path(file as u64) } else { MOVES.to_owned() }
    }

    /// Whether the moves of this input row cannot be read.
    fn is_unreadable(&self, row: u64) -> bool {
        self.unreadable.iter().any(|(start, end)| (*start..*end).contains(&row))
    }

    /// Makes the next row of the plan available, if there is one.
    fn fill(&mut self, findings: &mut Findings) -> bool {
        loop {
            if self.batch.as_ref().is_some_and(|batch| self.at < batch.num_rows()) {
                return true;
            }
            self.batch = None;
            self.at = 0;
            let Some(reader) = &mut self.reader else {
                let Some(range) = self.files.get(self.next) else { return false };
                (self.path, self.range) = (part_path(self.next as u64), *range);
                self.next += 1;
                match check_regular(&self.folder, &self.path) {
                    // Was told when the files were checked.
                    Err(error) if is_missing(&error) || error.kind() == std::io::ErrorKind::Unsupported => {
                        self.pass_by();
                    }
                    _ => match self.open() {
                        Ok(reader) => self.reader = Some(reader),
                        Err(what) => self.give_up(&what, findings),
                    },
                }
                continue;
            };
            match reader.next_batch() {
                Ok(Some(batch)) => match check_rows(&batch, self.range, &mut self.last) {
                    Ok(()) => self.batch = Some(batch),
                    Err(what) => self.give_up(&what, findings),
                },
                Ok(None) => self.reader = None,
                Err(error) => self.give_up(&error.kind().to_string(), findings),
            }
        }
    }

    fn open(&self) -> Result<TableReader, String> {
        let path = self.folder.join(&self.path);
        let reader = TableReader::open(&path).map_err(|error| error.kind().to_string())?;
        let columns = |schema: &Schema| -> Vec<(String, DataType)> {
            schema.fields().iter().map(|field| (field.name().clone(), field.data_type().clone())).collect()
        };
        let (found, expected) = (columns(&reader.schema()), columns(&self.schema));
        if found == expected {
            return Ok(reader);
        }
        let shown = |columns: &[(String, DataType)]| {
            columns.iter().map(|(name, kind)| format!("{name} {kind}")).collect::<Vec<_>>().join(", ")
        };
        Err(format!("has the columns {} instead of {}", shown(&found), shown(&expected)))
    }

    /// Tells what is wrong with the file and passes over the rest of it.
    fn give_up(&mut self, what: &str, findings: &mut Findings) {
        findings.add(self.path.clone(), what);
        self.pass_by();
    }

    /// Passes over the rest of the file.
    fn pass_by(&mut self) {
        match self.unreadable.last_mut().filter(|(_, end)| *end == self.range.0) {
            Some(before) => before.1 = self.range.1,
            None => self.unreadable.push(self.range),
        }
        self.reader = None;
    }

    fn row(&mut self, findings: &mut Findings) -> Option<u64> {
        if !self.fill(findings) {
            return None;
        }
        let batch = self.batch.as_ref()?;
        Some(batch.column(0).as_primitive::<UInt64Type>().value(self.at))
    }

    fn advance(&mut self, rows: usize) {
        self.at += rows;
    }

    /// How many rows from here on are those of `batch` from `start` on, if all that can be compared at once are.
    fn equal_run(&mut self, batch: &RecordBatch, start: usize, findings: &mut Findings) -> usize {
        if !self.fill(findings) {
            return 0;
        }
        let Some(stored) = &self.batch else { return 0 };
        let run = (stored.num_rows() - self.at).min(batch.num_rows() - start);
        let equal = |(mine, theirs): (&dyn Array, &dyn Array)| {
            mine.slice(self.at, run).as_ref() == theirs.slice(start, run).as_ref()
        };
        let mut columns = stored.columns().iter().zip(batch.columns());
        if columns.all(|(mine, theirs)| equal((mine.as_ref(), theirs.as_ref()))) { run } else { 0 }
    }

    /// What differs between the row here and row `index` of `batch`.
    fn first_difference(&self, batch: &RecordBatch, index: usize) -> Option<String> {
        let stored = self.batch.as_ref()?;
        let columns = self.schema.fields().iter().zip(stored.columns().iter().zip(batch.columns()));
        for (field, (mine, theirs)) in columns {
            if mine.slice(self.at, 1).as_ref() != theirs.slice(index, 1).as_ref() {
                let shown = |array: &dyn Array, at: usize| match array.is_null(at) {
                    true => "nothing".to_owned(),
                    false => array_value_to_string(array, at)
                        .map_or_else(|error| error.to_string(), |text| format!("{text:?}")),
                };
                let (now, then) = (shown(theirs, index), shown(mine, self.at));
                return Some(format!("{} is {then} in the plan, and {now} now", field.name()));
            }
        }
        None
    }
}

/// Fails if the rows of a batch of moves are not of the input rows that its file is for, each once and in order.
pub(super) fn check_rows(batch: &RecordBatch, range: (u64, u64), last: &mut Option<u64>) -> Result<(), String> {
    let rows = batch.columns().first().and_then(|rows| rows.as_primitive_opt::<UInt64Type>());
    let Some(rows) = rows.filter(|rows| rows.null_count() == 0) else {
        return Err("its first column is not that of row numbers".to_owned());
    };
    for row in rows.values() {
        if !(range.0..range.1).contains(row) {
            return Err(format!("has row {row}, but is for rows {} to {}", range.0, range.1.saturating_sub(1)));
        }
        if last.is_some_and(|last| last >= *row) {
            return Err(format!("row {row} is there twice or out of order"));
        }
        *last = Some(*row);
    }
    Ok(())
}
