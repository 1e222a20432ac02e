//! A file of lines cut in any pieces gives what it gives whole, and what a plain reading of its lines gives.

#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use rehome::io::{BadRows, Blank, LineDecoder, ReadOptions};
use rehome::{Key, KeyColumn, KeyType};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    kind: u8,
    keeps_blank_lines: bool,
    stops: bool,
    max_key: Option<u32>,
    chunk_rows: u8,
    chunk_bytes: u8,
    pieces: [u8; 8],
    text: &'a [u8],
}

/// What decoding came to.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    keys: Vec<(u64, Vec<u8>)>,
    end_row: u64,
    bad: u64,
    first_bad: Vec<String>,
    error: Option<String>,
}

fuzz_target!(|input: Input| {
    let options = options(&input);
    let whole = decode(&options, std::iter::once(input.text));
    let large = ReadOptions { chunk_rows: 1 << 20, chunk_bytes: 1 << 20, ..options.clone() };
    // An error comes before the chunk that it is in, and chunks are of other sizes then.
    if whole.error.is_none() {
        assert_eq!(decode(&large, std::iter::once(input.text)), whole);
    }
    assert_eq!(decode(&options, pieces(input.text, &input.pieces)), whole);
    assert_eq!(decode(&options, input.text.chunks(1)), whole);
    if whole.error.is_none() {
        let lines = plain(&input);
        assert_eq!(whole.end_row, lines.len() as u64);
        assert_eq!(whole.keys.len() as u64 + whole.bad, whole.end_row);
        if options.key_type == Some(KeyType::Text) {
            let valid = |line: &&[u8]| std::str::from_utf8(line).is_ok();
            let good = (0..).zip(&lines).filter(|(_, line)| valid(line)).map(|(row, line)| (row, line.to_vec()));
            assert_eq!(whole.keys, good.collect::<Vec<_>>());
        }
    }
});

fn options(input: &Input) -> ReadOptions {
    ReadOptions {
        key_type: Some(KeyType::ALL[usize::from(input.kind) % KeyType::ALL.len()]),
        blank: if input.keeps_blank_lines { Blank::Keep } else { Blank::Skip },
        bad_rows: if input.stops { BadRows::Stop } else { BadRows::Skip },
        max_key: input.max_key.map(|key| (key.into(), "is too large")),
        chunk_rows: input.chunk_rows.into(),
        chunk_bytes: input.chunk_bytes.into(),
        ..ReadOptions::default()
    }
}

fn decode<'a>(options: &ReadOptions, blocks: impl Iterator<Item = &'a [u8]>) -> Outcome {
    let mut decoder = LineDecoder::new(options);
    let mut outcome = Outcome::default();
    let run = || -> rehome::Result<()> {
        for mut block in blocks {
            while !block.is_empty() {
                block = &block[decoder.decode(block)?..];
                if decoder.is_full() {
                    take(&mut decoder, &mut outcome)?;
                }
            }
        }
        decoder.end()?;
        take(&mut decoder, &mut outcome)
    };
    let result = run();
    outcome.error = result.err().map(|error| error.to_string());
    outcome.bad = decoder.report().bad;
    outcome.first_bad = decoder.report().first_bad.iter().map(ToString::to_string).collect();
    assert_eq!(outcome.first_bad.len() as u64, outcome.bad.min(10));
    assert_eq!(outcome.keys.len() as u64, decoder.report().rows);
    outcome
}

fn take(decoder: &mut LineDecoder, outcome: &mut Outcome) -> rehome::Result<()> {
    let Some(chunk) = decoder.take_chunk()? else { return Ok(()) };
    let keys = chunk.keys(0);
    for index in 0..chunk.len() {
        let key = match keys.get(index) {
            Key::Bytes(bytes) => bytes.to_vec(),
            Key::Integer(word) => word.to_string().into(),
        };
        outcome.keys.push((chunk.row(index), key));
    }
    assert!(outcome.end_row < chunk.end_row());
    outcome.end_row = chunk.end_row();
    Ok(())
}

/// The text in pieces of these sizes, over and over.
fn pieces<'a>(text: &'a [u8], sizes: &'a [u8; 8]) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = text;
    let mut sizes = sizes.iter().cycle();
    std::iter::from_fn(move || {
        let size = usize::from(*sizes.next()?).max(1).min(rest.len());
        let (piece, after) = rest.split_at_checked(size).filter(|(piece, _)| !piece.is_empty())?;
        rest = after;
        Some(piece)
    })
}

/// The rows of the text, read in the plainest way.
fn plain<'a>(input: &Input<'a>) -> Vec<&'a [u8]> {
    let text = input.text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input.text);
    let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let last = lines.pop().filter(|last| !last.is_empty());
    let ended = lines.into_iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    ended.chain(last).filter(|line| input.keeps_blank_lines || !line.is_empty()).collect()
}
