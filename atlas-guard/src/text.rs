//! Small looks at source text.

/// How strings and comments are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// `//`, `/* */`, `"…"`, `'…'`, `` `…` ``: JavaScript, Java, C#, PHP, Gradle, C.
    Braces,
    /// As `Braces`, with raw strings, characters and lifetimes: Rust.
    Rust,
    /// `#` and `"…"`: `CMake`, Make, Ruby.
    Hash,
}

/// The text with what stands in strings and comments blanked, byte for byte as long. Line ends stay.
pub(crate) fn mask(text: &str, syntax: Syntax) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = match syntax {
            Syntax::Hash if rest[0] == b'#' => line_length(rest),
            Syntax::Hash if rest[0] == b'"' => quoted(rest, b'"'),
            Syntax::Hash => 0,
            _ if rest.starts_with(b"//") => line_length(rest),
            _ if rest.starts_with(b"/*") => {
                find(&rest[2..], b"*/").map_or(rest.len(), |end| end + 4)
            }
            Syntax::Rust => rust_literal(bytes, at),
            Syntax::Braces if matches!(rest[0], b'"' | b'\'' | b'`') => quoted(rest, rest[0]),
            Syntax::Braces => 0,
        };
        let end = (at + length).min(bytes.len());
        for byte in &mut out[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end.max(at + 1);
    }
    out
}

fn line_length(rest: &[u8]) -> usize {
    rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len())
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|w| w == needle)
}

/// Length of a string that begins here. One of a single line ends with it, so that a stray
/// apostrophe does not swallow the file.
fn quoted(rest: &[u8], quote: u8) -> usize {
    let triple = [quote; 3];
    if rest.starts_with(&triple) && quote != b'`' {
        return find(&rest[3..], &triple).map_or(rest.len(), |end| end + 6);
    }
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 1,
            b'\n' if quote != b'`' => return at,
            byte if byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    rest.len()
}

fn rust_literal(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let in_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    match rest[0] {
        b'"' => {
            let mut end = 1;
            while end < rest.len() && rest[end] != b'"' {
                end += if rest[end] == b'\\' { 2 } else { 1 };
            }
            end + 1
        }
        b'r' if !in_word || bytes[at - 1] == b'b' => {
            let hashes = rest[1..].iter().take_while(|b| **b == b'#').count();
            if rest.get(1 + hashes) != Some(&b'"') {
                return 0;
            }
            let close: Vec<u8> = std::iter::once(b'"')
                .chain(std::iter::repeat_n(b'#', hashes))
                .collect();
            let body = &rest[hashes + 2..];
            find(body, &close).map_or(rest.len(), |end| end + 2 * hashes + 3)
        }
        // A character has its closing quote near; a lifetime has none.
        b'\'' if rest.get(1) == Some(&b'\\') => {
            let close = rest[2..].iter().take(12).skip(1).position(|b| *b == b'\'');
            close.map_or(0, |end| end + 4)
        }
        b'\'' => {
            let close = rest[1..].iter().take(5).skip(1).position(|b| *b == b'\'');
            close.map_or(0, |end| {
                if end == 0 || rest[1] >= 0x80 {
                    end + 3
                } else {
                    0
                }
            })
        }
        _ => 0,
    }
}

/// Where the bracket closes that opens at `open` of a masked text: the place behind it.
pub(crate) fn closing(masked: &[u8], open: usize) -> Option<usize> {
    let (up, down) = match masked.get(open)? {
        b'{' => (b'{', b'}'),
        b'(' => (b'(', b')'),
        b'[' => (b'[', b']'),
        _ => return None,
    };
    let mut depth = 0_usize;
    for (at, byte) in masked.iter().enumerate().skip(open) {
        if *byte == up {
            depth += 1;
        } else if *byte == down {
            depth -= 1;
            if depth == 0 {
                return Some(at + 1);
            }
        }
    }
    None
}

/// The text without differences that mean nothing: white space at ends of lines, blank lines.
pub(crate) fn normal(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether the lines of `part` stand in `whole` in that order, blank ones aside.
pub(crate) fn keeps_lines(whole: &str, part: &str) -> bool {
    let mut lines = whole.lines().map(str::trim);
    part.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .all(|wanted| lines.any(|line| line == wanted))
}
