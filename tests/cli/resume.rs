//! `rehome plan --resume`: plans that are stopped at some moment and finished later have the bytes of an undisturbed run.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};

use crate::support::{Dir, Live, Run, integer_keys, text_keys, write_parquet};

/// Lines that the journal of an unfinished plan has: a header, and one per finished part.
fn journal_lines(plan: &Path) -> usize {
    let mut partial = plan.as_os_str().to_owned();
    partial.push(".partial/journal.jsonl");
    let text = std::fs::read(partial).unwrap_or_default();
    text.iter().filter(|byte| **byte == b'\n').count()
}

/// Starts `rehome LINE`, which makes the plan `plan`, and sends it a signal as soon as it has finished so many parts.
/// A run that was quicker than the signal is repeated.
#[track_caller]
pub(crate) fn stop(dir: &Dir, line: &str, plan: &str, signal: &str, parts: usize) -> Run {
    let path = dir.path(plan);
    for _ in 0..10 {
        let mut live = Live::start(dir, line);
        while journal_lines(&path) <= parts && live.child.try_wait().expect("a child").is_none() {
            std::thread::sleep(Duration::from_micros(300));
        }
        if live.child.try_wait().expect("a child").is_none() {
            live.signal(signal);
        }
        let run = live.end();
        if run.code != Some(0) && run.code != Some(3) {
            assert!(journal_lines(&path) > parts, "SIG{signal} after {parts} parts:{}", run.shown());
            return run;
        }
        dir.sh(&format!("rm -r {plan}")).succeeds();
    }
    panic!("rehome {line} was always done before SIG{signal}");
}

/// What a run with `--timings` says of the parts that it reused, and of all.
#[track_caller]
pub(crate) fn reused(run: &Run) -> (usize, usize) {
    let line = run.err.lines().find_map(|line| line.strip_prefix("parts reused: "));
    let line = line.unwrap_or_else(|| panic!("nothing about parts:{}", run.shown()));
    let (reused, of) = line.split_once(" of ").unwrap_or_else(|| panic!("{line}"));
    (reused.parse().expect("a number"), of.parse().expect("a number"))
}

/// Stops a plan at several moments, finishes it each time, and compares it with the undisturbed one. `line` is `plan ..`
/// without the output. Returns the resumed runs.
#[track_caller]
fn survives(dir: &Dir, line: &str, code: i32, moments: &[(&str, usize)]) -> Vec<Run> {
    let line = format!("{line} --chunk-rows 1000");
    let undisturbed = dir.run(&format!("{line} -o undisturbed")).exits(code);
    let mut runs = Vec::new();
    for (signal, parts) in moments {
        let stopped = stop(dir, &format!("{line} -o plan"), "plan", signal, *parts);
        assert!(!dir.exists("plan"), "SIG{signal}:{}", stopped.shown());
        let run = dir.run(&format!("{line} -o plan --resume --timings")).exits(code);
        let (reused, of) = reused(&run);
        assert!(reused >= *parts && of >= reused, "SIG{signal} after {parts} parts:{}", run.shown());
        assert!(dir.tree("plan") == dir.tree("undisturbed"), "SIG{signal} after {parts} parts: other bytes");
        assert_eq!(run.out, undisturbed.out, "SIG{signal}: the table of sums");
        assert!(!dir.exists("plan.partial"));
        dir.sh("rm -r plan").succeeds();
        runs.push(run);
    }
    dir.sh("rm -r undisturbed").succeeds();
    runs
}

#[test]
fn a_plan_stopped_at_any_moment_is_finished_to_the_same_bytes() {
    let dir = Dir::with_clusters(0);
    dir.write("ids.txt", integer_keys(300_000));
    let line = "plan --from c10.toml --to c11.toml --key-type u64 ids.txt --part-rows 5000";
    let moments = [("KILL", 0), ("KILL", 1), ("KILL", 20), ("KILL", 45), ("INT", 10), ("TERM", 30), ("HUP", 5)];
    survives(&dir, line, 0, &moments);
}

