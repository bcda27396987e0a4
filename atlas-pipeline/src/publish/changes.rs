//! What changed since an older release.

use super::release::{METADATA, Release};
use crate::store::{read_json, write_json};
use crate::write_atomically;
use atlas_core::{Error, ErrorKind};
use atlas_formats::{Dataset, DatasetDiff, ReadOptions, Row, diff_datasets, read_dataset};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// An older release.
#[derive(Debug)]
pub(super) struct Old {
    pub(super) version: Option<String>,
    rows: Dataset,
    /// Row -> its split; empty where it is no release of ours.
    splits: BTreeMap<String, String>,
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
            rows: Dataset::new(Vec::new()),
            splits: BTreeMap::new(),
        };
        let mut add = |path: &Path, split: Option<&str>| {
            let set = read_dataset(path, &ReadOptions::default())?;
            if let Some(fault) = set.faults.first() {
                let what = fault.to_string();
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    "read the older release:",
                    what,
                ));
            }
            for row in set.rows {
                if let Some(split) = split {
                    old.splits.insert(row.id().to_string(), split.to_owned());
                }
                old.rows.rows.push(row);
            }
            Ok(())
        };
        match release {
            Some(release) => {
                for (split, files) in &release.splits {
                    add(&folder.join(&files.jsonl), Some(split))?;
                }
                old.version = Some(release.version);
            }
            None => add(folder, None)?,
        }
        Ok(old)
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
    pub(super) fn since(old: &Old, rows: &[(String, Row)], version: &str) -> Self {
        let new = Dataset::new(rows.iter().map(|(_, row)| row.clone()).collect());
        let DatasetDiff {
            only_in_first,
            only_in_second,
            changed,
            same,
        } = diff_datasets(&old.rows, &new);
        let mut by_column: BTreeMap<String, usize> = BTreeMap::new();
        for row in changed.values() {
            let mut columns: Vec<&String> = row.added.iter().chain(&row.removed).collect();
            columns.extend(
                row.changed
                    .iter()
                    .chain(row.tests.keys())
                    .chain(row.patches.keys()),
            );
            columns.sort_unstable();
            columns.dedup();
            for column in columns {
                *by_column.entry(column.clone()).or_default() += 1;
            }
        }
        let moved = rows.iter().filter_map(|(split, row)| {
            let before = old.splits.get(row.id().as_str())?;
            let at = (before.clone(), split.clone());
            (before != split).then(|| (row.id().to_string(), at))
        });
        Self {
            schema_version: 1,
            from: old.version.clone(),
            to: version.to_owned(),
            added: only_in_second,
            removed: only_in_first,
            moved: moved.collect(),
            by_column,
            changed,
            same,
        }
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
