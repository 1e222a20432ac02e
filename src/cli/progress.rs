//! A progress bar, on a terminal only.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};
use rehome::io::KeyReader;

/// A bar that follows how much of an input is read, or how many rows are made, or nothing.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    /// What is read, for a bar that follows an input.
    read: rehome::io::Progress,
}

impl Progress {
    /// A bar if `wanted`.
    pub(crate) fn new(wanted: bool, reader: &KeyReader) -> Self {
        let read = reader.progress();
        let (bar, template) = match reader.total_bytes() {
            Some(bytes) => (ProgressBar::new(bytes), "{bar:30} {percent:>3} % of {total_bytes}, {eta} left"),
            None => (ProgressBar::no_length(), "{spinner} {bytes} read, {elapsed}"),
        };
        Self { bar: drawn(wanted, bar, template), read }
    }

    /// A bar over this many rows if `wanted`, which [`advance`](Self::advance) moves.
    pub(crate) fn of_rows(wanted: bool, rows: u64) -> Self {
        let template = "{bar:30} {percent:>3} % of {human_len} rows, {eta} left";
        Self { bar: drawn(wanted, ProgressBar::new(rows), template), read: rehome::io::Progress::default() }
    }

    /// Draws that so many rows are made, if enough time has passed.
    pub(crate) fn advance(&self, rows: u64) {
        self.bar.set_position(rows);
    }

    /// Draws what has been read, if enough time has passed.
    pub(crate) fn tick(&self) {
        if !self.bar.is_hidden() {
            self.bar.set_position(self.read.bytes());
        }
    }

    /// Prints above the bar.
    pub(crate) fn suspend(&self, say: impl FnOnce()) {
        if std::io::stderr().is_terminal() { self.bar.suspend(say) } else { say() }
    }
}

/// The bar in this form, or one that is never seen.
fn drawn(wanted: bool, bar: ProgressBar, template: &str) -> ProgressBar {
    if !wanted {
        return ProgressBar::hidden();
    }
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
