//! The lines of unittest's text runner.

use crate::edges::behind_any;
use crate::python::module_of;
use atlas_core::{TestStatus, Totals};
use memchr::{memchr, memmem};

/// The name of a test as the runner prints it: `method (where)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    method: String,
    place: String,
    /// Whether the parentheses hold the method too, as since Python 3.11.
    pub(super) full: bool,
}

impl Name {
    /// `module.Class.method`.
    pub(super) fn qualified(&self) -> String {
        if self.full {
            self.place.clone()
        } else {
            format!("{}.{}", self.place, self.method)
        }
    }

    /// As the runner prints it.
    pub(super) fn id(&self) -> String {
        format!("{} ({})", self.method, self.place)
    }

    /// The name without other text in front of its method, where the parentheses tell it.
    pub(super) fn without_text_before(&self) -> Option<Self> {
        let (class, method) = self.place.rsplit_once('.')?;
        let before = self.method.strip_suffix(method)?;
        (!self.full && !before.is_empty() && class.contains('.')).then(|| Self {
            method: method.to_owned(),
            place: self.place.clone(),
            full: true,
        })
    }

    /// Whether it stands for a module that could not be imported.
    pub(super) fn is_load_failure(&self) -> bool {
        let class = self
            .place
            .strip_suffix(&self.method)
            .map_or(&*self.place, |p| p);
        class.trim_end_matches('.') == "unittest.loader._FailedTest"
    }

    /// Whether it is a fixture of a class or module.
    pub(super) fn is_fixture(&self) -> bool {
        matches!(
            &*self.method,
            "setUpClass" | "tearDownClass" | "setUpModule" | "tearDownModule"
        )
    }

    /// The module: what stands before the class.
    pub(super) fn module(&self) -> String {
        if self.is_load_failure() {
            return self.method.clone();
        }
        if self.method.ends_with("Module") && self.is_fixture() {
            return self.place.clone();
        }
        let class = if self.full {
            self.place
                .strip_suffix(&self.method)
                .map_or(&*self.place, |path| path.trim_end_matches('.'))
        } else {
            &*self.place
        };
        module_of(class).to_owned()
    }
}

/// Whether a name begins as identifiers do; generated names go on with any character.
fn begins_name(text: &str) -> bool {
    text.starts_with(|c: char| c == '_' || c.is_alphabetic())
}

fn is_path(text: &str) -> bool {
    text.split('.')
        .all(|part| part == "<locals>" || begins_name(part))
}

/// The test name at the start of a text, and where it ends.
pub(super) fn test_name(text: &[u8]) -> Option<(Name, usize)> {
    plain_name(text).or_else(|| odd_name(text))
}

/// A name whose method was set by code and holds blanks or brackets: `test_a b (m.C.test_a b)`. Only
/// since Python 3.11, where the parentheses hold the method once more.
fn odd_name(text: &[u8]) -> Option<(Name, usize)> {
    const LONGEST: usize = 1000;
    const TRIES: usize = 4;
    let text = &text[..text.len().min(LONGEST)];
    memmem::find_iter(text, b" (").take(TRIES).find_map(|open| {
        let method = std::str::from_utf8(&text[..open]).ok()?;
        let rest = &text[open + 2..];
        let again = memmem::find(rest, format!(".{method})").as_bytes())?;
        let class = std::str::from_utf8(&rest[..again]).ok()?;
        let plain = !class.contains(|c: char| c.is_whitespace() || matches!(c, '(' | ')'));
        if !begins_name(method) || !plain || !class.contains('.') || !is_path(class) {
            return None;
        }
        let name = Name {
            method: method.to_owned(),
            place: format!("{class}.{method}"),
            full: true,
        };
        Some((name, open + 2 + again + 1 + method.len() + 1))
    })
}

fn plain_name(text: &[u8]) -> Option<(Name, usize)> {
    let open = memmem::find(text, b" (")?;
    let close = open + memchr(b')', &text[open..])?;
    let method = std::str::from_utf8(&text[..open]).ok()?;
    let place = std::str::from_utf8(&text[open + 2..close]).ok()?;
    let plain =
        |text: &str| !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c == '(');
    if !plain(method) || !plain(place) || !begins_name(method) {
        return None;
    }
    let class = place
        .strip_suffix(method)
        .and_then(|class| class.strip_suffix('.'));
    let full = class.is_some_and(is_path);
    if !full && !is_path(place) {
        return None;
    }
    let module_fixture = matches!(method, "setUpModule" | "tearDownModule");
    if !full && !place.contains('.') && !module_fixture {
        return None;
    }
    let name = Name {
        method: method.to_owned(),
        place: place.to_owned(),
        full,
    };
    Some((name, close + 1))
}

/// A whole result behind other text: `…noiselesstest_x (module.Class.test_x) ... ok`.
pub(super) fn glued(line: &[u8]) -> Option<(Name, TestStatus)> {
    let dots = memmem::rfind(line, b" ... ")?;
    let status = status(&line[dots + 5..])?;
    let open = memmem::rfind(&line[..dots], b" (")?;
    let place = std::str::from_utf8(line[open + 2..dots].strip_suffix(b")")?).ok()?;
    let before = &line[..open];
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    let start = before
        .iter()
        .rposition(|byte| !word(byte))
        .map_or(0, |at| at + 1);
    let tail = std::str::from_utf8(&before[start..]).ok()?;
    let method = match place.rsplit_once('.') {
        Some((_, last)) if tail.ends_with(last) => last,
        _ => tail,
    };
    let (name, end) = test_name(format!("{method} ({place})").as_bytes())?;
    (end > 0 && method.len() < open).then_some((name, status))
}

