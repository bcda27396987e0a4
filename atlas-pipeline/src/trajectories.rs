//! Recordings of agents as files: read, written as ATIF, put through quality gates, handed to people.

use crate::store::{replace, write_atomically};
use atlas_core::{Decision, Error, ErrorKind, RunContext, Verdict};
use atlas_trajectory::{
    Attempt, FinalSubmit, HintWords, RewrittenThoughts, Trajectories, Trajectory, TrajectoryGate,
    review_page,
};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Files of recordings by their endings.
const ENDINGS: [&str; 3] = ["traj", "json", "jsonl"];

/// Where people write what they decide.
const TABLE: &str = "review.csv";

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

/// What is asked of [`check_trajectories`] beside the recordings.
#[derive(Clone, Debug, Default)]
pub struct TrajectoryCheckOptions {
    /// JSON lines with `instance_id` and `hint`: what the agents were told.
    pub hints: Option<PathBuf>,
    /// A folder with recordings of the same file names from before thoughts were rewritten.
    pub originals: Option<PathBuf>,
    /// Words that count as the hint's beside the usual ones.
    pub words: Vec<String>,
    /// Where pages and a table for people go, of attempts that every gate accepts.
    pub review: Option<PathBuf>,
}

/// What the gates say of one attempt.
#[derive(Clone, Debug, Serialize)]
pub struct CheckedTrajectory {
    /// The recording.
    pub file: String,
    /// Which trajectory of it, from 1.
    pub number: usize,
    /// The instance, where it is told.
    pub instance_id: Option<String>,
    /// The agent.
    pub agent: String,
    /// How many steps there are.
    pub steps: usize,
    /// Whether every gate accepts it.
    pub accepted: bool,
    /// What each gate says.
    pub verdicts: Vec<Verdict>,
}

/// What the gates say of all.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TrajectoryReport {
    /// How many attempts every gate accepts.
    pub accepted: usize,
    /// How many attempts have no hint in the file of hints: of those only words are looked for. 0 without
    /// such a file.
    pub without_hint: usize,
    /// By gate and code of a finding, how many attempts have it.
    pub findings: BTreeMap<String, BTreeMap<String, usize>>,
    /// The attempts, in the order of the files.
    pub trajectories: Vec<CheckedTrajectory>,
    /// Recordings that cannot be read, and why.
    pub faults: Vec<String>,
}

/// Puts recordings through the gates of paper 001's appendix F.3 that need no model.
///
/// # Errors
/// A place, the hints or an original cannot be read; the review's files cannot be written. A recording that
/// cannot be read is a fault in the report.
///
/// # Cancellation
/// Between two recordings; pages that were written stay.
pub async fn check_trajectories(
    cx: &RunContext,
    places: &[PathBuf],
    options: &TrajectoryCheckOptions,
) -> Result<TrajectoryReport, Error> {
    let hints = options
        .hints
        .as_deref()
        .map(read_hints)
        .transpose()?
        .unwrap_or_default();
    let words = &options.words;
    let gates: [Box<dyn TrajectoryGate>; 3] = [
        Box::new(FinalSubmit),
        Box::new(HintWords {
            words: words.clone(),
        }),
        Box::new(RewrittenThoughts {
            words: words.clone(),
        }),
    ];
    // Without an original nothing was rewritten, and the gate before has said what is to be.
    let gates = &gates[..if options.originals.is_some() { 3 } else { 2 }];
    if let Some(folder) = options.review.as_deref()
        && folder.join(TABLE).exists()
    {
        let subject = format!(
            "`{}`: it holds answers in {TABLE}; name another folder",
            folder.display()
        );
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "write pages to",
            subject,
        ));
    }
    let mut report = TrajectoryReport::default();
    let mut table = csv::Writer::from_writer(Vec::new());
    let table_fault =
        |why: csv::Error| Error::new(ErrorKind::Io, "write a row of", TABLE).with_source(why);
    table
        .write_record(["page", "instance_id", "decision", "comment"])
        .map_err(table_fault)?;
    for place in places {
        for recording in recordings(place)? {
            let originals = original(place, &recording, options.originals.as_deref())?;
            for (at, found) in read_trajectories(&recording)?.enumerate() {
                cx.check("check trajectories")?;
                let trajectory = match found {
                    Ok(trajectory) => trajectory,
                    Err(why) => {
                        report.faults.push(why.chain());
                        continue;
                    }
                };
                let id = trajectory.instance_id().map(str::to_owned);
                let hint = id.as_deref().and_then(|id| hints.get(id));
                report.without_hint += usize::from(options.hints.is_some() && hint.is_none());
                let attempt = Attempt {
                    hint: hint.cloned().unwrap_or_default(),
                    original: match (&options.originals, originals.get(at)) {
                        (Some(folder), None) => return Err(no_original(folder, &recording, at)),
                        (_, original) => original.cloned(),
                    },
                    trajectory,
                };
                let mut verdicts = Vec::new();
                for gate in gates {
                    verdicts.push(gate.check(cx, &attempt).await?);
                }
                let checked = checked(&recording, at + 1, id, &attempt.trajectory, verdicts);
                count(&mut report, &checked.verdicts);
                report.accepted += usize::from(checked.accepted);
                if let Some(folder) = options.review.as_deref().filter(|_| checked.accepted) {
                    let page = format!("{:06}.md", report.accepted);
                    let text = review_page(&attempt.trajectory, &checked.verdicts);
                    write_atomically(&folder.join(&page), text.as_bytes())?;
                    let id = checked.instance_id.as_deref().unwrap_or_default();
                    table
                        .write_record([page.as_str(), id, "", ""])
                        .map_err(table_fault)?;
                }
                report.trajectories.push(checked);
            }
        }
    }
    if let Some(folder) = &options.review {
        let bytes = table
            .into_inner()
            .map_err(|why| table_fault(why.into_error().into()))?;
        write_atomically(&folder.join(TABLE), &bytes)?;
    }
    Ok(report)
}

