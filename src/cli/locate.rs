//! `rehome locate`: one row per key with its node, or its replicas.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Schema, SchemaRef};
use clap::Args;
use rayon::prelude::*;
use rehome::engine::{Cost, Job, Stopwatch, Want};
use rehome::io::{AtomicFile, KeyChunk, OutputFormat, TableWriter, Target};
use rehome::plan::NodeNames;
use rehome::{Cluster, Engine, Error, NodeId, Result};

use super::failure::Failure;
use super::input::{InputArgs, leave_if_waiting, warn_unplaced};
use super::progress::Progress;
use super::run::RunArgs;
use super::{message, timings};

const EXAMPLES: &str = "\
Examples:
  rehome locate --cluster c10.toml keys.txt -o nodes.csv
  rehome locate --cluster c10.toml --key-type u64 ids.txt -o nodes.parquet --replicas 3
  rehome locate --cluster c10.toml users.csv --column user_id --keep country -o nodes.jsonl
  rehome locate --cluster c10.toml --column user.id spark-output/ extra.parquet -o nodes.parquet
  cat keys.txt | rehome locate --cluster c10.toml - | head

The rows are key, the columns of --keep, then node, or node_1 to node_r with --replicas r; a key without a node has an
empty field. Their order is that of the input.";

/// Arguments of `rehome locate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LocateArgs {
    /// The cluster file
    #[arg(short, long, value_name = "FILE")]
    cluster: PathBuf,
    #[command(flatten)]
    input: InputArgs,
    /// Where the rows go; the format is that of the name (default, and -: CSV to standard output)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The format of the rows: csv, jsonl or parquet (default: by the name of the output)
    #[arg(long, value_name = "FORMAT", value_parser = clap::value_parser!(OutputFormat))]
    output_format: Option<OutputFormat>,
    /// Give this many nodes per key, best first, as columns node_1, node_2, ..
    #[arg(short, long, value_name = "R", value_parser = clap::value_parser!(u16).range(1..=1024))]
    replicas: Option<u16>,
    /// Pass these columns of the input through (CSV, Parquet and Arrow; also a.b); repeat or separate by commas
    #[arg(long, value_name = "COL", value_delimiter = ',')]
    keep: Vec<String>,
    /// Replace the output if it exists
    #[arg(short, long)]
    force: bool,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs `rehome locate`.
pub(crate) fn run(args: LocateArgs) -> Result<ExitCode, Failure> {
    let start = Instant::now();
    let quiet = args.run.quiet;
    let to_stdout = args.output.as_deref().is_none_or(|path| path.as_os_str() == "-");
    if to_stdout && args.run.json {
        return Err(Failure::usage(
            "--json prints the sums of the run to standard output, where the rows go: add -o FILE, or use --output-format jsonl",
        ));
    }
    if let Some(column) = args.input.size_column.as_deref() {
        return Err(Failure::usage(format!(
            "--size-column {column} is for count and plan: pass the column through with --keep"
        )));
    }
    let format = output_format(&args, to_stdout)?;
    let cluster = Cluster::from_path(&args.cluster)?;
    let placement = cluster.placement().map_err(|error| error.in_file(&args.cluster))?;
    if args.replicas.is_some() && !cluster.algorithm().list {
        // The same error that every key would get, before anything is read.
        placement.replicas(0, &mut [NodeId::NONE]).map_err(|error| error.in_file(&args.cluster))?;
    }
    if let Some(output) = args.output.as_deref().filter(|_| args.force && !to_stdout) {
        args.input.refuse_output(output)?;
    }
    let engine = args.run.engine()?;
    let mut input = args.input.open(&[&cluster], &args.keep, false, engine.threads())?;
    let names = NodeNames::of(&cluster);
    let columns: Vec<String> = match args.replicas {
        None => vec!["node".to_owned()],
        Some(replicas) => (1..=replicas).map(|number| format!("node_{number}")).collect(),
    };
    let schema = schema(&input.reader, &columns)?;
    let target = match &args.output {
        Some(path) if !to_stdout => Target::File(AtomicFile::create(path, args.force)?),
        _ => Target::Stdout,
    };
    let name = target.name();
    let mut table = TableWriter::new(format, Arc::clone(&schema), target, name)?;
    let want = args.replicas.map_or(Want::Nodes, |replicas| Want::Replicas(usize::from(replicas)));
    let job = Job { placements: vec![placement.clone()], want };
    let progress = Progress::new(args.run.shows_progress(), &input.reader);
    let mut elsewhere = Cost::default();
    let (mut unplaced, mut header) = (0, true);
    let report = engine.stream(&job, input.chunks(&progress, quiet), |chunk: &KeyChunk, nodes| {
        let nodes = &nodes[0];
        unplaced += nodes.iter().step_by(columns.len()).filter(|node| **node == NodeId::NONE).count() as u64;
        let batch = batch(chunk, nodes, &names, &schema)?;
        elsewhere +=
            write(&engine, &mut table, &batch, &mut header).map_err(|error| leave_if_waiting(&args.input, error))?;
        Ok(())
    });
    drop(progress);
    let mut report = report?;
    let mut watch = Stopwatch::start();
    table.finish()?.commit()?;
    report.costs.write += watch.lap();

    let bad = input.end(quiet);
    warn_unplaced(&cluster, &args.cluster.display().to_string(), unplaced, quiet);
    if columns.len() > placement.eligible() && report.keys > 0 && unplaced < report.keys && !quiet {
        let (eligible, last) = (placement.eligible(), columns.len());
        message::warn(&format!("only {eligible} nodes are eligible: node_{} to node_{last} are empty", eligible + 1));
    }
    if args.run.timings {
        timings::print(&report, input.reader.decoding(), elsewhere, start.elapsed());
    }
    if args.run.json {
        let sums = serde_json::json!({ "keys": report.keys, "unplaced": unplaced, "bad_rows": bad });
        message::print(&format!("{sums:#}\n"))?;
    }
    Ok(ExitCode::from(if bad > 0 { 3 } else { 0 }))
}

