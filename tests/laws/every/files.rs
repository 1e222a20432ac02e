//! A cluster of any algorithm that goes through a file, with its nodes inside or in a table, places every key as before.

use proptest::prelude::*;
use rehome::{Cluster, Storage};

use super::{clusters_of, keys_for};
use crate::description::assert_same;
use crate::{cases, names};

fn assert_places_the_same(a: &Cluster, b: &Cluster, keys: &[u64]) {
    assert_same(a, b);
    assert_eq!(a.parameters().collect::<Vec<_>>(), b.parameters().collect::<Vec<_>>());
    assert_eq!(names(a, keys), names(b, keys));
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn toml_json_and_tables_keep_every_row(cluster in clusters_of(|_| true), seed: u64) {
        let keys = keys_for(&cluster, seed, 200);
        let (toml, json) = (cluster.to_toml().unwrap(), cluster.to_json());
        assert_places_the_same(&cluster, &Cluster::from_toml(&toml).unwrap(), &keys);
        assert_places_the_same(&cluster, &Cluster::from_json(&json.to_string()).unwrap(), &keys);
        // The same text again, so that a file which is written back has no needless difference.
        prop_assert_eq!(Cluster::from_toml(&toml).unwrap().to_toml().unwrap(), toml);

        let dir = tempfile::tempdir().unwrap();
        for storage in [Storage::Csv, Storage::Parquet] {
            let path = dir.path().join("c.toml");
            let other = cluster.converted(cluster.algorithm().name).unwrap().storage(storage).build().unwrap();
            let saved = other.save(&path, true).unwrap();
            prop_assert!(saved.node_table.unwrap().exists());
            assert_places_the_same(&cluster, &Cluster::from_path(&path).unwrap(), &keys);
        }
    }

    /// To another algorithm and back: the nodes, their weights and zones, and who is down stay.
    #[test]
    fn converting_keeps_the_nodes(cluster in clusters_of(|_| true)) {
        for algorithm in ["rendezvous", "ring", "lrh"] {
            let other = cluster.converted(algorithm).unwrap().build().unwrap();
            prop_assert_eq!(other.nodes().len(), cluster.nodes().len());
            for (a, b) in cluster.nodes().iter().zip(other.nodes()) {
                prop_assert_eq!((a.name(), a.weight(), a.zone(), a.is_up()), (b.name(), b.weight(), b.zone(), b.is_up()));
            }
            prop_assert_eq!((cluster.seed(), cluster.hash()), (other.seed(), other.hash()));
        }
    }
}
