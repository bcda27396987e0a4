//! `RSpec` 2 and 3: progress, documentation and JSON on stdout; `parallel_tests`.
//!
//! The lists at the end have every failed and pending example by its full description, with its
//! number, and the tree of the documentation formatter is read against them: a line counts as a
//! failure only if the list has that example under that number. Passing examples are as many as
//! the totals say. A JSON report is believed before everything else.

mod doubt;
mod foreign;
mod json;
mod lists;
mod tree;

use crate::ruby::loading;
use crate::ruby::report::WithReport;
use crate::runner::{About, Look, Mark, Place, Shipped};
use crate::runs::Runs;
use crate::text::clean;
use atlas_core::{
    Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals,
};
use foreign::Found;
use lists::{Entry, Joints, Keys, entry, fail_cut, pending_status, read_tree, rejoin, untold};
use std::collections::HashMap;
use tree::{Leaf, Tail, Tree};

/// `RSpec`'s console output.
pub(crate) static RSPEC: Shipped = Shipped::new(
    "rspec",
    &About {
        languages: &["ruby"],
        aliases: &["parallel_rspec", "rspec_transformed_json", "ruby_v2"],
        commands: &[&["rspec"], &["parallel_rspec"], &["rake", "spec"]],
        usual_for: &["ruby"],
        ..About::new(
            "progress with its lists of failed and pending examples, --format documentation, \
             --format json on stdout",
            "--format html; passing examples of a progress run; in a tree, whether `Foo` above `#bar` is a class \
             (and joined to it without a blank) unless a list has one of its examples; output of a \
             test that looks like an example or, without colours, a group, where nothing tells it apart",
        )
    },
    mark,
    || Box::new(WithReport::new(State::default(), json::begins, json::parse)),
)
.looking(&[
    Look(["F0-9r{}", "*"], "\"", "*", ""),
]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'F' if line.starts_with(b"Finished in ") && line.ends_with(b" to load)") => {
            Place::End.certain("a `Finished in … (files took … to load)` line")
        }
        b'0'..=b'9' if Summary::read(line).is_some() => {
            Some(if before.starts_with(b"Finished in ") {
                Mark::certain(Place::End, "an `… examples, … failures` line")
            } else {
                Mark::hint(Place::End, "an `… examples, … failures` line")
            })
        }
        b'r' if rerun(line).is_some() => Place::End.certain("an `rspec ./file:line # …` line"),
        b'{' if is_report(line) => Place::End.certain("a JSON report of examples"),
        // Laid out by another program.
        b' ' | b'\t'
            if line.ends_with(b"\"examples\": [")
                && [b"\"version\":" as &[u8], b"\"seed\":"]
                    .iter()
                    .any(|key| before.trim_ascii_start().starts_with(key)) =>
        {
            Place::Start.certain("a JSON report of examples")
        }
        b'}' if line == b"}" && before.trim_ascii_start().starts_with(b"\"summary_line\":") => {
            Some(Mark::close("the end of a JSON report of examples"))
        }
        _ => None,
    }
}

/// `{"version":"3.13.0","examples":[`, with or without blanks; other tools name a seed in between.
fn is_report(line: &[u8]) -> bool {
    let has = |part: &[u8]| memchr::memmem::find(&line[..line.len().min(80)], part).is_some();
    line.strip_prefix(b"{")
        .is_some_and(|rest| rest.starts_with(b"\"version\":"))
        && (has(b"\"examples\":[") || has(b"\"examples\": ["))
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Summary {
    examples: u64,
    failures: u64,
    pending: u64,
    errors: u64,
}

impl Summary {
    /// `21 examples, 7 failures, 4 pending, 1 error occurred outside of examples`.
    fn read(line: &[u8]) -> Option<Self> {
        if line.len() > 200 || !line.contains(&b',') {
            return None;
        }
        let text = std::str::from_utf8(line).ok()?.trim();
        let mut summary = Self::default();
        for (at, part) in text.split(", ").enumerate() {
            let (count, what) = part.split_once(' ')?;
            let count = count.parse().ok()?;
            let field = match (at, what) {
                (0, "example" | "examples") => &mut summary.examples,
                (1, "failure" | "failures") => &mut summary.failures,
                (2, "pending") => &mut summary.pending,
                (
                    2 | 3,
                    "error occurred outside of examples" | "errors occurred outside of examples",
                ) => &mut summary.errors,
                _ => return None,
            };
            *field = count;
        }
        text.contains(" failure").then_some(summary)
    }
}

/// `rspec ./spec/a_spec.rb:4 # Calculator fails`: the file and the description.
fn rerun(line: &[u8]) -> Option<(String, String)> {
    let text = std::str::from_utf8(line.strip_prefix(b"rspec ")?).ok()?;
    let (place, description) = text.split_once(" # ")?;
    let place = place.trim_matches('\'');
    let file = match place.find(".rb") {
        Some(at) => &place[..at + 3],
        None => return None,
    };
    Some((file.to_owned(), description.to_owned()))
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Tree,
    Pending,
    Failures,
    Other,
    Reruns,
}

/// What of a run's end an example has printed, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Printed {
    #[default]
    Nothing,
    /// Its last lines: those of the tree may be of two runs.
    End,
    /// The commands behind them: the lists may be so, too.
    Commands,
}

