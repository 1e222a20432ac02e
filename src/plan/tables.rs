//! The files of sums in a plan directory, as bytes: made when a plan is written and made again when it is verified.

use super::summary::Summary;
use super::tally::Tally;
use crate::error::{Error, Result};

/// A file of sums: its bytes, and its rows if it has rows.
pub(super) struct SumsFile {
    pub bytes: Vec<u8>,
    pub rows: Option<u64>,
}

/// The columns of `flows.csv`.
pub(super) const FLOW_COLUMNS: [&str; 5] = ["from", "to", "keys", "bytes", "excess"];

/// The columns of `nodes.csv`.
pub(super) const NODE_COLUMNS: [&str; 5] = ["name", "keys_from", "keys_to", "bytes_from", "bytes_to"];

/// `flows.csv`: from, to, keys, bytes (empty without sizes), excess. An empty name is "unplaced".
pub(super) fn flows(tally: &Tally) -> Result<SumsFile> {
    let rows = tally.flows().into_iter().map(|flow| {
        let (from, to) = (flow.from.unwrap_or_default(), flow.to.unwrap_or_default());
        [from, to, flow.keys.to_string(), or_empty(flow.bytes), flow.excess.to_string()]
    });
    separated(FLOW_COLUMNS, rows)
}

/// `nodes.csv`: name, keys and bytes before and after.
pub(super) fn nodes(tally: &Tally) -> Result<SumsFile> {
    let rows = tally.loads().into_iter().map(|load| {
        let (before, after) = load.bytes.unzip();
        let keys = [load.keys.0.to_string(), load.keys.1.to_string()];
        let [from, to] = keys;
        [load.name.unwrap_or_default(), from, to, or_empty(before), or_empty(after)]
    });
    separated(NODE_COLUMNS, rows)
}

/// `summary.json`.
pub(super) fn summary(summary: &Summary) -> Result<SumsFile> {
    let mut bytes = serde_json::to_vec_pretty(summary).map_err(Error::syntax)?;
    bytes.push(b'\n');
    Ok(SumsFile { bytes, rows: None })
}

fn separated<const N: usize>(header: [&str; N], rows: impl Iterator<Item = [String; N]>) -> Result<SumsFile> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(header).map_err(Error::syntax)?;
    let mut count = 0;
    for row in rows {
        table.write_record(row).map_err(Error::syntax)?;
        count += 1;
    }
    let bytes = table.into_inner().map_err(|error| Error::syntax(error.into_error()))?;
    Ok(SumsFile { bytes, rows: Some(count) })
}

fn or_empty(value: Option<u64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
