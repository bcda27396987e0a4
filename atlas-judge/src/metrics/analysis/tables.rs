//! The analysis as tables, for Markdown and for pages alike.

use super::{
    AbstentionAnalysis, Analysis, CalibrationAnalysis, Change, CriticAnalysis, PairedDifference,
    PolicyAnalysis, ScoreAnalysis,
};
use crate::metrics::{
    CalibrationMethod, ConfidenceInterval, Confusion, OperatingPoint, Reliability, RiskCoverage,
    share,
};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The values of `k` that tables have a column for, of those that there are.
const TABLE_KS: [u64; 5] = [1, 3, 5, 10, 20];

/// A table whose first column is text and whose others are numbers.
pub(crate) struct Table {
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(head: &[&str]) -> Self {
        Self {
            head: head.iter().map(|word| (*word).to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    fn markdown(&self, text: &mut String) {
        let line = |text: &mut String, cells: &[String]| {
            for cell in cells {
                let _ = write!(text, "| {} ", plain(cell));
            }
            text.push_str("|\n");
        };
        text.push('\n');
        line(text, &self.head);
        text.push_str("|---");
        text.push_str(&"|---:".repeat(self.head.len().saturating_sub(1)));
        text.push_str("|\n");
        for row in &self.rows {
            line(text, row);
        }
    }
}

/// A share in percent with one digit; a dash where it is not defined.
fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.1}%", share * 100.0))
}

/// A number with three digits after the point; a dash where it is not defined.
pub(crate) fn decimal(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"))
}

fn interval(found: Option<ConfidenceInterval>) -> String {
    found.map_or_else(
        || "–".to_owned(),
        |found| format!("{:.1}–{:.1}%", found.low * 100.0, found.high * 100.0),
    )
}

/// A count with its word: "1 task", "2 tasks".
pub(crate) fn counted(count: u64, word: &str) -> String {
    let ending = match word {
        _ if count == 1 => "",
        "patch" => "es",
        _ => "s",
    };
    format!("{count} {word}{ending}")
}

/// A text as a cell of a Markdown table.
fn plain(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}

/// A critic's name for people.
pub(crate) fn critic_name(variant: &str) -> &str {
    if variant.is_empty() {
        "without a name"
    } else {
        variant
    }
}

impl Analysis {
    /// What the file holds, in one sentence.
    pub(crate) fn summary(&self) -> String {
        format!(
            "{}, {}, {} of {}.",
            counted(self.lines, "line"),
            counted(self.instances, "task"),
            counted(self.agents.values().sum(), "patch"),
            counted(self.agents.len() as u64, "agent")
        )
    }

    /// The judges that are compared, one below the other (paper 004, Table 5): policies over all patches, critics.
    pub(crate) fn judges_beside(&self) -> Vec<Table> {
        if self.judges.is_empty() {
            return Vec::new();
        }
        let mut policies = Table::new(&[
            "Judge",
            "Policy",
            "Judged",
            "Shown",
            "Precision",
            "Recall",
            "F1",
            "Success @1",
        ]);
        let mut critics = Table::new(&[
            "Judge",
            "Tests",
            "Accuracy",
            "Precision",
            "Recall",
            "F1",
            "Patches",
            "Accuracy",
            "Precision",
            "Recall",
            "F1",
        ]);
        for judge in &self.judges {
            // The first set of a judge is over the patches of all agents.
            let of_judge = |name: &str| name == judge || name.starts_with(&format!("{judge}: "));
            let set = self.policies.iter().find(|set| of_judge(&set.name));
            for row in set.into_iter().flat_map(|set| &set.policies).skip(1) {
                let success = row.success_at.get(&1).and_then(|at| at.value);
                policies.rows.push(vec![
                    judge.clone(),
                    row.name.clone(),
                    row.judged.to_string(),
                    row.shown.to_string(),
                    percent(row.precision),
                    percent(row.recall),
                    percent(row.f1),
                    percent(success),
                ]);
            }
            for critic in self
                .critics
                .iter()
                .filter(|critic| of_judge(&critic.variant))
            {
                let mut cells = vec![critic.variant.clone()];
                for counts in [&critic.micro_with_rule, &critic.macro_with_rule] {
                    cells.push(counts.total().to_string());
                    let shares = [
                        counts.accuracy(),
                        counts.precision(),
                        counts.recall(),
                        counts.f1(),
                    ];
                    cells.extend(shares.map(percent));
                }
                critics.rows.push(cells);
            }
        }
        [policies, critics]
            .into_iter()
            .filter(|table| !table.rows.is_empty())
            .collect()
    }

