//! Which format an input is in: what the user said, what its name tells, and what its first bytes tell.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

use super::InputFormat;
use super::format::extension;
use super::metered::Bytes;
use super::options::Source;
use super::packed::Packing;
use crate::error::{Error, Result};

/// The bytes that tell a format.
const HEAD: u64 = 16;
/// The bytes that [`detect`] looks at: enough of a compressed file for [`HEAD`] bytes of what is in it.
const LOOK: u64 = 8 << 10;

/// The first bytes, fewer at the end.
pub(super) fn head(bytes: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    bytes.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}

/// The path without the extension of a compressed file.
pub(super) fn inner_path(path: &Path) -> Cow<'_, Path> {
    if Packing::of_path(path).is_some() { path.with_extension("").into() } else { path.into() }
}

/// How an input with these first bytes is compressed.
///
/// # Errors
/// If the name says that it is compressed and the bytes do not: what is there may be a part of it.
pub(super) fn packing(path: &Path, head: &[u8]) -> Result<Option<Packing>> {
    match (Packing::of_head(head), Packing::of_path(path)) {
        (None, Some(named)) => Err(Error::invalid(
            format!("the name says {}, and it does not begin like that", named.name()),
            "get the whole file, or rename it if it is not compressed",
        )),
        (None, None) if head == [0x1f] => {
            Err(Error::invalid("this is the first byte of gzip data and no more", "get the whole file"))
        }
        (told, _) => Ok(told),
    }
}

/// The format that is given or that the name tells; names without an extension tell nothing.
///
/// # Errors
/// If the name says JSON, whose lines would be taken for keys.
pub(super) fn told(source: &Source, given: Option<InputFormat>) -> Result<Option<InputFormat>> {
    let Source::Path(path) = source else { return Ok(given) };
    let path = inner_path(path);
    if given.is_some() || path.extension().is_none() {
        return Ok(given);
    }
    match extension(&path).as_deref() {
        Some("json" | "jsonl" | "ndjson") => Err(Error::invalid(
            "JSON is no format of keys",
            "make it CSV or Parquet, or pass --input-format lines if each line as a whole is a key",
        )),
        _ => Ok(InputFormat::of_path(&path)),
    }
}

/// The format that the first bytes tell, after decompression.
pub(super) fn of_head(head: &[u8]) -> InputFormat {
    // What follows these magic numbers is binary; in a file of lines they could only begin a key.
    let is_binary =
        |rest: &[u8]| rest.first().is_none_or(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace());
    if head.strip_prefix(b"PAR1").is_some_and(is_binary) {
        InputFormat::Parquet
    } else if head.strip_prefix(b"ARROW1").is_some_and(is_binary) || head.starts_with(&[0xff; 4]) {
        InputFormat::Arrow
    } else {
        InputFormat::Lines
    }
}

/// Refuses what is no text by its first bytes.
///
/// # Errors
/// If they are those of UTF-16, or of a compression that is not read.
pub(super) fn refuse_no_text(head: &[u8]) -> Result<()> {
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return Err(Error::invalid(
            "this is UTF-16",
            "make it UTF-8, as in `iconv -f UTF-16 -t UTF-8 FILE | rehome .. -`",
        ));
    }
    let bzip2 = |head: &[u8]| head.starts_with(b"BZh") && head.get(4..10) == Some(b"1AY&SY");
    let (name, tool) = match head {
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => ("xz", "xzcat"),
        [0x04, 0x22, 0x4d, 0x18, ..] => ("lz4", "lz4cat"),
        [b'P', b'K', 3, 4, ..] => ("zip", "unzip -p"),
        _ if bzip2(head) => ("bzip2", "bzcat"),
        _ => return Ok(()),
    };
    Err(Error::invalid(
        format!("this is compressed with {name}"),
        format!("decompress it first, as in `{tool} FILE | rehome .. -`, or use gzip or zstd"),
    ))
}

/// The format in which [`open`](super::open) would read a source, without taking anything from it: what is given, what
/// the name tells, or what the first bytes of a file or of standard input tell. Pipes with a name can be looked at only
/// once, so they count as lines, and so does what cannot be read: `open` has the error to tell.
pub fn detect(source: &Source, given: Option<InputFormat>) -> InputFormat {
    match told(source, given) {
        Ok(Some(format)) => format,
        _ => look(source).ok().flatten().unwrap_or(InputFormat::Lines),
    }
}

fn look(source: &Source) -> io::Result<Option<InputFormat>> {
    let mut bytes = Vec::new();
    match source {
        // What is in the buffer of standard input stays there.
        Source::Stdin => bytes.extend_from_slice(io::stdin().lock().fill_buf()?),
        Source::Path(path) if path.is_file() => {
            std::fs::File::open(path)?.take(LOOK).read_to_end(&mut bytes)?;
        }
        Source::Path(_) => return Ok(None),
    }
    let Some(packing) = Packing::of_head(&bytes) else { return Ok(Some(of_head(&bytes))) };
    let packed: Bytes = Box::new(io::Cursor::new(bytes));
    Ok(Some(of_head(&head(&mut packing.unpack(packed)?)?)))
}

/// Where an input is, as a path: that of standard input tells nothing.
pub(super) fn path_of(source: &Source) -> PathBuf {
    match source {
        Source::Stdin => PathBuf::new(),
        Source::Path(path) => path.clone(),
    }
}
