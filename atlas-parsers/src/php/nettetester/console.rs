//! Lines of the console, and the names of tests in all forms.

use crate::edges::before_any;
use crate::text::without_mark;
use atlas_core::TestStatus;
use std::borrow::Cow;
use std::path::Path;

/// A test as the runner calls it: a file and the arguments that it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signature {
    pub(super) id: String,
    /// Where the file's name ends.
    file: usize,
}

/// What the runner gives a file that holds several tests.
const ARGUMENTS: [&str; 3] = ["dataprovider=", "method=", "multiple="];
/// What stands between title and file, and in front of a title in lines.
const BETWEEN: &str = " | ";

impl Signature {
    /// Reads `a/b.phpt multiple=1`.
    pub(super) fn of(text: &str) -> Self {
        Self {
            id: text.to_owned(),
            file: file_len(text),
        }
    }

    /// Reads `A title | b.phpt multiple=1`. A title may hold what ends it, a file hardly ever does, and the
    /// name of a data set may too.
    pub(super) fn titled(text: &str) -> Self {
        let file = &text[..file_len(text)];
        let at = file.rfind(BETWEEN).map_or(0, |at| at + BETWEEN.len());
        Self::of(&text[at..])
    }

    pub(super) fn file(&self) -> &str {
        &self.id[..self.file]
    }

    pub(super) fn is_php(&self) -> bool {
        ends_as_php(self.file())
    }

    /// Whether it is a PHP file by its whole path.
    pub(super) fn is_whole_path(&self) -> bool {
        let file = self.file();
        let drive = file.as_bytes().get(1..3) == Some(b":\\");
        (file.starts_with('/') || drive) && self.is_php()
    }
}

fn ends_as_php(file: &str) -> bool {
    let end = Path::new(file).extension();
    end.is_some_and(|end| end == "phpt" || end == "php")
}

/// How long the name of the file is that a signature begins with.
fn file_len(text: &str) -> usize {
    text.match_indices(' ')
        .map(|(at, _)| at)
        .find(|at| {
            let behind = &text[at + 1..];
            let given = ARGUMENTS.iter().any(|name| behind.starts_with(name));
            given && ends_as_php(&text[..*at])
        })
        .unwrap_or(text.len())
}

/// What the runner itself wrote of a line: its colours are taken out, and where the cursor is sent
/// elsewhere, a message begins.
pub(super) fn printed(raw: &[u8]) -> Cow<'_, [u8]> {
    let raw = without_mark(raw);
    if memchr::memchr2(0x1b, b'\r', raw).is_none() {
        return Cow::Borrowed(raw);
    }
    let mut plain = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr::memchr2(0x1b, b'\r', rest) {
        plain.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let Some(behind) = colour(rest) else {
            return Cow::Owned(plain);
        };
        rest = behind;
    }
    plain.extend_from_slice(rest);
    Cow::Owned(plain)
}

/// What stands behind a sequence that sets a colour, or shows and hides the cursor.
fn colour(text: &[u8]) -> Option<&[u8]> {
    let rest = text.strip_prefix(b"\x1b[")?;
    let end = rest
        .iter()
        .position(|byte| !matches!(byte, b'0'..=b'9' | b';' | b'?'))?;
    matches!(rest[end], b'm' | b'h' | b'l').then(|| &rest[end + 1..])
}

/// `PHP 8.2.36 (cli) | php | 8 threads`
pub(super) fn is_header(line: &[u8]) -> bool {
    let Ok(line) = std::str::from_utf8(line) else {
        return false;
    };
    let threads = before_any(line, &[" threads", " thread"]);
    let counted = threads.and_then(|rest| rest.rsplit_once(BETWEEN));
    let version = line.strip_prefix("PHP ").unwrap_or_default();
    version.starts_with(|first: char| first.is_ascii_digit())
        && counted
            .is_some_and(|(rest, number)| number.parse::<u32>().is_ok() && rest.contains(") | "))
}

/// A result of `-o console-lines`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) file: String,
    /// The file with the title in brackets.
    pub(super) id: String,
    pub(super) status: TestStatus,
}

