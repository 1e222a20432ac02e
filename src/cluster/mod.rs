//! What a user describes and edits: nodes, weights, zones, up and down, slots and their queue.
//!
//! A [`Cluster`] is always consistent: every constructor, file reader and edit checks the whole description. To look
//! keys up, compile it with [`Cluster::placement`].

mod comments;
mod diff;
mod edit;
mod file;
mod node;
mod removals;
#[cfg(feature = "io")]
mod save;
mod slots;

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

pub use diff::{Change, ClusterDiff, NodeChange, NodePlace};
pub use edit::Moved;
pub use node::Node;
pub use removals::Removals;
#[cfg(feature = "io")]
pub use save::Saved;
pub use slots::{SlotQueue, Slots};

use crate::error::{Error, ErrorKind, Result};
use crate::hash::{KeyHash, KeyHasher, node_hash};
use crate::keys::KeyType;
use crate::placement::{Algorithm, KeyRule, Layout};

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

/// Describes a new [`Cluster`] piece by piece.
#[derive(Clone, Debug)]
pub struct ClusterBuilder {
    algorithm: &'static Algorithm,
    hash: KeyHash,
    seed: u64,
    key: Option<KeyType>,
    spread: Spread,
    weighted: bool,
    nodes: Vec<Node>,
    slots: Option<u64>,
    queue: Option<SlotQueue>,
    storage: Storage,
}

impl ClusterBuilder {
    /// The algorithm.
    pub fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// The key hash (default: `default`).
    #[must_use]
    pub fn hash(mut self, hash: KeyHash) -> Self {
        self.hash = hash;
        self
    }

    /// The seed of the key hash (default 0). Nested clusters need different seeds.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The type that keys have; without one a key file or an option says it.
    #[must_use]
    pub fn key(mut self, key: KeyType) -> Self {
        self.key = Some(key);
        self
    }

    /// How replicas are chosen (default: the first of the list).
    #[must_use]
    pub fn spread(mut self, spread: Spread) -> Self {
        self.spread = spread;
        self
    }

    /// Where the cluster file keeps its nodes (default: inside).
    #[must_use]
    pub fn storage(mut self, storage: Storage) -> Self {
        self.storage = storage;
        self
    }

    /// The number of slots. Default: the next power of two at or above the number of nodes, times 2.
    #[must_use]
    pub fn slots(mut self, slots: u64) -> Self {
        self.slots = Some(slots);
        self
    }

    /// Appends nodes. Those without a slot take the head of the queue, in order.
    #[must_use]
    pub fn nodes(mut self, nodes: impl IntoIterator<Item = Node>) -> Self {
        self.nodes.extend(nodes);
        self
    }

    /// The cluster, checked.
    ///
    /// # Complexity
    /// O(n log n) for n nodes.
    ///
    /// # Errors
    /// Whatever makes the description inconsistent: names, slots, weights, hash and seed that do not fit.
    pub fn build(self) -> Result<Cluster> {
        let default = (self.nodes.len().max(1) as u64).next_power_of_two() * 2;
        let size = slots::check_size(self.algorithm.layout, self.slots.unwrap_or(default))?;
        let mut cluster = Cluster {
            weighted: self.weighted || self.nodes.iter().any(|node| node.weight != 1.0),
            algorithm: self.algorithm,
            hash: self.hash,
            seed: self.seed,
            key: self.key,
            spread: self.spread,
            nodes: self.nodes,
            by_hash: HashMap::new(),
            slots: Slots { size, queue: SlotQueue::default() },
            storage: self.storage,
            original: None,
        };
        cluster.check_options()?;
        cluster.index_names()?;
        let taken = cluster.check_slots()?;
        cluster.slots.queue = match self.queue {
            Some(queue) => {
                queue.check(size, &taken)?;
                queue
            }
            None => SlotQueue::fresh(size, taken.into_iter()),
        };
        for node in cluster.nodes.iter_mut().filter(|node| node.slot.is_none()) {
            node.slot = Some(cluster.slots.queue.pop().ok_or_else(|| {
                Error::invalid(
                    format!("{size} slots do not hold all nodes: none is left for {:?}", node.name),
                    "use more slots",
                )
            })?);
        }
        Ok(cluster)
    }
}

impl Cluster {
    /// Starts the description of a cluster.
    ///
    /// # Errors
    /// If there is no such algorithm.
    pub fn builder(algorithm: &str) -> Result<ClusterBuilder> {
        Ok(ClusterBuilder {
            algorithm: Algorithm::named(algorithm)?,
            hash: KeyHash::Default,
            seed: 0,
            key: None,
            spread: Spread::Node,
            weighted: false,
            nodes: Vec::new(),
            slots: None,
            queue: None,
            storage: Storage::Inside,
        })
    }

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

    /// The slots and their queue.
    pub fn slots(&self) -> &Slots {
        &self.slots
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

    /// Checks the slots that nodes name, and returns them in ascending order.
    fn check_slots(&self) -> Result<Vec<u32>> {
        let Layout::Slots { .. } = self.algorithm.layout;
        let mut taken: Vec<(u32, usize)> = Vec::with_capacity(self.nodes.len());
        for (position, node) in self.nodes.iter().enumerate() {
            let Some(slot) = node.slot else { continue };
            if slot >= self.slots.size {
                let (slot, slots) = (u64::from(slot), u64::from(self.slots.size));
                return Err(ErrorKind::SlotOutside { name: node.name.to_string(), slot, slots }.into());
            }
            taken.push((slot, position));
        }
        taken.sort_unstable();
        for pair in taken.windows(2) {
            if pair[0].0 == pair[1].0 {
                let name = |position: usize| self.nodes[position].name.to_string();
                let (first, second) = (name(pair[0].1), name(pair[1].1));
                return Err(ErrorKind::SlotTaken { slot: u64::from(pair[0].0), first, second }.into());
            }
        }
        Ok(taken.into_iter().map(|(slot, _)| slot).collect())
    }
}
