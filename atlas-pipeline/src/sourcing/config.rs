//! `[source]` of `atlas.toml`.

use crate::clones::clone_among;
use atlas_core::{CodeHost, Error, ErrorKind};
use atlas_source::{
    ApiOptions, ArchiveHost, CloneHost, FilterConfig, GithubHost, GithubRestHost, GitlabHost,
    IssueTexts, LinkFlavour,
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// `[source]`: where pull requests come from, and which of them become candidates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SourceConfig {
    /// Clones whose histories are read; no API is asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clones: Vec<CloneSource>,
    /// GitHub's API.
    pub github: GithubSource,
    /// GitLab's API.
    pub gitlab: GitlabSource,
    /// Archived events of GitHub.
    pub archive: ArchiveSource,
    /// What a pull request must be. Default: anything.
    pub filters: FilterConfig,
}

/// `[[source.clones]]`: a clone whose history tells of pull requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

/// How long a host's limits are waited for by default: a little more than the hour in which GitHub's are counted.
const LONGEST_WAIT: u64 = 65 * 60;

/// `[source.github]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct GithubSource {
    /// Repositories, `owner/name`.
    pub repos: Vec<String>,
    /// Where tokens stand, `env:NAME`; several are used in turn. Default: `env:GITHUB_TOKEN`.
    pub tokens: Vec<String>,
    /// Ask without a token, slowly and for less, by the REST API. Default: no.
    pub anonymous: bool,
    /// The API. Default: `https://api.github.com`.
    pub address: String,
    /// A folder with clones named `owner__name`, `owner/name` or `name`, for what changes and how large repositories are.
    /// Default: none; then these are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clones: Option<PathBuf>,
    /// Seconds that a limit is waited for at most. Default: 3900.
    pub longest_wait: u64,
}

impl Default for GithubSource {
    fn default() -> Self {
        Self {
            repos: Vec::new(),
            tokens: vec!["env:GITHUB_TOKEN".to_owned()],
            anonymous: false,
            address: "https://api.github.com".to_owned(),
            clones: None,
            longest_wait: LONGEST_WAIT,
        }
    }
}

/// `[source.gitlab]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct GitlabSource {
    /// Projects, `group/project`.
    pub projects: Vec<String>,
    /// Where tokens stand, `env:NAME`. Public projects need none. Default: `env:GITLAB_TOKEN`, where it is set.
    pub tokens: Vec<String>,
    /// The host. Default: `https://gitlab.com`.
    pub address: String,
    /// A folder with clones, as for GitHub.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clones: Option<PathBuf>,
    /// Seconds that a limit is waited for at most. Default: 3900.
    pub longest_wait: u64,
}

impl Default for GitlabSource {
    fn default() -> Self {
        Self {
            projects: Vec::new(),
            tokens: vec!["env:GITLAB_TOKEN".to_owned()],
            address: "https://gitlab.com".to_owned(),
            clones: None,
            longest_wait: LONGEST_WAIT,
        }
    }
}

/// `[source.archive]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ArchiveSource {
    /// Files of events, `.json` or `.json.gz`, in this order.
    pub files: Vec<PathBuf>,
    /// Only these repositories, `owner/name`. Default: all.
    pub repos: Vec<String>,
}

/// The tokens that stand in the environment. Those of variables that are not set are none.
fn tokens(places: &[String], key: &str) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    for place in places {
        let Some(name) = place.strip_prefix("env:") else {
            let why = format!(
                "`{key}`: a token stands in the environment, and is named here as `env:NAME`"
            );
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "read configuration:",
                why,
            ));
        };
        let value = std::env::var(name).unwrap_or_default();
        if !value.trim().is_empty() {
            found.push(value.trim().to_owned());
        }
    }
    Ok(found)
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

/// The clone of a repository in a folder of clones, with the address under which a candidate names it.
async fn checkout(
    folder: Option<&PathBuf>,
    repo: &str,
) -> Result<Option<(atlas_source::GitRepo, String)>, Error> {
    let Some(folder) = folder else {
        return Ok(None);
    };
    let found = clone_among(folder, repo).await?;
    let address = found.git_dir().display().to_string();
    Ok(Some((found, address)))
}

