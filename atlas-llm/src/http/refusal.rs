//! What a server means by an answer that is no answer.

use super::draft::count;
use crate::failure::{CallFailure, FailureCause, shorten};
use atlas_core::Usage;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};

/// Reads a response whose status is no success.
pub(super) fn refused(status: u16, headers: &HeaderMap, body: &str, logprobs: bool) -> CallFailure {
    let parsed: Value = serde_json::from_str(body).unwrap_or_default();
    let mut failure = read(status, &parsed, body, logprobs);
    failure.retry_after = retry_after(headers).or(failure.retry_after);
    failure
}

/// Reads an error within a response whose status said success, as gateways and streams send it.
pub(super) fn embedded(response: &Value, logprobs: bool) -> Option<CallFailure> {
    // OpenAI's responses: the last event of a stream holds the response, and an error of its own is the event.
    if let Some(inner) = response.get("response").filter(|inner| inner.is_object()) {
        return embedded(inner, logprobs);
    }
    // OpenRouter says of a choice that its provider failed.
    let of_choice = response.pointer("/choices/0/error");
    if let Some(error) = of_choice.filter(|error| !error.is_null()) {
        return embedded(
            &json!({"error": error, "usage": response.get("usage")}),
            logprobs,
        );
    }
    let is_event = || {
        let is_error = response.get("type").and_then(Value::as_str) == Some("error");
        (is_error && response.get("message").is_some()).then_some(response)
    };
    let error = response.get("error").filter(|error| !error.is_null());
    let error = error.or_else(is_event)?;
    let word = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
    let code = error.get("code").or_else(|| error.get("status"));
    let status = code
        .and_then(Value::as_u64)
        .and_then(|code| u16::try_from(code).ok())
        .filter(|code| (400..600).contains(code))
        .unwrap_or(match word("type") {
            "overloaded_error" => 529,
            "rate_limit_error" => 429,
            "api_error" | "server_error" | "internal_server_error" | "" => 500,
            _ => 400,
        });
    let mut failure = read(status, response, &response.to_string(), logprobs);
    failure.status = Some(200);
    Some(failure)
}

fn read(status: u16, parsed: &Value, body: &str, logprobs: bool) -> CallFailure {
    // Gemini's streams put the object into a list.
    let parsed = parsed.get(0).unwrap_or(parsed);
    let error = parsed.get("error").unwrap_or(parsed);
    let message = [
        error.get("message"),
        Some(error),
        parsed.get("message"),
        parsed.get("detail"),
    ]
    .into_iter()
    .flatten()
    .find_map(|value| match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Array(_) => Some(value.to_string()),
        _ => None,
    });
    let message = message.unwrap_or_else(|| body.to_owned());
    let message = if message.trim().is_empty() {
        "no word of explanation".to_owned()
    } else {
        shorten(&message, 500)
    };
    let word = |key: &str| match error.get(key) {
        Some(Value::String(text)) => text.to_lowercase(),
        _ => String::new(),
    };
    let said = ServerMessage {
        message: message.to_lowercase(),
        kind: format!("{} {} {}", word("type"), word("code"), word("status")),
        param: word("param"),
    };
    let mut failure = CallFailure::new(said.cause(status, logprobs), message);
    failure.parameter = said.parameter();
    failure.status = Some(status);
    failure.retry_after = delay_in_body(error);
    failure.usage = parsed.get("usage").and_then(|usage| {
        Some(Usage {
            prompt_tokens: count(usage, "prompt_tokens")
                .or_else(|| count(usage, "input_tokens"))?,
            completion_tokens: count(usage, "completion_tokens")
                .or_else(|| count(usage, "output_tokens"))
                .unwrap_or_default(),
            ..Usage::default()
        })
    });
    failure
}

/// A server's words in lower case.
struct ServerMessage {
    message: String,
    kind: String,
    param: String,
}

