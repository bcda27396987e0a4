//! What stands behind `Evaluator` and `Session`: instances opened once, on a runtime that lives as long.

use crate::convert::plain;
use crate::errors::{invalid, raised};
use crate::instance::Instance;
use crate::options::Options;
use crate::run::run_on;
use atlas_core::{Error, ErrorKind, ExitState, Limits, RunContext, Step};
use atlas_pipeline::{Episode, Episodes, PredictionSource};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::Arc;
use tokio::runtime::Runtime;

/// A runtime that nobody waits for when it goes: what is left in it is cleaned up by threads of its own.
#[derive(Debug)]
struct Owned(Option<Runtime>);

impl Owned {
    fn get(&self) -> PyResult<&Runtime> {
        self.0
            .as_ref()
            .ok_or_else(|| invalid("evaluator", "it is closed"))
    }

    /// Runs to the end, detached from Python's lock.
    fn run<T, W>(&self, py: Python<'_>, work: W) -> PyResult<T>
    where
        T: Send,
        W: AsyncFnOnce(&RunContext) -> Result<T, Error> + Send,
    {
        py.detach(|| run_on(self.get()?, work))
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Instances of a dataset, opened once. `swe_atlas.Evaluator` is its face.
#[pyclass(frozen, module = "swe_atlas._swe_atlas")]
#[derive(Debug)]
pub(crate) struct NativeEvaluator {
    runtime: Arc<Owned>,
    episodes: std::sync::Mutex<Option<Episodes>>,
}

impl NativeEvaluator {
    fn episodes(&self) -> PyResult<Episodes> {
        let held = self.episodes.lock();
        let held = held.unwrap_or_else(std::sync::PoisonError::into_inner);
        held.clone()
            .ok_or_else(|| invalid("evaluator", "it is closed"))
    }
}

#[pymethods]
impl NativeEvaluator {
    #[new]
    fn new(py: Python<'_>, given: Options<'_>) -> PyResult<Self> {
        let options = given.evaluation(PredictionSource::Null)?;
        let session = Limits {
            seconds: given.get("session_seconds")?,
            ..options.config.limits.clone()
        };
        let runtime = Runtime::new().map_err(|why| {
            raised(&Error::new(ErrorKind::Io, "start the runtime", "").with_source(why))
        })?;
        let runtime = Owned(Some(runtime));
        let opened = py.detach(|| {
            run_on(runtime.get()?, async |_| {
                Episodes::open(options.clone(), session.clone()).await
            })
        });
        Ok(Self {
            episodes: std::sync::Mutex::new(Some(opened?)),
            runtime: Arc::new(runtime),
        })
    }

    fn instance_ids(&self) -> PyResult<Vec<String>> {
        Ok(self.episodes()?.instances().to_vec())
    }

    fn faults<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, self.episodes()?.faults())
    }

    fn instance<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Option<Bound<'py, Instance>>> {
        let episodes = self.episodes()?;
        let row = episodes.instance(id);
        row.map(|row| Instance::of(py, row)).transpose()
    }

    fn prepare(&self, py: Python<'_>, id: &str) -> PyResult<()> {
        let episodes = self.episodes()?;
        self.runtime
            .run(py, async |cx| episodes.prepare(cx, id).await)
    }

    fn grade<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        patch: &str,
        model: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let episodes = self.episodes()?;
        let verdict = self
            .runtime
            .run(py, async |cx| episodes.grade(cx, id, model, patch).await)?;
        plain(py, &verdict)
    }

    fn session(&self, py: Python<'_>, id: &str) -> PyResult<NativeSession> {
        let episodes = self.episodes()?;
        let episode = self
            .runtime
            .run(py, async |cx| episodes.begin(cx, id).await)?;
        Ok(NativeSession::of(&self.runtime, episode))
    }

    /// Lets go of everything; sessions that are open stay so.
    fn close(&self, py: Python<'_>) {
        let held = self.episodes.lock();
        let held = held
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take();
        py.detach(|| drop(held));
    }
}

/// A session in an instance's environment. `swe_atlas.Session` is its face.
#[pyclass(frozen, module = "swe_atlas._swe_atlas")]
#[derive(Debug)]
pub(crate) struct NativeSession {
    // In this order: the episode needs the runtime for its end.
    episode: tokio::sync::Mutex<Option<Episode>>,
    runtime: Arc<Owned>,
    instance_id: String,
}

fn closed() -> Error {
    Error::new(ErrorKind::InvalidInput, "use a session", "that is closed")
}

impl NativeSession {
    fn of(runtime: &Arc<Owned>, episode: Episode) -> Self {
        Self {
            instance_id: episode.instance_id().to_owned(),
            episode: tokio::sync::Mutex::new(Some(episode)),
            runtime: Arc::clone(runtime),
        }
    }
}

#[pymethods]
impl NativeSession {
    #[getter]
    fn instance_id(&self) -> &str {
        &self.instance_id
    }

    fn run<'py>(
        &self,
        py: Python<'py>,
        command: &str,
        seconds: u64,
        output_bytes: u64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let step = Step {
            command: command.to_owned(),
            seconds,
            output_bytes,
        };
        let result = self.runtime.run(py, async |cx| {
            let mut episode = self.episode.lock().await;
            episode.as_mut().ok_or_else(closed)?.step(cx, &step).await
        })?;
        let told = PyDict::new(py);
        let code = match result.exit {
            ExitState::Exited { code } => Some(code),
            ExitState::TimedOut | ExitState::OutOfMemory => None,
        };
        told.set_item("output", PyBytes::new(py, &result.output))?;
        told.set_item("exit_code", code)?;
        told.set_item("timed_out", result.exit == ExitState::TimedOut)?;
        told.set_item("output_total", result.output_total)?;
        told.set_item("seconds", result.seconds)?;
        told.set_item("is_over", result.is_over)?;
        Ok(told)
    }

    fn diff(&self, py: Python<'_>) -> PyResult<String> {
        self.runtime.run(py, async |cx| {
            let mut episode = self.episode.lock().await;
            episode.as_mut().ok_or_else(closed)?.diff(cx).await
        })
    }

    fn fork(&self, py: Python<'_>) -> PyResult<Self> {
        let forked = self.runtime.run(py, async |cx| {
            let mut episode = self.episode.lock().await;
            episode.as_mut().ok_or_else(closed)?.fork(cx).await
        })?;
        Ok(Self::of(&self.runtime, forked))
    }

    fn isolation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let episode = py.detach(|| self.episode.blocking_lock());
        let isolation = episode.as_ref().map(Episode::isolation);
        plain(py, &isolation)
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.runtime
            .run(py, async |_| match self.episode.lock().await.take() {
                Some(episode) => episode.close().await,
                None => Ok(()),
            })
    }
}

impl Drop for NativeSession {
    fn drop(&mut self) {
        // What an episode is made of ends within its runtime.
        let entered = self.runtime.get().ok().map(Runtime::enter);
        drop(self.episode.get_mut().take());
        drop(entered);
    }
}
