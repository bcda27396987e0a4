//! A model with a hard limit.

mod call;
mod ledger;
mod limits;
mod purse;

pub use ledger::{Account, Ledger, Price};
pub use limits::Limits;
pub use purse::{BudgetExceeded, Purse};

use async_trait::async_trait;
use atlas_core::{Completion, CompletionRequest, Error, LanguageModel, RunContext, Usage};
pub(crate) use call::Cost;
#[cfg(feature = "http")]
pub(crate) use call::{Held, account, failure_cost};
use std::sync::Arc;

/// Passes calls on until a limit is reached; the call that might go beyond it is an error of kind
/// [`BudgetExceeded`](atlas_core::ErrorKind::BudgetExceeded), and nothing is sent.
///
/// Before a call, what it may cost at most is held back, so that calls side by side cannot overdraw
/// together: an estimate of its prompt, and all of its `max_tokens`. When it is done, what the model
/// reports counts instead; so does what a failed call reports. A call that is in doubt only because
/// of others under way waits for them. An answer that reports no tokens, and a call whose answer
/// was lost, count at the estimate, apart from what was reported.
///
/// Stands inside of [`Retry`](crate::Retry) and [`Checked`](crate::Checked), so that each try
/// counts.
///
/// # Cancellation
/// A call that is dropped counts at its estimate.
#[derive(Debug)]
pub struct Budget<M> {
    inner: M,
    purse: Arc<Purse>,
    price: Option<Price>,
}

impl<M: LanguageModel> Budget<M> {
    /// A budget of its own, that nothing was spent of, for a model that costs no money.
    pub fn new(inner: M, limits: Limits) -> Self {
        Self::sharing(inner, Arc::new(Purse::new(limits)), Price::default())
    }

    /// A model that spends from a purse, which other models may share. Without a price, what it costs is unknown:
    /// a limit of money does not hold it.
    pub fn sharing(inner: M, purse: Arc<Purse>, price: impl Into<Option<Price>>) -> Self {
        Self {
            inner,
            purse,
            price: price.into(),
        }
    }

    /// Requests sent and tokens spent, of all models that share the purse.
    pub fn spent(&self) -> (u64, u64) {
        let ledger = self.purse.ledger();
        (ledger.calls(), ledger.tokens())
    }

    /// What it spends from.
    pub fn purse(&self) -> &Arc<Purse> {
        &self.purse
    }
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for Budget<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn complete(
        &self,
        cx: &RunContext,
        request: &CompletionRequest,
    ) -> Result<Completion, Error> {
        let cost = |completion: &Completion, held| {
            if completion.usage == Usage::default() {
                Cost::Estimated(written(completion, held))
            } else {
                Cost::Reported(completion.usage)
            }
        };
        self.purse
            .spend(
                cx,
                self.name(),
                self.price,
                estimate(request),
                self.inner.complete(cx, request),
                cost,
            )
            .await
    }
}

/// The most that a request may use, as far as that can be told before: tokenisers of today read at
/// least two bytes of text or code a token on the whole, and a chat's frame is a few tokens a
/// message.
pub(crate) fn estimate(request: &CompletionRequest) -> Usage {
    let bytes: usize = request
        .messages
        .iter()
        .map(|message| message.content.len() + 16)
        .sum();
    let schema = request
        .json_schema
        .as_ref()
        .map_or(0, |schema| schema.to_string().len());
    Usage {
        prompt_tokens: u64::try_from((bytes + schema).div_ceil(2)).unwrap_or(u64::MAX),
        completion_tokens: u64::from(request.max_tokens),
        ..Usage::default()
    }
}

/// What an answer that reports nothing is held to have used.
pub(crate) fn written(completion: &Completion, estimate: Usage) -> Usage {
    let tokens = match &completion.logprobs {
        Some(tokens) => tokens.len(),
        None => completion.text.len().div_ceil(2),
    };
    Usage {
        completion_tokens: u64::try_from(tokens)
            .unwrap_or(u64::MAX)
            .min(estimate.completion_tokens),
        ..estimate
    }
}
