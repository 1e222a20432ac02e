//! The files of a plan against its manifest: every one is there, with its bytes, and none besides.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use super::findings::Findings;
use crate::error::{Error, Result};
use crate::plan::directory::part_path;
use crate::plan::manifest::Manifest;
use crate::plan::target::{FLOWS, MANIFEST, MOVES, NODES, SUMMARY};

/// Checks what is in the folder.
pub(super) fn check(folder: &Path, manifest: &Manifest, findings: &mut Findings) -> Result<()> {
    if !manifest.is_intact() {
        findings.add(MANIFEST, "its checksum is not that of what it says: it was altered");
    } else if fs::read(folder.join(MANIFEST)).ok() != manifest.to_bytes().ok() {
        // Blanks, or a field twice, of which another reader may take the other one.
        findings.add(MANIFEST, "it says what it said, but its bytes are others: it was written anew or altered");
    }
    check_parts(manifest, findings);
    let expected = expected_files(manifest);
    let recorded: BTreeSet<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
    if recorded.len() < manifest.files.len() {
        findings.add(MANIFEST, "it names a file twice");
    }
    for path in expected.iter().filter(|path| !recorded.contains(path.as_str())) {
        findings.add(MANIFEST, format!("it does not name {path}"));
    }
    for file in &manifest.files {
        if !expected.contains(&file.path) {
            findings.add(MANIFEST, format!("it names {:?}, which is no file of this plan", file.path));
        } else if let Some(fault) = file.fault(folder)? {
            findings.add(file.path.clone(), fault);
        }
    }
    for path in present_files(folder)? {
        if path != MANIFEST && !recorded.contains(path.as_str()) {
            findings.add(path, "is there, and the manifest does not name it");
        }
    }
    Ok(())
}

/// The files that a plan with this manifest has besides it.
fn expected_files(manifest: &Manifest) -> BTreeSet<String> {
    let parts = if manifest.has_moves() { manifest.parts.len() as u64 } else { 0 };
    (0..parts).map(part_path).chain([FLOWS, NODES, SUMMARY].map(str::to_owned)).collect()
}

/// Parts follow one another, are of one length, and have the rows of the inputs.
fn check_parts(manifest: &Manifest, findings: &mut Findings) {
    let part_rows = manifest.option("part_rows").and_then(serde_json::Value::as_u64);
    let mut next = 0_u64;
    for (number, part) in manifest.parts.iter().enumerate() {
        let is_last = number + 1 == manifest.parts.len();
        let fits = match part_rows {
            Some(part_rows) => part.rows == part_rows || (is_last && (1..part_rows).contains(&part.rows)),
            None => false,
        };
        if part.first_row != next || !fits {
            let length = part_rows.map_or_else(|| "a length".to_owned(), |rows| format!("{rows} rows each"));
            let what = format!(
                "part {number} has {} rows from row {} on, which does not fit parts of {length} one after the other",
                part.rows, part.first_row
            );
            findings.add(MANIFEST, what);
        }
        next = next.saturating_add(part.rows);
    }
    let sum = |of: fn(&crate::io::InputFacts) -> u64| manifest.inputs.iter().map(of).fold(0, u64::saturating_add);
    let (rows, bad) = (sum(|input| input.rows), sum(|input| input.bad_rows));
    let bad_in_parts = manifest.parts.iter().map(|part| part.bad_rows).fold(0, u64::saturating_add);
    if (rows, bad) != (next, bad_in_parts) {
        findings.add(
            MANIFEST,
            format!("the inputs have {rows} rows, {bad} of them bad, and the parts {next}, {bad_in_parts} of them bad"),
        );
    }
    if !manifest.has_moves() {
        return;
    }
    let files: HashMap<&str, Option<u64>> = manifest.files.iter().map(|file| (file.path.as_str(), file.rows)).collect();
    for (number, part) in (0..).zip(&manifest.parts) {
        let path = part_path(number);
        if let Some(rows) = files.get(path.as_str()).filter(|rows| **rows != Some(part.moves)) {
            let rows = rows.map_or_else(|| "no".to_owned(), |rows| rows.to_string());
            findings.add(MANIFEST, format!("part {number} has {} moves, and {path} {rows} rows", part.moves));
        }
    }
}

/// The files in a plan directory, by their paths inside it.
fn present_files(folder: &Path) -> Result<BTreeSet<String>> {
    let mut paths = BTreeSet::new();
    for (inner, prefix) in [(folder.to_path_buf(), String::new()), (folder.join(MOVES), format!("{MOVES}/"))] {
        if !fs::symlink_metadata(&inner).is_ok_and(|found| found.is_dir()) && !prefix.is_empty() {
            continue;
        }
        let failed = |error| Error::io("read", &inner, error);
        for entry in fs::read_dir(&inner).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if name != MOVES || !entry.file_type().map_err(failed)?.is_dir() {
                paths.insert(name);
            }
        }
    }
    Ok(paths)
}
