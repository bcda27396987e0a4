//! The key, which nothing prints.

use atlas_core::{Error, ErrorKind};
use reqwest::header::HeaderValue;
use std::fmt;

/// Shorter texts than this are not looked for in answers: they stand in ordinary words.
const SHORTEST: usize = 8;

/// A key out of the environment, or none.
#[derive(Clone, Default)]
pub(super) struct Secret(Option<String>);

impl Secret {
    /// Reads the variable.
    pub(super) fn read(variable: Option<&str>) -> Result<Self, Error> {
        let Some(variable) = variable else {
            return Ok(Self::default());
        };
        let wrong = |why: &str| {
            Error::new(
                ErrorKind::InvalidInput,
                "read the key from the environment variable",
                format!("`{variable}`"),
            )
            .with_source(why.to_owned())
        };
        match std::env::var(variable) {
            Ok(key) if !key.trim().is_empty() => Ok(Self(Some(key.trim().to_owned()))),
            Ok(_) | Err(std::env::VarError::NotPresent) => Err(wrong(
                "it is not set; export it, or name another one with `key_env` or in `headers`",
            )),
            Err(std::env::VarError::NotUnicode(_)) => Err(wrong("it holds no text")),
        }
    }

    /// The value of a header, `before` with the key behind it.
    pub(super) fn header(&self, before: &str) -> Result<Option<HeaderValue>, Error> {
        let Some(key) = &self.0 else {
            return Ok(None);
        };
        let mut value = HeaderValue::from_str(&format!("{before}{key}")).map_err(|_| {
            Error::new(
                ErrorKind::InvalidInput,
                "send the key",
                "in a header: it holds a character that no header may hold",
            )
        })?;
        value.set_sensitive(true);
        Ok(Some(value))
    }

    /// A text of the server without the key, should it have been sent back.
    fn scrub(&self, text: String) -> String {
        match &self.0 {
            Some(key) if key.len() >= SHORTEST && text.contains(key) => text.replace(key, "[key]"),
            _ => text,
        }
    }
}

/// All that goes with requests and must not come out again.
#[derive(Clone, Debug, Default)]
pub(super) struct Secrets(Vec<Secret>);

impl Secrets {
    pub(super) fn add(&mut self, secret: Secret) {
        self.0.push(secret);
    }

    /// A text of the server without the secrets, should they have been sent back.
    pub(super) fn scrub(&self, text: String) -> String {
        self.0.iter().fold(text, |text, secret| secret.scrub(text))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "[key]" } else { "none" })
    }
}
