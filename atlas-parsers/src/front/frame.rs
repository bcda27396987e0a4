//! What stands in front of a line's text, and who puts it there.

use crate::edges::behind_any;
use std::borrow::Cow;

/// Who puts something in front of each line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// A time of ISO 8601, bare or in brackets: GitHub Actions, Azure Pipelines, Jenkins' timestamper,
    /// `docker logs -t`, `kubectl logs --timestamps`. `2024-05-01T10:00:00.1234567Z text`.
    Stamp,
    /// GitLab's runner: a time, the stream, and whether the line goes on the one before.
    /// `2024-05-01T10:00:00.123456Z 01O text`, `… 01O+more of it`.
    Stream,
    /// `gh run view --log`: `job<TAB>step<TAB>2024-05-01T10:00:00.1234567Z text`.
    Job,
    /// A time of day in brackets: `AppVeyor` and `TeamCity`. `[00:01:12] text`.
    Clock,
    /// Docker Compose: `service-1  | text`.
    Service,
    /// `act`, which runs GitHub's workflows on one's own machine: `[workflow/job]   | text`.
    Act,
    /// The plain progress of `docker build`: `#12 3.456 text`.
    Build,
}

/// A line without what stands in front of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Framed<'a> {
    /// Whose line it is, where several write into one log: a job, a service, a step.
    pub(super) channel: &'a [u8],
    /// The text as its program printed it.
    pub(super) text: &'a [u8],
    /// The text goes on the line before.
    pub(super) goes_on: bool,
}

impl<'a> Framed<'a> {
    fn of(channel: &'a [u8], text: &'a [u8]) -> Self {
        Self {
            channel,
            text,
            goes_on: false,
        }
    }
}

/// A byte order mark: files of steps that were put together have one in front of each.
const MARK: &[u8] = b"\xef\xbb\xbf";

impl Kind {
    /// The kind that a line shows. Of a line without its end (`\n`; `\r` may be left).
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        let line = line.strip_prefix(MARK).unwrap_or(line);
        let kinds: &[Self] = match line.first()? {
            b'0'..=b'9' => &[Self::Stream, Self::Stamp, Self::Job],
            b'[' => &[Self::Stamp, Self::Clock, Self::Act],
            b'#' => &[Self::Build],
            0x1b => &[Self::Service],
            b'A'..=b'Z' | b'a'..=b'z' => &[Self::Job, Self::Service],
            _ => &[Self::Job],
        };
        kinds.iter().copied().find(|kind| kind.read(line).is_some())
    }

    /// Takes off what this kind puts in front.
    pub(super) fn read(self, line: &[u8]) -> Option<Framed<'_>> {
        let line = line.strip_prefix(MARK).unwrap_or(line);
        match self {
            Self::Stamp => stamped(line).map(|text| Framed::of(b"", text)),
            Self::Stream => {
                let text = stamped(line)?;
                let ([a, b, stream, more], text) = text.split_first_chunk()?;
                let is_stream = a.is_ascii_hexdigit() && b.is_ascii_hexdigit();
                (is_stream && matches!(stream, b'O' | b'E') && matches!(more, b' ' | b'+')).then(
                    || Framed {
                        goes_on: *more == b'+',
                        ..Framed::of(b"", text)
                    },
                )
            }
            Self::Job => {
                let tab = memchr::memchr(b'\t', &line[..line.len().min(300)])?;
                let (job, rest) = (&line[..tab], &line[tab + 1..]);
                let tab = memchr::memchr(b'\t', &rest[..rest.len().min(300)])?;
                let rest = &rest[tab + 1..];
                let text = stamped(rest.strip_prefix(MARK).unwrap_or(rest))?;
                (!job.is_empty()).then(|| Framed::of(job, text))
            }
            Self::Clock => {
                let rest = clock(line.strip_prefix(b"[")?)?.strip_prefix(b"]")?;
                Some(Framed::of(b"", text_after_blank(rest)?))
            }
            Self::Service => {
                let line = uncoloured(line);
                let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
                let end = line.iter().position(|byte| !is_name(byte))?;
                let rest = &line[end..];
                let blanks = rest.iter().position(|byte| *byte != b' ')?;
                let text = rest[blanks..].strip_prefix(b"|")?;
                let named = line.first()?.is_ascii_alphabetic() && blanks > 0;
                named.then_some(Framed::of(
                    &line[..end],
                    text_after_blank(uncoloured(text))?,
                ))
            }
            Self::Act => {
                let line = line.strip_prefix(b"[")?;
                let end = memchr::memchr(b']', &line[..line.len().min(200)])?;
                memchr::memchr(b'/', &line[..end])?;
                let rest = line[end + 1..].strip_prefix(b" ")?;
                let text = rest.strip_prefix(b"  | ").unwrap_or(rest);
                Some(Framed::of(&line[..end], text))
            }
            Self::Build => {
                let (step, rest) = number(line.strip_prefix(b"#")?)?;
                let rest = rest.strip_prefix(b" ")?;
                let seconds = number(rest).and_then(|(_, rest)| number(rest.strip_prefix(b".")?));
                match seconds {
                    Some((_, text)) => Some(Framed::of(step, text_after_blank(text)?)),
                    None => Some(Framed::of(step, rest)),
                }
            }
        }
    }

    /// Whether each line may say whose it is.
    pub(super) fn has_channels(self) -> bool {
        matches!(self, Self::Job | Self::Service | Self::Act | Self::Build)
    }

    /// Whether nothing but such a log has several such lines.
    pub(super) fn is_unmistakable(self) -> bool {
        matches!(self, Self::Job | Self::Stream)
    }
}

