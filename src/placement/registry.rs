//! The registry: one line per algorithm, from which every verb, check and message takes what it needs to know.

use std::fmt;

use super::{Locate, dx};
use crate::cluster::Cluster;
use crate::error::{Error, ErrorKind, Result};

/// What is known of an algorithm without compiling anything.
pub struct Algorithm {
    /// Its name in files and on the command line.
    pub name: &'static str,
    /// One sentence: what it does and when to take it.
    pub summary: &'static str,
    /// Its parameters, which stand in the cluster file's table of the algorithm's name.
    pub parameters: &'static [Parameter],
    /// Which weights its nodes may have.
    pub weights: Weights,
    /// Whether it defines a preference list, and with it replicas, zones and bounded loads.
    pub list: bool,
    /// Which nodes can leave without moving the keys of others.
    pub removal: Removal,
    /// What a key's word is.
    pub keys: KeyRule,
    /// What nodes are placed on.
    pub layout: Layout,
    /// Builds the lookup structure of a checked cluster.
    pub(crate) compile: fn(&Cluster) -> Result<Box<dyn Locate>>,
}

/// A parameter of an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name in the cluster file and, as an option, on the command line.
    pub name: &'static str,
    /// The value taken when none is given.
    pub default: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

/// The weights an algorithm takes. Weight 0 means: configured, but given no keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// Only 1.
    One,
    /// 0 to 1.
    UpToOne,
}

/// Which nodes can leave without moving the keys of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// Any node at any time.
    Any,
}

/// What an algorithm takes as the word of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRule {
    /// The digest, by the cluster's key hash and seed.
    Digest,
    /// The integer key itself, below 2^32; no hash, no seed.
    Raw32,
}

/// What nodes are placed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Numbered slots that belong to the cluster's description, with a queue of the inactive ones.
    Slots {
        /// The largest number of slots.
        most: u64,
        /// Whether the number of slots must be a power of two.
        power_of_two: bool,
    },
}

static ALGORITHMS: [&Algorithm; 2] = [&dx::DX, &dx::DX_CRC32C];

/// Every algorithm, in the order of the documentation.
pub fn algorithms() -> &'static [&'static Algorithm] {
    &ALGORITHMS
}

impl Algorithm {
    /// The algorithm of this name.
    ///
    /// # Errors
    /// If there is none; the message lists those there are.
    ///
    /// ```
    /// assert_eq!(rehome::placement::Algorithm::named("dx")?.name, "dx");
    /// # Ok::<(), rehome::Error>(())
    /// ```
    pub fn named(name: &str) -> Result<&'static Self> {
        ALGORITHMS.into_iter().find(|algorithm| algorithm.name == name).ok_or_else(|| {
            let known: Vec<_> = ALGORITHMS.iter().map(|algorithm| algorithm.name).collect();
            Error::invalid(format!("unknown algorithm {name:?}"), format!("use one of {}", known.join(", ")))
        })
    }

    /// Fails unless the algorithm has a preference list.
    pub(crate) fn need_list(&self) -> Result<()> {
        if self.list {
            return Ok(());
        }
        let available = ALGORITHMS.iter().filter(|other| other.list).map(|other| other.name).collect();
        Err(ErrorKind::NoPreferenceList { algorithm: self.name, available }.into())
    }
}

/// What [`Locate::prefer`] of an algorithm without a preference list answers.
pub(super) fn without_list(algorithm: &'static str) -> Result<()> {
    Algorithm::named(algorithm)?.need_list()
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Algorithm").field(&self.name).finish()
    }
}

impl PartialEq for Algorithm {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
