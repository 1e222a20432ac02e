//! Blocks of keys and a worklist of those that were refused, in lanes.
//!
//! ```text
//! for each block: for each group of keys: write the slot of the first probe, right or wrong;
//!                                         append (index, x, b) of the refused lanes to the list
//!     while the list is long: for each group of it: the next probe; write its slot;
//!                                                   keep the refused lanes, packed to the front
//! ```
//!
//! No branch depends on a key. What is left of a block, less than [`CARRY`] entries, joins the next one, so that lanes
//! are seldom empty; x tells how far a key has come, so entries of different ages mix.

use super::{Finish, Probe};
use crate::lanes::{Lanes, MOST_LANES};

/// Keys of a block.
const BLOCK: usize = 512;

/// A list shorter than this waits for the next block.
const CARRY: usize = 64;

/// Room for a carried list, a whole block, and the last vector's overhang.
const ROOM: usize = CARRY + BLOCK + MOST_LANES;

/// The keys that were refused so far: entry i of each column.
struct List {
    index: [u32; ROOM],
    x: [u32; ROOM],
    b: [u32; ROOM],
    /// Probes made; only with lengths.
    length: [u32; ROOM],
}

/// The slots of a batch: `slots[i]` becomes the slot of key i, with `lengths[i]` its search length, if `LENGTHS`.
///
/// `PER_ROUND` probes are tried per key and round.
///
/// # Panics
/// If the lengths of the slices differ, or pass 2^32.
#[inline(always)]
pub(crate) fn worklist<L: Lanes, P: Probe<L>, const PER_ROUND: usize, const LENGTHS: bool>(
    t: L,
    words: &[u64],
    probe: P,
    slots: &mut [u32],
    lengths: &mut [u32],
    finish: &dyn Finish,
) {
    assert_eq!(words.len(), slots.len(), "a slot per word");
    assert!(!LENGTHS || words.len() == lengths.len(), "a length per word");
    assert!(u32::try_from(words.len()).is_ok(), "indices of 32 bits");
    let mut list = List { index: [0; ROOM], x: [0; ROOM], b: [0; ROOM], length: [0; ROOM] };
    let mut left = 0;
    // Probes behind the first that the oldest entry of the list can have made.
    let mut probes = 0;
    let mut start = 0;
    while start < words.len() {
        let end = if words.len() - start > BLOCK { start + BLOCK } else { words.len() };
        left = first_probes::<L, P, LENGTHS>(t, words, start, end, probe, slots, lengths, &mut list, left);
        let last = end == words.len();
        while left >= CARRY || (last && left > 0) {
            if probes + PER_ROUND > probe.most_probes() {
                one_by_one::<LENGTHS>(&list.index[..left], slots, lengths, finish);
                (left, probes) = (0, 0);
                break;
            }
            left = round::<L, P, PER_ROUND, LENGTHS>(t, probe, slots, lengths, &mut list, left);
            probes = if left == 0 { 0 } else { probes + PER_ROUND };
        }
        start = end;
    }
}

