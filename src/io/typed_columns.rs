//! Which columns of a typed format are the keys, the carried ones and the sizes, also inside structs.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType, Field, Fields};
use arrow_select::nullif::nullif;

use super::columns::{Chosen, choose_by, find, list};
use super::options::ReadOptions;
use super::typed_keys::{KeyShape, is_size};
use crate::error::{Error, Result};

/// A column, at the top or inside structs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ColumnPath {
    /// Its field, under the name that the user gave it, and nullable if a struct around it is.
    pub(super) field: Field,
    /// Its number among the columns, and then among the fields of each struct on the way.
    pub(super) steps: Vec<usize>,
}

impl ColumnPath {
    /// Finds a column by its name, or by the names on the way to it with dots between them. Names win over dots.
    fn find(fields: &Fields, name: &str) -> Result<Self> {
        let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
        let index = match names.iter().any(|other| other == name) {
            true => Some(find(&names, name)?),
            false => None,
        };
        if let Some(index) = index {
            return Ok(Self { field: fields[index].as_ref().clone(), steps: vec![index] });
        }
        let (mut inside, mut rest, mut steps, mut nullable) = (fields, name, Vec::new(), false);
        loop {
            let before = name[..name.len() - rest.len()].trim_end_matches('.');
            let Some((index, length)) = longest(inside, rest) else {
                return Err(missing(name, before, inside, rest));
            };
            let field = &inside[index];
            steps.push(index);
            nullable |= field.is_nullable();
            if length == rest.len() {
                let field = field.as_ref().clone().with_name(name).with_nullable(nullable);
                return Ok(Self { field, steps });
            }
            let so_far = &name[..name.len() - rest.len() + length];
            rest = &rest[length + 1..];
            inside = match field.data_type() {
                DataType::Struct(fields) => fields,
                other => {
                    return Err(Error::invalid(
                        format!("there is no column {name:?}: {so_far:?} is {}, not a struct", kind(other)),
                        "a path goes through structs only: choose another column",
                    ));
                }
            };
        }
    }

    /// The column of a batch, null where a struct around it is.
    pub(super) fn of(&self, batch: &RecordBatch) -> Result<ArrayRef, ArrowError> {
        let mut array = Arc::clone(batch.column(self.steps[0]));
        let mut nulls: Option<NullBuffer> = None;
        for step in &self.steps[1..] {
            nulls = NullBuffer::union(nulls.as_ref(), array.nulls());
            let inner = array.as_struct().column(*step);
            array = Arc::clone(inner);
        }
        match nulls.filter(|nulls| nulls.null_count() > 0) {
            None => Ok(array),
            Some(nulls) => nullif(&array, &BooleanArray::new(!nulls.inner(), None)),
        }
    }
}

/// The field with the longest name that `rest` begins with, up to a dot or its end.
fn longest(fields: &Fields, rest: &str) -> Option<(usize, usize)> {
    let dots = rest.match_indices('.').map(|(index, _)| index);
    let mut ends: Vec<usize> = dots.chain([rest.len()]).collect();
    ends.reverse();
    ends.into_iter().find_map(|end| {
        let index = fields.iter().position(|field| field.name() == &rest[..end])?;
        Some((index, end))
    })
}

fn missing(name: &str, before: &str, fields: &Fields, rest: &str) -> Error {
    let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
    if before.is_empty() {
        let there = if names.is_empty() {
            "the file has no columns".into()
        } else {
            format!("the columns are {}", list(&names))
        };
        return Error::invalid(format!("there is no column {name:?}"), there);
    }
    let part = rest.split('.').next().unwrap_or(rest);
    Error::invalid(
        format!("there is no column {name:?}: {before:?} has no field {part:?}"),
        format!("its fields are {}", list(&names)),
    )
}

/// A type in a few words.
pub(super) fn kind(data_type: &DataType) -> String {
    match data_type {
        DataType::Struct(_) => "a struct".into(),
        DataType::Map(..) => "a map".into(),
        DataType::List(_)
        | DataType::LargeList(_)
        | DataType::FixedSizeList(..)
        | DataType::ListView(_)
        | DataType::LargeListView(_) => "a list".into(),
        other => other.to_string(),
    }
}

/// The chosen columns of a file, and how keys are read.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) key: ColumnPath,
    pub(super) kept: Vec<ColumnPath>,
    pub(super) size: Option<ColumnPath>,
    pub(super) shape: KeyShape,
}

impl Layout {
    /// Finds the columns that `options` ask for; `is_uuid` says which hold UUIDs.
    ///
    /// # Errors
    /// If one is not there, or is of a type that cannot be what it is to be.
    pub(super) fn choose(
        fields: &Fields,
        options: &ReadOptions,
        is_uuid: impl Fn(&ColumnPath) -> bool,
    ) -> Result<Self> {
        if options.second_key_type.is_some() {
            return Err(Error::invalid(
                "two ways to read a key were asked for, and a Parquet or Arrow column has a type of its own",
                "leave --key-type out, or give the keys as lines or CSV",
            ));
        }
        let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
        let Chosen { key, kept, size } = choose_by(&names, options, |name| ColumnPath::find(fields, name))?;
        if let DataType::Struct(inner) = key.field.data_type() {
            let name = key.field.name();
            let paths: Vec<String> = inner.iter().map(|field| format!("{name}.{}", field.name())).collect();
            return Err(Error::invalid(
                format!("column {name:?} is a struct, which cannot be a key"),
                format!("choose one of its fields: {}", list(&paths)),
            ));
        }
        let shape = KeyShape::of(key.field.name(), key.field.data_type(), is_uuid(&key), options.key_type)?;
        if let Some(field) = size.as_ref().map(|size| &size.field)
            && !is_size(field.data_type())
        {
            return Err(Error::invalid(
                format!("column {:?} is {}, which cannot be sizes", field.name(), kind(field.data_type())),
                "choose a column of integers",
            ));
        }
        Ok(Self { key, kept, size, shape })
    }

    /// The chosen columns.
    fn all(&mut self) -> impl Iterator<Item = &mut ColumnPath> {
        [&mut self.key].into_iter().chain(&mut self.kept).chain(&mut self.size)
    }

    /// What must be read: the way to each chosen column.
    pub(super) fn needed(&mut self) -> BTreeSet<Vec<usize>> {
        self.all().map(|column| column.steps.clone()).collect()
    }

    /// The same columns in batches that hold only what is in `read`, in the order of the file.
    pub(super) fn within(mut self, read: &BTreeSet<Vec<usize>>) -> Self {
        for column in self.all() {
            column.steps = (0..column.steps.len()).map(|depth| place(&column.steps, depth, read)).collect();
        }
        self
    }
}

/// The number that step `depth` has where only what is in `read` is left.
fn place(steps: &[usize], depth: usize, read: &BTreeSet<Vec<usize>>) -> usize {
    let (around, step) = (&steps[..depth], steps[depth]);
    if read.iter().any(|other| around.starts_with(other)) {
        // The struct is read as a whole.
        return step;
    }
    let beside = read.iter().filter(|other| other.starts_with(around)).filter_map(|other| other.get(depth));
    beside.filter(|other| **other < step).collect::<BTreeSet<_>>().len()
}
