//! Every kernel against the literal functions: each line of the table of kernels is a set of tests.
//!
//! A line whose instruction set this processor lacks shows as ignored, with the reason. Names are
//! `algorithm::shape::isa::what`, so that a run can ask for `avx2` or `worklist`.

mod checks;
mod clusters;
mod guarded;

use libtest_mimic::{Arguments, Failed, Trial};
use rehome::cpu::{Isa, Kernel, check_lanes, kernels};

fn main() {
    let arguments = Arguments::from_args();
    let mut trials: Vec<Trial> = Isa::ALL.into_iter().map(conformance).collect();
    for kernel in kernels() {
        trials.extend(checks::ALL.into_iter().map(|(what, check)| trial(kernel, what, check)));
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// Every operation of an instruction set.
fn conformance(isa: Isa) -> Trial {
    let trial = Trial::test(format!("lanes::{isa}::every_operation"), move || Ok(check_lanes(isa)?));
    ignored_without(isa, trial)
}

fn trial(kernel: &'static Kernel, what: &str, check: checks::Check) -> Trial {
    let name = format!("{}::{}::{}::{what}", kernel.algorithm(), kernel.shape(), kernel.isa());
    let trial = Trial::test(name, move || {
        check(kernel);
        Ok::<(), Failed>(())
    });
    ignored_without(kernel.isa(), trial)
}

/// Ignores what the processor cannot run; the reason stands before the name.
fn ignored_without(isa: Isa, trial: Trial) -> Trial {
    match isa.missing() {
        Some(reason) => trial.with_kind(reason).with_ignored_flag(true),
        None => trial,
    }
}
