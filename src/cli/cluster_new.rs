//! `rehome cluster new`: makes a cluster file.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use rehome::hash::KeyHash;
use rehome::placement::{Layout, algorithms};
use rehome::{Cluster, ClusterDiff, Error, KeyType, Node, Spread};

use super::cluster_show::{diff_text, summary_text};
use super::failure::Failure;
use super::message;

const EXAMPLES: &str = "\
Examples:
  rehome cluster new c10.toml --algorithm dx --slots 16 --nodes 10
  rehome cluster new named.toml --algorithm dx --node cache-a --node cache-b --seed 7
  rehome cluster new c.toml --algorithm dx --slots 1024 --node-table nodes.csv

--nodes 10 makes node-0 to node-9 in slots 0 to 9. A node table has the columns name, slot and, where wanted, weight,
zone and up; the cluster file refers to a copy of it, named by its content.";

/// Arguments of `rehome cluster new`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct NewArgs {
    /// The cluster file to make (.toml or .json)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The placement algorithm: dx or dx-crc32c
    #[arg(short, long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(algorithms().iter().map(|algorithm| algorithm.name)))]
    algorithm: String,
    /// Slots (default: the next power of two at or above the number of nodes, times 2)
    #[arg(long, value_name = "N")]
    slots: Option<u64>,
    /// Make this many nodes, node-0, node-1, ..
    #[arg(long, value_name = "N", conflicts_with_all = ["node", "node_table"])]
    nodes: Option<u32>,
    /// Make a node of this name; repeat for more
    #[arg(long, value_name = "NAME", conflicts_with = "node_table", value_parser = NonEmptyStringValueParser::new())]
    node: Vec<String>,
    /// Take the nodes from a table (CSV or Parquet) with the columns name, slot[, weight, zone, up]
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
}

/// Runs `rehome cluster new`.
pub(crate) fn run(args: NewArgs) -> Result<ExitCode, Failure> {
    let mut builder = Cluster::builder(&args.algorithm)?;
    // Said before the names are made: there may be billions.
    let Layout::Slots { most, .. } = builder.algorithm().layout;
    let (nodes, room) = (u64::from(args.nodes.unwrap_or(0)), args.slots.unwrap_or(most / 2).min(most));
    if nodes > room {
        return Err(
            Error::invalid(format!("{room} slots do not hold {nodes} nodes"), "use more slots or fewer nodes").into()
        );
    }
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
    if let Some(slots) = args.slots {
        builder = builder.slots(slots);
    }
    if let Some(table) = &args.node_table {
        let (storage, nodes) = Cluster::read_node_table(table)?;
        builder = builder.storage(storage).nodes(nodes);
    } else {
        builder = builder.nodes((0..args.nodes.unwrap_or(0)).map(|number| Node::new(format!("node-{number}"))));
        builder = builder.nodes(args.node.into_iter().map(Node::new));
    }
    let cluster = builder.build().map_err(|error| match &args.node_table {
        Some(table) => error.in_file(table),
        None => error,
    })?;
    // A cluster that cannot be compiled is refused now, not when the keys are there.
    cluster.placement()?;
    if args.dry_run {
        let empty = Cluster::builder(&args.algorithm)?.slots(u64::from(cluster.slots().size())).build()?;
        message::print(&diff_text(&ClusterDiff::between(&empty, &cluster)))?;
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
