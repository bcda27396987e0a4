//! The lines of hand-written test programs.

use crate::edges::is_number;
use atlas_core::TestStatus;

/// A verdict and what stands behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict<'a> {
    pub(super) status: TestStatus,
    /// `[pass]` and `[fail]` are said of tests; `[ok]` and `ok:` of anything.
    pub(super) strong: bool,
    pub(super) name: &'a str,
}

/// Reads `[pass] name`, `[ FAIL ] name`, `ok: name`, `FAILED: name`.
pub(super) fn verdict(line: &str) -> Option<Verdict<'_>> {
    const LONGEST: usize = 12;
    if let Some(inner) = line.strip_prefix('[') {
        let end = inner.bytes().take(LONGEST).position(|byte| byte == b']')?;
        let (word, name) = (inner.get(..end)?, inner.get(end + 1..)?);
        let (status, strong) = status(word.trim())?;
        return name_of(name).map(|name| Verdict {
            status,
            strong,
            name,
        });
    }
    let (word, name) = line.split_once(": ")?;
    let (status, _) = status(word)?;
    name_of(name).map(|name| Verdict {
        status,
        strong: false,
        name,
    })
}

/// The verdict behind output that did not end its line: `-->[pass] name`.
pub(super) fn glued(line: &str) -> Option<Verdict<'_>> {
    let (at, _) = line.rmatch_indices('[').find(|(at, _)| {
        *at > 0
            && line
                .get(*at..)
                .and_then(verdict)
                .is_some_and(|found| found.strong)
    })?;
    // Behind a blank it is more likely a part of a sentence.
    let before = line.get(..at)?;
    if before.ends_with(char::is_whitespace) {
        return None;
    }
    verdict(line.get(at..)?)
}

fn name_of(text: &str) -> Option<&str> {
    // A dash or a colon may stand between.
    let name = text.trim_start_matches([' ', '\t', ':']).trim_end();
    let name = name.strip_prefix("- ").unwrap_or(name);
    (!name.is_empty()).then_some(name)
}

/// What a word says of a test, and whether it is said of tests alone.
fn status(word: &str) -> Option<(TestStatus, bool)> {
    const WORDS: &[(&str, TestStatus, bool)] = &[
        ("pass", TestStatus::Passed, true),
        ("passed", TestStatus::Passed, true),
        ("fail", TestStatus::Failed, true),
        ("failed", TestStatus::Failed, true),
        ("ok", TestStatus::Passed, false),
        ("not ok", TestStatus::Failed, false),
        ("error", TestStatus::Failed, false),
        ("skip", TestStatus::Skipped, false),
        ("skipped", TestStatus::Skipped, false),
    ];
    WORDS
        .iter()
        .find(|(known, ..)| word.eq_ignore_ascii_case(known))
        .map(|(_, status, strong)| (*status, *strong))
}

/// The halves of the value behind a name, `[expected][found]`, and the name before it.
pub(super) fn pair(text: &str) -> Option<(&str, &str, &str)> {
    let (name, value) = valued(text)?;
    let inner = value.strip_prefix('[')?.strip_suffix(']')?;
    // Values may hold brackets: equal halves are parted in the middle.
    let half = inner.len().checked_sub(2)? / 2;
    if let (Some(expected), Some("]["), Some(found)) = (
        inner.get(..half),
        inner.get(half..half + 2),
        inner.get(half + 2..),
    ) {
        return Some((name, expected, found));
    }
    let (expected, found) = inner.split_once("][")?;
    Some((name, expected, found))
}

/// A name and what stands in brackets behind it, to the end of the line or beyond.
pub(super) fn valued(text: &str) -> Option<(&str, &str)> {
    let at = text.find(" [")?;
    let name = text.get(..at)?.trim_end();
    (!name.is_empty()).then_some((name, text.get(at + 1..)?))
}

/// Whether the value behind a name goes on: its brackets are not closed, or the last does not end it.
pub(super) fn is_open(text: &str) -> bool {
    let Some((_, value)) = valued(text) else {
        return false;
    };
    let count = |c: char| value.matches(c).count();
    value.starts_with('[') && (count('[') > count(']') || !value.ends_with(']'))
}

/// What a program counts at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) passed: u64,
    pub(super) failed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Number(u64),
    Passed,
    Failed,
    Skipped,
    /// `tests`, which may stand for a number of its own or behind another's.
    All,
}

