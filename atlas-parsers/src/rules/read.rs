//! The engine: one line after the other.

use super::compile::{Compiled, EMPTY, Pattern, Role};
use super::quick::{Answer, NOWHERE, Scratch};
use super::set::Per;
use crate::text::{clean, lossy};
use atlas_core::{
    Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals,
};
use regex::CaptureLocations;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most bytes of a line that is looked at.
const MAX_LINE: usize = 64 << 10;
/// The most tests that may be open at once.
const MAX_OPEN: usize = 10_000;
/// The most lines of each kind that a reading keeps.
const MAX_SAMPLE: usize = 200;

/// A log with what its rules made of it.
#[derive(Clone, Debug, Default)]
pub struct RuleReading {
    /// What was read.
    pub log: ParsedLog,
    /// Lines that no rule matched, with their numbers from 1; the first 200 that are not empty.
    pub unread: Vec<(u64, String)>,
    /// How many such lines there are.
    pub unread_lines: u64,
    /// Tests with results that contradict each other.
    pub contradictions: Vec<String>,
    /// Words in the place of a status that the rules do not know, with their number.
    pub unknown_words: BTreeMap<String, u64>,
    /// How many lines each pattern took, by field and rule.
    pub hits: BTreeMap<String, u64>,
}

#[derive(Clone, Debug)]
struct Open {
    suite: String,
    id: String,
    otherwise: Option<TestStatus>,
}

/// Where in a log the reading is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the runner's start, or behind its end.
    Outside,
    Tests,
    /// In the list of this number.
    Section(usize),
}

impl Place {
    /// Where a reading begins, and where it is behind the runner's end.
    fn outside(by: &Compiled) -> Self {
        if by.has_start {
            Self::Outside
        } else {
            Self::Tests
        }
    }
}

/// What markers say of the whole run; the later one here outweighs those before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    NotBuilt,
    Crashed,
    TimedOut,
}

#[derive(Clone)]
pub(super) struct State {
    by: Arc<Compiled>,
    log: ParsedLogBuilder,
    line: u64,
    place: Place,
    ignoring: Option<usize>,
    suite: String,
    open: Vec<Open>,
    /// The test whose result came last: suite and name.
    last: Option<(String, String)>,
    run_totals: Option<Totals>,
    suite_totals: Option<Totals>,
    /// The runner's end came behind the last result, or its counts where it has no end.
    ended: bool,
    verdict: Option<Verdict>,
    locations: Vec<CaptureLocations>,
    /// The groups of the pattern that took the line.
    scratch: Scratch,
    /// What is found beside the results, where somebody asks for it.
    reading: Option<RuleReading>,
    hits: Vec<u64>,
    word_warnings: usize,
}

impl State {
    pub(super) fn new(by: Arc<Compiled>, examined: bool) -> Self {
        Self {
            log: ParsedLogBuilder::new(by.rules.id.as_str()),
            line: 0,
            place: Place::outside(&by),
            ignoring: None,
            suite: String::new(),
            open: Vec::new(),
            last: None,
            run_totals: None,
            suite_totals: None,
            ended: false,
            verdict: None,
            locations: by
                .patterns
                .iter()
                .map(|pattern| pattern.regex.capture_locations())
                .collect(),
            scratch: Scratch::default(),
            reading: examined.then(RuleReading::default),
            hits: vec![0; by.patterns.len()],
            word_warnings: 0,
            by,
        }
    }

    pub(super) fn all(&mut self, log: &[u8]) {
        for line in log.split(|byte| *byte == b'\n') {
            self.line(line.strip_suffix(b"\r").unwrap_or(line));
        }
    }

    pub(super) fn reading(mut self) -> RuleReading {
        let mut reading = self.reading.take().unwrap_or_default();
        for (pattern, hits) in self.by.patterns.iter().zip(&self.hits) {
            reading.hits.insert(pattern.label.clone(), *hits);
        }
        reading.log = self.finish();
        reading
    }

    fn text(&mut self, text: &str) {
        if text.len() > MAX_LINE {
            self.unread(text);
            return;
        }
        let by = Arc::clone(&self.by);
        let is_ascii = text.is_ascii();
        let first = text.bytes().next().map_or(EMPTY, usize::from);
        let mut taken = false;
        for at in by.by_first[first].iter().map(|at| usize::from(*at)) {
            let pattern = &by.patterns[at];
            if !self.applies(pattern) || !self.matches(at, pattern, text, is_ascii) {
                continue;
            }
            match self.take(&by, pattern, text) {
                Taken::No => continue,
                Taken::Noted => taken = true,
                Taken::Whole => {
                    self.hits[at] += 1;
                    return;
                }
            }
            self.hits[at] += 1;
        }
        if !taken {
            self.unread(text);
        }
    }

