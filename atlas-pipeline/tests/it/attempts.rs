//! `atlas judge --question attempts` over files.

use crate::support::{Done, Place};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

fn write_lines(place: &Place, name: &str, lines: &[Value]) {
    let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(place.path(name), lines.concat()).unwrap();
}

fn patch(line: &str) -> String {
    format!("--- a/store.py\n+++ b/store.py\n@@ -1 +1,2 @@\n def close(s): return s\n+{line}\n")
}

/// What an evaluation leaves of one prediction.
fn verdict(place: &Place, id: &str, agent: &str, patch: &str, resolved: bool, log: &str) {
    let folder = place.path(&format!("run/{agent}/{id}"));
    std::fs::create_dir_all(&folder).unwrap();
    let hash = Sha256::digest(patch.as_bytes());
    let hash = hash.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    let verdict = json!({
        "instance_id": id, "model_name_or_path": agent, "patch_sha256": hash, "resolved": resolved,
        "outcome": "graded",
    });
    std::fs::write(folder.join("verdict.json"), verdict.to_string()).unwrap();
    std::fs::write(folder.join("test_output.txt"), log).unwrap();
}

const GENUINE: &str = "assert close(1) == 2";

fn place() -> Place {
    let place = Place::new();
    let row = |id: &str| {
        json!({
            "instance_id": id, "repo": "o/n", "problem_statement": "Stores do not close",
            "patch": patch("pass"), "test_patch": patch("pass"),
        })
    };
    write_lines(&place, "rows.jsonl", &[row("o__n-1"), row("o__n-2")]);
    let predictions = [
        ("o__n-1", "full", "a"),
        ("o__n-1", "wrong", "b"),
        ("o__n-1", "good", "c"),
        ("o__n-2", "full", "a"),
    ];
    let predictions = predictions.map(|(id, agent, line)| {
        json!({"instance_id": id, "model_name_or_path": agent, "model_patch": patch(line)})
    });
    write_lines(&place, "predictions.jsonl", &predictions);
    let disk = "collecting\nOSError: [Errno 28] No space left on device\n";
    verdict(&place, "o__n-1", "full", &patch("a"), false, disk);
    let failed = format!("1 failed\nE   {GENUINE}\n");
    verdict(&place, "o__n-1", "wrong", &patch("b"), false, &failed);
    verdict(&place, "o__n-1", "good", &patch("c"), true, "1 passed\n");
    verdict(&place, "o__n-2", "full", &patch("a"), false, disk);
    place
}

fn attempts(place: &Place, more: &[&str]) -> Done {
    let mut args = vec![
        "judge",
        "--question",
        "attempts",
        "--dataset",
        "rows.jsonl",
        "--predictions",
        "predictions.jsonl",
        "--evaluation",
        "run",
    ];
    args.extend(more);
    place.run(&args)
}

