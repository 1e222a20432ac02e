//! Writing a cluster file whole or not at all, and its node table before it.

use std::path::{Path, PathBuf};

use super::file::Syntax;
use super::file_form::described_node;
use super::{Cluster, ClusterBuilder, Node, Storage};
use crate::error::{Error, Result};
use crate::io::{AtomicFile, NodeRow, TableFormat, read_node_table, write_node_table};

/// What [`Cluster::save`] wrote.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The node table, if the nodes are not in the file itself.
    pub node_table: Option<PathBuf>,
}

impl Cluster {
    /// Writes the cluster file (TOML or JSON, by its name) atomically: a temporary file, fsync, rename. Nodes kept in a
    /// table go to a new file named by its content, `NAME.nodes-CRC32.csv`, before the cluster file is renamed, so
    /// that at every moment the file under the final name is whole and its table is there.
    ///
    /// # Complexity
    /// O(nodes).
    ///
    /// # Errors
    /// An existing file without `overwrite`, a name that is neither TOML nor JSON, and failed writes.
    pub fn save(&self, path: impl AsRef<Path>, overwrite: bool) -> Result<Saved> {
        let path = path.as_ref();
        let syntax = Syntax::of_path(path)?;
        let mut file = AtomicFile::create(path, overwrite)?;
        // A table goes beside the file itself, not beside a link to it.
        let place = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let node_table = match self.storage {
            Storage::Inside => None,
            Storage::Csv => Some(self.save_table(&place, TableFormat::Csv)?),
            Storage::Parquet => Some(self.save_table(&place, TableFormat::Parquet)?),
        };
        let name = node_table.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        let text = self.render(syntax, name)?;
        std::io::Write::write_all(&mut file, text.as_bytes()).map_err(|error| Error::io("write", path, error))?;
        file.commit()?;
        Ok(Saved { node_table })
    }

    /// Reads a node table (CSV or Parquet): columns name, slot (on algorithms with slots), and where wanted weight, zone,
    /// up.
    pub(super) fn read_node_table(path: &Path) -> Result<(Storage, Vec<Node>)> {
        // A name that is neither is refused by the reader.
        let storage = match TableFormat::of_path(path) {
            Some(TableFormat::Parquet) => Storage::Parquet,
            _ => Storage::Csv,
        };
        let nodes = read_node_table(path)?
            .into_iter()
            .map(|row| described_node(row.name, row.slot, row.weight, row.zone, row.up))
            .collect::<Result<Vec<_>>>()
            .map_err(|error| error.in_file(path))?;
        Ok((storage, nodes))
    }

    fn save_table(&self, beside: &Path, format: TableFormat) -> Result<PathBuf> {
        let mut bytes = Vec::new();
        let rows: Vec<NodeRow> = self.nodes.iter().map(row_of).collect();
        write_node_table(format, &rows, &mut bytes)?;
        let stem = beside.file_stem().unwrap_or_default().to_string_lossy();
        let extension = match format {
            TableFormat::Csv => "csv",
            TableFormat::Parquet => "parquet",
        };
        let path = beside.with_file_name(format!("{stem}.nodes-{:08x}.{extension}", crc32fast::hash(&bytes)));
        // The same content under the same name is already what is wanted.
        if !std::fs::read(&path).is_ok_and(|present| present == bytes) {
            let mut file = AtomicFile::create(&path, true)?;
            std::io::Write::write_all(&mut file, &bytes).map_err(|error| Error::io("write", &path, error))?;
            file.commit()?;
        }
        Ok(path)
    }
}

impl ClusterBuilder {
    /// Appends the nodes of a table (CSV or Parquet) with the columns name, slot (on algorithms with slots, where it must
    /// be said) and, where wanted, weight, zone and up. The cluster will be [saved](Cluster::save) with such a table.
    ///
    /// # Errors
    /// A table that cannot be read, or a row that cannot be a node; the message names the row.
    pub fn node_table(self, path: &Path) -> Result<Self> {
        let (storage, nodes) = Cluster::read_node_table(path)?;
        Ok(self.storage(storage).described_nodes(nodes))
    }
}

fn row_of(node: &Node) -> NodeRow {
    NodeRow {
        name: node.name().to_owned(),
        slot: node.slot().map(u64::from),
        weight: Some(node.weight()),
        zone: node.zone().map(str::to_owned),
        up: Some(node.is_up()),
    }
}
