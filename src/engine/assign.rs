//! Whole-set assignment: placements in which a key's node depends on all the other keys.
//!
//! Source: `spec/placement.md`, "Bounded loads"; V. Mirrokni, M. Thorup, M. Zadimoghaddam, arXiv 1608.01350.

use std::ops::ControlFlow;

use crate::cluster::Cluster;
use crate::error::{Error, ErrorKind, Result};
use crate::keys::{Key, KeyBuffer, Keys};
use crate::placement::{NodeId, Placement};

/// An assignment that must see every key before it can tell the node of any: two passes over the same batches.
pub trait WholeSet {
    /// First pass: takes note of a batch of keys.
    ///
    /// # Errors
    /// At a key that the placement does not take, or once the second pass has begun.
    fn observe(&mut self, keys: Keys<'_>) -> Result<()>;

    /// Second pass: the nodes of the next `nodes.len()` keys, in the order in which they were observed.
    ///
    /// # Errors
    /// If fewer keys are left.
    fn nodes(&mut self, nodes: &mut [NodeId]) -> Result<()>;
}

/// Bounded loads: no node gets more than its capacity, and a key whose node is full goes to the next of its list.
///
/// Keys are served in the order of their digests (then of their bytes, then of the input), so neither the order of the
/// input nor batches and threads change a result. Only keys with large digests are displaced.
///
/// # Complexity
/// O(k log k) for k keys; 24 bytes for each, some 16 more while they are sorted, and its bytes if it is no integer (2 GiB
/// of those at most).
///
/// ```
/// use rehome::{Cluster, Node, NodeId};
/// use rehome::engine::{BoundedLoads, WholeSet};
///
/// let cluster = Cluster::builder("dx")?.nodes(["a", "b", "c"].map(Node::new)).build()?;
/// let keys: Vec<u64> = (0..300).collect();
/// let mut bounded = BoundedLoads::new(&cluster.placement()?, 0.0)?;
/// bounded.observe(rehome::Keys::from(&keys))?;
/// let mut nodes = vec![NodeId::NONE; keys.len()];
/// bounded.nodes(&mut nodes)?;
/// let of_first = nodes.iter().filter(|node| **node == nodes[0]).count();
/// assert_eq!(of_first, 100); // a capacity of exactly one third
/// # Ok::<(), rehome::Error>(())
/// ```
#[derive(Debug)]
pub struct BoundedLoads {
    placement: Placement,
    epsilon: f64,
    seen: Vec<Seen>,
    /// The bytes of keys that are no integers, to order those with one digest.
    bytes: KeyBuffer,
    /// Nodes by input row, once the second pass has begun.
    assigned: Option<Vec<NodeId>>,
    next: usize,
}

/// A key that was observed. Its row is its position.
#[derive(Clone, Copy, Debug)]
struct Seen {
    word: u64,
    /// The key itself, or its position in the buffer of bytes.
    key: u64,
    integer: bool,
}

impl BoundedLoads {
    /// Bounds the loads of a placement to (1 + `epsilon`) times each node's share.
    ///
    /// # Errors
    /// If the algorithm has no preference list, or `epsilon` is not a finite number of 0 or more.
    pub fn new(placement: &Placement, epsilon: f64) -> Result<Self> {
        placement.cluster().algorithm().need_list()?;
        parts_per_million(epsilon)?;
        let (seen, bytes) = (Vec::new(), KeyBuffer::new());
        Ok(Self { placement: placement.clone(), epsilon, seen, bytes, assigned: None, next: 0 })
    }

