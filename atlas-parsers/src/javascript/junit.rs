//! The JUnit reports that Vitest, Mocha and Node's test runner print to the console, as cases with
//! the suites around them: each of them means something else by a class.

use crate::xml::{Scanner, Sink, Tag};
use atlas_core::TestStatus;
use memchr::memmem;

/// One `<testcase>`.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// The names of the suites around it, without the document's own.
    pub(super) suites: Vec<String>,
    pub(super) class: String,
    pub(super) name: String,
    pub(super) file: String,
    pub(super) status: TestStatus,
    /// The line that it ends on in the document, from 1.
    pub(super) line: u64,
}

/// What the reports of a log hold.
#[derive(Clone, Debug, Default)]
pub(super) struct Cases {
    pub(super) found: Vec<Case>,
    /// Suites in suites, or with cases, by the names down to them, and whether something in them
    /// failed.
    pub(super) parents: Vec<(Vec<String>, bool)>,
    /// Failing cases and all cases as the documents' outermost elements declare them.
    pub(super) failing: Option<u64>,
    pub(super) total: Option<u64>,
    /// The last document stops in the middle.
    pub(super) cut: bool,
    open: Vec<(String, bool)>,
    case: Option<(Case, Option<TestStatus>, bool)>,
    /// Elements inside of a case.
    deep: usize,
}

impl Sink for Cases {
    const ROOTS: &'static [&'static str] = &["testsuites", "testsuite"];

    fn inside(&self) -> bool {
        !self.open.is_empty()
    }

    fn open(&mut self, tag: &Tag<'_>) {
        let text = |name: &str| tag.attribute(name).unwrap_or_default().into_owned();
        match tag.name {
            b"testsuites" | b"testsuite" if self.case.is_none() => {
                if self.open.is_empty() {
                    let number = |name: &str| tag.number(name).unwrap_or(0);
                    if let Some(tests) = tag.number("tests") {
                        let failing = number("failures").saturating_add(number("errors"));
                        let sum = |known: Option<u64>, more| known.unwrap_or(0) + more;
                        self.total = Some(sum(self.total, tests));
                        self.failing = Some(sum(self.failing, failing));
                    }
                }
                self.open.push((text("name"), false));
            }
            b"testcase" if self.case.is_none() => {
                let case = Case {
                    suites: self.path(),
                    class: text("classname"),
                    name: text("name"),
                    file: text("file"),
                    status: TestStatus::Passed,
                    line: tag.line,
                };
                self.case = Some((case, None, false));
                self.deep = 0;
            }
            name => {
                let Some((_, verdict, todo)) = &mut self.case else {
                    return;
                };
                if self.deep == 0 {
                    match name {
                        b"failure" | b"error" => *verdict = Some(TestStatus::Failed),
                        b"skipped" => {
                            *todo |= tag.attribute("type").as_deref() == Some("todo");
                            *verdict = verdict.or(Some(TestStatus::Skipped));
                        }
                        _ => {}
                    }
                }
                self.deep += 1;
            }
        }
    }

    fn close(&mut self, name: &[u8]) {
        match name {
            b"testcase" => {
                if let Some((mut case, verdict, todo)) = self.case.take() {
                    case.status = match verdict {
                        // It was to be done, and does not pass yet.
                        Some(TestStatus::Failed) if todo => TestStatus::Xfail,
                        other => other.unwrap_or(TestStatus::Passed),
                    };
                    if case.status.is_failing() {
                        self.open.iter_mut().for_each(|suite| suite.1 = true);
                    }
                    self.found.push(case);
                }
            }
            b"testsuites" | b"testsuite" if self.case.is_none() => {
                if self.open.len() > 1 {
                    let failed = self.open.last().is_some_and(|suite| suite.1);
                    self.parents.push((self.path(), failed));
                }
                self.open.pop();
            }
            _ => self.deep = self.deep.saturating_sub(1),
        }
    }

    fn cut(&mut self, _line: u64) {
        self.case = None;
        self.open.clear();
        self.cut = true;
    }
}

impl Cases {
    fn path(&self) -> Vec<String> {
        let suites = self.open.iter().skip(1);
        suites.map(|(name, _)| name.clone()).collect()
    }

    /// Whether the counts that the documents declare are borne out; nothing can be said where they
    /// declare none.
    pub(super) fn agrees(&self, others: u64) -> Option<bool> {
        let failing = |case: &&Case| case.status.is_failing();
        let failed = self.found.iter().filter(failing).count() as u64;
        self.failing.map(|declared| declared == failed + others)
    }
}

/// Finds the documents of one writer between the lines of a log.
#[derive(Clone, Debug, Default)]
pub(super) struct Reports {
    scanner: Option<Scanner<Cases>>,
}

impl Reports {
    /// Takes a line as it stands in the log; `root` is how a document of this writer begins.
    /// Returns whether the line is a document's.
    pub(super) fn line(&mut self, line: &[u8], root: &[u8]) -> bool {
        let inside = self
            .scanner
            .as_ref()
            .is_some_and(|scanner| scanner.sink.inside());
        let begin = if inside {
            Some(0)
        } else {
            memmem::find(line, root)
        };
        let Some(begin) = begin else {
            return false;
        };
        let scanner = self
            .scanner
            .get_or_insert_with(|| Scanner::new(Cases::default()));
        scanner.feed(&line[begin..]);
        scanner.feed(b"\n");
        true
    }

    /// The suites around the case that is open.
    pub(super) fn around(&self) -> Option<&[String]> {
        let (case, ..) = self.scanner.as_ref()?.sink.case.as_ref()?;
        Some(&case.suites)
    }

    /// What was found, if a document was.
    pub(super) fn finish(self) -> Option<Cases> {
        let cases = self.scanner?.finish();
        (!cases.found.is_empty() || cases.total.is_some() || cases.cut).then_some(cases)
    }
}
