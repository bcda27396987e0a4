//! Certification: what a parser's readings are worth, shown by changing logs and looking whether
//! the readings change as they must.
//!
//! A parser that drops failures, takes skipped tests for passed ones or counts prose agrees with
//! itself on every log. It no longer does when an outcome is flipped in the runner's own words, a
//! result's line is taken out, or foreign text is put between the lines. The words are learnt from
//! the log: the line of a failed test says how this runner writes a failure.
//!
//! Everything here is pure: who reads the changed logs is up to the caller.

mod certificate;
mod foreign;
mod injection;
mod lines;
mod mutate;
mod run;
mod stable;
mod words;

pub use certificate::{
    Certificate, Check, CheckCount, CheckKind, CheckSummary, Decision, Level, RowCertificate,
};
pub use injection::{Injected, InjectionJudgement, Turned, judge_injection};
pub use run::{CertifyCase, Examination, Truth, certify, certify_with};
pub use stable::stable_log;
pub(crate) use words::{counts_of, looks_like_counts};
