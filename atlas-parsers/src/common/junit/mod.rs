//! JUnit XML: the report that pytest, Surefire, Gradle, node:test, jest-junit, gotestsum and many
//! others write.
//!
//! The log may hold several documents and any text around them. A document begins at `<testsuites`
//! or `<testsuite`; one that stops in the middle, or is no XML from some place on, keeps what stood
//! before. Entities are the five of XML and character references, so nothing can expand.
//!
//! A test's name is `classname::name`, or `name` where it has no class. The qualified id puts the
//! file in front, or, where cases name no file, the path of suites that is not already in the
//! class. A case with several verdicts has the worst of them; one named twice is recorded twice.

use crate::runner::{About, Mark, Place, Runner};
use crate::text::clean;
use atlas_core::{
    LogParser, LogReader, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals, WholeLog,
};
use memchr::memmem;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, escape};
use std::borrow::Cow;

/// The parser.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Junit;

impl LogParser for Junit {
    fn id(&self) -> &'static str {
        "junit"
    }

    fn start(&self) -> Box<dyn LogReader> {
        Box::new(WholeLog::new(parse))
    }
}

impl Runner for Junit {
    fn about(&self) -> &'static About {
        const ABOUT: About = About {
            aliases: &["junit_xml", "xunit_xml"],
            ..About::new(
                "JUnit XML documents of any writer, one or many, with any text around them",
                "unexpected passes, which most writers count as passed; duplicates that the writer merged",
            )
        };
        &ABOUT
    }

    fn mark(&self, line: &[u8], _: &[u8]) -> Option<Mark> {
        let line = line.trim_ascii_start();
        if line.first() != Some(&b'<') {
            return None;
        }
        let has = |part: &[u8]| memmem::find(line, part).is_some();
        // Other formats have a `<testsuites>` too, but no cases in it.
        if line.starts_with(b"<testcase ") || line.starts_with(b"<test") && has(b"<testcase ") {
            return Some(Mark::certain(Place::Within, "a `<testcase` element"));
        }
        if line.starts_with(b"<testsuite") || line.starts_with(b"<?xml") && has(b"<testsuite") {
            return Some(if has(b"<testcase ") {
                Mark::certain(Place::Within, "a `<testcase` element")
            } else {
                Mark::hint(Place::Start, "a `<testsuite` element")
            });
        }
        None
    }
}

/// A suite that is open.
#[derive(Debug, Default)]
struct Suite {
    name: String,
    file: String,
    totals: Totals,
    /// What its suites amount to.
    inner: Totals,
    suites: u64,
    /// Its own cases, and how many verdicts of each kind they hold.
    own: Counts,
    all: u64,
    /// Whether it is `<testsuites>`, whose attributes repeat those of its suites.
    root: bool,
}

/// Cases and their verdicts, counted as suites declare them.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    cases: u64,
    failures: u64,
    errors: u64,
    skipped: u64,
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
            skipped: Some(self.skipped),
            ..Totals::default()
        }
    }
}

/// A case that is open.
#[derive(Debug)]
struct Case {
    name: String,
    class: String,
    file: String,
    status: Option<TestStatus>,
}

/// How a document ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Whole,
    Cut,
}

/// The most broken documents that are looked into: each may be read to the end of the log.
const MAX_BROKEN: u32 = 64;

fn parse(log: &[u8]) -> ParsedLog {
    let text = String::from_utf8_lossy(log);
    let mut builder = ParsedLogBuilder::new("junit");
    let mut rest = &*text;
    let mut broken = 0;
    let mut documents = 0_u32;
    let (mut declared, mut disagrees) = (false, false);
    while let Some(at) = next_document(rest) {
        documents += 1;
        let mut document = Document::default();
        let (used, end) = document.read(&rest[at..], &mut builder);
        declared |= document.declared;
        disagrees |= document.disagrees;
        if end == End::Cut {
            broken += 1;
            let line = text[..text.len() - rest.len() + at + used]
                .matches('\n')
                .count()
                + 1;
            builder.warn(Some(line as u64), "the document stops here");
            if broken == MAX_BROKEN {
                builder.warn(None, "too many broken documents; the rest was not read");
                break;
            }
        }
        rest = &rest[(at + used.max(1)).min(rest.len())..];
        while !rest.is_empty() && !text.is_char_boundary(text.len() - rest.len()) {
            rest = &rest[1..];
        }
    }
    let outcome = if documents == 0 {
        RunOutcome::NothingRan
    } else if broken > 0 {
        RunOutcome::Truncated
    } else if builder.recorded() == 0 {
        RunOutcome::NothingRan
    } else {
        RunOutcome::Completed
    };
    if declared {
        builder.set_consistent(!disagrees);
    }
    builder.finish(outcome)
}

