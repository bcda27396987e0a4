//! The page that compares models over the same instances.

use crate::shell::{self, Live, Section};
use crate::{Share, chart, table};
use maud::html;

/// A model over all instances.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparedModel {
    /// Its name.
    pub name: String,
    /// Instances that one of its predictions resolves.
    pub solved: u64,
    /// Their share of all.
    pub share: Share,
    /// `k` and pass@k.
    pub pass_at: Vec<(u64, Share)>,
}

/// Two models over the same instances.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparedPair {
    /// The one.
    pub first: String,
    /// The other.
    pub second: String,
    /// The `k` of pass@k.
    pub k: u64,
    /// Pass@k of the first less that of the second, in percent.
    pub difference: Share,
    /// Instances that the first alone resolves, where that can be told.
    pub only_first: Option<u64>,
    /// Instances that the second alone resolves.
    pub only_second: Option<u64>,
    /// `McNemar`'s exact p-value, adjusted for all pairs at this `k` (Holm).
    pub p: Option<f64>,
}

/// A comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparisonPage {
    /// Instances; all count for every model.
    pub instances: u64,
    /// Draws of the bootstrap.
    pub resamples: u64,
    /// The models, the best first.
    pub models: Vec<ComparedModel>,
    /// Each two of them.
    pub pairs: Vec<ComparedPair>,
}

impl ComparisonPage {
    /// The page as HTML.
    pub fn html(&self, live: Option<&Live>) -> String {
        let sure = self
            .pairs
            .iter()
            .filter(|pair| pair.p.is_some_and(|p| p < 0.05))
            .count();
        let lead = html! {
            div.verdict {
                p {
                    @if let Some(best) = self.models.first() {
                        strong { (shell::clean(&best.name)) } " solves most: " (best.share.said()) " of " (self.instances) " instances. "
                    }
                    @if !self.pairs.is_empty() {
                        (sure) " of " (self.pairs.len()) " differences are told apart from chance (p below 0.05, adjusted)."
                    }
                }
            }
        };
        let ks: Vec<u64> = self.models.first().map_or_else(Vec::new, |one| {
            one.pass_at.iter().map(|(k, _)| *k).collect()
        });
        let names: Vec<String> = ks.iter().map(|k| format!("pass@{k} (95 %)")).collect();
        let mut heads = vec![
            ("Model", false),
            ("Solved", true),
            ("Share (Wilson 95 %)", true),
        ];
        heads.extend(names.iter().map(|name| (name.as_str(), true)));
        let rows: Vec<Vec<String>> = self
            .models
            .iter()
            .map(|one| {
                let mut row = vec![one.name.clone(), one.solved.to_string(), one.share.said()];
                row.extend(one.pass_at.iter().map(|(_, share)| share.said()));
                row
            })
            .collect();
        let groups: Vec<_> = self
            .models
            .iter()
            .map(|one| (one.name.clone(), vec![one.share.bar()]))
            .collect();
        let models = html! {
            (chart::bars("Solved by model", &["solved"], &groups, " %"))
            (table::plain("Models over all instances", &heads, &rows))
            p.soft { "The bootstrap draws instances " (self.resamples) " times, the same ones for all models." }
        };
        let mut sections = vec![Section::new("models", "Models", models)];
        if !self.pairs.is_empty() {
            sections.push(Section::new("pairs", "Differences", self.pairs()));
        }
        shell::page("Comparison of models", &lead, &sections, live)
    }

    fn pairs(&self) -> maud::Markup {
        let count =
            |count: Option<u64>| count.map_or_else(|| "–".to_owned(), |count| count.to_string());
        let p = |p: Option<f64>| match p {
            None => "–".to_owned(),
            Some(p) if p < 0.0001 => "<0.0001".to_owned(),
            Some(p) => format!("{p:.4}"),
        };
        let rows: Vec<Vec<String>> = self
            .pairs
            .iter()
            .map(|pair| {
                vec![
                    pair.first.clone(),
                    pair.second.clone(),
                    pair.k.to_string(),
                    pair.difference.said(),
                    count(pair.only_first),
                    count(pair.only_second),
                    p(pair.p),
                ]
            })
            .collect();
        let heads = [
            ("First", false),
            ("Second", false),
            ("k", true),
            ("Difference (paired 95 %)", true),
            ("Only first", true),
            ("Only second", true),
            ("p (Holm)", true),
        ];
        table::plain("Each two models on the same instances", &heads, &rows)
    }
}
