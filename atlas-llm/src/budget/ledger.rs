//! What was spent.

use atlas_core::Usage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a million tokens cost, in any currency, the same one as the budget's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// A million tokens read.
    pub input: f64,
    /// A million tokens written.
    pub output: f64,
}

impl Price {
    #[expect(
        clippy::cast_precision_loss,
        reason = "exact below 2^53 tokens, which nobody can pay for"
    )]
    pub(crate) fn of(self, usage: Usage) -> f64 {
        (usage.prompt_tokens as f64 * self.input + usage.completion_tokens as f64 * self.output)
            / 1e6
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
    /// Calls that may have cost something and reported nothing.
    pub unreported_calls: u64,
    /// Tokens that those calls are held to have read, by estimate.
    pub estimated_prompt_tokens: u64,
    /// Tokens that those calls are held to have written, by estimate.
    pub estimated_completion_tokens: u64,
    /// The price that the money is reckoned by.
    pub price: Price,
}

impl Account {
    /// Tokens that the model reported.
    pub fn usage(&self) -> Usage {
        Usage {
            prompt_tokens: self.prompt_tokens,
            completion_tokens: self.completion_tokens,
        }
    }

    /// Tokens that count against the limit: those reported and those estimated.
    pub fn tokens(&self) -> u64 {
        self.prompt_tokens
            .saturating_add(self.completion_tokens)
            .saturating_add(self.estimated_prompt_tokens)
            .saturating_add(self.estimated_completion_tokens)
    }

    /// Money that counts against the limit.
    pub fn money(&self) -> f64 {
        let estimated = Usage {
            prompt_tokens: self.estimated_prompt_tokens,
            completion_tokens: self.estimated_completion_tokens,
        };
        self.price.of(self.usage()) + self.price.of(estimated)
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

    /// Money that counts against the limit.
    pub fn money(&self) -> f64 {
        self.models.values().map(Account::money).sum()
    }
}
