//! The weighted race: which of several nodes wins a key, in integers only.
//!
//! Every node draws a word, whose cost is about `-log2(word / 2^32)`, and the smallest cost / weight wins. Such a race
//! gives each node its exact share, and a changed weight never moves a key between two other nodes.
//!
//! Source: `spec/placement.md`, "Rendezvous".

use crate::hash::halves;

/// The parts into which the logarithm between two powers of two is cut.
const PARTS: usize = 4096;

/// `round(2^26 * log2(1 + k / 4096))` for k from 0 to 4096.
static LOG2: [u32; PARTS + 1] = log2_table();

/// Computes the table digit by digit: squaring a number doubles its logarithm, whose next binary digit is whether the
/// square reaches 2.
const fn log2_table() -> [u32; PARTS + 1] {
    let mut table = [1 << 26; PARTS + 1];
    let mut k = 0;
    while k < PARTS {
        // 62 bits behind the binary point.
        let mut x = (PARTS as u128 + k as u128) << 50;
        let mut digits = 0_u64;
        let mut digit = 0;
        while digit < 40 {
            x = (x * x) >> 62;
            digits <<= 1;
            if x >= 1 << 63 {
                digits |= 1;
                x >>= 1;
            }
            digit += 1;
        }
        // From 40 digits to 26, so at most 2^26.
        table[k] = halves((digits + (1 << 13)) >> 14).0;
        k += 1;
    }
    table
}

/// The cost of a word: about `-log2(word / 2^32)` in units of 2^-26, from 1 to 2^31, never rising with the word.
///
/// It has plateaus (words 2 and 3 cost the same), so equal costs are not rare.
///
/// # Complexity
/// Two reads from a table of 16 KiB.
#[inline(always)]
pub(super) fn neg_log2(x: u32) -> u32 {
    let y = x | 1;
    let zeros = y.leading_zeros();
    // The digits behind the leading one: 12 choose a part, the 17 behind them the place in it.
    let fraction = (y << zeros) << 1;
    let part = (fraction >> 20) as usize;
    let rest = (fraction & 0xF_FFFF) >> 3;
    let (low, high) = (LOG2[part], LOG2[part + 1]);
    ((zeros + 1) << 26) - low - (((high - low) * rest) >> 17)
}

/// Whether `cost / q < other_cost / other_q`, exactly. Where both are equal neither beats the other: the order in
/// which the nodes are tried decides.
#[inline(always)]
pub(super) fn beats(cost: u32, q: u32, other_cost: u32, other_q: u32) -> bool {
    u64::from(cost) * u64::from(other_q) < u64::from(other_cost) * u64::from(q)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::hash::fmix64;

    fn vectors() -> Value {
        let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/placement-v1.json"));
        serde_json::from_str(text).unwrap()
    }

    fn numbers(value: &Value) -> Vec<u64> {
        value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
    }

    #[test]
    fn the_table_is_the_golden_one() {
        let golden = &vectors()["log2_table"];
        let (parts, values) = (numbers(&golden["k"]), numbers(&golden["value"]));
        assert_eq!((parts.len(), values.len()), (6, 6));
        for (k, value) in parts.into_iter().zip(values) {
            assert_eq!(u64::from(LOG2[usize::try_from(k).unwrap()]), value, "part {k}");
        }
        assert_eq!(LOG2.iter().map(|value| u64::from(*value)).sum::<u64>(), golden["sum"].as_u64().unwrap());
        assert!(LOG2.is_sorted());
    }

    #[test]
    fn costs_are_the_golden_ones() {
        let golden = vectors();
        let golden = golden["neg_log2"].as_array().unwrap();
        assert_eq!(golden.len(), 9);
        for pair in golden {
            let pair = numbers(pair);
            assert_eq!(u64::from(neg_log2(u32::try_from(pair[0]).unwrap())), pair[1], "word {}", pair[0]);
        }
    }

    /// The order of (word, q, node), as the specification's own loop makes it.
    fn race(candidates: &[Vec<u64>]) -> Vec<u64> {
        let mut order: Vec<(u32, u32, u64)> = Vec::new();
        for candidate in candidates {
            let cost = neg_log2(u32::try_from(candidate[0]).unwrap());
            let q = u32::try_from(candidate[1]).unwrap();
            let mut at = order.len();
            while at > 0 && beats(cost, q, order[at - 1].0, order[at - 1].1) {
                at -= 1;
            }
            order.insert(at, (cost, q, candidate[2]));
        }
        order.into_iter().map(|(_, _, node)| node).collect()
    }

    #[test]
    fn the_order_given_decides_a_tie() {
        let golden = vectors();
        let golden = golden["edge"]["race_tie"]["cases"].as_array().unwrap();
        assert_eq!(golden.len(), 4);
        for case in golden {
            let candidates: Vec<_> = case[0].as_array().unwrap().iter().map(numbers).collect();
            assert_eq!(race(&candidates), numbers(&case[1]));
        }
    }

    #[test]
    fn extreme_races_are_exact() {
        assert!(beats(1, u32::MAX, 1 << 31, 1) && !beats(1 << 31, 1, 1, u32::MAX));
        assert!(beats(u32::MAX - 1, u32::MAX, u32::MAX, u32::MAX));
        assert!(beats(u32::MAX, u32::MAX, u32::MAX, u32::MAX - 1));
        assert!(!beats(7, 3, 14, 6) && !beats(14, 6, 7, 3));
    }

    /// Words next to every place where the text of the function takes another branch or another part of the table.
    fn boundaries() -> Vec<u32> {
        let mut words = vec![0, u32::MAX];
        for zeros in 0..32 {
            for part in 0..4096_u64 {
                let word = ((4096 + part) << 19) >> zeros;
                words.extend((word.saturating_sub(2)..=word + 2).filter_map(|word| u32::try_from(word).ok()));
            }
        }
        words.extend((1..20_000).map(|i| halves(fmix64(i)).0));
        words.sort_unstable();
        words.dedup();
        words
    }

    #[test]
    fn costs_never_rise_and_stay_in_range() {
        let words = boundaries();
        assert!(words.len() > 200_000);
        for pair in words.windows(2) {
            assert!(neg_log2(pair[0]) >= neg_log2(pair[1]), "words {pair:?}");
        }
        assert_eq!((neg_log2(u32::MAX), neg_log2(0)), (1, 1 << 31));
    }

    #[test]
    fn costs_are_close_to_the_logarithm() {
        for word in boundaries() {
            let exact = 32.0 - f64::from(word | 1).log2();
            let cost = f64::from(neg_log2(word)) / f64::from(1 << 26);
            assert!((cost - exact).abs() < 4e-8, "word {word}: {cost}, not {exact}");
        }
    }
}
