//! Where tests live.

use crate::BaseFiles;
use crate::upstream::Upstream;
use atlas_facts::{Family, FolderOfTests, Language, folder_of_tests, language_of, project_files};
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The instance's files, seen as tests and not.
#[derive(Debug)]
pub(crate) struct Places {
    /// Files of the base commit and those that the test patch leaves.
    known: BTreeSet<String>,
    /// Folders with a file in or below them that is named as a test is.
    with_tests: BTreeSet<String>,
}

/// Files that make a folder the root of a project beside those of package managers.
const BUILD_FILES: &[&str] = &["Makefile", "Makefile.am", "Rakefile"];

static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (^|/)(
            test_[^/]*\.(py|rb|c|cc|cpp|cxx|sh|lua|jl) | [^/]*_tests?\.(py|go|rb|c|cc|cpp|cxx|rs|exs|dart|sh)
          | tests?\.(py|rs|js|ts|sh) | [^/]+\.(test|spec|tests|e2e|cy)\.[cm]?[jt]sx?
          | [^/]*[-_](test|spec)\.[cm]?[jt]sx?
          | [^/]*_spec\.(rb|lua) | [^/]*_unittest\.(c|cc|cpp)
          | [A-Z][^/]*(Tests?|TestCase|IT|Spec)\.(java|kt|kts|scala|groovy|php|cs|fs|vb|swift)
          | Test[A-Z0-9][^/]*\.(java|kt|scala|cs|cpp|cc) | [^/]*\.(phpt|bats|t|feature|snap)
        )$",
    )
    .expect("a pattern of this file")
});

/// What a test's text has: Python.
static PYTHON: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?m)^\s*(?:async\s+)?def\s+test|^class\s+\w+\(.*Test"));

/// What a test's text has: JavaScript. Libraries have functions named `test` and assertions too.
static JAVASCRIPT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?mx)
        ^\s*(?:describe|it|test|suite|context)(?:\.\w+)*\s*\(\s*['\x22`]
        | ['\x22](?:vitest|ava|tape|tap|mocha|chai|node:test|uvu|bun:test|@hapi/lab|@hapi/code|qunit|brittle|@jest/globals|@playwright/test|tsd)['\x22]
        | ^//\s*(?:Jest|Vitest)\s+Snapshot",
    )
});

/// What a test's text has: C and C++.
static C: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?m)^\s*TEST(?:_F|_P|_CASE)?\s*\(|BOOST_AUTO_TEST|\bassert\w*\s*\(|\b(?:EXPECT|ASSERT|CHECK|TEST_ASSERT)\w*\s*\(|^int\s+main\b",
    )
});

