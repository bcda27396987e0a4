//! stestr, ostestr and subunit-trace: `{0} pkg.mod.Class.test_x [0.012345s] ... ok`, and the totals.
//!
//! The workers' standard output and error stand at the margin between these lines, as do lines of messages,
//! so nothing but the totals tells a result from a line that a test printed. They are compared with what was
//! read, by the name of each test. Below `Failed 3 tests - output below:` the tests that failed are named
//! again, and where there are as many as it says, no other test failed.
//!
//! The totals end the run if they fit what was read; others count only if none follow.
//!
//! Ids are the names that the runner prints and takes, `pkg.mod.Class.test_x`, without the worker, the time and
//! the tags that it cuts off. They are the qualified ids of unittest and trial.

mod grammar;

use crate::python::module_of;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::runs::Runs;
use crate::text::clean;
use atlas_core::{
    Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals,
};
use grammar::Word;
use std::collections::{BTreeMap, BTreeSet};

/// The parser.
pub(crate) static STESTR: Shipped = Shipped::new(
    "stestr",
    &About {
        languages: &["python"],
        aliases: &["ostestr", "subunit_trace"],
        commands: &[&["stestr"], &["ostestr"], &["subunit-trace"]],
        ..About::new(
            "output of stestr 4 run and last, in lines, with and without colours",
            "which of the tests in `ok` failed as expected, and which in `FAILED` passed unexpectedly; passing and skipped \
             tests of --abbreviate; which lines a test printed, where the totals do not agree; output of \
             --no-subunit-trace and of `stestr failing`",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["{", "0-9"], "", "*", ""),
    Look(["RF", "a"], "", "*", ""),
]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    let text = std::str::from_utf8(line).ok()?;
    let below_rule = before.len() >= 6 && before.iter().all(|byte| *byte == b'=');
    match line.first()? {
        b'{' => grammar::result(text)
            .map(|_| Mark::certain(Place::Within, "a test with its worker's number in braces")),
        b'R' if below_rule => {
            grammar::ran(text).map(|_| Mark::certain(Place::End, "stestr's `Ran: N tests in`"))
        }
        b'F' if below_rule => (text == DISCOVERY || grammar::failed_tests(text).is_some())
            .then_some(Mark::certain(Place::Within, "a list of failures of stestr")),
        _ => None,
    }
}

/// The title of what could not be imported.
const DISCOVERY: &str = "Failures during discovery";
/// How the name of a test begins that stands for a module that could not be imported.
const LOAD_FAILURE: &str = "unittest.loader._FailedTest.";

/// What is expected next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Results,
    /// Below `Failed 3 tests - output below:`.
    Failures,
    /// Below `Failures during discovery`.
    Discovery,
}

/// One run, from its first line to its totals.
#[derive(Clone, Debug, Default)]
struct Run {
    /// Tests in the order of their first line, each with what its lines say.
    tests: Vec<(String, Vec<Word>)>,
    places: BTreeMap<String, usize>,
    /// How many failures there are according to the head of their list.
    announced: Option<u64>,
    /// The names in the list.
    failures: BTreeSet<String>,
    listed: u64,
    /// Lines of results below that head: a test printed it, or a message holds them.
    late: Vec<(String, Word)>,
    /// Totals that do not fit what stands above them; they count if there are no others.
    held: Option<Totals>,
}

impl Run {
    fn add(&mut self, name: &str, word: Word) {
        if let Some(at) = self.places.get(name) {
            self.tests[*at].1.push(word);
            return;
        }
        self.places.insert(name.to_owned(), self.tests.len());
        self.tests.push((name.to_owned(), vec![word]));
    }

    /// Whether the list of failures is whole.
    fn is_listed(&self) -> bool {
        self.announced == Some(self.listed)
    }

    /// The word that counts, of several for one name.
    fn word(&self, name: &str, words: &[Word]) -> Word {
        if self.is_listed() {
            if self.failures.contains(name) {
                return Word::Failed;
            }
            if let Some(word) = words.iter().find(|word| **word != Word::Failed) {
                return *word;
            }
        }
        let worst = [Word::Failed, Word::InProgress, Word::Ok, Word::Skipped];
        let worst = worst.into_iter().find(|word| words.contains(word));
        worst.unwrap_or(Word::Failed)
    }

