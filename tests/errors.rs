//! What cannot be is refused, with a message that says what, where and what to do; and nothing is changed by it.

mod twin;

use std::fmt::Debug;

use rehome::Algorithm;
use rehome::engine::{BoundedLoads, Job, Want, WholeSet, capacities};
use rehome::hash::{KeyHash, KeyHasher};
use rehome::plan::{Tally, check_sides};
use rehome::{
    Cluster, ClusterBuilder, Engine, Error, ErrorKind, Key, KeyBuffer, KeyColumn, KeyType, Keys, Node, NodeId, Result,
    Spread,
};
use twin::{FULL, Order};

/// Fails unless the message has all these parts. Gives the error for more checks.
#[track_caller]
fn refused<T: Debug>(result: Result<T>, parts: &[&str]) -> Error {
    let error = result.expect_err("this must be refused");
    let message = error.to_string();
    for part in parts {
        assert!(message.contains(part), "{part:?} is missing in: {message}");
    }
    assert!(!message.is_empty() && !message.ends_with([':', ' ', '.', '\n']), "{message:?}");
    error
}

fn builder(algorithm: &str) -> ClusterBuilder {
    Cluster::builder(algorithm).unwrap()
}

fn dx(slots: u64, names: &[&str]) -> Cluster {
    builder("dx").slots(slots).nodes(names.iter().map(|name| Node::new(*name))).build().unwrap()
}

// ---- descriptions ----------------------------------------------------------------------------------------------

#[test]
fn names() {
    let nodes = |names: [&str; 3]| builder("dx").nodes(names.map(Node::new)).build();
    let error = refused(nodes(["a", "b", "a"]), &["\"a\"", "names", "must differ"]);
    assert!(matches!(error.kind(), ErrorKind::DuplicateNode { first, second } if first == "a" && second == "a"));
    refused(nodes(["a", "", "b"]), &["empty name"]);
    let unzoned = builder("dx").nodes([Node::new("a").with_zone("")]).build();
    refused(unzoned, &["\"a\"", "empty zone", "leave the zone out"]);
    refused(Algorithm::named("dy"), &["\"dy\"", "dx, dx-crc32c"]);
    refused(Cluster::builder("DX"), &["\"DX\"", "dx, dx-crc32c"]);
    refused("md5".parse::<KeyHash>(), &["\"md5\"", "default, xxh3, xxh64, murmur3, crc32, identity"]);
    refused("u16".parse::<KeyType>(), &["\"u16\"", "text, bytes, u64, i64, u32, i32, uuid"]);
    refused("rack".parse::<Spread>(), &["\"rack\"", "node or zone"]);
}

#[test]
fn slots() {
    let two = |first, second| {
        builder("dx").slots(8).nodes([("a", first), ("b", second)].map(|(name, slot)| Node::new(name).with_slot(slot)))
    };
    let error = refused(two(3, 3).build(), &["slot 3", "\"a\"", "\"b\""]);
    assert!(matches!(error.kind(), ErrorKind::SlotTaken { slot: 3, .. }));
    let error = refused(two(3, 8).build(), &["\"b\"", "slot 8", "8 slots", "0 to 7"]);
    assert!(matches!(error.kind(), ErrorKind::SlotOutside { slot: 8, slots: 8, .. }));
    assert!(two(3, 7).build().is_ok());

    let sized = |algorithm: &str, slots| builder(algorithm).slots(slots).build();
    refused(sized("dx", 0), &["0 slots", "at least one"]);
    refused(sized("dx", 12), &["12 slots", "power of two", "16"]);
    refused(sized("dx", (1 << 31) + 1), &["2147483649 slots", "the most is 2147483648"]);
    refused(sized("dx", 1 << 32), &["4294967296 slots", "the most is 2147483648"]);
    refused(sized("dx", u64::MAX), &["18446744073709551615 slots"]);
    assert_eq!(sized("dx", 1 << 31).unwrap().slots().size(), 1 << 31);
    refused(sized("dx-crc32c", 0), &["0 slots", "at least one"]);
    refused(sized("dx-crc32c", 1 << 30), &["1073741824 slots", "the most is 1073741823"]);
    assert_eq!(sized("dx-crc32c", (1 << 30) - 1).unwrap().slots().size(), (1 << 30) - 1);
    assert!(sized("dx-crc32c", 12).is_ok());

    let full = builder("dx").slots(2).nodes(["a", "b", "c"].map(Node::new)).build();
    refused(full, &["slots = 2", "\"c\"", "make slots at least"]);
}

