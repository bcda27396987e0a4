//! The lines of trial's reporters.

use crate::edges::behind_any;
use atlas_core::{TestStatus, Totals};

/// The columns of the tree; the rules are as long.
const COLUMNS: usize = 79;

/// The kinds of entries below the results, in the order in which the reporters list them.
pub(super) const LISTED: [(&str, TestStatus); 5] = [
    ("[SKIPPED]", TestStatus::Skipped),
    ("[TODO]", TestStatus::Xfail),
    ("[FAIL]", TestStatus::Failed),
    ("[ERROR]", TestStatus::Error),
    ("[SUCCESS!?!]", TestStatus::Xpass),
];

/// The words behind a test: those of the lists, and two more.
const WORDS: [(&str, TestStatus); 7] = [
    ("[OK]", TestStatus::Passed),
    ("[FAILURE]", TestStatus::Failed),
    LISTED[0],
    LISTED[1],
    LISTED[2],
    LISTED[3],
    LISTED[4],
];

/// A rule of the reporters.
pub(in crate::python) fn is_rule(line: &[u8], rule: u8) -> bool {
    line.len() == COLUMNS && line.iter().all(|byte| *byte == rule)
}

/// The words at the end of a line, first to last, and the text in front of them.
pub(super) fn words(line: &str) -> (&str, Vec<(&'static str, TestStatus)>) {
    let mut rest = line;
    let mut found = Vec::new();
    while let Some(word) = WORDS.iter().find(|(word, _)| rest.ends_with(word)) {
        rest = &rest[..rest.len() - word.0.len()];
        found.push(*word);
    }
    found.reverse();
    (rest, found)
}

/// The begin of a test's line: `    test_x ... ` of the tree, `pkg.mod.Class.test_x ... ` of the plain
/// reporters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Begin<'a> {
    /// Of the tree, how many blanks stand in front of it.
    pub(super) indent: usize,
    /// The method in the tree, else the whole name.
    pub(super) name: &'a str,
    /// How many columns it fills, with the blanks and the dots.
    pub(super) width: usize,
    /// What stands behind the dots.
    pub(super) rest: &'a str,
}

impl<'a> Begin<'a> {
    pub(super) fn of(line: &'a str) -> Option<Self> {
        let (front, rest) = line
            .split_once(" ... ")
            .or_else(|| Some((line.strip_suffix(" ...")?, "")))?;
        let name = front.trim_start_matches(' ');
        let indent = front.len() - name.len();
        let begin = Self {
            indent,
            name,
            width: front.chars().count() + " ... ".len(),
            rest,
        };
        let in_tree = matches!(indent, 2 | 4) && !name.contains('.');
        // A name that code set may hold blanks: there the columns must be right.
        let plain = !name.contains(char::is_whitespace);
        let is_name = name.starts_with(|c: char| c == '_' || c.is_alphanumeric());
        let fits = plain || begin.in_columns() && begin.is_complete();
        (is_name && (indent == 0 || in_tree) && fits).then_some(begin)
    }

    /// Whether the tree sets its word to the right.
    pub(super) fn in_columns(&self) -> bool {
        self.indent > 0
    }

    /// Whether it is one even though no word ends the line: others print `Loading ... ` as well.
    pub(super) fn is_plain(&self) -> bool {
        let mut parts = self.name.split('.');
        let is_part = |part: &str| part.starts_with(|c: char| c == '_' || c.is_alphabetic());
        self.in_columns() || self.name.matches('.').count() >= 2 && parts.all(is_part)
    }

    /// Whether the words of the test end the line.
    pub(super) fn is_complete(&self) -> bool {
        !self.ends(self.rest).is_empty()
    }

    /// The words of this test at the end of a text, which stands behind the dots or in a later line.
    pub(super) fn ends(&self, text: &str) -> Vec<TestStatus> {
        ends(text, self.in_columns().then_some(self.width))
    }
}

/// The words at the end of a text of a test whose begin fills so many columns of the tree. There the word
/// is set to the right by that width whatever the test printed, so another test's word does not fit.
pub(super) fn ends(text: &str, width: Option<usize>) -> Vec<TestStatus> {
    let (front, words) = words(text);
    let Some(width) = width else {
        return words.into_iter().map(|(_, status)| status).collect();
    };
    let [(word, status)] = words[..] else {
        return Vec::new();
    };
    let blanks = front.len() - front.trim_end_matches(' ').len();
    let fits = blanks >= COLUMNS.saturating_sub(width + word.len());
    fits.then_some(vec![status]).unwrap_or_default()
}

