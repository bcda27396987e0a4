//! `atlas demo`: the main job, on a real pull request, with what is on this machine.

use crate::{EngineChoice, MakeOptions, MakeReport, make};
use atlas_core::{Error, ErrorKind, RunContext};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use tokio::process::Command;

/// Where the demo's pull request came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DemoSource {
    /// Two releases of a package, from the package registry that pip is set up for.
    Registry,
    /// The small repository inside this program, because no registry was reached.
    Builtin,
}

/// What the demo did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DemoReport {
    /// Where the pull request came from.
    pub source: DemoSource,
    /// Why the registry was not used, if it was not.
    pub note: String,
    /// The repository that was made.
    pub repository: PathBuf,
    /// What `atlas make` said.
    pub make: MakeReport,
}

const PACKAGE: &str = "yamllint";
const RELEASES: [&str; 2] = ["1.37.0", "1.37.1"];

/// The files of the repository inside this program: path, Base, head (absent: not there).
const BUILTIN: &[(&str, Option<&str>, Option<&str>)] = &[
    (
        "README.md",
        Some(include_str!("../demo/README.md")),
        Some(include_str!("../demo/README.md")),
    ),
    (
        "wordwrap/__init__.py",
        Some(include_str!("../demo/base_init.py")),
        Some(include_str!("../demo/head_init.py")),
    ),
    ("tests/__init__.py", Some(""), Some("")),
    (
        "tests/test_wordwrap.py",
        Some(include_str!("../demo/base_test.py")),
        Some(include_str!("../demo/head_test.py")),
    ),
];

/// Makes an instance out of a real bug fix between two releases of a small package, with the local
/// engine and without a model.
///
/// The package's own tests are run: they are as trustworthy as any package one installs, so the
/// demo does not ask for bubblewrap, and says so where it is missing.
///
/// # Errors
/// git or python3 is missing, or the local engine cannot be used.
///
/// # Cancellation
/// As [`make`].
pub async fn demo(
    cx: &RunContext,
    out: &Path,
    engine: EngineChoice,
    offline: bool,
) -> Result<DemoReport, Error> {
    std::fs::create_dir_all(out).map_err(|why| Error::io("make", out, why))?;
    let repository = out.join("repository");
    let (source, note) = if repository.join(".git").exists() {
        let known = std::fs::read_to_string(out.join("source")).unwrap_or_default();
        let source = if known == "builtin" {
            DemoSource::Builtin
        } else {
            DemoSource::Registry
        };
        (source, String::new())
    } else if offline {
        builtin(&repository, out).await?;
        (DemoSource::Builtin, "asked for with --offline".to_owned())
    } else {
        cx.progress.phase(&format!(
            "fetch {PACKAGE} {} and {}",
            RELEASES[0], RELEASES[1]
        ));
        match from_registry(&repository, out).await {
            Ok(()) => (DemoSource::Registry, String::new()),
            Err(why) if why.kind() == ErrorKind::ToolFailed => {
                builtin(&repository, out).await?;
                (DemoSource::Builtin, why.chain())
            }
            Err(why) => return Err(why),
        }
    };
    let mut options = MakeOptions::new(repository.display().to_string(), out);
    options.base = Some("HEAD~1".to_owned());
    options.head = Some("HEAD".to_owned());
    options.engine = engine;
    options.trust = true;
    let (name, id) = match source {
        DemoSource::Registry => ("adrienverge/yamllint", "demo__yamllint-1.37.1"),
        DemoSource::Builtin => ("demo/wordwrap", "demo__wordwrap-1"),
    };
    options.repo_name = Some(name.to_owned());
    options.instance_id = id.parse().ok();
    let make = make(cx, &options).await?;
    Ok(DemoReport {
        source,
        note,
        repository,
        make,
    })
}

/// Two releases as two commits, with pip as it is set up here.
async fn from_registry(repository: &Path, out: &Path) -> Result<(), Error> {
    let scratch = scratch(out)?;
    let staged = scratch.path().join("repository");
    init(&staged).await?;
    let [first, second] = RELEASES;
    let folders = tokio::try_join!(
        unpacked(first, scratch.path()),
        unpacked(second, scratch.path())
    )?;
    for (release, folder) in RELEASES.into_iter().zip([folders.0, folders.1]) {
        clear(&staged)?;
        copy(&folder, &staged)?;
        commit(&staged, &format!("{PACKAGE} {release}")).await?;
    }
    crate::write_atomically(&out.join("source"), b"registry")?;
    std::fs::rename(&staged, repository).map_err(|why| Error::io("move to", repository, why))
}

