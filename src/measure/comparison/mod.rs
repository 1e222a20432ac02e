//! One set of keys through many algorithms before and after one change: what moves, how evenly keys lie, what it costs.
//!
//! The question is that of the page consistent-hash-lab: every algorithm places all keys on n nodes, and again after the
//! change. Moves, excess and balance are counted by the plans' own [`Tally`](crate::plan::Tally), so
//! that a comparison never says something else than the plan that is then made.

mod change;
mod row;
mod trial;

use std::sync::Arc;

pub use change::{Change, MOST_NODES};
pub use row::{Figures, MOST_LISTED, NodeKeys, Row};

use crate::algorithm::Algorithm;
use crate::cluster::Cluster;
use crate::engine::{ChunkKeys, Costs, Engine};
use crate::error::{Error, ErrorKind, Result};
use crate::keys::{KeyColumn, Keys};
use trial::Trial;

/// Keys of a borrowed batch that one thread places at a time.
const CHUNK_KEYS: usize = 65_536;

/// Algorithms side by side. Keys come in batches, each batch goes through every algorithm, and nothing is kept per key.
///
/// An algorithm that refuses the change or a key is out from then on; its [`Row`] has the reason, and the others go on.
///
/// # Complexity
/// Two lookups per key and algorithm; the memory of two placements, and of the descriptions of their clusters, per
/// algorithm.
///
/// ```
/// use rehome::algorithms;
/// use rehome::measure::{Change, Comparison};
///
/// let engine = rehome::Engine::builder().build()?;
/// let mut comparison = Comparison::of(&Change::of(10).join(1), algorithms().iter().copied(), |_| Ok(()))?;
/// comparison.add(&engine, &(0..11_000).collect::<Vec<u64>>())?;
/// let dx = comparison.rows().swap_remove(0);
/// assert_eq!((dx.algorithm.as_str(), dx.figures.map(|figures| figures.excess)), ("dx", Some(0)));
/// # Ok::<(), rehome::Error>(())
/// ```
#[derive(Debug)]
pub struct Comparison {
    entries: Vec<Entry>,
}

/// An algorithm, and the reason why it is out if it is.
#[derive(Debug)]
struct Entry {
    name: String,
    state: std::result::Result<Box<Trial>, String>,
}

impl Comparison {
    /// A change of equal nodes under these algorithms, with their defaults. Every cluster is shown to `affords` before
    /// it is compiled, which may refuse it, for instance by its [estimate](Cluster::placement_estimate).
    ///
    /// # Errors
    /// A change that makes no sense under any algorithm, as [`Change::check`] says. What one algorithm refuses, and
    /// why `affords` does, is the reason of its row.
    pub fn of(
        change: &Change,
        algorithms: impl IntoIterator<Item = &'static Algorithm>,
        affords: impl Fn(&Cluster) -> Result<()>,
    ) -> Result<Self> {
        change.check()?;
        let entry = |algorithm: &'static Algorithm| {
            let trial = change.clusters(algorithm).and_then(|(from, to)| {
                affords(&from).and_then(|()| affords(&to))?;
                Trial::new(&from, &to)
            });
            let state = trial.map(Box::new).map_err(|error| error.to_string());
            Entry { name: algorithm.name.to_owned(), state }
        };
        Ok(Self { entries: algorithms.into_iter().map(entry).collect() })
    }

    /// The change from one described cluster to another: one row. If their algorithms differ it is named after both.
    ///
    /// # Errors
    /// A cluster that cannot be compiled.
    pub fn between(from: &Cluster, to: &Cluster) -> Result<Self> {
        let (first, second) = (from.algorithm().name, to.algorithm().name);
        let name = if first == second { first.to_owned() } else { format!("{first} to {second}") };
        Ok(Self { entries: vec![Entry { name, state: Ok(Box::new(Trial::new(from, to)?)) }] })
    }

    /// Whether no algorithm is left that takes keys.
    pub fn is_over(&self) -> bool {
        self.entries.iter().all(|entry| entry.state.is_err())
    }

    /// Adds a batch of keys.
    ///
    /// # Errors
    /// None because of a key: that is the reason of a row. The backend may fail.
    pub fn add<'k>(&mut self, engine: &Engine, keys: impl Into<Keys<'k>>) -> Result<()> {
        let keys = keys.into();
        let starts = (0..keys.len()).step_by(CHUNK_KEYS);
        let piece = |start: usize| ChunkKeys::Borrowed(keys.slice(start, keys.len().min(start + CHUNK_KEYS)));
        self.add_chunks(engine, &starts.map(piece).collect::<Vec<_>>())
    }

    /// Adds columns of keys, one after the other, as [`add`](Self::add) does; each is placed on a thread of its own, so
    /// as many as the engine has [threads](Engine::threads) keep it busy. Clusters [between](Self::between) which keys
    /// are read differently see both sides of a column.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_columns<C: KeyColumn>(&mut self, engine: &Engine, columns: &[Arc<C>]) -> Result<()> {
        let shared = |column: &Arc<C>| ChunkKeys::Shared(Arc::clone(column) as Arc<dyn KeyColumn + '_>);
        self.add_chunks(engine, &columns.iter().map(shared).collect::<Vec<_>>())
    }

    /// Algorithms take turns, each with all threads, so that no two disturb each other's time.
    fn add_chunks(&mut self, engine: &Engine, chunks: &[ChunkKeys<'_>]) -> Result<()> {
        for entry in &mut self.entries {
            let Ok(trial) = &mut entry.state else { continue };
            if let Err(error) = trial.add(engine, chunks) {
                entry.state = Err(reason(error)?);
            }
        }
        Ok(())
    }

    /// What hashing, placing and counting cost, over the algorithms that are not out.
    pub fn costs(&self) -> Costs {
        let mut sum = Costs::default();
        for costs in self.entries.iter().filter_map(|entry| entry.state.as_ref().ok()).map(|trial| trial.costs()) {
            sum.hash += costs.hash;
            sum.place += costs.place;
            sum.write += costs.write;
        }
        sum
    }

    /// What all keys so far came to, per algorithm, in the order in which they were given.
    ///
    /// # Complexity
    /// O(nodes + flows) per algorithm.
    pub fn rows(&self) -> Vec<Row> {
        let row = |Entry { name, state }: &Entry| {
            let figures = state.as_ref().ok().map(|trial| trial.figures());
            Row { algorithm: name.clone(), reason: state.as_ref().err().cloned(), figures }
        };
        self.entries.iter().map(row).collect()
    }
}

/// Why an algorithm does not take the keys, or the error if it is another one. The position in the batch means nothing
/// to whoever gave a file, so the key stands for itself.
fn reason(error: Error) -> Result<String> {
    match error.kind() {
        ErrorKind::Key { key, reason, .. } => Ok(format!("key {key} {reason}")),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests;
