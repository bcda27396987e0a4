//! One run of AVA's console reporters.

use super::line::{self, Count, Kind, ResultLine, Said};
use crate::edges::before_any;
use atlas_core::{Evidence, LostReason, ParsedLogBuilder, TestStatus, Totals};
use std::collections::HashSet;

/// Most headings and the longest that are kept.
const MOST: usize = 100_000;
const LONGEST: usize = 1 << 10;
/// Lines of a file's error that are kept as proof.
const PROOF: usize = 8;

#[derive(Clone, Debug)]
struct Found {
    kind: Kind,
    title: String,
    worded: bool,
    coloured: bool,
    /// How many rules stood before it.
    rules: usize,
}

/// The counts that end a run.
#[derive(Clone, Debug, Default)]
struct Counts {
    passed: Option<u64>,
    failed: u64,
    hooks: u64,
    known: u64,
    skipped: u64,
    pending: u64,
    any: bool,
    /// The mini reporter's.
    short: bool,
    /// Results that stood before them.
    results: usize,
    /// The same for each kind.
    kinds: [u64; 4],
    rules: usize,
}

/// The run that is being read.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    found: Vec<Found>,
    kinds: [u64; 4],
    counts: Option<Counts>,
    counting: bool,
    blanks: usize,
    /// `─` lines so far: before the failures, and behind them.
    rules: usize,
    /// Titles of failures, and what looks like one.
    headings: HashSet<String>,
    /// Those between the last two rules: of a run that ends as it should, the list of failures.
    listed_between: HashSet<String>,
    /// The same in order, of the mini reporter only.
    listed: Vec<String>,
    /// Known failures that the list begins with.
    known: Vec<String>,
    due: bool,
    /// What stands behind output in front of the first result: line, text, colour.
    ahead: Option<(usize, String, bool)>,
    lost: Vec<(String, LostReason, Vec<Evidence>)>,
    error: Option<(String, Vec<Evidence>)>,
    timed_out: bool,
    pending: bool,
    in_flight: Vec<String>,
}

/// What the runs of a log come to.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    pub(super) runs: u64,
    pub(super) totals: Totals,
    pub(super) disagrees: bool,
    pub(super) truncated: bool,
    pub(super) timed_out: bool,
}

impl Run {
    /// Takes a clean line.
    pub(super) fn line(
        &mut self,
        line: &[u8],
        raw: &[u8],
        number: usize,
        log: &mut ParsedLogBuilder,
        sum: &mut Sum,
    ) {
        if line.is_empty() {
            self.blanks = self.blanks.saturating_add(1);
            self.counting = false;
            return;
        }
        let blanks = std::mem::take(&mut self.blanks);
        let indent = line.iter().take_while(|byte| **byte == b' ').count();
        if indent == 2 || indent == 3 && !self.has_results() {
            let text = String::from_utf8_lossy(&line[indent..]);
            self.indented(&text, raw, blanks, number, log, sum);
        } else if indent < 2 || self.error.is_some() {
            self.foreign(line, raw, indent, number);
        }
    }

    fn has_results(&self) -> bool {
        !self.found.is_empty()
    }

    fn foreign(&mut self, line: &[u8], raw: &[u8], indent: usize, number: usize) {
        if indent >= 2 {
            self.proof(line, number);
        } else if memchr::memchr(0xe2, line).is_some() {
            // AVA 0 did not end a line that a test left open: `some text  ✔ title`.
            let text = String::from_utf8_lossy(line);
            for mark in ["  ✔ ", "  ✖ "] {
                if let Some((before, _)) = text.split_once(mark)
                    && !before.is_empty()
                    && !before.ends_with(' ')
                    && let Some(result) = line::result(&text[before.len() + 2..])
                {
                    let coloured = memchr::memchr(0x1b, raw).is_some();
                    if self.has_results() {
                        self.push(&result, result.kind, coloured);
                    } else {
                        // Believed if the next line is a result.
                        self.ahead = Some((number, text[before.len() + 2..].to_owned(), coloured));
                    }
                    return;
                }
            }
        }
    }

