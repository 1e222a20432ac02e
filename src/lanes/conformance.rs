//! Every operation of every instruction set against plain integers.
//!
//! One text, [`check`], stamped out per instruction set like a kernel, so that what is tested is what kernels run. It is
//! compiled into the library, not only into its tests, so that `tests/kernels` can say which sets it could not run.

use super::{Lanes, MOST_LANES, Table};
use crate::hash::fmix64;

/// Words that find carries, signs and ends: all pairs of the special ones, then random ones.
fn operands() -> Vec<(u32, u32)> {
    const SPECIAL: [u32; 14] = [
        0,
        1,
        2,
        7,
        31,
        32,
        33,
        0x7FFF_FFFF,
        0x8000_0000,
        0x8000_0001,
        0xFFFF_FFFE,
        0xFFFF_FFFF,
        0x0000_FFFF,
        0xFFFF_0000,
    ];
    let mut pairs: Vec<(u32, u32)> = SPECIAL.iter().flat_map(|a| SPECIAL.map(|b| (*a, b))).collect();
    pairs.extend((0..2000).map(|index| crate::hash::halves(fmix64(index))));
    pairs.truncate(pairs.len() / MOST_LANES * MOST_LANES);
    pairs
}

/// The lanes of a vector.
macro_rules! lanes {
    ($t:expr, $value:expr) => {{
        let mut words = [0_u32; MOST_LANES];
        $t.store(&mut words, 0, $value);
        words
    }};
}

/// Lane by lane, the function of a and b.
macro_rules! same {
    ($n:expr, $t:expr, $a:expr, $b:expr, $got:expr, $want:expr) => {{
        let got = lanes!($t, $got);
        for lane in 0..$n {
            let want: fn(u32, u32) -> u32 = $want;
            assert_eq!(got[lane], want($a[lane], $b[lane]), "{} of {:#x}, {:#x}", stringify!($got), $a[lane], $b[lane]);
        }
    }};
}

/// A mask as one word per lane.
macro_rules! truth {
    ($t:expr, $mask:expr) => {
        lanes!($t, $t.select($mask, $t.splat(1), $t.splat(0)))
    };
}

