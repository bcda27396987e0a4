//! `atlas trajectories`: files in, verdicts and files out.

use crate::support::Place;
use serde_json::{Value, json};

/// A SWE-agent recording of these thoughts and commands.
fn recording(steps: &[(&str, &str)], status: &str) -> String {
    let steps: Vec<Value> = steps
        .iter()
        .map(|(thought, action)| json!({"thought": thought, "action": action, "observation": "ok"}))
        .collect();
    json!({"trajectory": steps, "history": [{"role": "user", "content": "Repair it."}], "info": {"exit_status": status}})
        .to_string()
}

const HONEST: [(&str, &str); 2] = [("Look.", "ls"), ("Done.", "submit")];
const TOLD: [(&str, &str); 2] = [("The hint names it.", "ls"), ("Done.", "submit")];

/// A place with recordings: an honest one, one whose thought speaks of the hint, one that was cut off.
fn place() -> Place {
    let place = Place::new();
    let write = |name: &str, text: &str| {
        let path = place.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("runs/a/shop__cart-1.traj", &recording(&HONEST, "submitted"));
    write("runs/b/shop__cart-2.traj", &recording(&TOLD, "submitted"));
    write(
        "runs/c/shop__cart-3.traj",
        &recording(&HONEST[..1], "exit_cost"),
    );
    write("runs/notes.txt", "no recording");
    write(
        "rewritten/shop__cart-2.traj",
        &recording(&HONEST, "submitted"),
    );
    write(
        "hints.jsonl",
        "{\"instance_id\":\"shop__cart-1\",\"hint\":\"- `cart.py`: `def total(items, tax)`\"}\n",
    );
    place
}

#[test]
fn gates_are_counted_and_what_passes_goes_to_people() {
    let place = place();
    let args = [
        "trajectories",
        "check",
        "runs",
        "--hints",
        "hints.jsonl",
        "--review",
        "pages",
        "--format",
        "json",
    ];
    let done = place.run(&args);
    assert_eq!(done.code(), 3, "{}", done.stderr());
    let report: Value = serde_json::from_str(&done.stdout()).unwrap();
    assert_eq!(report["accepted"], 1);
    assert_eq!(report["without_hint"], 2);
    assert_eq!(
        report["findings"],
        json!({"final_submit": {"no_final_submit": 1}, "hint_words": {"hint_in_thought": 1}})
    );
    let ids: Vec<&Value> = report["trajectories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["instance_id"])
        .collect();
    assert_eq!(ids, ["shop__cart-1", "shop__cart-2", "shop__cart-3"]);
    let table = std::fs::read_to_string(place.path("pages/review.csv")).unwrap();
    assert_eq!(
        table,
        "page,instance_id,decision,comment\n000001.md,shop__cart-1,,\n"
    );
    let page = std::fs::read_to_string(place.path("pages/000001.md")).unwrap();
    assert!(page.starts_with("# shop__cart-1\n"), "{page}");

    // Answers of people are not written over.
    let again = place.run(&args);
    assert_eq!(again.code(), 1);
    assert!(again.stderr().contains("review.csv"), "{}", again.stderr());
}

#[test]
fn rewritten_thoughts_are_held_to_their_originals() {
    let place = place();
    let check = [
        "trajectories",
        "check",
        "rewritten",
        "--originals",
        "runs/b",
    ];
    assert_eq!(place.run(&check).code(), 0);
    let changed = recording(&[("Look.", "ls -a"), ("Done.", "submit")], "submitted");
    std::fs::write(place.path("rewritten/shop__cart-2.traj"), changed).unwrap();
    let done = place.run(&check);
    assert_eq!(done.code(), 3);
    assert!(
        done.stdout().contains("more_than_thoughts"),
        "{}",
        done.stdout()
    );
    let missing = place.run(&[
        "trajectories",
        "check",
        "rewritten",
        "--originals",
        "runs/a",
    ]);
    assert_eq!(missing.code(), 1, "no original is no pass");
}

#[test]
fn what_is_converted_is_read_as_it_was() {
    let place = place();
    let done = place.run(&[
        "trajectories",
        "convert",
        "runs",
        "--out",
        "all.jsonl",
        "--format",
        "json",
    ]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let read = |file: &str| -> Value {
        let shown = place.run(&["trajectories", "show", file, "--format", "json"]);
        serde_json::from_str(&shown.stdout()).unwrap()
    };
    let all = read("all.jsonl");
    assert_eq!(all.as_array().unwrap().len(), 3);
    assert_eq!(
        all[1]["extra"]["instance_id"], "shop__cart-2",
        "it is not lost with the file's name"
    );
    assert_eq!(
        all[1]["steps"],
        read("runs/b/shop__cart-2.traj")[0]["steps"]
    );

    let several = place.run(&["trajectories", "convert", "runs", "--out", "all.json"]);
    assert_eq!(several.code(), 1);
    assert!(
        several.stderr().contains("name a .jsonl file"),
        "{}",
        several.stderr()
    );
    assert!(!place.path("all.json").exists());
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_checked() {
    let place = place();
    std::fs::write(place.path("runs/a/broken.json"), "{\"no\": 1}").unwrap();
    let done = place.run(&["trajectories", "check", "runs/a", "--format", "json"]);
    assert_eq!(done.code(), 1);
    let report: Value = serde_json::from_str(&done.stdout()).unwrap();
    assert_eq!(report["accepted"], 1);
    let fault = report["faults"][0].as_str().unwrap();
    assert!(
        fault.contains("broken.json") && fault.contains("line 1"),
        "{fault}"
    );
    std::fs::create_dir(place.path("empty")).unwrap();
    let empty = place.run(&["trajectories", "check", "empty"]);
    assert_eq!(empty.code(), 1);
    assert!(
        empty.stderr().contains("holds no .traj"),
        "{}",
        empty.stderr()
    );
}

/// An answer of the judge with these scores, in the paper's order, that quotes the first step's action.
fn judged(scores: [u8; 4]) -> String {
    let names = ["reproduction", "plausibility", "validation", "practices"];
    let dimension = |name: &&str| json!({"dimension": name, "assessment": "So.", "evidence": [{"step": 2, "quote": "cat cart.py"}]});
    let dimensions: Vec<Value> = names.iter().map(dimension).collect();
    let scores: serde_json::Map<String, Value> = names
        .iter()
        .zip(scores)
        .map(|(name, score)| ((*name).to_owned(), score.into()))
        .collect();
    json!({"is_bug_fix": true, "dimensions": dimensions, "explanation": "As told.", "scores": scores}).to_string()
}

#[test]
fn what_a_judge_refuses_is_not_accepted() {
    let place = Place::new();
    std::fs::create_dir(place.path("runs")).unwrap();
    let mut script = String::new();
    for (at, scores) in [[0, 0, 1, 1], [0, 0, 0, 2], [3, 0, 2, 0]]
        .iter()
        .enumerate()
    {
        let thought = format!("Attempt {at}.");
        let steps = [(thought.as_str(), "cat cart.py"), ("Done.", "submit")];
        let name = format!("runs/shop__cart-{at}.traj");
        std::fs::write(place.path(&name), recording(&steps, "submitted")).unwrap();
        let answer = json!({"holds": thought, "text": judged(*scores)});
        script.extend([answer.to_string(), "\n".to_owned()]);
    }
    std::fs::write(place.path("script.jsonl"), script).unwrap();
    let judge = [
        "trajectories",
        "judge",
        "runs",
        "--model",
        "scripted:script.jsonl",
        "--out",
        "judged.jsonl",
        "--format",
        "json",
    ];
    let done = place.run(&judge);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let report: Value = serde_json::from_str(&done.stdout()).unwrap();
    assert_eq!(report["accepted"], 1);
    assert_eq!(
        report["findings"],
        json!({"practices": 1, "reproduction": 1, "validation": 1})
    );
    assert_eq!(report["results"][0]["scores"]["validation"], 1);
    // What is known is not asked again: the script has no answer left.
    let again: Value = serde_json::from_str(&place.run(&judge).stdout()).unwrap();
    assert_eq!(
        (&again["known"], &again["accepted"]),
        (&json!(3), &json!(1))
    );

    let check = [
        "trajectories",
        "check",
        "runs",
        "--judged",
        "judged.jsonl",
        "--format",
        "json",
    ];
    let done = place.run(&check);
    assert_eq!(done.code(), 3);
    let report: Value = serde_json::from_str(&done.stdout()).unwrap();
    assert_eq!(report["accepted"], 1);
    let verdict = &report["trajectories"][1]["verdicts"][2];
    assert_eq!(
        verdict["findings"][0]["evidence"][0],
        json!({"source": "step 2 action", "line": 1, "text": "cat cart.py"})
    );
    // A trajectory that changed is another one.
    std::fs::write(
        place.path("runs/shop__cart-0.traj"),
        recording(&HONEST, "submitted"),
    )
    .unwrap();
    let report: Value = serde_json::from_str(&place.run(&check).stdout()).unwrap();
    assert_eq!(report["accepted"], 0);
    assert_eq!(report["findings"]["judged_quality"]["not_judged"], 1);
}

#[test]
fn thoughts_are_rewritten_beside_their_originals() {
    let place = place();
    let answer = json!({"holds": "The hint names it.", "text": "Look."});
    std::fs::write(place.path("script.jsonl"), answer.to_string()).unwrap();
    let rewrite = [
        "trajectories",
        "rewrite",
        "runs",
        "--to",
        "anew",
        "--model",
        "scripted:script.jsonl",
        "--out",
        "results.jsonl",
        "--format",
        "json",
    ];
    let done = place.run(&rewrite);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let report: Value = serde_json::from_str(&done.stdout()).unwrap();
    assert_eq!(
        (&report["thoughts"], &report["accepted"], &report["written"]),
        (&json!(1), &json!(3), &json!(3))
    );
    // As it was killed after the answers and before the files.
    std::fs::remove_dir_all(place.path("anew")).unwrap();
    let again: Value = serde_json::from_str(&place.run(&rewrite).stdout()).unwrap();
    assert_eq!((&again["known"], &again["written"]), (&json!(3), &json!(3)));

    let check = [
        "trajectories",
        "check",
        "anew",
        "--originals",
        "runs",
        "--format",
        "json",
    ];
    let report: Value = serde_json::from_str(&place.run(&check).stdout()).unwrap();
    assert_eq!(
        report["findings"],
        json!({"final_submit": {"no_final_submit": 1}})
    );
    let shown = place
        .run(&["trajectories", "show", "anew/b/shop__cart-2.traj"])
        .stdout();
    assert!(
        shown.contains("Look.") && !shown.contains("hint"),
        "{shown}"
    );
    let original = std::fs::read_to_string(place.path("runs/b/shop__cart-2.traj")).unwrap();
    assert_eq!(original, recording(&TOLD, "submitted"));

    let over = [
        "trajectories",
        "rewrite",
        "runs",
        "--to",
        "runs",
        "--model",
        "scripted:script.jsonl",
        "--out",
        "other.jsonl",
    ];
    let refused = place.run(&over);
    assert_eq!(refused.code(), 1);
    assert!(
        refused.stderr().contains("it holds the originals"),
        "{}",
        refused.stderr()
    );
}

#[test]
fn a_thought_that_no_answer_betters_is_told() {
    let place = place();
    let answer = json!({"holds": "The hint names it.", "text": "As hinted.", "times": 0});
    std::fs::write(place.path("script.jsonl"), answer.to_string()).unwrap();
    let done = place.run(&[
        "trajectories",
        "rewrite",
        "runs/b",
        "--to",
        "anew",
        "--model",
        "scripted:script.jsonl",
        "--out",
        "results.jsonl",
        "--format",
        "json",
    ]);
    let report: Value = serde_json::from_str(&done.stdout()).unwrap();
    assert_eq!(report["accepted"], 0);
    assert_eq!(report["results"][0]["findings"], json!(["hint_in_thought"]));
}
