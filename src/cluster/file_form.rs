//! The fields of a cluster file, the same in TOML and JSON: which there are, and how they become a cluster.

use std::fmt;
use std::path::Path;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use super::{Cluster, FILE_VERSION, Node, Removals, Spread, Storage};
use crate::algorithm::{Algorithm, DefaultValue, Layout, ParameterKind, algorithms};
use crate::error::{Error, Result};

/// The file as it stands, field by field.
#[derive(Default)]
pub(super) struct FileForm {
    version: u64,
    algorithm: String,
    hash: Option<String>,
    seed: Option<Seed>,
    key: Option<String>,
    spread: Option<String>,
    weighted: Option<bool>,
    node_table: Option<String>,
    /// Parameters, in a table of each algorithm's name; only that of the file's algorithm may be there.
    tables: Vec<(&'static Algorithm, Table)>,
    nodes: Vec<NodeForm>,
}

/// Parameters and their values.
#[derive(Default)]
struct Table(Vec<(&'static str, Setting)>);

/// The version alone, read first: a newer file may have fields that this program does not know.
#[derive(Deserialize)]
pub(super) struct VersionForm {
    pub version: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeForm {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    slot: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    zone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    up: Option<bool>,
}

/// The value of a parameter.
#[derive(Serialize)]
#[serde(untagged)]
enum Setting {
    Number(u64),
    Text(String),
}

/// A value of what a parameter is: told here, a wrong one is reported with its line and column.
struct SettingOf(ParameterKind);

impl<'de> DeserializeSeed<'de> for SettingOf {
    type Value = Setting;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Setting, D::Error> {
        match self.0 {
            ParameterKind::Slots | ParameterKind::Number { .. } => u64::deserialize(deserializer).map(Setting::Number),
            ParameterKind::FreeSlots | ParameterKind::Word(_) => String::deserialize(deserializer).map(Setting::Text),
        }
    }
}

/// A 64-bit seed. TOML integers end at 2^63 - 1, so a larger one is a string.
struct Seed(u64);

impl Serialize for Seed {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        if i64::try_from(self.0).is_ok() { serializer.serialize_u64(self.0) } else { serializer.collect_str(&self.0) }
    }
}

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a seed is an integer of 0 to 2^64 - 1; above 2^63 - 1 write it as a string")]
        enum Form {
            Number(u64),
            Text(String),
        }
        match Form::deserialize(deserializer)? {
            Form::Number(seed) => Ok(Self(seed)),
            Form::Text(text) => text
                .parse()
                .map(Self)
                .map_err(|_| de::Error::custom(format!("{text:?} is not a seed of 0 to 2^64 - 1"))),
        }
    }
}

impl Serialize for FileForm {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        fn entry<M: SerializeMap, T: Serialize>(
            map: &mut M,
            name: &str,
            value: Option<&T>,
        ) -> std::result::Result<(), M::Error> {
            value.map_or(Ok(()), |value| map.serialize_entry(name, value))
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("version", &self.version)?;
        map.serialize_entry("algorithm", &self.algorithm)?;
        entry(&mut map, "hash", self.hash.as_ref())?;
        entry(&mut map, "seed", self.seed.as_ref())?;
        entry(&mut map, "key", self.key.as_ref())?;
        entry(&mut map, "spread", self.spread.as_ref())?;
        entry(&mut map, "weighted", self.weighted.as_ref())?;
        entry(&mut map, "node_table", self.node_table.as_ref())?;
        for (algorithm, table) in &self.tables {
            map.serialize_entry(algorithm.name, table)?;
        }
        entry(&mut map, "nodes", Some(&self.nodes).filter(|nodes| !nodes.is_empty()))?;
        map.end()
    }
}

impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// The fields beside the tables of algorithms.
const FIELDS: [&str; 9] = ["version", "algorithm", "hash", "seed", "key", "spread", "weighted", "node_table", "nodes"];

impl<'de> Deserialize<'de> for FileForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(FormVisitor)
    }
}

struct FormVisitor;