#[derive(Clone, Debug, Default)]
struct Session {
    part: Part,
    tree: Tree,
    /// The tree without the lines that begin in a colour, once there was one.
    plain: Option<Box<Tree>>,
    pending: Vec<Entry>,
    failures: Vec<Entry>,
    reruns: Vec<(String, String)>,
    finished: bool,
    summary: Option<Summary>,
    /// The last line of counts behind those of the run.
    next_summary: Option<Summary>,
    printed: Printed,
    /// The tree as it is if what looked like the run's end was printed by an example.
    other: Option<Box<Tree>>,
    before_empty: bool,
    /// Failed examples in the lines of the progress.
    failed: u64,
    /// A line of the tree, of dots or of a load error was seen.
    any: bool,
}

impl Session {
    /// Takes a line; `false` where it belongs to the next run.
    fn line(&mut self, line: &[u8], colour: Option<usize>) {
        let empty = std::mem::replace(&mut self.before_empty, line.is_empty());
        if line.is_empty() {
            if self.part == Part::Tree {
                self.tree_line(line, colour);
            } else if let Some(other) = &mut self.other {
                other.line(line, colour);
            }
            return;
        }
        match line[0] {
            // An empty line stands in front of the lists' headings.
            b'P' if empty
                && (line == b"Pending:"
                    || line.starts_with(b"Pending: (Failures listed here are expected")) =>
            {
                self.pending.clear();
                self.failures.clear();
                self.turn(Part::Pending);
                return;
            }
            b'F' if empty && line == b"Failures:" => {
                self.failures.clear();
                self.turn(Part::Failures);
                return;
            }
            b'F' if line.starts_with(b"Finished in ") && is_duration(&line[12..]) => {
                if self.part == Part::Tree && self.plain.is_none() {
                    self.other = Some(Box::new(self.tree.clone()));
                } else if self.summary.is_some() {
                    // A run has one end: an example had printed the first.
                    self.printed = self.printed.max(Printed::End);
                    if let Some(mut other) = self.other.take() {
                        other.end();
                        self.tree = *other;
                    }
                }
                self.turn(Part::Other);
                self.finished = true;
                self.summary = None;
                self.next_summary = None;
                return;
            }
            b'F' if self.summary.is_some() && line == b"Failed examples:" => {
                if self.part == Part::Reruns {
                    // A run has one such list, too.
                    self.printed = Printed::Commands;
                }
                self.reruns.clear();
                self.part = Part::Reruns;
                return;
            }
            b'T' if line.starts_with(b"Top ") && line.ends_with(b"):") => {
                self.turn(Part::Other);
                return;
            }
            b'0'..=b'9' if self.finished && self.summary.is_none() => {
                self.summary = Summary::read(line);
                if self.summary.is_some_and(|summary| self.is_foreign(summary)) {
                    self.printed = self.printed.max(Printed::End);
                    self.summary = None;
                    self.finished = false;
                    self.part = Part::Tree;
                }
                return;
            }
            b'0'..=b'9' if self.finished => {
                self.next_summary = Summary::read(line).or(self.next_summary);
            }
            b'r' if self.part == Part::Reruns => {
                if let Some(rerun) = rerun(line) {
                    self.reruns.push(rerun);
                }
                return;
            }
            _ => {}
        }
        match self.part {
            Part::Tree => {
                self.any = true;
                if line.iter().all(|byte| b".F*".contains(byte)) {
                    self.failed += memchr::memchr_iter(b'F', line).count() as u64;
                }
                self.tree_line(line, colour);
            }
            Part::Pending => entry(line, empty, &mut self.pending),
            Part::Failures => entry(line, empty, &mut self.failures),
            Part::Other => {
                if let Some(other) = self.other.as_mut().filter(|_| self.summary.is_some()) {
                    other.line(line, colour);
                }
            }
            Part::Reruns => {}
        }
    }

