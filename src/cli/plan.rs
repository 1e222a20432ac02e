//! `rehome plan`: which keys move from one cluster to another.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use rehome::engine::{Cost, Job, Stopwatch, Want};
use rehome::io::{KeyChunk, Position};
use rehome::plan::{Comparison, Existing, Manifest, PART_ROWS, Plan, PlanTask, Prepared, check_sides, table};
use rehome::{Cluster, Error, Result};

use super::failure::Failure;
use super::input::{Input, InputArgs, Reading, leave_if_waiting, warn_unplaced};
use super::progress::Progress;
use super::run::RunArgs;
use super::{message, timings};

const EXAMPLES: &str = "\
Examples:
  rehome plan --from c10.toml --to c11.toml keys.txt -o plan/
  rehome plan --from c10.toml --to c11.toml objects.csv --column name --size-column bytes --summary-only
  rehome plan --from c10.toml --to c11.toml ids.parquet -o plan/ --json
  rehome plan --from c10.toml --to c11.toml ids.parquet -o plan/ --resume
  rehome plan --from c10.toml --to c12.toml ids.parquet --check-against plan/

The directory appears when it is complete: moves/part-NNNNN.parquet (row, key, from, to, and bytes with --size-column),
flows.csv, nodes.csv, summary.json and manifest.json. Until then it is called plan.partial, and a run that was stopped,
however it was stopped, is finished by the same command with --resume. The same input gives the same bytes, whatever the
number of threads.";

