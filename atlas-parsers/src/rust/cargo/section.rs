//! One test binary's output, from `running N tests` to `test result:`.

use super::line::{self, Outcome};
use crate::text::lossy;
use atlas_core::{Evidence, Names, TestStatus, Totals};
use memchr::memmem;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A test whose outcome is still to come.
#[derive(Clone, Debug)]
struct Pending {
    name: String,
    /// The outcome with which the last line ended, if it did.
    outcome: Option<TestStatus>,
    /// The outcome that another thread's output follows on the same line.
    glued: Option<TestStatus>,
    below: Below,
}

/// What came below a test's own line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Below {
    Nothing,
    /// One empty line.
    Cut,
    /// Text, and an empty line behind it; or several empty lines.
    Blank,
    Text,
}

/// A result that stood behind other text.
#[derive(Clone, Debug)]
struct Doubtful {
    name: String,
    outcome: TestStatus,
    /// A blank stands before it: more likely a sentence than unfinished output.
    after_blank: bool,
}

/// What a section of many tests allocates, to be used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Room {
    names: Names,
    results: Vec<(usize, TestStatus)>,
}

#[derive(Clone, Debug)]
pub(super) struct Section {
    /// The binary; absent until it is named.
    pub(super) module: Option<String>,
    expected: u64,
    /// Every name once, and the results by the name's number.
    names: Names,
    results: Vec<(usize, TestStatus)>,
    /// What libtest prints behind the names that bear a remark: ` - should panic`. Its lists of
    /// failures have the names without.
    remarks: BTreeMap<String, &'static str>,
    measured: u64,
    doubtful: Vec<Doubtful>,
    /// Results whose names have blanks or are files: those of a harness that is not libtest, or sentences.
    spaced: Vec<(String, TestStatus)>,
    pending: Option<Pending>,
    /// Failures of the terse format.
    terse: Vec<String>,
    /// A `test name ... ` line was seen: the pretty format.
    pretty: bool,
    /// Tests run in several threads and their output is not captured.
    threaded: bool,
    /// All results are behind: what follows is captured output.
    details: bool,
    /// The last list of failures.
    failures: BTreeSet<String>,
    /// A line of that list may come.
    in_list: bool,
    /// The totals that ended it.
    pub(super) totals: Option<Totals>,
    pub(super) crashed: bool,
    pub(super) in_flight: Vec<String>,
    pub(super) proof: Vec<Evidence>,
    /// What came behind the end as if there had been none.
    late: Late,
}

/// Results and totals behind a section's end: a test had printed that end.
#[derive(Clone, Debug, Default)]
struct Late {
    results: Vec<(String, TestStatus)>,
    failures: BTreeSet<String>,
    in_list: bool,
    totals: Option<Totals>,
}

impl Section {
    /// A section with the room of an earlier one.
    pub(super) fn new(module: Option<String>, expected: u64, mut room: Room) -> Self {
        /// A line may promise any number.
        const MOST: u64 = 1 << 13;
        let tests = usize::try_from(expected.min(MOST)).unwrap_or_default();
        room.names.reserve(tests);
        room.results.reserve(tests);
        Self {
            module,
            expected,
            names: room.names,
            results: room.results,
            remarks: BTreeMap::new(),
            measured: 0,
            doubtful: Vec::new(),
            spaced: Vec::new(),
            pending: None,
            terse: Vec::new(),
            pretty: false,
            threaded: false,
            details: false,
            failures: BTreeSet::new(),
            in_list: false,
            totals: None,
            crashed: false,
            in_flight: Vec::new(),
            proof: Vec::new(),
            late: Late::default(),
        }
    }

    /// Whether its end says so, or it has none.
    pub(super) fn has_failed(&self) -> bool {
        self.crashed || self.totals.is_some_and(|totals| totals.failed != Some(0))
    }

    fn push(&mut self, name: &str, status: TestStatus) {
        let (number, _) = self.names.add(name);
        self.results.push((number, status));
    }

