//! `hash`, help, completions and manual pages.

use crate::support::Dir;

fn digest(dir: &Dir, args: &[&str]) -> u64 {
    let mut all = vec!["hash", "--json"];
    all.extend(args);
    dir.args(&all).succeeds().json()["digest"].as_u64().expect("a digest")
}

#[test]
fn hash_gives_the_values_of_the_specification() {
    let dir = Dir::new();
    for (args, expected) in [
        (&["0", "--key-type", "u64"][..], 0x6393_D51C_06C6_18DC_u64),
        (&["0", "--key-type", "u64", "--seed", "7"], 0x9137_E86B_B776_A7EC),
        (&["1", "--key-type", "u64"], 0x8D82_7513_99F5_5D54),
        (&["42", "--key-type", "u64"], 0x60CD_B67D_913C_5A2F),
        (&["42", "--key-type", "i32"], 0x60CD_B67D_913C_5A2F),
        (&["42", "--key-type", "u64", "--hash", "xxh3"], 0xD5A6_F8C8_38DF_27C8),
        (&["42", "--key-type", "u64", "--hash", "xxh64", "--seed", "7"], 0x1889_DE22_BDD8_972C),
        (&["42", "--key-type", "u64", "--hash", "murmur3"], 0xB6AC_C399_89D2_7DF8),
        (&["42", "--key-type", "u64", "--hash", "crc32"], 0x2DD5_5EB5_08C4_E419),
        (&["42", "--key-type", "u64", "--hash", "identity"], 42),
        (&["--key-type", "i64", "--", "-5"], 0x800C_9A5A_A31A_534C),
        (&["--key-type", "i32", "--", "-5"], 0x800C_9A5A_A31A_534C),
        (&["user:42"], 0x9FC1_E605_FA71_74AA),
        (&["user:42", "--seed", "7"], 0xBDC1_A807_0C93_C642),
        (&["user:42", "--hash", "xxh64"], 0xDC1F_EA7D_A8D2_D1C2),
        (&["user:42", "--hash", "murmur3", "--seed", "7"], 0xC52B_490D_67B7_5322),
        (&["user:42", "--hash", "crc32"], 0xFA90_E290_A9B5_5C49),
        (&["757365723a3432", "--key-type", "bytes"], 0x9FC1_E605_FA71_74AA),
        (&[""], 0x2D06_8005_38D3_94C2),
    ] {
        assert_eq!(format!("{:016X}", digest(&dir, args)), format!("{expected:016X}"), "{args:?}");
    }
    let run = dir.ok("hash 42 --key-type u64");
    run.prints(&["0x60cdb67d913c5a2f", "0x913c5a2f", "0x4981b60e", "0xf4c03193", "0x01a965a7"]);
    let json = dir.ok("hash 1 --key-type u64 --json").json();
    let words: Vec<u64> =
        json["probe"].as_array().expect("words").iter().map(|word| word.as_u64().expect("a word")).collect();
    assert_eq!(words, [0x99F5_5D54, 0xED10_8B84, 0x39DC_1C8D, 0x506C_2C1A, 0xF3A1_3F01, 0x4176_E73B]);
    assert_eq!(dir.ok("hash 1 --key-type u64 --json --words 2").json()["probe"].as_array().expect("words").len(), 2);
}

#[test]
fn hash_finds_the_node_of_a_cluster() {
    let dir = Dir::new();
    // n = 8, slots 1, 4 and 6 up: the table of spec/placement.md.
    dir.write("nodes.csv", "name,slot\none,1\nfour,4\nsix,6\n");
    dir.ok("cluster new c.toml --algorithm dx --slots 8 --node-table nodes.csv --key u64");
    for (key, node, slot, length) in
        [(0, "four", 4, 1), (1, "four", 4, 1), (2, "one", 1, 2), (3, "four", 4, 1), (42, "six", 6, 2)]
    {
        let json = dir.ok(&format!("hash {key} --cluster c.toml --json")).json();
        assert_eq!(
            (&json["node"], &json["slot"], &json["search_length"]),
            (&node.into(), &slot.into(), &length.into()),
            "{key}"
        );
    }
    dir.ok("hash 42 --cluster c.toml").prints(&["six", "search length"]);
    // dx-crc32c: ten slots, 2 and 5 up.
    dir.write("nodes.csv", "name,slot\ntwo,2\nfive,5\n");
    dir.ok("cluster new crc.toml --algorithm dx-crc32c --slots 10 --node-table nodes.csv --key u32");
    for (key, slot, length) in [(0_u32, 5, 8), (1, 2, 5), (42, 5, 6), (u32::MAX, 5, 1)] {
        let json = dir.ok(&format!("hash {key} --cluster crc.toml --json")).json();
        assert_eq!((&json["slot"], &json["search_length"]), (&slot.into(), &length.into()), "{key}");
    }
    dir.run("hash 42 --cluster c.toml --seed 7").misused(&["--seed", "--cluster"]);
}

