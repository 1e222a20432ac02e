//! `rehome count`: keys (and bytes) per node, and nothing per key.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use rehome::engine::{Cost, Counts, Job, Want};
use rehome::error::printable;
use rehome::io::KeyChunk;
use rehome::plan::balance;
use rehome::{Cluster, Error, Result};
use serde::Serialize;

use super::failure::Failure;
use super::input::{InputArgs, Reading, warn_unplaced};
use super::progress::Progress;
use super::run::RunArgs;
use super::{message, timings};

const EXAMPLES: &str = "\
Examples:
  rehome count --cluster c10.toml keys.txt
  rehome count --cluster c10.toml keys.txt --json
  rehome count --cluster c10.toml objects.csv --column name --size-column bytes";

/// Arguments of `rehome count`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CountArgs {
    /// The cluster file
    #[arg(short, long, value_name = "FILE")]
    cluster: PathBuf,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs `rehome count`.
pub(crate) fn run(args: CountArgs) -> Result<ExitCode, Failure> {
    let start = Instant::now();
    let cluster = Cluster::from_path(&args.cluster)?;
    let placement = args.run.placement(&cluster, &args.cluster)?;
    let engine = args.run.engine()?;
    let reading = Reading { threads: engine.threads(), ..Reading::default() };
    let mut input = args.input.open(args.input.resolve()?, &[&cluster], &[], &reading)?;
    let sized = args.input.size_column.is_some();
    let want = if sized { Want::Nodes } else { Want::Counts };
    let job = Job { placements: vec![placement], want };
    let progress = Progress::new(args.run.shows_progress(), &input.reader);
    let (mut keys, mut bytes) = (Counts::new(cluster.nodes().len()), Counts::new(cluster.nodes().len()));
    let mut total_bytes = 0_u64;
    let report = engine.stream(&job, input.chunks(&progress, args.run.quiet), |chunk: &KeyChunk, nodes| {
        let Some(sizes) = chunk.sizes() else { return Ok(()) };
        for (node, size) in nodes[0].iter().zip(sizes) {
            total_bytes = total_bytes.checked_add(*size).ok_or_else(|| {
                Error::invalid("the sizes of all keys together pass 2^64 - 1", "check the size column")
                    .in_file(args.input.label())
            })?;
            keys.add(*node, 1);
            bytes.add(*node, *size);
        }
        Ok(())
    });
    drop(progress);
    let mut report = report?;
    if let Some(counts) = report.counts.pop().filter(|_| !sized) {
        keys = counts;
    }
    let bad = input.end(args.run.quiet);
    warn_unplaced(&cluster, &args.cluster.display().to_string(), keys.unplaced, args.run.quiet);
    if args.run.timings {
        timings::print(&report, input.reader.decoding(), Cost::default(), start.elapsed());
    }
    let bytes = sized.then_some(&bytes);
    let text = if args.run.json {
        json(&cluster, report.keys, &keys, bytes, bad)?
    } else {
        table(&cluster, report.keys, &keys, bytes)
    };
    message::print(&text)?;
    Ok(ExitCode::from(if bad > 0 { 3 } else { 0 }))
}

/// What `--json` prints.
#[derive(Serialize)]
struct Sums<'c> {
    keys: u64,
    unplaced: u64,
    bad_rows: u64,
    max_over_avg: Option<f64>,
    cv: Option<f64>,
    nodes: Vec<Row<'c>>,
}

/// A node of [`Sums`]: written from where its name lies, since there may be millions.
#[derive(Serialize)]
struct Row<'c> {
    name: &'c str,
    keys: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

fn json(cluster: &Cluster, total: u64, keys: &Counts, bytes: Option<&Counts>, bad: u64) -> Result<String> {
    let mut nodes = Vec::with_capacity(cluster.nodes().len());
    for (index, node) in cluster.nodes().iter().enumerate() {
        let bytes = bytes.map(|bytes| bytes.per_node[index]);
        nodes.push(Row { name: node.name(), keys: keys.per_node[index], bytes });
    }
    let (max_over_avg, cv) = balance(total, &loads(cluster, keys)).unzip();
    let sums = Sums { keys: total, unplaced: keys.unplaced, bad_rows: bad, max_over_avg, cv, nodes };
    Ok(serde_json::to_string_pretty(&sums).map_err(Error::syntax)? + "\n")
}

fn table(cluster: &Cluster, total: u64, keys: &Counts, bytes: Option<&Counts>) -> String {
    let names = cluster.nodes().iter().map(|node| printable(node.name()).chars().count());
    let name_width = names.max().unwrap_or(0).max("(unplaced)".len());
    let mut text = format!("{:<name_width$}  {:>14}  {:>8}", "node", "keys", "share");
    if bytes.is_some() {
        let _ = write!(text, "  {:>20}", "bytes");
    }
    text.push('\n');
    let mut row = |name: &str, count: u64, size: Option<u64>| {
        let share = if total == 0 { 0.0 } else { count as f64 / total as f64 * 100.0 };
        let _ = write!(text, "{name:<name_width$}  {count:>14}  {share:>6.2} %");
        if let Some(size) = size {
            let _ = write!(text, "  {size:>20}");
        }
        text.push('\n');
    };
    for (index, node) in cluster.nodes().iter().enumerate() {
        row(&printable(node.name()), keys.per_node[index], bytes.map(|bytes| bytes.per_node[index]));
    }
    if keys.unplaced > 0 {
        row("(unplaced)", keys.unplaced, bytes.map(|bytes| bytes.unplaced));
    }
    row("total", total, bytes.map(|bytes| bytes.per_node.iter().sum::<u64>() + bytes.unplaced));
    if let Some((max, cv)) = balance(total, &loads(cluster, keys)) {
        let _ = writeln!(text, "Max/Avg {max:.4}, cv {cv:.4}");
    }
    text
}

/// Keys and weight of every eligible node.
fn loads(cluster: &Cluster, keys: &Counts) -> Vec<(u64, f64)> {
    let nodes = cluster.nodes().iter().zip(&keys.per_node);
    nodes.filter(|(node, _)| node.is_eligible()).map(|(node, keys)| (*keys, node.weight())).collect()
}