/// The text without a command of the CI system in front of it, which says how the line is shown:
/// `##[error]text`. A group is again as the runner announced it, `::group::text`.
pub(super) fn untagged(text: &[u8]) -> Cow<'_, [u8]> {
    let tag = |text: &'_ [u8]| {
        let rest = text.strip_prefix(b"##[")?;
        let end = rest.iter().position(|byte| !byte.is_ascii_lowercase())?;
        (end > 0 && rest[end] == b']').then_some(end)
    };
    let Some(end) = tag(text) else {
        return Cow::Borrowed(text);
    };
    let (word, rest) = (&text[3..3 + end], &text[end + 4..]);
    match word {
        b"group" | b"endgroup" => [b"::" as &[u8], word, b"::", rest].concat().into(),
        _ => Cow::Borrowed(rest),
    }
}

/// Whether a text begins as an application's own log lines do behind their time: with a level.
pub(super) fn has_level(text: &[u8]) -> bool {
    const LEVELS: [&str; 11] = [
        "trace", "debug", "info", "notice", "warn", "warning", "error", "fatal", "critical",
        "panic", "severe",
    ];
    let text = uncoloured(text).trim_ascii_start();
    let text = uncoloured(text.strip_prefix(b"[").unwrap_or(text));
    let word = text
        .iter()
        .position(|byte| !byte.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let word = &text[..word];
    LEVELS
        .iter()
        .any(|level| word.eq_ignore_ascii_case(level.as_bytes()))
}

/// What stands behind a time of ISO 8601 and a blank.
fn stamped(line: &[u8]) -> Option<&[u8]> {
    const DATE: &[u8] = b"0000-00-00";
    let bare = line.strip_prefix(b"[");
    let text = bare.unwrap_or(line);
    let (date, rest) = text.split_at_checked(DATE.len())?;
    let is_date = date.iter().zip(DATE).all(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        form => byte == form,
    });
    if !is_date {
        return None;
    }
    let rest = behind_any(rest, &[b"T", b" "])?;
    let mut rest = clock(rest)?;
    if let Some((_, after)) = behind_any(rest, &[b".", b","]).and_then(number) {
        rest = after;
    }
    rest = match rest.first() {
        Some(b'Z') => &rest[1..],
        Some(b'+' | b'-') => {
            let (_, rest) = number(&rest[1..])?;
            match rest.strip_prefix(b":") {
                Some(rest) => number(rest)?.1,
                None => rest,
            }
        }
        _ => rest,
    };
    if bare.is_some() {
        rest = rest.strip_prefix(b"]")?;
    }
    text_after_blank(rest)
}

/// What stands behind `hh:mm:ss`.
fn clock(text: &[u8]) -> Option<&[u8]> {
    const TIME: &[u8] = b"00:00:00";
    let (time, rest) = text.split_at_checked(TIME.len())?;
    let is_time = time.iter().zip(TIME).all(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        form => byte == form,
    });
    is_time.then_some(rest)
}

