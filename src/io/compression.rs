//! Compression of outputs: around text, or inside formats that compress their own parts.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;

use flate2::write::GzEncoder;
use zstd::stream::write::Encoder as ZstdEncoder;

use super::format::extension;
use crate::error::{Error, Result, by_name};

/// How an output is compressed.
///
/// CSV, JSON lines and lines are compressed whole, as one gzip member or one zstd frame with a checksum. Parquet and
/// Arrow files compress their parts inside, so that readers still find them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// Not at all.
    None,
    /// Deflate, in a gzip member without a time or a name (RFC 1952).
    Gzip,
    /// Zstandard (RFC 8878).
    Zstd,
}

impl Compression {
    /// Every compression.
    pub const ALL: [Self; 3] = [Self::None, Self::Gzip, Self::Zstd];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// The compression that the name of a file tells, if it tells one: `.gz`, `.zst` and `.zstd`.
    pub fn of_path(path: &Path) -> Option<Self> {
        match extension(path)?.as_str() {
            "gz" => Some(Self::Gzip),
            "zst" | "zstd" => Some(Self::Zstd),
            _ => None,
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Compression {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        by_name("compression", Self::ALL, Self::name, name)
    }
}

/// Bytes that a compressor is given at once. Always the same number, because what it makes of them may depend on it.
const BLOCK: usize = 128 << 10;
/// The levels at which the tools of these names compress unless told otherwise.
const GZIP_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;

/// A sink that compresses what goes through it. Dropped without [`finish`](Self::finish), it leaves a stream that
/// readers know to be cut off.
pub(super) struct Compressor<W: Write> {
    block: Vec<u8>,
    coder: Coder<W>,
}

enum Coder<W: Write> {
    Plain(W),
    Gzip(Gzip<W>),
    Zstd(ZstdEncoder<'static, W>),
}

/// An encoder that ends its member when it is finished, and not, as it would by itself, when it is dropped too: what an
/// error cut off would look complete.
struct Gzip<W: Write>(Option<GzEncoder<Gate<W>>>);

/// A sink that nothing gets into once it is shut.
struct Gate<W> {
    sink: W,
    is_shut: bool,
}

impl<W: Write> Gzip<W> {
    fn new(sink: W) -> Self {
        let gate = Gate { sink, is_shut: false };
        Self(Some(GzEncoder::new(gate, flate2::Compression::new(GZIP_LEVEL))))
    }

    fn encoder(&mut self) -> io::Result<&mut GzEncoder<Gate<W>>> {
        self.0.as_mut().ok_or_else(|| io::Error::other("the gzip member is over"))
    }

    fn finish(mut self) -> io::Result<W> {
        self.encoder()?.try_finish()?;
        match self.0.take() {
            Some(encoder) => encoder.finish().map(|gate| gate.sink),
            None => Err(io::Error::other("the gzip member is over")),
        }
    }
}

impl<W: Write> Drop for Gzip<W> {
    fn drop(&mut self) {
        if let Some(encoder) = &mut self.0 {
            encoder.get_mut().is_shut = true;
        }
    }
}

impl<W: Write> Write for Gate<W> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if self.is_shut { Err(io::ErrorKind::BrokenPipe.into()) } else { self.sink.write(buf) }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.is_shut { Ok(()) } else { self.sink.flush() }
    }
}

impl<W: Write> Compressor<W> {
    pub(super) fn new(compression: Compression, sink: W) -> io::Result<Self> {
        let coder = match compression {
            Compression::None => Coder::Plain(sink),
            Compression::Gzip => Coder::Gzip(Gzip::new(sink)),
            Compression::Zstd => {
                let mut encoder = ZstdEncoder::new(sink, ZSTD_LEVEL)?;
                encoder.include_checksum(true)?;
                Coder::Zstd(encoder)
            }
        };
        Ok(Self { block: Vec::new(), coder })
    }

    /// Ends the stream and gives the sink back, flushed.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.coder.write_all(&self.block)?;
        let mut sink = match self.coder {
            Coder::Plain(sink) => sink,
            Coder::Gzip(gzip) => gzip.finish()?,
            Coder::Zstd(encoder) => encoder.finish()?,
        };
        sink.flush()?;
        Ok(sink)
    }
}

impl<W: Write> Write for Compressor<W> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if let Coder::Plain(sink) = &mut self.coder {
            return sink.write(buf);
        }
        let taken = buf.len().min(BLOCK - self.block.len());
        self.block.extend_from_slice(&buf[..taken]);
        if self.block.len() == BLOCK {
            self.coder.write_all(&self.block)?;
            self.block.clear();
        }
        Ok(taken)
    }

    /// Flushes what has come out. A compressor's own flush would make the bytes depend on when it is called.
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.coder {
            Coder::Plain(sink) => sink.flush(),
            Coder::Gzip(gzip) => gzip.encoder()?.get_mut().flush(),
            Coder::Zstd(encoder) => encoder.get_mut().flush(),
        }
    }
}

impl<W: Write> Write for Coder<W> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(sink) => sink.write(buf),
            Self::Gzip(gzip) => gzip.encoder()?.write(buf),
            Self::Zstd(encoder) => encoder.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_unknown_ones_list_the_known() {
        for compression in Compression::ALL {
            assert_eq!(compression.to_string().parse::<Compression>().unwrap(), compression);
        }
        let error = "xz".parse::<Compression>().unwrap_err().to_string();
        assert!(error.contains("\"xz\"") && error.contains("none, gzip, zstd"), "{error}");
    }

    #[test]
    fn extensions_tell_compressions() {
        let told = |name: &str| Compression::of_path(Path::new(name));
        assert_eq!(told("a.csv.GZ"), Some(Compression::Gzip));
        assert_eq!(told("a.csv.zst"), Some(Compression::Zstd));
        assert_eq!(told("a.jsonl.zstd"), Some(Compression::Zstd));
        assert_eq!(told("a.csv"), None);
        assert_eq!(told("gz"), None);
    }

    #[test]
    fn bytes_do_not_depend_on_how_writes_are_cut() {
        let text: Vec<u8> = (0..120_000_u64).flat_map(|row| format!("{}\n", row * row % 9973).into_bytes()).collect();
        for compression in Compression::ALL {
            let cut = |size: usize| {
                let mut sink = Compressor::new(compression, Vec::new()).unwrap();
                for piece in text.chunks(size) {
                    sink.write_all(piece).unwrap();
                    sink.flush().unwrap();
                }
                sink.finish().unwrap()
            };
            let whole = cut(text.len());
            for size in [1, 1000, BLOCK, BLOCK + 1, 300_000] {
                assert!(cut(size) == whole, "{compression} by {size}");
            }
        }
    }
}
