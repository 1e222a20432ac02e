//! What each algorithm does with a cluster: one line per room, in the order of [`algorithms`](crate::algorithm::algorithms).

use super::{Estimate, Locate, anchor, dx, jump, lrh, maglev, modulo, multi_probe, rendezvous, ring, sach};
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
    Room { name: "lrh", check: fine, estimate: lrh::estimate, compile: lrh::compile },
    Room { name: "multi-probe", check: fine, estimate: multi_probe::estimate, compile: multi_probe::compile },
    Room { name: "ring", check: fine, estimate: ring::estimate, compile: ring::compile },
    Room { name: "rendezvous", check: fine, estimate: rendezvous::estimate, compile: rendezvous::compile },
    Room { name: "maglev", check: maglev::check, estimate: maglev::estimate, compile: maglev::compile },
    Room { name: "sach", check: sach::check, estimate: sach::estimate, compile: sach::compile },
    Room { name: "jump", check: fine, estimate: jump::estimate, compile: jump::compile },
    Room { name: "anchor", check: fine, estimate: anchor::estimate, compile: anchor::compile },
    Room { name: "modulo", check: fine, estimate: modulo::estimate, compile: modulo::compile },
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
