//! Inputs of the size that users have. Run by name: `cargo test --release --test cli -- --ignored`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::resume::reused;
use crate::support::{Dir, Live, Run, Table};

/// Debian's word list, or the file that `REHOME_WORDLIST` names.
fn word_list() -> String {
    let named = std::env::var_os("REHOME_WORDLIST").map(PathBuf::from);
    let path = named.unwrap_or_else(|| "/usr/share/dict/american-english-insane".into());
    let words = std::fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!("{}: {error}: install the package wamerican-insane, or name a list in REHOME_WORDLIST", path.display())
    });
    if path.ends_with("american-english-insane") {
        assert_eq!(words.lines().count(), 663_473, "{}: not the list of Debian 12", path.display());
    }
    words
}

#[test]
#[ignore = "needs Debian's word list (package wamerican-insane)"]
fn one_node_joining_ten_moves_an_eleventh_of_the_word_list() {
    let dir = Dir::with_clusters(0);
    let words = word_list();
    dir.write("words.txt", &words);
    let lines = words.lines().count() as u64;
    dir.ok("plan --from c10.toml --to c11.toml words.txt -o plan").stays_quiet();
    let sums: serde_json::Value = serde_json::from_str(&dir.text("plan/summary.json")).expect("JSON");
    assert_eq!(sums["keys"], lines);
    let share = sums["moved_fraction"].as_f64().expect("a number");
    assert!((share - 1.0 / 11.0).abs() <= 0.002, "moved {share}: {sums:#}");
    assert_eq!((&sums["excess"], &sums["unplaced"], &sums["bad_rows"]), (&0.into(), &0.into(), &0.into()));
    assert_eq!(sums["least_moves"], sums["moved"]);
    let flows = Table::csv(&dir.text("plan/flows.csv"));
    assert_eq!(flows.rows.len(), 10);
    assert!(flows.column("to").iter().all(|to| *to == "node-10"), "{flows:?}");
    assert_eq!(flows.numbers("keys").iter().sum::<u64>(), sums["moved"].as_u64().expect("a number"));
    let moves = Table::parquet(&dir.path("plan/moves/part-00000.parquet"));
    assert_eq!(moves.rows.len() as u64, sums["moved"].as_u64().expect("a number"));

    dir.ok("plan --from c10.toml --to c11.toml words.txt -o one --threads 1");
    dir.ok("plan --from c10.toml --to c11.toml words.txt -o two --threads 2");
    assert!(dir.tree("one") == dir.tree("two") && dir.tree("one") == dir.tree("plan"));

    let counts = dir.ok("count --cluster c10.toml words.txt --json").json();
    let nodes = counts["nodes"].as_array().expect("nodes");
    assert_eq!(nodes.iter().map(|node| node["keys"].as_u64().expect("keys")).sum::<u64>(), lines);

    let half = words[..words.len() / 2].rfind('\n').expect("a line") + 1;
    dir.write("a.txt", &words[..half]);
    dir.write("b.txt", &words[half..]);
    for cluster in ["c10.toml", "c11.toml"] {
        let whole = dir.ok(&format!("locate --cluster {cluster} words.txt")).out;
        let a = dir.ok(&format!("locate --cluster {cluster} a.txt")).out;
        let b = dir.ok(&format!("locate --cluster {cluster} b.txt")).out;
        assert!(
            a + b.strip_prefix("key,node\n").expect("a header") == whole,
            "two halves and the whole differ over {cluster}"
        );
    }
}

/// Writes integers of no order, one a line.
fn write_integers(dir: &Dir, name: &str, count: u64) {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(dir.path(name)).expect("a file"));
    for number in 0..count {
        writeln!(file, "{}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (number >> 7)).expect("a line");
    }
    file.flush().expect("the last lines");
}

