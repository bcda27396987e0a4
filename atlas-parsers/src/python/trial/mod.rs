//! Twisted's trial: the reporters verbose (the tree), bwverbose, timing, text and summary.
//!
//! The tree prints module, class and method, each in a line of its own where it is another than before, and
//! behind the method's dots the word `[OK]`, set to the right edge. What a test prints stands in between, and does
//! not move the word: how many blanks are in front of it follows from the method alone. So while a test runs,
//! a line that is no such end is its output, even if it has the form of a result. Tests that did not pass
//! are listed again below with their whole names, and the totals say how many there are of each kind. The
//! lists decide where they fit the totals, the lines where only those do, for a message may hold what looks like a list.
//!
//! The totals end the run if they fit what was read; others count only if none follow.
//!
//! Ids are those of unittest since Python 3.11, `test_x (pkg.mod.Class.test_x)`, so that a test has
//! the same name under both runners. A module that does not load has an error under its own name.

mod grammar;
mod judge;

pub(in crate::python) use grammar::is_rule;

use crate::python::module_of;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::runs::Runs;
use crate::text::clean;
use atlas_core::{
    Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals,
};
use grammar::{Begin, LISTED};
use judge::{Entry, Judgement, Test};

/// The parser.
pub(crate) static TRIAL: Shipped = Shipped::new(
    "trial",
    &About {
        languages: &["python"],
        aliases: &["twisted_trial"],
        commands: &[&["trial"], &["-m", "twisted.trial"]],
        ..About::new(
            "the reporters verbose, bwverbose, timing, text and summary of Twisted 26, with one and with several workers",
            "passing tests of text; all tests of summary; in a log that stops early, which lines of bwverbose a test \
             printed; output of --reporter=subunit",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["RPF", "aA"], "", "*", ""),
    Look(["*", "*"], "*", "]", "[OK]"),
    Look(["*", "*"], "*", "]", "[FAIL]"),
    Look(["*", "*"], "*", "]", "[FAILURE]"),
    Look(["*", "*"], "*", "]", "RROR]"),
    Look(["*", "*"], "*", "]", "[SKIPPED]"),
    Look(["*", "*"], "*", "]", "[TODO]"),
    Look(["*", "*"], "*", "]", "SUCCESS!?!]"),
]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    let text = std::str::from_utf8(line).ok()?;
    match line.first()? {
        b'R' => (is_rule(before, b'-') && grammar::ran(text).is_some())
            .then_some(Mark::certain(Place::End, "trial's `Ran N tests in`")),
        b'P' | b'F' if line.starts_with(b"PA") || line.starts_with(b"FA") => {
            grammar::is_own_summary(text).then_some(Mark::certain(Place::End, "trial's totals"))
        }
        _ if line.ends_with(b"]") => {
            let begin = Begin::of(text)?;
            let own = begin.in_columns() || begin.name.contains('.');
            // All there is where the run was cut.
            (own && begin.is_complete())
                .then_some(Mark::hint(Place::Within, "a `test ... [OK]` line"))
        }
        _ => None,
    }
}

/// What is expected next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Phase {
    /// Results, or below the head of a list's entry, its text.
    #[default]
    Reading,
    /// After a line of `=`: perhaps such a head.
    Rule,
    /// After a line of `-`.
    Dashes,
    /// After `Ran 3 tests in 0.1s`, or the empty line in its place where none ran.
    Ran(Option<u64>),
}

/// The text of a list's entry: a reason or traceback, an empty line, and the tests to which it belongs.
#[derive(Clone, Debug)]
struct Section {
    /// Which of [`LISTED`].
    kind: usize,
    lines: u64,
    /// Whether the traceback begins in trial's loader.
    loader: bool,
    /// The lines behind the last empty one.
    paths: Vec<String>,
    /// The last line that is not empty, and the one before the last empty line.
    last: Option<Evidence>,
    reason: Option<Evidence>,
}

impl Section {
    fn text(&mut self, line: &str, number: usize) {
        self.lines += 1;
        if line.is_empty() {
            self.paths.clear();
            if self.last.is_some() {
                self.reason = self.last.take();
            }
            return;
        }
        if self.lines == 2 {
            self.loader = grammar::is_loader(line);
        }
        self.last = Some(Evidence::at("log", number, line));
        if !line.starts_with(' ') {
            self.paths.push(line.to_owned());
        }
    }
}

