//! Files: keys come in as lines, CSV, Parquet or Arrow IPC, the first two also compressed; results go out as CSV, JSON
//! lines, Parquet or Arrow.
//!
//! Decoders take bytes and know no files; a thin reader feeds them. Every row that cannot be a key is said with its
//! line (text) or row (Parquet), column, value and reason, and is either the end of the run or counted and passed
//! over ([`BadRows`]). Chunk sizes never change which rows come out, nor the bytes that are written.
//!
//! To add an input format: a file with a type that implements `input::ChunkSource` (or `batches::BatchSource` if it gives
//! record batches), an arm in [`InputFormat`], one in `sniff` for its first bytes, and one in `opened`.

mod arrow_reader;
mod arrow_writer;
mod atomic;
mod batches;
mod chunk;
mod columns;
mod compression;
mod decoders;
mod encode;
mod encode_cells;
mod errors;
mod fault;
mod find;
mod format;
mod input;
mod key_sink;
mod lines;
mod metered;
mod node_table;
mod node_table_parquet;
mod opened;
mod options;
mod output;
mod packed;
mod parquet_reader;
mod parquet_writer;
mod position;
mod positioned;
mod quotes;
mod rebatch;
mod report;
mod row_sink;
mod separated;
mod sniff;
mod table_options;
mod table_reader;
#[cfg(test)]
mod tests;
mod typed_columns;
mod typed_keys;

pub use atomic::{AtomicFile, Target, remove_partial_files};
pub(crate) use atomic::{directory_of, sync_directory};
pub use chunk::KeyChunk;
pub use compression::Compression;
pub use encode::TextEncoder;
pub use errors::catches_panics;
pub use find::find_inputs;
pub use format::{InputFormat, OutputFormat};
pub use input::{KeyReader, open, open_all, open_at, open_reader};
pub use lines::LineDecoder;
pub use metered::Progress;
pub use node_table::{NodeRow, TableFormat, read_node_table, write_node_table};
pub use options::{BadRows, Blank, Input, ReadOptions, Source};
pub use output::TableWriter;
pub use position::{InputFacts, Position, Stamp};
pub use report::RowReport;
pub use sniff::detect;
pub use table_options::TableOptions;
pub(crate) use table_reader::TableReader;
