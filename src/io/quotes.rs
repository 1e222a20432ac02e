//! Quotes of a CSV file that are not as they should be, found in its raw bytes beside the CSV library, which takes them
//! as they come.

use std::collections::VecDeque;

use memchr::{memchr, memchr_iter};

/// UTF-8's byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Follows the quotes through a file that comes in blocks, cut anywhere. A block without quotes costs one search.
#[derive(Debug)]
pub(super) struct Quotes {
    delimiter: u8,
    state: State,
    /// The last byte; at the start a line feed, as if a line had just ended.
    before: u8,
    /// Bytes so far.
    bytes: u64,
    /// Where the last quoted field opened, and the line feeds in it up to the end of the last block.
    opened: u64,
    newlines: u64,
    /// Where text begins behind a closing quote, in rows that are not done with.
    torn: VecDeque<u64>,
    /// The first place at which something is wrong, as far as is known.
    first_fault: u64,
}

/// Where the last byte led.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Outside,
    Inside,
    /// Behind a quote in a quoted field: its end, or the first half of a doubled quote.
    Closing,
}

/// What is wrong with the quotes of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadQuote {
    /// A quoted field has no end; it has this many line feeds.
    Unclosed {
        /// Line feeds from the quote to the end of what was read.
        newlines: u64,
    },
    /// Text stands between a closing quote and the end of the field.
    TextBehind,
}

impl Quotes {
    /// At the start of a file whose fields this byte separates.
    pub(super) fn new(delimiter: u8) -> Self {
        Self {
            delimiter,
            state: State::Outside,
            before: b'\n',
            bytes: 0,
            opened: 0,
            newlines: 0,
            torn: VecDeque::new(),
            first_fault: u64::MAX,
        }
    }

    /// Follows the next block. The first must not end within a byte order mark.
    pub(super) fn follow(&mut self, block: &[u8]) {
        let mut at = if self.bytes == 0 && block.starts_with(MARK) { MARK.len() } else { 0 };
        let start = at;
        // From where the line feeds of an open field are still to be counted.
        let mut uncounted = 0;
        loop {
            match self.state {
                State::Outside => {
                    let Some(length) = memchr(b'"', &block[at..]) else { break };
                    let quote = at + length;
                    at = quote + 1;
                    // Elsewhere than at the start of a field, a quote is a character like any other.
                    if self.ends_field(if quote == start { self.before } else { block[quote - 1] }) {
                        self.open(quote);
                        uncounted = at;
                    }
                }
                State::Inside => {
                    let Some(length) = memchr(b'"', &block[at..]) else { break };
                    self.state = State::Closing;
                    at += length + 1;
                }
                State::Closing => {
                    let Some(byte) = block.get(at).copied() else { break };
                    if byte == b'"' {
                        self.state = State::Inside;
                        at += 1;
                    } else if !self.ends_field(byte) {
                        self.state = State::Outside;
                        self.torn.push_back(self.bytes + at as u64);
                    } else if block.get(at + 1) == Some(&b'"') {
                        // Fields are short, and quoted ones often side by side: a search for the next quote is slower.
                        self.open(at + 1);
                        at += 2;
                        uncounted = at;
                    } else {
                        self.state = State::Outside;
                    }
                }
            }
        }
        if self.state != State::Outside {
            self.newlines += memchr_iter(b'\n', &block[uncounted..]).count() as u64;
        }
        if let Some(last) = block[start..].last() {
            self.before = *last;
        }
        self.bytes += block.len() as u64;
        self.look_ahead();
    }

    /// What is wrong with the quotes before `end`, the end of a row; what is before it is then done with.
    #[inline]
    pub(super) fn fault_before(&mut self, end: u64) -> Option<BadQuote> {
        if end <= self.first_fault { None } else { Some(self.take_fault(end)) }
    }

    #[cold]
    fn take_fault(&mut self, end: u64) -> BadQuote {
        while self.torn.front().is_some_and(|at| *at < end) {
            self.torn.pop_front();
        }
        self.look_ahead();
        // A row that ends behind a quote that is open ended with the file.
        self.unclosed().filter(|_| self.opened < end).unwrap_or(BadQuote::TextBehind)
    }

    fn look_ahead(&mut self) {
        let open = if self.state == State::Inside { self.opened } else { u64::MAX };
        self.first_fault = self.torn.front().copied().unwrap_or(open);
    }

    /// The quoted field that is open at the end of what was read.
    pub(super) fn unclosed(&self) -> Option<BadQuote> {
        (self.state == State::Inside).then_some(BadQuote::Unclosed { newlines: self.newlines })
    }

    /// A quoted field opens at this index of the block.
    fn open(&mut self, quote: usize) {
        self.state = State::Inside;
        self.opened = self.bytes + quote as u64;
        self.newlines = 0;
    }

    #[inline]
    fn ends_field(&self, byte: u8) -> bool {
        byte == self.delimiter || matches!(byte, b'\n' | b'\r')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong in `text`, cut into blocks of `size`, with the first row's end at `end`.
    fn fault(text: &str, delimiter: u8, size: usize) -> Option<BadQuote> {
        let mut quotes = Quotes::new(delimiter);
        // The first block holds a byte order mark whole.
        let (head, rest) = text.as_bytes().split_at(if text.starts_with('\u{feff}') { 3 } else { 0 });
        quotes.follow(head);
        rest.chunks(size).for_each(|block| quotes.follow(block));
        quotes.fault_before(text.len() as u64)
    }

    #[test]
    fn faults_are_told_however_the_text_is_cut() {
        let unclosed = |newlines| Some(BadQuote::Unclosed { newlines });
        for (text, expected) in [
            ("", None),
            ("a,b\nc,d\n", None),
            ("\"\"", None),
            ("\"a\",\"b,\n\"\r\n\"\"\r\"c\"", None),
            ("\"a\"\"b\"\n", None),
            ("ab\"c\n", None),
            ("a\"\",b\"\n", None),
            ("\u{feff}\"a\"\n", None),
            ("\"", unclosed(0)),
            ("x,\"a\n\nb\n", unclosed(3)),
            ("\"a\"\"\n", unclosed(1)),
            ("\"x\ny\",\"\"\"\n\"\"\n", unclosed(2)),
            ("\u{feff}\"a\n", unclosed(1)),
            ("\r\"a", unclosed(0)),
            ("\"c\"d", Some(BadQuote::TextBehind)),
            ("\"c\" ,x\n", Some(BadQuote::TextBehind)),
            ("x,\"c\"d\"e\n", Some(BadQuote::TextBehind)),
            ("\"c\";\n", Some(BadQuote::TextBehind)),
            ("\u{feff}\"c\"d", Some(BadQuote::TextBehind)),
        ] {
            for size in 1..=text.len().max(1) {
                assert_eq!(fault(text, b',', size), expected, "{text:?} in blocks of {size}");
            }
        }
        assert_eq!(fault("\"c\";\"d\"\n", b';', 2), None);
        assert_eq!(fault("\"c\",\"d\"\n", b';', 2), Some(BadQuote::TextBehind));
    }

    #[test]
    fn a_fault_belongs_to_the_row_it_is_in() {
        let mut quotes = Quotes::new(b',');
        quotes.follow(b"\"a\"b\nc\n\"d\"e\nf,\"g\n");
        assert_eq!(quotes.fault_before(5), Some(BadQuote::TextBehind));
        assert_eq!(quotes.fault_before(7), None);
        assert_eq!(quotes.fault_before(13), Some(BadQuote::TextBehind));
        assert_eq!(quotes.fault_before(18), Some(BadQuote::Unclosed { newlines: 1 }));
    }
}