/// Reads `Pass 521, Fail 0`, `3 passed, 1 failed`, `Tests: 4 Passed: 3 Failed: 1`: numbers and words
/// of counting by turns, and nothing else.
pub(super) fn count(line: &str) -> Option<Count> {
    const LONGEST: usize = 160;
    if line.len() > LONGEST || !line.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut words: Vec<Word> = Vec::new();
    for text in line.split(|c: char| !c.is_alphanumeric()) {
        let Some(word) = word(text)? else {
            continue;
        };
        match (words.last_mut(), word) {
            // `3 tests passed`, `passed tests: 3`
            (Some(last @ Word::All), Word::Passed | Word::Failed | Word::Skipped) => *last = word,
            (Some(Word::Passed | Word::Failed | Word::Skipped), Word::All) => {}
            _ => words.push(word),
        }
    }
    let (mut passed, mut failed) = (None, None);
    let pairs = words.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    for pair in pairs {
        let (Word::Number(value), label) = (match (pair, words.first()) {
            ([value, label], Some(Word::Number(_))) | ([label, value], Some(_)) => (*value, *label),
            _ => return None,
        }) else {
            return None;
        };
        let twice = match label {
            Word::Passed => passed.replace(value).is_some(),
            Word::Failed => failed.replace(value).is_some(),
            Word::Skipped | Word::All => false,
            Word::Number(_) => true,
        };
        if twice {
            return None;
        }
    }
    Some(Count {
        passed: passed?,
        failed: failed?,
    })
}

/// A word of a count; nothing where it does not matter. No count has any other.
#[expect(
    clippy::option_option,
    reason = "a word that does not matter is another thing than one that may not be there"
)]
fn word(text: &str) -> Option<Option<Word>> {
    const WORDS: &[(&str, Word)] = &[
        ("pass", Word::Passed),
        ("passed", Word::Passed),
        ("passes", Word::Passed),
        ("succeeded", Word::Passed),
        ("fail", Word::Failed),
        ("failed", Word::Failed),
        ("fails", Word::Failed),
        ("failure", Word::Failed),
        ("failures", Word::Failed),
        ("skip", Word::Skipped),
        ("skipped", Word::Skipped),
        ("test", Word::All),
        ("tests", Word::All),
        ("check", Word::All),
        ("checks", Word::All),
        ("total", Word::All),
    ];
    const FILLERS: &[&str] = &["", "and", "ran", "result", "results", "summary"];
    if is_number(text) {
        return Some(Some(Word::Number(text.parse().ok()?)));
    }
    let known = WORDS
        .iter()
        .find(|(known, _)| text.eq_ignore_ascii_case(known));
    if let Some((_, word)) = known {
        return Some(Some(*word));
    }
    let filler = FILLERS.iter().any(|known| text.eq_ignore_ascii_case(known));
    filler.then_some(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_in_either_order() {
        for line in [
            "Pass 3, Fail 1",
            "3 passed, 1 failed",
            "PASSED: 3 FAILED: 1",
            "Tests: 4 Passed: 3 Failed: 1",
            "ran 4 tests: 3 passed, 1 failed, 0 skipped",
            "3 tests passed, 1 test failed",
            "== Summary: 3 pass / 1 fail ==",
        ] {
            let counted = Count {
                passed: 3,
                failed: 1,
            };
            assert_eq!(count(line), Some(counted), "{line}");
        }
        for line in [
            "3 of 4 tests passed",
            "we saw 3 passed and 1 failed",
            "3 passed",
            "passed failed 3 1",
            "1 failed, 1 failed, 3 passed",
            "pass 99999999999999999999999, fail 0",
        ] {
            assert_eq!(count(line), None, "{line}");
        }
    }

    #[test]
    fn verdicts_stand_at_the_start_and_have_a_name() {
        let read = |line| verdict(line).map(|v| (v.status, v.strong, v.name));
        let passed = TestStatus::Passed;
        assert_eq!(read("[pass] a b"), Some((passed, true, "a b")));
        assert_eq!(read("[ PASSED ]: a"), Some((passed, true, "a")));
        assert_eq!(read("[OK] - a"), Some((passed, false, "a")));
        assert_eq!(read("ok: a"), Some((passed, false, "a")));
        for line in [
            "[pass]",
            "[passing] a",
            " [pass] a",
            "pass a",
            "okay: a",
            "[x] pass",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
        assert_eq!(glued("-->[fail] a").map(|v| v.name), Some("a"));
        for line in ["we saw [pass] a", "[pass] a", "x[ok] a"] {
            assert_eq!(glued(line), None, "{line}");
        }
    }

    #[test]
    fn values_are_parted_in_the_middle_where_that_fits() {
        assert_eq!(pair("a [1][1]"), Some(("a", "1", "1")));
        assert_eq!(pair("a [x][y][x][y]"), Some(("a", "x][y", "x][y")));
        assert_eq!(pair("a [true][false]"), Some(("a", "true", "false")));
        assert_eq!(pair("a[1][2]"), None);
        assert_eq!(pair("a [1]"), None);
        assert_eq!(pair("a []"), None);
    }
}
