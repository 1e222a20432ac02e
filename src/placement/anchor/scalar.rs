//! AnchorHash, literally: the truth that the compiled form must equal, key by key and step by step.
//!
//! Source: `spec/placement.md`, "anchor".

use crate::error::{Error, Result};
use crate::hash::{halves, mix32};
use crate::placement::jump::try_collect;

/// The state of AnchorHash, with the updates that the paper gives it. A slot is a "bucket" there.
///
/// Slots 0 to c - 1, of which N work. A removed slot remembers how many worked right after it was removed (A) and
/// which slot took its place (K); a key that meets it draws again among those that worked then. The working slots
/// stand in the first N places of an order (W), and every slot knows its place there (L), so that a removal changes a
/// constant number of entries. The removed ones are stacked (R): only the last of them can be added again.
///
/// Source: G. Mendelson, S. Vargaftik, K. Barabash, D. Lorenz, I. Keslassy, A. Orda, "AnchorHash", arXiv 1812.09674;
/// `spec/placement.md`, "anchor".
///
/// ```
/// use rehome::placement::anchor::scalar::AnchorState;
///
/// let mut anchor = AnchorState::new(32, 26)?;
/// let digest = 7_175_312_947_680_778_460;
/// assert_eq!(anchor.lookup(digest).map(|(slot, _)| slot), Some(0));
/// anchor.remove(0)?;
/// assert_ne!(anchor.lookup(digest).map(|(slot, _)| slot), Some(0));
/// assert_eq!(anchor.add(), Some(0));
/// # Ok::<(), rehome::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchorState {
    /// A: 0 for a working slot, else how many slots worked right after it was removed.
    left: Vec<u32>,
    /// K: the slot that took the place of a removed one; a slot that was never removed names itself.
    successor: Vec<u32>,
    /// W: in the first N entries, the working slots.
    order: Vec<u32>,
    /// L: the place of each slot in that order.
    place: Vec<u32>,
    /// R: the removed slots.
    removed: Vec<u32>,
    /// N: how many slots work.
    working: u32,
}

impl AnchorState {
    /// Slots 0 to `capacity` - 1, of which the first `working` are in use: the others are removed in descending order.
    ///
    /// # Complexity
    /// O(c); 20 bytes per slot.
    ///
    /// # Errors
    /// If the system has no memory for the state.
    pub fn new(capacity: u32, working: u32) -> Result<Self> {
        let mut state = Self {
            left: try_collect(capacity, (0..capacity).map(|_| 0))?,
            successor: try_collect(capacity, 0..capacity)?,
            order: try_collect(capacity, 0..capacity)?,
            place: try_collect(capacity, 0..capacity)?,
            // Room for all, so that no removal can fail for want of memory.
            removed: try_collect(capacity, std::iter::empty())?,
            working: capacity,
        };
        for slot in (working..capacity).rev() {
            state.remove(slot)?;
        }
        Ok(state)
    }

    /// The number of working slots.
    pub fn working(&self) -> u32 {
        self.working
    }

    /// Whether the slot works; false for one that is not below the capacity.
    pub fn is_working(&self, slot: u32) -> bool {
        // The last slot to be removed has 0 left, as if it worked.
        self.working > 0 && self.left.get(slot as usize) == Some(&0)
    }

    /// Removes a working slot.
    ///
    /// # Complexity
    /// O(1).
    ///
    /// # Errors
    /// A slot that is not below the capacity, or does not work any more; nothing is changed then.
    pub fn remove(&mut self, slot: u32) -> Result<()> {
        if !self.is_working(slot) {
            return Err(cannot_remove(slot, self.left.len() as u64));
        }
        let at = slot as usize;
        self.removed.push(slot);
        self.working -= 1;
        self.left[at] = self.working;
        let last = self.order[self.working as usize];
        self.successor[at] = last;
        self.order[self.place[at] as usize] = last;
        self.place[last as usize] = self.place[at];
        Ok(())
    }

    /// Adds the slot that was removed last; none if all work.
    ///
    /// # Complexity
    /// O(1).
    pub fn add(&mut self) -> Option<u32> {
        let slot = self.removed.pop()?;
        let at = slot as usize;
        self.left[at] = 0;
        self.place[self.order[self.working as usize] as usize] = self.working;
        self.successor[at] = slot;
        self.order[self.place[at] as usize] = slot;
        self.working += 1;
        Some(slot)
    }

    /// The slot of a digest, and how many slots were looked at; none if no slot works.
    ///
    /// # Complexity
    /// O((1 + ln(c / N))^2) slots on average.
    pub fn lookup(&self, digest: u64) -> Option<(u32, u64)> {
        if self.working == 0 {
            return None;
        }
        let capacity = u32::try_from(self.left.len()).ok()?;
        let mut slot = first_slot(digest, capacity);
        let mut steps = 1;
        while self.left[slot as usize] > 0 {
            let left = self.left[slot as usize];
            let mut other = next_slot(digest, slot, left);
            steps += 1;
            while self.left[other as usize] >= left {
                other = self.successor[other as usize];
                steps += 1;
            }
            slot = other;
        }
        Some((slot, steps))
    }

    /// What a lookup reads: N, A and K.
    pub(super) fn into_tables(self) -> (u32, Box<[u32]>, Box<[u32]>) {
        (self.working, self.left.into_boxed_slice(), self.successor.into_boxed_slice())
    }
}

/// Why a slot cannot be removed.
pub(super) fn cannot_remove(slot: u32, capacity: u64) -> Error {
    if u64::from(slot) < capacity {
        Error::invalid(format!("slot {slot} of an anchor is removed twice"), "name every removed slot once")
    } else {
        Error::invalid(
            format!("slot {slot} of an anchor is removed, but its capacity is {capacity}"),
            "remove slots below the capacity only",
        )
    }
}

/// The slot that a digest tries first.
#[inline(always)]
pub(super) fn first_slot(digest: u64, capacity: u32) -> u32 {
    reduce32(halves(digest).0, capacity)
}

/// What a digest draws behind a removed slot: a number below that of the slots that worked when it was removed.
#[inline(always)]
pub(super) fn next_slot(digest: u64, slot: u32, left: u32) -> u32 {
    let (a, b) = halves(digest);
    reduce32(mix32(mix32(a ^ mix32(slot)).wrapping_add(b)), left)
}

/// Maps a word to 0..n: the upper half of the product.
#[inline(always)]
fn reduce32(word: u32, n: u32) -> u32 {
    halves(u64::from(word) * u64::from(n)).1
}
