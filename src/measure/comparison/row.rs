//! What a comparison says of one algorithm, as plain data.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::cluster::Cluster;
use crate::plan::{NodeLoad, Summary, Tally};

/// The most nodes whose keys a [`Figures`] lists.
pub const MOST_LISTED: usize = 100_000;

/// One algorithm in a comparison.
///
/// As JSON it is one flat object: `algorithm`, `reason`, then the fields of [`Figures`], all null where there is a
/// reason.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Row {
    /// Its name.
    pub algorithm: String,
    /// Why it cannot do the change, or does not take the keys; none where it could.
    pub reason: Option<String>,
    /// What it did; none where there is a reason.
    #[serde(flatten, serialize_with = "figures_or_nulls")]
    pub figures: Option<Figures>,
}

/// What an algorithm did with all keys.
///
/// Moves, excess, Max/Avg and cv are those of a [plan](Summary) of the same change.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Figures {
    /// Keys read.
    pub keys: u64,
    /// Keys whose node changes.
    pub moved: u64,
    /// `moved / keys`; 0 without keys.
    pub moved_fraction: f64,
    /// The least moves of the plan: what any plan between these two distributions of the keys has to move. Where one
    /// node joins n equal ones it is about 1/(n+1) of the keys.
    pub ideal: u64,
    /// `ideal / keys`; 0 without keys.
    pub ideal_fraction: f64,
    /// Moved keys whose old node lost nothing and whose new node gained nothing.
    pub excess: u64,
    /// Max/Avg after the change: the largest load over its fair share; none without keys or eligible nodes, as with the
    /// next five.
    pub max_over_avg: Option<f64>,
    /// cv after the change: the standard deviation of the loads over their fair shares.
    pub cv: Option<f64>,
    /// Max/Avg before.
    pub max_over_avg_before: Option<f64>,
    /// cv before.
    pub cv_before: Option<f64>,
    /// Max/Avg after, once more.
    pub max_over_avg_after: Option<f64>,
    /// cv after, once more.
    pub cv_after: Option<f64>,
    /// Bytes of the placement after the change.
    pub memory_bytes: u64,
    /// Processor time of compiling the cluster after the change, the median of a few times if that is quick.
    pub build_seconds: f64,
    /// Keys that one processor places in a second, hashing and reading left out, before and after the change together;
    /// none without keys.
    pub keys_per_second: Option<f64>,
    /// Keys that have no node after the change.
    pub unplaced: u64,
    /// The keys of every node, those of the cluster before first; none for more than [`MOST_LISTED`] nodes.
    pub nodes: Option<Vec<NodeKeys>>,
}

/// The fields of [`Figures`], which JSON has in rows without figures too.
const FIELDS: [&str; 17] = [
    "keys",
    "moved",
    "moved_fraction",
    "ideal",
    "ideal_fraction",
    "excess",
    "max_over_avg",
    "cv",
    "max_over_avg_before",
    "cv_before",
    "max_over_avg_after",
    "cv_after",
    "memory_bytes",
    "build_seconds",
    "keys_per_second",
    "unplaced",
    "nodes",
];

fn figures_or_nulls<S: Serializer>(figures: &Option<Figures>, serializer: S) -> Result<S::Ok, S::Error> {
    if let Some(figures) = figures {
        return figures.serialize(serializer);
    }
    let mut map = serializer.serialize_map(Some(FIELDS.len()))?;
    for field in FIELDS {
        map.serialize_entry(field, &())?;
    }
    map.end()
}

/// The keys of a node, and its fair share of all.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct NodeKeys {
    /// The node; none for the keys without one, which come last if there are any.
    pub name: Option<String>,
    /// Its keys before; none if it is not there then.
    pub before: Option<u64>,
    /// Its keys after; none if it is not there then.
    pub after: Option<u64>,
    /// Its fair share of the keys before, by its weight; none if it may get no key then.
    pub fair_before: Option<f64>,
    /// Its fair share of the keys after; none if it may get no key then.
    pub fair_after: Option<f64>,
}

/// The nodes of a tally, unless they are too many.
pub(super) fn nodes(tally: &Tally, summary: &Summary) -> Option<Vec<NodeKeys>> {
    if tally.nodes().len() > MOST_LISTED {
        return None;
    }
    let (from, to) = tally.nodes().clusters();
    let (before, after) = (Side::new(from, summary.keys), Side::new(to, summary.keys));
    let node = |NodeLoad { name, keys, .. }| match name {
        None => NodeKeys { name, before: Some(keys.0), after: Some(keys.1), fair_before: None, fair_after: None },
        Some(name) => {
            let (was, is) = (before.of(&name), after.of(&name));
            NodeKeys {
                name: Some(name),
                before: was.map(|_| keys.0),
                after: is.map(|_| keys.1),
                fair_before: was.flatten(),
                fair_after: is.flatten(),
            }
        }
    };
    Some(tally.loads().into_iter().map(node).collect())
}

/// The fair shares of one cluster.
struct Side<'a> {
    cluster: &'a Cluster,
    /// Keys per weight.
    unit: f64,
}

impl<'a> Side<'a> {
    fn new(cluster: &'a Cluster, keys: u64) -> Self {
        let weights = cluster.nodes().iter().filter(|node| node.is_eligible()).map(crate::Node::weight);
        // Without an eligible node nobody asks for a share.
        Self { cluster, unit: keys as f64 / weights.sum::<f64>() }
    }

    /// The fair share of a node that is there, if it may get keys.
    fn of(&self, name: &str) -> Option<Option<f64>> {
        let node = &self.cluster.nodes()[self.cluster.position(name)?];
        Some(node.is_eligible().then(|| self.unit * node.weight()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_a_reason_have_the_same_fields_as_others() {
        let figures = Figures {
            keys: 4,
            moved: 1,
            moved_fraction: 0.25,
            ideal: 1,
            ideal_fraction: 0.25,
            excess: 0,
            max_over_avg: Some(1.0),
            cv: None,
            max_over_avg_before: None,
            cv_before: None,
            max_over_avg_after: None,
            cv_after: None,
            memory_bytes: 9,
            build_seconds: 0.5,
            keys_per_second: None,
            unplaced: 0,
            nodes: None,
        };
        let row = Row { algorithm: "dx".to_owned(), reason: None, figures: Some(figures) };
        let refused = Row { algorithm: "jump".to_owned(), reason: Some("no".to_owned()), figures: None };
        let [row, refused] = [row, refused].map(|row| serde_json::to_value(row).unwrap());
        let names = |row: &serde_json::Value| row.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&row), names(&refused));
        assert_eq!(names(&row)[..2], ["algorithm", "reason"]);
        assert_eq!(names(&row)[2..], FIELDS);
        assert!(FIELDS.iter().all(|field| refused[field].is_null()));
        assert_eq!((&row["reason"], &refused["reason"]), (&serde_json::Value::Null, &"no".into()));
    }
}