    /// Cuts the remark off a name as it is printed, and keeps it for the test's id.
    fn plain<'a>(&mut self, printed: &'a str) -> &'a str {
        let (name, remark) = line::remark(printed);
        if !remark.is_empty() {
            self.remarks.insert(name.to_owned(), remark);
        }
        name
    }

    /// The results so far.
    pub(super) fn count(&self) -> u64 {
        self.results.len() as u64 + self.measured
    }

    fn complete(&self) -> bool {
        self.count() >= self.expected
    }

    /// Whether all results are behind and captured output is shown, which may quote cargo.
    pub(super) fn quotes(&self) -> bool {
        self.details && self.pending.is_none() && self.complete()
    }

    /// The room of a section that is done with.
    pub(super) fn room(mut self) -> Room {
        self.names.clear();
        self.results.clear();
        Room {
            names: self.names,
            results: self.results,
        }
    }

    /// Takes the line that nearly every line is, `test NAME ... ok`, where the section can have one.
    /// What it takes, [`line`](Self::line) takes alike, and slower.
    pub(super) fn plain_line(&mut self, line: &str) -> bool {
        if self.in_list || self.pending.is_some() || self.complete() {
            return false;
        }
        let Some(name) = line::plain_pass(line) else {
            return false;
        };
        self.pretty = true;
        self.push(name, TestStatus::Passed);
        true
    }

    pub(super) fn line(&mut self, line: &[u8], number: usize) {
        if self.in_list {
            self.in_list = self.failure_list(line);
            if self.in_list {
                return;
            }
        }
        if self.pending.is_none()
            && !self.complete()
            && line.starts_with(b"test ")
            && let Some(name) = std::str::from_utf8(line).ok().and_then(line::plain_pass)
        {
            self.pretty = true;
            self.push(name, TestStatus::Passed);
            return;
        }
        if line.starts_with(b"test ") {
            // A test that writes past libtest may put anything behind its own name.
            let text = &*lossy(line);
            if let Some((totals, all)) = line::summary(text) {
                if all == self.expected && !self.refutes(totals) {
                    self.commit(true);
                    self.totals = Some(totals);
                    self.settle();
                    return;
                }
            } else if !self.complete()
                && let Some((name, rest)) = line::test_line(text)
                && (self.pending.is_none() || self.commit(false))
            {
                self.test(name, rest);
                return;
            }
        }
        if line == b"failures:" || line == b"successes:" {
            self.commit(true);
            let seen = self.count() + self.doubtful.len() as u64;
            self.details |= !self.pretty || seen >= self.expected;
            self.in_list = line == b"failures:";
            self.failures.clear();
            return;
        }
        if self.pending.is_some() {
            self.pending_line(line);
        } else if !self.complete() && !self.details && !line.is_empty() {
            self.inside(line);
        }
        self.death(line, number);
    }

    /// Whether all tests have a result of their own line, and other ones than a summary counts: captured
    /// output holds one.
    fn refutes(&self, totals: Totals) -> bool {
        let settled = self.pretty && self.pending.is_none() && self.doubtful.is_empty();
        settled && self.details && self.complete() && self.is_unique() && !self.agrees(totals)
    }

    /// Takes a line between a test's beginning and its outcome.
    fn pending_line(&mut self, line: &[u8]) {
        let Some(pending) = &mut self.pending else {
            return;
        };
        if line.is_empty() {
            // With several threads libtest writes the outcome and the line's end apart.
            if self.threaded && pending.outcome.is_none() && pending.glued.is_some() {
                pending.outcome = pending.glued;
                self.commit(false);
            } else {
                pending.below = match pending.below {
                    Below::Nothing => Below::Cut,
                    _ => Below::Blank,
                };
            }
            return;
        }
        if let Some(thread) = line.strip_prefix(b"thread '")
            && !thread.starts_with(b"main'")
            && !thread.starts_with(b"<unnamed>'")
            && !thread.starts_with(format!("{}'", pending.name).as_bytes())
        {
            self.threaded = true;
        }
        pending.outcome = line::trailing_outcome(line);
        pending.below = Below::Text;
        pending.glued = pending.glued.or_else(|| line::leading_outcome(line));
        if self.threaded && (line == b"ok" || line == b"FAILED" || line == b"ignored") {
            self.commit(false);
        }
    }

    /// Takes a line of the list of failures; false at its end.
    fn failure_list(&mut self, line: &[u8]) -> bool {
        let Some(name) = line.strip_prefix(b"    ") else {
            return false;
        };
        let Ok(name) = std::str::from_utf8(name) else {
            return false;
        };
        let known = line::is_name(name);
        if known {
            self.failures.insert(name.to_owned());
        }
        known
    }

    fn test(&mut self, name: &str, rest: &str) {
        self.pretty = true;
        let name = self.plain(name);
        match line::outcome(rest) {
            Some(Outcome::Status(status)) => self.push(name, status),
            Some(Outcome::Measured) => self.measured += 1,
            None => {
                self.pending = Some(Pending {
                    name: name.to_owned(),
                    outcome: line::trailing_outcome(rest.as_bytes()),
                    glued: line::leading_outcome(rest.as_bytes()),
                    below: Below::Nothing,
                });
            }
        }
    }

    /// Ends a pending test if the line before was its last. Behind an empty line only the end of
    /// the section's results may follow.
    fn commit(&mut self, section_ends: bool) -> bool {
        let Some(pending) = &self.pending else {
            return false;
        };
        let blank = matches!(pending.below, Below::Cut | Below::Blank);
        let status = pending.outcome.filter(|_| section_ends || !blank);
        // No outcome came, so the line's own was the outcome, and the empty line was its end.
        let glued = pending.glued.filter(|_| pending.below == Below::Cut);
        let Some(status) = status.or(glued) else {
            return false;
        };
        if let Some(pending) = self.pending.take() {
            self.push(&pending.name, status);
        }
        true
    }

    /// Looks for a result behind a test's own output (several threads, `--nocapture`), and for the
    /// terse format's failures.
    fn inside(&mut self, line: &[u8]) {
        if let Some((name, status)) = line::spaced_test(line) {
            self.spaced.push((name.to_owned(), status));
            return;
        }
        self.threaded = true;
        if let Some(name) = line.strip_suffix(b" --- FAILED") {
            let name = String::from_utf8_lossy(name);
            if line::is_name(&name) {
                self.terse.push(name.into_owned());
            }
            return;
        }
        let tail = line.trim_ascii_end();
        if !(tail.ends_with(b"ok") || tail.ends_with(b"FAILED")) {
            return;
        }
        if let Some(at) = memmem::rfind(line, b"test ")
            && at > 0
            && let Ok(text) = std::str::from_utf8(&line[at..])
            && let Some((name, rest)) = line::test_line(text)
            && let Some(Outcome::Status(outcome)) = line::outcome(rest)
        {
            self.doubtful.push(Doubtful {
                name: name.to_owned(),
                outcome,
                after_blank: line[at - 1].is_ascii_whitespace(),
            });
        }
    }

    /// `thread 'name' has overflowed its stack` names a test that takes the process with it.
    fn death(&mut self, line: &[u8], number: usize) {
        let at_start = line.starts_with(b"thread '");
        if at_start && line.ends_with(b" has overflowed its stack") {
            let text = String::from_utf8_lossy(line);
            if let Some(name) = text.split('\'').nth(1).filter(|name| *name != "main") {
                self.in_flight.push(name.to_owned());
            }
        } else if !line.starts_with(b"fatal runtime error: ")
            && !line.starts_with(b"memory allocation of ")
        {
            return;
        }
        let text = String::from_utf8_lossy(line).into_owned();
        self.proof.push(Evidence::at("log", number, text));
    }

    /// Decides what was doubtful, once nothing more can come.
    pub(super) fn settle(&mut self) {
        if let Some(pending) = self.pending.take()
            && !self.in_flight.contains(&pending.name)
        {
            self.in_flight.push(pending.name);
        }
        if self.is_terse() {
            // Tests have no lines then: what looks like one was printed by a test.
            self.names.clear();
            self.results.clear();
            self.doubtful.clear();
            self.pretty = false;
        }
        let missing = self.expected.saturating_sub(self.count());
        let names = &self.names;
        self.doubtful
            .retain(|d| !names.contains(line::remark(&d.name).0));
        if self.doubtful.len() as u64 > missing {
            self.doubtful.retain(|doubtful| !doubtful.after_blank);
        }
        if self.doubtful.len() as u64 <= missing {
            for doubtful in std::mem::take(&mut self.doubtful) {
                let name = self.plain(&doubtful.name);
                self.push(name, doubtful.outcome);
            }
        }
        let missing = self.expected.saturating_sub(self.count());
        // A run that was cut has no totals; one whose tests all are named so is that of such a harness.
        let all = self.totals.is_none()
            && self.results.is_empty()
            && self.pending.is_none()
            && self.spaced.iter().all(|(name, _)| !name.contains(' '));
        if all || self.totals.is_some() && self.spaced.len() as u64 == missing {
            for (name, status) in std::mem::take(&mut self.spaced) {
                self.pretty = true;
                self.push(&name, status);
            }
        }
        if self.totals.is_none() || self.failures.is_empty() {
            self.failures.extend(self.terse.drain(..));
        }
        let mut listed = std::mem::take(&mut self.failures);
        if listed.is_empty() {
            return;
        }
        if self.is_unique() {
            // Each result has the number of its name.
            let names = &self.names;
            let results = &mut self.results;
            listed.retain(|name| {
                let result = names.find(name).and_then(|at| results.get_mut(at));
                let known = result.is_some();
                if let Some((_, status)) = result {
                    *status = TestStatus::Failed;
                }
                !known
            });
        } else {
            for (name, status) in &mut self.results {
                if listed.remove(self.names.name(*name)) {
                    *status = TestStatus::Failed;
                }
            }
        }
        let room = self.expected.saturating_sub(self.count());
        if listed.len() as u64 <= room {
            for name in &listed {
                self.push(name, TestStatus::Failed);
            }
        }
    }

    /// Whether the section is one of the terse format: its lines of failures are those that the
    /// list at the end has, and as many as the totals count.
    fn is_terse(&self) -> bool {
        let failed = self.totals.and_then(|totals| totals.failed);
        !self.terse.is_empty()
            && failed == Some(self.terse.len() as u64)
            && self.terse.len() == self.failures.len()
            && self.terse.iter().all(|name| self.failures.contains(name))
    }

    /// Whether no name has two results.
    fn is_unique(&self) -> bool {
        self.results.len() == self.names.len()
    }

    /// The results, if no name has two of them or a remark: so nearly every section is.
    pub(super) fn plain_results(&self) -> Option<impl Iterator<Item = (&str, TestStatus, u32)>> {
        (self.is_unique() && self.remarks.is_empty()).then(|| {
            let results = self.names.iter().zip(&self.results);
            results.map(|(name, (_, status))| (name, *status, 1))
        })
    }

    /// Each test's name, the remark that is printed behind it, and its status.
    pub(super) fn results(&self) -> impl Iterator<Item = (&str, &'static str, TestStatus)> {
        self.results.iter().map(|(name, status)| {
            let name = self.names.name(*name);
            let remark = if self.remarks.is_empty() {
                ""
            } else {
                self.remarks.get(name).copied().unwrap_or_default()
            };
            (name, remark, *status)
        })
    }

    /// Takes a line behind the section's end that is none of cargo's.
    pub(super) fn late_line(&mut self, line: &[u8]) {
        let late = &mut self.late;
        if late.in_list
            && let Some(name) = line.strip_prefix(b"    ")
            && let Ok(name) = std::str::from_utf8(name)
            && line::is_name(name)
        {
            late.failures.insert(name.to_owned());
            return;
        }
        late.in_list = line == b"failures:";
        if !line.starts_with(b"test ") {
            return;
        }
        let text = &*lossy(line);
        if let Some((totals, all)) = line::summary(text) {
            if all == self.expected {
                late.totals = Some(totals);
            }
        } else if (late.results.len() as u64) < self.expected
            && let Some((name, rest)) = line::test_line(text)
            && let Some(Outcome::Status(status)) = line::outcome(rest)
        {
            late.results.push((line::remark(name).0.to_owned(), status));
        }
    }

    /// Takes what came behind the end to the rest, where it refutes that end: results of the section's own
    /// tests, or its totals once more.
    pub(super) fn take_late(&mut self) {
        let late = std::mem::take(&mut self.late);
        let is_own = |(name, _): &(String, TestStatus)| self.names.contains(name);
        if late.totals.is_none() && !late.results.iter().any(is_own) {
            return;
        }
        self.pretty = true;
        let numbers = self.results.iter().enumerate();
        let mut places: HashMap<usize, usize> =
            numbers.map(|(at, result)| (result.0, at)).collect();
        let failed = late.failures.into_iter();
        let failed = failed.map(|name| (name, TestStatus::Failed));
        for (name, status) in late.results.into_iter().chain(failed) {
            let (number, _) = self.names.add(&name);
            let at = *places.entry(number).or_insert(self.results.len());
            match self.results.get_mut(at) {
                Some((_, known)) => *known = known.worst(status),
                None => self.results.push((number, status)),
            }
        }
        // The runner's own end is the last one.
        if let Some(totals) = late.totals.filter(|totals| self.agrees(*totals)) {
            self.totals = Some(totals);
        }
    }

    /// Whether the results bear out the section's own totals.
    pub(super) fn agrees(&self, totals: Totals) -> bool {
        let count = |status| {
            let counted = self.results.iter().filter(|result| result.1 == status);
            Some(counted.count() as u64)
        };
        let failed = totals.failed == count(TestStatus::Failed);
        if self.pretty {
            failed
                && totals.passed == count(TestStatus::Passed)
                && totals.skipped == count(TestStatus::Skipped)
        } else {
            failed
        }
    }
}
