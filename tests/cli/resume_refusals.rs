//! What `rehome plan --resume` refuses to go on with, and says why; and what it accepts.

use crate::resume::{reused, stop};
use crate::support::{Dir, Run, integer_keys};

const LINE: &str = "plan --from c10.toml --to c11.toml --key-type u64 ids.csv --column id -o plan --part-rows 2000";

/// A directory with a stopped plan of [`LINE`] and the undisturbed one.
fn stopped() -> Dir {
    let dir = Dir::with_clusters(10);
    let rows: String = integer_keys(120_000).lines().map(|id| format!("{id},7,{id}\n")).collect();
    dir.write("ids.csv", format!("id,bytes,other\n{rows}"));
    dir.ok(&LINE.replace("-o plan", "-o undisturbed"));
    stop(&dir, &format!("{LINE} --chunk-rows 1000"), "plan", "KILL", 8);
    dir
}

/// Runs a changed command over the stopped plan, which must refuse, say these things, and leave everything as it was.
#[track_caller]
fn refused(dir: &Dir, line: &str, says: &[&str]) -> Run {
    let before = dir.tree("");
    let run = dir.run(line).fails(says);
    assert!(dir.tree("") == before, "{line} changed something");
    run
}

#[track_caller]
fn is_finished(dir: &Dir, line: &str) -> Run {
    let run = dir.ok(&format!("{line} --resume --timings"));
    assert!(reused(&run).0 >= 8, "{}", run.shown());
    assert!(dir.tree("plan") == dir.tree("undisturbed") && !dir.exists("plan.partial"));
    run
}

#[test]
fn streams_are_refused() {
    let dir = Dir::with_clusters(10);
    let line = "plan --from c10.toml --to c11.toml KEYS -o plan --resume";
    refused(&dir, &line.replace("KEYS", "-"), &["standard input", "cannot be resumed", "give a file"]);
    assert!(!dir.exists("plan.partial"));
    // A named pipe is no better. Nobody writes to it: it must not even be opened.
    dir.sh("mkfifo pipe").succeeds();
    let run = dir.run(&line.replace("KEYS", "pipe")).fails(&["pipe", "cannot be resumed"]);
    assert!(!dir.exists("plan.partial"), "{}", run.shown());
    dir.sh(&format!("cat keys.txt | rehome {}", line.replace("KEYS", "/dev/stdin"))).fails(&["cannot be resumed"]);
    // A file is a file, whatever it is called.
    dir.sh(&format!("rehome {} < keys.txt", line.replace("KEYS", "/dev/stdin"))).succeeds();
}

#[test]
fn what_is_begun_over_a_stream_is_begun_anew_only_with_force() {
    let dir = Dir::with_clusters(0);
    let line = "plan --from c10.toml --to c11.toml - -o plan --part-rows 1000";
    let mut live = crate::support::Live::start(&dir, line);
    let keys = crate::support::text_keys(200_000);
    live.feed(&keys);
    live.wait_for("parts", || dir.exists("plan.partial/moves/part-00003.parquet"));
    live.signal("KILL");
    live.end();
    dir.write("keys.txt", &keys);
    let file = line.replace(" - ", " keys.txt ");
    refused(&dir, &file, &["is an unfinished plan", "--force", "stream"]);
    refused(&dir, &format!("{file} --resume"), &["input \"-\"", "\"keys.txt\""]);
    dir.ok(&format!("{file} --force"));
}

#[test]
fn a_missing_plan_is_made_and_a_finished_one_is_left_alone() {
    let dir = Dir::with_clusters(5000);
    let line = "plan --from c10.toml --to c11.toml keys.txt -o plan --part-rows 700 --resume";
    let run = dir.ok(&format!("{line} --timings"));
    assert_eq!(reused(&run), (0, 8));
    let stamp = || std::fs::metadata(dir.path("plan/manifest.json")).expect("a file").modified().expect("a time");
    let (made, before) = (stamp(), dir.tree(""));
    let run = dir.ok(&format!("{line} --timings --json")).says(&["the plan is finished"]);
    assert_eq!(reused(&run), (8, 8));
    assert_eq!(run.json(), serde_json::from_str::<serde_json::Value>(&dir.text("plan/summary.json")).expect("JSON"));
    assert!(dir.tree("") == before && stamp() == made);
    // Touched, and nothing else.
    dir.sh("touch -d 2020-01-01 keys.txt").succeeds();
    dir.ok(line);
    assert!(dir.tree("") == before && stamp() == made);
    // Bad rows are the plan's, whoever made it.
    dir.write("bad.txt", "1\nx\n2\n");
    let line = "plan --from c10.toml --to c11.toml bad.txt --key-type u64 --bad-rows skip -o bad --resume";
    dir.run(line).exits(3);
    dir.run(line).exits(3).says(&["the plan is finished"]);
    refused(&dir, &line.replace("skip", "stop"), &["bad: ", "--bad-rows: was \"skip\" and is \"stop\""]);
}

