//! Kernels on this processor: what it can run, the table of kernels, and which one a placement gets.
//!
//! A [`Kernel`] is a line of a table: an algorithm, a shape of its loop, and an instruction set. [`kernels`] gives the
//! table, [`choose`] the line for a placement. All give the answers of [`Locate::locate`](crate::placement::Locate).
//!
//! Adding one: write its text over lanes in `src/placement/X/lanes`, give it a line per instruction set here, and say in
//! `choice.rs` where it is the fastest, with the bench that says so.

mod choice;
mod dx;
mod dx_crc32c;
mod entries;
mod isa;
mod kernel;
mod lanes;
mod peer;
mod scalar;

pub use choice::{Choice, choose, choose_replicas};
pub use isa::Isa;
pub use kernel::{Kernel, kernels};
pub use lanes::{check_lanes, copy};
pub use peer::Peer;
