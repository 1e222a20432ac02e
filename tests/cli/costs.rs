//! Clusters of many nodes: what costs much says so before anything is allocated, and what costs very much asks.

use crate::support::{Dir, small_integer_keys};

#[test]
fn clusters_of_65536_nodes() {
    let dir = Dir::new();
    dir.write("ids.txt", small_integer_keys(1000));
    for algorithm in rehome::algorithms() {
        let run = dir.ok(&format!("cluster new c.toml --algorithm {} --nodes 65536 --force", algorithm.name));
        match algorithm.name {
            // 16.8 million tokens.
            "ring" | "lrh" => drop(run.says(&["note: ", "over 65536 nodes takes about 192", "MiB of memory"])),
            _ => drop(run.stays_quiet()),
        }
    }
    // With fewer tokens where the default ones would take long to sort.
    for words in ["modulo", "jump", "anchor", "dx", "multi-probe", "ring --tokens 8", "lrh --tokens 8", "rendezvous"] {
        dir.ok(&format!("cluster new c.toml --nodes 65536 --force --algorithm {words}"));
        let json = dir.ok("count --cluster c.toml --key-type u32 ids.txt --json").json();
        assert_eq!((&json["keys"], &json["unplaced"]), (&1000.into(), &0.into()), "{words}");
    }
}

/// The memory is named from the description alone, so it is not yet taken.
#[test]
fn what_costs_very_much_asks_and_allocates_nothing_before() {
    let dir = Dir::new();
    dir.write("keys.txt", "a\nb\n");
    let asks = |line: &str, parts: &[&str]| {
        let before = dir.names();
        dir.run(line).fails(&["pass --yes if that is what you want"]).says(parts);
        assert_eq!(dir.names(), before, "{line} left something");
    };
    for (words, steps) in [
        ("ring --tokens 1000000000", "a step"),
        ("lrh --tokens 1000000000", "3 steps"),
        ("multi-probe --tokens 1000000000", "21 steps"),
        ("maglev --size 4294967291", "a step"),
        ("sach --size 4294967291", "a step"),
    ] {
        let algorithm = words.split(' ').next().expect("a name");
        let cost = format!("{algorithm} over 3 nodes takes about");
        let parts = [cost.as_str(), "GiB of memory", "while it is built", steps, "per lookup"];
        let new = format!("cluster new c.toml --nodes 3 --algorithm {words}");
        asks(&new, &parts);
        // A file that was made with --yes asks again where it would be compiled, not where it is only read.
        dir.ok(&format!("{new} --yes --force"));
        dir.ok("cluster show c.toml");
        dir.ok("cluster check c.toml");
        for line in [
            "locate --cluster c.toml keys.txt -o out.csv",
            "count --cluster c.toml keys.txt",
            "plan --from c.toml --to c.toml keys.txt -o plan",
            "compare --from c.toml --to c.toml keys.txt",
            "hash a --cluster c.toml",
            "cluster convert c.toml --to ring --tokens 2000000000 -o d.toml",
        ] {
            asks(line, &["over 3 nodes takes about", "GiB of memory"]);
        }
        dir.sh("rm c.toml").succeeds();
    }
}

/// Rendezvous takes little memory, but a step per node and lookup.
#[test]
fn a_million_steps_per_lookup_ask_too() {
    let dir = Dir::new();
    let names: String = (0..1_100_000).map(|number| format!("n{number}\n")).collect();
    dir.write("nodes.csv", format!("name\n{names}"));
    dir.write("keys.txt", "a\nb\n");
    let cost = ["rendezvous over 1100000 nodes takes about", "1100000 steps per lookup", "--yes"];
    dir.run("cluster new c.toml --node-table nodes.csv --algorithm rendezvous").fails(&cost);
    assert!(!dir.exists("c.toml"));
    dir.ok("cluster new c.toml --node-table nodes.csv --algorithm rendezvous --yes");
    dir.run("locate --cluster c.toml keys.txt -o out.csv").fails(&cost);
    dir.ok("locate --cluster c.toml keys.txt -o out.csv --yes");
}

/// One node joins ten million; describing the clusters is what takes the time.
#[test]
#[ignore = "two minutes; tests/run runs it with the large inputs"]
fn dx_jump_and_anchor_take_ten_million_nodes() {
    let dir = Dir::new();
    let run = dir.ok("compare --nodes 10000000 --join 1 --keys 100000 --algorithms dx,jump,anchor --quiet");
    let rows: Vec<Vec<&str>> = run.out.lines().map(|line| line.split_whitespace().collect()).collect();
    for algorithm in ["dx", "jump", "anchor"] {
        let row = rows.iter().find(|row| row.first() == Some(&algorithm)).unwrap_or_else(|| panic!("{}", run.shown()));
        // Moved, in per cent, ideal, in per cent, excess.
        assert_eq!((row[2], row[3], row[6]), ("0.00", "%", "0"), "{}", run.shown());
    }
}
