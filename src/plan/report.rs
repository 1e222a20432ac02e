//! A plan as a table for people.

use std::fmt::Write;

use super::summary::Summary;
use super::tally::{Flow, Tally};
use crate::error::printable;

/// Flows shown before the rest is summed up.
const SHOWN: usize = 12;

/// The plan as a table: what moves, the largest flows, and the balance before and after.
pub fn table(tally: &Tally, summary: &Summary) -> String {
    let mut text = String::new();
    let mut line = |label: &str, value: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{label:<14}{value}");
    };
    line("keys", grouped(summary.keys));
    let moved = format!("{} ({:.2} %)", grouped(summary.moved), summary.moved_fraction * 100.0);
    line("moved", moved + &bytes_of(summary.moved_bytes));
    line("least moves", grouped(summary.least_moves) + &bytes_of(summary.least_moves_bytes));
    line("excess", grouped(summary.excess) + &bytes_of(summary.excess_bytes));
    if summary.unplaced > 0 {
        line("unplaced", format!("{} (keys that no node can take)", grouped(summary.unplaced)));
    }
    if summary.bad_rows > 0 {
        line("bad rows", format!("{} (skipped)", grouped(summary.bad_rows)));
    }
    let balance = |side: &super::Side| match (side.max_over_avg, side.cv) {
        (Some(max), Some(cv)) => format!("Max/Avg {max:.4}, cv {cv:.4}"),
        _ => "no balance to tell".to_owned(),
    };
    for (label, side) in [("before", &summary.from), ("after", &summary.to)] {
        line(label, format!("{} nodes, {} eligible, {}", side.nodes, side.eligible, balance(side)));
    }
    let mut flows = tally.flows();
    if flows.is_empty() {
        let _ = writeln!(text, "\nNothing moves.");
        return text;
    }
    let count = flows.len();
    flows.sort_by_key(|flow| std::cmp::Reverse(flow.keys));
    let _ = writeln!(text, "\n{}", if count > SHOWN { "The largest flows:" } else { "Flows:" });
    let _ = write!(text, "{}", flow_table(&flows[..count.min(SHOWN)]));
    if count > SHOWN {
        let rest: u64 = flows[SHOWN..].iter().map(|flow| flow.keys).sum();
        let _ = writeln!(text, "  and {} more, with {} keys together", count - SHOWN, grouped(rest));
    }
    text
}

fn flow_table(flows: &[Flow]) -> String {
    let name = |name: &Option<String>| {
        name.as_deref().map_or_else(|| "(unplaced)".to_owned(), |name| printable(name).into_owned())
    };
    let rows: Vec<[String; 3]> =
        flows.iter().map(|flow| [name(&flow.from), name(&flow.to), grouped(flow.keys)]).collect();
    let width = |column: usize, head: &str| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).max(head.len())
    };
    let (from, to, keys) = (width(0, "from"), width(1, "to"), width(2, "keys"));
    let mut text = format!("  {:<from$}  {:<to$}  {:>keys$}\n", "from", "to", "keys");
    for (row, flow) in rows.iter().zip(flows) {
        let excess = if flow.excess { "  excess" } else { "" };
        let _ =
            writeln!(text, "  {:<from$}  {:<to$}  {:>keys$}{}{excess}", row[0], row[1], row[2], bytes_of(flow.bytes));
    }
    text
}

fn bytes_of(bytes: Option<u64>) -> String {
    bytes.map_or_else(String::new, |bytes| format!(", {} bytes", grouped(bytes)))
}

/// A number with its digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
