//! Lanes: the same operation on several 32-bit words at once, one text for every instruction set.
//!
//! A kernel is written once, over [`Lanes`], and stamped out for each instruction set in `src/cpu`. What it takes for
//! such a text to become the code that one would write by hand:
//! - A *token* per instruction set, a type without content that only its `detect` makes. Whoever holds one has proof that
//!   the processor has the instructions, so that the operations are safe to call.
//! - Operations and kernels `#[inline(always)]`, entries with `#[target_feature]` that nobody inlines. Kernels use `while`
//!   loops and no closures: a closure, or an iterator chain around one, is a function without the features, and then
//!   every intrinsic is a call. `tests/run` looks for such calls in the release binary.
//! - Vectors and masks are opaque. A mask is a bit per lane on AVX-512 and the sign bits of a vector on AVX2.
//!
//! Memory is reached through slices with their bounds checked, and through [`Table`]s, whose indices wrap around.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
mod conformance;
mod copy;
pub(crate) mod one;
mod table;

pub(crate) use conformance::check;
pub(crate) use copy::copy_low_halves;
pub(crate) use table::Table;

/// Several 32-bit words at once. Lane i of a result depends on lane i of the operands, unless said otherwise.
///
/// Values of the associated types are only made by the methods of the token, so whoever has one has the instructions.
pub(crate) trait Lanes: Copy {
    /// `LANES` words of 32 bits.
    type U32: Copy;
    /// `LANES` words of 64 bits.
    type U64: Copy;
    /// `LANES` truth values.
    type Mask: Copy;
    /// Where [`pack`](Self::pack) moves the lanes of a mask.
    type Packing: Copy;
    /// 1024 bits in registers.
    type Bits1024: Copy;

    /// The number of lanes: a power of two, at most [`MOST_LANES`].
    const LANES: usize;

    // ---- memory ----------------------------------------------------------------------------------------------------

    /// Words `at..at + LANES`.
    ///
    /// # Panics
    /// If the slice ends before.
    fn load(self, words: &[u32], at: usize) -> Self::U32;

    /// Overwrites words `at..at + LANES`.
    ///
    /// # Panics
    /// If the slice ends before.
    fn store(self, words: &mut [u32], at: usize, value: Self::U32);

    /// Words `at..at + LANES` of 64 bits.
    ///
    /// # Panics
    /// If the slice ends before.
    fn load_u64(self, words: &[u64], at: usize) -> Self::U64;

    /// Asks for the cache line of a word that will be read soon; any index goes.
    fn prefetch(self, words: &[u64], at: usize);

