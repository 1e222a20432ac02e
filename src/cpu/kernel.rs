//! A kernel: a line of the table (algorithm, shape, instruction set).

use std::fmt;

use super::isa::Isa;
use super::{dx, dx_crc32c, scalar};
use crate::error::{ErrorKind, Result};
use crate::placement::{Locate, NodeId, Words};

/// Finds the nodes of words.
pub(super) type LocateFn = fn(&dyn Locate, Words<'_>, &mut [NodeId]) -> Result<()>;
/// The same, with the search lengths, those above 2^32 - 1 as that.
pub(super) type LengthsFn = fn(&dyn Locate, Words<'_>, &mut [NodeId], &mut [u32]) -> Result<()>;
/// Finds several nodes per word.
pub(super) type ReplicasFn = fn(&dyn Locate, Words<'_>, usize, &mut [NodeId]) -> Result<()>;

/// What a kernel finds.
#[derive(Clone, Copy)]
pub(super) enum Run {
    /// One node per key.
    Nodes { locate: LocateFn, lengths: LengthsFn },
    /// Several.
    Replicas { replicas: ReplicasFn, most: usize },
}

/// A way to resolve batches: a loop of some shape, compiled for an instruction set.
pub struct Kernel {
    pub(super) algorithm: &'static str,
    pub(super) shape: &'static str,
    pub(super) isa: Isa,
    /// Whether it can work on what an algorithm compiled a cluster to.
    pub(super) fits: fn(&dyn Locate) -> bool,
    pub(super) run: Run,
}

/// The table: every kernel that is compiled for this architecture. Lines whose instruction set this processor lacks are
/// there too, and refuse to run.
///
/// ```
/// use rehome::cpu::{Isa, kernels};
///
/// assert!(kernels().any(|kernel| kernel.isa() == Isa::Scalar && kernel.algorithm() == "any"));
/// ```
pub fn kernels() -> impl Iterator<Item = &'static Kernel> {
    scalar::KERNELS.iter().chain(dx::kernels()).chain(dx_crc32c::kernels())
}

impl Kernel {
    /// The algorithm that it is for; `any` for the plain loops that every algorithm has.
    pub fn algorithm(&self) -> &'static str {
        self.algorithm
    }

    /// The shape of its loop, as `src/placement/X/lanes` names them.
    pub fn shape(&self) -> &'static str {
        self.shape
    }

    /// The instruction set that it is compiled for.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Whether it can work on what an algorithm compiled a cluster to.
    pub fn fits(&self, lookup: &dyn Locate) -> bool {
        (self.fits)(lookup)
    }

    /// The most nodes that it finds per key: 1 for those that have no list.
    pub fn most_replicas(&self) -> usize {
        match self.run {
            Run::Nodes { .. } => 1,
            Run::Replicas { most, .. } => most,
        }
    }

    /// Whether it finds one node per key, with [`locate`](Self::locate), or several, with [`replicas`](Self::replicas).
    pub fn finds_replicas(&self) -> bool {
        matches!(self.run, Run::Replicas { .. })
    }

    /// The node of every word: `nodes[i]` becomes that of word i.
    ///
    /// # Errors
    /// A processor without the instructions, a placement that the kernel does not fit, or lengths that differ.
    pub fn locate(&self, lookup: &dyn Locate, words: Words<'_>, nodes: &mut [NodeId]) -> Result<()> {
        let Run::Nodes { locate, .. } = self.run else { return self.refuse() };
        self.check(lookup, words.len(), nodes.len())?;
        locate(lookup, words, nodes)
    }

    /// The same with the search lengths, of which those above 2^32 - 1 are given as that.
    ///
    /// # Errors
    /// Those of [`locate`](Self::locate).
    pub fn lengths(
        &self,
        lookup: &dyn Locate,
        words: Words<'_>,
        nodes: &mut [NodeId],
        lengths: &mut [u32],
    ) -> Result<()> {
        let Run::Nodes { lengths: run, .. } = self.run else { return self.refuse() };
        self.check(lookup, words.len(), nodes.len())?;
        self.check(lookup, words.len(), lengths.len())?;
        run(lookup, words, nodes, lengths)
    }

    /// `replicas` nodes for every word, best first; [`NodeId::NONE`] at the end where fewer are eligible.
    ///
    /// # Errors
    /// Those of [`locate`](Self::locate), and more replicas than [`most_replicas`](Self::most_replicas).
    pub fn replicas(&self, lookup: &dyn Locate, words: Words<'_>, replicas: usize, nodes: &mut [NodeId]) -> Result<()> {
        let Run::Replicas { replicas: run, most } = self.run else { return self.refuse() };
        if replicas == 0 {
            return Ok(());
        }
        if replicas > most {
            return self.refuse();
        }
        self.check(lookup, words.len().saturating_mul(replicas), nodes.len())?;
        run(lookup, words, replicas, nodes)
    }

    fn check(&self, lookup: &dyn Locate, expected: usize, found: usize) -> Result<()> {
        self.isa.need()?;
        if !self.fits(lookup) {
            return self.refuse();
        }
        if expected != found {
            let (expected, found) = (expected as u64, found as u64);
            return Err(ErrorKind::Mismatch { what: "space for nodes", expected, found }.into());
        }
        Ok(())
    }

    fn refuse<T>(&self) -> Result<T> {
        Err(crate::Error::invalid(
            format!("{self} does not do that"),
            "ask `fits` and `most_replicas` first, or let `choose` find the kernel",
        ))
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} on {}", self.algorithm, self.shape, self.isa)
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({self})")
    }
}
