//! Laws that hold for every cluster and every set of keys, on random ones.

mod balance;
mod bounded;
mod description;
mod disruption;
mod engine;
mod every;
mod lists;
mod plan;
mod queue;
#[path = "../twin/mod.rs"]
mod twin;

use proptest::collection::vec;
use proptest::prelude::*;
use rehome::{Cluster, Keys, Node, NodeId, Spread};
use twin::{FULL, Random};

/// Cases per law: all laws together stay well below a minute.
fn cases(count: u32) -> ProptestConfig {
    // A failure is printed with its smallest case; no file is left in the checkout.
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(count) }
}

/// What is in a slot.
#[derive(Clone, Debug)]
enum State {
    Empty,
    Up(u32),
    Down(u32),
}

/// Thresholds of 1/64 or more, so that at most 256 slots are never too sparse and every list is found by searching.
fn threshold() -> impl Strategy<Value = u32> {
    prop_oneof![3 => Just(FULL), 2 => FULL / 64..=FULL]
}

fn state() -> impl Strategy<Value = State> {
    prop_oneof![
        3 => Just(State::Empty),
        6 => threshold().prop_map(State::Up),
        1 => threshold().prop_map(State::Down),
        1 => Just(State::Up(0)),
    ]
}

/// Clusters of 1 to 256 slots with any share up, weights, zones, drained nodes, and nodes listed in any order.
fn clusters() -> impl Strategy<Value = Cluster> {
    let states = (0_u32..=8).prop_flat_map(|bits| vec(state(), 1 << bits));
    (states, any::<u64>(), any::<bool>(), 1_u32..6).prop_map(|(states, seed, zoned, zones)| {
        let mut random = Random::new(seed);
        let mut nodes = Vec::new();
        for (slot, state) in (0..).zip(&states) {
            let (t, up) = match state {
                State::Empty => continue,
                State::Up(t) => (*t, true),
                State::Down(t) => (*t, false),
            };
            let node = Node::new(format!("n{slot}")).with_slot(slot).with_up(up).with_weight(f64::from(t) / 65_536.0);
            let zone = random.below(zones + 1);
            nodes.push(if zone < zones { node.with_zone(format!("z{zone}")) } else { node });
        }
        random.shuffle(&mut nodes);
        let spread = if zoned { Spread::Zone } else { Spread::Node };
        let builder = Cluster::builder("dx").unwrap().slots(states.len() as u64).seed(seed).spread(spread);
        builder.nodes(nodes).build().unwrap()
    })
}

/// Integer keys: half of them counting, half random.
fn some_keys(seed: u64, count: usize) -> Vec<u64> {
    (0..count as u64 / 2).chain(Random::new(seed).words(count - count / 2)).collect()
}

fn words(cluster: &Cluster, keys: Keys<'_>) -> Vec<u64> {
    let mut words = vec![0; keys.len()];
    cluster.hasher().unwrap().words(keys, &mut words).unwrap();
    words
}

/// The nodes of keys, by the kernel.
fn located(cluster: &Cluster, keys: &[u64]) -> Vec<NodeId> {
    twin::batch(&cluster.placement().unwrap(), &words(cluster, Keys::from(keys)))
}

fn name(cluster: &Cluster, node: NodeId) -> Option<&str> {
    Some(cluster.nodes()[node.index()?].name())
}

/// The names of the nodes of keys; none for unplaced ones.
fn names<'a>(cluster: &'a Cluster, keys: &[u64]) -> Vec<Option<&'a str>> {
    located(cluster, keys).into_iter().map(|node| name(cluster, node)).collect()
}

/// The same description with its nodes listed in another order, in the same slots.
fn relisted(cluster: &Cluster, seed: u64) -> Cluster {
    let mut file = cluster.to_json();
    // A file without nodes has no list of them.
    if let Some(nodes) = file.get_mut("nodes") {
        Random::new(seed).shuffle(nodes.as_array_mut().unwrap());
    }
    Cluster::from_json(&file.to_string()).unwrap()
}

/// The zone of a node; one without is a zone of its own.
fn zone(node: &Node) -> (&str, bool) {
    node.zone().map_or((node.name(), false), |zone| (zone, true))
}
