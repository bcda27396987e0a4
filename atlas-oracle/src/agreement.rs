//! Console against structured report.

use atlas_core::{ParsedLog, ReportAgreement, TestStatus};
use std::collections::BTreeMap;

/// The most differences that a report lists.
const MAX_DIFFERENCES: usize = 20;

/// Compares what the console and a structured report say of the same run.
///
/// The two spell ids differently (`tests/test_a.py::test_x` and `tests.test_a::test_x`), so tests
/// are matched by the last part of their id, and statuses by what they mean: passing, failing or
/// skipped. A console that does not name passing tests is compared on what it names.
pub fn compare(file: &str, console: &ParsedLog, report: &ParsedLog) -> ReportAgreement {
    let (left, right) = (leaves(console), leaves(report));
    let names_passing = console.results.iter().any(|test| test.status.is_passing())
        || !report.results.iter().any(|test| test.status.is_passing());
    let mut differences = Vec::new();
    for (leaf, said) in &left {
        if right.get(leaf) != Some(said) {
            differences.push(format!(
                "{leaf}: console {said}, report {}",
                right
                    .get(leaf)
                    .map_or_else(|| "nothing".to_owned(), ToString::to_string)
            ));
        }
    }
    for (leaf, said) in &right {
        if !left.contains_key(leaf) && (names_passing || said.failing > 0) {
            differences.push(format!("{leaf}: console nothing, report {said}"));
        }
    }
    let agrees = differences.is_empty();
    differences.truncate(MAX_DIFFERENCES);
    ReportAgreement {
        file: file.to_owned(),
        parser: report.parser.clone(),
        console_tests: console.results.len(),
        report_tests: report.results.len(),
        agrees,
        differences,
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Said {
    passing: u32,
    failing: u32,
    skipped: u32,
}

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts: Vec<String> = [
            (self.passing, "passing"),
            (self.failing, "failing"),
            (self.skipped, "skipped"),
        ]
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, word)| format!("{n} {word}"))
        .collect();
        f.write_str(&parts.join(" and "))
    }
}

fn leaves(log: &ParsedLog) -> BTreeMap<String, Said> {
    let mut map: BTreeMap<String, Said> = BTreeMap::new();
    for test in &log.results {
        // A module that did not load is no test; the two sides name it in ways of their own.
        if test.name == test.module || log.modules_not_loaded.iter().any(|m| m.module == test.name)
        {
            continue;
        }
        let said = map.entry(leaf(test.name)).or_default();
        match test.status {
            // xfail is a skip in JUnit's eyes and a pass in others'.
            TestStatus::Skipped | TestStatus::Xfail => said.skipped += 1,
            status if status.is_passing() => said.passing += 1,
            _ => said.failing += 1,
        }
    }
    map
}

/// The last part of an id, parameters included: after the last separator that stands before them.
pub(crate) fn leaf(id: &str) -> String {
    let head_end = id.find(['[', '(']).unwrap_or(id.len());
    let (head, tail) = id.split_at(head_end);
    let cut = ["::", " > ", " › ", "#"]
        .iter()
        .filter_map(|sep| head.rfind(sep).map(|at| at + sep.len()))
        .max()
        .unwrap_or(0);
    let head = &head[cut..];
    // A dotted path (`module.Class.test`) only where nothing else separates.
    let head = if cut == 0 && !head.contains(' ') {
        head.rsplit('.').next().unwrap_or(head)
    } else {
        head
    };
    let whole = format!("{head}{tail}");
    if whole.trim().is_empty() {
        id.to_owned()
    } else {
        whole
    }
}
