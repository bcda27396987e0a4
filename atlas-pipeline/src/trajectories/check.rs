//! Recordings through the quality gates, and to people.

use super::{JudgedQuality, content, name_below, read_hints, read_trajectories, recordings};
use crate::store::{read_lines, write_atomically};
use async_trait::async_trait;
use atlas_core::{Decision, Error, ErrorKind, Finding, RunContext, Severity, Verdict};
use atlas_trajectory::{
    Attempt, FinalSubmit, HintWords, RewrittenThoughts, Trajectory, TrajectoryGate, review_page,
};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// Where people write what they decide.
const TABLE: &str = "review.csv";

/// What is asked of [`check_trajectories`] beside the recordings. Each field is an option of `atlas trajectories check`.
#[derive(Clone, Debug, Default, Args)]
pub struct TrajectoryCheckOptions {
    /// The hints that the agents were given: JSON lines with `instance_id` and `hint`, or results of `atlas hints`.
    #[arg(long, value_name = "FILE")]
    pub hints: Option<PathBuf>,
    /// The recordings of the same names from before their thoughts were rewritten.
    #[arg(long, value_name = "DIR")]
    pub originals: Option<PathBuf>,
    /// A word that counts as the hint's, beside the usual ones. Can be given several times.
    #[arg(long = "word", value_name = "WORD")]
    pub words: Vec<String>,
    /// Results of `atlas trajectories judge`: attempts must have passed there, too. One that was not judged is not
    /// accepted.
    #[arg(long, value_name = "FILE")]
    pub judged: Option<PathBuf>,
    /// Write a page for each attempt that all gates accept, and a table for answers.
    #[arg(long, value_name = "DIR")]
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
    /// A hash of the trajectory, by which it is known in other files.
    pub content: String,
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
    let mut gates: Vec<Box<dyn TrajectoryGate>> = vec![
        Box::new(FinalSubmit),
        Box::new(HintWords {
            words: words.clone(),
        }),
    ];
    // Without an original nothing was rewritten, and the gate before has said what is to be.
    if options.originals.is_some() {
        gates.push(Box::new(RewrittenThoughts {
            words: words.clone(),
        }));
    }
    if let Some(file) = &options.judged {
        gates.push(Box::new(StoredVerdicts::read(file)?));
    }
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
                for gate in &gates {
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
        content: content(trajectory).to_string(),
        accepted: verdicts
            .iter()
            .all(|verdict| verdict.decision == Decision::Accept),
        verdicts,
    }
}

/// What a judge said before, as a gate.
#[derive(Debug)]
struct StoredVerdicts {
    /// By the trajectory's content.
    verdicts: HashMap<String, Verdict>,
}

/// A line of the judge's results.
#[derive(Deserialize)]
struct JudgedLine {
    #[serde(default)]
    trajectory: String,
    /// Absent where the judge failed.
    #[serde(default)]
    verdict: Option<Verdict>,
}

impl StoredVerdicts {
    fn read(file: &Path) -> Result<Self, Error> {
        let lines: Option<Vec<JudgedLine>> = read_lines(file)?;
        let lines = lines.ok_or_else(|| {
            let subject = format!("`{}`: there is no such file", file.display());
            Error::new(ErrorKind::NotFound, "read verdicts of", subject)
        })?;
        let known = lines
            .into_iter()
            .filter_map(|line| Some((line.trajectory, line.verdict?)));
        Ok(Self {
            verdicts: known.collect(),
        })
    }
}

#[async_trait]
impl TrajectoryGate for StoredVerdicts {
    fn id(&self) -> &str {
        JudgedQuality::ID
    }

    async fn check(&self, _: &RunContext, attempt: &Attempt) -> Result<Verdict, Error> {
        let content = content(&attempt.trajectory).to_string();
        let found = self.verdicts.get(&content).cloned();
        Ok(found.unwrap_or_else(|| Verdict {
            validator: JudgedQuality::ID.to_owned(),
            decision: Decision::NoEvidence,
            findings: vec![Finding {
                code: "not_judged".to_owned(),
                severity: Severity::Note,
                message: "the judge's results hold no verdict on this trajectory".to_owned(),
                evidence: Vec::new(),
            }],
            quarantine: BTreeMap::new(),
            measurements: serde_json::Map::new(),
        }))
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
    read_trajectories(&folder.join(name_below(place, recording)))?.collect()
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
