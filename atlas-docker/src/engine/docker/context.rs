//! The build context: a tar archive that is the same for the same repository.

use super::skeleton::skeleton;
use crate::engine::is_plain_relative;
use crate::render::{context_files, render};
use atlas_core::{EnvironmentPlan, Error, ErrorKind, Repository};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
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

/// A temporary file for a context or a part of it, gone with its handle.
fn temporary(scratch: Option<&Path>) -> Result<File, Error> {
    let made = match scratch {
        Some(folder) => tempfile::tempfile_in(folder),
        None => tempfile::tempfile(),
    };
    made.map_err(|why| {
        let what = "a temporary file for a build context";
        Error::new(ErrorKind::Io, "make", what).with_source(why)
    })
}

/// The repository's files as an archive, from its start.
fn archive(checkout: &Path, file: File) -> Result<File, Error> {
    let mut packer = Packer {
        tar: tar::Builder::new(BufWriter::with_capacity(1 << 18, file)),
        hash: Sha256::new(),
        hashes_only: false,
    };
    packer.tree(checkout)?;
    packer.end().map_err(written)
}

/// Writes what [`pack`] packs into a folder that is not there yet, for `docker build` alone: the files beside
/// the repository's, the repository as `repo.tar`.
///
/// # Errors
/// As of [`pack`].
fn write(
    repository: &Repository,
    dockerfile: &str,
    files: &BTreeMap<String, String>,
    folder: &Path,
) -> Result<(), Error> {
    let put = |path: &str, bytes: &[u8]| -> Result<(), Error> {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(|why| Error::io("make", parent, why))?;
        std::fs::write(&path, bytes).map_err(|why| Error::io("write", &path, why))
    };
    put("Dockerfile", dockerfile.as_bytes())?;
    for (path, text) in files {
        put(path, text.as_bytes())?;
    }
    for name in ["head", "manifests"] {
        let path = folder.join(name);
        std::fs::create_dir_all(&path).map_err(|why| Error::io("make", &path, why))?;
    }
    for (path, bytes) in skeleton(&repository.checkout) {
        put(&format!("manifests/{path}"), &bytes)?;
    }
    for (path, bytes) in &repository.head_manifests {
        put(&format!("head/{}", head_path(path)?), bytes)?;
    }
    let path = folder.join(REPOSITORY);
    let file = File::create(&path).map_err(|why| Error::io("make", &path, why))?;
    archive(&repository.checkout, file).map(drop)
}

/// Writes a folder that `docker build` alone makes a plan's environment of: the Dockerfile, scripts and helper
/// programs that it copies, the manifests, and the repository at the base commit as `repo.tar`. Replaces
/// what is there; half of it is never seen.
///
/// # Errors
/// A plan that cannot be rendered, unreadable files, a full disk.
pub fn write_context(
    repository: &Repository,
    plan: &EnvironmentPlan,
    folder: &Path,
) -> Result<(), Error> {
    let refused = |why| {
        let name = repository.name.clone();
        Error::new(ErrorKind::InvalidInput, "write build context", name).with_source(why)
    };
    let dockerfile = render(plan).map_err(refused)?;
    let files = context_files(plan).map_err(refused)?;
    let parent = folder.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(|why| Error::io("make", parent, why))?;
    let made = tempfile::Builder::new()
        .prefix(".context-")
        .permissions(std::fs::Permissions::from_mode(0o755))
        .tempdir_in(parent)
        .map_err(|why| Error::io("make a folder in", parent, why))?;
    write(repository, &dockerfile, &files, made.path())?;
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|why| Error::io("remove", folder, why))?;
    }
    let made = made.keep();
    std::fs::rename(&made, folder).map_err(|why| Error::io("rename to", folder, why))
}

/// The repository's files within a context, which the Dockerfile unpacks.
const REPOSITORY: &str = "repo.tar";

/// A path of the pull request's manifests, if it is one.
fn head_path(path: &str) -> Result<&str, Error> {
    if is_plain_relative(path) {
        return Ok(path);
    }
    Err(Error::new(
        ErrorKind::InvalidInput,
        "manifest of the pull request",
        format!("`{path}`: a path below the repository's root is expected"),
    ))
}