    fn agrees(&self, totals: &Totals) -> bool {
        let sum = |one: Option<u64>, other: Option<u64>| {
            one.unwrap_or(0).saturating_add(other.unwrap_or(0))
        };
        let expected = [
            (Word::Ok, sum(totals.passed, totals.xfailed)),
            (Word::Failed, sum(totals.failed, totals.xpassed)),
            (Word::Skipped, totals.skipped.unwrap_or(0)),
        ];
        let own: Vec<Word> = self
            .tests
            .iter()
            .map(|(name, words)| self.word(name, words))
            .collect();
        let fits = |words: &[Word]| {
            let count = |word| words.iter().filter(|other| **other == word).count() as u64;
            let same = expected
                .iter()
                .all(|(word, number)| count(*word) == *number);
            same && totals.total.is_none_or(|total| words.len() as u64 == total)
        };
        if own.is_empty() {
            // Letters name no tests.
            return self.late.is_empty() && self.listed == expected[1].1;
        }
        if self.is_listed()
            && !self
                .failures
                .iter()
                .all(|name| self.places.contains_key(name))
        {
            // A message holds what looks like an entry, or tests printed all of the lines.
            return false;
        }
        // A name may come twice, as that of a class that several workers could not set up.
        let all: Vec<Word> = self.tests.iter().flat_map(|test| test.1.clone()).collect();
        fits(&own) || fits(&all)
    }
}

#[derive(Clone, Debug, Default)]
struct State {
    log: ParsedLogBuilder,
    number: usize,
    phase: Phase,
    run: Run,
    /// The lines before this one.
    before: [String; 2],
    /// The totals that are being read.
    totals: Option<Totals>,
    /// The module that could not be imported, and the last line said of it.
    module: Option<String>,
    last: Option<Evidence>,
    runs: Runs,
    lost: bool,
}

impl State {
    fn read(&mut self, line: &str) {
        if let Some(totals) = &mut self.totals {
            if grammar::add_total(totals, line) {
                return;
            }
            let totals = self.totals.take();
            // Every version prints this line behind them.
            if line.starts_with("Sum of execute time for each test: ")
                && let Some(totals) = totals
            {
                self.end(totals);
                return;
            }
        }
        let below_rule = grammar::is_rule(&self.before[1], b'=');
        if below_rule && let Some(total) = grammar::ran(line) {
            self.totals = Some(Totals {
                total: Some(total),
                ..Totals::default()
            });
            return;
        }
        if below_rule && let Some(number) = grammar::failed_tests(line) {
            // There is one such head in a run, and it is the last: those before were printed.
            for (name, word) in std::mem::take(&mut self.run.late) {
                self.run.add(&name, word);
            }
            self.run.announced = Some(number);
            self.run.failures.clear();
            self.run.listed = 0;
            self.phase = Phase::Failures;
            return;
        }
        if below_rule && line == DISCOVERY {
            self.phase = Phase::Discovery;
            return;
        }
        match self.phase {
            Phase::Results => {
                if let Some((name, word)) = grammar::result(line) {
                    self.result(name, word);
                }
            }
            Phase::Failures => {
                let [above, name] = &self.before;
                let same = name.chars().count() == line.len();
                if above.is_empty()
                    && !name.is_empty()
                    && same
                    && line.bytes().all(|byte| byte == b'-')
                {
                    self.run.listed += 1;
                    let name = grammar::without_tags(name);
                    self.run.failures.insert(name);
                } else if let Some((name, word)) = grammar::result(line) {
                    self.run.late.push((name.to_owned(), word));
                }
            }
            Phase::Discovery => self.discovery(line),
        }
    }

    fn result(&mut self, name: &str, word: Word) {
        if let Some(module) = name.strip_prefix(LOAD_FAILURE)
            && word == Word::Failed
        {
            let proof = vec![Evidence::at(
                "log",
                self.number,
                format!("{name} ... FAILED"),
            )];
            self.log.lose(module, LostReason::LoadFailed, proof);
            self.lost = true;
        }
        self.run.add(name, word);
    }

    /// Tracebacks of modules that could not be imported, with an empty line behind each.
    fn discovery(&mut self, line: &str) {
        if let Some(module) = line.strip_prefix("Failed to import test module: ") {
            self.lose();
            self.module = Some(module.to_owned());
        } else if line.is_empty() || grammar::is_rule(line, b'=') {
            self.lose();
        } else if let Some((name, word)) = grammar::result(line) {
            self.lose();
            self.phase = Phase::Results;
            self.result(name, word);
        } else {
            self.last = Some(Evidence::at("log", self.number, line));
        }
    }

    fn lose(&mut self) {
        let last = self.last.take();
        if let Some(module) = self.module.take() {
            let proof = last.into_iter().collect();
            self.log.lose(&module, LostReason::LoadFailed, proof);
            self.lost = true;
        }
    }

