//! Plans: which keys move from one cluster to another, how many go where, and whether they had to.
//!
//! A [`Tally`] takes the nodes of every key before and after and gives a [`Summary`], [`Flow`]s and keys per node. With
//! the feature `io`, a `PlanTask` makes a plan directory that is complete or not there at all, and goes on with one that
//! was stopped.
//!
//! Nodes are matched by name, never by number: the position of a node in two clusters need not be the same.

#[cfg(feature = "io")]
mod checks;
#[cfg(feature = "io")]
mod compare;
#[cfg(feature = "io")]
mod directory;
#[cfg(feature = "io")]
mod finished;
#[cfg(feature = "io")]
mod journal;
mod loads;
#[cfg(feature = "io")]
mod make;
#[cfg(feature = "io")]
mod manifest;
#[cfg(feature = "io")]
mod node_names;
mod nodes;
#[cfg(feature = "io")]
mod part;
#[cfg(feature = "io")]
mod recorded_file;
mod report;
#[cfg(feature = "io")]
mod run;
mod summary;
mod sums;
#[cfg(feature = "io")]
mod syncer;
#[cfg(feature = "io")]
mod tables;
mod tally;
#[cfg(feature = "io")]
mod target;
#[cfg(feature = "io")]
mod verify;

#[cfg(feature = "io")]
pub use finished::FinishedPlan;
#[cfg(feature = "io")]
pub use make::{PART_ROWS, Plan, PlanMaker, PlanTask, Prepared};
#[cfg(feature = "io")]
pub use manifest::Manifest;
#[cfg(feature = "io")]
pub use node_names::NodeNames;
pub use nodes::{MatchedNodes, check_sides};
#[cfg(feature = "io")]
pub use part::Part;
#[cfg(feature = "io")]
pub use recorded_file::FileRecord;
pub use report::table;
pub use summary::{Side, Summary, balance};
pub use sums::Sums;
pub use tally::{Flow, NodeLoad, Tally};
#[cfg(feature = "io")]
pub use target::Existing;
#[cfg(feature = "io")]
pub use verify::{Comparison, Difference, RowCounts, Verification, Verifier};
