//! Suites, cases and what they amount to.

use crate::xml::{self, Documents, Sink, Tag};
use atlas_core::{
    Evidence, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals,
};

/// A suite that is open.
#[derive(Clone, Debug, Default)]
struct Suite {
    name: String,
    file: String,
    totals: Totals,
    /// Tests that are there and do not run, where the writer counts them apart.
    disabled: Option<u64>,
    /// What its suites amount to.
    inner: Totals,
    suites: u64,
    /// Its own cases, and how many verdicts of each kind they hold.
    own: Counts,
    all: u64,
    /// Cases that stand for something that did not load.
    lost: u64,
    /// Whether it is `<testsuites>`, whose attributes repeat those of its suites.
    root: bool,
    /// Whether its numbers are those of assertions.
    assertions: bool,
}

/// Cases and their verdicts, counted as suites declare them.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    cases: u64,
    failures: u64,
    errors: u64,
    skipped: u64,
    /// Cases with a failure or an error.
    failing: u64,
    /// Cases that only their state tells to be skipped.
    not_run: u64,
}

impl Counts {
    fn verdict(&mut self, status: TestStatus) {
        *match status {
            TestStatus::Failed => &mut self.failures,
            TestStatus::Error => &mut self.errors,
            _ => &mut self.skipped,
        } += 1;
    }

    fn totals(self) -> Totals {
        Totals {
            total: Some(self.cases),
            failed: Some(self.failures),
            errors: Some(self.errors),
            skipped: Some(self.skipped + self.not_run),
            ..Totals::default()
        }
    }
}

/// A case that is open.
#[derive(Clone, Debug, Default)]
struct Case {
    name: String,
    class: String,
    file: String,
    status: Option<TestStatus>,
    /// A verdict stands inside, besides what its state says.
    verdict: bool,
    /// Catch2 says that it may fail.
    may_fail: bool,
    /// It stands for a file or package that did not load.
    no_test: bool,
    line: u64,
}

/// All documents of a log.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reports {
    log: ParsedLogBuilder,
    suites: Vec<Suite>,
    case: Option<Case>,
    /// The case before: its texts' room is the next one's.
    spare: Case,
    /// Open elements that are of no interest.
    other: usize,
    totals: Totals,
    begun: u64,
    broken: u64,
    declared: bool,
    declared_any: bool,
    disagrees: bool,
    any_lost: bool,
    /// Kept for its memory.
    path: String,
}

impl Sink for Reports {
    const ROOTS: &'static [&'static str] = &["testsuites", "testsuite"];

    fn inside(&self) -> bool {
        !self.suites.is_empty()
    }

    fn open(&mut self, tag: &Tag<'_>) {
        match tag.name {
            b"testcase" if self.case.is_none() => self.open_case(tag),
            b"testsuites" | b"testsuite" => {
                if self.case.is_some() {
                    // The case never ended: another document begins here.
                    self.cut(tag.line);
                }
                if let Some(outer) = self.suites.last_mut() {
                    outer.suites += 1;
                } else {
                    self.begun += 1;
                }
                self.suites.push(suite(tag));
            }
            name => {
                if let Some(case) = &mut self.case {
                    // Only direct children are verdicts.
                    if self.other == 0 && may_fail(name, tag) {
                        case.may_fail = true;
                    } else if self.other == 0
                        && let Some(status) = verdict(name, tag)
                    {
                        case.verdict = true;
                        // pytest could not collect the module.
                        case.no_test |= name == b"error"
                            && case.class.is_empty()
                            && tag.attribute("message").as_deref() == Some("collection failure");
                        case.status = Some(case.status.map_or(status, |known| known.worst(status)));
                        if let Some(suite) = self.suites.last_mut() {
                            suite.own.verdict(status);
                        }
                    }
                    // No writer puts a case into a case: the text of this one was not escaped.
                    self.disagrees |= name == b"testcase";
                    self.other = self.other.saturating_add(1);
                }
            }
        }
    }

    fn close(&mut self, name: &[u8]) {
        match name {
            b"testcase" => {
                if let Some(case) = self.case.take() {
                    self.record(&case);
                    self.spare = case;
                }
            }
            b"testsuites" | b"testsuite" if self.case.is_none() => {
                if let Some(suite) = self.suites.pop() {
                    self.count(&suite);
                }
                if self.suites.is_empty() {
                    self.end();
                }
            }
            _ => self.other = self.other.saturating_sub(1),
        }
    }

    fn cut(&mut self, line: u64) {
        // A case whose end is missing may have had a failure in the missing part.
        if let Some(case) = self.case.take() {
            if case.status.is_some() {
                self.record(&case);
            } else {
                self.log.still_running(case.name());
            }
        }
        while let Some(suite) = self.suites.pop() {
            self.count(&suite);
        }
        self.end();
        self.broken += 1;
        self.disagrees = true;
        self.log.warn(Some(line), "the document stops here");
    }
}

