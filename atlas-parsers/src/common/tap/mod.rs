//! TAP as it stands: versions 12 to 14, of any producer.
//!
//! A test is a point at the line start; its name is the description without the dash and the
//! directive, or its number where it has none. Points of subtests are indented and belong to the
//! point that sums them up; but node-tap's points are files, and their subtests are the tests
//! ([`subtests`]). Comments and the blocks of diagnostics are no tests.
//!
//! What a program prints may look like a point. Plan and numbers decide: see [`Document`].

mod document;
pub(crate) mod line;
mod subtests;

pub(crate) use document::{Document, Ended, Seen};

use self::subtests::Subtests;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{Evidence, LineState, ParsedLog, ParsedLogBuilder, RunOutcome, Totals};

/// Anything that speaks TAP.
pub(crate) static TAP: Shipped = Shipped::new(
    "tap",
    &About {
        aliases: &["test_more", "qunit", "node_tap"],
        without_report: "what the runner prints is its report (TAP), and it writes no other",
        ..About::new(
            "TAP 12 to 14 of any producer, one document or several",
            "the file a document belongs to; which of two lines is real where a test prints a \
             point with the very number that comes next",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[Look(["T1on", "*"], "", "*", "")]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'T' if line::version(line) => Place::Start.hint("a `TAP version` line"),
        b'1' if line::plan(line).is_some() => Place::Within.hint("a TAP plan"),
        b'o' | b'n' => {
            let point = line::point(line)?;
            point.number?;
            Place::Within.hint("numbered `ok` lines")
        }
        _ => None,
    }
}

/// What the documents of a log come to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    pub(crate) log: ParsedLogBuilder,
    pub(crate) document: Document,
    /// The subtests of node-tap's files.
    subtests: Subtests,
    points: u64,
    /// Points of files whose subtests were recorded in their place.
    resolved: u64,
    planned: u64,
    plans: u64,
    documents: u64,
    /// How many documents lack points or a plan, and whether the last one does.
    broken: u64,
    last_broken: bool,
    doubtful: bool,
    pub(crate) died: bool,
    /// The runner itself says that it came to its end, whatever was planned.
    pub(crate) whole: bool,
}

