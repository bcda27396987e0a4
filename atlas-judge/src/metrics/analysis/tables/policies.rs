//! Policies: what they show, how right it is, and what is left after each step.

use super::{Table, counted, decimal, hundredth, interval, percent};
use crate::metrics::analysis::{
    AbstentionAnalysis, PatchSizes, PolicyAnalysis, PolicyRow, ScoreAnalysis,
};
use crate::metrics::{AtK, PrecisionRecallCurve, Spread, share};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The values of `k` that tables have a column for where none are asked for, of those that there are.
const TABLE_KS: [u64; 5] = [1, 3, 5, 10, 20];

impl PolicyAnalysis {
    /// The values of `k` that a table shows: those that were asked for, else 1, 3, 5, 10, 20 as far as they are
    /// there, and the last.
    fn table_ks(&self) -> Vec<u64> {
        let last = self.ks.last();
        let is_shown = |k: &u64| match &self.table_ks[..] {
            [] => TABLE_KS.contains(k) || Some(k) == last,
            asked => asked.contains(k),
        };
        self.ks.iter().copied().filter(is_shown).collect()
    }

    pub(crate) fn summary(&self) -> String {
        format!(
            "{} ({} fixable, {}), {} ({} right, {}).",
            counted(self.bugs, "task"),
            self.fixable,
            percent(share(self.fixable, self.bugs)),
            counted(self.patches, "patch"),
            self.resolved,
            percent(share(self.resolved, self.patches)),
        )
    }

