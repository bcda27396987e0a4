//! The XML log, the XML report and the `JUnit` log.

use crate::cpp::junit::{self, Junit};
use crate::xml::{Kind, Tag, Tags};
use atlas_core::TestStatus;

/// What a document tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A log begins.
    Log,
    Module(String),
    /// A test of the log.
    Case {
        path: String,
        status: TestStatus,
    },
    /// A test of the report, which has the last word.
    Verdict {
        path: String,
        status: TestStatus,
    },
    /// A test that began and has no end.
    Open(String),
    /// The document came to its end.
    End,
    /// All tests that the report counts, and those that failed.
    Totals {
        passed: u64,
        failed: u64,
    },
}

#[derive(Clone, Debug, Default)]
pub(super) struct Reports {
    tags: Tags,
    root: Option<Root>,
}

#[derive(Clone, Debug)]
enum Root {
    /// `<TestLog>` or `<TestResult>`.
    Tree(Tree),
    Junit(Box<JunitLog>),
}

#[derive(Clone, Debug, Default)]
struct Tree {
    report: bool,
    /// The names of the open suites; the first is the module's.
    suites: Vec<String>,
    case: Option<(String, TestStatus)>,
}

#[derive(Clone, Debug, Default)]
struct JunitLog {
    cases: Junit,
    /// The open case tells where it failed, which it does not for expected failures.
    failed: bool,
    disabled: bool,
}

fn wanted(name: &[u8]) -> bool {
    matches!(
        name,
        b"TestLog"
            | b"TestResult"
            | b"TestSuite"
            | b"TestCase"
            | b"Error"
            | b"FatalError"
            | b"Exception"
            | b"system-err"
    ) || junit::wanted(name)
}

impl Reports {
    /// Takes a line. Returns whether a document is open before or behind it.
    pub(super) fn line(&mut self, line: &[u8], mut each: impl FnMut(Event)) -> bool {
        let inside = self.root.is_some();
        if !inside && !self.tags.inside() && memchr::memchr(b'<', line).is_none() {
            return false;
        }
        if let Some(Root::Junit(log)) = &mut self.root
            && line.starts_with(b"- reason: 'disabled'")
        {
            log.disabled = true;
        }
        let root = &mut self.root;
        let mut any = false;
        self.tags.line(line, wanted, |tag| {
            any |= root.is_some();
            take(root, tag, &mut each);
            any |= root.is_some();
        });
        inside || any
    }

    /// Whether a document has not come to its end.
    pub(super) fn open(&self) -> bool {
        self.root.is_some()
    }
}

fn take(root: &mut Option<Root>, tag: Tag<'_>, each: &mut impl FnMut(Event)) {
    match (tag.name, tag.kind) {
        (b"TestLog", Kind::Open) => {
            each(Event::Log);
            *root = Some(Root::Tree(Tree::default()));
        }
        (b"TestResult", Kind::Open) => {
            *root = Some(Root::Tree(Tree {
                report: true,
                ..Tree::default()
            }));
        }
        // Only the runner's own: it has an id, and no suites inside.
        (b"testsuite", Kind::Open) if root.is_none() && tag.raw("id").is_some() => {
            each(Event::Log);
            each(Event::Module(tag.text("name").unwrap_or_default()));
            *root = Some(Root::Junit(Box::default()));
        }
        (b"TestLog" | b"TestResult" | b"testsuite", Kind::Close) if root.is_some() => {
            if let Some(Root::Tree(Tree {
                case: Some((name, _)),
                ..
            })) = root.take()
            {
                each(Event::Open(name));
            }
            each(Event::End);
        }
        _ => match root {
            Some(Root::Tree(tree)) => tree.take(tag, each),
            Some(Root::Junit(log)) => log.take(tag, each),
            None => {}
        },
    }
}

impl Tree {
    /// Deeper suites are not told apart.
    const MAX_DEPTH: usize = 200;

    fn path(&self, name: &str) -> String {
        let mut path = String::new();
        for suite in self.suites.iter().skip(1) {
            path.push_str(suite);
            path.push('/');
        }
        path + name
    }

    fn take(&mut self, tag: Tag<'_>, each: &mut impl FnMut(Event)) {
        match (tag.name, tag.kind) {
            (b"TestSuite", Kind::Open) if self.case.is_none() => {
                let name = tag.text("name").unwrap_or_default();
                if self.suites.is_empty() {
                    each(Event::Module(name.clone()));
                    if let (Some(passed), Some(failed)) = (
                        tag.number("test_cases_passed"),
                        tag.number("test_cases_failed"),
                    ) {
                        let warned = tag.number("test_cases_passed_with_warnings").unwrap_or(0);
                        let late = tag.number("test_cases_timed_out").unwrap_or(0);
                        each(Event::Totals {
                            passed: passed.saturating_add(warned),
                            failed: failed.saturating_add(late),
                        });
                    }
                }
                if self.suites.len() < Self::MAX_DEPTH {
                    self.suites.push(name);
                }
            }
            (b"TestSuite", Kind::Close) => {
                self.suites.pop();
            }
            (b"TestCase", Kind::Open) if self.case.is_none() => {
                let path = self.path(&tag.text("name").unwrap_or_default());
                if self.report {
                    if let Some(status) = verdict(tag.raw("result")) {
                        each(Event::Verdict { path, status });
                    }
                } else {
                    self.case = Some((path, TestStatus::Passed));
                }
            }
            (b"TestCase", Kind::Empty) => {
                let path = self.path(&tag.text("name").unwrap_or_default());
                if self.report {
                    if let Some(status) = verdict(tag.raw("result")) {
                        each(Event::Verdict { path, status });
                    }
                } else if tag.is_yes("skipped") && tag.raw("reason") != Some(b"disabled") {
                    let status = TestStatus::Skipped;
                    each(Event::Case { path, status });
                }
            }
            (b"TestCase", Kind::Close) => {
                if let Some((path, status)) = self.case.take() {
                    each(Event::Case { path, status });
                }
            }
            (b"Error" | b"FatalError" | b"Exception", Kind::Open | Kind::Empty) => {
                if let Some((_, status)) = &mut self.case {
                    *status = TestStatus::Failed;
                }
            }
            _ => {}
        }
    }
}

fn verdict(result: Option<&[u8]>) -> Option<TestStatus> {
    match result? {
        b"passed" => Some(TestStatus::Passed),
        b"failed" | b"aborted" | b"timed-out" => Some(TestStatus::Failed),
        b"skipped" => Some(TestStatus::Skipped),
        _ => None,
    }
}

impl JunitLog {
    fn take(&mut self, tag: Tag<'_>, each: &mut impl FnMut(Event)) {
        if tag.name == b"system-err" {
            self.failed = true;
            return;
        }
        if tag.name == b"testcase" && !tag.is_close() {
            (self.failed, self.disabled) = (false, false);
        }
        let Some(case) = self.cases.take(tag) else {
            return;
        };
        if self.disabled && case.status == TestStatus::Skipped {
            return;
        }
        let status = match case.status {
            TestStatus::Failed | TestStatus::Error if !self.failed => TestStatus::Xfail,
            // The console calls an uncaught exception a failure, too.
            TestStatus::Error => TestStatus::Failed,
            status => status,
        };
        let mut path = case.class.replace('.', "/");
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(&case.name);
        each(Event::Case { path, status });
    }
}