#[test]
fn weights() {
    let weighted = |algorithm: &str, weight| builder(algorithm).nodes([Node::new("a").with_weight(weight)]).build();
    for weight in [-1.0, -0.001, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.000_001, 65_535.0] {
        let error = refused(weighted("dx", weight), &["\"a\"", &format!("weight {weight}"), "weight"]);
        assert!(matches!(error.kind(), ErrorKind::Weight { .. }));
    }
    refused(weighted("dx", 2.0), &["0 (drained) to 1", "divide all weights by the largest"]);
    refused(weighted("dx", f64::NAN), &["finite"]);
    refused(weighted("dx", -1.0), &["0 (drained) or more"]);
    for weight in [0.0, 0.5, 2.0] {
        refused(weighted("dx-crc32c", weight), &["\"a\"", "takes no weights", "down", "dx"]);
    }
    for weight in [0.0, 1e-300, 1.0] {
        assert!(weighted("dx", weight).is_ok());
    }
    assert!(weighted("dx-crc32c", 1.0).is_ok());
}

#[test]
fn options() {
    let crc = || builder("dx-crc32c").slots(4);
    refused(crc().seed(1).build(), &["dx-crc32c", "no seed", "use dx"]);
    refused(crc().hash(KeyHash::Xxh3).build(), &["dx-crc32c", "no hash", "use dx"]);
    for key in [KeyType::Text, KeyType::Bytes, KeyType::Uuid] {
        refused(crc().key(key).build(), &["dx-crc32c", "integer keys only", key.name()]);
        refused(builder("dx").hash(KeyHash::Identity).key(key).build(), &["identity", "integer keys only", key.name()]);
    }
    for key in [KeyType::U64, KeyType::I64, KeyType::U32, KeyType::I32] {
        assert!(crc().key(key).build().is_ok());
        assert!(builder("dx").hash(KeyHash::Identity).key(key).build().is_ok());
    }
    for hash in [KeyHash::Crc32, KeyHash::Identity] {
        refused(builder("dx").hash(hash).seed(9).build(), &[hash.name(), "takes no seed", "9", "set the seed to 0"]);
        refused(KeyHasher::new(hash, u64::MAX), &[hash.name(), "18446744073709551615"]);
    }
}

// ---- compiling -------------------------------------------------------------------------------------------------

#[test]
fn sparse_clusters() {
    let plain = |slots: u64, up: u32| {
        builder("dx").slots(slots).nodes((0..up).map(|number| Node::new(format!("n{number}")))).build()
    };
    // 2^20 steps on average are allowed, and not one more.
    for (slots, up) in [(1 << 20, 1), (1 << 21, 2), (1 << 26, 64)] {
        assert!(plain(slots, up).unwrap().placement().is_ok());
        // A node on twice the slots, or one node less.
        let error = refused(
            plain(2 * slots, up).unwrap().placement(),
            &["too sparse", &(2 * slots).to_string(), "2097152 steps", "1048576", "shrink"],
        );
        assert!(matches!(error.kind(), ErrorKind::TooSparse { .. }));
    }
    refused(plain(1 << 26, 63).unwrap().placement(), &["sum to 63 on 67108864 slots"]);
    refused(plain(1 << 26, 1).unwrap().placement(), &["sum to 1 on 67108864 slots", "67108864 steps"]);
    refused(plain(1 << 31, 2047).unwrap().placement(), &["2147483648 slots"]);
    // Weights count, in units of 1/65536; nodes that are down do not.
    let lone = |slots, weight| {
        builder("dx")
            .slots(slots)
            .nodes([Node::new("a").with_weight(weight), Node::new("b").with_up(false)])
            .build()
            .unwrap()
    };
    assert!(lone(16, 1e-12).placement().is_ok());
    refused(lone(32, 1e-12).placement(), &["on 32 slots", "2097152 steps"]);
    assert!(lone(1 << 19, 0.5).placement().is_ok());
    refused(lone(1 << 19, 0.499_99).placement(), &["524288 slots"]);
    // The other algorithm gives up on its own.
    let crc = builder("dx-crc32c").slots(1 << 22).nodes([Node::new("a")]).build().unwrap();
    assert!(crc.placement().is_ok());
}

