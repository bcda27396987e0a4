//! What is published, as what, and what became of it.

use super::{ReleaseChanges, SplitFiles, SplitRule, licence};
use atlas_core::{Error, ErrorKind};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What is published, and as what.
#[derive(Clone, Debug)]
pub struct PublishOptions {
    /// The dataset; a folder that `make` wrote is its `dataset.jsonl`.
    pub dataset: PathBuf,
    /// The folder of the release. One that holds an older release is replaced.
    pub out: PathBuf,
    /// The dataset's name. Default: `atlas-dataset`.
    pub name: String,
    /// The release's version, by the rules of semantic versions. Default: `1.0.0`.
    pub version: String,
    /// The release's day, `YYYY-MM-DD`. Default: that of the newest row, so that the same rows give the same bytes.
    pub date: Option<String>,
    /// How rows are put into splits. Default: all into `test`.
    pub splits: Vec<SplitRule>,
    /// An older release, or another dataset, that this one is compared with. Default: none.
    pub against: Option<PathBuf>,
    /// Decisions of annotators, as [`merge_annotations`](crate::merge_annotations) writes them: rows that they do not accept are left
    /// out. Default: all rows go in.
    pub decisions: Option<PathBuf>,
    /// Whether everything that proves a row goes beside it. Default: no.
    pub evidence: bool,
    /// Whether what builds the rows' environments goes beside them. Default: yes.
    pub environments: bool,
    /// The licence of rows that say none, an SPDX expression. Default: `unknown`.
    pub licence: Option<String>,
}

impl PublishOptions {
    /// Defaults for everything but dataset and folder.
    pub fn new(dataset: impl Into<PathBuf>, out: impl Into<PathBuf>) -> Self {
        Self {
            dataset: dataset.into(),
            out: out.into(),
            name: "atlas-dataset".to_owned(),
            version: "1.0.0".to_owned(),
            date: None,
            splits: Vec::new(),
            against: None,
            decisions: None,
            evidence: false,
            environments: true,
            licence: None,
        }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        let wrong = |what: &str, value: String| {
            Err(Error::new(ErrorKind::InvalidInput, what.to_owned(), value))
        };
        if let Err(why) = semver::Version::parse(&self.version) {
            let what = format!("`{}`: {why}; MAJOR.MINOR.PATCH expected", self.version);
            return wrong("read the version:", what);
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if self.name.is_empty() || !self.name.chars().all(is_name) {
            let what = format!(
                "`{}`: letters, digits, `-`, `_` and `.` expected",
                self.name
            );
            return wrong("read the name:", what);
        }
        if let Some(date) = self.date.as_ref().filter(|date| !is_date(date)) {
            return wrong("read the date:", format!("`{date}`: YYYY-MM-DD expected"));
        }
        if let Some(licence) = &self.licence {
            licence::check(licence)?;
        }
        Ok(())
    }
}

pub(super) fn is_date(text: &str) -> bool {
    text.len() == 10 && chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()
}

/// What was published.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PublishReport {
    /// Version of this report's form.
    pub schema_version: u32,
    /// The folder.
    pub out: PathBuf,
    /// The dataset's name.
    pub name: String,
    /// The release's version.
    pub version: String,
    /// How many rows.
    pub rows: usize,
    /// The splits.
    pub splits: BTreeMap<String, SplitFiles>,
    /// Why rows were left out by annotators' decisions -> how many: `repair`, `reject`, `open`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<String, usize>,
    /// Licence -> rows.
    pub licences: BTreeMap<String, usize>,
    /// Rows whose environment can be built from the release alone.
    pub with_environment: usize,
    /// Files in the release, the checksums' own not counted.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// What changed since the older release; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<ReleaseChanges>,
    /// Files of evidence in which folders of this machine gave place to words such as `<dataset>`.
    pub replaced: Vec<String>,
    /// Remarks.
    pub warnings: Vec<String>,
}