/// The test that runs.
#[derive(Clone, Debug)]
struct Current {
    /// Its place among the tests.
    at: usize,
    /// In the tree, the columns that its begin fills.
    width: Option<usize>,
}

/// One run, from its first line to its totals.
#[derive(Clone, Debug, Default)]
struct Run {
    tests: Vec<Test>,
    entries: Vec<Entry>,
    /// Modules that do not load, with the last line of their traceback.
    lost: Vec<(String, Option<Evidence>)>,
    current: Option<Current>,
    /// Whether the tests are in columns, once there is one.
    tree: Option<bool>,
    /// Workers run the tests: none of their output is shown, and a result may be missing.
    workers: bool,
    module: String,
    class: String,
    /// Names that may be those of a module and a class, if a test follows.
    pending: [Option<String>; 2],
    section: Option<Section>,
    /// Totals that do not fit what stands above them; they count if there are no others.
    held: Option<Totals>,
    /// How many totals did not fit.
    tries: u32,
    /// The last byte above the lists or totals.
    tail: u8,
    /// Without names every test is a letter: how many there are at least and at most.
    letters: Option<[u64; 2]>,
}

impl Run {
    fn is_open(&self) -> bool {
        let current = self.current.as_ref().map(|current| &self.tests[current.at]);
        current.is_some_and(|test| test.words.is_empty())
    }

    fn judge(&self, totals: &Totals) -> Judgement {
        Judgement::of(&self.tests, &self.entries, totals)
    }

    /// Takes the entry that ended.
    fn close(&mut self) {
        let Some(section) = self.section.take() else {
            return;
        };
        let status = LISTED[section.kind].1;
        for path in section.paths {
            if section.loader && status == TestStatus::Error {
                self.lost.push((path.clone(), section.reason.clone()));
            }
            self.entries.push(Entry { status, path });
        }
    }
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    number: usize,
    phase: Phase,
    run: Run,
    /// Of the runs that ended, the best.
    runs: Runs,
}

impl State {
    fn read(&mut self, line: &str) {
        if self.run.section.is_some() {
            if let Some(section) = &mut self.run.section {
                section.text(line, self.number);
            }
            return;
        }
        let mut rest = Some(line);
        while let Some(line) = rest {
            rest = self.result(line);
        }
    }

