//! The analysis as Markdown tables.

use super::{Analysis, CriticAnalysis, PolicyAnalysis};
use crate::metrics::{Confusion, share};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The values of `k` that tables have a column for, of those that there are.
const TABLE_KS: [u64; 5] = [1, 3, 5, 10, 20];

impl PolicyAnalysis {
    /// The values of `k` that a table shows: 1, 3, 5, 10, 20 as far as they are there, and the last.
    pub fn table_ks(&self) -> Vec<u64> {
        let last = self.ks.last();
        self.ks
            .iter()
            .copied()
            .filter(|k| TABLE_KS.contains(k) || Some(k) == last)
            .collect()
    }

    /// Every kind of patch that has a lift.
    pub fn kinds(&self) -> BTreeSet<&str> {
        let kinds = self.policies.iter().flat_map(|row| row.lift.keys());
        kinds.map(String::as_str).collect()
    }
}

impl Analysis {
    /// All tables as Markdown.
    pub fn to_markdown(&self) -> String {
        let mut text = format!(
            "{} lines, {} tasks, {} patches of {} agents.\n",
            self.lines,
            self.instances,
            self.agents.values().sum::<u64>(),
            self.agents.len()
        );
        if self.agents.is_empty() {
            text.push_str("\nThere is nothing to measure.\n");
        }
        for note in &self.notes {
            let _ = write!(text, "\nNote: {note}\n");
        }
        for set in &self.policies {
            policies(&mut text, set);
        }
        for critic in &self.critics {
            critics(&mut text, critic);
        }
        text
    }
}

/// A share in percent with one digit; a dash where it is not defined.
pub(crate) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.1}%", share * 100.0))
}

/// A number with three digits after the point; a dash where it is not defined.
pub(crate) fn decimal(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"))
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}

/// A table of cells whose first column is text.
fn table(text: &mut String, head: &[String], rows: impl IntoIterator<Item = Vec<String>>) {
    let line = |text: &mut String, cells: &[String]| {
        for cell in cells {
            let _ = write!(text, "| {cell} ");
        }
        text.push_str("|\n");
    };
    text.push('\n');
    line(text, head);
    text.push_str("|---");
    text.push_str(&"|---:".repeat(head.len().saturating_sub(1)));
    text.push_str("|\n");
    for row in rows {
        line(text, &row);
    }
}

fn words(head: &[&str]) -> Vec<String> {
    head.iter().map(|word| (*word).to_owned()).collect()
}

fn policies(text: &mut String, set: &PolicyAnalysis) {
    let _ = write!(
        text,
        "\n## Policies: {}\n\n{} tasks ({} fixable, {}), {} patches ({} right, {}).\n",
        cell(&set.name),
        set.bugs,
        set.fixable,
        percent(share(set.fixable, set.bugs)),
        set.patches,
        set.resolved,
        percent(share(set.resolved, set.patches)),
    );
    for note in &set.notes {
        let _ = write!(text, "\nNote: {note}\n");
    }
    let head = words(&[
        "Policy",
        "Shown",
        "Share",
        "Tasks",
        "Precision",
        "95 %",
        "Recall",
        "F1",
        "FPR of all",
        "FPR of reached",
        "Cut-off",
        "Unjudged",
    ]);
    table(
        text,
        &head,
        set.policies.iter().map(|row| {
            vec![
                row.name.clone(),
                row.shown.to_string(),
                percent(row.shown_share),
                row.bugs_shown.to_string(),
                percent(row.precision),
                interval(row.precision_interval),
                percent(row.recall),
                percent(row.f1),
                percent(row.false_positives.of_all),
                percent(row.false_positives.of_reached),
                decimal(row.cutoff),
                row.unjudged.to_string(),
            ]
        }),
    );
    let ks = set.table_ks();
    let mut head = words(&["Filtered success"]);
    head.extend(ks.iter().map(|k| format!("@{k}")));
    head.extend(words(&[
        "@1 95 %",
        "Tasks",
        "pass & validation @1",
        "validation recall @1",
    ]));
    table(
        text,
        &head,
        set.policies.iter().map(|row| {
            let mut cells = vec![row.name.clone()];
            let at = |k: &u64| percent(row.success_at.get(k).and_then(|at| at.value));
            cells.extend(ks.iter().map(at));
            cells.push(interval(row.success_at_1_interval));
            let counted = row.success_at.get(&1).map_or(0, |at| at.bugs_counted);
            cells.push(counted.to_string());
            let both = row.pass_and_validation_at.get(&1);
            cells.push(percent(both.and_then(|at| at.value)));
            cells.push(percent(row.recall_at.get(&1).and_then(|at| at.value)));
            cells
        }),
    );
    let kinds = set.kinds();
    if !kinds.is_empty() {
        let mut head = words(&["Lift @1"]);
        head.extend(kinds.iter().map(|kind| cell(kind)));
        table(
            text,
            &head,
            set.policies.iter().map(|row| {
                let mut cells = vec![row.name.clone()];
                cells.extend(
                    kinds
                        .iter()
                        .map(|kind| decimal(row.lift.get(*kind).copied().flatten())),
                );
                cells
            }),
        );
    }
    table(
        text,
        &words(&["Left", "Tasks", "Patches", "Right", "Precision"]),
        set.funnel.iter().map(|step| {
            vec![
                step.name.clone(),
                step.bugs.to_string(),
                step.patches.to_string(),
                step.resolved.to_string(),
                percent(share(step.resolved, step.patches)),
            ]
        }),
    );
    if let Some(found) = &set.abstention {
        let _ = write!(
            text,
            "\nAbstention over {} tasks ({}): AP {}, no skill {}, precision {}, recall {}, FPR {}, \
             Wasserstein-1 {}.\n",
            found.bugs,
            cell(&found.source),
            decimal(found.average_precision),
            decimal(found.no_skill),
            percent(found.counts.precision()),
            percent(found.counts.recall()),
            percent(found.counts.fpr()),
            decimal(found.wasserstein),
        );
    }
    if let Some(found) = &set.score {
        let _ = write!(
            text,
            "\nValidation score over {} patches ({}): AP {}, no skill {}.\n",
            found.patches,
            cell(&found.source),
            decimal(found.average_precision),
            decimal(found.no_skill),
        );
    }
}