/// What a test's text has, in other languages.
static OTHERS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?mx)
        TestCase\b | ^\s*(?:describe|it|test|context)\s*[('\x22] | ^func\s+(?:Test|Benchmark|Example|Fuzz)
        | \#\[(?:\w+::)*test | @(?:Test|ParameterizedTest)\b
        | \[(?:Fact|Theory|Test|TestMethod|TestCase)\b | function\s+test | ^\s*def\s+test | ^@test\b
        | \bassert | ^\s*(?:Feature|Scenario): | \bok\s*\( | ^--TEST--",
    )
});

fn has_tests(path: &str, text: &str) -> bool {
    match language_of(path).map(Language::family) {
        // Go compiles such a file for tests alone.
        Some(Family::Go) => true,
        Some(Family::Python) => PYTHON.is_match(text),
        Some(Family::JavaScript) => JAVASCRIPT.is_match(text),
        Some(Family::C) => C.is_match(text),
        // Snapshots are nothing else.
        _ => path.rsplit('.').next() == Some("snap") || OTHERS.is_match(text),
    }
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of this file")
}

impl Places {
    pub(crate) fn new(base: &dyn BaseFiles, upstream: &Upstream) -> Self {
        let mut known: BTreeSet<String> = base.names().into_iter().map(str::to_owned).collect();
        known.extend(upstream.test_paths().map(str::to_owned));
        let mut with_tests = BTreeSet::new();
        for path in known.iter().filter(|path| NAMED.is_match(path)) {
            let mut folder = folder_of(path);
            while with_tests.insert(folder.to_owned()) && !folder.is_empty() {
                folder = folder_of(folder);
            }
        }
        Self { known, with_tests }
    }

    pub(crate) fn is_known(&self, path: &str) -> bool {
        self.known.contains(path)
    }

    /// Known files below a folder; all for the root.
    pub(crate) fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a str> {
        let prefix = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let from = prefix.clone();
        self.known
            .range(from..)
            .map(String::as_str)
            .take_while(move |path| path.starts_with(&prefix))
    }

    /// Known files in a folder itself.
    pub(crate) fn within<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a str> {
        self.below(folder)
            .filter(move |path| folder_of(path) == folder)
    }

    pub(crate) fn is_folder(&self, folder: &str) -> bool {
        self.below(folder).next().is_some()
    }

    /// The outermost test folder that the path lies in.
    pub(crate) fn test_folder<'a>(&self, path: &'a str) -> Option<&'a str> {
        let mut start = 0;
        for part in folder_of(path).split('/') {
            let end = start + part.len();
            let (above, folder) = (path[..start].trim_end_matches('/'), &path[..end]);
            start = end + 1;
            let dotted = part.ends_with(".Tests")
                || part.ends_with(".Test")
                || part.ends_with("Tests") && part.contains('.');
            let holds_tests = || self.with_tests.contains(folder);
            let is_one = dotted
                || match folder_of_tests(part) {
                    Some(FolderOfTests::Certain) => true,
                    Some(FolderOfTests::Usual | FolderOfTests::AtRoot) => {
                        self.is_project(above, part) || holds_tests()
                    }
                    Some(FolderOfTests::Doubtful) => holds_tests(),
                    None => false,
                };
            if is_one {
                return Some(folder);
            }
        }
        None
    }

    fn is_project(&self, folder: &str, part: &str) -> bool {
        // Maven's and Gradle's lay-out: `src/test`.
        let java = part == "test" && (folder == "src" || folder.ends_with("/src"));
        let java = java
            && ["java", "kotlin", "scala", "groovy", "resources"]
                .iter()
                .any(|kind| self.is_folder(&format!("{folder}/test/{kind}")));
        let marked = || {
            let of_packages = project_files().map(|file| file.name);
            let mut files = of_packages.chain(BUILD_FILES.iter().copied());
            files.any(|file| self.known.contains(&format!("{folder}/{file}")))
        };
        folder.is_empty() || java || marked()
    }

    /// Whether a file is a test by its name and its text, or lies in a test folder. Without a text
    /// the name decides.
    pub(crate) fn is_test(&self, path: &str, text: Option<&[u8]>) -> bool {
        if self.test_folder(path).is_some() {
            return true;
        }
        let production = path.starts_with("src/main/") || path.contains("/src/main/");
        !production
            && NAMED.is_match(path)
            && text.is_none_or(|text| has_tests(path, &String::from_utf8_lossy(text)))
    }
}

/// The folder a path lies in, empty for the root.
pub(crate) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The last component.
pub(crate) fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a file's name says that it is of tests: `run_tests.py`, `ci/check.sh`.
pub(crate) fn speaks_of_tests(path: &str) -> bool {
    static WORD: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?i)(^|[/_.-])(ci|checks?|spec|specs|tests?|testing|runtests?|alltests|jest|vitest|mocha|karma|jasmine|pytest|phpunit|bootstrap|coverage)([/_.-]|$)|test[-_]?(setup|runner|suite|env)|setup[-_.]?tests?|^manage\.py$|\.sh$",
        )
        .expect("a pattern of this file")
    });
    WORD.is_match(path)
}

/// Whether a path is as the pattern says. `name` is a file of that name anywhere, `a/b` one whose
/// path ends so, `/x` one at the root, `x/` what lies in such a folder; `*` is any text without
/// a slash.
pub(crate) fn fits(pattern: &str, path: &str) -> bool {
    let anchored = pattern.starts_with('/');
    let folder = pattern.ends_with('/');
    let want: Vec<&str> = pattern.trim_matches('/').split('/').collect();
    let have: Vec<&str> = path.split('/').collect();
    let at = |start: usize| {
        have.get(start..start + want.len())
            .is_some_and(|parts| want.iter().zip(parts).all(|(want, have)| wild(want, have)))
    };
    match (anchored, folder) {
        (true, true) => have.len() > want.len() && at(0),
        (true, false) => have.len() == want.len() && at(0),
        (false, true) => (0..have.len().saturating_sub(want.len())).any(at),
        (false, false) => have.len() >= want.len() && at(have.len() - want.len()),
    }
}

fn wild(want: &str, have: &str) -> bool {
    let Some((first, rest)) = want.split_once('*') else {
        return want == have;
    };
    let Some(left) = have.strip_prefix(first) else {
        return false;
    };
    if rest.is_empty() {
        return true;
    }
    left.char_indices()
        .map(|(at, _)| at)
        .chain([left.len()])
        .any(|at| wild(rest, &left[at..]))
}
