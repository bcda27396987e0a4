//! A session as the pytest-sugar plugin shows it, 0.9 and 1.
//!
//! Results are lines that are drawn again and again over the last one, ` a.py::Class.test_x ✓  12% █▏`,
//! with one symbol for every call of the test; without `-v` they name files only. The short summary
//! has one line for each phase of a test, so that a failed test is `PASSED` there too, twice. The
//! last list, below `Results (0.5s):`, has the counts and names what failed in its own body; what
//! only the summary calls `FAILED` was lost before or behind it.

use super::grammar;
use super::session::Ending;
use crate::edges::{behind_any, is_number};
use crate::text::{clean, lossy};
use atlas_core::{Evidence, LostReason, ParsedLogBuilder, RunOutcome, TestStatus, Totals};
use std::collections::{BTreeMap, BTreeSet};

/// Most lines of a summary, of a list and of headings that are kept.
const MOST: usize = 1_000_000;
/// Lines of an error while collecting that are kept as proof.
const PROOF: usize = 8;

/// Where in the session the log is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Running,
    Summary,
    Results,
}

/// A session in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Sugar {
    part: Part,
    /// What the drawn lines say of each test, in order, and whether each was drawn over another.
    order: Vec<String>,
    drawn: BTreeMap<String, (TestStatus, bool)>,
    over: bool,
    /// Lines of the summary: the word, and what follows it.
    summary: Vec<(Word, String)>,
    /// Tests that failed in their own body.
    called: BTreeSet<String>,
    /// Names in `ERROR at setup of name`.
    around: BTreeSet<String>,
    lost: BTreeMap<String, Vec<Evidence>>,
    /// The module whose error is being told.
    collecting: Option<String>,
    totals: Option<Totals>,
    interrupted: bool,
}

/// A word of the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    /// Of one phase of three.
    Passed,
    Failed,
    Is(TestStatus),
}

/// `Test session starts (platform: linux, Python 3.11.7, pytest 9.2.0, pytest-sugar 1.1.1)`
pub(super) fn begins(line: &[u8]) -> bool {
    line.starts_with(b"Test session starts (platform: ")
        && memchr::memmem::find(line, b", pytest-sugar ").is_some()
}

/// The title in `―― title ――`.
fn heading(line: &str) -> Option<&str> {
    let title = line.strip_prefix('―')?.trim_matches('―');
    title.strip_prefix(' ')?.strip_suffix(' ')
}

/// What the last of a test's symbols says.
fn symbol(symbols: &str) -> Option<TestStatus> {
    let status = |symbol: char| {
        Some(match symbol {
            '✓' => TestStatus::Passed,
            '⨯' | '✗' => TestStatus::Failed,
            'ₓ' => TestStatus::Error,
            's' => TestStatus::Skipped,
            'x' => TestStatus::Xfail,
            'X' => TestStatus::Xpass,
            _ => return None,
        })
    };
    // A test that ran again has an `R` in front.
    let last = symbols.chars().next_back().and_then(status)?;
    let all = symbols
        .chars()
        .all(|symbol| symbol == 'R' || status(symbol).is_some());
    all.then_some(last)
}

/// ` a.py::Class.test_x ✓          12% █▏        `: the test, and what its symbols say.
fn drawn(text: &str) -> Option<(String, TestStatus)> {
    let text = text.strip_prefix(' ')?;
    let bar = |c: char| c == ' ' || ('\u{2588}'..='\u{258f}').contains(&c);
    let text = text.trim_end_matches(bar).strip_suffix('%')?;
    let text = text.trim_end_matches(|c: char| c.is_ascii_digit());
    // A long name leaves no blank in front of the percentage.
    let (id, symbols) = text.trim_end().rsplit_once(' ')?;
    let status = symbol(symbols)?;
    grammar::file_len(id.as_bytes())?;
    let (file, name) = id.split_once("::")?;
    Some((node_id(file, name), status))
}

