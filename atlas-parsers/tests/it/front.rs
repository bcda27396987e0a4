//! Logs as CI systems and terminals store them.

use crate::support::parser_folders;
use atlas_core::{LogParserExt, ParsedLog, TestStatus};
use atlas_parsers::{BUILTIN, Certainty, Hints, Parsers, detect};
use std::fmt::Write as _;

/// The log with something in front of each line.
fn framed(log: &[u8], front: impl Fn(usize) -> String) -> Vec<u8> {
    let mut framed = Vec::new();
    for (number, line) in log.split_inclusive(|byte| *byte == b'\n').enumerate() {
        framed.extend_from_slice(front(number).as_bytes());
        framed.extend_from_slice(line);
    }
    framed
}

/// Seconds and parts of them that grow with the lines.
fn time(number: usize) -> String {
    let (minutes, seconds) = (number / 60 % 60, number % 60);
    format!("2024-05-01T10:{minutes:02}:{seconds:02}")
}

/// What CI systems and tools put in front of a line.
type Front = (&'static str, fn(usize) -> String);

const FRONTS: [Front; 9] = [
    ("GitHub Actions", |n| format!("{}.1234567Z ", time(n))),
    ("GitLab", |n| format!("{}.123456Z 01O ", time(n))),
    ("Jenkins", |n| format!("[{}.123Z] ", time(n))),
    ("docker logs -t", |n| format!("{}.123456789Z ", time(n))),
    ("AppVeyor", |n| {
        format!("[00:{:02}:{:02}] ", n / 60 % 60, n % 60)
    }),
    ("gh run view --log", |n| {
        let mark = if n == 0 { "\u{feff}" } else { "" };
        format!("test (a, b)\tRun tests\t{mark}{}.1234567Z ", time(n))
    }),
    ("docker compose", |_| "tests-1  | ".to_owned()),
    ("act", |_| "[CI/test-1]   | ".to_owned()),
    ("docker build", |n| {
        format!("#12 {}.{:03} ", n / 10, n % 1000)
    }),
];

#[test]
fn a_log_reads_the_same_whoever_puts_something_in_front_of_its_lines() {
    let parsers = Parsers::builtin();
    let (mut compared, mut nth) = (0, 0);
    for folder in parser_folders() {
        let parser = parsers.get(&folder.id).unwrap();
        for path in folder.corpus() {
            let log = std::fs::read(&path).unwrap();
            let found = detect(&log, &Hints::default());
            let lines = log.split(|byte| *byte == b'\n');
            let few = lines.filter(|line| !line.trim_ascii().is_empty()).count() < 3;
            if log.len() > 16_000 || few || found.confidence < Certainty::Certain {
                continue;
            }
            let read = parser.parse(&log);
            if read != bare(&folder.id, &log) {
                // It is a raw log already.
                continue;
            }
            // All of them would take a minute.
            nth += 1;
            for (name, front) in FRONTS.iter().skip(nth % 3).step_by(3) {
                let raw = framed(&log, front);
                let place = format!("{name}: {}", path.display());
                assert_eq!(
                    detect(&raw, &Hints::default()).parser,
                    found.parser,
                    "{place}"
                );
                assert_eq!(parser.parse(&raw), read, "{place}");
                compared += 1;
            }
        }
    }
    assert!(compared > 300, "{compared}");
}

/// What a parser reads that is given the log as it is.
fn bare(id: &str, log: &[u8]) -> ParsedLog {
    let runner = BUILTIN.iter().find(|runner| runner.id() == id).unwrap();
    runner.parse(log)
}

/// Corpus logs that are raw, or that were drawn on a terminal.
fn is_raw(name: &str) -> bool {
    const DRAWN: [&str; 4] = [
        "times_in_front.log",
        "terminal_default.log",
        "terminal_verbose.log",
        "terminal_list.log",
    ];
    name.starts_with("ci_") || DRAWN.contains(&name)
}

#[test]
fn a_log_with_nothing_in_front_is_not_changed() {
    let parsers = Parsers::builtin();
    for folder in parser_folders() {
        let parser = parsers.get(&folder.id).unwrap();
        for path in folder.corpus() {
            let log = std::fs::read(&path).unwrap();
            let name = path.file_name().unwrap().to_str().unwrap();
            let same = parser.parse(&log) == bare(&folder.id, &log);
            assert!(same || is_raw(name), "{}", path.display());
        }
    }
}

fn read(parser: &str, log: &str) -> ParsedLog {
    let parsers = Parsers::builtin();
    let parser = parsers.get(parser).unwrap();
    let read = parser.parse(log.as_bytes());
    let mut pieces = parser.start();
    for byte in log.as_bytes() {
        pieces.feed(std::slice::from_ref(byte));
    }
    assert_eq!(pieces.finish(), read);
    read
}

const GO: &str = "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    b_test.go:3: no\n\
    --- FAIL: TestB (0.00s)\nFAIL\nFAIL\texample.com/a\t0.01s\nFAIL\n";

#[test]
fn a_test_that_prints_times_does_not_make_a_log_raw() {
    let mut log = String::from("=== RUN   TestA\n");
    for number in 0..50 {
        let _ = writeln!(
            log,
            "{}.123Z --- PASS: TestForged{number} (0.00s)",
            time(number)
        );
    }
    log.push_str("--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n");
    let found = read("gotest", &log);
    assert_eq!(
        found.tests().into_iter().collect::<Vec<_>>(),
        [("TestA", TestStatus::Passed)]
    );
    // Nor does a whole raw log that a test prints, as long as it is: the runner's own lines are without.
    let nested = String::from_utf8(framed(GO.repeat(20).as_bytes(), FRONTS[0].1)).unwrap();
    let log = format!(
        "=== RUN   TestA\n{nested}--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n"
    );
    let found = read("gotest", &log);
    assert_eq!(
        found.tests().into_iter().collect::<Vec<_>>(),
        [("TestA", TestStatus::Passed)]
    );
}

#[test]
fn an_applications_own_log_lines_are_not_changed() {
    let line = |n| format!("{}.123456Z  INFO FAIL: not a result\n", time(n));
    let log: String = (0..20).map(line).collect();
    assert_eq!(read("automake", &log), bare("automake", log.as_bytes()));
}

#[test]
fn a_stretch_with_times_is_read_and_its_lines_keep_their_numbers() {
    // Jenkins stamps what runs inside a `timestamps` block, and not its own lines.
    let inside = "[2024-05-01T10:00:00.123Z] ";
    let mut log = String::from("Started by user a\nRunning on b in /c\n[Pipeline] timestamps\n");
    for line in "# example.com/b [example.com/b.test]\nb/b_test.go:3:1: undefined: x\nFAIL\texample.com/b [build failed]"
        .lines()
        .chain(GO.lines())
    {
        let _ = writeln!(log, "{inside}{line}");
    }
    log.push_str("[Pipeline] }\nFinished: FAILURE\n");
    let found = read("gotest", &log);
    assert_eq!(found.results.len(), 2);
    let lost = &found.modules_not_loaded[0];
    for proof in &lost.lines {
        let line = log.lines().nth(proof.line.unwrap() - 1).unwrap();
        assert!(line.ends_with(&proof.text), "{proof:?}: {line}");
    }
    assert_eq!(
        detect(log.as_bytes(), &Hints::default()).parser.as_deref(),
        Some("gotest")
    );
}

#[test]
fn commands_of_the_ci_system_stand_in_no_results_way() {
    let mut log = String::from("\u{feff}");
    let lines = "##[group]Run npx jest\nnpx jest\n##[endgroup]\nPASS src/a.test.js (5.1 s)\n  thing\n    \
        ✓ works (3 ms)\n##[error]  ● not a test\nTest Suites: 1 passed, 1 total\n\
        Tests:       1 passed, 1 total\nTime:        1 s\n##[error]Process completed with exit code 1.";
    for (number, line) in lines.lines().enumerate() {
        let _ = write!(log, "{}.1234567Z {line}\r\n", time(number));
    }
    let found = read("jest", &log);
    assert_eq!(
        found.qualified().into_keys().collect::<Vec<_>>(),
        ["src/a.test.js > thing > works"]
    );
    assert_eq!(found.consistent, Some(true));
}

#[test]
fn jobs_and_services_are_read_apart() {
    let go: Vec<&str> = GO.lines().collect();
    let other = "=== RUN   TestC\n--- PASS: TestC (0.00s)\nPASS\nok  \texample.com/c\t0.01s\n";
    let mut log = String::from("Attaching to db-1, one-1, two-1\n");
    let mut other = other.lines();
    for line in go {
        let _ = writeln!(log, "one-1  | {line}\ndb-1   | LOG:  FAIL: TestB");
        if let Some(line) = other.next() {
            let _ = writeln!(log, "two-1  | {line}");
        }
    }
    let found = read("gotest", &log);
    let tests: Vec<_> = found.qualified().into_iter().collect();
    assert_eq!(
        tests,
        [
            ("example.com/a::TestA", TestStatus::Passed),
            ("example.com/a::TestB", TestStatus::Failed),
            ("example.com/c::TestC", TestStatus::Passed),
        ]
    );
    // Each with its own runner.
    let cargo = "running 1 test\ntest tests::b ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; \
        0 measured; 0 filtered out; finished in 0.01s\n";
    let job = |name: &str, log: &str| {
        String::from_utf8(framed(log.as_bytes(), |n| {
            format!("{name}\tRun\t{}.1234567Z ", time(n))
        }))
        .unwrap()
    };
    let log = job("go", GO) + &job("rust", cargo) + &job("lint", "all is well\n");
    let found = detect(log.as_bytes(), &Hints::default());
    assert_eq!(found.parser.as_deref(), Some("gotest+cargo"));
    assert_eq!(found.confidence, Certainty::Certain);
    assert_eq!(read("gotest+cargo", &log).results.len(), 3);
}

#[test]
fn a_line_of_gitlab_that_goes_on_is_one() {
    let log = "2024-05-01T10:00:00.000000Z 00O section_start:1:step_script\r\x1b[0K\n\
        2024-05-01T10:00:00.000000Z 00O+\x1b[0K\x1b[36;1mExecuting\x1b[0;m\n\
        2024-05-01T10:00:00.000001Z 01O running 1 test\n2024-05-01T10:00:00.000001Z 01O test tests::a ...\n\
        2024-05-01T10:00:00.000002Z 01O+ ok\n2024-05-01T10:00:00.000003Z 01O \n\
        2024-05-01T10:00:00.000003Z 01O test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; \
        0 filtered out; finished in 0.01s\n";
    let found = read("cargo", log);
    assert_eq!(found.consistent, Some(true));
    assert_eq!(found.results.len(), 1);
}
