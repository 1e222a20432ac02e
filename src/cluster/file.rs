//! The cluster file: TOML or JSON, strict about field names, with the node rows inside or in a table beside it.

use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Cluster, FILE_VERSION, Node, SlotQueue, Spread, Storage, comments};
use crate::error::{Error, ErrorKind, Result};
use crate::placement::Layout;

/// How a cluster file is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    Toml,
    Json,
}

impl Syntax {
    pub(super) fn of_path(path: &Path) -> Result<Self> {
        let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
        match extension.as_deref() {
            Some("toml") => Ok(Self::Toml),
            Some("json") => Ok(Self::Json),
            _ => Err(Error::invalid("a cluster file is TOML or JSON", "name it .toml or .json").in_file(path)),
        }
    }
}

/// The first line of every TOML file that is written.
const TOML_HEAD: &str = "# A cluster of rehome. `rehome cluster --help` lists the edits.\n";

/// The file as it stands, field by field.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileForm {
    version: u64,
    algorithm: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<Seed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spread: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weighted: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node_table: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dx: Option<SlotsForm>,
    #[serde(rename = "dx-crc32c", skip_serializing_if = "Option::is_none")]
    dx_crc32c: Option<SlotsForm>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    nodes: Vec<NodeForm>,
}

/// The version alone, read first: a newer file may have fields that this program does not know.
#[derive(Deserialize)]
struct VersionForm {
    version: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SlotsForm {
    slots: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    queue: Option<String>,
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

impl Cluster {
    /// Reads a cluster file: TOML or JSON, by its name. A node table is looked for beside it.
    ///
    /// # Complexity
    /// O(n log n) for n nodes.
    ///
    /// # Errors
    /// A file that cannot be read, is not of its syntax, has an unknown field or a newer version, or describes a
    /// cluster that cannot be; the message names the file and, for syntax and fields, line and column.
    ///
    /// ```no_run
    /// let cluster = rehome::Cluster::from_path("cluster.toml")?;
    /// # Ok::<(), rehome::Error>(())
    /// ```
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let syntax = Syntax::of_path(path)?;
        let text = std::fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
        // A table is beside the file itself, not beside a link to it.
        let place = std::fs::canonicalize(path).map_err(|error| Error::io("read", path, error))?;
        let mut cluster = Self::parse(&text, syntax, place.parent()).map_err(|error| error.in_file(path))?;
        cluster.original = (syntax == Syntax::Toml).then(|| text.into());
        Ok(cluster)
    }

    /// Reads a cluster from the text of a TOML file that holds its nodes.
    ///
    /// # Errors
    /// As [`from_path`](Self::from_path); a `node_table` is one.
    ///
    /// ```
    /// let cluster = rehome::Cluster::from_toml(
    ///     "version = 1\nalgorithm = 'dx'\ndx = { slots = 4 }\nnodes = [{ name = 'a', slot = 0 }]\n",
    /// )?;
    /// assert_eq!(cluster.slots().size(), 4);
    /// # Ok::<(), rehome::Error>(())
    /// ```
    pub fn from_toml(text: &str) -> Result<Self> {
        Self::parse(text, Syntax::Toml, None)
    }

    /// Reads a cluster from the text of a JSON file that holds its nodes; see [`from_toml`](Self::from_toml).
    ///
    /// # Errors
    /// As [`from_path`](Self::from_path); a `node_table` is one.
    pub fn from_json(text: &str) -> Result<Self> {
        Self::parse(text, Syntax::Json, None)
    }

    fn parse(text: &str, syntax: Syntax, folder: Option<&Path>) -> Result<Self> {
        // Some editors begin a file with a byte-order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let version: VersionForm = read(text, syntax)?;
        match version.version {
            None => {
                return Err(Error::invalid(
                    "the file has no version",
                    format!("begin it with version = {FILE_VERSION}"),
                ));
            }
            Some(found) if found > FILE_VERSION => {
                return Err(ErrorKind::NewerVersion { found, known: FILE_VERSION }.into());
            }
            Some(0) => return Err(Error::invalid("there is no version 0", format!("write version = {FILE_VERSION}"))),
            Some(_) => {}
        }
        read::<FileForm>(text, syntax)?.into_cluster(folder)
    }

    /// The cluster as the text of a file, its nodes inside unless `node_table` names where they are.
    pub(super) fn render(&self, syntax: Syntax, node_table: Option<String>) -> Result<String> {
        let mut form = FileForm::of(self, node_table);
        form.nodes.iter_mut().for_each(NodeForm::drop_defaults);
        let text = match syntax {
            Syntax::Json => {
                serde_json::to_string_pretty(&form).map(|text| text + "\n").map_err(|error| error.to_string())
            }
            Syntax::Toml => {
                toml::to_string(&form).map(|text| TOML_HEAD.to_owned() + &text).map_err(|error| error.to_string())
            }
        };
        let text = text.map_err(Error::syntax)?;
        let original = self.original.as_deref().filter(|_| syntax == Syntax::Toml);
        Ok(original.and_then(|original| Self::in_words_of(original, &text)).unwrap_or(text))
    }

    /// The description `text` with the comments of the file that was edited, if that says the very same.
    fn in_words_of(original: &str, text: &str) -> Option<String> {
        let kept = comments::keep(original, text)?;
        let same = |text: &str| {
            let mut form: FileForm = read(text, Syntax::Toml).ok()?;
            form.nodes.iter_mut().for_each(NodeForm::drop_defaults);
            toml::to_string(&form).ok()
        };
        (same(&kept)? == same(text)?).then_some(kept)
    }

    /// The cluster as the text of a TOML file, its nodes inside.
    ///
    /// # Errors
    /// None for a cluster that was built or read.
    pub fn to_toml(&self) -> Result<String> {
        self.render(Syntax::Toml, None)
    }

    /// The cluster as a JSON value with all its nodes: what a plan's manifest records.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(FileForm::of(self, None)).unwrap_or_default()
    }
}

