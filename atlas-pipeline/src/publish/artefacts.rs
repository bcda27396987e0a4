//! What `make` left of an instance, beside its row in the release.

use super::release::InstanceRecord;
use crate::store::{UNFINISHED, read_json};
use atlas_core::{Attempt, AttemptOrigin, EnvironmentLock, Error, ErrorKind};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Files that an environment is built from again, beside the folder [`ENVIRONMENT`].
const PLANS: [&str; 3] = ["plan.json", "environment.lock.json", "parser.json"];

/// The folder for `docker build`.
const ENVIRONMENT: &str = "environment";

/// Folders of this machine that may stand in logs, each with the word that takes its place.
#[derive(Clone, Debug, Default)]
pub(super) struct MachinePaths(Vec<(String, &'static str)>);

impl MachinePaths {
    /// Of the dataset's folder and of the local engine's.
    pub(super) fn of(dataset_folder: &Path, cache: Option<&Path>) -> Self {
        let mut found = Self::default();
        found.add(dataset_folder, "<dataset>");
        if let Some(cache) = cache {
            found.add(cache, "<cache>");
        }
        found
    }

    /// Adds a folder, as it is named and as it really is. One right below the root is in too many logs of containers to tell
    /// anything.
    fn add(&mut self, folder: &Path, word: &'static str) {
        let folder = if folder == Path::new("") {
            Path::new(".")
        } else {
            folder
        };
        let names = [std::path::absolute(folder).ok(), folder.canonicalize().ok()];
        for name in names.into_iter().flatten() {
            let is_telling = name.components().count() > 2;
            let Some(text) = name.to_str().filter(|_| is_telling) else {
                continue;
            };
            if !self.0.iter().any(|(known, _)| known == text) {
                self.0.push((text.to_owned(), word));
            }
        }
        // The longest first, so that a folder within another is named for itself.
        self.0
            .sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
    }

    /// These and the clone of an instance.
    fn with_clone(&self, clone: Option<&Path>) -> Self {
        let mut all = self.clone();
        if let Some(clone) = clone {
            all.add(clone, "<clone>");
        }
        all
    }

    /// The first of them that stands in a text.
    pub(super) fn found_in(&self, text: &[u8]) -> Option<&str> {
        let holds = |path: &str| places(text, path).next().is_some();
        let found = self.0.iter().find(|(path, _)| holds(path));
        found.map(|(path, _)| path.as_str())
    }

    /// The text with words in their places; nothing where none of them stands in it.
    fn replaced(&self, text: &[u8]) -> Option<Vec<u8>> {
        let mut changed: Option<Vec<u8>> = None;
        for (path, word) in &self.0 {
            let old = changed.as_deref().unwrap_or(text);
            let mut new = Vec::with_capacity(old.len());
            let mut done = 0;
            for at in places(old, path) {
                new.extend_from_slice(&old[done..at]);
                new.extend_from_slice(word.as_bytes());
                done = at + path.len();
            }
            if done > 0 {
                new.extend_from_slice(&old[done..]);
                changed = Some(new);
            }
        }
        changed
    }
}

/// Where a path stands in a text and does not go on as another name.
fn places<'a>(text: &'a [u8], path: &'a str) -> impl Iterator<Item = usize> + 'a {
    memchr::memmem::find_iter(text, path.as_bytes()).filter(move |at| {
        let next = text.get(at + path.len());
        !next.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    })
}

/// What was taken of one instance.
#[derive(Clone, Debug, Default)]
pub(super) struct CopiedArtefacts {
    /// Whether its environment can be built from what is there.
    pub(super) environment: bool,
    /// How many files are beside the row.
    pub(super) files: usize,
    /// Files in which folders of this machine gave place to words.
    pub(super) replaced: Vec<String>,
}

/// Copies what belongs beside a row into `into`, which is made where there is something.
///
/// # Errors
/// Files that cannot be copied; a path of this machine in what builds the environment.
pub(super) fn take(
    from: &Path,
    into: &Path,
    (paths, clone): (&MachinePaths, Option<&Path>),
    evidence: bool,
) -> Result<CopiedArtefacts, Error> {
    let mut taken = CopiedArtefacts::default();
    if !from.is_dir() {
        return Ok(taken);
    }
    let paths = paths.with_clone(clone);
    for file in files_below(from)? {
        let environment = file.starts_with(ENVIRONMENT);
        let is_plan = PLANS.iter().any(|name| file == Path::new(name));
        if !environment && !is_plan && !evidence {
            continue;
        }
        let source = from.join(&file);
        let target = into.join(&file);
        if let Some(folder) = target.parent() {
            std::fs::create_dir_all(folder).map_err(|why| Error::io("make", folder, why))?;
        }
        taken.files += 1;
        taken.environment |= file == Path::new("plan.json");
        if environment {
            // Packed sources are the repository's, and may be large.
            let is_packed = file.extension().is_some_and(|ending| ending == "tar");
            if !is_packed {
                let bytes =
                    std::fs::read(&source).map_err(|why| Error::io("read", &source, why))?;
                if let Some(path) = paths.found_in(&bytes) {
                    let what = format!(
                        "`{}` holds `{path}`, a folder of this machine; make the instance again, under bubblewrap or in a \
                         container",
                        source.display()
                    );
                    return Err(Error::new(ErrorKind::InvalidInput, "publish:", what));
                }
            }
            std::fs::copy(&source, &target).map_err(|why| Error::io("copy", &source, why))?;
            continue;
        }
        let bytes = std::fs::read(&source).map_err(|why| Error::io("read", &source, why))?;
        let changed = paths.replaced(&bytes);
        if changed.is_some() {
            taken.replaced.push(file.display().to_string());
        }
        let bytes = changed.as_deref().unwrap_or(&bytes);
        std::fs::write(&target, bytes).map_err(|why| Error::io("write", &target, why))?;
    }
    Ok(taken)
}

/// All plain files below a folder, in order of their paths from it. Links are not followed, and what is being written is left.
pub(super) fn files_below(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let entry = entry.map_err(|why| {
            let why = why.into_io_error();
            let why = why.unwrap_or_else(|| std::io::Error::other("folders in a circle"));
            Error::io("read", folder, why)
        })?;
        let unfinished = entry.file_name().to_string_lossy().starts_with(UNFINISHED);
        if entry.file_type().is_file() && !unfinished {
            let path = entry.path().strip_prefix(folder);
            found.extend(path.ok().map(Path::to_owned));
        }
    }
    Ok(found)
}

/// Notes who made an instance, and with what, as the files in its folder say.
pub(super) fn note_makers(folder: &Path, record: &mut InstanceRecord) {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(made) = read_json::<Value>(&folder.join("make.json")) {
        record.atlas_version = text(&made["version"]);
        record.isolation = text(&made["isolation"]["kind"]);
        record.scenario = text(&made["outcome"]);
    }
    if let Some(lock) = read_json::<EnvironmentLock>(&folder.join("environment.lock.json")) {
        let said = |text: String| Some(text).filter(|text| !text.is_empty());
        let digest = |id: &str| {
            let hash = id.rsplit('@').next().unwrap_or(id);
            hash.starts_with("sha256:").then(|| hash.to_owned())
        };
        record.image_digest = record
            .image_digest
            .take()
            .or_else(|| digest(&lock.image_id));
        record.base_image_digest = digest(&lock.base_image_id);
        record.engine = said(lock.engine);
        record.engine_version = said(lock.engine_version);
        record.base_image = said(lock.base_image);
        record.tools = lock.tools;
    }
    for attempt in read_json::<Vec<Attempt>>(&folder.join("attempts.json")).unwrap_or_default() {
        if let AttemptOrigin::Model { model, .. } = attempt.origin {
            record.models.insert(model);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_this_machine_give_place_to_words() {
        let mut paths = MachinePaths::default();
        paths.add(Path::new("/place/out"), "<dataset>");
        paths.add(Path::new("/place/out/cache"), "<cache>");
        paths.add(Path::new("/data"), "<dataset>");
        let text = b"at /place/out/cache/x and /place/out: /place/outer, /data/y";
        assert_eq!(
            paths.replaced(text).unwrap(),
            b"at <cache>/x and <dataset>: /place/outer, /data/y"
        );
        assert_eq!(paths.replaced(b"/place/outer"), None);
    }
}
