//! Yes or no against the truth, scores that order, and what follows from a model's words.

#![expect(
    clippy::needless_pass_by_value,
    reason = "converted arguments, on Python's side"
)]

use super::pairs;
use crate::convert::to_python;
use crate::errors::invalid;
use atlas_judge::metrics::{self as m, BugValue, KeptPatch, LowConfidenceRule, TypedBug};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use serde_json::json;
use std::collections::BTreeMap;

/// How often a yes or no was right: counts and the shares that follow.
///
/// Gives `tp`, `fp`, `fn`, `tn`, and `accuracy`, `precision`, `recall`, `f1`, `specificity`, `fpr` (false
/// positives among the negatives counted here), `negative_precision` and `prevalence`, 0 to 1, None where
/// their denominator is 0. Raises InvalidInputError for lists of different lengths.
#[pyfunction]
pub(crate) fn confusion(
    py: Python<'_>,
    truths: Vec<bool>,
    predictions: Vec<bool>,
) -> PyResult<Bound<'_, PyAny>> {
    let found = m::Confusion::of(pairs(&truths, &predictions, "predictions")?);
    to_python(
        py,
        &json!({
            "tp": found.tp, "fp": found.fp, "fn": found.fn_, "tn": found.tn,
            "accuracy": found.accuracy(),
            "precision": found.precision(),
            "recall": found.recall(),
            "f1": found.f1(),
            "specificity": found.specificity(),
            "fpr": found.fpr(),
            "negative_precision": found.negative_precision(),
            "prevalence": found.prevalence(),
        }),
    )
}

/// The false positive rate of a validation with both denominators (paper 002, section 6.2 against its Table
/// 4): `of_all` wrong patches, and `of_reached`, those that got as far as validation.
///
/// A patch is `(success, reached, accepted)`. Gives also `false_positives`, `negatives` and
/// `negatives_reached`; a rate is None where its denominator is 0.
#[pyfunction]
pub(crate) fn false_positive_rates(
    py: Python<'_>,
    patches: Vec<(bool, bool, bool)>,
) -> PyResult<Bound<'_, PyAny>> {
    let patches = patches.into_iter();
    let patches = patches.map(|(success, reached, accepted)| m::ReachedPatch {
        success,
        reached,
        accepted,
    });
    crate::convert::plain(py, &m::false_positive_rates(patches))
}

/// F1 from a printed precision and recall, in their unit: 2 P R / (P + R); None where both are 0.
#[pyfunction]
pub(crate) fn f1_of(precision: f64, recall: f64) -> Option<f64> {
    m::f1_of(precision, recall)
}

/// The share of positives that a printed accuracy, precision and recall imply, all 0 to 1: rows of a table
/// that imply different shares were not scored on the same labels (paper 004, Table 2).
#[pyfunction]
pub(crate) fn implied_prevalence(accuracy: f64, precision: f64, recall: f64) -> Option<f64> {
    m::implied_prevalence(accuracy, precision, recall)
}

/// The precision that a recall and a false positive rate imply at a share of positives, all 0 to 1 (paper
/// 002, Table 4 against section 6.2).
#[pyfunction]
pub(crate) fn implied_precision(prevalence: f64, recall: f64, fpr: f64) -> Option<f64> {
    m::implied_precision(prevalence, recall, fpr)
}

/// Average precision: the sum over thresholds, highest score first, of the precision there times the rise of
/// recall, as scikit-learn's (paper 002, Figure 3). Equal scores are one step; a perfect order gives exactly 1.
///
/// None without a true item, or with a score that is no finite number.
#[pyfunction]
pub(crate) fn average_precision(truths: Vec<bool>, scores: Vec<f64>) -> PyResult<Option<f64>> {
    Ok(m::average_precision(&pairs(&truths, &scores, "scores")?))
}

/// The share of true items: the precision of a policy without skill. None without items.
#[pyfunction]
pub(crate) fn no_skill_precision(truths: Vec<bool>) -> Option<f64> {
    let items: Vec<(bool, f64)> = truths.into_iter().map(|truth| (truth, 0.0)).collect();
    m::no_skill_precision(&items)
}