    /// All tables as Markdown.
    pub fn to_markdown(&self) -> String {
        let mut text = self.summary();
        text.push('\n');
        let note = |text: &mut String, note: &str| {
            let _ = write!(text, "\nNote: {}\n", plain(note));
        };
        for said in &self.notes {
            note(&mut text, said);
        }
        for table in self.judges_beside() {
            table.markdown(&mut text);
        }
        for table in self.cost_tables().iter().chain(&self.cascade_tables()) {
            table.markdown(&mut text);
        }
        if let Some(table) = differences(&self.differences) {
            table.markdown(&mut text);
        }
        for set in &self.policies {
            let _ = write!(
                text,
                "\n## Policies: {}\n\n{}\n",
                plain(&set.name),
                set.summary()
            );
            for said in &set.notes {
                note(&mut text, said);
            }
            set.decisions().markdown(&mut text);
            set.success().markdown(&mut text);
            if let Some(classes) = set.classes() {
                classes.markdown(&mut text);
            }
            if let Some(lift) = set.lift() {
                lift.markdown(&mut text);
            }
            set.funnel_table().markdown(&mut text);
            let found = set.abstention.as_ref().map(AbstentionAnalysis::summary);
            let score = set.score.as_ref().map(ScoreAnalysis::summary);
            for said in [found, score].into_iter().flatten() {
                let _ = write!(text, "\n{}\n", plain(&said));
            }
            for table in calibration_tables(&set.calibrations()) {
                table.markdown(&mut text);
            }
            if let Some(table) = differences(&set.differences) {
                table.markdown(&mut text);
            }
        }
        for critic in &self.critics {
            let _ = write!(
                text,
                "\n## Critic: {}\n\n{}\n",
                plain(critic_name(&critic.variant)),
                critic.summary()
            );
            critic.quality().markdown(&mut text);
            critic.by_agent().markdown(&mut text);
            let _ = write!(text, "\n{}\n", critic.order_summary());
            for table in calibration_tables(&critic.calibrations()) {
                table.markdown(&mut text);
            }
        }
        text
    }
}

impl PolicyAnalysis {
    /// The values of `k` that a table shows: 1, 3, 5, 10, 20 as far as they are there, and the last.
    fn table_ks(&self) -> Vec<u64> {
        let last = self.ks.last();
        self.ks
            .iter()
            .copied()
            .filter(|k| TABLE_KS.contains(k) || Some(k) == last)
            .collect()
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

    /// Filtered success@k and its relatives.
    pub(crate) fn success(&self) -> Table {
        let ks = self.table_ks();
        let mut table = Table::new(&["Filtered success"]);
        table.head.extend(ks.iter().map(|k| format!("@{k}")));
        for word in [
            "@1 95 %",
            "Tasks @1",
            "Pass & validation @1",
            "Validation recall @1",
        ] {
            table.head.push(word.to_owned());
        }
        for row in &self.policies {
            let mut cells = vec![row.name.clone()];
            let at = |k: &u64| percent(row.success_at.get(k).and_then(|at| at.value));
            cells.extend(ks.iter().map(at));
            cells.push(interval(row.success_at_1_interval));
            let counted = row.success_at.get(&1).map_or(0, |at| at.bugs_counted);
            cells.push(counted.to_string());
            let both = row.pass_and_validation_at.get(&1);
            cells.push(percent(both.and_then(|at| at.value)));
            cells.push(percent(row.recall_at.get(&1).and_then(|at| at.value)));
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

    /// Curves at a few recalls: the best precision that has at least that recall, and its threshold.
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
            .filter_map(|(name, curve)| {
                let curve = curve?;
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
            })
            .collect()
    }

    pub(crate) fn funnel_table(&self) -> Table {
        let mut table = Table::new(&["Left", "Tasks", "Patches", "Right", "Precision"]);
        for step in &self.funnel {
            table.rows.push(vec![
                step.name.clone(),
                step.bugs.to_string(),
                step.patches.to_string(),
                step.resolved.to_string(),
                percent(share(step.resolved, step.patches)),
            ]);
        }
        table
    }
}

/// Calibrations with the names of their scores.
pub(crate) type Calibrations<'a> = Vec<(&'static str, &'a CalibrationAnalysis)>;

impl PolicyAnalysis {
    pub(crate) fn calibrations(&self) -> Calibrations<'_> {
        let abstention = self.abstention.as_ref();
        let score = self.score.as_ref();
        let found = [
            (
                "abstention, by patch",
                abstention.and_then(|found| found.calibration.as_ref()),
            ),
            (
                "validation score, by patch",
                score.and_then(|found| found.calibration.as_ref()),
            ),
        ];
        let found = found.into_iter();
        found
            .filter_map(|(name, found)| Some((name, found?)))
            .collect()
    }
}

impl CriticAnalysis {
    pub(crate) fn calibrations(&self) -> Calibrations<'_> {
        let found = self.calibration.iter();
        found.map(|found| ("confidence, by test", found)).collect()
    }
}

/// The name of a method for people.
pub(crate) fn method_name(method: CalibrationMethod) -> &'static str {
    match method {
        CalibrationMethod::Platt => "Platt",
        CalibrationMethod::Isotonic => "isotonic",
    }
}

