//! Slots of nodes: which node is in which, which are free, and which nodes may be down, by the algorithm's layout.

use super::parameters::Given;
use super::removals::Removals;
use super::slots::{SlotQueue, check_size};
use super::{Cluster, Node};
use crate::algorithm::{Algorithm, Layout, ParameterKind, Removal, names_of};
use crate::error::{Error, ErrorKind, Result};

impl Cluster {
    /// Checks the slots that nodes of a new cluster name, gives slots to the others where the layout has any, and
    /// settles the order of those that are free.
    pub(super) fn number_nodes(&mut self, given: &Given) -> Result<()> {
        match self.algorithm.layout {
            Layout::Names => self.no_slots(),
            Layout::Slots { .. } => self.number_in_slots(given),
            Layout::Dense => self.number_densely(),
            Layout::Removals { .. } => self.number_in_capacity(given),
        }?;
        self.check_down()
    }

    /// Fails if a node is down that the algorithm cannot pass over.
    pub(super) fn check_down(&self) -> Result<()> {
        if self.algorithm.removal == Removal::Any {
            return Ok(());
        }
        let down = self.nodes.iter().filter(|node| !node.up);
        let last_up = self.nodes.iter().filter(|node| node.up).filter_map(|node| node.slot).max();
        let never = self.algorithm.removal == Removal::LastNeverDown;
        match down.min_by_key(|node| node.slot).filter(|node| never || node.slot < last_up) {
            Some(node) => Err(self.cannot_leave(node, "is down")),
            None => Ok(()),
        }
    }

    /// The error of a node that cannot leave or be down.
    pub(super) fn cannot_leave(&self, node: &Node, how: &str) -> Error {
        let (name, rule) = (self.algorithm.name, self.algorithm.removal);
        let can = match rule {
            Removal::LastNeverDown => "only the node in the last slot can leave, and none can be down",
            _ => "only nodes in the last slots can leave or be down",
        };
        let slot = node.slot.map_or_else(String::new, |slot| format!(" of slot {slot}"));
        let last = self.slots.size.saturating_sub(1);
        Error::invalid(
            format!("node {:?}{slot} {how}, but with {name} {can} (the last slot is {last})", node.name()),
            format!("use an algorithm that any node can leave: {}", names_of(|other| other.removal == Removal::Any)),
        )
    }

    fn no_slots(&self) -> Result<()> {
        let Some(node) = self.nodes.iter().find(|node| node.slot.is_some()) else { return Ok(()) };
        let (name, slot) = (node.name(), node.slot.unwrap_or_default());
        Err(Error::invalid(
            format!("node {name:?} has slot {slot}, but {} places on names", self.algorithm.name),
            format!("leave the slots out, or use one of {}", names_of(|other| other.layout.is_numbered())),
        ))
    }

    fn number_in_slots(&mut self, given: &Given) -> Result<()> {
        let size = self.size(given)?;
        self.slots.size = size;
        let taken = self.check_slots()?;
        self.slots.queue = match self.free_slots(given) {
            Some(text) => {
                let queue = SlotQueue::parse(text)?;
                queue.check(size, &taken)?;
                queue
            }
            None => SlotQueue::fresh(size, taken.into_iter()),
        };
        for node in self.nodes.iter_mut().filter(|node| node.slot.is_none()) {
            node.slot = Some(self.slots.queue.pop().ok_or_else(|| too_few(self.algorithm, size, &node.name))?);
        }
        Ok(())
    }

    fn number_densely(&mut self) -> Result<()> {
        let name = self.algorithm.name;
        if self.nodes.is_empty() {
            return Err(Error::invalid(format!("{name} needs at least one node"), "add nodes"));
        }
        // The number of nodes was checked to fit.
        self.slots.size = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let size = self.slots.size;
        if let Some(node) = self.nodes.iter().find(|node| node.slot.is_some_and(|slot| slot >= size)) {
            let slot = node.slot.unwrap_or_default();
            return Err(Error::invalid(
                format!("node {:?} is in slot {slot}, but {name} numbers its {size} nodes without a gap", node.name()),
                format!("use the slots 0 to {}, each once", size - 1),
            ));
        }
        let taken = self.check_slots()?;
        self.fill_free(taken, size)
    }

