//! Requests to a host's API: tokens in turn, limits waited out, what is broken tried again.

use super::limits::{Refusal, Tokens};
use atlas_core::{Error, ErrorKind, RunContext};
use reqwest::header::{ETAG, HeaderMap, IF_NONE_MATCH, LINK, LOCATION};
use reqwest::{Method, StatusCode, Url};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// An answer larger than this is no answer.
const MOST_BYTES: usize = 256 << 20;

/// Answers that are kept for conditional requests.
const KEPT: usize = 32;

/// How an API is asked.
#[derive(Clone)]
pub struct ApiOptions {
    /// Its address, `https://api.github.com`.
    pub address: String,
    /// Tokens, used in turn; one whose limit is reached rests until its reset.
    pub tokens: Vec<String>,
    /// Longest wait for a limit. Default: an hour and five minutes, a little more than GitHub's window.
    pub longest_wait: Duration,
    /// How often a request is sent that is answered by a server's fault or a broken answer. Default: 6.
    pub attempts: u32,
    /// The pause before the second try; it doubles from try to try, to a minute at most. Default: 1 second.
    pub pause: Duration,
    /// Longest time for one answer. Default: 2 minutes.
    pub timeout: Duration,
}

impl ApiOptions {
    /// Defaults for everything but the address.
    pub fn new(address: impl Into<String>) -> Self {
        Self {
            address: address.into(),
            tokens: Vec::new(),
            longest_wait: Duration::from_secs(65 * 60),
            attempts: 6,
            pause: Duration::from_secs(1),
            timeout: Duration::from_secs(120),
        }
    }
}

impl std::fmt::Debug for ApiOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApiOptions")
            .field("address", &self.address)
            .field("tokens", &self.tokens.len())
            .field("longest_wait", &self.longest_wait)
            .field("attempts", &self.attempts)
            .finish_non_exhaustive()
    }
}

/// An API that can be asked.
#[derive(Debug)]
pub(super) struct Api {
    client: reqwest::Client,
    base: Url,
    options: ApiOptions,
    tokens: Tokens,
    requests: AtomicU64,
    kept: Mutex<VecDeque<CachedAnswer>>,
}

/// An answer with the tag under which the host knows it.
#[derive(Debug)]
struct CachedAnswer {
    url: Url,
    tag: String,
    answer: Answer,
}

/// A good answer.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) value: Value,
    /// The address of the next page, where the host names one.
    pub(super) next: Option<Url>,
    /// How many items the whole list has, where the host says it.
    pub(super) total: Option<u64>,
    /// The tag under which the host knows the answer.
    pub(super) tag: Option<String>,
}

/// An answer that may be one that is known.
#[derive(Clone, Debug)]
pub(super) enum Lookup {
    New(Answer),
    /// It is the one with the tag.
    Same,
    Absent,
}

/// What came of one request.
enum Outcome {
    Good(Answer),
    /// Try again after the pause.
    Broken(String),
    /// The token must rest, or is none.
    Refused(Refusal),
    Moved(Url),
    /// There is no such thing.
    Absent,
    Final(Error),
}

/// How a host's tokens are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenHeader {
    Bearer,
    Gitlab,
}

