//! Several nodes per key: the first distinct slots that accept, each found by going on where the one before was found.

use super::{NONE, Probe};
use crate::lanes::{Lanes, MOST_LANES, Table};

/// Keys of a block: a power of two, so that lanes index its columns without a check.
const BLOCK: usize = 256;

/// Room for a block and the last vector's overhang.
const ROOM: usize = BLOCK + MOST_LANES;

/// More replicas than this are for the scalar code.
pub(crate) const MOST_REPLICAS: usize = 8;

/// Rounds for one replica of a block after which what is left is finished one by one.
const MOST_ROUNDS: usize = 1 << 12;

/// What finishes the keys that the kernel gives up.
pub(crate) trait FinishReplicas {
    /// The slots of the key at this place of the batch.
    fn replicas(&self, index: usize, slots: &mut [u32]);
}

/// The keys of a block: where each is in its sequence, and what it has found.
struct Block {
    x: [u32; BLOCK],
    b: [u32; BLOCK],
    found: [[u32; BLOCK]; MOST_REPLICAS],
    /// The keys that still look for the replica at hand.
    list: [u32; ROOM],
}

/// `slots[i * replicas + k]` becomes slot k of key i. At least `replicas` slots accept.
///
/// # Panics
/// If `replicas` is 0 or above [`MOST_REPLICAS`], or the lengths of the slices do not fit it.
#[inline(always)]
pub(crate) fn replicas<L: Lanes, P: Probe<L>>(
    t: L,
    words: &[u64],
    replicas: usize,
    probe: P,
    slots: &mut [u32],
    finish: &dyn FinishReplicas,
) {
    assert!(replicas > 0 && replicas <= MOST_REPLICAS, "replicas that the kernel takes");
    assert_eq!(words.len() * replicas, slots.len(), "slots per word");
    let mut block = Block { x: [0; BLOCK], b: [0; BLOCK], found: [[NONE; BLOCK]; MOST_REPLICAS], list: [0; ROOM] };
    let mut start = 0;
    while start < words.len() {
        let count = if words.len() - start > BLOCK { BLOCK } else { words.len() - start };
        let gave_up = one_block(t, words, start, count, replicas, probe, &mut block);
        let slots = &mut slots[start * replicas..(start + count) * replicas];
        let mut key = 0;
        while key < count {
            let mut replica = 0;
            while replica < replicas {
                slots[key * replicas + replica] = block.found[replica][key];
                replica += 1;
            }
            key += 1;
        }
        if gave_up {
            one_by_one(start, replicas, slots, finish);
        }
        start += count;
    }
}

/// Finds the slots of a block. A key that was given up has a [`NONE`]. Tells whether there is one.
#[inline(always)]
fn one_block<L: Lanes, P: Probe<L>>(
    t: L,
    words: &[u64],
    start: usize,
    count: usize,
    replicas: usize,
    probe: P,
    block: &mut Block,
) -> bool {
    let mut left = 0;
    let mut at = 0;
    while at < count {
        // The last group of a batch is filled up with keys that nobody asked for.
        let mut last = [0; MOST_LANES];
        let here = if start + at + L::LANES > words.len() {
            let rest = words.len() - start - at;
            last[..rest].copy_from_slice(&words[start + at..]);
            t.load_u64(&last, 0)
        } else {
            t.load_u64(words, start + at)
        };
        let (x, b) = probe.start(t, here);
        t.store(&mut block.x, at, x);
        t.store(&mut block.b, at, b);
        let (slot, accepted) = probe.first(t, x, b);
        t.store(&mut block.found[0], at, slot);
        let refused = t.both(t.not(accepted), t.first_lanes(count - at));
        t.store(&mut block.list, left, t.pack(t.packing(refused), lane_index(t, at)));
        left += t.count(refused);
        at += L::LANES;
    }
    let mut gave_up = !search(t, probe, block, 0, left);
    let mut replica = 1;
    while replica < replicas {
        let mut at = 0;
        while at < count {
            t.store(&mut block.list, at, lane_index(t, at));
            at += L::LANES;
        }
        gave_up |= !search(t, probe, block, replica, count);
        replica += 1;
    }
    gave_up
}

/// The places of a group.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "at most the length of a block")]
fn lane_index<L: Lanes>(t: L, at: usize) -> L::U32 {
    t.count_from(at as u32)
}

/// Goes on with the first `left` keys of the list until each has a new slot for this replica. Tells whether all have;
/// those that have not get [`NONE`].
#[inline(always)]
fn search<L: Lanes, P: Probe<L>>(t: L, probe: P, block: &mut Block, replica: usize, mut left: usize) -> bool {
    let mut rounds = 0;
    while left > 0 && rounds < MOST_ROUNDS {
        // The last group is filled up with copies of the last key, which write what it writes.
        let mut pad = left;
        while !pad.is_multiple_of(L::LANES) {
            block.list[pad] = block.list[left - 1];
            pad += 1;
        }
        let mut kept = 0;
        let mut at = 0;
        while at < left {
            let index = t.load(&block.list, at);
            let b = t.gather(Table::new(&block.b), index);
            let x = probe.next(t, t.gather(Table::new(&block.x), index), b);
            let (slot, accepted) = probe.probe(t, x, b);
            let mut refused = t.not(accepted);
            let mut earlier = 0;
            while earlier < replica {
                refused = t.either(refused, t.equal(slot, t.gather(Table::new(&block.found[earlier]), index)));
                earlier += 1;
            }
            t.scatter(&mut block.x, index, x);
            t.scatter(&mut block.found[replica], index, slot);
            let refused = t.both(refused, t.first_lanes(left - at));
            t.store(&mut block.list, kept, t.pack(t.packing(refused), index));
            kept += t.count(refused);
            at += L::LANES;
        }
        left = kept;
        rounds += 1;
    }
    let mut entry = 0;
    while entry < left {
        block.found[replica][block.list[entry] as usize] = NONE;
        entry += 1;
    }
    left == 0
}

/// The keys that were given up: those that miss a replica.
#[cold]
#[inline(never)]
fn one_by_one(start: usize, replicas: usize, slots: &mut [u32], finish: &dyn FinishReplicas) {
    for (key, slots) in slots.chunks_mut(replicas).enumerate() {
        if slots.contains(&NONE) {
            finish.replicas(start + key, slots);
        }
    }
}
