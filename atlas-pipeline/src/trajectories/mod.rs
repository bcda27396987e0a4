//! Recordings of agents as files: read, written as ATIF, put through quality gates, handed to people.

mod check;
mod export;
mod judge;
mod judged;
mod rewrite;

pub use check::{CheckedTrajectory, TrajectoryCheckOptions, TrajectoryReport, check_trajectories};
pub use export::{
    ExportReport, ExportRunOptions, ExportSide, LeftOutTrajectory, TRAINING_LENGTH, TokenTotals,
    TrainTestSplit, export_trajectories,
};
pub use judge::{
    JudgedTrajectory, TrajectoryJudgeReport, TrajectoryJudgeRunOptions, judge_trajectories,
    trajectory_prompts,
};
pub use judged::JudgedQuality;
pub use rewrite::{
    RewriteRunOptions, RewriteRunReport, RewrittenTrajectory, rewrite_prompts, rewrite_trajectories,
};

use crate::judging::{ContentHash, Identity};
use crate::spool::Spool;
use crate::store::replace;
use atlas_core::{Error, ErrorKind};
use atlas_trajectory::{Trajectories, Trajectory};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Files of recordings by their endings.
const ENDINGS: [&str; 3] = ["traj", "json", "jsonl"];

/// The recordings at a place: the file itself, or all `.traj`, `.json` and `.jsonl` files below a folder, by
/// name.
///
/// # Errors
/// The folder cannot be read, or holds no recording.
pub fn recordings(place: &Path) -> Result<Vec<PathBuf>, Error> {
    if !place.is_dir() {
        return Ok(vec![place.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(place).sort_by_file_name() {
        let entry = entry.map_err(|why| Error::io("read", place, why.into()))?;
        let ending = entry.path().extension().and_then(|ending| ending.to_str());
        if entry.file_type().is_file() && ending.is_some_and(|ending| ENDINGS.contains(&ending)) {
            found.push(entry.into_path());
        }
    }
    if found.is_empty() {
        let subject = format!(
            "`{}`: it holds no .traj, .json or .jsonl file",
            place.display()
        );
        return Err(Error::new(
            ErrorKind::NotFound,
            "find recordings in",
            subject,
        ));
    }
    Ok(found)
}

/// The trajectories of one recording, one after the other, whoever wrote it. Where none tells its instance, a
/// `.traj` file's name does, as in `owner__repo-1.traj`.
///
/// # Errors
/// The file cannot be opened; each trajectory that cannot be read is an error of its own that names file,
/// line and field.
pub fn read_trajectories(
    file: &Path,
) -> Result<impl Iterator<Item = Result<Trajectory, Error>>, Error> {
    let input = File::open(file).map_err(|why| Error::io("open", file, why))?;
    let name = format!("`{}`", file.display());
    let id = instance_id(file);
    Ok(Trajectories::new(BufReader::new(input)).map(move |found| {
        let mut found = found.map_err(|why| {
            Error::new(ErrorKind::InvalidInput, "read the recording", name.as_str())
                .with_source(why)
        })?;
        if let Some(id) = id.as_deref().filter(|_| found.instance_id().is_none()) {
            found.extra.insert("instance_id".to_owned(), id.into());
        }
        Ok(found)
    }))
}

/// Writes recordings as ATIF and returns how many: a `.jsonl` file has one a line, any other is one document.
///
/// # Errors
/// A recording cannot be read; several are to be written as one document; the file cannot be written.
pub fn convert_trajectories(places: &[PathBuf], out: &Path) -> Result<usize, Error> {
    let as_lines = out.extension().is_some_and(|ending| ending == "jsonl");
    let mut written = 0;
    replace(out, |file| {
        for place in places {
            for recording in recordings(place)? {
                for found in read_trajectories(&recording)? {
                    let found = found?;
                    written += 1;
                    if !as_lines && written > 1 {
                        let subject = format!(
                            "`{}`: one document holds one trajectory; name a .jsonl file",
                            out.display()
                        );
                        return Err(Error::new(
                            ErrorKind::InvalidInput,
                            "write several trajectories to",
                            subject,
                        ));
                    }
                    let text = if as_lines {
                        format!("{}\n", found.to_atif_line())
                    } else {
                        found.to_atif()
                    };
                    file.write_all(text.as_bytes())
                        .map_err(|why| Error::io("write", out, why))?;
                }
            }
        }
        Ok(())
    })?;
    Ok(written)
}

/// The name of a file up to its ending where that is an instance's: SWE-agent writes it nowhere else.
fn instance_id(file: &Path) -> Option<String> {
    let name = file.file_name()?.to_str()?;
    let (stem, _) = name.split_once(".traj")?;
    stem.contains("__").then(|| stem.to_owned())
}

/// By its content, whatever the file: of a trajectory that changed nothing is known any more.
fn content(trajectory: &Trajectory) -> ContentHash {
    ContentHash::of(&[&trajectory.to_atif_line()])
}

/// A file's place in the folder that was named, or its name where it was named itself.
fn name_below<'a>(place: &Path, file: &'a Path) -> &'a Path {
    match file.strip_prefix(place) {
        Ok(below) if !below.as_os_str().is_empty() => below,
        _ => Path::new(file.file_name().unwrap_or_default()),
    }
}

/// A trajectory with where it was found.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct LocatedTrajectory {
    file: PathBuf,
    /// Which trajectory of the file, from 1.
    number: usize,
    /// The file's place in the folder that was named, or its name.
    name: PathBuf,
    trajectory: Trajectory,
}

