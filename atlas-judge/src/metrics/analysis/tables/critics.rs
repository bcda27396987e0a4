//! Critics.

use super::policies::curve_table;
use super::{Table, counted, decimal, hundredth, percent};
use crate::metrics::analysis::{AgentOrder, ConfidenceBin, CriticAnalysis, LengthBin, OrderedBy};
use crate::metrics::{ConfidenceInterval, Confusion, f1_of, share};
use std::fmt::Write as _;

/// A critic's name for people.
pub(crate) fn critic_name(variant: &str) -> &str {
    if variant.is_empty() {
        "without a name"
    } else {
        variant
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
        if let Some(coin) = self.random_patches {
            let f1 = coin.precision.zip(coin.recall);
            let f1 = f1.and_then(|(precision, recall)| f1_of(precision, recall));
            let shares = [
                Some(coin.accuracy),
                coin.precision,
                coin.recall,
                f1,
                coin.specificity,
            ];
            let mut cells = vec![
                "patches, weighted coin (expected)".to_owned(),
                coin.patches.to_string(),
            ];
            cells.extend(shares.map(percent));
            table.rows.push(cells);
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

    /// Agents: quality, then how their pass rates are spread (paper 004, Table 4 and Figure 4 left).
    pub(crate) fn agents_tables(&self) -> Vec<Table> {
        let mut tables = vec![self.by_agent()];
        tables.extend(self.pass_rate_spreads());
        tables
    }

    /// Quartiles of predicted and actual pass rates; none where no test's end is known.
    pub(crate) fn pass_rate_spreads(&self) -> Option<Table> {
        let mut table = Table::new(&[
            "Pass rates",
            "Patches",
            "Mean",
            "Least",
            "Lower quartile",
            "Median",
            "Upper quartile",
            "Most",
        ]);
        for agent in &self.agents {
            for (word, spread) in [
                ("predicted", &agent.predicted_spread),
                ("actual", &agent.actual_spread),
            ] {
                let Some(spread) = spread else { continue };
                let mut cells = vec![format!("{}, {word}", agent.agent), spread.count.to_string()];
                let shares = [
                    spread.mean,
                    spread.least,
                    spread.lower_quartile,
                    spread.median,
                    spread.upper_quartile,
                    spread.most,
                ];
                cells.extend(shares.map(|share| percent(Some(share))));
                table.rows.push(cells);
            }
        }
        (!table.rows.is_empty()).then_some(table)
    }

    /// Predictions by length of the test (paper 004, Figure 3 right); none where no length is known.
    pub(crate) fn length_table(&self) -> Option<Table> {
        let mut table = Table::new(&[
            "Characters of the test",
            "Right",
            "Wrong",
            "Accuracy",
            "Mean confidence",
            "Of right ones",
            "Of wrong ones",
        ]);
        for bin in self.lengths.iter().filter(|bin| bin.right + bin.wrong > 0) {
            table.rows.push(vec![
                bin.name(),
                bin.right.to_string(),
                bin.wrong.to_string(),
                percent(bin.accuracy),
                hundredth(bin.mean_confidence),
                hundredth(bin.mean_confidence_right),
                hundredth(bin.mean_confidence_wrong),
            ]);
        }
        (!table.rows.is_empty()).then_some(table)
    }

    /// The curve of the critic's own score; none where it has no score.
    pub(crate) fn score_table(&self) -> Option<Table> {
        let curve = self.score.as_ref()?.curve.as_ref()?;
        curve_table("Critic's score: recall of at least", curve)
    }

    /// Agents by what was foretold and by what was true, each order with a sentence on how the two agree.
    pub(crate) fn order_tables(&self) -> Vec<(String, Table)> {
        self.orders.iter().map(AgentOrder::table).collect()
    }

    /// Predictions by confidence; bins without any are left out.
    pub(crate) fn confidence_table(&self) -> Table {
        let mut table = Table::new(&["Confidence", "Right", "Wrong", "End not known", "Accuracy"]);
        let filled = |bin: &&ConfidenceBin| bin.right + bin.wrong + bin.unknown > 0;
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

impl LengthBin {
    /// Its edges for people.
    pub(crate) fn name(&self) -> String {
        match self.up_to {
            Some(to) if self.above == 0 => format!("up to {to}"),
            Some(to) => format!("{} to {to}", self.above + 1),
            None => format!("above {}", self.above),
        }
    }
}

impl AgentOrder {
    fn table(&self) -> (String, Table) {
        let heads = match self.by {
            OrderedBy::Progress => [
                "Order of agents by progress",
                "Foretold",
                "Actual pass rate",
            ],
            OrderedBy::Resolved => ["Order of agents by resolved", "Said to pass", "Resolved"],
        };
        let mut table = Table::new(&[heads[0], "Patches", heads[1], "Rank", heads[2], "Rank"]);
        let rank = |rank: f64| rank.to_string();
        for agent in &self.agents {
            let foretold = match self.by {
                OrderedBy::Progress => decimal(Some(agent.predicted)),
                OrderedBy::Resolved => percent(Some(agent.predicted)),
            };
            table.rows.push(vec![
                agent.agent.clone(),
                agent.patches.to_string(),
                foretold,
                rank(agent.predicted_rank),
                percent(Some(agent.actual)),
                rank(agent.actual_rank),
            ]);
        }
        let with = |value: Option<f64>, interval: Option<ConfidenceInterval>| {
            let ends = interval.map_or_else(String::new, |found| {
                format!(
                    " ({} to {})",
                    decimal(Some(found.low)),
                    decimal(Some(found.high))
                )
            });
            format!("{}{ends}", decimal(value))
        };
        let said = format!(
            "{}: Spearman {}, Kendall {}, with intervals at 95 % over tasks.",
            heads[0],
            with(self.spearman, self.spearman_interval),
            with(self.kendall, self.kendall_interval),
        );
        (said, table)
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
