//! The same nodes under another algorithm.

use super::{Cluster, ClusterBuilder, Node};
use crate::algorithm::{Layout, Weights};
use crate::error::Result;

impl Cluster {
    /// Starts the description of a cluster with the same nodes, key hash, seed, key type and spread under another
    /// algorithm (or the same one with other parameters). Slots are kept from one queue of slots to another; otherwise
    /// nodes are numbered in the order in which they are listed, and those that are down count as having gone down in
    /// that order.
    ///
    /// # Complexity
    /// O(nodes).
    ///
    /// # Errors
    /// If there is no such algorithm. What the algorithm cannot take of the nodes is told when the cluster is built.
    ///
    /// ```
    /// use rehome::{Cluster, Node};
    ///
    /// let dx = Cluster::builder("dx")?.seed(7).nodes(["a", "b"].map(Node::new)).build()?;
    /// let ring = dx.converted("ring")?.parameter("tokens", 512).build()?;
    /// assert_eq!((ring.seed(), ring.nodes()[1].name(), ring.nodes()[1].slot()), (7, "b", None));
    /// # Ok::<(), rehome::Error>(())
    /// ```
    pub fn converted(&self, algorithm: &str) -> Result<ClusterBuilder> {
        let mut builder = Self::builder(algorithm)?.hash(self.hash).seed(self.seed).spread(self.spread);
        if let Some(key) = self.key {
            builder = builder.key(key);
        }
        let layouts = (self.algorithm.layout, builder.algorithm().layout);
        let keeps_slots =
            matches!(layouts, (Layout::Slots { .. }, Layout::Slots { .. })) || self.algorithm.name == algorithm;
        if keeps_slots {
            for (name, value) in self.parameters() {
                builder = builder.parameter(name, value);
            }
        }
        let nodes = self.nodes.iter().map(|node| Node { slot: node.slot.filter(|_| keeps_slots), ..node.clone() });
        let weighted = self.weighted && builder.algorithm().weights != Weights::One;
        Ok(builder.weighted(weighted).storage(self.storage).nodes(nodes))
    }

    /// Becomes another description; comments of the file that this one was read from stay where they fit.
    pub fn replace(&mut self, other: Self) {
        let original = self.original.take();
        *self = Self { original, ..other };
    }
}
