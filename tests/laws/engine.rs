//! Threads, chunks, streams and the way a batch is cut never change a result.

use std::sync::LazyLock;

use proptest::prelude::*;
use rehome::engine::{Counts, Job, Want};
use rehome::{Cluster, Engine, KeyBuffer, KeyColumn, Keys, NodeId};

use crate::twin::Random;
use crate::{cases, clusters, some_keys, twin, words};

/// One engine per number of threads and size of chunks; 65,536 is more keys than a case has.
static ENGINES: LazyLock<Vec<Engine>> = LazyLock::new(|| {
    let engine = |threads, keys| Engine::builder().threads(threads).chunk_keys(keys).build().unwrap();
    [1, 2, 5].into_iter().flat_map(|threads| [1, 7, 256, 65_536].map(|keys| engine(threads, keys))).collect()
});

/// Keys of a stream; the two sides of a job may read different columns.
struct Column {
    integers: Vec<u64>,
    texts: KeyBuffer,
}

impl KeyColumn for Column {
    fn keys(&self, side: usize) -> Keys<'_> {
        if side == 0 { Keys::from(&self.integers) } else { self.texts.keys() }
    }
}

fn texts(keys: &[u64]) -> KeyBuffer {
    let mut texts = KeyBuffer::new();
    keys.iter().for_each(|key| texts.push(format!("key {key}").as_bytes()).unwrap());
    texts
}

/// What one key at a time gives.
fn one_by_one(cluster: &Cluster, keys: Keys<'_>, r: usize) -> (Vec<NodeId>, Vec<NodeId>, Counts) {
    let placement = cluster.placement().unwrap();
    let nodes: Vec<NodeId> = keys.iter().map(|key| placement.locate(key).unwrap()).collect();
    let mut replicas = vec![NodeId::NONE; r * keys.len()];
    for (word, replicas) in words(cluster, keys).into_iter().zip(replicas.chunks_mut(r.max(1))) {
        placement.replicas(word, replicas).unwrap();
    }
    let mut counts = Counts::new(placement.nodes());
    for node in &nodes {
        match node.index() {
            Some(index) => counts.per_node[index] += 1,
            None => counts.unplaced += 1,
        }
    }
    (nodes, replicas, counts)
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn of_batches(cluster in clusters(), seed: u64, count in 0_usize..1500, r in 0_usize..5) {
        let integers = some_keys(seed, count);
        let texts = texts(&integers);
        let placement = cluster.placement().unwrap();
        for keys in [Keys::from(&integers), texts.keys()] {
            let (wanted, wanted_replicas, wanted_counts) = one_by_one(&cluster, keys, r);
            for engine in ENGINES.iter() {
                // What was in the space before does not matter.
                let dirt = wanted.first().copied().unwrap_or(NodeId::NONE);
                let (mut nodes, mut replicas) = (vec![dirt; count], vec![dirt; r * count]);
                engine.locate(&placement, keys, &mut nodes).unwrap();
                engine.replicas(&placement, keys, r, &mut replicas).unwrap();
                prop_assert_eq!(&nodes, &wanted, "{:?}", engine);
                prop_assert_eq!(&replicas, &wanted_replicas, "{:?}", engine);
                prop_assert_eq!(&engine.count(&placement, keys).unwrap(), &wanted_counts, "{:?}", engine);
            }
        }
    }

    #[test]
    fn of_streams(left in clusters(), right in clusters(), seed: u64, count in 0_usize..3000, r in 0_usize..4) {
        let mut random = Random::new(seed);
        let keys = some_keys(seed, count);
        // Columns of 0 to 99 keys.
        let mut columns = Vec::new();
        let mut rest = &keys[..];
        while !rest.is_empty() {
            let (column, behind) = rest.split_at((random.below(100) as usize).min(rest.len()));
            columns.push(column.to_vec());
            rest = behind;
        }
        let sides = [one_by_one(&left, Keys::from(&keys), r), one_by_one(&right, texts(&keys).keys(), r)];
        let placements = vec![left.placement().unwrap(), right.placement().unwrap()];
        for engine in &ENGINES[..] {
            for want in [Want::Nodes, Want::Replicas(r), Want::Counts] {
                let job = Job { placements: placements.clone(), want };
                let source = columns.iter().map(|keys| Ok(Column { integers: keys.clone(), texts: texts(keys) }));
                let (mut seen, mut nodes) = (Vec::new(), [Vec::new(), Vec::new()]);
                let report = engine
                    .stream(&job, source, |column, found| {
                        seen.extend_from_slice(&column.integers);
                        for (nodes, found) in nodes.iter_mut().zip(found) {
                            assert_eq!(found.len(), column.integers.len() * want.nodes_per_key());
                            nodes.extend_from_slice(found);
                        }
                        Ok(())
                    })
                    .unwrap();
                prop_assert_eq!(&seen, &keys);
                prop_assert_eq!(report.keys, count as u64);
                for (side, (wanted, replicas, counts)) in sides.iter().enumerate() {
                    match want {
                        Want::Nodes => prop_assert_eq!(&nodes[side], wanted),
                        Want::Replicas(_) => prop_assert_eq!(&nodes[side], replicas),
                        Want::Counts => prop_assert_eq!(&report.counts[side], counts),
                    }
                }
            }
        }
    }

    #[test]
    fn of_cuts(cluster in clusters(), seed: u64, count in 0_usize..3000, cut: prop::sample::Index) {
        let placement = cluster.placement().unwrap();
        let words = Random::new(seed).words(count);
        let (first, second) = words.split_at(cut.index(count + 1));
        let parts = [twin::batch(&placement, first), twin::batch(&placement, second)].concat();
        prop_assert_eq!(parts, twin::batch(&placement, &words));
    }
}

