//! Trees of files: copying, laying a state over one, bringing reports back, removing.

use crate::engine::COLLECT_BYTES;
use atlas_core::{Error, ErrorKind, FileMode, Job, Overlay};
use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind as IoKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Copies the content of `from` into `to`: times, modes and links kept, blocks shared where the
/// file system can. The owner becomes this user.
pub(super) async fn copy_tree(from: &Path, to: &Path) -> Result<(), Error> {
    let output = tokio::process::Command::new("cp")
        .args([
            "-a",
            "--reflink=auto",
            "--no-preserve=ownership",
            "-T",
            "--",
        ])
        .args([from, to])
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|why| Error::new(ErrorKind::ToolFailed, "run", "`cp`").with_source(why))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Error::new(
        ErrorKind::Io,
        "copy",
        format!(
            "`{}` to `{}`: {}",
            from.display(),
            to.display(),
            said.trim()
        ),
    ))
}

/// Removes a tree that untrusted code may have made unwritable.
pub(super) fn remove_tree(path: &Path) -> Result<(), Error> {
    let gone = |result: std::io::Result<()>| match result {
        Err(why) if why.kind() != IoKind::NotFound => Err(why),
        _ => Ok(()),
    };
    if gone(fs::remove_dir_all(path)).is_ok() {
        return Ok(());
    }
    for entry in walkdir::WalkDir::new(path) {
        // Folders are opened up on the way down, before walkdir reads them.
        let Ok(entry) = entry else { continue };
        if entry.file_type().is_dir() {
            let _ = fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o700));
        }
    }
    gone(fs::remove_dir_all(path)).map_err(|why| Error::io("remove", path, why))
}

/// Lays a state's files over a copy of the repository.
///
/// The tree may hold symbolic links that untrusted code made: none is followed. One in the place
/// of a folder gives way to a real folder, as when git checks a state out.
pub(super) fn lay_over(root: &Path, overlay: &Overlay) -> Result<(), Error> {
    for path in &overlay.remove {
        if let Some(place) = real_parent(root, path) {
            remove_any(&place)?;
        }
    }
    for (path, content) in &overlay.write {
        let place = make_room(root, path)?;
        let written = match content.mode {
            FileMode::Regular => write_new(&place, 0o644, &content.bytes),
            FileMode::Executable => write_new(&place, 0o755, &content.bytes),
            FileMode::Symlink => symlink(std::ffi::OsStr::from_bytes(&content.bytes), &place),
        };
        written.map_err(|why| Error::io("write", &place, why))?;
    }
    Ok(())
}

/// The place of `path`, with real folders above it and nothing at it.
pub(super) fn make_room(root: &Path, path: &str) -> Result<PathBuf, Error> {
    let mut place = root.to_owned();
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    for part in folders.split('/').filter(|part| !part.is_empty()) {
        place.push(part);
        let is_folder = fs::symlink_metadata(&place).is_ok_and(|meta| meta.is_dir());
        if !is_folder {
            remove_any(&place)?;
            fs::create_dir(&place).map_err(|why| Error::io("make", &place, why))?;
        }
    }
    place.push(name);
    remove_any(&place)?;
    Ok(place)
}

/// The place of `path` if every folder above it is a real one.
pub(super) fn real_parent(root: &Path, path: &str) -> Option<PathBuf> {
    let mut place = root.to_owned();
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        place.push(part);
        if parts.peek().is_some() && !fs::symlink_metadata(&place).ok()?.is_dir() {
            return None;
        }
    }
    Some(place)
}

/// Removes whatever is at this place; a link, not what it leads to.
pub(super) fn remove_any(place: &Path) -> Result<(), Error> {
    match fs::symlink_metadata(place) {
        Ok(meta) if meta.is_dir() => remove_tree(place),
        Ok(_) => fs::remove_file(place).map_err(|why| Error::io("remove", place, why)),
        Err(_) => Ok(()),
    }
}

fn write_new(place: &Path, mode: u32, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(place)?;
    file.write_all(bytes)
}

