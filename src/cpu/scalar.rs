//! The plain loops that every algorithm has.

use super::isa::Isa;
use super::kernel::{Kernel, Run};
use crate::error::Result;
use crate::placement::{Locate, NodeId, Words};

/// The scalar line: whatever the algorithm's own batch loop is.
pub(super) static KERNELS: [Kernel; 1] = [Kernel {
    algorithm: "any",
    shape: "batch",
    isa: Isa::Scalar,
    fits: |_| true,
    run: Run::Nodes { locate, lengths },
}];

#[expect(clippy::unnecessary_wraps, reason = "the type of all kernels")]
fn locate(lookup: &dyn Locate, words: Words<'_>, nodes: &mut [NodeId]) -> Result<()> {
    lookup.locate_batch(words, nodes);
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "the type of all kernels")]
fn lengths(lookup: &dyn Locate, words: Words<'_>, nodes: &mut [NodeId], lengths: &mut [u32]) -> Result<()> {
    lookup.locate_batch(words, nodes);
    for (index, length) in lengths.iter_mut().enumerate() {
        *length = u32::try_from(lookup.locate(words.get(index)).1).unwrap_or(u32::MAX);
    }
    Ok(())
}