#[test]
fn rules_find_what_is_not_the_attempts_fault() {
    let place = place();
    let args = ["--out", "attempts.jsonl", "--format", "json"];
    let done = attempts(&place, &args);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let report = done.json();
    // The one that resolves its instance is left out.
    assert_eq!(
        (&report["resolved"], &report["items"]),
        (&json!(1), &json!(3))
    );
    assert_eq!(report["ungraded"], 0);
    assert_eq!(
        report["labels"],
        json!({"infrastructure": 2, "undecided": 1})
    );
    let first = &report["results"][0];
    assert_eq!(first["agent"], "full");
    assert_eq!(
        (&first["look_again"], &first["by"]),
        (&json!(true), &json!("rule"))
    );
    // Of two attempts one may be wrong; of the other task nothing speaks against any.
    assert_eq!(report["tasks"]["o__n-1"]["is_task_in_doubt"], false);
    assert_eq!(report["tasks"]["o__n-2"]["is_task_in_doubt"], true);
    assert_eq!(report["ledger"], Value::Null);
    let again = attempts(&place, &args).json();
    assert_eq!((&again["known"], &again["done"]), (&json!(3), &json!(0)));
    let text = attempts(&place, &args[..2]);
    let said = "look at o__n-2 itself: none of its 1 failed attempts is shown to be wrong";
    assert!(text.stdout().contains(said), "{}", text.stdout());

    // Another log is another question.
    verdict(&place, "o__n-2", "full", &patch("a"), false, "1 failed\n");
    let changed = attempts(&place, &args).json();
    assert_eq!(
        (&changed["known"], &changed["done"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(
        changed["labels"],
        json!({"infrastructure": 1, "undecided": 2})
    );
}

#[test]
fn a_model_is_asked_about_the_rest_and_has_to_quote() {
    let place = place();
    let answer =
        json!({"reasoning": "its own check fails", "quote": GENUINE, "class": "genuine_failure"});
    let usage = json!({"prompt_tokens": 5, "completion_tokens": 2});
    let rule = json!({"holds": GENUINE, "text": answer.to_string(), "usage": usage});
    write_lines(&place, "script.jsonl", &[rule]);
    let args = [
        "--out",
        "attempts.jsonl",
        "--model",
        "scripted:script.jsonl",
        "--format",
        "json",
    ];
    let done = attempts(&place, &args);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!(
        report["labels"],
        json!({"genuine_failure": 1, "infrastructure": 2})
    );
    assert_eq!(
        (&report["ledger"]["calls"], &report["ledger"]["tokens"]),
        (&json!(1), &json!(7))
    );

    // Only what no rule decides is shown, with what the tests printed.
    let shown = attempts(&place, &["--show-prompt"]);
    assert_eq!(shown.code(), 0, "{}", shown.stderr());
    assert_eq!(shown.stdout().matches("##### ").count(), 1);
    assert!(shown.stdout().contains(GENUINE));
}

#[test]
fn columns_and_files_beside_the_predictions() {
    let place = place();
    let prediction = |agent: &str, more: Value| {
        let mut line = json!({
            "instance_id": "o__n-1", "model_name_or_path": agent, "model_patch": patch(agent),
        });
        let fields = more.as_object().unwrap().clone();
        line.as_object_mut().unwrap().extend(fields);
        line
    };
    let step = json!({"action": "pytest", "observation": "shell has died", "exit_code": 1});
    let predictions = [
        prediction(
            "own",
            json!({"resolved": false, "log": "no space left on device"}),
        ),
        prediction("done", json!({"resolved": true})),
        prediction("tool", json!({"trajectory": [step]})),
        prediction(
            "error",
            json!({"trajectory": {"steps": [{"action": "ls"}], "info": {"exit_status": "exit_error"}}}),
        ),
        prediction("bare", json!({})),
    ];
    write_lines(&place, "predictions.jsonl", &predictions);
    let done = attempts(&place, &["--out", "attempts.jsonl", "--format", "json"]);
    // Of one nothing is known at all, which is said, and the others are judged.
    assert_eq!(done.code(), 1);
    let report = done.json();
    assert_eq!(
        report["labels"],
        json!({"infrastructure": 1, "tool_crash": 2})
    );
    assert_eq!(
        (&report["resolved"], &report["ungraded"]),
        (&json!(1), &json!(3))
    );
    let why = report["failed"][0]["message"].as_str().unwrap();
    assert!(
        why.contains("neither the attachment `trajectory` nor `log`"),
        "{why}"
    );
}

#[test]
fn questions_and_options_that_do_not_go_together() {
    let place = place();
    let run = |args: &[&str]| {
        let mut all = vec!["judge", "--dataset", "rows.jsonl", "--out", "o.jsonl"];
        all.extend(args);
        let done = place.run(&all);
        (done.code(), done.stderr())
    };
    let (code, why) = run(&["--question", "attempts"]);
    assert!(
        code == 1 && why.contains("name them with --predictions"),
        "{why}"
    );
    let (code, why) = run(&["--question", "classes", "--predictions", "gold"]);
    assert!(
        code == 1 && why.contains("--question attempts only"),
        "{why}"
    );
    assert_eq!(run(&["--evaluation", "run"]).0, 2);
}
