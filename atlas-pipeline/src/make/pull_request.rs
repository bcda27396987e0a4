//! Which commits, which repository, which name.

use super::{MakeOptions, mirror_folder};
use crate::engine::cache_folder;
use atlas_core::{CommitSha, Error, ErrorKind, InstanceId, Overlay, RunContext};
use atlas_source::{
    GitRepo, History, Rung, SplitPullRequest, is_url, overlay, problem_statement, seal, split,
};
use std::path::Path;

/// A pull request that was found in a clone.
#[derive(Clone, Debug)]
pub(crate) struct PullRequest {
    pub(crate) repo: GitRepo,
    pub(crate) repo_name: String,
    pub(crate) instance_id: InstanceId,
    pub(crate) number: Option<u64>,
    pub(crate) base: CommitSha,
    pub(crate) head: CommitSha,
    pub(crate) base_date: String,
    pub(crate) head_date: String,
    pub(crate) problem_statement: String,
    pub(crate) notes: Vec<String>,
}

impl PullRequest {
    pub(crate) async fn find(cx: &RunContext, options: &MakeOptions) -> Result<Self, Error> {
        let repo = open(cx, &options.repo).await?;
        let mut notes = Vec::new();
        let (mut base, head) = match (&options.base, &options.head, options.pull_request) {
            (Some(base), Some(head), _) => (repo.resolve(base).await?, repo.resolve(head).await?),
            (None, None, Some(number)) => {
                let found = repo.pull_request(number).await?;
                notes.push(format!("pull request {number}: {}", found.how));
                (found.base, found.head)
            }
            _ => {
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    "choose the pull request:",
                    "give --base and --head, or --pr",
                ));
            }
        };
        if base == head {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "choose the pull request: base and head are the same commit",
                format!("`{base}`"),
            ));
        }
        // A base that the head does not come from: what the pull request changed is counted from
        // where the two parted.
        if let Some(parted) = repo
            .merge_base(&base, &head)
            .await?
            .filter(|parted| *parted != base)
        {
            notes.push(format!(
                "base {} is no ancestor of head; using {}",
                base.short(),
                parted.short()
            ));
            base = parted;
        }
        let folder = options
            .repo
            .trim_end_matches('/')
            .rsplit(['/', ':'])
            .next()
            .unwrap_or("repo");
        let folder = folder.strip_suffix(".git").unwrap_or(folder);
        let repo_name = repo
            .remote_name()
            .await
            .unwrap_or_else(|| folder.to_owned());
        let instance_id = match &options.instance_id {
            Some(id) => id.clone(),
            None => default_id(&repo_name, options.pull_request, &head)?,
        };
        let messages = repo.commit_messages(&base, &head).await?;
        Ok(Self {
            base_date: repo.commit_date(&base).await?,
            head_date: repo.commit_date(&head).await?,
            problem_statement: problem_statement(&messages),
            repo,
            repo_name,
            instance_id,
            number: options.pull_request,
            base,
            head,
            notes,
        })
    }

    pub(crate) async fn split(&self, cx: &RunContext) -> Result<SplitPullRequest, Error> {
        cx.check("split")?;
        split(&self.repo, &self.base, &self.head).await
    }

    /// Before and After as files, and remarks: patches that did not fit at once, submodules.
    pub(crate) async fn overlays(
        &self,
        split: &SplitPullRequest,
    ) -> Result<(Overlay, Overlay, Vec<String>), Error> {
        let both = [&split.test_patch, &split.gold_patch];
        let mut outcome = overlay(&self.repo, &split.base, &both).await?;
        let mut remarks = outcome.notes;
        for (name, state) in ["test patch", "gold patch"].iter().zip(&outcome.states) {
            if !matches!(state.rung, Rung::Plain | Rung::Empty) {
                remarks.push(format!("the {name} fitted only by {:?}", state.rung));
            }
        }
        match (outcome.states.pop(), outcome.states.pop()) {
            (Some(after), Some(before)) => Ok((before.overlay, after.overlay, remarks)),
            _ => Err(Error::new(
                ErrorKind::Internal,
                "apply the split patches to their own base:",
                format!("{:?}", outcome.failed),
            )),
        }
    }

    /// A checkout of Base whose history ends there; returns remarks.
    pub(crate) async fn seal(&self, into: &Path) -> Result<Vec<String>, Error> {
        let sealed = seal(&self.repo, &self.base, into, History::Ancestors).await?;
        let mut remarks = Vec::new();
        for submodule in sealed
            .submodules
            .iter()
            .filter(|submodule| !submodule.checked_out)
        {
            remarks.push(format!(
                "submodule `{}` is empty: its objects are not here",
                submodule.path
            ));
        }
        if !sealed.lfs_pointers.is_empty() {
            remarks.push(format!(
                "{} files are only Git LFS pointers",
                sealed.lfs_pointers.len()
            ));
        }
        Ok(remarks)
    }
}

async fn open(cx: &RunContext, repo: &str) -> Result<GitRepo, Error> {
    if is_url(repo) {
        let mirror = mirror_folder(&cache_folder()?, repo);
        if mirror.exists() {
            return GitRepo::open(&mirror).await;
        }
        cx.progress.phase("clone");
        return GitRepo::clone_url(repo, &mirror).await;
    }
    GitRepo::open(Path::new(repo)).await
}

fn default_id(repo: &str, number: Option<u64>, head: &CommitSha) -> Result<InstanceId, Error> {
    let name = if repo.contains('/') {
        repo.replace('/', "__")
    } else {
        format!("{repo}__{repo}")
    };
    let clean: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "._-".contains(c) {
                c
            } else {
                '-'
            }
        })
        .collect();
    let clean = clean.trim_start_matches(['.', '_', '-']);
    let text = match number {
        Some(number) => format!("{clean}-{number}"),
        None => format!("{clean}-{}", &head.as_str()[..8]),
    };
    text.parse().map_err(|why: atlas_core::InvalidInstanceId| {
        Error::new(
            ErrorKind::InvalidInput,
            "name the instance: give --instance-id",
            "",
        )
        .with_source(why)
    })
}
