//! The scalar backend: chunks are resolved by plain integer code on a pool of threads.

use std::any::Any;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

use super::backend::{Backend, Chunk, Counts, Done, Job, Session, Ticket, Want};
use super::clock::{Cost, Stopwatch};
use crate::error::{Error, ErrorKind, Result};
use crate::placement::NodeId;

/// Keys that are hashed and then placed while their words are in the first caches.
const STRIP: usize = 4096;

/// Plain integer code on a pool of threads.
#[derive(Debug)]
pub(super) struct Scalar {
    pool: rayon::ThreadPool,
}

impl Scalar {
    pub(super) fn new(threads: usize) -> Result<Self> {
        let name = |index| format!("rehome-{index}");
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(name)
            .build()
            .map(|pool| Self { pool })
            .map_err(|error| Error::invalid(format!("cannot start {threads} threads: {error}"), "use fewer threads"))
    }

    pub(super) fn pool(&self) -> &rayon::ThreadPool {
        &self.pool
    }
}

impl Backend for Scalar {
    fn name(&self) -> &'static str {
        "scalar"
    }

    fn session<'a>(
        &'a self,
        job: &'a Job,
        run: &mut dyn FnMut(&mut dyn Session<'a>) -> Result<()>,
    ) -> Result<Vec<Counts>> {
        let totals = Totals::default();
        self.pool.in_place_scope(|scope| {
            let (sender, receiver) = channel();
            let mut session =
                PoolSession { scope, job, totals: &totals, sender, receiver, early: HashMap::new(), submitted: 0 };
            run(&mut session)
        })?;
        Ok(totals.sum(job))
    }
}

/// A finished chunk, or what its thread panicked with.
type Outcome<'a> = std::result::Result<Result<Done<'a>>, Box<dyn Any + Send>>;

struct PoolSession<'s, 'scope, 'a> {
    scope: &'s rayon::Scope<'scope>,
    job: &'a Job,
    totals: &'scope Totals,
    sender: Sender<(u64, Outcome<'a>)>,
    receiver: Receiver<(u64, Outcome<'a>)>,
    /// Results that came before their ticket was collected.
    early: HashMap<u64, Outcome<'a>>,
    submitted: u64,
}

impl<'scope, 'a: 'scope> Session<'a> for PoolSession<'_, 'scope, 'a> {
    fn submit(&mut self, chunk: Chunk<'a>) -> Result<Ticket> {
        let number = self.submitted;
        self.submitted += 1;
        let (job, totals, sender) = (self.job, self.totals, self.sender.clone());
        self.scope.spawn(move |_| {
            let outcome = catch_unwind(AssertUnwindSafe(|| resolve(job, chunk, totals)));
            // The session may have ended on an error; then nobody waits.
            let _ = sender.send((number, outcome));
        });
        Ok(Ticket(number))
    }

    fn collect(&mut self, ticket: Ticket) -> Result<Done<'a>> {
        loop {
            if let Some(outcome) = self.early.remove(&ticket.0) {
                return outcome.unwrap_or_else(|panic| resume_unwind(panic));
            }
            let (number, outcome) = self
                .receiver
                .recv()
                .map_err(|_| Error::invalid("the threads that place keys are gone", "this is a bug: please report it"))?;
            self.early.insert(number, outcome);
        }
    }
}

/// Fills the space of a chunk.
pub(super) fn resolve<'a>(job: &Job, mut chunk: Chunk<'a>, totals: &Totals) -> Result<Done<'a>> {
    let (mut hash, mut place) = (Cost::default(), Cost::default());
    let mut watch = Stopwatch::start();
    let per_key = job.want.nodes_per_key();
    let mut words = [0; STRIP];
    let mut strip_nodes = [NodeId::NONE; STRIP];
    let mut counts = (job.want == Want::Counts).then(|| totals.take(job));
    let length = chunk.keys.keys(0).len();
    check_space(job, &mut chunk, length)?;
    for start in (0..length).step_by(STRIP) {
        let end = length.min(start + STRIP);
        let words = &mut words[..end - start];
        for (side, placement) in job.placements.iter().enumerate() {
            let keys = chunk.keys.keys(side);
            // Words of the first side serve the second if both hash the same keys alike.
            let known = side > 0
                && keys.same_column(&chunk.keys.keys(side - 1))
                && placement.hasher() == job.placements[side - 1].hasher();
            if !known {
                placement.hasher().words(keys.slice(start, end), words).map_err(|error| behind(error, start))?;
                hash += watch.lap();
            }
            match job.want {
                Want::Nodes => {
                    let nodes = &mut chunk.nodes[side].as_mut_slice()[start..end];
                    placement.lookup().locate_batch(words, nodes);
                }
                Want::Replicas(replicas) => {
                    let nodes = &mut chunk.nodes[side].as_mut_slice()[start * per_key..end * per_key];
                    for (word, nodes) in words.iter().zip(nodes.chunks_mut(replicas.max(1))) {
                        placement.replicas(*word, nodes)?;
                    }
                }
                Want::Counts => {
                    let nodes = &mut strip_nodes[..end - start];
                    placement.lookup().locate_batch(words, nodes);
                    if let Some(counts) = &mut counts {
                        nodes.iter().for_each(|node| counts[side].add(*node, 1));
                    }
                }
            }
            place += watch.lap();
        }
    }
    if let Some(counts) = counts {
        totals.give_back(counts);
    }
    Ok(Done { chunk, hash, place })
}

/// Fails unless both sides have the same keys and the spaces fit them.
fn check_space(job: &Job, chunk: &mut Chunk<'_>, length: usize) -> Result<()> {
    let mismatch = |what, expected, found| {
        let (expected, found) = (expected as u64, found as u64);
        Err(ErrorKind::Mismatch { what, expected, found }.into())
    };
    for side in 0..job.placements.len() {
        let keys = chunk.keys.keys(side).len();
        if keys != length {
            return mismatch("keys of the second side", length, keys);
        }
        if job.want != Want::Counts {
            let wanted = length * job.want.nodes_per_key();
            let space = chunk.nodes.get_mut(side).map_or(0, |nodes| nodes.as_mut_slice().len());
            if space != wanted {
                return mismatch("space for nodes", wanted, space);
            }
        }
    }
    Ok(())
}

/// A key error of a strip, said of the whole chunk.
pub(super) fn behind(error: Error, start: usize) -> Error {
    match error.kind() {
        ErrorKind::Key { index, key, reason } => {
            ErrorKind::Key { index: index + start as u64, key: key.clone(), reason }.into()
        }
        _ => error,
    }
}

/// Counts of a job, kept apart per thread that is at work, so that a chunk costs nothing per node.
#[derive(Debug, Default)]
pub(super) struct Totals {
    idle: Mutex<Vec<Vec<Counts>>>,
}

impl Totals {
    fn take(&self, job: &Job) -> Vec<Counts> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(|| no_counts(job))
    }

    fn give_back(&self, counts: Vec<Counts>) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(counts);
    }

    pub(super) fn sum(self, job: &Job) -> Vec<Counts> {
        let mut sums = no_counts(job);
        for counts in self.idle.into_inner().unwrap_or_else(PoisonError::into_inner) {
            sums.iter_mut().zip(&counts).for_each(|(sum, counts)| sum.merge(counts));
        }
        sums
    }
}

fn no_counts(job: &Job) -> Vec<Counts> {
    job.placements.iter().map(|placement| Counts::new(placement.nodes())).collect()
}
