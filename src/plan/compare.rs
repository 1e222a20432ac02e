//! What differs between two descriptions of how a plan is made: clusters, options and inputs.

use serde_json::Value;

use crate::cluster::{Cluster, ClusterDiff};

/// Nodes that a message names before the rest is only counted.
const NAMED: usize = 5;

/// What differs between the cluster a plan was made with and another one, a sentence each; `which` is "from" or "to".
pub(super) fn cluster_differences(which: &str, made_with: &Value, now: &Cluster) -> Vec<String> {
    if *made_with == now.to_json() {
        return Vec::new();
    }
    let made_with = match Cluster::from_json(&made_with.to_string()) {
        Ok(cluster) => cluster,
        Err(error) => return vec![format!("the cluster {which:?} of the plan cannot be read: {error}")],
    };
    let diff = ClusterDiff::between(&made_with, now);
    let mut texts: Vec<String> = Vec::new();
    for change in &diff.options {
        texts.push(format!("cluster {which:?}: {} was {} and is {}", change.name, change.from, change.to));
    }
    for node in diff.removed.iter().take(NAMED) {
        texts.push(format!("cluster {which:?}: node {:?} is no longer there", node.name));
    }
    for node in diff.added.iter().take(NAMED) {
        texts.push(format!("cluster {which:?}: node {:?} is new", node.name));
    }
    for node in diff.changed.iter().take(NAMED) {
        let fields = node.fields.iter().map(|field| format!("{} was {} and is {}", field.name, field.from, field.to));
        texts.push(format!("cluster {which:?}: node {:?}: {}", node.name, fields.collect::<Vec<_>>().join(", ")));
    }
    let lists = [diff.removed.len(), diff.added.len(), diff.changed.len()];
    let more: usize = lists.iter().map(|count| count.saturating_sub(NAMED)).sum();
    if more > 0 {
        texts.push(format!("cluster {which:?}: {more} nodes more differ"));
    }
    if texts.is_empty() {
        texts.push(format!("cluster {which:?}: its nodes are the same, but in another order"));
    }
    texts
}

/// What differs between the options a plan was made with and others.
pub(super) fn option_differences(made_with: &Value, now: &Value) -> Vec<String> {
    let empty = serde_json::Map::new();
    let (made_with, now) = (made_with.as_object().unwrap_or(&empty), now.as_object().unwrap_or(&empty));
    let new = now.keys().filter(|name| !made_with.contains_key(*name));
    let differs = |name: &&String| made_with.get(*name) != now.get(*name);
    let text = |name: &String| {
        let shown = |value: Option<&Value>| match value {
            None | Some(Value::Null) => "not given".to_owned(),
            Some(value) => value.to_string(),
        };
        format!("--{}: was {} and is {}", name.replace('_', "-"), shown(made_with.get(name)), shown(now.get(name)))
    };
    made_with.keys().chain(new).filter(differs).map(text).collect()
}

/// What differs between two lists of inputs, by name and length. `None` is an unknown length.
pub(super) fn input_differences<'a>(
    made_with: impl ExactSizeIterator<Item = (&'a str, Option<u64>)>,
    now: impl ExactSizeIterator<Item = (&'a str, Option<u64>)>,
) -> Vec<String> {
    let mut texts = Vec::new();
    if made_with.len() != now.len() {
        texts.push(format!("there were {} inputs and are {}", made_with.len(), now.len()));
    }
    for ((old_name, old_bytes), (name, bytes)) in made_with.zip(now) {
        if old_name != name {
            texts.push(format!("instead of input {old_name:?} there is {name:?}"));
        } else if old_bytes != bytes {
            let shown =
                |bytes: Option<u64>| bytes.map_or_else(|| "a stream".to_owned(), |bytes| format!("{bytes} bytes"));
            texts.push(format!("input {name:?} was {} and is {}", shown(old_bytes), shown(bytes)));
        }
        if texts.len() > NAMED {
            texts.push("and more".to_owned());
            break;
        }
    }
    texts
}
