//! minitest: dots and `--verbose`, versions 2 to 5, Rails, and the reporters of
//! `minitest-reporters`.
//!
//! With `--verbose` a test's name is printed before it runs and its result behind what it printed
//! meanwhile, so that a name and a result may be far apart. The numbered list at the end tells
//! which tests failed, and its word counts. Where several names stand before one result, they are
//! tests that ran at the same time if the number of runs says so, or else output of the first.

mod line;
mod reporters;

use crate::nested::Nested;
use crate::ruby::loading::Loading;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::runs::Runs;
use crate::text::clean;
use atlas_core::{
    Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals,
};
use line::{Listed, Summary};
use reporters::Spec;
use std::collections::{HashMap, HashSet};

/// minitest's console output.
pub(crate) static MINITEST: Shipped = Shipped::new(
    "minitest",
    &About {
        languages: &["ruby"],
        aliases: &["rails", "minitest-reporters", "ruby_minitest"],
        commands: &[&["rails", "test"], &["minitest"], &["m"]],
        ..About::new(
            "dots with the list of failures, --verbose, `rails test`, and the Spec, Default and \
             Progress reporters of minitest-reporters",
            "passing tests without --verbose; skipped ones without it; which of several tests \
             that run at once has failed, before the list of failures",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[Look(["#SRF0-9", "*"], "", "*", "")]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'#' if matches!(line, b"# Running:" | b"# Running tests:") => {
            Place::Start.certain("a `# Running:` line")
        }
        b'#' if line.starts_with(b"# Running tests with run options ") => {
            Place::Start.certain("a `# Running tests with run options` line")
        }
        b'S' if line.starts_with(b"Started with run options ") => {
            Place::Start.certain("a `Started with run options` line")
        }
        b'R' if line.starts_with(b"Run options: ") => Place::Start.hint("a `Run options:` line"),
        b'F' if line.starts_with(b"Finished in ") && line.ends_with(b" assertions/s.") => {
            Place::End.certain("a `Finished in …, … assertions/s.` line")
        }
        b'0'..=b'9' if Summary::read(line).is_some() => {
            Place::End.certain("a `… runs, … assertions, … failures, … errors, … skips` line")
        }
        _ => None,
    }
}

/// Names that were printed, and the results behind them, until a line that is both whole.
#[derive(Clone, Default)]
struct Group {
    names: Vec<String>,
    results: Vec<TestStatus>,
}

/// How much of the run's end was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum End {
    /// The tests run.
    #[default]
    None,
    /// `Finished in …`.
    Finished,
    /// The counts, too.
    Counted(Summary),
    /// Other counts stand behind the first: one of the two was printed by a test.
    CountedTwice(Summary),
}

impl End {
    fn summary(self) -> Option<Summary> {
        match self {
            Self::None | Self::Finished => None,
            Self::Counted(summary) | Self::CountedTwice(summary) => Some(summary),
        }
    }
}

#[derive(Clone, Default)]
struct Session {
    began: bool,
    /// The options name `--verbose`, or are not known.
    verbose_asked: bool,
    end: End,
    groups: Vec<Group>,
    open: Group,
    verbose: bool,
    listed: Vec<Listed>,
    /// The same, where a number that comes again replaces the entry it had: one of the two stands
    /// in a message.
    latest: Vec<Listed>,
    /// A list entry's label was the last line; what it says of the next one.
    label: Option<(u64, TestStatus)>,
    /// A label without a number, as Rails prints failures while the tests run.
    inline: Option<TestStatus>,
    inline_listed: Vec<Listed>,
    spec: Spec,
    before_empty: bool,
    number: usize,
    load_error: Option<(usize, String)>,
}

impl Session {
    fn is_finished(&self) -> bool {
        self.end != End::None
    }

    fn summary(&self) -> Option<Summary> {
        self.end.summary()
    }

