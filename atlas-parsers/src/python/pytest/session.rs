//! One run of pytest inside a log.

use super::grammar::{self, Collected, Final, Progress, Tally, Verbose, Word};
use super::plain::{self, Plain};
use super::reports::{Reports, Section};
use super::status_of;
use crate::text::lossy;
use crate::texts::{Place, Texts};
use atlas_core::{LostReason, ParsedLogBuilder, RunOutcome, TestResults, TestStatus};
use std::collections::BTreeSet;

/// What was read of one session.
#[derive(Clone, Debug, Default)]
pub(super) struct Session {
    begin: Begin,
    distributed: bool,
    /// Whether lines of results end in a percentage, once one was seen.
    percent: Option<bool>,
    /// How many lines of results ended in none.
    unmarked: u32,
    /// How far the run is, by its last line that says so.
    reached: Progress,
    stop: Stop,
    tally: Tally,
    letters: bool,
    collected: Option<Collected>,
    tests: TestResults,
    /// Tests with a failed subtest, by their place.
    sub_failed: BTreeSet<usize>,
    pending: Option<Pending>,
    /// Tests that began, and their names.
    started: Vec<Place>,
    names: Texts,
    reports: Reports,
    end: Option<Final>,
    killed: Option<RunOutcome>,
    fatal: bool,
}

/// How it is known that a session began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Begin {
    /// By its first line.
    #[default]
    Title,
    /// Without such a line, as with `-q`, by its progress.
    Quiet,
    /// Only letters speak for it so far.
    Letters,
}

/// Whether the runner says that it stopped before the last test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stop {
    #[default]
    No,
    /// Before the first test: modules could not be collected.
    Collecting,
    Running,
}

/// A test whose id was printed and whose result was not.
#[derive(Clone, Debug)]
struct Pending {
    id: String,
    /// A word at the start of its line; the last one counts.
    word: Option<Word>,
    /// A word behind output of the test.
    loose: Option<Word>,
}

/// How a session ended.
pub(super) struct Ending {
    pub(super) outcome: RunOutcome,
    pub(super) ran: bool,
    pub(super) consistent: Option<bool>,
}

impl Session {
    pub(super) fn new(begin: Begin) -> Self {
        Self {
            begin,
            ..Self::default()
        }
    }

    pub(super) fn is_maybe(&self) -> bool {
        self.begin == Begin::Letters && self.end.is_none()
    }

    pub(super) fn is_quiet(&self) -> bool {
        self.begin != Begin::Title
    }

    /// More than letters speaks for it.
    fn is_sure(&mut self) {
        if self.begin == Begin::Letters {
            self.begin = Begin::Quiet;
        }
    }

    pub(super) fn has_end(&self) -> bool {
        self.end.is_some()
    }

    pub(super) fn has_pending(&self) -> bool {
        self.pending.is_some()
    }

    pub(super) fn distributed(&mut self) {
        self.distributed = true;
    }

    pub(super) fn collected(&mut self, collected: Collected) {
        self.collected = self.collected.or(Some(collected));
    }

    pub(super) fn internal_error(&mut self) {
        self.killed = self.killed.or(Some(RunOutcome::Crashed));
    }

    /// The interpreter reported its own death, on the line of what ran then.
    pub(super) fn fatal(&mut self, front: &[u8]) {
        self.fatal = true;
        if grammar::file_len(front).is_some() {
            self.started(front);
        }
    }

    pub(super) fn timed_out(&mut self) {
        self.killed = Some(RunOutcome::TimedOut);
    }

    /// A line `!!! reason !!!`.
    pub(super) fn stopped(&mut self, reason: &str) {
        if reason.contains("during collection") {
            self.stop = Stop::Collecting;
            return;
        }
        if self.stop == Stop::No {
            self.stop = Stop::Running;
        }
        if !reason.starts_with("stopping after") && !reason.starts_with("xdist") {
            // KeyboardInterrupt, or a test that called pytest.exit.
            self.killed = self.killed.or(Some(RunOutcome::Crashed));
        }
    }

    /// Whether the lines of this run, a few of which were seen, end in no percentage, as without
    /// capturing: what looks like a result and has one was printed by a test.
    fn bare(&self) -> bool {
        const FEW: u32 = 3;
        self.percent == Some(false) && self.unmarked >= FEW
    }

    fn saw(&mut self, progress: Progress) {
        if progress == Progress::None {
            self.unmarked = self.unmarked.saturating_add(1);
            self.percent = self.percent.or(Some(false));
            return;
        }
        self.percent = Some(true);
        self.reached = self.reached.max(progress);
    }

