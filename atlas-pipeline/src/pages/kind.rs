//! What a page is of.

use crate::near::hint;
use crate::run::is_run;
use atlas_core::{Error, ErrorKind};
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// What a page is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PageKind {
    /// The folder of `atlas run`, or the output folder of `atlas make`.
    Run,
    /// The folder of one instance.
    Instance,
    /// The folder of an evaluation, `logs/run_evaluation/<run id>`, or what `atlas eval --format json` printed.
    Evaluation,
    /// What `atlas leaderboard --format json` printed.
    Comparison,
    /// A recording of an agent in any form that [`read_trajectories`](crate::read_trajectories) takes, or the folder of an attempt.
    Trajectory,
}

/// A word that names no kind of page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}`: run, instance, evaluation, comparison or trajectory expected{1}")]
pub struct UnknownPageKind(String, String);

impl PageKind {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Run, "run"),
        (Self::Instance, "instance"),
        (Self::Evaluation, "evaluation"),
        (Self::Comparison, "comparison"),
        (Self::Trajectory, "trajectory"),
    ];

    /// What stands at a place.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for nothing; [`ErrorKind::InvalidInput`] for what no page can be made of.
    pub fn of(input: &Path) -> Result<Self, Error> {
        let place = format!("`{}`", input.display());
        if input.is_dir() {
            return Self::of_folder(input).ok_or_else(|| {
                let what = format!(
                    "{place}: neither a run (run.sqlite), an instance (make.json), a folder of instances an evaluation \
                     (<model>/<instance>/verdict.json) nor an attempt (record.json); --kind says which it is"
                );
                Error::new(ErrorKind::InvalidInput, "tell what is reported:", what)
            });
        }
        if !input.exists() {
            return Err(Error::new(ErrorKind::NotFound, "read", place));
        }
        // A recording may be many lines, of which none is the whole.
        let ending = input.extension().and_then(|ending| ending.to_str());
        if matches!(ending, Some("jsonl" | "traj")) {
            return Ok(Self::Trajectory);
        }
        let value: Value = super::read(input)?;
        let has = |key: &str| value.get(key).is_some();
        if has("verdicts") {
            Ok(Self::Evaluation)
        } else if has("statistics") {
            Ok(Self::Comparison)
        } else if ["steps", "trajectory", "messages", "history"]
            .iter()
            .any(|key| has(key))
            || value.is_array()
        {
            Ok(Self::Trajectory)
        } else {
            let what = format!(
                "{place}: neither what `atlas eval` (`verdicts`) or `atlas leaderboard` (`statistics`) prints with --format json, nor \
                 a recording of an agent"
            );
            Err(Error::new(
                ErrorKind::InvalidInput,
                "tell what is reported:",
                what,
            ))
        }
    }

    fn of_folder(folder: &Path) -> Option<Self> {
        if is_run(folder) {
            return Some(Self::Run);
        }
        if folder.join("make.json").is_file() {
            return Some(Self::Instance);
        }
        if folder.join("record.json").is_file() && folder.join("trajectory.json").is_file() {
            return Some(Self::Trajectory);
        }
        let below = |folder: &Path| {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            entries
                .map(|entry| entry.path())
                .filter(|path| path.is_dir())
                .collect::<Vec<_>>()
        };
        let inside = below(folder);
        if inside.iter().any(|one| one.join("make.json").is_file()) {
            return Some(Self::Run);
        }
        let mut verdicts = inside.iter().flat_map(|model| below(model));
        verdicts
            .any(|one| one.join("verdict.json").is_file())
            .then_some(Self::Evaluation)
    }
}

impl fmt::Display for PageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Self::ALL.iter().find(|(kind, _)| kind == self);
        f.write_str(named.map_or("", |(_, name)| name))
    }
}

impl FromStr for PageKind {
    type Err = UnknownPageKind;

    fn from_str(text: &str) -> Result<Self, UnknownPageKind> {
        let found = Self::ALL.iter().find(|(_, name)| *name == text);
        found.map(|(kind, _)| *kind).ok_or_else(|| {
            let names = Self::ALL.iter().map(|(_, name)| *name);
            UnknownPageKind(text.to_owned(), hint(text, names))
        })
    }
}
