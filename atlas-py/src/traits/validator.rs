//! `Validator`.

use super::oracle::task_of;
use super::sandbox::told;
use super::{Own, Serve, Wish, face, from_python, positional, unknown};
use crate::convert::plain;
use crate::instance::Instance;
use async_trait::async_trait;
use atlas_core::{
    Candidate, Error, ErrorKind, Job, JobUser, Limits, Network, Overlay, RunContext, Sandbox,
    State, Validator, Verdict,
};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// An object with `id` and `validate(candidate)`.
#[derive(Clone, Debug)]
pub(super) struct PyValidator {
    own: Own,
    sandbox: Arc<dyn Sandbox>,
}

impl PyValidator {
    pub(super) fn own(object: &Bound<'_, PyAny>) -> PyResult<Own> {
        Own::new("gate", object, ("id", &["validate"]))
    }

    pub(super) fn new(own: Own, sandbox: Arc<dyn Sandbox>) -> Self {
        Self { own, sandbox }
    }
}

/// What `Candidate.run` of Python asks for.
#[derive(Deserialize)]
struct Asked {
    script: String,
    state: State,
    seconds: u64,
    collect: Vec<String>,
}

#[async_trait]
impl Validator for PyValidator {
    fn id(&self) -> &str {
        self.own.name()
    }

    async fn validate(&self, cx: &RunContext, candidate: &Candidate) -> Result<Verdict, Error> {
        let arguments = |native: super::Tools| -> super::Arguments<'_> {
            Box::new(move |py| {
                let row = Instance::of(py, &candidate.instance)?;
                let candidate = face(
                    py,
                    "Candidate",
                    vec![
                        ("instance", row.into_any()),
                        ("environment", plain(py, &candidate.environment)?),
                        ("task", task_of(py, &candidate.task)?),
                        ("oracle", plain(py, &candidate.oracle)?),
                        ("native", Bound::new(py, native)?.into_any()),
                    ],
                )?;
                positional(py, [candidate])
            })
        };
        let mut serve = Running {
            gate: self,
            cx,
            candidate,
        };
        let read = |answer: &Bound<'_, PyAny>| from_python::<Value>(answer);
        let mut said = self
            .own
            .call_with(cx, "validate", arguments, read, &mut serve)
            .await?;
        complete(&mut said, self.id());
        let said = serde_json::from_value::<Verdict>(said);
        said.map_err(|why| {
            let what = format!("call `validate` of the gate `{}`: its answer:", self.id());
            Error::new(ErrorKind::ToolFailed, what, why.to_string())
        })
    }
}

/// Puts in what goes without saying.
fn complete(verdict: &mut Value, id: &str) {
    let Some(fields) = verdict.as_object_mut() else {
        return;
    };
    fields.entry("validator").or_insert_with(|| json!(id));
    let findings = fields.entry("findings").or_insert_with(|| json!([]));
    for finding in findings.as_array_mut().into_iter().flatten() {
        if let Some(finding) = finding.as_object_mut() {
            finding.entry("evidence").or_insert_with(|| json!([]));
        }
    }
}

/// What a gate may ask for.
struct Running<'a> {
    gate: &'a PyValidator,
    cx: &'a RunContext,
    candidate: &'a Candidate,
}

#[async_trait]
impl Serve for Running<'_> {
    async fn serve(&mut self, wish: &Wish) -> Result<super::Made, Error> {
        let candidate = self.candidate;
        if wish.name != "run" {
            return Err(unknown(wish));
        }
        let asked: Asked = serde_json::from_value(wish.arguments.clone()).map_err(|why| {
            Error::new(ErrorKind::InvalidInput, "run a script", "").with_source(why)
        })?;
        let overlay = match asked.state {
            State::Base => Overlay::default(),
            State::Before => candidate.task.before.clone(),
            State::After => candidate.task.after.clone(),
        };
        let job = Job {
            label: self.gate.own.name().to_owned(),
            overlay,
            files: Vec::new(),
            script: asked.script,
            collect: asked.collect,
            env: candidate.environment.plan.env.clone(),
            limits: Limits {
                seconds: asked.seconds,
                ..Limits::default()
            },
            network: Network::None,
            user: JobUser::default(),
        };
        let result = self
            .gate
            .sandbox
            .run(self.cx, &candidate.environment, &job)
            .await?;
        Ok(Box::new(move |py| Ok(told(py, &result)?.unbind())))
    }
}