    /// Whether no line of this run begins with a test that it gives a result to: letters stand for
    /// results, or workers name theirs. What looks like such a line was printed by a test.
    pub(super) fn names_no_results(&self) -> bool {
        self.distributed || self.letters && self.pending.is_none() && self.tests.is_empty()
    }

    /// Whether letters on a line can be progress: once percentages are printed, each line of
    /// letters has one, but for the one that a dying process left.
    pub(super) fn letters_fit(&self, file: bool, progress: Progress) -> bool {
        self.tests.is_empty()
            && self.pending.is_none()
            && (file
                || self.letters
                || self.distributed
                || self.is_quiet()
                || progress != Progress::None)
    }

    pub(super) fn count_letters(&mut self, tally: Tally, progress: Progress) {
        self.tally.add(tally);
        self.end = None;
        self.letters = true;
        self.saw(progress);
    }

    /// A line that gives a result to the test it names.
    pub(super) fn result(&mut self, result: &Verbose<'_>, progress: Progress, open: bool) {
        // Tests still run: a final line before was printed by one.
        self.end = None;
        if self.names_no_results() {
            return;
        }
        let reasoned = matches!(
            result.word,
            Word::Result(TestStatus::Skipped | TestStatus::Xfail | TestStatus::Xpass)
        );
        if progress == Progress::None && self.percent == Some(true) && !(reasoned && open) {
            // A test printed it: lines of this run end in a percentage.
            return;
        }
        if progress != Progress::None && self.bare() {
            return;
        }
        let id = lossy(result.id);
        if self
            .pending
            .as_ref()
            .is_some_and(|pending| pending.id != id)
        {
            self.settle();
        }
        if !open {
            self.saw(progress);
        }
        if progress == Progress::None && !reasoned {
            // Perhaps the word was printed by the test; then the real one follows alone.
            let pending = self.pending.get_or_insert_with(|| Pending {
                id: id.clone().into_owned(),
                word: None,
                loose: None,
            });
            if pending.word.is_some() {
                // The same test once more: its teardown.
                let id = pending.id.clone();
                self.settle();
                self.record(&id, result.word);
            } else {
                pending.word = Some(result.word);
            }
            return;
        }
        self.pending = None;
        self.record(&id, result.word);
    }

    /// Takes a line that gives a result to the test it names, and a percentage, where it is as plain
    /// as nearly all are: as [`result`](Self::result), and quicker. `file` is the file of the last
    /// such line.
    pub(super) fn plain_result(&mut self, line: &[u8], file: &mut Vec<u8>) -> bool {
        let Some(found) = plain::result(line, file) else {
            return false;
        };
        let Ok(id) = std::str::from_utf8(found.id) else {
            return false;
        };
        self.take_plain(&found, id, file.len())
    }

    /// Takes a line of the running tests where it is as plain as nearly all are.
    #[inline]
    pub(super) fn plain_line(&mut self, line: &str, file: &mut Vec<u8>) -> bool {
        let bytes = line.as_bytes();
        if self.distributed {
            if let Some(found) = plain::worker(bytes, file) {
                let start = line.len() - usize::from(bytes.ends_with(b" ")) - found.id.len();
                let id = line.get(start..start + found.id.len());
                let Some((id, module)) = id.and_then(|id| Some((id, id.get(..file.len())?))) else {
                    return false;
                };
                self.end = None;
                self.pending = None;
                self.saw(found.progress);
                self.record_in(module, id, Word::Result(found.status));
                return true;
            }
            let id = plain::start(bytes, file).and_then(|id| line.get(..id.len()));
            if let Some(id) = id {
                self.began(id);
                return true;
            }
        }
        let found = plain::result(bytes, file);
        found.is_some_and(|found| match line.get(..found.id.len()) {
            Some(id) => self.take_plain(&found, id, file.len()),
            None => false,
        })
    }

    #[inline]
    fn take_plain(&mut self, found: &Plain<'_>, id: &str, file: usize) -> bool {
        let Some(module) = id.get(..file) else {
            return false;
        };
        self.end = None;
        if self.bare() || self.names_no_results() {
            return true;
        }
        if let Some(pending) = &self.pending {
            if pending.id != id {
                self.settle();
            }
            self.pending = None;
        }
        if !found.open {
            self.saw(found.progress);
        }
        self.record_in(module, id, Word::Result(found.status));
        true
    }

