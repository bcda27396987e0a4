//! Checkouts from which the future cannot be read.

use crate::git::Call;
use crate::repository::{EntryKind, GitRepo};
use crate::scratch::{Scratch, write};
use crate::submodules::module_at;
use atlas_core::{CommitSha, Error, ErrorKind};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

/// How much of the past a sealed checkout holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum History {
    /// Every ancestor of the base commit.
    #[default]
    Ancestors,
    /// The base commit alone.
    Shallow,
}

/// A submodule of a sealed checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submodule {
    /// Where it belongs.
    pub path: String,
    /// Whether its files are there: only if the source repository had its objects.
    pub checked_out: bool,
}

/// What a sealed checkout holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sealed {
    /// How many commits.
    pub commits: usize,
    /// The tags that were kept.
    pub tags: Vec<String>,
    /// The submodules that the commit names.
    pub submodules: Vec<Submodule>,
    /// Files that are only pointers to Git LFS content, which is not brought.
    pub lfs_pointers: Vec<String>,
    /// How many objects of the history the source repository does not have, as a partial or damaged
    /// clone. None of them belongs to the commit itself.
    pub missing_objects: usize,
}

/// The one branch of a sealed checkout.
pub const SEALED_BRANCH: &str = "atlas-base";

/// Makes a checkout of a commit at `into`, a folder that does not exist or is empty.
///
/// It has a `.git` of its own with copies of the objects that the commit needs and no others: HEAD
/// is detached at the same commit id, [`SEALED_BRANCH`] points to it, tags are kept if they point
/// to what is there, and there is no remote, reflog, stash, note, alternate or hook. An annotated
/// tag that was written after the commit is kept as a plain one, since its text is from the
/// future. That nothing else is there is checked object by object.
///
/// # Errors
/// [`ErrorKind::NotFound`] without that commit, [`ErrorKind::InvalidInput`] if `into` holds
/// something, [`ErrorKind::Internal`] if the check fails.
///
/// # Cancellation
/// Dropping the future stops git; a partly made `into` stays and must be removed by the caller.
pub async fn seal(
    repo: &GitRepo,
    base: &CommitSha,
    into: impl AsRef<Path>,
    history: History,
) -> Result<Sealed, Error> {
    // git runs in other folders, where a relative path would mean something else.
    let into = into.as_ref();
    let into = &std::path::absolute(into).map_err(|why| Error::io("find", into, why))?;
    let base = repo.resolve(base.as_str()).await?;
    if into
        .read_dir()
        .is_ok_and(|mut files| files.next().is_some())
    {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "seal into",
            format!("`{}`: the folder is not empty", into.display()),
        ));
    }
    Call::git()
        .args(["init", "--quiet", "--template=", "--initial-branch"])
        .arg(SEALED_BRANCH)
        .arg(format!("--object-format={}", repo.object_format()))
        .arg("--")
        .arg(into)
        .checked()
        .await?;
    let sealed_git = into.join(".git");
    let inside = || Call::git().arg("-C").arg(into).env("GIT_DIR", &sealed_git);

    let commits = match history {
        History::Shallow => BTreeSet::from([base.to_string()]),
        History::Ancestors => lines(repo.git().args(["rev-list", base.as_str(), "--"])).await?,
    };
    let tags = tags(repo, &base, &commits).await?;
    let missing = copy_history(repo, &base, &tags, history, &sealed_git).await?;
    let boundary = shallow_boundary(repo, &base, &commits, history).await;
    if !boundary.is_empty() {
        write(&sealed_git.join("shallow"), boundary.as_bytes()).await?;
    }

    let mut refs = format!("create refs/heads/{SEALED_BRANCH} {base}\n");
    for tag in &tags {
        refs.extend(["create refs/tags/", &tag.name, " ", &tag.target, "\n"]);
    }
    inside()
        .args(["update-ref", "--stdin"])
        .stdin(refs)
        .checked()
        .await?;
    inside()
        .args(["update-ref", "--no-deref", "HEAD", base.as_str()])
        .checked()
        .await?;
    let sealed = GitRepo::open(into).await?;
    let files = async {
        inside()
            .env("GIT_WORK_TREE", into)
            .args(["read-tree", "--reset", "-u", base.as_str()])
            .checked()
            .await
    };
    let (_, (), lfs_pointers, entries) = tokio::try_join!(
        files,
        verify(&sealed, &base, &commits, &tags, missing > 0),
        lfs_pointers(&sealed, &base),
        sealed.list_files(&base)
    )?;
    // An index that knows no times and inodes of this machine: the same commit is the same bytes. A copy has others anyway.
    inside()
        .args(["read-tree", base.as_str()])
        .checked()
        .await?;
    let mut report = Sealed {
        commits: commits.len(),
        tags: tags.into_iter().map(|tag| tag.name).collect(),
        lfs_pointers,
        submodules: Vec::new(),
        missing_objects: missing,
    };
    for entry in entries {
        if entry.kind == EntryKind::Submodule {
            let checked_out = submodule(repo, &sealed, &base, &entry.path, into, history).await?;
            report.submodules.push(Submodule {
                path: entry.path,
                checked_out,
            });
        }
    }
    Ok(report)
}