#[test]
fn a_finished_plan_of_something_else_is_refused() {
    let dir = Dir::with_clusters(5000);
    let line = "plan --from c10.toml --to c11.toml keys.txt -o plan --part-rows 700 --resume";
    dir.ok(line);
    dir.ok("cluster weight c11.toml node-3=0.5 -o light.toml");
    dir.sh("sed s/^user:2$/user:3/ keys.txt > same.txt; cp keys.txt copy.txt; head -n 4000 keys.txt > less.txt; \
            (cat keys.txt; echo more) > more.txt; mkdir in")
        .succeeds();
    refused(&dir, &line.replace("c11", "light"), &["plan: ", "\"to\"", "\"node-3\"", "weight"]);
    refused(&dir, &line.replace("keys.txt", "copy.txt"), &["plan: ", "\"keys.txt\"", "\"copy.txt\""]);
    for (name, says) in [("same", "other keys in rows 0 to 699"), ("less", "bytes and is"), ("more", "bytes and is")] {
        dir.sh(&format!("cp {name}.txt in/keys.txt")).succeeds();
        refused(&dir, &line.replace("keys.txt", "in/keys.txt"), &["plan: ", says]);
    }
    refused(&dir, &format!("{line} --summary-only"), &["plan: ", "--summary-only: was false and is true"]);
    refused(&dir, &line.replace("700", "900"), &["plan: ", "--part-rows: was 700 and is 900"]);
    // A copy elsewhere under the same name is the same input.
    dir.sh("cp keys.txt in/keys.txt").succeeds();
    dir.ok(&line.replace("keys.txt", "in/keys.txt"));
    dir.sh("cp -r plan kept").succeeds();
    for damage in [
        "printf x | dd of=plan/moves/part-00003.parquet bs=1 seek=9 conv=notrunc 2> /dev/null",
        "rm plan/moves/part-00003.parquet",
        "truncate -s 20 plan/flows.csv",
        "sed -i 's/\"moved\": /\"moved\": 1/' plan/summary.json",
        "sed -i 's/\"bad_rows\": 0/\"bad_rows\": 1/' plan/manifest.json",
    ] {
        dir.sh(&format!("rm -rf plan; cp -r kept plan; {damage}")).succeeds();
        refused(&dir, line, &["plan: ", "was altered", "--force"]);
    }
    dir.ok(&format!("{} --force", line.replace(" --resume", "")));
    assert!(dir.tree("plan") == dir.tree("kept"));
}

#[test]
fn changed_options_are_named() {
    let dir = stopped();
    for (line, says) in [
        (LINE.replace("2000", "3000"), "--part-rows: was 2000 and is 3000"),
        (LINE.replace("u64", "i64"), "--key-type: was \"u64\" and is \"i64\""),
        (format!("{LINE} --blank keep"), "--blank: was \"skip\" and is \"keep\""),
        (format!("{LINE} --bad-rows skip"), "--bad-rows: was \"stop\" and is \"skip\""),
        (LINE.replace("--column id", "--column other"), "--column: was \"id\" and is \"other\""),
        (format!("{LINE} --size-column bytes"), "--size-column: was not given and is \"bytes\""),
        (format!("{LINE} --summary-only"), "--summary-only: was false and is true"),
        (format!("{LINE} --allow-rehash"), "--allow-rehash: was false and is true"),
        (format!("{LINE} --delimiter ,"), "--delimiter: was not given and is \",\""),
    ] {
        refused(&dir, &format!("{line} --resume"), &["plan.partial", "was made with something else", says, "--force"]);
    }
    refused(
        &dir,
        &format!("{LINE} --input-format lines --resume").replace("--column id", ""),
        &["--input-format: was \"csv\" and is \"lines\""],
    );
    // What changes no byte may change.
    is_finished(&dir, &format!("{LINE} --threads 1 --chunk-rows 77 --quiet"));
}

