//! Which runner printed a log.

use crate::support::{crate_root, entries, name, parser_folders};
use atlas_core::{LogParserExt, TestStatus};
use atlas_parsers::{Certainty, Hints, Parsers, detect};

#[test]
fn each_corpus_log_is_known_or_unknown_but_not_anothers() {
    let parsers = Parsers::builtin();
    let folders = parser_folders();
    let formats: Vec<&str> = folders
        .iter()
        .filter(|folder| folder.path.parent().unwrap().ends_with("common"))
        .map(|folder| folder.id.as_str())
        .collect();
    for folder in &folders {
        for path in folder.corpus() {
            let log = std::fs::read(&path).unwrap();
            let found = detect(&log, &Hints::default());
            let Some(id) = found.parser.as_deref().filter(|id| *id != folder.id) else {
                continue;
            };
            // A document of a common format may be known as its writer's, who reads it as well or better; and a
            // runner's output that is nothing but such a format is likely that.
            let common = folder.path.parent().unwrap().ends_with("common");
            let tests = |id| parsers.get(id).unwrap().parse(&log).results.len();
            let plain = found.confidence == Certainty::Likely && formats.contains(&id);
            // A driver may show its programs' lines, which have their own runner's marks.
            let driver = id.split('+').next() == Some(&folder.id) && found.sections.is_empty();
            assert!(
                plain || driver || common && tests(id) >= tests(&folder.id),
                "{}: {found:?}",
                path.display()
            );
        }
    }
}

/// Its last totals stand below the line that tells it from others.
#[test]
fn the_totals_of_node_s_runner_are_its_own_where_another_follows() {
    let log = "\u{2714} adds (0.5ms)\n\u{2714} adds more (1.25ms)\n\u{2139} tests 2\n\u{2139} suites 0\n\u{2139} pass 2\n\
        \u{2139} fail 0\n\u{2139} cancelled 0\n\u{2139} skipped 0\n\u{2139} todo 0\n\u{2139} duration_ms 9.5\n\
        PASS test/a.spec.js\n  \u{2713} works (6 ms)\n\nTest Suites: 1 passed, 1 total\n\
        Tests:       1 passed, 1 total\nSnapshots:   0 total\nTime:        0.7 s\n";
    let found = detect(log.as_bytes(), &Hints::default());
    assert_eq!(found.parser.as_deref(), Some("nodetest+jest"));
    let parsers = Parsers::builtin();
    let read = parsers.get("nodetest+jest").unwrap().parse(log.as_bytes());
    assert_eq!(read.outcome, atlas_core::RunOutcome::Completed);
    assert_eq!(read.totals.and_then(|totals| totals.total), Some(3));
    assert_eq!(read.results.len(), 3);
}

#[test]
fn marks_beat_the_command_and_the_command_beats_the_language() {
    let log = b"=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n";
    let hints = Hints {
        command: Some("make check && cargo test"),
        language: Some("rust"),
    };
    let found = detect(log, &hints);
    assert_eq!(found.parser.as_deref(), Some("gotest"));
    assert_eq!(found.confidence, Certainty::Certain);

    let silent = detect(b"nothing to see\n", &hints);
    assert_eq!(silent.parser.as_deref(), Some("cargo"));
    assert_eq!(silent.confidence, Certainty::Likely);

    let language = Hints {
        command: None,
        language: Some("python"),
    };
    let unknown = detect(b"nothing to see\n", &language);
    assert_eq!(
        (unknown.parser, unknown.confidence),
        (None, Certainty::Unknown)
    );
}

const GO: &str = "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n";
const CARGO: &str = "     Running unittests src/lib.rs (target/debug/deps/a-0123456789abcdef)\n\n\
    running 1 test\ntest tests::b ... FAILED\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; \
    0 measured; 0 filtered out; finished in 0.01s\n\nerror: test failed, to rerun pass `--lib`\n";