/// Precision and recall at every threshold, in the form of scikit-learn (paper 002, Figure 3).
///
/// Gives `thresholds`, the distinct scores ascending; `precision` and `recall` there, with one more point, 1
/// and 0, at the end; and `shown`, the share of items with at least that score. None as `average_precision`.
#[pyfunction]
pub(crate) fn precision_recall_curve(
    py: Python<'_>,
    truths: Vec<bool>,
    scores: Vec<f64>,
) -> PyResult<Bound<'_, PyAny>> {
    let curve = m::precision_recall_curve(&pairs(&truths, &scores, "scores")?);
    crate::convert::plain(py, &curve)
}

/// Whether scores mean what they say (Guo et al. 2017): `bins` of equal width from 0 to 1, each with its upper edge,
/// `expected_error`, `maximum_error` and `brier`. None without items, with a score that is not within 0 to 1, or with no bins
/// or more than 10,000.
#[pyfunction]
#[pyo3(signature = (truths, scores, *, bins=10))]
pub(crate) fn reliability(
    py: Python<'_>,
    truths: Vec<bool>,
    scores: Vec<f64>,
    bins: usize,
) -> PyResult<Bound<'_, PyAny>> {
    let found = m::reliability(&pairs(&truths, &scores, "scores")?, bins);
    crate::convert::plain(py, &found)
}

/// The mean square of score less truth, 1 or 0. None without items, or with a score that is not within 0 to 1.
#[pyfunction]
pub(crate) fn brier_score(truths: Vec<bool>, scores: Vec<f64>) -> PyResult<Option<f64>> {
    Ok(m::brier_score(&pairs(&truths, &scores, "scores")?))
}

/// The share of wrong items among those from a score on (Geifman and El-Yaniv 2017): `thresholds`, the distinct scores
/// descending, with `coverage` and `risk`; the `area` under the curve, the mean over all orders of equal scores, beside
/// `best_area` and `no_skill`. None without items, or with a score that is no finite number.
#[pyfunction]
pub(crate) fn risk_coverage(
    py: Python<'_>,
    truths: Vec<bool>,
    scores: Vec<f64>,
) -> PyResult<Bound<'_, PyAny>> {
    let curve = m::risk_coverage(&pairs(&truths, &scores, "scores")?);
    crate::convert::plain(py, &curve)
}

/// The smallest score from which on the share of true items is at least `target`, 0 to 1. None where no score reaches
/// it, without items, or with a score that is no finite number.
#[pyfunction]
pub(crate) fn threshold_for_precision(
    truths: Vec<bool>,
    scores: Vec<f64>,
    target: f64,
) -> PyResult<Option<f64>> {
    let items = pairs(&truths, &scores, "scores")?;
    Ok(m::threshold_for_precision(&items, target))
}

/// The threshold with the best F1: `threshold`, from which on an item is a yes, and `f1` (paper 004, section
/// 4.2.1 b). The grid is the distinct scores; of equally good thresholds the lowest wins. None as
/// `average_precision`.
#[pyfunction]
pub(crate) fn grid_threshold(
    py: Python<'_>,
    truths: Vec<bool>,
    scores: Vec<f64>,
) -> PyResult<Bound<'_, PyAny>> {
    let found = m::grid_threshold(&pairs(&truths, &scores, "scores")?);
    crate::convert::plain(py, &found)
}

/// The cosine of two vectors, -1 to 1; None if their lengths differ, one is zero or a number is not finite.
#[pyfunction]
pub(crate) fn cosine(a: Vec<f64>, b: Vec<f64>) -> Option<f64> {
    m::cosine(&a, &b)
}

/// Which scores a percentile lets through (paper 002, section 3.2.6): `cutoff`, the `p`-th percentile of all
/// scores, `p` from 0 to 100, and `accepted`, a bool for each: at or above the cut-off, and above 0. The
/// cut-off is None without scores, or with one that is no finite number; then nothing is accepted.
#[pyfunction]
pub(crate) fn percentile_decision(
    py: Python<'_>,
    scores: Vec<f64>,
    p: f64,
) -> PyResult<Bound<'_, PyAny>> {
    let cutoff = m::Cutoff::at(&scores, p);
    let accepted: Vec<bool> = scores
        .iter()
        .map(|score| cutoff.is_some_and(|cutoff| cutoff.accepts(*score)))
        .collect();
    let cutoff = cutoff.map(|cutoff| cutoff.score);
    to_python(py, &json!({"cutoff": cutoff, "accepted": accepted}))
}

