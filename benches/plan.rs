//! Planning over a file of keys, against its three pieces alone: reading the keys, hashing and placing them, and writing
//! the moves.
//!
//! `cargo bench --bench plan`. Processor time of the whole process, the four by turns, medians over the rounds. A plan
//! must not cost more than 1.15 times the three pieces together. The answer is checked while it is timed: every piece
//! counts the keys or moves it had, and they must agree.
//!
//! `REHOME_BENCH_KEYS` sets the number of integer keys (default 20 million; texts of 20 bytes are a tenth as many),
//! `REHOME_BENCH_ROUNDS` the rounds (default 5), and `REHOME_BENCH_DIR` the folder for the files (default: that of
//! temporary files; 10^9 keys take 10 GB).

use std::error::Error;
use std::fs::{self, File};
use std::io::BufWriter;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use rehome::engine::{Job, Want, process_time};
use rehome::io::{Input, KeyChunk, OutputFormat, Position, ReadOptions, Source, TableWriter, open_at};
use rehome::measure::{KeyFamily, SyntheticKeys};
use rehome::plan::{Existing, NodeNames, PART_ROWS, PlanTask, Prepared};
use rehome::{Cluster, Engine, KeyColumn, Keys, Node, NodeId};

type Outcome<T> = Result<T, Box<dyn Error>>;

const MOST: f64 = 1.15;
/// Rows of a chunk.
const CHUNK: usize = 65_536;
/// Chunks that are kept for the pieces that read nothing: more than the caches hold, as in a plan.
const KEPT: usize = 256;