    /// Nodes without a slot take the free ones, ascending.
    fn fill_free(&mut self, taken: Vec<u32>, size: u32) -> Result<()> {
        let mut free = SlotQueue::fresh(size, taken.into_iter());
        for node in self.nodes.iter_mut().filter(|node| node.slot.is_none()) {
            node.slot = Some(free.pop().ok_or_else(|| too_few(self.algorithm, size, &node.name))?);
        }
        Ok(())
    }

    fn number_in_capacity(&mut self, given: &Given) -> Result<()> {
        let size = self.size(given)?;
        self.slots.size = size;
        let taken = self.check_slots()?;
        self.fill_free(taken, size)?;
        let taken = self.check_slots()?;
        let mut down: Vec<&Node> = self.nodes.iter().filter(|node| !node.up).collect();
        down.sort_by_key(|node| node.slot);
        self.slots.removed = match self.free_slots(given) {
            Some(text) => {
                let removed = Removals::parse(text, size)?;
                self.check_removed(&removed)?;
                removed
            }
            None if down.len() > 1 && given.from_file => {
                let down = format!("{:?} and {:?} are down", down[0].name(), down[1].name());
                return Err(Error::invalid(
                    format!("{down}, but not in which order they went down"),
                    format!(
                        "say it in [{}]: removed = \"SLOT,SLOT,..\" with every slot that is not in use",
                        self.algorithm.name
                    ),
                ));
            }
            None => {
                let mut removed = Removals::fresh(size, taken.into_iter());
                down.iter().filter_map(|node| node.slot).for_each(|slot| removed.push(slot));
                removed
            }
        };
        Ok(())
    }

    /// Fails unless the removed slots are those without a node and those whose node is down.
    fn check_removed(&self, removed: &Removals) -> Result<()> {
        let wrong = |what: String| {
            Error::invalid(
                format!("the order of removals does not fit: {what}"),
                "removed names, once each, every slot without a node and every slot whose node is down",
            )
        };
        for node in &self.nodes {
            let slot = node.slot.unwrap_or_default();
            if node.up && removed.contains(slot) {
                return Err(wrong(format!("slot {slot} is in it, but node {:?} is up there", node.name())));
            }
            if !node.up && !removed.contains(slot) {
                return Err(wrong(format!("node {:?} in slot {slot} is down, but the slot is not in it", node.name())));
            }
        }
        let working = self.nodes.iter().filter(|node| node.up).count() as u64;
        let wanted = u64::from(self.slots.size) - working;
        if removed.len() != wanted {
            return Err(wrong(format!("it holds {} slots, but {wanted} are not in use", removed.len())));
        }
        Ok(())
    }

    /// The number of slots that a new cluster has.
    fn size(&self, given: &Given) -> Result<u32> {
        let parameter = self.algorithm.parameter_of(ParameterKind::Slots);
        let size = match parameter {
            Some(parameter) => given.number(self.algorithm, parameter, self.nodes.len())?,
            None => 0,
        };
        let size = check_size(self.algorithm.layout, size)?;
        match self.nodes.get(size as usize) {
            Some(node) => Err(too_few(self.algorithm, size, &node.name)),
            None => Ok(size),
        }
    }

    /// The order of free slots that was given.
    fn free_slots<'a>(&self, given: &'a Given) -> Option<&'a str> {
        given.get(self.algorithm.parameter_of(ParameterKind::FreeSlots)?.name)
    }

    /// Checks the slots that nodes name, and returns them in ascending order.
    fn check_slots(&self) -> Result<Vec<u32>> {
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

fn too_few(algorithm: &Algorithm, size: u32, name: &str) -> Error {
    let what = algorithm.parameter_of(ParameterKind::Slots).map_or("slots", |parameter| parameter.name);
    Error::invalid(
        format!("{} has {what} = {size}, too few for all nodes: none is left for {name:?}", algorithm.name),
        format!("make {what} at least the number of nodes"),
    )
}
