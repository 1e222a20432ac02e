//! The sums of a plan against other sums: those of its own moves, or those that the keys give.

use std::collections::BTreeMap;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, StringArray};
use arrow_cast::cast;
use arrow_schema::DataType;

use super::findings::Findings;
use crate::error::{Error, Result};
use crate::io::TableReader;
use crate::plan::directory::part_path;
use crate::plan::manifest::Manifest;
use crate::plan::tables::{self, SumsFile};
use crate::plan::target::{FLOWS, NODES, SUMMARY};
use crate::plan::{Summary, Tally};

/// Compares the files of sums with what they should hold.
pub(super) fn compare(folder: &Path, tally: &Tally, summary: &Summary, findings: &mut Findings) -> Result<()> {
    let files = [(FLOWS, tables::flows(tally)?), (NODES, tables::nodes(tally)?), (SUMMARY, tables::summary(summary)?)];
    for (name, SumsFile { bytes, .. }) in files {
        // What cannot be read was found to be missing or damaged already.
        let Ok(found) = std::fs::read(folder.join(name)) else { continue };
        if found == bytes {
            continue;
        }
        let lines =
            |bytes: &[u8]| -> Vec<String> { String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect() };
        let (found, expected) = (lines(&found), lines(&bytes));
        for index in 0..found.len().max(expected.len()) {
            match (found.get(index), expected.get(index)) {
                (Some(found), Some(expected)) if found == expected => {}
                (Some(found), Some(expected)) => {
                    let (found, expected) = (found.trim(), expected.trim());
                    findings.add(name, format!("line {} is {found:?}, and the keys give {expected:?}", index + 1));
                }
                (Some(found), None) => findings.add(name, format!("line {} is one too many: {found:?}", index + 1)),
                (None, Some(expected)) => findings.add(name, format!("line {} is missing: {expected:?}", index + 1)),
                (None, None) => {}
            }
        }
    }
    Ok(())
}

/// Keys and bytes per pair of names.
type Flows = BTreeMap<(String, String), (u64, u64)>;

/// Compares the moves of a plan with its flows, its flows with the loads of its nodes, and both with its summary. For
/// this no input is needed. What cannot be read is passed over: it was found to be damaged already.
pub(super) fn check_own(folder: &Path, manifest: &Manifest, findings: &mut Findings) {
    let Ok(flows) = read_flows(folder) else { return };
    if manifest.has_moves()
        && let Ok(moved) = sum_moves(folder, manifest)
    {
        for (names, sums) in &moved {
            if flows.get(names) != Some(sums) {
                let told = flows.get(names).map_or(0, |sums| sums.0);
                let what =
                    format!("{:?} to {:?} has {told} keys, and {} of the moves go there", names.0, names.1, sums.0);
                findings.add(FLOWS, what);
            }
        }
        for names in flows.keys().filter(|names| !moved.contains_key(*names)) {
            findings.add(FLOWS, format!("{:?} to {:?} is there, and no move goes there", names.0, names.1));
        }
    }
    let Ok(loads) = read_loads(folder) else { return };
    let mut change: BTreeMap<&str, i128> = BTreeMap::new();
    for ((from, to), (keys, _)) in &flows {
        *change.entry(from).or_default() -= i128::from(*keys);
        *change.entry(to).or_default() += i128::from(*keys);
    }
    for (name, (before, after)) in &loads {
        let moved = change.remove(name.as_str()).unwrap_or(0);
        if i128::from(*before) + moved != i128::from(*after) {
            findings.add(
                NODES,
                format!(
                    "{name:?} has {before} keys before and {after} after, and the flows make it {}",
                    i128::from(*before) + moved
                ),
            );
        }
    }
    for name in change.into_iter().filter(|(_, moved)| *moved != 0).map(|(name, _)| name) {
        findings.add(NODES, format!("{name:?} is not there, and has flows"));
    }
    let Ok(summary) = read_summary(folder) else { return };
    let (keys, moved): (u128, u128) =
        (loads.values().map(|load| u128::from(load.0)).sum(), flows.values().map(|flow| u128::from(flow.0)).sum());
    for (name, value) in [("keys", keys), ("moved", moved), ("bad_rows", u128::from(manifest.bad_rows()))] {
        let told = summary.get(name).and_then(serde_json::Value::as_u64);
        if told.map(u128::from) != Some(value) {
            let told = told.map_or_else(|| "nothing".to_owned(), |told| told.to_string());
            findings.add(SUMMARY, format!("{name} is {told}, and the other files make it {value}"));
        }
    }
}

fn sum_moves(folder: &Path, manifest: &Manifest) -> Result<Flows> {
    let mut flows = Flows::new();
    for (number, _) in (0..).zip(&manifest.parts) {
        let mut reader = TableReader::open(&folder.join(part_path(number)))?;
        while let Some(batch) = reader.next_batch()? {
            let column =
                |name: &str| batch.column_by_name(name).ok_or_else(|| Error::syntax(format!("no column {name}")));
            let names = |name: &str| -> Result<StringArray> {
                Ok(cast(column(name)?, &DataType::Utf8).map_err(Error::syntax)?.as_string::<i32>().clone())
            };
            let (from, to) = (names("from")?, names("to")?);
            let bytes = column("bytes").ok().and_then(|bytes| bytes.as_primitive_opt::<UInt64Type>().cloned());
            for index in 0..batch.num_rows() {
                let name = |names: &StringArray| {
                    if names.is_null(index) { String::new() } else { names.value(index).to_owned() }
                };
                let sums = flows.entry((name(&from), name(&to))).or_default();
                sums.0 += 1;
                sums.1 = sums.1.saturating_add(bytes.as_ref().map_or(0, |bytes| bytes.value(index)));
            }
        }
    }
    Ok(flows)
}

fn read_flows(folder: &Path) -> Result<Flows> {
    let mut flows = Flows::new();
    for row in rows(&folder.join(FLOWS))? {
        let number = |text: &str| if text.is_empty() { Ok(0) } else { text.parse::<u64>().map_err(Error::syntax) };
        let [from, to, keys, bytes, ..] = row.as_slice() else { return Err(Error::syntax("a short row")) };
        flows.insert((from.clone(), to.clone()), (number(keys)?, number(bytes)?));
    }
    Ok(flows)
}

fn read_loads(folder: &Path) -> Result<BTreeMap<String, (u64, u64)>> {
    let mut loads = BTreeMap::new();
    for row in rows(&folder.join(NODES))? {
        let [name, before, after, ..] = row.as_slice() else { return Err(Error::syntax("a short row")) };
        loads.insert(name.clone(), (before.parse().map_err(Error::syntax)?, after.parse().map_err(Error::syntax)?));
    }
    Ok(loads)
}

fn read_summary(folder: &Path) -> Result<serde_json::Value> {
    let text = std::fs::read(folder.join(SUMMARY)).map_err(Error::syntax)?;
    serde_json::from_slice(&text).map_err(Error::syntax)
}

/// The rows of a table, without its header.
fn rows(path: &Path) -> Result<Vec<Vec<String>>> {
    let mut reader = csv::Reader::from_path(path).map_err(Error::syntax)?;
    let fields = |row: csv::StringRecord| row.iter().map(str::to_owned).collect();
    reader.records().map(|row| row.map(fields).map_err(Error::syntax)).collect()
}
