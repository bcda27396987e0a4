//! Calibration, curves of risk, operating points, and paired comparisons: by hand, at the edges, and as laws.

#![expect(
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "small counts; and where a value is exact, nothing else will do"
)]

use atlas_judge::metrics::{
    CalibrationMethod, Calibrator, FitError, Isotonic, Platt, RatioPair,
    bootstrap_ratio_differences, brier_score, operating_point, reliability, risk_coverage,
    threshold_for_precision,
};
use proptest::prelude::*;
use serde_json::json;

const METHODS: [CalibrationMethod; 2] = [CalibrationMethod::Platt, CalibrationMethod::Isotonic];

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn bins_hold_their_upper_edge() {
    let items = [0.0, 0.1, 0.11, 0.7, 1.0].map(|score| (true, score));
    let found = reliability(&items, 10).unwrap();
    let filled: Vec<usize> = (0..10).filter(|at| found.bins[*at].count > 0).collect();
    assert_eq!(filled, [0, 1, 6, 9]);
    assert_eq!(found.bins[0].count, 2);
    assert_eq!(found.bins[0].mean_score, Some(0.05));
    assert_eq!(found.bins[2].share_right, None);
    // The worst bin is the first: 0.05 was said, and all are right.
    assert!(close(found.maximum_error, 0.95));
    assert!(close(found.expected_error, (0.95 * 2.0 + 0.89 + 0.3) / 5.0));
    assert!(close(
        brier_score(&[(true, 0.8), (false, 0.4)]).unwrap(),
        0.1
    ));
}

#[test]
fn what_is_no_probability_has_no_reliability_and_may_have_a_curve() {
    for score in [1.01, -0.01, f64::NAN, f64::INFINITY] {
        assert_eq!(reliability(&[(true, 0.5), (true, score)], 10), None);
        assert_eq!(brier_score(&[(true, score)]), None);
    }
    assert_eq!(reliability(&[], 10), None);
    assert_eq!(reliability(&[(true, 0.5)], 0), None);
    assert_eq!(reliability(&[(true, 0.5)], usize::MAX), None);
    assert_eq!(risk_coverage(&[]), None);
    assert_eq!(risk_coverage(&[(true, f64::NAN)]), None);
    let found = risk_coverage(&[(true, 70.0), (false, -3.0)]).unwrap();
    assert_eq!((found.area, found.best_area), (0.25, 0.25));
    let found = risk_coverage(&[(true, 0.5)]).unwrap();
    assert!(found.area.is_sign_positive() && found.best_area.is_sign_positive());
}

#[test]
fn nothing_is_fitted_to_nothing_to_one_class_or_to_no_numbers() {
    for method in METHODS {
        assert_eq!(method.fit(&[]), Err(FitError::Empty));
        let one = method.fit(&[(true, 0.1), (true, 0.9)]);
        assert_eq!(one, Err(FitError::OneClass));
        let none = method.fit(&[(true, 0.1), (false, f64::NAN)]);
        assert_eq!(none, Err(FitError::NotFinite));
        let fitted = method.fit(&[(true, 0.1), (false, 0.9)]).unwrap();
        for score in [f64::NAN, f64::INFINITY] {
            assert_eq!(fitted.apply(score), None);
        }
    }
}