#[test]
fn what_a_test_starts_is_no_section() {
    // A failing test's output: a run of the same runner, then one of another.
    let inner = "=== test session starts ===\ncollected 1 item\n\nchild.py::test_child PASSED [100%]\n\n\
        === 1 passed in 0.01s ===\ntest_in (inner.T.test_in) ... ok\n\n-----\nRan 1 test in 0.001s\n\nOK\n";
    let log = format!(
        "=== test session starts ===\ncollected 2 items\n\ntest_o.py::test_a PASSED [ 50%]\n\
         test_o.py::test_b FAILED [100%]\n\n=== FAILURES ===\n___ test_b ___\n\n>   assert False\nE   assert False\n\n\
         test_o.py:8: AssertionError\n--- Captured stdout call ---\n{inner}=== short test summary info ===\n\
         FAILED test_o.py::test_b - assert False\n=== 1 failed, 1 passed in 0.40s ===\n"
    );
    let found = detect(log.as_bytes(), &Hints::default());
    assert_eq!(found.parser.as_deref(), Some("pytest"), "{found:?}");
    // A run that died leaves the next one its section.
    let died =
        "=== test session starts ===\ncollected 2 items\n\ntest_o.py::test_a PASSED [ 50%]\n";
    let whole = format!("{died}\n=== 1 passed in 0.01s ===\n");
    let found = detect(
        format!("{died}{whole}{GO}{whole}").as_bytes(),
        &Hints::default(),
    );
    let ids: Vec<_> = found.sections.iter().map(|s| s.parser.as_str()).collect();
    assert_eq!(ids, ["pytest", "gotest", "pytest"]);
}

#[test]
fn two_runners_below_each_other_are_read_each_by_its_own_parser() {
    let log = format!("building\n{GO}now the other one\n{CARGO}");
    let found = detect(log.as_bytes(), &Hints::default());
    assert_eq!(found.parser.as_deref(), Some("gotest+cargo"));
    let ids: Vec<_> = found.sections.iter().map(|s| s.parser.as_str()).collect();
    assert_eq!(ids, ["gotest", "cargo"]);
    assert_eq!(found.sections[0].start, 0);
    assert_eq!(found.sections[1].start, found.sections[0].end);
    assert_eq!(found.sections[1].end, log.len() as u64);

    let parser = Parsers::builtin().get("gotest+cargo").unwrap();
    let read = parser.parse(log.as_bytes());
    assert_eq!(read.parser, "gotest+cargo");
    let tests = read.tests();
    assert_eq!(tests["TestA"], TestStatus::Passed);
    assert_eq!(tests["tests::b"], TestStatus::Failed);
    assert_eq!(tests.len(), 2);
    assert_eq!(read.consistent, None); // Go declares no totals

    let command = Hints {
        command: Some("go test ./... ; cargo test"),
        language: None,
    };
    assert_eq!(detect(log.as_bytes(), &command).sections, found.sections);
}

#[test]
fn a_command_that_names_its_one_runner_makes_the_other_a_tests_output() {
    let log = format!("{GO}{CARGO}");
    let hints = |command| Hints {
        command: Some(command),
        language: None,
    };
    let found = detect(log.as_bytes(), &hints("go test ./..."));
    assert_eq!(found.parser.as_deref(), Some("gotest"));
    // A script may start anything.
    let found = detect(log.as_bytes(), &hints("go test ./... && make test"));
    assert_eq!(found.parser.as_deref(), Some("gotest+cargo"));
}

#[test]
fn what_stands_amid_a_run_is_its_tests_output() {
    let pytest = "=== test session starts ===\ncollected 1 item\n\na.py::test_x PASSED [100%]\n";
    let end = "=== 1 passed in 0.01s ===\n";
    let log = format!("{pytest}{GO}{end}");
    let found = detect(log.as_bytes(), &Hints::default());
    assert_eq!(found.parser.as_deref(), Some("pytest"));
    // Behind its end, another runner stands for itself.
    let log = format!("{pytest}{end}{GO}");
    let found = detect(log.as_bytes(), &Hints::default());
    assert_eq!(found.parser.as_deref(), Some("pytest+gotest"));
    // And the same runner may come again.
    let log = format!("{pytest}{end}{GO}{pytest}{end}");
    let found = detect(log.as_bytes(), &Hints::default());
    let ids: Vec<_> = found.sections.iter().map(|s| s.parser.as_str()).collect();
    assert_eq!(ids, ["pytest", "gotest", "pytest"]);
}

