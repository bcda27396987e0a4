//! Multi-SWE-bench rows: a pull request and each test's status in three runs.

use super::fields::Field;
use super::view::{View, list, text};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Columns of statuses: how a test went without patches (`run`), with the test patch (`test`) and
/// with both (`fix`). In the order in which they are written.
pub(super) const RESULTS: [&str; 4] = [
    "fixed_tests",
    "run_result",
    "test_patch_result",
    "fix_patch_result",
];

/// Classes of tests that come to pass.
const TO_PASS: [&str; 3] = ["f2p_tests", "s2p_tests", "n2p_tests"];

/// Names of a column of statuses. Parquet holds the map as one list a column: `{name: […], fix: […]}`.
pub(crate) fn names(value: Option<&Value>) -> Vec<String> {
    let Some(Value::Object(map)) = value else {
        return Vec::new();
    };
    match map.get("name") {
        Some(Value::Array(names)) if map.get("fix").is_some_and(Value::is_array) => names
            .iter()
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect(),
        _ => map.keys().cloned().collect(),
    }
}

pub(super) fn read(row: &Map<String, Value>) -> View {
    let mut view = View::new();
    let text = |column: &str| row.get(column).and_then(Value::as_str);
    let mut put = |field, value: Option<Value>| {
        if let Some(value) = value {
            view.insert(field, value);
        }
    };
    if let (Some(org), Some(repo)) = (text("org"), text("repo")) {
        put(Field::Repo, Some(format!("{org}/{repo}").into()));
        if let Some(number) = number(row) {
            put(
                Field::InstanceId,
                Some(format!("{org}__{repo}-{number}").into()),
            );
            put(Field::Number, Some(number.into()));
        }
    }
    if let Some(id) = text("instance_id") {
        put(Field::InstanceId, Some(id.into()));
    }
    let base = row.get("base").and_then(|base| base.get("sha"));
    put(
        Field::BaseCommit,
        base.filter(|sha| sha.is_string()).cloned(),
    );
    put(Field::GoldPatch, text("fix_patch").map(Into::into));
    put(Field::TestPatch, text("test_patch").map(Into::into));
    put(Field::Hints, text("hints").map(Into::into));
    put(
        Field::Language,
        text("lang").filter(|lang| !lang.is_empty()).map(Into::into),
    );
    put(Field::ProblemStatement, problem(row).map(Into::into));
    if row.contains_key("p2p_tests") {
        let to_pass: Vec<String> = TO_PASS
            .into_iter()
            .flat_map(|column| names(row.get(column)))
            .collect();
        put(Field::FailToPass, Some(to_pass.into()));
        put(Field::PassToPass, Some(names(row.get("p2p_tests")).into()));
    }
    view
}

fn number(row: &Map<String, Value>) -> Option<String> {
    match row.get("number")? {
        Value::Number(number) => Some(number.to_string()),
        Value::String(number) => Some(number.clone()),
        _ => None,
    }
}

/// The issues' titles and bodies, or those of the pull request where it resolves none.
fn problem(row: &Map<String, Value>) -> Option<String> {
    let both = |of: &dyn Fn(&str) -> Option<String>| {
        let title = of("title")?;
        Some(match of("body") {
            Some(body) => format!("{title}\n{body}"),
            None => title,
        })
    };
    let texts: Vec<String> = row
        .get("resolved_issues")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|issue| both(&|key| issue.get(key)?.as_str().map(str::to_owned)))
        .collect();
    if texts.is_empty() {
        return both(&|key| row.get(key)?.as_str().map(str::to_owned));
    }
    Some(texts.join("\n\n"))
}

pub(super) fn write(view: &View, missing: &mut Vec<&'static str>) -> Map<String, Value> {
    let mut need = |field, column| {
        if let Some(text) = text(view, field) {
            text.to_owned()
        } else {
            missing.push(column);
            String::new()
        }
    };
    let repo = need(Field::Repo, "repo");
    let sha = need(Field::BaseCommit, "base");
    let fix = need(Field::GoldPatch, "fix_patch");
    let test = need(Field::TestPatch, "test_patch");
    let problem = need(Field::ProblemStatement, "resolved_issues");
    let number = text(view, Field::Number)
        .and_then(|number| number.parse::<u64>().ok())
        .unwrap_or_else(|| {
            missing.push("number");
            0
        });
    let (org, name) = repo.split_once('/').unwrap_or(("", &repo));
    let (title, body) = match problem.split_once('\n') {
        Some((title, body)) => (title, Some(body)),
        None => (problem.as_str(), None),
    };
    let fail = list(view, Field::FailToPass);
    let pass = list(view, Field::PassToPass);
    let statuses = |names: &[String], run: &str, test: &str| -> Value {
        names
            .iter()
            .map(|name| {
                (
                    name.clone(),
                    json!({"run": run, "test": test, "fix": "PASS"}),
                )
            })
            .collect::<Map<String, Value>>()
            .into()
    };
    let result = |passed: &[String], failed: &[String]| {
        let passed: BTreeSet<&String> = passed.iter().collect();
        let failed: BTreeSet<&String> = failed.iter().filter(|t| !passed.contains(t)).collect();
        json!({
            "passed_count": passed.len(),
            "failed_count": failed.len(),
            "skipped_count": 0,
            "passed_tests": passed,
            "failed_tests": failed,
            "skipped_tests": [],
        })
    };
    let all: Vec<String> = pass.iter().chain(&fail).cloned().collect();
    let fixed = statuses(&fail, "NONE", "FAIL");
    let mut row = Map::new();
    for (column, value) in [
        ("org", json!(org)),
        ("repo", json!(name)),
        ("number", json!(number)),
        ("state", json!("closed")),
        ("title", json!("")),
        ("body", Value::Null),
        ("base", json!({"label": "", "ref": "", "sha": sha})),
        (
            "resolved_issues",
            json!([{"number": 0, "title": title, "body": body}]),
        ),
        ("fix_patch", json!(fix)),
        ("test_patch", json!(test)),
        ("fixed_tests", fixed.clone()),
        ("p2p_tests", statuses(&pass, "PASS", "PASS")),
        ("f2p_tests", fixed),
        ("s2p_tests", json!({})),
        ("n2p_tests", json!({})),
        ("run_result", result(&pass, &[])),
        ("test_patch_result", result(&pass, &fail)),
        ("fix_patch_result", result(&all, &[])),
    ] {
        row.insert(column.to_owned(), value);
    }
    if let Some(lang) = text(view, Field::Language) {
        row.insert("lang".to_owned(), lang.into());
    }
    if let Some(hints) = text(view, Field::Hints) {
        row.insert("hints".to_owned(), hints.into());
    }
    // The name that the columns give; another one must stand beside them.
    let named = format!("{org}__{name}-{number}");
    if let Some(id) = text(view, Field::InstanceId).filter(|id| *id != named) {
        row.insert("instance_id".to_owned(), id.into());
    }
    row
}