/// Checks everything. Inlined into an entry that has the features.
///
/// # Panics
/// At the first operation that differs.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "halves of wider words")]
pub(crate) fn check<L: Lanes>(t: L) {
    let n = L::LANES;
    assert!(n.is_power_of_two() && n <= MOST_LANES);
    let pairs = operands();
    let (first, second): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
    let table: Vec<u32> = (0..64).map(|index| index * 0x0101_0107).collect();
    let table_u16: Vec<u16> = (0..32).map(|index| 0xFFFF - index * 771).collect();
    let bits: [u32; 32] = std::array::from_fn(|index| fmix64(index as u64) as u32);
    let registers = t.bits_1024(&bits);

    let mut at = 0;
    while at + n <= first.len() {
        let (a, b) = (&first[at..at + n], &second[at..at + n]);
        let (x, y) = (t.load(&first, at), t.load(&second, at));
        same!(n, t, a, b, x, |a, _| a);
        same!(n, t, a, b, t.add(x, y), u32::wrapping_add);
        same!(n, t, a, b, t.sub(x, y), u32::wrapping_sub);
        same!(n, t, a, b, t.mul(x, y), u32::wrapping_mul);
        same!(n, t, a, b, t.mul_high(x, y), |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32);
        same!(n, t, a, b, t.xor(x, y), |a, b| a ^ b);
        same!(n, t, a, b, t.and(x, y), |a, b| a & b);
        same!(n, t, a, b, t.or(x, y), |a, b| a | b);
        same!(n, t, a, b, t.shr::<1>(x), |a, _| a >> 1);
        same!(n, t, a, b, t.shr::<5>(x), |a, _| a >> 5);
        same!(n, t, a, b, t.shr::<16>(x), |a, _| a >> 16);
        same!(n, t, a, b, t.shr::<31>(x), |a, _| a >> 31);
        same!(n, t, a, b, t.crc32c(x), |a, _| crc32c_bit_by_bit(a));
        for lane in 0..n {
            assert_eq!(lanes!(t, t.gather(Table::new(&table), x))[lane], table[a[lane] as usize % 64]);
            assert_eq!(
                lanes!(t, t.gather_u16(Table::new(&table_u16), x))[lane],
                u32::from(table_u16[a[lane] as usize % 32])
            );
            assert_eq!(lanes!(t, t.word_of_1024(registers, x))[lane], bits[a[lane] as usize % 32]);
        }

        let words: Vec<u64> = a.iter().zip(b).map(|(a, b)| u64::from(*b) << 32 | u64::from(*a)).collect();
        let others: Vec<u64> = words.iter().map(|word| fmix64(*word)).collect();
        let (wide, other) = (t.load_u64(&words, 0), t.load_u64(&others, 0));
        macro_rules! same_u64 {
            ($got:expr, $want:expr) => {{
                let (low, high) = t.halves($got);
                let (low, high) = (lanes!(t, low), lanes!(t, high));
                for lane in 0..n {
                    let want: fn(u64, u64) -> u64 = $want;
                    let got = u64::from(high[lane]) << 32 | u64::from(low[lane]);
                    assert_eq!(got, want(words[lane], others[lane]), "{} of {:#x}", stringify!($got), words[lane]);
                }
            }};
        }
        same_u64!(wide, |a, _| a);
        same_u64!(t.xor_u64(wide, other), |a, b| a ^ b);
        same_u64!(t.mul_u64(wide, other), u64::wrapping_mul);
        same_u64!(t.shr_u64::<1>(wide), |a, _| a >> 1);
        same_u64!(t.shr_u64::<33>(wide), |a, _| a >> 33);
        same_u64!(t.shr_u64::<63>(wide), |a, _| a >> 63);

        let (bit, equal, at_most) = (t.bit(x, y), t.equal(x, y), t.at_most(x, y));
        same!(n, t, a, b, t.select(bit, t.splat(1), t.splat(0)), |a, b| a >> (b % 32) & 1);
        same!(n, t, a, b, t.select(equal, t.splat(1), t.splat(0)), |a, b| u32::from(a == b));
        same!(n, t, a, b, t.select(t.equal(x, x), x, y), |a, _| a);
        same!(n, t, a, b, t.select(at_most, x, y), u32::min);
        same!(n, t, a, b, t.select(t.not(at_most), x, y), u32::max);
        same!(n, t, a, b, t.select(t.both(bit, at_most), x, y), |a, b| if a <= b && a >> (b % 32) & 1 == 1 {
            a
        } else {
            b
        });
        same!(n, t, a, b, t.select(t.either(bit, at_most), x, y), |a, b| if a <= b || a >> (b % 32) & 1 == 1 {
            a
        } else {
            b
        });

        for mask in [bit, equal, at_most, t.not(bit), t.first_lanes(0), t.first_lanes(n)] {
            check_packing(t, mask, x, y);
        }
        at += n;
    }

    for count in 0..=MOST_LANES + 1 {
        let truth = truth!(t, t.first_lanes(count));
        for (lane, truth) in truth.iter().enumerate().take(n) {
            assert_eq!(*truth == 1, lane < count);
        }
        check_packing(t, t.first_lanes(count), t.count_from(7), t.splat(9));
    }
    assert_eq!(
        lanes!(t, t.count_from(u32::MAX))[..n],
        (0..n as u32).map(|lane| lane.wrapping_sub(1)).collect::<Vec<_>>()
    );
    let word = t.halves(t.splat_u64(0x0123_4567_89AB_CDEF));
    assert!(lanes!(t, word.0)[..n].iter().all(|low| *low == 0x89AB_CDEF));
    assert!(lanes!(t, word.1)[..n].iter().all(|high| *high == 0x0123_4567));
    t.prefetch(&[], usize::MAX);

    // The last lane wins where indices meet.
    let mut words = [0; 5];
    t.scatter(&mut words, t.and(t.count_from(0), t.splat(1)), t.count_from(10));
    let last = |lane: usize| (0..n).rev().find(|other| other % 2 == lane).map_or(0, |other| 10 + other as u32);
    assert_eq!(words, [last(0), last(1), 0, 0, 0]);
}

