//! What a shipped parser says of the runner it reads.

use atlas_core::LogParser;
use serde::Serialize;

/// A parser that can tell its own runner's output from another's, and describe itself.
pub trait Runner: LogParser {
    /// What it reads, what it cannot know, and the names it goes by.
    fn about(&self) -> &'static About;

    /// What one line of a log says of the runner that printed it.
    ///
    /// `line` is clean (no escape sequences, no line end); `before` is the last line before it
    /// that is not empty, clean too. Called for every line of a log of unknown origin: look at the
    /// first bytes first. A mark that is [certain](Mark::certain) is one that no other runner
    /// prints and no prose holds.
    fn mark(&self, line: &[u8], before: &[u8]) -> Option<Mark>;

    /// What a clean line says of the programs that this runner starts, where it marks the lines
    /// that they print. Without such marks nothing tells a program's output from another's, and the
    /// answer is [`Inner::Nothing`].
    fn inner<'a>(&self, _line: &'a [u8]) -> Inner<'a> {
        Inner::Nothing
    }
}

/// What a driver's line says of the test programs that it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inner<'a> {
    /// Nothing.
    Nothing,
    /// A run begins, which numbers its tests anew.
    Run,
    /// A test begins, for the first time or again: `      Start  3: name`.
    Begins {
        /// The test's number in this run.
        number: u64,
        /// The driver's name for the test.
        name: &'a str,
    },
    /// A line of a test's program: `3: line`.
    Prints {
        /// The test's number in this run.
        number: u64,
        /// The line as the program printed it.
        line: &'a [u8],
    },
}

/// The description of a parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct About {
    /// The languages whose projects use the runner, in lower case; empty for those of any language.
    pub languages: &'static [&'static str],
    /// The forms of output that are read.
    pub reads: &'static str,
    /// What the runner does not print, so that no parser can know it.
    pub cannot_know: &'static str,
    /// Other names of the parser: those of the harnesses' registries, and of runners that print the
    /// same output.
    pub aliases: &'static [&'static str],
    /// The words of a command that name the runner: `["go", "test"]`. Flags may stand between them.
    pub commands: &'static [&'static [&'static str]],
    /// Languages in which this runner is the one that nearly everybody uses.
    pub usual_for: &'static [&'static str],
    /// Parsers whose runners may print inside this one's output: a driver such as `ctest` starts
    /// other runners and reports their results itself.
    pub contains: &'static [&'static str],
}

impl About {
    /// A description with nothing but what every parser must say.
    pub const fn new(reads: &'static str, cannot_know: &'static str) -> Self {
        Self {
            languages: &[],
            reads,
            cannot_know,
            aliases: &[],
            commands: &[],
            usual_for: &[],
            contains: &[],
        }
    }
}

/// Where in a run a mark stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// The first thing the runner prints.
    Start,
    /// Between start and end, or either.
    Within,
    /// The last thing the runner prints.
    End,
    /// The same, of a line that proves nothing by itself: it ends what the runner's certain marks
    /// began, as `</testsuites>` does.
    Close,
}

/// A line that speaks for a runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Mark {
    /// Whether no other runner and no prose has such a line.
    pub certain: bool,
    /// Where it stands.
    pub place: Place,
    /// What was seen, as words that follow "the log has": ``a `test result:` line``.
    pub what: &'static str,
}

impl Mark {
    /// A line that proves the runner.
    pub const fn certain(place: Place, what: &'static str) -> Self {
        Self {
            certain: true,
            place,
            what,
        }
    }

    /// A line that ends a report: what stands between its certain marks and this one is inside it.
    pub const fn close(what: &'static str) -> Self {
        Self {
            certain: false,
            place: Place::Close,
            what,
        }
    }

    /// A line that other runners print too.
    pub const fn hint(place: Place, what: &'static str) -> Self {
        Self {
            certain: false,
            place,
            what,
        }
    }
}
