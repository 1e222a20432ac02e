//! `rehome verify` on what is no plan, or one that nobody would write.

use crate::planted::{both_find, copy, dir_with_plan, finds, manifest, seal};

#[test]
fn what_is_no_finished_plan_of_this_version_is_an_error() {
    let dir = dir_with_plan();
    dir.run("verify nowhere").fails(&["nowhere: there is no such plan directory", "rehome plan -o"]);
    dir.run("verify keys.txt").fails(&["keys.txt: there is no such plan directory"]);
    dir.sh("mkdir empty").succeeds();
    dir.run("verify empty").fails(&["empty: this is no finished plan: it has no manifest.json", "--resume"]);
    // As a run that was stopped leaves it.
    dir.sh("cp -r plan plan.partial && rm plan.partial/manifest.json").succeeds();
    dir.sh("mv plan away").succeeds();
    for name in ["plan", "plan/", "./plan"] {
        dir.run(&format!("verify {name}")).fails(&["plan", "it is unfinished, and `rehome plan --resume` finishes it"]);
    }
    dir.sh("mv away plan").succeeds();
    dir.run("verify plan.partial keys.txt").fails(&["plan.partial: this is no finished plan", "--resume"]);
    for (old, new, parts) in [
        (
            "\"format\": 2",
            "\"format\": 1",
            ["version 1 of the plan directory is no longer read", "make the plan again"],
        ),
        ("\"format\": 2", "\"format\": 3", ["version 3 is newer than this program", "use a newer rehome"]),
        ("\"v1\"", "\"v2\"", ["made with placement functions \"v2\"", "use the rehome that made it"]),
    ] {
        copy(&dir);
        crate::planted::edit(&dir, "manifest.json", old, new);
        for line in
            ["verify copy", "verify copy keys.txt", "plan --from c10.toml --to c11.toml keys.txt --check-against copy"]
        {
            dir.run(line).fails(&["copy/manifest.json: "]).says(&parts);
        }
    }
    dir.run("verify").misused(&["<DIR>"]);
    dir.run("verify plan --column x").misused(&["--column"]);
    dir.run("verify plan keys.txt --threads 5000").misused(&["--threads"]);
}

#[test]
fn a_manifest_that_cannot_be_understood_is_a_difference() {
    let dir = dir_with_plan();
    let text = dir.text("plan/manifest.json");
    let deep = format!("\"options\": {}{}, \"inputs\"", "[".repeat(100_000), "]".repeat(100_000));
    for broken in [
        text[..text.len() / 2].to_owned(),
        String::new(),
        "[]".to_owned(),
        "\u{0}".to_owned(),
        text.replace("\"rows\": 1000", "\"rows\": -1"),
        text.replace("\"rows\": 1000", "\"rows\": 1e30"),
        text.replace("\"rows\": 1000", "\"rows\": 99999999999999999999999"),
        text.replace("\"rows\": 1000", "\"rows\": \"1000\""),
        text.replace("\"options\"", "\"options\": {}, \"options\""),
        text.replace("\"options\"", &format!("{deep}: [], \"options\"")),
        text.replace("\"crc32\"", "\"crc\""),
    ] {
        copy(&dir);
        dir.write("copy/manifest.json", &broken);
        both_find(&dir, "keys.txt", &["manifest.json: not a manifest of a plan: "]);
    }
}

#[test]
fn absurd_values_are_differences() {
    let dir = dir_with_plan();
    type Edit = fn(&mut serde_json::Value);
    let edits: [(Edit, &str); 10] = [
        (|manifest| manifest["parts"][0]["rows"] = u64::MAX.into(), "part 0 has 18446744073709551615 rows"),
        (|manifest| manifest["parts"][1]["first_row"] = u64::MAX.into(), "from row 18446744073709551615 on"),
        (|manifest| manifest["parts"][2]["moves"] = u64::MAX.into(), "part 2 has 18446744073709551615 moves"),
        (|manifest| manifest["parts"][2]["bad_rows"] = u64::MAX.into(), "18446744073709551615 of them bad"),
        (|manifest| manifest["inputs"][0]["bad_rows"] = u64::MAX.into(), "18446744073709551615 of them bad"),
        (|manifest| manifest["files"][0]["bytes"] = u64::MAX.into(), "bytes instead of 18446744073709551615"),
        (|manifest| manifest["parts"] = serde_json::json!([]), "the parts 0, 0 of them bad"),
        (|manifest| manifest["files"] = serde_json::json!([]), "manifest.json: it does not name flows.csv"),
        (|manifest| manifest["options"] = serde_json::json!(null), "manifest.json: part 0 has 1000 rows"),
        (
            |manifest| {
                let file = manifest["files"][0].clone();
                manifest["files"].as_array_mut().expect("files").push(file);
            },
            "manifest.json: it names a file twice",
        ),
    ];
    for (edit, what) in edits {
        copy(&dir);
        seal(&dir, edit);
        both_find(&dir, "keys.txt", &[what]);
    }
}

