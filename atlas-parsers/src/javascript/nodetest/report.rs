//! The junit reporter: suites and tests with subtests are `<testsuite>` elements, the totals stand
//! in comments at the end.

use super::{Declared, FileLost, Found, TestFound, is_file};
use crate::javascript::junit::Cases;
use atlas_core::{Evidence, TestStatus};
use std::collections::BTreeSet;

/// The count of a line `<!-- tests 34 -->` at the document's own level.
pub(super) fn count(line: &[u8]) -> Option<&str> {
    let comment = line.strip_prefix(b"\t<!-- ")?.strip_suffix(b" -->")?;
    std::str::from_utf8(comment).ok()
}

/// Node escapes a quote in a name twice.
fn unquoted(name: &str) -> String {
    name.replace("&quot;", "\"")
}

/// The tests of the document.
pub(super) fn read(
    cases: Cases,
    declared: Option<Declared>,
    tests: &BTreeSet<Vec<String>>,
) -> Found {
    let mut found = Found {
        any: true,
        ..Found::default()
    };
    for case in cases.found {
        if case.suites.is_empty() && case.status == TestStatus::Failed && is_file(&case.name) {
            let line = usize::try_from(case.line).unwrap_or(usize::MAX);
            let text = format!("test case `{}`", case.name);
            found.files.push(FileLost {
                lines: vec![Evidence::at("log", line, text)],
                file: case.name,
            });
            continue;
        }
        let mut names = case.suites;
        names.push(case.name);
        found.results.push(TestFound {
            file: case.file,
            name: unquoted(&names.join(" > ")),
            status: case.status,
        });
    }
    let leaves = (found.results.len() + found.files.len()) as u64;
    let parents = cases.parents.len() as u64;
    let Some(declared) = declared else {
        return found;
    };
    let proven = cases
        .parents
        .iter()
        .filter(|(names, _)| tests.contains(names));
    let proven = declared.tests == leaves + proven.count() as u64;
    if proven || declared.tests == leaves + parents {
        for (names, failed) in cases.parents {
            if proven && !tests.contains(&names) {
                continue;
            }
            found.results.push(TestFound {
                file: String::new(),
                name: unquoted(&names.join(" > ")),
                status: if failed {
                    TestStatus::Failed
                } else {
                    TestStatus::Passed
                },
            });
        }
    } else if declared.tests != leaves {
        found.warnings.push(format!(
            "{parents} elements have children and the totals ({} tests) do not tell which of them \
             are tests; they are left out",
            declared.tests
        ));
    }
    found
}
