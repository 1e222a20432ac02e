//! Primes: the sizes of the tables.

/// Whether the number is prime, by the test of Miller and Rabin with the first twelve primes as bases, which errs on
/// no number below 2^64.
///
/// # Complexity
/// About 12 * 64 products of 64 bits.
///
/// Source: J. Sorenson, J. Webster, "Strong pseudoprimes to twelve prime bases", Mathematics of Computation 86, 2017.
pub(in crate::placement) fn is_prime(n: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if n < 2 {
        return false;
    }
    if let Some(base) = BASES.into_iter().find(|base| n.is_multiple_of(*base)) {
        return n == base;
    }
    let twos = (n - 1).trailing_zeros();
    BASES.into_iter().all(|base| {
        let mut power = power(base, (n - 1) >> twos, n);
        if power == 1 {
            return true;
        }
        for _ in 1..twos {
            if power == n - 1 {
                return true;
            }
            power = product(power, power, n);
        }
        power == n - 1
    })
}

/// The smallest prime at or above `least`, if it fits into 32 bits.
pub(in crate::placement) fn prime_from(least: u64) -> Option<u32> {
    let least = u32::try_from(least).ok()?;
    (least..=u32::MAX).find(|n| is_prime(u64::from(*n)))
}

fn power(base: u64, exponent: u64, modulus: u64) -> u64 {
    let (mut result, mut square, mut left) = (1, base, exponent);
    while left > 0 {
        if left & 1 == 1 {
            result = product(result, square, modulus);
        }
        square = product(square, square, modulus);
        left >>= 1;
    }
    result
}

#[expect(clippy::cast_possible_truncation, reason = "the remainder is below a modulus of 64 bits")]
fn product(a: u64, b: u64, modulus: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(modulus)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_primes_of_a_sieve() {
        let mut composite = vec![false; 200_000];
        for n in 2..composite.len() {
            assert_eq!(is_prime(n as u64), !composite[n], "{n}");
            (n * n..composite.len()).step_by(n).for_each(|multiple| composite[multiple] = true);
        }
        assert!(!is_prime(0) && !is_prime(1));
    }

    #[test]
    fn is_not_fooled_by_pseudoprimes() {
        // Strong pseudoprimes to the first 1, 4, 5, 8 and 11 bases, Carmichael numbers, squares of primes.
        let composite = [
            2047,
            3_215_031_751,
            2_152_302_898_747,
            341_550_071_728_321,
            3_825_123_056_546_413_051,
            561,
            294_409,
            56_052_361,
            1369,
            1681,
            4_294_967_291 * 4_294_967_279,
            u64::MAX,
        ];
        for n in composite {
            assert!(!is_prime(n), "{n}");
        }
        for n in [65_537, 2_147_483_647, 4_294_967_291, (1 << 61) - 1, 18_446_744_073_709_551_557] {
            assert!(is_prime(n), "{n}");
        }
    }

    #[test]
    fn the_next_prime_fits_or_is_none() {
        assert_eq!([0, 2, 3, 4, 90, 100].map(prime_from), [2, 2, 3, 5, 97, 101].map(Some));
        assert_eq!(prime_from(4_294_967_280), Some(4_294_967_291));
        assert_eq!([4_294_967_292, 1 << 32, u64::MAX].map(prime_from), [None; 3]);
    }
}