#[test]
fn nothing_outside_the_directory_is_read() {
    let dir = dir_with_plan();
    dir.write("secret.csv", "the secret\n");
    let outside = dir.path("secret.csv").to_string_lossy().into_owned();
    for path in ["../secret.csv", "moves/../../secret.csv", "./flows.csv", outside.as_str(), "", "moves", "."] {
        copy(&dir);
        seal(&dir, |manifest| manifest["files"][3]["path"] = path.into());
        for run in
            both_find(&dir, "keys.txt", &[&format!("manifest.json: it names {path:?}, which is no file of this plan")])
        {
            assert!(!run.out.contains("the secret"), "{}", run.shown());
        }
    }
    // Links lead out too, and pipes wait for ever.
    for name in ["flows.csv", "nodes.csv", "summary.json", "moves/part-00001.parquet"] {
        copy(&dir);
        dir.sh(&format!("rm copy/{name} && ln -s {outside} copy/{name}")).succeeds();
        seal(&dir, |_| ());
        for run in
            both_find(&dir, "keys.txt", &[&format!("{name}: is behind a symbolic link, which is not followed\n")])
        {
            assert!(!run.out.contains("the secret"), "{}", run.shown());
        }
        copy(&dir);
        dir.sh(&format!("rm copy/{name} && mkfifo copy/{name}")).succeeds();
        both_find(&dir, "keys.txt", &[&format!("{name}: is no regular file\n")]);
        copy(&dir);
        dir.sh(&format!("rm copy/{name} && mkdir copy/{name}")).succeeds();
        both_find(&dir, "keys.txt", &[&format!("{name}: is no regular file\n")]);
    }
    copy(&dir);
    dir.sh("rm -rf elsewhere && mv copy/moves elsewhere && ln -s ../elsewhere copy/moves").succeeds();
    both_find(&dir, "keys.txt", &["moves/part-00000.parquet: is behind a symbolic link", "moves: is there, and"]);
    copy(&dir);
    dir.sh("rm -r copy/moves && touch copy/moves").succeeds();
    both_find(&dir, "keys.txt", &["moves/part-00000.parquet: is missing", "moves: is there, and"]);
    copy(&dir);
    dir.sh("rm copy/manifest.json && mkfifo copy/manifest.json").succeeds();
    dir.run("verify copy").fails(&["copy/manifest.json: cannot read: is no regular file"]);
}

#[test]
fn names_of_files_do_not_steer_the_terminal() {
    let dir = dir_with_plan();
    copy(&dir);
    dir.write("copy/\u{1b}[2Jgone\n", "");
    both_find(&dir, "keys.txt", &["\\u{1b}[2Jgone\\n: is there, and the manifest does not name it\n"]);
}

#[test]
fn a_hundred_thousand_parts_that_are_not_there_take_no_time() {
    let dir = dir_with_plan();
    copy(&dir);
    let mut altered = manifest(&dir);
    let part = altered["parts"][2].clone();
    let file = altered["files"][2].clone();
    for number in 3..100_000_u64 {
        let (mut part, mut file) = (part.clone(), file.clone());
        part["first_row"] = (number * 1000).into();
        file["path"] = format!("moves/part-{number:05}.parquet").into();
        altered["parts"].as_array_mut().expect("parts").push(part);
        altered["files"].as_array_mut().expect("files").push(file);
    }
    dir.write("copy/manifest.json", format!("{altered:#}\n"));
    let start = std::time::Instant::now();
    finds(&dir, "keys.txt", &["moves/part-99999.parquet: is missing", "inputs: "]);
    let seconds = start.elapsed().as_secs();
    assert!(seconds < 60, "{seconds} s");
}
