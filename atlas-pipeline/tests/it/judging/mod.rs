//! Judges over files, with scripted models and servers.

mod abstention;
mod batch;
mod faults;
mod limits;
pub(crate) mod paid;
mod review;
mod rows;

use crate::support::{Done, Place, git};
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