    fn turn(&mut self, part: Part) {
        if self.part == Part::Tree {
            self.tree.end();
            if let Some(plain) = &mut self.plain {
                plain.end();
            }
        }
        self.part = part;
    }

    fn tree_line(&mut self, line: &[u8], colour: Option<usize>) {
        if colour == Some(0) && self.plain.is_none() {
            self.plain = Some(Box::new(self.tree.clone()));
        }
        self.tree.line(line, colour);
        if let Some(plain) = &mut self.plain
            && colour != Some(0)
        {
            plain.line(line, None);
        }
    }

    /// In colours every example's line is coloured, and only those count; in a run without them
    /// such lines are tests' output. The run's number of examples tells which it was.
    fn choose_colour(&mut self) {
        let Some(plain) = self.plain.take() else {
            return;
        };
        let all = self.summary.map(|summary| summary.examples);
        let coloured = self.tree.coloured();
        let is_nearer = |all: u64| {
            let (plain, coloured) = (plain.leaves.len() as u64, coloured as u64);
            plain.abs_diff(all) < coloured.abs_diff(all)
        };
        if coloured == 0 {
            return;
        }
        if all.is_some_and(is_nearer) {
            self.tree = *plain;
        } else {
            self.tree.keep_coloured();
        }
    }

    /// Whether an example has printed this end of a run: failures are listed before the end, and
    /// the tree above has some that neither a list nor the totals have.
    fn is_foreign(&self, summary: Summary) -> bool {
        let failed = self.tree.failures().max(self.failed);
        failed > summary.failures && self.failures.is_empty() && self.pending.is_empty()
    }

    fn ended(&self) -> bool {
        self.summary.is_some()
    }

    /// The failures by the list, or else by the commands: the list may have been left out.
    fn failing(&self) -> Vec<String> {
        if self.failures.is_empty() {
            return self.reruns.iter().map(|(_, name)| name.clone()).collect();
        }
        let entries = self.failures.iter();
        let names = entries.map(|entry| match entry.description.strip_suffix(" FIXED") {
            Some(name) if entry.fixed => name.to_owned(),
            _ => entry.description.clone(),
        });
        names.collect()
    }

    /// The examples of the tree, as many as the totals say; none where the lines are no tree.
    fn tree_of(
        &self,
        mut leaves: Vec<Leaf>,
        halves: Vec<Leaf>,
        keys: &Keys,
        failing: &[String],
    ) -> Vec<Found> {
        rejoin(&mut leaves, &self.tree.displaced, keys);
        let listed = !failing.is_empty() || !self.pending.is_empty();
        let mut lines = leaves.iter().chain(&halves);
        if self.tree.progress || listed && !lines.any(|leaf| keys.has(leaf, &leaf.path)) {
            return Vec::new();
        }
        let joint = Joints::of(failing, &self.pending);
        let mut found = read_tree(leaves, keys, &self.pending, &joint);
        let halves = read_tree(halves, keys, &self.pending, &joint);
        let (halves, told): (Vec<Found>, Vec<Found>) = halves
            .into_iter()
            .filter(|half| !half.3)
            .partition(|half| half.2 == TestStatus::Passed);
        found.extend(told);
        fail_cut(&mut found, failing);
        if let Some(summary) = self.summary {
            let all = usize::try_from(summary.examples).unwrap_or(usize::MAX);
            let untold = untold(&found, failing).len();
            foreign::settle(&mut found, halves, all.saturating_sub(untold));
        }
        found
    }
}

/// `0.2 seconds …`, `1 minute 3.2 seconds`.
fn is_duration(text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_digit)
        && (memchr::memmem::find(text, b" second").is_some()
            || memchr::memmem::find(text, b" minute").is_some())
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: usize,
    session: Session,
    runs: Runs,
    /// How many examples all runs so far have counted.
    examples: u64,
    /// The file that could not be loaded, and what was said of it.
    unloaded: Option<(String, Vec<Evidence>)>,
    /// The error of a hook outside of the examples is told: its lines so far, and whether its
    /// trace has begun.
    hook: Option<(usize, bool)>,
    outside: bool,
}

impl State {
    fn lose(&mut self) {
        if let Some((file, lines)) = self.unloaded.take() {
            self.log.lose(&file, LostReason::LoadFailed, lines);
        }
    }

