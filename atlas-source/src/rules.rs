//! What a path says about its file: data tables.
//!
//! A rule looks at whole path components, never at parts of a word: `latest/`, `contest.py` and
//! `attestation.rs` are no tests. Where a table has a folder, everything below it counts, so
//! fixtures and snapshots go with the tests that read them.

use atlas_facts::{
    Ending, Family, FolderOfTests, Language, Role, ending_of, fits, folder_of_tests, language_of,
    package_file,
};
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Folders that count only at the root: below it they are parts of libraries.
const TOP_TEST_FOLDERS: &[&str] = &["testing", "t"];

/// Folders that count where the repository holds one of these kinds of file.
const LANGUAGE_FOLDERS: &[(&str, &[&str])] = &[
    (
        "spec",
        &[
            "_spec.rb",
            ".spec.js",
            ".spec.ts",
            "-spec.js",
            "Spec.js",
            "Spec.php",
            "spec_helper.rb",
        ],
    ),
    (
        "specs",
        &["_spec.rb", ".spec.js", ".spec.ts", "-spec.js", "Spec.js"],
    ),
    ("features", &[".feature"]),
];

/// Ends of folder names, as in `Parser.Tests/`.
const TEST_FOLDER_ENDS: &[&str] = &[".tests", ".test", ".unittests", ".integrationtests"];

/// File names, `*` for anything. Compared without regard to case.
const TEST_FILES: &[(&str, &str)] = &[
    ("python", "test_*.py"),
    ("python", "*_test.py"),
    ("python", "*_tests.py"),
    ("python", "conftest.py"),
    ("python", "test.py"),
    ("python", "tests.py"),
    ("javascript", "*.test.*"),
    ("javascript", "*.spec.*"),
    ("javascript", "*.test-d.ts"),
    ("javascript", "*.test-d.tsx"),
    ("javascript", "test-d.ts"),
    ("go", "*_test.go"),
    ("rust", "tests.rs"),
    ("rust", "test.rs"),
    ("rust", "*_test.rs"),
    ("rust", "*_tests.rs"),
    ("rust", "test_*.rs"),
    ("ruby", "*_spec.rb"),
    ("ruby", "*_test.rb"),
    ("ruby", "test_*.rb"),
    ("ruby", "spec_helper.rb"),
    ("ruby", "test_helper.rb"),
    ("php", "*.phpt"),
    ("c", "unittest*.h"),
    ("snapshot", "*.snap"),
];

/// Names of test files without their ending, for families whose sources have many endings; parted by spaces.
const TEST_STEMS: &[(&str, Family, &str)] = &[
    (
        "javascript",
        Family::JavaScript,
        "test tests *-test *-tests *-spec *_test *_tests *_spec",
    ),
    (
        "c",
        Family::C,
        "test tests test_* *_test *_tests *_unittest unittest*",
    ),
];

/// Ends of file names in which a capital letter begins the word: `ParserTest.java`, not
/// `Latest.java`.
const TEST_WORDS: &[(&str, &[&str], &[&str])] = &[
    (
        "java",
        &["java", "kt", "kts", "groovy", "scala"],
        &["Test", "Tests", "TestCase", "IT", "Spec"],
    ),
    ("php", &["php"], &["Test", "TestCase"]),
    ("csharp", &["cs", "fs", "vb"], &["Test", "Tests"]),
    ("swift", &["swift"], &["Test", "Tests"]),
    ("c", &["c", "cc", "cpp", "cxx"], &["Test", "Tests"]),
];

/// Folders whose files are never tests, whatever stands below them.
const GOLD_FOLDERS: &[&str] = &[
    ".github",
    ".circleci",
    ".gitlab",
    ".buildkite",
    "benches",
    "node_modules",
];

/// File names that configure or describe the project. Gold unless they lie in a test folder.
const PROJECT_FILES: &[(&str, &[&str])] = &[
    (
        "runner-config",
        &[
            "pytest.ini",
            "tox.ini",
            "setup.cfg",
            "noxfile.py",
            ".coveragerc",
            "jest.config.*",
            "vitest.config.*",
            "vitest.workspace.*",
            "karma.conf.*",
            ".mocharc*",
            "ava.config.*",
            "playwright.config.*",
            "phpunit.xml*",
            ".rspec",
            "rakefile",
            "makefile",
            "cmakelists.txt",
        ],
    ),
    (
        "ci",
        &[
            ".travis.yml",
            ".gitlab-ci.yml",
            "appveyor.yml",
            ".appveyor.yml",
            "azure-pipelines.yml",
            "jenkinsfile",
        ],
    ),
    (
        "documentation",
        &[
            "readme*",
            "changelog*",
            "changes*",
            "history*",
            "news*",
            "*.rst",
            "*.md",
            "*.adoc",
        ],
    ),
];

/// What a path says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathVerdict {
    pub(crate) test: bool,
    pub(crate) rule: String,
    pub(crate) evidence: String,
}

/// Decides by paths, with what the repository holds as background.
#[derive(Debug, Default, Hash)]
pub(crate) struct PathRules {
    folders: BTreeSet<&'static str>,
    /// Folders that hold a Python test file, at any depth below.
    python_test_folders: BTreeSet<String>,
}

