//! `EnvSynthesizer`.

use super::{Own, Serve, Wish, face, from_python, made, positional, unknown};
use crate::convert::plain;
use async_trait::async_trait;
use atlas_core::{
    EnvSynthesizer, EnvironmentPlan, Error, ErrorKind, Repository, RunContext, SynthesisOutcome,
};
use atlas_pipeline::PlanTools;
use atlas_pipeline::docker::Analysis;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::json;
use std::collections::BTreeMap;

/// An object with `synthesize(repository, tools)`.
#[derive(Clone, Debug)]
pub(super) struct PySynthesizer {
    own: Own,
    tools: PlanTools,
}

impl PySynthesizer {
    pub(super) fn own(object: &Bound<'_, PyAny>) -> PyResult<Own> {
        Own::new("synthesizer", object, ("name", &["synthesize"]))
    }

    pub(super) fn new(own: Own, tools: PlanTools) -> Self {
        Self { own, tools }
    }
}

#[async_trait]
impl EnvSynthesizer for PySynthesizer {
    async fn synthesize(
        &self,
        cx: &RunContext,
        repository: &Repository,
    ) -> Result<SynthesisOutcome, Error> {
        let arguments = |native: super::Tools| -> super::Arguments<'_> {
            Box::new(move |py| {
                let native = Bound::new(py, native)?.into_any();
                let tools = face(py, "PlanTools", vec![("native", native)])?;
                positional(py, [repository_of(py, repository)?, tools])
            })
        };
        let mut serve = Building {
            cx,
            repository,
            tools: &self.tools,
        };
        let read = |answer: &Bound<'_, PyAny>| from_python::<SynthesisOutcome>(answer);
        let answer = self
            .own
            .call_with(cx, "synthesize", arguments, read, &mut serve);
        answer.await
    }
}

/// What a synthesizer may ask for.
struct Building<'a> {
    cx: &'a RunContext,
    repository: &'a Repository,
    tools: &'a PlanTools,
}

#[async_trait]
impl Serve for Building<'_> {
    async fn serve(&mut self, wish: &Wish) -> Result<super::Made, Error> {
        match wish.name.as_str() {
            "analyse" => Ok(made(match self.tools.analyse(self.repository).await? {
                Analysis::Plan(plan) => json!({"plan": plan}),
                Analysis::Verdict {
                    reason,
                    evidence,
                    fault,
                } => {
                    json!({"plan": null, "reason": reason, "evidence": evidence, "fault": fault})
                }
            })),
            "build" => {
                let plan: EnvironmentPlan = serde_json::from_value(wish.arguments["plan"].clone())
                    .map_err(|why| {
                        Error::new(ErrorKind::InvalidInput, "read plan", "").with_source(why)
                    })?;
                let outcome = self.tools.build(self.cx, self.repository, plan).await?;
                Ok(made(json!(outcome)))
            }
            _ => Err(unknown(wish)),
        }
    }
}

fn repository_of<'py>(py: Python<'py>, repository: &Repository) -> PyResult<Bound<'py, PyAny>> {
    let files = |files: &BTreeMap<String, Vec<u8>>| -> PyResult<Bound<'py, PyAny>> {
        let dict = PyDict::new(py);
        for (path, bytes) in files {
            dict.set_item(path, PyBytes::new(py, bytes))?;
        }
        Ok(dict.into_any())
    };
    face(
        py,
        "Repository",
        vec![
            ("name", plain(py, &repository.name)?),
            ("checkout", repository.checkout.clone().into_pyobject(py)?),
            ("base", plain(py, &repository.base)?),
            ("base_date", plain(py, &repository.base_date)?),
            ("head_manifests", files(&repository.head_manifests)?),
            ("head_tests", files(&repository.head_tests)?),
            ("touched", plain(py, &repository.touched)?),
        ],
    )
}
