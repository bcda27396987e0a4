//! What evaluations found out about patches.

use super::CandidatePatch;
use crate::store::sha256;
use atlas_core::{Error, ErrorKind};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// What a `verdict.json` says of its patch.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct StoredVerdict {
    pub(crate) instance_id: String,
    pub(crate) model_name_or_path: String,
    pub(crate) patch_sha256: Option<String>,
    pub(crate) resolved: bool,
    pub(crate) outcome: String,
    #[serde(rename = "FAIL_TO_PASS")]
    pub(crate) fail_to_pass: Option<EndedTests>,
    #[serde(rename = "PASS_TO_PASS")]
    pub(crate) pass_to_pass: Option<EndedTests>,
    /// Its folder, where the log is.
    #[serde(skip)]
    folder: PathBuf,
}

/// Tests of a list.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct EndedTests {
    pub(crate) success: Vec<String>,
    pub(crate) failure: Vec<String>,
}

/// Names under which harnesses keep the log that was graded.
const LOGS: [&str; 2] = ["test_output.txt", "test_output_after.txt"];

impl StoredVerdict {
    /// The verdicts below a folder, in the order of their paths.
    pub(crate) fn below(folder: &Path) -> Result<Vec<Self>, Error> {
        let mut found = Vec::new();
        for entry in WalkDir::new(folder).sort_by_file_name() {
            let entry = entry.map_err(|why| {
                let name = folder.display().to_string();
                Error::new(ErrorKind::Io, "look through", name).with_source(why)
            })?;
            if entry.file_name() != "verdict.json" {
                continue;
            }
            let path = entry.path();
            let bytes = std::fs::read(path).map_err(|why| Error::io("read verdict", path, why))?;
            let mut verdict: Self = serde_json::from_slice(&bytes).map_err(|why| {
                let subject = path.display().to_string();
                Error::new(ErrorKind::InvalidInput, "read verdict", subject).with_source(why)
            })?;
            path.parent()
                .unwrap_or(folder)
                .clone_into(&mut verdict.folder);
            found.push(verdict);
        }
        if found.is_empty() {
            return Err(Error::new(
                ErrorKind::NotFound,
                "find verdicts below",
                format!(
                    "`{}`: the folder of an evaluation is expected, logs/run_evaluation/<run id>",
                    folder.display()
                ),
            ));
        }
        Ok(found)
    }

    /// Whether the tests ran and decided.
    pub(crate) fn is_graded(&self) -> bool {
        self.outcome == "graded"
    }

    /// What the tests printed, if it was kept.
    pub(crate) fn log(&self) -> Result<Option<String>, Error> {
        for name in LOGS {
            let path = self.folder.join(name);
            match std::fs::read(&path) {
                Ok(bytes) => return Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
                Err(why) if why.kind() == std::io::ErrorKind::NotFound => {}
                Err(why) => return Err(Error::io("read", &path, why)),
            }
        }
        Ok(None)
    }
}

/// Verdicts by instance, agent and patch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdicts(BTreeMap<(String, String, String), StoredVerdict>);

impl Verdicts {
    /// Those below all these folders; of several about one patch the last one counts, and one that decided
    /// before one that did not.
    pub(crate) fn read(folders: &[PathBuf]) -> Result<Self, Error> {
        let mut found: BTreeMap<_, StoredVerdict> = BTreeMap::new();
        for folder in folders {
            for verdict in StoredVerdict::below(folder)? {
                let Some(hash) = verdict.patch_sha256.clone() else {
                    continue;
                };
                let key = (
                    verdict.instance_id.clone(),
                    verdict.model_name_or_path.clone(),
                    hash,
                );
                let known = found.get(&key);
                if verdict.is_graded() || known.is_none_or(|known| !known.is_graded()) {
                    found.insert(key, verdict);
                }
            }
        }
        Ok(Self(found))
    }

    /// The one about a candidate.
    pub(crate) fn of(&self, candidate: &CandidatePatch) -> Option<&StoredVerdict> {
        let (id, agent) = (&candidate.name.instance_id, &candidate.name.agent);
        let hash = sha256(candidate.patch.as_bytes());
        self.0.get(&(id.clone(), agent.clone(), hash))
    }

    /// Whether a candidate resolves its instance: its own column `resolved`, else the verdict on it. A
    /// verdict without evidence says nothing; a patch that does not apply resolves nothing.
    pub(crate) fn resolved(&self, candidate: &CandidatePatch) -> Option<bool> {
        let own = candidate.columns.get("resolved");
        if let Some(resolved) = own.and_then(serde_json::Value::as_bool) {
            return Some(resolved);
        }
        let verdict = self.of(candidate)?;
        (verdict.outcome != "no_evidence").then_some(verdict.resolved)
    }
}
