//! Does a hint tell more than names? (Paper 001, appendix D.2: a hint must not bias.)
//!
//! A hint is compared with the solution line by line and token by token. What the tests, the problem
//! statement and the files at the base say is open, and so are the signatures of what the tests use;
//! all else that the gold patch adds is the solution's own ([`secrets`]): locals, helpers that it calls,
//! texts, numbers, comments. A hint that says any of it is refused, and so is one that holds statements,
//! in whatever words.
//!
//! Not seen: an algorithm told in plain sentences; names of fewer than three letters; a name that is a
//! plain word (`total`) where it is not written as code; numbers of one digit.

mod check;
mod gate;
mod lexer;
mod secrets;

pub use gate::{LeakCheck, LeakJudge, leak_verdict};

use atlas_core::Evidence;
use serde::{Deserialize, Serialize};

/// What of the solution a hint tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeakKind {
    /// A line, but for white space.
    Line,
    /// A line with other names in it.
    Shape,
    /// A name that only the solution has: a local, a helper, a function that it calls.
    Name,
    /// A text in quotes.
    Text,
    /// A number.
    Number,
    /// Words of a comment or of a long text.
    Comment,
    /// Statements: what is to be done instead of what it is called.
    Statement,
    /// So long that it is no hint.
    Length,
}

impl LeakKind {
    /// The finding's code.
    pub fn code(self) -> &'static str {
        match self {
            Self::Line => "copied_line",
            Self::Shape => "copied_shape",
            Self::Name => "own_name",
            Self::Text => "own_text",
            Self::Number => "own_number",
            Self::Comment => "own_comment",
            Self::Statement => "tells_how",
            Self::Length => "too_long",
        }
    }
}

/// One thing that a hint tells and must not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leak {
    /// What it is.
    pub kind: LeakKind,
    /// It as the hint has it.
    pub told: String,
    /// The line of the hint.
    pub place: Evidence,
    /// Where the gold patch has it; none for statements.
    pub gold: Option<Evidence>,
}
