//! The ids of a log in order, each with its status.

use atlas_core::{Duplicates, ParsedLog, TestResult, TestStatus};
use serde::ser::{Serialize, Serializer};
use std::cmp::Ordering;

/// Ids in their order, each once, with its status; serialised as a map.
///
/// What a map would say, made in a fraction of its time: a log may name a million tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statuses<'a> {
    rows: Vec<(&'a str, TestStatus)>,
}

impl<'a> Statuses<'a> {
    /// The tests of a log by SWE-bench id, where several share one the worst status, and the ids that were
    /// reported more than once.
    pub fn by_name(log: &'a ParsedLog) -> (Self, Duplicates) {
        let mut duplicates = Duplicates::default();
        let mut rows: Vec<(&str, TestStatus)> = Vec::with_capacity(log.results.len());
        let mut seen = 0;
        let ordered = ordered(log, |result| result.name);
        for (at, result) in ordered.iter().enumerate() {
            seen += u64::from(result.seen);
            match rows.last_mut() {
                Some((name, status)) if *name == result.name => {
                    *status = status.worst(result.status);
                }
                _ => rows.push((result.name, result.status)),
            }
            if ordered
                .get(at + 1)
                .is_none_or(|next| next.name != result.name)
            {
                if seen > 1 {
                    duplicates.count += seen - 1;
                    duplicates.ids.insert(result.name.to_owned(), seen);
                }
                seen = 0;
            }
        }
        (Self { rows }, duplicates)
    }

    /// The tests of a log by qualified id, modules that the runner reports as an entry of their own included:
    /// those of [`by_name`](Self::by_name) where the two ids are the same for all.
    pub fn by_qualified(log: &'a ParsedLog, by_name: &Self) -> Self {
        let lost = log.modules_not_loaded.iter();
        let mut lost = lost
            .filter_map(|lost| lost.reported_as.as_deref())
            .peekable();
        let same = |result: TestResult<'_>| result.name.len() == result.qualified.len();
        if lost.peek().is_none()
            && by_name.rows.len() == log.results.len()
            && log.results.iter().all(same)
        {
            return by_name.clone();
        }
        let mut rows: Vec<(&str, TestStatus)> = ordered(log, |result| result.qualified)
            .into_iter()
            .map(|result| (result.qualified, result.status))
            .collect();
        for id in lost {
            if let Err(at) = rows.binary_search_by_key(&id, |row| row.0) {
                rows.insert(at, (id, TestStatus::Error));
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

/// The results in the order of an id.
fn ordered<'a>(log: &'a ParsedLog, id: fn(&TestResult<'a>) -> &'a str) -> Vec<TestResult<'a>> {
    let results: Vec<TestResult<'a>> = log.results.iter().collect();
    let Some(first) = results.first().map(id) else {
        return results;
    };
    // Ids mostly differ a few bytes behind what all of them begin with: a number holds those.
    let shared = results.iter().fold(first.len(), |shared, result| {
        let both = first.bytes().zip(id(result).bytes()).take(shared);
        both.take_while(|(a, b)| a == b).count()
    });
    let mut order: Vec<(u128, usize)> = results
        .iter()
        .enumerate()
        .map(|(at, result)| (number(&id(result).as_bytes()[shared..]), at))
        .collect();
    let rest = |at: usize| {
        results
            .get(at)
            .map(|result| &id(result).as_bytes()[shared..])
    };
    order.sort_unstable_by(|a, b| match a.0.cmp(&b.0) {
        Ordering::Equal => rest(a.1).cmp(&rest(b.1)).then(a.1.cmp(&b.1)),
        other => other,
    });
    order
        .into_iter()
        .filter_map(|(_, at)| results.get(at).copied())
        .collect()
}

/// The first bytes of a text as a number that has their order.
fn number(text: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    if let Some(first) = text.first_chunk() {
        bytes = *first;
    } else {
        bytes[..text.len()].copy_from_slice(text);
    }
    u128::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::Statuses;
    use atlas_core::{LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus};

    #[track_caller]
    fn check(log: &ParsedLog) {
        let (names, duplicates) = Statuses::by_name(log);
        assert!(names.iter().eq(log.tests()));
        assert_eq!(duplicates, log.duplicates());
        assert!(
            Statuses::by_qualified(log, &names)
                .iter()
                .eq(log.qualified())
        );
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
