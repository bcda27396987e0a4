//! The three states of a repository around a pull request.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A repository state relative to one pull request (paper 001, section 3.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The base commit, untouched.
    Base,
    /// Base with the test patch applied.
    Before,
    /// Before with the gold patch applied.
    After,
}

impl State {
    /// All states in the order in which they are built on each other.
    pub const ALL: [Self; 3] = [Self::Base, Self::Before, Self::After];

    /// `base`, `before` or `after`, as used in file names and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