impl Documents for Reports {
    fn finish(mut self) -> ParsedLog {
        let outcome = if self.begun == 0 {
            RunOutcome::NothingRan
        } else if self.broken > 0 {
            RunOutcome::Truncated
        } else if self.log.recorded() == 0 && self.any_lost {
            RunOutcome::BuildFailed
        } else if self.log.recorded() == 0 {
            RunOutcome::NothingRan
        } else {
            RunOutcome::Completed
        };
        if self.declared_any {
            self.log.set_consistent(!self.disagrees);
        }
        self.log.finish(outcome)
    }
}

impl Reports {
    fn open_case(&mut self, tag: &Tag<'_>) {
        let (mut name, mut classname, mut class) = (None, None, None);
        let (mut file, mut status, mut result) = (None, None, None);
        for (key, value) in tag.attributes() {
            // Of an attribute that stands there twice, the first counts.
            let slot = match key {
                b"name" => &mut name,
                b"classname" => &mut classname,
                b"class" => &mut class,
                b"file" => &mut file,
                b"status" => &mut status,
                b"result" => &mut result,
                _ => continue,
            };
            if slot.is_none() {
                *slot = Some(value);
            }
        }
        let text = |value: Option<_>| value.map(xml::text).unwrap_or_default();
        let (class, name) = (text(classname.or(class)), text(name));
        let (status, result) = (text(status), text(result));
        if let Some(suite) = self.suites.last_mut()
            && !suite.assertions
            && !suite.name.is_empty()
            && class
                .strip_prefix(suite.name.as_str())
                .is_some_and(|rest| rest.starts_with('.'))
            && status == "run"
        {
            // Catch2 counts assertions as tests.
            suite.assertions = true;
        }
        // Written by googletest, CTest and others for tests that did not run.
        let idle = matches!(&*status, "notrun" | "skipped" | "disabled")
            || matches!(&*result, "suppressed" | "skipped");
        // CTest has no classes and repeats the name.
        let repeated = class == name;
        let unnamed = |suite: &Suite| suite.name == name || suite.totals.total == Some(0);
        let marker = match (&*class, &*name) {
            ("Test suite failed to run", _) => true,
            ("", "TestMain") => self.suites.last().is_some_and(unnamed),
            _ => repeated && self.suites.last().is_some_and(|suite| suite.name == name),
        };
        let mut room = std::mem::take(&mut self.spare);
        for (room, text) in [
            (&mut room.class, if repeated { "" } else { &*class }),
            (&mut room.name, &*name),
            (&mut room.file, &*text(file)),
        ] {
            room.clear();
            room.push_str(text);
        }
        self.case = Some(Case {
            class: room.class,
            name: room.name,
            file: room.file,
            status: idle.then_some(TestStatus::Skipped),
            verdict: false,
            may_fail: false,
            no_test: marker,
            line: tag.line,
        });
        self.other = 0;
    }

