//! Small repositories and runs of the command.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder that is gone afterwards, with a cache folder of its own for the local engine.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::Builder::new()
                .prefix("atlas-it-")
                .tempdir()
                .unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The command, with nothing of this user's configuration.
    pub(crate) fn atlas(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_atlas"));
        command
            .args(args)
            .current_dir(self.folder.path())
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env_remove("ATLAS_LOG");
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Done {
        Done(self.atlas(args).output().unwrap())
    }

    /// A repository with one commit per map of files; returns its path.
    pub(crate) fn repository(&self, name: &str, commits: &[&[(&str, &str)]]) -> PathBuf {
        let root = self.path(name);
        std::fs::create_dir_all(&root).unwrap();
        git(&root, &["init", "-q", "-b", "main"]);
        for (number, files) in commits.iter().enumerate() {
            for (path, text) in *files {
                let path = root.join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            git(&root, &["add", "-A"]);
            git(&root, &["commit", "-q", "-m", &format!("commit {number}")]);
        }
        root
    }

    /// Everything below the cache and output folders that is no environment or result.
    pub(crate) fn leftovers(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for folder in [self.path("cache/atlas/jobs"), self.path("out/.atlas")] {
            walk(&folder, &mut |path| {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                let is_job = path.parent() == Some(&*self.path("cache/atlas/jobs"));
                if is_job
                    || name == "tmp"
                    || name.starts_with(".atlas-")
                    || name.starts_with(".demo-")
                {
                    found.push(path.to_owned());
                }
            });
        }
        found
    }
}

fn walk(folder: &Path, see: &mut impl FnMut(&Path)) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        see(&entry.path());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(&entry.path(), see);
        }
    }
}

pub(crate) fn git(root: &Path, args: &[&str]) -> String {
    let done = Command::new("git")
        .current_dir(root)
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@localhost",
            "-c",
            "commit.gpgsign=false",
        ])
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

/// A finished run of the command.
pub(crate) struct Done(pub(crate) Output);

impl Done {
    pub(crate) fn code(&self) -> i32 {
        self.0.status.code().unwrap()
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.0.stdout)
            .unwrap_or_else(|why| panic!("{why}: {}{}", self.stdout(), self.stderr()))
    }
}

/// The ids of a list in a report.
pub(crate) fn ids(report: &Value, list: &str) -> Vec<String> {
    report[list]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id.as_str().unwrap().to_owned())
        .collect()
}

/// A package with one function and its tests; the pull request fixes it and adds a test.
pub(crate) const BASE: &[(&str, &str)] = &[
    (
        "calc/__init__.py",
        "def double(n):\n    return n + n if n > 0 else n\n",
    ),
    ("tests/__init__.py", ""),
    (
        "tests/test_calc.py",
        "import unittest\nfrom calc import double\n\n\nclass CalcTest(unittest.TestCase):\n    \
         def test_positive(self):\n        self.assertEqual(double(2), 4)\n",
    ),
];

/// The fix of [`BASE`].
pub(crate) const FIX: &[(&str, &str)] = &[
    ("calc/__init__.py", "def double(n):\n    return n + n\n"),
    (
        "tests/test_calc.py",
        "import unittest\nfrom calc import double\n\n\nclass CalcTest(unittest.TestCase):\n    \
         def test_positive(self):\n        self.assertEqual(double(2), 4)\n\n    \
         def test_negative(self):\n        self.assertEqual(double(-2), -4)\n",
    ),
];

/// `atlas make` on the last two commits, with the local engine.
pub(crate) fn make_args<'a>(repo: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec![
        "make", "--repo", repo, "--out", "out", "--engine", "local", "--trust",
    ];
    args.extend(["--base", "HEAD~1", "--head", "HEAD", "--format", "json"]);
    args.extend_from_slice(more);
    args
}
