//! `atlas serve`: instances as environments over HTTP, graded by the strict evaluator.

use crate::judging::critic_score;
use crate::{Episode, Episodes, EvalOptions, EvalOutcome, EvalVerdict, ModelSession};
use async_trait::async_trait;
use atlas_core::{
    Error, ErrorKind, ExitState, Isolation, Judge, Limits, Patch, RunContext, Step, StepResult,
};
use atlas_judge::critic::{Critic, CriticOptions};
use atlas_oracle::{Cause, Graded};
use atlas_serve::{
    EpisodeHost, Grade, HostedEpisode, Passed, RewardKind, ServeOptions, Server, Submission, Task,
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
    critic: Option<ServeCritic>,
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
    let host = Served { episodes, critic };
    if !host.knows(serve.reward) {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "serve rewards of a critic:",
            "a model must be named (--critic)",
        ));
    }
    let server = Server::open(cx, Arc::new(host), serve).await?;
    ready(server.address())?;
    server.run(cx).await
}

/// So many tests of a submission a critic is asked about at once.
const CRITIC_ABREAST: usize = 4;

/// A critic whose word may be a reward (paper 004).
#[derive(Clone, Debug)]
pub struct ServeCritic {
    /// The model that it asks, with what may be spent.
    pub session: ModelSession,
    /// How it asks.
    pub options: CriticOptions,
}

/// Instances behind the server.
#[derive(Debug)]
struct Served {
    episodes: Episodes,
    critic: Option<ServeCritic>,
}

impl Served {
    /// What the critic says of a patch; one that changes nothing it is not asked about.
    async fn score(
        &self,
        cx: &RunContext,
        id: &str,
        patch: &str,
    ) -> Result<(Option<f64>, String), Error> {
        let (Some(critic), Some(row)) = (&self.critic, self.episodes.instance(id)) else {
            return Ok((None, "there is no critic".to_owned()));
        };
        if patch.trim().is_empty() {
            return Ok((Some(0.0), "nothing was changed".to_owned()));
        }
        let judge = Critic::new(critic.session.model(), critic.options.clone());
        let read = async |paths| {
            let files = self.episodes.base_files(cx, id, &paths).await?;
            Ok(files
                .into_iter()
                .map(|(path, file)| (path, file.bytes))
                .collect())
        };
        let patch = Patch::new(patch);
        let asked = (&judge as &dyn Judge, critic.options.mode, CRITIC_ABREAST);
        match critic_score(cx, asked, (row, &patch), read).await {
            Ok((score, words)) => Ok((Some(score), words)),
            // What is no doing of the moment stays so however often it is asked.
            Err(why) if !why.is_transient() => Ok((None, format!("the critic: {}", why.chain()))),
            Err(why) => Err(why),
        }
    }
}

#[async_trait]
impl EpisodeHost for Served {
    fn instances(&self) -> &[String] {
        self.episodes.instances()
    }

    fn knows(&self, reward: RewardKind) -> bool {
        reward != RewardKind::Critic || self.critic.is_some()
    }

    fn task(&self, instance_id: &str) -> Option<Task> {
        let row = self.episodes.instance(instance_id)?;
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
        let episode = self.episodes.begin(cx, instance_id).await?;
        Ok(Box::new(ServedEpisode(episode)))
    }

