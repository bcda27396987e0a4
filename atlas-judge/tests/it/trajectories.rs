//! How well agents worked: four scores, each borne out by the attempt's own words.

use crate::support::{InOrder, cx, said, subject};
use atlas_core::{ErrorKind, Evidence, Judge as _, Judgement, Subject};
use atlas_judge::trajectories::{Dimension, TrajectoryJudge, TrajectoryJudgeOptions};
use serde_json::{Value, json};

/// An attempt whose first step has the number 3, as where two were told before.
fn attempt() -> Subject {
    let steps = json!([
        {"step_id": 3, "thought": "See it fail.", "action": "pytest -q", "observation": "E assert 1 == 2\n1 failed"},
        {"step_id": 4, "thought": "The sum lacks the tax.", "action": "sed -i s/a/b/ cart.py", "observation": ""},
        {"step_id": 5, "thought": "Again.", "action": "pytest -q", "observation": "3 passed"},
    ]);
    subject(
        "Totals lack the tax",
        Some("--- a/cart.py\n+++ b/cart.py\n"),
        json!({"trajectory": {"prompts": ["You repair bugs."], "steps": steps}}),
    )
}

/// An answer with these scores; each dimension quotes a step that has the words.
fn answer(scores: [u8; 4]) -> Value {
    let quotes = [
        (3, "1 failed"),
        (4, "lacks the tax"),
        (5, "3 passed"),
        (4, "sed  -i"),
    ];
    let dimensions = Dimension::ALL.iter().zip(quotes).map(|(dimension, (step, quote))| {
        json!({"dimension": dimension, "assessment": "So.", "evidence": [{"step": step, "quote": quote}]})
    });
    let scores = Dimension::ALL.iter().map(|one| one.as_str()).zip(scores);
    json!({
        "is_bug_fix": true,
        "dimensions": dimensions.collect::<Vec<_>>(),
        "explanation": "As told.",
        "scores": scores.collect::<std::collections::BTreeMap<_, _>>(),
    })
}

async fn judged(answers: &[Value]) -> Result<Judgement, atlas_core::Error> {
    let model = InOrder::new(answers.iter().map(|answer| said(&answer.to_string())));
    let judge = TrajectoryJudge::new(&model, TrajectoryJudgeOptions::default());
    let found = judge.judge(&cx(), &attempt()).await;
    assert_eq!(model.calls(), answers.len());
    found
}

async fn check(answer: Value, label: &str) -> Judgement {
    let found = judged(&[answer]).await.unwrap();
    assert_eq!(found.label, label, "{:?}", found.details["dimensions"]);
    found
}

#[tokio::test]
async fn one_bad_dimension_is_enough() {
    check(answer([0, 0, 0, 0]), "high").await;
    let found = check(answer([1, 1, 1, 1]), "high").await;
    let places: Vec<Evidence> = vec![
        Evidence::at("step 3 observation", 2, "1 failed"),
        Evidence::at("step 4 thought", 1, "lacks the tax"),
        Evidence::at("step 5 observation", 1, "3 passed"),
        Evidence::at("step 4 action", 1, "sed  -i"),
    ];
    assert_eq!(found.evidence, places);
    for bad in [
        [2, 0, 0, 0],
        [0, 2, 0, 0],
        [0, 0, 3, 0],
        [0, 0, 0, 2],
        [3, 3, 3, 3],
    ] {
        check(answer(bad), "low").await;
    }
}

#[tokio::test]
async fn reproduction_counts_for_bug_fixes_only() {
    let mut feature = answer([3, 0, 0, 0]);
    feature["is_bug_fix"] = json!(false);
    feature["dimensions"][0]["evidence"] = json!([]);
    let found = check(feature, "high").await;
    assert_eq!(found.details["dimensions"][0]["counts"], false);
}

#[tokio::test]
async fn what_is_not_in_its_step_is_no_evidence() {
    let mut forged = answer([0, 0, 0, 0]);
    // The words are those of step 5.
    forged["dimensions"][2]["evidence"] = json!([{"step": 4, "quote": "3 passed"}]);
    let found = judged(&[forged.clone(), answer([0, 0, 0, 0])])
        .await
        .unwrap();
    let fault = found.details["faults"][0].as_str().unwrap();
    assert!(fault.contains("`validation`"), "{fault}");
    let why = judged(&[forged.clone(), forged.clone()]).await.unwrap_err();
    assert_eq!(why.kind(), ErrorKind::Model);

    // Beside one that stands there it is dropped and counted.
    forged["dimensions"][2]["evidence"] =
        json!([{"step": 9, "quote": "3 passed"}, {"step": 5, "quote": "3 passed"}]);
    let found = check(forged, "high").await;
    assert_eq!(found.details["dropped_quotes"], 1);
}

#[tokio::test]
async fn each_dimension_is_told_once() {
    let mut lacking = answer([0, 0, 0, 0]);
    lacking["dimensions"].as_array_mut().unwrap().pop();
    let mut double = answer([0, 0, 0, 0]);
    double["dimensions"][3] = double["dimensions"][0].clone();
    let why = judged(&[lacking, double]).await.unwrap_err();
    let text = why.chain();
    assert_eq!(text.matches("`practices` is missing").count(), 2, "{text}");
    assert!(
        text.contains("`reproduction` is missing, or is there more than once"),
        "{text}"
    );
}

#[tokio::test]
async fn the_model_sees_task_steps_and_patch() {
    let model = InOrder::new([]);
    let judge = TrajectoryJudge::new(&model, TrajectoryJudgeOptions::default());
    let shown = &judge.prompt(&attempt()).unwrap()[1].content;
    for part in [
        "Totals lack the tax",
        "## Step 3\n### Thought\nSee it fail.",
        "+++ b/cart.py",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    assert!(
        !shown.contains("You repair bugs."),
        "the row's statement is the task"
    );
    let told = subject("", None, attempt().attachments.into());
    let shown = &judge.prompt(&told).unwrap()[1].content;
    assert!(shown.contains("You repair bugs."), "{shown}");

    let nothing = subject("x", None, json!({"trajectory": []}));
    let why = judge.prompt(&nothing).unwrap_err();
    assert_eq!(why.kind(), ErrorKind::InvalidInput);
    let missing = judge.prompt(&subject("x", None, json!({}))).unwrap_err();
    assert!(
        missing.chain().contains("`trajectory` is missing"),
        "{}",
        missing.chain()
    );
}