/// Where the next document's root element begins.
fn next_document(text: &str) -> Option<usize> {
    memmem::find_iter(text.as_bytes(), b"<testsuite").find(|at| {
        let after = &text[at + "<testsuite".len()..];
        let after = after.strip_prefix('s').unwrap_or(after);
        after.starts_with(|c: char| c.is_whitespace() || matches!(c, '>' | '/'))
    })
}

#[derive(Debug, Default)]
struct Document {
    suites: Vec<Suite>,
    case: Option<Case>,
    /// Open elements that are of no interest.
    other: usize,
    totals: Totals,
    declared: bool,
    disagrees: bool,
}

impl Document {
    /// Reads one document from the start of the text. Returns how many bytes it has.
    fn read(&mut self, text: &str, log: &mut ParsedLogBuilder) -> (usize, End) {
        let mut reader = Reader::from_str(text);
        let config = reader.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        let mut used = 0;
        let end = loop {
            let Ok(event) = reader.read_event() else {
                break End::Cut;
            };
            let before = used;
            used = usize::try_from(reader.buffer_position()).unwrap_or(text.len());
            match event {
                Event::Decl(_) if !self.suites.is_empty() => {
                    // Another document begins where this one should have gone on.
                    used = before;
                    break End::Cut;
                }
                Event::Start(element) => self.open(&element),
                Event::Empty(element) => {
                    self.open(&element);
                    if self.close(element.local_name().as_ref(), log) {
                        break End::Whole;
                    }
                }
                Event::End(element) if self.close(element.local_name().as_ref(), log) => {
                    break End::Whole;
                }
                Event::Eof => break End::Cut,
                _ => {}
            }
        };
        if end == End::Cut {
            // A case whose end is missing may have had a failure in the missing part.
            if let Some(case) = self.case.take() {
                let name = case.name();
                if case.status.is_some() {
                    self.record(&case, log);
                } else {
                    log.still_running(name);
                }
            }
            while let Some(suite) = self.suites.pop() {
                self.count(&suite);
            }
        }
        if self.declared {
            log.add_totals(self.totals);
        }
        self.disagrees |= end == End::Cut;
        (used, end)
    }

    fn open(&mut self, element: &BytesStart<'_>) {
        match element.local_name().as_ref() {
            "testsuites" | "testsuite" if self.case.is_none() => {
                if let Some(outer) = self.suites.last_mut() {
                    outer.suites += 1;
                }
                self.suites.push(suite(element));
            }
            "testcase" if self.case.is_none() => {
                self.case = Some(Case {
                    name: attribute(element, "name").unwrap_or_default(),
                    class: attribute(element, "classname")
                        .or_else(|| attribute(element, "class"))
                        .unwrap_or_default(),
                    file: attribute(element, "file").unwrap_or_default(),
                    status: match attribute(element, "status").as_deref() {
                        // Written by googletest and others for tests that did not run.
                        Some("notrun" | "skipped" | "disabled") => Some(TestStatus::Skipped),
                        _ => None,
                    },
                });
                self.other = 0;
            }
            name => {
                if let Some(case) = &mut self.case {
                    // Only direct children are verdicts.
                    if self.other == 0
                        && let Some(status) = verdict(name, element)
                    {
                        case.status = Some(case.status.map_or(status, |known| known.worst(status)));
                        if let Some(suite) = self.suites.last_mut() {
                            suite.own.verdict(status);
                        }
                    }
                    self.other += 1;
                }
            }
        }
    }