    fn line(&mut self, line: &[u8]) {
        let empty = std::mem::replace(&mut self.before_empty, line.is_empty());
        if line.is_empty() {
            return;
        }
        if self.entry(line, empty) {
            return;
        }
        match line[0] {
            b'F' if line::is_finished(line) => {
                self.end = End::Finished;
                self.listed.clear();
                self.latest.clear();
                return;
            }
            b'0'..=b'9' if self.is_finished() => {
                if let Some(summary) = Summary::read(line) {
                    self.end = match self.end.summary() {
                        Some(first) if first != summary => End::CountedTwice(first),
                        Some(_) => self.end,
                        None => End::Counted(summary),
                    };
                    return;
                }
            }
            _ => {}
        }
        if self.is_finished() {
            if self.verbose && (line::result(line).is_some() || line::is_open(line)) {
                // A test printed a whole report; the run goes on.
                self.end = End::None;
                self.listed.clear();
                self.latest.clear();
            } else {
                return;
            }
        }
        if self.spec.line(line, empty) {
            return;
        }
        self.verbose_line(line);
    }

    /// `Class#test_name = 0.00 s = .` and its parts.
    fn verbose_line(&mut self, line: &[u8]) {
        let result = line::result(line);
        if result.is_none() && memchr::memchr(b'#', line).is_none() {
            return;
        }
        let text = String::from_utf8_lossy(line);
        let head = match result {
            Some((at, _)) => text.get(..at).unwrap_or(&text),
            None => &text,
        };
        let names = line::names(head, result.is_none());
        // Names in the middle of a line count only behind one at its start.
        let waiting = !self.open.names.is_empty();
        if names.is_empty() {
            if let Some((_, status)) = result
                && waiting
            {
                self.open.results.push(status);
            }
            return;
        }
        if !self.began && result.is_none() {
            return;
        }
        // A name that waits for its result goes on waiting behind a whole line: that is either
        // its output, or a test that runs at the same time.
        if self.open.results.len() >= self.open.names.len() {
            self.close_group();
        }
        self.verbose = true;
        self.open.names.extend(names.into_iter().map(str::to_owned));
        if let Some((_, status)) = result {
            self.open.results.push(status);
        }
    }

    /// Whether the entries are as many as the summary says.
    fn agrees(&self, entries: &[Listed]) -> bool {
        let of = |status| {
            let those = entries.iter().filter(|entry| entry.status == status);
            those.count() as u64
        };
        self.summary().is_some_and(|summary| {
            of(TestStatus::Failed) == summary.failures
                && of(TestStatus::Error) == summary.errors
                && of(TestStatus::Skipped) <= summary.skips
        })
    }

    /// The list of failures that the summary agrees with: entries of the others stand in messages.
    fn list(&self) -> &[Listed] {
        let lists = [&self.listed, &self.latest, &self.inline_listed];
        let agreed = lists.into_iter().find(|list| self.agrees(list));
        match agreed {
            Some(list) => list,
            None if self.listed.is_empty() => &self.inline_listed,
            None => &self.listed,
        }
    }

    fn close_group(&mut self) {
        let group = std::mem::take(&mut self.open);
        if !group.names.is_empty() {
            self.groups.push(group);
        }
    }

    /// `  1) Failure:` and the line below it.
    fn entry(&mut self, line: &[u8], after_empty: bool) -> bool {
        if let Some((number, status)) = self.label.take() {
            if let Some(id) = line::location(line) {
                if number == self.listed.len() as u64 + 1 {
                    self.listed.push(Listed {
                        id: id.clone(),
                        status,
                    });
                } else {
                    self.latest.pop();
                }
                self.latest.push(Listed { id, status });
                return true;
            }
            return false;
        }
        if let Some(status) = self.inline.take() {
            if let Some(id) = line::location(line) {
                self.inline_listed.push(Listed { id, status });
                return true;
            }
            return false;
        }
        if !after_empty && !self.is_finished() {
            return false;
        }
        if self.is_finished()
            && let Some((number, status)) = line::label(line)
            && (number == self.listed.len() as u64 + 1
                || number > 0 && number == self.listed.len() as u64)
        {
            self.label = Some((number, status));
            return true;
        }
        if let Some(status) = line::bare_label(line) {
            self.inline = Some(status);
            return true;
        }
        false
    }
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: usize,
    session: Session,
    nested: Nested<Session>,
    runs: Runs,
    /// An error that ended the process before a run.
    load_error: Option<(usize, String)>,
    loading: Loading,
}

