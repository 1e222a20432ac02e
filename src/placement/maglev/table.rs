//! The table of entries, which maglev and sach share, and the check that every node gets one.
//!
//! The specification fills it turn by turn: on turn t a node has a claim to `floor((2 t q + top) / (2 top))` entries,
//! where q is its weight and top the largest of all, and takes the next free one of its walk when that grows. With
//! uneven weights most nodes take nothing on most turns. So this goes from entry to entry: the c-th one of a node falls
//! on turn `ceil((2 c - 1) top / (2 q))`. The entries of a window of turns are collected and sorted by (turn, hash); a
//! window is so long that it holds about one entry per node. Where all weights are equal the turns are plain rounds.
//!
//! Source: `spec/placement.md`, "Tables and stateful baselines".

use super::scalar::walk;
use crate::algorithm::{is_prime, prime_from};
use crate::error::{Error, Result};
use crate::hash::halves;
use crate::placement::{HashedNode, NodeId};

/// Which nodes take part in filling the table; those with weight 0 never do.
type TakesPart = fn(&HashedNode) -> bool;

/// What a message calls the node of a position.
pub(in crate::placement) type NameOf<'a> = &'a dyn Fn(u32) -> String;

/// The name of a node of which only the position is known.
pub(in crate::placement) fn by_position(position: u32) -> String {
    format!("the node at position {position}")
}

/// The nodes that take part, and their positions.
fn takers(nodes: &[HashedNode], takes_part: TakesPart) -> impl Iterator<Item = (u32, &HashedNode)> + Clone {
    (0..).zip(nodes).filter(move |(_, node)| takes_part(node) && node.quantum > 0)
}

/// The largest weight of all configured nodes.
fn top(nodes: &[HashedNode]) -> u64 {
    nodes.iter().map(|node| u64::from(node.quantum)).max().unwrap_or(0)
}

/// The turn on which a node of this weight takes its first entry.
fn first_turn(q: u32, top: u64) -> u64 {
    top.div_ceil(2 * u64::from(q))
}

/// How many entries a node of this weight has a claim to once that turn is over. Fits into 64 bits on every turn up
/// to the last on which a node takes its first entry.
fn claim(turn: u64, q: u32, top: u64) -> u64 {
    (2 * turn * u64::from(q) + top) / (2 * top)
}

/// Whether a table of this size can be filled so that each node that takes part gets an entry, without making it.
///
/// The last node to take its first entry gets one if fewer entries than the table has come before it, and then all
/// others have got theirs.
///
/// # Complexity
/// O(nodes).
///
/// # Errors
/// A size that is not prime, or too small for the nodes or for the lightest of them, which `name` names by its position.
pub(in crate::placement) fn check(
    nodes: &[HashedNode],
    takes_part: TakesPart,
    size: u32,
    name: NameOf<'_>,
) -> Result<()> {
    if !is_prime(u64::from(size)) {
        let hint = prime_from(u64::from(size)).map_or_else(|| "use a prime".into(), |prime| format!("use {prime}"));
        return Err(Error::invalid(format!("the table size {size} is not a prime"), hint));
    }
    let top = top(nodes);
    let takers = takers(nodes, takes_part);
    let last = takers.clone().max_by_key(|(_, node)| (first_turn(node.quantum, top), node.hash));
    let Some((position, last)) = last else { return Ok(()) };
    let turn = first_turn(last.quantum, top);
    let mut before = 0;
    for (_, node) in takers.clone() {
        let (earlier, then) = (claim(turn - 1, node.quantum, top), claim(turn, node.quantum, top));
        before += earlier + u64::from(then > earlier && node.hash < last.hash);
    }
    if before < u64::from(size) {
        return Ok(());
    }
    let count = takers.count();
    let what = if count as u64 > u64::from(size) {
        format!("the table size {size} is too small for {count} nodes")
    } else {
        let weight = f64::from(last.quantum) / 65_536.0;
        format!("the table size {size} leaves no entry for {} (weight {weight})", name(position))
    };
    let hint = match prime_from(before + 1) {
        Some(prime) => format!("use a prime of at least {prime}, better a hundred entries per node"),
        None => "no table is large enough: make the weights less uneven".into(),
    };
    Err(Error::invalid(what, hint))
}

/// Fills the table; without a node that takes part all entries are NONE. The size is one that passed [`check`].
///
/// # Complexity
/// O(size * log size) tries of entries; O(size * log nodes) more if weights differ.
pub(in crate::placement) fn fill(nodes: &[HashedNode], takes_part: TakesPart, size: u32) -> Box<[NodeId]> {
    let mut order: Vec<(u64, u32, u32)> =
        takers(nodes, takes_part).map(|(id, node)| (node.hash, node.quantum, id)).collect();
    order.sort_unstable();
    let mut filling = Filling::new(&order, size);
    if order.iter().all(|(_, q, _)| *q == order[0].1) {
        for taker in (0..order.len()).cycle().take(size as usize) {
            filling.take_next(taker);
        }
    } else {
        in_windows(&order, top(nodes), size, |taker| filling.take_next(taker));
    }
    filling.table
}

