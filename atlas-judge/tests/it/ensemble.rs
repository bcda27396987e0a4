//! Committees and cascades: who is asked, and what their words come to.

use crate::support::{InOrder, cx, no_attachments, said, said_with, subject, with_top};
use atlas_core::ConfidenceSource::{
    Cascade, CommitteeMajority, CommitteeMean, CommitteeWeighted, LabelTopLogprobs, Missing, Mixed,
    TokenLogprobs, Verbalised,
};
use atlas_core::{ConfidenceSource, ErrorKind, Judge, Judgement};
use atlas_judge::abstention::{Abstention, AbstentionOptions};
use atlas_judge::critic::{Critic, CriticOptions};
use atlas_judge::ensemble::{
    CalibrationFile, Ensemble, EnsembleError, EnsembleJudge, EnsembleReview, EnsembleRule, Member,
    MemberCalibration, NumberOf, Opinion, Question, Word,
};
use atlas_judge::metrics::analysis::{
    Analysis, AnalysisOptions, analyse, calibration_half, cascade_curves,
};
use atlas_judge::metrics::results::{Results, read_results};
use atlas_judge::metrics::{Calibrator, Platt};
use atlas_judge::policies_report;
use atlas_judge::validation::{
    PatchValidation, ReviewOptions, SpecificationReview, ValidationSubject,
};
use serde_json::json;
use std::sync::Arc;

const NAMES: [&str; 3] = ["a", "b", "c"];

fn members(count: usize) -> Vec<Member> {
    NAMES[..count]
        .iter()
        .map(|name| Member::new(*name))
        .collect()
}

fn ensemble(count: usize, rule: &str) -> Ensemble {
    Ensemble::new(members(count), rule.parse().unwrap(), 0.5).unwrap()
}

fn opinion(verdict: bool, number: impl Into<Option<f64>>, source: ConfidenceSource) -> Word {
    Word::Said(Opinion {
        verdict,
        number: number.into(),
        of: NumberOf::Yes,
        source,
        reason: "so".to_owned(),
    })
}

/// A probability of yes, with the verdict that follows.
fn p(number: f64) -> Word {
    opinion(number >= 0.5, number, LabelTopLogprobs)
}

type Found = (Option<bool>, Option<f64>, ConfidenceSource);

fn check(ensemble: &Ensemble, words: &[Word], expected: Found) {
    let found = ensemble.combine("o__r-1", words).unwrap();
    assert_eq!(
        (found.verdict, found.source),
        (expected.0, expected.2),
        "{found:?}"
    );
    match (found.number, expected.1) {
        (Some(found), Some(expected)) => assert!((found - expected).abs() < 1e-12, "{found}"),
        (found, expected) => assert_eq!(found, expected),
    }
}

#[test]
fn a_majority_needs_more_than_half_of_those_that_have_a_word() {
    let (two, three) = (ensemble(2, "majority"), ensemble(3, "majority"));
    let third = 1.0 / 3.0;
    let yes = |share| (Some(true), Some(share), CommitteeMajority);
    let no = |share| (Some(false), Some(share), CommitteeMajority);
    check(&three, &[p(0.9), p(0.6), p(0.1)], yes(2.0 * third));
    check(&three, &[p(0.9), p(0.2), p(0.1)], no(third));
    // Of a tie: no.
    check(&two, &[p(0.99), p(0.4)], no(0.5));
    check(&three, &[p(0.9), Word::Abstained, p(0.1)], no(0.5));
    check(
        &three,
        &[p(0.9), Word::Abstained, Word::Abstained],
        yes(1.0),
    );
    check(
        &three,
        &[Word::Abstained, Word::Abstained, Word::Abstained],
        (None, None, Missing),
    );
    // Verdicts count, whatever the numbers, and whether there are some.
    let silent = |verdict| opinion(verdict, None, Missing);
    check(
        &three,
        &[silent(true), silent(true), p(0.0)],
        yes(2.0 * third),
    );
}

