//! One open episode: its session, and the requests on it.

use crate::pending::{Answerer, Answers, Pending};
use crate::refusal::Refusal;
use crate::reward::RewardKind;
use crate::{HostedEpisode, ServeOptions};
use atlas_core::RunContext;
use axum::http::StatusCode;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::OwnedSemaphorePermit;

/// An episode without a verdict and without an end.
#[derive(Debug)]
pub(crate) struct Episode {
    pub(crate) id: String,
    pub(crate) instance_id: String,
    pub(crate) reward: RewardKind,
    /// The reset that began it, so that it can be asked again.
    pub(crate) reset_id: Option<String>,
    /// Raised to stop the command in flight.
    pub(crate) cx: RunContext,
    pub(crate) seat: tokio::sync::Mutex<Option<Seat>>,
    record: Mutex<Record>,
}

/// A session, and its place among those that may be open.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) session: Box<dyn HostedEpisode>,
    pub(crate) _place: OwnedSemaphorePermit,
}

#[derive(Debug)]
struct Record {
    stage: Stage,
    last: Instant,
    end: Instant,
    steps_left: u32,
    failures: u32,
    answers: Answers,
}

#[derive(Clone, Debug)]
enum Stage {
    Idle,
    /// A step or a fork is under way.
    Busy,
    /// The patch is being taken.
    Submitting(Pending),
    /// It has an end; what comes after stands in the journal.
    Over,
}

/// A request that is to be carried out, or was.
pub(crate) enum Admitted<T> {
    Before(Pending),
    Now(T, Answerer, Pending),
}

/// Whether an episode is to be ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overdue {
    Time,
    Idle,
}

impl Episode {
    pub(crate) fn new(
        run_id: &str,
        id: String,
        instance_id: String,
        reward: RewardKind,
        reset_id: Option<String>,
        seat: Seat,
        options: &ServeOptions,
    ) -> Self {
        let now = Instant::now();
        Self {
            id,
            instance_id,
            reward,
            reset_id,
            cx: RunContext::new(run_id),
            seat: tokio::sync::Mutex::new(Some(seat)),
            record: Mutex::new(Record {
                stage: Stage::Idle,
                last: now,
                end: now + options.episode_time,
                steps_left: options.steps,
                failures: 0,
                answers: Answers::default(),
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a named request, if it was not asked before and `allow` lets it.
    pub(crate) fn ask<T>(
        &self,
        name: Option<&str>,
        digest: [u8; 32],
        is_step: bool,
        allow: impl FnOnce() -> Result<T, Refusal>,
    ) -> Result<Admitted<T>, Refusal> {
        let mut record = self.lock();
        if let Some(answer) = record.answers.find(name, &digest)? {
            record.last = Instant::now();
            return Ok(Admitted::Before(answer));
        }
        match record.stage {
            Stage::Idle => {}
            Stage::Busy => return Err(Refusal::busy()),
            Stage::Submitting(_) => {
                let said = "the episode was submitted: it takes no more commands";
                return Err(Refusal::new(StatusCode::CONFLICT, "submitted", said));
            }
            Stage::Over => return Err(Refusal::ended("a request has just ended it")),
        }
        if is_step && record.steps_left == 0 {
            let said = "all commands of the episode are used up: submit it or end it";
            return Err(Refusal::new(StatusCode::CONFLICT, "steps_used_up", said));
        }
        let allowed = allow()?;
        record.steps_left -= u32::from(is_step);
        record.stage = Stage::Busy;
        record.last = Instant::now();
        let (answerer, pending) = Pending::new();
        record.answers.keep(name, digest, &pending);
        Ok(Admitted::Now(allowed, answerer, pending))
    }

    /// The request under way is done; `forget` names it if it can be asked anew.
    pub(crate) fn done(&self, forget: Option<&str>) {
        let mut record = self.lock();
        record.last = Instant::now();
        if matches!(record.stage, Stage::Busy) {
            record.stage = Stage::Idle;
        }
        record.answers.forget(forget);
    }

    /// Begins to take the patch, or joins whoever does. Nothing where the journal knows more.
    pub(crate) fn submit(&self) -> Result<Option<Admitted<()>>, Refusal> {
        let mut record = self.lock();
        match &record.stage {
            Stage::Idle => {
                let (answerer, pending) = Pending::new();
                record.stage = Stage::Submitting(pending.clone());
                Ok(Some(Admitted::Now((), answerer, pending)))
            }
            Stage::Busy => Err(Refusal::busy()),
            Stage::Submitting(pending) => Ok(Some(Admitted::Before(pending.clone()))),
            Stage::Over => Ok(None),
        }
    }

    /// The patch could not be taken; how often this was so. It can be tried again.
    pub(crate) fn not_submitted(&self) -> u32 {
        let mut record = self.lock();
        record.stage = Stage::Idle;
        record.last = Instant::now();
        record.failures += 1;
        record.failures
    }

    /// The patch was taken: the journal knows the rest.
    pub(crate) fn submitted(&self) {
        self.lock().stage = Stage::Over;
    }

    /// Ends it; whether it was not at its end already. A submission under way is not ended.
    pub(crate) fn end(&self, only_if: Option<(Overdue, Duration)>) -> bool {
        let mut record = self.lock();
        if let Some((overdue, idle)) = only_if
            && record.overdue(idle) != Some(overdue)
        {
            return false;
        }
        let can = matches!(record.stage, Stage::Idle | Stage::Busy);
        if can {
            record.stage = Stage::Over;
        }
        can
    }

    /// Whether its time is up, or nobody asks for it.
    pub(crate) fn overdue(&self, idle: Duration) -> Option<Overdue> {
        self.lock().overdue(idle)
    }

    /// Commands and time that are left.
    pub(crate) fn left(&self) -> (u32, Duration) {
        let record = self.lock();
        let time = record.end.saturating_duration_since(Instant::now());
        (record.steps_left, time)
    }
}

impl Record {
    fn overdue(&self, idle: Duration) -> Option<Overdue> {
        let now = Instant::now();
        match self.stage {
            Stage::Idle | Stage::Busy if now >= self.end => Some(Overdue::Time),
            Stage::Idle if now.saturating_duration_since(self.last) >= idle => Some(Overdue::Idle),
            _ => None,
        }
    }
}
