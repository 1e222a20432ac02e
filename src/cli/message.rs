//! What the tool says beside its results: errors and warnings on standard error, coloured on a terminal only.

use std::fmt::Display;
use std::io::Write;

use anstyle::{AnsiColor, Style};
use rehome::Error;

/// Says why the work failed.
pub(crate) fn error(error: &dyn Display) {
    say(AnsiColor::Red.on_default().bold(), "error", error);
}

/// Says something that a user should know but that stops nothing.
pub(crate) fn warn(text: &str) {
    say(AnsiColor::Yellow.on_default().bold(), "warning", text);
}

/// Says something that is good to know.
pub(crate) fn note(text: &str) {
    say(AnsiColor::Cyan.on_default(), "note", text);
}

/// Says something as it is.
pub(crate) fn plain(text: &str) {
    let _ = anstream::stderr().write_all(text.as_bytes());
}

fn say(style: Style, label: &str, text: impl Display) {
    // Nobody is left to tell if standard error is gone.
    let _ = writeln!(anstream::stderr(), "{style}{label}:{style:#} {text}");
}

/// Writes a line or more to standard output.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let mut out = anstream::stdout();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Error::io("write", "standard output", error))
}

/// Keeps quiet about panics inside the Parquet reader, which the library catches and reports as a damaged file.
pub(crate) fn quiet_caught_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !rehome::io::catches_panics() {
            usual(info);
        }
    }));
}
