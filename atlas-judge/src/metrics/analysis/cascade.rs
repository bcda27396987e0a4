//! Cascades of two judges that were each asked about everything: what they would have shown, and what cost.

use super::costs::{MeanCost, amount};
use super::tables::Table;
use super::{Analysis, AnalysisOptions, by_instance, decimal};
use crate::ensemble::{Band, Ensemble, EnsembleRule, Member, NumberOf, Opinion, Word};
use crate::metrics::results::{CandidateResult, Cost, Results};
use crate::metrics::{
    self as m, BugRuns, Confusion, LowConfidenceRule, Run, TestPrediction, TooFewRuns,
};
use atlas_core::ConfidenceSource;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Quality against cost over bands of doubt: the first judge decides alone where its number is outside of the band, else
/// the second one decides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CascadeCurve {
    /// The judge that is asked first.
    pub first: String,
    /// The judge that is asked in doubt.
    pub second: String,
    /// `abstention`, `review`, or the critics' variant.
    pub of: String,
    /// Patches that both judged, of abstention tasks. All numbers are about these.
    pub items: u64,
    /// Those that one of them alone judged, or without a number.
    pub left_out: u64,
    /// Either judge alone, then the bands; of those that ask the second judge about the same, the narrowest.
    pub points: Vec<CascadePoint>,
}

/// One cascade.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CascadePoint {
    /// Both ends of the band; none of a judge alone.
    pub band: Option<[f64; 2]>,
    /// Which judge, where it is one alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alone: Option<String>,
    /// Patches, of abstention tasks, that the second judge was asked about.
    pub asked: u64,
    /// Their share of all.
    pub asked_share: Option<f64>,
    /// Patches that are shown.
    pub shown: u64,
    /// The share of right ones among them.
    pub precision: Option<f64>,
    /// The share of shown ones among the right.
    pub recall: Option<f64>,
    /// Filtered success@1.
    pub success_at_1: Option<f64>,
    /// What a patch, of abstention a task, costs on average; none where a line does not tell.
    pub cost: MeanCost,
    /// No other point is as cheap, as precise and has as much recall, and better in one of them. Cheap is by money, where
    /// that is unknown by tokens, else by the share that the second judge is asked about.
    pub is_best: bool,
}

/// A patch that both judges judged, or a task.
struct Item<'a> {
    instance: &'a str,
    /// Whether the patch resolves its task; of a task, each of its patches.
    resolved: Vec<bool>,
    /// Single words that must all be yes: of a review one, of a critic its tests.
    words: Vec<[JudgeAnswer; 2]>,
    /// Tests that a critic was not shown: a patch that passes all others is undecided.
    unseen: bool,
    costs: [Option<Cost>; 2],
}

/// A single word of a judge.
struct JudgeAnswer {
    word: Word,
    /// After the rule for low confidence.
    verdict: bool,
}

/// The curves of two judges: of their abstention policies, of their reviews, and of each critic that both have.
///
/// # Errors
/// [`TooFewRuns`], with [`BeyondRuns::Error`](super::super::BeyondRuns::Error) only.
pub fn cascade_curves(
    (first, of_first): (&str, &Results),
    (second, of_second): (&str, &Results),
    step: f64,
    options: &AnalysisOptions,
) -> Result<Vec<CascadeCurve>, TooFewRuns> {
    let key = |patch: &CandidateResult| {
        [&patch.instance_id, &patch.agent, &patch.patch_id].map(String::clone)
    };
    let others: HashMap<[String; 3], &CandidateResult> = of_second
        .candidates
        .iter()
        .map(|patch| (key(patch), patch))
        .collect();
    let variants = |all: &Results| -> BTreeSet<String> {
        let patches = all.candidates.iter();
        patches
            .flat_map(|patch| patch.critics.keys().cloned())
            .collect()
    };
    let shared = variants(of_first)
        .intersection(&variants(of_second))
        .cloned()
        .map(Some)
        .collect();
    let judges: Vec<Option<String>> = [vec![None], shared].concat();
    let mut curves = Vec::new();
    let (items, left_out) = tasks(of_first, of_second, options.tau);
    if !items.is_empty() {
        curves.push(CascadeCurve {
            first: first.to_owned(),
            second: second.to_owned(),
            of: "abstention".to_owned(),
            items: items.len() as u64,
            left_out,
            points: points([first, second], &items, step, options)?,
        });
    }
    for judge in judges {
        let judge = judge.as_deref();
        let (mut items, mut left_out) = (Vec::new(), 0);
        for patch in &of_first.candidates {
            let other = others.get(&key(patch));
            match other.and_then(|other| item(patch, other, judge, &options.rule)) {
                Some(item) => items.push(item),
                None => left_out += 1,
            }
        }
        if items.iter().all(|item| item.words.is_empty()) {
            continue;
        }
        curves.push(CascadeCurve {
            first: first.to_owned(),
            second: second.to_owned(),
            of: judge.unwrap_or("review").to_owned(),
            items: items.len() as u64,
            left_out,
            points: points([first, second], &items, step, options)?,
        });
    }
    Ok(curves)
}

