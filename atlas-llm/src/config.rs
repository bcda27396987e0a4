//! Which model, and how it is reached.

use crate::{Headers, Price, RetryPolicy};
use atlas_core::{Error, ErrorKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// What answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Provider {
    /// OpenAI's chat completions.
    #[serde(rename = "openai")]
    OpenAi,
    /// A server that speaks OpenAI's chat completions: vLLM, Ollama, LiteLLM, a gateway.
    Compatible,
    /// llama.cpp's server: as `Compatible`, and its prompt cache is switched off, because it makes
    /// log-probabilities differ from call to call.
    Llama,
    /// Anthropic's messages.
    Anthropic,
    /// Gemini's `generateContent`.
    Gemini,
    /// [`Replay`](crate::Replay) of a recording.
    Replay,
    /// [`Scripted`](crate::Scripted) answers of a file.
    Scripted,
    /// [`Noise`](crate::Noise).
    Noise,
}

impl Provider {
    /// As it is written in a configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Compatible => "compatible",
            Self::Llama => "llama",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Replay => "replay",
            Self::Scripted => "scripted",
            Self::Noise => "noise",
        }
    }

    /// The address, where there is a usual one.
    pub(crate) fn usual_url(self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some("https://api.openai.com/v1"),
            Self::Anthropic => Some("https://api.anthropic.com"),
            Self::Gemini => Some("https://generativelanguage.googleapis.com"),
            _ => None,
        }
    }

    /// The variable that usually holds the key.
    pub(crate) fn usual_key(self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some("OPENAI_API_KEY"),
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::Gemini => Some("GEMINI_API_KEY"),
            _ => None,
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which of OpenAI's APIs is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// Chat completions, which other servers speak too.
    #[default]
    Chat,
    /// Responses: no seed, and log-probabilities only where the model has them.
    Responses,
}

impl Api {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
    fn is_chat(&self) -> bool {
        *self == Self::Chat
    }
}

/// A model and how it is reached: one table `[models.NAME]`, or a `--model` text (see
/// [`FromStr`](#impl-FromStr-for-ModelConfig)).
///
/// It never holds a key, only the name of the environment variable that does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// What answers.
    pub provider: Provider,
    /// The model's name at its provider. For `replay`, `scripted` and `noise` it is not needed.
    #[serde(default)]
    pub model: String,
    /// Which API of the providers `openai` and `compatible`: `chat` or `responses`. Default: `chat`.
    #[serde(default, skip_serializing_if = "Api::is_chat")]
    pub api: Api,
    /// Where the API is, up to and without `/chat/completions`, `/responses`, `/v1/messages` or `/v1beta`. A query, as Azure's
    /// `?api-version=2024-10-21`, is kept at the end of the whole address; it may hold no key.
    /// Default: the provider's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable that holds the key. Default: the provider's usual one; none for
    /// `compatible` and `llama`, which are asked without a key, and where `headers` holds one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// Headers that are sent with every request. Default: none.
    #[serde(default, skip_serializing_if = "Headers::is_empty")]
    pub headers: Headers,
    /// A file of root certificates (PEM) that are trusted too. Default: the system's alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// What `replay` and `scripted` read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// The seed of `noise`. Default: 0.
    #[serde(default)]
    pub seed: u64,
    /// What a million tokens cost. Needed where a budget limits money and no [`PriceTable`](crate::PriceTable) knows
    /// it. Default: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Most tokens of a question and its answer together. Default: unknown.
    #[serde(
        default,
        deserialize_with = "at_least_one",
        skip_serializing_if = "Option::is_none"
    )]
    pub context_window: Option<u64>,
    /// Seconds to connect. Default: 10.
    #[serde(default = "connect_timeout")]
    pub connect_timeout: f64,
    /// Seconds for one whole answer. Default: 300.
    #[serde(default = "timeout")]
    pub timeout: f64,
    /// How often and when to ask again.
    #[serde(default)]
    pub retry: RetryPolicy,
    /// Most requests in any minute. It holds for all models of this process that have the same address, name and
    /// key variable; where tables differ, the one that was opened last counts. Default: no limit but the server's.
    #[serde(
        default,
        deserialize_with = "at_least_one",
        skip_serializing_if = "Option::is_none"
    )]
    pub requests_per_minute: Option<u32>,
    /// Most tokens in any minute, read and written, shared likewise. A call counts at an estimate (its text at two
    /// bytes a token, and all that it may write), and at what it reports when it is answered. One that is larger than
    /// the limit goes alone. Default: no limit but the server's.
    #[serde(
        default,
        deserialize_with = "at_least_one",
        skip_serializing_if = "Option::is_none"
    )]
    pub tokens_per_minute: Option<u64>,
    /// Have the answer sent in pieces. Default: no.
    #[serde(default)]
    pub stream: bool,
    /// Fields of requests that this server does not take: never sent. For example `temperature` for
    /// a reasoning model, `response_format` for a server that knows none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omit: Vec<String>,
    /// Fields that are added to the body of every request.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra_body: Map<String, Value>,
    /// A file that every exchange is appended to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<PathBuf>,
}

