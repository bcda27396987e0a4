//! Why something was not done, as a client reads it.

use crate::wire::{ErrorAnswer, ErrorTold};
use atlas_core::Error;
use axum::Json;
use axum::http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

/// Status, a word for programs and a sentence for people.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    kind: &'static str,
    message: String,
    retry_after: Option<u64>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            kind,
            message: message.into(),
            retry_after: None,
        }
    }

    fn after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// The one answer to wrong tokens and to names that nobody has.
    pub(crate) fn unknown() -> Self {
        let said = "there is no such episode, or the token is another's";
        Self::new(StatusCode::NOT_FOUND, "unknown_episode", said)
    }

    pub(crate) fn no_bearer() -> Self {
        let said = "a reset must bring the server's bearer token";
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", said)
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_input", message)
    }

    pub(crate) fn busy() -> Self {
        let said = "another request on this episode is under way";
        Self::new(StatusCode::CONFLICT, "busy", said).after(1)
    }

    pub(crate) fn full(message: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "full", message).after(1)
    }

    pub(crate) fn stopping() -> Self {
        let said = "the server is being stopped: no episode begins";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", said).after(30)
    }

    pub(crate) fn ended(cause: &str) -> Self {
        let said = format!("the episode has ended: {cause}");
        Self::new(StatusCode::GONE, "ended", said)
    }

    /// What the host or the journal could not do. What may do another time can be asked again.
    pub(crate) fn failed(why: &Error) -> Self {
        if why.is_transient() || why.kind() == atlas_core::ErrorKind::Io {
            let status = StatusCode::SERVICE_UNAVAILABLE;
            Self::new(status, why.kind().as_str(), why.chain()).after(2)
        } else {
            let status = match why.kind() {
                atlas_core::ErrorKind::InvalidInput | atlas_core::ErrorKind::NotFound => {
                    StatusCode::UNPROCESSABLE_ENTITY
                }
                _ => StatusCode::INTERNAL_SERVER_ERROR,
            };
            Self::new(status, why.kind().as_str(), why.chain())
        }
    }

    pub(crate) fn defect() -> Self {
        let said = "a defect in the server: its log tells more";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", said)
    }
}

/// The word of a refusal, beside the response, for whoever counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind(pub(crate) &'static str);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let error = ErrorTold {
            kind: self.kind.to_owned(),
            message: self.message,
        };
        let mut response = (self.status, Json(ErrorAnswer { error })).into_response();
        response.extensions_mut().insert(Kind(self.kind));
        if let Some(seconds) = self.retry_after {
            response
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            response
                .headers_mut()
                .insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
