//! Sessions that wait ready, so that a reset is quick.

use crate::metrics::Metrics;
use crate::{EpisodeHost, HostedEpisode, ServeOptions};
use atlas_core::{RunContext, Step};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How often sessions are looked at that have waited too long, at least.
const LOOK: Duration = Duration::from_secs(5);

/// How long closing a session may take.
const CLOSE: Duration = Duration::from_secs(60);

/// A few sessions for each of the instances that were asked for last, made one at a time in the background.
#[derive(Debug)]
pub(crate) struct Pool {
    each: usize,
    in_all: usize,
    time: Duration,
    waiting: Mutex<Waiting>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    is_closed: bool,
    /// Instances, the one that was asked for last at the end.
    asked: VecDeque<String>,
    /// Those in which no session could be opened; asking for one takes it off.
    failed: BTreeSet<String>,
    ready: BTreeMap<String, VecDeque<Ready>>,
}

#[derive(Debug)]
struct Ready {
    session: Box<dyn HostedEpisode>,
    since: Instant,
}

impl Waiting {
    fn count(&self, instance: &str) -> usize {
        self.ready.get(instance).map_or(0, VecDeque::len)
    }

    fn all(&self) -> usize {
        self.ready.values().map(VecDeque::len).sum()
    }

    fn remove(&mut self, instance: &str) -> Option<Ready> {
        let sessions = self.ready.get_mut(instance)?;
        let first = sessions.pop_front();
        if sessions.is_empty() {
            self.ready.remove(instance);
        }
        first
    }
}

/// What is to be done next.
enum Next {
    Close(Ready),
    Open(String),
    Wait,
    Stop,
}

impl Pool {
    pub(crate) fn new(options: &ServeOptions) -> Self {
        let waiting = Waiting {
            asked: options.warm.iter().cloned().collect(),
            ..Waiting::default()
        };
        Self {
            each: options.ready,
            in_all: options.ready_in_all,
            time: options.ready_time,
            waiting: Mutex::new(waiting),
            wake: Notify::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session of an instance that waits ready and still answers.
    pub(crate) async fn take(
        &self,
        cx: &RunContext,
        metrics: &Metrics,
        instance: &str,
    ) -> Option<Box<dyn HostedEpisode>> {
        {
            let mut waiting = self.lock();
            waiting.asked.retain(|known| known != instance);
            waiting.asked.push_back(instance.to_owned());
            while waiting.asked.len() > self.in_all.max(1) {
                waiting.asked.pop_front();
            }
            waiting.failed.remove(instance);
        }
        loop {
            let ready = self.lock().remove(instance);
            self.wake.notify_one();
            let mut session = ready?.session;
            metrics.ready.dec();
            // Its container may have been killed while it waited.
            let alive = Step {
                seconds: 10,
                ..Step::new(":")
            };
            match session.step(cx, &alive).await {
                Ok(done) if !done.is_over => return Some(session),
                _ => close(session).await,
            }
        }
    }

    fn next(&self) -> Next {
        let mut waiting = self.lock();
        if waiting.is_closed {
            return Next::Stop;
        }
        let old = waiting.ready.iter().find(|(instance, sessions)| {
            let is_old = |ready: &Ready| ready.since.elapsed() > self.time;
            sessions.front().is_some_and(is_old) || !waiting.asked.contains(instance)
        });
        if let Some(instance) = old.map(|(instance, _)| instance.clone()) {
            return waiting.remove(&instance).map_or(Next::Wait, Next::Close);
        }
        let wanted = waiting.asked.iter().rposition(|instance| {
            waiting.count(instance) < self.each && !waiting.failed.contains(instance)
        });
        let Some(wanted) = wanted else {
            return Next::Wait;
        };
        if waiting.all() < self.in_all {
            return Next::Open(waiting.asked[wanted].clone());
        }
        // Room is made by whoever was asked for longer ago.
        let earlier = (0..wanted).find(|place| waiting.count(&waiting.asked[*place]) > 0);
        let earlier = earlier.map(|place| waiting.asked[place].clone());
        match earlier.and_then(|instance| waiting.remove(&instance)) {
            Some(ready) => Next::Close(ready),
            None => Next::Wait,
        }
    }

    /// Keeps a new session; gives it back if the pool was closed.
    fn add(
        &self,
        instance: String,
        session: Box<dyn HostedEpisode>,
    ) -> Option<Box<dyn HostedEpisode>> {
        let mut waiting = self.lock();
        if waiting.is_closed {
            return Some(session);
        }
        let since = Instant::now();
        let sessions = waiting.ready.entry(instance).or_default();
        sessions.push_back(Ready { session, since });
        None
    }

    /// Keeps sessions ready until the pool is closed.
    pub(crate) async fn fill(
        &self,
        cx: &RunContext,
        host: &Arc<dyn EpisodeHost>,
        metrics: &Metrics,
    ) {
        loop {
            match self.next() {
                Next::Stop => return,
                Next::Wait => {
                    // Timing out is how old sessions are noticed.
                    let look = LOOK.min(self.time / 4).max(Duration::from_millis(10));
                    let _ = tokio::time::timeout(look, self.wake.notified()).await;
                }
                Next::Close(ready) => {
                    metrics.ready.dec();
                    close(ready.session).await;
                }
                Next::Open(instance) => match host.begin(cx, &instance).await {
                    Ok(session) => match self.add(instance, session) {
                        None => {
                            metrics.ready.inc();
                        }
                        Some(late) => return close(late).await,
                    },
                    Err(why) => {
                        tracing::warn!(instance_id = instance, "no session ready: {}", why.chain());
                        self.lock().failed.insert(instance);
                    }
                },
            }
        }
    }

    /// Ends all sessions; no new ones are made.
    pub(crate) async fn close(&self, metrics: &Metrics) {
        let all = {
            let mut waiting = self.lock();
            waiting.is_closed = true;
            std::mem::take(&mut waiting.ready)
        };
        self.wake.notify_one();
        for ready in all.into_values().flatten() {
            metrics.ready.dec();
            close(ready.session).await;
        }
    }
}

/// Closes a session; what could not be removed is the host's to sweep.
pub(crate) async fn close(session: Box<dyn HostedEpisode>) {
    match tokio::time::timeout(CLOSE, session.close()).await {
        Ok(Ok(())) => {}
        Ok(Err(why)) => tracing::warn!("close a session: {}", why.chain()),
        Err(_) => tracing::warn!("close a session: the engine did not answer"),
    }
}
