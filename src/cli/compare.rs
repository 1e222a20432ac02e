//! `rehome compare`: one set of keys through every algorithm, before and after one change.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser};
use rayon::prelude::*;
use rehome::algorithm::KeyRule;
use rehome::engine::{Cost, Stopwatch, StreamReport};
use rehome::io::AtomicFile;
use rehome::measure::{Change, Comparison, KeyFamily, Row, SyntheticKeys};
use rehome::plan::check_sides;
use rehome::{Algorithm, Cluster, Engine, Error, KeyBuffer, KeyColumn, KeyType, Keys, Node, Result, algorithms};

use super::compare_table::{grouped, table};
use super::failure::Failure;
use super::input::{InputArgs, Reading};
use super::progress::Progress;
use super::report_html::Report;
use super::run::RunArgs;
use super::{message, timings};

const EXAMPLES: &str = "\
Examples:
  rehome compare --nodes 10 --join 1 --keys 1000000
  rehome compare --nodes 10 --leave node-3 keys.txt -o report.html
  rehome compare --nodes 1000 --join 10 --keys 1000000 --algorithms dx,ring --json
  rehome compare --from c10.toml --to c11.toml keys.txt

The keys are those of the files, or --keys N makes some, the same for all: without --family the integers from 0 (or \
--seed) on, so that dx-crc32c, which takes 32-bit integers only, can take part. `rehome keys --family .. --seed ..` makes \
the same ones. An algorithm that cannot do the change, or does not take the keys, has a row that says why.

--nodes starts with node-0, node-1, .., with the defaults of each algorithm, and slots for all that join. Nodes of --leave are removed first, then \
those of --down go down, then those of --join are added. --from and --to compare nothing but the two files, in one row: \
the change that a plan would make. If their algorithms differ, that is all keys going over from one to the other; memory \
and build are then those of --to.

ideal is the least moves of a plan: what any plan between the same two distributions has to move. excess counts moved \
keys whose old node lost nothing and whose new node gained nothing. Max/Avg is the largest load over its fair share, cv \
the standard deviation of the loads over their fair shares. memory and build (median processor time of compiling) are of \
the placement after the change. keys/s is what one processor places, hashing and reading left out, both placements \
together.";

/// Arguments of `rehome compare`. (What an option requires is not asked for where something else that is there conflicts
/// with it, so those conflicts are said too.)
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("inputs", |arg| arg.required(false).required_unless_present("keys")))]
pub(crate) struct CompareArgs {
    /// Start with this many equal nodes, node-0, node-1, ..
    #[arg(long, value_name = "N", required_unless_present_any = ["from", "to"], value_parser = clap::value_parser!(u32).range(1..))]
    nodes: Option<u32>,
    /// This many nodes join
    #[arg(long, value_name = "N", conflicts_with_all = ["from", "to"], requires = "nodes", value_parser = clap::value_parser!(u32).range(1..))]
    join: Option<u32>,
    /// Remove this node; repeat or separate by commas for more, in this order
    #[arg(long, value_name = "NODE", conflicts_with_all = ["from", "to"], requires = "nodes", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    leave: Vec<String>,
    /// Mark this node as down; repeat or separate by commas for more, in this order
    #[arg(long, value_name = "NODE", conflicts_with_all = ["from", "to"], requires = "nodes", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    down: Vec<String>,
    /// The cluster file before, instead of --nodes
    #[arg(long, value_name = "FILE", requires = "to", conflicts_with_all = ["nodes", "algorithms"])]
    from: Option<PathBuf>,
    /// The cluster file after
    #[arg(long, value_name = "FILE", requires = "from", conflicts_with_all = ["nodes", "algorithms"])]
    to: Option<PathBuf>,
    /// Allow cluster files that hash their keys differently, so that nearly every key moves
    #[arg(long, requires = "from", conflicts_with = "nodes")]
    allow_rehash: bool,
    /// Compare these only, separated by commas (default: all)
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',', value_parser = PossibleValuesParser::new(algorithms().iter().map(|algorithm| algorithm.name)))]
    algorithms: Vec<String>,
    #[command(flatten)]
    input: InputArgs,
    /// Make this many keys instead of reading any
    #[arg(long, value_name = "N", conflicts_with_all = ["inputs", "input_format", "column", "key_type", "size_column", "no_header", "delimiter", "blank", "bad_rows"])]
    keys: Option<u64>,
    /// What keys to make: sequential (default), random, text or zipf (as many different ones as --keys)
    #[arg(long, value_name = "FAMILY", requires = "keys", conflicts_with = "inputs", value_parser = clap::value_parser!(KeyFamily))]
    family: Option<KeyFamily>,
    /// Another seed, 0 to 2^64 - 1, makes other keys (default: 0)
    #[arg(long, value_name = "S", requires = "keys", conflicts_with = "inputs")]
    seed: Option<u64>,
    /// Write a report with charts, one page that needs nothing else (.html)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the report if it exists
    #[arg(short, long, requires = "output")]
    force: bool,
    #[command(flatten)]
    run: RunArgs,
}

