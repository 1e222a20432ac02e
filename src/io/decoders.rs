//! Threads that decode row groups ahead of whoever reads them, which gets them in their order.
//!
//! Groups are numbered in the order they are submitted, over all files, and threads take them in that order. What is
//! decoded and not yet delivered is kept within a budget; the group that is being read may always have one batch, so
//! that the oldest work never waits for younger.

use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use arrow_array::RecordBatch;

use super::InputFormat;
use super::errors::contradictory;
use super::parquet_reader::RowGroup;
use crate::clock::{Cost, Stopwatch};
use crate::error::{ErrorKind, Result};

/// Bytes of decoded batches that may wait to be read.
pub(super) const BUDGET: usize = 64 << 20;

/// The threads, and what they work on.
pub(super) struct Decoders {
    shared: Arc<Shared>,
    most: usize,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    budget: usize,
}

#[derive(Default)]
struct State {
    /// Groups that no thread has taken; the last has the number before `submitted`.
    waiting: VecDeque<RowGroup>,
    submitted: u64,
    /// What came of the groups from number `head` on.
    done: VecDeque<Decoded>,
    /// The group that is being read.
    head: u64,
    /// Bytes of all batches in `done`.
    bytes: usize,
    cost: Cost,
    is_closed: bool,
}

/// What came of a group so far.
#[derive(Default)]
struct Decoded {
    batches: VecDeque<(RecordBatch, usize)>,
    end: Option<Result<()>>,
}

impl Shared {
    /// The state; a thread that panicked leaves it whole, since nothing in it is ever half done.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn decoded(&mut self, number: u64) -> Option<&mut Decoded> {
        self.done.get_mut(usize::try_from(number.checked_sub(self.head)?).ok()?)
    }

    /// Whether a batch more of group `number` may be decoded now.
    fn has_room(&self, number: u64, budget: usize) -> bool {
        self.bytes < budget || (number == self.head && self.done.front().is_some_and(|head| head.batches.is_empty()))
    }
}

impl Decoders {
    /// Up to `most` threads, which start when there is work for them.
    pub(super) fn new(most: usize, budget: usize) -> Self {
        let shared = Shared { state: Mutex::default(), changed: Condvar::new(), budget };
        Self { shared: Arc::new(shared), most, threads: Mutex::default() }
    }

    /// Takes groups to be decoded behind those it has, and gives them numbers.
    ///
    /// # Errors
    /// If the system starts no thread.
    pub(super) fn submit(&self, groups: VecDeque<RowGroup>) -> Result<Range<u64>> {
        let mut state = self.shared.lock();
        let start = state.submitted;
        state.submitted += groups.len() as u64;
        state.done.extend(groups.iter().map(|_| Decoded::default()));
        state.waiting.extend(groups);
        let (end, waiting) = (state.submitted, state.waiting.len());
        drop(state);
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..waiting.min(self.most - threads.len()) {
            let shared = Arc::clone(&self.shared);
            match std::thread::Builder::new().name("rehome-decode".into()).spawn(move || shared.work()) {
                Ok(thread) => threads.push(thread),
                // Fewer threads do the same.
                Err(_) if !threads.is_empty() => break,
                Err(source) => return Err(ErrorKind::Io { action: "start a thread", source }.into()),
            }
        }
        self.shared.changed.notify_all();
        Ok(start..end)
    }

    /// Whether threads will soon have nothing to do.
    pub(super) fn wants_more(&self) -> bool {
        self.shared.lock().waiting.len() < self.most
    }

    /// Bytes of decoded batches that wait to be read.
    #[cfg(test)]
    pub(super) fn waiting_bytes(&self) -> usize {
        self.shared.lock().bytes
    }

    /// What the threads have cost so far.
    pub(super) fn cost(&self) -> Cost {
        self.shared.lock().cost
    }

    /// The next batch of group `number`, or nothing at its end; groups are read one after the other.
    pub(super) fn next_batch(&self, number: u64) -> Result<Option<RecordBatch>> {
        let mut state = self.shared.lock();
        while state.head < number && !state.done.is_empty() {
            state.done.pop_front();
            state.head += 1;
            self.shared.changed.notify_all();
        }
        loop {
            let Some(decoded) = state.decoded(number) else {
                return Err(contradictory(InputFormat::Parquet, "row groups were read out of order"));
            };
            if let Some((batch, bytes)) = decoded.batches.pop_front() {
                state.bytes -= bytes;
                self.shared.changed.notify_all();
                return Ok(Some(batch));
            }
            match decoded.end.take() {
                Some(end) => {
                    decoded.end = Some(Ok(()));
                    return end.map(|()| None);
                }
                None => state = self.shared.wait(state),
            }
        }
    }
}

impl Shared {
    /// What a thread does.
    fn work(&self) {
        while let Some((number, group)) = self.take() {
            // Pieces of it are guarded; whatever else may panic must not keep the reader waiting for ever.
            let end = panic::catch_unwind(AssertUnwindSafe(|| self.decode(number, group)))
                .unwrap_or_else(|_| Err(contradictory(InputFormat::Parquet, "")));
            if let Some(decoded) = self.lock().decoded(number) {
                decoded.end = Some(end);
            }
            self.changed.notify_all();
        }
    }

    /// The next group that no thread has taken; nothing when no more will come.
    fn take(&self) -> Option<(u64, RowGroup)> {
        let mut state = self.lock();
        while !state.is_closed {
            let number = state.submitted - state.waiting.len() as u64;
            match state.waiting.pop_front() {
                Some(group) => return Some((number, group)),
                None => state = self.wait(state),
            }
        }
        None
    }

    /// Decodes a group, batch by batch as there is room for them.
    fn decode(&self, number: u64, group: RowGroup) -> Result<()> {
        let mut batches = group.open()?;
        while self.has_room(number) {
            let mut watch = Stopwatch::start();
            let next = batches.next_batch();
            let mut state = self.lock();
            state.cost += watch.lap();
            let Some(batch) = next? else { return Ok(()) };
            let bytes = batch.get_array_memory_size();
            if let Some(decoded) = state.decoded(number) {
                decoded.batches.push_back((batch, bytes));
                state.bytes += bytes;
            }
            drop(state);
            self.changed.notify_all();
        }
        Ok(())
    }

    /// Waits until there is room for a batch more of group `number`; there is none when nobody reads any more.
    fn has_room(&self, number: u64) -> bool {
        let mut state = self.lock();
        while !state.is_closed && !state.has_room(number, self.budget) {
            state = self.wait(state);
        }
        !state.is_closed
    }
}

impl Drop for Decoders {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_all();
        let threads = self.threads.get_mut().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            // One that panicked has nothing left to tell: whoever reads has been told, or reads no more.
            let _ = thread.join();
        }
    }
}
