//! Files that appear whole or not at all.

use std::io::Write;

use super::file;
use crate::io::{AtomicFile, Target};

fn names(directory: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_commit_renames_and_a_drop_removes() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("out.csv");
    let mut dropped = AtomicFile::create(&target, false).unwrap();
    dropped.write_all(b"half").unwrap();
    let partial = names(directory.path());
    assert!(
        partial.len() == 1 && partial[0].starts_with(".out.csv.") && partial[0].ends_with(".partial"),
        "{partial:?}"
    );
    drop(dropped);
    assert!(names(directory.path()).is_empty());

    let mut kept = Target::File(AtomicFile::create(&target, false).unwrap());
    kept.write_all(b"whole").unwrap();
    kept.commit().unwrap();
    assert_eq!(names(directory.path()), ["out.csv"]);
    assert_eq!(std::fs::read(&target).unwrap(), b"whole");
}

#[test]
fn existing_files_are_replaced_only_by_force() {
    let scratch = file("out", b"old");
    let error = AtomicFile::create(&scratch.path, false).unwrap_err().to_string();
    assert!(error.ends_with("out: already exists: pass --force to replace it"), "{error}");
    let mut new = AtomicFile::create(&scratch.path, true).unwrap();
    new.write_all(b"new").unwrap();
    assert_eq!(std::fs::read(&scratch.path).unwrap(), b"old", "until the commit");
    new.commit().unwrap();
    assert_eq!(std::fs::read(&scratch.path).unwrap(), b"new");

    // One that appears in the meantime is not replaced either.
    let late = scratch.directory.path().join("late");
    let new = AtomicFile::create(&late, false).unwrap();
    std::fs::write(&late, b"other").unwrap();
    let error = new.commit().unwrap_err().to_string();
    assert!(error.contains("already exists"), "{error}");
    assert_eq!(std::fs::read(&late).unwrap(), b"other");
    assert_eq!(names(scratch.directory.path()), ["late", "out"]);
}

#[test]
fn places_that_cannot_be() {
    let directory = tempfile::tempdir().unwrap();
    let error = |path: &std::path::Path| AtomicFile::create(path, true).unwrap_err().to_string();
    assert!(error(directory.path()).contains("this is a directory"));
    let lost = error(&directory.path().join("no/out"));
    assert!(lost.contains("does not exist: create it first"), "{lost}");
}

#[cfg(unix)]
#[test]
fn permissions_and_links_are_kept_and_devices_are_not_replaced() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let scratch = file("real", b"old");
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let plain = mode(&scratch.path);
    let fresh = scratch.directory.path().join("fresh");
    AtomicFile::create(&fresh, false).unwrap().commit().unwrap();
    assert_eq!(mode(&fresh), plain, "as any other new file");

    std::fs::set_permissions(&scratch.path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let link = scratch.directory.path().join("link");
    symlink(&scratch.path, &link).unwrap();
    AtomicFile::create(&link, true).unwrap().commit().unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!((std::fs::read(&scratch.path).unwrap(), mode(&scratch.path)), (Vec::new(), 0o640));

    let error = AtomicFile::create(std::path::Path::new("/dev/null"), true).unwrap_err().to_string();
    assert!(error.contains("no regular file"), "{error}");
}
