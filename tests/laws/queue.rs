//! The queue of inactive slots, against a queue of single slots.

use std::collections::VecDeque;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use rehome::{Cluster, Node};

use crate::cases;

#[derive(Clone, Debug)]
enum Edit {
    Add,
    Remove(Vec<Index>),
    Scale,
    Shrink,
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        6 => Just(Edit::Add),
        4 => vec(any::<Index>(), 1..4).prop_map(Edit::Remove),
        1 => Just(Edit::Scale),
        1 => Just(Edit::Shrink),
    ]
}

/// Slots as the specification describes them.
struct Model {
    name: Vec<Option<String>>,
    queue: VecDeque<u32>,
    made: u32,
}

impl Model {
    fn new(size: u32) -> Self {
        Self { name: vec![None; size as usize], queue: (0..size).collect(), made: 0 }
    }

    fn inactive(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.name).filter(|(_, name)| name.is_none()).map(|(slot, _)| slot)
    }

    fn place(&mut self, name: &str) -> Option<u32> {
        let slot = self.queue.pop_front()?;
        self.name[slot as usize] = Some(name.to_owned());
        Some(slot)
    }

    fn shrink(&mut self) -> Option<Vec<(String, u32, u32)>> {
        let half = self.name.len() / 2;
        let upper = (0..).zip(&self.name).skip(half);
        let moved: Vec<(u32, String)> = upper.filter_map(|(slot, name)| Some((slot, name.clone()?))).collect();
        let free = self.inactive().filter(|slot| (*slot as usize) < half).count();
        if !self.name.len().is_multiple_of(2) || moved.len() > free {
            return None;
        }
        self.name.truncate(half);
        self.queue = self.inactive().collect();
        Some(moved.into_iter().map(|(from, name)| (name.clone(), from, self.place(&name).unwrap())).collect())
    }
}

fn check(algorithm: &str, size: u32, most: u64, edits: &[Edit]) {
    let mut cluster = Cluster::builder(algorithm).unwrap().slots(u64::from(size)).build().unwrap();
    let mut model = Model::new(size);
    for edit in edits {
        match edit {
            Edit::Add => {
                model.made += 1;
                let name = format!("n{}", model.made);
                assert_eq!(cluster.add(Node::new(name.as_str())).ok().flatten(), model.place(&name));
            }
            Edit::Remove(which) => {
                // Some of the nodes there are, each once, in any order.
                let mut leaving: Vec<&Node> = Vec::new();
                for index in which.iter().filter(|_| !cluster.nodes().is_empty()) {
                    let node = index.get(cluster.nodes());
                    if !leaving.contains(&node) {
                        leaving.push(node);
                    }
                }
                let leaving: Vec<(String, u32)> =
                    leaving.iter().map(|node| (node.name().to_owned(), node.slot().unwrap())).collect();
                cluster.remove(leaving.iter().map(|(name, _)| name.as_str())).unwrap();
                for (_, slot) in leaving {
                    model.name[slot as usize] = None;
                    model.queue.push_back(slot);
                }
            }
            Edit::Scale => {
                let n = u32::try_from(model.name.len()).unwrap();
                if u64::from(n) * 2 <= most {
                    cluster.scale().unwrap();
                    model.queue.extend(n..2 * n);
                    model.name.resize(2 * n as usize, None);
                }
            }
            Edit::Shrink => {
                let moved = cluster.shrink().ok();
                let moved = moved
                    .map(|moved| moved.into_iter().map(|node| (node.name, node.from, node.to)).collect::<Vec<_>>());
                assert_eq!(moved, model.shrink());
            }
        }
        let queue = cluster.slots().queue();
        let single: VecDeque<u32> = queue.ranges().flat_map(|(first, last)| first..=last).collect();
        assert_eq!(single, model.queue, "after {edit:?}");
        assert_eq!(queue.len(), model.queue.len() as u64);
        assert_eq!(queue.is_empty(), model.queue.is_empty());
        assert_eq!(queue.is_ascending(), single.iter().is_sorted());
        assert_eq!(cluster.slots().size() as usize, model.name.len());
        let mut names = vec![None; model.name.len()];
        for node in cluster.nodes() {
            names[node.slot().unwrap() as usize] = Some(node.name().to_owned());
        }
        assert_eq!(names, model.name);
        let again = Cluster::from_toml(&cluster.to_toml().unwrap()).unwrap();
        assert_eq!(again.slots(), cluster.slots());
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn of_dx(bits in 0_u32..5, edits in vec(edit(), 0..60)) {
        check("dx", 1 << bits, 256, &edits);
    }

    #[test]
    fn of_dx_crc32c(size in 1_u32..30, edits in vec(edit(), 0..60)) {
        check("dx-crc32c", size, 256, &edits);
    }
}