struct Tag {
    name: String,
    /// The commit, or the tag object where its text may be seen.
    target: String,
}

async fn lines(call: Call) -> Result<BTreeSet<String>, Error> {
    let output = call.checked().await?;
    Ok(output.line().lines().map(str::to_owned).collect())
}

/// The tags whose commit is part of the sealed history.
async fn tags(
    repo: &GitRepo,
    base: &CommitSha,
    commits: &BTreeSet<String>,
) -> Result<Vec<Tag>, Error> {
    let made = repo
        .git()
        .args([
            "rev-list",
            "--no-commit-header",
            "--no-walk",
            "--format=%ct",
        ])
        .args([base.as_str(), "--"])
        .checked()
        .await?
        .line();
    let made: i64 = made.parse().unwrap_or(0);
    let output = repo
        .git()
        .args(["for-each-ref", "--merged", base.as_str()])
        .arg("--format=%(refname:lstrip=2)%00%(objectname)%00%(*objectname)%00%(*objecttype)%00%(taggerdate:unix)")
        .arg("refs/tags")
        .checked()
        .await?;
    let mut tags = Vec::new();
    for line in output.line().lines() {
        let mut fields = line.split('\0');
        let mut next = || fields.next().unwrap_or_default();
        let (name, object, peeled, kind, date) = (next(), next(), next(), next(), next());
        let annotated = !peeled.is_empty();
        let commit = if annotated { peeled } else { object };
        if !commits.contains(commit) {
            continue;
        }
        let readable =
            annotated && kind == "commit" && date.parse::<i64>().is_ok_and(|date| date <= made);
        tags.push(Tag {
            name: name.to_owned(),
            target: if readable { object } else { commit }.to_owned(),
        });
    }
    Ok(tags)
}

/// Copies the objects of the history; gives the number of those that are not there to be copied.
///
/// # Errors
/// What is missing of the commit itself is one.
async fn copy_history(
    repo: &GitRepo,
    base: &CommitSha,
    tags: &[Tag],
    history: History,
    sealed_git: &Path,
) -> Result<usize, Error> {
    let Err(why) = copy_objects(repo, base, tags, history, sealed_git, false).await else {
        return Ok(0);
    };
    let absent = |arguments: &[&str]| {
        let call = repo
            .git()
            .args(["rev-list", "--objects", "--no-object-names"])
            .arg("--missing=print")
            .args(arguments)
            .args([base.as_str(), "--"]);
        async move {
            let listed = lines(call).await?;
            let absent = listed.iter().filter_map(|line| line.strip_prefix('?'));
            Ok::<BTreeSet<String>, Error>(absent.map(str::to_owned).collect())
        }
    };
    let missing = match history {
        History::Ancestors => absent(&[]).await?,
        // All that is wanted is the commit's own.
        History::Shallow => BTreeSet::new(),
    };
    if missing.is_empty() {
        return Err(why);
    }
    if let Some(own) = absent(&["--max-count=1"]).await?.first() {
        let what = format!("commit {base}: the repository lacks its object {own}: fetch it");
        return Err(Error::new(ErrorKind::NotFound, "copy the objects of", what));
    }
    copy_objects(repo, base, tags, history, sealed_git, true).await?;
    Ok(missing.len())
}