    /// A line above the lists. Returns what is a line of its own at its end.
    fn result<'a>(&mut self, line: &'a str) -> Option<&'a str> {
        if line.starts_with("Test Pass ") || self.run.tests.is_empty() && grammar::running(line) {
            self.give_up();
            self.run.workers = grammar::running(line);
            return None;
        }
        let run = &mut self.run;
        if let Some(last) = line.bytes().last() {
            run.tail = last;
            let (front, all) = grammar::letters(line);
            // What a test prints has such letters as well, but the first line begins with the runner's.
            let [least, most] = run.letters.unwrap_or([front, 0]);
            run.letters = Some([least, most.saturating_add(all)]);
        }
        let begin = Begin::of(line).filter(|begin| {
            let indented = begin.in_columns();
            let dotted = begin.name.contains('.');
            let same = run
                .tree
                .is_none_or(|tree| tree == indented || !indented && !dotted);
            let below = !run.module.is_empty() || run.pending.iter().any(Option::is_some);
            same && (begin.is_complete() || begin.is_plain() && (!indented || below))
        });
        if run.is_open() && !run.workers {
            if begin.is_none_or(|begin| !begin.is_complete()) {
                self.end_of_test(line);
            }
            return None;
        }
        if let Some(begin) = begin {
            return self.begin(&begin);
        }
        if let Some((indent, name)) = grammar::header(line) {
            let name = Some(name.to_owned());
            run.pending = match indent {
                0 => [name, None],
                _ => [run.pending[0].take(), name],
            };
            return None;
        }
        run.pending = [None, None];
        self.end_of_test(line);
        None
    }

    /// Adds the words at the end of a line to the test that runs or ran last.
    fn end_of_test(&mut self, line: &str) {
        let Some(current) = &self.run.current else {
            return;
        };
        let words = grammar::ends(line, current.width);
        self.run.tests[current.at].words.extend(words);
    }

    /// A test begins. Returns what is a line of its own behind its dots.
    fn begin<'a>(&mut self, begin: &Begin<'a>) -> Option<&'a str> {
        let run = &mut self.run;
        let [module, class] = std::mem::take(&mut run.pending);
        if begin.in_columns() {
            // A class of the same name as that of the module before has no line.
            run.module = module.unwrap_or_else(|| std::mem::take(&mut run.module));
            run.class = class.unwrap_or_else(|| std::mem::take(&mut run.class));
        }
        let mut path = String::new();
        if begin.indent >= 2 && !run.module.is_empty() {
            path = format!("{}.", run.module);
        }
        if begin.indent >= 4 && !run.class.is_empty() {
            path = format!("{path}{}.", run.class);
        }
        path.push_str(begin.name);
        if begin.in_columns() || begin.name.contains('.') {
            run.tree = Some(begin.in_columns());
        }
        run.current = Some(Current {
            at: run.tests.len(),
            width: begin.in_columns().then_some(begin.width),
        });
        run.tests.push(Test {
            path,
            words: Vec::new(),
        });
        if run.workers && !begin.rest.is_empty() && !begin.is_complete() {
            // This test has no result, and the next line follows at once.
            return Some(begin.rest);
        }
        // What has the form of a result was printed, and the word is still to come.
        if Begin::of(begin.rest).is_none_or(|inner| !inner.is_complete()) {
            self.end_of_test(begin.rest);
        }
        None
    }

    /// The totals of a run: its end, if they fit.
    fn end(&mut self, totals: Totals, names: bool) {
        /// Each try reads the whole run again: after so many, the last totals of the log decide.
        const TRIES: u32 = 64;
        if !names {
            // It names no test: what looks like a line of one was printed.
            self.run = Run::default();
            self.finish_run(totals, None);
            return;
        }
        self.run.tries += 1;
        if self.run.tries > TRIES {
            self.run.held = Some(totals);
            return;
        }
        // The last entry ends here, if this is the end.
        let mut run = self.run.clone();
        run.close();
        let mut judgement = run.judge(&totals);
        if !judgement.agrees && b".EFST!".contains(&run.tail) {
            // Without names every test is a letter: what looks like a line of one was printed.
            run.tests.clear();
            judgement = run.judge(&totals);
        }
        if run.tests.is_empty() {
            let [least, most] = run.letters.unwrap_or_default();
            judgement.agrees &= (least..=most).contains(&judge::results(&totals));
        }
        if judgement.agrees {
            self.run = run;
            self.finish_run(totals, Some(judgement));
        } else {
            self.run.held = Some(totals);
        }
    }

    /// Ends a run that has no totals which fit.
    fn give_up(&mut self) {
        self.run.close();
        if let Some(totals) = self.run.held.take() {
            let judgement = self.run.judge(&totals);
            self.finish_run(totals, Some(judgement));
        } else if !self.run.tests.is_empty() || !self.run.entries.is_empty() {
            if self.run.is_open()
                && let Some(test) = self.run.tests.last()
            {
                self.log.still_running(names(&test.path).1);
            }
            self.record(Judgement::default());
            self.runs.outcome = Some(RunOutcome::Truncated);
            self.run = Run::default();
        }
    }

    fn finish_run(&mut self, totals: Totals, judgement: Option<Judgement>) {
        let any = totals.total.unwrap_or(0) > 0;
        let lost = self.run.lost.len() as u64;
        let loaded = totals.total.is_some_and(|total| total > lost);
        self.log.add_totals(totals);
        self.record(judgement.unwrap_or_default());
        self.runs.agree(judgement.map(|judgement| judgement.agrees));
        let outcome = if !any {
            RunOutcome::NothingRan
        } else if loaded {
            RunOutcome::Completed
        } else {
            RunOutcome::BuildFailed
        };
        // One that ran something outweighs an empty one, and one that was cut outweighs both.
        self.runs.outcome = Some(match self.runs.outcome {
            Some(known @ (RunOutcome::Truncated | RunOutcome::Completed)) => known,
            _ => outcome,
        });
        self.run = Run::default();
    }

    fn record(&mut self, judgement: Judgement) {
        if judgement.agrees {
            for test in self.run.tests.iter().filter(|test| test.words.is_empty()) {
                let text = format!("the runner tells no result of {}", names(&test.path).1);
                self.log.warn(None, text);
            }
        }
        for (path, status) in judgement.statuses(&self.run.tests, &self.run.entries) {
            let (module, id) = names(path);
            let is_lost = self.run.lost.iter().any(|(lost, _)| lost == path);
            let module = if is_lost { path } else { module };
            self.log.record(module, path, &id, status);
        }
        for (path, reason) in std::mem::take(&mut self.run.lost) {
            let proof = reason.into_iter().collect();
            self.log.lose(&path, LostReason::LoadFailed, proof);
        }
    }
}

