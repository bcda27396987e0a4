//! Code hosts: APIs, archives and clones that list merged pull requests.

use crate::{Error, RunContext, SourcedPullRequest};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Some merged pull requests of a host, and where to go on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SourcedPage {
    /// The pull requests, in the host's order.
    pub pull_requests: Vec<SourcedPullRequest>,
    /// What the host named and could not tell of.
    pub skipped: Vec<SkippedPullRequest>,
    /// What [`CodeHost::page`] takes to go on; absent behind the last page.
    pub next: Option<String>,
    /// How many requests this page took; 0 for what is on this machine.
    pub requests: u64,
}

/// A pull request of which no candidate can be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkippedPullRequest {
    /// What is known by name: `owner/name#12`.
    pub name: String,
    /// Why nothing can be made of it.
    pub reason: String,
}

/// A place that tells of merged pull requests: a host's API, an archive, a clone.
///
/// # Contract
/// - Pages follow one another by their cursors; `None` begins. A cursor is text without line ends, means the same in another
///   process, and asks again for the very page that it asked for before, as long as the host has nothing new.
/// - Every pull request comes once over all pages, and the pages end.
/// - What the host does not tell is absent. Times are RFC 3339 in UTC.
/// - One faulty pull request does not end a page: it is among [`SourcedPage::skipped`], with the reason.
#[async_trait]
pub trait CodeHost: fmt::Debug + Send + Sync {
    /// What is asked, for reports: `https://api.github.com owner/name`. Two hosts of one name give the same pages.
    fn name(&self) -> String;

    /// The page behind a cursor.
    ///
    /// # Errors
    /// The host cannot be asked, or refuses; an unknown cursor is [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput).
    ///
    /// # Cancellation
    /// Raising `cx.cancel` ends a wait for the host; nothing is kept of the page.
    async fn page(&self, cx: &RunContext, cursor: Option<&str>) -> Result<SourcedPage, Error>;
}

macro_rules! forward_code_host {
    ($($ty:ty),+) => {$(
        #[deny(clippy::missing_trait_methods)] // a method added later cannot be forgotten here
        #[async_trait]
        impl<H: CodeHost + ?Sized> CodeHost for $ty {
            fn name(&self) -> String {
                (**self).name()
            }
            async fn page(
                &self,
                cx: &RunContext,
                cursor: Option<&str>,
            ) -> Result<SourcedPage, Error> {
                (**self).page(cx, cursor).await
            }
        }
    )+};
}
forward_code_host!(&H, Box<H>, Arc<H>);
