//! The image of an earlier commit, whose compiled objects a build may take again.
//!
//! C and C++ compile their own sources for the greater part of a build, which differ between two commits in
//! a few files; Go and Rust compile their dependencies, of which a commit changes one or two. Their templates
//! name a stage that holds a compiler's cache and is empty unless the engine finds an image to put in its
//! place: of the same toolchain, and of a commit that the base's history holds, so that nothing younger than
//! the base comes with it.

use super::{COMMIT_LABEL, DEPENDENCIES_LABEL, DockerEngine, EARLIER_LABEL, OBJECTS_LABEL, fault};
use atlas_core::{Error, Repository};
use bollard::query_parameters::ListImagesOptionsBuilder;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
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
    let hash = hash_of(base, below, files);
    Some(crate::engine::hex(&hash.finalize()))
}

/// Of what lies below, some instructions and the files that they name.
fn hash_of(below: &str, instructions: &str, files: &BTreeMap<String, String>) -> Sha256 {
    let mut hash = Sha256::new_with_prefix(format!("{below}\n{instructions}"));
    for (path, text) in files {
        if instructions.contains(path.as_str()) {
            hash.update(format!("\n{path}\n{text}"));
        }
    }
    hash
}

/// Whether an instruction begins the stage that the image stands for.
pub(super) fn is_its_step(instruction: &str) -> bool {
    instruction.starts_with(&format!("FROM ${{{ARGUMENT}}} "))
}

/// Hash of what the stage between the earlier image and the sources is made of, if that stage stands upon
/// the image: two commits of which it is the same share its layers, if both took the same image.
pub(super) fn dependencies(
    toolchain: &str,
    dockerfile: &str,
    files: &BTreeMap<String, String>,
    manifests: &BTreeMap<String, Vec<u8>>,
) -> Option<String> {
    let (_, above) = dockerfile.split_once(&format!("\nFROM ${{{ARGUMENT}}} "))?;
    let (stage, _) = above.split_once("\nFROM dependencies AS build\n")?;
    if !stage.contains("--from=earlier") {
        return None;
    }
    let mut hash = hash_of(toolchain, stage, files);
    for (path, bytes) in manifests {
        hash.update(format!("\n{path}\n{}\n", bytes.len()));
        hash.update(bytes);
    }
    Some(crate::engine::hex(&hash.finalize()))
}

/// An image whose objects may be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Kept {
    /// Without its algorithm's name, which is how both engines take it.
    id: String,
    commit: String,
    dependencies: Option<String>,
    /// The image that it took objects of itself; empty for none.
    earlier: String,
}

/// The image of this toolchain to take objects of: what one with the same dependencies took, so that its
/// layers are shared; else the newest in the base's history.
///
/// # Errors
/// When the engine does not answer.
pub(super) async fn find(
    engine: &DockerEngine,
    repository: &Repository,
    toolchain: &str,
    dependencies: Option<&str>,
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
    let images: Vec<Kept> = listed
        .into_iter()
        .filter(|image| {
            let same = |(name, value)| image.labels.get(name) == Some(value);
            wanted.iter().all(same)
                && image.labels.get(OBJECTS_LABEL).map(String::as_str) == Some(toolchain)
        })
        .filter_map(|image| {
            Some(Kept {
                id: image.id.trim_start_matches("sha256:").to_owned(),
                commit: image.labels.get(COMMIT_LABEL)?.clone(),
                dependencies: image.labels.get(DEPENDENCIES_LABEL).cloned(),
                earlier: image.labels.get(EARLIER_LABEL).cloned().unwrap_or_default(),
            })
        })
        .collect();
    if images.is_empty() {
        return Ok(None);
    }
    let (checkout, base) = (repository.checkout.clone(), repository.base.to_string());
    let dependencies = dependencies.map(str::to_owned);
    let chosen = tokio::task::spawn_blocking(move || {
        choose(&checkout, &base, &images, dependencies.as_deref())
    })
    .await;
    Ok(chosen.unwrap_or_default())
}

