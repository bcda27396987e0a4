//! Where requests go, and what goes with each.

use super::client;
use super::dialect::Dialect;
use super::refusal;
use super::secret::Secret;
use crate::ModelConfig;
use crate::failure::{CallFailure, FailureCause, shorten};
use atlas_core::{Error, ErrorKind};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::Value;

/// One address of a server, with the connection, the headers and the key.
#[derive(Debug)]
pub(super) struct Endpoint {
    url: reqwest::Url,
    headers: HeaderMap,
    pub(super) key: Secret,
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
        if !parsed.username().is_empty() || parsed.password().is_some() || parsed.query().is_some()
        {
            return Err(wrong(
                "`base_url` holds a user, a password or a query; name the variable that holds the \
                 key with `key_env`"
                    .to_owned(),
            ));
        }
        if config.model.is_empty() && dialect != Dialect::OpenAi {
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
        let key = Secret::read(config.key_env.as_deref().or(provider.usual_key()))?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let (header, before) = dialect.key_header();
        if let Some(value) = key.header(before)? {
            headers.insert(header, value);
        }
        headers.extend(dialect.more_headers());
        let url = reqwest::Url::parse(&address(base))
            .map_err(|why| wrong(format!("`model` makes no address: {why}")))?;
        Ok(Self {
            client: client::client(config, &url)?,
            url,
            headers,
            key,
        })
    }

    /// Sends a request. A response whose status is no success is a failure; `logprobs` says whether some
    /// were asked for.
    pub(super) async fn post(
        &self,
        body: &Value,
        logprobs: bool,
    ) -> Result<reqwest::Response, CallFailure> {
        let response = self
            .client
            .post(self.url.clone())
            .headers(self.headers.clone())
            .body(body.to_string())
            .send()
            .await
            .map_err(client::failed)?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        // A refusal whose explanation is lost is a refusal all the same.
        let body = client::whole(response).await.unwrap_or_default();
        let body = self.key.scrub(body);
        Err(refusal::refused(status, &headers, &body, logprobs))
    }

    /// Reads a response whole, as JSON that holds no error.
    pub(super) async fn json(
        &self,
        response: reqwest::Response,
        logprobs: bool,
    ) -> Result<Value, CallFailure> {
        let status = response.status().as_u16();
        let body = self.key.scrub(client::whole(response).await?);
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

pub(super) fn wrong(config: &ModelConfig, why: String) -> Error {
    Error::new(
        ErrorKind::InvalidInput,
        "open the model",
        format!("`{}`", config.name()),
    )
    .with_source(why)
}
