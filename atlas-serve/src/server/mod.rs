//! Episodes: how they begin, go on and end.

mod begin;
mod end;
mod work;

use crate::episode::Episode;
use crate::grading::Grading;
use crate::journal::{Journal, State};
use crate::keys::Keys;
use crate::metrics::Metrics;
use crate::pending::Pending;
use crate::pool::Pool;
use crate::refusal::Refusal;
use crate::{EpisodeHost, ServeOptions};
use atlas_core::{Error, ErrorKind, RunContext};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::task::TaskTracker;

/// All that is shared. Clones are the same server.
#[derive(Clone, Debug)]
pub(crate) struct Episodes {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Never raised: work that was begun ends by itself, so that no reward is lost.
    cx: RunContext,
    host: Arc<dyn EpisodeHost>,
    options: ServeOptions,
    keys: Keys,
    journal: Journal,
    metrics: Arc<Metrics>,
    grading: Grading,
    pool: Pool,
    places: Arc<Semaphore>,
    tasks: TaskTracker,
    open: Mutex<BTreeMap<String, Arc<Episode>>>,
    resets: Mutex<BTreeMap<String, ([u8; 32], Pending)>>,
    is_stopping: AtomicBool,
}

impl Episodes {
    /// Reads the journal: what was open has ended, what is owed is graded.
    pub(crate) async fn open(
        run_id: &str,
        host: Arc<dyn EpisodeHost>,
        mut options: ServeOptions,
    ) -> Result<Self, Error> {
        options.step_seconds = options.step_seconds.min(options.step_seconds_most);
        for instance in &options.warm {
            if host.task(instance).is_none() {
                let said = no_instance(host.as_ref(), instance);
                return Err(Error::new(ErrorKind::InvalidInput, "make ready:", said));
            }
        }
        std::fs::create_dir_all(&options.folder)
            .map_err(|why| Error::io("make", &options.folder, why))?;
        let journal = Journal::open(&options.folder)?;
        let keys = Keys::open(&options.folder)?;
        let metrics = Arc::new(Metrics::new());
        let tasks = TaskTracker::new();
        let cx = RunContext::new(run_id);
        let grading = Grading::new(
            cx.clone(),
            Arc::clone(&host),
            journal.clone(),
            Arc::clone(&metrics),
            tasks.clone(),
            &options,
        );
        let ended = journal.end_open("the server was restarted").await?;
        journal.forget(options.keep_time).await?;
        let owed = journal.owed().await?;
        if ended + owed.len() > 0 {
            tracing::info!(ended, owed = owed.len(), "gone on from the journal");
        }
        for episode in owed {
            drop(grading.start(&episode));
        }
        Ok(Self {
            inner: Arc::new(Inner {
                cx,
                pool: Pool::new(&options),
                places: Arc::new(Semaphore::new(options.episodes.max(1))),
                host,
                options,
                keys,
                journal,
                metrics,
                grading,
                tasks,
                open: Mutex::default(),
                resets: Mutex::default(),
                is_stopping: AtomicBool::new(false),
            }),
        })
    }

    pub(crate) fn options(&self) -> &ServeOptions {
        &self.inner.options
    }

    pub(crate) fn instances(&self) -> &[String] {
        self.inner.host.instances()
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.inner.metrics
    }

    pub(crate) fn keys(&self) -> &Keys {
        &self.inner.keys
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.inner.is_stopping.load(Ordering::SeqCst)
    }

    fn open_ones(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Episode>>> {
        lock(&self.inner.open)
    }

    fn find(&self, episode: &str) -> Option<Arc<Episode>> {
        self.open_ones().get(episode).cloned()
    }

    /// A place for one more session.
    fn place(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        if self.is_stopping() {
            return Err(Refusal::stopping());
        }
        let places = Arc::clone(&self.inner.places);
        places.try_acquire_owned().map_err(|_| {
            let most = self.inner.options.episodes;
            Refusal::full(format!("{most} episodes are open, which is the most"))
        })
    }

    /// Why an episode takes no commands.
    async fn why_not(&self, id: &str) -> Refusal {
        match self.inner.journal.find(id).await {
            Err(why) => Refusal::failed(&why),
            Ok(None) => Refusal::unknown(),
            Ok(Some(entry)) => match entry.state {
                State::Open => Refusal::ended("a request has just ended it"),
                State::Submitted { .. } | State::Graded(_) => Refusal::ended("it was submitted"),
                State::Ended { cause } => Refusal::ended(&cause),
            },
        }
    }

    /// Keeps sessions ready until the server stops.
    pub(crate) async fn keep_ready(&self) {
        let inner = &self.inner;
        inner
            .pool
            .fill(&inner.cx, &inner.host, &inner.metrics)
            .await;
    }
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name of a request, if it is one.
fn named(name: Option<&str>) -> Result<Option<&str>, Refusal> {
    match name {
        Some(name) if name.is_empty() || name.len() > 128 => {
            Err(Refusal::invalid("`request_id` has from 1 to 128 bytes"))
        }
        name => Ok(name),
    }
}

fn no_instance(host: &dyn EpisodeHost, written: &str) -> String {
    let near = host
        .instances()
        .iter()
        .map(|known| (strsim::damerau_levenshtein(written, known), known))
        .min()
        .filter(|(distance, _)| *distance <= written.chars().count() / 3);
    match near {
        Some((_, known)) => format!("there is no instance `{written}`; did you mean `{known}`?"),
        None => format!("there is no instance `{written}`; GET /instances lists them"),
    }
}