#[test]
fn a_plan_stopped_again_and_again_comes_to_its_end() {
    let dir = Dir::with_clusters(200_000);
    let line = "plan --from c10.toml --to c11.toml keys.txt --part-rows 2000 --chunk-rows 1000";
    dir.ok(&format!("{line} -o undisturbed"));
    stop(&dir, &format!("{line} -o plan"), "plan", "KILL", 5);
    for parts in [20, 40, 60] {
        // With other threads and chunks each time, which change no byte.
        let other = format!("{line} -o plan --resume --threads 1").replace("--chunk-rows 1000", "--chunk-rows 700");
        stop(&dir, &other, "plan", "KILL", parts);
    }
    let run = dir.ok(&format!("{line} -o plan --resume --timings"));
    assert!(reused(&run).0 >= 60 && reused(&run).1 == 100, "{}", run.shown());
    assert!(dir.tree("plan") == dir.tree("undisturbed"));
}

#[test]
fn sums_alone_and_text_keys_are_resumed_too() {
    let dir = Dir::with_clusters(200_000);
    let line = "plan --from c10.toml --to c11.toml keys.txt --part-rows 4000";
    survives(&dir, line, 0, &[("KILL", 3), ("KILL", 30)]);
    survives(&dir, &format!("{line} --summary-only"), 0, &[("KILL", 3), ("INT", 30)]);
}

/// Rows of CSV as other programs write them: a header, CR LF, quotes, and line ends and commas inside of them.
fn csv_rows(count: usize) -> String {
    let mut text = "bytes,name,note\r\n".to_owned();
    for number in 0..count {
        let end = if number % 3 == 0 { "\r\n" } else { "\n" };
        match number % 5 {
            0 => write!(text, "{},\"user \"\"{number}\"\", a\",x{end}", number * 7),
            1 => write!(text, "{},user:{number},\"two\r\nlines\"{end}", number % 1000),
            2 => write!(text, "\"{number}\",\"user\n{number}\",{end}"),
            _ => write!(text, "0,user:{number},\"\"{end}"),
        }
        .expect("a String takes all");
    }
    text
}

#[test]
fn csv_with_quotes_and_sizes_is_resumed_at_a_row() {
    let dir = Dir::with_clusters(0);
    dir.write("rows.csv", csv_rows(150_000));
    let line = "plan --from c10.toml --to c11.toml rows.csv --column name --part-rows 3001";
    survives(&dir, &format!("{line} --size-column bytes"), 0, &[("KILL", 1), ("KILL", 13), ("TERM", 27)]);
    let (_, rows) =
        csv_rows(150_000).split_once("\r\n").map(|(head, rows)| (head.len(), rows.to_owned())).expect("rows");
    dir.write("bare.csv", rows);
    let line = line.replace("rows.csv --column name", "bare.csv --no-header --column 2");
    survives(&dir, &line, 0, &[("KILL", 1), ("KILL", 20)]);
}

#[test]
fn bad_rows_before_and_behind_the_cut_are_counted_once() {
    let dir = Dir::with_clusters(0);
    let bad = |number: usize| number % 997 == 3;
    let lines = integer_keys(200_000).lines().enumerate().fold(String::new(), |mut text, (number, line)| {
        let shown = if bad(number) { "no number" } else { line };
        let blank = if number % 11 == 0 { "\n" } else { "" };
        writeln!(text, "{shown}{blank}").expect("a String takes all");
        text
    });
    dir.write("ids.txt", lines);
    let count = (0..200_000).filter(|number| bad(*number)).count();
    let line = "plan --from c10.toml --to c11.toml --key-type u64 ids.txt --part-rows 4000 --bad-rows skip --json";
    for run in survives(&dir, line, 3, &[("KILL", 1), ("KILL", 25), ("INT", 40)]) {
        assert_eq!(run.json()["bad_rows"], count);
        // What is told is what the plan has, not what was read since.
        run.says(&["ids.txt", &format!("{count} rows were skipped")]);
    }
    let line = line.replace("--bad-rows skip --json", "--bad-rows skip --blank keep --summary-only");
    survives(&dir, &line, 3, &[("KILL", 7)]);
}

#[test]
fn keys_that_each_side_reads_its_own_way_are_resumed() {
    let dir = Dir::with_clusters(0);
    dir.ok("cluster new text.toml --algorithm dx --nodes 5 --key text");
    dir.ok("cluster new ids.toml --algorithm dx --nodes 6 --key u64");
    dir.write("ids.txt", integer_keys(200_000));
    let line = "plan --from text.toml --to ids.toml --allow-rehash ids.txt --part-rows 4000";
    survives(&dir, line, 0, &[("KILL", 2), ("KILL", 30)]);
}

