//! `atlas why`: the whole story of one candidate.

use super::stages::{NO_ANSWER, instances};
use super::store::{Store, Story};
use crate::failures::{EnvironmentFailure, FailureClass};
use crate::make::FAILURE;
use crate::near::hint;
use crate::store::read_json;
use atlas_core::{Error, ErrorKind, Evidence, SourcedPullRequest};
use chrono::{DateTime, SecondsFormat};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// All that a run knows of one candidate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CandidateStory {
    /// Version of this report's form.
    pub schema_version: u32,
    /// Its name.
    pub id: String,
    /// Its repository.
    pub repo: String,
    /// Its title.
    pub title: String,
    /// The file and line that told of it.
    pub told_by: Evidence,
    /// Whether no file tells of it any more.
    pub withdrawn: bool,
    /// Its steps, in the order of the stages.
    pub steps: Vec<CandidateStep>,
    /// What else happened, oldest first: errors, steps that were put back, changes.
    pub events: Vec<StoryEvent>,
    /// Its artefacts.
    pub artefacts: Vec<PathBuf>,
    /// The cheapest thing to try next.
    pub next: String,
}

/// A step of a candidate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CandidateStep {
    /// The stage.
    pub stage: String,
    /// `pending`, `running`, `done` or `failed`.
    pub state: String,
    /// Whether it went on from there.
    pub passed: bool,
    /// The verdict's word, or the kind of error.
    pub outcome: String,
    /// Why.
    pub reason: String,
    /// Proof lines.
    pub evidence: Vec<Evidence>,
    /// Seconds.
    pub seconds: f64,
    /// Bytes of artefacts after it.
    pub bytes: u64,
    /// Money.
    pub money: f64,
    /// How often it was begun.
    pub attempts: u32,
    /// When it last was, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// The key of the stage's version and settings; the step's own has the candidate's line beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipe: Option<String>,
}

/// Something that happened to a candidate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StoryEvent {
    /// When, RFC 3339.
    pub at: String,
    /// The stage; empty where it is none's.
    pub stage: String,
    /// What.
    pub what: String,
    /// More of it.
    pub text: String,
}

/// Tells the story of a candidate. Nothing is changed.
///
/// # Errors
/// No run in that folder; [`ErrorKind::NotFound`] for an unknown name, with one that is near.
pub fn why(folder: &Path, id: &str) -> Result<CandidateStory, Error> {
    let run = Store::read(folder)?;
    let Some(story) = run.story(id)? else {
        let names = run.names_near(id)?;
        let hint = hint(id, names.iter().map(String::as_str));
        let said = format!("`{id}` in `{}`{hint}", folder.display());
        return Err(Error::new(ErrorKind::NotFound, "find candidate", said));
    };
    let order = run.note("stages")?.unwrap_or_default();
    let request: Option<SourcedPullRequest> = serde_json::from_str(&story.line).ok();
    let (repo, title) = request.map(|r| (r.repo, r.title)).unwrap_or_default();
    let artefacts = instances(folder).join(id);
    let failure = read_json(&artefacts.join(FAILURE));
    let next = next(id, &story, failure.as_ref(), &order);
    let mut steps: Vec<CandidateStep> = story.steps.into_iter().map(step).collect();
    let place = |step: &CandidateStep| order.split_whitespace().position(|name| name == step.stage);
    steps.sort_by_key(|step| place(step).unwrap_or(usize::MAX));
    let events = story.events.into_iter().map(|event| StoryEvent {
        at: time(event.at),
        stage: event.stage,
        what: event.what,
        text: event.text,
    });
    Ok(CandidateStory {
        schema_version: 1,
        id: id.to_owned(),
        repo,
        title,
        told_by: Evidence::at(story.file, story.number, ""),
        withdrawn: story.withdrawn,
        steps,
        events: events.collect(),
        artefacts: files(&artefacts),
        next,
    })
}

fn step(step: super::store::ToldStep) -> CandidateStep {
    CandidateStep {
        stage: step.stage,
        state: step.state,
        passed: step.passed,
        outcome: step.outcome,
        reason: step.reason,
        evidence: step.evidence,
        seconds: step.seconds,
        bytes: step.bytes,
        money: step.money,
        attempts: step.attempts,
        started: step.started.map(time),
        recipe: step.recipe,
    }
}

