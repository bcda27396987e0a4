//! One run, from `test process starts` to `tests finished`.

use super::line;
use atlas_core::{Evidence, LostReason, ParsedLogBuilder, RunOutcome, TestStatus, Totals};
use std::collections::{HashMap, HashSet};

/// A test of a verbose run.
#[derive(Clone, Debug)]
struct Named {
    name: String,
    /// The words that ended a line of it: the last, and how many.
    word: Option<TestStatus>,
    words: u32,
}

/// A file whose results are being told.
#[derive(Clone, Debug)]
struct File {
    path: String,
    tests: u64,
    verbose: bool,
    /// No line came since the one that names the file.
    fresh: bool,
    named: Vec<Named>,
    /// Letters that may be results; other output adds to them.
    letters: u64,
}

impl File {
    /// Whether all of its results can have been told.
    fn complete(&self) -> bool {
        let told = if self.verbose && !self.named.is_empty() {
            self.named.len() as u64
        } else {
            self.letters
        };
        told >= self.tests
    }
}

/// A failure told below the results.
#[derive(Clone, Debug)]
struct Told {
    file: String,
    name: String,
    /// Its traceback ends with an assertion.
    assertion: bool,
    /// A traceback follows the name.
    traceback: bool,
    doctest: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Files,
    /// Below `____ xpassed tests ____`.
    Xpassed,
    /// Below a line of underscores: a name.
    Rule,
    /// Below a name.
    Report,
}

/// A run in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Section {
    place: Place,
    file: Option<File>,
    /// Files that were entered, and whether they failed.
    files: HashMap<String, bool>,
    /// The last of them.
    last: Option<String>,
    /// The line above was a failure's name.
    named: bool,
    /// A file's results stood on its line, so the run is not verbose.
    plain: bool,
    verbose: bool,
    /// File, name, status.
    results: Vec<(String, String, TestStatus)>,
    told: Vec<Told>,
    xpassed: Vec<(String, String)>,
    /// The last line was one of them, which may be cut off.
    xpassed_last: bool,
    not_imported: Vec<(String, Evidence)>,
    interrupted: bool,
    summary: Option<String>,
    totals: Option<Totals>,
}

impl Section {
    pub(super) fn ended(&self) -> bool {
        self.totals.is_some()
    }

    /// Whether the next run may begin here: not among a file's results or in a report.
    pub(super) fn may_begin_another(&self) -> bool {
        self.file.is_none() && self.place == Place::Files
    }

    pub(super) fn line(&mut self, line: &[u8], number: usize) {
        self.xpassed_last = false;
        if let Some(text) = &mut self.summary {
            // The counts go on where they do not fit in one line.
            text.push_str(&String::from_utf8_lossy(line));
            self.end_summary();
            return;
        }
        if let Some(text) = finished(line) {
            self.close_file();
            self.summary = Some(text);
            self.end_summary();
            return;
        }
        if self.file.is_some() {
            self.in_file(line);
            return;
        }
        if line == b" interrupted by user" || line == b"interrupted by user" {
            self.interrupted = true;
            return;
        }
        match self.place {
            Place::Rule => {
                if !line::is_rule(line) {
                    self.heading(line);
                }
            }
            Place::Xpassed if !line.is_empty() && !line::is_rule(line) => {
                if let Ok(text) = std::str::from_utf8(line)
                    && let Some((file, name)) = text.split_once(".py: ")
                    && self.files.contains_key(&format!("{file}.py"))
                {
                    self.xpassed.push((format!("{file}.py"), name.to_owned()));
                    self.xpassed_last = true;
                }
            }
            Place::Files | Place::Xpassed | Place::Report => self.between(line, number),
        }
    }

    fn between(&mut self, line: &[u8], number: usize) {
        if line::is_rule(line) {
            self.place = Place::Rule;
        } else if line.first() == Some(&b'_')
            && line::centred(line, b'_') == Some("xpassed tests")
            && self.place == Place::Files
        {
            self.place = Place::Xpassed;
        } else if self.place == Place::Report {
            if std::mem::take(&mut self.named)
                && line.starts_with(b"Traceback (most recent call last):")
                && let Some(last) = self.told.last_mut()
            {
                last.traceback = true;
            }
            if line.starts_with(b"AssertionError")
                && let Some(last) = self.told.last_mut()
            {
                last.assertion = true;
            }
        } else if self.place == Place::Files
            && let Some(file) = line::file(line)
        {
            let Some(tests) = file.tests else {
                let text = String::from_utf8_lossy(line).trim_end().to_owned();
                let proof = Evidence::at("log", number, text);
                self.not_imported.push((file.path.to_owned(), proof));
                return;
            };
            let rest = file.rest.trim_ascii();
            // A verbose run names each test on a line of its own.
            let verbose = rest.is_empty();
            self.file = Some(File {
                path: file.path.to_owned(),
                tests,
                verbose: verbose && !self.plain,
                fresh: verbose,
                named: Vec::new(),
                letters: 0,
            });
            if !verbose {
                self.plain = true;
                self.in_file(rest);
            }
        } else if self.place == Place::Files
            && let Some((_, true)) = line::end(line)
            && let Some(last) = &self.last
        {
            // An `[OK]` before was a test's own.
            self.files.insert(last.clone(), true);
        }
    }

