//! Two bijections that mix every bit of a word into every other.

/// MurmurHash3's 64-bit finalizer: a bijection on 64-bit words.
///
/// Source: Austin Appleby, MurmurHash3 (public domain).
///
/// ```
/// assert_eq!(rehome::hash::fmix64(0), 0);
/// ```
#[inline(always)]
pub const fn fmix64(word: u64) -> u64 {
    let mut z = word;
    z ^= z >> 33;
    z = z.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    z ^= z >> 33;
    z = z.wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    z ^ (z >> 33)
}

/// A hash of lowbias32's shape with shifts 16, 15, 15: a bijection on 32-bit words.
///
/// The constants are not those of the first lowbias32 but of a later find with less bias.
///
/// Source: Chris Wellons's hash prospector (public domain), its issue 19.
///
/// ```
/// assert_eq!(rehome::hash::mix32(1), 114_555_507);
/// ```
#[inline(always)]
pub const fn mix32(word: u32) -> u32 {
    let mut x = word;
    x ^= x >> 16;
    x = x.wrapping_mul(0x21F0_AAAD);
    x ^= x >> 15;
    x = x.wrapping_mul(0xD35A_2D97);
    x ^ (x >> 15)
}

/// Keeps a loop over [`fmix64`] from being turned into vectors: baseline x86-64 has no vector product of 64 bits, and
/// what compilers make of several 32-bit ones is slower than the scalar product (`benches/README.md`).
#[inline(always)]
pub(crate) fn keep_scalar(word: u64) {
    #[cold]
    #[inline(never)]
    fn rare() {
        std::hint::black_box(());
    }
    if word == 0 {
        rare();
    }
}
