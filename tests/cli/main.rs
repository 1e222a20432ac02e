//! The built binary on real files: what a user types, what comes out, and what bad input gets.
#![cfg(all(feature = "cli", unix))]

mod algorithms;
mod bad_cluster;
mod bad_input;
mod bad_parameters;
mod check_against;
mod cluster;
mod compare;
mod convert;
mod costs;
mod edits;
mod formats;
mod inputs;
mod interrupts;
mod keys;
mod large;
mod lines;
mod outputs;
mod packed;
mod pages;
mod parquet_in;
mod plan;
mod planted;
mod resume;
mod resume_damage;
mod resume_odd;
mod resume_refusals;
mod support;
mod verify;
mod verify_bad;
mod verify_sealed;
