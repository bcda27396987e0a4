//! `atlas eval` on a real engine: a row that `atlas make` wrote, in the modes of the harnesses and in
//! Atlas's own. Skipped with a word unless `ATLAS_TEST_DOCKER=1`.

use crate::docker::{docker, on_docker, row, wanted};
use crate::support::{BASE, FIX, Place};
use serde_json::{Value, json};

const ID: &str = "me__calc-7";
const NEGATIVE: &str = "test_negative (tests.test_calc.CalcTest.test_negative)";
const POSITIVE: &str = "test_positive (tests.test_calc.CalcTest.test_positive)";

/// Evaluates predictions and gives the run's report, the instance's, if one was written, and the verdict.
fn evaluate(place: &Place, mode: &str, name: &str, predictions: &str) -> [Value; 3] {
    let dataset = if mode == "compat-swebenchpp" {
        "plus-plus.jsonl"
    } else {
        "out/dataset.jsonl"
    };
    let run = format!("{mode}-{name}");
    let done = place.run(&[
        "eval",
        "--dataset",
        dataset,
        "--predictions",
        predictions,
        "--run-id",
        &run,
        "--mode",
        mode,
        "--engine",
        "docker",
        "--network",
        "none",
        "--out",
        "runs",
        "--results",
        "results",
        "--format",
        "json",
    ]);
    let read = |path: String| {
        std::fs::read_to_string(place.path(&path)).map_or(Value::Null, |text| {
            serde_json::from_str(&text).unwrap_or_else(|why| panic!("{path}: {why}"))
        })
    };
    let folder = format!("runs/logs/run_evaluation/{run}/{name}/{ID}");
    let report = read(format!("runs/{name}.{run}.json"));
    let verdict = read(format!("{folder}/verdict.json"));
    let is_resolved = report["resolved_instances"] == 1;
    assert_eq!(
        done.code(),
        if is_resolved { 0 } else { 3 },
        "{run}: {verdict} {}",
        done.stderr()
    );
    // What is stored says the same without an engine.
    if mode != "strict" {
        let again = place.run(&[
            "regrade",
            "--dataset",
            dataset,
            "--predictions",
            predictions,
            "--logs",
            &format!("runs/logs/run_evaluation/{run}"),
            "--mode",
            mode,
            "--format",
            "json",
        ]);
        for field in ["resolved_ids", "unresolved_ids", "error_ids"] {
            assert_eq!(again.json()[field], report[field], "{run} again: {field}");
        }
    }
    let own = read(format!("{folder}/report.json"));
    [report, own[ID].clone(), verdict]
}

/// The row of a `make`, as SWE-Bench++ has rows.
fn plus_plus(row: &Value) -> Value {
    let mut row = row.clone();
    let columns = row.as_object_mut().unwrap();
    columns.remove("eval_script");
    columns.remove("log_parser");
    columns.insert("language".to_owned(), json!("Python"));
    let config = json!({
        "test_cmd": "python -m unittest discover -v", "log_parser_name": "django",
        "no_use_env": true, "no_test_directives": true,
    });
    columns.insert("environment_config".to_owned(), json!(config.to_string()));
    row
}

#[test]
fn predictions_are_graded_in_every_mode() {
    if !wanted() {
        return;
    }
    let place = Place::new();
    let repo = place.repository("repo", &[BASE, FIX]);
    let made = place.run(&on_docker(repo.to_str().unwrap(), &["--instance-id", ID]));
    assert_eq!(made.code(), 0, "{}{}", made.stdout(), made.stderr());
    let row = row(&place);
    std::fs::write(
        place.path("plus-plus.jsonl"),
        format!("{}\n", plus_plus(&row)),
    )
    .unwrap();
    let gold = row["patch"].as_str().unwrap();
    for (name, patch) in [
        ("absent", Value::Null),
        (
            "wrong",
            json!(gold.replace("+    return n + n", "+    return n * n")),
        ),
        ("unfit", json!(gold.replace("if n > 0", "if n > 7"))),
    ] {
        let prediction =
            json!({"instance_id": ID, "model_name_or_path": name, "model_patch": patch});
        let path = place.path(&format!("{name}.jsonl"));
        std::fs::write(path, format!("{prediction}\n")).unwrap();
    }
    for mode in ["compat-swebench5", "compat-swebenchpp", "strict"] {
        let [report, own, verdict] = evaluate(&place, mode, "gold", "gold");
        assert_eq!(report["resolved_ids"], json!([ID]), "{mode}: {verdict}");
        assert_eq!(own["resolved"], true, "{mode}");
        let tests = &own["tests_status"];
        assert_eq!(
            tests["FAIL_TO_PASS"]["success"],
            json!([NEGATIVE]),
            "{mode}"
        );
        assert_eq!(
            tests["PASS_TO_PASS"]["success"],
            json!([POSITIVE]),
            "{mode}"
        );

        let [report, own, verdict] = evaluate(&place, mode, "wrong", "wrong.jsonl");
        assert_eq!(report["unresolved_ids"], json!([ID]), "{mode}: {verdict}");
        assert_eq!(
            own["tests_status"]["FAIL_TO_PASS"]["failure"],
            json!([NEGATIVE]),
            "{mode}"
        );
        assert_eq!(verdict["cause"], "model", "{mode}");

        let [report, _, verdict] = evaluate(&place, mode, "unfit", "unfit.jsonl");
        assert_eq!(report["resolved_ids"], json!([]), "{mode}");
        assert_eq!(verdict["outcome"], "not_applied", "{mode}");
        assert_eq!(verdict["cause"], "patch_format", "{mode}");
        // SWE-Bench++ writes a report that all tests fail; the others write none.
        let list = if mode == "compat-swebenchpp" {
            "unresolved_ids"
        } else {
            "error_ids"
        };
        assert_eq!(report[list], json!([ID]), "{mode}");

        for (name, predictions, outcome) in [
            ("absent", "absent.jsonl", "null_patch"),
            ("null", "null", "empty_patch"),
        ] {
            let [report, _, verdict] = evaluate(&place, mode, name, predictions);
            assert_eq!(report["empty_patch_ids"], json!([ID]), "{mode} {name}");
            assert_eq!(report["resolved_ids"], json!([]), "{mode} {name}");
            assert_eq!(verdict["outcome"], outcome, "{mode} {name}");
        }
    }

    // A build may leave a file that the base commit does not have, and a patch may bring one of that name.
    let (image, left) = (row["image"].as_str().unwrap(), "atlas-test-left:evaluate");
    let name = format!("atlas-test-left-{}", std::process::id());
    let script = "echo built > /testbed/made.lock";
    docker(&["run", "--name", &name, image, "bash", "-c", script]);
    docker(&["commit", "--change", "CMD [\"/bin/bash\"]", &name, left]);
    docker(&["rm", &name]);
    let mut with_left = row.clone();
    with_left["image"] = json!(left);
    std::fs::write(place.path("out/dataset.jsonl"), format!("{with_left}\n")).unwrap();
    let brings = format!(
        "{gold}diff --git a/made.lock b/made.lock\nnew file mode 100644\n--- /dev/null\n+++ b/made.lock\n\
         @@ -0,0 +1 @@\n+brought\n"
    );
    let prediction =
        json!({"instance_id": ID, "model_name_or_path": "brings", "model_patch": brings});
    std::fs::write(place.path("brings.jsonl"), format!("{prediction}\n")).unwrap();
    let [report, _, verdict] = evaluate(&place, "strict", "brings", "brings.jsonl");
    assert_eq!(report["resolved_ids"], json!([ID]), "{verdict}");
    docker(&["rmi", "--force", left, image]);
}