    /// Whether a pattern says anything where the log is now.
    fn applies(&self, pattern: &Pattern) -> bool {
        if let Some(block) = self.ignoring {
            return matches!(pattern.role, Role::IgnoreEnd(of) if of == block);
        }
        match pattern.role {
            Role::IgnoreEnd(_) => false,
            Role::IgnoreBegin(_)
            | Role::Start
            | Role::BuildFailed
            | Role::Crashed
            | Role::TimedOut => true,
            _ if self.place == Place::Outside => false,
            Role::SectionEnd(of) | Role::Entry(of) => self.place == Place::Section(of),
            Role::Line(_) => self.place == Place::Tests,
            Role::End
            | Role::SectionBegin(_)
            | Role::Totals(_)
            | Role::SuiteBegin
            | Role::SuiteEnd => true,
        }
    }

    /// Whether a pattern matches a line; its groups are found then.
    fn matches(&mut self, at: usize, pattern: &Pattern, text: &str, is_ascii: bool) -> bool {
        if is_ascii && let Some(quick) = &pattern.quick {
            match quick.find(text.as_bytes(), &mut self.scratch) {
                Answer::Match => return true,
                Answer::NoMatch => return false,
                Answer::Unknown => {}
            }
        }
        let locations = &mut self.locations[at];
        if pattern.regex.captures_read(locations, text).is_none() {
            return false;
        }
        let slots = &mut self.scratch.slots;
        slots.clear();
        for group in 0..locations.len() {
            let (from, to) = locations.get(group).unwrap_or((NOWHERE, NOWHERE));
            slots.extend([from, to]);
        }
        true
    }

    fn unread(&mut self, text: &str) {
        let Some(reading) = &mut self.reading else {
            return;
        };
        if text.trim().is_empty() || self.ignoring.is_some() {
            return;
        }
        reading.unread_lines += 1;
        if reading.unread.len() < MAX_SAMPLE {
            let short: String = text.chars().take(200).collect();
            reading.unread.push((self.line, short));
        }
    }

    /// What a pattern that applies makes of a line that it matches.
    fn take(&mut self, by: &Compiled, pattern: &Pattern, text: &str) -> Taken {
        match pattern.role {
            Role::IgnoreBegin(block) => {
                if by.rules.ignore[block].end.is_some() {
                    self.ignoring = Some(block);
                }
                Taken::Whole
            }
            Role::IgnoreEnd(_) => {
                self.ignoring = None;
                Taken::Whole
            }
            Role::Start => {
                self.place = Place::Tests;
                if by.has_end {
                    self.ended = false;
                }
                Taken::Noted
            }
            Role::BuildFailed => {
                self.says(Verdict::NotBuilt);
                let module = self.group(text, pattern.suite).unwrap_or_default();
                let line = usize::try_from(self.line).unwrap_or(usize::MAX);
                let proof = Evidence::at("log", line, text);
                self.log.lose(module, LostReason::BuildFailed, vec![proof]);
                Taken::Noted
            }
            Role::Crashed => {
                self.says(Verdict::Crashed);
                Taken::Noted
            }
            Role::TimedOut => {
                self.says(Verdict::TimedOut);
                Taken::Noted
            }
            Role::End => {
                self.settle();
                self.ended = true;
                self.place = Place::outside(by);
                Taken::Noted
            }
            Role::SectionEnd(_) => {
                self.place = Place::Tests;
                Taken::Whole
            }
            Role::SectionBegin(of) => {
                self.settle();
                self.place = Place::Section(of);
                Taken::Whole
            }
            Role::Totals(of) => {
                self.settle();
                self.place = Place::Tests;
                self.totals(by.rules.totals[of].per, pattern, text);
                Taken::Whole
            }
            Role::SuiteBegin => {
                self.settle();
                self.place = Place::Tests;
                let suite = self.group(text, pattern.suite).unwrap_or_default();
                self.suite = suite.to_owned();
                Taken::Whole
            }
            Role::SuiteEnd => {
                self.settle();
                self.suite.clear();
                Taken::Whole
            }
            Role::Entry(of) => {
                self.entry(by.rules.sections[of].status, pattern, text);
                Taken::Whole
            }
            Role::Line(of) => self.result(by, of, pattern, text),
        }
    }