impl ServerMessage {
    fn has(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.message.contains(word))
    }

    /// The field that is meant, of those that can be left out or be named otherwise.
    fn parameter(&self) -> Option<&'static str> {
        let names = super::learned::FIELDS;
        let by_name = names.iter().find(|name| self.param == **name);
        // `'temperature' does not support 0 with this model`, in any quotes.
        let quoted = || {
            names.iter().find(|name| {
                let mut signs = ["'", "`", "\""].iter();
                signs.any(|sign| self.message.contains(&format!("{sign}{name}{sign}")))
            })
        };
        by_name.or_else(quoted).copied()
    }

    fn cause(&self, status: u16, logprobs: bool) -> FailureCause {
        if self.overflows() {
            return FailureCause::ContextOverflow;
        }
        match status {
            // The quota does not come back by waiting.
            402 => FailureCause::QuotaSpent,
            429 if self.kind.contains("insufficient_quota") => FailureCause::QuotaSpent,
            // LiteLLM's word for a key, a user or a team, with a 400 or a 429.
            400 | 429 if self.kind.contains("budget_exceeded") => FailureCause::QuotaSpent,
            // OpenRouter's for its free models: no wait of ours lasts a day.
            429 if self.has(&["per-day"]) => FailureCause::QuotaSpent,
            429 => FailureCause::RateLimited,
            408 | 504 => FailureCause::TimedOut,
            503 | 529 => FailureCause::Unavailable,
            501 => FailureCause::Refused,
            500.. => FailureCause::Server,
            401 | 403 => FailureCause::Unauthorised,
            413 => FailureCause::ContextOverflow,
            400..500 => self.refusal(status, logprobs),
            _ => FailureCause::Refused,
        }
    }

    fn overflows(&self) -> bool {
        let kind = ["context_length", "exceed_context", "context_window"];
        kind.iter().any(|word| self.kind.contains(word))
            || self.has(&["prompt is too long", "input is too long", "too many tokens"])
            // llama.cpp's word for a text to embed that is longer than its batch, with a 500.
            || self.has(&["too large to process"])
            // vLLM's where the question leaves no room for an answer.
            || self.has(&["max_tokens must be at least 1, got -"])
            || (self.has(&[
                "context size",
                "context length",
                "context window",
                "context limit",
                "token count",
            ]) && self.has(&["exceed", "maximum", "larger", "too long"]))
    }

    fn refusal(&self, status: u16, logprobs: bool) -> FailureCause {
        if self.has(&["api key not valid", "invalid api key", "api_key_invalid"]) {
            return FailureCause::Unauthorised;
        }
        if self.param.contains("logprobs") || self.has(&["logprob", "log prob"]) {
            return if logprobs {
                FailureCause::LogprobsRefused
            } else {
                FailureCause::ParameterRefused
            };
        }
        if self.param == "n" || self.has(&["'n'", "`n`", "\"n\"", "n must be", "n > 1", "n>1"]) {
            return FailureCause::SamplesRefused;
        }
        let unsupported = [
            "unsupported",
            "not supported",
            "does not support",
            "unrecognized",
            "unknown field",
            "unknown name",
            "unknown parameter",
            "extra inputs",
            "not permitted",
        ];
        if !self.param.is_empty() || self.kind.contains("unsupported") || self.has(&unsupported) {
            return FailureCause::ParameterRefused;
        }
        if status == 404 {
            FailureCause::NotFound
        } else {
            FailureCause::Refused
        }
    }
}

/// How long the server asks to wait.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let milliseconds = text("retry-after-ms").and_then(|value| value.parse::<f64>().ok());
    if let Some(milliseconds) = milliseconds {
        return Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    }
    let asked = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = asked.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = httpdate::parse_http_date(asked).ok()?;
    // By the server's own clock, where it shows it: ours may be off.
    let now = text(DATE.as_str())
        .and_then(|date| httpdate::parse_http_date(date).ok())
        .unwrap_or_else(SystemTime::now);
    Some(until.duration_since(now).unwrap_or_default())
}

/// Gemini's way to say the same: a detail `{"retryDelay": "37s"}`.
fn delay_in_body(error: &Value) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let delay = details
        .iter()
        .find_map(|detail| detail.get("retryDelay")?.as_str())?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}
