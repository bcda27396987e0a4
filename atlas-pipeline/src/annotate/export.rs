//! Files for annotators.

use super::form::{FIXED, NOTES, QUESTIONS, TABLE, harmless, read_table, revision};
use crate::clones::artefacts_of;
use crate::write_atomically;
use atlas_core::{Error, ErrorKind};
use atlas_formats::{ReadOptions, Row, read_dataset};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What was written for annotators.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnnotationFiles {
    /// Version of this report's form.
    pub schema_version: u32,
    /// The folder.
    pub out: PathBuf,
    /// The table that is edited.
    pub table: PathBuf,
    /// How many rows.
    pub rows: usize,
}

/// Most bytes of a patch or statement on a row's page.
const PAGE_PART: usize = 60_000;

/// Writes for each row a page to read, `instances/<id>.md`, and one table to fill in, `annotations.csv`, with a guide, `README.md`. Every
/// annotator gets a folder of their own.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] for a dataset with rows that cannot be read, with file and line, and for a folder whose table has been filled in:
/// nobody's work is written over.
pub fn export_annotations(dataset: &Path, out: &Path) -> Result<AnnotationFiles, Error> {
    let inside = dataset.join("dataset.jsonl");
    let dataset = if inside.is_file() { &inside } else { dataset };
    let set = read_dataset(dataset, &ReadOptions::default())?;
    let wrong = |what: String| {
        Err(Error::new(
            ErrorKind::InvalidInput,
            "export for annotators:",
            what,
        ))
    };
    if let Some(fault) = set.faults.first() {
        return wrong(fault.to_string());
    }
    if set.rows.is_empty() {
        return wrong(format!("`{}`: there is no row in it", dataset.display()));
    }
    let table = out.join(TABLE);
    if table.exists() && read_table(&table)?.values().any(|said| !said.is_empty()) {
        return wrong(format!(
            "`{}` has been filled in; choose another --out, or move it away",
            table.display()
        ));
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed =
        |why: csv::Error| Error::new(ErrorKind::Internal, "write annotations", "").with_source(why);
    let questions = QUESTIONS.iter().map(|question| question.name);
    let header: Vec<&str> = FIXED.into_iter().chain(questions).chain([NOTES]).collect();
    writer.write_record(&header).map_err(failed)?;
    for row in &set.rows {
        let id = row.id().as_str();
        let mut record = vec![
            id.to_owned(),
            revision(row),
            harmless(row.text("repo").unwrap_or_default()),
            harmless(&title(row)),
        ];
        record.resize(header.len(), String::new());
        writer.write_record(&record).map_err(failed)?;
        let page = page(row, &artefacts_of(dataset, id));
        write_atomically(
            &out.join("instances").join(format!("{id}.md")),
            page.as_bytes(),
        )?;
    }
    let text = writer.into_inner().map_err(|why| {
        Error::new(ErrorKind::Internal, "write annotations", "").with_source(why.to_string())
    })?;
    write_atomically(&out.join("README.md"), guide().as_bytes())?;
    // Last, so that a run that was killed leaves no table without its pages.
    write_atomically(&table, &text)?;
    Ok(AnnotationFiles {
        schema_version: 1,
        out: out.to_owned(),
        table,
        rows: set.rows.len(),
    })
}

/// The first line of the statement, cut.
fn title(row: &Row) -> String {
    let text = row.text("problem_statement").unwrap_or_default();
    let line = text.lines().find(|line| !line.trim().is_empty());
    atlas_core::one_line(line.unwrap_or_default(), 120)
}

fn guide() -> String {
    let mut text = format!(
        "# Annotating tasks\n\nRead `instances/<instance_id>.md`, and fill in the row of `{TABLE}` that has its name. Any spreadsheet opens the table; \
         save it as CSV, in UTF-8. Leave a cell empty where you cannot tell. The columns {} say which row it is: leave them as they are.\n\n\
         | Column | Answers | Question |\n|---|---|---|\n",
        FIXED.map(|name| format!("`{name}`")).join(", ")
    );
    for question in &QUESTIONS {
        let _ = writeln!(
            text,
            "| `{}` | {} | {} |",
            question.name,
            question.answers.join(", "),
            question.asks
        );
    }
    let _ = writeln!(text, "| `{NOTES}` | free | Why, where it is not plain. |");
    text
}

/// A row to read.
fn page(row: &Row, artefacts: &Path) -> String {
    let text = |column: &str| row.text(column).unwrap_or_default();
    let mut page = format!("# {}\n\n", row.id());
    for (name, value) in [
        ("Repository", text("repo")),
        ("Base commit", text("base_commit")),
        ("Created", text("created_at")),
        ("Language", text("language")),
    ] {
        if !value.is_empty() {
            let _ = writeln!(page, "- {name}: {value}");
        }
    }
    let atlas = row.get("atlas").unwrap_or(&Value::Null);
    for (name, value) in [
        ("Kind", &atlas["kind"]),
        ("Doubts", &atlas["doubts"]),
        ("Gates", &atlas["gates"]),
        ("Unstable tests", &atlas["unstable"]),
        ("Classes and size", &atlas["curation"]),
    ] {
        let is_said = match value {
            Value::Null => false,
            Value::Array(all) => !all.is_empty(),
            Value::Object(all) => !all.is_empty(),
            _ => true,
        };
        if is_said {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            let _ = writeln!(page, "- {name}: {value}");
        }
    }
    part(
        &mut page,
        "Problem statement",
        "text",
        text("problem_statement"),
    );
    part(&mut page, "Hints", "text", text("hints_text"));
    if let Ok(instance) = row.instance() {
        for (name, list) in [
            ("FAIL_TO_PASS", instance.fail_to_pass()),
            ("PASS_TO_PASS", instance.pass_to_pass()),
        ] {
            if let Ok(list) = list {
                let shown: Vec<&str> = list.ids.iter().take(200).collect();
                let title = format!("{name} ({})", list.ids.len());
                part(&mut page, &title, "text", &shown.join("\n"));
            }
        }
    }
    for (title, columns) in [
        ("Tests", ["test_patch", "test_patch"]),
        ("Solution", ["patch", "gold_patch"]),
    ] {
        let found = columns
            .iter()
            .map(|column| text(column))
            .find(|text| !text.is_empty());
        part(&mut page, title, "diff", found.unwrap_or_default());
    }
    if artefacts.join("oracle.json").is_file() {
        page.push_str("\nEvery test in every state, and the logs, stand in the folder of this name beside the dataset.\n");
    }
    page
}

/// A part of a page, fenced by more signs than it holds.
fn part(page: &mut String, title: &str, language: &str, text: &str) {
    if text.trim().is_empty() {
        return;
    }
    let mut end = text.len().min(PAGE_PART);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let shown = &text[..end];
    let longest = shown.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = write!(
        page,
        "\n## {title}\n\n{fence}{language}\n{}\n{fence}\n",
        shown.trim_end()
    );
    if end < text.len() {
        let _ = writeln!(page, "\n{} bytes more stand in the row.", text.len() - end);
    }
}
