//! `[source]` of `atlas.toml`.

use atlas_core::{CodeHost, Error, ErrorKind};
use atlas_source::{CloneHost, FilterConfig, IssueTexts, LinkFlavour};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// `[source]`: where pull requests come from, and which of them become candidates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SourceConfig {
    /// Clones whose histories are read; no API is asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clones: Vec<CloneSource>,
    /// What a pull request must be. Default: anything.
    pub filters: FilterConfig,
}

/// A clone whose history tells of pull requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CloneSource {
    /// Its folder.
    pub path: PathBuf,
    /// The repository's name, `owner/name`. Default: that of the remote `origin`, else of the folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// The branch whose history is read. Default: `HEAD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// A file with texts of issues ([`IssueTexts`]). Default: none; then only links are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issues: Option<PathBuf>,
    /// Whose closing keywords count. Default: GitLab's where the remote's host is named so, else GitHub's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keywords: Option<LinkFlavour>,
}

impl CloneSource {
    async fn host(&self) -> Result<CloneHost, Error> {
        let mut host = CloneHost::open(&self.path).await?;
        if let Some(repo) = &self.repo {
            host = host.with_repo(repo);
        }
        if let Some(branch) = &self.branch {
            host = host.with_branch(branch);
        }
        if let Some(keywords) = self.keywords {
            host = host.with_flavour(keywords);
        }
        if let Some(file) = &self.issues {
            let texts = IssueTexts::open(file, host.repo())?;
            host = host.with_issues(texts);
        }
        Ok(host)
    }
}

impl SourceConfig {
    /// The hosts that it names, in their order: nothing is asked yet.
    ///
    /// # Errors
    /// It names none; one of them cannot be read.
    pub async fn hosts(&self) -> Result<Vec<Box<dyn CodeHost>>, Error> {
        let mut hosts: Vec<Box<dyn CodeHost>> = Vec::new();
        for clone in &self.clones {
            hosts.push(Box::new(clone.host().await?));
        }
        if hosts.is_empty() {
            let why = "give --clone, or name a source in `[source]` of the configuration";
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "source pull requests:",
                why,
            ));
        }
        Ok(hosts)
    }
}
