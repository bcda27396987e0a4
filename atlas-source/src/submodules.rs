//! Where the objects of a submodule are.

use crate::git::Call;
use crate::repository::GitRepo;
use std::path::PathBuf;

/// The repository of the submodule at this path of a tree, if the clone has it. `git` reads the tree,
/// and `clone` is where submodules' repositories lie.
pub(crate) async fn module_at(
    git: Call,
    tree: &str,
    path: &str,
    clone: &GitRepo,
) -> Option<GitRepo> {
    let modules = git
        .args(["config", "--blob"])
        .arg(format!("{tree}:.gitmodules"))
        .args(["--null", "--get-regexp", r"^submodule\..*\.path$"])
        .output()
        .await
        .ok()
        .filter(|output| output.success)?;
    let text = String::from_utf8_lossy(&modules.stdout);
    let name = text.split('\0').find_map(|entry| {
        let (key, value) = entry.split_once('\n')?;
        let name = key.strip_prefix("submodule.")?.strip_suffix(".path")?;
        (value == path).then_some(name)
    })?;
    if name
        .split(['/', '\\'])
        .any(|part| part == ".." || part.is_empty())
    {
        return None;
    }
    let folder: PathBuf = clone.common_dir().join("modules").join(name);
    GitRepo::open(&folder).await.ok()
}
