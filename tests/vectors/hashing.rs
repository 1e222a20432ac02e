//! Key hashes, mixing, probes, and what weights become.

use rehome::hash::{KeyHash, KeyHasher, ProbeSequence, fmix64, mix32, murmur3_x64_128_h1, node_hash};
use rehome::{Key, Node};

use crate::{digests, number, numbers, placement_v1, read, rows, words};

#[test]
fn digests_of_integer_keys() {
    let vectors = placement_v1();
    let keys = numbers(&vectors["keys"]);
    assert_eq!(keys.len(), 256);
    assert_eq!(words(KeyHash::Default, 0, &keys), digests(&vectors));
    assert_eq!(words(KeyHash::Default, 7, &keys), numbers(&vectors["digest_seed_7"]));
    assert_eq!(words(KeyHash::Crc32, 0, &keys), numbers(&vectors["digest_crc32_of_8_le_bytes"]));
    assert_eq!(words(KeyHash::Murmur3, 7, &keys), numbers(&vectors["digest_murmur3_of_8_le_bytes_seed_7"]));
    assert_eq!(words(KeyHash::Identity, 0, &keys), keys);
}

#[test]
fn wide_seeds_and_negative_keys() {
    let edge = &placement_v1()["edge"];
    let keys = numbers(&placement_v1()["keys"])[..16].to_vec();
    let seed = edge["wide_seed"]["seed"].as_u64().unwrap();
    assert_eq!(words(KeyHash::Default, seed, &keys), numbers(&edge["wide_seed"]["digest"]));
    assert_eq!(words(KeyHash::Murmur3, seed, &keys), numbers(&edge["wide_seed"]["murmur3_of_8_le_bytes"]));
    let negative = edge["negative_i32_key"]["key"].as_i64().unwrap().cast_unsigned();
    assert_eq!(words(KeyHash::Default, 0, &[negative]), [edge["negative_i32_key"]["digest"].as_u64().unwrap()]);
}

#[test]
fn murmur3_of_text() {
    let hasher = KeyHasher::new(KeyHash::Murmur3, 0).unwrap();
    for pair in placement_v1()["digest_murmur3_of_text"].as_array().unwrap() {
        let (text, digest) = (pair[0].as_str().unwrap().as_bytes(), pair[1].as_u64().unwrap());
        assert_eq!(hasher.word(Key::Bytes(text)).unwrap(), digest);
        assert_eq!(murmur3_x64_128_h1(text, 0), digest);
    }
}

#[test]
fn mixing_and_probes() {
    let vectors = placement_v1();
    for pair in rows(&vectors["mix32"]) {
        assert_eq!(mix32(pair[0]), pair[1]);
    }
    let probes = rows(&vectors["probe"]);
    assert_eq!(probes.len(), 64);
    for (digest, probes) in digests(&vectors).into_iter().zip(probes) {
        let sequence = ProbeSequence::new(digest);
        assert_eq!((0..6).map(|index| sequence.word(index)).collect::<Vec<_>>(), probes);
        assert_eq!(sequence.take(6).collect::<Vec<_>>(), probes);
    }
}

#[test]
fn texts_and_names() {
    let names = read(include_str!("names.json"));
    let word = |hash, seed, text: &str| KeyHasher::new(hash, seed).unwrap().word(Key::Bytes(text.as_bytes())).unwrap();
    for case in names["cases"].as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        let wanted = |field: &str| case[field].as_u64().unwrap();
        assert_eq!(node_hash(text), wanted("xxh3"));
        for hash in [KeyHash::Default, KeyHash::Xxh3] {
            assert_eq!(word(hash, 0, text), wanted("xxh3"));
            assert_eq!(word(hash, 7, text), wanted("xxh3_seed_7"));
        }
        assert_eq!(word(KeyHash::Xxh64, 0, text), wanted("xxh64"));
        assert_eq!(word(KeyHash::Crc32, 0, text), fmix64(wanted("crc32")));
    }
    let end_to_end = read(include_str!("end-to-end.json"));
    for case in end_to_end["xxh64"].as_array().unwrap() {
        let digest = case["xxh64_seed_7"].as_u64().unwrap();
        assert_eq!(word(KeyHash::Xxh64, 7, case["text"].as_str().unwrap()), digest);
    }
}

#[test]
fn weights_become_quanta() {
    for pair in placement_v1()["weight_to_q16"].as_array().unwrap() {
        let node = Node::new("a").with_weight(pair[0].as_f64().unwrap());
        assert_eq!(node.quantum(), number(&pair[1]), "{pair}");
    }
    assert_eq!(Node::new("a").with_weight(0.3).quantum(), 19_661);
}
