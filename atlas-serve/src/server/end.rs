//! How episodes end: with a verdict, without one, with the server.

use super::Episodes;
use super::lock;
use crate::episode::{Admitted, Episode, Overdue, Seat};
use crate::grading::json;
use crate::journal::State;
use crate::pending::Outcome;
use crate::pool::close;
use crate::refusal::Refusal;
use crate::wire::StateAnswer;
use atlas_core::{Error, ErrorKind};
use axum::body::Bytes;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long reading a patch may take.
const PATCH: Duration = Duration::from_secs(300);
/// How often a patch may fail to be read before the episode is given up.
const TRIES: u32 = 3;

impl Episodes {
    /// `POST /episodes/{episode}/submit`.
    pub(crate) async fn submit(&self, id: &str) -> Outcome {
        let asked = match self.find(id) {
            Some(episode) => episode.submit()?.map(|asked| (episode, asked)),
            None => None,
        };
        match asked {
            Some((_, Admitted::Before(pending))) => drop(pending.wait().await?),
            Some((episode, Admitted::Now((), answerer, pending))) => {
                let this = self.clone();
                self.inner.tasks.spawn(async move {
                    let outcome = this.take(&episode).await;
                    answerer.answer(outcome.map(|()| Bytes::new()));
                });
                pending.wait().await?;
            }
            None => {}
        }
        self.result(id).await
    }

    /// Takes the patch of an episode: it is written down before the session is given up.
    async fn take(&self, episode: &Arc<Episode>) -> Result<(), Refusal> {
        let mut seat = episode.seat.lock().await;
        let taken = match seat.as_mut() {
            Some(seat) => self.write_down(episode, seat).await,
            None => Err(Error::new(ErrorKind::NotFound, "submit", &episode.id)),
        };
        if let Err(why) = taken {
            drop(seat);
            tracing::warn!(episode = episode.id, "submit: {}", why.chain());
            if episode.not_submitted() < TRIES
                && (why.is_transient() || why.kind() == ErrorKind::Io)
            {
                return Err(Refusal::failed(&why));
            }
            let cause = format!("no patch could be read: {}", why.chain());
            self.end_with(episode, &cause, "no_patch").await;
            return Err(Refusal::ended(&cause));
        }
        drop(self.inner.grading.start(&episode.id));
        let left = seat.take();
        drop(seat);
        episode.submitted();
        self.leave(episode);
        // The client waits for the verdict anyway, so nobody waits for this.
        if let Some(left) = left {
            self.inner.tasks.spawn(close_seat(left));
        }
        Ok(())
    }

    async fn write_down(&self, episode: &Episode, seat: &mut Seat) -> Result<(), Error> {
        let read = tokio::time::timeout(PATCH, seat.session.patch(&self.inner.cx)).await;
        let patch = read.unwrap_or_else(|_| {
            let id = episode.id.clone();
            Err(Error::new(
                ErrorKind::EngineUnreachable,
                "read the patch of",
                id,
            ))
        })?;
        self.inner.journal.submit(&episode.id, &patch).await
    }

    /// The verdict of an episode that was submitted, or why there is none.
    async fn result(&self, id: &str) -> Outcome {
        if let Some(pending) = self.inner.grading.find(id) {
            return pending.wait().await;
        }
        let found = self.inner.journal.find(id).await;
        match found.map_err(|why| Refusal::failed(&why))? {
            None => Err(Refusal::unknown()),
            Some(entry) => match entry.state {
                State::Open => Err(Refusal::ended("a request has just ended it")),
                State::Submitted { .. } => self.inner.grading.start(id).wait().await,
                State::Graded(answer) => json(answer.as_ref()),
                State::Ended { cause } => Err(Refusal::ended(&cause)),
            },
        }
    }

    /// `GET /episodes/{episode}`.
    pub(crate) async fn state(&self, id: &str) -> Outcome {
        let found = self.inner.journal.find(id).await;
        let Some(entry) = found.map_err(|why| Refusal::failed(&why))? else {
            return Err(Refusal::unknown());
        };
        let (state, cause, result) = match entry.state {
            State::Open => ("open", None, None),
            State::Submitted { .. } => ("submitted", None, None),
            State::Graded(answer) => ("graded", None, Some(*answer)),
            State::Ended { cause } => ("ended", Some(cause), None),
        };
        json(&StateAnswer {
            episode: id.to_owned(),
            instance_id: entry.instance_id,
            state: state.to_owned(),
            cause,
            result,
        })
    }

