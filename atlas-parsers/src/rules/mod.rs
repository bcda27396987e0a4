//! Parsers that are data: a line grammar that a person or a model writes, run by one engine.
//!
//! The engine knows results, announcements, suites, lists of failures, totals, blocks to leave out
//! and marks of a run's course. What cannot be said with these (a table whose columns are tests, an
//! outcome that follows from counting) needs a [`ScriptParser`](crate::ScriptParser).

mod compile;
mod quick;
mod read;
mod set;

pub(crate) use compile::hex_digest;
pub use compile::{RuleError, RuleParser};
pub use read::RuleReading;
pub use set::{IgnoreRule, LineRule, Markers, Per, RuleSet, SectionRule, SuiteRule, TotalsRule};