fn connect_timeout() -> f64 {
    10.0
}

fn timeout() -> f64 {
    300.0
}

/// Reads a limit, which cannot be 0.
fn at_least_one<'de, D, N>(from: D) -> Result<Option<N>, D::Error>
where
    D: serde::Deserializer<'de>,
    N: TryFrom<u64>,
{
    let number = i64::deserialize(from)?;
    let number = u64::try_from(number).ok().filter(|number| *number > 0);
    let number = number.and_then(|number| N::try_from(number).ok());
    number.map(Some).ok_or_else(|| {
        serde::de::Error::custom(
            "a whole number from 1 on expected; without the key there is no limit",
        )
    })
}

impl ModelConfig {
    /// A model with the defaults of every setting.
    pub fn new(provider: Provider, model: impl Into<String>) -> Self {
        Self {
            provider,
            model: model.into(),
            api: Api::default(),
            base_url: None,
            key_env: None,
            headers: Headers::default(),
            ca_file: None,
            file: None,
            seed: 0,
            price: None,
            context_window: None,
            connect_timeout: connect_timeout(),
            timeout: timeout(),
            retry: RetryPolicy::default(),
            requests_per_minute: None,
            tokens_per_minute: None,
            stream: false,
            omit: Vec::new(),
            extra_body: Map::new(),
            record: None,
        }
    }

    /// What a `--model` text names: a table of `[models.NAME]`, else what [`FromStr`] reads. A provider whose
    /// address is not given has the one of `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL` or `GEMINI_BASE_URL`, where that is
    /// set, as its own clients have.
    ///
    /// # Errors
    /// Neither; the message lists the tables.
    pub fn resolve(text: &str, tables: &BTreeMap<String, Self>) -> Result<Self, Error> {
        if let Some(table) = tables.get(text) {
            return Ok(table.clone().addressed());
        }
        let read = text.parse().map(Self::addressed);
        read.map_err(|why: Error| {
            let names: Vec<&str> = tables.keys().map(String::as_str).collect();
            if names.is_empty() || text.contains(':') {
                return why;
            }
            Error::new(ErrorKind::InvalidInput, why.operation(), why.subject()).with_source(
                format!("no such table among [models]: {}", names.join(", ")),
            )
        })
    }

    /// With the address that the environment names, where none is given.
    fn addressed(mut self) -> Self {
        let variable = match self.provider {
            Provider::OpenAi => "OPENAI_BASE_URL",
            Provider::Anthropic => "ANTHROPIC_BASE_URL",
            Provider::Gemini => "GEMINI_BASE_URL",
            _ => return self,
        };
        if self.base_url.is_none() {
            let address = std::env::var(variable).unwrap_or_default();
            self.base_url = Some(address).filter(|address| !address.trim().is_empty());
        }
        self
    }

    /// The variable that holds the key, if there is to be one beside `headers`.
    pub(crate) fn key_variable(&self) -> Option<&str> {
        let usual = self.provider.usual_key();
        let usual = usual.filter(|_| self.headers.caller().is_none());
        self.key_env.as_deref().or(usual)
    }

    /// The name that an embedder is known by: the model's, else the server's, for a vector is worth nothing
    /// without knowing whose it is.
    #[cfg(feature = "http")]
    pub(crate) fn embedder_name(&self) -> String {
        let server = self
            .base_url
            .as_deref()
            .and_then(|base| base.split("://").nth(1));
        let server = server.map(|rest| rest.split(['/', '?']).next().unwrap_or(rest));
        match server {
            Some(server) if self.model.is_empty() => format!("embeddings-{server}"),
            _ => self.name(),
        }
    }

