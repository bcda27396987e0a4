//! `ThrowTheSwitch` Unity: `file.c:12:test_name:PASS`, alone or below `ctest -V`.
//!
//! The line is that of the test for a pass and of the assertion for a failure, so it is no part of
//! an id; the file is the test's for both, and its name without folders tells programs apart. Programs end with `3 Tests 1 Failures 0 Ignored`; the lines since
//! the last end are believed when there are as many as that says.

use crate::cpp::build::number;
use crate::edges::is_number;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::runs::Runs;
use crate::tally::{Tally, in_module};
use crate::text::clean;
use atlas_core::{LineState, ParsedLog, ParsedLogBuilder, TestStatus, Totals};
use std::collections::BTreeMap;

/// Unity.
pub(crate) static UNITY: Shipped = Shipped::new(
    "unity",
    &About {
        languages: &["c"],
        aliases: &["ceedling"],
        without_report: crate::cpp::WITHOUT_REPORT,
        ..About::new(
            "Unity 2: `file:line:name:PASS`, alone or inside `ctest -V`",
            "the program of a test; passing tests of the fixture extension without -v; what \
             `ctest` says of a program, for which its own parser is",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["0-9", "*"], "", "*", ""),
    Look(["*", "*"], "*", "S", ""),
]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'0'..=b'9' if summary(line).is_some() => {
            Place::End.certain("a `Tests Failures Ignored` line")
        }
        _ if line.ends_with(b":PASS") && result(line).is_some() => {
            Place::Within.hint("a `file:1:name:PASS` line")
        }
        _ => None,
    }
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    /// By the number that `ctest -V` puts in front; one without.
    programs: BTreeMap<Option<u64>, Tally>,
    runs: Runs,
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        let line = clean(line);
        let (test, line) = match number(&line) {
            Some((test, rest)) if rest.starts_with(b": ") => {
                (Some(test), rest.get(2..).unwrap_or_default())
            }
            _ => (None, &*line),
        };
        if let Some((file, name, status)) = result(line) {
            let program = self.programs.entry(test).or_default();
            program.add(file, name, status);
        } else if let Some(totals) = summary(line) {
            let mut program = self.programs.remove(&test).unwrap_or_default();
            program.add_totals(totals);
            let agrees = program.agrees(&totals);
            self.runs.close(program, agrees, &mut self.log, in_module);
        }
    }

    fn finish(mut self) -> ParsedLog {
        let unended = !self.programs.is_empty();
        for program in self.programs.into_values() {
            self.runs.close(program, None, &mut self.log, in_module);
        }
        if unended {
            self.runs.consistent = self.runs.consistent.map(|_| false);
        }
        self.runs.finish(self.log, false)
    }
}

/// The file, name and status of `dir/file.c:12:name:PASS`, `…:FAIL: why`, `…:IGNORE: why`.
fn result(line: &[u8]) -> Option<(&str, &str, TestStatus)> {
    const WORDS: &[(&[u8], TestStatus)] = &[
        (b":PASS", TestStatus::Passed),
        (b":FAIL", TestStatus::Failed),
        (b":IGNORE", TestStatus::Skipped),
    ];
    let (at, rest, status) = memchr::memchr_iter(b':', line).find_map(|at| {
        let tail = line.get(at..)?;
        let (word, status) = WORDS.iter().find(|(word, _)| tail.starts_with(word))?;
        Some((at, tail.get(word.len()..)?, *status))
    })?;
    let told = match status {
        TestStatus::Passed => rest.is_empty() || rest.starts_with(b" ("),
        _ => rest.is_empty() || rest.starts_with(b": ") || rest.starts_with(b" ("),
    };
    let head = std::str::from_utf8(line.get(..at)?).ok()?;
    // `TEST(group, name)` of the fixture extension has a comma and a blank.
    let (place, name) = head.rsplit_once(':')?;
    let (file, row) = place.rsplit_once(':')?;
    let placed = !file.is_empty() && !file.contains(' ') && is_number(row);
    let plain = name.bytes().all(|byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'(' | b')' | b',' | b' ')
    });
    (told && placed && plain && !name.trim().is_empty()).then_some((
        file.rsplit(['/', '\\']).next()?,
        name,
        status,
    ))
}

/// `3 Tests 1 Failures 0 Ignored `
fn summary(line: &[u8]) -> Option<Totals> {
    let (total, rest) = number(line)?;
    let (failed, rest) = number(rest.strip_prefix(b" Tests ")?)?;
    let (skipped, rest) = number(rest.strip_prefix(b" Failures ")?)?;
    (rest.strip_prefix(b" Ignored")?.trim_ascii().is_empty()).then_some(Totals {
        total: Some(total),
        failed: Some(failed),
        skipped: Some(skipped),
        ..Totals::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use atlas_core::LogParserExt;
    use atlas_core::RunOutcome;

    #[test]
    fn programs_below_ctest_are_told_apart_by_their_number() {
        let log = b"2: /p/a.c:3:test_x:PASS\n1: b.c:9:test_x:FAIL: no\n2: 1 Tests 0 Failures 0 Ignored \n\
            1: 1 Tests 1 Failures 0 Ignored \n";
        let log = UNITY.parse(log);
        assert_eq!(log.consistent, Some(true));
        assert_eq!(log.qualified()["a.c::test_x"], TestStatus::Passed);
        assert_eq!(log.qualified()["b.c::test_x"], TestStatus::Failed);
        assert_eq!(log.outcome, RunOutcome::Completed);
    }

    #[test]
    fn prose_with_a_colon_is_no_test() {
        for line in [
            "note: 1:PASS",
            "see x.c:PASS",
            "x.c:12:a b c:PASSED",
            "::PASS",
        ] {
            assert_eq!(result(line.as_bytes()), None, "{line}");
        }
    }
}
