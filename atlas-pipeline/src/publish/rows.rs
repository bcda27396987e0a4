//! The rows that are published, one after the other.

use super::artefacts::MachinePaths;
use super::decided::Decisions;
use super::splits::{SplitRow, SplitRule};
use crate::spool::Spool;
use atlas_core::{Error, ErrorKind, RunContext, Severity};
use atlas_formats::{
    Dataset, LintCode, LintOptions, ReadOptions, Row, RowFault, Schema, each_row, lint,
};
use std::path::Path;

/// Rows in a file without a name; in memory is what splits are made by.
pub(super) struct Rows {
    texts: Spool<String>,
    /// What splits are made by, row by row.
    pub(super) known: Vec<SplitRow>,
    /// The columns of the first row, for the near spelling of another.
    pub(super) columns: Vec<String>,
}

/// What is wrong with a dataset: the first of each kind, and how many there are.
#[derive(Default)]
struct Wrong {
    faults: usize,
    fault: Option<RowFault>,
    folder: Option<String>,
    fatal: usize,
    finding: Option<String>,
    path: Option<String>,
}

impl Wrong {
    fn look(&mut self, row: Row, paths: &MachinePaths) -> Option<Row> {
        if Schema::detect(&row).is_some_and(Schema::is_folder) {
            self.folder.get_or_insert_with(|| row.id().to_string());
            return None;
        }
        if let Some(path) = paths.found_in(row.json().as_bytes()) {
            let holds = |text: String| paths.found_in(text.as_bytes()).is_some();
            let mut columns = row.columns().iter();
            let column = columns.find(|(_, value)| holds(value.to_string()));
            let column = column.map_or("", |(name, _)| name.as_str());
            let at = row.place().map(ToString::to_string).unwrap_or_default();
            self.path.get_or_insert_with(|| {
                format!(
                    "{at}: column `{column}` holds `{path}`, a folder of this machine; make the instance again, under bubblewrap or \
                     in a container"
                )
            });
        }
        // An instance of the local engine has no image, and a plan in its place.
        let options = LintOptions::default().without(LintCode::MissingImage);
        let mut alone = Dataset::new(vec![row]);
        let findings = lint(&alone, &options);
        let fatal = findings
            .iter()
            .filter(|found| found.severity == Severity::Fatal);
        for found in fatal {
            self.fatal += 1;
            self.finding.get_or_insert_with(|| found.to_string());
        }
        alone.rows.pop()
    }

    fn check(&self, path: &Path, rows: usize) -> Result<(), Error> {
        let wrong = |what: String| Err(Error::new(ErrorKind::InvalidInput, "publish:", what));
        let more = |all: usize| match all - 1 {
            0 => String::new(),
            others => format!(" (and {others} more: `atlas lint` lists them)"),
        };
        if let Some(first) = &self.fault {
            return wrong(format!("{first}{}", more(self.faults)));
        }
        if let Some(id) = &self.folder {
            return wrong(format!(
                "`{id}` is a folder of files; write rows first: atlas convert {} rows.jsonl --to swebench5",
                path.display()
            ));
        }
        if rows == 0 {
            return wrong(format!("`{}`: there is no row in it", path.display()));
        }
        if let Some(first) = &self.finding {
            return wrong(format!("`{}`: {first}{}", path.display(), more(self.fatal)));
        }
        match &self.path {
            Some(what) => wrong(what.clone()),
            None => Ok(()),
        }
    }
}

impl Rows {
    /// Reads a dataset, all of whose rows can be graded; those that annotators do not accept stay out.
    pub(super) fn read(
        cx: &RunContext,
        path: &Path,
        rules: &[SplitRule],
        paths: &MachinePaths,
        decisions: &mut Decisions,
    ) -> Result<Self, Error> {
        let mut rows = Self {
            texts: Spool::new()?,
            known: Vec::new(),
            columns: Vec::new(),
        };
        let (mut wrong, mut seen) = (Wrong::default(), 0);
        each_row(path, &ReadOptions::default(), |row| {
            cx.check("publish")?;
            match row {
                Err(fault) => {
                    wrong.faults += 1;
                    wrong.fault.get_or_insert(fault);
                }
                Ok(row) => {
                    seen += 1;
                    if let Some(row) = wrong.look(row, paths) {
                        rows.take(&row, rules, decisions)?;
                    }
                }
            }
            Ok(())
        })?;
        wrong.check(path, seen)?;
        decisions.check(rows.known.len())?;
        Ok(rows)
    }

    fn take(
        &mut self,
        row: &Row,
        rules: &[SplitRule],
        decisions: &mut Decisions,
    ) -> Result<(), Error> {
        if !decisions.accept(row)? {
            return Ok(());
        }
        if self.known.is_empty() {
            self.columns = row.columns().keys().cloned().collect();
        }
        self.known.push(SplitRow::of(row, rules));
        self.texts.push(&row.json().to_owned()).map(drop)
    }

    /// A row again, as it was read but for its place.
    pub(super) fn get(&self, at: usize) -> Result<Row, Error> {
        parsed(&self.texts.get(at)?)
    }
}

/// A row of a text that was one.
pub(super) fn parsed(text: &str) -> Result<Row, Error> {
    text.parse::<Row>()
        .map_err(|why| Error::new(ErrorKind::Internal, "read again", "a row").with_source(why))
}