impl State {
    /// Records the run, and those in which it began or which began in it, where it has no end.
    fn close(&mut self) {
        if self.session.summary().is_some() && !self.nested.is_inside() {
            self.nested.end(&mut self.session);
        }
        for session in self.nested.finish(&mut self.session) {
            self.close_one(session);
        }
    }

    fn close_one(&mut self, mut session: Session) {
        session.close_group();
        let began = session.began || session.verbose || session.summary().is_some();
        if !began {
            return;
        }
        let before = self.log.recorded();
        let agrees = self.record(&session);
        let any = self.log.recorded() > before;
        let outcome = match session.summary() {
            Some(summary) if summary.runs == 0 && !any => RunOutcome::NothingRan,
            Some(_) => RunOutcome::Completed,
            None if session.load_error.is_some() => RunOutcome::Crashed,
            None => RunOutcome::Truncated,
        };
        if let Some(summary) = session.summary() {
            self.log.add_totals(Totals {
                total: Some(summary.runs),
                failed: Some(summary.failures),
                errors: Some(summary.errors),
                skipped: Some(summary.skips),
                ..Totals::default()
            });
        } else if let Some((line, text)) = session.load_error {
            self.log.warn(Some(line as u64), text);
        }
        let is_counted_twice = matches!(session.end, End::CountedTwice(_));
        self.runs
            .agree(agrees.map(|agrees| agrees && !is_counted_twice));
        self.runs.first_cut(outcome);
    }

    fn put(&mut self, id: &str, status: TestStatus) {
        let class = line::split(id).or_else(|| id.split_once('#'));
        let class = class.map_or("", |(class, _)| class);
        self.log.record(class, id, id, status);
    }

