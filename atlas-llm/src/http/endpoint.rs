//! Where requests go, and what goes with each.

use super::client;
use super::dialect::Dialect;
use super::refusal;
use super::secret::{Secret, Secrets};
use crate::ModelConfig;
use crate::failure::{CallFailure, FailureCause, shorten};
use crate::pace::Pace;
use atlas_core::{Error, ErrorKind};
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Time for what is larger than an answer.
const LONGEST: Duration = Duration::from_secs(3600);

/// One address of a server, with the connection, the headers and the key.
#[derive(Debug)]
pub(super) struct Endpoint {
    url: reqwest::Url,
    headers: HeaderMap,
    pub(super) secrets: Secrets,
    pub(super) pace: Arc<Pace>,
    client: reqwest::Client,
}

impl Endpoint {
    /// Checks the configuration's address and reads its key. `address` makes the whole address out of the
    /// base.
    pub(super) fn open(
        config: &ModelConfig,
        dialect: Dialect,
        address: impl FnOnce(&str) -> String,
    ) -> Result<Self, Error> {
        let wrong = |why: String| wrong(config, why);
        let provider = config.provider;
        let base = config
            .base_url
            .as_deref()
            .or(provider.usual_url())
            .ok_or_else(|| wrong(format!("`{provider}` needs a `base_url`")))?;
        // The address is never repeated in an error: it may hold what must not be shown.
        let parsed = reqwest::Url::parse(base)
            .map_err(|why| wrong(format!("`base_url` is no address: {why}")))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(wrong(
                "`base_url` begins with neither http nor https".to_owned(),
            ));
        }
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(wrong(
                "`base_url` holds a user or a password; name the variable that holds the key with \
                 `key_env`, or give `headers`"
                    .to_owned(),
            ));
        }
        let is_secret = |name: &str| {
            let name = name.to_ascii_lowercase();
            let words = [
                "key",
                "token",
                "secret",
                "sig",
                "auth",
                "passw",
                "credential",
                "code",
            ];
            words.iter().any(|word| name.contains(word))
        };
        // It stands in the settings of results.
        if let Some((name, _)) = parsed.query_pairs().find(|(name, _)| is_secret(name)) {
            return Err(wrong(format!(
                "`base_url` holds a query with a key, `{name}`; name the variable that holds it in \
                 `headers`, as `api-key = \"env:NAME\"`, or with `key_env`"
            )));
        }
        if config.model.is_empty() && !matches!(dialect, Dialect::OpenAi | Dialect::Responses) {
            return Err(wrong("`model` is missing".to_owned()));
        }
        if let Some(field) = dialect
            .reserved()
            .iter()
            .find(|field| config.extra_body.contains_key(**field))
        {
            return Err(wrong(format!(
                "`extra_body` may not hold `{field}`: it follows from the question, or `{provider}` \
                 ignores it"
            )));
        }
        let key = Secret::read(config.key_variable())?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let (header, before) = dialect.key_header();
        if let Some(value) = key.header(before)? {
            headers.insert(header, value);
        }
        headers.extend(dialect.more_headers());
        let mut secrets = Secrets::default();
        secrets.add(key);
        for (name, text) in config.headers.iter() {
            let own = HeaderName::try_from(name)
                .map_err(|why| wrong(format!("`headers`: `{name}`: {why}")))?;
            let value = match text.strip_prefix("env:") {
                Some(variable) => {
                    let secret = Secret::read(Some(variable.trim()))?;
                    let value = secret.header("")?;
                    secrets.add(secret);
                    value
                }
                None => HeaderValue::from_str(text).ok(),
            };
            let mut value = value.ok_or_else(|| {
                wrong(format!(
                    "`headers`: the value of `{name}` is none of a header"
                ))
            })?;
            value.set_sensitive(true);
            headers.insert(own, value);
        }
        let (base, query) = base.split_once('?').unwrap_or((base, ""));
        let mut url = reqwest::Url::parse(&address(base))
            .map_err(|why| wrong(format!("`model` makes no address: {why}")))?;
        if !query.is_empty() {
            let whole = match url.query() {
                Some(own) => format!("{own}&{query}"),
                None => query.to_owned(),
            };
            url.set_query(Some(&whole));
        }
        Ok(Self {
            client: client::client(config, &url)?,
            url,
            headers,
            secrets,
            pace: Pace::of(config),
        })
    }

    /// Sends a question. A response whose status is no success is a failure; `logprobs` says whether some
    /// were asked for.
    pub(super) async fn post(
        &self,
        body: &Value,
        logprobs: bool,
    ) -> Result<reqwest::Response, CallFailure> {
        let request = self.client.post(self.url.clone());
        let request = request.headers(self.headers.clone());
        self.answer(request.body(body.to_string()), logprobs).await
    }

    /// Sends any other request: a body with its type, or none. What it moves may be large, so it may take an hour.
    pub(super) async fn send(
        &self,
        method: Method,
        url: reqwest::Url,
        body: Option<(&str, String)>,
    ) -> Result<reqwest::Response, CallFailure> {
        let mut headers = self.headers.clone();
        let mut request = self.client.request(method, url).timeout(LONGEST);
        if let Some((kind, body)) = body {
            if let Ok(kind) = HeaderValue::from_str(kind) {
                headers.insert(CONTENT_TYPE, kind);
            }
            request = request.body(body);
        }
        self.answer(request.headers(headers), false).await
    }

    /// An address below this one, with its query and more.
    pub(super) fn below(&self, parts: &[&str], query: &[(&str, &str)]) -> reqwest::Url {
        let mut url = self.url.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.extend(parts);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    async fn answer(
        &self,
        request: reqwest::RequestBuilder,
        logprobs: bool,
    ) -> Result<reqwest::Response, CallFailure> {
        let response = request.send().await.map_err(client::failed)?;
        let headers = response.headers();
        self.pace
            .left(left(headers, "requests"), left(headers, "tokens"));
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        // A refusal whose explanation is lost is a refusal all the same.
        let body = client::whole(response).await.unwrap_or_default();
        let body = self.secrets.scrub(body);
        Err(refusal::refused(status, &headers, &body, logprobs))
    }

    /// Reads a response whole, as JSON that holds no error.
    pub(super) async fn json(
        &self,
        response: reqwest::Response,
        logprobs: bool,
    ) -> Result<Value, CallFailure> {
        let status = response.status().as_u16();
        let body = self.secrets.scrub(client::whole(response).await?);
        let parsed: Value = serde_json::from_str(&body).map_err(|why| {
            let begin = shorten(&body, 200);
            let message = format!("no JSON ({why}), {} bytes: `{begin}`", body.len());
            let mut failure = CallFailure::new(FailureCause::Unreadable, message);
            failure.status = Some(status);
            failure
        })?;
        match refusal::embedded(&parsed, logprobs) {
            Some(failure) => Err(failure),
            None => Ok(parsed),
        }
    }
}

