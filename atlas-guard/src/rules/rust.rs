//! `cargo test` and nextest.

use super::Act::{Judge, Part, Report, Whole};
use super::{Rule, Ruling};
use crate::change::Change;
use crate::sections::{Section, paths};
use crate::signal::SignalKind::{
    BuildProduct, Dependencies, InlineTests, RunnerConfig, Shadowing, Toolchain,
};
use crate::signal::SignalSeverity::{Info, Suspicious};
use crate::text::{Syntax, closing, keeps_lines, mask, normal};
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

pub(super) const RULES: &[Rule] = &[
    // A `runner` starts every test binary; `rustc-wrapper`, flags and `[env]` reach further.
    Rule {
        files: &[".cargo/"],
        kind: RunnerConfig,
        act: Whole(Suspicious),
        why: "cargo starts compilers and test binaries as this file says",
    },
    Rule {
        files: &[".config/nextest.toml", "nextest.toml"],
        kind: RunnerConfig,
        act: Whole(Suspicious),
        why: "nextest takes its options from this file",
    },
    Rule {
        files: &["rust-toolchain", "rust-toolchain.toml"],
        kind: Toolchain,
        act: Whole(Suspicious),
        why: "another toolchain would run",
    },
    // Targets without the test harness, profiles, and other sources for dependencies.
    Rule {
        files: &["Cargo.toml"],
        kind: RunnerConfig,
        act: Part(|change| {
            let carried = change.in_test_folder() && change.is_new();
            (!carried).then(cargo_toml)
        }),
        why: "cargo takes this part to decide which tests run, and how",
    },
    Rule {
        files: &["Cargo.toml"],
        kind: Dependencies,
        act: Report(moves_dev_dependency),
        why: "a library that the tests use comes from elsewhere now",
    },
    Rule {
        files: &["build.rs"],
        kind: Toolchain,
        act: Report(|_| true),
        why: "this program runs while the tests are built",
    },
    Rule {
        files: &["/target/"],
        kind: BuildProduct,
        act: Whole(Suspicious),
        why: "a product of a build can stand in for what the tests' sources say",
    },
    Rule {
        files: &["*.rs"],
        kind: InlineTests,
        act: Judge(inline_tests),
        why: "tests inside a source file",
    },
    // Names that tests call: the solution's own code, so it stays.
    Rule {
        files: &["*.rs"],
        kind: Shadowing,
        act: Report(|change| {
            static MACRO: LazyLock<Regex> = LazyLock::new(|| {
                Regex::new(r"macro_rules!\s*(assert\w*|debug_assert\w*|test|panic)\b")
                    .expect("a pattern of this file")
            });
            !change.in_test_folder() && MACRO.is_match(&change.added())
        }),
        why: "a macro of the name of one that tests use",
    },
];

fn cargo_toml() -> Section {
    Section::Toml(paths(&[
        "test",
        "lib/test",
        "lib/doctest",
        "lib/harness",
        "bin/test",
        "bin/harness",
        "package/autotests",
        "profile/dev",
        "profile/test",
        "patch",
        "replace",
        "package/metadata/nextest",
        "unstable",
        "cargo-features",
    ]))
}

/// A development dependency that Base takes from the registry and that comes from a path now.
fn moves_dev_dependency(change: &Change<'_>) -> bool {
    let moved = |text: &str| -> Vec<String> {
        let table: toml::Table = text.parse().unwrap_or_default();
        let list = table
            .get("dev-dependencies")
            .and_then(toml::Value::as_table);
        let places = ["path", "git", "package", "registry"];
        list.into_iter()
            .flatten()
            .filter(|(_, how)| places.iter().any(|key| how.get(key).is_some()))
            .map(|(name, _)| name.clone())
            .collect()
    };
    let before = moved(&change.base_text());
    let base = change.base_text();
    moved(&change.text())
        .iter()
        .any(|name| !before.contains(name) && base.contains(name.as_str()))
}

/// `#[cfg(test)] mod …` blocks: the instance's tests in them stay; tests may be added.
fn inline_tests(change: &Change<'_>) -> Option<Ruling> {
    change.after?;
    let solved = change.solved();
    let wanted = String::from_utf8(solved.bytes()?.to_vec()).ok()?;
    let now = String::from_utf8(change.after?.bytes.clone()).ok()?;
    let (mut text, mut changed, mut added) = (now.clone(), Vec::new(), false);
    let mine = test_modules(&now);
    for (name, span) in test_modules(&wanted) {
        let want = &wanted[span];
        let mut same = mine.iter().filter(|(other, _)| *other == name);
        let (Some((_, have)), None) = (same.next(), same.next()) else {
            // Gone, or twice: a run without these tests fails by itself.
            continue;
        };
        let have = &now[have.clone()];
        if normal(have) == normal(want) {
            continue;
        }
        if keeps_lines(have, want) {
            added = true;
            continue;
        }
        text = text.replacen(have, want, 1);
        changed.push(name);
    }
    if !changed.is_empty() {
        let message = format!(
            "the prediction changes tests of the instance inside this file: `mod {}`",
            changed.join("`, `mod ")
        );
        return Some(Ruling::Rewrite(text.into_bytes(), Suspicious, message));
    }
    let message = "the prediction adds tests of its own inside this file";
    added.then(|| Ruling::Keep(Info, message.to_owned()))
}

/// Test modules with their names and extents.
pub(crate) fn test_modules(text: &str) -> Vec<(String, Range<usize>)> {
    static HEAD: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"#\[cfg\((?:all\()?test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*\{")
            .expect("a pattern of this file")
    });
    let masked = mask(text, Syntax::Rust);
    HEAD.captures_iter(text)
        .filter_map(|found| {
            let (head, name) = (found.get(0)?, found.get(1)?);
            // Not inside a comment or a string.
            if masked.get(name.start()) == Some(&b' ') {
                return None;
            }
            let end = closing(&masked, head.end() - 1)?;
            Some((name.as_str().to_owned(), head.start()..end))
        })
        .collect()
}
