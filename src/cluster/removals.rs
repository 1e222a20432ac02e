//! The order in which slots were removed, which AnchorHash places by.

use std::collections::BTreeMap;
use std::fmt;

use crate::error::{Error, Result, shown};

/// Removed slots in the order of their removal, each once, kept as runs: millions of unused slots are one.
///
/// Written as the longest runs there are, which is one way only: "31-10,3,9" means 31, 30, .. 10, then 3, then 9.
///
/// # Complexity
/// O(log r) for r runs where nothing else is said.
///
/// Source: `spec/placement.md`, "anchor" (its stack R); AnchorHash, arXiv 1812.09674.
#[derive(Clone, Debug, Default)]
pub struct Removals {
    /// Runs by the time of their first removal. A run has its times to itself, one per slot; times in between may be
    /// unused, where a slot was taken out.
    runs: BTreeMap<u64, Run>,
    /// The time of each run by its lowest slot.
    times: BTreeMap<u32, u64>,
    len: u64,
}

/// Consecutive slots, from the first removed to the last: ascending or descending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: u32,
    last: u32,
}

impl Run {
    fn lowest(self) -> u32 {
        self.first.min(self.last)
    }

    fn highest(self) -> u32 {
        self.first.max(self.last)
    }

    fn len(self) -> u64 {
        u64::from(self.first.abs_diff(self.last)) + 1
    }

    fn contains(self, slot: u32) -> bool {
        (self.lowest()..=self.highest()).contains(&slot)
    }

    /// The slot `steps` behind the first.
    fn slot(self, steps: u32) -> u32 {
        if self.first <= self.last { self.first + steps } else { self.first - steps }
    }

    fn slots(self) -> impl Iterator<Item = u32> {
        (0..=self.first.abs_diff(self.last)).map(move |steps| self.slot(steps))
    }

    /// Whether `next` goes on where this run ends. As no slot is in both, it then goes on in the same direction.
    fn is_continued_by(self, next: Self) -> bool {
        self.last.abs_diff(next.first) == 1
    }
}

impl Removals {
    /// The history of a fresh cluster: every slot below `capacity` that is not in `taken` (ascending), descending.
    pub(super) fn fresh(capacity: u32, taken: impl Iterator<Item = u32>) -> Self {
        let mut gaps = Vec::new();
        let mut next = 0;
        for slot in taken.filter(|slot| *slot < capacity) {
            if slot > next {
                gaps.push(Run { first: slot - 1, last: next });
            }
            next = slot + 1;
        }
        if next < capacity {
            gaps.push(Run { first: capacity - 1, last: next });
        }
        let mut removals = Self::default();
        gaps.into_iter().rev().for_each(|gap| removals.append(gap));
        removals
    }

    /// The number of removed slots.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether no slot is removed.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Whether the slot is removed.
    pub fn contains(&self, slot: u32) -> bool {
        self.find(slot).is_some()
    }

    /// The slot that was removed last: the one that AnchorHash can add without moving keys of others.
    pub fn last(&self) -> Option<u32> {
        self.runs.last_key_value().map(|(_, run)| run.last)
    }

