//! gotestsum's own lines.

use crate::edges::is_number;
use atlas_core::TestStatus;

/// A test's result: `PASS pkg.TestA/b (re-run 1) (0.00s)`, or an entry of the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome<'a> {
    pub(super) status: TestStatus,
    pub(super) package: &'a str,
    /// Empty where a package failed and none of its tests did.
    pub(super) test: &'a str,
    /// How often the test had been run before.
    pub(super) rerun: u64,
    /// The test's end was seen.
    pub(super) ended: bool,
}

/// The first words by which a program's tests are known to Go.
const KINDS: [&str; 4] = [".Test", ".Example", ".Fuzz", ".Benchmark"];

/// `(0.00s)`, or `(unknown)` of a test that was running when its process died, at a text's end.
fn without_time(text: &str) -> Option<(&str, bool)> {
    let (rest, time) = text.strip_suffix(')')?.rsplit_once('(')?;
    let rest = rest.strip_suffix(' ')?;
    if time == "unknown" {
        return Some((rest, false));
    }
    let (whole, part) = time.strip_suffix('s')?.split_once('.')?;
    (is_number(whole) && is_number(part)).then_some((rest, true))
}

/// ` (re-run 2)` at a text's end.
fn without_rerun(text: &str) -> (&str, u64) {
    text.strip_suffix(')')
        .and_then(|text| text.rsplit_once(" (re-run "))
        .and_then(|(rest, number)| Some((rest, number.parse().ok()?)))
        .unwrap_or((text, 0))
}

/// A result of the formats `testname` and `github-actions`, at the end of a line: neither package
/// nor test has a blank in its name.
pub(super) fn result(line: &str) -> Option<Outcome<'_>> {
    let (rest, ended) = without_time(line)?;
    let (rest, rerun) = without_rerun(rest);
    let (front, name) = rest.rsplit_once(' ')?;
    let status = if front.ends_with("PASS") {
        TestStatus::Passed
    } else if front.ends_with("FAIL") {
        TestStatus::Failed
    } else if front.ends_with("SKIP") {
        TestStatus::Skipped
    } else {
        return None;
    };
    // The tests of the module's first package stand alone.
    let alone = KINDS.iter().any(|kind| name.starts_with(&kind[1..]));
    let (package, test) = if alone {
        (".", name)
    } else {
        let at = KINDS.iter().filter_map(|kind| name.find(kind)).min()?;
        (&name[..at], &name[at + 1..])
    };
    (!package.is_empty()).then_some(Outcome {
        status,
        package,
        test,
        rerun,
        ended,
    })
}

/// An entry of the summary: `=== FAIL: pkg TestA (0.00s)`.
pub(super) fn entry(line: &str) -> Option<Outcome<'_>> {
    let rest = line.strip_prefix("=== ")?;
    let (status, rest) = match rest.strip_prefix("FAIL: ") {
        Some(rest) => (TestStatus::Failed, rest),
        None => (TestStatus::Skipped, rest.strip_prefix("SKIP: ")?),
    };
    let (rest, ended) = without_time(rest)?;
    let (rest, rerun) = without_rerun(rest);
    let (package, test) = rest.split_once(' ')?;
    (!package.is_empty() && !test.contains(' ')).then_some(Outcome {
        status,
        package,
        test,
        rerun,
        ended,
    })
}

/// The last line: `DONE 2 runs, 34 tests, 3 skipped, 12 failures, 1 error in 0.642s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) runs: u64,
    pub(super) tests: u64,
    pub(super) skipped: u64,
    pub(super) failures: u64,
}

pub(super) fn done(line: &str) -> Option<Done> {
    let (counts, time) = line.strip_prefix("DONE ")?.rsplit_once(" in ")?;
    time.strip_suffix('s')?.parse::<f64>().ok()?;
    let mut done = Done {
        runs: 1,
        ..Done::default()
    };
    let mut named = false;
    for count in counts.split(", ") {
        let (number, what) = count.split_once(' ')?;
        let number = number.parse().ok()?;
        match what {
            "run" | "runs" => done.runs = number,
            "test" | "tests" => {
                named = true;
                done.tests = number;
            }
            "skipped" => done.skipped = number,
            "failure" | "failures" => done.failures = number,
            "error" | "errors" => {}
            _ => return None,
        }
    }
    named.then_some(done)
}