    /// Lines below `An error occurred while loading`.
    fn load_error(&mut self, line: &[u8]) -> bool {
        if line.starts_with(b"An error occurred ") {
            self.lose();
            let text = String::from_utf8_lossy(line).into_owned();
            let evidence = Evidence::at("log", self.line, text.as_str());
            self.outside = true;
            if let Some(file) = loading::file(&text) {
                self.unloaded = Some((file.to_owned(), vec![evidence]));
            } else {
                self.hook = text.ends_with(" hook.").then_some((0, false));
                self.log.warn(Some(self.line as u64), text);
            }
            return true;
        }
        if let Some((lines, trace)) = &mut self.hook {
            // Its message is indented as examples are, and its trace ends it.
            const LONGEST: usize = 60;
            *lines += 1;
            let frame = line.starts_with(b"# ");
            if frame || !*trace && *lines < LONGEST {
                *trace |= frame;
                return true;
            }
            self.hook = None;
            return false;
        }
        let Some((_, lines)) = &mut self.unloaded else {
            return false;
        };
        if lines.len() < loading::MAX_LINES && loading::is_telling(line) {
            let text = &line[..line.len().min(500)];
            let text = String::from_utf8_lossy(text).trim().to_owned();
            lines.push(Evidence::at("log", self.line, text));
        }
        true
    }

    fn close(&mut self) {
        self.lose();
        let mut session = std::mem::take(&mut self.session);
        session.turn(Part::Other);
        session.choose_colour();
        session.tree.without_printed();
        if let Some(summary) = session.summary {
            session.tree.settle(summary.examples);
        }
        let before = self.log.recorded();
        let ended = session.ended();
        let lists = !session.pending.is_empty() || !session.failures.is_empty();
        if !ended && !lists && session.tree.leaves.is_empty() && !session.tree.progress {
            return;
        }
        // Without a list or an end, lines that are indented are no examples.
        let agrees = if ended || lists {
            self.record(&mut session)
        } else if session.tree.progress || self.runs.outcome.is_some() {
            None
        } else {
            self.record_cut(&session);
            None
        };
        let any = self.log.recorded() > before;
        let outcome = match session.summary {
            Some(summary) if summary.examples == 0 && summary.errors > 0 => RunOutcome::BuildFailed,
            Some(summary) if summary.examples == 0 => RunOutcome::NothingRan,
            Some(_) => RunOutcome::Completed,
            None if any || lists => RunOutcome::Truncated,
            None => return,
        };
        let mut other_counts = false;
        if let Some(summary) = session.summary {
            self.examples = self.examples.saturating_add(summary.examples);
            // Other counts follow, and are not those of several processes together: an example has
            // printed one of the two.
            other_counts = session.printed == Printed::Commands
                || session
                    .next_summary
                    .is_some_and(|next| next != summary && next.examples != self.examples);
            self.log.add_totals(Totals {
                total: Some(summary.examples),
                failed: Some(summary.failures),
                skipped: Some(summary.pending),
                ..Totals::default()
            });
        }
        self.runs
            .agree(agrees.map(|agrees| agrees && !other_counts));
        self.runs.outcome = Some(match (self.runs.outcome, outcome) {
            (Some(known), RunOutcome::NothingRan) => known,
            (Some(RunOutcome::Completed), RunOutcome::Truncated) => RunOutcome::Completed,
            (_, outcome) => outcome,
        });
    }

    /// A tree that the log's end cut off: failures count by their numbers.
    fn record_cut(&mut self, session: &Session) {
        let mut next = 1;
        let leaves = &session.tree.leaves;
        if !leaves
            .iter()
            .any(|leaf| matches!(leaf.tail(), Tail::Failed(_, 1)))
        {
            // Nothing shows that this is a tree of examples.
            return;
        }
        for leaf in leaves {
            let (text, status) = match leaf.tail() {
                Tail::Failed(head, number) if number == next => {
                    next += 1;
                    (head, TestStatus::Failed)
                }
                Tail::Pending(head) => (head, TestStatus::Skipped),
                // That failure was told already: a test has printed this.
                Tail::Failed(_, number) if number < next => continue,
                Tail::Failed(..) | Tail::None => (leaf.text.as_str(), TestStatus::Passed),
            };
            let name = leaf.full(text, default_joint);
            self.log.record("", &name, &name, status);
        }
    }

