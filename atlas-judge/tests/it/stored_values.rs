//! The metrics against stored values, and the comparison itself.

use atlas_judge::metrics::{CheckReport, check};
use serde_json::{Value, json};
use std::path::Path;

fn files() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/metrics");
    let mut files: Vec<(String, Value)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (
                name,
                serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap(),
            )
        })
        .collect();
    files.sort_by(|a, b| a.0.cmp(&b.0));
    files
}

fn stored(name: &str) -> Value {
    let found = files().into_iter().find(|file| file.0 == name);
    found.unwrap().1
}

#[test]
fn every_case_of_every_file_agrees() {
    let files = files();
    assert_eq!(files.len(), 37);
    for (name, file) in files {
        let report = check(&file);
        assert!(report.agrees(), "{name}: {report:#?}");
        assert_eq!(report.name, name);
        assert_eq!(report.cases, file["cases"].as_array().unwrap().len() as u64);
    }
}

/// The paths of all values below one that can be changed to another.
fn leaves(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Array(list) => {
            for (at, value) in list.iter().enumerate() {
                leaves(value, &format!("{path}/{at}"), found);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                leaves(value, &format!("{path}/{key}"), found);
            }
        }
        _ => found.push(path.to_owned()),
    }
}

fn changed(value: &Value) -> Value {
    match value {
        Value::Bool(flag) => json!(!flag),
        Value::Number(number) => json!(number.as_f64().unwrap() + 1e-6),
        Value::String(text) => json!(format!("{text}x")),
        _ => json!(0.25),
    }
}

/// Fields of the files that are input or quoted; everything else in a case is expected.
const INPUT: &[&str] = &[
    "top_logprobs_first_token",
    "y_true",
    "scores",
    "y_pred",
    "a",
    "b",
    "resample_indices",
    "y",
    "tests",
    "p",
    "V_b",
    "C_b",
    "R_c",
    "H_c",
    "bugs",
    "k",
    "patches",
    "row",
    "prev",
    "cur",
    "n",
    "sourced",
    "replicated",
    "final",
    "fixable",
    "tp",
    "fp",
    "r2_at_1_printed",
    "baseline_at_1_printed",
    "variant",
    "fpr_text",
    "fpr_table4",
    "precision_printed",
    "f1_printed",
    "c",
    "is_bug_fixed",
    "token_logprobs",
    "p_pass",
    "x",
    "u",
    "v",
    "at",
    "bins",
    "target",
    "values",
    "thresholds",
    "passed",
];

fn is_input(name: &str, field: &str) -> bool {
    match name {
        // Fields that other files expect.
        "binary_metrics" => matches!(field, "y_true" | "y_pred"),
        "committee" => matches!(field, "numbers" | "fits" | "brier" | "threshold"),
        "cascade_curve" => {
            let inputs = ["instances", "y_true", "first", "second", "step"];
            inputs.contains(&field) || field.ends_with("_money")
        }
        "paper2_fpr_consistency" => INPUT.contains(&field) || field == "recall",
        "paper3_implied_prevalence" => {
            INPUT.contains(&field) || matches!(field, "accuracy" | "precision" | "recall")
        }
        "paper3_table_f1_consistency" => {
            INPUT.contains(&field) || matches!(field, "precision" | "recall")
        }
        _ => INPUT.contains(&field),
    }
}

#[test]
fn a_change_of_any_expected_value_is_found_where_it_is() {
    for (name, file) in files() {
        let mut tried = 0;
        for (at, case) in file["cases"].as_array().unwrap().iter().enumerate() {
            for (field, value) in case.as_object().unwrap() {
                if is_input(&name, field) {
                    continue;
                }
                let mut paths = Vec::new();
                leaves(value, "", &mut paths);
                // The first, the last and one between stand for a long list.
                for pick in [0, paths.len() / 2, paths.len().saturating_sub(1)] {
                    let Some(path) = paths.get(pick) else {
                        continue;
                    };
                    let mut file = file.clone();
                    let leaf = file["cases"][at][field].pointer_mut(path).unwrap();
                    *leaf = changed(leaf);
                    let report = check(&file);
                    assert!(!report.agrees(), "{name} case {at} {field}{path}");
                    assert!(report.faults.is_empty(), "{name} {field}: {report:?}");
                    let found = &report.differences[0];
                    assert_eq!(found.case, at);
                    assert!(found.field.starts_with(field.as_str()), "{found:?}");
                    tried += 1;
                }
            }
        }
        assert!(tried > 0, "{name} expects nothing");
    }
}

fn fault(file: &Value) -> String {
    let report: CheckReport = check(file);
    assert!(!report.agrees());
    assert_eq!(report.faults.len(), 1, "{report:?}");
    let fault = &report.faults[0];
    format!(
        "{:?} {} {}",
        fault.case,
        fault.field.as_deref().unwrap_or("-"),
        fault.message
    )
}

#[test]
fn what_cannot_be_compared_is_a_fault() {
    let good = stored("pass_at_k");
    let with = |change: &dyn Fn(&mut Value)| {
        let mut file = good.clone();
        change(&mut file);
        fault(&file)
    };
    assert!(with(&|file| file["name"] = json!("pass_at_q")).contains("`pass_at_q` is no quantity"));
    assert!(with(&|file| file["nmae"] = json!(1)).contains("nmae not known at the top"));
    assert!(with(&|file| file["cases"] = json!([])).contains("at least one case"));
    assert!(with(&|file| file["abs_tolerance"] = json!(-1)).contains("0 or more"));
    assert!(
        with(&|file| file["cases"][3]["pass_at_j"] = json!(1))
            .starts_with("Some(3) pass_at_j not known")
    );
    assert!(
        with(&|file| file["cases"][2]["n"] = json!("many"))
            .starts_with("Some(2) n input: invalid type")
    );
    assert!(
        with(&|file| file["cases"][2] = json!({"n": 1, "c": 1, "k": 1}))
            .contains("expects nothing")
    );
    assert!(with(&|file| file["cases"][1] = json!(7)).contains("must be an object"));
    assert!(fault(&json!([1])).contains("no JSON object"));
}

#[test]
fn forms_that_do_not_fit_are_faults_of_their_field() {
    let with = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut file = stored(name);
        change(&mut file["cases"][0]);
        fault(&file)
    };
    let uneven = |case: &mut Value| case["scores"] = json!([0.5]);
    assert!(with("average_precision", &uneven).starts_with("Some(0) scores"));
    assert!(
        with("critic_rule_and_aggregation", &|case| case["tests"] =
            json!([]))
        .contains("no test")
    );
    assert!(with("majority_vote", &|case| case["patches"] = json!([])).contains("none to choose"));
    assert!(
        with("filtered_success_at_k", &|case| case["bugs"][0]["weight"] =
            json!(1))
        .contains("weight")
    );
    assert!(with("lift_by_type", &|case| case["bugs"][0]["kept"] = json!([])).contains("`kept`"));
    assert!(with("random_baseline", &|case| case["p_pass"] = json!(1.5)).contains("0 to 1"));
    let more = |case: &mut Value| case["clamp"]["bugs"] = json!(1);
    let mut file = stored("filtered_success_at_k");
    more(&mut file["cases"][0]);
    let report = check(&file);
    assert_eq!(report.differences[0].field, "clamp.bugs");
    assert_eq!(report.differences[0].got, json!("absent"));
}