/// The sources of a release, in a folder of their own.
async fn unpacked(release: &str, scratch: &Path) -> Result<PathBuf, Error> {
    let downloads = scratch.join(release);
    let folder = scratch.join(format!("{release}-unpacked"));
    std::fs::create_dir(&folder).map_err(|why| Error::io("make", &folder, why))?;
    let download = |more: &[&str]| {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "download", "--quiet", "--no-deps"])
            .args(["--no-binary", ":all:", "--disable-pip-version-check"])
            .args(more)
            .arg("--dest")
            .arg(&downloads)
            .arg(format!("{PACKAGE}=={release}"));
        pip
    };
    // Preparing metadata needs the package's build tools; where this Python lacks them, pip fetches
    // them into a place of its own, which takes longer.
    let quick = run(&mut download(&["--no-build-isolation"]), "pip download").await;
    if quick.is_err() {
        run(&mut download(&[]), "pip download").await?;
    }
    let mut tar = Command::new("tar");
    tar.args([
        "--extract",
        "--gzip",
        "--strip-components=1",
        "--no-same-owner",
        "--file",
    ])
    .arg(downloads.join(format!("{PACKAGE}-{release}.tar.gz")))
    .arg("--directory")
    .arg(&folder);
    run(&mut tar, "unpack").await?;
    Ok(folder)
}

/// Picks one side's text of a file; absent: the file is not there.
type Side = fn(&(&str, Option<&'static str>, Option<&'static str>)) -> Option<&'static str>;

async fn builtin(repository: &Path, out: &Path) -> Result<(), Error> {
    let scratch = scratch(out)?;
    let staged = &scratch.path().join("repository");
    init(staged).await?;
    let sides: [(Side, &str); 2] = [
        (|file| file.1, "Wrap words at a width"),
        (
            |file| file.2,
            "Keep words that are longer than the width\n\nwrap() dropped the end of a word longer than the width. It stands on a line of its own now.",
        ),
    ];
    for (side, message) in sides {
        clear(staged)?;
        for file in BUILTIN {
            if let Some(text) = side(file) {
                crate::write_atomically(&staged.join(file.0), text.as_bytes())?;
            }
        }
        commit(staged, message).await?;
    }
    crate::write_atomically(&out.join("source"), b"builtin")?;
    std::fs::rename(staged, repository).map_err(|why| Error::io("move to", repository, why))
}

/// A folder beside the result for what is not finished; one that a killed run left is removed.
fn scratch(out: &Path) -> Result<tempfile::TempDir, Error> {
    let fail = |why| Error::io("make a folder in", out, why);
    for entry in std::fs::read_dir(out).map_err(fail)?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(".demo-") {
            std::fs::remove_dir_all(entry.path()).map_err(fail)?;
        }
    }
    tempfile::Builder::new()
        .prefix(".demo-")
        .tempdir_in(out)
        .map_err(fail)
}

async fn init(repository: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(repository).map_err(|why| Error::io("make", repository, why))?;
    git(repository, &["init", "--quiet", "--initial-branch=main"]).await
}

async fn commit(repository: &Path, message: &str) -> Result<(), Error> {
    git(repository, &["add", "--all", "--force"]).await?;
    git(repository, &["commit", "--quiet", "--message", message]).await
}

async fn git(repository: &Path, args: &[&str]) -> Result<(), Error> {
    let mut git = Command::new("git");
    git.current_dir(repository)
        .args(["-c", "user.name=atlas", "-c", "user.email=atlas@localhost"])
        .args([
            "-c",
            "commit.gpgsign=false",
            "-c",
            "core.hooksPath=/dev/null",
        ])
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    run(&mut git, &format!("git {}", args[0])).await.map(drop)
}

/// Runs a program to its end; any failure is [`ErrorKind::ToolFailed`] with what it said.
async fn run(command: &mut Command, what: &str) -> Result<Output, Error> {
    let fail = || Error::new(ErrorKind::ToolFailed, what, "");
    let output = command
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|why| fail().with_source(why))?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = said
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    Err(fail().with_source(last[last.len().saturating_sub(3)..].join(" / ")))
}

fn clear(repository: &Path) -> Result<(), Error> {
    let fail = |why| Error::io("clear", repository, why);
    for entry in std::fs::read_dir(repository).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        if entry.file_name() == ".git" {
            continue;
        }
        let path = entry.path();
        let kind = entry.file_type().map_err(fail)?;
        if kind.is_dir() {
            std::fs::remove_dir_all(&path)
        } else {
            std::fs::remove_file(&path)
        }
        .map_err(|why| Error::io("remove", &path, why))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    let fail = |path: &Path, why| Error::io("copy", path, why);
    for entry in std::fs::read_dir(from).map_err(|why| fail(from, why))? {
        let entry = entry.map_err(|why| fail(from, why))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(|why| fail(&source, why))?;
        if kind.is_dir() {
            std::fs::create_dir_all(&target).map_err(|why| fail(&target, why))?;
            copy(&source, &target)?;
        } else if kind.is_file() {
            std::fs::copy(&source, &target).map_err(|why| fail(&source, why))?;
        }
    }
    Ok(())
}
