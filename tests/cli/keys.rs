//! `rehome keys`: the same keys in every format, for every number of threads and cut of the rows, and what is refused.

use std::fs::File;

use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rehome::measure::{KeyFamily, SyntheticKeys};

use crate::support::{Dir, Table};

/// What the library makes of the same options, as text.
fn expected(family: KeyFamily, seed: u64, distinct: Option<u64>, count: u64) -> Vec<String> {
    let keys = SyntheticKeys::new(family, seed, distinct).expect("keys");
    let key = |row| match family {
        KeyFamily::Text => String::from_utf8(keys.text(row).to_vec()).expect("ASCII"),
        _ => keys.word(row).to_string(),
    };
    (0..count).map(key).collect()
}

#[test]
fn the_line_of_the_issue_works() {
    let dir = Dir::new();
    // Fewer of them: the words are what is tried here, the comment included.
    dir.sh("rehome keys --count 20000 --family random --seed 1 -o ids.parquet    # column key, u64")
        .succeeds()
        .stays_quiet();
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(dir.path("ids.parquet")).expect("a file"));
    let schema = reader.expect("a Parquet file").schema().clone();
    assert_eq!(schema.fields().len(), 1);
    assert_eq!((schema.field(0).name().as_str(), schema.field(0).data_type()), ("key", &DataType::UInt64));
    assert!(!schema.field(0).is_nullable());
    let table = Table::parquet(&dir.path("ids.parquet"));
    assert_eq!(table.column("key"), expected(KeyFamily::Random, 1, None, 20_000));
}

#[test]
fn every_format_has_the_same_keys() {
    let dir = Dir::new();
    for family in KeyFamily::ALL {
        let distinct = (family == KeyFamily::Zipf).then_some(3000);
        let keys = expected(family, 7, distinct, 3000);
        let line = format!("keys --count 3000 --family {family} --seed 7");
        let lines = dir.ok(&line).stays_quiet().out;
        assert_eq!(lines.lines().collect::<Vec<_>>(), keys, "{family}");
        assert!(dir.ok(&format!("{line} -o -")).out == lines);
        for name in ["k.txt", "k.keys", "k.csv", "k.jsonl", "k.parquet", "k.arrow", "k.arrows", "k.txt.gz", "k.csv.zst"]
        {
            dir.ok(&format!("{line} -o {name} --force")).stays_quiet();
        }
        assert!(dir.text("k.txt") == lines && dir.text("k.keys") == lines);
        assert_eq!(Table::csv(&dir.text("k.csv")).column("key"), keys);
        assert_eq!(Table::json_lines(&dir.text("k.jsonl")).column("key"), keys);
        assert_eq!(Table::parquet(&dir.path("k.parquet")).column("key"), keys);
        let open = |name: &str| File::open(dir.path(name)).expect("a file");
        let reader = FileReader::try_new(open("k.arrow"), None).expect("an Arrow file");
        let file = Table::batches(&reader.schema(), reader.map(|batch| batch.expect("a batch")));
        let reader = StreamReader::try_new(open("k.arrows"), None).expect("an Arrow stream");
        let stream = Table::batches(&reader.schema(), reader.map(|batch| batch.expect("a batch")));
        assert_eq!(file.column("key"), keys);
        assert_eq!(stream.column("key"), keys);
        let unpacked = std::io::read_to_string(flate2::read::GzDecoder::new(open("k.txt.gz"))).expect("gzip");
        assert!(unpacked == lines);
        let unpacked = std::io::read_to_string(zstd::Decoder::new(open("k.csv.zst")).expect("zstd")).expect("zstd");
        assert!(unpacked == dir.text("k.csv"));
    }
    for (option, name) in [("csv", "k.csv"), ("arrow", "k.arrow"), ("lines --compression gzip", "k.txt.gz")] {
        let line = format!("rehome keys --count 3000 --family zipf --seed 7 --output-format {option} > piped");
        dir.sh(&line).succeeds().stays_quiet();
        assert!(dir.bytes("piped") == dir.bytes(name), "standard output and {name} differ");
    }
}

#[test]
fn threads_and_chunks_never_change_a_byte() {
    let dir = Dir::new();
    for (family, name) in [
        ("sequential", "k.txt"),
        ("random", "k.parquet"),
        ("random", "k.csv.gz"),
        ("text", "k.parquet"),
        ("text", "k.txt"),
        ("text", "k.arrow"),
        ("zipf", "k.jsonl"),
        ("zipf", "k.arrows"),
    ] {
        let line = format!("keys --count 150001 --family {family} --seed 3 -o {name} --force");
        dir.ok(&format!("{line} --threads 1"));
        let one = dir.bytes(name);
        for options in
            ["--threads 2", "--threads 5 --chunk-rows 1000", "--chunk-rows 8193", "--threads 3 --chunk-rows 777"]
        {
            dir.ok(&format!("{line} {options}"));
            assert!(dir.bytes(name) == one, "{options} changed a byte of {name}, {family}");
        }
    }
}