    fn heading(&mut self, line: &[u8]) {
        self.place = Place::Report;
        self.named = true;
        let Some(text) = line::centred(line, b'_') else {
            return;
        };
        if let Some((file, name)) = line::failure(text) {
            self.told.push(Told {
                file: file.to_owned(),
                name: name.to_owned(),
                assertion: false,
                traceback: false,
                doctest: false,
            });
        } else if let Some(name) = line::doctest(text) {
            self.told.push(Told {
                file: String::new(),
                name: name.to_owned(),
                assertion: true,
                traceback: true,
                doctest: true,
            });
        }
    }

    fn in_file(&mut self, line: &[u8]) {
        let Some(file) = &mut self.file else { return };
        let (text, end) = match line::end(line) {
            Some((text, failed)) => (text, Some(failed)),
            None => (line, None),
        };
        if file.verbose {
            let fresh = std::mem::take(&mut file.fresh);
            if let Some((name, rest)) = line::test(&[text, b" "].concat()) {
                let word = line::word(rest);
                file.named.push(Named {
                    name: name.to_owned(),
                    word,
                    words: u32::from(word.is_some()),
                });
            } else if let Some(current) = file.named.last_mut()
                && let Some(word) = line::word(text)
            {
                current.word = Some(word);
                current.words = current.words.saturating_add(1);
            } else if fresh {
                // A verbose run names the first test at once.
                file.verbose = false;
            }
        }
        let letters = text.iter().filter(|byte| b".FEfXswKT".contains(byte));
        file.letters = file.letters.saturating_add(letters.count() as u64);
        if let Some(failed) = end
            && file.complete()
        {
            self.leave(failed);
        }
    }

    /// The file's results are all told.
    fn leave(&mut self, failed: bool) {
        let Some(file) = self.file.take() else { return };
        self.files.insert(file.path.clone(), failed);
        self.last = Some(file.path.clone());
        self.take_named(file);
    }

    fn close_file(&mut self) {
        if self.file.is_some() {
            self.leave(true);
        }
    }

    fn take_named(&mut self, mut file: File) {
        if !file.verbose || file.named.is_empty() {
            return;
        }
        self.verbose = true;
        if file.named.len() as u64 > file.tests {
            drop_nested(&mut file.named, file.tests);
        }
        for named in file.named {
            if let Some(status) = named.word {
                self.results.push((file.path.clone(), named.name, status));
            }
        }
    }

    fn end_summary(&mut self) {
        let Some(text) = &self.summary else { return };
        if text.trim_end_matches('=').trim_end().ends_with(" seconds") {
            self.totals = line::summary(text);
            self.summary = None;
        } else if text.len() > 1000 {
            self.summary = None;
        }
    }

    /// Records the run. Returns how it ended, and whether it agrees with its totals.
    pub(super) fn settle(mut self, log: &mut ParsedLogBuilder) -> (RunOutcome, Option<bool>) {
        if let Some(file) = self.file.take() {
            if let Some(last) = file.named.last()
                && last.word.is_none()
            {
                log.still_running(last.name.clone());
            }
            self.take_named(file);
        }
        if self.xpassed_last {
            self.xpassed.pop();
        }
        for (module, proof) in &self.not_imported {
            log.lose(module, LostReason::LoadFailed, vec![proof.clone()]);
        }
        let lost = self.not_imported.len() as u64;
        self.drop_forged(lost);
        let mut known: HashSet<(String, String)> = HashSet::new();
        let mut counts: HashMap<TestStatus, u64> = HashMap::new();
        let mut doctests: HashSet<String> = HashSet::new();
        let results = std::mem::take(&mut self.results);
        for (file, name, status) in results {
            record(log, &file, &name, status);
            *counts.entry(status).or_default() += 1;
            if name.contains('.') {
                doctests.insert(name.clone());
            }
            known.insert((file, name));
        }
        for (file, name) in std::mem::take(&mut self.xpassed) {
            if known.insert((file.clone(), name.clone())) {
                record(log, &file, &name, TestStatus::Xpass);
                *counts.entry(TestStatus::Xpass).or_default() += 1;
            }
        }
        let exceptions = self.totals.and_then(|totals| {
            let errors = totals.errors.unwrap_or(0).saturating_sub(lost);
            let all = totals.failed.unwrap_or(0).saturating_add(errors);
            (all == self.told.len() as u64).then_some(errors)
        });
        // A generator's tests share a name, so the verbose lines decide where there are any.
        for (at, told) in self.told.iter().enumerate() {
            let named = told.doctest && doctests.contains(&told.name);
            if named || self.verbose && known.contains(&(told.file.clone(), told.name.clone())) {
                continue;
            }
            let error = match exceptions {
                // Exceptions are told before failures.
                Some(exceptions) => (at as u64) < exceptions,
                None => !told.assertion,
            };
            let status = if error {
                TestStatus::Error
            } else {
                TestStatus::Failed
            };
            record(log, &told.file, &told.name, status);
            *counts.entry(status).or_default() += 1;
        }
        let agrees = self.agrees(&counts, lost);
        if let Some(totals) = self.totals {
            log.add_totals(totals);
        }
        (self.outcome(&counts, lost), agrees)
    }

