//! The hash functions in lanes: the twins of [`fmix64`](super::fmix64) and [`mix32`](super::mix32).

use crate::lanes::Lanes;

/// The halves of [`fmix64`](super::fmix64) of every lane.
#[inline(always)]
pub(crate) fn fmix64_halves<L: Lanes>(t: L, word: L::U64) -> (L::U32, L::U32) {
    let z = t.xor_u64(word, t.shr_u64::<33>(word));
    let z = t.mul_u64(z, t.splat_u64(0xFF51_AFD7_ED55_8CCD));
    let z = t.xor_u64(z, t.shr_u64::<33>(z));
    let z = t.mul_u64(z, t.splat_u64(0xC4CE_B9FE_1A85_EC53));
    // z ^ (z >> 33) changes only the low half, by the high one.
    let (low, high) = t.halves(z);
    (t.xor(low, t.shr::<1>(high)), high)
}

/// [`mix32`](super::mix32) of every lane.
#[inline(always)]
pub(crate) fn mix32<L: Lanes>(t: L, word: L::U32) -> L::U32 {
    let x = t.xor(word, t.shr::<16>(word));
    let x = t.mul(x, t.splat(0x21F0_AAAD));
    let x = t.xor(x, t.shr::<15>(x));
    let x = t.mul(x, t.splat(0xD35A_2D97));
    t.xor(x, t.shr::<15>(x))
}
