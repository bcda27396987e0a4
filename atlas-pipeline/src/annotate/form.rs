//! What annotators are asked, and the table in which they answer.

use crate::near::hint;
use crate::store::sha256;
use atlas_core::{Error, ErrorKind};
use atlas_formats::Row;
use atlas_judge::metrics::Scale;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// The file of a folder that an annotator edits.
pub(super) const TABLE: &str = "annotations.csv";

/// One question.
pub(super) struct Question {
    /// The column.
    pub(super) name: &'static str,
    /// What may stand in it, in their order.
    pub(super) answers: &'static [&'static str],
    pub(super) scale: Scale,
    /// What is asked, for the guide.
    pub(super) asks: &'static str,
}

/// What decides on a row.
pub(super) const DECISION: &str = "decision";

/// All questions. The scores are those of paper 001's layer 3 and its appendix C, 0 (best) to 3 (worst).
pub(super) const QUESTIONS: [Question; 4] = [
    Question {
        name: DECISION,
        answers: &["accept", "repair", "reject"],
        scale: Scale::Nominal,
        asks: "Does the row belong into the dataset? `repair`: not as it is.",
    },
    Question {
        name: "issue_clarity",
        answers: &["0", "1", "2", "3"],
        scale: Scale::Ordinal,
        asks: "Does the statement say what is expected, specifically and with its context? 0: all there; 3: no action can be told from it.",
    },
    Question {
        name: "test_to_issue_alignment",
        answers: &["0", "1", "2", "3"],
        scale: Scale::Ordinal,
        asks: "Do the tests judge what the statement asks for? 0: the core behaviour and nothing else; 3: they miss it, or refuse right solutions.",
    },
    Question {
        name: "difficulty",
        answers: &["0", "1", "2", "3"],
        scale: Scale::Ordinal,
        asks: "How long would somebody who knows the project need? 0: up to 15 minutes; 1: up to an hour; 2: up to four hours; 3: longer.",
    },
];

/// Columns that are not answers: which row, which version of it, and what helps to find it.
pub(super) const FIXED: [&str; 4] = ["instance_id", "revision", "repo", "title"];

/// Free words.
pub(super) const NOTES: &str = "notes";

/// What tells whether a task is still the one that was annotated. What was said about it since is none of it.
pub(crate) fn revision(row: &Row) -> String {
    let beside = ["atlas", "domain", "license"];
    let task: Map<String, Value> = row
        .columns()
        .iter()
        .filter(|(name, _)| !beside.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let mut hash = sha256(Value::from(task).to_string().as_bytes());
    hash.truncate(12);
    hash
}

/// What one annotator said of one row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Annotation {
    pub(super) revision: String,
    /// The line of the table.
    pub(super) line: u64,
    /// Question -> the place of the answer; what was left empty is absent.
    pub(super) answers: BTreeMap<&'static str, usize>,
    pub(super) notes: String,
}

impl Annotation {
    pub(super) fn is_empty(&self) -> bool {
        self.answers.is_empty() && self.notes.is_empty()
    }
}

/// Reads a table as spreadsheets save it: with commas, semicolons or tabs, with or without a byte order mark.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] with file, line, column and what may stand there.
pub(super) fn read_table(path: &Path) -> Result<BTreeMap<String, Annotation>, Error> {
    let bytes = std::fs::read(path).map_err(|why| Error::io("read annotations", path, why))?;
    let wrong = |line: u64, what: String| {
        let place = format!("`{}`, line {line}: {what}", path.display());
        Error::new(ErrorKind::InvalidInput, "read annotations:", place)
    };
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    if std::str::from_utf8(bytes).is_err() {
        return Err(wrong(
            1,
            "the file is no UTF-8; save it as \"CSV UTF-8\"".to_owned(),
        ));
    }
    let first = bytes
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let count = |sign: &u8| memchr::memchr_iter(*sign, first).count();
    let delimiter = [b',', b';', b'\t']
        .into_iter()
        .max_by_key(count)
        .unwrap_or(b',');
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .from_reader(bytes);
    let broken = |why: &csv::Error| {
        let line = why.position().map_or(1, csv::Position::line);
        wrong(line, why.to_string())
    };
    let headers = reader.headers().map_err(|why| broken(&why))?.clone();
    let names: Vec<String> = headers
        .iter()
        .map(|name| name.trim().to_lowercase())
        .collect();
    let known: Vec<&str> = FIXED
        .into_iter()
        .chain(QUESTIONS.iter().map(|question| question.name))
        .chain([NOTES])
        .collect();
    for name in names.iter().filter(|name| !name.is_empty()) {
        if !known.contains(&name.as_str()) {
            let near = hint(name, known.iter().copied());
            let what = format!(
                "column `{name}` is not known{near}; {} expected",
                known.join(", ")
            );
            return Err(wrong(1, what));
        }
        if names.iter().filter(|other| *other == name).count() > 1 {
            return Err(wrong(1, format!("column `{name}` is there twice")));
        }
    }
    for name in ["instance_id", "revision"] {
        if !names.iter().any(|known| known == name) {
            return Err(wrong(
                1,
                format!("there is no column `{name}`; export the table again"),
            ));
        }
    }
    let mut found: BTreeMap<String, Annotation> = BTreeMap::new();
    for record in reader.records() {
        let record = record.map_err(|why| broken(&why))?;
        let line = record.position().map_or(0, csv::Position::line);
        if record.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        if let Some(cell) = record
            .iter()
            .skip(names.len())
            .find(|cell| !cell.trim().is_empty())
        {
            let what =
                format!("`{cell}` stands behind the last column; put text with commas into quotes");
            return Err(wrong(line, what));
        }
        let cell = |name: &str| {
            let at = names.iter().position(|known| known == name);
            at.and_then(|at| record.get(at)).unwrap_or_default().trim()
        };
        let id = cell("instance_id").to_owned();
        if id.is_empty() {
            return Err(wrong(
                line,
                "column `instance_id` is empty; it names the row".to_owned(),
            ));
        }
        let mut annotation = Annotation {
            revision: cell("revision").to_owned(),
            line,
            notes: cell(NOTES).to_owned(),
            ..Annotation::default()
        };
        for question in &QUESTIONS {
            let said = cell(question.name);
            if said.is_empty() {
                continue;
            }
            let spelled = said.to_lowercase();
            // A spreadsheet may have made a number of it.
            let spelled = spelled.strip_suffix(".0").unwrap_or(&spelled);
            let Some(at) = question
                .answers
                .iter()
                .position(|answer| *answer == spelled)
            else {
                let near = hint(spelled, question.answers.iter().copied());
                let all = question.answers.join(", ");
                let what = format!(
                    "column `{}`: `{said}`: one of {all}, or nothing, expected{near}",
                    question.name
                );
                return Err(wrong(line, what));
            };
            annotation.answers.insert(question.name, at);
        }
        if let Some(first) = found.insert(id.clone(), annotation) {
            return Err(wrong(
                line,
                format!(
                    "column `instance_id`: `{id}` stands already on line {}",
                    first.line
                ),
            ));
        }
    }
    Ok(found)
}

/// A text of strangers as a cell that no spreadsheet takes for a formula.
pub(super) fn harmless(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}
