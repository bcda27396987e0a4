//! Models behind HTTP.

mod anthropic;
mod batch;
mod client;
mod dialect;
mod draft;
mod embedding;
mod endpoint;
mod gemini;
mod learned;
mod openai;
mod refusal;
mod responses;
mod secret;
mod sse;

use crate::failure::{CallFailure, FailureCause, shorten};
use crate::{Api, ModelConfig, Provider};
use async_trait::async_trait;
use atlas_core::{Completion, CompletionRequest, Error, ErrorKind, LanguageModel, RunContext};
pub(crate) use batch::{BatchPresence, HttpBatches, Outcome, Standing};
use dialect::{Call, Dialect};
use draft::Draft;
pub use embedding::HttpEmbedder;
use endpoint::Endpoint;
use learned::Learned;
use reqwest::header::CONTENT_TYPE;
use serde_json::{Map, Value};

/// One model of an OpenAI-compatible server (chat completions or responses), of Anthropic or of Gemini. A call is one request: stand
/// it inside of [`Retry`](crate::Retry) and, for limits, [`Budget`](crate::Budget), or let
/// [`open_model`](crate::open_model) do so.
///
/// A field that the server refuses (`temperature` of a reasoning model, `response_format`, the older name of the most
/// tokens) is left out or named otherwise from then on, with a warning: the answers are then the server's own way, as
/// not greedy. `omit` in the configuration says so beforehand, and stands in the settings of results.
///
/// Only what an API takes is sent to it: no log-probabilities and no seed to Anthropic, no seed to responses, at most 20
/// alternatives to anyone. What a response holds is read leniently, and what it does not hold is
/// absent: log-probabilities of which a part has no value count as none.
///
/// # Cancellation
/// Dropping the future closes the connection.
#[derive(Debug)]
pub struct HttpModel {
    name: String,
    provider: Provider,
    dialect: Dialect,
    model: String,
    stream: bool,
    omit: Vec<String>,
    extra: Map<String, Value>,
    learned: Learned,
    endpoint: Endpoint,
}

impl HttpModel {
    /// A model of a configuration. The key is read from the environment now.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`]: the provider is not behind HTTP, there is no usable address, the
    /// key's variable is not set, or `extra_body` names a field that Atlas fills itself or that
    /// the provider ignores.
    pub fn open(config: &ModelConfig) -> Result<Self, Error> {
        let provider = config.provider;
        let dialect = Dialect::of(provider).ok_or_else(|| {
            let why = format!("`{provider}` is not reached by HTTP");
            endpoint::wrong(config, why)
        })?;
        let dialect = match (config.api, dialect) {
            (Api::Chat, dialect) => dialect,
            (Api::Responses, Dialect::OpenAi) => Dialect::Responses,
            (Api::Responses, _) => {
                let why = format!("`api`: `{provider}` has no responses; leave it out");
                return Err(endpoint::wrong(config, why));
            }
        };
        let address = |base: &str| dialect.url(base, &config.model, config.stream);
        Ok(Self {
            name: config.name(),
            provider,
            dialect,
            model: config.model.clone(),
            stream: config.stream,
            omit: config.omit.clone(),
            extra: config.extra_body.clone(),
            learned: Learned::default(),
            endpoint: Endpoint::open(config, dialect, address)?,
        })
    }

    fn body(&self, request: &CompletionRequest) -> Value {
        let call = Call {
            provider: self.provider,
            model: &self.model,
            stream: self.stream,
            request,
        };
        let mut body = self.dialect.body(&call);
        let Some(fields) = body.as_object_mut() else {
            return body;
        };
        for field in &self.omit {
            fields.shift_remove(field);
            // Gemini's settings stand one level down.
            if let Some(Value::Object(settings)) = fields.get_mut("generationConfig") {
                settings.shift_remove(field);
            }
        }
        self.learned.apply(fields);
        for (field, more) in &self.extra {
            match (fields.get_mut(field), more) {
                (Some(Value::Object(known)), Value::Object(more)) => known.extend(more.clone()),
                _ => drop(fields.insert(field.clone(), more.clone())),
            }
        }
        body
    }

    /// Asks, and again without a field that is refused, which is remembered.
    async fn ask(&self, request: &CompletionRequest) -> Result<Completion, CallFailure> {
        loop {
            let known = self.learned.fields();
            let answer = self.ask_once(request).await;
            let refused = answer.as_ref().err().and_then(|failure| {
                let is_field = failure.cause == FailureCause::ParameterRefused;
                failure.parameter.filter(|_| is_field)
            });
            match refused {
                // Of several calls at once each meets the refusal that the first one learns from.
                Some(field) if !known.contains(field) => {
                    self.learned.add(field);
                    tracing::warn!(
                        model = self.name,
                        field,
                        "refused, and left out from now on"
                    );
                    let _turn = self.endpoint.pace.turn(0).await;
                }
                _ => return answer,
            }
        }
    }

