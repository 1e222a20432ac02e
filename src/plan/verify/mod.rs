//! Verifying a plan: that its files are those that were written, that they agree with one another, and that the keys
//! give the very same rows and sums.

mod against;
mod files;
mod findings;
mod rows;
mod sums;

use std::path::{Path, PathBuf};

use arrow_schema::Field;

pub use against::Comparison;
pub use findings::Difference;
pub use rows::RowCounts;

pub(super) use against::Against;
use findings::Findings;
use rows::RowComparison;

use super::checks::length;
use super::compare::{input_differences, option_differences};
use super::manifest::Manifest;
use super::part::Part;
use super::run::{PartSink, PlanRun};
use super::target::MANIFEST;
use crate::error::{Error, ErrorKind, Result};
use crate::io::{Input, InputFacts, KeyChunk};
use crate::placement::NodeId;

/// Where differences of the inputs are told.
const INPUTS: &str = "inputs";

/// A plan directory that is being verified.
///
/// [`open`](Self::open) checks its files. With the inputs at hand, read with the options of the
/// [manifest](Self::manifest), [`begin`](Self::begin), [`add`](Self::add) every chunk with its nodes, and
/// [`finish`](Self::finish); without them, finish at once.
#[derive(Debug)]
pub struct Verifier {
    folder: PathBuf,
    manifest: Option<Manifest>,
    findings: Findings,
    run: Option<(PlanRun, RowComparison)>,
}

/// What verifying a plan came to.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Verification {
    /// All that differs; nothing if the plan is as it should be.
    pub differences: Vec<Difference>,
    /// Input rows that were read and placed again; nothing without inputs.
    pub rows: Option<u64>,
    /// How the moves compare; nothing without inputs, or for a plan without moves.
    pub moves: Option<RowCounts>,
}

impl Verifier {
    /// Opens a plan directory and checks its files: that all are there, with their bytes, and none besides, and that
    /// moves, flows, nodes and summary agree.
    ///
    /// # Errors
    /// If it is no finished plan, or one of another version, or reading fails. A manifest that cannot be understood is
    /// no error but a difference.
    pub fn open(folder: &Path) -> Result<Self> {
        let mut findings = Findings::default();
        if !folder.is_dir() {
            let mut partial = folder.components().collect::<PathBuf>().into_os_string();
            partial.push(".partial");
            let hint = match Path::new(&partial).is_dir() {
                true => "it is unfinished, and `rehome plan --resume` finishes it",
                false => "give the directory that `rehome plan -o` wrote",
            };
            return Err(Error::invalid("there is no such plan directory", hint).in_file(folder));
        }
        let manifest = match Manifest::of_plan(folder) {
            Ok(manifest) => Some(manifest),
            Err(error) => match error.kind() {
                ErrorKind::Syntax { message } => {
                    findings.add(MANIFEST, message.clone());
                    None
                }
                ErrorKind::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                    let hint = "an unfinished plan is finished by `rehome plan --resume`";
                    return Err(
                        Error::invalid(format!("this is no finished plan: it has no {MANIFEST}"), hint).in_file(folder)
                    );
                }
                _ => return Err(error),
            },
        };
        if let Some(manifest) = &manifest {
            files::check(folder, manifest, &mut findings)?;
            sums::check_own(folder, manifest, &mut findings);
        }
        Ok(Self { folder: folder.to_path_buf(), manifest, findings, run: None })
    }

    /// The manifest, if it could be understood.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    /// Notes a difference that was found outside.
    pub fn differs(&mut self, place: impl Into<String>, what: impl Into<String>) {
        self.findings.add(place, what);
    }

    /// Compares the inputs with those of the plan by name and length.
    pub fn check_inputs(&mut self, inputs: &[Input]) {
        let Some(manifest) = &self.manifest else { return };
        let then = manifest.inputs.iter().map(|input| (input.name.as_str(), input.bytes));
        let now: Vec<_> = inputs.iter().map(|input| (input.name.as_str(), length(input))).collect();
        for what in input_differences(then, now.into_iter()) {
            self.findings.add(INPUTS, what);
        }
    }

    /// Compares the options of the plan with those that it is verified with: what the options make of the inputs.
    pub fn check_options(&mut self, options: &serde_json::Value) {
        let Some(manifest) = &self.manifest else { return };
        for what in option_differences(&manifest.options, options) {
            self.findings.add("options", what);
        }
    }

    /// Notes that the inputs cannot be read as those of the plan were, and compares no more rows.
    pub fn stop(&mut self, what: impl Into<String>) {
        self.run = None;
        self.findings.add(INPUTS, what);
    }

    /// Starts the comparison of all rows. `key` is the column of keys, and `sized` says whether sizes come with them;
    /// chunks must end at the ends of the manifest's parts.
    ///
    /// # Errors
    /// If the manifest has no clusters or parts to make a plan from.
    pub fn begin(&mut self, key: Field, sized: bool) -> Result<()> {
        let Some(manifest) = &self.manifest else { return Ok(()) };
        let (from, to) = manifest.clusters()?;
        let run = PlanRun::new(&from, &to, key, sized, manifest.part_rows()?);
        let comparison = RowComparison::new(&self.folder, manifest, run.schema());
        self.run = Some((run, comparison));
        Ok(())
    }

    /// Takes in a chunk with its nodes before and after, in the order of the input.
    ///
    /// # Errors
    /// If all sizes together pass 2^64 - 1.
    pub fn add(&mut self, chunk: &KeyChunk, nodes: &[Vec<NodeId>]) -> Result<()> {
        let Some((run, comparison)) = &mut self.run else { return Ok(()) };
        match self.manifest.as_ref().is_some_and(Manifest::has_moves) {
            true => run.add(chunk, nodes, &mut [comparison as &mut dyn PartSink]),
            false => run.add(chunk, nodes, &mut []),
        }
    }

    /// Ends the verification; `last` are the inputs that the reader finished since the last chunk.
    ///
    /// # Errors
    /// If reading the plan fails.
    pub fn finish(mut self, last: &[InputFacts]) -> Result<Verification> {
        let (mut rows, mut moves) = (None, None);
        if let (Some((mut run, comparison)), Some(manifest)) = (self.run.take(), &self.manifest) {
            run.end(last, &mut [])?;
            rows = Some(run.parts().iter().map(|part| part.rows).sum());
            compare_inputs(manifest, &run, &mut self.findings);
            compare_parts(&manifest.parts, run.parts(), &mut self.findings);
            if manifest.has_moves() {
                let (counts, findings) = comparison.finish();
                moves = Some(counts);
                self.findings.append(findings);
            }
            sums::compare(&self.folder, run.tally(), &run.summary(), &mut self.findings)?;
        }
        Ok(Verification { differences: self.findings.into_list(), rows, moves })
    }
}