#[test]
fn scores_that_separate_have_a_finite_fit() {
    let mut items: Vec<(bool, f64)> = (0..50).map(|at| (at >= 25, f64::from(at))).collect();
    let platt = Platt::fit(&items).unwrap();
    // At both ends the fit is near the targets, 26/27 and 1/27, and symmetric.
    assert!(platt.slope > 0.0 && close(platt.apply(24.5).unwrap(), 0.5));
    let (low, high) = (platt.apply(0.0).unwrap(), platt.apply(49.0).unwrap());
    assert!(close(low + high, 1.0) && high > 26.0 / 27.0, "{low} {high}");
    let isotonic = Isotonic::fit(&items).unwrap();
    assert_eq!(isotonic.scores(), [0.0, 24.0, 25.0, 49.0]);
    assert_eq!(isotonic.values(), [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(isotonic.apply(24.25), Some(0.25));
    // Scores that are all the wrong way round.
    for item in &mut items {
        item.1 = -item.1;
    }
    let platt = Platt::fit(&items).unwrap();
    assert!(platt.slope < 0.0 && close(platt.apply(-49.0).unwrap(), high));
    assert_eq!(Isotonic::fit(&items).unwrap().values(), [0.5, 0.5]);
}

#[test]
fn extreme_scores_give_a_number_or_an_error() {
    for scores in [
        [-1e308, 1e308, 0.0],
        [f64::MIN, f64::MAX, 0.0],
        [5e-324, 0.0, 0.0],
        [0.0, 1e-300, 1e-300],
        [1e15, 1e15 + 1.0, 1e15 + 2.0],
        [0.0, 1e9, 1.0],
    ] {
        for truths in [
            [true, false, true],
            [false, true, true],
            [false, false, true],
        ] {
            let items: Vec<(bool, f64)> = truths.into_iter().zip(scores).collect();
            for method in METHODS {
                let Ok(fitted) = method.fit(&items) else {
                    continue;
                };
                for score in scores.into_iter().chain([0.5, f64::MAX, f64::MIN]) {
                    let found = fitted.apply(score);
                    assert!(
                        found.is_some_and(|found| (0.0..=1.0).contains(&found)),
                        "{method:?} {items:?} {score}: {found:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_stored_fit_is_the_same_and_a_broken_one_is_refused() {
    let items = [(false, 0.2), (true, 0.3), (false, 0.7), (true, 0.8)];
    for method in METHODS {
        let fitted = method.fit(&items).unwrap();
        let stored = serde_json::to_string(&fitted).unwrap();
        assert_eq!(serde_json::from_str::<Calibrator>(&stored).unwrap(), fitted);
    }
    for (scores, values) in [
        (json!([]), json!([])),
        (json!([1.0]), json!([0.5, 0.6])),
        (json!([2.0, 1.0]), json!([0.5, 0.6])),
        (json!([1.0, 1.0]), json!([0.5, 0.6])),
        (json!([1.0, 2.0]), json!([0.6, 0.5])),
        (json!([1.0, 2.0]), json!([0.6, 1.5])),
    ] {
        let stored = json!({"method": "isotonic", "scores": scores, "values": values});
        assert!(
            serde_json::from_value::<Calibrator>(stored.clone()).is_err(),
            "{stored}"
        );
    }
}

#[test]
fn an_operating_point_by_hand() {
    // Descending: right, wrong, right, right, wrong. Shares: 1, 1/2, 2/3, 3/4, 3/5.
    let items = [
        (true, 0.9),
        (false, 0.8),
        (true, 0.7),
        (true, 0.6),
        (false, 0.5),
    ];
    for (target, threshold) in [
        (0.0, Some(0.5)),
        (0.6, Some(0.5)),
        (0.61, Some(0.6)),
        (0.75, Some(0.6)),
        (0.76, Some(0.9)),
        (1.0, Some(0.9)),
        (1.1, None),
        (f64::NAN, None),
    ] {
        assert_eq!(
            threshold_for_precision(&items, target),
            threshold,
            "{target}"
        );
    }
    assert_eq!(
        threshold_for_precision(&[(false, 0.9), (true, 0.1)], 0.9),
        None
    );
    // A threshold shows both of two equal scores, or neither.
    assert_eq!(
        threshold_for_precision(&[(false, 0.9), (true, 0.9)], 0.9),
        None
    );
    let groups: Vec<Vec<(bool, bool)>> = items
        .iter()
        .map(|(truth, score)| vec![(*truth, *score >= 0.6)])
        .collect();
    let point = operating_point(&groups, 500, 0);
    assert_eq!((point.shown, point.precision), (4, Some(0.75)));
    assert_eq!((point.recall, point.coverage), (Some(1.0), Some(0.8)));
    let interval = point.precision_interval.unwrap();
    assert!(interval.low < 0.75 && interval.high == 1.0, "{interval:?}");
    let interval = point.recall_interval.unwrap();
    assert_eq!((interval.low, interval.high), (1.0, 1.0));
    // One group is one draw: no resample differs.
    let together = operating_point(&[groups.concat()], 100, 0);
    let interval = together.precision_interval.unwrap();
    assert_eq!((interval.low, interval.high), (0.75, 0.75));
    let nothing = operating_point(&[], 100, 0);
    assert_eq!((nothing.precision, nothing.coverage_interval), (None, None));
}

#[test]
fn a_paired_difference_is_surer_than_two_intervals() {
    // Both systems find it hard where the other does; b is right once more in ten.
    let items: Vec<[RatioPair; 1]> = (0..100)
        .map(|at| {
            let right = |from: i32| f64::from(u8::from(at % 10 >= from));
            [RatioPair {
                a: (right(5), 1.0),
                b: (right(4), 1.0),
            }]
        })
        .collect();
    let [found] = bootstrap_ratio_differences(&items, 1000, 0, 95.0);
    let found = found.unwrap();
    assert!(found.low > 0.03 && found.high < 0.18, "{found:?}");
    let same: Vec<[RatioPair; 1]> = items
        .iter()
        .map(|[item]| {
            [RatioPair {
                a: item.a,
                b: item.a,
            }]
        })
        .collect();
    let [found] = bootstrap_ratio_differences(&same, 100, 0, 95.0);
    assert_eq!(found.map(|found| (found.low, found.high)), Some((0.0, 0.0)));
    assert_eq!(
        bootstrap_ratio_differences::<2>(&[], 100, 0, 95.0),
        [None; 2]
    );
    assert_eq!(bootstrap_ratio_differences(&items, 0, 0, 95.0), [None]);
}

/// The mean area over all orders of equal scores.
fn area_by_orders(items: &[(bool, f64)]) -> f64 {
    fn orders(left: &[(bool, f64)], shown: usize, wrong: usize) -> (f64, f64) {
        if left.is_empty() {
            return (0.0, 1.0);
        }
        let best = left.iter().map(|item| item.1).fold(f64::MIN, f64::max);
        let (mut sum, mut count) = (0.0, 0.0);
        for at in (0..left.len()).filter(|at| left[*at].1 == best) {
            let mut rest = left.to_vec();
            let (truth, _) = rest.remove(at);
            let wrong = wrong + usize::from(!truth);
            let (below, ways) = orders(&rest, shown + 1, wrong);
            sum += below + ways * wrong as f64 / (shown + 1) as f64;
            count += ways;
        }
        (sum, count)
    }
    let (sum, count) = orders(items, 0, 0);
    sum / count / items.len() as f64
}

fn few() -> impl Strategy<Value = Vec<(bool, f64)>> {
    let score = prop::sample::select(vec![0.0, 0.2, 0.5, 0.7, 1.0]);
    prop::collection::vec((any::<bool>(), score), 1..7)
}

fn many() -> impl Strategy<Value = Vec<(bool, f64)>> {
    let score = prop_oneof![
        prop::sample::select(vec![0.0, 0.2, 0.5, 0.7, 1.0]),
        0.0..=1.0_f64
    ];
    prop::collection::vec((any::<bool>(), score), 1..60)
}

proptest! {
    #[test]
    fn the_area_is_the_mean_over_orders(items in few()) {
        let found = risk_coverage(&items).unwrap();
        prop_assert!(close(found.area, area_by_orders(&items)));
        prop_assert!(found.best_area <= found.area + 1e-12);
    }

    #[test]
    fn the_order_of_items_changes_no_digit(items in many(), bins in 1_usize..20) {
        let mut other = items.clone();
        other.reverse();
        prop_assert_eq!(reliability(&items, bins), reliability(&other, bins));
        prop_assert_eq!(risk_coverage(&items), risk_coverage(&other));
        for method in METHODS {
            prop_assert_eq!(method.fit(&items), method.fit(&other));
        }
    }

    #[test]
    fn fits_do_what_fits_do(items in many()) {
        let right = items.iter().filter(|item| item.0).count() as f64;
        let wrong = items.len() as f64 - right;
        let sum = |fitted: &Calibrator| -> f64 {
            items.iter().map(|item| fitted.apply(item.1).unwrap()).sum()
        };
        if right > 0.0 && wrong > 0.0 {
            // The mean of the fit is the mean of what it was fitted to: of the truth, and of Platt's targets.
            let isotonic = CalibrationMethod::Isotonic.fit(&items).unwrap();
            prop_assert!((sum(&isotonic) - right).abs() < 1e-8);
            let platt = CalibrationMethod::Platt.fit(&items).unwrap();
            let targets = right * (right + 1.0) / (right + 2.0) + wrong / (wrong + 2.0);
            prop_assert!((sum(&platt) - targets).abs() < 1e-8, "{} {targets}", sum(&platt));
            let brier = |fitted: &Calibrator| {
                let items: Vec<(bool, f64)> = items.iter().map(|item| (item.0, fitted.apply(item.1).unwrap())).collect();
                brier_score(&items).unwrap()
            };
            prop_assert!(brier(&isotonic) <= brier_score(&items).unwrap() + 1e-12);
        }
    }

    #[test]
    fn a_threshold_reaches_its_target_and_no_lower_one_does(items in many(), target in 0.0..=1.0_f64) {
        let precision = |from: f64| {
            let shown = items.iter().filter(|item| item.1 >= from);
            let right = shown.clone().filter(|item| item.0).count() as f64;
            right / shown.count() as f64
        };
        let reach = |score: &f64| precision(*score) >= target;
        let lowest = items.iter().map(|item| item.1).filter(reach).min_by(f64::total_cmp);
        prop_assert_eq!(threshold_for_precision(&items, target), lowest);
    }
}
