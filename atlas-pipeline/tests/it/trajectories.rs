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
