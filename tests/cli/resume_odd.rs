//! Resuming where things are odd: names, limits, inputs that change under a run, and others who get in the way.

use std::fs;

use crate::resume::{reused, stop};
use crate::support::{Dir, Live, text_keys};

const LINE: &str = "plan --from c10.toml --to c11.toml keys.txt --part-rows 1000 --chunk-rows 500";

fn undisturbed(keys: usize) -> Dir {
    let dir = Dir::with_clusters(keys);
    dir.ok(&format!("{LINE} -o undisturbed"));
    dir
}

#[test]
fn a_plan_is_found_again_by_every_path_to_it() {
    let dir = undisturbed(60_000);
    dir.sh("mkdir sub && ln -s sub link").succeeds();
    for (begun, resumed, place) in [
        ("plan", "plan/", "plan"),
        ("./plan//", "sub/../plan", "plan"),
        ("sub/../plan", "./plan/.", "plan"),
        ("link/plan", "sub/plan", "sub/plan"),
        ("sub/plan/", "link/plan/", "sub/plan"),
        ("d\u{e9}j\u{e0}-\u{1f980}.partial", "d\u{e9}j\u{e0}-\u{1f980}.partial/", "d\u{e9}j\u{e0}-\u{1f980}.partial"),
        ("--odd", "./--odd", "--odd"),
    ] {
        stop(&dir, &format!("{LINE} --output={begun}"), place, "KILL", 3);
        let run = dir.ok(&format!("{LINE} --output={resumed} --resume --timings"));
        assert!(reused(&run).0 >= 3, "{}", run.shown());
        assert!(dir.tree(place) == dir.tree("undisturbed"), "{begun}");
        assert!(!dir.exists(&format!("{place}.partial")));
        fs::remove_dir_all(dir.path(place)).expect("a folder");
    }
    for name in ["..", ".", "sub/..", "/"] {
        dir.run(&format!("{LINE} -o {name} --resume")).fails(&["no name for a plan directory"]);
    }
    let long = "n".repeat(250);
    dir.run(&format!("{LINE} -o {long} --resume")).fails(&[&long, "cannot create"]);
    dir.run(&format!("{LINE} -o nowhere/plan --resume")).fails(&["nowhere/plan", "does not exist"]);
    dir.run(&format!("{LINE} -o keys.txt/plan --resume")).fails(&["keys.txt/plan"]);
}

#[test]
fn inputs_and_clusters_are_found_again_by_every_path_to_them() {
    let dir = undisturbed(60_000);
    stop(&dir, &format!("{LINE} -o plan"), "plan", "KILL", 3);
    dir.sh("mkdir sub && ln -s ../keys.txt sub/keys.txt && mv c10.toml sub").succeeds();
    let line = LINE.replace("keys.txt", "sub/keys.txt").replace("c10", "sub/c10");
    let run = dir.ok(&format!("{line} -o plan --resume --timings"));
    assert!(reused(&run).0 >= 3 && !run.err.contains("time stamps"), "{}", run.shown());
    assert!(dir.tree("plan") == dir.tree("undisturbed"));
}

