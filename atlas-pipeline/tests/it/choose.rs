//! `atlas choose`: one of several patches for each task.

use crate::judging::{candidates, lines, write_lines};
use crate::support::{Done, Place};
use serde_json::{Value, json};

fn patch(line: &str) -> String {
    format!("--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-x = 1\n+{line}\n")
}

fn prediction(id: &str, agent: &str, name: &str, line: &str) -> Value {
    json!({
        "instance_id": id, "model_name_or_path": agent, "patch_id": name, "model_patch": patch(line),
        "mine": {"kept": [1.50, null]}, "resolved": name.starts_with("good"),
    })
}

fn choose(place: &Place, more: &[&str]) -> Done {
    let args = [
        "choose",
        "--predictions",
        "p.jsonl",
        "--out",
        "chosen.jsonl",
    ];
    place.run(&[&args[..], &["--format", "json"], more].concat())
}

fn chosen(place: &Place) -> Vec<String> {
    let of = |line: &Value| {
        let text = |name: &str| line[name].as_str().unwrap().to_owned();
        format!(
            "{} {} {}",
            text("instance_id"),
            text("model_name_or_path"),
            text("patch_id")
        )
    };
    lines(place, "chosen.jsonl").iter().map(of).collect()
}

fn several() -> Place {
    let place = Place::new();
    write_lines(
        &place,
        "p.jsonl",
        &[
            prediction("t-2", "m", "odd", "raise first + 1"),
            prediction("t-2", "m", "good", "return first + 1"),
            prediction("t-2", "m", "good-too", "return second + 1"),
            prediction("t-1", "m", "bad", "return 0"),
            prediction("t-1", "n", "good-n", "return 1"),
            prediction("t-1", "n", "good-m", "return 1"),
        ],
    );
    place
}

#[test]
fn the_most_frequent_patch_of_each_agent_is_chosen() {
    let place = several();
    let done = choose(&place, &[]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    assert_eq!(chosen(&place), ["t-2 m good", "t-1 m bad", "t-1 n good-n"]);
    let report = done.json();
    let votes: Vec<&Value> = report["choices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["votes"])
        .collect();
    assert_eq!(votes, [&json!(2), &json!(1), &json!(2)]);
    assert_eq!(report["resolved"], 2);
    // Every column stays as it was written.
    let first = std::fs::read_to_string(place.path("chosen.jsonl")).unwrap();
    assert!(first.contains(r#""mine":{"kept":[1.5,null]}"#), "{first}");
    let done = choose(&place, &["--among", "all", "--name", "all of them"]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    assert_eq!(
        chosen(&place),
        ["t-2 all of them good", "t-1 all of them good-n"]
    );
    assert_eq!(done.json()["choices"][1]["agent"], "n");
}

#[test]
fn what_the_results_do_not_accept_is_not_chosen() {
    let place = several();
    let said = |id: &str, agent: &str, name: &str, accepted: bool, score: f64| {
        json!({"instance_id": id, "agent": agent, "patch_id": name, "accepted": accepted,
            "validation": {"accepted": accepted, "score": score, "source": "logprobs"}})
    };
    let results = [
        said("t-2", "m", "odd", true, 0.9),
        said("t-2", "m", "good", true, 0.7),
        said("t-2", "m", "good-too", true, 0.8),
        said("t-1", "m", "bad", false, 0.0),
        said("t-1", "n", "good-n", false, 0.2),
    ];
    write_lines(&place, "r.jsonl", &results);
    let done = choose(&place, &["--results", "r.jsonl"]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    assert_eq!(chosen(&place), ["t-2 m good"]);
    let report = done.json();
    assert_eq!(report["without"], json!(["t-1 (m)", "t-1 (n)"]));
    let counts = [
        &report["accepted"],
        &report["unjudged"],
        &report["choices"][0]["accepted"],
    ];
    assert_eq!(counts, [&json!(3), &json!(1), &json!(3)]);
    assert_eq!(
        choose(&place, &["--results", "r.jsonl", "--rule", "score"]).code(),
        0
    );
    assert_eq!(chosen(&place), ["t-2 m odd"]);
    // A critic accepts what it says passes.
    let critic = [
        json!({"instance_id": "t-1", "agent": "n", "patch_id": "good-m", "label": "pass", "progress": 1.0}),
        json!({"instance_id": "t-1", "agent": "n", "patch_id": "good-n", "label": "abstained"}),
        json!({"instance_id": "t-1", "agent": "m", "patch_id": "bad", "error": "no answer"}),
    ];
    write_lines(&place, "c.jsonl", &critic);
    assert_eq!(choose(&place, &["--results", "c.jsonl"]).code(), 0);
    assert_eq!(chosen(&place), ["t-1 n good-m"]);
}

#[test]
fn what_cannot_be_used_is_named() {
    let place = several();
    let line = |more: Value| {
        let mut line = json!({"instance_id": "t-2", "agent": "m", "patch_id": "good"});
        line.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        line
    };
    let accepted = line(json!({"accepted": true}));
    for (results, more, expected) in [
        (
            vec![json!({"instance_id": "t-2"})],
            &[][..],
            "line 1: `instance_id`, `agent` and `patch_id` are not all there",
        ),
        (
            vec![accepted.clone(), line(json!({"x": 1}))],
            &[],
            "line 2: neither `accepted` nor a `label`",
        ),
        (
            vec![accepted.clone(), line(json!({"accepted": false}))],
            &[],
            "line 2: an earlier line says something else",
        ),
        (
            vec![accepted],
            &["--rule", "score"],
            "no score for patch `good` of `m` for `t-2`; choose by vote",
        ),
    ] {
        write_lines(&place, "r.jsonl", &results);
        let _ = std::fs::remove_file(place.path("chosen.jsonl"));
        let done = choose(&place, &[&["--results", "r.jsonl"], more].concat());
        assert_eq!(done.code(), 1);
        assert!(done.stderr().contains(expected), "{}", done.stderr());
        assert!(!place.path("chosen.jsonl").exists());
    }
    write_lines(
        &place,
        "p.jsonl",
        &[
            prediction("t", "m", "a", "b"),
            prediction("t", "m", "a", "c"),
        ],
    );
    let done = choose(&place, &[]);
    assert_eq!(done.json()["faults"][0]["line"], 2);
    assert_eq!(chosen(&place), ["t m a"]);
}

/// From the results that `atlas review` writes itself.
#[test]
fn a_review_is_chosen_from() {
    let place = candidates();
    let args = [
        "review",
        "--dataset",
        "rows.jsonl",
        "--predictions",
        "predictions.jsonl",
        "--out",
        "review.jsonl",
    ];
    let args = [
        &args[..],
        &[
            "--mode",
            "deterministic",
            "--facts",
            "facts.jsonl",
            "--abstentions",
            "abstain.jsonl",
        ],
    ];
    let done = place.run(&args.concat());
    assert_eq!(done.code(), 0, "{}", done.stderr());
    std::fs::rename(place.path("predictions.jsonl"), place.path("p.jsonl")).unwrap();
    let done = choose(&place, &["--results", "review.jsonl"]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    assert_eq!(chosen(&place), ["o__n-a m good", "o__n-b m good"]);
    let report = done.json();
    // Nothing of the third was looked at: the policy abstains from it.
    assert_eq!(
        (&report["without"], &report["unjudged"]),
        (&json!(["o__n-c (m)"]), &json!(0))
    );
    assert_eq!(report["resolved"], 2);
}