#[test]
fn nobody_up() {
    let engine = Engine::builder().threads(1).chunk_keys(3).build().unwrap();
    let keys: Vec<u64> = (0..10).collect();
    let nobody = [
        dx(1 << 22, &[]),
        builder("dx")
            .slots(1 << 22)
            .nodes([Node::new("a").with_up(false), Node::new("b").with_weight(0.0)])
            .build()
            .unwrap(),
        builder("dx-crc32c").slots(6).nodes([Node::new("a").with_up(false)]).build().unwrap(),
    ];
    for cluster in nobody {
        let placement = cluster.placement().unwrap();
        assert_eq!(placement.eligible(), 0);
        let mut nodes = vec![NodeId::NONE; 10];
        engine.locate(&placement, &keys, &mut nodes).unwrap();
        assert_eq!(nodes, [NodeId::NONE; 10]);
        assert_eq!(engine.count(&placement, &keys).unwrap().unplaced, 10);
        assert_eq!(placement.node_name(nodes[0]), None);
        if cluster.algorithm().list {
            engine.replicas(&placement, &keys[..5], 2, &mut nodes).unwrap();
            assert_eq!(nodes, [NodeId::NONE; 10]);
            let mut bounded = BoundedLoads::new(&placement, 0.5).unwrap();
            bounded.observe(Keys::from(&keys)).unwrap();
            bounded.nodes(&mut nodes).unwrap();
            assert_eq!(nodes, [NodeId::NONE; 10]);
        }
    }
}

#[test]
fn lists_that_are_not_there() {
    let placement = twin::cluster("dx-crc32c", &[FULL; 4], Order::Slots).placement().unwrap();
    let engine = Engine::builder().threads(1).build().unwrap();
    let mut nodes = vec![NodeId::NONE; 2];
    let parts = ["dx-crc32c has no preference list", "dx, lrh, multi-probe, ring, rendezvous can"];
    let error = refused(engine.replicas(&placement, &[1][..], 2, &mut nodes), &parts);
    let ErrorKind::NoPreferenceList { algorithm, available } = error.kind() else { panic!("{error}") };
    assert_eq!((*algorithm, &available[..]), ("dx-crc32c", &["dx", "lrh", "multi-probe", "ring", "rendezvous"][..]));
    refused(placement.replicas(1, &mut nodes), &parts);
    refused(placement.lookup().prefer(1, &mut |_| std::ops::ControlFlow::Continue(())), &parts);
    refused(BoundedLoads::new(&placement, 0.1), &parts);
    let job = Job { placements: vec![placement], want: Want::Replicas(2) };
    refused(engine.stream(&job, [Ok(Column(vec![1]))].into_iter(), |_, _| Ok(())), &parts);
}

// ---- edits -----------------------------------------------------------------------------------------------------

/// The edit is refused and changes nothing, not even what is not in the file.
#[track_caller]
fn edit_refused<T: Debug>(cluster: &Cluster, edit: impl FnOnce(&mut Cluster) -> Result<T>, parts: &[&str]) -> Error {
    let mut edited = cluster.clone();
    let error = refused(edit(&mut edited), parts);
    assert_eq!(edited.to_toml().unwrap(), cluster.to_toml().unwrap());
    assert_eq!((edited.slots(), edited.is_weighted()), (cluster.slots(), cluster.is_weighted()));
    for (position, node) in cluster.nodes().iter().enumerate() {
        assert_eq!(edited.position(node.name()), Some(position));
    }
    for absent in ["new", "ghost", ""] {
        assert_eq!(edited.position(absent), None);
    }
    error
}

#[test]
fn adding() {
    let full = dx(4, &["a", "b", "c", "d"]);
    edit_refused(&full, |cluster| cluster.add(Node::new("new")), &["\"new\"", "all 4 are taken", "scale"]);
    let mut cluster = dx(8, &["a", "b", "c", "d", "e"]);
    cluster.remove(["b"]).unwrap();
    edit_refused(&cluster, |cluster| cluster.add(Node::new("a")), &["\"a\"", "must differ"]);
    edit_refused(&cluster, |cluster| cluster.add(Node::new("a").with_weight(0.5)), &["\"a\"", "must differ"]);
    edit_refused(&cluster, |cluster| cluster.add(Node::new("")), &["empty name"]);
    edit_refused(&cluster, |cluster| cluster.add(Node::new("new").with_zone("")), &["empty zone"]);
    edit_refused(&cluster, |cluster| cluster.add(Node::new("new").with_weight(1.5)), &["\"new\"", "1.5"]);
    edit_refused(
        &cluster,
        |cluster| cluster.add(Node::new("new").with_slot(7)),
        &["\"new\"", "cannot choose its slot", "is 5"],
    );
    assert_eq!(cluster.add(Node::new("new").with_slot(5)).unwrap(), Some(5));
}

