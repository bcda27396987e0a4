//! `CodeHost`, and `source`, which asks them.

use super::{Own, from_python, positional};
use crate::convert::{to_python, to_value};
use crate::make::config;
use crate::run::run;
use async_trait::async_trait;
use atlas_core::{CodeHost, Error, RunContext, SourcedPage};
use atlas_pipeline::source_candidates;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::path::PathBuf;

/// An object with `name`, `page(cursor)` and `changes(since, cursor)`.
#[derive(Clone, Debug)]
pub(super) struct PyHost(Own);

impl PyHost {
    pub(super) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Own::new("host", object, ("name", &["page", "changes"])).map(Self)
    }
}

#[async_trait]
impl CodeHost for PyHost {
    fn name(&self) -> String {
        self.0.name().to_owned()
    }

    async fn page(&self, cx: &RunContext, cursor: Option<&str>) -> Result<SourcedPage, Error> {
        let arguments = Box::new(|py: Python<'_>| {
            let cursor = cursor.map(|cursor| PyString::new(py, cursor));
            positional(py, [cursor])
        });
        self.0.call(cx, "page", arguments, from_python).await
    }

    async fn changes(
        &self,
        cx: &RunContext,
        since: &str,
        cursor: Option<&str>,
    ) -> Result<SourcedPage, Error> {
        let arguments = Box::new(|py: Python<'_>| {
            let cursor = cursor.map(|cursor| PyString::new(py, cursor));
            positional(py, [Some(PyString::new(py, since)), cursor])
        });
        self.0.call(cx, "changes", arguments, from_python).await
    }
}

/// Asks hosts for merged pull requests and writes those that pass the filters (paper 001, section 3.1).
///
/// `hosts` are objects of the protocol `CodeHost`, asked one after the other, and behind them the sources of `config`
/// (`[source]`, with its filters). Candidates go to `out`, one JSON object a line, which `make(candidate=…)` takes; beside it
/// stand all that was told and what the filters did. The same call again asks for what is new or changed since.
///
/// Gives what `atlas source --format json` prints. Runs detached from Python's lock. Ctrl-C ends it after the page in
/// flight and raises KeyboardInterrupt. Raises AtlasError for a host that refuses and files that cannot be written.
#[pyfunction]
#[pyo3(signature = (hosts, *, out, config=None))]
#[expect(
    clippy::needless_pass_by_value,
    reason = "converted arguments, on Python's side"
)]
pub(crate) fn source<'py>(
    py: Python<'py>,
    hosts: Vec<Bound<'py, PyAny>>,
    out: PathBuf,
    config: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let settings = self::config(config)?.source;
    let mut asked: Vec<Box<dyn CodeHost>> = Vec::new();
    for host in &hosts {
        asked.push(Box::new(PyHost::new(host)?));
    }
    let report = py.detach(|| {
        run(async |cx| {
            if settings.names_a_source() || asked.is_empty() {
                asked.extend(settings.hosts().await?);
            }
            source_candidates(cx, &asked, &settings.filters, &out).await
        })
    })?;
    to_python(py, &to_value(&report)?)
}
