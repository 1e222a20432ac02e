//! `rehome cluster add | remove | up | down | weight | scale | shrink`: edits, each atomic.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use rehome::algorithm::Layout;
use rehome::{Cluster, ClusterDiff, Error, Node, NodeId, Result};

use super::afford::YesArgs;
use super::cluster_new::algorithm_parser;
use super::cluster_show::diff_text;
use super::failure::Failure;
use super::message;
use super::parameter_args::ParameterArgs;

/// Where an edit reads and writes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rehome cluster scale c.toml --dry-run\n  rehome cluster shrink c.toml -o smaller.toml"
)]
pub(crate) struct FileArgs {
    /// The cluster file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    output: OutputArgs,
}

/// Where an edit goes.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Write the edited cluster here and leave FILE as it is
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file of -o if it exists
    #[arg(short, long)]
    force: bool,
    /// Show what would change and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Arguments of edits that name nodes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rehome cluster down c.toml node-3 node-4\n  rehome cluster up c.toml node-3\n  rehome cluster remove c.toml node-4 --dry-run"
)]
pub(crate) struct NamesArgs {
    /// The cluster file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The nodes
    #[arg(value_name = "NODE", required = true)]
    nodes: Vec<String>,
    #[command(flatten)]
    output: OutputArgs,
}

/// Arguments of `rehome cluster add`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rehome cluster add c10.toml node-10 -o c11.toml\n  rehome cluster add c.toml big-1 big-2 --zone dc1/rack2 --weight 0.5"
)]
pub(crate) struct AddArgs {
    /// The cluster file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Names of the nodes, in the order in which they take slots
    #[arg(value_name = "NODE", required = true)]
    nodes: Vec<String>,
    /// Their weight: 0 (no keys yet) or more; 1 is that of most nodes
    #[arg(long, value_name = "W", default_value_t = 1.0, allow_negative_numbers = true)]
    weight: f64,
    /// Their zone, a path such as dc1/rack2
    #[arg(long, value_name = "ZONE", value_parser = NonEmptyStringValueParser::new())]
    zone: Option<String>,
    #[command(flatten)]
    output: OutputArgs,
}

/// Arguments of `rehome cluster weight`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rehome cluster weight c11.toml node-3=0.5 node-4=0    # 0 drains a node")]
pub(crate) struct WeightArgs {
    /// The cluster file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Nodes with their new weights
    #[arg(value_name = "NODE=WEIGHT", required = true, value_parser = weight_of)]
    weights: Vec<(String, f64)>,
    #[command(flatten)]
    output: OutputArgs,
}

fn weight_of(text: &str) -> std::result::Result<(String, f64), String> {
    let (name, weight) = text.rsplit_once('=').ok_or("write NODE=WEIGHT, such as node-3=0.5")?;
    let weight = weight.parse().map_err(|_| format!("{weight:?} is not a number"))?;
    Ok((name.to_owned(), weight))
}

/// Runs `rehome cluster add`.
pub(crate) fn add(args: AddArgs) -> Result<ExitCode, Failure> {
    let AddArgs { file, nodes, weight, zone, output } = args;
    edit(&file, &output, |cluster| {
        for name in &nodes {
            let mut node = Node::new(name.as_str()).with_weight(weight);
            if let Some(zone) = &zone {
                node = node.with_zone(zone.as_str());
            }
            cluster.add(node)?;
        }
        Ok(Remark::None)
    })
}

/// Runs `rehome cluster remove`.
pub(crate) fn remove(args: NamesArgs) -> Result<ExitCode, Failure> {
    edit(&args.file, &args.output, |cluster| {
        cluster.remove(args.nodes.iter().map(String::as_str))?;
        Ok(Remark::None)
    })
}

/// Runs `rehome cluster up` and `down`.
pub(crate) fn set_up(args: NamesArgs, up: bool) -> Result<ExitCode, Failure> {
    edit(&args.file, &args.output, |cluster| {
        for name in &args.nodes {
            cluster.set_up(name, up)?;
        }
        // The order of removals tells where keys go, so taking a node out of the middle of it may move others.
        let history = matches!(cluster.algorithm().layout, Layout::Removals { .. });
        Ok(if up && history { Remark::MovedBetweenOthers } else { Remark::None })
    })
}

/// Runs `rehome cluster weight`.
pub(crate) fn weight(args: WeightArgs) -> Result<ExitCode, Failure> {
    edit(&args.file, &args.output, |cluster| {
        for (name, weight) in &args.weights {
            cluster.set_weight(name, *weight)?;
        }
        Ok(Remark::None)
    })
}

/// Runs `rehome cluster scale`.
pub(crate) fn scale(args: FileArgs) -> Result<ExitCode, Failure> {
    edit(&args.file, &args.output, |cluster| {
        cluster.scale()?;
        Ok(Remark::Text("twice the slots: half of all keys move, so add nodes in the same step"))
    })
}

/// Runs `rehome cluster shrink`.
pub(crate) fn shrink(args: FileArgs) -> Result<ExitCode, Failure> {
    edit(&args.file, &args.output, |cluster| {
        cluster.shrink()?;
        Ok(Remark::Text("half the slots: about half of all keys move, and more where nodes changed slots"))
    })
}

