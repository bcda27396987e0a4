//! Submissions on their way to a verdict.

use crate::journal::{Entry, Journal, State};
use crate::metrics::Metrics;
use crate::pending::{Outcome, Pending};
use crate::refusal::Refusal;
use crate::wire::SubmitAnswer;
use crate::{EpisodeHost, ServeOptions, Submission};
use atlas_core::RunContext;
use axum::body::Bytes;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

/// Grades what stands in the journal, each submission by one task whoever asks for it.
///
/// The journal has the patch before a grader sees it and the verdict before a client does. So a server that was
/// killed at any moment grades again what it owes, and nothing that was answered.
#[derive(Clone, Debug)]
pub(crate) struct Grading {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    cx: RunContext,
    host: Arc<dyn EpisodeHost>,
    journal: Journal,
    metrics: Arc<Metrics>,
    tasks: TaskTracker,
    graders: Semaphore,
    attempts: u32,
    under_way: Mutex<BTreeMap<String, Pending>>,
}

impl Grading {
    pub(crate) fn new(
        cx: RunContext,
        host: Arc<dyn EpisodeHost>,
        journal: Journal,
        metrics: Arc<Metrics>,
        tasks: TaskTracker,
        options: &ServeOptions,
    ) -> Self {
        Self {
            inner: Arc::new(Inner {
                cx,
                host,
                journal,
                metrics,
                tasks,
                graders: Semaphore::new(options.graders.max(1)),
                attempts: options.grade_attempts.max(1),
                under_way: Mutex::default(),
            }),
        }
    }

    /// How many have no verdict yet.
    pub(crate) fn count(&self) -> usize {
        self.inner.lock().len()
    }

    /// The verdict that is on its way.
    pub(crate) fn find(&self, episode: &str) -> Option<Pending> {
        self.inner.lock().get(episode).cloned()
    }

    /// Has a submission of the journal graded, or joins the task that does.
    pub(crate) fn start(&self, episode: &str) -> Pending {
        let mut under_way = self.inner.lock();
        if let Some(pending) = under_way.get(episode) {
            return pending.clone();
        }
        let (answerer, pending) = Pending::new();
        under_way.insert(episode.to_owned(), pending.clone());
        self.inner.metrics.grading.inc();
        let inner = Arc::clone(&self.inner);
        let leave = Leave {
            inner: Arc::clone(&self.inner),
            episode: episode.to_owned(),
        };
        self.inner.tasks.spawn(async move {
            let outcome = inner.verdict(&leave.episode).await;
            // Whoever asks from here on finds it in the journal, or begins anew.
            drop(leave);
            answerer.answer(outcome);
        });
        pending
    }
}

/// Takes a submission off the list, also if its task panics.
struct Leave {
    inner: Arc<Inner>,
    episode: String,
}

impl Drop for Leave {
    fn drop(&mut self) {
        self.inner.lock().remove(&self.episode);
        self.inner.metrics.grading.dec();
    }
}

impl Inner {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Pending>> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    async fn verdict(&self, episode: &str) -> Outcome {
        let found = self.journal.find(episode).await;
        let Some(entry) = found.map_err(|why| Refusal::failed(&why))? else {
            return Err(Refusal::unknown());
        };
        let patch = match &entry.state {
            State::Submitted { patch } => patch,
            // Another task had it between two looks.
            State::Graded(answer) => return json(answer.as_ref()),
            State::Open => return Err(Refusal::ended("its session is gone")),
            State::Ended { cause } => return Err(Refusal::ended(cause)),
        };
        let _grader = self.graders.acquire().await;
        let began = Instant::now();
        let answer = self.grade(episode, &entry, patch).await?;
        let kept = self.journal.grade(episode, &answer).await;
        kept.map_err(|why| Refusal::failed(&why))?;
        self.metrics.graded(answer.resolved, began);
        self.metrics.ended("graded");
        tracing::info!(
            episode,
            instance_id = entry.instance_id,
            reward = answer.reward,
            "graded: {}",
            answer.cause
        );
        json(&answer)
    }

    /// "Nothing could be found out" is a result only after it was so several times.
    async fn grade(
        &self,
        episode: &str,
        entry: &Entry,
        patch: &str,
    ) -> Result<SubmitAnswer, Refusal> {
        let submission = Submission {
            episode,
            instance_id: &entry.instance_id,
            patch,
            reward: entry.reward,
        };
        let mut attempt = 1;
        loop {
            let graded = self.host.grade(&self.cx, submission).await;
            let is_last = attempt >= self.attempts;
            match graded {
                Ok(grade) if grade.resolved.is_some() || is_last => {
                    return Ok(SubmitAnswer::new(entry.reward, grade));
                }
                Err(why) if is_last || !why.is_transient() => return Err(Refusal::failed(&why)),
                Ok(grade) => tracing::warn!(episode, attempt, "graded again: {}", grade.cause),
                Err(why) => tracing::warn!(episode, attempt, "graded again: {}", why.chain()),
            }
            tokio::time::sleep(Duration::from_secs(u64::from(attempt))).await;
            attempt += 1;
        }
    }
}

/// An answer as it is sent.
pub(crate) fn json(answer: &impl serde::Serialize) -> Outcome {
    match serde_json::to_vec(answer) {
        Ok(bytes) => Ok(Bytes::from(bytes)),
        Err(why) => {
            tracing::error!("write an answer: {why}");
            Err(Refusal::defect())
        }
    }
}
