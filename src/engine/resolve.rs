//! One chunk: its keys are hashed and placed in strips, while the words of a strip are in the caches.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use super::backend::{Chunk, Counts, Done, Job, NodeSpace, Want};
use crate::clock::{Cost, Stopwatch};
use crate::error::{Error, ErrorKind, Result};
use crate::keys::Keys;
use crate::placement::{NodeId, Placement, Words};

/// Keys of a strip: enough that a kernel's start costs nothing, few enough for the second-level cache.
const STRIP: usize = 16_384;

/// Memory of a thread that is used again for every strip.
struct Scratch {
    words: Vec<u64>,
    nodes: Vec<NodeId>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> =
        RefCell::new(Scratch { words: vec![0; STRIP], nodes: vec![NodeId::NONE; STRIP] });
}

/// Fills the space of a chunk.
pub(super) fn resolve<'a>(job: &Job, mut chunk: Chunk<'a>, totals: &Totals) -> Result<Done<'a>> {
    let Chunk { keys, nodes } = &mut chunk;
    // Asked for once: a column of bytes is checked every time.
    let columns: Vec<Keys<'_>> = (0..job.placements.len()).map(|side| keys.keys(side)).collect();
    let length = columns.first().map_or(0, Keys::len);
    check_space(job, &columns, nodes, length)?;
    let mut strips = Strips {
        job,
        columns: &columns,
        counts: if job.want == Want::Counts { totals.take(job) } else { Vec::new() },
        hash: Cost::default(),
        place: Cost::default(),
    };
    SCRATCH.with_borrow_mut(|scratch| {
        for start in (0..length).step_by(STRIP) {
            strips.strip(nodes, start, length.min(start + STRIP), scratch)?;
        }
        Ok::<(), Error>(())
    })?;
    let Strips { counts, hash, place, .. } = strips;
    if job.want == Want::Counts {
        totals.give_back(counts);
    }
    Ok(Done { chunk, hash, place })
}

/// The strips of a chunk, and what they came to so far.
struct Strips<'j> {
    job: &'j Job,
    columns: &'j [Keys<'j>],
    counts: Vec<Counts>,
    hash: Cost,
    place: Cost,
}

impl Strips<'_> {
    /// Keys `start..end`, on every side.
    fn strip(&mut self, spaces: &mut [NodeSpace<'_>], start: usize, end: usize, scratch: &mut Scratch) -> Result<()> {
        let mut watch = Stopwatch::start();
        let per_key = self.job.want.nodes_per_key();
        let words = &mut scratch.words[..end - start];
        for (side, placement) in self.job.placements.iter().enumerate() {
            let keys = self.columns[side].slice(start, end);
            let fused = keys.as_integers().zip(placement.hasher().mixed_integers()).filter(|_| self.may_fuse());
            if fused.is_none() && !self.has_words(side) {
                placement.hasher().words(keys, words).map_err(|error| behind(error, start))?;
                self.hash += watch.lap();
            }
            let nodes = match self.job.want {
                Want::Counts => &mut scratch.nodes[..end - start],
                _ => &mut spaces[side].as_mut_slice()[start * per_key..end * per_key],
            };
            match (self.job.want, fused) {
                (Want::Replicas(replicas), _) => {
                    for (word, nodes) in words.iter().zip(nodes.chunks_mut(replicas.max(1))) {
                        placement.replicas(*word, nodes)?;
                    }
                }
                (_, Some((keys, mixed))) => placement.lookup().locate_batch(Words::OfIntegers { keys, mixed }, nodes),
                (_, None) => placement.lookup().locate_batch(Words::Known(words), nodes),
            }
            if let Some(counts) = self.counts.get_mut(side) {
                nodes.iter().for_each(|node| counts.add(*node, 1));
            }
            self.place += watch.lap();
        }
        Ok(())
    }

    /// Whether nobody else needs the words, so that a kernel can make them as it goes.
    fn may_fuse(&self) -> bool {
        self.job.placements.len() == 1 && !matches!(self.job.want, Want::Replicas(_))
    }

    /// Whether the words of the side before serve this one: both hash the same keys alike.
    fn has_words(&self, side: usize) -> bool {
        side > 0
            && self.columns[side].same_column(&self.columns[side - 1])
            && self.job.placements[side].hasher() == self.job.placements[side - 1].hasher()
    }
}

/// Fails unless both sides have the same keys and the spaces fit them.
fn check_space(job: &Job, columns: &[Keys<'_>], spaces: &mut [NodeSpace<'_>], length: usize) -> Result<()> {
    let mismatch = |what, expected, found| {
        let (expected, found) = (expected as u64, found as u64);
        Err(ErrorKind::Mismatch { what, expected, found }.into())
    };
    for (side, keys) in columns.iter().enumerate() {
        if keys.len() != length {
            return mismatch("keys of the second side", length, keys.len());
        }
        if job.want != Want::Counts {
            let wanted = length * job.want.nodes_per_key();
            let space = spaces.get_mut(side).map_or(0, |nodes| nodes.as_mut_slice().len());
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
    let nodes = |placement: &Placement| if job.want == Want::Counts { placement.nodes() } else { 0 };
    job.placements.iter().map(|placement| Counts::new(nodes(placement))).collect()
}
