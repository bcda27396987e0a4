//! The suites of a run: what was printed of each.

use super::line::{self, Counts};
use atlas_core::TestStatus;

/// A suite: a class.
#[derive(Clone, Debug, Default)]
pub(super) struct Suite {
    pub(super) class: String,
    /// Named by `Running C` alone: no formatter prints to the console.
    pub(super) summary: bool,
    pub(super) counts: Option<Counts>,
    pub(super) cases: Vec<Case>,
    /// Whether passing tests are named too.
    pub(super) plain: bool,
    /// Its process died.
    died: bool,
}

/// A test of a suite.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) id: String,
    pub(super) status: TestStatus,
    /// A stack frame below it shows that it may be in the text of a failure.
    doubtful: bool,
}

impl Suite {
    fn case(&mut self, id: String, status: TestStatus) {
        self.cases.push(Case {
            id,
            status,
            doubtful: false,
        });
    }

    /// Leaves out what a failure's message made up, where there are more tests than the suite says.
    pub(super) fn believe(&mut self) {
        let Some(counts) = self.counts else {
            return;
        };
        let class = &self.class;
        let (mut named, mut whole, mut failing) = (0_u64, 0_u64, 0_u64);
        for case in &self.cases {
            named += 1;
            whole += u64::from(case.id == *class);
            failing += u64::from(case.status.is_failing());
        }
        let too_many = named > counts.run.saturating_add(whole)
            || failing > counts.failures.saturating_add(counts.errors);
        let passed = self
            .cases
            .iter()
            .any(|case| case.status == TestStatus::Passed);
        let brief = passed && named < counts.run && self.cases.iter().any(|case| case.doubtful);
        if too_many || brief {
            self.cases.retain(|case| !case.doubtful);
            self.plain &= self
                .cases
                .iter()
                .any(|case| case.status == TestStatus::Passed);
        }
    }
}

/// All suites so far. They are kept to the end, since a test may have printed some of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Suites {
    pub(super) all: Vec<Suite>,
    /// Where captured output began: suites and cases before it.
    block: Option<(usize, usize)>,
    in_block: bool,
    /// The last line was `Testcase: x took`.
    took: bool,
    /// The case before it, if it was skipped: Ant prints an assumption that fails twice.
    skipped: Option<String>,
    /// In the text of a failure, up to a blank line.
    failure: bool,
    /// How many cases the suite had when its last failure was named.
    failed: Option<usize>,
    /// The last line was a suite's heading.
    headed: bool,
}

const BLOCK_END: &str = "------------- ---------------- ---------------";

impl Suites {
    fn last(&mut self) -> Option<&mut Suite> {
        self.all.last_mut()
    }

    pub(super) fn begin(&mut self, class: &str, summary: bool) {
        self.took = false;
        self.failure = false;
        self.failed = None;
        self.skipped = None;
        if !summary
            && let Some(last) = self.last()
            && last.summary
            && last.class == class
            && last.counts.is_none()
        {
            // The formatter's heading follows the summary's.
            last.summary = false;
            return;
        }
        self.all.push(Suite {
            class: class.to_owned(),
            summary,
            ..Suite::default()
        });
    }

    /// A line of the task. Returns whether it was the formatter's or the summary's.
    pub(super) fn line(&mut self, text: &str) -> bool {
        let headed = std::mem::take(&mut self.headed);
        if text.ends_with(BLOCK_END) {
            if self.in_block {
                self.in_block = false;
            } else if let Some((suites, cases)) = self.block {
                // The end that came before was printed by a test, and all that came after it.
                self.all.truncate(suites);
                if let Some(last) = self.last() {
                    last.cases.truncate(cases);
                }
            }
            self.took = false;
            return true;
        }
        if self.in_block {
            return false;
        }
        if text.starts_with("------------- Standard ") && text.ends_with("---") {
            self.in_block = true;
            self.took = false;
            self.block = Some((
                self.all.len(),
                self.last().map_or(0, |last| last.cases.len()),
            ));
            return true;
        }
        if std::mem::take(&mut self.took)
            && let Some(status) = line::verdict(text)
        {
            self.failure = status.is_failing();
            if let Some(last) = self.all.last_mut()
                && let Some(case) = last.cases.last_mut()
            {
                case.status = status;
                if status == TestStatus::Skipped {
                    self.skipped = Some(case.id.clone());
                } else {
                    self.failed = Some(last.cases.len());
                }
            }
            return true;
        }
        if text.is_empty() {
            self.failure = false;
            return false;
        }
        if text.starts_with("\tat ") {
            if !self.failure
                && let Some(from) = self.failed
                && let Some(last) = self.last()
            {
                for case in last
                    .cases
                    .iter_mut()
                    .skip(from)
                    .filter(|case| !case.doubtful)
                {
                    case.doubtful = true;
                }
                self.failed = self.last().map(|last| last.cases.len());
            }
            return false;
        }
        if text.starts_with("Test") {
            return self.heading(text, headed);
        }
        if let Some(class) = text.strip_prefix("Running ")
            && line::is_class(class.trim_end())
        {
            self.begin(class.trim_end(), true);
            return true;
        }
        self.glued(text)
    }

