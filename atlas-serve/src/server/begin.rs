//! How episodes begin.

use super::{Episodes, lock, named, no_instance};
use crate::RewardKind;
use crate::episode::{Episode, Seat};
use crate::grading::json;
use crate::keys::new_name;
use crate::pending::{Answerer, Outcome, Pending, digest};
use crate::pool::close;
use crate::refusal::Refusal;
use crate::wire::{LimitsTold, Observation, ResetAnswer, ResetRequest};
use atlas_core::Error;
use axum::http::StatusCode;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::OwnedSemaphorePermit;

impl Episodes {
    /// `POST /episodes`.
    pub(crate) async fn reset(&self, request: ResetRequest) -> Outcome {
        let name = named(request.request_id.as_deref())?;
        let kind = request.reward.unwrap_or(self.inner.options.reward);
        if !self.inner.host.knows(kind) {
            return Err(Refusal::invalid(
                "`reward`: this server has no critic; it was started without one",
            ));
        }
        let digest = digest(&[
            &request.instance_id,
            kind.as_str(),
            if request.hints { "hints" } else { "" },
        ]);
        let pending = {
            let mut resets = lock(&self.inner.resets);
            match name.and_then(|name| resets.get(name)) {
                Some((was, _)) if *was != digest => {
                    return Err(Refusal::invalid(
                        "`request_id` was the name of another reset: each needs a name of its own",
                    ));
                }
                Some((_, pending)) => pending.clone(),
                None => {
                    if self.inner.host.task(&request.instance_id).is_none() {
                        let said = no_instance(self.inner.host.as_ref(), &request.instance_id);
                        return Err(Refusal::new(
                            StatusCode::NOT_FOUND,
                            "unknown_instance",
                            said,
                        ));
                    }
                    let place = self.place()?;
                    if self.inner.grading.count() >= self.inner.options.waiting.max(1) {
                        return Err(Refusal::full("too many submissions wait for a verdict"));
                    }
                    let (answerer, pending) = Pending::new();
                    if let Some(name) = name {
                        resets.insert(name.to_owned(), (digest, pending.clone()));
                    }
                    let this = self.clone();
                    let request = request.clone();
                    self.inner.tasks.spawn(async move {
                        this.begin(request, kind, place, answerer).await;
                    });
                    pending
                }
            }
        };
        pending.wait().await
    }

    async fn begin(
        &self,
        request: ResetRequest,
        kind: RewardKind,
        place: OwnedSemaphorePermit,
        answerer: Answerer,
    ) {
        let began = Instant::now();
        let (inner, instance) = (&self.inner, &request.instance_id);
        let ready = inner.pool.take(&inner.cx, &inner.metrics, instance).await;
        let (session, from) = match ready {
            Some(session) => (Ok(session), "ready"),
            None => (inner.host.begin(&inner.cx, instance).await, "new"),
        };
        let answer = match session {
            Ok(session) => {
                let seat = Seat {
                    session,
                    _place: place,
                };
                let reset_id = request.request_id.clone();
                self.seat(seat, instance, kind, request.hints, reset_id, from)
                    .await
            }
            Err(why) => Err(why),
        };
        let outcome = match answer {
            Ok(answer) => {
                inner.metrics.begun(from, began);
                json(&answer)
            }
            Err(why) => {
                tracing::warn!(instance_id = instance, "reset: {}", why.chain());
                if let Some(name) = &request.request_id {
                    lock(&inner.resets).remove(name);
                }
                Err(Refusal::failed(&why))
            }
        };
        answerer.answer(outcome);
    }

    /// Writes an episode down and lets requests at it.
    pub(super) async fn seat(
        &self,
        seat: Seat,
        instance: &str,
        kind: RewardKind,
        hints: bool,
        reset_id: Option<String>,
        from: &str,
    ) -> Result<ResetAnswer, Error> {
        let id = new_name()?;
        let isolation = seat.session.isolation();
        let working_directory = seat.session.working_directory();
        if let Err(why) = self.inner.journal.begin(&id, instance, kind).await {
            close(seat.session).await;
            return Err(why);
        }
        let options = &self.inner.options;
        let task = self.inner.host.task(instance).unwrap_or_default();
        let observation = Observation {
            instance_id: instance.to_owned(),
            repo: task.repo,
            base_commit: task.base_commit,
            problem_statement: task.problem_statement,
            hints: task.hints.filter(|_| hints),
            may_run: format!(
                "Any command for bash, which starts in {working_directory}{}. Files and background processes stay \
                 from one command to the next, folder and variables do not. What the files are at the submission \
                 is the solution.",
                if isolation.network_off {
                    "; there is no network"
                } else {
                    ""
                }
            ),
            working_directory,
            isolation,
            limits: LimitsTold {
                episode_seconds: options.episode_time.as_secs(),
                idle_seconds: options.idle_time.as_secs(),
                steps: options.steps,
                step_seconds: options.step_seconds,
                step_seconds_most: options.step_seconds_most,
                output_bytes: options.output_bytes,
            },
        };
        let episode = Episode::new(
            &self.inner.cx.run_id,
            id.clone(),
            instance.to_owned(),
            kind,
            reset_id,
            seat,
            options,
        );
        self.open_ones().insert(id.clone(), Arc::new(episode));
        self.inner.metrics.open.inc();
        Ok(ResetAnswer {
            token: self.inner.keys.token(&id),
            episode: id,
            observation,
            reward: kind,
            from: from.to_owned(),
        })
    }
}
