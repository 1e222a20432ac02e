//! Node names as a column of a result: a dictionary of all names, and a number per key.

use std::sync::Arc;

use arrow_array::types::UInt32Type;
use arrow_array::{ArrayRef, DictionaryArray, StringArray, UInt32Array};
use arrow_schema::{DataType, Field};

use crate::cluster::Cluster;
use crate::error::{Error, Result};
use crate::placement::NodeId;

/// The names of a cluster's nodes, ready to become columns.
#[derive(Clone, Debug)]
pub struct NodeNames {
    names: ArrayRef,
}

impl NodeNames {
    /// The names of this cluster's nodes.
    ///
    /// # Complexity
    /// O(nodes).
    pub fn of(cluster: &Cluster) -> Self {
        Self { names: Arc::new(StringArray::from_iter_values(cluster.nodes().iter().map(|node| node.name()))) }
    }

    /// A column of node names, null where a key has no node.
    pub fn field(name: &str) -> Field {
        let names = DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8));
        Field::new(name, names, true)
    }

    /// The names of these nodes of the cluster.
    ///
    /// # Errors
    /// If a node is not one of the cluster's.
    pub fn column(&self, nodes: impl Iterator<Item = NodeId>) -> Result<ArrayRef> {
        let numbers: UInt32Array = nodes.map(|node| node.index().and_then(|index| u32::try_from(index).ok())).collect();
        DictionaryArray::<UInt32Type>::try_new(numbers, Arc::clone(&self.names))
            .map(|column| Arc::new(column) as ArrayRef)
            .map_err(Error::syntax)
    }
}
