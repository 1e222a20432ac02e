//! Describing a new cluster piece by piece.

use std::collections::HashMap;
use std::fmt;

use super::parameters::{Given, Parameters};
use super::{Cluster, Node, Slots, Spread, Storage};
use crate::algorithm::Algorithm;
use crate::error::{Error, Result};
use crate::hash::KeyHash;
use crate::keys::KeyType;

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
    /// Whether nodes come from a file or table, where slots are part of the description.
    slots_are_given: bool,
    given: Given,
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

    /// Whether the cluster counts as weighted even with weights of 1 only, as it does once any other weight was set.
    #[must_use]
    pub fn weighted(mut self, weighted: bool) -> Self {
        self.weighted = weighted;
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
    pub fn slots(self, slots: u64) -> Self {
        self.parameter("slots", slots)
    }

    /// A [parameter of the algorithm](Algorithm::parameters), by its name, as a cluster file would write its value.
    /// Another number of slots drops an order of the free ones that was given before.
    ///
    /// ```
    /// use rehome::{Cluster, Node};
    ///
    /// let lrh = Cluster::builder("lrh")?.parameter("window", 4).nodes(["a", "b"].map(Node::new)).build()?;
    /// assert_eq!((lrh.number("window"), lrh.number("tokens")), (4, 256));
    /// # Ok::<(), rehome::Error>(())
    /// ```
    #[must_use]
    pub fn parameter(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.given.set(self.algorithm, name, value.to_string());
        self
    }

    /// Appends nodes. On algorithms with slots, those without one take free ones, in order.
    #[must_use]
    pub fn nodes(mut self, nodes: impl IntoIterator<Item = Node>) -> Self {
        self.nodes.extend(nodes);
        self
    }

    /// Appends nodes of a file: slots are part of a description and never guessed from the order.
    #[must_use]
    pub(super) fn described_nodes(mut self, nodes: Vec<Node>) -> Self {
        self.slots_are_given = true;
        self.nodes(nodes)
    }

    /// The parameters come from a file, where those that depend on the number of nodes must be said.
    #[must_use]
    pub(super) fn read_from_file(mut self) -> Self {
        self.given.from_file = true;
        self
    }

    /// The cluster, checked.
    ///
    /// # Complexity
    /// O(n log n) for n nodes.
    ///
    /// # Errors
    /// Whatever makes the description inconsistent: names, slots, weights, parameters, hash and seed that do not fit.
    pub fn build(self) -> Result<Cluster> {
        self.given.check_names(self.algorithm)?;
        let mut cluster = Cluster {
            weighted: self.weighted || self.nodes.iter().any(|node| node.weight != 1.0),
            parameters: Parameters::of(self.algorithm, &self.given, self.nodes.len())?,
            algorithm: self.algorithm,
            hash: self.hash,
            seed: self.seed,
            key: self.key,
            spread: self.spread,
            nodes: self.nodes,
            by_hash: HashMap::new(),
            slots: Slots::default(),
            storage: self.storage,
            original: None,
        };
        cluster.check_options()?;
        cluster.index_names()?;
        let unplaced = cluster.nodes.iter().find(|node| node.slot.is_none());
        if let Some(node) = unplaced.filter(|_| self.slots_are_given && self.algorithm.layout.is_numbered()) {
            return Err(Error::invalid(
                format!("node {:?} has no slot", node.name()),
                "give every node its slot; `rehome cluster new` and `add` choose them",
            ));
        }
        cluster.number_nodes(&self.given)?;
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
            slots_are_given: false,
            given: Given::default(),
            storage: Storage::Inside,
        })
    }
}
