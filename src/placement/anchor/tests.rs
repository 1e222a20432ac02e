use serde_json::Value;

use super::*;
use crate::hash::fmix64;

fn vectors() -> Value {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/placement-v1.json"));
    serde_json::from_str(text).unwrap()
}

fn number(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

fn digests(vectors: &Value) -> Vec<u64> {
    vectors["digest"].as_array().unwrap().iter().map(|digest| digest.as_u64().unwrap()).collect()
}

/// Compiled, with node i in slot i.
fn compiled(capacity: u32, history: &[u32]) -> Anchor {
    Anchor::new(capacity, history.iter().copied(), NodeId::new).unwrap()
}

/// The literal state after a history, every slot with its table entries.
fn literal(capacity: u32, history: &[u32]) -> AnchorState {
    let mut state = AnchorState::new(capacity, capacity).unwrap();
    history.iter().for_each(|slot| state.remove(*slot).unwrap());
    state
}

fn slot(state: &AnchorState, digest: u64) -> u32 {
    state.lookup(digest).unwrap().0
}

/// Both forms give every key the same slot after the same number of steps.
fn assert_same(capacity: u32, history: &[u32], state: &AnchorState, digests: impl IntoIterator<Item = u64>) {
    let anchor = compiled(capacity, history);
    assert_eq!((anchor.capacity(), anchor.working()), (capacity, state.working()));
    for digest in digests {
        let wanted = state.lookup(digest).map_or((NodeId::NONE, 0), |(slot, steps)| (NodeId::new(slot), steps));
        assert_eq!(anchor.locate(digest), wanted, "digest {digest}, capacity {capacity}, removed {history:?}");
    }
}

/// The slots below `capacity` in a random order.
fn shuffled(capacity: u32, seed: u64) -> Vec<u32> {
    let mut slots: Vec<u32> = (0..capacity).collect();
    slots.sort_by_key(|slot| fmix64(u64::from(*slot) ^ fmix64(seed + 1)));
    slots
}

/// Unused slots from the top down, then `more` of the others in random order.
fn history(capacity: u32, used: u32, more: usize, seed: u64) -> Vec<u32> {
    (used..capacity).rev().chain(shuffled(used, seed).into_iter().take(more)).collect()
}

#[test]
fn golden_vectors() {
    let vectors = vectors();
    let digests = &digests(&vectors)[..64];
    let stages = vectors["anchor_32_working_26"].as_array().unwrap();
    assert_eq!(stages.len(), 20);
    let mut state = AnchorState::new(32, 26).unwrap();
    let mut history: Vec<u32> = (26..32).rev().collect();
    for stage in stages {
        match stage["op"].as_str().unwrap() {
            "start" => {}
            "remove" => {
                state.remove(number(&stage["bucket"])).unwrap();
                history.push(number(&stage["bucket"]));
            }
            "add" => {
                assert_eq!(state.add(), Some(number(&stage["bucket"])));
                assert_eq!(history.pop(), Some(number(&stage["bucket"])));
            }
            other => panic!("unknown operation {other}"),
        }
        assert_eq!(state.working(), number(&stage["working"]));
        let found: Vec<u32> = digests.iter().map(|digest| slot(&state, *digest)).collect();
        assert_eq!(Value::from(found), stage["lookup"], "{stage}");
        assert_same(32, &history, &state, digests.iter().copied());
    }
}

#[test]
fn golden_edge_all_removed() {
    let vectors = vectors();
    let edge = &vectors["edge"]["anchor_all_removed"];
    let capacity = number(&edge["capacity"]);
    let anchor = compiled(capacity, &[0, 1, 2, 3]);
    let (node, steps) = anchor.locate(digests(&vectors)[0]);
    assert_eq!((capacity, node.raw(), steps), (4, number(&edge["lookup"]), 0));
    assert_eq!(literal(4, &[0, 1, 2, 3]).lookup(digests(&vectors)[0]), None);
}

#[test]
fn compiled_equals_literal_on_random_histories() {
    for seed in 0..300 {
        let capacity = 1 + u32::try_from(fmix64(seed) % 70).unwrap();
        let used = u32::try_from(fmix64(seed + 1000) % (u64::from(capacity) + 1)).unwrap();
        let more = usize::try_from(fmix64(seed + 2000) % (u64::from(used) + 1)).unwrap();
        let mut history = history(capacity, used, more, seed);
        let mut state = literal(capacity, &history);
        let digests = || (0..60).map(|key| fmix64(key ^ seed << 32)).chain([0, u64::MAX]);
        assert_same(capacity, &history, &state, digests());
        for _ in 0..3 {
            assert_eq!(state.add(), history.pop());
            assert_same(capacity, &history, &state, digests());
        }
    }
}

#[test]
fn compiled_equals_literal_down_to_the_last_slot() {
    for capacity in [0, 1, 2, 3, 17] {
        let order = shuffled(capacity, 5);
        for removed in 0..=order.len() {
            let state = literal(capacity, &order[..removed]);
            assert_same(capacity, &order[..removed], &state, (0..200).map(fmix64));
        }
    }
}

#[test]
fn a_large_capacity_costs_no_memory_by_itself() {
    let (capacity, used) = (1 << 20, 1000);
    let history = history(capacity, used, 300, 9);
    assert_same(capacity, &history, &literal(capacity, &history), (0..20_000).map(fmix64));
    assert_eq!(compiled(capacity, &history).memory_bytes(), 8 * u64::from(used));
    let fresh: Vec<u32> = (used..capacity).rev().collect();
    assert_eq!(AnchorState::new(capacity, used).unwrap(), literal(capacity, &fresh));
}

#[test]
fn a_removed_slot_moves_only_its_keys() {
    let mut state = literal(64, &history(64, 50, 10, 3));
    for removed in shuffled(50, 3).into_iter().skip(10) {
        let before: Vec<u32> = (0..2000).map(|key| slot(&state, fmix64(key))).collect();
        state.remove(removed).unwrap();
        for (key, before) in (0..2000).zip(before) {
            let after = state.lookup(fmix64(key)).map(|(slot, _)| slot);
            assert!(after == Some(before) || before == removed, "key {key} went from {before} to {after:?}");
            assert_ne!(after, Some(removed));
        }
    }
    assert_eq!(state.working(), 0);
}

#[test]
fn adding_restores_what_was_removed_last() {
    let order = shuffled(40, 11);
    let mut state = AnchorState::new(40, 40).unwrap();
    let mut before = Vec::new();
    for slot in &order {
        before.push(state.clone());
        state.remove(*slot).unwrap();
    }
    for (slot, before) in order.into_iter().zip(before).rev() {
        assert_eq!(state.add(), Some(slot));
        assert_eq!(state, before);
    }
    assert_eq!(state.add(), None);
}

#[test]
fn working_slots_get_even_shares() {
    for (used, more, seed) in [(64, 32, 1), (100, 0, 2), (100, 60, 3), (128, 127, 4)] {
        let anchor = compiled(128, &history(128, used, more, seed));
        let mut counts = vec![0_u32; 128];
        for key in 0..200_000 {
            counts[anchor.locate(fmix64(key ^ seed << 40)).0.index().unwrap()] += 1;
        }
        let working = f64::from(anchor.working());
        let expected = 200_000.0 / working;
        let used: Vec<f64> = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count)).collect();
        assert_eq!(used.len(), anchor.working() as usize);
        let chi2: f64 = used.iter().map(|count| (count - expected).powi(2) / expected).sum();
        let z = (chi2 - (working - 1.0)) / (2.0 * working).sqrt();
        assert!(z.abs() < 3.5, "{working} working: chi-square {chi2}");
    }
}