#[test]
fn removing() {
    let cluster = dx(8, &["cache-1", "cache-2", "db"]);
    let error =
        edit_refused(&cluster, |cluster| cluster.remove(["cache-3"]), &["\"cache-3\"", "did you mean \"cache-1\"?"]);
    assert!(matches!(error.kind(), ErrorKind::UnknownNode { suggestion: Some(name), .. } if name == "cache-1"));
    edit_refused(&cluster, |cluster| cluster.remove(["cahce-2"]), &["did you mean \"cache-2\"?"]);
    let error = edit_refused(&cluster, |cluster| cluster.remove(["elsewhere"]), &["no node is named \"elsewhere\""]);
    assert!(!error.to_string().contains("did you mean"), "{error}");
    edit_refused(&cluster, |cluster| cluster.remove([""]), &["no node is named \"\""]);
    // The first name is fine, the second is not: the first stays.
    edit_refused(&cluster, |cluster| cluster.remove(["db", "ghost"]), &["\"ghost\""]);
    edit_refused(&cluster, |cluster| cluster.remove(["db", "cache-1", "db"]), &["\"db\"", "named twice"]);
    let mut gone = cluster.clone();
    gone.remove(["db"]).unwrap();
    edit_refused(&gone, |cluster| cluster.remove(["db"]), &["no node is named \"db\""]);
    edit_refused(&cluster, |cluster| cluster.set_up("DB", false), &["\"DB\"", "did you mean \"db\"?"]);
    edit_refused(&cluster, |cluster| cluster.set_weight("ghost", 0.5), &["no node is named \"ghost\""]);
    for weight in [-0.5, f64::NAN, f64::INFINITY, 1.5] {
        edit_refused(&cluster, |cluster| cluster.set_weight("db", weight), &["\"db\"", &weight.to_string()]);
    }
    let crc = twin::cluster("dx-crc32c", &[FULL; 3], Order::Slots);
    edit_refused(&crc, |cluster| cluster.set_weight("s1", 0.0), &["\"s1\"", "takes no weights"]);
}

#[test]
fn resizing() {
    edit_refused(&dx(4, &["a", "b", "c"]), Cluster::shrink, &["3 nodes do not fit into 2 slots", "remove nodes first"]);
    edit_refused(&dx(1, &["a"]), Cluster::shrink, &["1 slots cannot be halved"]);
    edit_refused(&dx(1, &[]), Cluster::shrink, &["1 slots cannot be halved"]);
    let odd = builder("dx-crc32c").slots(7).nodes([Node::new("a")]).build().unwrap();
    edit_refused(&odd, Cluster::shrink, &["7 slots cannot be halved", "even"]);
    // A node that is down takes room too.
    let down =
        builder("dx").slots(4).nodes(["a", "b", "c"].map(|name| Node::new(name).with_up(false))).build().unwrap();
    edit_refused(&down, Cluster::shrink, &["3 nodes do not fit"]);

    let largest = dx(1 << 31, &["a"]);
    edit_refused(&largest, Cluster::scale, &["4294967296 slots", "the most is 2147483648"]);
    let mut half = dx(1 << 30, &["a"]);
    half.scale().unwrap();
    assert_eq!(half.slots(), largest.slots());
    let crc = builder("dx-crc32c").slots(1 << 29).build().unwrap();
    edit_refused(&crc, Cluster::scale, &["1073741824 slots", "the most is 1073741823"]);
}

// ---- files -----------------------------------------------------------------------------------------------------

const HEAD: &str = "version = 1\nalgorithm = 'dx'\n";

/// A file with two nodes in slots 0 and 2 of 8, and this queue.
fn queued(queue: &str) -> Result<Cluster> {
    Cluster::from_toml(&format!(
        "{HEAD}nodes = [{{ name = 'a', slot = 0 }}, {{ name = 'b', slot = 2 }}]\n[dx]\nslots = 8\nqueue = '{queue}'\n"
    ))
}

