//! A chunk of keys as it comes out of every reader: columns that placements hash where they lie.

use std::sync::{Arc, OnceLock};

use arrow_array::{
    Array, ArrayRef, BinaryArray, FixedSizeBinaryArray, Int32Array, Int64Array, StringArray, UInt32Array, UInt64Array,
};
use arrow_buffer::ScalarBuffer;
use arrow_schema::DataType;

use super::position::{InputFacts, Position};
use crate::keys::{KeyColumn, Keys};

/// One column of keys.
#[derive(Debug)]
pub(super) enum Column {
    /// Integers, widened to 64 bits.
    Words {
        words: ScalarBuffer<u64>,
        data_type: DataType,
        /// The same integers in their own type; made when asked for, unless they were read so.
        native: OnceLock<ArrayRef>,
    },
    Text(Arc<StringArray>),
    Binary(Arc<BinaryArray>),
    Fixed(Arc<FixedSizeBinaryArray>),
}

impl Column {
    pub(super) fn words(words: ScalarBuffer<u64>, data_type: DataType) -> Self {
        Self::Words { words, data_type, native: OnceLock::new() }
    }

    /// Integers that were read as `native`.
    pub(super) fn native(words: ScalarBuffer<u64>, native: ArrayRef) -> Self {
        Self::Words { words, data_type: native.data_type().clone(), native: OnceLock::from(native) }
    }

    pub(super) fn text(array: StringArray) -> Self {
        Self::Text(Arc::new(array))
    }

    pub(super) fn binary(array: BinaryArray) -> Self {
        Self::Binary(Arc::new(array))
    }

    pub(super) fn fixed(array: FixedSizeBinaryArray) -> Self {
        Self::Fixed(Arc::new(array))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Words { words, .. } => words.len(),
            Self::Text(array) => array.len(),
            Self::Binary(array) => array.len(),
            Self::Fixed(array) => array.len(),
        }
    }

    fn keys(&self) -> Keys<'_> {
        let borrowed = match self {
            Self::Words { words, .. } => return Keys::from(&words[..]),
            Self::Text(array) => Keys::bytes(array.value_offsets(), array.value_data()),
            Self::Binary(array) => Keys::bytes(array.value_offsets(), array.value_data()),
            Self::Fixed(array) => Keys::fixed(width(array), array.value_data()),
        };
        borrowed.expect("an Arrow array was checked when it was built, and widths of 0 are refused")
    }

    fn array(&self) -> ArrayRef {
        match self {
            Self::Words { words, data_type, native } => Arc::clone(native.get_or_init(|| narrow(words, data_type))),
            Self::Text(array) => Arc::clone(array) as ArrayRef,
            Self::Binary(array) => Arc::clone(array) as ArrayRef,
            Self::Fixed(array) => Arc::clone(array) as ArrayRef,
        }
    }
}

fn width(array: &FixedSizeBinaryArray) -> usize {
    usize::try_from(array.value_length()).unwrap_or(0)
}

/// Integers in the type they were widened from.
#[expect(clippy::cast_possible_truncation, reason = "the words were widened from the type they are narrowed to")]
fn narrow(words: &ScalarBuffer<u64>, data_type: &DataType) -> ArrayRef {
    match data_type {
        DataType::Int64 => Arc::new(Int64Array::new(ScalarBuffer::from(words.inner().clone()), None)),
        DataType::UInt32 => Arc::new(UInt32Array::from_iter_values(words.iter().map(|word| *word as u32))),
        DataType::Int32 => Arc::new(Int32Array::from_iter_values(words.iter().map(|word| word.cast_signed() as i32))),
        _ => Arc::new(UInt64Array::new(words.clone(), None)),
    }
}

/// The row numbers of the keys of a chunk.
#[derive(Clone, Debug)]
pub(super) enum Rows {
    /// Every row has a key, from this one on.
    From(u64),
    /// Some rows have none.
    Listed(Vec<u64>),
}

/// A run of keys with what belongs to them.
#[derive(Debug)]
pub struct KeyChunk {
    pub(super) first: Column,
    pub(super) second: Option<Column>,
    pub(super) rows: Rows,
    pub(super) end: Position,
    pub(super) finished: Vec<InputFacts>,
    pub(super) kept: Vec<ArrayRef>,
    pub(super) sizes: Option<ScalarBuffer<u64>>,
}

impl KeyChunk {
    /// The number of keys; 0 if every row of the chunk was bad.
    pub fn len(&self) -> usize {
        self.first.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row of the input that key `index` is in, from 0: bad rows that were passed over count, the header and blank
    /// lines that were passed over do not.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    pub fn row(&self, index: usize) -> u64 {
        assert!(index < self.len(), "key {index} of a chunk of {}", self.len());
        match &self.rows {
            Rows::From(first) => first + index as u64,
            Rows::Listed(rows) => rows[index],
        }
    }

    /// One past the last row of the input that this chunk consumed, bad rows at its end included.
    pub fn end_row(&self) -> u64 {
        self.end.row
    }

    /// The place in the inputs behind the last row of this chunk.
    pub fn end(&self) -> &Position {
        &self.end
    }

    /// What the inputs came to that were read to their end since the chunk before.
    pub fn finished(&self) -> &[InputFacts] {
        &self.finished
    }

    /// The ways in which the keys are read: 2 if the second placement reads them differently.
    pub fn sides(&self) -> usize {
        1 + usize::from(self.second.is_some())
    }

    /// The keys in their own Arrow type, that of [`KeyReader::key_field`](super::KeyReader::key_field). Buffers are
    /// shared, and made at most once where the type is narrower than the widened keys.
    pub fn key_array(&self) -> ArrayRef {
        self.first.array()
    }

    /// The carried columns, in the order they were asked for.
    pub fn kept(&self) -> &[ArrayRef] {
        &self.kept
    }

    /// The sizes, if a column of sizes was asked for.
    pub fn sizes(&self) -> Option<&[u64]> {
        self.sizes.as_deref()
    }
}

impl KeyColumn for KeyChunk {
    fn keys(&self, side: usize) -> Keys<'_> {
        match &self.second {
            Some(second) if side == 1 => second.keys(),
            _ => self.first.keys(),
        }
    }
}
