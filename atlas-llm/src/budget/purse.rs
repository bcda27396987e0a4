//! A budget that several models share.

use super::call::{Cost, Held, Hold, account, failure_cost, hold};
use super::ledger::{Ledger, Price};
use super::limits::Limits;
use crate::Exchanges;
use crate::failure::CallFailure;
use atlas_core::{Error, ErrorKind, RunContext, Usage};
use std::error::Error as StdError;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    /// Whether the limit is that of all runs together.
    pub in_all: bool,
}

impl fmt::Display for BudgetExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} {} spent{}, and the next call may need {}; raise the {} to go on",
            self.spent,
            self.limit,
            self.what,
            if self.in_all {
                " by all runs together"
            } else {
                ""
            },
            self.needed,
            if self.in_all {
                "total budget"
            } else {
                "budget"
            },
        )
    }
}

impl StdError for BudgetExceeded {}

/// Limits, and what was spent of them. Several [`Budget`](super::Budget)s may share one.
#[derive(Debug, Default)]
pub struct Purse {
    limits: Limits,
    /// Those of all runs together.
    total: Limits,
    journal: Option<Journal>,
    state: Mutex<State>,
    settled: Notify,
}

/// Where calls are noted, so that later runs know of them.
#[derive(Debug)]
struct Journal {
    exchanges: Arc<Exchanges>,
    run: String,
}

#[derive(Debug, Default)]
struct State {
    ledger: Ledger,
    /// What earlier processes of the run have spent.
    before: Ledger,
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

/// Whether a call may wait for others that are under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    Yes,
    #[cfg(feature = "http")]
    No,
}

impl Waits {
    fn is_no(self) -> bool {
        self != Self::Yes
    }
}

