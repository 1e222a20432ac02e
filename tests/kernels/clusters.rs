//! Clusters that kernels are tried on: from one slot to many, from all up to one.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use rehome::hash::fmix64;
use rehome::{Cluster, Node, Placement};

/// What a cluster is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    pub(crate) slots: u32,
    /// Slots that are up, at places that `seed` says.
    pub(crate) up: u32,
    /// Whether weights are below 1.
    pub(crate) weighted: bool,
    /// Whether the order of the nodes is that of the slots.
    pub(crate) in_order: bool,
    pub(crate) seed: u64,
}

impl Shape {
    pub(crate) fn new(slots: u32, up: u32) -> Self {
        Self { slots, up, weighted: false, in_order: true, seed: u64::from(slots) << 32 | u64::from(up) }
    }

    /// Mean probes per key, as a bound for how many keys to try.
    pub(crate) fn mean(&self) -> u64 {
        // Weights are a half on average, and one of them is 1.
        let up = if self.weighted { self.up.div_ceil(2) } else { self.up };
        u64::from(self.slots) / u64::from(up.max(1)) + 1
    }

    /// The cluster, compiled once for all tests. Slots that are not up have no node, but for one that is down.
    pub(crate) fn placement(&self, algorithm: &'static str) -> Placement {
        type Made = Mutex<HashMap<(&'static str, Shape), Arc<OnceLock<Placement>>>>;
        static MADE: LazyLock<Made> = LazyLock::new(Made::default);
        let made = Arc::clone(MADE.lock().unwrap().entry((algorithm, *self)).or_default());
        made.get_or_init(|| self.make(algorithm)).clone()
    }

    fn make(&self, algorithm: &str) -> Placement {
        let mut slots = chosen(self.slots, self.up, self.seed);
        if !self.in_order {
            slots.reverse();
        }
        let mut nodes: Vec<Node> = Vec::new();
        for (index, slot) in slots.iter().enumerate() {
            let weight = if self.weighted { weight(index, self.seed) } else { 1.0 };
            nodes.push(Node::new(format!("node-{index}")).with_slot(*slot).with_weight(weight));
        }
        if self.up == 0 {
            nodes.push(Node::new("down").with_slot(0).with_up(false));
        }
        let builder = Cluster::builder(algorithm).unwrap().slots(u64::from(self.slots)).nodes(nodes);
        builder.build().unwrap().placement().unwrap()
    }
}

/// Full, tiny, or anything between; the first is full, so that searches end.
fn weight(index: usize, seed: u64) -> f64 {
    match if index == 0 { 0 } else { fmix64(seed ^ index as u64) % 8 } {
        0 => 1.0,
        1 => 1.0 / 65_536.0,
        other => f64::from(u32::try_from(other).unwrap()) / 8.0 + 0.125,
    }
}

/// `up` different slots, ascending.
fn chosen(slots: u32, up: u32, seed: u64) -> Vec<u32> {
    if up == slots {
        return (0..slots).collect();
    }
    let mut found = std::collections::BTreeSet::new();
    let mut draw = 0;
    while found.len() < up as usize {
        draw += 1;
        found.insert(u32::try_from(fmix64(seed.wrapping_mul(3).wrapping_add(draw)) % u64::from(slots)).unwrap());
    }
    found.into_iter().collect()
}

/// Clusters of every size that is quick to make: `few` for each, by shares from all up to one slot.
pub(crate) fn small() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for slots in [1_u32, 2, 8, 32, 64, 128, 256, 1024, 2048, 1 << 14] {
        let shares = [slots, slots - 1, slots * 9 / 10, slots / 2, slots / 10, slots / 100, 1, 0];
        let mut ups: Vec<u32> = shares.to_vec();
        ups.dedup();
        for (number, up) in ups.into_iter().enumerate() {
            let mut shape = Shape::new(slots, up);
            shape.in_order = number % 2 == 0;
            shapes.push(shape);
            if up > 0 {
                shapes.push(Shape { weighted: true, seed: shape.seed + 1, ..shape });
            }
        }
    }
    shapes
}

/// Numbers of slots that are no powers of two.
pub(crate) fn odd() -> Vec<Shape> {
    let sizes = [3_u32, 5, 7, 10, 33, 100, 641, 1000, 1023, 1025, 9999, 65_537];
    sizes.into_iter().flat_map(|n| [n, n - 1, n / 2, n / 10 + 1].map(|up| Shape::new(n, up))).collect()
}

/// Large arrays, with as many nodes as can be made in the time of a test.
pub(crate) fn large() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for (bits, ups) in [(20, vec![1 << 20, 943_718, 1 << 19, 1 << 17]), (24, vec![1 << 18]), (26, vec![1 << 17])] {
        for up in ups {
            shapes.push(Shape { in_order: up % 3 == 0, ..Shape::new(1 << bits, up) });
        }
    }
    shapes.push(Shape { weighted: true, ..Shape::new(1 << 20, 1 << 19) });
    shapes
}
