//! Laws of the metrics, and their behaviour at the edges.

#![expect(
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "small counts; and where a value is exact, nothing else will do"
)]

use atlas_judge::metrics::{
    BeyondRuns, BugRuns, BugValue, Confusion, Cutoff, LowConfidenceRule, Random, RandomBaseline,
    ReachedPatch, Run, RunCount, TestPrediction, aggregate_critic, average_precision,
    average_ranks, binomial_quantile, bootstrap_mean, bootstrap_mean_with, cosine, distribution,
    f1_of, false_positive_rates, filtered_success_at_k, grid_threshold, implied_precision,
    implied_prevalence, label_mass, majority_vote, mean_at_k, normalise_identifiers,
    pass_and_validation_at_k, pass_at_k, patch_correctness_score, percentile,
    precision_recall_curve, spearman, summarise_correlations, validation_recall_at_k,
    wasserstein_1,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

fn run(success: bool, accepted: bool) -> Run {
    Run { success, accepted }
}

#[test]
fn pass_at_k_does_not_overflow_and_keeps_small_results() {
    let million = 1_000_000;
    assert_eq!(pass_at_k(million, 0, 500_000), Some(0.0));
    assert_eq!(pass_at_k(million, 500_000, 500_000), Some(1.0));
    assert_eq!(pass_at_k(million, million, 1), Some(1.0));
    // One success: the chance is k / n, however it is counted.
    assert!(close(pass_at_k(million, 1, 250_000).unwrap(), 0.25));
    assert!(close(pass_at_k(million, 250_000, 1).unwrap(), 0.25));
    // Two successes: 1 - (n-k)(n-k-1) / (n(n-1)), in whole numbers.
    let (n, k) = (1e6, 3e5);
    let two = 1.0 - (n - k) * (n - k - 1.0) / (n * (n - 1.0));
    assert!((pass_at_k(million, 2, 300_000).unwrap() - two).abs() < 1e-12);
    let tiny = pass_at_k(1 << 60, 1, 3).unwrap();
    assert!((tiny * (1_u64 << 60) as f64 - 3.0).abs() < 1e-9, "{tiny}");
    assert_eq!(pass_at_k(u64::MAX, u64::MAX / 2, u64::MAX / 3), Some(1.0));
}

#[test]
fn more_runs_than_there_are_is_a_choice() {
    let bugs = [
        RunCount {
            runs: 3,
            successes: 0,
        },
        RunCount {
            runs: 2,
            successes: 1,
        },
        RunCount {
            runs: 10,
            successes: 5,
        },
        RunCount {
            runs: 0,
            successes: 0,
        },
    ];
    let clamp = mean_at_k(&bugs, 5, BeyondRuns::Clamp).unwrap();
    assert_eq!(clamp.bugs_counted, 3);
    // No success stays 0 for any k: the shortcut of the HumanEval code would say 1.
    assert!(close(
        clamp.value.unwrap(),
        (0.0 + 1.0 + pass_at_k(10, 5, 5).unwrap()) / 3.0
    ));
    let exclude = mean_at_k(&bugs, 5, BeyondRuns::Exclude).unwrap();
    assert_eq!(
        (exclude.bugs_counted, exclude.value),
        (1, pass_at_k(10, 5, 5))
    );
    let error = mean_at_k(&bugs, 5, BeyondRuns::Error).unwrap_err();
    assert_eq!((error.bug, error.runs, error.k), (0, 3, 5));
    assert!(error.to_string().contains("3 runs"));
    let none = mean_at_k(&bugs[3..], 1, BeyondRuns::Error).unwrap();
    assert_eq!((none.value, none.bugs_counted), (None, 0));
    for word in ["clamp", "exclude", "error"] {
        assert!(word.parse::<BeyondRuns>().is_ok());
    }
    assert!(
        "wrap"
            .parse::<BeyondRuns>()
            .unwrap_err()
            .contains("exclude")
    );
}

#[test]
fn a_bug_that_is_not_attempted_shows_nothing() {
    let bugs = [BugRuns {
        attempt: false,
        runs: vec![run(true, true)],
    }];
    let at = BeyondRuns::Clamp;
    assert_eq!(filtered_success_at_k(&bugs, 1, at).unwrap().value, None);
    assert_eq!(
        pass_and_validation_at_k(&bugs, 1, at).unwrap().value,
        Some(0.0)
    );
    assert_eq!(
        validation_recall_at_k(&bugs, 1, at).unwrap().value,
        Some(1.0)
    );
}

#[test]
fn undefined_is_none_and_never_nan() {
    let empty = Confusion::default();
    let shares = [
        empty.accuracy(),
        empty.precision(),
        empty.recall(),
        empty.f1(),
        empty.specificity(),
        empty.fpr(),
        empty.negative_precision(),
        empty.prevalence(),
        f1_of(0.0, 0.0),
        implied_prevalence(0.5, 0.0, 0.0),
        implied_precision(0.0, 0.0, 0.0),
        average_precision(&[]),
        average_precision(&[(true, f64::NAN)]),
        percentile(&[], 50.0),
        percentile(&[1.0], 101.0),
        percentile(&[1.0, f64::NAN], 50.0),
        wasserstein_1(&[], &[1.0]),
        wasserstein_1(&[f64::INFINITY], &[1.0]),
        spearman(&[1.0], &[1.0]),
        spearman(&[1.0, 2.0], &[1.0]),
        spearman(&[1.0, f64::NAN], &[1.0, 2.0]),
        cosine(&[0.0], &[1.0]),
        cosine(&[1.0], &[1.0, 2.0]),
        patch_correctness_score(true, &[]),
        patch_correctness_score(true, &[0.1]),
        patch_correctness_score(true, &[f64::NAN]),
        label_mass(&[], "yes", "no").probability(),
    ];
    assert!(shares.iter().all(Option::is_none), "{shares:?}");
    assert!(precision_recall_curve(&[(false, 0.5)]).is_none());
    assert!(grid_threshold(&[(false, 0.5)]).is_none());
    assert!(bootstrap_mean(&[], 10, 1, 95.0).is_none());
    assert!(bootstrap_mean(&[1.0], 0, 1, 95.0).is_none());
    assert!(bootstrap_mean(&[1.0], 10, 1, 200.0).is_none());
    assert!(bootstrap_mean_with(&[1.0], &[vec![1]], 95.0).is_none());
    assert!(bootstrap_mean_with(&[1.0], &[vec![]], 95.0).is_none());
    assert!(binomial_quantile(0.5, 10, f64::NAN).is_none());
    assert!(majority_vote(&[], &[]).is_none());
    assert!(majority_vote(&["a"], &[]).is_none());
    assert!(RandomBaseline::new(f64::NAN).is_none());
    assert!(distribution(&BTreeMap::from([("a".to_owned(), 3)]), 2).is_none());
    let zero = BugValue {
        value: 0.0,
        cost: 0.0,
        run_cost: 1.0,
        review_cost: 1.0,
    };
    assert_eq!(
        (zero.break_even_attempt(), zero.break_even_show()),
        (None, None)
    );
}

#[test]
fn a_cut_off_of_zero_shows_nothing_that_was_judged_wrong() {
    let scores = [0.0, 0.0, 0.0, 0.5];
    let cutoff = Cutoff::at(&scores, 50.0).unwrap();
    assert!(close(cutoff.score, 0.0));
    assert_eq!(scores.map(|score| cutoff.reached_by(score)), [true; 4]);
    assert_eq!(
        scores.map(|score| cutoff.accepts(score)),
        [false, false, false, true]
    );
}

#[test]
fn both_denominators_of_the_false_positive_rate() {
    let patch = |success, reached, accepted| ReachedPatch {
        success,
        reached,
        accepted,
    };
    let rates = false_positive_rates([
        patch(false, false, true), // a word of validation on what never got there
        patch(false, true, true),
        patch(false, true, false),
        patch(false, false, false),
        patch(true, true, true),
    ]);
    assert_eq!((rates.of_all, rates.of_reached), (Some(0.25), Some(0.5)));
    assert_eq!(false_positive_rates([]).of_all, None);
}

#[test]
fn the_low_confidence_rule_at_its_edges() {
    let rule = LowConfidenceRule::default();
    let test = |passes, confidence, length| TestPrediction {
        passes,
        confidence,
        length,
    };
    for (prediction, passes) in [
        (test(true, 65.0, Some(51)), false),
        (test(true, 65.0, Some(50)), true),
        (test(true, 65.5, Some(51)), true),
        (test(true, 0.0, None), true),
        (test(false, 99.0, Some(51)), false),
    ] {
        assert_eq!(rule.apply(&prediction), passes, "{prediction:?}");
    }
    let error = aggregate_critic(&[], Some(&rule)).unwrap_err();
    assert!(error.to_string().contains("no test"));
}

#[test]
fn labels_are_beginnings_and_bytes_may_be_no_text() {
    let half = 0.5_f64.ln();
    let mass = label_mass(
        &[(b"\xff", half), (b" ", half), (b"", half)],
        "success",
        "failure",
    );
    assert!(close(mass.total(), 0.0) && !mass.attempts(0.0));
    // One that begins both decides nothing.
    let mass = label_mass(&[(b"p", half), (b"pass", half)], "pass", "poor");
    assert!(close(mass.positive, 0.5) && close(mass.negative, 0.0));
    // Equality at the threshold attempts.
    let even = label_mass(&[(b"Succ", half), (b"\nFAIL", half)], "success", "failure");
    assert!(even.attempts(0.5) && !even.attempts(0.5001));
}

#[test]
fn identifiers_in_odd_places() {
    assert_eq!(normalise_identifiers(""), "");
    assert_eq!(normalise_identifiers("1abc é_x é_x"), "1id0 éid1 éid1");
    let vote = majority_vote(&["a\nb\n", "c\nd\n", "x.y\n"], &[9, 4, 1]).unwrap();
    assert_eq!((vote.winner, vote.votes), (1, 2)); // of the largest group, the shortest file
}

#[test]
fn the_generator_of_resamples_never_changes() {
    let mut random = Random::new(1_234_567);
    // The reference values of SplitMix64 for this seed.
    assert_eq!(random.next_u64(), 6_457_827_717_110_365_317);
    assert_eq!(random.next_u64(), 3_203_168_211_198_807_973);
    assert_eq!(Random::new(0).below(0), 0);
    let values: Vec<f64> = (0..50).map(|at| f64::from(at % 5)).collect();
    let here = bootstrap_mean(&values, 500, 7, 95.0).unwrap();
    assert_eq!(bootstrap_mean(&values, 500, 7, 95.0).unwrap(), here);
    assert!(
        here.low < 2.0 && 2.0 < here.high && here.high - here.low < 1.2,
        "{here:?}"
    );
}

#[test]
fn constant_ranks_are_reported_apart() {
    let rhos = [
        spearman(&[0.1, 0.2, 0.3], &[1.0, 2.0, 3.0]),
        spearman(&[0.1, 0.2, 0.3], &[3.0, 2.0, 1.0]),
        spearman(&[0.1, 0.2, 0.3], &[1.0, 1.0, 1.0]),
    ];
    let summary = summarise_correlations(&rhos);
    assert_eq!((summary.defined, summary.undefined), (2, 1));
    assert_eq!(
        (summary.mean, summary.share_perfect),
        (Some(0.0), Some(0.5))
    );
}

fn bugs() -> impl Strategy<Value = Vec<BugRuns>> {
    let run = (any::<bool>(), any::<bool>()).prop_map(|(success, accepted)| run(success, accepted));
    let bug = (prop::bool::weighted(0.8), prop::collection::vec(run, 0..12))
        .prop_map(|(attempt, runs)| BugRuns { attempt, runs });
    prop::collection::vec(bug, 0..8)
}

fn items() -> impl Strategy<Value = Vec<(bool, f64)>> {
    prop::collection::vec(
        (any::<bool>(), (0..12_u32).prop_map(|n| f64::from(n) / 11.0)),
        1..40,
    )
}

type Metric = fn(
    &[BugRuns],
    u64,
    BeyondRuns,
) -> Result<atlas_judge::metrics::AtK, atlas_judge::metrics::TooFewRuns>;

const AT_K: [Metric; 3] = [
    filtered_success_at_k,
    pass_and_validation_at_k,
    validation_recall_at_k,
];

proptest! {
    #[test]
    fn chances_are_within_bounds_and_grow_with_k(bugs in bugs(), k in 1_u64..15) {
        for metric in AT_K {
            let at = |k| metric(&bugs, k, BeyondRuns::Clamp).unwrap();
            let (here, more) = (at(k), at(k + 1));
            prop_assert_eq!(here.bugs_counted, more.bugs_counted);
            prop_assert_eq!(here.value.is_some(), here.bugs_counted > 0);
            if let (Some(here), Some(more)) = (here.value, more.value) {
                prop_assert!((0.0..=1.0).contains(&here) && more >= here - 1e-12);
            }
            let fewer = metric(&bugs, k, BeyondRuns::Exclude).unwrap();
            prop_assert!(fewer.bugs_counted <= here.bugs_counted);
            if let Ok(strict) = metric(&bugs, k, BeyondRuns::Error) {
                prop_assert_eq!(strict, here);
            }
        }
    }

    #[test]
    fn the_order_of_bugs_and_runs_is_nothing(bugs in bugs(), k in 1_u64..15) {
        let mut turned = bugs.clone();
        turned.reverse();
        for bug in &mut turned {
            let half = bug.runs.len() / 2;
            bug.runs.rotate_left(half);
        }
        for metric in AT_K {
            let (a, b) = (metric(&bugs, k, BeyondRuns::Clamp).unwrap(), metric(&turned, k, BeyondRuns::Clamp).unwrap());
            prop_assert_eq!(a.bugs_counted, b.bugs_counted);
            prop_assert!(close(a.value.unwrap_or(0.0), b.value.unwrap_or(0.0)));
        }
    }

    #[test]
    fn accepting_everything_is_pass_at_k(bugs in bugs(), k in 1_u64..12) {
        let all: Vec<BugRuns> = bugs.iter().map(|bug| BugRuns {
            attempt: true,
            runs: bug.runs.iter().map(|one| run(one.success, true)).collect(),
        }).collect();
        let counts: Vec<RunCount> = bugs.iter().map(|bug| RunCount {
            runs: bug.runs.len() as u64,
            successes: bug.runs.iter().filter(|run| run.success).count() as u64,
        }).collect();
        let raw = mean_at_k(&counts, k, BeyondRuns::Clamp).unwrap();
        prop_assert_eq!(filtered_success_at_k(&all, k, BeyondRuns::Clamp).unwrap(), raw);
        prop_assert_eq!(pass_and_validation_at_k(&all, k, BeyondRuns::Clamp).unwrap(), raw);
    }

    #[test]
    fn pass_at_1_is_a_share_and_pass_at_n_is_any(n in 1_u64..400, c in 0_u64..400) {
        let c = c.min(n);
        prop_assert_eq!(pass_at_k(n, c, 1).unwrap(), c as f64 / n as f64);
        prop_assert_eq!(pass_at_k(n, c, n).unwrap(), f64::from(u8::from(c > 0)));
    }

    #[test]
    fn pass_at_k_is_symmetric_and_rises(n in 2_u64..3000, c in 0_u64..3000, k in 1_u64..3000) {
        let (c, k) = (c.min(n), k.min(n));
        let here = pass_at_k(n, c, k).unwrap();
        prop_assert!((0.0..=1.0).contains(&here));
        prop_assert!(close(here, pass_at_k(n, k, c).unwrap()));
        if c < n { prop_assert!(pass_at_k(n, c + 1, k).unwrap() >= here - 1e-12); }
        if k < n { prop_assert!(pass_at_k(n, c, k + 1).unwrap() >= here - 1e-12); }
    }

    #[test]
    fn a_perfect_order_has_an_average_precision_of_1(right in 1_u32..400, wrong in 0_u32..50) {
        let items = (0..right + wrong).map(|at| (at < right, -f64::from(at)));
        prop_assert_eq!(average_precision(&items.collect::<Vec<_>>()), Some(1.0));
    }

    #[test]
    fn the_curve_and_average_precision_agree(items in items()) {
        let (curve, ap) = (precision_recall_curve(&items), average_precision(&items));
        prop_assert_eq!(curve.is_some(), items.iter().any(|item| item.0));
        let Some(curve) = curve else { prop_assert_eq!(ap, None); return Ok(()); };
        let area: f64 = (0..curve.thresholds.len())
            .map(|at| (curve.recall[at] - curve.recall[at + 1]) * curve.precision[at])
            .sum();
        prop_assert!(close(area, ap.unwrap()));
        prop_assert!(curve.recall.windows(2).all(|pair| pair[0] >= pair[1]));
        prop_assert!(curve.shown.windows(2).all(|pair| pair[0] > pair[1]));
        prop_assert!(close(curve.recall[0], 1.0) && close(curve.shown[0], 1.0));
        let mut turned = items.clone();
        turned.reverse();
        prop_assert_eq!(average_precision(&turned), ap);
    }

    #[test]
    fn no_threshold_is_better_than_that_of_the_grid(items in items(), any in 0.0..1.0_f64) {
        let Some(best) = grid_threshold(&items) else { return Ok(()); };
        let f1 = |from: f64| Confusion::of(items.iter().map(|(truth, score)| (*truth, *score >= from))).f1();
        prop_assert!(close(f1(best.threshold).unwrap(), best.f1));
        prop_assert!(f1(any).unwrap_or(0.0) <= best.f1 + 1e-12);
    }

    #[test]
    fn counts_and_their_shares(pairs in prop::collection::vec((any::<bool>(), any::<bool>()), 0..50)) {
        let counts = Confusion::of(pairs.iter().copied());
        prop_assert_eq!(counts.total(), pairs.len() as u64);
        for share in [counts.accuracy(), counts.precision(), counts.recall(), counts.f1(), counts.specificity(), counts.fpr()].into_iter().flatten() {
            prop_assert!((0.0..=1.0).contains(&share));
        }
        if let (Some(p), Some(r), Some(f1)) = (counts.precision(), counts.recall(), counts.f1()) {
            prop_assert!(close(f1_of(p, r).unwrap_or(0.0), f1));
            prop_assert!(f1 <= p.max(r) + 1e-12 && f1 >= p.min(r) - 1e-12);
        }
        // What accuracy, precision and recall imply is the prevalence that was counted. Where the
        // quotient is 0/0 in exact numbers, rounding may leave anything, so those are left out.
        if let (Some(a), Some(p), Some(r)) = (counts.accuracy(), counts.precision(), counts.recall())
            && p > 0.0 && (1.0 - 2.0 * r + r / p).abs() > 1e-6
        {
            prop_assert!(close(implied_prevalence(a, p, r).unwrap(), counts.prevalence().unwrap()));
        }
        if let (Some(pi), Some(r), Some(fpr), Some(p)) = (counts.prevalence(), counts.recall(), counts.fpr(), counts.precision()) {
            prop_assert!(close(implied_precision(pi, r, fpr).unwrap(), p));
        }
    }

    #[test]
    fn a_distance_is_a_distance(
        u in prop::collection::vec(-5.0..5.0_f64, 1..20),
        v in prop::collection::vec(-5.0..5.0_f64, 1..20),
        by in -3.0..3.0_f64,
    ) {
        let d = wasserstein_1(&u, &v).unwrap();
        prop_assert!(d >= 0.0 && close(d, wasserstein_1(&v, &u).unwrap()));
        prop_assert!(close(wasserstein_1(&u, &u).unwrap(), 0.0));
        let moved: Vec<f64> = u.iter().map(|x| x + by).collect();
        prop_assert!(close(wasserstein_1(&u, &moved).unwrap(), by.abs()));
        let twice = [u.clone(), u.clone()].concat();
        prop_assert!(close(wasserstein_1(&twice, &v).unwrap(), d));
    }

    #[test]
    fn ranks_add_up_and_their_correlation_is_bounded(
        pairs in prop::collection::vec((0..6_u8, 0..6_u8), 2..30),
    ) {
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().map(|(a, b)| (f64::from(*a), f64::from(*b))).unzip();
        let ranks = average_ranks(&x).unwrap();
        let n = x.len() as f64;
        prop_assert!(close(ranks.iter().sum::<f64>(), n * (n + 1.0) / 2.0));
        let varied = |values: &[f64]| values.iter().any(|value| *value != values[0]);
        let rho = spearman(&x, &y);
        prop_assert_eq!(rho.is_some(), varied(&x) && varied(&y));
        if let Some(rho) = rho {
            prop_assert!((-1.0..=1.0).contains(&rho));
            prop_assert_eq!(rho, spearman(&y, &x).unwrap());
            let down: Vec<f64> = y.iter().map(|value| -value).collect();
            prop_assert!(close(spearman(&x, &down).unwrap(), -rho));
            prop_assert_eq!(spearman(&x, &x), Some(1.0));
        }
    }

    #[test]
    fn a_percentile_lies_between(values in prop::collection::vec(-9.0..9.0_f64, 1..30), p in 0.0..100.0_f64) {
        let found = percentile(&values, p).unwrap();
        let (low, high) = (percentile(&values, 0.0).unwrap(), percentile(&values, 100.0).unwrap());
        prop_assert!(low <= found && found <= high);
        prop_assert!(values.contains(&low) && values.contains(&high));
        prop_assert!(percentile(&values, (p + 1.0).min(100.0)).unwrap() >= found - 1e-12);
    }

    #[test]
    fn a_binomial_quantile_rises(n in 0_u64..200, p in 0.0..1.0_f64, q in 0.0..1.0_f64) {
        let found = binomial_quantile(q, n, p).unwrap();
        prop_assert!(found <= n && binomial_quantile((q + 0.05).min(1.0), n, p).unwrap() >= found);
    }

    #[test]
    fn a_vote_is_one_of_the_largest(patches in prop::collection::vec("[ab]{1,2} = [xy1]\n{0,2}", 1..9)) {
        let texts: Vec<&str> = patches.iter().map(String::as_str).collect();
        let lines: Vec<u64> = texts.iter().map(|text| atlas_judge::metrics::line_count(text)).collect();
        let vote = majority_vote(&texts, &lines).unwrap();
        prop_assert_eq!(vote.groups.iter().map(Vec::len).sum::<usize>(), texts.len());
        prop_assert_eq!(vote.votes, vote.groups.iter().map(Vec::len).max().unwrap());
        prop_assert!(vote.groups.iter().any(|group| group.len() == vote.votes && group.contains(&vote.winner)));
        // Names do not matter.
        let renamed: Vec<String> = texts.iter().map(|text| text.replace('a', "alpha_").replace('b', "b2")).collect();
        let renamed: Vec<&str> = renamed.iter().map(String::as_str).collect();
        prop_assert_eq!(majority_vote(&renamed, &lines).unwrap().groups, vote.groups);
    }

    #[test]
    fn a_value_is_worth_it_from_its_break_even_on(p in 0.0..1.0_f64, value in 0.1..9.0_f64, cost in 0.1..9.0_f64, price in 0.0..9.0_f64) {
        let bug = BugValue { value, cost, run_cost: price, review_cost: price };
        let edge = bug.break_even_attempt().unwrap();
        prop_assume!((p - edge).abs() > 1e-9);
        prop_assert_eq!(bug.attempt(p) > bug.abstain(), p > edge);
        prop_assert_eq!(bug.show(p) > bug.hide(), p > edge);
    }

    #[test]
    fn any_text_is_normalised(text in "\\PC*") {
        let once = normalise_identifiers(&text);
        prop_assert_eq!(normalise_identifiers(&once), once.clone());
    }
}
