//! How sure a leaderboard's numbers are, and whether two models differ.

use atlas_formats::Dataset;
use atlas_judge::metrics::{Random, holm, mcnemar_exact, percentile};
use atlas_oracle::{AttemptCount, Interval, RunReport, wilson};
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;

/// How intervals are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub struct StatisticsOptions {
    /// Draws of the bootstrap that intervals are made by.
    #[arg(long, value_name = "N", default_value_t = Self::default().resamples, value_parser = drawn)]
    pub resamples: usize,
    /// Seed of these draws: the same one gives the same intervals.
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub seed: u64,
}

/// Fewer draws make no interval at 95 %, and more than these take for ever.
fn drawn(text: &str) -> Result<usize, String> {
    let number = text.parse().map_err(|why| format!("{why}"))?;
    if (100..=10_000_000).contains(&number) {
        Ok(number)
    } else {
        Err("100 to 10,000,000 expected".to_owned())
    }
}

impl Default for StatisticsOptions {
    fn default() -> Self {
        Self {
            resamples: 10_000,
            seed: 0,
        }
    }
}

/// A number with its interval at 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Its interval; absent where there is nothing to draw.
    pub interval: Option<Interval>,
}

/// One model's numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelStatistics {
    /// Instances that one of its predictions resolves.
    pub solved: u64,
    /// Their share of all, with Wilson's interval.
    pub solved_share: Estimate,
    /// `k` -> pass@k, with the percentile interval of a bootstrap over instances.
    pub pass_at: BTreeMap<u64, Estimate>,
}

/// Two models on the same instances.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelPair {
    /// The one.
    pub first: String,
    /// The other.
    pub second: String,
    /// The `k` of pass@k.
    pub k: u64,
    /// Pass@k of the first less that of the second, with the interval of a bootstrap that draws the same instances for both.
    pub difference: Estimate,
    /// Instances on which the first alone has pass@k 1 and the second 0; absent, with the next three, where a pass@k lies between.
    pub only_first: Option<u64>,
    /// Instances that the second alone resolves.
    pub only_second: Option<u64>,
    /// `McNemar`'s exact p-value of these two.
    pub p: Option<f64>,
    /// The same, adjusted for all pairs of models at this `k` (Holm).
    pub p_holm: Option<f64>,
}

/// How sure the numbers of a leaderboard are. All intervals are at 95 %.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeaderboardStatistics {
    /// Draws of the bootstrap.
    pub resamples: usize,
    /// Their seed.
    pub seed: u64,
    /// Instances, all of which count for every model.
    pub instances: usize,
    /// The models.
    pub models: BTreeMap<String, ModelStatistics>,
    /// Each two of them, for each `k`.
    pub pairs: Vec<ModelPair>,
}

/// Intervals and paired tests for models over a dataset, with what [`compare_models`](crate::compare_models) counts. An instance without a prediction counts as
/// not resolved.
///
/// In every draw of the bootstrap all models are measured on the same instances, so that the interval of a difference does not carry
/// how hard the drawn instances are.
pub fn leaderboard_statistics(
    set: &Dataset,
    reports: &[(String, RunReport)],
    ks: &[u64],
    options: &StatisticsOptions,
) -> LeaderboardStatistics {
    let ids: Vec<String> = set.rows.iter().map(|row| row.id().to_string()).collect();
    let attempts = attempts_of(reports);
    let ks: &[u64] = if ks.is_empty() { &[1] } else { ks };
    let mut measured: Vec<Measured<'_>> = Vec::new();
    let mut models = BTreeMap::new();
    for (model, counts) in &attempts {
        let of: Vec<AttemptCount> = ids
            .iter()
            .map(|id| counts.get(id).copied().unwrap_or_default())
            .collect();
        let solved = of.iter().filter(|count| count.c > 0).count();
        let value = share(solved, ids.len());
        let solved_share = Estimate {
            value,
            interval: Some(wilson(value, ids.len() as u64)),
        };
        let statistics = ModelStatistics {
            solved: solved as u64,
            solved_share,
            pass_at: BTreeMap::new(),
        };
        models.insert(model.clone(), statistics);
        measured.extend(ks.iter().map(|k| Measured {
            model,
            k: *k,
            values: of.iter().map(|count| count.pass_at(*k)).collect(),
        }));
    }
    let draws = draws(&measured, ids.len(), options);
    for (of, drawn) in measured.iter().zip(&draws) {
        if let Some(model) = models.get_mut(of.model) {
            model.pass_at.insert(of.k, of.estimate(drawn));
        }
    }
    let mut pairs = Vec::new();
    for k in ks {
        let of_k: Vec<usize> = (0..measured.len())
            .filter(|at| measured[*at].k == *k)
            .collect();
        let first_pair = pairs.len();
        for (place, one) in of_k.iter().enumerate() {
            for other in &of_k[place + 1..] {
                let (first, second) = (&measured[*one], &measured[*other]);
                pairs.push(pair((first, &draws[*one]), (second, &draws[*other])));
            }
        }
        adjust(&mut pairs[first_pair..]);
    }
    LeaderboardStatistics {
        resamples: options.resamples,
        seed: options.seed,
        instances: ids.len(),
        models,
        pairs,
    }
}

