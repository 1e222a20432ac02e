//! What verifying a plan finds.

use std::collections::HashSet;

use serde::Serialize;

use crate::error::printable;

/// Differences that are told one by one for each place before the rest is only counted.
const TOLD: usize = 10;

/// Something that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Difference {
    /// Where: a file of the plan, an input, a cluster or an option.
    pub place: String,
    /// What is there and what should be.
    pub what: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", printable(&self.place), printable(&self.what))
    }
}

/// Collects differences.
#[derive(Clone, Debug, Default)]
pub(in crate::plan) struct Findings {
    list: Vec<Difference>,
    /// Differences at the place of the last one.
    here: usize,
}

impl Findings {
    pub(in crate::plan) fn add(&mut self, place: impl Into<String>, what: impl Into<String>) {
        let (place, what) = (place.into(), what.into());
        let same = self.list.last().is_some_and(|last| last.place == place);
        self.here = if same { self.here + 1 } else { 1 };
        match self.here.checked_sub(TOLD) {
            None | Some(0) => self.list.push(Difference { place, what }),
            Some(more) => {
                let what = format!("and {more} more");
                if more == 1 {
                    self.list.push(Difference { place, what });
                } else if let Some(last) = self.list.last_mut() {
                    last.what = what;
                }
            }
        }
    }

    /// Adds what somebody else found, but nothing twice.
    pub(in crate::plan) fn append(&mut self, other: Self) {
        let known: HashSet<Difference> = self.list.iter().cloned().collect();
        self.list.extend(other.list.into_iter().filter(|difference| !known.contains(difference)));
        self.here = 0;
    }

    /// The places where something was found.
    pub(super) fn places(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|difference| difference.place.as_str())
    }

    pub(in crate::plan) fn into_list(self) -> Vec<Difference> {
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_differences_at_one_place_are_counted() {
        let mut findings = Findings::default();
        for number in 0..25 {
            findings.add("part", format!("row {number}"));
        }
        findings.add("flows.csv", "other");
        let texts: Vec<String> = findings.into_list().iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), 12);
        assert_eq!(texts[9..], ["part: row 9", "part: and 15 more", "flows.csv: other"]);
    }
}