#[test]
fn changed_options_are_named_even_where_the_input_must_be_read_again() {
    let dir = stopped();
    dir.sh("touch -d 2020-01-01 ids.csv").succeeds();
    for (line, says) in [
        (LINE.replace("2000", "3000"), "--part-rows: was 2000 and is 3000"),
        (LINE.replace("u64", "text"), "--key-type: was \"u64\" and is \"text\""),
        (LINE.replace("--column id", "--column other"), "--column: was \"id\" and is \"other\""),
        (format!("{LINE} --size-column bytes"), "--size-column: was not given and is \"bytes\""),
    ] {
        refused(&dir, &format!("{line} --resume"), &["plan.partial", "was made with something else", says]);
    }
    is_finished(&dir, LINE).says(&["note: the inputs have other time stamps"]);
}

#[test]
fn changed_clusters_are_named() {
    let dir = stopped();
    dir.ok("cluster weight c11.toml node-3=0.5 -o light.toml");
    dir.ok("cluster remove c11.toml node-4 -o fewer.toml");
    dir.ok("cluster add c11.toml node-12 -o more.toml");
    dir.sh("sed 's/\"node-5\"/\"node-x\"/' c11.toml > renamed.toml").succeeds();
    dir.ok("cluster new s10.toml --algorithm dx --slots 16 --nodes 10 --seed 7");
    dir.ok("cluster add s10.toml node-10 -o s11.toml");
    for (name, says) in [
        ("light", &["cluster \"to\"", "\"node-3\"", "weight", "0.5"][..]),
        ("fewer", &["cluster \"to\"", "\"node-4\" is no longer there"]),
        ("more", &["cluster \"to\"", "\"node-12\" is new"]),
        ("renamed", &["cluster \"to\"", "\"node-5\" is no longer there", "\"node-x\" is new"]),
        ("c10", &["cluster \"to\"", "\"node-10\" is no longer there"]),
    ] {
        refused(&dir, &format!("{LINE} --resume").replace("c11", name), &[&["plan.partial"], says].concat());
    }
    refused(&dir, &format!("{LINE} --resume").replace("c10", "light"), &["cluster \"from\"", "\"node-3\"", "0.5"]);
    let seeded = format!("{LINE} --resume").replace("c10", "s10").replace("c11", "s11");
    refused(&dir, &seeded, &["cluster \"from\"", "cluster \"to\"", "seed", "7"]);
    // The same cluster from another file, written in another way.
    dir.sh("(echo '# kept'; cat c10.toml) > again.toml").succeeds();
    is_finished(&dir, &LINE.replace("c10", "again"));
}

#[test]
fn changed_inputs_are_named() {
    let dir = stopped();
    dir.sh("cp ids.csv kept.csv; mv ids.csv other.csv").succeeds();
    let resume = format!("{LINE} --resume");
    refused(&dir, &resume, &["ids.csv", "cannot open"]);
    refused(&dir, &resume.replace("ids.csv", "other.csv"), &["plan.partial", "\"ids.csv\"", "\"other.csv\""]);
    dir.sh("(cat kept.csv; echo 1,2,3) > ids.csv").succeeds();
    refused(&dir, &resume, &["plan.partial", "input \"ids.csv\" was", "bytes and is"]);
    dir.sh("head -n 100 kept.csv > ids.csv").succeeds();
    refused(&dir, &resume, &["plan.partial", "input \"ids.csv\" was", "bytes and is"]);
    // The same length, and other bytes.
    let kept = dir.text("kept.csv");
    let mut rows: Vec<&str> = kept.lines().collect();
    rows.swap(2500, 2501);
    dir.write("ids.csv", rows.join("\n") + "\n");
    refused(&dir, &resume, &["plan.partial", "other keys in rows 2000 to 3999"]);
    // The same keys and the same length, but the rows of later parts begin elsewhere.
    let mut shifted = kept.replacen("\n", "\r\n", 1000).into_bytes();
    shifted.truncate(kept.len());
    dir.write("ids.csv", shifted);
    refused(&dir, &resume, &["plan.partial", "other bytes in rows 0 to 1999"]);
    // A copy is read again and accepted.
    dir.sh("cp kept.csv ids.csv").succeeds();
    is_finished(&dir, LINE).says(&["note: the inputs have other time stamps"]);
}