/// Copies exactly the objects of the history, as one pack; with `partial` those that are there.
async fn copy_objects(
    repo: &GitRepo,
    base: &CommitSha,
    tags: &[Tag],
    history: History,
    sealed_git: &Path,
    partial: bool,
) -> Result<(), Error> {
    let mut wanted = String::new();
    let mut pack = repo
        .git()
        .args(["pack-objects", "--stdout", "--quiet", "--delta-base-offset"]);
    if partial {
        pack = pack.arg("--missing=allow-any");
    }
    if history == History::Ancestors {
        pack = pack.arg("--revs");
        wanted.push_str(base.as_str());
        wanted.push('\n');
    } else {
        let output = repo
            .git()
            .args([
                "rev-list",
                "--objects",
                "--no-object-names",
                "--max-count=1",
            ])
            .args([base.as_str(), "--"])
            .checked()
            .await?;
        wanted.push_str(&output.line());
        wanted.push('\n');
    }
    for tag in tags {
        wanted.push_str(&tag.target);
        wanted.push('\n');
    }
    let unpack = Call::git()
        .env("GIT_DIR", sealed_git)
        .args(["index-pack", "--stdin"]);
    let started = |child: std::io::Result<tokio::process::Child>, call: &Call| {
        child.map_err(|why| call.cannot_start(why))
    };
    let mut from = started(
        pack.command()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn(),
        &pack,
    )?;
    let pipe = |why| Error::new(ErrorKind::Io, "connect", "git processes").with_source(why);
    let stream: Stdio = match from.stdout.take() {
        Some(stdout) => stdout.try_into().map_err(pipe)?,
        None => Stdio::null(),
    };
    let mut input = from.stdin.take();
    let to = started(
        unpack
            .command()
            .stdin(stream)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn(),
        &unpack,
    )?;
    let feed = async {
        if let Some(mut input) = input.take() {
            // git says itself what it misses if it stops reading.
            let _ = tokio::io::AsyncWriteExt::write_all(&mut input, wanted.as_bytes()).await;
        }
    };
    let ((), from, to) = tokio::join!(feed, from.wait_with_output(), to.wait_with_output());
    let (from, to) = (from.map_err(pipe)?, to.map_err(pipe)?);
    if from.status.success() && to.status.success() {
        return Ok(());
    }
    let said = [from.stderr, to.stderr].concat();
    Err(Error::new(
        ErrorKind::ToolFailed,
        "copy the objects of",
        format!("commit {base}"),
    )
    .with_source(String::from_utf8_lossy(&said).trim_end().to_owned()))
}

/// The commits whose parents are left out, as the `shallow` file lists them.
async fn shallow_boundary(
    repo: &GitRepo,
    base: &CommitSha,
    commits: &BTreeSet<String>,
    history: History,
) -> String {
    if history == History::Shallow {
        return format!("{base}\n");
    }
    let known = tokio::fs::read_to_string(repo.common_dir().join("shallow")).await;
    known
        .unwrap_or_default()
        .lines()
        .filter(|commit| commits.contains(*commit))
        .flat_map(|commit| [commit, "\n"])
        .collect()
}

