//! What hosts allow: tokens that rest, and refusals that say for how long.

use reqwest::StatusCode;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// What GitHub wants to be waited where a secondary limit says nothing: a minute.
const UNTOLD: Duration = Duration::from_secs(60);

/// Why a host takes no request of a token now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// A limit, which ends after this time.
    Limit(Duration),
    /// It is no token, or one that may not ask.
    Token(String),
}

impl Refusal {
    /// Reads an answer; `None` if it refuses nothing for limits or tokens.
    pub(super) fn of(status: StatusCode, headers: &HeaderMap, text: &str) -> Option<Self> {
        let field = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let number = |name: &str| field(name).and_then(|value| value.trim().parse::<i64>().ok());
        if status == StatusCode::UNAUTHORIZED {
            return Some(Self::Token("401: the token is refused".to_owned()));
        }
        let is_limit = status == StatusCode::TOO_MANY_REQUESTS
            || status == StatusCode::FORBIDDEN
            // GraphQL answers with 200 and an error of this type.
            || status == StatusCode::OK
                && ["\"type\":\"RATE_LIMITED\"", "\"type\": \"RATE_LIMITED\""]
                    .iter()
                    .any(|error| text.contains(error));
        if !is_limit {
            return None;
        }
        let seconds = |seconds: i64| Duration::from_secs(seconds.max(0).unsigned_abs());
        if let Some(told) = headers
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok())
        {
            let wait = match told.trim().parse() {
                Ok(number) => seconds(number),
                Err(_) => until(date(told), headers),
            };
            return Some(Self::Limit(wait));
        }
        let remaining = number("x-ratelimit-remaining").or_else(|| number("ratelimit-remaining"));
        if remaining == Some(0) {
            let reset = number("x-ratelimit-reset").or_else(|| number("ratelimit-reset"));
            // The reset is a full second: what is asked within it may be too early.
            let wait = reset.map_or(UNTOLD, |reset| until(Some(reset + 1), headers));
            return Some(Self::Limit(wait));
        }
        let lower = text.to_ascii_lowercase();
        let says_limit = ["secondary rate limit", "rate limit", "abuse detection"];
        if status != StatusCode::FORBIDDEN || says_limit.iter().any(|words| lower.contains(words)) {
            return Some(Self::Limit(UNTOLD));
        }
        None
    }
}

fn date(text: &str) -> Option<i64> {
    Some(chrono::DateTime::parse_from_rfc2822(text).ok()?.timestamp())
}

/// From the host's own clock, where it tells it, to a moment.
fn until(moment: Option<i64>, headers: &HeaderMap) -> Duration {
    let told = headers
        .get(DATE)
        .and_then(|value| value.to_str().ok())
        .and_then(date);
    let now = told.unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(i64::MAX))
    });
    moment.map_or(UNTOLD, |moment| {
        Duration::from_secs((moment - now).max(0).unsigned_abs())
    })
}

#[derive(Debug)]
struct Token {
    /// Absent for requests without one.
    text: Option<String>,
    ready: Instant,
    refused: bool,
}

/// Tokens in turn.
pub(super) struct Tokens {
    all: Mutex<(Vec<Token>, usize)>,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tokens(***)")
    }
}

impl Tokens {
    pub(super) fn new(texts: Vec<String>) -> Self {
        let mut texts: Vec<Option<String>> = texts.into_iter().map(Some).collect();
        if texts.is_empty() {
            texts.push(None);
        }
        let token = |text| Token {
            text,
            ready: Instant::now(),
            refused: false,
        };
        Self {
            all: Mutex::new((texts.into_iter().map(token).collect(), 0)),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, (Vec<Token>, usize)> {
        self.all
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Whether there is any token.
    pub(super) fn any(&self) -> bool {
        self.lock().0.iter().any(|token| token.text.is_some())
    }

    /// The next token that may be used, and how long to wait for it.
    pub(super) fn next(&self, longest: Duration) -> Result<(Option<String>, Duration), String> {
        let mut all = self.lock();
        let (tokens, turn) = &mut *all;
        let now = Instant::now();
        let count = tokens.len();
        let order = (0..count).map(|step| (*turn + step) % count);
        let usable = order.filter(|at| !tokens[*at].refused);
        // The first that is ready in turn, else the one that is ready soonest.
        let chosen = usable.min_by_key(|at| tokens[*at].ready.max(now));
        let Some(at) = chosen else {
            return Err("it refuses all tokens".to_owned());
        };
        let wait = tokens[at].ready.saturating_duration_since(now);
        if wait > longest {
            return Err(format!(
                "its limit ends in {} s, and {} s is the longest wait; the next run goes on from here",
                wait.as_secs(),
                longest.as_secs()
            ));
        }
        *turn = (at + 1) % count;
        Ok((tokens[at].text.clone(), wait))
    }

    /// Notes why a token was refused. An error if none is left.
    pub(super) fn rest(&self, text: Option<&str>, refusal: &Refusal) -> Result<(), String> {
        let mut all = self.lock();
        let (tokens, _) = &mut *all;
        let Some(at) = tokens
            .iter()
            .position(|token| token.text.as_deref() == text)
        else {
            return Ok(());
        };
        match refusal {
            Refusal::Limit(wait) => tokens[at].ready = Instant::now() + *wait,
            Refusal::Token(why) => {
                tokens[at].refused = true;
                tracing::warn!("token {} of {}: {why}", at + 1, tokens.len());
                if tokens.iter().all(|token| token.refused) {
                    return Err(match text {
                        Some(_) => format!("{why}, and there is no other"),
                        None => "401: it wants a token".to_owned(),
                    });
                }
            }
        }
        Ok(())
    }
}
