//! Keys for benches and trials, of several families: every key is a function of its row, so that any thread may make any
//! of them.

use std::fmt;
use std::str::FromStr;

use super::zipf::Zipf;
use crate::error::{Error, Result, by_name};
use crate::hash::fmix64;
use crate::keys::KeyType;

/// The most different keys that [`KeyFamily::Zipf`] draws from: above, the arithmetic of `f64` would skip ranks.
pub const MAX_DISTINCT: u64 = 1 << 53;

/// Bytes of a key of [`KeyFamily::Text`].
pub const TEXT_BYTES: usize = 20;

/// A family of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyFamily {
    /// The integers from the seed on: key `i` is `seed + i`, after 2^64 - 1 comes 0.
    Sequential,
    /// Integers of no order, each at most once: for every seed a bijection of the rows.
    Random,
    /// Texts of 20 bytes, each at most once: `key-` and 16 hexadecimal digits, those of key `i` of [`Random`](Self::Random).
    Text,
    /// Integers of which few come often and many come rarely: the one of rank `r` with a probability proportional to
    /// `1 / r`. The integer of rank `r` is key `r` of [`Random`](Self::Random), so that hot keys are no small numbers.
    Zipf,
}

impl KeyFamily {
    /// Every family.
    pub const ALL: [Self; 4] = [Self::Sequential, Self::Random, Self::Text, Self::Zipf];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Random => "random",
            Self::Text => "text",
            Self::Zipf => "zipf",
        }
    }

    /// The type of its keys.
    pub fn key_type(self) -> KeyType {
        if self == Self::Text { KeyType::Text } else { KeyType::U64 }
    }
}

impl fmt::Display for KeyFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for KeyFamily {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        by_name("family of keys", Self::ALL, Self::name, name)
    }
}

/// Keys of a family, as many as anybody asks for. The key of a row depends on the family, the seed, the number of
/// different keys and the row alone, and is the same on every machine.
///
/// ```
/// use rehome::measure::{KeyFamily, SyntheticKeys};
///
/// let keys = SyntheticKeys::new(KeyFamily::Random, 1, None)?;
/// let mut some = [0; 3];
/// keys.fill(1_000_000, &mut some);
/// assert_eq!(some[1], keys.word(1_000_001));
///
/// let texts = SyntheticKeys::new(KeyFamily::Text, 1, None)?;
/// assert_eq!(texts.text(0), *b"key-c6ffe416e9a5dfee");
/// # Ok::<(), rehome::Error>(())
/// ```
///
/// Source: the counter of SplitMix64 (G. Steele, D. Lea, C. Flood, Fast splittable pseudorandom number generators,
/// OOPSLA 2014) with [`fmix64`] as its mix, and for [`KeyFamily::Zipf`] rejection-inversion (W. Hoermann, G. Derflinger,
/// ACM TOMACS 6 (3), 1996).
#[derive(Clone, Copy, Debug)]
pub struct SyntheticKeys {
    family: KeyFamily,
    seed: u64,
    /// Where the counter of random words starts.
    start: u64,
    /// The law of ranks, for the family that has one.
    ranks: Option<Zipf>,
}

/// The step of SplitMix64's counter: odd, so that the counter meets every word once.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

impl SyntheticKeys {
    /// The keys of a family for a seed; `distinct` is the number of different keys, which [`KeyFamily::Zipf`] needs and
    /// no other family takes.
    ///
    /// # Errors
    /// If `distinct` is given to another family or not to this one, or is 0 or above [`MAX_DISTINCT`].
    pub fn new(family: KeyFamily, seed: u64, distinct: Option<u64>) -> Result<Self> {
        let ranks = match (family, distinct) {
            (KeyFamily::Zipf, Some(distinct @ 1..=MAX_DISTINCT)) => Some(Zipf::new(distinct)),
            (KeyFamily::Zipf, Some(distinct)) => {
                return Err(Error::invalid(
                    format!("zipf cannot draw from {distinct} different keys"),
                    format!("give 1 to 2^53 ({MAX_DISTINCT})"),
                ));
            }
            (KeyFamily::Zipf, None) => {
                return Err(Error::invalid("zipf draws from a number of different keys", "say how many"));
            }
            (_, Some(_)) => {
                return Err(Error::invalid(
                    format!("{family} does not draw from a number of different keys"),
                    "only zipf does",
                ));
            }
            (_, None) => None,
        };
        Ok(Self { family, seed, start: fmix64(seed.wrapping_add(STEP)), ranks })
    }