impl Purse {
    /// A full purse.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// The purse of a run that may be stopped and gone on with: each call is noted in the file of exchanges under the
    /// run's name before it is made, and `total` limits what all processes of that name spend together. A call whose
    /// process was killed counts at its estimate.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`]: `total` limits time, which is not summed up. The file cannot be read.
    pub fn of_run(
        limits: Limits,
        total: Limits,
        exchanges: Arc<Exchanges>,
        run: impl Into<String>,
    ) -> Result<Self, Error> {
        if total.seconds.is_some() {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "read the total budget:",
                "time is limited for each run alone; give `time` as a budget of the run",
            ));
        }
        let run = run.into();
        let state = State {
            before: exchanges.paid(&run)?,
            ..State::default()
        };
        Ok(Self {
            limits,
            total,
            journal: Some(Journal { exchanges, run }),
            state: Mutex::new(state),
            settled: Notify::new(),
        })
    }

    /// The limits of this run.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether money is limited, for this run or for all together.
    pub(crate) fn limits_money(&self) -> bool {
        self.limits.money.is_some() || self.total.money.is_some()
    }

    /// What was spent up to now, without the calls that are under way and without what earlier processes of the run
    /// have spent.
    pub fn ledger(&self) -> Ledger {
        self.lock().ledger.clone()
    }

    /// What earlier processes of the run have spent.
    pub fn spent_before(&self) -> Ledger {
        self.lock().before.clone()
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
            Ok(answer) => cost(answer, estimate),
            Err(why) => match CallFailure::of(why) {
                Some(failure) => failure_cost(failure, estimate),
                None if why.kind() == ErrorKind::Cancelled => Cost::Estimated(estimate),
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
            let tried = self.try_reserve(price, estimate, Waits::Yes);
            match tried {
                Attempt::Taken(reserved) => {
                    let held = self.begin(model, price, estimate, reserved)?;
                    return Ok(Reservation {
                        purse: self,
                        held: Some(held),
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

    /// Notes a call for which something is held back.
    fn begin(
        &self,
        model: &str,
        price: Option<Price>,
        estimate: Usage,
        reserved: Hold,
    ) -> Result<Held, Error> {
        let mut held = Held {
            model: model.to_owned(),
            price,
            estimate,
            hold: reserved,
            call: None,
        };
        if let Some(journal) = &self.journal {
            // As it counts if the process ends here.
            match journal
                .exchanges
                .begin_call(&journal.run, model, &held.account())
            {
                Ok(call) => held.call = Some(call),
                Err(why) => {
                    self.let_go(&mut self.lock(), reserved);
                    return Err(why);
                }
            }
        }
        Ok(held)
    }

    /// A call is done: it counts at what it cost.
    pub(crate) fn settle(&self, held: &Held, failed: bool, cost: &Cost) {
        let account = account(held.price, failed, cost);
        let mut guard = self.lock();
        let state = &mut *guard;
        self.let_go(state, held.hold);
        let models = &mut state.ledger.models;
        models.entry(held.model.clone()).or_default().add(&account);
        if let Cost::Reported(usage) = cost {
            let written = usage
                .completion_tokens
                .saturating_sub(held.estimate.completion_tokens);
            let prompt = usage
                .prompt_tokens
                .saturating_sub(held.estimate.prompt_tokens);
            state.excess.prompt_tokens = state.excess.prompt_tokens.max(prompt);
            state.excess.completion_tokens = state.excess.completion_tokens.max(written);
        }
        state.measured |= !matches!(cost, Cost::Nothing);
        drop(guard);
        if let (Some(journal), Some(call)) = (&self.journal, held.call) {
            // What cannot be written counts at its estimate in later runs.
            if let Err(why) = journal.exchanges.end_call(call, &account) {
                tracing::warn!(error = why.chain(), "what a call cost is not noted");
            }
        }
    }

    fn let_go(&self, state: &mut State, hold: Hold) {
        state.under_way -= 1;
        state.reserved_tokens -= hold.tokens;
        state.reserved_money -= hold.money;
        if state.under_way == 0 {
            state.reserved_money = 0.0; // sums of floats leave dust
        }
        self.settled.notify_waiters();
    }

    fn try_reserve(&self, price: Option<Price>, estimate: Usage, waits: Waits) -> Attempt {
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
                    in_all: false,
                });
            }
        }
        // How far the estimate of a prompt is off is known only when a first call has told what it
        // read: until then calls go one at a time, or many of them could overdraw together. Those of a
        // batch all go before any is answered.
        let both = [&self.limits, &self.total];
        let limited = both.iter().any(|limits| limits.tokens.is_some()) || self.limits_money();
        if limited && !state.measured && state.under_way > 0 && !waits.is_no() {
            return Attempt::Later;
        }
        let estimate = Usage {
            prompt_tokens: estimate
                .prompt_tokens
                .saturating_add(state.excess.prompt_tokens),
            completion_tokens: estimate
                .completion_tokens
                .saturating_add(state.excess.completion_tokens),
            ..Usage::default()
        };
        let hold = hold(price, estimate);
        let nothing = Ledger::default();
        let mut is_later = false;
        for (limits, before, in_all) in [
            (&self.limits, &nothing, false),
            (&self.total, &state.before, true),
        ] {
            let over = |what, limit: f64, spent: f64, needed: f64| {
                Attempt::Over(BudgetExceeded {
                    what,
                    limit,
                    spent,
                    needed,
                    in_all,
                })
            };
            if let Some(limit) = limits.calls {
                // A call that is under way counts already: it is never given back.
                let spent = before.calls() + state.ledger.calls() + state.under_way;
                if spent >= limit {
                    return over("calls", float(limit), float(spent), 1.0);
                }
            }
            if let Some(limit) = limits.tokens {
                let spent = before.tokens().saturating_add(state.ledger.tokens());
                let needed = spent.saturating_add(hold.tokens);
                let together = needed.saturating_add(state.reserved_tokens);
                if needed > limit || (together > limit && waits.is_no()) {
                    return over("tokens", float(limit), float(spent), float(hold.tokens));
                }
                is_later |= together > limit;
            }
            if let Some(limit) = limits.money {
                let spent = before.known_money() + state.ledger.known_money();
                let needed = spent + hold.money;
                let together = needed + state.reserved_money;
                if needed > limit || (together > limit && waits.is_no()) {
                    return over("money", limit, spent, hold.money);
                }
                is_later |= together > limit;
            }
        }
        if is_later {
            return Attempt::Later;
        }
        state.under_way += 1;
        state.reserved_tokens += hold.tokens;
        state.reserved_money += hold.money;
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
            in_all: false,
        };
        exceeded(model, why)
    }
}

