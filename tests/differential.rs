//! The library against the literal twin, on many random cases.

mod twin;

use rehome::hash::{KeyHash, KeyHasher};
use rehome::placement::Words;
use rehome::{Cluster, Engine, Key, KeyBuffer, Keys, Node, NodeId, Placement, Spread};
use twin::{Crc32c, FULL, NONE, Order, Random};

// ---- dx-crc32c -------------------------------------------------------------------------------------------------

/// `n` slots of which `up` are up, at random places.
fn some_up(random: &mut Random, n: usize, up: usize) -> Vec<u32> {
    let mut t = vec![0; n];
    t[..up].fill(FULL);
    random.shuffle(&mut t);
    t
}

/// From 1 to `n`, small ones as likely as large ones.
fn share(random: &mut Random, n: u32) -> usize {
    let up = f64::from(n).powf(random.unit());
    (1..=n).find(|count| f64::from(*count) >= up).unwrap() as usize
}

#[test]
fn crc32c_against_the_specification() {
    let crc = Crc32c::new();
    // The page's values, and the check value of CRC-32C (which inverts before and after).
    assert_eq!(crc.of_u64(0, 1), 0x493C_7D27);
    assert_eq!(crc.of_u64(u32::MAX, 0x0102_0304_0506_0708), 0xD906_FDE3);

    let mut random = Random::new(1);
    let (mut gave_up, mut cases) = (0, 0);
    for round in 0..2000 {
        let n = 1 + if round % 2 == 0 { random.below(5000) } else { random.below(64) };
        // One slot alone is where giving up is common; among many slots it takes long.
        let up = if round % 8 == 1 || round % 64 == 0 { 1 } else { share(&mut random, n) };
        let t = some_up(&mut random, n as usize, up);
        let active: Vec<bool> = t.iter().map(|t| *t > 0).collect();
        let order = if round % 3 == 0 { Order::Slots } else { Order::Shuffled(round) };
        let placement = twin::cluster("dx-crc32c", &t, order).placement().unwrap();
        let keys: Vec<u64> = (0..500).map(|_| random.word() >> 32).collect();
        let batch = twin::batch(&placement, &keys);
        for (key, batched) in keys.into_iter().zip(batch) {
            let (node, length) = placement.lookup().locate(key);
            let wanted = crc.dx(twin::lo(key), &active);
            assert_eq!((twin::slot(&placement, node), length), wanted, "key {key}, {n} slots, {up} up");
            assert_eq!(batched, node);
            gave_up += u32::from(wanted.0 == NONE);
            cases += 1;
        }
    }
    assert_eq!(cases, 1_000_000);
    assert!(gave_up > 1000, "only {gave_up} keys gave up");
}

// ---- dx --------------------------------------------------------------------------------------------------------

/// Words on which kernel, scalar code and twin agree; the kernel also on every short and many an odd length.
fn check_dx(t: &[u32], order: Order, words: &[u64]) {
    let placement = twin::cluster("dx", t, order).placement().unwrap();
    let wanted: Vec<u32> = words
        .iter()
        .map(|word| {
            let (slot, length) = twin::dx(*word, t);
            let (node, counted) = placement.lookup().locate(*word);
            assert_eq!((twin::slot(&placement, node), counted), (slot, length), "word {word}, {} slots", t.len());
            slot
        })
        .collect();
    let lengths = [71, 127, 128, 129, 255, 511, 1023, 1024, 1025, 1031, 1032, 1033, 2047, 2048, 2049, 4097];
    for length in (0..=70).chain(lengths).chain([words.len()]).filter(|length| *length <= words.len()) {
        // Not always the same words, so that every one is once the first, the last, and in the middle.
        let start = (length * 37) % (words.len() - length + 1);
        let nodes = twin::batch(&placement, &words[start..start + length]);
        assert_eq!(twin::slots(&placement, &nodes), wanted[start..start + length], "{length} words, {} slots", t.len());
        check_integers(&placement, &words[start..start + length]);
    }
}

/// The kernel that hashes on its way, against hashing first.
fn check_integers(placement: &Placement, keys: &[u64]) {
    let hasher = KeyHasher::new(KeyHash::Default, keys.len() as u64).unwrap();
    let mut words = vec![0; keys.len()];
    hasher.words(Keys::from(keys), &mut words).unwrap();
    let mut nodes = vec![NodeId::NONE; keys.len()];
    placement.lookup().locate_batch(Words::OfIntegers { keys, mixed: hasher.mixed_integers().unwrap() }, &mut nodes);
    assert_eq!(nodes, twin::batch(placement, &words));
}

/// Thresholds of eligible slots: full, tiny, or anything between, but never so few that searches are long.
fn weighted(random: &mut Random, plain: &[u32]) -> Vec<u32> {
    let threshold = |t: &u32| match random.below(8) {
        _ if *t == 0 => 0,
        0 => FULL,
        1 => FULL - 1,
        2 => 1 + random.below(16),
        _ => 1 + random.below(FULL),
    };
    plain.iter().map(threshold).collect()
}

