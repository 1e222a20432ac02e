//! Placements that cost more than one asks for by mistake: the cost is told first, and large ones want `--yes`.

use std::path::Path;

use clap::Args;
use indicatif::BinaryBytes;
use rehome::{Cluster, Error, Placement, Result};

use super::message;

/// Memory that is told before it is taken.
const TOLD_BYTES: u64 = 1 << 28;
/// Memory that is only taken with `--yes`.
const ASKED_BYTES: u64 = 4 << 30;
/// Steps of a lookup that are only taken with `--yes`.
const ASKED_STEPS: f64 = 1_048_576.0;

/// The option that agrees to a large cost.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct YesArgs {
    /// Go on where a placement takes more than 4 GiB of memory or a lookup more than a million steps
    #[arg(short, long)]
    pub yes: bool,
}

impl YesArgs {
    /// Fails if the cluster's placement costs a lot and nobody agreed to that; tells what costs less, unless it is to be
    /// quiet. Allocates nothing.
    pub(crate) fn check(self, cluster: &Cluster, quiet: bool) -> Result<()> {
        cluster.check_placement()?;
        let estimate = cluster.placement_estimate()?;
        let cost = format!(
            "{} over {} nodes takes about {} of memory ({} while it is built) and {} per lookup",
            cluster.algorithm().name,
            cluster.nodes().len(),
            BinaryBytes(estimate.memory_bytes),
            BinaryBytes(estimate.building_bytes),
            steps_text(estimate.steps),
        );
        if !self.yes && (estimate.building_bytes > ASKED_BYTES || estimate.steps > ASKED_STEPS) {
            return Err(Error::invalid(cost, "pass --yes if that is what you want"));
        }
        if !quiet && estimate.building_bytes > TOLD_BYTES {
            message::note(&cost);
        }
        Ok(())
    }

    /// The placement of the cluster of this file, unless it costs a lot and nobody agreed to that.
    pub(crate) fn placement(self, cluster: &Cluster, file: &Path, quiet: bool) -> Result<Placement> {
        let compiled = self.check(cluster, quiet).and_then(|()| cluster.placement());
        compiled.map_err(|error| error.in_file(file))
    }
}

fn steps_text(steps: f64) -> String {
    if steps < 1.5 { "a step".to_owned() } else { format!("{steps:.0} steps") }
}
