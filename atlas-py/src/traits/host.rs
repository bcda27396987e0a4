//! `CodeHost`, and what stands behind `source`, which asks them.

use super::{Own, from_python, positional};
use crate::convert::plain;
use crate::options::Options;
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

#[pyfunction]
pub(crate) fn _source<'py>(py: Python<'py>, given: Options<'py>) -> PyResult<Bound<'py, PyAny>> {
    let (settings, out): (_, PathBuf) = (given.config()?.source, given.get("out")?);
    let mut asked: Vec<Box<dyn CodeHost>> = Vec::new();
    for host in given.get::<Vec<Bound<'py, PyAny>>>("hosts")? {
        asked.push(Box::new(PyHost::new(&host)?));
    }
    let report = py.detach(|| {
        run(async |cx| {
            if settings.names_a_source() || asked.is_empty() {
                asked.extend(settings.hosts().await?);
            }
            source_candidates(cx, &asked, &settings.filters, &out).await
        })
    })?;
    plain(py, &report)
}
