//! What is not a kernel but runs in lanes: the ceiling of every kernel, and the check of every operation.

use super::entries::Entries;
#[cfg(target_arch = "aarch64")]
use super::entries::OnNeon;
#[cfg(target_arch = "x86_64")]
use super::entries::{OnAvx2, OnAvx512};
use super::isa::Isa;
use crate::error::{ErrorKind, Result};
use crate::lanes::one::One;
use crate::lanes::{check, copy_low_halves};

/// Copies the low half of every word, with prefetches: the ceiling that benches measure kernels against.
///
/// # Errors
/// A processor without the instruction set, or lengths that differ.
pub fn copy(isa: Isa, words: &[u64], low: &mut [u32]) -> Result<()> {
    isa.need()?;
    if words.len() != low.len() {
        let (expected, found) = (words.len() as u64, low.len() as u64);
        return Err(ErrorKind::Mismatch { what: "space for copied words", expected, found }.into());
    }
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => OnAvx2::copy(OnAvx2::token()?, words, low),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => OnAvx512::copy(OnAvx512::token()?, words, low),
        #[cfg(target_arch = "aarch64")]
        Isa::Neon => OnNeon::copy(OnNeon::token()?, words, low),
        _ => copy_low_halves(One::TOKEN, words, low),
    }
    Ok(())
}

/// Checks every operation of an instruction set against plain integers: for the tests.
///
/// # Panics
/// At the first operation that differs.
///
/// # Errors
/// A processor without the instruction set.
#[doc(hidden)]
pub fn check_lanes(isa: Isa) -> Result<()> {
    isa.need()?;
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => OnAvx2::check(OnAvx2::token()?),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => OnAvx512::check(OnAvx512::token()?),
        #[cfg(target_arch = "aarch64")]
        Isa::Neon => OnNeon::check(OnNeon::token()?),
        _ => check(One::TOKEN),
    }
    Ok(())
}
