//! A clone beside an API: what APIs tell badly or not at all.

use super::clone::shape::shapes;
use super::facts::repository_facts;
use crate::repository::GitRepo;
use crate::rules::PathRules;
use atlas_core::{CommitSha, Error, RepositoryFacts, RunContext, SourcedPage, SourcedPullRequest};
use tokio::sync::OnceCell;

/// A clone of the repository that is asked for.
#[derive(Debug)]
pub(super) struct Checkout {
    repo: GitRepo,
    address: String,
    setting: OnceCell<(PathRules, RepositoryFacts)>,
}

impl Checkout {
    pub(super) fn new(repo: GitRepo, address: impl Into<String>) -> Self {
        Self {
            repo,
            address: address.into(),
            setting: OnceCell::new(),
        }
    }

    async fn setting(&self, cx: &RunContext) -> Result<&(PathRules, RepositoryFacts), Error> {
        self.setting
            .get_or_try_init(async || {
                cx.progress.phase("count lines of code");
                let head = self.repo.resolve("HEAD").await?;
                let files = self.repo.list_files(&head).await?;
                let rules = PathRules::new(files.iter().map(|file| file.path.as_str()));
                Ok::<_, Error>((rules, repository_facts(&self.repo, &head).await?))
            })
            .await
    }

    /// The commit so many first parents before another, if the clone has it.
    pub(super) async fn before(&self, commit: &CommitSha, steps: u64) -> Option<CommitSha> {
        self.repo.resolve(&format!("{commit}~{steps}")).await.ok()
    }

    /// Puts shapes of changes and what the files tell into pull requests; of those whose commits are not in the clone it is said.
    async fn fill(
        &self,
        cx: &RunContext,
        pull_requests: &mut [SourcedPullRequest],
    ) -> Result<(), Error> {
        let (rules, facts) = self.setting(cx).await?;
        let ends: Vec<(CommitSha, CommitSha)> = pull_requests
            .iter()
            .map(|told| (told.base.clone(), told.head.clone()))
            .collect();
        let mut found = shapes(&self.repo, rules, &ends).await?;
        for told in pull_requests {
            told.clone.clone_from(&self.address);
            told.change = found.remove(&told.head);
            let from = match &told.change {
                Some(_) => "git diff-tree of base and head".to_owned(),
                None => format!(
                    "the clone lacks {} or {}: fetch it; a branch that was forced may have lost them",
                    told.base.short(),
                    told.head.short()
                ),
            };
            told.provenance.insert("change".to_owned(), from);
            complete(&mut told.repository, facts);
        }
        Ok(())
    }
}

/// What belongs to every page of an API: what is known of the repository, and what a clone beside it tells.
pub(super) async fn finish(
    cx: &RunContext,
    checkout: Option<&Checkout>,
    facts: &RepositoryFacts,
    page: &mut SourcedPage,
) -> Result<(), Error> {
    let mut own = facts.clone();
    if let Some(checkout) = checkout {
        checkout.fill(cx, &mut page.pull_requests).await?;
        complete(&mut own, &checkout.setting(cx).await?.1);
    }
    page.repository = Some(own);
    Ok(())
}

/// Facts of a host with those of files.
fn complete(own: &mut RepositoryFacts, facts: &RepositoryFacts) {
    own.lines_of_code = facts.lines_of_code;
    own.test_frameworks.clone_from(&facts.test_frameworks);
    own.language = own.language.take().or_else(|| facts.language.clone());
    let unsaid = own
        .licence
        .as_deref()
        .is_none_or(|licence| licence == "NOASSERTION");
    if unsaid && facts.licence.is_some() {
        own.licence.clone_from(&facts.licence);
    }
}
