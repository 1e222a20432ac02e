//! Unfinished plans as a power loss may leave them: any length of the journal, any part, rubbish behind. What is whole is
//! reused, and the rest is made again.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZero;

use rehome::engine::{Job, Want};
use rehome::io::{Input, Position, ReadOptions, Source, open_at};
use rehome::plan::{Existing, PlanTask, Prepared};
use rehome::{Cluster, Engine};

use crate::support::{Dir, text_keys};

const PART_ROWS: NonZero<u64> = NonZero::new(10).expect("not zero");

/// Two small clusters, 35 keys in three files of one name, the undisturbed plan, and one in which only the sums are missing, by the library.
struct Unfinished {
    dir: Dir,
    /// The files of the unfinished plan.
    files: BTreeMap<String, Vec<u8>>,
    /// The files of the finished one.
    finished: BTreeMap<String, Vec<u8>>,
}

/// The inputs; one of them is empty.
fn inputs(dir: &Dir) -> Vec<Input> {
    ["one", "none", "two"].map(|folder| Input::from(Source::Path(dir.path(folder).join("keys.txt")))).to_vec()
}

/// To make or to resume the plan `plan`.
fn task(dir: &Dir, plan: &str, inputs: Vec<Input>) -> PlanTask {
    let cluster = |name: &str| Cluster::from_path(dir.path(name)).expect("a cluster");
    PlanTask {
        from: cluster("a.toml"),
        to: cluster("b.toml"),
        inputs,
        target: Some(dir.path(plan)),
        against: None,
        existing: Existing { force: false, resume: true },
        summary_only: false,
        part_rows: PART_ROWS,
    }
}

/// Makes or resumes the plan `plan`, and stops it before the sums are written if `stops`. Returns how many parts were
/// reused.
fn make(dir: &Dir, plan: &str, stops: bool) -> usize {
    let inputs = inputs(dir);
    let task = task(dir, plan, inputs.clone());
    let placements = [&task.from, &task.to].map(|cluster| cluster.placement().expect("a placement")).to_vec();
    let Prepared::Make(mut maker) = task.prepare().expect("a place") else { panic!("{plan} is there already") };
    let options = ReadOptions { part_rows: Some(PART_ROWS), ..ReadOptions::default() };
    let mut reader = open_at(inputs, options, maker.position()).expect("an input");
    maker.begin(serde_json::json!({"part_rows": 10}), reader.key_field(), false).expect("a place");
    let engine = Engine::builder().threads(1).build().expect("an engine");
    let job = Job { placements, want: Want::Nodes };
    engine.stream(&job, reader.by_ref(), |chunk, nodes| maker.add(chunk, nodes)).expect("keys");
    if stops {
        // The sums cannot be written, as on a full disk.
        dir.write(&format!("{plan}.partial/flows.csv"), "");
        let error = maker.finish(reader.last_finished()).expect_err("no place for the sums");
        assert!(error.to_string().contains("flows.csv"), "{error}");
        return 0;
    }
    maker.finish(reader.last_finished()).expect("a plan").reused
}

impl Unfinished {
    fn new() -> Self {
        let dir = Dir::new();
        dir.ok("cluster new a.toml --algorithm dx --node x --node y");
        dir.ok("cluster add a.toml z -o b.toml");
        dir.sh("mkdir one none two && touch none/keys.txt").succeeds();
        dir.write("one/keys.txt", text_keys(17));
        dir.write("two/keys.txt", text_keys(18).replace("user:", "more:"));
        make(&dir, "undisturbed", false);
        make(&dir, "plan", true);
        dir.sh("rm plan.partial/flows.csv").succeeds();
        let (files, finished) = (dir.tree("plan.partial"), dir.tree("undisturbed"));
        assert_eq!(files.len(), 5, "four parts and the journal: {:?}", files.keys());
        dir.sh("rm -r plan.partial").succeeds();
        Self { dir, files, finished }
    }

    /// Puts files into the folder of the unfinished plan.
    fn put(&self, files: &BTreeMap<String, Vec<u8>>) {
        fs::create_dir_all(self.dir.path("plan.partial/moves")).expect("a folder");
        for (path, bytes) in files {
            self.dir.write(&format!("plan.partial/{path}"), bytes);
        }
    }

