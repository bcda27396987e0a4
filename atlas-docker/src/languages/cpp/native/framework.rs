//! Which framework the test programs are written with.

use crate::facts::Facts;
use atlas_core::Evidence;
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A framework whose programs name their tests, and its log parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Framework {
    /// The parser's id.
    pub(super) parser: &'static str,
    include: &'static str,
    /// What a search finds its package under.
    pub(super) library: &'static str,
}

const FRAMEWORKS: &[Framework] = &[
    framework("gtest", r"(gtest|gmock)/(gtest|gmock)\.h|utest\.h", "gtest"),
    framework(
        "catch2",
        r"(catch2/[\w/]*\.hpp|catch(_\w+)?\.hpp|catch\.hpp)",
        "catch2",
    ),
    framework("doctest", r"(doctest/)?doctest(_\w+)?\.h", "doctest"),
    framework("boost", r"boost/test/[\w/]+\.(hpp|ipp)", "boost"),
    framework("cppunit", r"cppunit/[\w/]+\.h", "cppunit"),
    framework("unity", r"(\w+/)*unity(_fixture)?\.h", "unity"),
    framework("cmocka", r"cmocka\.h", "cmocka"),
    framework("check", r"check\.h", "check"),
    framework("cunit", r"CUnit/[\w/]+\.h", "cunit"),
];

const fn framework(
    parser: &'static str,
    include: &'static str,
    library: &'static str,
) -> Framework {
    Framework {
        parser,
        include,
        library,
    }
}

static INCLUDE: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    FRAMEWORKS
        .iter()
        .map(|known| {
            let pattern = format!(
                r#"^\s*#\s*include\s*[<"]([./\w-]*/)?(?:{})[>"]"#,
                known.include
            );
            Regex::new(&pattern).expect("a literal pattern")
        })
        .collect()
});

/// Whether a file belongs to a bundled framework and not to the repository's tests.
fn bundled(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    path.split('/').any(|part| {
        matches!(
            part,
            "gtest"
                | "gmock"
                | "googletest"
                | "googlemock"
                | "unity"
                | "catch2"
                | "doctest"
                | "cmocka"
                | "extern"
                | "external"
                | "deps"
                | "subprojects"
                | "thirdparty"
        )
    }) || path
        .rsplit('/')
        .next()
        .is_some_and(|name| name.starts_with("catch") && name.ends_with("pp"))
}

/// The framework that most files of the folder include, with the first of them. One that no known
/// parser reads is none.
pub(super) fn find(facts: &Facts<'_>, root: &str) -> Option<(Framework, Evidence)> {
    let mut users: BTreeMap<Framework, (usize, Evidence)> = BTreeMap::new();
    for path in facts.tree.files() {
        let source = super::SOURCES.iter().any(|end| {
            path.rsplit_once('.')
                .is_some_and(|(_, found)| found == *end)
        });
        if !source || !path.starts_with(root) || bundled(path) {
            continue;
        }
        let Some(text) = facts.tree.text(path) else {
            continue;
        };
        for (known, pattern) in FRAMEWORKS.iter().zip(INCLUDE.iter()) {
            let hit = text
                .lines()
                .enumerate()
                .find(|(_, line)| line.contains("include") && pattern.is_match(line));
            if let Some((at, line)) = hit {
                let why = Evidence::at(path, at + 1, line.trim());
                users.entry(*known).or_insert((0, why)).0 += 1;
            }
        }
    }
    users
        .into_iter()
        .filter(|(known, _)| facts.knows(known.parser))
        .max_by_key(|(_, (count, _))| *count)
        .map(|(known, (_, why))| (known, why))
}

/// Whether a copy of a framework stands in the repository.
pub(super) fn is_bundled(facts: &Facts<'_>, framework: Framework) -> bool {
    static FILE: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        FRAMEWORKS
            .iter()
            .map(|known| {
                let pattern = format!("(^|/)(?:{})$", known.include);
                Regex::new(&pattern).expect("a literal pattern")
            })
            .collect()
    });
    FRAMEWORKS
        .iter()
        .position(|known| *known == framework)
        .is_some_and(|at| facts.tree.files().any(|path| FILE[at].is_match(path)))
        // Folders of foreign sources are not listed; a submodule is one.
        || facts
            .tree
            .line_with(".gitmodules", framework.library)
            .is_some()
}