    /// Takes a line of the summary that names a passing test and nothing else.
    #[inline]
    pub(super) fn plain_summary(&mut self, line: &str, file: &mut Vec<u8>, number: u64) -> bool {
        if !self.reports.is_in_summary() {
            return false;
        }
        let id = plain::pass(line.as_bytes(), file);
        let Some(id) = id.and_then(|id| line.get(line.len() - id.len()..)) else {
            return false;
        };
        self.reports.summary.passed(id, file.len(), number);
        true
    }

    /// The same for a line that may be no text.
    pub(super) fn plain_pass(&mut self, line: &[u8], file: &mut Vec<u8>, number: u64) -> bool {
        if !self.reports.is_in_summary() {
            return false;
        }
        let id = plain::pass(line, file);
        let Some(id) = id.and_then(|id| std::str::from_utf8(id).ok()) else {
            return false;
        };
        self.reports.summary.passed(id, file.len(), number);
        true
    }

    /// A line of an xdist worker.
    pub(super) fn worker_result(&mut self, result: &Verbose<'_>, progress: Progress) {
        self.distributed = true;
        self.end = None;
        self.pending = None;
        self.saw(progress);
        self.record(&lossy(result.id), result.word);
    }

    /// A line that only names a test. Returns whether it is one.
    pub(super) fn started(&mut self, line: &[u8]) -> bool {
        let line = line.strip_suffix(b" ").unwrap_or(line);
        let (id, more) = grammar::cut_id(line, false);
        if more && self.percent == Some(true) {
            return false;
        }
        let id = lossy(id);
        if self.distributed {
            self.began(&id);
            return true;
        }
        self.settle();
        self.pending = Some(Pending {
            id: id.into_owned(),
            word: None,
            loose: None,
        });
        true
    }

    fn began(&mut self, id: &str) {
        let place = self.names.push(id);
        self.started.push(place);
    }

    /// A word that ends the test whose id was printed before.
    pub(super) fn pending_word(&mut self, word: Word, whole: bool, progress: Progress) {
        if progress == Progress::None && self.percent == Some(true)
            || progress != Progress::None && self.bare()
        {
            return;
        }
        let Some(pending) = &mut self.pending else {
            return;
        };
        if progress == Progress::None {
            // Once for each test, whatever it prints.
            if pending.word.is_none() && pending.loose.is_none() {
                self.unmarked = self.unmarked.saturating_add(1);
                self.percent = self.percent.or(Some(false));
            }
            if whole {
                pending.word = Some(word);
            } else {
                pending.loose = Some(word);
            }
            return;
        }
        let id = pending.id.clone();
        self.saw(progress);
        // Only this line has a percentage; whatever the test printed before is void.
        self.record(&id, word);
        self.pending = Some(Pending {
            id,
            word: None,
            loose: None,
        });
    }

    /// The words printed for the pending test are all there are.
    pub(super) fn settle(&mut self) {
        if let Some(pending) = self.pending.take() {
            if let Some(word) = pending.word.or(pending.loose) {
                self.record(&pending.id, word);
            } else if self.tests.find(&pending.id).is_none() {
                self.began(&pending.id);
            }
        }
    }

    fn record(&mut self, id: &str, word: Word) {
        self.record_in(grammar::module_of(id), id, word);
    }

    fn record_in(&mut self, module: &str, id: &str, word: Word) {
        match word {
            Word::Result(status) => self.tally.count(status),
            Word::Sub(status @ (TestStatus::Failed | TestStatus::Skipped)) => {
                self.tally.count(status);
            }
            Word::Sub(_) | Word::Rerun => {}
        }
        let status = status_of(word);
        let sub_failed = word == Word::Sub(TestStatus::Failed);
        if status.is_none() && !sub_failed {
            return;
        }
        let first = status.unwrap_or(TestStatus::Passed);
        let (at, new) = self.enter_in(module, id, first, u32::from(status.is_some()));
        if sub_failed {
            self.sub_failed.insert(at);
        }
        if let (false, Some(status)) = (new, status) {
            let known = self.tests.at(at);
            // An error after the result is the teardown of the same test.
            let counts = known.seen == 0 || status != TestStatus::Error;
            let seen = known.seen.saturating_add(u32::from(counts));
            let status = if seen == 1 && known.status == TestStatus::Passed {
                status
            } else {
                known.status.worst(status)
            };
            self.tests.set(at, status, seen);
        }
    }

    /// The place of a test, and whether it is new.
    fn enter(&mut self, id: &str, status: TestStatus, seen: u32) -> (usize, bool) {
        self.enter_in(grammar::module_of(id), id, status, seen)
    }

