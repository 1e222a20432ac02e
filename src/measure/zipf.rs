//! Ranks by Zipf's law with exponent 1: rank `r` of `n` comes with a probability proportional to `1 / r`.
//!
//! Source: W. Hoermann, G. Derflinger, Rejection-inversion to generate variates from monotone discrete distributions,
//! ACM Transactions on Modeling and Computer Simulation 6 (3), 1996. Logarithm and exponential are those of `libm`, in
//! Rust throughout, because those of systems differ in the last bit, and then ranks would.

use libm::{exp, log};

/// Draws ranks from 1 to some last one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zipf {
    last: u64,
    /// The integral of the hat, the logarithm, at its two ends.
    low: f64,
    high: f64,
    /// Ranks this near to where they were drawn are taken without a further look.
    near: f64,
}

impl Zipf {
    /// Ranks from 1 to `last`, which is at least 1 and at most 2^53.
    pub(super) fn new(last: u64) -> Self {
        Self { last, low: log(1.5) - 1.0, high: log(last as f64 + 0.5), near: 2.0 - exp(log(2.5) - 0.5) }
    }

    /// The rank that comes of an endless stream of uniform words. The first one is mostly enough.
    pub(super) fn rank(&self, words: impl Iterator<Item = u64>) -> u64 {
        for word in words {
            let under = self.high + unit(word) * (self.low - self.high);
            let at = exp(under);
            let rank = nearest(at).clamp(1, self.last);
            let point = rank as f64;
            if point - at <= self.near || under >= log(point + 0.5) - 1.0 / point {
                return rank;
            }
        }
        // Only a stream that ends gets here.
        1
    }
}

/// A word as a number from 0 up to, but not, 1: its upper 53 bits.
fn unit(word: u64) -> f64 {
    (word >> 11) as f64 / (1_u64 << 53) as f64
}

/// The integer nearest to a number that is positive and at most a little above 2^53.
#[expect(clippy::cast_possible_truncation, reason = "the range is given, and casts saturate")]
fn nearest(number: f64) -> u64 {
    (number + 0.5) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::fmix64;

    /// Ranks of as many streams of words.
    fn ranks(last: u64, count: u64) -> Vec<u64> {
        let zipf = Zipf::new(last);
        (0..count).map(|row| zipf.rank((0..).map(|draw| fmix64((row << 16) + draw + 1)))).collect()
    }

    #[test]
    fn shares_are_those_of_the_law() {
        for last in [1, 2, 3, 10, 1000] {
            let count = 200_000;
            let mut found = vec![0_u64; usize::try_from(last).unwrap() + 1];
            for rank in ranks(last, count) {
                found[usize::try_from(rank).unwrap()] += 1;
            }
            let sum: f64 = (1..=last).map(|rank| 1.0 / rank as f64).sum();
            let mut chi_square = 0.0;
            for rank in 1..=last {
                let expected = count as f64 / (rank as f64 * sum);
                chi_square += (found[usize::try_from(rank).unwrap()] as f64 - expected).powi(2) / expected;
            }
            // Mean `last - 1`, standard deviation sqrt(2 (last - 1)): five of them.
            let free = last as f64 - 1.0;
            assert!(chi_square <= free + 5.0 * (2.0 * free).sqrt(), "{last} ranks: chi-square {chi_square}");
        }
    }

    #[test]
    fn every_rank_is_inside_and_the_largest_range_works() {
        let last = 1 << 53;
        let found = ranks(last, 100_000);
        assert!(found.iter().all(|rank| (1..=last).contains(rank)));
        // The harmonic number of 2^53 is about ln(2^53) + 0.5772: rank 1 has a share of 1 / 37.31.
        let first = found.iter().filter(|rank| **rank == 1).count() as f64;
        assert!((first - 2680.0).abs() < 5.0 * 51.0, "{first}");
        for word in [0, 1 << 11, u64::MAX] {
            assert!((1..=last).contains(&Zipf::new(last).rank([word].into_iter())));
            assert_eq!(Zipf::new(1).rank([word].into_iter()), 1);
        }
    }
}
