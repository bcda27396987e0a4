//! `atlas serve`: instances as environments over HTTP, graded by the strict evaluator.

use crate::{Episode, Episodes, EvalOptions, EvalOutcome, EvalVerdict};
use async_trait::async_trait;
use atlas_core::{Error, ErrorKind, Instance, Isolation, Limits, RunContext, Step, StepResult};
use atlas_oracle::{Cause, Graded};
use atlas_serve::{
    EpisodeHost, Grade, HostedEpisode, Passed, ServeOptions, Server, Submission, Task,
};
use std::net::SocketAddr;
use std::sync::Arc;

/// Serves the instances of a dataset until it is cancelled; `ready` is told the address. The predictions of `eval` are
/// not looked at. Limits of a session are the configuration's, but for the seconds.
///
/// # Errors
/// A dataset without a usable row, wrong options, an engine that does not answer, an address that is taken, a folder
/// that another server uses.
///
/// # Cancellation
/// Raising `cx.cancel` lets no episode begin, gives the open ones the options' time, and returns when every verdict
/// that is owed is there.
pub async fn serve(
    cx: &RunContext,
    eval: EvalOptions,
    serve: ServeOptions,
    ready: impl FnOnce(SocketAddr) -> Result<(), Error>,
) -> Result<(), Error> {
    let session = Limits {
        seconds: serve.session_time().as_secs(),
        ..eval.config.limits.clone()
    };
    let episodes = Episodes::open(eval, session).await?;
    for fault in episodes.faults() {
        tracing::warn!("a row is left out: {fault:?}");
    }
    let server = Server::open(cx, Arc::new(Served(episodes)), serve).await?;
    ready(server.address())?;
    server.run(cx).await
}

/// Instances behind the server.
#[derive(Debug)]
struct Served(Episodes);

#[async_trait]
impl EpisodeHost for Served {
    fn instances(&self) -> &[String] {
        self.0.instances()
    }

    fn task(&self, instance_id: &str) -> Option<Task> {
        let row = self.0.instance(instance_id)?;
        let text = |column| row.text(column).ok().flatten().unwrap_or_default();
        let hints = text("hints_text");
        Some(Task {
            repo: text("repo").to_owned(),
            base_commit: text("base_commit").to_owned(),
            problem_statement: text("problem_statement").to_owned(),
            hints: (!hints.trim().is_empty()).then(|| hints.to_owned()),
        })
    }

    async fn begin(
        &self,
        cx: &RunContext,
        instance_id: &str,
    ) -> Result<Box<dyn HostedEpisode>, Error> {
        let episode = self.0.begin(cx, instance_id).await?;
        Ok(Box::new(ServedEpisode(episode)))
    }

    async fn grade(&self, cx: &RunContext, submission: Submission<'_>) -> Result<Grade, Error> {
        let Submission {
            episode,
            instance_id,
            patch,
        } = submission;
        let verdict = self.0.grade(cx, instance_id, episode, patch).await?;
        grade(&verdict, self.0.instance(instance_id))
    }
}

#[derive(Debug)]
struct ServedEpisode(Episode);

#[async_trait]
impl HostedEpisode for ServedEpisode {
    fn isolation(&self) -> Isolation {
        self.0.isolation()
    }

    fn working_directory(&self) -> String {
        // Without walls it is a folder of this machine, which is nobody's business.
        match self.0.isolation().kind.as_str() {
            "process" => "the repository's root".to_owned(),
            _ => "/testbed".to_owned(),
        }
    }

    async fn step(&mut self, cx: &RunContext, step: &Step) -> Result<StepResult, Error> {
        self.0.step(cx, step).await
    }

    async fn patch(&mut self, cx: &RunContext) -> Result<String, Error> {
        self.0.diff(cx).await
    }

    async fn fork(&mut self, cx: &RunContext) -> Result<Box<dyn HostedEpisode>, Error> {
        Ok(Box::new(Self(self.0.fork(cx).await?)))
    }

    async fn close(self: Box<Self>) -> Result<(), Error> {
        self.0.close().await
    }
}

/// What a verdict is worth as a grade. One that puts the blame on the place and not on the patch says nothing of the
/// patch, and of a run that meddled with its own verdict no test counts.
fn grade(verdict: &EvalVerdict, row: Option<&Instance>) -> Result<Grade, Error> {
    let is_known = verdict.outcome != EvalOutcome::NoEvidence
        && !matches!(
            verdict.cause,
            Some(Cause::Environment | Cause::Parser | Cause::Harness)
        );
    let is_tampered = verdict.cause == Some(Cause::Tampered);
    let of = |graded: &Graded, column| {
        let listed = row.and_then(|row| row.tests(column).ok());
        let listed = listed.map_or(0, |tests| tests.ids.len());
        Passed {
            passed: if is_tampered { 0 } else { graded.success.len() },
            total: listed.max(graded.success.len() + graded.failure.len()),
        }
    };
    let cause = match (verdict.resolved, verdict.reasons.first()) {
        (true, _) => "every test of FAIL_TO_PASS and PASS_TO_PASS passes".to_owned(),
        (false, Some(reason)) => reason.clone(),
        (false, None) => match verdict.outcome {
            EvalOutcome::EmptyPatch | EvalOutcome::NullPatch => "nothing was changed".to_owned(),
            EvalOutcome::NotApplied => "the patch does not fit on the base commit".to_owned(),
            EvalOutcome::NoEvidence => "nothing could be found out".to_owned(),
            EvalOutcome::Graded => "not every test passes".to_owned(),
        },
    };
    Ok(Grade {
        resolved: is_known.then_some(verdict.resolved),
        fail_to_pass: of(&verdict.fail_to_pass, "FAIL_TO_PASS"),
        pass_to_pass: of(&verdict.pass_to_pass, "PASS_TO_PASS"),
        cause,
        verdict: serde_json::to_value(verdict).map_err(|why| {
            let id = verdict.instance_id.clone();
            Error::new(ErrorKind::Internal, "write the verdict on", id).with_source(why)
        })?,
    })
}
