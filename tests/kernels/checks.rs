//! What is asked of every kernel.

use rehome::cpu::Kernel;
use rehome::hash::fmix64;
use rehome::placement::Words;
use rehome::{NodeId, Placement};

use crate::clusters::{self, Shape};

/// Panics if the kernel fails it.
pub(crate) type Check = fn(&Kernel);

/// The checks, by name.
pub(crate) const ALL: [(&str, Check); 6] = [
    ("short_batches", short_batches),
    ("shares_up", shares_up),
    ("large_arrays", large_arrays),
    ("odd_numbers_of_slots", odd_numbers_of_slots),
    ("guard_pages", guard_pages),
    ("refusals", refusals),
];

/// The algorithms that a kernel may work on.
fn algorithms(kernel: &Kernel) -> Vec<&'static str> {
    match kernel.algorithm() {
        "any" => vec!["dx", "dx-crc32c"],
        algorithm => vec![algorithm],
    }
}

/// The placements of a shape that a kernel fits.
fn placements(kernel: &Kernel, shape: Shape) -> Vec<(&'static str, Placement)> {
    let can = |algorithm: &&str| match *algorithm {
        "dx" => shape.slots.is_power_of_two(),
        _ => !shape.weighted,
    };
    let made = algorithms(kernel).into_iter().filter(can).map(|algorithm| (algorithm, shape.placement(algorithm)));
    made.filter(|(_, placement)| kernel.fits(placement.lookup())).collect()
}

/// Random keys; raw ones of 32 bits for dx-crc32c.
fn keys(algorithm: &str, count: usize, seed: u64) -> Vec<u64> {
    let mask = if algorithm == "dx-crc32c" { u64::from(u32::MAX) } else { u64::MAX };
    (0..count as u64).map(|index| fmix64(index ^ seed.rotate_left(17)) & mask).collect()
}

/// As many keys as make about this many probes.
fn count_for(shape: &Shape, probes: u64) -> usize {
    usize::try_from((probes / shape.mean()).clamp(40, 20_000)).unwrap()
}

/// The literal answers: nodes, and search lengths as kernels give them.
fn literal(placement: &Placement, words: Words<'_>, replicas: usize) -> (Vec<NodeId>, Vec<u32>) {
    let mut nodes = vec![NodeId::NONE; words.len() * replicas];
    let mut lengths = Vec::new();
    for (index, nodes) in nodes.chunks_mut(replicas.max(1)).enumerate() {
        let (node, length) = placement.lookup().locate(words.get(index));
        lengths.push(u32::try_from(length).unwrap_or(u32::MAX));
        if replicas == 1 {
            nodes[0] = node;
        } else {
            placement.replicas(words.get(index), nodes).unwrap();
        }
    }
    (nodes, lengths)
}

/// The numbers of replicas to ask a kernel for.
fn replica_counts(kernel: &Kernel) -> Vec<usize> {
    if kernel.finds_replicas() { vec![2, 3, 5, kernel.most_replicas()] } else { vec![1] }
}

/// Compares on words that are there and on words that the kernel makes, nodes and lengths.
fn compare(kernel: &Kernel, algorithm: &str, shape: &Shape, placement: &Placement, count: usize) {
    let keys = keys(algorithm, count, shape.seed);
    let both = [Words::Known(&keys), Words::OfIntegers { keys: &keys, mixed: 0x1234_5678_9ABC_DEF0 }];
    // dx-crc32c takes keys as they are.
    for words in both.into_iter().take(if algorithm == "dx-crc32c" { 1 } else { 2 }) {
        for replicas in replica_counts(kernel) {
            // A list that wants a node of tiny weight takes up to 2^20 steps to end.
            let count = if kernel.finds_replicas() && shape.weighted { count.min(41) } else { count };
            let words = words.slice(0, count);
            let (want, want_lengths) = literal(placement, words, replicas);
            let mut nodes = vec![NodeId::NONE; count * replicas];
            if kernel.finds_replicas() {
                kernel.replicas(placement.lookup(), words, replicas, &mut nodes).unwrap();
                same(&want, &nodes, shape, replicas);
                continue;
            }
            kernel.locate(placement.lookup(), words, &mut nodes).unwrap();
            same(&want, &nodes, shape, 1);
            let mut lengths = vec![7; count];
            nodes.fill(NodeId::NONE);
            kernel.lengths(placement.lookup(), words, &mut nodes, &mut lengths).unwrap();
            same(&want, &nodes, shape, 1);
            let differs = (0..count).find(|index| lengths[*index] != want_lengths[*index]);
            if let Some(index) = differs {
                panic!("{shape:?}, key {index}: length {} for {}", lengths[index], want_lengths[index]);
            }
        }
    }
}

fn same(want: &[NodeId], got: &[NodeId], shape: &Shape, replicas: usize) {
    if let Some(index) = (0..want.len()).find(|index| want[*index] != got[*index]) {
        let key = index / replicas;
        panic!("{shape:?}, key {key} of {}: {:?} for {:?}", want.len() / replicas, got[index], want[index]);
    }
}

