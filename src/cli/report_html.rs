//! A comparison as one page that needs nothing else: no script, no style sheet, no picture from elsewhere.

use std::fmt::Write as _;
use std::io::Write;

use rehome::error::printable;
use rehome::io::AtomicFile;
use rehome::measure::{Figures, NodeKeys, Row};
use rehome::{Error, Result};

use super::compare_table::{COLUMNS, cells, grouped, groups, rate};
use super::report_charts::{Bar, bars, loads};

/// The most bars in a chart of nodes.
const BARS: usize = 100;
/// The most nodes whose keys are listed by name.
const LISTED: usize = 1000;

/// What the words mean.
const DEFINITIONS: [(&str, &str); 8] = [
    ("moved", "keys whose node differs before and after the change, and their part of all keys."),
    (
        "ideal",
        "the least moves: what any plan between the same two distributions of the keys has to move, the sum over the \
         nodes of what each has fewer afterwards.",
    ),
    ("excess", "moved keys whose old node lost nothing and whose new node gained nothing."),
    ("fair share", "all keys, divided among the nodes that may get keys by their weights."),
    ("Max/Avg", "the largest load of a node over its fair share, before and after; 1 is perfect."),
    ("cv", "the standard deviation of the loads over their fair shares, before and after; 0 is perfect."),
    (
        "memory, build",
        "bytes of the placement after the change, and the processor time of compiling it, the median of a few times if \
         it is quick.",
    ),
    (
        "keys/s",
        "keys that one processor places in a second, hashing and reading left out, in the placements before and after \
         together.",
    ),
];

const STYLE: &str = "\
:root { color-scheme: light dark }
body { font-family: system-ui, sans-serif; line-height: 1.45; max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2.2rem } h3 { font-size: 1rem; margin: 1.2rem 0 0 }
code, pre { font-family: ui-monospace, monospace }
pre { overflow-x: auto; padding: .6rem; border: 1px solid #8886; border-radius: 4px }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid #8884; white-space: nowrap }
th:first-child, td:first-child, td.reason { text-align: left } td.reason { white-space: normal }
svg { max-width: 100%; height: auto; display: block } svg text { fill: currentColor }
.before { color: #96afc8 } .after { color: #4682b4 } .mark { color: #e15546 }
dt { font-weight: 600; margin-top: .5rem }
";

/// A page to be written.
pub(super) struct Report<'a> {
    /// What is compared, in a sentence.
    pub title: &'a str,
    /// The algorithms.
    pub rows: &'a [Row],
}

impl Report<'_> {
    /// Writes the page.
    pub(super) fn write(&self, file: &mut AtomicFile) -> Result<()> {
        let page = self.page(&command())?;
        file.write_all(page.as_bytes()).map_err(|error| Error::io("write", file.target().to_path_buf(), error))
    }

    fn page(&self, command: &str) -> Result<String> {
        let mut page = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>rehome compare</title>\n\
             <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{}</h1>\n<pre>{}</pre>\n",
            escaped(self.title),
            escaped(command)
        );
        page += &self.table();
        let drawn: Vec<(&str, &Figures)> =
            self.rows.iter().filter_map(|row| Some((row.algorithm.as_str(), row.figures.as_ref()?))).collect();
        if !drawn.is_empty() {
            page += &charts(&drawn)?;
        }
        page += "<h2>Words</h2>\n<dl>\n";
        for (word, meaning) in DEFINITIONS {
            let _ = writeln!(page, "<dt>{word}</dt><dd>{meaning}</dd>");
        }
        let _ = write!(page, "</dl>\n<p>rehome {}</p>\n</body>\n</html>\n", env!("CARGO_PKG_VERSION"));
        Ok(page)
    }

    fn table(&self) -> String {
        let mut text = "<div class=\"wide\"><table>\n<tr><th>algorithm</th>".to_owned();
        COLUMNS.iter().for_each(|column| text += &format!("<th>{column}</th>"));
        text += "</tr>\n";
        for row in self.rows {
            let _ = write!(text, "<tr><td>{}</td>", escaped(&row.algorithm));
            match &row.figures {
                Some(figures) => cells(figures).iter().for_each(|cell| text += &format!("<td>{}</td>", escaped(cell))),
                None => {
                    let reason = escaped(row.reason.as_deref().unwrap_or_default());
                    let _ = write!(text, "<td class=\"reason\" colspan=\"{}\">cannot: {reason}</td>", COLUMNS.len());
                }
            }
            text += "</tr>\n";
        }
        text + "</table></div>\n"
    }
}

/// What a bar shows: its value, its mark, and the value for people.
type Shown = (f64, Option<f64>, String);

