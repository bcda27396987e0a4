//! Against runs of the released harnesses, where they are at hand: each stored log is graded again
//! and the report compared byte for byte.

use super::{Row, summary};
use atlas_core::Harness;
use atlas_oracle::{
    CompatGrade, CompatInput, CompatRow, CompatStage, EvalType, InstanceReport, Leftovers,
    RunEntry, RunReport, RunReportInput, grade_compat, report_file_name,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/golden/swebench");
    folder.is_dir().then_some(folder)
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap().to_owned()
}

/// The rows in the order of the dataset.
fn dataset(path: &Path) -> Vec<(String, Row)> {
    let ids = |row: &Value, key: &str| serde_json::from_str(row[key].as_str().unwrap()).unwrap();
    lines(path)
        .iter()
        .map(|row| {
            let lists = Row {
                repo: text(row, "repo"),
                fail_to_pass: ids(row, "FAIL_TO_PASS"),
                pass_to_pass: ids(row, "PASS_TO_PASS"),
                eval_type: EvalType::PassAndFail,
            };
            (text(row, "instance_id"), lists)
        })
        .collect()
}

/// The patches of a run, by instance.
fn patches(folder: &Path, run: &str, rows: &Path) -> BTreeMap<String, Option<String>> {
    let (path, column) = if run == "gold" {
        (rows.to_owned(), "patch")
    } else {
        (folder.join(format!("preds_{run}.jsonl")), "model_patch")
    };
    lines(&path)
        .iter()
        .map(|row| {
            (
                text(row, "instance_id"),
                row[column].as_str().map(str::to_owned),
            )
        })
        .collect()
}

/// How far the harness came, as its log of the instance tells.
fn stage(log: &[u8], tested: bool) -> CompatStage {
    if tested {
        CompatStage::Tested
    } else if String::from_utf8_lossy(log).contains(">>>>> Patch Apply Failed") {
        CompatStage::NotApplied
    } else {
        CompatStage::NotStarted
    }
}

#[test]
fn stored_runs_come_out_as_they_were_written() {
    let Some(folder) = folder() else {
        println!("skipped: no stored runs of the harnesses here");
        return;
    };
    let mut compared = 0;
    for (harness, name, rows, log_name) in [
        (
            Harness::SweBench5,
            "v5",
            "dataset_v5.jsonl",
            "test_output.txt",
        ),
        (
            Harness::SweBenchPp,
            "spp",
            "dataset_spp.jsonl",
            "test_output_after.txt",
        ),
    ] {
        let rows = folder.join(rows);
        let dataset = dataset(&rows);
        for run in ["gold", "goldp", "empty", "wrong", "unappliable", "mixed"] {
            let at = folder.join(name);
            let stored = at.join(report_file_name(run, run));
            if !stored.is_file() {
                continue;
            }
            let patches = patches(&folder, run, &rows);
            let mut entries = Vec::new();
            for (id, row) in &dataset {
                let Some(patch) = patches.get(id) else {
                    continue;
                };
                let logs = at.join("logs/run_evaluation").join(run).join(run).join(id);
                let instance_log = fs::read(logs.join("run_instance.log")).ok();
                let log = fs::read(logs.join(log_name)).ok();
                let said = instance_log.as_deref().unwrap_or_default();
                let grade = grade(harness, (id, row), patch.as_deref(), log.as_deref(), said);
                let report = fs::read(logs.join("report.json")).ok();
                let at = format!("{name}/{run}/{id}");
                match (&grade.report, &report) {
                    (Some(ours), Some(theirs)) => {
                        let read = InstanceReport::from_json_bytes(theirs).unwrap();
                        assert_eq!(*ours, read, "{at}");
                        assert_eq!(ours.to_json_bytes(), *theirs, "{at}");
                        assert_eq!(read.to_json_bytes(), *theirs, "{at}");
                        compared += 1;
                    }
                    (None, None) => compared += 1,
                    (ours, _) => panic!("{at}: one of the two has no report: {ours:?}"),
                }
                entries.push(RunEntry::graded(id.as_str(), patch.as_deref(), &grade));
            }
            run_report(harness, &stored, &dataset, &entries);
        }
    }
    assert!(compared > 50, "only {compared} compared");
}

fn grade(
    harness: Harness,
    (id, row): (&str, &Row),
    patch: Option<&str>,
    log: Option<&[u8]>,
    said: &[u8],
) -> CompatGrade {
    grade_compat(
        harness,
        &CompatInput {
            row: CompatRow {
                instance_id: id,
                repo: &row.repo,
                fail_to_pass: &row.fail_to_pass,
                pass_to_pass: &row.pass_to_pass,
                eval_type: row.eval_type,
            },
            patch,
            log,
            instance_log: Some(said),
            stage: stage(said, log.is_some()),
            read: &summary,
        },
    )
}

fn run_report(harness: Harness, stored: &Path, dataset: &[(String, Row)], entries: &[RunEntry]) {
    let theirs = fs::read(stored).unwrap();
    let read = RunReport::from_json_bytes(&theirs).unwrap();
    assert_eq!(read.to_json_bytes(), theirs, "{}", stored.display());
    let ids: Vec<String> = dataset.iter().map(|(id, _)| id.clone()).collect();
    // What the engine held then is taken from the report itself.
    let left = Leftovers {
        containers: read
            .unstopped_containers
            .iter()
            .flatten()
            .cloned()
            .collect(),
        images: read.unremoved_images.iter().flatten().cloned().collect(),
    };
    let ours = RunReport::build(
        harness,
        &RunReportInput {
            dataset: &ids,
            predictions: entries,
            leftovers: Some(&left),
        },
    );
    let (ours, theirs) = (ours.to_json_bytes(), theirs);
    assert_eq!(
        String::from_utf8(ours).unwrap(),
        String::from_utf8(theirs).unwrap(),
        "{}",
        stored.display()
    );
}
