//! The page of an evaluation: each verdict with its cause, the lines that prove it, and the patch.

use crate::chart::{self, Bar};
use crate::shell::{self, Live, Section, clean};
use crate::table::{self, DataTable, Kind, More, Row, column};
use crate::{Share, duration, number};
use atlas_core::{Evidence, one_line};
use maud::html;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A verdict on one prediction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VerdictRow {
    /// The instance.
    pub instance_id: String,
    /// The model.
    pub model: String,
    /// How far the evaluation came: `graded`, `not_applied`, ….
    pub outcome: String,
    /// Whether the prediction solves the instance.
    pub resolved: bool,
    /// Why it does not: `model`, `environment`, …; empty where it does.
    pub cause: String,
    /// The reasons, the most telling first.
    pub reasons: Vec<String>,
    /// Lines of logs and patches that prove them.
    pub evidence: Vec<Evidence>,
    /// Signs that the prediction meddled with its own verdict, and what was done about its changes to what steers the runner.
    pub warnings: Vec<String>,
    /// `FAIL_TO_PASS`: passing and all.
    pub fail_to_pass: (u64, u64),
    /// `PASS_TO_PASS`: passing and all.
    pub pass_to_pass: (u64, u64),
    /// Tests of either list that do not pass.
    pub missed: Vec<String>,
    /// Seconds of its tests; absent where nothing ran.
    pub seconds: Option<f64>,
    /// The prediction's patch; absent where it is not at hand.
    pub patch: Option<String>,
    /// The last lines of its log; absent where it is not at hand.
    pub log_end: Option<String>,
}

/// What a model comes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelScore {
    /// The model.
    pub model: String,
    /// Predictions that resolve their instance.
    pub resolved: u64,
    /// All of its predictions.
    pub of: u64,
    /// Their share.
    pub share: Share,
    /// Lower and upper bound of it, in percent: what infrastructure lost counts as failed, and as resolved.
    pub bounds: (f64, f64),
}

/// An evaluation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvaluationPage {
    /// The run's name.
    pub run_id: String,
    /// By whose rules: `strict`, `swebench5`, ….
    pub mode: String,
    /// The models, by name.
    pub models: Vec<ModelScore>,
    /// The verdicts.
    pub verdicts: Vec<VerdictRow>,
    /// What was wrong with the inputs, and what the page lacks.
    pub notes: Vec<String>,
}

/// So many missed tests are named.
const MISSED: usize = 200;

impl EvaluationPage {
    /// The page as HTML.
    pub fn html(&self, live: Option<&Live>) -> String {
        let all = self.verdicts.len();
        let resolved = self.verdicts.iter().filter(|one| one.resolved).count();
        let meddled = self
            .verdicts
            .iter()
            .filter(|one| one.cause == "tampered")
            .count();
        let mut causes: BTreeMap<&str, u32> = BTreeMap::new();
        for verdict in self.verdicts.iter().filter(|one| !one.resolved) {
            *causes.entry(verdict.cause.as_str()).or_default() += 1;
        }
        let lead = html! {
            div.verdict.is-good[resolved == all].is-warn[resolved < all] {
                p {
                    strong { (resolved) " of " (all) " predictions solve their instance" }
                    @if let Some((cause, count)) = causes.iter().max_by_key(|(_, count)| **count) {
                        "; most others for the cause " code { (cause) } " (" (count) ")"
                    }
                    "."
                    @if meddled > 0 { " " span.bad { (meddled) " meddled with their own verdict." } }
                }
            }
            (shell::facts(&[("Rules", self.mode.clone()), ("Models", self.models.len().to_string())]))
            @for note in &self.notes { p.soft { (clean(note)) } }
        };
        let sections = [
            Section::new("verdicts", "Verdicts", self.table()),
            Section::new("models", "Models", self.models()),
            Section::new("causes", "Causes", {
                let groups: Vec<_> = causes
                    .iter()
                    .map(|(cause, count)| {
                        (
                            (*cause).to_owned(),
                            vec![Some(Bar::plain(f64::from(*count)))],
                        )
                    })
                    .collect();
                html! {
                    @if groups.is_empty() { p { "Every prediction is resolved." } }
                    @else { (chart::bars("Predictions that are not resolved, by cause", &["predictions"], &groups, "")) }
                }
            }),
        ];
        shell::page(
            &format!("Evaluation {}", self.run_id),
            &lead,
            &sections,
            live,
        )
    }

