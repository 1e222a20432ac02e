//! Where a plan directory may go: what is there already, what `--force` may replace and must never touch, and the lock
//! that keeps two runs out of one directory.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::journal::{JOURNAL, Journal};
use super::manifest::Manifest;
use crate::error::{Error, Result};
use crate::io::directory_of;

pub(super) const MOVES: &str = "moves";
pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const SUMMARY: &str = "summary.json";
pub(super) const NODES: &str = "nodes.csv";
pub(super) const FLOWS: &str = "flows.csv";

/// All that a plan directory holds.
pub(super) const ENTRIES: [&str; 5] = [MOVES, MANIFEST, SUMMARY, NODES, FLOWS];

/// What a run does with a plan that is there already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Existing {
    /// Replace a finished plan, and start an unfinished one anew.
    pub force: bool,
    /// Go on with an unfinished plan, and accept a finished one.
    pub resume: bool,
}

/// What was found at the place of a plan directory.
#[derive(Debug)]
pub(super) enum Found {
    /// Nothing, or nothing worth keeping.
    Nothing(Claim),
    /// An unfinished plan to go on with.
    Unfinished(Claim, Journal),
    /// A plan that lacks only its final name.
    Unnamed(Claim, Manifest),
    /// A finished plan.
    Complete(PathBuf),
}

/// The folder `NAME.partial`, locked, in which a plan is written before it gets the name `NAME`. The lock ends with the
/// process, however it ends. Dropped, a claim takes the folder away unless it is to be [kept](Self::keep).
#[derive(Debug)]
pub(super) struct Claim {
    pub place: PathBuf,
    pub partial: PathBuf,
    /// Whether a plan that has the name may be replaced.
    force: bool,
    /// Keeps the lock.
    _lock: Option<File>,
    keeps: bool,
}

impl Claim {
    /// Leaves the folder for a later run, or no longer.
    pub(super) fn keep(&mut self, keeps: bool) {
        self.keeps = keeps;
    }

    /// Fails if something has the name of the plan that may not be replaced.
    pub(super) fn check_place(&self) -> Result<()> {
        if self.place.symlink_metadata().is_err() || is_empty(&self.place) {
            return Ok(());
        }
        let error =
            if self.force { foreign_entry(&self.place, true).map(|foreign| no_plan(&foreign)) } else { Some(exists()) };
        error.map_or(Ok(()), |error| Err(error.in_file(&self.place)))
    }

    /// Removes what is in the folder and `wanted` (paths inside it) does not name; folders stay.
    pub(super) fn clear_but(&self, wanted: impl Fn(&str) -> bool) -> Result<()> {
        for (folder, prefix) in [(self.partial.join(MOVES), format!("{MOVES}/")), (self.partial.clone(), String::new())]
        {
            let failed = |error| Error::io("remove files in", &folder, error);
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(error)),
            };
            for entry in entries {
                let entry = entry.map_err(failed)?;
                let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
                if entry.file_type().map_err(failed)?.is_dir() || wanted(&name) {
                    continue;
                }
                fs::remove_file(entry.path()).map_err(failed)?;
            }
        }
        Ok(())
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.keeps && !std::thread::panicking() {
            // Nobody is left to tell; the next run says what is in its way.
            let _ = fs::remove_dir_all(&self.partial);
        }
    }
}

/// Takes the place of a plan directory, or says what is in the way.
///
/// # Errors
/// If something is there that may not be replaced, or another run is at it.
pub(super) fn claim(target: &Path, existing: Existing) -> Result<Found> {
    let place: PathBuf = target.components().collect();
    let Some(name) = place.file_name() else {
        return Err(Error::invalid("this is no name for a plan directory", "give a new name").in_file(target));
    };
    let mut partial = name.to_owned();
    partial.push(".partial");
    let partial = place.with_file_name(partial);
    if place.symlink_metadata().is_ok() && !is_empty(&place) {
        if !existing.force && !existing.resume {
            return Err(exists().in_file(target));
        }
        if let Some(foreign) = foreign_entry(&place, true) {
            return Err(no_plan(&foreign).in_file(target));
        }
        if !existing.force {
            return Ok(Found::Complete(place));
        }
    }
    match fs::create_dir(&partial) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return claim_partial(place, partial, existing),
        Err(_) if !directory_of(&partial).exists() => {
            let what = format!("the directory {} does not exist", directory_of(&partial).display());
            return Err(Error::invalid(what, "create it first").in_file(target));
        }
        Err(error) => return Err(Error::io("create", &partial, error)),
    }
    let lock = lock(&partial)?;
    Ok(Found::Nothing(Claim { place, partial, force: existing.force, _lock: lock, keeps: false }))
}

