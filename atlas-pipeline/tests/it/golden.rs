//! Stored runs of the harnesses of the field, graded again: every report must be theirs.

use crate::support::Place;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// What a run's report says of the machine, not of the predictions.
const OF_THE_MACHINE: [&str; 3] = [
    "unstopped_instances",
    "unstopped_containers",
    "unremoved_images",
];

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// Grades a tree of logs and compares with what a harness wrote of it.
fn same(
    place: &Place,
    mode: &str,
    [dataset, predictions, logs]: [&str; 3],
    run: &Value,
    reports: &BTreeMap<String, Value>,
) {
    let done = place.run(&[
        "regrade",
        "--dataset",
        dataset,
        "--predictions",
        predictions,
        "--logs",
        logs,
        "--mode",
        mode,
        "--format",
        "json",
    ]);
    let (name, ours) = (format!("{mode} of {logs}"), done.json());
    for (field, theirs) in run.as_object().unwrap() {
        if !OF_THE_MACHINE.contains(&field.as_str()) {
            assert_eq!(&ours[field], theirs, "{name}: {field}");
        }
    }
    let mine = ours["instance_reports"].as_object().unwrap();
    for (id, theirs) in reports {
        assert_eq!(mine.get(id), Some(theirs), "{name}: {id}");
    }
    let strange: Vec<&String> = mine
        .keys()
        .filter(|id| !reports.contains_key(*id))
        .collect();
    assert!(
        strange.is_empty(),
        "{name}: no report of {strange:?} was stored"
    );
    let all = run["resolved_instances"] == run["total_instances"];
    // 1: a verdict without evidence, where the harness itself ends in an error.
    let codes: &[i32] = if all { &[0] } else { &[1, 3] };
    assert!(codes.contains(&done.code()), "{name}: {}", done.code());
}

#[test]
fn stored_runs_of_real_instances_are_graded_alike() {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/golden/swebench");
    if !stored.is_dir() {
        eprintln!("skipped: no stored runs beside the workspace");
        return;
    }
    let place = Place::new();
    for (kind, mode) in [("v5", "compat-swebench5"), ("spp", "compat-swebenchpp")] {
        let dataset = stored.join(format!("dataset_{kind}.jsonl"));
        let mut compared = 0;
        for entry in std::fs::read_dir(stored.join(kind).join("logs/run_evaluation")).unwrap() {
            let logs = entry.unwrap().path();
            let run = logs.file_name().unwrap().to_str().unwrap();
            let file: PathBuf = stored.join(format!("preds_{run}.jsonl"));
            let predictions = if run == "gold" {
                Path::new("gold")
            } else {
                &file
            };
            let reports = WalkDir::new(&logs)
                .into_iter()
                .map(Result::unwrap)
                .filter(|entry| entry.file_name() == "report.json")
                .map(|entry| {
                    let id = entry.path().parent().unwrap().file_name().unwrap();
                    (id.to_str().unwrap().to_owned(), read(entry.path()))
                })
                .collect();
            same(
                &place,
                mode,
                [&dataset, predictions, &logs].map(|path| path.to_str().unwrap()),
                &read(&stored.join(kind).join(format!("{run}.{run}.json"))),
                &reports,
            );
            compared += 1;
        }
        assert!(compared > 0, "{kind}: no run is stored");
    }
}

/// `golden/record.py` made the cases and asked the harness.
#[test]
fn recorded_cases_are_graded_alike() {
    let place = Place::new();
    let lines: Vec<Value> = include_str!("golden/swebench5.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (mut rows, mut predictions) = (String::new(), String::new());
    let mut reports = BTreeMap::new();
    for case in &lines[1..] {
        let id = case["row"]["instance_id"].as_str().unwrap();
        writeln!(rows, "{}", case["row"]).unwrap();
        if case["patch"] != "absent" {
            let prediction = json!({
                "instance_id": id, "model_name_or_path": "model", "model_patch": case["patch"],
            });
            writeln!(predictions, "{prediction}").unwrap();
        }
        let folder = place.path("logs/model").join(id);
        for (file, text) in [("test_output.txt", "log"), ("run_instance.log", "said")] {
            if let Some(text) = case[text].as_str() {
                std::fs::create_dir_all(&folder).unwrap();
                std::fs::write(folder.join(file), text).unwrap();
            }
        }
        if !case["report"].is_null() {
            reports.insert(id.to_owned(), case["report"].clone());
        }
    }
    std::fs::write(place.path("rows.jsonl"), rows).unwrap();
    std::fs::write(place.path("preds.jsonl"), predictions).unwrap();
    assert!(reports.len() > 40, "the cases were read");
    same(
        &place,
        "compat-swebench5",
        ["rows.jsonl", "preds.jsonl", "logs"],
        &lines[0]["report"],
        &reports,
    );
}
