//! A test may print a whole run of its own runner: what the other tests came to does not change.

use crate::hosts::{HOSTS, Host};
use crate::support::parser_folders;
use atlas_core::{LogParserExt, ParsedLog, RunOutcome};
use atlas_parsers::Parsers;

/// The parser's logs that hold one whole run that ended.
fn runs(host: &Host) -> Vec<(String, String)> {
    let parser = Parsers::builtin().get(host.parser).unwrap();
    let folder = parser_folders()
        .into_iter()
        .find(|folder| folder.id == host.parser);
    let mut runs = Vec::new();
    for path in folder.unwrap().corpus() {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let text = match host.parser {
            // A test that runs such a program prints nothing of cargo's own.
            "cargo" => programs(&text),
            _ => text,
        };
        let log = parser.parse(text.as_bytes());
        let once = |part: &str| text.matches(part).count() == 1;
        if text.len() < 64 << 10 && once(host.begin) && once(host.end) && is_whole(&log) {
            runs.push((path.file_name().unwrap().to_str().unwrap().to_owned(), text));
        }
    }
    runs
}

/// The output of the test programs in a log of `cargo test`.
fn programs(text: &str) -> String {
    let mut inside = false;
    let mut programs = String::new();
    for line in text.lines() {
        inside |= line.starts_with("running ");
        if inside {
            programs.push_str(line);
            programs.push('\n');
        }
        inside &= !line.starts_with("test result: ");
    }
    programs
}

fn is_whole(log: &ParsedLog) -> bool {
    log.outcome == RunOutcome::Completed && log.consistent == Some(true) && !log.is_empty()
}

#[test]
fn a_printed_run_changes_no_other_result() {
    let (mut tried, mut wrong, mut undecided) = (0, Vec::new(), Vec::new());
    for host in HOSTS {
        let parser = Parsers::builtin().get(host.parser).unwrap();
        let plain = host.run.replace('@', "");
        let own = parser.parse(plain.as_bytes());
        assert!(is_whole(&own), "{}", host.parser);
        let mut printed = runs(host);
        printed.push(("itself".to_owned(), plain.clone()));
        printed.push(("green".to_owned(), host.green.to_owned()));
        let places: Vec<usize> = host.run.match_indices('@').map(|(at, _)| at).collect();
        for (name, text) in &printed {
            for text in [text.as_str(), text.trim_end()] {
                for place in &places {
                    let (front, rest) = host.run.split_at(*place);
                    let rest = rest[1..].replace('@', "");
                    let log = format!("{}{text}{rest}", front.replace('@', ""));
                    let read = parser.parse(log.as_bytes());
                    tried += 1;
                    if read.tests() == own.tests() && is_whole(&read) {
                        continue;
                    }
                    let case = format!("{} {name} at {place}", host.parser);
                    if is_whole(&read) && lies(&own, &read) {
                        wrong.push(case);
                    } else {
                        undecided.push(case);
                    }
                }
            }
        }
    }
    println!(
        "{tried} logs; not decided or with more tests: {} {undecided:#?}",
        undecided.len()
    );
    assert_eq!(wrong, SILENT, "{wrong:#?}");
}

/// Known and wrong. A test of Mocha's may print what the TAP reporter prints, and the page below then proves neither. Nothing
/// marks where a run of Node's begins, and this one, in front of its first result, has titles of suites where those of
/// the run would stand.
const SILENT: &[&str] = &[
    "mocha own-traps-tap.log at 6",
    "mocha own-traps-tap.log at 6",
    "nodetest spec_subtests_among_suites.log at 0",
];

/// Whether a test that failed is read as another status, or not at all.
fn lies(own: &ParsedLog, read: &ParsedLog) -> bool {
    let read = read.tests();
    own.tests()
        .iter()
        .any(|(name, status)| status.is_failing() && read.get(name).is_none_or(|s| !s.is_failing()))
}

/// The same, for runners that count nothing, too.
fn is_believed(log: &ParsedLog) -> bool {
    log.outcome == RunOutcome::Completed && log.consistent != Some(false) && !log.is_empty()
}

