//! DxHash for many keys at once, in plain integer code: blocks and a worklist instead of a loop per key.
//!
//! A loop per key ends at a random step, and the processor mispredicts that end for almost every key. Here a block of
//! keys goes through the steps together: every key writes its slot, right or wrong, and the keys that were refused are
//! compacted to the front of a worklist without a branch; the next round takes only those.
//!
//! ```text
//! for each key: out[key] = slot of word 0;  if refused, append (key, x = a, b) to the list
//! while the list is long:
//!     for each entry: x += b | 1; word = mix32(x)              (no table: the compiler makes vectors of it)
//!     for each entry: out[key] = slot of word;  if refused, keep the entry
//! the few that are left: one by one
//! ```
//!
//! x is the running sum a + i * (b | 1). Where few slots are up, a round tries several words per key, which shares its
//! loads and stores between them. `benches/README.md` has what each of these gave.

use super::scalar::Accept;
use crate::hash::{fmix64, halves, keep_scalar, mix32};
use crate::placement::{NodeId, Words};

/// Keys of a block: more make the ends of rounds rarer, fewer keep the worklist in the first-level cache.
const BLOCK: usize = 1024;

/// A worklist this short is finished key by key: a round costs more than the mispredicted ends.
const SHORT: usize = 8;

/// The keys of a block that were refused so far: entry i of each column.
struct Worklist {
    key: [u16; BLOCK],
    /// The digests, as the first step leaves them; the rounds work on their halves.
    digest: [u64; BLOCK],
    x: [u32; BLOCK],
    b: [u32; BLOCK],
}

/// `nodes[i]` becomes the *slot* of key i, as a number, with `PER_ROUND` words tried per key and round.
pub(super) fn slots_of<A: Accept, const PER_ROUND: usize>(words: Words<'_>, nodes: &mut [NodeId], accept: &A) {
    if !accept.any() {
        nodes.fill(NodeId::NONE);
        return;
    }
    match words {
        Words::Known(words) => blocks::<A, PER_ROUND>(words, |word| word, nodes, accept),
        Words::OfIntegers { keys, mixed } => {
            blocks::<A, PER_ROUND>(keys, |key| fmix64(key ^ mixed), nodes, accept);
        }
    }
}

#[inline(never)]
fn blocks<A: Accept, const PER_ROUND: usize>(
    keys: &[u64],
    digest: impl Fn(u64) -> u64 + Copy,
    nodes: &mut [NodeId],
    accept: &A,
) {
    let mut list = Worklist { key: [0; BLOCK], digest: [0; BLOCK], x: [0; BLOCK], b: [0; BLOCK] };
    let mut probes = [[0; BLOCK]; PER_ROUND];
    let (whole, rest) = keys.as_chunks::<BLOCK>();
    let (whole_nodes, rest_nodes) = nodes.as_chunks_mut::<BLOCK>();
    for (keys, nodes) in whole.iter().zip(whole_nodes) {
        block(keys, digest, nodes, BLOCK, accept, &mut list, &mut probes);
    }
    if !rest.is_empty() {
        let (mut keys, mut nodes) = ([0; BLOCK], [NodeId::NONE; BLOCK]);
        keys[..rest.len()].copy_from_slice(rest);
        block(&keys, digest, &mut nodes, rest.len(), accept, &mut list, &mut probes);
        rest_nodes.copy_from_slice(&nodes[..rest.len()]);
    }
}

/// The first `length` keys of a block.
#[inline(always)]
fn block<A: Accept, const PER_ROUND: usize>(
    keys: &[u64; BLOCK],
    digest: impl Fn(u64) -> u64,
    nodes: &mut [NodeId; BLOCK],
    length: usize,
    accept: &A,
    list: &mut Worklist,
    probes: &mut [[u32; BLOCK]; PER_ROUND],
) {
    let mut left = 0;
    for (number, (key, node)) in (0_u16..).zip(keys.iter().zip(nodes.iter_mut())).take(length) {
        let digest = digest(*key);
        let (a, b) = halves(digest);
        let (slot, accepted) = accept.test(a, b);
        *node = NodeId::new(slot);
        // `left` is at most the number of keys before this one; the remainder only tells the compiler so.
        let place = left % BLOCK;
        list.key[place] = number;
        list.digest[place] = digest;
        left += usize::from(!accepted);
    }
    for ((digest, x), b) in list.digest.iter().zip(&mut list.x).zip(&mut list.b).take(left) {
        (*x, *b) = halves(*digest);
    }
    while left > SHORT {
        left = round(nodes, accept, list, probes, left.min(BLOCK));
    }
    for entry in 0..left {
        let (b, key) = (list.b[entry], usize::from(list.key[entry]));
        nodes[key % BLOCK] = finish(list.x[entry], b, accept);
    }
}

/// The next words of every key of the worklist. Returns its new length.
#[inline(always)]
fn round<A: Accept, const PER_ROUND: usize>(
    nodes: &mut [NodeId; BLOCK],
    accept: &A,
    list: &mut Worklist,
    probes: &mut [[u32; BLOCK]; PER_ROUND],
    length: usize,
) -> usize {
    for probe in probes.iter_mut() {
        for ((x, b), probe) in list.x[..length].iter_mut().zip(&list.b[..length]).zip(&mut probe[..length]) {
            *x = x.wrapping_add(b | 1);
            *probe = mix32(*x);
        }
    }
    let mut left = 0;
    for entry in 0..length {
        let (key, x, b) = (list.key[entry], list.x[entry], list.b[entry]);
        // From the last word to the first, so that the first one accepted stays.
        let (mut slot, mut accepted) = accept.test(probes[PER_ROUND - 1][entry], b);
        for probe in probes[..PER_ROUND - 1].iter().rev() {
            let (earlier, accepts) = accept.test(probe[entry], b);
            slot = if accepts { earlier } else { slot };
            accepted |= accepts;
        }
        nodes[usize::from(key) % BLOCK] = NodeId::new(slot);
        // `left` never passes `entry`, so nothing is overwritten before it is read.
        let place = left % BLOCK;
        list.key[place] = key;
        list.x[place] = x;
        list.b[place] = b;
        left += usize::from(!accepted);
    }
    left
}

/// Goes on with one key until a word is accepted.
fn finish(mut x: u32, b: u32, accept: &impl Accept) -> NodeId {
    for _ in 0..u32::MAX {
        x = x.wrapping_add(b | 1);
        let (slot, accepted) = accept.test(mix32(x), b);
        if accepted {
            return NodeId::new(slot);
        }
    }
    NodeId::NONE
}

/// The slots of keys where every slot is up: the first word decides.
#[inline(never)]
pub(super) fn first_slots(words: Words<'_>, nodes: &mut [NodeId], slots: u32) {
    let mask = slots - 1;
    match words {
        Words::Known(words) => {
            for (word, node) in words.iter().zip(nodes) {
                *node = NodeId::new(halves(*word).0 & mask);
            }
        }
        Words::OfIntegers { keys, mixed } => {
            for (key, node) in keys.iter().zip(nodes) {
                let word = fmix64(key ^ mixed);
                *node = NodeId::new(halves(word).0 & mask);
                keep_scalar(word);
            }
        }
    }
}
