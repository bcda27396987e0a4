//! Critics beside each other by the order that they give.

use super::{Table, critic_name, decimal, interval, percent};
use crate::metrics::analysis::Analysis;

impl Analysis {
    /// Rank correlations task by task of all critics that have one (paper 004, Figure 4 right, where likeness with the gold
    /// patch is the baseline); none for a critic alone.
    pub(crate) fn order_beside(&self) -> Option<Table> {
        let mut table = Table::new(&[
            "Order of agents, task by task",
            "Tasks",
            "Mean rank correlation",
            "Exactly 1",
            "Below 0",
            "Not defined",
        ]);
        for critic in &self.critics {
            let found = &critic.instance_correlations;
            if found.defined > 0 {
                let below: u64 = critic.correlation_histogram[..10].iter().sum();
                table.rows.push(vec![
                    critic_name(&critic.variant).to_owned(),
                    found.defined.to_string(),
                    decimal(found.mean),
                    percent(found.share_perfect),
                    below.to_string(),
                    found.undefined.to_string(),
                ]);
            }
        }
        (table.rows.len() > 1).then_some(table)
    }

    /// Whether scores grow with progress; none where no patch is known to be further than another one.
    pub(crate) fn progress_table(&self) -> Option<Table> {
        let mut table = Table::new(&[
            "Score grows with progress",
            "Tasks",
            "Pairs",
            "Higher",
            "95 %",
            "Equal",
            "Lower",
            "Not lower",
            "95 %",
        ]);
        for score in &self.progress {
            let name = if score.is_proxy {
                format!("{} (proxy)", score.name)
            } else {
                critic_name(&score.name).to_owned()
            };
            table.rows.push(vec![
                name,
                score.tasks.to_string(),
                score.counts.pairs.to_string(),
                percent(score.share_concordant),
                interval(score.interval),
                score.counts.ties.to_string(),
                score.counts.discordant.to_string(),
                percent(score.share_respected),
                interval(score.respected_interval),
            ]);
        }
        (!table.rows.is_empty()).then_some(table)
    }
}
