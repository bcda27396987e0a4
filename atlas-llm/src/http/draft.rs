//! What was read of an answer up to now.

use crate::failure::{CallFailure, FailureCause, shorten};
use atlas_core::{Completion, FinishReason, TokenLogprob, Usage};
use serde_json::Value;

/// An answer that grows: by one whole response, or by the pieces of a stream.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) text: String,
    /// Whether there was any choice, candidate or message at all.
    pub(super) seen: bool,
    pub(super) tokens: Option<Vec<TokenLogprob>>,
    /// A token without a value was among them: then none are believed.
    pub(super) tokens_broken: bool,
    pub(super) avg_logprob: Option<f64>,
    /// Why the model stopped, in the API's word.
    pub(super) finish: Option<String>,
    /// The stream says that it is over.
    pub(super) over: bool,
    pub(super) prompt_tokens: Option<u64>,
    pub(super) completion_tokens: Option<u64>,
    /// Of the tokens read, those from the server's cache.
    pub(super) cached_tokens: Option<u64>,
    /// Of the tokens written, those of thoughts.
    pub(super) reasoning_tokens: Option<u64>,
    pub(super) model: Option<String>,
    /// What the model said instead of an answer.
    pub(super) declined: Option<String>,
}

impl Draft {
    /// The tokens that were reported, if any were.
    pub(super) fn usage(&self) -> Option<Usage> {
        (self.prompt_tokens.is_some() || self.completion_tokens.is_some()).then(|| Usage {
            prompt_tokens: self.prompt_tokens.unwrap_or_default(),
            completion_tokens: self.completion_tokens.unwrap_or_default(),
            cached_tokens: self.cached_tokens.unwrap_or_default(),
            reasoning_tokens: self.reasoning_tokens.unwrap_or_default(),
        })
    }

    /// Whether the model said that it was done.
    pub(super) fn is_whole(&self) -> bool {
        self.finish.is_some() || self.over
    }

    /// The failure of an answer that did not become whole.
    pub(super) fn failure(&self, cause: FailureCause, what: &str) -> CallFailure {
        let received = if self.text.is_empty() {
            "nothing of the answer was received".to_owned()
        } else {
            format!(
                "received {} characters: `{}`",
                self.text.chars().count(),
                shorten(&self.text, 200)
            )
        };
        let mut failure = CallFailure::new(cause, format!("{what}; {received}"));
        failure.usage = self.usage();
        failure
    }

    pub(super) fn into_completion(self, model: &str) -> Result<Completion, CallFailure> {
        let usage = self.usage();
        let fail = |cause, message: &str| {
            let mut failure = CallFailure::new(cause, message);
            failure.usage = usage;
            Err(failure)
        };
        if let Some(words) = &self.declined {
            return fail(FailureCause::Declined, &shorten(words, 500));
        }
        if !self.seen {
            return fail(FailureCause::Unreadable, "the response holds no answer");
        }
        let finish = match self.finish.as_deref() {
            Some(word) => finish(word),
            None => FinishReason::Other("absent".to_owned()),
        };
        let mut logprobs = self
            .tokens
            .filter(|tokens| !tokens.is_empty() && !self.tokens_broken);
        let mut avg_logprob = self.avg_logprob.filter(|_| logprobs.is_none());
        let mut text = self.text;
        let thought = reasoning(&text);
        if thought > 0 {
            logprobs = logprobs.and_then(|tokens| behind(tokens, thought));
            // Of the thoughts, too.
            avg_logprob = None;
            text.drain(..thought);
        }
        Ok(Completion {
            text,
            avg_logprob,
            logprobs,
            finish,
            usage: usage.unwrap_or_default(),
            model: self.model.unwrap_or_else(|| model.to_owned()),
        })
    }
}

/// How many bytes of an answer are the model's thoughts: what stands between the marks that reasoning models write, the
/// first of which the server may have put into the prompt. Thoughts that were cut off are all there is.
fn reasoning(text: &str) -> usize {
    const MARKS: [(&str, &str); 3] = [
        ("<think>", "</think>"),
        ("<thinking>", "</thinking>"),
        ("<reasoning>", "</reasoning>"),
    ];
    let start = text.trim_start();
    for (open, close) in MARKS {
        let end = text.find(close).map(|at| at + close.len());
        let thought = match end {
            None if start.starts_with(open) => text.len(),
            // An answer in a form of its own may well hold the words.
            Some(end) if start.starts_with(open) || !start.starts_with(['{', '[', '`', '"']) => end,
            _ => continue,
        };
        let blanks = text[thought..].len() - text[thought..].trim_start().len();
        return thought + blanks;
    }
    0
}

/// The tokens behind the first so many bytes; none where a token stands across.
fn behind(tokens: Vec<TokenLogprob>, bytes: usize) -> Option<Vec<TokenLogprob>> {
    let mut passed = 0;
    let mut rest = tokens.into_iter();
    while passed < bytes {
        passed += rest.next()?.bytes.len();
    }
    (passed == bytes).then(|| rest.collect())
}

/// The APIs' many words for two reasons.
fn finish(word: &str) -> FinishReason {
    match word.to_ascii_lowercase().as_str() {
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" => FinishReason::Stop,
        "length"
        | "max_tokens"
        | "max_output_tokens"
        | "model_length"
        | "model_context_window_exceeded" => FinishReason::Length,
        _ => FinishReason::Other(word.to_owned()),
    }
}

/// A text that is not empty.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str().filter(|text| !text.is_empty())
}

/// A count. Some servers write whole numbers with a point.
pub(super) fn count(value: &Value, key: &str) -> Option<u64> {
    let value = value.get(key)?;
    value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| *number >= 0.0)?;
        format!("{number:.0}").parse().ok()
    })
}
