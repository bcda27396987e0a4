//! The log readers of the released harnesses, mistakes included.
//!
//! A log is re-graded "as SWE-bench 5.0 would" only if its statuses are the ones that harness would
//! read, so these functions are equal to its readers and not to what a log means: a name is cut where
//! it cuts it, the last line about a test wins, a stray word is a test, and where it raises an
//! exception there is a [`CompatFault`] with the exception's name. For what a log means there are the
//! crate's own parsers. `tests/it/compat.rs` compares every name with the harness's own code.
//!
//! Four things differ, none of which decides a verdict of a log that a runner wrote: a Python text may
//! hold half a surrogate pair, characters newer than Python 3.11 have no class there, titles in JSON that
//! are `1` and `true` are one key there, and some of the harnesses' patterns take exponential time where
//! these do not.
//!
//! A harness opens its log in text mode: who calls must have replaced `\r\n` and `\r` by `\n`.

#[macro_use]
mod text;
mod c;
mod go;
mod java;
mod javascript;
mod json;
mod junit;
mod names;
mod p5js;
mod php;
mod pytest;
mod ruby;
mod rust;
mod trees;
mod unittest;
mod xml;

pub use names::{compat_parser_names, compat_parser_of};

use atlas_core::{Harness, TestIds, TestIdsBuilder};
use names::Reader;
use std::borrow::Cow;

const PASSED: &str = "PASSED";
const FAILED: &str = "FAILED";
const SKIPPED: &str = "SKIPPED";
const ERROR: &str = "ERROR";
const XFAIL: &str = "XFAIL";

/// The words that most readers know.
const STATUSES: [&str; 5] = [FAILED, PASSED, SKIPPED, ERROR, XFAIL];

/// What a reader of a released harness is told besides the log: fields of the instance's row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompatHints {
    /// `version`: two readers choose a format by it.
    pub version: String,
    /// `instance_id`: two readers choose a format by the pull request's number in it.
    pub instance_id: String,
    /// `repo`: SWE-Bench++ chooses a reader by it for a row that names none.
    pub repo: String,
    /// The command that ran the tests. No reader of the three harnesses asks for it.
    pub test_cmd: String,
    /// `language` as SWE-Bench++ writes it (`Python`, `C++`): what a parser's name means there.
    pub language: String,
}

/// The statuses a harness's reader gives: name to status. Any text may be a status, as there.
pub type CompatStatuses = std::collections::BTreeMap<String, String>;

/// The same as lines gave it: of a name that comes again the last status counts. What is only asked
/// for some names is cheaper to have so.
#[derive(Clone, Debug, Default)]
pub struct CompatFound {
    names: TestIdsBuilder,
    statuses: Vec<Cow<'static, str>>,
    /// Whether the names' text begins with the whole log.
    keeps_log: bool,
}

/// The longest log whose text is kept for the names in it: of a longer one they are less than that.
const MOST_KEPT: usize = 1 << 20;

/// The most bytes of names for which room is set aside before any is found.
const MOST_AT_FIRST: usize = 256 << 10;

/// A guess at the bytes of a line that names a test.
const BYTES_OF_A_LINE: usize = 64;

impl CompatFound {
    /// For what lines of this log may name.
    fn of(log: &str) -> Self {
        let bytes = log.len().min(MOST_AT_FIRST);
        let keeps_log = log.len() <= MOST_KEPT;
        Self {
            names: if keeps_log {
                TestIdsBuilder::of_text(log)
            } else {
                TestIdsBuilder::with_capacity(bytes)
            },
            statuses: Vec::with_capacity(bytes / BYTES_OF_A_LINE),
            keeps_log,
        }
    }

    fn push(&mut self, name: &str, status: &str) {
        self.names.push(name);
        self.statuses.push(match status {
            PASSED => Cow::Borrowed(PASSED),
            _ => match STATUSES.into_iter().find(|known| *known == status) {
                Some(known) => Cow::Borrowed(known),
                None => Cow::Owned(status.to_owned()),
            },
        });
    }

    /// The same for a name that stands at this place of the log that this was made [of](Self::of), and a
    /// word that most readers know.
    #[inline]
    fn push_place(&mut self, log: &str, place: std::ops::Range<usize>, status: &'static str) {
        if self.keeps_log {
            self.names.push_within(place);
        } else {
            self.names.push(&log[place]);
        }
        self.statuses.push(Cow::Borrowed(status));
    }

