//! Test programs whose lines a driver marks: each is read by its own runner's parser.

use crate::support::crate_root;
use atlas_core::{LogParserExt, ParsedLog, RunOutcome, TestStatus};
use atlas_parsers::{Certainty, Hints, Parsers, detect};

fn parse(parser: &str, log: &[u8]) -> ParsedLog {
    Parsers::builtin().get(parser).unwrap().parse(log)
}

/// A run of `ctest -V` with these programs: name, what it prints, whether it passes.
fn verbose(programs: &[(&str, &str, bool)]) -> String {
    let all = programs.len();
    let mut lines = vec!["Test project /build".to_owned()];
    for (at, (name, output, passes)) in programs.iter().enumerate() {
        let number = at + 1;
        lines.push(format!("test {number}\n      Start {number}: {name}\n"));
        lines.push(format!("{number}: Test command: /build/{name}"));
        lines.extend(output.lines().map(|line| format!("{number}: {line}")));
        let verdict = if *passes { "   Passed " } else { "***Failed " };
        lines.push(format!(
            "{number}/{all} Test #{number}: {name} ......{verdict}   0.01 sec"
        ));
    }
    let failed = programs.iter().filter(|program| !program.2).count();
    lines.push(format!(
        "\n50% tests passed, {failed} tests failed out of {all}\n"
    ));
    lines.join("\n")
}

const A: &str =
    "a.c:1:test_x:PASS\na.c:2:test_y:FAIL: no\n-----\n2 Tests 1 Failures 0 Ignored \nFAIL\n";
const B: &str = "a.c:1:test_x:PASS\n-----\n1 Tests 0 Failures 0 Ignored \nOK\n";

#[test]
fn a_programs_tests_stand_beside_the_drivers() {
    let path = crate_root().join("src/cpp/ctest/corpus/cjson_verbose_unity.log");
    let log = std::fs::read(path).unwrap();
    let found = detect(&log, &Hints::default());
    assert_eq!(found.parser.as_deref(), Some("ctest+unity"));
    assert_eq!(found.confidence, Certainty::Certain);
    let read = parse("ctest+unity", &log);
    assert_eq!(read.parser, "ctest+unity");
    assert_eq!(read.outcome, RunOutcome::Completed);
    assert_eq!(read.consistent, Some(true));
    let tests = read.tests();
    assert_eq!(tests["print_string"], TestStatus::Passed);
    assert_eq!(
        tests["print_string::print_string_should_print_ascii"],
        TestStatus::Passed
    );
    // A program and a test of another one bear the same name.
    assert_eq!(tests["misc_tests"], TestStatus::Failed);
    assert_eq!(tests["old_utils_tests::misc_tests"], TestStatus::Passed);
    assert_eq!(tests.len(), 152);
    let lost: Vec<_> = read
        .modules_not_loaded
        .iter()
        .map(|m| m.module.as_str())
        .collect();
    assert_eq!(
        lost,
        [
            "tests/CMakeFiles/misc_tests.dir/misc_tests.c.o",
            "misc_tests"
        ]
    );
    // The driver's own parser, asked for by name, reads the programs alone.
    assert_eq!(parse("ctest", &log).tests().len(), 22);
}

#[test]
fn programs_of_several_runners_are_told_apart_by_their_lines() {
    let gtest = "[==========] Running 1 test from 1 test suite.\n[ RUN      ] S.a\n[       OK ] S.a (0 ms)\n\
        [==========] 1 test from 1 test suite ran. (0 ms total)\n[  PASSED  ] 1 test.\n";
    let prose = "all is well\nS.a:PASS or so\n";
    let log = verbose(&[
        ("one", A, false),
        ("two", B, true),
        ("three", gtest, true),
        ("four", prose, true),
    ]);
    let found = detect(log.as_bytes(), &Hints::default());
    assert_eq!(found.parser.as_deref(), Some("ctest+unity+gtest"));
    let read = parse("ctest+unity+gtest", log.as_bytes());
    let tests: Vec<_> = read.tests().into_iter().collect();
    let (passed, failed) = (TestStatus::Passed, TestStatus::Failed);
    assert_eq!(
        tests,
        [
            ("four", passed),
            ("one", failed),
            ("one::test_x", passed),
            ("one::test_y", failed),
            ("three", passed),
            ("three::S.a", passed),
            ("two", passed),
            ("two::test_x", passed),
        ]
    );
    assert!(read.qualified().contains_key("two::a.c::test_x"));
}

#[test]
fn a_program_that_is_its_drivers_test_adds_nothing() {
    // `gtest_discover_tests` registers each test, and each runs alone.
    let alone = "[==========] Running 1 test from 1 test suite.\n[ RUN      ] S.a\n[       OK ] S.a (0 ms)\n\
        [==========] 1 test from 1 test suite ran. (0 ms total)\n[  PASSED  ] 1 test.\n";
    let log = verbose(&[("lib.S.a", alone, true)]);
    let read = parse("ctest+gtest", log.as_bytes());
    assert_eq!(read.tests().into_keys().collect::<Vec<_>>(), ["lib.S.a"]);
}

#[test]
fn a_program_that_dies_is_a_crash_and_a_retry_replaces() {
    let cut = "a.c:1:test_x:PASS\nSegmentation fault\n";
    let log = verbose(&[("one", cut, false), ("two", B, true)]);
    let read = parse("ctest+unity", log.as_bytes());
    assert_eq!(read.outcome, RunOutcome::Crashed);
    assert_eq!(read.tests()["one::test_x"], TestStatus::Passed);

    let again = A
        .replace("FAIL: no", "PASS")
        .replace("1 Failures", "0 Failures");
    let log = verbose(&[("one", A, false)])
        + &verbose(&[("one", &again, true)]).replace("Test project /build\n", "");
    let read = parse("ctest+unity", log.as_bytes());
    assert_eq!(read.tests()["one::test_y"], TestStatus::Passed);
    // Another run, of another folder perhaps, does not take the first one back.
    let log = verbose(&[("one", A, false)]) + &verbose(&[("one", &again, true)]);
    let read = parse("ctest+unity", log.as_bytes());
    assert_eq!(read.tests()["one::test_y"], TestStatus::Failed);
}

#[test]
fn a_log_without_programs_is_read_by_the_driver() {
    let log = verbose(&[("one", "", true)]);
    assert_eq!(
        detect(log.as_bytes(), &Hints::default()).parser.as_deref(),
        Some("ctest")
    );
    let read = parse("ctest+unity", log.as_bytes());
    assert_eq!(read.tests().into_keys().collect::<Vec<_>>(), ["one"]);
    assert_eq!(read.outcome, RunOutcome::Completed);
    assert!(parse("ctest+unity", b"nothing\n").is_empty());
}

#[test]
fn programs_below_the_driver_are_sections_of_their_own() {
    let log = verbose(&[("one", "", true)]) + B;
    let read = parse("ctest+unity", log.as_bytes());
    assert_eq!(
        read.tests().into_keys().collect::<Vec<_>>(),
        ["one", "test_x"]
    );
    // Where the driver said nothing, what the program said is left.
    let read = parse("ctest+unity", B.as_bytes());
    assert_eq!(read.tests().into_keys().collect::<Vec<_>>(), ["test_x"]);
}
