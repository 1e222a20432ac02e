//! The text of a cluster file, TOML or JSON: what is read can be saved and is then read as the same cluster, and what
//! compiles at a small cost finds nodes for keys.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rehome::{Cluster, NodeId};

fuzz_target!(|text: &str| {
    // One input is tried as both, so that the corpus needs no marks.
    for cluster in [Cluster::from_toml(text), Cluster::from_json(text)].into_iter().flatten() {
        same_again(&cluster);
        look_up(&cluster);
    }
});

fn same_again(cluster: &Cluster) {
    let json = cluster.to_json();
    let toml = cluster.to_toml().expect("a cluster that was read can be written");
    let from_toml = Cluster::from_toml(&toml).unwrap_or_else(|error| panic!("{error}\n{toml}"));
    let text = json.to_string();
    let from_json = Cluster::from_json(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    for again in [&from_toml, &from_json] {
        assert_eq!(again.to_json(), json);
        assert_eq!(again.to_toml().ok().as_deref(), Some(&*toml));
        assert_eq!(again.nodes(), cluster.nodes());
        assert_eq!(again.slots(), cluster.slots());
        assert_eq!(again.algorithm().name, cluster.algorithm().name);
        let settings = |cluster: &Cluster| {
            (cluster.hash(), cluster.seed(), cluster.key(), cluster.spread(), cluster.is_weighted())
        };
        assert_eq!(settings(again), settings(cluster));
    }
}

fn look_up(cluster: &Cluster) {
    let estimate = cluster.placement_estimate().expect("a cluster that was read has an estimate");
    if cluster.check_placement().is_err() || estimate.building_bytes > 1 << 20 || estimate.steps > 1000.0 {
        return;
    }
    let placement = cluster.placement().expect("what passed the check compiles");
    let words: Vec<u64> = (0..100).map(rehome::hash::fmix64).collect();
    let mut nodes = vec![NodeId::NONE; words.len()];
    placement.lookup().locate_batch((&words[..]).into(), &mut nodes);
    for (word, node) in words.iter().zip(nodes) {
        assert_eq!(placement.lookup().locate(*word).0, node);
        assert!(node.index().is_none_or(|index| cluster.nodes()[index].is_eligible()));
        if cluster.algorithm().list {
            let mut first = [NodeId::NONE; 3];
            placement.replicas(*word, &mut first).expect("there is a list");
            assert_eq!(first[0], node, "the head of the list");
        }
    }
}