/// A name behind other text, at the end of a line: the docstring and the status are on the next one. The
/// parentheses must hold the method, as since Python 3.11.
pub(super) fn glued_name(line: &[u8]) -> Option<Name> {
    let inner = line.strip_suffix(b")")?;
    let open = memmem::rfind(inner, b" (")?;
    let place = std::str::from_utf8(&inner[open + 2..]).ok()?;
    let (_, method) = place.rsplit_once('.')?;
    let before = line[..open].strip_suffix(method.as_bytes())?;
    let (name, _) = test_name(format!("{method} ({place})").as_bytes())?;
    (!before.is_empty() && name.full).then_some(name)
}

/// A status that is all of the text.
pub(super) fn status(text: &[u8]) -> Option<TestStatus> {
    Some(match text.trim_ascii_end() {
        b"ok" => TestStatus::Passed,
        b"FAIL" => TestStatus::Failed,
        b"ERROR" => TestStatus::Error,
        b"expected failure" => TestStatus::Xfail,
        b"unexpected success" => TestStatus::Xpass,
        b"skipped" => TestStatus::Skipped,
        text if is_noses(text, b"SKIP") => TestStatus::Skipped,
        text if is_noses(text, b"KNOWNFAIL") => TestStatus::Xfail,
        text => {
            let reason = text.strip_prefix(b"skipped ")?;
            // Python 2 prints `skipped u'…'`.
            let reason = reason.strip_prefix(b"u").unwrap_or(reason);
            let quoted = |q: u8| reason.len() > 1 && reason[0] == q && reason.last() == Some(&q);
            (quoted(b'\'') || quoted(b'"')).then_some(TestStatus::Skipped)?
        }
    })
}

/// `SKIP` or `SKIP: why`.
fn is_noses(text: &[u8], word: &[u8]) -> bool {
    text.strip_prefix(word)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b": "))
}

/// A status behind output that has no line end.
pub(super) fn status_at_end(text: &[u8]) -> Option<TestStatus> {
    let text = text.trim_ascii_end();
    for (word, status) in [
        (&b"ok"[..], TestStatus::Passed),
        (b"FAIL", TestStatus::Failed),
        (b"ERROR", TestStatus::Error),
        (b"expected failure", TestStatus::Xfail),
        (b"unexpected success", TestStatus::Xpass),
    ] {
        if text.ends_with(word) {
            return Some(status);
        }
    }
    let at = memmem::rfind(text, b"skipped ")?;
    status(&text[at..])
}

/// The kind of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heading {
    Fail,
    Error,
    Unexpected,
}

impl Heading {
    pub(super) fn status(self) -> TestStatus {
        match self {
            Self::Fail => TestStatus::Failed,
            Self::Error => TestStatus::Error,
            Self::Unexpected => TestStatus::Xpass,
        }
    }
}

/// `FAIL: test_x (module.Class.test_x)` and its like.
pub(super) fn heading(line: &[u8]) -> Option<(Heading, &[u8])> {
    let found = [
        (&b"FAIL: "[..], Heading::Fail),
        (b"ERROR: ", Heading::Error),
        (b"UNEXPECTED SUCCESS: ", Heading::Unexpected),
    ]
    .into_iter()
    .find_map(|(head, kind)| Some((kind, line.strip_prefix(head)?)))?;
    (!found.1.is_empty()).then_some(found)
}

/// `Ran 3 tests in 0.001s`.
pub(super) fn ran(line: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(line.strip_prefix(b"Ran ")?).ok()?;
    let (number, rest) = text.split_once(' ')?;
    let time = behind_any(rest, &["tests in ", "test in "])?;
    time.trim_end().ends_with('s').then_some(())?;
    number.parse().ok()
}

/// The last line of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) totals: Totals,
}

/// `OK (skipped=1)`, `FAILED (failures=2, errors=1)`, `NO TESTS RAN`; of nose also
/// `FAILED (KNOWNFAIL=13, SKIP=3, TimeoutError=1)`, with words of its plugins.
pub(super) fn verdict(line: &[u8]) -> Option<Verdict> {
    let text = std::str::from_utf8(line).ok()?.trim_end();
    let rest = behind_any(text, &["OK", "FAILED", "NO TESTS RAN"])?;
    let mut totals = Totals::default();
    if rest.is_empty() {
        return Some(Verdict { totals });
    }
    for part in rest.strip_prefix(" (")?.strip_suffix(')')?.split(", ") {
        let (name, number) = part.split_once('=')?;
        let count: u64 = number.parse().ok()?;
        let number = Some(count);
        let more = |known: Option<u64>| Some(known.unwrap_or(0).saturating_add(count));
        match name {
            "failures" => totals.failed = number,
            "errors" => totals.errors = number,
            "skipped" => totals.skipped = number,
            "expected failures" => totals.xfailed = number,
            "unexpected successes" => totals.xpassed = number,
            "SKIP" | "TODO" | "DEPRECATED" => totals.skipped = more(totals.skipped),
            "KNOWNFAIL" => totals.xfailed = more(totals.xfailed),
            // A class of errors, by its name.
            _ if is_path(name) && !name.contains(' ') => totals.errors = more(totals.errors),
            _ => return None,
        }
    }
    Some(Verdict { totals })
}
/// Whether a line begins with letters that stand for tests.
pub(super) fn is_letters(line: &[u8]) -> bool {
    let letters = line.iter().take_while(|byte| b".FEsxu".contains(byte));
    let letters = &line[..letters.count()];
    letters.contains(&b'.') || !line.is_empty() && letters.len() == line.len()
}