impl LocatedTrajectory {
    /// Names it among others.
    fn key(&self) -> String {
        format!("{}:{}", self.file.display(), self.number)
    }

    /// How lines of results begin.
    fn identity(&self) -> Identity {
        let id = self.trajectory.instance_id().unwrap_or_default();
        vec![
            ("instance_id", id.to_owned()),
            ("file", self.file.display().to_string()),
            ("number", self.number.to_string()),
        ]
    }
}

/// Trajectories that lie in a file until their turn, and recordings that cannot be read, with the reason.
#[derive(Debug)]
struct Gathered {
    all: Spool<LocatedTrajectory>,
    count: usize,
    faults: Vec<String>,
}

impl Gathered {
    /// Everything at these places.
    fn of(places: &[PathBuf]) -> Result<Self, Error> {
        let mut gathered = Self {
            all: Spool::new()?,
            count: 0,
            faults: Vec::new(),
        };
        for place in places {
            for file in recordings(place)? {
                let name = name_below(place, &file).to_owned();
                for (at, found) in read_trajectories(&file)?.enumerate() {
                    match found {
                        Ok(trajectory) => {
                            gathered.count += 1;
                            gathered.all.push(&LocatedTrajectory {
                                file: file.clone(),
                                number: at + 1,
                                name: name.clone(),
                                trajectory,
                            })?;
                        }
                        Err(why) => gathered.faults.push(why.chain()),
                    }
                }
            }
        }
        Ok(gathered)
    }
}

/// What the agents were told, by instance.
pub(crate) fn read_hints(file: &Path) -> Result<BTreeMap<String, String>, Error> {
    let input = File::open(file).map_err(|why| Error::io("open", file, why))?;
    let mut hints = BTreeMap::new();
    for (at, line) in BufReader::new(input).lines().enumerate() {
        let line = line.map_err(|why| Error::io("read", file, why))?;
        if line.trim().is_empty() {
            continue;
        }
        let wrong = |what: String| {
            let subject = format!("`{}`, line {}: {what}", file.display(), at + 1);
            Error::new(ErrorKind::InvalidInput, "read hints of", subject)
        };
        let row: Value = serde_json::from_str(&line).map_err(|why| wrong(why.to_string()))?;
        // Results of `atlas hints` have it among the details of their judgement, unless none is needed or given.
        let judged = row.get("judgement");
        let hint = row
            .get("hint")
            .or_else(|| judged?.pointer("/details/hint"))
            .or(judged.map(|_| &Value::Null));
        let text = |value: Option<&Value>, name: &str| {
            let text = value.and_then(Value::as_str);
            text.map(str::to_owned)
                .ok_or_else(|| wrong(format!("field `{name}` with a text is missing")))
        };
        let id = text(row.get("instance_id"), "instance_id")?;
        let is_none = hint.is_some_and(|hint| hint.is_null() || hint == "");
        if !is_none || judged.is_none() {
            hints.insert(id, text(hint, "hint")?);
        }
    }
    Ok(hints)
}
