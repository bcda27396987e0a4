//! How fast an endpoint may be asked, by all who ask it together.

use crate::failure::CallFailure;
use crate::retry_policy::seconds;
use crate::{ModelConfig, Purse, RetryPolicy};
use atlas_core::{Error, ErrorKind, RunContext, Usage};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// What a limit by the minute is held over: a little longer, for requests do not all travel equally long.
const WINDOW: Duration = Duration::from_millis(60_500);
/// What the pace is measured over.
const MEASURED: Duration = Duration::from_secs(10);
/// A pace that was halved is back after so long, and grows on by as much.
const RECOVERY: Duration = Duration::from_secs(30);
/// A pace that has grown so many times over is none any more.
const FORGOTTEN: f64 = 20.0;

/// Address, model and the variable of the key.
type Key = (String, String, String);

/// A limit belongs to the account at the server, so every model of this process that asks there shares it, also
/// those of runs side by side.
static PACES: LazyLock<Mutex<BTreeMap<Key, Arc<Pace>>>> = LazyLock::new(Mutex::default);

/// The pace of one endpoint: nobody asks while the server says to wait, no faster than the limits of the
/// configuration, and after a refusal half as fast as before, with a pace that grows back evenly. Who is not
/// limited does not wait.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// Who comes first asks first.
    queue: tokio::sync::Mutex<()>,
    state: Mutex<State>,
    /// What is waited for may have changed.
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    requests_per_minute: Option<u64>,
    tokens_per_minute: Option<u64>,
    /// Requests of the last window, the oldest first.
    sent: VecDeque<Sent>,
    next: u64,
    /// Nobody asks before this.
    held: Option<Instant>,
    slowed: Option<Slowed>,
    requests_left: Option<Remaining>,
    tokens_left: Option<Remaining>,
}

#[derive(Debug)]
struct Sent {
    id: u64,
    at: Instant,
    /// By estimate, and as they were reported when that is known.
    tokens: u64,
}

/// A pace that a refusal has set.
#[derive(Clone, Copy, Debug)]
struct Slowed {
    /// When: what was sent before was refused for the same reason.
    since: Instant,
    grows_from: Instant,
    /// Between two requests at first.
    gap: Duration,
}

impl Slowed {
    /// The least time between two requests, or none any more.
    fn gap(self, now: Instant) -> Option<Duration> {
        let grown = now.saturating_duration_since(self.grows_from).as_secs_f64();
        let faster = 1.0 + grown / RECOVERY.as_secs_f64();
        (faster < FORGOTTEN).then(|| self.gap.div_f64(faster))
    }
}

/// What the server says is left.
#[derive(Clone, Copy, Debug)]
struct Remaining {
    count: u64,
    /// When there is more.
    until: Instant,
}

/// Leave to send one request.
#[derive(Debug)]
pub(crate) struct Turn {
    id: u64,
    at: Instant,
}

impl Pace {
    /// The one of a model's endpoint, the same for every model of that address, name and key. Limits that the
    /// configuration names count from now on.
    pub(crate) fn of(config: &ModelConfig) -> Arc<Self> {
        let base = config
            .base_url
            .as_deref()
            .or(config.provider.usual_url())
            .unwrap_or_default()
            .trim_end_matches('/');
        let variable = config.key_variable().or(config.headers.caller());
        let key = (
            base.to_owned(),
            config.model.clone(),
            variable.unwrap_or_default().to_owned(),
        );
        let pace = {
            let mut paces = PACES.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(paces.entry(key).or_default())
        };
        pace.limit(
            config.requests_per_minute.map(u64::from),
            config.tokens_per_minute,
        );
        pace
    }

