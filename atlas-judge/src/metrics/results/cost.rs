//! What single words cost.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Calls of models that were answered, with their tokens as reported.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Calls.
    pub calls: u64,
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// Money, by the models' prices; null where one is unknown.
    #[serde(default)]
    pub money: Option<f64>,
}

impl Default for Cost {
    /// Nothing, for nothing.
    fn default() -> Self {
        Self {
            calls: 0,
            prompt_tokens: 0,
            completion_tokens: 0,
            money: Some(0.0),
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        // Who was not asked costs nothing, whatever its price.
        self.money = match (self.calls == other.calls, other.calls) {
            (_, 0) => self.money,
            (true, _) => other.money,
            _ => self.money.zip(other.money).map(|(a, b)| a + b),
        };
    }
}

impl Cost {
    /// The same share of every number, counts rounded to whole ones.
    #[must_use]
    pub fn part(&self, part: u64, all: u64) -> Self {
        let of = |count: u64| (count * part + all / 2) / all.max(1);
        let share = super::super::share(part, all).unwrap_or_default();
        Self {
            calls: of(self.calls),
            prompt_tokens: of(self.prompt_tokens),
            completion_tokens: of(self.completion_tokens),
            money: self.money.map(|money| money * share),
        }
    }

    /// Tokens read and written.
    pub fn tokens(&self) -> u64 {
        self.prompt_tokens + self.completion_tokens
    }
}

/// What one member of several judges cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemberCost {
    /// Its name.
    pub model: String,
    /// Whether it was asked.
    pub asked: bool,
    /// What was paid for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid: Option<Cost>,
    /// Answers of it that were kept from before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Cost>,
}