impl PathRules {
    /// Rules for a repository that holds these files.
    pub(crate) fn new<'a>(files: impl IntoIterator<Item = &'a str>) -> Self {
        let mut rules = Self::default();
        for path in files {
            for (folder, ends) in LANGUAGE_FOLDERS {
                if ends.iter().any(|end| path.ends_with(end)) {
                    rules.folders.insert(folder);
                }
            }
            let name = path.rsplit('/').next().unwrap_or(path);
            if fits("test_*.py", name) || fits("*_test.py", name) {
                for (slash, _) in path.match_indices('/') {
                    rules.python_test_folders.insert(path[..slash].to_owned());
                }
            }
        }
        rules
    }

    /// Which side the file belongs to.
    pub(crate) fn decide(&self, path: &str) -> PathVerdict {
        let verdict = |test, rule: &str, evidence: &str| PathVerdict {
            test,
            rule: rule.to_owned(),
            evidence: evidence.to_owned(),
        };
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let mut at = 0;
        for (depth, folder) in folders
            .split('/')
            .filter(|part| !part.is_empty())
            .enumerate()
        {
            at = (at + folder.len() + 1).min(path.len());
            let lower = folder.to_ascii_lowercase();
            if GOLD_FOLDERS.contains(&lower.as_str()) {
                return verdict(false, "gold-folder", &format!("{folder}/"));
            }
            let known = is_test_folder(folder)
                || self.folders.contains(lower.as_str())
                || (depth == 0 && TOP_TEST_FOLDERS.contains(&lower.as_str()))
                || TEST_FOLDER_ENDS
                    .iter()
                    .any(|end| lower.ends_with(end) && lower.len() > end.len());
            if known {
                let whole = path[..at].trim_end_matches('/');
                if self.is_test_kit(whole, &lower, depth, name) {
                    return verdict(false, "test-kit", &format!("{whole}/ holds no test file"));
                }
                return verdict(true, "test-folder", &format!("{folder}/"));
            }
        }
        for (language, pattern) in TEST_FILES {
            if fits(pattern, name) {
                return verdict(true, &format!("test-file-{language}"), pattern);
            }
        }
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let ending = ending_of(path).filter(|ending| ending.holds_tests);
        let family = ending.map(|ending| ending.language.family());
        for (label, of, stems) in TEST_STEMS {
            if family == Some(*of)
                && let Some(pattern) = stems.split(' ').find(|pattern| fits(pattern, stem))
            {
                let rule = format!("test-file-{label}");
                return verdict(true, &rule, &format!("{pattern}.{extension}"));
            }
        }
        for (language, extensions, words) in TEST_WORDS {
            if extensions.contains(&extension)
                && let Some(word) = words.iter().find(|word| ends_with_word(stem, word))
            {
                return verdict(
                    true,
                    &format!("test-file-{language}"),
                    &format!("*{word}.{extension}"),
                );
            }
        }
        for (rule, patterns) in PROJECT_FILES {
            if let Some(pattern) = patterns.iter().find(|pattern| fits(pattern, name)) {
                return verdict(false, rule, pattern);
            }
        }
        if is_manifest(path) {
            return verdict(false, "manifest", name);
        }
        verdict(false, "source", "no test rule fits")
    }

    /// A Python package `x/test/` that ships helpers for other people's tests: below the root,
    /// source files in it, but no test file.
    fn is_test_kit(&self, folder: &str, lower: &str, depth: usize, name: &str) -> bool {
        depth > 0
            && lower == "test"
            && fits("*.py", name)
            && !self.python_test_folders.contains(folder)
    }
}

/// Those of a repository's files that hold tests or belong to tests by their paths, as [`split`](crate::split) tells them
/// from others; files that hold both, as in Rust, are not among them. Whether a file defines a test is not looked at.
pub fn test_files<'a>(files: &[&'a str]) -> Vec<&'a str> {
    let rules = PathRules::new(files.iter().copied());
    let tests = files.iter().filter(|path| rules.decide(path).test);
    tests.copied().collect()
}

/// Whether everything in a folder of this name belongs to tests, at any depth.
fn is_test_folder(name: &str) -> bool {
    matches!(
        folder_of_tests(name),
        Some(FolderOfTests::Certain | FolderOfTests::Usual)
    )
}

/// Whether the file is JavaScript or TypeScript by its name.
pub(crate) fn is_javascript(path: &str) -> bool {
    language_of(path).is_some_and(Language::is_javascript)
}

/// Whether JavaScript or TypeScript text declares tests by the calls that all its runners have. Of a module that holds its tests
/// beside what they test, which Vitest can run, this is no file of tests.
pub(crate) fn declares_javascript_tests(text: &[u8]) -> bool {
    static CALL: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?m)^(?:describe|suite|it|test)(?:\.\w+)*\(\s*["'`]"#)
            .expect("a literal pattern")
    });
    let text = String::from_utf8_lossy(text);
    CALL.is_match(&text) && !text.contains("import.meta.vitest")
}

/// Whether a C or C++ file may be a test program by its name: `xmltest.cpp`, but also `latest.cpp`,
/// so that its content must decide.
pub(crate) fn may_be_test_program(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let is_c = |ending: Ending| ending.holds_tests && ending.language.family() == Family::C;
    ending_of(path).is_some_and(is_c) && ["*test", "*tests"].iter().any(|end| fits(end, stem))
}

/// Whether C or C++ text defines `main`.
pub(crate) fn defines_main(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'\n').any(|line| {
        let line = String::from_utf8_lossy(line);
        let declared = ["int main", "auto main", "void main", "main"];
        declared.iter().any(|start| {
            line.strip_prefix(start)
                .is_some_and(|rest| rest.trim_start().starts_with('('))
        })
    })
}

/// Whether the file says what to build or install, as manifests, lockfiles and settings of package managers do.
pub(crate) fn is_manifest(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    package_file(path).is_some_and(|file| file.role != Role::Beside)
        || ["makefile", ".tool-versions"]
            .iter()
            .any(|other| name.eq_ignore_ascii_case(other))
}

/// Whether a camel-case name ends in this word: the letter before it is no capital.
fn ends_with_word(stem: &str, word: &str) -> bool {
    stem.strip_suffix(word)
        .is_some_and(|rest| !rest.ends_with(|c: char| c.is_ascii_uppercase()))
}