/// Whose line tells of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Package {
    /// `go test`: `ok  \tpackage`.
    Standard,
    /// The formats that name tests: `PASS package (0.1s)`.
    Named,
    /// Those that do not: an icon and the package, or `[package]` and an icon for each test.
    Compact,
}

fn icon(text: &str) -> bool {
    text.chars().next().is_some_and(|first| !first.is_ascii())
}

/// A package and remarks: `package (cached) (coverage: 1.0% of statements)`.
fn is_package(text: &str) -> bool {
    let (package, remarks) = text.split_once(' ').unwrap_or((text, "()"));
    !package.is_empty() && remarks.starts_with('(') && remarks.ends_with(')')
}

pub(super) fn package(line: &str) -> Option<Package> {
    if ["ok  \t", "FAIL\t", "?   \t"]
        .iter()
        .any(|front| line.starts_with(front))
    {
        return Some(Package::Standard);
    }
    if let Some((package, tests)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let named = !package.is_empty() && !package.contains(' ');
        return (named && icon(tests)).then_some(Package::Compact);
    }
    let (mark, rest) = line.trim_start_matches(' ').split_once(' ')?;
    if matches!(mark, "PASS" | "FAIL" | "EMPTY") {
        let rest = rest.strip_prefix("Package ").unwrap_or(rest);
        let compact = rest.trim_start_matches(' ');
        return is_package(compact).then_some(if compact == rest {
            Package::Named
        } else {
            Package::Compact
        });
    }
    let rest = rest.trim_start_matches(' ');
    (icon(mark) && mark.chars().count() <= 2 && is_package(rest)).then_some(Package::Compact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_from_the_end_of_the_line() {
        let read = result("no end PASS gopkg.in/a.v2.TestA/b.TestC (re-run 1) (0.10s)").unwrap();
        assert_eq!(read.package, "gopkg.in/a.v2");
        assert_eq!((read.test, read.rerun), ("TestA/b.TestC", 1));
        assert_eq!(result("PASS TestA (0.00s)").unwrap().package, ".");
        assert_eq!(result("PASS a (cached)"), None);
        assert_eq!(result("PASS a (0.01s)"), None);
    }

    #[test]
    fn entries_may_name_no_test() {
        let read = entry("=== FAIL: pkg TestA/x_(1.23s)_ (unknown)").unwrap();
        assert_eq!((read.test, read.ended), ("TestA/x_(1.23s)_", false));
        assert_eq!(entry("=== FAIL: pkg  (0.00s)").unwrap().test, "");
        assert_eq!(entry("=== FAIL: some words here (0.00s)"), None);
    }

    #[test]
    fn packages_tell_the_format() {
        let all = [
            ("ok  \ta/b\t0.1s", Some(Package::Standard)),
            ("PASS a/b (cached)", Some(Package::Named)),
            ("  FAIL Package a/b", Some(Package::Named)),
            ("✖  a/b (113ms)", Some(Package::Compact)),
            ("PASS  a/b (113ms)", Some(Package::Compact)),
            ("[a/b]·✖↷", Some(Package::Compact)),
            ("[a/b] words", None),
            ("✓ some words", None),
        ];
        for (line, expected) in all {
            assert_eq!(package(line), expected, "{line}");
        }
    }

    #[test]
    fn the_end_counts_runs() {
        let read = done("DONE 2 runs, 34 tests, 3 skipped, 12 failures, 1 error in 0.642s");
        assert_eq!(
            read.unwrap(),
            Done {
                runs: 2,
                tests: 34,
                skipped: 3,
                failures: 12
            }
        );
        assert_eq!(done("DONE 3 things in 0.1s"), None);
    }
}