fn read<'de, T: Deserialize<'de>>(text: &'de str, syntax: Syntax) -> Result<T> {
    match syntax {
        Syntax::Toml => toml::from_str(text).map_err(|error| Error::syntax(error.to_string().trim_end())),
        Syntax::Json => serde_json::from_str(text).map_err(Error::syntax),
    }
}

impl FileForm {
    fn of(cluster: &Cluster, node_table: Option<String>) -> Self {
        let slots = cluster.slots();
        let queue = (!slots.queue.is_ascending()).then(|| slots.queue.to_string());
        let mut form = Self {
            version: FILE_VERSION,
            algorithm: cluster.algorithm.name.to_owned(),
            hash: (cluster.hash != Default::default()).then(|| cluster.hash.name().to_owned()),
            seed: (cluster.seed != 0).then_some(Seed(cluster.seed)),
            key: cluster.key.map(|key| key.name().to_owned()),
            spread: (cluster.spread != Spread::Node).then(|| cluster.spread.name().to_owned()),
            weighted: cluster.weighted.then_some(true),
            dx: None,
            dx_crc32c: None,
            nodes: Vec::new(),
            node_table,
        };
        if form.node_table.is_none() {
            form.nodes = cluster.nodes.iter().map(NodeForm::of).collect();
        }
        let slots = SlotsForm { slots: u64::from(slots.size), queue };
        match cluster.algorithm.name {
            "dx-crc32c" => form.dx_crc32c = Some(slots),
            _ => form.dx = Some(slots),
        }
        form
    }

    fn into_cluster(mut self, folder: Option<&Path>) -> Result<Cluster> {
        let mut builder = Cluster::builder(&self.algorithm)?;
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
        let Layout::Slots { .. } = builder.algorithm.layout;
        let mut tables = [("dx", self.dx.take()), ("dx-crc32c", self.dx_crc32c.take())];
        let mut own = None;
        for (name, table) in &mut tables {
            if *name == self.algorithm {
                own = table.take();
            } else if table.is_some() {
                let what = format!("the file has a table [{name}], but its algorithm is {}", self.algorithm);
                return Err(Error::invalid(what, "keep the one that is meant"));
            }
        }
        let own = own.ok_or_else(|| {
            let what = format!("the number of slots is missing: {} places on numbered slots", self.algorithm);
            Error::invalid(what, format!("add a table [{}] with slots = N", self.algorithm))
        })?;
        builder = builder.slots(own.slots);
        builder.queue = own.queue.as_deref().map(SlotQueue::parse).transpose()?;
        builder.weighted = self.weighted.unwrap_or(false);
        match (self.node_table, self.nodes.is_empty()) {
            (Some(_), false) => {
                Err(Error::invalid("the file has both nodes and a node_table", "keep the nodes in one place"))
            }
            (Some(table), true) => {
                let (storage, nodes) = read_table(&table, folder)?;
                builder.storage(storage).nodes(nodes).build()
            }
            (None, _) => {
                let nodes = self.nodes.into_iter().map(NodeForm::into_node).collect::<Result<Vec<_>>>()?;
                builder.nodes(nodes).build()
            }
        }
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

    /// Leaves out what a reader would assume anyway.
    fn drop_defaults(&mut self) {
        self.weight = self.weight.filter(|weight| *weight != 1.0);
        self.up = self.up.filter(|up| !*up);
    }

    fn into_node(self) -> Result<Node> {
        described_node(self.name, self.slot, self.weight, self.zone, self.up)
    }
}

/// A node as a row of a file describes it. Slots are part of the description: they are never guessed from the order.
pub(super) fn described_node(
    name: String,
    slot: Option<u64>,
    weight: Option<f64>,
    zone: Option<String>,
    up: Option<bool>,
) -> Result<Node> {
    let Some(slot) = slot else {
        return Err(Error::invalid(
            format!("node {name:?} has no slot"),
            "give every node its slot; `rehome cluster new` and `add` choose them",
        ));
    };
    // Out of range in any cluster; the builder says it with the number of slots when it can.
    let slot = u32::try_from(slot).map_err(|_| {
        Error::invalid(format!("node {name:?} is in slot {slot}"), "slots are numbered from 0 to 2^31 - 1 at most")
    })?;
    let mut node = Node::new(name).with_slot(slot).with_weight(weight.unwrap_or(1.0)).with_up(up.unwrap_or(true));
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
