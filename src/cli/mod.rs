//! The command line: one file per verb. Flags become plain data, data becomes objects, errors become exit codes.

mod afford;
mod cluster_edit;
mod cluster_new;
mod cluster_show;
mod compare;
mod compare_table;
mod count;
mod failure;
mod hash;
mod input;
mod keys;
mod locate;
mod message;
mod output;
mod pages;
mod parameter_args;
mod plan;
mod progress;
mod report_charts;
mod report_html;
mod run;
mod signals;
mod timings;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;

const EXAMPLES: &str = "\
Examples:
  rehome cluster new c10.toml --algorithm dx --slots 16 --nodes 10
  rehome cluster add c10.toml node-10 -o c11.toml
  rehome locate --cluster c10.toml keys.txt -o nodes.csv
  rehome plan --from c10.toml --to c11.toml keys.txt -o plan/
  cat keys.txt | rehome locate --cluster c10.toml - | head

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done but some rows were skipped,
4 something differs (verify, plan --check-against).";

const CLUSTER_EXAMPLES: &str = "\
Examples:
  rehome cluster new c10.toml --algorithm dx --slots 16 --nodes 10
  rehome cluster add c10.toml node-10 -o c11.toml
  rehome cluster weight c11.toml node-3=0.5
  rehome cluster diff c10.toml c11.toml";

/// On which node does each key live, and what moves when the cluster changes?
#[derive(Debug, Parser)]
#[command(name = "rehome", version, after_help = EXAMPLES, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Make, show, edit, check and compare cluster files
    #[command(subcommand, after_help = CLUSTER_EXAMPLES)]
    Cluster(ClusterVerb),
    /// Print one row per key with its node, or its replicas
    Locate(locate::LocateArgs),
    /// Count keys (and bytes) per node
    Count(count::CountArgs),
    /// Work out which keys move from one cluster to another
    Plan(plan::PlanArgs),
    /// Check whether a plan is what its inputs and clusters give
    Verify(verify::VerifyArgs),
    /// Compare algorithms: what moves, how evenly keys lie, and what it costs, before and after one change
    Compare(compare::CompareArgs),
    /// Show the digest and the first probe words of one key
    Hash(hash::HashArgs),
    /// Make a file of synthetic keys, for benches and trials
    Keys(keys::KeysArgs),
    /// Print a completion script for a shell
    Completions(pages::CompletionsArgs),
    /// Print the manual page, or write all of them into a directory
    Man(pages::ManArgs),
}

#[derive(Debug, Subcommand)]
enum ClusterVerb {
    /// Make a cluster file
    New(cluster_new::NewArgs),
    /// Show a cluster, its nodes and what its placement costs
    Show(cluster_show::ShowArgs),
    /// Add nodes
    Add(cluster_edit::AddArgs),
    /// Remove nodes for good
    Remove(cluster_edit::NamesArgs),
    /// Mark nodes as up
    Up(cluster_edit::NamesArgs),
    /// Mark nodes as down: they keep their places and get no keys
    Down(cluster_edit::NamesArgs),
    /// Set weights
    Weight(cluster_edit::WeightArgs),
    /// Write the same nodes under another algorithm, or with other parameters
    Convert(cluster_edit::ConvertArgs),
    /// Double the slots (moves half of all keys)
    Scale(cluster_edit::FileArgs),
    /// Halve the slots (moves about half of all keys)
    Shrink(cluster_edit::FileArgs),
    /// Check a cluster file and compile it
    Check(cluster_show::CheckArgs),
    /// Show what differs between two cluster files
    Diff(cluster_show::DiffArgs),
}

/// Parses the command line, runs the verb, and says how it went.
pub(crate) fn main() -> ExitCode {
    // A damaged Parquet file can make its reader panic; the library turns that into an error, and one report is enough.
    message::quiet_caught_panics();
    signals::watch();
    match run(Cli::parse().verb) {
        Ok(code) => code,
        Err(Failure::Usage(text)) => {
            message::error(&format!("{text}\n\nFor more information, try '--help'."));
            ExitCode::from(2)
        }
        // Whoever read the output has seen enough.
        Err(Failure::Error(error)) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(Failure::Error(error)) => {
            message::error(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(verb: Verb) -> Result<ExitCode, Failure> {
    match verb {
        Verb::Cluster(ClusterVerb::New(args)) => cluster_new::run(args),
        Verb::Cluster(ClusterVerb::Show(args)) => cluster_show::show(args),
        Verb::Cluster(ClusterVerb::Check(args)) => cluster_show::check(args),
        Verb::Cluster(ClusterVerb::Diff(args)) => cluster_show::diff(args),
        Verb::Cluster(ClusterVerb::Add(args)) => cluster_edit::add(args),
        Verb::Cluster(ClusterVerb::Remove(args)) => cluster_edit::remove(args),
        Verb::Cluster(ClusterVerb::Up(args)) => cluster_edit::set_up(args, true),
        Verb::Cluster(ClusterVerb::Down(args)) => cluster_edit::set_up(args, false),
        Verb::Cluster(ClusterVerb::Weight(args)) => cluster_edit::weight(args),
        Verb::Cluster(ClusterVerb::Convert(args)) => cluster_edit::convert(args),
        Verb::Cluster(ClusterVerb::Scale(args)) => cluster_edit::scale(args),
        Verb::Cluster(ClusterVerb::Shrink(args)) => cluster_edit::shrink(args),
        Verb::Locate(args) => locate::run(args),
        Verb::Count(args) => count::run(args),
        Verb::Plan(args) => plan::run(args),
        Verb::Verify(args) => verify::run(args),
        Verb::Compare(args) => compare::run(args),
        Verb::Hash(args) => hash::run(args),
        Verb::Keys(args) => keys::run(args),
        Verb::Completions(args) => pages::completions(&args),
        Verb::Man(args) => pages::man(&args),
    }
}
