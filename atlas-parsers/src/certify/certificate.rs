//! What certification comes to.

use atlas_core::Evidence;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was asked of a parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// What is read agrees with the truth that was given.
    Agreement,
    /// And the truth holds passed and failed tests.
    Outcomes,
    /// What is read agrees with the counts in the log.
    Totals,
    /// A command that failed has a failed test, a lost module or no end.
    ExitCode,
    /// No test passes whose own line has a word for failing or skipping.
    Words,
    /// No line that looks like a result stays unread.
    Lookalike,
    /// A passed test's line, rewritten as this runner writes a failure, is no pass.
    Flip,
    /// The same with the runner's word for a skipped test.
    Skip,
    /// The names of a passed and a failed test, exchanged in the whole log, exchange the outcomes.
    Swap,
    /// Without its lines a test is not there.
    Drop,
    /// And the counts, where they agreed, no longer agree.
    DropSeen,
    /// A line printed twice changes no outcome.
    Duplicate,
    /// A pass behind a failure of the same test does not hide the failure.
    LatePass,
    /// Text between the lines is no test and mends none.
    Prose,
    /// Text between the lines costs no result.
    Interleave,
    /// Colours change nothing.
    Colours,
    /// Line ends of another system change nothing.
    LineEnds,
    /// A cut log invents nothing.
    Truncation,
    /// A cut log is not taken for a whole one.
    TruncationSeen,
    /// Failures put into the repository are seen, exactly they.
    Injection,
}

impl CheckKind {
    /// Whether one failed check of this kind refuses the parser.
    pub fn is_decisive(self) -> bool {
        !matches!(
            self,
            Self::DropSeen
                | Self::Interleave
                | Self::TruncationSeen
                | Self::Duplicate
                | Self::LineEnds
        )
    }

    /// Whether its outcome depends on where in a log a change falls, and so on the order in which
    /// tests that run side by side happen to print: two runs of the same tests may differ in it.
    pub fn depends_on_order(self) -> bool {
        matches!(self, Self::Interleave | Self::TruncationSeen)
    }

    /// Its name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agreement => "agreement",
            Self::Outcomes => "outcomes",
            Self::Totals => "totals",
            Self::ExitCode => "exit_code",
            Self::Words => "words",
            Self::Lookalike => "lookalike",
            Self::Flip => "flip",
            Self::Skip => "skip",
            Self::Swap => "swap",
            Self::Drop => "drop",
            Self::DropSeen => "drop_seen",
            Self::Duplicate => "duplicate",
            Self::LatePass => "late_pass",
            Self::Prose => "prose",
            Self::Interleave => "interleave",
            Self::Colours => "colours",
            Self::LineEnds => "line_ends",
            Self::Truncation => "truncation",
            Self::TruncationSeen => "truncation_seen",
            Self::Injection => "injection",
        }
    }
}

/// One question and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was asked.
    pub kind: CheckKind,
    /// Whether the parser did as it must.
    pub passed: bool,
    /// The log, the line and what was read instead.
    pub proof: Evidence,
}

/// The checks of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckSummary {
    /// How many were made.
    pub done: u64,
    /// How many held.
    pub passed: u64,
    /// The first that did not, at most five.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Evidence>,
}

/// How far a certificate reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Nothing was shown.
    #[default]
    None,
    /// Changes to logs have the consequences they must have.
    Mutation,
    /// And a report or a second parser says the same.
    Agreement,
    /// And failures put into the repository were seen.
    Injection,
}

/// Whether a parser may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Every decisive check held.
    Certified,
    /// The logs do not show enough, such as no failed test: neither yes nor no.
    #[default]
    Insufficient,
    /// A decisive check did not hold.
    Refused,
}

/// What was asked of a parser and what came of it, as a dataset's row keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// Version of this form: 1.
    pub schema_version: u32,
    /// The parser's id.
    pub parser: String,
    /// What the parser was: the SHA-256 of its rules or source, or the version of this crate.
    pub hash: String,
    /// Yes, no, or not enough to tell.
    pub decision: Decision,
    /// How far it reaches.
    pub level: Level,
    /// The mean share of checks that held, over the kinds that were made; 0 to 1.
    pub score: f64,
    /// How many logs were looked at.
    pub logs: u64,
    /// Why it is refused, or what is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// The checks by kind.
    pub checks: BTreeMap<CheckKind, CheckSummary>,
}

impl Certificate {
    /// Version of the form that is written.
    pub const SCHEMA_VERSION: u32 = 1;

