//! The metrics one by one. `swe_atlas.metrics` has their signatures and says what they are.

use crate::convert::plain;
use crate::errors::invalid;
use crate::options::Options;
use atlas_judge::metrics::{
    self as m, AtK, BeyondRuns, BugRuns, BugValue, ConfidenceInterval, KeptPatch,
    LowConfidenceRule, Run, RunCount, TestPrediction, TooFewRuns, TypedBug, YieldCounts,
};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use serde_json::{Value, json};

/// A metric of what it is given, as a plain value.
#[pyfunction]
pub(crate) fn _metric<'py>(
    py: Python<'py>,
    name: &str,
    given: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let all = AS_GIVEN.iter().chain(OF_SCORES).chain(OTHERS);
    let metric = all.copied().find(|(known, _)| *known == name);
    let (_, metric) = metric.ok_or_else(|| invalid("name", format!("`{name}` is no metric")))?;
    plain(py, &metric(&given)?)
}

type Metric = fn(&Options<'_>) -> PyResult<Value>;

/// Metrics of numbers and `[lists]` that are as they are given.
macro_rules! as_given {
    (@read $given:ident [$list:ident]) => { &$given.get::<Vec<_>>(stringify!($list))?[..] };
    (@read $given:ident $number:ident) => { $given.get(stringify!($number))? };
    ($($metric:ident($($argument:tt),*)),+ $(,)?) => {
        &[$((stringify!($metric), |given| {
            Ok(json!(m::$metric($(as_given!(@read given $argument)),*)))
        })),+]
    };
}

const AS_GIVEN: &[(&str, Metric)] = as_given![
    average_ranks([values]),
    binomial_quantile(q, n, p),
    cosine([a], [b]),
    f1_of(precision, recall),
    implied_precision(prevalence, recall, fpr),
    implied_prevalence(accuracy, precision, recall),
    paired_differences([a], [b]),
    patch_correctness_score(is_bug_fixed, [token_logprobs]),
    percentile([values], p),
    spearman([x], [y]),
    summarise_correlations([rhos]),
    wasserstein_1([u], [v]),
];

/// Metrics of truths and scores alone.
macro_rules! of_scores {
    ($($metric:ident),+ $(,)?) => {
        &[$((stringify!($metric), |given| Ok(json!(m::$metric(&scored(given)?))))),+]
    };
}

const OF_SCORES: &[(&str, Metric)] = of_scores![
    average_precision,
    brier_score,
    grid_threshold,
    precision_recall_curve,
    risk_coverage,
];

const OTHERS: &[(&str, Metric)] = &[
    ("aggregate_critic", aggregate_critic),
    ("bootstrap_mean", |given| {
        let (resamples, seed) = (given.get("resamples")?, given.get("seed")?);
        let (values, level) = (numbers(given, "values")?, given.get("level")?);
        let found = || m::bootstrap_mean(&values, resamples, seed, level);
        Ok(ends(given.py().detach(found)))
    }),
    ("bootstrap_mean_with", |given| {
        let resamples: Vec<Vec<usize>> = given.get("resamples")?;
        let (values, level) = (numbers(given, "values")?, given.get("level")?);
        let found = || m::bootstrap_mean_with(&values, &resamples, level);
        Ok(ends(given.py().detach(found)))
    }),
    ("bootstrap_ratio", |given| {
        let items: Vec<(f64, f64)> = given.get("items")?;
        let (resamples, seed) = (given.get("resamples")?, given.get("seed")?);
        let level = given.get("level")?;
        let found = || m::bootstrap_ratio(&items, resamples, seed, level);
        Ok(ends(given.py().detach(found)))
    }),
    ("confusion", confusion),
    ("distribution", |given| {
        let found = m::distribution(&given.get("counts")?, given.get("all")?);
        let why = "at least the sum of the counts expected";
        Ok(json!(found.ok_or_else(|| invalid("all", why))?))
    }),
    ("expected_net_value", expected_net_value),
    ("false_positive_rates", |given| {
        let patches: Vec<(bool, bool, bool)> = given.get("patches")?;
        let patches = patches.into_iter();
        let patches = patches.map(|(success, reached, accepted)| m::ReachedPatch {
            success,
            reached,
            accepted,
        });
        Ok(json!(m::false_positive_rates(patches)))
    }),
    ("filtered_success_at_k", |given| {
        at_k(given, m::filtered_success_at_k)
    }),
    ("label_mass", label_mass),
    ("lift_by_type", lift_by_type),
    ("majority_vote", majority_vote),
    ("mean_at_k", |given| {
        let counts: Vec<(u64, u64)> = given.get("counts")?;
        let counts = counts.into_iter();
        let counts: Vec<RunCount> = counts
            .map(|(runs, successes)| RunCount { runs, successes })
            .collect();
        rate(m::mean_at_k(&counts, given.get("k")?, beyond(given)?))
    }),
    ("no_skill_precision", |given| {
        let truths: Vec<bool> = given.get("truths")?;
        let items: Vec<(bool, f64)> = truths.into_iter().map(|truth| (truth, 0.0)).collect();
        Ok(json!(m::no_skill_precision(&items)))
    }),
    ("normalise_identifiers", |given| {
        let patch: String = given.get("patch")?;
        Ok(json!(m::normalise_identifiers(&patch)))
    }),
    ("pass_and_validation_at_k", |given| {
        at_k(given, m::pass_and_validation_at_k)
    }),
    ("percentile_decision", percentile_decision),
    ("random_baseline", random_baseline),
    ("reliability", |given| {
        Ok(json!(m::reliability(&scored(given)?, given.get("bins")?)))
    }),
    ("threshold_for_precision", |given| {
        let target = given.get("target")?;
        Ok(json!(m::threshold_for_precision(&scored(given)?, target)))
    }),
    ("validation_recall_at_k", |given| {
        at_k(given, m::validation_recall_at_k)
    }),
    ("yields", yields),
];

fn numbers(given: &Options<'_>, name: &str) -> PyResult<Vec<f64>> {
    given.get(name)
}

/// Truths and what was said of them, side by side.
fn pairs<T: Copy>(given: &Options<'_>, said: &[T], name: &str) -> PyResult<Vec<(bool, T)>> {
    let truths: Vec<bool> = given.get("truths")?;
    if truths.len() != said.len() {
        let why = format!("{} for {} truths", said.len(), truths.len());
        return Err(invalid(name, why));
    }
    Ok(truths.into_iter().zip(said.iter().copied()).collect())
}

fn scored(given: &Options<'_>) -> PyResult<Vec<(bool, f64)>> {
    pairs(given, &numbers(given, "scores")?, "scores")
}

fn ends(interval: Option<ConfidenceInterval>) -> Value {
    json!(interval.map(|interval| (interval.low, interval.high)))
}

fn beyond(given: &Options<'_>) -> PyResult<BeyondRuns> {
    Ok(given.named("beyond")?.unwrap_or_default())
}

fn rate(found: Result<AtK, TooFewRuns>) -> PyResult<Value> {
    Ok(json!(found.map_err(|why| invalid("k", why))?))
}

/// A bug as a mapping.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Bug {
    #[pyo3(default = true)]
    attempt: bool,
    success: Vec<bool>,
    #[pyo3(default)]
    accepted: Option<Vec<bool>>,
}