    fn enter_in(&mut self, module: &str, id: &str, status: TestStatus, seen: u32) -> (usize, bool) {
        let (at, new) = self.tests.enter(module, id, id, status);
        if new && seen != 1 {
            self.tests.set(at, status, seen);
        }
        (at, new)
    }

    pub(super) fn section(&mut self, section: Section, _line: u64) {
        self.is_sure();
        self.end = None;
        self.reports.enter(section);
    }

    pub(super) fn report_line(&mut self, line: &[u8], number: u64) {
        let tests = &self.tests;
        self.reports.line(line, number, |id| {
            !tests.is_empty() && tests.find(&lossy(id)).is_some()
        });
    }

    /// Whether a final line agrees with the progress; nothing can be said without any.
    pub(super) fn agrees(&self, end: &Final) -> Option<bool> {
        self.agrees_with(self.tally, end)
    }

    fn agrees_with(&self, tally: Tally, end: &Final) -> Option<bool> {
        let totals = end.totals;
        let collect_errors = self
            .reports
            .collect_errors()
            .max(self.collected.map_or(0, |c| c.errors));
        if tally.is_empty() {
            // Nothing ran; a final line that counts tests is another's, if collecting ended well.
            return (self.collected.is_some() || collect_errors > 0)
                .then(|| totals.passed.is_none() && totals.failed.is_none());
        }
        let exact = |declared: Option<u64>, counted: u64| declared.unwrap_or(0) == counted;
        // Declared beyond what progress shows, for a reason that is known.
        let within = |declared: Option<u64>, counted: u64, more: u64| {
            let declared = declared.unwrap_or(0);
            declared >= counted && declared - counted <= more
        };
        let subtests = if self.reports.summary.seen {
            self.reports.summary.sub_failed.len() as u64
        } else {
            u64::MAX
        };
        let skipped = self.collected.map_or(u64::MAX, |c| c.skipped);
        Some(
            exact(totals.passed, tally.passed)
                && exact(totals.xfailed, tally.xfailed)
                && exact(totals.xpassed, tally.xpassed)
                && within(totals.failed, tally.failed, subtests)
                && within(totals.errors, tally.errors, collect_errors)
                && within(totals.skipped, tally.skipped, skipped),
        )
    }

    /// As [`agrees`](Self::agrees), with the word of the pending test counted.
    pub(super) fn agrees_if_settled(&self, end: &Final) -> Option<bool> {
        let pending = self.pending.as_ref();
        let word = pending.and_then(|pending| pending.word.or(pending.loose));
        let mut tally = self.tally;
        if let Some(status) = word.and_then(status_of) {
            tally.count(status);
        }
        self.agrees_with(tally, end)
    }

    /// A final line. Returns whether it is believed at once.
    pub(super) fn offer_end(&mut self, end: Final) -> bool {
        let agrees = self.agrees(&end);
        self.finish(end);
        agrees != Some(false)
    }

    pub(super) fn finish(&mut self, end: Final) {
        self.is_sure();
        self.end = Some(end);
    }

    /// Whether the summary's counts, where it lists a word at all, are those of the final line.
    fn summary_agrees(&self, end: &Final) -> Option<bool> {
        let summary = &self.reports.summary;
        if !summary.seen {
            return None;
        }
        let mut agrees = None;
        for (status, declared) in [
            (TestStatus::Passed, end.totals.passed),
            (TestStatus::Error, end.totals.errors),
            (TestStatus::Xfail, end.totals.xfailed),
            (TestStatus::Xpass, end.totals.xpassed),
        ] {
            // Who asks for passing tests beside failures asks for all.
            let is_all = status == TestStatus::Error
                && summary.count(TestStatus::Passed).is_some()
                && summary.count(TestStatus::Failed).is_some();
            if let Some(listed) = summary.count(status).or(is_all.then_some(0)) {
                agrees = Some(agrees.unwrap_or(true) && declared.unwrap_or(0) == listed);
            }
        }
        if let Some(listed) = summary.count(TestStatus::Failed) {
            let listed = listed + summary.sub_failed.len() as u64;
            agrees = Some(agrees.unwrap_or(true) && end.totals.failed.unwrap_or(0) == listed);
        }
        agrees
    }

