//! `atlas attempt`: agents on instances, k times each (paper 001, section 3.5).

mod agents;
mod record;
mod report;

pub use agents::{AgentChoice, called_as};
pub use record::{AttemptRecord, AttemptVerdict};
pub use report::{AttemptReport, InstanceAttempts};

use crate::batch::Batch;
use crate::evaluate::{Episode, Episodes, EvalOptions, EvalOutcome};
use crate::store::{Key, read_json, write_atomically, write_json};
use crate::{InputFault, read_run_report};
use async_trait::async_trait;
use atlas_core::{Error, ErrorKind, Instance, Limits, RunContext, Step, StepResult};
use atlas_trajectory::{
    Agent, AgentShell, AgentTask, Attempt, AttemptBudget, FinalSubmit, HiddenFacts, HintWords,
    TrajectoryGate, attempt, forbidden_reads,
};
use record::Place;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// What is attempted, and with what.
#[derive(Clone, Debug)]
pub struct AttemptOptions {
    /// The dataset, the engines, the folder for everything that is written, and by what rules patches are
    /// graded. Its predictions are not looked at; its run's name is the attempts'.
    pub eval: EvalOptions,
    /// Attempts at each instance. Default 1.
    pub attempts: u32,
    /// What each attempt may spend.
    pub budget: AttemptBudget,
    /// Hints for agents: JSON lines with `instance_id` and `hint`, or results of `atlas hints`. Instances
    /// without one are attempted without.
    pub hints: Option<PathBuf>,
    /// Reports of runs: only instances that they evaluated and that none of them resolved are attempted, those that
    /// break models (paper 001, section 3.5). Default: all.
    pub only_unresolved: Vec<PathBuf>,
    /// Words that count as the hint's beside the usual ones.
    pub words: Vec<String>,
}

impl AttemptOptions {
    /// Defaults for everything but the evaluation.
    pub fn new(eval: EvalOptions) -> Self {
        Self {
            eval,
            attempts: 1,
            budget: AttemptBudget::default(),
            hints: None,
            only_unresolved: Vec::new(),
            words: Vec::new(),
        }
    }
}

/// The repository's folder, as agents are told it.
const FOLDER: &str = "/testbed";

/// Has an agent attempt instances, and grades what it leaves by the strict evaluator.
///
/// Below the folder for outputs are `attempts/<instance>/<number>` with `record.json`, `trajectory.json` (ATIF),
/// `commands.jsonl` (what ran, whatever the agent says), `patch.diff` and the agent's own files; the harness's
/// folders, as [`evaluate`](crate::evaluate()) leaves them; and, once all is done, `predictions.jsonl`,
/// `trajectories.jsonl` and `attempts.json`.
///
/// An attempt that ended is not made again, unless agent, budget, row or hint changed; one that was broken off is
/// made anew; one whose verdict is missing, or says nothing, is graded again.
///
/// # Errors
/// Inputs that cannot be read, no instance that is left, an agent or an engine that does not start. What goes
/// wrong with one attempt stands in its record.
///
/// # Cancellation
/// Raising `cx.cancel` ends agents and sandboxes and returns [`ErrorKind::Cancelled`]; what had ended stays.
pub async fn run_attempts(
    cx: &RunContext,
    agent: &dyn Agent,
    options: &AttemptOptions,
) -> Result<AttemptReport, Error> {
    let hints = options
        .hints
        .as_deref()
        .map(crate::trajectories::read_hints);
    let hints = hints.transpose()?.unwrap_or_default();
    let session = Limits {
        // The patch is read when the agent is done.
        seconds: options.budget.seconds + 600,
        ..options.eval.config.limits.clone()
    };
    let episodes = Box::pin(Episodes::open(options.eval.clone(), session)).await?;
    let chosen = chosen(&episodes, options)?;
    let runner = Runner {
        agent,
        options,
        episodes: &episodes,
        hints: &hints,
    };
    let items: Vec<(&str, u32)> = chosen
        .iter()
        .flat_map(|id| (1..=options.attempts).map(move |number| (id.as_str(), number)))
        .collect();
    let batch = Batch {
        cx,
        name: "attempt",
        jobs: options.eval.jobs,
        known: 0,
    };
    let work = |(id, number)| Box::pin(runner.one(cx, id, number));
    let mut records = batch.run(items, work).await?;
    records.sort_by(|a, b| (&a.instance_id, a.attempt).cmp(&(&b.instance_id, b.attempt)));
    report::finish(&options.eval.out, records, episodes.faults())
}

