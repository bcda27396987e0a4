//! Small datasets, predictions and stored logs for `atlas eval` and `atlas regrade`.

use crate::support::{BASE, Done, FIX, Place, git, make_args};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The fix of `support::BASE` without its test, as a prediction.
pub(crate) const SOLVED: &str = "diff --git a/calc/__init__.py b/calc/__init__.py\n\
    --- a/calc/__init__.py\n+++ b/calc/__init__.py\n@@ -1,2 +1,2 @@\n def double(n):\n\
    -    return n + n if n > 0 else n\n+    return n + n\n";

/// A prediction that puts this line before the fixed function.
pub(crate) fn solved_with(line: &str) -> String {
    SOLVED
        .replace("@@ -1,2 +1,2 @@", "@@ -1,2 +1,3 @@")
        .replace(" def double", &format!("+{line}\n def double"))
}

/// A row whose tests never run: for stored logs, and for what is said of the row itself.
pub(crate) fn row(id: &str) -> Value {
    json!({
        "repo": "me/calc",
        "instance_id": id,
        "base_commit": "0123456789012345678901234567890123456789",
        "patch": SOLVED,
        "test_patch": "",
        "problem_statement": "double",
        "version": "1",
        "FAIL_TO_PASS": ["t.py::test_new"],
        "PASS_TO_PASS": ["t.py::test_old"],
        "log_parser": "pytest",
        "eval_script": "#!/bin/bash\n: '>>>>> Start Test Output'\npytest -rA\n: '>>>>> End Test Output'\n",
    })
}

/// What pytest prints for such a row, as a harness stores it.
pub(crate) fn log(new: &str) -> String {
    let passed = if new == "PASSED" {
        "2 passed"
    } else {
        "1 failed, 1 passed"
    };
    format!(
        "+ : '>>>>> Start Test Output'\n============ test session starts ============\ncollected 2 items\n\n\
         ============ short test summary info ============\n{new} t.py::test_new\nPASSED t.py::test_old\n\
         ============ {passed} in 0.10s ============\n+ : '>>>>> End Test Output'\n"
    )
}

/// Stores a log where a harness does.
pub(crate) fn store(place: &Place, model: &str, id: &str, log: &[u8]) -> PathBuf {
    let folder = place.path("logs").join(model).join(id);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("test_output.txt"), log).unwrap();
    folder
}

/// A file of predictions, one a line.
pub(crate) fn predictions(place: &Place, all: &[(&str, &str, Value)]) {
    let lines: Vec<String> = all
        .iter()
        .map(|(id, model, patch)| {
            json!({"instance_id": id, "model_name_or_path": model, "model_patch": patch})
                .to_string()
        })
        .collect();
    std::fs::write(place.path("predictions.jsonl"), lines.join("\n")).unwrap();
}

/// `atlas regrade` of what is stored.
pub(crate) fn regrade(place: &Place, dataset: &str, predictions: &str, more: &[&str]) -> Done {
    let mut args = vec![
        "regrade",
        "--dataset",
        dataset,
        "--predictions",
        predictions,
    ];
    args.extend(["--logs", "logs", "--format", "json"]);
    args.extend(more);
    place.run(&args)
}

/// An instance made from a repository with a slow test, by the local engine; returns its name.
pub(crate) fn made_here(place: &Place, seconds: f64) -> String {
    let slow = format!(
        "import time, unittest\n\n\nclass Slow(unittest.TestCase):\n    def test_slow(self):\n        \
         time.sleep({seconds})\n"
    );
    let mut base: Vec<(&str, &str)> = BASE.to_vec();
    base.push(("tests/test_slow.py", &slow));
    let repo = place.repository("repo", &[&base, FIX]);
    let id = "me__calc-1";
    let repo = repo.to_str().unwrap();
    let done = place.run(&make_args(repo, &["--instance-id", id]));
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    id.to_owned()
}

/// `atlas eval` of `predictions.jsonl` on what was made here.
pub(crate) fn eval_here<'a>(run: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec![
        "eval",
        "--dataset",
        "out/dataset.jsonl",
        "--engine",
        "local",
        "--trust",
    ];
    args.extend(["--predictions", "predictions.jsonl", "--run-id", run]);
    args.extend(["--format", "json"]);
    args.extend(more);
    args
}

/// The verdict of a model in a run's report.
pub(crate) fn verdict<'a>(report: &'a Value, model: &str) -> &'a Value {
    report["verdicts"]
        .as_array()
        .unwrap()
        .iter()
        .find(|verdict| verdict["model_name_or_path"] == model)
        .unwrap_or_else(|| panic!("no verdict of {model}: {report}"))
}

