//! From numbered slots to nodes.

use crate::error::{Error, Result};
use crate::placement::NodeId;

/// The node in each slot, without a table where node i is in slot i, as in a cluster that only grew.
#[derive(Debug)]
pub(in crate::placement) struct NodesBySlot {
    table: Option<Box<[NodeId]>>,
}

impl NodesBySlot {
    /// `nodes[i]` is the node in slot i.
    pub(in crate::placement) fn new(nodes: Box<[NodeId]>) -> Self {
        let agree = (0..).zip(&nodes).all(|(slot, node)| *node == NodeId::new(slot));
        Self { table: (!agree).then_some(nodes) }
    }

    /// The same for slots of which some have no node; `node_of_slot` is called for every slot below `slots`.
    ///
    /// # Errors
    /// If the system has no memory for the table.
    pub(in crate::placement) fn with_gaps(slots: u32, node_of_slot: impl Fn(u32) -> Option<NodeId>) -> Result<Self> {
        if (0..slots).all(|slot| node_of_slot(slot).is_none_or(|node| node == NodeId::new(slot))) {
            return Ok(Self { table: None });
        }
        let nodes = (0..slots).map(|slot| node_of_slot(slot).unwrap_or(NodeId::NONE));
        Ok(Self { table: Some(try_collect(slots, nodes)?.into_boxed_slice()) })
    }

    /// The node in a slot that has one.
    #[inline(always)]
    pub(in crate::placement) fn node(&self, slot: u32) -> NodeId {
        match &self.table {
            None => NodeId::new(slot),
            Some(table) => table[slot as usize],
        }
    }

    /// The bytes of the table.
    pub(in crate::placement) fn memory_bytes(&self) -> u64 {
        self.table.as_deref().map_or(0, size_of_val) as u64
    }
}

/// The values of all `slots` slots, in memory that is asked for first.
///
/// # Errors
/// If the system has no such memory.
pub(in crate::placement) fn try_collect<T>(slots: u32, values: impl Iterator<Item = T>) -> Result<Vec<T>> {
    let mut collected = Vec::new();
    collected.try_reserve_exact(slots as usize).map_err(|_| {
        let bytes = u64::from(slots) * size_of::<T>() as u64;
        Error::invalid(
            format!("a table of {slots} slots takes {bytes} bytes, more than the memory holds"),
            "use fewer slots",
        )
    })?;
    collected.extend(values);
    Ok(collected)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(numbers: &[u32]) -> Box<[NodeId]> {
        numbers.iter().map(|number| NodeId::new(*number)).collect()
    }

    #[test]
    fn no_table_where_slots_and_nodes_agree() {
        let agreeing = NodesBySlot::new(ids(&[0, 1, 2]));
        assert_eq!((agreeing.memory_bytes(), agreeing.node(2)), (0, NodeId::new(2)));
        let listed = NodesBySlot::new(ids(&[0, 2, 1]));
        assert_eq!((listed.memory_bytes(), listed.node(2)), (12, NodeId::new(1)));
    }

    #[test]
    fn slots_without_a_node_do_not_matter() {
        let odd = |slot| (slot % 2 == 1).then_some(NodeId::new(slot));
        let agreeing = NodesBySlot::with_gaps(4, odd).unwrap();
        assert_eq!((agreeing.memory_bytes(), agreeing.node(3)), (0, NodeId::new(3)));
        let counted = |slot| (slot % 2 == 1).then_some(NodeId::new(slot / 2));
        let listed = NodesBySlot::with_gaps(4, counted).unwrap();
        assert_eq!((listed.memory_bytes(), listed.node(3)), (16, NodeId::new(1)));
    }

    #[test]
    fn too_much_memory_is_an_error() {
        let error = try_collect(u32::MAX, std::iter::empty::<[u64; 1 << 28]>()).unwrap_err();
        assert!(error.to_string().contains("more than the memory holds"), "{error}");
    }
}
