//! What is known of every algorithm without compiling anything: the facts from which files, checks, messages and the
//! command line are made. The functions themselves are in [`placement`](crate::placement).

mod defaults;
mod table;

use std::fmt;

use crate::error::{Error, ErrorKind, Result};

pub(crate) use defaults::{is_prime, prime_from};
pub use table::algorithms;

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
    /// Which nodes can leave or be down.
    pub removal: Removal,
    /// Which keys move when nodes come and go.
    pub moves: Moves,
    /// What a key's word is.
    pub keys: KeyRule,
    /// What nodes are placed on.
    pub layout: Layout,
}

/// A parameter of an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name in the cluster file and, with `-` for `_`, as an option of the command line.
    pub name: &'static str,
    /// What it can be.
    pub kind: ParameterKind,
    /// What is taken when a new cluster gives none.
    pub default: DefaultValue,
    /// What it means.
    pub meaning: &'static str,
}

/// What a parameter can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterKind {
    /// How many slots there are, taken or not.
    Slots,
    /// Slots without a node, in an order that decides about the next ones: slots and ranges such as `10-15,3`.
    FreeSlots,
    /// A number of `least..=most`.
    Number {
        /// The smallest value.
        least: u32,
        /// The largest value.
        most: u32,
    },
    /// One of these words.
    Word(&'static [&'static str]),
}

/// What is taken when a new cluster does not give a parameter.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum DefaultValue {
    /// This number, also for a file that does not say it.
    Number(u32),
    /// This word, also for a file that does not say it.
    Word(&'static str),
    /// What this function gives for the number of nodes at that time; a file must say it, since it may never change
    /// with the nodes.
    OfNodes {
        /// The function.
        value: fn(u64) -> Result<u64>,
        /// What it gives, in words.
        text: &'static str,
    },
    /// The order of a fresh cluster, as these words say.
    Fresh(&'static str),
}

impl fmt::Display for DefaultValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Word(text) | Self::OfNodes { text, .. } | Self::Fresh(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for DefaultValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The weights an algorithm takes. Weight 0 means: configured, but given no keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Weights {
    /// Only 1.
    One,
    /// 0 to 1.
    UpToOne,
    /// 0 to 65535.
    Any,
}

/// Which nodes can leave or be down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Removal {
    /// Any node at any time.
    Any,
    /// Only the nodes in the last slots.
    Last,
    /// Only the node in the last slot can leave, and none can be down.
    LastNeverDown,
}

/// Which keys move when nodes come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Moves {
    /// Only those of the node that leaves, and those that the node that joins takes.
    Least,
    /// A node that goes down moves only its own keys, and back up takes them again, but one that joins or leaves for good
    /// also moves some between others.
    LeastWhenDown,
    /// Also some between nodes that stay.
    More,
}

/// What an algorithm takes as the word of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyRule {
    /// The digest, by the cluster's key hash and seed.
    Digest,
    /// The integer key itself, below 2^32; no hash, no seed.
    Raw32,
}

/// What nodes are placed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// The hash of their names: nothing depends on the order in which they are listed.
    Names,
    /// Numbered slots that belong to the cluster's description, with a queue of the inactive ones.
    Slots {
        /// The largest number of slots.
        most: u32,
        /// Whether the number of slots must be a power of two.
        power_of_two: bool,
    },
    /// Slots 0 to n - 1 of n nodes, without a gap.
    Dense,
    /// Numbered slots that belong to the cluster's description, with the order in which the free ones were removed.
    Removals {
        /// The largest number of slots.
        most: u32,
    },
}

impl Layout {
    /// Whether nodes have slots.
    pub fn is_numbered(self) -> bool {
        self != Self::Names
    }
}

impl Algorithm {
    /// The algorithm of this name.
    ///
    /// # Errors
    /// If there is none; the message lists those there are.
    ///
    /// ```
    /// assert_eq!(rehome::Algorithm::named("dx")?.name, "dx");
    /// # Ok::<(), rehome::Error>(())
    /// ```
    pub fn named(name: &str) -> Result<&'static Self> {
        algorithms().iter().copied().find(|algorithm| algorithm.name == name).ok_or_else(|| {
            Error::invalid(format!("unknown algorithm {name:?}"), format!("use one of {}", names_of(|_| true)))
        })
    }

    /// Its parameter of this name.
    ///
    /// # Errors
    /// If there is none; the message lists those there are.
    pub fn parameter(&self, name: &str) -> Result<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name).ok_or_else(|| {
            let known: Vec<_> = self.parameters.iter().map(|parameter| parameter.name).collect();
            let hint = if known.is_empty() { "it has no parameters".to_owned() } else { one_of(&known) };
            let owners = names_of(|other| other.parameters.iter().any(|parameter| parameter.name == name));
            let owners = if owners.is_empty() { owners } else { format!(" ({owners} would)") };
            Error::invalid(format!("{} has no parameter {name:?}{owners}", self.name), hint)
        })
    }

    /// Its parameter of this kind; none if it has no such parameter.
    pub fn parameter_of(&self, kind: ParameterKind) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.kind == kind)
    }

    /// Fails unless the algorithm has a preference list.
    pub(crate) fn need_list(&self) -> Result<()> {
        if self.list {
            return Ok(());
        }
        let available = algorithms().iter().filter(|other| other.list).map(|other| other.name).collect();
        Err(ErrorKind::NoPreferenceList { algorithm: self.name, available }.into())
    }
}

fn one_of(names: &[&str]) -> String {
    format!("it has {}", names.join(", "))
}

/// The names of the algorithms that do, for messages.
pub(crate) fn names_of(does: impl Fn(&Algorithm) -> bool) -> String {
    let names: Vec<_> = algorithms().iter().filter(|other| does(other)).map(|other| other.name).collect();
    names.join(", ")
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

impl Eq for Algorithm {}
