//! The check as a gate.

use super::super::find::HintSubject;
use super::check::leaks;
use super::secrets::Secrets;
use super::{Leak, LeakKind};
use crate::given::SubjectReader;
use crate::variant::BaseFiles;
use async_trait::async_trait;
use atlas_core::{
    Candidate, Confidence, ConfidenceSource, Decision, Error, Finding, Judge, Judgement,
    RunContext, Severity, Subject, Validator, Verdict,
};
use serde_json::{Map, json};
use std::collections::BTreeMap;

/// The gate's name.
const ID: &str = "hint_leaks";

/// What is to be said of a hint about this task: rejected if it tells anything of the solution but the
/// names that the tests need.
///
/// An empty hint gives no evidence. Findings have the codes of [`LeakKind::code`]; their evidence is the
/// line of the hint and the line of the gold patch. Measurements: `leaks`, how many of each code.
///
/// ```
/// use atlas_core::{Decision, Patch};
/// use atlas_judge::hints::{HintSubject, leak_verdict};
/// let subject = HintSubject {
///     gold_patch: Patch::new(
///         "--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,2 @@\n+def pad(cell):\n+    return cell.ljust(widest)\n",
///     ),
///     test_patch: Patch::new(
///         "--- /dev/null\n+++ b/test_a.py\n@@ -0,0 +1,2 @@\n+def test():\n+    assert pad('a')\n",
///     ),
///     ..HintSubject::default()
/// };
/// assert_eq!(leak_verdict(&subject, "- `a.py`: `def pad(cell)`")?.decision, Decision::Accept);
/// assert_eq!(leak_verdict(&subject, "Use `ljust`.")?.decision, Decision::Reject);
/// # Ok::<(), atlas_core::Error>(())
/// ```
///
/// # Errors
/// As [`find_hints`](super::super::find_hints).
pub fn leak_verdict(subject: &HintSubject, hint: &str) -> Result<Verdict, Error> {
    let mut verdict = Verdict {
        validator: ID.to_owned(),
        decision: Decision::NoEvidence,
        findings: Vec::new(),
        quarantine: BTreeMap::new(),
        measurements: Map::new(),
    };
    if hint.trim().is_empty() {
        return Ok(verdict);
    }
    let found = leaks(&Secrets::of(subject)?, hint);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for leak in &found {
        *counts.entry(leak.kind.code()).or_default() += 1;
    }
    verdict.decision = if found.is_empty() {
        Decision::Accept
    } else {
        Decision::Reject
    };
    verdict
        .measurements
        .insert("leaks".to_owned(), json!(counts));
    verdict.findings = found.into_iter().map(finding).collect();
    Ok(verdict)
}

fn finding(leak: Leak) -> Finding {
    let told: String = leak.told.chars().take(120).collect();
    let message = match leak.kind {
        LeakKind::Line => format!("the hint holds a line of the solution: `{told}`"),
        LeakKind::Shape => {
            format!("the hint holds a line of the solution with other names: `{told}`")
        }
        LeakKind::Name => format!("only the solution has the name `{told}`"),
        LeakKind::Text => format!("only the solution has the text `{told}`"),
        LeakKind::Number => format!("only the solution has the number {told}"),
        LeakKind::Comment => format!("words of a comment or text of the solution: {told}"),
        LeakKind::Statement => format!("the hint tells how, not what it is called: `{told}`"),
        LeakKind::Length => format!("{told} are more than a hint has"),
    };
    Finding {
        code: leak.kind.code().to_owned(),
        severity: Severity::Fatal,
        message,
        evidence: std::iter::once(leak.place).chain(leak.gold).collect(),
    }
}

/// [`leak_verdict`] as a gate over the hint in a row's column `hint`.
///
/// The patches are the row's, or where it has none yet the candidate's. A row without a hint gives no
/// evidence.
#[derive(Clone, Debug, Default)]
pub struct LeakCheck {
    hint: Option<String>,
    base: BaseFiles,
}

impl LeakCheck {
    /// The gate over this hint, whatever the row says.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// With the files that the patches change, as they are at the base commit. What stands in them is no
    /// secret; without them only what the patches show of them is known.
    #[must_use]
    pub fn with_base(mut self, base: BaseFiles) -> Self {
        self.base = base;
        self
    }
}

#[async_trait]
impl Validator for LeakCheck {
    fn id(&self) -> &'static str {
        ID
    }

    async fn validate(&self, _: &RunContext, candidate: &Candidate) -> Result<Verdict, Error> {
        let row = &candidate.instance;
        let text = |column: &str| row.text(column).ok().flatten().map(str::to_owned);
        let subject = HintSubject {
            issue: text("problem_statement").unwrap_or_default(),
            gold_patch: candidate.task.gold_patch.clone(),
            test_patch: candidate.task.test_patch.clone(),
            base: self.base.clone(),
            ..HintSubject::default()
        };
        let hint = self.hint.clone().or_else(|| text("hint"));
        leak_verdict(&subject, &hint.unwrap_or_default())
    }
}

/// [`leak_verdict`] as a judge, for hints from elsewhere: `clean`, `leaks`, or `no_hint` where there is
/// nothing to look at.
///
/// Reads what [`HintSubject::of`] does, and the attachment `hint`, a text. Details: `verdict`.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeakJudge;

#[async_trait]
impl Judge for LeakJudge {
    fn id(&self) -> &'static str {
        ID
    }

    async fn judge(&self, _: &RunContext, subject: &Subject) -> Result<Judgement, Error> {
        let given = SubjectReader::new(subject, "look for leaks in the hint of");
        let hint = given.text("hint")?.unwrap_or_default();
        let verdict = leak_verdict(&HintSubject::of(subject)?, &hint)?;
        let (label, reasoning) = match verdict.decision {
            Decision::Accept => ("clean", "the hint tells names alone".to_owned()),
            Decision::NoEvidence => ("no_hint", "there is no hint".to_owned()),
            Decision::Reject | Decision::Repair => {
                let said: Vec<&str> = verdict
                    .findings
                    .iter()
                    .map(|finding| finding.message.as_str())
                    .collect();
                ("leaks", said.join("; "))
            }
        };
        let mut details = Map::new();
        details.insert("verdict".to_owned(), json!(verdict));
        Ok(Judgement {
            label: label.to_owned(),
            confidence: Confidence {
                value: Some(1.0),
                source: ConfidenceSource::Rule,
            },
            reasoning,
            evidence: verdict
                .findings
                .into_iter()
                .flat_map(|finding| finding.evidence)
                .collect(),
            details,
        })
    }
}
