//! Parameters of algorithms that cannot be, in files and as options: each is refused in every verb, with the file, the
//! field and what to do.

use crate::support::Dir;

const TWO: &str = "[[nodes]]\nname = \"a\"\n[[nodes]]\nname = \"b\"\n";
const SLOTTED: &str = "[[nodes]]\nname = \"a\"\nslot = 0\n[[nodes]]\nname = \"b\"\nslot = 1\n";

/// Every verb refuses a file of this algorithm, table and nodes.
#[track_caller]
fn refused(algorithm: &str, table: &str, nodes: &str, parts: &[&str]) {
    let dir = Dir::with_clusters(3);
    let table = if table.is_empty() { String::new() } else { format!("[{algorithm}]\n{table}\n") };
    dir.write("bad.toml", format!("version = 1\nalgorithm = \"{algorithm}\"\n{table}{nodes}"));
    let before = dir.names();
    for line in [
        "cluster check bad.toml",
        "cluster show bad.toml",
        "locate --cluster bad.toml keys.txt -o out.csv",
        "count --cluster bad.toml keys.txt",
        "plan --from c10.toml --to bad.toml keys.txt -o plan",
        "plan --from bad.toml --to c10.toml keys.txt -o plan",
        "compare --from bad.toml --to c10.toml keys.txt",
    ] {
        dir.run(line).fails(&["bad.toml"]).says(parts);
        assert_eq!(dir.names(), before, "{line} left something");
    }
}

#[test]
fn an_unknown_algorithm_names_those_that_exist() {
    let all = "dx, dx-crc32c, lrh, multi-probe, ring, rendezvous, maglev, sach, jump, anchor, modulo";
    refused("lhr", "", TWO, &["unknown algorithm \"lhr\"", all]);
    let dir = Dir::new();
    dir.run("cluster new c.toml --algorithm lhr --nodes 3").misused(&["'lhr'", all]);
    dir.run("compare --nodes 3 --join 1 --keys 10 --algorithms dx,lhr").misused(&["'lhr'", all]);
    assert!(dir.names().is_empty());
}

#[test]
fn an_unknown_parameter_names_those_that_exist() {
    refused("lrh", "tokens = 4\nwindw = 4", TWO, &["windw", "window"]);
    refused("multi-probe", "tokens = 4\nwindow = 4", TWO, &["window", "probes"]);
    let dir = Dir::new();
    let new = |words: &str| dir.run(&format!("cluster new c.toml --nodes 3 --algorithm {words}"));
    new("ring --window 3").fails(&["ring has no parameter \"window\" (lrh would)", "it has tokens"]);
    new("jump --tokens 3").fails(&["jump has no parameter \"tokens\"", "it has no parameters"]);
    new("lrh --wndow 3").misused(&["--wndow", "--window"]);
    new("lrh --weight-by hash").misused(&["hash", "score, tokens"]);
    assert!(dir.names().is_empty());
}

#[test]
fn numbers_below_one() {
    for (algorithm, parameter, default) in [
        ("ring", "tokens", 256),
        ("lrh", "tokens", 256),
        ("lrh", "window", 8),
        ("multi-probe", "tokens", 1),
        ("multi-probe", "probes", 21),
    ] {
        let text = format!("{algorithm} has {parameter} = 0: it must be 1 to 4294967295; the default is {default}");
        refused(algorithm, &format!("{parameter} = 0"), TWO, &[&text]);
        let dir = Dir::new();
        dir.run(&format!("cluster new c.toml --nodes 3 --algorithm {algorithm} --{parameter} 0")).fails(&[&text]);
        dir.run(&format!("cluster new c.toml --nodes 3 --algorithm {algorithm} --{parameter} -1")).exits(2);
        dir.run(&format!("cluster new c.toml --nodes 3 --algorithm {algorithm} --{parameter} x")).exits(2);
        assert!(dir.names().is_empty());
        refused(algorithm, &format!("{parameter} = -4"), TWO, &[parameter, "-4"]);
        refused(algorithm, &format!("{parameter} = \"many\""), TWO, &[parameter, "many"]);
        refused(algorithm, &format!("{parameter} = 1.5"), TWO, &[parameter, "1.5"]);
    }
    refused("lrh", "weight_by = \"hash\"", TWO, &["lrh has weight_by = \"hash\": it must be score or tokens"]);
}