    /// Puts files into the folder of the unfinished plan, resumes it, and compares it with the undisturbed one. Returns
    /// how many parts were reused.
    #[track_caller]
    fn finish(&self, files: &BTreeMap<String, Vec<u8>>, what: &str) -> usize {
        self.put(files);
        let reused = make(&self.dir, "plan", false);
        assert!(self.dir.tree("plan") == self.finished, "{what}: other bytes");
        assert!(!self.dir.exists("plan.partial"), "{what}");
        fs::remove_dir_all(self.dir.path("plan")).expect("a folder");
        reused
    }

    fn journal(&self) -> &[u8] {
        &self.files["journal.jsonl"]
    }

    fn journal_text(&self) -> &str {
        std::str::from_utf8(self.journal()).expect("JSON")
    }
}

#[test]
fn a_journal_of_any_length_is_resumed_behind_its_last_whole_line() {
    let plan = Unfinished::new();
    for length in 0..=plan.journal().len() {
        let mut files = plan.files.clone();
        files.get_mut("journal.jsonl").expect("a journal").truncate(length);
        let whole = plan.journal()[..length].iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(plan.finish(&files, &format!("{length} bytes")), whole.saturating_sub(1), "{length} bytes");
    }
}

#[test]
fn a_resumed_run_that_is_stopped_leaves_no_less_than_the_one_before() {
    let plan = Unfinished::new();
    let length = plan.journal().len();
    for damage in [0, 1, 100, length / 2, length - 1, length] {
        let mut files = plan.files.clone();
        files.get_mut("journal.jsonl").expect("a journal").truncate(damage);
        for rubbish in ["", "rubbish", "\n", "00000000 {}\n"] {
            files.get_mut("journal.jsonl").expect("a journal").extend(rubbish.bytes());
            plan.put(&files);
            make(&plan.dir, "plan", true);
            fs::remove_file(plan.dir.path("plan.partial/flows.csv")).expect("a file");
            assert!(plan.dir.tree("plan.partial") == plan.files, "{damage} bytes and {rubbish:?}");
        }
    }
    assert_eq!(plan.finish(&plan.files, "at last"), 4);
}

#[test]
fn a_damaged_line_of_the_journal_ends_what_is_trusted() {
    let plan = Unfinished::new();
    for at in (0..plan.journal().len()).step_by(7) {
        for damage in [|byte: &mut u8| *byte ^= 1, |byte: &mut u8| *byte = 0, |byte: &mut u8| *byte = b'\n'] {
            let mut files = plan.files.clone();
            let journal = files.get_mut("journal.jsonl").expect("a journal");
            let before = journal[at];
            damage(&mut journal[at]);
            if journal[at] == before {
                continue;
            }
            let whole = plan.journal()[..at].iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(plan.finish(&files, &format!("byte {at}")), whole.saturating_sub(1), "byte {at}");
        }
    }
    // Lines that were lost in the middle, and one that is there twice.
    let lines: Vec<&[u8]> = plan.journal().split_inclusive(|byte| *byte == b'\n').collect();
    for (order, reused) in [(&[0, 2, 3][..], 0), (&[0, 1, 3], 1), (&[0, 1, 1, 2], 1), (&[1, 2], 0), (&[0, 0, 1], 0)] {
        let mut files = plan.files.clone();
        files.insert("journal.jsonl".to_owned(), order.iter().flat_map(|line| lines[*line]).copied().collect());
        assert_eq!(plan.finish(&files, &format!("{order:?}")), reused, "{order:?}");
    }
}

#[test]
fn a_damaged_part_is_made_again_with_all_behind_it() {
    let plan = Unfinished::new();
    for part in 0..4 {
        let path = format!("moves/part-{part:05}.parquet");
        let bytes = &plan.files[&path];
        let mut damaged: Vec<Option<Vec<u8>>> = vec![None, Some(Vec::new()), Some(bytes[..bytes.len() - 1].to_vec())];
        damaged.push(Some([bytes.as_slice(), b"\0"].concat()));
        damaged.extend((0..bytes.len()).step_by(bytes.len() / 5).map(|at| {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x10;
            Some(bytes)
        }));
        for (number, damaged) in damaged.into_iter().enumerate() {
            let mut files = plan.files.clone();
            files.remove(&path);
            files.extend(damaged.map(|bytes| (path.clone(), bytes)));
            assert_eq!(plan.finish(&files, &format!("{path}, damage {number}")), part, "{path}, damage {number}");
        }
    }
    // Two parts that changed places.
    let mut files = plan.files.clone();
    let [first, second] = [0, 1].map(|part| format!("moves/part-{part:05}.parquet"));
    files.insert(first.clone(), plan.files[&second].clone());
    files.insert(second, plan.files[&first].clone());
    assert_eq!(plan.finish(&files, "swapped"), 0);
}

