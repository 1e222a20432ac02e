//! How a verb can end early.

use rehome::Error;

/// Why a verb did not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line does not make sense: exit code 2.
    Usage(String),
    /// The work failed: exit code 1.
    Error(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl Failure {
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::Usage(text.into())
    }
}
