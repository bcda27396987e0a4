//! R2E-Gym rows: a commit, an image and the statuses expected after it.

use super::fields::Field;
use super::view::{View, list, text};
use crate::json;
use crate::json::Style;
use serde_json::{Map, Value};

/// The statuses of [`Field::PassToPass`] are those expected to pass: which of them failed before is
/// not in the row.
pub(super) fn read(row: &Map<String, Value>) -> View {
    let mut view = View::new();
    let of = |column: &str| row.get(column).and_then(Value::as_str);
    let object = |column: &str| -> Option<Value> {
        match row.get(column)? {
            Value::String(text) => serde_json::from_str(text).ok(),
            other => Some(other.clone()),
        }
    };
    if let (Some(repo), Some(commit)) = (of("repo_name"), of("commit_hash")) {
        let id = of("instance_id").map_or_else(
            || format!("{}-{commit}", repo.replace('/', "__")),
            str::to_owned,
        );
        view.insert(Field::InstanceId, id.into());
        view.insert(Field::Repo, repo.into());
    }
    for (column, field) in [
        ("docker_image", Field::Image),
        ("problem_statement", Field::ProblemStatement),
    ] {
        if let Some(value) = of(column) {
            view.insert(field, value.into());
        }
    }
    // The row names the solution's commit; its parent stands in the parsed commit.
    let parsed = object("parsed_commit_content");
    let base = parsed.as_ref().and_then(|commit| {
        ["old_commit_hash", "base_commit"]
            .into_iter()
            .find_map(|key| commit.get(key)?.as_str())
    });
    if let Some(base) = base {
        view.insert(Field::BaseCommit, base.into());
    }
    if let Some(Value::Object(expected)) = object("expected_output_json") {
        let pass: Vec<String> = expected
            .into_iter()
            .filter(|(_, status)| status.as_str() == Some("PASSED"))
            .map(|(name, _)| name)
            .collect();
        view.insert(Field::PassToPass, pass.into());
    }
    view
}

pub(super) fn write(view: &View, missing: &mut Vec<&'static str>) -> Map<String, Value> {
    let mut row = Map::new();
    for (column, field) in [
        ("repo_name", Field::Repo),
        ("docker_image", Field::Image),
        ("problem_statement", Field::ProblemStatement),
    ] {
        let value = text(view, field).unwrap_or_else(|| {
            missing.push(column);
            ""
        });
        row.insert(column.to_owned(), value.into());
    }
    // Which commit brought the solution is not known: only what it stands on.
    missing.push("commit_hash");
    row.insert("commit_hash".to_owned(), "".into());
    if let Some(base) = text(view, Field::BaseCommit) {
        let mut commit = Map::new();
        commit.insert("old_commit_hash".to_owned(), base.into());
        let commit = json::render(&commit.into(), &Style::PYTHON);
        row.insert("parsed_commit_content".to_owned(), commit.into());
    }
    let expected: Map<String, Value> = list(view, Field::PassToPass)
        .into_iter()
        .chain(list(view, Field::FailToPass))
        .map(|name| (name, "PASSED".into()))
        .collect();
    let expected = json::render(&expected.into(), &Style::PYTHON);
    row.insert("expected_output_json".to_owned(), expected.into());
    if let Some(id) = text(view, Field::InstanceId) {
        row.insert("instance_id".to_owned(), id.into());
    }
    row
}
