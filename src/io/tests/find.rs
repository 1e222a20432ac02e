//! Folders, patterns and lists of files.

use std::path::Path;

use super::*;
use crate::io::{BadRows, Input, find_inputs, open_all};

/// Makes files of these names, with the folders they are in.
fn tree(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{name}\n")).unwrap();
    }
    folder
}

fn names(found: &[Input]) -> Vec<&str> {
    found.iter().map(|input| input.name.as_str()).collect()
}

fn error(args: &[PathBuf]) -> String {
    find_inputs(args).unwrap_err().to_string()
}

#[test]
fn a_folder_stands_for_its_files_in_byte_order() {
    let folder = tree(&[
        "dt=2024-01-02/b.txt",
        "dt=2024-01-02/a.txt",
        "dt=2024-01-01/z.txt",
        "B.txt",
        "a.txt",
        "a/x.txt",
        "a-b.txt",
        "_SUCCESS",
        ".a.txt.crc",
        "_temporary/0/t.txt",
        ".git/x.txt",
        "a/.hidden",
        "a/_note",
    ]);
    let found = find_inputs(&[folder.path().to_path_buf()]).unwrap();
    let expected =
        ["B.txt", "a-b.txt", "a.txt", "a/x.txt", "dt=2024-01-01/z.txt", "dt=2024-01-02/a.txt", "dt=2024-01-02/b.txt"];
    assert_eq!(names(&found), expected);
    let chunks: Vec<KeyChunk> = open_all(found, ReadOptions::default()).unwrap().map(Result::unwrap).collect();
    assert_eq!(keys(&chunks), expected);
    assert_eq!(rows(&chunks).last().unwrap().0, 6);
    // A file that is named is read, whatever its name.
    let named = find_inputs(&[folder.path().join("_SUCCESS"), folder.path().join("a")]).unwrap();
    assert_eq!(names(&named), ["_SUCCESS", "x.txt"]);
}

#[test]
fn a_pattern_stands_for_what_it_matches() {
    let folder =
        tree(&["part-1.csv", "part-0.csv", "part-x.txt", "_part.csv", "d=1/p.csv", "d=2/p.csv", "d=2/q/r.csv"]);
    let at = |pattern: &str| find_inputs(&[folder.path().join(pattern)]);
    assert_eq!(names(&at("part-*.csv").unwrap()), ["part-0.csv", "part-1.csv"]);
    assert_eq!(names(&at("*.csv").unwrap()), ["part-0.csv", "part-1.csv"]);
    assert_eq!(names(&at("_*.csv").unwrap()), ["_part.csv"]);
    assert_eq!(names(&at("d=*/p.csv").unwrap()), ["d=1/p.csv", "d=2/p.csv"]);
    assert_eq!(names(&at("d=[2]").unwrap()), ["d=2/p.csv", "d=2/q/r.csv"]);
    assert_eq!(names(&at("**/r.csv").unwrap()), ["d=2/q/r.csv"]);
    let none = at("*.parquet").unwrap_err().to_string();
    assert!(none.ends_with("*.parquet: no file matches this: check the pattern"), "{none}");
    assert!(at("[").unwrap_err().to_string().contains("no pattern"));
    // What is there is no pattern.
    std::fs::write(folder.path().join("a[1].txt"), "x\n").unwrap();
    assert_eq!(names(&at("a[1].txt").unwrap()), ["a[1].txt"]);
}