/// The number of KiB that a run with `--timings` says it took at most.
fn peak_kib(run: &Run) -> u64 {
    let line = run.err.lines().find_map(|line| line.strip_prefix("peak resident memory "));
    let line = line.unwrap_or_else(|| panic!("no peak memory:{}", run.shown()));
    line.trim_end_matches(" KiB").parse().unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// How much more than a run over 2 million keys one over 20 million may have resident at its peak.
const MORE_KIB: u64 = 16 << 10;

#[test]
#[ignore = "20 million keys: a minute, and 2 GB of disk"]
fn memory_does_not_grow_with_the_keys() {
    let dir = Dir::with_clusters(0);
    write_integers(&dir, "small.txt", 2_000_000);
    write_integers(&dir, "large.txt", 20_000_000);
    let mut found = Vec::new();
    for line in [
        "locate --cluster c10.toml --key-type u64 KEYS -o KEYS.csv",
        "locate --cluster c10.toml --key-type u64 KEYS -o KEYS.jsonl",
        "locate --cluster c10.toml --key-type u64 KEYS -o KEYS.parquet",
        "locate --cluster c10.toml --key-type u64 KEYS -o KEYS.3.parquet --replicas 3",
        "locate --cluster c10.toml --key-type text KEYS -o KEYS.text.parquet",
        "count --cluster c10.toml --key-type u64 KEYS",
        "plan --from c10.toml --to c11.toml --key-type u64 KEYS -o KEYS.plan",
        "plan --from c10.toml --to c11.toml --key-type text KEYS -o KEYS.text.plan",
    ] {
        for threads in [1, 2] {
            let peak = |keys: &str| {
                let kib = peak_kib(&dir.ok(
                    &format!("{} --timings --threads {threads} --force", line.replace("KEYS", keys)).replace(
                        // `count` writes no file to replace.
                        if line.starts_with("count") { " --force" } else { "\0" },
                        "",
                    ),
                ));
                dir.sh(&format!("rm -rf {keys}.*")).succeeds();
                kib
            };
            let (small, large) = (peak("small.txt"), peak("large.txt"));
            eprintln!("{small:>8} KiB for 2 million, {large:>8} KiB for 20 million, {threads} threads: {line}");
            found.push((small, large, threads, line));
        }
    }
    for (small, large, threads, line) in found {
        assert!(
            large <= small + MORE_KIB,
            "{line} with {threads} threads: {small} KiB for 2 million keys, {large} KiB for 20 million"
        );
    }
}

#[test]
#[ignore = "20 million keys: a minute, and 2 GB of disk"]
fn a_plan_of_20_million_keys_is_the_same_for_one_and_two_threads() {
    let dir = Dir::with_clusters(0);
    write_integers(&dir, "ids.txt", 20_000_000);
    for threads in [1, 2] {
        dir.ok(&format!(
            "plan --from c10.toml --to c11.toml --key-type u64 ids.txt -o plan-{threads} --threads {threads}"
        ));
    }
    assert!(dir.tree("plan-1") == dir.tree("plan-2"), "the number of threads changed a byte of the plan");
    let sums: serde_json::Value = serde_json::from_str(&dir.text("plan-1/summary.json")).expect("JSON");
    assert_eq!((&sums["keys"], &sums["excess"]), (&20_000_000.into(), &0.into()));
    let nodes = Table::csv(&dir.text("plan-1/nodes.csv"));
    let counts = dir.ok("count --cluster c10.toml --key-type u64 ids.txt --json").json();
    let counted: Vec<u64> =
        counts["nodes"].as_array().expect("nodes").iter().map(|node| node["keys"].as_u64().expect("keys")).collect();
    assert_eq!(counted.iter().sum::<u64>(), 20_000_000);
    assert_eq!(counted, nodes.numbers("keys_from")[..10]);
    assert_eq!(nodes.numbers("keys_to").iter().sum::<u64>(), 20_000_000);
}

/// Processor seconds of a run, user and system, as the shell tells them.
fn processor_seconds(run: &Run) -> f64 {
    let times = run.out.lines().last().unwrap_or_else(|| panic!("no times:{}", run.shown()));
    let seconds = |word: &str| {
        let (minutes, seconds) = word.trim_end_matches('s').split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    times.split_whitespace().map(|word| seconds(word).unwrap_or_else(|| panic!("no time: {word:?}"))).sum()
}

#[test]
#[ignore = "20 million keys: some minutes, and 2 GB of disk"]
fn a_plan_of_20_million_keys_killed_early_and_late_is_finished_to_the_same_bytes() {
    let dir = Dir::with_clusters(0);
    write_integers(&dir, "ids.txt", 20_000_000);
    let line = "plan --from c10.toml --to c11.toml --key-type u64 ids.txt --quiet --timings";
    let timed = |more: &str| dir.sh(&format!("rehome {line} {more} && times")).succeeds();
    let start = Instant::now();
    let whole = timed("-o undisturbed");
    let took = start.elapsed();
    eprintln!("undisturbed: {:.1} s, {:.1} s of processors", took.as_secs_f64(), processor_seconds(&whole));
    for share in [0.2, 0.5, 0.9] {
        // A kill that came before the first part or too late is tried again, a little later or earlier.
        let mut moment = took.mul_f64(share);
        let mut tries = 0;
        let run = loop {
            tries += 1;
            assert!(tries <= 10, "no kill at {share} of {took:?} hit a plan in the making");
            let live = Live::start(&dir, &format!("{line} -o plan"));
            std::thread::sleep(moment);
            live.signal("KILL");
            if live.end().code == Some(0) {
                dir.sh("rm -r plan").succeeds();
                moment = moment.mul_f64(0.95);
                continue;
            }
            let run = timed("-o plan --resume");
            if reused(&run).0 > 0 {
                break run;
            }
            dir.sh("rm -r plan").succeeds();
            moment += Duration::from_millis(200);
        };
        let (reused, of) = reused(&run);
        eprintln!(
            "killed after {:.1} s: {reused} of {of} parts reused, {:.1} s of processors for the rest",
            moment.as_secs_f64(),
            processor_seconds(&run)
        );
        assert!(dir.tree("plan") == dir.tree("undisturbed"), "killed at {share}: other bytes");
        assert!(!dir.exists("plan.partial"));
        dir.sh("rm -r plan").succeeds();
    }
}
