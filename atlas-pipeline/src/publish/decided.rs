//! Rows that annotators accept.

use crate::annotate::{RowDecision, revision};
use crate::store::json_lines;
use atlas_core::{Error, ErrorKind};
use atlas_formats::Row;
use std::collections::BTreeMap;
use std::path::Path;

/// What decisions did to the rows.
#[derive(Debug, Default)]
pub(super) struct Decided {
    /// Why rows were left out -> how many.
    pub(super) left_out: BTreeMap<String, usize>,
    pub(super) warnings: Vec<String>,
}

/// The rows without those that annotators do not accept. A row on which nobody decided stays, and is told.
///
/// # Errors
/// Decisions that cannot be read, with file and line; one on another version of a row's task; no row left.
pub(super) fn accepted(rows: Vec<Row>, path: &Path) -> Result<(Vec<Row>, Decided), Error> {
    let text =
        std::fs::read_to_string(path).map_err(|why| Error::io("read decisions", path, why))?;
    let wrong = |what: String| {
        let what = format!("`{}`: {what}", path.display());
        Error::new(ErrorKind::InvalidInput, "read decisions:", what)
    };
    let mut known: BTreeMap<String, RowDecision> = BTreeMap::new();
    for decision in json_lines::<RowDecision>(&text, path)? {
        known.insert(decision.instance_id.clone(), decision);
    }
    let mut decided = Decided::default();
    let mut undecided = 0;
    let mut kept = Vec::with_capacity(rows.len());
    for row in rows {
        let Some(decision) = known.get(row.id().as_str()) else {
            undecided += 1;
            kept.push(row);
            continue;
        };
        if decision.revision != revision(&row) {
            return Err(wrong(format!(
                "`{}` was annotated as revision {}, and is {} now; export it again",
                row.id(),
                decision.revision,
                revision(&row)
            )));
        }
        match decision.decision.as_deref() {
            Some("accept") => kept.push(row),
            None if !decision.answers.contains_key("decision") => {
                undecided += 1;
                kept.push(row);
            }
            other => {
                let why = other.unwrap_or("open").to_owned();
                *decided.left_out.entry(why).or_default() += 1;
            }
        }
    }
    if kept.is_empty() {
        return Err(wrong("no row is accepted".to_owned()));
    }
    if undecided > 0 {
        decided.warnings.push(format!(
            "{undecided} rows are in it on which no annotator decided"
        ));
    }
    Ok((kept, decided))
}