impl GithubSource {
    async fn host(&self, repo: &str, tokens: Vec<String>) -> Result<Box<dyn CodeHost>, Error> {
        let is_anonymous = tokens.is_empty();
        let options = ApiOptions {
            tokens,
            longest_wait: Duration::from_secs(self.longest_wait),
            ..ApiOptions::new(&self.address)
        };
        let checkout = checkout(self.clones.as_ref(), repo).await?;
        if is_anonymous {
            let host = GithubRestHost::open(repo, options)?;
            return Ok(match checkout {
                Some((clone, address)) => Box::new(host.with_clone(clone, address)),
                None => Box::new(host),
            });
        }
        let host = GithubHost::open(repo, options)?;
        Ok(match checkout {
            Some((clone, address)) => Box::new(host.with_clone(clone, address)),
            None => Box::new(host),
        })
    }

    async fn hosts(&self) -> Result<Vec<Box<dyn CodeHost>>, Error> {
        let mut hosts = Vec::new();
        if self.repos.is_empty() {
            return Ok(hosts);
        }
        let known = tokens(&self.tokens, "source.github.tokens")?;
        if known.is_empty() && !self.anonymous {
            let why = format!(
                "no token in {}; set it, name another in `source.github.tokens`, or ask for `anonymous`",
                self.tokens.join(", ")
            );
            return Err(Error::new(ErrorKind::InvalidInput, "ask GitHub:", why));
        }
        let known = if self.anonymous { Vec::new() } else { known };
        for repo in &self.repos {
            hosts.push(self.host(repo, known.clone()).await?);
        }
        Ok(hosts)
    }
}

impl GitlabSource {
    async fn hosts(&self) -> Result<Vec<Box<dyn CodeHost>>, Error> {
        let mut hosts: Vec<Box<dyn CodeHost>> = Vec::new();
        for project in &self.projects {
            let options = ApiOptions {
                tokens: tokens(&self.tokens, "source.gitlab.tokens")?,
                longest_wait: Duration::from_secs(self.longest_wait),
                ..ApiOptions::new(&self.address)
            };
            let host = GitlabHost::open(project, options)?;
            hosts.push(match checkout(self.clones.as_ref(), project).await? {
                Some((clone, address)) => Box::new(host.with_clone(clone, address)),
                None => Box::new(host),
            });
        }
        Ok(hosts)
    }
}

impl SourceConfig {
    /// The same filters and settings without any source.
    #[must_use]
    pub fn without_sources(mut self) -> Self {
        self.clones.clear();
        self.github.repos.clear();
        self.gitlab.projects.clear();
        self.archive = ArchiveSource::default();
        self
    }

    /// Whether it names a source.
    pub fn names_a_source(&self) -> bool {
        !(self.clones.is_empty()
            && self.github.repos.is_empty()
            && self.gitlab.projects.is_empty()
            && self.archive.files.is_empty())
    }

    /// The hosts that it names, in their order: clones, GitHub, GitLab, archive. Nobody is asked yet.
    ///
    /// # Errors
    /// It names none; one of them cannot be read; GitHub is named and no token is known.
    pub async fn hosts(&self) -> Result<Vec<Box<dyn CodeHost>>, Error> {
        let mut hosts: Vec<Box<dyn CodeHost>> = Vec::new();
        for clone in &self.clones {
            hosts.push(Box::new(clone.host().await?));
        }
        hosts.extend(self.github.hosts().await?);
        hosts.extend(self.gitlab.hosts().await?);
        if !self.archive.files.is_empty() {
            let archive = ArchiveHost::open(self.archive.files.clone())?;
            hosts.push(Box::new(archive.with_repos(self.archive.repos.clone())));
        }
        if hosts.is_empty() {
            let why = "give --clone, --github, --gitlab or --archive, or name a source in `[source]` of the configuration";
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "source pull requests:",
                why,
            ));
        }
        Ok(hosts)
    }
}