/// One column in two placements of one hash: its words are made once and serve both.
#[test]
fn both_sides_of_one_column() {
    struct Shared(Vec<u64>);
    impl KeyColumn for Shared {
        fn keys(&self, _side: usize) -> Keys<'_> {
            Keys::from(&self.0)
        }
    }
    let keys = some_keys(1, 20_000);
    let t = [twin::FULL; 64];
    let nodes = || twin::nodes(&t, twin::Order::Slots);
    let cluster = |seed| Cluster::builder("dx").unwrap().slots(64).seed(seed).nodes(nodes()).build().unwrap();
    let mut smaller = cluster(5);
    smaller.remove(["s3", "s60"]).unwrap();
    // The same hash, and then another seed, which must not get the words of the first.
    for right in [smaller, cluster(6)] {
        let left = cluster(5);
        let job = Job { placements: vec![left.placement().unwrap(), right.placement().unwrap()], want: Want::Nodes };
        let source = keys.chunks(9000).map(|keys| Ok(Shared(keys.to_vec())));
        let mut found = [Vec::new(), Vec::new()];
        let sink = |_: &Shared, nodes: &[Vec<NodeId>]| {
            found.iter_mut().zip(nodes).for_each(|(found, nodes)| found.extend_from_slice(nodes));
            Ok(())
        };
        ENGINES[5].stream(&job, source, sink).unwrap();
        assert_eq!(found, [&left, &right].map(|cluster| one_by_one(cluster, Keys::from(&keys), 0).0));
    }
}

/// More keys than a strip, a chunk and a block have, in every kind of column and with every number of slots up.
#[test]
fn of_long_batches() {
    let integers = some_keys(7, 40_001);
    let texts = texts(&integers);
    for up in [64, 50, 20, 3, 0] {
        let t: Vec<u32> = (0..64).map(|slot| if slot * 37 % 64 < up { twin::FULL } else { 0 }).collect();
        let cluster = twin::cluster("dx", &t, twin::Order::Shuffled(8));
        let placement = cluster.placement().unwrap();
        for keys in [Keys::from(&integers), texts.keys()] {
            let (wanted, wanted_replicas, wanted_counts) = one_by_one(&cluster, keys, 2);
            // One key per chunk takes long.
            for engine in ENGINES.iter().enumerate().filter(|(index, _)| index % 4 > 0).map(|(_, engine)| engine) {
                let (mut nodes, mut replicas) = (vec![NodeId::NONE; keys.len()], vec![NodeId::NONE; 2 * keys.len()]);
                engine.locate(&placement, keys, &mut nodes).unwrap();
                engine.replicas(&placement, keys, 2, &mut replicas).unwrap();
                assert!(nodes == wanted && replicas == wanted_replicas, "{engine:?}, {up} slots up");
                assert_eq!(engine.count(&placement, keys).unwrap(), wanted_counts);
            }
        }
    }
}

/// A batch of many chunks inside the engine's own threads does its own work instead of waiting for itself.
#[test]
fn a_batch_inside_install_ends() {
    let cluster = Cluster::builder("dx").unwrap().nodes(["a", "b", "c"].map(rehome::Node::new)).build().unwrap();
    let placement = cluster.placement().unwrap();
    let engine = Engine::builder().threads(1).chunk_keys(100).build().unwrap();
    let keys: Vec<u64> = (0..10_000).collect();
    let (mut inside, mut outside) = (vec![NodeId::NONE; keys.len()], vec![NodeId::NONE; keys.len()]);
    engine.install(|| engine.locate(&placement, &keys, &mut inside)).unwrap();
    engine.locate(&placement, &keys, &mut outside).unwrap();
    assert_eq!(inside, outside);
}