#[test]
fn parts_of_any_size_and_inputs_of_none_are_resumed() {
    let dir = Dir::with_clusters(30);
    dir.write("empty.txt", "");
    dir.write("blank.txt", "\n\n\r\n");
    dir.write("bad.txt", "x\n".repeat(30));
    dir.write("head.csv", "key\r\n");
    for (input, code) in [
        ("keys.txt --part-rows 1", 0),
        ("keys.txt --part-rows 30", 0),
        ("keys.txt --part-rows 18446744073709551615", 0),
        ("empty.txt", 0),
        ("blank.txt --part-rows 2", 0),
        ("blank.txt --part-rows 2 --blank keep", 0),
        ("head.csv", 0),
        ("bad.txt --key-type u64 --bad-rows skip --part-rows 7", 3),
        ("bad.txt --key-type u64 --bad-rows skip --part-rows 30", 3),
        ("bad.txt --key-type u64 --bad-rows skip --part-rows 18446744073709551615", 3),
    ] {
        let line = format!("plan --from c10.toml --to c11.toml {input} -o plan");
        dir.run(&format!("{line} --quiet")).exits(code);
        let finished = dir.tree("plan");
        let run = dir.run(&format!("{line} --resume --timings")).exits(code).says(&["the plan is finished"]);
        assert_eq!(reused(&run).0, reused(&run).1);
        // All but the name.
        dir.sh("mv plan plan.partial").succeeds();
        dir.run(&format!("{line} --resume")).exits(code);
        assert!(dir.tree("plan") == finished, "{input}");
        // Nothing but the folder.
        dir.sh("rm -r plan; mkdir plan.partial").succeeds();
        dir.run(&format!("{line} --resume")).exits(code);
        assert!(dir.tree("plan") == finished, "{input}");
        dir.sh("rm -r plan").succeeds();
    }
    dir.run("plan --from c10.toml --to c11.toml keys.txt -o plan --part-rows 0 --resume").misused(&["--part-rows"]);
    dir.run("plan --from c10.toml --to c11.toml keys.txt --summary-only --resume").misused(&["--output"]);
}

#[test]
fn an_input_that_is_replaced_while_it_is_read_is_not_mixed_with_the_new_one() {
    let dir = undisturbed(100_000);
    dir.write("new.txt", text_keys(100_000).replace("user:1", "User:1"));
    let mut live = Live::start(&dir, &format!("{LINE} -o plan"));
    live.wait_for("part", || dir.exists("plan.partial/moves/part-00002.parquet"));
    live.signal("STOP");
    dir.sh("cp keys.txt old.txt; mv new.txt keys.txt").succeeds();
    live.signal("KILL");
    live.end();
    dir.run(&format!("{LINE} -o plan --resume")).fails(&["plan.partial", "other keys in rows 0 to 999"]);
    dir.sh("mv old.txt keys.txt").succeeds();
    dir.ok(&format!("{LINE} -o plan --resume"));
    assert!(dir.tree("plan") == dir.tree("undisturbed"));
}

#[test]
fn an_input_that_grows_while_it_is_read_is_refused() {
    let dir = undisturbed(100_000);
    let line = format!("{LINE} -o plan");
    let mut live = Live::start(&dir, &line);
    live.wait_for("part", || dir.exists("plan.partial/moves/part-00002.parquet"));
    live.signal("STOP");
    dir.sh("echo more >> keys.txt").succeeds();
    live.signal("CONT");
    let run = live.end().fails(&["keys.txt", "changed while it was read"]);
    assert!(!dir.exists("plan") && !dir.exists("plan.partial"), "{}", run.shown());
    dir.write("keys.txt", text_keys(100_000));
    let mut live = Live::start(&dir, &line);
    live.wait_for("part", || dir.exists("plan.partial/moves/part-00002.parquet"));
    live.signal("STOP");
    dir.sh("echo more >> keys.txt").succeeds();
    live.signal("KILL");
    live.end();
    dir.run(&format!("{line} --resume")).fails(&["plan.partial", "\"keys.txt\" was", "bytes and is"]);
}

#[test]
fn what_took_the_place_of_the_plan_while_it_was_made_is_kept() {
    let dir = undisturbed(100_000);
    for (flag, says) in [("", "already exists"), ("--force", "is there and is no plan directory")] {
        let line = format!("{LINE} -o plan {flag}");
        let mut live = Live::start(&dir, &line);
        live.wait_for("part", || dir.exists("plan.partial/moves/part-00002.parquet"));
        live.signal("STOP");
        dir.sh("mkdir plan && echo precious > plan/notes.txt").succeeds();
        live.signal("CONT");
        live.end().fails(&["plan: ", says]);
        assert_eq!(dir.text("plan/notes.txt"), "precious\n");
        // All the work is there, and needs nothing but the name.
        dir.sh("rm -r plan").succeeds();
        let run = dir.ok(&format!("{LINE} -o plan --resume --timings"));
        assert_eq!(reused(&run), (100, 100));
        assert!(dir.tree("plan") == dir.tree("undisturbed"), "{flag}");
        dir.sh("rm -r plan").succeeds();
    }
}