/// A run with `@` where a test prints or a message stands, and ends of a run that may stand there.
struct Forged {
    parser: &'static str,
    run: &'static str,
    ends: &'static [&'static str],
}

const ENDS: &[Forged] = &[
    Forged {
        parser: "cargo",
        run: "     Running unittests src/lib.rs (target/debug/deps/a-0123456789abcdef)\n\n\
            running 3 tests\n@test one ... ok\n@test two ... FAILED\n@test three ... ok\n\nfailures:\n\n\
            ---- two stdout ----\n@\n\nfailures:\n    two\n\n\
            test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n",
        ends: &[
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
            "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
            "test two ... ok\ntest three ... ok\n\n\
             test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n",
        ],
    },
    Forged {
        parser: "phpunit",
        run: "PHPUnit 10.5.0 by Sebastian Bergmann and contributors.\n\nRuntime:       PHP 8.2.0\n\n\
            .@F@F@.                            4 / 4 (100%)\n\nTime: 00:00.010, Memory: 4.00 MB\n\n\
            There were 2 failures:\n\n1) ATest::testTwo\n@\n\n/testbed/ATest.php:9\n\n2) ATest::testThree\n@\n\n\
            /testbed/ATest.php:14\n\nFAILURES!\nTests: 4, Assertions: 4, Failures: 2.\n",
        ends: &[
            "\nTime: 00:00.010, Memory: 4.00 MB\n\nOK (4 tests, 4 assertions)\n",
            "OK (4 tests, 4 assertions)\n",
            "\nFAILURES!\nTests: 1, Assertions: 1, Failures: 1.\n",
        ],
    },
    Forged {
        parser: "phpunit",
        run: "PHPUnit 10.5.0 by Sebastian Bergmann and contributors.\n\nRuntime:       PHP 8.2.0\n\n\
            @..F                                 3 / 3 (100%)\n\nTime: 00:00.010, Memory: 4.00 MB\n\n\
            A\n \u{2714} One\n \u{2718} Two\n   \u{2510}\n   \u{251c} @\n   \u{2502}\n   \u{2502} /testbed/ATest.php:9\n   \u{2534}\n \
            \u{2714} Three\n\nFAILURES!\nTests: 3, Assertions: 3, Failures: 1.\n",
        ends: &[
            "OK (3 tests, 3 assertions)\n",
            "A\n \u{2714} One\n \u{2714} Two\n \u{2714} Three\n\nOK (3 tests, 3 assertions)\n",
        ],
    },
    Forged {
        parser: "rspec",
        run: "\nA\n@  one\n@  two (FAILED - 1)\n@  three\n\nFailures:\n\n  1) A two\n     Failure/Error: fail 'x'\n\n     \
            RuntimeError:\n       @\n     # ./a_spec.rb:5:in `block (2 levels) in <top (required)>'\n\n\
            Finished in 0.01 seconds (files took 0.1 seconds to load)\n3 examples, 1 failure\n\nFailed examples:\n\n\
            rspec ./a_spec.rb:4 # A two\n\n",
        ends: &[
            "\nFinished in 0.01 seconds (files took 0.1 seconds to load)\n3 examples, 0 failures\n\n",
            "3 examples, 0 failures\n",
            "  two\n  three\n\nFinished in 0.01 seconds (files took 0.1 seconds to load)\n3 examples, 0 failures\n\n",
        ],
    },
    Forged {
        parser: "gotest",
        run: "=== RUN   TestOne\n@--- PASS: TestOne (0.00s)\n=== RUN   TestTwo\n@    a_test.go:9: @\n--- FAIL: TestTwo (0.00s)\n\
            === RUN   TestThree\n@--- PASS: TestThree (0.00s)\nFAIL\nFAIL\texample.com/a\t0.003s\nFAIL\n",
        ends: &[
            "PASS\nok  \texample.com/a\t0.003s\n",
            "PASS\n",
            "--- PASS: TestOne (0.00s)\nPASS\nok  \texample.com/a\t0.003s\n",
        ],
    },
    Forged {
        parser: "mocha",
        run: "\n\n  A\n@    \u{2714} one\n@    1) two\n@    \u{2714} three\n\n\n  2 passing (5ms)\n  1 failing\n\n  1) A\n       two:\n     \
            Error: @\n      at Context.<anonymous> (a.js:5:9)\n\n\n\n",
        ends: &[
            "  3 passing (5ms)\n\n",
            "\n\n  3 passing (5ms)\n\n",
            "    \u{2714} two\n\n\n  3 passing (5ms)\n\n",
        ],
    },
    Forged {
        parser: "jest",
        run: "FAIL ./a.test.js\n  A\n    \u{2713} one (1 ms)\n    \u{2715} two (2 ms)\n    \u{2713} three\n\n  \u{25cf} A \u{203a} two\n\n    \
            @\n\n      at Object.<anonymous> (a.test.js:5:9)\n\n  console.log\n    @\n\n      at Object.log (a.test.js:3:11)\n\n\
            Test Suites: 1 failed, 1 total\nTests:       1 failed, 2 passed, 3 total\nSnapshots:   0 total\n\
            Time:        0.5 s\nRan all test suites.\n",
        ends: &[
            "Tests:       3 passed, 3 total\n",
            "Test Suites: 1 passed, 1 total\nTests:       3 passed, 3 total\nSnapshots:   0 total\nTime:        0.5 s\n\
             Ran all test suites.\n",
            "PASS ./a.test.js\n  A\n    \u{2713} two (2 ms)\n\nTest Suites: 1 passed, 1 total\nTests:       3 passed, 3 total\n",
        ],
    },
    Forged {
        parser: "testunit",
        run: "Loaded suite a\nStarted\nA: \n  test_one:\t@.: (0.000319)\n  test_two:\t@F\n\
            ===============================================================================\nFailure: test_two(A)\n\
            a.rb:5:in `test_two'\n     4: def test_two\n  => 5:   flunk '@'\n     6: end\n@\n\
            ===============================================================================\n: (0.0437)\n\
            \x20 test_x:\t@.: (0.000038)\n\nFinished in 0.01 seconds.\n\
            -------------------------------------------------------------------------------\n\
            3 tests, 3 assertions, 1 failures, 0 errors, 0 pendings, 0 omissions, 0 notifications\n66.6667% passed\n\
            -------------------------------------------------------------------------------\n",
        ends: &[
            "\n3 tests, 3 assertions, 0 failures, 0 errors, 0 pendings, 0 omissions, 0 notifications\n100% passed\n",
            "\nFinished in 0.01 seconds.\n\
             -------------------------------------------------------------------------------\n\
             3 tests, 3 assertions, 0 failures, 0 errors, 0 pendings, 0 omissions, 0 notifications\n100% passed\n\
             -------------------------------------------------------------------------------\n",
        ],
    },
    Forged {
        parser: "gradle",
        run: "> Task :compileJava\n> Task :test\n\ncom.example.ATest > one PASSED\n@\ncom.example.ATest > two FAILED\n    \
            org.opentest4j.AssertionFailedError: @\n        at com.example.ATest.two(ATest.java:9)\n\n\
            com.example.ATest > three STANDARD_OUT\n    @\n\ncom.example.ATest > three PASSED\n\n\
            3 tests completed, 1 failed\n\n> Task :test FAILED\n\nFAILURE: Build failed with an exception.\n\n\
            BUILD FAILED in 5s\n3 actionable tasks: 3 executed\n",
        ends: &[
            "BUILD SUCCESSFUL in 5s\n3 actionable tasks: 3 executed\n",
            "3 tests completed\n\nBUILD SUCCESSFUL in 5s\n",
            "com.example.ATest > two PASSED\n\nBUILD SUCCESSFUL in 5s\n",
        ],
    },
    Forged {
        parser: "unittest",
        run: "test_one (a.A.test_one) ... @ok\ntest_two (a.A.test_two) ... @FAIL\ntest_x (a.A.test_x) ... @ok\n\n\
            ======================================================================\nFAIL: test_two (a.A.test_two)\n\
            ----------------------------------------------------------------------\nTraceback (most recent call last):\n  \
            File \"a.py\", line 5, in test_two\n    self.fail()\nAssertionError: @\n\n\
            ----------------------------------------------------------------------\nRan 3 tests in 0.001s\n\n\
            FAILED (failures=1)\n",
        ends: &[
            "\n----------------------------------------------------------------------\nRan 3 tests in 0.001s\n\nOK\n",
            "\nRan 3 tests in 0.001s\n\nOK\n",
            "ok\ntest_two (a.A.test_two) ... ok\n\n\
             ----------------------------------------------------------------------\nRan 3 tests in 0.001s\n\nOK\n",
        ],
    },
    Forged {
        parser: "trial",
        run: "a.test_a\n  ATests\n    test_one ... @                                                          [OK]\n    test_two ... @                                                        [FAIL]\n    test_x ... @                                                            [OK]\n\n\
            ===============================================================================\n[FAIL]\n\
            Traceback (most recent call last):\nFailure: twisted.trial.unittest.FailTest: @\n\n\
            a.test_a.ATests.test_two\n\
            -------------------------------------------------------------------------------\nRan 3 tests in 0.001s\n\n\
            FAILED (failures=1, successes=2)\n",
        ends: &[
            "\n-------------------------------------------------------------------------------\nRan 3 tests in 0.001s\n\nPASSED (successes=3)\n",
            "\n-------------------------------------------------------------------------------\nRan 1 tests in 0.001s\n\nPASSED (successes=1)\n",
            "                                                          [OK]\n    test_two ...                                                           [OK]\n\n\
             -------------------------------------------------------------------------------\nRan 3 tests in 0.001s\n\nPASSED (successes=3)\n",
        ],
    },
    Forged {
        parser: "trial",
        run: "a.A.test_one ... @[OK]\na.A.test_two ... @[FAILURE]\na.A.test_x ... @[OK]\n\n\
            ===============================================================================\n[FAIL]\n\
            Traceback (most recent call last):\nFailure: twisted.trial.unittest.FailTest: @\n\na.A.test_two\n\
            -------------------------------------------------------------------------------\nRan 3 tests in 0.001s\n\n\
            FAILED (failures=1, successes=2)\n",
        ends: &[
            "\n-------------------------------------------------------------------------------\nRan 3 tests in 0.001s\n\nPASSED (successes=3)\n",
            "[OK]\na.A.test_two ... [OK]\na.A.test_x ... [OK]\n\n\
             -------------------------------------------------------------------------------\nRan 3 tests in 0.001s\n\nPASSED (successes=3)\n",
        ],
    },
    Forged {
        parser: "stestr",
        run: "@{0} a.ATest.test_one [0.000100s] ... ok\n@{0} a.ATest.test_two [0.000100s] ... FAILED\n\n\
            Captured traceback:\n~~~~~~~~~~~~~~~~~~~\n    AssertionError: @\n\n@{0} a.ATest.test_x [0.000100s] ... ok\n\n\
            ==============================\nFailed 1 tests - output below:\n==============================\n\n\
            a.ATest.test_two\n----------------\n\nCaptured traceback:\n~~~~~~~~~~~~~~~~~~~\n    AssertionError: @\n\n\n\n\
            ======\nTotals\n======\nRan: 3 tests in 0.0010 sec.\n - Passed: 2\n - Skipped: 0\n - Expected Fail: 0\n\
            \x20- Unexpected Success: 0\n - Failed: 1\nSum of execute time for each test: 0.0002 sec.\n",
        ends: &[
            "\n======\nTotals\n======\nRan: 3 tests in 0.0010 sec.\n - Passed: 3\n - Skipped: 0\n - Expected Fail: 0\n\
             \x20- Unexpected Success: 0\n - Failed: 0\nSum of execute time for each test: 0.0002 sec.\n",
            "{0} a.ATest.test_two [0.000100s] ... ok\n\n======\nTotals\n======\nRan: 2 tests in 0.0010 sec.\n - Passed: 2\n\
             \x20- Skipped: 0\n - Expected Fail: 0\n - Unexpected Success: 0\n - Failed: 0\nSum of execute time for each test: 0.0002 sec.\n",
            "\n==============================\nFailed 1 tests - output below:\n==============================\n\n",
        ],
    },
    Forged {
        parser: "minitest",
        run: "Run options: -v --seed 1\n\n# Running:\n\nA#test_one = @0.00 s = .\nA#test_two = @0.01 s = F\nA#test_x = @0.00 s = .\n\n\
            Finished in 0.1s, 20.0 runs/s, 20.0 assertions/s.\n\n  1) Failure:\nA#test_two [a.rb:1]:\n@\n\n\
            3 runs, 3 assertions, 1 failures, 0 errors, 0 skips\n",
        ends: &[
            "\n3 runs, 3 assertions, 0 failures, 0 errors, 0 skips\n",
            "\nFinished in 0.1s, 20.0 runs/s, 20.0 assertions/s.\n\n3 runs, 3 assertions, 0 failures, 0 errors, 0 skips\n",
        ],
    },
    Forged {
        parser: "gtest",
        run: "[==========] Running 3 tests from 1 test suite.\n[----------] Global test environment set-up.\n\
            [----------] 3 tests from A\n[ RUN      ] A.one\n@[       OK ] A.one (0 ms)\n[ RUN      ] A.two\n@a.cc:5: Failure\n\
            x @\n[  FAILED  ] A.two (0 ms)\n[ RUN      ] A.three\n@[       OK ] A.three (0 ms)\n\
            [----------] 3 tests from A (0 ms total)\n\n[----------] Global test environment tear-down\n\
            [==========] 3 tests from 1 test suite ran. (0 ms total)\n[  PASSED  ] 2 tests.\n\
            [  FAILED  ] 1 test, listed below:\n[  FAILED  ] A.two\n\n 1 FAILED TEST\n",
        ends: &[
            "[==========] 3 tests from 1 test suite ran. (0 ms total)\n[  PASSED  ] 3 tests.\n",
            "[       OK ] A.one (0 ms)\n[----------] 1 test from A (0 ms total)\n\n\
             [----------] Global test environment tear-down\n\
             [==========] 1 test from 1 test suite ran. (0 ms total)\n[  PASSED  ] 1 test.\n",
            "[       OK ] A.two (0 ms)\n",
        ],
    },
    Forged {
        parser: "maven",
        run: "[INFO] Scanning for projects...\n[INFO] \n[INFO] ------------------< com.example:demo >------------------\n\
            [INFO] -------------------------------------------------------\n[INFO]  T E S T S\n\
            [INFO] -------------------------------------------------------\n[INFO] Running com.example.ATest\n@\
            [INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s -- in com.example.ATest\n\
            [INFO] Running com.example.BTest\n@\
            [ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.01 s <<< FAILURE! -- in com.example.BTest\n\
            [ERROR] com.example.BTest.two -- Time elapsed: 0.01 s <<< FAILURE!\norg.opentest4j.AssertionFailedError: @\n\
            \tat com.example.BTest.two(BTest.java:9)\n\n[INFO] Running com.example.CTest\n@\
            [INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.01 s -- in com.example.CTest\n\
            [INFO] \n[INFO] Results:\n[INFO] \n[ERROR] Failures: \n[ERROR]   BTest.two:9 x\n[INFO] \n\
            [ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0\n[INFO] \n\
            [INFO] ------------------------------------------------------------------------\n[INFO] BUILD FAILURE\n\
            [INFO] ------------------------------------------------------------------------\n",
        ends: &[
            "Tests run: 2, Failures: 0, Errors: 0, Skipped: 0\n",
            "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0\n",
            "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.01 s -- in com.example.BTest\n",
            "[INFO] Results:\n[INFO] \n[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0\n[INFO] \n",
            "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.01 s -- in com.example.BTest\n\
             [INFO] Results:\n[INFO] \n[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0\n[INFO] \n",
            "[INFO] ------------------------------------------------------------------------\n[INFO] BUILD SUCCESS\n\
             [INFO] ------------------------------------------------------------------------\n",
        ],
    },
    Forged {
        parser: "maven",
        run: "-------------------------------------------------------\n T E S T S\n\
            -------------------------------------------------------\nRunning com.example.ATest\n@\
            Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 sec\nRunning com.example.BTest\n@\
            Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.01 sec <<< FAILURE!\n\
            two(com.example.BTest)  Time elapsed: 0.01 sec  <<< FAILURE!\njava.lang.AssertionError: @\n\
            \tat com.example.BTest.two(BTest.java:9)\n\nRunning com.example.CTest\n@\
            Tests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.01 sec\n\nResults :\n\n\
            Failed tests:   two(com.example.BTest): x\n\nTests run: 5, Failures: 1, Errors: 0, Skipped: 0\n\n",
        ends: &[
            "Tests run: 2, Failures: 0, Errors: 0, Skipped: 0\n",
            "Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.01 sec\n",
            "Results :\n\nTests run: 2, Failures: 0, Errors: 0, Skipped: 0\n",
            "Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 sec\n\nResults :\n\n\
             Tests run: 2, Failures: 0, Errors: 0, Skipped: 0\n\n",
        ],
    },
];

