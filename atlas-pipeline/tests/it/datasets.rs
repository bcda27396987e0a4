//! `atlas convert`, `lint`, `diff`, `patch` and `leaderboard`.

use crate::eval_support::made_here;
use crate::support::{BASE, FIX, Place, git};
use serde_json::{Value, json};

const PATCH: &str = "diff --git a/calc/__init__.py b/calc/__init__.py\n--- a/calc/__init__.py\n\
    +++ b/calc/__init__.py\n@@ -1,2 +1,2 @@\n def double(n):\n-    return n + n if n > 0 else n\n\
    +    return n + n\n";

fn row(id: &str) -> Value {
    json!({
        "repo": "me/calc",
        "instance_id": id,
        "base_commit": "0123456789abcdef0123456789abcdef01234567",
        "patch": PATCH,
        "test_patch": PATCH.replace("calc/__init__.py", "tests/test_calc.py"),
        "problem_statement": "double(-2) is wrong",
        "hints_text": "",
        "created_at": "2024-01-02T03:04:05Z",
        "version": "1.0",
        "FAIL_TO_PASS": "[\"tests/test_calc.py::test_negative\"]",
        "PASS_TO_PASS": "[]",
        "environment_setup_commit": "0123456789abcdef0123456789abcdef01234567",
    })
}

fn write(place: &Place, name: &str, rows: &[Value]) {
    let lines: Vec<String> = rows.iter().map(ToString::to_string).collect();
    std::fs::write(place.path(name), lines.join("\n") + "\n").unwrap();
}

#[test]
fn a_dataset_goes_to_every_schema_and_back() {
    let place = Place::new();
    write(
        &place,
        "rows.jsonl",
        &[row("me__calc-1"), row("me__calc-2")],
    );
    let original = std::fs::read_to_string(place.path("rows.jsonl")).unwrap();
    for schema in [
        "swebench5",
        "swebench5-tasks",
        "swebenchpp",
        "swebenchpp-delivery",
        "multi-swebench",
        "swebench-live",
        "swebench-pro",
        "swe-rebench",
        "swe-smith",
        "r2e",
        "harbor",
    ] {
        let is_folder = matches!(schema, "swebench5-tasks" | "harbor");
        let there = format!("{schema}{}", if is_folder { "" } else { ".jsonl" });
        let done = place.run(&["convert", "rows.jsonl", &there, "--to", schema]);
        assert_eq!(done.code(), 0, "{schema}: {}", done.stderr());
        let done = place.run(&[
            "convert",
            &there,
            "back.jsonl",
            "--to",
            "swebench4",
            "--no-source",
        ]);
        assert_eq!(done.code(), 0, "{schema}: {}", done.stderr());
        let back = std::fs::read_to_string(place.path("back.jsonl")).unwrap();
        assert_eq!(back, original, "{schema}");
    }
    let done = place.run(&["convert", "rows.jsonl", "x.jsonl", "--to", "swebench9"]);
    assert_eq!(done.code(), 2);
    assert!(
        done.stderr().contains("multi-swebench"),
        "{}",
        done.stderr()
    );
}

#[test]
fn faults_of_rows_are_found_and_the_rest_goes_on() {
    let place = Place::new();
    let mut bad = row("me__calc-2");
    bad["FAIL_TO_PASS"] = json!("[]");
    bad["PASS_TO_PASS"] = json!("[\"t.py::test_a[x\"]");
    write(&place, "rows.jsonl", &[row("me__calc-1"), bad]);
    let mut bytes = std::fs::read(place.path("rows.jsonl")).unwrap();
    bytes.extend_from_slice(b"{\"instance_id\": \n");
    std::fs::write(place.path("rows.jsonl"), bytes).unwrap();

    let done = place.run(&["lint", "rows.jsonl", "--format", "json"]);
    assert_eq!(done.code(), 1, "a row cannot be read");
    let report = done.json();
    assert_eq!(report["rows"], 2);
    let codes: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["instance"] == "me__calc-2")
        .map(|finding| finding["code"].as_str().unwrap())
        .collect();
    assert!(
        codes.contains(&"empty_fail_to_pass") && codes.contains(&"truncated_test"),
        "{codes:?}"
    );
    assert!(
        report["faults"][0]["place"]
            .as_str()
            .unwrap()
            .ends_with("rows.jsonl:3")
    );

    let listed = place.run(&["lint", "--list"]);
    assert!(listed.stdout().contains("empty_fail_to_pass"));
    let done = place.run(&["diff", "rows.jsonl", "rows.jsonl"]);
    assert_eq!(done.code(), 1, "the broken row may differ");
}

