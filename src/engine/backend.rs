//! What a backend is: something that takes numbered chunks of keys, several at a time, and gives their nodes back.

use std::sync::Arc;

use crate::clock::Cost;
use crate::error::Result;
use crate::keys::{KeyColumn, Keys};
use crate::placement::{NodeId, Placement};

/// What is wanted of every chunk of a stream of keys.
#[derive(Clone, Debug)]
pub struct Job {
    /// The placements that every key is looked up in: one, or two for a plan.
    pub placements: Vec<Placement>,
    /// What to give back.
    pub want: Want,
}

/// What a job gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// The node of every key.
    Nodes,
    /// This many nodes for every key, best first; [`NodeId::NONE`] where there are fewer.
    Replicas(usize),
    /// How many keys each node has, and nothing per key.
    Counts,
}

impl Want {
    /// Nodes given back per key.
    pub fn nodes_per_key(self) -> usize {
        match self {
            Self::Nodes => 1,
            Self::Replicas(replicas) => replicas,
            Self::Counts => 0,
        }
    }
}

/// Keys per node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Keys of each node, by its position.
    pub per_node: Vec<u64>,
    /// Keys that have no node.
    pub unplaced: u64,
}

impl Counts {
    /// No keys on `nodes` nodes.
    pub fn new(nodes: usize) -> Self {
        Self { per_node: vec![0; nodes], unplaced: 0 }
    }

    /// Counts one more key, or any amount of something, on a node.
    pub fn add(&mut self, node: NodeId, amount: u64) {
        match node.index() {
            Some(index) => self.per_node[index] += amount,
            None => self.unplaced += amount,
        }
    }

    /// Adds the counts of other keys on the same nodes.
    pub(super) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.per_node.iter_mut().zip(&other.per_node) {
            *mine += theirs;
        }
        self.unplaced += other.unplaced;
    }
}

/// The keys of a chunk: borrowed for a call, or owned by a stream and shared between its threads.
#[derive(Clone)]
pub enum ChunkKeys<'a> {
    /// A borrowed column.
    Borrowed(Keys<'a>),
    /// A column of a stream.
    Shared(Arc<dyn KeyColumn + 'a>),
}

impl ChunkKeys<'_> {
    /// The keys as placement `side` reads them.
    pub fn keys(&self, side: usize) -> Keys<'_> {
        match self {
            Self::Borrowed(keys) => *keys,
            Self::Shared(column) => column.keys(side),
        }
    }
}

/// Where the nodes of a chunk go.
pub enum NodeSpace<'a> {
    /// Into a slice of the caller.
    Lent(&'a mut [NodeId]),
    /// Into a buffer that comes back with the result.
    Owned(Vec<NodeId>),
}

impl NodeSpace<'_> {
    /// The nodes, in the order of the keys.
    pub fn as_mut_slice(&mut self) -> &mut [NodeId] {
        match self {
            Self::Lent(nodes) => nodes,
            Self::Owned(nodes) => nodes,
        }
    }
}

/// Some keys of a job, and space for [`Want::nodes_per_key`] nodes for each of them, per placement.
pub struct Chunk<'a> {
    /// The keys.
    pub keys: ChunkKeys<'a>,
    /// One space per placement of the job.
    pub nodes: Vec<NodeSpace<'a>>,
}

/// A chunk whose nodes are there, and what they cost.
pub struct Done<'a> {
    /// The chunk.
    pub chunk: Chunk<'a>,
    /// Time taken by hashing its keys.
    pub hash: Cost,
    /// Time taken by placing them.
    pub place: Cost,
}

/// The number of a submitted chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket(pub(super) u64);

/// One job in the hands of a backend.
pub trait Session<'a> {
    /// Hands a chunk over. Returns at once; how many are in flight is for the caller to limit.
    ///
    /// # Errors
    /// A chunk whose space does not fit its keys, or a backend that is gone.
    fn submit(&mut self, chunk: Chunk<'a>) -> Result<Ticket>;

    /// Waits for a chunk. Tickets may be collected in any order, each once.
    ///
    /// # Errors
    /// A key that the placement does not take, or a backend that failed.
    fn collect(&mut self, ticket: Ticket) -> Result<Done<'a>>;
}

/// What resolves chunks of keys. The choice never changes a result.
pub trait Backend: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Runs a job: `run` submits and collects its chunks. Gives the counts of all of them, per placement, if that is
    /// what the job wants.
    ///
    /// # Errors
    /// Whatever `run` returns.
    fn session<'a>(
        &'a self,
        job: &'a Job,
        run: &mut dyn FnMut(&mut dyn Session<'a>) -> Result<()>,
    ) -> Result<Vec<Counts>>;
}
