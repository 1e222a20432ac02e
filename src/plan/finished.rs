//! A plan that is there already, and whether it is what would be made now.

use std::path::PathBuf;

use serde_json::Value;

use super::checks::{key_differences, refuse};
use super::compare::option_differences;
use super::directory::publish;
use super::make::PlanTask;
use super::manifest::Manifest;
use super::target::Claim;
use crate::error::{Error, Result};
use crate::io::KeyChunk;

/// A plan that is there already.
#[derive(Debug)]
pub struct FinishedPlan {
    folder: PathBuf,
    manifest: Manifest,
    /// The claim on a plan that lacks only its final name.
    unnamed: Option<Claim>,
    /// What differs; refused unless `named` is the one.
    differences: Vec<String>,
    /// The plan that has the name, if it is made from these clusters and inputs. A run that was killed after it had
    /// exchanged the names left the replaced plan as the one without a name.
    named: Option<Manifest>,
}

impl FinishedPlan {
    pub(super) fn new(task: &PlanTask, folder: PathBuf, manifest: Manifest, unnamed: Option<Claim>) -> Result<Self> {
        let differences = task.differences(&manifest);
        let named = unnamed.as_ref().and_then(|claim| Manifest::of_plan(&claim.place).ok());
        let named = named.filter(|named| task.differences(named).is_empty());
        if named.is_none() {
            refuse(&folder, &differences)?;
        }
        Ok(Self { folder, manifest, unnamed, differences, named })
    }

    /// Its manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Accepts the plan if it is what this task with these options would make: the keys of the inputs, read from their
    /// start, are compared part by part, and every file with its checksum.
    ///
    /// # Errors
    /// If anything differs (the error says what), or reading fails.
    pub fn accept(mut self, options: &Value, chunks: impl Iterator<Item = Result<KeyChunk>>) -> Result<Manifest> {
        let named = self.named.take().filter(|named| option_differences(&named.options, options).is_empty());
        let has_name = named.is_some();
        if let Some((claim, named)) = self.unnamed.as_ref().zip(named) {
            (self.folder, self.manifest, self.differences) = (claim.place.clone(), named, Vec::new());
        }
        self.differences.extend(option_differences(&self.manifest.options, options));
        refuse(&self.folder, &self.differences)?;
        if !self.manifest.is_intact() {
            return Err(altered("its manifest has another checksum than it says".to_owned()).in_file(&self.folder));
        }
        refuse(&self.folder, &key_differences(chunks, &self.manifest.parts, None)?)?;
        for file in &self.manifest.files {
            if let Some(fault) = file.fault(&self.folder)? {
                return Err(altered(format!("{} {fault}", file.path)).in_file(&self.folder));
            }
        }
        match self.unnamed.take() {
            // The plan that was replaced.
            Some(mut claim) if has_name => claim.keep(false),
            Some(claim) => publish(claim, None)?,
            None => {}
        }
        Ok(self.manifest)
    }
}

fn altered(what: String) -> Error {
    Error::invalid(format!("is finished, but was altered: {what}"), "`rehome verify` says more; --force makes it anew")
}