    async fn grade(&self, cx: &RunContext, submission: Submission<'_>) -> Result<Grade, Error> {
        let Submission {
            episode,
            instance_id,
            patch,
            reward,
        } = submission;
        let mut verdict = self.episodes.grade(cx, instance_id, episode, patch).await?;
        for _ in 0..KILLED_AGAIN {
            if !was_killed(&verdict) {
                break;
            }
            tracing::warn!(episode, instance_id, "its run was killed: it is run again");
            verdict = self.episodes.grade(cx, instance_id, episode, patch).await?;
        }
        let mut grade = grade(&verdict)?;
        if reward == RewardKind::Critic {
            let (score, words) = self.score(cx, instance_id, patch).await?;
            grade.score = score;
            grade.cause = format!("{words}; {}", grade.cause);
        }
        Ok(grade)
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

/// How often a run that was killed is run again. Whether the patch had it killed or somebody outside, nothing tells: what
/// is killed each time is the patch's doing.
const KILLED_AGAIN: u32 = 2;

/// Whether a run ended as one does whose processes get SIGKILL, and not at a limit.
fn was_killed(verdict: &EvalVerdict) -> bool {
    let exit = verdict.run.as_ref().map(|run| run.exit);
    !verdict.resolved && exit == Some(ExitState::Exited { code: 137 })
}

/// What a verdict is worth as a grade. One that puts the blame on the place and not on the patch says nothing of the
/// patch, and of a run that meddled with its own verdict no test counts.
fn grade(verdict: &EvalVerdict) -> Result<Grade, Error> {
    let is_known = verdict.outcome != EvalOutcome::NoEvidence
        && !matches!(
            verdict.cause,
            Some(Cause::Environment | Cause::Parser | Cause::Harness)
        );
    let is_tampered = verdict.cause == Some(Cause::Tampered);
    let of = |graded: &Graded| Passed {
        passed: if is_tampered { 0 } else { graded.success.len() },
        total: graded.success.len() + graded.failure.len(),
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
        score: None,
        resolved: is_known.then_some(verdict.resolved),
        fail_to_pass: of(&verdict.fail_to_pass),
        pass_to_pass: of(&verdict.pass_to_pass),
        cause,
        verdict: serde_json::to_value(verdict).map_err(|why| {
            let id = verdict.instance_id.clone();
            Error::new(ErrorKind::Internal, "write the verdict on", id).with_source(why)
        })?,
    })
}

#[cfg(test)]
mod tests {
    use super::{grade, was_killed};
    use crate::{EvalOutcome, EvalVerdict};
    use atlas_core::{ExitState, StateSummary};
    use atlas_oracle::Cause;
    use serde_json::json;

    fn verdict(outcome: EvalOutcome, cause: Option<Cause>) -> EvalVerdict {
        let verdict = json!({
            "schema_version": 1, "instance_id": "me__calc-1", "model_name_or_path": "m", "mode": "strict",
            "outcome": outcome, "resolved": false, "resolution": "RESOLVED_NO", "cause": cause,
            "reasons": [], "evidence": [], "tampering": [], "guards": [], "canaries": {}, "notes": [],
            "FAIL_TO_PASS": {"success": ["t::a"], "failure": ["t::b"]},
            "PASS_TO_PASS": {"success": [], "failure": []},
            "environment": "image", "patch_sha256": "",
        });
        serde_json::from_value(verdict).unwrap()
    }

    fn run(exit: ExitState) -> StateSummary {
        let summary = json!({
            "exit": exit, "outcome": "crashed", "counts": {}, "totals": null, "consistent": null,
            "isolation": {}, "seconds": 1.0, "overhead_seconds": 1.0,
        });
        serde_json::from_value(summary).unwrap()
    }

    #[test]
    fn only_the_patch_is_blamed_with_a_nought() {
        for (outcome, cause, resolved, passed) in [
            (EvalOutcome::Graded, Some(Cause::Model), Some(false), 1),
            (EvalOutcome::Graded, Some(Cause::Tampered), Some(false), 0),
            (EvalOutcome::Graded, Some(Cause::Environment), None, 1),
            (EvalOutcome::Graded, Some(Cause::Harness), None, 1),
            (EvalOutcome::NoEvidence, None, None, 1),
            (
                EvalOutcome::NotApplied,
                Some(Cause::PatchFormat),
                Some(false),
                1,
            ),
        ] {
            let graded = grade(&verdict(outcome, cause)).unwrap();
            assert_eq!(graded.resolved, resolved, "{outcome:?} {cause:?}");
            assert_eq!(graded.fail_to_pass.passed, passed, "{outcome:?} {cause:?}");
            assert_eq!(graded.fail_to_pass.total, 2);
        }
    }

    #[test]
    fn a_kill_is_told_from_a_failure_and_a_limit() {
        for (exit, killed) in [
            (ExitState::Exited { code: 137 }, true),
            (ExitState::Exited { code: 1 }, false),
            (ExitState::TimedOut, false),
            (ExitState::OutOfMemory, false),
        ] {
            let mut verdict = verdict(EvalOutcome::Graded, Some(Cause::Model));
            assert!(!was_killed(&verdict), "nothing ran");
            verdict.run = Some(run(exit));
            assert_eq!(was_killed(&verdict), killed, "{exit:?}");
            verdict.resolved = true;
            assert!(!was_killed(&verdict));
        }
    }
}