    /// The family.
    pub fn family(&self) -> KeyFamily {
        self.family
    }

    /// The integer of a row; for [`KeyFamily::Text`] the one that its digits spell.
    ///
    /// # Complexity
    /// O(1), for [`KeyFamily::Zipf`] expected.
    #[inline]
    pub fn word(&self, row: u64) -> u64 {
        match (&self.ranks, self.family) {
            (Some(ranks), _) => {
                // A stream of words per row, as many as the draw takes.
                let stream = self.random(row);
                let words = (1_u64..).map(|draw| fmix64(stream.wrapping_add(draw.wrapping_mul(STEP))));
                self.random(ranks.rank(words))
            }
            (None, KeyFamily::Sequential) => self.seed.wrapping_add(row),
            (None, _) => self.random(row),
        }
    }

    /// The integers of the rows from `first` on, as [`word`](Self::word) gives them; rows after 2^64 - 1 are those from 0.
    pub fn fill(&self, first: u64, words: &mut [u64]) {
        for (row, word) in (0_u64..).zip(words) {
            *word = self.word(first.wrapping_add(row));
        }
    }

    /// The text of a row, as a key of [`KeyFamily::Text`].
    pub fn text(&self, row: u64) -> [u8; TEXT_BYTES] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = *b"key-0000000000000000";
        let word = self.word(row).to_be_bytes();
        for (digits, byte) in text[TEXT_BYTES - 16..].chunks_exact_mut(2).zip(word) {
            digits[0] = DIGITS[usize::from(byte >> 4)];
            digits[1] = DIGITS[usize::from(byte & 15)];
        }
        text
    }

    /// A bijection of the index, another one for every seed.
    #[inline]
    fn random(&self, index: u64) -> u64 {
        fmix64(self.start.wrapping_add(index.wrapping_mul(STEP)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn first<const N: usize>(family: KeyFamily, seed: u64, distinct: Option<u64>) -> [u64; N] {
        let mut words = [0; N];
        SyntheticKeys::new(family, seed, distinct).unwrap().fill(0, &mut words);
        words
    }

    #[test]
    fn the_keys_are_frozen() {
        assert_eq!(first(KeyFamily::Sequential, 7, None), [7, 8, 9]);
        assert_eq!(first(KeyFamily::Sequential, u64::MAX, None), [u64::MAX, 0, 1]);
        // Values from a program of its own, in another language.
        for (seed, expected) in [
            (
                0,
                [
                    0x6393_D51C_06C6_18DC,
                    0x79CF_C3DB_E5BB_FCAF,
                    0x31BF_662F_BF5B_F096,
                    0x44E9_421B_F684_5266,
                    0xD133_1EC4_F883_09A6,
                ],
            ),
            (
                1,
                [
                    0xC6FF_E416_E9A5_DFEE,
                    0x5B9A_6EBA_30AE_DEE8,
                    0x5C22_C219_C898_94FE,
                    0x60F2_E278_A41A_F110,
                    0x3D77_60B4_49EA_9E61,
                ],
            ),
            (
                u64::MAX,
                [
                    0x3A3C_7F8A_D167_625A,
                    0x076E_8699_5762_6605,
                    0xB9D9_91E6_D7DA_1D78,
                    0x6432_6BEC_4371_121B,
                    0xEF53_B34E_D95B_8BDB,
                ],
            ),
        ] {
            let keys = SyntheticKeys::new(KeyFamily::Random, seed, None).unwrap();
            assert_eq!([0, 1, 2, 1_000_000, u64::MAX].map(|row| keys.word(row)), expected, "seed {seed}");
            let texts = SyntheticKeys::new(KeyFamily::Text, seed, None).unwrap();
            assert_eq!(texts.text(1), format!("key-{:016x}", expected[1]).as_bytes());
        }
        let zipf = [0xA1E1_D8C8_0741_32BB, 0xF389_DB4C_FB5C_2AE0, 0x4F3D_B4A4_B5CC_E754, 0x82DF_2195_AA13_FBF9];
        assert_eq!(first(KeyFamily::Zipf, 1, Some(20_000_000)), zipf);
        for (seed, distinct, ranks) in [
            (0, 1000, [1, 17, 4, 2, 20, 35, 29, 238]),
            (1, 20_000_000, [1215111, 16192, 19354, 4, 719455, 17515, 2, 76340]),
        ] {
            let keys = SyntheticKeys::new(KeyFamily::Random, seed, None).unwrap();
            assert_eq!(first(KeyFamily::Zipf, seed, Some(distinct)), ranks.map(|rank| keys.word(rank)));
        }
    }

    #[test]
    fn any_piece_of_the_rows_is_the_same() {
        for family in KeyFamily::ALL {
            let distinct = (family == KeyFamily::Zipf).then_some(500);
            let keys = SyntheticKeys::new(family, 3, distinct).unwrap();
            assert_eq!(keys.family(), family);
            let mut whole = [0; 1000];
            keys.fill(u64::MAX - 499, &mut whole);
            for (row, piece) in whole.chunks(7).enumerate() {
                let mut words = vec![0; piece.len()];
                keys.fill((u64::MAX - 499).wrapping_add(7 * row as u64), &mut words);
                assert_eq!(words, piece, "{family}");
            }
        }
    }

    #[test]
    fn only_zipf_repeats_a_key() {
        for family in KeyFamily::ALL {
            let distinct = (family == KeyFamily::Zipf).then_some(1000);
            let mut words: Vec<u64> = first::<100_000>(family, 5, distinct).to_vec();
            words.sort_unstable();
            words.dedup();
            assert_eq!(words.len(), if distinct.is_some() { 1000 } else { 100_000 }, "{family}");
        }
        let (a, b) = (first::<1000>(KeyFamily::Random, 5, None), first::<1000>(KeyFamily::Random, 6, None));
        assert!(a.iter().all(|word| !b.contains(word)), "seeds have keys of their own");
    }

    #[test]
    fn hot_keys_of_zipf_come_as_often_as_the_law_says() {
        let (rows, distinct) = (300_000_u64, 10_000_u64);
        let keys = SyntheticKeys::new(KeyFamily::Zipf, 11, Some(distinct)).unwrap();
        let ranked = SyntheticKeys::new(KeyFamily::Random, 11, None).unwrap();
        let mut found = HashMap::new();
        for row in 0..rows {
            *found.entry(keys.word(row)).or_insert(0_u64) += 1;
        }
        let sum: f64 = (1..=distinct).map(|rank| 1.0 / rank as f64).sum();
        for rank in 1..=100 {
            let share = 1.0 / (rank as f64 * sum);
            let (mean, variance) = (rows as f64 * share, rows as f64 * share * (1.0 - share));
            let count = found.get(&ranked.word(rank)).copied().unwrap_or(0) as f64;
            assert!((count - mean).abs() <= 5.0 * variance.sqrt(), "rank {rank}: {count} instead of {mean}");
        }
        assert!(found.len() <= 10_000);
    }

    #[test]
    fn words_of_random_have_every_bit_half_the_time() {
        let words = first::<65_536>(KeyFamily::Random, 2, None);
        for bit in 0..64 {
            let ones = words.iter().filter(|word| *word >> bit & 1 == 1).count() as f64;
            assert!((ones - 32_768.0).abs() < 5.0 * 128.0, "bit {bit}: {ones}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let error =
            |family, distinct| SyntheticKeys::new(family, 0, distinct).map(drop).expect_err("an error").to_string();
        assert!(error(KeyFamily::Zipf, Some(0)).contains("0 different keys: give 1 to 2^53"));
        assert!(error(KeyFamily::Zipf, Some(MAX_DISTINCT + 1)).contains("9007199254740993"));
        assert!(error(KeyFamily::Zipf, None).contains("say how many"));
        assert!(error(KeyFamily::Random, Some(5)).contains("random does not"));
        SyntheticKeys::new(KeyFamily::Zipf, 0, Some(MAX_DISTINCT)).unwrap();
        for family in KeyFamily::ALL {
            assert_eq!(family.to_string().parse::<KeyFamily>().unwrap(), family);
        }
        let unknown = "gauss".parse::<KeyFamily>().unwrap_err().to_string();
        assert!(unknown.contains("\"gauss\": use one of sequential, random, text, zipf"), "{unknown}");
    }
}
