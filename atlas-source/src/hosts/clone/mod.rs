//! A clone as a host: its history tells of pull requests, no API is asked.

mod brought;
mod message;
pub(crate) mod shape;
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
use message::Told;
use std::collections::BTreeMap;
use std::path::Path;
use tokio::sync::{Mutex, OnceCell};
use walk::{Step, Walk};

/// Pull requests on one page.
const PAGE: usize = 64;

/// Commits that are looked at for one page at most.
const MOST_STEPS: usize = 4096;

/// The history of a clone as a source of merged pull requests.
///
/// It goes back along the first parents of a branch, newest first, and takes
/// - merge commits that name a number (`Merge pull request #7`, `Merge PR #7`, bors and homu, GitLab's `See merge request
///   group/project!7`);
/// - squashed commits, whose subject ends in `(#7)` (GitHub);
/// - merges of branches and single commits without a number that say which issue they close.
///
/// Base is the commit's first parent and head the commit itself, as [`GitRepo::pull_request`] has it: what was released. A
/// pull request that was rebased onto the branch in several commits is seen only as the commits that close an issue.
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

/// Commits of one page.
struct Steps {
    commits: Vec<(Step, Option<Told>)>,
    next: Option<CommitSha>,
    /// Whether the history breaks off behind them.
    broken: bool,
}

/// What is found out once.
#[derive(Debug)]
struct Setting {
    rules: PathRules,
    facts: RepositoryFacts,
    /// The hosts' refs of pull requests, where the clone has them.
    heads: BTreeMap<u64, CommitSha>,
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
                Ok(Setting {
                    rules: PathRules::new(files.iter().map(|file| file.path.as_str())),
                    facts: facts::repository_facts(&self.repo, &head).await?,
                    heads: self.repo.pull_request_heads().await?,
                })
            })
            .await
    }

    /// The commits of one page, newest first, with what their messages say, and where to go on.
    async fn steps(&self, cx: &RunContext, start: &CommitSha) -> Result<Steps, Error> {
        let mut held = self.walk.lock().await;
        // A walk that stands where the last page ended goes on; any other is begun anew.
        let mut walk = match held.take() {
            Some(walk) if walk.peek().is_some_and(|step| step.commit == *start) => walk,
            _ => Walk::from(&self.repo, start).await?,
        };
        let (mut steps, mut told) = (Vec::new(), 0);
        while told < PAGE && steps.len() < MOST_STEPS {
            cx.check("read the history")?;
            let Some(step) = walk.take().await? else {
                break;
            };
            let read = message::read(&step.message, step.parents.len() > 1, self.context.flavour)
                .filter(|told| {
                    told.number.is_some() || told.branch.is_some() || self.closes(&step)
                });
            told += usize::from(read.is_some());
            steps.push((step, read));
        }
        let next = walk.peek().map(|step| step.commit.clone());
        let broken = walk.is_broken();
        *held = Some(walk);
        Ok(Steps {
            commits: steps,
            next,
            broken,
        })
    }

    fn closes(&self, step: &Step) -> bool {
        !closing_links(&step.message, TextKind::Plain, &self.context).is_empty()
    }

    /// The links of all texts of a pull request, each issue once.
    fn links(
        &self,
        setting: &Setting,
        (step, told, brought): (&Step, &Told, &Brought),
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
        (step, told, brought): (&Step, Told, &Brought),
        change: Option<ChangeShape>,
    ) -> Result<Option<SourcedPullRequest>, Error> {
        let Some(base) = step.parents.first() else {
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
        let start = match cursor {
            None => self.repo.resolve(&self.branch).await?,
            Some(cursor) => cursor.parse().map_err(|why| {
                Error::new(
                    ErrorKind::InvalidInput,
                    "go on from the commit",
                    format!("`{cursor}`"),
                )
                .with_source(why)
            })?,
        };
        let setting = self.setting(cx).await?;
        let Steps {
            commits: steps,
            next,
            broken,
        } = self.steps(cx, &start).await?;
        let brought = brought::brought(&self.repo, &steps, &setting.heads).await?;
        let changes: Vec<(CommitSha, CommitSha)> = steps
            .iter()
            .filter(|(_, told)| told.is_some())
            .filter_map(|(step, _)| Some((step.parents.first()?.clone(), step.commit.clone())))
            .collect();
        let mut shapes = shape::shapes(&self.repo, &setting.rules, &changes).await?;
        let mut page = SourcedPage {
            next: next.map(|commit| commit.to_string()),
            ..SourcedPage::default()
        };
        if broken {
            let last = steps
                .last()
                .map_or(start.short(), |(step, _)| step.commit.short());
            page.skipped.push(SkippedPullRequest {
                name: format!("{} before {last}", self.context.repo),
                reason: "the clone lacks objects of its history: what came before is not told of"
                    .to_owned(),
            });
        }
        let none = Brought::default();
        for (step, told) in steps {
            let Some(told) = told else { continue };
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
            let found = self.pull_request(setting, (&step, told, brought), change)?;
            page.pull_requests.extend(found);
        }
        Ok(page)
    }
}