    /// The removed slots in the order of their removal.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.runs.values().flat_map(|run| run.slots())
    }

    /// The lowest slot of the run with which the history starts if that goes from the highest slot downwards, as in a
    /// fresh cluster; `capacity` if it does not. AnchorHash needs tables only for the slots below.
    pub fn tabled(&self, capacity: u32) -> u32 {
        let start = self.runs.first_key_value().map(|(_, run)| *run);
        start.filter(|run| run.first.checked_add(1) == Some(capacity)).map_or(capacity, |run| run.last)
    }

    /// Appends a slot; one that is removed already stays where it is.
    pub(super) fn push(&mut self, slot: u32) {
        if !self.contains(slot) {
            self.append(Run { first: slot, last: slot });
        }
    }

    /// Takes out the slot that was removed last.
    pub(super) fn pop(&mut self) -> Option<u32> {
        let last = self.last()?;
        self.remove(last).then_some(last)
    }

    /// Takes a slot out of the history, wherever it is, and says whether it was there. The others keep their order.
    pub(super) fn remove(&mut self, slot: u32) -> bool {
        let Some((start, run)) = self.find(slot) else { return false };
        let steps = slot.abs_diff(run.first);
        let time = start + u64::from(steps);
        self.take(start);
        if slot != run.first {
            self.put(start, Run { first: run.first, last: run.slot(steps - 1) });
        }
        if slot != run.last {
            self.put(time + 1, Run { first: run.slot(steps + 1), last: run.last });
        }
        self.join_at(time);
        true
    }

    /// Reads what [`fmt::Display`] writes: `31-10,3,9`.
    ///
    /// # Errors
    /// What is neither a slot nor a run of slots, a slot that is not below `capacity`, and a slot that is named twice.
    pub(super) fn parse(text: &str, capacity: u32) -> Result<Self> {
        let mut removals = Self::default();
        if text.trim().is_empty() {
            return Ok(removals);
        }
        for part in text.split(',').map(str::trim) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (Some(first), Some(last)) = (number(first), number(last)) else {
                return Err(Error::invalid(
                    format!("removed: {} is neither a slot nor a run of slots", shown(part.as_bytes())),
                    "write slots and runs of slots in the order of their removal, like \"31-10,3,9\"",
                ));
            };
            let below = |slot: u64| {
                let short = u32::try_from(slot).ok().filter(|slot| *slot < capacity);
                short.ok_or_else(|| {
                    Error::invalid(
                        format!("removed names slot {slot}, but the capacity is {capacity}"),
                        "name slots below the capacity only",
                    )
                })
            };
            let run = Run { first: below(first)?, last: below(last)? };
            if let Some(slot) = removals.overlap(run) {
                return Err(Error::invalid(
                    format!("removed names slot {slot} twice"),
                    "name every slot that is not in use once",
                ));
            }
            removals.append(run);
        }
        Ok(removals)
    }

    /// The run of a slot, with its time.
    fn find(&self, slot: u32) -> Option<(u64, Run)> {
        let (_, time) = self.times.range(..=slot).next_back()?;
        let run = *self.runs.get(time)?;
        run.contains(slot).then_some((*time, run))
    }

    /// The highest slot of `run` that is removed already.
    fn overlap(&self, run: Run) -> Option<u32> {
        let (_, time) = self.times.range(..=run.highest()).next_back()?;
        let highest = self.runs.get(time)?.highest();
        (highest >= run.lowest()).then_some(highest.min(run.highest()))
    }

    /// Appends slots that are not removed yet.
    fn append(&mut self, run: Run) {
        let end = self.runs.last_key_value().map_or(0, |(time, last)| time + last.len());
        self.put(end, run);
        self.join_at(end);
    }

    fn put(&mut self, time: u64, run: Run) {
        self.runs.insert(time, run);
        self.times.insert(run.lowest(), time);
        self.len += run.len();
    }

    fn take(&mut self, time: u64) {
        if let Some(run) = self.runs.remove(&time) {
            self.times.remove(&run.lowest());
            self.len -= run.len();
        }
    }

    /// Makes one run of the last that starts before `time` and the first that starts then or later, if they can be.
    fn join_at(&mut self, time: u64) {
        let before = self.runs.range(..time).next_back().map(|(time, run)| (*time, *run));
        let after = self.runs.range(time..).next().map(|(time, run)| (*time, *run));
        if let (Some((start, before)), Some((next, after))) = (before, after)
            && before.is_continued_by(after)
        {
            self.take(start);
            self.take(next);
            self.put(start, Run { first: before.first, last: after.last });
        }
    }
}

/// A number of decimal digits and nothing else.
fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

impl PartialEq for Removals {
    /// The same slots in the same order.
    fn eq(&self, other: &Self) -> bool {
        self.runs.values().eq(other.runs.values())
    }
}

impl Eq for Removals {}