/// `Class.test_x[a.b]` of a file as a node id: dots join classes, but not in parameters.
fn node_id(file: &str, name: &str) -> String {
    if let Some(doctest) = name.strip_prefix("[doctest] ") {
        return format!("{file}::{doctest}");
    }
    let (path, parameters) = name.find('[').map_or((name, ""), |at| name.split_at(at));
    format!("{file}::{}{parameters}", path.replace('.', "::"))
}

/// `         - tests/test_a.py:23 TestOne.test_x`: the node id.
fn listed(line: &str) -> Option<String> {
    let (place, name) = line.trim_start().strip_prefix("- ")?.split_once(' ')?;
    let (file, number) = place.rsplit_once(':')?;
    let digits = is_number(number);
    ((digits || number == "?") && !file.is_empty()).then(|| node_id(file, name))
}

impl Sugar {
    /// Takes a line with its escape sequences. Returns whether another session begins with it.
    pub(super) fn line(&mut self, raw: &[u8], number: u64) -> bool {
        if self.part == Part::Running || memchr::memchr(b'\r', raw).is_some() {
            // All but the last text of a line was drawn over.
            for (at, part) in raw.split(|byte| *byte == b'\r').enumerate() {
                let text = clean(part);
                if let Some((id, status)) = drawn(&lossy(&text)) {
                    self.over |= at > 0;
                    self.result(id, status, at > 0);
                }
            }
        }
        let text = clean(raw);
        if self.totals.is_some()
            && (begins(&text) || grammar::titled(&text, b'=') == Some(b"test session starts"))
        {
            return true;
        }
        let text = lossy(&text);
        if self.part == Part::Results && !text.trim().is_empty() {
            if self.count(&text) {
                return false;
            }
            self.part = Part::Running;
        }
        self.told(&text, number);
        false
    }

    fn result(&mut self, id: String, status: TestStatus, over: bool) {
        self.go_on();
        if let Some(known) = self.drawn.get_mut(&id) {
            *known = match (over, known.1) {
                (true, false) => (status, true),
                (false, true) => return,
                // Drawn again, with another symbol where it ran again.
                _ => (status, over),
            };
        } else if self.order.len() < MOST {
            self.order.push(id.clone());
            self.drawn.insert(id, (status, over));
        }
    }

    /// Tests still run: a last list above was printed by one.
    fn go_on(&mut self) {
        self.totals = None;
        self.called.clear();
        self.part = Part::Running;
    }

    fn told(&mut self, text: &str, number: u64) {
        if let Some(title) = heading(text) {
            // So was a summary.
            self.go_on();
            self.summary.clear();
            self.collecting = title.strip_prefix("ERROR collecting ").map(str::to_owned);
            if let Some(module) = &self.collecting {
                self.lost.entry(module.clone()).or_default();
            }
            let around = behind_any(title, &["ERROR at setup of ", "ERROR at teardown of "]);
            if let Some(name) = around
                && self.around.len() < MOST
            {
                self.around.insert(name.to_owned());
            }
            return;
        }
        let line = text.as_bytes();
        if grammar::titled(line, b'=') == Some(b"short test summary info") {
            self.part = Part::Summary;
            self.summary.clear();
            self.collecting = None;
            return;
        }
        if let Some(time) = text.strip_prefix("Results (")
            && time.trim_end().ends_with("):")
        {
            self.part = Part::Results;
            self.called.clear();
            self.totals = Some(Totals::default());
            return;
        }
        if let Some(title) = grammar::titled(line, b'!') {
            self.interrupted |= !title.starts_with(b"stopping after");
            return;
        }
        if self.part == Part::Summary {
            self.summary_line(text);
        } else if let Some(module) = &self.collecting
            && let Some(proof) = self.lost.get_mut(module)
            && proof.len() < PROOF
            && (text.starts_with("E  ") || proof.is_empty() && !text.trim().is_empty())
        {
            if text.starts_with("E  ") && proof.first().is_some_and(|p| !p.text.starts_with('E')) {
                proof.clear();
            }
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            proof.push(Evidence::at("log", number, text.trim_end()));
        }
    }

