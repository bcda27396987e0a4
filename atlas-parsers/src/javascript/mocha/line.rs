//! Lines of Mocha's spec reporter and of its last page.

/// What a result line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `✔ title`, with the mark that was printed.
    Pass(u8),
    /// `- title`
    Pending,
    /// `3) title`
    Fail(u64),
}

/// A line that has the form of a result.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResultLine<'a> {
    /// Blanks before the mark.
    pub(super) indent: usize,
    pub(super) kind: Kind,
    /// All that follows the mark.
    pub(super) title: &'a [u8],
    /// Something that was printed without a line end stands before it.
    pub(super) behind: bool,
}

/// The marks of a passed test in all versions; `․` is the list reporter's of Mocha 2.
const MARKS: [&str; 4] = ["✔ ", "✓ ", "√ ", "․ "];

/// How many blanks a line begins with.
pub(super) fn indent(line: &[u8]) -> usize {
    line.iter().take_while(|byte| **byte == b' ').count()
}

fn marked(body: &[u8]) -> Option<(Kind, usize)> {
    match body.first()? {
        0xe2 => {
            let mark = MARKS
                .iter()
                .position(|mark| body.starts_with(mark.as_bytes()))?;
            Some((Kind::Pass(u8::try_from(mark).ok()?), 4))
        }
        b'-' => body.starts_with(b"- ").then_some((Kind::Pending, 2)),
        b'1'..=b'9' => {
            let (number, rest) = number(body)?;
            let rest = rest.strip_prefix(b") ")?;
            Some((Kind::Fail(number), body.len() - rest.len()))
        }
        _ => None,
    }
}

/// Digits at the start, and what follows.
pub(super) fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let (head, rest) = text.split_at_checked(digits)?;
    let number = std::str::from_utf8(head).ok()?.parse().ok()?;
    Some((number, rest))
}

/// Reads a result line.
pub(super) fn result(line: &[u8]) -> Option<ResultLine<'_>> {
    let blanks = indent(line);
    let body = &line[blanks..];
    if let Some((kind, from)) = marked(body).filter(|_| blanks >= 2) {
        return Some(ResultLine {
            indent: blanks,
            kind,
            title: &body[from..],
            behind: false,
        });
    }
    // A test that printed no line end: `some text    ✔ title`.
    let mut from = blanks;
    while let Some(at) = memchr::memmem::find(&line[from..], b"  ") {
        let gap = from + at;
        let wide = indent(&line[gap..]);
        let end = gap + wide;
        let found = marked(&line[end..]).filter(|(kind, _)| *kind != Kind::Pending);
        if let Some((kind, title)) = found {
            return (gap > 0).then_some(ResultLine {
                indent: wide,
                kind,
                title: &line[end + title..],
                behind: true,
            });
        }
        from = end;
    }
    None
}

/// Removes the duration that Mocha appends to a slow test: ` (130ms)`. `raw` is the line with its
/// colours, which show whether the runner or the title says so.
pub(super) fn without_duration<'a>(title: &'a [u8], raw: &[u8]) -> &'a [u8] {
    let Some(open) = duration(title) else {
        return title;
    };
    if is_coloured(raw) {
        // Mocha 1 has the blank before the colour.
        let own = memchr::memmem::rfind(raw, title[open..].trim_ascii_start());
        let coloured = own.is_some_and(|at| {
            let before = &raw[..at];
            ends_in_colour(before.strip_suffix(b" ").unwrap_or(before))
        });
        if !coloured {
            return title;
        }
    }
    &title[..open]
}

fn ends_in_colour(text: &[u8]) -> bool {
    text.strip_suffix(b"m").is_some_and(|text| {
        let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit());
        text[..text.len() - digits.count()].ends_with(b"\x1b[")
    })
}