#[test]
fn the_kernel_at_every_share() {
    let mut random = Random::new(2);
    for up in [1024, 1023, 1000, 900, 512, 300, 100, 33, 10, 3, 2, 1, 0] {
        let t = some_up(&mut random, 1024, up);
        // With few slots up every word costs a thousand steps.
        let words = random.words(if up < 30 { 1100 } else { 5003 });
        check_dx(&t, Order::Slots, &words);
        check_dx(&t, Order::Shuffled(3), &words);
        if up >= 10 {
            check_dx(&weighted(&mut random, &t), Order::Shuffled(4), &words);
        }
    }
    // One drained to the smallest weight: searches of 2^20 steps on average.
    let mut t = [0; 16];
    t[11] = 1;
    check_dx(&t, Order::Slots, &random.words(12));
}

#[test]
fn the_kernel_at_every_size() {
    let mut random = Random::new(5);
    for bits in (0..=16).chain([20]) {
        let n = 1 << bits;
        let words = random.words(2500);
        for up in [n, n * 2 / 3 + 1, n / 3 + 1, n / 50 + 1] {
            // A million nodes take a second to describe: only once.
            if bits == 20 && up != n / 3 + 1 {
                continue;
            }
            let t = some_up(&mut random, n, up);
            let order = if bits % 2 == 1 { Order::Slots } else { Order::Shuffled(6) };
            check_dx(&t, order, &words);
            // A lone tiny weight would take millions of steps.
            if up > 8 {
                check_dx(&weighted(&mut random, &t), order, &words);
            }
        }
    }
}

#[test]
fn weights_of_one_are_plain() {
    let mut random = Random::new(7);
    let t = some_up(&mut random, 256, 100);
    let plain = twin::cluster("dx", &t, Order::Slots);
    let mut weighted = plain.clone();
    let name = weighted.nodes()[0].name().to_owned();
    weighted.set_weight(&name, 0.25).unwrap();
    weighted.set_weight(&name, 1.0).unwrap();
    assert!(weighted.is_weighted() && !plain.is_weighted());
    let words = random.words(5000);
    let located = |cluster: &Cluster| twin::batch(&cluster.placement().unwrap(), &words);
    assert_eq!(located(&weighted), located(&plain));
}

// ---- hashes of columns -----------------------------------------------------------------------------------------

fn check_words(hash: KeyHash, seed: u64, keys: Keys<'_>) {
    let hasher = KeyHasher::new(hash, seed).unwrap();
    let mut words = vec![0; keys.len()];
    hasher.words(keys, &mut words).unwrap();
    for (index, key) in keys.iter().enumerate() {
        assert_eq!(words[index], hasher.word(key).unwrap(), "{hash}, seed {seed}, {key:?}");
        if let (Key::Integer(integer), false) = (key, matches!(hash, KeyHash::Default | KeyHash::Identity)) {
            let bytes = integer.to_le_bytes();
            assert_eq!(words[index], hasher.word(Key::Bytes(&bytes)).unwrap());
        }
    }
}

#[test]
fn hashes_of_columns() {
    let mut random = Random::new(8);
    let integers = random.words(1000);
    let bytes: Vec<u8> = random.words(4000).into_iter().flat_map(u64::to_le_bytes).collect();
    // Every length from 0 to 300: all the paths inside XXH3.
    let mut buffer = KeyBuffer::new();
    for length in 0..=300 {
        buffer.push(&bytes[length..2 * length]).unwrap();
    }
    for hash in KeyHash::ALL {
        let seeds: &[u64] =
            if matches!(hash, KeyHash::Crc32 | KeyHash::Identity) { &[0] } else { &[0, 7, 1 << 40, u64::MAX] };
        for seed in seeds {
            check_words(hash, *seed, Keys::from(&integers));
            check_words(hash, *seed, Keys::from(&[][..]));
            if hash != KeyHash::Identity {
                check_words(hash, *seed, buffer.keys());
                check_words(hash, *seed, buffer.keys().slice(17, 290));
                check_words(hash, *seed, Keys::fixed(16, &bytes).unwrap());
                check_words(hash, *seed, Keys::fixed(3, &bytes[..3000]).unwrap().slice(1, 999));
            }
        }
    }
    // The default hash of integers has a definition of its own.
    for seed in [0, 7, u64::MAX] {
        let hasher = KeyHasher::new(KeyHash::Default, seed).unwrap();
        for key in &integers {
            assert_eq!(hasher.word(Key::Integer(*key)).unwrap(), twin::digest(*key, seed));
        }
    }
}

// ---- replicas --------------------------------------------------------------------------------------------------

fn replicas(placement: &Placement, word: u64, r: usize) -> Vec<u32> {
    let mut nodes = vec![NodeId::NONE; r];
    placement.replicas(word, &mut nodes).unwrap();
    let mut slots = twin::slots(placement, &nodes);
    let taken = slots.iter().position(|slot| *slot == NONE).unwrap_or(r);
    assert!(slots[taken..].iter().all(|slot| *slot == NONE), "a hole in {slots:?}");
    slots.truncate(taken);
    slots
}