/// The tasks that both abstention policies judged, and how many one of them did not.
fn tasks<'a>(first: &'a Results, second: &Results, tau: f64) -> (Vec<Item<'a>>, u64) {
    let of_second = by_instance(second.candidates.iter());
    let said = |patch: &CandidateResult| {
        let probability = patch.abstention.as_ref()?.probability;
        Some(JudgeAnswer {
            word: opinion(probability >= tau, probability, NumberOf::Yes),
            verdict: probability >= tau,
        })
    };
    let (mut found, mut left_out) = (Vec::new(), 0);
    for (instance, patches) in by_instance(first.candidates.iter()) {
        let other = of_second.get(instance).and_then(|patches| patches.first());
        let words = patches.first().zip(other);
        let words = words.and_then(|(one, other)| Some([said(one)?, said(other)?]));
        let Some(words) = words else {
            left_out += 1;
            continue;
        };
        found.push(Item {
            instance,
            resolved: patches.iter().map(|patch| patch.resolved).collect(),
            words: vec![words],
            unseen: false,
            costs: [first, second].map(|of| of.abstentions.get(instance)?.cost),
        });
    }
    (found, left_out)
}

fn item<'a>(
    first: &'a CandidateResult,
    second: &CandidateResult,
    judge: Option<&str>,
    rule: &LowConfidenceRule,
) -> Option<Item<'a>> {
    let mut item = Item {
        instance: &first.instance_id,
        resolved: vec![first.resolved],
        words: Vec::new(),
        unseen: false,
        costs: [first, second].map(|patch| {
            let line = patch.costs.get(&judge.map(str::to_owned))?;
            line.cost
        }),
    };
    let Some(variant) = judge else {
        // What a stage without a model rejects is shown by neither, and asked of neither.
        if first
            .deterministic
            .as_ref()
            .is_some_and(|found| !found.passed)
        {
            return Some(item);
        }
        let said = |patch: &CandidateResult| {
            let found = patch.validation.as_ref()?;
            Some(JudgeAnswer {
                word: opinion(found.accepted, found.score?, NumberOf::Yes),
                verdict: found.accepted,
            })
        };
        item.words.push([said(first)?, said(second)?]);
        return Some(item);
    };
    let (a, b) = (first.critics.get(variant)?, second.critics.get(variant)?);
    item.unseen = a.unseen > 0;
    for test in &a.tests {
        let other = b.tests.iter().find(|other| other.id == test.id)?;
        item.words.push([test, other].map(|test| {
            let prediction = TestPrediction {
                passes: test.predicted,
                confidence: test.confidence,
                length: test.length,
            };
            JudgeAnswer {
                word: opinion(test.predicted, test.confidence / 100.0, NumberOf::Verdict),
                verdict: rule.apply(&prediction),
            }
        }));
    }
    (!item.words.is_empty()).then_some(item)
}

fn opinion(verdict: bool, number: f64, of: NumberOf) -> Word {
    Word::Said(Opinion {
        verdict,
        number: Some(number),
        of,
        // The band alone looks at it, and is about one judge's numbers.
        source: ConfidenceSource::Mixed,
        reason: String::new(),
    })
}

/// Which of two judges are asked.
enum Asks<'a> {
    Alone(usize, &'a str),
    Band(Band),
}

