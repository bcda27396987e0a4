//! The judge over recordings.

use super::{Gathered, JudgedQuality, LocatedTrajectory, content, read_hints};
use crate::judging::{
    ContentHash, Identity, JudgeItem, JudgeReport, JudgeRun, ModelSession, ResultLines, Silent,
    in_batches, judge_items,
};
use atlas_core::{ChatMessage, Decision, Error, RunContext, Verdict};
use atlas_judge::trajectories::{TrajectoryJudgeOptions, trajectory_quality_prompt};
use atlas_trajectory::{Attempt, TrajectoryGate as _};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Which recordings are judged, and how.
#[derive(Clone, Debug)]
pub struct TrajectoryJudgeRunOptions {
    /// Recordings, or folders of them.
    pub places: Vec<PathBuf>,
    /// JSON lines with `instance_id` and `hint`: what the agents were told, so that the judge is not.
    pub hints: Option<PathBuf>,
    /// How the judge asks.
    pub judge: TrajectoryJudgeOptions,
    /// The file of results.
    pub out: PathBuf,
    /// Attempts that go on at once.
    pub jobs: usize,
}

/// What the judge says of all.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrajectoryJudgeReport {
    /// How the run went.
    #[serde(flatten)]
    pub run: JudgeReport,
    /// How many attempts are good enough.
    pub accepted: usize,
    /// By dimension, how many attempts are not good enough in it.
    pub findings: BTreeMap<String, usize>,
    /// One entry for every attempt that has a result.
    pub results: Vec<JudgedTrajectory>,
    /// Recordings that cannot be read, and why.
    pub faults: Vec<String>,
    /// What the model was paid in this run.
    pub ledger: Value,
}

/// What the judge says of one attempt; the file of results has the whole verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgedTrajectory {
    /// The instance; empty where it is not told.
    pub instance_id: String,
    /// The recording.
    pub file: String,
    /// Which trajectory of it, from 1.
    pub number: String,
    /// Whether it is good enough.
    pub accepted: bool,
    /// By dimension: 0 (best) to 3 (worst); absent where the dimension does not count.
    pub scores: BTreeMap<String, u64>,
    /// The model's words on it.
    pub explanation: String,
}

/// Judges recordings on paper 001's four dimensions. Lines of the file of results have `instance_id`, `file`, `number`,
/// `trajectory` (a hash of what was judged) and `verdict`, whole.
///
/// # Errors
/// As [`judge_items`]; a place or the hints cannot be read. A recording that cannot be read is a fault in the report.
///
/// # Cancellation
/// As [`judge_items`].
pub async fn judge_trajectories(
    cx: &RunContext,
    options: &TrajectoryJudgeRunOptions,
    session: &ModelSession,
) -> Result<TrajectoryJudgeReport, Error> {
    in_batches(cx, session, &options.out, |session, out| {
        let options = TrajectoryJudgeRunOptions {
            out,
            ..options.clone()
        };
        async move {
            Box::pin(judge_trajectories(cx, &options, &session))
                .await
                .map(drop)
        }
    })
    .await?;
    let inputs = Inputs::read(options)?;
    let model = session.model();
    let run = JudgeRun {
        name: "trajectories judge".to_owned(),
        out: options.out.clone(),
        settings: json!({
            "model": model.name(),
            "model_settings": session.settings(),
            "judge": options.judge,
            "prompt_version": trajectory_quality_prompt().version(),
        }),
        jobs: options.jobs,
    };
    let gate = JudgedQuality::new(model, options.judge.clone());
    let (report, lines) = judge_items(
        cx,
        &run,
        inputs.items()?,
        |at| inputs.identities[*at].clone(),
        |at| {
            let (gate, inputs) = (&gate, &inputs);
            async move {
                let found = inputs.gathered.all.get(at)?;
                let content = content(&found.trajectory).to_string();
                let verdict = gate.check(cx, &inputs.attempt(found)).await?;
                let mut fields = Map::new();
                fields.insert("trajectory".to_owned(), json!(content));
                fields.insert("verdict".to_owned(), json!(verdict));
                Ok(fields)
            }
        },
    )
    .await?;
    let mut summed = TrajectoryJudgeReport {
        run: report,
        accepted: 0,
        findings: BTreeMap::new(),
        results: Vec::new(),
        faults: inputs.gathered.faults,
        ledger: session.ledger(),
    };
    sum_up(&mut summed, &lines)?;
    Ok(summed)
}

