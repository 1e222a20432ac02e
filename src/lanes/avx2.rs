//! Eight lanes: AVX2. A mask is the sign bits of a vector.

use std::arch::x86_64::{
    __m128i, __m256i, _MM_HINT_T0, _mm_crc32_u64, _mm_loadl_epi64, _mm_loadu_si128, _mm_prefetch, _mm256_add_epi32,
    _mm256_add_epi64, _mm256_and_si256, _mm256_andnot_si256, _mm256_blend_epi32, _mm256_blendv_ps, _mm256_castps_si256,
    _mm256_castsi128_si256, _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_cmpgt_epi32, _mm256_cvtepu8_epi32,
    _mm256_extract_epi64, _mm256_inserti128_si256, _mm256_loadu_si256, _mm256_min_epu32, _mm256_movemask_ps,
    _mm256_mul_epu32, _mm256_mullo_epi32, _mm256_or_si256, _mm256_permutevar8x32_epi32, _mm256_set1_epi32,
    _mm256_set1_epi64x, _mm256_setr_epi32, _mm256_shuffle_ps, _mm256_slli_epi32, _mm256_slli_epi64, _mm256_sllv_epi32,
    _mm256_srli_epi32, _mm256_srli_epi64, _mm256_storeu_si256, _mm256_sub_epi32, _mm256_xor_si256,
};

use super::{Lanes, Table};

/// Proof that the processor has AVX2, BMI1, BMI2, LZCNT, POPCNT and SSE4.2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// The token, on processors that have the instructions.
    #[inline(always)]
    pub(crate) fn detect() -> Option<Self> {
        let found = std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("bmi2")
            && std::arch::is_x86_feature_detected!("lzcnt")
            && std::arch::is_x86_feature_detected!("popcnt")
            && std::arch::is_x86_feature_detected!("sse4.2");
        found.then_some(Self(()))
    }
}

/// Calls an intrinsic.
macro_rules! proved {
    ($call:expr) => {
        // SAFETY: the intrinsic works on values only and needs AVX2 or one of the features beside it, all of which
        // `detect` found before it made the token that every method here takes.
        unsafe { $call }
    };
}

/// Eight words of 32 bits.
#[derive(Clone, Copy)]
pub(crate) struct U32x8(__m256i);

/// Eight words of 64 bits: 0, 1, 4, 5 and 2, 3, 6, 7, so that halves come out in order.
#[derive(Clone, Copy)]
pub(crate) struct U64x8(__m256i, __m256i);

/// Eight truth values: the sign bits.
#[derive(Clone, Copy)]
pub(crate) struct Mask8(__m256i);

/// Which lane each lane takes its value from.
#[derive(Clone, Copy)]
pub(crate) struct Packing8(__m256i);

/// 1024 bits.
#[derive(Clone, Copy)]
pub(crate) struct Bits([__m256i; 4]);

/// `PACKING[m]`: the numbers of the bits set in m, ascending, one per byte.
static PACKING: [u64; 256] = packings();

