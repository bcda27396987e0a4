//! Which lines of a log a parser read its results from.

use atlas_core::{LogParser, LogParserExt as _, TestStatus};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// Where a result was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadFrom {
    /// The test's qualified id.
    pub qualified: String,
    /// Its SWE-bench id.
    pub name: String,
    /// Its status.
    pub status: TestStatus,
    /// Lines, from 1. Read up to the line before the first of them, the log does not say so; read up to
    /// the last, it does. One line where the search came to its end.
    pub lines: Range<usize>,
}

/// Finds for every result of a log the line that brought it about.
///
/// The parser is asked, not imitated: it reads the log up to a line, and either it has the result by
/// then or it has not. So this holds for any parser, those that others bring along included. A format that tells
/// nothing before its end, such as one document of JSON, gives its last line.
///
/// Halves are tried for all tests together. `most_bytes` bounds what the parser is given to read in all; where it is reached,
/// some stretches stay several lines long. What a log says only at its very end, unlike its last line, has that line.
///
/// ```
/// use atlas_parsers::{Parsers, read_from};
/// let parser = Parsers::builtin().get("gotest")?;
/// let log = b"=== RUN   TestA\nnoise\n--- PASS: TestA (0.00s)\nPASS\nok  \tp\t0.1s\n";
/// let found = read_from(&parser, log, 1 << 20);
/// assert_eq!((found[0].name.as_str(), found[0].lines.clone()), ("TestA", 3..4));
/// # Ok::<(), atlas_parsers::UnknownParser>(())
/// ```
pub fn read_from(parser: &dyn LogParser, log: &[u8], most_bytes: usize) -> Vec<ReadFrom> {
    let mut ends: Vec<usize> = memchr::memchr_iter(b'\n', log).map(|at| at + 1).collect();
    if ends.last().copied().unwrap_or(0) < log.len() {
        ends.push(log.len());
    }
    let whole = parser.parse(log);
    let (mut found, mut ordinals) = (Vec::new(), Vec::new());
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for test in &whole.results {
        let ordinal = seen.entry(test.name).or_default();
        ordinals.push(*ordinal);
        *ordinal += 1;
        found.push(ReadFrom {
            qualified: test.qualified.to_owned(),
            name: test.name.to_owned(),
            status: test.status,
            lines: 1..ends.len() + 1,
        });
    }
    // Of each stretch: not told by the line before it, told by its last.
    let mut stretches = VecDeque::from([(0..ends.len(), (0..found.len()).collect::<Vec<_>>())]);
    let mut read = 0;
    while let Some((stretch, tests)) = stretches.pop_front() {
        let middle = stretch.start + stretch.len() / 2;
        if tests.is_empty() || stretch.len() < 2 || read + ends[middle - 1] > most_bytes {
            for test in tests {
                found[test].lines = stretch.start + 1..stretch.end + 1;
            }
            continue;
        }
        let part = &log[..ends[middle - 1]];
        read += part.len();
        let told = Told::of(parser, part);
        let (first, second) = tests
            .into_iter()
            .partition(|test| told.has(&found[*test], ordinals[*test]));
        stretches.push_back((stretch.start..middle, first));
        stretches.push_back((middle..stretch.end, second));
    }
    found
}

/// What a log says as far as it was read.
struct Told {
    qualified: HashMap<String, TestStatus>,
    /// SWE-bench id -> statuses, in the order of the log.
    named: HashMap<String, Vec<TestStatus>>,
}

impl Told {
    fn of(parser: &dyn LogParser, log: &[u8]) -> Self {
        let log = parser.parse(log);
        let mut named: HashMap<String, Vec<TestStatus>> = HashMap::new();
        for test in &log.results {
            named
                .entry(test.name.to_owned())
                .or_default()
                .push(test.status);
        }
        let qualified = log
            .results
            .iter()
            .map(|test| (test.qualified.to_owned(), test.status));
        Self {
            qualified: qualified.collect(),
            named,
        }
    }

    /// Some runners name the package behind its tests, so that a qualified id changes once it is read: then the test is the one that
    /// comes at the same place among those of its name.
    fn has(&self, test: &ReadFrom, ordinal: usize) -> bool {
        match self.qualified.get(&test.qualified) {
            Some(status) => *status == test.status,
            None => {
                self.named.get(&test.name).and_then(|all| all.get(ordinal)) == Some(&test.status)
            }
        }
    }
}
