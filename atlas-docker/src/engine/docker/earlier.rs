//! The image of an earlier commit, whose compiled objects a build may take again.
//!
//! C and C++ compile their own sources for the greater part of a build, which differ between two commits in
//! a few files. Their templates name a stage that holds a compiler's cache and is empty unless the engine
//! finds an image to put in its place: of the same toolchain, and of a commit that the base's
//! history holds, so that nothing younger than the base comes with it.

use super::{COMMIT_LABEL, DockerEngine, OBJECTS_LABEL, fault};
use atlas_core::{Error, Repository};
use bollard::query_parameters::ListImagesOptionsBuilder;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// The argument of a Dockerfile that names the image.
pub(super) const ARGUMENT: &str = "EARLIER";

/// Hash of all that the sources are laid out upon, if the Dockerfile takes objects: another compiler, or
/// other packages, make other objects.
pub(super) fn toolchain(
    base: &str,
    dockerfile: &str,
    files: &BTreeMap<String, String>,
) -> Option<String> {
    let (below, _) = dockerfile.split_once(&format!("\nFROM ${{{ARGUMENT}}} "))?;
    let mut hash = Sha256::new_with_prefix(format!("{base}\n{below}"));
    for (path, text) in files {
        if below.contains(path.as_str()) {
            hash.update(format!("\n{path}\n{text}"));
        }
    }
    Some(crate::engine::hex(&hash.finalize()))
}

/// Whether an instruction begins the stage that the image stands for.
pub(super) fn is_its_step(instruction: &str) -> bool {
    instruction.starts_with(&format!("FROM ${{{ARGUMENT}}} "))
}

/// The image of this toolchain whose commit is the newest in the base's history.
///
/// # Errors
/// When the engine does not answer.
pub(super) async fn find(
    engine: &DockerEngine,
    repository: &Repository,
    toolchain: &str,
) -> Result<Option<String>, Error> {
    let filters = HashMap::from([("label", vec![format!("{OBJECTS_LABEL}={toolchain}")])]);
    let options = ListImagesOptionsBuilder::default()
        .filters(&filters)
        .build();
    let listed = engine
        .docker()
        .list_images(Some(options))
        .await
        .map_err(|why| fault("list images of", "the engine", why))?;
    let wanted = &engine.options().labels;
    let mut images = BTreeMap::new();
    for image in listed {
        let same = |(name, value)| image.labels.get(name) == Some(value);
        if !wanted.iter().all(same)
            || image.labels.get(OBJECTS_LABEL).map(String::as_str) != Some(toolchain)
        {
            continue;
        }
        if let Some(commit) = image.labels.get(COMMIT_LABEL) {
            // Both engines take an id without its algorithm's name.
            let id = image.id.trim_start_matches("sha256:").to_owned();
            images.insert(commit.clone(), id);
        }
    }
    if images.is_empty() {
        return Ok(None);
    }
    let (checkout, base) = (repository.checkout.clone(), repository.base.to_string());
    let newest = tokio::task::spawn_blocking(move || newest(&checkout, &base, &images)).await;
    Ok(newest.unwrap_or_default())
}

/// Of images by their commits, that of the newest commit in a history; none where git cannot say.
fn newest(checkout: &Path, base: &str, images: &BTreeMap<String, String>) -> Option<String> {
    let mut git = Command::new("git")
        .arg("-C")
        .arg(checkout)
        .args(["rev-list", base, "--"])
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let found = BufReader::new(git.stdout.take()?)
        .lines()
        .map_while(Result::ok)
        .find_map(|commit| images.get(&commit).cloned());
    // It may still have a history to list.
    let _ = git.kill();
    let _ = git.wait();
    found
}

#[cfg(test)]
mod tests {
    use super::{newest, toolchain};
    use std::collections::BTreeMap;
    use std::process::Command;

    #[test]
    fn only_what_lies_in_the_base_s_history_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let commit = |text: &str, parent: &str| {
            let script = format!(
                "git init -q . && git config user.name a && git config user.email a@b.c && \
                 {{ [ -z '{parent}' ] || git checkout -q '{parent}'; }} && \
                 git commit -q --allow-empty -m {text} && git rev-parse HEAD"
            );
            let done = Command::new("bash")
                .args(["-ec", &script])
                .current_dir(&folder)
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .output()
                .unwrap();
            assert!(done.status.success(), "{script}: {done:?}");
            String::from_utf8(done.stdout).unwrap().trim().to_owned()
        };
        let first = commit("first", "");
        let second = commit("second", &first);
        let third = commit("third", &second);
        let beside = commit("beside", &first);
        let images: BTreeMap<String, String> = [(&first, "1"), (&second, "2"), (&beside, "b")]
            .map(|(commit, id)| (commit.clone(), id.to_owned()))
            .into();
        let of = |base: &str| newest(folder.path(), base, &images);
        assert_eq!(of(&third).as_deref(), Some("2"));
        assert_eq!(of(&second).as_deref(), Some("2"));
        assert_eq!(of(&beside).as_deref(), Some("b"));
        assert_eq!(of(&first).as_deref(), Some("1"));
        let later = BTreeMap::from([(third, "3".to_owned())]);
        assert_eq!(newest(folder.path(), &second, &later), None);
        assert_eq!(newest(folder.path(), &"0".repeat(40), &images), None);
    }

    #[test]
    fn another_toolchain_has_another_hash() {
        let text = |packages: &str, command: &str| {
            format!(
                "FROM x AS base\nRUN apt-get install {packages}\n\nFROM ${{EARLIER}} AS earlier\n\nFROM base\nRUN {command}\n"
            )
        };
        let of = |base: &str, packages: &str, command: &str| {
            toolchain(base, &text(packages, command), &BTreeMap::new())
        };
        assert!(of("a", "gcc", "make").is_some());
        assert_eq!(of("a", "gcc", "make"), of("a", "gcc", "make all"));
        assert_ne!(of("a", "gcc", "make"), of("b", "gcc", "make"));
        assert_ne!(of("a", "gcc", "make"), of("a", "clang", "make"));
        assert_eq!(toolchain("a", "FROM x\nRUN make\n", &BTreeMap::new()), None);
        // A script of the toolchain counts, one of the build does not.
        let with = |path: &str, script: &str| {
            let files = BTreeMap::from([(path.to_owned(), script.to_owned())]);
            toolchain(
                "a",
                &text("scripts/system-1.sh", "scripts/build-1.sh"),
                &files,
            )
        };
        assert_ne!(
            with("scripts/system-1.sh", "x"),
            with("scripts/system-1.sh", "y")
        );
        assert_eq!(
            with("scripts/build-1.sh", "x"),
            with("scripts/build-1.sh", "y")
        );
    }
}
