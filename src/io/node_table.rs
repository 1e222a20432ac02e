//! Tables of nodes beside a cluster file: one row a node, as CSV or Parquet.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use csv::ByteRecord;

use super::errors::syntax;
use super::format::{OutputFormat, extension};
use super::metered::Metered;
use super::node_table_parquet::read_parquet;
use super::opened::open_file;
use super::output::TableWriter;
use super::separated::{bad_quote, line, read_row};
use crate::error::{BadRow, Error, ErrorKind, Place, Result, shown};

/// The columns of a node table.
pub(super) const COLUMNS: [&str; 5] = ["name", "slot", "weight", "zone", "up"];
/// Rows written at once.
const BATCH: usize = 65_536;

/// A row of a node table; what is absent has the cluster's default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeRow {
    /// The node's name.
    pub name: String,
    /// The slot it is in.
    pub slot: Option<u64>,
    /// Its weight.
    pub weight: Option<f64>,
    /// Its zone, a path such as `dc1/rack2`.
    pub zone: Option<String>,
    /// Whether it is up.
    pub up: Option<bool>,
}

/// The formats of node tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableFormat {
    /// Comma-separated values with a header line.
    Csv,
    /// An Apache Parquet file.
    Parquet,
}

impl TableFormat {
    /// The format that the name of a file tells, if it tells one.
    pub fn of_path(path: &Path) -> Option<Self> {
        match extension(path)?.as_str() {
            "csv" => Some(Self::Csv),
            "parquet" | "pq" => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// Reads a node table: columns `name` and, in any order and if there are any, `slot`, `weight`, `zone` and `up`.
///
/// # Errors
/// If the file cannot be read, has no column `name` or one that is not known, or has a value that does not fit its
/// column: with file, line or row, column, value and what to do. Names are not checked.
pub fn read_node_table(path: &Path) -> Result<Vec<NodeRow>> {
    let read = || {
        let (file, _) = open_file(path)?;
        match TableFormat::of_path(path) {
            Some(TableFormat::Csv) => read_csv(Metered::with_memory(Box::new(file)), path),
            Some(TableFormat::Parquet) => read_parquet(file),
            None => Err(Error::invalid("this is no node table", "give a file named .csv or .parquet")),
        }
    };
    read().map_err(|error| error.in_file(path))
}

/// Writes a node table with all five columns; the same rows give the same bytes.
///
/// # Errors
/// If `out` fails.
pub fn write_node_table(format: TableFormat, rows: &[NodeRow], out: impl Write + Send) -> Result<()> {
    let schema = Arc::new(Schema::new(vec![
        Field::new("name", DataType::Utf8, false),
        Field::new("slot", DataType::UInt64, true),
        Field::new("weight", DataType::Float64, true),
        Field::new("zone", DataType::Utf8, true),
        Field::new("up", DataType::Boolean, true),
    ]));
    let format = match format {
        TableFormat::Csv => OutputFormat::Csv,
        TableFormat::Parquet => OutputFormat::Parquet,
    };
    let mut table = TableWriter::new(format, Arc::clone(&schema), out, "the node table")?;
    for rows in rows.chunks(BATCH) {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.name))),
            Arc::new(rows.iter().map(|row| row.slot).collect::<UInt64Array>()),
            Arc::new(rows.iter().map(|row| row.weight).collect::<Float64Array>()),
            Arc::new(rows.iter().map(|row| row.zone.as_deref()).collect::<StringArray>()),
            Arc::new(rows.iter().map(|row| row.up).collect::<BooleanArray>()),
        ];
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(|error| syntax(error.to_string()))?;
        table.write(&batch)?;
    }
    table.finish().map(drop)
}

