//! A test may print a whole run of its own runner: what the other tests came to does not change.

use crate::support::parser_folders;
use atlas_core::{LogParserExt, ParsedLog, RunOutcome};
use atlas_parsers::Parsers;

/// A run, with `@` where what a test prints or says stands.
struct Host {
    parser: &'static str,
    /// What a log begins a run with.
    begin: &'static str,
    /// What a log ends a run with; those are left out that have it twice, and so hold a printed run
    /// themselves.
    end: &'static str,
    run: &'static str,
}

const HOSTS: &[Host] = &[
    Host {
        parser: "minitest",
        begin: "# Running:",
        end: " assertions/s.",
        run: "Run options: -v --seed 1\n\n# Running:\n\nAT#test_one = @0.00 s = .\n\
            AT#test_two = @0.01 s = F\n\nFinished in 0.1s, 20.0 runs/s, 20.0 assertions/s.\n\n\
            \x20 1) Failure:\nAT#test_two [a.rb:1]:\n@\n\n\
            2 runs, 2 assertions, 1 failures, 0 errors, 0 skips\n",
    },
    Host {
        parser: "phpunit",
        begin: " by Sebastian Bergmann and contributors.",
        end: "\nTime: ",
        run: "PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n\n.@F@ 2 / 2 (100%)\n\n\
            Time: 00:00.010, Memory: 4.00 MB\n\nThere was 1 failure:\n\n1) ATest::test_two\n@\n\n\
            FAILURES!\nTests: 2, Assertions: 2, Failures: 1.\n",
    },
    Host {
        parser: "check",
        begin: "Running suite(s): ",
        end: "%: Checks: ",
        run: "Running suite(s): A\n@\n@\n50%: Checks: 2, Failures: 1, Errors: 0\n\
            a.c:3:P:core:one:0: Passed\na.c:4:F:core:two:0: x\n",
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
    },
    Host {
        parser: "cargo",
        begin: "running ",
        end: "running ",
        run: "     Running unittests src/lib.rs (target/debug/deps/a-0123456789abcdef)\n\n\
            running 2 tests\n@\ntest one ... ok\n@\ntest two ... FAILED\n\nfailures:\n\n\
            ---- two stdout ----\n@\n\nfailures:\n    two\n\n\
            test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
    },
    Host {
        parser: "jasmine",
        begin: "Started\n",
        end: " specs, ",
        run: "Started\n.@F@\n\nFailures:\n1) A two\n  Message:\n    x\n  Stack:\n        at a\n\n\
            2 specs, 1 failure\nFinished in 0.1 seconds\n",
    },
    Host {
        parser: "mocha",
        begin: "  1 passing",
        end: " passing",
        run: "\n\n  .@!\n\n  1 passing (2ms)\n  1 failing\n\n  1) A\n       two:\n     Error: @\n      at a\n\n\n",
    },
];

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
        printed.push(("green".to_owned(), green(host.parser).to_owned()));
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
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Whether a test that failed is read as another status, or not at all.
fn lies(own: &ParsedLog, read: &ParsedLog) -> bool {
    let read = read.tests();
    own.tests()
        .iter()
        .any(|(name, status)| status.is_failing() && read.get(name).is_none_or(|s| !s.is_failing()))
}

/// The host's tests, all of them passed.
fn green(parser: &str) -> &'static str {
    match parser {
        "minitest" => {
            "Run options: -v --seed 1\n\n# Running:\n\nAT#test_one = 0.00 s = .\nAT#test_two = 0.00 s = .\n\n\
             Finished in 0.1s, 20.0 runs/s, 20.0 assertions/s.\n\n\
             2 runs, 2 assertions, 0 failures, 0 errors, 0 skips\n"
        }
        "phpunit" => {
            "PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n\n.. 2 / 2 (100%)\n\n\
             Time: 00:00.010, Memory: 4.00 MB\n\nOK (2 tests, 2 assertions)\n"
        }
        "check" => {
            "Running suite(s): A\n100%: Checks: 2, Failures: 0, Errors: 0\n\
             a.c:3:P:core:one:0: Passed\na.c:4:P:core:two:0: Passed\n"
        }
        "pytest" => {
            "============================= test session starts ==============================\n\
             collected 2 items\n\ntest_a.py::test_one PASSED\ntest_a.py::test_two PASSED\n\n\
             ============================== 2 passed in 0.01s ===============================\n"
        }
        "cargo" => {
            "\nrunning 2 tests\ntest one ... ok\ntest two ... ok\n\n\
             test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
        }
        "jasmine" => "Started\n..\n\n\n2 specs, 0 failures\nFinished in 0.1 seconds\n",
        "mocha" => "\n\n  ..\n\n  2 passing (2ms)\n\n",
        _ => "",
    }
}
