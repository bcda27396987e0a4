//! Columns: there, readable, and in the form they should have.

use super::{Finding, LintCode, LintedRow, finding, shown};
use crate::convert::{
    END, Field, Form, Need, START, Spelling, columns, image_name, places, read_list, text,
};
use crate::row::Row;
use crate::schema::Schema;
use atlas_core::{FilePatch, HunkLineKind, Patch};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Extensions of files that no program is made of.
const PROSE: &[&str] = &["md", "mdx", "rst", "txt", "adoc", "html"];

/// Folders of documentation, with the programs that it shows.
const DOCUMENTATION: &[&str] = &["doc", "docs", "examples"];

/// What shows only when rows are compared.
pub(super) fn across(rows: &[Row], schema: Option<Schema>, findings: &mut Vec<Finding>) {
    let mut seen: BTreeMap<&str, &Row> = BTreeMap::new();
    let mut usual: Option<(Spelling, &Row)> = None;
    for row in rows {
        if let Some(first) = seen.insert(row.id().as_str(), row) {
            let message = match first.place() {
                Some(place) => format!("the name is there already, at {place}"),
                None => "the name is there already".to_owned(),
            };
            let way_out = "keep one of the rows, or rename one";
            findings.push(finding(
                row,
                LintCode::DuplicateInstance,
                "instance_id",
                message,
                way_out,
            ));
        }
        let Some(schema) = schema.or_else(|| Schema::detect(row)) else {
            continue;
        };
        // One finding a row: its first list that is spelled in another way than the dataset's first.
        for column in columns(schema) {
            if !matches!(column.field, Field::FailToPass | Field::PassToPass) {
                continue;
            }
            let Some((_, spelling)) = row.get(column.name).and_then(read_list) else {
                continue;
            };
            // Read by `eval`, to which a JSON list of texts is Python; published rows have both.
            let spelling = match spelling {
                Spelling::Json if schema == Schema::Pro => Spelling::Python,
                other => other,
            };
            match usual {
                None => usual = Some((spelling, row)),
                Some((first, _)) if first == spelling => {}
                Some((first, of)) => {
                    let message = format!(
                        "the list is {}, that of `{}` {}",
                        spelled(spelling),
                        of.id(),
                        spelled(first)
                    );
                    findings.push(finding(
                        row,
                        LintCode::MixedListEncoding,
                        column.name,
                        message,
                        "write all lists in one way",
                    ));
                    break;
                }
            }
        }
    }
}

fn spelled(spelling: Spelling) -> &'static str {
    match spelling {
        Spelling::List => "a list",
        Spelling::Json => "JSON in a text",
        Spelling::Python => "Python in a text",
    }
}

pub(super) fn look(looked: &mut LintedRow<'_>) {
    present(looked);
    names(looked);
    base_commit(looked);
    created_at(looked);
    problem(looked);
    running(looked);
}

