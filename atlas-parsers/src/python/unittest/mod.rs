//! The standard library's unittest, verbose or not, Python 3.8 to 3.14.
//!
//! A verbose run prints `test_x (module.Class.test_x) ... ok`; before Python 3.11 the parentheses
//! hold only the class. A test with a docstring has its first line on a second line, and the
//! status there. What a test prints stands between the dots and the status. Failures are told
//! again below, each under its own heading, and those headings decide: a test that prints `FAIL`
//! has none.
//!
//! Without `-v` no test has a line, and what looks like one was printed by a test: the line above the
//! first rule, which is empty in a verbose run, ends in a letter, or too few tests have a line. Nor do results stand behind the end of a
//! run, where standard output that was kept back may be.
//!
//! Ids are `test_x (module.Class.test_x)` as printed, without docstring and without the label of
//! a subtest; a failed subtest fails its test, a skipped one skips it.

mod grammar;
mod judge;

use crate::python::trial;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::runs::Runs;
use crate::text::clean;
use atlas_core::{
    Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals,
};
use grammar::{Heading, Name};
use judge::Test;
use std::collections::{BTreeSet, HashMap};

/// The parser.
pub(crate) static UNITTEST: Shipped = Shipped::new(
    "unittest",
    &About {
        languages: &["python"],
        aliases: &["python_unittest"],
        commands: &[&["-m", "unittest"]],
        ..About::new(
            "verbose and plain output of Python 3.8 to 3.14, subtests included",
            "passing and skipped tests without -v; in a log that stops early, which lines a test printed",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["R", "a"], "", "*", ""),
    Look(["*", "*"], "*", "kLR", ") ... "),
]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    let has = |part: &[u8]| memchr::memmem::find(line, part).is_some();
    // Twisted's trial has the same line below a longer rule.
    let ruler = !before.is_empty()
        && before.iter().all(|byte| *byte == b'-')
        && !trial::is_rule(before, b'-');
    if line.starts_with(b"Ran ") && has(b" test") && has(b" in ") && ruler {
        return Place::End.certain("unittest's `Ran N tests in`");
    }
    // All there is where the run was cut.
    let result = [b") ... ok" as &[u8], b") ... FAIL", b") ... ERROR"]
        .iter()
        .any(|end| line.ends_with(end));
    (result && grammar::test_name(line).is_some())
        .then_some(Mark::hint(Place::Within, "a `test (Class) ... ok` line"))
}

/// What is expected next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Running,
    /// After a line of `=`: perhaps a heading.
    Rule,
    /// Below a heading.
    Report,
    /// After `Ran 3 tests in 0.1s`: the verdict.
    Ran,
}

/// How a run tells of its tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A letter for each.
    Letters,
    /// A line for each.
    Lines,
}

#[derive(Clone, Debug, Default)]
struct Report {
    id: String,
    name: Option<Name>,
    load_failure: Option<Evidence>,
    module: Option<String>,
    last: Vec<Evidence>,
}

