//! Defaults that a new cluster takes from the number of its nodes. They are written into its description then, and
//! never derived anew.

use crate::error::{Error, Result};

/// Slots of a new cluster: the next power of two at or above the number of nodes, times 2.
#[expect(clippy::unnecessary_wraps, reason = "the type of all defaults; what is too large is refused by the range")]
pub(super) fn twice_the_power(nodes: u64) -> Result<u64> {
    Ok(nodes.max(1).next_power_of_two() * 2)
}

/// Entries of a new Maglev table: the smallest prime at or above 100 * 2^ceil(log2 N) for N nodes.
///
/// Source: `spec/placement.md`, "Tables and stateful baselines".
pub(super) fn maglev_size(nodes: u64) -> Result<u64> {
    let least = nodes.max(1).checked_next_power_of_two().and_then(|nodes| nodes.checked_mul(100));
    least.and_then(prime_from).map(u64::from).ok_or_else(|| {
        Error::invalid(
            format!("a table for {nodes} nodes would have more than 2^32 entries"),
            "use at most 33554432 nodes, or an algorithm without a table",
        )
    })
}

/// The smallest prime at or above `least`, if it fits into 32 bits.
pub(crate) fn prime_from(least: u64) -> Option<u32> {
    (least..=u64::from(u32::MAX)).find(|number| is_prime(*number)).and_then(|prime| u32::try_from(prime).ok())
}

/// Whether a number is prime, by trial division: at most 2^15 divisions below 2^32.
pub(crate) fn is_prime(number: u64) -> bool {
    let mut divisors = std::iter::once(2).chain((3..).step_by(2)).take_while(|divisor| divisor * divisor <= number);
    number > 1 && divisors.all(|divisor| !number.is_multiple_of(divisor))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `maglev_size` of the vectors.
    #[test]
    fn sizes_of_new_tables() {
        let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/placement-v1.json"));
        let vectors: serde_json::Value = serde_json::from_str(text).unwrap();
        let pairs = vectors["maglev_size"].as_array().unwrap();
        assert!(pairs.len() > 5);
        for pair in pairs {
            assert_eq!(maglev_size(pair[0].as_u64().unwrap()).unwrap(), pair[1].as_u64().unwrap());
        }
        assert_eq!(maglev_size(0).unwrap(), maglev_size(1).unwrap());
        assert!(maglev_size(1 << 26).is_err());
    }

    #[test]
    fn primes() {
        let primes: Vec<u64> = (0..60).filter(|number| is_prime(*number)).collect();
        assert_eq!(primes, [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59]);
        assert_eq!([0, 4, 90, 4_294_967_280].map(prime_from), [2, 5, 97, 4_294_967_291].map(Some));
        assert_eq!([4_294_967_292, u64::MAX].map(prime_from), [None; 2]);
        assert!(is_prime(4_294_967_291) && !is_prime(4_294_836_225) && !is_prime(4_294_967_295));
    }
}
