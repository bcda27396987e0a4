//! A clone as a host: its history tells of pull requests, no API is asked.

mod brought;
mod living;
mod message;
mod rebased;
pub(crate) mod shape;
mod steps;
mod walk;

use super::issues::IssueTexts;
use super::{facts, people, time};
use crate::links::{IssueLink, LinkContext, LinkFlavour, TextKind, closing_links};
use crate::repository::GitRepo;
use crate::rules::PathRules;
use async_trait::async_trait;
use atlas_core::{
    ChangeShape, CodeHost, CommitSha, Error, ErrorKind, LinkedIssue, PullRequestSource,
    RepositoryFacts, RunContext, SkippedPullRequest, SourcedPage, SourcedPullRequest,
};
use brought::Brought;
use living::Mark;
use message::MergeMessage;
use rebased::Tips;
use std::collections::BTreeMap;
use std::path::Path;
use steps::{PullRequestSteps, Steps};
use tokio::sync::{Mutex, OnceCell};
use walk::{Step, Walk};

/// The history of a clone as a source of merged pull requests.
///
/// It goes back along the first parents of a branch, newest first, and takes
/// - merge commits that name a number (`Merge pull request #7`, `Merge PR #7`, bors and homu, GitLab's `See merge request
///   group/project!7`);
/// - squashed commits, whose subject ends in `(#7)` (GitHub);
/// - commits that were rebased onto the branch: those that the clone has the host's `refs/pull/N/head` of, and those that stand one
///   behind the other, name one number in their subjects or trailers (`PR-URL: …/pull/7`, `Part-of: …/merge_requests/7`) and were
///   committed at one moment by one person;
/// - merges of branches and single commits without a number that say which issue they close.
///
/// Base is the first parent of the commit, of several the oldest one's, and head the commit itself, as [`GitRepo::pull_request`] has it: what
/// was released. Where it is not sure which commits were rebased together, they are single ones, and `provenance.base` says why.
///
/// A squashed commit bears the date of its merge, so when its work began is known only where the clone has the host's
/// `refs/pull/N/head`.
#[derive(Debug)]
pub struct CloneHost {
    repo: GitRepo,
    address: String,
    context: LinkContext,
    branch: String,
    issues: Option<IssueTexts>,
    setting: OnceCell<Setting>,
    walk: Mutex<Option<Walk>>,
}

/// What is found out once.
#[derive(Debug)]
struct Setting {
    rules: PathRules,
    facts: RepositoryFacts,
    /// The hosts' refs of pull requests, where the clone has them.
    heads: BTreeMap<u64, CommitSha>,
    tips: Tips,
}

impl CloneHost {
    /// The clone's default branch, under the name that its remote tells: of `gitlab` hosts GitLab's keywords count.
    ///
    /// # Errors
    /// There is no repository.
    pub async fn open(path: &Path) -> Result<Self, Error> {
        let repo = GitRepo::open(path).await?;
        let full = tokio::fs::canonicalize(path)
            .await
            .map_err(|why| Error::io("open repository", path, why))?;
        let (host, name) = repo.remote_address().await.unwrap_or_else(|| {
            let name = full.file_stem().unwrap_or_default().to_string_lossy();
            ("github.com".to_owned(), name.into_owned())
        });
        let flavour = if host.contains("gitlab") {
            LinkFlavour::Gitlab
        } else {
            LinkFlavour::Github
        };
        Ok(Self {
            repo,
            address: full.to_string_lossy().into_owned(),
            context: LinkContext {
                flavour,
                host,
                repo: name,
            },
            branch: "HEAD".to_owned(),
            issues: None,
            setting: OnceCell::new(),
            walk: Mutex::new(None),
        })
    }

    /// The same under another repository's name, `owner/name`.
    #[must_use]
    pub fn with_repo(mut self, name: impl Into<String>) -> Self {
        self.context.repo = name.into();
        self
    }

    /// The same with this host's keywords. Default: by the name of the remote's host.
    #[must_use]
    pub fn with_flavour(mut self, flavour: LinkFlavour) -> Self {
        self.context.flavour = flavour;
        self
    }

    /// The same along another branch, tag or commit. Default: `HEAD`.
    #[must_use]
    pub fn with_branch(mut self, branch: impl Into<String>) -> Self {
        self.branch = branch.into();
        self
    }

    /// The same with texts of issues.
    #[must_use]
    pub fn with_issues(mut self, issues: IssueTexts) -> Self {
        self.issues = Some(issues);
        self
    }

    /// The repository's name, `owner/name`.
    pub fn repo(&self) -> &str {
        &self.context.repo
    }

