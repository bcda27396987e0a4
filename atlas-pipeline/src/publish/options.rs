//! What is published, as what, and what became of it.

use super::{ReleaseChanges, SplitFiles, SplitRule, licence};
use atlas_core::{Error, ErrorKind};
use clap::{ArgAction, Args};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What is published, and as what. Each field is an option of `atlas publish`.
#[derive(Clone, Debug, Args)]
pub struct PublishOptions {
    /// The dataset: a file of rows, or the folder that `atlas make` wrote.
    pub dataset: PathBuf,
    /// The folder of the release; an older release in it is replaced.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// The dataset's name.
    #[arg(long, value_name = "NAME", default_value = NAME)]
    pub name: String,
    /// The release's version, MAJOR.MINOR.PATCH.
    #[arg(long, value_name = "V", default_value = VERSION)]
    pub version: String,
    /// The release's day [default: that of the newest row, so that the same rows give the same bytes].
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub date: Option<String>,
    /// A split: NAME=FILE takes the instances that a file names, by=COLUMN makes one for each value of a column, NAME takes the
    /// rest. Can be given several times [default: all rows in `test`].
    #[arg(long = "split", value_name = "NAME=FILE|by=COLUMN|NAME")]
    pub splits: Vec<SplitRule>,
    /// An older release, or another dataset: what changed is written into CHANGES.md and metadata/changes.json.
    #[arg(long, value_name = "OLD")]
    pub against: Option<PathBuf>,
    /// Decisions of annotators (`atlas annotate merge`): rows that they do not accept are left out.
    #[arg(long, value_name = "FILE")]
    pub decisions: Option<PathBuf>,
    /// Put everything that proves a row beside it: patches, logs, reports.
    #[arg(long)]
    pub evidence: bool,
    /// Whether what builds the rows' environments goes beside them. Default: yes.
    #[arg(long = "no-environments", action = ArgAction::SetFalse, conflicts_with = "evidence")]
    #[arg(
        help = "Leave out what builds the rows' environments: images, or clones, are needed then to validate a row"
    )]
    pub environments: bool,
    /// The licence of rows that say none, an SPDX expression.
    #[arg(long, value_name = "ID", visible_alias = "license")]
    pub licence: Option<String>,
}

const NAME: &str = "atlas-dataset";
const VERSION: &str = "1.0.0";

impl PublishOptions {
    /// Defaults for everything but dataset and folder.
    pub fn new(dataset: impl Into<PathBuf>, out: impl Into<PathBuf>) -> Self {
        Self {
            dataset: dataset.into(),
            out: out.into(),
            name: NAME.to_owned(),
            version: VERSION.to_owned(),
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
