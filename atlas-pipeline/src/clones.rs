//! Clones on this machine, by the names of their repositories.

use crate::write_atomically;
use atlas_core::{CommitSha, Error, ErrorKind, Instance};
use atlas_source::{EntryKind, GitRepo};
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

/// The clone of `owner/name`: among the clones of a folder, named `owner__name`, `owner/name` or `name`, each
/// also with `.git` behind it; else the folder itself.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] for a name that would leave the folder, [`ErrorKind::NotFound`] where there is
/// no such clone.
pub(crate) async fn clone_among(given: &Path, name: &str) -> Result<GitRepo, Error> {
    if name.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "read row:",
            format!("repo `{name}`: `owner/name` expected"),
        ));
    }
    let flat = name.replace('/', "__");
    let last = name.rsplit('/').next().unwrap_or(name);
    for folder in [&flat, name, last] {
        for path in [given.join(folder), given.join(format!("{folder}.git"))] {
            if path.exists() {
                return GitRepo::open(&path).await;
            }
        }
    }
    GitRepo::open(given).await.map_err(|why| {
        Error::new(
            ErrorKind::NotFound,
            format!("find a clone of `{name}`:"),
            format!(
                "`{}` is no clone and holds none named `{flat}`, `{name}` or `{last}`",
                given.display()
            ),
        )
        .with_source(why)
    })
}

/// The folder with what `make` left of an instance: beside the dataset, or below `instances/` where `publish` puts it.
pub(crate) fn artefacts_of(dataset: &Path, id: &str) -> PathBuf {
    let folder = if dataset.is_dir() {
        dataset
    } else {
        dataset.parent().unwrap_or(Path::new("."))
    };
    let beside = folder.join(id);
    let published = folder.join("instances").join(id);
    if !beside.exists() && published.exists() {
        published
    } else {
        beside
    }
}

/// The base commit out of `repo.tar` of an environment's folder, as a bare clone at `into`.
///
/// The archive may be a stranger's, so of its `.git` nothing is taken but objects and where the history is cut: no configuration, no hook and no
/// way to objects elsewhere, by which git would run or read what the stranger names.
///
/// # Errors
/// An archive that cannot be read, or one without the commit.
pub(crate) async fn clone_from_archive(
    archive: &Path,
    base: &str,
    into: &Path,
) -> Result<GitRepo, Error> {
    let fail = |why| Error::io("read", archive, why);
    let file = std::fs::File::open(archive).map_err(fail)?;
    let mut archived = tar::Archive::new(std::io::BufReader::new(file));
    for entry in archived.entries().map_err(fail)? {
        let mut entry = entry.map_err(fail)?;
        let path = entry.path().map_err(fail)?.into_owned();
        let Some(kept) = kept_of_git(&path) else {
            continue;
        };
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(fail)?;
        write_atomically(&into.join(kept), &bytes)?;
    }
    let format = if base.len() == 64 {
        "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n"
    } else {
        "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
    };
    write_atomically(&into.join("config"), format.as_bytes())?;
    write_atomically(&into.join("HEAD"), b"ref: refs/heads/base\n")?;
    write_atomically(
        &into.join("refs/heads/base"),
        format!("{base}\n").as_bytes(),
    )?;
    GitRepo::open(into).await
}

/// The path below a bare clone of a file that is taken from a `.git`.
fn kept_of_git(path: &Path) -> Option<String> {
    let inside = path.strip_prefix(".git").ok()?.to_str()?;
    let parts: Vec<&str> = inside.split('/').collect();
    let is_hex = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_hexdigit());
    let is_kept = match *parts.as_slice() {
        ["shallow"] => true,
        ["objects", "pack", name] => {
            let known = [".pack", ".idx"];
            let stem = known.iter().find_map(|end| name.strip_suffix(end));
            stem.and_then(|stem| stem.strip_prefix("pack-"))
                .is_some_and(is_hex)
        }
        ["objects", start, rest] => start.len() == 2 && is_hex(start) && is_hex(rest),
        _ => false,
    };
    is_kept.then(|| inside.to_owned())
}

