//! Placements: clusters compiled for lookup, one folder per algorithm.
//!
//! An algorithm is a folder with its type and docs (`mod.rs`) and the literal function (`scalar.rs`: the truth that every
//! faster form must equal). What a cluster compiles to implements [`Locate`].
//!
//! # Adding an algorithm
//! 1. Define it in `spec/placement.md`, down to the bit, and its vectors in `tests/vectors/`.
//! 2. Give it a line in `src/algorithm/table.rs`: name, parameters with their defaults, weights, who can leave, what moves.
//!    The command line, cluster files, edits and messages take all that from there.
//! 3. Make its folder here: `scalar.rs` with the literal function, `mod.rs` with a type that is built from plain data and
//!    implements [`Locate`], an estimate of what it costs, and tests that compare both and the vectors.
//! 4. In `compile.rs` say what it takes of a cluster, and add its line to `registry.rs`.
//!
//! It then works in every verb, and `rehome compare` and the laws in `tests/laws/` put it beside the others.

pub mod anchor;
mod compile;
pub mod dx;
mod estimate;
mod hashed_node;
pub mod jump;
pub mod lrh;
pub mod maglev;
pub mod modulo;
pub mod multi_probe;
mod node_id;
mod race;
mod registry;
pub mod rendezvous;
mod replicas;
pub mod ring;
pub mod sach;
mod words;

use std::any::Any;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

pub use estimate::Estimate;
pub use hashed_node::HashedNode;
pub use node_id::NodeId;
pub use words::Words;

use crate::cluster::{Cluster, Spread};
use crate::error::Result;
use crate::hash::KeyHasher;
use crate::keys::Key;
use replicas::Zones;

/// What an algorithm compiles a cluster to.
pub trait Locate: Any + Send + Sync + fmt::Debug {
    /// The node of a word, [`NodeId::NONE`] if it has none, and the search length: how many probes it took.
    ///
    /// This is the literal function; [`locate_batch`](Self::locate_batch) must agree with it on every word.
    fn locate(&self, word: u64) -> (NodeId, u64);

    /// The nodes of many words: `nodes[i]` is the node of word `i`. Both have one length.
    fn locate_batch(&self, words: Words<'_>, nodes: &mut [NodeId]) {
        for (index, node) in nodes.iter_mut().enumerate() {
            *node = self.locate(words.get(index)).0;
        }
    }

    /// Visits the preference list of a word, best node first, until the visitor breaks or the list ends.
    ///
    /// # Errors
    /// If the algorithm has no such list.
    fn prefer(&self, word: u64, visit: &mut dyn FnMut(NodeId) -> ControlFlow<()>) -> Result<()>;

    /// The bytes that a lookup may touch.
    fn memory_bytes(&self) -> u64;
}

/// A cluster compiled for lookup: immutable, and cheap to clone.
///
/// ```
/// use rehome::{Cluster, Key, Node};
///
/// let cluster = Cluster::builder("dx")?.slots(16).nodes(["a", "b", "c"].map(Node::new)).build()?;
/// let placement = cluster.placement()?;
/// let node = placement.locate(Key::Bytes(b"user:42"))?;
/// assert!(placement.node_name(node).is_some());
/// # Ok::<(), rehome::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Placement {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    cluster: Cluster,
    hasher: KeyHasher,
    eligible: usize,
    zones: Option<Zones>,
    lookup: Box<dyn Locate>,
}

impl Cluster {
    /// Compiles the cluster for lookup.
    ///
    /// # Complexity
    /// As [`placement_estimate`](Self::placement_estimate) tells beforehand.
    ///
    /// # Errors
    /// Those of [`check_placement`](Self::check_placement), and memory that cannot be had. A cluster without any eligible
    /// node compiles, and gives every key [`NodeId::NONE`].
    pub fn placement(&self) -> Result<Placement> {
        self.check_placement()?;
        let lookup = (registry::room(self.algorithm())?.compile)(self)?;
        let zones = (self.spread() == Spread::Zone).then(|| Zones::of(self));
        let shared = Shared {
            hasher: self.hasher()?,
            eligible: self.nodes().iter().filter(|node| node.is_eligible()).count(),
            zones,
            lookup,
            cluster: self.clone(),
        };
        Ok(Placement { shared: Arc::new(shared) })
    }

    /// Whether the cluster can be compiled, without building anything.
    ///
    /// # Complexity
    /// O(nodes), and O(nodes log size) for tables.
    ///
    /// # Errors
    /// Eligible slots so few that searches would be too long ([`ErrorKind::TooSparse`]); a table too small for its nodes.
    ///
    /// [`ErrorKind::TooSparse`]: crate::ErrorKind::TooSparse
    pub fn check_placement(&self) -> Result<()> {
        (registry::room(self.algorithm())?.check)(self)
    }

    /// What compiling the cluster and looking keys up will cost, without building anything.
    ///
    /// # Complexity
    /// O(nodes).
    ///
    /// # Errors
    /// None for a cluster that was built or read.
    pub fn placement_estimate(&self) -> Result<Estimate> {
        Ok((registry::room(self.algorithm())?.estimate)(self))
    }
}

impl Placement {
    /// The cluster that was compiled.
    pub fn cluster(&self) -> &Cluster {
        &self.shared.cluster
    }

    /// What turns this placement's keys into words.
    pub fn hasher(&self) -> &KeyHasher {
        &self.shared.hasher
    }

    /// The compiled form, which works on words.
    pub fn lookup(&self) -> &dyn Locate {
        &*self.shared.lookup
    }

    /// The number of nodes, eligible or not.
    pub fn nodes(&self) -> usize {
        self.cluster().nodes().len()
    }

    /// The number of nodes that can get keys.
    pub fn eligible(&self) -> usize {
        self.shared.eligible
    }

    /// The bytes that a lookup may touch.
    pub fn memory_bytes(&self) -> u64 {
        self.shared.lookup.memory_bytes()
    }

    /// The name of a node; none for [`NodeId::NONE`].
    pub fn node_name(&self, node: NodeId) -> Option<&str> {
        Some(self.cluster().nodes().get(node.index()?)?.name())
    }

    /// The node of one key. For many keys use an [`Engine`](crate::Engine).
    ///
    /// # Errors
    /// A key that the cluster's hash or algorithm does not take.
    pub fn locate(&self, key: Key<'_>) -> Result<NodeId> {
        Ok(self.shared.lookup.locate(self.shared.hasher.word(key)?).0)
    }

    /// The replicas of a word, best first: as many as `replicas` has room for; the rest is [`NodeId::NONE`].
    ///
    /// With fewer eligible nodes than places, the first are distinct nodes and the others NONE. The cluster's
    /// [`Spread`] decides whether zones matter.
    ///
    /// # Errors
    /// If the algorithm has no preference list.
    pub fn replicas(&self, word: u64, replicas: &mut [NodeId]) -> Result<()> {
        self.cluster().algorithm().need_list()?;
        match &self.shared.zones {
            None => replicas::first(self.lookup(), word, replicas),
            Some(zones) => replicas::spread(self.lookup(), word, zones, replicas),
        }
    }
}
