//! Whether inputs are still what a plan was made from, and the refusal of those that are not.

use std::path::Path;

use super::part::{KeysDigest, Part};
use crate::error::{Error, Result};
use crate::io::{Input, KeyChunk, Position, Stamp};

/// The length of an input, if it is a file.
pub(super) fn length(input: &Input) -> Option<u64> {
    Stamp::of_source(&input.source).ok().flatten().map(|stamp| stamp.bytes)
}

/// Compares keys, read from the start of the inputs, with those of parts, which are all of them or those that end at
/// `ends`.
pub(super) fn key_differences(
    chunks: impl Iterator<Item = Result<KeyChunk>>,
    parts: &[Part],
    ends: Option<&[Position]>,
) -> Result<Vec<String>> {
    let (mut next, mut digest, all) = (0, KeysDigest::default(), ends.is_none());
    // Lines only name places.
    let place = |position: &Position| Position { line: 0, ..position.clone() };
    let end_of = |part: &Part| part.first_row.saturating_add(part.rows);
    let rows_of = |part: &Part| format!("rows {} to {}", part.first_row, end_of(part).saturating_sub(1));
    for chunk in chunks {
        let chunk = chunk?;
        let Some(part) = parts.get(next) else {
            return Ok(if all { vec!["the inputs have more rows than they had".to_owned()] } else { Vec::new() });
        };
        digest.add(&chunk);
        if chunk.end_row() < end_of(part) {
            continue;
        }
        if chunk.end_row() > end_of(part) {
            return Ok(vec![format!("the inputs go on behind {}", rows_of(part))]);
        }
        let (keys, sizes) = std::mem::take(&mut digest).finish();
        if (&keys, &sizes) != (&part.keys_crc32, &part.sizes_crc32) {
            let what = if keys == part.keys_crc32 { "sizes" } else { "keys" };
            return Ok(vec![format!("the inputs have other {what} in {}", rows_of(part))]);
        }
        // The same keys may be written with more bytes or fewer.
        if ends.is_some_and(|ends| ends.get(next).map(place) != Some(place(chunk.end()))) {
            return Ok(vec![format!("the inputs have other bytes in {}", rows_of(part))]);
        }
        next += 1;
        if !all && next == parts.len() {
            break;
        }
    }
    Ok(parts.get(next).map(|part| format!("the inputs end in {}", rows_of(part))).into_iter().collect())
}

/// Fails if anything differs, and says what.
pub(super) fn refuse(folder: &Path, differences: &[String]) -> Result<()> {
    if differences.is_empty() {
        return Ok(());
    }
    let what = format!("was made with something else: {}", differences.join("; "));
    Err(Error::invalid(what, "give the same clusters, inputs and options, or pass --force to start anew")
        .in_file(folder))
}