#[test]
fn rows_are_audited_from_their_data() {
    let place = Place::new();
    let inline = "diff --git a/src/sum.rs b/src/sum.rs\nnew file mode 100644\n--- /dev/null\n+++ b/src/sum.rs\n\
                  @@ -0,0 +1,4 @@\n+pub fn sum_of_all(numbers: &[i64]) -> i64 { numbers.iter().sum() }\n+#[cfg(test)]\n+mod tests {\n+#[test] fn adds() {} }\n";
    let mut golds = row("me__calc-1");
    golds["patch"] = json!(inline);
    golds["FAIL_TO_PASS"] = json!("[\"sum::tests::adds\"]");
    let mut leaked = row("me__calc-2");
    leaked["problem_statement"] =
        json!("as in https://github.com/me/calc/pull/2\n\ndiff --git a/src/sum.rs b/src/sum.rs\n");
    leaked["patch"] = json!(inline);
    write(&place, "rows.jsonl", &[golds, leaked]);
    let done = place.run(&["audit", "rows.jsonl", "--format", "json"]);
    assert_eq!(done.code(), 3, "{}", done.stderr());
    let report = done.json();
    let found: Vec<(&str, &str)> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| (f["instance"].as_str().unwrap(), f["code"].as_str().unwrap()))
        .collect();
    for expected in [
        ("me__calc-1", "unsatisfiable_test"),
        ("me__calc-2", "link_in_problem"),
        ("me__calc-2", "diff_in_problem"),
    ] {
        assert!(found.contains(&expected), "{found:?}");
    }
    assert_eq!(report["counts"]["unsatisfiable_test"]["rows"], 1);
    assert_eq!(report["rows_with_findings"], 2);
    let text = place.run(&["audit", "rows.jsonl"]).stdout();
    assert!(text.contains("2 of 2 rows have something wrong"), "{text}");
    let unrelated = place.run(&["audit", "rows.jsonl", "--jobs", "2"]);
    assert_eq!(unrelated.code(), 2, "--jobs is for --run");
}