/// A token's bytes.
#[derive(FromPyObject)]
pub(crate) enum TokenText {
    Text(PyBackedStr),
    Bytes(PyBackedBytes),
}

/// How much of the first token's probability belongs to two labels (paper 002, section 3.1).
///
/// `alternatives` are `(token, log-probability)`, the token as str or bytes, the log-probability in nats. An
/// alternative counts for a label if, stripped and in lower case, it is a beginning of it alone. Gives
/// `positive`, `negative`, `total` and `probability`, positive over both; None without any mass.
#[pyfunction]
#[pyo3(signature = (alternatives, positive="success", negative="failure"))]
pub(crate) fn label_mass<'py>(
    py: Python<'py>,
    alternatives: Vec<(TokenText, f64)>,
    positive: &str,
    negative: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let alternatives: Vec<(&[u8], f64)> = alternatives
        .iter()
        .map(|(token, logprob)| {
            let bytes: &[u8] = match token {
                TokenText::Text(text) => text.as_bytes(),
                TokenText::Bytes(bytes) => bytes,
            };
            (bytes, *logprob)
        })
        .collect();
    let mass = m::label_mass(&alternatives, positive, negative);
    to_python(
        py,
        &json!({
            "positive": mass.positive,
            "negative": mass.negative,
            "total": mass.total(),
            "probability": mass.probability(),
        }),
    )
}

/// The patch correctness score: 0 if the review says that the bug is not fixed, else the exponential of the
/// mean log-probability (nats) of the response's tokens (paper 002, section 3.2.5). None for a yes without
/// tokens, or with a log-probability that is no number or above 0.
#[pyfunction]
pub(crate) fn patch_correctness_score(is_bug_fixed: bool, token_logprobs: Vec<f64>) -> Option<f64> {
    m::patch_correctness_score(is_bug_fixed, &token_logprobs)
}

/// What trying to fix a bug and showing a patch are expected to be worth (paper 002, appendix C.4).
///
/// `p` is the chance of success; `value`, `cost` (while it is not fixed), `run_cost` (of the agent) and
/// `review_cost` (a person's look) are in one unit of yours. Gives `attempt`, `abstain`, `show` and `hide` in
/// that unit, and the chances from which on trying and showing are worth more, `break_even_attempt` and
/// `break_even_show`; None where value and cost are 0 together.
#[pyfunction]
#[pyo3(signature = (p, *, value, cost, run_cost, review_cost))]
pub(crate) fn expected_net_value(
    py: Python<'_>,
    p: f64,
    value: f64,
    cost: f64,
    run_cost: f64,
    review_cost: f64,
) -> PyResult<Bound<'_, PyAny>> {
    let bug = BugValue {
        value,
        cost,
        run_cost,
        review_cost,
    };
    to_python(
        py,
        &json!({
            "attempt": bug.attempt(p),
            "abstain": bug.abstain(),
            "show": bug.show(p),
            "hide": bug.hide(),
            "break_even_attempt": bug.break_even_attempt(),
            "break_even_show": bug.break_even_show(),
        }),
    )
}