#[test]
fn versions() {
    let newer = Cluster::from_toml("version = 2\nalgorithm = 'dx9'\nwhatever = true\n");
    let error = refused(newer, &["version 2 is newer", "version 1", "use a newer rehome"]);
    assert!(matches!(error.kind(), ErrorKind::NewerVersion { found: 2, known: 1 }));
    let json = Cluster::from_json(r#"{"version": 99, "algorithm": {"name": "dx"}}"#);
    refused(json, &["version 99 is newer"]);
    refused(Cluster::from_toml("algorithm = 'dx'\ndx = { slots = 4 }\n"), &["no version", "version = 1"]);
    refused(Cluster::from_toml(""), &["no version"]);
    refused(Cluster::from_json("{}"), &["no version"]);
    refused(Cluster::from_toml("version = 0\nalgorithm = 'dx'\ndx = { slots = 4 }\n"), &["version 0", "version = 1"]);
    refused(Cluster::from_toml("version = '1'\nalgorithm = 'dx'\ndx = { slots = 4 }\n"), &["line 1", "version"]);
    refused(Cluster::from_toml("version = -1\n"), &["line 1"]);
}

#[test]
fn fields() {
    // Misspelt at the top, in the table, and in a node.
    refused(Cluster::from_toml(&format!("{HEAD}sed = 7\n[dx]\nslots = 4\n")), &["line 3, column 1", "`sed`", "`seed`"]);
    refused(Cluster::from_toml(&format!("{HEAD}[dx]\nslot = 4\n")), &["line 4, column 1", "`slot`", "`slots`"]);
    let node = format!("{HEAD}[dx]\nslots = 4\n[[nodes]]\nname = 'a'\nslot = 0\nwieght = 1.0\n");
    refused(Cluster::from_toml(&node), &["line 8, column 1", "`wieght`", "`weight`"]);
    let json = "{\"version\": 1, \"algorithm\": \"dx\",\n \"sed\": 7, \"dx\": {\"slots\": 4}}";
    refused(Cluster::from_json(json), &["`sed`", "`seed`", "line 2 column"]);
    // Missing, of another type, twice, or no syntax at all.
    refused(Cluster::from_toml("version = 1\n"), &["algorithm"]);
    refused(Cluster::from_toml(&format!("{HEAD}[dx]\n")), &["line 3", "slots"]);
    refused(Cluster::from_toml(&format!("{HEAD}[dx]\nslots = 'many'\n")), &["line 4, column 9", "many"]);
    refused(Cluster::from_toml(&format!("{HEAD}seed = 1\nseed = 2\n[dx]\nslots = 4\n")), &["line 4", "duplicate key"]);
    refused(Cluster::from_toml("version = 1\nalgorithm 'dx'\n"), &["line 2, column 11"]);
    refused(Cluster::from_json("{\"version\": 1,\n"), &["line 2 column 0"]);
    refused(Cluster::from_toml(&format!("{HEAD}[dx]\nslots = 4\n[[nodes]]\nslot = 1\n")), &["line 5", "name"]);
    // Seeds.
    for seed in ["-1", "'no'", "1.5", "'18446744073709551616'"] {
        refused(
            Cluster::from_toml(&format!("{HEAD}seed = {seed}\n[dx]\nslots = 4\n")),
            &["line 3, column 8", "seed", "2^64 - 1"],
        );
    }
    // Names of things that there are not.
    refused(Cluster::from_toml("version = 1\nalgorithm = 'rendezvouz'\n"), &["\"rendezvouz\"", "dx, dx-crc32c"]);
    for (field, value) in [("hash", "md5"), ("key", "float"), ("spread", "rack")] {
        let text = format!("{HEAD}{field} = '{value}'\n[dx]\nslots = 4\n");
        refused(Cluster::from_toml(&text), &[&format!("{value:?}"), "use"]);
    }
}

#[test]
fn tables_and_nodes() {
    let text = |rest: &str| Cluster::from_toml(&format!("{HEAD}{rest}"));
    refused(text(""), &["number of slots is missing", "dx", "[dx]", "slots ="]);
    refused(text("[dx-crc32c]\nslots = 4\n"), &["[dx-crc32c]", "its algorithm is dx"]);
    refused(text("[dx]\nslots = 4\n[dx-crc32c]\nslots = 4\n"), &["[dx-crc32c]", "its algorithm is dx"]);
    refused(text("[ring]\ntokens = 4\n"), &["[ring]", "its algorithm is dx"]);
    refused(text("[rink]\ntokens = 4\n"), &["line 3", "`rink`", "`ring`"]);
    refused(text("[dx]\nslots = 6\n"), &["6 slots", "power of two", "8"]);
    refused(text("[dx]\nslots = 4\n[[nodes]]\nname = 'a'\n"), &["\"a\" has no slot", "give every node its slot"]);
    refused(text("[dx]\nslots = 4\n[[nodes]]\nname = 'a'\nslot = 4\n"), &["\"a\"", "slot 4", "4 slots"]);
    refused(text("[dx]\nslots = 4\n[[nodes]]\nname = 'a'\nslot = 4294967296\n"), &["\"a\"", "slot 4294967296"]);
    refused(text("[dx]\nslots = 4\n[[nodes]]\nname = 'a'\nslot = -1\n"), &["line 7, column 8", "-1"]);
    refused(
        text("[dx]\nslots = 4\n[[nodes]]\nname = 'a'\nslot = 0\n[[nodes]]\nname = 'b'\nslot = 0\n"),
        &["slot 0", "\"a\"", "\"b\""],
    );
    refused(text("[dx]\nslots = 4\n[[nodes]]\nname = 'a'\nslot = 0\nweight = nan\n"), &["\"a\"", "NaN", "finite"]);
    refused(
        text("node_table = 'n.csv'\ndx = { slots = 4 }\nnodes = [{ name = 'a', slot = 0 }]\n"),
        &["both nodes and a node_table", "one place"],
    );
    refused(text("node_table = 'n.csv'\ndx = { slots = 4 }\n"), &["\"n.csv\""]);
    refused(Cluster::from_path("cluster.yaml"), &["cluster.yaml", ".toml or .json"]);
    let error = refused(Cluster::from_path("no/such/file.toml"), &["no/such/file.toml", "cannot read"]);
    assert!(matches!(error.kind(), ErrorKind::Io { .. }) && error.file().is_some());
}

#[test]
fn queues() {
    assert!(queued("1,3-7").is_ok() && queued("7,6,3-5,1").is_ok() && queued(" 3 - 7 , 1 ,").is_ok());
    let all = ["queue", "leave it out"];
    refused(queued("1,3-7,4"), &[&all[..], &["slot 4", "twice"]].concat());
    refused(queued("1,1,3-7"), &[&all[..], &["slot 1", "twice"]].concat());
    refused(queued("1-7"), &[&all[..], &["slot 2", "a node has that slot"]].concat());
    refused(queued("0-1,3-7"), &[&all[..], &["slot 0", "a node has that slot"]].concat());
    refused(queued("1,3-8"), &[&all[..], &["slot 8", "outside the 8 slots"]].concat());
    refused(queued("1,3-4294967295"), &[&all[..], &["outside the 8 slots"]].concat());
    refused(queued("1,3-6"), &[&all[..], &["5 slots, but 6"]].concat());
    refused(queued(""), &[&all[..], &["0 slots, but 6"]].concat());
    for bad in ["1,x", "7-3,1", "1;3", "-1", "3-", "1,4294967296", "1.5"] {
        refused(queued(bad), &["queue", "neither a slot nor a range", "10-15,3"]);
    }
}

// ---- keys and batches ------------------------------------------------------------------------------------------

#[test]
fn columns_of_bytes() {
    for (offsets, data) in [
        (&[][..], &b"abc"[..]),
        (&[0, 4], b"abc"),
        (&[2, 1], b"abc"),
        (&[-1, 2], b"abc"),
        (&[0, 3, 2, 3], b"abc"),
        (&[0, i32::MAX], b""),
    ] {
        refused(Keys::bytes(offsets, data), &["offsets", &format!("{} of them", offsets.len()), "never fall"]);
    }
    assert_eq!(Keys::bytes(&[0], b"abc").unwrap().len(), 0);
    assert_eq!(Keys::bytes(&[1, 3], b"abc").unwrap().get(0), Key::Bytes(b"bc"));
    refused(Keys::fixed(0, b""), &["0 bytes", "width above 0"]);
    refused(Keys::fixed(16, &[0; 20]), &["20 bytes", "16 bytes"]);
}

#[test]
fn lengths() {
    let placement = dx(4, &["a"]).placement().unwrap();
    let engine = Engine::builder().threads(1).chunk_keys(2).build().unwrap();
    let keys = [1, 2, 3, 4, 5];
    let mut nodes = vec![NodeId::NONE; 12];
    let error =
        refused(engine.locate(&placement, &keys[..], &mut nodes[..4]), &["space for nodes", "expected 5", "found 4"]);
    assert!(matches!(error.kind(), ErrorKind::Mismatch { expected: 5, found: 4, .. }));
    refused(engine.locate(&placement, &keys[..], &mut nodes), &["expected 5, found 12"]);
    refused(engine.locate(&placement, &[][..], &mut nodes), &["expected 0, found 12"]);
    refused(engine.replicas(&placement, &keys[..], 2, &mut nodes), &["expected 10, found 12"]);
    refused(engine.replicas(&placement, &keys[..], 0, &mut nodes), &["expected 0, found 12"]);
    assert!(engine.replicas(&placement, &keys[..], 2, &mut nodes[..10]).is_ok());
    refused(placement.hasher().words(Keys::from(&keys[..]), &mut [0; 4]), &["expected 5, found 4"]);
    let cluster = placement.cluster();
    let mut tally = Tally::new(cluster, cluster);
    refused(tally.add(&nodes[..3], &nodes[..2], None, |_| ()), &["expected 3, found 2"]);
    refused(tally.add(&nodes[..3], &nodes[..3], Some(&[1, 2]), |_| ()), &["expected 3, found 2"]);
    refused(tally.add(&nodes[..2], &nodes[..2], Some(&[u64::MAX, 1]), |_| ()), &["sizes", "2^64 - 1"]);
    // None of them was counted.
    assert_eq!(tally.summary(0).keys, 0);
    tally.add(&nodes[..1], &nodes[..1], Some(&[u64::MAX]), |_| ()).unwrap();
    refused(tally.add(&nodes[..1], &nodes[..1], Some(&[1]), |_| ()), &["2^64 - 1"]);
    assert_eq!((tally.summary(0).keys, tally.summary(0).bytes), (1, Some(u64::MAX)));
}

/// Keys of a stream.
#[derive(Debug)]
struct Column(Vec<u64>);

impl KeyColumn for Column {
    fn keys(&self, _side: usize) -> Keys<'_> {
        Keys::from(&self.0)
    }
}

