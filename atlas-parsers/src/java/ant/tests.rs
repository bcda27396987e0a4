//! Formats that the logs in the corpus do not hold.

use super::ANT;
use atlas_core::{LogParserExt, LostReason, RunOutcome, TestStatus};

#[test]
fn a_formatter_that_prints_words_in_brackets_is_read() {
    let log = b"Buildfile: build.xml\n    [junit] [PASS] a.B.c\n    [junit] [FAIL] a.B.d\n    [junit] [ERR] a.B.e\n\
[PASS] a.B.forged\n\nBUILD SUCCESSFUL\n";
    let parsed = ANT.parse(log);
    let tests: Vec<_> = parsed.tests().into_iter().collect();
    assert_eq!(
        tests,
        [
            ("a.B.c", TestStatus::Passed),
            ("a.B.d", TestStatus::Failed),
            ("a.B.e", TestStatus::Error)
        ]
    );
}

#[test]
fn the_launcher_names_the_class_first() {
    let log = b"Buildfile: build.xml\n\ntest:\n[junitlauncher] Testcase: com.example.CalcTest\n\
[junitlauncher] Test: adds() took 12 milli sec(s)\n\
[junitlauncher] Test: breaks() took 1 sec(s) FAILED: one\n\
[junitlauncher] java.lang.AssertionError: one\n\
[junitlauncher] Test: later() took 0 milli sec(s) SKIPPED: no\n\
[junitlauncher] Tests run: 2, Failures: 1, Errors: 0, Skipped: 1, Aborted: 0, Time elapsed: 1 sec(s)\n\n\
BUILD FAILED\n";
    let parsed = ANT.parse(log);
    let tests: Vec<_> = parsed.tests().into_iter().collect();
    assert_eq!(
        tests,
        [
            ("com.example.CalcTest.adds()", TestStatus::Passed),
            ("com.example.CalcTest.breaks()", TestStatus::Failed),
            ("com.example.CalcTest.later()", TestStatus::Skipped)
        ]
    );
}

#[test]
fn what_does_not_compile_is_a_failed_build() {
    let log = b"Buildfile: build.xml\n\ncompile:\n    [javac] src/A.java:3: error: cannot find symbol\n\
    [javac] 1 error\n\nBUILD FAILED\nbuild.xml:4: Compile failed; see the compiler error output for details.\n";
    let parsed = ANT.parse(log);
    assert_eq!(parsed.outcome, RunOutcome::BuildFailed);
    let lost = &parsed.modules_not_loaded[0];
    assert_eq!(
        (lost.module.as_str(), lost.reason),
        ("compile", LostReason::BuildFailed)
    );
    assert_eq!(lost.lines.len(), 2);
}