/// What is compared.
enum Subject {
    /// A change under each of these algorithms.
    Change(Change, Vec<&'static Algorithm>),
    /// The change from one cluster file to another.
    Files(Box<[Cluster; 2]>),
}

/// What came of it.
struct Outcome {
    rows: Vec<Row>,
    /// What the keys are, for people.
    keys: String,
    report: StreamReport,
    decoding: Cost,
    bad_rows: u64,
}

/// Runs `rehome compare`.
pub(crate) fn run(args: CompareArgs) -> Result<ExitCode, Failure> {
    let start = Instant::now();
    let quiet = args.run.quiet;
    if let Some(path) = args.output.as_deref().filter(|path| path.extension().is_none_or(|end| end != "html")) {
        return Err(Failure::usage(format!(
            "-o {}: a report is a page, and its name ends in .html; for data use --json",
            path.display()
        )));
    }
    if let Some(column) = args.input.size_column.as_deref() {
        return Err(Failure::usage(format!(
            "--size-column {column} is for count and plan: keys are compared, not bytes"
        )));
    }
    let subject = args.subject()?;
    let engine = args.run.engine()?;
    let inputs = if args.keys.is_some() { Vec::new() } else { args.input.resolve()? };
    if let Some(output) = &args.output {
        let clusters = [&args.from, &args.to].map(|file| file.clone().unwrap_or_default());
        clusters.iter().try_for_each(|cluster| InputArgs::refuse_output(&inputs, cluster, output))?;
        args.input.refuse_inside(output)?;
    }
    let report_file = args.output.as_deref().map(|path| AtomicFile::create(path, args.force)).transpose()?;
    let outcome = match args.keys {
        Some(count) => args.over_synthetic(&engine, &subject, count)?,
        None => args.over_files(&engine, &subject, inputs)?,
    };
    for row in &outcome.rows {
        let unplaced = row.figures.as_ref().map_or(0, |figures| figures.unplaced);
        if unplaced > 0 && !quiet {
            message::warn(&format!("{}: {unplaced} keys have no node after the change", row.algorithm));
        }
    }
    let title = format!("{}; {}", outcome.keys, args.change());
    if let Some(mut file) = report_file {
        Report { title: &title, rows: &outcome.rows }.write(&mut file)?;
        file.commit()?;
    }
    if args.run.timings {
        timings::print(&outcome.report, outcome.decoding, Cost::default(), start.elapsed());
    }
    if args.run.json {
        let rows = serde_json::to_value(&outcome.rows).map_err(Error::syntax)?;
        message::print(&format!("{rows:#}\n"))?;
    } else if !quiet || args.output.is_none() {
        message::print(&table(&title, &outcome.rows))?;
    }
    Ok(ExitCode::from(if outcome.bad_rows > 0 { 3 } else { 0 }))
}

impl CompareArgs {
    /// What is to be compared, checked as far as no algorithm is asked.
    fn subject(&self) -> Result<Subject, Failure> {
        if let Some((from, to)) = self.from.as_ref().zip(self.to.as_ref()) {
            let (from, to) = (Cluster::from_path(from)?, Cluster::from_path(to)?);
            check_sides(&from, &to, self.allow_rehash)?;
            return Ok(Subject::Files(Box::new([from, to])));
        }
        if self.join.is_none() && self.leave.is_empty() && self.down.is_empty() {
            return Err(Failure::usage("nothing changes: say which nodes --join, --leave or go --down"));
        }
        let change =
            Change::of(self.nodes.unwrap_or(0)).join(self.join.unwrap_or(0)).leave(&self.leave).down(&self.down);
        change.check().map_err(|error| Failure::usage(error.to_string()))?;
        let mut chosen: Vec<&'static Algorithm> = Vec::new();
        for name in &self.algorithms {
            let algorithm = Algorithm::named(name)?;
            if !chosen.contains(&algorithm) {
                chosen.push(algorithm);
            }
        }
        Ok(Subject::Change(change, if chosen.is_empty() { algorithms().to_vec() } else { chosen }))
    }