impl Line {
    /// Reads `· 3/12 Cart/add.phpt [a title] OK in 0.01 s ` and `· 4/12 ./b.phpt SKIP in 0.00 s [why]`.
    pub(super) fn of(line: &str) -> Option<Self> {
        let (numbers, rest) = line.strip_prefix("· ")?.split_once(' ')?;
        let (nth, all) = numbers.split_once('/')?;
        let (nth, all): (u64, u64) = (nth.parse().ok()?, all.parse().ok()?);
        let (named, status) = verdict(rest)?;
        // Files of the folder that all tests have in common.
        let named = named.strip_prefix("./").unwrap_or(named);
        (0 < nth && nth <= all && !named.is_empty()).then(|| Self {
            file: named[..untitled(named)].to_owned(),
            id: named.to_owned(),
            status,
        })
    }
}

/// Parts what is named and what is said of it. A reason to skip stands behind the verdict, and both
/// it and the title may hold the like of one.
fn verdict(text: &str) -> Option<(&str, TestStatus)> {
    const WORDS: [(&str, TestStatus); 3] = [
        (" OK", TestStatus::Passed),
        (" SKIP", TestStatus::Skipped),
        (" FAIL", TestStatus::Failed),
    ];
    let alone = text.trim_end().rsplit_once(" in ");
    let ends = alone.filter(|(_, time)| seconds(time) == Some(""));
    if let Some((head, _)) = ends {
        let mut words = WORDS.iter();
        return words.find_map(|(word, status)| Some((head.strip_suffix(word)?, *status)));
    }
    text.match_indices(" SKIP in ").find_map(|(at, word)| {
        let behind = seconds(&text[at + word.len()..])?;
        behind
            .starts_with(" [")
            .then(|| (&text[..at], TestStatus::Skipped))
    })
}

/// What stands behind `0.01 s`.
fn seconds(text: &str) -> Option<&str> {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
    (digits.len() < text.len())
        .then(|| digits.strip_prefix(" s"))
        .flatten()
}

/// Where the title begins in `a.phpt [a title]`, or the end.
fn untitled(named: &str) -> usize {
    let mut brackets = named.match_indices(" [").map(|(at, _)| at);
    brackets
        .find(|at| ends_as_php(&named[..*at]) && named.ends_with(']'))
        .unwrap_or(named.len())
}

/// The results that are shown as one letter each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Letters {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Letters {
    /// Reads `..sF.`.
    pub(super) fn read(&mut self, line: &[u8]) {
        if !line.iter().all(|letter| b".sF".contains(letter)) {
            return;
        }
        for letter in line {
            *match letter {
                b'.' => &mut self.passed,
                b's' => &mut self.skipped,
                _ => &mut self.failed,
            } += 1;
        }
    }

    /// Whether they are as many as the totals say, where there are any: `--cider` draws other ones.
    pub(super) fn agree(&self, counts: &Counts) -> bool {
        let all = self.passed + self.failed + self.skipped;
        let same = [
            (self.failed, counts.failed),
            (self.skipped, counts.skipped),
            (all, counts.ran()),
        ];
        all == 0 || same.iter().all(|(seen, declared)| seen == declared)
    }
}

/// What the last line declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) tests: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
    not_run: u64,
}

impl Counts {
    /// Reads `FAILURES! (32 tests, 2 failures, 1 skipped, 3 not run, 0.7 seconds)`.
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?.trim_end();
        let (failures, rest) = match line.strip_prefix("OK (") {
            Some(rest) => (false, rest),
            None => (true, line.strip_prefix("FAILURES! (")?),
        };
        let (parts, time) = rest.strip_suffix(" seconds)")?.rsplit_once(", ")?;
        if seconds(&format!("{time} s")) != Some("") {
            return None;
        }
        let mut counts = Self::default();
        for (nth, part) in parts.split(", ").enumerate() {
            let (number, what) = part.split_once(' ')?;
            let number = number.parse().ok()?;
            match what {
                "test" | "tests" if nth == 0 => counts.tests = number,
                "failure" | "failures" if nth > 0 => counts.failed = number,
                "skipped" if nth > 0 => counts.skipped = number,
                "not run" if nth > 0 => counts.not_run = number,
                _ => return None,
            }
        }
        (failures == (counts.failed > 0)).then_some(counts)
    }

    /// How many tests came to a result.
    pub(super) fn ran(&self) -> u64 {
        self.tests.saturating_sub(self.not_run)
    }

    pub(super) fn passed(&self) -> u64 {
        let others = self.failed.saturating_add(self.skipped);
        self.ran().saturating_sub(others)
    }
}