fn time(at: i64) -> String {
    DateTime::from_timestamp_millis(at)
        .map(|at| at.to_rfc3339_opts(SecondsFormat::Secs, true))
        .unwrap_or_default()
}

/// What stands directly in a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
}

/// The cheapest thing to try next.
fn next(id: &str, story: &Story, failure: Option<&EnvironmentFailure>, order: &str) -> String {
    let last = order
        .split_whitespace()
        .filter_map(|name| story.steps.iter().find(|step| step.stage == name))
        .next_back();
    let Some(step) = last else {
        return if story.withdrawn {
            "put its line back into a file of `run.candidates`".to_owned()
        } else {
            format!("`atlas run --only {id}`")
        };
    };
    let outcome = step.outcome.as_str();
    let unanswered = story.steps.iter().find_map(|step| {
        let kind = step.outcome.strip_prefix(NO_ANSWER)?;
        Some((&step.stage, kind))
    });
    match (step.state.as_str(), outcome) {
        ("pending", _) if story.withdrawn => "put its line back into a file of `run.candidates`".to_owned(),
        ("pending", _) => format!("`atlas run --only {id}` takes it before the others"),
        ("running", _) => "wait: it is at work".to_owned(),
        ("failed", "not_found") => format!(
            "make its clone and commits reachable (`clone`, `base`, `head` of its line), then `atlas run --retry {outcome} --only {id}`"
        ),
        ("failed", "budget_exceeded") => {
            format!("raise the budget of `[model]`, then `atlas run --retry {outcome} --only {id}`")
        }
        ("failed", "not_trusted") => format!(
            "install bubblewrap, choose `engine = \"docker\"`, or set `local.trust`; then `atlas run --retry {outcome} --only {id}`"
        ),
        ("failed", _) => format!("`atlas run --retry {outcome} --only {id}`"),
        (_, "environment_invalid") => environment(id, failure),
        (_, "reject_no_fail_to_pass") => {
            "read `after.log` beside `before.log`: did the changed tests run? A wider `make.scope` may take them in".to_owned()
        }
        (_, "reject_after_broken") => "read `after.log`: the pull request's own state does not build or run here".to_owned(),
        (_, "no_evidence") => "read the logs: no test was seen to run; a parser for this runner would help (`atlas synth-parser`)".to_owned(),
        (_, "reject_oracle_consistency") => {
            "`set_aside_flaky = true` in `[run.validate]` keeps the instance without its flaky tests; then `atlas run --stale`".to_owned()
        }
        (_, "reject_nothing_to_test" | "reject_entangled") => "nothing: this is a property of the pull request".to_owned(),
        (_, "reject_low") => {
            "read `curation/judge.json`: the model's scores and quotations; `reject_low = false` in `[run.judge]` keeps such tasks".to_owned()
        }
        _ if step.passed => match unanswered {
            Some((stage, kind)) => format!(
                "it is in the dataset; `atlas run --retry {kind} --only {id}` asks the model of `{stage}` again"
            ),
            None => "nothing: it is in the dataset".to_owned(),
        },
        _ => "read `validate.json`: its findings say what each gate saw".to_owned(),
    }
}

/// What helps where there is no environment, by the class of the failure.
fn environment(id: &str, failure: Option<&EnvironmentFailure>) -> String {
    let again = format!("then `atlas run --stale --only {id}`");
    let help = match failure.map(|failure| failure.class) {
        Some(FailureClass::Unreachable) => "name mirrors or a proxy in `[registries]`",
        Some(FailureClass::Limit) => "raise `[limits]`",
        Some(FailureClass::Dependency) => {
            "name a registry that has it in `[registries]`, or what stands in for one (`substitute = \"debian\"`)"
        }
        Some(FailureClass::Parser) => "name a model in `[model]`, which can write a parser",
        Some(FailureClass::NoProject) => "give its plan by hand: `atlas make` with `[plan] file`",
        _ => {
            "name a model in `[model]`, which can correct the plan; `attempts.json` has what was tried"
        }
    };
    format!("{help}, {again}")
}