    /// Closes an element. Returns whether it was the root.
    fn close(&mut self, name: &str, log: &mut ParsedLogBuilder) -> bool {
        match name {
            "testcase" => {
                if let Some(case) = self.case.take() {
                    self.record(&case, log);
                }
            }
            "testsuites" | "testsuite" if self.case.is_none() => {
                if let Some(suite) = self.suites.pop() {
                    self.count(&suite);
                }
                return self.suites.is_empty();
            }
            _ => self.other = self.other.saturating_sub(1),
        }
        false
    }

    /// Adds up the totals of a suite.
    ///
    /// Writers disagree on what a suite with suites declares: all cases below it, or its children
    /// whatever they are. Only the first is taken as it is; for the second, its own cases are
    /// counted and its suites speak for themselves.
    fn count(&mut self, suite: &Suite) {
        let declares = suite.totals != Totals::default();
        let all = suite.all + suite.own.cases;
        let whole = suite.totals.total == Some(all);
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
            let fits = |declared: Option<u64>, counted: u64| declared.is_none_or(|d| d == counted);
            if suite.suites == 0 {
                self.disagrees |= !(fits(suite.totals.total, suite.own.cases)
                    && fits(suite.totals.failed, suite.own.failures)
                    && fits(suite.totals.errors, suite.own.errors)
                    && fits(suite.totals.skipped, suite.own.skipped));
            } else if !suite.root {
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

    fn record(&mut self, case: &Case, log: &mut ParsedLogBuilder) {
        if let Some(suite) = self.suites.last_mut() {
            suite.own.cases += 1;
        }
        let name = case.name();
        if name.is_empty() {
            log.warn(None, "a test case without a name");
            return;
        }
        let status = case.status.unwrap_or(TestStatus::Passed);
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
        let mut path: Vec<&str> = Vec::new();
        if file.is_empty() {
            let suites = self.suites.iter().filter(|suite| !suite.root);
            path.extend(suites.map(|suite| suite.name.as_str()).filter(|suite| {
                // Surefire and others repeat the class as the suite.
                !suite.is_empty() && *suite != case.class
            }));
        } else {
            path.push(file);
        }
        let module = if !file.is_empty() {
            file.to_owned()
        } else if !case.class.is_empty() {
            case.class.clone()
        } else {
            path.join("::")
        };
        path.push(&name);
        log.record(&module, &path.join("::"), &name, status);
    }
}

impl Case {
    fn name(&self) -> String {
        if self.class.is_empty() || self.name.is_empty() {
            // pytest names a module that it could not collect by an empty class or name.
            return format!("{}{}", self.class, self.name);
        }
        format!("{}::{}", self.class, self.name)
    }
}

fn suite(element: &BytesStart<'_>) -> Suite {
    let number = |name: &str| {
        attribute(element, name).and_then(|text| text.trim().replace(',', "").parse::<u64>().ok())
    };
    let skipped = number("skipped")
        .or_else(|| number("skip"))
        .or_else(|| number("disabled"));
    Suite {
        name: attribute(element, "name").unwrap_or_default(),
        file: attribute(element, "file")
            .or_else(|| attribute(element, "filepath"))
            .unwrap_or_default(),
        totals: Totals {
            total: number("tests"),
            failed: number("failures"),
            errors: number("errors"),
            skipped,
            ..Totals::default()
        },
        root: element.local_name().as_ref() == "testsuites",
        ..Suite::default()
    }
}

/// The status that a child of a case gives it.
fn verdict(name: &str, element: &BytesStart<'_>) -> Option<TestStatus> {
    Some(match name {
        "failure" => TestStatus::Failed,
        "error" => TestStatus::Error,
        "skipped" => match attribute(element, "type").as_deref() {
            Some("pytest.xfail") => TestStatus::Xfail,
            _ => TestStatus::Skipped,
        },
        _ => return None,
    })
}

/// An attribute's value with its references resolved; unknown ones stay as they are.
fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = element
        .attributes()
        .with_checks(false)
        .filter_map(Result::ok)
        .find(|attribute| attribute.key.as_ref() == name)?;
    let value = escape::unescape(&found.value).unwrap_or(Cow::Borrowed(&found.value));
    // Reports carry colours over from the console.
    Some(String::from_utf8_lossy(&clean(value.as_bytes())).into_owned())
}