/// A log being read. Django's runner prints the same and reads with it.
#[derive(Clone, Default)]
pub(in crate::python) struct State {
    line: u64,
    phase: Phase,
    dashes: bool,
    tests: Vec<Test>,
    /// Results behind other text on their line, as output without a line end leaves them.
    glued: Vec<Test>,
    /// A name behind other text, whose docstring and status follow on the next line.
    glued_name: Option<Name>,
    current: Option<usize>,
    /// The id was printed, and its docstring and status may follow on the next line.
    docstring: bool,
    headings: Vec<(Heading, String, Option<Name>)>,
    report: Option<Report>,
    fatal: Option<RunOutcome>,
    ran: Option<u64>,
    /// An end that does not fit the reports before it; it counts if there is no other.
    held: Option<(u64, grammar::Verdict)>,
    runs: Runs,
    builder: ParsedLogBuilder,
    loaded: bool,
    /// How the run tells of its tests, by its first line that does.
    form: Option<Form>,
    /// The last byte of the last line of the run, if that was not empty.
    tail: Option<u8>,
    /// A rule was seen below the results.
    over: bool,
    /// The last byte of the line above the first such rule.
    above: Option<u8>,
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let line = clean(line);
        let line = &*line;
        let dashes = std::mem::replace(&mut self.dashes, is_rule(line, b'-'));
        if self.phase == Phase::Ran {
            if let Some(verdict) = grammar::verdict(line) {
                let totals = verdict.totals;
                let fine = totals.failed.unwrap_or(0) == 0 && totals.errors.unwrap_or(0) == 0;
                let failing = |kind: &Heading| *kind != Heading::Unexpected;
                if fine && self.headings.iter().any(|(kind, ..)| failing(kind)) {
                    // It stands in a message, or the headings did: what follows tells.
                    self.held = self.ran.take().map(|ran| (ran, verdict));
                    self.phase = Phase::Report;
                } else {
                    self.held = None;
                    self.end_run(verdict);
                }
                return;
            }
            if !line.is_empty() {
                // Something else printed `Ran 3 tests`.
                self.phase = Phase::Running;
                self.ran = None;
            }
        }
        if dashes
            && !self.test_is_open()
            && let Some(number) = grammar::ran(line)
        {
            self.end_report();
            self.end_results();
            self.ran = Some(number);
            self.phase = Phase::Ran;
            return;
        }
        match self.phase {
            Phase::Running => self.running(line),
            Phase::Rule => {
                if let Some((heading, id)) = grammar::heading(line) {
                    self.end_report();
                    self.current = None;
                    let name = grammar::test_name(id).map(|(name, _)| name);
                    let id = id_of(id);
                    self.headings.push((heading, id.clone(), name.clone()));
                    self.report = Some(Report {
                        id,
                        name,
                        ..Report::default()
                    });
                    self.phase = Phase::Report;
                } else {
                    self.phase = if self.report.is_some() {
                        Phase::Report
                    } else {
                        Phase::Running
                    };
                }
            }
            Phase::Report => {
                if is_rule(line, b'=') {
                    self.phase = Phase::Rule;
                } else {
                    self.report_line(line);
                }
            }
            Phase::Ran => {}
        }
    }

    fn finish(mut self) -> ParsedLog {
        if let Some((ran, verdict)) = self.held.take() {
            self.end_report();
            self.ran = Some(ran);
            self.end_run(verdict);
        }
        if self.runs.outcome.is_some() && self.headings.is_empty() && !self.test_is_open() {
            // Standard output that was kept until the process ended.
            if !std::mem::take(&mut self.tests).is_empty() {
                let text = "results behind the end of the run were passed over";
                self.builder.warn(Some(self.line), text);
            }
        }
        let unfinished = !self.tests.is_empty() || !self.headings.is_empty();
        if unfinished {
            self.end_report();
            let died = self.fatal.unwrap_or(RunOutcome::Truncated);
            if let Some(test) = self.current.map(|at| &self.tests[at])
                && test.words.is_empty()
            {
                self.builder.still_running(test.id.clone());
            }
            self.settle(None);
            self.runs.outcome = Some(died);
        }
        self.runs.outcome = self.runs.outcome.or(self.fatal);
        self.runs.finish(self.builder, false)
    }
}

fn is_rule(line: &[u8], rule: u8) -> bool {
    line.len() == 70 && line.iter().all(|b| *b == rule)
}

/// The id in a heading: without the label of a subtest.
fn id_of(text: &[u8]) -> String {
    let end = grammar::test_name(text).map_or(text.len(), |(_, end)| end);
    String::from_utf8_lossy(&text[..end]).into_owned()
}

impl State {
    /// Whether a run has come to its end.
    pub(in crate::python) fn ended(&self) -> bool {
        self.runs.outcome.is_some()
    }

    /// The results are over. A verbose run leaves an empty line below them; of any other, the line
    /// ends in the letter of its last test.
    fn end_results(&mut self) {
        if !self.over {
            self.over = true;
            self.above = self.tail;
        }
    }

    /// Whether a test still runs: an end that comes now is its output. Failing subtests leave their
    /// test open before Python 3.11, but then reports follow.
    fn test_is_open(&self) -> bool {
        let current = self.current.and_then(|at| self.tests.get(at));
        self.phase == Phase::Running && current.is_some_and(Test::is_open)
    }

    fn running(&mut self, line: &[u8]) {
        if is_rule(line, b'=') {
            self.end_results();
            self.phase = Phase::Rule;
            return;
        }
        if !self.dashes {
            self.tail = line.last().copied();
        }
        if self.form.is_none() && grammar::is_letters(line) {
            self.form = Some(Form::Letters);
        }
        if line.starts_with(b"Fatal Python error: ") {
            self.fatal = Some(RunOutcome::Crashed);
            return;
        }
        let docstring = std::mem::take(&mut self.docstring);
        if let Some(name) = self.glued_name.take()
            && let Some(at) = memchr::memmem::rfind(line, b" ... ")
            && let Some(status) = grammar::status(&line[at + 5..])
            && grammar::test_name(line).is_none()
        {
            self.glued.push(Test::new(name.id(), name, status));
            return;
        }
        if let Some(sub) = line.strip_prefix(b"  ")
            && self.sub_line(sub)
        {
            return;
        }
        if let Some((name, end)) = grammar::test_name(line) {
            let rest = &line[end..];
            if let Some(tail) = rest
                .strip_prefix(b" ... ")
                .or_else(|| rest.strip_suffix(b" ..."))
            {
                self.begin(&line[..end], name);
                self.status_in(tail, true);
                return;
            }
            if rest.trim_ascii().is_empty() {
                self.begin(&line[..end], name);
                self.docstring = true;
                return;
            }
        }
        if docstring && let Some(at) = memchr::memmem::rfind(line, b" ... ") {
            let tail = &line[at + 5..];
            // A docstring may hold the dots as well: the last ones are the runner's, unless
            // output follows.
            if grammar::status(tail).is_some() || tail.is_empty() {
                self.status_in(tail, true);
            } else if let Some(at) = memchr::memmem::find(line, b" ... ") {
                self.status_in(&line[at + 5..], true);
            }
            return;
        }
        if let Some((name, status)) = grammar::glued(line) {
            let test = Test::new(name.id(), name, status);
            self.glued.push(test);
        }
        self.glued_name = grammar::glued_name(line);
        if self.current.is_some() {
            self.status_in(line, false);
        }
    }