/// The instances that are attempted.
fn chosen(episodes: &Episodes, options: &AttemptOptions) -> Result<Vec<String>, Error> {
    let all = episodes.instances();
    if options.only_unresolved.is_empty() {
        return Ok(all.to_vec());
    }
    let (mut tried, mut resolved) = (BTreeSet::new(), BTreeSet::new());
    for path in &options.only_unresolved {
        let (_, report) = read_run_report(path)?;
        tried.extend(report.completed_ids);
        tried.extend(report.unresolved_ids);
        tried.extend(report.empty_patch_ids);
        resolved.extend(report.resolved_ids);
    }
    let breaks = |id: &&String| tried.contains(*id) && !resolved.contains(*id);
    let chosen: Vec<String> = all.iter().filter(breaks).cloned().collect();
    if chosen.is_empty() {
        let names: Vec<String> = options
            .only_unresolved
            .iter()
            .map(|path| format!("`{}`", path.display()))
            .collect();
        return Err(Error::new(
            ErrorKind::NotFound,
            "find instances that no model resolved in",
            format!(
                "{}: of the dataset's {} instances {} were evaluated, all of them resolved",
                names.join(", "),
                all.len(),
                all.iter().filter(|id| tried.contains(*id)).count()
            ),
        ));
    }
    Ok(chosen)
}

/// An episode as a shell for agents.
#[derive(Debug)]
struct Shell(Episode);

#[async_trait]
impl AgentShell for Shell {
    async fn run(&mut self, cx: &RunContext, step: &Step) -> Result<StepResult, Error> {
        self.0.step(cx, step).await
    }
}

/// What all attempts share.
#[derive(Debug)]
struct Runner<'a> {
    agent: &'a dyn Agent,
    options: &'a AttemptOptions,
    episodes: &'a Episodes,
    hints: &'a BTreeMap<String, String>,
}

