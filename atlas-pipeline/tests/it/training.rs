//! `atlas trajectories export`: recordings in, training data out.

use crate::support::Place;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const HINT: &str = "- `cart.py`: `def total(items, tax)`";

/// A recording of SWE-agent with a thought of its own.
fn recording(thought: &str) -> String {
    let told = format!("Repair it.\n\n## Hints\n{HINT}\n");
    json!({
        "trajectory": [
            {"thought": thought, "action": "pytest -q", "observation": "1 failed\nexit code: 1"},
            {"thought": "Done.", "action": "submit", "observation": "Submitted."},
        ],
        "history": [{"role": "system", "content": "You repair bugs."}, {"role": "user", "content": told}],
        "info": {"exit_status": "submitted"},
    })
    .to_string()
}

/// Words that say something of their own.
fn statement(of: &str) -> String {
    let words: Vec<String> = (0..40).map(|at| format!("{of}{at} ")).collect();
    words.concat()
}

/// Five instances of four repositories; `d__d-1` tells the story of `a__a-1`. Two attempts at `a__a-1`.
fn place() -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path("runs")).unwrap();
    std::fs::create_dir(place.path("runs/again")).unwrap();
    let mut rows = String::new();
    let mut hints = String::new();
    let instances = [
        ("a__a-1", "Go", "2024-01-05T10:00:00Z", "cart"),
        ("a__a-2", "Go", "2024-02-05 10:00:00", "list"),
        ("b__b-1", "Ruby", "2024-03-05", "mail"),
        ("c__c-1", "Rust", "2024-06-05T10:00:00Z", "wall"),
        ("d__d-1", "Rust", "2024-07-05T10:00:00Z", "cart"),
    ];
    for (id, language, created_at, story) in instances {
        std::fs::write(place.path(&format!("runs/{id}.traj")), recording(id)).unwrap();
        let repo = id[..4].replace("__", "/");
        let row = json!({"instance_id": id, "repo": repo, "base_commit": "0".repeat(40), "patch": "", "test_patch": "",
            "problem_statement": statement(story), "created_at": created_at, "language": language,
            "FAIL_TO_PASS": "[]", "PASS_TO_PASS": "[]"});
        rows.extend([row.to_string(), "\n".to_owned()]);
        let hint = json!({"instance_id": id, "hint": HINT});
        hints.extend([hint.to_string(), "\n".to_owned()]);
    }
    std::fs::write(place.path("runs/again/a__a-1.traj"), recording("Another.")).unwrap();
    std::fs::write(place.path("rows.jsonl"), rows).unwrap();
    std::fs::write(place.path("hints.jsonl"), hints).unwrap();
    place
}

/// Exports and gives the report.
fn export(place: &Place, out: &str, more: &[&str]) -> Value {
    let mut args = vec![
        "trajectories",
        "export",
        "runs",
        "--dataset",
        "rows.jsonl",
        "--out",
        out,
        "--format",
        "json",
    ];
    args.extend(more);
    let done = place.run(&args);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    serde_json::from_str(&done.stdout()).unwrap()
}

