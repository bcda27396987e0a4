//! Language models as Python has them: a text that names one, or a callable.

use crate::convert::{dumps, plain};
use crate::errors::{invalid, raised};
use crate::options::Options;
use crate::traits::Own;
use async_trait::async_trait;
use atlas_core::{
    Completion, CompletionRequest, Error, ErrorKind, FinishReason, LanguageModel, RunContext,
    TokenLogprob, Usage,
};
use atlas_pipeline::{
    CalibratorsFile, Config, EnsembleOptions, ModelSession, SessionModels, SessionOptions,
    exchanges_beside,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PySequence, PyString, PyTuple};
use serde::Deserialize;
use std::path::Path;
use std::str::FromStr as _;
use std::sync::Arc;

/// How a caller pays for a model, and puts several together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Payment {
    pub(crate) budget: Option<String>,
    total_budget: Option<String>,
    /// Seconds between two looks at a batch; none asks one by one.
    batch_poll: Option<f64>,
    /// How several models become one judge.
    ensemble: Option<String>,
    calibrators: Vec<String>,
    /// Whether only one model can be asked.
    is_single: bool,
}

impl Payment {
    /// What a call says; where it has no `ensemble`, one model is asked.
    pub(crate) fn of(given: &Options<'_>) -> PyResult<Self> {
        Ok(Self {
            budget: given.maybe("budget")?,
            total_budget: given.maybe("total_budget")?,
            batch_poll: given.maybe("batch_poll")?,
            ensemble: given.maybe("ensemble")?,
            calibrators: given.or("calibrators", Vec::new())?,
            is_single: !given.has("ensemble")?,
        })
    }

    /// Whether something is said that only language models heed, the budget aside.
    pub(crate) fn is_of_models(&self) -> bool {
        self.total_budget.is_some()
            || self.batch_poll.is_some()
            || self.ensemble.is_some()
            || !self.calibrators.is_empty()
    }

    /// How several models become one; none is the question's own rule.
    fn several(ensemble: Option<&str>, calibrators: Vec<String>) -> PyResult<EnsembleOptions> {
        let rule = ensemble.map(str::parse).transpose();
        let read =
            |file: String| CalibratorsFile::from_str(&file).unwrap_or_else(|never| match never {});
        Ok(EnsembleOptions {
            rule: rule.map_err(|why| invalid("ensemble", why))?,
            threshold: None,
            calibrators: calibrators.into_iter().map(read).collect(),
        })
    }
}

/// The models that a caller names; none of a callable.
fn named(model: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
    if let Ok(text) = model.cast::<PyString>() {
        return Ok(Some(vec![text.to_cow()?.into_owned()]));
    }
    let Ok(list) = model.cast::<PySequence>() else {
        return Ok(None);
    };
    let texts: Vec<String> = list
        .extract()
        .map_err(|_| invalid("model", "a list of several models holds texts"))?;
    if texts.is_empty() {
        return Err(invalid("model", "the list is empty"));
    }
    Ok(Some(texts))
}

/// Opens the models that a caller names, or the one that is brought. What named ones answer is kept beside the results.
pub(crate) fn session(
    model: &Bound<'_, PyAny>,
    payment: Payment,
    config: &Config,
    out: Option<&Path>,
) -> PyResult<ModelSession> {
    let named = named(model)?;
    if payment.is_single && named.as_ref().is_some_and(|models| models.len() > 1) {
        return Err(invalid("model", "one is asked here, not several"));
    }
    let is_one = named.as_ref().is_none_or(|models| models.len() < 2);
    if is_one && (payment.ensemble.is_some() || !payment.calibrators.is_empty()) {
        let why = "`ensemble` and `calibrators` are of several models; give a list of them";
        return Err(invalid("model", why));
    }
    let opened = if let Some(models) = named {
        let options = SessionOptions {
            budget: payment.budget,
            total_budget: payment.total_budget,
            exchanges: out.map(exchanges_beside),
            out: out.map(Path::to_owned),
            batch_poll: payment.batch_poll,
        };
        let ensemble = Payment::several(payment.ensemble.as_deref(), payment.calibrators)?;
        ModelSession::open_all(&SessionModels { models, ensemble }, config, &options)
    } else if payment.total_budget.is_some() {
        return Err(invalid(
            "total_budget",
            "of a callable nothing is kept; limit each run with `budget`",
        ));
    } else if payment.batch_poll.is_some() {
        return Err(invalid("batch_poll", "a callable has no batches"));
    } else if model.is_callable() {
        ModelSession::of(Arc::new(PyModel::new(model)?), payment.budget.as_deref())
    } else {
        return Err(invalid(
            "model",
            "a text, a list of texts or a callable expected",
        ));
    };
    opened.map_err(|why| raised(&why))
}

/// The smallest context of the models that a caller names, in tokens, as far as they are known.
pub(crate) fn window(model: &Bound<'_, PyAny>, config: &Config) -> PyResult<Option<u64>> {
    let mut least = None;
    for text in named(model)?.into_iter().flatten() {
        let model = config.model(SessionModels::model(&text));
        let window = model.map_err(|why| raised(&why))?.context_window;
        least = least.into_iter().chain(window).min();
    }
    Ok(least)
}