#[test]
fn a_plan_without_a_finished_part_binds_nobody() {
    let dir = stopped();
    let header = dir.text("plan.partial/journal.jsonl").split_inclusive('\n').next().expect("a header").to_owned();
    for more in ["", "--resume"] {
        dir.sh(
            "rm -rf plan plan.partial && mkdir -p plan.partial/moves && echo > plan.partial/moves/part-00000.parquet",
        )
        .succeeds();
        dir.write("plan.partial/journal.jsonl", &header);
        dir.ok(&format!("{LINE} {more}")
            .replace("2000", "3000")
            .replace("ids.csv", "keys.txt")
            .replace("--column id", "")
            .replace("--key-type u64", ""));
    }
}

#[test]
fn an_unfinished_plan_is_replaced_only_with_force() {
    let dir = stopped();
    refused(&dir, LINE, &["plan.partial", "is an unfinished plan", "--resume to finish it", "--force to start anew"]);
    // Nor is it thrown away for a run that cannot even begin.
    refused(&dir, &format!("{LINE} --force").replace("ids.csv", "typo.csv"), &["typo.csv", "cannot open"]);
    refused(&dir, &format!("{LINE} --force").replace("--column id", "--column typo"), &["no column \"typo\""]);
    let run = dir.ok(&format!("{LINE} --force --timings"));
    assert_eq!(reused(&run).0, 0);
    assert!(dir.tree("plan") == dir.tree("undisturbed") && !dir.exists("plan.partial"));
}

#[test]
fn force_and_resume_go_on_with_the_plan_that_is_to_replace_another() {
    let dir = stopped();
    dir.ok("plan --from c11.toml --to c10.toml keys.txt -o old");
    let old = dir.tree("old");
    dir.sh("mv old plan").succeeds();
    // Without --force, the finished plan is what counts, and it is another.
    refused(&dir, &format!("{LINE} --resume"), &["plan: ", "was made with something else", "\"to\""]);
    refused(&dir, LINE, &["plan: already exists", "--force"]);
    refused(&dir, &format!("{LINE} --force --resume --blank keep"), &["plan.partial", "--blank"]);
    assert!(dir.tree("plan") == old);
    let run = dir.ok(&format!("{LINE} --force --resume --timings"));
    assert!(reused(&run).0 >= 8, "{}", run.shown());
    assert!(dir.tree("plan") == dir.tree("undisturbed") && !dir.exists("plan.partial"));
}

#[test]
fn a_folder_of_something_else_is_never_touched() {
    let dir = Dir::with_clusters(100);
    let line = "plan --from c10.toml --to c11.toml keys.txt -o plan";
    dir.ok(&line.replace("-o plan", "-o another"));
    for make in [
        "mkdir plan.partial; echo precious > plan.partial/notes.txt",
        "mkdir -p plan.partial/moves; echo precious > plan.partial/moves/notes.txt",
        "mkdir plan.partial; ln -s ../another/moves plan.partial/moves",
        "ln -s another plan.partial",
        "ln -s nowhere plan.partial",
        "echo precious > plan.partial",
        "mkdir plan; echo precious > plan/notes.txt",
        "ln -s nowhere plan",
        "ln -s another plan",
    ] {
        dir.sh(make).succeeds();
        // Links lead nowhere, so not every name is a file.
        let shown = || dir.sh("ls -lR --time-style=full-iso; cat plan*/notes.txt plan* another/moves/* | cksum").out;
        let before = shown();
        for more in [" --resume", " --force", " --force --resume"] {
            dir.run(&format!("{line}{more}")).fails(&["plan", "is there and is no"]);
            assert_eq!(shown(), before, "{make}");
        }
        dir.sh("rm -rf plan plan.partial").succeeds();
    }
}

#[test]
fn an_unfinished_plan_of_another_version_is_refused() {
    let dir = stopped();
    let journal = dir.text("plan.partial/journal.jsonl");
    let (header, rest) = journal.split_once('\n').expect("a header");
    let header = header[9..].replacen("\"format\":2", "\"format\":3", 1);
    let sealed = format!("{:08x} {header}\n{rest}", crc32fast::hash(header.as_bytes()));
    dir.write("plan.partial/journal.jsonl", sealed);
    refused(&dir, &format!("{LINE} --resume"), &["plan.partial", "another version of rehome", "--force"]);
    refused(&dir, LINE, &["plan.partial", "another version of rehome", "--force"]);
    dir.ok(&format!("{LINE} --force"));
}
