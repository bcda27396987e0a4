//! `atlas critic` over files, with scripted models.

use crate::judging::paid::{answer_of_api, serve};
use crate::support::{Done, Place, git};
use atlas_pipeline::judge::metrics::results::read_results;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const SOURCE: &str =
    "def add(a, b):\n    x = 1\n    y = 2\n    z = 3\n    w = 4\n    return a - b\n";
const TEST_PATCH: &str = "\
diff --git a/tests/test_calc.py b/tests/test_calc.py
--- a/tests/test_calc.py
+++ b/tests/test_calc.py
@@ -1,2 +1,9 @@
 def test_old():
     pass
+
+def test_add():
+    assert add(1, 2) == 3, 'the sum of one and two is three'
+
+
+def test_zero():
+    assert add(0, 0) == 0, 'the sum of nothing is nothing'
";

fn patch(line: &str) -> String {
    format!(
        "diff --git a/calc.py b/calc.py\n--- a/calc.py\n+++ b/calc.py\n@@ -4,3 +4,3 @@\n     z = 3\n     w = 4\n-    return a - b\n+    {line}\n"
    )
}

fn write_lines(place: &Place, name: &str, lines: &[Value]) {
    let mut text = String::new();
    for line in lines {
        writeln!(text, "{line}").unwrap();
    }
    std::fs::write(place.path(name), text).unwrap();
}

pub(crate) fn rule(holds: &str, verdict: &str, confidence: f64) -> Value {
    let answer = json!({"reasoning": "so", "verdict": verdict, "confidence": confidence});
    json!({"holds": holds, "text": answer.to_string(), "usage": {"prompt_tokens": 9, "completion_tokens": 3}})
}

pub(crate) fn place() -> Place {
    let place = Place::new();
    let files = [
        ("calc.py", SOURCE),
        ("tests/test_calc.py", "def test_old():\n    pass\n"),
    ];
    let repo = place.repository("clones/o__n", &[&files]);
    let head = git(&repo, &["rev-parse", "HEAD"]);
    write_lines(
        &place,
        "rows.jsonl",
        &[json!({
            "instance_id": "o__n-1", "repo": "o/n", "base_commit": head,
            "problem_statement": "add() subtracts", "patch": patch("return a + b"), "test_patch": TEST_PATCH,
            "FAIL_TO_PASS": ["tests/test_calc.py::test_add", "tests/test_calc.py::test_zero"],
            "PASS_TO_PASS": ["tests/test_calc.py::test_old"],
        })],
    );
    let candidate = |name: &str, line: &str| {
        json!({
            "instance_id": "o__n-1", "model_name_or_path": "m", "patch_id": name,
            "model_patch": patch(line), "resolved": name == "good",
        })
    };
    let candidates = [
        candidate("good", "return b + a"),
        candidate("bad", "return a * b"),
    ];
    write_lines(&place, "predictions.jsonl", &candidates);
    place
}

fn critic(place: &Place, more: &[&str]) -> Done {
    let mut args = vec![
        "critic",
        "--dataset",
        "rows.jsonl",
        "--predictions",
        "predictions.jsonl",
        "--repos",
        "clones",
        "--format",
        "json",
    ];
    args.extend(more);
    place.run(&args)
}

const RUN: [&str; 4] = ["--model", "scripted:script.jsonl", "--out", "critic.jsonl"];