    /// The names, and the status of each.
    pub fn into_parts(self) -> (TestIds, Vec<Cow<'static, str>>) {
        (self.names.finish_in_place(), self.statuses)
    }

    fn into_map(self) -> CompatStatuses {
        let (names, statuses) = self.into_parts();
        // A map is made quicker of what is sorted than name by name; of equal names it keeps the last.
        let pairs = names.iter().map(str::to_owned);
        pairs
            .zip(statuses.into_iter().map(Cow::into_owned))
            .collect()
    }
}

impl From<CompatStatuses> for CompatFound {
    fn from(statuses: CompatStatuses) -> Self {
        let mut found = Self::default();
        for (name, status) in statuses {
            found.push(&name, &status);
        }
        found
    }
}

/// Why a harness's reader raises instead of answering: the exception, as in
/// `IndexError: list index out of range`. The words after its name are Python's where that is easy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CompatFault(String);

type Answer = Result<CompatStatuses, CompatFault>;

impl CompatFault {
    fn new(words: &str) -> Self {
        Self(words.to_owned())
    }

    fn index() -> Self {
        Self::new("IndexError: list index out of range")
    }

    fn value(words: &str) -> Self {
        Self(format!("ValueError: {words}"))
    }

    fn attribute(kind: &str, name: &str) -> Self {
        Self(format!(
            "AttributeError: '{kind}' object has no attribute '{name}'"
        ))
    }

    fn unknown_instance(id: &str) -> Self {
        Self::value(&format!("Unknown instance id: {id}"))
    }
}

/// Reads a log as a released harness does.
///
/// `parser` is what the harness goes by:
/// - SWE-bench 5: the row's `log_parser`, a key of its `PARSER_REGISTRY` such as `parse_log_pytest`.
/// - SWE-bench 4: the function that [`compat_parser_of`] gives for the row's repository.
/// - SWE-Bench++: the row's `log_parser_name` such as `pytest`, which means the reader of that name
///   in the hints' language, or the language's usual reader if it has none of that name. With an empty
///   name, or a language it does not know, the hints' `repo` decides. With an empty language, `parser`
///   is a function's name as [`compat_parser_of`] gives it, or a name that one language has.
///
/// # Errors
/// A [`CompatFault`] where the harness's reader raises, or where it has no reader to call.
///
/// ```
/// use atlas_core::Harness;
/// use atlas_parsers::{CompatHints, compat_parse};
/// let log = "PASSED t.py::test_a\nFAILED t.py::test_b[x - y] - assert 0";
/// let read = |harness| compat_parse(harness, "parse_log_astropy", log, &CompatHints::default());
/// assert_eq!(read(Harness::SweBench5)?["t.py::test_b[x"], "FAILED");
/// # Ok::<(), atlas_parsers::CompatFault>(())
/// ```
pub fn compat_parse(
    harness: Harness,
    parser: &str,
    log: &str,
    hints: &CompatHints,
) -> Result<CompatStatuses, CompatFault> {
    match reader(harness, parser, hints)? {
        Reader::Lines(read) => Ok(read(log).into_map()),
        Reader::Total(read) => Ok(read(log)),
        Reader::Raising(read) => read(log),
        Reader::Told(read) => read(log, hints),
        Reader::Raises(words) => Err(CompatFault::new(words)),
    }
}

/// The same without a map of all names.
///
/// # Errors
/// As [`compat_parse`].
pub fn compat_read(
    harness: Harness,
    parser: &str,
    log: &str,
    hints: &CompatHints,
) -> Result<CompatFound, CompatFault> {
    match reader(harness, parser, hints)? {
        Reader::Lines(read) => Ok(read(log)),
        _ => compat_parse(harness, parser, log, hints).map(CompatFound::from),
    }
}

fn reader(harness: Harness, parser: &str, hints: &CompatHints) -> Result<Reader, CompatFault> {
    let table = match harness {
        Harness::SweBench5 => names::SWEBENCH5,
        Harness::SweBench4 => names::SWEBENCH4,
        Harness::SweBenchPp => return names::find_pp(parser, hints),
    };
    names::find(table, parser).ok_or_else(|| CompatFault(format!("KeyError: '{parser}'")))
}
