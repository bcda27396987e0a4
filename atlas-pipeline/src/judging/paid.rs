//! What single items cost.

use async_trait::async_trait;
use atlas_core::{Completion, CompletionRequest, Error, LanguageModel, RunContext, Usage};
use atlas_judge::metrics::results::Cost;
use atlas_llm::Price;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

tokio::task_local! {
    static ITEM: Arc<Mutex<Bill>>;
}

/// What was asked for one item, member by member: calls that were answered, with their tokens as reported.
#[derive(Clone, Debug, Default)]
pub(super) struct Bill {
    members: BTreeMap<String, Account>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Account {
    price: Option<Price>,
    /// All answers, and those of them that were paid: the others were kept from before.
    answered: Answers,
    paid: Answers,
}

#[derive(Clone, Copy, Debug, Default)]
struct Answers {
    calls: u64,
    usage: Usage,
    time: Duration,
}

impl Answers {
    fn add(&mut self, usage: Usage, time: Duration) {
        self.calls += 1;
        self.usage.prompt_tokens += usage.prompt_tokens;
        self.usage.completion_tokens += usage.completion_tokens;
        self.usage.cached_tokens += usage.cached_tokens;
        self.usage.reasoning_tokens += usage.reasoning_tokens;
        self.time += time;
    }

    /// The rest, of which no time is told.
    fn without(self, other: Self) -> Self {
        let (all, less) = (self.usage, other.usage);
        Self {
            time: Duration::ZERO,
            calls: self.calls.saturating_sub(other.calls),
            usage: Usage {
                prompt_tokens: all.prompt_tokens.saturating_sub(less.prompt_tokens),
                completion_tokens: all.completion_tokens.saturating_sub(less.completion_tokens),
                cached_tokens: all.cached_tokens.saturating_sub(less.cached_tokens),
                reasoning_tokens: all.reasoning_tokens.saturating_sub(less.reasoning_tokens),
            },
        }
    }

    fn cost(self, price: Option<Price>) -> Cost {
        Cost {
            calls: self.calls,
            prompt_tokens: self.usage.prompt_tokens,
            completion_tokens: self.usage.completion_tokens,
            cached_tokens: self.usage.cached_tokens,
            reasoning_tokens: self.usage.reasoning_tokens,
            seconds: (self.time.as_secs_f64() * 1000.0).round() / 1000.0,
            money: match self.calls {
                0 => Some(0.0),
                _ => price.map(|price| price.of(self.usage)),
            },
        }
    }
}

impl Account {
    /// What was paid, and what was kept.
    fn costs(&self) -> [(&'static str, Cost); 2] {
        [
            ("paid", self.paid),
            ("kept", self.answered.without(self.paid)),
        ]
        .map(|(name, answers)| (name, answers.cost(self.price)))
    }
}

impl Bill {
    /// The money that was paid, where prices are known.
    pub(super) fn money(&self) -> f64 {
        let paid = self.members.values().map(|one| one.paid.cost(one.price));
        paid.filter_map(|cost| cost.money).sum()
    }

    /// What was paid, over all members.
    pub(super) fn paid(&self) -> Cost {
        let mut sum = Cost::default();
        for account in self.members.values() {
            sum += account.paid.cost(account.price);
        }
        sum
    }

    /// Adds `paid` and `kept` to a line, and to each of its `members`; nothing where there were no such calls.
    pub(super) fn write(&self, line: &mut Map<String, Value>) {
        let mut sums = BTreeMap::from([("paid", Cost::default()), ("kept", Cost::default())]);
        for account in self.members.values() {
            for (name, cost) in account.costs() {
                *sums.entry(name).or_default() += cost;
            }
        }
        let members = line.get_mut("members").and_then(Value::as_array_mut);
        for member in members.into_iter().flatten() {
            let account = member["model"].as_str().and_then(|of| self.members.get(of));
            for (name, cost) in account.into_iter().flat_map(Account::costs) {
                if cost.calls > 0 {
                    member[name] = json!(cost);
                }
            }
        }
        for name in ["paid", "kept"] {
            if sums[name].calls > 0 {
                line.insert(name.to_owned(), json!(sums[name]));
            }
        }
    }
}

/// Does the work of one item, and tells what was asked for it.
pub(super) async fn of_item<T>(work: impl Future<Output = T>) -> (T, Bill) {
    let item = Arc::new(Mutex::new(Bill::default()));
    let done = ITEM.scope(Arc::clone(&item), work).await;
    let bill = item.lock().unwrap_or_else(PoisonError::into_inner).clone();
    (done, bill)
}

/// A model whose answers are counted for the item that they are made for.
#[derive(Debug)]
pub(super) struct Metered<M> {
    pub(super) inner: M,
    /// The name under which they are counted.
    pub(super) member: String,
    /// What they cost; none where that is unknown.
    pub(super) price: Option<Price>,
    /// Whether answers that come through here are paid; else they are all answers, kept ones included.
    pub(super) is_paid: bool,
    /// Whether their time is told. Of models within this program it is not: the same answers make the same lines.
    pub(super) is_timed: bool,
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for Metered<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn complete(
        &self,
        cx: &RunContext,
        request: &CompletionRequest,
    ) -> Result<Completion, Error> {
        let asked = Instant::now();
        let answer = self.inner.complete(cx, request).await?;
        let add = |item: &Arc<Mutex<Bill>>| {
            let mut bill = item.lock().unwrap_or_else(PoisonError::into_inner);
            let account = bill.members.entry(self.member.clone()).or_default();
            account.price = self.price;
            let answers = if self.is_paid {
                &mut account.paid
            } else {
                &mut account.answered
            };
            let time = if self.is_timed {
                asked.elapsed()
            } else {
                Duration::ZERO
            };
            answers.add(answer.usage, time);
        };
        // Outside of a run over items nobody asks.
        let _ = ITEM.try_with(add);
        Ok(answer)
    }
}
