//! `rehome verify`: whether a plan is what its inputs and clusters give.

use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use rehome::engine::{Cost, Job, Want};
use rehome::io::{InputFacts, KeyChunk, Position};
use rehome::plan::{Manifest, Verification, Verifier};
use rehome::{Cluster, Error, ErrorKind, Result};

use super::failure::Failure;
use super::input::{InputArgs, Reading};
use super::progress::Progress;
use super::run::RunArgs;
use super::{message, timings};

const EXAMPLES: &str = "\
Examples:
  rehome verify plan/ ids.parquet
  rehome verify plan/

With the inputs of the plan, every key is read and placed again with the clusters and options that the manifest keeps, and
every row and sum is compared. Without them, the files are checked against their checksums and against one another.

Exit codes: 0 all is as it should be, 4 something differs (a list of it goes to standard output), 1 there is no finished
plan, it is of another version, or an input cannot be read, 2 wrong usage.";

/// Arguments of `rehome verify`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct VerifyArgs {
    /// The directory of the plan
    #[arg(value_name = "DIR")]
    plan: PathBuf,
    /// The inputs that the plan was made from, or - for standard input
    #[arg(value_name = "KEYS")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs `rehome verify`.
pub(crate) fn run(args: VerifyArgs) -> Result<ExitCode, Failure> {
    let mut verifier = Verifier::open(&args.plan)?;
    let manifest = verifier.manifest().cloned();
    let mut last = Vec::new();
    match manifest.filter(|_| !args.inputs.is_empty()) {
        Some(manifest) => last = recompute(&args, &mut verifier, &manifest)?,
        None if verifier.manifest().is_some() && !args.run.quiet => {
            message::note("without the inputs only the files are checked, not whether the keys give these rows");
        }
        None => {}
    }
    report(&args, &verifier.finish(&last)?)
}

/// Where a difference of the manifest is told.
const MANIFEST: &str = "manifest.json";

/// Places every key again; gives what the inputs came to that ended after the last chunk. What an altered manifest says
/// need not make sense, and other inputs need not be readable in the way of the manifest: both are differences. Only
/// what the system cannot read is an error.
fn recompute(args: &VerifyArgs, verifier: &mut Verifier, manifest: &Manifest) -> Result<Vec<InputFacts>, Failure> {
    let start = Instant::now();
    let engine = args.run.engine()?;
    let Made { from, to, job, options, allow_rehash, part_rows } = match Made::of(manifest, &args.inputs, &args.run) {
        Ok(made) => made,
        Err(failure) => {
            verifier.differs(MANIFEST, unless_unread(failure)?);
            return Ok(Vec::new());
        }
    };
    let inputs = options.resolve()?;
    verifier.check_inputs(&inputs);
    let part_rows = Some(part_rows);
    let reading = Reading { allow_rehash, part_rows, position: Position::default(), threads: engine.threads() };
    let opened = options.open(inputs, &[&from, &to], &[], &reading);
    let mut input = match opened {
        Ok(input) => input,
        Err(Failure::Usage(text)) => {
            verifier.differs(MANIFEST, format!("its options and its clusters contradict each other: {text}"));
            return Ok(Vec::new());
        }
        Err(failure) => {
            verifier.stop(unless_unread(failure)?);
            return Ok(Vec::new());
        }
    };
    verifier.check_options(&options.recorded(&input, &reading, !manifest.has_moves()));
    verifier.begin(input.reader.key_field(), options.size_column.is_some())?;
    let progress = Progress::new(args.run.shows_progress(), &input.reader);
    let chunks = input.chunks(&progress, true);
    let report = engine.stream(&job, chunks, |chunk: &KeyChunk, nodes| verifier.add(chunk, nodes));
    drop(progress);
    let report = match report {
        Ok(report) => report,
        Err(error) => {
            verifier.stop(unless_unread(error.into())?);
            return Ok(Vec::new());
        }
    };
    if args.run.timings {
        timings::print(&report, input.reader.decoding(), Cost::default(), start.elapsed());
    }
    Ok(input.reader.last_finished().to_vec())
}

/// What a manifest says a plan was made with.
struct Made {
    from: Cluster,
    to: Cluster,
    job: Job,
    options: InputArgs,
    allow_rehash: bool,
    part_rows: NonZero<u64>,
}

impl Made {
    fn of(manifest: &Manifest, inputs: &[PathBuf], run: &RunArgs) -> Result<Self, Failure> {
        let (from, to) = manifest.clusters()?;
        run.cost.check(&from, run.quiet)?;
        run.cost.check(&to, run.quiet)?;
        let job = Job { placements: vec![from.placement()?, to.placement()?], want: Want::Nodes };
        let (options, allow_rehash) = InputArgs::of_manifest(manifest, inputs.to_vec())?;
        Ok(Self { from, to, job, options, allow_rehash, part_rows: manifest.part_rows()? })
    }
}

/// The words of a failure, unless it is one of reading.
fn unless_unread(failure: Failure) -> Result<String, Failure> {
    match failure {
        Failure::Error(error) if matches!(error.kind(), ErrorKind::Io { .. }) => Err(error.into()),
        Failure::Error(error) => {
            let text = error.to_string();
            // A hint for who makes a plan; here the manifest has decided.
            Ok(text.strip_suffix("; --bad-rows skip passes over such rows").map_or(text.clone(), str::to_owned))
        }
        Failure::Usage(text) => Ok(text),
    }
}

fn report(args: &VerifyArgs, verification: &Verification) -> Result<ExitCode, Failure> {
    let plan = args.plan.display();
    if args.run.json {
        let text = serde_json::to_string_pretty(verification).map_err(Error::syntax)?;
        message::print(&(text + "\n"))?;
    } else {
        let mut text: String = verification.differences.iter().map(|difference| format!("{difference}\n")).collect();
        if verification.differences.is_empty() && !args.run.quiet {
            text = match (verification.rows, verification.moves) {
                (Some(rows), Some(moves)) => {
                    format!(
                        "{plan}: all files are whole, and {rows} rows give the same {} moves and sums\n",
                        moves.same
                    )
                }
                (Some(rows), None) => format!("{plan}: all files are whole, and {rows} rows give the same sums\n"),
                (None, _) => format!("{plan}: all files are whole and agree with one another\n"),
            };
        }
        message::print(&text)?;
    }
    let count = verification.differences.len();
    if count > 0 && !args.run.quiet {
        let differ = if count == 1 { "difference" } else { "differences" };
        // The files are checked first; where they are whole, all that follows comes from other inputs.
        let advice = if verification.differences.first().is_some_and(|difference| difference.place == "inputs") {
            "these are not the inputs that it was made from: give those, or make the plan again"
        } else {
            "it is not as `rehome plan` wrote it: fetch it again, or make it again"
        };
        message::warn(&format!("{plan}: {count} {differ}: {advice}"));
    }
    Ok(ExitCode::from(if count > 0 { 4 } else { 0 }))
}
