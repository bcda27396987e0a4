//! What a caller brings to `make`, `evaluate` and `validate`.

use super::Own;
use super::oracle::PyOracle;
use super::parser::PyParser;
use super::sandbox::PySandbox;
use super::synthesizer::PySynthesizer;
use super::validator::PyValidator;
use atlas_core::{EnvSynthesizer, Oracle, Sandbox, Validator};
use atlas_oracle::StateDifferentialOracle;
use atlas_pipeline::{CallersParser, Parts, PlanTools};
use pyo3::prelude::*;
use std::sync::Arc;

/// Objects of Python in the place of Atlas's own.
#[derive(Debug, Default)]
pub(crate) struct PyParts {
    parser: Option<PyParser>,
    sandbox: Option<PySandbox>,
    synthesizer: Option<Own>,
    oracle: Option<Own>,
    validators: Vec<Own>,
}

impl PyParts {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn parser(mut self, object: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        self.parser = object.map(PyParser::new).transpose()?;
        Ok(self)
    }

    pub(crate) fn sandbox(mut self, object: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        self.sandbox = object.map(PySandbox::new).transpose()?;
        Ok(self)
    }

    pub(crate) fn synthesizer(mut self, object: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        self.synthesizer = object.map(PySynthesizer::own).transpose()?;
        Ok(self)
    }

    pub(crate) fn oracle(mut self, object: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        self.oracle = object.map(PyOracle::own).transpose()?;
        Ok(self)
    }

    pub(crate) fn validators(mut self, objects: &[Bound<'_, PyAny>]) -> PyResult<Self> {
        self.validators = objects
            .iter()
            .map(PyValidator::own)
            .collect::<PyResult<_>>()?;
        Ok(self)
    }

    /// For options.
    pub(crate) fn shared(self) -> Arc<dyn Parts> {
        Arc::new(self)
    }
}

impl Parts for PyParts {
    fn parser(&self) -> Option<CallersParser> {
        self.parser.as_ref().map(PyParser::callers)
    }

    fn sandbox(&self) -> Option<Arc<dyn Sandbox>> {
        let sandbox = self.sandbox.clone()?;
        Some(Arc::new(sandbox))
    }

    fn synthesizer(&self, tools: PlanTools) -> Option<Arc<dyn EnvSynthesizer>> {
        let own = self.synthesizer.clone()?;
        Some(Arc::new(PySynthesizer::new(own, tools)))
    }

    fn oracle(&self, standard: Arc<StateDifferentialOracle>) -> Option<Arc<dyn Oracle>> {
        let own = self.oracle.clone()?;
        Some(Arc::new(PyOracle::new(own, standard)))
    }

    fn validators(&self, sandbox: &Arc<dyn Sandbox>) -> Vec<Arc<dyn Validator>> {
        let made = self.validators.iter().map(|own| {
            let gate = PyValidator::new(own.clone(), Arc::clone(sandbox));
            Arc::new(gate) as Arc<dyn Validator>
        });
        made.collect()
    }
}