/// The same, where an unfinished plan is there already.
fn claim_partial(place: PathBuf, partial: PathBuf, existing: Existing) -> Result<Found> {
    if let Some(foreign) = foreign_entry(&partial, false) {
        let what = format!("is there and is no unfinished plan: {foreign}");
        return Err(Error::invalid(what, "move it away").in_file(partial));
    }
    let lock = lock(&partial)?;
    // Kept until it is known that nothing of it is wanted.
    let claim = Claim { place, partial, force: existing.force, _lock: lock, keeps: true };
    let begun = if existing.force && !existing.resume { None } else { Journal::read(&claim.partial)? };
    let has_parts = begun.as_ref().is_some_and(|journal| !journal.entries.is_empty());
    if existing.resume {
        match begun {
            Some(journal) if has_parts => return Ok(Found::Unfinished(claim, journal)),
            // Without parts, it makes no difference what was begun.
            Some(_) => {}
            None => {
                if let Ok(manifest) = Manifest::of_plan(&claim.partial) {
                    return Ok(Found::Unnamed(claim, manifest));
                }
            }
        }
    } else if !existing.force && (has_parts || lacks_only_its_name(&claim.partial, begun.as_ref())) {
        let is_stream = begun.is_some_and(|journal| journal.header.reads_a_stream());
        let hint = if is_stream {
            "pass --force to start anew (what came from a stream cannot be read again)"
        } else {
            "pass --resume to finish it, or --force to start anew"
        };
        return Err(Error::invalid("is an unfinished plan", hint).in_file(&claim.partial));
    }
    // Not removed before there is something to begin with.
    Ok(Found::Nothing(claim))
}

/// Whether a plan is finished but for its name: the manifest is written last, and the journal removed after that.
fn lacks_only_its_name(partial: &Path, begun: Option<&Journal>) -> bool {
    begun.is_none() && Manifest::of_plan(partial).is_ok()
}

/// Locks the folder of an unfinished plan against other runs.
#[cfg(unix)]
pub(super) fn lock(partial: &Path) -> Result<Option<File>> {
    use std::os::unix::fs::MetadataExt;
    let failed = |error| Error::io("lock", partial, error);
    let folder = File::open(partial).map_err(failed)?;
    match folder.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(Error::invalid("another run is writing this plan", "wait for it to end").in_file(partial));
        }
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    // The run that had the lock may have given the folder its final name since it was opened here.
    let (locked, named) = (folder.metadata().map_err(failed)?, partial.metadata().map_err(failed)?);
    if (locked.dev(), locked.ino()) != (named.dev(), named.ino()) {
        return Err(Error::invalid("another run has just finished this plan", "look at it first").in_file(partial));
    }
    Ok(Some(folder))
}

/// Elsewhere folders cannot be locked.
#[cfg(not(unix))]
pub(super) fn lock(_partial: &Path) -> Result<Option<File>> {
    Ok(None)
}

fn exists() -> Error {
    Error::invalid("already exists", "pass --force to replace the plan")
}

fn no_plan(foreign: &str) -> Error {
    let what = format!("is there and is no plan directory: {foreign}");
    Error::invalid(what, "choose another name; --force replaces plans only")
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
    let known = |name: &str| ENTRIES.contains(&name) || (!complete && name == JOURNAL);
    let moves = folder.join(MOVES);
    if moves.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
        // A link may lead to the parts of another plan.
        return Some(format!("its {MOVES} is no directory"));
    }
    let part = |name: &str| name.starts_with("part-") && name.ends_with(".parquet");
    foreign_name(folder, known).or_else(|| foreign_name(&moves, part))
}

/// The first name in a folder that is not known; none if there is no such folder.
fn foreign_name(folder: &Path, known: impl Fn(&str) -> bool) -> Option<String> {
    let entries = fs::read_dir(folder).ok()?;
    let names = entries.map_while(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()));
    let mut foreign: Vec<String> = names.filter(|name| !known(name)).collect();
    foreign.sort();
    foreign.into_iter().next().map(|name| format!("it holds {name}"))
}

/// Whether a file is the manifest of a plan, of whatever version.
fn is_our_manifest(path: &Path) -> bool {
    let Ok(text) = fs::read(path) else { return false };
    serde_json::from_slice::<serde_json::Value>(&text)
        .is_ok_and(|manifest| manifest["placement_version"].is_string() && manifest["files"].is_array())
}

fn is_empty(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}
