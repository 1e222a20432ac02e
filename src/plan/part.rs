//! Parts: runs of a fixed number of input rows, each with its own file of moves and its own checksum of the keys.

use serde::{Deserialize, Serialize};

use super::recorded_file::hexadecimal;
use crate::io::KeyChunk;
use crate::keys::{KeyColumn, Keys};

/// A part of a plan: what its input rows were.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its first input row.
    pub first_row: u64,
    /// Its input rows, bad ones included.
    pub rows: u64,
    /// Rows that were skipped because they are no keys.
    pub bad_rows: u64,
    /// Keys of it that move.
    pub moves: u64,
    /// CRC-32 (IEEE) of its keys as they were read, as 8 hexadecimal digits: integers as 8 bytes each, least byte first;
    /// texts and bytes one after the other, and behind all of them their lengths as 4 bytes each, least byte first.
    /// Where the second cluster reads keys in another way, those follow.
    pub keys_crc32: String,
    /// CRC-32 of the sizes as 8 bytes each, least byte first, if sizes are known.
    pub sizes_crc32: Option<String>,
}

/// Checksums of the keys of a part; how they are cut into chunks makes no difference.
#[derive(Clone, Debug, Default)]
pub(super) struct KeysDigest {
    sides: [Side; 2],
    sizes: Option<crc32fast::Hasher>,
}

#[derive(Clone, Debug, Default)]
struct Side {
    data: crc32fast::Hasher,
    lengths: crc32fast::Hasher,
}

impl KeysDigest {
    pub(super) fn add(&mut self, chunk: &KeyChunk) {
        for (number, side) in self.sides.iter_mut().enumerate().take(chunk.sides()) {
            side.add(&chunk.keys(number));
        }
        if let Some(sizes) = chunk.sizes() {
            add_integers(self.sizes.get_or_insert_default(), sizes);
        }
    }

    /// The checksums of keys and sizes.
    pub(super) fn finish(self) -> (String, Option<String>) {
        let mut all = crc32fast::Hasher::new();
        for side in &self.sides {
            all.combine(&side.data);
            all.combine(&side.lengths);
        }
        (hexadecimal(all.finalize()), self.sizes.map(|sizes| hexadecimal(sizes.finalize())))
    }
}

impl Side {
    fn add(&mut self, keys: &Keys<'_>) {
        if let Some(words) = keys.as_integers() {
            return add_integers(&mut self.data, words);
        }
        let (data, lengths) = keys.as_byte_strings();
        self.data.update(data);
        add_words(&mut self.lengths, lengths.map(u32::to_le_bytes));
    }
}

/// Adds integers as 8 bytes each, least byte first: as they lie in memory, where the machine keeps them so.
fn add_integers(checksum: &mut crc32fast::Hasher, words: &[u64]) {
    if cfg!(target_endian = "little") {
        checksum.update(bytemuck::cast_slice(words));
    } else {
        add_words(checksum, words.iter().map(|word| word.to_le_bytes()));
    }
}

/// Adds words of a few bytes by the block: a checksum runs fastest over long runs of bytes.
fn add_words<const N: usize>(checksum: &mut crc32fast::Hasher, words: impl Iterator<Item = [u8; N]>) {
    let mut block = [0; 4096];
    let mut filled = 0;
    for word in words {
        block[filled..filled + N].copy_from_slice(&word);
        filled += N;
        if filled + N > block.len() {
            checksum.update(&block[..filled]);
            filled = 0;
        }
    }
    checksum.update(&block[..filled]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_added_as_their_bytes() {
        let words: Vec<u64> = (0..1500).map(|word: u64| word.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut checksum = crc32fast::Hasher::new();
        add_words(&mut checksum, words.iter().map(|word| word.to_le_bytes()));
        assert_eq!(checksum.clone().finalize(), crc32fast::hash(&bytes));
        let mut checksum = crc32fast::Hasher::new();
        add_integers(&mut checksum, &words);
        assert_eq!(checksum.finalize(), crc32fast::hash(&bytes));
    }

    #[test]
    fn texts_are_added_with_their_lengths() {
        let side = |texts: [&str; 2]| {
            let mut offsets = vec![0];
            offsets.extend([texts[0].len(), texts[0].len() + texts[1].len()].map(|end| i32::try_from(end).unwrap()));
            let data = texts.concat();
            let mut side = Side::default();
            side.add(&Keys::bytes(&offsets, data.as_bytes()).unwrap());
            side.data.combine(&side.lengths);
            side.data.finalize()
        };
        assert_eq!(side(["ab", "c"]), crc32fast::hash(b"abc\x02\0\0\0\x01\0\0\0"));
        assert_ne!(side(["ab", "c"]), side(["a", "bc"]));
    }
}
