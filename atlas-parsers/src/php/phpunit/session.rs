//! One run of the runner, from its first line to its totals.

use super::dox::{Class, Declared, Dox};
use super::lists::{Kind, List, Lists};
use super::named::{Form, NamedTests};
use super::pest::Pest;
use super::summary::{self, Counts};
use super::title;
use atlas_core::{Evidence, LostReason, ParsedLogBuilder, RunOutcome, TestStatus, Totals};
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub(super) struct Session {
    has_header: bool,
    major: Option<u64>,
    /// `Runtime:` was printed, which before `PHPUnit` 10 only `--verbose` does.
    runtime: bool,
    dox: Dox,
    named: NamedTests,
    lists: Lists,
    pest: Pest,
    part: Part,
    /// The verdict's line was the last one.
    verdict: bool,
    counts: Option<Counts>,
    /// Counts that stand among the entries of a list: in a message, if others follow.
    doubted: Option<Counts>,
    /// Other counts stand behind those that the lists bear out.
    counted_again: bool,
    no_tests: bool,
    /// The number of tests in the last line of progress.
    expected: Option<u64>,
    /// A line of results in the form of dots, or of sentences, was seen.
    ran: bool,
    died: Option<(usize, String)>,
    /// Tests that could not be made, as the lists have them.
    unmade: usize,
    /// The run as it is if the last line that looked like its end stood in a failure's message.
    other: Option<Box<Session>>,
    /// How many such there were.
    others: u32,
    /// This is such a run.
    is_other: bool,
}

/// Where in a run the log is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    /// The tests run.
    #[default]
    Tests,
    /// Behind the time line.
    End,
    /// Behind `Summary of …:`, where PHPUnit lists tests of the run a second time.
    Again,
}

/// So often a run is read in two ways at most.
const MOST_OTHERS: u32 = 16;

/// What a run came to.
pub(super) struct Closed {
    pub(super) outcome: RunOutcome,
    pub(super) consistent: Option<bool>,
}

impl Session {
    pub(super) fn header(&mut self, line: &[u8]) {
        self.has_header = true;
        let digits = line[8..].iter().take_while(|b| b.is_ascii_digit()).count();
        self.major = title::number(&line[8..8 + digits]);
    }

    pub(super) fn has_header(&self) -> bool {
        self.has_header
    }

    /// The runner's last line was seen.
    pub(super) fn ended(&self) -> bool {
        self.counts.is_some() || self.named.ended
    }

    /// Nothing but the event log's beginning, which stands in front of the header.
    pub(super) fn only_events(&self) -> bool {
        !self.ran && self.counts.is_none() && self.named.tests.is_empty() && !self.pest.seen()
    }

    pub(super) fn began(&self) -> bool {
        self.has_header || self.pest.seen() || self.named.form.is_some()
    }

    pub(super) fn ran(&self) -> bool {
        self.ran
            || self.expected.is_some()
            || self.named.form.is_some()
            || self.after_time()
            || self.pest.seen()
    }

    fn after_time(&self) -> bool {
        self.part != Part::Tests
    }

    pub(super) fn died(&mut self, line: usize, text: &str) {
        if self.counts.is_none() {
            self.died.get_or_insert_with(|| (line, text.to_owned()));
        }
    }

    fn failing(&self) -> u64 {
        let counts = self.counts.or(self.doubted);
        counts.map_or(0, |counts| counts.failing())
    }

    fn live(&self) -> bool {
        self.major.is_none_or(|major| major < 10)
    }

    /// Takes a line. Returns whether it was the runner's.
    pub(super) fn line(
        &mut self,
        line: &[u8],
        text: Option<&str>,
        coloured: bool,
        number: usize,
    ) -> bool {
        if let Some(other) = &mut self.other {
            other.line(line, text, coloured, number);
        }
        self.own_line(line, text, coloured, number)
    }

