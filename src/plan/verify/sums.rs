//! The sums of a plan against other sums: those of its own moves, or those that the keys give.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, StringArray};
use arrow_cast::cast;
use arrow_schema::DataType;

use super::findings::Findings;
use super::rows::check_rows;
use crate::error::{Error, Result};
use crate::io::TableReader;
use crate::plan::directory::part_path;
use crate::plan::manifest::Manifest;
use crate::plan::recorded_file::check_regular;
use crate::plan::tables::{self, FLOW_COLUMNS, NODE_COLUMNS, SumsFile};
use crate::plan::target::{FLOWS, MANIFEST, NODES, SUMMARY};
use crate::plan::{Part, Summary, Tally};

/// Compares the files of sums with what they should hold.
pub(super) fn compare(folder: &Path, tally: &Tally, summary: &Summary, findings: &mut Findings) -> Result<()> {
    let files = [(FLOWS, tables::flows(tally)?), (NODES, tables::nodes(tally)?), (SUMMARY, tables::summary(summary)?)];
    for (name, SumsFile { bytes, .. }) in files {
        // What cannot be read was found to be missing or damaged already.
        let found = check_regular(folder, name).and_then(|()| std::fs::read(folder.join(name)));
        let Ok(found) = found else { continue };
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

/// Keys before and after per name.
type Loads = BTreeMap<String, (u64, u64)>;

/// Compares the moves of a plan with its flows, its flows with the loads of its nodes, and both with its summary. For
/// this no input is needed. Files in which something was found already are passed over; those that cannot be read are
/// told.
pub(super) fn check_own(folder: &Path, manifest: &Manifest, findings: &mut Findings) {
    let faulty: HashSet<String> = findings.places().map(str::to_owned).collect();
    let moved = if manifest.has_moves() { sum_moves(folder, manifest, &faulty, findings) } else { None };
    let whole = |name: &str| (!faulty.contains(name)).then_some(folder);
    let files = (whole(FLOWS).map(read_flows), whole(NODES).map(read_loads), whole(SUMMARY).map(read_summary));
    let flows = told(files.0, FLOWS, findings);
    let loads = told(files.1, NODES, findings);
    let summary = told(files.2, SUMMARY, findings);
    let counts = [(FLOWS, flows.as_ref().map(Flows::len)), (NODES, loads.as_ref().map(Loads::len))];
    for (name, count) in counts {
        let said = manifest.files.iter().find(|file| file.path == name).and_then(|file| file.rows);
        if let Some(count) = count.map(|count| count as u64).filter(|count| said != Some(*count)) {
            let said = said.map_or_else(|| "no".to_owned(), |said| said.to_string());
            findings.add(MANIFEST, format!("it says that {name} has {said} rows, and there are {count}"));
        }
    }
    if let Some(flows) = &flows {
        if let Some(moved) = &moved {
            compare_flows(flows, moved, findings);
        }
        if let Some(loads) = &loads {
            compare_loads(flows, loads, findings);
        }
    }
    let Some(summary) = summary else { return };
    let sums = [
        ("keys", loads.map(|loads| loads.values().map(|load| u128::from(load.0)).sum())),
        ("moved", flows.map(|flows| flows.values().map(|flow| u128::from(flow.0)).sum())),
        ("bad_rows", Some(u128::from(manifest.bad_rows()))),
    ];
    for (name, value) in sums {
        let said = summary.get(name).and_then(serde_json::Value::as_u64);
        if let Some(value) = value.filter(|value: &u128| said.map(u128::from) != Some(*value)) {
            let said = said.map_or_else(|| "nothing".to_owned(), |said| said.to_string());
            findings.add(SUMMARY, format!("{name} is {said}, and the other files make it {value}"));
        }
    }
}

/// What was read, if it could be; that it could not is told.
fn told<T>(read: Option<Result<T>>, name: &str, findings: &mut Findings) -> Option<T> {
    match read? {
        Ok(value) => Some(value),
        Err(error) => {
            findings.add(name, format!("is not what a plan has there: {}", error.kind()));
            None
        }
    }
}

fn compare_flows(flows: &Flows, moved: &Flows, findings: &mut Findings) {
    for (names, sums) in moved {
        let said = flows.get(names).copied().unwrap_or_default();
        let (from, to) = (shown(&names.0), shown(&names.1));
        if said.0 != sums.0 {
            findings.add(FLOWS, format!("from {from} to {to} it has {} keys, and the moves make {}", said.0, sums.0));
        } else if said.1 != sums.1 {
            findings.add(FLOWS, format!("from {from} to {to} it has {} bytes, and the moves make {}", said.1, sums.1));
        }
    }
    for (from, to) in flows.keys().filter(|names| !moved.contains_key(*names)) {
        findings.add(FLOWS, format!("from {} to {} it has keys, and no move goes there", shown(from), shown(to)));
    }
}

fn compare_loads(flows: &Flows, loads: &Loads, findings: &mut Findings) {
    let mut change: BTreeMap<&str, i128> = BTreeMap::new();
    for ((from, to), (keys, _)) in flows {
        *change.entry(from).or_default() -= i128::from(*keys);
        *change.entry(to).or_default() += i128::from(*keys);
    }
    for (name, (before, after)) in loads {
        let made = i128::from(*before) + change.remove(name.as_str()).unwrap_or(0);
        if made != i128::from(*after) {
            let name = shown(name);
            findings
                .add(NODES, format!("{name} has {before} keys before and {after} after, and the flows make it {made}"));
        }
    }
    for name in change.into_iter().filter(|(_, moved)| *moved != 0).map(|(name, _)| shown(name)) {
        findings.add(NODES, format!("{name} is not there, and has flows"));
    }
}

/// A node for people; no name is "unplaced".
fn shown(name: &str) -> String {
    if name.is_empty() { "(unplaced)".to_owned() } else { format!("{name:?}") }
}

/// Sums up the moves; nothing if some of them cannot be read.
fn sum_moves(folder: &Path, manifest: &Manifest, faulty: &HashSet<String>, findings: &mut Findings) -> Option<Flows> {
    let (mut flows, mut all) = (Flows::new(), true);
    for (number, part) in (0..).zip(&manifest.parts) {
        let path = part_path(number);
        let what = if faulty.contains(&path) {
            None
        } else {
            match sum_part(folder, &path, part, &mut flows) {
                Ok(moves) if moves == part.moves => continue,
                Ok(moves) => Some(format!("has {moves} moves, and the manifest says {}", part.moves)),
                Err(error) => Some(error.kind().to_string()),
            }
        };
        all = false;
        if let Some(what) = what {
            findings.add(path, what);
        }
    }
    all.then_some(flows)
}

/// Adds the moves of one part; says how many they are.
fn sum_part(folder: &Path, path: &str, part: &Part, flows: &mut Flows) -> Result<u64> {
    check_regular(folder, path).map_err(Error::syntax)?;
    let mut reader = TableReader::open(&folder.join(path))?;
    let range = (part.first_row, part.first_row.saturating_add(part.rows));
    let (mut count, mut last) = (0, None);
    while let Some(batch) = reader.next_batch()? {
        check_rows(&batch, range, &mut last).map_err(Error::syntax)?;
        let names = |name: &str| -> Result<StringArray> {
            let column = batch.column_by_name(name).ok_or_else(|| Error::syntax(format!("has no column {name}")))?;
            let names = cast(column, &DataType::Utf8).map_err(Error::syntax)?;
            names.as_string_opt().cloned().ok_or_else(|| Error::syntax(format!("its column {name} is no text")))
        };
        let (from, to) = (names("from")?, names("to")?);
        let bytes = batch.column_by_name("bytes").and_then(|bytes| bytes.as_primitive_opt::<UInt64Type>());
        for index in 0..batch.num_rows() {
            let name = |names: &StringArray| {
                if names.is_null(index) { String::new() } else { names.value(index).to_owned() }
            };
            let sums = flows.entry((name(&from), name(&to))).or_default();
            sums.0 += 1;
            sums.1 = sums.1.saturating_add(bytes.map_or(0, |bytes| bytes.value(index)));
        }
        count += batch.num_rows() as u64;
    }
    Ok(count)
}

fn read_flows(folder: &Path) -> Result<Flows> {
    let mut flows = Flows::new();
    for (line, [from, to, keys, bytes, _]) in (2..).zip(rows(folder, FLOWS, FLOW_COLUMNS)?) {
        let sums = (number(&keys, line)?, if bytes.is_empty() { 0 } else { number(&bytes, line)? });
        if flows.insert((from, to), sums).is_some() {
            return Err(Error::syntax(format!("row {line} has a flow that was there before")));
        }
    }
    Ok(flows)
}

fn read_loads(folder: &Path) -> Result<Loads> {
    let mut loads = Loads::new();
    for (line, [name, before, after, ..]) in (2..).zip(rows(folder, NODES, NODE_COLUMNS)?) {
        if loads.insert(name, (number(&before, line)?, number(&after, line)?)).is_some() {
            return Err(Error::syntax(format!("row {line} has a node that was there before")));
        }
    }
    Ok(loads)
}

fn number(text: &str, line: u64) -> Result<u64> {
    text.parse().map_err(|_| Error::syntax(format!("row {line} has {text:?} for a number")))
}

fn read_summary(folder: &Path) -> Result<serde_json::Value> {
    let text = check_regular(folder, SUMMARY).and_then(|()| std::fs::read(folder.join(SUMMARY)));
    serde_json::from_slice(&text.map_err(Error::syntax)?).map_err(Error::syntax)
}

/// The rows of a table with these columns, the header being row 1.
fn rows<const N: usize>(folder: &Path, name: &str, columns: [&str; N]) -> Result<Vec<[String; N]>> {
    check_regular(folder, name).map_err(Error::syntax)?;
    let mut reader = csv::Reader::from_path(folder.join(name)).map_err(Error::syntax)?;
    if reader.headers().map_err(Error::syntax)? != columns.as_slice() {
        return Err(Error::syntax(format!("its first row is not {}", columns.join(","))));
    }
    let short = |_| Error::syntax("it has a short row");
    let fields = |row: csv::StringRecord| row.iter().map(str::to_owned).collect::<Vec<_>>().try_into().map_err(short);
    reader.records().map(|row| fields(row.map_err(Error::syntax)?)).collect()
}