/// Arguments of `rehome plan`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PlanArgs {
    /// The cluster file before
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    /// The cluster file after
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    #[command(flatten)]
    input: InputArgs,
    /// The directory of the plan
    #[arg(short, long, value_name = "DIR", required_unless_present_any = ["summary_only", "check_against"])]
    output: Option<PathBuf>,
    /// Write no moves, only the sums; without -o nothing but the table
    #[arg(long)]
    summary_only: bool,
    /// Allow clusters that hash their keys differently, so that nearly every key moves
    #[arg(long)]
    allow_rehash: bool,
    /// Input rows whose moves make one part
    #[arg(long, value_name = "N", default_value_t = PART_ROWS)]
    part_rows: NonZero<u64>,
    /// Replace the plan if it exists, and start an unfinished one anew
    #[arg(short, long)]
    force: bool,
    /// Go on with a plan that was stopped: its finished parts are kept. Does the whole plan if there is none, and
    /// nothing if it is finished
    #[arg(long, requires = "output")]
    resume: bool,
    /// Show what differs from an earlier plan (exit code 4 if anything does); without -o, nothing is written
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    check_against: Option<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs `rehome plan`.
pub(crate) fn run(args: PlanArgs) -> Result<ExitCode, Failure> {
    let start = Instant::now();
    let quiet = args.run.quiet;
    let (from, to) = (Cluster::from_path(&args.from)?, Cluster::from_path(&args.to)?);
    check_sides(&from, &to, args.allow_rehash)?;
    let before = args.run.placement(&from, &args.from)?;
    let after = args.run.placement(&to, &args.to)?;
    if let Some(target) = &args.output {
        args.input.refuse_inside(target)?;
    }
    let engine = args.run.engine()?;
    let inputs = args.input.resolve()?;
    let (allow_rehash, part_rows, threads) = (args.allow_rehash, Some(args.part_rows), engine.threads());
    let open = |position| -> Result<(Input, serde_json::Value), Failure> {
        let reading = Reading { allow_rehash, part_rows, position, threads };
        let input = args.input.open(inputs.clone(), &[&from, &to], &[], &reading)?;
        let options = args.input.recorded(&input, &reading, args.summary_only);
        Ok((input, options))
    };
    let task = PlanTask {
        from: from.clone(),
        to: to.clone(),
        inputs: inputs.clone(),
        target: args.output.clone(),
        existing: Existing { force: args.force, resume: args.resume },
        against: args.check_against.clone(),
        summary_only: args.summary_only,
        part_rows: args.part_rows,
    };
    let mut maker = match task.prepare()? {
        Prepared::Make(maker) => maker,
        Prepared::Finished(plan) => {
            let (input, options) = open(Position::default())?;
            return accept(&args, &plan.accept(&options, input.reader)?);
        }
    };
    if maker.doubts_inputs() {
        if !quiet {
            message::note("the inputs have other time stamps than before: the keys of the finished parts are compared");
        }
        let (earlier, options) = open(Position::default())?;
        maker.check_keys(&options, earlier.reader)?;
    }
    let position = maker.position();
    let rows_before = position.row;
    let (mut input, options) = open(position)?;
    let nodes = maker.nodes();
    if nodes.shared() == 0 && !nodes.is_empty() && !quiet {
        message::warn("the clusters share no node name, so every key moves: check that these are the right files");
    }
    let sized = args.input.size_column.is_some();
    maker.begin(options, input.reader.key_field(), sized)?;
    let job = Job { placements: vec![before, after], want: Want::Nodes };
    let progress = Progress::new(args.run.shows_progress(), &input.reader);
    let report = engine.stream(&job, input.chunks(&progress, quiet), |chunk: &KeyChunk, nodes| {
        maker.add(chunk, nodes).map_err(|error| {
            maker.give_up(&error);
            leave_if_waiting(&args.input, error.in_file(args.input.label()))
        })
    });
    drop(progress);
    let mut report = report.inspect_err(|error| maker.give_up(error))?;
    let mut watch = Stopwatch::start();
    let plan = maker.finish(input.reader.last_finished())?;
    report.costs.write += watch.lap();

    let Plan { tally, summary, parts, reused, comparison } = plan;
    let bad_before = parts[..reused].iter().map(|part| part.bad_rows).sum();
    input.end_resumed(rows_before, bad_before, quiet);
    warn_unplaced(&from, &format!("{} (before)", args.from.display()), summary.from.unplaced, quiet);
    warn_unplaced(&to, &format!("{} (after)", args.to.display()), summary.to.unplaced, quiet);
    if args.run.timings {
        timings::print(&report, input.reader.decoding(), Cost::default(), start.elapsed());
        message::plain(&format!("parts reused: {reused} of {}\n", parts.len()));
    }
    if args.run.json {
        let mut sums = serde_json::to_value(&summary).map_err(Error::syntax)?;
        if let Some(comparison) = &comparison {
            sums["against"] = serde_json::to_value(comparison).map_err(Error::syntax)?;
        }
        message::print(&format!("{sums:#}\n"))?;
    } else {
        // Without a directory the table is the result.
        if !quiet || args.output.is_none() {
            message::print(&table(&tally, &summary))?;
        }
        if let (Some(comparison), Some(folder)) = (&comparison, &args.check_against) {
            message::print(&compared(comparison, folder, quiet))?;
        }
    }
    let differs = comparison.is_some_and(|comparison| !comparison.differences.is_empty());
    Ok(ExitCode::from(if differs {
        4
    } else if summary.bad_rows > 0 {
        3
    } else {
        0
    }))
}

/// What differs from an earlier plan, for people.
fn compared(comparison: &Comparison, folder: &Path, quiet: bool) -> String {
    let mut text = String::new();
    if !quiet {
        text.push_str(&format!("\nAgainst {}:", folder.display()));
        match comparison.moves {
            None => text.push_str(" it has no moves to compare"),
            Some(moves) => text.push_str(&format!(
                " {} moves are the same, {} go elsewhere, {} are only there, {} are only here",
                moves.same, moves.different, moves.only_in_plan, moves.only_now
            )),
        }
        text.push('\n');
    }
    text.extend(comparison.differences.iter().map(|difference| format!("  {difference}\n")));
    text
}

/// Says that a plan is finished already and is what this command would make.
fn accept(args: &PlanArgs, manifest: &Manifest) -> Result<ExitCode, Failure> {
    let target = args.output.as_deref().unwrap_or(Path::new(""));
    if !args.run.quiet {
        message::note(&format!("{}: the plan is finished, and its keys and files are as they were", target.display()));
    }
    if args.run.timings {
        message::plain(&format!("parts reused: {0} of {0}\n", manifest.parts.len()));
    }
    if args.run.json {
        let path = target.join("summary.json");
        message::print(&std::fs::read_to_string(&path).map_err(|error| Error::io("read", path, error))?)?;
    }
    Ok(ExitCode::from(if manifest.bad_rows() > 0 { 3 } else { 0 }))
}
