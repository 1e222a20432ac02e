//! One algorithm of a comparison: its two placements, and what is counted of them.

use std::time::{Duration, Instant};

use super::row::{Figures, nodes};
use crate::clock::{Stopwatch, process_time};
use crate::cluster::Cluster;
use crate::engine::{Chunk, ChunkKeys, Costs, Engine, Job, NodeSpace, Want};
use crate::error::Result;
use crate::placement::{NodeId, Placement};
use crate::plan::Tally;

/// Two placements, and all keys so far in both.
#[derive(Debug)]
pub(super) struct Trial {
    job: Job,
    tally: Tally,
    costs: Costs,
    memory_bytes: u64,
    build: Duration,
}

/// The most times that a cluster is compiled, and how long that may take before once more is too much.
const BUILDS: (usize, Duration) = (5, Duration::from_millis(100));

impl Trial {
    /// Compiles both clusters; the second one a few times, if that is quick, for the median.
    pub(super) fn new(from: &Cluster, to: &Cluster) -> Result<Self> {
        let before = from.placement()?;
        let started = Instant::now();
        let (after, first) = timed(to)?;
        let mut times = vec![first];
        while times.len() < BUILDS.0 && started.elapsed() < BUILDS.1 {
            times.push(timed(to)?.1);
        }
        times.sort_unstable();
        Ok(Self {
            memory_bytes: after.memory_bytes(),
            job: Job { placements: vec![before, after], want: Want::Nodes },
            tally: Tally::new(from, to),
            costs: Costs::default(),
            build: times[times.len() / 2],
        })
    }

    /// Places chunks of keys in both, on the engine's threads, and counts them in order.
    pub(super) fn add(&mut self, engine: &Engine, chunks: &[ChunkKeys<'_>]) -> Result<()> {
        let Self { job, tally, costs, .. } = self;
        let counted = engine.backend().session(job, &mut |session| {
            let mut tickets = Vec::with_capacity(chunks.len());
            for keys in chunks {
                let space = || NodeSpace::Owned(vec![NodeId::NONE; keys.keys(0).len()]);
                tickets.push(session.submit(Chunk { keys: keys.clone(), nodes: vec![space(), space()] })?);
            }
            for ticket in tickets {
                let mut done = session.collect(ticket)?;
                costs.hash += done.hash;
                costs.place += done.place;
                let mut watch = Stopwatch::start();
                if let [before, after] = &mut done.chunk.nodes[..] {
                    tally.add(before.as_mut_slice(), after.as_mut_slice(), None, |_| ())?;
                }
                costs.write += watch.lap();
            }
            Ok(())
        });
        counted.map(drop)
    }

    /// What hashing, placing and counting cost so far.
    pub(super) fn costs(&self) -> Costs {
        self.costs
    }

    /// What all keys so far came to.
    pub(super) fn figures(&self) -> Figures {
        let summary = self.tally.summary(0);
        let keys = summary.keys;
        let seconds = self.costs.place.cpu.as_secs_f64();
        Figures {
            keys,
            moved: summary.moved,
            moved_fraction: summary.moved_fraction,
            ideal: summary.least_moves,
            ideal_fraction: if keys == 0 { 0.0 } else { summary.least_moves as f64 / keys as f64 },
            excess: summary.excess,
            max_over_avg: summary.to.max_over_avg,
            cv: summary.to.cv,
            max_over_avg_before: summary.from.max_over_avg,
            cv_before: summary.from.cv,
            max_over_avg_after: summary.to.max_over_avg,
            cv_after: summary.to.cv,
            memory_bytes: self.memory_bytes,
            build_seconds: self.build.as_secs_f64(),
            // Every key is placed twice.
            keys_per_second: (keys > 0 && seconds > 0.0).then(|| 2.0 * keys as f64 / seconds),
            unplaced: summary.unplaced,
            nodes: nodes(&self.tally, &summary),
        }
    }
}

/// Compiles a cluster, and says the processor time that it took on all threads; time by the wall where the system has no such clock.
fn timed(cluster: &Cluster) -> Result<(Placement, Duration)> {
    let (wall, cpu) = (Instant::now(), process_time());
    let placement = cluster.placement()?;
    let wall = wall.elapsed();
    let time = cpu.zip(process_time()).map_or(wall, |(start, end)| end.saturating_sub(start));
    Ok((placement, time))
}
