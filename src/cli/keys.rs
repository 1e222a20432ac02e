//! `rehome keys`: files of synthetic keys, for benches and trials.

use std::process::ExitCode;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use clap::Args;
use rayon::prelude::*;
use rehome::io::{OutputFormat, TableWriter};
use rehome::measure::{KeyFamily, SyntheticKeys, TEXT_BYTES};
use rehome::{Engine, Error, KeyType, Result};

use super::failure::Failure;
use super::output::{OutputArgs, write};
use super::progress::Progress;
use super::run::{engine, shows_progress};

const EXAMPLES: &str = "\
Examples:
  rehome keys --count 20000000 --family random --seed 1 -o ids.parquet    # column key, u64
  rehome keys --count 1000000 --family zipf --distinct 100000 -o hot.csv.gz
  rehome keys --count 1000000 --family text | rehome count --cluster c10.toml -

Families: sequential is SEED, SEED + 1, ..; random is integers of no order, none twice; text is key- and 16 hexadecimal \
digits, none twice; zipf is integers of which that of rank r comes with a probability proportional to 1/r. The same \
options give the same keys on every machine.

Names of outputs: .txt (lines), .csv and .jsonl (also .txt.gz, .csv.zst ..), .parquet, .arrow and .arrows; standard \
output is lines unless --output-format says otherwise. Integers in lines and in CSV are text to whoever reads them: pass \
--key-type u64 there.";

/// Arguments of `rehome keys`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct KeysArgs {
    /// How many keys
    #[arg(short = 'n', long, value_name = "N")]
    count: u64,
    /// What keys: sequential, random, text or zipf
    #[arg(long, value_name = "FAMILY", default_value_t = KeyFamily::Random, value_parser = clap::value_parser!(KeyFamily))]
    family: KeyFamily,
    /// Another seed, 0 to 2^64 - 1, gives other keys
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Draw from this many different keys, 1 to 2^53 (zipf only; default: as many as --count)
    #[arg(long, value_name = "D")]
    distinct: Option<u64>,
    #[command(flatten)]
    output: OutputArgs,
    /// Threads that make keys and turn them into text (0: one per processor)
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    /// Rows that go through the stages at once; never changes a result
    #[arg(long, value_name = "N", hide = true, default_value_t = 262_144, value_parser = clap::value_parser!(u32).range(1..))]
    chunk_rows: u32,
    /// Say nothing but errors and results
    #[arg(short, long)]
    quiet: bool,
}

/// Runs `rehome keys`.
pub(crate) fn run(args: KeysArgs) -> Result<ExitCode, Failure> {
    let options = args.output.options(OutputFormat::Lines)?;
    let keys = synthetic(&args)?;
    let engine = engine(args.threads)?;
    let data_type = if args.family.key_type() == KeyType::Text { DataType::Utf8 } else { DataType::UInt64 };
    let schema: SchemaRef = Arc::new(Schema::new(vec![Field::new("key", data_type, false)]));
    let target = args.output.target()?;
    let name = target.name();
    let mut table = TableWriter::new(options, Arc::clone(&schema), target, name)?;
    let progress = Progress::of_rows(shows_progress(args.quiet), args.count);
    let (mut row, mut header) = (0, true);
    while row < args.count {
        let rows = (args.count - row).min(u64::from(args.chunk_rows));
        let column = column(&engine, &keys, row, usize::try_from(rows).unwrap_or(usize::MAX))?;
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![column]).map_err(Error::syntax)?;
        write(&engine, &mut table, &batch, &mut header)?;
        row += rows;
        progress.advance(row);
    }
    drop(progress);
    table.finish()?.commit()?;
    Ok(ExitCode::SUCCESS)
}

/// The keys that the options describe.
fn synthetic(args: &KeysArgs) -> Result<SyntheticKeys, Failure> {
    let distinct = match (args.family, args.distinct) {
        (KeyFamily::Zipf, None) => Some(args.count.max(1)),
        (KeyFamily::Zipf, given) => given,
        (_, None) => None,
        (family, Some(_)) => {
            return Err(Failure::usage(format!(
                "--distinct is for --family zipf: keys of {family} have no such number"
            )));
        }
    };
    SyntheticKeys::new(args.family, args.seed, distinct).map_err(|error| Failure::usage(format!("--distinct: {error}")))
}

/// Rows that one thread makes at a time.
const PIECE: usize = 8192;

/// The keys of some rows, made on the engine's threads.
fn column(engine: &Engine, keys: &SyntheticKeys, first: u64, rows: usize) -> Result<ArrayRef> {
    let row = |piece: usize, index: usize| first + (piece * PIECE + index) as u64;
    if keys.family().key_type() != KeyType::Text {
        let mut words = vec![0; rows];
        engine.install(|| {
            words.par_chunks_mut(PIECE).enumerate().for_each(|(piece, words)| keys.fill(row(piece, 0), words));
        });
        return Ok(Arc::new(UInt64Array::from(words)));
    }
    let mut texts = vec![0; rows * TEXT_BYTES];
    engine.install(|| {
        texts.par_chunks_mut(PIECE * TEXT_BYTES).enumerate().for_each(|(piece, texts)| {
            for (index, text) in texts.chunks_exact_mut(TEXT_BYTES).enumerate() {
                text.copy_from_slice(&keys.text(row(piece, index)));
            }
        });
    });
    let offsets = OffsetBuffer::from_repeated_length(TEXT_BYTES, rows);
    Ok(Arc::new(StringArray::try_new(offsets, texts.into(), None).map_err(Error::syntax)?))
}