/// Pass@k of one model, instance by instance.
struct Measured<'a> {
    model: &'a str,
    k: u64,
    values: Vec<f64>,
}

impl Measured<'_> {
    fn mean(&self) -> f64 {
        mean(&self.values)
    }

    fn estimate(&self, drawn: &[f64]) -> Estimate {
        Estimate {
            value: self.mean(),
            interval: interval(drawn.to_vec()),
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of instances are far below 2^52"
)]
fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        0.0
    } else {
        values.iter().sum::<f64>() / values.len() as f64
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of instances are far below 2^52"
)]
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// For each of the measured its mean in every draw.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "places below the number of instances, which is a usize and far below 2^52"
)]
fn draws(
    measured: &[Measured<'_>],
    instances: usize,
    options: &StatisticsOptions,
) -> Vec<Vec<f64>> {
    let mut found = vec![Vec::with_capacity(options.resamples); measured.len()];
    if instances == 0 {
        return found;
    }
    let mut random = Random::new(options.seed);
    let mut times = vec![0.0_f64; instances];
    for _ in 0..options.resamples {
        times.fill(0.0);
        for _ in 0..instances {
            times[random.below(instances as u64) as usize] += 1.0;
        }
        for (of, drawn) in measured.iter().zip(&mut found) {
            let sum: f64 = of
                .values
                .iter()
                .zip(&times)
                .map(|(value, times)| value * times)
                .sum();
            drawn.push(sum / instances as f64);
        }
    }
    found
}

fn interval(mut drawn: Vec<f64>) -> Option<Interval> {
    drawn.sort_unstable_by(f64::total_cmp);
    Some(Interval {
        low: percentile(&drawn, 2.5)?,
        high: percentile(&drawn, 97.5)?,
    })
}

fn pair(
    (first, of_first): (&Measured<'_>, &[f64]),
    (second, of_second): (&Measured<'_>, &[f64]),
) -> ModelPair {
    let differences = of_first
        .iter()
        .zip(of_second)
        .map(|(one, other)| one - other);
    let mut only = Some((0, 0));
    for (one, other) in first.values.iter().zip(&second.values) {
        let whole = |value: f64| value.to_bits() == 0 || value.to_bits() == 1.0_f64.to_bits();
        only = only.filter(|_| whole(*one) && whole(*other));
        if let Some((of_one, of_other)) = &mut only {
            *of_one += u64::from(one > other);
            *of_other += u64::from(other > one);
        }
    }
    ModelPair {
        first: first.model.to_owned(),
        second: second.model.to_owned(),
        k: first.k,
        difference: Estimate {
            value: first.mean() - second.mean(),
            interval: interval(differences.collect()),
        },
        only_first: only.map(|only| only.0),
        only_second: only.map(|only| only.1),
        p: only.map(|(one, other)| mcnemar_exact(one, other)),
        p_holm: None,
    }
}

/// Adjusts the p-values that are there for their number.
fn adjust(pairs: &mut [ModelPair]) {
    let values: Vec<f64> = pairs.iter().filter_map(|pair| pair.p).collect();
    let tested = pairs.iter_mut().filter(|pair| pair.p.is_some());
    for (pair, adjusted) in tested.zip(holm(&values)) {
        pair.p_holm = Some(adjusted);
    }
}

/// Model -> instance -> how many predictions there are, and how many resolve it.
pub(crate) fn attempts_of(
    reports: &[(String, RunReport)],
) -> BTreeMap<String, BTreeMap<String, AttemptCount>> {
    let mut models: BTreeMap<String, BTreeMap<String, AttemptCount>> = BTreeMap::new();
    for (model, report) in reports {
        let counts = models.entry(model.clone()).or_default();
        for id in &report.submitted_ids {
            let is_resolved = report.resolved_ids.contains(id);
            counts.entry(id.clone()).or_default().add(is_resolved);
        }
    }
    models
}
