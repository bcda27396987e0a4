//! The connection: TLS, time limits, and bodies that may break off.

use crate::ModelConfig;
use crate::failure::{CallFailure, FailureCause, shorten};
use atlas_core::{Error, ErrorKind};
use std::error::Error as StdError;
use std::time::Duration;

/// An answer larger than this is no answer.
pub(super) const MOST_BYTES: usize = 64 << 20;

/// A client for one model's address.
pub(super) fn client(config: &ModelConfig, base: &reqwest::Url) -> Result<reqwest::Client, Error> {
    // Refused if the program has chosen one before, which is as good.
    let _chosen = rustls::crypto::ring::default_provider().install_default();
    let time = |name: &str, seconds: f64| {
        Duration::try_from_secs_f64(seconds).map_err(|_| {
            Error::new(
                ErrorKind::InvalidInput,
                "read the model's",
                format!("`{name}`: {seconds} is no number of seconds"),
            )
        })
    };
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("atlas/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(time("connect_timeout", config.connect_timeout)?)
        .timeout(time("timeout", config.timeout)?)
        .referer(false)
        .retry(reqwest::retry::never())
        // The key must not follow to another address.
        .redirect(reqwest::redirect::Policy::none());
    if matches!(base.host_str(), Some("127.0.0.1" | "localhost" | "[::1]")) {
        builder = builder.no_proxy();
    }
    if let Some(path) = &config.ca_file {
        let pem =
            std::fs::read(path).map_err(|why| Error::io("read the certificates in", path, why))?;
        let roots = reqwest::Certificate::from_pem_bundle(&pem).map_err(|why| {
            Error::new(
                ErrorKind::InvalidInput,
                "read the certificates in",
                format!("`{}`", path.display()),
            )
            .with_source(why)
        })?;
        builder = builder.tls_certs_merge(roots);
    }
    builder.build().map_err(|why| {
        Error::new(
            ErrorKind::InvalidInput,
            "prepare the connection to",
            "the model",
        )
        .with_source(why.without_url())
    })
}

/// What a failed request or body means. The address is left out: it may name what is private.
pub(super) fn failed(why: reqwest::Error) -> CallFailure {
    let cause = if why.is_connect() {
        FailureCause::Connect
    } else if why.is_timeout() {
        FailureCause::TimedOut
    } else {
        FailureCause::Reset
    };
    let why = why.without_url();
    let mut message = why.to_string();
    let mut next = why.source();
    while let Some(source) = next {
        let more = source.to_string();
        if !message.contains(&more) {
            message = format!("{message}: {more}");
        }
        next = source.source();
    }
    CallFailure::new(cause, shorten(&message, 500))
}

/// Reads a body whole.
pub(super) async fn whole(mut response: reqwest::Response) -> Result<String, CallFailure> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(None) => return Ok(String::from_utf8_lossy(&body).into_owned()),
            Ok(Some(piece)) => body.extend_from_slice(&piece),
            Err(why) => {
                let mut failure = failed(why);
                failure.message = format!(
                    "{} after {} bytes of the response",
                    failure.message,
                    body.len()
                );
                return Err(failure);
            }
        }
        if body.len() > MOST_BYTES {
            return Err(too_large());
        }
    }
}

pub(super) fn too_large() -> CallFailure {
    CallFailure::new(
        FailureCause::Unreadable,
        format!("the response is larger than {} MiB", MOST_BYTES >> 20),
    )
}
