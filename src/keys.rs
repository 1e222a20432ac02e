//! Keys as the kernels read them: a borrowed column of 64-bit integers or of byte strings.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result, by_name};

/// A borrowed column of keys, in Arrow's layout, so that a column of a Parquet file is hashed where it lies.
///
/// Integers narrower than 64 bits are widened by the caller: unsigned ones with zeros, signed ones with their sign.
///
/// ```
/// use rehome::{Key, Keys};
///
/// let keys = Keys::from(&[7_u64, 8][..]);
/// assert_eq!(keys.len(), 2);
/// let text = Keys::bytes(&[0, 2, 2], b"ab")?; // "ab" and ""
/// assert_eq!(text.get(1), Key::Bytes(b""));
/// # Ok::<(), rehome::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Keys<'a>(Repr<'a>);

#[derive(Clone, Copy, Debug)]
enum Repr<'a> {
    Integers(&'a [u64]),
    /// Invariant: at least one offset, none negative, never falling, the last at most `data.len()`.
    Bytes {
        offsets: &'a [i32],
        data: &'a [u8],
    },
    /// Invariant: `width > 0` and `data.len()` is a multiple of it.
    Fixed {
        width: usize,
        data: &'a [u8],
    },
}

/// One key of a [`Keys`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'a> {
    /// An integer, widened to 64 bits.
    Integer(u64),
    /// A byte string: the UTF-8 of a text, or bytes as they are.
    Bytes(&'a [u8]),
}

impl<'a> Keys<'a> {
    /// Byte strings: key `i` is `data[offsets[i]..offsets[i + 1]]`.
    ///
    /// # Complexity
    /// O(number of keys), to check the offsets once.
    ///
    /// # Errors
    /// If `offsets` is empty, falls anywhere, starts below 0 or ends behind `data`.
    pub fn bytes(offsets: &'a [i32], data: &'a [u8]) -> Result<Self> {
        let rising = offsets.is_sorted() && offsets.first().is_some_and(|first| *first >= 0);
        let inside = offsets.last().is_some_and(|last| usize::try_from(*last).is_ok_and(|last| last <= data.len()));
        if rising && inside {
            return Ok(Self(Repr::Bytes { offsets, data }));
        }
        Err(Error::invalid(
            format!(
                "the offsets of a byte column ({} of them, {} bytes) do not describe it",
                offsets.len(),
                data.len()
            ),
            "they start at 0 or above, never fall, and end inside the data; n keys have n + 1 of them",
        ))
    }

    /// Byte strings of one width: key `i` is `data[i * width..(i + 1) * width]`.
    ///
    /// # Errors
    /// If `width` is 0 or `data` is not a whole number of keys.
    pub fn fixed(width: usize, data: &'a [u8]) -> Result<Self> {
        if width == 0 || !data.len().is_multiple_of(width) {
            return Err(Error::invalid(
                format!("{} bytes are not a whole number of keys of {width} bytes", data.len()),
                "pass a width above 0 that divides the data",
            ));
        }
        Ok(Self(Repr::Fixed { width, data }))
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        match self.0 {
            Repr::Integers(keys) => keys.len(),
            Repr::Bytes { offsets, .. } => offsets.len() - 1,
            Repr::Fixed { width, data } => data.len() / width,
        }
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Key `index`.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    #[inline]
    pub fn get(&self, index: usize) -> Key<'a> {
        match self.0 {
            Repr::Integers(keys) => Key::Integer(keys[index]),
            Repr::Bytes { offsets, data } => Key::Bytes(&data[at(offsets[index])..at(offsets[index + 1])]),
            Repr::Fixed { width, data } => Key::Bytes(&data[index * width..(index + 1) * width]),
        }
    }

    /// Keys `start..end`.
    ///
    /// # Panics
    /// If `start > end` or `end` is above [`len`](Self::len).
    #[must_use]
    pub fn slice(&self, start: usize, end: usize) -> Self {
        Self(match self.0 {
            Repr::Integers(keys) => Repr::Integers(&keys[start..end]),
            Repr::Bytes { offsets, data } => Repr::Bytes { offsets: &offsets[start..=end], data },
            Repr::Fixed { width, data } => Repr::Fixed { width, data: &data[start * width..end * width] },
        })
    }

