//! From arguments to inputs: files, folders, patterns and standard input.

use std::collections::HashMap;
use std::fs::Metadata;
use std::path::{Component, Path, PathBuf};

use glob::MatchOptions;
use walkdir::{DirEntry, WalkDir};

use super::options::{Input, Source};
use crate::error::{Error, Result};

/// The inputs that arguments name, in an order that is the same everywhere.
///
/// * `-` is standard input.
/// * A folder stands for all files in it and in the folders in it, in the order of the bytes of their paths. Names that
///   begin with `.` or `_` are passed over, as Spark and Hive do with what they note down beside the data.
/// * A path that is not there and holds `*`, `?` or `[` is a pattern: it stands for what it matches, in the order of the
///   bytes of the paths; `**` matches any number of folders.
///
/// An input is called by its path inside the folder that was given, or inside the part of a pattern before its first
/// special character, with `/` between names on every system; a file that was given itself by its name.
///
/// # Errors
/// If something is not there or cannot be looked at, if a folder has no file or holds itself through a link, if a
/// pattern matches nothing, and if a file or standard input comes twice.
///
/// # Complexity
/// A look at every file and folder: O(n log n) for n files.
pub fn find_inputs(args: &[PathBuf]) -> Result<Vec<Input>> {
    let mut found = Found::default();
    for arg in args {
        match Source::from_arg(arg) {
            Source::Stdin => found.stdin()?,
            Source::Path(path) => match path.metadata() {
                Ok(metadata) => found.path(&path, &metadata, None)?,
                Err(error) => match pattern(&path) {
                    Some(text) => found.pattern(&path, text)?,
                    None => return Err(Error::io("open", path, error)),
                },
            },
        }
    }
    if found.inputs.is_empty() {
        return Err(Error::invalid("there is no input", "give at least one"));
    }
    Ok(found.inputs)
}

/// The text of a path that may be a pattern.
fn pattern(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| text.contains(['*', '?', '[']))
}

/// Inputs so far.
#[derive(Default)]
struct Found {
    inputs: Vec<Input>,
    /// The files among them, by what tells them whatever their path.
    files: HashMap<Identity, PathBuf>,
}

impl Found {
    fn stdin(&mut self) -> Result<()> {
        if self.inputs.iter().any(|input| input.source == Source::Stdin) {
            return Err(Error::invalid("standard input is given twice", "give - once"));
        }
        self.inputs.push(Source::Stdin.into());
        Ok(())
    }

    /// Takes in what is at a path; `base` is what its name does not say.
    fn path(&mut self, path: &Path, metadata: &Metadata, base: Option<&Path>) -> Result<()> {
        if metadata.is_dir() { self.folder(path, base.unwrap_or(path)) } else { self.file(path, metadata, base) }
    }

    fn file(&mut self, path: &Path, metadata: &Metadata, base: Option<&Path>) -> Result<()> {
        if metadata.is_file()
            && let Some(identity) = identity(path, metadata)
            && let Some(other) = self.files.insert(identity, path.to_path_buf())
        {
            let what = if other == path {
                "is given twice".into()
            } else {
                format!("is the same file as {}", other.display())
            };
            return Err(Error::invalid(format!("this {what}"), "give each file once").in_file(path));
        }
        let mut input = Input::from(Source::Path(path.to_path_buf()));
        if let Some(inside) = base.and_then(|base| path.strip_prefix(base).ok()) {
            input.name = slashed(inside);
        }
        self.inputs.push(input);
        Ok(())
    }

    fn folder(&mut self, folder: &Path, base: &Path) -> Result<()> {
        let is_seen = |entry: &DirEntry| entry.depth() == 0 || !is_hidden(entry.path());
        let mut files = Vec::new();
        for entry in WalkDir::new(folder).follow_links(true).into_iter().filter_entry(is_seen) {
            let entry = entry.map_err(|error| unwalkable(folder, error))?;
            let metadata = entry.metadata().map_err(|error| unwalkable(folder, error))?;
            if metadata.is_file() {
                files.push((entry.into_path(), metadata));
            } else if !metadata.is_dir() {
                let what = "this is neither a file nor a folder";
                return Err(Error::invalid(what, "take it out of the folder").in_file(entry.path()));
            }
        }
        if files.is_empty() {
            let what = "there is no file in this directory (names that begin with . or _ do not count)";
            return Err(Error::invalid(what, "give a directory with key files").in_file(folder));
        }
        files.sort_by_cached_key(|(path, _)| slashed(path.strip_prefix(folder).unwrap_or(path)).into_bytes());
        files.iter().try_for_each(|(path, metadata)| self.file(path, metadata, Some(base)))
    }

    fn pattern(&mut self, path: &Path, text: &str) -> Result<()> {
        let invalid = |what: String| Error::invalid(what, "check the pattern").in_file(path);
        let options =
            MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };
        let matches =
            glob::glob_with(text, options).map_err(|error| invalid(format!("this is no pattern ({error})")))?;
        let asks_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"_"));
        let mut paths = Vec::new();
        for matched in matches {
            let matched = matched.map_err(|error| Error::io("open", error.path().to_path_buf(), error.into()))?;
            if asks_hidden || !is_hidden(&matched) {
                paths.push(matched);
            }
        }
        if paths.is_empty() {
            return Err(invalid("no file matches this".into()));
        }
        paths.sort_by_cached_key(|path| slashed(path).into_bytes());
        let base: PathBuf = path.components().take_while(|part| pattern(part.as_ref()).is_none()).collect();
        for path in paths {
            let metadata = path.metadata().map_err(|error| Error::io("open", &path, error))?;
            self.path(&path, &metadata, Some(&base))?;
        }
        Ok(())
    }
}

/// Whether the last name of a path says that it is no data.
fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| matches!(name.as_encoded_bytes().first(), Some(b'.' | b'_')))
}

/// A path with `/` between its names, as it is the same on every system.
fn slashed(path: &Path) -> String {
    let names: Vec<_> = path
        .components()
        .filter(|part| !matches!(part, Component::CurDir))
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    names.join("/")
}

fn unwalkable(folder: &Path, error: walkdir::Error) -> Error {
    let path = error.path().unwrap_or(folder).to_path_buf();
    if let Some(ancestor) = error.loop_ancestor() {
        let what = format!("this link leads back to {}, which holds it", ancestor.display());
        return Error::invalid(what, "take the link out of the folder").in_file(path);
    }
    match error.into_io_error() {
        Some(source) => Error::io("open", path, source),
        None => Error::invalid("this cannot be looked at", "check the folder").in_file(path),
    }
}

/// What tells a file whatever its path.
#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = PathBuf;

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems may not tell")]
fn identity(_path: &Path, metadata: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path, _metadata: &Metadata) -> Option<Identity> {
    path.canonicalize().ok()
}
