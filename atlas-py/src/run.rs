//! Waiting, with an ear for Python's signals.

use crate::errors::raised;
use crate::heard::Heard;
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
    run_heard(&Heard::nobody(), work)
}

/// The same with a listener, which hears in this thread, and whose exception ends the run as a signal does.
pub(crate) fn run_heard<T, W>(heard: &Heard, work: W) -> PyResult<T>
where
    W: AsyncFnOnce(&RunContext) -> Result<T, Error>,
{
    let runtime = tokio::runtime::Runtime::new().map_err(|why| {
        raised(&Error::new(ErrorKind::Io, "start the runtime", "").with_source(why))
    })?;
    let result = listened(&runtime, heard, work);
    heard.close();
    runtime.shutdown_timeout(Duration::from_secs(2));
    result
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
    listened(runtime, &Heard::nobody(), work)
}

fn listened<T, W>(runtime: &tokio::runtime::Runtime, heard: &Heard, work: W) -> PyResult<T>
where
    W: AsyncFnOnce(&RunContext) -> Result<T, Error>,
{
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let number = RUNS.fetch_add(1, Ordering::Relaxed);
    let mut cx = RunContext::new(format!("atlas-{}-{number}", std::process::id()));
    if let Some(progress) = heard.progress() {
        cx = cx.with_progress(progress);
    }
    // What is dropped between turns may need the runtime.
    let _entered = runtime.enter();
    let (mut work, mut interrupt) = (pin!(work(&cx)), None);
    loop {
        let turn = async { tokio::time::timeout(Duration::from_millis(100), &mut work).await };
        let result = runtime.block_on(turn);
        // Outside of the runtime: a handler or a listener may call a function that opens one of its own.
        if interrupt.is_none() {
            interrupt = hear(heard).err();
            if interrupt.is_some() {
                cx.cancel.cancel();
            }
        }
        if let Ok(result) = result {
            return match interrupt {
                Some(interrupt) => Err(interrupt),
                None => result.map_err(|why| raised(&why)),
            };
        }
    }
}

/// Lets signal handlers and the listener have their turn.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method alone is not general enough in its lifetime"
)]
fn hear(heard: &Heard) -> PyResult<()> {
    Python::attach(|py| py.check_signals())?;
    heard.tell()
}

/// The same for work that blocks a thread. A signal does not wait for its end: it goes on unseen until
/// it looks at the context, and must not write anything.
pub(crate) fn run_blocking<T, W>(work: W) -> PyResult<T>
where
    T: Send + 'static,
    W: FnOnce(&RunContext) -> Result<T, Error> + Send + 'static,
{
    run_blocking_heard(&Heard::nobody(), work)
}

/// The same with a listener.
pub(crate) fn run_blocking_heard<T, W>(heard: &Heard, work: W) -> PyResult<T>
where
    T: Send + 'static,
    W: FnOnce(&RunContext) -> Result<T, Error> + Send + 'static,
{
    run_heard(heard, async |cx| {
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
