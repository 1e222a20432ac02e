//! Options that every verb over keys has, and the engine they describe.

use std::io::IsTerminal;
use std::path::Path;

use clap::Args;
use rehome::{Cluster, Engine, Placement};

use super::afford::YesArgs;
use super::failure::Failure;

/// Options of a run over keys.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Threads that hash and place, and as many that decode Parquet; reading and writing have one each besides (0: one
    /// per processor)
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,
    /// Print time per stage, rows per second and peak memory to standard error
    #[arg(long)]
    pub timings: bool,
    /// Print the sums as JSON on standard output
    #[arg(long)]
    pub json: bool,
    /// Say nothing but errors and results
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub cost: YesArgs,
}

impl RunArgs {
    /// The engine of the run.
    pub(crate) fn engine(&self) -> Result<Engine, Failure> {
        engine(self.threads)
    }

    /// The placement of the cluster of this file, unless it costs a lot and nobody agreed to that.
    pub(crate) fn placement(&self, cluster: &Cluster, file: &Path) -> Result<Placement, Failure> {
        Ok(self.cost.placement(cluster, file, self.quiet)?)
    }

    /// Whether a progress bar may be drawn.
    pub(crate) fn shows_progress(&self) -> bool {
        shows_progress(self.quiet)
    }
}

/// An engine of so many threads (0: one per processor).
pub(crate) fn engine(threads: usize) -> Result<Engine, Failure> {
    if threads > 4096 {
        return Err(Failure::usage(format!("--threads {threads} is more than 4096")));
    }
    Ok(Engine::builder().threads(threads).build()?)
}

/// Whether a progress bar may be drawn: on a terminal that is not to be quiet.
pub(crate) fn shows_progress(quiet: bool) -> bool {
    !quiet && std::io::stderr().is_terminal()
}
