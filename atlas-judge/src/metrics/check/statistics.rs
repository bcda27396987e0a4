//! Stored values of general statistics.

use super::Fault;
use super::case::{Case, Flag};
use crate::metrics as m;
use serde_json::{Value, json};

/// Truths and scores of one length.
pub(super) fn scored(case: &mut Case<'_>) -> Result<Vec<(bool, f64)>, Fault> {
    let truths: Vec<Flag> = case.input("y_true")?;
    let scores: Vec<f64> = case.input("scores")?;
    if truths.len() != scores.len() {
        return Err(case.fault("scores", "must be as many as y_true"));
    }
    Ok(truths.iter().map(|flag| flag.0).zip(scores).collect())
}

pub(super) fn average_precision(case: &mut Case<'_>) -> Result<(), Fault> {
    let items = scored(case)?;
    case.found("average_precision", m::average_precision(&items));
    case.found("no_skill_prevalence", m::no_skill_precision(&items));
    Ok(())
}

pub(super) fn curve(case: &mut Case<'_>) -> Result<(), Fault> {
    let items = scored(case)?;
    let curve = m::precision_recall_curve(&items);
    let of = |part: fn(&m::PrecisionRecallCurve) -> &Vec<f64>| json!(curve.as_ref().map(part));
    case.found("precision", of(|curve| &curve.precision));
    case.found("recall", of(|curve| &curve.recall));
    case.found("thresholds", of(|curve| &curve.thresholds));
    Ok(())
}

pub(super) fn binary_metrics(case: &mut Case<'_>) -> Result<(), Fault> {
    let truths: Vec<Flag> = case.input("y_true")?;
    let said: Vec<Flag> = case.input("y_pred")?;
    if truths.len() != said.len() {
        return Err(case.fault("y_pred", "must be as many as y_true"));
    }
    let counts = m::Confusion::of(
        truths
            .iter()
            .zip(&said)
            .map(|(truth, said)| (truth.0, said.0)),
    );
    for (name, count) in [
        ("tp", counts.tp),
        ("fp", counts.fp),
        ("fn", counts.fn_),
        ("tn", counts.tn),
    ] {
        case.found(name, count);
    }
    for (name, value) in [
        ("accuracy", counts.accuracy()),
        ("precision", counts.precision()),
        ("recall", counts.recall()),
        ("specificity", counts.specificity()),
        ("fpr", counts.fpr()),
        ("f1", counts.f1()),
        // What scikit-learn gives if told to call an undefined F1 zero.
        (
            "f1_sklearn_zero_division_0",
            Some(counts.f1().unwrap_or(0.0)),
        ),
        ("precision_negative_label", counts.negative_precision()),
        ("recall_negative_label", counts.specificity()),
    ] {
        case.found(name, value);
    }
    Ok(())
}

pub(super) fn bootstrap(case: &mut Case<'_>) -> Result<(), Fault> {
    let a: Vec<f64> = case.input("a")?;
    let b: Vec<f64> = case.input("b")?;
    let resamples: Vec<Vec<usize>> = case.input("resample_indices")?;
    let differences =
        m::paired_differences(&a, &b).ok_or_else(|| case.fault("b", "must be as many as a"))?;
    let interval = |values: &[f64]| {
        let found = m::bootstrap_mean_with(values, &resamples, 95.0);
        json!(found.map(|found| [found.low, found.high]))
    };
    case.found("mean_b", m::bootstrap::mean(&b));
    case.found("ci95_mean_b", interval(&b));
    case.found("diff", m::bootstrap::mean(&differences));
    case.found("ci95_diff", interval(&differences));
    Ok(())
}

pub(super) fn cosine_and_threshold(case: &mut Case<'_>) -> Result<(), Fault> {
    let a: Vec<Vec<f64>> = case.input("a")?;
    let b: Vec<Vec<f64>> = case.input("b")?;
    let truths: Vec<Flag> = case.input("y")?;
    if a.len() != b.len() || a.len() != truths.len() {
        return Err(case.fault("b", "a, b and y must be equally many"));
    }
    let cosines: Vec<Option<f64>> = a.iter().zip(&b).map(|(a, b)| m::cosine(a, b)).collect();
    let items: Option<Vec<(bool, f64)>> = truths
        .iter()
        .zip(&cosines)
        .map(|(truth, cosine)| Some((truth.0, (*cosine)?)))
        .collect();
    let best = items.and_then(|items| m::grid_threshold(&items));
    case.found("cosine", cosines);
    case.found(
        "best_threshold_max_f1_lowest",
        best.map(|best| best.threshold),
    );
    case.found("best_f1", best.map(|best| best.f1));
    Ok(())
}

