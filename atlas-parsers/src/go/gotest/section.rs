//! What one package prints: its tests, those that run, and how they end.

use super::ginkgo::Suite;
use super::line;
use atlas_core::{Evidence, Names, ParsedLogBuilder, TestStatus};
use std::ops::Range;

/// What one package has printed so far.
#[derive(Clone, Default)]
pub(super) struct Section {
    /// Announced tests in the order of the log, for those in flight at a crash, and how often each
    /// was started and has ended.
    pub(super) started: Names,
    runs: Vec<Runs>,
    /// How many of them have a result.
    ended: usize,
    /// Their numbers in the order of the first results, once that is not the order of the log.
    order: Vec<usize>,
    /// The number of the test that most likely ends next.
    next: usize,
    /// Failures of tests that were not announced: they count only in a run without `-v`.
    pub(super) unannounced: Vec<String>,
    /// Failures at the line start of tests that this section did not announce, or announced behind
    /// them.
    pub(super) strays: Vec<String>,
    /// The failing tests that the next, deeper one may belong to.
    pub(super) parents: Vec<String>,
    /// Tests announced and not ended.
    pub(super) open: usize,
    /// The runner's own `FAIL` line, which a process that dies does not print.
    pub(super) bare_fail: bool,
    pub(super) timed_out: bool,
    pub(super) death: Vec<Evidence>,
    /// Ginkgo's suites, in the order of the log.
    suites: Vec<Suite>,
}

/// What became of one test: its result stands there from the first end on.
#[derive(Clone)]
struct Runs {
    starts: u32,
    ends: u32,
    status: TestStatus,
    seen: u32,
}

impl Section {
    pub(super) fn start(&mut self, name: &str) {
        let (test, new) = self.started.add(name);
        if new {
            self.runs.push(Runs {
                starts: 1,
                ends: 0,
                status: TestStatus::Passed,
                seen: 0,
            });
        } else {
            self.runs[test].starts += 1;
        }
        self.open += 1;
    }

    /// Takes a result of an announced test; false if the name was never announced.
    pub(super) fn end(&mut self, name: &str, status: TestStatus) -> bool {
        let Some(test) = self.started.find(name) else {
            return false;
        };
        self.end_of(test, status);
        true
    }

    /// Takes a line that ends the test whose turn it is: tests end in the order of their
    /// beginning, but for those that run in parallel.
    pub(super) fn ends_next(&mut self, line: &[u8]) -> bool {
        if self.next >= self.runs.len() {
            return false;
        }
        let Some(status) = line::result_of(self.started.name(self.next), line) else {
            return false;
        };
        self.end_of(self.next, status);
        true
    }

    fn end_of(&mut self, test: usize, status: TestStatus) {
        self.next = test + 1;
        let runs = &mut self.runs[test];
        let new = runs.ends < runs.starts;
        if new {
            runs.ends += 1;
            self.open -= 1;
            if runs.ends == 1 {
                (runs.status, runs.seen) = (status, 1);
                if !self.order.is_empty() || test != self.ended {
                    if self.order.is_empty() {
                        self.order.extend(0..self.ended);
                    }
                    self.order.push(test);
                }
                self.ended += 1;
                return;
            }
        }
        // A second result for one start: one of the two was printed by the test itself.
        runs.status = runs.status.worst(status);
        runs.seen = runs.seen.saturating_add(u32::from(new));
    }

    /// Whether an announced test has a result.
    pub(super) fn has_results(&self) -> bool {
        self.ended > 0
    }

    /// The results, where the tests ended in the order of the log.
    fn ordered(&self) -> Option<impl Iterator<Item = (&str, TestStatus, u32)>> {
        self.order.is_empty().then(|| {
            let results = self.started.iter().zip(&self.runs[..self.ended]);
            results.map(|(name, runs)| (name, runs.status, runs.seen))
        })
    }

    /// The results, where the tests ended in an order of their own.
    fn turned(&self) -> impl Iterator<Item = (&str, TestStatus, u32)> {
        self.order.iter().map(|test| {
            let runs = &self.runs[*test];
            (self.started.name(*test), runs.status, runs.seen)
        })
    }