/// The image to take; none where git cannot say what the history holds.
fn choose(
    checkout: &Path,
    base: &str,
    images: &[Kept],
    dependencies: Option<&str>,
) -> Option<String> {
    let history = history(checkout, base, images);
    let of = |commit: &String| images.iter().find(|image| image.commit == *commit);
    let same = images
        .iter()
        .filter(|image| dependencies.is_some() && image.dependencies.as_deref() == dependencies);
    for image in same {
        if image.earlier.is_empty() {
            return None;
        }
        let its_own = |image: &&Kept| history.contains(&image.commit);
        let taken = images.iter().find(|other| other.id == image.earlier);
        if let Some(taken) = taken.filter(its_own) {
            return Some(taken.id.clone());
        }
    }
    history.first().and_then(of).map(|image| image.id.clone())
}

/// Commits of images that a history holds, the newest first; none where git cannot say.
fn history(checkout: &Path, base: &str, images: &[Kept]) -> Vec<String> {
    let mut left: BTreeSet<&str> = images.iter().map(|image| image.commit.as_str()).collect();
    let git = Command::new("git")
        .arg("-C")
        .arg(checkout)
        .args(["rev-list", base, "--"])
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut git) = git else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if let Some(output) = git.stdout.take() {
        for commit in BufReader::new(output).lines().map_while(Result::ok) {
            if left.remove(commit.as_str()) {
                found.push(commit);
                if left.is_empty() {
                    break;
                }
            }
        }
    }
    // It may still have a history to list.
    let _ = git.kill();
    let _ = git.wait();
    found
}

#[cfg(test)]
mod tests {
    use super::{Kept, choose, dependencies, toolchain};
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
        let kept = |commit: &str, id: &str, dependencies: &str, earlier: &str| Kept {
            id: id.to_owned(),
            commit: commit.to_owned(),
            dependencies: Some(dependencies.to_owned()),
            earlier: earlier.to_owned(),
        };
        let mut images = vec![
            kept(&first, "1", "x", ""),
            kept(&second, "2", "y", "1"),
            kept(&beside, "b", "z", "1"),
        ];
        let of = |base: &str| choose(folder.path(), base, &images, None);
        assert_eq!(of(&third).as_deref(), Some("2"));
        assert_eq!(of(&second).as_deref(), Some("2"));
        assert_eq!(of(&beside).as_deref(), Some("b"));
        assert_eq!(of(&first).as_deref(), Some("1"));
        assert_eq!(of(&"0".repeat(40)), None);
        let later = [kept(&third, "3", "x", "")];
        assert_eq!(choose(folder.path(), &second, &later, None), None);

        // With the same dependencies, what that one took, so that both share the layers: if it may be taken.
        images.push(kept(&third, "3", "w", "2"));
        let of = |base: &str, dependencies: &str| {
            choose(folder.path(), base, &images, Some(dependencies))
        };
        assert_eq!(of(&third, "x"), None);
        assert_eq!(of(&third, "y").as_deref(), Some("1"));
        assert_eq!(of(&third, "w").as_deref(), Some("2"));
        assert_eq!(of(&beside, "w").as_deref(), Some("b"));
        assert_eq!(of(&third, "new").as_deref(), Some("3"));
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

    #[test]
    fn dependencies_are_told_by_their_stage_and_their_manifests() {
        let text = |take: &str, build: &str| {
            format!(
                "FROM x AS base\n\nFROM ${{EARLIER}} AS earlier\n\nFROM base AS dependencies\n{take}\
                 COPY manifests/ /testbed/\nRUN bash toolbox/warm\n\nFROM dependencies AS build\nRUN {build}\n"
            )
        };
        let of = |take: &str, build: &str, warm: &str, manifest: &str| {
            let files = BTreeMap::from([("toolbox/warm".to_owned(), warm.to_owned())]);
            let manifests = BTreeMap::from([("go.mod".to_owned(), manifest.as_bytes().to_vec())]);
            dependencies("t", &text(take, build), &files, &manifests)
        };
        let take = "COPY --from=earlier /c/ /c/\n";
        assert!(of(take, "a", "w", "m").is_some());
        assert_eq!(of(take, "a", "w", "m"), of(take, "b", "w", "m"));
        assert_ne!(of(take, "a", "w", "m"), of(take, "a", "v", "m"));
        assert_ne!(of(take, "a", "w", "m"), of(take, "a", "w", "n"));
        // Where objects come above the dependencies, these are shared whatever is taken.
        assert_eq!(of("", "a", "w", "m"), None);
    }
}