    fn indented(
        &mut self,
        text: &str,
        raw: &[u8],
        blanks: usize,
        number: usize,
        log: &mut ParsedLogBuilder,
        sum: &mut Sum,
    ) {
        // Since AVA 3 nothing of the run follows its counts.
        let over = !self.counting && self.counts.as_ref().is_some_and(|counts| counts.rules > 0);
        if over && self.is_proven() && (text == "─" || line::result(text).is_some()) {
            let done = std::mem::take(self);
            done.finish(log, sum);
        }
        if text == "─" {
            self.rules += 1;
            self.due = true;
            self.error = None;
            self.listed_between = std::mem::take(&mut self.headings);
            return;
        }
        if let Some((count, n, short)) = line::count(text)
            && (self.counting || blanks > 0 || short)
        {
            self.count(count, n, short, log, sum);
            return;
        }
        if let Some(result) = line::result(text) {
            self.counting = false;
            let cross = result.kind == Kind::Fail && !result.worded;
            if cross && let Some(said) = line::said(result.title) {
                self.said(&said, text, number);
                return;
            }
            let red = memchr::memmem::find(raw, b"\x1b[31m\xe2\x9c\x94").is_some();
            let kind = match result.kind {
                Kind::Pass if red => Kind::KnownFailure,
                kind => kind,
            };
            let coloured = raw.starts_with(b"  \x1b[");
            if let Some((at, ahead, coloured)) = self.ahead.take()
                && at + 1 == number
                && let Some(ahead) = line::result(&ahead)
            {
                self.push(&ahead, ahead.kind, coloured);
            }
            self.push(&result, kind, coloured);
            return;
        }
        if let Some(title) = text.strip_prefix("◌ ") {
            if self.pending {
                self.in_flight.push(title.to_owned());
            }
            return;
        }
        if let Some((_, file)) = text.split_once(" were pending in ") {
            self.pending |= self.timed_out;
            if self.timed_out {
                let proof = vec![Evidence::at("log", number, text.to_owned())];
                self.lose(file, LostReason::TimedOut, proof);
            }
            return;
        }
        for begin in ["Uncaught exception in ", "Unhandled rejection in "] {
            if let Some(file) = text.strip_prefix(begin) {
                let proof = vec![Evidence::at("log", number, text.to_owned())];
                self.error = Some((file.to_owned(), proof));
                return;
            }
        }
        self.proof(text.as_bytes(), number);
        self.heading(text, blanks);
    }

    /// A title in the list of failures stands behind two empty lines, or is the first.
    fn heading(&mut self, text: &str, blanks: usize) {
        let Some(counts) = &self.counts else {
            if self.rules > 0 && (self.due || blanks >= 2) {
                self.due = false;
                self.keep(text);
            }
            return;
        };
        // `2. title` before AVA 0.19.
        let title = match text.split_once(". ") {
            Some((n, rest)) if n.bytes().all(|b| b.is_ascii_digit()) => rest,
            _ => text,
        };
        if self.rules == 0 && (self.known.len() as u64) < counts.known {
            self.known.push(title.to_owned());
            self.due = true;
        } else if self.due || blanks >= 2 {
            self.due = false;
            let short = counts.short;
            self.keep(title);
            if short && self.listed.len() < MOST {
                self.listed.push(title.to_owned());
            }
        }
    }

    fn keep(&mut self, title: &str) {
        if self.headings.len() < MOST && title.len() <= LONGEST {
            self.headings.insert(title.to_owned());
        }
    }

    fn push(&mut self, result: &ResultLine<'_>, kind: Kind, coloured: bool) {
        self.pending = false;
        let title = match kind {
            Kind::Pass => line::without_duration(result.title),
            _ => result.title,
        };
        self.kinds[kind as usize] += 1;
        self.found.push(Found {
            kind,
            title: title.to_owned(),
            worded: result.worded,
            coloured,
            rules: self.rules,
        });
    }

    /// Whether counts were seen.
    pub(super) fn is_counted(&self) -> bool {
        self.counts.is_some()
    }

    fn said(&mut self, said: &Said<'_>, text: &str, number: usize) {
        match said {
            Said::Lost(file, reason) => {
                let mut proof = match self.error.take() {
                    Some((known, proof)) if known == *file => proof,
                    _ => Vec::new(),
                };
                let reason = if does_not_load(&proof) {
                    LostReason::LoadFailed
                } else {
                    *reason
                };
                proof.push(Evidence::at("log", number, text.to_owned()));
                self.lose(file, reason, proof);
            }
            Said::TimedOut => self.timed_out = true,
            Said::Broken => {
                let proof = vec![Evidence::at("log", number, text.to_owned())];
                self.error = Some(("ava".to_owned(), proof));
            }
            Said::Other => {}
        }
    }

    fn lose(&mut self, file: &str, reason: LostReason, proof: Vec<Evidence>) {
        const FILES: usize = 10_000;
        if self.lost.len() < FILES {
            self.lost.push((file.to_owned(), reason, proof));
        }
    }

