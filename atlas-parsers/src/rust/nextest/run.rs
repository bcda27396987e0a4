//! One run of nextest, from `Starting N tests` to the list behind `Summary`.

use super::line::{self, Counts, Last, Mark, StatusLine, Word};
use atlas_core::{ParsedLogBuilder, RunOutcome, TestStatus, Totals};
use std::collections::{BTreeSet, HashMap};

/// Whose text the lines are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Region {
    /// nextest's own.
    #[default]
    Own,
    /// A test's output, indented by four blanks.
    Indented,
    /// A test's output as it is, below a header.
    Raw,
    /// A test's output as it is, while this test runs; whether there was a line of it.
    Running { id: String, spoke: bool },
}

/// What nextest printed right above a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Above {
    /// Nothing that tells what follows.
    #[default]
    Other,
    Bar,
    /// The run's id, perhaps with a bar below it: `Starting` is next.
    RunId,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Running,
    /// In the list right below a summary: nothing but results came since.
    Listing,
    /// Below that list.
    Ended,
}

/// How far a result may have been printed by a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Doubt {
    None,
    /// It stands where a test's output would end.
    Some,
    /// It stands right below a test's output.
    Much,
    /// It stands below a summary that was not the last.
    Most,
}

#[derive(Clone, Debug)]
struct Found {
    id: String,
    /// Length of the binary's part of the id.
    module: usize,
    status: TestStatus,
    round: u64,
    counter: Option<u64>,
    doubt: Doubt,
    /// An attempt that may not be the last.
    attempt: bool,
    flaky_fails: bool,
    /// Where in the run the result stands: nextest lists failed tests a second time below its summary.
    stage: Stage,
}

impl Found {
    fn is_told_again(&self) -> bool {
        self.stage != Stage::Running
    }
}

/// A run in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    region: Region,
    blank: bool,
    above: Above,
    /// Tests that began, or were slow, or have failed an attempt.
    open: BTreeSet<String>,
    found: Vec<Found>,
    /// The last line was about this test, which no line before it named.
    last: Option<String>,
    /// Results from this one on are nextest's only if nextest goes on behind them.
    tentative: Option<usize>,
    /// The line before may have been nextest's.
    goes_on: bool,
    counts: Option<Counts>,
    rounds: Option<Counts>,
    stage: Stage,
    /// Whether the running count is printed, as since 0.9.98.
    counted: Option<bool>,
    /// How many tests are to run, as `Starting` and the running count have it.
    expected: u64,
    cancelled: Option<String>,
    setup_failed: bool,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub(super) struct Settled {
    pub(super) outcome: RunOutcome,
    pub(super) consistent: Option<bool>,
    pub(super) results: Vec<Outcome>,
    pub(super) totals: Option<Totals>,
}

/// The result of one test.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    id: String,
    module: usize,
    pub(super) status: TestStatus,
    doubt: Doubt,
    attempt: bool,
}

impl Outcome {
    /// The binary's id.
    pub(super) fn module(&self) -> &str {
        self.id.get(..self.module).unwrap_or_default()
    }

    pub(super) fn record(&self, log: &mut ParsedLogBuilder) {
        log.record(self.module(), &self.id, &self.id, self.status);
    }
}

impl Run {
    pub(super) fn new(expected: u64) -> Self {
        Self {
            expected,
            ..Self::default()
        }
    }

    /// Whether this line begins another run.
    pub(super) fn ends_before(&self, mark: Option<&Mark>) -> bool {
        matches!(mark, Some(Mark::Starting(_)))
            && match self.region {
                Region::Own => true,
                _ => self.above == Above::RunId,
            }
    }

    /// Takes a line.
    pub(super) fn line(&mut self, line: &[u8], mark: Option<Mark>) {
        self.last = None;
        if line.is_empty() {
            self.blank = true;
            return;
        }
        let blank = std::mem::take(&mut self.blank);
        let above = std::mem::take(&mut self.above);
        if let Some(mark) = mark {
            if self.take_mark(mark, line, above) {
                return;
            }
        } else if let Some(status) = line::status_line(line)
            && self.take_status(status, line, blank)
        {
            return;
        }
        if let Some(status) = self.glued(line) {
            self.spoke();
            if self.take_status(status, line, blank) {
                return;
            }
        }
        self.output();
    }