    /// Weighs checks.
    ///
    /// Refused: a decisive check failed. Insufficient: no outcome could be turned, so that nothing
    /// shows that failures are seen. Certified: the rest.
    pub fn weigh(parser: &str, hash: &str, logs: u64, checks: &[Check]) -> Self {
        let mut by_kind: BTreeMap<CheckKind, CheckSummary> = BTreeMap::new();
        for check in checks {
            let summary = by_kind.entry(check.kind).or_default();
            summary.done += 1;
            if check.passed {
                summary.passed += 1;
            } else if summary.failures.len() < 5 {
                summary.failures.push(check.proof.clone());
            }
        }
        let mut reasons = Vec::new();
        for (kind, summary) in &by_kind {
            if let Some(first) = summary.failures.first()
                && kind.is_decisive()
            {
                reasons.push(format!(
                    "{}: {} of {} did not hold; the first: {}",
                    kind.as_str(),
                    summary.done - summary.passed,
                    summary.done,
                    first.text
                ));
            }
        }
        let held = |kind: CheckKind| {
            by_kind
                .get(&kind)
                .is_some_and(|summary| summary.done > 0 && summary.passed == summary.done)
        };
        let turned = [
            CheckKind::Flip,
            CheckKind::Swap,
            CheckKind::Outcomes,
            CheckKind::Injection,
        ]
        .into_iter()
        .any(held);
        let decision = if !reasons.is_empty() {
            Decision::Refused
        } else if turned {
            Decision::Certified
        } else {
            reasons.push(
                "no outcome could be turned: give a log with passed and failed tests, or a \
                 report of the same run"
                    .to_owned(),
            );
            Decision::Insufficient
        };
        let level = match decision {
            Decision::Refused | Decision::Insufficient => Level::None,
            Decision::Certified if held(CheckKind::Injection) => Level::Injection,
            Decision::Certified if held(CheckKind::Agreement) => Level::Agreement,
            Decision::Certified => Level::Mutation,
        };
        Self {
            schema_version: Self::SCHEMA_VERSION,
            parser: parser.to_owned(),
            hash: hash.to_owned(),
            decision,
            level,
            score: mean(&by_kind),
            logs,
            reasons,
            checks: by_kind,
        }
    }
}

/// How many checks of a kind were made, and how many held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckCount {
    /// How many were made.
    pub done: u64,
    /// How many held.
    pub passed: u64,
}

/// A certificate as a dataset's row keeps it: no line of a log, and nothing in which two runs of the
/// same tests may differ. Of the kinds those are left out that
/// [depend on the order](CheckKind::depends_on_order), for the score too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowCertificate {
    /// Version of this form: 1.
    pub schema_version: u32,
    /// The parser's id.
    pub parser: String,
    /// What the parser was: the SHA-256 of its rules or source, or the version of this crate.
    pub hash: String,
    /// Yes, no, or not enough to tell.
    pub decision: Decision,
    /// How far it reaches.
    pub level: Level,
    /// The mean share of checks that held, over these kinds; 0 to 1, four digits.
    pub score: f64,
    /// How many logs were looked at.
    pub logs: u64,
    /// The kinds of decisive checks of which one did not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_by: Vec<CheckKind>,
    /// Why nothing was examined, where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent_because: Option<String>,
    /// The checks by kind.
    pub checks: BTreeMap<CheckKind, CheckCount>,
}

impl Certificate {
    /// What a dataset's row keeps.
    pub fn for_row(&self) -> RowCertificate {
        let kept: BTreeMap<CheckKind, CheckSummary> = self
            .checks
            .iter()
            .filter(|(kind, _)| !kind.depends_on_order())
            .map(|(kind, summary)| (*kind, summary.clone()))
            .collect();
        RowCertificate {
            schema_version: Self::SCHEMA_VERSION,
            parser: self.parser.clone(),
            hash: self.hash.clone(),
            decision: self.decision,
            level: self.level,
            score: (mean(&kept) * 1e4).round() / 1e4,
            logs: self.logs,
            refused_by: kept
                .iter()
                .filter(|(kind, summary)| kind.is_decisive() && summary.passed < summary.done)
                .map(|(kind, _)| *kind)
                .collect(),
            absent_because: None,
            checks: kept
                .into_iter()
                .map(|(kind, CheckSummary { done, passed, .. })| {
                    (kind, CheckCount { done, passed })
                })
                .collect(),
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "checks are counted in thousands, far below 2^52"
)]
fn mean(by_kind: &BTreeMap<CheckKind, CheckSummary>) -> f64 {
    if by_kind.is_empty() {
        return 0.0;
    }
    let shares = by_kind
        .values()
        .map(|summary| summary.passed as f64 / summary.done.max(1) as f64);
    shares.sum::<f64>() / by_kind.len() as f64
}
