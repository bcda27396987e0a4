//! `[run.publish]`: the release at the end of a run.

use super::dataset;
use super::store::Store;
use crate::publish::hashes;
use crate::store::{Key, lock};
use crate::{PublishOptions, PublishReport, SplitRule, publish};
use atlas_core::{Error, ErrorKind, RunContext};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// `[run.publish]`: what `atlas publish` is told when a run is through. Paths are relative to the folder in which the command
/// is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RunPublishConfig {
    /// The folder of the release. One that holds an older release is replaced.
    pub folder: PathBuf,
    /// The dataset's name. Default: `atlas-dataset`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The release's version. Default: `1.0.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The release's day, `YYYY-MM-DD`. Default: that of the newest row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Splits, as `atlas publish --split` takes them. Default: all rows in `test`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub splits: Vec<SplitRule>,
    /// An older release, or another dataset, that this one is compared with. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<PathBuf>,
    /// Decisions of annotators. Default: all rows go in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decisions: Option<PathBuf>,
    /// Whether everything that proves a row goes beside it. Default: no.
    #[serde(default)]
    pub evidence: bool,
    /// Whether what builds the rows' environments goes beside them. Default: yes.
    #[serde(default = "yes")]
    pub environments: bool,
    /// The licence of rows that say none, an SPDX expression. Default: `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
}

fn yes() -> bool {
    true
}

impl RunPublishConfig {
    /// As options of [`publish`].
    pub(crate) fn options(&self, dataset: PathBuf) -> PublishOptions {
        let usual = PublishOptions::new(dataset, &self.folder);
        PublishOptions {
            name: self.name.clone().unwrap_or(usual.name),
            version: self.version.clone().unwrap_or(usual.version),
            date: self.date.clone(),
            splits: self.splits.clone(),
            against: self.against.clone(),
            decisions: self.decisions.clone(),
            evidence: self.evidence,
            environments: self.environments,
            licence: self.licence.clone(),
            ..usual
        }
    }
}

/// The note of the store that says what was published last.
const PUBLISHED: &str = "published";

/// Writes the release of a run's dataset, if it is not what stands there: other rows, other options, another Atlas. Returns
/// nothing where nothing is to be written; a dataset without rows has no release.
///
/// # Errors
/// As [`publish`]; the older release is then still there.
///
/// # Cancellation
/// As [`publish`].
pub(super) fn release(
    cx: &RunContext,
    folder: &Path,
    config: &RunPublishConfig,
) -> Result<Option<PublishReport>, Error> {
    let _lock = lock(&folder.join("publish.lock"))?;
    let file = dataset::file(folder);
    let options = config.options(file.clone());
    let store = Store::open(folder)?;
    let Some(rows) = hash(&file)? else {
        return Ok(None);
    };
    let told = serde_json::to_vec(config)
        .map_err(|why| Error::new(ErrorKind::Internal, "name a release", "").with_source(why))?;
    let key = Key::new(env!("CARGO_PKG_VERSION"));
    let mut key = key.part(rows.as_bytes()).part(&told);
    for beside in [&config.against, &config.decisions].into_iter().flatten() {
        // Of a folder what it holds is not looked at: an older release does not change.
        if beside.is_file() {
            key = key.part(hash(beside)?.unwrap_or_default().as_bytes());
        }
    }
    let key = key.finish();
    let is_there = config.folder.join("SHA256SUMS").is_file();
    if is_there && store.note(PUBLISHED)?.as_ref() == Some(&key) {
        return Ok(None);
    }
    let report = publish(cx, &options)?;
    store.set_note(PUBLISHED, &key)?;
    Ok(Some(report))
}

/// SHA-256 of a file; nothing where it is empty or absent.
fn hash(path: &Path) -> Result<Option<String>, Error> {
    if !path.exists() {
        return Ok(None);
    }
    let (bytes, sha256, _) = hashes(path)?;
    Ok((bytes > 0).then_some(sha256))
}
