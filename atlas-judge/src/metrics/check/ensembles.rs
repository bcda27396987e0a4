//! Stored values of committees and cascades.

use super::Fault;
use super::case::{Case, Flag};
use crate::ensemble::{Ensemble, EnsembleRule, Member, MemberCalibration, NumberOf, Opinion, Word};
use crate::metrics::analysis::{AnalysisOptions, cascade_curves};
use crate::metrics::results::{Results, read_results};
use crate::metrics::{Calibrator, Platt};
use atlas_core::ConfidenceSource;
use serde_json::{Value, json};

pub(super) fn committee(case: &mut Case<'_>) -> Result<(), Fault> {
    let numbers: Vec<f64> = case.input("numbers")?;
    let fits: Vec<Platt> = case.input("fits")?;
    let briers: Vec<f64> = case.input("brier")?;
    let threshold: f64 = case.input("threshold")?;
    if fits.len() != numbers.len() || briers.len() != numbers.len() {
        return Err(case.fault("numbers", "must be as many as fits and Brier scores"));
    }
    let members: Vec<Member> = fits
        .into_iter()
        .zip(briers)
        .enumerate()
        .map(|(at, (fit, brier))| Member {
            name: at.to_string(),
            calibration: Some(MemberCalibration {
                source: None,
                fits: vec![Calibrator::Platt(fit)],
                brier: Some(brier),
            }),
        })
        .collect();
    let words: Vec<Word> = numbers
        .into_iter()
        .map(|number| {
            Word::Said(Opinion {
                verdict: number >= threshold,
                number: Some(number),
                of: NumberOf::Yes,
                source: ConfidenceSource::Verbalised,
                reason: String::new(),
            })
        })
        .collect();
    for (name, rule) in [
        ("majority", EnsembleRule::Majority),
        ("mean", EnsembleRule::Mean),
        ("weighted", EnsembleRule::Weighted),
    ] {
        let fault = |why: String| case.fault("numbers", why);
        let ensemble = Ensemble::new(members.clone(), rule, threshold);
        let ensemble = ensemble.map_err(|why| fault(why.to_string()))?;
        let found = ensemble.combine("", &words);
        let found = found.map_err(|why| fault(why.to_string()))?;
        case.found(name, json!([found.number, found.verdict]));
        if name == "weighted" {
            let weights = found.members.iter().map(|member| json!(member.weight));
            case.found("weights", weights.collect::<Value>());
        }
    }
    Ok(())
}

pub(super) fn cascade_curve(case: &mut Case<'_>) -> Result<(), Fault> {
    let instances: Vec<usize> = case.input("instances")?;
    let truths: Vec<Flag> = case.input("y_true")?;
    let step: f64 = case.input("step")?;
    let mut judges: Vec<Results> = Vec::new();
    for judge in ["first", "second"] {
        let scores: Vec<f64> = case.input(judge)?;
        let money: Vec<f64> = case.input(&format!("{judge}_money"))?;
        if [scores.len(), money.len(), truths.len()] != [instances.len(); 3] {
            return Err(case.fault(judge, "must be as many as instances"));
        }
        let mut lines = String::new();
        for (at, instance) in instances.iter().enumerate() {
            let paid = json!({
                "calls": 1, "prompt_tokens": 0, "completion_tokens": 0, "money": money[at],
            });
            let line = json!({
                "instance_id": instance.to_string(), "agent": "a", "patch_id": at.to_string(),
                "resolved": truths[at].0, "paid": paid,
                "validation": {"accepted": scores[at] > 0.0, "score": scores[at], "source": "x"},
            });
            lines += &line.to_string();
            lines.push('\n');
        }
        let read = read_results(lines.as_bytes());
        judges.push(read.map_err(|why| case.fault(judge, why.to_string()))?);
    }
    let (first, second) = (("first", &judges[0]), ("second", &judges[1]));
    let curves = cascade_curves(first, second, step, &AnalysisOptions::default());
    let curves = curves.map_err(|why| case.fault("instances", why.to_string()))?;
    let points = curves.first().map(|curve| {
        let points = curve.points.iter().map(|point| {
            json!({
                "band": point.band,
                "asked": point.asked,
                "shown": point.shown,
                "precision": point.precision,
                "recall": point.recall,
                "success_at_1": point.success_at_1,
                "money": point.cost.money,
                "is_best": point.is_best,
            })
        });
        points.collect::<Value>()
    });
    case.found("points", points);
    Ok(())
}