impl<'de> Visitor<'de> for FormVisitor {
    type Value = FileForm;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a cluster: version, algorithm, nodes and what else describes it")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<FileForm, A::Error> {
        let tables = algorithms().iter().map(|algorithm| algorithm.name);
        let names: Vec<&'static str> = FIELDS.into_iter().chain(tables).collect();
        let (mut form, mut version, mut algorithm) = (FileForm::default(), None, None);
        let mut seen: Vec<&str> = Vec::new();
        while let Some(name) = map.next_key_seed(OneOf(&names))? {
            if seen.contains(&name) {
                return Err(de::Error::duplicate_field(name));
            }
            seen.push(name);
            match name {
                "version" => version = Some(map.next_value()?),
                "algorithm" => algorithm = Some(map.next_value()?),
                "hash" => form.hash = map.next_value()?,
                "seed" => form.seed = map.next_value()?,
                "key" => form.key = map.next_value()?,
                "spread" => form.spread = map.next_value()?,
                "weighted" => form.weighted = map.next_value()?,
                "node_table" => form.node_table = map.next_value()?,
                "nodes" => form.nodes = map.next_value()?,
                table => match Algorithm::named(table) {
                    Ok(algorithm) => form.tables.push((algorithm, map.next_value_seed(TableOf(algorithm))?)),
                    // Every name is a field or an algorithm.
                    Err(_) => drop(map.next_value::<IgnoredAny>()?),
                },
            }
        }
        form.version = version.ok_or_else(|| de::Error::missing_field("version"))?;
        form.algorithm = algorithm.ok_or_else(|| de::Error::missing_field("algorithm"))?;
        Ok(form)
    }
}

/// A field name out of those there are: told here, an unknown one is reported with its line and column.
struct OneOf<'a>(&'a [&'static str]);

impl<'de> DeserializeSeed<'de> for OneOf<'_> {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for OneOf<'_> {
    type Value = &'static str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> std::result::Result<Self::Value, E> {
        self.0.iter().find(|known| **known == name).copied().ok_or_else(|| {
            let known: Vec<_> = self.0.iter().map(|known| format!("`{known}`")).collect();
            let expected = if known.is_empty() {
                "there are no fields".to_owned()
            } else {
                format!("expected {}", one_of(&known))
            };
            E::custom(format!("unknown field `{name}`, {expected}"))
        })
    }
}

fn one_of(names: &[String]) -> String {
    match names {
        [] | [_] => names.concat(),
        [first, second] => format!("{first} or {second}"),
        _ => format!("one of {}", names.join(", ")),
    }
}

