//! Time by the wall and time of a thread's processor, side by side.

use std::ops::AddAssign;
use std::time::{Duration, Instant};

/// Time that some work took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// By the wall.
    pub wall: Duration,
    /// Of the processor.
    pub cpu: Duration,
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.wall += other.wall;
        self.cpu += other.cpu;
    }
}

/// Measures the work of the thread that holds it.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    wall: Instant,
    cpu: Duration,
}

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Self {
        Self { wall: Instant::now(), cpu: thread_time() }
    }

    /// The cost since the start or the last lap, and starts anew.
    pub fn lap(&mut self) -> Cost {
        let now = Self::start();
        let cost = Cost { wall: now.wall - self.wall, cpu: now.cpu.saturating_sub(self.cpu) };
        *self = now;
        cost
    }
}

/// Processor time of this thread.
#[cfg(unix)]
pub fn thread_time() -> Duration {
    read(rustix::time::ClockId::ThreadCPUTime)
}

/// Processor time of all threads of this process, where the system has a clock for it.
#[cfg(unix)]
pub fn process_time() -> Option<Duration> {
    Some(read(rustix::time::ClockId::ProcessCPUTime))
}

#[cfg(unix)]
fn read(clock: rustix::time::ClockId) -> Duration {
    let time = rustix::time::clock_gettime(clock);
    let nanoseconds = u64::try_from(time.tv_nsec).unwrap_or(0);
    Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0)) + Duration::from_nanos(nanoseconds)
}

/// Processor time of all threads of this process, where the system has a clock for it.
#[cfg(not(unix))]
pub fn process_time() -> Option<Duration> {
    None
}

/// Processor time of this thread: where the system has no clock for it, time by the wall.
#[cfg(not(unix))]
pub fn thread_time() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}
