//! Python's words about text: what is blank, how lines split, what its pattern classes hold.

use regex::Regex;
use std::borrow::Cow;

/// A pattern compiled at its first use, in Python's meaning of the classes.
macro_rules! pattern {
    ($name:ident = $text:expr) => {
        static $name: std::sync::LazyLock<regex::Regex> =
            std::sync::LazyLock::new(|| $crate::compat::text::compile($text));
    };
}

/// A blank of `str.split`, `str.strip` and `\s`: Unicode's blanks and the four separators of ASCII,
/// which Rust does not count.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

/// `str.strip()`.
pub(super) fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `str.lstrip()`.
pub(super) fn lstrip(text: &str) -> &str {
    text.trim_start_matches(is_space)
}

/// `str.rstrip()`.
pub(super) fn rstrip(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

/// `str.split()`.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// `str.split("\n")`.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut from = 0;
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
    ends.map(move |end| {
        let line = &text[from..end];
        from = end + 1;
        line
    })
}

/// The first byte at or behind `at` that is not one of those that ASCII prints, blanks not among them.
pub(super) fn printed_end(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGHEST: u64 = ONES << 7;
    const FIRST: u64 = ONES * b'!' as u64;
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let word = u64::from_le_bytes(*word);
        // The highest bit of each byte that is too small or too large; what a sum or a difference carries
        // over reaches only bytes above the first of them.
        let found = (word.wrapping_sub(FIRST) | word.wrapping_add(ONES) | word) & HIGHEST;
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let is_printed = |byte: &u8| (b'!'..=b'~').contains(byte);
    at + rest
        .iter()
        .position(|byte| !is_printed(byte))
        .unwrap_or(rest.len())
}

/// `str.splitlines()`.
pub(super) fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some((at, end)) = rest.char_indices().find(|&(_, c)| ends_line(c)) else {
            return Some(std::mem::take(&mut rest));
        };
        let line = &rest[..at];
        rest = &rest[at + end.len_utf8()..];
        if end == '\r' {
            rest = rest.strip_prefix('\n').unwrap_or(rest);
        }
        Some(line)
    })
}

fn ends_line(c: char) -> bool {
    matches!(
        c,
        '\n'..='\r' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// How many characters of blank a line begins with.
pub(super) fn indent(line: &str) -> usize {
    line.chars().take_while(|&c| is_space(c)).count()
}

/// What follows the first `mark`; all of the text where there is none (`split(mark, 1)[-1]`).
pub(super) fn after<'a>(text: &'a str, mark: &str) -> &'a str {
    text.split_once(mark).map_or(text, |(_, rest)| rest)
}

/// What follows the last `mark`; all of the text where there is none (`split(mark)[-1]`).
pub(super) fn after_last<'a>(text: &'a str, mark: &str) -> &'a str {
    text.rsplit_once(mark).map_or(text, |(_, rest)| rest)
}

/// What stands before the first `mark`; all of the text where there is none (`split(mark)[0]`).
pub(super) fn before<'a>(text: &'a str, mark: &str) -> &'a str {
    text.split_once(mark).map_or(text, |(head, _)| head)
}

/// What stands before the last `mark`; all of the text where there is none (`rsplit(mark, 1)[0]`).
pub(super) fn before_last<'a>(text: &'a str, mark: &str) -> &'a str {
    text.rsplit_once(mark).map_or(text, |(head, _)| head)
}

/// The text without its first character, if that is a blank.
pub(super) fn skip_space(text: &str) -> Option<&str> {
    text.strip_prefix(is_space)
}

/// The text without the blanks it begins with, if there are any.
pub(super) fn skip_spaces(text: &str) -> Option<&str> {
    let rest = lstrip(text);
    (rest.len() < text.len()).then_some(rest)
}

/// The text after the decimal digits it begins with, if there are any. Digits of any script count,
/// as in `\d`.
pub(super) fn skip_digits(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(is_digit);
    (rest.len() < text.len()).then_some(rest)
}

pattern!(DIGIT = r"\A\d\z");

/// `\d`.
pub(super) fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || (!c.is_ascii() && DIGIT.is_match(c.encode_utf8(&mut [0; 4])))
}

pattern!(WORD = r"\A\w\z");

/// `\w`: letters, numbers of any kind and the underscore, without the marks that Rust adds.
pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || c == '_'
        || (!c.is_ascii() && WORD.is_match(c.encode_utf8(&mut [0; 4])))
}

pattern!(ESCAPE = r"\x1B(?:[@-Z\\-_]|\[[0-?]*[ -/]*[@-~])");

/// The text without the escape sequences that the harnesses remove.
pub(super) fn without_escapes(text: &str) -> Cow<'_, str> {
    if memchr::memchr(0x1b, text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    ESCAPE.replace_all(text, "")
}

/// `re.sub(r"\s+", " ", text).strip()`.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in words(text) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Compiles a pattern whose `\s`, `\S` and `\w` mean what they mean in Python.
pub(super) fn compile(pattern: &str) -> Regex {
    let mut text = String::with_capacity(pattern.len() * 2);
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match rest.next() {
            Some('s') => text.push_str(r"[\s\x1c-\x1f]"),
            Some('S') => text.push_str(r"[^\s\x1c-\x1f]"),
            Some('w') => text.push_str(r"[\p{L}\p{N}_]"),
            Some(other) => text.extend(['\\', other]),
            None => text.push('\\'),
        }
    }
    Regex::new(&text).expect("the patterns of this module are constants that its tests compile")
}

#[cfg(test)]
mod tests {
    use super::printed_end;

    #[test]
    fn the_first_byte_that_is_not_printed_is_found_at_every_place() {
        for byte in 0..=u8::MAX {
            let is_printed = (b'!'..=b'~').contains(&byte);
            for at in 0..20 {
                let mut bytes = *b"a!~b!~c!~d!~e!~f!~g!";
                bytes[at] = byte;
                let end = if is_printed { bytes.len() } else { at };
                assert_eq!(printed_end(&bytes, 0), end, "{byte} at {at}");
                assert_eq!(printed_end(&bytes, at), end, "{byte} at {at}");
            }
        }
    }
}