    fn summary_line(&mut self, text: &str) {
        let Some((word, rest)) = text.split_once(' ') else {
            return;
        };
        let word = match word {
            "PASSED" => Word::Passed,
            "FAILED" => Word::Failed,
            "ERROR" => Word::Is(TestStatus::Error),
            "xfail" | "XFAIL" => Word::Is(TestStatus::Xfail),
            "XPASS" => Word::Is(TestStatus::Xpass),
            _ => return,
        };
        if self.summary.len() < MOST {
            self.summary.push((word, rest.to_owned()));
        }
    }

    /// A line below `Results`. Returns whether it is one.
    fn count(&mut self, text: &str) -> bool {
        if let Some(id) = listed(text) {
            if self.called.len() < MOST {
                self.called.insert(id);
            }
            return true;
        }
        let Some(totals) = &mut self.totals else {
            return false;
        };
        if text.starts_with("         ") && text.trim_start().starts_with("- ") {
            return true;
        }
        let Some((number, word)) = text.trim().split_once(' ') else {
            return false;
        };
        let Ok(number) = number.parse::<u64>() else {
            return false;
        };
        let place = match word {
            "passed" => &mut totals.passed,
            "failed" => &mut totals.failed,
            "error" => &mut totals.errors,
            "skipped" => &mut totals.skipped,
            "xfailed" => &mut totals.xfailed,
            "xpassed" => &mut totals.xpassed,
            "rerun" | "deselected" => return true,
            _ => return false,
        };
        *place = Some(number);
        true
    }

    /// Puts everything into the log's builder.
    pub(super) fn end(mut self, log: &mut ParsedLogBuilder) -> Ending {
        if self.over {
            // This log kept the carriage returns: what was not drawn over, a test has printed.
            self.drawn.retain(|_, (_, over)| *over);
        }
        let mut tests: BTreeMap<String, TestStatus> = BTreeMap::new();
        let mut order: Vec<String> = Vec::new();
        for id in std::mem::take(&mut self.order) {
            if let Some((status, _)) = self.drawn.get(&id) {
                tests.insert(id.clone(), *status);
                order.push(id);
            }
        }
        let counted = tests.clone();
        let errors = self.merge_summary(&mut tests, &mut order);
        for id in &self.called {
            let known = tests.get(id).copied();
            if known.is_none() {
                order.push(id.clone());
            }
            let worst = known.map_or(TestStatus::Failed, |k| k.worst(TestStatus::Failed));
            tests.insert(id.clone(), worst);
        }
        let consistent = self.agrees(&counted, &tests, errors);
        if consistent == Some(false) {
            log.warn(None, "pytest-sugar's counts do not agree with the results");
        }
        let ran = !tests.is_empty() || self.totals.is_some_and(|t| t != Totals::default());
        for id in &order {
            if let Some(status) = tests.get(id) {
                log.record(grammar::module_of(id), id, id, *status);
            }
        }
        let lost = !self.lost.is_empty();
        for (module, proof) in self.lost {
            log.record(&module, &module, &module, TestStatus::Error);
            log.lose(&module, LostReason::LoadFailed, proof);
        }
        if let Some(totals) = self.totals {
            log.add_totals(totals);
        }
        let outcome = match self.totals {
            None => RunOutcome::Truncated,
            Some(_) if !ran && lost => RunOutcome::BuildFailed,
            Some(_) if !ran => RunOutcome::NothingRan,
            Some(_) if self.interrupted && !lost => RunOutcome::Crashed,
            Some(_) => RunOutcome::Completed,
        };
        Ending {
            outcome,
            ran,
            consistent,
        }
    }