    fn assign(&self) -> Result<Vec<NodeId>> {
        let quanta: Vec<u64> = quanta(self.placement.cluster());
        let mut room = capacities(self.seen.len() as u64, self.epsilon, &quanta)?;
        let mut order: Vec<usize> = (0..self.seen.len()).collect();
        let bytes = self.bytes.keys();
        // Stable: equal keys stay in the order of the input.
        order.sort_by(|a, b| {
            let (a, b) = (self.seen[*a], self.seen[*b]);
            a.word.cmp(&b.word).then_with(|| compare_bytes(a, b, bytes))
        });
        let mut assigned = vec![NodeId::NONE; self.seen.len()];
        for row in order {
            self.placement.lookup().prefer(self.seen[row].word, &mut |node| match node
                .index()
                .map(|index| &mut room[index])
            {
                Some(room) if *room > 0 => {
                    *room -= 1;
                    assigned[row] = node;
                    ControlFlow::Break(())
                }
                _ => ControlFlow::Continue(()),
            })?;
        }
        Ok(assigned)
    }
}

impl WholeSet for BoundedLoads {
    fn observe(&mut self, keys: Keys<'_>) -> Result<()> {
        if self.assigned.is_some() {
            return Err(Error::invalid("keys were observed after the second pass began", "observe every key first"));
        }
        let mut words = vec![0; keys.len()];
        self.placement.hasher().words(keys, &mut words)?;
        self.seen.reserve(keys.len());
        for (key, word) in keys.iter().zip(words) {
            let (key, integer) = match key {
                Key::Integer(key) => (key, true),
                Key::Bytes(bytes) => {
                    let position = self.bytes.keys().len() as u64;
                    self.bytes.push(bytes)?;
                    (position, false)
                }
            };
            self.seen.push(Seen { word, key, integer });
        }
        Ok(())
    }

    fn nodes(&mut self, nodes: &mut [NodeId]) -> Result<()> {
        let assigned = match self.assigned.take() {
            Some(assigned) => assigned,
            None => self.assign()?,
        };
        let left = &assigned[self.next..];
        let given = nodes.len().min(left.len());
        nodes[..given].copy_from_slice(&left[..given]);
        self.next += given;
        self.assigned = Some(assigned);
        if given < nodes.len() {
            let (expected, found) = (given as u64, nodes.len() as u64);
            return Err(ErrorKind::Mismatch { what: "keys left in the second pass", expected, found }.into());
        }
        Ok(())
    }
}

/// Orders two keys by their bytes; an integer's are big-endian.
fn compare_bytes(a: Seen, b: Seen, bytes: Keys<'_>) -> std::cmp::Ordering {
    let integer = |seen: Seen| seen.key.to_be_bytes();
    let stored = |seen: Seen| match usize::try_from(seen.key).map(|position| bytes.get(position)) {
        Ok(Key::Bytes(bytes)) => bytes,
        _ => &[],
    };
    match (a.integer, b.integer) {
        (true, true) => a.key.cmp(&b.key),
        (false, false) => stored(a).cmp(stored(b)),
        (true, false) => integer(a).as_slice().cmp(stored(b)),
        (false, true) => stored(a).cmp(integer(b).as_slice()),
    }
}

/// The weights of the eligible nodes in units of 1/65536; 0 for the others.
fn quanta(cluster: &Cluster) -> Vec<u64> {
    cluster.nodes().iter().map(|node| if node.is_eligible() { u64::from(node.quantum()) } else { 0 }).collect()
}

/// The capacity of every node: `ceil(keys * (1 + epsilon) * q / sum of q)`, in integers, epsilon in parts per million.
///
/// `quanta` are weights in units of 1/65536, 0 for nodes that get no keys; without any other, every capacity is 0.
///
/// # Errors
/// If `epsilon` is not a finite number of 0 or more.
pub fn capacities(keys: u64, epsilon: f64, quanta: &[u64]) -> Result<Vec<u64>> {
    let factor = 1_000_000 + parts_per_million(epsilon)?;
    let sum: u128 = quanta.iter().copied().map(u128::from).sum();
    let capacity = |quantum: u64| {
        let all = u128::from(keys).checked_mul(factor)?.checked_mul(u128::from(quantum))?;
        // More room than u64 holds is room for every key.
        Some(u64::try_from(all.div_ceil(1_000_000 * sum)).unwrap_or(u64::MAX))
    };
    Ok(quanta.iter().map(|quantum| if *quantum == 0 { 0 } else { capacity(*quantum).unwrap_or(u64::MAX) }).collect())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "finite, not negative and bounded below")]
fn parts_per_million(epsilon: f64) -> Result<u128> {
    if epsilon.is_finite() && (0.0..=1e9).contains(&epsilon) {
        return Ok((epsilon * 1e6 + 0.5).floor() as u128);
    }
    Err(Error::invalid(format!("epsilon is {epsilon}"), "it is the room above the fair share: 0 or more, such as 0.25"))
}