#[test]
fn rubbish_behind_the_finished_parts_is_removed() {
    let plan = Unfinished::new();
    let mut files = plan.files.clone();
    files.insert("moves/part-00004.parquet".to_owned(), b"PAR1".to_vec());
    files.insert("moves/part-99999.parquet".to_owned(), Vec::new());
    for (name, bytes) in &plan.finished {
        if name.ends_with(".csv") || name.ends_with(".json") {
            // Half of each, as if the run had been killed while it wrote the sums.
            files.insert(name.clone(), bytes[..bytes.len() / 2].to_vec());
        }
    }
    assert_eq!(plan.finish(&files, "half-written sums"), 4);
    // All of it there but the final name, and the journal not yet removed.
    files = plan.finished.clone();
    files.insert("journal.jsonl".to_owned(), plan.journal().to_vec());
    assert_eq!(plan.finish(&files, "a manifest and a journal"), 4);
    // Nothing but rubbish.
    files = plan.files.clone();
    files.remove("journal.jsonl");
    assert_eq!(plan.finish(&files, "no journal"), 0);
    files.insert("manifest.json".to_owned(), plan.finished["manifest.json"][..100].to_vec());
    assert_eq!(plan.finish(&files, "half a manifest and no journal"), 0);
}

#[test]
fn inputs_of_one_name_are_not_taken_for_each_other() {
    let plan = Unfinished::new();
    plan.put(&plan.files);
    let task = |inputs: Vec<Input>| task(&plan.dir, "plan", inputs);
    let error = |inputs: Vec<Input>| task(inputs).prepare().expect_err("other inputs").to_string();
    let [one, none, two] = inputs(&plan.dir).try_into().expect("three");
    assert!(error(vec![two.clone(), none.clone(), one.clone()]).contains("input \"keys.txt\" was"));
    assert!(error(vec![one.clone(), none.clone()]).contains("there were 3 inputs and are 2"));
    // Even at one length each.
    plan.dir.write("one/other.txt", plan.dir.text("one/keys.txt").replace("user:1", "user:2"));
    plan.dir.sh("mv one/other.txt one/keys.txt").succeeds();
    let Ok(Prepared::Make(maker)) = task(vec![one, none, two]).prepare() else { panic!("refused by its length") };
    assert!(maker.doubts_inputs());
    let options = ReadOptions { part_rows: Some(PART_ROWS), ..ReadOptions::default() };
    let reader = open_at(inputs(&plan.dir), options, Position::default()).expect("inputs");
    let error = maker.check_keys(&serde_json::json!({"part_rows": 10}), reader).expect_err("other keys");
    assert!(error.to_string().contains("other keys in rows 0 to 9"), "{error}");
}

#[test]
fn an_input_that_changes_after_it_was_looked_at_is_noticed() {
    let plan = Unfinished::new();
    plan.put(&plan.files);
    let prepare = || {
        let Ok(Prepared::Make(maker)) = task(&plan.dir, "plan", inputs(&plan.dir)).prepare() else { panic!("refused") };
        maker
    };
    let options = || serde_json::json!({"part_rows": 10});
    let key = open_at(inputs(&plan.dir), ReadOptions::default(), Position::default()).expect("inputs").key_field();
    // Between the comparison with the parts that are there and the opening: nothing is known of the file then.
    let replace = || plan.dir.sh("cp two/keys.txt two/new.txt && mv two/new.txt two/keys.txt").succeeds();
    let mut maker = prepare();
    replace();
    let error = maker.begin(options(), key.clone(), false).expect_err("a change").to_string();
    assert!(error.contains("changed while it was opened"), "{error}");
    drop(maker);
    assert!(plan.dir.tree("plan.partial") == plan.files);
    // At the start: what is read is the new file, and the stamp is that of the old one, so that a resume reads it again.
    plan.dir.sh("rm -r plan.partial").succeeds();
    let mut maker = prepare();
    replace();
    maker.begin(options(), key, false).expect("a place");
    maker.give_up(&rehome::Error::io("write", "", std::io::Error::other("a full disk")));
    drop(maker);
    let journal = plan.dir.text("plan.partial/journal.jsonl");
    assert_eq!(journal.lines().count(), 1);
    plan.dir.write("plan.partial/journal.jsonl", journal + plan.journal_text().split_once('\n').expect("a header").1);
    for (path, bytes) in plan.files.iter().filter(|(path, _)| path.starts_with("moves/")) {
        plan.dir.write(&format!("plan.partial/{path}"), bytes);
    }
    let maker = prepare();
    assert!(maker.reused() == 4 && maker.doubts_inputs());
}