#[test]
fn keys_that_an_algorithm_does_not_take() {
    let crc = twin::cluster("dx-crc32c", &[FULL; 4], Order::Slots).placement().unwrap();
    let identity = builder("dx").hash(KeyHash::Identity).nodes([Node::new("a")]).build().unwrap().placement().unwrap();
    let parts = ["(4294967296)", "0..2^32", "dx-crc32c", "32-bit integer keys"];
    refused(crc.locate(Key::Integer(1 << 32)), &parts);
    refused(crc.locate(Key::Integer(u64::MAX)), &["(18446744073709551615)", "0..2^32"]);
    refused(crc.locate(Key::Bytes(b"user:42")), &["user:42", "dx-crc32c"]);
    refused(identity.locate(Key::Bytes(b"user:42")), &["user:42", "identity", "use another hash"]);
    assert!(crc.locate(Key::Integer((1 << 32) - 1)).is_ok());

    // The first bad key is told by its place in the whole batch, across chunks, strips and threads.
    for (threads, chunk_keys) in [(1, 1), (2, 7), (2, 256), (2, 20_000), (1, 65_536)] {
        let engine = Engine::builder().threads(threads).chunk_keys(chunk_keys).build().unwrap();
        for bad in [0, 6, 7, 255, 256, 4095, 4096, 16_384, 20_003, 39_999] {
            let mut keys: Vec<u64> = (0..40_000).collect();
            keys[bad] = 1 << 32;
            keys[39_999] = 1 << 40;
            let mut nodes = vec![NodeId::NONE; keys.len()];
            for error in [engine.locate(&crc, &keys, &mut nodes).unwrap_err(), engine.count(&crc, &keys).unwrap_err()] {
                let ErrorKind::Key { index, key, .. } = error.kind() else { panic!("{error}") };
                assert_eq!(
                    (*index, key.as_str()),
                    (bad as u64, if bad == 39_999 { "1099511627776" } else { "4294967296" })
                );
                assert!(error.to_string().contains(&format!("key {bad} of the batch")));
            }
        }
    }

    let mut texts = KeyBuffer::new();
    texts.push("a long key with a control character \u{7} and many more letters".as_bytes()).unwrap();
    let error = refused(identity.hasher().words(texts.keys(), &mut [0]), &["key 0", "a long key", "…"]);
    assert!(!error.to_string().contains('\u{7}'), "{error}");
}

