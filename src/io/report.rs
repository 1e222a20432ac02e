//! What reading came to: keys, bad rows, and what the first of them were.

use crate::error::BadRow;

/// The number of bad rows that are remembered.
pub(super) const REMEMBERED: usize = 10;
/// The number of text keys that are looked at to tell whether they look like integers.
const LOOKED_AT: u64 = 10_000;

/// What reading an input came to so far.
#[derive(Clone, Debug, Default)]
pub struct RowReport {
    /// Keys delivered.
    pub rows: u64,
    /// Rows that could not be read as keys.
    pub bad: u64,
    /// The first bad rows, ten at most.
    pub first_bad: Vec<BadRow>,
    /// Whether the keys are text, there is one at least, and the first 10,000 of them all look like integers.
    pub integer_like: bool,
    /// Whether the input has no bytes at all, or no rows.
    pub empty: bool,
    /// Whether a text key that does not look like an integer was seen among the first.
    other_text: bool,
    /// Text keys looked at so far.
    looked_at: u64,
}

impl RowReport {
    /// The report of an input that is empty, or is not.
    pub(super) fn of(empty: bool) -> Self {
        Self { empty, ..Self::default() }
    }

    /// Adds what reading the next input came to.
    pub(super) fn add(&mut self, next: &Self) {
        let some_text = self.looked_at > 0 || next.looked_at > 0;
        self.rows += next.rows;
        self.bad += next.bad;
        let missing = REMEMBERED - self.first_bad.len();
        self.first_bad.extend(next.first_bad.iter().take(missing).cloned());
        self.empty &= next.empty;
        // Inputs are of one kind, so the first 10,000 keys of each say at least as much as the first 10,000 of all.
        self.other_text |= next.other_text;
        self.looked_at += next.looked_at;
        self.integer_like = some_text && !self.other_text;
    }

    /// Counts a bad row; `describe` is called if it is one of the first, which are remembered.
    pub(super) fn bad_row(&mut self, describe: impl FnOnce() -> BadRow) {
        self.bad += 1;
        if self.first_bad.len() < REMEMBERED {
            self.first_bad.push(describe());
        }
    }

    /// Whether [`look`](Self::look) would change nothing any more.
    #[inline]
    pub(super) fn has_looked(&self) -> bool {
        self.other_text || self.looked_at >= LOOKED_AT
    }

    /// Looks at a text key: an optional minus and 1 to 20 digits look like an integer.
    pub(super) fn look(&mut self, key: &[u8]) {
        if self.has_looked() {
            return;
        }
        self.looked_at += 1;
        let digits = key.strip_prefix(b"-").unwrap_or(key);
        self.other_text = !(1..=20).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit);
        self.integer_like = !self.other_text;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_told_from_text() {
        let like = |keys: &[&str]| {
            let mut report = RowReport::default();
            keys.iter().for_each(|key| report.look(key.as_bytes()));
            report.integer_like
        };
        assert!(!like(&[]));
        assert!(like(&["1", "-22", "18446744073709551615"]));
        assert!(!like(&["1", "-"]));
        assert!(!like(&["1", ""]));
        assert!(!like(&["a", "1"]));
        assert!(!like(&["123456789012345678901"]));
        let mut many = vec!["7"; 10_000];
        many.push("x");
        assert!(like(&many));
    }
}