/// Arguments of `rehome cluster convert`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rehome cluster convert c10.toml --to rendezvous -o r10.toml\n  rehome cluster convert l.toml --to lrh --window 16 -o l16.toml\n\nNames, weights, zones, up and down, key hash, seed, key type and spread stay. Where slots cannot\nbe kept, nodes are numbered in the order in which they are listed."
)]
pub(crate) struct ConvertArgs {
    /// The cluster file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The algorithm
    #[arg(long, value_name = "NAME", value_parser = algorithm_parser())]
    to: String,
    #[command(flatten)]
    parameters: ParameterArgs,
    #[command(flatten)]
    cost: YesArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// Runs `rehome cluster convert`.
pub(crate) fn convert(args: ConvertArgs) -> Result<ExitCode, Failure> {
    edit(&args.file, &args.output, |cluster| {
        let converted = args.parameters.apply(cluster.converted(&args.to)?).build()?;
        args.cost.check(&converted, false)?;
        cluster.replace(converted);
        Ok(Remark::None)
    })
}

/// What is said of an edit beside what changed.
enum Remark {
    None,
    Text(&'static str),
    /// How many keys move between nodes that the edit did not touch.
    MovedBetweenOthers,
}

/// Keys that are placed to tell how many move.
const SAMPLE: usize = 1 << 20;

/// What share of the keys moves between nodes that are eligible before and after, told from a sample.
fn moved_between_others(before: &Cluster, after: &Cluster) -> Result<Option<String>> {
    let words: Vec<u64> = (0..SAMPLE as u64).map(rehome::hash::fmix64).collect();
    let nodes = |cluster: &Cluster| -> Result<Vec<NodeId>> {
        let mut nodes = vec![NodeId::NONE; words.len()];
        cluster.placement()?.lookup().locate_batch((&words).into(), &mut nodes);
        Ok(nodes)
    };
    let (from, to) = (nodes(before)?, nodes(after)?);
    let stayed =
        |cluster: &Cluster, node: NodeId| node.index().is_some_and(|index| cluster.nodes()[index].is_eligible());
    let moved = from.iter().zip(&to).filter(|(from, to)| from != to && stayed(before, **to)).count();
    let share = moved as f64 * 100.0 / SAMPLE as f64;
    Ok((moved > 0).then(|| {
        format!("about {share:.2} % of all keys move between nodes that were up before: `rehome plan` tells which")
    }))
}

/// What turning a cluster weighted does where an algorithm then compares scores in another way.
fn weighted_remark(before: &Cluster, after: &Cluster) -> Option<&'static str> {
    let races = after.algorithm().name == "rendezvous" || after.word("weight_by") == "score";
    (races && after.is_weighted() && !before.is_weighted()).then_some(
        "the cluster is weighted from now on, also if all weights are 1 again: of 10^6 keys about 3 move for that alone",
    )
}

/// Reads, edits, shows what changed, and writes, unless this is a dry run. An edit may have a remark.
fn edit(
    file: &PathBuf,
    output: &OutputArgs,
    change: impl FnOnce(&mut Cluster) -> Result<Remark>,
) -> Result<ExitCode, Failure> {
    // Two edits of one file take turns, so that neither undoes the other.
    let lock = if output.output.is_none() && !output.dry_run { Some(lock(file)?) } else { None };
    let before = Cluster::from_path(file)?;
    let mut after = before.clone();
    let remark = change(&mut after).map_err(|error| error.in_file(file))?;
    // An edit may not make a cluster that no key can be looked up in; one that already was may be mended in steps.
    if let Err(error) = after.check_placement() {
        if before.check_placement().is_ok() {
            return Err(error.in_file(file).into());
        }
        message::warn(&error.to_string());
    }
    let diff = ClusterDiff::between(&before, &after);
    let target = output.output.as_ref().unwrap_or(file);
    let mut text = if diff.is_empty() {
        format!("{}: nothing changes\n", target.display())
    } else {
        format!("{}{}:\n{}", target.display(), if output.dry_run { " would change" } else { "" }, diff_text(&diff))
    };
    let remark = match remark {
        Remark::None => None,
        Remark::Text(remark) => Some(remark.to_owned()),
        Remark::MovedBetweenOthers => moved_between_others(&before, &after)?,
    };
    for remark in remark.iter().map(String::as_str).chain(weighted_remark(&before, &after)) {
        text += &format!("{remark}\n");
    }
    if output.dry_run {
        text += "(dry run: nothing was written)\n";
    } else if let Some(table) = after.save(target, output.output.is_none() || output.force)?.node_table {
        text += &format!("nodes are in {}\n", table.display());
    }
    drop(lock);
    if !after.nodes().iter().any(rehome::Node::is_eligible) {
        message::warn("no node is up with a weight above 0: every key is unplaced");
    }
    message::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Locks a cluster file against other edits. An edit renames a new file into place, so once the lock is had, the file
/// under the name may be another one.
fn lock(file: &Path) -> Result<File> {
    let failed = |error| Error::io("lock", file, error);
    loop {
        let locked = File::open(file).map_err(|error| Error::io("read", file, error))?;
        locked.lock().map_err(failed)?;
        if is_still(&locked, file).map_err(failed)? {
            return Ok(locked);
        }
    }
}

#[cfg(unix)]
fn is_still(locked: &File, file: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (ours, theirs) = (locked.metadata()?, std::fs::metadata(file)?);
    Ok((ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino()))
}

#[cfg(not(unix))]
fn is_still(_locked: &File, _file: &Path) -> std::io::Result<bool> {
    Ok(true)
}