fn at_k(
    given: &Options<'_>,
    metric: fn(&[BugRuns], u64, BeyondRuns) -> Result<AtK, TooFewRuns>,
) -> PyResult<Value> {
    let bugs: Vec<Bug> = given.get("bugs")?;
    let read = |(at, bug): (usize, Bug)| {
        let all = || vec![true; bug.success.len()];
        let accepted = bug.accepted.unwrap_or_else(all);
        if accepted.len() != bug.success.len() {
            let why = format!(
                "bug {at}: {} runs of `success` and {} of `accepted`",
                bug.success.len(),
                accepted.len()
            );
            return Err(invalid("bugs", why));
        }
        let runs = bug.success.into_iter().zip(accepted);
        Ok(BugRuns {
            attempt: bug.attempt,
            runs: runs
                .map(|(success, accepted)| Run { success, accepted })
                .collect(),
        })
    };
    let bugs = bugs.into_iter().enumerate().map(read);
    let bugs = bugs.collect::<PyResult<Vec<_>>>()?;
    let (k, beyond) = (given.get("k")?, beyond(given)?);
    rate(given.py().detach(|| metric(&bugs, k, beyond)))
}

fn confusion(given: &Options<'_>) -> PyResult<Value> {
    let said: Vec<bool> = given.get("predictions")?;
    let found = m::Confusion::of(pairs(given, &said, "predictions")?);
    Ok(json!({
        "tp": found.tp, "fp": found.fp, "fn": found.fn_, "tn": found.tn,
        "accuracy": found.accuracy(),
        "precision": found.precision(),
        "recall": found.recall(),
        "f1": found.f1(),
        "specificity": found.specificity(),
        "fpr": found.fpr(),
        "negative_precision": found.negative_precision(),
        "prevalence": found.prevalence(),
    }))
}

fn percentile_decision(given: &Options<'_>) -> PyResult<Value> {
    let scores = numbers(given, "scores")?;
    let cutoff = m::Cutoff::at(&scores, given.get("p")?);
    let accepted: Vec<bool> = scores
        .iter()
        .map(|score| cutoff.is_some_and(|cutoff| cutoff.accepts(*score)))
        .collect();
    let cutoff = cutoff.map(|cutoff| cutoff.score);
    Ok(json!({"cutoff": cutoff, "accepted": accepted}))
}