fn compare_inputs(manifest: &Manifest, run: &PlanRun, findings: &mut Findings) {
    for (then, now) in manifest.inputs.iter().zip(run.inputs()) {
        let name = &then.name;
        if then.footer_crc32 != now.footer_crc32 {
            findings.add(INPUTS, format!("the Parquet footer of {name:?} is another than the plan was made with"));
        }
        if (then.rows, then.bad_rows) != (now.rows, now.bad_rows) {
            let what = format!(
                "{name:?} had {} rows, {} of them bad, and has {}, {} of them bad",
                then.rows, then.bad_rows, now.rows, now.bad_rows
            );
            findings.add(INPUTS, what);
        }
    }
}

fn compare_parts(then: &[Part], now: &[Part], findings: &mut Findings) {
    let parts = |list: &[Part]| format!("{} part{}", list.len(), if list.len() == 1 { "" } else { "s" });
    if then.len() != now.len() {
        findings.add(INPUTS, format!("their rows make {} and the plan has {}", parts(now), parts(then)));
    }
    let both = || then.iter().zip(now).enumerate();
    for (number, (then, now)) in both() {
        let rows = format!("rows {} to {} (part {number})", now.first_row, now.first_row + now.rows.saturating_sub(1));
        if (&then.keys_crc32, then.rows, then.bad_rows) != (&now.keys_crc32, now.rows, now.bad_rows) {
            findings.add(INPUTS, format!("{rows}: the keys are others than the plan was made with"));
        }
        if then.sizes_crc32 != now.sizes_crc32 {
            findings.add(INPUTS, format!("{rows}: the sizes are others than the plan was made with"));
        }
    }
    for (number, (then, now)) in both().filter(|(_, (then, now))| then.moves != now.moves) {
        findings.add(MANIFEST, format!("part {number} has {} moves, and the keys make {}", then.moves, now.moves));
    }
}