/// One program's results have a single certain line; the line that begins them is the hint that they are a run.
#[test]
fn a_short_run_beside_another_runners_is_read_too() {
    let short = "running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; \
                 0 measured; 0 filtered out; finished in 0.01s\n\n";
    for (log, ids) in [
        (format!("{short}{GO}"), "cargo+gotest"),
        (format!("{GO}{short}"), "gotest+cargo"),
    ] {
        let found = detect(log.as_bytes(), &Hints::default());
        assert_eq!(found.parser.as_deref(), Some(ids));
        let read = Parsers::builtin().get(ids).unwrap().parse(log.as_bytes());
        assert_eq!(read.tests()["a"], TestStatus::Passed);
        assert_eq!(read.tests()["TestA"], TestStatus::Passed);
    }
    // Amid the other's lines a test printed it, and without a hint it is no run.
    let half = GO.find("---").unwrap();
    let amid = format!("{}{short}{}", &GO[..half], &GO[half..]);
    let line = short.lines().nth(3).unwrap();
    for log in [amid, format!("{line}\n{GO}")] {
        let found = detect(log.as_bytes(), &Hints::default());
        assert_eq!(found.parser.as_deref(), Some("gotest"), "{log}");
    }
}

#[test]
fn avas_tap_is_known_by_its_titles() {
    let whole = "TAP version 13\nok 1 - a › works\nok 2 - b › works\n\n1..2\n# tests 2\n# pass 2\n# fail 0\n";
    let found = detect(whole.as_bytes(), &Hints::default());
    assert_eq!(found.parser.as_deref(), Some("ava"));
    assert_eq!(found.confidence, Certainty::Likely);
    let lost = "TAP version 13\nnot ok 1 - test/a.js exited with a non-zero exit code: 1\n\n1..0\n";
    let found = detect(lost.as_bytes(), &Hints::default());
    assert_eq!(found.parser.as_deref(), Some("ava"));
    assert_eq!(found.confidence, Certainty::Certain);
    let other = detect(&whole.replace('›', "-").into_bytes(), &Hints::default());
    assert_eq!(other.parser.as_deref(), Some("tap"));
}

#[test]
fn hand_written_verdicts_are_no_more_than_likely() {
    let found = detect(b"[pass] a\n[fail] b\n", &Hints::default());
    assert_eq!(found.parser.as_deref(), Some("handmade"));
    assert_eq!(found.confidence, Certainty::Likely);
    for text in [
        "[ok] started\n[error] disk is full\n",
        "ok: [host]\nfailed: [other]\n3 passed, 1 failed\n",
        "see [pass] in the manual\n[info] 3 passed, 1 failed\n",
        "[PASS]\n[passing] a\n",
    ] {
        let found = detect(text.as_bytes(), &Hints::default());
        assert_eq!(found.parser, None, "{text}");
        let read = Parsers::builtin()
            .get("handmade")
            .unwrap()
            .parse(text.as_bytes());
        assert!(read.is_empty(), "{text}: {:?}", read.tests());
    }
}

#[test]
fn a_log_in_pieces_is_detected_the_same() {
    let log = format!("{GO}\nnow the other one\r\n{CARGO}");
    let whole = detect(log.as_bytes(), &Hints::default());
    for size in [1, 7, 100] {
        let mut detector = atlas_parsers::Detector::default();
        for piece in log.as_bytes().chunks(size) {
            detector.feed(piece);
        }
        assert_eq!(detector.finish(&Hints::default()), whole);
    }
}

#[test]
fn the_corpus_beside_the_workspace_is_detected() {
    let shared = crate_root().join("../../shared/corpus");
    let parsers = Parsers::builtin();
    let mut wrong = Vec::new();
    for framework in entries(&shared) {
        let id = name(&framework);
        let ours = parsers.get(&id).is_ok();
        for case in entries(&framework) {
            let (Ok(log), Ok(meta)) = (
                std::fs::read(case.join("log.txt")),
                std::fs::read(case.join("meta.json")),
            ) else {
                continue;
            };
            let meta: serde_json::Value = serde_json::from_slice(&meta).unwrap();
            let hints = Hints {
                command: meta["command"].as_str(),
                language: None,
            };
            let found = detect(&log, &hints);
            // Without a parser of its own, a log may look like that of the runner below it.
            let right = !ours || found.parser.as_deref() == Some(id.as_str());
            if !right {
                wrong.push(format!("{id}/{}: {found:?}", name(&case)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
