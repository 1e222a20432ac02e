//! The cluster file: TOML or JSON, strict about field names, with the node rows inside or in a table beside it.

use std::path::Path;

use serde::Deserialize;

use super::file_form::{FileForm, VersionForm};
use super::{Cluster, FILE_VERSION, comments};
use crate::error::{Error, ErrorKind, Result};

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
        form.drop_defaults();
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
            form.drop_defaults();
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
