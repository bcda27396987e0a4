//! One row for each policy of each judge: quality beside cost.

use super::BenchJudge;
use atlas_judge::PageTable;
use atlas_judge::metrics::Confusion;
use atlas_judge::metrics::analysis::{Analysis, CriticAnalysis, PolicyAnalysis, PolicyRow};
use atlas_judge::metrics::results::Cost;
use serde::Serialize;
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// What a policy or critic of a judge comes to. Shares are 0 to 1; what is not defined is absent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchRow {
    /// The model.
    pub model: String,
    /// The judge, as [`BenchJudge`] writes it.
    pub judge: String,
    /// The policy, as the analysis names it.
    pub policy: String,
    /// Patches that it judged.
    pub judged: u64,
    /// Patches that it says nothing of.
    pub unjudged: u64,
    /// Patches that it shows.
    pub shown: u64,
    /// Right ones among the shown.
    pub precision: Option<f64>,
    /// The lower and upper end of its interval at 95 %, over tasks.
    pub precision_interval: Option<[f64; 2]>,
    /// Shown ones among the right.
    pub recall: Option<f64>,
    /// The harmonic mean of the two.
    pub f1: Option<f64>,
    /// Patches rightly shown or hidden.
    pub accuracy: Option<f64>,
    /// Wrong ones among the patches that it hides (class-wise precision of "wrong").
    pub negative_precision: Option<f64>,
    /// Hidden ones among the wrong patches (class-wise recall of "wrong").
    pub specificity: Option<f64>,
    /// Filtered success@1 (paper 002, section 5.2).
    pub success_at_1: Option<f64>,
    /// (Pass & validation)@1.
    pub pass_and_validation_at_1: Option<f64>,
    /// Average precision of the judge's number: over tasks of an abstention policy, over patches of others.
    pub average_precision: Option<f64>,
    /// What it is without any skill.
    pub no_skill: Option<f64>,
    /// The expected calibration error of that number, patch by patch.
    pub calibration_error: Option<f64>,
    /// The Wasserstein-1 distance of an abstention policy's probabilities from success rates.
    pub wasserstein: Option<f64>,
    /// Of a critic that speaks of tests: them, with the rule for low confidence (paper 004).
    pub tests: Option<u64>,
    /// Tests that it foretold rightly.
    pub test_accuracy: Option<f64>,
    /// The F1 of tests that pass.
    pub test_f1: Option<f64>,
    /// Spearman's correlation of foretold and actual pass rates over patches.
    pub correlation: Option<f64>,
    /// What the judge's answers cost, whoever paid for them first. Policies of one judge share it.
    pub costs: Cost,
}

/// What the results of a judge cost, from the fields `paid` and `kept` of their lines: answers that another judge, or an
/// ensemble's member by itself, had paid before count as well.
fn costs_of(lines: &[Map<String, Value>]) -> Cost {
    let mut costs = Cost::default();
    for line in lines {
        for name in ["paid", "kept"] {
            let cost = line.get(name).cloned().map(serde_json::from_value::<Cost>);
            if let Some(Ok(cost)) = cost {
                costs += cost;
            }
        }
    }
    costs
}

/// The rows of one judge of one model. `lines` are its results.
pub(super) fn rows_of(
    model: &str,
    judge: BenchJudge,
    analysis: &Analysis,
    lines: &[Map<String, Value>],
) -> Vec<BenchRow> {
    // The first set is over the patches of all agents.
    let Some(set) = analysis.policies.first() else {
        return Vec::new();
    };
    let costs = costs_of(lines);
    let critic = analysis.critics.first();
    // The first policy shows everything, whoever judges.
    let policies = set.policies.iter().skip(1);
    policies
        .map(|row| one(model, judge, set, row, critic, &costs))
        .collect()
}

