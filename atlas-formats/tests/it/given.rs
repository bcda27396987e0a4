//! Rows that stand beside the project, where they do.

use atlas_formats::{
    ConvertOptions, Dataset, LintOptions, Predictions, ReadOptions, Schema, convert, lint,
    read_dataset, read_predictions,
};
use std::path::{Path, PathBuf};

fn files(below: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared")
        .join(below);
    let mut found: Vec<_> = std::fs::read_dir(&root)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|ext| ext == "jsonl" || ext == "json")
        })
        .collect();
    found.sort();
    if found.is_empty() {
        println!("skipped: no files in ../shared/{below}");
    }
    found
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

#[test]
fn datasets_come_back_and_go_through_every_schema() {
    for path in files("golden/swebench")
        .iter()
        .filter(|path| name(path).starts_with("dataset"))
    {
        let dataset = read_dataset(path, &ReadOptions::default()).unwrap();
        assert_eq!(dataset.faults, []);
        assert_eq!(dataset.to_bytes(), std::fs::read(path).unwrap());
        let from = dataset.schema().unwrap();
        for to in Schema::ALL {
            let options = ConvertOptions::default();
            let (there, _) = convert(&dataset.rows, from, to, &options);
            let (back, _) = convert(&there, to, from, &options);
            for (row, back) in dataset.rows.iter().zip(&back) {
                assert_eq!(back.json(), row.json(), "{from} -> {to}");
            }
        }
        for finding in lint(&dataset, &LintOptions::default()) {
            println!("{finding}");
        }
    }
}

#[test]
fn predictions_come_back() {
    for path in files("golden/swebench")
        .iter()
        .filter(|path| name(path).starts_with("preds"))
    {
        let all = read_predictions(path).unwrap();
        assert_eq!(all.faults, []);
        assert_eq!(all.to_bytes(), std::fs::read(path).unwrap());
        assert!(!all.items.is_empty());
    }
}

#[test]
fn gold_predictions_are_those_of_the_harness() {
    let all = files("golden/swebench");
    let find = |wanted: &str| all.iter().find(|path| name(path) == wanted);
    let (Some(rows), Some(gold)) = (find("dataset_v5.jsonl"), find("preds_goldp.jsonl")) else {
        return;
    };
    let dataset: Dataset = read_dataset(rows, &ReadOptions::default()).unwrap();
    let ours = Predictions::gold(&dataset);
    let theirs = read_predictions(gold).unwrap();
    for (ours, theirs) in ours.items.iter().zip(&theirs.items) {
        assert_eq!(ours.instance_id(), theirs.instance_id());
        assert_eq!(ours.model_patch(), theirs.model_patch());
    }
}
