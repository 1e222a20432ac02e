//! Making a plan from beginning to end, whether it is written or only summed up, and going on with one that was stopped.

use std::num::NonZero;
use std::path::PathBuf;

use arrow_schema::Field;
use serde_json::Value;

use super::checks::{key_differences, length, refuse};
use super::compare::{cluster_differences, input_differences};
use super::directory::PlanWriter;
use super::finished::FinishedPlan;
use super::journal::{Header, Journal, StampedInput};
use super::manifest::Manifest;
use super::nodes::MatchedNodes;
use super::part::Part;
use super::run::{PartDone, PartSink, PlanRun};
use super::summary::Summary;
use super::tally::Tally;
use super::target::{Claim, Existing, Found, claim};
use super::verify::{Against, Comparison};
use crate::cluster::Cluster;
use crate::error::{Error, ErrorKind, Result};
use crate::io::{Input, InputFacts, KeyChunk, Position};
use crate::placement::NodeId;

/// Input rows whose moves make one part, unless the options say otherwise.
pub const PART_ROWS: NonZero<u64> = NonZero::new(1 << 20).unwrap();

/// What a plan is made from and where it goes.
#[derive(Clone, Debug)]
pub struct PlanTask {
    /// The cluster before.
    pub from: Cluster,
    /// The cluster after.
    pub to: Cluster,
    /// The inputs in their order.
    pub inputs: Vec<Input>,
    /// The directory of the plan; without one, the plan is only summed up.
    pub target: Option<PathBuf>,
    /// What to do with a plan that is there already.
    pub existing: Existing,
    /// An earlier plan to compare this one with. Not together with parts that an earlier run made, whose rows are not
    /// made again.
    pub against: Option<PathBuf>,
    /// Write no moves, only the sums.
    pub summary_only: bool,
    /// Input rows whose moves make one part; readers must cut their chunks there
    /// ([`ReadOptions::part_rows`](crate::io::ReadOptions::part_rows)).
    pub part_rows: NonZero<u64>,
}

/// What there is to do for a plan.
#[derive(Debug)]
pub enum Prepared {
    /// To make it, all of it or the rest.
    Make(Box<PlanMaker>),
    /// Nothing: it is there, made from these clusters. [`FinishedPlan::accept`] tells whether it is made from
    /// these inputs and options too.
    Finished(Box<FinishedPlan>),
}

/// A plan in the making. First [`prepare`](PlanTask::prepare), then open the inputs at [`position`](Self::position),
/// [`begin`](Self::begin), [`add`](Self::add) every chunk with its nodes, and [`finish`](Self::finish).
///
/// Dropped before, it takes `NAME.partial` away, unless [`give_up`](Self::give_up) finds it worth keeping.
#[derive(Debug)]
pub struct PlanMaker {
    task: PlanTask,
    /// The inputs as they were before they were opened.
    stamps: Vec<StampedInput>,
    stage: Stage,
    /// What to go on with.
    journal: Option<Journal>,
    surely_same: bool,
    against: Option<Against>,
    options: Value,
    run: Option<PlanRun>,
}

#[derive(Debug)]
enum Stage {
    /// No directory is wanted.
    Unwritten,
    Claimed(Claim),
    Writing(PlanWriter),
}

/// A plan that was made.
#[derive(Debug)]
pub struct Plan {
    /// All sums.
    pub tally: Tally,
    /// What they come to.
    pub summary: Summary,
    /// The parts.
    pub parts: Vec<Part>,
    /// How many of them an earlier run had made.
    pub reused: usize,
    /// How it compares with an earlier plan, if that was asked for.
    pub comparison: Option<Comparison>,
}

