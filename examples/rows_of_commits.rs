//! Rows for judges out of clones, without running anything: the two patches of commits, and the files that they change.
//!
//! `rows_of_commits < list`, where each line of the list is `CLONE REPO COMMIT`: a folder, `owner/name`, and a commit whose first parent is
//! the base. Prints one JSON row a line, with `files`, the texts at the base; commits without tests or without a solution are left out.

use atlas_core::{CommitSha, Error, Patch};
use atlas_source::{GitRepo, problem_statement, split};
use serde_json::{Map, Value, json};
use std::io::Write as _;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let [clone, name, commit] = words[..] else {
            return Err(format!("`{line}` is not CLONE REPO COMMIT").into());
        };
        if let Some(row) = row(clone, name, commit).await? {
            writeln!(out, "{row}")?;
        }
    }
    Ok(())
}

async fn row(clone: &str, name: &str, commit: &str) -> Result<Option<Value>, Error> {
    let repo = GitRepo::open(clone).await?;
    let head = repo.resolve(commit).await?;
    let base = repo.resolve(&format!("{head}^1")).await?;
    let pull = split(&repo, &base, &head).await?;
    if pull.gold_patch.as_bytes().is_empty() || pull.test_patch.as_bytes().is_empty() {
        return Ok(None);
    }
    let mut files = Map::new();
    for patch in [&pull.gold_patch, &pull.test_patch] {
        for path in old_paths(patch) {
            if let Some(bytes) = repo.read_file(&base, &path).await?
                && let Ok(text) = String::from_utf8(bytes)
            {
                files.insert(path, Value::from(text));
            }
        }
    }
    let messages = repo.commit_messages(&base, &head).await?;
    Ok(Some(json!({
        "instance_id": format!("{}-{}", name.replace('/', "__"), short(&head)),
        "repo": name,
        "base_commit": base.to_string(),
        "patch": text(&pull.gold_patch),
        "test_patch": text(&pull.test_patch),
        "problem_statement": problem_statement(&messages),
        "files": files,
    })))
}

fn old_paths(patch: &Patch) -> Vec<String> {
    let files = patch.files().unwrap_or_default();
    files.into_iter().filter_map(|file| file.old_path).collect()
}

fn short(commit: &CommitSha) -> String {
    commit.to_string().chars().take(12).collect()
}

fn text(patch: &Patch) -> String {
    String::from_utf8_lossy(patch.as_bytes()).into_owned()
}
