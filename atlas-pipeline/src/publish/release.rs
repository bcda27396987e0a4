//! What a release says of itself, for programs.

use super::licence::LicenceSource;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The folder of what is said about a release.
pub(super) const METADATA: &str = "metadata";

/// One split of a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitFiles {
    /// How many rows.
    pub rows: usize,
    /// The rows as JSON lines, from the release's folder.
    pub jsonl: String,
    /// The rows as a table.
    pub parquet: String,
}

/// `metadata/release.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Release {
    pub(super) schema_version: u32,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) date: String,
    /// The Atlas that wrote the release.
    pub(super) atlas_version: String,
    pub(super) rows: usize,
    pub(super) splits: BTreeMap<String, SplitFiles>,
    pub(super) licences: BTreeMap<String, usize>,
    pub(super) evidence: bool,
    pub(super) against: Option<String>,
}

/// A line of `metadata/instances.jsonl`: where a row comes from and who made it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct InstanceRecord {
    pub(super) instance_id: String,
    pub(super) split: String,
    pub(super) repo: String,
    pub(super) base_commit: String,
    pub(super) license: String,
    pub(super) license_from: LicenceSource,
    /// The image that the row names; absent without one.
    pub(super) image: Option<String>,
    pub(super) image_digest: Option<String>,
    pub(super) base_image: Option<String>,
    pub(super) base_image_digest: Option<String>,
    pub(super) engine: Option<String>,
    pub(super) engine_version: Option<String>,
    pub(super) isolation: Option<String>,
    /// The verdict of `make`.
    pub(super) scenario: Option<String>,
    /// The Atlas that made the row; absent where nothing says it.
    pub(super) atlas_version: Option<String>,
    /// Models that had a part in the row, by what they did.
    pub(super) models: BTreeSet<String>,
    /// How often further runs confirmed the tests that define the task (`confirm`), which part of the suite ran (`test_scope`),
    /// what read the logs (`parser`) and what the gates decided (`gates`).
    pub(super) settings: serde_json::Value,
    /// Program -> version in the environment.
    pub(super) tools: BTreeMap<String, String>,
    /// Files beside the row, below `instances/<id>/`.
    pub(super) files: usize,
    /// Whether the environment can be built from them.
    pub(super) environment: bool,
}
