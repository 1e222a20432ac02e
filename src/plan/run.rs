//! Making a plan: keys with their nodes before and after come in chunk by chunk, and parts go out to whoever wants them.

use std::num::NonZero;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::take::take;

use super::node_names::NodeNames;
use super::part::{KeysDigest, Part};
use super::summary::Summary;
use super::sums::Sums;
use super::tally::Tally;
use crate::cluster::Cluster;
use crate::error::{Error, Result};
use crate::io::{InputFacts, KeyChunk, Position};
use crate::placement::NodeId;

/// Takes the parts of a plan as they come: a writer, or something that compares them with another plan.
pub(super) trait PartSink {
    /// Whether it wants the moves themselves.
    fn wants_moves(&self) -> bool;

    /// Moves of part `number`: `rows` are their input rows, ascending, as in the batch.
    fn moves(&mut self, number: u64, rows: &[u64], batch: &RecordBatch) -> Result<()>;

    /// Part `number` is over.
    fn part(&mut self, number: u64, done: &PartDone<'_>) -> Result<()>;
}

/// A part that is over.
pub(super) struct PartDone<'a> {
    pub part: &'a Part,
    pub sums: &'a Sums,
    /// Where the next part begins.
    pub end: &'a Position,
    /// Inputs that ended since the part before.
    pub inputs: &'a [InputFacts],
}

/// A plan in the making.
#[derive(Debug)]
pub(super) struct PlanRun {
    total: Tally,
    /// What the open part adds.
    part: Tally,
    parts: Vec<Part>,
    inputs: Vec<InputFacts>,
    /// How many of the inputs the finished parts have told of.
    told: usize,
    open: Option<OpenPart>,
    end: Position,
    names: (NodeNames, NodeNames),
    schema: SchemaRef,
    part_rows: NonZero<u64>,
}

/// The part that chunks go to.
#[derive(Debug)]
struct OpenPart {
    number: u64,
    digest: KeysDigest,
    keys: u64,
    moves: u64,
}

impl PlanRun {
    /// Nothing read yet; `key` is the column of keys, and `sized` says whether sizes come with them.
    pub(super) fn new(from: &Cluster, to: &Cluster, key: Field, sized: bool, part_rows: NonZero<u64>) -> Self {
        let mut total = Tally::new(from, to);
        let mut fields = vec![Field::new("row", DataType::UInt64, false), key];
        fields.extend([NodeNames::field("from"), NodeNames::field("to")]);
        if sized {
            fields.push(Field::new("bytes", DataType::UInt64, false));
            total = total.with_sizes();
        }
        Self {
            part: total.clone(),
            total,
            parts: Vec::new(),
            inputs: Vec::new(),
            told: 0,
            open: None,
            end: Position::default(),
            names: (NodeNames::of(from), NodeNames::of(to)),
            schema: Arc::new(Schema::new(fields)),
            part_rows,
        }
    }

    /// The columns of the moves: row, key, from, to, and bytes where sizes are known.
    pub(super) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The sums of the parts that are over.
    pub(super) fn tally(&self) -> &Tally {
        &self.total
    }

    /// What the sums of the parts that are over come to.
    pub(super) fn summary(&self) -> Summary {
        self.total.summary(self.parts.iter().map(|part| part.bad_rows).sum())
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }

    pub(super) fn into_results(self) -> (Tally, Vec<Part>) {
        (self.total, self.parts)
    }

    pub(super) fn inputs(&self) -> &[InputFacts] {
        &self.inputs
    }

    /// Takes over a part that an earlier run finished.
    pub(super) fn take_over(&mut self, done: &PartDone<'_>) -> Result<()> {
        self.total.add_sums(done.sums)?;
        self.parts.push(done.part.clone());
        self.inputs.extend_from_slice(done.inputs);
        self.told = self.inputs.len();
        self.end = done.end.clone();
        Ok(())
    }

    /// Takes in a chunk, all of it of one part, with its nodes before and after.
    pub(super) fn add(
        &mut self,
        chunk: &KeyChunk,
        nodes: &[Vec<NodeId>],
        sinks: &mut [&mut dyn PartSink],
    ) -> Result<()> {
        // A chunk ends behind at least one row of its part.
        let number = chunk.end_row().saturating_sub(1) / self.part_rows;
        let open =
            self.open.get_or_insert_with(|| OpenPart { number, digest: KeysDigest::default(), keys: 0, moves: 0 });
        let mut moved = Vec::new();
        self.part.add(&nodes[0], &nodes[1], chunk.sizes(), |index| moved.push(index as u64))?;
        open.digest.add(chunk);
        open.keys += chunk.len() as u64;
        open.moves += moved.len() as u64;
        self.inputs.extend_from_slice(chunk.finished());
        self.end = chunk.end().clone();
        if !moved.is_empty() && sinks.iter().any(|sink| sink.wants_moves()) {
            let (rows, batch) = self.moves(chunk, moved, nodes)?;
            for sink in sinks.iter_mut().filter(|sink| sink.wants_moves()) {
                sink.moves(number, &rows, &batch)?;
            }
        }
        if chunk.end_row().is_multiple_of(self.part_rows.get()) {
            self.close_part(sinks)?;
        }
        Ok(())
    }

    /// Says that no more chunks come; `last` are the inputs that the reader finished since the last one.
    pub(super) fn end(&mut self, last: &[InputFacts], sinks: &mut [&mut dyn PartSink]) -> Result<()> {
        self.close_part(sinks)?;
        self.inputs.extend_from_slice(last);
        Ok(())
    }

    fn close_part(&mut self, sinks: &mut [&mut dyn PartSink]) -> Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let sums = self.part.take_sums();
        self.total.add_sums(&sums)?;
        let (keys_crc32, sizes_crc32) = open.digest.finish();
        let first_row = open.number * self.part_rows.get();
        let rows = self.end.row - first_row;
        let part = Part { first_row, rows, bad_rows: rows - open.keys, moves: open.moves, keys_crc32, sizes_crc32 };
        let done = PartDone { part: &part, sums: &sums, end: &self.end, inputs: &self.inputs[self.told..] };
        for sink in sinks {
            sink.part(open.number, &done)?;
        }
        self.told = self.inputs.len();
        self.parts.push(part);
        Ok(())
    }

    /// The moved keys of a chunk, `moved` by position: their rows and all columns.
    fn moves(&self, chunk: &KeyChunk, moved: Vec<u64>, nodes: &[Vec<NodeId>]) -> Result<(Vec<u64>, RecordBatch)> {
        let positions: Vec<usize> = moved.iter().filter_map(|position| usize::try_from(*position).ok()).collect();
        let rows: Vec<u64> = positions.iter().map(|position| chunk.row(*position)).collect();
        let moved = UInt64Array::from(moved);
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from(rows.clone())),
            take(&chunk.key_array(), &moved, None).map_err(Error::syntax)?,
            self.names.0.column(positions.iter().map(|position| nodes[0][*position]))?,
            self.names.1.column(positions.iter().map(|position| nodes[1][*position]))?,
        ];
        if let Some(sizes) = chunk.sizes() {
            columns.push(Arc::new(positions.iter().map(|position| sizes[*position]).collect::<UInt64Array>()));
        }
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(Error::syntax)?;
        Ok((rows, batch))
    }
}
