//! The alignment judge, and what it does with answers that cannot be used.

use crate::support::{InOrder, candidate, cx, said, said_with, subject, token};
use atlas_core::{
    Completion, ConfidenceSource, Decision, ErrorKind, Judge as _, Judgement, Severity, Subject,
    Validator as _,
};
use atlas_judge::alignment::{
    Alignment, AlignmentGate, AlignmentOptions, Quality, QualityRule, Scores, alignment_schema,
};
use serde_json::{Value, json};

const ISSUE: &str =
    "Stores do not open\n\nCalling `open_store(\"x\")` raises.\nIt should return the store.";
const TESTS: &str = "--- a/test_store.py\n+++ b/test_store.py\n@@ -0,0 +1,2 @@\n+def test_store():\n+    assert open_store(\"x\") == \"x\"\n";
const GOLD: &str = "--- a/store.py\n+++ b/store.py\n@@ -1,2 +1,2 @@\n def open_store(path):\n-    raise ValueError\n+    return path\n";

fn row() -> Subject {
    let mut subject = subject(ISSUE, None, json!({}));
    subject.instance.set("test_patch", TESTS);
    subject.instance.set("patch", GOLD);
    subject
}

/// A whole answer with these scores.
fn good(clarity: i64, alignment: i64) -> Value {
    let factor = |name: &str, source: &str, quote: &str| json!({"factor": name, "assessment": "so", "evidence": [{"source": source, "quote": quote}]});
    json!({
        "factors": [
            factor("success_criteria", "issue", "It should return the store."),
            factor("specificity", "issue", "Calling `open_store(\"x\")`  raises. It should"),
            factor("context", "issue", "Stores do not open"),
            factor("core_coverage", "tests", "assert open_store(\"x\")"),
            factor("rejects_correct", "tests", "def test_store():\n    assert open_store"),
            factor("accepts_wrong", "solution", "-    raise ValueError\n+    return path"),
        ],
        "explanation": "because",
        "scores": {"issue_clarity": clarity, "test_to_issue_alignment": alignment},
    })
}

fn answer(value: &Value) -> Completion {
    said(&value.to_string())
}

async fn judged(
    answers: impl IntoIterator<Item = Completion>,
) -> (Result<Judgement, String>, usize) {
    let model = InOrder::new(answers);
    let judge = Alignment::new(&model, AlignmentOptions::default());
    let result = judge.judge(&cx(), &row()).await;
    let result = result.map_err(|why| {
        assert_eq!(why.kind(), ErrorKind::Model);
        why.chain()
    });
    (result, model.calls())
}

#[test]
fn quality_goes_by_the_worse_score() {
    let expected = [
        // By alignment 0 to 3 across, by clarity 0 to 3 down.
        [Quality::High, Quality::High, Quality::Medium, Quality::Low],
        [Quality::High, Quality::High, Quality::Medium, Quality::Low],
        [
            Quality::Medium,
            Quality::Medium,
            Quality::Medium,
            Quality::Low,
        ],
        [Quality::Low, Quality::Low, Quality::Low, Quality::Low],
    ];
    for (clarity, line) in (0..).zip(expected) {
        for (alignment, quality) in (0..).zip(line) {
            let scores = Scores {
                issue_clarity: clarity,
                test_to_issue_alignment: alignment,
            };
            assert_eq!(QualityRule::default().quality(scores), quality);
        }
    }
    let strict = QualityRule {
        high_up_to: 0,
        medium_up_to: 1,
    };
    let scores = Scores {
        issue_clarity: 1,
        test_to_issue_alignment: 0,
    };
    assert_eq!(strict.quality(scores), Quality::Medium);
}

#[tokio::test]
async fn evidence_is_looked_up_and_gets_its_line() {
    let text = good(0, 2).to_string();
    let completion = said_with(&text, vec![token(&text, -0.1)]);
    let (judgement, calls) = judged([completion]).await;
    let judgement = judgement.unwrap();
    assert_eq!((judgement.label.as_str(), calls), ("medium", 1));
    assert_eq!(judgement.details["action"], "curate");
    assert_eq!(judgement.details["dropped_quotes"], json!([]));
    assert_eq!(judgement.details["prompt_version"], "alignment.v1");
    assert_eq!(judgement.confidence.source, ConfidenceSource::TokenLogprobs);
    let places: Vec<(&str, Option<usize>)> = judgement
        .evidence
        .iter()
        .map(|one| (one.source.as_str(), one.line))
        .collect();
    assert_eq!(
        places,
        [
            ("issue", Some(4)),
            ("issue", Some(3)),
            ("issue", Some(1)),
            ("tests", Some(5)),
            ("tests", Some(4)),
            ("solution", Some(5)),
        ]
    );
    assert_eq!(
        judgement.details["factors"][3]["score"],
        "test_to_issue_alignment"
    );
}

