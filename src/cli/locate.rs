//! `rehome locate`: one row per key with its node, or its replicas.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use clap::Args;
use rehome::engine::{Cost, Job, Stopwatch, Want};
use rehome::io::{KeyChunk, OutputFormat, TableWriter};
use rehome::plan::NodeNames;
use rehome::{Cluster, Error, NodeId, Result};

use super::failure::Failure;
use super::input::{InputArgs, Reading, leave_if_waiting, warn_unplaced};
use super::output::{OutputArgs, write};
use super::progress::Progress;
use super::run::RunArgs;
use super::{message, timings};

const EXAMPLES: &str = "\
Examples:
  rehome locate --cluster c10.toml keys.txt -o nodes.csv
  rehome locate --cluster c10.toml --key-type u64 ids.txt -o nodes.parquet --replicas 3
  rehome locate --cluster c10.toml users.csv --column user_id --keep country -o nodes.jsonl
  rehome locate --cluster c10.toml keys.txt -o nodes.csv.gz
  rehome locate --cluster c10.toml keys.txt -o nodes.arrow --compression zstd
  rehome locate --cluster c10.toml --column user.id spark-output/ extra.parquet -o nodes.parquet
  cat keys.txt | rehome locate --cluster c10.toml - | head

The rows are key, the columns of --keep, then node, or node_1 to node_r with --replicas r; a key without a node has an \
empty field. Their order is that of the input.

Names of outputs: .csv and .jsonl (also .csv.gz, .csv.zst ..), .parquet, .arrow (also .feather, .ipc) and .arrows (a \
stream); standard output is CSV unless --output-format says otherwise.

In Parquet and Arrow, key has the type of the keys (text, bytes, integers of their width and sign, uuid) and is never \
null; node is text (Arrow: a dictionary of UInt32 and Utf8), null for a key without a node.";

/// Arguments of `rehome locate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LocateArgs {
    /// The cluster file
    #[arg(short, long, value_name = "FILE")]
    cluster: PathBuf,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Give this many nodes per key, best first, as columns node_1, node_2, ..
    #[arg(short, long, value_name = "R", value_parser = clap::value_parser!(u16).range(1..=1024))]
    replicas: Option<u16>,
    /// Pass these columns of the input through (CSV, Parquet and Arrow; also a.b); repeat or separate by commas
    #[arg(long, value_name = "COL", value_delimiter = ',')]
    keep: Vec<String>,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs `rehome locate`.
pub(crate) fn run(args: LocateArgs) -> Result<ExitCode, Failure> {
    let start = Instant::now();
    let quiet = args.run.quiet;
    if args.output.is_stdout() && args.run.json {
        return Err(Failure::usage(
            "--json prints the sums of the run to standard output, where the rows go: add -o FILE, or use --output-format jsonl",
        ));
    }
    if let Some(column) = args.input.size_column.as_deref() {
        return Err(Failure::usage(format!(
            "--size-column {column} is for count and plan: pass the column through with --keep"
        )));
    }
    let options = args.output.options(OutputFormat::Csv)?;
    if options.format == OutputFormat::Lines {
        return Err(Failure::usage(
            "lines have room for the keys only, not for their nodes: name the output .csv, or pass --output-format csv",
        ));
    }
    let cluster = Cluster::from_path(&args.cluster)?;
    let placement = args.run.placement(&cluster, &args.cluster)?;
    if args.replicas.is_some() && !cluster.algorithm().list {
        // The same error that every key would get, before anything is read.
        placement.replicas(0, &mut [NodeId::NONE]).map_err(|error| error.in_file(&args.cluster))?;
    }
    let inputs = args.input.resolve()?;
    if let Some(output) = args.output.file().filter(|_| args.output.force) {
        InputArgs::refuse_output(&inputs, &args.cluster, output)?;
    }
    let engine = args.run.engine()?;
    let reading = Reading { threads: engine.threads(), ..Reading::default() };
    let mut input = args.input.open(inputs, &[&cluster], &args.keep, &reading)?;
    let names = NodeNames::of(&cluster);
    let columns: Vec<String> = match args.replicas {
        None => vec!["node".to_owned()],
        Some(replicas) => (1..=replicas).map(|number| format!("node_{number}")).collect(),
    };
    let schema = schema(&input.reader, &columns, options.format)?;
    let target = args.output.target()?;
    let name = target.name();
    let mut table = TableWriter::new(options, Arc::clone(&schema), target, name)?;
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

fn schema(reader: &rehome::io::KeyReader, columns: &[String], format: OutputFormat) -> Result<SchemaRef, Failure> {
    let mut fields = vec![reader.key_field()];
    for kept in reader.kept_fields() {
        if fields.iter().any(|field| field.name() == kept.name()) || columns.contains(kept.name()) {
            return Err(Failure::usage(format!(
                "--keep {}: the output would have two columns of that name",
                kept.name()
            )));
        }
        fields.push(if format.is_arrow() { plain(&kept) } else { kept });
    }
    fields.extend(columns.iter().map(|column| NodeNames::field(column)));
    Ok(Arc::new(Schema::new(fields)))
}

/// A carried column without dictionaries and views: what those of a Parquet file hold depends on how it is read, and
/// Arrow's formats would write them as they are.
fn plain(field: &Field) -> Field {
    let inner = |field: &FieldRef| Arc::new(plain(field));
    let data_type = match field.data_type() {
        DataType::Dictionary(_, values) => {
            plain(&field.clone().with_data_type(values.as_ref().clone())).data_type().clone()
        }
        DataType::RunEndEncoded(_, values) => plain(values).data_type().clone(),
        DataType::Utf8View => DataType::Utf8,
        DataType::BinaryView => DataType::Binary,
        DataType::List(item) => DataType::List(inner(item)),
        DataType::LargeList(item) => DataType::LargeList(inner(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(inner(item), *size),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(inner).collect()),
        other => other.clone(),
    };
    field.clone().with_data_type(data_type)
}

/// The rows of a chunk.
fn batch(chunk: &KeyChunk, nodes: &[NodeId], names: &NodeNames, schema: &SchemaRef) -> Result<RecordBatch> {
    let mut columns: Vec<ArrayRef> = vec![chunk.key_array()];
    for kept in chunk.kept() {
        columns.push(cast(kept, schema.field(columns.len()).data_type()).map_err(Error::syntax)?);
    }
    let per_key = schema.fields().len() - columns.len();
    for replica in 0..per_key {
        columns.push(names.column(nodes.iter().skip(replica).step_by(per_key).copied())?);
    }
    RecordBatch::try_new(Arc::clone(schema), columns).map_err(Error::syntax)
}
