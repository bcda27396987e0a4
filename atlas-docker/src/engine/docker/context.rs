//! The build context: a tar archive that is the same for the same repository.

use super::skeleton::skeleton;
use crate::engine::is_plain_relative;
use atlas_core::{Error, ErrorKind, Repository};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{BufWriter, Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tar::{EntryType, Header};

/// Owner of everything in an image's repository: the user `atlas`.
pub(super) const USER: u64 = 1000;

/// Modification time of every file: a fixed one, and late enough for formats like zip, which
/// cannot hold a time before 1980.
const TIME: u64 = 1_000_000_000;

/// A context in a temporary file that vanishes with its handle, however this process ends.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) file: File,
}

/// Hash over the repository's files, its commit and the head's manifests. Nothing is packed for it.
///
/// `.git` counts as its commit: an index holds inode numbers and differs between two clones
/// that hold the same. That of a submodule does not count at all: the commit names the
/// submodule's.
///
/// # Errors
/// Unreadable files.
pub(super) fn hash(repository: &Repository) -> Result<Sha256, Error> {
    let mut packer = Packer {
        tar: tar::Builder::new(std::io::sink()),
        hash: Sha256::new(),
        hashes_only: true,
    };
    packer.hash.update(repository.base.as_str());
    packer.tree(&repository.checkout)?;
    packer.head(repository)?;
    Ok(packer.hash)
}

/// Packs `Dockerfile`, `repo/`, `head/` and `manifests/`.
///
/// # Errors
/// Unreadable files, a full disk, a head manifest with a path outside the repository.
pub(super) fn pack(
    repository: &Repository,
    dockerfile: &str,
    scratch: Option<&Path>,
) -> Result<Context, Error> {
    let made = match scratch {
        Some(folder) => tempfile::tempfile_in(folder),
        None => tempfile::tempfile(),
    };
    let file = made.map_err(|why| {
        Error::new(
            ErrorKind::Io,
            "make",
            "a temporary file for a build context",
        )
        .with_source(why)
    })?;
    let mut packer = Packer {
        tar: tar::Builder::new(BufWriter::with_capacity(1 << 18, file)),
        hash: Sha256::new(),
        hashes_only: false,
    };
    packer
        .bytes("Dockerfile", 0o644, dockerfile.as_bytes(), false)
        .map_err(written)?;
    packer.tree(&repository.checkout)?;
    packer.folder(Path::new("head")).map_err(written)?;
    packer.folder(Path::new("manifests")).map_err(written)?;
    for (path, bytes) in skeleton(&repository.checkout) {
        // The same in every context of a checkout: nothing that would have to count again.
        packer
            .bytes(&format!("manifests/{path}"), 0o644, &bytes, false)
            .map_err(written)?;
    }
    packer.head(repository)?;
    let finish = || {
        let buffer = packer.tar.into_inner()?;
        let mut file = buffer
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(file)
    };
    let file = finish().map_err(written)?;
    Ok(Context { file })
}

fn written(why: std::io::Error) -> Error {
    Error::io("write", Path::new("build context"), why)
}

struct Packer<W: Write> {
    tar: tar::Builder<W>,
    hash: Sha256,
    /// Whether what does not count is not even read.
    hashes_only: bool,
}

impl<W: Write> Packer<W> {
    fn header(kind: EntryType, mode: u32, size: u64) -> Header {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_uid(USER);
        header.set_gid(USER);
        header.set_mtime(TIME);
        header.set_size(size);
        header
    }

    fn note(&mut self, path: &Path, mode: u32, size: u64) {
        self.hash.update(path.as_os_str().as_bytes());
        self.hash.update([0]);
        self.hash.update(mode.to_le_bytes());
        self.hash.update(size.to_le_bytes());
    }

    fn bytes(&mut self, path: &str, mode: u32, bytes: &[u8], counts: bool) -> std::io::Result<()> {
        if counts {
            self.note(Path::new(path), mode, bytes.len() as u64);
            self.hash.update(bytes);
        }
        let mut header = Self::header(EntryType::Regular, mode, bytes.len() as u64);
        self.tar.append_data(&mut header, path, bytes)
    }

    fn folder(&mut self, path: &Path) -> std::io::Result<()> {
        let mut header = Self::header(EntryType::Directory, 0o755, 0);
        self.tar.append_data(&mut header, path, std::io::empty())
    }

