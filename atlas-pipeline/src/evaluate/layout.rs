//! Where the SWE-bench harness keeps what it did, and its viewers look for it.

use crate::store::{clear_unfinished, read_json, seed_under, write_atomically, write_json};
use atlas_core::{Error, ErrorKind, Harness};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The folder of a run.
#[derive(Clone, Debug)]
pub(super) struct RunFolder {
    out: PathBuf,
    run_id: String,
}

/// Most bytes of a name in a path: file systems take 255, and the run's name and an ending follow.
const NAME_BYTES: usize = 120;
/// Digits of the hash behind a name that had to be changed.
const HASH_DIGITS: usize = 12;

/// A name as one part of a path: as the harness writes models, and never a way out. What no file
/// system takes as it is gets a hash behind it, so that two such names stay two.
pub(super) fn part(name: &str) -> String {
    let plain = name.replace('/', "__");
    let is_usable = !matches!(plain.as_str(), "" | "." | "..")
        && plain.len() <= NAME_BYTES
        && !plain.contains(char::is_control);
    if is_usable {
        return plain;
    }
    let mut short = String::new();
    for c in plain.chars() {
        if short.len() + c.len_utf8() + HASH_DIGITS + 1 > NAME_BYTES {
            break;
        }
        short.push(if c.is_control() || c == '.' { '_' } else { c });
    }
    format!(
        "{short}~{}",
        &crate::store::sha256(name.as_bytes())[..HASH_DIGITS]
    )
}

/// Reads the name of a run: it names a folder and labels containers.
///
/// # Errors
/// A name that is no plain one, with what is.
pub fn run_id(text: &str) -> Result<String, String> {
    let is_plain = !text.is_empty()
        && text.len() <= 128
        && !text.starts_with('.')
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    if is_plain {
        return Ok(text.to_owned());
    }
    Err(format!(
        "`{text}`: it names a folder and labels containers; at most 128 letters, digits, `.`, `_` and \
         `-` are allowed, and no `.` first"
    ))
}

impl RunFolder {
    /// The folder of a run below `out`.
    pub(super) fn new(out: &Path, run_id: &str) -> Result<Self, Error> {
        let run_id = self::run_id(run_id)
            .map_err(|why| Error::new(ErrorKind::InvalidInput, "read --run-id:", why))?;
        Ok(Self {
            out: out.to_owned(),
            run_id,
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

    /// Notes what the run is, unless an earlier start of it did, and clears away what a killed one
    /// was writing.
    pub(super) fn describe(&self, dataset: &Path) -> Result<(), Error> {
        clear_unfinished(&self.root());
        clear_unfinished(&self.out);
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

impl RunFolder {
    /// What makes this run's names of canaries other than those of any other run: random, made once, and
    /// kept, so that a run that goes on has the same.
    /// Runs over the same results wait for each other at `lock` while it is made.
    pub(super) fn nonce(&self, lock: &Path) -> Result<String, Error> {
        seed_under(&self.root().join("nonce"), lock)
    }

    /// Notes what the run cost beside what it is; of several starts, the last one's.
    pub(super) fn note_cost(&self, ledger: &impl Serialize) -> Result<(), Error> {
        let path = self.root().join("run.json");
        let mut run: Map<String, Value> = read_json(&path).unwrap_or_default();
        let ledger = serde_json::to_value(ledger).map_err(|why| {
            Error::new(ErrorKind::Internal, "write", path.display().to_string()).with_source(why)
        })?;
        run.insert("ledger".to_owned(), ledger);
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
        for (model, folder) in [
            ("..", "__~"),
            (".", "_~"),
            ("", "~"),
            ("a\nb", "a_b~"),
            (&*"m".repeat(300), &*format!("{}~", "m".repeat(107))),
        ] {
            let made = part(model);
            assert!(made.starts_with(folder) && made.len() <= 120, "{made}");
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
