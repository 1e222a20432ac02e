//! Counting what moves, chunk by chunk.

use std::collections::HashMap;

use super::nodes::MatchedNodes;
use super::summary::{Side, Summary};
use super::sums::Sums;
use crate::cluster::Cluster;
use crate::engine::Counts;
use crate::error::{Error, ErrorKind, Result};
use crate::placement::NodeId;

/// Counts keys (and bytes) per node before and after, and per pair of nodes that keys move between.
///
/// ```
/// use rehome::plan::Tally;
/// use rehome::{Cluster, Engine, Node, NodeId};
///
/// let from = Cluster::builder("dx")?.slots(16).nodes(["a", "b"].map(Node::new)).build()?;
/// let mut to = from.clone();
/// to.add(Node::new("c"))?;
/// let engine = Engine::builder().build()?;
/// let keys: Vec<u64> = (0..3000).collect();
/// let (mut before, mut after) = (vec![NodeId::NONE; 3000], vec![NodeId::NONE; 3000]);
/// engine.locate(&from.placement()?, &keys, &mut before)?;
/// engine.locate(&to.placement()?, &keys, &mut after)?;
///
/// let mut tally = Tally::new(&from, &to);
/// tally.add(&before, &after, None, |_| ())?;
/// let summary = tally.summary(0);
/// assert_eq!((summary.keys, summary.excess), (3000, 0));
/// assert!(tally.flows().iter().all(|flow| flow.to.as_deref() == Some("c")));
/// # Ok::<(), rehome::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tally {
    nodes: MatchedNodes,
    eligible: (usize, usize),
    keys: (Counts, Counts),
    bytes: (Counts, Counts),
    flows: Flows,
    rows: u64,
    total_bytes: Option<u128>,
}

/// Keys that go from one node to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The node before; none for keys that had none.
    pub from: Option<String>,
    /// The node after; none for keys that have none.
    pub to: Option<String>,
    /// How many keys.
    pub keys: u64,
    /// Their sizes together, if sizes are known.
    pub bytes: Option<u64>,
    /// Whether neither end of the flow gave a reason for it.
    pub excess: bool,
}

/// Keys of a node before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeLoad {
    /// The node; none for keys without one.
    pub name: Option<String>,
    /// Keys before and after.
    pub keys: (u64, u64),
    /// Bytes before and after, if sizes are known.
    pub bytes: Option<(u64, u64)>,
}

impl Tally {
    /// Nothing counted yet.
    pub fn new(from: &Cluster, to: &Cluster) -> Self {
        let nodes = MatchedNodes::new(from, to);
        let counts = || (Counts::new(nodes.len()), Counts::new(nodes.len()));
        let eligible = |cluster: &Cluster| cluster.nodes().iter().filter(|node| node.is_eligible()).count();
        Self {
            eligible: (eligible(from), eligible(to)),
            keys: counts(),
            bytes: counts(),
            flows: Flows::new(nodes.len() + 1),
            rows: 0,
            total_bytes: None,
            nodes,
        }
    }

    /// The same, for keys whose sizes are known, so that bytes are told even of no keys.
    #[must_use]
    pub fn with_sizes(mut self) -> Self {
        self.total_bytes = Some(0);
        self
    }

    /// Adds keys: their nodes before and after, and their sizes if known. `moved` is called with the position of every
    /// key that moves, in order.
    ///
    /// # Errors
    /// If the slices differ in length, or all sizes together pass 2^64 - 1.
    pub fn add(
        &mut self,
        before: &[NodeId],
        after: &[NodeId],
        sizes: Option<&[u64]>,
        mut moved: impl FnMut(usize),
    ) -> Result<()> {
        let lengths = [("nodes after", after.len()), ("sizes", sizes.map_or(before.len(), <[u64]>::len))];
        for (what, found) in lengths {
            if found != before.len() {
                let expected = before.len() as u64;
                return Err(ErrorKind::Mismatch { what, expected, found: found as u64 }.into());
            }
        }
        if let Some(sizes) = sizes {
            self.add_bytes(sizes.iter().copied().map(u128::from).sum())?;
        }
        self.rows += before.len() as u64;
        for (index, (before, after)) in before.iter().zip(after).enumerate() {
            let (from, to) = (self.nodes.number_from(*before), self.nodes.number_to(*after));
            let size = sizes.map_or(0, |sizes| sizes[index]);
            bump(&mut self.keys.0, from, 1);
            bump(&mut self.keys.1, to, 1);
            if size > 0 {
                bump(&mut self.bytes.0, from, size);
                bump(&mut self.bytes.1, to, size);
            }
            if from != to {
                self.flows.add(from, to, 1, size);
                moved(index);
            }
        }
        Ok(())
    }

