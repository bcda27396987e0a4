//! Inputs that the benchmarks share: synthetic, and the same in every run.

mod sources;

pub use sources::{SOURCE_LANGUAGES, patch_of, source_of};

use atlas_core::{ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus};
use std::fmt::Write as _;

/// What `pytest -v` prints for `tests` tests in files of 50, one in a hundred failing.
///
/// ```
/// let log = atlas_benches::pytest_log(200);
/// assert!(log.ends_with("2 failed, 198 passed in 9.99s ===\n"));
/// ```
pub fn pytest_log(tests: usize) -> String {
    let mut log = String::from("=== test session starts ===\nplatform linux -- Python 3.12.1\n");
    let _ = writeln!(log, "collected {tests} items\n");
    let mut failed = Vec::new();
    for number in 0..tests {
        let id = format!(
            "tests/unit/test_file_{}.py::TestThing::test_case[{number}]",
            number / 50
        );
        let status = if number % 100 == 99 {
            "FAILED"
        } else {
            "PASSED"
        };
        let _ = writeln!(log, "{id} {status} [{:>3}%]", (number + 1) * 100 / tests);
        if status == "FAILED" {
            failed.push(id);
        }
    }
    let _ = writeln!(log, "\n=== short test summary info ===");
    for id in &failed {
        let _ = writeln!(log, "FAILED {id} - AssertionError: assert 1 == 2");
    }
    let passed = tests - failed.len();
    let _ = writeln!(
        log,
        "=== {} failed, {passed} passed in 9.99s ===",
        failed.len()
    );
    log
}

/// What a runner prints for tests with names of their own, about so many bytes of it, one test in a
/// hundred failing: `pytest` (`-v`), `gotest` (`-v`), `cargo`, `jest` (`--verbose`), `maven`
/// (classes with a failing method each), `maven-traced` (a run of Maven for each test), `junit` (one
/// document).
///
/// # Panics
/// For another name.
///
/// ```
/// assert!(atlas_benches::log_of("gotest", 1000).contains("=== RUN   "));
/// ```
pub fn log_of(runner: &str, bytes: usize) -> String {
    match runner {
        "pytest" => pytest_log(bytes / 74 + 1),
        "gotest" => repeated(bytes, "", gotest_package, |_, _| String::new()),
        "cargo" => repeated(bytes, "", cargo_binary, |_, _| String::new()),
        "jest" => repeated(bytes, "", jest_file, |files, failed| {
            let tests = files * 50;
            format!(
                "Test Suites: {failed} failed, {} passed, {files} total\n\
                 Tests:       {failed} failed, {} passed, {tests} total\n\
                 Snapshots:   0 total\nTime:        9.99 s\nRan all test suites.\n",
                files - failed,
                tests - failed,
            )
        }),
        "maven" => repeated(
            bytes,
            "[INFO] Scanning for projects...\n[INFO] -------------------------------------------------------\n\
             [INFO]  T E S T S\n[INFO] -------------------------------------------------------\n",
            maven_class,
            |classes, failed| {
                format!(
                    "[INFO] \n[INFO] Results:\n[INFO] \n[ERROR] Tests run: {}, Failures: {failed}, \
                     Errors: 0, Skipped: 0\n[INFO] \n[INFO] BUILD FAILURE\n",
                    classes * 10
                )
            },
        ),
        "maven-traced" => repeated(bytes, "", maven_run, |_, _| String::new()),
        "junit" => repeated(
            bytes,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n",
            junit_suite,
            |_, _| "</testsuites>\n".to_owned(),
        ),
        other => panic!("no log of {other}"),
    }
}