fn main() -> Outcome<()> {
    // `cargo test --benches` passes --test: nothing is timed then.
    if std::env::args().any(|argument| argument == "--test") {
        return Ok(());
    }
    let setting = |name: &str, usual: u64| std::env::var(name).map_or(Ok(usual), |text| text.parse::<u64>());
    let (keys, rounds) = (setting("REHOME_BENCH_KEYS", 20_000_000)?, setting("REHOME_BENCH_ROUNDS", 5)?.max(1));
    let folder = std::env::var_os("REHOME_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let scratch = folder.join(format!("rehome-bench-{}", std::process::id()));
    fs::create_dir(&scratch)?;
    let outcome = [(KeyFamily::Random, keys), (KeyFamily::Text, keys / 10)]
        .map(|(family, keys)| bench(family, keys, rounds, &scratch));
    fs::remove_dir_all(&scratch)?;
    let [integers, texts] = outcome;
    if [integers?, texts?].iter().any(|ratio| *ratio > MOST) {
        return Err(format!("a plan costs more than {MOST} times its pieces").into());
    }
    Ok(())
}

/// Measures one family of keys, prints its rows, and gives the ratio.
fn bench(family: KeyFamily, keys: u64, rounds: u64, scratch: &Path) -> Outcome<f64> {
    let synthetic = SyntheticKeys::new(family, 1, None)?;
    let path = scratch.join(format!("{}.parquet", family.name()));
    write_keys(&synthetic, keys, &path)?;
    let from = Cluster::builder("dx")?.slots(16).nodes((0..10).map(|i| Node::new(format!("node-{i}")))).build()?;
    let mut to = from.clone();
    to.add(Node::new("node-10"))?;
    let engine = Engine::builder().build()?;
    let job = Job { placements: vec![from.placement()?, to.placement()?], want: Want::Nodes };

    let kept: Kept = open_at(inputs(&path), options(), Position::default())?
        .take(KEPT)
        .map(|chunk| chunk.map(Arc::new))
        .collect::<Result<_, _>>()?;
    let (mut times, mut ratios) = ([const { Vec::new() }; 4], Vec::new());
    for _ in 0..rounds {
        let (read, read_time) = timed(|| read_alone(&path))?;
        let (placed, place_time) = timed(|| place_alone(&engine, &job, &kept, keys))?;
        let moved = moved(&placed, (&from, &to));
        let (moves, write_time) = timed(|| write_alone(&placed, &moved, (&from, &to), keys, scratch))?;
        let ((planned, moving), plan_time) = timed(|| plan(&engine, &job, (&from, &to), &path, scratch))?;
        assert_eq!((read, planned), (keys, keys), "keys were lost");
        // The pieces use some of the keys again and again, so their moves are only about as many.
        assert!(moves.abs_diff(moving) <= moving / 50, "{moving} keys move, and {moves} moves were written");
        let pieces = read_time + place_time + write_time;
        ratios.push(plan_time.as_secs_f64() / pieces.as_secs_f64());
        for (times, time) in times.iter_mut().zip([read_time, place_time, write_time, plan_time]) {
            times.push(time);
        }
    }
    let [read, place, write, plan] = times.map(|times| median(times).as_secs_f64());
    let ratio = median(ratios);
    println!("{keys} {} keys, processor seconds:", family.name());
    println!("  read {read:.2}, hash and place {place:.2}, write the moves {write:.2}: {:.2}", read + place + write);
    let verdict = if ratio <= MOST { "pass" } else { "FAIL" };
    println!("  plan {plan:.2}, {ratio:.2} times the pieces (median of {rounds}), at most {MOST}: {verdict}");
    Ok(ratio)
}

/// What a piece of work gave, and the processor time that it took on all threads.
fn timed<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<(T, Duration)> {
    let now = || process_time().ok_or("this system has no clock for it");
    let start = now()?;
    let result = work()?;
    Ok((result, now()? - start))
}

fn median<T: PartialOrd + Copy>(mut values: Vec<T>) -> T {
    values.sort_by(|a, b| a.partial_cmp(b).expect("times are numbers"));
    values[values.len() / 2]
}

fn write_keys(synthetic: &SyntheticKeys, keys: u64, path: &Path) -> Outcome<()> {
    let kind = if synthetic.family() == KeyFamily::Text { DataType::Utf8 } else { DataType::UInt64 };
    let schema = Arc::new(Schema::new(vec![Field::new("key", kind, false)]));
    let file = BufWriter::new(File::create(path)?);
    let mut table = TableWriter::new(OutputFormat::Parquet, Arc::clone(&schema), file, path)?;
    for start in (0..keys).step_by(CHUNK) {
        let rows = start..keys.min(start + CHUNK as u64);
        let column: ArrayRef = if synthetic.family() == KeyFamily::Text {
            let text = |row| String::from_utf8(synthetic.text(row).to_vec()).expect("text keys are ASCII");
            Arc::new(StringArray::from_iter_values(rows.map(text)))
        } else {
            Arc::new(UInt64Array::from_iter_values(rows.map(|row| synthetic.word(row))))
        };
        table.write(&RecordBatch::try_new(Arc::clone(&schema), vec![column])?)?;
    }
    table.finish()?;
    Ok(())
}

fn options() -> ReadOptions {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    ReadOptions { part_rows: Some(PART_ROWS), threads, ..ReadOptions::default() }
}

fn inputs(path: &Path) -> Vec<Input> {
    vec![Input::from(Source::from_arg(path))]
}

fn read_alone(path: &Path) -> Outcome<u64> {
    let mut keys = 0;
    for chunk in open_at(inputs(path), options(), Position::default())? {
        keys += chunk?.len() as u64;
    }
    Ok(keys)
}

/// A chunk that is placed again and again.
struct Again(Arc<KeyChunk>);

impl KeyColumn for Again {
    fn keys(&self, side: usize) -> Keys<'_> {
        self.0.keys(side)
    }
}

/// Some chunks in memory.
type Kept = Vec<Arc<KeyChunk>>;

/// Some chunks with their nodes before and after.
type Placed = Vec<(Arc<KeyChunk>, Vec<Vec<NodeId>>)>;