    fn own_line(&mut self, line: &[u8], text: Option<&str>, coloured: bool, number: usize) -> bool {
        let verdict = std::mem::take(&mut self.verdict);
        let steps = self.named.steps;
        if self.names(line, number) {
            if self.after_time() && self.named.steps != steps {
                // The run goes on: a test has printed what looked like its end.
                self.lists = Lists::default();
                self.counts = None;
                self.doubted = None;
                self.part = Part::Tests;
            }
            return true;
        }
        match line.first() {
            Some(b'T') if summary::is_time(line) && !self.is_other => {
                self.time(line, number);
                return true;
            }
            Some(b'T') if verdict => {
                if let Some(counts) = summary::counts(line) {
                    self.count(counts);
                    return true;
                }
            }
            Some(b'O' | b'E' | b'F' | b'W') if self.after_time() => {
                if let Some(counts) = summary::ok(line) {
                    self.count(counts);
                    return true;
                }
                if summary::is_verdict(line) {
                    self.verdict = true;
                    return true;
                }
            }
            Some(b'N') if line.trim_ascii_end() == b"No tests executed!" && self.has_header => {
                self.no_tests = true;
                return true;
            }
            Some(b'R') if line.starts_with(b"Runtime: ") => {
                self.runtime = true;
                return true;
            }
            Some(b'S')
                if self.after_time()
                    && line.starts_with(b"Summary of ")
                    && line.ends_with(b":") =>
            {
                self.part = Part::Again;
                return true;
            }
            Some(b' ') if !self.has_header && self.pest.line(line) => return true,
            Some(b'.' | b'F' | b'E' | b'S' | b'I' | b'R' | b'D' | b'N')
                if !self.after_time() && dots(line) > 0 =>
            {
                self.ran |= self.has_header;
            }
            _ => {}
        }
        if !self.after_time()
            && line.last() == Some(&b')')
            && let Some(expected) = summary::progress(line)
        {
            self.expected = Some(expected);
        }
        // Before PHPUnit 10 a testdox run has neither lists nor an end before its last sentence.
        let told = self.live() && self.named.form.is_none() && !self.dox.sentences.is_empty();
        if self.counts.is_some() && !told {
            if !self.lists.all.is_empty() && self.lists.goes_on(line, number) {
                // Another list: the counts stood in a message.
                self.doubted = self.counts.take();
                return true;
            }
            return false;
        }
        // Behind the first list, a mark belongs to a message.
        let place = match self.part {
            Part::Tests => self.live(),
            Part::End => true,
            Part::Again => false,
        };
        if place && (told || self.lists.all.is_empty()) {
            let timed = self.major.is_none_or(|major| major < 10 && self.runtime);
            if self.dox.line(line, text, coloured, self.live(), timed) {
                self.ran |= self.has_header;
                return true;
            }
        }
        self.after_time() && !told && self.lists.line(line, number)
    }

    /// Forms that name every test.
    fn names(&mut self, line: &[u8], number: usize) -> bool {
        // Such a form begins with the run: what follows dots was printed by a test.
        if self.named.form.is_none() && (self.ran || self.expected.is_some()) {
            return false;
        }
        let teamcity = match line.first() {
            Some(b'#') => line.strip_prefix(b"##teamcity["),
            Some(_) if self.named.form == Some(Form::Teamcity) => {
                memchr::memmem::find(line, b"##teamcity[").map(|at| &line[at + 11..])
            }
            _ => None,
        };
        if let Some(message) = teamcity {
            return self.named.teamcity(message, number);
        }
        let may = |form| self.named.form.is_none_or(|known| known == form);
        match line.first() {
            Some(b'T')
                if may(Form::Debug)
                    && line.starts_with(b"Test '")
                    && line.last() == Some(&b'd') =>
            {
                self.named.debug(line)
            }
            Some(_) if self.named.form == Some(Form::Debug) && line.ends_with(b"' started") => {
                self.named.debug(line)
            }
            Some(
                b'T' | b'.' | b'F' | b'E' | b'W' | b'I' | b'R' | b'S' | b'D' | b'N' | b'[' | b'B'
                | b'A' | b'P',
            ) if line.last() == Some(&b')') && may(Form::Events) => self.named.event(line, number),
            _ => false,
        }
    }

    fn time(&mut self, line: &[u8], number: usize) {
        // Amid a list it may be a line of a message.
        if self.counts.is_none() && !self.lists.all.is_empty() && self.others < MOST_OTHERS {
            self.others += 1;
            self.other = None;
            let mut other = Self {
                is_other: true,
                ..self.clone()
            };
            other.own_line(line, None, false, number);
            self.other = Some(Box::new(other));
        }
        // What stood behind an earlier time line was printed by a test.
        self.lists = Lists::default();
        self.counts = None;
        self.doubted = None;
        self.counted_again = false;
        self.part = Part::End;
        let before = self.live() && !self.dox.sentences.is_empty();
        if !before {
            self.dox.clear();
        }
    }