#[test]
fn each_test_is_foretold_by_itself_and_runs_go_on() {
    let place = place();
    write_lines(
        &place,
        "script.jsonl",
        &[
            rule("test_add", "pass", 90.0),
            rule("test_zero", "pass", 80.0),
            rule("a * b", "fail", 70.0),
        ],
    );
    // The fourth question has no answer: the second patch fails, and the first one's words stay.
    let done = critic(&place, &RUN);
    assert_eq!(done.code(), 1, "{}{}", done.stdout(), done.stderr());
    assert_eq!(done.json()["done"], 1);
    write_lines(
        &place,
        "script.jsonl",
        &[
            rule("test_add", "fail", 95.0),
            rule("test_zero", "pass", 60.0),
        ],
    );
    let done = critic(&place, &RUN);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!((&report["known"], &report["done"]), (&json!(1), &json!(1)));
    assert_eq!(
        (&report["passing"], &report["failing"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(report["results"][0]["progress"], 1.0);
    assert_eq!(report["results"][1]["progress"], 0.5);

    let text = std::fs::read_to_string(place.path("critic.jsonl")).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[1]["critic"]["tests"][1]["predicted"], true);
    assert_eq!(lines[1]["critic"]["tests"][1]["after_rule"], false);
    // Not sure of the second test, whose source is long: taken to fail.
    assert_eq!(lines[1]["progress_after_rule"], 0.0);
    assert_eq!(lines[1]["critic"]["variant"], "isolated-function");
    assert_eq!(lines[0]["extraction"]["unmatched_fail_to_pass"], json!([]));
    // What the metrics read.
    let results = read_results(text.as_bytes()).unwrap();
    assert_eq!(results.candidates.len(), 2);
    let size = json!({"files": 1, "hunks": 1, "added": 1, "removed": 1});
    assert_eq!(lines[0]["patch_size"], size);
}

/// A budget that ends in the middle of a patch loses none of its tests: one call a run, and each test is paid for once.
#[test]
fn a_patch_is_gone_on_with_test_by_test() {
    let place = place();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let address = serve(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        let answer = json!({"reasoning": "so", "verdict": "pass", "confidence": 90});
        Some((200, answer_of_api(&answer.to_string())))
    });
    let args = [
        "--model",
        &address,
        "--out",
        "critic.jsonl",
        "--budget",
        "calls=1",
    ];
    let lines_after = [0, 1, 1, 2].map(|lines| {
        let done = critic(&place, &args);
        assert_eq!(done.code() == 0, lines == 2, "{}", done.stderr());
        let written = std::fs::read_to_string(place.path("critic.jsonl")).unwrap();
        (written.lines().count(), asked.load(Ordering::SeqCst))
    });
    assert_eq!(lines_after, [(0, 1), (1, 2), (1, 3), (2, 4)]);
}

/// That a patch passes tests which nobody showed to the critic, it cannot say.
#[test]
fn unseen_tests_leave_a_patch_undecided() {
    let place = place();
    let rows = std::fs::read_to_string(place.path("rows.jsonl")).unwrap();
    let mut row: Value = serde_json::from_str(&rows).unwrap();
    let tests = row["FAIL_TO_PASS"].as_array_mut().unwrap();
    tests.push(json!("tests/test_far.py::test_far"));
    write_lines(&place, "rows.jsonl", &[row]);
    let mut rules = [rule("a * b", "fail", 95.0), rule("test_", "pass", 95.0)];
    for rule in &mut rules {
        rule["times"] = json!(0);
    }
    write_lines(&place, "script.jsonl", &rules);
    let labels = |more: &[&str]| {
        let mut args = vec!["--model", "scripted:script.jsonl"];
        args.extend(more);
        let done = critic(&place, &args);
        assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
        let report = done.json();
        let results = report["results"].as_array().unwrap().clone();
        assert!(results.iter().all(|one| one["unseen"] == 1));
        let label = |at: usize| results[at]["label"].as_str().unwrap().to_owned();
        ([label(0), label(1)], report["abstained"].clone())
    };
    let (found, abstained) = labels(&["--out", "critic.jsonl"]);
    // One test that fails is enough.
    assert_eq!(found, ["abstained", "fail"]);
    assert_eq!(abstained, 1);
    let (found, _) = labels(&["--out", "holistic.jsonl", "--mode", "holistic"]);
    assert_eq!(found[0], "abstained");
    let (found, abstained) = labels(&["--out", "ignored.jsonl", "--ignore-unseen"]);
    assert_eq!((found[0].as_str(), abstained), ("pass", json!(0)));
    for (file, undecided) in [("critic.jsonl", 1), ("ignored.jsonl", 0)] {
        let done = place.run(&["metrics", file, "--format", "json"]);
        let critic = &done.json()["critics"][0];
        assert_eq!(critic["undecided"], undecided, "{critic:#}");
        let counts = critic["macro"].as_object().unwrap().values();
        let counted: u64 = counts.filter_map(Value::as_u64).sum();
        assert_eq!(counted, 2 - undecided, "{critic:#}");
    }
}

/// Of a function that stands for several ids each id counts, and as the critic said it: in the line and in the metrics.
#[test]
fn progress_is_the_predicted_pass_rate() {
    let place = place();
    let rows = std::fs::read_to_string(place.path("rows.jsonl")).unwrap();
    let mut row: Value = serde_json::from_str(&rows).unwrap();
    let ids = ["test_add[1]", "test_add[2]", "test_add[3]", "test_zero"];
    let ids = ids.map(|name| format!("tests/test_calc.py::{name}"));
    row["FAIL_TO_PASS"] = json!(ids);
    write_lines(&place, "rows.jsonl", &[row]);
    // Not sure of three, which the rule takes to fail.
    let mut rules = [
        rule("test_add", "pass", 60.0),
        rule("test_zero", "fail", 95.0),
    ];
    for rule in &mut rules {
        rule["times"] = json!(0);
    }
    write_lines(&place, "script.jsonl", &rules);
    let done = critic(&place, &RUN);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    assert_eq!(done.json()["results"][0]["progress"], 0.75);
    let truth = ["good", "bad"].map(|name| {
        let tests = ids.each_ref().map(|id| json!({"id": id, "passed": name == "good"}));
        json!({"instance_id": "o__n-1", "agent": "m", "patch_id": name, "resolved": name == "good", "tests": tests})
    });
    write_lines(&place, "truth.jsonl", &truth);
    let files = ["metrics", "truth.jsonl", "critic.jsonl", "--format", "json"];
    let agent = &place.run(&files).json()["critics"][0]["agents"][0];
    assert_eq!(
        (&agent["predicted_pass_rate"], &agent["actual_pass_rate"]),
        (&json!(0.75), &json!(0.5))
    );
}

#[test]
fn what_the_model_is_told_is_shown() {
    let place = place();
    let shown = |more: &[&str]| {
        let mut args = vec!["--show-prompt"];
        args.extend(more);
        let done = critic(&place, &args);
        assert_eq!(done.code(), 0, "{}", done.stderr());
        done.stdout()
    };
    let isolated = shown(&[]);
    assert!(isolated.contains("def add(a, b):") && isolated.contains("one and two is three"));
    assert!(!isolated.contains("subtracts"));
    assert!(!shown(&["--variant", "default"]).contains("def add(a, b):"));
    assert!(!shown(&["--variant", "post-commit"]).contains("return a - b"));
    assert!(shown(&["--mode", "problem"]).contains("subtracts"));
    assert!(shown(&["--mode", "change-aware"]).contains("return a + b"));
    assert!(shown(&["--mode", "holistic"]).matches("test_zero").count() >= 2);
}

#[test]
fn a_critic_of_the_whole_patch_has_one_word() {
    let place = place();
    write_lines(
        &place,
        "script.jsonl",
        &[rule("b + a", "pass", 90.0), rule("a * b", "fail", 80.0)],
    );
    let mut args = vec!["--mode", "change-aware"];
    args.extend(RUN);
    let done = critic(&place, &args);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    assert_eq!(
        (&done.json()["passing"], &done.json()["failing"]),
        (&json!(1), &json!(1))
    );
    // Another mode does not go on in the same file.
    let other = critic(&place, &RUN);
    assert_eq!(other.code(), 1);
    assert!(
        other.stderr().contains("other settings"),
        "{}",
        other.stderr()
    );
}
