//! `rehome cluster show | check | diff`: looks at cluster files without changing them.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use rehome::cluster::Change;
use rehome::error::printable;
use rehome::placement::Layout;
use rehome::{Cluster, ClusterDiff, Error, Placement};

use super::failure::Failure;
use super::message;

/// Nodes listed unless all are asked for.
const SHOWN: usize = 20;

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
    let (cluster, placement) = read(&args.file)?;
    let text = if args.json { show_json(&cluster, &placement) } else { show_text(&cluster, &placement, args.all) };
    message::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Runs `rehome cluster check`.
pub(crate) fn check(args: CheckArgs) -> Result<ExitCode, Failure> {
    let (cluster, placement) = read(&args.file)?;
    if placement.eligible() == 0 {
        message::warn("no node is up with a weight above 0: every key is unplaced");
    } else if mean_search(&cluster) > 16.0 {
        let mean = mean_search(&cluster);
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

fn read(file: &PathBuf) -> Result<(Cluster, Placement), Failure> {
    let cluster = Cluster::from_path(file)?;
    let placement = cluster.placement().map_err(|error| error.in_file(file))?;
    Ok((cluster, placement))
}

/// One line that says what a cluster is.
pub(crate) fn summary_text(cluster: &Cluster) -> String {
    let eligible = cluster.nodes().iter().filter(|node| node.is_eligible()).count();
    let Layout::Slots { .. } = cluster.algorithm().layout;
    let (name, nodes, slots) = (cluster.algorithm().name, cluster.nodes().len(), cluster.slots().size());
    format!("{name}, {nodes} nodes ({eligible} eligible), {slots} slots")
}

/// Probes of a lookup, on average: slots over the sum of the eligible weights.
fn mean_search(cluster: &Cluster) -> f64 {
    let eligible = cluster.nodes().iter().filter(|node| node.is_eligible());
    f64::from(cluster.slots().size()) / eligible.map(|node| node.weight()).sum::<f64>()
}

fn show_text(cluster: &Cluster, placement: &Placement, all: bool) -> String {
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
    line("nodes", format!("{}, {} eligible", cluster.nodes().len(), placement.eligible()));
    line("slots", cluster.slots().size().to_string());
    line("next slots", first_of_queue(cluster));
    if placement.eligible() > 0 {
        line("mean search", format!("{:.2} probes", mean_search(cluster)));
    }
    line("placement", format!("{} bytes", placement.memory_bytes()));
    let shown = if all { cluster.nodes().len() } else { cluster.nodes().len().min(SHOWN) };
    let nodes = &cluster.nodes()[..shown];
    let width = nodes.iter().map(|node| printable(node.name()).chars().count()).max().unwrap_or(0).max(4);
    if shown > 0 {
        let _ = writeln!(text, "\n{:<width$}  {:>10}  {:>8}  {:<5} zone", "node", "slot", "weight", "up");
    }
    for node in nodes {
        let slot = node.slot().map_or_else(String::new, |slot| slot.to_string());
        let (name, zone) = (printable(node.name()), printable(node.zone().unwrap_or("")));
        let up = if node.is_up() { "up" } else { "down" };
        let row = format!("{name:<width$}  {slot:>10}  {:>8}  {up:<5} {zone}", node.weight());
        let _ = writeln!(text, "{}", row.trim_end());
    }
    if shown < cluster.nodes().len() {
        let _ = writeln!(text, "and {} more (--all lists them)", cluster.nodes().len() - shown);
    }
    text
}

/// The head of the queue, as far as a line holds it.
fn first_of_queue(cluster: &Cluster) -> String {
    let queue = cluster.slots().queue();
    if queue.is_empty() {
        return "none: scale the cluster before adding nodes".to_owned();
    }
    let text = queue.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}.. ({} in all)", &text[..end], queue.len()),
        None => text,
    }
}

fn show_json(cluster: &Cluster, placement: &Placement) -> String {
    let mut value = cluster.to_json();
    value["eligible"] = placement.eligible().into();
    value["memory_bytes"] = placement.memory_bytes().into();
    value["mean_search"] = (placement.eligible() > 0).then(|| mean_search(cluster)).into();
    format!("{value:#}\n")
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
