//! AVA: its default, verbose and mini reporters, and its TAP.
//!
//! Results stand two blanks deep, as AVA has no suites: `✔ file › title`, where several files run.
//! Behind the title of a failure stands the message; the list of failures that follows has the
//! titles alone, and what is not in that list did not fail. Since AVA 3 a rule, `─`, stands before
//! the list, and before the counts; in older versions the counts come first. Known failures are
//! read from their list, their word or their colour.
//!
//! A title is the id as it is printed, with the file before it or without.

mod line;
mod run;
mod tap;

use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{LineState, ParsedLog, ParsedLogBuilder, RunOutcome};
use run::{Run, Sum};

/// AVA.
pub(crate) static AVA: Shipped = Shipped::new(
    "ava",
    &About {
        languages: &["javascript", "typescript"],
        commands: &[&["ava"]],
        // Its own reporter.
        contains: &["tap"],
        ..About::new(
            "the default, verbose, mini and TAP reporters of AVA 0.15 to 6",
            "passing tests of the mini reporter; known failures of AVA 3 without colours; the \
             exact title of a failure in a log that stops before the list of failures",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["on", "*"], "0-9-", "*", ""),
    Look(["", ""], "~", "*", "fail] "),
    Look(["", ""], "~", "*", "fail]: "),
    Look(["", ""], "~", "*", "pass]: "),
]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    let Some(body) = line.strip_prefix(b"  ") else {
        return tap::mark(line);
    };
    match body.first()? {
        0xe2 => {
            let text = std::str::from_utf8(body).ok()?;
            let worded = line::result(text).is_some_and(|result| result.worded);
            worded.then_some(Mark::certain(
                Place::Within,
                "a `✘ [fail]:` or `✔ [expected fail]` line",
            ))
        }
        b'-' => (body.starts_with(b"- [skip] ") || body.starts_with(b"- [todo] "))
            .then_some(Mark::hint(Place::Within, "a `- [skip]` line")),
        b'0'..=b'9' => {
            let text = std::str::from_utf8(body).ok()?;
            let (_, _, short) = line::count(text)?;
            let rule = before == "  ─".as_bytes();
            match (short, rule) {
                (false, true) => Place::End.certain("counts below a rule"),
                (false, false) => Place::End.hint("`N tests passed`"),
                _ => None,
            }
        }
        _ => None,
    }
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: usize,
    run: Run,
    sum: Sum,
    tap: tap::Tap,
}

impl LineState for State {
    fn line(&mut self, raw: &[u8]) {
        self.line += 1;
        let line = clean(raw);
        self.run
            .line(&line, raw, self.line, &mut self.log, &mut self.sum);
        self.tap.line(&line, self.line);
    }

    fn finish(mut self) -> ParsedLog {
        // TAP may also be what a test prints.
        let counted = self.sum.runs > 0 || self.run.is_counted();
        let tap = !counted && !self.tap.is_empty();
        if !tap {
            self.run.finish(&mut self.log, &mut self.sum);
        }
        let mut sum = self.sum;
        if tap {
            let totals = self.tap.totals;
            let (agrees, timed_out) = self.tap.record(&mut self.log);
            sum.disagrees = !agrees;
            sum.timed_out |= timed_out;
            match totals {
                Some(totals) => sum.totals.add(totals),
                None => sum.truncated = true,
            }
            sum.runs = 1;
        }
        if sum.runs > 0 && !sum.truncated {
            self.log.add_totals(sum.totals);
            self.log.set_consistent(!sum.disagrees);
        }
        let nothing = self.log.recorded() == 0;
        let log = self.log.finish(RunOutcome::NothingRan);
        let outcome = if sum.timed_out {
            RunOutcome::TimedOut
        } else if sum.truncated {
            RunOutcome::Truncated
        } else if nothing && sum.totals.passed.unwrap_or(0) == 0 {
            if log.build_failed() {
                RunOutcome::BuildFailed
            } else {
                RunOutcome::NothingRan
            }
        } else {
            RunOutcome::Completed
        };
        ParsedLog { outcome, ..log }
    }
}