/// The column of a field in this row, for messages: the one that is there, else the schema's first.
pub(super) fn column_of(looked: &LintedRow<'_>, field: Field) -> &'static str {
    let places = places(looked.schema, field);
    places
        .iter()
        .copied()
        .find(|place| looked.row.columns().contains_key(*place))
        .or_else(|| places.first().copied())
        .unwrap_or_else(|| field.as_str())
}

fn present(looked: &mut LintedRow<'_>) {
    if looked.schema.is_folder() {
        return super::tasks::present(looked);
    }
    for column in columns(looked.schema) {
        let value = looked.row.get(column.name).filter(|value| !value.is_null());
        match value {
            None if column.need == Need::Required => looked.add(
                LintCode::MissingColumn,
                column.name,
                format!("{} asks for it", looked.schema),
                "add the column, or convert the row into the schema it fits",
            ),
            None => {}
            Some(value) => {
                let readable = match column.form {
                    // The view reads both.
                    Form::Text if column.field == Field::Number => {
                        value.is_string() || value.is_number()
                    }
                    Form::Text | Form::ProTag | Form::Reversed => value.is_string(),
                    Form::Any => true,
                    Form::Object => value.is_object() || value.is_string(),
                    Form::JsonObject => looked.view.contains_key(&column.field),
                    Form::List | Form::JsonList | Form::PythonList => {
                        read_list(value).is_some()
                            || (column.field == Field::TestCommands && value.is_string())
                    }
                };
                if !readable {
                    looked.add(
                        LintCode::UnreadableValue,
                        column.name,
                        format!(
                            "`{}` is not of the form it should have",
                            shown(&value.to_string())
                        ),
                        "write a list of texts as a list, as JSON or as Python",
                    );
                }
            }
        }
    }
}

fn names(looked: &mut LintedRow<'_>) {
    let id = looked.row.id().to_string();
    let free = matches!(
        looked.schema,
        Schema::Pro | Schema::Smith | Schema::R2e | Schema::HarborTask
    );
    if free {
        return;
    }
    let parts = id.split_once("__").and_then(|(owner, rest)| {
        let (repo, number) = rest.rsplit_once('-')?;
        Some((owner, repo, number))
    });
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let Some((owner, repo, number)) = parts else {
        return looked.add(
            LintCode::InstanceIdForm,
            "instance_id",
            format!("`{id}` is not `owner__repo-number`"),
            "rename the row",
        );
    };
    if !is_number(number) {
        looked.add(
            LintCode::InstanceIdForm,
            "instance_id",
            format!("`{}` is no number of a pull request", shown(number)),
            "harnesses that take the version from the name need a number there",
        );
    }
    let of_row = text(&looked.view, Field::Repo)
        .unwrap_or_default()
        .to_owned();
    if !of_row.is_empty() && !of_row.eq_ignore_ascii_case(&format!("{owner}/{repo}")) {
        looked.add(
            LintCode::InstanceIdRepo,
            "repo",
            format!("`{of_row}` in the row, `{owner}/{repo}` in the name"),
            "correct whichever is wrong",
        );
    }
}

fn base_commit(looked: &mut LintedRow<'_>) {
    let Some(commit) = text(&looked.view, Field::BaseCommit).map(str::to_owned) else {
        return;
    };
    let good = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !good {
        let field = column_of(looked, Field::BaseCommit);
        looked.add(
            LintCode::BaseCommitForm,
            field,
            format!("`{}` is not 40 hexadecimal digits", shown(&commit)),
            "write the whole commit id: a branch or a short id moves",
        );
    }
}

fn created_at(looked: &mut LintedRow<'_>) {
    let good = match looked.view.get(&Field::CreatedAt) {
        None | Some(Value::Null | Value::Number(_)) => true,
        Some(Value::String(text)) => text.is_empty() || is_time(text),
        Some(_) => false,
    };
    if !good {
        let field = column_of(looked, Field::CreatedAt);
        let value = looked.view.get(&Field::CreatedAt).map(Value::to_string);
        looked.add(
            LintCode::CreatedAtForm,
            field,
            format!("{} is no time", shown(&value.unwrap_or_default())),
            "write it as 2024-05-31T12:00:00Z, or as milliseconds since 1970",
        );
    }
}

/// `2024-05-31`, alone or followed by a time and a zone; or digits alone.
fn is_time(text: &str) -> bool {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return true;
    }
    let number = |range: std::ops::Range<usize>| -> Option<u32> {
        let digits = text.get(range)?;
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|_| plain)
    };
    let date = number(0..4).is_some()
        && text.get(4..5) == Some("-")
        && number(5..7).is_some_and(|month| (1..=12).contains(&month))
        && text.get(7..8) == Some("-")
        && number(8..10).is_some_and(|day| (1..=31).contains(&day));
    if !date || text.len() == 10 {
        return date;
    }
    let time = matches!(text.get(10..11), Some("T" | " " | "t"))
        && number(11..13).is_some_and(|hour| hour < 24)
        && text.get(13..14) == Some(":")
        && number(14..16).is_some_and(|minute| minute < 60);
    time && text.get(16..).is_some_and(|rest| {
        rest.chars()
            .all(|c| c.is_ascii_digit() || matches!(c, ':' | '.' | '+' | '-' | 'Z' | 'z' | ' '))
            || rest.ends_with("UTC")
    })
}