#[test]
fn table_sizes() {
    for algorithm in ["maglev", "sach"] {
        refused(algorithm, "size = 200", TWO, &["size 200 is not a prime", "use 211"]);
        refused(algorithm, "size = 1", TWO, &[algorithm, "size"]);
        refused(algorithm, "", TWO, &["the size is missing", "[", "size = N"]);
        let many: String = (0..14).map(|number| format!("[[nodes]]\nname = \"n{number}\"\n")).collect();
        refused(algorithm, "size = 13", &many, &["size 13 is too small for 14 nodes", "at least 17"]);
        let light = format!("{TWO}[[nodes]]\nname = \"light\"\nweight = 0.001\n");
        refused(
            algorithm,
            "size = 101",
            &light,
            &["size 101 leaves no entry for node \"light\" (weight 0.001", "at least"],
        );
        let dir = Dir::new();
        let new = |words: &str| dir.run(&format!("cluster new c.toml --nodes 30 --algorithm {algorithm} {words}"));
        new("--size 1600").fails(&["size 1600 is not a prime", "use 1601"]);
        new("--size 29").fails(&["size 29 is too small for 30 nodes", "at least 31"]);
        new("--size 0").fails(&["size"]);
        assert!(dir.names().is_empty());
    }
}

#[test]
fn anchors_capacity_and_removals() {
    refused("anchor", "capacity = 1\nremoved = \"\"", SLOTTED, &["anchor has capacity = 1", "none is left for \"b\""]);
    refused("anchor", "", SLOTTED, &["capacity = N"]);
    refused("anchor", "capacity = 4\nremoved = \"2,9\"", SLOTTED, &["removed names slot 9", "the capacity is 4"]);
    refused("anchor", "capacity = 4\nremoved = \"2\"", SLOTTED, &["it holds 1 slots, but 2 are not in use"]);
    refused("anchor", "capacity = 4\nremoved = \"3,2,1\"", SLOTTED, &["slot 1 is in it, but node \"b\" is up there"]);
    refused("anchor", "capacity = 4\nremoved = \"3,3\"", SLOTTED, &["slot 3"]);
    refused("anchor", "capacity = 4\nremoved = \"3-x\"", SLOTTED, &["3-x"]);
    let dir = Dir::new();
    dir.run("cluster new c.toml --algorithm anchor --nodes 10 --capacity 9").fails(&["capacity = 9", "10 nodes"]);
    dir.run("cluster new c.toml --algorithm anchor --nodes 10 --capacity 0").fails(&["capacity"]);
    dir.run("cluster new c.toml --algorithm anchor --nodes 10 --capacity 3000000000").fails(&["3000000000"]);
    assert!(dir.names().is_empty());
}

#[test]
fn numbered_nodes_without_gaps_and_down_only_at_the_end() {
    let down = SLOTTED.replace("slot = 0", "slot = 0\nup = false");
    refused("jump", "", &down, &["\"a\" of slot 0 is down", "the last slot is 1", "any node can leave: dx"]);
    refused("modulo", "", &down, &["\"a\" of slot 0 is down", "none can be down", "any node can leave: dx"]);
    for algorithm in ["jump", "modulo"] {
        refused(algorithm, "", &SLOTTED.replace("slot = 1", "slot = 2"), &["\"b\" is in slot 2", "without a gap"]);
        refused(algorithm, "", &SLOTTED.replace("slot = 1", "slot = 0"), &["slot 0", "\"a\"", "\"b\""]);
        refused(algorithm, "", "", &["needs at least one node"]);
        refused(algorithm, "", TWO, &["\"a\" has no slot"]);
    }
}

#[test]
fn fields_of_another_algorithm() {
    refused("ring", "tokens = 4", SLOTTED, &["\"a\" has slot 0, but ring places on names", "leave the slots out"]);
    refused("ring", "tokens = 4\n[lrh]\ntokens = 4", TWO, &["a table [lrh], but its algorithm is ring"]);
    let weighted = SLOTTED.replace("slot = 0", "slot = 0\nweight = 0.5");
    refused("anchor", "capacity = 2\nremoved = \"\"", &weighted, &["\"a\" has weight 0.5", "anchor takes no weights"]);
}
