//! `go test` and what wraps it.

use super::Act::{Judge, Part, Report, WholeIf};
use super::{Rule, Ruling, whole};
use crate::change::Change;
use crate::places::folder_of;
use crate::sections::Section;
use crate::signal::SignalKind::{Dependencies, RunnerHook, Toolchain};
use crate::signal::SignalSeverity::{Info, Suspicious, Tamper};
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

pub(super) const RULES: &[Rule] = &[
    // A package has one test binary: what a new file does at its start, all tests feel.
    Rule {
        files: &["*_test.go"],
        kind: RunnerHook,
        act: Judge(new_test_file),
        why: "one binary runs all tests of a package",
    },
    // Puts other sources in the place of a module.
    Rule {
        files: &["go.mod"],
        kind: Dependencies,
        act: Part(|_| {
            Some(Section::Directives(vec![
                "replace".to_owned(),
                "toolchain".to_owned(),
            ]))
        }),
        why: "go takes modules or its toolchain from elsewhere",
    },
    Rule {
        files: &["/go.work", "/go.work.sum", "/go.env"],
        kind: Toolchain,
        act: WholeIf(
            |change| change.in_base() || change.name() != "go.work.sum",
            Suspicious,
        ),
        why: "go takes modules from elsewhere",
    },
    // Test libraries in the vendor folder decide what an assertion means.
    Rule {
        files: &[
            "vendor/github.com/stretchr/",
            "vendor/github.com/onsi/",
            "vendor/github.com/google/go-cmp/",
            "vendor/gopkg.in/check.v1/",
            "vendor/github.com/smartystreets/",
            "vendor/gotest.tools/",
            "vendor/github.com/frankban/quicktest/",
            "vendor/github.com/matryer/is/",
            "vendor/github.com/go-test/",
            "vendor/github.com/golang/mock/",
            "vendor/go.uber.org/mock/",
            "vendor/go.uber.org/goleak/",
            "vendor/github.com/pmezard/go-difflib/",
            "vendor/github.com/davecgh/go-spew/",
        ],
        kind: Dependencies,
        act: WholeIf(changes_base, Tamper),
        why: "a library that decides whether tests pass",
    },
    Rule {
        files: &["vendor/"],
        kind: Dependencies,
        act: Report(|change| change.in_base() && change.name() != "modules.txt"),
        why: "code of a dependency is changed in place",
    },
];

fn new_test_file(change: &Change<'_>) -> Option<Ruling> {
    static START: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)^func\s+(?:TestMain\s*\(|init\s*\(\s*\))|^var\s+_\s*\w*\s*=\s*(?:func\b|[\w.]+\()|go:linkname")
            .expect("a pattern of this file")
    });
    let folder = change.folder();
    let places = &change.context.places;
    let neighbours: Vec<&str> = places
        .within(folder)
        .filter(|path| path.ends_with("_test.go") && folder_of(path) == folder)
        .collect();
    if !change.is_new() || neighbours.is_empty() {
        return None;
    }
    let text = change.text();
    if START.is_match(&text) {
        let why = "a new test file runs code at the start of the package's test binary";
        return Some(whole(change, Suspicious, why));
    }
    // Two tests of one name do not compile: an honest test must not cost the solution its verdict.
    let mine = functions(&text);
    let twice = neighbours.iter().find_map(|path| {
        let theirs = change
            .context
            .upstream
            .with_tests(change.context.base, path);
        let theirs = functions(&String::from_utf8_lossy(theirs.bytes()?));
        mine.intersection(&theirs).next().cloned()
    })?;
    let why = format!("`{twice}` stands in the instance's tests too, and both would not compile");
    Some(whole(change, Info, &why))
}

/// Whether the file is one of Base: an addition of its own is no change to a library.
fn changes_base(change: &Change<'_>) -> bool {
    change.in_base()
}

fn functions(text: &str) -> BTreeSet<String> {
    static NAME: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?m)^func\s+(\w+)").expect("a pattern of this file"));
    NAME.captures_iter(text)
        .map(|name| name[1].to_owned())
        .collect()
}
