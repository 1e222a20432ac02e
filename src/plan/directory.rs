//! The plan directory: written beside its final name as `NAME.partial`, and renamed when it is complete.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use serde_json::Value;

use super::journal::{Entry, Header, JOURNAL, JournalWriter};
use super::manifest::{FORMAT, Manifest, PLACEMENT_VERSION};
use super::recorded_file::{FileRecord, RecordedFile};
use super::run::{PartDone, PartSink, PlanRun};
use super::summary::Summary;
use super::syncer::Syncer;
use super::tables;
use super::target::{Claim, FLOWS, MANIFEST, MOVES, NODES, SUMMARY, lock};
use crate::error::{Error, Result};
use crate::io::{OutputFormat, TableWriter, directory_of, sync_directory};

/// Writes a plan directory, part by part, and keeps its journal.
#[derive(Debug)]
pub(super) struct PlanWriter {
    claim: Claim,
    journal: JournalWriter,
    schema: SchemaRef,
    has_moves: bool,
    part: Option<OpenPart>,
    files: Vec<FileRecord>,
    syncer: Syncer,
}

/// The file of the part that is being written.
#[derive(Debug)]
struct OpenPart {
    number: u64,
    table: TableWriter<RecordedFile>,
    rows: u64,
}

/// The path of a part inside the plan directory.
pub(super) fn part_path(number: u64) -> String {
    format!("{MOVES}/part-{number:05}.parquet")
}

impl PlanWriter {
    /// Starts a plan.
    pub(super) fn begin(mut claim: Claim, header: &Header, schema: SchemaRef, has_moves: bool) -> Result<Self> {
        claim.clear_but(|_| false)?;
        claim.keep(false);
        let moves = claim.partial.join(MOVES);
        fs::create_dir_all(&moves).map_err(|error| Error::io("create", &moves, error))?;
        let journal = JournalWriter::create(&claim.partial, header)?;
        Ok(Self { claim, journal, schema, has_moves, part: None, files: Vec::new(), syncer: Syncer::start() })
    }

    /// Goes on with an unfinished plan behind its finished parts; whatever else is there is removed.
    pub(super) fn go_on(
        mut claim: Claim,
        journal: JournalWriter,
        entries: &[Entry],
        schema: SchemaRef,
        has_moves: bool,
    ) -> Result<Self> {
        let files: Vec<FileRecord> = entries.iter().filter_map(|entry| entry.file.clone()).collect();
        let known: HashSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        claim.clear_but(|path| path == JOURNAL || known.contains(path))?;
        let moves = claim.partial.join(MOVES);
        fs::create_dir_all(&moves).map_err(|error| Error::io("create", &moves, error))?;
        // From here on it is as if this run had made the parts that are there.
        claim.keep(false);
        Ok(Self { claim, journal, schema, has_moves, part: None, files, syncer: Syncer::start() })
    }

    /// Leaves the folder as it is for a later run with `--resume`.
    pub(super) fn keep(&mut self) {
        self.claim.keep(true);
    }

    fn open_part(&mut self, number: u64) -> Result<&mut OpenPart> {
        if self.part.as_ref().is_none_or(|part| part.number != number) {
            let path = self.claim.partial.join(part_path(number));
            let file = RecordedFile::create(&path)?;
            let table = TableWriter::new(OutputFormat::Parquet, SchemaRef::clone(&self.schema), file, path)?;
            self.part = Some(OpenPart { number, table, rows: 0 });
        }
        self.part.as_mut().ok_or_else(|| Error::invalid("a part is not open", "this is a bug: please report it"))
    }