    async fn ask_once(&self, request: &CompletionRequest) -> Result<Completion, CallFailure> {
        let asked_logprobs = request.top_logprobs.is_some();
        let response = self
            .endpoint
            .post(&self.body(request), asked_logprobs)
            .await?;
        let status = response.status().as_u16();
        let streams = response
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"));
        // A server that knows no streams answers whole all the same.
        let draft = if streams {
            self.read_stream(response, asked_logprobs).await?
        } else {
            let parsed = self.endpoint.json(response, asked_logprobs).await?;
            let mut draft = Draft::default();
            self.dialect.read(&parsed, &mut draft);
            draft
        };
        draft
            .into_completion(&self.name)
            .map_err(|failure| with_status(failure, status))
    }

    async fn read_stream(
        &self,
        mut response: reqwest::Response,
        asked_logprobs: bool,
    ) -> Result<Draft, CallFailure> {
        let mut draft = Draft::default();
        let mut events = sse::Events::default();
        loop {
            match response.chunk().await {
                Ok(Some(piece)) => {
                    for event in events.push(&piece) {
                        self.read_event(event, asked_logprobs, &mut draft)?;
                    }
                }
                Ok(None) => {
                    if let Some(event) = events.finish() {
                        // What the connection cut off within an event is no event.
                        if event == "[DONE]" || serde_json::from_str::<Value>(&event).is_ok() {
                            self.read_event(event, asked_logprobs, &mut draft)?;
                        }
                    }
                    if draft.is_whole() {
                        break;
                    }
                    let what = "the stream ended before the model was done";
                    return Err(draft.failure(FailureCause::CutStream, what));
                }
                // The model was done; only the rest of the stream, its usage at most, is lost.
                Err(_) if draft.is_whole() => break,
                Err(why) => {
                    let failure = client::failed(why);
                    let cause = if failure.cause == FailureCause::TimedOut {
                        FailureCause::TimedOut
                    } else {
                        FailureCause::CutStream
                    };
                    return Err(draft.failure(cause, &failure.message));
                }
            }
            if draft.over {
                break;
            }
            if events.len() + draft.text.len() > client::MOST_BYTES {
                return Err(client::too_large());
            }
        }
        draft.text = self.endpoint.secrets.scrub(draft.text);
        Ok(draft)
    }

    fn read_event(
        &self,
        event: String,
        asked_logprobs: bool,
        draft: &mut Draft,
    ) -> Result<(), CallFailure> {
        if event.trim() == "[DONE]" {
            draft.over = true;
            return Ok(());
        }
        let event = self.endpoint.secrets.scrub(event);
        let parsed: Value = serde_json::from_str(&event).map_err(|why| {
            let what = format!("an event is no JSON ({why}): `{}`", shorten(&event, 200));
            draft.failure(FailureCause::Unreadable, &what)
        })?;
        if let Some(mut failure) = refusal::embedded(&parsed, asked_logprobs) {
            let in_midst = draft.failure(failure.cause, &failure.message);
            failure.message = in_midst.message;
            failure.usage = failure.usage.or(in_midst.usage);
            return Err(failure);
        }
        self.dialect.read(&parsed, draft);
        Ok(())
    }
}

fn with_status(mut failure: CallFailure, status: u16) -> CallFailure {
    failure.status = Some(status);
    failure
}

#[async_trait]
impl LanguageModel for HttpModel {
    fn name(&self) -> &str {
        &self.name
    }

    async fn complete(
        &self,
        cx: &RunContext,
        request: &CompletionRequest,
    ) -> Result<Completion, Error> {
        cx.check("ask the model")?;
        let answer = tokio::select! {
            answer = self.ask(request) => answer,
            () = cx.cancel.cancelled() => {
                return Err(Error::new(ErrorKind::Cancelled, "ask the model", "was cancelled"));
            }
        };
        match &answer {
            Ok(done) => tracing::debug!(model = self.name, usage = ?done.usage,
                finish = ?done.finish, logprobs = done.logprobs.is_some(), "answered"),
            Err(why) => tracing::debug!(model = self.name, cause = ?why.cause,
                status = why.status, "failed"),
        }
        answer.map_err(|failure| failure.into_error(&self.name))
    }
}