    fn count(&mut self, counts: Counts) {
        if !self.after_time() {
            return;
        }
        if !self.lists.is_whole() {
            self.doubted = Some(counts);
            return;
        }
        // Of several, one stood in a message: the lists tell which, or the one that is worse is believed.
        let is_better = |known: &Counts| {
            let agree = |counts| !self.lists.all.is_empty() && self.lists_agree(counts);
            match (agree(*known), agree(counts)) {
                (false, true) => true,
                (true, false) => false,
                _ => counts.failing() > known.failing(),
            }
        };
        if self.counts.as_ref().is_none_or(is_better) {
            self.counts = Some(counts);
            self.counted_again = false;
        } else {
            self.counted_again |= self.counts != Some(counts);
        }
    }

    /// Whether the lists are the whole of what the run's last lines count.
    fn is_borne_out(&self) -> bool {
        self.counts
            .or(self.doubted)
            .is_some_and(|counts| self.lists_agree(counts))
    }

    /// Writes the run into the log; nothing where there was no run.
    pub(super) fn close(mut self, log: &mut ParsedLogBuilder) -> Option<Closed> {
        if let Some(other) = self.other.take_if(|other| other.is_borne_out()) {
            // A report that is not borne out stood in a message, or one that is better than the other.
            if !self.is_borne_out() || other.failing() > self.failing() {
                return other.close(log);
            }
        }
        self.counts = self.counts.or(self.doubted);
        if !self.began() && !self.after_time() && self.dox.sentences.is_empty() {
            return None;
        }
        let before = log.recorded();
        let agrees = self.record(log);
        let any = log.recorded() > before;
        let ended = self.counts.is_some() || self.named.ended || self.pest.totals.is_some();
        if let Some((line, text)) = self.died.as_ref().filter(|_| !ended) {
            log.warn(Some(*line as u64), text.as_str());
        }
        let tests = self.counts.map_or(0, |counts| counts.tests);
        let outcome = if ended {
            if any || tests > 0 || self.named.ended {
                RunOutcome::Completed
            } else {
                RunOutcome::NothingRan
            }
        } else if self.no_tests {
            RunOutcome::NothingRan
        } else if self.died.is_some() || self.named.running().is_some() {
            RunOutcome::Crashed
        } else {
            RunOutcome::Truncated
        };
        if let Some(counts) = self.counts {
            log.add_totals(Totals {
                total: Some(counts.tests),
                passed: counts.ok.then_some(counts.tests),
                failed: Some(counts.failures),
                errors: Some(counts.errors),
                skipped: Some(counts.not_run()),
                ..Totals::default()
            });
        } else if let Some(totals) = self.pest.totals {
            log.add_totals(totals);
        } else if let Some(total) = self.named.announced.filter(|_| self.named.ended) {
            log.add_totals(Totals {
                total: Some(total),
                ..Totals::default()
            });
        }
        let agrees = agrees.map(|agrees| agrees && !self.counted_again);
        Some(Closed {
            outcome,
            consistent: agrees.filter(|_| ended),
        })
    }

    fn record(&mut self, log: &mut ParsedLogBuilder) -> Option<bool> {
        if self.pest.seen() && !self.has_header {
            return self.record_pest(log);
        }
        if self.named.form.is_some() {
            return self.record_named(log);
        }
        // Before PHPUnit 10 a testdox run has neither lists nor a progress.
        let tests = self.counts.map(|counts| counts.tests);
        let progress = self
            .expected
            .is_some_and(|expected| tests.is_none_or(|tests| expected == tests));
        let plain = self.live() && (progress || !self.lists.all.is_empty());
        if !self.dox.sentences.is_empty() && !plain {
            return self.record_dox(log);
        }
        self.record_lists(log)
    }

