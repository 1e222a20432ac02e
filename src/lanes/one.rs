//! One lane: the operations in plain integer code, for every processor.

use super::{CRC32C_NIBBLES, Lanes, Table};

/// Plain integer code: every processor has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct One(());

impl One {
    /// The token.
    pub(crate) const TOKEN: Self = Self(());
}

#[expect(clippy::cast_possible_truncation, reason = "halves of wider words")]
impl Lanes for One {
    type U32 = u32;
    type U64 = u64;
    type Mask = bool;
    type Packing = ();
    type Bits1024 = [u32; 32];

    const LANES: usize = 1;

    #[inline(always)]
    fn load(self, words: &[u32], at: usize) -> u32 {
        words[at]
    }

    #[inline(always)]
    fn store(self, words: &mut [u32], at: usize, value: u32) {
        words[at] = value;
    }

    #[inline(always)]
    fn load_u64(self, words: &[u64], at: usize) -> u64 {
        words[at]
    }

    #[inline(always)]
    fn prefetch(self, _words: &[u64], _at: usize) {}

    #[inline(always)]
    fn gather(self, table: Table<'_, u32>, index: u32) -> u32 {
        table.entry(index)
    }

    #[inline(always)]
    fn gather_u16(self, table: Table<'_, u16>, index: u32) -> u32 {
        u32::from(table.entry(index))
    }

    #[inline(always)]
    fn scatter(self, words: &mut [u32], index: u32, value: u32) {
        words[index as usize] = value;
    }

    #[inline(always)]
    fn splat(self, word: u32) -> u32 {
        word
    }

    #[inline(always)]
    fn count_from(self, first: u32) -> u32 {
        first
    }

    #[inline(always)]
    fn add(self, a: u32, b: u32) -> u32 {
        a.wrapping_add(b)
    }

    #[inline(always)]
    fn sub(self, a: u32, b: u32) -> u32 {
        a.wrapping_sub(b)
    }

    #[inline(always)]
    fn mul(self, a: u32, b: u32) -> u32 {
        a.wrapping_mul(b)
    }

    #[inline(always)]
    fn mul_high(self, a: u32, b: u32) -> u32 {
        ((u64::from(a) * u64::from(b)) >> 32) as u32
    }

    #[inline(always)]
    fn xor(self, a: u32, b: u32) -> u32 {
        a ^ b
    }

    #[inline(always)]
    fn and(self, a: u32, b: u32) -> u32 {
        a & b
    }

    #[inline(always)]
    fn or(self, a: u32, b: u32) -> u32 {
        a | b
    }

    #[inline(always)]
    fn shr<const K: i32>(self, a: u32) -> u32 {
        a >> K
    }

    #[inline(always)]
    fn crc32c(self, word: u32) -> u32 {
        let mut state = 0;
        let mut nibble = 0;
        while nibble < 8 {
            state ^= CRC32C_NIBBLES[nibble][(word >> (4 * nibble) & 15) as usize];
            nibble += 1;
        }
        state
    }

    #[inline(always)]
    fn splat_u64(self, word: u64) -> u64 {
        word
    }

    #[inline(always)]
    fn xor_u64(self, a: u64, b: u64) -> u64 {
        a ^ b
    }

    #[inline(always)]
    fn mul_u64(self, a: u64, b: u64) -> u64 {
        a.wrapping_mul(b)
    }

    #[inline(always)]
    fn shr_u64<const K: i32>(self, a: u64) -> u64 {
        a >> K
    }

    #[inline(always)]
    fn halves(self, a: u64) -> (u32, u32) {
        (a as u32, (a >> 32) as u32)
    }

    #[inline(always)]
    fn bits_1024(self, words: &[u32; 32]) -> [u32; 32] {
        *words
    }

    #[inline(always)]
    fn word_of_1024(self, bits: [u32; 32], index: u32) -> u32 {
        bits[(index % 32) as usize]
    }

    #[inline(always)]
    fn bit(self, word: u32, index: u32) -> bool {
        word >> (index % 32) & 1 == 1
    }

    #[inline(always)]
    fn equal(self, a: u32, b: u32) -> bool {
        a == b
    }

    #[inline(always)]
    fn at_most(self, a: u32, b: u32) -> bool {
        a <= b
    }

    #[inline(always)]
    fn first_lanes(self, count: usize) -> bool {
        count > 0
    }

    #[inline(always)]
    fn not(self, a: bool) -> bool {
        !a
    }

    #[inline(always)]
    fn both(self, a: bool, b: bool) -> bool {
        a & b
    }

    #[inline(always)]
    fn either(self, a: bool, b: bool) -> bool {
        a | b
    }

    #[inline(always)]
    fn count(self, a: bool) -> usize {
        usize::from(a)
    }

    #[inline(always)]
    fn select(self, mask: bool, yes: u32, no: u32) -> u32 {
        if mask { yes } else { no }
    }

    #[inline(always)]
    fn packing(self, _mask: bool) {}

    #[inline(always)]
    fn pack(self, _packing: (), value: u32) -> u32 {
        value
    }

    #[inline(always)]
    fn expand(self, mask: bool, value: u32, old: u32) -> u32 {
        if mask { value } else { old }
    }
}
