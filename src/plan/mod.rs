//! Plans: which keys move from one cluster to another, how many go where, and whether they had to.
//!
//! A [`Tally`] takes the nodes of every key before and after and gives a [`Summary`], [`Flow`]s and keys per node. With
//! the feature `io`, `PlanWriter` writes them as a plan directory that is complete or not there at all.
//!
//! Nodes are matched by name, never by number: the position of a node in two clusters need not be the same.

#[cfg(feature = "io")]
mod directory;
#[cfg(feature = "io")]
mod manifest;
#[cfg(feature = "io")]
mod node_names;
mod nodes;
mod report;
mod summary;
mod tally;
#[cfg(feature = "io")]
mod target;

#[cfg(feature = "io")]
pub use directory::{PART_ROWS, PlanOptions, PlanWriter};
#[cfg(feature = "io")]
pub use manifest::{FileRecord, InputRecord};
#[cfg(feature = "io")]
pub use node_names::NodeNames;
pub use nodes::{MatchedNodes, check_sides};
pub use report::table;
pub use summary::{Side, Summary, balance};
pub use tally::{Flow, NodeLoad, Tally};
#[cfg(feature = "io")]
pub use target::check_plan_target;