    async fn setting(&self, cx: &RunContext) -> Result<&Setting, Error> {
        self.setting
            .get_or_try_init(async || {
                cx.progress.phase("count lines of code");
                let head = self.repo.resolve(&self.branch).await?;
                let files = self.repo.list_files(&head).await?;
                let heads = self.repo.pull_request_heads().await?;
                Ok(Setting {
                    tips: Tips::of(&self.repo, &heads).await?,
                    heads,
                    rules: PathRules::new(files.iter().map(|file| file.path.as_str())),
                    facts: facts::repository_facts(&self.repo, &head).await?,
                })
            })
            .await
    }

    /// The links of all texts of a pull request, each issue once.
    fn links(
        &self,
        setting: &Setting,
        (step, told, brought): (&Step, &MergeMessage, &Brought),
    ) -> Vec<LinkedIssue> {
        let kind = if told.how == "merge commit" {
            TextKind::Markdown
        } else {
            TextKind::Plain
        };
        let own = format!("commit {}", step.commit.short());
        let title = closing_links(&told.title, TextKind::Plain, &self.context);
        let body = closing_links(&told.body, kind, &self.context);
        let mut found: Vec<(IssueLink, String)> = Vec::new();
        found.extend(
            title
                .into_iter()
                .map(|link| (link, format!("title, {own}"))),
        );
        found.extend(body.into_iter().map(|link| (link, format!("body, {own}"))));
        for (commit, message) in &brought.messages {
            let links = closing_links(message, TextKind::Plain, &self.context);
            let place = format!("commit {}", commit.short());
            found.extend(links.into_iter().map(|link| (link, place.clone())));
        }
        // Numbers of issues and of pull requests are one sequence at GitHub.
        let is_other = |number: &u64| {
            self.context.flavour == LinkFlavour::Github && setting.heads.contains_key(number)
        };
        let is_pull_request = |link: &IssueLink| {
            link.repo.eq_ignore_ascii_case(&self.context.repo)
                && (Some(link.number) == told.number || is_other(&link.number))
        };
        found.retain(|(link, _)| !is_pull_request(link));
        linked(found)
    }

    fn pull_request(
        &self,
        setting: &Setting,
        (taken, told, brought): (&PullRequestSteps, MergeMessage, &Brought),
        change: Option<ChangeShape>,
    ) -> Result<Option<SourcedPullRequest>, Error> {
        let step = &taken.step;
        let Some(base) = taken.base() else {
            return Ok(None);
        };
        let mut issues = self.links(setting, (step, &told, brought));
        if told.number.is_none() && issues.is_empty() {
            return Ok(None);
        }
        let from = format!("{} {}", told.how, step.commit.short());
        let mut provenance = BTreeMap::new();
        let mut note = |field: &str, source: &str| {
            provenance.insert(field.to_owned(), source.to_owned());
        };
        for field in ["title", "body", "merged_at", "base", "head"] {
            note(field, &from);
        }
        if let Some(how) = &taken.how {
            let commits = taken.rest.len() + 1;
            let rebased = format!("{commits} rebased up to {}, {how}", step.commit.short());
            note("base", if taken.is_rebased { &rebased } else { how });
        }
        if let Some(texts) = &self.issues {
            for issue in &mut issues {
                if texts.fill(issue)? {
                    note("issues", "the file of issues");
                }
            }
        }
        if brought.first.is_some() {
            note("first_commit_at", &brought.how);
        }
        let name = brought.author.as_deref().unwrap_or(&step.author);
        let mut author = people::named(Some(name));
        let branch = told.branch.as_deref().unwrap_or_default();
        let by_branch = ["dependabot/", "renovate/", "pre-commit-ci"];
        let is_bot = step.email.contains("[bot]") && brought.author.is_none()
            || by_branch.iter().any(|start| branch.contains(start));
        if is_bot {
            author.class = atlas_core::AuthorClass::Bot;
        }
        note(
            "author",
            if brought.author.is_some() {
                &brought.how
            } else {
                &from
            },
        );
        note("change", "git diff-tree of base and head");
        note("repository", "the files of the branch's head");
        Ok(Some(SourcedPullRequest {
            repo: self.context.repo.clone(),
            clone: self.address.clone(),
            source: PullRequestSource::Clone,
            number: told.number,
            base: base.clone(),
            head: step.commit.clone(),
            title: told.title,
            body: told.body,
            labels: Vec::new(),
            author: Some(author),
            created_at: None,
            first_commit_at: brought.first.and_then(time::of_seconds),
            merged_at: time::of_seconds(step.committed),
            issues,
            reviews: Vec::new(),
            change,
            repository: setting.facts.clone(),
            provenance,
        }))
    }
}