    /// The sums of all keys so far, in a form that can be kept; nothing is counted afterwards.
    ///
    /// # Complexity
    /// O(nodes + flows).
    pub fn take_sums(&mut self) -> Sums {
        let last = self.nodes.len();
        let sums_of = |number: usize| {
            let at = |counts: &(Counts, Counts)| (at(&counts.0, number), at(&counts.1, number));
            let (keys, bytes) = (at(&self.keys), at(&self.bytes));
            (number, keys.0, keys.1, bytes.0, bytes.1)
        };
        let nodes = (0..=last).map(sums_of).filter(|(_, before, after, ..)| before + after > 0).collect();
        let sums = Sums {
            keys: self.rows,
            bytes: self.total_bytes.map(|total| u64::try_from(total).unwrap_or(u64::MAX)),
            nodes,
            flows: self.flows.sorted(),
        };
        for counts in [&mut self.keys.0, &mut self.keys.1, &mut self.bytes.0, &mut self.bytes.1] {
            counts.per_node.fill(0);
            counts.unplaced = 0;
        }
        self.flows.clear();
        self.rows = 0;
        self.total_bytes = self.total_bytes.map(|_| 0);
        sums
    }

    /// Adds sums that a tally of the same clusters gave.
    ///
    /// # Errors
    /// If they name a node that is not there, or all sizes together pass 2^64 - 1. Nothing is added then.
    ///
    /// # Complexity
    /// O(nodes and flows of the sums).
    pub fn add_sums(&mut self, sums: &Sums) -> Result<()> {
        let last = self.nodes.len();
        let numbers = sums.nodes.iter().map(|node| node.0).chain(sums.flows.iter().flat_map(|flow| [flow.0, flow.1]));
        if let Some(number) = numbers.max().filter(|number| *number > last) {
            return Err(Error::invalid(
                format!("sums name node number {number}, and there are {last}"),
                "they are of other clusters",
            ));
        }
        if let Some(bytes) = sums.bytes {
            self.add_bytes(u128::from(bytes))?;
        }
        self.rows += sums.keys;
        for (number, before, after, bytes_before, bytes_after) in sums.nodes.iter().copied() {
            bump(&mut self.keys.0, number, before);
            bump(&mut self.keys.1, number, after);
            bump(&mut self.bytes.0, number, bytes_before);
            bump(&mut self.bytes.1, number, bytes_after);
        }
        for (from, to, keys, bytes) in sums.flows.iter().copied() {
            self.flows.add(from, to, keys, bytes);
        }
        Ok(())
    }

    /// Counts sizes into the sum of all, which is checked so that no part of it can overflow.
    fn add_bytes(&mut self, bytes: u128) -> Result<()> {
        let total = self.total_bytes.unwrap_or(0).saturating_add(bytes);
        if total > u128::from(u64::MAX) {
            return Err(Error::invalid("the sizes of all keys together pass 2^64 - 1", "check the size column"));
        }
        self.total_bytes = Some(total);
        Ok(())
    }

    /// The nodes of both clusters.
    pub fn nodes(&self) -> &MatchedNodes {
        &self.nodes
    }

    /// The flows between different nodes that have keys, in the order of the nodes; "unplaced" is last.
    pub fn flows(&self) -> Vec<Flow> {
        let name = |number| self.nodes.name(number).map(str::to_owned);
        let flows = self.flows.sorted().into_iter();
        flows
            .map(|(from, to, keys, bytes)| Flow {
                from: name(from),
                to: name(to),
                keys,
                bytes: self.total_bytes.map(|_| bytes),
                excess: self.nodes.is_excess(from, to),
            })
            .collect()
    }

    /// The keys of every node of either cluster, and of "unplaced" if it has any.
    pub fn loads(&self) -> Vec<NodeLoad> {
        let last = self.nodes.len();
        let unplaced = self.keys.0.unplaced + self.keys.1.unplaced > 0;
        (0..last + usize::from(unplaced))
            .map(|number| NodeLoad {
                name: self.nodes.name(number).map(str::to_owned),
                keys: (at(&self.keys.0, number), at(&self.keys.1, number)),
                bytes: self.total_bytes.map(|_| (at(&self.bytes.0, number), at(&self.bytes.1, number))),
            })
            .collect()
    }

