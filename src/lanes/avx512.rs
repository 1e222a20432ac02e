//! Sixteen lanes: AVX-512 with F, BW, VL and DQ. A mask is a bit per lane.

use std::arch::x86_64::{
    __m512i, __mmask16, _MM_HINT_T0, _mm_cvtsi32_si128, _mm_prefetch, _mm256_extract_epi64, _mm512_add_epi32,
    _mm512_and_si512, _mm512_andnot_si512, _mm512_castsi512_si256, _mm512_cmpeq_epu32_mask, _mm512_cmple_epu32_mask,
    _mm512_extracti64x4_epi64, _mm512_loadu_si512, _mm512_mask_blend_epi32, _mm512_mask_expand_epi32,
    _mm512_maskz_compress_epi32, _mm512_movepi32_mask, _mm512_mul_epu32, _mm512_mullo_epi32, _mm512_mullo_epi64,
    _mm512_or_si512, _mm512_permutex2var_epi32, _mm512_permutexvar_epi32, _mm512_set1_epi32, _mm512_set1_epi64,
    _mm512_setr_epi32, _mm512_sllv_epi32, _mm512_srl_epi32, _mm512_srl_epi64, _mm512_storeu_si512, _mm512_sub_epi32,
    _mm512_xor_si512,
};

use super::{CRC32C_NIBBLES, Lanes, Table};

/// Proof that the processor has AVX-512 F, BW, VL and DQ, and what [`Avx2`](super::avx2::Avx2) proves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// The token, on processors that have the instructions.
    #[inline(always)]
    pub(crate) fn detect() -> Option<Self> {
        let found = std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512bw")
            && std::arch::is_x86_feature_detected!("avx512vl")
            && std::arch::is_x86_feature_detected!("avx512dq")
            && super::avx2::Avx2::detect().is_some();
        found.then_some(Self(()))
    }
}

/// Calls an intrinsic.
macro_rules! proved {
    ($call:expr) => {
        // SAFETY: the intrinsic works on values only and needs AVX-512 F, BW, VL, DQ or less, all of which `detect` found
        // before it made the token that every method here takes.
        unsafe { $call }
    };
}

/// Sixteen words of 32 bits.
#[derive(Clone, Copy)]
pub(crate) struct U32x16(__m512i);

/// Sixteen words of 64 bits, in order.
#[derive(Clone, Copy)]
pub(crate) struct U64x16(__m512i, __m512i);

/// Sixteen truth values: a bit for each.
#[derive(Clone, Copy)]
pub(crate) struct Mask16(__mmask16);

/// 1024 bits.
#[derive(Clone, Copy)]
pub(crate) struct Bits(__m512i, __m512i);

impl Avx512 {
    /// The lanes as pairs: lanes 0 and 1 in the first, and so on.
    #[inline(always)]
    #[expect(clippy::cast_sign_loss, reason = "bits, not numbers")]
    fn pairs(self, value: U32x16) -> [u64; 8] {
        proved!({
            let (lower, upper) = (_mm512_castsi512_si256(value.0), _mm512_extracti64x4_epi64::<1>(value.0));
            [
                _mm256_extract_epi64::<0>(lower) as u64,
                _mm256_extract_epi64::<1>(lower) as u64,
                _mm256_extract_epi64::<2>(lower) as u64,
                _mm256_extract_epi64::<3>(lower) as u64,
                _mm256_extract_epi64::<0>(upper) as u64,
                _mm256_extract_epi64::<1>(upper) as u64,
                _mm256_extract_epi64::<2>(upper) as u64,
                _mm256_extract_epi64::<3>(upper) as u64,
            ]
        })
    }

