use serde_json::Value;

use super::scalar::jump;
use super::*;
use crate::hash::fmix64;

fn slot(key: u64, slots: u32) -> u32 {
    jump(key, slots).unwrap().0
}

/// The function as the paper prints it, with its signed integers.
#[expect(clippy::cast_possible_truncation, reason = "as the paper has it")]
fn printed(mut key: u64, slots: u32) -> (i64, u64) {
    let (mut b, mut j, mut draws) = (-1_i64, 0_i64, 0);
    while j < i64::from(slots) {
        b = j;
        key = key.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
        j = ((b + 1) as f64 * ((1_u64 << 31) as f64 / ((key >> 33) + 1) as f64)) as i64;
        draws += 1;
    }
    (b, draws)
}

#[test]
fn published_vectors() {
    // Guava's `Hashing.consistentHash`.
    assert_eq!([1, 2, 3, 4, 5].map(|key| slot(key, 100)), [55, 62, 8, 45, 59]);
    assert_eq!(slot(256, 1024), 520);
    assert_eq!(slot(10_863_919_174_838_991, 11), 6);
}

#[test]
fn golden_vectors() {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/placement-v1.json"));
    let vectors: Value = serde_json::from_str(text).unwrap();
    // The slot counts that the vectors' notes give.
    assert_eq!(vectors["notes"]["jump"], "bucket counts 1, 10, 1000, 1000000");
    for (words, results) in [("keys", "jump_raw_key"), ("digest", "jump_digest")] {
        let (words, results) = (vectors[words].as_array().unwrap(), vectors[results].as_array().unwrap());
        assert_eq!((words.len(), results.len()), (256, 256));
        for (word, wanted) in words.iter().zip(results) {
            let found = [1, 10, 1000, 1_000_000].map(|slots| slot(word.as_u64().unwrap(), slots));
            assert_eq!(*wanted, Value::from(found.to_vec()), "word {word}");
        }
    }
}

#[test]
fn equals_the_printed_function() {
    let sizes = [0, 1, 2, 3, 7, 64, 1000, 1 << 20, 1 << 31, u32::MAX];
    for key in (0..3000).map(fmix64).chain([0, 1, u64::MAX]) {
        for slots in sizes {
            let (b, draws) = printed(key, slots);
            let wanted = u32::try_from(b).ok().map(|slot| (slot, draws));
            assert_eq!(jump(key, slots), wanted, "key {key}, {slots} slots");
        }
    }
}

#[test]
fn the_farthest_jump() {
    // The state behind this key is 5, whose upper 31 bits are 0: the draw is 1, and the jump goes as far as one can.
    let multiplier = 2_862_933_555_777_941_757_u64;
    let inverse = (0..6).fold(1_u64, |x, _| x.wrapping_mul(2_u64.wrapping_sub(x.wrapping_mul(multiplier))));
    assert_eq!(multiplier.wrapping_mul(inverse), 1);
    let key = inverse.wrapping_mul(4);
    assert_eq!(jump(key, 1 << 31), Some((0, 1)));
    assert_eq!(jump(key, (1 << 31) + 1), Some((1 << 31, 2)));
}

#[test]
fn growth_moves_keys_only_to_the_new_slot() {
    for key in (0..20_000).map(fmix64) {
        let mut before = slot(key, 1);
        for slots in 2..40 {
            let after = slot(key, slots);
            assert!(after == before || after == slots - 1, "key {key}: {before} to {after} of {slots}");
            before = after;
        }
    }
}

#[test]
fn the_last_node_to_leave_gives_its_keys_to_all_others() {
    let mut given = [0; 9];
    (0..20_000).map(fmix64).filter(|key| slot(*key, 10) == 9).for_each(|key| given[slot(key, 9) as usize] += 1);
    assert!(given.iter().all(|keys| (150..300).contains(keys)), "{given:?}");
}

#[test]
fn balance_is_that_of_chance() {
    let (keys, slots) = (200_000_u64, 50_u32);
    let mut counts = vec![0_u32; slots as usize];
    (0..keys).map(|key| fmix64(key ^ 77)).for_each(|key| counts[slot(key, slots) as usize] += 1);
    let expected = f64::from(200_000_u32) / f64::from(slots);
    let chi2: f64 = counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
    // 49 degrees of freedom: mean 49, standard deviation 9.9.
    assert!((20.0..90.0).contains(&chi2), "{chi2}");
}

#[test]
fn nodes_come_from_their_slots() {
    let listed: Box<[NodeId]> = [4, 2, 0, 1, 3].map(NodeId::new).into();
    let (shuffled, agreeing) = (Jump::new(listed.clone()), Jump::new((0..5).map(NodeId::new).collect()));
    assert_eq!((shuffled.memory_bytes(), agreeing.memory_bytes()), (20, 0));
    for word in (0..1000).map(fmix64) {
        let (slot, draws) = jump(word, 5).unwrap();
        assert_eq!(shuffled.locate(word), (listed[slot as usize], draws));
        assert_eq!(agreeing.locate(word), (NodeId::new(slot), draws));
    }
}

#[test]
fn one_node_gets_everything_and_nobody_nothing() {
    let one = Jump::new([NodeId::new(7)].into());
    let nobody = Jump::new(Box::default());
    for word in (0..100).map(fmix64) {
        assert_eq!(one.locate(word), (NodeId::new(7), 1));
        assert_eq!(nobody.locate(word), (NodeId::NONE, 0));
    }
}

#[test]
fn no_preference_list() {
    let jump = Jump::new([NodeId::new(0)].into());
    assert!(jump.prefer(1, &mut |_| panic!("visited a node")).is_err());
}

#[test]
fn estimates_hold() {
    for (slots, table) in [(1, false), (5, true), (31, false), (32, true), (1000, true)] {
        let mut nodes: Vec<NodeId> = (0..slots).map(NodeId::new).collect();
        if table {
            nodes.reverse();
        }
        let compiled = Jump::new(nodes.into());
        let estimate = estimate(slots, table);
        assert_eq!(estimate.memory_bytes, compiled.memory_bytes());
        assert_eq!(estimate.building_bytes, u64::from(slots) * 4);
        let draws: u64 = (0..20_000).map(|key| compiled.locate(fmix64(key)).1).sum();
        let mean = draws as f64 / 20_000.0;
        assert!((mean - estimate.steps).abs() < 0.06, "{slots} slots: {mean}, estimated {}", estimate.steps);
    }
    let summed: f64 = (1..=1000).map(|k| 1.0 / f64::from(k)).sum();
    assert!((harmonic(1000) - summed).abs() < 1e-12 && (harmonic(0), harmonic(1)) == (0.0, 1.0));
}