#[test]
fn hash_refuses_what_is_no_key() {
    let dir = Dir::new();
    dir.run("hash x --key-type u64").fails(&["\"x\" is not a u64 key"]);
    dir.run("hash abc --key-type bytes").fails(&["one digit is left over"]);
    dir.args(&["hash", "two\nlines"]).exits(1).says(&["newline"]);
    dir.run("hash 5 --hash crc32 --seed 1").fails(&["crc32", "seed"]);
    dir.run("hash text --hash identity").fails(&["identity", "integer"]);
    dir.run("hash").misused(&["<KEY>"]);
}

#[test]
fn hash_takes_the_key_as_it_is() {
    let dir = Dir::new();
    // A key on the command line is no file: a carriage return or a mark at its edge is part of it.
    let plain = digest(&dir, &["abc"]);
    assert_ne!(digest(&dir, &["abc\r"]), plain, "a carriage return was dropped");
    assert_ne!(digest(&dir, &["\u{feff}abc"]), plain, "a byte-order mark was dropped");
}

const VERBS: [&str; 22] = [
    "compare",
    "locate",
    "count",
    "plan",
    "verify",
    "hash",
    "keys",
    "completions",
    "man",
    "cluster",
    "cluster new",
    "cluster show",
    "cluster add",
    "cluster remove",
    "cluster up",
    "cluster down",
    "cluster weight",
    "cluster scale",
    "cluster shrink",
    "cluster check",
    "cluster convert",
    "cluster diff",
];

#[test]
fn every_verb_has_help_with_examples() {
    let dir = Dir::new();
    let mut lacking = Vec::new();
    dir.ok("--help").prints(&["Usage: rehome", "Examples:", "Exit codes:"]);
    for verb in VERBS {
        for flag in ["--help", "-h"] {
            let run = dir.ok(&format!("{verb} {flag}")).stays_quiet().prints(&[&format!("Usage: rehome {verb}")]);
            if !(run.out.contains("Examples:") || run.out.contains("Example:")) {
                lacking.push(format!("{verb} {flag}"));
            }
        }
    }
    assert!(lacking.is_empty(), "no examples in the help of: {}", lacking.join(", "));
}

#[test]
fn the_version_is_that_of_the_package() {
    let dir = Dir::new();
    let expected = format!("rehome {}\n", env!("CARGO_PKG_VERSION"));
    for flag in ["--version", "-V"] {
        assert_eq!(dir.ok(flag).out, expected);
    }
}

#[test]
fn wrong_usage_exits_with_2() {
    let dir = Dir::new();
    for line in ["", "cluster", "nonsense", "locate", "locate --nonsense", "plan keys.txt", "count --cluster c.toml"] {
        let run = dir.run(line).exits(2);
        assert!(run.err.contains("Usage:"), "{}", run.shown());
        assert_eq!(run.out, "", "{}", run.shown());
    }
}

#[test]
fn completions_name_the_verbs() {
    let dir = Dir::new();
    for shell in ["bash", "zsh", "fish"] {
        let run = dir.ok(&format!("completions {shell}")).stays_quiet();
        run.prints(&["rehome", "locate", "plan", "cluster", "count", "keys"]);
    }
    dir.sh("command -v bash > /dev/null || exit 0; rehome completions bash > c.bash && bash -n c.bash").succeeds();
    dir.run("completions csh").misused(&["csh", "bash"]);
}

#[test]
fn manual_pages_name_the_verbs() {
    let dir = Dir::new();
    let run = dir.ok("man").stays_quiet();
    let run = run.prints(&[".TH rehome 1", "locate", "count", "plan", "cluster", "hash"]);
    assert!(run.out.contains("Examples"), "{}", run.shown());
    dir.sh("mkdir pages && rehome man -o pages").succeeds();
    let pages = dir.tree("pages");
    for name in ["rehome.1", "rehome-locate.1", "rehome-plan.1", "rehome-keys.1", "rehome-cluster-new.1"] {
        assert!(pages.contains_key(name), "{name} is not in {:?}", pages.keys());
    }
    dir.run("man -o nowhere").fails(&["nowhere", "No such file"]);
}