    /// A line that is no result of Go's: one of Ginkgo, within the test that runs it.
    pub(super) fn spec_line(&mut self, line: &[u8]) {
        let begins = line.starts_with(b"Running Suite: ");
        let running = self
            .suites
            .last()
            .is_some_and(|suite| self.runs_now(&suite.test));
        if !begins && !running {
            return;
        }
        let line = String::from_utf8_lossy(line);
        if running {
            if let Some(suite) = self.suites.last_mut() {
                suite.line(&line);
            }
        } else if let Some(suite) =
            Suite::begins(&line, || self.in_flight().last().map(str::to_owned))
        {
            self.suites.push(suite);
        }
    }

    fn runs_now(&self, test: &str) -> bool {
        self.started
            .find(test)
            .is_some_and(|at| self.runs[at].ends < self.runs[at].starts)
    }

    pub(super) fn verbose(&self) -> bool {
        !self.started.is_empty()
    }

    /// Whether something of a package was seen.
    pub(super) fn begun(&self) -> bool {
        self.verbose() || !self.unannounced.is_empty()
    }

    /// Whether this is a run without `-v`: nothing is announced but by a test that prints it.
    pub(super) fn is_plain(&self) -> bool {
        !self.verbose() || !self.has_results() && self.bare_fail && !self.unannounced.is_empty()
    }

    pub(super) fn in_flight(&self) -> impl Iterator<Item = &str> {
        let runs = self.started.iter().zip(&self.runs);
        runs.filter(|(_, runs)| runs.ends < runs.starts)
            .map(|(name, _)| name)
    }

    /// Adds the results to the log, and all tests to those of earlier sections.
    pub(super) fn record(&self, package: &str, log: &mut ParsedLogBuilder, earlier: &mut Earlier) {
        let before = log.results().len();
        match self.ordered() {
            Some(results) => log.record_all(package, "::", results),
            None => log.record_all(package, "::", self.turned()),
        }
        let after = log.results().len();
        if after - before == self.ended {
            earlier.add(before..after);
        } else {
            for (name, runs) in self.started.iter().zip(&self.runs) {
                if runs.ends > 0 {
                    earlier.names.add(name);
                }
            }
        }
        for suite in &self.suites {
            if let Some(specs) = suite.specs() {
                for (title, status) in specs {
                    let name = format!("{} > {title}", suite.test);
                    log.record_in(package, "::", &name, status);
                }
            } else if suite.has_specs() {
                let text = format!(
                    "the specs of `{}` do not make up its totals: they are not read",
                    suite.test
                );
                log.warn(None, text);
            }
        }
        if self.ended < self.runs.len() {
            let silent = self.started.iter().zip(&self.runs);
            for (name, _) in silent.filter(|(_, runs)| runs.ends == 0) {
                earlier.names.add(name);
            }
        }
    }

    /// An empty section with the room of this one.
    pub(super) fn emptied(mut self) -> Self {
        self.started.clear();
        self.runs.clear();
        self.order.clear();
        Self {
            started: self.started,
            runs: self.runs,
            order: self.order,
            ..Self::default()
        }
    }
}

/// Tests announced in sections that have ended: looked for when a failure comes too late, so put
/// together only then.
#[derive(Clone, Default)]
pub(super) struct Earlier {
    names: Names,
    /// The results in the log whose names are to be added.
    results: Vec<Range<usize>>,
}

impl Earlier {
    /// The results that a section added to the log.
    fn add(&mut self, new: Range<usize>) {
        match self.results.last_mut() {
            Some(last) if last.end == new.start => last.end = new.end,
            _ => self.results.push(new),
        }
    }

    pub(super) fn contains(&mut self, name: &str, log: &ParsedLogBuilder) -> bool {
        for at in self.results.drain(..).flatten() {
            self.names.add(log.results().at(at).name);
        }
        self.names.contains(name)
    }
}