    /// The end of the running test, behind output of it that has no line end.
    fn glued<'a>(&self, line: &'a [u8]) -> Option<StatusLine<'a>> {
        const TRIES: usize = 16;
        let Region::Running { id, .. } = &self.region else {
            return None;
        };
        if !line.ends_with(id.as_bytes()) {
            return None;
        }
        let mut ends = memchr::memchr_iter(b'[', line)
            .take(TRIES)
            .filter_map(|at| {
                let status = line::status_line(line.get(at.checked_sub(13)?..)?)?;
                matches!(status.word, Word::Ended(_)).then_some(status)
            });
        ends.find(|status| {
            let rest = id.strip_prefix(status.binary);
            rest.and_then(|rest| rest.strip_prefix(' ')) == Some(status.test)
        })
    }

    /// A line is, or holds, output of the test that runs.
    fn spoke(&mut self) {
        if let Region::Running { spoke, .. } = &mut self.region {
            *spoke = true;
        }
    }

    /// The list below a summary, if this is one, is over.
    fn end_list(&mut self) {
        if self.stage == Stage::Listing {
            self.stage = Stage::Ended;
        }
    }

    /// A line that is not nextest's: what stood before it was not, either.
    fn output(&mut self) {
        self.spoke();
        self.goes_on = false;
        self.end_list();
        if let Some(first) = self.tentative.take()
            && !matches!(self.region, Region::Running { .. })
        {
            self.found.truncate(first);
        }
    }

    fn take_mark(&mut self, mark: Mark, line: &[u8], above: Above) -> bool {
        let indented = self.region == Region::Indented && line.starts_with(b"    ");
        if indented {
            return false;
        }
        match mark {
            Mark::Bar => {
                self.above = match above {
                    Above::RunId => Above::RunId,
                    _ => Above::Bar,
                };
                if matches!(self.region, Region::Raw | Region::Running { .. }) {
                    // The next line tells.
                    return true;
                }
                self.region = Region::Own;
            }
            Mark::Summary(counts) => {
                if above != Above::Bar && self.region != Region::Own {
                    return false;
                }
                for found in &mut self.found {
                    // A summary above them was a test's own.
                    if found.stage == Stage::Listing {
                        found.doubt = Doubt::Most;
                    }
                    found.stage = Stage::Running;
                }
                self.counts = counts.or(self.rounds);
                self.stage = Stage::Listing;
                self.region = Region::Own;
            }
            Mark::Round(counts) => {
                let rounds = self.rounds.get_or_insert(Counts {
                    run: 0,
                    totals: Totals::default(),
                });
                rounds.run = rounds.run.saturating_add(counts.run);
                rounds.totals.add(counts.totals);
                self.region = Region::Own;
            }
            Mark::Indented | Mark::Raw => {
                self.region = if mark == Mark::Raw {
                    Region::Raw
                } else {
                    Region::Indented
                };
                self.goes_on = false;
                self.tentative = None;
                self.end_list();
                return true;
            }
            Mark::Cancel(reason) => self.cancelled = Some(reason),
            Mark::SetupFailed => self.setup_failed = true,
            Mark::FlakyFails => {
                if let Some(last) = self.found.last_mut() {
                    last.status = TestStatus::Failed;
                }
            }
            Mark::RunId => self.above = Above::RunId,
            Mark::Starting(_) | Mark::Other => {}
        }
        if self.region == Region::Indented {
            self.region = Region::Own;
        }
        self.goes_on = true;
        self.tentative = None;
        true
    }

    fn take_status(&mut self, line: StatusLine<'_>, text: &[u8], blank: bool) -> bool {
        let id = format!("{} {}", line.binary, line.test);
        let doubt = match &self.region {
            Region::Own | Region::Running { spoke: false, .. } => Doubt::None,
            Region::Indented if !text.starts_with(b"    ") => Doubt::None,
            Region::Indented if !blank && !self.goes_on => return false,
            Region::Indented => Doubt::Some,
            Region::Raw if blank || self.goes_on => Doubt::Some,
            Region::Raw => Doubt::Much,
            Region::Running { .. } if line.word == Word::Start => Doubt::Much,
            Region::Running { id: running, .. } if *running == id || self.open.contains(&id) => {
                Doubt::Much
            }
            Region::Running { .. } => return false,
        };
        if matches!(line.word, Word::Ended(_) | Word::FlakyFailed | Word::Start) && !line.padded {
            // Either every such line has the running count, or none.
            let counted = line.counter.is_some();
            if doubt == Doubt::None {
                self.counted.get_or_insert(counted);
            }
            if self.counted.is_some_and(|known| known != counted)
                || line.of.is_some_and(|of| of != self.expected)
            {
                return false;
            }
        }
        if !self.open.contains(&id) {
            self.last = Some(id.clone());
        }
        self.goes_on = true;
        match self.tentative {
            _ if doubt == Doubt::None => self.tentative = None,
            None => self.tentative = Some(self.found.len()),
            Some(_) => {}
        }
        if self.region == Region::Indented && doubt == Doubt::None {
            self.region = Region::Own;
        }
        let (status, attempt, flaky_fails) = match line.word {
            Word::Ended(status) => (status, false, false),
            Word::FlakyFailed => (TestStatus::Failed, false, true),
            Word::Attempt(_, TestStatus::Passed, _) => (TestStatus::Passed, false, false),
            Word::Attempt(_, status, last) => {
                if line.padded || last == Last::No {
                    self.open.insert(id);
                    return true;
                }
                (status, line.counter.is_none(), false)
            }
            Word::Start => {
                self.open.insert(id.clone());
                self.region = Region::Running { id, spoke: false };
                self.tentative = None;
                return true;
            }
            Word::Running => {
                self.open.insert(id);
                return true;
            }
        };
        self.found.push(Found {
            module: line.binary.len(),
            id,
            status,
            round: line.round,
            counter: line.counter,
            doubt,
            attempt,
            flaky_fails,
            stage: self.stage,
        });
        true
    }

    /// nextest counts the tests that end, so a count that is told out of order was not its own.
    fn drop_out_of_order(&mut self) {
        let mut kept: Vec<Found> = Vec::new();
        for found in self.found.drain(..) {
            if found.is_told_again() || found.counter.is_none() {
                kept.push(found);
                continue;
            }
            let later = |known: &Found| {
                !known.is_told_again()
                    && known.round == found.round
                    && known.counter >= found.counter
            };
            while kept
                .last()
                .is_some_and(|last| last.doubt != Doubt::None && later(last))
            {
                kept.pop();
            }
            let contradicted = kept.last().is_some_and(later);
            if found.doubt == Doubt::None || !contradicted {
                kept.push(found);
            }
        }
        self.found = kept;
    }

    /// Decides every result.
    pub(super) fn settle(mut self, log: &mut ParsedLogBuilder) -> Settled {
        if self.stage == Stage::Running
            && let Some(last) = self.last.take()
        {
            // The log may stop in the middle of a name.
            self.found.retain(|found| found.id != last);
            self.open.remove(&last);
            log.warn(None, "the log stops at a result, which may be cut off");
        }
        self.drop_out_of_order();
        let counters: HashMap<(u64, u64), &str> = self
            .found
            .iter()
            .filter(|found| !found.is_told_again())
            .filter_map(|found| Some(((found.round, found.counter?), &*found.id)))
            .collect();
        let contradicted: Vec<bool> = self
            .found
            .iter()
            .map(|found| {
                // Told again, a test keeps its count.
                let first = found
                    .counter
                    .and_then(|counter| counters.get(&(found.round, counter)));
                found.is_told_again() && first.is_some_and(|id| *id != found.id)
            })
            .collect();
        let mut contradicted = contradicted.into_iter();
        self.found.retain(|_| !contradicted.next().unwrap_or(false));
        let mut results: Vec<Outcome> = Vec::new();
        let mut known: HashMap<(u64, String), usize> = HashMap::new();
        for found in std::mem::take(&mut self.found) {
            let outcome = Outcome {
                id: found.id.clone(),
                module: found.module,
                status: found.status,
                doubt: found.doubt,
                attempt: found.attempt,
            };
            let Some(at) = known.get(&(found.round, found.id.clone())) else {
                known.insert((found.round, found.id), results.len());
                results.push(outcome);
                continue;
            };
            let Some(before) = results.get_mut(*at) else {
                continue;
            };
            if found.is_told_again() {
                // The list right below the summary is nextest's alone: a failure in it outweighs
                // a pass above it, which a test may have printed.
                let told = found.stage == Stage::Listing && found.status.is_failing();
                if found.flaky_fails {
                    before.status = TestStatus::Failed;
                } else if told && found.doubt == Doubt::None && !before.status.is_failing() {
                    before.status = found.status;
                }
                before.attempt = false;
            } else if before.attempt || outcome.doubt < before.doubt {
                *before = outcome;
            } else if outcome.doubt == before.doubt {
                if outcome.doubt == Doubt::Much {
                    // The last line about a test is the one that stands behind its output.
                    *before = outcome;
                } else {
                    before.status = before.status.worst(outcome.status);
                }
            }
        }
        if self.stage == Stage::Running {
            // An attempt that failed last may be followed by another.
            results.retain(|result| {
                if result.attempt {
                    self.open.insert(result.id.clone());
                }
                !result.attempt
            });
        }
        let consistent = self.counts.map(|counts| {
            drop_surplus(&mut results, counts, log);
            agrees(&results, counts)
        });
        let consistent = consistent.flatten();
        for result in &results {
            self.open.remove(&result.id);
        }
        if self.stage == Stage::Running {
            for id in &self.open {
                log.still_running(id.clone());
            }
        }
        if self.setup_failed {
            log.warn(None, "a setup script failed");
        }
        Settled {
            outcome: self.outcome(&results),
            consistent,
            results,
            totals: self.counts.map(|counts| counts.totals),
        }
    }

    fn outcome(&self, results: &[Outcome]) -> RunOutcome {
        match self.cancelled.as_deref() {
            Some("interrupt" | "signal" | "second signal") => RunOutcome::Crashed,
            Some("global timeout") => RunOutcome::TimedOut,
            _ if self.stage == Stage::Running => RunOutcome::Truncated,
            _ if results.is_empty() && self.counts.is_none_or(|counts| counts.run == 0) => {
                RunOutcome::NothingRan
            }
            _ => RunOutcome::Completed,
        }
    }
}

