//! From key to word: the registry of key hashes, and the probe sequence that a word starts.
//!
//! A *word* is the 64-bit value that a placement works on: for most placements the key's digest, for `dx-crc32c` the
//! raw key. Hashing and placing are separate steps, so that any named hash works with any placement.
//!
//! Source: `spec/placement.md`, "Keys and digests" and "The probe sequence".

pub(crate) mod lanes;
mod mix;
mod murmur3;
mod probe;

use std::fmt;
use std::str::FromStr;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};
use xxhash_rust::xxh64::xxh64;

pub(crate) use mix::keep_scalar;
pub use mix::{fmix64, mix32};
pub use murmur3::murmur3_x64_128_h1;
pub use probe::{ProbeSequence, halves};

use crate::error::{Error, ErrorKind, Result, by_name, shown};
use crate::keys::{Key, Keys};

/// 2^64 divided by the golden ratio, odd: the constant that is added to a seed before it is mixed.
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The hash of a node's name, which decides where the node stands: XXH3-64 of its UTF-8 bytes, seed 0.
///
/// ```
/// assert_eq!(rehome::hash::node_hash("cache-a"), 1_811_026_161_474_190_584);
/// ```
pub fn node_hash(name: &str) -> u64 {
    xxh3_64(name.as_bytes())
}

/// The registry of key hashes, by the names that cluster files use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KeyHash {
    /// Integers: [`fmix64`] of the key and the mixed seed. Bytes: XXH3-64 with the seed.
    #[default]
    Default,
    /// XXH3-64 with the seed, of the bytes or of an integer's 8 little-endian bytes.
    Xxh3,
    /// XXH64 with the seed, likewise.
    Xxh64,
    /// First half of `MurmurHash3_x64_128`, seeded with the seed's low 32 bits, likewise.
    Murmur3,
    /// [`fmix64`] of CRC-32 (IEEE), likewise; takes no seed.
    Crc32,
    /// An integer key is its own digest: all of its 64 bits must be well mixed. Takes no seed and no bytes.
    Identity,
}

impl KeyHash {
    /// Every key hash.
    pub const ALL: [Self; 6] = [Self::Default, Self::Xxh3, Self::Xxh64, Self::Murmur3, Self::Crc32, Self::Identity];

    /// Its name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Xxh3 => "xxh3",
            Self::Xxh64 => "xxh64",
            Self::Murmur3 => "murmur3",
            Self::Crc32 => "crc32",
            Self::Identity => "identity",
        }
    }
}

impl fmt::Display for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for KeyHash {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        by_name("key hash", Self::ALL, Self::name, name)
    }
}

/// A key hash with its seed: turns keys into words.
///
/// ```
/// use rehome::Key;
/// use rehome::hash::{KeyHash, KeyHasher};
///
/// let hasher = KeyHasher::new(KeyHash::Default, 0)?;
/// assert_eq!(hasher.word(Key::Integer(0))?, 7_175_312_947_680_778_460);
/// # Ok::<(), rehome::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyHasher {
    rule: Rule,
    seed: u64,
    /// The seed as integers of the default hash meet it: one constant per cluster.
    mixed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Named(KeyHash),
    /// The key is the word, and below 2^32: what `dx-crc32c` takes.
    Raw32,
}

/// Why `dx-crc32c` refuses a key.
pub const RAW32_RANGE: &str = "is not in 0..2^32: dx-crc32c takes 32-bit integer keys as they are";

impl KeyHasher {
    /// A hasher.
    ///
    /// # Errors
    /// A seed other than 0 with `crc32` or `identity`, which have none.
    pub fn new(hash: KeyHash, seed: u64) -> Result<Self> {
        if seed != 0 && matches!(hash, KeyHash::Crc32 | KeyHash::Identity) {
            return Err(Error::invalid(
                format!("the {hash} hash takes no seed, but the seed is {seed}"),
                "set the seed to 0, or use the default hash",
            ));
        }
        Ok(Self { rule: Rule::Named(hash), seed, mixed: fmix64(seed.wrapping_add(GOLDEN)) })
    }