impl PlanTask {
    /// Takes the place where the plan goes and looks at what is there. Where a plan is to be gone on with, its clusters
    /// and inputs are compared with those of this task.
    ///
    /// # Errors
    /// If something is there that may not be replaced, if another run is at it, or if what was begun was begun with
    /// other clusters or inputs: the error says which.
    pub fn prepare(self) -> Result<Prepared> {
        let Some(target) = &self.target else {
            return Ok(Prepared::Make(Box::new(PlanMaker::new(self, Vec::new(), None, None)?)));
        };
        let stamps = StampedInput::of_all(&self.inputs)?;
        if self.existing.resume
            && let Some((input, _)) = self.inputs.iter().zip(&stamps).find(|(_, stamp)| stamp.is_stream())
        {
            let from = &input.source;
            let what = format!("a plan whose keys come from {from} cannot be resumed: they cannot be read again");
            return Err(Error::invalid(what, "give a file, or leave --resume out"));
        }
        match claim(target, self.existing)? {
            Found::Nothing(claim) => Ok(Prepared::Make(Box::new(PlanMaker::new(self, stamps, Some(claim), None)?))),
            Found::Unfinished(claim, journal) => {
                PlanMaker::new(self, stamps, Some(claim), Some(journal)).map(|maker| Prepared::Make(Box::new(maker)))
            }
            Found::Unnamed(claim, manifest) => {
                let folder = claim.partial.clone();
                FinishedPlan::new(&self, folder, manifest, Some(claim)).map(|plan| Prepared::Finished(Box::new(plan)))
            }
            Found::Complete(folder) => {
                let manifest = Manifest::of_plan(&folder)?;
                FinishedPlan::new(&self, folder, manifest, None).map(|plan| Prepared::Finished(Box::new(plan)))
            }
        }
    }

    /// What a finished plan was made from that is not of this task, options aside.
    pub(super) fn differences(&self, manifest: &Manifest) -> Vec<String> {
        let mut differences = cluster_differences("from", &manifest.from, &self.from);
        differences.extend(cluster_differences("to", &manifest.to, &self.to));
        let now: Vec<_> = self.inputs.iter().map(|input| (input.name.as_str(), length(input))).collect();
        let then: Vec<_> = manifest.inputs.iter().map(|input| (input.name.as_str(), input.bytes)).collect();
        differences.extend(input_differences(then.into_iter(), now.into_iter()));
        differences
    }
}

impl PlanMaker {
    fn new(task: PlanTask, stamps: Vec<StampedInput>, claim: Option<Claim>, journal: Option<Journal>) -> Result<Self> {
        let mut surely_same = true;
        if let (Some(claim), Some(journal)) = (&claim, &journal) {
            let (differences, same) = journal.header.differences(&task.from, &task.to, &stamps);
            refuse(&claim.partial, &differences)?;
            surely_same = same;
        }
        let against = task.against.as_deref().map(Against::open).transpose()?;
        if against.is_some() && journal.is_some() {
            let what =
                "parts that an earlier run made are not made again, so they cannot be compared with another plan";
            return Err(Error::invalid(what, "finish the plan first, then compare"));
        }
        let stage = claim.map_or(Stage::Unwritten, Stage::Claimed);
        Ok(Self { task, stamps, stage, journal, surely_same, against, options: Value::Null, run: None })
    }

    /// Where reading must begin: behind the parts that an earlier run made.
    pub fn position(&self) -> Position {
        let last = self.journal.as_ref().and_then(|journal| journal.entries.last());
        last.map_or_else(Position::default, |entry| entry.end.clone())
    }

    /// How many parts an earlier run made.
    pub fn reused(&self) -> usize {
        self.journal.as_ref().map_or(0, |journal| journal.entries.len())
    }

    /// Whether the inputs must be [checked](Self::check_keys) up to [`position`](Self::position), because their time
    /// stamps are not those that they had.
    pub fn doubts_inputs(&self) -> bool {
        !self.surely_same && self.reused() > 0
    }

    /// Compares the keys of the parts that an earlier run made with what the inputs hold now; `chunks` are read from
    /// their start, in the way that `options` say.
    ///
    /// # Errors
    /// If they are others, or the options are, or reading fails.
    pub fn check_keys(&self, options: &Value, chunks: impl Iterator<Item = Result<KeyChunk>>) -> Result<()> {
        if let (Stage::Claimed(claim), Some(journal)) = (&self.stage, &self.journal) {
            refuse(&claim.partial, &journal.header.option_differences(options))?;
        }
        let entries = self.journal.iter().flat_map(|journal| &journal.entries);
        let (parts, ends): (Vec<Part>, Vec<Position>) =
            entries.map(|entry| (entry.part.clone(), entry.end.clone())).unzip();
        let differences = key_differences(chunks, &parts, Some(&ends))?;
        match &self.stage {
            Stage::Claimed(claim) => refuse(&claim.partial, &differences),
            _ => Ok(()),
        }
    }

