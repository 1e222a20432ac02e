//! What each algorithm does with a cluster: one line per room, in the order of [`algorithms`](crate::algorithm::algorithms).

use super::{Estimate, Locate, compile, dx};
use crate::algorithm::Algorithm;
use crate::cluster::Cluster;
use crate::error::{Error, Result};

/// What an algorithm does with a cluster.
pub(super) struct Room {
    /// The algorithm's name.
    pub name: &'static str,
    /// Fails if the cluster cannot be compiled, without building anything.
    pub check: fn(&Cluster) -> Result<()>,
    /// What compiling and looking up will cost.
    pub estimate: fn(&Cluster) -> Estimate,
    /// Builds the lookup structure of a cluster that passed the check.
    pub compile: fn(&Cluster) -> Result<Box<dyn Locate>>,
}

static ROOMS: [Room; 11] = [
    Room { name: "dx", check: dx::check, estimate: dx::estimate, compile: dx::compile },
    Room { name: "dx-crc32c", check: fine, estimate: dx::estimate, compile: dx::compile_crc32c },
    Room { name: "lrh", check: fine, estimate: compile::lrh_estimate, compile: compile::lrh },
    Room { name: "multi-probe", check: fine, estimate: compile::multi_probe_estimate, compile: compile::multi_probe },
    Room { name: "ring", check: fine, estimate: compile::ring_estimate, compile: compile::ring },
    Room { name: "rendezvous", check: fine, estimate: compile::rendezvous_estimate, compile: compile::rendezvous },
    Room { name: "maglev", check: compile::maglev_check, estimate: compile::maglev_estimate, compile: compile::maglev },
    Room { name: "sach", check: compile::sach_check, estimate: compile::sach_estimate, compile: compile::sach },
    Room { name: "jump", check: fine, estimate: compile::jump_estimate, compile: compile::jump },
    Room { name: "anchor", check: fine, estimate: compile::anchor_estimate, compile: compile::anchor },
    Room { name: "modulo", check: fine, estimate: compile::modulo_estimate, compile: compile::modulo },
];

/// Every cluster that was built can be compiled.
#[expect(clippy::unnecessary_wraps, reason = "the type of all checks")]
fn fine(_cluster: &Cluster) -> Result<()> {
    Ok(())
}

/// The room of an algorithm.
pub(super) fn room(algorithm: &Algorithm) -> Result<&'static Room> {
    ROOMS.iter().find(|room| room.name == algorithm.name).ok_or_else(|| {
        Error::invalid(format!("{} has no placement", algorithm.name), "this is a bug: please report it")
    })
}

/// What [`Locate::prefer`] of an algorithm without a preference list answers.
pub(super) fn without_list(algorithm: &'static str) -> Result<()> {
    Algorithm::named(algorithm)?.need_list()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_has_its_room() {
        let names: Vec<_> = crate::algorithm::algorithms().iter().map(|algorithm| algorithm.name).collect();
        assert_eq!(ROOMS.iter().map(|room| room.name).collect::<Vec<_>>(), names);
    }
}
