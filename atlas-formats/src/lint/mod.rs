//! What is wrong with rows that could be read.

mod codes;
mod columns;
mod multi;
mod patches;
mod tasks;
mod tests;

pub use codes::{LintCode, UnknownLintCode};

use crate::convert::{View, read};
use crate::dataset::Dataset;
use crate::row::Row;
use crate::schema::Schema;
use atlas_core::{Instance, Severity};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Why a patch does not apply, as the caller found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchProblem {
    /// The column of the patch: `patch` or `test_patch`.
    pub field: String,
    /// What the tool said.
    pub message: String,
}

/// Tries the patches of a row in a clone of its repository.
pub type TryPatches<'a> = &'a dyn Fn(&Instance) -> Option<PatchProblem>;

/// How to lint.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct LintOptions<'a> {
    /// The schema of all rows. Default: told from each row.
    pub schema: Option<Schema>,
    /// Codes that are not reported. Default: none.
    pub ignored: BTreeSet<LintCode>,
    /// Tries the patches. It is given the row as version 4 of SWE-bench has it, whatever its schema.
    /// Default: patches are read, not applied.
    pub try_patches: Option<TryPatches<'a>>,
}

impl fmt::Debug for LintOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LintOptions")
            .field("schema", &self.schema)
            .field("ignored", &self.ignored)
            .field("try_patches", &self.try_patches.is_some())
            .finish()
    }
}

impl<'a> LintOptions<'a> {
    /// The same options with a schema for all rows.
    #[must_use]
    pub fn with_schema(mut self, schema: Schema) -> Self {
        self.schema = Some(schema);
        self
    }

    /// The same options without a code.
    #[must_use]
    pub fn without(mut self, code: LintCode) -> Self {
        self.ignored.insert(code);
        self
    }

    /// The same options with a try of the patches.
    #[must_use]
    pub fn trying_patches(mut self, try_patches: TryPatches<'a>) -> Self {
        self.try_patches = Some(try_patches);
        self
    }
}

/// One thing that is wrong with a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What.
    pub code: LintCode,
    /// How much it matters.
    pub severity: Severity,
    /// The row.
    pub instance: String,
    /// The column, or the file of a folder.
    pub field: String,
    /// The line of the dataset on which the row begins, from 1; 0 where there are no lines.
    pub line: usize,
    /// One sentence, with the value in question.
    pub message: String,
    /// What to do about it.
    pub way_out: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Fatal => "error",
        };
        write!(f, "{severity}[{}] {}", self.code, self.instance)?;
        if self.line > 0 {
            write!(f, " (line {})", self.line)?;
        }
        write!(f, ": `{}`: {}; {}", self.field, self.message, self.way_out)
    }
}

/// A row while it is looked at.
struct LintedRow<'a> {
    row: &'a Row,
    schema: Schema,
    view: View,
    findings: &'a mut Vec<Finding>,
}

impl LintedRow<'_> {
    fn add(&mut self, code: LintCode, field: &str, message: impl Into<String>, way_out: &str) {
        self.findings
            .push(finding(self.row, code, field, message.into(), way_out));
    }
}

fn finding(row: &Row, code: LintCode, field: &str, message: String, way_out: &str) -> Finding {
    Finding {
        code,
        severity: code.severity(),
        instance: row.id().to_string(),
        field: field.to_owned(),
        line: row.place().map_or(0, |place| place.line),
        message,
        way_out: way_out.to_owned(),
    }
}

/// Looks at every row; findings come in the order of the rows. What could not be read at all is in
/// the dataset's own faults.
///
/// ```
/// use atlas_formats::{Dataset, LintCode, LintOptions, lint};
/// let row = r#"{"instance_id": "a__b-1", "repo": "a/b", "patch": "", "FAIL_TO_PASS": "[]"}"#;
/// let dataset = Dataset::from_bytes(row.as_bytes(), "tasks.jsonl".as_ref());
/// let findings = lint(&dataset, &LintOptions::default());
/// assert!(findings.iter().any(|finding| finding.code == LintCode::EmptyFailToPass));
/// ```
#[must_use]
pub fn lint(dataset: &Dataset, options: &LintOptions<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut solutions = BTreeMap::new();
    columns::across(&dataset.rows, options.schema, &mut findings);
    for row in &dataset.rows {
        let Some(schema) = options.schema.or_else(|| Schema::detect(row)) else {
            findings.push(finding(
                row,
                LintCode::UnknownSchema,
                "instance_id",
                "the columns fit no schema".to_owned(),
                "name the schema",
            ));
            continue;
        };
        let mut looked = LintedRow {
            row,
            schema,
            view: read(row.columns(), schema),
            findings: &mut findings,
        };
        columns::look(&mut looked);
        tests::look(&mut looked);
        patches::look(&mut looked, options.try_patches);
        patches::same(&mut looked, row, &mut solutions);
        match schema {
            Schema::MultiSwebench => multi::look(&mut looked),
            Schema::SwebenchV5TaskRepo => tasks::look(&mut looked),
            _ => {}
        }
    }
    findings.retain(|finding| !options.ignored.contains(&finding.code));
    let places: BTreeMap<&str, usize> = dataset
        .rows
        .iter()
        .enumerate()
        .rev()
        .map(|(at, row)| (row.id().as_str(), at))
        .collect();
    findings.sort_by_key(|finding| places.get(finding.instance.as_str()).copied());
    findings
}

/// How many of something, in a message.
fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// A value in a message: one line, not too long.
fn shown(text: &str) -> String {
    let mut line: String = text
        .chars()
        .take(80)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(80).is_some() {
        line.push('…');
    }
    line
}
