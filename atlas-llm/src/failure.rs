//! Why a call failed, for code that decides what to do next.

use atlas_core::{Error, ErrorKind, Usage};
use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

/// What went wrong with one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FailureCause {
    /// No connection could be made.
    Connect,
    /// The connection was lost before the answer was whole.
    Reset,
    /// A stream of tokens ended before the model said that it was done.
    CutStream,
    /// No whole answer within the time limit.
    TimedOut,
    /// The server asks to be called less often (429).
    RateLimited,
    /// The server is not ready or overloaded (503, 529), as while it loads its model.
    Unavailable,
    /// Another fault on the server's side (5xx).
    Server,
    /// The answer is not what the API promises: broken JSON, no choice, an answer too large.
    Unreadable,
    /// The chat does not fit into the model's context.
    ContextOverflow,
    /// The server does not give several answers at once.
    SamplesRefused,
    /// The server does not give log-probabilities with this model.
    LogprobsRefused,
    /// A parameter is not supported, or not with this value.
    ParameterRefused,
    /// The key is missing, wrong, or may not use the model (401, 403).
    Unauthorised,
    /// There is no such model or address (404).
    NotFound,
    /// What was paid for is used up: a quota that waiting does not bring back (402, or 429 that says so).
    QuotaSpent,
    /// The model or its filter declined to answer.
    Declined,
    /// The answer does not follow the schema that was asked for.
    SchemaBroken,
    /// Another refusal (4xx).
    Refused,
}

impl FailureCause {
    /// Whether the same call may succeed later.
    pub fn is_transient(self) -> bool {
        matches!(
            self,
            Self::Connect
                | Self::Reset
                | Self::CutStream
                | Self::TimedOut
                | Self::RateLimited
                | Self::Unavailable
                | Self::Server
        )
    }

    /// Whether every other call of this model would fail alike, until a person changes something.
    pub fn is_fatal(self) -> bool {
        matches!(
            self,
            Self::Unauthorised | Self::NotFound | Self::QuotaSpent | Self::ParameterRefused
        )
    }

    /// Whether tokens may have been spent although none were reported: the request was sent and
    /// its answer was lost.
    pub fn may_have_cost(self) -> bool {
        matches!(
            self,
            Self::Reset | Self::CutStream | Self::TimedOut | Self::Unreadable
        )
    }

    /// In words, for messages.
    fn words(self) -> &'static str {
        match self {
            Self::Connect => "no connection",
            Self::Reset => "the connection was lost",
            Self::CutStream => "the stream was cut off",
            Self::TimedOut => "no whole answer in time",
            Self::RateLimited => "too many requests",
            Self::Unavailable => "the server is loading or overloaded",
            Self::Server => "the server failed",
            Self::Unreadable => "the answer cannot be read",
            Self::ContextOverflow => "the chat does not fit into the model's context",
            Self::SamplesRefused => "several answers at once are refused",
            Self::LogprobsRefused => "log-probabilities are refused",
            Self::ParameterRefused => "a parameter is refused",
            Self::Unauthorised => "the key is refused",
            Self::NotFound => "no such model or address",
            Self::QuotaSpent => "the quota is spent",
            Self::Declined => "the model declined to answer",
            Self::SchemaBroken => "the answer does not follow the schema",
            Self::Refused => "the request is refused",
        }
    }
}

/// One failed call: the source of an [`Error`] of kind [`ErrorKind::Model`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallFailure {
    /// What went wrong.
    pub cause: FailureCause,
    /// The server's words or what was received, without secrets, shortened.
    pub message: String,
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    /// How long the server asks to wait.
    pub retry_after: Option<Duration>,
    /// The tokens that the failed call reported all the same, with those of calls before it.
    pub usage: Option<Usage>,
    /// The field of the request that is refused, where the server names one that a request can do without.
    pub parameter: Option<&'static str>,
}

impl CallFailure {
    /// A failure with a message and nothing else.
    pub fn new(cause: FailureCause, message: impl Into<String>) -> Self {
        Self {
            cause,
            message: message.into(),
            status: None,
            retry_after: None,
            usage: None,
            parameter: None,
        }
    }

    /// The failure in an error's chain of sources, if it has one.
    pub fn of(error: &Error) -> Option<&Self> {
        let mut next = error.source();
        while let Some(cause) = next {
            if let Some(found) = cause.downcast_ref() {
                return Some(found);
            }
            next = cause.source();
        }
        None
    }

    /// The error of a model with this name.
    pub fn into_error(self, model: &str) -> Error {
        Error::new(
            ErrorKind::Model,
            "ask the model",
            format!("`{model}`: {}", self.cause.words()),
        )
        .with_source(self)
    }
}

impl fmt::Display for CallFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(status) = self.status {
            write!(f, "HTTP {status}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl StdError for CallFailure {}

/// The sum of two usages.
pub(crate) fn add(one: Usage, other: Usage) -> Usage {
    Usage {
        prompt_tokens: one.prompt_tokens.saturating_add(other.prompt_tokens),
        completion_tokens: one
            .completion_tokens
            .saturating_add(other.completion_tokens),
        cached_tokens: one.cached_tokens.saturating_add(other.cached_tokens),
        reasoning_tokens: one.reasoning_tokens.saturating_add(other.reasoning_tokens),
    }
}

/// The beginning of a text, for messages.
pub(crate) fn shorten(text: &str, characters: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
