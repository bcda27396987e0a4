//! Asking again what failed for a passing reason.

use crate::failure::{CallFailure, FailureCause, add};
use crate::pace::{Pace, Turn};
use crate::retry_policy::seconds;
use crate::{Purse, RetryPolicy, request_key};
use async_trait::async_trait;
use atlas_core::{
    Completion, CompletionRequest, Error, ErrorKind, LanguageModel, RunContext, Usage,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use tokio::time::Instant;

/// Asks again, with waits that grow and differ by chance, what failed for a
/// [passing reason](FailureCause::is_transient); a refusal is not asked again. A wait that the
/// server asks for (`Retry-After`) is kept.
///
/// Where a server gives fewer alternatives than were asked for and names how many, the question is
/// asked again for those; where it refuses log-probabilities altogether, without them. So is every
/// later question: whether there are any is read from the answer.
///
/// The usage of an answer, and of the error after the last try, holds what earlier tries reported.
///
/// Opened by [`open_model`](crate::open_model), it waits for its turn before each try: all models of one address,
/// name and key share one pace.
///
/// # Cancellation
/// Raising the flag ends a wait at once.
#[derive(Debug)]
pub struct Retry<M> {
    inner: M,
    pace: Option<Arc<Pace>>,
    /// Whose time limit ends a wait for a turn.
    purse: Option<Arc<Purse>>,
    policy: RetryPolicy,
    seed: u64,
    without_logprobs: AtomicBool,
    most_alternatives: AtomicU8,
}

impl<M: LanguageModel> Retry<M> {
    /// A model that is asked again by these rules.
    pub fn new(inner: M, policy: RetryPolicy) -> Self {
        Self {
            inner,
            pace: None,
            purse: None,
            policy,
            seed: policy.seed(),
            without_logprobs: AtomicBool::new(false),
            most_alternatives: AtomicU8::new(u8::MAX),
        }
    }

    /// The same at the pace of its endpoint.
    pub(crate) fn paced(mut self, pace: Arc<Pace>, purse: Option<Arc<Purse>>) -> Self {
        self.pace = Some(pace);
        self.purse = purse;
        self
    }

    #[cfg(test)]
    pub(crate) fn inner(&self) -> &M {
        &self.inner
    }

    /// Waits until the next try may be made.
    async fn turn(
        &self,
        cx: &RunContext,
        request: &CompletionRequest,
    ) -> Result<Option<Turn>, Error> {
        let Some(pace) = &self.pace else {
            return Ok(None);
        };
        let estimate = crate::budget::estimate(request);
        let tokens = estimate
            .prompt_tokens
            .saturating_add(estimate.completion_tokens);
        let purse = self.purse.as_deref();
        pace.turn_within(cx, purse, self.name(), tokens)
            .await
            .map(Some)
    }

    /// Tells the pace what became of a try.
    fn settle(&self, turn: Option<&Turn>, answer: &Result<Completion, Error>) {
        let (Some(pace), Some(turn)) = (&self.pace, turn) else {
            return;
        };
        match answer {
            Ok(completion) => pace.answered(turn, completion.usage),
            Err(why) => {
                if let Some(failure) = CallFailure::of(why) {
                    pace.failed(turn, failure, &self.policy);
                }
            }
        }
    }
}

/// The number of alternatives that a refusal allows, if it names one: `Requested sample logprobs of
/// 20, which is greater than max allowed: 5`.
fn fewer(message: &str, asked: u8) -> Option<u8> {
    let limits = ["max", "at most", "up to", "less than or equal", "between"];
    let at = limits.iter().find_map(|word| message.find(word))?;
    message[at..]
        .split(|letter: char| !letter.is_ascii_digit())
        .filter_map(|digits| digits.parse::<u8>().ok())
        .filter(|most| (1..asked).contains(most))
        .max()
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for Retry<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn complete(
        &self,
        cx: &RunContext,
        request: &CompletionRequest,
    ) -> Result<Completion, Error> {
        let mut started = Instant::now();
        let total = seconds(self.policy.total);
        let key = request_key(self.name(), request);
        let mut request = request.clone();
        let most = self.most_alternatives.load(Ordering::Relaxed);
        request.top_logprobs = request
            .top_logprobs
            .filter(|_| !self.without_logprobs.load(Ordering::Relaxed))
            .map(|asked| asked.min(most));
        let mut before = Usage::default();
        let mut tried = 0;
        loop {
            let queued = Instant::now();
            let turn = self.turn(cx, &request).await?;
            // However long the queue is, it is nobody's failure.
            started += queued.elapsed();
            let left = total.saturating_sub(started.elapsed());
            let Ok(answer) = tokio::time::timeout(left, self.inner.complete(cx, &request)).await
            else {
                let mut failure = CallFailure::new(
                    FailureCause::TimedOut,
                    format!("{} s for all tries are over", self.policy.total),
                );
                failure.usage = (before != Usage::default()).then_some(before);
                return Err(failure.into_error(self.name()));
            };
            self.settle(turn.as_ref(), &answer);
            let why = match answer {
                Ok(mut completion) => {
                    completion.usage = add(completion.usage, before);
                    return Ok(completion);
                }
                Err(why) => why,
            };
            let Some(failure) = CallFailure::of(&why).cloned() else {
                return Err(why);
            };
            before = add(before, failure.usage.unwrap_or_default());
            let give_up = |message: String| {
                let mut failure = failure.clone();
                failure.message = message;
                failure.usage = (before != Usage::default()).then_some(before);
                Err(failure.into_error(self.name()))
            };
            if let (FailureCause::LogprobsRefused, Some(asked)) =
                (failure.cause, request.top_logprobs)
            {
                if let Some(most) = fewer(&failure.message, asked) {
                    request.top_logprobs = Some(most);
                    self.most_alternatives.store(most, Ordering::Relaxed);
                    continue;
                }
                tracing::info!(
                    model = self.name(),
                    "asked without log-probabilities from now on"
                );
                request.top_logprobs = None;
                self.without_logprobs.store(true, Ordering::Relaxed);
                continue;
            }
            if !failure.cause.is_transient() {
                return give_up(failure.message.clone());
            }
            if tried >= self.policy.retries {
                return give_up(format!("{} (try {})", failure.message, tried + 1));
            }
            let wait = self.policy.wait(&key, self.seed, tried, &failure);
            if started.elapsed().saturating_add(wait) >= total {
                return give_up(format!(
                    "{} (try {}; the next is due in {:.1} s, beyond the {} s for all tries)",
                    failure.message,
                    tried + 1,
                    wait.as_secs_f64(),
                    self.policy.total
                ));
            }
            tried += 1;
            tracing::debug!(model = self.name(), cause = ?failure.cause, status = failure.status,
                tried, ?wait, "a call failed and is made again");
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = cx.cancel.cancelled() => {
                    return Err(Error::new(ErrorKind::Cancelled, "ask the model", "was cancelled"));
                }
            }
        }
    }
}
