//! The scalar backend: chunks are resolved by plain integer code on a pool of threads.

use std::any::Any;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

use super::backend::{Backend, Chunk, Counts, Done, Job, Session, Ticket};
use super::resolve::{Totals, resolve};
use crate::error::{Error, Result};

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
            let mut session = PoolSession {
                scope,
                pool: &self.pool,
                job,
                totals: &totals,
                sender,
                receiver,
                early: HashMap::new(),
                submitted: 0,
            };
            run(&mut session)
        })?;
        Ok(totals.sum(job))
    }
}

/// A finished chunk, or what its thread panicked with.
type Outcome<'a> = std::result::Result<Result<Done<'a>>, Box<dyn Any + Send>>;

struct PoolSession<'s, 'scope, 'a> {
    scope: &'s rayon::Scope<'scope>,
    pool: &'a rayon::ThreadPool,
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
            let (number, outcome) = match self.receiver.try_recv() {
                Ok(found) => found,
                // On a thread of the pool itself: do its work instead of waiting for it.
                Err(TryRecvError::Empty) if self.pool.yield_now().is_some() => continue,
                Err(_) => self.receiver.recv().map_err(|_| {
                    Error::invalid("the threads that place keys are gone", "this is a bug: please report it")
                })?,
            };
            self.early.insert(number, outcome);
        }
    }
}
