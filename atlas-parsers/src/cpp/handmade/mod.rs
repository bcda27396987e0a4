//! Hand-written test programs: one line a check, `[pass] name` or `ok: name`, and a count at the end.
//!
//! Many a library in C or C++ has a `main` that prints such lines and no framework. `[pass]` and
//! `[fail]` are said of tests and believed as they are. `[ok]`, `[error]`, `ok: ` and `failed: ` are
//! said of anything: they count only where the program's own count, `3 passed, 1 failed`, agrees with
//! them; so does a verdict behind output that did not end its line.
//!
//! Some programs print what they expected and found behind the name, `[true][false]`. In a log in
//! which all checks that pass have equal halves there, brackets behind a name are values and no part
//! of it: a failing check would otherwise have another id. Values may go on over several lines, and their
//! line ends are written `\n` where they are kept in the id. A name that comes again is another check, `name #2`.

mod line;

use crate::cpp::build::Builds;
use crate::cpp::death::is_death;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{LineState, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals};
use line::Verdict;
use std::collections::{HashMap, HashSet};

/// A test program without a framework.
pub(crate) static HANDMADE: Shipped = Shipped::new(
    "handmade",
    &About {
        languages: &["c", "c++"],
        ..About::new(
            "`[pass] name` and `[fail] name` of a program without a framework; `[ok] name`, \
             `ok: name` and their like where a count at the end agrees",
            "a run that stops in silence where no count was due; which check moved where a name \
             comes several times",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[Look(["[", "pPfF"], "", "*", "")]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    if line.first() != Some(&b'[') {
        return None;
    }
    let found = line::verdict(std::str::from_utf8(line).ok()?)?;
    // gtest's words stand in ten columns, `[  FAILED  ]`.
    let plain = line.get(1).is_some_and(u8::is_ascii_alphabetic);
    (found.strong && plain).then_some(Mark::hint(Place::Within, "a `[pass] name` line"))
}

/// One line with a verdict.
#[derive(Clone, Debug)]
struct Found {
    name: String,
    status: TestStatus,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Strong,
    Weak,
    /// A strong verdict behind output on the same line.
    Glued,
}

#[derive(Clone, Default)]
struct State {
    line: usize,
    builds: Builds,
    found: Vec<Found>,
    counted: Option<(u64, u64)>,
    /// Whether a process died behind the last count.
    died: bool,
    /// The last name with the lines that followed, while a bracket in it is open.
    open: Option<String>,
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        const LONGEST: usize = 4096;
        self.line += 1;
        if line.len() > LONGEST {
            return;
        }
        let line = clean(line);
        if self.found.is_empty() {
            self.builds.line(&line, self.line);
        }
        let Ok(text) = std::str::from_utf8(&line) else {
            return;
        };
        if let Some(Verdict {
            status,
            strong,
            name,
        }) = line::verdict(text)
        {
            let kind = if strong { Kind::Strong } else { Kind::Weak };
            self.push(name, status, kind, text);
        } else if text.contains("] ")
            && let Some(found) = line::glued(text)
        {
            self.push(found.name, found.status, Kind::Glued, text);
        } else if self.open.is_some() && line::count(text).is_none() {
            self.go_on(text);
        } else if !self.found.is_empty() {
            if let Some(count) = line::count(text) {
                let (passed, failed) = self.counted.get_or_insert((0, 0));
                *passed = passed.saturating_add(count.passed);
                *failed = failed.saturating_add(count.failed);
                self.died = false;
            } else if is_death(&line) {
                self.died = true;
            }
        }
    }

    fn finish(mut self) -> ParsedLog {
        let mut log = ParsedLogBuilder::default();
        self.give_up();
        let consistent = self.choose();
        if let Some((passed, failed)) = self.counted.filter(|_| !self.found.is_empty()) {
            log.add_totals(Totals {
                passed: Some(passed),
                failed: Some(failed),
                ..Totals::default()
            });
        }
        if let Some(consistent) = consistent {
            log.set_consistent(consistent);
        }
        let ran = !self.found.is_empty();
        self.record(&mut log);
        let unbuilt = std::mem::take(&mut self.builds).finish(&mut log);
        let outcome = match (ran, self.died, unbuilt) {
            (true, true, _) => RunOutcome::Crashed,
            (true, false, _) => RunOutcome::Completed,
            (false, _, true) => RunOutcome::BuildFailed,
            (false, _, false) => RunOutcome::NothingRan,
        };
        log.finish(outcome)
    }
}

impl State {
    fn push(&mut self, name: &str, status: TestStatus, kind: Kind, line: &str) {
        self.give_up();
        // Blanks at a line's end belong to a value that goes on.
        let blanks = &line[line.trim_end().len()..];
        self.open = line::is_open(name).then(|| format!("{name}{blanks}"));
        self.found.push(Found {
            name: name.to_owned(),
            status,
            kind,
        });
    }

    /// One more line of a value whose bracket is open.
    fn go_on(&mut self, text: &str) {
        const LONGEST: usize = 4096;
        let Some(open) = &mut self.open else {
            return;
        };
        open.push_str("\\n");
        open.push_str(text);
        if open.len() > LONGEST {
            self.give_up();
        } else if !line::is_open(open)
            && let (Some(whole), Some(last)) = (self.open.take(), self.found.last_mut())
        {
            last.name = whole;
        }
    }

    /// A value that has no end is none that belongs to a name.
    fn give_up(&mut self) {
        if self.open.take().is_some()
            && let Some(last) = self.found.last_mut()
            && let Some((name, _)) = line::valued(&last.name)
        {
            last.name = name.to_owned();
        }
    }

    /// Whether the count is that of these kinds of verdicts.
    fn counts(&self, kinds: &[Kind]) -> bool {
        let number = |failing: bool| {
            let counted = self.found.iter().filter(|found| {
                kinds.contains(&found.kind)
                    && found.status != TestStatus::Skipped
                    && found.status.is_failing() == failing
            });
            counted.count() as u64
        };
        self.counted == Some((number(false), number(true)))
    }

    /// Keeps the verdicts that are to be believed. Returns whether the count agrees with them.
    fn choose(&mut self) -> Option<bool> {
        const CHOICES: &[&[Kind]] = &[
            &[Kind::Strong],
            &[Kind::Strong, Kind::Glued],
            &[Kind::Weak],
            &[Kind::Strong, Kind::Weak],
            &[Kind::Strong, Kind::Glued, Kind::Weak],
        ];
        let kinds = CHOICES.iter().find(|kinds| self.counts(kinds));
        let believed: &[Kind] = kinds.copied().unwrap_or(&[Kind::Strong]);
        self.found.retain(|found| believed.contains(&found.kind));
        self.counted
            .filter(|_| !self.found.is_empty())
            .map(|_| kinds.is_some())
    }

    /// Whether brackets behind a name hold what the check expected and found.
    fn has_values(&self) -> bool {
        let mut any = false;
        for found in &self.found {
            if let Some((_, expected, got)) = line::pair(&found.name) {
                if found.status == TestStatus::Passed && expected != got {
                    return false;
                }
                any = true;
            }
        }
        any
    }

    fn record(&mut self, log: &mut ParsedLogBuilder) {
        if self.has_values() {
            for found in &mut self.found {
                if let Some((name, _)) = line::valued(&found.name) {
                    found.name = name.to_owned();
                }
            }
        }
        // A name may have a number of its own.
        let own: HashSet<&str> = self.found.iter().map(|found| found.name.as_str()).collect();
        let mut times: HashMap<&str, u64> = HashMap::new();
        for Found { name, status, .. } in &self.found {
            let number = times.entry(name).or_default();
            *number += 1;
            if *number == 1 {
                log.record("", name, name, *status);
                continue;
            }
            let mut numbered = format!("{name} #{number}");
            while own.contains(numbered.as_str()) {
                *number += 1;
                numbered = format!("{name} #{number}");
            }
            log.record("", &numbered, &numbered, *status);
        }
    }
}