#[test]
fn a_mean_is_of_numbers_that_compare() {
    let two = ensemble(2, "mean");
    check(
        &two,
        &[p(0.9), p(0.3)],
        (Some(true), Some(0.6), CommitteeMean),
    );
    // The threshold is included.
    check(
        &two,
        &[p(0.75), p(0.25)],
        (Some(true), Some(0.5), CommitteeMean),
    );
    check(
        &two,
        &[p(0.4), p(0.5)],
        (Some(false), Some(0.45), CommitteeMean),
    );
    // Of several sources there is a mean, and nothing is ranked by it; so where somebody is not in it.
    let other = opinion(true, 0.7, Verbalised);
    check(&two, &[p(0.5), other], (Some(true), Some(0.6), Mixed));
    check(
        &two,
        &[p(0.6), Word::Abstained],
        (Some(true), Some(0.6), Mixed),
    );
    assert!(!Mixed.is_comparable() && !Missing.is_comparable() && CommitteeMean.is_comparable());
    let why = two.combine("i", &[p(0.9), opinion(true, None, Missing)]);
    let why = why.unwrap_err();
    assert_eq!(why.kind(), ErrorKind::InvalidInput);
    assert!(
        why.to_string().contains("`b` gives none; `majority`"),
        "{why}"
    );
    // Who says fail with the confidence 0 guesses: a half, as who says pass.
    let critic = |verdict, number| {
        Word::Said(Opinion {
            verdict,
            number: Some(number),
            of: NumberOf::Verdict,
            source: Verbalised,
            reason: String::new(),
        })
    };
    check(
        &two,
        &[critic(true, 0.0), critic(false, 0.0)],
        (Some(true), Some(0.5), CommitteeMean),
    );
    check(
        &two,
        &[critic(true, 0.9), critic(false, 0.1)],
        (Some(true), Some(0.7), CommitteeMean),
    );
}

