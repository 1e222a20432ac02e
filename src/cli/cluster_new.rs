//! `rehome cluster new`: makes a cluster file.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use clap::builder::{NonEmptyStringValueParser, PossibleValue, PossibleValuesParser};
use rehome::algorithm::{Layout, ParameterKind};
use rehome::hash::KeyHash;
use rehome::{Algorithm, Cluster, Error, KeyType, Node, Spread, algorithms};

use super::afford::YesArgs;
use super::cluster_show::{SHOWN, nodes_text, summary_text};
use super::failure::Failure;
use super::message;
use super::parameter_args::ParameterArgs;

const EXAMPLES: &str = "\
Examples:
  rehome cluster new c10.toml --algorithm dx --slots 16 --nodes 10
  rehome cluster new named.toml --algorithm dx --node cache-a --node cache-b --seed 7
  rehome cluster new c.toml --algorithm dx --slots 1024 --node-table nodes.csv
  rehome cluster new l.toml --algorithm lrh --nodes 5000 --tokens 256 --window 8
  rehome cluster new a.toml --algorithm anchor --nodes 10 --capacity 32

--nodes 10 makes node-0 to node-9, on algorithms with slots in slots 0 to 9. A node table has the columns name, slot
(on algorithms with slots) and, where wanted, weight, zone and up; the cluster file refers to a copy of it, named by its
content.";

/// Arguments of `rehome cluster new`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct NewArgs {
    /// The cluster file to make (.toml or .json)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The placement algorithm
    #[arg(short, long, value_name = "NAME", value_parser = algorithm_parser())]
    algorithm: String,
    #[command(flatten)]
    parameters: ParameterArgs,
    /// Make this many nodes, node-0, node-1, ..
    #[arg(long, value_name = "N", conflicts_with_all = ["node", "node_table"])]
    nodes: Option<u32>,
    /// Make a node of this name; repeat for more
    #[arg(long, value_name = "NAME", conflicts_with = "node_table", value_parser = NonEmptyStringValueParser::new())]
    node: Vec<String>,
    /// Take the nodes from a table (CSV or Parquet) with the columns name[, slot, weight, zone, up]
    #[arg(long, value_name = "FILE")]
    node_table: Option<PathBuf>,
    /// The key hash: default, xxh3, xxh64, murmur3, crc32 or identity
    #[arg(long, value_name = "HASH", value_parser = clap::value_parser!(KeyHash))]
    hash: Option<KeyHash>,
    /// The seed of the key hash
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// What keys are, for every run over this cluster: text, bytes, u64, i64, u32, i32 or uuid
    #[arg(long, value_name = "TYPE", value_parser = clap::value_parser!(KeyType))]
    key: Option<KeyType>,
    /// How replicas are chosen: node (the first of the list) or zone (spread over zones first)
    #[arg(long, value_name = "HOW", value_parser = clap::value_parser!(Spread))]
    spread: Option<Spread>,
    /// Replace the file if it exists
    #[arg(short, long)]
    force: bool,
    /// Show the cluster and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    cost: YesArgs,
}

/// The names of all algorithms, each with what it is good for.
pub(crate) fn algorithm_parser() -> PossibleValuesParser {
    let named = |algorithm: &&'static Algorithm| PossibleValue::new(algorithm.name).help(algorithm.summary);
    PossibleValuesParser::new(algorithms().iter().map(named))
}

/// Runs `rehome cluster new`.
pub(crate) fn run(args: NewArgs) -> Result<ExitCode, Failure> {
    let mut builder = Cluster::builder(&args.algorithm)?;
    check_room(builder.algorithm(), &args)?;
    builder = args.parameters.apply(builder);
    if let Some(hash) = args.hash {
        builder = builder.hash(hash);
    }
    if let Some(seed) = args.seed {
        builder = builder.seed(seed);
    }
    if let Some(key) = args.key {
        builder = builder.key(key);
    }
    if let Some(spread) = args.spread {
        builder = builder.spread(spread);
    }
    if let Some(table) = &args.node_table {
        builder = builder.node_table(table)?;
    } else {
        builder = builder.nodes((0..args.nodes.unwrap_or(0)).map(|number| Node::new(format!("node-{number}"))));
        builder = builder.nodes(args.node.into_iter().map(Node::new));
    }
    let cluster = builder.build().map_err(|error| match &args.node_table {
        Some(table) => error.in_file(table),
        None => error,
    })?;
    // A cluster that cannot be compiled is refused now, not when the keys are there.
    args.cost.check(&cluster, false)?;
    if args.dry_run {
        let text = format!(
            "{} would be: {}\n{}",
            args.file.display(),
            summary_text(&cluster),
            nodes_text(&cluster, SHOWN, "")
        );
        message::print(&(text + "(dry run: nothing was written)\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let saved = cluster.save(&args.file, args.force)?;
    let mut text = format!("{}: {}\n", args.file.display(), summary_text(&cluster));
    if let Some(table) = saved.node_table {
        text += &format!("nodes are in {}\n", table.display());
    }
    message::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Said before the names are made, of which there may be billions.
fn check_room(algorithm: &Algorithm, args: &NewArgs) -> Result<(), Failure> {
    let size = algorithm.parameter_of(ParameterKind::Slots);
    let given = size.and_then(|parameter| args.parameters.number(parameter.name));
    let room = match algorithm.layout {
        Layout::Slots { most, .. } | Layout::Removals { most } => {
            given.unwrap_or(u64::from(most) / 2).min(u64::from(most))
        }
        // A cluster of so many nodes would fill the memory with their names.
        _ => 1 << 31,
    };
    let nodes = u64::from(args.nodes.unwrap_or(0));
    if nodes > room {
        let (what, hint) = match (size, given) {
            (Some(size), Some(_)) => (
                format!("{} has {} = {room}, too few for {nodes} nodes", algorithm.name, size.name),
                format!("make {} at least the number of nodes", size.name),
            ),
            _ => (format!("{nodes} nodes are more than the {room} that a cluster can hold"), "use fewer nodes".into()),
        };
        return Err(Error::invalid(what, hint).into());
    }
    Ok(())
}
