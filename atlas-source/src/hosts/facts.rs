//! What a commit's files tell of a repository: lines of code, test frameworks, licence.

use super::lines::Language;
use crate::git::unexpected;
use crate::repository::GitRepo;
use atlas_core::{CommitSha, Error, ErrorKind, RepositoryFacts};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::sync::LazyLock;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

/// A file larger than this is generated or data, and is not counted.
const MOST_BYTES: u64 = 2 << 20;

/// Manifests, by their last component (`*` before an ending), and the words in them that name a framework. An empty word: the file itself does.
const FRAMEWORKS: &[(&str, &[(&str, &str)])] = &[
    ("pytest.ini", &[("", "pytest")]),
    ("conftest.py", &[("", "pytest")]),
    ("tox.ini", &[("pytest", "pytest"), ("unittest", "unittest")]),
    (
        "pyproject.toml",
        &[("pytest", "pytest"), ("nose2", "nose2")],
    ),
    ("setup.cfg", &[("pytest", "pytest")]),
    ("setup.py", &[("pytest", "pytest")]),
    ("*requirements.txt", &[("pytest", "pytest")]),
    (
        "package.json",
        &[
            ("\"jest\"", "jest"),
            ("\"vitest\"", "vitest"),
            ("\"mocha\"", "mocha"),
            ("\"ava\"", "ava"),
            ("\"karma\"", "karma"),
            ("\"tap\"", "tap"),
            ("\"tape\"", "tape"),
            ("\"jasmine\"", "jasmine"),
            ("\"@playwright/test\"", "playwright"),
            ("node --test", "node:test"),
            ("bun test", "bun test"),
        ],
    ),
    ("*_test.go", &[("testing", "go test")]),
    ("Cargo.toml", &[("", "cargo test")]),
    (
        "pom.xml",
        &[("junit", "junit"), ("testng", "testng"), ("spock", "spock")],
    ),
    (
        "build.gradle",
        &[("junit", "junit"), ("testng", "testng"), ("spock", "spock")],
    ),
    (
        "build.gradle.kts",
        &[
            ("junit", "junit"),
            ("kotest", "kotest"),
            ("kotlin(\"test\")", "kotlin.test"),
        ],
    ),
    ("libs.versions.toml", &[("junit", "junit")]),
    (
        "Gemfile",
        &[
            ("rspec", "rspec"),
            ("minitest", "minitest"),
            ("test-unit", "test-unit"),
        ],
    ),
    (
        "*.gemspec",
        &[
            ("rspec", "rspec"),
            ("minitest", "minitest"),
            ("test-unit", "test-unit"),
        ],
    ),
    (".rspec", &[("", "rspec")]),
    (
        "composer.json",
        &[
            ("phpunit/phpunit", "phpunit"),
            ("pestphp/pest", "pest"),
            ("codeception", "codeception"),
        ],
    ),
    ("phpunit.xml.dist", &[("", "phpunit")]),
    (
        "*.csproj",
        &[
            ("xunit", "xunit"),
            ("NUnit", "nunit"),
            ("MSTest", "mstest"),
            ("TUnit", "tunit"),
        ],
    ),
    (
        "Directory.Packages.props",
        &[("xunit", "xunit"), ("NUnit", "nunit"), ("MSTest", "mstest")],
    ),
    (
        "CMakeLists.txt",
        &[
            ("gtest", "googletest"),
            ("GTest", "googletest"),
            ("Catch2", "catch2"),
            ("doctest", "doctest"),
            ("add_test", "ctest"),
        ],
    ),
    ("meson.build", &[("test(", "meson test")]),
    ("configure.ac", &[("AM_INIT_AUTOMAKE", "automake")]),
    (
        "pubspec.yaml",
        &[("test:", "dart test"), ("flutter_test", "flutter test")],
    ),
    ("Package.swift", &[(".testTarget", "swift test")]),
    ("mix.exs", &[("", "exunit")]),
    ("*.bats", &[("", "bats")]),
];

/// Whether a file at the root has a licence's name.
fn is_licence(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let names = ["license", "licence", "copying", "unlicense"];
    !path.contains('/') && names.iter().any(|name| lower.starts_with(name))
}

/// Reads the facts of a commit. Stars, topics and the like are none of it.
///
/// Lines of code are counted by tokei, without blank lines and comments, in files of programming languages of up to 2 MiB; the language is
/// the one with most of them; both are unknown without the feature `count-lines`. Files below folders of other people's code (`vendor`, `node_modules`, `third_party`) are not counted.
/// Frameworks are known by words in manifests. The licence is that of the text in `LICENSE` or `COPYING` at the root, by likeness to
/// the texts of SPDX; several files give `A OR B`.
///
/// # Errors
/// The commit cannot be read.
///
/// # Cancellation
/// Dropping the future stops git.
pub async fn repository_facts(
    repo: &GitRepo,
    commit: &CommitSha,
) -> Result<RepositoryFacts, Error> {
    let output = repo
        .git()
        .args(["ls-tree", "-r", "-z", "-l", "--full-tree", commit.as_str()])
        .checked()
        .await?;
    let mut wanted = Vec::new();
    for entry in output.stdout.split(|byte| *byte == 0) {
        let entry = String::from_utf8_lossy(entry);
        let Some((meta, path)) = entry.split_once('\t') else {
            continue;
        };
        let fields: Vec<&str> = meta.split_ascii_whitespace().collect();
        let [mode, "blob", oid, size] = fields[..] else {
            continue;
        };
        let size: u64 = size.parse().unwrap_or(u64::MAX);
        if mode.starts_with("100") && size <= MOST_BYTES {
            wanted.extend(Wanted::of(path, oid));
        }
    }
    let mut found = FactTally::default();
    read_blobs(repo, &wanted, |file, content| found.take(file, content)).await?;
    Ok(found.facts(&repo.commit_date(commit).await?))
}