    /// A vector from words.
    #[inline(always)]
    #[expect(clippy::cast_possible_wrap, reason = "bits, not numbers")]
    #[rustfmt::skip]
    fn of_words(self, w: [u32; 16]) -> U32x16 {
        U32x16(proved!(_mm512_setr_epi32(
            w[0] as i32, w[1] as i32, w[2] as i32, w[3] as i32, w[4] as i32, w[5] as i32, w[6] as i32, w[7] as i32,
            w[8] as i32, w[9] as i32, w[10] as i32, w[11] as i32, w[12] as i32, w[13] as i32, w[14] as i32, w[15] as i32,
        )))
    }

    /// The numbers of the lanes.
    #[inline(always)]
    fn lane_numbers(self) -> U32x16 {
        U32x16(proved!(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)))
    }
}

/// The low half of a pair of lanes.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "halves")]
fn low(pair: u64) -> u32 {
    pair as u32
}

/// The high half.
#[inline(always)]
fn high(pair: u64) -> u32 {
    low(pair >> 32)
}

#[expect(clippy::cast_possible_wrap, reason = "bits, not numbers")]
impl Lanes for Avx512 {
    type U32 = U32x16;
    type U64 = U64x16;
    type Mask = Mask16;
    type Packing = Mask16;
    type Bits1024 = Bits;

    const LANES: usize = 16;

    #[inline(always)]
    fn load(self, words: &[u32], at: usize) -> U32x16 {
        let words = &words[at..at + 16];
        // SAFETY: the slice has 16 words, any alignment goes, and the token proves the features.
        U32x16(unsafe { _mm512_loadu_si512(words.as_ptr().cast()) })
    }

    #[inline(always)]
    fn store(self, words: &mut [u32], at: usize, value: U32x16) {
        let words = &mut words[at..at + 16];
        // SAFETY: the slice has 16 words, any alignment goes, and the token proves the features.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), value.0) }
    }

    #[inline(always)]
    fn load_u64(self, words: &[u64], at: usize) -> U64x16 {
        let words = &words[at..at + 16];
        // SAFETY: the slice has 16 words of 64 bits, of which each load takes eight; any alignment goes, and the token
        // proves the features.
        unsafe {
            let start = words.as_ptr().cast::<__m512i>();
            U64x16(_mm512_loadu_si512(start), _mm512_loadu_si512(start.add(1)))
        }
    }

    #[inline(always)]
    fn prefetch(self, words: &[u64], at: usize) {
        // SAFETY: a prefetch reads nothing, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(words.as_ptr().wrapping_add(at).cast()) }
    }

    #[inline(always)]
    fn gather(self, table: Table<'_, u32>, index: U32x16) -> U32x16 {
        let pairs = self.pairs(self.and(index, self.splat(table.mask())));
        let mut words = [0; 16];
        let mut pair = 0;
        while pair < 8 {
            // SAFETY: every lane was masked with the table's mask.
            unsafe {
                words[2 * pair] = table.entry_unchecked(low(pairs[pair]));
                words[2 * pair + 1] = table.entry_unchecked(high(pairs[pair]));
            }
            pair += 1;
        }
        self.of_words(words)
    }

    #[inline(always)]
    fn gather_u16(self, table: Table<'_, u16>, index: U32x16) -> U32x16 {
        let pairs = self.pairs(self.and(index, self.splat(table.mask())));
        let mut words = [0; 16];
        let mut pair = 0;
        while pair < 8 {
            // SAFETY: every lane was masked with the table's mask.
            unsafe {
                words[2 * pair] = u32::from(table.entry_unchecked(low(pairs[pair])));
                words[2 * pair + 1] = u32::from(table.entry_unchecked(high(pairs[pair])));
            }
            pair += 1;
        }
        self.of_words(words)
    }

    #[inline(always)]
    fn scatter(self, words: &mut [u32], index: U32x16, value: U32x16) {
        let last = u32::try_from(words.len()).unwrap_or(u32::MAX).wrapping_sub(1);
        let inside = self.count(self.at_most(index, self.splat(last)));
        assert!(inside == 16 && !words.is_empty(), "an index of a scatter is outside");
        let (indices, values) = (self.pairs(index), self.pairs(value));
        let mut pair = 0;
        while pair < 8 {
            // SAFETY: every index is at most the last one, which the line above checked, and there is one.
            unsafe {
                *words.get_unchecked_mut(low(indices[pair]) as usize) = low(values[pair]);
                *words.get_unchecked_mut(high(indices[pair]) as usize) = high(values[pair]);
            }
            pair += 1;
        }
    }