fn output_format(args: &LocateArgs, to_stdout: bool) -> Result<OutputFormat, Failure> {
    match (args.output_format, &args.output) {
        (Some(format), _) => Ok(format),
        (None, Some(path)) if !to_stdout => OutputFormat::of_path(path).ok_or_else(|| {
            let name = path.display();
            Failure::usage(format!(
                "{name} does not tell a format: name it .csv, .jsonl or .parquet, or pass --output-format"
            ))
        }),
        _ => Ok(OutputFormat::Csv),
    }
}

fn schema(reader: &rehome::io::KeyReader, columns: &[String]) -> Result<SchemaRef, Failure> {
    let mut fields = vec![reader.key_field()];
    for kept in reader.kept_fields() {
        if fields.iter().any(|field| field.name() == kept.name()) || columns.contains(kept.name()) {
            return Err(Failure::usage(format!(
                "--keep {}: the output would have two columns of that name",
                kept.name()
            )));
        }
        fields.push(kept);
    }
    fields.extend(columns.iter().map(|column| NodeNames::field(column)));
    Ok(Arc::new(Schema::new(fields)))
}

/// The rows of a chunk.
fn batch(chunk: &KeyChunk, nodes: &[NodeId], names: &NodeNames, schema: &SchemaRef) -> Result<RecordBatch> {
    let mut columns: Vec<ArrayRef> = vec![chunk.key_array()];
    columns.extend(chunk.kept().iter().cloned());
    let per_key = schema.fields().len() - columns.len();
    for replica in 0..per_key {
        columns.push(names.column(nodes.iter().skip(replica).step_by(per_key).copied())?);
    }
    RecordBatch::try_new(Arc::clone(schema), columns).map_err(Error::syntax)
}

/// Rows that one thread turns into text at a time.
const PIECE: usize = 8192;

/// Writes rows; text is made on the engine's threads, and what that cost there is returned.
fn write(engine: &Engine, table: &mut TableWriter, batch: &RecordBatch, header: &mut bool) -> Result<Cost> {
    let Some(encoder) = table.encoder() else {
        table.write(batch)?;
        return Ok(Cost::default());
    };
    let first = std::mem::replace(header, false);
    let starts: Vec<usize> = (0..batch.num_rows().max(1)).step_by(PIECE).collect();
    let pieces: Vec<(Result<Vec<u8>>, Cost)> = engine.install(|| {
        let piece = |start: &usize| {
            let mut watch = Stopwatch::start();
            let rows = batch.slice(*start, PIECE.min(batch.num_rows() - start));
            (encoder.encode(&rows, first && *start == 0), watch.lap())
        };
        starts.par_iter().map(piece).collect()
    });
    let mut cost = Cost::default();
    for (text, encoding) in pieces {
        cost += encoding;
        table.write_encoded(&text?)?;
    }
    Ok(cost)
}
