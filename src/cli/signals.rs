//! Signals: Ctrl-C and its kin remove temporary files before the process ends; a limit on file sizes is an error of the
//! write that meets it.

#[cfg(unix)]
pub(crate) use unix::watch;

#[cfg(not(unix))]
pub(crate) fn watch() {}

#[cfg(unix)]
mod unix {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;

    use crate::cli::message;

    /// Watches on a thread of its own.
    pub(crate) fn watch() {
        // Handled, so that a write past the limit fails instead of the process; nobody needs to look at the flag.
        let handled = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map(drop);
        // A signal that was ignored when the process began (`nohup`, a job in the background) stays ignored.
        let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal));
        let watched = Signals::new(wanted).map(|mut signals| {
            std::thread::spawn(move || {
                if let Some(signal) = signals.forever().next() {
                    rehome::io::remove_partial_files();
                    std::process::exit(128 + signal);
                }
            });
        });
        if let Err(error) = handled.and(watched) {
            message::warn(&format!("cannot watch for signals: {error}"));
        }
    }

    /// Whether a signal was being ignored, where the system tells.
    fn is_ignored(signal: i32) -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
        mask >> (signal - 1) & 1 == 1
    }
}
