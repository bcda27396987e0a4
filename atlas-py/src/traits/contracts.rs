//! The conformance checks of the core traits, on objects of Python. `swe_atlas.testing` is their face.

use super::host::PyHost;
use super::judge::PyJudge;
use super::oracle::PyOracle;
use super::parser::PyParser;
use super::parts::PyParts;
use super::sandbox::PySandbox;
use super::synthesizer::PySynthesizer;
use super::validator::PyValidator;
use crate::attempt::PyAgent;
use crate::convert::to_python;
use crate::errors::invalid;
use crate::instance::Instance;
use crate::model::PyModel;
use crate::options::Options;
use crate::run::run;
use atlas_core::{
    ChatMessage, CompletionRequest, Error, Patch, Repository, Role, RunContext, Subject, testing,
};
use atlas_pipeline::{ValidateOptions, open_instance};
use pyo3::exceptions::PyAssertionError;
use pyo3::prelude::*;
use serde_json::{Map, json};
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Once};

/// Checks that go on: what they find is an exception, and is not printed as a panic as well.
static CHECKS: AtomicUsize = AtomicUsize::new(0);

struct Quiet;

impl Quiet {
    fn begin() -> Self {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let usual = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                if CHECKS.load(Ordering::Relaxed) == 0 {
                    usual(info);
                }
            }));
        });
        CHECKS.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        CHECKS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Runs a check, which panics with a sentence.
fn checked<T: Send>(
    py: Python<'_>,
    check: impl AsyncFnOnce(&RunContext) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let quiet = Quiet::begin();
    let done = py.detach(|| std::panic::catch_unwind(AssertUnwindSafe(|| run(check))));
    drop(quiet);
    done.unwrap_or_else(|why| {
        let text = why.downcast_ref::<String>().cloned();
        let text = text.or_else(|| why.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(PyAssertionError::new_err(text.unwrap_or_default()))
    })
}

fn instance_options(options: &Options<'_>) -> PyResult<ValidateOptions> {
    let usual = ValidateOptions::new(options.get::<PathBuf>("dataset")?);
    Ok(ValidateOptions {
        instances: options.named("instance_id")?.into_iter().collect(),
        repos: options.maybe("repos")?,
        engine: options.named("engine")?.unwrap_or(usual.engine),
        config: options.config()?,
        out: options.maybe("out")?,
        trust: options.or("trust", false)?,
        parts: Some(PyParts::of(options)?.shared()),
        ..usual
    })
}

/// Checks `object`, which is a `what`.
#[pyfunction]
pub(crate) fn _check<'py>(
    py: Python<'py>,
    what: &str,
    object: &Bound<'py, PyAny>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let nothing = || Ok(py.None().into_bound(py));
    match what {
        "parser" => {
            let (parser, sample) = (PyParser::new(object)?, options.get::<Vec<u8>>("sample")?);
            let done = checked(py, async |_| {
                testing::log_parser_contract(&parser, &sample);
                Ok(())
            });
            // What the parser raised is why the check fails.
            if let Some(fault) = parser.fault() {
                return Err(PyAssertionError::new_err(format!("it raises {fault}")));
            }
            done?;
            nothing()
        }
        "sandbox" => {
            let (sandbox, of) = (PySandbox::new(object)?, instance_options(&options)?);
            checked(py, async |cx| {
                let open = open_instance(cx, &of).await?;
                testing::sandbox_contract(&sandbox, &open.candidate.environment).await;
                open.close()
            })?;
            nothing()
        }
        "synthesizer" => {
            let (own, of) = (PySynthesizer::own(object)?, instance_options(&options)?);
            let broken: PathBuf = options.get("broken")?;
            checked(py, async |cx| {
                let open = open_instance(cx, &of).await?;
                let synthesizer = PySynthesizer::new(own, open.tools.clone());
                let broken = Repository {
                    checkout: broken,
                    ..open.repository.clone()
                };
                testing::env_synthesizer_contract(&synthesizer, &open.repository, &broken).await;
                open.close()
            })?;
            nothing()
        }
        "oracle" => {
            let (own, of) = (PyOracle::own(object)?, instance_options(&options)?);
            let expected = options.word("expected")?;
            checked(py, async |cx| {
                let open = open_instance(cx, &of).await?;
                let oracle = PyOracle::new(own, open.oracle.clone().into());
                let (environment, task) = (&open.candidate.environment, &open.candidate.task);
                testing::oracle_contract(&oracle, environment, task, expected).await;
                open.close()
            })?;
            nothing()
        }
        "gate" => {
            let (own, of) = (PyValidator::own(object)?, instance_options(&options)?);
            let expected = options.word("expected")?;
            checked(py, async |cx| {
                let open = open_instance(cx, &of).await?;
                let gate = PyValidator::new(own, Arc::clone(&open.sandbox));
                testing::validator_contract(&gate, &open.candidate, expected).await;
                open.close()
            })?;
            nothing()
        }
        "judge" => {
            let judge = PyJudge::new(object)?;
            let row: Bound<'py, Instance> = options.get("instance")?;
            let patch: Option<String> = options.maybe("patch")?;
            let subject = Subject {
                instance: row.get().row().clone(),
                patch: patch.map(Patch::new),
                attachments: Map::new(),
            };
            let labels: Vec<String> = options.get("labels")?;
            checked(py, async |_| {
                let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
                testing::judge_contract(&judge, &subject, &labels).await;
                Ok(())
            })?;
            nothing()
        }
        "model" => {
            let model = PyModel::new(object)?;
            let request = CompletionRequest {
                messages: vec![ChatMessage {
                    role: Role::User,
                    content: options.get("prompt")?,
                }],
                max_tokens: 16,
                temperature: 0.0,
                seed: None,
                top_logprobs: None,
                json_schema: None,
            };
            checked(py, async |_| {
                testing::language_model_contract(&model, &request).await;
                Ok(())
            })?;
            nothing()
        }
        "host" => {
            let host = PyHost::new(object)?;
            let told = checked(py, async |_| Ok(testing::code_host_contract(&host).await))?;
            to_python(py, &json!(told))
        }
        "agent" => {
            let (agent, folder) = (PyAgent::new(object)?, options.get::<PathBuf>("folder")?);
            checked(py, async |_| {
                atlas_trajectory::testing::agent_contract(&agent, &folder).await;
                Ok(())
            })?;
            nothing()
        }
        other => Err(invalid("what", format!("`{other}`"))),
    }
}