    fn record(&mut self, session: &mut Session) -> Option<bool> {
        let failing = session.failing();
        let leaves = std::mem::take(&mut session.tree.leaves);
        let halves = std::mem::take(&mut session.tree.halves);
        let keys = Keys::of(&failing, &session.pending);
        let summary = session.summary.unwrap_or_default();
        let files: HashMap<String, &str> = session
            .reruns
            .iter()
            .map(|(file, name)| (tree::key(name), file.as_str()))
            .collect();
        let listed_agree = (failing.len() as u64) == summary.failures
            && session.pending.len() as u64 == summary.pending;
        let lines = leaves.len() as u64;
        let found = session.tree_of(leaves, halves, &keys, &failing);
        if found.is_empty() {
            let is_lost = if session.tree.progress {
                session.printed != Printed::Nothing && lines > 0
            } else {
                lines > summary.examples / 2
            };
            if is_lost {
                let why = "the lists name no example of the tree as the tree does: those that passed are not read";
                self.log.warn(None, why);
            }
            for name in &failing {
                let module = files.get(&tree::key(name)).copied().unwrap_or_default();
                self.log.record(module, name, name, TestStatus::Failed);
            }
            for entry in &session.pending {
                let name = &entry.description;
                self.log.record("", name, name, pending_status(entry));
            }
            return session.summary.map(|_| listed_agree && !is_lost);
        }
        for (_, name, status, _) in &found {
            self.log.record("", name, name, *status);
        }
        // Failures whose lines stand behind output without a line end.
        let untold = untold(&found, &failing);
        for name in &untold {
            self.log.record("", name, name, TestStatus::Failed);
        }
        let named = (found.len() + untold.len()) as u64;
        let pending = found
            .iter()
            .filter(|(_, _, status, _)| matches!(status, TestStatus::Skipped | TestStatus::Xfail));
        let all_pending = pending.count() >= session.pending.len();
        session.summary.map(|summary| {
            let is_one = session.printed == Printed::Nothing;
            named == summary.examples && listed_agree && all_pending && is_one
        })
    }
}

fn default_joint(parent: &str, child: &str) -> &'static str {
    if tree::may_join(parent, child) {
        ""
    } else {
        " "
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let colour = colour(line);
        let line = clean(line);
        if self.session.ended() && self.session.part != Part::Tree {
            // Behind the totals and the list of commands comes the next run, if any.
            let next = dots_or_group(&line, self.session.before_empty, self.session.part);
            if next {
                self.close();
                self.session.before_empty = true;
                self.session.tree.line(b"", None);
            }
        }
        if self.load_error(&line)
            && !line.starts_with(b"Finished in ")
            && !line.ends_with(b"outside of examples")
        {
            return;
        }
        self.session.line(&line, colour);
    }

    fn finish(mut self) -> ParsedLog {
        self.close();
        self.runs.finish(self.log, self.outside)
    }
}

/// Where one of the colours of `RSpec` begins in the line's text: at its begin, or behind output
/// without a line end and in front of an example's blanks.
fn colour(line: &[u8]) -> Option<usize> {
    if colour_len(line).is_some() {
        return Some(0);
    }
    let at = memchr::memmem::rfind_iter(line, b"\x1b[").find(|at| {
        let rest = &line[*at..];
        colour_len(rest).is_some_and(|len| rest[len..].starts_with(b"  "))
    })?;
    Some(clean(&line[..at]).len())
}

/// The length of `\x1b[32m`, bold or not: `\x1b[1;31m`.
fn colour_len(line: &[u8]) -> Option<usize> {
    let code = line.strip_prefix(b"\x1b[")?;
    let code = code.strip_prefix(b"1;").unwrap_or(code);
    let digits = code.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_colour = (1..=3).contains(&digits) && code.get(digits) == Some(&b'm');
    is_colour.then(|| line.len() - code.len() + digits + 1)
}

/// Whether a line behind a run's end begins another one.
fn dots_or_group(line: &[u8], after_empty: bool, part: Part) -> bool {
    let Some(first) = line.first() else {
        return false;
    };
    if !after_empty || first.is_ascii_whitespace() || line.starts_with(b"rspec ") {
        return false;
    }
    if part == Part::Other && line.starts_with(b"Top ") {
        return false;
    }
    // No run begins with its counts or its lists: an example had printed an end.
    if Summary::read(line).is_some()
        || line == b"Failed examples:"
        || line == b"Failures:"
        || line.starts_with(b"Pending:")
    {
        return false;
    }
    !line.starts_with(b"Finished in ")
        && !line.starts_with(b"Randomized with seed ")
        && !line.starts_with(b"Coverage ")
}
