//! Language models, as far as Atlas needs them.

use crate::{Error, RunContext};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions.
    System,
    /// The caller.
    User,
    /// The model.
    Assistant,
}

/// One message of a chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatMessage {
    /// Who.
    pub role: Role,
    /// What.
    pub content: String,
}

/// What is asked of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompletionRequest {
    /// The chat so far.
    pub messages: Vec<ChatMessage>,
    /// Most tokens to answer with.
    pub max_tokens: u32,
    /// Sampling temperature; 0 is greedy.
    pub temperature: f64,
    /// Seed, where the model takes one.
    pub seed: Option<u64>,
    /// How many alternatives per token to return log-probabilities for; absent asks for none.
    pub top_logprobs: Option<u8>,
    /// JSON schema the answer must follow. The caller validates whatever the model claims.
    pub json_schema: Option<Value>,
}

/// Log-probability of one token, in nats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenLogprob {
    /// The token's bytes.
    pub bytes: Vec<u8>,
    /// Its log-probability.
    pub logprob: f64,
    /// The alternatives that were returned, the token itself included where the API does so.
    pub top: Vec<(Vec<u8>, f64)>,
}

/// Why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// It was done.
    Stop,
    /// It reached `max_tokens`: the text is cut off.
    Length,
    /// Anything else, in the API's word.
    Other(String),
}

/// Tokens used by one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// Tokens among those read that the server took from a cache, where it tells them. Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Tokens among those written that are thoughts, where the server tells them. Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A model's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// The text.
    pub text: String,
    /// Log-probabilities, if the response held them. Capability is read from the response, never
    /// from the request having been accepted.
    pub logprobs: Option<Vec<TokenLogprob>>,
    /// Mean log-probability of the answer's tokens in nats, where the response held only that
    /// (Gemini's `avgLogprobs`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avg_logprob: Option<f64>,
    /// Why it stopped.
    pub finish: FinishReason,
    /// What it cost.
    pub usage: Usage,
    /// The model that answered, as it names itself.
    pub model: String,
}

/// A chat model: messages in, text and token log-probabilities out.
///
/// # Contract
/// - What the response did not hold is absent, never invented.
/// - A refused, unreadable or missing answer is an [`Error`] of kind
///   [`ErrorKind::Model`](crate::ErrorKind::Model); an answer cut off by its limit is a
///   [`Completion`] that says so. A call that a budget forbids is of kind
///   [`ErrorKind::BudgetExceeded`](crate::ErrorKind::BudgetExceeded).
/// - Keys and other secrets appear in no error.
///
/// # Cancellation
/// Raising `cx.cancel` aborts the call with [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled);
/// the provider may still charge for it.
#[async_trait]
pub trait LanguageModel: fmt::Debug + Send + Sync {
    /// The model's configured name.
    fn name(&self) -> &str;

    /// Asks.
    ///
    /// # Errors
    /// See the contract.
    async fn complete(
        &self,
        cx: &RunContext,
        request: &CompletionRequest,
    ) -> Result<Completion, Error>;
}

macro_rules! forward_language_model {
    ($($ty:ty),+) => {$(
        #[deny(clippy::missing_trait_methods)]
        #[async_trait]
        impl<M: LanguageModel + ?Sized> LanguageModel for $ty {
            fn name(&self) -> &str { (**self).name() }
            async fn complete(
                &self,
                cx: &RunContext,
                request: &CompletionRequest,
            ) -> Result<Completion, Error> {
                (**self).complete(cx, request).await
            }
        }
    )+};
}
forward_language_model!(&M, Box<M>, Arc<M>);