#[test]
fn parquet_is_resumed_at_a_row_and_keeps_its_bad_rows() {
    let dir = Dir::with_clusters(0);
    let keys: ArrayRef =
        Arc::new((0..200_000).map(|n| (n % 1009 != 5).then(|| format!("user:{n}"))).collect::<StringArray>());
    let sizes: ArrayRef = Arc::new((0..200_000).map(|n| (n % 2003 != 7).then_some(n * 3)).collect::<Int64Array>());
    let batch = RecordBatch::try_from_iter([("name", keys), ("bytes", sizes)]).expect("columns of one length");
    write_parquet(&dir.path("keys.parquet"), &batch);
    let line = "plan --from c10.toml --to c11.toml keys.parquet --column name --part-rows 4001 --bad-rows skip";
    survives(&dir, line, 3, &[("KILL", 1), ("KILL", 30)]);
    survives(&dir, &format!("{line} --size-column bytes"), 3, &[("KILL", 20), ("TERM", 5)]);
}

#[test]
fn the_lock_keeps_a_second_run_out_and_ends_with_the_process() {
    let dir = Dir::with_clusters(300_000);
    let line = "plan --from c10.toml --to c11.toml keys.txt -o plan --part-rows 3000 --chunk-rows 1000";
    let mut live = Live::start(&dir, line);
    live.wait_for("part", || journal_lines(&dir.path("plan")) > 3);
    // Stopped, not ended, so that it stays there.
    live.signal("STOP");
    for more in ["", " --resume", " --force", " --force --resume"] {
        dir.run(&format!("{line}{more}")).fails(&["plan.partial", "another run is writing this plan"]);
    }
    live.signal("KILL");
    live.end();
    let run = dir.ok(&format!("{line} --resume --timings"));
    assert!(reused(&run).0 >= 3, "{}", run.shown());
    dir.ok(&line.replace("-o plan", "-o undisturbed"));
    assert!(dir.tree("plan") == dir.tree("undisturbed"));
}

#[test]
fn a_plan_that_met_a_full_disk_keeps_its_parts_for_resume() {
    let dir = Dir::with_clusters(0);
    dir.write("ids.txt", integer_keys(300_000));
    // A journal line takes about 1 KB with ten nodes, and a part about 10 KB: the journal grows past the limit.
    let line = "plan --from c10.toml --to c11.toml --key-type u64 ids.txt -o plan --part-rows 3000";
    let run = dir.sh(&format!("ulimit -f 64; exec rehome {line}"));
    run.fails(&["plan.partial", "cannot write", "File too large"]);
    assert!(!dir.exists("plan"));
    let kept = dir.tree("plan.partial");
    // It fails there again, without harm to what is there.
    dir.sh(&format!("ulimit -f 64; exec rehome {line} --resume")).fails(&["cannot write", "File too large"]);
    assert!(dir.tree("plan.partial").iter().all(|(path, bytes)| kept.get(path).is_none_or(|before| before == bytes)));
    let run = dir.ok(&format!("{line} --resume --timings"));
    let (reused, of) = reused(&run);
    assert!(reused > 10 && reused < of, "{}", run.shown());
    dir.ok(&line.replace("-o plan", "-o undisturbed"));
    assert!(dir.tree("plan") == dir.tree("undisturbed"));
}

#[test]
fn an_error_of_the_input_leaves_nothing_in_the_way_of_the_corrected_command() {
    let dir = Dir::with_clusters(0);
    let line = "plan --from c10.toml --to c11.toml --key-type u64 ids.txt -o plan --part-rows 3000 --chunk-rows 1000";
    dir.write("ids.txt", integer_keys(200_000) + "oops\n");
    dir.run(line).fails(&["ids.txt", "line 200001", "oops"]);
    assert!(!dir.exists("plan.partial") && !dir.exists("plan"));
    // No less where the run that meets it is a resumed one.
    stop(&dir, line, "plan", "KILL", 10);
    dir.run(&format!("{line} --resume")).fails(&["ids.txt", "line 200001", "oops"]);
    assert!(!dir.exists("plan.partial") && !dir.exists("plan"), "{:?}", dir.names());
    dir.write("ids.txt", integer_keys(200_000));
    dir.ok(line);
    dir.write("keys.csv", "name,key\na,\"b\n");
    dir.run("plan --from c10.toml --to c11.toml keys.csv -o other").fails(&["keys.csv"]);
    assert!(!dir.exists("other.partial"));
    dir.write("keys.txt", text_keys(10));
    dir.ok("plan --from c10.toml --to c11.toml keys.txt -o other --resume");
}