/// Packs `Dockerfile`, the files that it needs beside the repository's, `repo.tar`, `head/` and `manifests/`.
///
/// # Errors
/// Unreadable files, a full disk, a head manifest with a path outside the repository.
pub(super) fn pack(
    repository: &Repository,
    dockerfile: &str,
    files: &BTreeMap<String, String>,
    scratch: Option<&Path>,
) -> Result<Context, Error> {
    let mut repo = archive(&repository.checkout, temporary(scratch)?)?;
    let mut packer = Packer {
        tar: tar::Builder::new(BufWriter::with_capacity(1 << 18, temporary(scratch)?)),
        hash: Sha256::new(),
        hashes_only: false,
    };
    packer
        .bytes("Dockerfile", 0o644, dockerfile.as_bytes(), false)
        .map_err(written)?;
    for (path, text) in files {
        packer
            .bytes(path, 0o644, text.as_bytes(), false)
            .map_err(written)?;
    }
    packer.file(REPOSITORY, &mut repo).map_err(written)?;
    packer.folder(Path::new("head")).map_err(written)?;
    packer.folder(Path::new("manifests")).map_err(written)?;
    for (path, bytes) in skeleton(&repository.checkout) {
        // The same in every context of a checkout: nothing that would have to count again.
        packer
            .bytes(&format!("manifests/{path}"), 0o644, &bytes, false)
            .map_err(written)?;
    }
    packer.head(repository)?;
    let file = packer.end().map_err(written)?;
    Ok(Context { file })
}

impl Packer<BufWriter<File>> {
    /// What was packed, from its start.
    fn end(self) -> std::io::Result<File> {
        let buffer = self.tar.into_inner()?;
        let mut file = buffer
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(file)
    }
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

    fn file(&mut self, path: &str, file: &mut File) -> std::io::Result<()> {
        let mut header = Self::header(EntryType::Regular, 0o644, file.metadata()?.len());
        self.tar.append_data(&mut header, path, file)
    }

    fn folder(&mut self, path: &Path) -> std::io::Result<()> {
        let mut header = Self::header(EntryType::Directory, 0o755, 0);
        self.tar.append_data(&mut header, path, std::io::empty())
    }

