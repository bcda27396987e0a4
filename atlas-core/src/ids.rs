//! Names that must not be mixed up, checked once where they enter.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The name of one task: `owner__repo-123` in the field's convention.
///
/// It becomes a file name, a folder name and part of a container name, so it is limited to ASCII
/// letters, digits, `.`, `_` and `-`, starts with a letter or a digit, and has at most 200
/// characters.
///
/// ```
/// let id: atlas_core::InstanceId = "adrienverge__yamllint-746".parse()?;
/// assert_eq!(id.as_str(), "adrienverge__yamllint-746");
/// assert!("../etc".parse::<atlas_core::InstanceId>().is_err());
/// # Ok::<(), atlas_core::InvalidInstanceId>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InstanceId(String);

/// Why a text is no [`InstanceId`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "instance id `{}`: 1 to 200 characters out of A-Z a-z 0-9 . _ - are allowed, the first a letter or a digit",
    shown(.0)
)]
pub struct InvalidInstanceId(pub String);

/// The first characters of a text, for a message.
fn shown(text: &str) -> String {
    const MOST: usize = 100;
    let mut short: String = text.chars().take(MOST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

impl InstanceId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for InstanceId {
    type Err = InvalidInstanceId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let good = !text.is_empty()
            && text.len() <= 200
            && text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.chars().all(allowed);
        if good {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidInstanceId(text.to_owned()))
        }
    }
}

impl TryFrom<String> for InstanceId {
    type Error = InvalidInstanceId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<InstanceId> for String {
    fn from(id: InstanceId) -> Self {
        id.0
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A full commit id: 40 (SHA-1) or 64 (SHA-256) lower-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CommitSha(String);

/// Why a text is no [`CommitSha`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("commit id `{0}`: 40 or 64 hexadecimal digits expected")]
pub struct InvalidCommitSha(pub String);

impl CommitSha {
    /// The commit id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first 12 digits, for messages and tags.
    pub fn short(&self) -> &str {
        &self.0[..12]
    }
}

impl FromStr for CommitSha {
    type Err = InvalidCommitSha;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let good = matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
        if good {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(InvalidCommitSha(text.to_owned()))
        }
    }
}

impl TryFrom<String> for CommitSha {
    type Error = InvalidCommitSha;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<CommitSha> for String {
    fn from(sha: CommitSha) -> Self {
        sha.0
    }
}

impl fmt::Display for CommitSha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
