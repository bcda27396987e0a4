//! Pass@k over several predictions an instance.

use atlas_core::pass_at_k;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// How many predictions of an instance there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptCount {
    /// Predictions.
    pub n: u64,
    /// Those that are resolved.
    pub c: u64,
}

impl AttemptCount {
    /// One more prediction.
    pub fn add(&mut self, resolved: bool) {
        self.n += 1;
        self.c += u64::from(resolved);
    }

    /// Pass@k, with predictions that are missing up to `k` counted as not resolved.
    pub fn pass_at(self, k: u64) -> f64 {
        pass_at_k(self.n.max(k), self.c.min(self.n), k).unwrap_or(0.0)
    }
}

/// What instances are grouped by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskGroups {
    /// The language.
    pub language: String,
    /// The domain; empty where nobody says.
    pub domain: String,
    /// `owner/name`.
    pub repo: String,
}

/// Pass@k of one group: the mean over its instances.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PassAtKRow {
    /// Instances of the group.
    pub instances: u64,
    /// Those without any prediction, counted as not resolved.
    pub missing: u64,
    /// Those with fewer predictions than the largest `k`, counted as if the rest were not resolved.
    pub padded: u64,
    /// `k` to pass@k, 0 to 1.
    pub pass_at: BTreeMap<u64, f64>,
}

/// Pass@k over a dataset and its groups.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PassAtK {
    /// The values of `k`.
    pub ks: Vec<u64>,
    /// All instances.
    pub overall: PassAtKRow,
    /// By language.
    pub per_language: BTreeMap<String, PassAtKRow>,
    /// By domain; instances without one are in none.
    pub per_domain: BTreeMap<String, PassAtKRow>,
    /// By repository.
    pub per_repo: BTreeMap<String, PassAtKRow>,
    /// Instances with predictions that are not in the dataset: counted nowhere.
    pub outside: Vec<String>,
}

/// Pass@k of one model over a dataset.
///
/// Every instance of the dataset counts: one without predictions as not resolved, and one with fewer
/// than `k` as if the missing ones were not resolved.
pub fn pass_at_k_table(
    tasks: &BTreeMap<String, TaskGroups>,
    attempts: &BTreeMap<String, AttemptCount>,
    ks: &[u64],
) -> PassAtK {
    let ks: Vec<u64> = ks
        .iter()
        .copied()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let mut table = PassAtK {
        outside: attempts
            .keys()
            .filter(|id| !tasks.contains_key(*id))
            .cloned()
            .collect(),
        ..PassAtK::default()
    };
    for (id, groups) in tasks {
        let count = attempts.get(id).copied().unwrap_or_default();
        table.overall.add(count, &ks);
        for (by, name) in [
            (&mut table.per_language, &groups.language),
            (&mut table.per_domain, &groups.domain),
            (&mut table.per_repo, &groups.repo),
        ] {
            if !name.is_empty() {
                by.entry(name.clone()).or_default().add(count, &ks);
            }
        }
    }
    let by_group = [
        &mut table.per_language,
        &mut table.per_domain,
        &mut table.per_repo,
    ];
    for row in by_group.into_iter().flat_map(BTreeMap::values_mut) {
        row.mean(&ks);
    }
    table.overall.mean(&ks);
    table.ks = ks;
    table
}

impl PassAtKRow {
    fn add(&mut self, count: AttemptCount, ks: &[u64]) {
        self.instances += 1;
        self.missing += u64::from(count.n == 0);
        let most = ks.last().copied().unwrap_or(0);
        self.padded += u64::from(count.n > 0 && count.n < most);
        for k in ks {
            *self.pass_at.entry(*k).or_default() += count.pass_at(*k);
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of instances are far below 2^53"
    )]
    fn mean(&mut self, ks: &[u64]) {
        for k in ks {
            let sum = self.pass_at.entry(*k).or_default();
            if self.instances > 0 {
                *sum /= self.instances as f64;
            }
        }
    }
}

impl PassAtK {
    /// The table as Markdown, with what was counted as not resolved below it.
    pub fn to_markdown(&self) -> String {
        let mut text = String::from("| Group | Instances |");
        for k in &self.ks {
            let _ = write!(text, " pass@{k} |");
        }
        text.push_str("\n|---|---:|");
        text.push_str(&"---:|".repeat(self.ks.len()));
        text.push('\n');
        let mut line = |name: &str, row: &PassAtKRow| {
            let _ = write!(text, "| {} | {} |", cell(name), row.instances);
            for k in &self.ks {
                let _ = write!(text, " {} |", percent(row.pass_at.get(k).copied()));
            }
            text.push('\n');
        };
        line("all", &self.overall);
        for by in [&self.per_language, &self.per_domain, &self.per_repo] {
            for (name, row) in by {
                line(name, row);
            }
        }
        let notes = [
            (self.overall.missing, "without any prediction: not resolved"),
            (
                self.overall.padded,
                "with fewer predictions than the largest k: the missing ones count as not resolved",
            ),
            (
                self.outside.len() as u64,
                "with predictions and not in the dataset: not counted",
            ),
        ];
        for (count, said) in notes {
            if count > 0 {
                let _ = write!(text, "\n{count} instances {said}.\n");
            }
        }
        text
    }
}

/// A share as a percentage with two digits.
pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.2}%", share * 100.0))
}

/// A text as a cell of a Markdown table.
pub(super) fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}