#[test]
fn nodes_come_from_their_slots() {
    let history = history(40, 30, 12, 6);
    let state = literal(40, &history);
    let nodes = |slot| NodeId::new(if state.is_working(slot) { 100 - slot } else { panic!("slot {slot} has no node") });
    let listed = Anchor::new(40, history.iter().copied(), nodes).unwrap();
    assert_eq!((listed.memory_bytes(), compiled(40, &history).memory_bytes()), (30 * 12, 30 * 8));
    for digest in (0..1000).map(fmix64) {
        let (slot, steps) = state.lookup(digest).unwrap();
        assert_eq!(listed.locate(digest), (NodeId::new(100 - slot), steps));
    }
}

#[test]
fn a_wrong_history_is_named() {
    let cases: [(&[u32], &str); 6] = [
        (&[8], "slot 8 of an anchor is removed, but its capacity is 8"),
        (&[7, 6, 2, u32::MAX], "slot 4294967295 of an anchor is removed, but its capacity is 8"),
        (&[7, 6, 7], "slot 7 of an anchor is removed twice"),
        (&[3, 3], "slot 3 of an anchor is removed twice"),
        (&[0, 1, 2, 3, 4, 5, 6, 7, 7], "slot 7 of an anchor is removed twice"),
        (&[7, 6, 5, 4, 3, 2, 1, 0, 0], "slot 0 of an anchor is removed twice"),
    ];
    for (history, wanted) in cases {
        let error = Anchor::new(8, history.iter().copied(), NodeId::new).unwrap_err().to_string();
        assert!(error.starts_with(wanted), "{history:?}: {error}");
    }
    let mut state = AnchorState::new(8, 5).unwrap();
    let before = state.clone();
    assert!([5, 7, 8].into_iter().all(|slot| state.remove(slot).is_err()) && state == before);
}

#[test]
fn no_preference_list() {
    assert!(compiled(4, &[]).prefer(1, &mut |_| panic!("visited a node")).is_err());
}

#[test]
fn estimates_hold() {
    for (capacity, tabled, more) in [(100, 100, 0), (1000, 100, 0), (1000, 1000, 900), (400, 200, 150), (64, 64, 63)] {
        let working = tabled - u32::try_from(more).unwrap();
        let known = estimate(capacity, tabled, working, false);
        let (mut steps, mut keys) = (0, 0_u64);
        for seed in 0..40 {
            let anchor = compiled(capacity, &history(capacity, tabled, more, seed));
            // A random order may go on downwards for a slot or two.
            let saved = known.memory_bytes - anchor.memory_bytes();
            assert!(saved <= 3 * 8, "{saved} bytes less than estimated");
            steps += (0..1000).map(|key| anchor.locate(fmix64(key ^ seed << 20)).1).sum::<u64>();
            keys += 1000;
        }
        let mean = steps as f64 / keys as f64;
        assert!((mean / known.steps - 1.0).abs() < 0.03, "{capacity}, {working}: {mean}, not {}", known.steps);
    }
    let large = estimate(1 << 31, 1 << 31, 1 << 31, true);
    assert_eq!((large.memory_bytes, large.building_bytes), (12 << 31, 20 << 31));
    assert_eq!(estimate(8, 8, 0, false).steps, 0.0);
}