/// The fault at a line of a file.
#[track_caller]
pub(crate) fn fault<'a>(report: &'a Value, file: &str, line: usize) -> &'a Value {
    report["faults"]
        .as_array()
        .unwrap()
        .iter()
        .find(|fault| {
            fault["line"] == line
                && fault["file"]
                    .as_str()
                    .is_some_and(|name| name.ends_with(file))
        })
        .unwrap_or_else(|| panic!("no fault in line {line} of {file}: {report:#}"))
}

/// An image as the harnesses of the field have them: the repository in `/testbed`, everything root's.
/// Its one row stands in `rows.jsonl`.
pub(crate) fn image(place: &Place, name: &str) -> String {
    let repo = place.repository("repo", &[BASE, FIX]);
    let base = git(&repo, &["rev-parse", "HEAD~1"]);
    let diff = |path: &str| git(&repo, &["diff", "HEAD~1", "HEAD", "--", path]) + "\n";
    let (gold, tests) = (diff("calc"), diff("tests"));
    let at_base = place.path("image/testbed");
    std::fs::create_dir_all(place.path("image")).unwrap();
    let from = repo.to_str().unwrap();
    git(
        place.path("image").as_path(),
        &["clone", "-q", from, at_base.to_str().unwrap()],
    );
    git(&at_base, &["checkout", "-q", &base]);
    std::fs::write(
        place.path("image/Dockerfile"),
        "FROM python:3.11-slim-bookworm\n\
         RUN command -v git || (apt-get update && apt-get install -y --no-install-recommends git)\n\
         COPY testbed /testbed\nWORKDIR /testbed\n",
    )
    .unwrap();
    docker(&[
        "build",
        "-q",
        "-t",
        name,
        place.path("image").to_str().unwrap(),
    ]);
    let script = format!(
        "#!/bin/bash\nset -uxo pipefail\ncd /testbed\ngit config --global --add safe.directory /testbed\n\
         git checkout {base} tests/test_calc.py\ngit apply -v - <<'EOF_1'\n{tests}EOF_1\n\
         : '>>>>> Start Test Output'\npython -m unittest -v tests.test_calc\n: '>>>>> End Test Output'\n\
         git checkout {base} tests/test_calc.py\n"
    );
    let row = json!({
        "repo": "me/calc",
        "instance_id": "me__calc-1",
        "base_commit": base,
        "patch": gold,
        "test_patch": tests,
        "problem_statement": "double",
        "version": "1",
        "image": name,
        "FAIL_TO_PASS": ["test_negative (tests.test_calc.CalcTest.test_negative)"],
        "PASS_TO_PASS": ["test_positive (tests.test_calc.CalcTest.test_positive)"],
        "log_parser": "django",
        "eval_script": script,
    });
    std::fs::write(place.path("rows.jsonl"), format!("{row}\n")).unwrap();
    "me__calc-1".to_owned()
}

/// `atlas eval` of `predictions.jsonl` on the image.
pub(crate) fn eval_image<'a>(run: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["eval", "--dataset", "rows.jsonl", "--engine", "docker"];
    args.extend(["--predictions", "predictions.jsonl", "--run-id", run]);
    args.extend(["--format", "json"]);
    args.extend(more);
    args
}

pub(crate) fn docker(args: &[&str]) -> String {
    let done = std::process::Command::new("docker")
        .args(args)
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "docker {args:?}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
    String::from_utf8(done.stdout).unwrap()
}

/// Everything a run left below `out` that does not tell the time: path -> content.
pub(crate) fn left(out: &Path) -> std::collections::BTreeMap<String, Value> {
    let mut files = std::collections::BTreeMap::new();
    let mut open = vec![out.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let name = path.strip_prefix(out).unwrap().display().to_string();
            let bytes = std::fs::read(&path).unwrap();
            let value = match path.file_name().unwrap().to_str().unwrap() {
                // What a start cost, and when it was.
                "run.json" => continue,
                "test_output.txt" | "structured_report" => json!("there"),
                _ if path.extension().is_some_and(|ending| ending == "json") => {
                    let mut value: Value = serde_json::from_slice(&bytes).unwrap();
                    forget_time(&mut value);
                    value
                }
                _ => json!(String::from_utf8_lossy(&bytes)),
            };
            files.insert(name, value);
        }
    }
    files
}

fn forget_time(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| !key.contains("seconds") && key != "usage");
            map.values_mut().for_each(forget_time);
        }
        Value::Array(list) => list.iter_mut().for_each(forget_time),
        _ => {}
    }
}
