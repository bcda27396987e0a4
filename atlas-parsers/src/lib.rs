//! Log parsers and structured-report readers.
//!
//! One folder per parser, one line each in `registry.rs`. A parser is a [`LogParser`]: a line-driven
//! state machine over bytes, total, linear and silent about what it did not see. The folder's name
//! is the parser's id; its `corpus/` holds real logs, each with a snapshot of what is read from it.
//!
//! [`compat_parse`] is the exception: it reads as the released harnesses do, mistakes included, for
//! who grades a log as they would.
//!
//! For a log that none of them knows there is [`RuleSet`], a parser that is data, and
//! [`ScriptParser`], code of others in a sandbox; [`Synthesiser`] has a model write them. What any
//! parser is worth is found out by [`certify`]: logs are changed, and its readings must change as
//! they do. `docs/parsers.md` has the forms.
//!
//! [`LogParser`]: atlas_core::LogParser

mod certify;
mod common;
mod compat;
mod cpp;
mod csharp;
mod detect;
mod edges;
mod front;
mod go;
mod inner;
mod java;
mod javascript;
mod merge;
mod messages;
mod nested;
mod php;
mod python;
mod read_from;
mod registry;
mod ruby;
mod rules;
mod runner;
mod runs;
mod rust;
mod script;
mod shell;
mod synth;
mod tally;
pub mod text;
mod texts;
mod xml;

pub use certify::{
    Certificate, CertifyCase, Check, CheckCount, CheckKind, CheckSummary, Decision, Examination,
    Injected, InjectionJudgement, Level, RowCertificate, Truth, Turned, certify, certify_with,
    judge_injection, stable_log,
};
pub use compat::{
    CompatFault, CompatFound, CompatHints, CompatStatuses, compat_parse, compat_parser_names,
    compat_parser_of, compat_read,
};
pub use detect::{Certainty, Detection, Detector, Hints, Section, detect};
pub use merge::SectionReader;
pub use messages::message_lines;
pub use read_from::{ReadFrom, read_from};
pub use registry::{BUILTIN, Parsers, UnknownParser};
pub use rules::{
    IgnoreRule, LineRule, Markers, Per, RuleError, RuleParser, RuleReading, RuleSet, SectionRule,
    SuiteRule, TotalsRule,
};
pub use runner::{About, Inner, Look, Mark, Place, Runner};
pub use script::{Cell, ScriptFault, ScriptLimits, ScriptParser, dataset_parser};
pub use synth::{
    Form, SynthAttempt, SynthLog, SynthOptions, SynthReport, SynthRequest, Synthesised,
    Synthesiser, certify_script,
};
