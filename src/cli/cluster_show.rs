//! `rehome cluster show | check | diff`: looks at cluster files without changing them.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use rehome::algorithm::{Layout, ParameterKind};
use rehome::cluster::Change;
use rehome::error::printable;
use rehome::{Cluster, ClusterDiff, Error};

use super::failure::Failure;
use super::message;

/// Nodes listed unless all are asked for.
pub(crate) const SHOWN: usize = 20;

/// Arguments of `rehome cluster show`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  rehome cluster show c10.toml\n  rehome cluster show c10.toml --json")]
pub(crate) struct ShowArgs {
    /// The cluster file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// List every node, not only the first 20
    #[arg(long)]
    all: bool,
    /// Print JSON, with every node
    #[arg(long)]
    json: bool,
}

/// Arguments of `rehome cluster check`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rehome cluster check c10.toml && echo fine")]
pub(crate) struct CheckArgs {
    /// The cluster file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Arguments of `rehome cluster diff`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rehome cluster diff c10.toml c11.toml --json")]
pub(crate) struct DiffArgs {
    /// The cluster file before
    #[arg(value_name = "A")]
    from: PathBuf,
    /// The cluster file after
    #[arg(value_name = "B")]
    to: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs `rehome cluster show`.
pub(crate) fn show(args: ShowArgs) -> Result<ExitCode, Failure> {
    let cluster = read(&args.file)?;
    let text = if args.json { show_json(&cluster)? } else { show_text(&cluster, args.all)? };
    message::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Runs `rehome cluster check`.
pub(crate) fn check(args: CheckArgs) -> Result<ExitCode, Failure> {
    let cluster = read(&args.file)?;
    let mean = mean_search(&cluster).unwrap_or_default();
    if eligible(&cluster) == 0 {
        message::warn("no node is up with a weight above 0: every key is unplaced");
    } else if mean > 16.0 {
        message::warn(&format!("a lookup takes {mean:.0} probes on average: consider `rehome cluster shrink`"));
    }
    message::print(&format!("{}: {}\n", args.file.display(), summary_text(&cluster)))?;
    Ok(ExitCode::SUCCESS)
}

/// Runs `rehome cluster diff`.
pub(crate) fn diff(args: DiffArgs) -> Result<ExitCode, Failure> {
    let (from, to) = (Cluster::from_path(&args.from)?, Cluster::from_path(&args.to)?);
    let diff = ClusterDiff::between(&from, &to);
    let text = if args.json {
        let text = serde_json::to_string_pretty(&diff);
        text.map_err(Error::syntax)? + "\n"
    } else if diff.is_empty() {
        "the clusters are alike\n".to_owned()
    } else {
        diff_text(&diff)
    };
    message::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The cluster of a file, which can be compiled.
fn read(file: &PathBuf) -> Result<Cluster, Failure> {
    let cluster = Cluster::from_path(file)?;
    cluster.check_placement().map_err(|error| error.in_file(file))?;
    Ok(cluster)
}

fn eligible(cluster: &Cluster) -> usize {
    cluster.nodes().iter().filter(|node| node.is_eligible()).count()
}

/// One line that says what a cluster is.
pub(crate) fn summary_text(cluster: &Cluster) -> String {
    let (name, nodes) = (cluster.algorithm().name, cluster.nodes().len());
    let mut text = format!("{name}, {nodes} nodes ({} eligible)", eligible(cluster));
    for (parameter, value) in cluster.algorithm().parameters.iter().zip(cluster.parameters()) {
        let _ = match parameter.kind {
            ParameterKind::FreeSlots => Ok(()),
            ParameterKind::Slots if value.0 == "slots" => write!(text, ", {} slots", value.1),
            _ => write!(text, ", {} {}", value.0.replace('_', " "), value.1),
        };
    }
    text
}

/// Probes of a lookup, on average: slots over the sum of the eligible weights. None for other algorithms, and where
/// nothing is eligible.
fn mean_search(cluster: &Cluster) -> Option<f64> {
    let nodes = cluster.nodes().iter().filter(|node| node.is_eligible());
    let sum = nodes.map(|node| node.weight()).sum::<f64>();
    let has_queue = matches!(cluster.algorithm().layout, Layout::Slots { .. });
    (has_queue && sum > 0.0).then(|| f64::from(cluster.slots().size()) / sum)
}

/// The bytes of the placement: told by compiling it where that is cheap.
fn memory_bytes(cluster: &Cluster) -> Result<u64, Error> {
    const CHEAP: u64 = 1 << 26;
    let estimate = cluster.placement_estimate()?;
    if estimate.building_bytes > CHEAP { Ok(estimate.memory_bytes) } else { Ok(cluster.placement()?.memory_bytes()) }
}

fn show_text(cluster: &Cluster, all: bool) -> Result<String, Error> {
    let mut text = String::new();
    let mut line = |label: &str, value: String| {
        let _ = writeln!(text, "{label:<18}{value}");
    };
    line("algorithm", format!("{}: {}", cluster.algorithm().name, cluster.algorithm().summary));
    line("key hash", format!("{}, seed {}", cluster.hash(), cluster.seed()));
    if let Some(key) = cluster.key() {
        line("keys", key.to_string());
    }
    line("spread", cluster.spread().to_string());
    line("nodes", format!("{}, {} eligible", cluster.nodes().len(), eligible(cluster)));
    for (parameter, (name, value)) in cluster.algorithm().parameters.iter().zip(cluster.parameters()) {
        match parameter.kind {
            ParameterKind::FreeSlots if name == "queue" => line("next slots", first_of_queue(cluster)),
            ParameterKind::FreeSlots => line(name, shortened(&value, cluster.slots().removed().len())),
            _ => line(&name.replace('_', " "), value),
        }
    }
    if let Some(mean) = mean_search(cluster) {
        line("mean search", format!("{mean:.2} probes"));
    }
    line("placement", format!("{} bytes", memory_bytes(cluster)?));
    Ok(text + &nodes_text(cluster, if all { usize::MAX } else { SHOWN }, " (--all lists them)"))
}

/// A table of the first nodes, and how many more there are, with a hint how to see them.
pub(crate) fn nodes_text(cluster: &Cluster, most: usize, hint: &str) -> String {
    let mut text = String::new();
    let shown = cluster.nodes().len().min(most);
    let nodes = &cluster.nodes()[..shown];
    let width = nodes.iter().map(|node| printable(node.name()).chars().count()).max().unwrap_or(0).max(4);
    let has_slots = cluster.algorithm().layout.is_numbered();
    let slot_column = |slot: &str| if has_slots { format!("  {slot:>10}") } else { String::new() };
    if shown > 0 {
        let _ = writeln!(text, "\n{:<width$}{}  {:>8}  {:<5} zone", "node", slot_column("slot"), "weight", "up");
    }
    for node in nodes {
        let slot = slot_column(&node.slot().map_or_else(String::new, |slot| slot.to_string()));
        let (name, zone) = (printable(node.name()), printable(node.zone().unwrap_or("")));
        let up = if node.is_up() { "up" } else { "down" };
        let row = format!("{name:<width$}{slot}  {:>8}  {up:<5} {zone}", node.weight());
        let _ = writeln!(text, "{}", row.trim_end());
    }
    if shown < cluster.nodes().len() {
        let _ = writeln!(text, "and {} more{hint}", cluster.nodes().len() - shown);
    }
    text
}

/// The head of the queue, as far as a line holds it.
fn first_of_queue(cluster: &Cluster) -> String {
    let queue = cluster.slots().queue();
    if queue.is_empty() {
        return "none: scale the cluster before adding nodes".to_owned();
    }
    shortened(&queue.to_string(), queue.len())
}

/// A list of slots, as far as a line holds it.
fn shortened(text: &str, slots: u64) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}.. ({slots} in all)", &text[..end]),
        None if text.is_empty() => "none".to_owned(),
        None => text.to_owned(),
    }
}

fn show_json(cluster: &Cluster) -> Result<String, Error> {
    let mut value = cluster.to_json();
    value["eligible"] = eligible(cluster).into();
    value["memory_bytes"] = memory_bytes(cluster)?.into();
    value["mean_search"] = mean_search(cluster).into();
    Ok(format!("{value:#}\n"))
}

/// The differences, a line each.
pub(crate) fn diff_text(diff: &ClusterDiff) -> String {
    let mut text = String::new();
    for (sign, places) in [('-', &diff.removed), ('+', &diff.added)] {
        for place in places {
            let slot = place.slot.map_or_else(String::new, |slot| format!(" (slot {slot})"));
            let _ = writeln!(text, "  {sign} {}{slot}", printable(&place.name));
        }
    }
    let change = |change: &Change, after_name: &str| {
        let shown = |value: &str| if value.is_empty() { "(empty)".to_owned() } else { printable(value).into_owned() };
        format!("{}{after_name} {} -> {}", change.name, shown(&change.from), shown(&change.to))
    };
    for node in &diff.changed {
        let fields: Vec<_> = node.fields.iter().map(|field| change(field, "")).collect();
        let _ = writeln!(text, "  ~ {}: {}", printable(&node.name), fields.join(", "));
    }
    for option in &diff.options {
        let _ = writeln!(text, "  {}", change(option, ":"));
    }
    text
}