    fn says(&mut self, verdict: Verdict) {
        self.verdict = self.verdict.max(Some(verdict));
    }

    /// The text of a group, blanks around it removed.
    fn group<'t>(&self, text: &'t str, group: Option<usize>) -> Option<&'t str> {
        let (from, to) = self.scratch.group(group?)?;
        Some(text[from..to].trim())
    }

    fn result(&mut self, by: &Compiled, of: usize, pattern: &Pattern, text: &str) -> Taken {
        let rule = &by.rules.lines[of];
        let id = self.group(text, pattern.id);
        let word = self.group(text, pattern.status);
        let suite = self.group(text, pattern.suite);
        let status = match (rule.status, word) {
            (Some(fixed), _) => Some(Ok(fixed)),
            (None, Some(word)) => Some(by.rules.statuses.get(word).copied().ok_or(word)),
            (None, None) => None,
        };
        let Some(id) = id else {
            return self.of_last(status);
        };
        let id = self.strip(id);
        if id.is_empty() {
            return Taken::No;
        }
        // Kept aside, for what is done with it changes the state.
        let own = std::mem::take(&mut self.suite);
        let suite = suite.unwrap_or(&own);
        match status {
            Some(Ok(status)) => {
                self.close_named(suite, &id);
                self.record(suite, &id, status);
            }
            Some(Err(word)) => self.unknown(word, Some((suite, &id))),
            None => {
                if rule.otherwise.is_some() {
                    self.settle();
                }
                self.announce(Open {
                    suite: suite.to_owned(),
                    id: id.into_owned(),
                    otherwise: rule.otherwise,
                });
            }
        }
        self.suite = own;
        Taken::Whole
    }

    /// A status without a name.
    fn of_last(&mut self, status: Option<Result<TestStatus, &str>>) -> Taken {
        match status {
            Some(Ok(status)) => {
                if let Some(open) = self.open.pop() {
                    self.record(&open.suite, &open.id, status);
                } else if let Some((suite, id)) = &self.last {
                    // One more failure of the same test; it never mends anything.
                    let qualified = self.qualified(suite, id);
                    let before = self.log.status(&qualified).unwrap_or(status);
                    self.log.revise(&qualified, before.worst(status));
                } else {
                    return Taken::No;
                }
            }
            Some(Err(word)) => {
                let open = self
                    .open
                    .last()
                    .map(|open| (open.suite.clone(), open.id.clone()));
                if let Some((suite, id)) = open {
                    self.unknown(word, Some((&suite, &id)));
                } else {
                    self.unknown(word, None);
                }
            }
            None => return Taken::No,
        }
        Taken::Whole
    }

    fn announce(&mut self, open: Open) {
        self.ended = false;
        if self.open.len() >= MAX_OPEN {
            self.log.warn(
                Some(self.line),
                format!("more than {MAX_OPEN} tests begin and none ends"),
            );
            self.open.clear();
        }
        self.open.push(open);
    }

    /// Ends the tests about which a runner says nothing when they pass.
    fn settle(&mut self) {
        if self.open.iter().all(|open| open.otherwise.is_none()) {
            return;
        }
        for open in std::mem::take(&mut self.open) {
            match open.otherwise {
                Some(status) => self.record(&open.suite, &open.id, status),
                None => self.open.push(open),
            }
        }
    }

    fn close_named(&mut self, suite: &str, id: &str) {
        if let Some(at) = self
            .open
            .iter()
            .rposition(|open| open.id == id && open.suite == suite)
        {
            self.open.remove(at);
        }
    }

    fn qualified(&self, suite: &str, id: &str) -> String {
        if suite.is_empty() {
            return id.to_owned();
        }
        format!("{suite}{}{id}", self.by.rules.separator)
    }

    fn record(&mut self, suite: &str, id: &str, status: TestStatus) {
        self.ended = false;
        if self.reading.is_some() {
            let qualified = self.qualified(suite, id);
            if let Some(reading) = &mut self.reading
                && let Some(before) = self.log.status(&qualified)
                && before != status
                && reading.contradictions.len() < MAX_SAMPLE
            {
                let what = format!(
                    "line {}: `{qualified}` is {status}, and was {before}",
                    self.line
                );
                reading.contradictions.push(what);
            }
        }
        self.log
            .record_in(suite, self.by.rules.separator.as_str(), id, status);
        let (last_suite, last_id) = self.last.get_or_insert_default();
        last_suite.clear();
        last_suite.push_str(suite);
        last_id.clear();
        last_id.push_str(id);
    }

    /// An entry of a list of failures: the same test again, or one that is named nowhere else.
    fn entry(&mut self, status: TestStatus, pattern: &Pattern, text: &str) {
        let Some(id) = self.group(text, pattern.id) else {
            return;
        };
        let suite = self.group(text, pattern.suite).unwrap_or_default();
        let id = self.strip(id);
        let full = self.qualified(suite, &id);
        let inside = self.qualified(&self.suite, &id);
        for known in [full, inside] {
            if let Some(before) = self.log.status(&known) {
                self.log.revise(&known, before.worst(status));
                return;
            }
        }
        self.log
            .record_in(suite, self.by.rules.separator.as_str(), &id, status);
    }

    fn unknown(&mut self, word: &str, test: Option<(&str, &str)>) {
        // Kept short: a word may be a whole line.
        let word: String = word.chars().take(60).collect();
        if self.word_warnings < 20 {
            self.word_warnings += 1;
            self.log.warn(
                Some(self.line),
                format!("`{word}` is no status word of the rules; the line counts for nothing"),
            );
        }
        if let Some(reading) = &mut self.reading
            && reading.unknown_words.len() < MAX_SAMPLE
        {
            *reading.unknown_words.entry(word).or_default() += 1;
        }
        // Whatever it means, it is no pass.
        if let Some((suite, id)) = test {
            let qualified = self.qualified(suite, id);
            if self
                .log
                .status(&qualified)
                .is_some_and(TestStatus::is_passing)
            {
                self.log.revise(&qualified, TestStatus::Error);
            }
        }
    }

    fn totals(&mut self, per: Per, pattern: &Pattern, text: &str) {
        let number = |of: usize| {
            let group = pattern.totals[of]?;
            self.group(text, Some(group))?.parse::<u64>().ok()
        };
        let found = Totals {
            total: number(0),
            passed: number(1),
            failed: number(2),
            errors: number(3),
            skipped: number(4),
            xfailed: number(5),
            xpassed: number(6),
        };
        if !self.by.has_end {
            self.ended = true;
        }
        match per {
            Per::Suite => self
                .suite_totals
                .get_or_insert_with(Totals::default)
                .add(found),
            Per::Run => {
                let known = self.run_totals.get_or_insert_with(Totals::default);
                known.total = found.total.or(known.total);
                known.passed = found.passed.or(known.passed);
                known.failed = found.failed.or(known.failed);
                known.errors = found.errors.or(known.errors);
                known.skipped = found.skipped.or(known.skipped);
                known.xfailed = found.xfailed.or(known.xfailed);
                known.xpassed = found.xpassed.or(known.xpassed);
            }
        }
    }

    fn strip<'t>(&self, id: &'t str) -> Cow<'t, str> {
        let mut id = Cow::Borrowed(id);
        for pattern in &self.by.strip {
            if pattern.is_match(&id) {
                id = Cow::Owned(pattern.replace_all(&id, "").into_owned());
            }
        }
        match id {
            Cow::Owned(id) => Cow::Owned(id.trim().to_owned()),
            id @ Cow::Borrowed(_) => id,
        }
    }
}