#[test]
fn what_statements_give_away_and_what_they_leave_out() {
    let place = Place::new();
    let codes = |change: &dyn Fn(&mut Value)| -> Vec<String> {
        let mut changed = row("me__calc-20");
        change(&mut changed);
        write(&place, "rows.jsonl", &[changed]);
        let report = place
            .run(&["audit", "rows.jsonl", "--format", "json"])
            .json();
        let findings = report["findings"].as_array().unwrap().iter();
        let codes = findings.map(|found| found["code"].as_str().unwrap().to_owned());
        codes
            .filter(|code| code.ends_with("_in_problem") || code == "unnamed_interface")
            .collect()
    };
    let says = |text: &str, issue: Option<u64>| {
        codes(&|row| {
            row["problem_statement"] = json!(text);
            row["issue_numbers"] = json!(issue.into_iter().collect::<Vec<_>>());
        })
    };
    let linked = |place: &str, issue: Option<u64>| {
        let text = format!("Since https://github.com/me/calc/{place} it is wrong.");
        says(&text, issue) == ["link_in_problem"]
    };
    assert!(linked("pull/20", None));
    assert!(linked("pull/20/commits/0123456789abcdef", Some(7)));
    assert!(linked("pull/18", Some(17)), "another answer to the issue");
    assert!(linked("compare/v1...fix", None));
    assert!(!linked("pull/12", Some(17)), "an older change");
    assert!(!linked("pull/12/files#diff-1", None));
    assert!(
        !linked("commit/0123456789abcdef", None),
        "nothing says when it was made"
    );

    let gold = "diff --git a/c.py b/c.py\n--- a/c.py\n+++ b/c.py\n@@ -1 +1,3 @@\n x = 1\n+def half_of(n):\n+    return n // 2\n";
    let test = "diff --git a/tests/t.py b/tests/t.py\n--- a/tests/t.py\n+++ b/tests/t.py\n@@ -1 +1,2 @@\n import c\n+assert c.half_of(4) == 2\n";
    let asks = |text: &str| {
        codes(&|row| {
            row["patch"] = json!(gold);
            row["test_patch"] = json!(test);
            row["problem_statement"] = json!(text);
        })
    };
    let named = "I want `half_of`.\n";
    assert_eq!(asks(named), Vec::<String>::new());
    assert_eq!(asks("I want halves."), ["unnamed_interface"]);
    // A clone tells that another file has the name already, and not only as a part of one.
    let with_clone = |base: &str, text: &str| {
        let clone = format!("repo-{base}");
        let repo = place.repository(&clone, &[&[("old.py", text), ("c.py", "x = 1\n")]]);
        let mut changed = row("me__calc-20");
        changed["base_commit"] = json!(git(&repo, &["rev-parse", "HEAD"]).trim());
        changed["patch"] = json!(gold);
        changed["test_patch"] = json!(test);
        write(&place, "rows.jsonl", &[changed]);
        let done = place.run(&["audit", "rows.jsonl", "--repos", &clone]);
        done.stdout().contains("unnamed_interface")
    };
    assert!(!with_clone("a", "def half_of(n): return n\n"));
    assert!(with_clone("b", "def half_of_it(n): return n\n"));
    let diff = |path: &str| asks(&format!("{named}--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n"));
    assert_eq!(diff("c.py"), ["diff_in_problem"]);
    assert_eq!(
        diff("settings.py"),
        Vec::<String>::new(),
        "how to see the fault"
    );
    let bare = format!("{named}@@ -1 +1 @@\n");
    assert_eq!(asks(&bare), ["diff_in_problem"]);
}

#[test]
fn rows_are_audited_by_running_them() {
    let place = Place::new();
    made_here(&place, 0.0);
    let text = std::fs::read_to_string(place.path("out/dataset.jsonl")).unwrap();
    let good: Value = serde_json::from_str(text.trim()).unwrap();
    let tests = |column: &str| -> Vec<String> {
        let list = &good[column];
        match list.as_str() {
            Some(text) => serde_json::from_str(text).unwrap(),
            None => serde_json::from_value(list.clone()).unwrap(),
        }
    };
    let mut wrong = good.clone();
    let (mut fail, mut pass) = (tests("FAIL_TO_PASS"), tests("PASS_TO_PASS"));
    fail.push(pass.remove(0));
    pass.push("tests.test_calc.Nothing.test_x".to_owned());
    wrong["instance_id"] = json!("me__calc-2");
    wrong["FAIL_TO_PASS"] = json!(json!(fail).to_string());
    wrong["PASS_TO_PASS"] = json!(json!(pass).to_string());
    write(&place, "rows.jsonl", &[good, wrong]);
    let done = place.run(&[
        "audit",
        "rows.jsonl",
        "--run",
        "--engine",
        "local",
        "--trust",
        "--repos",
        "repo",
        "--ignore",
        "missing_image",
        "--format",
        "json",
    ]);
    assert_eq!(done.code(), 3, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    let mut found: Vec<(&str, &str)> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| (f["instance"].as_str().unwrap(), f["code"].as_str().unwrap()))
        .filter(|(_, code)| ["gold_not_resolved", "passes_without_gold", "not_run"].contains(code))
        .collect();
    found.sort_unstable();
    let expected = [
        ("me__calc-2", "gold_not_resolved"),
        ("me__calc-2", "passes_without_gold"),
    ];
    assert_eq!(found, expected, "{}", done.stderr());
}