#[test]
fn counts_are_read_from_what_was_written() {
    let dir = Dir::with_clusters(0);
    for (name, more) in [("k.parquet", ""), ("k.txt", "--key-type u64"), ("k.csv", "--key-type u64")] {
        dir.ok(&format!("keys --count 10000 --seed 9 -o {name}"));
        let sums = dir.ok(&format!("count --cluster c10.toml {name} {more} --json")).stays_quiet().json();
        assert_eq!(sums["keys"], 10_000, "{name}");
        assert!(sums["max_over_avg"].as_f64().expect("a number") < 1.2, "{sums:#}");
    }
    dir.ok("keys --count 10000 --family text -o text.txt");
    dir.ok("keys --count 10000 --family text -o text.parquet");
    let count = |name: &str| dir.ok(&format!("count --cluster c10.toml {name} --json")).stays_quiet().out;
    assert_eq!(count("text.txt"), count("text.parquet"));
    let piped = dir.sh("rehome keys --count 10000 --family text | rehome count --cluster c10.toml - --json").succeeds();
    assert_eq!(piped.out, count("text.txt"));
}

#[test]
fn seeds_and_numbers_have_their_whole_range() {
    let dir = Dir::new();
    let out = |words: &str| dir.ok(&format!("keys {words}")).stays_quiet().out;
    assert_eq!(out("--count 3 --family sequential"), "0\n1\n2\n");
    assert_eq!(
        out("--count 3 --family sequential --seed 18446744073709551615"),
        "18446744073709551615\n0\n1\n",
        "after the last integer comes the first"
    );
    assert_eq!(out("--count 2"), out("--count 2 --family random --seed 0"));
    assert_ne!(out("--count 2"), out("--count 2 --seed 1"));
    assert_eq!(out("--count 0"), "");
    assert_eq!(out("--count 0 --family zipf"), "");
    assert_eq!(out("--count 0 --output-format csv"), "key\n");
    let alone = out("--count 5 --family zipf --distinct 1");
    assert!(alone.lines().all(|line| line == alone.lines().next().expect("a line")));
    out("--count 5 --family zipf --distinct 9007199254740992");
    // The number of different keys is that of the rows unless another is given.
    assert_eq!(out("--count 500 --family zipf"), out("--count 500 --family zipf --distinct 500"));
    assert_ne!(out("--count 500 --family zipf"), out("--count 500 --family zipf --distinct 5000"));
    // A reader that has seen enough is no error, however many keys were to come.
    let run = dir.sh("rehome keys --count 18446744073709551615 | head -n 2").succeeds().stays_quiet();
    assert_eq!(run.out, out("--count 2"));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let dir = Dir::new();
    for (line, parts) in [
        ("", &["--count"][..]),
        ("--count -1", &["--count", "-1"]),
        ("--count 10k", &["--count", "10k"]),
        ("--count 5 --family gauss", &["gauss", "sequential, random, text, zipf"]),
        ("--count 5 --seed 18446744073709551616", &["--seed"]),
        ("--count 5 --family zipf --distinct 0", &["--distinct", "0 different keys", "1 to 2^53"]),
        ("--count 5 --family zipf --distinct 9007199254740993", &["--distinct", "1 to 2^53"]),
        ("--count 9007199254740993 --family zipf", &["--distinct", "1 to 2^53"]),
        ("--count 5 --family text --distinct 3", &["--distinct", "zipf", "text"]),
        ("--count 5 --distinct 3", &["--distinct", "zipf", "random"]),
        ("--count 5 -o k.xls", &["k.xls", "--output-format"]),
        ("--count 5 -o k.parquet.gz", &["k.parquet.gz", "compressed inside"]),
        ("--count 5 -o k.arrow --compression gzip", &["gzip", "zstd"]),
        ("--count 5 --threads 5000", &["--threads 5000"]),
        ("--count 5 --chunk-rows 0", &["--chunk-rows"]),
    ] {
        dir.run(&format!("keys {line}")).misused(parts);
        assert!(dir.names().is_empty(), "{line}: {:?}", dir.names());
    }
    dir.write("k.txt", "precious");
    dir.run("keys --count 5 -o k.txt").fails(&["k.txt", "already exists", "--force"]);
    assert_eq!(dir.text("k.txt"), "precious");
    dir.ok("keys --count 5 -o k.txt --force --quiet").stays_quiet();
    assert_eq!(dir.text("k.txt").lines().count(), 5);
    dir.sh("rehome keys --count 100000 > /dev/full").fails(&["standard output", "No space left"]);
    dir.sh("rehome keys --count 100000 --compression zstd > /dev/full").fails(&["standard output", "No space left"]);
    dir.run("keys --count 5 -o nowhere/k.txt").fails(&["nowhere", "does not exist"]);
}