/// The same of the call's own arguments, where rules do without a model.
pub(crate) fn session_if_given(given: &Options<'_>, out: &Path) -> PyResult<Option<ModelSession>> {
    let model = given.object("model")?;
    let open = |model| session(&model, Payment::of(given)?, &given.config()?, Some(out));
    model.map(open).transpose()
}

/// A callable `model(messages, **options)`.
#[derive(Debug)]
pub(crate) struct PyModel(Own);

impl PyModel {
    pub(crate) fn new(model: &Bound<'_, PyAny>) -> PyResult<Self> {
        // Results of one model are not mixed with another's: an object tells models apart by `name`.
        Own::callable("model", model).map(Self)
    }
}

#[async_trait]
impl LanguageModel for PyModel {
    fn name(&self) -> &str {
        self.0.name()
    }

    async fn complete(
        &self,
        cx: &RunContext,
        request: &CompletionRequest,
    ) -> Result<Completion, Error> {
        let arguments = Box::new(|py: Python<'_>| {
            let options = PyDict::new(py);
            options.set_item("max_tokens", request.max_tokens)?;
            options.set_item("temperature", request.temperature)?;
            options.set_item("seed", request.seed)?;
            options.set_item("top_logprobs", request.top_logprobs)?;
            options.set_item("json_schema", plain(py, &request.json_schema)?)?;
            let messages = plain(py, &request.messages)?;
            let messages = PyTuple::new(py, [messages])?.unbind();
            Ok((messages, Some(options.unbind())))
        });
        let answer = self.0.call(cx, "__call__", arguments, completion).await;
        let mut answer = answer.map_err(|why| match why.kind() {
            ErrorKind::ToolFailed | ErrorKind::Internal => {
                let name = format!("`{}`", self.0.name());
                Error::new(ErrorKind::Model, "ask the model", name).with_source(why)
            }
            _ => why,
        })?;
        if answer.model.is_empty() {
            self.name().clone_into(&mut answer.model);
        }
        Ok(answer)
    }
}

/// A token as OpenAI's API and its kin give it.
#[derive(Deserialize)]
struct Token {
    #[serde(rename = "token")]
    text: String,
    #[serde(default)]
    bytes: Option<Vec<u8>>,
    logprob: f64,
    #[serde(default)]
    top_logprobs: Vec<Token>,
}

impl Token {
    fn of(self) -> (Vec<u8>, f64) {
        (
            self.bytes.unwrap_or_else(|| self.text.into_bytes()),
            self.logprob,
        )
    }
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "names of OpenAI's API")]
struct Spent {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: Option<u64>,
    cached_tokens: u64,
    reasoning_tokens: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    text: String,
    #[serde(default)]
    logprobs: Option<Vec<Token>>,
    #[serde(default)]
    avg_logprob: Option<f64>,
    #[serde(default)]
    finish_reason: Option<String>,
    #[serde(default)]
    usage: Option<Spent>,
    #[serde(default)]
    model: Option<String>,
}

fn completion(answer: &Bound<'_, PyAny>) -> Result<Completion, String> {
    let answer = if let Ok(text) = answer.cast::<PyString>() {
        Answer {
            text: text.extract().map_err(|why: PyErr| why.to_string())?,
            logprobs: None,
            avg_logprob: None,
            finish_reason: None,
            usage: None,
            model: None,
        }
    } else if answer.cast::<PyMapping>().is_ok() {
        let text = dumps(answer).map_err(|why| format!("its answer is no JSON: {why}"))?;
        serde_json::from_str(&text).map_err(|why| why.to_string())?
    } else {
        let kind = answer.get_type().name();
        let kind = kind.map_or_else(|_| "something else".to_owned(), |name| name.to_string());
        return Err(format!("it gave {kind}; a str or a dict is expected"));
    };
    let usage = answer.usage.unwrap_or_default();
    let token = |mut token: Token| {
        let top = std::mem::take(&mut token.top_logprobs);
        let (bytes, logprob) = token.of();
        TokenLogprob {
            bytes,
            logprob,
            top: top.into_iter().map(Token::of).collect(),
        }
    };
    Ok(Completion {
        text: answer.text,
        logprobs: answer
            .logprobs
            .map(|tokens| tokens.into_iter().map(token).collect()),
        avg_logprob: answer.avg_logprob,
        finish: match answer.finish_reason.as_deref() {
            None | Some("stop") => FinishReason::Stop,
            Some("length") => FinishReason::Length,
            Some(other) => FinishReason::Other(other.to_owned()),
        },
        usage: Usage {
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: match usage.total_tokens {
                Some(total) if usage.completion_tokens == 0 => {
                    total.saturating_sub(usage.prompt_tokens)
                }
                _ => usage.completion_tokens,
            },
            cached_tokens: usage.cached_tokens,
            reasoning_tokens: usage.reasoning_tokens,
        },
        model: answer.model.unwrap_or_default(),
    })
}