#[test]
fn differences_of_datasets_are_told_by_test() {
    let place = Place::new();
    let mut changed = row("me__calc-1");
    changed["FAIL_TO_PASS"] = json!("[\"tests/test_calc.py::test_other\"]");
    write(&place, "a.jsonl", &[row("me__calc-1"), row("me__calc-2")]);
    write(&place, "b.jsonl", &[changed, row("me__calc-3")]);
    let done = place.run(&["diff", "a.jsonl", "b.jsonl", "--format", "json"]);
    assert_eq!(done.code(), 3, "{}", done.stderr());
    let diff = done.json();
    assert_eq!(diff["only_in_first"], json!(["me__calc-2"]));
    assert_eq!(diff["only_in_second"], json!(["me__calc-3"]));
    let text = place.run(&["diff", "a.jsonl", "b.jsonl"]).stdout();
    assert!(text.contains("test_other"), "{text}");
    assert_eq!(place.run(&["diff", "a.jsonl", "a.jsonl"]).code(), 0);
}

#[test]
fn a_patch_that_does_not_apply_is_explained_and_mended() {
    let place = Place::new();
    let repo = place.repository("repo", &[BASE, FIX]);
    let base = git(&repo, &["rev-parse", "HEAD~1"]);
    let unprefixed = PATCH.replace("a/calc", "calc").replace("b/calc", "calc");
    let fenced = format!("Here is the fix:\n```diff\n{unprefixed}```\n");
    std::fs::write(place.path("fenced.diff"), &fenced).unwrap();
    let args = ["patch", "fenced.diff", "--repo", "repo", "--base", &base];
    let done = place.run(
        &[
            &args[..],
            &["--mended", "mended.diff", "--mode", "compat-swebench5"],
        ]
        .concat(),
    );
    assert_eq!(done.code(), 3, "{}{}", done.stdout(), done.stderr());
    assert!(done.stdout().contains("fence"), "{}", done.stdout());
    let done = place.run(&["patch", "mended.diff", "--repo", "repo", "--base", &base]);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let done = place.run(&["patch", "fenced.diff", "--format", "json"]);
    assert!(!done.json()["faults"].as_array().unwrap().is_empty());
}

#[test]
fn models_are_compared_over_the_whole_dataset() {
    let place = Place::new();
    let mut go = row("me__calc-2");
    go["language"] = json!("Go");
    let mut python = row("me__calc-1");
    python["language"] = json!("Python");
    write(&place, "rows.jsonl", &[python, go]);
    let report = |resolved: &[&str]| {
        let mut report =
            json!({"schema_version": 2, "submitted_ids": ["me__calc-1", "me__calc-2"]});
        for count in [
            "total",
            "submitted",
            "completed",
            "resolved",
            "unresolved",
            "empty_patch",
            "error",
        ] {
            report[format!("{count}_instances")] = json!(2);
        }
        for list in [
            "completed",
            "incomplete",
            "empty_patch",
            "unresolved",
            "error",
        ] {
            report[format!("{list}_ids")] = json!([]);
        }
        report["resolved_ids"] = json!(resolved);
        report.to_string()
    };
    std::fs::write(
        place.path("org__good.1.json"),
        report(&["me__calc-1", "me__calc-2"]),
    )
    .unwrap();
    std::fs::write(place.path("weak.1.json"), report(&["me__calc-2"])).unwrap();
    std::fs::write(place.path("weak.2.json"), report(&[])).unwrap();
    let args = [
        "leaderboard",
        "--dataset",
        "rows.jsonl",
        "weak.1.json",
        "weak.2.json",
        "org__good.1.json",
        "--k",
        "1,2",
    ];
    let done = place.run(&[&args[..], &["--format", "json"]].concat());
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let rows = done.json()["leaderboard"]["rows"].clone();
    assert_eq!(rows[0]["model"], "org/good");
    assert_eq!(rows[0]["overall"], 1.0);
    assert_eq!(rows[1]["overall"], 0.25);
    assert_eq!(
        done.json()["pass_at_k"]["weak"]["overall"]["pass_at"]["2"],
        0.5
    );
    let text = place.run(&args).stdout();
    assert!(text.starts_with("| Rank | Model |"), "{text}");
}