#[test]
fn errors_end_a_stream() {
    let crc = twin::cluster("dx-crc32c", &[FULL; 4], Order::Slots).placement().unwrap();
    let job = Job { placements: vec![crc.clone()], want: Want::Nodes };
    for threads in [1, 2] {
        let engine = Engine::builder().threads(threads).build().unwrap();
        // A bad key in column 5: the four columns before it reach the sink, and none behind it.
        let column = |number: u64| Column(vec![number, if number == 5 { 1 << 32 } else { 0 }]);
        let mut seen = Vec::new();
        let mut sink = |column: &Column, _: &[Vec<NodeId>]| {
            seen.push(column.0[0]);
            Ok(())
        };
        let error =
            refused(engine.stream(&job, (1..100).map(|number| Ok(column(number))), &mut sink), &["(4294967296)"]);
        assert!(matches!(error.kind(), ErrorKind::Key { index: 1, .. }));
        assert_eq!(seen, [1, 2, 3, 4]);

        // An error of the source: what came before it is consumed.
        let mut seen = 0;
        let source = (0..50)
            .map(|number| if number < 20 { Ok(Column(vec![number])) } else { Err(Error::invalid("row 20", "")) });
        let failed = engine.stream(&job, source, |_, _| {
            seen += 1;
            Ok(())
        });
        refused(failed, &["row 20"]);
        assert_eq!(seen, 20);

        // An error of the sink: it is not called again, and an endless source ends.
        let mut calls = 0;
        let failed = engine.stream(&job, (0..).map(|number| Ok(Column(vec![number]))), |_, _| {
            calls += 1;
            if calls == 3 { Err(Error::invalid("disk full", "")) } else { Ok(()) }
        });
        refused(failed, &["disk full"]);
        assert_eq!(calls, 3);
    }
    // The two sides of a job must have the same number of keys.
    struct Uneven;
    impl KeyColumn for Uneven {
        fn keys(&self, side: usize) -> Keys<'_> {
            Keys::from(&[1, 2, 3][..3 - side])
        }
    }
    let job = Job { placements: vec![crc.clone(), crc], want: Want::Nodes };
    let engine = Engine::builder().threads(1).build().unwrap();
    refused(engine.stream(&job, [Ok(Uneven)].into_iter(), |_, _| Ok(())), &["second side", "expected 3, found 2"]);
}