    fn record_pest(&mut self, log: &mut ParsedLogBuilder) -> Option<bool> {
        let mut counts = Totals::default();
        for test in &self.pest.tests {
            let id = format!("{} > {}", test.class, test.title);
            log.record(&test.class, &id, &id, test.status);
            let count = match test.status {
                TestStatus::Passed => &mut counts.passed,
                TestStatus::Failed => &mut counts.failed,
                _ => &mut counts.skipped,
            };
            *count = Some(count.unwrap_or(0).saturating_add(1));
        }
        let totals = self.pest.totals?;
        let same = |a: Option<u64>, b: Option<u64>| a.unwrap_or(0) == b.unwrap_or(0);
        Some(
            same(totals.passed, counts.passed)
                && same(totals.failed, counts.failed)
                && same(totals.skipped, counts.skipped),
        )
    }

    fn record_dox(&mut self, log: &mut ParsedLogBuilder) -> Option<bool> {
        if let Some(counts) = self.counts {
            let warned = if self.live() { 0 } else { counts.warnings };
            self.dox.settle(Declared {
                tests: counts.tests,
                failing: counts.failing().saturating_add(warned),
                skipped: counts.not_run(),
            });
        }
        let mut lost = 0_u64;
        let mut front = None;
        for sentence in &self.dox.sentences {
            let class = &self.dox.classes[sentence.class];
            let front = match &mut front {
                Some((of, front)) if *of == sentence.class => front,
                _ => &mut front.insert((sentence.class, Front::new(class))).1,
            };
            if front.is_pseudo {
                lost += 1;
                continue;
            }
            let title = self.dox.titles.text(sentence.title);
            let (qualified, name) = front.ids(title);
            log.record(&class.qualified, qualified, name, sentence.status);
        }
        if lost > 0 {
            log.warn(
                None,
                format!(
                    "{lost} tests could not be made, as their data providers or classes are invalid"
                ),
            );
        }
        let counts = self.counts?;
        let of = |status| self.dox.count(|s| s.status == status);
        let all = self.dox.sentences.len() as u64;
        let agrees = all == counts.tests
            && of(TestStatus::Skipped) == counts.not_run()
            && of(TestStatus::Failed) <= counts.failing().saturating_add(counts.warnings);
        // Since PHPUnit 10, tests that were not even prepared are counted and not told.
        (agrees || self.live() || all > counts.tests).then_some(agrees)
    }

    /// The tests of the lists with their statuses, the worst where there are several.
    fn listed(&mut self, log: &mut ParsedLogBuilder) -> BTreeMap<String, TestStatus> {
        let mut tests = BTreeMap::new();
        let mut unmade = 0;
        for list in &self.lists.all {
            let status = match list.kind {
                Kind::Error | Kind::Runner => TestStatus::Error,
                Kind::Failure => TestStatus::Failed,
                Kind::Incomplete | Kind::Skipped => TestStatus::Skipped,
                // Risky tests and those with warnings passed, but the lists name no passing tests.
                Kind::Risky | Kind::Warning => {
                    note_unmade(list, log);
                    continue;
                }
                Kind::Other => continue,
            };
            for item in &list.items {
                if is_unmade(&item.said) {
                    lose_unmade(item.line, &item.said, log);
                    unmade += 1;
                    continue;
                }
                match title::id(&item.title) {
                    Some(id) => {
                        tests
                            .entry(id.to_owned())
                            .and_modify(|known: &mut TestStatus| *known = known.worst(status))
                            .or_insert(status);
                    }
                    None => log.warn(
                        Some(item.line as u64),
                        format!("the fixture of `{}` failed: {}", item.title, item.said),
                    ),
                }
            }
        }
        self.unmade = unmade;
        tests
    }

    fn record_lists(&mut self, log: &mut ParsedLogBuilder) -> Option<bool> {
        for (id, status) in self.listed(log) {
            log.record(title::class(&id), &id, &id, status);
        }
        let counts = self.counts?;
        Some(self.lists_agree(counts))
    }

    fn lists_agree(&self, counts: Counts) -> bool {
        let of = |kinds: &[Kind]| {
            let lists = self.lists.all.iter();
            let lists = lists.filter(|list| kinds.contains(&list.kind));
            lists.map(|list| list.items.len() as u64).sum::<u64>()
        };
        let errors = of(&[Kind::Error, Kind::Runner]);
        self.lists
            .all
            .iter()
            .all(|list| list.is_complete() || list.kind == Kind::Other)
            && errors == counts.errors
            && of(&[Kind::Failure]) == counts.failures
    }

