//! The ids of a log in order, each with its status.

use atlas_core::{Duplicates, ParsedLog, TestResult, TestStatus};
use serde::ser::{Serialize, Serializer};
use std::ops::Range;

/// Ids in their order, each once, with its status; serialised as a map.
///
/// What a map would say, made in a fraction of its time: a log may name a million tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statuses<'a> {
    rows: Vec<(&'a str, TestStatus)>,
}

impl<'a> Statuses<'a> {
    /// The tests of a log by SWE-bench id, where several share one the worst status; by qualified id, modules
    /// that the runner reports as an entry of their own included; and the ids that were reported more than once.
    pub fn of(log: &'a ParsedLog) -> (Self, Self, Duplicates) {
        let mut are_same = true;
        let mut reports: Vec<Report<'_>> = Vec::with_capacity(log.results.len());
        reports.extend(log.results.iter().map(|result| {
            are_same &= result.name.len() == result.qualified.len();
            Report::of(&result, result.name)
        }));
        let mut duplicates = Duplicates::default();
        let tests = Self::sorted(reports, |id, seen| {
            duplicates.count += seen - 1;
            duplicates.ids.insert(id.to_owned(), seen);
        });
        let mut qualified = if are_same && tests.len() == log.results.len() {
            tests.clone()
        } else {
            let reports = log.results.iter();
            let reports = reports.map(|result| Report::of(&result, result.qualified));
            Self::sorted(reports.collect(), |_, _| {})
        };
        let lost = log.modules_not_loaded.iter();
        for id in lost.filter_map(|lost| lost.reported_as.as_deref()) {
            if let Err(at) = qualified.rows.binary_search_by_key(&id, |row| row.0) {
                qualified.rows.insert(at, (id, TestStatus::Error));
            }
        }
        (tests, qualified, duplicates)
    }

    /// Each id once; of those with several reports it is told how many.
    fn sorted(mut reports: Vec<Report<'a>>, mut several: impl FnMut(&'a str, u64)) -> Self {
        sort(&mut reports, 0, 0);
        let mut rows = Vec::with_capacity(reports.len());
        for same in reports.chunk_by(|a, b| a.id == b.id) {
            let seen = same.iter().map(|report| u64::from(report.seen)).sum();
            let statuses = same.iter().map(|report| report.status);
            if let Some(worst) = statuses.reduce(TestStatus::worst) {
                rows.push((same[0].id, worst));
            }
            if seen > 1 {
                several(same[0].id, seen);
            }
        }
        Self { rows }
    }

    /// The ids with their statuses, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'a str, TestStatus)> + '_ {
        self.rows.iter().copied()
    }

    /// How many ids there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl Serialize for Statuses<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// A result under one of its ids.
#[derive(Clone, Copy)]
struct Report<'a> {
    id: &'a str,
    status: TestStatus,
    seen: u32,
}

impl<'a> Report<'a> {
    fn of(result: &TestResult<'a>, id: &'a str) -> Self {
        Self {
            id,
            status: result.status,
            seen: result.seen,
        }
    }
}

