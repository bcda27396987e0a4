//! Which languages' rules apply to a run.

use crate::command::Command;
use atlas_facts::Family;
use std::collections::BTreeSet;

use Family::{C, DotNet, Go, Java, JavaScript, Php, Python, Ruby, Rust};

/// Log parsers, language ids and programs, by family.
const NAMES: &[(Family, &[&str])] = &[
    (
        Python,
        &[
            "pytest",
            "py.test",
            "unittest",
            "django",
            "sympy",
            "python",
            "python3",
            "python2",
            "tox",
            "nox",
            "nose",
            "nosetests",
            "nose2",
            "poetry",
            "uv",
            "hatch",
            "pdm",
        ],
    ),
    (
        JavaScript,
        &[
            "ava",
            "cypress",
            "jasmine",
            "jest",
            "karma",
            "lab",
            "mocha",
            "nodetest",
            "playwright",
            "tape",
            "vitest",
            "javascript",
            "typescript",
            "npm",
            "yarn",
            "pnpm",
            "node",
            "bun",
            "npx",
            "deno",
            "tap",
        ],
    ),
    (Go, &["gotest", "go", "gotestsum", "ginkgo"]),
    (Rust, &["cargo", "nextest", "rust"]),
    (
        Ruby,
        &[
            "rspec",
            "minitest",
            "testunit",
            "test-unit",
            "cucumber",
            "ruby",
            "rake",
            "bundle",
            "rails",
        ],
    ),
    (Php, &["phpunit", "pest", "php", "composer"]),
    (
        Java,
        &[
            "maven",
            "gradle",
            "ant",
            "junitconsole",
            "java",
            "kotlin",
            "scala",
            "mvn",
            "mvnw",
            "gradlew",
            "sbt",
        ],
    ),
    (
        C,
        &[
            "ctest", "gtest", "catch2", "doctest", "boost", "automake", "check", "cmocka", "cunit",
            "meson", "unity", "cppunit", "handmade", "c", "cpp", "cmake", "ninja",
        ],
    ),
    (
        DotNet,
        &[
            "dotnet", "nunit2", "nunit3", "xunit", "trx", "nunitxml", "csharp",
        ],
    ),
];

/// The families of a run; all of them where neither parser nor language nor command tells.
pub(crate) fn families(parser: &str, language: &str, command: &Command) -> BTreeSet<Family> {
    let parser = parser.strip_prefix("parse_log_").unwrap_or(parser);
    let named = |name: &str| {
        NAMES
            .iter()
            .filter(move |(_, names)| names.contains(&name))
            .map(|(family, _)| *family)
            .collect::<Vec<_>>()
    };
    let mut found: BTreeSet<Family> = BTreeSet::new();
    // `tap` is spoken in many languages: as a parser it tells nothing.
    for name in parser.split('+').filter(|name| *name != "tap") {
        found.extend(named(name));
    }
    found.extend(named(&language.to_ascii_lowercase()));
    for (family, names) in NAMES {
        if command.runs_any(names) {
            found.insert(*family);
        }
    }
    if found.is_empty() {
        found.extend(NAMES.iter().map(|(family, _)| *family));
    }
    found
}
