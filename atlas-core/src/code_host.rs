//! Code hosts: APIs, archives and clones that list merged pull requests.

use crate::{Error, RepositoryFacts, RunContext, SourcedPullRequest};
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
    /// How far the host has come, as [`CodeHost::changes`] takes it; on the first of several pages. Absent where the host cannot
    /// tell what came later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    /// How many merged pull requests the host has, where it says so; on the first of several pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// What is known of the repository now: the same in all its pull requests, those of earlier pages too. Absent of a host
    /// of several repositories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<RepositoryFacts>,
    /// Whether pages list the newest pull request first, so that new ones are put at the beginning of the list. Otherwise the
    /// list is sorted by `created_at` and number.
    pub newest_first: bool,
    /// Why the pages read before are out of date as a whole, and the host must be read again from the first page: the
    /// repository was transferred, or the branch was force-pushed. Only [`CodeHost::changes`] sets it, on a page that is
    /// empty otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anew: Option<String>,
}

impl SourcedPage {
    /// An empty page that asks for the host to be read again from the first page.
    pub fn anew(why: impl Into<String>) -> Self {
        Self {
            anew: Some(why.into()),
            ..Self::default()
        }
    }
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
/// - Changes since a mark hold every pull request that is new or differs since the first page that gave the mark, and the pages
///   end. They may also hold pull requests that did not change. Where one comes twice, the later one counts.
/// - What the host does not tell is absent. Times are RFC 3339 in UTC.
/// - One faulty pull request does not end a page: it is among [`SourcedPage::skipped`], with the reason.
#[async_trait]
pub trait CodeHost: fmt::Debug + Send + Sync {
    /// What is asked, for reports: `https://api.github.com owner/name`. Two hosts of one name tell of the same place.
    fn name(&self) -> String;

    /// The page behind a cursor.
    ///
    /// # Errors
    /// The host cannot be asked, or refuses; an unknown cursor is [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput).
    ///
    /// # Cancellation
    /// Raising `cx.cancel` ends a wait for the host; nothing is kept of the page.
    async fn page(&self, cx: &RunContext, cursor: Option<&str>) -> Result<SourcedPage, Error>;

    /// The page behind a cursor of what is new or changed since a mark ([`SourcedPage::mark`]), so that tomorrow's reading
    /// costs what tomorrow brings.
    ///
    /// # Errors
    /// As [`page`](Self::page); a mark that is none of this host's is
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput).
    ///
    /// # Cancellation
    /// As [`page`](Self::page).
    async fn changes(
        &self,
        cx: &RunContext,
        since: &str,
        cursor: Option<&str>,
    ) -> Result<SourcedPage, Error>;
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
            async fn changes(
                &self,
                cx: &RunContext,
                since: &str,
                cursor: Option<&str>,
            ) -> Result<SourcedPage, Error> {
                (**self).changes(cx, since, cursor).await
            }
        }
    )+};
}
forward_code_host!(&H, Box<H>, Arc<H>);
