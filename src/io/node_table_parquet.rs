//! Node tables in Parquet files.

use std::fs::File;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_schema::{DataType, Fields};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::InputFormat;
use super::errors::{guarded, unreadable};
use super::node_table::{COLUMNS, NodeRow, misfit, places};
use crate::error::{Error, Place, Result};

/// The types that the columns are read as.
const TYPES: [DataType; 5] = [DataType::Utf8, DataType::UInt64, DataType::Float64, DataType::Utf8, DataType::Boolean];

pub(super) fn read_parquet(file: File) -> Result<Vec<NodeRow>> {
    let builder = guarded(InputFormat::Parquet, "", || ParquetRecordBatchReaderBuilder::try_new(file))?;
    let fields = builder.schema().fields().clone();
    let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
    let places = places(&names)?;
    check_types(&fields, &places)?;
    let mut rows = Vec::new();
    let mut batches = guarded(InputFormat::Parquet, "", || builder.build())?;
    while let Some(batch) = guarded(InputFormat::Parquet, "", || batches.next().transpose())? {
        take_in(&batch, &places, &mut rows)?;
    }
    Ok(rows)
}

fn check_types(fields: &Fields, places: &[Option<usize>; 5]) -> Result<()> {
    for (column, place) in places.iter().enumerate() {
        let Some(field) = place.and_then(|index| fields.get(index)) else { continue };
        let inner = match field.data_type() {
            DataType::Dictionary(_, values) => values.as_ref(),
            other => other,
        };
        let (fits, wanted) = match TYPES[column] {
            DataType::Utf8 => (inner.is_string(), "text"),
            DataType::UInt64 => (inner.is_integer(), "integers"),
            DataType::Float64 => (inner.is_integer() || inner.is_floating(), "numbers"),
            _ => (inner == &DataType::Boolean, "booleans"),
        };
        if !fits {
            return Err(Error::invalid(
                format!("column {:?} is {}", COLUMNS[column], field.data_type()),
                format!("make it a column of {wanted}"),
            ));
        }
    }
    Ok(())
}

fn take_in(batch: &RecordBatch, places: &[Option<usize>; 5], rows: &mut Vec<NodeRow>) -> Result<()> {
    let first = rows.len();
    let mut columns: [Option<ArrayRef>; 5] = [const { None }; 5];
    for (column, place) in places.iter().enumerate() {
        let Some(raw) = place.map(|index| batch.column(index)) else { continue };
        let array = cast(raw, &TYPES[column]).map_err(|error| unreadable(InputFormat::Parquet, "", &error))?;
        // A cast makes null what does not fit, and a name must not be null.
        let absent = raw.logical_nulls();
        let was_null = |row: usize| absent.as_ref().is_some_and(|nulls| nulls.is_null(row));
        let infinite = |row: usize| column == 2 && !array.as_primitive::<Float64Type>().value(row).is_finite();
        for row in 0..array.len() {
            let misfits = if array.is_null(row) { column == 0 || !was_null(row) } else { infinite(row) };
            if misfits {
                let value = arrow_cast::display::array_value_to_string(raw, row).ok().filter(|_| !was_null(row));
                let place = Place::Row((first + row) as u64);
                return Err(misfit(place, column, value.as_ref().map(String::as_bytes)));
            }
        }
        columns[column] = Some(array);
    }
    let text = |column: usize, row: usize| {
        let array = columns[column].as_ref()?.as_string::<i32>();
        array.is_valid(row).then(|| array.value(row).to_owned())
    };
    for row in 0..batch.num_rows() {
        let slot = columns[1].as_ref().map(|array| array.as_primitive::<UInt64Type>());
        let weight = columns[2].as_ref().map(|array| array.as_primitive::<Float64Type>());
        let up = columns[4].as_ref().map(|array| array.as_boolean());
        rows.push(NodeRow {
            name: text(0, row).unwrap_or_default(),
            slot: slot.filter(|array| array.is_valid(row)).map(|array| array.value(row)),
            weight: weight.filter(|array| array.is_valid(row)).map(|array| array.value(row)),
            zone: text(3, row).filter(|zone| !zone.is_empty()),
            up: up.filter(|array| array.is_valid(row)).map(|array| array.value(row)),
        });
    }
    Ok(())
}