    /// Puts everything into the log's builder.
    pub(super) fn end(mut self, log: &mut ParsedLogBuilder) -> Ending {
        if self.begin == Begin::Letters {
            return Ending {
                outcome: RunOutcome::NothingRan,
                ran: false,
                consistent: None,
            };
        }
        if self.end.is_none() {
            // The log stops here: a word behind output may belong to the output.
            if let Some(pending) = &mut self.pending {
                pending.loose = None;
            }
        }
        self.settle();
        self.merge_summary(log);
        let mut consistent = self.end.as_ref().and_then(|end| self.consistent(end));
        if consistent == Some(true) && self.reached == Progress::Some && self.stop == Stop::No {
            // Behind the last test stands `[100%]`: one has printed this end, and perhaps died of it.
            consistent = Some(false);
        }
        if consistent == Some(false) {
            log.warn(None, "the final line does not agree with the results");
        }
        for at in std::mem::take(&mut self.sub_failed) {
            let test = self.tests.at(at);
            let (status, seen) = (test.status.worst(TestStatus::Failed), test.seen.max(1));
            self.tests.set(at, status, seen);
        }
        let ran = !self.tally.is_empty()
            || self.tests.iter().any(|t| t.qualified != t.module)
            || self
                .end
                .is_some_and(|end| end.totals.passed.is_some() || end.totals.failed.is_some());
        let mut lost = false;
        let end = self.end;
        let tests = std::mem::take(&mut self.tests);
        let mut unfinished = BTreeSet::new();
        if end.is_none() || self.killed.is_some() {
            let started = self.started.iter().map(|place| self.names.text(*place));
            unfinished.extend(started.filter(|id| tests.find(id).is_none()));
        }
        let silent = self.is_quiet() && self.reached == Progress::Done && end.is_none();
        // An end without errors: a test has printed such a report.
        let may_lose = end.is_none_or(|end| end.totals.errors.is_some());
        let modules: Vec<_> = self
            .reports
            .lost()
            .filter(|_| may_lose)
            .map(|(module, lines)| (tests.find(&module).is_some(), module, lines))
            .collect();
        log.append(tests);
        for (known, module, lines) in modules {
            lost = true;
            if !known {
                log.record(
                    grammar::module_of(&module),
                    &module,
                    &module,
                    TestStatus::Error,
                );
            }
            log.lose(&module, LostReason::LoadFailed, lines);
        }
        if let Some(end) = end {
            log.add_totals(end.totals);
        }
        for id in unfinished {
            log.still_running(id);
        }
        if silent {
            log.warn(None, "pytest was told to print no final line (-qq)");
        }
        // pytest-timeout may show the stacks and let the run go on.
        let killed = match end {
            Some(_) => self.killed.filter(|killed| *killed != RunOutcome::TimedOut),
            None => self.killed,
        };
        let outcome = match (killed, end) {
            (Some(killed), _) => killed,
            (None, Some(_)) if !ran && (lost || self.stop == Stop::Collecting) => {
                RunOutcome::BuildFailed
            }
            (None, Some(_)) if !ran => RunOutcome::NothingRan,
            (None, Some(_)) => RunOutcome::Completed,
            (None, None) if silent => RunOutcome::Completed,
            (None, None) if self.fatal => RunOutcome::Crashed,
            (None, None) => RunOutcome::Truncated,
        };
        Ending {
            outcome,
            ran,
            consistent,
        }
    }

    fn consistent(&self, end: &Final) -> Option<bool> {
        let progress = self.agrees(end);
        let noisy = self.percent == Some(false) && self.letters;
        let summary = self.summary_agrees(end);
        match (progress, summary) {
            (Some(true), Some(false)) | (Some(false), _) if !noisy => Some(false),
            (Some(true), _) => Some(true),
            // Without percentages, output may stand between the letters: only names compare.
            (_, summary) => summary,
        }
    }

    /// Adds what the summary names to what the run named.
    fn merge_summary(&mut self, log: &mut ParsedLogBuilder) {
        let mut summary = std::mem::take(&mut self.reports.summary);
        if !self.tests.is_empty() && !self.letters {
            // The run named every test. A failure that it did not name counts nevertheless.
            summary.retain(|id, status| status.is_failing() || self.tests.find(id).is_some());
        }
        for line in &summary.dropped {
            log.warn(Some(*line), "a line of a message, not of the summary");
        }
        for (module, id, status) in summary.entries() {
            let (at, new) = self.enter_in(module, id, status, 1);
            if !new {
                let test = self.tests.at(at);
                let (status, seen) = (test.status.worst(status), test.seen);
                self.tests.set(at, status, seen);
            }
        }
        for id in &summary.sub_failed {
            let (at, _) = self.enter(id, TestStatus::Failed, 1);
            self.sub_failed.insert(at);
        }
        self.reports.summary = summary;
    }
}
