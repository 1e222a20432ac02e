//! `rehome verify`: whether a plan is what its inputs and clusters give.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use rehome::engine::{Cost, Job, Want};
use rehome::io::{InputFacts, KeyChunk, Position};
use rehome::plan::{Manifest, Verification, Verifier};
use rehome::{Error, Result};

use super::failure::Failure;
use super::input::InputArgs;
use super::progress::Progress;
use super::run::RunArgs;
use super::{message, timings};

const EXAMPLES: &str = "\
Examples:
  rehome verify plan/ ids.parquet
  rehome verify plan/

With the inputs of the plan, every key is read and placed again with the clusters and options that the manifest keeps, and
every row and sum is compared. Without them, the files are checked against their checksums and against one another.

Exit codes: 0 all is as it should be, 4 something differs (a list of it goes to standard output), 1 the plan or an input
cannot be read, 2 wrong usage.";

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
        Some(manifest) => match recompute(&args, &mut verifier, &manifest) {
            Ok(finished) => last = finished,
            // What an altered manifest says need not make sense; that it was altered is the finding.
            Err(Failure::Usage(text)) if !manifest.is_intact() => verifier.differs(MANIFEST, text),
            Err(Failure::Error(error)) if !manifest.is_intact() => verifier.differs(MANIFEST, error.to_string()),
            Err(failure) => return Err(failure),
        },
        None if verifier.manifest().is_some() && !args.run.quiet => {
            message::note("without the inputs only the files are checked, not whether the keys give these rows");
        }
        None => {}
    }
    report(&args, &verifier.finish(&last)?)
}

/// Where a difference of the manifest is told.
const MANIFEST: &str = "manifest.json";

/// Places every key again; gives what the inputs came to that ended after the last chunk.
fn recompute(args: &VerifyArgs, verifier: &mut Verifier, manifest: &Manifest) -> Result<Vec<InputFacts>, Failure> {
    let start = Instant::now();
    let (from, to) = manifest.clusters()?;
    let job = Job { placements: vec![from.placement()?, to.placement()?], want: Want::Nodes };
    let engine = args.run.engine()?;
    let (options, allow_rehash) = InputArgs::of_manifest(manifest, args.inputs.clone())?;
    verifier.check_inputs(&options.resolve()?);
    let mut input = options.open_for_plan(
        &[&from, &to],
        allow_rehash,
        manifest.part_rows()?,
        Position::default(),
        engine.threads(),
    )?;
    verifier.begin(input.reader.key_field(), options.size_column.is_some())?;
    let progress = Progress::new(args.run.shows_progress(), &input.reader);
    let chunks = input.chunks(&progress, true);
    let report = engine.stream(&job, chunks, |chunk: &KeyChunk, nodes| verifier.add(chunk, nodes))?;
    drop(progress);
    if args.run.timings {
        timings::print(&report, input.reader.decoding(), Cost::default(), start.elapsed());
    }
    Ok(input.reader.last_finished().to_vec())
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
        message::warn(&format!("{plan}: {count} {differ}: the plan is not as it should be"));
    }
    Ok(ExitCode::from(if count > 0 { 4 } else { 0 }))
}
