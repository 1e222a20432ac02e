//! The registry: one line per algorithm, from which every verb, check and message takes what it needs to know.

use super::{Algorithm, DefaultValue, KeyRule, Layout, Moves, Parameter, ParameterKind, Removal, Weights, defaults};

/// Every algorithm, in the order of the documentation.
pub fn algorithms() -> &'static [&'static Algorithm] {
    &ALGORITHMS
}

static ALGORITHMS: [&Algorithm; 11] =
    [&DX, &DX_CRC32C, &LRH, &MULTI_PROBE, &RING, &RENDEZVOUS, &MAGLEV, &SACH, &JUMP, &ANCHOR, &MODULO];

const SLOTS: Parameter = Parameter {
    name: "slots",
    kind: ParameterKind::Slots,
    default: DefaultValue::OfNodes {
        value: defaults::twice_the_power,
        text: "the next power of two at or above the number of nodes, times 2",
    },
    meaning: "places for nodes; a lookup takes slots / nodes probes on average, and doubling them moves half of all keys",
};

const QUEUE: Parameter = Parameter {
    name: "queue",
    kind: ParameterKind::FreeSlots,
    default: DefaultValue::Fresh("the inactive slots, ascending"),
    meaning: "the order in which new nodes take inactive slots",
};

const CAPACITY: Parameter = Parameter {
    name: "capacity",
    kind: ParameterKind::Slots,
    default: DefaultValue::OfNodes {
        value: defaults::twice_the_power,
        text: "the next power of two at or above the number of nodes, times 2",
    },
    meaning: "the most nodes there can ever be; it cannot change, and a lookup takes 1 + ln(capacity / nodes) hops or so",
};

const REMOVED: Parameter = Parameter {
    name: "removed",
    kind: ParameterKind::FreeSlots,
    default: DefaultValue::Fresh("the slots without a node, descending"),
    meaning: "slots in the order in which they were removed: those without a node and those whose node is down",
};

const fn tokens(default: u32) -> Parameter {
    Parameter {
        name: "tokens",
        kind: ParameterKind::Number { least: 1, most: u32::MAX },
        default: DefaultValue::Number(default),
        meaning: "tokens (virtual nodes) of a node of weight 1: more spread the keys more evenly and cost memory",
    }
}

const WINDOW: Parameter = Parameter {
    name: "window",
    kind: ParameterKind::Number { least: 1, most: u32::MAX },
    default: DefaultValue::Number(8),
    meaning: "distinct nodes behind a key's place on the ring that compete for it",
};

const WEIGHT_BY: Parameter = Parameter {
    name: "weight_by",
    kind: ParameterKind::Word(&["score", "tokens"]),
    default: DefaultValue::Word("score"),
    meaning: "what a weight changes: a node's score in the window (a share is then capped near window / nodes), or its \
              number of tokens",
};

const PROBES: Parameter = Parameter {
    name: "probes",
    kind: ParameterKind::Number { least: 1, most: u32::MAX },
    default: DefaultValue::Number(21),
    meaning: "places on the ring that a key tries; k probes keep the largest load near 1 + 1/(k - 1) of the average",
};

const SIZE: Parameter = Parameter {
    name: "size",
    kind: ParameterKind::Number { least: 2, most: u32::MAX },
    default: DefaultValue::OfNodes {
        value: defaults::maglev_size,
        text: "the smallest prime at or above 100 * 2^ceil(log2 nodes)",
    },
    meaning: "entries of the table, a prime; another size moves nearly every key, so keep it when nodes join",
};

static DX: Algorithm = Algorithm {
    name: "dx",
    summary: "pseudo-random probes into a bit array of slots: any node joins or leaves with the least moves, weights up to 1",
    parameters: &[SLOTS, QUEUE],
    weights: Weights::UpToOne,
    list: true,
    removal: Removal::Any,
    moves: Moves::Least,
    keys: KeyRule::Digest,
    layout: Layout::Slots { most: 1 << 31, power_of_two: true },
};