fn points(
    names: [&str; 2],
    items: &[Item<'_>],
    step: f64,
    options: &AnalysisOptions,
) -> Result<Vec<CascadePoint>, TooFewRuns> {
    let mut cascades = vec![Asks::Alone(0, names[0]), Asks::Alone(1, names[1])];
    let ends = grid(step);
    // Narrow ones first: of those that ask the same, they are kept.
    for width in 1..ends.len() {
        for low in 0..ends.len() - width {
            cascades.extend(Band::new(ends[low], ends[low + width]).map(Asks::Band));
        }
    }
    let words = items.iter().map(|item| item.words.len()).sum();
    // A band that nothing lies in is the first judge alone.
    let mut seen = BTreeSet::from([vec![false; words]]);
    let mut points = Vec::new();
    for asks in cascades {
        let ensemble = match &asks {
            Asks::Alone(..) => None,
            Asks::Band(band) => {
                let members = names.map(Member::new).to_vec();
                Some(Ensemble::new(members, EnsembleRule::Cascade(vec![*band]), 0.5).ok())
            }
        };
        // Two judges of one name are nobody's to tell apart.
        let ensemble = match ensemble {
            Some(None) => continue,
            Some(ensemble) => ensemble,
            None => None,
        };
        let asked: Vec<bool> = items
            .iter()
            .flat_map(|item| &item.words)
            .map(|[first, _]| match (&asks, &ensemble) {
                (Asks::Alone(at, _), _) => *at == 1,
                (_, Some(ensemble)) => {
                    let said = std::slice::from_ref(&first.word);
                    matches!(ensemble.next("", said), Ok(Some(_)))
                }
                _ => false,
            })
            .collect();
        if matches!(asks, Asks::Band(_)) && !seen.insert(asked.clone()) {
            continue;
        }
        points.push(point(&asks, &asked, items, options)?);
    }
    mark_best(&mut points);
    Ok(points)
}

/// The ends of bands, from 0 to 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a few hundred steps at most"
)]
fn grid(step: f64) -> Vec<f64> {
    let steps = (1.0 / step.clamp(0.005, 1.0)).round() as usize;
    (0..=steps).map(|at| at as f64 / steps as f64).collect()
}

