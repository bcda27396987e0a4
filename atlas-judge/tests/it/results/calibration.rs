//! Calibrations of results files: fits, halves, and what they are measured on.

use super::*;

/// A patch of one task with a validation score.
fn scored(task: usize, resolved: bool, score: f64) -> Value {
    let validation = json!({"accepted": score >= 0.5, "score": score, "source": "s"});
    line(
        &format!("t{task}"),
        "p",
        resolved,
        json!({"validation": validation}),
    )
}

/// Scores of 0.8 that are right every second time, and of 0.2 that never are.
fn overconfident(tasks: std::ops::Range<usize>) -> Vec<Value> {
    tasks
        .map(|task| match task % 3 {
            0 => scored(task, false, 0.2),
            rest => scored(task, rest == 1, 0.8),
        })
        .collect()
}

fn of_score(analysis: &Analysis) -> &CalibrationAnalysis {
    let score = analysis.policies[0].score.as_ref().unwrap();
    score.calibration.as_ref().unwrap()
}

#[test]
fn calibration_of_a_small_file_by_hand() {
    let options = AnalysisOptions {
        target_precision: Some(0.5),
        ..AnalysisOptions::default()
    };
    let found = analysed(&overconfident(0..30), &options);
    let found = of_score(&found);
    assert_eq!((found.items, found.bugs, found.right), (30, 30, 10));
    let reliability = found.reliability.as_ref().unwrap();
    // A third is 0.2 off, two thirds 0.3.
    assert!(close(Some(reliability.expected_error), 0.8 / 3.0));
    assert!(close(Some(reliability.maximum_error), 0.3));
    let target = found.target.as_ref().unwrap();
    let point = target.point.unwrap();
    assert_eq!((target.threshold, point.shown), (Some(0.8), 20));
    assert_eq!((point.precision, point.recall), (Some(0.5), Some(1.0)));
    assert!(close(point.coverage, 2.0 / 3.0));
    assert!(point.precision_interval.unwrap().low < 0.5);
    assert!(found.calibrated.is_none());
    let options = AnalysisOptions {
        target_precision: Some(0.51),
        ..AnalysisOptions::default()
    };
    let found = analysed(&overconfident(0..30), &options);
    let target = of_score(&found).target.as_ref().unwrap();
    assert_eq!((target.threshold, target.point), (None, None));
    assert!(found.to_markdown().contains("none reaches it"));
}

#[test]
fn a_fit_never_sees_what_it_is_measured_on() {
    let options = AnalysisOptions {
        calibrate: Some(CalibrationMethod::Isotonic),
        target_precision: Some(0.9),
        ..AnalysisOptions::default()
    };
    // One half is right throughout above 0.5, the other one never: each fit is wrong about the other half.
    let rows: Vec<Value> = (0..40)
        .map(|task| {
            let half = calibration_half(&format!("t{task}"));
            let score = if task % 4 < 2 { 0.8 } else { 0.2 };
            scored(task, (score > 0.5) == (half == 0), score)
        })
        .collect();
    let found = analysed(&rows, &options);
    let after = of_score(&found).calibrated.as_ref().unwrap();
    let [one, other] = &after.fits[..] else {
        panic!("{:?}", after.fits);
    };
    assert_eq!((one.on.as_str(), other.on.as_str()), ("half 0", "half 1"));
    assert!(one.items > 5 && other.items > 5, "{one:?} {other:?}");
    assert_eq!((one.applied_to, other.applied_to), (other.items, one.items));
    assert_eq!((after.items, one.items + other.items), (40, 40));
    // Half 0 finds a threshold, and on half 1 everything from there on is wrong.
    assert_eq!((one.threshold, other.threshold), (Some(1.0), None));
    assert_eq!(after.point.unwrap().precision, Some(0.0));
    assert!(after.reliability.as_ref().unwrap().expected_error > 0.4);
    // All patches of a task are in one half.
    let mut rows = overconfident(0..20);
    for row in overconfident(0..20) {
        let mut row = row;
        row["patch_id"] = json!("q");
        rows.push(row);
    }
    let found = analysed(&rows, &options);
    let after = of_score(&found).calibrated.as_ref().unwrap();
    assert!(after.fits.iter().all(|fit| fit.items % 2 == 0));
    // What is overconfident is not so afterwards.
    let found = analysed(&overconfident(0..300), &options);
    let found = of_score(&found);
    let error = |of: &Option<_>| {
        let of: &Option<Reliability> = of;
        of.as_ref().unwrap().expected_error
    };
    let after = found.calibrated.as_ref().unwrap();
    assert!(error(&after.reliability) < error(&found.reliability) / 2.0);
}