fn charts(rows: &[(&str, &Figures)]) -> Result<String> {
    let mut text = String::new();
    let mut chart = |title: &str, remark: &str, bar: &dyn Fn(&Figures) -> Option<Shown>| {
        let bars_of = rows.iter().filter_map(|(name, figures)| {
            let (value, mark, text) = bar(figures)?;
            Some(Bar { label: (*name).to_owned(), value, mark, text })
        });
        let chart = bars(&bars_of.collect::<Vec<_>>())?;
        let _ = writeln!(text, "<h2>{title}</h2>\n<p>{remark}</p>\n<figure>\n{chart}</figure>");
        Ok::<(), Error>(())
    };
    chart("Keys moved", "The part of all keys; <span class=\"mark\">|</span> is the ideal.", &|figures| {
        let text = format!("{:.2} %", figures.moved_fraction * 100.0);
        Some((figures.moved_fraction, Some(figures.ideal_fraction), text))
    })?;
    let balance = "After the change; <span class=\"mark\">|</span> at 1 is a perfect balance.";
    chart("Max/Avg", balance, &|figures| figures.max_over_avg_after.map(|max| (max, Some(1.0), format!("{max:.4}"))))?;
    chart("Keys per second", "On one processor, in placements before and after.", &|figures| {
        figures.keys_per_second.map(|keys| (keys, None, rate(keys)))
    })?;
    let size = rows.iter().filter_map(|(_, figures)| figures.nodes.as_ref()).map(Vec::len).max().unwrap_or(0);
    let each = match size.div_ceil(BARS) {
        0 | 1 => "node".to_owned(),
        size => format!("{size} neighbouring nodes together"),
    };
    let _ = writeln!(
        text,
        "<h2>Keys per node</h2>\n<p><span class=\"before\">■</span> before, <span class=\"after\">■</span> after, a pair for \
         each {each}; <span class=\"mark\">—</span> is the fair share.</p>"
    );
    for (name, figures) in rows {
        let Some(nodes) = &figures.nodes else {
            let _ = writeln!(text, "<h3>{}</h3>\n<p>Too many nodes to draw.</p>", escaped(name));
            continue;
        };
        let chart = loads(&groups(nodes, BARS, false), &groups(nodes, BARS, true))?;
        let _ = writeln!(text, "<h3>{}</h3>\n<figure>\n{chart}</figure>", escaped(name));
        if nodes.len() <= LISTED {
            text += &node_table(nodes);
        }
    }
    Ok(text)
}

/// The keys of every node by name, folded away.
fn node_table(nodes: &[NodeKeys]) -> String {
    let keys = |keys: Option<u64>| keys.map_or_else(|| "-".to_owned(), grouped);
    let fair = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| format!("{share:.1}"));
    let mut text = "<details><summary>Numbers</summary>\n<table>\n<tr><th>node</th><th>before</th><th>fair share</th>\
                    <th>after</th><th>fair share</th></tr>\n"
        .to_owned();
    for node in nodes {
        let name = node.name.as_deref().map_or_else(|| "(unplaced)".into(), printable);
        let _ = writeln!(
            text,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(&name),
            keys(node.before),
            fair(node.fair_before),
            keys(node.after),
            fair(node.fair_after)
        );
    }
    text + "</table></details>\n"
}

/// Text as it may stand in a page.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            _ => safe.push(letter),
        }
    }
    safe
}

/// The command line of this run, as a shell would take it.
fn command() -> String {
    let words = std::env::args_os().skip(1).map(|word| quoted(&word.to_string_lossy()));
    ["rehome".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=,:@%+".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_users_are_escaped() {
        let row = Row { algorithm: "<dx>".to_owned(), reason: Some("no <b> & \"c\"".to_owned()), figures: None };
        let page = Report { title: "<script>", rows: &[row] }.page("rehome '</pre>'").unwrap();
        for part in
            ["&lt;script&gt;", "&lt;dx&gt;", "no &lt;b&gt; &amp; &quot;c&quot;", "rehome &#39;&lt;/pre&gt;&#39;"]
        {
            assert!(page.contains(part), "{part}:\n{page}");
        }
        assert!(!page.contains("<script>") && !page.contains("<dx>") && !page.contains("Keys moved"));
        let node = NodeKeys {
            name: Some("<i>\u{7}".to_owned()),
            before: Some(1000),
            after: None,
            fair_before: Some(12.34),
            fair_after: None,
        };
        let table = node_table(&[node]);
        assert!(table.contains("<td>&lt;i&gt;\\u{7}</td><td>1,000</td><td>12.3</td><td>-</td><td>-</td>"), "{table}");
    }

    #[test]
    fn words_of_the_command_can_be_pasted() {
        assert_eq!(quoted("node-3"), "node-3");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("it's a file.txt"), r"'it'\''s a file.txt'");
    }
}
