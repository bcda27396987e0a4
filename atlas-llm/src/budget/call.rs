//! One call and what it costs.

use super::ledger::{Account, Price};
use crate::failure::CallFailure;
use atlas_core::Usage;

/// What is held back for one call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    pub(super) tokens: u64,
    pub(super) money: f64,
}

/// A call that was begun: it has to be settled, given back or left.
#[derive(Debug)]
pub(crate) struct Held {
    pub(super) model: String,
    pub(super) price: Option<Price>,
    pub(super) estimate: Usage,
    pub(super) hold: Hold,
    /// Its number in the file of exchanges.
    pub(crate) call: Option<i64>,
}

impl Held {
    /// As the call counts as long as nothing is known of its end.
    pub(crate) fn account(&self) -> Account {
        account(self.price, false, &Cost::Estimated(self.estimate))
    }
}

/// What a call turned out to cost.
#[derive(Debug)]
pub(crate) enum Cost {
    /// The model reported it.
    Reported(Usage),
    /// Nothing was reported, and this was probably spent.
    Estimated(Usage),
    /// Nothing was spent.
    Nothing,
}

/// What a failed call cost: what it reported; if that is lost, and it may have cost something, its estimate.
pub(crate) fn failure_cost(failure: &CallFailure, estimate: Usage) -> Cost {
    match failure.usage {
        Some(usage) => Cost::Reported(usage),
        None if failure.cause.may_have_cost() => Cost::Estimated(estimate),
        None => Cost::Nothing,
    }
}

/// The account of one call.
pub(crate) fn account(price: Option<Price>, failed: bool, cost: &Cost) -> Account {
    let mut account = Account {
        calls: 1,
        failed_calls: u64::from(failed),
        price,
        ..Account::default()
    };
    match cost {
        Cost::Reported(usage) => {
            account.prompt_tokens = usage.prompt_tokens;
            account.completion_tokens = usage.completion_tokens;
            account.cached_tokens = usage.cached_tokens;
            account.reasoning_tokens = usage.reasoning_tokens;
        }
        Cost::Estimated(usage) => {
            account.unreported_calls = 1;
            account.estimated_prompt_tokens = usage.prompt_tokens;
            account.estimated_completion_tokens = usage.completion_tokens;
        }
        Cost::Nothing => {}
    }
    account
}

pub(super) fn hold(price: Option<Price>, estimate: Usage) -> Hold {
    Hold {
        tokens: estimate
            .prompt_tokens
            .saturating_add(estimate.completion_tokens),
        money: price.map_or(0.0, |price| price.of(estimate)),
    }
}
