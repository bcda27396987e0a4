//! `Oracle`.

use super::{Own, Serve, Wish, face, from_python, made, positional, unknown};
use crate::convert::plain;
use crate::log::ParsedLog;
use async_trait::async_trait;
use atlas_core::{
    Environment, Error, ErrorKind, Oracle, OracleReport, OracleTask, RunContext, State,
};
use atlas_oracle::{StateDifferentialOracle, StateRun};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An object with `judge(environment, task, states)`.
#[derive(Clone, Debug)]
pub(super) struct PyOracle {
    own: Own,
    standard: Arc<StateDifferentialOracle>,
}

impl PyOracle {
    pub(super) fn own(object: &Bound<'_, PyAny>) -> PyResult<Own> {
        Own::new("oracle", object, ("name", &["judge"]))
    }

    pub(super) fn new(own: Own, standard: Arc<StateDifferentialOracle>) -> Self {
        Self { own, standard }
    }
}

#[async_trait]
impl Oracle for PyOracle {
    async fn judge(
        &self,
        cx: &RunContext,
        environment: &Environment,
        task: &OracleTask,
    ) -> Result<OracleReport, Error> {
        let arguments = |native: super::Tools| -> super::Arguments<'_> {
            Box::new(move |py| {
                let native = Bound::new(py, native)?.into_any();
                let states = face(py, "States", vec![("native", native)])?;
                let arguments = [plain(py, environment)?, task_of(py, task)?, states];
                positional(py, arguments)
            })
        };
        let mut serve = Running {
            standard: &self.standard,
            cx,
            environment,
            task,
            runs: BTreeMap::new(),
        };
        let read = |answer: &Bound<'_, PyAny>| from_python::<OracleReport>(answer);
        self.own
            .call_with(cx, "judge", arguments, read, &mut serve)
            .await
    }
}

/// What an oracle may ask for.
struct Running<'a> {
    standard: &'a StateDifferentialOracle,
    cx: &'a RunContext,
    environment: &'a Environment,
    task: &'a OracleTask,
    runs: BTreeMap<State, Vec<StateRun>>,
}

#[derive(Deserialize)]
struct Asked {
    state: State,
    repeat: u32,
}

impl Running<'_> {
    async fn run(&mut self, state: State, repeat: u32) -> Result<StateRun, Error> {
        let run = self
            .standard
            .run_state(self.cx, self.environment, self.task, state, repeat)
            .await?;
        self.runs.entry(state).or_default().push(run.clone());
        Ok(run)
    }
}

#[async_trait]
impl Serve for Running<'_> {
    async fn serve(&mut self, wish: &Wish) -> Result<super::Made, Error> {
        match wish.name.as_str() {
            "run" => {
                let asked = serde_json::from_value(wish.arguments.clone());
                let Asked { state, repeat } = asked.map_err(|why| {
                    Error::new(ErrorKind::InvalidInput, "run a state", "").with_source(why)
                })?;
                let run = self.run(state, repeat).await?;
                Ok(Box::new(move |py| Ok(run_of(py, &run)?.unbind())))
            }
            "report" => {
                for state in State::ALL {
                    if !self.runs.contains_key(&state) {
                        self.run(state, 0).await?;
                    }
                }
                let report = self.standard.report(self.task, &self.runs);
                let report = report.ok_or_else(|| {
                    Error::new(ErrorKind::Internal, "classify", "without all three states")
                })?;
                Ok(made(json!(report)))
            }
            _ => Err(unknown(wish)),
        }
    }
}

fn run_of<'py>(py: Python<'py>, run: &StateRun) -> PyResult<Bound<'py, PyAny>> {
    let parsed = Bound::new(py, ParsedLog::of(run.parsed.clone()))?;
    face(
        py,
        "StateRun",
        vec![
            ("log", PyBytes::new(py, &run.log).into_any()),
            ("parsed", parsed.into_any()),
            ("summary", plain(py, &run.summary)?),
            ("tampering", plain(py, &run.tampering)?),
        ],
    )
}

/// The task for Python.
pub(super) fn task_of<'py>(py: Python<'py>, task: &OracleTask) -> PyResult<Bound<'py, PyAny>> {
    let text = |patch: &atlas_core::Patch| String::from_utf8_lossy(patch.as_bytes()).into_owned();
    face(
        py,
        "OracleTask",
        vec![
            ("instance_id", plain(py, &task.instance_id)?),
            ("test_patch", plain(py, &text(&task.test_patch))?),
            ("gold_patch", plain(py, &text(&task.gold_patch))?),
            ("modified_tests", plain(py, &task.modified_tests)?),
        ],
    )
}