    /// Adds what the summary says; returns how many phases around tests failed in it.
    fn merge_summary(
        &self,
        tests: &mut BTreeMap<String, TestStatus>,
        order: &mut Vec<String>,
    ) -> u64 {
        let mut passes: BTreeMap<String, u32> = BTreeMap::new();
        let mut failures: BTreeMap<String, u32> = BTreeMap::new();
        let mut errors = 0;
        for (word, rest) in &self.summary {
            let known = |id: &[u8]| {
                let id = lossy(id);
                tests.contains_key(&*id) || self.called.contains(&*id) || passes.contains_key(&*id)
            };
            let id = grammar::split_message(rest.as_bytes(), known);
            if grammar::file_len(id).is_none() {
                continue;
            }
            let id = lossy(id).into_owned();
            let status = match word {
                Word::Passed => {
                    *passes.entry(id).or_default() += 1;
                    continue;
                }
                Word::Failed => {
                    let times = failures.entry(id.clone()).or_default();
                    *times += 1;
                    if self.is_own(&id, *times, tests.get(&id).copied()) {
                        TestStatus::Failed
                    } else {
                        errors += 1;
                        TestStatus::Error
                    }
                }
                Word::Is(status) => *status,
            };
            let known = tests.get(&id).copied();
            if known.is_none() {
                order.push(id.clone());
            }
            tests.insert(id, known.map_or(status, |known| known.worst(status)));
        }
        // Setup, call and teardown: only all three make a pass.
        for (id, times) in passes {
            if times >= 3 && !tests.contains_key(&id) {
                order.push(id.clone());
                tests.insert(id, TestStatus::Passed);
            }
        }
        errors
    }

    /// Whether this line of a test's failures is about its own body.
    fn is_own(&self, id: &str, times: u32, known: Option<TestStatus>) -> bool {
        if times > 1 {
            return false;
        }
        if !self.called.is_empty() {
            return self.called.contains(id);
        }
        if let Some(status) = known {
            return status == TestStatus::Failed;
        }
        let name = id.split_once("::").map_or("", |(_, name)| name);
        let (path, parameters) = name.find('[').map_or((name, ""), |at| name.split_at(at));
        let name = path.replace("::", ".") + parameters;
        !self.around.contains(&name)
    }

    /// Whether the counts are those of the lines; only failures are named without `-v`.
    fn agrees(
        &self,
        drawn: &BTreeMap<String, TestStatus>,
        tests: &BTreeMap<String, TestStatus>,
        errors: u64,
    ) -> Option<bool> {
        let totals = self.totals?;
        let declared = |count: Option<u64>| count.unwrap_or(0);
        if drawn.is_empty() {
            // Every failed phase has a line.
            let failed = self.summary.iter().filter(|line| line.0 == Word::Failed);
            let failed = (failed.count() as u64).saturating_sub(self.lost.len() as u64);
            let all = declared(totals.failed).saturating_add(declared(totals.errors));
            return (!self.summary.is_empty() || all > 0)
                .then(|| failed == all && errors >= declared(totals.errors));
        }
        let count = |status| drawn.values().filter(|known| **known == status).count() as u64;
        // The line of a test whose teardown failed is not drawn.
        let missing = tests.keys().filter(|id| !drawn.contains_key(*id)).count() as u64;
        let near = |total: Option<u64>, counted: u64| {
            declared(total) >= counted && declared(total) - counted <= missing
        };
        Some(
            near(totals.passed, count(TestStatus::Passed))
                && near(totals.failed, count(TestStatus::Failed))
                && declared(totals.skipped) == count(TestStatus::Skipped)
                && declared(totals.xfailed) == count(TestStatus::Xfail)
                && declared(totals.xpassed) == count(TestStatus::Xpass),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_lines_name_a_test_and_end_in_a_bar() {
        let read = |text: &str| drawn(text).map(|(id, status)| format!("{status} {id}"));
        for (line, expected) in [
            (" a.py::test_x ✓      1% ▏         ", "PASSED a.py::test_x"),
            (
                " a.py::A.B.test_x[1.5] ⨯  100% ██████████",
                "FAILED a.py::A::B::test_x[1.5]",
            ),
            (
                " a.py::test_x[a b] s   50% █████     ",
                "SKIPPED a.py::test_x[a b]",
            ),
            (" a.py::test_x RR✓   5%           ", "PASSED a.py::test_x"),
            (
                " a.py::test_long[1] ✓99% ▍         ",
                "PASSED a.py::test_long[1]",
            ),
        ] {
            assert_eq!(read(line).as_deref(), Some(expected), "{line}");
        }
        for line in [
            " a.py ✓✓✓     1% ▏         ",
            "a.py::test_x ✓      1% ▏         ",
            " a.py::test_x ✓",
            " a.py::test_x done      1% ▏         ",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
