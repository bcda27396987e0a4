//! Questions that go to a server together.

use crate::budget::{Cost, Held, account, estimate, failure_cost, written};
use crate::exchanges::{StoredBatch, StoredQuestion, asked};
use crate::failure::{CallFailure, FailureCause};
use crate::http::{BatchPresence, HttpBatches, Outcome, Standing};
use crate::next_questions::NextQuestions;
use crate::{Exchange, Exchanges, ModelConfig, Price, Purse, request_key};
use atlas_core::{Completion, Error, ErrorKind, LanguageModel, RunContext, Usage};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often in a row a server may fail while it is asked how far a batch is.
const MOST_FAILURES: u32 = 10;
/// How often a question is put into a batch that ends without having asked it.
const MOST_EXPIRED: u32 = 2;

/// A model of OpenAI's or Anthropic's, or of a server with OpenAI's `/v1/batches`, that is asked in batches: many
/// questions at once, answered within a day, mostly at half the price. A run is gone through round by round: a
/// [`Round`] stands in the model's place and finds out what the run would ask next, [`Batches::ask`] asks it, and a
/// question that follows from an answer belongs to the next round. Answers go into the file of [`Exchanges`], where
/// the run itself then finds them.
///
/// A batch stands in that file from before it is sent until it is collected, so a process that is killed gives no
/// question away twice. Where it is unknown whether the server has a batch, it is looked for there: OpenAI keeps our
/// name of it, and Anthropic the names of its questions.
///
/// A question that the server could not answer is not asked in a batch again, but one by one by the run; only a
/// refused field or refused log-probabilities are learned from. One that was not asked within the day goes into one
/// more batch. Either costs nothing.
#[derive(Debug)]
pub struct Batches {
    api: HttpBatches,
    name: String,
    settings: String,
    price: Option<Price>,
    exchanges: Arc<Exchanges>,
    run: String,
    purse: Arc<Purse>,
    poll: Duration,
    /// Keys of questions that are asked one by one.
    left_out: Mutex<BTreeSet<String>>,
    /// How often a batch has ended without having asked a question.
    expired: Mutex<BTreeMap<String, u32>>,
}

/// What one round, or several, came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BatchTally {
    /// Batches that were collected.
    pub batches: u64,
    /// Questions in them.
    pub questions: u64,
    /// Those that were answered.
    pub answered: u64,
    /// Those that the server could not answer.
    pub failed: u64,
    /// Those that were not asked within the day.
    pub not_asked: u64,
}

impl BatchTally {
    /// Adds another one.
    pub fn add(&mut self, other: Self) {
        self.batches += other.batches;
        self.questions += other.questions;
        self.answered += other.answered;
        self.failed += other.failed;
        self.not_asked += other.not_asked;
    }
}

/// One look at what a run would ask next.
#[derive(Debug)]
pub struct Round(Arc<NextQuestions>);

impl Round {
    /// What stands in the model's place. It asks nothing: what its run makes of its answers is worth nothing.
    pub fn model(&self) -> Arc<dyn LanguageModel> {
        Arc::<NextQuestions>::clone(&self.0)
    }
}

/// A batch of this process.
struct Pending {
    stored: StoredBatch,
    /// What is held back for each question; none of a batch of another run, and of what is settled.
    held: Vec<Option<Held>>,
    purse: Arc<Purse>,
    /// Whether the server may have it though it has not said so.
    may_be_sent: bool,
    done: u64,
}

impl Drop for Pending {
    fn drop(&mut self) {
        for held in self.held.iter().flatten() {
            self.purse.leave(held);
        }
    }
}

/// Why a look at a batch failed.
enum Fault {
    /// The server's, which may pass.
    Call(CallFailure),
    Other(Error),
}