fn calibrated(names: &[(&str, f64, f64, f64)]) -> Vec<Member> {
    let member = |&(name, slope, intercept, brier): &(&str, f64, f64, f64)| Member {
        name: name.to_owned(),
        calibration: Some(MemberCalibration {
            source: Some(LabelTopLogprobs),
            fits: vec![Calibrator::Platt(Platt { slope, intercept })],
            brier: Some(brier),
        }),
    };
    names.iter().map(member).collect()
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[test]
fn weights_are_inverse_brier_scores_of_calibrated_numbers() {
    let all = calibrated(&[("a", 4.0, -2.0, 0.1), ("b", 2.0, -1.5, 0.25)]);
    let weighted = Ensemble::new(all.clone(), EnsembleRule::Weighted, 0.5).unwrap();
    let (a, b) = (logistic(4.0 * 0.9 - 2.0), logistic(2.0 * 0.3 - 1.5));
    let expected = (10.0 * a + 4.0 * b) / 14.0;
    let words = [p(0.9), p(0.3)];
    check(
        &weighted,
        &words,
        (Some(true), Some(expected), CommitteeWeighted),
    );
    let found = weighted.combine("o__r-1", &words).unwrap().members;
    assert!((found[0].weight.unwrap() - 10.0 / 14.0).abs() < 1e-12);
    assert!((found[1].probability.unwrap() - b).abs() < 1e-12);
    assert_eq!(
        (found[1].number, found[1].source),
        (Some(0.3), Some(LabelTopLogprobs))
    );
    // Who abstains has no weight.
    check(
        &weighted,
        &[Word::Abstained, p(0.3)],
        (Some(false), Some(b), CommitteeWeighted),
    );
    // A fit is for the source that it was made of.
    let why = weighted.combine("i", &[p(0.9), opinion(true, 0.3, TokenLogprobs)]);
    assert!(
        why.unwrap_err()
            .to_string()
            .contains("`b` is for numbers from LabelTopLogprobs")
    );

    let mut lacking = all;
    lacking[1].calibration.as_mut().unwrap().brier = Some(0.0);
    let why = Ensemble::new(lacking.clone(), EnsembleRule::Weighted, 0.5).unwrap_err();
    assert_eq!(why, EnsembleError::NoWeight("b".to_owned()));
    lacking[1].calibration = None;
    let why = Ensemble::new(lacking, EnsembleRule::Mean, 0.5).unwrap_err();
    assert!(
        why.to_string()
            .starts_with("`a` is calibrated and `b` is not"),
        "{why}"
    );
}

#[test]
fn a_cascade_goes_on_while_there_is_doubt() {
    let three = ensemble(3, "cascade=0.3..0.7,0.2..0.9");
    let next = |words: &[Word]| three.next("i", words).unwrap();
    assert_eq!(next(&[]), Some(0));
    for (number, is_asked) in [(0.29, false), (0.3, true), (0.7, true), (0.71, false)] {
        assert_eq!(next(&[p(number)]), is_asked.then_some(1), "{number}");
    }
    assert_eq!(next(&[p(0.5), p(0.85)]), Some(2));
    assert_eq!(next(&[p(0.5), p(0.95)]), None);
    assert_eq!(next(&[p(0.5), p(0.5), p(0.5)]), None);
    // Without a word or a number there is doubt.
    assert_eq!(next(&[Word::Abstained]), Some(1));
    assert_eq!(next(&[opinion(true, None, Missing)]), Some(1));
    assert_eq!(
        three.clone().asking_all().next("i", &[p(0.99)]).unwrap(),
        Some(1)
    );

    // The last word counts, and numbers of two members are never ranked together.
    check(&three, &[p(0.9)], (Some(true), Some(0.9), Mixed));
    check(&three, &[p(0.6), p(0.1)], (Some(false), Some(0.1), Mixed));
    check(
        &three,
        &[p(0.6), Word::Abstained, Word::Abstained],
        (Some(true), Some(0.6), Mixed),
    );
    let found = three.combine("i", &[p(0.6), p(0.1)]).unwrap().members;
    let why: Vec<&str> = found.iter().filter_map(|one| one.why.as_deref()).collect();
    assert_eq!(
        why,
        [
            "0.600 of `a` lies in 0.3..0.7",
            "0.100 of `b` lies outside of 0.2..0.9"
        ]
    );
    assert!(found[1].asked && !found[2].asked);

    // Calibrated they compare, and the band is about the calibrated number.
    let all = calibrated(&[("a", 4.0, -2.0, 0.1), ("b", 2.0, -1.5, 0.25)]);
    let two = Ensemble::new(all, "cascade=0.4..0.6".parse().unwrap(), 0.5).unwrap();
    assert_eq!(two.next("i", &[p(0.5)]).unwrap(), Some(1));
    assert_eq!(two.next("i", &[p(0.7)]).unwrap(), None);
    check(
        &two,
        &[p(0.5), p(0.7)],
        (Some(false), Some(logistic(-0.1)), Cascade),
    );
}

#[test]
fn what_is_no_ensemble_is_refused() {
    let refused = |members, rule: &str| {
        let made = Ensemble::new(members, rule.parse().unwrap(), 0.5);
        made.unwrap_err().to_string()
    };
    assert!(refused(members(1), "mean").contains("at least two members"));
    assert!(
        refused(["a", "a"].map(Member::new).to_vec(), "mean").contains("two members are named `a`")
    );
    assert!(refused(members(2), "cascade=0..1,0..1").contains("give one for all, or 1 of them"));
    assert!(refused(members(2), "weighted").contains("no weight for `a`"));
    let made = Ensemble::new(members(2), EnsembleRule::Mean, 1.5);
    assert!(made.unwrap_err().to_string().contains("1.5"));
    for text in [
        "cascade=0.7..0.3",
        "cascade=0..2",
        "cascade=",
        "median",
        "cascade=0.3",
    ] {
        assert!(text.parse::<EnsembleRule>().is_err(), "{text}");
    }
    let rule = "cascade=0.25..0.75,0..1";
    assert_eq!(rule.parse::<EnsembleRule>().unwrap().to_string(), rule);
}

/// Each task is calibrated by the fit to the half that it is not in.
#[test]
fn halves_are_calibrated_crosswise() {
    let fit = |on: &str, intercept: f64| json!({"on": on, "calibrator": {"method": "platt", "slope": 0.0, "intercept": intercept}});
    let calibrated = json!({"calibrated": {
        "fits": [fit("half 1", 1.0), fit("half 0", 0.0)], "reliability": {"brier": 0.2, "bins": []}}});
    let file = json!({"judges": ["a", "b"], "policies": [
        {"name": "a: all agents", "score": {"source": "token_logprobs", "calibration": calibrated}},
        {"name": "a: m", "score": null},
        {"name": "b: m", "score": {"source": "verbalised", "calibration": calibrated}}]});
    let file: CalibrationFile = serde_json::from_value(file).unwrap();
    let found = file.calibrations(&Question::Review).unwrap();
    assert_eq!(found.keys().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(found["b"].source, Some(Verbalised));
    assert_eq!(found["a"].brier, Some(0.2));
    for id in ["o__r-1", "o__r-2", "o__r-3", "o__r-4"] {
        let other = if calibration_half(id) == 0 {
            logistic(1.0)
        } else {
            logistic(0.0)
        };
        assert!(
            (found["a"].apply(id, 0.3).unwrap() - other).abs() < 1e-12,
            "{id}"
        );
    }
    let why = file.calibrations(&Question::Abstention).unwrap_err();
    assert!(
        why.contains("no calibration of abstention probabilities"),
        "{why}"
    );
}

fn word_of(word: &str, p: f64) -> atlas_core::Completion {
    let other = if word == "success" {
        "failure"
    } else {
        "success"
    };
    let top = [(word, p.ln()), (other, (1.0 - p).ln())];
    said_with(word, vec![with_top(word, &top)])
}

/// What people write who compose the crates: two models, one judge.
#[tokio::test]
async fn a_cascade_asks_the_dear_model_only_in_doubt() {
    let cheap = Arc::new(InOrder::new([
        word_of("success", 0.95),
        word_of("success", 0.6),
    ]));
    let dear = Arc::new(InOrder::new([word_of("failure", 0.9)]));
    let options = AbstentionOptions::default();
    let judges: Vec<Arc<dyn Judge>> = vec![
        Arc::new(Abstention::new(Arc::clone(&cheap), options.clone()).unwrap()),
        Arc::new(Abstention::new(Arc::clone(&dear), options).unwrap()),
    ];
    let plan = Ensemble::new(
        ["cheap", "dear"].map(Member::new).to_vec(),
        "cascade=0.2..0.8".parse().unwrap(),
        0.5,
    );
    let judge = EnsembleJudge::new(plan.unwrap(), Question::Abstention, judges).unwrap();
    let subject = subject("Title\n\nIt is wrong.", None, no_attachments());

    let sure = judge.judge(&cx(), &subject).await.unwrap();
    assert_eq!((sure.label.as_str(), dear.calls()), ("attempt", 0));
    let doubted = judge.judge(&cx(), &subject).await.unwrap();
    assert_eq!(
        (doubted.label.as_str(), dear.calls(), cheap.calls()),
        ("abstain", 1, 2)
    );
    let number = doubted.confidence.value.unwrap();
    assert!((number - 0.1).abs() < 1e-9, "{number}");
    assert_eq!(doubted.details["members"][1]["verdict"], json!(false));
    assert_eq!(doubted.details["tau"], json!(0.5));
    assert!(doubted.details.contains_key("features"));
    assert_eq!(
        doubted.reasoning,
        "cascade=0.2..0.8: cheap: attempt (0.600); dear: abstain (0.100)"
    );
}

fn verdict(word: &str, confidence: f64) -> atlas_core::Completion {
    let answer = json!({"reasoning": "so", "verdict": word, "confidence": confidence});
    said(&answer.to_string())
}

/// The rule for low confidence is applied once, to what the critics say together.
#[tokio::test]
async fn critics_of_single_tests_are_one_critic() {
    let test = json!({"id": "t", "source": "x".repeat(80), "path": "t.py"});
    let subject = subject(
        "p",
        Some("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"),
        json!({"test": test}),
    );
    let judge = |rule: &str, confidences: [(&str, f64); 3]| {
        let options = CriticOptions::default();
        let question = Question::Critic { rule: options.rule };
        let judges = confidences.map(|(word, sure)| -> Arc<dyn Judge> {
            Arc::new(Critic::new(
                InOrder::new([verdict(word, sure)]),
                options.clone(),
            ))
        });
        EnsembleJudge::new(ensemble(3, rule), question, judges.to_vec()).unwrap()
    };
    let label = |judged: &Judgement| {
        let details = &judged.details;
        let said = details["said"].as_str().unwrap().to_owned();
        (
            judged.label.clone(),
            said,
            details["confidence_percent"].as_f64().unwrap(),
        )
    };
    let expected = |label: &str, said: &str, percent| (label.to_owned(), said.to_owned(), percent);
    let words = [("pass", 90.0), ("pass", 60.0), ("fail", 30.0)];
    let found = judge("mean", words).judge(&cx(), &subject).await.unwrap();
    // (90 + 60 - 30) / 3 = 40: less than 65 for a long test.
    assert_eq!(label(&found), expected("fail", "pass", 40.0));
    assert_eq!(found.details["rule_applied"], json!(true));
    let found = judge("majority", words)
        .judge(&cx(), &subject)
        .await
        .unwrap();
    assert_eq!(label(&found), expected("pass", "pass", 66.666_666_666_667));
}

/// What a stage without a model rejects is asked of nobody; a member that fails is the item's failure.
#[tokio::test]
async fn reviews_stand_behind_one_set_of_stages() {
    let fixed = |is: bool| said(&json!({"is_bug_fixed": is, "explanation": "so"}).to_string());
    let answers = |is| [said("- a property"), fixed(is)];
    let options = ReviewOptions::default();
    let mut options = options;
    options.ask.samples = 0;
    options.ask.verbalised = false;
    let models =
        [answers(true), answers(true), answers(false)].map(|all| Arc::new(InOrder::new(all)));
    let stages = models
        .iter()
        .map(|model| -> Box<dyn atlas_judge::validation::PatchStage> {
            Box::new(SpecificationReview::new(Arc::clone(model), options.clone()))
        });
    let review = EnsembleReview::new(ensemble(3, "majority"), stages.collect()).unwrap();
    let chain = PatchValidation::deterministic(&[]).then(Box::new(review));
    let of = |patch: &str| {
        ValidationSubject::of(&subject(
            "Title\n\nIt is wrong.",
            Some(patch),
            no_attachments(),
        ))
        .unwrap()
    };
    let empty = chain.validate(&cx(), &of("")).await.unwrap();
    assert_eq!(empty.deterministic.stage.as_deref(), Some("patch-form"));
    assert!(models.iter().all(|model| model.calls() == 0));
    let found = chain
        .validate(&cx(), &of("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"))
        .await
        .unwrap();
    let review = found.review.unwrap();
    assert_eq!((found.accepted, review.source), (true, CommitteeMajority));
    assert!((review.score.unwrap() - 2.0 / 3.0).abs() < 1e-12);
    assert!(models.iter().all(|model| model.calls() == 2));
    let stages: Vec<&str> = found
        .stages
        .iter()
        .map(|stage| stage.stage.as_str())
        .collect();
    assert_eq!(stages[3..], ["review-by-ensemble"]);
}

/// Lines of two judges about eight patches, with what they cost.
fn two_judges() -> [Results; 2] {
    let truths = [true, true, false, false, true, false, true, false];
    let cheap = [0.9, 0.55, 0.6, 0.0, 0.0, 0.95, 0.7, 0.45];
    let dear = [0.8, 0.9, 0.0, 0.0, 0.7, 0.9, 0.9, 0.0];
    let of = |scores: [f64; 8], money: f64| {
        let lines = (0..8).map(|at| {
            let paid = json!({"calls": 2, "prompt_tokens": 90, "completion_tokens": 10, "money": money});
            let line = json!({
                "instance_id": format!("i{}", at / 2), "agent": "m", "patch_id": at.to_string(),
                "resolved": truths[at], "deterministic": {"passed": true}, "paid": paid,
                "validation": {"accepted": scores[at] > 0.0, "score": scores[at], "source": "token_logprobs"}});
            line.to_string() + "\n"
        });
        read_results(lines.collect::<String>().as_bytes()).unwrap()
    };
    [of(cheap, 0.01), of(dear, 0.1)]
}

/// By hand: the band 0.4 to 0.75 doubts 0.55, 0.6, 0.7 and 0.45.
#[test]
fn a_curve_weighs_what_is_shown_against_what_is_paid() {
    let [cheap, dear] = two_judges();
    let options = AnalysisOptions {
        resamples: 0,
        ..AnalysisOptions::default()
    };
    let curves = cascade_curves(("cheap", &cheap), ("dear", &dear), 0.05, &options).unwrap();
    assert_eq!(
        (curves.len(), curves[0].items, curves[0].left_out),
        (1, 8, 0)
    );
    let points = &curves[0].points;
    let near = |found: Option<f64>, expected: f64| {
        assert!(
            (found.unwrap() - expected).abs() < 1e-12,
            "{found:?} {expected}"
        );
    };
    let found = points.iter().find(|point| point.asked == 4).unwrap();
    assert_eq!(found.band, Some([0.45, 0.7]));
    // Shown: 0.9 and 0.95 of the cheap one; of the four doubts 0.9 and 0.9 of the dear one.
    assert_eq!(found.shown, 4);
    near(found.precision, 0.75);
    near(found.recall, 0.75);
    near(found.success_at_1, (1.0 + 0.0 + 1.0) / 3.0);
    near(found.cost.money, 0.01 + 0.1 / 2.0);
    near(found.cost.calls, 3.0);
    near(found.cost.tokens, 150.0);
    // Without a doubt of 0.7 the same is shown for less.
    let fewer = points.iter().find(|point| point.asked == 3).unwrap();
    assert_eq!((fewer.band, fewer.shown), (Some([0.45, 0.6]), 4));
    assert!(fewer.is_best && !found.is_best);
    let alone: Vec<_> = points
        .iter()
        .filter(|point| point.alone.is_some())
        .collect();
    near(alone[0].cost.money, 0.01);
    near(alone[0].precision, 0.5);
    near(alone[1].cost.money, 0.1);
    near(alone[1].precision, 0.8);
    // Bands that doubt the same are one point.
    let mut asked: Vec<_> = points
        .iter()
        .map(|point| (point.asked, point.shown, point.band))
        .collect();
    asked.dedup();
    assert_eq!(asked.len(), points.len());
    assert!(points.len() < 40, "{}", points.len());
}

#[test]
fn costs_stand_beside_quality_in_tables_and_pages() {
    let [cheap, dear] = two_judges();
    let options = AnalysisOptions {
        resamples: 0,
        ..AnalysisOptions::default()
    };
    let parts = [("cheap", &cheap), ("dear", &dear)];
    let analysed =
        parts.map(|(name, results)| (name.to_owned(), analyse(results, &options).unwrap()));
    let mut all = Analysis::beside(analysed.to_vec(), &options);
    all.cascades = cascade_curves(parts[0], parts[1], 0.1, &options).unwrap();
    let costs = &all.costs;
    assert_eq!(
        (costs[1].name.as_str(), costs[1].items, costs[1].known),
        ("dear: review", 8, 8)
    );
    assert!((costs[1].mean.money.unwrap() - 0.1).abs() < 1e-12);
    assert_eq!(
        (costs[0].precision, costs[0].recall),
        (Some(0.5), Some(0.75))
    );
    let text = all.to_markdown();
    for part in [
        "| cheap: review | 0.500 | 0.750 |",
        "| 8 | 8 | 2.00 | 100 | 0.01000 |",
        "| cheap, then dear: review | Second asked |",
        "| dear alone | 1.000 | 5 | 0.800 |",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let page = policies_report(&all, "t");
    for part in [
        "<h2>Costs</h2>",
        "money each",
        "bands of doubt",
        "1 cheap alone",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // A line that does not tell its cost leaves it unknown.
    let silent = r#"{"instance_id":"i","agent":"m","patch_id":"p","resolved":true,"validation":{"accepted":true,"source":"x"}}"#;
    let silent = read_results(silent.as_bytes()).unwrap();
    assert!(analyse(&silent, &options).unwrap().costs.is_empty());
}

/// A cascade of critics decides test by test, and pays the second one for the tests that are in doubt.
#[test]
fn critics_have_a_curve_over_single_tests() {
    let of = |tests: [[(bool, f64); 2]; 2], calls: u64| {
        let lines = tests.iter().enumerate().map(|(at, tests)| {
            let tests: Vec<_> = tests
                .iter()
                .enumerate()
                .map(|(test, (predicted, confidence))| {
                    json!({"id": test.to_string(), "predicted": predicted, "confidence": confidence})
                })
                .collect();
            let paid = json!({"calls": calls, "prompt_tokens": 10, "completion_tokens": 10, "money": null});
            let line = json!({"instance_id": "i", "agent": "m", "patch_id": at.to_string(), "resolved": at == 0,
                "critic": {"variant": "isolated-function", "tests": tests}, "paid": paid});
            line.to_string() + "\n"
        });
        read_results(lines.collect::<String>().as_bytes()).unwrap()
    };
    let cheap = of(
        [[(true, 95.0), (false, 10.0)], [(true, 90.0), (true, 70.0)]],
        2,
    );
    let dear = of(
        [[(true, 90.0), (true, 90.0)], [(true, 90.0), (false, 90.0)]],
        4,
    );
    let options = AnalysisOptions {
        resamples: 0,
        ..AnalysisOptions::default()
    };
    let curves = cascade_curves(("cheap", &cheap), ("dear", &dear), 0.1, &options).unwrap();
    assert_eq!(
        (curves.len(), curves[0].of.as_str()),
        (1, "isolated-function")
    );
    // (1 - 0.1) / 2 = 0.45 is in doubt, (1 + 0.7) / 2 = 0.85 is not: one test of four.
    let found = curves[0]
        .points
        .iter()
        .find(|point| point.band == Some([0.4, 0.5]))
        .unwrap();
    assert_eq!(
        (found.asked, found.shown, found.precision),
        (1, 2, Some(0.5))
    );
    assert_eq!(
        (found.cost.calls, found.cost.money),
        (Some(2.0 + 2.0 / 2.0), None)
    );
    let both = curves[0]
        .points
        .iter()
        .find(|point| point.asked == 2 && point.shown == 1)
        .unwrap();
    assert_eq!((both.precision, both.recall), (Some(1.0), Some(1.0)));
}

/// Two means, one over log-probabilities and one over numbers that models said, are of two scales.
#[test]
fn means_over_different_sources_are_not_ranked_together() {
    let line = |patch: &str, source: &str| {
        let member = |name: &str| json!({"model": name, "asked": true, "source": source});
        let line = json!({"instance_id": "i", "agent": "m", "patch_id": patch, "resolved": true,
            "validation": {"accepted": true, "score": 0.8, "source": "committee_mean"},
            "members": [member("a"), member("b")]});
        line.to_string() + "\n"
    };
    let analysed = |second: &str| {
        let lines = line("1", "token_logprobs") + &line("2", second);
        let results = read_results(lines.as_bytes()).unwrap();
        analyse(&results, &AnalysisOptions::default()).unwrap()
    };
    let one = &analysed("token_logprobs").policies[0];
    let source = &one.score.as_ref().unwrap().source;
    assert_eq!(source, "committee_mean of token_logprobs");
    let two = &analysed("verbalised").policies[0];
    assert!(two.score.is_none());
    assert!(
        two.notes[0].contains("committee_mean of verbalised"),
        "{:?}",
        two.notes
    );
}
