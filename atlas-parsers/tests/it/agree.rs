//! The console and the report of one run say the same.

use crate::support::crate_root;
use atlas_core::{LogParserExt, ParsedLog, TestStatus};
use atlas_parsers::Parsers;
use std::collections::BTreeMap;

fn parse(parser: &str, path: &str) -> ParsedLog {
    let bytes = std::fs::read(crate_root().join("src").join(path)).unwrap();
    Parsers::builtin().get(parser).unwrap().parse(&bytes)
}

/// `a/test_b.py::TestC::test_d[p]` as a report's `a.test_b.TestC::test_d[p]`.
fn as_reported(id: &str) -> String {
    let (path, params) = id.find('[').map_or((id, ""), |open| id.split_at(open));
    let (file, names) = path.split_once("::").unwrap();
    let mut class = file.strip_suffix(".py").unwrap().replace('/', ".");
    let mut name = names;
    if let Some((outer, last)) = names.rsplit_once("::") {
        class = format!("{class}.{}", outer.replace("::", "."));
        name = last;
    }
    format!("{class}::{name}{params}")
}

#[test]
fn pytest_console_and_report_agree() {
    let report = parse("junit", "common/junit/corpus/pytest_traps.xml");
    let reported = report.tests();
    for console in [
        "traps_verbose",
        "traps_summary",
        "traps_very_verbose",
        "traps_no_capture",
    ] {
        let log = parse("pytest", &format!("python/pytest/corpus/{console}.log"));
        assert_eq!(log.consistent, Some(true), "{console}");
        for (id, status) in log.tests() {
            // The report does not tell unexpected passes from others.
            let expected = if status == TestStatus::Xpass {
                TestStatus::Passed
            } else {
                status
            };
            let name = as_reported(id);
            assert_eq!(
                reported.get(name.as_str()),
                Some(&expected),
                "{console}: {id}"
            );
        }
        // The report also has the module that skipped itself.
        assert_eq!(log.results.len() + 1, reported.len(), "{console}");
    }
}

#[test]
fn every_python_reads_the_same() {
    let newest = parse("unittest", "python/unittest/corpus/traps_3_13.log");
    let newest = newest.qualified();
    for older in ["traps_3_8", "traps_3_11"] {
        let older = parse("unittest", &format!("python/unittest/corpus/{older}.log"));
        assert_eq!(older.qualified(), newest);
    }
    let dots = parse("unittest", "python/unittest/corpus/traps_dots.log");
    let failing: Vec<_> = newest.iter().filter(|(_, s)| s.is_failing()).collect();
    assert_eq!(dots.qualified().iter().collect::<Vec<_>>(), failing);
}

#[test]
fn mochas_formats_agree() {
    let read = |name| {
        parse(
            "mocha",
            &format!("javascript/mocha/corpus/own-traps-{name}"),
        )
    };
    let json = read("json.log");
    let in_one_text = |id: &str| id.replace(" > ", " ");
    let joined: BTreeMap<String, TestStatus> = json
        .tests()
        .iter()
        .map(|(id, status)| (in_one_text(id), *status))
        .collect();
    for name in ["tap.log", "list-7.log"] {
        let read = read(name);
        let tests = read.tests();
        assert!(
            tests.iter().all(|(id, s)| joined.get(*id) == Some(s)),
            "{name}"
        );
        assert_eq!(tests.len(), joined.len(), "{name}");
    }
    // json-stream has no event for a pending test; min names failures only.
    let ran = |status: &TestStatus| *status != TestStatus::Skipped;
    let stream = read("json-stream.log");
    let json = json.tests();
    assert_eq!(
        stream.tests().len(),
        json.values().filter(|s| ran(s)).count()
    );
    assert!(stream.tests().iter().all(|(id, s)| json.get(id) == Some(s)));
    let spec = read("spec-11.log");
    for (id, status) in spec.tests() {
        let ghost = id.contains("ghost");
        // A known limit: in one text, a suite beside `Deeper` looks like one in it.
        let id = id.replace("> Deeper two >", "> Deeper > two >");
        assert!(ghost || json.get(id.as_str()) == Some(&status), "{id}");
    }
    let failing = json.values().filter(|status| status.is_failing()).count();
    assert_eq!(read("min.log").results.len(), failing);
}

#[test]
fn jasmines_reporters_agree() {
    let tree = parse("jasmine", "javascript/jasmine/corpus/own-traps-tree-5.log");
    let dots = parse(
        "jasmine",
        "javascript/jasmine/corpus/own-traps-default-5-random.log",
    );
    let tree = tree.tests();
    let named = tree
        .iter()
        .filter(|(_, status)| **status != TestStatus::Passed);
    assert!(named.eq(dots.tests().iter()));
}