    #[inline(always)]
    fn splat(self, word: u32) -> U32x16 {
        U32x16(proved!(_mm512_set1_epi32(word as i32)))
    }

    #[inline(always)]
    fn count_from(self, first: u32) -> U32x16 {
        self.add(self.splat(first), self.lane_numbers())
    }

    #[inline(always)]
    fn add(self, a: U32x16, b: U32x16) -> U32x16 {
        U32x16(proved!(_mm512_add_epi32(a.0, b.0)))
    }

    #[inline(always)]
    fn sub(self, a: U32x16, b: U32x16) -> U32x16 {
        U32x16(proved!(_mm512_sub_epi32(a.0, b.0)))
    }

    #[inline(always)]
    fn mul(self, a: U32x16, b: U32x16) -> U32x16 {
        U32x16(proved!(_mm512_mullo_epi32(a.0, b.0)))
    }

    #[inline(always)]
    fn mul_high(self, a: U32x16, b: U32x16) -> U32x16 {
        U32x16(proved!({
            let by = _mm_cvtsi32_si128(32);
            let even = _mm512_mul_epu32(a.0, b.0);
            let odd = _mm512_mul_epu32(_mm512_srl_epi64(a.0, by), _mm512_srl_epi64(b.0, by));
            _mm512_mask_blend_epi32(0b1010_1010_1010_1010, _mm512_srl_epi64(even, by), odd)
        }))
    }

    #[inline(always)]
    fn xor(self, a: U32x16, b: U32x16) -> U32x16 {
        U32x16(proved!(_mm512_xor_si512(a.0, b.0)))
    }

    #[inline(always)]
    fn and(self, a: U32x16, b: U32x16) -> U32x16 {
        U32x16(proved!(_mm512_and_si512(a.0, b.0)))
    }

    #[inline(always)]
    fn or(self, a: U32x16, b: U32x16) -> U32x16 {
        U32x16(proved!(_mm512_or_si512(a.0, b.0)))
    }

    // The shifts by an immediate take its number as another type than the trait has; those by a register become the same
    // instruction.
    #[inline(always)]
    fn shr<const K: i32>(self, a: U32x16) -> U32x16 {
        U32x16(proved!(_mm512_srl_epi32(a.0, _mm_cvtsi32_si128(K))))
    }

    #[inline(always)]
    fn crc32c(self, word: U32x16) -> U32x16 {
        // A permutation looks at the low four bits of every lane.
        let mut state = self.pick(0, word);
        state = self.xor(state, self.pick(1, self.shr::<4>(word)));
        state = self.xor(state, self.pick(2, self.shr::<8>(word)));
        state = self.xor(state, self.pick(3, self.shr::<12>(word)));
        state = self.xor(state, self.pick(4, self.shr::<16>(word)));
        state = self.xor(state, self.pick(5, self.shr::<20>(word)));
        state = self.xor(state, self.pick(6, self.shr::<24>(word)));
        self.xor(state, self.pick(7, self.shr::<28>(word)))
    }

    #[inline(always)]
    fn splat_u64(self, word: u64) -> U64x16 {
        let word = proved!(_mm512_set1_epi64(word as i64));
        U64x16(word, word)
    }

    #[inline(always)]
    fn xor_u64(self, a: U64x16, b: U64x16) -> U64x16 {
        proved!(U64x16(_mm512_xor_si512(a.0, b.0), _mm512_xor_si512(a.1, b.1)))
    }

