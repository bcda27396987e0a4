//! prove and `Test::Harness`.
//!
//! Without `-v` the tests are the files: `t/a.t .. ok`. With it they are the points of each file,
//! read as TAP below the line that names the file; a run is verbose if a plan or a passing point
//! is shown. A file that died before its first point is a module without results then.
//!
//! Scripts print what they like. A line that names a file counts where none is open, and all of
//! one run are padded to one width; a bare `ok` ends a file where all points are there or no
//! point follows; the last line of a run says how many files and tests it had.

mod line;
mod run;

use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{LineState, ParsedLog};
use run::Runs;

/// `prove`, and `make test` of Perl.
pub(crate) static PROVE: Shipped = Shipped::new(
    "prove",
    &About {
        languages: &["perl", "shell", "c"],
        aliases: &["test_harness", "tap_harness"],
        commands: &[&["prove"]],
        usual_for: &["perl"],
        contains: &["tap", "bats"],
        ..About::new(
            "prove and Test::Harness 3: plain, -v, -j, -q, -Q, --timer, with colours",
            "single tests without -v; passing files with -Q; which of two lines is real where \
             a script prints a point with the very number that comes next",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["RDA", "eul"], "", "*", ""),
    Look(["-", "-"], "", "-", ""),
    Look(["*", "*"], "*", "*", ".t .."),
]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'R' if line.starts_with(b"Result: ") && line::files(before).is_some() => {
            Place::End.certain("`Files=`, `Tests=` and `Result:`")
        }
        b'D' if line.starts_with(b"Dubious, test returned ") => {
            Place::Within.certain("a `Dubious, test returned` line")
        }
        b'-' if line == b"-------------------" && before == b"Test Summary Report" => {
            Place::Within.certain("a `Test Summary Report`")
        }
        b'A' if line == b"All tests successful." => Place::End.hint("`All tests successful.`"),
        _ => {
            // Every line of a log comes here: a look for the name's end first.
            let mut dots = memchr::memchr_iter(b'.', line);
            if !dots.any(|at| line[at + 1..].starts_with(b"t ..")) {
                return None;
            }
            let header = line::header(line)?;
            let script = header.file.ends_with(b".t");
            script.then_some(Mark::certain(Place::Within, "a `t/….t ..` line"))
        }
    }
}

#[derive(Clone, Debug, Default)]
struct State {
    number: usize,
    runs: Runs,
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.number += 1;
        self.runs.line(&clean(line), self.number);
    }

    fn finish(self) -> ParsedLog {
        self.runs.finish()
    }
}
