//! Where the SWE-bench harness keeps what it did, and its viewers look for it.

use crate::store::{write_atomically, write_json};
use atlas_core::{Error, ErrorKind, Harness};
use serde_json::json;
use std::path::{Path, PathBuf};

/// The folder of a run.
#[derive(Clone, Debug)]
pub(super) struct RunFolder {
    out: PathBuf,
    run_id: String,
}

/// A name as one part of a path: as the harness writes models, and never a way out.
pub(super) fn part(name: &str) -> String {
    name.replace('/', "__")
}

impl RunFolder {
    /// The folder of a run below `out`.
    pub(super) fn new(out: &Path, run_id: &str) -> Result<Self, Error> {
        let is_plain = !run_id.is_empty()
            && run_id.len() <= 128
            && !run_id.starts_with('.')
            && run_id
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        if !is_plain {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "read --run-id:",
                format!(
                    "`{run_id}`: it names a folder and labels containers; at most 128 letters, digits, `.`, `_` \
                     and `-` are allowed, and no `.` first"
                ),
            ));
        }
        Ok(Self {
            out: out.to_owned(),
            run_id: run_id.to_owned(),
        })
    }

    /// `logs/run_evaluation/<run id>`.
    pub(super) fn root(&self) -> PathBuf {
        self.out.join("logs/run_evaluation").join(&self.run_id)
    }

    /// The folder of one instance under one model.
    pub(super) fn instance(&self, model: &str, id: &str) -> PathBuf {
        self.root().join(part(model)).join(id)
    }

    /// The run's own report.
    pub(super) fn report(&self, model: &str) -> PathBuf {
        self.out
            .join(format!("{}.{}.json", part(model), self.run_id))
    }

    /// Notes what the run is, unless an earlier start of it did.
    pub(super) fn describe(&self, dataset: &Path) -> Result<(), Error> {
        let path = self.root().join("run.json");
        if path.exists() {
            return Ok(());
        }
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |since| since.as_secs());
        let run = json!({
            "dataset": dataset.display().to_string(),
            "split": "test",
            "task_repo": null,
            "created_at": iso(now),
        });
        write_json(&path, &run)
    }
}

/// The name of the file that a harness keeps the graded log in.
pub(super) fn log_name(harness: Option<Harness>) -> &'static str {
    match harness {
        Some(Harness::SweBenchPp) => "test_output_after.txt",
        _ => "test_output.txt",
    }
}

/// Writes a file of an instance.
pub(super) fn keep(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), Error> {
    write_atomically(&folder.join(name), bytes)
}

/// Seconds since 1970 as ISO 8601 in UTC.
fn iso(seconds: u64) -> String {
    let seconds = i64::try_from(seconds).unwrap_or_default();
    chrono::DateTime::from_timestamp(seconds, 0)
        .unwrap_or_default()
        .format("%Y-%m-%dT%H:%M:%S+00:00")
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_id_names_one_folder() {
        let out = Path::new("out");
        for bad in ["", "a/b", "../x", ".hidden", "a b", "ä"] {
            assert!(RunFolder::new(out, bad).is_err(), "{bad}");
        }
        let folder = RunFolder::new(out, "run-1.2_x").unwrap();
        assert_eq!(
            folder.instance("org/model", "a__b-1"),
            Path::new("out/logs/run_evaluation/run-1.2_x/org__model/a__b-1")
        );
        assert_eq!(
            folder.report("org/model"),
            Path::new("out/org__model.run-1.2_x.json")
        );
    }
}
