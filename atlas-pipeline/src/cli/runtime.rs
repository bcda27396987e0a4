//! What runs a command that waits.

use super::progress;
use atlas_core::{Cancellation, Error, ErrorKind, RunContext};
use std::sync::Arc;

/// What asks a program to stop: Ctrl-C, and what `kill`, `timeout`, service managers and CI send.
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    fn listen() -> Result<Self, Error> {
        use tokio::signal::unix::{SignalKind, signal};
        let listen = |kind| {
            signal(kind)
                .map_err(|why| Error::new(ErrorKind::Io, "listen to signals", "").with_source(why))
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    /// The name of the next one.
    async fn next(&mut self) -> Option<&'static str> {
        tokio::select! {
            came = self.interrupt.recv() => came.map(|()| "SIGINT"),
            came = self.terminate.recv() => came.map(|()| "SIGTERM"),
        }
    }
}

/// Runs a command that waits: with progress on a terminal, and with Ctrl-C ending it in order.
pub(super) fn with_runtime<F, R>(work: F) -> Result<u8, Error>
where
    F: FnOnce(RunContext) -> R,
    R: Future<Output = Result<u8, Error>>,
{
    let runtime = tokio::runtime::Runtime::new().map_err(|why| {
        Error::new(atlas_core::ErrorKind::Io, "start the runtime", "").with_source(why)
    })?;
    let progress = Arc::new(progress::Terminal::new());
    let listener: Arc<dyn atlas_core::Progress> = Arc::<progress::Terminal>::clone(&progress);
    let cx = RunContext::new(format!("atlas-{}", std::process::id())).with_progress(listener);
    let cancel: Cancellation = cx.cancel.clone();
    let told = Arc::clone(&progress);
    let result = runtime.block_on(async {
        let mut signals = Signals::listen()?;
        tokio::spawn(async move {
            // The first one ends the work in order; the second one ends the process.
            if let Some(name) = signals.next().await {
                told.stopping(name);
                cancel.cancel();
            }
            if signals.next().await.is_some() {
                rustix::process::kill_process(
                    rustix::process::getpid(),
                    rustix::process::Signal::KILL,
                )
                .ok();
            }
        });
        work(cx).await
    });
    progress.finish();
    runtime.shutdown_timeout(std::time::Duration::from_secs(2));
    result
}