    fn outcome(&self, counts: &HashMap<TestStatus, u64>, lost: u64) -> RunOutcome {
        if self.interrupted {
            return RunOutcome::Crashed;
        }
        let Some(totals) = self.totals else {
            return RunOutcome::Truncated;
        };
        let errors = totals.errors.unwrap_or(0).saturating_sub(lost);
        let ran = [
            totals.passed,
            totals.failed,
            Some(errors),
            totals.skipped,
            totals.xfailed,
            totals.xpassed,
        ]
        .iter()
        .any(|count| count.unwrap_or(0) > 0);
        if ran || !counts.is_empty() {
            RunOutcome::Completed
        } else if lost > 0 {
            RunOutcome::BuildFailed
        } else {
            RunOutcome::NothingRan
        }
    }

    fn agrees(&self, counts: &HashMap<TestStatus, u64>, lost: u64) -> Option<bool> {
        let totals = self.totals?;
        let count = |status| counts.get(&status).copied().unwrap_or(0);
        let same = |declared: Option<u64>, status| declared.unwrap_or(0) == count(status);
        let failures = totals.failed.unwrap_or(0);
        let errors = totals.errors.unwrap_or(0).saturating_sub(lost);
        if !self.verbose && self.told.is_empty() && failures.saturating_add(errors) > 0 {
            // `--tb=no` names none of them.
            return None;
        }
        let failing = failures == count(TestStatus::Failed) && errors == count(TestStatus::Error);
        let xpassed = same(totals.xpassed, TestStatus::Xpass);
        let rest = !self.verbose
            || same(totals.passed, TestStatus::Passed)
                && same(totals.skipped, TestStatus::Skipped)
                && same(totals.xfailed, TestStatus::Xfail);
        Some(failing && xpassed && rest)
    }

    /// Drops names that stood inside a message, where there are more than the summary counts.
    fn drop_forged(&mut self, lost: u64) {
        let Some(totals) = self.totals else { return };
        let errors = totals.errors.unwrap_or(0).saturating_sub(lost);
        let declared = totals.failed.unwrap_or(0).saturating_add(errors);
        let surplus = |told: &[Told]| told.len() as u64 > declared;
        if surplus(&self.told) {
            // A failure belongs to a file that was told to fail.
            let files = &self.files;
            self.told
                .retain(|told| told.doctest || files.get(&told.file) == Some(&true));
        }
        if surplus(&self.told) {
            self.told.retain(|told| told.traceback);
        }
        if surplus(&self.told) && self.verbose {
            let failed: HashSet<(&str, &str)> = self
                .results
                .iter()
                .filter(|result| result.2.is_failing())
                .map(|(file, name, _)| (&**file, &**name))
                .collect();
            self.told
                .retain(|told| told.doctest || failed.contains(&(&*told.file, &*told.name)));
        }
        if surplus(&self.told) {
            let mut seen = HashSet::new();
            self.told
                .retain(|told| seen.insert((told.file.clone(), told.name.clone())));
        }
    }
}

/// A test that prints the name and result of another has its own result behind that.
fn drop_nested(named: &mut Vec<Named>, tests: u64) {
    let mut surplus = (named.len() as u64).saturating_sub(tests);
    let mut kept: Vec<Named> = Vec::with_capacity(named.len());
    for test in named.drain(..) {
        if surplus > 0
            && test.words > 1
            && let Some(outer) = kept.last_mut()
            && outer.word.is_none()
        {
            outer.word = test.word;
            outer.words = 1;
            surplus -= 1;
            continue;
        }
        kept.push(test);
    }
    *named = kept;
}

fn record(log: &mut ParsedLogBuilder, file: &str, name: &str, status: TestStatus) {
    if name.contains('.') || file.is_empty() {
        // A doctest's path is its own.
        log.record(file, name, name, status);
    } else {
        log.record(file, &format!("{file}:{name}"), name, status);
    }
}

/// The counts behind `tests finished: `.
fn finished(line: &[u8]) -> Option<String> {
    let start = line.iter().position(|byte| !matches!(byte, b'=' | b' '))?;
    if start == 0 {
        return None;
    }
    let text = line[start..].strip_prefix(b"tests finished: ")?;
    Some(String::from_utf8_lossy(text).into_owned())
}
