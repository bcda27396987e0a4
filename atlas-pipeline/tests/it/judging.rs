//! `atlas abstain` and `atlas review` over files, with scripted models.

use crate::support::{Done, Place, git};
use atlas_pipeline::judge::metrics::results::read_results;
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(crate) fn lines(place: &Place, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(place.path(name)).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

pub(crate) fn write_lines(place: &Place, name: &str, lines: &[Value]) {
    let mut text = String::new();
    for line in lines {
        writeln!(text, "{line}").unwrap();
    }
    std::fs::write(place.path(name), text).unwrap();
}

/// A row whose problem statement is its name.
pub(crate) fn row(id: &str) -> Value {
    json!({
        "instance_id": format!("o__n-{id}"), "repo": "o/n", "base_commit": "HEAD",
        "problem_statement": format!("Title {id}\n\nThe function `get_x` in src/a.py is wrong."),
        "patch": "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n", "test_patch": "",
    })
}

fn bytes(text: &str) -> Value {
    json!(text.as_bytes())
}

/// A rule that answers a question about a title with a label, with `p` on `success`.
pub(crate) fn label_rule(title: &str, p: f64) -> Value {
    let top = json!([
        [bytes("success"), p.ln()],
        [bytes("failure"), (1.0 - p).ln()]
    ]);
    json!({
        "holds": format!("Title {title}\n"), "text": "success",
        "logprobs": [{"bytes": bytes("success"), "logprob": p.ln(), "top": top}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 1},
    })
}

fn abstain(place: &Place, more: &[&str]) -> Done {
    let mut args = vec![
        "abstain",
        "--dataset",
        "rows.jsonl",
        "--model",
        "scripted:script.jsonl",
        "--out",
        "abstain.jsonl",
        "--format",
        "json",
    ];
    args.extend(more);
    place.run(&args)
}

pub(crate) fn three_rows() -> Place {
    let place = Place::new();
    write_lines(&place, "rows.jsonl", &["a", "b", "c"].map(row));
    place
}

#[test]
fn abstention_is_resumable() {
    let place = three_rows();
    // No rule for b: it fails, and does not stop the others.
    write_lines(
        &place,
        "script.jsonl",
        &[label_rule("a", 0.8), label_rule("c", 0.3)],
    );
    let done = abstain(&place, &[]);
    assert_eq!(done.code(), 1, "{}", done.stderr());
    let report = done.json();
    assert_eq!(report["done"], 2);
    assert_eq!(report["failed"][0]["key"], "o__n-b");
    assert_eq!(report["ledger"]["prompt_tokens"], 200);
    let found = lines(&place, "abstain.jsonl");
    let names: Vec<_> = found
        .iter()
        .map(|line| line["key"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["o__n-a", "o__n-b", "o__n-c"]);
    assert_eq!(found[1]["error"]["kind"], "model");

    // Killed in the middle of a line, and put right: only what is missing is asked.
    let text = std::fs::read_to_string(place.path("abstain.jsonl")).unwrap();
    std::fs::write(place.path("abstain.jsonl"), &text[..text.len() - 40]).unwrap();
    write_lines(
        &place,
        "script.jsonl",
        &[label_rule("b", 0.6), label_rule("c", 0.3)],
    );
    let done = abstain(&place, &[]);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!((&report["known"], &report["done"]), (&json!(1), &json!(2)));
    assert_eq!(
        (&report["attempt"], &report["abstain"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(report["features"]["attempt"]["reports"], 2);
    assert_eq!(report["features"]["attempt"]["code_like_identifiers"], 1.0);
    let found = lines(&place, "abstain.jsonl");
    assert!((found[0]["abstention"]["probability"].as_f64().unwrap() - 0.8).abs() < 1e-9);
    assert_eq!(found[2]["abstention"]["attempt"], false);
    assert_eq!(found[2]["abstention"]["source"], "label_top_logprobs");
    assert_eq!(
        found[0]["judgement"]["details"]["prompt_version"],
        "abstention.v1"
    );

    // A row that changed is asked about again, the others are not.
    let mut rows = ["a", "b", "c"].map(row);
    rows[1]["problem_statement"] = json!("Title b\nquite another text");
    write_lines(&place, "rows.jsonl", &rows);
    write_lines(&place, "script.jsonl", &[label_rule("b", 0.2)]);
    let report = abstain(&place, &[]).json();
    assert_eq!(
        (&report["known"], &report["abstain"]),
        (&json!(2), &json!(2))
    );

    // Done is done.
    let before = std::fs::read(place.path("abstain.jsonl")).unwrap();
    let done = abstain(&place, &[]);
    assert_eq!(
        (done.code(), &done.json()["ledger"]["calls"]),
        (0, &json!(0))
    );
    assert_eq!(std::fs::read(place.path("abstain.jsonl")).unwrap(), before);
}

#[test]
fn results_of_other_settings_are_not_mixed() {
    let place = three_rows();
    write_lines(
        &place,
        "script.jsonl",
        &["a", "b", "c"].map(|id| label_rule(id, 0.8)),
    );
    assert_eq!(abstain(&place, &[]).code(), 0);
    let done = abstain(&place, &["--tau", "0.9"]);
    assert_eq!(done.code(), 1);
    for part in ["abstain.jsonl", "line 1", "`policy.tau` was 0.5 and is 0.9"] {
        assert!(done.stderr().contains(part), "{part}: {}", done.stderr());
    }
    std::fs::write(place.path("abstain.jsonl"), "{\"mine\": 1}\n").unwrap();
    let done = abstain(&place, &[]);
    assert!(done.stderr().contains("no `key`"), "{}", done.stderr());
    assert_eq!(lines(&place, "abstain.jsonl"), [json!({"mine": 1})]);
    std::fs::write(place.path("abstain.jsonl"), "no json\n{}\n").unwrap();
    let done = abstain(&place, &[]);
    assert!(done.stderr().contains("line 1"), "{}", done.stderr());
}

#[test]
fn a_budget_ends_a_run_in_order() {
    let place = three_rows();
    write_lines(
        &place,
        "script.jsonl",
        &["a", "b", "c"].map(|id| label_rule(id, 0.8)),
    );
    let done = abstain(&place, &["--budget", "calls=2"]);
    assert_eq!(done.code(), 1, "{}", done.stderr());
    let report = done.json();
    assert_eq!((&report["done"], &report["left"]), (&json!(2), &json!(1)));
    let why = report["stopped"].as_str().unwrap();
    assert!(
        why.contains("2 calls") && why.contains("raise the budget"),
        "{why}"
    );
    assert_eq!(report["ledger"]["calls"], 2);
    assert_eq!(lines(&place, "abstain.jsonl").len(), 2);
    // It goes on from there; the budget is no setting of the results.
    let done = abstain(&place, &["--budget", "calls=9,tokens=100k"]);
    assert_eq!((done.code(), &done.json()["known"]), (0, &json!(2)));
    assert_eq!(abstain(&place, &["--budget", "many"]).code(), 1);
    // What costs nothing leaves no exchanges behind.
    assert!(!place.path("abstain.jsonl.exchanges").exists());
}

#[test]
fn side_by_side_is_the_same_as_one_by_one() {
    let place = three_rows();
    let run = |out: &str, jobs: &str| {
        let args = [
            "abstain",
            "--dataset",
            "rows.jsonl",
            "--model",
            "noise:7",
            "--out",
            out,
            "-j",
            jobs,
        ];
        let done = place.run(&args);
        assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
        assert!(
            done.stdout().contains("3 items: 0 known"),
            "{}",
            done.stdout()
        );
        std::fs::read(place.path(out)).unwrap()
    };
    assert_eq!(run("one.jsonl", "1"), run("three.jsonl", "3"));
}

#[test]
fn prompts_are_shown_without_a_model() {
    let place = three_rows();
    let done = place.run(&[
        "abstain",
        "--dataset",
        "rows.jsonl",
        "--show-prompt",
        "--max-steps",
        "7",
        "--tool",
        "grep=look for words",
    ]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    for part in [
        "##### o__n-a",
        "Title c",
        "`grep` to look for words",
        "7 steps",
    ] {
        assert!(done.stdout().contains(part), "{part}: {}", done.stdout());
    }
    let done = place.run(&[
        "review",
        "--dataset",
        "rows.jsonl",
        "--predictions",
        "gold",
        "--instance-ids",
        "o__n-b",
        "--show-prompt",
        "--format",
        "json",
    ]);
    let shown = done.json();
    assert_eq!(shown.as_array().unwrap().len(), 2);
    assert!(
        shown[1]["messages"][1]["content"]
            .as_str()
            .unwrap()
            .contains("+x = 2")
    );
    // Without it, both are needed.
    assert_eq!(place.run(&["abstain", "--dataset", "rows.jsonl"]).code(), 2);
    let done = place.run(&[
        "abstain",
        "--dataset",
        "none.jsonl",
        "--model",
        "noise:1",
        "--out",
        "x",
    ]);
    assert_eq!(done.code(), 1);
    let done = place.run(&[
        "abstain",
        "--dataset",
        "rows.jsonl",
        "--model",
        "what",
        "--out",
        "x",
    ]);
    assert!(
        done.code() == 1 && done.stderr().contains("what"),
        "{}",
        done.stderr()
    );
}

fn patch(line: &str) -> String {
    format!("--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-x = 1\n+{line}\n")
}

/// A review's answer as one token.
pub(crate) fn review_rule(holds: &str, is_fixed: bool, logprob: f64) -> Value {
    let text = json!({"is_bug_fixed": is_fixed, "explanation": "so it is"}).to_string();
    json!({
        "holds": holds, "text": text,
        "logprobs": [{"bytes": bytes(&text), "logprob": logprob, "top": []}],
    })
}

/// Three instances, the third of which is abstained from; six candidates.
pub(crate) fn candidates() -> Place {
    let place = three_rows();
    let repo = place.repository("clones/o__n", &[&[("src/a.py", "x = 1\n"), ("b.py", "")]]);
    let head = git(&repo, &["rev-parse", "HEAD"]);
    let rows = ["a", "b", "c"].map(|id| {
        let mut row = row(id);
        row["base_commit"] = json!(head);
        row
    });
    write_lines(&place, "rows.jsonl", &rows);
    let candidate = |id: &str, name: &str, patch: &str| {
        json!({
            "instance_id": format!("o__n-{id}"), "model_name_or_path": "m", "patch_id": name,
            "model_patch": patch, "resolved": name == "good",
        })
    };
    let mut failing = candidate("a", "failing", &patch("x = 3"));
    failing["trajectory"] = json!([{"action": "pytest", "observation": "1 failed"}]);
    write_lines(
        &place,
        "predictions.jsonl",
        &[
            candidate("a", "good", &patch("x = 2")),
            failing,
            candidate("a", "bad", &patch("x = 4")),
            candidate("b", "worse", &patch("x = 5")),
            candidate("b", "good", &patch("x = 2")),
            candidate("c", "good", &patch("x = 2")),
        ],
    );
    write_lines(
        &place,
        "facts.jsonl",
        &[
            json!({"instance_id": "o__n-b", "agent": "m", "patch_id": "worse", "test_facts": {"targets": [
            {"name": "t", "direct_dependencies": ["src/a.py"], "before": "passed", "after": "failed"}]}}),
        ],
    );
    write_lines(
        &place,
        "abstain.jsonl",
        &[("a", 0.9, true), ("b", 0.5, true), ("c", 0.1, false)].map(|(id, p, attempt)| {
            json!({"instance_id": format!("o__n-{id}"), "abstention":
                {"probability": p, "source": "label_top_logprobs", "attempt": attempt}})
        }),
    );
    std::fs::create_dir(place.path("t")).unwrap();
    let trajectory = json!({"trajectory": [{"action": "pytest -q", "observation": "2 passed"}]});
    std::fs::write(place.path("t/o__n-b.traj"), trajectory.to_string()).unwrap();
    let mut spec = json!({"holds": "List the properties", "text": "- x is 2", "times": 0});
    spec["usage"] = json!({"prompt_tokens": 10, "completion_tokens": 2});
    write_lines(
        &place,
        "script.jsonl",
        &[
            spec,
            review_rule("Title a\n", true, -0.2),
            review_rule("+x = 4", false, -0.1),
            review_rule("Title b\n", true, -0.9),
        ],
    );
    place
}

/// Two agents with one patch each for one instance: what was seen of one is nothing of the other.
#[test]
fn what_is_known_of_a_patch_is_of_that_patch() {
    let place = three_rows();
    let candidate = |agent: &str, value: &str| {
        json!({
            "instance_id": "o__n-a", "model_name_or_path": agent, "patch_id": "p",
            "model_patch": patch(value),
        })
    };
    write_lines(
        &place,
        "predictions.jsonl",
        &[candidate("org/x", "x = 2"), candidate("y", "x = 3")],
    );
    for (folder, observation) in [("org__x", "1 passed"), ("y", "1 failed")] {
        let folder = place.path(&format!("trajs/{folder}"));
        std::fs::create_dir_all(&folder).unwrap();
        let trajectory = json!([{"action": "pytest", "observation": observation}]);
        std::fs::write(folder.join("o__n-a.traj"), trajectory.to_string()).unwrap();
    }
    // A failing target of one of the two.
    let facts = |agent: Option<&str>| {
        json!({"instance_id": "o__n-a", "agent": agent, "test_facts": {"targets": [
            {"name": "t", "direct_dependencies": ["src/a.py"], "before": "passed", "after": "failed"}]}})
    };
    let review = |more: &[&str]| {
        let mut args = vec![
            "review",
            "--dataset",
            "rows.jsonl",
            "--mode",
            "deterministic",
        ];
        args.extend(["--predictions", "predictions.jsonl", "--format", "json"]);
        args.extend(more);
        let done = place.run(&args);
        assert_eq!(done.code(), 0, "{}", done.stderr());
        let report = done.json();
        let labels = report["results"].as_array().unwrap();
        let labels = labels
            .iter()
            .map(|one| one["label"].as_str().unwrap().to_owned());
        (labels.collect::<Vec<_>>(), report["faults"].clone())
    };
    let (labels, faults) = review(&["--trajectories", "trajs", "--out", "1.jsonl"]);
    assert_eq!(labels, ["accept", "reject"]);
    assert_eq!(faults, json!([]));
    write_lines(&place, "facts.jsonl", &[facts(Some("org/x"))]);
    let (labels, _) = review(&["--facts", "facts.jsonl", "--out", "2.jsonl"]);
    assert_eq!(labels, ["reject", "accept"]);
    // Whose it is stands nowhere: it is used for neither, and said.
    write_lines(&place, "facts.jsonl", &[facts(None)]);
    let (labels, faults) = review(&["--facts", "facts.jsonl", "--out", "3.jsonl"]);
    assert_eq!(labels, ["accept", "accept"]);
    let said = faults[0]["message"].as_str().unwrap();
    assert!(said.contains("not used for patch `p` of `org/x`"), "{said}");
    assert_eq!(faults.as_array().unwrap().len(), 2);
    std::fs::rename(
        place.path("trajs/y/o__n-a.traj"),
        place.path("trajs/o__n-a.traj"),
    )
    .unwrap();
    std::fs::remove_dir_all(place.path("trajs/org__x")).unwrap();
    let (labels, faults) = review(&["--trajectories", "trajs", "--out", "4.jsonl"]);
    assert_eq!(labels, ["accept", "accept"]);
    assert_eq!(faults.as_array().unwrap().len(), 2);
}

/// The parser of the row is believed before words that look like a failure.
#[test]
fn the_last_test_run_is_read_by_the_parser_of_the_row() {
    let place = Place::new();
    let mut one = row("a");
    one["log_parser"] = json!("unittest");
    write_lines(&place, "rows.jsonl", &[one]);
    let run = "noise: 3 errors\ntest_a (t.T.test_a) ... ok\ntest_b (t.T.test_b) ... expected failure\n\n\
               ----------------------------------------------------------------------\n\
               Ran 2 tests in 0.001s\n\nOK (expected failures=1)\n";
    let candidate = |name: &str, observation: &str| {
        json!({
            "instance_id": "o__n-a", "model_name_or_path": "m", "patch_id": name, "model_patch": patch("x = 2"),
            "trajectory": [{"action": "python -m unittest -v | cat", "observation": observation}],
        })
    };
    let failed = run
        .replace("expected failure\n", "FAIL\n")
        .replace("OK (expected ", "FAILED (");
    write_lines(
        &place,
        "predictions.jsonl",
        &[candidate("whole", run), candidate("failed", &failed)],
    );
    let mut args = vec![
        "review",
        "--dataset",
        "rows.jsonl",
        "--mode",
        "deterministic",
    ];
    args.extend([
        "--predictions",
        "predictions.jsonl",
        "--format",
        "json",
        "--out",
        "1.jsonl",
    ]);
    let done = place.run(&args);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let reason = |at: usize| done.json()["results"][at].to_string();
    assert!(reason(0).contains("accept"), "{}", reason(0));
    assert!(reason(1).contains("reject"), "{}", reason(1));
    let told = |at: usize| lines(&place, "1.jsonl")[at]["stages"].to_string();
    assert!(told(0).contains("2 tests, none failed"), "{}", told(0));
    assert!(told(1).contains("test_b"), "{}", told(1));
}

pub(crate) const REVIEW: [&str; 21] = [
    "review",
    "--dataset",
    "rows.jsonl",
    "--predictions",
    "predictions.jsonl",
    "--model",
    "scripted:script.jsonl",
    "--out",
    "review.jsonl",
    "--repos",
    "clones",
    "--trajectories",
    "t",
    "--facts",
    "facts.jsonl",
    "--abstentions",
    "abstain.jsonl",
    "--samples",
    "0",
    "--format",
    "json",
];

#[test]
fn review_makes_the_results_that_metrics_read() {
    let place = candidates();
    let mut args = REVIEW.to_vec();
    let done = place.run(&args);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!(
        (
            &report["accepted"],
            &report["rejected"],
            &report["abstained"]
        ),
        (&json!(2), &json!(3), &json!(1)),
        "{report:#}"
    );
    let funnel: Vec<(String, u64, u64)> = report["funnel"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| {
            let number = |name: &str| step[name].as_u64().unwrap();
            (
                step["step"].as_str().unwrap().to_owned(),
                number("patches"),
                number("bugs"),
            )
        })
        .collect();
    let expected = [
        ("all", 6, 3),
        ("abstention", 5, 2),
        ("last-test-command", 4, 2),
        ("regression-check", 3, 2),
        ("review", 2, 2),
    ];
    assert_eq!(
        funnel,
        expected.map(|(step, patches, bugs)| (step.to_owned(), patches, bugs))
    );
    // Two specifications, for two of the patches are for one bug, and three reviews: what rules reject
    // costs nothing.
    assert_eq!(report["ledger"]["calls"], 5);

    let found = lines(&place, "review.jsonl");
    assert_eq!(found.len(), 6);
    assert!((found[0]["validation"]["score"].as_f64().unwrap() - (-0.2_f64).exp()).abs() < 1e-12);
    assert_eq!(found[0]["validation"]["source"], "token_logprobs");
    // Whoever is reviewed or not, how large the patch is stands there.
    assert!(found.iter().all(|line| line["patch_size"]["files"] == 1));
    // What each of them cost; the third has the specification of the first, the second never met the model.
    let calls = [0, 1, 2].map(|at| found[at]["paid"]["calls"].clone());
    assert_eq!(calls, [json!(2), Value::Null, json!(1)]);
    assert_eq!(found[0]["paid"]["prompt_tokens"], 10);
    assert_eq!(
        found[1]["deterministic"],
        json!({"passed": false, "stage": "last-test-command"})
    );
    assert_eq!(found[2]["validation"]["accepted"], false);
    let review = &found[4]["stages"][3]["details"];
    assert_eq!(
        review["prompt_versions"],
        json!(["specification.v1", "review.v2"])
    );
    assert!(review.get("originals_missing").is_none(), "{review:#}");
    assert!(found[5].get("validation").is_none() && found[5]["abstention"]["attempt"] == false);

    let text = std::fs::read_to_string(place.path("review.jsonl")).unwrap();
    let results = read_results(text.as_bytes()).unwrap();
    assert_eq!(results.candidates.len(), 6);
    let first = &results.candidates[0];
    assert!(first.resolved && first.validation.as_ref().unwrap().accepted);
    let abstention = first.abstention.as_ref().unwrap();
    assert!((abstention.probability - 0.9).abs() < 1e-12);

    // The same results under a percentile: nothing is asked again.
    args.extend(["--percentile", "75"]);
    let again = place.run(&args).json();
    assert_eq!(
        (&again["ledger"]["calls"], &again["known"]),
        (&json!(0), &json!(6))
    );
    // Of 0, exp(-0.9), exp(-0.2): half way between the latter two.
    let middle = f64::midpoint((-0.9_f64).exp(), (-0.2_f64).exp());
    assert!(
        (again["cutoff"].as_f64().unwrap() - middle).abs() < 1e-9,
        "{again:#}"
    );
    assert_eq!(
        again["funnel"].as_array().unwrap().last().unwrap()["patches"],
        1
    );
}

#[test]
fn rules_alone_need_no_model() {
    let place = candidates();
    let done = place.run(&[
        "review",
        "--dataset",
        "rows.jsonl",
        "--predictions",
        "predictions.jsonl",
        "--mode",
        "deterministic",
        "--out",
        "rules.jsonl",
        "--facts",
        "facts.jsonl",
    ]);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    assert!(
        done.stdout().contains("4 accepted, 2 rejected"),
        "{}",
        done.stdout()
    );
    let done = place.run(&[
        "review",
        "--dataset",
        "rows.jsonl",
        "--predictions",
        "null",
        "--mode",
        "deterministic",
        "--out",
        "null.jsonl",
    ]);
    assert!(
        done.stdout().contains("0 accepted, 3 rejected"),
        "{}",
        done.stdout()
    );
}

#[test]
fn a_file_has_one_writer() {
    let place = three_rows();
    let file = std::fs::File::create(place.path("abstain.jsonl")).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    write_lines(&place, "script.jsonl", &[label_rule("a", 0.8)]);
    let done = abstain(&place, &[]);
    assert!(
        done.code() == 1 && done.stderr().contains("another run"),
        "{}",
        done.stderr()
    );
}

#[test]
fn run_reports_tell_of_single_patches_only() {
    let place = candidates();
    let report = json!({
        "total_instances": 3, "submitted_instances": 3, "completed_instances": 3, "resolved_instances": 3,
        "unresolved_instances": 0, "empty_patch_instances": 0, "error_instances": 0, "completed_ids": [],
        "incomplete_ids": [], "empty_patch_ids": [], "submitted_ids": [], "resolved_ids": ["o__n-a", "o__n-c"],
        "unresolved_ids": [], "error_ids": [],
    });
    std::fs::write(place.path("m.run.json"), report.to_string()).unwrap();
    let mut predictions = lines(&place, "predictions.jsonl");
    for prediction in &mut predictions {
        prediction.as_object_mut().unwrap().remove("resolved");
    }
    write_lines(&place, "predictions.jsonl", &predictions);
    let done = place.run(&[
        "review",
        "--dataset",
        "rows.jsonl",
        "--predictions",
        "predictions.jsonl",
        "--mode",
        "deterministic",
        "--out",
        "rules.jsonl",
        "--report",
        "m.run.json",
    ]);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let found = lines(&place, "rules.jsonl");
    let told: Vec<Option<bool>> = found
        .iter()
        .map(|line| line.get("resolved").and_then(Value::as_bool))
        .collect();
    assert_eq!(told, [None, None, None, None, None, Some(true)]);
}

/// What is too long is cut: by the limits that are given, and by the context that the model is known to have.
#[test]
fn parts_of_a_prompt_have_limits() {
    let place = Place::new();
    let mut long = row("1");
    long["problem_statement"] = json!(format!("Title\n\n{}", "a line of words\n".repeat(4000)));
    write_lines(&place, "rows.jsonl", &[long]);
    std::fs::write(
        place.path("atlas.toml"),
        "[models.small]\nprovider = \"scripted\"\ncontext_window = 8000\n[models.usual]\nprovider = \"scripted\"\n",
    )
    .unwrap();
    let run = |model: &str, more: &[&str]| {
        let mut args = vec!["review", "--dataset", "rows.jsonl", "--predictions", "gold"];
        args.extend(["--show-prompt", "--model", model]);
        args.extend(more);
        place.run(&args)
    };
    let told = |model: &str, more: &[&str]| {
        let done = run(model, more);
        assert_eq!(done.code(), 0, "{}", done.stderr());
        done.stdout()
    };
    let usual = told("usual", &[]);
    assert!(usual.len() > 64_000 && !usual.contains("left out here"));
    let given = told("usual", &["--limit", "report=500"]);
    assert!(
        given.contains("left out here") && given.len() < 15_000,
        "{}",
        given.len()
    );
    let small = told("small", &[]);
    assert!(
        small.contains("left out here") && small.len() < 8000 * 3,
        "{}",
        small.len()
    );
    let own = told("small", &["--limit", "report=17000"]);
    assert!(own == usual, "{} is not {}", own.len(), usual.len());
    for wrong in ["file=10", "files", "files=many", "files=0"] {
        let done = run("usual", &["--limit", wrong]);
        assert_eq!(done.code(), 2, "{wrong}");
        assert!(
            done.stderr()
                .contains("report, patch, files, tests, trajectory"),
            "{}",
            done.stderr()
        );
    }
}

/// Abstention and critics cut as reviews do, by `--limit` or by the model's context, and say so.
#[test]
fn abstention_and_critics_have_limits() {
    let place = Place::new();
    let mut long = row("1");
    long["problem_statement"] = json!(format!("Title\n\n{}", "a line of words\n".repeat(4000)));
    write_lines(&place, "rows.jsonl", &[long]);
    let verdict = json!({"reasoning": "so", "verdict": "pass", "confidence": 90}).to_string();
    write_lines(
        &place,
        "critic.script",
        &[json!({"holds": "e", "text": verdict})],
    );
    let table =
        |name: &str, more: &str| format!("[models.{name}]\nprovider = \"scripted\"\n{more}\n");
    let tables = [
        table("small", "context_window = 8000"),
        table("usual", ""),
        table("answers", "context_window = 8000\nfile = \"critic.script\""),
    ];
    std::fs::write(place.path("atlas.toml"), tables.join("\n")).unwrap();
    let abstain = ["abstain", "--dataset", "rows.jsonl"];
    let critic = [
        "critic",
        "--dataset",
        "rows.jsonl",
        "--predictions",
        "gold",
        "--mode",
        "problem",
        "--variant",
        "default",
    ];
    for (command, part) in [(&abstain[..], "report"), (&critic[..], "problem")] {
        let told = |model: &str, more: &[&str]| {
            let done = place.run(&[command, &["--show-prompt", "--model", model], more].concat());
            assert_eq!(done.code(), 0, "{}", done.stderr());
            done.stdout()
        };
        let usual = told("usual", &[]);
        assert!(usual.len() > 64_000 && !usual.contains("left out here"));
        let given = told("usual", &["--limit", &format!("{part}=500")]);
        assert!(
            given.contains("left out here") && given.len() < 8000,
            "{}",
            given.len()
        );
        let small = told("small", &[]);
        assert!(
            small.contains("left out here") && small.len() < 8000 * 3,
            "{}",
            small.len()
        );
        let own = told("small", &["--limit", &format!("{part}=17000")]);
        assert!(own == usual, "{} is not {}", own.len(), usual.len());
        let wrong = place.run(
            &[
                command,
                &["--out", "x", "--model", "usual", "--limit", "file=10"],
            ]
            .concat(),
        );
        assert!(
            wrong.code() == 2 && wrong.stderr().contains(part),
            "{}",
            wrong.stderr()
        );
    }
    let done = place.run(&[&critic[..], &["--model", "answers", "--out", "c.jsonl"]].concat());
    assert_eq!(done.code(), 0, "{}", done.stderr());
    assert_eq!(
        lines(&place, "c.jsonl")[0]["judgement"]["details"]["cut"],
        json!(["problem"])
    );
}

#[test]
fn rows_are_written_with_what_is_known_of_them() {
    let place = Place::new();
    let rows = [
        r#"{"instance_id":"a__a-1","repo":"a/a","patch":"--- a/x.py\n+++ b/x.py\n@@ -1 +1,2 @@\n import torch\n+b\n","test_patch":"--- a/t.py\n+++ b/t.py\n@@ -1 +1,2 @@\n a\n+b\n","problem_statement":"[BUG] x","labels":["bug"],"n":1.0,"atlas":{"kind":"bug_fix"}}"#,
        r#"{"instance_id":"a__a-2","repo":"a/a","patch":"--- a/x.py\n+++ b/x.py\n@@ -1 +1,2 @@\n a\n+b\n","problem_statement":"x"}"#,
    ];
    std::fs::write(place.path("rows.jsonl"), rows.join("\n") + "\n").unwrap();
    let args = [
        "judge",
        "--question",
        "classes",
        "--dataset",
        "rows.jsonl",
        "--out",
        "classes.jsonl",
        "--rows-out",
        "curated.jsonl",
        "--format",
        "json",
    ];
    let done = place.run(&args);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!(report["curated"]["rows"], 2);
    assert_eq!(
        report["curated"]["tables"]["files"]["rows"][0]["class"],
        "1"
    );
    assert_eq!(report["tables"]["domain"]["total"], 2);
    let text = std::fs::read_to_string(place.path("curated.jsonl")).unwrap();
    assert!(
        text.contains(r#""n":1.0,"#),
        "other columns keep their bytes: {text}"
    );
    let found: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let first = &found[0]["atlas"];
    assert_eq!(
        (&first["kind"], &found[0]["domain"]),
        (&json!("bug_fix"), &json!("ai-ml"))
    );
    let curation = &first["curation"];
    assert_eq!(curation["code_type"]["class"], "bug-fix");
    assert_eq!(curation["code_type"]["evidence"]["source"], "labels");
    assert_eq!(curation["domain"]["evidence"]["text"], "import torch");
    assert_eq!(curation["difficulty"]["files_bin"], "2-4");
    let second = &found[1];
    assert_eq!(second["atlas"]["curation"]["code_type"]["source"], "nobody");
    assert!(second.get("domain").is_none());
    // Again: nothing is asked, and the same bytes come out.
    assert_eq!(place.run(&args).code(), 0);
    assert_eq!(
        std::fs::read_to_string(place.path("curated.jsonl")).unwrap(),
        text
    );
    let wrong = place.run(&[
        "judge",
        "--question",
        "alignment",
        "--dataset",
        "rows.jsonl",
        "--out",
        "x",
        "--rows-out",
        "y",
    ]);
    assert_eq!(wrong.code(), 1);
    assert!(
        wrong.stderr().contains("--question classes"),
        "{}",
        wrong.stderr()
    );
}