const fn packings() -> [u64; 256] {
    let mut packings = [0; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut lane, mut place) = (0, 0);
        while lane < 8 {
            if mask >> lane & 1 == 1 {
                packings[mask] |= lane << (8 * place);
                place += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    packings
}

/// `EXPANDING[m]`: for every lane, how many bits of m are set below it, one per byte.
static EXPANDING: [u64; 256] = expandings();

const fn expandings() -> [u64; 256] {
    let mut expandings = [0; 256];
    let mut mask: usize = 0;
    while mask < 256 {
        let mut lane = 0;
        while lane < 8 {
            expandings[mask] |= ((mask & ((1 << lane) - 1)).count_ones() as u64) << (8 * lane);
            lane += 1;
        }
        mask += 1;
    }
    expandings
}

impl Avx2 {
    /// The lanes as pairs: lanes 0 and 1 in the first, and so on.
    #[inline(always)]
    #[expect(clippy::cast_sign_loss, reason = "bits, not numbers")]
    fn pairs(self, value: U32x8) -> [u64; 4] {
        proved!([
            _mm256_extract_epi64::<0>(value.0) as u64,
            _mm256_extract_epi64::<1>(value.0) as u64,
            _mm256_extract_epi64::<2>(value.0) as u64,
            _mm256_extract_epi64::<3>(value.0) as u64,
        ])
    }

    /// A vector from words.
    #[inline(always)]
    #[expect(clippy::cast_possible_wrap, reason = "bits, not numbers")]
    fn of_words(self, w: [u32; 8]) -> U32x8 {
        U32x8(proved!(_mm256_setr_epi32(
            w[0] as i32,
            w[1] as i32,
            w[2] as i32,
            w[3] as i32,
            w[4] as i32,
            w[5] as i32,
            w[6] as i32,
            w[7] as i32
        )))
    }

    #[inline(always)]
    #[expect(clippy::cast_sign_loss, reason = "eight bits")]
    fn bits_of(self, mask: Mask8) -> usize {
        proved!(_mm256_movemask_ps(_mm256_castsi256_ps(mask.0))) as usize & 0xFF
    }

    /// Eight bytes of a table of lane numbers, widened.
    #[inline(always)]
    fn lane_numbers(self, bytes: &u64) -> __m256i {
        let pointer = std::ptr::from_ref(bytes).cast::<__m128i>();
        // SAFETY: `_mm_loadl_epi64` reads 8 bytes at any alignment, which the reference vouches for; the token proves
        // the features.
        unsafe { _mm256_cvtepu8_epi32(_mm_loadl_epi64(pointer)) }
    }
}

/// `halves` of a pair of lanes.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "halves")]
fn low(pair: u64) -> u32 {
    pair as u32
}

#[inline(always)]
fn high(pair: u64) -> u32 {
    low(pair >> 32)
}

#[expect(clippy::cast_possible_wrap, clippy::cast_possible_truncation, reason = "bits, and numbers of lanes")]
impl Lanes for Avx2 {
    type U32 = U32x8;
    type U64 = U64x8;
    type Mask = Mask8;
    type Packing = Packing8;
    type Bits1024 = Bits;

    const LANES: usize = 8;

    #[inline(always)]
    fn load(self, words: &[u32], at: usize) -> U32x8 {
        let words = &words[at..at + 8];
        // SAFETY: the slice has 8 words, any alignment goes, and the token proves the features.
        U32x8(unsafe { _mm256_loadu_si256(words.as_ptr().cast()) })
    }

    #[inline(always)]
    fn store(self, words: &mut [u32], at: usize, value: U32x8) {
        let words = &mut words[at..at + 8];
        // SAFETY: the slice has 8 words, any alignment goes, and the token proves the features.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), value.0) }
    }

    #[inline(always)]
    fn load_u64(self, words: &[u64], at: usize) -> U64x8 {
        let words = &words[at..at + 8];
        // SAFETY: the slice has 8 words of 64 bits, of which each load takes two; any alignment goes, and the token
        // proves the features.
        unsafe {
            let start = words.as_ptr().cast::<__m128i>();
            U64x8(
                _mm256_inserti128_si256::<1>(
                    _mm256_castsi128_si256(_mm_loadu_si128(start)),
                    _mm_loadu_si128(start.add(2)),
                ),
                _mm256_inserti128_si256::<1>(
                    _mm256_castsi128_si256(_mm_loadu_si128(start.add(1))),
                    _mm_loadu_si128(start.add(3)),
                ),
            )
        }
    }

    #[inline(always)]
    fn prefetch(self, words: &[u64], at: usize) {
        // SAFETY: a prefetch reads nothing, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(words.as_ptr().wrapping_add(at).cast()) }
    }

    #[inline(always)]
    fn gather(self, table: Table<'_, u32>, index: U32x8) -> U32x8 {
        let [a, b, c, d] = self.pairs(self.and(index, self.splat(table.mask())));
        // SAFETY: every lane was masked with the table's mask.
        let words = unsafe {
            [
                table.entry_unchecked(low(a)),
                table.entry_unchecked(high(a)),
                table.entry_unchecked(low(b)),
                table.entry_unchecked(high(b)),
                table.entry_unchecked(low(c)),
                table.entry_unchecked(high(c)),
                table.entry_unchecked(low(d)),
                table.entry_unchecked(high(d)),
            ]
        };
        self.of_words(words)
    }

    #[inline(always)]
    fn gather_u16(self, table: Table<'_, u16>, index: U32x8) -> U32x8 {
        let [a, b, c, d] = self.pairs(self.and(index, self.splat(table.mask())));
        // SAFETY: every lane was masked with the table's mask.
        let words = unsafe {
            [
                u32::from(table.entry_unchecked(low(a))),
                u32::from(table.entry_unchecked(high(a))),
                u32::from(table.entry_unchecked(low(b))),
                u32::from(table.entry_unchecked(high(b))),
                u32::from(table.entry_unchecked(low(c))),
                u32::from(table.entry_unchecked(high(c))),
                u32::from(table.entry_unchecked(low(d))),
                u32::from(table.entry_unchecked(high(d))),
            ]
        };
        self.of_words(words)
    }

    #[inline(always)]
    fn scatter(self, words: &mut [u32], index: U32x8, value: U32x8) {
        let last = u32::try_from(words.len()).unwrap_or(u32::MAX).wrapping_sub(1);
        let inside = self.count(self.at_most(index, self.splat(last)));
        assert!(inside == 8 && !words.is_empty(), "an index of a scatter is outside");
        let (indices, values) = (self.pairs(index), self.pairs(value));
        let mut pair = 0;
        while pair < 4 {
            // SAFETY: every index is at most the last one, which the line above checked, and there is one.
            unsafe {
                *words.get_unchecked_mut(low(indices[pair]) as usize) = low(values[pair]);
                *words.get_unchecked_mut(high(indices[pair]) as usize) = high(values[pair]);
            }
            pair += 1;
        }
    }

    #[inline(always)]
    fn splat(self, word: u32) -> U32x8 {
        U32x8(proved!(_mm256_set1_epi32(word as i32)))
    }

    #[inline(always)]
    fn count_from(self, first: u32) -> U32x8 {
        U32x8(proved!(_mm256_add_epi32(_mm256_set1_epi32(first as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))))
    }

    #[inline(always)]
    fn add(self, a: U32x8, b: U32x8) -> U32x8 {
        U32x8(proved!(_mm256_add_epi32(a.0, b.0)))
    }

    #[inline(always)]
    fn sub(self, a: U32x8, b: U32x8) -> U32x8 {
        U32x8(proved!(_mm256_sub_epi32(a.0, b.0)))
    }

    #[inline(always)]
    fn mul(self, a: U32x8, b: U32x8) -> U32x8 {
        U32x8(proved!(_mm256_mullo_epi32(a.0, b.0)))
    }

    #[inline(always)]
    fn mul_high(self, a: U32x8, b: U32x8) -> U32x8 {
        U32x8(proved!({
            let even = _mm256_mul_epu32(a.0, b.0);
            let odd = _mm256_mul_epu32(_mm256_srli_epi64::<32>(a.0), _mm256_srli_epi64::<32>(b.0));
            _mm256_blend_epi32::<0b1010_1010>(_mm256_srli_epi64::<32>(even), odd)
        }))
    }

    #[inline(always)]
    fn xor(self, a: U32x8, b: U32x8) -> U32x8 {
        U32x8(proved!(_mm256_xor_si256(a.0, b.0)))
    }

    #[inline(always)]
    fn and(self, a: U32x8, b: U32x8) -> U32x8 {
        U32x8(proved!(_mm256_and_si256(a.0, b.0)))
    }

    #[inline(always)]
    fn or(self, a: U32x8, b: U32x8) -> U32x8 {
        U32x8(proved!(_mm256_or_si256(a.0, b.0)))
    }

    #[inline(always)]
    fn shr<const K: i32>(self, a: U32x8) -> U32x8 {
        U32x8(proved!(_mm256_srli_epi32::<K>(a.0)))
    }

    #[inline(always)]
    fn crc32c(self, word: U32x8) -> U32x8 {
        let pairs = self.pairs(word);
        let mut words = [0; 8];
        let mut pair = 0;
        while pair < 4 {
            words[2 * pair] = low(proved!(_mm_crc32_u64(0, pairs[pair] & 0xFFFF_FFFF)));
            words[2 * pair + 1] = low(proved!(_mm_crc32_u64(0, pairs[pair] >> 32)));
            pair += 1;
        }
        self.of_words(words)
    }

    #[inline(always)]
    fn splat_u64(self, word: u64) -> U64x8 {
        let word = proved!(_mm256_set1_epi64x(word as i64));
        U64x8(word, word)
    }

    #[inline(always)]
    fn xor_u64(self, a: U64x8, b: U64x8) -> U64x8 {
        proved!(U64x8(_mm256_xor_si256(a.0, b.0), _mm256_xor_si256(a.1, b.1)))
    }

    #[inline(always)]
    fn mul_u64(self, a: U64x8, b: U64x8) -> U64x8 {
        /// Low halves in full, and the cross products where they count.
        #[inline(always)]
        unsafe fn product(a: __m256i, b: __m256i) -> __m256i {
            // SAFETY: AVX2, which the caller's token proves.
            unsafe {
                let cross = _mm256_add_epi64(
                    _mm256_mul_epu32(_mm256_srli_epi64::<32>(a), b),
                    _mm256_mul_epu32(a, _mm256_srli_epi64::<32>(b)),
                );
                _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64::<32>(cross))
            }
        }
        proved!(U64x8(product(a.0, b.0), product(a.1, b.1)))
    }

    #[inline(always)]
    fn shr_u64<const K: i32>(self, a: U64x8) -> U64x8 {
        proved!(U64x8(_mm256_srli_epi64::<K>(a.0), _mm256_srli_epi64::<K>(a.1)))
    }

    #[inline(always)]
    fn halves(self, a: U64x8) -> (U32x8, U32x8) {
        proved!({
            let (first, second) = (_mm256_castsi256_ps(a.0), _mm256_castsi256_ps(a.1));
            let low = _mm256_shuffle_ps::<0b10_00_10_00>(first, second);
            let high = _mm256_shuffle_ps::<0b11_01_11_01>(first, second);
            (U32x8(_mm256_castps_si256(low)), U32x8(_mm256_castps_si256(high)))
        })
    }

    #[inline(always)]
    fn bits_1024(self, words: &[u32; 32]) -> Bits {
        Bits([self.load(words, 0).0, self.load(words, 8).0, self.load(words, 16).0, self.load(words, 24).0])
    }

    #[inline(always)]
    fn word_of_1024(self, bits: Bits, index: U32x8) -> U32x8 {
        let Bits([a, b, c, d]) = bits;
        // The permutation looks at the low three bits; bits 3 and 4 choose between the four.
        let (eights, sixteens) =
            proved!((Mask8(_mm256_slli_epi32::<28>(index.0)), Mask8(_mm256_slli_epi32::<27>(index.0))));
        let from = Packing8(index.0);
        let lower = self.select(eights, self.pack(from, U32x8(b)), self.pack(from, U32x8(a)));
        let upper = self.select(eights, self.pack(from, U32x8(d)), self.pack(from, U32x8(c)));
        self.select(sixteens, upper, lower)
    }

    #[inline(always)]
    fn bit(self, word: U32x8, index: U32x8) -> Mask8 {
        // Shifted to the left by 31 - index % 32, the bit is the sign.
        Mask8(proved!(_mm256_sllv_epi32(word.0, _mm256_andnot_si256(index.0, _mm256_set1_epi32(31)))))
    }

    #[inline(always)]
    fn equal(self, a: U32x8, b: U32x8) -> Mask8 {
        Mask8(proved!(_mm256_cmpeq_epi32(a.0, b.0)))
    }

    #[inline(always)]
    fn at_most(self, a: U32x8, b: U32x8) -> Mask8 {
        Mask8(proved!(_mm256_cmpeq_epi32(_mm256_min_epu32(a.0, b.0), a.0)))
    }

    #[inline(always)]
    fn first_lanes(self, count: usize) -> Mask8 {
        let count = if count < 8 { count as i32 } else { 8 };
        Mask8(proved!(_mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))))
    }

    #[inline(always)]
    fn not(self, a: Mask8) -> Mask8 {
        Mask8(proved!(_mm256_xor_si256(a.0, _mm256_set1_epi32(-1))))
    }

    #[inline(always)]
    fn both(self, a: Mask8, b: Mask8) -> Mask8 {
        Mask8(proved!(_mm256_and_si256(a.0, b.0)))
    }

    #[inline(always)]
    fn either(self, a: Mask8, b: Mask8) -> Mask8 {
        Mask8(proved!(_mm256_or_si256(a.0, b.0)))
    }

    #[inline(always)]
    fn count(self, a: Mask8) -> usize {
        self.bits_of(a).count_ones() as usize
    }

    #[inline(always)]
    fn select(self, mask: Mask8, yes: U32x8, no: U32x8) -> U32x8 {
        U32x8(proved!(_mm256_castps_si256(_mm256_blendv_ps(
            _mm256_castsi256_ps(no.0),
            _mm256_castsi256_ps(yes.0),
            _mm256_castsi256_ps(mask.0),
        ))))
    }

    #[inline(always)]
    fn packing(self, mask: Mask8) -> Packing8 {
        Packing8(self.lane_numbers(&PACKING[self.bits_of(mask)]))
    }

    #[inline(always)]
    fn pack(self, packing: Packing8, value: U32x8) -> U32x8 {
        U32x8(proved!(_mm256_permutevar8x32_epi32(value.0, packing.0)))
    }

    #[inline(always)]
    fn expand(self, mask: Mask8, value: U32x8, old: U32x8) -> U32x8 {
        let from = self.lane_numbers(&EXPANDING[self.bits_of(mask)]);
        self.select(mask, U32x8(proved!(_mm256_permutevar8x32_epi32(value.0, from))), old)
    }
}
