//! Titles, and what formatters append to them.

use memchr::memmem;

/// The title of a point, and whether it was skipped. `timed` tells whether the points of this log
/// end with a time; the first that could tells it for all.
pub(super) fn of_point<'a>(
    rest: &'a [u8],
    passed: bool,
    timed: &mut Option<bool>,
) -> (&'a [u8], bool) {
    // bats 0.4 puts the reason before the title.
    if let Some(skipped) = rest.strip_prefix(b"# skip")
        && skipped.first().is_none_or(|next| *next == b' ')
    {
        return (old_skip(skipped.trim_ascii()), true);
    }
    let sign: &[u8] = if passed { b" # skip" } else { b" # SKIP" };
    if let Some(at) = memmem::rfind(rest, sign)
        && rest.get(at + sign.len()).is_none_or(|next| *next == b' ')
    {
        return (untimed(&rest[..at], *timed).trim_ascii(), true);
    }
    if !passed && special(rest) {
        return (rest, false);
    }
    let rest = without_timeout(rest);
    if let Some(at) = counted(rest, b" # in ", &[b" ms"]) {
        return (rest[..at].trim_ascii(), false);
    }
    if timed.is_none() {
        *timed = Some(counted(rest, b" in ", &[b"ms", b"sec"]).is_some());
    }
    (untimed(rest, *timed).trim_ascii(), false)
}

/// Whether a point ends with the time that the tap formatter appends.
pub(super) fn timed(rest: &[u8]) -> bool {
    counted(rest, b" # in ", &[b" ms"]).is_some()
}

/// `setup_file failed` and the like: failures outside any test.
pub(super) fn special(rest: &[u8]) -> bool {
    matches!(
        rest,
        b"setup_file failed" | b"teardown_file failed" | b"setup_suite" | b"teardown_suite"
    )
}

fn untimed(rest: &[u8], timed: Option<bool>) -> &[u8] {
    if timed != Some(true) {
        return rest;
    }
    counted(rest, b" in ", &[b"ms", b"sec"]).map_or(rest, |at| &rest[..at])
}

fn without_timeout(rest: &[u8]) -> &[u8] {
    counted(rest, b" # timeout after ", &[b" s", b"s"]).map_or(rest, |at| &rest[..at])
}

/// Where `words`, a number and one of the units end the text.
fn counted(text: &[u8], words: &[u8], units: &[&[u8]]) -> Option<usize> {
    units.iter().find_map(|unit| {
        let head = text.strip_suffix(*unit)?;
        let digits = head.iter().rev().take_while(|c| c.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        let head = &head[..head.len() - digits];
        head.strip_suffix(words).map(<[u8]>::len)
    })
}

/// `(reason (with parens)) title`, or the title alone.
fn old_skip(text: &[u8]) -> &[u8] {
    if text.first() != Some(&b'(') {
        return text;
    }
    let mut depth = 0_usize;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            let title = text[at + 1..].trim_ascii();
            return if title.is_empty() { text } else { title };
        }
    }
    text
}

/// The file that a complaint names: `# /a/b.bats: line 2: syntax error`.
pub(super) fn file(line: &str) -> Option<&str> {
    let at = line.find(".bats")?;
    let end = at + ".bats".len();
    let start = line[..at]
        .rfind(|c: char| matches!(c, '"' | '\'' | '`') || c.is_whitespace())
        .map_or(0, |before| before + 1);
    // The folder differs from run to run.
    let path = line.get(start..end)?;
    path.rsplit('/').next().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rest: &'static str, passed: bool, timed: Option<bool>) -> (&'static str, bool) {
        let mut timed = timed;
        let (name, skipped) = of_point(rest.as_bytes(), passed, &mut timed);
        (std::str::from_utf8(name).unwrap(), skipped)
    }

    #[test]
    fn only_what_a_formatter_appends_is_cut_off() {
        assert_eq!(read("a # in 89 ms", true, None), ("a", false));
        assert_eq!(read("a in 5 sec", true, Some(false)), ("a in 5 sec", false));
        assert_eq!(read("a in 12ms", true, Some(false)), ("a in 12ms", false));
        assert_eq!(
            read("a in 12ms in 3ms", true, Some(true)),
            ("a in 12ms", false)
        );
        assert_eq!(read("a # skip b", true, None), ("a", true));
        assert_eq!(
            read("a # skipping b", true, None),
            ("a # skipping b", false)
        );
        assert_eq!(read("a # SKIP ", false, None), ("a", true));
        assert_eq!(
            read("a in 3ms # timeout after 1s", false, Some(true)),
            ("a", false)
        );
        assert_eq!(
            read("a # in 3 ms # timeout after 1 s", false, None),
            ("a", false)
        );
    }

    #[test]
    fn the_reason_may_stand_in_front() {
        assert_eq!(
            read("# skip (no (good) reason) a b", true, None),
            ("a b", true)
        );
        assert_eq!(read("# skip a b", true, None), ("a b", true));
    }
}
