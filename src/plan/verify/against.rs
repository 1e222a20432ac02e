//! A plan in the making against an earlier plan.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::files;
use super::findings::{Difference, Findings};
use super::rows::{RowComparison, RowCounts};
use crate::error::Result;
use crate::plan::compare::{cluster_differences, input_differences, option_differences};
use crate::plan::manifest::Manifest;
use crate::plan::recorded_file::check_regular;
use crate::plan::run::PlanRun;
use crate::plan::summary::Summary;
use crate::plan::target::SUMMARY;

/// How a plan compares with an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// How the moves compare; nothing if the earlier plan has none.
    pub moves: Option<RowCounts>,
    /// What differs: clusters, options, inputs, sums, and some of the rows.
    pub differences: Vec<Difference>,
}

/// An earlier plan that a new one is compared with.
#[derive(Debug)]
pub(in crate::plan) struct Against {
    folder: PathBuf,
    manifest: Manifest,
    rows: Option<RowComparison>,
    /// What is wrong with its files.
    damage: Findings,
}

impl Against {
    /// Opens the earlier plan and checks its files: where one is damaged, that is what differs.
    pub(in crate::plan) fn open(folder: &Path) -> Result<Self> {
        let manifest = Manifest::of_plan(folder)?;
        let mut damage = Findings::default();
        files::check(folder, &manifest, &mut damage)?;
        Ok(Self { folder: folder.to_path_buf(), manifest, rows: None, damage })
    }

    /// Gets ready for the rows of a run.
    pub(in crate::plan) fn begin(&mut self, run: &PlanRun) {
        if self.manifest.has_moves() {
            self.rows = Some(RowComparison::new(&self.folder, &self.manifest, run.schema()));
        }
    }

    pub(in crate::plan) fn rows(&mut self) -> Option<&mut RowComparison> {
        self.rows.as_mut()
    }

    /// Ends the comparison with a run that is over.
    pub(in crate::plan) fn finish(self, run: &PlanRun, summary: &Summary, options: &Value) -> Result<Comparison> {
        let Self { folder, manifest, rows, damage: mut findings } = self;
        let (from, to) = run.tally().nodes().clusters();
        for what in cluster_differences("from", &manifest.from, from).into_iter().chain(cluster_differences(
            "to",
            &manifest.to,
            to,
        )) {
            findings.add("clusters", what);
        }
        for what in option_differences(&manifest.options, options) {
            findings.add("options", what);
        }
        let then = manifest.inputs.iter().map(|input| (input.name.as_str(), input.bytes));
        let now = run.inputs().iter().map(|input| (input.name.as_str(), input.bytes));
        for what in input_differences(then, now) {
            findings.add("inputs", what);
        }
        if manifest.options.get("part_rows") == options.get("part_rows") {
            let keys =
                |parts: &[crate::plan::Part]| parts.iter().map(|part| part.keys_crc32.clone()).collect::<Vec<_>>();
            if keys(&manifest.parts) != keys(run.parts()) {
                findings.add("inputs", "the keys are others");
            }
        }
        let earlier = check_regular(&folder, SUMMARY).and_then(|()| std::fs::read(folder.join(SUMMARY))).ok();
        let earlier = earlier.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
        let now = serde_json::to_value(summary).map_err(crate::Error::syntax)?;
        let was_and_is = [earlier.as_ref().and_then(Value::as_object), now.as_object()];
        if let [Some(earlier), Some(now)] = was_and_is {
            for (name, value) in now.iter().filter(|(_, value)| value.is_u64()) {
                match earlier.get(name) {
                    Some(then) if then == value => {}
                    Some(then) => findings.add("sums", format!("{name} was {then} and is {value}")),
                    None => findings.add("sums", format!("{name} is {value}, and was not told")),
                }
            }
        } else {
            findings.add(SUMMARY, "the summary of the earlier plan cannot be read");
        }
        let moves = rows.map(|rows| {
            let (counts, rows) = rows.finish();
            findings.append(rows);
            counts
        });
        Ok(Comparison { moves, differences: findings.into_list() })
    }
}