    #[inline(always)]
    fn mul_u64(self, a: U64x16, b: U64x16) -> U64x16 {
        proved!(U64x16(_mm512_mullo_epi64(a.0, b.0), _mm512_mullo_epi64(a.1, b.1)))
    }

    #[inline(always)]
    fn shr_u64<const K: i32>(self, a: U64x16) -> U64x16 {
        proved!({
            let by = _mm_cvtsi32_si128(K);
            U64x16(_mm512_srl_epi64(a.0, by), _mm512_srl_epi64(a.1, by))
        })
    }

    #[inline(always)]
    #[rustfmt::skip]
    fn halves(self, a: U64x16) -> (U32x16, U32x16) {
        proved!({
            let low = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
            let high = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
            (
                U32x16(_mm512_permutex2var_epi32(a.0, low, a.1)),
                U32x16(_mm512_permutex2var_epi32(a.0, high, a.1)),
            )
        })
    }

    #[inline(always)]
    fn bits_1024(self, words: &[u32; 32]) -> Bits {
        Bits(self.load(words, 0).0, self.load(words, 16).0)
    }

    #[inline(always)]
    fn word_of_1024(self, bits: Bits, index: U32x16) -> U32x16 {
        U32x16(proved!(_mm512_permutex2var_epi32(bits.0, index.0, bits.1)))
    }

    #[inline(always)]
    fn bit(self, word: U32x16, index: U32x16) -> Mask16 {
        // Shifted to the left by 31 - index % 32, the bit is the sign.
        Mask16(proved!(_mm512_movepi32_mask(_mm512_sllv_epi32(
            word.0,
            _mm512_andnot_si512(index.0, _mm512_set1_epi32(31))
        ))))
    }

    #[inline(always)]
    fn equal(self, a: U32x16, b: U32x16) -> Mask16 {
        Mask16(proved!(_mm512_cmpeq_epu32_mask(a.0, b.0)))
    }

    #[inline(always)]
    fn at_most(self, a: U32x16, b: U32x16) -> Mask16 {
        Mask16(proved!(_mm512_cmple_epu32_mask(a.0, b.0)))
    }

    #[inline(always)]
    fn first_lanes(self, count: usize) -> Mask16 {
        Mask16(if count < 16 { (1 << count) - 1 } else { __mmask16::MAX })
    }

    #[inline(always)]
    fn not(self, a: Mask16) -> Mask16 {
        Mask16(!a.0)
    }

    #[inline(always)]
    fn both(self, a: Mask16, b: Mask16) -> Mask16 {
        Mask16(a.0 & b.0)
    }

    #[inline(always)]
    fn either(self, a: Mask16, b: Mask16) -> Mask16 {
        Mask16(a.0 | b.0)
    }

    #[inline(always)]
    fn count(self, a: Mask16) -> usize {
        a.0.count_ones() as usize
    }

    #[inline(always)]
    fn select(self, mask: Mask16, yes: U32x16, no: U32x16) -> U32x16 {
        U32x16(proved!(_mm512_mask_blend_epi32(mask.0, no.0, yes.0)))
    }

    #[inline(always)]
    fn packing(self, mask: Mask16) -> Mask16 {
        mask
    }

    #[inline(always)]
    fn pack(self, packing: Mask16, value: U32x16) -> U32x16 {
        U32x16(proved!(_mm512_maskz_compress_epi32(packing.0, value.0)))
    }

    #[inline(always)]
    fn expand(self, mask: Mask16, value: U32x16, old: U32x16) -> U32x16 {
        U32x16(proved!(_mm512_mask_expand_epi32(old.0, mask.0, value.0)))
    }
}

impl Avx512 {
    /// What the lowest nibble of every lane adds to a CRC-32C state when it stands at place `nibble`.
    #[inline(always)]
    fn pick(self, nibble: usize, index: U32x16) -> U32x16 {
        let table = self.load(&CRC32C_NIBBLES[nibble], 0);
        U32x16(proved!(_mm512_permutexvar_epi32(index.0, table.0)))
    }
}