/// Writes manifests of the pull request's last commit over a scratch copy.
pub(super) fn lay_manifests(
    root: &Path,
    manifests: &BTreeMap<String, Vec<u8>>,
) -> Result<(), Error> {
    let mut overlay = Overlay::default();
    for (path, bytes) in manifests {
        let content = atlas_core::FileContent {
            mode: FileMode::Regular,
            bytes: bytes.clone(),
        };
        overlay.write.insert(path.clone(), content);
    }
    overlay.check_paths().map_err(|path| {
        Error::new(
            ErrorKind::InvalidInput,
            "manifest of the pull request",
            format!("`{path}`: a path below the repository's root is expected"),
        )
    })?;
    lay_over(root, &overlay)
}

/// Brings back the job's reports: regular files only, no link followed on the way.
pub(super) fn collect(out: &Path, job: &Job) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for name in &job.collect {
        let Some(place) = real_parent(out, name) else {
            continue;
        };
        let regular = fs::symlink_metadata(&place)
            .is_ok_and(|meta| meta.is_file() && meta.len() <= COLLECT_BYTES);
        if let Some(bytes) = regular.then(|| fs::read(&place).ok()).flatten() {
            files.insert(name.clone(), bytes);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::{collect, lay_over, remove_tree};
    use atlas_core::{FileContent, FileMode, Job, JobUser, Limits, Network, Overlay};
    use std::collections::BTreeMap;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn overlay(write: &[&str], remove: &[&str]) -> Overlay {
        let content = FileContent {
            mode: FileMode::Regular,
            bytes: b"new".to_vec(),
        };
        Overlay {
            write: write
                .iter()
                .map(|p| ((*p).to_owned(), content.clone()))
                .collect(),
            remove: remove.iter().map(|p| (*p).to_owned()).collect(),
        }
    }

    #[test]
    fn nothing_is_written_or_removed_through_a_link() {
        let (tree, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("kept"), "old").unwrap();
        symlink(outside.path(), tree.path().join("link")).unwrap();
        symlink(outside.path().join("kept"), tree.path().join("file")).unwrap();
        lay_over(tree.path(), &overlay(&[], &["link/kept"])).unwrap();
        lay_over(tree.path(), &overlay(&["link/kept", "file"], &[])).unwrap();
        assert_eq!(
            fs::read_to_string(outside.path().join("kept")).unwrap(),
            "old"
        );
        assert_eq!(
            fs::read_to_string(tree.path().join("link/kept")).unwrap(),
            "new"
        );
        assert_eq!(fs::read_to_string(tree.path().join("file")).unwrap(), "new");
    }

    #[test]
    fn a_file_becomes_a_folder_and_back() {
        let tree = tempfile::tempdir().unwrap();
        fs::write(tree.path().join("a"), "old").unwrap();
        lay_over(tree.path(), &overlay(&["a/b"], &["a"])).unwrap();
        assert!(tree.path().join("a/b").is_file());
        lay_over(tree.path(), &overlay(&["a"], &["a/b"])).unwrap();
        assert!(tree.path().join("a").is_file());
    }

    #[test]
    fn reports_are_not_read_through_links() {
        let (out, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("secret"), "x").unwrap();
        fs::write(out.path().join("plain"), "y").unwrap();
        symlink(outside.path().join("secret"), out.path().join("link")).unwrap();
        symlink(outside.path(), out.path().join("folder")).unwrap();
        let job = Job {
            label: String::new(),
            overlay: Overlay::default(),
            files: Vec::new(),
            script: String::new(),
            collect: ["plain", "link", "folder/secret"]
                .map(str::to_owned)
                .to_vec(),
            env: BTreeMap::new(),
            limits: Limits::default(),
            network: Network::None,
            user: JobUser::default(),
        };
        let files = collect(out.path(), &job);
        assert_eq!(files.into_keys().collect::<Vec<_>>(), ["plain"]);
    }

    #[test]
    fn a_locked_tree_goes_too() {
        let tree = tempfile::tempdir().unwrap();
        let inner = tree.path().join("t/a/b");
        fs::create_dir_all(&inner).unwrap();
        fs::set_permissions(tree.path().join("t/a"), fs::Permissions::from_mode(0o0)).unwrap();
        remove_tree(&tree.path().join("t")).unwrap();
        assert!(!tree.path().join("t").exists());
    }
}