/// The name of a file up to its ending where that is an instance's: SWE-agent writes it nowhere else.
fn instance_id(file: &Path) -> Option<String> {
    let name = file.file_name()?.to_str()?;
    let (stem, _) = name.split_once(".traj")?;
    stem.contains("__").then(|| stem.to_owned())
}

fn checked(
    file: &Path,
    number: usize,
    instance_id: Option<String>,
    trajectory: &Trajectory,
    verdicts: Vec<Verdict>,
) -> CheckedTrajectory {
    CheckedTrajectory {
        file: file.display().to_string(),
        number,
        instance_id,
        agent: trajectory.agent.name.clone(),
        steps: trajectory.steps.len(),
        accepted: verdicts
            .iter()
            .all(|verdict| verdict.decision == Decision::Accept),
        verdicts,
    }
}

fn count(report: &mut TrajectoryReport, verdicts: &[Verdict]) {
    for verdict in verdicts {
        for finding in &verdict.findings {
            let codes = report
                .findings
                .entry(verdict.validator.clone())
                .or_default();
            *codes.entry(finding.code.clone()).or_default() += 1;
        }
    }
}

/// The originals of a recording: of the file of the same place in their folder.
fn original(
    place: &Path,
    recording: &Path,
    folder: Option<&Path>,
) -> Result<Vec<Trajectory>, Error> {
    let Some(folder) = folder else {
        return Ok(Vec::new());
    };
    let name = match recording.strip_prefix(place) {
        Ok(below) if !below.as_os_str().is_empty() => below,
        _ => Path::new(recording.file_name().unwrap_or_default()),
    };
    read_trajectories(&folder.join(name))?.collect()
}

fn no_original(folder: &Path, recording: &Path, at: usize) -> Error {
    let subject = format!(
        "trajectory {} of `{}` in `{}`: it holds fewer",
        at + 1,
        recording.display(),
        folder.display()
    );
    Error::new(ErrorKind::NotFound, "find the original of", subject)
}

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
        // Results of `atlas hints` have it among their details.
        let hint = row.get("hint").or_else(|| row.pointer("/details/hint"));
        let text = |value: Option<&Value>, name: &str| {
            let text = value.and_then(Value::as_str);
            text.map(str::to_owned)
                .ok_or_else(|| wrong(format!("field `{name}` with a text is missing")))
        };
        hints.insert(
            text(row.get("instance_id"), "instance_id")?,
            text(hint, "hint")?,
        );
    }
    Ok(hints)
}