    /// The manifests of the pull request's last commit.
    fn head(&mut self, repository: &Repository) -> Result<(), Error> {
        for (path, bytes) in &repository.head_manifests {
            let path = format!("head/{}", head_path(path)?);
            self.bytes(&path, 0o644, bytes, true).map_err(written)?;
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
            if inside.as_os_str().is_empty() {
                continue;
            }
            let path = inside.to_owned();
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
    use super::{hash, pack, write};
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

    /// Paths with their modes and whether they are links, and the repository's archive.
    fn entries(archive: &[u8]) -> (Vec<(String, u32, bool)>, Vec<u8>) {
        let (mut seen, mut repo) = (Vec::new(), Vec::new());
        for entry in tar::Archive::new(archive).entries().unwrap() {
            let mut entry = entry.unwrap();
            let header = entry.header().clone();
            assert_eq!((header.uid().unwrap(), header.gid().unwrap()), (1000, 1000));
            let path = entry.path().unwrap().display().to_string();
            if path == "repo.tar" {
                entry.read_to_end(&mut repo).unwrap();
            }
            let is_link = header.entry_type().is_symlink();
            seen.push((path, header.mode().unwrap(), is_link));
        }
        (seen, repo)
    }

    #[test]
    fn the_same_repository_gives_the_same_bytes_wherever_it_lies() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut archives = Vec::new();
        for folder in [&one, &two] {
            let repository = repository(folder.path());
            let mut context = pack(&repository, "FROM x\n", &BTreeMap::new(), None).unwrap();
            let mut bytes = Vec::new();
            context.file.read_to_end(&mut bytes).unwrap();
            archives.push((hash(&repository).unwrap().finalize(), bytes));
        }
        assert_eq!(archives[0], archives[1]);
        let (seen, repo) = entries(&archives[0].1);
        assert!(seen.contains(&("Dockerfile".to_owned(), 0o644, false)));
        assert!(seen.contains(&("head/x/go.mod".to_owned(), 0o644, false)));
        let (seen, _) = entries(&repo);
        assert!(seen.contains(&("run.sh".to_owned(), 0o755, false)));
        assert!(seen.contains(&("link".to_owned(), 0o777, true)));

        // A folder for others holds the same.
        let folder = one.path().join("environment");
        let files = BTreeMap::from([("scripts/a.sh".to_owned(), "a\n".to_owned())]);
        let repository = Repository {
            checkout: one.path().join("src"),
            head_manifests: BTreeMap::from([("x/go.mod".to_owned(), b"module m\n".to_vec())]),
            ..repository(two.path().join("other").as_path())
        };
        write(&repository, "FROM x\n", &files, &folder).unwrap();
        assert_eq!(std::fs::read(folder.join("repo.tar")).unwrap(), repo);
        assert_eq!(std::fs::read(folder.join("scripts/a.sh")).unwrap(), b"a\n");
        assert_eq!(
            std::fs::read(folder.join("head/x/go.mod")).unwrap(),
            b"module m\n"
        );
        assert!(folder.join("manifests").is_dir());
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
        assert!(pack(&repository, "FROM x\n", &BTreeMap::new(), None).is_err());
    }

    /// Two commits: the files that stay, a source, and what it is in each.
    type Pair<'a> = (&'a [(&'a str, &'a str)], &'a str, [&'a str; 2]);

    /// All that the layers below the sources are made from, of a commit of that day.
    fn below_the_sources(files: &[(&str, &str)], day: &str) -> BTreeMap<String, String> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let repository = Repository {
            base_date: format!("{day}T00:00:00Z"),
            checkout: folder.path().to_owned(),
            head_manifests: BTreeMap::new(),
            ..repository(tempfile::tempdir().unwrap().path())
        };
        let options = crate::AnalysisOptions::default();
        let plan = match crate::analyse(&repository, &options).unwrap() {
            crate::Analysis::Plan(plan) => plan,
            crate::Analysis::Verdict { reason, .. } => panic!("{reason}"),
        };
        let dockerfile = crate::render(&plan).unwrap();
        let (before, _) = dockerfile
            .split_once("ADD --chown=1000:1000 repo.tar")
            .unwrap();
        assert!(
            before.contains("COPY --chown=1000:1000 manifests/"),
            "{before}"
        );
        let mut made = BTreeMap::from([("Dockerfile".to_owned(), before.to_owned())]);
        let scripts = crate::render::context_files(&plan).unwrap();
        made.extend(
            scripts
                .into_iter()
                .filter(|(path, _)| before.contains(path.as_str()) || path.starts_with("toolbox/")),
        );
        for (path, bytes) in super::skeleton(&repository.checkout) {
            made.insert(
                format!("manifests/{path}"),
                String::from_utf8(bytes).unwrap(),
            );
        }
        made
    }

    #[test]
    fn commits_of_a_month_with_the_same_dependencies_share_all_below_the_sources() {
        let pom = "<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>a</artifactId>\
                   <version>1</version><dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId>\
                   <version>4.13</version></dependency></dependencies></project>";
        let lock = "version = 3\n\n[[package]]\nname = \"x\"\nversion = \"1.0.0\"\n";
        let npm = r#"{"name": "x", "version": "1.0.0", "scripts": {"test": "node --test"}, "dependencies": {"y": "1"}}"#;
        let cases: [Pair<'_>; 5] = [
            (
                &[
                    ("go.mod", "module example.com/x\n\ngo 1.22\n"),
                    (
                        "x_test.go",
                        "package x\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {}\n",
                    ),
                ],
                "x.go",
                [
                    "package x\n\nimport \"fmt\"\n",
                    "package x\n\nimport (\n\t\"fmt\"\n\t\"slices\"\n)\n",
                ],
            ),
            (
                &[
                    (
                        "pyproject.toml",
                        "[build-system]\nrequires = [\"setuptools\"]\nbuild-backend = \"setuptools.build_meta\"\n\
                         [project]\nname = \"x\"\nversion = \"1\"\n",
                    ),
                    ("tests/test_x.py", "import x\n\ndef test_x():\n    pass\n"),
                    ("requirements-test.txt", "pytest\n"),
                ],
                "x/__init__.py",
                ["def f():\n    return 1\n", "def f():\n    return 2\n"],
            ),
            (
                &[
                    (
                        "Cargo.toml",
                        "[package]\nname = \"x\"\nversion = \"1.0.0\"\nedition = \"2021\"\n",
                    ),
                    ("Cargo.lock", lock),
                ],
                "src/lib.rs",
                ["#[test]\nfn one() {}\n", "#[test]\nfn two() {}\n"],
            ),
            (
                &[
                    ("package.json", npm),
                    ("x.test.js", "require('node:test')('x', () => {})\n"),
                ],
                "x.js",
                ["exports.a = 1\n", "exports.b = 1\n"],
            ),
            (
                &[
                    ("pom.xml", pom),
                    (
                        "src/test/java/ATest.java",
                        "class ATest { @org.junit.Test public void a() {} }\n",
                    ),
                ],
                "src/main/java/A.java",
                ["class A {}\n", "class A { int a; }\n"],
            ),
        ];
        for (files, path, [old, new]) in cases {
            let [first, next] = [(old, "2026-01-05"), (new, "2026-01-20")].map(|(text, day)| {
                let files: Vec<_> = files.iter().copied().chain([(path, text)]).collect();
                below_the_sources(&files, day)
            });
            assert_eq!(first, next, "{path}");
        }
    }
}