/// Calls `take` for the first `size` entries in the order of (turn, hash), with the place of the node in `order`.
///
/// # Complexity
/// O(size * log nodes), and about 56 bytes per node. With a heap, which misses the caches for each entry, the whole
/// filling took four times as long (65,536 nodes, 6.5 million entries).
fn in_windows(order: &[(u64, u32, u32)], top: u64, size: u32, mut take: impl FnMut(usize)) {
    let sum: u64 = order.iter().map(|(_, q, _)| u64::from(*q)).sum();
    // Each turn has sum / top entries on average, so a window has between none and two per node.
    let turns = (order.len() as u64 * top).div_ceil(sum);
    let mut due: Vec<_> = order.iter().map(|(_, q, _)| Due::first(*q, top)).collect();
    let mut window: Vec<(u64, usize)> = Vec::with_capacity(order.len() * 2);
    let (mut left, mut end) = (size as usize, 0);
    while left > 0 {
        end += turns;
        window.clear();
        for (taker, due) in due.iter_mut().enumerate() {
            while due.turn <= end {
                window.push((due.turn, taker));
                due.advance(top);
            }
        }
        window.sort_unstable();
        window.iter().take(left).for_each(|(_, taker)| take(*taker));
        left -= left.min(window.len());
    }
}

/// When a node takes its next entry, the c-th.
struct Due {
    turn: u64,
    /// `turn * 2 q - (2 c - 1) top`: by how much the turn was rounded up. From 0 to 2 q - 1.
    excess: u64,
    q: u32,
}

impl Due {
    fn first(q: u32, top: u64) -> Self {
        let turn = first_turn(q, top);
        Self { turn, excess: turn * 2 * u64::from(q) - top, q }
    }

    /// On to the next entry. No number here passes 64 bits: turns stay below size * top / q.
    #[inline(always)]
    fn advance(&mut self, top: u64) {
        let step = 2 * u64::from(self.q);
        // At least 1, as the excess is below the step and no weight is above the top.
        let turns = (2 * top - self.excess).div_ceil(step);
        self.turn += turns;
        self.excess = self.excess + turns * step - 2 * top;
    }
}

/// A table being filled.
struct Filling {
    table: Box<[NodeId]>,
    /// One bit per entry: taken. Most tries meet taken entries, and the bits stay in a nearer cache than the table.
    taken: Box<[u64]>,
    walks: Vec<Walk>,
}

/// Where a node's walk through the entries stands.
struct Walk {
    at: u32,
    skip: u32,
    id: NodeId,
}

impl Filling {
    fn new(order: &[(u64, u32, u32)], size: u32) -> Self {
        let walk = |(hash, _, id): &(u64, u32, u32)| {
            let (at, skip) = walk(*hash, size);
            Walk { at, skip, id: NodeId::new(*id) }
        };
        Self {
            table: vec![NodeId::NONE; size as usize].into_boxed_slice(),
            taken: vec![0; (size as usize).div_ceil(64)].into_boxed_slice(),
            walks: order.iter().map(walk).collect(),
        }
    }

    /// Gives a node the next free entry of its walk. There is one: fewer than `size` were taken.
    #[inline(always)]
    fn take_next(&mut self, taker: usize) {
        let walk = &mut self.walks[taker];
        let size = self.table.len() as u64;
        let mut at = walk.at;
        while self.taken[at as usize / 64] >> (at % 64) & 1 == 1 {
            at = step(at, walk.skip, size);
        }
        self.taken[at as usize / 64] |= 1 << (at % 64);
        self.table[at as usize] = walk.id;
        walk.at = at;
    }
}

/// The entry `skip` behind this one, around the end; both are below the size.
#[inline(always)]
pub(in crate::placement) fn step(at: u32, skip: u32, size: u64) -> u32 {
    let next = u64::from(at) + u64::from(skip);
    halves(if next < size { next } else { next - size }).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::fmix64;

    /// The turn of the c-th entry, and by how much it was rounded up.
    fn due(c: u64, q: u32, top: u64) -> (u64, u64) {
        let (entry, weight) = (u128::from(2 * c - 1) * u128::from(top), u128::from(q) * 2);
        let turn = entry.div_ceil(weight);
        (u64::try_from(turn).unwrap(), u64::try_from(turn * weight - entry).unwrap())
    }

    #[test]
    fn entries_fall_due_as_the_formula_says() {
        let most = u64::from(u32::MAX);
        for i in 0..2000 {
            let random = fmix64(i + 1);
            let q = (halves(random).0 >> (random % 32)).max(1);
            let top = u64::from(halves(random).1.max(q));
            for (q, top) in [(q, top), (q, most), (1, top), (1, most), (u32::MAX, most)] {
                let mut now = Due::first(q, top);
                assert_eq!((now.turn, now.excess), due(1, q, top));
                for c in [1, 2, 1 + random % 4_000_000_000, 4_294_967_291] {
                    (now.turn, now.excess) = due(c, q, top);
                    now.advance(top);
                    assert_eq!((now.turn, now.excess), due(c + 1, q, top), "entry {c} of {q} below {top}");
                }
            }
        }
    }

    #[test]
    fn claims_are_the_entries_due_so_far() {
        for (q, top) in [(1, 7), (3, 7), (7, 7), (5, 6), (65_536, 65_537), (1, 4_294_967_295)] {
            for turn in [0, 1, 2, 3, 4, 5, first_turn(q, top)] {
                let claim = claim(turn, q, top);
                assert!(claim == 0 || due(claim, q, top).0 <= turn);
                assert!(due(claim + 1, q, top).0 > turn);
            }
        }
    }

    #[test]
    fn steps_go_around() {
        assert_eq!([step(0, 4, 5), step(1, 4, 5), step(4, 4, 5)], [4, 0, 3]);
        assert_eq!(step(4_294_967_290, 4_294_967_290, 4_294_967_291), 4_294_967_289);
    }
}
