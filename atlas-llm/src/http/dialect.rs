//! The APIs: how each is asked, and read.

use super::draft::Draft;
use super::{anthropic, gemini, openai, responses};
use crate::Provider;
use atlas_core::CompletionRequest;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;

/// An API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    OpenAi,
    /// OpenAI's newer one.
    Responses,
    Anthropic,
    Gemini,
}

impl Dialect {
    pub(super) fn of(provider: Provider) -> Option<Self> {
        match provider {
            Provider::OpenAi | Provider::Compatible | Provider::Llama => Some(Self::OpenAi),
            Provider::Anthropic => Some(Self::Anthropic),
            Provider::Gemini => Some(Self::Gemini),
            Provider::Replay | Provider::Scripted | Provider::Noise => None,
        }
    }

    /// The address of one call.
    pub(super) fn url(self, base: &str, model: &str, stream: bool) -> String {
        let base = base.trim_end_matches('/');
        match self {
            Self::OpenAi => format!("{base}/chat/completions"),
            Self::Responses => format!("{base}/responses"),
            Self::Anthropic => {
                let base = base.strip_suffix("/v1").unwrap_or(base);
                format!("{base}/v1/messages")
            }
            Self::Gemini => {
                let model = model.strip_prefix("models/").unwrap_or(model);
                let versioned = base.ends_with("/v1") || base.ends_with("/v1beta");
                let version = if versioned { "" } else { "/v1beta" };
                let call = if stream {
                    "streamGenerateContent?alt=sse"
                } else {
                    "generateContent"
                };
                format!("{base}{version}/models/{model}:{call}")
            }
        }
    }

    /// The header that carries the key, and what stands before the key in it.
    pub(super) fn key_header(self) -> (&'static str, &'static str) {
        match self {
            Self::OpenAi | Self::Responses => ("authorization", "Bearer "),
            Self::Anthropic => ("x-api-key", ""),
            Self::Gemini => ("x-goog-api-key", ""),
        }
    }

    /// Headers beside the key's.
    pub(super) fn more_headers(self) -> Option<(HeaderName, HeaderValue)> {
        (self == Self::Anthropic).then(|| {
            let name = HeaderName::from_static("anthropic-version");
            (name, HeaderValue::from_static(anthropic::VERSION))
        })
    }

    /// Fields that the caller's request fills, or that this API ignores without a word: an
    /// `extra_body` may not name them.
    pub(super) fn reserved(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi => &["model", "messages", "stream", "stream_options", "input"],
            Self::Responses => &["model", "input", "instructions", "stream"],
            Self::Anthropic => &[
                "model",
                "messages",
                "system",
                "stream",
                "max_tokens",
                "logprobs",
                "top_logprobs",
                "seed",
                "n",
                "response_format",
            ],
            Self::Gemini => &["contents", "systemInstruction"],
        }
    }

    /// The body of a call.
    pub(super) fn body(self, call: &Call<'_>) -> Value {
        match self {
            Self::OpenAi => openai::body(call),
            Self::Responses => responses::body(call),
            Self::Anthropic => anthropic::body(call),
            Self::Gemini => gemini::body(call),
        }
    }

    /// Reads a whole response, or one event of a stream.
    pub(super) fn read(self, event: &Value, draft: &mut Draft) {
        match self {
            Self::OpenAi => openai::read(event, draft),
            Self::Responses => responses::read(event, draft),
            Self::Anthropic => anthropic::read(event, draft),
            Self::Gemini => gemini::read(event, draft),
        }
    }
}

/// A question, and what of the configuration shapes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub(super) provider: Provider,
    pub(super) model: &'a str,
    pub(super) stream: bool,
    pub(super) request: &'a CompletionRequest,
}
