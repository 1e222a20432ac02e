//! `rehome cluster add | remove | up | down | weight | scale | shrink`: edits, each atomic.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use rehome::{Cluster, ClusterDiff, Error, Node, Result};

use super::cluster_show::diff_text;
use super::failure::Failure;
use super::message;

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
    /// Their weight: 0 (no keys yet) to 1
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
        Ok(None)
    })
}

/// Runs `rehome cluster remove`.
pub(crate) fn remove(args: NamesArgs) -> Result<ExitCode, Failure> {
    edit(&args.file, &args.output, |cluster| {
        cluster.remove(args.nodes.iter().map(String::as_str))?;
        Ok(None)
    })
}

/// Runs `rehome cluster up` and `down`.
pub(crate) fn set_up(args: NamesArgs, up: bool) -> Result<ExitCode, Failure> {
    edit(&args.file, &args.output, |cluster| {
        for name in &args.nodes {
            cluster.set_up(name, up)?;
        }
        Ok(None)
    })
}

/// Runs `rehome cluster weight`.
pub(crate) fn weight(args: WeightArgs) -> Result<ExitCode, Failure> {
    edit(&args.file, &args.output, |cluster| {
        for (name, weight) in &args.weights {
            cluster.set_weight(name, *weight)?;
        }
        Ok(None)
    })
}

/// Runs `rehome cluster scale`.
pub(crate) fn scale(args: FileArgs) -> Result<ExitCode, Failure> {
    edit(&args.file, &args.output, |cluster| {
        cluster.scale()?;
        Ok(Some("twice the slots: half of all keys move, so add nodes in the same step"))
    })
}

/// Runs `rehome cluster shrink`.
pub(crate) fn shrink(args: FileArgs) -> Result<ExitCode, Failure> {
    edit(&args.file, &args.output, |cluster| {
        cluster.shrink()?;
        Ok(Some("half the slots: about half of all keys move, and more where nodes changed slots"))
    })
}

/// Reads, edits, shows what changed, and writes, unless this is a dry run. An edit may have a remark.
fn edit(
    file: &PathBuf,
    output: &OutputArgs,
    change: impl FnOnce(&mut Cluster) -> Result<Option<&'static str>>,
) -> Result<ExitCode, Failure> {
    // Two edits of one file take turns, so that neither undoes the other.
    let lock = if output.output.is_none() && !output.dry_run { Some(lock(file)?) } else { None };
    let before = Cluster::from_path(file)?;
    let mut after = before.clone();
    let remark = change(&mut after).map_err(|error| error.in_file(file))?;
    // An edit may not make a cluster that no key can be looked up in; one that already was may be mended in steps.
    if let Err(error) = after.placement() {
        if before.placement().is_ok() {
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
    if let Some(remark) = remark {
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
