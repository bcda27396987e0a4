//! One line of `go test -json`.

use serde::Deserialize;
use std::borrow::Cow;

/// The fields of an event that say something about results.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Event<'a> {
    #[serde(borrow)]
    pub(super) action: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) package: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) test: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) output: Option<Cow<'a, str>>,
    /// Only on the events of a build.
    #[serde(borrow, default)]
    pub(super) import_path: Option<Cow<'a, str>>,
    /// The build that failed, on a package's last event.
    #[serde(borrow, default)]
    pub(super) failed_build: Option<Cow<'a, str>>,
}

impl<'a> Event<'a> {
    /// The event in this line; `None` for any other JSON.
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        let event: Self = serde_json::from_slice(line).ok()?;
        (event.package.is_some() || event.import_path.is_some()).then_some(event)
    }
}