    fn record_named(&mut self, log: &mut ParsedLogBuilder) -> Option<bool> {
        self.named.settle();
        let listed = self.listed(log);
        for (class, line) in &self.named.fixtures {
            log.warn(
                Some(*line as u64),
                format!("the fixture of `{class}` failed"),
            );
        }
        for (id, status) in &listed {
            match self.named.get(id) {
                Some(at) => self.named.tests[at].status = Some(*status),
                None => self.named.add(id, Some(*status)),
            }
        }
        let skipped = listed
            .values()
            .filter(|s| **s == TestStatus::Skipped)
            .count() as u64;
        // Where skipped tests are not listed, a test that ended silently may be one of them.
        let silent = self
            .counts
            .filter(|counts| counts.not_run() <= skipped)
            .map(|_| TestStatus::Passed);
        let ended = self.counts.is_some() || self.named.ended;
        let (mut unknown, mut all) = (0_u64, 0_u64);
        for test in &self.named.tests {
            let class = title::class(&test.id);
            if matches!(
                class,
                "PHPUnit\\Framework\\ErrorTestCase" | "PHPUnit\\Framework\\WarningTestCase"
            ) {
                all += u64::from(test.seen);
                continue;
            }
            let Some(status) = test.status.or(silent) else {
                unknown += 1;
                continue;
            };
            all += u64::from(test.seen);
            for _ in 0..test.seen {
                log.record(class, &test.id, &test.id, status);
            }
        }
        if let Some((id, _)) = self.named.running().filter(|_| !ended) {
            let id = id.to_owned();
            log.record(title::class(&id), &id, &id, TestStatus::Error);
            log.still_running(id);
        }
        if unknown > 0 {
            log.warn(
                None,
                format!(
                    "{unknown} tests ended without a word on whether they passed or were skipped"
                ),
            );
            return None;
        }
        match self.counts {
            Some(counts) => {
                // Since PHPUnit 10 a class whose fixture failed counts as one, and before that a
                // data provider that is invalid.
                let more = self.named.fixtures.len().max(self.unmade) as u64;
                Some((all..=all + more).contains(&counts.tests))
            }
            None => self.named.announced.map(|announced| all <= announced),
        }
    }
}

/// What begins the ids of a class's sentences, and room for the sentences.
struct Front {
    qualified: String,
    /// Where it differs from the qualified one.
    name: Option<String>,
    lens: [usize; 2],
    is_pseudo: bool,
}

impl Front {
    fn new(class: &Class) -> Self {
        let before = |class: &str| format!("{class} > ");
        let differs = class.name != class.qualified;
        Self {
            qualified: before(&class.qualified),
            name: differs.then(|| before(&class.name)),
            lens: [&class.qualified, &class.name].map(|class| class.len() + " > ".len()),
            is_pseudo: matches!(
                class.qualified.as_str(),
                "PHPUnit\\Framework\\ErrorTestCase" | "PHPUnit\\Framework\\WarningTestCase"
            ),
        }
    }

    /// The qualified id of a sentence, and the SWE-bench id.
    fn ids(&mut self, title: &str) -> (&str, &str) {
        self.qualified.truncate(self.lens[0]);
        self.qualified.push_str(title);
        let Some(name) = &mut self.name else {
            return (&self.qualified, &self.qualified);
        };
        name.truncate(self.lens[1]);
        name.push_str(title);
        (&self.qualified, name)
    }
}

/// A data provider or a class that is invalid: the tests were never made.
fn is_unmade(said: &str) -> bool {
    said.starts_with("The data provider specified for ")
}

fn lose_unmade(line: usize, said: &str, log: &mut ParsedLogBuilder) {
    let rest = said.trim_start_matches("The data provider specified for ");
    let test = rest.split(' ').next().unwrap_or_default();
    log.lose(
        title::class(test),
        LostReason::LoadFailed,
        vec![Evidence::at("log", line + 1, said)],
    );
}

fn note_unmade(list: &List, log: &mut ParsedLogBuilder) {
    for item in &list.items {
        if is_unmade(&item.said) {
            lose_unmade(item.line, &item.said, log);
        }
    }
}

/// How many of the progress' letters the line begins with.
pub(super) fn dots(line: &[u8]) -> usize {
    let letters = line.iter().take_while(|b| b".FEWIRSDN".contains(b));
    let count = letters.count();
    let dotted = line[..count].contains(&b'.');
    if dotted || count == line.len() {
        count
    } else {
        0
    }
}
