//! What is left when a run is stopped, killed, or finds the disk full: nothing under the final name, and no rubbish
//! where the program had a chance to remove it.

use crate::support::{Dir, Live, Run, integer_keys, is_partial, path_with_binary, text_keys};

fn partials(dir: &Dir) -> Vec<String> {
    dir.names().into_iter().filter(|name| is_partial(name)).collect()
}

#[test]
fn a_signal_ends_locate_without_a_trace() {
    for (signal, name) in
        [("INT", "out.csv"), ("TERM", "out.csv"), ("HUP", "out.csv"), ("INT", "out.parquet"), ("TERM", "out.jsonl")]
    {
        let dir = Dir::with_clusters(0);
        let before = dir.names();
        let mut live = Live::start(&dir, &format!("locate --cluster c10.toml - -o {name}"));
        // More than the buffers on the way hold, so that output is being written.
        live.feed(&text_keys(200_000));
        live.wait_for("temporary file", || partials(&dir).len() == 1);
        live.signal(signal);
        let run = live.end();
        assert_ne!(run.code, Some(0), "SIG{signal}:{}", run.shown());
        assert!(!run.err.contains("panicked"), "SIG{signal}:{}", run.shown());
        assert_eq!(dir.names(), before, "SIG{signal} left something:{}", run.shown());
    }
}

#[test]
fn a_signal_keeps_what_force_would_have_replaced() {
    let dir = Dir::with_clusters(0);
    dir.write("out.csv", "precious");
    let mut live = Live::start(&dir, "locate --cluster c10.toml - -o out.csv --force");
    live.feed(&text_keys(200_000));
    live.wait_for("temporary file", || partials(&dir).len() == 1);
    live.signal("INT");
    live.end();
    assert_eq!(dir.text("out.csv"), "precious");
    assert!(partials(&dir).is_empty());
}

#[test]
fn a_hangup_that_is_ignored_stays_ignored() {
    // `nohup rehome .. &`: the shell goes away, the run must not.
    let dir = Dir::with_clusters(1000);
    let run = dir
        .sh("trap '' HUP; (cat keys.txt; sleep 1.5; cat keys.txt) | rehome locate --cluster c10.toml - -o out.csv & \
         pid=$!; sleep 0.7; kill -HUP $pid; wait $pid");
    run.succeeds();
    assert_eq!(dir.text("out.csv").lines().count(), 2001);
}

#[test]
fn a_kill_leaves_nothing_under_the_final_name() {
    let dir = Dir::with_clusters(0);
    let mut live = Live::start(&dir, "locate --cluster c10.toml - -o out.csv");
    live.feed(&text_keys(200_000));
    live.wait_for("temporary file", || partials(&dir).len() == 1);
    live.signal("KILL");
    let run = live.end();
    assert_eq!(run.code, None, "{}", run.shown());
    assert!(!dir.exists("out.csv"));
    // What it left is not in the way.
    dir.ok("locate --cluster c10.toml keys.txt -o out.csv");
}

#[test]
fn a_stopped_plan_leaves_only_its_partial() {
    for signal in ["INT", "TERM", "KILL"] {
        let dir = Dir::with_clusters(0);
        let keys = text_keys(100_000);
        dir.write("keys.txt", &keys);
        dir.ok("plan --from c10.toml --to c11.toml keys.txt -o undisturbed --part-rows 10000");
        let mut live = Live::start(&dir, "plan --from c10.toml --to c11.toml - -o plan --part-rows 10000");
        live.feed(&keys);
        live.wait_for("part", || dir.exists("plan.partial/moves/part-00002.parquet"));
        live.signal(signal);
        let run = live.end();
        assert_ne!(run.code, Some(0), "SIG{signal}:{}", run.shown());
        assert!(!dir.exists("plan") && dir.exists("plan.partial"), "SIG{signal}: {:?}", dir.names());
        let line = "plan --from c10.toml --to c11.toml keys.txt -o plan --part-rows 10000";
        dir.run(line).fails(&["plan.partial", "is an unfinished plan", "--force"]);
        assert!(!dir.exists("plan") && dir.exists("plan.partial"));
        dir.ok(&format!("{line} --force"));
        assert!(dir.tree("plan") == dir.tree("undisturbed"), "SIG{signal}: the plan made anew has other bytes");
        assert!(partials(&dir).is_empty());
    }
}

#[test]
fn a_stopped_plan_keeps_the_one_it_was_to_replace() {
    let dir = Dir::with_clusters(1000);
    dir.ok("plan --from c10.toml --to c11.toml keys.txt -o plan");
    let before = dir.tree("plan");
    let mut live = Live::start(&dir, "plan --from c11.toml --to c10.toml - -o plan --force --part-rows 1000");
    live.feed(&text_keys(200_000));
    live.wait_for("part", || dir.exists("plan.partial/moves/part-00002.parquet"));
    live.signal("INT");
    live.end();
    assert!(dir.tree("plan") == before, "the old plan was changed");
}

#[test]
fn two_runs_do_not_share_a_partial() {
    let dir = Dir::with_clusters(10);
    let mut live = Live::start(&dir, "plan --from c10.toml --to c11.toml - -o plan");
    live.feed(&text_keys(10));
    live.wait_for("partial", || dir.exists("plan.partial/moves"));
    dir.run("plan --from c10.toml --to c11.toml keys.txt -o plan").fails(&["plan.partial", "another run"]);
    drop(live.child.stdin.take());
    live.end().succeeds();
    assert!(dir.exists("plan/summary.json"));
}

/// Runs a line under a limit on the size of files, which writes meet as an error.
fn limited(dir: &Dir, kib: u32, line: &str) -> Run {
    // The limit is in blocks of 512 bytes.
    dir.sh(&format!("trap '' XFSZ; ulimit -f {}; exec rehome {line}", kib * 2))
}

