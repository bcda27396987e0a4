//! Rows that annotators accept.

use crate::annotate::{RowDecision, revision};
use crate::store::json_lines;
use atlas_core::{Error, ErrorKind};
use atlas_formats::Row;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Decisions of annotators, and what they did to the rows.
#[derive(Debug, Default)]
pub(super) struct Decisions {
    path: Option<PathBuf>,
    known: BTreeMap<String, RowDecision>,
    undecided: usize,
    /// Why rows were left out -> how many.
    pub(super) left_out: BTreeMap<String, usize>,
}

impl Decisions {
    /// Those of a file; without one every row is accepted.
    ///
    /// # Errors
    /// Decisions that cannot be read, with file and line.
    pub(super) fn read(path: Option<&Path>) -> Result<Self, Error> {
        let mut found = Self::default();
        let Some(path) = path else {
            return Ok(found);
        };
        let text =
            std::fs::read_to_string(path).map_err(|why| Error::io("read decisions", path, why))?;
        for decision in json_lines::<RowDecision>(&text, path)? {
            found.known.insert(decision.instance_id.clone(), decision);
        }
        found.path = Some(path.to_owned());
        Ok(found)
    }

    fn wrong(path: &Path, what: &str) -> Error {
        let what = format!("`{}`: {what}", path.display());
        Error::new(ErrorKind::InvalidInput, "read decisions:", what)
    }

    /// Whether a row is published. One on which nobody decided is, and is told.
    ///
    /// # Errors
    /// A decision on another version of the row's task.
    pub(super) fn accept(&mut self, row: &Row) -> Result<bool, Error> {
        let Some(path) = &self.path else {
            return Ok(true);
        };
        let Some(decision) = self.known.get(row.id().as_str()) else {
            self.undecided += 1;
            return Ok(true);
        };
        if decision.revision != revision(row) {
            let what = format!(
                "`{}` was annotated as revision {}, and is {} now; export it again",
                row.id(),
                decision.revision,
                revision(row)
            );
            return Err(Self::wrong(path, &what));
        }
        match decision.decision.as_deref() {
            Some("accept") => Ok(true),
            None if !decision.answers.contains_key("decision") => {
                self.undecided += 1;
                Ok(true)
            }
            other => {
                let why = other.unwrap_or("open").to_owned();
                *self.left_out.entry(why).or_default() += 1;
                Ok(false)
            }
        }
    }

    /// Refuses a release without rows.
    pub(super) fn check(&self, kept: usize) -> Result<(), Error> {
        match &self.path {
            Some(path) if kept == 0 => Err(Self::wrong(path, "no row is accepted")),
            _ => Ok(()),
        }
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        if self.undecided == 0 {
            return Vec::new();
        }
        vec![format!(
            "{} rows are in it on which no annotator decided",
            self.undecided
        )]
    }
}
