//! A budget that several models share.

use super::ledger::{Account, Ledger, Price};
use super::limits::Limits;
use crate::failure::CallFailure;
use atlas_core::{Error, ErrorKind, RunContext, Usage};
use std::error::Error as StdError;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Which limit a call would have broken: the source of an error of kind
/// [`ErrorKind::BudgetExceeded`].
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetExceeded {
    /// `calls`, `tokens`, `money` or `time`.
    pub what: &'static str,
    /// What is allowed in all.
    pub limit: f64,
    /// What was spent before the call.
    pub spent: f64,
    /// The most that the call might have cost.
    pub needed: f64,
}

impl fmt::Display for BudgetExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} {} spent, and the next call may need {}; raise the budget to go on",
            self.spent, self.limit, self.what, self.needed
        )
    }
}

impl StdError for BudgetExceeded {}

/// Limits, and what was spent of them. Several [`Budget`](super::Budget)s may share one.
#[derive(Debug, Default)]
pub struct Purse {
    limits: Limits,
    state: Mutex<State>,
    settled: Notify,
}

#[derive(Debug, Default)]
struct State {
    ledger: Ledger,
    /// Calls that are under way, and the most that they may cost together.
    under_way: u64,
    reserved_tokens: u64,
    reserved_money: f64,
    started: Option<Instant>,
    /// By how many tokens a call went beyond what was reserved for it, at most: the next
    /// reservations are larger by that.
    excess: Usage,
    /// Whether any call was answered.
    measured: bool,
}

/// What is held back for one call.
#[derive(Clone, Copy, Debug)]
struct Hold {
    tokens: u64,
    money: f64,
}

impl Purse {
    /// A full purse.
    pub fn new(limits: Limits) -> Self {
        Self::resume(limits, Ledger::default())
    }

    /// A purse of which this was spent before, by an earlier run. Its time starts anew.
    pub fn resume(limits: Limits, ledger: Ledger) -> Self {
        let state = State {
            ledger,
            ..State::default()
        };
        Self {
            limits,
            state: Mutex::new(state),
            settled: Notify::new(),
        }
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What was spent up to now, without the calls that are under way.
    pub fn ledger(&self) -> Ledger {
        self.lock().ledger.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a call within the limits. `estimate` is the most that it may use; `cost` says what an answer
    /// reports, given what was held back for it.
    pub(crate) async fn spend<T>(
        &self,
        cx: &RunContext,
        model: &str,
        price: Option<Price>,
        estimate: Usage,
        call: impl Future<Output = Result<T, Error>>,
        cost: impl FnOnce(&T, Usage) -> Cost,
    ) -> Result<T, Error> {
        let reservation = tokio::select! {
            reservation = self.reserve(model, price, estimate) => reservation?,
            () = cx.cancel.cancelled() => {
                cx.check("ask the model")?;
                return Err(Error::new(ErrorKind::Cancelled, "ask the model", "was cancelled"));
            }
        };
        let answer = match self.time_left() {
            None => call.await,
            Some(left) => match tokio::time::timeout(left, call).await {
                Ok(answer) => answer,
                // The reservation is dropped, and so books its estimate.
                Err(_) => return Err(self.out_of_time(model)),
            },
        };
        let cost = match &answer {
            Ok(answer) => cost(answer, reservation.estimate()),
            Err(why) => match CallFailure::of(why) {
                Some(failure) => match failure.usage {
                    Some(usage) => Cost::Reported(usage),
                    None if failure.cause.may_have_cost() => {
                        Cost::Estimated(reservation.estimate())
                    }
                    None => Cost::Nothing,
                },
                None if why.kind() == ErrorKind::Cancelled => {
                    Cost::Estimated(reservation.estimate())
                }
                None => Cost::Nothing,
            },
        };
        reservation.settle(answer.is_err(), &cost);
        answer
    }

    /// Holds back what a call may cost at most, and waits for calls under way where only they stand
    /// in the way.
    async fn reserve(
        &self,
        model: &str,
        price: Option<Price>,
        estimate: Usage,
    ) -> Result<Reservation<'_>, Error> {
        loop {
            // Made before the look, so that no call that settles between the two is missed.
            let settled = self.settled.notified();
            tokio::pin!(settled);
            settled.as_mut().enable();
            let tried = self.try_reserve(model, price, estimate);
            match tried {
                Attempt::Taken(hold) => {
                    return Ok(Reservation {
                        purse: self,
                        model: model.to_owned(),
                        estimate,
                        hold,
                        done: false,
                    });
                }
                Attempt::Over(why) => return Err(exceeded(model, why)),
                Attempt::Later => {}
            }
            match self.time_left() {
                Some(left) => drop(tokio::time::timeout(left, settled).await),
                None => settled.await,
            }
        }
    }

    fn try_reserve(&self, model: &str, price: Option<Price>, estimate: Usage) -> Attempt {
        let mut guard = self.lock();
        let state = &mut *guard;
        let now = Instant::now();
        let started = *state.started.get_or_insert(now);
        if let Some(wall) = self.limits.wall() {
            let spent = now.duration_since(started);
            if spent >= wall {
                return Attempt::Over(BudgetExceeded {
                    what: "seconds",
                    limit: wall.as_secs_f64(),
                    spent: spent.as_secs_f64().floor(),
                    needed: 0.0,
                });
            }
        }
        // How far the estimate of a prompt is off is known only when a first call has told what it
        // read: until then calls go one at a time, or many of them could overdraw together.
        let limited = self.limits.tokens.is_some() || self.limits.money.is_some();
        if limited && !state.measured && state.under_way > 0 {
            return Attempt::Later;
        }
        let estimate = Usage {
            prompt_tokens: estimate
                .prompt_tokens
                .saturating_add(state.excess.prompt_tokens),
            completion_tokens: estimate
                .completion_tokens
                .saturating_add(state.excess.completion_tokens),
            cached_tokens: 0,
        };
        let hold = Hold {
            tokens: estimate
                .prompt_tokens
                .saturating_add(estimate.completion_tokens),
            money: price.map_or(0.0, |price| price.of(estimate)),
        };
        let over = |what, limit: f64, spent: f64, needed: f64| BudgetExceeded {
            what,
            limit,
            spent,
            needed,
        };
        if let Some(limit) = self.limits.calls {
            // A call that is under way counts already: it is never given back.
            let spent = state.ledger.calls() + state.under_way;
            if spent >= limit {
                return Attempt::Over(over("calls", float(limit), float(spent), 1.0));
            }
        }
        if let Some(limit) = self.limits.tokens {
            let spent = state.ledger.tokens();
            if spent.saturating_add(hold.tokens) > limit {
                let why = over("tokens", float(limit), float(spent), float(hold.tokens));
                return Attempt::Over(why);
            }
            if spent
                .saturating_add(hold.tokens)
                .saturating_add(state.reserved_tokens)
                > limit
            {
                return Attempt::Later;
            }
        }
        if let Some(limit) = self.limits.money {
            let spent = state.ledger.known_money();
            if spent + hold.money > limit {
                return Attempt::Over(over("money", limit, spent, hold.money));
            }
            if spent + hold.money + state.reserved_money > limit {
                return Attempt::Later;
            }
        }
        state.under_way += 1;
        state.reserved_tokens += hold.tokens;
        state.reserved_money += hold.money;
        state
            .ledger
            .models
            .entry(model.to_owned())
            .or_default()
            .price = price;
        Attempt::Taken(hold)
    }

    /// How long calls may still take.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        let wall = self.limits.wall()?;
        let started = self.lock().started?;
        Some(wall.saturating_sub(started.elapsed()))
    }

