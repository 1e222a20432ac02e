//! Where a plan directory may go: what `--force` may replace, and what it must never touch.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

pub(super) const MOVES: &str = "moves";
pub(super) const MANIFEST: &str = "manifest.json";

/// All that a plan directory holds.
const ENTRIES: [&str; 5] = [MOVES, MANIFEST, "summary.json", "nodes.csv", "flows.csv"];

/// Fails early if a plan could not be written to `target`.
///
/// # Errors
/// If something is there that may not be replaced, or a `.partial` of another run.
pub fn check_plan_target(target: &Path, force: bool) -> Result<()> {
    places(target, force).map(drop)
}

/// The final and the partial folder, checked.
pub(super) fn places(target: &Path, force: bool) -> Result<(PathBuf, PathBuf)> {
    let place: PathBuf = target.components().collect();
    let Some(name) = place.file_name() else {
        return Err(Error::invalid("this is no name for a plan directory", "give a new name").in_file(target));
    };
    let mut partial = name.to_owned();
    partial.push(".partial");
    let partial = place.with_file_name(partial);
    if place.symlink_metadata().is_ok() && !is_empty(&place) {
        if !force {
            return Err(Error::invalid("already exists", "pass --force to replace the plan").in_file(target));
        }
        if let Some(foreign) = foreign_entry(&place, true) {
            let what = format!("is there and is no plan directory: {foreign}");
            return Err(Error::invalid(what, "choose another name; --force replaces plans only").in_file(target));
        }
    }
    if partial.symlink_metadata().is_ok() {
        if !force {
            return Err(Error::invalid(
                "is there: another run is writing it, or one was stopped",
                "wait for the other, or pass --force to start anew",
            )
            .in_file(partial));
        }
        if let Some(foreign) = foreign_entry(&partial, false) {
            let what = format!("is there and is no unfinished plan: {foreign}");
            return Err(Error::invalid(what, "move it away").in_file(partial));
        }
    }
    Ok((place, partial))
}

/// What a folder holds that no plan does; a complete one has a manifest of ours. None if the folder may be replaced.
fn foreign_entry(folder: &Path, complete: bool) -> Option<String> {
    if !folder.is_dir() || folder.is_symlink() {
        return Some("it is no directory".to_owned());
    }
    if is_empty(folder) {
        return None;
    }
    if complete && !is_our_manifest(&folder.join(MANIFEST)) {
        return Some(format!("it has no {MANIFEST} of a plan"));
    }
    let known = |name: &str| ENTRIES.contains(&name);
    let part = |name: &str| name.starts_with("part-") && name.ends_with(".parquet");
    foreign_name(folder, known).or_else(|| foreign_name(&folder.join(MOVES), part))
}

/// The first name in a folder that is not known; none if there is no such folder.
fn foreign_name(folder: &Path, known: impl Fn(&str) -> bool) -> Option<String> {
    let entries = fs::read_dir(folder).ok()?;
    let names = entries.map_while(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()));
    let mut foreign: Vec<String> = names.filter(|name| !known(name)).collect();
    foreign.sort();
    foreign.into_iter().next().map(|name| format!("it holds {name}"))
}

fn is_our_manifest(path: &Path) -> bool {
    let Ok(text) = fs::read(path) else { return false };
    serde_json::from_slice::<serde_json::Value>(&text)
        .is_ok_and(|manifest| manifest["placement_version"].is_string() && manifest["files"].is_array())
}

fn is_empty(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}