impl Run {
    /// Lets the document take something, and records the points that this makes sure.
    fn read<T>(&mut self, take: impl FnOnce(&mut Document, &mut dyn FnMut(Seen<'_>)) -> T) -> T {
        let (log, subtests) = (&mut self.log, &mut self.subtests);
        let (points, resolved) = (&mut self.points, &mut self.resolved);
        take(&mut self.document, &mut |seen| {
            *points += 1;
            match subtests.take(seen.name) {
                Some(file) => {
                    *resolved += 1;
                    file.record(log, seen.name);
                }
                None => record(log, seen),
            }
        })
    }

    pub(crate) fn begin(&mut self) {
        let ended = self.read(|document, mut out| document.begin(&mut out));
        self.ended(ended);
    }

    pub(crate) fn plan(&mut self, plan: u64) {
        let ended = self.read(|document, mut out| document.planned(plan, &mut out));
        self.ended(ended);
    }

    pub(crate) fn point(&mut self, seen: Seen<'_>) {
        let ended = self.read(|document, mut out| document.point(seen, &mut out));
        self.ended(ended);
    }

    /// `Bail out!`: nothing more will come.
    pub(crate) fn bail(&mut self) {
        if self.document.any() {
            self.died = true;
            self.end();
        }
    }

    pub(crate) fn end(&mut self) {
        let ended = self.read(|document, mut out| document.end(&mut out));
        self.ended(Some(ended));
    }

    fn ended(&mut self, ended: Option<Ended>) {
        let Some(ended) = ended.filter(|ended| ended.any) else {
            return;
        };
        self.documents += 1;
        self.last_broken = !ended.complete;
        self.broken += u64::from(!ended.complete);
        self.doubtful |= ended.doubtful;
        if let Some(plan) = ended.plan {
            self.plans += 1;
            self.planned = self.planned.saturating_add(plan);
        }
    }

    /// Ends the log. `totals` are those that the runner printed besides its plans.
    pub(crate) fn finish(mut self, totals: Option<(Totals, bool)>) -> ParsedLog {
        self.end();
        let outcome = if self.documents == 0 {
            RunOutcome::NothingRan
        } else if self.died {
            RunOutcome::Crashed
        } else if self.last_broken && !self.whole {
            RunOutcome::Truncated
        } else if self.broken > 0 && !self.whole {
            RunOutcome::Crashed
        } else if self.log.recorded() == 0 {
            RunOutcome::NothingRan
        } else {
            RunOutcome::Completed
        };
        if let Some((totals, agrees)) = totals {
            self.log.add_totals(totals);
            self.log
                .set_consistent(agrees && self.broken == 0 && !self.doubtful);
        } else if self.plans > 0 {
            let agrees = if self.resolved > 0 {
                // The plan counts files, not their tests.
                self.planned == self.points
            } else {
                self.log.add_totals(Totals {
                    total: Some(self.planned),
                    ..Totals::default()
                });
                self.planned == self.log.recorded()
            };
            self.log
                .set_consistent(agrees && self.broken == 0 && !self.doubtful);
        }
        if self.doubtful {
            self.log.warn(
                None,
                "some points are out of order: a test may have printed them",
            );
        }
        self.log.finish(outcome)
    }
}

/// Records a point: by its title, or by its number where it has none.
fn record(log: &mut ParsedLogBuilder, seen: Seen<'_>) {
    let number;
    let name = if seen.name.is_empty() {
        number = seen.number.unwrap_or_default().to_string();
        &number
    } else {
        seen.name
    };
    log.record_in(seen.group, " > ", name, seen.status);
}

/// `# Looks like your test exited with 255 just after 3.`: `Test::More` tells of a death.
pub(crate) fn exited(line: &[u8]) -> bool {
    line.strip_prefix(b"# Looks like your test ")
        .is_some_and(|rest| rest.starts_with(b"exited with ") || rest.starts_with(b"died "))
}

/// A point behind what a test printed without a line end, with the number that came next there. It counts if
/// the one behind it is the next point, or if it is the plan's last.
#[derive(Clone, Debug)]
struct Glued {
    number: u64,
    name: String,
    passed: bool,
    directive: Option<line::Directive>,
}

#[derive(Clone, Debug, Default)]
struct State {
    run: Run,
    /// Which line is read.
    number: usize,
    block: line::Block,
    glued: Option<Glued>,
}

impl State {
    /// Looks for a point inside a line that begins with something else.
    fn look_for_glued(&mut self, line: &[u8]) {
        let next = self.run.document.next();
        if line.starts_with(b" ") || memchr::memmem::find(line, b"ok ").is_none() {
            return;
        }
        let wanted = format!("ok {next}");
        let Some(at) = memchr::memmem::rfind(line, wanted.as_bytes()) else {
            return;
        };
        let at = if line[..at].ends_with(b"not ") {
            at - 4
        } else {
            at
        };
        if let Some(point) = line::point(&line[at..]).filter(|point| point.number == Some(next)) {
            let (title, directive) = line::title(point.rest);
            self.glued = Some(Glued {
                number: next,
                name: line::name(title).into_owned(),
                passed: point.passed,
                directive,
            });
        }
    }

    /// The glued point, where what follows shows that it was one: the next number, or its plan.
    fn unglue(&mut self, follows: Option<u64>, plan: Option<u64>) {
        let next = self.run.document.next();
        let Some(glued) = self.glued.take_if(|glued| {
            glued.number != next || follows == Some(next + 1) || plan == Some(next)
        }) else {
            return;
        };
        if glued.number == next {
            self.run.point(Seen {
                number: Some(next),
                name: &glued.name,
                group: "",
                status: line::status(glued.passed, glued.directive),
            });
        }
    }

    fn cleaned(&mut self, line: &[u8]) {
        self.number += 1;
        if self.block.holds(line) {
            return;
        }
        match line.first() {
            Some(b'o' | b'n') => {
                let Some(point) = line::point(line) else {
                    self.look_for_glued(line);
                    return;
                };
                self.unglue(point.number, None);
                let (title, directive) = line::title(point.rest);
                let name = line::name(title);
                let status = line::status(point.passed, directive);
                if self.run.subtests.open() {
                    let text = String::from_utf8_lossy(line);
                    let at = Evidence::at("log", self.number, text.into_owned());
                    self.run.subtests.close(title, &name, status, at);
                }
                self.run.point(Seen {
                    number: point.number,
                    name: &name,
                    group: "",
                    status,
                });
                self.block.point();
            }
            Some(b'1') => {
                if let Some(plan) = line::plan(line) {
                    self.unglue(None, Some(plan));
                    self.run.plan(plan);
                } else {
                    self.look_for_glued(line);
                }
            }
            Some(b'T' | b't') if line::version(line) => self.run.begin(),
            Some(b'B' | b' ' | b'\t') if line.trim_ascii_start().starts_with(b"Bail out!") => {
                self.run.bail();
            }
            Some(b'#') if line.starts_with(subtests::ANNOUNCED) => {
                let title = &line[subtests::ANNOUNCED.len()..];
                self.run.subtests.begin(title);
            }
            Some(b'#') if exited(line) && !self.run.document.complete() => self.run.died = true,
            _ => {
                self.run.subtests.line(line, self.number);
                self.look_for_glued(line);
            }
        }
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.cleaned(&clean(line));
    }

    fn clean_line(&mut self, line: &[u8]) {
        self.cleaned(line);
    }

    fn text_line(&mut self, line: &str) {
        let plain = line::plain(line).filter(|_| !self.run.subtests.open());
        let Some((passed, number, name)) = plain else {
            self.cleaned(line.as_bytes());
            return;
        };
        self.number += 1;
        // It stands further out than any block.
        self.block.point();
        if self.glued.is_some() {
            self.unglue(Some(number), None);
        }
        self.run.point(Seen {
            number: Some(number),
            name,
            group: "",
            status: line::status(passed, None),
        });
    }

    fn finish(mut self) -> ParsedLog {
        let plan = self.run.document.plan();
        self.unglue(None, plan);
        self.run.finish(None)
    }
}
