//! Runs of several runners with places where a test prints.

/// A run, with `@` where what a test prints or says stands.
pub(crate) struct Host {
    pub(crate) parser: &'static str,
    /// What a log begins a run with.
    pub(crate) begin: &'static str,
    /// What a log ends a run with; those are left out that have it twice, and so hold a printed run
    /// themselves.
    pub(crate) end: &'static str,
    pub(crate) run: &'static str,
    /// Its tests, all of them passed.
    pub(crate) green: &'static str,
}

pub(crate) const HOSTS: &[Host] = &[
    Host {
        parser: "minitest",
        begin: "# Running:",
        end: " assertions/s.",
        run: "Run options: -v --seed 1\n\n# Running:\n\nAT#test_one = @0.00 s = .\n\
            AT#test_two = @0.01 s = F\n\nFinished in 0.1s, 20.0 runs/s, 20.0 assertions/s.\n\n\
            \x20 1) Failure:\nAT#test_two [a.rb:1]:\n@\n\n\
            2 runs, 2 assertions, 1 failures, 0 errors, 0 skips\n",
        green: "Run options: -v --seed 1\n\n# Running:\n\nAT#test_one = 0.00 s = .\nAT#test_two = 0.00 s = .\n\n\
             Finished in 0.1s, 20.0 runs/s, 20.0 assertions/s.\n\n\
             2 runs, 2 assertions, 0 failures, 0 errors, 0 skips\n",
    },
    Host {
        parser: "phpunit",
        begin: " by Sebastian Bergmann and contributors.",
        end: "\nTime: ",
        run: "PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n\n.@F@ 2 / 2 (100%)\n\n\
            Time: 00:00.010, Memory: 4.00 MB\n\nThere was 1 failure:\n\n1) ATest::test_two\n@\n\n\
            FAILURES!\nTests: 2, Assertions: 2, Failures: 1.\n",
        green: "PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n\n.. 2 / 2 (100%)\n\n\
             Time: 00:00.010, Memory: 4.00 MB\n\nOK (2 tests, 2 assertions)\n",
    },
    Host {
        parser: "check",
        begin: "Running suite(s): ",
        end: "%: Checks: ",
        run: "Running suite(s): A\n@\n@\n50%: Checks: 2, Failures: 1, Errors: 0\n\
            a.c:3:P:core:one:0: Passed\na.c:4:F:core:two:0: x\n",
        green: "Running suite(s): A\n100%: Checks: 2, Failures: 0, Errors: 0\n\
             a.c:3:P:core:one:0: Passed\na.c:4:P:core:two:0: Passed\n",
    },
    Host {
        parser: "pytest",
        begin: "= test session starts =",
        end: "= test session starts =",
        run: "============================= test session starts ==============================\n\
            collected 2 items\n\ntest_a.py::test_one @PASSED\ntest_a.py::test_two @FAILED\n\n\
            =================================== FAILURES ===================================\n\
            ___________________________________ test_two ___________________________________\n\n\
            \x20   assert False\n\
            ----------------------------- Captured stdout call -----------------------------\n@\n\
            =========================== short test summary info ============================\n\
            FAILED test_a.py::test_two - assert False\n\
            ========================= 1 failed, 1 passed in 0.01s ==========================\n",
        green: "============================= test session starts ==============================\n\
             collected 2 items\n\ntest_a.py::test_one PASSED\ntest_a.py::test_two PASSED\n\n\
             ============================== 2 passed in 0.01s ===============================\n",
    },
    Host {
        parser: "cargo",
        begin: "running ",
        end: "running ",
        run: "     Running unittests src/lib.rs (target/debug/deps/a-0123456789abcdef)\n\n\
            running 2 tests\n@\ntest one ... ok\n@\ntest two ... FAILED\n\nfailures:\n\n\
            ---- two stdout ----\n@\n\nfailures:\n    two\n\n\
            test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        green: "\nrunning 2 tests\ntest one ... ok\ntest two ... ok\n\n\
             test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
    },
    Host {
        parser: "jasmine",
        begin: "Started\n",
        end: " specs, ",
        run: "Started\n.@F@\n\nFailures:\n1) A two\n  Message:\n    x\n  Stack:\n        at a\n\n\
            2 specs, 1 failure\nFinished in 0.1 seconds\n",
        green: "Started\n..\n\n\n2 specs, 0 failures\nFinished in 0.1 seconds\n",
    },
    Host {
        parser: "bun",
        begin: "bun test v",
        end: " across ",
        run: "bun test v1.4.5 (a7733435c)\n\na.test.ts:\n@(pass) A > one\n1 | code\nerror: x@\n\
            \x20     at <anonymous> (/testbed/a.test.ts:1:1)\n(fail) A > two [0.12ms]\n\n\
            \x201 pass\n 1 fail\nRan 2 tests across 1 file. [10.00ms]\n",
        green: "bun test v1.4.5 (a7733435c)\n\na.test.ts:\n(pass) A > one\n(pass) A > two\n\n\
             \x202 pass\n 0 fail\nRan 2 tests across 1 file. [10.00ms]\n",
    },
    Host {
        parser: "lab",
        begin: "  \u{2714} 1) ",
        end: "\nTest duration: ",
        run: "A\n@  \u{2714} 1) one (0 ms)\n@  \u{2716} 2) two\n\n\nFailed tests:\n\n  2) A two:\n\n      @\n\n\n\
            1 of 2 tests failed\nTest duration: 3 ms\nLeaks: No issues\n\n",
        green: "A\n  \u{2714} 1) one (0 ms)\n  \u{2714} 2) two (0 ms)\n\n\n2 tests complete\n\
             Test duration: 3 ms\nLeaks: No issues\n\n",
    },
    Host {
        parser: "mocha",
        begin: "  1 passing",
        end: " passing",
        run: "\n\n  .@!\n\n  1 passing (2ms)\n  1 failing\n\n  1) A\n       two:\n     Error: @\n      at a\n\n\n",
        green: "\n\n  ..\n\n  2 passing (2ms)\n\n",
    },
    Host {
        parser: "trial",
        begin: "\nRan ",
        end: "\nRan ",
        run: "a.test_a\n  ATests\n    test_one ... @                                                          [OK]\n    test_two ... @                                                        [FAIL]\n\n\
            ===============================================================================\n[FAIL]\n\
            Traceback (most recent call last):\nFailure: twisted.trial.unittest.FailTest: @\n\n\
            a.test_a.ATests.test_two\n\
            -------------------------------------------------------------------------------\nRan 2 tests in 0.001s\n\n\
            FAILED (failures=1, successes=1)\n",
        green: "a.test_a\n  ATests\n    test_one ...                                                           [OK]\n    test_two ...                                                           [OK]\n\n\
             -------------------------------------------------------------------------------\nRan 2 tests in 0.001s\n\n\
             PASSED (successes=2)\n",
    },
    Host {
        parser: "stestr",
        begin: "\nRan: ",
        end: "\nRan: ",
        run: "@{0} a.test_a.ATest.test_one [0.000100s] ... ok\n@{0} a.test_a.ATest.test_two [0.000100s] ... FAILED\n\n\
            Captured traceback:\n~~~~~~~~~~~~~~~~~~~\n    Traceback (most recent call last):\n\n    AssertionError: @\n\n\
            \n==============================\nFailed 1 tests - output below:\n==============================\n\n\
            a.test_a.ATest.test_two\n-----------------------\n\nCaptured traceback:\n~~~~~~~~~~~~~~~~~~~\n    \
            Traceback (most recent call last):\n\n    AssertionError: @\n\n\n\n======\nTotals\n======\n\
            Ran: 2 tests in 0.0010 sec.\n - Passed: 1\n - Skipped: 0\n - Expected Fail: 0\n\
            \x20- Unexpected Success: 0\n - Failed: 1\nSum of execute time for each test: 0.0002 sec.\n",
        green: "{0} a.test_a.ATest.test_one [0.000100s] ... ok\n{0} a.test_a.ATest.test_two [0.000100s] ... ok\n\n\
             ======\nTotals\n======\nRan: 2 tests in 0.0010 sec.\n - Passed: 2\n - Skipped: 0\n - Expected Fail: 0\n\
             \x20- Unexpected Success: 0\n - Failed: 0\nSum of execute time for each test: 0.0002 sec.\n",
    },
    Host {
        parser: "uvu",
        begin: "  Total:     ",
        end: "  Duration:  ",
        run: "a.js\n A  @\u{2022} @\u{2718} @\u{2718}   (1 / 3)\n\n   FAIL  A  \"two\"\n    @\n\n    at a (/testbed/a.js:1:1)\n\n\n\
            \x20  FAIL  A  \"three\"\n    @\n\n    at a (/testbed/a.js:1:1)\n\n\n\n\
            \x20 Total:     3\n  Passed:    1\n  Skipped:   0\n  Duration:  1.00ms\n\n",
        green: "a.js\n A  \u{2022} \u{2022} \u{2022}   (3 / 3)\n\n\
             \x20 Total:     3\n  Passed:    3\n  Skipped:   0\n  Duration:  1.00ms\n\n",
    },
    Host {
        parser: "mocha",
        begin: " passing (",
        end: " passing (",
        run: "\n\n  A\n@    \u{2714} one\n@    1) two\n@    \u{2714} three\n\n\n  2 passing (5ms)\n  1 failing\n\n\
            \x20 1) A\n       two:\n     Error: @\n      at Context.<anonymous> (a.js:5:9)\n\n\n\n",
        green: "\n\n  A\n    \u{2714} one\n    \u{2714} two\n    \u{2714} three\n\n\n  3 passing (5ms)\n\n",
    },
    Host {
        parser: "jest",
        begin: "Ran all test suites",
        end: "\nTests: ",
        run: "@FAIL ./a.test.js\n  A\n    \u{2713} one (1 ms)\n    \u{2715} two (2 ms)\n\n  \u{25cf} A \u{203a} two\n\n    \
            @\n\n      at Object.<anonymous> (a.test.js:5:9)\n\n  console.log\n    @\n\n      at Object.log (a.test.js:3:11)\n\n\
            Test Suites: 1 failed, 1 total\nTests:       1 failed, 1 passed, 2 total\nSnapshots:   0 total\n\
            Time:        0.5 s\nRan all test suites.\n",
        green: "PASS ./a.test.js\n  A\n    \u{2713} one (1 ms)\n    \u{2713} two (2 ms)\n\nTest Suites: 1 passed, 1 total\n\
            Tests:       2 passed, 2 total\nSnapshots:   0 total\nTime:        0.5 s\nRan all test suites.\n",
    },
    Host {
        parser: "rspec",
        begin: "\nFinished in ",
        end: " examples, ",
        run: "\nA\n@  one\n@  two (FAILED - 1)\n@  three\n\nFailures:\n\n  1) A two\n     Failure/Error: fail 'x'\n\n     \
            RuntimeError:\n       @\n     # ./a_spec.rb:5:in `block (2 levels) in <top (required)>'\n\n\
            Finished in 0.01 seconds (files took 0.1 seconds to load)\n3 examples, 1 failure\n\nFailed examples:\n\n\
            rspec ./a_spec.rb:4 # A two\n\n",
        green: "\nA\n  one\n  two\n  three\n\nFinished in 0.01 seconds (files took 0.1 seconds to load)\n\
            3 examples, 0 failures\n\n",
    },
    Host {
        parser: "testunit",
        begin: "Loaded suite ",
        end: "Finished in ",
        run: "Loaded suite a\nStarted\nA: \n  test_one:\t@.: (0.000319)\n  test_two:\t@F\n\
            ===============================================================================\nFailure: test_two(A)\n\
            a.rb:5:in `test_two'\n     4: def test_two\n  => 5:   flunk '@'\n     6: end\n@\n\
            ===============================================================================\n: (0.0437)\n\nFinished in 0.01 seconds.\n\
            -------------------------------------------------------------------------------\n\
            2 tests, 2 assertions, 1 failures, 0 errors, 0 pendings, 0 omissions, 0 notifications\n50% passed\n\
            -------------------------------------------------------------------------------\n",
        green: "Loaded suite a\nStarted\nA: \n  test_one:\t.: (0.000319)\n  test_two:\t.: (0.000319)\n\nFinished in 0.01 seconds.\n\
            -------------------------------------------------------------------------------\n\
            2 tests, 2 assertions, 0 failures, 0 errors, 0 pendings, 0 omissions, 0 notifications\n100% passed\n\
            -------------------------------------------------------------------------------\n",
    },
    Host {
        parser: "unittest",
        begin: "\nRan ",
        end: "\nRan ",
        run: "test_one (a.A.test_one) ... @ok\ntest_two (a.A.test_two) ... @FAIL\n\n\
            ======================================================================\nFAIL: test_two (a.A.test_two)\n\
            ----------------------------------------------------------------------\nTraceback (most recent call last):\n  \
            File \"a.py\", line 5, in test_two\n    self.fail()\nAssertionError: @\n\n\
            ----------------------------------------------------------------------\nRan 2 tests in 0.001s\n\n\
            FAILED (failures=1)\n",
        green: "test_one (a.A.test_one) ... ok\ntest_two (a.A.test_two) ... ok\n\n\
            ----------------------------------------------------------------------\nRan 2 tests in 0.001s\n\nOK\n",
    },
    Host {
        parser: "gtest",
        begin: "[==========] Running ",
        end: " ran. (",
        run: "[==========] Running 2 tests from 1 test suite.\n[----------] Global test environment set-up.\n\
            [----------] 2 tests from A\n[ RUN      ] A.one\n@[       OK ] A.one (0 ms)\n[ RUN      ] A.two\n@a.cc:5: Failure\n\
            x @\n[  FAILED  ] A.two (0 ms)\n[----------] 2 tests from A (0 ms total)\n\n\
            [----------] Global test environment tear-down\n[==========] 2 tests from 1 test suite ran. (0 ms total)\n\
            [  PASSED  ] 1 test.\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] A.two\n\n 1 FAILED TEST\n",
        green: "[==========] Running 2 tests from 1 test suite.\n[----------] Global test environment set-up.\n\
            [----------] 2 tests from A\n[ RUN      ] A.one\n[       OK ] A.one (0 ms)\n[ RUN      ] A.two\n\
            [       OK ] A.two (0 ms)\n[----------] 2 tests from A (0 ms total)\n\n\
            [----------] Global test environment tear-down\n[==========] 2 tests from 1 test suite ran. (0 ms total)\n\
            [  PASSED  ] 2 tests.\n",
    },
    Host {
        parser: "ctest",
        begin: "Test project ",
        end: "% tests passed, ",
        run: "Test project /b\n    Start 1: one\n1/2 Test #1: one ..............................   Passed    0.01 sec\n\
            \x20   Start 2: two\n2/2 Test #2: two ..............................***Failed    0.01 sec\n@\n\n\
            50% tests passed, 1 tests failed out of 2\n\nTotal Test time (real) =   0.01 sec\n\n\
            The following tests FAILED:\n\t  2 - two (Failed)\nErrors while running CTest\n",
        green: "Test project /b\n    Start 1: one\n1/2 Test #1: one ..............................   Passed    0.01 sec\n\
            \x20   Start 2: two\n2/2 Test #2: two ..............................   Passed    0.01 sec\n\n\
            100% tests passed, 0 tests failed out of 2\n\nTotal Test time (real) =   0.01 sec\n",
    },
    Host {
        parser: "tape",
        begin: "TAP version 13",
        end: "# tests ",
        run: "TAP version 13\n# A\n@ok 1 one\n# B\n@not ok 2 two\n  ---\n    operator: fail\n    at: @\n  ...\n\n\
            1..2\n# tests 2\n# pass  1\n# fail  1\n\n",
        green: "TAP version 13\n# A\nok 1 one\n# B\nok 2 two\n\n1..2\n# tests 2\n# pass  2\n\n# ok\n\n",
    },
    Host {
        parser: "nodetest",
        begin: "\u{2139} tests ",
        end: "\u{2139} pass ",
        run: "@\u{25b6} A\n  \u{2714} one (1.5ms)\n  \u{2716} two (1.5ms)\n\u{25b6} A (2.5ms)\n\u{2139} tests 2\n\u{2139} suites 1\n\
            \u{2139} pass 1\n\u{2139} fail 1\n\u{2139} cancelled 0\n\u{2139} skipped 0\n\u{2139} todo 0\n\u{2139} duration_ms 10.5\n\n\
            \u{2716} failing tests:\n\ntest at a.js:5:3\n\u{2716} two (1.5ms)\n  Error: @\n      at a.js:5:3\n",
        green: "\u{25b6} A\n  \u{2714} one (1.5ms)\n  \u{2714} two (1.5ms)\n\u{25b6} A (2.5ms)\n\u{2139} tests 2\n\u{2139} suites 1\n\
            \u{2139} pass 2\n\u{2139} fail 0\n\u{2139} cancelled 0\n\u{2139} skipped 0\n\u{2139} todo 0\n\u{2139} duration_ms 10.5\n",
    },
    Host {
        parser: "meson",
        begin: "Ok:  ",
        end: "Full log written to ",
        run: "1/2 demo:unit / one        OK              0.01s\n2/2 demo:unit / two        FAIL            0.01s   exit status 1\n\
            \u{2015}\u{2015}\u{2015}\u{2015}\u{2015}\u{2015}\u{2015}\u{2015} \u{2700} \u{2015}\u{2015}\u{2015}\u{2015}\u{2015}\u{2015}\u{2015}\u{2015}\n\
            stdout:\n@\n\u{2015}\u{2015}\u{2015}\u{2015}\u{2015}\u{2015}\u{2015}\u{2015}\u{2015}\u{2015}\u{2015}\u{2015}\u{2015}\u{2015}\u{2015}\u{2015}\n\n\
            Ok:                 1   \nExpected Fail:      0   \nFail:               1   \nUnexpected Pass:    0   \n\
            Skipped:            0   \nTimeout:            0   \n\nFull log written to /b/meson-logs/testlog.txt\n",
        green: "1/2 demo:unit / one        OK              0.01s\n2/2 demo:unit / two        OK              0.01s\n\n\
            Ok:                 2   \nExpected Fail:      0   \nFail:               0   \nUnexpected Pass:    0   \n\
            Skipped:            0   \nTimeout:            0   \n\nFull log written to /b/meson-logs/testlog.txt\n",
    },
];
