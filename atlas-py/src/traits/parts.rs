//! What a caller brings to `make`, `evaluate` and `validate`.

use super::Own;
use super::oracle::PyOracle;
use super::parser::PyParser;
use super::sandbox::PySandbox;
use super::synthesizer::PySynthesizer;
use super::validator::PyValidator;
use crate::options::{Options, is_path};
use atlas_core::{EnvSynthesizer, Oracle, Sandbox, Validator};
use atlas_oracle::StateDifferentialOracle;
use atlas_pipeline::{CallersParser, Parts, PlanTools};
use pyo3::prelude::*;
use std::sync::Arc;

/// Objects of Python in the place of Atlas's own.
#[derive(Debug)]
pub(crate) struct PyParts {
    parser: Option<PyParser>,
    sandbox: Option<PySandbox>,
    synthesizer: Option<Own>,
    oracle: Option<Own>,
    validators: Vec<Own>,
}

impl PyParts {
    /// Those that stand in the arguments of a call. A parser that is a file is none of them.
    pub(crate) fn of(given: &Options<'_>) -> PyResult<Self> {
        let parser = match given.object("parser")? {
            Some(parser) if !is_path(&parser)? => Some(PyParser::new(&parser)?),
            _ => None,
        };
        let object = |name| given.object(name);
        Ok(Self {
            parser,
            sandbox: object("sandbox")?
                .as_ref()
                .map(PySandbox::new)
                .transpose()?,
            synthesizer: object("synthesizer")?
                .as_ref()
                .map(PySynthesizer::own)
                .transpose()?,
            oracle: object("oracle")?.as_ref().map(PyOracle::own).transpose()?,
            validators: Vec::new(),
        })
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
