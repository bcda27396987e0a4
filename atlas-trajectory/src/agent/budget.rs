//! What one attempt may spend.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Upper bounds of one attempt. What an agent does not tell (tokens, money) cannot bound it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AttemptBudget {
    /// Commands in the sandbox. Default 250.
    pub steps: u64,
    /// Tokens of prompts and answers together. Default: no bound.
    pub tokens: Option<u64>,
    /// Wall time in seconds. Default 3,600.
    pub seconds: u64,
    /// US dollars. Default: no bound.
    pub cost_usd: Option<f64>,
    /// Seconds of one command; an agent may ask for less. Default 120.
    pub command_seconds: u64,
    /// Bytes of a command's output that the agent sees. Default 1 MiB.
    pub output_bytes: u64,
}

impl Default for AttemptBudget {
    fn default() -> Self {
        Self {
            steps: 250,
            tokens: None,
            seconds: 3600,
            cost_usd: None,
            command_seconds: 120,
            output_bytes: 1 << 20,
        }
    }
}

/// Which bound an attempt reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetKind {
    /// [`AttemptBudget::steps`].
    Steps,
    /// [`AttemptBudget::tokens`].
    Tokens,
    /// [`AttemptBudget::seconds`].
    Seconds,
    /// [`AttemptBudget::cost_usd`].
    Money,
}

impl fmt::Display for BudgetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Steps => "steps",
            Self::Tokens => "tokens",
            Self::Seconds => "seconds",
            Self::Money => "money",
        })
    }
}

/// What an attempt spent, as far as the agent told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentUsage {
    /// Calls of the model.
    pub calls: u64,
    /// Tokens of prompts.
    pub prompt_tokens: u64,
    /// Tokens of answers.
    pub completion_tokens: u64,
    /// US dollars.
    pub cost_usd: f64,
}

impl AgentUsage {
    /// Prompts and answers together.
    pub fn tokens(&self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }

    /// Adds what was spent since; a negative or endless cost counts as none.
    pub fn add(&mut self, more: Self) {
        self.calls = self.calls.saturating_add(more.calls);
        self.prompt_tokens = self.prompt_tokens.saturating_add(more.prompt_tokens);
        self.completion_tokens = self
            .completion_tokens
            .saturating_add(more.completion_tokens);
        if more.cost_usd.is_finite() && more.cost_usd > 0.0 {
            self.cost_usd += more.cost_usd;
        }
    }
}
