//! Commands and forks.

use super::{Episodes, named};
use crate::episode::{Admitted, Episode, Seat};
use crate::grading::json;
use crate::pending::{Outcome, digest};
use crate::refusal::Refusal;
use crate::wire::{NamedRequest, ResetAnswer, StepAnswer, StepRequest};
use atlas_core::{Error, ErrorKind, ExitState, Step, StepResult};
use axum::http::StatusCode;
use std::time::{Duration, Instant};
use tokio::sync::OwnedSemaphorePermit;

/// Beyond a command's own limit, before the engine is taken for dead.
const GRACE: Duration = Duration::from_secs(60);

impl Episodes {
    /// `POST /episodes/{episode}/step`.
    pub(crate) async fn step(&self, id: &str, request: StepRequest) -> Outcome {
        let Some(episode) = self.find(id) else {
            return Err(self.why_not(id).await);
        };
        let options = &self.inner.options;
        let seconds = request.seconds.unwrap_or(options.step_seconds);
        if seconds == 0 || seconds > options.step_seconds_most {
            let most = options.step_seconds_most;
            return Err(Refusal::invalid(format!(
                "`seconds` is {seconds}: from 1 to {most} may be named"
            )));
        }
        let name = named(request.request_id.as_deref())?;
        let digest = digest(&["step", &request.command, &seconds.to_string()]);
        let pending = match episode.ask(name, digest, true, || Ok(()))? {
            Admitted::Before(pending) => pending,
            Admitted::Now((), answerer, pending) => {
                let step = Step {
                    command: request.command,
                    seconds: seconds.min(episode.left().1.as_secs().max(1)),
                    output_bytes: options.output_bytes,
                };
                let this = self.clone();
                self.inner.tasks.spawn(async move {
                    let began = Instant::now();
                    let outcome = this.run(&episode, &step).await;
                    this.inner.metrics.stepped(began);
                    episode.done(None);
                    answerer.answer(outcome);
                });
                pending
            }
        };
        pending.wait().await
    }

    async fn run(&self, episode: &Episode, step: &Step) -> Outcome {
        let mut seat = episode.seat.lock().await;
        let Some(seat) = seat.as_mut() else {
            return Err(Refusal::ended("a request has just ended it"));
        };
        let most = Duration::from_secs(step.seconds) + GRACE;
        let ran = tokio::time::timeout(most, seat.session.step(&episode.cx, step)).await;
        match ran {
            Ok(Ok(done)) => json(&told(&done, episode)),
            Ok(Err(why)) if why.kind() == ErrorKind::Cancelled => {
                Err(Refusal::ended("a request has just ended it"))
            }
            Ok(Err(why)) => {
                tracing::warn!(episode = episode.id, "step: {}", why.chain());
                // Whether the command ran is not known, so nobody is told to ask again.
                let said = format!("the command may have run or not: {}", why.chain());
                Err(Refusal::new(
                    StatusCode::BAD_GATEWAY,
                    "session_failed",
                    said,
                ))
            }
            Err(_) => {
                let said = "the command may have run or not: the engine did not answer in time";
                Err(Refusal::new(
                    StatusCode::BAD_GATEWAY,
                    "session_failed",
                    said,
                ))
            }
        }
    }

    /// `POST /episodes/{episode}/fork`.
    pub(crate) async fn fork(&self, id: &str, request: NamedRequest) -> Outcome {
        let Some(episode) = self.find(id) else {
            return Err(self.why_not(id).await);
        };
        let name = named(request.request_id.as_deref())?;
        let asked = episode.ask(name, digest(&["fork"]), false, || self.place())?;
        let pending = match asked {
            Admitted::Before(pending) => pending,
            Admitted::Now(place, answerer, pending) => {
                let this = self.clone();
                let name = name.map(str::to_owned);
                self.inner.tasks.spawn(async move {
                    let began = Instant::now();
                    let forked = this.forked(&episode, place).await;
                    match forked {
                        Ok(answer) => {
                            this.inner.metrics.begun("fork", began);
                            episode.done(None);
                            answerer.answer(json(&answer));
                        }
                        Err(why) => {
                            tracing::warn!(episode = episode.id, "fork: {}", why.chain());
                            episode.done(name.as_deref());
                            answerer.answer(Err(Refusal::failed(&why)));
                        }
                    }
                });
                pending
            }
        };
        pending.wait().await
    }

    async fn forked(
        &self,
        episode: &Episode,
        place: OwnedSemaphorePermit,
    ) -> Result<ResetAnswer, Error> {
        let session = {
            let mut seat = episode.seat.lock().await;
            let Some(seat) = seat.as_mut() else {
                let id = episode.id.clone();
                return Err(Error::new(ErrorKind::NotFound, "fork what has ended:", id));
            };
            seat.session.fork(&episode.cx).await?
        };
        let seat = Seat {
            session,
            _place: place,
        };
        self.seat(
            seat,
            &episode.instance_id,
            episode.reward,
            false,
            None,
            "fork",
        )
        .await
    }
}

fn told(done: &StepResult, episode: &Episode) -> StepAnswer {
    let (ended, exit_code) = match done.exit {
        ExitState::Exited { code } => ("exited", Some(code)),
        ExitState::TimedOut => ("timed_out", None),
        ExitState::OutOfMemory => ("out_of_memory", None),
    };
    let (steps_left, left) = episode.left();
    StepAnswer {
        is_truncated: done.output_total > done.output.len() as u64,
        output: String::from_utf8_lossy(&done.output).into_owned(),
        output_total: done.output_total,
        ended: ended.to_owned(),
        exit_code,
        seconds: done.seconds,
        is_over: done.is_over,
        steps_left,
        seconds_left: left.as_secs(),
    }
}