impl Api {
    pub(super) fn open(options: ApiOptions) -> Result<Self, Error> {
        // Refused if the program has chosen one before, which is as good.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let wrong = |what: &str| {
            let place = format!("`{}`: {what}", options.address);
            Error::new(
                ErrorKind::InvalidInput,
                "read the address of the API",
                place,
            )
        };
        let base = format!("{}/", options.address.trim_end_matches('/'));
        let base = Url::parse(&base).map_err(|why| wrong("no address").with_source(why))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(wrong("http or https expected"));
        }
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("atlas/", env!("CARGO_PKG_VERSION")))
            .timeout(options.timeout)
            .connect_timeout(Duration::from_secs(30))
            .referer(false)
            .retry(reqwest::retry::never())
            // A token must not follow to another address.
            .redirect(reqwest::redirect::Policy::none());
        if matches!(base.host_str(), Some("127.0.0.1" | "localhost" | "[::1]")) {
            builder = builder.no_proxy();
        }
        let client = builder
            .build()
            .map_err(|why| wrong("no connection").with_source(why))?;
        Ok(Self {
            client,
            base,
            tokens: Tokens::new(options.tokens.clone()),
            options,
            requests: AtomicU64::new(0),
            kept: Mutex::new(VecDeque::new()),
        })
    }

    pub(super) fn address(&self) -> &str {
        self.options.address.trim_end_matches('/')
    }

    /// Requests that were sent so far.
    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    pub(super) fn has_tokens(&self) -> bool {
        self.tokens.any()
    }

    pub(super) fn url(&self, path: &str) -> Result<Url, Error> {
        self.base.join(path).map_err(|why| {
            Error::new(
                ErrorKind::InvalidInput,
                "make the address",
                format!("`{path}`"),
            )
            .with_source(why)
        })
    }

    /// Asks for a page; `None` if there is no such thing. What the host still knows by its tag is not sent again.
    pub(super) async fn get(
        &self,
        cx: &RunContext,
        url: Url,
        header: TokenHeader,
    ) -> Result<Option<Answer>, Error> {
        let result = self
            .ask(cx, Method::GET, url, None, header, self.options.attempts)
            .await;
        result.map_err(|(why, _)| why)
    }

    /// Asks for a page that was read under a tag, in another process perhaps.
    pub(super) async fn look(
        &self,
        cx: &RunContext,
        url: Url,
        header: TokenHeader,
        tag: Option<&str>,
    ) -> Result<Lookup, Error> {
        if let Some(tag) = tag {
            let known = Answer {
                value: Value::Null,
                next: None,
                total: None,
                tag: Some(tag.to_owned()),
            };
            self.keep(&url, &known);
        }
        let answer = self.get(cx, url.clone(), header).await?;
        // No list is null: that is what was kept for the tag.
        self.lock().retain(|kept| !kept.answer.value.is_null());
        Ok(match answer {
            None => Lookup::Absent,
            Some(answer) if answer.value.is_null() => Lookup::Same,
            Some(answer) => Lookup::New(answer),
        })
    }

    /// Sends a question; the error says whether the server gave up on it, as too large ones make it.
    pub(super) async fn post(
        &self,
        cx: &RunContext,
        url: Url,
        body: &Value,
        attempts: u32,
    ) -> Result<Option<Answer>, (Error, bool)> {
        let attempts = attempts.min(self.options.attempts);
        self.ask(
            cx,
            Method::POST,
            url,
            Some(body),
            TokenHeader::Bearer,
            attempts,
        )
        .await
    }

    pub(super) fn attempts(&self) -> u32 {
        self.options.attempts
    }

    async fn ask(
        &self,
        cx: &RunContext,
        method: Method,
        mut url: Url,
        body: Option<&Value>,
        header: TokenHeader,
        attempts: u32,
    ) -> Result<Option<Answer>, (Error, bool)> {
        let (mut tries, mut moves, mut limits) = (0, 0, 0);
        loop {
            let token = match self.tokens.next(self.options.longest_wait) {
                Ok((token, wait)) => {
                    self.wait(cx, wait).await.map_err(|why| (why, false))?;
                    token
                }
                Err(why) => return Err((self.error(ErrorKind::TimedOut, &why), false)),
            };
            let outcome = self
                .once(cx, &method, &url, body, header, token.as_deref())
                .await;
            match outcome {
                Outcome::Good(answer) => return Ok(Some(answer)),
                Outcome::Absent => return Ok(None),
                Outcome::Final(why) => return Err((why, false)),
                Outcome::Moved(to) => {
                    moves += 1;
                    if moves > 5 || to.origin() != url.origin() {
                        let why = format!("it points to `{}`", to.host_str().unwrap_or_default());
                        return Err((self.error(ErrorKind::NotFound, &why), false));
                    }
                    url = to;
                }
                Outcome::Refused(refusal) => {
                    limits += 1;
                    if limits > 100 {
                        let why = "it refuses every request for its limits";
                        return Err((self.error(ErrorKind::TimedOut, why), false));
                    }
                    self.tokens
                        .rest(token.as_deref(), &refusal)
                        .map_err(|why| (self.error(ErrorKind::InvalidInput, &why), false))?;
                }
                Outcome::Broken(why) => {
                    tries += 1;
                    tracing::debug!(why, tries, "the host's answer is broken");
                    if tries >= attempts {
                        let why = format!("{why}, {tries} times");
                        return Err((self.error(ErrorKind::EngineUnreachable, &why), true));
                    }
                    let pause = self.options.pause.saturating_mul(1 << (tries - 1).min(10));
                    let pause = pause.min(Duration::from_secs(60));
                    self.wait(cx, pause).await.map_err(|why| (why, false))?;
                }
            }
        }
    }

    fn error(&self, kind: ErrorKind, why: &str) -> Error {
        Error::new(kind, "ask", format!("`{}`", self.address())).with_source(why.to_owned())
    }

    async fn wait(&self, cx: &RunContext, time: Duration) -> Result<(), Error> {
        cx.check("ask the host")?;
        if time.is_zero() {
            return Ok(());
        }
        if time > Duration::from_secs(5) {
            cx.progress.detail(&format!(
                "waiting {} s for the host's limit",
                time.as_secs()
            ));
        }
        tokio::select! {
            () = cx.cancel.cancelled() => cx.check("wait for the host"),
            () = tokio::time::sleep(time) => Ok(()),
        }
    }

    async fn once(
        &self,
        cx: &RunContext,
        method: &Method,
        url: &Url,
        body: Option<&Value>,
        header: TokenHeader,
        token: Option<&str>,
    ) -> Outcome {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let mut request = self
            .client
            .request(method.clone(), url.clone())
            .header("accept", "application/json");
        request = match (token, header) {
            (None, _) => request,
            (Some(token), TokenHeader::Bearer) => request.bearer_auth(token),
            (Some(token), TokenHeader::Gitlab) => request.header("private-token", token),
        };
        if let Some(body) = body {
            request = request
                .header("content-type", "application/json")
                .body(body.to_string());
        } else if let Some(tag) = self.tag(url) {
            request = request.header(IF_NONE_MATCH, tag);
        }
        let work = async {
            let response = request.send().await.map_err(cause)?;
            let (status, headers) = (response.status(), response.headers().clone());
            let text = whole(response).await?;
            Ok::<_, String>((status, headers, text))
        };
        let (status, headers, text) = tokio::select! {
            () = cx.cancel.cancelled() => {
                return match cx.check("ask the host") {
                    Err(why) => Outcome::Final(why),
                    Ok(()) => Outcome::Broken("cancelled".to_owned()),
                };
            }
            done = work => match done {
                Ok(done) => done,
                Err(why) => return Outcome::Broken(why),
            },
        };
        self.read(url, status, &headers, &text)
    }

    fn read(&self, url: &Url, status: StatusCode, headers: &HeaderMap, text: &str) -> Outcome {
        if let Some(refusal) = Refusal::of(status, headers, text) {
            return Outcome::Refused(refusal);
        }
        match status {
            StatusCode::OK => match serde_json::from_str(text) {
                Ok(value) => {
                    let header = |name: &str| headers.get(name).and_then(|text| text.to_str().ok());
                    let answer = Answer {
                        value,
                        next: next_page(headers, url),
                        total: header("x-total").and_then(|total| total.parse().ok()),
                        tag: header(ETAG.as_str()).map(str::to_owned),
                    };
                    self.keep(url, &answer);
                    Outcome::Good(answer)
                }
                Err(why) => Outcome::Broken(format!(
                    "an answer of {} bytes that is no JSON ({why})",
                    text.len()
                )),
            },
            StatusCode::NOT_MODIFIED => match self.kept(url) {
                Some(answer) => Outcome::Good(answer),
                None => Outcome::Broken("304 without an earlier answer".to_owned()),
            },
            StatusCode::NOT_FOUND | StatusCode::GONE => Outcome::Absent,
            StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT => {
                let to = headers.get(LOCATION).and_then(|to| to.to_str().ok());
                match to.and_then(|to| url.join(to).ok()) {
                    Some(to) => Outcome::Moved(to),
                    None => Outcome::Broken(format!("{status} without an address")),
                }
            }
            status if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT => {
                Outcome::Broken(format!("{status}"))
            }
            status => {
                let said: String = text.chars().take(300).collect();
                let why = format!(
                    "{status}: {}",
                    said.split_whitespace().collect::<Vec<_>>().join(" ")
                );
                Outcome::Final(self.error(ErrorKind::InvalidInput, &why))
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<CachedAnswer>> {
        self.kept
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn tag(&self, url: &Url) -> Option<String> {
        Some(
            self.lock()
                .iter()
                .find(|kept| kept.url == *url)?
                .tag
                .clone(),
        )
    }

    fn kept(&self, url: &Url) -> Option<Answer> {
        Some(
            self.lock()
                .iter()
                .find(|kept| kept.url == *url)?
                .answer
                .clone(),
        )
    }

    fn keep(&self, url: &Url, answer: &Answer) {
        let Some(tag) = &answer.tag else {
            return;
        };
        let mut all = self.lock();
        all.retain(|kept| kept.url != *url);
        if all.len() >= KEPT {
            all.pop_front();
        }
        all.push_back(CachedAnswer {
            url: url.clone(),
            tag: tag.clone(),
            answer: answer.clone(),
        });
    }
}

/// The address with `rel="next"`, if it is at the same host.
fn next_page(headers: &HeaderMap, url: &Url) -> Option<Url> {
    let links = headers.get(LINK)?.to_str().ok()?;
    let next = links
        .split(',')
        .find(|link| link.contains("rel=\"next\""))?;
    let address = next.split_once('<')?.1.split_once('>')?.0;
    url.join(address)
        .ok()
        .filter(|next| next.origin() == url.origin())
}

/// Reads a body whole; one that breaks off is no answer.
async fn whole(mut response: reqwest::Response) -> Result<String, String> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(cause)? {
        body.extend_from_slice(&piece);
        if body.len() > MOST_BYTES {
            return Err(format!("an answer of more than {} MiB", MOST_BYTES >> 20));
        }
    }
    String::from_utf8(body).map_err(|_| "an answer that is no UTF-8".to_owned())
}

/// What failed, without the address: it may name what is private.
fn cause(why: reqwest::Error) -> String {
    use std::error::Error as _;
    let why = why.without_url();
    let mut text = why.to_string();
    let mut next = why.source();
    while let Some(source) = next {
        text = format!("{text}: {source}");
        next = source.source();
    }
    text
}
