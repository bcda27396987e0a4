//! `atlas judge` and `atlas hints` over files.

use crate::support::{Place, git};
use serde_json::{Value, json};

fn lines(place: &Place, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(place.path(name)).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn write_lines(place: &Place, name: &str, lines: &[Value]) {
    let text: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(place.path(name), text.concat()).unwrap();
}

/// A row whose gold patch adds `open_store`, which its test calls.
fn row(id: &str, issue: &str) -> Value {
    json!({
        "instance_id": format!("o__n-{id}"), "repo": "o/n", "base_commit": "HEAD",
        "problem_statement": format!("Title {id}\n\n{issue}"),
        "patch": "--- a/store.py\n+++ b/store.py\n@@ -1,2 +1,5 @@\n def close(s):\n     return s\n+\n+def open_store(path):\n+    return path\n",
        "test_patch": "--- /dev/null\n+++ b/test_store.py\n@@ -0,0 +1,3 @@\n+from store import open_store\n+def test_store():\n+    assert open_store(1) == 1\n",
    })
}

fn rows() -> Place {
    let place = Place::new();
    let told = row(
        "told",
        "Please add `open_store`, it should give the path back.",
    );
    let untold = row("untold", "Stores cannot be opened.");
    write_lines(&place, "rows.jsonl", &[told, untold]);
    place
}

const HINT: &str = "- `store.py`: `def open_store(path)`";

#[test]
fn hints_need_no_model_and_are_resumable() {
    let place = rows();
    let args = [
        "hints",
        "--dataset",
        "rows.jsonl",
        "--out",
        "hints.jsonl",
        "--format",
        "json",
    ];
    let done = place.run(&args);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let report = done.json();
    assert_eq!(report["labels"], json!({"needed": 1, "not_needed": 1}));
    assert_eq!(report["results"][1]["hint"], HINT);
    assert_eq!(report["ledger"], Value::Null);
    let first = lines(&place, "hints.jsonl");
    assert_eq!(first[1]["instance_id"], "o__n-untold");
    let details = &first[1]["judgement"]["details"];
    assert_eq!(details["report"]["is_hint_needed"], true);
    // Without the files it is said what is not known.
    let note = details["report"]["notes"][0].as_str().unwrap();
    assert!(
        note.starts_with("store.py: only what the patch shows"),
        "{note}"
    );
    let again = place.run(&args).json();
    assert_eq!((&again["known"], &again["done"]), (&json!(2), &json!(0)));
    assert_eq!(lines(&place, "hints.jsonl"), first);
    let text = place.run(&args[..5]);
    assert!(text.stdout().contains(HINT), "{}", text.stdout());
}

#[test]
fn hints_read_clones_and_what_runs_left_behind() {
    let place = rows();
    let base = "def close(s):\n    return s\n";
    let clone = place.repository("o__n", &[&[("store.py", base)]]);
    git(
        &clone,
        &["remote", "add", "origin", "https://example.invalid/o/n"],
    );
    // The log alone shows it: the test uses a helper.
    let mut row = row("untold", "Stores cannot be opened.");
    row["test_patch"] = json!(
        "--- /dev/null\n+++ b/test_store.py\n@@ -0,0 +1,2 @@\n+def test_store(store):\n+    assert store\n"
    );
    write_lines(&place, "rows.jsonl", &[row]);
    let folder = place.path("made/o__n-untold");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(
        folder.join("before.log"),
        "E   ImportError: cannot import name 'open_store' from 'store'\n",
    )
    .unwrap();
    let mut args = vec!["hints", "--dataset", "rows.jsonl", "--out", "a.jsonl"];
    args.extend(["--format", "json", "--repos", clone.to_str().unwrap()]);
    let report = place.run(&args).json();
    assert_eq!(report["labels"], json!({"not_needed": 1}), "{report}");
    args[4] = "b.jsonl";
    args.extend(["--artefacts", "made"]);
    let report = place.run(&args).json();
    assert_eq!(report["results"][0]["hint"], HINT, "{report}");
    let details = &lines(&place, "b.jsonl")[0]["judgement"]["details"];
    assert_eq!(details["report"]["rules"], json!(["before_log"]));
    assert_eq!(details["report"]["notes"], json!([]));
}

#[test]
fn hints_from_elsewhere_are_refused_where_they_leak() {
    let place = rows();
    let hint = |id: &str, hint: &str| json!({"instance_id": id, "hint": hint});
    let args = |given: &'static str, out: &'static str| {
        [
            "hints",
            "--dataset",
            "rows.jsonl",
            "--check",
            given,
            "--out",
            out,
            "--format",
            "json",
        ]
    };
    write_lines(
        &place,
        "rows.jsonl",
        &[row("untold", "Stores cannot be opened.")],
    );
    let honest = hint("o__n-untold", HINT);
    write_lines(&place, "honest.jsonl", &[honest]);
    let report = place.run(&args("honest.jsonl", "a.jsonl")).json();
    assert_eq!(report["labels"], json!({"clean": 1}), "{report}");
    // What this command wrote is taken as well.
    place.run(&["hints", "--dataset", "rows.jsonl", "--out", "made.jsonl"]);
    let report = place.run(&args("made.jsonl", "b.jsonl")).json();
    assert_eq!(report["labels"], json!({"clean": 1}), "{report}");
    let leaking = hint("o__n-untold", "`if path: return path`");
    write_lines(&place, "leaking.jsonl", &[leaking]);
    let refused = place.run(&args("leaking.jsonl", "c.jsonl"));
    assert_eq!(refused.code(), 3, "{}", refused.stderr());
    assert_eq!(refused.json()["labels"], json!({"leaks": 1}));
    let verdict = &lines(&place, "c.jsonl")[0]["judgement"]["details"]["verdict"];
    assert_eq!(verdict["decision"], "reject");
    assert_eq!(verdict["findings"][0]["evidence"][0]["source"], "hint");
    write_lines(&place, "other.jsonl", &[hint("o__n-other", "x")]);
    let report = place.run(&args("other.jsonl", "d.jsonl")).json();
    assert_eq!(report["labels"], json!({"no_hint": 1}), "{report}");
    let fault = report["faults"][0]["message"].as_str().unwrap();
    assert!(fault.contains("`o__n-other`"), "{fault}");
}

fn alignment(title: &str, scores: [u8; 2]) -> Value {
    let factors = [
        ("success_criteria", "issue", title),
        ("specificity", "issue", title),
        ("context", "issue", title),
        ("core_coverage", "tests", "assert open_store(1) == 1"),
        ("rejects_correct", "tests", "from store import open_store"),
        ("accepts_wrong", "solution", "def open_store(path):"),
    ];
    let factors = factors.map(|(factor, source, quote)| {
        json!({"factor": factor, "assessment": "so", "evidence": [{"source": source, "quote": quote}]})
    });
    let answer = json!({
        "factors": factors, "explanation": "because",
        "scores": {"issue_clarity": scores[0], "test_to_issue_alignment": scores[1]},
    });
    json!({
        "holds": title, "text": answer.to_string(),
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    })
}

#[test]
fn judge_goes_on_within_a_budget() {
    let place = rows();
    write_lines(
        &place,
        "script.jsonl",
        &[
            alignment("Title told", [0, 1]),
            alignment("Title untold", [1, 2]),
        ],
    );
    let mut args = vec!["judge", "--dataset", "rows.jsonl", "--out", "judge.jsonl"];
    args.extend(["--model", "scripted:script.jsonl", "--format", "json"]);
    let mut short = args.clone();
    short.extend(["--budget", "calls=1"]);
    let done = place.run(&short);
    assert_eq!(done.code(), 1);
    assert_eq!(
        (&done.json()["done"], &done.json()["left"]),
        (&json!(1), &json!(1))
    );
    let done = place.run(&args);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let report = done.json();
    assert_eq!(report["labels"], json!({"high": 1, "medium": 1}));
    assert_eq!(
        (&report["known"], &report["ledger"]["calls"]),
        (&json!(1), &json!(1))
    );
    let judged = lines(&place, "judge.jsonl");
    assert_eq!(judged[1]["judgement"]["details"]["action"], "curate");
    // Another mapping is another question, and does not go into the same file.
    args.extend(["--high-up-to", "2"]);
    let done = place.run(&args);
    assert_eq!(done.code(), 1);
    assert!(done.stderr().contains("high_up_to"), "{}", done.stderr());
}

#[test]
fn judge_shows_its_prompt_and_asks_for_a_model() {
    let place = rows();
    let done = place.run(&["judge", "--dataset", "rows.jsonl", "--show-prompt"]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    assert!(done.stdout().contains("Stores cannot be opened."));
    let done = place.run(&["judge", "--dataset", "rows.jsonl", "--out", "x.jsonl"]);
    assert_eq!(done.code(), 1);
    assert!(done.stderr().contains("--model"), "{}", done.stderr());
    // Classes are told by rule.
    let mut args = vec!["judge", "--dataset", "rows.jsonl", "--out", "classes.jsonl"];
    args.extend(["--question", "classes", "--format", "json"]);
    let report = place.run(&args).json();
    assert_eq!(report["labels"], json!({"unknown/unknown": 2}));
    assert_eq!(report["tables"]["code_type"]["total"], 2);
}