/// A run report of one model over rows of [`many_rows`].
fn report(place: &Place, name: &str, submitted: &[String], is_resolved: impl Fn(usize) -> bool) {
    let mut resolved = Vec::new();
    for (at, id) in submitted.iter().enumerate() {
        if is_resolved(at) {
            resolved.push(id.clone());
        }
    }
    let text = json!({
        "total_instances": submitted.len(), "submitted_instances": submitted.len(), "completed_instances": submitted.len(),
        "resolved_instances": resolved.len(), "unresolved_instances": submitted.len() - resolved.len(), "empty_patch_instances": 0,
        "error_instances": 0, "completed_ids": submitted, "incomplete_ids": [], "empty_patch_ids": [], "submitted_ids": submitted,
        "resolved_ids": resolved, "unresolved_ids": [], "error_ids": [], "schema_version": 2,
    });
    std::fs::write(place.path(name), text.to_string()).unwrap();
}

fn many_rows(place: &Place) -> Vec<String> {
    let ids: Vec<String> = (0..300).map(|at| format!("me__calc-{at}")).collect();
    let rows: Vec<Value> = ids.iter().map(|id| row(id)).collect();
    write(place, "rows.jsonl", &rows);
    ids
}

#[test]
fn a_leaderboard_says_how_sure_it_is() {
    let place = Place::new();
    let ids = many_rows(&place);
    report(&place, "good.1.json", &ids, |at| at % 2 == 0);
    report(&place, "near.1.json", &ids[..280], |at| {
        at % 2 == 0 && at % 30 != 0
    });
    report(&place, "twice.1.json", &ids, |at| at % 3 == 0);
    report(&place, "twice.2.json", &ids, |at| at % 4 == 0);
    let reports = ["good.1.json", "near.1.json", "twice.1.json", "twice.2.json"];
    let args = [
        &["leaderboard", "--dataset", "rows.jsonl", "--k", "1,2"][..],
        &reports,
    ]
    .concat();
    let done = place.run(&[&args[..], &["--format", "json"]].concat());
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let found = done.json()["statistics"].clone();
    assert_eq!(found["instances"], 300);
    assert_eq!(found["models"]["twice"]["solved"], 150);
    let pairs = found["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 6);
    let first = &pairs[0];
    assert_eq!(
        (&first["first"], &first["second"], &first["k"]),
        (&json!("good"), &json!("near"), &json!(1))
    );
    // Multiples of 30 up to 270, and the even ones of the last twenty that it did not answer.
    assert_eq!(
        (&first["only_first"], &first["only_second"]),
        (&json!(20), &json!(0))
    );
    assert!(first["p"].as_f64().unwrap() < 1e-5);
    assert!(first["difference"]["interval"]["low"].as_f64().unwrap() > 0.0);
    // One prediction of two resolves it: pass@1 is a half, which McNemar's test has no place for.
    assert_eq!(pairs[1]["p"], Value::Null);
    assert_eq!(
        place
            .run(&[&args[..], &["--format", "json"]].concat())
            .json(),
        done.json(),
        "the same draws"
    );
    let text = place.run(&args).stdout();
    assert!(text.contains("| good | near | 1 | 6.67% ("), "{text}");
    assert_eq!(
        place
            .run(&[&args[..], &["--resamples", "5"]].concat())
            .code(),
        2
    );

    let Some(python) = std::env::var_os("ATLAS_TEST_PYTHON") else {
        println!("skipped: ATLAS_TEST_PYTHON names no Python with statsmodels");
        return;
    };
    std::fs::write(place.path("printed.json"), done.stdout()).unwrap();
    let script =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/leaderboard.py");
    let named = reports.map(|name| {
        format!(
            "{}={}",
            name.split('.').next().unwrap(),
            place.path(name).display()
        )
    });
    let checked = std::process::Command::new(python)
        .arg(script)
        .args([place.path("rows.jsonl"), place.path("printed.json")])
        .args(named)
        .output()
        .unwrap();
    assert!(
        checked.status.success(),
        "{}",
        String::from_utf8_lossy(&checked.stderr)
    );
    let found: Value = serde_json::from_slice(&checked.stdout).unwrap();
    // Six numbers of three models, and the tests that there are: one at k = 1, three at k = 2.
    assert_eq!(found, json!({"wrong": [], "checked": 10}));
}