/// Chooses one patch by majority (paper 002, section 5.1): the largest group of those that differ only in
/// identifiers; of several the patch with the fewest `lines`, then the first.
///
/// `lines` are the numbers of lines of the patched files; without them those of the patches count. Gives
/// `winner`, `votes`, `groups` (places) and `normalised`; None without patches.
#[pyfunction]
#[pyo3(signature = (patches, lines=None))]
pub(crate) fn majority_vote(
    py: Python<'_>,
    patches: Vec<String>,
    lines: Option<Vec<u64>>,
) -> PyResult<Bound<'_, PyAny>> {
    let patches: Vec<&str> = patches.iter().map(String::as_str).collect();
    let lines = lines.unwrap_or_else(|| patches.iter().map(|patch| m::line_count(patch)).collect());
    if lines.len() != patches.len() {
        let why = format!("{} for {} patches", lines.len(), patches.len());
        return Err(invalid("lines", why));
    }
    let vote = py.detach(|| m::majority_vote(&patches, &lines));
    let vote = vote.map(|vote| {
        json!({
            "winner": vote.winner,
            "votes": vote.votes,
            "groups": vote.groups,
            "normalised": vote.normalised,
        })
    });
    crate::convert::plain(py, &vote)
}

/// A patch with every identifier replaced by `id` and its number in the order of appearance (paper 002,
/// section 5.1): patches that differ only in names become equal.
#[pyfunction]
pub(crate) fn normalise_identifiers(patch: &str) -> String {
    m::normalise_identifiers(patch)
}

/// A test as a mapping.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SaidTest {
    passes: bool,
    confidence: f64,
    #[pyo3(default)]
    length: Option<u64>,
}

/// From a critic's word on each test to its word on the patch (paper 004, section 2.2).
///
/// A test is a mapping with `passes`, `confidence` (0 to 100) and, where it is known, `length`, the
/// characters of its source. With `rule`, one that is said to pass with at most `max_confidence` and is longer
/// than `longer_than` is taken to fail (section 4.1). Gives `passes` (after the rule), `build_success` (all
/// pass) and `pass_rate`, the progress score. Raises InvalidInputError without tests.
#[pyfunction]
#[pyo3(signature = (tests, *, rule=true, max_confidence=65.0, longer_than=50))]
pub(crate) fn aggregate_critic(
    py: Python<'_>,
    tests: Vec<SaidTest>,
    rule: bool,
    max_confidence: f64,
    longer_than: u64,
) -> PyResult<Bound<'_, PyAny>> {
    let tests: Vec<m::TestPrediction> = tests
        .into_iter()
        .map(|test| m::TestPrediction {
            passes: test.passes,
            confidence: test.confidence,
            length: test.length,
        })
        .collect();
    let rule = rule.then_some(LowConfidenceRule {
        max_confidence,
        longer_than,
    });
    let found = m::aggregate_critic(&tests, rule.as_ref());
    crate::convert::plain(py, &found.map_err(|why| invalid("tests", why))?)
}

/// What a coin with the classes' weights is expected to reach (paper 004, section 4.1): `q`, 0 to 1, is the
/// share of tests that pass and the chance that the coin says so. Gives `accuracy`, `precision` (recall and F1
/// are the same), and `build_success`, the chance that all of `tests` tests are said to pass. Raises
/// InvalidInputError for a `q` out of range.
#[pyfunction]
#[pyo3(signature = (q, tests=1))]
pub(crate) fn random_baseline(py: Python<'_>, q: f64, tests: u32) -> PyResult<Bound<'_, PyAny>> {
    let coin = m::RandomBaseline::new(q);
    let coin = coin.ok_or_else(|| invalid("q", format!("{q} is outside 0 to 1")))?;
    to_python(
        py,
        &json!({
            "accuracy": coin.accuracy(),
            "precision": coin.precision(),
            "build_success": coin.build_success(tests),
        }),
    )
}

/// A bug as a mapping.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Kind {
    r#type: String,
    correct: Vec<bool>,
    kept: Vec<bool>,
}

/// Lift by type of bug: accept@1 of what a policy keeps over accept@1 of everything, each the mean over the
/// type's bugs of the share of right patches (paper 002, section 6.4, Table 2).
///
/// A bug is a mapping with `type`, and `correct` and `kept`, a bool for each patch. Gives type -> lift, None
/// (the paper's NA) where the policy keeps no patch of the type or no patch of it is right.
#[pyfunction]
pub(crate) fn lift_by_type(bugs: Vec<Kind>) -> PyResult<BTreeMap<String, Option<f64>>> {
    let mut read = Vec::new();
    for (at, bug) in bugs.into_iter().enumerate() {
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
    Ok(m::lift_by_type(&read))
}