    /// Totals behind output without a line end: `some textTests run: 3, …`.
    fn glued(&mut self, text: &str) -> bool {
        if self.last().is_none_or(|last| last.counts.is_some()) || !text.ends_with(" sec") {
            return false;
        }
        let at = text.rfind("Tests run: ");
        // Ordinary sentences have blanks between words.
        let at = at.filter(|at| !text[..*at].ends_with(char::is_whitespace));
        match at.and_then(|at| line::totals(&text[at..])) {
            Some((counts, None)) => {
                if let Some(suite) = self.ending(false) {
                    suite.counts = Some(counts);
                }
                true
            }
            _ => false,
        }
    }

    /// The suite whose totals have come. One suite ends before the next begins, so it is the first
    /// that has none: a heading behind its own was printed by a test, unless its totals follow it at
    /// once (`headed`). It becomes the last.
    fn ending(&mut self, headed: bool) -> Option<&mut Suite> {
        let open = |suite: &&Suite| suite.counts.is_none() && !suite.died;
        let opened = self.all.iter().rev().take_while(open).count();
        if opened > 1 && !headed {
            let from = self.all.len() - opened;
            self.all[from..].rotate_left(1);
        }
        self.all.last_mut()
    }

    /// The process of this class died: no totals of it come.
    pub(super) fn died(&mut self, class: &str) {
        let mut last = self.all.iter_mut().rev();
        if let Some(suite) = last.find(|suite| suite.class == class) {
            suite.died = true;
        }
    }

    fn heading(&mut self, text: &str, headed: bool) -> bool {
        if let Some(class) = text.strip_prefix("Testsuite: ") {
            self.headed = true;
            self.begin(class.trim_end(), false);
            return true;
        }
        if self.failure {
            return false;
        }
        if let Some((counts, class)) = line::totals(text) {
            let suite = match class {
                Some(class) => self.all.iter_mut().rev().find(|suite| suite.class == class),
                None => self.ending(headed),
            };
            if let Some(suite) = suite {
                suite.counts = Some(counts);
            }
            return true;
        }
        match line::case(text) {
            Some(line::Case::Took(name)) => {
                let skipped = self.skipped.take();
                let Some(last) = self.last() else {
                    return false;
                };
                if last.summary || last.counts.is_none() {
                    return false;
                }
                last.plain = true;
                let id = id(&last.class, name);
                if skipped.as_deref() != Some(id.as_str()) {
                    last.case(id, TestStatus::Passed);
                }
                self.took = true;
                true
            }
            Some(line::Case::Verdict(name, status)) => {
                let Some(last) = self.all.last_mut() else {
                    return false;
                };
                if last.summary {
                    return false;
                }
                last.plain |= status == TestStatus::Passed;
                let id = id(&last.class, name);
                last.case(id, status);
                if status.is_failing() {
                    self.failed = Some(last.cases.len());
                    // The launcher's formatter has no blank line behind a failure.
                    self.failure = text.starts_with("Testcase");
                }
                true
            }
            Some(line::Case::Class(class)) => {
                self.begin(class, false);
                true
            }
            None => false,
        }
    }

    pub(super) fn class(&self) -> Option<&str> {
        self.all.last().map(|suite| suite.class.as_str())
    }
}

fn id(class: &str, name: &str) -> String {
    if name == class || class.is_empty() {
        return name.to_owned();
    }
    match line::with_class(name) {
        Some((method, class)) if class.contains('.') || method != name => {
            format!("{class}.{method}")
        }
        _ => format!("{class}.{name}"),
    }
}
