//! Batches as bytes of CSV, of JSON lines or of lines: a pure function, so that several threads may encode pieces of one table.

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};

use super::encode_cells::{Cells, has_line_end, prepare, quote_csv, quote_json};
use super::errors::syntax;
use crate::error::Result;

/// Encodes batches of one schema as text. Pieces encoded on any threads and written in order are the table.
///
/// CSV: nulls are empty fields, empty text is `""`, other text is quoted where it must be, bytes are hexadecimal digits
/// in lower case and UUIDs are hyphenated. JSON lines: one object a line with every column, nulls written out. Lines:
/// the cells of CSV without quotes.
#[derive(Clone, Debug)]
pub struct TextEncoder {
    style: Style,
    schema: SchemaRef,
    /// What comes before each cell of a row: in JSON with the column's name.
    before: Vec<Vec<u8>>,
}

/// The text formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Csv,
    Json,
    /// One cell a line, as it is.
    Lines,
}

impl Style {
    /// Appends text as a cell.
    #[inline]
    pub(super) fn quote(self, text: &str, out: &mut Vec<u8>) {
        match self {
            Self::Csv => quote_csv(text, out),
            Self::Json => quote_json(text, out),
            Self::Lines => out.extend_from_slice(text.as_bytes()),
        }
    }
}

impl TextEncoder {
    pub(super) fn new(style: Style, schema: SchemaRef) -> Self {
        let before = before_cells(style, &schema);
        Self { style, schema, before }
    }

    /// The header line of CSV; nothing for the others.
    pub(super) fn header(&self) -> Vec<u8> {
        let mut line = Vec::new();
        if self.style == Style::Csv {
            for (before, field) in self.before.iter().zip(self.schema.fields()) {
                line.extend_from_slice(before);
                quote_csv(field.name(), &mut line);
            }
            line.push(b'\n');
        }
        line
    }

    /// The rows of a batch as bytes, after the header line if `header` says so and the format has one.
    ///
    /// # Complexity
    /// O(rows · columns), and O(names) where a column is a dictionary that is not longer than the batch.
    ///
    /// # Errors
    /// If the batch does not have the columns of the table, or a column has a type that cannot be written as text, or a
    /// text that is to be a line has an end of line in it.
    pub fn encode(&self, batch: &RecordBatch, header: bool) -> Result<Vec<u8>> {
        let types = |schema: &Schema| schema.fields().iter().map(|field| field.data_type().clone()).collect::<Vec<_>>();
        if types(&batch.schema()) != types(&self.schema) {
            return Err(syntax("a batch does not have the columns of the table it is written to"));
        }
        let unwritable =
            |error: arrow_schema::ArrowError| syntax(format!("a column cannot be written as text: {error}"));
        let arrays: Vec<_> = batch.columns().iter().map(prepare).collect::<Result<_, _>>().map_err(unwritable)?;
        if self.style == Style::Lines && arrays.iter().any(has_line_end) {
            return Err(syntax("a text with an end of line in it cannot be a line: write CSV or JSON lines"));
        }
        let options = arrow_json::writer::EncoderOptions::default().with_explicit_nulls(true);
        let mut columns = Vec::with_capacity(arrays.len());
        for (array, field) in arrays.iter().zip(self.schema.fields()) {
            columns.push(Cells::new(self.style, field, array, &options).map_err(unwritable)?);
        }

        let mut out = if header { self.header() } else { Vec::new() };
        out.reserve(batch.num_rows() * (8 + 16 * columns.len()));
        let end: &[u8] = if self.style == Style::Json { b"}\n" } else { b"\n" };
        // A row of nothing would be an empty line, which readers of CSV pass over.
        let null: &[u8] = match self.style {
            Style::Json => b"null",
            Style::Csv if columns.len() == 1 => b"\"\"",
            Style::Csv | Style::Lines => b"",
        };
        for row in 0..batch.num_rows() {
            for (before, cells) in self.before.iter().zip(&mut columns) {
                out.extend_from_slice(before);
                if cells.is_null(row) {
                    out.extend_from_slice(null);
                } else {
                    cells.write(row, &mut out).map_err(unwritable)?;
                }
            }
            out.extend_from_slice(end);
        }
        Ok(out)
    }
}

fn before_cells(style: Style, schema: &Schema) -> Vec<Vec<u8>> {
    let before = |(index, field): (usize, &std::sync::Arc<arrow_schema::Field>)| match style {
        Style::Csv | Style::Lines if index == 0 => Vec::new(),
        Style::Csv | Style::Lines => b",".to_vec(),
        Style::Json => {
            let mut text = if index == 0 { b"{".to_vec() } else { b",".to_vec() };
            quote_json(field.name(), &mut text);
            text.push(b':');
            text
        }
    };
    schema.fields().iter().enumerate().map(before).collect()
}
