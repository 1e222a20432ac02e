//! Keys of every shape lie as evenly as random ones: by chi-square, on fixed keys, so that a run cannot fail by chance.

use rehome::hash::KeyHash;
use rehome::{Cluster, Engine, KeyBuffer, Keys};

use crate::twin;
use crate::twin::{FULL, Order, Random};

const KEYS: u64 = 1 << 17;

/// How far, in standard deviations, the chi-square statistic of keys on a cluster is from that of random keys.
fn z(engine: &Engine, cluster: &Cluster, keys: Keys<'_>) -> f64 {
    let counts = engine.count(&cluster.placement().unwrap(), keys).unwrap();
    assert_eq!(counts.unplaced, 0);
    let total: f64 = cluster.nodes().iter().map(|node| if node.is_up() { node.weight() } else { 0.0 }).sum();
    let (mut chi, mut degrees) = (0.0, -1.0);
    for (node, count) in cluster.nodes().iter().zip(counts.per_node) {
        if node.is_eligible() {
            let expected = keys.len() as f64 * node.weight() / total;
            assert!(expected > 20.0, "chi-square needs more keys");
            chi += (count as f64 - expected).powi(2) / expected;
            degrees += 1.0;
        } else {
            assert_eq!(count, 0);
        }
    }
    (chi - degrees) / (2.0_f64 * degrees).sqrt()
}

/// Plain and weighted, dense and sparse.
fn subjects(hash: KeyHash, seed: u64) -> Vec<Cluster> {
    let mut random = Random::new(3);
    let mut plain = vec![FULL; 256];
    plain[..80].fill(0);
    random.shuffle(&mut plain);
    let mut sparse = vec![FULL; 1024];
    sparse[..950].fill(0);
    random.shuffle(&mut sparse);
    let weighted: Vec<u32> = plain.iter().map(|t| t / 20 + random.below(t * 19 / 20 + 1)).collect();
    let nodes =
        |t: &[u32]| Cluster::builder("dx").unwrap().slots(t.len() as u64).nodes(twin::nodes(t, Order::Shuffled(4)));
    [plain, sparse, weighted].map(|t| nodes(&t).hash(hash).seed(seed).build().unwrap()).into()
}

fn check(hash: KeyHash, seed: u64, families: &[(String, Keys<'_>)]) {
    let engine = Engine::builder().threads(2).build().unwrap();
    for cluster in subjects(hash, seed) {
        for (family, keys) in families {
            let z = z(&engine, &cluster, *keys);
            assert!(z.abs() < 5.0, "{family}, {hash}, seed {seed}: z = {z:.2} on {} slots", cluster.slots().size());
        }
    }
}

fn texts(text: impl Fn(u64) -> String) -> KeyBuffer {
    let mut keys = KeyBuffer::new();
    (0..KEYS).for_each(|number| keys.push(text(number).as_bytes()).unwrap());
    keys
}

#[test]
fn counting_and_strided_integers() {
    let strided: Vec<(String, Vec<u64>)> =
        (0..=40).map(|bits| (format!("stride 2^{bits}"), (0..KEYS).map(|key| key << bits).collect())).collect();
    let families: Vec<_> = strided.iter().map(|(name, keys)| (name.clone(), Keys::from(keys))).collect();
    check(KeyHash::Default, 0, &families);
    check(KeyHash::Default, 7, &families);
}

#[test]
fn integers_that_differ_in_one_half() {
    let high: Vec<u64> = (0..KEYS).map(|key| key << 32).collect();
    let top: Vec<u64> = (0..KEYS).map(|key| key << 47).collect();
    let descending: Vec<u64> = (0..KEYS).map(|key| u64::MAX - key).collect();
    // Milliseconds since 1970 with a counter of twelve bits, as many id generators make them.
    let snowflakes: Vec<u64> = (0..KEYS).map(|key| ((1_700_000_000_000 + key / 3) << 22) | (key % 3)).collect();
    let random = Random::new(9).words(1 << 17);
    let families =
        [("high", &high), ("top", &top), ("descending", &descending), ("snowflakes", &snowflakes), ("random", &random)];
    check(KeyHash::Default, 0, &families.map(|(name, keys)| (name.to_owned(), Keys::from(keys))));
}

#[test]
fn every_hash() {
    let counting: Vec<u64> = (0..KEYS).collect();
    let users = texts(|number| format!("user:{number}"));
    let padded = texts(|number| format!("{number:016}"));
    let families = [Keys::from(&counting), users.keys(), padded.keys()];
    let names = ["counting", "users", "padded"].map(str::to_owned);
    let families: Vec<_> = names.into_iter().zip(families).collect();
    for hash in KeyHash::ALL {
        match hash {
            // Counting numbers are no digests.
            KeyHash::Identity => {
                let random = Random::new(10).words(1 << 17);
                check(hash, 0, &[("random".to_owned(), Keys::from(&random))]);
            }
            KeyHash::Crc32 => check(hash, 0, &families),
            _ => check(hash, u64::MAX - 1, &families),
        }
    }
}
