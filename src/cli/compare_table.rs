//! A comparison for people: a table, and small bars of the keys of every node.

use std::fmt::Write;

use rehome::measure::{Figures, NodeKeys, Row};

/// The most bars in a row.
const BARS: usize = 60;

/// The columns of figures.
pub(super) const COLUMNS: [&str; 11] =
    ["moved", "moved %", "ideal %", "excess", "Max/Avg", "after", "cv", "after", "memory", "build", "keys/s"];

/// The figures of one algorithm as texts, one for each of [`COLUMNS`].
pub(super) fn cells(figures: &Figures) -> [String; COLUMNS.len()] {
    let ratio = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"));
    [
        grouped(figures.moved),
        percent(figures.moved_fraction),
        percent(figures.ideal_fraction),
        grouped(figures.excess),
        ratio(figures.max_over_avg_before),
        ratio(figures.max_over_avg_after),
        ratio(figures.cv_before),
        ratio(figures.cv_after),
        bytes(figures.memory_bytes),
        seconds(figures.build_seconds),
        figures.keys_per_second.map_or_else(|| "-".to_owned(), rate),
    ]
}

/// The rows as a table under a title, then their bars.
pub(super) fn table(title: &str, rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.algorithm.chars().count()).max().unwrap_or(0).max("algorithm".len());
    let cells: Vec<_> = rows.iter().map(|row| row.figures.as_ref().map(cells)).collect();
    let widths: Vec<usize> = (0..COLUMNS.len())
        .map(|column| {
            let found = cells.iter().flatten().map(|cells| cells[column].chars().count());
            found.max().unwrap_or(0).max(COLUMNS[column].len())
        })
        .collect();
    let line = |name: &str, cells: &[&str]| {
        let mut line = format!("{name:<width$}");
        for (cell, width) in cells.iter().zip(&widths) {
            let _ = write!(line, "  {cell:>width$}");
        }
        line + "\n"
    };
    let mut text = format!("{title}\n\n");
    text += &line("algorithm", &COLUMNS);
    for (row, cells) in rows.iter().zip(&cells) {
        match cells {
            Some(cells) => text += &line(&row.algorithm, &cells.each_ref().map(String::as_str)),
            None => {
                let reason = row.reason.as_deref().unwrap_or_default();
                let _ = writeln!(text, "{:<width$}  cannot: {reason}", row.algorithm);
            }
        }
    }
    text + &all_bars(rows, width)
}

/// Two rows of bars for every algorithm that has nodes to show.
fn all_bars(rows: &[Row], width: usize) -> String {
    let mut text = String::new();
    for row in rows {
        let Some(figures) = row.figures.as_ref().filter(|figures| figures.keys > 0) else { continue };
        let Some(nodes) = &figures.nodes else {
            let _ = writeln!(text, "{:<width$}  too many nodes to draw", row.algorithm);
            continue;
        };
        for (name, side, is_after) in [(row.algorithm.as_str(), "before", false), ("", "after", true)] {
            let bars: String = groups(nodes, BARS, is_after).into_iter().map(bar).collect();
            let _ = writeln!(text, "{name:<width$}  {side:<6}  {}", format!("▄|{bars}").trim_end());
        }
    }
    if text.is_empty() {
        return text;
    }
    let nodes = rows.iter().filter_map(|row| row.figures.as_ref()?.nodes.as_ref()).map(Vec::len).max().unwrap_or(0);
    if nodes == 0 {
        return format!("\nKeys per node:\n{text}");
    }
    let each = match nodes.div_ceil(BARS) {
        0 | 1 => "a bar is a node".to_owned(),
        size => format!("a bar is {size} neighbouring nodes together"),
    };
    format!(
        "\nKeys per node: {each}; ▄ at the left is the fair share, █ is about twice that or more, · takes no keys.\n{text}"
    )
}

/// The keys of some neighbouring nodes together, and their fair share of all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Group {
    /// Their keys; none if none of them is there.
    pub keys: Option<u64>,
    /// Their fair share; none if none of them may get keys.
    pub fair: Option<f64>,
}

/// The nodes before or after, in at most so many groups of neighbours. Both sides have the same groups.
pub(super) fn groups(nodes: &[NodeKeys], most: usize, after: bool) -> Vec<Group> {
    let named = nodes.iter().filter(|node| node.name.is_some()).count();
    let sides: Vec<Group> = nodes[..named]
        .iter()
        .map(|node| {
            if after {
                Group { keys: node.after, fair: node.fair_after }
            } else {
                Group { keys: node.before, fair: node.fair_before }
            }
        })
        .collect();
    let together = |group: &[Group]| {
        let mut sum = Group::default();
        for node in group {
            sum.keys = node.keys.map_or(sum.keys, |keys| Some(keys + sum.keys.unwrap_or(0)));
            sum.fair = node.fair.map_or(sum.fair, |fair| Some(fair + sum.fair.unwrap_or(0.0)));
        }
        sum
    };
    sides.chunks(named.div_ceil(most).max(1)).map(together).collect()
}

