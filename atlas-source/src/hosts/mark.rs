//! How far an API was read: cursors within one reading, marks from one to the next.

use atlas_core::{Error, ErrorKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the next reading begins from: [`SourcedPage::mark`](atlas_core::SourcedPage::mark) as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Mark {
    /// The repository's name, as the host had it.
    pub(super) repo: String,
    /// When the latest change was, RFC 3339 in UTC; empty where there was none.
    pub(super) updated: String,
    /// Number -> the host's own words for when it was changed, of those that were changed in that very second.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) latest: BTreeMap<u64, String>,
    /// The tag under which the host knows its list of the latest changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tag: Option<String>,
}

impl Mark {
    pub(super) fn read(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(|why| {
            let place = format!("`{text}`");
            Error::new(ErrorKind::InvalidInput, "go on from the mark", place).with_source(why)
        })
    }

    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).expect("names, times and numbers become JSON")
    }

    /// Why nothing that was told holds any more, where the repository has another name now.
    pub(super) fn moved(&self, now: &str) -> Option<String> {
        (self.repo != now).then(|| format!("`{}` is `{now}` now", self.repo))
    }

    /// Whether something was changed at this time or since. What was changed in the second of the mark may have
    /// been changed again after it was read.
    pub(super) fn reaches(&self, updated: &str) -> bool {
        updated >= self.updated.as_str()
    }
}

/// The page of a list that a cursor names: the first one without any.
pub(super) fn page_number(cursor: Option<&str>) -> Result<u32, Error> {
    let text = cursor.unwrap_or("1");
    text.parse().map_err(|why| {
        let place = format!("`{text}`");
        Error::new(ErrorKind::InvalidInput, "go on from the page", place).with_source(why)
    })
}
