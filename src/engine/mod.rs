//! The engine: takes batches and streams of keys of any length, and runs them through a backend in chunks.

mod assign;
mod backend;
mod resolve;
mod scalar;
mod stream;

use std::num::NonZero;

pub use assign::{BoundedLoads, WholeSet, capacities};
pub use backend::{Backend, Chunk, ChunkKeys, Counts, Done, Job, NodeSpace, Session, Ticket, Want};
pub use stream::{Costs, StreamReport};

pub use crate::clock::{Cost, Stopwatch, process_time, thread_time};
use crate::error::{ErrorKind, Result};
use crate::keys::Keys;
use crate::placement::{NodeId, Placement};
use resolve::{Totals, behind, resolve};
use scalar::Scalar;

/// Keys per chunk unless the builder says otherwise.
const CHUNK_KEYS: usize = 65_536;

/// Resolves batches of keys on all processors.
///
/// Neither the number of threads nor the size of chunks changes a result.
///
/// ```
/// use rehome::{Cluster, Engine, Node, NodeId};
///
/// let cluster = Cluster::builder("dx")?.slots(16).nodes((0..10).map(|i| Node::new(format!("node-{i}")))).build()?;
/// let placement = cluster.placement()?;
/// let engine = Engine::builder().threads(2).build()?;
///
/// let keys: Vec<u64> = (0..1000).collect();
/// let mut nodes = vec![NodeId::NONE; keys.len()];
/// engine.locate(&placement, &keys, &mut nodes)?;
/// assert_eq!(engine.count(&placement, &keys)?.per_node.iter().sum::<u64>(), 1000);
/// # Ok::<(), rehome::Error>(())
/// ```
#[derive(Debug)]
pub struct Engine {
    backend: Scalar,
    chunk_keys: usize,
}

/// Options of an [`Engine`].
#[derive(Clone, Copy, Debug, Default)]
pub struct EngineBuilder {
    threads: Option<NonZero<usize>>,
    chunk_keys: Option<NonZero<usize>>,
}

impl EngineBuilder {
    /// Threads that hash and place (default, and 0: as many as there are processors).
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = NonZero::new(threads);
        self
    }

    /// Keys per chunk of a batch (default, and 0: 65,536).
    #[must_use]
    pub fn chunk_keys(mut self, keys: usize) -> Self {
        self.chunk_keys = NonZero::new(keys);
        self
    }

    /// The engine.
    ///
    /// # Errors
    /// If the threads cannot be started.
    pub fn build(self) -> Result<Engine> {
        let threads = self.threads.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZero::get);
        Ok(Engine { backend: Scalar::new(threads)?, chunk_keys: self.chunk_keys.map_or(CHUNK_KEYS, NonZero::get) })
    }
}

impl Engine {
    /// Starts the description of an engine.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// The backend that resolves chunks.
    pub fn backend(&self) -> &dyn Backend {
        &self.backend
    }

    /// The threads that hash and place.
    pub fn threads(&self) -> usize {
        self.backend.pool().current_num_threads()
    }

    /// Runs work on the engine's threads, so that rayon's parallel iterators inside use them and no others.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.backend.pool().install(work)
    }

    /// The node of every key: `nodes[i]` becomes the node of key `i`.
    ///
    /// [`NodeId::NONE`] only where the specification says so: no node is eligible, or `dx-crc32c` gave up.
    ///
    /// # Complexity
    /// O(keys * mean search length), over all threads.
    ///
    /// # Errors
    /// If the lengths differ, or at a key that the placement does not take (`nodes` is then unspecified).
    pub fn locate<'k>(&self, placement: &Placement, keys: impl Into<Keys<'k>>, nodes: &mut [NodeId]) -> Result<()> {
        self.batch(placement, keys.into(), Want::Nodes, nodes).map(drop)
    }

    /// `replicas` nodes for every key, best first: those of key `i` are `nodes[i * replicas..(i + 1) * replicas]`.
    ///
    /// Distinct nodes; [`NodeId::NONE`] at the end where fewer are eligible.
    ///
    /// # Errors
    /// If the algorithm has no preference list, `nodes` is not `replicas` times as long as the keys, or a key is
    /// refused.
    pub fn replicas<'k>(
        &self,
        placement: &Placement,
        keys: impl Into<Keys<'k>>,
        replicas: usize,
        nodes: &mut [NodeId],
    ) -> Result<()> {
        placement.cluster().algorithm().need_list()?;
        self.batch(placement, keys.into(), Want::Replicas(replicas), nodes).map(drop)
    }

    /// How many of the keys each node has.
    ///
    /// # Errors
    /// At a key that the placement does not take.
    pub fn count<'k>(&self, placement: &Placement, keys: impl Into<Keys<'k>>) -> Result<Counts> {
        self.batch(placement, keys.into(), Want::Counts, &mut [])
    }

    /// Cuts a batch into chunks, lends each its part of `nodes`, and waits for all.
    fn batch(&self, placement: &Placement, keys: Keys<'_>, want: Want, nodes: &mut [NodeId]) -> Result<Counts> {
        let per_key = want.nodes_per_key();
        let space = keys.len().checked_mul(per_key);
        if space != Some(nodes.len()) {
            let (expected, found) = (space.map_or(u64::MAX, |space| space as u64), nodes.len() as u64);
            return Err(ErrorKind::Mismatch { what: "space for nodes", expected, found }.into());
        }
        let job = Job { placements: vec![placement.clone()], want };
        // A batch of one chunk is not worth waking a thread.
        if keys.len() <= self.chunk_keys {
            let totals = Totals::default();
            let chunk = Chunk { keys: ChunkKeys::Borrowed(keys), nodes: vec![NodeSpace::Lent(nodes)] };
            resolve(&job, chunk, &totals)?;
            return Ok(totals.sum(&job).swap_remove(0));
        }
        let mut spaces = nodes.chunks_mut((self.chunk_keys * per_key).max(1));
        let mut counts = self.backend.session(&job, &mut |session| {
            let mut tickets = Vec::new();
            for start in (0..keys.len()).step_by(self.chunk_keys) {
                let end = keys.len().min(start + self.chunk_keys);
                let space = spaces.next().unwrap_or(&mut []);
                let keys = ChunkKeys::Borrowed(keys.slice(start, end));
                tickets.push((start, session.submit(Chunk { keys, nodes: vec![NodeSpace::Lent(space)] })?));
            }
            for (start, ticket) in tickets {
                session.collect(ticket).map_err(|error| behind(error, start))?;
            }
            Ok(())
        })?;
        Ok(counts.swap_remove(0))
    }
}