impl fmt::Display for Removals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Run { first, last }) in self.runs.values().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            if first == last {
                write!(f, "{comma}{first}")?;
            } else {
                write!(f, "{comma}{first}-{last}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The slots the tests use.
    const CAPACITY: u32 = 24;

    fn parsed(text: &str) -> Removals {
        Removals::parse(text, CAPACITY).unwrap()
    }

    fn pushed(slots: &[u32]) -> Removals {
        let mut removals = Removals::default();
        slots.iter().for_each(|slot| removals.push(*slot));
        removals
    }

    /// What a list of slots is written as, slot by slot.
    fn written(slots: &[u32]) -> String {
        let mut text = String::new();
        let mut rest = slots;
        while let Some(first) = rest.first() {
            let run = 1 + rest.windows(2).take_while(|pair| pair[0].abs_diff(pair[1]) == 1).count();
            let comma = if text.is_empty() { "" } else { "," };
            text += &match run {
                1 => format!("{comma}{first}"),
                _ => format!("{comma}{first}-{}", rest[run - 1]),
            };
            rest = &rest[run..];
        }
        text
    }

    fn assert_is(removals: &Removals, slots: &[u32]) {
        assert_eq!(removals.iter().collect::<Vec<_>>(), slots);
        assert_eq!((removals.len(), removals.is_empty()), (slots.len() as u64, slots.is_empty()));
        assert_eq!(removals.last(), slots.last().copied());
        assert!((0..=CAPACITY).all(|slot| removals.contains(slot) == slots.contains(&slot)), "{slots:?}");
        assert_eq!(removals.to_string(), written(slots));
        assert_eq!((*removals == pushed(slots), parsed(&removals.to_string()) == *removals), (true, true));
        let from_top = slots.iter().zip((0..CAPACITY).rev()).take_while(|(slot, top)| *slot == top).last();
        assert_eq!(removals.tabled(CAPACITY), from_top.map_or(CAPACITY, |(slot, _)| *slot));
    }

    #[derive(Clone, Debug)]
    enum Edit {
        Push(u32),
        Pop,
        Remove(u32),
    }

    fn edit() -> impl Strategy<Value = Edit> {
        let slot = || 0..CAPACITY;
        prop_oneof![4 => slot().prop_map(Edit::Push), 1 => Just(Edit::Pop), 3 => slot().prop_map(Edit::Remove)]
    }

    proptest! {
        #[test]
        fn edits_equal_those_of_a_list(taken in 0_u32..1 << CAPACITY, edits in vec(edit(), 0..60)) {
            let is_taken = |slot: &u32| taken >> slot & 1 == 1;
            let mut removals = Removals::fresh(CAPACITY, (0..CAPACITY).filter(is_taken));
            let mut list: Vec<u32> = (0..CAPACITY).rev().filter(|slot| !is_taken(slot)).collect();
            assert_is(&removals, &list);
            for edit in edits {
                match edit {
                    Edit::Push(slot) => {
                        removals.push(slot);
                        if !list.contains(&slot) {
                            list.push(slot);
                        }
                    }
                    Edit::Pop => assert_eq!(removals.pop(), list.pop()),
                    Edit::Remove(slot) => {
                        assert_eq!(removals.remove(slot), list.contains(&slot));
                        list.retain(|other| *other != slot);
                    }
                }
                assert_is(&removals, &list);
            }
        }

        #[test]
        fn any_order_is_read_as_written(slots in Just((0..CAPACITY).collect::<Vec<_>>()).prop_shuffle(), kept in 0..25_usize) {
            let list = &slots[..kept.min(slots.len())];
            assert_is(&pushed(list), list);
        }

        #[test]
        fn no_text_breaks_the_reader(text in "[0-9,\\- ]{0,20}|\\PC{0,20}") {
            if let Ok(removals) = Removals::parse(&text, CAPACITY) {
                assert_is(&removals, &removals.iter().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn runs_are_written_as_long_as_they_are() {
        assert_eq!(pushed(&[5, 6, 7, 3, 9, 8]).to_string(), "5-7,3,9-8");
        assert_eq!(parsed(" 23 - 20 ,19,2,3-4, 5-5,007").to_string(), "23-19,2-5,7");
        assert_eq!(parsed("").to_string(), "");
        let mut joined = pushed(&[5, 20, 6, 7]);
        assert!(joined.remove(20) && !joined.remove(20));
        assert_eq!((joined.to_string().as_str(), joined.pop(), joined.last()), ("5-7", Some(7), Some(6)));
    }

    #[test]
    fn texts_are_refused_with_the_reason() {
        let cases = [
            ("3,40", "removed names slot 40, but the capacity is 24"),
            ("24", "removed names slot 24, but the capacity is 24"),
            ("0-4000000000", "removed names slot 4000000000, but the capacity is 24"),
            ("5000000000-3", "removed names slot 5000000000, but the capacity is 24"),
            ("3,9,3", "removed names slot 3 twice"),
            ("9-3,20,1-5", "removed names slot 5 twice"),
            ("7,9-3", "removed names slot 7 twice"),
            ("2-8,9-7", "removed names slot 8 twice"),
            ("99999999999999999999", "removed: \"99999999999999999999\" is neither a slot nor a run of slots"),
            ("-3", "removed: \"-3\" is neither a slot nor a run of slots"),
            ("3-", "removed: \"3-\" is neither a slot nor a run of slots"),
            ("3-2-1", "removed: \"3-2-1\" is neither a slot nor a run of slots"),
            ("+3", "removed: \"+3\" is neither a slot nor a run of slots"),
            ("3,,4", "removed: \"\" is neither a slot nor a run of slots"),
            ("3,4,", "removed: \"\" is neither a slot nor a run of slots"),
            ("three", "removed: \"three\" is neither a slot nor a run of slots"),
        ];
        for (text, wanted) in cases {
            let error = Removals::parse(text, CAPACITY).unwrap_err().to_string();
            assert!(error.starts_with(wanted), "{text}: {error}");
        }
    }

    #[test]
    fn many_slots_cost_one_run() {
        let most = 1 << 31;
        let mut removals = Removals::fresh(most, 0..1000);
        assert_eq!((removals.len(), removals.tabled(most)), (u64::from(most) - 1000, 1000));
        assert_eq!(removals.to_string(), "2147483647-1000");
        assert_eq!(Removals::parse("2147483647-1000", most).unwrap(), removals);
        assert!(removals.remove(1 << 30));
        assert_eq!(removals.to_string(), "2147483647-1073741825,1073741823-1000");
        assert_eq!(Removals::parse("0-4294967294", u32::MAX).unwrap().len(), u64::from(u32::MAX));
    }

    #[test]
    fn a_scattered_history_is_edited_in_little_time() {
        // 100,000 runs of one slot each, taken out from the middle: a list would move 10^10 entries.
        let slots = || (0..100_000_u32).map(|slot| slot * 7 % 100_000 * 2);
        let mut removals = pushed(&slots().collect::<Vec<_>>());
        assert!(slots().skip(50_000).chain(slots().take(50_000)).all(|slot| removals.remove(slot)));
        assert!(removals.is_empty());
    }
}
