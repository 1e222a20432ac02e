//! DxHash, scalar, one thread, against the authors' way of doing it, in one process.
//!
//! `cargo bench --bench dx`. Every case runs the peer and the scalar batch by turns, on the same keys, and measures the
//! processor time of the thread; the ratio is the median over the rounds of the two times of one round, so that what
//! disturbs a round disturbs both. What must reach 2.5 is the geometric mean of the ratios over the four shares, for each
//! number of slots. The answers are summed up while they are timed and compared with the literal
//! functions afterwards.
//!
//! The peer: one byte per slot, the CRC-32C instruction where the processor has it, the remainder by a size that is
//! known at run time only, one key per call that the compiler cannot look through.

use std::hint::black_box;
use std::time::Duration;

use rehome::engine::thread_time;
use rehome::hash::{fmix64, halves};
use rehome::{Cluster, Engine, Node, NodeId, Placement};

/// Keys of a batch: with their nodes they stay in the second-level cache, so that placing is measured, not memory.
const KEYS: usize = 1 << 16;
/// Batches of a round.
const REPEAT: usize = 8;
const ROUNDS: usize = 31;
const MUST: f64 = 2.5;

fn main() {
    // `cargo test --benches` passes --test: nothing is timed then.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    println!("{:<12}{:>10}{:>14}{:>14}{:>9}", "slots", "share up", "peer Mkeys/s", "dx Mkeys/s", "ratio");
    let keys: Vec<u64> = (0..KEYS as u64).map(|index| fmix64(index.wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect();
    let mut failed = false;
    for slots in [1 << 10, 1 << 20] {
        let ratios = [100, 90, 50, 10].map(|percent| case(slots, percent, &keys));
        let mean = ratios.iter().product::<f64>().powf(0.25);
        let verdict = if mean >= MUST { "pass" } else { "FAIL" };
        println!("{slots:<12}{:>10}{mean:>37.2}  at least {MUST}: {verdict}", "mean");
        failed |= mean < MUST;
    }
    if failed {
        std::process::exit(1);
    }
}

/// Measures one case, prints its row, and gives the ratio.
fn case(slots: u32, percent: u64, keys: &[u64]) -> f64 {
    let up = |slot: u32| slot == slots / 2 || fmix64(u64::from(slot) * 77 + u64::from(slots)) % 100 < percent;
    let dx = placement("dx", slots, up);
    let crc = placement("dx-crc32c", slots, up);
    let bytes: Vec<u8> = (0..slots).map(|slot| u8::from(up(slot))).collect();
    let mut nodes = vec![NodeId::NONE; keys.len()];
    let hasher = *dx.hasher();
    // A batch of one chunk runs on this thread.
    let engine = Engine::builder().threads(1).chunk_keys(keys.len()).build().expect("an engine");

    let (mut peer_times, mut dx_times) = (Vec::new(), Vec::new());
    let (mut peer_sum, mut dx_sum) = (0, 0);
    for _ in 0..ROUNDS {
        let start = thread_time();
        for _ in 0..REPEAT {
            peer_sum = keys.iter().map(|key| u64::from(peer(halves(*key).0, &bytes))).sum();
        }
        peer_times.push(thread_time() - start);

        let start = thread_time();
        for _ in 0..REPEAT {
            engine.locate(&dx, keys, &mut nodes).expect("integer keys are placed");
        }
        dx_times.push(thread_time() - start);
        dx_sum = sum(&nodes);
    }
    let literal = |placement: &Placement, word: &dyn Fn(u64) -> u64| {
        let nodes: Vec<NodeId> = keys.iter().map(|key| placement.lookup().locate(word(*key)).0).collect();
        sum(&nodes)
    };
    assert_eq!(peer_sum, literal(&crc, &|key| u64::from(halves(key).0)), "the peer places keys elsewhere");
    assert_eq!(dx_sum, literal(&dx, &|key| hasher.word(rehome::Key::Integer(key)).expect("a word")), "dx differs");

    let rate =
        |times: &[Duration]| (keys.len() * REPEAT) as f64 / median(times.iter().map(Duration::as_secs_f64)) / 1e6;
    let ratio = median(peer_times.iter().zip(&dx_times).map(|(peer, dx)| peer.as_secs_f64() / dx.as_secs_f64()));
    let (peer_rate, dx_rate) = (rate(&peer_times), rate(&dx_times));
    println!("{slots:<12}{percent:>8} %{peer_rate:>14.1}{dx_rate:>14.1}{ratio:>9.2}");
    ratio
}

/// A cluster with a node in every slot that is up.
fn placement(algorithm: &str, slots: u32, up: impl Fn(u32) -> bool) -> Placement {
    let nodes = (0..slots).map(|slot| Node::new(format!("node-{slot}")).with_slot(slot).with_up(up(slot)));
    let builder = Cluster::builder(algorithm).expect("the algorithm is known");
    let cluster = builder.slots(u64::from(slots)).nodes(nodes).build().expect("a cluster");
    cluster.placement().expect("a placement")
}

/// The sum of the slots, which the nodes of these clusters are numbered by.
fn sum(nodes: &[NodeId]) -> u64 {
    nodes.iter().map(|node| node.index().map_or(u64::from(u32::MAX), |index| index as u64)).sum()
}

/// The middle value.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The authors' search: a chain of CRC-32C words, at most 4n of them.
#[inline(always)]
fn peer_search(key: u32, slots: &[u8], crc: impl Fn(u32, u64) -> u32) -> u32 {
    let size = u32::try_from(slots.len()).unwrap_or(u32::MAX);
    let seed = key.wrapping_mul(421_757).wrapping_add(1);
    let mut x = crc(seed, u64::from(key));
    let mut steps = 1;
    while slots[(x % size) as usize] == 0 {
        x = crc(seed, u64::from(x));
        steps += 1;
        if steps >= 4 * size {
            return u32::MAX;
        }
    }
    x % size
}

#[cfg(target_arch = "x86_64")]
fn peer(key: u32, slots: &[u8]) -> u32 {
    #[target_feature(enable = "sse4.2")]
    #[inline(never)]
    #[expect(clippy::cast_possible_truncation, reason = "the instruction gives 32 bits in a 64-bit register")]
    fn with_instruction(key: u32, slots: &[u8]) -> u32 {
        peer_search(key, slots, |crc, word| std::arch::x86_64::_mm_crc32_u64(u64::from(crc), word) as u32)
    }
    assert!(std::arch::is_x86_feature_detected!("sse4.2"), "the peer needs the CRC-32C instruction (SSE4.2)");
    // SAFETY: the line above has found SSE4.2, which is all that the function enables.
    black_box(unsafe { with_instruction(black_box(key), black_box(slots)) })
}

#[cfg(not(target_arch = "x86_64"))]
fn peer(_key: u32, _slots: &[u8]) -> u32 {
    panic!("not measured: the peer is written for x86-64 processors with SSE4.2")
}