fn lines(place: &Place, file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(place.path(file)).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The instances of a file, once each.
fn instances(place: &Place, file: &str) -> Vec<String> {
    let mut all: Vec<String> = lines(place, file)
        .iter()
        .map(|row| row["instance_id"].as_str().unwrap().to_owned())
        .collect();
    all.dedup();
    all
}

#[test]
fn rows_have_no_hint_and_statistics_tell_density_and_diversity() {
    let place = place();
    let report = export(
        &place,
        "out",
        &["--hints", "hints.jsonl", "--config", "axolotl"],
    );
    assert_eq!(
        (&report["hints_taken_out"], &report["speak_of_hint"]),
        (&json!(6), &json!(0))
    );
    let rows = lines(&place, "out/train.jsonl");
    assert_eq!(rows.len(), 6);
    for row in &rows {
        assert_eq!(row["messages"][1]["content"], "Repair it.");
        assert!(!row.to_string().to_lowercase().contains("hint"), "{row}");
    }
    assert_eq!(
        (&rows[0]["repo"], &rows[0]["language"]),
        (&json!("a/a"), &json!("go"))
    );
    let mixture = &report["sides"]["train"]["mixture"];
    assert_eq!(
        (
            &mixture["trajectories"],
            &mixture["instances"],
            &mixture["density"]
        ),
        (&json!(6), &json!(5), &json!(1.2))
    );
    assert_eq!(
        mixture["by_language"]["go"],
        json!({"trajectories": 3, "instances": 2, "density": 1.5})
    );
    assert_eq!(
        mixture["instances_by_trajectories"],
        json!({"1": 4, "2": 1})
    );
    let written: Value =
        serde_json::from_slice(&std::fs::read(place.path("out/statistics.json")).unwrap()).unwrap();
    assert_eq!(written, report);
    // The same again is the same, and what is not written any more is gone.
    let before = std::fs::read(place.path("out/train.jsonl")).unwrap();
    let diverse = export(
        &place,
        "out",
        &["--hints", "hints.jsonl", "--per-instance", "1"],
    );
    assert_eq!(diverse["left_out"], json!({"over_per_instance": 1}));
    assert_eq!(diverse["sides"]["train"]["mixture"]["density"], 1.0);
    assert!(!place.path("out/axolotl.yaml").exists());
    export(&place, "out", &["--hints", "hints.jsonl"]);
    assert_eq!(
        std::fs::read(place.path("out/train.jsonl")).unwrap(),
        before
    );
}

#[test]
fn no_repository_and_no_near_duplicate_is_on_both_sides() {
    let place = place();
    let mut sizes = std::collections::BTreeSet::new();
    for seed in ["0", "1", "2", "3", "4", "5", "6", "7"] {
        let report = export(
            &place,
            "out",
            &[
                "--split",
                "repository",
                "--test-share",
                "0.4",
                "--seed",
                seed,
            ],
        );
        assert_eq!(report["near_duplicates"], json!([["a__a-1", "d__d-1"]]));
        let side = |name: &str| {
            let rows = report["sides"][name]["rows"].as_u64().unwrap();
            if rows == 0 {
                Vec::new()
            } else {
                instances(&place, &format!("out/{name}.jsonl"))
            }
        };
        let (train, test) = (side("train"), side("test"));
        let together = ["a__a-1", "a__a-2", "d__d-1"];
        for all in [&train, &test] {
            let count = together
                .iter()
                .filter(|id| all.contains(&(**id).to_owned()))
                .count();
            assert!(count == 0 || count == 3, "{all:?}");
        }
        assert_eq!(train.len() + test.len(), 6, "{train:?} {test:?}");
        sizes.insert(test.len());
    }
    assert!(sizes.len() > 1, "seeds give other splits: {sizes:?}");
}

#[test]
fn what_is_learnt_is_older_than_what_is_tested() {
    let place = place();
    let report = export(&place, "out", &["--split", "time", "--from", "2024-06-01"]);
    // a__a-1 is old, but d__d-1 tells the same story later.
    assert_eq!(instances(&place, "out/train.jsonl"), ["a__a-2", "b__b-1"]);
    assert_eq!(report["moved"], 1);
    assert_eq!(report["sides"]["test"]["rows"], 4);
    let loose = export(
        &place,
        "out",
        &["--split", "time", "--from", "2024-06-01", "--near", "1"],
    );
    assert_eq!(
        loose["moved"], 1,
        "the very same text is near at any likeness"
    );

    let without = place.run(&[
        "trajectories",
        "export",
        "runs",
        "--out",
        "out",
        "--split",
        "time",
        "--from",
        "2024-06-01",
    ]);
    assert_eq!(without.code(), 1);
    assert!(
        without.stderr().contains("no `created_at` is known"),
        "{}",
        without.stderr()
    );
    let without = place.run(&[
        "trajectories",
        "export",
        "runs",
        "--out",
        "out",
        "--split",
        "time",
    ]);
    assert_eq!(without.code(), 2);
}

#[test]
fn repositories_that_are_evaluated_on_and_refused_attempts_are_left_out() {
    let place = place();
    std::fs::write(
        place.path("bench.jsonl"),
        lines(&place, "rows.jsonl")[2].to_string(),
    )
    .unwrap();
    let report = export(&place, "out", &["--held-out", "bench.jsonl"]);
    assert_eq!(report["left_out"], json!({"held_out": 1}));
    assert!(!instances(&place, "out/train.jsonl").contains(&"b__b-1".to_owned()));

    std::fs::write(
        place.path("runs/c__c-1.traj"),
        recording("The hint says so."),
    )
    .unwrap();
    let checked = place.run(&["trajectories", "check", "runs", "--format", "json"]);
    assert_eq!(checked.code(), 3);
    std::fs::write(place.path("checked.json"), checked.stdout()).unwrap();
    std::fs::write(place.path("runs/e__e-1.traj"), recording("Later.")).unwrap();
    let report = export(&place, "out", &["--checked", "checked.json"]);
    assert_eq!(
        report["left_out"],
        json!({"not_accepted": 1, "not_checked": 1})
    );
    let report = export(&place, "out", &[]);
    assert_eq!(
        (&report["speak_of_hint"], &report["without_row"]),
        (&json!(1), &json!(1))
    );

    let none = place.run(&[
        "trajectories",
        "export",
        "runs/e__e-1.traj",
        "--out",
        "none",
        "--checked",
        "checked.json",
    ]);
    assert_eq!(none.code(), 1);
    assert!(
        none.stderr().contains("no row came out (1 not_checked)"),
        "{}",
        none.stderr()
    );
}

#[test]
fn masks_and_forms_go_with_what_the_trainer_can_do() {
    let place = place();
    let xml = [
        "--form",
        "swe-agent-xml",
        "--no-loss",
        "failed",
        "--config",
        "llama-factory",
        "--config",
        "axolotl",
    ];
    let report = export(&place, "out", &xml);
    assert_eq!(report["sides"]["train"]["masked_messages"], 6);
    assert!(
        report["notes"][0]
            .as_str()
            .unwrap()
            .contains("it would learn 6"),
        "{}",
        report["notes"]
    );
    assert_eq!(
        report["files"],
        json!([
            "train.jsonl",
            "llama_factory.yaml",
            "dataset_info.json",
            "axolotl.yaml",
            "statistics.json"
        ])
    );
    let report = export(&place, "out", &[&xml[..], &["--per-step"]].concat());
    assert_eq!(
        (&report["sides"]["train"]["rows"], &report["notes"]),
        (&json!(6), &json!([]))
    );
    let refused = place.run(&[
        "trajectories",
        "export",
        "runs",
        "--out",
        "out",
        "--config",
        "llama-factory",
    ]);
    assert_eq!(refused.code(), 1);
    assert!(
        refused.stderr().contains("take the XML form"),
        "{}",
        refused.stderr()
    );
}

#[cfg(feature = "tokenizers")]
#[test]
fn tokens_are_counted_by_the_given_tokenizer() {
    let place = place();
    let tokenizer = json!({"version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "vocab": {"[UNK]": 0}, "unk_token": "[UNK]"}});
    std::fs::write(place.path("tokenizer.json"), tokenizer.to_string()).unwrap();
    let form = [
        "--form",
        "swe-agent-xml",
        "--hints",
        "hints.jsonl",
        "--tokenizer",
        "tokenizer.json",
    ];
    let report = export(&place, "out", &form);
    let rows = lines(&place, "out/train.jsonl");
    let words = |row: &Value| -> usize {
        let messages = row["messages"].as_array().unwrap();
        messages
            .iter()
            .map(|one| one["content"].as_str().unwrap().split_whitespace().count())
            .sum()
    };
    let all: usize = rows.iter().map(words).sum();
    assert_eq!(report["sides"]["train"]["tokens"]["all"], all);
    assert_eq!(rows[0]["tokens"], words(&rows[0]));
    let least = rows.iter().map(words).min().unwrap().to_string();
    let limited = export(
        &place,
        "out",
        &[&form[..], &["--per-step", "--max-tokens", &least]].concat(),
    );
    assert!(
        limited["sides"]["train"]["rows"].as_u64().unwrap() >= 6,
        "{limited}"
    );
    let refused = place.run(&[
        "trajectories",
        "export",
        "runs",
        "--out",
        "out",
        "--tokenizer",
        "rows.jsonl",
    ]);
    assert_eq!(refused.code(), 1);
    assert!(
        refused
            .stderr()
            .contains("read a tokenizer.json from `rows.jsonl`"),
        "{}",
        refused.stderr()
    );
}

#[test]
fn a_repository_that_is_not_known_splits_nothing() {
    let place = place();
    let odd = "runs/a__a.1fd5253.func__x.traj";
    std::fs::write(place.path(odd), recording("Odd.")).unwrap();
    let split = [
        "trajectories",
        "export",
        "runs",
        "--out",
        "out",
        "--split",
        "repository",
    ];
    let refused = place.run(&split);
    assert_eq!(refused.code(), 1);
    let why = refused.stderr();
    assert!(
        why.contains("its repository is not known; name a --dataset"),
        "{why}"
    );
    let nameless = recording("Odd.");
    std::fs::remove_file(place.path(odd)).unwrap();
    std::fs::write(place.path("runs/nameless.traj"), nameless).unwrap();
    let why = place.run(&split).stderr();
    assert!(
        why.contains("nameless.traj") && why.contains("names no instance"),
        "{why}"
    );
    assert!(!place.path("out").exists());
}

/// Beside the programs that train, where a Python that has them is named.
#[test]
fn exports_load_where_models_are_trained() {
    let Some(python) = std::env::var_os("ATLAS_TEST_PYTHON") else {
        println!("skipped: ATLAS_TEST_PYTHON names no Python with datasets");
        return;
    };
    let place = place();
    let split = [
        "--split",
        "time",
        "--from",
        "2024-06-01",
        "--hints",
        "hints.jsonl",
        "--no-loss",
        "failed",
    ];
    export(&place, "chat", &split);
    export(
        &place,
        "xml",
        &[&split[..], &["--form", "swe-agent-xml"]].concat(),
    );
    export(&place, "steps", &["--per-step", "--hints", "hints.jsonl"]);
    export(&place, "atif", &["--form", "atif"]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/training.py");
    let folders = ["chat", "xml", "steps", "atif"].map(|folder| place.path(folder));
    let checked = Command::new(python)
        .arg(script)
        .args(folders)
        .env("HF_HOME", place.path("hf"))
        .env("HF_HUB_OFFLINE", "1")
        .output()
        .unwrap();
    let (said, why) = (
        String::from_utf8_lossy(&checked.stdout).into_owned(),
        String::from_utf8_lossy(&checked.stderr).into_owned(),
    );
    assert!(checked.status.success(), "{said}{why}");
    let seen: Value = serde_json::from_str(said.lines().last().unwrap_or_default()).unwrap();
    assert_eq!(seen[0]["rows"], json!({"train": 2, "test": 4}));
    assert_eq!(seen[0]["train"], json!([false, false, false, false, true]));
    assert_eq!(seen[1]["train"], seen[0]["train"]);
    assert_eq!(seen[2]["rows"], json!({"train": 12}));
    assert_eq!(seen[3]["rows"], json!({"train": 6}));
    match seen[0]["text"].as_str() {
        None => println!("without transformers no template was tried"),
        Some(text) => {
            for part in [
                "<|im_start|>tool\n1 failed",
                "<tool_call>{\"name\": \"bash\", \"arguments\": {\"command\": \"submit\"}}</tool_call><|im_end|>",
            ] {
                assert!(text.contains(part), "{text}");
            }
        }
    }
}