/// Places as many keys as there are, out of some chunks in memory.
fn place_alone(engine: &Engine, job: &Job, kept: &Kept, keys: u64) -> Outcome<Placed> {
    let rounds = usize::try_from(keys.div_ceil(CHUNK as u64))?;
    let again = kept.iter().cycle().take(rounds).map(|chunk| Ok(Again(Arc::clone(chunk))));
    let mut placed = Placed::new();
    engine.stream(job, again, |chunk: &Again, nodes| {
        if placed.len() < kept.len() {
            placed.push((Arc::clone(&chunk.0), nodes.to_vec()));
        }
        Ok(())
    })?;
    Ok(placed)
}

/// Which keys of each chunk move, by name.
fn moved(placed: &Placed, clusters: (&Cluster, &Cluster)) -> Vec<Vec<usize>> {
    placed
        .iter()
        .map(|(_, nodes)| {
            let before = |index: usize| nodes[0][index].index().map(|node| clusters.0.nodes()[node].name());
            let after = |index: usize| nodes[1][index].index().map(|node| clusters.1.nodes()[node].name());
            (0..nodes[0].len()).filter(|index| before(*index) != after(*index)).collect()
        })
        .collect()
}

/// Writes the moves of as many keys as there are, out of some placed chunks, and tells how many there were.
fn write_alone(
    placed: &Placed,
    moved: &[Vec<usize>],
    clusters: (&Cluster, &Cluster),
    keys: u64,
    scratch: &Path,
) -> Outcome<u64> {
    let names = (NodeNames::of(clusters.0), NodeNames::of(clusters.1));
    let key = Field::new("key", placed[0].0.key_array().data_type().clone(), false);
    let row = Field::new("row", DataType::UInt64, false);
    let schema = Arc::new(Schema::new(vec![row, key, NodeNames::field("from"), NodeNames::field("to")]));
    let path = scratch.join("moves.parquet");
    let (mut rows, mut moves, mut table) = (0, 0, None);
    let rounds = usize::try_from(keys.div_ceil(CHUNK as u64))?;
    for ((chunk, nodes), moved) in placed.iter().zip(moved).cycle().take(rounds) {
        if rows % PART_ROWS.get() == 0 {
            if let Some(table) = table.take() {
                TableWriter::<BufWriter<File>>::finish(table)?;
            }
            let file = BufWriter::new(File::create(&path)?);
            table = Some(TableWriter::new(OutputFormat::Parquet, Arc::clone(&schema), file, &path)?);
        }
        let positions = UInt64Array::from_iter_values(moved.iter().map(|index| *index as u64));
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from_iter_values(moved.iter().map(|index| rows + *index as u64))),
            arrow_select::take::take(&chunk.key_array(), &positions, None)?,
            names.0.column(moved.iter().map(|index| nodes[0][*index]))?,
            names.1.column(moved.iter().map(|index| nodes[1][*index]))?,
        ];
        if let Some(table) = &mut table {
            table.write(&RecordBatch::try_new(Arc::clone(&schema), columns)?)?;
        }
        rows += CHUNK as u64;
        moves += moved.len() as u64;
    }
    table.map(TableWriter::finish).transpose()?;
    Ok(moves)
}

/// Makes the plan; tells its keys and its moves.
fn plan(
    engine: &Engine,
    job: &Job,
    clusters: (&Cluster, &Cluster),
    path: &Path,
    scratch: &Path,
) -> Outcome<(u64, u64)> {
    let target = scratch.join("plan");
    let task = PlanTask {
        from: clusters.0.clone(),
        to: clusters.1.clone(),
        inputs: inputs(path),
        target: Some(target),
        existing: Existing { force: true, resume: false },
        against: None,
        summary_only: false,
        part_rows: PART_ROWS,
    };
    let Prepared::Make(mut maker) = task.prepare()? else { return Err("the plan is there already".into()) };
    let mut reader = open_at(inputs(path), options(), maker.position())?;
    maker.begin(serde_json::json!({ "part_rows": PART_ROWS }), reader.key_field(), false)?;
    engine.stream(job, &mut reader, |chunk: &KeyChunk, nodes| maker.add(chunk, nodes))?;
    let plan = maker.finish(reader.last_finished())?;
    Ok((plan.summary.keys, plan.summary.moved))
}