#[test]
fn many_runs_at_once_make_one_plan() {
    let dir = undisturbed(20_000);
    for more in ["--resume", "--force", "--force --resume"] {
        let runs: Vec<Live> = (0..6).map(|_| Live::start(&dir, &format!("{LINE} -o plan {more}"))).collect();
        let runs: Vec<_> = runs.into_iter().map(Live::end).collect();
        assert!(runs.iter().any(|run| run.code == Some(0)), "{}", runs[0].shown());
        for run in runs.into_iter().filter(|run| run.code != Some(0)) {
            run.fails(&["plan.partial"]);
        }
        assert!(dir.tree("plan") == dir.tree("undisturbed"), "{more}");
        assert!(!dir.exists("plan.partial"), "{more}");
        dir.sh("rm -r plan").succeeds();
    }
}

#[test]
fn a_folder_that_may_not_be_written_to_is_an_error_and_keeps_the_parts() {
    let dir = undisturbed(60_000);
    stop(&dir, &format!("{LINE} -o plan"), "plan", "KILL", 3);
    if dir.sh("test $(id -u) -eq 0").code == Some(0) {
        eprintln!("skipped: root may write everywhere");
        return;
    }
    let before = dir.tree("plan.partial");
    for (mode, path) in [("500", "plan.partial"), ("500", "plan.partial/moves"), ("400", "plan.partial/journal.jsonl")]
    {
        dir.sh(&format!("chmod {mode} {path}")).succeeds();
        dir.run(&format!("{LINE} -o plan --resume")).fails(&["plan.partial", "Permission denied"]);
        dir.sh(&format!("chmod u+rwx {path}")).succeeds();
        assert!(dir.tree("plan.partial").iter().all(|(path, bytes)| before.get(path).is_none_or(|old| old == bytes)));
    }
    dir.ok(&format!("{LINE} -o plan --resume"));
    assert!(dir.tree("plan") == dir.tree("undisturbed"));
}

#[test]
fn a_journal_that_is_no_file_is_an_error() {
    let dir = Dir::with_clusters(30);
    let line = "plan --from c10.toml --to c11.toml keys.txt -o plan";
    dir.sh("mkdir -p plan.partial/journal.jsonl").succeeds();
    for more in ["", " --resume", " --force"] {
        dir.run(&format!("{line}{more}")).fails(&["plan.partial"]);
    }
    dir.sh("rm -r plan.partial; mkdir -p plan.partial/moves/part-00000.parquet").succeeds();
    dir.run(&format!("{line} --resume")).fails(&["plan.partial"]);
}

#[test]
fn a_run_that_only_lacked_the_sums_reads_nothing_and_does_not_say_that_there_is_nothing() {
    let dir = undisturbed(60_000);
    let line = format!("{LINE} -o plan");
    let mut live = Live::start(&dir, &line);
    live.wait_for("part", || dir.exists("plan.partial/moves/part-00002.parquet"));
    live.signal("STOP");
    dir.write("plan.partial/flows.csv", "in the way");
    live.signal("CONT");
    live.end().fails(&["plan.partial/flows.csv", "cannot create", "exists"]);
    let run = dir.ok(&format!("{line} --resume --timings"));
    assert_eq!(reused(&run), (60, 60));
    assert!(!run.err.contains("warning"), "{}", run.shown());
    assert!(dir.tree("plan") == dir.tree("undisturbed"));
}
