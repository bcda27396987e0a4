//! What a shipped parser says of the runner it reads.

use atlas_core::{ByLine, LineState, LogParser, LogReader, ParsedLog};
use serde::Serialize;
use std::fmt;

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

    /// What lines with a mark look like; without any the runner is asked about all lines of a log.
    fn looks(&self) -> &'static [Look] {
        &[]
    }

    /// What a clean line says of the programs that this runner starts, where it marks the lines
    /// that they print. Without such marks nothing tells a program's output from another's, and the
    /// answer is [`Inner::Nothing`].
    fn inner<'a>(&self, _line: &'a [u8]) -> Inner<'a> {
        Inner::Nothing
    }
}

/// A parser of this crate: the name, the runner and where reading begins.
///
/// Every log that it reads bears its name, so a state need not know it.
pub(crate) struct Shipped {
    id: &'static str,
    about: &'static About,
    mark: fn(&[u8], &[u8]) -> Option<Mark>,
    inner: for<'a> fn(&'a [u8]) -> Inner<'a>,
    looks: &'static [Look],
    start: fn() -> Box<dyn LogReader>,
}

impl Shipped {
    /// A parser of that id. `mark` is [`Runner::mark`], and `start` makes what reads one log, most
    /// often [`by_line`].
    pub(crate) const fn new(
        id: &'static str,
        about: &'static About,
        mark: fn(&[u8], &[u8]) -> Option<Mark>,
        start: fn() -> Box<dyn LogReader>,
    ) -> Self {
        Self {
            id,
            about,
            mark,
            inner: |_| Inner::Nothing,
            looks: &[],
            start,
        }
    }

    /// The same of a runner that marks the lines of the programs it starts: [`Runner::inner`].
    pub(crate) const fn with_programs(mut self, inner: for<'a> fn(&'a [u8]) -> Inner<'a>) -> Self {
        self.inner = inner;
        self
    }

    /// The same with what its marks look like: [`Runner::looks`].
    pub(crate) const fn looking(mut self, looks: &'static [Look]) -> Self {
        self.looks = looks;
        self
    }
}

impl fmt::Debug for Shipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shipped").field(&self.id).finish()
    }
}

impl LogParser for Shipped {
    fn id(&self) -> &str {
        self.id
    }

    fn start(&self) -> Box<dyn LogReader> {
        Box::new(Named {
            id: self.id,
            reader: (self.start)(),
        })
    }
}

impl Runner for Shipped {
    fn about(&self) -> &'static About {
        self.about
    }

    fn mark(&self, line: &[u8], before: &[u8]) -> Option<Mark> {
        (self.mark)(line, before)
    }

    fn looks(&self) -> &'static [Look] {
        self.looks
    }

    fn inner<'a>(&self, line: &'a [u8]) -> Inner<'a> {
        (self.inner)(line)
    }
}

/// What lines with a mark of a runner look like: the first byte and the second one, where the first is no
/// blank; the first byte behind the blanks that others begin with; the last byte; a text that they hold. `a-z`
/// is a range, `~` every byte above ASCII, `*` alone any; an empty first byte stands for any begin, blanks included.
///
/// The texts of all runners are looked for at once, by their first four bytes: none begins with another, and they are cut
/// in front so that few lines hold what looks like one. At most 128 looks fit into the table of all runners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look(
    pub [&'static str; 2],
    pub &'static str,
    pub &'static str,
    pub &'static str,
);

/// Gives what is read the name of its parser.
struct Named {
    id: &'static str,
    reader: Box<dyn LogReader>,
}

impl LogReader for Named {
    fn feed(&mut self, bytes: &[u8]) {
        self.reader.feed(bytes);
    }

    fn finish(self: Box<Self>) -> ParsedLog {
        ParsedLog {
            parser: self.id.to_owned(),
            ..self.reader.finish()
        }
    }
}

/// Reads a log line by line, from a state's beginning.
pub(crate) fn by_line<S: LineState + Clone + Default + 'static>() -> Box<dyn LogReader> {
    Box::new(ByLine::new(S::default()))
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
    /// Why nothing asks the runner for a structured report beside its output; empty where a report is asked for.
    #[serde(skip)]
    pub without_report: &'static str,
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
            without_report: "",
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

#[expect(
    clippy::unnecessary_wraps,
    reason = "what looks for marks answers with an option"
)]
impl Place {
    /// The answer of a function that looks for marks: a [certain](Mark::certain) one here.
    pub(crate) const fn certain(self, what: &'static str) -> Option<Mark> {
        Some(Mark::certain(self, what))
    }

    /// The same of a line that other runners print too.
    pub(crate) const fn hint(self, what: &'static str) -> Option<Mark> {
        Some(Mark::hint(self, what))
    }
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