    /// Writes the sums and the manifest.
    pub(super) fn write_end(&mut self, run: &PlanRun, summary: &Summary, options: Value) -> Result<()> {
        let tally = run.tally();
        let sums =
            [(FLOWS, tables::flows(tally)?), (NODES, tables::nodes(tally)?), (SUMMARY, tables::summary(summary)?)];
        for (name, file) in sums {
            let record = self.write_file(name, &file.bytes, file.rows)?;
            self.files.push(record);
        }
        let (from, to) = tally.nodes().clusters();
        let manifest = Manifest {
            format: FORMAT,
            placement_version: PLACEMENT_VERSION.to_owned(),
            from: from.to_json(),
            to: to.to_json(),
            options,
            inputs: run.inputs().to_vec(),
            parts: run.parts().to_vec(),
            files: std::mem::take(&mut self.files),
            crc32: String::new(),
        };
        self.write_file(MANIFEST, &manifest.sealed()?.to_bytes()?, None).map(drop)
    }

    /// Gives the directory its final name.
    pub(super) fn publish(mut self) -> Result<()> {
        self.claim.keep(true);
        let Self { claim, journal, syncer, .. } = self;
        syncer.finish()?;
        publish(claim, Some(journal))
    }

    fn write_file(&self, name: &str, text: &[u8], rows: Option<u64>) -> Result<FileRecord> {
        let path = self.claim.partial.join(name);
        let mut file = RecordedFile::create(&path)?;
        file.write_all(text).map_err(|error| Error::io("write", &path, error))?;
        let (record, file) = file.finish(&self.claim.partial, name.to_owned(), rows)?;
        self.syncer.push(file, path);
        Ok(record)
    }
}

impl PartSink for PlanWriter {
    fn wants_moves(&self) -> bool {
        self.has_moves
    }

    fn moves(&mut self, number: u64, rows: &[u64], batch: &RecordBatch) -> Result<()> {
        let part = self.open_part(number)?;
        part.table.write(batch)?;
        part.rows += rows.len() as u64;
        Ok(())
    }

    /// Ends the part and notes it in the journal; parts without moves are files without rows.
    fn part(&mut self, number: u64, done: &PartDone<'_>) -> Result<()> {
        let mut file = None;
        if self.has_moves {
            self.open_part(number)?;
            if let Some(part) = self.part.take() {
                let path = part_path(number);
                let (record, data) = part.table.finish()?.finish(&self.claim.partial, path, Some(part.rows))?;
                self.syncer.push(data, self.claim.partial.join(&record.path));
                self.files.push(record.clone());
                file = Some(record);
            }
        }
        self.journal.push(&Entry {
            part: done.part.clone(),
            file,
            sums: done.sums.clone(),
            end: done.end.clone(),
            inputs: done.inputs.to_vec(),
        })?;
        let (journal, path) = self.journal.file()?;
        self.syncer.push(journal, path);
        Ok(())
    }
}

/// Gives the finished folder its name; a plan that was there before is removed only after that.
pub(super) fn publish(mut claim: Claim, journal: Option<JournalWriter>) -> Result<()> {
    claim.keep(true);
    // Somebody may have put something there in the meantime.
    claim.check_place()?;
    let (partial, place) = (&claim.partial, &claim.place);
    let failed = |error| Error::io("rename", partial, error);
    let sync = |folder: &Path| sync_directory(folder).map_err(|error| Error::io("write", folder, error));
    sync(&partial.join(MOVES))?;
    sync(partial)?;
    if let Some(journal) = journal {
        journal.remove()?;
        sync(partial)?;
    }
    // Under the partial name too, nobody else is to take the old plan for theirs while it is removed.
    let _old = lock(place).ok().flatten();
    if place.symlink_metadata().is_err() {
        fs::rename(partial, place).map_err(failed)?;
    } else if exchange(partial, place) {
        // What has the partial name now is the plan that was replaced; its manifest tells that for as long as it can.
        claim.clear_but(|path| path == MANIFEST)?;
        fs::remove_dir_all(partial).map_err(|error| Error::io("remove", partial, error))?;
    } else {
        // Where names cannot be exchanged, nothing is under the final name for a moment.
        fs::remove_dir_all(place).map_err(|error| Error::io("remove", place, error))?;
        fs::rename(partial, place).map_err(failed)?;
    }
    sync(directory_of(place))
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
