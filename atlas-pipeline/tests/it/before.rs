//! Why Before does not build or load, on logs of real runs: `before/README.md` says how they were
//! made.

use crate::before_cases::CASES;
use atlas_core::{BuildFailureClass, Evidence, Kind, OracleOutcome, State};
use atlas_oracle::Classification;
use atlas_parsers::Hints;
use atlas_pipeline::classify_files;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use BuildFailureClass::{BrokenTest, Environment, MissingSymbol};
use OracleOutcome::{Instance, NoEvidence};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/before")
}

fn verdict(case: &str) -> Classification {
    let folder = folder().join(case);
    let file = |name: &str| folder.join(name);
    let (base, before, after) = (file("base.log"), file("before.log"), file("after.log"));
    classify_files(
        [&[base], &[before], &[after]],
        "auto",
        &Hints::default(),
        Some(&file("test.patch")),
        Some(&file("gold.patch")),
    )
    .unwrap_or_else(|why| panic!("{case}: {}", why.chain()))
}

/// Whether the line that a piece of evidence names holds its text, in the log or the patch.
fn stands(case: &str, proof: &Evidence) -> bool {
    let file = proof.source.replace(" patch", ".patch");
    let text = std::fs::read_to_string(folder().join(case).join(file)).unwrap();
    let line = text.lines().nth(proof.line.unwrap() - 1).unwrap();
    let said = proof
        .text
        .split_once(": +")
        .map_or(&*proof.text, |(_, said)| said);
    // A new file is proven by the line that names it.
    let said = said.strip_suffix(": new file").unwrap_or(said);
    let plain: String = strip(line);
    plain.contains(said.trim())
}

/// A line without its colours.
fn strip(line: &str) -> String {
    let mut plain = String::new();
    let mut coloured = false;
    for letter in line.chars() {
        match letter {
            '\u{1b}' => coloured = true,
            'm' if coloured => coloured = false,
            _ if coloured => {}
            _ => plain.push(letter),
        }
    }
    plain
}

#[test]
fn each_failure_is_told_from_the_others_and_proven() {
    for (case, outcome, class, symbol, (line, text)) in CASES {
        let found = verdict(case);
        assert_eq!(found.outcome, *outcome, "{case}: {}", found.reason);
        let failure = found
            .module_failures
            .iter()
            .find(|f| f.state == State::Before)
            .unwrap_or_else(|| panic!("{case}: nothing is lost in Before"));
        assert_eq!(failure.class, *class, "{case}: {failure:#?}");
        assert_eq!(
            failure.symbol.as_deref(),
            symbol.map(|(name, ..)| name),
            "{case}"
        );
        let first = &failure.proof[0];
        assert_eq!(
            (first.source.as_str(), first.line),
            ("before.log", Some(*line)),
            "{case}: {first:?}"
        );
        assert!(first.text.contains(text), "{case}: {first:?}");
        if let Some((_, line, text)) = symbol {
            assert!(
                failure.proof.iter().any(|p| p.source == "gold patch"
                    && p.line == Some(*line)
                    && p.text.contains(text)),
                "{case}: {failure:#?}"
            );
        }
        for proof in found.module_failures.iter().flat_map(|f| &f.proof) {
            assert!(stands(case, proof), "{case}: {proof:?}");
        }
        let after = found
            .module_failures
            .iter()
            .find(|f| f.state == State::After && f.module == failure.module);
        assert!(
            after.is_none_or(|after| after.class == *class),
            "{case}: {after:?}"
        );
    }
}

#[test]
fn only_what_the_gold_patch_brings_makes_a_feature() {
    for (case, outcome, class, ..) in CASES {
        // The one case that has a feature beside what is broken is looked at below.
        if *case == "python/broken_import" {
            continue;
        }
        let found = verdict(case);
        let kind = match (*outcome, *class) {
            (Instance, MissingSymbol) => Some(Kind::FeatureRequest),
            (Instance, _) => Some(Kind::BugFix),
            _ => None,
        };
        assert_eq!(found.kind, kind, "{case}: {}", found.reason);
        if *outcome == Instance {
            assert!(!found.fail_to_pass.is_empty(), "{case}");
        } else {
            assert!(found.fail_to_pass.is_empty(), "{case}");
            assert!(!found.evidence.is_empty(), "{case}");
        }
        let remarked = found
            .warnings
            .iter()
            .any(|warning| warning.contains("does not build or load"));
        assert_eq!(
            remarked,
            *class != MissingSymbol,
            "{case}: {:?}",
            found.warnings
        );
    }
}

#[test]
fn a_broken_test_file_stands_beside_a_feature() {
    let found = verdict("python/broken_import");
    assert_eq!(found.kind, Some(Kind::FeatureRequest));
    assert_eq!(found.fail_to_pass, ["tests/test_sums.py::test_carry"]);
    let classes: Vec<_> = found
        .module_failures
        .iter()
        .filter(|f| f.state == State::Before)
        .map(|f| (f.module.as_str(), f.class, f.symbol.as_deref()))
        .collect();
    assert_eq!(
        classes,
        [
            ("tests/test_ghost.py", BrokenTest, None),
            ("tests/test_sums.py", MissingSymbol, Some("carry")),
        ]
    );
}

#[test]
fn an_environment_that_fails_in_before_alone_hides_only_its_own_modules() {
    let found = verdict("python/environment");
    assert_eq!(found.outcome, NoEvidence);
    assert!(
        found.reason.contains("libsqlite3.so.0") && found.reason.contains("run it again"),
        "{}",
        found.reason
    );
    assert_eq!(
        found.pass_to_pass,
        [
            "tests/test_store.py::test_store",
            "tests/test_sums.py::test_total"
        ]
    );
}

#[test]
fn a_failure_without_patches_is_a_feature_and_unknown() {
    let folder = folder().join("python/missing_symbol");
    let file = |name: &str| folder.join(name);
    let (base, before, after) = (file("base.log"), file("before.log"), file("after.log"));
    let found = classify_files(
        [&[base], &[before], &[after]],
        "auto",
        &Hints::default(),
        None,
        None,
    )
    .unwrap();
    assert_eq!(found.kind, Some(Kind::FeatureRequest));
    assert_eq!(found.module_failures[0].class, BuildFailureClass::Unknown);
    assert_eq!(found.fail_to_pass, ["tests/test_sums.py::test_carry"]);
}

#[test]
fn every_folder_has_a_row_and_each_language_all_three_reasons() {
    let mut folders = BTreeSet::new();
    let entries = |path: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(path).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    for language in entries(&folder()).iter().filter(|path| path.is_dir()) {
        for case in entries(language) {
            let name = case.strip_prefix(folder()).unwrap();
            folders.insert(name.to_str().unwrap().replace('\\', "/"));
        }
    }
    let rows: BTreeSet<String> = CASES.iter().map(|row| row.0.to_owned()).collect();
    assert_eq!(folders, rows);
    for language in [
        "c",
        "go",
        "java",
        "javascript",
        "python",
        "ruby",
        "rust",
        "typescript",
    ] {
        let classes: BTreeSet<_> = CASES
            .iter()
            .filter(|row| row.0.split('/').next() == Some(language))
            .map(|row| row.2)
            .collect();
        assert_eq!(
            classes,
            BTreeSet::from([MissingSymbol, Environment, BrokenTest]),
            "{language}"
        );
    }
}