/// A file that is read, and what for.
#[derive(Debug)]
struct Wanted {
    oid: String,
    language: Option<Language>,
    words: &'static [(&'static str, &'static str)],
    is_licence: bool,
}

/// Folders of other people's code.
const FOREIGN: &[&str] = &[
    "vendor",
    "node_modules",
    "third_party",
    "third-party",
    "bower_components",
];

impl Wanted {
    fn of(path: &str, oid: &str) -> Option<Self> {
        let foreign = path.split('/').any(|part| FOREIGN.contains(&part));
        if foreign {
            return None;
        }
        let language = Language::of(path);
        let name = path.rsplit('/').next().unwrap_or(path);
        let fits = |pattern: &str| match pattern.strip_prefix('*') {
            Some(end) => name.ends_with(end),
            None => name == pattern,
        };
        let words = FRAMEWORKS.iter().find(|(pattern, _)| fits(pattern));
        let words = words.map_or(&[][..], |(_, words)| words);
        let is_licence = is_licence(path);
        (language.is_some() || !words.is_empty() || is_licence).then(|| Self {
            oid: oid.to_owned(),
            language,
            words,
            is_licence,
        })
    }
}

#[derive(Debug, Default)]
struct FactTally {
    lines: BTreeMap<&'static str, u64>,
    frameworks: BTreeSet<&'static str>,
    licences: BTreeSet<String>,
}

impl FactTally {
    fn take(&mut self, file: &Wanted, content: &[u8]) {
        if let Some(language) = file.language {
            *self.lines.entry(language.name()).or_default() += language.lines(content);
        }
        let text = String::from_utf8_lossy(content);
        let named = file.words.iter().filter(|(word, _)| text.contains(word));
        self.frameworks
            .extend(named.map(|(_, framework)| framework));
        if file.is_licence
            && let Some(name) = licence(&text)
        {
            self.licences.insert(name);
        }
    }

    fn facts(self, pushed_at: &str) -> RepositoryFacts {
        let language = self.lines.iter().max_by_key(|(_, lines)| **lines);
        let licence = self.licences.into_iter().collect::<Vec<_>>().join(" OR ");
        RepositoryFacts {
            licence: (!licence.is_empty()).then_some(licence),
            language: language.map(|(name, _)| (*name).to_owned()),
            lines_of_code: cfg!(feature = "count-lines").then(|| self.lines.values().sum()),
            test_frameworks: self.frameworks.into_iter().map(str::to_owned).collect(),
            pushed_at: super::time::normal(pushed_at),
            ..RepositoryFacts::default()
        }
    }
}

/// The SPDX name of a licence's text, where it is like one of theirs.
pub(crate) fn licence(text: &str) -> Option<String> {
    use spdx::detection::{Store, TextData};
    static STORE: LazyLock<Option<Store>> = LazyLock::new(|| Store::load_inline().ok());
    let found = STORE.as_ref()?.analyze(&TextData::new(text));
    (found.score >= 0.9).then(|| titled(text).unwrap_or(found.name).to_owned())
}

/// The licence that a text names in its title. Without its appendix, as it mostly stands beside code, Apache's text is more like
/// another's that was made of it.
fn titled(text: &str) -> Option<&'static str> {
    let words = text.split_whitespace().take(12);
    let title = words.collect::<Vec<_>>().join(" ").to_ascii_lowercase();
    title
        .starts_with("apache license version 2.0")
        .then_some("Apache-2.0")
}

/// Reads blobs through one `git cat-file --batch`, one after the other.
async fn read_blobs(
    repo: &GitRepo,
    wanted: &[Wanted],
    mut take: impl FnMut(&Wanted, &[u8]),
) -> Result<(), Error> {
    let fail = |why| Error::new(ErrorKind::Io, "read", "`git cat-file`").with_source(why);
    let call = repo.git().args(["cat-file", "--batch"]);
    let mut command = call.command();
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(|why| call.cannot_start(why))?;
    let pipe = || unexpected("a pipe of git");
    let mut ask = child.stdin.take().ok_or_else(pipe)?;
    let mut answers = BufReader::new(child.stdout.take().ok_or_else(pipe)?);
    let asking = async {
        for file in wanted {
            if ask
                .write_all(format!("{}\n", file.oid).as_bytes())
                .await
                .is_err()
            {
                break;
            }
        }
        drop(ask);
        Ok::<(), Error>(())
    };
    let reading = async {
        for file in wanted {
            let mut head = String::new();
            answers.read_line(&mut head).await.map_err(fail)?;
            // Of an object that a partial clone lacks only this line comes.
            let size = head
                .trim_end()
                .rsplit(' ')
                .next()
                .and_then(|size| size.parse().ok());
            let Some(size) = size else { continue };
            let mut content = vec![0; size];
            answers.read_exact(&mut content).await.map_err(fail)?;
            answers.read_u8().await.map_err(fail)?;
            take(file, &content);
        }
        Ok(())
    };
    tokio::try_join!(asking, reading)?;
    Ok(())
}
