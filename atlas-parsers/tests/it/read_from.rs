//! Which lines results are read from.

use atlas_parsers::{Parsers, read_from};
use std::collections::BTreeMap;
use std::ops::Range;

/// SWE-bench id -> lines.
fn found(parser: &str, log: &str, most_bytes: usize) -> BTreeMap<String, Range<usize>> {
    let parser = Parsers::builtin().get(parser).unwrap();
    let found = read_from(&parser, log.as_bytes(), most_bytes);
    found.into_iter().map(|one| (one.name, one.lines)).collect()
}

const GO: &str = "=== RUN   TestA\n    a_test.go:3: --- PASS: TestB (0.00s)\n--- FAIL: TestA (0.00s)\nnoise\n=== RUN   TestB\n--- PASS: TestB (0.00s)\nFAIL\nexit status 1\nFAIL\tp\t0.1s\n";

#[test]
fn the_line_of_the_result_is_found_and_not_one_that_looks_like_it() {
    let found = found("gotest", GO, 1 << 20);
    assert_eq!(found["TestA"], 3..4);
    assert_eq!(found["TestB"], 6..7);
}

#[test]
fn tests_of_one_name_in_two_packages_are_two() {
    let log = "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \tp\t0.1s\n=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \tq\t0.1s\n";
    let parser = Parsers::builtin().get("gotest").unwrap();
    let found = read_from(&parser, log.as_bytes(), 1 << 20);
    let found: Vec<_> = found
        .into_iter()
        .map(|one| (one.qualified, one.lines.start))
        .collect();
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].1, found[1].1), (2, 6), "{found:?}");
}

#[test]
fn a_result_that_is_made_worse_later_was_read_there() {
    let log = "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestA\n--- FAIL: TestA (0.00s)\nFAIL\n";
    assert_eq!(found("gotest", log, 1 << 20)["TestA"], 4..5);
}

#[test]
fn a_bound_leaves_a_stretch_that_holds_the_line() {
    let all = found("gotest", GO, 0);
    assert_eq!(all["TestA"], 1..10);
    let some = found("gotest", GO, 200);
    for (name, line) in [("TestA", 3), ("TestB", 6)] {
        assert!(
            some[name].len() > 1 && some[name].len() < 9 && some[name].contains(&line),
            "{some:?}"
        );
    }
}

#[test]
fn every_status_of_a_pytest_log_has_its_line() {
    let log = "collected 2 items\n\na.py F.  [100%]\n\n=== short test summary info ===\nPASSED a.py::test_b\nFAILED a.py::test_a - assert 0\n=== 1 failed, 1 passed in 0.1s ===\n";
    let found = found("pytest", log, 1 << 20);
    assert_eq!(found["a.py::test_b"], 6..7);
    assert_eq!(found["a.py::test_a"], 7..8);
}

#[test]
fn an_empty_log_has_no_lines() {
    assert!(found("gotest", "", 1 << 20).is_empty());
}
