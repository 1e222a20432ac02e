//! Where kernels become code: one function per kernel and instruction set, with its features enabled.

use super::isa::Isa;
use crate::error::{Error, Result};
use crate::lanes::{Lanes, check, copy_low_halves};
use crate::placement::dx::lanes::{self as dx, Finish, FinishReplicas, Sequence};

/// The entries of one instruction set.
pub(super) trait Entries {
    /// Its token.
    type Token: Lanes;

    /// The instruction set.
    const ISA: Isa;

    /// The token, or why there is none.
    fn token() -> Result<Self::Token>;

    /// [`check`].
    fn check(t: Self::Token);

    /// [`copy_low_halves`].
    fn copy(t: Self::Token, words: &[u64], low: &mut [u32]);

    /// [`dx::all_up`].
    fn all_up<const MIX: bool>(t: Self::Token, words: &[u64], mixed: u64, mask: u32, slots: &mut [u32]);

    /// [`dx::worklist`].
    fn worklist<S: Sequence<Self::Token>, const PER_ROUND: usize, const LENGTHS: bool>(
        t: Self::Token,
        words: &[u64],
        sequence: S,
        slots: &mut [u32],
        lengths: &mut [u32],
        finish: &dyn Finish,
    );

    /// [`dx::refill`].
    fn refill<S: Sequence<Self::Token>>(
        t: Self::Token,
        words: &[u64],
        sequence: S,
        slots: &mut [u32],
        finish: &dyn Finish,
    );

    /// [`dx::replicas`].
    fn replicas<S: Sequence<Self::Token>>(
        t: Self::Token,
        words: &[u64],
        replicas: usize,
        sequence: S,
        slots: &mut [u32],
        finish: &dyn FinishReplicas,
    );
}

/// What cannot be, since an available instruction set has its token.
fn no_token(isa: Isa) -> Error {
    Error::invalid(format!("the {isa} kernels find no {isa}"), "this is a bug: please report it")
}

/// The entries of an instruction set, with the features that its token proves.
macro_rules! entries {
    ($name:ident, $isa:expr, $token:ty, $features:literal) => {
        pub(super) struct $name;

        impl Entries for $name {
            type Token = $token;

            const ISA: Isa = $isa;

            fn token() -> Result<$token> {
                Self::ISA.need()?;
                <$token>::detect().ok_or_else(|| no_token(Self::ISA))
            }

            fn check(t: $token) {
                #[target_feature(enable = $features)]
                #[inline(never)]
                fn go(t: $token) {
                    check(t);
                }
                // SAFETY: the token proves that the processor has the features that `go` enables.
                unsafe { go(t) }
            }

            fn copy(t: $token, words: &[u64], low: &mut [u32]) {
                #[target_feature(enable = $features)]
                #[inline(never)]
                fn go(t: $token, words: &[u64], low: &mut [u32]) {
                    copy_low_halves(t, words, low);
                }
                // SAFETY: the token proves that the processor has the features that `go` enables.
                unsafe { go(t, words, low) }
            }

            fn all_up<const MIX: bool>(t: $token, words: &[u64], mixed: u64, mask: u32, slots: &mut [u32]) {
                #[target_feature(enable = $features)]
                #[inline(never)]
                fn go<const MIX: bool>(t: $token, words: &[u64], mixed: u64, mask: u32, slots: &mut [u32]) {
                    dx::all_up::<$token, MIX>(t, words, mixed, mask, slots);
                }
                // SAFETY: the token proves that the processor has the features that `go` enables.
                unsafe { go::<MIX>(t, words, mixed, mask, slots) }
            }

            fn worklist<S: Sequence<$token>, const PER_ROUND: usize, const LENGTHS: bool>(
                t: $token,
                words: &[u64],
                sequence: S,
                slots: &mut [u32],
                lengths: &mut [u32],
                finish: &dyn Finish,
            ) {
                #[target_feature(enable = $features)]
                #[inline(never)]
                fn go<S: Sequence<$token>, const PER_ROUND: usize, const LENGTHS: bool>(
                    t: $token,
                    words: &[u64],
                    sequence: S,
                    slots: &mut [u32],
                    lengths: &mut [u32],
                    finish: &dyn Finish,
                ) {
                    let probe = sequence.ready(t);
                    dx::worklist::<$token, S::Probe, PER_ROUND, LENGTHS>(t, words, probe, slots, lengths, finish);
                }
                // SAFETY: the token proves that the processor has the features that `go` enables.
                unsafe { go::<S, PER_ROUND, LENGTHS>(t, words, sequence, slots, lengths, finish) }
            }

            fn refill<S: Sequence<$token>>(
                t: $token,
                words: &[u64],
                sequence: S,
                slots: &mut [u32],
                finish: &dyn Finish,
            ) {
                #[target_feature(enable = $features)]
                #[inline(never)]
                fn go<S: Sequence<$token>>(
                    t: $token,
                    words: &[u64],
                    sequence: S,
                    slots: &mut [u32],
                    finish: &dyn Finish,
                ) {
                    dx::refill::<$token, S::Probe>(t, words, sequence.ready(t), slots, finish);
                }
                // SAFETY: the token proves that the processor has the features that `go` enables.
                unsafe { go(t, words, sequence, slots, finish) }
            }

            fn replicas<S: Sequence<$token>>(
                t: $token,
                words: &[u64],
                replicas: usize,
                sequence: S,
                slots: &mut [u32],
                finish: &dyn FinishReplicas,
            ) {
                #[target_feature(enable = $features)]
                #[inline(never)]
                fn go<S: Sequence<$token>>(
                    t: $token,
                    words: &[u64],
                    replicas: usize,
                    sequence: S,
                    slots: &mut [u32],
                    finish: &dyn FinishReplicas,
                ) {
                    dx::replicas::<$token, S::Probe>(t, words, replicas, sequence.ready(t), slots, finish);
                }
                // SAFETY: the token proves that the processor has the features that `go` enables.
                unsafe { go(t, words, replicas, sequence, slots, finish) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
entries!(OnAvx2, Isa::Avx2, crate::lanes::avx2::Avx2, "avx2,bmi1,bmi2,lzcnt,popcnt,sse4.2");
#[cfg(target_arch = "x86_64")]
entries!(
    OnAvx512,
    Isa::Avx512,
    crate::lanes::avx512::Avx512,
    "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2,lzcnt,popcnt,sse4.2"
);
#[cfg(target_arch = "aarch64")]
entries!(OnNeon, Isa::Neon, crate::lanes::neon::Neon, "neon");