#[test]
fn a_printed_end_neither_empties_nor_cuts_a_run() {
    let (mut tried, mut wrong, mut undecided) = (0, Vec::new(), Vec::new());
    for Forged { parser, run, ends } in ENDS {
        let read = |log: &str| {
            Parsers::builtin()
                .get(parser)
                .unwrap()
                .parse(log.as_bytes())
        };
        let own = read(&run.replace('@', ""));
        assert!(is_believed(&own), "{parser}: {own:?}");
        for (place, _) in run.match_indices('@') {
            for (nth, end) in ends.iter().enumerate() {
                let front = run[..place].replace('@', "");
                let rest = run[place + 1..].replace('@', "");
                let log = read(&format!("{front}{end}{rest}"));
                tried += 1;
                let case = format!("{parser}: end {nth} at {place}: {:?}", log.tests());
                if log.tests() == own.tests() && is_believed(&log) {
                } else if is_believed(&log) {
                    wrong.push(case);
                } else {
                    undecided.push(case);
                }
            }
        }
    }
    println!(
        "{tried} logs; not decided: {} {undecided:#?}",
        undecided.len()
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Surefire says which class runs: where it died, what stands behind it is no end.
#[test]
fn a_death_behind_a_printed_end_is_no_end() {
    for Forged { run, ends, .. } in ENDS.iter().filter(|case| case.parser == "maven") {
        let at = run.find("BTest\n@").unwrap() + "BTest\n".len();
        for end in *ends {
            let log = format!("{}{end}", run[..at].replace('@', ""));
            let read = Parsers::builtin()
                .get("maven")
                .unwrap()
                .parse(log.as_bytes());
            let is_ended = end.contains("Time elapsed");
            assert!(
                is_ended || read.outcome != RunOutcome::Completed,
                "{end}: {read:?}"
            );
        }
    }
}

/// pytest says how far a run is: behind the last test stands `[100%]`.
#[test]
fn a_death_behind_a_printed_end_of_pytest_is_no_whole_run() {
    let head = "============================= test session starts ==============================\n\
        collected 3 items\n\ntest_a.py::test_one PASSED                  [ 33%]\ntest_a.py::test_two ";
    let end =
        "\n============================== 1 passed in 0.01s ===============================\n";
    let pytest = Parsers::builtin().get("pytest").unwrap();
    let read = |log: &str| pytest.parse(log.as_bytes());
    assert_eq!(read(&format!("{head}{end}")).consistent, Some(false));
    let stopped = "FAILED                  [ 66%]\n!!!!!!!!!!!!!!! stopping after 1 failures !!!!!!!!!!!!!!!\n\
        ========================= 1 failed, 1 passed in 0.01s ==========================\n";
    assert!(is_whole(&read(&format!("{head}{stopped}"))));
}
