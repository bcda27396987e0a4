//! Clones on this machine, by the names of their repositories.

use atlas_core::{Error, ErrorKind};
use atlas_source::GitRepo;
use std::path::Path;

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

#[cfg(test)]
mod tests {
    use super::clone_among;
    use atlas_core::ErrorKind;

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
}