fn one(
    model: &str,
    judge: BenchJudge,
    set: &PolicyAnalysis,
    row: &PolicyRow,
    critic: Option<&CriticAnalysis>,
    costs: &Cost,
) -> BenchRow {
    let of_tasks = matches!(judge, BenchJudge::Abstain(_));
    let (average_precision, no_skill, calibration) = if of_tasks {
        let found = set.abstention.as_ref();
        found.map(|one| {
            (
                one.average_precision,
                one.no_skill,
                one.calibration.as_ref(),
            )
        })
    } else {
        let found = set.score.as_ref();
        found.map(|one| {
            (
                one.average_precision,
                one.no_skill,
                one.calibration.as_ref(),
            )
        })
    }
    .unwrap_or_default();
    let wasserstein = set.abstention.as_ref().and_then(|one| one.wasserstein);
    let calibration = calibration.and_then(|found| found.reliability.as_ref());
    let critic =
        critic.filter(|critic| critic.pass_rate_correlation.is_some() || is_of_tests(judge));
    let micro = critic
        .filter(|_| is_of_tests(judge))
        .map(|critic| &critic.micro_with_rule);
    BenchRow {
        model: model.to_owned(),
        judge: judge.to_string(),
        policy: row.name.clone(),
        judged: row.judged,
        unjudged: row.unjudged,
        shown: row.shown,
        precision: row.precision,
        precision_interval: row.precision_interval.map(|found| [found.low, found.high]),
        recall: row.recall,
        f1: row.f1,
        accuracy: row.accuracy,
        negative_precision: row.counts.negative_precision(),
        specificity: row.specificity,
        success_at_1: row.success_at.get(&1).and_then(|at| at.value),
        pass_and_validation_at_1: row.pass_and_validation_at.get(&1).and_then(|at| at.value),
        average_precision,
        no_skill,
        calibration_error: calibration.map(|found| found.expected_error),
        wasserstein: wasserstein.filter(|_| of_tasks),
        tests: micro.map(Confusion::total),
        test_accuracy: micro.and_then(Confusion::accuracy),
        test_f1: micro.and_then(Confusion::f1),
        correlation: critic.and_then(|critic| critic.pass_rate_correlation),
        costs: *costs,
    }
}

fn is_of_tests(judge: BenchJudge) -> bool {
    matches!(
        judge,
        BenchJudge::Critic(atlas_judge::critic::CriticMode::Isolated, _)
    )
}

const HEAD: [&str; 20] = [
    "Model",
    "Judge",
    "Policy",
    "Judged",
    "Shown",
    "Precision",
    "95 %",
    "Recall",
    "F1",
    "Success @1",
    "Calls",
    "Tokens",
    "Money",
    "Accuracy",
    "\"Wrong\": precision",
    "\"Wrong\": recall",
    "AP",
    "ECE",
    "Tests: accuracy",
    "Tests: F1",
];

fn cells(row: &BenchRow) -> Vec<String> {
    let none = || "–".to_owned();
    let share =
        |value: Option<f64>| value.map_or_else(none, |value| format!("{:.1}%", value * 100.0));
    let number = |value: Option<f64>| value.map_or_else(none, |value| format!("{value:.3}"));
    let interval = row.precision_interval.map_or_else(none, |[low, high]| {
        format!("{:.1}–{:.1}%", low * 100.0, high * 100.0)
    });
    let costs = &row.costs;
    vec![
        row.model.clone(),
        row.judge.clone(),
        row.policy.clone(),
        row.judged.to_string(),
        row.shown.to_string(),
        share(row.precision),
        interval,
        share(row.recall),
        share(row.f1),
        share(row.success_at_1),
        costs.calls.to_string(),
        (costs.prompt_tokens + costs.completion_tokens).to_string(),
        costs.money.map_or_else(none, |money| format!("{money:.4}")),
        share(row.accuracy),
        share(row.negative_precision),
        share(row.specificity),
        number(row.average_precision),
        number(row.calibration_error),
        share(row.test_accuracy),
        share(row.test_f1),
    ]
}

/// The page's table.
pub(super) fn page_table(rows: &[BenchRow]) -> PageTable {
    PageTable {
        title: "Judges: quality and cost".to_owned(),
        said: "A line for each policy of each judge. The costs are those of the judge, for all its policies.".to_owned(),
        head: HEAD.iter().map(|word| (*word).to_owned()).collect(),
        rows: rows.iter().map(cells).collect(),
    }
}

/// The same as Markdown.
pub(super) fn text_table(rows: &[BenchRow]) -> String {
    let PageTable { head, rows, .. } = page_table(rows);
    let mut text = String::new();
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let _ = writeln!(text, "{}", line(&head));
    let _ = writeln!(text, "|---|---|---|{}", "---:|".repeat(head.len() - 3));
    for row in rows {
        let escaped: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _ = writeln!(text, "{}", line(&escaped));
    }
    text
}
