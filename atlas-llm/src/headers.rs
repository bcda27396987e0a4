//! Headers of one's own, whose values nothing prints.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::fmt;

/// Headers that Atlas makes itself, or that would change how a request is read.
const RESERVED: [&str; 8] = [
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "host",
    "te",
    "transfer-encoding",
];
/// Words in the names of headers whose values are secrets.
const SECRET: [&str; 8] = [
    "auth",
    "cookie",
    "credential",
    "key",
    "passw",
    "secret",
    "session",
    "token",
];
/// Headers that a server knows its callers by: with one of these, a provider's usual key is not needed.
const AUTHENTICATION: [&str; 4] = ["api-key", "authorization", "x-api-key", "x-goog-api-key"];

/// Headers that are sent with every request of a model, by name in lower case: a table of TOML.
///
/// A value `env:NAME` is read from the environment variable when the model is opened. What identifies a caller
/// (a name with `key`, `token`, `auth`, `cookie` and the like in it) must be given so. `Debug` shows names alone.
///
/// ```
/// let headers = |text: &str| serde_json::from_str::<atlas_llm::Headers>(text);
/// assert!(headers(r#"{"api-key": "env:AZURE_OPENAI_API_KEY", "x-team": "tests"}"#).is_ok());
/// let why = headers(r#"{"api-key": "1234"}"#).unwrap_err();
/// assert!(why.to_string().contains("env:"));
/// ```
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "BTreeMap<String, String>")]
pub struct Headers(BTreeMap<String, String>);

/// Why a table holds no headers; the message names the header and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidHeaders(String);

impl fmt::Display for InvalidHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for InvalidHeaders {}

impl TryFrom<BTreeMap<String, String>> for Headers {
    type Error = InvalidHeaders;

    fn try_from(table: BTreeMap<String, String>) -> Result<Self, InvalidHeaders> {
        let mut headers = BTreeMap::new();
        for (name, value) in table {
            let wrong = |why: &str| Err(InvalidHeaders(format!("the header `{name}`: {why}")));
            let is_sign =
                |sign: u8| sign.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&sign);
            if name.is_empty() || !name.bytes().all(is_sign) {
                return wrong("no header has such a name; letters, digits and `-` make one");
            }
            let lower = name.to_ascii_lowercase();
            if RESERVED.contains(&lower.as_str()) {
                return wrong("Atlas sets it itself; leave it out");
            }
            match value.strip_prefix("env:") {
                Some(variable) if variable.trim().is_empty() => {
                    return wrong("the name of a variable is missing behind `env:`");
                }
                None if SECRET.iter().any(|word| lower.contains(word)) => {
                    return wrong(
                        "its value is a secret; name the environment variable that holds it, as `env:NAME`",
                    );
                }
                None if value
                    .chars()
                    .any(|sign| sign.is_control() || !sign.is_ascii()) =>
                {
                    return wrong("its value holds a character that no header may hold");
                }
                _ => {}
            }
            if headers.insert(lower, value).is_some() {
                return wrong("it stands twice, in other letters");
            }
        }
        Ok(Self(headers))
    }
}

impl Headers {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names, in lower case and in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// What stands for who asks, if a header does: the text of its value, with `env:`.
    pub(crate) fn caller(&self) -> Option<&str> {
        let found = AUTHENTICATION.iter().find_map(|name| self.0.get(*name));
        found.map(String::as_str)
    }

    /// Names with their values as they are written: `env:NAME` or a text.
    #[cfg(feature = "http")]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
