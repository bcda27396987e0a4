//! One line of TAP.

use crate::edges::{behind_any, is_decimal};
use crate::text::has;
use atlas_core::TestStatus;
use std::borrow::Cow;

/// `ok 3 - title`: what is told before the title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point<'a> {
    pub(crate) passed: bool,
    pub(crate) number: Option<u64>,
    /// Title and directive.
    pub(crate) rest: &'a [u8],
}

/// Reads a test point at the line's start.
pub(crate) fn point(line: &[u8]) -> Option<Point<'_>> {
    let (passed, rest) = match line.first()? {
        b'o' => (true, line.strip_prefix(b"ok")?),
        b'n' => (false, line.strip_prefix(b"not ok")?),
        _ => return None,
    };
    if !rest.first().is_none_or(u8::is_ascii_whitespace) {
        return None;
    }
    let rest = rest.trim_ascii_start();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let after = &rest[digits..];
    let number = if after
        .first()
        .is_none_or(|next| !next.is_ascii_alphanumeric())
    {
        number(&rest[..digits])
    } else {
        None
    };
    let rest = if number.is_some() { after } else { rest };
    Some(Point {
        passed,
        number,
        rest: rest.trim_ascii(),
    })
}

/// Passed, number and title of `ok 3 - title`, which nearly every point is: with a number, a dash, and
/// neither escapes nor a directive. What is read here, [`point`], [`title`] and [`name`] read alike,
/// and slower.
pub(super) fn plain(line: &str) -> Option<(bool, u64, &str)> {
    let (passed, rest) = match line.as_bytes().first()? {
        b'o' => (true, line.strip_prefix("ok ")?),
        b'n' => (false, line.strip_prefix("not ok ")?),
        _ => return None,
    };
    let (mut number, mut digits) = (0, 0);
    while let Some(digit @ b'0'..=b'9') = rest.as_bytes().get(digits) {
        number = number * 10 + u64::from(digit - b'0');
        digits += 1;
        if digits > 18 {
            return None;
        }
    }
    if digits == 0 {
        return None;
    }
    let rest = &rest[digits..];
    let title = rest.strip_prefix(" - ")?.as_bytes();
    let is_plain =
        !title.last()?.is_ascii_whitespace() && !has(title, |byte| byte == b'#' || byte == b'\\');
    is_plain.then(|| (passed, number, &rest[" - ".len()..]))
}

/// The number that the digits are, and nothing else.
pub(crate) fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |sum, digit| {
        let value = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        sum.checked_mul(10)?.checked_add(value)
    })
}

/// `1..8`, `1..0 # SKIP reason`: how many points are planned.
pub(crate) fn plan(line: &[u8]) -> Option<u64> {
    let rest = line.strip_prefix(b"1..")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let planned = number(&rest[..digits])?;
    let tail = rest[digits..].trim_ascii_start();
    let known = tail.is_empty() || tail[0] == b'#' || tail.starts_with(b"todo ");
    known.then_some(planned)
}

/// `TAP version 13`.
pub(crate) fn version(line: &[u8]) -> bool {
    let Some(rest) = line.get(..11) else {
        return false;
    };
    rest.eq_ignore_ascii_case(b"TAP version") && number(line[11..].trim_ascii()).is_some()
}

/// What stands behind the `#` of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directive {
    Skip,
    Todo,
}

impl Directive {
    /// Reads `SKIP reason`, `todo`: a word of its own, in any case.
    pub(crate) fn of(text: &[u8]) -> Option<Self> {
        let text = text.trim_ascii_start();
        let word = text.get(..4)?;
        if text
            .get(4)
            .is_some_and(|c| c.is_ascii_alphanumeric() || *c == b'_')
        {
            return None;
        }
        if word.eq_ignore_ascii_case(b"skip") {
            Some(Self::Skip)
        } else if word.eq_ignore_ascii_case(b"todo") {
            Some(Self::Todo)
        } else {
            None
        }
    }
}

/// The status of a point with a directive or without.
pub(crate) fn status(passed: bool, directive: Option<Directive>) -> TestStatus {
    match (directive, passed) {
        (Some(Directive::Skip), _) => TestStatus::Skipped,
        (Some(Directive::Todo), true) => TestStatus::Xpass,
        (Some(Directive::Todo), false) => TestStatus::Xfail,
        (None, true) => TestStatus::Passed,
        (None, false) => TestStatus::Failed,
    }
}

/// Parts title and directive: the first `#` that is not escaped, if a directive follows it.
pub(crate) fn title(rest: &[u8]) -> (&[u8], Option<Directive>) {
    let mut from = 0;
    while let Some(at) = memchr::memchr2(b'#', b'\\', &rest[from..]) {
        let at = from + at;
        if rest[at] == b'\\' {
            from = (at + 2).min(rest.len());
            continue;
        }
        let after = &rest[at + 1..];
        let title = rest[..at].trim_ascii_end();
        if let Some(directive) = Directive::of(after) {
            return (title, Some(directive));
        }
        if time(after) {
            return (title, None);
        }
        break;
    }
    (rest, None)
}