    fn begin(&mut self, id: &[u8], name: Name) {
        self.form = self.form.or(Some(Form::Lines));
        self.current = Some(self.tests.len());
        self.tests.push(Test {
            id: String::from_utf8_lossy(id).into_owned(),
            name,
            words: Vec::new(),
            loose: None,
            subs: Vec::new(),
            glued_to: None,
        });
    }

    /// Looks for a status where one may stand; `after_dots` is right behind ` ... `.
    fn status_in(&mut self, text: &[u8], after_dots: bool) {
        let mut text = text;
        // Before Python 3.11 a failing subtest prints nothing, not even the line end of its test,
        // and the next test follows on the line.
        while after_dots
            && let Some((name, end)) = grammar::test_name(text)
            && !name.full
        {
            let rest = &text[end..];
            // One with a docstring has its dots on the next line.
            self.docstring = rest.trim_ascii().is_empty();
            let tail = rest.strip_prefix(b" ... ");
            if tail.is_none() && !self.docstring {
                break;
            }
            let outer = self.current;
            self.begin(&text[..end], name);
            if let Some(test) = self.tests.last_mut() {
                test.glued_to = outer;
            }
            text = tail.unwrap_or_default();
        }
        let Some(current) = self.current.map(|at| &mut self.tests[at]) else {
            return;
        };
        if let Some(status) = grammar::status(text) {
            current.words.push(status);
        } else if let Some(status) = grammar::status_at_end(text) {
            current.loose = Some(status);
        }
    }

    /// `  test_x (m.C.test_x) [label] (i=1) ... FAIL` below its test.
    fn sub_line(&mut self, line: &[u8]) -> bool {
        let Some(test) = self.current.map(|at| &mut self.tests[at]) else {
            return false;
        };
        let Some(rest) = line.strip_prefix(test.id.as_bytes()) else {
            return false;
        };
        let Some(at) = memchr::memmem::rfind(rest, b" ... ") else {
            return false;
        };
        if let Some(status) = grammar::status(&rest[at + 5..]) {
            test.subs.push(status);
        }
        true
    }

    fn proof(&self, line: &[u8]) -> Evidence {
        Evidence::at(
            "log",
            usize::try_from(self.line).unwrap_or(usize::MAX),
            String::from_utf8_lossy(line).trim_end(),
        )
    }

    fn report_line(&mut self, line: &[u8]) {
        let proof = self.proof(line);
        let Some(report) = &mut self.report else {
            return;
        };
        if report
            .name
            .as_ref()
            .is_none_or(|name| !name.is_load_failure())
        {
            return;
        }
        if let Some(module) = line.strip_prefix(b"ImportError: Failed to import test module: ") {
            report.module = Some(String::from_utf8_lossy(module).trim().to_owned());
            report.load_failure = Some(proof);
        } else if line.starts_with(b"Traceback (most recent call last)") || line.starts_with(b"  ")
        {
            report.last.clear();
        } else if !line.is_empty() && !is_rule(line, b'-') && report.last.len() < 20 {
            report.last.push(proof);
        }
    }

    fn end_report(&mut self) {
        let Some(report) = self.report.take() else {
            return;
        };
        if let (Some(module), Some(first)) = (report.module, report.load_failure) {
            let mut lines = vec![first];
            lines.extend(report.last);
            self.builder.lose(&module, LostReason::LoadFailed, lines);
        }
        drop(report.id);
    }

