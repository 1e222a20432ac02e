//! Which kernel a placement gets.

use super::isa::Isa;
use super::kernel::{Kernel, kernels};
use crate::placement::Locate;

/// What to choose from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The fastest that this processor has.
    #[default]
    Auto,
    /// Those of one instruction set, and plain integer code for what it has no kernel for.
    Only(Isa),
}

/// The shapes from the most to the least preferred, where they fit.
const SHAPES: [&str; 5] = ["all-up", "refill", "registers", "worklist", "weighted"];

/// The kernel that finds the nodes of a placement's keys.
pub fn choose(choice: Choice, lookup: &dyn Locate) -> &'static Kernel {
    let wanted = |isa: Isa| isa.is_available() && (choice == Choice::Auto || choice == Choice::Only(isa));
    let fitting = kernels().filter(|kernel| !kernel.finds_replicas() && wanted(kernel.isa()) && kernel.fits(lookup));
    let rank = |kernel: &&Kernel| {
        let shape = SHAPES.iter().position(|shape| *shape == kernel.shape()).unwrap_or(SHAPES.len());
        (std::cmp::Reverse(kernel.isa()), shape)
    };
    fitting.min_by_key(rank).unwrap_or_else(|| kernels().next().expect("the scalar line"))
}

/// The kernel that finds so many nodes per key; none if that is for the preference list.
pub fn choose_replicas(choice: Choice, lookup: &dyn Locate, replicas: usize) -> Option<&'static Kernel> {
    let wanted = |isa: Isa| isa.is_available() && (choice == Choice::Auto || choice == Choice::Only(isa));
    let fitting = kernels().filter(|kernel| kernel.finds_replicas() && kernel.most_replicas() >= replicas);
    fitting.filter(|kernel| wanted(kernel.isa()) && kernel.fits(lookup)).max_by_key(|kernel| kernel.isa())
}
