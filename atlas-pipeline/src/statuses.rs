//! The ids of a log in order, each with its status.

use atlas_core::{Duplicates, ParsedLog, TestResult, TestStatus};
use serde::ser::{Serialize, Serializer};
use std::ops::Range;

/// Ids in their order, each once, with its status; serialised as a map.
///
/// What a map would say, made in a fraction of its time: a log may name a million tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statuses<'a> {
    rows: Vec<Report<'a>>,
}

impl<'a> Statuses<'a> {
    /// The tests of a log by SWE-bench id, where several share one the worst status, and the ids that were
    /// reported more than once.
    pub fn of(log: &'a ParsedLog) -> (Self, Duplicates) {
        let reports = log.results.iter();
        let tests = Self::sorted(
            reports
                .map(|result| Report::of(&result, result.name))
                .collect(),
        );
        let mut duplicates = Duplicates::default();
        for report in tests.rows.iter().filter(|report| report.seen > 1) {
            duplicates.count += u64::from(report.seen) - 1;
            duplicates
                .ids
                .insert(report.id.to_owned(), report.seen.into());
        }
        (tests, duplicates)
    }

    /// The tests of a log by qualified id, and the modules that the runner reports as an entry of their own.
    pub fn qualified(log: &'a ParsedLog) -> Self {
        let reports = log.results.iter();
        let mut rows: Vec<Report<'_>> = reports
            .map(|result| Report::of(&result, result.qualified))
            .collect();
        sort(&mut rows, 0, 0);
        let lost = log.modules_not_loaded.iter();
        for id in lost.filter_map(|lost| lost.reported_as.as_deref()) {
            if let Err(at) = rows.binary_search_by_key(&id, |row| row.id) {
                let row = Report {
                    id,
                    status: TestStatus::Error,
                    seen: 1,
                };
                rows.insert(at, row);
            }
        }
        Self { rows }
    }

    /// Each id once, with the worst status and the number of all its reports.
    fn sorted(mut reports: Vec<Report<'a>>) -> Self {
        sort(&mut reports, 0, 0);
        reports.dedup_by(|again, first| {
            // Neighbours differ in their ends, if at all.
            let (last, end) = (again.id.as_bytes().last(), first.id.as_bytes().last());
            let is_same = last == end && again.id == first.id;
            if is_same {
                first.status = first.status.worst(again.status);
                first.seen = first.seen.saturating_add(again.seen);
            }
            is_same
        });
        Self { rows: reports }
    }

    /// The ids with their statuses, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'a str, TestStatus)> + '_ {
        self.rows.iter().map(|row| (row.id, row.status))
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

/// What was reported under an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        [first, others @ ..]
            if others.len() >= FEW && depth < DEEPEST && u32::try_from(others.len()).is_ok() =>
        {
            others.iter().try_fold(first.id.len(), |shared, other| {
                common(first.id.as_bytes(), other.id.as_bytes(), from..shared)
            })
        }
        _ => None,
    };
    let Some(shared) = shared else {
        return reports.sort_by_key(|report| report.id);
    };
    let mut stretches: Vec<Stretch> = Vec::with_capacity(reports.len().min(256));
    for (at, report) in reports.iter().enumerate() {
        let number = number(&report.id.as_bytes()[shared..]);
        match stretches.last_mut() {
            Some(last) if last.number() == number => last.0 += 1,
            _ => stretches.push(Stretch::of(number, at)),
        }
    }
    if !stretches.is_sorted() {
        stretches.sort_unstable();
        let unsorted = reports.to_vec();
        let mut at = 0;
        for stretch in &stretches {
            let (start, len) = (stretch.start(), stretch.len());
            if len == 1 {
                reports[at] = unsorted[start];
            } else {
                reports[at..at + len].copy_from_slice(&unsorted[start..start + len]);
            }
            at += len;
        }
    }
    let mut rest = reports;
    for alike in stretches.chunk_by(|a, b| a.number() == b.number()) {
        let len = alike.iter().map(Stretch::len).sum();
        let (these, after) = rest.split_at_mut(len);
        if len > 1 {
            sort(these, shared + size_of::<u64>(), depth + 1);
        }
        rest = after;
    }
}

/// Neighbours with the same number: from the top 64 bits of that, 32 of the place of the first and 32 of how
/// many there are, so that one comparison of numbers sorts them and keeps the order of those alike.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Stretch(u128);

#[expect(
    clippy::cast_possible_truncation,
    reason = "parts of 64 and 32 bits are taken out"
)]
impl Stretch {
    fn of(number: u64, start: usize) -> Self {
        Self(u128::from(number) << 64 | (start as u128) << 32 | 1)
    }

    fn number(self) -> u64 {
        (self.0 >> 64) as u64
    }

    fn start(self) -> usize {
        (self.0 >> 32) as u32 as usize
    }

    fn len(&self) -> usize {
        self.0 as u32 as usize
    }
}

/// How much two texts have in common, which is the same up to where the range begins, and no more than its
/// end; nothing where one ends before.
fn common(one: &[u8], other: &[u8], range: Range<usize>) -> Option<usize> {
    let end = range.end.min(other.len());
    let (one, other) = (one.get(range.start..end)?, other.get(range.start..end)?);
    // Most are short: a call to compare them would cost more than their bytes.
    let (pieces, tail) = one.as_chunks::<{ size_of::<u64>() }>();
    let (others, end) = other.as_chunks::<{ size_of::<u64>() }>();
    let mut same = 0;
    for (one, other) in pieces.iter().zip(others) {
        let differ = u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other);
        if differ != 0 {
            return Some(range.start + same + differ.trailing_zeros() as usize / 8);
        }
        same += one.len();
    }
    let same_end = tail.iter().zip(end).take_while(|(a, b)| a == b).count();
    Some(range.start + same + same_end)
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
        let (names, duplicates) = Statuses::of(log);
        let qualified = Statuses::qualified(log);
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