/// Calls that go out long before they are answered.
#[cfg(feature = "http")]
impl Purse {
    /// Holds back what a call of a batch may cost at most, without waiting for others. It is not noted yet.
    ///
    /// # Errors
    /// [`ErrorKind::BudgetExceeded`].
    pub(crate) fn take(
        &self,
        model: &str,
        price: Option<Price>,
        estimate: Usage,
    ) -> Result<Held, Error> {
        match self.try_reserve(price, estimate, Waits::No) {
            Attempt::Taken(reserved) => Ok(Held {
                model: model.to_owned(),
                price,
                estimate,
                hold: reserved,
                call: None,
            }),
            Attempt::Over(why) => Err(exceeded(model, why)),
            Attempt::Later => Err(Error::new(ErrorKind::Internal, "hold back for", model)),
        }
    }

    /// Takes over a call that an earlier process of this run began.
    ///
    /// # Errors
    /// The file of exchanges cannot be read.
    pub(crate) fn adopt(
        &self,
        call: i64,
        model: &str,
        price: Option<Price>,
        estimate: Usage,
    ) -> Result<Held, Error> {
        let hold = hold(price, estimate);
        let mut state = self.lock();
        state.started.get_or_insert_with(Instant::now);
        if let Some(journal) = &self.journal
            && let Some(account) = journal.exchanges.call(call)?
        {
            let before = state.before.models.entry(model.to_owned()).or_default();
            before.subtract(&account);
        }
        state.under_way += 1;
        state.reserved_tokens += hold.tokens;
        state.reserved_money += hold.money;
        Ok(Held {
            model: model.to_owned(),
            price,
            estimate,
            hold,
            call: Some(call),
        })
    }

    /// A call was not made after all.
    pub(crate) fn give_back(&self, held: &Held) -> Result<(), Error> {
        self.let_go(&mut self.lock(), held.hold);
        match (&self.journal, held.call) {
            (Some(journal), Some(call)) => journal.exchanges.forget_call(call),
            _ => Ok(()),
        }
    }

    /// A call goes on without this process, which [`Purse::adopt`] takes over later; until then it counts at its
    /// estimate, in no bill.
    pub(crate) fn leave(&self, held: &Held) {
        self.let_go(&mut self.lock(), held.hold);
    }

    /// The file where calls are noted, and under which name.
    pub(crate) fn journal(&self) -> Option<(Arc<Exchanges>, String)> {
        let journal = self.journal.as_ref()?;
        Some((Arc::clone(&journal.exchanges), journal.run.clone()))
    }
}

fn exceeded(model: &str, why: BudgetExceeded) -> Error {
    Error::new(
        ErrorKind::BudgetExceeded,
        "ask the model: its budget is used up:",
        format!(
            "{} {}{} for `{model}`",
            why.limit,
            why.what,
            if why.in_all { " in all" } else { "" }
        ),
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

/// A call under way. Dropped unsettled, as when its future is dropped, it counts at the estimate:
/// the model may have worked on it.
struct Reservation<'a> {
    purse: &'a Purse,
    held: Option<Held>,
}

impl Reservation<'_> {
    fn settle(mut self, failed: bool, cost: &Cost) {
        if let Some(held) = self.held.take() {
            self.purse.settle(&held, failed, cost);
        }
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if let Some(held) = self.held.take() {
            let cost = Cost::Estimated(held.estimate);
            self.purse.settle(&held, true, &cost);
        }
    }
}