    /// The change in words.
    fn change(&self) -> String {
        if let Some((from, to)) = self.from.as_ref().zip(self.to.as_ref()) {
            return format!("{} to {}", from.display(), to.display());
        }
        let nodes = self.nodes.unwrap_or(0);
        let mut text = format!("{} node{}", grouped(nodes.into()), if nodes == 1 { "" } else { "s" });
        for (names, one, more) in [(&self.leave, "leaves", "leave"), (&self.down, "goes down", "go down")] {
            match &names[..] {
                [] => {}
                [name] => text += &format!(", {name} {one}"),
                names if names.len() <= 4 => text += &format!(", {} {more}", names.join(" and ")),
                names => text += &format!(", {} {more}", names.len()),
            }
        }
        if let Some(join) = self.join {
            text += &format!(", {} join{}", grouped(join.into()), if join == 1 { "s" } else { "" });
        }
        text
    }

    /// The comparison that the subject asks for; of a change under these algorithms only.
    fn comparison(&self, subject: &Subject, algorithms: &[&'static Algorithm]) -> Result<Comparison> {
        let affords = |cluster: &Cluster| self.run.cost.check(cluster, self.run.quiet);
        match subject {
            Subject::Change(change, _) => Comparison::of(change, algorithms.iter().copied(), affords),
            Subject::Files(clusters) => {
                let [from, to] = &**clusters;
                for (cluster, file) in [(from, &self.from), (to, &self.to)] {
                    affords(cluster).map_err(|error| error.in_file(file.as_deref().unwrap_or("".as_ref())))?;
                }
                Comparison::between(from, to)
            }
        }
    }

    /// Reads the keys once, and all algorithms take every batch.
    fn over_files(
        &self,
        engine: &Engine,
        subject: &Subject,
        inputs: Vec<rehome::io::Input>,
    ) -> Result<Outcome, Failure> {
        let stand_in = reads_any_key()?;
        let (clusters, algorithms) = match subject {
            Subject::Change(_, algorithms) => (vec![&stand_in], &algorithms[..]),
            Subject::Files(clusters) => (clusters.iter().collect(), &[][..]),
        };
        let mut comparison = self.comparison(subject, algorithms)?;
        let reading = Reading { allow_rehash: self.allow_rehash, threads: engine.threads(), ..Reading::default() };
        let mut input = self.input.open(inputs, &clusters, &[], &reading)?;
        let progress = Progress::new(self.run.shows_progress(), &input.reader);
        let mut report = StreamReport::default();
        let mut chunks = input.chunks(&progress, self.run.quiet);
        let mut watch = Stopwatch::start();
        loop {
            let batch = chunks.by_ref().take(engine.threads()).map(|chunk| chunk.map(Arc::new));
            let batch = batch.collect::<Result<Vec<_>>>()?;
            report.costs.read += watch.lap();
            if batch.is_empty() {
                break;
            }
            report.keys += batch.iter().map(|chunk| chunk.len() as u64).sum::<u64>();
            comparison.add_columns(engine, &batch)?;
            watch.lap();
        }
        drop(chunks);
        drop(progress);
        let bad_rows = input.end(self.run.quiet);
        add_costs(&mut report, &comparison);
        let keys = format!("{} of {}", keys(report.keys), self.input.label().display());
        Ok(Outcome { rows: comparison.rows(), keys, report, decoding: input.reader.decoding(), bad_rows })
    }

    /// Makes the keys anew for every algorithm, so that only one has its placements in memory.
    fn over_synthetic(&self, engine: &Engine, subject: &Subject, count: u64) -> Result<Outcome, Failure> {
        let family = self.family.unwrap_or(KeyFamily::Sequential);
        let seed = self.seed.unwrap_or(0);
        let distinct = (family == KeyFamily::Zipf).then_some(count.max(1));
        let synthetic =
            SyntheticKeys::new(family, seed, distinct).map_err(|error| Failure::usage(format!("--keys: {error}")))?;
        let groups: Vec<&[&'static Algorithm]> = match subject {
            Subject::Change(_, algorithms) => algorithms.chunks(1).collect(),
            Subject::Files(clusters) => {
                clusters.iter().try_for_each(|cluster| fits(cluster, family))?;
                vec![&[]]
            }
        };
        let progress = Progress::of_rows(self.run.shows_progress(), count.saturating_mul(groups.len() as u64));
        let (mut rows, mut report, mut done) = (Vec::new(), StreamReport::default(), 0_u64);
        for group in groups {
            let mut comparison = self.comparison(subject, group)?;
            let mut first = 0;
            while first < count && !comparison.is_over() {
                let mut watch = Stopwatch::start();
                let batch = made(engine, &synthetic, first, count - first, u64::from(self.input.chunk_rows))?;
                report.costs.read += watch.lap();
                first += batch.iter().map(|column| column.keys(0).len() as u64).sum::<u64>();
                comparison.add_columns(engine, &batch)?;
                progress.advance(done.saturating_add(first));
            }
            done = done.saturating_add(count);
            report.keys = report.keys.max(first);
            add_costs(&mut report, &comparison);
            rows.extend(comparison.rows());
        }
        drop(progress);
        let keys = format!("{} ({family}, seed {seed})", keys(count));
        Ok(Outcome { rows, keys, report, decoding: Cost::default(), bad_rows: 0 })
    }
}

/// A number of keys, with the word.
fn keys(count: u64) -> String {
    format!("{} key{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// A cluster that takes every key, for readers that ask a cluster what keys it takes: each algorithm says for itself.
fn reads_any_key() -> Result<Cluster> {
    let takes_any = |algorithm: &&&'static Algorithm| algorithm.keys == KeyRule::Digest;
    let name = algorithms().iter().find(takes_any).map_or("dx", |algorithm| algorithm.name);
    Cluster::builder(name)?.nodes([Node::new("node-0")]).build()
}

/// Fails if a cluster file says that its keys are of another kind than those of a family.
fn fits(cluster: &Cluster, family: KeyFamily) -> Result<(), Failure> {
    let made = family.key_type();
    match cluster.key().filter(|key| *key != made && !(key.is_integer() && made.is_integer())) {
        Some(key) => Err(Failure::usage(format!(
            "the cluster file says that keys are {key}, but those of the family {family} are {made}: choose another \
             --family, or give a file of keys"
        ))),
        None => Ok(()),
    }
}

fn add_costs(report: &mut StreamReport, comparison: &Comparison) {
    let costs = comparison.costs();
    report.costs.hash += costs.hash;
    report.costs.place += costs.place;
    report.costs.write += costs.write;
}

/// Keys that were made.
enum Made {
    Words(Vec<u64>),
    Texts(KeyBuffer),
}

impl KeyColumn for Made {
    fn keys(&self, _side: usize) -> Keys<'_> {
        match self {
            Self::Words(words) => words.into(),
            Self::Texts(texts) => texts.into(),
        }
    }
}

/// As many columns of keys as there are threads, from row `first` on, and no more than `left` keys.
fn made(engine: &Engine, keys: &SyntheticKeys, first: u64, left: u64, rows: u64) -> Result<Vec<Arc<Made>>> {
    let column = |start: u64| {
        let count = rows.min(left - start);
        let first = first + start;
        if keys.family().key_type() == KeyType::Text {
            let mut texts = KeyBuffer::new();
            (first..first + count).try_for_each(|row| texts.push(&keys.text(row)))?;
            return Ok(Arc::new(Made::Texts(texts)));
        }
        let mut words = vec![0; usize::try_from(count).unwrap_or(usize::MAX)];
        keys.fill(first, &mut words);
        Ok(Arc::new(Made::Words(words)))
    };
    let starts: Vec<u64> =
        (0..engine.threads() as u64).map(|thread| thread * rows).take_while(|start| *start < left).collect();
    engine.install(|| starts.into_par_iter().map(column).collect())
}