    /// The error of a call that the time limit cut off.
    pub(crate) fn out_of_time(&self, model: &str) -> Error {
        let limit = self.limits.seconds.unwrap_or_default();
        let why = BudgetExceeded {
            what: "seconds",
            limit,
            spent: limit,
            needed: 0.0,
        };
        exceeded(model, why)
    }
}

fn exceeded(model: &str, why: BudgetExceeded) -> Error {
    Error::new(
        ErrorKind::BudgetExceeded,
        "ask the model: its budget is used up:",
        format!("{} {} for `{model}`", why.limit, why.what),
    )
    .with_source(why)
}

#[expect(clippy::cast_precision_loss, reason = "only for messages")]
fn float(count: u64) -> f64 {
    count as f64
}

enum Attempt {
    Taken(Hold),
    Later,
    Over(BudgetExceeded),
}

/// What a call turned out to cost.
pub(crate) enum Cost {
    /// The model reported it.
    Reported(Usage),
    /// Nothing was reported, and this was probably spent.
    Estimated(Usage),
    /// Nothing was spent.
    Nothing,
}

/// A call under way. Dropped unsettled, as when its future is dropped, it counts at the estimate:
/// the model may have worked on it.
struct Reservation<'a> {
    purse: &'a Purse,
    model: String,
    estimate: Usage,
    hold: Hold,
    done: bool,
}

impl Reservation<'_> {
    fn estimate(&self) -> Usage {
        self.estimate
    }

    fn settle(mut self, failed: bool, cost: &Cost) {
        self.book(failed, cost);
    }

    fn book(&mut self, failed: bool, cost: &Cost) {
        self.done = true;
        let mut guard = self.purse.lock();
        let state = &mut *guard;
        state.under_way -= 1;
        state.reserved_tokens -= self.hold.tokens;
        state.reserved_money -= self.hold.money;
        if state.under_way == 0 {
            state.reserved_money = 0.0; // sums of floats leave dust
        }
        let account: &mut Account = state.ledger.models.entry(self.model.clone()).or_default();
        account.calls += 1;
        account.failed_calls += u64::from(failed);
        match cost {
            Cost::Reported(usage) => {
                account.prompt_tokens += usage.prompt_tokens;
                account.completion_tokens += usage.completion_tokens;
                account.cached_tokens += usage.cached_tokens;
                let held = self.estimate;
                let prompt = usage.prompt_tokens.saturating_sub(held.prompt_tokens);
                let written = usage
                    .completion_tokens
                    .saturating_sub(held.completion_tokens);
                state.excess.prompt_tokens = state.excess.prompt_tokens.max(prompt);
                state.excess.completion_tokens = state.excess.completion_tokens.max(written);
                state.measured = true;
            }
            Cost::Estimated(usage) => {
                account.unreported_calls += 1;
                account.estimated_prompt_tokens += usage.prompt_tokens;
                account.estimated_completion_tokens += usage.completion_tokens;
                state.measured = true;
            }
            Cost::Nothing => {}
        }
        drop(guard);
        self.purse.settled.notify_waiters();
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if !self.done {
            let estimate = self.estimate;
            self.book(true, &Cost::Estimated(estimate));
        }
    }
}
