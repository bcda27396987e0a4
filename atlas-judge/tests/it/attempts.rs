//! Why attempts failed.

use crate::support::{InOrder, cx, said, subject};
use atlas_core::{ConfidenceSource, ErrorKind, Judge as _};
use atlas_judge::attempts::{
    AttemptClass, AttemptFinding, AttemptJudge, AttemptOptions, AttemptSummary, FailedAttempt,
    attempt_by_rule,
};
use serde_json::{Value, json};

fn attempt(attachments: Value) -> FailedAttempt {
    let patch = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+import ujson\n";
    FailedAttempt::of(&subject("Stores do not open", Some(patch), attachments)).unwrap()
}

fn check(attachments: Value, expected: Option<(AttemptClass, &str, Option<usize>)>) {
    let found = attempt_by_rule(&attempt(attachments));
    let found = found
        .as_ref()
        .map(|(class, proof)| (*class, proof.source.as_str(), proof.line));
    assert_eq!(found, expected);
}

fn steps(last: &str, exit_code: i64) -> Value {
    json!([
        {"action": "df", "observation": "No space left on device", "exit_code": 1},
        {"action": "rm -r /tmp/x", "observation": "", "exit_code": 0},
        {"action": "ls", "observation": "x.py", "exit_code": 0},
        {"action": "pytest", "observation": last, "exit_code": exit_code},
    ])
}

#[test]
fn rules_come_with_their_line() {
    use AttemptClass::{Infrastructure, ToolCrash, Underspecified, UnsupportedDependency};
    let log = |text: &str| json!({"log": format!("collecting\n{text}\n1 failed")});
    check(
        log("OSError: [Errno 28] No space left on device"),
        Some((Infrastructure, "log", Some(2))),
    );
    check(
        log("E   ModuleNotFoundError: No module named 'psycopg2'"),
        Some((UnsupportedDependency, "log", Some(2))),
    );
    check(
        log("Error: Cannot find module 'left-pad'"),
        Some((UnsupportedDependency, "log", Some(2))),
    );
    check(
        log("/bin/sh: line 3: redis-server: command not found"),
        Some((UnsupportedDependency, "log", Some(2))),
    );
    // What the attempt itself asks for, and files of the project, are its own fault.
    check(log("ModuleNotFoundError: No module named 'ujson'"), None);
    check(log("Error: Cannot find module './store'"), None);
    check(log("AssertionError: 1 != 2"), None);
    // A step that was overcome does not count, nor does a text that is only shown.
    check(json!({"trajectory": steps("1 failed", 1)}), None);
    check(
        json!({"trajectory": steps("grep: No space left on device", 0)}),
        None,
    );
    check(
        json!({"trajectory": steps("write: No space left on device", 1)}),
        Some((Infrastructure, "trajectory, step 4", Some(1))),
    );
    check(
        json!({"trajectory": steps("x\nError: the bash process has died", 1)}),
        Some((ToolCrash, "trajectory, step 4", Some(2))),
    );
    check(
        json!({"trajectory": steps("ok", 0), "exit_status": "exit_environment_error"}),
        Some((ToolCrash, "exit_status", None)),
    );
    check(
        json!({"trajectory": steps("ok", 0), "exit_status": "submitted"}),
        None,
    );
    check(
        json!({"trajectory": steps("ok", 0), "exit_status": "exit_cost"}),
        None,
    );
    let need = |name: &str| {
        json!({"is_hint_needed": true, "rules": [], "hint": "", "named_by_issue": [], "notes": [], "needs": [{
            "name": name, "container": "", "path": "s.py", "line": 1, "signature": "", "rules": [], "evidence": [],
        }]})
    };
    let missing = "ImportError: cannot import name 'open_store' from 's'";
    check(
        json!({"log": missing, "hints": need("open_store")}),
        Some((Underspecified, "log", Some(1))),
    );
    check(json!({"log": missing, "hints": need("other")}), None);
    check(
        json!({"log": "test_open_store failed", "hints": need("open_store")}),
        None,
    );
}

#[test]
fn an_attempt_of_which_nothing_is_known_is_refused() {
    for (attachments, part) in [
        (json!({}), "neither"),
        (json!({"log": 3}), "`log`"),
        (json!({"log": "x", "hints": 3}), "`hints`"),
        (json!({"trajectory": "x"}), "`trajectory`"),
    ] {
        let why = FailedAttempt::of(&subject("x", None, attachments)).unwrap_err();
        assert_eq!(why.kind(), ErrorKind::InvalidInput);
        assert!(why.chain().contains(part), "{}", why.chain());
    }
}

fn answer(class: &str, quote: &str) -> atlas_core::Completion {
    said(&json!({"reasoning": "why", "quote": quote, "class": class}).to_string())
}

#[tokio::test]
async fn a_model_is_asked_for_the_rest_and_has_to_quote() {
    let subject = subject("x", None, json!({"log": "AssertionError: 1 != 2"}));
    let model = InOrder::new([
        answer("underspecified", "nobody said so"),
        answer("genuine_failure", "AssertionError: 1 != 2"),
    ]);
    let judge = AttemptJudge::new(&model, AttemptOptions::default());
    let judgement = judge.judge(&cx(), &subject).await.unwrap();
    assert_eq!(judgement.label, "genuine_failure");
    assert_eq!(judgement.details["by"], "model");
    assert_eq!(judgement.details["look_again"], false);
    assert_eq!(judgement.details["faults"].as_array().unwrap().len(), 1);
    assert_eq!(judgement.evidence[0].source, "log");
    for bad in [
        answer("underspecified", "nobody said so"),
        answer("bad_luck", "AssertionError: 1 != 2"),
        said("{}"),
    ] {
        let model = InOrder::new([bad.clone(), bad]);
        let judge = AttemptJudge::new(&model, AttemptOptions::default());
        let why = judge.judge(&cx(), &subject).await.unwrap_err();
        assert_eq!((why.kind(), model.calls()), (ErrorKind::Model, 2));
    }
    let judgement = AttemptJudge::rules().judge(&cx(), &subject).await.unwrap();
    assert_eq!(judgement.label, "undecided");
    assert_eq!(judgement.confidence.source, ConfidenceSource::Missing);
}

#[test]
fn a_summary_says_where_to_look_and_changes_nothing() {
    use AttemptClass::{GenuineFailure, Infrastructure, Undecided, Underspecified};
    let of = |classes: &[AttemptClass]| {
        let findings: Vec<AttemptFinding> = classes
            .iter()
            .enumerate()
            .map(|(at, class)| AttemptFinding {
                attempt: format!("a{at}"),
                class: *class,
                evidence: Vec::new(),
            })
            .collect();
        AttemptSummary::of(&findings)
    };
    let summary = of(&[Infrastructure, GenuineFailure, Undecided, Infrastructure]);
    assert_eq!(summary.counts[&Infrastructure], 2);
    assert_eq!(
        summary.look_again,
        [
            ("a0".to_owned(), Infrastructure),
            ("a3".to_owned(), Infrastructure)
        ]
    );
    assert!(!summary.is_task_in_doubt);
    assert!(of(&[Infrastructure, Underspecified]).is_task_in_doubt);
    // Where nobody knows, nothing is in doubt yet.
    assert!(!of(&[Undecided]).is_task_in_doubt);
    assert!(!of(&[]).is_task_in_doubt);
    let line = serde_json::to_value(&summary).unwrap();
    assert_eq!(
        line["counts"],
        json!({"infrastructure": 2, "genuine_failure": 1, "undecided": 1})
    );
}