    /// The run came to its end.
    fn end_run(&mut self, verdict: grammar::Verdict) {
        let ran = self.ran.take();
        let before = self.builder.recorded();
        let agrees = self.settle(Some((ran, &verdict)));
        let any = self.builder.recorded() > before || ran.is_some_and(|ran| ran > 0);
        self.runs.agree(agrees);
        let mut totals = verdict.totals;
        totals.total = ran;
        self.builder.add_totals(totals);
        let outcome = if !any {
            RunOutcome::NothingRan
        } else if self.loaded {
            RunOutcome::Completed
        } else {
            RunOutcome::BuildFailed
        };
        // A run of several is complete if each is; one that ran something outweighs an empty one.
        self.runs.outcome = Some(match (self.runs.outcome, outcome) {
            (Some(RunOutcome::Completed), _) => RunOutcome::Completed,
            (_, outcome) => outcome,
        });
        self.phase = Phase::Running;
        self.current = None;
        self.form = None;
        self.tail = None;
        self.over = false;
        self.above = None;
    }

    /// Decides every status of the run and records it. Returns whether it agrees with the verdict.
    fn settle(&mut self, end: Option<(Option<u64>, &grammar::Verdict)>) -> Option<bool> {
        let mut tests = std::mem::take(&mut self.tests);
        let mut headings = std::mem::take(&mut self.headings);
        let mut is_foreign = false;
        if let Some((Some(ran), _)) = end {
            // Without -v no test has a line of its own: those are what tests printed.
            let few = (tests.len() + self.glued.len()) as u64 <= ran / 2;
            let above = self.above.unwrap_or(b' ');
            if b".FEsxu".contains(&above) || few && above != b' ' {
                // It began with a line for each test: this end is another run's.
                is_foreign = self.form == Some(Form::Lines) && !tests.is_empty();
                tests.clear();
                self.glued.clear();
            }
        }
        let verbose = !tests.is_empty();
        if let Some((_, verdict)) = end {
            let is_earlier = |name: &Name| self.builder.status(&name.qualified()).is_some();
            let forged = judge::drop_forged(&tests, is_earlier, &mut headings, verdict.totals);
            if forged {
                let text = "headings inside a message were passed over";
                self.builder.warn(Some(self.line), text);
            }
        }
        let count = |kind: Heading| headings.iter().filter(|(k, ..)| *k == kind).count() as u64;
        let headed = end.map(|(_, verdict)| {
            let totals: Totals = verdict.totals;
            totals.failed.unwrap_or(0) == count(Heading::Fail)
                && totals.errors.unwrap_or(0) == count(Heading::Error)
        });
        let mut told: HashMap<&str, TestStatus> = HashMap::new();
        for (kind, id, _) in &headings {
            let status = kind.status();
            told.entry(id)
                .and_modify(|known| *known = known.worst(status))
                .or_insert(status);
        }
        if headed == Some(true) {
            judge::drop_glued(&mut tests, &told);
        }
        let glued = std::mem::take(&mut self.glued);
        if let Some((Some(ran), _)) = end
            && verbose
        {
            judge::reconcile(&mut tests, glued, &told, ran);
        }
        let mut known: BTreeSet<&str> = BTreeSet::new();
        let mut skipped = 0;
        for test in &tests {
            known.insert(&test.id);
            let statuses = test.words.iter().chain(&test.subs);
            skipped += statuses.filter(|s| **s == TestStatus::Skipped).count() as u64;
            let Some(status) =
                test.decide(told.get(test.id.as_str()).copied(), headed == Some(true))
            else {
                continue;
            };
            self.loaded |= !test.name.is_load_failure();
            self.builder.record(
                &test.name.module(),
                &test.name.qualified(),
                &test.id,
                status,
            );
        }
        for (kind, id, name) in &headings {
            let Some(name) = name else { continue };
            if known.contains(id.as_str()) {
                continue;
            }
            known.insert(id);
            // In a verbose run every test has its own line, but a class that could not be set up.
            if verbose && !name.is_fixture() && headed != Some(true) {
                self.builder.warn(
                    Some(self.line),
                    format!("a report names a test that did not run: {id}"),
                );
                continue;
            }
            self.loaded |= !name.is_load_failure();
            let status = told.get(id.as_str()).copied().unwrap_or(kind.status());
            self.builder
                .record(&name.module(), &name.qualified(), id, status);
        }
        let (ran, verdict) = end?;
        if !verbose {
            self.loaded |= ran.is_some_and(|ran| ran > known.len() as u64);
        }
        let mut agrees = headed? && !is_foreign;
        if verbose {
            agrees &= verdict.totals.skipped.unwrap_or(0) == skipped;
            // A class that cannot be set up is no test, though it may have a line.
            let named = tests.iter().filter(|test| !test.name.is_fixture()).count();
            let beyond = ran.map_or(0, |ran| (named as u64).abs_diff(ran));
            // Python 3.12.1 does not count what is skipped before it begins.
            if agrees && beyond > 0 && ran < Some(named as u64) && beyond <= skipped {
                return None;
            }
            agrees &= beyond == 0;
        }
        Some(agrees)
    }
}