/// How far scores mean what they say, and thresholds for the wanted precision; none without scores.
pub(crate) fn calibration_tables(of: &Calibrations<'_>) -> Vec<Table> {
    let mut errors = Table::new(&[
        "Calibration",
        "Scores",
        "Right",
        "ECE",
        "Largest error",
        "Brier",
        "AURC",
        "Best AURC",
        "AURC without skill",
    ]);
    let mut head = "Precision".to_owned();
    let mut points = Table::new(&[
        "",
        "Threshold",
        "Shown",
        "Precision",
        "95 %",
        "Recall",
        "95 %",
        "Coverage",
        "95 %",
    ]);
    let mut fits = Table::new(&["Fitted to", "Scores", "Right", "Applied to", "Fit"]);
    for (name, found) in of {
        let parts = (&found.reliability, &found.risk_coverage);
        errors
            .rows
            .push(error_row(name, found.items, Some(found.right), parts));
        if let Some(target) = &found.target {
            head = format!("Precision of at least {}", percent(Some(target.precision)));
            let threshold = target.threshold.map(|from| decimal(Some(from)));
            let threshold = threshold.unwrap_or_else(|| "none reaches it".to_owned());
            points
                .rows
                .push(point_row(name, threshold, target.point.as_ref()));
        }
        let Some(after) = &found.calibrated else {
            continue;
        };
        let name = format!("{name}, {} on unseen tasks", method_name(after.method));
        let parts = (&after.reliability, &after.risk_coverage);
        errors.rows.push(error_row(&name, after.items, None, parts));
        if found.target.is_some() {
            let thresholds: Vec<String> = after
                .fits
                .iter()
                .map(|fit| decimal(fit.threshold))
                .collect();
            let row = point_row(&name, thresholds.join(" and "), after.point.as_ref());
            points.rows.push(row);
        }
        for fit in &after.fits {
            fits.rows.push(vec![
                format!("{name}: {}", fit.on),
                fit.items.to_string(),
                fit.right.to_string(),
                fit.applied_to.to_string(),
                fit.fault.clone().unwrap_or_else(|| "ok".to_owned()),
            ]);
        }
    }
    points.head[0] = head;
    [errors, points, fits]
        .into_iter()
        .filter(|table| !table.rows.is_empty())
        .collect()
}

