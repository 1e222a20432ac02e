//! The specification written down a second time, slowly and literally: what every test compares the library with.
//!
//! Nothing here calls the library's own hashing or placing, and nothing here is fast.

#![allow(dead_code, reason = "every test file uses its own part of it")]

use rehome::{Cluster, Node, NodeId, Placement};

/// "On no node", as the vectors write it.
pub(crate) const NONE: u32 = u32::MAX;

/// The threshold of a slot of weight 1.
pub(crate) const FULL: u32 = 65_536;

// ---- mixing and digests ----------------------------------------------------------------------------------------

pub(crate) fn fmix64(mut z: u64) -> u64 {
    z = (z ^ (z >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    z = (z ^ (z >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    z ^ (z >> 33)
}

pub(crate) fn mix32(mut x: u32) -> u32 {
    x = (x ^ (x >> 16)).wrapping_mul(0x21F0_AAAD);
    x = (x ^ (x >> 15)).wrapping_mul(0xD35A_2D97);
    x ^ (x >> 15)
}

pub(crate) fn lo(word: u64) -> u32 {
    u32::try_from(word & 0xFFFF_FFFF).unwrap()
}

pub(crate) fn hi(word: u64) -> u32 {
    u32::try_from(word >> 32).unwrap()
}

/// The digest of an integer key under `default`.
pub(crate) fn digest(key: u64, seed: u64) -> u64 {
    fmix64(key ^ fmix64(seed.wrapping_add(0x9E37_79B9_7F4A_7C15)))
}

pub(crate) fn probe(d: u64, i: u32) -> u32 {
    let (a, b) = (lo(d), hi(d));
    if i == 0 { a } else { mix32(a.wrapping_add(i.wrapping_mul(b | 1))) }
}

// ---- dx --------------------------------------------------------------------------------------------------------

/// Step `i` of the search over the thresholds `t`: the slot, if it accepts.
fn accepts(d: u64, i: u32, t: &[u32]) -> Option<u32> {
    let x = probe(d, i);
    let slot = x & (u32::try_from(t.len()).unwrap() - 1);
    (mix32(x ^ hi(d)) >> 16 < t[slot as usize]).then_some(slot)
}

/// Slot and search length. The caller vouches that `t` is not too sparse.
pub(crate) fn dx(d: u64, t: &[u32]) -> (u32, u64) {
    if t.iter().all(|t| *t == 0) {
        return (NONE, 0);
    }
    (0..).find_map(|i| Some((accepts(d, i, t)?, u64::from(i) + 1))).unwrap()
}

/// The first `most` entries of the preference list.
pub(crate) fn dx_list(d: u64, t: &[u32], most: usize) -> Vec<u32> {
    let (head, length) = dx(d, t);
    if head == NONE {
        return Vec::new();
    }
    let eligible = t.iter().filter(|t| **t > 0).count();
    let first_hit = u32::try_from(length - 1).unwrap();
    let (mut list, mut listed) = (vec![head], vec![false; t.len()]);
    listed[head as usize] = true;
    for i in first_hit + 1..=first_hit + (1 << 20) {
        if list.len() == eligible.min(most) {
            break;
        }
        if let Some(slot) = accepts(d, i, t).filter(|slot| !listed[*slot as usize]) {
            listed[slot as usize] = true;
            list.push(slot);
        }
    }
    let rest = (0..u32::try_from(t.len()).unwrap()).filter(|slot| t[*slot as usize] > 0 && !listed[*slot as usize]);
    list.extend(rest);
    list.truncate(most);
    list
}

/// `r` replicas of a whole list, in two passes over it. `zone(j)` is none for an entry that is a zone of its own.
pub(crate) fn replicas(list: &[u32], r: usize, zone: impl Fn(u32) -> Option<u32>) -> Vec<u32> {
    let (mut chosen, mut zones) = (Vec::new(), Vec::new());
    for &entry in list {
        let own = zone(entry).map_or((1, entry), |zone| (0, zone));
        if chosen.len() < r && !zones.contains(&own) {
            chosen.push(entry);
            zones.push(own);
        }
    }
    for &entry in list {
        if chosen.len() < r && !chosen.contains(&entry) {
            chosen.push(entry);
        }
    }
    chosen
}

// ---- dx-crc32c -------------------------------------------------------------------------------------------------

/// The chain of the authors' code, byte by byte over one table.
pub(crate) struct Crc32c([u32; 256]);

impl Crc32c {
    pub(crate) fn new() -> Self {
        let mut table = [0; 256];
        for (byte, entry) in (0_u32..).zip(&mut table) {
            *entry = (0..8).fold(byte, |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0x82F6_3B78 } else { 0 });
        }
        Self(table)
    }

    pub(crate) fn of_u64(&self, state: u32, data: u64) -> u32 {
        data.to_le_bytes()
            .into_iter()
            .fold(state, |crc, byte| self.0[((crc ^ u32::from(byte)) & 255) as usize] ^ (crc >> 8))
    }

    /// Slot and search length over any number of slots.
    pub(crate) fn dx(&self, key: u32, active: &[bool]) -> (u32, u64) {
        let n = u32::try_from(active.len()).unwrap();
        let seed = key.wrapping_mul(421_757).wrapping_add(1);
        let mut x = self.of_u64(seed, u64::from(key));
        for length in 1..4 * u64::from(n) {
            if active[(x % n) as usize] {
                return (x % n, length);
            }
            x = self.of_u64(seed, u64::from(x));
        }
        (NONE, 4 * u64::from(n))
    }
}

// ---- bounded loads ---------------------------------------------------------------------------------------------

pub(crate) fn capacities(keys: u64, epsilon: f64, q: &[u32]) -> Vec<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and not negative")]
    let e = (epsilon * 1e6 + 0.5).floor() as u128;
    let total: u128 = q.iter().copied().map(u128::from).sum();
    let ceiling = |q: u32| (u128::from(keys) * (1_000_000 + e) * u128::from(q)).div_ceil(1_000_000 * total.max(1));
    q.iter().map(|q| u64::try_from(ceiling(*q)).unwrap()).collect()
}

/// The slots of keys given as (digest, bytes), one by one in the order of the specification.
pub(crate) fn bounded(keys: &[(u64, Vec<u8>)], epsilon: f64, t: &[u32]) -> Vec<u32> {
    let mut room = capacities(keys.len() as u64, epsilon, t);
    let mut order: Vec<_> = keys.iter().enumerate().map(|(index, (d, bytes))| (*d, bytes, index)).collect();
    order.sort();
    let mut slots = vec![NONE; keys.len()];
    for (d, _, index) in order {
        if let Some(slot) = dx_list(d, t, usize::MAX).into_iter().find(|slot| room[*slot as usize] > 0) {
            room[slot as usize] -= 1;
            slots[index] = slot;
        }
    }
    slots
}

// ---- clusters to test with -------------------------------------------------------------------------------------

/// How the nodes of a cluster are listed; no result may depend on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Order {
    /// By slot, one node in every slot, those of threshold 0 down: the compiled map of slots to nodes is the identity.
    Slots,
    /// Shuffled by this seed, eligible nodes only: the map counts bits.
    Shuffled(u64),
}

/// The nodes `s0`, `s1`, .. in the slots that the names say, with the thresholds `t` (65536 is weight 1).
pub(crate) fn nodes(t: &[u32], order: Order) -> Vec<Node> {
    let node = |slot: u32| {
        let node = Node::new(format!("s{slot}")).with_slot(slot);
        match t[slot as usize] {
            0 => node.with_up(false),
            t => node.with_weight(f64::from(t) / 65_536.0),
        }
    };
    let slots = 0..u32::try_from(t.len()).unwrap();
    match order {
        Order::Slots => slots.map(node).collect(),
        Order::Shuffled(seed) => {
            let mut slots: Vec<u32> = slots.filter(|slot| t[*slot as usize] > 0).collect();
            Random::new(seed).shuffle(&mut slots);
            slots.into_iter().map(node).collect()
        }
    }
}

pub(crate) fn cluster(algorithm: &str, t: &[u32], order: Order) -> Cluster {
    Cluster::builder(algorithm).unwrap().slots(t.len() as u64).nodes(nodes(t, order)).build().unwrap()
}

/// The slot of a node, which is its name in clusters made here.
pub(crate) fn slot(placement: &Placement, node: NodeId) -> u32 {
    let Some(index) = node.index() else { return NONE };
    placement.cluster().nodes()[index].slot().unwrap()
}

pub(crate) fn slots(placement: &Placement, nodes: &[NodeId]) -> Vec<u32> {
    nodes.iter().map(|node| slot(placement, *node)).collect()
}

/// The nodes of many words by the kernel.
pub(crate) fn batch(placement: &Placement, words: &[u64]) -> Vec<NodeId> {
    let mut nodes = vec![NodeId::NONE; words.len()];
    placement.lookup().locate_batch(words.into(), &mut nodes);
    nodes
}

// ---- randomness that is the same in every run ------------------------------------------------------------------

/// SplitMix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn words(&mut self, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.word()).collect()
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        u32::try_from(self.word() % u64::from(n)).unwrap()
    }

    /// A number of 0 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        f64::from(hi(self.word())) / 4_294_967_296.0
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for index in (1..items.len()).rev() {
            items.swap(index, self.below(u32::try_from(index + 1).unwrap()) as usize);
        }
    }
}