    fn limit(&self, requests: Option<u64>, tokens: Option<u64>) {
        let mut state = self.lock();
        state.requests_per_minute = requests.or(state.requests_per_minute);
        state.tokens_per_minute = tokens.or(state.tokens_per_minute);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a request of so many tokens may be sent.
    ///
    /// # Cancellation
    /// Dropping the future gives the place in the queue to the next one.
    pub(crate) async fn turn(&self, tokens: u64) -> Turn {
        let _first = self.queue.lock().await;
        loop {
            // Made before the look, so that no change between the two is missed.
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let looked = self.lock().look(Instant::now(), tokens);
            match looked {
                Ok(turn) => return turn,
                Err(until) => tokio::select! {
                    () = tokio::time::sleep_until(until) => {}
                    () = changed => {}
                },
            }
        }
    }

    /// A request turned out to use so many tokens.
    pub(crate) fn answered(&self, turn: &Turn, usage: Usage) {
        if usage == Usage::default() {
            return;
        }
        let mut state = self.lock();
        let place = state.sent.iter_mut().find(|sent| sent.id == turn.id);
        if let Some(sent) = place {
            sent.tokens = usage.prompt_tokens.saturating_add(usage.completion_tokens);
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// The same, until the flag is raised or the purse's time is over.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`], [`ErrorKind::BudgetExceeded`].
    pub(crate) async fn turn_within(
        &self,
        cx: &RunContext,
        purse: Option<&Purse>,
        model: &str,
        tokens: u64,
    ) -> Result<Turn, Error> {
        let over = async {
            match purse.and_then(Purse::time_left) {
                Some(left) => tokio::time::sleep(left).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => {
                Err(Error::new(ErrorKind::Cancelled, "ask the model", "was cancelled"))
            }
            turn = self.turn(tokens) => Ok(turn),
            () = over => match purse {
                Some(purse) => Err(purse.out_of_time(model)),
                None => Err(Error::new(ErrorKind::Internal, "wait for a turn of", model)),
            },
        }
    }

    /// A request failed. If the server wants to be asked less often, it is: by nobody as long as it says, up to
    /// `longest_retry_after`, and then with half the pace, down to one request in `longest_wait`.
    pub(crate) fn failed(&self, turn: &Turn, failure: &CallFailure, policy: &RetryPolicy) {
        use crate::FailureCause::{RateLimited, Unavailable};
        if matches!(failure.cause, RateLimited | Unavailable) {
            let longest = seconds(policy.longest_retry_after);
            let asked = failure.retry_after.map(|asked| asked.min(longest));
            let gap = seconds(policy.longest_wait);
            self.lock().refused(Instant::now(), turn.at, asked, gap);
            self.changed.notify_waiters();
        }
        self.answered(turn, failure.usage.unwrap_or_default());
    }

    /// What the server says is left of requests and tokens, and how long until there are more.
    #[cfg(feature = "http")]
    pub(crate) fn left(&self, requests: Option<(u64, Duration)>, tokens: Option<(u64, Duration)>) {
        if requests.is_none() && tokens.is_none() {
            return;
        }
        let now = Instant::now();
        let left = |(count, wait)| Remaining {
            count,
            until: now + wait,
        };
        let mut state = self.lock();
        state.requests_left = requests.map(left).or(state.requests_left);
        state.tokens_left = tokens.map(left).or(state.tokens_left);
        drop(state);
        self.changed.notify_waiters();
    }
}

impl State {
    /// Leave to send a request now, or when to look again.
    fn look(&mut self, now: Instant, tokens: u64) -> Result<Turn, Instant> {
        let past = |sent: &Sent| now.duration_since(sent.at) >= WINDOW;
        while self.sent.front().is_some_and(past) {
            self.sent.pop_front();
        }
        self.held = self.held.filter(|held| *held > now);
        self.requests_left = self.requests_left.filter(|left| left.until > now);
        self.tokens_left = self.tokens_left.filter(|left| left.until > now);
        let gap = self.slowed.and_then(|slowed| slowed.gap(now));
        if gap.is_none() {
            self.slowed = None;
        }
        let after_last = gap.and_then(|gap| Some(self.sent.back()?.at + gap));
        let requests = self.requests_left.filter(|left| left.count == 0);
        let room = self.tokens_left.filter(|left| left.count < tokens);
        let until = [
            self.held,
            after_last,
            self.by_requests(),
            self.by_tokens(tokens),
            requests.map(|left| left.until),
            room.map(|left| left.until),
        ];
        if let Some(until) = until.into_iter().flatten().max().filter(|at| *at > now) {
            return Err(until);
        }
        if let Some(left) = &mut self.requests_left {
            left.count = left.count.saturating_sub(1);
        }
        if let Some(left) = &mut self.tokens_left {
            left.count = left.count.saturating_sub(tokens);
        }
        let turn = Turn {
            id: self.next,
            at: now,
        };
        self.next += 1;
        self.sent.push_back(Sent {
            id: turn.id,
            at: now,
            tokens,
        });
        Ok(turn)
    }

    /// When the window has room for one request more.
    fn by_requests(&self) -> Option<Instant> {
        let most = usize::try_from(self.requests_per_minute?).unwrap_or(usize::MAX);
        let first = self.sent.len().checked_sub(most)?;
        Some(self.sent.get(first)?.at + WINDOW)
    }

    /// When the window has room for so many tokens more. A request that is larger than the limit goes alone.
    fn by_tokens(&self, tokens: u64) -> Option<Instant> {
        let most = self.tokens_per_minute?;
        let room = most.saturating_sub(tokens);
        let mut held: u64 = self.sent.iter().map(|sent| sent.tokens).sum();
        let mut until = None;
        for sent in &self.sent {
            if held <= room {
                break;
            }
            held -= sent.tokens;
            until = Some(sent.at + WINDOW);
        }
        until
    }

    /// Takes a refusal of what was sent at a time.
    fn refused(
        &mut self,
        now: Instant,
        sent: Instant,
        asked: Option<Duration>,
        longest_gap: Duration,
    ) {
        let asked = asked.filter(|asked| !asked.is_zero());
        let hold = |state: &mut Self, until: Instant| {
            state.held = Some(state.held.map_or(until, |held| held.max(until)));
        };
        if let Some(asked) = asked {
            hold(self, now + asked);
        }
        // Requests that were under way together are refused together, and slow the pace once.
        if self.slowed.is_some_and(|slowed| sent < slowed.since) {
            return;
        }
        let lately = |sent: &&Sent| now.duration_since(sent.at) <= MEASURED;
        let first = self.sent.iter().find(lately).map_or(sent, |sent| sent.at);
        let count = self.sent.iter().filter(lately).count();
        let count = u32::try_from(count.max(1)).unwrap_or(u32::MAX);
        let measured = now.duration_since(first) / count;
        let known = self.slowed.and_then(|slowed| slowed.gap(now));
        let before = known.map_or(measured, |gap| gap.max(measured));
        let gap = before.saturating_mul(2).min(longest_gap);
        let wait = asked.unwrap_or(gap);
        hold(self, now + wait);
        self.slowed = Some(Slowed {
            since: now,
            grows_from: now + wait,
            gap,
        });
        tracing::debug!(?wait, ?gap, "the server wants to be asked less often");
    }
}

#[cfg(test)]
mod tests {
    use super::{Pace, WINDOW};
    use crate::{CallFailure, FailureCause, Limits, Purse, Retry, RetryPolicy};
    use async_trait::async_trait;
    use atlas_core::{
        ChatMessage, Completion, CompletionRequest, Error, ErrorKind, FinishReason, LanguageModel,
        Role, RunContext, Usage,
    };
    use std::sync::{Arc, Mutex};
    use std::time::Duration;
    use tokio::time::Instant;

    /// Says by the times of all requests whether to refuse the last one.
    type Refuses = fn(&[Instant]) -> Option<CallFailure>;

    fn busy(wait: Option<Duration>) -> CallFailure {
        let mut failure = CallFailure::new(FailureCause::RateLimited, "slow down");
        failure.retry_after = wait;
        failure
    }

    /// Answers in 200 ms.
    #[derive(Debug)]
    struct Server {
        refuses: Refuses,
        asked: Arc<Mutex<Vec<Instant>>>,
    }

    #[async_trait]
    impl LanguageModel for Server {
        fn name(&self) -> &'static str {
            "m"
        }

        async fn complete(
            &self,
            _cx: &RunContext,
            _request: &CompletionRequest,
        ) -> Result<Completion, Error> {
            let refused = {
                let mut asked = self.asked.lock().unwrap();
                asked.push(Instant::now());
                (self.refuses)(&asked)
            };
            tokio::time::sleep(Duration::from_millis(200)).await;
            if let Some(failure) = refused {
                return Err(failure.into_error("m"));
            }
            Ok(Completion {
                text: "fine".to_owned(),
                avg_logprob: None,
                logprobs: None,
                finish: FinishReason::Stop,
                usage: Usage {
                    prompt_tokens: 80,
                    completion_tokens: 20,
                    ..Usage::default()
                },
                model: "m".to_owned(),
            })
        }
    }

    struct Run {
        pace: Arc<Pace>,
        asked: Arc<Mutex<Vec<Instant>>>,
        model: Arc<Retry<Server>>,
    }

    fn run(refuses: Refuses) -> Run {
        let (pace, asked) = (Arc::new(Pace::default()), Arc::default());
        let server = Server {
            refuses,
            asked: Arc::clone(&asked),
        };
        let policy = RetryPolicy {
            retries: 8,
            seed: Some(1),
            ..RetryPolicy::default()
        };
        let model = Arc::new(Retry::new(server, policy).paced(Arc::clone(&pace), None));
        Run { pace, asked, model }
    }

    fn request() -> CompletionRequest {
        CompletionRequest {
            messages: vec![ChatMessage {
                role: Role::User,
                content: "x".repeat(944),
            }],
            max_tokens: 20,
            temperature: 0.0,
            seed: None,
            top_logprobs: None,
            json_schema: None,
        }
    }

    impl Run {
        /// So many callers ask so often each; all get an answer. Seconds of every request from the first on.
        async fn ask(&self, callers: usize, times: usize) -> Vec<f64> {
            let mut all = tokio::task::JoinSet::new();
            for _ in 0..callers {
                let model = Arc::clone(&self.model);
                all.spawn(async move {
                    let cx = RunContext::new("test");
                    for _ in 0..times {
                        model.complete(&cx, &request()).await.unwrap();
                    }
                });
            }
            while let Some(done) = all.join_next().await {
                done.unwrap();
            }
            let asked = self.asked.lock().unwrap();
            let from_first = |at: &Instant| at.duration_since(asked[0]).as_secs_f64();
            asked.iter().map(from_first).collect()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_not_limited_does_not_wait() {
        let run = run(|_| None);
        let started = Instant::now();
        assert_eq!(run.ask(16, 10).await.len(), 160);
        let took = started.elapsed().as_secs_f64();
        assert!((2.0..2.05).contains(&took), "{took}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_that_one_was_asked_for_holds_all() {
        // The first one is refused, the others are under way, and more come.
        let run = run(|asked| (asked.len() == 1).then(|| busy(Some(Duration::from_secs(40)))));
        let asked = run.ask(16, 2).await;
        assert_eq!(asked.len(), 33);
        let under_way = asked.iter().filter(|at| **at < 0.2).count();
        assert_eq!(under_way, 16);
        let early = asked.iter().find(|at| (0.2..40.19).contains(*at));
        assert_eq!(early, None, "{asked:?}");
        let last = asked.last().unwrap();
        assert!(*last < 45.0, "the pace was not so slow: {asked:?}");
    }

    /// A server that takes ten requests a second, and says nothing of waiting.
    fn ten_a_second(asked: &[Instant]) -> Option<CallFailure> {
        let now = asked.last().unwrap();
        let lately = |at: &&Instant| now.duration_since(**at) < Duration::from_secs(1);
        (asked.iter().filter(lately).count() > 10).then(|| busy(None))
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_word_of_waiting_the_pace_is_halved_and_grows_again() {
        let run = run(ten_a_second);
        let asked = run.ask(16, 40).await;
        let refused = asked.len() - 640;
        assert!((1..=120).contains(&refused), "{refused}");
        // 16 callers would ask 80 times a second. It was ten at most, and not much less.
        let took = asked.last().unwrap();
        assert!((60.0..140.0).contains(took), "{took}");
        // 16 and, when the first ten are answered, ten more in 0.2 s: one in 7.7 ms. The refusals that come back
        // together slow that once, to half.
        let slowed = &asked[26..40];
        assert!(slowed[0] - 0.2 > 0.015, "{slowed:?}");
        let gaps = slowed.windows(2).map(|pair| pair[1] - pair[0]);
        let gaps: Vec<f64> = gaps.collect();
        assert!(
            gaps[0] > 0.015 && gaps.iter().all(|gap| *gap < 1.0),
            "{gaps:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_by_the_minute_holds_over_any_minute() {
        let run = run(|_| None);
        run.pace.limit(Some(30), None);
        let asked = run.ask(16, 6).await;
        assert_eq!(asked.len(), 96);
        for window in asked.windows(31) {
            assert!(window[30] - window[0] >= 60.0, "{window:?}");
        }
        // Three whole windows had to pass, and no more; the waiting is no part of `retry.total`.
        let took = asked.last().unwrap();
        assert!((180.0..200.0).contains(took), "{took}");
    }

    #[tokio::test(start_paused = true)]
    async fn tokens_by_the_minute_are_held_back_and_corrected() {
        let run = run(|_| None);
        // 500 are held back for a call that takes 100.
        run.pace.limit(None, Some(1000));
        let asked = run.ask(4, 5).await;
        for window in asked.windows(11) {
            assert!(window[10] - window[0] >= 60.0, "{window:?}");
        }
        let first = asked.iter().filter(|at| **at < 60.0).count();
        assert!((6..=10).contains(&first), "{asked:?}");
        // What is larger than the limit goes alone.
        run.pace.limit(None, Some(10));
        let more = run.ask(1, 2).await;
        assert_eq!(more.len(), 22);
        assert!(more[21] - more[20] >= WINDOW.as_secs_f64(), "{more:?}");
    }

    #[cfg(feature = "http")]
    #[tokio::test(start_paused = true)]
    async fn what_the_server_says_is_left_is_not_overdrawn() {
        let run = run(|_| None);
        let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
        run.pace
            .left(Some((3, 7 * second)), Some((1_000_000, minute)));
        let asked = run.ask(8, 1).await;
        assert_eq!(asked.iter().filter(|at| **at < 6.9).count(), 3, "{asked:?}");
        assert!(asked[3..].iter().all(|at| *at < 7.1), "{asked:?}");
        // 500 tokens are held back for a call.
        run.pace.left(None, Some((1200, 9 * second)));
        let from = asked.last().unwrap() + 0.2;
        let later = run.ask(4, 1).await;
        let now = later.iter().skip(8).filter(|at| **at < from + 8.0).count();
        assert_eq!(now, 2, "{later:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_raised_flag_ends_the_wait_for_a_turn() {
        let run = run(|_| None);
        run.pace.limit(Some(1), None);
        run.ask(1, 1).await;
        let cx = RunContext::new("test");
        let started = Instant::now();
        let request = request();
        let stop = async {
            tokio::time::sleep(Duration::from_secs(2)).await;
            cx.cancel.cancel();
        };
        let (answer, ()) = tokio::join!(run.model.complete(&cx, &request), stop);
        assert_eq!(answer.unwrap_err().kind(), ErrorKind::Cancelled);
        assert!(started.elapsed() < Duration::from_millis(2100));
        // The next one is not stuck behind it.
        assert_eq!(run.ask(1, 1).await.len(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_budget_s_time_goes_on_while_a_turn_is_waited_for() {
        let run = run(|_| None);
        run.pace.limit(Some(1), None);
        run.ask(1, 1).await;
        let limits: Limits = "time=0s".parse().unwrap();
        let purse = Arc::new(Purse::new(limits));
        let server = Server {
            refuses: run.model.inner().refuses,
            asked: Arc::clone(&run.asked),
        };
        let cx = RunContext::new("test");
        let budget = crate::Budget::sharing(server, Arc::clone(&purse), crate::Price::default());
        let model = Retry::new(budget, RetryPolicy::default());
        let _begun = model.complete(&cx, &request()).await;
        let model = model.paced(Arc::clone(&run.pace), Some(purse));
        let started = Instant::now();
        let why = model.complete(&cx, &request()).await.unwrap_err();
        assert_eq!(why.kind(), ErrorKind::BudgetExceeded);
        assert!(started.elapsed() < Duration::from_secs(1));
    }
}