    fn proof(&mut self, line: &[u8], number: usize) {
        if let Some((_, proof)) = &mut self.error
            && proof.len() < PROOF
        {
            let text = String::from_utf8_lossy(line).trim().to_owned();
            proof.push(Evidence::at("log", number, text));
        }
    }

    fn count(
        &mut self,
        count: Count,
        n: u64,
        short: bool,
        log: &mut ParsedLogBuilder,
        sum: &mut Sum,
    ) {
        if !self.counting {
            // The mini reporter counts again and again.
            let more = |counts: &Counts| counts.results < self.found.len();
            if !short && self.is_proven() && self.counts.as_ref().is_some_and(more) {
                self.split(log, sum);
            }
            self.counting = true;
            self.counts = Some(Counts {
                short,
                results: self.found.len(),
                kinds: self.kinds,
                rules: self.rules,
                ..Counts::default()
            });
            if self.rules == 0 {
                self.headings.clear();
            }
            self.listed.clear();
            self.known.clear();
            self.due = true;
        }
        let Some(counts) = &mut self.counts else {
            return;
        };
        counts.any = true;
        match count {
            Count::Passed => counts.passed = Some(n),
            Count::Failed => counts.failed = n,
            Count::Hooks => counts.hooks = n,
            Count::Known => counts.known = n,
            Count::Skipped => counts.skipped = counts.skipped.saturating_add(n),
            Count::Pending => counts.pending = n,
            Count::Other => {}
        }
    }

    /// Whether the counts fit the results above them.
    fn is_proven(&self) -> bool {
        let Some(counts) = &self.counts else {
            return false;
        };
        let number = |kind| counts.kinds[kind as usize];
        !counts.short
            && number(Kind::Fail) == counts.failed.saturating_add(counts.hooks)
            && number(Kind::Skip) == counts.skipped
            && counts
                .passed
                .is_none_or(|passed| passed <= number(Kind::Pass))
    }

    /// The counts were a run's, and other results came since.
    fn split(&mut self, log: &mut ParsedLogBuilder, sum: &mut Sum) {
        let Some(results) = self.counts.as_ref().map(|counts| counts.results) else {
            return;
        };
        let rest = self.found.split_off(results.min(self.found.len()));
        let next = Self {
            kinds: rest.iter().fold([0; 4], |mut kinds, found| {
                kinds[found.kind as usize] += 1;
                kinds
            }),
            found: rest,
            ..Self::default()
        };
        let done = std::mem::replace(self, next);
        done.finish(log, sum);
    }

    /// Ends the run.
    pub(super) fn finish(mut self, log: &mut ParsedLogBuilder, sum: &mut Sum) {
        for (file, reason, proof) in std::mem::take(&mut self.lost) {
            log.lose(&file, reason, proof);
        }
        if let Some((file, proof)) = self.error.take() {
            let reason = match file.as_str() {
                "ava" => LostReason::LoadFailed,
                _ => LostReason::Crashed,
            };
            log.lose(&file, reason, proof);
        }
        for title in std::mem::take(&mut self.in_flight) {
            log.still_running(title);
        }
        sum.timed_out |= self.timed_out;
        if self.rules > 0 {
            let between = std::mem::take(&mut self.listed_between);
            self.headings.extend(between);
        }
        let Some(counts) = self.counts.take() else {
            if self
                .found
                .iter()
                .any(|found| found.kind == Kind::Pass || found.worded)
            {
                sum.truncated = true;
                sum.runs += 1;
                self.record(None, log);
            }
            return;
        };
        if counts.short {
            self.mini(&counts, log, sum);
            return;
        }
        sum.runs += 1;
        self.found.truncate(counts.results);
        // Behind the rule stand messages, in which a test may have printed anything.
        let list = 1 + usize::from(counts.failed.saturating_add(counts.hooks) > 0);
        if let Some(first) = counts.rules.checked_sub(list) {
            self.found.retain(|found| found.rules <= first);
        }
        let (seen, listed) = self.record(Some(&counts), log);
        let failed = counts.failed.saturating_add(counts.hooks);
        sum.totals.add(Totals {
            passed: counts.passed,
            failed: Some(failed),
            skipped: Some(counts.skipped),
            xfailed: Some(counts.known),
            ..Totals::default()
        });
        // AVA 3 prints a known failure as a pass, but counts it.
        let passed = seen[0] + seen[1];
        let known = seen[1] == counts.known || seen[1] == 0;
        let silent = counts.passed.unwrap_or(0) > 0 && passed == 0;
        let fits = counts
            .passed
            .is_none_or(|n| n == seen[0] || n + counts.known == passed);
        sum.disagrees |= !listed
            || !known
            || seen[2] != failed
            || !silent && (seen[3] != counts.skipped || !fits);
    }

