//! Compressed inputs: gzip and zstd, told by their first bytes, with everything that is in them or an error.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::GzDecoder;
use zstd::stream::read::Decoder as ZstdDecoder;

use super::errors::Damaged;
use super::format::extension;
use super::metered::Bytes;
use super::positioned::SharedFile;
use crate::error::{Error, Result};

/// Compressed bytes read at a time.
const BLOCK: usize = 128 << 10;

/// How an input is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    /// The one that the first bytes tell.
    pub(super) fn of_head(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            // A frame to be passed over, which tools that compress in parallel begin with.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    /// The one that a file's name tells.
    pub(super) fn of_path(path: &Path) -> Option<Self> {
        match extension(path).as_deref() {
            Some("gz") => Some(Self::Gzip),
            Some("zst" | "zstd") => Some(Self::Zstd),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// What is in `bytes`.
    pub(super) fn unpack(self, bytes: Bytes) -> io::Result<Bytes> {
        let bytes = BufReader::with_capacity(BLOCK, bytes);
        Ok(match self {
            Self::Gzip => Box::new(Members { state: State::Next(bytes) }),
            Self::Zstd => Box::new(Frames { decoder: ZstdDecoder::with_buffer(bytes)? }),
        })
    }
}

/// The error of a decoder: what the system said as it is, or else that the data is damaged.
fn told(packing: Packing, error: io::Error) -> io::Error {
    if error.raw_os_error().is_some() || error.kind() == io::ErrorKind::Interrupted {
        return error;
    }
    let name = packing.name();
    let what = match error.kind() {
        io::ErrorKind::UnexpectedEof => format!("the {name} data is cut short: get the whole file"),
        _ => format!("the {name} data is damaged ({error}): get the file once more"),
    };
    Damaged(what).into()
}

/// The members of a gzip file, one after the other, and zeros behind the last, which tapes leave.
struct Members {
    state: State,
}

enum State {
    Next(BufReader<Bytes>),
    Member(Box<GzDecoder<BufReader<Bytes>>>),
    /// At the end, or behind an error.
    Over,
}

impl Members {
    /// The state behind a member.
    fn behind(mut bytes: BufReader<Bytes>) -> io::Result<State> {
        match bytes.fill_buf()?.first() {
            None => return Ok(State::Over),
            Some(0x1f) => return Ok(State::Next(bytes)),
            Some(_) => {}
        }
        loop {
            let block = bytes.fill_buf()?;
            if block.is_empty() {
                return Ok(State::Over);
            }
            if block.iter().any(|byte| *byte != 0) {
                return Err(Damaged("something that is no gzip data follows the gzip data: cut it off".into()).into());
            }
            let count = block.len();
            bytes.consume(count);
        }
    }
}

impl Read for Members {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.state, State::Over) {
                State::Over => return Ok(0),
                State::Next(bytes) => self.state = State::Member(Box::new(GzDecoder::new(bytes))),
                State::Member(mut member) => match member.read(buf) {
                    Ok(0) if !buf.is_empty() => self.state = Self::behind(member.into_inner())?,
                    Ok(count) => {
                        self.state = State::Member(member);
                        return Ok(count);
                    }
                    Err(error) => {
                        if error.kind() == io::ErrorKind::Interrupted {
                            self.state = State::Member(member);
                        }
                        return Err(told(Packing::Gzip, error));
                    }
                },
            }
        }
    }
}

/// The frames of a zstd file, one after the other.
struct Frames {
    decoder: ZstdDecoder<'static, BufReader<Bytes>>,
}

impl Read for Frames {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(buf).map_err(|error| told(Packing::Zstd, error))
    }
}

/// Writes everything of a stream into a file without a name, for formats that are read from their end.
///
/// # Errors
/// If the stream cannot be read, or the folder of temporary files cannot be written to.
pub(super) fn spool(name: &Path, mut bytes: impl Read) -> Result<SharedFile> {
    let failed = |error| Error::io("write a temporary copy (TMPDIR says where)", name, error);
    let mut copy: File = tempfile::tempfile().map_err(failed)?;
    let mut block = vec![0; BLOCK];
    let mut total = 0;
    loop {
        let count = match bytes.read(&mut block) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read.map_err(|error| super::errors::reading(name, error))?,
        };
        if count == 0 {
            return Ok(SharedFile::new(copy, total));
        }
        io::Write::write_all(&mut copy, &block[..count]).map_err(failed)?;
        total += count as u64;
    }
}