    /// Ends a document.
    fn end(&mut self) {
        let totals = std::mem::take(&mut self.totals);
        if std::mem::take(&mut self.declared) {
            self.declared_any = true;
            self.log.add_totals(totals);
        }
    }

    /// Adds up the totals of a suite.
    ///
    /// Writers disagree on what a suite with suites declares: all cases below it, or its children
    /// whatever they are. Only the first is taken as it is; for the second, its own cases are
    /// counted and its suites speak for themselves. Some count assertions: those are not taken.
    fn count(&mut self, suite: &Suite) {
        let declares = suite.totals != Totals::default() && !suite.assertions;
        let all = suite.all + suite.own.cases;
        let whole = suite.totals.total == Some(all) || suite.totals.total == Some(all + suite.lost);
        let totals = if declares && (suite.suites == 0 || whole) {
            suite.totals
        } else {
            let mut totals = suite.inner;
            if suite.own.cases > 0 {
                totals.add(suite.own.totals());
            }
            totals
        };
        if declares {
            self.declared = true;
            let children = suite.own.cases + suite.suites;
            if suite.suites == 0 {
                self.disagrees |= !suite.agrees();
            } else if suite.root {
                // The totals of all suites, as these declare them.
                let suites = suite.inner.total.unwrap_or(0);
                let sum = suites.saturating_add(suite.own.cases);
                self.disagrees |= !(whole || fits(suite.totals.total, sum));
            } else {
                self.disagrees |= !(whole || fits(suite.totals.total, children));
            }
        }
        match self.suites.last_mut() {
            Some(outer) => {
                outer.inner.add(totals);
                outer.all += all;
            }
            None => self.totals.add(totals),
        }
    }

    /// What stands for a file, module or package that did not load is no test. gotestsum calls it
    /// `TestMain`, jest-junit `Test suite failed to run`; Vitest names the file, pytest the module.
    fn lost(&mut self, case: &Case) -> bool {
        if !case.no_test || !case.status.is_some_and(TestStatus::is_failing) {
            return false;
        }
        let suite = self.suites.last().map_or("", |suite| suite.name.as_str());
        let module = if case.name == "TestMain" {
            suite
        } else {
            &case.name
        };
        let text = format!("test case `{}` in `{suite}`", case.name());
        self.log.lose(
            module,
            LostReason::LoadFailed,
            vec![Evidence::at(
                "log",
                usize::try_from(case.line).unwrap_or(usize::MAX),
                text,
            )],
        );
        true
    }

    fn record(&mut self, case: &Case) {
        if self.lost(case) {
            self.any_lost = true;
            if let Some(suite) = self.suites.last_mut() {
                suite.lost += 1;
            }
            return;
        }
        if let Some(suite) = self.suites.last_mut() {
            suite.own.cases += 1;
            let idle = case.status == Some(TestStatus::Skipped) && !case.verdict;
            suite.own.not_run += u64::from(idle);
            suite.own.failing += u64::from(case.status.is_some_and(TestStatus::is_failing));
        }
        if case.class.is_empty() && case.name.is_empty() {
            self.log.warn(None, "a test case without a name");
            return;
        }
        let status = match case.status {
            Some(status) if case.may_fail && status.is_failing() => TestStatus::Xfail,
            Some(status) => status,
            None => TestStatus::Passed,
        };
        let inherited = self
            .suites
            .iter()
            .rev()
            .map(|suite| suite.file.as_str())
            .find(|file| !file.is_empty());
        let file = if case.file.is_empty() {
            inherited.unwrap_or_default()
        } else {
            &case.file
        };
        self.path.clear();
        if file.is_empty() {
            for suite in self.suites.iter().filter(|suite| !suite.root) {
                // Surefire and others repeat the class as the suite.
                if !suite.name.is_empty() && suite.name != case.class {
                    self.path.push_str(&suite.name);
                    self.path.push_str("::");
                }
            }
        } else {
            self.path.push_str(file);
            self.path.push_str("::");
        }
        let before = self.path.len();
        case.push_name(&mut self.path);
        let module = if !file.is_empty() {
            file
        } else if !case.class.is_empty() {
            &case.class
        } else {
            self.path[..before].trim_end_matches("::")
        };
        let name = &self.path[before..];
        self.log.record(module, &self.path, name, status);
    }
}