/// Links with their places as issues, each once, with all its evidence.
pub(crate) fn linked(found: impl IntoIterator<Item = (IssueLink, String)>) -> Vec<LinkedIssue> {
    let mut issues: Vec<LinkedIssue> = Vec::new();
    for (link, place) in found {
        let evidence = link.evidence(&place);
        let known = issues.iter_mut().find(|issue| {
            issue.number == link.number && issue.repo.eq_ignore_ascii_case(&link.repo)
        });
        match known {
            Some(issue) => issue.evidence.push(evidence),
            None => issues.push(bare_issue(link.repo, link.number, vec![evidence])),
        }
    }
    issues
}

/// An issue of which only the link is known.
pub(crate) fn bare_issue(
    repo: String,
    number: u64,
    evidence: Vec<atlas_core::Evidence>,
) -> LinkedIssue {
    LinkedIssue {
        repo,
        number,
        title: String::new(),
        body: String::new(),
        labels: Vec::new(),
        author: None,
        created_at: None,
        comments: Vec::new(),
        evidence,
    }
}

impl CloneHost {
    /// The commit that a page begins with.
    async fn start(&self, cursor: Option<&str>) -> Result<CommitSha, Error> {
        match cursor {
            None => self.repo.resolve(&self.branch).await,
            Some(cursor) => cursor.parse().map_err(|why| {
                let place = format!("`{cursor}`");
                Error::new(ErrorKind::InvalidInput, "go on from the commit", place).with_source(why)
            }),
        }
    }

    /// The page that begins with a commit and ends before another.
    async fn tell(
        &self,
        cx: &RunContext,
        setting: &Setting,
        (start, until): (&CommitSha, Option<&CommitSha>),
    ) -> Result<SourcedPage, Error> {
        let Steps {
            commits: steps,
            next,
            broken,
        } = self.steps(cx, setting, start, until).await?;
        let brought = brought::brought(&self.repo, &steps, &setting.heads).await?;
        let changes: Vec<(CommitSha, CommitSha)> = steps
            .iter()
            .filter(|taken| taken.told.is_some())
            .filter_map(|taken| Some((taken.base()?.clone(), taken.step.commit.clone())))
            .collect();
        let mut shapes = shape::shapes(&self.repo, &setting.rules, &changes).await?;
        let mut page = SourcedPage {
            next: next.map(|commit| commit.to_string()),
            repository: Some(setting.facts.clone()),
            newest_first: true,
            ..SourcedPage::default()
        };
        if broken {
            let last = steps
                .last()
                .map_or(start.short(), |taken| taken.step.commit.short());
            page.skipped.push(SkippedPullRequest {
                name: format!("{} before {last}", self.context.repo),
                reason: "the clone lacks objects of its history: what came before is not told of"
                    .to_owned(),
            });
        }
        let none = Brought::default();
        for mut taken in steps {
            let Some(told) = taken.told.take() else {
                continue;
            };
            let step = &taken.step;
            let brought = brought.get(&step.commit).unwrap_or(&none);
            let change = shapes.remove(&step.commit);
            if change.is_none() && !step.parents.is_empty() {
                page.skipped.push(SkippedPullRequest {
                    name: told.number.map_or_else(
                        || step.commit.to_string(),
                        |number| format!("{}#{number}", self.context.repo),
                    ),
                    reason: format!(
                        "the clone lacks objects of {} or of its parent",
                        step.commit.short()
                    ),
                });
                continue;
            }
            let found = self.pull_request(setting, (&taken, told, brought), change)?;
            page.pull_requests.extend(found);
        }
        Ok(page)
    }
}

#[async_trait]
impl CodeHost for CloneHost {
    fn name(&self) -> String {
        format!(
            "clone {} {} {}",
            self.context.repo, self.address, self.branch
        )
    }

    async fn page(&self, cx: &RunContext, cursor: Option<&str>) -> Result<SourcedPage, Error> {
        cx.check("read the history")?;
        let start = self.start(cursor).await?;
        let setting = self.setting(cx).await?;
        let mut page = self.tell(cx, setting, (&start, None)).await?;
        if cursor.is_none() {
            page.mark = Some(self.mark(&start, setting)?.text());
        }
        Ok(page)
    }

    async fn changes(
        &self,
        cx: &RunContext,
        since: &str,
        cursor: Option<&str>,
    ) -> Result<SourcedPage, Error> {
        cx.check("read the history")?;
        let since = Mark::read(since)?;
        let start = self.start(cursor).await?;
        if cursor.is_none() && self.is_as(&since, &start).await? {
            return Ok(SourcedPage {
                mark: Some(since.text()),
                ..SourcedPage::default()
            });
        }
        let setting = self.setting(cx).await?;
        let now = self.mark(&start, setting)?;
        if cursor.is_none()
            && let Some(why) = self.outdated(&since, &now, setting).await?
        {
            return Ok(SourcedPage::anew(why));
        }
        let mut page = self.tell(cx, setting, (&start, Some(&since.tip))).await?;
        if cursor.is_none() {
            page.mark = Some(now.text());
        }
        Ok(page)
    }
}