/// Where each column of [`COLUMNS`] is among the columns of a file.
pub(super) fn places(names: &[String]) -> Result<[Option<usize>; 5]> {
    let mut places = [None; 5];
    for (index, name) in names.iter().enumerate() {
        let Some(place) = COLUMNS.iter().position(|known| known == name).map(|column| &mut places[column]) else {
            return Err(Error::invalid(
                format!("a node table has no column {name:?}"),
                format!("the columns are {}", COLUMNS.join(", ")),
            ));
        };
        if place.replace(index).is_some() {
            return Err(Error::invalid(format!("there are two columns {name:?}"), "leave one out"));
        }
    }
    if places[0].is_none() {
        return Err(Error::invalid("there is no column \"name\"", "give every node a name"));
    }
    Ok(places)
}

/// A value that does not fit its column.
pub(super) fn misfit(place: Place, column: usize, value: Option<&[u8]>) -> Error {
    let reason = match COLUMNS[column] {
        "name" => "is not a name: give UTF-8 text",
        "slot" => "is not a slot: give a whole number from 0 to 18446744073709551615, or nothing",
        "weight" => "is not a weight: give a number such as 1 or 0.5, or nothing",
        "zone" => "is not a zone: give UTF-8 text such as dc1/rack2, or nothing",
        _ => "does not say whether the node is up: give true or false (or up, down, 1, 0), or nothing",
    };
    let reason = if value.is_some() { reason.to_owned() } else { format!("the value {reason}") };
    ErrorKind::BadRow(BadRow { place, column: Some(COLUMNS[column].into()), value: value.map(shown), reason }).into()
}

fn read_csv(input: Metered, path: &Path) -> Result<Vec<NodeRow>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(input.with_quotes(b','));
    let mut record = ByteRecord::new();
    if !read_row(&mut reader, &mut record, path)? {
        return Err(syntax(format!("there is no header line: begin with {}", COLUMNS.join(","))));
    }
    refuse_bad_quote(&mut reader, &record)?;
    let names: Vec<String> = record.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    let places = places(&names)?;
    let mut rows = Vec::new();
    loop {
        if !read_row(&mut reader, &mut record, path)? {
            return Ok(rows);
        }
        refuse_bad_quote(&mut reader, &record)?;
        if record.len() != names.len() {
            let reason =
                format!("the row has {} fields, and the header {}: check its commas", record.len(), names.len());
            let place = Place::Line(line(&reader, &record));
            return Err(ErrorKind::BadRow(BadRow { place, column: None, value: None, reason }).into());
        }
        let field =
            |column: usize| places[column].and_then(|index| record.get(index)).filter(|value| !value.is_empty());
        let row = parse(field).map_err(|column| misfit(Place::Line(line(&reader, &record)), column, field(column)))?;
        rows.push(row);
    }
}

fn refuse_bad_quote(reader: &mut csv::Reader<Metered>, record: &ByteRecord) -> Result<()> {
    match bad_quote(reader, record) {
        Some((line, fault)) => Err(ErrorKind::BadRow(fault.at(Place::Line(line), None, None)).into()),
        None => Ok(()),
    }
}

/// The row of these fields, or the number of the column whose field does not fit.
fn parse<'a>(field: impl Fn(usize) -> Option<&'a [u8]>) -> Result<NodeRow, usize> {
    let text = |column: usize| match field(column).map(std::str::from_utf8) {
        Some(Ok(text)) => Ok(Some(text)),
        Some(Err(_)) => Err(column),
        None => Ok(None),
    };
    let slot = text(1)?.map(|text| if text.starts_with('+') { Err(1) } else { text.parse().map_err(|_| 1_usize) });
    let weight = text(2)?.map(|text| text.parse().ok().filter(|weight: &f64| weight.is_finite()).ok_or(2_usize));
    let up = text(4)?.map(|text| match text {
        "true" | "1" | "up" => Ok(true),
        "false" | "0" | "down" => Ok(false),
        _ => Err(4_usize),
    });
    Ok(NodeRow {
        name: text(0)?.unwrap_or_default().to_owned(),
        slot: slot.transpose()?,
        weight: weight.transpose()?,
        zone: text(3)?.map(str::to_owned),
        up: up.transpose()?,
    })
}
