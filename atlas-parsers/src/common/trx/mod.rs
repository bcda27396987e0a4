//! TRX, the report of Visual Studio's test platform: `dotnet test --logger trx`.
//!
//! A test's name is the one that the console prints; the qualified id has the class in front, where
//! the name does not begin with it. Classes are told behind the results, so these are kept until
//! then. Of a test with data rows, the rows are the tests.

use crate::runner::{About, Look, Mark, Place, Shipped};
use crate::xml::{Documents, Reader, Sink, Tag};
use atlas_core::{ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals};
use std::collections::HashMap;

/// The parser.
pub(crate) static TRX: Shipped = Shipped::new(
    "trx",
    &About {
        languages: &["csharp", "fsharp", "visual basic"],
        aliases: &["trx_xml", "vstest_trx"],
        ..About::new(
            "TRX documents of MSTest, VSTest and dotnet test, one or many, with any text around them",
            "why a run was aborted; which target framework a document belongs to",
        )
    },
    mark,
    || Box::new(Reader::<Reports>::default()),
)
.looking(&[
    Look(["<", "*"], "<", "*", ""),
]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    let line = line.trim_ascii_start();
    if line.first() != Some(&b'<') {
        return None;
    }
    let root = line.starts_with(b"<TestRun ")
        || line.starts_with(b"<?xml") && memchr::memmem::find(line, b"<TestRun ").is_some();
    if root {
        Place::Start.certain("a `<TestRun` element")
    } else if line.starts_with(b"<UnitTestResult ") {
        Place::Within.certain("a `<UnitTestResult` element")
    } else {
        // What tests printed may stand between the last result and this.
        (line == b"</TestRun>").then_some(Mark::close("a `</TestRun>`"))
    }
}

#[derive(Debug)]
struct Found {
    id: String,
    name: String,
    status: TestStatus,
    /// It only sums up its rows.
    parent: bool,
}

#[derive(Debug, Default)]
struct Reports {
    log: ParsedLogBuilder,
    inside: bool,
    begun: u64,
    broken: u64,
    aborted: bool,
    results: Vec<Found>,
    /// The results that are open, by their place.
    open: Vec<usize>,
    /// Test id -> class.
    classes: HashMap<String, String>,
    /// The definition that is open.
    definition: Option<String>,
    totals: Option<Totals>,
    disagrees: bool,
}

/// The status of an outcome. The one that is not written is the writer's default, an error.
fn status(outcome: Option<&str>) -> TestStatus {
    match outcome {
        Some("Passed" | "Warning" | "PassedButRunAborted" | "Completed") => TestStatus::Passed,
        Some("Failed") => TestStatus::Failed,
        Some("NotExecuted" | "Inconclusive" | "Pending" | "InProgress") => TestStatus::Skipped,
        _ => TestStatus::Error,
    }
}

impl Sink for Reports {
    const ROOTS: &'static [&'static str] = &["TestRun"];

    fn inside(&self) -> bool {
        self.inside
    }

    fn open(&mut self, tag: &Tag<'_>) {
        match tag.name {
            b"TestRun" => {
                if self.inside {
                    self.cut(tag.line);
                }
                self.inside = true;
                self.begun += 1;
            }
            b"UnitTestResult"
            | b"TestResult"
            | b"GenericTestResult"
            | b"WebTestResult"
            | b"TestResultAggregation"
            | b"ManualTestResult" => {
                if let Some(parent) = self.open.last().and_then(|at| self.results.get_mut(*at)) {
                    parent.parent = true;
                }
                self.open.push(self.results.len());
                self.results.push(Found {
                    id: tag.attribute("testId").unwrap_or_default().into_owned(),
                    name: tag.attribute("testName").unwrap_or_default().into_owned(),
                    status: status(tag.attribute("outcome").as_deref()),
                    parent: false,
                });
            }
            b"UnitTest" | b"GenericTest" => {
                self.definition = tag.attribute("id").map(std::borrow::Cow::into_owned);
            }
            b"TestMethod" => {
                if let (Some(id), Some(class)) =
                    (self.definition.take(), tag.attribute("className"))
                {
                    // `Name.Space.Class, Assembly, Version=…`
                    let class = class.split(',').next().unwrap_or_default().trim();
                    self.classes.insert(id, class.to_owned());
                }
            }
            b"ResultSummary" => {
                let outcome = tag.attribute("outcome");
                self.aborted |= matches!(outcome.as_deref(), Some("Aborted" | "Timeout"));
            }
            b"Counters" => {
                self.totals = Some(Totals {
                    total: tag.number("total"),
                    passed: tag.number("passed"),
                    failed: tag.number("failed"),
                    errors: tag.number("error"),
                    skipped: None,
                    ..Totals::default()
                });
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &[u8]) {
        match name {
            b"UnitTestResult"
            | b"TestResult"
            | b"GenericTestResult"
            | b"WebTestResult"
            | b"TestResultAggregation"
            | b"ManualTestResult" => {
                self.open.pop();
            }
            b"TestRun" => self.end(),
            _ => {}
        }
    }

    fn cut(&mut self, line: u64) {
        self.end();
        self.broken += 1;
        self.disagrees = true;
        self.log.warn(Some(line), "the document stops here");
    }
}

impl Reports {
    fn end(&mut self) {
        self.inside = false;
        self.open.clear();
        self.definition = None;
        let (mut rows, mut parents, mut passed) = (0_u64, 0_u64, 0_u64);
        for found in self.results.drain(..) {
            if found.name.is_empty() {
                self.log.warn(None, "a test result without a name");
                continue;
            }
            if found.parent {
                parents += 1;
                continue;
            }
            rows += 1;
            passed += u64::from(found.status == TestStatus::Passed);
            let class = self.classes.get(&found.id).map_or("", String::as_str);
            let whole = class.is_empty()
                || found
                    .name
                    .strip_prefix(class)
                    .is_some_and(|rest| rest.starts_with('.'));
            if whole {
                self.log
                    .record(class, &found.name, &found.name, found.status);
            } else {
                let qualified = [class, found.name.as_str()].join(".");
                self.log
                    .record(class, &qualified, &found.name, found.status);
            }
        }
        self.classes.clear();
        if let Some(totals) = self.totals.take() {
            // Some count the test besides its rows, some count it for them.
            let total = totals
                .total
                .is_none_or(|total| total == rows || total == rows + parents || parents > 0);
            let fits = totals
                .passed
                .is_none_or(|declared| declared == passed || parents > 0);
            self.disagrees |= !(total && fits);
            self.log.add_totals(totals);
            self.log.set_consistent(!self.disagrees);
        }
    }
}

impl Documents for Reports {
    fn finish(mut self) -> ParsedLog {
        if self.broken > 0 {
            self.log.set_consistent(false);
        }
        let outcome = if self.begun == 0 {
            RunOutcome::NothingRan
        } else if self.broken > 0 {
            RunOutcome::Truncated
        } else if self.aborted {
            RunOutcome::Crashed
        } else if self.log.recorded() == 0 {
            RunOutcome::NothingRan
        } else {
            RunOutcome::Completed
        };
        self.log.finish(outcome)
    }
}
