//! What single words cost.

use super::ResultLine;
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
    /// Those of the tokens read that came from the server's cache. Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Those of the tokens written that were thoughts. Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
    /// Seconds that the calls took, one after the other, waiting for the server's limits included. Default: 0.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub seconds: f64,
    /// Money, by the models' prices; null where one is unknown.
    #[serde(default)]
    pub money: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_nothing(seconds: &f64) -> bool {
    *seconds <= 0.0
}

impl Default for Cost {
    /// Nothing, for nothing.
    fn default() -> Self {
        Self {
            calls: 0,
            prompt_tokens: 0,
            completion_tokens: 0,
            cached_tokens: 0,
            reasoning_tokens: 0,
            seconds: 0.0,
            money: Some(0.0),
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.cached_tokens += other.cached_tokens;
        self.reasoning_tokens += other.reasoning_tokens;
        self.seconds += other.seconds;
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
            cached_tokens: of(self.cached_tokens),
            reasoning_tokens: of(self.reasoning_tokens),
            seconds: self.seconds * share,
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
    /// Where its number comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What was paid for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid: Option<Cost>,
    /// Answers of it that were kept from before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Cost>,
}

/// What one word of a judge cost.
#[derive(Clone, Debug, PartialEq)]
pub struct LineCost {
    /// Paid and kept answers; none where a model had a word and the line does not tell.
    pub cost: Option<Cost>,
    /// The members of a committee or a cascade.
    pub members: Vec<MemberCost>,
}

impl LineCost {
    /// Whose word a line has, and what it cost; none of a line without a judge's word.
    pub(super) fn of(line: &ResultLine) -> Option<(Option<String>, Self)> {
        let judge = match &line.critic {
            Some(critic) => Some(critic.variant.clone().unwrap_or_default()),
            None if line.validation.is_some() || line.deterministic.is_some() => None,
            None => return None,
        };
        // What a stage without a model decided cost nothing.
        let is_free = judge.is_none() && line.validation.is_none();
        let members = line.members.clone().unwrap_or_default();
        Some((judge, Self::new([line.paid, line.kept], members, is_free)))
    }

    pub(super) fn new(parts: [Option<Cost>; 2], members: Vec<MemberCost>, is_free: bool) -> Self {
        let mut cost = is_free.then(Cost::default);
        for part in parts.into_iter().flatten() {
            cost.get_or_insert_default().add_assign(part);
        }
        Self { cost, members }
    }
}
