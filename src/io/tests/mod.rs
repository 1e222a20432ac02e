//! Tests of the readers and writers on small files, and what they share.

mod arrow_in;
mod arrow_out;
mod atomic;
mod compressed;
mod compressed_out;
mod encode;
mod find;
mod lines;
mod nested;
mod node_table;
mod parallel;
mod parquet_in;
mod parquet_out;
mod positions;
mod separated;
mod values;

use std::path::PathBuf;

use super::{KeyChunk, KeyReader, ReadOptions, Source, open};
use crate::error::Error;
use crate::keys::{Key, KeyColumn, KeyType};

/// Lines of two keys, of every type.
pub(super) const KEYS_OF_EVERY_TYPE: [(KeyType, &str); 7] = [
    (KeyType::Text, "x\ngrün\n"),
    (KeyType::Bytes, "00ff\nab\n"),
    (KeyType::U64, "18446744073709551615\n0\n"),
    (KeyType::I64, "-9223372036854775808\n1\n"),
    (KeyType::U32, "4294967295\n0\n"),
    (KeyType::I32, "-2147483648\n1\n"),
    (KeyType::Uuid, "6f1ed002-ab5d-4b0a-8c70-2c5a0a6a3a52\n00000000-0000-0000-0000-000000000000\n"),
];

/// A directory with one file, gone when it is dropped.
pub(super) struct Scratch {
    pub(super) directory: tempfile::TempDir,
    pub(super) path: PathBuf,
}

/// A file of this name with this content.
pub(super) fn file(name: &str, content: &[u8]) -> Scratch {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    std::fs::write(&path, content).unwrap();
    Scratch { directory, path }
}

impl Scratch {
    /// The file once more, for other readers.
    pub(super) fn reopen(&self) -> std::fs::File {
        std::fs::File::open(&self.path).unwrap()
    }

    pub(super) fn open(&self, options: ReadOptions) -> Result<KeyReader, Error> {
        open(&Source::Path(self.path.clone()), options)
    }

    /// The error of reading, without the directory in it.
    pub(super) fn error(&self, options: ReadOptions) -> String {
        let error = match self.open(options) {
            Ok(reader) => reader.filter_map(Result::err).next().expect("an error"),
            Err(error) => error,
        };
        error.to_string().replace(&format!("{}/", self.directory.path().display()), "")
    }
}

/// A key as tests compare it: an integer's digits, or text, or hexadecimal digits.
pub(super) fn shown(key: Key<'_>) -> String {
    match key {
        Key::Integer(word) => word.to_string(),
        Key::Bytes(bytes) => std::str::from_utf8(bytes).map_or_else(|_| format!("{bytes:02x?}"), str::to_owned),
    }
}

/// Keys with their rows.
pub(super) fn rows(chunks: &[KeyChunk]) -> Vec<(u64, String)> {
    let of_chunk = |chunk: &KeyChunk| {
        (0..chunk.len()).map(|index| (chunk.row(index), shown(chunk.keys(0).get(index)))).collect::<Vec<_>>()
    };
    chunks.iter().flat_map(of_chunk).collect()
}

/// Keys without their rows.
pub(super) fn keys(chunks: &[KeyChunk]) -> Vec<String> {
    rows(chunks).into_iter().map(|(_, key)| key).collect()
}