    /// Records the session's tests. Returns whether they agree with its totals.
    fn record(&mut self, session: &Session) -> Option<bool> {
        if !session.spec.tests.is_empty() {
            for (id, status) in &session.spec.tests {
                self.put(id, *status);
            }
            let runs = session.summary()?.runs;
            let told = session.spec.tests.len() as u64;
            return (session.spec.whole || told > runs).then_some(told == runs);
        }
        let lists = session.list();
        let mut listed: HashMap<&str, TestStatus> = HashMap::new();
        for entry in lists {
            listed.entry(&entry.id).or_insert(entry.status);
        }
        // Several names before one result: tests at the same time, if that makes up the runs.
        let all: u64 = session
            .groups
            .iter()
            .map(|group| group.names.len() as u64)
            .sum();
        let runs = session.summary().map(|summary| summary.runs);
        let parallel = runs == Some(all);
        let verbose = session.verbose
            && (session.verbose_asked || parallel || runs == Some(session.groups.len() as u64));
        if !verbose {
            for entry in lists {
                self.put(&entry.id, entry.status);
            }
            let summary = session.summary()?;
            let of = |status| lists.iter().filter(|entry| entry.status == status).count() as u64;
            return Some(
                of(TestStatus::Failed) == summary.failures
                    && of(TestStatus::Error) == summary.errors
                    && of(TestStatus::Skipped) <= summary.skips,
            );
        }
        let (mut told, mut failing) = (0_u64, 0_u64);
        // What is listed has not passed. Some reporters list it without its class.
        let method = |id: &str| line::split(id).map(|(_, method)| method.to_owned());
        let mut untold: HashSet<String> = lists.iter().filter_map(|e| method(&e.id)).collect();
        for group in &session.groups {
            let many = parallel && group.names.len() > 1;
            let names = if many {
                &group.names[..]
            } else {
                &group.names[..1]
            };
            for name in names {
                let worst = group.results.iter().copied().max();
                let last = group.results.last().copied();
                let of_list = listed.get(name.as_str()).copied();
                let one = group.results.len() == 1;
                let status = match (of_list, session.summary(), worst) {
                    (Some(status), _, Some(_)) if !one => Some(status),
                    (None, Some(_), Some(_)) if many => Some(TestStatus::Passed),
                    (None, Some(_), Some(worst)) if group.results.len() > 1 => {
                        // Only the last result can be the runner's.
                        last.filter(|last| *last != worst).or(Some(worst))
                    }
                    (_, _, worst) => worst,
                };
                match status {
                    Some(status) => {
                        told += 1;
                        failing += u64::from(status.is_failing());
                        if status != TestStatus::Passed
                            && let Some(method) = method(name)
                        {
                            untold.remove(&method);
                        }
                        self.put(name, status);
                    }
                    None => self.log.still_running(name.as_str()),
                }
            }
        }
        let summary = session.summary()?;
        let most = summary.failures.saturating_add(summary.errors);
        Some(summary.runs == told && failing <= most && untold.is_empty())
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let whole = clean(line);
        let line = line::behind_advice(&whole);
        if line.len() < whole.len() {
            self.session.before_empty = false;
            if line.is_empty() {
                return;
            }
        }
        if line::is_start(line) {
            self.loading.close(&mut self.log);
            // `Run options:` and `# Running:` begin the same run.
            let fresh = !self.session.verbose
                && !self.session.is_finished()
                && self.session.spec.tests.is_empty();
            if !(fresh && self.session.number + 3 >= self.line && self.session.began) {
                if self.session.began && self.session.summary().is_none() {
                    self.nested.begin(&mut self.session);
                } else if self.session.began || self.session.is_finished() {
                    self.close();
                } else {
                    // Code that is loaded before the run may print what looks like results.
                    self.session = Session::default();
                }
            }
            self.session.began = true;
            self.session.number = self.line;
            if line.starts_with(b"Started with") {
                self.session.spec.allowed = true;
            }
            match line.strip_prefix(b"Run options: ") {
                Some(options) => self.session.verbose_asked = line::is_verbose(options),
                None if fresh && self.session.number == self.line => {}
                None => self.session.verbose_asked |= line.starts_with(b"# Running tests with"),
            }
            return;
        }
        if !self.session.began && self.loading.line(self.line, line, &mut self.log) {
            return;
        }
        if let Some(text) = line::death(line) {
            if self.session.began {
                if !self.session.is_finished() {
                    self.session.load_error.get_or_insert((self.line, text));
                }
            } else {
                self.load_error.get_or_insert((self.line, text));
            }
        }
        if self.nested.is_inside() {
            // A test may print no line end behind the run.
            let (summary, rest) = Summary::glued(line);
            self.session.line(summary);
            if self.session.summary().is_some() {
                self.nested.end(&mut self.session);
                self.session.before_empty = false;
                if !rest.is_empty() {
                    self.session.line(rest);
                }
            }
            return;
        }
        self.session.line(line);
    }

    fn finish(mut self) -> ParsedLog {
        self.close();
        self.loading.close(&mut self.log);
        match (self.runs.outcome, self.load_error.take()) {
            (None | Some(RunOutcome::NothingRan), None) if self.loading.any => {
                self.runs.outcome = Some(RunOutcome::BuildFailed);
            }
            (None, Some((line, text))) => {
                let file = text.split(':').next().unwrap_or_default().to_owned();
                let proof = Evidence::at("log", line, text);
                self.log.lose(&file, LostReason::LoadFailed, vec![proof]);
                self.runs.outcome = Some(RunOutcome::BuildFailed);
            }
            _ => {}
        }
        self.runs.finish(self.log, false)
    }
}