fn error_row(
    name: &str,
    items: u64,
    right: Option<u64>,
    (reliability, curve): (&Option<Reliability>, &Option<RiskCoverage>),
) -> Vec<String> {
    let of = |part: fn(&Reliability) -> f64| decimal(reliability.as_ref().map(part));
    let area = |part: fn(&RiskCoverage) -> f64| decimal(curve.as_ref().map(part));
    vec![
        name.to_owned(),
        items.to_string(),
        right.map_or_else(|| "–".to_owned(), |right| right.to_string()),
        of(|found| found.expected_error),
        of(|found| found.maximum_error),
        of(|found| found.brier),
        area(|found| found.area),
        area(|found| found.best_area),
        area(|found| found.no_skill),
    ]
}

fn point_row(name: &str, threshold: String, point: Option<&OperatingPoint>) -> Vec<String> {
    let dash = || "–".to_owned();
    vec![
        name.to_owned(),
        threshold,
        point.map_or_else(dash, |point| point.shown.to_string()),
        percent(point.and_then(|point| point.precision)),
        interval(point.and_then(|point| point.precision_interval)),
        percent(point.and_then(|point| point.recall)),
        interval(point.and_then(|point| point.recall_interval)),
        percent(point.and_then(|point| point.coverage)),
        interval(point.and_then(|point| point.coverage_interval)),
    ]
}

/// What each second policy has more than the first, in points of percent; none without pairs.
pub(crate) fn differences(pairs: &[PairedDifference]) -> Option<Table> {
    let mut table = Table::new(&[
        "Difference, in points",
        "Tasks",
        "Patches",
        "Precision",
        "95 %",
        "Recall",
        "95 %",
        "Accuracy",
        "95 %",
        "Success @1",
        "95 %",
    ]);
    for pair in pairs {
        let mut cells = vec![
            format!("{} − {}", pair.b, pair.a),
            pair.bugs.to_string(),
            pair.patches.to_string(),
        ];
        for change in [
            pair.precision,
            pair.recall,
            pair.accuracy,
            pair.success_at_1,
        ] {
            cells.extend(change_cells(change));
        }
        table.rows.push(cells);
    }
    (!table.rows.is_empty()).then_some(table)
}

fn change_cells(change: Option<Change>) -> [String; 2] {
    let signed = |share: f64| match format!("{:+.1}", share * 100.0).as_str() {
        "+0.0" | "-0.0" => "0.0".to_owned(),
        text => text.replace('-', "−"),
    };
    let dash = || "–".to_owned();
    let interval = change.and_then(|change| change.interval);
    [
        change.map_or_else(dash, |change| signed(change.difference)),
        interval.map_or_else(dash, |found| {
            format!("{} to {}", signed(found.low), signed(found.high))
        }),
    ]
}

impl AbstentionAnalysis {
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

impl CriticAnalysis {
    pub(crate) fn summary(&self) -> String {
        let mut text = format!(
            "{}, {}.",
            counted(self.patches, "patch"),
            counted(self.tests, "test")
        );
        if self.tests_without_truth > 0 {
            let _ = write!(
                text,
                " {} without a known end of the test count for patches only.",
                counted(self.tests_without_truth, "prediction")
            );
        }
        if self.empty > 0 {
            let _ = write!(
                text,
                " {} without any predicted test: left out.",
                counted(self.empty, "patch")
            );
        }
        if self.undecided > 0 {
            let _ = write!(
                text,
                " {} undecided as a whole: some of its tests were not seen.",
                counted(self.undecided, "patch")
            );
        }
        text
    }

