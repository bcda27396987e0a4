//! Waiting, with an ear for Python's signals.

use crate::errors::raised;
use atlas_core::{Error, ErrorKind, RunContext};
use pyo3::prelude::*;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Runs to the end while Python's signal handlers get their turn ten times a second.
pub(crate) fn run<T, W>(work: W) -> PyResult<T>
where
    W: AsyncFnOnce(&RunContext) -> Result<T, Error>,
{
    let runtime = tokio::runtime::Runtime::new().map_err(|why| {
        raised(&Error::new(ErrorKind::Io, "start the runtime", "").with_source(why))
    })?;
    let result = run_on(&runtime, work);
    runtime.shutdown_timeout(Duration::from_secs(2));
    result
}

/// Lets Python's signal handlers have their turn.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method alone is not general enough in its lifetime"
)]
fn signals() -> PyResult<()> {
    Python::attach(|py| py.check_signals())
}

/// Does something of Python's in a thread of its own, and waits: in the main thread a signal would break into it. Only for
/// work that is detached.
pub(crate) fn aside<T: Send>(work: impl FnOnce(Python<'_>) -> PyResult<T> + Send) -> PyResult<T> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| Python::attach(work));
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The same on a runtime that goes on.
pub(crate) fn run_on<T, W>(runtime: &tokio::runtime::Runtime, work: W) -> PyResult<T>
where
    W: AsyncFnOnce(&RunContext) -> Result<T, Error>,
{
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let number = RUNS.fetch_add(1, Ordering::Relaxed);
    let cx = RunContext::new(format!("atlas-{}-{number}", std::process::id()));
    runtime.block_on(async {
        let (mut work, mut interrupt) = (pin!(work(&cx)), None);
        loop {
            tokio::select! {
                result = &mut work => break match (interrupt, result) {
                    (Some(interrupt), _) => Err(interrupt),
                    (None, Ok(done)) => Ok(done),
                    // A signal that nobody has heard yet may be what ended it.
                    (None, Err(why)) => Err(signals().err().unwrap_or_else(|| raised(&why))),
                },
                () = tokio::time::sleep(Duration::from_millis(100)) => {
                    if let Err(signal) = signals() {
                        cx.cancel.cancel();
                        interrupt = Some(signal);
                    }
                }
            }
        }
    })
}

/// The same for work that blocks a thread. A signal does not wait for its end: it goes on unseen until
/// it looks at the context, and must not write anything.
pub(crate) fn run_blocking<T, W>(work: W) -> PyResult<T>
where
    T: Send + 'static,
    W: FnOnce(&RunContext) -> Result<T, Error> + Send + 'static,
{
    run(async |cx| {
        let own = cx.clone();
        let thread = tokio::task::spawn_blocking(move || work(&own));
        tokio::select! {
            done = thread => done.map_err(|why| {
                Error::new(ErrorKind::Internal, "wait for a thread", "").with_source(why)
            })?,
            () = cx.cancel.cancelled() => {
                Err(Error::new(ErrorKind::Cancelled, "wait for a thread", "was cancelled"))
            }
        }
    })
}