/// A line of the tree that names a module or a class.
pub(super) fn header(line: &str) -> Option<(usize, &str)> {
    let name = line.trim_start_matches(' ');
    let indent = line.len() - name.len();
    let is_name = name.starts_with(|c: char| !c.is_ascii_punctuation() || matches!(c, '_' | '.'));
    (matches!(indent, 0 | 2) && is_name && !name.contains(char::is_whitespace))
        .then_some((indent, name))
}

/// `Ran 3 tests in 0.001s`.
pub(super) fn ran(line: &str) -> Option<u64> {
    let (number, time) = line.strip_prefix("Ran ")?.split_once(" tests in ")?;
    time.strip_suffix('s')?.parse::<f64>().ok()?;
    number.parse().ok()
}

/// `Running 25 tests.`, with several workers.
pub(super) fn running(line: &str) -> bool {
    let number = line
        .strip_prefix("Running ")
        .and_then(|rest| rest.strip_suffix(" tests."));
    number.is_some_and(|number| number.parse::<u64>().is_ok())
}

/// `PASSED (successes=85)`, `FAILED (skips=1, failures=1, errors=2, successes=82)`. What is none is not named.
pub(super) fn summary(line: &str) -> Option<Totals> {
    let rest = behind_any(line, &["PASSED", "FAILED"])?;
    let mut totals = Totals {
        passed: Some(0),
        failed: Some(0),
        errors: Some(0),
        skipped: Some(0),
        xfailed: Some(0),
        xpassed: Some(0),
        ..Totals::default()
    };
    if rest.is_empty() {
        return Some(totals);
    }
    for part in rest.strip_prefix(" (")?.strip_suffix(')')?.split(", ") {
        let (name, number) = part.split_once('=')?;
        let place = match name {
            "successes" => &mut totals.passed,
            "failures" => &mut totals.failed,
            "errors" => &mut totals.errors,
            "skips" => &mut totals.skipped,
            "expectedFailures" => &mut totals.xfailed,
            "unexpectedSuccesses" => &mut totals.xpassed,
            _ => return None,
        };
        *place = Some(number.parse().ok()?);
    }
    Some(totals)
}

/// Whether a summary has words that no other runner's has.
pub(super) fn is_own_summary(line: &str) -> bool {
    const OWN: [&str; 4] = [
        "successes=",
        "skips=",
        "expectedFailures=",
        "unexpectedSuccesses=",
    ];
    OWN.iter().any(|word| line.contains(word)) && summary(line).is_some()
}

/// The last line of `--reporter=summary`: seconds, tests, tests, errors, failures and skips.
pub(super) fn numbers(line: &str) -> Option<Totals> {
    let mut parts = line.split(' ');
    parts.next()?.parse::<f64>().ok()?;
    let mut numbers = Vec::new();
    for part in parts {
        numbers.push(part.parse::<u64>().ok()?);
    }
    let [tests, again, errors, failed, skipped] = numbers[..] else {
        return None;
    };
    (tests == again).then_some(Totals {
        total: Some(tests),
        errors: Some(errors),
        failed: Some(failed),
        skipped: Some(skipped),
        ..Totals::default()
    })
}

/// Whether the first frame of a traceback is trial's own loader, so that no test ran.
pub(super) fn is_loader(frame: &str) -> bool {
    const FUNCTIONS: [&str; 5] = [
        ", in loadByName",
        ", in loadPackage",
        ", in loadModule",
        ", in loadFile",
        ", in findByName",
    ];
    let file = frame.trim_start().strip_prefix("File \"");
    file.and_then(|file| file.split_once("\", line "))
        .is_some_and(|(path, rest)| {
            path.replace('\\', "/").ends_with("twisted/trial/runner.py")
                && FUNCTIONS.iter().any(|function| rest.ends_with(function))
        })
}

/// How many letters of the text reporter stand at the begin of a line, and in all of it: output without a line
/// end may be on both sides of one.
pub(super) fn letters(line: &str) -> (u64, u64) {
    let is_letter = |byte: &u8| b".EFST!".contains(byte);
    let front = line.bytes().take_while(|byte| is_letter(byte)).count();
    let all = line.bytes().filter(is_letter).count();
    (front as u64, all as u64)
}