/// The module and the id of a test.
fn names(path: &str) -> (&str, String) {
    match path.rsplit_once('.') {
        Some((class, method)) => (module_of(class), format!("{method} ({path})")),
        None => (path, path.to_owned()),
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.number += 1;
        let line = clean(line);
        let text = String::from_utf8_lossy(&line);
        let text = &*text;
        match std::mem::replace(&mut self.phase, Phase::Reading) {
            Phase::Rule => {
                let kind = LISTED.iter().position(|(word, _)| *word == text);
                let last = self.run.section.as_ref().map_or(0, |section| section.kind);
                if let Some(kind) = kind.filter(|kind| *kind >= last) {
                    self.run.close();
                    self.run.section = Some(Section {
                        kind,
                        lines: 0,
                        loader: false,
                        paths: Vec::new(),
                        last: None,
                        reason: None,
                    });
                    return;
                }
            }
            Phase::Dashes => {
                let ran = grammar::ran(text);
                if ran.is_some() || text.is_empty() {
                    self.phase = Phase::Ran(ran);
                    // The tests of an entry are known only once the totals are.
                    return;
                }
            }
            Phase::Ran(ran) if text.is_empty() && ran.is_some() => {
                self.phase = Phase::Ran(ran);
                return;
            }
            Phase::Ran(ran) => {
                if let Some(mut totals) = grammar::summary(text) {
                    totals.total = Some(ran.unwrap_or(0));
                    self.end(totals, true);
                    return;
                }
                if let Some(totals) = grammar::numbers(text)
                    && totals.total == Some(ran.unwrap_or(0))
                {
                    self.end(totals, false);
                    return;
                }
                // It was text, and the empty line above belongs to it.
                if let Some(section) = &mut self.run.section {
                    section.text("", self.number);
                }
            }
            Phase::Reading => {}
        }
        if !self.run.is_open() || self.run.workers {
            if is_rule(&line, b'=') {
                self.phase = Phase::Rule;
                return;
            }
            if is_rule(&line, b'-') {
                self.phase = Phase::Dashes;
                return;
            }
        }
        self.read(text);
    }

    fn finish(mut self) -> ParsedLog {
        self.give_up();
        self.runs.finish(self.log, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::{Hints, detect};
    use atlas_core::LogParserExt;

    const TREE: &[u8] = include_bytes!("corpus/kinds_verbose.log");

    #[test]
    fn the_reporters_say_the_same() {
        let tree = TRIAL.parse(TREE);
        assert_eq!(tree.results.len(), 25);
        let plain = TRIAL.parse(include_bytes!("corpus/kinds_bwverbose.log"));
        assert_eq!(plain.tests(), tree.tests());
        let timing = TRIAL.parse(include_bytes!("corpus/kinds_timing.log"));
        assert_eq!(timing.tests(), tree.tests());
        let text = TRIAL.parse(include_bytes!("corpus/kinds_text.log"));
        let mut others = tree.tests();
        others.retain(|_, status| *status != TestStatus::Passed);
        assert_eq!(text.tests(), others);
        assert_eq!(text.totals, tree.totals);
    }

    #[test]
    fn every_form_is_known() {
        for log in [
            TREE,
            include_bytes!("corpus/kinds_bwverbose.log"),
            include_bytes!("corpus/kinds_timing.log"),
            include_bytes!("corpus/kinds_text.log"),
            include_bytes!("corpus/kinds_summary.log"),
            include_bytes!("corpus/colours.log"),
            include_bytes!("corpus/stopped.log"),
        ] {
            let found = detect(log, &Hints::default());
            assert_eq!(found.parser.as_deref(), Some("trial"), "{found:?}");
        }
    }
}
