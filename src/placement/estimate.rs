//! What compiling a cluster and looking keys up will cost, before anything is allocated.

/// What compiling a cluster and looking keys up will cost, told before anything is allocated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The bytes of the placement, of which lookups touch some; about [`Placement::memory_bytes`](super::Placement::memory_bytes).
    pub memory_bytes: u64,
    /// The bytes held at the worst moment of building it, those of the placement included.
    pub building_bytes: u64,
    /// The steps of one lookup, on average: probes, tokens looked at, nodes compared.
    pub steps: f64,
}