    /// The manifests of the pull request's last commit.
    fn head(&mut self, repository: &Repository) -> Result<(), Error> {
        for (path, bytes) in &repository.head_manifests {
            if !is_plain_relative(path) {
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    "manifest of the pull request",
                    format!("`{path}`: a path below the repository's root is expected"),
                ));
            }
            self.bytes(&format!("head/{path}"), 0o644, bytes, true)
                .map_err(written)?;
        }
        Ok(())
    }

    fn tree(&mut self, root: &Path) -> Result<(), Error> {
        let hashes_only = self.hashes_only;
        let entries = walkdir::WalkDir::new(root)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(|entry| !hashes_only || entry.file_name() != ".git");
        for entry in entries {
            let entry = entry.map_err(|why| {
                Error::new(ErrorKind::Io, "read", format!("`{}`", root.display())).with_source(why)
            })?;
            let inside = entry
                .path()
                .strip_prefix(root)
                .expect("walkdir stays below its root");
            let counts = !inside.iter().any(|part| part == ".git");
            let path = Path::new("repo").join(inside);
            let failed = |why| Error::io("pack", entry.path(), why);
            let kind = entry.file_type();
            if kind.is_dir() {
                self.folder(&path).map_err(failed)?;
            } else if kind.is_symlink() {
                let target = std::fs::read_link(entry.path()).map_err(failed)?;
                if counts {
                    self.note(&path, 0o120_000, target.as_os_str().len() as u64);
                    self.hash.update(target.as_os_str().as_bytes());
                }
                let mut header = Self::header(EntryType::Symlink, 0o777, 0);
                self.tar
                    .append_link(&mut header, &path, &target)
                    .map_err(failed)?;
            } else if kind.is_file() {
                let file = File::open(entry.path()).map_err(failed)?;
                let meta = file.metadata().map_err(failed)?;
                let mode = meta.permissions().mode() & 0o777;
                if counts {
                    self.note(&path, mode, meta.len());
                }
                let mut header = Self::header(EntryType::Regular, mode, meta.len());
                let reader = Hashed {
                    file: file.take(meta.len()),
                    hash: counts.then_some(&mut self.hash),
                };
                self.tar
                    .append_data(&mut header, &path, reader)
                    .map_err(failed)?;
            }
            // Sockets, pipes and devices are no part of a commit.
        }
        Ok(())
    }
}

struct Hashed<'a, R> {
    file: R,
    hash: Option<&'a mut Sha256>,
}

impl<R: Read> Read for Hashed<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        if let Some(hash) = &mut self.hash {
            hash.update(&buffer[..count]);
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::{hash, pack};
    use atlas_core::Repository;
    use sha2::Digest;
    use std::collections::BTreeMap;
    use std::io::Read;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn repository(folder: &std::path::Path) -> Repository {
        std::fs::create_dir_all(folder.join("src/.git")).unwrap();
        std::fs::write(folder.join("src/run.sh"), "#!/bin/sh\n").unwrap();
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.join("src/run.sh"), mode).unwrap();
        symlink("run.sh", folder.join("src/link")).unwrap();
        Repository {
            name: "a/b".to_owned(),
            checkout: folder.join("src"),
            base: "0".repeat(40).parse().unwrap(),
            base_date: String::new(),
            head_manifests: BTreeMap::from([("x/go.mod".to_owned(), b"module m\n".to_vec())]),
            head_tests: BTreeMap::new(),
            touched: Vec::new(),
        }
    }

    #[test]
    fn the_same_repository_gives_the_same_bytes_wherever_it_lies() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut archives = Vec::new();
        for folder in [&one, &two] {
            let repository = repository(folder.path());
            let mut context = pack(&repository, "FROM x\n", None).unwrap();
            let mut bytes = Vec::new();
            context.file.read_to_end(&mut bytes).unwrap();
            archives.push((hash(&repository).unwrap().finalize(), bytes));
        }
        assert_eq!(archives[0], archives[1]);
        let mut seen = Vec::new();
        for entry in tar::Archive::new(&archives[0].1[..]).entries().unwrap() {
            let entry = entry.unwrap();
            let header = entry.header();
            assert_eq!((header.uid().unwrap(), header.gid().unwrap()), (1000, 1000));
            let path = entry.path().unwrap().display().to_string();
            seen.push((
                path,
                header.mode().unwrap(),
                header.entry_type().is_symlink(),
            ));
        }
        assert!(seen.contains(&("repo/run.sh".to_owned(), 0o755, false)));
        assert!(seen.contains(&("Dockerfile".to_owned(), 0o644, false)));
        assert!(seen.contains(&("repo/link".to_owned(), 0o777, true)));
        assert!(seen.contains(&("head/x/go.mod".to_owned(), 0o644, false)));
    }

    #[test]
    fn git_s_own_files_are_shipped_but_do_not_change_the_hash() {
        let folder = tempfile::tempdir().unwrap();
        let repository = repository(folder.path());
        let now = || hash(&repository).unwrap().finalize();
        let before = now();
        std::fs::write(repository.checkout.join(".git/index"), "inodes").unwrap();
        assert_eq!(now(), before);
        std::fs::create_dir_all(repository.checkout.join("sub/.git")).unwrap();
        std::fs::write(repository.checkout.join("sub/.git/index"), "inodes").unwrap();
        assert_eq!(now(), before);
        std::fs::write(repository.checkout.join("run.sh"), "changed").unwrap();
        assert_ne!(now(), before);
    }

    #[test]
    fn a_manifest_cannot_leave_the_context() {
        let folder = tempfile::tempdir().unwrap();
        let mut repository = repository(folder.path());
        repository.head_manifests = BTreeMap::from([("../x".to_owned(), Vec::new())]);
        assert!(hash(&repository).is_err());
        assert!(pack(&repository, "FROM x\n", None).is_err());
    }
}
