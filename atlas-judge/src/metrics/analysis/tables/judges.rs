//! Judges side by side.

use super::{Table, percent};
use crate::metrics::analysis::{Analysis, PolicyAnalysis};

impl Analysis {
    /// The judges that are compared, each with what is known of its policies over the patches of all agents.
    pub(crate) fn sets_of_judges(&self) -> impl Iterator<Item = (&str, &PolicyAnalysis)> {
        let judges = self.judges.iter();
        judges.filter_map(|judge| Some((judge.as_str(), self.set_of(judge)?)))
    }

    fn set_of(&self, judge: &str) -> Option<&PolicyAnalysis> {
        // The first one is over the patches of all agents.
        self.policies.iter().find(|set| is_of(judge, &set.name))
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
            let set = self.set_of(judge);
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
                .filter(|critic| is_of(judge, &critic.variant))
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
}

/// Whether something is a judge's by its name.
fn is_of(judge: &str, name: &str) -> bool {
    let rest = name.strip_prefix(judge);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(": "))
}
