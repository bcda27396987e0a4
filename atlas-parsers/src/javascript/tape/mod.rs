//! tape: TAP with a comment as the heading of each test.
//!
//! An assertion is a test; its name is its message. Headings do not tell which test encloses which,
//! so the qualified id has the last heading in front. The totals at the end close a document, and
//! what follows them belongs to none.
//!
//! Points are numbered one after the other, and a failing one has a block below it that begins with
//! the operator. A point whose number was there, or that fails without a block and whose number comes
//! again, was printed by a test.

use crate::common::tap::{Run, Seen, line};
use crate::edges::behind_any;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{LineState, ParsedLog, TestStatus, Totals};

/// tape, and what prints like it.
pub(crate) static TAPE: Shipped = Shipped::new(
    "tape",
    &About {
        languages: &["javascript", "typescript"],
        commands: &[&["tape"]],
        without_report: "what the runner prints is its report (TAP), and it writes no other",
        ..About::new(
            "the TAP of tape 1 to 5",
            "tests without assertions; which test encloses which; which of two lines is real \
             where a test prints a point with the very number that comes next",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[Look(["#", "*"], "o", "*", "")]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'#' if counted(line, b"# pass  ").is_some() && counted(before, b"# tests ").is_some() => {
            Place::End.certain("`# tests` and `# pass  ` with two blanks")
        }
        b' ' if line.starts_with(b"    operator: ") && before == b"  ---" => {
            Place::Within.certain("a block that begins with `operator:`")
        }
        _ => None,
    }
}

/// The number behind the words, and nothing else.
fn counted(line: &[u8], words: &[u8]) -> Option<u64> {
    line::number(line.strip_prefix(words)?.trim_ascii())
}

#[derive(Clone, Debug, Default)]
struct State {
    run: Run,
    block: line::Block,
    heading: String,
    /// The last comment, as it stands.
    comment: Vec<u8>,
    /// The last heading had no point below it yet.
    fresh: bool,
    totals: Totals,
    /// The totals of the document that is open: its end, unless the next point follows.
    tail: Option<Totals>,
    /// The number of the plan, if it was the last line that was not empty.
    plan: Option<u64>,
    failed: u64,
    /// A failing point whose block has not come.
    bare: Option<Bare>,
    /// A document began before another's end: several processes print, or a test does.
    mixed: bool,
}

/// A failing point that has no block, or not yet.
#[derive(Clone, Debug)]
struct Bare {
    number: u64,
    name: String,
    group: String,
    status: TestStatus,
}

/// Parts the message and the directive: the last ` # SKIP` or ` # TODO` that is a word. Messages
/// are printed as they are.
fn title(rest: &[u8]) -> (&[u8], Option<line::Directive>) {
    let mut end = rest.len();
    while let Some(at) = memchr::memrchr(b'#', &rest[..end]) {
        end = at;
        let upper = rest[at..].starts_with(b"# SKIP") || rest[at..].starts_with(b"# TODO");
        if !upper || at > 0 && rest[at - 1] != b' ' {
            continue;
        }
        if let Some(directive) = line::Directive::of(&rest[at + 1..]) {
            return (rest[..at].trim_ascii_end(), Some(directive));
        }
    }
    (rest, None)
}

impl State {
    fn comment(&mut self, line: &[u8]) {
        let plan = self.plan.take();
        if let Some(plan) = plan
            && counted(line, b"# tests ") == Some(plan)
            && self.bare.as_ref().is_some_and(|bare| bare.number == plan)
        {
            self.believe();
        }
        if let Some(tests) = counted(line, b"# tests ")
            && plan == Some(tests)
            && self.run.document.points() == tests
        {
            self.tail = Some(Totals {
                total: Some(tests),
                ..Totals::default()
            });
        } else if let Some(tail) = &mut self.tail {
            self.bare = None;
            tail.add(Totals {
                passed: counted(line, b"# pass  "),
                failed: counted(line, b"# fail  "),
                ..Totals::default()
            });
        } else {
            let text = line[1..].trim_ascii();
            let text = behind_any(text, &[b"SKIP ", b"TODO "]).unwrap_or(text);
            self.comment.clear();
            self.comment.extend_from_slice(text);
            self.fresh = true;
        }
    }
}

impl State {
    /// Where the next point begins behind output without a line end: `some textok 11 title`.
    fn glued(&self, line: &[u8]) -> Option<usize> {
        const TRIES: usize = 16;
        if self.tail.is_some() || !self.run.document.any() {
            return None;
        }
        let mut places = memchr::memmem::find_iter(line, b"ok ").take(TRIES);
        places.find_map(|at| {
            let from = at - if line[..at].ends_with(b"not ") { 4 } else { 0 };
            // Ordinary sentences have blanks between words.
            let before = from.checked_sub(1).map(|before| line[before])?;
            let point = line::point(&line[from..])?;
            (self.is_next(point.number?) && before != b' ').then_some(from)
        })
    }

    /// Whether a point of this number is the next, or the one behind a failure that has no block.
    fn is_next(&self, number: u64) -> bool {
        let next = self.run.document.points() + 1;
        number == next
            || self
                .bare
                .as_ref()
                .is_some_and(|bare| number == bare.number + 1)
    }

    /// Takes the failure that has no block.
    fn believe(&mut self) {
        if let Some(bare) = self.bare.take() {
            self.failed += u64::from(bare.status == TestStatus::Failed);
            self.run.point(Seen {
                number: Some(bare.number),
                name: &bare.name,
                group: &bare.group,
                status: bare.status,
            });
        }
    }

    /// Whether a point was printed by a test: its number was there.
    fn printed(&self, number: u64) -> bool {
        let document = &self.run.document;
        self.tail.is_none() && !self.mixed && document.announced() && number <= document.points()
    }

    /// Ends the document that is open, if its totals were read.
    fn close(&mut self) {
        if self.tail.is_none() {
            self.believe();
        }
        self.bare = None;
        if let Some(tail) = self.tail.take() {
            self.run.plan(tail.total.unwrap_or_default());
            self.run.end();
            self.totals.add(tail);
        } else if let Some(plan) = self.plan.take() {
            self.run.plan(plan);
        }
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        let line = clean(line);
        if self.block.holds(&line) {
            self.believe();
            return;
        }
        if line.is_empty() {
            return;
        }
        if line[0] == b'#' {
            self.comment(&line);
            return;
        }
        if self.tail.is_none() {
            self.plan = None;
        }
        let glued = self.glued(&line);
        match line[0] {
            first if glued.is_some() || matches!(first, b'o' | b'n') => {
                let point =
                    line::point(&line[glued.unwrap_or(0)..]).filter(|point| point.number.is_some());
                let Some((point, number)) = point.and_then(|point| Some((point, point.number?)))
                else {
                    return;
                };
                if self.tail.is_some() && !self.run.document.expects(point.number)
                    || self.printed(number)
                {
                    return;
                }
                match self.bare.as_ref().map(|bare| bare.number) {
                    Some(bare) if bare == number => self.bare = None,
                    Some(bare) if bare + 1 == number || number == 1 => self.believe(),
                    _ => {}
                }
                self.tail = None;
                if self.fresh {
                    self.heading = String::from_utf8_lossy(&self.comment).into_owned();
                }
                let (title, directive) = title(point.rest);
                let status = line::status(point.passed, directive);
                let name = String::from_utf8_lossy(title);
                let next = number == self.run.document.points() + 1;
                if next && !point.passed && self.bare.is_none() {
                    self.bare = Some(Bare {
                        number,
                        name: name.into_owned(),
                        group: self.heading.clone(),
                        status,
                    });
                } else {
                    self.failed += u64::from(status == TestStatus::Failed);
                    self.run.point(Seen {
                        number: point.number,
                        name: &name,
                        group: &self.heading,
                        status,
                    });
                }
                self.fresh = false;
                self.block.point();
            }
            b'1' => {
                self.plan = line::plan(&line);
            }
            b'T' if line::version(&line) => {
                self.mixed |= self.tail.is_none() && self.run.document.any();
                self.close();
                self.run.begin();
                self.heading.clear();
                self.fresh = false;
            }
            b'B' if line.starts_with(b"Bail out!") => {
                self.believe();
                self.run.bail();
            }
            _ => {}
        }
    }

    fn finish(mut self) -> ParsedLog {
        self.close();
        let open = self.run.document.any();
        if open && self.fresh && self.run.document.plan().is_none() && !self.comment.is_empty() {
            let heading = String::from_utf8_lossy(&self.comment).into_owned();
            self.run.log.still_running(heading);
        }
        let declared = self.totals != Totals::default();
        let agrees = self.totals.total == Some(self.run.log.recorded())
            && self.totals.failed.unwrap_or(0) == self.failed;
        let totals = (declared && !open).then_some((self.totals, agrees));
        self.run.finish(totals)
    }
}