#[test]
fn a_calibration_may_be_fitted_to_other_results() {
    let options = AnalysisOptions {
        calibrate: Some(CalibrationMethod::Platt),
        target_precision: Some(0.4),
        ..AnalysisOptions::default()
    };
    let fitted = |other: &[Value]| {
        let rows = read(&lines(&overconfident(0..10))).unwrap();
        let other = read(&lines(other)).unwrap();
        analyse_calibrated_on(&rows, &other, &options).unwrap()
    };
    let found = fitted(&overconfident(5..35));
    assert!(
        found
            .notes
            .iter()
            .any(|note| note.starts_with("5 tasks of the results for calibration")),
        "{:?}",
        found.notes
    );
    let after = of_score(&found).calibrated.as_ref().unwrap();
    assert_eq!((after.fits.len(), after.items), (1, 10));
    assert_eq!((after.fits[0].items, after.fits[0].applied_to), (25, 10));
    let alone = fitted(&overconfident(10..35));
    let same = of_score(&alone).calibrated.as_ref().unwrap();
    assert_eq!(same, after);
    // The fit and its threshold are those of the other results.
    let Some(Calibrator::Platt(platt)) = after.fits[0].calibrator else {
        panic!("{:?}", after.fits);
    };
    assert_eq!(after.fits[0].threshold, platt.apply(0.8));
    let point = after.point.unwrap();
    assert_eq!((point.shown, point.precision), (6, Some(0.5)));
    let mut rows = overconfident(10..35);
    for row in &mut rows {
        row["validation"]["source"] = json!("another");
    }
    for (other, says) in [
        (rows, "another source"),
        (overconfident(0..10), "no item"),
        (vec![scored(90, true, 0.5)], "nothing to tell apart"),
    ] {
        let found = fitted(&other);
        let after = of_score(&found).calibrated.as_ref().unwrap();
        let fault = after.fits[0].fault.as_ref().unwrap();
        assert!(fault.contains(says), "{fault}");
        assert_eq!((after.items, after.point), (0, None));
        assert!(found.to_markdown().contains(says));
    }
}

#[test]
fn critics_confidences_are_calibrated_where_they_say_something() {
    let row = |at: usize, confidence: u32, id: &str, unseen: u64| {
        let test = json!({"id": id, "predicted": true, "confidence": confidence});
        let more = json!({
            "tests": [{"id": "t", "passed": at.is_multiple_of(2)}],
            "critic": {"tests": [test], "unseen": unseen},
        });
        line(&format!("t{at}"), "p", at.is_multiple_of(4), more)
    };
    let rows = |confidence, id, unseen| -> Vec<Value> {
        (0..8).map(|at| row(at, confidence, id, unseen)).collect()
    };
    let found = |rows: &[Value]| {
        let found = analysed(rows, &AnalysisOptions::default());
        let found = found.critics[0].calibration.as_ref();
        found.map(|found| {
            (
                found.items,
                found.right,
                found.reliability.clone().unwrap().expected_error,
            )
        })
    };
    let (items, right, error) = found(&rows(90, "t", 0)).unwrap();
    assert_eq!((items, right), (8, 4));
    assert!(close(Some(error), 0.4));
    // The word on the whole patch is about the task.
    let (_, right, error) = found(&rows(90, "(patch)", 0)).unwrap();
    assert_eq!(right, 2);
    assert!(close(Some(error), 0.65));
    assert_eq!(found(&rows(90, "(patch)", 1)), None);
    assert_eq!(found(&rows(0, "t", 0)), None);
    assert_eq!(found(&rows(90, "unknown", 0)), None);
}