    /// `table[index]`, for every lane.
    fn gather(self, table: Table<'_, u32>, index: Self::U32) -> Self::U32;

    /// `table[index]`, widened, for every lane.
    fn gather_u16(self, table: Table<'_, u16>, index: Self::U32) -> Self::U32;

    /// `words[index] = value`, for every lane, the last lane last.
    ///
    /// # Panics
    /// If an index is outside.
    fn scatter(self, words: &mut [u32], index: Self::U32, value: Self::U32);

    // ---- arithmetic ------------------------------------------------------------------------------------------------

    /// The same word in every lane.
    fn splat(self, word: u32) -> Self::U32;
    /// `first` in lane 0, `first + 1` in lane 1, and so on.
    fn count_from(self, first: u32) -> Self::U32;
    /// Sum, wrapping.
    fn add(self, a: Self::U32, b: Self::U32) -> Self::U32;
    /// Difference, wrapping.
    fn sub(self, a: Self::U32, b: Self::U32) -> Self::U32;
    /// Low half of the product.
    fn mul(self, a: Self::U32, b: Self::U32) -> Self::U32;
    /// High half of the product.
    fn mul_high(self, a: Self::U32, b: Self::U32) -> Self::U32;
    /// Exclusive or.
    fn xor(self, a: Self::U32, b: Self::U32) -> Self::U32;
    /// And.
    fn and(self, a: Self::U32, b: Self::U32) -> Self::U32;
    /// Or.
    fn or(self, a: Self::U32, b: Self::U32) -> Self::U32;
    /// Shift to the right by `K`, from 1 to 31.
    fn shr<const K: i32>(self, a: Self::U32) -> Self::U32;
    /// The CRC-32C state that 8 bytes, `word` and four zeros, leave from state 0.
    fn crc32c(self, word: Self::U32) -> Self::U32;

    // ---- 64 bits ---------------------------------------------------------------------------------------------------

    /// The same word in every lane.
    fn splat_u64(self, word: u64) -> Self::U64;
    /// Exclusive or.
    fn xor_u64(self, a: Self::U64, b: Self::U64) -> Self::U64;
    /// Low half of the product.
    fn mul_u64(self, a: Self::U64, b: Self::U64) -> Self::U64;
    /// Shift to the right by `K`, from 1 to 63.
    fn shr_u64<const K: i32>(self, a: Self::U64) -> Self::U64;
    /// The low and the high halves.
    fn halves(self, a: Self::U64) -> (Self::U32, Self::U32);

    // ---- bits in registers -----------------------------------------------------------------------------------------

    /// Takes 32 words into registers.
    fn bits_1024(self, words: &[u32; 32]) -> Self::Bits1024;
    /// Word `index % 32` of them.
    fn word_of_1024(self, bits: Self::Bits1024, index: Self::U32) -> Self::U32;

    // ---- masks -----------------------------------------------------------------------------------------------------

    /// Whether bit `index % 32` of the word is set.
    fn bit(self, word: Self::U32, index: Self::U32) -> Self::Mask;
    /// Whether both are equal.
    fn equal(self, a: Self::U32, b: Self::U32) -> Self::Mask;
    /// Whether a is at most b, as unsigned numbers.
    fn at_most(self, a: Self::U32, b: Self::U32) -> Self::Mask;
    /// The first lanes, as many as `count` says, or all.
    fn first_lanes(self, count: usize) -> Self::Mask;
    /// The lanes that are not in the mask.
    fn not(self, a: Self::Mask) -> Self::Mask;
    /// The lanes that are in both.
    fn both(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// The lanes that are in either.
    fn either(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// How many lanes are in the mask.
    fn count(self, a: Self::Mask) -> usize;
    /// `yes` in the lanes of the mask, `no` in the others.
    fn select(self, mask: Self::Mask, yes: Self::U32, no: Self::U32) -> Self::U32;

    // ---- across lanes ----------------------------------------------------------------------------------------------

    /// How to move the lanes of the mask to the front.
    fn packing(self, mask: Self::Mask) -> Self::Packing;
    /// The lanes of the packing's mask, in order, in the first lanes. What the others hold is not said.
    fn pack(self, packing: Self::Packing, value: Self::U32) -> Self::U32;
    /// Fills the lanes of the mask, in order, with the first lanes of `value`; the other lanes are those of `old`.
    fn expand(self, mask: Self::Mask, value: Self::U32, old: Self::U32) -> Self::U32;
}

/// The most lanes that any instruction set has.
pub(crate) const MOST_LANES: usize = 16;

/// The eight tables of the CRC-32C step: `CRC32C_NIBBLES[i][v]` is what nibble i of value v adds to the state.
///
/// The step is linear over GF(2), so the state is the exclusive or of what its eight nibbles leave.
pub(crate) static CRC32C_NIBBLES: [[u32; 16]; 8] = crc32c_nibbles();

#[expect(clippy::cast_possible_truncation, reason = "values below 16")]
const fn crc32c_nibbles() -> [[u32; 16]; 8] {
    /// Castagnoli's polynomial, bits reversed.
    const POLYNOMIAL: u32 = 0x82F6_3B78;
    let mut tables = [[0; 16]; 8];
    let mut nibble = 0;
    while nibble < 8 {
        let mut value = 0;
        while value < 16 {
            let mut state = (value as u32) << (4 * nibble);
            let mut bit = 0;
            while bit < 64 {
                state = if state & 1 == 1 { state >> 1 ^ POLYNOMIAL } else { state >> 1 };
                bit += 1;
            }
            tables[nibble][value] = state;
            value += 1;
        }
        nibble += 1;
    }
    tables
}
