//! How far a clone was read, and whether what was told still holds.

use super::{CloneHost, Setting};
use crate::hosts::issues::IssueTexts;
use atlas_core::{CommitSha, Error, ErrorKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// What the next reading begins from: [`SourcedPage::mark`](atlas_core::SourcedPage::mark) as text.
///
/// Hashes stand for what has a say in every line. One that comes out otherwise in another build costs a reading, no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Mark {
    /// The branch's head.
    pub(super) tip: CommitSha,
    /// Which paths are tests: a folder that tests came to makes what lies beside them tests, in older changes too.
    rules: u64,
    /// The largest number of a pull request of which there is a ref, and how many have one. Hosts keep them for ever: where some
    /// of these numbers come later, somebody fetched them.
    refs: (u64, usize),
    /// The texts of issues.
    issues: Option<u64>,
}

impl Mark {
    pub(super) fn read(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(|why| {
            let place = format!("`{text}`");
            Error::new(ErrorKind::InvalidInput, "go on from the mark", place).with_source(why)
        })
    }

    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).expect("names and numbers become JSON")
    }
}

/// How many refs there are of numbers up to one.
fn refs(heads: &BTreeMap<u64, CommitSha>, up_to: u64) -> usize {
    heads.range(..=up_to).count()
}

impl CloneHost {
    /// The mark of a reading that begins at a commit.
    pub(super) fn mark(&self, tip: &CommitSha, setting: &Setting) -> Result<Mark, Error> {
        let mut hasher = DefaultHasher::new();
        setting.rules.hash(&mut hasher);
        let largest = setting.heads.keys().next_back().copied().unwrap_or(0);
        Ok(Mark {
            tip: tip.clone(),
            rules: hasher.finish(),
            refs: (largest, setting.heads.len()),
            issues: self.issues_hash()?,
        })
    }

    fn issues_hash(&self) -> Result<Option<u64>, Error> {
        self.issues.as_ref().map(IssueTexts::hash).transpose()
    }

    /// Whether nothing changed since: the branch, refs of pull requests and texts of issues are the same.
    pub(super) async fn is_as(&self, since: &Mark, tip: &CommitSha) -> Result<bool, Error> {
        if since.tip != *tip || self.issues_hash()? != since.issues {
            return Ok(false);
        }
        let heads = self.repo.pull_request_heads().await?;
        Ok(refs(&heads, since.refs.0) == since.refs.1)
    }

    /// Why what was told of the commits up to the mark no longer holds; `None` where it does.
    pub(super) async fn outdated(
        &self,
        since: &Mark,
        now: &Mark,
        setting: &Setting,
    ) -> Result<Option<String>, Error> {
        if !self.goes_on(&since.tip, &now.tip).await? {
            return Ok(Some(format!(
                "`{}` was forced: {} is no longer in its first-parent history",
                self.branch,
                since.tip.short()
            )));
        }
        Ok(if since.rules != now.rules {
            Some("other folders hold tests now".to_owned())
        } else if since.issues != now.issues {
            Some("the texts of issues are others now".to_owned())
        } else if refs(&setting.heads, since.refs.0) != since.refs.1 {
            Some("refs of older pull requests came or went".to_owned())
        } else {
            None
        })
    }

    /// Whether the first parents of the new head lead to the old one.
    async fn goes_on(&self, old: &CommitSha, new: &CommitSha) -> Result<bool, Error> {
        if old == new {
            return Ok(true);
        }
        let output = self
            .repo
            .git()
            .args(["rev-list", "--first-parent", "--parents", new.as_str()])
            .args([&format!("^{old}"), "--"])
            .output()
            .await?;
        // A commit that was thrown away is no longer there after a while.
        let text = String::from_utf8_lossy(&output.stdout);
        let first_parent = text
            .lines()
            .next_back()
            .and_then(|line| line.split(' ').nth(1));
        Ok(output.success && first_parent == Some(old.as_str()))
    }
}
