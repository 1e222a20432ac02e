//! Edits: each leaves a consistent cluster, or the one it found and an error.

use super::slots::{SlotQueue, check_size, need_scaling};
use super::{Cluster, Node};
use crate::algorithm::{Layout, Removal};
use crate::error::{Error, ErrorKind, Result};

/// A node that a shrink gave another slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The node.
    pub name: String,
    /// Its slot before.
    pub from: u32,
    /// Its slot now.
    pub to: u32,
}

impl Cluster {
    /// Adds a node. On algorithms with slots it takes the next one, which is returned: the head of the queue (DxHash), the
    /// slot removed last (AnchorHash) or the one behind the last. (A slot named by the node must be that one.)
    ///
    /// # Errors
    /// A name, weight or zone that cannot be; no free slot left, or none that a node can take while others are down.
    pub fn add(&mut self, mut node: Node) -> Result<Option<u32>> {
        node.check(self.algorithm)?;
        let next = self.next_slot(&node)?;
        if let Some(slot) = node.slot.filter(|slot| Some(*slot) != next) {
            return Err(match next {
                Some(next) => Error::invalid(
                    format!("node {:?} cannot choose its slot: the next one is {next}", node.name()),
                    "add it without a slot",
                ),
                None => Error::invalid(
                    format!("node {:?} has slot {slot}, but {} places on names", node.name(), self.algorithm.name),
                    "add it without a slot",
                ),
            });
        }
        node.slot = next;
        let weighted = self.weighted || node.weight != 1.0;
        let is_up = node.up;
        self.nodes.push(node);
        if let Err(error) = self.index_last() {
            self.nodes.pop();
            return Err(error);
        }
        self.weighted = weighted;
        match self.algorithm.layout {
            Layout::Names => {}
            Layout::Slots { .. } => drop(self.slots.queue.pop()),
            Layout::Dense => self.slots.size += 1,
            // A node that comes as down leaves its slot where it is in the order of removals.
            Layout::Removals { .. } if !is_up => {}
            Layout::Removals { .. } => drop(self.slots.removed.pop()),
        }
        Ok(next)
    }

    /// The slot that a new node takes; none where nodes are placed by their names.
    fn next_slot(&self, node: &Node) -> Result<Option<u32>> {
        let (name, size) = (node.name(), self.slots.size);
        match self.algorithm.layout {
            Layout::Names => Ok(None),
            Layout::Slots { .. } => match self.slots.queue.ranges().next() {
                Some((head, _)) => Ok(Some(head)),
                None => Err(Error::invalid(
                    format!("no slot is left for {name:?}: all {size} are taken"),
                    "scale the cluster first (`rehome cluster scale` doubles the slots and moves half of all keys)",
                )),
            },
            Layout::Dense => {
                if let Some(down) = self.nodes.iter().find(|node| !node.up) {
                    return Err(Error::invalid(
                        format!("{name:?} cannot join behind node {:?}, which is down", down.name()),
                        "bring that node up or remove it first",
                    ));
                }
                if !node.up && self.algorithm.removal == Removal::LastNeverDown {
                    return Err(Error::invalid(
                        format!("node {name:?} is down, which {} does not know", self.algorithm.name),
                        "add it once it is up",
                    ));
                }
                Ok(Some(size))
            }
            Layout::Removals { .. } => {
                let last = self.slots.removed.last().ok_or_else(|| {
                    Error::invalid(
                        format!("no slot is left for {name:?}: the capacity of {size} is used up"),
                        "the capacity is for ever: `rehome cluster convert` makes a cluster with a larger one",
                    )
                })?;
                match self.nodes.iter().find(|node| node.slot == Some(last)) {
                    None => Ok(Some(last)),
                    Some(down) => Err(Error::invalid(
                        format!("the next slot, {last}, is that of node {:?}, which is down", down.name()),
                        format!(
                            "slots come back in reverse order: bring that node up, or remove it, and {name:?} gets its slot"
                        ),
                    )),
                }
            }
        }
    }