    /// What each policy shows, and how right it is.
    pub(crate) fn decisions(&self) -> Table {
        let mut table = Table::new(&[
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
        for row in &self.policies {
            table.rows.push(vec![
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
            ]);
        }
        table
    }

    /// Filtered success@k (paper 002, Figures 4, 6 and 8), with the number of tasks behind it.
    pub(crate) fn success(&self) -> Table {
        let mut table = self.by_k("Filtered success", |row| &row.success_at);
        table.head.push("@1 95 %".to_owned());
        table.head.push("Tasks @1".to_owned());
        for (cells, row) in table.rows.iter_mut().zip(&self.policies) {
            cells.push(interval(row.success_at_1_interval));
            let counted = row.success_at.get(&1).map_or(0, |at| at.bugs_counted);
            cells.push(counted.to_string());
        }
        table
    }

    /// (pass & validation)@k (paper 002, Figure 7).
    pub(crate) fn pass_and_validation(&self) -> Table {
        self.by_k("Pass & validation", |row| &row.pass_and_validation_at)
    }

    /// Validation recall@k (paper 002, Figure 14).
    pub(crate) fn validation_recall(&self) -> Table {
        self.by_k("Validation recall", |row| &row.recall_at)
    }

    /// A number of each policy by `k`.
    fn by_k(&self, name: &str, of: fn(&PolicyRow) -> &BTreeMap<u64, AtK>) -> Table {
        let ks = self.table_ks();
        let mut table = Table::new(&[name]);
        table.head.extend(ks.iter().map(|k| format!("@{k}")));
        for row in &self.policies {
            let mut cells = vec![row.name.clone()];
            let at = |k: &u64| percent(of(row).get(k).and_then(|at| at.value));
            cells.extend(ks.iter().map(at));
            table.rows.push(cells);
        }
        table
    }

    /// Precision and recall of both answers of each validation, over the patches that it was asked about (paper
    /// 002, Table 4); none without validation.
    pub(crate) fn classes(&self) -> Option<Table> {
        let mut table = Table::new(&[
            "Of those that reached it",
            "Patches",
            "Right",
            "\"Wrong\": precision",
            "recall",
            "\"Right\": precision",
            "recall",
        ]);
        let rows = self
            .policies
            .iter()
            .filter(|row| row.name.contains("validation"));
        for row in rows {
            let counts = &row.reached;
            table.rows.push(vec![
                row.name.clone(),
                counts.total().to_string(),
                percent(counts.prevalence()),
                percent(counts.negative_precision()),
                percent(counts.specificity()),
                percent(counts.precision()),
                percent(counts.recall()),
            ]);
        }
        (!table.rows.is_empty()).then_some(table)
    }

    /// The sizes of patches that validation accepts and rejects, below those of all (paper 002, Figure 15); none where
    /// no size is known.
    pub(crate) fn sizes(&self) -> Option<Table> {
        let mut table = Table::new(&[
            "Line operations",
            "Patches",
            "Mean",
            "Lower quartile",
            "Median",
            "Upper quartile",
            "Lines added",
            "Removed",
            "Files",
            "Hunks",
        ]);
        for (name, sizes) in self.sized() {
            let lines = sizes.line_operations;
            let of = |part: fn(&Spread) -> f64| lines.as_ref().map(part);
            let numbers = [
                of(|lines| lines.mean),
                of(|lines| lines.lower_quartile),
                of(|lines| lines.median),
                of(|lines| lines.upper_quartile),
                sizes.added,
                sizes.removed,
                sizes.files,
                sizes.hunks,
            ];
            let mut cells = vec![name, sizes.patches.to_string()];
            cells.extend(numbers.map(hundredth));
            table.rows.push(cells);
        }
        (!table.rows.is_empty()).then_some(table)
    }

    /// Groups of patches with a size: right and wrong ones, then what each validation accepts and rejects.
    pub(crate) fn sized(&self) -> Vec<(String, &PatchSizes)> {
        let mut found = Vec::new();
        for (at, row) in self.policies.iter().enumerate() {
            let Some(sizes) = &row.sizes else { continue };
            if at == 0 {
                found.push(("right".to_owned(), &sizes.accepted_right));
                found.push(("wrong".to_owned(), &sizes.accepted_wrong));
            } else if row.name.contains("validation") {
                found.extend(
                    [
                        ("accepted", &sizes.accepted),
                        ("accepted, right", &sizes.accepted_right),
                        ("accepted, wrong", &sizes.accepted_wrong),
                        ("rejected", &sizes.rejected),
                        ("rejected, right", &sizes.rejected_right),
                        ("rejected, wrong", &sizes.rejected_wrong),
                    ]
                    .map(|(word, sizes)| (format!("{}: {word}", row.name), sizes)),
                );
            }
        }
        found.retain(|(_, sizes)| sizes.patches > 0);
        found
    }

    /// Lift by kind; none where no line has a kind.
    pub(crate) fn lift(&self) -> Option<Table> {
        let kinds: BTreeSet<&String> = self
            .policies
            .iter()
            .flat_map(|row| row.lift.keys())
            .collect();
        if kinds.is_empty() {
            return None;
        }
        let mut table = Table::new(&["Lift @1 by kind"]);
        table.head.extend(kinds.iter().copied().cloned());
        for row in &self.policies {
            let lift = |kind: &&String| decimal(row.lift.get(*kind).copied().flatten());
            let mut cells = vec![row.name.clone()];
            cells.extend(kinds.iter().map(lift));
            table.rows.push(cells);
        }
        Some(table)
    }

    /// The curves of both numbers that policies decide by.
    pub(crate) fn curve_tables(&self) -> Vec<Table> {
        let curves = [
            (
                "Abstention: recall of at least",
                self.abstention
                    .as_ref()
                    .and_then(|found| found.curve.as_ref()),
            ),
            (
                "Validation score: recall of at least",
                self.score.as_ref().and_then(|found| found.curve.as_ref()),
            ),
        ];
        curves
            .into_iter()
            .filter_map(|(name, curve)| curve_table(name, curve?))
            .collect()
    }

    pub(crate) fn funnel_table(&self) -> Table {
        let mut table = Table::new(&[
            "Left",
            "Tasks",
            "Patches",
            "Right",
            "Precision",
            "Success @1",
        ]);
        for step in &self.funnel {
            table.rows.push(vec![
                step.name.clone(),
                step.bugs.to_string(),
                step.patches.to_string(),
                step.resolved.to_string(),
                percent(share(step.resolved, step.patches)),
                percent(step.success_at_1),
            ]);
        }
        table
    }
}

/// A curve at a few recalls: the best precision that has at least that recall, and its threshold.
pub(super) fn curve_table(name: &str, curve: &PrecisionRecallCurve) -> Option<Table> {
    let mut table = Table::new(&[name, "Threshold", "Precision", "Shown"]);
    for recall in [0.1, 0.25, 0.5, 0.75, 0.9, 1.0] {
        let best = (0..curve.thresholds.len())
            .filter(|at| curve.recall[*at] >= recall)
            .max_by(|a, b| curve.precision[*a].total_cmp(&curve.precision[*b]))?;
        table.rows.push(vec![
            format!("{:.0}%", recall * 100.0),
            decimal(Some(curve.thresholds[best])),
            percent(Some(curve.precision[best])),
            percent(Some(curve.shown[best])),
        ]);
    }
    Some(table)
}

impl AbstentionAnalysis {
    /// Tasks by probability and by success rate (paper 002, Figure 2).
    pub(crate) fn histogram_table(&self) -> Table {
        let mut table = Table::new(&[
            "Probability, or success rate",
            "Tasks by probability",
            "Of those most runs solve",
            "Tasks by success rate",
        ]);
        for bin in &self.histogram {
            table.rows.push(vec![
                format!("up to {}", percent(Some(bin.to))),
                (bin.solved + bin.unsolved).to_string(),
                bin.solved.to_string(),
                bin.success_rates.to_string(),
            ]);
        }
        table
    }

    pub(crate) fn summary(&self) -> String {
        let mut text = format!(
            "Abstention over {} (probabilities: {}): AP {}, no skill {}; at the threshold \
             precision {}, recall {}, FPR {}; Wasserstein-1 from success rates {}.",
            counted(self.bugs, "task"),
            self.source,
            decimal(self.average_precision),
            decimal(self.no_skill),
            percent(self.counts.precision()),
            percent(self.counts.recall()),
            percent(self.counts.fpr()),
            decimal(self.wasserstein),
        );
        if self.disagreeing > 0 {
            let _ = write!(
                text,
                " Lines on the same task differ in {}; their mean counts here.",
                counted(self.disagreeing, "task")
            );
        }
        text
    }
}

impl ScoreAnalysis {
    pub(crate) fn summary(&self) -> String {
        format!(
            "Validation score over {} (scores: {}): AP {}, no skill {}.",
            counted(self.patches, "patch"),
            self.source,
            decimal(self.average_precision),
            decimal(self.no_skill),
        )
    }
}