impl From<CallFailure> for Fault {
    fn from(failure: CallFailure) -> Self {
        Self::Call(failure)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl Batches {
    /// The batches of a model, of which `settings` are those that may change an answer. `purse` is
    /// [that of a run](Purse::of_run); `poll` are the seconds between two looks at a batch. Nothing is sent.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`]: the provider has no batches, the model cannot be used as it is configured, the
    /// purse is of no run, or `poll` is no number of seconds.
    pub fn open(
        config: &ModelConfig,
        settings: &Value,
        purse: &Arc<Purse>,
        poll: f64,
    ) -> Result<Self, Error> {
        let wrong = |why: &str| {
            let why = why.to_owned();
            Error::new(ErrorKind::InvalidInput, "ask in batches:", config.name()).with_source(why)
        };
        let api = HttpBatches::open(config)?;
        let (exchanges, run) = purse
            .journal()
            .ok_or_else(|| wrong("batches are kept in the file of exchanges; name one"))?;
        let poll = Duration::try_from_secs_f64(poll)
            .map_err(|_| wrong("the seconds between two looks are no number of seconds"))?;
        Ok(Self {
            api,
            name: config.name(),
            settings: settings.to_string(),
            price: config.price.map(Price::in_batches),
            exchanges,
            run,
            purse: Arc::clone(purse),
            poll,
            left_out: Mutex::default(),
            expired: Mutex::default(),
        })
    }

    /// A look at what a run would ask next.
    pub fn round(&self) -> Round {
        let left_out = self.left_out.lock().unwrap_or_else(PoisonError::into_inner);
        Round(Arc::new(NextQuestions::new(
            self.name.clone(),
            Arc::clone(&self.exchanges),
            self.settings.clone(),
            left_out.clone(),
        )))
    }

    /// Collects what earlier processes have given away, of this run or of others with the same file of exchanges.
    ///
    /// # Errors
    /// As [`Batches::ask`].
    ///
    /// # Cancellation
    /// As [`Batches::ask`].
    pub async fn resume(&self, cx: &RunContext) -> Result<BatchTally, Error> {
        let mut pending = Vec::new();
        for stored in self.exchanges.batches(&asked(&self.name, &self.settings))? {
            let mut held = Vec::new();
            for question in &stored.questions {
                let is_own = stored.run == self.run;
                let estimate = estimate(&question.request);
                let adopted = is_own.then(|| {
                    self.purse
                        .adopt(question.call, &self.account(), self.price, estimate)
                });
                held.push(adopted.transpose()?);
            }
            pending.push(Pending {
                may_be_sent: stored.id.is_none(),
                stored,
                held,
                purse: Arc::clone(&self.purse),
                done: 0,
            });
        }
        self.collect(cx, pending).await
    }

    /// Asks what a round has found, in as many batches as the server's limits need, and waits for the answers. What
    /// the budget does not allow is not asked; a tally without questions says that there is nothing more to do.
    ///
    /// # Errors
    /// The server refuses a batch, has none, or fails again and again; [`ErrorKind::BudgetExceeded`] where the
    /// budget's time ends; [`ErrorKind::Cancelled`].
    ///
    /// # Cancellation
    /// The batches go on at the server. [`Batches::resume`] collects them.
    pub async fn ask(&self, cx: &RunContext, round: &Round) -> Result<BatchTally, Error> {
        let most = self.api.most();
        let mut all: Vec<Pending> = Vec::new();
        let mut bytes = 0;
        for (key, request) in round.0.take() {
            let estimate = estimate(&request);
            let held = match self.purse.take(&self.account(), self.price, estimate) {
                Ok(held) => held,
                Err(why) if why.kind() == ErrorKind::BudgetExceeded => break,
                Err(why) => return Err(why),
            };
            // With its name, and what parts it from the next one.
            let length = self.api.entry("", &request).len() + 80;
            let last = all.last().map(|last| (last.stored.questions.len(), bytes));
            if last.is_none_or(|last| !has_room(last, length, most)) {
                bytes = 0;
                all.push(self.empty(all.len()));
            }
            bytes += length;
            if let Some(last) = all.last_mut() {
                last.held.push(Some(held));
                last.stored.questions.push(StoredQuestion {
                    key,
                    request,
                    call: 0,
                });
            }
        }
        let asked = asked(&self.name, &self.settings);
        for one in &mut all {
            let held = one.held.iter().flatten();
            let accounts: Vec<_> = held.map(Held::account).collect();
            self.exchanges
                .begin_batch(&asked, &self.account(), &mut one.stored, &accounts)?;
            for (held, question) in one.held.iter_mut().flatten().zip(&one.stored.questions) {
                held.call = Some(question.call);
            }
        }
        self.collect(cx, all).await
    }

    /// The account that batches are booked on: they have a price of their own.
    fn account(&self) -> String {
        format!("{} (batch)", self.name)
    }

    fn empty(&self, number: usize) -> Pending {
        let chance = RandomState::new().hash_one((&self.run, number));
        Pending {
            stored: StoredBatch {
                token: format!("atlas{chance:016x}"),
                run: self.run.clone(),
                id: None,
                questions: Vec::new(),
            },
            held: Vec::new(),
            purse: Arc::clone(&self.purse),
            may_be_sent: false,
            done: 0,
        }
    }

    /// Looks at batches until all of them are collected.
    async fn collect(
        &self,
        cx: &RunContext,
        mut pending: Vec<Pending>,
    ) -> Result<BatchTally, Error> {
        let mut tally = BatchTally::default();
        let mut failures = 0;
        while !pending.is_empty() {
            cx.progress.phase("batch");
            let mut at = 0;
            while let Some(one) = pending.get_mut(at) {
                let looked = tokio::select! {
                    looked = self.look(one, &mut tally) => looked,
                    () = cx.cancel.cancelled() => return Err(cancelled(&pending)),
                };
                match looked {
                    Ok(true) => drop(pending.remove(at)),
                    Ok(false) => {
                        failures = 0;
                        at += 1;
                    }
                    Err(Fault::Call(failure))
                        if failure.cause.is_transient() && failures < MOST_FAILURES =>
                    {
                        tracing::warn!(%failure, "a look at a batch failed and is made again");
                        failures += 1;
                        at += 1;
                    }
                    Err(Fault::Call(failure)) => return Err(self.failed(one, failure)),
                    Err(Fault::Other(why)) => return Err(why),
                }
            }
            if pending.is_empty() {
                break;
            }
            let count = |one: &Pending| one.stored.questions.len();
            let questions: usize = pending.iter().map(count).sum();
            let done: u64 = pending.iter().map(|one| one.done).sum();
            let names: Vec<&str> = pending
                .iter()
                .map(|one| one.stored.id.as_deref().unwrap_or("not sent yet"))
                .collect();
            cx.progress.detail(&format!(
                "{done} of {questions} answered; {}",
                names.join(", ")
            ));
            let left = self.purse.time_left();
            if left.is_some_and(|left| left.is_zero()) {
                return Err(self.purse.out_of_time(&self.name));
            }
            let wait = self.poll.min(left.unwrap_or(Duration::MAX));
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = cx.cancel.cancelled() => return Err(cancelled(&pending)),
            }
        }
        Ok(tally)
    }

    /// Brings one batch further. Whether it is collected.
    async fn look(&self, one: &mut Pending, tally: &mut BatchTally) -> Result<bool, Fault> {
        let Some(id) = self.id(one).await? else {
            return Ok(false);
        };
        match self.api.standing(&id).await? {
            Standing::Running(done) => {
                one.done = done;
                Ok(false)
            }
            Standing::Refused(words) => {
                self.undo(one)?;
                let failure = CallFailure::new(FailureCause::Refused, words);
                Err(Fault::Other(failure.into_error(&self.name)))
            }
            Standing::Ended => {
                let mut open: BTreeSet<usize> = (0..one.stored.questions.len()).collect();
                let prefix = format!("{}-", one.stored.token);
                let outcomes = self.api.outcomes(&id, |name, outcome| {
                    let number = name.strip_prefix(&prefix);
                    let number = number.and_then(|number| number.parse().ok());
                    match number.filter(|number| open.remove(number)) {
                        Some(number) => self.settle(one, number, outcome, tally),
                        None => Ok(()),
                    }
                });
                outcomes.await??;
                for number in open {
                    self.settle(one, number, Outcome::NotAsked, tally)?;
                }
                self.exchanges.forget_batch(&one.stored.token)?;
                tally.batches += 1;
                Ok(true)
            }
        }
    }

    /// The server's name of a batch, which is sent if it is not there; none where that is open.
    async fn id(&self, one: &mut Pending) -> Result<Option<String>, Fault> {
        if let Some(id) = &one.stored.id {
            return Ok(Some(id.clone()));
        }
        let count = one.stored.questions.len();
        let found = if one.may_be_sent {
            self.api.find(&one.stored.token, count).await?
        } else {
            BatchPresence::No
        };
        let id = match found {
            BatchPresence::Perhaps => return Ok(None),
            BatchPresence::Yes(id) => id,
            BatchPresence::No => {
                let token = &one.stored.token;
                let questions = one.stored.questions.iter().enumerate();
                let entries: Vec<String> = questions
                    .map(|(at, question)| {
                        self.api.entry(&format!("{token}-{at}"), &question.request)
                    })
                    .collect();
                // Until the server says otherwise: a connection may be lost behind its word.
                one.may_be_sent = true;
                match self.api.send(token, &entries).await {
                    Ok(id) => id,
                    Err(failure) => {
                        let is_refusal = failure.status.is_some_and(|status| status < 500);
                        one.may_be_sent = !is_refusal && failure.cause != FailureCause::Connect;
                        if !failure.cause.is_transient() && !one.may_be_sent {
                            self.undo(one)?;
                        }
                        return Err(failure.into());
                    }
                }
            }
        };
        self.exchanges.batch_sent(&one.stored.token, &id)?;
        tracing::info!(id, questions = count, "a batch was sent");
        one.stored.id = Some(id.clone());
        Ok(Some(id))
    }

    /// A batch that the server does not take is none: nothing was asked.
    fn undo(&self, one: &mut Pending) -> Result<(), Error> {
        for (held, question) in one.held.iter_mut().zip(&one.stored.questions) {
            match held.take() {
                Some(held) => self.purse.give_back(&held)?,
                None => self.exchanges.forget_call(question.call)?,
            }
        }
        self.exchanges.forget_batch(&one.stored.token).map(drop)
    }

    /// Keeps what became of a question, and books what it cost. A process that was killed in between does so again.
    fn settle(
        &self,
        one: &mut Pending,
        number: usize,
        outcome: Outcome,
        tally: &mut BatchTally,
    ) -> Result<(), Error> {
        let (question, held) = (&one.stored.questions[number], one.held[number].take());
        let most = estimate(&question.request);
        tally.questions += 1;
        let (failed, cost) = match outcome {
            Outcome::Answered(completion) => {
                tally.answered += 1;
                let cost = cost(&completion, most);
                let exchange = Exchange {
                    key: request_key(&self.name, &question.request),
                    model: self.name.clone(),
                    request: question.request.clone(),
                    completion,
                };
                self.exchanges.put(&question.key, &exchange)?;
                (false, cost)
            }
            Outcome::Failed(failure) => {
                tally.failed += 1;
                tracing::info!(%failure, "a question of a batch failed");
                if !self.api.learn(&failure) {
                    self.leave_out(&question.key);
                }
                (true, failure_cost(&failure, most))
            }
            Outcome::NotAsked => {
                tally.not_asked += 1;
                let mut expired = self.expired.lock().unwrap_or_else(PoisonError::into_inner);
                let times = expired.entry(question.key.clone()).or_default();
                *times += 1;
                if *times >= MOST_EXPIRED {
                    self.leave_out(&question.key);
                }
                return match held {
                    Some(held) => self.purse.give_back(&held),
                    None => self.exchanges.forget_call(question.call),
                };
            }
        };
        if let Some(held) = held {
            self.purse.settle(&held, failed, &cost);
            return Ok(());
        }
        // Of a run of another name, which pays.
        let account = account(self.price, failed, &cost);
        self.exchanges.end_call(question.call, &account)
    }

    fn leave_out(&self, key: &str) {
        let mut left_out = self.left_out.lock().unwrap_or_else(PoisonError::into_inner);
        left_out.insert(key.to_owned());
    }

    /// The error of a batch that cannot be sent or looked at.
    fn failed(&self, one: &Pending, failure: CallFailure) -> Error {
        let is_unknown = failure.cause == FailureCause::NotFound;
        let mut failure = failure;
        match &one.stored.id {
            None if is_unknown => {
                failure.message = format!(
                    "{}; the server seems to have no batches: leave `--batch` out",
                    failure.message
                );
            }
            None => {}
            Some(id) => {
                failure.message = format!(
                    "{}; the batch `{id}` is kept: run the same command again to go on, or give it up with \
                     `atlas exchanges FILE --forget-batch {id}`, and its questions are asked anew",
                    failure.message
                );
            }
        }
        failure.into_error(&self.name)
    }
}

fn cancelled(pending: &[Pending]) -> Error {
    let questions: usize = pending.iter().map(|one| one.stored.questions.len()).sum();
    let why = format!(
        "{questions} questions go on at the server; run the same command again to collect the answers"
    );
    Error::new(ErrorKind::Cancelled, "wait for the batch:", "was cancelled").with_source(why)
}

fn cost(completion: &Completion, most: Usage) -> Cost {
    if completion.usage == Usage::default() {
        Cost::Estimated(written(completion, most))
    } else {
        Cost::Reported(completion.usage)
    }
}

/// Whether a batch that holds so many questions and bytes takes one more of this length.
fn has_room((count, bytes): (usize, usize), length: usize, most: (usize, usize)) -> bool {
    count < most.0 && bytes.saturating_add(length) <= most.1
}

#[cfg(test)]
mod tests {
    use super::has_room;

    #[test]
    fn a_batch_is_full_by_questions_or_by_bytes() {
        for (held, length, expected) in [
            ((0, 0), 100, true),
            ((2, 50), 50, true),
            ((3, 50), 1, false),
            ((1, 51), 50, false),
            ((1, 0), usize::MAX, false),
        ] {
            assert_eq!(
                has_room(held, length, (3, 100)),
                expected,
                "{held:?} {length}"
            );
        }
    }
}
