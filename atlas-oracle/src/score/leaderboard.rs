//! Models side by side, as Table 4 of paper 001 has them.

use super::pass_at_k::{AttemptCount, PassAtKRow, TaskGroups, cell, pass_at_k_table, percent};
use super::wilson;
use crate::Interval;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The columns of Table 4 in its order, and the languages that each takes in, in lower case.
const COLUMNS: [(&str, &[&str]); 9] = [
    ("Py", &["py", "python"]),
    ("Java", &["java"]),
    (
        "JS/TS",
        &[
            "js",
            "ts",
            "jsx",
            "tsx",
            "javascript",
            "typescript",
            "js/ts",
            "node",
        ],
    ),
    ("Rust", &["rs", "rust"]),
    ("C/C++", &["c", "c++", "cpp", "cc", "cxx", "c/c++"]),
    ("Go", &["go", "golang"]),
    ("PHP", &["php"]),
    ("Ruby", &["rb", "ruby"]),
    ("C#", &["c#", "cs", "csharp"]),
];

/// The column of a language; one that the table does not know has a column of its own.
fn column(language: &str) -> &str {
    let lower = language.trim().to_lowercase();
    let known = COLUMNS
        .iter()
        .find(|(_, names)| names.contains(&lower.as_str()));
    known.map_or(language, |(name, _)| *name)
}

/// One model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeaderboardRow {
    /// From 1; models with the same share have the same rank, and the next has as many more.
    pub rank: u64,
    /// The model.
    pub model: String,
    /// Pass@k over all instances, 0 to 1.
    pub overall: f64,
    /// Wilson's interval of it at 95 %, over instances.
    pub interval: Interval,
    /// Pass@k by column, 0 to 1; a column without instances is absent.
    pub per_language: BTreeMap<String, f64>,
    /// Instances without any prediction, counted as not resolved.
    pub missing: u64,
    /// Instances with fewer than `k` predictions, the missing ones counted as not resolved.
    pub padded: u64,
}

/// The table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Leaderboard {
    /// The `k` of pass@k.
    pub k: u64,
    /// Instances of the dataset.
    pub instances: u64,
    /// The columns in order: those of Table 4, then other languages by name.
    pub columns: Vec<String>,
    /// Instances by column.
    pub column_instances: BTreeMap<String, u64>,
    /// The models, best first; those of one rank by name.
    pub rows: Vec<LeaderboardRow>,
}

/// Compares models over a dataset by pass@k, overall and by language.
///
/// Every instance of the dataset counts for every model: one without predictions as not resolved.
pub fn leaderboard(
    tasks: &BTreeMap<String, TaskGroups>,
    models: &BTreeMap<String, BTreeMap<String, AttemptCount>>,
    k: u64,
) -> Leaderboard {
    let by_column: BTreeMap<String, TaskGroups> = tasks
        .iter()
        .map(|(id, groups)| {
            let language = column(&groups.language).to_owned();
            let groups = TaskGroups {
                language,
                ..TaskGroups::default()
            };
            (id.clone(), groups)
        })
        .collect();
    let mut column_instances: BTreeMap<String, u64> = BTreeMap::new();
    for groups in by_column
        .values()
        .filter(|groups| !groups.language.is_empty())
    {
        *column_instances.entry(groups.language.clone()).or_default() += 1;
    }
    let mut columns: Vec<String> = COLUMNS.iter().map(|(name, _)| (*name).to_owned()).collect();
    for name in column_instances.keys() {
        if !columns.contains(name) {
            columns.push(name.clone());
        }
    }
    let share = |row: &PassAtKRow| row.pass_at.get(&k).copied().unwrap_or(0.0);
    let mut rows: Vec<LeaderboardRow> = models
        .iter()
        .map(|(model, attempts)| {
            let table = pass_at_k_table(&by_column, attempts, &[k]);
            LeaderboardRow {
                rank: 0,
                model: model.clone(),
                overall: share(&table.overall),
                interval: wilson(share(&table.overall), table.overall.instances),
                per_language: table
                    .per_language
                    .iter()
                    .map(|(name, row)| (name.clone(), share(row)))
                    .collect(),
                missing: table.overall.missing,
                padded: table.overall.padded,
            }
        })
        .collect();
    rows.sort_by(|a, b| {
        b.overall
            .total_cmp(&a.overall)
            .then_with(|| a.model.cmp(&b.model))
    });
    let mut last = (f64::NAN, 0);
    for (at, row) in (1..).zip(&mut rows) {
        // Sums of the same shares in another order differ in their last digits.
        if (row.overall - last.0).abs() < 1e-12 {
            row.rank = last.1;
        } else {
            row.rank = at;
            last = (row.overall, at);
        }
    }
    Leaderboard {
        k,
        instances: tasks.len() as u64,
        columns,
        column_instances,
        rows,
    }
}

impl Leaderboard {
    /// The table as Markdown, with what was counted as not resolved below it.
    pub fn to_markdown(&self) -> String {
        let mut text = format!("| Rank | Model | Overall pass@{} (95 %) |", self.k);
        for name in &self.columns {
            let _ = write!(text, " {} |", cell(name));
        }
        text.push_str("\n|---:|---|---:|");
        text.push_str(&"---:|".repeat(self.columns.len()));
        text.push('\n');
        for row in &self.rows {
            let _ = write!(
                text,
                "| {} | {} | {} ({}–{}) |",
                row.rank,
                cell(&row.model),
                percent(Some(row.overall)),
                percent(Some(row.interval.low)),
                percent(Some(row.interval.high)),
            );
            for name in &self.columns {
                let _ = write!(text, " {} |", percent(row.per_language.get(name).copied()));
            }
            text.push('\n');
        }
        let _ = write!(
            text,
            "\n{} instances. By language: pass@{}.\n",
            self.instances, self.k
        );
        for row in &self.rows {
            if row.missing + row.padded > 0 {
                let _ = writeln!(
                    text,
                    "\n{}: {} instances without a prediction count as not resolved; {} have fewer \
                     than {} predictions, and the missing ones count as not resolved.",
                    row.model, row.missing, row.padded, self.k
                );
            }
        }
        text
    }
}