/// What became of a line.
enum Taken {
    /// The rule does not apply here.
    No,
    /// It applies, and others may too.
    Noted,
    /// The line is done.
    Whole,
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let line = clean(line);
        let text = lossy(&line);
        self.text(text.trim_end_matches('\r'));
    }

    fn finish(mut self) -> ParsedLog {
        for open in std::mem::take(&mut self.open) {
            let name = self.qualified(&open.suite, &open.id);
            self.log.still_running(name);
        }
        let rules = &self.by.rules;
        let tells_end = self.by.has_end || !rules.totals.is_empty();
        let complete = self.ended || !tells_end;
        // The whole run's counts say more than the sum of its parts.
        if let Some(totals) = self.run_totals.or(self.suite_totals) {
            self.log.add_totals(totals);
        }
        let outcome = match self.verdict {
            Some(Verdict::TimedOut) => RunOutcome::TimedOut,
            Some(Verdict::Crashed) => RunOutcome::Crashed,
            Some(Verdict::NotBuilt) if self.log.recorded() == 0 => RunOutcome::BuildFailed,
            _ if self.log.recorded() == 0 => RunOutcome::NothingRan,
            _ if complete && self.ignoring.is_none() => RunOutcome::Completed,
            _ => RunOutcome::Truncated,
        };
        self.log.finish(outcome)
    }
}
