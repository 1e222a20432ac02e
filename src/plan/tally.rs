//! Counting what moves, chunk by chunk.

use std::collections::HashMap;

use super::loads::Loads;
use super::nodes::MatchedNodes;
use super::summary::{Side, Summary};
use super::sums::Sums;
use crate::cluster::Cluster;
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
    /// Keys and bytes before, per numbered node, "unplaced" last. Those after follow from the flows.
    keys: Loads,
    bytes: Vec<u64>,
    flows: Flows,
    rows: u64,
    total_bytes: Option<u128>,
}

/// Keys that are looked at at a time.
const STRIP: usize = 1024;

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
        let eligible = |cluster: &Cluster| cluster.nodes().iter().filter(|node| node.is_eligible()).count();
        Self {
            eligible: (eligible(from), eligible(to)),
            keys: Loads::new(nodes.len() + 1),
            bytes: vec![0; nodes.len() + 1],
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
        let mut found = [0; STRIP];
        for (strip, (before, after)) in before.chunks(STRIP).zip(after.chunks(STRIP)).enumerate() {
            self.keys.count(before.iter().map(|node| self.nodes.number_from(*node)));
            // First which keys move, without a branch; then those few.
            let mut count = 0;
            for (index, (before, after)) in before.iter().zip(after).enumerate() {
                let (from, to) = (self.nodes.number_from(*before), self.nodes.number_to(*after));
                found[count] = index;
                count += usize::from(from != to);
            }
            let sizes = sizes.map(|sizes| &sizes[strip * STRIP..]);
            if let Some(sizes) = sizes {
                for (before, size) in before.iter().zip(sizes) {
                    self.bytes[self.nodes.number_from(*before)] += size;
                }
            }
            for index in found[..count].iter().copied() {
                let (from, to) = (self.nodes.number_from(before[index]), self.nodes.number_to(after[index]));
                self.flows.add(from, to, 1, sizes.map_or(0, |sizes| sizes[index]));
                moved(strip * STRIP + index);
            }
        }
        Ok(())
    }

    /// The sums of all keys so far, in a form that can be kept; nothing is counted afterwards.
    ///
    /// # Complexity
    /// O(nodes + flows).
    pub fn take_sums(&mut self) -> Sums {
        let loads = self.keys.sums().into_iter().zip(&self.bytes).enumerate();
        let nodes =
            loads.map(|(number, (keys, bytes))| (number, keys, *bytes)).filter(|(_, keys, _)| *keys > 0).collect();
        let sums = Sums {
            keys: self.rows,
            bytes: self.total_bytes.map(|total| u64::try_from(total).unwrap_or(u64::MAX)),
            nodes,
            flows: self.flows.sorted(),
        };
        self.keys.clear();
        self.bytes.fill(0);
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
        for (number, keys, bytes) in sums.nodes.iter().copied() {
            self.keys.add(number, keys);
            self.bytes[number] += bytes;
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
        let (keys, bytes) = (self.keys_per_side(), self.bytes_per_side());
        let unplaced = keys.0[last] + keys.1[last] > 0;
        (0..last + usize::from(unplaced))
            .map(|number| NodeLoad {
                name: self.nodes.name(number).map(str::to_owned),
                keys: (keys.0[number], keys.1[number]),
                bytes: self.total_bytes.map(|_| (bytes.0[number], bytes.1[number])),
            })
            .collect()
    }

    fn keys_per_side(&self) -> (Vec<u64>, Vec<u64>) {
        let flows = self.flows.sorted().into_iter().map(|(from, to, keys, _)| (from, to, keys));
        sides(&self.keys.sums(), flows)
    }

    fn bytes_per_side(&self) -> (Vec<u64>, Vec<u64>) {
        let flows = self.flows.sorted().into_iter().map(|(from, to, _, bytes)| (from, to, bytes));
        sides(&self.bytes, flows)
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
        let least = |(before, after): &(Vec<u64>, Vec<u64>)| -> u64 {
            before.iter().zip(after).map(|(before, after)| before.saturating_sub(*after)).sum()
        };
        let (keys, bytes) = (self.keys_per_side(), self.bytes_per_side());
        let last = self.nodes.len();
        let sized = |value: u64| self.total_bytes.map(|_| value);
        let moved = sum(false, false);
        let loads = |loads: &[u64], side: &Cluster| -> Vec<(u64, f64)> {
            let numbers = (0..self.nodes.len()).filter_map(|number| {
                let node = &side.nodes()[side.position(self.nodes.name(number)?)?];
                node.is_eligible().then(|| (loads[number], node.weight()))
            });
            numbers.collect()
        };
        Summary {
            keys: self.rows,
            moved,
            moved_fraction: if self.rows == 0 { 0.0 } else { moved as f64 / self.rows as f64 },
            least_moves: least(&keys),
            excess: sum(true, false),
            unplaced: keys.1[last],
            bad_rows,
            bytes: self.total_bytes.map(|total| u64::try_from(total).unwrap_or(u64::MAX)),
            moved_bytes: sized(sum(false, true)),
            least_moves_bytes: sized(least(&bytes)),
            excess_bytes: sized(sum(true, true)),
            from: Side::new(from.nodes().len(), self.eligible.0, self.rows, keys.0[last], &loads(&keys.0, from)),
            to: Side::new(to.nodes().len(), self.eligible.1, self.rows, keys.1[last], &loads(&keys.1, to)),
        }
    }
}

/// Amounts per node before, and after: without what flows out and with what flows in.
fn sides(before: &[u64], flows: impl Iterator<Item = (usize, usize, u64)>) -> (Vec<u64>, Vec<u64>) {
    let mut after = before.to_vec();
    for (from, to, amount) in flows {
        // Sums that somebody made up could take away more than there is.
        after[from] = after[from].saturating_sub(amount);
        after[to] = after[to].saturating_add(amount);
    }
    (before.to_vec(), after)
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
