//! `rehome plan --check-against`: what differs from an earlier plan.

use crate::planted::{copy, dir_with_plan, edit};
use crate::support::Run;

const PLAN: &str = "plan --from c10.toml --to c11.toml --part-rows 1000";

/// What differs, line by line.
fn differences(run: &Run) -> Vec<String> {
    let list = run.out.split("\nAgainst ").nth(1).unwrap_or_else(|| panic!("no comparison:{}", run.shown()));
    list.lines().skip(1).map(|line| line.trim_start().to_owned()).collect()
}

#[test]
fn the_same_plan_again_differs_in_nothing() {
    let dir = dir_with_plan();
    let before = dir.names();
    let run = dir.ok(&format!("{PLAN} keys.txt --check-against plan")).prints(&["Against plan: "]);
    let moved = dir.ok(&format!("{PLAN} keys.txt --summary-only --json")).json()["moved"].clone();
    run.clone().prints(&[&format!("{moved} moves are the same, 0 go elsewhere, 0 are only there, 0 are only here")]);
    assert_eq!(differences(&run), Vec::<String>::new());
    assert_eq!(dir.names(), before, "without -o nothing is written");
    // With a directory, be it the same one.
    dir.ok(&format!("{PLAN} keys.txt --check-against plan -o again"));
    assert!(dir.tree("again") == dir.tree("plan"));
    dir.ok(&format!("{PLAN} keys.txt --check-against plan -o plan --force"));
    assert!(dir.tree("again") == dir.tree("plan"));
    let quiet = dir.ok(&format!("{PLAN} keys.txt --check-against plan -o plan --force -q")).stays_quiet();
    assert_eq!(quiet.out, "");
}

#[test]
fn another_cluster_option_or_input_is_told() {
    let dir = dir_with_plan();
    dir.ok("cluster weight c11.toml node-3=0.5 -o other.toml");
    dir.ok("cluster remove other.toml node-7");
    let run = dir.run("plan --from c10.toml --to other.toml keys.txt --part-rows 1000 --check-against plan").exits(4);
    let found = differences(&run);
    assert!(found.contains(&"clusters: cluster \"to\": node \"node-3\": weight was 1 and is 0.5".into()), "{found:?}");
    assert!(found.contains(&"clusters: cluster \"to\": node \"node-7\" is no longer there".into()), "{found:?}");
    run.prints(&[
        "sums: moved was ",
        "moves/part-00000.parquet: row ",
        " moves now, and not in the plan",
        "rows more differ",
    ]);

    let run = dir.run("plan --from c10.toml --to c11.toml keys.txt --part-rows 500 --check-against plan").exits(4);
    assert_eq!(differences(&run), ["options: --part-rows: was 1000 and is 500"]);
    let run = dir.run(&format!("{PLAN} --blank keep keys.txt --check-against plan")).exits(4);
    assert_eq!(differences(&run), ["options: --blank: was \"skip\" and is \"keep\""]);

    dir.sh("mkdir new && sed 's/^user:1500$/user:15x0/' keys.txt > new/keys.txt").succeeds();
    let run = dir.run(&format!("{PLAN} new/keys.txt --check-against plan")).exits(4);
    assert_eq!(differences(&run)[0], "inputs: the keys are others");
    dir.sh("sed 1500d keys.txt > new/keys.txt").succeeds();
    let run = dir.run(&format!("{PLAN} new/keys.txt --check-against plan")).exits(4);
    assert_eq!(differences(&run)[0], "inputs: input \"keys.txt\" was 28893 bytes and is 28883 bytes");
    dir.sh("cp keys.txt other.txt").succeeds();
    let run = dir.run(&format!("{PLAN} other.txt --check-against plan")).exits(4);
    assert_eq!(differences(&run), ["inputs: instead of input \"keys.txt\" there is \"other.txt\""]);
    // The plan is written all the same, and the next comparison is with it.
    dir.run(&format!("{PLAN} other.txt --check-against plan -o second")).exits(4);
    dir.ok(&format!("{PLAN} other.txt --check-against second"));
    dir.ok("verify second other.txt");
}