pub(super) fn pass_at_k(case: &mut Case<'_>) -> Result<(), Fault> {
    let (n, c, k) = (case.input("n")?, case.input("c")?, case.input("k")?);
    case.found("pass_at_k", m::pass_at_k(n, c, k));
    Ok(())
}

pub(super) fn spearman(case: &mut Case<'_>) -> Result<(), Fault> {
    let x: Vec<f64> = case.input("x")?;
    let y: Vec<f64> = case.input("y")?;
    case.found("rho", m::spearman(&x, &y));
    case.found("rank_x", m::average_ranks(&x).map(Value::from));
    case.found("rank_y", m::average_ranks(&y).map(Value::from));
    Ok(())
}

pub(super) fn wasserstein(case: &mut Case<'_>) -> Result<(), Fault> {
    let u: Vec<f64> = case.input("u")?;
    let v: Vec<f64> = case.input("v")?;
    case.found("distance", m::wasserstein_1(&u, &v));
    Ok(())
}

pub(super) fn kendall(case: &mut Case<'_>) -> Result<(), Fault> {
    let x: Vec<f64> = case.input("x")?;
    let y: Vec<f64> = case.input("y")?;
    case.found("tau_b", m::kendall(&x, &y));
    Ok(())
}

pub(super) fn spread(case: &mut Case<'_>) -> Result<(), Fault> {
    let values: Vec<f64> = case.input("values")?;
    case.found("spread", json!(m::spread(&values)));
    Ok(())
}

pub(super) fn progress(case: &mut Case<'_>) -> Result<(), Fault> {
    let tests: Vec<Vec<Option<Flag>>> = case.input("passed")?;
    let scores: Vec<Option<f64>> = case.input("scores")?;
    if tests.len() != scores.len() {
        return Err(case.fault("scores", "must be as many as passed"));
    }
    let known =
        |tests: Vec<Option<Flag>>| tests.iter().map(|test| test.map(|flag| flag.0)).collect();
    let pairs = m::progress_pairs(&tests.into_iter().map(known).collect::<Vec<_>>());
    let counts = m::OrderCounts::of(&pairs, &scores);
    case.found("pairs", json!(pairs));
    case.found("counts", json!(counts));
    case.found("share_concordant", counts.share_concordant());
    case.found("share_respected", counts.share_respected());
    Ok(())
}

pub(super) fn agreement(case: &mut Case<'_>) -> Result<(), Fault> {
    let answers: usize = case.input("answers")?;
    let said: Vec<Vec<Option<usize>>> = case.input("said")?;
    let items: Vec<Vec<usize>> = said
        .iter()
        .map(|item| item.iter().copied().flatten().collect())
        .collect();
    let of_two = said
        .iter()
        .filter_map(|item| Some(((*item.first()?)?, (*item.get(1)?)?)));
    let pairs: Vec<(usize, usize)> = of_two.collect();
    let mut counts = Vec::new();
    for item in said.iter().filter(|item| item.iter().all(Option::is_some)) {
        let count =
            |answer: usize| item.iter().filter(|said| **said == Some(answer)).count() as u64;
        counts.push((0..answers).map(count).collect::<Vec<u64>>());
    }
    case.found("cohen", m::cohen_kappa(&pairs, answers, m::Scale::Nominal));
    case.found(
        "cohen_quadratic",
        m::cohen_kappa(&pairs, answers, m::Scale::Ordinal),
    );
    case.found("fleiss", m::fleiss_kappa(&counts));
    case.found(
        "alpha_nominal",
        m::krippendorff_alpha(&items, answers, m::Scale::Nominal),
    );
    case.found(
        "alpha_ordinal",
        m::krippendorff_alpha(&items, answers, m::Scale::Ordinal),
    );
    Ok(())
}

pub(super) fn mcnemar(case: &mut Case<'_>) -> Result<(), Fault> {
    let (first, second) = (case.input("only_first")?, case.input("only_second")?);
    let several: Vec<f64> = case.input("several")?;
    case.found("p_exact", m::mcnemar_exact(first, second));
    case.found("holm", m::holm(&several));
    Ok(())
}
