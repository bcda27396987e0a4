//! Printed numbers of the papers, recomputed.

use super::Fault;
use super::case::{Case, number_of};
use crate::metrics as m;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Paper 001, appendix E: what both tables divide by, though neither sums to it.
const INSTANCES: u64 = 488;
/// Paper 001, appendix E.1.
const CODE_TYPES: [(&str, u64); 7] = [
    ("bug-fix", 298),
    ("feature", 150),
    ("refactor", 22),
    ("performance", 12),
    ("unknown", 3),
    ("dependency-update", 1),
    ("build-ci", 1),
];
/// Paper 001, appendix E.2.
const ISSUE_TYPES: [(&str, u64); 5] = [
    ("bug-report", 274),
    ("feature-request", 188),
    ("performance-issue", 12),
    ("chore", 10),
    ("unknown", 2),
];

pub(super) fn yields(case: &mut Case<'_>) -> Result<(), Fault> {
    let counts = m::YieldCounts {
        sourced: case.input("sourced")?,
        replicated: case.input("replicated")?,
        accepted: case.input("final")?,
    };
    case.found("stage23_yield", counts.replicated_of_sourced());
    case.found("stage4_of_sourced", counts.accepted_of_sourced());
    case.found("stage4_of_replicated", counts.accepted_of_replicated());
    for (name, counts) in [
        ("code_type", &CODE_TYPES[..]),
        ("issue_type", &ISSUE_TYPES[..]),
    ] {
        let counts: BTreeMap<String, u64> = counts
            .iter()
            .map(|(label, count)| ((*label).to_owned(), *count))
            .collect();
        let found = m::distribution(&counts, INSTANCES);
        case.found(
            &format!("{name}_sum"),
            found.as_ref().map(|found| found.counted),
        );
        case.found(name, json!(found.map(|found| found.percent)));
    }
    Ok(())
}

pub(super) fn table_5(case: &mut Case<'_>) -> Result<(), Fault> {
    let (before, now, n): (u64, u64, u64) =
        (case.input("prev")?, case.input("cur")?, case.input("n")?);
    case.quoted("row");
    let gained = now
        .checked_sub(before)
        .and_then(|gained| m::share(gained, n))
        .ok_or_else(|| case.fault("cur", "must be at least prev, with n above 0"))?;
    let interval: Vec<Value> = [0.025, 0.975]
        .map(|q| m::binomial_quantile(q, n, gained).into())
        .to_vec();
    // The reconstruction stands only if it gives what is printed.
    case.found("printed_ci", interval.clone());
    case.found("binom_ppf_ci", interval);
    Ok(())
}

pub(super) fn abstention_counts(case: &mut Case<'_>) -> Result<(), Fault> {
    let (bugs, fixable): (u64, u64) = (case.input("bugs")?, case.input("fixable")?);
    let (tp, fp): (u64, u64) = (case.input("tp")?, case.input("fp")?);
    let unfixable = bugs.checked_sub(fixable);
    let (Some(fn_), Some(tn)) = (
        fixable.checked_sub(tp),
        unfixable.and_then(|unfixable| unfixable.checked_sub(fp)),
    ) else {
        return Err(case.fault("tp", "more of a class than there are bugs of it"));
    };
    let counts = m::Confusion { tp, fp, fn_, tn };
    case.found("accepted", tp + fp);
    case.found("prevalence", counts.prevalence());
    case.found("fpr", counts.fpr());
    case.found("precision", counts.precision());
    case.found("recall", counts.recall());
    // The paper's text; they do not follow from these counts.
    case.quoted("r2_at_1_printed");
    case.quoted("baseline_at_1_printed");
    Ok(())
}

pub(super) fn fpr_consistency(case: &mut Case<'_>) -> Result<(), Fault> {
    /// Paper 002, Table 4: the share of right patches among those reviewed.
    const PREVALENCE: f64 = 0.19;
    let recall = case.input("recall")?;
    let (text, table) = (case.input("fpr_text")?, case.input("fpr_table4")?);
    case.quoted("variant");
    case.quoted("precision_printed");
    for (name, fpr) in [("precision_if_text", text), ("precision_if_table4", table)] {
        case.found(name, m::implied_precision(PREVALENCE, recall, fpr));
    }
    Ok(())
}

pub(super) fn prevalence(case: &mut Case<'_>) -> Result<(), Fault> {
    let found = m::implied_prevalence(
        case.input("accuracy")?,
        case.input("precision")?,
        case.input("recall")?,
    );
    case.quoted("row");
    case.found("implied_prevalence", found);
    Ok(())
}

pub(super) fn f1_consistency(case: &mut Case<'_>) -> Result<(), Fault> {
    let f1 = m::f1_of(case.input("precision")?, case.input("recall")?);
    let printed: f64 = case.input("f1_printed")?;
    case.quoted("row");
    case.found("f1_recomputed", f1);
    for name in case.names() {
        if let Some(within) = number_of(name, "consistent_within_") {
            case.found(name, f1.map(|f1| (f1 - printed).abs() <= within));
        }
    }
    Ok(())
}