    /// Starts writing. `options` decide what the rows of the plan are, `key` is the column of keys, and `sized` says
    /// whether sizes come with them.
    ///
    /// # Errors
    /// If an earlier run had other options, or the directory cannot be written to.
    pub fn begin(&mut self, options: Value, key: Field, sized: bool) -> Result<()> {
        let mut run = PlanRun::new(&self.task.from, &self.task.to, key, sized, self.task.part_rows);
        self.options = options;
        let has_moves = !self.task.summary_only;
        self.stage = match std::mem::replace(&mut self.stage, Stage::Unwritten) {
            Stage::Claimed(claim) => Stage::Writing(match &self.journal {
                None => {
                    let (from, to) = (&self.task.from, &self.task.to);
                    let header = Header::new(from, to, self.options.clone(), self.stamps.clone());
                    PlanWriter::begin(claim, &header, run.schema(), has_moves)?
                }
                Some(journal) => {
                    refuse(&claim.partial, &journal.header.option_differences(&self.options))?;
                    if StampedInput::of_all(&self.task.inputs)? != self.stamps {
                        let what = "an input changed while it was opened, so the finished parts may not fit it";
                        return Err(
                            Error::invalid(what, "start again when nothing writes to it").in_file(&claim.partial)
                        );
                    }
                    for entry in &journal.entries {
                        let (part, sums, end) = (&entry.part, &entry.sums, &entry.end);
                        run.take_over(&PartDone { part, sums, end, inputs: &entry.inputs })?;
                    }
                    PlanWriter::go_on(claim, journal.go_on()?, &journal.entries, run.schema(), has_moves)?
                }
            }),
            other => other,
        };
        if let Some(against) = &mut self.against {
            against.begin(&run);
        }
        self.run = Some(run);
        Ok(())
    }

    /// The nodes of both clusters.
    pub fn nodes(&self) -> MatchedNodes {
        MatchedNodes::new(&self.task.from, &self.task.to)
    }

    /// Takes in a chunk with its nodes before and after, in the order of the input.
    ///
    /// # Errors
    /// If writing fails, or all sizes together pass 2^64 - 1.
    pub fn add(&mut self, chunk: &KeyChunk, nodes: &[Vec<NodeId>]) -> Result<()> {
        let Some(run) = &mut self.run else { return Err(not_begun()) };
        let mut sinks: Vec<&mut dyn PartSink> = Vec::new();
        if let Stage::Writing(writer) = &mut self.stage {
            sinks.push(writer);
        }
        if let Some(rows) = self.against.as_mut().and_then(Against::rows) {
            sinks.push(rows);
        }
        run.add(chunk, nodes, &mut sinks)
    }

    /// Ends the plan after an error. The parts that are done stay for `--resume` if a read or a write failed, which
    /// another run may not meet again, and go if the input itself is at fault.
    pub fn give_up(&mut self, error: &Error) {
        let readable_again = !self.stamps.iter().any(StampedInput::is_stream);
        if let (Stage::Writing(writer), ErrorKind::Io { .. }, true) = (&mut self.stage, error.kind(), readable_again) {
            writer.keep();
        }
        self.stage = Stage::Unwritten;
    }

    /// Ends the plan: `last` are the inputs that the reader finished
    /// [since the last chunk](crate::io::KeyReader::last_finished). Writes the sums and gives the directory its name.
    ///
    /// # Errors
    /// If writing fails; what is done stays for `--resume` then.
    pub fn finish(mut self, last: &[InputFacts]) -> Result<Plan> {
        let reused = self.reused();
        let Some(mut run) = self.run.take() else { return Err(not_begun()) };
        let summary = self.end(&mut run, last).inspect_err(|error| self.give_up(error))?;
        let against = self.against.take();
        let comparison = against.map(|against| against.finish(&run, &summary, &self.options)).transpose()?;
        if let Stage::Writing(writer) = self.stage {
            writer.publish()?;
        }
        let (tally, parts) = run.into_results();
        Ok(Plan { tally, summary, parts, reused, comparison })
    }

    /// Closes the last part and writes the sums.
    fn end(&mut self, run: &mut PlanRun, last: &[InputFacts]) -> Result<Summary> {
        let Stage::Writing(writer) = &mut self.stage else {
            run.end(last, &mut [])?;
            return Ok(run.summary());
        };
        run.end(last, &mut [writer as &mut dyn PartSink])?;
        let summary = run.summary();
        writer.write_end(run, &summary, self.options.clone())?;
        Ok(summary)
    }
}

fn not_begun() -> Error {
    Error::invalid("a plan was used before it was begun", "call begin first")
}
