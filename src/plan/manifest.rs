//! The manifest of a plan directory: what it was made from, and every file in it.

use std::fs;
use std::num::NonZero;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::part::Part;
use super::recorded_file::{FileRecord, check_regular, hexadecimal};
use super::target::MANIFEST;
use crate::cluster::Cluster;
use crate::error::{Error, ErrorKind, Result};
use crate::io::InputFacts;

/// The version of the plan directory's layout.
pub(super) const FORMAT: u64 = 2;

/// The name under which the placement functions are frozen.
pub(super) const PLACEMENT_VERSION: &str = "v1";

/// What a plan was made from and consists of. Holds no time and no path of the machine, so that the same input gives
/// the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of the layout: 2.
    pub format: u64,
    /// The placement functions: `v1`.
    pub placement_version: String,
    /// The cluster before, as in a cluster file.
    pub from: Value,
    /// The cluster after.
    pub to: Value,
    /// The options that decide what the rows of the plan are.
    pub options: Value,
    /// The inputs in their order.
    pub inputs: Vec<InputFacts>,
    /// What the input rows of each part were.
    pub parts: Vec<Part>,
    /// Every file of the directory but this one.
    pub files: Vec<FileRecord>,
    /// CRC-32 (IEEE) of this manifest with an empty text in this place.
    pub crc32: String,
}

impl Manifest {
    /// Reads the text of a manifest. That its checksum fits is for [`is_intact`](Self::is_intact) to say.
    ///
    /// # Errors
    /// If it is no manifest, or one of another version.
    pub fn parse(text: &[u8]) -> Result<Self> {
        let value: Value = serde_json::from_slice(text).map_err(not_a_manifest)?;
        let format = value.get("format").and_then(Value::as_u64);
        match format {
            Some(FORMAT) => {}
            Some(found) if found > FORMAT => return Err(ErrorKind::NewerVersion { found, known: FORMAT }.into()),
            Some(found) => {
                return Err(Error::invalid(
                    format!("version {found} of the plan directory is no longer read (this program writes {FORMAT})"),
                    "make the plan again",
                ));
            }
            None => return Err(not_a_manifest("it has no format")),
        }
        // From the text itself, so that fields that are there twice are refused.
        let manifest: Self = serde_json::from_slice(text).map_err(not_a_manifest)?;
        if manifest.placement_version != PLACEMENT_VERSION {
            return Err(Error::invalid(
                format!(
                    "the plan was made with placement functions {:?}, and this program has {PLACEMENT_VERSION}",
                    manifest.placement_version
                ),
                "use the rehome that made it",
            ));
        }
        Ok(manifest)
    }

    /// Reads the manifest of a plan directory.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), and if there is none.
    pub fn of_plan(folder: &Path) -> Result<Self> {
        let path = folder.join(MANIFEST);
        let text = check_regular(folder, MANIFEST)
            .and_then(|()| fs::read(&path))
            .map_err(|error| Error::io("read", &path, error))?;
        Self::parse(&text).map_err(|error| error.in_file(path))
    }

    /// The text of the manifest.
    ///
    /// # Errors
    /// If the options hold what JSON cannot.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self).map_err(Error::syntax)?;
        text.push(b'\n');
        Ok(text)
    }

    /// Whether the checksum is that of the rest.
    pub fn is_intact(&self) -> bool {
        self.checksum().is_ok_and(|checksum| checksum == self.crc32)
    }

    /// The same with its checksum.
    pub(super) fn sealed(mut self) -> Result<Self> {
        self.crc32 = self.checksum()?;
        Ok(self)
    }

    fn checksum(&self) -> Result<String> {
        let unsealed = Self { crc32: String::new(), ..self.clone() };
        Ok(hexadecimal(crc32fast::hash(&unsealed.to_bytes()?)))
    }

    /// The two clusters.
    ///
    /// # Errors
    /// If one of them is none.
    pub fn clusters(&self) -> Result<(Cluster, Cluster)> {
        let cluster = |value: &Value, side: &str| {
            Cluster::from_json(&value.to_string())
                .map_err(|error| Error::syntax(format!("the cluster {side:?} cannot be read: {error}")))
        };
        Ok((cluster(&self.from, "from")?, cluster(&self.to, "to")?))
    }

    /// An option, if it is there.
    pub fn option(&self, name: &str) -> Option<&Value> {
        self.options.get(name)
    }

    /// Input rows whose moves make one part.
    ///
    /// # Errors
    /// If the options do not tell.
    pub fn part_rows(&self) -> Result<NonZero<u64>> {
        let rows = self.option("part_rows").and_then(Value::as_u64).and_then(NonZero::new);
        rows.ok_or_else(|| Error::syntax("the option part_rows is no number above 0"))
    }

    /// Whether the plan has moves, and not only sums.
    pub fn has_moves(&self) -> bool {
        self.option("summary_only").and_then(Value::as_bool) != Some(true)
    }

    /// Rows that were skipped in all inputs.
    pub fn bad_rows(&self) -> u64 {
        self.inputs.iter().map(|input| input.bad_rows).fold(0, u64::saturating_add)
    }
}

fn not_a_manifest(error: impl std::fmt::Display) -> Error {
    Error::syntax(format!("not a manifest of a plan: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let text = r#"{"format": 2, "placement_version": "v1", "from": {}, "to": {}, "options": {"part_rows": 4},
            "inputs": [{"name": "a", "bytes": 3, "footer_crc32": null, "rows": 2, "bad_rows": 1}], "parts": [],
            "files": [{"path": "flows.csv", "rows": 0, "bytes": 9, "crc32": "00000000"}], "crc32": ""}"#;
        Manifest::parse(text.as_bytes()).unwrap().sealed().unwrap()
    }

    #[test]
    fn a_sealed_manifest_reads_back_and_any_change_breaks_the_seal() {
        let sealed = manifest();
        let text = String::from_utf8(sealed.to_bytes().unwrap()).unwrap();
        let read = Manifest::parse(text.as_bytes()).unwrap();
        assert_eq!(read, sealed);
        assert!(read.is_intact());
        for (old, new) in [("\"part_rows\": 4", "\"part_rows\": 5"), ("\"rows\": 2", "\"rows\": 3"), ("flows", "glows")]
        {
            assert!(!Manifest::parse(text.replacen(old, new, 1).as_bytes()).unwrap().is_intact(), "{old}");
        }
    }

    #[test]
    fn other_versions_and_other_files_are_refused() {
        let error = |text: &str| Manifest::parse(text.as_bytes()).unwrap_err().to_string();
        let text = String::from_utf8(manifest().to_bytes().unwrap()).unwrap();
        assert!(error(&text.replace("\"format\": 2", "\"format\": 3")).contains("version 3 is newer"));
        assert!(error(&text.replace("\"format\": 2", "\"format\": 1")).contains("make the plan again"));
        assert!(error(&text.replace("\"v1\"", "\"v2\"")).contains("placement functions \"v2\""));
        assert!(error(&text.replace("\"to\"", "\"two\"")).contains("not a manifest"));
        assert!(error(&text[..text.len() / 2]).contains("not a manifest"));
        assert!(error("[]").contains("it has no format"));
    }
}