/// What a model would be told of each recording, without asking any.
///
/// # Errors
/// As [`judge_trajectories`]; an attempt without steps.
pub fn trajectory_prompts(
    options: &TrajectoryJudgeRunOptions,
) -> Result<Vec<(String, Vec<ChatMessage>)>, Error> {
    let inputs = Inputs::read(options)?;
    let gate = JudgedQuality::new(Silent, options.judge.clone());
    let mut prompts = Vec::new();
    for at in 0..inputs.gathered.count {
        let found = inputs.gathered.all.get(at)?;
        let key = found.key();
        prompts.push((key, gate.prompt(&inputs.attempt(found))?));
    }
    Ok(prompts)
}

struct Inputs {
    gathered: Gathered,
    identities: Vec<Identity>,
    hints: BTreeMap<String, String>,
}

impl Inputs {
    fn read(options: &TrajectoryJudgeRunOptions) -> Result<Self, Error> {
        let hints = options.hints.as_deref().map(read_hints).transpose()?;
        let gathered = Gathered::of(&options.places)?;
        let identities = (0..gathered.count).map(|at| Ok(gathered.all.get(at)?.identity()));
        Ok(Self {
            identities: identities.collect::<Result<_, Error>>()?,
            hints: hints.unwrap_or_default(),
            gathered,
        })
    }

    fn attempt(&self, found: LocatedTrajectory) -> Attempt {
        let id = found.trajectory.instance_id();
        let hint = id.and_then(|id| self.hints.get(id)).cloned();
        Attempt {
            trajectory: found.trajectory,
            hint: hint.unwrap_or_default(),
            original: None,
        }
    }

    fn items(&self) -> Result<Vec<JudgeItem<usize>>, Error> {
        let item = |at| {
            let found = self.gathered.all.get(at)?;
            let key = found.key();
            let attempt = self.attempt(found);
            Ok(JudgeItem {
                key: key.into(),
                content: ContentHash::of(&[&attempt.trajectory.to_atif_line(), &attempt.hint]),
                input: at,
            })
        };
        (0..self.gathered.count).map(item).collect()
    }
}

fn sum_up(report: &mut TrajectoryJudgeReport, lines: &ResultLines) -> Result<(), Error> {
    for line in lines.iter() {
        let line = line?;
        let verdict = line.get("verdict").cloned().unwrap_or_default();
        let Ok(verdict) = serde_json::from_value::<Verdict>(verdict) else {
            continue; // The judge failed here, and the run says so.
        };
        let text = |name: &str| {
            let text = line.get(name).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let accepted = verdict.decision == Decision::Accept;
        report.accepted += usize::from(accepted);
        for finding in &verdict.findings {
            *report.findings.entry(finding.code.clone()).or_default() += 1;
        }
        let dimensions = verdict.measurements.get("dimensions");
        let dimensions = dimensions.and_then(Value::as_array).into_iter().flatten();
        let scores = dimensions
            .filter(|one| one["counts"] == true)
            .filter_map(|one| {
                Some((
                    one["dimension"].as_str()?.to_owned(),
                    one["score"].as_u64()?,
                ))
            });
        let explanation = verdict.measurements.get("explanation");
        let explanation = explanation.and_then(Value::as_str);
        report.results.push(JudgedTrajectory {
            instance_id: text("instance_id"),
            file: text("file"),
            number: text("number"),
            accepted,
            scores: scores.collect(),
            explanation: explanation.unwrap_or_default().to_owned(),
        });
    }
    Ok(())
}