/// Lengths 0 to 70 and odd ones above, at every alignment that slices can have.
fn short_batches(kernel: &Kernel) {
    let lengths: Vec<usize> = (0..=70).chain([127, 255, 257, 511, 513, 577, 1023, 1025, 1537, 4097]).collect();
    for shape in
        [Shape::new(64, 64), Shape::new(64, 40), Shape::new(4096, 1300), Shape { weighted: true, ..Shape::new(64, 40) }]
    {
        for (algorithm, placement) in placements(kernel, shape) {
            let keys = keys(algorithm, 4200, 1);
            for replicas in replica_counts(kernel) {
                let (want, _) = literal(&placement, Words::Known(&keys), replicas);
                let mut nodes = vec![NodeId::NONE; keys.len() * replicas + 16];
                for (number, length) in lengths.iter().enumerate() {
                    let (from, to) = (number % 9, number % 17);
                    let words = Words::Known(&keys[from..from + length]);
                    nodes.fill(NodeId::NONE);
                    let out = &mut nodes[to..to + length * replicas];
                    if kernel.finds_replicas() {
                        kernel.replicas(placement.lookup(), words, replicas, out).unwrap();
                    } else {
                        kernel.locate(placement.lookup(), words, out).unwrap();
                    }
                    same(&want[from * replicas..(from + length) * replicas], out, &shape, replicas);
                    // Nothing beside them was written.
                    let beside = nodes[..to].iter().chain(&nodes[to + length * replicas..]);
                    assert!(beside.into_iter().all(|node| *node == NodeId::NONE), "{shape:?}, length {length}");
                }
            }
        }
    }
}

/// Shares up from all to one slot, and none.
fn shares_up(kernel: &Kernel) {
    let mut tried = 0;
    for shape in clusters::small() {
        for (algorithm, placement) in placements(kernel, shape) {
            compare(kernel, algorithm, &shape, &placement, count_for(&shape, 300_000));
            tried += 1;
        }
    }
    assert!(tried > 5, "the kernel fits hardly any cluster");
}

/// Up to 2^26 slots.
fn large_arrays(kernel: &Kernel) {
    // An array in registers is small.
    for shape in clusters::large() {
        for (algorithm, placement) in placements(kernel, shape) {
            compare(kernel, algorithm, &shape, &placement, count_for(&shape, 400_000));
        }
    }
}

/// Any number of slots, which only dx-crc32c takes.
fn odd_numbers_of_slots(kernel: &Kernel) {
    for shape in clusters::odd() {
        for (algorithm, placement) in placements(kernel, shape) {
            compare(kernel, algorithm, &shape, &placement, count_for(&shape, 200_000));
        }
    }
}

/// Slices that begin or end at a page that cannot be touched.
#[cfg(unix)]
fn guard_pages(kernel: &Kernel) {
    use crate::guarded::{At, Guarded};
    let shapes = [
        Shape::new(512, 512),
        Shape::new(512, 200),
        Shape::new(8192, 900),
        Shape { weighted: true, ..Shape::new(512, 200) },
    ];
    for shape in shapes {
        for (algorithm, placement) in placements(kernel, shape) {
            for length in (0..40).chain([255, 256, 257, 511, 512, 513, 1000]) {
                let keys = keys(algorithm, length, 3);
                for (at, to) in [(At::Start, At::End), (At::End, At::Start), (At::End, At::End)] {
                    let guarded = Guarded::new(&keys, at);
                    let words = Words::Known(guarded.slice());
                    for replicas in replica_counts(kernel) {
                        let (want, _) = literal(&placement, words, replicas);
                        let mut out = Guarded::new(&vec![NodeId::NONE; length * replicas], to);
                        let nodes = out.slice_mut();
                        if kernel.finds_replicas() {
                            kernel.replicas(placement.lookup(), words, replicas, nodes).unwrap();
                        } else {
                            kernel.locate(placement.lookup(), words, nodes).unwrap();
                        }
                        same(&want, nodes, &shape, replicas);
                    }
                    if !kernel.finds_replicas() {
                        let mut out = Guarded::new(&vec![NodeId::NONE; length], to);
                        let mut lengths = Guarded::new(&vec![0_u32; length], to);
                        let nodes = out.slice_mut();
                        kernel.lengths(placement.lookup(), words, nodes, lengths.slice_mut()).unwrap();
                        same(&literal(&placement, words, 1).0, nodes, &shape, 1);
                    }
                }
            }
        }
    }
}

#[cfg(not(unix))]
fn guard_pages(_kernel: &Kernel) {}

/// What a kernel must refuse: lengths that differ, and placements that it is not made for.
fn refusals(kernel: &Kernel) {
    let shape = clusters::small().into_iter().find(|shape| !placements(kernel, *shape).is_empty()).unwrap();
    let (_, placement) = placements(kernel, shape).remove(0);
    let keys = [1, 2, 3];
    let mut short = [NodeId::NONE; 2];
    if kernel.finds_replicas() {
        assert!(kernel.replicas(placement.lookup(), Words::Known(&keys), 2, &mut short).is_err());
        let most = kernel.most_replicas() + 1;
        assert!(kernel.replicas(placement.lookup(), Words::Known(&[1]), most, &mut vec![NodeId::NONE; most]).is_err());
        assert!(kernel.locate(placement.lookup(), Words::Known(&keys), &mut [NodeId::NONE; 3]).is_err());
    } else {
        assert!(kernel.locate(placement.lookup(), Words::Known(&keys), &mut short).is_err());
        assert!(kernel.lengths(placement.lookup(), Words::Known(&keys[..2]), &mut short, &mut [0]).is_err());
        assert!(kernel.replicas(placement.lookup(), Words::Known(&keys), 1, &mut [NodeId::NONE; 3]).is_err());
    }
    if kernel.algorithm() != "any" {
        let ring = rehome::Cluster::builder("ring").unwrap().nodes([rehome::Node::new("a")]).build().unwrap();
        let ring = ring.placement().unwrap();
        assert!(!kernel.fits(ring.lookup()));
        assert!(kernel.locate(ring.lookup(), Words::Known(&keys), &mut [NodeId::NONE; 3]).is_err());
    }
}