/// A cluster of random shares, weights, zones and order of nodes, with its thresholds and the zone of every slot.
fn zoned(random: &mut Random, spread: Spread) -> (Placement, Vec<u32>, Vec<Option<u32>>) {
    let n = 1 << random.below(9);
    let up = random.below(n + 1) as usize;
    let plain = some_up(random, n as usize, up);
    let is_plain = random.below(2) == 0;
    let heavy = |t: &u32| if *t == 0 { 0 } else { FULL / 8 + random.below(FULL * 7 / 8 + 1) };
    let t: Vec<u32> = if is_plain { plain } else { plain.iter().map(heavy).collect() };
    let zones = 1 + random.below(6);
    let zone: Vec<Option<u32>> = t.iter().map(|_| (random.below(5) > 0).then(|| random.below(zones))).collect();
    let order = if random.below(2) == 0 { Order::Slots } else { Order::Shuffled(random.word()) };
    let nodes = twin::nodes(&t, order).into_iter().map(|node| match zone[node.slot().unwrap() as usize] {
        Some(zone) => node.with_zone(format!("dc{}/rack{}", zone % 2, zone / 2)),
        None => node,
    });
    let cluster = Cluster::builder("dx").unwrap().slots(u64::from(n)).spread(spread).nodes(nodes).build().unwrap();
    (cluster.placement().unwrap(), t, zone)
}

#[test]
fn replicas_against_two_passes_over_the_list() {
    let mut random = Random::new(9);
    for _ in 0..300 {
        for spread in [Spread::Node, Spread::Zone] {
            let (placement, t, zone) = zoned(&mut random, spread);
            for word in random.words(8) {
                let list = twin::dx_list(word, &t, usize::MAX);
                assert_eq!(list.len(), placement.eligible());
                assert_eq!(replicas(&placement, word, list.len() + 3), {
                    let all = list.len() + 3;
                    if spread == Spread::Node {
                        list.clone()
                    } else {
                        twin::replicas(&list, all, |slot| zone[slot as usize])
                    }
                });
                for r in 0..=6 {
                    let wanted = match spread {
                        Spread::Node => list[..r.min(list.len())].to_vec(),
                        Spread::Zone => twin::replicas(&list, r, |slot| zone[slot as usize]),
                    };
                    assert_eq!(replicas(&placement, word, r), wanted, "r = {r}, {spread}, {} slots", t.len());
                }
                // The head of the list is the node of the key, zones or not.
                let head = placement.lookup().locate(word).0;
                assert_eq!(
                    replicas(&placement, word, 1).first().copied().unwrap_or(NONE),
                    twin::slot(&placement, head)
                );
            }
        }
    }
}

#[test]
fn a_visitor_can_stop_anywhere() {
    let mut random = Random::new(10);
    let t = some_up(&mut random, 128, 40);
    let placement = twin::cluster("dx", &t, Order::Shuffled(11)).placement().unwrap();
    for word in random.words(50) {
        let list = twin::dx_list(word, &t, usize::MAX);
        for stop in 1..=40 {
            let mut visited = Vec::new();
            let visit = &mut |node| {
                visited.push(twin::slot(&placement, node));
                if visited.len() == stop {
                    std::ops::ControlFlow::Break(())
                } else {
                    std::ops::ControlFlow::Continue(())
                }
            };
            placement.lookup().prefer(word, visit).unwrap();
            assert_eq!(visited, list[..stop]);
        }
    }
}

// ---- lookups by key --------------------------------------------------------------------------------------------

#[test]
fn nodes_of_every_kind_of_key() {
    let mut random = Random::new(12);
    let t = some_up(&mut random, 64, 40);
    let integers = random.words(3000);
    let bytes: Vec<u8> = integers.iter().flat_map(|word| word.to_le_bytes()).collect();
    let offsets: Vec<i32> = (0..=600).map(|index| index * 40 - (index % 7)).map(|offset| offset.max(0)).collect();
    let engine = Engine::builder().threads(2).chunk_keys(97).build().unwrap();
    for hash in KeyHash::ALL {
        let seed = if matches!(hash, KeyHash::Crc32 | KeyHash::Identity) { 0 } else { 99 };
        let builder = Cluster::builder("dx").unwrap().slots(64).hash(hash).seed(seed);
        let nodes: Vec<Node> = twin::nodes(&t, Order::Shuffled(13));
        let placement = builder.nodes(nodes).build().unwrap().placement().unwrap();
        let mut columns = vec![Keys::from(&integers)];
        if hash != KeyHash::Identity {
            columns.extend([Keys::bytes(&offsets, &bytes).unwrap(), Keys::fixed(16, &bytes).unwrap()]);
        }
        for keys in columns {
            let mut nodes = vec![NodeId::NONE; keys.len()];
            engine.locate(&placement, keys, &mut nodes).unwrap();
            for (key, node) in keys.iter().zip(nodes) {
                assert_eq!(placement.locate(key).unwrap(), node);
                let word = placement.hasher().word(key).unwrap();
                assert_eq!(twin::slot(&placement, node), twin::dx(word, &t).0);
            }
        }
    }
}