/// A bar in eighths of a character: four are the fair share.
fn bar(group: Group) -> char {
    const EIGHTHS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    match (group.keys, group.fair) {
        (None, _) => ' ',
        (Some(_), None) => '·',
        (Some(keys), Some(fair)) => {
            let height = keys as f64 / fair * 4.0;
            // The highest whose lower edge, half an eighth below it, is reached; the lowest is always there.
            let reached =
                (1_u8..).zip(&EIGHTHS).take_while(|(eighths, _)| *eighths == 1 || height >= f64::from(*eighths) - 0.5);
            reached.last().map_or(' ', |(_, bar)| *bar)
        }
    }
}

/// A number with its digits in groups of three.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn percent(fraction: f64) -> String {
    format!("{:.2} %", fraction * 100.0)
}

/// The largest unit of which there is 1 or more, else the smallest.
fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    let unit = units.iter().find(|(size, _)| value >= *size).or(units.last());
    unit.map_or_else(String::new, |(size, name)| {
        let number = value / size;
        if number >= 100.0 || number.fract() == 0.0 {
            format!("{number:.0} {name}")
        } else {
            format!("{number:.1} {name}")
        }
    })
}

/// Bytes in units of 1024.
pub(super) fn bytes(bytes: u64) -> String {
    let units = [(1024.0_f64.powi(3), "GiB"), (1024.0 * 1024.0, "MiB"), (1024.0, "KiB"), (1.0, "B")];
    scaled(bytes as f64, &units)
}

fn seconds(seconds: f64) -> String {
    scaled(seconds, &[(1.0, "s"), (1e-3, "ms"), (1e-6, "us")])
}

/// Keys per second.
pub(super) fn rate(rate: f64) -> String {
    scaled(rate, &[(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")]).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, before: Option<u64>, fair_before: Option<f64>) -> NodeKeys {
        NodeKeys { name: Some(name.to_owned()), before, after: Some(1), fair_before, fair_after: Some(1.0) }
    }

    #[test]
    fn numbers_have_the_units_of_people() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 136, 1536, 3 << 30].map(bytes), ["0 B", "136 B", "1.5 KiB", "3 GiB"]);
        assert_eq!([2e-7, 1.5e-3, 0.25, 7.0].map(seconds), ["0.2 us", "1.5 ms", "250 ms", "7 s"]);
        assert_eq!([45.13e6, 2e9, 12.0].map(rate), ["45.1 M", "2 G", "12"]);
        assert_eq!(percent(1.0 / 11.0), "9.09 %");
    }

    #[test]
    fn bars_show_loads_over_fair_shares() {
        let heights = [0, 37, 38, 99, 100, 112, 113, 187, 188, 5000];
        let bars: String = heights.map(|keys| bar(Group { keys: Some(keys), fair: Some(100.0) })).iter().collect();
        assert_eq!(bars, "▁▁▂▄▄▄▅▇██");
        assert_eq!(bar(Group { keys: Some(0), fair: None }), '·');
        assert_eq!(bar(Group { keys: None, fair: None }), ' ');
    }

    #[test]
    fn many_nodes_are_drawn_in_groups() {
        let nodes: Vec<_> = (0..121).map(|number| node(&number.to_string(), Some(number), Some(2.0))).collect();
        let found = groups(&nodes, BARS, false);
        assert_eq!(found.len(), 41);
        assert_eq!(found[0], Group { keys: Some(3), fair: Some(6.0) });
        assert_eq!(found.iter().filter_map(|group| group.keys).sum::<u64>(), (0..121).sum::<u64>());
        // Neither keys without a node nor nodes that are not there count.
        let unplaced = NodeKeys { name: None, before: Some(9), after: Some(9), fair_before: None, fair_after: None };
        let nodes = [node("a", Some(5), Some(1.0)), node("b", None, None), unplaced];
        let alone = Group { keys: Some(5), fair: Some(1.0) };
        assert_eq!(groups(&nodes, BARS, false), [alone, Group::default()]);
        assert_eq!(groups(&nodes, 1, false), [alone]);
        assert_eq!(groups(&[], BARS, true), []);
    }
}
