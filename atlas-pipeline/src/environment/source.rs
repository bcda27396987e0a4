//! The repository at the commit that an environment is for.

use super::EnvironmentOptions;
use crate::MakeOptions;
use crate::make::pull_request::{PullRequest, checkout, name, open};
use atlas_core::{CommitSha, Error, ErrorKind, Repository, RunContext};
use atlas_source::GitRepo;
use std::collections::BTreeMap;
use std::path::Path;

/// A commit that was found in a clone.
pub(super) struct Source {
    repo: GitRepo,
    pub(super) name: String,
    pub(super) base: CommitSha,
    pub(super) base_date: String,
    head_manifests: BTreeMap<String, Vec<u8>>,
    head_tests: BTreeMap<String, Vec<u8>>,
    touched: Vec<String>,
    notes: Vec<String>,
}

impl Source {
    pub(super) async fn find(cx: &RunContext, options: &EnvironmentOptions) -> Result<Self, Error> {
        if options.head.is_some() || options.pull_request.is_some() {
            let request = MakeOptions {
                base: options.base.clone(),
                head: options.head.clone(),
                pull_request: options.pull_request,
                ..MakeOptions::new(&options.repo, "")
            };
            let request = PullRequest::find(cx, &request).await?;
            let split = request.split(cx).await?;
            return Ok(Self {
                repo: request.repo,
                name: request.repo_name,
                base: request.base,
                base_date: request.base_date,
                head_tests: split.head_tests.clone(),
                touched: split.decisions.iter().map(|d| d.path.clone()).collect(),
                head_manifests: split.head_manifests,
                notes: request.notes,
            });
        }
        let Some(base) = &options.base else {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "choose the commit:",
                "give base, or the number of a pull request",
            ));
        };
        let repo = open(cx, &options.repo).await?;
        let base = repo.resolve(base).await?;
        Ok(Self {
            name: name(&repo, &options.repo).await,
            base_date: repo.commit_date(&base).await?,
            repo,
            base,
            head_manifests: BTreeMap::new(),
            head_tests: BTreeMap::new(),
            touched: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// Lays the commit out below a folder; returns remarks beside the repository.
    pub(super) async fn check_out(
        self,
        cx: &RunContext,
        below: &Path,
    ) -> Result<(Repository, Vec<String>), Error> {
        cx.check("check out")?;
        let folder = below.join("checkout");
        let mut notes = self.notes;
        let repo = self.repo.with_temp_dir(below);
        notes.extend(checkout(&repo, &self.base, &folder).await?);
        let repository = Repository {
            name: self.name,
            checkout: folder,
            base: self.base,
            base_date: self.base_date,
            head_manifests: self.head_manifests,
            head_tests: self.head_tests,
            touched: self.touched,
        };
        Ok((repository, notes))
    }
}
