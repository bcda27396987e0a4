//! What changed since an older release.

use super::release::{METADATA, Release};
use super::rows::parsed;
use crate::spool::Spool;
use crate::store::{read_json, write_json};
use crate::write_atomically;
use atlas_core::{Error, ErrorKind};
use atlas_formats::{Dataset, ReadOptions, Row, diff_datasets, each_row};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// An older release: its rows lie in a file without a name.
#[derive(Debug)]
pub(super) struct Old {
    pub(super) version: Option<String>,
    texts: Spool<String>,
    /// Row -> its place, and its split where it is a release of ours.
    places: BTreeMap<String, (usize, Option<String>)>,
}

impl Old {
    /// Reads a release, or any dataset.
    ///
    /// # Errors
    /// What cannot be read, and a row that cannot, with file and line.
    pub(super) fn read(folder: &Path) -> Result<Self, Error> {
        let release: Option<Release> = read_json(&folder.join(METADATA).join("release.json"));
        let mut old = Self {
            version: None,
            texts: Spool::new()?,
            places: BTreeMap::new(),
        };
        match release {
            Some(release) => {
                for (split, files) in &release.splits {
                    old.add(&folder.join(&files.jsonl), Some(split))?;
                }
                old.version = Some(release.version);
            }
            None => old.add(folder, None)?,
        }
        Ok(old)
    }

    fn add(&mut self, path: &Path, split: Option<&String>) -> Result<(), Error> {
        each_row(path, &ReadOptions::default(), |row| {
            let row = row.map_err(|fault| {
                let what = fault.to_string();
                Error::new(ErrorKind::InvalidInput, "read the older release:", what)
            })?;
            let at = self.texts.push(&row.json().to_owned())?;
            // Of rows with one name the first counts.
            let id = row.id().to_string();
            self.places.entry(id).or_insert((at, split.cloned()));
            Ok(())
        })
    }
}

/// `metadata/changes.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReleaseChanges {
    /// Version of this form.
    pub schema_version: u32,
    /// The older release's version; absent where it is no release of Atlas.
    pub from: Option<String>,
    /// This release's version.
    pub to: String,
    /// Rows that came.
    pub added: Vec<String>,
    /// Rows that went.
    pub removed: Vec<String>,
    /// Rows that are in another split, with the old one and the new one.
    pub moved: BTreeMap<String, (String, String)>,
    /// Column -> how many rows have it otherwise, lists of tests and patches included.
    pub by_column: BTreeMap<String, usize>,
    /// What changed in the rows of both.
    pub changed: BTreeMap<String, atlas_formats::RowDiff>,
    /// How many rows are in both and the same.
    pub same: usize,
}

impl ReleaseChanges {
    /// No change yet.
    pub(super) fn since(old: &Old, version: &str) -> Self {
        Self {
            schema_version: 1,
            from: old.version.clone(),
            to: version.to_owned(),
            added: Vec::new(),
            removed: Vec::new(),
            moved: BTreeMap::new(),
            by_column: BTreeMap::new(),
            changed: BTreeMap::new(),
            same: 0,
        }
    }

    /// Compares a row of the new release, and takes it out of the old one.
    pub(super) fn add(&mut self, old: &mut Old, split: &str, row: &Row) -> Result<(), Error> {
        let id = row.id().to_string();
        let Some((at, before)) = old.places.remove(&id) else {
            self.added.push(id);
            return Ok(());
        };
        if let Some(before) = before.filter(|before| before != split) {
            self.moved.insert(id.clone(), (before, split.to_owned()));
        }
        let alone = |row: Row| Dataset::new(vec![row]);
        let first = alone(parsed(&old.texts.get(at)?)?);
        let mut diff = diff_datasets(&first, &alone(row.clone()));
        let Some(changed) = diff.changed.remove(&id) else {
            self.same += 1;
            return Ok(());
        };
        let mut columns: Vec<&String> = changed.added.iter().chain(&changed.removed).collect();
        columns.extend(&changed.changed);
        columns.extend(changed.tests.keys().chain(changed.patches.keys()));
        columns.sort_unstable();
        columns.dedup();
        for column in columns {
            *self.by_column.entry(column.clone()).or_default() += 1;
        }
        self.changed.insert(id, changed);
        Ok(())
    }

    /// What is left of the old release is gone.
    pub(super) fn finish(&mut self, old: &Old) {
        self.removed.extend(old.places.keys().cloned());
        self.added.sort_unstable();
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty()
            && self.removed.is_empty()
            && self.changed.is_empty()
            && self.moved.is_empty()
    }

    /// `CHANGES.md` and `metadata/changes.json`.
    pub(super) fn write(&self, folder: &Path) -> Result<(), Error> {
        write_json(&folder.join(METADATA).join("changes.json"), self)?;
        write_atomically(&folder.join("CHANGES.md"), self.to_markdown().as_bytes())
    }

    fn to_markdown(&self) -> String {
        let from = self.from.as_deref().unwrap_or("another dataset");
        let mut text = format!("# Changes from {from} to {}\n\n", self.to);
        let _ = writeln!(
            text,
            "{} rows added, {} removed, {} changed, {} in another split, {} the same.",
            self.added.len(),
            self.removed.len(),
            self.changed.len(),
            self.moved.len(),
            self.same
        );
        if !self.by_column.is_empty() {
            text.push_str("\n| Column | Rows changed |\n|---|---:|\n");
            for (column, rows) in &self.by_column {
                let _ = writeln!(text, "| `{column}` | {rows} |");
            }
        }
        for (title, ids) in [("Added", &self.added), ("Removed", &self.removed)] {
            if !ids.is_empty() {
                let _ = writeln!(text, "\n## {title}\n");
                for id in ids {
                    let _ = writeln!(text, "- `{id}`");
                }
            }
        }
        if !self.moved.is_empty() {
            text.push_str("\n## In another split\n\n");
            for (id, (before, now)) in &self.moved {
                let _ = writeln!(text, "- `{id}`: `{before}` -> `{now}`");
            }
        }
        if !self.changed.is_empty() {
            text.push_str("\n## Changed\n");
            for (id, row) in &self.changed {
                let _ = write!(text, "\n### `{id}`\n\n```text\n{row}```\n");
            }
        }
        text
    }
}
