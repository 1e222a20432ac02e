//! `MurmurHash3_x64_128`, first half: for people whose keys were already placed by it.

use super::mix::fmix64;

const C1: u64 = 0x87C3_7B91_1142_53D5;
const C2: u64 = 0x4CF5_AD43_2745_937F;

/// The first 64 bits of `MurmurHash3_x64_128`.
///
/// Source: Austin Appleby, MurmurHash3 (public domain).
///
/// # Complexity
/// O(bytes).
///
/// ```
/// assert_eq!(rehome::hash::murmur3_x64_128_h1(b"", 1), 0x4610_ABE5_6EFF_5CB5);
/// ```
pub fn murmur3_x64_128_h1(bytes: &[u8], seed: u32) -> u64 {
    let (mut h1, mut h2) = (u64::from(seed), u64::from(seed));
    let (blocks, tail) = bytes.as_chunks::<16>();
    for block in blocks {
        let whole = u128::from_le_bytes(*block);
        let (k1, k2) = split(whole);
        h1 ^= scramble_first(k1);
        h1 = h1.rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52DC_E729);
        h2 ^= scramble_second(k2);
        h2 = h2.rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5AB5);
    }
    // A missing half of the tail is 0, and 0 scrambles to 0.
    let mut padded = [0; 16];
    padded[..tail.len()].copy_from_slice(tail);
    let (k1, k2) = split(u128::from_le_bytes(padded));
    h2 ^= scramble_second(k2);
    h1 ^= scramble_first(k1);

    let length = bytes.len() as u64;
    h1 ^= length;
    h2 ^= length;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    fmix64(h1).wrapping_add(fmix64(h2))
}

fn scramble_first(k1: u64) -> u64 {
    k1.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

fn scramble_second(k2: u64) -> u64 {
    k2.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

#[expect(clippy::cast_possible_truncation, reason = "the halves of 128 bits")]
fn split(whole: u128) -> (u64, u64) {
    (whole as u64, (whole >> 64) as u64)
}
