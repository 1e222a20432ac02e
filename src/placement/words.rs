//! The words of a batch: there already, or made by the kernel as it goes.

use crate::hash::fmix64;

/// The words of a batch of keys.
#[derive(Clone, Copy, Debug)]
pub enum Words<'a> {
    /// They are there.
    Known(&'a [u64]),
    /// They are `fmix64(key ^ mixed)` of these integer keys: a kernel that makes them as it goes saves a pass.
    OfIntegers {
        /// The keys.
        keys: &'a [u64],
        /// The cluster's seed, mixed.
        mixed: u64,
    },
}

impl Words<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Known(words) => words.len(),
            Self::OfIntegers { keys, .. } => keys.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Word `index`.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    pub fn get(&self, index: usize) -> u64 {
        match self {
            Self::Known(words) => words[index],
            Self::OfIntegers { keys, mixed } => fmix64(keys[index] ^ mixed),
        }
    }

    /// Words `start..end`.
    ///
    /// # Panics
    /// If `start > end` or `end` is above [`len`](Self::len).
    #[must_use]
    pub fn slice(&self, start: usize, end: usize) -> Self {
        match self {
            Self::Known(words) => Self::Known(&words[start..end]),
            Self::OfIntegers { keys, mixed } => Self::OfIntegers { keys: &keys[start..end], mixed: *mixed },
        }
    }
}

impl<'a> From<&'a [u64]> for Words<'a> {
    fn from(words: &'a [u64]) -> Self {
        Self::Known(words)
    }
}

impl<'a> From<&'a Vec<u64>> for Words<'a> {
    fn from(words: &'a Vec<u64>) -> Self {
        Self::Known(words)
    }
}
