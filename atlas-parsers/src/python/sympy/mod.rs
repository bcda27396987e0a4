//! sympy's own runner: `bin/test`, `bin/doctest` and `sympy.test()`.
//!
//! A run begins with `test process starts` and ends with `tests finished: 85 passed, …`. Between
//! them each file is told on a line, `sympy/core/tests/test_basic.py[23] .....   [OK]`, one letter
//! a test; a verbose run names each test on a line. Below stand the tests that passed although
//! they should fail, and those that raised or failed, with their files.
//!
//! Without `--verbose` only these last are named. The letters mix with what tests print, so they
//! are not read. Ids are the names of functions; `file:function` is the qualified id. A doctest is
//! named by its dotted path.

mod line;
mod section;

use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::runs::Runs;
use crate::text::clean;
use atlas_core::{LineState, ParsedLog, ParsedLogBuilder};
use section::Section;

/// The parser.
pub(crate) static SYMPY: Shipped = Shipped::new(
    "sympy",
    &About {
        languages: &["python"],
        aliases: &["python_sympy"],
        commands: &[&["bin/test"], &["bin/doctest"]],
        without_report: "SymPy's own runner writes no report",
        ..About::new(
            "`bin/test` and `bin/doctest`, verbose or not, in colour, in splits",
            "without `--verbose`: tests that pass, are skipped or fail as expected, and with \
             `--tb=no` all others",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["=", "="], "", "*", "cess starts "),
    Look(["=", "="], "", "*", "ts start "),
    Look(["=", "*"], "=t", "*", "s finished: "),
    Look(["D", "O"], "", "*", ""),
]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'=' if starts(line) => Place::Start.certain("sympy's `test process starts`"),
        b'=' | b' ' => {
            let start = line.iter().position(|byte| !matches!(byte, b'=' | b' '))?;
            line[start..]
                .starts_with(b"tests finished: ")
                .then_some(Mark::certain(Place::End, "sympy's `tests finished:`"))
        }
        b'D' if line == b"DO *NOT* COMMIT!" => Place::End.certain("sympy's `DO *NOT* COMMIT!`"),
        _ => None,
    }
}

/// `====== test process starts ======`
fn starts(line: &[u8]) -> bool {
    line.starts_with(b"==")
        && matches!(
            line::centred(line, b'='),
            Some("test process starts" | "doctests start" | "rst doctests start")
        )
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: usize,
    section: Option<Section>,
    runs: Runs,
}

impl State {
    fn settle(&mut self) {
        let Some(section) = self.section.take() else {
            return;
        };
        let (outcome, agrees) = section.settle(&mut self.log);
        self.runs.first_cut(outcome);
        self.runs.agree(agrees);
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let line = clean(line);
        if line.first() == Some(&b'=') && starts(&line) {
            let open = self
                .section
                .as_ref()
                .is_some_and(|section| !section.may_begin_another());
            if !open {
                self.settle();
                self.section = Some(Section::default());
            }
            return;
        }
        if let Some(section) = &mut self.section {
            section.line(&line, self.line);
            if section.ended() {
                self.settle();
            }
        }
    }

    fn finish(mut self) -> ParsedLog {
        self.settle();
        self.runs.finish(self.log, false)
    }
}
