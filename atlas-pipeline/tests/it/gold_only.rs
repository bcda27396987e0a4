//! Tests that exist only through the gold patch, on logs of real runs: `gold_only/README.md` says how they
//! were made.

use atlas_core::OracleOutcome;
use atlas_oracle::Classification;
use atlas_parsers::Hints;
use atlas_pipeline::classify_files;
use std::path::{Path, PathBuf};

fn verdict(case: &str) -> Classification {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/gold_only");
    let file = |name: &str| -> PathBuf { folder.join(case).join(name) };
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

/// Case, `FAIL_TO_PASS`, `PASS_TO_PASS`, what only the gold patch defines.
type Row = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static str],
);

const CASES: &[Row] = &[
    (
        "rust_feature",
        &["parses_from_outside"],
        &[
            "adds_from_outside",
            "src/lib.rs",
            "src/lib.rs - add",
            "tests::adds",
        ],
        &["parse::tests::reads_a_sum", "src/parse.rs - parse::parse"],
    ),
    (
        "rust_fix",
        &["overflow_panics - should panic"],
        &[
            "adds_from_outside",
            "src/lib.rs",
            "src/lib.rs - add",
            "tests::adds",
        ],
        &["check::tests::small_ones_fit"],
    ),
    (
        "python",
        &["tests/test_m.py::test_half_of_a_negative"],
        &[
            "m.py::m.halve",
            "tests/test_m.py::test_rule_has_a_name[halve]",
        ],
        &[
            "m.py::m.third",
            "tests/test_m.py::test_rule_has_a_name[third]",
        ],
    ),
    (
        "go",
        &["ExampleHalf"],
        &["TestUnits", "TestUnits/metre"],
        &["TestUnits/parsec"],
    ),
    (
        "javascript",
        &["trim takes tabs away"],
        &["rule trim takes a text"],
        &["rule upper takes a text"],
    ),
];

#[test]
fn they_are_named_and_decide_nothing() {
    for (case, fail_to_pass, pass_to_pass, gold_only) in CASES {
        let found = verdict(case);
        assert_eq!(
            found.outcome,
            OracleOutcome::Instance,
            "{case}: {}",
            found.reason
        );
        assert_eq!(found.fail_to_pass, *fail_to_pass, "{case}");
        assert_eq!(found.pass_to_pass, *pass_to_pass, "{case}");
        let golds: Vec<&str> = found.gold_only.keys().map(String::as_str).collect();
        assert_eq!(golds, *gold_only, "{case}");
        assert!(found.unstable.is_empty(), "{case}: {:?}", found.unstable);
    }
}