    /// Removes nodes, in the order given: each one's slot goes to the tail of the queue, or of the order of removals.
    ///
    /// # Errors
    /// A name that no node has, or one named twice; a node that cannot leave. Nothing is changed then.
    pub fn remove<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) -> Result<()> {
        let mut leaving = vec![false; self.nodes.len()];
        let mut order = Vec::new();
        for name in names {
            let position = self.find(name)?;
            if std::mem::replace(&mut leaving[position], true) {
                return Err(Error::invalid(format!("node {name:?} is named twice"), "name each node once"));
            }
            order.push(position);
        }
        let mut slots = self.slots.clone();
        for position in order {
            let node = &self.nodes[position];
            let Some(slot) = node.slot else { continue };
            match self.algorithm.layout {
                Layout::Names => {}
                Layout::Slots { .. } => slots.queue.push(slot),
                Layout::Dense if slot + 1 == slots.size && slot > 0 => slots.size = slot,
                Layout::Dense if slot == 0 && slots.size == 1 => {
                    let name = self.algorithm.name;
                    return Err(Error::invalid(format!("{name} needs at least one node"), "add another one first"));
                }
                Layout::Dense => return Err(self.cannot_leave(node, "leaves")),
                // The slot of a node that is down is among the removed ones already.
                Layout::Removals { .. } if !node.up => {}
                Layout::Removals { .. } => slots.removed.push(slot),
            }
        }
        self.slots = slots;
        let mut position = 0;
        self.nodes.retain(|_| {
            position += 1;
            !leaving[position - 1]
        });
        self.index_names()
    }

    /// Marks a node up or down. A node that is down keeps its slot and gets no keys. Returns whether that changed it.
    ///
    /// With AnchorHash a node that comes up is taken out of the order of removals, which moves keys between other nodes
    /// unless it went down last.
    ///
    /// # Errors
    /// A name that no node has; a node that cannot be down, or not yet up.
    pub fn set_up(&mut self, name: &str, up: bool) -> Result<bool> {
        let position = self.find(name)?;
        if std::mem::replace(&mut self.nodes[position].up, up) == up {
            return Ok(false);
        }
        if let Err(error) = self.check_down() {
            self.nodes[position].up = !up;
            return Err(error);
        }
        if let (Layout::Removals { .. }, Some(slot)) = (self.algorithm.layout, self.nodes[position].slot) {
            if up {
                self.slots.removed.remove(slot);
            } else {
                self.slots.removed.push(slot);
            }
        }
        Ok(true)
    }

    /// Sets a node's weight. The cluster is weighted from its first weight other than 1 on. Returns the weight before.
    ///
    /// # Errors
    /// A name that no node has, or a weight the algorithm does not take.
    pub fn set_weight(&mut self, name: &str, weight: f64) -> Result<f64> {
        let position = self.find(name)?;
        self.nodes[position].clone().with_weight(weight).check(self.algorithm)?;
        self.weighted |= weight != 1.0;
        Ok(std::mem::replace(&mut self.nodes[position].weight, weight))
    }

    /// Doubles the number of slots; the new ones join the tail of the queue, ascending. Moves half of all keys.
    ///
    /// # Errors
    /// If there would be more slots than the algorithm takes, or it has none to double.
    pub fn scale(&mut self) -> Result<()> {
        need_scaling(self.algorithm)?;
        let size = self.slots.size;
        let doubled = check_size(self.algorithm.layout, u64::from(size) * 2)?;
        self.slots.queue.push_range(size, doubled - 1);
        self.slots.size = doubled;
        Ok(())
    }

    /// Halves the number of slots: the queue is rebuilt, ascending, from the inactive slots of the lower half, and the
    /// nodes of the upper half take its head in ascending order of their old slots. Returns those nodes.
    ///
    /// # Errors
    /// An odd number of slots, one slot, or more nodes than would fit. Nothing is changed then.
    pub fn shrink(&mut self) -> Result<Vec<Moved>> {
        need_scaling(self.algorithm)?;
        let size = self.slots.size;
        let half = size / 2;
        if !size.is_multiple_of(2) {
            return Err(Error::invalid(format!("{size} slots cannot be halved"), "shrink needs an even number"));
        }
        if self.nodes.len() as u64 > u64::from(half) {
            return Err(Error::invalid(
                format!("{} nodes do not fit into {half} slots", self.nodes.len()),
                "remove nodes first",
            ));
        }
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_unstable_by_key(|position| self.nodes[*position].slot);
        let lower = order.iter().filter_map(|position| self.nodes[*position].slot).filter(|slot| *slot < half);
        let mut queue = SlotQueue::fresh(half, lower);
        let mut moved = Vec::new();
        for position in order {
            let node = &mut self.nodes[position];
            let Some(from) = node.slot.filter(|slot| *slot >= half) else { continue };
            // There are at most `half` nodes, so the queue lasts.
            let Some(to) = queue.pop() else { continue };
            node.slot = Some(to);
            moved.push(Moved { name: node.name.to_string(), from, to });
        }
        self.slots.size = half;
        self.slots.queue = queue;
        Ok(moved)
    }

    /// The position of a node that must exist.
    fn find(&self, name: &str) -> Result<usize> {
        self.position(name).ok_or_else(|| {
            let suggestion = self
                .nodes
                .iter()
                .filter(|node| node.name().len().abs_diff(name.len()) <= 2)
                .map(|node| (strsim::levenshtein(name, node.name()), node.name()))
                .min()
                .filter(|(far, _)| *far <= 2)
                .map(|(_, closest)| closest.to_owned());
            ErrorKind::UnknownNode { name: name.to_owned(), suggestion }.into()
        })
    }

    /// Enters the last node into the index of names.
    fn index_last(&mut self) -> Result<()> {
        let Some((node, others)) = self.nodes.split_last() else { return Ok(()) };
        let position =
            u32::try_from(others.len()).map_err(|_| Error::invalid("too many nodes", "the most is 2^32 - 2"))?;
        match self.by_hash.entry(crate::hash::node_hash(node.name())) {
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(position);
                Ok(())
            }
            std::collections::hash_map::Entry::Occupied(held) => Err(ErrorKind::DuplicateNode {
                first: others[*held.get() as usize].name.to_string(),
                second: node.name.to_string(),
            }
            .into()),
        }
    }
}