/// What a runner without a shipped parser prints, about so many bytes of it: `jimtcl`, a word behind the
/// name, or `dotted`, a word behind dots.
///
/// # Panics
/// For another name.
///
/// ```
/// assert!(atlas_benches::rule_log_of("dotted", 1000).contains(" ..... ok"));
/// ```
pub fn rule_log_of(runner: &str, bytes: usize) -> String {
    let mut log = String::with_capacity(bytes + 4096);
    let mut number = 0;
    while log.len() < bytes {
        for test in 0..400 {
            let (is_bad, is_left) = (test % 50 == 0, test % 30 == 0);
            let _ = match runner {
                "jimtcl" => {
                    let word = match (is_bad, is_left) {
                        (true, _) => "ERR",
                        (_, true) => "SKIP",
                        _ => "OK",
                    };
                    writeln!(
                        log,
                        "list-{number}.{test} {word} lreverse of a list of {test} elements"
                    )
                }
                "dotted" => {
                    let word = if is_bad { "FAILED" } else { "ok" };
                    writeln!(
                        log,
                        "  check {number} of part {test} ..... {word} ({}.{} ms)",
                        test % 7,
                        test % 10
                    )
                }
                other => panic!("no log of {other}"),
            };
        }
        number += 1;
    }
    log
}

/// Parts of a log until it is long enough: each is given its number and says whether it failed.
fn repeated(
    bytes: usize,
    head: &str,
    part: fn(&mut String, usize) -> bool,
    tail: impl Fn(usize, usize) -> String,
) -> String {
    let mut log = String::with_capacity(bytes + 4096);
    log.push_str(head);
    let (mut parts, mut failed) = (0, 0);
    while log.len() < bytes {
        failed += usize::from(part(&mut log, parts));
        parts += 1;
    }
    log + &tail(parts, failed)
}

fn gotest_package(log: &mut String, number: usize) -> bool {
    let fails = number.is_multiple_of(2);
    for test in 0..50 {
        let name = format!("TestThing{number}/case_{test}");
        let word = if fails && test == 7 { "FAIL" } else { "PASS" };
        let _ = writeln!(log, "=== RUN   {name}\n--- {word}: {name} (0.00s)");
    }
    let verdict = if fails { "FAIL\nFAIL" } else { "PASS\nok  " };
    let _ = writeln!(log, "{verdict}\texample.com/module/package{number}\t0.012s");
    fails
}

fn cargo_binary(log: &mut String, number: usize) -> bool {
    let fails = number.is_multiple_of(2);
    let _ = writeln!(
        log,
        "     Running tests/case_{number}.rs (target/debug/deps/case_{number}-0123456789abcdef)\n\n\
         running 50 tests"
    );
    for test in 0..50 {
        let word = if fails && test == 7 { "FAILED" } else { "ok" };
        let _ = writeln!(
            log,
            "test module_{number}::tests::does_the_thing_{test} ... {word}"
        );
    }
    let (word, failed) = if fails { ("FAILED", 1) } else { ("ok", 0) };
    if fails {
        let name = format!("module_{number}::tests::does_the_thing_7");
        let _ = writeln!(
            log,
            "\nfailures:\n\n---- {name} stdout ----\nassertion failed\n\n\nfailures:\n    {name}"
        );
    }
    let _ = writeln!(
        log,
        "\ntest result: {word}. {} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out; \
         finished in 0.10s\n",
        50 - failed
    );
    fails
}

fn jest_file(log: &mut String, number: usize) -> bool {
    let fails = number.is_multiple_of(2);
    let word = if fails { "FAIL" } else { "PASS" };
    let _ = writeln!(
        log,
        "{word} src/components/file_{number}.test.js\n  Component {number}"
    );
    for test in 0..50 {
        let mark = if fails && test == 7 { '✕' } else { '✓' };
        let _ = writeln!(
            log,
            "    {mark} does the thing number {test} ({} ms)",
            test % 9 + 1
        );
    }
    log.push('\n');
    fails
}

