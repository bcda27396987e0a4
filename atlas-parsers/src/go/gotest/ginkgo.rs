//! Specs of Ginkgo 2 within the test that runs them, as `-ginkgo.v` prints them.
//!
//! ```text
//! Running Suite: Own Suite - /folder
//! ------------------------------
//! Calc when adding adds two numbers
//! /folder/own_suite_test.go:23
//! what the spec prints
//! • [0.000 seconds]
//! ------------------------------
//! Ran 12 of 15 Specs in 0.002 seconds
//! FAIL! -- 7 Passed | 5 Failed | 1 Flaked | 1 Pending | 2 Skipped
//! ```
//!
//! A spec may print any of these lines. Of several results between two headings the worst is the spec's, and the
//! specs count only if they make up the numbers of the suite's last line; otherwise the test that runs them
//! stands for all. What a spec prints can make it fail, but not pass.

use crate::edges::{behind_any, is_number};
use atlas_core::TestStatus;

/// What stands between two specs.
const RULE: &str = "------------------------------";

/// The most lines that a spec's title may have.
const MOST_TITLE_LINES: usize = 10;

/// Nodes of the suite itself, which are no specs.
const NODES: &[&str] = &[
    "[BeforeSuite]",
    "[AfterSuite]",
    "[SynchronizedBeforeSuite]",
    "[SynchronizedAfterSuite]",
    "[ReportBeforeSuite]",
    "[ReportAfterSuite]",
    "[DeferCleanup (Suite)]",
];

/// One suite, while it runs and after it.
#[derive(Clone, Debug)]
pub(super) struct Suite {
    /// The test that runs it.
    pub(super) test: String,
    specs: Vec<Spec>,
    /// The lines below a rule, while they may be a spec's title; `None` within a spec.
    heading: Option<Vec<String>>,
    /// A result on the line where a title would begin.
    early: Option<TestStatus>,
    /// What the suite says of itself: passed, failed.
    totals: Option<(usize, usize)>,
}

#[derive(Clone, Debug)]
struct Spec {
    title: String,
    status: Option<TestStatus>,
}

impl Spec {
    fn ends(&mut self, status: TestStatus) {
        self.status = Some(self.status.map_or(status, |known| known.worst(status)));
    }

    fn is_node(&self) -> bool {
        NODES.iter().any(|node| self.title.starts_with(node))
    }
}

impl Suite {
    /// The suite that begins with this line, run by `test`.
    pub(super) fn begins(line: &str, test: impl FnOnce() -> Option<String>) -> Option<Self> {
        line.strip_prefix("Running Suite: ")?;
        Some(Self {
            test: test()?,
            specs: Vec::new(),
            heading: None,
            early: None,
            totals: None,
        })
    }

    /// A line that the suite or one of its specs prints.
    pub(super) fn line(&mut self, line: &str) {
        if let Some(totals) = totals(line) {
            self.totals = Some(totals);
        }
        if line == RULE {
            self.no_heading();
            self.heading = Some(Vec::new());
            return;
        }
        let Some(heading) = &mut self.heading else {
            if let (Some(status), Some(spec)) = (result(line), self.specs.last_mut()) {
                spec.ends(status);
            }
            return;
        };
        if heading.is_empty()
            && self.early.is_none()
            && let Some(status) = result(line)
        {
            self.early = Some(status);
        } else if !heading.is_empty() && is_place(line) {
            let title = heading.join("\n").replacen("[It] ", "", 1);
            let status = self.early.take();
            self.heading = None;
            self.specs.push(Spec { title, status });
        } else if line.is_empty() || heading.len() == MOST_TITLE_LINES {
            self.no_heading();
        } else {
            heading.push(line.to_owned());
        }
    }

    /// What seemed to be a heading was printed by the last spec, and so a result in it is that spec's.
    fn no_heading(&mut self) {
        self.heading = None;
        if let (Some(status), Some(spec)) = (self.early.take(), self.specs.last_mut()) {
            spec.ends(status);
        }
    }

    /// The specs with their results, if they are as many as the suite says.
    pub(super) fn specs(&self) -> Option<impl Iterator<Item = (&str, TestStatus)>> {
        let specs = || self.specs.iter().filter(|spec| !spec.is_node());
        let of = |wanted: TestStatus| specs().filter(|spec| spec.status == Some(wanted)).count();
        let counted = (of(TestStatus::Passed), of(TestStatus::Failed));
        let whole = self.totals == Some(counted) && specs().all(|spec| spec.status.is_some());
        whole.then(|| specs().filter_map(|spec| Some((spec.title.as_str(), spec.status?))))
    }

    /// Whether any spec was named.
    pub(super) fn has_specs(&self) -> bool {
        !self.specs.is_empty()
    }
}

/// `• [0.000 seconds]`, `• [FAILED] [0.001 seconds]`, `S [SKIPPED] [0.000 seconds]`, `P [PENDING]`.
fn result(line: &str) -> Option<TestStatus> {
    if line == "P [PENDING]" {
        return Some(TestStatus::Skipped);
    }
    let inner = line.strip_suffix(" seconds]")?;
    // A spec may have printed no line end in front of it.
    let marks = ["• [", "↺ [", "S ["];
    let at = marks.iter().filter_map(|mark| inner.rfind(mark)).max()?;
    let (_, words) = inner[at..].split_once('[')?;
    let Some((word, time)) = words.split_once("] [") else {
        return is_time(words).then_some(TestStatus::Passed);
    };
    if !is_time(time) {
        return None;
    }
    match word {
        "FAILED" | "PANICKED" | "TIMEDOUT" | "INTERRUPTED" | "ABORTED" => Some(TestStatus::Failed),
        "SKIPPED" => Some(TestStatus::Skipped),
        "SLOW TEST" => Some(TestStatus::Passed),
        word if word.starts_with("FLAKEY TEST - ") => Some(TestStatus::Passed),
        _ => None,
    }
}

fn is_time(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// `/folder/own_suite_test.go:23`: where a spec stands.
fn is_place(line: &str) -> bool {
    line.rsplit_once(".go:")
        .is_some_and(|(file, number)| is_number(number) && !file.contains(": "))
}

/// `SUCCESS! -- 3 Passed | 0 Failed | 0 Pending | 0 Skipped`: passed and failed.
fn totals(line: &str) -> Option<(usize, usize)> {
    let counts = behind_any(line, &["SUCCESS! -- ", "FAIL! -- "])?;
    let of = |wanted: &str| {
        counts.split(" | ").find_map(|part| {
            let (number, word) = part.split_once(' ')?;
            (word == wanted).then(|| number.parse().ok())?
        })
    };
    Some((of("Passed")?, of("Failed")?))
}
