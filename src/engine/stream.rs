//! Streams: keys are read, placed and consumed in order, each on threads of its own, with a bounded number in flight.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};

use super::Engine;
use super::backend::{Backend, Chunk, ChunkKeys, Counts, Job, NodeSpace, Session, Ticket, Want};
use crate::clock::{Cost, Stopwatch};
use crate::error::Result;
use crate::keys::KeyColumn;
use crate::placement::NodeId;

/// Chunks that wait between two stages: enough to hide hiccups, few enough to bound memory.
const WAITING: usize = 2;

/// Time per stage, summed over threads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Costs {
    /// Getting chunks from the source.
    pub read: Cost,
    /// Hashing keys.
    pub hash: Cost,
    /// Placing them.
    pub place: Cost,
    /// Consuming the results.
    pub write: Cost,
}

/// What a stream did.
#[derive(Clone, Debug, Default)]
pub struct StreamReport {
    /// Keys that went through.
    pub keys: u64,
    /// Time per stage.
    pub costs: Costs,
    /// Counts per placement, if that is what the job wanted.
    pub counts: Vec<Counts>,
}

/// A chunk on its way to the sink.
struct Placed<C> {
    column: Arc<C>,
    nodes: Vec<Vec<NodeId>>,
    hash: Cost,
    place: Cost,
}

impl Engine {
    /// Runs a stream of key columns through a job. The sink sees every column with its nodes, one vector per placement
    /// ([`Want::nodes_per_key`] per key), in the order of the source, whatever the threads do.
    ///
    /// The source runs on a thread of its own, the sink on this one. Memory is bounded by a few chunks per thread.
    ///
    /// # Errors
    /// The first error of the source, of a chunk, or of the sink; the sink is not called again after one.
    pub fn stream<C: KeyColumn + 'static>(
        &self,
        job: &Job,
        source: impl Iterator<Item = Result<C>> + Send,
        mut sink: impl FnMut(&C, &[Vec<NodeId>]) -> Result<()>,
    ) -> Result<StreamReport> {
        let (chunk_sender, chunks) = sync_channel(WAITING);
        let (placed_sender, placed) = sync_channel(WAITING);
        let (spare_sender, spare) = channel();
        std::thread::scope(|scope| {
            let reader = scope.spawn(move || read_all(source, &chunk_sender));
            let placer = scope.spawn(move || self.place_all(job, chunks, &placed_sender, &spare));
            let mut report = StreamReport::default();
            let consumed = consume_all(placed, &spare_sender, &mut report, &mut sink);
            // An error of the sink has dropped the channel, so the stages before it end by themselves.
            let read = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let counts = placer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            consumed?;
            report.counts = counts?;
            report.costs.read = read;
            Ok(report)
        })
    }

    /// The middle stage: keeps chunks in flight and passes them on in order.
    fn place_all<C: KeyColumn + 'static>(
        &self,
        job: &Job,
        chunks: Receiver<Result<C>>,
        placed: &SyncSender<Result<Placed<C>>>,
        spare: &Receiver<Vec<NodeId>>,
    ) -> Result<Vec<Counts>> {
        let in_flight = self.threads() + 1;
        let mut waiting: VecDeque<(Arc<C>, Ticket)> = VecDeque::new();
        self.backend.session(job, &mut |session| {
            let pass_on = |session: &mut dyn Session<'_>, (column, ticket): (Arc<C>, Ticket)| {
                let result = session.collect(ticket).map(|done| {
                    let nodes = done.chunk.nodes.into_iter().map(into_owned).collect();
                    Placed { column, nodes, hash: done.hash, place: done.place }
                });
                let failed = result.is_err();
                // A sink that is gone has its own error to tell.
                placed.send(result).is_ok() && !failed
            };
            let mut ended = Ok(());
            loop {
                // A source that keeps us waiting must not keep the sink waiting too.
                let next = match chunks.try_recv() {
                    Err(TryRecvError::Empty) if waiting.is_empty() => chunks.recv().map_err(TryRecvError::from),
                    next => next,
                };
                match next {
                    Err(TryRecvError::Empty) => {}
                    Err(TryRecvError::Disconnected) => break,
                    Ok(Err(error)) => {
                        ended = Err(error);
                        break;
                    }
                    Ok(Ok(column)) => {
                        let column = Arc::new(column);
                        let length = column.keys(0).len() * job.want.nodes_per_key();
                        let nodes = job.placements.iter().map(|_| space(job.want, spare, length)).collect();
                        let keys = ChunkKeys::Shared(Arc::clone(&column) as Arc<dyn KeyColumn>);
                        waiting.push_back((column, session.submit(Chunk { keys, nodes })?));
                        if waiting.len() < in_flight {
                            continue;
                        }
                    }
                }
                if let Some(next) = waiting.pop_front()
                    && !pass_on(session, next)
                {
                    return Ok(());
                }
            }
            for next in waiting.drain(..) {
                if !pass_on(session, next) {
                    return Ok(());
                }
            }
            if let Err(error) = ended {
                let _ = placed.send(Err(error));
            }
            Ok(())
        })
    }
}

/// The first stage. Returns what it cost.
fn read_all<C>(source: impl Iterator<Item = Result<C>>, chunks: &SyncSender<Result<C>>) -> Cost {
    let mut cost = Cost::default();
    let mut source = source;
    loop {
        let mut watch = Stopwatch::start();
        let next = source.next();
        cost += watch.lap();
        let Some(chunk) = next else { return cost };
        let failed = chunk.is_err();
        if chunks.send(chunk).is_err() || failed {
            return cost;
        }
    }
}

/// The last stage: hands chunks to the sink and their buffers back.
fn consume_all<C: KeyColumn>(
    placed: Receiver<Result<Placed<C>>>,
    spare: &Sender<Vec<NodeId>>,
    report: &mut StreamReport,
    sink: &mut impl FnMut(&C, &[Vec<NodeId>]) -> Result<()>,
) -> Result<()> {
    for next in placed {
        let next = next?;
        report.keys += next.column.keys(0).len() as u64;
        report.costs.hash += next.hash;
        report.costs.place += next.place;
        let mut watch = Stopwatch::start();
        sink(&next.column, &next.nodes)?;
        report.costs.write += watch.lap();
        // Counts need no buffers, and nobody would take them.
        for nodes in next.nodes.into_iter().filter(|nodes| nodes.capacity() > 0) {
            let _ = spare.send(nodes);
        }
    }
    Ok(())
}

/// A buffer of this many nodes: one that the sink is done with, if there is one.
fn space<'a>(want: Want, spare: &Receiver<Vec<NodeId>>, length: usize) -> NodeSpace<'a> {
    let mut nodes = if want == Want::Counts { Vec::new() } else { spare.try_recv().unwrap_or_default() };
    nodes.resize(length, NodeId::NONE);
    NodeSpace::Owned(nodes)
}

fn into_owned(space: NodeSpace<'_>) -> Vec<NodeId> {
    match space {
        NodeSpace::Owned(nodes) => nodes,
        NodeSpace::Lent(nodes) => nodes.to_vec(),
    }
}