impl Case {
    fn name(&self) -> String {
        let mut name = String::new();
        self.push_name(&mut name);
        name
    }

    /// Adds its name to a text.
    fn push_name(&self, text: &mut String) {
        text.push_str(&self.class);
        // pytest names a module that it could not collect by an empty class or name.
        if !self.class.is_empty() && !self.name.is_empty() {
            text.push_str("::");
        }
        text.push_str(&self.name);
    }
}

/// Whether a number that was declared is the one that was counted.
fn fits(declared: Option<u64>, counted: u64) -> bool {
    declared.is_none_or(|declared| declared == counted)
}

impl Suite {
    /// Whether a suite without suites declares what it holds.
    fn agrees(&self) -> bool {
        if self.lost > 0 {
            // Some count what did not load, some do not.
            return fits(self.totals.total, self.own.cases)
                || fits(self.totals.total, self.own.cases + self.lost);
        }
        let (totals, own) = (self.totals, self.own);
        let failing = match (totals.failed, totals.errors) {
            (None, None) => true,
            // Mocha declares failures as errors; some count a case with two failures once.
            (failed, errors) => {
                let declared = failed.unwrap_or(0).saturating_add(errors.unwrap_or(0));
                let failures = own.failures + if errors.is_some() { own.errors } else { 0 };
                declared == failures || declared == own.failing
            }
        };
        // Cases that do not run are counted as skipped, as disabled, or not at all.
        let idle = own.skipped + own.not_run;
        let skipped = match (totals.skipped, self.disabled) {
            (Some(skipped), disabled) => {
                let both = skipped.saturating_add(disabled.unwrap_or(0));
                skipped == own.skipped || skipped == idle || both == idle
            }
            (None, Some(disabled)) => disabled == idle || disabled == own.not_run,
            (None, None) => true,
        };
        let cases = totals.total.is_none_or(|total| {
            let both = total.saturating_add(self.disabled.unwrap_or(0));
            total == own.cases || both == own.cases
        });
        cases && failing && skipped
    }
}

fn suite(tag: &Tag<'_>) -> Suite {
    let text = |name: &str| tag.attribute(name).map(std::borrow::Cow::into_owned);
    Suite {
        name: text("name").unwrap_or_default(),
        file: text("file")
            .or_else(|| text("filepath"))
            .unwrap_or_default(),
        totals: Totals {
            total: tag.number("tests"),
            failed: tag.number("failures"),
            errors: tag.number("errors"),
            skipped: tag.number("skipped").or_else(|| tag.number("skip")),
            ..Totals::default()
        },
        disabled: tag.number("disabled"),
        root: tag.name == b"testsuites",
        assertions: tag.attribute("doctest_version").is_some(),
        ..Suite::default()
    }
}

/// `<skipped message="TEST_CASE tagged with !mayfail"/>`: Catch2 says so of any outcome.
fn may_fail(name: &[u8], tag: &Tag<'_>) -> bool {
    name == b"skipped"
        && tag
            .attribute("message")
            .is_some_and(|why| why.starts_with("TEST_CASE tagged with !"))
}

/// The status that a child of a case gives it.
fn verdict(name: &[u8], tag: &Tag<'_>) -> Option<TestStatus> {
    Some(match name {
        b"failure" => TestStatus::Failed,
        b"error" => TestStatus::Error,
        b"skipped" => match tag.attribute("type").as_deref() {
            Some("pytest.xfail") => TestStatus::Xfail,
            _ => TestStatus::Skipped,
        },
        _ => return None,
    })
}