/// The table of an algorithm, with its parameters and no others.
struct TableOf(&'static Algorithm);

impl<'de> DeserializeSeed<'de> for TableOf {
    type Value = Table;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Table, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for TableOf {
    type Value = Table;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the parameters of {}", self.0.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Table, A::Error> {
        let parameters = self.0.parameters;
        let names: Vec<&'static str> = parameters.iter().map(|parameter| parameter.name).collect();
        let mut table = Table::default();
        while let Some(name) = map.next_key_seed(OneOf(&names))? {
            if table.0.iter().any(|(present, _)| *present == name) {
                return Err(de::Error::duplicate_field(name));
            }
            for parameter in parameters.iter().filter(|parameter| parameter.name == name) {
                table.0.push((name, map.next_value_seed(SettingOf(parameter.kind))?));
            }
        }
        let is_given = |name| table.0.iter().any(|(present, _)| *present == name);
        let needed = parameters.iter().filter(|parameter| matches!(parameter.default, DefaultValue::OfNodes { .. }));
        if let Some(missing) = needed.map(|parameter| parameter.name).find(|name| !is_given(*name)) {
            return Err(de::Error::missing_field(missing));
        }
        Ok(table)
    }
}

impl FileForm {
    pub(super) fn of(cluster: &Cluster, node_table: Option<String>) -> Self {
        let nodes = if node_table.is_none() { cluster.nodes.iter().map(NodeForm::of).collect() } else { Vec::new() };
        let table = Table(cluster.settings());
        Self {
            version: FILE_VERSION,
            algorithm: cluster.algorithm.name.to_owned(),
            hash: (cluster.hash != Default::default()).then(|| cluster.hash.name().to_owned()),
            seed: (cluster.seed != 0).then_some(Seed(cluster.seed)),
            key: cluster.key.map(|key| key.name().to_owned()),
            spread: (cluster.spread != Spread::Node).then(|| cluster.spread.name().to_owned()),
            weighted: cluster.weighted.then_some(true),
            node_table,
            tables: if table.0.is_empty() { Vec::new() } else { vec![(cluster.algorithm, table)] },
            nodes,
        }
    }

    /// Leaves out what a reader would assume anyway.
    pub(super) fn drop_defaults(&mut self) {
        for node in &mut self.nodes {
            node.weight = node.weight.filter(|weight| *weight != 1.0);
            node.up = node.up.filter(|up| !*up);
        }
    }

    pub(super) fn into_cluster(self, folder: Option<&Path>) -> Result<Cluster> {
        let mut builder = Cluster::builder(&self.algorithm)?.read_from_file().weighted(self.weighted.unwrap_or(false));
        if let Some(hash) = &self.hash {
            builder = builder.hash(hash.parse()?);
        }
        if let Some(seed) = self.seed {
            builder = builder.seed(seed.0);
        }
        if let Some(key) = &self.key {
            builder = builder.key(key.parse()?);
        }
        if let Some(spread) = &self.spread {
            builder = builder.spread(spread.parse()?);
        }
        for (algorithm, table) in self.tables {
            if algorithm != builder.algorithm() {
                let what =
                    format!("the file has a table [{}], but its algorithm is {}", algorithm.name, self.algorithm);
                return Err(Error::invalid(what, "keep the one that is meant"));
            }
            for (name, value) in table.0 {
                builder = match value {
                    Setting::Number(number) => builder.parameter(name, number),
                    Setting::Text(text) => builder.parameter(name, text),
                };
            }
        }
        match (self.node_table, self.nodes.is_empty()) {
            (Some(_), false) => {
                Err(Error::invalid("the file has both nodes and a node_table", "keep the nodes in one place"))
            }
            (Some(table), true) => {
                let (storage, nodes) = read_table(&table, folder)?;
                builder.storage(storage).described_nodes(nodes).build()
            }
            (None, _) => {
                let nodes = self.nodes.into_iter().map(NodeForm::into_node).collect::<Result<Vec<_>>>()?;
                builder.described_nodes(nodes).build()
            }
        }
    }
}

impl Cluster {
    /// The parameters as a file has them: all but an order of free slots that is that of a fresh cluster.
    fn settings(&self) -> Vec<(&'static str, Setting)> {
        let is_fresh = match self.algorithm.layout {
            Layout::Removals { .. } => {
                let mut taken: Vec<u32> = self.nodes.iter().filter_map(|node| node.slot).collect();
                taken.sort_unstable();
                self.slots.removed == Removals::fresh(self.slots.size, taken.into_iter())
            }
            _ => self.slots.queue.is_ascending(),
        };
        let parameters = self.algorithm.parameters.iter();
        let written = parameters.filter(|parameter| !(is_fresh && parameter.kind == ParameterKind::FreeSlots));
        let setting = |kind, text: String| match kind {
            ParameterKind::Slots | ParameterKind::Number { .. } => {
                text.parse().map_or(Setting::Text(text), Setting::Number)
            }
            ParameterKind::FreeSlots | ParameterKind::Word(_) => Setting::Text(text),
        };
        written.map(|parameter| (parameter.name, setting(parameter.kind, self.shown(parameter)))).collect()
    }
}

impl NodeForm {
    fn of(node: &Node) -> Self {
        Self {
            name: node.name().to_owned(),
            slot: node.slot().map(u64::from),
            weight: Some(node.weight()),
            zone: node.zone().map(str::to_owned),
            up: Some(node.is_up()),
        }
    }

    fn into_node(self) -> Result<Node> {
        described_node(self.name, self.slot, self.weight, self.zone, self.up)
    }
}

/// A node as a row of a file describes it.
pub(super) fn described_node(
    name: String,
    slot: Option<u64>,
    weight: Option<f64>,
    zone: Option<String>,
    up: Option<bool>,
) -> Result<Node> {
    let mut node = Node::new(name).with_weight(weight.unwrap_or(1.0)).with_up(up.unwrap_or(true));
    // Out of range in any cluster; the builder says it with the number of slots when it can.
    if let Some(slot) = slot {
        node.slot = Some(u32::try_from(slot).map_err(|_| {
            let what = format!("node {:?} is in slot {slot}", node.name());
            Error::invalid(what, "slots are numbered from 0 to 2^31 - 1 at most")
        })?);
    }
    node.zone = zone.map(Into::into);
    Ok(node)
}

#[cfg(feature = "io")]
fn read_table(table: &str, folder: Option<&Path>) -> Result<(Storage, Vec<Node>)> {
    match folder {
        Some(folder) => Cluster::read_node_table(&folder.join(table)),
        None => {
            Err(Error::invalid(format!("the nodes are in {table:?}, beside a file"), "read the cluster by its path"))
        }
    }
}

#[cfg(not(feature = "io"))]
fn read_table(table: &str, _folder: Option<&Path>) -> Result<(Storage, Vec<Node>)> {
    Err(Error::invalid(format!("the nodes are in {table:?}"), "build rehome with the feature io to read node tables"))
}