/// The file that a message says does not parse.
pub(super) fn unparsed(message: &str) -> Option<&str> {
    let text = message.strip_prefix("PHP ").unwrap_or(message);
    let (place, line) = text
        .strip_prefix("Parse error: ")?
        .rsplit_once(" on line ")?;
    line.parse::<u64>().ok()?;
    Some(place.rsplit_once(" in ")?.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_ends_with_its_arguments() {
        let read = |text| {
            let found = Signature::titled(text);
            (found.file().to_owned(), found.id)
        };
        let pair = |file: &str, id: &str| (file.to_owned(), id.to_owned());
        assert_eq!(read("a.phpt"), pair("a.phpt", "a.phpt"));
        assert_eq!(
            read("Adds | to [a] | b/ATest.php method=testOne"),
            pair("b/ATest.php", "b/ATest.php method=testOne")
        );
        assert_eq!(
            read("A | a.phpt dataprovider=x | y|/t/d.ini multiple=0"),
            pair("a.phpt", "a.phpt dataprovider=x | y|/t/d.ini multiple=0")
        );
        assert_eq!(
            read("has method=x | a b.phpt"),
            pair("a b.phpt", "a b.phpt")
        );
    }

    #[test]
    fn a_line_says_what_became_of_a_file() {
        let read = |text| Line::of(text).map(|line| (line.file, line.id, line.status));
        let is = |file: &str, id: &str, status| Some((file.to_owned(), id.to_owned(), status));
        assert_eq!(
            read("· 1/2 ./a (1) [2].phpt [it is OK in 0.01 s] FAIL in 0.10 s "),
            is(
                "a (1) [2].phpt",
                "a (1) [2].phpt [it is OK in 0.01 s]",
                TestStatus::Failed
            )
        );
        assert_eq!(
            read("· 2/2 b/c.phpt SKIP in 0.00 s [it OK in 0.01 s]"),
            is("b/c.phpt", "b/c.phpt", TestStatus::Skipped)
        );
        assert_eq!(
            read("· 2/2 b/c.phpt OK in 0,00 s"),
            is("b/c.phpt", "b/c.phpt", TestStatus::Passed)
        );
        assert_eq!(read("· 3/2 b/c.phpt OK in 0.00 s "), None);
        assert_eq!(read("· 1/2 b/c.phpt OK in a while"), None);
        assert_eq!(read("· 1/2 OK in 0.00 s"), None);
    }

    #[test]
    fn counts_have_one_form() {
        let read = |text: &str| Counts::of(text.as_bytes());
        let counts = read("FAILURES! (9 tests, 2 failures, 1 skipped, 3 not run, 0.7 seconds)");
        assert_eq!(
            counts.map(|c| (c.tests, c.failed, c.skipped, c.ran())),
            Some((9, 2, 1, 6))
        );
        assert!(read("OK (1 test, 0.0 seconds)").is_some());
        assert_eq!(read("OK (1 test, 2 assertions)"), None);
        assert_eq!(read("OK (1 test, 1 failure, 0.1 seconds)"), None);
        assert_eq!(read("FAILURES! (1 test, 0.1 seconds)"), None);
        assert_eq!(read("OK (1 test, x seconds)"), None);
    }

    #[test]
    fn behind_a_carriage_return_stands_a_message() {
        assert_eq!(&*printed(b"\x1b[1;31m-- FAILED: a\x1b[0m"), b"-- FAILED: a");
        assert_eq!(&*printed(b"[x\r-- FAILED: a"), b"[x");
        assert_eq!(&*printed(b"[x\x1b[1G\x1b[0K-- FAILED: a"), b"[x");
        assert_eq!(&*printed(b"\x1b["), b"");
    }

    #[test]
    fn a_header_names_php_and_threads() {
        assert!(is_header(
            b"PHP 8.2.36 (cli) | php -d 'a=b | c' | 8 threads"
        ));
        assert!(is_header(b"PHP 7.1.0 (phpdbg; 7.1.0) | phpdbg | 1 thread"));
        assert!(!is_header(b"PHP 8.2.36 (cli) (built: Nov 18 2026) (NTS)"));
        assert!(!is_header(b"PHP is quick (very) | 8 threads"));
    }
}