/// The first probe of keys `start..end`. Returns the new length of the list.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a piece of one loop")]
#[expect(clippy::cast_possible_truncation, reason = "the caller has checked that indices fit")]
fn first_probes<L: Lanes, P: Probe<L>, const LENGTHS: bool>(
    t: L,
    words: &[u64],
    start: usize,
    end: usize,
    probe: P,
    slots: &mut [u32],
    lengths: &mut [u32],
    list: &mut List,
    mut left: usize,
) -> usize {
    let mut at = start;
    while at + L::LANES <= end {
        t.prefetch(words, at + 256);
        let (x, b) = probe.start(t, t.load_u64(words, at));
        let (slot, accepted) = probe.first(t, x, b);
        t.store(slots, at, slot);
        if LENGTHS {
            t.store(lengths, at, t.splat(1));
        }
        left = append::<L, LENGTHS>(t, list, left, t.not(accepted), t.count_from(at as u32), x, b, t.splat(1));
        at += L::LANES;
    }
    let rest = end - at;
    if rest > 0 {
        let (mut last_words, mut last_slots) = ([0; MOST_LANES], [0; MOST_LANES]);
        last_words[..rest].copy_from_slice(&words[at..end]);
        let (x, b) = probe.start(t, t.load_u64(&last_words, 0));
        let (slot, accepted) = probe.first(t, x, b);
        t.store(&mut last_slots, 0, slot);
        slots[at..end].copy_from_slice(&last_slots[..rest]);
        if LENGTHS {
            lengths[at..end].fill(1);
        }
        let refused = t.both(t.not(accepted), t.first_lanes(rest));
        left = append::<L, LENGTHS>(t, list, left, refused, t.count_from(at as u32), x, b, t.splat(1));
    }
    left
}

/// Appends the lanes of a mask to the list. Returns its new length.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a piece of one loop")]
fn append<L: Lanes, const LENGTHS: bool>(
    t: L,
    list: &mut List,
    left: usize,
    lanes: L::Mask,
    index: L::U32,
    x: L::U32,
    b: L::U32,
    length: L::U32,
) -> usize {
    let packing = t.packing(lanes);
    t.store(&mut list.index, left, t.pack(packing, index));
    t.store(&mut list.x, left, t.pack(packing, x));
    t.store(&mut list.b, left, t.pack(packing, b));
    if LENGTHS {
        t.store(&mut list.length, left, t.pack(packing, length));
    }
    left + t.count(lanes)
}

/// The next probes of every entry. Returns the new length of the list.
#[inline(always)]
fn round<L: Lanes, P: Probe<L>, const PER_ROUND: usize, const LENGTHS: bool>(
    t: L,
    probe: P,
    slots: &mut [u32],
    lengths: &mut [u32],
    list: &mut List,
    length: usize,
) -> usize {
    // The last group is filled up with copies of the last entry, which write what it writes.
    let mut pad = length;
    while !pad.is_multiple_of(L::LANES) {
        list.index[pad] = list.index[length - 1];
        list.x[pad] = list.x[length - 1];
        list.b[pad] = list.b[length - 1];
        list.length[pad] = list.length[length - 1];
        pad += 1;
    }
    let mut kept = 0;
    let mut at = 0;
    while at < length {
        let (index, b) = (t.load(&list.index, at), t.load(&list.b, at));
        let mut x = probe.next(t, t.load(&list.x, at), b);
        let (mut slot, mut accepted) = probe.probe(t, x, b);
        let mut count = if LENGTHS { t.add(t.load(&list.length, at), t.splat(1)) } else { t.splat(0) };
        let mut more = 1;
        while more < PER_ROUND {
            x = probe.next(t, x, b);
            let (later, accepts) = probe.probe(t, x, b);
            slot = t.select(accepted, slot, later);
            if LENGTHS {
                count = t.select(accepted, count, t.add(count, t.splat(1)));
            }
            accepted = t.either(accepted, accepts);
            more += 1;
        }
        t.scatter(slots, index, slot);
        if LENGTHS {
            t.scatter(lengths, index, count);
        }
        let refused = t.both(t.not(accepted), t.first_lanes(length - at));
        // `kept` is at most `at`, so nothing is overwritten before it is read.
        kept = append::<L, LENGTHS>(t, list, kept, refused, index, x, b, count);
        at += L::LANES;
    }
    kept
}

/// The rest of the list.
#[cold]
#[inline(never)]
fn one_by_one<const LENGTHS: bool>(indices: &[u32], slots: &mut [u32], lengths: &mut [u32], finish: &dyn Finish) {
    for index in indices {
        let index = *index as usize;
        let (slot, length) = finish.search(index);
        slots[index] = slot;
        if LENGTHS {
            lengths[index] = length;
        }
    }
}