    fn table(&self) -> maud::Markup {
        let columns = [
            column("instance", "Instance", Kind::Name),
            column("model", "Model", Kind::Choice),
            column("resolved", "Resolved", Kind::Choice),
            column("cause", "Cause", Kind::Choice),
            column("outcome", "Outcome", Kind::Choice),
            column("f2p", "F2P missed", Kind::Number),
            column("p2p", "P2P missed", Kind::Number),
            column("seconds", "Seconds", Kind::Seconds),
            column("why", "Why", Kind::Text),
        ];
        let rows = self.verdicts.iter().map(|one| {
            let mut more = Vec::new();
            if !one.reasons.is_empty() {
                more.push(More::lines("Why", &one.reasons.join("\n")));
            }
            if !one.evidence.is_empty() {
                more.push(More::lines("Lines that prove it", &said(&one.evidence)));
            }
            if !one.warnings.is_empty() {
                more.push(More::lines(
                    "Changes that steer the runner, and signs of meddling",
                    &one.warnings.join("\n"),
                ));
            }
            if !one.missed.is_empty() {
                let mut names = one.missed[..one.missed.len().min(MISSED)].join("\n");
                if one.missed.len() > MISSED {
                    let _ = write!(names, "\n{} more", one.missed.len() - MISSED);
                }
                more.push(More::lines("Tests that do not pass", &names));
            }
            if let Some(patch) = &one.patch {
                more.push(More::diff("Patch", patch));
            }
            if let Some(log) = &one.log_end {
                more.push(More::lines("End of the log", log));
            }
            let cause = (!one.cause.is_empty()).then_some(one.cause.as_str());
            Row {
                id: format!("{} {}", one.instance_id, one.model),
                cells: vec![
                    clean(&one.instance_id).into(),
                    clean(&one.model).into(),
                    if one.resolved { "yes" } else { "no" }.into(),
                    cause.into(),
                    one.outcome.as_str().into(),
                    (one.fail_to_pass.1 - one.fail_to_pass.0.min(one.fail_to_pass.1)).into(),
                    (one.pass_to_pass.1 - one.pass_to_pass.0.min(one.pass_to_pass.1)).into(),
                    one.seconds.into(),
                    one.reasons.first().map(|why| one_line(why, 100)).into(),
                ],
                tones: BTreeMap::from([("resolved", if one.resolved { "good" } else { "bad" })]),
                more,
            }
        });
        let table = DataTable {
            caption: "Verdicts; the instance opens the reasons, their proof and the patch",
            columns: &columns,
            rows: rows.collect(),
        };
        table.markup("verdicts")
    }

    fn models(&self) -> maud::Markup {
        let rows: Vec<Vec<String>> = self
            .models
            .iter()
            .map(|one| {
                vec![
                    one.model.clone(),
                    one.resolved.to_string(),
                    one.of.to_string(),
                    one.share.said(),
                    format!("{}–{} %", number(one.bounds.0), number(one.bounds.1)),
                    duration(
                        self.verdicts
                            .iter()
                            .filter(|verdict| verdict.model == one.model)
                            .filter_map(|verdict| verdict.seconds)
                            .sum(),
                    ),
                ]
            })
            .collect();
        let heads = [
            ("Model", false),
            ("Resolved", true),
            ("Of", true),
            ("Share (95 %)", true),
            ("Bounds by infrastructure", true),
            ("Tests took", true),
        ];
        let groups: Vec<_> = self
            .models
            .iter()
            .map(|one| (one.model.clone(), vec![one.share.bar()]))
            .collect();
        html! {
            (chart::bars("Resolved by model", &["resolved"], &groups, " %"))
            (table::plain("Models, with Wilson's interval at 95 %", &heads, &rows))
        }
    }
}

fn said(evidence: &[Evidence]) -> String {
    let line = |one: &Evidence| match one.line {
        Some(line) => format!("{}:{line}: {}", one.source, one.text),
        None => format!("{}: {}", one.source, one.text),
    };
    evidence.iter().map(line).collect::<Vec<_>>().join("\n")
}