#[tokio::test]
async fn a_quotation_that_is_not_there_is_dropped_and_counted() {
    let mut value = good(1, 1);
    let evidence = value["factors"][0]["evidence"].as_array_mut().unwrap();
    evidence.push(json!({"source": "issue", "quote": "It must return the store."}));
    // There, but not in the text it is said to come from.
    evidence.push(json!({"source": "tests", "quote": "It should return the store."}));
    let (judgement, calls) = judged([answer(&value)]).await;
    let judgement = judgement.unwrap();
    assert_eq!((judgement.label.as_str(), calls), ("high", 1));
    assert_eq!(
        judgement.details["dropped_quotes"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(judgement.details["dropped_quotes_by_answer"], json!([2]));
    assert_eq!(judgement.evidence.len(), 6);
}

#[tokio::test]
async fn a_factor_without_evidence_is_asked_for_again() {
    let mut value = good(1, 1);
    value["factors"][4]["evidence"] = json!([{"source": "issue", "quote": "nobody said this"}]);
    let (judgement, calls) = judged([answer(&value), answer(&good(3, 0))]).await;
    let judgement = judgement.unwrap();
    assert_eq!((judgement.label.as_str(), calls), ("low", 2));
    assert_eq!(judgement.details["dropped_quotes_by_answer"], json!([1, 0]));
    let fault = judgement.details["faults"][0].as_str().unwrap();
    assert!(fault.contains("`rejects_correct`"), "{fault}");
    // At most once: then it is an error, never a label.
    let (why, calls) = judged([answer(&value), answer(&value)]).await;
    assert_eq!(calls, 2);
    assert!(why.unwrap_err().contains("`rejects_correct`"));
}

#[tokio::test]
async fn answers_that_cannot_be_used_are_never_a_label() {
    let with = |change: &dyn Fn(&mut Value)| {
        let mut value = good(1, 1);
        change(&mut value);
        answer(&value)
    };
    let cases: [(&dyn Fn() -> Completion, &str); 7] = [
        (&|| answer(&good(4, 0)), "issue_clarity"),
        (&|| answer(&good(0, -1)), "test_to_issue_alignment"),
        (
            &|| with(&|value| value["scores"] = json!({"issue_clarity": 1})),
            "`scores.test_to_issue_alignment` is missing",
        ),
        (
            &|| {
                with(&|value| {
                    value["factors"].as_array_mut().unwrap().pop();
                })
            },
            "factor `accepts_wrong` is missing",
        ),
        (
            &|| with(&|value| value["factors"][0]["factor"] = json!("specificity")),
            "factor `specificity` is there twice",
        ),
        (
            &|| with(&|value| value["factors"][0]["evidence"] = json!([])),
            "factor `success_criteria` has no evidence",
        ),
        (&|| said("The task is fine."), "no JSON"),
    ];
    for (bad, part) in cases {
        let (why, calls) = judged([bad(), bad()]).await;
        let why = why.unwrap_err();
        assert_eq!(calls, 2);
        assert!(why.contains(part), "{part}: {why}");
        let (judgement, _) = judged([bad(), answer(&good(0, 0))]).await;
        assert_eq!(judgement.unwrap().label, "high");
    }
}

#[tokio::test]
async fn a_row_that_lacks_a_column_is_named() {
    let model = InOrder::new([]);
    let judge = Alignment::new(&model, AlignmentOptions::default());
    let mut subject = row();
    subject.instance.set("problem_statement", " ");
    let why = judge.judge(&cx(), &subject).await.unwrap_err();
    assert_eq!(why.kind(), ErrorKind::InvalidInput);
    assert!(
        why.chain().contains("`problem_statement`"),
        "{}",
        why.chain()
    );
    let prompt = judge.prompt(&row()).unwrap();
    assert!(prompt[1].content.contains("It should return the store."));
    // The schema that the request carries allows what the check does.
    let schema = alignment_schema().to_json();
    assert_eq!(
        schema["properties"]["scores"]["properties"]["issue_clarity"]["maximum"],
        3
    );
}

#[tokio::test]
async fn as_a_gate_high_is_kept_medium_repaired_low_rejected() {
    // The row has no patches yet: the candidate's are judged.
    let bare = subject(ISSUE, None, json!({}));
    for (scores, decision, code) in [
        ((0, 0), Decision::Accept, None),
        (
            (1, 2),
            Decision::Repair,
            Some(("needs_curation", Severity::Warning)),
        ),
        (
            (3, 0),
            Decision::Reject,
            Some(("unclear_or_misaligned", Severity::Fatal)),
        ),
    ] {
        let model = InOrder::new([answer(&good(scores.0, scores.1))]);
        let gate = AlignmentGate::new(&model, AlignmentOptions::default());
        let verdict = gate
            .validate(&cx(), &candidate(&bare, GOLD, TESTS))
            .await
            .unwrap();
        assert_eq!(verdict.decision, decision);
        let found = verdict.findings.first();
        assert_eq!(found.map(|one| (one.code.as_str(), one.severity)), code);
        assert!(found.is_none_or(|one| one.evidence.len() == 6));
        assert_eq!(verdict.measurements["scores"]["issue_clarity"], scores.0);
    }
    // A model that gives nothing usable is an error, not a verdict.
    let model = InOrder::new([said("?"), said("?")]);
    let gate = AlignmentGate::new(&model, AlignmentOptions::default());
    let why = gate
        .validate(&cx(), &candidate(&bare, GOLD, TESTS))
        .await
        .unwrap_err();
    assert_eq!(why.kind(), ErrorKind::Model);
    // Nothing to judge is no verdict on the task.
    let model = InOrder::new([]);
    let gate = AlignmentGate::new(&model, AlignmentOptions::default());
    let empty = subject("", None, json!({}));
    let verdict = gate
        .validate(&cx(), &candidate(&empty, GOLD, TESTS))
        .await
        .unwrap();
    assert_eq!(verdict.decision, Decision::NoEvidence);
}
