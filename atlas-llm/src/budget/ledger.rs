//! What was spent.

use atlas_core::Usage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a million tokens cost, in any currency, the same one as the budget's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// A million tokens read.
    pub input: f64,
    /// A million tokens written.
    pub output: f64,
    /// A million tokens read from the server's cache. Default: as those that are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// The part of all that which is paid for a question in a batch: 0.5 is half. Default: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<f64>,
}

impl Price {
    /// The price of what is asked in batches: [`Price::batch`] of it, the whole where that is absent.
    #[must_use]
    pub fn in_batches(self) -> Self {
        let part = self.batch.unwrap_or(1.0);
        Self {
            input: self.input * part,
            output: self.output * part,
            cached_input: self.cached_input.map(|amount| amount * part),
            batch: None,
        }
    }

    /// What these tokens cost.
    #[expect(
        clippy::cast_precision_loss,
        reason = "exact below 2^53 tokens, which nobody can pay for"
    )]
    pub fn of(self, usage: Usage) -> f64 {
        let cached = usage.cached_tokens.min(usage.prompt_tokens);
        let read = (usage.prompt_tokens - cached) as f64 * self.input
            + cached as f64 * self.cached_input.unwrap_or(self.input);
        (read + usage.completion_tokens as f64 * self.output) / 1e6
    }
}

/// What one model spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// Requests sent.
    pub calls: u64,
    /// Those of them that gave no answer.
    pub failed_calls: u64,
    /// Tokens read, as the model reported them.
    pub prompt_tokens: u64,
    /// Tokens written, as the model reported them.
    pub completion_tokens: u64,
    /// Those of the tokens read that came from the server's cache, as it reported them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Those of the tokens written that were thoughts, as it reported them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
    /// Calls that may have cost something and reported nothing.
    pub unreported_calls: u64,
    /// Tokens that those calls are held to have read, by estimate.
    pub estimated_prompt_tokens: u64,
    /// Tokens that those calls are held to have written, by estimate.
    pub estimated_completion_tokens: u64,
    /// The price that the money is reckoned by; none where it is unknown.
    pub price: Option<Price>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Account {
    /// Adds what another account of the same model holds. The price is the other's, where it has one.
    pub(crate) fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.failed_calls += other.failed_calls;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.cached_tokens += other.cached_tokens;
        self.reasoning_tokens += other.reasoning_tokens;
        self.unreported_calls += other.unreported_calls;
        self.estimated_prompt_tokens += other.estimated_prompt_tokens;
        self.estimated_completion_tokens += other.estimated_completion_tokens;
        self.price = other.price.or(self.price);
    }

    /// Takes away what was added before.
    #[cfg(feature = "http")]
    pub(crate) fn subtract(&mut self, other: &Self) {
        let less = |count: &mut u64, by: u64| *count = count.saturating_sub(by);
        less(&mut self.calls, other.calls);
        less(&mut self.failed_calls, other.failed_calls);
        less(&mut self.prompt_tokens, other.prompt_tokens);
        less(&mut self.completion_tokens, other.completion_tokens);
        less(&mut self.cached_tokens, other.cached_tokens);
        less(&mut self.reasoning_tokens, other.reasoning_tokens);
        less(&mut self.unreported_calls, other.unreported_calls);
        less(
            &mut self.estimated_prompt_tokens,
            other.estimated_prompt_tokens,
        );
        less(
            &mut self.estimated_completion_tokens,
            other.estimated_completion_tokens,
        );
    }

    /// Tokens that the model reported.
    pub fn usage(&self) -> Usage {
        Usage {
            prompt_tokens: self.prompt_tokens,
            completion_tokens: self.completion_tokens,
            cached_tokens: self.cached_tokens,
            reasoning_tokens: self.reasoning_tokens,
        }
    }

    /// Tokens that count against the limit: those reported and those estimated.
    pub fn tokens(&self) -> u64 {
        self.prompt_tokens
            .saturating_add(self.completion_tokens)
            .saturating_add(self.estimated_prompt_tokens)
            .saturating_add(self.estimated_completion_tokens)
    }

    /// Money that counts against the limit; unknown where tokens were spent and there is no price.
    pub fn money(&self) -> Option<f64> {
        let Some(price) = self.price else {
            return (self.tokens() == 0).then_some(0.0);
        };
        let estimated = Usage {
            prompt_tokens: self.estimated_prompt_tokens,
            completion_tokens: self.estimated_completion_tokens,
            ..Usage::default()
        };
        Some(price.of(self.usage()) + price.of(estimated))
    }
}

/// What was spent, by the configured name of the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// One account for each model.
    pub models: BTreeMap<String, Account>,
}

impl Ledger {
    /// Requests sent.
    pub fn calls(&self) -> u64 {
        self.models.values().map(|account| account.calls).sum()
    }

    /// Tokens that count against the limit.
    pub fn tokens(&self) -> u64 {
        self.models.values().map(Account::tokens).sum()
    }

    /// Tokens that the models reported.
    pub fn usage(&self) -> Usage {
        self.models.values().fold(Usage::default(), |sum, account| {
            crate::failure::add(sum, account.usage())
        })
    }

    /// Money that counts against the limit; unknown where that of one model is.
    pub fn money(&self) -> Option<f64> {
        self.models.values().map(Account::money).sum()
    }

    /// The money of those models whose price is known.
    pub(crate) fn known_money(&self) -> f64 {
        self.models.values().filter_map(Account::money).sum()
    }
}
