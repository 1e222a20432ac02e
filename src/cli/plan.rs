//! `rehome plan`: which keys move from one cluster to another.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_select::take::take;
use clap::Args;
use rehome::engine::{Cost, Job, Stopwatch, Want};
use rehome::io::KeyChunk;
use rehome::plan::{
    InputRecord, NodeNames, PART_ROWS, PlanOptions, PlanWriter, Tally, check_plan_target, check_sides, table,
};
use rehome::{Cluster, Error, NodeId, Result};

use super::failure::Failure;
use super::input::{BadRowsArg, BlankArg, Input, InputArgs, leave_if_waiting, warn_unplaced};
use super::progress::Progress;
use super::run::RunArgs;
use super::{message, timings};

const EXAMPLES: &str = "\
Examples:
  rehome plan --from c10.toml --to c11.toml keys.txt -o plan/
  rehome plan --from c10.toml --to c11.toml objects.csv --column name --size-column bytes --summary-only
  rehome plan --from c10.toml --to c11.toml ids.parquet -o plan/ --json

The directory appears when it is complete: moves/part-NNNNN.parquet (row, key, from, to, and bytes with --size-column),
flows.csv, nodes.csv, summary.json and manifest.json. Until then it is called plan.partial. The same input gives the same
bytes, whatever the number of threads.";

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
    #[arg(short, long, value_name = "DIR", required_unless_present = "summary_only")]
    output: Option<PathBuf>,
    /// Write no moves, only the sums; without -o nothing but the table
    #[arg(long)]
    summary_only: bool,
    /// Allow clusters that hash their keys differently, so that nearly every key moves
    #[arg(long)]
    allow_rehash: bool,
    /// Input rows whose moves make one part
    #[arg(long, value_name = "N", default_value_t = PART_ROWS, value_parser = clap::value_parser!(u64).range(1..))]
    part_rows: u64,
    /// Replace the plan if it exists
    #[arg(short, long)]
    force: bool,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs `rehome plan`.
pub(crate) fn run(args: PlanArgs) -> Result<ExitCode, Failure> {
    let start = Instant::now();
    let quiet = args.run.quiet;
    let (from, to) = (Cluster::from_path(&args.from)?, Cluster::from_path(&args.to)?);
    check_sides(&from, &to, args.allow_rehash)?;
    let before = from.placement().map_err(|error| error.in_file(&args.from))?;
    let after = to.placement().map_err(|error| error.in_file(&args.to))?;
    if let Some(target) = &args.output {
        check_plan_target(target, args.force)?;
    }
    let engine = args.run.engine()?;
    let mut input = args.input.open(&[&from, &to], &[], args.allow_rehash, engine.threads())?;
    let mut tally = Tally::new(&from, &to);
    if tally.nodes().shared() == 0 && !tally.nodes().is_empty() && !quiet {
        message::warn("the clusters share no node name, so every key moves: check that these are the right files");
    }
    let sized = args.input.size_column.is_some();
    if sized {
        tally = tally.with_sizes();
    }
    let options = PlanOptions { force: args.force, summary_only: args.summary_only, part_rows: args.part_rows };
    let create = |target: &PathBuf| PlanWriter::create(target, options, input.reader.key_field(), sized);
    let mut writer = args.output.as_ref().map(create).transpose()?;
    let names = (NodeNames::of(&from), NodeNames::of(&to));
    let job = Job { placements: vec![before, after], want: Want::Nodes };
    let progress = Progress::new(args.run.shows_progress(), &input.reader);
    let mut rows = 0;
    let report = engine.stream(&job, input.chunks(&progress, quiet), |chunk: &KeyChunk, nodes| {
        rows = chunk.end_row();
        let mut moved = Vec::new();
        let counted = tally.add(&nodes[0], &nodes[1], chunk.sizes(), |index| moved.push(index as u64));
        counted.map_err(|error| error.in_file(args.input.label()))?;
        match &mut writer {
            Some(writer) if !args.summary_only && !moved.is_empty() => {
                let written = write_moves(writer, chunk, moved, nodes, &names);
                written.map_err(|error| leave_if_waiting(&args.input, error))
            }
            _ => Ok(()),
        }
    });
    drop(progress);
    let mut report = report?;
    let mut watch = Stopwatch::start();
    let bad = input.end(quiet);
    let summary = tally.summary(bad);
    if let Some(writer) = writer {
        writer.finish(&tally, &summary, recorded_options(&args, &input), vec![record(&args, &input, rows, bad)])?;
    }
    report.costs.write += watch.lap();

    warn_unplaced(&from, &format!("{}, before", args.from.display()), summary.from.unplaced, quiet);
    warn_unplaced(&to, &format!("{}, after", args.to.display()), summary.to.unplaced, quiet);
    if args.run.timings {
        timings::print(&report, input.reader.decoding(), Cost::default(), start.elapsed());
    }
    if args.run.json {
        let text = serde_json::to_string_pretty(&summary).map_err(Error::syntax)?;
        message::print(&(text + "\n"))?;
    } else if !quiet {
        message::print(&table(&tally, &summary))?;
    }
    Ok(ExitCode::from(if bad > 0 { 3 } else { 0 }))
}

/// Writes the moved keys of a chunk, `moved` by position.
fn write_moves(
    writer: &mut PlanWriter,
    chunk: &KeyChunk,
    moved: Vec<u64>,
    nodes: &[Vec<NodeId>],
    names: &(NodeNames, NodeNames),
) -> Result<()> {
    let positions: Vec<usize> = moved.iter().filter_map(|position| usize::try_from(*position).ok()).collect();
    let rows: Vec<u64> = positions.iter().map(|position| chunk.row(*position)).collect();
    let moved = UInt64Array::from(moved);
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(UInt64Array::from(rows.clone())),
        take(&chunk.key_array(), &moved, None).map_err(Error::syntax)?,
        names.0.column(positions.iter().map(|position| nodes[0][*position]))?,
        names.1.column(positions.iter().map(|position| nodes[1][*position]))?,
    ];
    if let Some(sizes) = chunk.sizes() {
        columns.push(Arc::new(positions.iter().map(|position| sizes[*position]).collect::<UInt64Array>()));
    }
    writer.write(&rows, &RecordBatch::try_new(writer.schema(), columns).map_err(Error::syntax)?)
}

/// The options that decide what the rows of the plan are.
fn recorded_options(args: &PlanArgs, input: &Input) -> serde_json::Value {
    serde_json::json!({
        "input_format": input.reader.format().name(),
        "key_type": input.reader.key_type().name(),
        "second_key_type": input.second_key_type.map(rehome::KeyType::name),
        "column": args.input.column,
        "size_column": args.input.size_column,
        "header": !args.input.no_header,
        "delimiter": args.input.delimiter.map(|byte| char::from(byte).to_string()),
        "blank": if args.input.blank == BlankArg::Keep { "keep" } else { "skip" },
        "bad_rows": if args.input.bad_rows == BadRowsArg::Skip { "skip" } else { "stop" },
        "allow_rehash": args.allow_rehash,
        "summary_only": args.summary_only,
        "part_rows": args.part_rows,
    })
}

/// The input, by its name without the folder.
fn record(args: &PlanArgs, input: &Input, rows: u64, bad_rows: u64) -> InputRecord {
    let name =
        args.input.inputs[0].file_name().map_or_else(|| "-".to_owned(), |name| name.to_string_lossy().into_owned());
    InputRecord { name, bytes: input.reader.total_bytes(), rows, bad_rows }
}
