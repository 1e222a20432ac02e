//! Where the rows of a verb go, in what format, and how text is made for them on many threads.

use std::path::PathBuf;

use arrow_array::RecordBatch;
use clap::Args;
use rayon::prelude::*;
use rehome::engine::{Cost, Stopwatch};
use rehome::io::{AtomicFile, Compression, OutputFormat, TableOptions, TableWriter, Target};
use rehome::{Engine, Result};

use super::failure::Failure;

/// Options of a verb that writes rows.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Where the rows go; format and compression are those of the name (default, and -: standard output)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The format of the rows: lines (of keys), csv, jsonl, parquet, arrow or arrow-stream (default: by the name)
    #[arg(long, value_name = "FORMAT", value_parser = clap::value_parser!(OutputFormat))]
    pub output_format: Option<OutputFormat>,
    /// The compression: none, gzip or zstd, of the whole file for text, inside the file for parquet (default zstd) and
    /// arrow (none or zstd). It wins over a name that ends in .gz or .zst
    #[arg(long, value_name = "NAME", value_parser = clap::value_parser!(Compression))]
    pub compression: Option<Compression>,
    /// Replace the output if it exists
    #[arg(short, long)]
    pub force: bool,
}

impl OutputArgs {
    /// The file, if the rows do not go to standard output.
    pub(crate) fn file(&self) -> Option<&PathBuf> {
        self.output.as_ref().filter(|path| path.as_os_str() != "-")
    }

    /// Whether the rows go to standard output.
    pub(crate) fn is_stdout(&self) -> bool {
        self.file().is_none()
    }

    /// Format and compression; standard output has the format `usual` unless another is asked for.
    pub(crate) fn options(&self, usual: OutputFormat) -> Result<TableOptions, Failure> {
        let told = match self.file() {
            Some(path) => TableOptions::of_path(path, self.output_format, self.compression),
            None => TableOptions::of_stdout(self.output_format.unwrap_or(usual), self.compression),
        };
        told.map_err(|error| Failure::usage(error.to_string()))
    }

    /// Opens the output.
    pub(crate) fn target(&self) -> Result<Target> {
        match self.file() {
            Some(path) => Ok(Target::File(AtomicFile::create(path, self.force)?)),
            None => Ok(Target::Stdout),
        }
    }
}

/// Rows that one thread turns into text at a time.
const PIECE: usize = 8192;

/// Writes rows, the first ones if `header` says so, which is then cleared. Text is made on the engine's threads, and what
/// that cost there is returned.
pub(crate) fn write(engine: &Engine, table: &mut TableWriter, batch: &RecordBatch, header: &mut bool) -> Result<Cost> {
    let Some(encoder) = table.encoder() else {
        table.write(batch)?;
        return Ok(Cost::default());
    };
    let first = std::mem::replace(header, false);
    let starts: Vec<usize> = (0..batch.num_rows().max(1)).step_by(PIECE).collect();
    let pieces: Vec<(Result<Vec<u8>>, Cost)> = engine.install(|| {
        let piece = |start: &usize| {
            let mut watch = Stopwatch::start();
            let rows = batch.slice(*start, PIECE.min(batch.num_rows() - start));
            (encoder.encode(&rows, first && *start == 0), watch.lap())
        };
        starts.par_iter().map(piece).collect()
    });
    let mut cost = Cost::default();
    for (text, encoding) in pieces {
        cost += encoding;
        table.write_encoded(&text?)?;
    }
    Ok(cost)
}