/// A token's bytes.
#[derive(FromPyObject)]
enum TokenText {
    Text(PyBackedStr),
    Bytes(PyBackedBytes),
}

fn label_mass(given: &Options<'_>) -> PyResult<Value> {
    let alternatives: Vec<(TokenText, f64)> = given.get("alternatives")?;
    let (positive, negative): (String, String) = (given.get("positive")?, given.get("negative")?);
    let alternatives: Vec<(&[u8], f64)> = alternatives
        .iter()
        .map(|(token, logprob)| match token {
            TokenText::Text(text) => (text.as_bytes(), *logprob),
            TokenText::Bytes(bytes) => (&**bytes, *logprob),
        })
        .collect();
    let mass = m::label_mass(&alternatives, &positive, &negative);
    Ok(json!({
        "positive": mass.positive,
        "negative": mass.negative,
        "total": mass.total(),
        "probability": mass.probability(),
    }))
}

fn expected_net_value(given: &Options<'_>) -> PyResult<Value> {
    let bug = BugValue {
        value: given.get("value")?,
        cost: given.get("cost")?,
        run_cost: given.get("run_cost")?,
        review_cost: given.get("review_cost")?,
    };
    let p = given.get("p")?;
    Ok(json!({
        "attempt": bug.attempt(p),
        "abstain": bug.abstain(),
        "show": bug.show(p),
        "hide": bug.hide(),
        "break_even_attempt": bug.break_even_attempt(),
        "break_even_show": bug.break_even_show(),
    }))
}

fn majority_vote(given: &Options<'_>) -> PyResult<Value> {
    let patches: Vec<String> = given.get("patches")?;
    let patches: Vec<&str> = patches.iter().map(String::as_str).collect();
    let counted = patches.iter().map(|patch| m::line_count(patch)).collect();
    let lines: Vec<u64> = given.or("lines", counted)?;
    if lines.len() != patches.len() {
        let why = format!("{} for {} patches", lines.len(), patches.len());
        return Err(invalid("lines", why));
    }
    let vote = given.py().detach(|| m::majority_vote(&patches, &lines));
    Ok(json!(vote.map(|vote| {
        json!({
            "winner": vote.winner,
            "votes": vote.votes,
            "groups": vote.groups,
            "normalised": vote.normalised,
        })
    })))
}

/// A test as a mapping.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct SaidTest {
    passes: bool,
    confidence: f64,
    #[pyo3(default)]
    length: Option<u64>,
}

fn aggregate_critic(given: &Options<'_>) -> PyResult<Value> {
    let tests: Vec<SaidTest> = given.get("tests")?;
    let tests: Vec<TestPrediction> = tests
        .into_iter()
        .map(|test| TestPrediction {
            passes: test.passes,
            confidence: test.confidence,
            length: test.length,
        })
        .collect();
    let rule = LowConfidenceRule {
        max_confidence: given.get("max_confidence")?,
        longer_than: given.get("longer_than")?,
    };
    let rule = given.get::<bool>("rule")?.then_some(&rule);
    let found = m::aggregate_critic(&tests, rule);
    Ok(json!(found.map_err(|why| invalid("tests", why))?))
}

fn random_baseline(given: &Options<'_>) -> PyResult<Value> {
    let q: f64 = given.get("q")?;
    let coin = m::RandomBaseline::new(q);
    let coin = coin.ok_or_else(|| invalid("q", format!("{q} is outside 0 to 1")))?;
    Ok(json!({
        "accuracy": coin.accuracy(),
        "precision": coin.precision(),
        "build_success": coin.build_success(given.get("tests")?),
    }))
}

/// A bug of a type as a mapping.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Kind {
    r#type: String,
    correct: Vec<bool>,
    kept: Vec<bool>,
}

fn lift_by_type(given: &Options<'_>) -> PyResult<Value> {
    let mut read = Vec::new();
    for (at, bug) in given.get::<Vec<Kind>>("bugs")?.into_iter().enumerate() {
        if bug.correct.len() != bug.kept.len() {
            let why = format!("bug {at}: `correct` and `kept` differ in length");
            return Err(invalid("bugs", why));
        }
        let patches = bug.correct.into_iter().zip(bug.kept);
        read.push(TypedBug {
            kind: bug.r#type,
            patches: patches
                .map(|(correct, kept)| KeptPatch { correct, kept })
                .collect(),
        });
    }
    Ok(json!(m::lift_by_type(&read)))
}

fn yields(given: &Options<'_>) -> PyResult<Value> {
    let counts = YieldCounts {
        sourced: given.get("sourced")?,
        replicated: given.get("replicated")?,
        accepted: given.get("accepted")?,
    };
    Ok(json!({
        "replicated_of_sourced": counts.replicated_of_sourced(),
        "accepted_of_sourced": counts.accepted_of_sourced(),
        "accepted_of_replicated": counts.accepted_of_replicated(),
    }))
}
