//! DxHash, literally: the truth that every other form of it must equal, key by key and step by step.
//!
//! Source: `spec/placement.md`, "DxHash".

use std::collections::HashSet;
use std::ops::ControlFlow;

use crate::hash::{ProbeSequence, halves, mix32};

/// Which slots accept a probe.
pub trait Accept {
    /// Whether any slot can accept.
    fn any(&self) -> bool;

    /// The slot that a probe word meets, and whether it accepts the word of a key with the high half `b`.
    fn test(&self, word: u32, b: u32) -> (u32, bool);

    /// The slots that can accept, ascending, from `first` on.
    fn next_eligible(&self, first: u32) -> Option<u32>;
}

/// The first slot of the key's probe sequence that accepts, and the search length: its place in the sequence, from 1.
///
/// None if no slot is eligible, or if all 2^32 probes were refused, which does not happen on clusters that compile.
///
/// # Complexity
/// slots / (sum of the weights) probes on average, geometrically distributed.
pub fn search(digest: u64, slots: &impl Accept) -> Option<(u32, u64)> {
    if !slots.any() {
        return None;
    }
    let (_, b) = halves(digest);
    (1..).zip(ProbeSequence::new(digest)).find_map(|(length, word)| {
        let (slot, accepted) = slots.test(word, b);
        accepted.then_some((slot, length))
    })
}

/// Steps behind the first hit after which the rest of a preference list is no longer searched for.
const LIST_STEPS: usize = 1 << 20;

/// Visits the distinct accepted slots in the order of their first acceptance; with i0 the step of the first hit, the
/// eligible slots (`eligible` in number) not accepted by step i0 + 2^20 follow in ascending order.
///
/// # Complexity
/// O(slots / (sum of the weights)) probes per visited slot while few were visited; at most 2^20 after the first hit.
pub fn prefer(
    digest: u64,
    slots: &impl Accept,
    eligible: u64,
    visit: &mut dyn FnMut(u32) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Some((head, length)) = search(digest, slots) else { return ControlFlow::Continue(()) };
    visit(head)?;
    let mut seen = Seen::default();
    seen.insert(head);
    let (_, b) = halves(digest);
    let behind_head = usize::try_from(length).unwrap_or(usize::MAX);
    for word in ProbeSequence::new(digest).skip(behind_head).take(LIST_STEPS) {
        if seen.len() == eligible {
            return ControlFlow::Continue(());
        }
        let (slot, accepted) = slots.test(word, b);
        if accepted && seen.insert(slot) {
            visit(slot)?;
        }
    }
    let mut next = slots.next_eligible(0);
    while let Some(slot) = next {
        if seen.insert(slot) {
            visit(slot)?;
        }
        next = slot.checked_add(1).and_then(|first| slots.next_eligible(first));
    }
    ControlFlow::Continue(())
}

/// The slots already visited: a short list while they are few, as replicas need only a handful.
#[derive(Default)]
struct Seen {
    few: Vec<u32>,
    many: HashSet<u32>,
}

const FEW: usize = 32;

impl Seen {
    fn len(&self) -> u64 {
        (self.few.len() + self.many.len()) as u64
    }

    /// Whether the slot is new.
    fn insert(&mut self, slot: u32) -> bool {
        if self.few.contains(&slot) {
            false
        } else if self.few.len() < FEW {
            self.few.push(slot);
            true
        } else {
            self.many.insert(slot)
        }
    }
}

/// Acceptance thresholds of weighted DxHash: 0 to 65536 per slot.
///
/// A slot with threshold t accepts a probe word x of a key with the high half b if `mix32(x ^ b) >> 16 < t`.
#[derive(Debug)]
pub struct Thresholds {
    /// Threshold - 1, so that 65536 fits; meaningless where the slot is not eligible.
    less_one: Box<[u16]>,
    /// One bit per slot: threshold above 0.
    eligible: Box<[u32]>,
    any: bool,
}

impl Thresholds {
    /// From the slots that have a threshold above 0.
    ///
    /// # Panics
    /// If a slot is not below `slots`.
    pub fn new(slots: u32, thresholds: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut less_one = vec![0; slots as usize].into_boxed_slice();
        let mut eligible = bit_array(slots, std::iter::empty());
        let mut any = false;
        for (slot, threshold) in thresholds {
            let Some(less) = threshold.checked_sub(1) else { continue };
            less_one[slot as usize] = u16::try_from(less).unwrap_or(u16::MAX);
            eligible[slot as usize / 32] |= 1 << (slot % 32);
            any = true;
        }
        Self { less_one, eligible, any }
    }

    /// A bit per slot, set where the threshold is above 0.
    pub(crate) fn eligible(&self) -> &[u32] {
        &self.eligible
    }

    /// The thresholds less one; meaningless where [`eligible`](Self::eligible) has no bit.
    pub(crate) fn less_one(&self) -> &[u16] {
        &self.less_one
    }

    /// The bytes that a lookup may touch.
    pub fn memory_bytes(&self) -> u64 {
        (size_of_val(&*self.less_one) + size_of_val(&*self.eligible)) as u64
    }
}

impl Accept for Thresholds {
    fn any(&self) -> bool {
        self.any
    }

    #[inline(always)]
    fn test(&self, word: u32, b: u32) -> (u32, bool) {
        let slot = word & mask(self.less_one.len());
        let eligible = self.eligible[slot as usize / 32] >> (slot % 32) & 1 == 1;
        (slot, eligible & (mix32(word ^ b) >> 16 <= u32::from(self.less_one[slot as usize])))
    }

    fn next_eligible(&self, first: u32) -> Option<u32> {
        next_bit(&self.eligible, first)
    }
}

/// `slots - 1`, for a power of two of slots up to 2^31.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "slots are at most 2^31")]
pub(super) fn mask(slots: usize) -> u32 {
    (slots as u32).wrapping_sub(1)
}

/// A bit per slot, those of `set` set: a power of two of words, at least two.
///
/// # Panics
/// If a slot is not below `slots`.
pub(super) fn bit_array(slots: u32, set: impl Iterator<Item = u32>) -> Box<[u32]> {
    let words = (slots as usize).div_ceil(32).next_power_of_two().max(2);
    let mut bits = vec![0; words].into_boxed_slice();
    for slot in set {
        assert!(slot < slots, "slot {slot} of {slots}");
        bits[slot as usize / 32] |= 1 << (slot % 32);
    }
    bits
}

/// The first bit that is set at or behind `first`.
pub(super) fn next_bit(words: &[u32], first: u32) -> Option<u32> {
    let index = first as usize / 32;
    let rest = words.get(index)? & (u32::MAX << (first % 32));
    let found = |(index, word): (usize, u32)| u32::try_from(index * 32).ok().map(|base| base + word.trailing_zeros());
    if rest != 0 {
        return found((index, rest));
    }
    words.iter().copied().enumerate().skip(index + 1).find(|(_, word)| *word != 0).and_then(found)
}
