//! Lanes that take a new key as soon as they are done with one: for arrays in registers, where a round of the worklist
//! is mostly its loads and stores.
//!
//! ```text
//! for each block: as the worklist: the first probe of every key, the refused ones to a queue
//!     while the queue has a lane's worth: each of SETS sets of lanes: the next probe;
//!         append (index, slot) of the lanes that found one to a list; fill them from the queue
//!     write the list
//! ```
//!
//! The sets hide each other's latency. Lanes stay filled from block to block; x tells how far each has come.

use super::{Finish, Probe};
use crate::lanes::{Lanes, MOST_LANES};

/// Keys of a block.
const BLOCK: usize = 512;

/// Sets of lanes.
const SETS: usize = 4;

/// A queue shorter than this waits for the next block.
const CARRY: usize = SETS * MOST_LANES;

/// Room for a carried queue, a whole block, the keys in lanes, and the last vector's overhang.
const ROOM: usize = BLOCK + 2 * CARRY + MOST_LANES;

/// Steps of a block after which what is left is finished one by one.
const MOST_STEPS: usize = 1 << 15;

/// Keys that wait for a lane, and keys that are done.
struct Queues {
    index: [u32; ROOM],
    x: [u32; ROOM],
    b: [u32; ROOM],
    done: [u32; ROOM],
    slot: [u32; ROOM],
}

/// The keys that are in lanes.
struct InLanes<L: Lanes> {
    index: [L::U32; SETS],
    x: [L::U32; SETS],
    b: [L::U32; SETS],
    busy: [L::Mask; SETS],
}

/// The slots of a batch: `slots[i]` becomes the slot of key i.
///
/// # Panics
/// If the lengths of the slices differ, or pass 2^32.
#[inline(always)]
pub(crate) fn refill<L: Lanes, P: Probe<L>>(t: L, words: &[u64], probe: P, slots: &mut [u32], finish: &dyn Finish) {
    assert_eq!(words.len(), slots.len(), "a slot per word");
    assert!(u32::try_from(words.len()).is_ok(), "indices of 32 bits");
    let mut queues = Queues { index: [0; ROOM], x: [0; ROOM], b: [0; ROOM], done: [0; ROOM], slot: [0; ROOM] };
    let (zero, idle) = (t.splat(0), t.first_lanes(0));
    let mut lanes = InLanes::<L> { index: [zero; SETS], x: [zero; SETS], b: [zero; SETS], busy: [idle; SETS] };
    let mut queued = 0;
    let mut start = 0;
    while start < words.len() {
        let end = if words.len() - start > BLOCK { start + BLOCK } else { words.len() };
        queued = first_probes(t, words, start, end, probe, slots, &mut queues, queued);
        let least = if end == words.len() { 1 } else { CARRY };
        let (mut taken, mut done, mut steps) = (0, 0, 0);
        // Until the queue is short; at the end of a batch until no lane is busy.
        let mut working = queued >= least;
        while working && steps < MOST_STEPS {
            let mut busy = 0;
            let mut set = 0;
            while set < SETS {
                (taken, done) = step(t, probe, &mut queues, &mut lanes, set, taken, queued, done);
                busy += t.count(lanes.busy[set]);
                set += 1;
            }
            working = queued - taken >= least || least == 1 && busy > 0;
            steps += 1;
        }
        write(&queues, done, slots);
        if working {
            give_up(t, &queues, taken, queued, &lanes, slots, finish);
            lanes.busy = [idle; SETS];
            taken = queued;
        }
        // What still waits moves to the front: less than a carried queue.
        queues.index.copy_within(taken..queued, 0);
        queues.x.copy_within(taken..queued, 0);
        queues.b.copy_within(taken..queued, 0);
        queued -= taken;
        start = end;
    }
    // Keys in lanes, if the last block left nothing in the queue.
    let mut steps = 0;
    let mut busy = 1;
    while busy > 0 {
        let (mut set, mut done) = (0, 0);
        busy = 0;
        while set < SETS {
            (_, done) = step(t, probe, &mut queues, &mut lanes, set, 0, 0, done);
            busy += t.count(lanes.busy[set]);
            set += 1;
        }
        write(&queues, done, slots);
        steps += 1;
        if busy > 0 && steps == MOST_STEPS {
            give_up(t, &queues, 0, 0, &lanes, slots, finish);
            busy = 0;
        }
    }
}

