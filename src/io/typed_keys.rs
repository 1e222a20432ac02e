//! Columns with types of their own as keys: which types can be, and how their arrays become what placements hash.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_buffer::ScalarBuffer;
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field};
use arrow_select::take::take;

use super::chunk::Column;
use super::row_sink::uuid_field;
use super::typed_columns::kind;
use crate::error::{Error, Result};
use crate::keys::KeyType;

/// How a column with a type of its own is read as keys.
#[derive(Clone, Debug)]
pub(super) struct KeyShape {
    family: Family,
    key_type: KeyType,
    /// The type of the keys, without a dictionary around it, and of few forms.
    data_type: DataType,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Signed,
    Unsigned,
    Text,
    Binary,
    Fixed,
}

/// Whether every value of a column of integers is the same key as the text of that number read as `asked`. Columns of
/// 64 bits are taken by their bits either way, since many systems have no unsigned type.
fn is_read_alike(column: &DataType, asked: KeyType) -> bool {
    let (bits, signed) = match column {
        DataType::Int8 => (8, true),
        DataType::Int16 => (16, true),
        DataType::Int32 | DataType::Date32 | DataType::Time32(_) => (32, true),
        DataType::UInt8 => (8, false),
        DataType::UInt16 => (16, false),
        DataType::UInt32 => (32, false),
        _ => return matches!(asked, KeyType::U64 | KeyType::I64),
    };
    match asked {
        KeyType::U64 | KeyType::U32 => !signed,
        KeyType::I64 => true,
        _ => signed || bits < 32,
    }
}

impl KeyShape {
    /// The shape of keys in a column of this type; `is_uuid` says that its 16 bytes are UUIDs, and `asked` what the
    /// user called them.
    pub(super) fn of(name: &str, data_type: &DataType, is_uuid: bool, asked: Option<KeyType>) -> Result<Self> {
        let inner = match data_type {
            DataType::Dictionary(_, values) => values.as_ref(),
            other => other,
        };
        let (family, own, data_type) = match inner {
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Date32 | DataType::Time32(_) => {
                (Family::Signed, KeyType::I32, inner.clone())
            }
            DataType::Int64 | DataType::Date64 | DataType::Time64(_) | DataType::Timestamp(..) => {
                (Family::Signed, KeyType::I64, inner.clone())
            }
            DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => (Family::Unsigned, KeyType::U32, inner.clone()),
            DataType::UInt64 => (Family::Unsigned, KeyType::U64, DataType::UInt64),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => (Family::Text, KeyType::Text, DataType::Utf8),
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
                (Family::Binary, KeyType::Bytes, DataType::Binary)
            }
            DataType::FixedSizeBinary(16) if is_uuid => (Family::Fixed, KeyType::Uuid, inner.clone()),
            DataType::FixedSizeBinary(width) if *width > 0 => (Family::Fixed, KeyType::Bytes, inner.clone()),
            other => {
                return Err(Error::invalid(
                    format!("column {name:?} is {}, which cannot be a key", kind(other)),
                    "choose a column of text, bytes, UUIDs, integers, dates or times",
                ));
            }
        };
        let key_type = match asked {
            None => own,
            Some(asked) if asked.is_integer() && own.is_integer() => {
                if !is_read_alike(inner, asked) {
                    return Err(Error::invalid(
                        format!("column {name:?} is {inner}, and {asked} keys were asked for, which it may not all be"),
                        format!("read it as {own}, or store it as a column of that type"),
                    ));
                }
                own
            }
            Some(asked @ (KeyType::Bytes | KeyType::Uuid)) if inner == &DataType::FixedSizeBinary(16) => asked,
            Some(asked) if asked == own => own,
            Some(asked) => {
                return Err(Error::invalid(
                    format!("column {name:?} is {inner}, and {asked} keys were asked for"),
                    format!("leave --key-type out, or pass {own}: a Parquet or Arrow column has a type of its own"),
                ));
            }
        };
        Ok(Self { family, key_type, data_type })
    }

    pub(super) fn key_type(&self) -> KeyType {
        self.key_type
    }

    /// The column of keys in outputs.
    pub(super) fn field(&self) -> Field {
        match self.key_type {
            KeyType::Uuid => uuid_field("key", false),
            _ => Field::new("key", self.data_type.clone(), false),
        }
    }

    /// The array in the type of [`field`](Self::field): dictionaries, views and wide offsets become plain.
    pub(super) fn plain(&self, array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        if array.data_type() == &self.data_type {
            return Ok(Arc::clone(array));
        }
        cast(&near(array)?, &self.data_type)
    }

    /// The keys of a plain array of integers widened to 64 bits; nothing if keys are no integers. What null keys
    /// become means nothing.
    pub(super) fn words(&self, array: &ArrayRef) -> Result<Option<ScalarBuffer<u64>>, ArrowError> {
        Ok(match self.family {
            Family::Signed => {
                let wide = cast(array, &DataType::Int64)?;
                // The same bits, in the same memory.
                Some(ScalarBuffer::from(wide.as_primitive::<Int64Type>().values().inner().clone()))
            }
            Family::Unsigned => {
                let wide = cast(array, &DataType::UInt64)?;
                Some(wide.as_primitive::<UInt64Type>().values().clone())
            }
            _ => None,
        })
    }

    /// The column of the keys of a plain array without nulls.
    pub(super) fn column(&self, array: ArrayRef) -> Result<Column, ArrowError> {
        if let Some(words) = self.words(&array)? {
            return Ok(Column::native(words, array));
        }
        Ok(match self.family {
            Family::Text => Column::text(array.as_string::<i32>().clone()),
            Family::Binary => Column::binary(array.as_binary::<i32>().clone()),
            _ => Column::fixed(array.as_fixed_size_binary().clone()),
        })
    }

    /// The text of key `index` as an error shows it.
    pub(super) fn shown(array: &ArrayRef, index: usize) -> Option<String> {
        arrow_cast::display::array_value_to_string(array, index).ok()
    }
}

/// The array with offsets that begin at 0 if they pass 31 bits: a few rows at the end of a long array fit a narrow one.
fn near(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let end = match array.data_type() {
        DataType::LargeUtf8 => array.as_string::<i64>().value_offsets().last(),
        DataType::LargeBinary => array.as_binary::<i64>().value_offsets().last(),
        _ => None,
    };
    if end.is_none_or(|end| i32::try_from(*end).is_ok()) {
        return Ok(Arc::clone(array));
    }
    take(array, &UInt64Array::from_iter_values(0..array.len() as u64), None)
}

/// Sizes as unsigned integers; a negative size becomes null.
pub(super) fn sizes(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    cast(array, &DataType::UInt64)
}

/// Whether a column of this type can be sizes.
pub(super) fn is_size(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => values.is_integer(),
        other => other.is_integer(),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::LargeBinaryArray;
    use arrow_buffer::{Buffer, OffsetBuffer};

    use super::*;

    #[test]
    fn a_few_rows_behind_two_gibibytes_fit() {
        // Nearly all of these zeros are never touched.
        let long = 1_usize << 31;
        let offsets = OffsetBuffer::from_lengths([long, 1, 2]);
        let array: ArrayRef = Arc::new(LargeBinaryArray::new(offsets, Buffer::from_vec(vec![0; long + 3]), None));
        let shape = KeyShape::of("key", &DataType::LargeBinary, false, None).unwrap();
        let plain = shape.plain(&array.slice(1, 2)).unwrap();
        assert_eq!(plain.as_binary::<i32>().iter().flatten().map(<[u8]>::len).collect::<Vec<_>>(), [1, 2]);
        assert!(shape.plain(&array).is_err());
    }
}