#[test]
fn a_file_that_may_not_grow_is_an_error_and_leaves_nothing() {
    let dir = Dir::with_clusters(0);
    dir.write("ids.txt", integer_keys(300_000));
    dir.write("old.csv", "precious");
    let before = dir.tree("");
    for name in ["out.csv", "out.jsonl", "out.parquet", "old.csv --force"] {
        let run = limited(&dir, 100, &format!("locate --cluster c10.toml --key-type u64 ids.txt -o {name}"));
        run.fails(&[name.split(' ').next().expect("a name"), "cannot write", "File too large"]);
        assert!(dir.tree("") == before, "-o {name} left {:?}", dir.names());
    }
    let run = limited(&dir, 100, "plan --from c10.toml --to c11.toml --key-type u64 ids.txt -o plan");
    run.fails(&["part-00000.parquet", "cannot write", "File too large"]);
    assert!(!dir.exists("plan"));
}

#[test]
fn a_file_limit_nobody_ignores_is_an_error_too() {
    let dir = Dir::with_clusters(0);
    dir.write("ids.txt", integer_keys(300_000));
    let before = dir.names();
    let run = dir.sh("ulimit -f 200; exec rehome locate --cluster c10.toml --key-type u64 ids.txt -o out.csv");
    assert_eq!(dir.names(), before, "something was left:{}", run.shown());
    run.fails(&["out.csv", "cannot write", "File too large"]);
}

#[test]
fn an_edit_that_cannot_be_written_keeps_the_old_file() {
    let dir = Dir::new();
    dir.ok("cluster new c.toml --algorithm dx --nodes 1000");
    dir.sh(
        "rehome cluster show c.toml --json > /dev/null && (echo name,slot; seq 0 999 | sed 's/.*/n&,&/') > nodes.csv",
    )
    .succeeds();
    dir.ok("cluster new t.toml --algorithm dx --slots 2048 --node-table nodes.csv");
    let before = dir.tree("");
    limited(&dir, 4, "cluster down c.toml node-1").fails(&["c.toml", "cannot write", "File too large"]);
    limited(&dir, 4, "cluster down t.toml n1").fails(&["t.nodes-", "cannot write", "File too large"]);
    assert!(dir.tree("") == before, "{:?}", dir.names());
}

#[test]
fn a_full_disk_is_an_error_and_leaves_nothing() {
    let dir = Dir::with_clusters(0);
    dir.write("ids.txt", integer_keys(300_000));
    dir.sh("mkdir disk").succeeds();
    let mounted = dir.sh("mount -t tmpfs -o size=1m rehome-test disk");
    if mounted.code != Some(0) {
        eprintln!("skipped: a small tmpfs cannot be mounted here:{}", mounted.shown());
        return;
    }
    // Unmounted whatever happens.
    struct Mounted(std::path::PathBuf);
    impl Drop for Mounted {
        fn drop(&mut self) {
            // A lazy unmount succeeds even while something is open.
            let _ =
                std::process::Command::new("umount").arg("-l").arg(&self.0).env("PATH", path_with_binary()).status();
        }
    }
    let _mounted = Mounted(dir.path("disk"));
    dir.sh("cp c10.toml disk/c10.toml && echo precious > disk/old.csv").succeeds();
    let before = dir.tree("disk");
    for name in ["out.csv", "out.jsonl", "out.parquet", "old.csv --force"] {
        let run = dir.run(&format!("locate --cluster c10.toml --key-type u64 ids.txt -o disk/{name}"));
        run.fails(&[name.split(' ').next().expect("a name"), "cannot write", "No space left"]);
        assert!(dir.tree("disk") == before, "-o {name} left {:?}", dir.tree("disk").keys());
    }
    let run = dir
        .run("plan --from c10.toml --to c11.toml --key-type u64 ids.txt -o disk/plan --part-rows 10000 --allow-rehash");
    if run.code == Some(0) {
        dir.sh("rm -r disk/plan").succeeds();
    } else {
        run.fails(&["No space left"]);
        assert!(!dir.exists("disk/plan"));
        dir.sh("rm -rf disk/plan.partial").succeeds();
    }
    // Now really full: not a byte more for a plan or an edit.
    dir.sh("cat /dev/zero > disk/filler 2> /dev/null; true").succeeds();
    let before = dir.tree("disk");
    dir.run("cluster down disk/c10.toml node-1").fails(&["c10.toml", "No space left"]);
    dir.run("cluster new disk/new.toml --algorithm dx --nodes 100").fails(&["new.toml", "No space left"]);
    assert!(dir.tree("disk") == before, "{:?}", dir.tree("disk").keys());
    dir.run("plan --from c10.toml --to c11.toml --key-type u64 ids.txt -o disk/plan").fails(&["No space left"]);
    assert!(!dir.exists("disk/plan"));
}

#[test]
fn a_directory_that_may_not_be_written_to_is_an_error() {
    let dir = Dir::with_clusters(10);
    if dir.sh("test $(id -u) -eq 0").code == Some(0) {
        // Root may write everywhere; a file system that takes no files stands in.
        dir.run("locate --cluster c10.toml keys.txt -o /proc/out.csv").fails(&["/proc/out.csv", "cannot create"]);
        dir.run("plan --from c10.toml --to c11.toml keys.txt -o /proc/plan").fails(&["/proc/plan", "cannot create"]);
        return;
    }
    dir.sh("mkdir locked && chmod 500 locked").succeeds();
    dir.run("locate --cluster c10.toml keys.txt -o locked/out.csv").fails(&["locked/out.csv", "Permission denied"]);
    dir.run("plan --from c10.toml --to c11.toml keys.txt -o locked/plan").fails(&["locked/plan", "Permission denied"]);
}