    /// The hasher of `dx-crc32c`: integer keys below 2^32, taken as they are.
    pub(crate) fn raw32() -> Self {
        Self { rule: Rule::Raw32, seed: 0, mixed: 0 }
    }

    /// The word of one key.
    ///
    /// # Errors
    /// A byte key with `identity`, and whatever the algorithm that fixes the hash does not take.
    pub fn word(&self, key: Key<'_>) -> Result<u64> {
        match (self.rule, key) {
            (Rule::Named(KeyHash::Identity), Key::Bytes(_)) => {
                Err(key_error(key, "is bytes, but the identity hash takes integer keys: use another hash"))
            }
            (Rule::Raw32, Key::Integer(raw)) if raw <= u64::from(u32::MAX) => Ok(raw),
            (Rule::Raw32, Key::Integer(_)) => Err(key_error(key, RAW32_RANGE)),
            (Rule::Raw32, Key::Bytes(_)) => {
                Err(key_error(key, "is bytes, but dx-crc32c takes integer keys: read the keys as u32"))
            }
            (Rule::Named(hash), Key::Integer(integer)) => Ok(self.integer(hash, integer)),
            (Rule::Named(hash), Key::Bytes(bytes)) => Ok(self.bytes(hash, bytes)),
        }
    }

    /// The constant `m` if the word of an integer key is `fmix64(key ^ m)`, as it is by default: kernels then make
    /// words as they go.
    pub fn mixed_integers(&self) -> Option<u64> {
        (self.rule == Rule::Named(KeyHash::Default)).then_some(self.mixed)
    }

    /// The words of a column: `words[i]` is the word of key `i`.
    ///
    /// # Complexity
    /// O(bytes of the keys).
    ///
    /// # Errors
    /// If the lengths differ, or at the first key that [`word`](Self::word) refuses.
    pub fn words(&self, keys: Keys<'_>, words: &mut [u64]) -> Result<()> {
        if keys.len() != words.len() {
            return Err(ErrorKind::Mismatch {
                what: "words of a column of keys",
                expected: keys.len() as u64,
                found: words.len() as u64,
            }
            .into());
        }
        // The common case, free of branches in the loop.
        if let (Rule::Named(KeyHash::Default | KeyHash::Identity), Some(integers)) = (self.rule, keys.as_integers()) {
            if self.rule == Rule::Named(KeyHash::Identity) {
                words.copy_from_slice(integers);
                return Ok(());
            }
            for (word, key) in words.iter_mut().zip(integers) {
                *word = fmix64(key ^ self.mixed);
                keep_scalar(*word);
            }
            return Ok(());
        }
        for (index, (word, key)) in words.iter_mut().zip(keys.iter()).enumerate() {
            *word = self.word(key).map_err(|error| at_index(error, index))?;
        }
        Ok(())
    }

    fn integer(&self, hash: KeyHash, key: u64) -> u64 {
        match hash {
            KeyHash::Default => fmix64(key ^ self.mixed),
            KeyHash::Identity => key,
            _ => self.bytes(hash, &key.to_le_bytes()),
        }
    }

    fn bytes(&self, hash: KeyHash, bytes: &[u8]) -> u64 {
        match hash {
            KeyHash::Default | KeyHash::Xxh3 => xxh3_64_with_seed(bytes, self.seed),
            KeyHash::Xxh64 => xxh64(bytes, self.seed),
            KeyHash::Murmur3 => murmur3_x64_128_h1(bytes, halves(self.seed).0),
            KeyHash::Crc32 => fmix64(u64::from(crc32fast::hash(bytes))),
            KeyHash::Identity => unreachable!("refused by word()"),
        }
    }
}

fn key_error(key: Key<'_>, reason: &'static str) -> Error {
    let key = match key {
        Key::Integer(integer) => integer.to_string(),
        Key::Bytes(bytes) => shown(bytes),
    };
    ErrorKind::Key { index: 0, key, reason }.into()
}

fn at_index(error: Error, index: usize) -> Error {
    match error.kind() {
        ErrorKind::Key { key, reason, .. } => ErrorKind::Key { index: index as u64, key: key.clone(), reason }.into(),
        _ => error,
    }
}