/// The files of an instance at its base commit.
#[derive(Debug)]
pub(crate) enum BaseSource {
    /// In a clone.
    Clone(GitRepo, CommitSha),
    /// As they are, in a folder that is named for the instance.
    Folder(PathBuf),
}

impl BaseSource {
    /// Those in `given`: a folder of its own for the instance where there is one, else in a clone, as [`clone_among`]
    /// finds it.
    pub(crate) async fn of(given: &Path, instance: &Instance) -> Result<Self, Error> {
        let column = |name: &str| {
            instance.required(name).map_err(|why| {
                let what = "find the files at the base commit:";
                Error::new(ErrorKind::InvalidInput, what, why.to_string())
            })
        };
        if let Ok(id) = instance.id() {
            let folder = given.join(id.as_str());
            if folder.is_dir() && !folder.join(".git").exists() && !folder.join("HEAD").exists() {
                return Ok(Self::Folder(folder));
            }
        }
        let repo = clone_among(given, column("repo")?).await?;
        let base = repo.resolve(column("base_commit")?).await?;
        Ok(Self::Clone(repo, base))
    }

    /// All files, by their paths from the root.
    pub(crate) async fn files(&self) -> Result<Vec<String>, Error> {
        let folder = match self {
            Self::Clone(repo, base) => {
                let found = repo.list_files(base).await?;
                let files = found.into_iter().filter(|one| one.kind == EntryKind::File);
                return Ok(files.map(|one| one.path).collect());
            }
            Self::Folder(folder) => folder,
        };
        let mut found = Vec::new();
        for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
            let entry = entry.map_err(|why| {
                let name = folder.display().to_string();
                Error::new(ErrorKind::Io, "look through", name).with_source(why)
            })?;
            if entry.file_type().is_file()
                && let Ok(path) = entry.path().strip_prefix(folder)
            {
                found.push(path.to_string_lossy().into_owned());
            }
        }
        Ok(found)
    }

    /// What stands in a file; none where there is no such file.
    pub(crate) async fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        let folder = match self {
            Self::Clone(repo, base) => return repo.read_file(base, path).await,
            Self::Folder(folder) => folder,
        };
        let is_within = Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        let path = folder.join(path);
        if !is_within || !path.is_file() {
            return Ok(None);
        }
        let read = std::fs::read(&path).map_err(|why| Error::io("read", &path, why));
        read.map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::{clone_among, kept_of_git};
    use atlas_core::ErrorKind;
    use std::path::Path;

    #[tokio::test]
    async fn a_name_does_not_leave_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["../x", "a/..", "/etc", "", "a//b"] {
            let why = clone_among(folder.path(), name).await.unwrap_err();
            assert_eq!(why.kind(), ErrorKind::InvalidInput, "{name}");
        }
        let why = clone_among(folder.path(), "a/b").await.unwrap_err();
        assert_eq!(why.kind(), ErrorKind::NotFound);
        assert!(why.chain().contains("a__b"), "{}", why.chain());
    }

    #[test]
    fn nothing_that_git_would_obey_is_taken_from_an_archive() {
        for path in [
            ".git/shallow",
            ".git/objects/pack/pack-0a1b.pack",
            ".git/objects/pack/pack-0a1b.idx",
            ".git/objects/0a/1b2c",
        ] {
            assert!(kept_of_git(Path::new(path)).is_some(), "{path}");
        }
        for path in [
            ".git/config",
            ".git/hooks/post-checkout",
            ".git/objects/info/alternates",
            ".git/objects/pack/../../hooks/x",
            ".git/objects/../config",
            "objects/0a/1b2c",
            "sub/.git/config",
        ] {
            assert!(kept_of_git(Path::new(path)).is_none(), "{path}");
        }
    }
}