/// What the server says is left of requests or tokens, and how long until there are more: in OpenAI's headers, or in
/// Anthropic's. Of Anthropic's several counts of tokens the one over all goes first, then the one of what is read; what
/// is written counts where nothing is left of it.
fn left(headers: &HeaderMap, what: &str) -> Option<(u64, Duration)> {
    let text = |name: String| Some(headers.get(name)?.to_str().ok()?.trim());
    let count = |text: &str| {
        // Some servers count below nothing.
        let count = text.parse::<i64>().ok()?;
        Some(u64::try_from(count).unwrap_or_default())
    };
    let anthropic = |what: &str| {
        let remaining = count(text(format!("anthropic-ratelimit-{what}-remaining"))?)?;
        let reset = text(format!("anthropic-ratelimit-{what}-reset"))?;
        Some((remaining, until(reset, headers)?))
    };
    if let Some(remaining) = text(format!("x-ratelimit-remaining-{what}")) {
        let reset = text(format!("x-ratelimit-reset-{what}"))?;
        return Some((count(remaining)?, time(reset)?));
    }
    if what != "tokens" {
        return anthropic(what);
    }
    let written = anthropic("output-tokens").filter(|(count, _)| *count == 0);
    written
        .or_else(|| anthropic("tokens"))
        .or_else(|| anthropic("input-tokens"))
}

/// How long until a time as `2026-01-27T12:00:00Z`, by the server's own clock where it shows it; an hour at most, and
/// nothing where it has passed.
fn until(text: &str, headers: &HeaderMap) -> Option<Duration> {
    let at = chrono::DateTime::parse_from_rfc3339(text).ok()?;
    let date = headers.get(DATE).and_then(|date| date.to_str().ok());
    let date = date.and_then(|date| httpdate::parse_http_date(date).ok());
    let now = date.unwrap_or_else(SystemTime::now);
    let now = now
        .duration_since(SystemTime::UNIX_EPOCH)
        .ok()?
        .as_secs_f64();
    let at = f64::from(at.timestamp_subsec_millis()) / 1000.0 + seconds_of(at.timestamp());
    let left = Duration::try_from_secs_f64((at - now).max(0.0)).ok()?;
    (left <= Duration::from_secs(3600)).then_some(left)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "seconds since 1970, exact for the next millions of years"
)]
fn seconds_of(timestamp: i64) -> f64 {
    timestamp as f64
}