/// Whether a line has Mocha's own colours, which are those of any terminal.
pub(super) fn is_coloured(raw: &[u8]) -> bool {
    memchr::memmem::find(raw, b"\x1b[").is_some_and(|at| {
        let code = raw[at + 2..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        let len = code.count();
        len <= 2 && raw.get(at + 2 + len) == Some(&b'm') && !raw[at + 2..].starts_with(b"38")
    })
}

/// Where ` (130ms)` begins at the end of a text.
fn duration(text: &[u8]) -> Option<usize> {
    let head = text.strip_suffix(b"ms)")?;
    let digits = head.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let open = head.len() - digits;
    (digits > 0 && head[..open].ends_with(b" (")).then_some(open - 2)
}

/// `Suite title: 12ms` of the list reporter: the title.
pub(super) fn listed(title: &[u8]) -> Option<&[u8]> {
    let head = title.strip_suffix(b"ms")?;
    let digits = head.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let head = &head[..head.len() - digits];
    (digits > 0).then(|| head.strip_suffix(b": ")).flatten()
}

/// `  21 passing (374ms)`
pub(super) fn passing(line: &[u8]) -> Option<u64> {
    let (number, rest) = number(line.strip_prefix(b"  ")?)?;
    let time = rest.strip_prefix(b" passing (")?.strip_suffix(b")")?;
    let unit = time.iter().position(|b| !b.is_ascii_digit())?;
    let known = matches!(&time[unit..], b"ms" | b"s" | b"m" | b"h" | b"d");
    (unit > 0 && known).then_some(number)
}

/// `  3 pending`, `  8 failing`
pub(super) fn counted(line: &[u8], word: &[u8]) -> Option<u64> {
    let (number, rest) = number(line.strip_prefix(b"  ")?)?;
    (rest.strip_prefix(b" ")? == word).then_some(number)
}

/// Whether a line is of a reporter that names no passing test: a letter for each test, or the cursor is moved.
pub(super) fn is_nameless(line: &[u8], raw: &[u8]) -> bool {
    const LETTERS: [&str; 4] = [".", ",", "!", "․"];
    let moves = |at: usize| {
        let code = raw[at + 2..]
            .iter()
            .find(|byte| !matches!(byte, b'0'..=b'9' | b';' | b'?'));
        code.is_some_and(|code| *code != b'm')
    };
    memchr::memmem::find_iter(raw, b"\x1b[").any(moves)
        || line.strip_prefix(b"  ").is_some_and(|text| {
            LETTERS
                .iter()
                .any(|letter| text.starts_with(letter.as_bytes()))
        })
}

/// Whether a text is a frame of a stack trace, which is indented as suites are.
pub(super) fn is_frame(text: &[u8]) -> bool {
    text.starts_with(b"at ")
        && (text.ends_with(b")") || text.last().is_some_and(u8::is_ascii_digit))
        && text.contains(&b':')
}

/// Whether a text looks like a printed object or code rather than a title.
pub(super) fn is_code(text: &str) -> bool {
    let last = text.trim_end().bytes().next_back();
    matches!(last, Some(b'{' | b'[' | b'(' | b',' | b';')) || matches!(text, "}" | "]" | ")")
}

/// Whether a text opens a bracket that it does not close.
pub(super) fn opens(text: &str) -> bool {
    text.trim_end().ends_with(['{', '[', '('])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(line: &str) -> Option<(usize, Kind, String)> {
        let found = result(line.as_bytes())?;
        let title = String::from_utf8_lossy(found.title).into_owned();
        Some((found.indent, found.kind, title))
    }

    #[test]
    fn results_stand_behind_blanks() {
        assert_eq!(title("    ✔ a  b"), Some((4, Kind::Pass(0), "a  b".into())));
        assert_eq!(title("✔ a"), None);
        assert_eq!(title("  - a"), Some((2, Kind::Pending, "a".into())));
        assert_eq!(title("  12) a"), Some((2, Kind::Fail(12), "a".into())));
        assert_eq!(title("..    ✔ a"), Some((4, Kind::Pass(0), "a".into())));
        assert_eq!(title("1) a    ✔ b"), Some((4, Kind::Pass(0), "b".into())));
        assert_eq!(title("a    - b"), None);
        assert_eq!(title("  99999999999999999999999) a"), None);
    }

    #[test]
    fn only_what_the_runner_appends_is_cut_off() {
        let plain = |text: &'static str| without_duration(text.as_bytes(), b"");
        assert_eq!(plain("a (12ms)"), b"a");
        assert_eq!(plain("a (12 ms)"), b"a (12 ms)");
        assert_eq!(plain("a (ms)"), b"a (ms)");
        let coloured = b"\x1b[90m a (12ms)\x1b[0m\x1b[31m (130ms)\x1b[0m";
        assert_eq!(without_duration(b"a (12ms) (130ms)", coloured), b"a (12ms)");
        let fast = b"\x1b[90m a (12ms)\x1b[0m";
        assert_eq!(without_duration(b"a (12ms)", fast), b"a (12ms)");
    }

    #[test]
    fn counts_have_one_form() {
        assert_eq!(passing(b"  3 passing (1m)"), Some(3));
        assert_eq!(passing(b"  3 passing"), None);
        assert_eq!(passing(b" 3 passing (1m)"), None);
        assert_eq!(counted(b"  3 failing", b"failing"), Some(3));
        assert_eq!(counted(b"  3 failing tests", b"failing"), None);
    }
}
