//! DxHash for many keys at once, in plain integer code: blocks and a worklist instead of a loop per key.
//!
//! A loop per key ends at a random step, and the processor mispredicts that end for almost every key. Here a block of
//! keys goes through one step together: every key writes its slot, right or wrong, and the keys that were refused are
//! compacted to the front of a worklist without a branch; the next round takes only those.
//!
//! ```text
//! for each key: out[key] = slot of word 0;                if refused, append (key, x = a, b) to the list
//! while the list is long: for each entry: x += b | 1; out[key] = slot of mix32(x);  if refused, keep the entry
//! the few that are left: one by one, to the end
//! ```
//!
//! The state x is the running sum a + i * (b | 1), so keys at different steps could be mixed freely.

use super::scalar::{Accept, search};
use super::slot_map::SlotMap;
use crate::hash::{halves, mix32};
use crate::placement::NodeId;

/// Keys of a block: their outputs and worklist stay in the first-level cache.
const BLOCK: usize = 1024;

/// A worklist this short is finished key by key: a round costs more than the mispredicted ends.
const SHORT: usize = 8;

/// A key that was refused so far.
#[derive(Clone, Copy, Default)]
struct Entry {
    key: u32,
    x: u32,
    b: u32,
}

/// `nodes[i]` becomes the node of `words[i]`.
#[inline(never)]
pub(super) fn locate<A: Accept>(words: &[u64], nodes: &mut [NodeId], accept: &A, map: &SlotMap) {
    if !accept.any() {
        nodes.fill(NodeId::NONE);
        return;
    }
    let mut list = [Entry::default(); BLOCK];
    for (words, nodes) in words.chunks(BLOCK).zip(nodes.chunks_mut(BLOCK)) {
        let mut left = first_step(words, nodes, accept, &mut list);
        while left > SHORT {
            left = next_step(nodes, accept, &mut list, left);
        }
        for entry in &list[..left] {
            let found = search(words[entry.key as usize], accept);
            nodes[entry.key as usize] = found.map_or(NodeId::NONE, |(slot, _)| NodeId::new(slot));
        }
        map.slots_to_nodes(nodes);
    }
}

/// Word 0 of every key. Returns the length of the worklist.
#[inline(always)]
fn first_step<A: Accept>(words: &[u64], nodes: &mut [NodeId], accept: &A, list: &mut [Entry; BLOCK]) -> usize {
    let mut left = 0;
    for ((key, word), node) in (0_u32..).zip(words).zip(nodes) {
        let (a, b) = halves(*word);
        let (slot, accepted) = accept.test(a, b);
        *node = NodeId::new(slot);
        // `left` is at most the number of keys before this one; the mask only tells the compiler so.
        list[left & (BLOCK - 1)] = Entry { key, x: a, b };
        left += usize::from(!accepted);
    }
    left
}

/// The next word of every key of the worklist. Returns its new length.
#[inline(always)]
fn next_step<A: Accept>(nodes: &mut [NodeId], accept: &A, list: &mut [Entry; BLOCK], length: usize) -> usize {
    let mut left = 0;
    for index in 0..length.min(BLOCK) {
        let Entry { key, x, b } = list[index];
        let x = x.wrapping_add(b | 1);
        let (slot, accepted) = accept.test(mix32(x), b);
        nodes[key as usize] = NodeId::new(slot);
        // `left` never passes `index`, so no entry is overwritten before it is read.
        list[left & (BLOCK - 1)] = Entry { key, x, b };
        left += usize::from(!accepted);
    }
    left
}
