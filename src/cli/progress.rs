//! A progress bar, on a terminal only.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};
use rehome::io::KeyReader;

/// A bar that follows how much of an input is read, or nothing.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    read: rehome::io::Progress,
}

impl Progress {
    /// A bar if `wanted`.
    pub(crate) fn new(wanted: bool, reader: &KeyReader) -> Self {
        let read = reader.progress();
        if !wanted {
            return Self { bar: ProgressBar::hidden(), read };
        }
        let (bar, template) = match reader.total_bytes() {
            Some(bytes) => (ProgressBar::new(bytes), "{bar:30} {percent:>3} % of {total_bytes}, {eta} left"),
            None => (ProgressBar::no_length(), "{spinner} {bytes} read, {elapsed}"),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self { bar, read }
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

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