/// Compares what is there with what may be there, object by object.
async fn verify(
    sealed: &GitRepo,
    base: &CommitSha,
    commits: &BTreeSet<String>,
    tags: &[Tag],
    partial: bool,
) -> Result<(), Error> {
    let leak = |what: String| Err(Error::new(ErrorKind::Internal, "seal", what));
    let mut reached = sealed
        .git()
        .args(["rev-list", "--objects", "--no-object-names"]);
    if partial {
        reached = reached.arg("--missing=allow-any");
    }
    let (allowed, there, refs) = tokio::try_join!(
        lines(reached.args([base.as_str(), "--"])),
        lines(sealed.git().args([
            "cat-file",
            "--batch-all-objects",
            "--batch-check=%(objectname) %(objecttype)",
        ])),
        lines(sealed.git().args(["for-each-ref", "--format=%(refname)"]))
    )?;
    let tag_objects: BTreeSet<&str> = tags.iter().map(|tag| tag.target.as_str()).collect();
    for object in &there {
        let (id, kind) = object.split_once(' ').unwrap_or((object, ""));
        let fine = match kind {
            "commit" => commits.contains(id),
            "tag" => tag_objects.contains(id),
            _ => allowed.contains(id),
        };
        if !fine {
            return leak(format!("commit {base}: {kind} {id} does not belong to it"));
        }
    }
    let branch = format!("refs/heads/{SEALED_BRANCH}");
    for name in refs {
        let tag = name.strip_prefix("refs/tags/");
        let known = tag.is_some_and(|tag| tags.iter().any(|kept| kept.name == tag));
        if name != branch && !known {
            return leak(format!("commit {base}: ref {name} does not belong to it"));
        }
    }
    for file in ["objects/info/alternates", "FETCH_HEAD", "ORIG_HEAD", "logs"] {
        if sealed.common_dir().join(file).exists() {
            return leak(format!("commit {base}: `{file}` was left behind"));
        }
    }
    if sealed.resolve("HEAD").await? != *base {
        return leak(format!("commit {base}: HEAD is another commit"));
    }
    Ok(())
}

/// Files that hold a Git LFS pointer instead of their content.
async fn lfs_pointers(sealed: &GitRepo, base: &CommitSha) -> Result<Vec<String>, Error> {
    // A pointer has three short lines; only blobs of about that size are read.
    let output = sealed
        .git()
        .args(["ls-tree", "-r", "-l", "-z", "--full-tree", base.as_str()])
        .checked()
        .await?;
    let mut candidates = Vec::new();
    for line in output.stdout.split(|byte| *byte == 0) {
        let line = String::from_utf8_lossy(line);
        let Some((meta, path)) = line.split_once('\t') else {
            continue;
        };
        let mut meta = meta.split_ascii_whitespace().skip(2);
        let (Some(oid), Some(size)) = (meta.next(), meta.next()) else {
            continue;
        };
        if size
            .parse()
            .is_ok_and(|size: u64| (120..=140).contains(&size))
        {
            candidates.push((path.to_owned(), oid.to_owned()));
        }
    }
    let scratch = Scratch::over(sealed).await?;
    let contents = scratch
        .contents(candidates.iter().map(|(_, oid)| oid.as_str()))
        .await?;
    let pointer = b"version https://git-lfs.github.com/spec/";
    Ok(candidates
        .into_iter()
        .zip(contents)
        .filter(|(_, content)| content.starts_with(pointer))
        .map(|((path, _), _)| path)
        .collect())
}

/// Seals a submodule into its place if the source repository has its objects.
async fn submodule(
    repo: &GitRepo,
    sealed: &GitRepo,
    base: &CommitSha,
    path: &str,
    into: &Path,
    history: History,
) -> Result<bool, Error> {
    let Some(module) = module_at(sealed.git(), base.as_str(), path, repo).await else {
        return Ok(false);
    };
    let commit = sealed
        .git()
        .args(["rev-parse", "--verify", "--quiet"])
        .arg(format!("{base}:{path}"))
        .checked()
        .await?;
    let Ok(commit) = module.resolve(&commit.line()).await else {
        return Ok(false);
    };
    Box::pin(seal(&module, &commit, into.join(path), history)).await?;
    Ok(true)
}