/// Sorts reports whose ids begin with the same `from` bytes.
///
/// A log names the tests of a file one after the other: neighbours with the same few bytes behind the common
/// beginning are moved as one, and then sorted among themselves.
fn sort(reports: &mut [Report<'_>], from: usize, depth: usize) {
    /// So few are compared as they are.
    const FEW: usize = 8;
    /// Deeper, ids were made to be sorted slowly.
    const DEEPEST: usize = 64;
    let shared = match reports {
        [first, others @ ..] if others.len() >= FEW && depth < DEEPEST => {
            others.iter().try_fold(first.id.len(), |shared, other| {
                common(first.id.as_bytes(), other.id.as_bytes(), from..shared)
            })
        }
        _ => None,
    };
    let Some(shared) = shared else {
        return reports.sort_by_key(|report| report.id);
    };
    let mut stretches: Vec<(u64, Range<usize>)> = Vec::with_capacity(reports.len().min(256));
    for (at, report) in reports.iter().enumerate() {
        let number = number(&report.id.as_bytes()[shared..]);
        match stretches.last_mut() {
            Some((last, stretch)) if *last == number => stretch.end = at + 1,
            _ => stretches.push((number, at..at + 1)),
        }
    }
    if !stretches.is_sorted_by_key(|(number, _)| *number) {
        stretches.sort_by_key(|(number, _)| *number);
        let unsorted = reports.to_vec();
        let mut rest = &mut *reports;
        for (_, stretch) in &stretches {
            let (place, after) = rest.split_at_mut(stretch.len());
            place.copy_from_slice(&unsorted[stretch.clone()]);
            rest = after;
        }
    }
    let mut rest = reports;
    for alike in stretches.chunk_by(|a, b| a.0 == b.0) {
        let len = alike.iter().map(|(_, stretch)| stretch.len()).sum();
        let (these, after) = rest.split_at_mut(len);
        if len > 1 {
            sort(these, shared + size_of::<u64>(), depth + 1);
        }
        rest = after;
    }
}

/// How much two texts have in common, which is the same up to where the range begins, and no more than its
/// end; nothing where one ends before.
fn common(one: &[u8], other: &[u8], range: Range<usize>) -> Option<usize> {
    let end = range.end.min(other.len());
    let (one, other) = (one.get(range.start..end)?, other.get(range.start..end)?);
    if one == other {
        return Some(end);
    }
    let same = one.iter().zip(other).take_while(|(a, b)| a == b);
    Some(range.start + same.count())
}

/// The first bytes of a text as a number that has their order, zeros in place of those that it has not.
fn number(text: &[u8]) -> u64 {
    let mut bytes = [0; size_of::<u64>()];
    if let Some(first) = text.first_chunk() {
        bytes = *first;
    } else {
        bytes[..text.len()].copy_from_slice(text);
    }
    u64::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::Statuses;
    use atlas_core::{LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus};

    #[track_caller]
    fn check(log: &ParsedLog) {
        let (names, qualified, duplicates) = Statuses::of(log);
        assert!(names.iter().eq(log.tests()));
        assert!(qualified.iter().eq(log.qualified()));
        assert_eq!(duplicates, log.duplicates());
        let map = serde_json::to_string(&log.tests()).unwrap();
        assert_eq!(serde_json::to_string(&names).unwrap(), map);
    }

    #[test]
    fn the_maps_of_a_log_are_said_in_their_order() {
        check(&ParsedLogBuilder::new("a").finish(RunOutcome::NothingRan));
        for head in ["", "tests/a.py::", "ü"] {
            let mut log = ParsedLogBuilder::new("a");
            for number in (0..3000).rev() {
                let status = if number % 7 == 0 {
                    TestStatus::Failed
                } else {
                    TestStatus::Passed
                };
                let name = format!(
                    "{head}{}",
                    "x".repeat(number % 40) + &(number % 900).to_string()
                );
                log.record("m", &format!("m{}::{name}", number / 900), &name, status);
            }
            check(&log.finish(RunOutcome::Completed));
        }
        // Files in an order of their own, far alike; ids that begin the next one; zeros at the end.
        let far = "x".repeat(300);
        let files = (0..40).map(|number| format!("{far}/{}/{far}", number * 7 % 40));
        let ids = files.flat_map(|file| (0..30).rev().map(move |test| format!("{file}::t{test}")));
        let begins = (0..200).map(|number| "12345678".repeat(number));
        let zeros = (0..40).map(|number| format!("z{}", "\0".repeat(number * 3 % 40)));
        for ids in [ids.collect::<Vec<_>>(), begins.collect(), zeros.collect()] {
            for step in [1, 7] {
                let mut log = ParsedLogBuilder::new("a");
                for at in 0..ids.len() {
                    let id = &ids[at * step % ids.len()];
                    log.record("m", &format!("m::{at}::{id}"), id, TestStatus::Passed);
                    log.record("m", id, id, TestStatus::Failed);
                }
                check(&log.finish(RunOutcome::Completed));
            }
        }
        // The same ids; one that is the beginning of another, and one with a zero behind it.
        let mut log = ParsedLogBuilder::new("a");
        for name in ["a\0", "a", "ab", "a\0\0", "", "b", "a"] {
            log.record("", name, name, TestStatus::Passed);
        }
        check(&log.finish(RunOutcome::Completed));
        let mut log = ParsedLogBuilder::new("a");
        log.record("", "b", "b", TestStatus::Passed);
        log.lose("a", LostReason::LoadFailed, Vec::new());
        let mut log = log.finish(RunOutcome::Completed);
        log.modules_not_loaded[0].reported_as = Some("a".to_owned());
        check(&log);
        log.modules_not_loaded[0].reported_as = Some("b".to_owned());
        check(&log);
    }
}