#[test]
fn a_plan_that_lacks_only_its_name_gets_it() {
    let dir = Dir::with_clusters(20_000);
    let line = "plan --from c10.toml --to c11.toml keys.txt -o plan --part-rows 3000";
    dir.ok(line);
    let finished = dir.tree("plan");
    dir.sh("mv plan plan.partial").succeeds();
    // It is not thrown away by the way.
    dir.run(line).fails(&["plan.partial", "is an unfinished plan", "--resume", "--force"]);
    assert!(dir.tree("plan.partial") == finished);
    dir.run(&format!("{line} --resume").replace("c11", "c10")).fails(&["plan.partial", "\"to\"", "node-10"]);
    dir.run(&format!("{line} --resume --blank keep")).fails(&["plan.partial", "--blank"]);
    assert!(dir.tree("plan.partial") == finished);
    let run = dir.ok(&format!("{line} --resume --timings")).says(&["the plan is finished"]);
    assert_eq!(crate::resume::reused(&run), (7, 7));
    assert!(dir.tree("plan") == finished && !dir.exists("plan.partial"));
    dir.sh("mv plan plan.partial && printf x >> plan.partial/moves/part-00002.parquet").succeeds();
    dir.run(&format!("{line} --resume")).fails(&["plan.partial", "part-00002.parquet", "bytes", "--force"]);
    dir.ok(&format!("{line} --force"));
    assert!(dir.tree("plan") == finished && !dir.exists("plan.partial"));
}

#[test]
fn a_plan_that_got_its_name_before_the_one_it_replaced_was_gone_is_finished() {
    let dir = Dir::with_clusters(20_000);
    let line = "plan --from c10.toml --to c11.toml keys.txt -o plan --part-rows 3000";
    let resume = format!("{line} --force --resume --timings");
    dir.ok(line);
    dir.ok("plan --from c11.toml --to c10.toml keys.txt -o old --part-rows 3000");
    let finished = dir.tree("plan");
    // The replaced plan is another or the same, and some of it is gone already.
    for old in ["old", "plan"] {
        for gone in
            ["true", "rm plan.partial/nodes.csv", "rm plan.partial/moves/*0.parquet", "rm -r plan.partial/moves"]
        {
            dir.sh(&format!("cp -r {old} plan.partial && {gone}")).succeeds();
            let run = dir.ok(&resume).says(&["the plan is finished"]);
            assert_eq!(crate::resume::reused(&run), (7, 7));
            assert!(dir.tree("plan") == finished && !dir.exists("plan.partial"), "{old}, {gone}");
        }
    }
    // The other way round: the names are not exchanged yet.
    dir.sh("mv plan plan.partial && cp -r old plan").succeeds();
    let run = dir.ok(&resume).says(&["the plan is finished"]);
    assert_eq!(crate::resume::reused(&run), (7, 7));
    assert!(dir.tree("plan") == finished && !dir.exists("plan.partial"));
    // Neither is what is wanted.
    dir.sh("cp -r plan plan.partial").succeeds();
    let before = dir.tree("");
    dir.run(&resume.replace("c10", "c11")).fails(&["plan.partial", "\"from\"", "node-10"]);
    dir.run(&resume.replace("3000", "4000")).fails(&["plan.partial", "--part-rows: was 3000 and is 4000"]);
    assert!(dir.tree("") == before);
}