    /// All keys in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Key<'a>> + use<'a> {
        let keys = *self;
        (0..keys.len()).map(move |index| keys.get(index))
    }

    /// The integers, if that is what the keys are.
    pub fn as_integers(&self) -> Option<&'a [u64]> {
        match self.0 {
            Repr::Integers(keys) => Some(keys),
            _ => None,
        }
    }

    /// The bytes of all keys one after the other, and the length of each. (Integers count as none.)
    #[cfg(feature = "io")]
    pub(crate) fn as_byte_strings(&self) -> (&'a [u8], impl Iterator<Item = u32> + use<'a>) {
        let (data, offsets, width, count): (&'a [u8], &'a [i32], usize, usize) = match self.0 {
            Repr::Integers(_) => (&[], &[], 0, 0),
            Repr::Bytes { offsets, data } => {
                let (first, last) = (at(offsets[0]), at(offsets[offsets.len() - 1]));
                (&data[first..last], offsets, 0, 0)
            }
            Repr::Fixed { width, data } => (data, &[], width, data.len() / width),
        };
        let lengths = offsets.windows(2).map(|pair| pair[0].abs_diff(pair[1]));
        // A fixed width comes from Arrow, where it is a positive i32.
        (data, lengths.chain(std::iter::repeat_n(u32::try_from(width).unwrap_or(u32::MAX), count)))
    }

    /// Whether both are the very same column in memory, so that digests of one serve the other.
    pub(crate) fn same_column(&self, other: &Self) -> bool {
        match (self.0, other.0) {
            (Repr::Integers(a), Repr::Integers(b)) => std::ptr::eq(a, b),
            (Repr::Bytes { offsets: a, data: c }, Repr::Bytes { offsets: b, data: d }) => {
                std::ptr::eq(a, b) && std::ptr::eq(c, d)
            }
            (Repr::Fixed { width: v, data: a }, Repr::Fixed { width: w, data: b }) => v == w && std::ptr::eq(a, b),
            _ => false,
        }
    }
}

impl<'a> From<&'a [u64]> for Keys<'a> {
    fn from(keys: &'a [u64]) -> Self {
        Self(Repr::Integers(keys))
    }
}

impl<'a> From<&'a Vec<u64>> for Keys<'a> {
    fn from(keys: &'a Vec<u64>) -> Self {
        Self(Repr::Integers(keys))
    }
}

impl<'a> From<&'a KeyBuffer> for Keys<'a> {
    fn from(buffer: &'a KeyBuffer) -> Self {
        buffer.keys()
    }
}

/// An offset that [`Keys::bytes`] found to be at least 0.
#[inline]
fn at(offset: i32) -> usize {
    usize::try_from(offset).unwrap_or(0)
}

/// Owned byte-string keys, collected one by one.
///
/// ```
/// use rehome::KeyBuffer;
///
/// let mut buffer = KeyBuffer::new();
/// buffer.push(b"user:42")?;
/// assert_eq!(buffer.keys().len(), 1);
/// # Ok::<(), rehome::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KeyBuffer {
    offsets: Vec<i32>,
    data: Vec<u8>,
}

impl KeyBuffer {
    /// A buffer without keys.
    pub fn new() -> Self {
        Self { offsets: vec![0], data: Vec::new() }
    }

    /// Appends a key.
    ///
    /// # Errors
    /// If all keys together would pass 2^31 - 1 bytes, Arrow's limit for one column.
    pub fn push(&mut self, key: &[u8]) -> Result<()> {
        let end = i32::try_from(self.data.len() + key.len()).map_err(|_| {
            Error::invalid("a batch of byte keys passes 2^31 - 1 bytes", "split it into smaller batches")
        })?;
        self.data.extend_from_slice(key);
        self.offsets.push(end);
        Ok(())
    }

    /// The keys, borrowed.
    pub fn keys(&self) -> Keys<'_> {
        Keys(Repr::Bytes { offsets: &self.offsets, data: &self.data })
    }
}

impl Default for KeyBuffer {
    fn default() -> Self {
        Self::new()
    }
}

/// A column of keys that a stream owns and every thread may read.
pub trait KeyColumn: Send + Sync {
    /// The keys as placement `side` of the job reads them (0 for the first or only one).
    fn keys(&self, side: usize) -> Keys<'_>;
}

/// How the text of a key is read, and which integers or bytes it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyType {
    /// UTF-8 text; the key is its bytes.
    Text,
    /// Bytes, written as hexadecimal digits.
    Bytes,
    /// Unsigned 64-bit integer.
    U64,
    /// Signed 64-bit integer, taken by its bits.
    I64,
    /// Unsigned 32-bit integer, widened with zeros.
    U32,
    /// Signed 32-bit integer, widened with its sign.
    I32,
    /// UUID; the key is its 16 bytes.
    Uuid,
}

impl KeyType {
    /// Every key type.
    pub const ALL: [Self; 7] = [Self::Text, Self::Bytes, Self::U64, Self::I64, Self::U32, Self::I32, Self::Uuid];

    /// Its name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Bytes => "bytes",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::Uuid => "uuid",
        }
    }

    /// Whether keys of this type are integers rather than byte strings.
    pub fn is_integer(self) -> bool {
        matches!(self, Self::U64 | Self::I64 | Self::U32 | Self::I32)
    }
}

impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for KeyType {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        by_name("key type", Self::ALL, Self::name, name)
    }
}