static DX_CRC32C: Algorithm = Algorithm {
    name: "dx-crc32c",
    summary: "the DxHash authors' own CRC-32C chain over 32-bit keys, bit for bit; loads slots unevenly for strided keys, \
              so take it only to match a system that uses it",
    parameters: &[SLOTS, QUEUE],
    weights: Weights::One,
    list: false,
    removal: Removal::Any,
    moves: Moves::Least,
    keys: KeyRule::Raw32,
    layout: Layout::Slots { most: (1 << 30) - 1, power_of_two: false },
};

static LRH: Algorithm = Algorithm {
    name: "lrh",
    summary: "a ring narrows each key to a window of nodes, which compete by score: even loads with few cache misses; a \
              node that joins or leaves for good also moves some keys between others",
    parameters: &[tokens(256), WINDOW, WEIGHT_BY],
    weights: Weights::Any,
    list: true,
    removal: Removal::Any,
    moves: Moves::LeastWhenDown,
    keys: KeyRule::Digest,
    layout: Layout::Names,
};

static MULTI_PROBE: Algorithm = Algorithm {
    name: "multi-probe",
    summary: "many probes on a ring of few tokens, the closest wins: little memory and an even largest load, but some node \
              may be almost empty",
    parameters: &[tokens(1), PROBES],
    weights: Weights::Any,
    list: true,
    removal: Removal::Any,
    moves: Moves::Least,
    keys: KeyRule::Digest,
    layout: Layout::Names,
};

static RING: Algorithm = Algorithm {
    name: "ring",
    summary: "the classic ring of tokens: any node joins or leaves with the least moves, loads as even as its tokens are many",
    parameters: &[tokens(256)],
    weights: Weights::Any,
    list: true,
    removal: Removal::Any,
    moves: Moves::Least,
    keys: KeyRule::Digest,
    layout: Layout::Names,
};

static RENDEZVOUS: Algorithm = Algorithm {
    name: "rendezvous",
    summary: "the node with the highest score for the key: the evenest loads, exact weights and the least moves, at the cost \
              of one score per node and lookup",
    parameters: &[],
    weights: Weights::Any,
    list: true,
    removal: Removal::Any,
    moves: Moves::Least,
    keys: KeyRule::Digest,
    layout: Layout::Names,
};

static MAGLEV: Algorithm = Algorithm {
    name: "maglev",
    summary: "a table filled by turns: one read per lookup and the evenest table, but a change of nodes also moves some keys \
              between others",
    parameters: &[SIZE],
    weights: Weights::Any,
    list: false,
    removal: Removal::Any,
    moves: Moves::More,
    keys: KeyRule::Digest,
    layout: Layout::Names,
};

static SACH: Algorithm = Algorithm {
    name: "sach",
    summary: "a Maglev table that keeps the entries of nodes that are down and hashes past them; from its abstract, since the \
              article's own allocation is not public",
    parameters: &[SIZE],
    weights: Weights::Any,
    list: false,
    removal: Removal::Any,
    moves: Moves::LeastWhenDown,
    keys: KeyRule::Digest,
    layout: Layout::Names,
};

static JUMP: Algorithm = Algorithm {
    name: "jump",
    summary: "no memory at all and the least moves, but only the last nodes can leave or be down",
    parameters: &[],
    weights: Weights::One,
    list: false,
    removal: Removal::Last,
    moves: Moves::Least,
    keys: KeyRule::Digest,
    layout: Layout::Dense,
};

static ANCHOR: Algorithm = Algorithm {
    name: "anchor",
    summary: "few hops in a table of fixed capacity: any node leaves with the least moves, and nodes come back in reverse order",
    parameters: &[CAPACITY, REMOVED],
    weights: Weights::One,
    list: false,
    removal: Removal::Any,
    moves: Moves::Least,
    keys: KeyRule::Digest,
    layout: Layout::Removals { most: 1 << 31 },
};

static MODULO: Algorithm = Algorithm {
    name: "modulo",
    summary: "the digest modulo the number of nodes: a baseline, since nearly every key moves whenever that number changes",
    parameters: &[],
    weights: Weights::One,
    list: false,
    removal: Removal::LastNeverDown,
    moves: Moves::More,
    keys: KeyRule::Digest,
    layout: Layout::Dense,
};
