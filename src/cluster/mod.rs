//! What a user describes and edits: nodes, weights, zones, up and down, slots and their queue.
//!
//! A [`Cluster`] is always consistent: every constructor, file reader and edit checks the whole description. To look
//! keys up, compile it with [`Cluster::placement`].

mod builder;
mod comments;
mod convert;
mod diff;
mod edit;
mod file;
mod file_form;
mod node;
mod numbering;
mod parameters;
mod removals;
#[cfg(feature = "io")]
mod save;
mod slots;

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

pub use builder::ClusterBuilder;
pub use diff::{Change, ClusterDiff, NodeChange, NodePlace};
pub use edit::Moved;
pub use node::Node;
pub use removals::Removals;
#[cfg(feature = "io")]
pub use save::Saved;
pub use slots::{SlotQueue, Slots};

use crate::algorithm::{Algorithm, KeyRule, Layout, Parameter, ParameterKind};
use crate::error::{Error, ErrorKind, Result};
use crate::hash::{KeyHash, KeyHasher, node_hash};
use crate::keys::KeyType;
use parameters::Parameters;

/// The version of the cluster file that this program writes, and the newest it reads.
pub const FILE_VERSION: u64 = 1;

/// A cluster: nodes, and how keys find them.
///
/// ```
/// use rehome::{Cluster, Node};
///
/// let mut cluster = Cluster::builder("dx")?.slots(16).nodes((0..10).map(|i| Node::new(format!("node-{i}")))).build()?;
/// assert_eq!(cluster.nodes()[9].slot(), Some(9));
/// cluster.add(Node::new("node-10"))?;
/// assert_eq!(cluster.placement()?.eligible(), 11);
/// # Ok::<(), rehome::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cluster {
    algorithm: &'static Algorithm,
    hash: KeyHash,
    seed: u64,
    key: Option<KeyType>,
    spread: Spread,
    weighted: bool,
    nodes: Vec<Node>,
    /// Position in `nodes` by the hash of the name: names and hashes are unique.
    by_hash: HashMap<u64, u32>,
    parameters: Parameters,
    slots: Slots,
    storage: Storage,
    /// The TOML text it was read from, whose comments an edit keeps.
    original: Option<Arc<str>>,
}

/// How replicas are chosen from a preference list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// The first r nodes of the list.
    #[default]
    Node,
    /// First the best node of each zone, then the others in list order.
    Zone,
}

impl Spread {
    /// Its name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Zone => "zone",
        }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Spread {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "node" => Ok(Self::Node),
            "zone" => Ok(Self::Zone),
            _ => Err(Error::invalid(format!("unknown spread {name:?}"), "use node or zone")),
        }
    }
}

/// Where a cluster file keeps its node rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// In the file itself.
    #[default]
    Inside,
    /// In a CSV file beside it.
    Csv,
    /// In a Parquet file beside it.
    Parquet,
}

impl Cluster {
    /// The algorithm, with all that is known of it.
    pub fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// The key hash.
    pub fn hash(&self) -> KeyHash {
        self.hash
    }

    /// The seed of the key hash.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The type that keys have, if the cluster says so.
    pub fn key(&self) -> Option<KeyType> {
        self.key
    }

    /// How replicas are chosen.
    pub fn spread(&self) -> Spread {
        self.spread
    }

    /// Whether a weight other than 1 was ever set.
    pub fn is_weighted(&self) -> bool {
        self.weighted
    }

    /// The nodes; the position of a node is its [`NodeId`](crate::NodeId) in placements compiled from this cluster.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The slots and their queue; none where nodes are placed by their names.
    pub fn slots(&self) -> &Slots {
        &self.slots
    }

    /// The algorithm's parameters with their values, as a cluster file writes them.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static str, String)> + '_ {
        self.algorithm.parameters.iter().map(|parameter| (parameter.name, self.shown(parameter)))
    }

    /// The value of a parameter that is a number other than the slots; 0 if the algorithm has none of this name.
    pub fn number(&self, parameter: &str) -> u32 {
        self.parameters.number(parameter).unwrap_or_default()
    }

    /// The value of a parameter that is a word; empty if the algorithm has none of this name.
    pub fn word(&self, parameter: &str) -> &'static str {
        self.parameters.word(parameter).unwrap_or_default()
    }

    fn shown(&self, parameter: &Parameter) -> String {
        match parameter.kind {
            ParameterKind::Slots => self.slots.size.to_string(),
            ParameterKind::FreeSlots => match self.algorithm.layout {
                Layout::Removals { .. } => self.slots.removed.to_string(),
                _ => self.slots.queue.to_string(),
            },
            ParameterKind::Number { .. } => self.number(parameter.name).to_string(),
            ParameterKind::Word(_) => self.word(parameter.name).to_owned(),
        }
    }

    /// Where the cluster file keeps its nodes.
    pub fn storage(&self) -> Storage {
        self.storage
    }

    /// The position of the node of this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        let position = *self.by_hash.get(&node_hash(name))? as usize;
        (self.nodes[position].name() == name).then_some(position)
    }

    /// The hasher that turns this cluster's keys into words.
    ///
    /// # Errors
    /// None for a cluster that was built or read; the signature is that of the check.
    pub fn hasher(&self) -> Result<KeyHasher> {
        match self.algorithm.keys {
            KeyRule::Digest => KeyHasher::new(self.hash, self.seed),
            KeyRule::Raw32 => Ok(KeyHasher::raw32()),
        }
    }

    /// What is wrong with hash, seed and key type together.
    fn check_options(&self) -> Result<()> {
        let name = self.algorithm.name;
        if self.algorithm.keys == KeyRule::Raw32 {
            if self.seed != 0 || self.hash != KeyHash::Default {
                return Err(Error::invalid(
                    format!("{name} takes keys as they are: it has no hash and no seed"),
                    "leave both out, or use dx",
                ));
            }
            if let Some(key) = self.key.filter(|key| !key.is_integer()) {
                return Err(Error::invalid(format!("{name} takes integer keys only, not {key}"), "use dx"));
            }
        }
        if let Some(key) = self.key.filter(|key| self.hash == KeyHash::Identity && !key.is_integer()) {
            return Err(Error::invalid(
                format!("the identity hash takes integer keys only, not {key}"),
                "use another hash",
            ));
        }
        self.hasher().map(drop)
    }

    /// Checks every node by itself, and that no two have one name or one hash.
    fn index_names(&mut self) -> Result<()> {
        if u32::try_from(self.nodes.len()).map_or(true, |len| len == u32::MAX) {
            return Err(Error::invalid(format!("{} nodes are too many", self.nodes.len()), "the most is 2^32 - 2"));
        }
        self.by_hash.clear();
        self.by_hash.reserve(self.nodes.len());
        for (position, node) in (0_u32..).zip(&self.nodes) {
            node.check(self.algorithm)?;
            if let Some(first) = self.by_hash.insert(node_hash(&node.name), position) {
                let first = self.nodes[first as usize].name.to_string();
                return Err(ErrorKind::DuplicateNode { first, second: node.name.to_string() }.into());
            }
        }
        Ok(())
    }
}
