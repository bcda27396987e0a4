//! Repositories to try things on.

use atlas_core::CommitSha;
use atlas_source::GitRepo;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A repository in a temporary folder, with a work tree.
#[derive(Debug)]
pub(crate) struct Lab {
    dir: TempDir,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let lab = Self {
            dir: tempfile::tempdir().expect("a temporary folder"),
        };
        lab.git(&["init", "-q", "-b", "main", "."]);
        lab
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Runs git and gives what it printed.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        git(self.path(), args)
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        std::fs::write(path, content).expect("a file");
        self
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).expect("a text file")
    }

    pub(crate) fn commit(&self, message: &str) -> CommitSha {
        self.git(&["add", "--all"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.head()
    }

    pub(crate) fn head(&self) -> CommitSha {
        self.git(&["rev-parse", "HEAD"])
            .trim()
            .parse()
            .expect("a commit id")
    }

    pub(crate) async fn open(&self) -> GitRepo {
        GitRepo::open(self.path()).await.expect("a repository")
    }
}

pub(crate) fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=Tester",
            "-c",
            "user.email=tester@example.org",
        ])
        .args(["-c", "core.autocrlf=false", "-c", "commit.gpgsign=false"])
        .args(["-c", "protocol.file.allow=always", "-C"])
        .arg(folder)
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git runs");
    assert!(
        output.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A commit with everything that is hard to carry in a patch, and its parent.
pub(crate) fn nasty() -> (Lab, CommitSha, CommitSha) {
    let lab = Lab::new();
    lab.write("with space.txt", "one\ntwo\n")
        .write("grüße/ü.txt", "hallo\n")
        .write("tab\there.txt", "x\n")
        .write("quo\"te*[a].txt", b"caf\xe9\n")
        .write("crlf.txt", "a\r\nb\r\nc\r\n")
        .write("no_newline.txt", "a\nb")
        .write(
            "moved.txt",
            "some content that is long enough\nto be found again\n",
        )
        .write("empty_moved", "")
        .write("binary.bin", b"\0\x01\x02binary\xff\xfe")
        .write("latin1.txt", b"caf\xe9\nbar\n")
        .write("tests/latin1.txt", b"na\xefve\n")
        .write("dashes.txt", "-- old line\n++ other\nkeep\n")
        .write("a.patch", "keep\n")
        .write("feed.txt", "a\x0cb\nlone\rcr\n")
        .write("script.sh", "#!/bin/sh\n")
        .write("tests/data/gone.txt", "gone\n")
        .write(".gitattributes", "*.txt text eol=crlf\nbinary.bin diff\n");
    std::os::unix::fs::symlink("crlf.txt", lab.path().join("link")).expect("a link");
    let base = lab.commit("base");
    lab.write("with space.txt", "one\n2\n")
        .write("grüße/ü.txt", "hallo welt\n")
        .write("tab\there.txt", "y\n")
        .write("quo\"te*[a].txt", b"caf\xe9 au lait\n")
        .write("crlf.txt", "a\r\nB\r\nc\r\n")
        .write("no_newline.txt", "a\nc")
        .write("binary.bin", b"\0\x01\x03binary\xff\xfe\xfd")
        .write("latin1.txt", b"caf\xe9s\nbar\n")
        .write("tests/latin1.txt", b"na\xefves\n")
        .write("dashes.txt", "-- new line\n++ changed\nkeep\n")
        .write(
            "a.patch",
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/y b/y\nkeep\n",
        )
        .write("feed.txt", "a\x0cB\nlone\rCR\n")
        .write("tests/new file.txt", "new\n");
    lab.git(&["mv", "moved.txt", "was moved.txt"]);
    lab.git(&["mv", "empty_moved", "tests/empty"]);
    lab.git(&["rm", "-q", "tests/data/gone.txt"]);
    std::fs::remove_file(lab.path().join("link")).expect("removed");
    std::os::unix::fs::symlink("elsewhere", lab.path().join("link")).expect("a link");
    std::fs::set_permissions(
        lab.path().join("script.sh"),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .expect("executable");
    let head = lab.commit("nasty");
    (lab, base, head)
}

/// The tree that an overlay makes of a commit, through git itself.
pub(crate) fn tree_with(lab: &Lab, base: &CommitSha, overlay: &atlas_core::Overlay) -> String {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let run = |args: &[&str], input: &[u8]| {
        use std::io::Write;
        let mut child = Command::new("git")
            .arg("-C")
            .arg(lab.path())
            .args(args)
            .env("GIT_INDEX_FILE", dir.path().join("index"))
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("git runs");
        child
            .stdin
            .take()
            .expect("piped")
            .write_all(input)
            .expect("written");
        let output = child.wait_with_output().expect("git ends");
        assert!(output.status.success(), "git {args:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    run(&["read-tree", base.as_str()], b"");
    let mut entries = Vec::new();
    for path in &overlay.remove {
        entries.extend(format!("0 {}\t{path}\0", "0".repeat(40)).into_bytes());
    }
    for (path, file) in &overlay.write {
        let oid = run(
            &["hash-object", "-w", "--no-filters", "--stdin"],
            &file.bytes,
        );
        let mode = match file.mode {
            atlas_core::FileMode::Regular => "100644",
            atlas_core::FileMode::Executable => "100755",
            atlas_core::FileMode::Symlink => "120000",
        };
        entries.extend(format!("{mode} {oid}\t{path}\0").into_bytes());
    }
    run(&["update-index", "--add", "-z", "--index-info"], &entries);
    run(&["write-tree"], b"")
}