/// Drops doubtful results where there are more than the summary counts.
fn drop_surplus(results: &mut Vec<Outcome>, counts: Counts, log: &mut ParsedLogBuilder) {
    let totals = counts.totals;
    let failing = totals
        .failed
        .unwrap_or(0)
        .saturating_add(totals.errors.unwrap_or(0));
    for (declared, class) in [
        (failing, TestStatus::is_failing as fn(TestStatus) -> bool),
        (totals.passed.unwrap_or(0), TestStatus::is_passing),
    ] {
        let count = results.iter().filter(|result| class(result.status)).count() as u64;
        let mut surplus = count.saturating_sub(declared);
        if surplus == 0 {
            continue;
        }
        for doubt in [Doubt::Most, Doubt::Much, Doubt::Some] {
            results.retain(|result| {
                let drop = surplus > 0 && class(result.status) && result.doubt == doubt;
                surplus -= u64::from(drop);
                !drop
            });
        }
        log.warn(None, "result lines inside a test's output were passed over");
    }
}

/// Whether the results agree with the summary; absent where the status level hides them all.
fn agrees(results: &[Outcome], counts: Counts) -> Option<bool> {
    if results.is_empty() && counts.run > 0 {
        return None;
    }
    let totals = counts.totals;
    let count = |status| results.iter().filter(|r| r.status == status).count() as u64;
    let same = |declared: Option<u64>, counted: u64| declared.unwrap_or(0) == counted;
    let told = |declared: Option<u64>, counted: u64| counted == 0 || same(declared, counted);
    Some(
        same(totals.failed, count(TestStatus::Failed))
            && same(totals.errors, count(TestStatus::Error))
            && told(totals.passed, count(TestStatus::Passed))
            && told(totals.skipped, count(TestStatus::Skipped)),
    )
}