    /// Paper 004's Tables 1 and 2 for this critic.
    pub(crate) fn quality(&self) -> Table {
        let mut table = Table::new(&[
            "Label",
            "Count",
            "Accuracy",
            "Precision",
            "Recall",
            "F1",
            "Specificity",
        ]);
        for (name, counts) in [
            ("tests", &self.micro),
            ("tests, low-confidence rule", &self.micro_with_rule),
            ("patches", &self.r#macro),
            ("patches, low-confidence rule", &self.macro_with_rule),
        ] {
            let mut cells = vec![name.to_owned(), counts.total().to_string()];
            cells.extend(shares(counts));
            table.rows.push(cells);
        }
        if let Some(coin) = self.random {
            let q = percent(Some(coin.precision()));
            table.rows.push(vec![
                "tests, weighted coin (expected)".to_owned(),
                self.tests.to_string(),
                percent(Some(coin.accuracy())),
                q.clone(),
                q.clone(),
                q,
                percent(Some(1.0 - coin.precision())),
            ]);
        }
        table
    }

    /// Paper 004's Table 4 for this critic, with pass rates.
    pub(crate) fn by_agent(&self) -> Table {
        let mut table = Table::new(&[
            "Agent",
            "Patches",
            "Accuracy, tests",
            "F1, tests",
            "Accuracy, patches",
            "F1, patches",
            "Predicted pass rate",
            "Actual pass rate",
            "Rank correlation",
        ]);
        for agent in &self.agents {
            table.rows.push(vec![
                agent.agent.clone(),
                agent.patches.to_string(),
                percent(agent.micro.accuracy()),
                percent(agent.micro.f1()),
                percent(agent.r#macro.accuracy()),
                percent(agent.r#macro.f1()),
                percent(agent.predicted_pass_rate),
                percent(agent.actual_pass_rate),
                decimal(agent.correlation),
            ]);
        }
        table
    }

    /// Predictions by confidence; bins without any are left out.
    pub(crate) fn confidence_table(&self) -> Table {
        let mut table = Table::new(&["Confidence", "Right", "Wrong", "End not known", "Accuracy"]);
        let filled = |bin: &&super::ConfidenceBin| bin.right + bin.wrong + bin.unknown > 0;
        for bin in self.confidence.iter().filter(filled) {
            let to = if bin.from == 95 { 100 } else { bin.from + 4 };
            table.rows.push(vec![
                format!("{}–{to}", bin.from),
                bin.right.to_string(),
                bin.wrong.to_string(),
                bin.unknown.to_string(),
                percent(share(bin.right, bin.right + bin.wrong)),
            ]);
        }
        table
    }

    /// Patches by predicted pass rate, with what came of them.
    pub(crate) fn pass_rate_table(&self) -> Table {
        let mut table = Table::new(&["Predicted pass rate", "Patches", "In the same tenth"]);
        for tenth in 0..10 {
            let row = self
                .pass_rates
                .iter()
                .filter(|cell| cell.predicted == tenth);
            let (mut all, mut same) = (0, 0);
            for cell in row {
                all += cell.patches;
                same += if cell.actual == tenth {
                    cell.patches
                } else {
                    0
                };
            }
            if all > 0 {
                let to = if tenth == 9 {
                    "100%".to_owned()
                } else {
                    format!("below {}%", tenth * 10 + 10)
                };
                table.rows.push(vec![
                    format!("{}% to {to}", tenth * 10),
                    all.to_string(),
                    percent(share(same, all)),
                ]);
            }
        }
        table
    }

    /// How many tasks have which correlation; none where no task has one.
    pub(crate) fn order_table(&self) -> Vec<Table> {
        let mut table = Table::new(&["Rank correlation", "Tasks"]);
        for (at, count) in (0_i32..).zip(&self.correlation_histogram) {
            if *count > 0 {
                let tenth = |at: i32| format!("{:.1}", f64::from(at - 10) / 10.0).replace('-', "−");
                let to = if at == 19 {
                    "1.0".to_owned()
                } else {
                    format!("below {}", tenth(at + 1))
                };
                table
                    .rows
                    .push(vec![format!("{} to {to}", tenth(at)), count.to_string()]);
            }
        }
        if table.rows.is_empty() {
            Vec::new()
        } else {
            vec![table]
        }
    }

    pub(crate) fn order_summary(&self) -> String {
        let found = &self.instance_correlations;
        if found.defined + found.undefined == 0 {
            return "No task has patches of two agents with tests of known end, so there is no \
                    order of agents to compare."
                .to_owned();
        }
        format!(
            "Order of agents, task by task: {} (mean {}, {} exactly 1); {} where it is not defined, \
             since the predicted or the actual shares are all equal.",
            counted(found.defined, "rank correlation"),
            decimal(found.mean),
            percent(found.share_perfect),
            counted(found.undefined, "task"),
        )
    }
}

/// The columns of paper 004's tables.
fn shares(counts: &Confusion) -> Vec<String> {
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
