//! What benches and trials need besides clusters: keys made to measure. None of it is part of a placement.

mod key_families;
mod zipf;

pub use key_families::{KeyFamily, MAX_DISTINCT, SyntheticKeys, TEXT_BYTES};