#[test]
fn a_move_that_goes_elsewhere_is_told_with_both_nodes() {
    let dir = dir_with_plan();
    dir.sh("sed s/node-10/node-x/ c11.toml > renamed.toml").succeeds();
    let run = dir.run("plan --from c10.toml --to renamed.toml keys.txt --part-rows 1000 --check-against plan").exits(4);
    run.prints(&["0 moves are the same", "to is \"node-10\" in the plan, and \"node-x\" now"]);
}

#[test]
fn a_damaged_earlier_plan_is_what_differs() {
    let dir = dir_with_plan();
    for (name, old, new) in [
        ("nodes.csv", "node-4", "node-x"),
        ("flows.csv", ",false", ",true"),
        ("summary.json", "\"keys\": 3000", "\"keys\": 3001"),
        ("manifest.json", "\"bytes\": 28893", "\"bytes\": 28894"),
    ] {
        copy(&dir);
        edit(&dir, name, old, new);
        dir.run(&format!("{PLAN} keys.txt --check-against copy")).exits(4).prints(&[&format!("  {name}: ")]);
    }
    copy(&dir);
    dir.sh("rm copy/moves/part-00001.parquet && echo hello > copy/moves/part-00002.parquet").succeeds();
    let run = dir.run(&format!("{PLAN} keys.txt --check-against copy")).exits(4);
    run.prints(&["moves/part-00001.parquet: is missing", "moves/part-00002.parquet: not a readable Parquet file"]);
    copy(&dir);
    dir.write("copy/manifest.json", "{");
    dir.run(&format!("{PLAN} keys.txt --check-against copy")).fails(&["copy/manifest.json: not a manifest of a plan"]);
    dir.run(&format!("{PLAN} keys.txt --check-against nowhere")).fails(&["nowhere/manifest.json: cannot read"]);
}

#[test]
fn plans_of_sums_alone_are_compared_by_their_sums() {
    let dir = dir_with_plan();
    dir.ok(&format!("{PLAN} keys.txt --summary-only -o sums -q"));
    dir.ok(&format!("{PLAN} keys.txt --summary-only --check-against sums")).prints(&["it has no moves to compare"]);
    let run = dir.run(&format!("{PLAN} keys.txt --check-against sums")).exits(4);
    assert_eq!(differences(&run), ["options: --summary-only: was true and is false"]);
    let run = dir.run(&format!("{PLAN} keys.txt --summary-only --check-against plan")).exits(4);
    assert_eq!(differences(&run), ["options: --summary-only: was false and is true"]);
}

#[test]
fn the_comparison_is_part_of_the_json() {
    let dir = dir_with_plan();
    let plain = dir.ok(&format!("{PLAN} keys.txt --summary-only --json")).json();
    let mut same = dir.ok(&format!("{PLAN} keys.txt --check-against plan --json")).stays_quiet().json();
    let moves = serde_json::json!({ "same": plain["moved"], "different": 0, "only_in_plan": 0, "only_now": 0 });
    assert_eq!(same["against"], serde_json::json!({ "moves": moves, "differences": [] }));
    same.as_object_mut().expect("an object").remove("against");
    assert_eq!(same, plain, "the sums are those of every plan");
    let other = dir.run("plan --from c11.toml --to c10.toml keys.txt --check-against plan --json").exits(4).json();
    let list = other["against"]["differences"].as_array().expect("a list");
    assert!(list.iter().any(|found| found["place"] == "options"), "{other:#}");
    assert!(list.iter().all(|found| found["what"].is_string()), "{other:#}");
}

#[test]
fn a_plan_that_is_gone_on_with_is_not_compared() {
    let dir = dir_with_plan();
    dir.run(&format!("{PLAN} keys.txt -o new --resume --check-against plan")).misused(&["--resume", "--check-against"]);
    assert!(!dir.exists("new") && !dir.exists("new.partial"));
}
