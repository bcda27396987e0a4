//! Which commits, which repository, which name.

use super::{MakeOptions, mirror_folder};
use crate::engine::cache_folder;
use crate::store::lock;
use atlas_core::{CommitSha, Error, ErrorKind, InstanceId, Overlay, RunContext};
use atlas_source::{
    GitRepo, History, OverlayState, Rung, SplitPullRequest, is_url, overlay, problem_statement,
    seal, split,
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
        let found = commits(&repo, options, &mut notes).await;
        let (mut base, head) = match found {
            // A mirror of an earlier run may be older than the pull request.
            Err(why) if why.kind() == ErrorKind::NotFound && is_url(&options.repo) => {
                cx.progress.phase("fetch");
                repo.fetch().await?;
                commits(&repo, options, &mut notes).await?
            }
            other => other?,
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
        let repo_name = match &options.repo_name {
            Some(name) => name.clone(),
            None => name(&repo, &options.repo).await,
        };
        let instance_id = match &options.instance_id {
            Some(id) => id.clone(),
            None => default_id(&repo_name, options.pull_request, &head)?,
        };
        let (messages, base_date, head_date) = tokio::try_join!(
            repo.commit_messages(&base, &head),
            repo.commit_date(&base),
            repo.commit_date(&head)
        )?;
        Ok(Self {
            base_date,
            head_date,
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

    /// Before and After as files, remarks (patches that did not fit at once, submodules), and whether
    /// the row works as graders use it: solution first, then tests, on Base, gives After.
    pub(crate) async fn overlays(
        &self,
        split: &SplitPullRequest,
    ) -> Result<(Overlay, Overlay, Vec<String>, bool), Error> {
        let both = [&split.test_patch, &split.gold_patch];
        let order = [&split.gold_patch, &split.test_patch];
        let (mut outcome, graded) = tokio::try_join!(
            overlay(&self.repo, &split.base, &both),
            overlay(&self.repo, &split.base, &order)
        )?;
        let mut remarks = outcome.notes;
        for (name, state) in ["test patch", "gold patch"].iter().zip(&outcome.states) {
            if !matches!(state.rung, Rung::Plain | Rung::Empty) {
                remarks.push(format!("the {name} fitted only by {:?}", state.rung));
            }
        }
        match (outcome.states.pop(), outcome.states.pop()) {
            (Some(after), Some(before)) => {
                let plain = |state: &OverlayState| matches!(state.rung, Rung::Plain | Rung::Empty);
                let fits = graded.failed.is_none()
                    && graded.states.iter().all(plain)
                    && graded
                        .states
                        .last()
                        .is_some_and(|state| state.overlay == after.overlay);
                Ok((before.overlay, after.overlay, remarks, fits))
            }
            _ => Err(Error::new(
                ErrorKind::Internal,
                "apply the split patches to their own base:",
                format!("{:?}", outcome.failed),
            )),
        }
    }

    /// The same, with its throw-away files in this folder.
    pub(crate) fn within(mut self, folder: &Path) -> Self {
        self.repo = self.repo.with_temp_dir(folder);
        self
    }

    /// A checkout of Base whose history ends there; returns remarks.
    pub(crate) async fn seal(&self, into: &Path) -> Result<Vec<String>, Error> {
        checkout(&self.repo, &self.base, into).await
    }
}

/// A checkout of a commit whose history ends there; returns remarks.
pub(crate) async fn checkout(
    repo: &GitRepo,
    base: &CommitSha,
    into: &Path,
) -> Result<Vec<String>, Error> {
    let sealed = seal(repo, base, into, History::Ancestors).await?;
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
    if sealed.missing_objects > 0 {
        remarks.push(format!(
            "the clone lacks {} objects of the history: git cannot show the commits with them",
            sealed.missing_objects
        ));
    }
    Ok(remarks)
}

/// `owner/name` by the clone's remote, else its folder's name.
pub(crate) async fn name(repo: &GitRepo, address: &str) -> String {
    // `.` and `..` are folders with a name too.
    let real = (!is_url(address))
        .then(|| std::fs::canonicalize(address).ok())
        .flatten();
    let address = real.as_deref().and_then(Path::to_str).unwrap_or(address);
    let folder = address
        .trim_end_matches('/')
        .rsplit(['/', ':'])
        .next()
        .unwrap_or("repo");
    let folder = folder.strip_suffix(".git").unwrap_or(folder);
    repo.remote_name()
        .await
        .unwrap_or_else(|| folder.to_owned())
}

/// The two ends of the pull request, as the options name them.
async fn commits(
    repo: &GitRepo,
    options: &MakeOptions,
    notes: &mut Vec<String>,
) -> Result<(CommitSha, CommitSha), Error> {
    match (&options.base, &options.head, options.pull_request) {
        (Some(base), Some(head), _) => tokio::try_join!(repo.resolve(base), repo.resolve(head)),
        (None, None, Some(number)) => {
            let found = repo.pull_request(number).await?;
            notes.push(format!("pull request {number}: {}", found.how));
            Ok((found.base, found.head))
        }
        _ => Err(Error::new(
            ErrorKind::InvalidInput,
            "choose the pull request:",
            "give base and head, or the number of the pull request",
        )),
    }
}

/// The clone, or a mirror of the address. A mirror appears whole, under its lock.
pub(crate) async fn open(cx: &RunContext, repo: &str) -> Result<GitRepo, Error> {
    if !is_url(repo) {
        return GitRepo::open(Path::new(repo)).await;
    }
    let mirror = mirror_folder(&cache_folder()?, repo);
    let name = mirror.with_extension("lock");
    let _lock = tokio::task::spawn_blocking(move || lock(&name))
        .await
        .map_err(|why| {
            Error::new(ErrorKind::Internal, "wait for the mirror's lock", "").with_source(why)
        })??;
    if !mirror.exists() {
        cx.progress.phase("clone");
        let partial = mirror.with_extension("partial");
        match std::fs::remove_dir_all(&partial) {
            Err(why) if why.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io("remove", &partial, why));
            }
            _ => {}
        }
        GitRepo::clone_url(repo, &partial).await?;
        std::fs::rename(&partial, &mirror).map_err(|why| Error::io("move to", &mirror, why))?;
    }
    GitRepo::open(&mirror).await
}

pub(crate) fn default_id(
    repo: &str,
    number: Option<u64>,
    head: &CommitSha,
) -> Result<InstanceId, Error> {
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
