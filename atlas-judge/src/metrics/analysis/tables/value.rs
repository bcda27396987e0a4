//! What thresholds are worth.

use super::{Table, decimal, hundredth, percent};
use crate::metrics::analysis::{PolicyAnalysis, ValueSweep};
use crate::metrics::{ConfidenceInterval, Decision};

/// Words for a decision.
struct Words {
    decision: Decision,
    head: &'static str,
    taken: &'static str,
    taking: &'static str,
    items: &'static str,
}

const WORDS: [Words; 2] = [
    Words {
        decision: Decision::Attempt,
        head: "Net value: attempt from",
        taken: "Attempted",
        taking: "Attempting",
        items: "runs",
    },
    Words {
        decision: Decision::Show,
        head: "Net value: show from",
        taken: "Shown",
        taking: "Showing",
        items: "patches",
    },
];

impl PolicyAnalysis {
    /// A sentence and a table for each decision that has values: from which threshold on no money is lost, and what a taken
    /// and a left item is worth.
    pub(crate) fn values(&self) -> Vec<(String, Table)> {
        let sweep = |decision| {
            let found = self.value.as_ref()?;
            match decision {
                Decision::Attempt => found.attempt.as_ref(),
                Decision::Show => found.show.as_ref(),
            }
        };
        WORDS
            .iter()
            .filter_map(|words| {
                let sweep = sweep(words.decision)?;
                Some((words.said(sweep), words.table(sweep)))
            })
            .collect()
    }
}

impl Words {
    fn said(&self, sweep: &ValueSweep) -> String {
        let Self { taking, items, .. } = self;
        let chance = percent(sweep.break_even_chance);
        let of_chance =
            format!("{taking} pays where the chance of being right is at least {chance}.");
        let taken = self.taken.to_lowercase();
        let found = match sweep.break_even_threshold {
            None => {
                format!("Here money is lost at every threshold from which on {items} are {taken}.")
            }
            Some(from) if from <= 0.0 => {
                format!("Here no money is lost if all {items} are {taken}.")
            }
            Some(from) => {
                format!(
                    "Here money is lost if {items} below the threshold {from:.3} are {taken}, too."
                )
            }
        };
        let best = sweep.best_threshold.map_or_else(String::new, |best| {
            format!(" The threshold that is worth most is {best:.3}.")
        });
        format!("{of_chance} {found}{best}")
    }

    fn table(&self, sweep: &ValueSweep) -> Table {
        let each = format!("Each {}", self.taken.to_lowercase());
        let mut table = Table::new(&[
            self.head,
            self.taken,
            "Right",
            "Left",
            &each,
            "Each left",
            "Mean",
            "Gain over leaving all",
            "95 %",
        ]);
        for swept in &sweep.points {
            let point = &swept.point;
            table.rows.push(vec![
                decimal(Some(point.threshold)),
                point.taken.to_string(),
                point.right.to_string(),
                point.left.to_string(),
                hundredth(point.per_taken),
                hundredth(Some(point.per_left)),
                hundredth(point.per_item),
                hundredth(point.gain),
                between(swept.interval),
            ]);
        }
        table
    }
}

fn between(found: Option<ConfidenceInterval>) -> String {
    let end = |value| hundredth(Some(value));
    found.map_or_else(
        || "–".to_owned(),
        |found| format!("{} to {}", end(found.low), end(found.high)),
    )
}
