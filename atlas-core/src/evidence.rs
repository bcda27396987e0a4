//! Where a conclusion comes from.

use serde::{Deserialize, Serialize};

/// One proof line: a place and what stands there.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Evidence {
    /// The file or log, relative to the repository or the artefacts: `.github/workflows/ci.yml`.
    pub source: String,
    /// Line in that file, from 1; absent where a whole file is the proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// What stands there, or what follows from it.
    pub text: String,
}

impl Evidence {
    /// Evidence at one line.
    pub fn at(source: impl Into<String>, line: usize, text: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            line: Some(line),
            text: text.into(),
        }
    }

    /// Evidence from a whole file or folder.
    pub fn of(source: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            line: None,
            text: text.into(),
        }
    }
}