/// Fills the idle lanes of a set from the queue, and makes the next probe of all. Returns how many of the queue are taken
/// and how many keys are done.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a piece of one loop")]
#[expect(clippy::cast_possible_truncation, reason = "at most the number of lanes")]
fn step<L: Lanes, P: Probe<L>>(
    t: L,
    probe: P,
    queues: &mut Queues,
    lanes: &mut InLanes<L>,
    set: usize,
    taken: usize,
    queued: usize,
    done: usize,
) -> (usize, usize) {
    let mut filled = t.not(lanes.busy[set]);
    let mut count = t.count(filled);
    if queued - taken < count {
        count = queued - taken;
        // The idle lanes are numbered; those below `count` get a key.
        let number = t.expand(filled, t.count_from(1), t.splat(u32::MAX));
        filled = t.at_most(number, t.splat(count as u32));
    }
    let index = t.expand(filled, t.load(&queues.index, taken), lanes.index[set]);
    let b = t.expand(filled, t.load(&queues.b, taken), lanes.b[set]);
    let x = probe.next(t, t.expand(filled, t.load(&queues.x, taken), lanes.x[set]), b);
    let (slot, accepted) = probe.probe(t, x, b);
    let here = t.either(lanes.busy[set], filled);
    let found = t.both(here, accepted);
    let packing = t.packing(found);
    t.store(&mut queues.done, done, t.pack(packing, index));
    t.store(&mut queues.slot, done, t.pack(packing, slot));
    lanes.index[set] = index;
    lanes.x[set] = x;
    lanes.b[set] = b;
    lanes.busy[set] = t.both(here, t.not(accepted));
    (taken + count, done + t.count(found))
}

/// The first probe of keys `start..end`. Returns the new length of the queue.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a piece of one loop")]
#[expect(clippy::cast_possible_truncation, reason = "the caller has checked that indices fit")]
fn first_probes<L: Lanes, P: Probe<L>>(
    t: L,
    words: &[u64],
    start: usize,
    end: usize,
    probe: P,
    slots: &mut [u32],
    queues: &mut Queues,
    mut queued: usize,
) -> usize {
    let mut at = start;
    while at < end {
        t.prefetch(words, at + 256);
        let (mut last_words, mut last_slots) = ([0; MOST_LANES], [0; MOST_LANES]);
        let whole = at + L::LANES <= end;
        let here = if whole {
            t.load_u64(words, at)
        } else {
            last_words[..end - at].copy_from_slice(&words[at..end]);
            t.load_u64(&last_words, 0)
        };
        let (x, b) = probe.start(t, here);
        let (slot, accepted) = probe.first(t, x, b);
        let mut refused = t.not(accepted);
        if whole {
            t.store(slots, at, slot);
        } else {
            refused = t.both(refused, t.first_lanes(end - at));
            t.store(&mut last_slots, 0, slot);
            slots[at..end].copy_from_slice(&last_slots[..end - at]);
        }
        let packing = t.packing(refused);
        t.store(&mut queues.index, queued, t.pack(packing, t.count_from(at as u32)));
        t.store(&mut queues.x, queued, t.pack(packing, x));
        t.store(&mut queues.b, queued, t.pack(packing, b));
        queued += t.count(refused);
        at += L::LANES;
    }
    queued
}

/// Writes the slots that were found.
#[inline(always)]
fn write(queues: &Queues, done: usize, slots: &mut [u32]) {
    let mut entry = 0;
    while entry < done {
        slots[queues.done[entry] as usize] = queues.slot[entry];
        entry += 1;
    }
}

/// Finishes the keys that wait and those in lanes.
#[inline(always)]
fn give_up<L: Lanes>(
    t: L,
    queues: &Queues,
    taken: usize,
    queued: usize,
    lanes: &InLanes<L>,
    slots: &mut [u32],
    finish: &dyn Finish,
) {
    one_by_one(&queues.index[taken..queued], slots, finish);
    let mut set = 0;
    while set < SETS {
        let mut indices = [0; MOST_LANES];
        t.store(&mut indices, 0, t.pack(t.packing(lanes.busy[set]), lanes.index[set]));
        one_by_one(&indices[..t.count(lanes.busy[set])], slots, finish);
        set += 1;
    }
}

#[cold]
#[inline(never)]
fn one_by_one(indices: &[u32], slots: &mut [u32], finish: &dyn Finish) {
    for index in indices {
        slots[*index as usize] = finish.search(*index as usize).0;
    }
}