fn point(
    asks: &Asks<'_>,
    asked: &[bool],
    items: &[Item<'_>],
    options: &AnalysisOptions,
) -> Result<CascadePoint, TooFewRuns> {
    let is_alone = matches!(asks, Asks::Alone(..));
    let mut counts = Confusion::default();
    let mut bugs: BTreeMap<&str, BugRuns> = BTreeMap::new();
    let (mut total, mut is_known, mut reached) = (Cost::default(), true, 0);
    let mut asked = asked.iter();
    for item in items {
        let asked: Vec<bool> = asked.by_ref().take(item.words.len()).copied().collect();
        let doubts = asked.iter().filter(|asked| **asked).count() as u64;
        reached += u64::from(doubts > 0);
        // As for results that are put together: of tests the same share of the cost.
        let first = !is_alone || doubts == 0;
        let second = item.costs[1].map(|cost| cost.part(doubts, asked.len() as u64));
        for (cost, is_needed) in [(item.costs[0], first), (second, doubts > 0)] {
            match (cost, is_needed) {
                (Some(cost), true) => total += cost,
                (None, true) => is_known = false,
                _ => {}
            }
        }
        let mut words = item.words.iter().zip(&asked);
        let shown =
            !item.words.is_empty() && words.all(|(said, asked)| said[usize::from(*asked)].verdict);
        if shown && item.unseen {
            continue;
        }
        let bug = bugs.entry(item.instance).or_insert_with(|| BugRuns {
            attempt: true,
            runs: Vec::new(),
        });
        for resolved in &item.resolved {
            counts.add(*resolved, shown);
            bug.runs.push(Run {
                success: *resolved,
                accepted: shown,
            });
        }
    }
    let bugs: Vec<BugRuns> = bugs.into_values().collect();
    let count = items.len() as u64;
    Ok(CascadePoint {
        band: match asks {
            Asks::Band(band) => Some([band.low(), band.high()]),
            Asks::Alone(..) => None,
        },
        alone: match asks {
            Asks::Alone(_, name) => Some((*name).to_owned()),
            Asks::Band(_) => None,
        },
        asked: reached,
        asked_share: m::share(reached, count),
        shown: counts.tp + counts.fp,
        precision: counts.precision(),
        recall: counts.recall(),
        success_at_1: m::filtered_success_at_k(&bugs, 1, options.beyond)?.value,
        cost: if is_known {
            MeanCost::of(&total, count)
        } else {
            MeanCost::default()
        },
        is_best: false,
    })
}

impl CascadePoint {
    /// What it is compared by.
    fn price(&self, by_money: bool, by_tokens: bool) -> f64 {
        let price = match (by_money, by_tokens) {
            (true, _) => self.cost.money,
            (_, true) => self.cost.tokens,
            _ => self.asked_share,
        };
        price.unwrap_or_default()
    }

    /// Its name in tables and figures.
    pub(crate) fn name(&self) -> String {
        match (&self.alone, self.band) {
            (Some(alone), _) => format!("{alone} alone"),
            (_, Some([low, high])) => format!("{low}..{high}"),
            _ => String::new(),
        }
    }
}

impl CascadeCurve {
    /// Whether all points have their cost in money; whether in tokens.
    pub(crate) fn prices(&self) -> (bool, bool) {
        prices(&self.points)
    }

    /// A point's cost by the unit of [`CascadeCurve::prices`].
    pub(crate) fn price(&self, point: &CascadePoint) -> f64 {
        let (by_money, by_tokens) = self.prices();
        point.price(by_money, by_tokens)
    }
}

fn prices(points: &[CascadePoint]) -> (bool, bool) {
    let all = |of: fn(&MeanCost) -> Option<f64>| {
        let mut costs = points.iter().map(|point| of(&point.cost));
        // Where nothing costs anything, it tells nothing.
        costs.clone().all(|cost| cost.is_some()) && costs.any(|cost| cost > Some(0.0))
    };
    (all(|cost| cost.money), all(|cost| cost.tokens))
}

fn mark_best(points: &mut [CascadePoint]) {
    let (by_money, by_tokens) = prices(points);
    let value = |point: &CascadePoint| {
        let good = [point.precision, point.recall].map(Option::unwrap_or_default);
        [-point.price(by_money, by_tokens), good[0], good[1]]
    };
    let values: Vec<[f64; 3]> = points.iter().map(value).collect();
    for (at, point) in points.iter_mut().enumerate() {
        let own = values[at];
        let is_beaten = values.iter().any(|other| {
            let mut pairs = other.iter().zip(own);
            pairs.clone().all(|(other, own)| *other >= own)
                && pairs.any(|(other, own)| *other > own)
        });
        point.is_best = !is_beaten;
    }
}

impl Analysis {
    /// The cascades that nothing beats, for each curve.
    pub(crate) fn cascade_tables(&self) -> Vec<Table> {
        self.cascades.iter().map(CascadeCurve::table).collect()
    }
}

impl CascadeCurve {
    pub(crate) fn title(&self) -> String {
        format!("{}, then {}: {}", self.first, self.second, self.of)
    }

    /// Either judge alone, and the bands that nothing beats; the cheapest first.
    pub(crate) fn table(&self) -> Table {
        let title = self.title();
        let mut table = Table::new(&[
            &title,
            "Second asked",
            "Shown",
            "Precision",
            "Recall",
            "Success @1",
            "Calls each",
            "Tokens each",
            "Money each",
        ]);
        let points = self.points.iter();
        let mut points: Vec<&CascadePoint> = points
            .filter(|point| point.is_best || point.alone.is_some())
            .collect();
        points.sort_by(|a, b| self.price(a).total_cmp(&self.price(b)));
        for point in points {
            table.rows.push(vec![
                point.name(),
                decimal(point.asked_share),
                point.shown.to_string(),
                decimal(point.precision),
                decimal(point.recall),
                decimal(point.success_at_1),
                amount(point.cost.calls),
                amount(point.cost.tokens),
                amount(point.cost.money),
            ]);
        }
        table
    }
}
