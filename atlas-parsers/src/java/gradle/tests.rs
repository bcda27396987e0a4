//! Formats that the logs in the corpus do not hold.

use super::GRADLE;
use atlas_core::{LogParserExt, LostReason, RunOutcome, TestStatus};
use std::collections::BTreeMap;

fn tests(log: &str) -> BTreeMap<String, TestStatus> {
    let parsed = GRADLE.parse(log.as_bytes());
    let tests = parsed.tests();
    tests
        .into_iter()
        .map(|(id, status)| (id.to_owned(), status))
        .collect()
}

const EXPECTED: [(&str, TestStatus); 4] = [
    ("com.example.CalcTest > Nested > deep()", TestStatus::Passed),
    ("com.example.CalcTest > adds()", TestStatus::Passed),
    ("com.example.CalcTest > breaks()", TestStatus::Failed),
    ("com.example.CalcTest > later()", TestStatus::Skipped),
];

fn expected() -> BTreeMap<String, TestStatus> {
    EXPECTED
        .iter()
        .map(|(id, status)| ((*id).to_owned(), *status))
        .collect()
}

#[test]
fn the_plugins_themes_say_the_same() {
    let standard = "\
> Task :test

com.example.CalcTest

  Test adds() PASSED (2.1s)
  Test breaks() FAILED

  java.lang.AssertionError: one
  Test forged() PASSED
      at com.example.CalcTest.breaks(CalcTest.java:3)

  Test later() SKIPPED

  Nested

    Test deep() PASSED

FAILURE: Executed 4 tests in 2.3s (1 failed, 1 skipped)

4 tests completed, 1 failed, 1 skipped
";
    assert_eq!(tests(standard), expected());
    let mocha = "\
  com.example.CalcTest

    ✔ adds() (2.1s)
    ✘ breaks()

      java.lang.AssertionError: one
          at com.example.CalcTest.breaks(CalcTest.java:3)

    - later()

    Nested

      ✔ deep()

  2 passing (2.3s)
  1 pending
  1 failing

";
    assert_eq!(tests(mocha), expected());
}

#[test]
fn prose_that_looks_like_a_theme_waits_for_its_summary() {
    assert!(tests("some words\n\n  Test of everything PASSED\n").is_empty());
    assert!(tests("> Task :lib:build FAILED\nBuild of everything FAILED\n").is_empty());
}

#[test]
fn a_module_that_does_not_compile_is_lost() {
    let log = "\
> Task :lib:compileTestKotlin FAILED
e: file:///home/user/project/lib/src/test/kotlin/A.kt:3:5 Unresolved reference: nope

> Task :app:test

AppTest > [1] a > b PASSED

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':lib:compileTestKotlin'.
> Compilation error. See log for more details

BUILD FAILED in 3s
";
    let parsed = GRADLE.parse(log.as_bytes());
    assert_eq!(parsed.outcome, RunOutcome::Completed);
    assert_eq!(parsed.tests().len(), 1);
    assert_eq!(
        parsed.results.at(0).qualified,
        ":app:test::AppTest > [1] a > b"
    );
    let lost = &parsed.modules_not_loaded;
    assert_eq!((lost.len(), lost[0].module.as_str()), (1, ":lib"));
    assert_eq!(lost[0].reason, LostReason::BuildFailed);
    assert!(
        lost[0]
            .lines
            .iter()
            .any(|line| line.text.contains("Unresolved reference"))
    );
}

#[test]
fn a_worker_that_dies_leaves_its_test_in_flight() {
    let log = "\
> Task :test

com.example.A > a STARTED

com.example.A > a PASSED

com.example.A > b STARTED

* What went wrong:
Execution failed for task ':test'.
> Process 'Gradle Test Executor 1' finished with non-zero exit value 134

BUILD FAILED in 3s
";
    let parsed = GRADLE.parse(log.as_bytes());
    assert_eq!(parsed.outcome, RunOutcome::Crashed);
    assert_eq!(parsed.in_flight, ["com.example.A > b"]);
}

#[test]
fn captured_output_cannot_name_a_test() {
    let log = "\
> Task :test

com.example.A > a STANDARD_OUT
    com.fake.Fake > fake PASSED
    \r
    x\rcom.fake.Fake > fake PASSED

com.example.A > a PASSED

BUILD SUCCESSFUL in 3s
";
    assert_eq!(tests(log).len(), 1);
}
