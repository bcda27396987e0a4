//! Hints (paper 001, section 3.4, layer 3, and its appendix D): does a problem statement withhold names
//! that the tests need, and which signatures, at the least, have to be told?
//!
//! Three sources say whether a hint is needed. The log of Before names symbols that are missing and that
//! the gold patch brings ([`HintRule::BeforeLog`]). The syntax trees show names that the tests use, that
//! exist after the gold patch and not before it ([`HintRule::GoldenRule`]). A model, if there is one, is
//! shown examples and asked ([`HintRule::Model`]); it may add names, never signatures of its own, and it
//! cannot take away what a rule has shown. In all three a name that the issue mentions needs no hint.
//!
//! The text of a hint is made by rule alone: for each name that is needed one line with the file and the
//! signature, never a body. [`leak_verdict`] compares it, and any hint from elsewhere, with the solution;
//! one that tells more than names is refused ([`LeakCheck`] is the gate).
//!
//! What is not known: values that a test expects and the issue does not tell (messages, defaults, names
//! of options inside strings) are no names of code, and no rule here sees them; nor are operators and
//! conversions that no test calls by name (`__eq__`, `FromStr`); types are not resolved,
//! so of two new methods of one name the one whose class the tests mention is taken, else the first; a
//! parameter whose type alone changes is seen only if the log of Before tells of it.

mod arity;
mod find;
mod issue;
mod leak;
mod log;
mod model;
mod surface;
mod usage;
mod values;

pub use find::{HintNeed, HintReport, HintRule, HintSubject, find_hints};
pub use leak::{Leak, LeakCheck, LeakJudge, LeakKind, leak_verdict};
pub(crate) use log::is_missing;
pub use model::{HintJudge, HintOptions, hint_prompt};
