//! What judges cost, beside how good they are.

use super::tables::Table;
use super::{Analysis, Bugs, CriticAnalysis, PolicyAnalysis, critic_name, decimal};
use crate::metrics::results::{Cost, LineCost};
use crate::metrics::{ratio, share};
use serde::Serialize;
use std::collections::BTreeMap;

/// One judge: the abstention policy of a results file, its review, or one of its critics.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostAnalysis {
    /// `abstention`, `review`, or the critic's variant.
    pub name: String,
    /// Patches that it judged, those that a stage without a model decided included; of an abstention policy tasks.
    pub items: u64,
    /// Those of them whose lines tell what they cost. The numbers below are over these.
    pub known: u64,
    /// What they cost together: what was paid, and answers that were kept from earlier runs. Who had kept none, and asks
    /// for each of these by itself, pays this.
    pub total: Cost,
    /// What one of them costs.
    pub mean: MeanCost,
    /// The share of right patches among those that it shows.
    pub precision: Option<f64>,
    /// The share of shown patches among the right ones.
    pub recall: Option<f64>,
    /// Filtered success@1; none of critics.
    pub success_at_1: Option<f64>,
    /// The members of a committee or a cascade, in the order of their names' first lines; none of a single judge.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberCostAnalysis>,
}

/// What one item costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MeanCost {
    /// Calls.
    pub calls: Option<f64>,
    /// Tokens, read and written.
    pub tokens: Option<f64>,
    /// Money; none where a price is unknown.
    pub money: Option<f64>,
}

impl MeanCost {
    pub(super) fn of(total: &Cost, items: u64) -> Self {
        Self {
            calls: share(total.calls, items),
            tokens: share(total.tokens(), items),
            money: total.money.and_then(|money| ratio(money, items)),
        }
    }
}

/// A member's part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemberCostAnalysis {
    /// Its name.
    pub model: String,
    /// Items that it was asked about.
    pub asked: u64,
    /// The share of them among the items that any member was asked about: of a cascade, what reached this one.
    pub share: Option<f64>,
    /// What it cost.
    pub total: Cost,
}

/// The judges of a file of which any line tells a cost.
pub(super) fn analyse(
    by_instance: &Bugs<'_>,
    abstentions: &BTreeMap<String, LineCost>,
    policies: Option<&PolicyAnalysis>,
    critics: &[CriticAnalysis],
) -> Vec<CostAnalysis> {
    let mut judges: BTreeMap<Option<&str>, Vec<&LineCost>> = BTreeMap::new();
    for patch in by_instance.values().flatten() {
        for (judge, cost) in &patch.costs {
            judges.entry(judge.as_deref()).or_default().push(cost);
        }
    }
    let rows = policies.map(|set| set.policies.as_slice());
    let row = |name: &str| rows.and_then(|rows| rows.iter().find(|row| row.name == name));
    let validation = row("validation");
    let tasks = abstentions.iter();
    let tasks: Vec<&LineCost> = tasks
        .filter(|(task, _)| by_instance.contains_key(task.as_str()))
        .map(|(_, cost)| cost)
        .collect();
    let mut found = Vec::new();
    let policy = row("abstention");
    found.extend(priced("abstention", &tasks).map(|priced| CostAnalysis {
        precision: policy.and_then(|row| row.precision),
        recall: policy.and_then(|row| row.recall),
        success_at_1: policy.and_then(|row| row.success_at.get(&1)?.value),
        ..priced
    }));
    for (judge, lines) in judges {
        let Some(priced) = priced(judge.unwrap_or("review"), &lines) else {
            continue;
        };
        let critic = judge.and_then(|variant| critics.iter().find(|one| one.variant == variant));
        let (precision, recall) = match (judge, critic) {
            (Some(_), Some(critic)) => {
                let counts = &critic.macro_with_rule;
                (counts.precision(), counts.recall())
            }
            (Some(_), None) => (None, None),
            (None, _) => (
                validation.and_then(|row| row.precision),
                validation.and_then(|row| row.recall),
            ),
        };
        found.push(CostAnalysis {
            precision,
            recall,
            success_at_1: match judge {
                None => validation.and_then(|row| row.success_at.get(&1)?.value),
                Some(_) => None,
            },
            ..priced
        });
    }
    found
}

/// What lines cost; none where no line tells.
fn priced(name: &str, lines: &[&LineCost]) -> Option<CostAnalysis> {
    let mut total = Cost::default();
    let known = lines.iter().filter_map(|line| line.cost);
    let count = known.clone().count() as u64;
    known.for_each(|cost| total += cost);
    (total.calls > 0).then(|| CostAnalysis {
        name: name.to_owned(),
        items: lines.len() as u64,
        known: count,
        total,
        mean: MeanCost::of(&total, count),
        precision: None,
        recall: None,
        success_at_1: None,
        members: members(lines),
    })
}

fn members(lines: &[&LineCost]) -> Vec<MemberCostAnalysis> {
    let mut found: Vec<MemberCostAnalysis> = Vec::new();
    let mut asked = 0;
    for line in lines {
        asked += u64::from(line.members.iter().any(|member| member.asked));
        for member in &line.members {
            let at = found.iter().position(|one| one.model == member.model);
            let at = at.unwrap_or_else(|| {
                found.push(MemberCostAnalysis {
                    model: member.model.clone(),
                    asked: 0,
                    share: None,
                    total: Cost::default(),
                });
                found.len() - 1
            });
            found[at].asked += u64::from(member.asked);
            for cost in [member.paid, member.kept].into_iter().flatten() {
                found[at].total += cost;
            }
        }
    }
    for member in &mut found {
        member.share = share(member.asked, asked);
    }
    found
}

/// A number without more digits than it needs.
pub(super) fn amount(value: Option<f64>) -> String {
    match value {
        Some(value) if value.abs() >= 100.0 => format!("{value:.0}"),
        Some(value) if value.abs() >= 1.0 => format!("{value:.2}"),
        Some(value) => format!("{value:.5}"),
        None => "–".to_owned(),
    }
}

impl Analysis {
    /// What the judges cost beside how good they are, then the members of those that are several.
    pub(crate) fn cost_tables(&self) -> Vec<Table> {
        let mut judges = Table::new(&[
            "Judge",
            "Precision",
            "Recall",
            "Success @1",
            "Judged",
            "Cost known",
            "Calls each",
            "Tokens each",
            "Money each",
        ]);
        let mut members = Table::new(&[
            "Judge: member",
            "Asked",
            "Share",
            "Calls",
            "Tokens",
            "Money",
        ]);
        for judge in &self.costs {
            let name = critic_name(&judge.name);
            judges.rows.push(vec![
                name.to_owned(),
                decimal(judge.precision),
                decimal(judge.recall),
                decimal(judge.success_at_1),
                judge.items.to_string(),
                judge.known.to_string(),
                amount(judge.mean.calls),
                amount(judge.mean.tokens),
                amount(judge.mean.money),
            ]);
            for member in &judge.members {
                members.rows.push(vec![
                    format!("{name}: {}", member.model),
                    member.asked.to_string(),
                    decimal(member.share),
                    member.total.calls.to_string(),
                    member.total.tokens().to_string(),
                    amount(member.total.money),
                ]);
            }
        }
        let tables = [judges, members].into_iter();
        tables.filter(|table| !table.rows.is_empty()).collect()
    }
}
