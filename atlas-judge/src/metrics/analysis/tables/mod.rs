//! The analysis as tables, for Markdown and for pages alike.

mod calibration;
mod critics;
mod judges;
mod paired;
mod policies;
mod progress;
mod value;

pub(crate) use calibration::{Calibrations, calibration_tables, method_name};
pub(crate) use critics::critic_name;
pub(crate) use paired::differences;

use super::{AbstentionAnalysis, Analysis, ScoreAnalysis};
use crate::metrics::ConfidenceInterval;
use std::fmt::Write as _;

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
pub(crate) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.1}%", share * 100.0))
}

/// A number with three digits after the point; a dash where it is not defined.
pub(crate) fn decimal(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"))
}

/// A number with two digits after the point; a dash where it is not defined.
fn hundredth(value: Option<f64>) -> String {
    let text = |value: f64| match format!("{value:.2}").as_str() {
        "-0.00" => "0.00".to_owned(),
        text => text.replace('-', "−"),
    };
    value.map_or_else(|| "–".to_owned(), text)
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
        for pairs in [&self.differences, &self.critic_differences] {
            if let Some(table) = differences(pairs) {
                table.markdown(&mut text);
            }
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
            set.pass_and_validation().markdown(&mut text);
            set.validation_recall().markdown(&mut text);
            if let Some(classes) = set.classes() {
                classes.markdown(&mut text);
            }
            for table in [set.lift(), set.sizes()].into_iter().flatten() {
                table.markdown(&mut text);
            }
            set.funnel_table().markdown(&mut text);
            let found = set.abstention.as_ref().map(AbstentionAnalysis::summary);
            let score = set.score.as_ref().map(ScoreAnalysis::summary);
            for said in [found, score].into_iter().flatten() {
                let _ = write!(text, "\n{}\n", plain(&said));
            }
            if let Some(found) = &set.abstention {
                found.histogram_table().markdown(&mut text);
            }
            for (said, table) in set.values() {
                let _ = write!(text, "\n{said}\n");
                table.markdown(&mut text);
            }
            for table in calibration_tables(&set.calibrations()) {
                table.markdown(&mut text);
            }
            if let Some(table) = differences(&set.differences) {
                table.markdown(&mut text);
            }
        }
        for table in self.order_beside().into_iter().chain(self.progress_table()) {
            table.markdown(&mut text);
        }
        for critic in &self.critics {
            let _ = write!(
                text,
                "\n## Critic: {}\n\n{}\n",
                plain(critic_name(&critic.variant)),
                critic.summary()
            );
            critic.quality().markdown(&mut text);
            for table in critic.agents_tables() {
                table.markdown(&mut text);
            }
            for table in [critic.length_table(), critic.score_table()]
                .into_iter()
                .flatten()
            {
                table.markdown(&mut text);
            }
            let _ = write!(text, "\n{}\n", critic.order_summary());
            for (said, table) in critic.order_tables() {
                table.markdown(&mut text);
                let _ = write!(text, "\n{said}\n");
            }
            for table in calibration_tables(&critic.calibrations()) {
                table.markdown(&mut text);
            }
        }
        text
    }
}