/// A time as `20ms`, `6m0s`, `1h2m3.5s` or `1.5`, at most an hour: what is longer is no limit by the minute.
fn time(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|sign: char| !sign.is_ascii_digit() && sign != '.');
        let (number, unit) = rest.split_at(end.unwrap_or(rest.len()));
        let after = unit.find(|sign: char| sign.is_ascii_digit());
        let (unit, behind) = unit.split_at(after.unwrap_or(unit.len()));
        let factor = match unit {
            "ms" => 0.001,
            "s" | "" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        seconds += number.parse::<f64>().ok()? * factor;
        rest = behind;
    }
    let time = Duration::try_from_secs_f64(seconds).ok()?;
    (!text.is_empty() && time <= Duration::from_secs(3600)).then_some(time)
}

pub(super) fn wrong(config: &ModelConfig, why: String) -> Error {
    Error::new(
        ErrorKind::InvalidInput,
        "open the model",
        format!("`{}`", config.name()),
    )
    .with_source(why)
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&str, &str)| {
            let name = HeaderName::try_from(*name).unwrap();
            (name, HeaderValue::from_str(value).unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    /// Anthropic's page on its rate limits names these headers.
    #[test]
    fn anthropic_s_counts_are_read_by_its_own_clock() {
        let sent = headers(&[
            ("date", "Wed, 04 Mar 2026 12:00:00 GMT"),
            ("anthropic-ratelimit-requests-remaining", "0"),
            ("anthropic-ratelimit-requests-reset", "2026-03-04T12:00:30Z"),
            ("anthropic-ratelimit-input-tokens-remaining", "900"),
            (
                "anthropic-ratelimit-input-tokens-reset",
                "2026-03-04T12:00:05.5Z",
            ),
            ("anthropic-ratelimit-output-tokens-remaining", "40"),
            (
                "anthropic-ratelimit-output-tokens-reset",
                "2026-03-04T07:01:00-05:00",
            ),
        ]);
        let read = |headers: &HeaderMap, what: &str| {
            super::left(headers, what).map(|(count, wait)| (count, wait.as_secs_f64()))
        };
        assert_eq!(read(&sent, "requests"), Some((0, 30.0)));
        assert_eq!(read(&sent, "tokens"), Some((900, 5.5)));
        let mut none_written = sent.clone();
        let none = HeaderValue::from_static("0");
        none_written.insert("anthropic-ratelimit-output-tokens-remaining", none);
        assert_eq!(read(&none_written, "tokens"), Some((0, 60.0)));
        let mut all = sent;
        for (name, value) in [("remaining", "70"), ("reset", "2026-03-04T11:59:00Z")] {
            let name = HeaderName::try_from(format!("anthropic-ratelimit-tokens-{name}")).unwrap();
            all.insert(name, HeaderValue::from_static(value));
        }
        assert_eq!(read(&all, "tokens"), Some((70, 0.0)));
        let late = headers(&[
            ("date", "Wed, 04 Mar 2026 12:00:00 GMT"),
            ("anthropic-ratelimit-tokens-remaining", "0"),
            ("anthropic-ratelimit-tokens-reset", "2026-03-05T12:00:00Z"),
        ]);
        assert_eq!(read(&late, "tokens"), None);
    }

    #[test]
    fn times_until_there_is_more_are_read() {
        let read = |text: &str| super::time(text).map(|time| time.as_secs_f64());
        for (text, seconds) in [
            ("20ms", Some(0.02)),
            ("6m0s", Some(360.0)),
            ("1m3.5s", Some(63.5)),
            ("1h", Some(3600.0)),
            ("1.5", Some(1.5)),
            ("0s", Some(0.0)),
            ("24h", None),
            ("", None),
            ("soon", None),
            ("s", None),
            ("2026-01-27T12:00:00Z", None),
            ("1735689600000", None),
        ] {
            assert_eq!(read(text), seconds, "{text}");
        }
    }
}