#[test]
fn bounded_loads() {
    let placement = dx(4, &["a", "b"]).placement().unwrap();
    for epsilon in [-0.1, -1e-9, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        refused(BoundedLoads::new(&placement, epsilon), &["epsilon", &epsilon.to_string(), "0 or more"]);
        refused(capacities(10, epsilon, &[1, 1]), &["epsilon", "0 or more"]);
    }
    assert!(BoundedLoads::new(&placement, 0.0).is_ok());
    let mut bounded = BoundedLoads::new(&placement, 0.0).unwrap();
    bounded.observe(Keys::from(&[1, 2, 3][..])).unwrap();
    let mut nodes = [NodeId::NONE; 4];
    bounded.nodes(&mut nodes[..2]).unwrap();
    refused(bounded.observe(Keys::from(&[4][..])), &["second pass", "observe every key first"]);
    refused(bounded.nodes(&mut nodes[..2]), &["keys left", "expected 1, found 2"]);
    // A batch that is refused is not observed.
    let identity = builder("dx").hash(KeyHash::Identity).nodes([Node::new("a")]).build().unwrap().placement().unwrap();
    let mut bounded = BoundedLoads::new(&identity, 0.0).unwrap();
    refused(bounded.observe(Keys::fixed(1, b"xyz").unwrap()), &["identity"]);
    bounded.observe(Keys::from(&[1][..])).unwrap();
    bounded.nodes(&mut nodes[..1]).unwrap();
    assert_eq!(nodes[0].index(), Some(0));
}

#[test]
fn sides_that_hash_differently() {
    let of = |hash, seed| builder("dx").hash(hash).seed(seed).nodes([Node::new("a")]).build().unwrap();
    let typed = |key| builder("dx").key(key).nodes([Node::new("a")]).build().unwrap();
    let plain = of(KeyHash::Default, 0);
    refused(check_sides(&plain, &of(KeyHash::Default, 7), false), &["seed", "0 and 7", "--allow-rehash"]);
    refused(check_sides(&plain, &of(KeyHash::Xxh3, 0), false), &["hash", "default and xxh3", "--allow-rehash"]);
    refused(check_sides(&typed(KeyType::U64), &typed(KeyType::Text), false), &["key type", "u64 and text"]);
    assert!(check_sides(&plain, &of(KeyHash::Xxh3, 7), true).is_ok());
    assert!(check_sides(&plain, &typed(KeyType::U64), false).is_ok());
    let crc = twin::cluster("dx-crc32c", &[FULL; 3], Order::Slots);
    assert!(check_sides(&of(KeyHash::Default, 7), &crc, false).is_ok());
}