fn maven_class(log: &mut String, number: usize) -> bool {
    let class = format!("com.example.module.Case{number}Test");
    let fails = number.is_multiple_of(10);
    let _ = writeln!(log, "[INFO] Running {class}");
    let (level, failed, mark) = if fails {
        ("ERROR", 1, " <<< FAILURE!")
    } else {
        ("INFO", 0, "")
    };
    let _ = writeln!(
        log,
        "[{level}] Tests run: 10, Failures: {failed}, Errors: 0, Skipped: 0, Time elapsed: 0.012 s\
         {mark} -- in {class}"
    );
    if fails {
        let _ = writeln!(
            log,
            "[ERROR] {class}.doesTheThing -- Time elapsed: 0.001 s <<< FAILURE!\n\
             java.lang.AssertionError: expected 1 but was 2\n\tat {class}.doesTheThing({class}.java:7)\n"
        );
    }
    fails
}

/// A test as a shell with `set -x` runs it alone.
fn maven_run(log: &mut String, number: usize) -> bool {
    let rule = "-".repeat(72);
    let short = &rule[..55];
    let class = format!("com.example.module.Case{}Test", number / 50);
    let method = format!("doesTheThing{}", number % 50);
    let fails = number.is_multiple_of(10);
    let (level, failed, mark, verdict) = if fails {
        ("ERROR", 1, " <<< FAILURE!", "FAILURE")
    } else {
        ("INFO", 0, "", "SUCCESS")
    };
    let counts = format!("Tests run: 1, Failures: {failed}, Errors: 0, Skipped: 0");
    let _ = writeln!(
        log,
        "+ mvn test -B -Dtest={class}#{method}\n[INFO] Scanning for projects...\n[INFO] \n\
         [INFO] --- surefire:3.2.5:test (default-test) @ app ---\n\
         [INFO] {short}\n[INFO]  T E S T S\n[INFO] {short}\n[INFO] Running {class}\n\
         [{level}] {counts}, Time elapsed: 0.012 s{mark} -- in {class}"
    );
    if fails {
        let _ = writeln!(
            log,
            "[ERROR] {class}.{method} -- Time elapsed: 0.001 s <<< FAILURE!\n\
             java.lang.AssertionError: expected 1 but was 2\n\tat {class}.{method}({class}.java:7)\n"
        );
    }
    let _ = writeln!(
        log,
        "[INFO] \n[INFO] Results:\n[INFO] \n[{level}] {counts}\n[INFO] \n\
         [INFO] {rule}\n[INFO] BUILD {verdict}\n[INFO] {rule}\n[INFO] Total time:  1.234 s\n\
         [INFO] {rule}"
    );
    fails
}

fn junit_suite(log: &mut String, number: usize) -> bool {
    let fails = number.is_multiple_of(2);
    let failures = usize::from(fails);
    let _ = writeln!(
        log,
        "  <testsuite name=\"pkg.case_{number}\" tests=\"50\" failures=\"{failures}\" errors=\"0\" skipped=\"0\" time=\"0.1\">"
    );
    for test in 0..50 {
        let head = format!(
            "    <testcase classname=\"pkg.case_{number}.TestThing\" name=\"test_case[{test}]\" time=\"0.001\""
        );
        if fails && test == 7 {
            let _ = writeln!(
                log,
                "{head}>\n      <failure message=\"assert 1 == 2\">def test():\n&gt;   assert 1 == 2</failure>\n    </testcase>"
            );
        } else {
            let _ = writeln!(log, "{head} />");
        }
    }
    log.push_str("  </testsuite>\n");
    fails
}

/// A parsed log of `tests` tests of which every `nth` fails.
///
/// ```
/// let log = atlas_benches::parsed(100, 10);
/// assert_eq!(log.count(atlas_core::TestStatus::Failed), 10);
/// ```
pub fn parsed(tests: usize, nth: usize) -> ParsedLog {
    let mut log = ParsedLogBuilder::new("bench");
    for number in 0..tests {
        let module = format!("tests/test_file_{}.py", number / 50);
        let id = format!("{module}::TestThing::test_case[{number}]");
        let status = if number % nth == 0 {
            TestStatus::Failed
        } else {
            TestStatus::Passed
        };
        log.record(&module, &id, &id, status);
    }
    log.finish(RunOutcome::Completed)
}