    /// All settings but the name that may change an answer: `provider`, and where they are given `api`, `base_url`,
    /// `file`, `seed`, `omit` and `extra_body`. Keys, prices, time limits and retries are none.
    pub fn answer_settings(&self) -> Value {
        let mut settings = Map::new();
        let mut put = |name: &str, value: Value| settings.insert(name.to_owned(), value);
        put("provider", json!(self.provider));
        if self.api != Api::Chat {
            put("api", json!(self.api));
        }
        if let Some(url) = &self.base_url {
            put("base_url", json!(url));
        }
        if let Some(file) = &self.file {
            put("file", json!(file));
        }
        if self.seed != 0 {
            put("seed", json!(self.seed));
        }
        if !self.omit.is_empty() {
            let mut omit = self.omit.clone();
            omit.sort();
            put("omit", json!(omit));
        }
        if !self.extra_body.is_empty() {
            put("extra_body", json!(self.extra_body));
        }
        Value::Object(settings)
    }

    /// The name that a model is known by in ledgers, recordings and messages.
    pub fn name(&self) -> String {
        match self.provider {
            Provider::Noise => format!("noise:{}", self.seed),
            Provider::Scripted => "scripted".to_owned(),
            _ if self.model.is_empty() => self.provider.to_string(),
            _ => self.model.clone(),
        }
    }
}

/// Reads one of
///
/// - `openai:NAME`, `anthropic:NAME`, `gemini:NAME`: the model at its provider, the key in
///   `OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, `GEMINI_API_KEY`
/// - `http://HOST:PORT/v1#NAME` or `https://…`: a model of a server that speaks OpenAI's API, without
///   a key
/// - `llama:http://HOST:PORT/v1#NAME`: the same, of llama.cpp
/// - `replay:FILE`, `scripted:FILE`, `noise:SEED`
///
/// ```
/// use atlas_llm::{ModelConfig, Provider};
/// let model: ModelConfig = "llama:http://127.0.0.1:8080/v1#small".parse()?;
/// assert_eq!((model.provider, model.model.as_str()), (Provider::Llama, "small"));
/// assert_eq!(model.base_url.as_deref(), Some("http://127.0.0.1:8080/v1"));
/// # Ok::<(), atlas_core::Error>(())
/// ```
impl FromStr for ModelConfig {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |why: &str| {
            // An address may hold a password: it is not repeated.
            let shown = text.split_once("//").map_or(text, |(before, _)| before);
            Error::new(
                ErrorKind::InvalidInput,
                "read the model",
                format!("`{shown}`"),
            )
            .with_source(format!(
                "{why}; a model is openai:NAME, anthropic:NAME, gemini:NAME, \
                 http://HOST:PORT/v1#NAME, llama:http://HOST:PORT/v1#NAME, replay:FILE, \
                 scripted:FILE, noise:SEED or a table of [models]"
            ))
        };
        let (scheme, rest) = text.split_once(':').ok_or_else(|| wrong("it has no `:`"))?;
        if rest.is_empty() {
            return Err(wrong("nothing stands behind the `:`"));
        }
        let served = |provider, address: &str| {
            let (base, name) = address.split_once('#').unwrap_or((address, ""));
            Self {
                base_url: Some(base.to_owned()),
                ..Self::new(provider, name)
            }
        };
        let from_file = |provider| Self {
            file: Some(PathBuf::from(rest)),
            ..Self::new(provider, "")
        };
        Ok(match scheme {
            "openai" => Self::new(Provider::OpenAi, rest),
            "anthropic" => Self::new(Provider::Anthropic, rest),
            "gemini" => Self::new(Provider::Gemini, rest),
            "http" | "https" => served(Provider::Compatible, text),
            "llama" => served(Provider::Llama, rest),
            "replay" => from_file(Provider::Replay),
            "scripted" => from_file(Provider::Scripted),
            "noise" => Self {
                seed: rest
                    .parse()
                    .map_err(|_| wrong("the seed is no whole number"))?,
                ..Self::new(Provider::Noise, "")
            },
            _ => return Err(wrong("no provider has that name")),
        })
    }
}
