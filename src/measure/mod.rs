//! What benches and trials need besides clusters: keys made to measure, and algorithms compared. None of it is part of
//! a placement.

mod comparison;
mod key_families;
mod zipf;

pub use comparison::{Change, Comparison, Figures, MOST_LISTED, MOST_NODES, NodeKeys, Row};
pub use key_families::{KeyFamily, MAX_DISTINCT, SyntheticKeys, TEXT_BYTES};