    /// The totals of a run: its end, if they fit.
    fn end(&mut self, totals: Totals) {
        if self.run.agrees(&totals) {
            self.finish_run(totals, true);
        } else {
            self.run.held = Some(totals);
        }
    }

    fn finish_run(&mut self, totals: Totals, agrees: bool) {
        self.log.add_totals(totals);
        self.runs.agree(agrees);
        let ran = totals.total.unwrap_or(0) > 0;
        let died = self.record();
        self.runs.first_cut(match died {
            // A test without an end.
            true => RunOutcome::Crashed,
            false if ran => RunOutcome::Completed,
            false => RunOutcome::NothingRan,
        });
        self.phase = Phase::Results;
    }

    /// Records the tests of the run. Returns whether one of them did not end.
    fn record(&mut self) -> bool {
        let run = std::mem::take(&mut self.run);
        let mut died = false;
        for (name, words) in &run.tests {
            let status = match run.word(name, words) {
                Word::Ok => TestStatus::Passed,
                Word::Failed => TestStatus::Failed,
                Word::Skipped => TestStatus::Skipped,
                Word::InProgress => {
                    died = true;
                    self.log.still_running(name.clone());
                    continue;
                }
            };
            let (module, qualified) = places(name);
            self.log.record(&module, &qualified, name, status);
        }
        for name in &run.failures {
            // With --abbreviate only the list names tests.
            if run.tests.is_empty() || run.is_listed() && !run.places.contains_key(name) {
                let (module, qualified) = places(name);
                self.log
                    .record(&module, &qualified, name, TestStatus::Failed);
            }
        }
        died
    }
}

/// The module and the qualified id of a test.
fn places(name: &str) -> (String, String) {
    if let Some(module) = name.strip_prefix(LOAD_FAILURE) {
        return (module.to_owned(), name.to_owned());
    }
    // `setUpClass (pkg.mod.Class)` stands for a class.
    if let Some((fixture, place)) = name.split_once(" (")
        && let Some(place) = place.strip_suffix(')')
        && !fixture.contains('.')
    {
        let module = if fixture.ends_with("Module") {
            place
        } else {
            module_of(place)
        };
        return (module.to_owned(), format!("{place}.{fixture}"));
    }
    // The parentheses of a scenario may hold dots.
    let path = name.split('(').next().unwrap_or(name);
    let class = path.rsplit_once('.').map_or("", |(class, _)| class);
    (module_of(class).to_owned(), name.to_owned())
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.number += 1;
        let line = clean(line);
        let text = String::from_utf8_lossy(&line);
        self.read(&text);
        self.before.swap(0, 1);
        self.before[1] = text.into_owned();
    }

    fn finish(mut self) -> ParsedLog {
        self.lose();
        if let Some(totals) = self.run.held.take() {
            let agrees = self.run.agrees(&totals);
            self.finish_run(totals, agrees);
        } else if !self.run.tests.is_empty() || self.run.announced.is_some() {
            let died = self.record();
            self.runs.outcome = Some(if died {
                RunOutcome::Crashed
            } else {
                RunOutcome::Truncated
            });
        }
        let recorded = self.log.results();
        let nothing = recorded
            .iter()
            .all(|result| result.name.starts_with(LOAD_FAILURE));
        let cut = matches!(
            self.runs.outcome,
            Some(RunOutcome::Crashed | RunOutcome::Truncated)
        );
        if self.lost && nothing && !cut {
            self.runs.outcome = Some(RunOutcome::BuildFailed);
        }
        self.runs.finish(self.log, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::{Hints, detect};
    use atlas_core::LogParserExt;

    #[test]
    fn its_logs_are_known() {
        for log in [
            &include_bytes!("corpus/kinds.log")[..],
            include_bytes!("corpus/last.log"),
            include_bytes!("corpus/dies.log"),
            include_bytes!("corpus/import_error.log"),
            include_bytes!("corpus/abbreviate.log"),
        ] {
            let found = detect(log, &Hints::default());
            assert_eq!(found.parser.as_deref(), Some("stestr"), "{found:?}");
        }
    }

    #[test]
    fn what_the_list_does_not_name_did_not_fail() {
        let log = include_str!("corpus/last.log");
        let forged =
            format!("{{0}} demo.tests.test_kinds.KindsTest.test_pass [0.1s] ... FAILED\n{log}");
        let read = STESTR.parse(forged.as_bytes());
        assert_eq!(read.tests(), STESTR.parse(log.as_bytes()).tests());
    }
}