    /// `DELETE /episodes/{episode}`. A submission is not taken back.
    pub(crate) async fn end(&self, id: &str) -> Outcome {
        if let Some(episode) = self.find(id)
            && episode.end(None)
        {
            let this = self.clone();
            let ended = self.inner.tasks.spawn(async move {
                this.close(&episode, "the client ended it", "client").await;
            });
            let _ = ended.await;
        }
        self.state(id).await
    }

    /// Ends an episode that is in the stage of being taken or ended.
    async fn end_with(&self, episode: &Arc<Episode>, cause: &str, what: &'static str) {
        if episode.end(None) {
            self.close(episode, cause, what).await;
        }
    }

    /// Stops the command in flight, writes the end down and gives the session up.
    async fn close(&self, episode: &Arc<Episode>, cause: &str, what: &'static str) {
        episode.cx.cancel.cancel();
        if let Err(why) = self.inner.journal.end(&episode.id, cause).await {
            tracing::warn!(episode = episode.id, "write its end: {}", why.chain());
        }
        self.inner.metrics.ended(what);
        tracing::info!(episode = episode.id, "ended: {cause}");
        let seat = episode.seat.lock().await.take();
        self.leave(episode);
        if let Some(seat) = seat {
            close_seat(seat).await;
        }
    }

    fn leave(&self, episode: &Episode) {
        if self.open_ones().remove(&episode.id).is_some() {
            self.inner.metrics.open.dec();
        }
        if let Some(name) = &episode.reset_id {
            lock(&self.inner.resets).remove(name);
        }
    }

    /// Ends episodes whose time is up or that nobody asks for, and forgets old ones, for ever.
    pub(crate) async fn watch(&self) {
        let idle = self.inner.options.idle_time;
        let every = (idle / 4).clamp(Duration::from_millis(10), Duration::from_secs(1));
        let mut forgotten = Instant::now();
        loop {
            tokio::time::sleep(every).await;
            let open: Vec<Arc<Episode>> = self.open_ones().values().cloned().collect();
            for episode in open {
                let Some(overdue) = episode.overdue(idle) else {
                    continue;
                };
                if !episode.end(Some((overdue, idle))) {
                    continue;
                }
                let (cause, what) = match overdue {
                    Overdue::Time => {
                        let seconds = self.inner.options.episode_time.as_secs();
                        (format!("its {seconds} seconds were over"), "time")
                    }
                    Overdue::Idle => {
                        let seconds = idle.as_secs_f64();
                        (format!("nobody asked for it in {seconds} seconds"), "idle")
                    }
                };
                let this = self.clone();
                self.inner
                    .tasks
                    .spawn(async move { this.close(&episode, &cause, what).await });
            }
            if forgotten.elapsed() > Duration::from_secs(3600) {
                forgotten = Instant::now();
                if let Err(why) = self
                    .inner
                    .journal
                    .forget(self.inner.options.keep_time)
                    .await
                {
                    tracing::warn!("forget old episodes: {}", why.chain());
                }
            }
        }
    }

    /// Lets no episode begin, gives the open ones time, ends the rest and waits for every verdict that is owed.
    pub(crate) async fn drain(&self) {
        self.inner.is_stopping.store(true, Ordering::SeqCst);
        self.inner.pool.close(&self.inner.metrics).await;
        let until = Instant::now() + self.inner.options.drain_time;
        while Instant::now() < until && !self.open_ones().is_empty() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        self.inner.tasks.close();
        loop {
            let open: Vec<Arc<Episode>> = self.open_ones().values().cloned().collect();
            for episode in &open {
                self.end_with(episode, "the server was stopped", "stopped")
                    .await;
            }
            // A reset that was under way may have begun one more.
            self.inner.tasks.wait().await;
            if self.open_ones().is_empty() {
                return;
            }
        }
    }
}

async fn close_seat(seat: Seat) {
    let Seat { session, _place } = seat;
    close(session).await;
}