    /// Records the results; returns how many passed, failed as known, failed and were skipped, and
    /// whether every failure that a line tells is in the list of failures.
    fn record(&self, counts: Option<&Counts>, log: &mut ParsedLogBuilder) -> ([u64; 4], bool) {
        // With several files each title begins with one.
        let separated = |found: &&Found| separator(&found.title);
        let several = self.found.iter().filter(separated).count() * 2 > self.found.len();
        let coloured = self.found.iter().filter(|found| found.coloured).count() * 2;
        let coloured = coloured > self.found.len();
        let mut seen = [0; 4];
        let mut unlisted: Vec<&str> = Vec::new();
        let mut told: HashSet<&str> = HashSet::new();
        for found in &self.found {
            if several && !separator(&found.title) || found.coloured != coloured {
                continue;
            }
            let mut title = found.title.as_str();
            let status = match found.kind {
                Kind::Pass if self.known.iter().any(|known| known == title) => TestStatus::Xfail,
                Kind::Pass => TestStatus::Passed,
                Kind::KnownFailure => TestStatus::Xfail,
                Kind::Skip => TestStatus::Skipped,
                Kind::Fail => {
                    match self.failure(title) {
                        Some(heading) => title = heading,
                        // What the list of failures does not have did not fail.
                        None if counts.is_some() => {
                            if found.worded {
                                unlisted.push(without_message(title));
                            }
                            continue;
                        }
                        None => title = without_message(title),
                    }
                    TestStatus::Failed
                }
            };
            let at = match status {
                TestStatus::Passed => 0,
                TestStatus::Xfail => 1,
                TestStatus::Failed => 2,
                _ => 3,
            };
            seen[at] += 1;
            if found.kind != Kind::Fail {
                told.insert(title);
            }
            log.record("", title, title, status);
        }
        // Printed by a test; but where nothing else tells of that test, its outcome is not known.
        unlisted.retain(|title| !told.contains(title));
        (seen, unlisted.is_empty())
    }

    /// The longest heading that the text of a failure begins with: what follows is its message.
    fn failure<'a>(&self, text: &'a str) -> Option<&'a str> {
        let text = text.trim_end();
        let mut end = text.len();
        loop {
            if end <= LONGEST && self.headings.contains(&text[..end]) {
                return Some(&text[..end]);
            }
            end = text[..end].rfind(' ')?;
        }
    }

    /// The mini reporter prints no results: the titles in its list of failures are all it names.
    fn mini(&mut self, counts: &Counts, log: &mut ParsedLogBuilder, sum: &mut Sum) {
        sum.runs += 1;
        let failed = counts.failed;
        let named = self.listed.len() as u64 == failed;
        for title in &self.known {
            log.record("", title, title, TestStatus::Xfail);
        }
        if named {
            for title in &self.listed {
                log.record("", title, title, TestStatus::Failed);
            }
        } else {
            log.warn(
                None,
                "the titles of the failures cannot be told from their messages",
            );
        }
        sum.totals.add(Totals {
            passed: counts.passed,
            failed: Some(failed),
            skipped: Some(counts.skipped),
            xfailed: Some(counts.known),
            ..Totals::default()
        });
        sum.disagrees |= !named;
    }
}

/// Whether the lines of an error outside of the tests say that a file could not be loaded.
pub(super) fn does_not_load(lines: &[Evidence]) -> bool {
    lines.iter().any(|line| {
        let text = line.text.strip_prefix("name: ").unwrap_or(&line.text);
        text.starts_with("SyntaxError") || text.contains("Cannot find ")
    })
}

/// `file › title`; terminals without Unicode have `>`.
fn separator(title: &str) -> bool {
    title.contains(" › ") || title.contains(" > ")
}

/// The title of a failure in a log that stops before the list of failures: AVA's own messages are
/// known, others stay.
fn without_message(text: &str) -> &str {
    const MESSAGES: [&str; 6] = [
        " Error thrown in test",
        " Rejected promise returned by test",
        " Promise rejected with a non-error",
        " Test finished without running any assertions",
        " Test was expected to fail, but succeeded, you should stop marking the test as failing",
        " Test function returned a rejected promise",
    ];
    let text = text.trim_end();
    let own = before_any(text, &MESSAGES);
    own.unwrap_or(text)
}