/// ` time=12.5ms`, ` time = 12.5ms`, ` time=1s {`: the time that node-tap, brittle and others append, and the brace
/// that opens the block of a subtest behind its result.
fn time(text: &[u8]) -> bool {
    let text = text.strip_suffix(b" {").unwrap_or(text).trim_ascii();
    let Some(text) = behind_any(text, &[b"time=", b"time = "]) else {
        return false;
    };
    let text = text.strip_suffix(b"s").unwrap_or(text);
    let text = text.strip_suffix(b"m").unwrap_or(text);
    is_decimal(text)
}

/// A title without the dash in front, its escapes undone.
pub(crate) fn name(title: &[u8]) -> Cow<'_, str> {
    let title = match title.strip_prefix(b"-") {
        Some([b' ', rest @ ..]) => rest,
        Some([]) => b"",
        _ => title,
    };
    let text = String::from_utf8_lossy(title);
    if memchr::memchr(b'\\', title).is_none() {
        return text;
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(next @ ('#' | '\\')) if c == '\\' => {
                plain.push(*next);
                chars.next();
            }
            _ => plain.push(c),
        }
    }
    Cow::Owned(plain)
}

/// The block of diagnostics that may follow a point: `  ---` to `  ...`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Block {
    indent: Option<usize>,
    /// Whether the line before could be followed by a block.
    after_point: bool,
}

impl Block {
    /// A point was read: a block may follow.
    pub(crate) fn point(&mut self) {
        self.indent = None;
        self.after_point = true;
    }

    /// Whether the line belongs to a block. A line that stands further out ends it, so that a
    /// block without an end costs no results.
    pub(crate) fn holds(&mut self, line: &[u8]) -> bool {
        let after_point = std::mem::take(&mut self.after_point);
        if self.indent.is_none() && !after_point {
            return false;
        }
        let body = line.trim_ascii_start();
        let indent = line.len() - body.len();
        if let Some(open) = self.indent {
            if body.is_empty() {
                return true;
            }
            if indent < open {
                self.indent = None;
                return false;
            }
            if indent == open && body.trim_ascii_end() == b"..." {
                self.indent = None;
            }
            return true;
        }
        if indent > 0 && body.starts_with(b"---") {
            self.indent = Some(indent);
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_a_whole_word_and_a_number() {
        let read = |line: &'static str| point(line.as_bytes());
        assert_eq!(read("okay 1"), None);
        assert_eq!(read("not okay"), None);
        let third = read("ok 3rd time").expect("an unnumbered point");
        assert_eq!((third.number, third.rest), (None, &b"3rd time"[..]));
        let big = read("ok 99999999999999999999 - x").expect("a point");
        assert_eq!(big.number, None);
        assert_eq!(
            read("not ok").map(|p| (p.passed, p.number)),
            Some((false, None))
        );
    }

    #[test]
    fn a_plain_point_is_read_as_any() {
        let mut read = 0;
        for head in ["ok ", "not ok ", "ok", "not ok  ", "okay "] {
            for number in ["1", "17", "", "3rd", "99999999999999999999"] {
                for between in [" - ", " ", "  - ", " -", " - - "] {
                    for tail in [
                        "a b", "a # b", "a \\\\ b", "", " ", "a ", " a", "#", "\u{e4}", "a\t",
                    ] {
                        let line = [head, number, between, tail].concat();
                        let Some(found) = plain(&line) else { continue };
                        read += 1;
                        let point = point(line.as_bytes()).expect("a point");
                        let (title, directive) = title(point.rest);
                        let slow = (point.passed, point.number, name(title));
                        assert_eq!((found.0, Some(found.1), found.2.into()), slow, "{line}");
                        assert_eq!(directive, None, "{line}");
                    }
                }
            }
        }
        assert!(read > 10, "{read}");
    }

    #[test]
    fn only_the_first_free_hash_begins_a_directive() {
        let read = |text: &'static str| {
            let (title, directive) = title(text.as_bytes());
            (name(title).into_owned(), directive)
        };
        assert_eq!(read("- a \\# TODO b"), ("a # TODO b".to_owned(), None));
        assert_eq!(
            read("- a # b # TODO c"),
            ("a # b # TODO c".to_owned(), None)
        );
        assert_eq!(read("- a #skip"), ("a".to_owned(), Some(Directive::Skip)));
        assert_eq!(read("# Skipped: old"), ("# Skipped: old".to_owned(), None));
        assert_eq!(read("- a # time=3.5ms {"), ("a".to_owned(), None));
        assert_eq!(read("- a # time = 0.47ms"), ("a".to_owned(), None));
        assert_eq!(read("- - a"), ("- a".to_owned(), None));
        assert_eq!(read("-   a {"), ("  a {".to_owned(), None));
    }
}
