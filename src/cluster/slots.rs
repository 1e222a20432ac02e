//! Slots: how many there are, and the queue in which the inactive ones wait for the next node.

use std::collections::VecDeque;
use std::fmt;

use super::removals::Removals;
use crate::algorithm::{Algorithm, Layout, names_of};
use crate::error::{Error, Result};

/// The slots of a cluster: their number, and the free ones in the order that decides about the next nodes. Algorithms
/// that place on names have none.
///
/// Source: `spec/placement.md`, "Slots and the queue" and "Tables and stateful baselines"; DxHash's NSArray and IQueue
/// (arXiv 2107.07930, section IV), AnchorHash's removals (arXiv 1812.09674).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    pub(super) size: u32,
    pub(super) queue: SlotQueue,
    pub(super) removed: Removals,
}

impl Slots {
    /// The number of slots.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// For DxHash, the inactive slots in the order in which new nodes will take them (first in, first out).
    pub fn queue(&self) -> &SlotQueue {
        &self.queue
    }

    /// For AnchorHash, the slots that are not in use in the order in which they were removed; the last comes back first.
    pub fn removed(&self) -> &Removals {
        &self.removed
    }
}

/// Inactive slots in the order in which new nodes take them, kept as ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlotQueue {
    /// First and last slot of each run of consecutive ones; neighbours that could be one run are one.
    ranges: VecDeque<(u32, u32)>,
}

impl SlotQueue {
    /// The queue of a fresh cluster: every slot below `size` that is not in `taken` (ascending), ascending.
    pub(super) fn fresh(size: u32, taken: impl Iterator<Item = u32>) -> Self {
        let mut queue = Self::default();
        let mut next = 0;
        for slot in taken.filter(|slot| *slot < size) {
            if slot > next {
                queue.push_range(next, slot - 1);
            }
            next = slot + 1;
        }
        if next < size {
            queue.push_range(next, size - 1);
        }
        queue
    }

    /// The runs of consecutive slots, each as its first and last slot, in queue order.
    pub fn ranges(&self) -> impl ExactSizeIterator<Item = (u32, u32)> + '_ {
        self.ranges.iter().copied()
    }

    /// The number of inactive slots.
    pub fn len(&self) -> u64 {
        self.ranges().map(|(first, last)| u64::from(last - first) + 1).sum()
    }

    /// Whether no slot is left.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether the slots wait in ascending order, as in a fresh cluster.
    pub fn is_ascending(&self) -> bool {
        self.ranges.iter().zip(self.ranges.iter().skip(1)).all(|(a, b)| a.1 < b.0)
    }

    /// Takes the slot that has waited longest.
    pub(super) fn pop(&mut self) -> Option<u32> {
        let (first, last) = self.ranges.front_mut()?;
        let slot = *first;
        if slot == *last {
            self.ranges.pop_front();
        } else {
            *first += 1;
        }
        Some(slot)
    }

    /// Appends one slot.
    pub(super) fn push(&mut self, slot: u32) {
        self.push_range(slot, slot);
    }

    /// Appends the slots `first..=last`.
    pub(super) fn push_range(&mut self, first: u32, last: u32) {
        match self.ranges.back_mut() {
            Some((_, end)) if end.checked_add(1) == Some(first) => *end = last,
            _ => self.ranges.push_back((first, last)),
        }
    }

    /// Reads what [`fmt::Display`] writes: `10-15,3`.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut queue = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            match (first.trim().parse(), last.trim().parse()) {
                (Ok(first), Ok(last)) if first <= last => queue.push_range(first, last),
                _ => {
                    return Err(Error::invalid(
                        format!("queue: {part:?} is neither a slot nor a range of slots"),
                        "write slots and ranges like \"10-15,3\", or leave the queue out to have it ascending",
                    ));
                }
            }
        }
        Ok(queue)
    }

    /// Fails unless the queue holds every slot below `size` that is not in `taken` (ascending), each once.
    pub(super) fn check(&self, size: u32, taken: &[u32]) -> Result<()> {
        let mut waiting: Vec<_> = self.ranges().collect();
        waiting.sort_unstable();
        let mut sorted = Self::default();
        for pair in waiting.windows(2) {
            if pair[1].0 <= pair[0].1 {
                return Err(queue_error(&format!("slot {} is in it twice", pair[1].0)));
            }
        }
        for &(first, last) in &waiting {
            sorted.push_range(first, last);
        }
        let wanted = Self::fresh(size, taken.iter().copied());
        if sorted == wanted {
            return Ok(());
        }
        if let Some(&(_, last)) = waiting.last().filter(|(_, last)| *last >= size) {
            return Err(queue_error(&format!("slot {last} is outside the {size} slots")));
        }
        let in_queue = |slot: u32| waiting.partition_point(|(_, last)| *last < slot);
        let held = taken.iter().find(|slot| waiting.get(in_queue(**slot)).is_some_and(|(first, _)| first <= *slot));
        Err(queue_error(&match held {
            Some(slot) => format!("slot {slot} is in it, but a node has that slot"),
            None => format!("it holds {} slots, but {} have no node", self.len(), wanted.len()),
        }))
    }
}

impl fmt::Display for SlotQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (first, last)) in self.ranges().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            if first == last {
                write!(f, "{comma}{first}")?;
            } else {
                write!(f, "{comma}{first}-{last}")?;
            }
        }
        Ok(())
    }
}

fn queue_error(what: &str) -> Error {
    Error::invalid(
        format!("the queue of inactive slots does not fit: {what}"),
        "correct the queue, or leave it out to have it ascending",
    )
}

/// Fails unless an algorithm of this layout can have `size` slots.
pub(super) fn check_size(layout: Layout, size: u64) -> Result<u32> {
    let (most, power_of_two) = match layout {
        Layout::Slots { most, power_of_two } => (most, power_of_two),
        Layout::Removals { most } => (most, false),
        Layout::Dense | Layout::Names => (u32::MAX, false),
    };
    let reason = if size == 0 {
        "there must be at least one".to_owned()
    } else if power_of_two && !size.is_power_of_two() && size < u64::from(most) {
        format!("the number must be a power of two, such as {}", size.next_power_of_two().min(u64::from(most)))
    } else {
        match u32::try_from(size) {
            Ok(size) if size <= most => return Ok(size),
            _ => format!("the most is {most}"),
        }
    };
    Err(Error::invalid(format!("{size} slots cannot be"), reason))
}

/// Fails unless the algorithm has slots that can be doubled and halved.
pub(super) fn need_scaling(algorithm: &Algorithm) -> Result<()> {
    let scales = |algorithm: &Algorithm| matches!(algorithm.layout, Layout::Slots { .. });
    if scales(algorithm) {
        return Ok(());
    }
    Err(Error::invalid(
        format!("{} has no slots that can be doubled or halved", algorithm.name),
        format!("only {} have", names_of(scales)),
    ))
}