pub(crate) fn interval(found: Option<crate::metrics::ConfidenceInterval>) -> String {
    found.map_or_else(
        || "–".to_owned(),
        |found| format!("{:.1}–{:.1}%", found.low * 100.0, found.high * 100.0),
    )
}

/// The columns of paper 004's tables.
pub(crate) fn shares(counts: &Confusion) -> Vec<String> {
    [
        counts.accuracy(),
        counts.precision(),
        counts.recall(),
        counts.f1(),
        counts.specificity(),
    ]
    .map(percent)
    .to_vec()
}

pub(crate) fn critic_name(variant: &str) -> &str {
    if variant.is_empty() {
        "unnamed"
    } else {
        variant
    }
}

fn critics(text: &mut String, critic: &CriticAnalysis) {
    let _ = write!(
        text,
        "\n## Critic: {}\n\n{} patches, {} tests ({} more without a known end, {} patches without \
         tests).\n",
        cell(critic_name(&critic.variant)),
        critic.patches,
        critic.tests,
        critic.tests_without_truth,
        critic.empty
    );
    let head = words(&[
        "",
        "Count",
        "Accuracy",
        "Precision",
        "Recall",
        "F1",
        "Specificity",
    ]);
    let row = |name: &str, counts: &Confusion| {
        let mut cells = vec![name.to_owned(), counts.total().to_string()];
        cells.extend(shares(counts));
        cells
    };
    let mut rows = vec![
        row("tests", &critic.micro),
        row("tests, low-confidence rule", &critic.micro_with_rule),
        row("patches", &critic.r#macro),
        row("patches, low-confidence rule", &critic.macro_with_rule),
    ];
    if let Some(coin) = critic.random {
        let q = percent(Some(coin.precision()));
        let specificity = percent(Some(1.0 - coin.precision()));
        rows.push(vec![
            "weighted coin, tests".to_owned(),
            critic.tests.to_string(),
            percent(Some(coin.accuracy())),
            q.clone(),
            q.clone(),
            q,
            specificity,
        ]);
    }
    table(text, &head, rows);
    table(
        text,
        &words(&[
            "Agent",
            "Patches",
            "Accuracy, tests",
            "F1, tests",
            "Accuracy, patches",
            "F1, patches",
            "Predicted pass rate",
            "Actual",
            "Rank correlation",
        ]),
        critic.agents.iter().map(|agent| {
            vec![
                cell(&agent.agent),
                agent.patches.to_string(),
                percent(agent.micro.accuracy()),
                percent(agent.micro.f1()),
                percent(agent.r#macro.accuracy()),
                percent(agent.r#macro.f1()),
                percent(agent.predicted_pass_rate),
                percent(agent.actual_pass_rate),
                decimal(agent.correlation),
            ]
        }),
    );
    let found = &critic.instance_correlations;
    let _ = write!(
        text,
        "\nOrder of agents, task by task: {} rank correlations (mean {}, {} exactly 1), {} tasks \
         where it is not defined.\n",
        found.defined,
        decimal(found.mean),
        percent(found.share_perfect),
        found.undefined,
    );
}