#[test]
fn what_is_not_there_or_there_twice_is_an_error() {
    let folder = tree(&["a.txt", "b/c.txt", "b/d.txt"]);
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(path("empty/_x")).unwrap();
    assert!(error(&[path("empty")]).contains("empty: there is no file in this directory"));
    assert!(error(&[path("none.txt")]).contains("none.txt: cannot open: "));
    assert!(error(&[path("a.txt"), path("a.txt")]).ends_with("a.txt: this is given twice: give each file once"));
    let again = error(&[path("b"), path("b/c.txt")]);
    assert!(again.contains("c.txt: this is given twice"), "{again}");
    assert!(error(&["-".into(), "-".into()]).contains("standard input is given twice"));
    assert_eq!(names(&find_inputs(&["-".into(), path("a.txt")]).unwrap()), ["-", "a.txt"]);
    assert!(find_inputs(&[]).is_err());
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_loops_are_not() {
    use std::os::unix::fs::symlink;
    let folder = tree(&["in/a.txt", "elsewhere/b.txt"]);
    let path = |name: &str| folder.path().join(name);
    symlink(path("elsewhere"), path("in/linked")).unwrap();
    assert_eq!(names(&find_inputs(&[path("in")]).unwrap()), ["a.txt", "linked/b.txt"]);
    symlink(Path::new("a.txt"), path("in/same.txt")).unwrap();
    assert!(error(&[path("in")]).contains("same.txt: this is the same file as "));
    std::fs::remove_file(path("in/same.txt")).unwrap();
    symlink(path("in"), path("in/linked/back")).unwrap();
    let back = error(&[path("in")]);
    assert!(back.contains("back: this link leads back to "), "{back}");
    std::fs::remove_file(path("in/linked/back")).unwrap();
    symlink(path("nowhere"), path("in/broken")).unwrap();
    assert!(error(&[path("in")]).contains("broken: cannot open: "));
}

#[test]
fn empty_parts_have_no_rows() {
    let empty = file("a.csv", b"");
    let full = file("b.csv", b"key,n\nx,1\ny,2\n");
    let lines = file("c", b"");
    let inputs =
        |files: &[&Scratch]| files.iter().map(|file| Source::Path(file.path.clone()).into()).collect::<Vec<Input>>();
    let options = |header| ReadOptions {
        column: Some(if header { "key".into() } else { "1".into() }),
        keep: vec![if header { "n".into() } else { "2".into() }],
        header,
        ..ReadOptions::default()
    };
    for header in [true, false] {
        for order in [[&empty, &full], [&full, &empty]] {
            let mut reader = open_all(inputs(&order), options(header)).unwrap();
            assert_eq!(reader.kept_fields().len(), 1);
            let chunks: Vec<KeyChunk> = reader.by_ref().map(Result::unwrap).collect();
            assert_eq!(rows(&chunks).len(), if header { 2 } else { 3 });
            assert_eq!(chunks[0].kept().len(), 1);
            assert_eq!(reader.finished().len(), 2);
        }
    }
    let second = file("d", b"k\n");
    let chunks: Vec<KeyChunk> =
        open_all(inputs(&[&lines, &second]), ReadOptions::default()).unwrap().map(Result::unwrap).collect();
    assert_eq!(keys(&chunks), ["k"]);
    assert!(open_all(inputs(&[&empty]), ReadOptions::default()).is_err());
    let columns = file("e.parquet", b"");
    let error = open_all(inputs(&[&columns, &columns]), ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("e.parquet: not a readable Parquet file"), "{error}");
}

#[test]
fn bad_rows_are_named_with_their_input() {
    let first = file("a.txt", b"1\nx\n");
    let second = file("b.txt", b"y\n2\nz\n");
    let inputs: Vec<Input> = [&first, &second].map(|file| Source::Path(file.path.clone()).into()).to_vec();
    let options = ReadOptions {
        key_type: Some(crate::keys::KeyType::U64),
        bad_rows: BadRows::Skip,
        chunk_rows: 1,
        ..ReadOptions::default()
    };
    let mut reader = open_all(inputs, options).unwrap();
    while reader.next_chunk().unwrap().is_some() {}
    let bad: Vec<(PathBuf, String)> =
        reader.first_bad().into_iter().map(|(name, bad)| (name, bad.to_string()[..6].to_owned())).collect();
    let at = |file: &Scratch, line: u64| (file.path.clone(), format!("line {line}"));
    assert_eq!(bad, [at(&first, 2), at(&second, 1), at(&second, 3)]);
}