/// The digits at the beginning, and the rest.
fn number(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// The text behind one blank; an empty line may have lost its blank.
fn text_after_blank(rest: &[u8]) -> Option<&[u8]> {
    match rest {
        [] | b"\r" => Some(rest),
        _ => rest.strip_prefix(b" "),
    }
}

/// The text behind colours (SGR).
fn uncoloured(text: &[u8]) -> &[u8] {
    let mut text = text;
    while let Some(rest) = text.strip_prefix(b"\x1b[") {
        let end = rest
            .iter()
            .position(|byte| !matches!(byte, b'0'..=b'9' | b';'));
        match end {
            Some(end) if rest[end] == b'm' => text = &rest[end + 1..],
            _ => break,
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Framed, Kind, has_level, untagged};

    fn framed(line: &str) -> Option<(Kind, &str, &str)> {
        let kind = Kind::of(line.as_bytes())?;
        let Framed { channel, text, .. } = kind.read(line.as_bytes())?;
        let utf8 = |bytes| std::str::from_utf8(bytes).unwrap();
        Some((kind, utf8(channel), utf8(text)))
    }

    #[test]
    fn what_stands_in_front_is_known() {
        for (line, kind, channel, text) in [
            ("2024-05-01T10:00:00.1234567Z   a", Kind::Stamp, "", "  a"),
            ("\u{feff}2024-05-01T10:00:00.1234567Z ", Kind::Stamp, "", ""),
            ("2024-05-01T10:00:00Z", Kind::Stamp, "", ""),
            ("2024-05-01T10:00:00.123456789Z\r", Kind::Stamp, "", "\r"),
            ("2024-05-01T10:00:00.123+02:00 a", Kind::Stamp, "", "a"),
            ("[2024-05-01T10:00:00.123Z] a", Kind::Stamp, "", "a"),
            ("2024-05-01T10:00:00.123456Z 01O a", Kind::Stream, "", "a"),
            ("2024-05-01T10:00:00.123456Z 01E+a", Kind::Stream, "", "a"),
            (
                "test (1.22, a)\tRun go test\t\u{feff}2024-05-01T10:00:00.1234567Z a\tb",
                Kind::Job,
                "test (1.22, a)",
                "a\tb",
            ),
            ("[00:01:12] a", Kind::Clock, "", "a"),
            ("web-1   | a", Kind::Service, "web-1", "a"),
            ("web-1  |", Kind::Service, "web-1", ""),
            ("\x1b[36mdb_1   |\x1b[0m a", Kind::Service, "db_1", "a"),
            ("[CI/test-1]   |   a", Kind::Act, "CI/test-1", "  a"),
            ("#12 3.456   a", Kind::Build, "12", "  a"),
            (
                "#12 [4/5] RUN pytest",
                Kind::Build,
                "12",
                "[4/5] RUN pytest",
            ),
        ] {
            assert_eq!(framed(line), Some((kind, channel, text)), "{line:?}");
        }
        for line in [
            "",
            "2024-05-01T10:00:00.1234567Zx",
            "2024-05-01 a",
            "10:00:00 a",
            "[info] a",
            " 12 | let x = 1;",
            "a | b",
            "ok 1 - a",
            "#include <a>",
            "# a",
        ] {
            assert_eq!(
                framed(line).filter(|found| found.0 != Kind::Service),
                None,
                "{line:?}"
            );
        }
    }

    #[test]
    fn commands_of_the_ci_system_are_taken_off() {
        for (text, rest) in [
            ("##[group]Run a", "::group::Run a"),
            ("##[endgroup]\r", "::endgroup::\r"),
            ("##[error]    a_test.go:1: b", "    a_test.go:1: b"),
            ("## [a]", "## [a]"),
            ("##[A]", "##[A]"),
            ("##[", "##["),
        ] {
            assert_eq!(*untagged(text.as_bytes()), *rest.as_bytes());
        }
    }

    #[test]
    fn a_level_is_an_applications() {
        for text in [
            "INFO a",
            " [warn] a",
            "\x1b[32m INFO\x1b[0m a",
            "error: a",
            "debug\ta",
        ] {
            assert!(has_level(text.as_bytes()), "{text}");
        }
        for text in ["Information", "ok", "", "=== RUN   TestInfo"] {
            assert!(!has_level(text.as_bytes()), "{text}");
        }
    }
}
