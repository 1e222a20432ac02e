//! `rehome cluster convert`: the same nodes under another algorithm.

use rehome::algorithm::Removal;
use rehome::algorithms;

use crate::support::Dir;

fn shown(dir: &Dir, name: &str) -> serde_json::Value {
    dir.ok(&format!("cluster show {name} --json")).json()
}

#[test]
fn every_algorithm_converts_to_every_other() {
    let dir = Dir::new();
    for from in algorithms() {
        dir.ok(&format!("cluster new from.toml --algorithm {} --nodes 6 --force", from.name));
        for to in algorithms() {
            let run = dir.ok(&format!("cluster convert from.toml --to {} -o to.toml --force", to.name));
            let (before, after) = (shown(&dir, "from.toml"), shown(&dir, "to.toml"));
            assert_eq!(after["algorithm"], to.name);
            let names = |file: &serde_json::Value| -> Vec<String> {
                file["nodes"].as_array().expect("nodes").iter().map(|node| node["name"].to_string()).collect()
            };
            assert_eq!(names(&before), names(&after), "{} to {}", from.name, to.name);
            assert_eq!(before["hash"], after["hash"]);
            assert!(run.out.starts_with("to.toml:"), "{}", run.shown());
        }
    }
}

#[test]
fn weights_zones_and_seed_travel() {
    let dir = Dir::new();
    dir.write("nodes.csv", "name,weight,zone,up\na,1,z1,true\nb,0.5,z2,true\nc,0.25,z1,false\n");
    dir.ok("cluster new w.toml --algorithm rendezvous --node-table nodes.csv --seed 9 --spread zone");
    for to in ["dx", "lrh", "ring", "multi-probe"] {
        dir.ok(&format!("cluster convert w.toml --to {to} -o {to}.toml"));
        let (before, after) = (shown(&dir, "w.toml"), shown(&dir, &format!("{to}.toml")));
        assert_eq!((&after["seed"], &after["spread"]), (&9.into(), &"zone".into()), "{to}");
        for (a, b) in before["nodes"].as_array().expect("nodes").iter().zip(after["nodes"].as_array().expect("nodes")) {
            for field in ["name", "weight", "zone", "up"] {
                assert_eq!(a[field], b[field], "{to}, {field}");
            }
        }
    }
    // What the other cannot take is told, and nothing is written.
    dir.run("cluster convert w.toml --to jump -o j.toml").fails(&["\"b\" has weight 0.5", "jump takes no weights"]);
    dir.run("cluster convert w.toml --to maglev --size 4 -o g.toml").fails(&["size 4", "use 5"]);
    assert!(!dir.exists("j.toml") && !dir.exists("g.toml"));
}

#[test]
fn nodes_that_are_down_stay_down_or_are_refused() {
    let dir = Dir::with_clusters(10);
    dir.ok("cluster down c10.toml node-8 node-3");
    for to in algorithms() {
        let line = format!("cluster convert c10.toml --to {} -o to.toml --force", to.name);
        match to.removal {
            Removal::Any => {
                dir.ok(&line);
                for (index, node) in shown(&dir, "to.toml")["nodes"].as_array().expect("nodes").iter().enumerate() {
                    assert_eq!(node["up"], ![3, 8].contains(&index), "{}", to.name);
                }
            }
            _ => {
                dir.run(&line).fails(&["\"node-3\" of slot 3 is down", to.name]);
            }
        }
    }
}

#[test]
fn in_place_dry_and_refused() {
    let dir = Dir::with_clusters(10);
    let before = dir.text("c10.toml");
    dir.ok("cluster convert c10.toml --to lrh --window 4 --dry-run").prints(&["dx -> lrh"]);
    assert_eq!(dir.text("c10.toml"), before);
    dir.run("cluster convert c10.toml --to nope").misused(&["nope", "multi-probe"]);
    dir.run("cluster convert c10.toml --to lrh --window 0").fails(&["c10.toml", "window = 0", "1 to"]);
    dir.run("cluster convert c10.toml --to lrh --probes 4").fails(&["lrh has no parameter \"probes\"", "multi-probe"]);
    dir.run("cluster convert c10.toml --to maglev --size 8").fails(&["size 8 is not a prime"]);
    dir.run("cluster convert c10.toml --to anchor --capacity 9").fails(&["anchor has capacity = 9", "too few"]);
    dir.run("cluster convert absent.toml --to lrh").fails(&["absent.toml"]);
    assert_eq!(dir.text("c10.toml"), before);
    dir.ok("cluster convert c10.toml --to lrh --window 4");
    let after = dir.text("c10.toml");
    assert!(after.contains("\nalgorithm = \"lrh\"\n") && after.contains("\nwindow = 4\n"), "{after}");
    assert!(!after.contains("[dx]") && !after.contains("slot"), "{after}");
}