/// Packing, expanding and counting by one mask.
#[inline(always)]
fn check_packing<L: Lanes>(t: L, mask: L::Mask, x: L::U32, y: L::U32) {
    let (n, truth) = (L::LANES, truth!(t, mask));
    let (from, old) = (lanes!(t, x), lanes!(t, y));
    let packed = lanes!(t, t.pack(t.packing(mask), x));
    let expanded = lanes!(t, t.expand(mask, x, y));
    let mut place = 0;
    for lane in 0..n {
        if truth[lane] == 1 {
            assert_eq!(packed[place], from[lane]);
            assert_eq!(expanded[lane], from[place]);
            place += 1;
        } else {
            assert_eq!(expanded[lane], old[lane]);
        }
    }
    assert_eq!(t.count(mask), place);
}

/// The state that `word` and four zero bytes leave, one bit after the other.
fn crc32c_bit_by_bit(word: u32) -> u32 {
    (0..64).fold(word, |state, _| if state & 1 == 1 { state >> 1 ^ 0x82F6_3B78 } else { state >> 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::CRC32C_NIBBLES;
    use crate::lanes::one::One;

    #[test]
    fn one_lane() {
        check(One::TOKEN);
    }

    #[test]
    fn the_crc_tables_are_linear() {
        let sum = |word: u32| {
            (0..8).fold(0, |sum, nibble| sum ^ CRC32C_NIBBLES[nibble][(word >> (4 * nibble) & 15) as usize])
        };
        assert!(operands().iter().all(|(word, _)| sum(*word) == crc32c_bit_by_bit(*word)));
    }

    /// What must not go, on every instruction set that is there.
    macro_rules! bounds {
        ($t:expr, $lanes:expr) => {{
            let (t, n) = ($t, $lanes);
            let refused = |try_it: &dyn Fn()| {
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(try_it)).expect_err("outside, but let through");
            };
            refused(&|| {
                let _ = t.load(&[0; MOST_LANES], MOST_LANES - n + 1);
            });
            refused(&|| {
                let _ = t.load(&[0; MOST_LANES], usize::MAX);
            });
            refused(&|| {
                let _ = t.load_u64(&[0; MOST_LANES], MOST_LANES - n + 1);
            });
            refused(&|| t.store(&mut [0; MOST_LANES], MOST_LANES - n + 1, t.splat(0)));
            refused(&|| t.scatter(&mut [0; MOST_LANES], t.splat(MOST_LANES as u32), t.splat(0)));
            refused(&|| t.scatter(&mut [0; MOST_LANES], t.splat(u32::MAX), t.splat(0)));
            refused(&|| t.scatter(&mut [], t.splat(0), t.splat(0)));
            refused(&|| {
                let _ = Table::new(&[0_u32; 3]);
            });
            refused(&|| {
                let _ = Table::<u32>::new(&[]);
            });
        }};
    }

    #[test]
    #[expect(clippy::cast_possible_truncation, reason = "a number of lanes")]
    fn nothing_outside() {
        bounds!(One::TOKEN, 1);
        #[cfg(target_arch = "x86_64")]
        if let Some(t) = crate::lanes::avx2::Avx2::detect() {
            bounds!(t, 8);
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(t) = crate::lanes::avx512::Avx512::detect() {
            bounds!(t, 16);
        }
        #[cfg(target_arch = "aarch64")]
        if let Some(t) = crate::lanes::neon::Neon::detect() {
            bounds!(t, 4);
        }
    }
}
