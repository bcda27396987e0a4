//! What every long operation is given first.

use crate::{Error, ErrorKind};
use event_listener::Event;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that the caller raises to stop work; clones share it.
///
/// ```
/// let stop = atlas_core::Cancellation::new();
/// let seen_by_worker = stop.clone();
/// stop.cancel();
/// assert!(seen_by_worker.is_cancelled());
/// ```
#[derive(Clone, Default)]
pub struct Cancellation {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    raised: AtomicBool,
    event: Event,
}

impl Cancellation {
    /// A flag that is down.
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises the flag and wakes everything that waits for it. It stays up.
    pub fn cancel(&self) {
        self.inner.raised.store(true, Ordering::SeqCst);
        self.inner.event.notify(usize::MAX);
    }

    /// Whether the flag is up.
    pub fn is_cancelled(&self) -> bool {
        self.inner.raised.load(Ordering::SeqCst)
    }

    /// Waits until the flag is up.
    ///
    /// # Cancellation
    /// Dropping the future is harmless.
    pub async fn cancelled(&self) {
        loop {
            let listener = self.inner.event.listen();
            if self.is_cancelled() {
                return;
            }
            listener.await;
        }
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancellation")
            .field(&self.is_cancelled())
            .finish()
    }
}

/// Hears what a long operation is doing. All methods may be called from any thread.
pub trait Progress: fmt::Debug + Send + Sync {
    /// A phase began: `build image`, `run before`.
    fn phase(&self, name: &str);
    /// A detail within the phase: a build step, a line of a log.
    fn detail(&self, text: &str);
    /// So many of all items of the run are done. By default nothing hears it; phases say it in words as well.
    fn counted(&self, _done: usize, _total: usize) {}
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn phase(&self, _name: &str) {}
    fn detail(&self, _text: &str) {}
}

/// The surroundings of a run: who it is, how to stop it, who listens.
#[derive(Clone, Debug)]
pub struct RunContext {
    /// Name of the run: a label for containers and folders, never part of a verdict.
    pub run_id: String,
    /// Raised to stop everything under this context.
    pub cancel: Cancellation,
    /// Told about progress.
    pub progress: Arc<dyn Progress>,
}

impl RunContext {
    /// A context that nobody listens to and nobody has cancelled.
    pub fn new(run_id: impl Into<String>) -> Self {
        Self {
            run_id: run_id.into(),
            cancel: Cancellation::new(),
            progress: Arc::new(NoProgress),
        }
    }

    /// The same context with a listener.
    #[must_use]
    pub fn with_progress(mut self, progress: Arc<dyn Progress>) -> Self {
        self.progress = progress;
        self
    }

    /// Stops here if the caller cancelled.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`] when the flag is up.
    pub fn check(&self, operation: &str) -> Result<(), Error> {
        if self.cancel.is_cancelled() {
            Err(Error::new(ErrorKind::Cancelled, operation, "was cancelled"))
        } else {
            Ok(())
        }
    }
}