fn problem(looked: &mut LintedRow<'_>) {
    let field = column_of(looked, Field::ProblemStatement);
    let problem = text(&looked.view, Field::ProblemStatement)
        .unwrap_or_default()
        .to_owned();
    if problem.trim().is_empty() {
        return looked.add(
            LintCode::EmptyProblem,
            field,
            "nothing says what is asked for",
            "take the text of the issue or of the pull request",
        );
    }
    let gold = text(&looked.view, Field::GoldPatch).unwrap_or_default();
    let Ok(files) = Patch::new(gold).files() else {
        return;
    };
    // Documentation has examples that many have; examples are of the users' writing.
    let is_code = |file: &&FilePatch| {
        let mut folders = file.path().split('/').rev();
        let name = folders.next().unwrap_or_default();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        !PROSE.contains(&extension) && !folders.any(|folder| DOCUMENTATION.contains(&folder))
    };
    let lines = |files: &[FilePatch], is_new: bool| -> BTreeSet<String> {
        let lines = files.iter().filter(is_code).flat_map(|file| &file.hunks);
        let lines = lines.flat_map(|hunk| &hunk.lines);
        lines
            .filter(|line| (line.kind == HunkLineKind::Insert) == is_new)
            .map(|line| String::from_utf8_lossy(&line.bytes).trim().to_owned())
            .collect()
    };
    // A line that is only moved stood in the code that the statement quotes.
    let old = lines(&files, false);
    let told: BTreeSet<&str> = problem.lines().map(str::trim).collect();
    // Lines long enough that no one writes them by chance.
    let leaked: BTreeSet<String> = lines(&files, true)
        .into_iter()
        .filter(|line| line.len() >= 25 && told.contains(line.as_str()))
        .filter(|line| !old.contains(line) && !is_import(line) && !is_remark(line))
        .collect();
    if let Some(line) = leaked.iter().next() {
        let message = format!(
            "{} of the solution's lines, as `{}`",
            leaked.len(),
            shown(line)
        );
        looked.add(
            LintCode::SolutionInProblem,
            field,
            message,
            "take the lines out, or say that the task gives the answer",
        );
    }
}

/// Whether a line names what it takes from elsewhere: every user of a library writes the same.
fn is_import(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    matches!(
        first,
        "import" | "from" | "use" | "using" | "#include" | "package"
    ) || line.contains("require(")
}

/// Whether a line is a remark or an example in one: it says what is wished for, not how it is done.
fn is_remark(line: &str) -> bool {
    let marks = ["//", "/*", "* ", "# ", "-- ", ">>> ", "... "];
    marks.iter().any(|mark| line.starts_with(mark))
}

/// What the harness of version 5 needs to run a row.
fn running(looked: &mut LintedRow<'_>) {
    let v5 = matches!(
        looked.schema,
        Schema::SwebenchV5 | Schema::SwebenchV5TaskRepo
    );
    let of = |looked: &LintedRow<'_>, field| {
        text(&looked.view, field)
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let runs_in_image = v5 || matches!(looked.schema, Schema::Smith | Schema::R2e | Schema::Pro);
    if runs_in_image {
        let image = of(looked, Field::Image);
        let field = column_of(looked, Field::Image);
        let blank = image.is_empty() || image.ends_with("sweap-images:");
        // Pro's evaluation makes the tag of the name and the repository; it does not read the column.
        let is_derived = looked.schema == Schema::Pro
            && looked.row.id().as_str().starts_with("instance_")
            && of(looked, Field::Repo).contains('/');
        let blank = blank && !is_derived;
        if blank {
            looked.add(
                LintCode::MissingImage,
                field,
                "no image to run in",
                "build the environment and write its image's full name",
            );
        } else if v5 {
            let expected = image_name("swebench", looked.row.id().as_str());
            if image != expected {
                looked.add(
                    LintCode::ImageName,
                    field,
                    format!(
                        "`{}`, the checks of version 5 expect `{expected}`",
                        shown(&image)
                    ),
                    "rename the image where the row is to be published there",
                );
            }
        }
    }
    if !v5 {
        return;
    }
    let script = of(looked, Field::EvalScript);
    if !(script.contains(START) && script.contains(END)) {
        let field = column_of(looked, Field::EvalScript);
        looked.add(
            LintCode::MissingMarkers,
            field,
            "the script does not print both markers",
            "print `>>>>> Start Test Output` and `>>>>> End Test Output` around the tests",
        );
    }
    let kind = of(looked, Field::EvalType);
    if !matches!(kind.as_str(), "pass_and_fail" | "fail_only") {
        let field = column_of(looked, Field::EvalType);
        looked.add(
            LintCode::UnknownEvalType,
            field,
            format!(
                "`{}` is neither `pass_and_fail` nor `fail_only`",
                shown(&kind)
            ),
            "write one of the two",
        );
    }
    if of(looked, Field::LogParser).is_empty() {
        let field = column_of(looked, Field::LogParser);
        looked.add(
            LintCode::MissingLogParser,
            field,
            "nothing says how to read the log",
            "name the harness's reader, as `parse_log_pytest`",
        );
    }
}