    /// What all keys together did. `bad_rows` is the number of rows that were skipped.
    pub fn summary(&self, bad_rows: u64) -> Summary {
        let (from, to) = self.nodes.clusters();
        let flows = self.flows.sorted();
        let sum = |excess_only: bool, bytes: bool| -> u64 {
            let flows = flows.iter().copied();
            let wanted = flows.filter(|(from, to, ..)| !excess_only || self.nodes.is_excess(*from, *to));
            wanted.map(|(_, _, keys, size)| if bytes { size } else { keys }).sum()
        };
        let least = |counts: &(Counts, Counts)| -> u64 {
            (0..=self.nodes.len()).map(|number| at(&counts.0, number).saturating_sub(at(&counts.1, number))).sum()
        };
        let sized = |value: u64| self.total_bytes.map(|_| value);
        let moved = sum(false, false);
        let loads = |counts: &Counts, side: &Cluster| -> Vec<(u64, f64)> {
            let numbers = (0..self.nodes.len()).filter_map(|number| {
                let node = &side.nodes()[side.position(self.nodes.name(number)?)?];
                node.is_eligible().then(|| (at(counts, number), node.weight()))
            });
            numbers.collect()
        };
        Summary {
            keys: self.rows,
            moved,
            moved_fraction: if self.rows == 0 { 0.0 } else { moved as f64 / self.rows as f64 },
            least_moves: least(&self.keys),
            excess: sum(true, false),
            unplaced: self.keys.1.unplaced,
            bad_rows,
            bytes: self.total_bytes.map(|total| u64::try_from(total).unwrap_or(u64::MAX)),
            moved_bytes: sized(sum(false, true)),
            least_moves_bytes: sized(least(&self.bytes)),
            excess_bytes: sized(sum(true, true)),
            from: Side::new(from.nodes().len(), self.eligible.0, self.rows, &self.keys.0, &loads(&self.keys.0, from)),
            to: Side::new(to.nodes().len(), self.eligible.1, self.rows, &self.keys.1, &loads(&self.keys.1, to)),
        }
    }
}

#[inline(always)]
fn bump(counts: &mut Counts, number: usize, amount: u64) {
    match counts.per_node.get_mut(number) {
        Some(count) => *count += amount,
        None => counts.unplaced += amount,
    }
}

fn at(counts: &Counts, number: usize) -> u64 {
    counts.per_node.get(number).copied().unwrap_or(counts.unplaced)
}

/// Keys and bytes per pair of numbered nodes: a square table while that is small, else a map of the pairs there are.
#[derive(Clone, Debug)]
enum Flows {
    Square { side: usize, cells: Vec<(u64, u64)> },
    Sparse(HashMap<(usize, usize), (u64, u64)>),
}

/// The largest side of the square table: 4 MiB.
const SQUARE: usize = 512;

impl Flows {
    fn new(side: usize) -> Self {
        if side <= SQUARE {
            Self::Square { side, cells: vec![(0, 0); side * side] }
        } else {
            Self::Sparse(HashMap::new())
        }
    }

    #[inline(always)]
    fn add(&mut self, from: usize, to: usize, keys: u64, size: u64) {
        let cell = match self {
            Self::Square { side, cells } => &mut cells[from * *side + to],
            Self::Sparse(map) => map.entry((from, to)).or_default(),
        };
        cell.0 += keys;
        cell.1 += size;
    }

    fn clear(&mut self) {
        match self {
            Self::Square { cells, .. } => cells.fill((0, 0)),
            Self::Sparse(map) => map.clear(),
        }
    }

    /// (from, to, keys, bytes) in ascending order of from and to.
    fn sorted(&self) -> Vec<(usize, usize, u64, u64)> {
        match self {
            Self::Square { side, cells } => {
                let used = cells.iter().enumerate().filter(|(_, cell)| cell.0 > 0);
                used.map(|(index, (keys, bytes))| (index / side, index % side, *keys, *bytes)).collect()
            }
            Self::Sparse(map) => {
                let mut flows: Vec<_> =
                    map.iter().map(|((from, to), (keys, bytes))| (*from, *to, *keys, *bytes)).collect();
                flows.sort_unstable();
                flows
            }
        }
    }
}