impl Runner<'_> {
    /// One attempt, from wherever an earlier start left it.
    async fn one(&self, cx: &RunContext, id: &str, number: u32) -> Result<AttemptRecord, Error> {
        cx.check("attempt")?;
        let place = Place::new(&self.options.eval.out, id, number);
        let row = self
            .episodes
            .instance(id)
            .ok_or_else(|| Error::new(ErrorKind::Internal, "find the row of", id))?;
        let hint = self
            .hints
            .get(id)
            .map(String::as_str)
            .filter(|hint| !hint.trim().is_empty());
        let key = self.key(row, hint)?;
        let known: Option<AttemptRecord> = read_json(&place.record());
        let known = known.filter(|record| record.key == key);
        let mut record = match known {
            Some(record) => record,
            None => {
                match Box::pin(self.attempt(cx, &place, row, (id, number), (hint, key.clone())))
                    .await
                {
                    Ok(record) => record,
                    Err(why) if is_of_all(&why) => return Err(why),
                    // The environment or the engine: nothing is known of the agent, and nothing is kept.
                    Err(why) => {
                        tracing::warn!(instance = id, number, "{}", why.chain());
                        let of = AttemptRecord::new(id, number, self.agent.info(), key);
                        return Ok(of.without(why.chain()));
                    }
                }
            }
        };
        let is_graded = record
            .verdict
            .as_ref()
            .is_some_and(|verdict| verdict.outcome != EvalOutcome::NoEvidence);
        if !is_graded {
            let patch = std::fs::read_to_string(place.patch())
                .map_err(|why| Error::io("read", &place.patch(), why))?;
            let graded = self
                .episodes
                .grade(cx, id, &record.model_name_or_path, &patch);
            record.verdict = Some(AttemptVerdict::of(&graded.await?));
            write_json(&place.record(), &record)?;
        }
        Ok(record)
    }

    /// What decides an attempt.
    fn key(&self, row: &Instance, hint: Option<&str>) -> Result<String, Error> {
        let text = |value: serde_json::Result<String>| {
            value.map_err(|why| {
                Error::new(ErrorKind::Internal, "write", "an attempt's settings").with_source(why)
            })
        };
        Ok(Key::new("attempt 1")
            .part(text(serde_json::to_string(row))?.as_bytes())
            .part(text(serde_json::to_string(&self.agent.info()))?.as_bytes())
            .part(self.agent.settings().to_string().as_bytes())
            .part(text(serde_json::to_string(&self.options.budget))?.as_bytes())
            .part(hint.unwrap_or_default().as_bytes())
            .finish())
    }

    async fn attempt(
        &self,
        cx: &RunContext,
        place: &Place,
        row: &Instance,
        (id, number): (&str, u32),
        (hint, key): (Option<&str>, String),
    ) -> Result<AttemptRecord, Error> {
        place.clear()?;
        let unreadable = |why: atlas_core::InstanceError| {
            Error::new(
                ErrorKind::InvalidInput,
                format!("read the row of `{id}`:"),
                why.to_string(),
            )
        };
        let statement = row.text("problem_statement").map_err(unreadable)?;
        let task = AgentTask {
            instance_id: id.to_owned(),
            attempt: number,
            statement: told(statement.unwrap_or_default(), hint),
            folder: FOLDER.to_owned(),
            out: place.folder().to_owned(),
        };
        let mut shell = Shell(self.episodes.begin(cx, id).await?);
        let isolation = shell.0.isolation();
        let attempted = attempt(cx, self.agent, &task, &mut shell, &self.options.budget).await;
        let patch = match &attempted {
            Ok(_) => shell.0.diff(cx).await,
            Err(_) => Ok(String::new()),
        };
        // Whatever became of it, its container goes first.
        let closed = shell.0.close().await;
        let attempted = attempted?;
        closed?;
        let mut record = AttemptRecord::new(id, number, attempted.trajectory.agent.clone(), key);
        record.model_name_or_path = self.model(number);
        record.hinted = hint.is_some();
        record.exit_status = attempted.exit_status;
        record.steps = attempted.commands.len() as u64;
        record.usage = attempted.usage;
        record.seconds = attempted.seconds;
        record.isolation = isolation;
        record.notes = attempted.notes;
        let patch = patch.unwrap_or_else(|why| {
            record.notes.push(why.chain());
            String::new()
        });
        let tests = row.test_patch().map_err(unreadable)?;
        let base = row.text("base_commit").map_err(unreadable)?;
        let hidden = HiddenFacts::new(&tests, base.unwrap_or_default());
        record.forbidden = forbidden_reads(&attempted.commands, &hidden);
        write_atomically(&place.patch(), patch.as_bytes())?;
        let atif = attempted.trajectory.to_atif();
        write_atomically(&place.trajectory(), atif.as_bytes())?;
        place.write_commands(&attempted.commands)?;
        let seen = Attempt {
            trajectory: attempted.trajectory,
            hint: hint.unwrap_or_default().to_owned(),
            original: None,
        };
        let words = HintWords {
            words: self.options.words.clone(),
        };
        record.gates.push(FinalSubmit.check(cx, &seen).await?);
        if hint.is_some() {
            record.gates.push(words.check(cx, &seen).await?);
        }
        write_json(&place.record(), &record)?;
        Ok(record)
    }

    /// The name under which an attempt is graded: of several at one instance each has its own.
    fn model(&self, number: u32) -> String {
        let run = &self.options.eval.run_id;
        if self.options.attempts == 1 {
            run.clone()
        } else {
            format!("{run}-{number}")
        }
    }
}

/// Whether an error would come of every attempt.
fn is_of_all(why: &Error) -> bool {
    matches!(
        why.kind(),
        ErrorKind::Cancelled
            | ErrorKind::EngineUnreachable
            | ErrorKind::NotTrusted
            | ErrorKind::ToolFailed
    )
}

/// What an agent is told: the statement, and the hint below it where there is one (paper 001, section 3.5).
fn told(statement: &str, hint: Option<&str>) -> String {
    match hint {
        None => statement.to_owned(),
        Some(hint) => format!("{}\n\n## Hints\n\n{}\n", statement.trim_end(), hint.trim()),
    }
}
