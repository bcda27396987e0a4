//! Taking a patch out of what was put around it. Each function gives the text inside, or nothing if
//! that way of wrapping is not what is there, or not surely.

use super::scan::{Scan, lines};

/// Whether the text has a part of a patch that git would see.
fn is_patch(bytes: &[u8]) -> bool {
    let scan = Scan::of(bytes);
    scan.sections
        .iter()
        .any(|section| section.git.is_some() || !section.hunks.is_empty())
}

/// Text whose line ends are written as `\n`: a JSON string, with or without its quotes.
pub(super) fn json(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?.trim();
    let starts = ["\\n--- ", "\\n+++ ", "\\n@@ "];
    if starts.iter().filter(|start| text.contains(**start)).count() < 2 || text.contains('\n') {
        return None;
    }
    let inside = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(text);
    let mut out = String::with_capacity(inside.len());
    let mut chars = inside.chars();
    while let Some(next) = chars.next() {
        if next != '\\' {
            // A quote that is not escaped: this is more than one string.
            if next == '"' && inside.len() != text.len() {
                return None;
            }
            out.push(next);
            continue;
        }
        match chars.next()? {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'u' => out.push(unicode(&mut chars)?),
            other @ ('"' | '\\' | '/' | '\'') => out.push(other),
            _ => return None,
        }
    }
    is_patch(out.as_bytes()).then(|| out.into_bytes())
}

fn unicode(chars: &mut std::str::Chars<'_>) -> Option<char> {
    let mut unit = || -> Option<u16> {
        let digits: String = chars.by_ref().take(4).collect();
        (digits.len() == 4).then(|| u16::from_str_radix(&digits, 16).ok())?
    };
    let first = unit()?;
    if !(0xd800..0xdc00).contains(&first) {
        return char::from_u32(u32::from(first));
    }
    if (chars.next()?, chars.next()?) != ('\\', 'u') {
        return None;
    }
    let digits: String = chars.by_ref().take(4).collect();
    let second = u16::from_str_radix(&digits, 16).ok()?;
    char::decode_utf16([first, second]).next()?.ok()
}

/// Text in which the characters that HTML escapes appear only escaped.
pub(super) fn html(bytes: &[u8]) -> Option<Vec<u8>> {
    const NAMES: [(&str, &str); 8] = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&#34;", "\""),
        ("&apos;", "'"),
        ("&amp;", "&"),
    ];
    let text = std::str::from_utf8(bytes).ok()?;
    if text.contains(['<', '>']) || !(text.contains("&lt;") || text.contains("&gt;")) {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (name, plain) = NAMES.iter().find(|(name, _)| rest.starts_with(name))?;
        out.push_str(plain);
        rest = &rest[name.len()..];
    }
    out.push_str(rest);
    Some(out.into_bytes())
}

/// Lines that all have one margin of spaces or tabs.
pub(super) fn indented(bytes: &[u8]) -> Option<Vec<u8>> {
    let lines = lines(bytes);
    let first = lines.iter().find(|line| !line.is_blank())?;
    let width = first
        .text
        .iter()
        .position(|byte| !matches!(byte, b' ' | b'\t'))?;
    let margin = &first.text[..width];
    without_margin(bytes, |line| line.strip_prefix(margin)).filter(|_| width > 0)
}

/// Lines that all begin with `> `.
pub(super) fn quoted(bytes: &[u8]) -> Option<Vec<u8>> {
    without_margin(bytes, |line| {
        line.strip_prefix(b"> ")
            .or_else(|| line.strip_prefix(b">").filter(|rest| rest.is_empty()))
    })
}

/// Lines that all begin with their number and one separator.
pub(super) fn numbered(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut before: Option<u64> = None;
    without_margin(bytes, |line| {
        let start = line.iter().position(|byte| *byte != b' ')?;
        let rest = &line[start..];
        let end = rest.iter().position(|byte| !byte.is_ascii_digit())?;
        let number: u64 = std::str::from_utf8(&rest[..end]).ok()?.parse().ok()?;
        if before.is_some_and(|before| number != before + 1) {
            return None;
        }
        before = Some(number);
        let rest = &rest[end..];
        [&b"\t"[..], b": ", b"| ", b" | ", b"|", b":"]
            .iter()
            .find_map(|separator| rest.strip_prefix(*separator))
    })
}

fn without_margin<'a>(
    bytes: &'a [u8],
    mut cut: impl FnMut(&'a [u8]) -> Option<&'a [u8]>,
) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len());
    for line in lines(bytes) {
        match cut(line.text) {
            Some(rest) => out.extend_from_slice(rest),
            // A margin alone may have been trimmed.
            None if line.is_blank() => {}
            None => return None,
        }
        out.extend_from_slice(match (line.cr, line.newline) {
            (true, true) => b"\r\n",
            (true, false) => b"\r",
            (false, true) => b"\n",
            (false, false) => b"",
        });
    }
    is_patch(&out).then_some(out)
}

/// Without a byte order mark; from UTF-16 to UTF-8.
pub(super) fn byte_order_mark(bytes: &[u8]) -> Option<Vec<u8>> {
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return Some(rest.to_vec());
    }
    let read: fn([u8; 2]) -> u16 = match bytes {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let (pairs, rest) = bytes[2..].as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|pair| read(*pair)).collect();
    let text = String::from_utf16(&units).ok()?;
    rest.is_empty().then(|| text.into_bytes())
}

/// Without the colour codes of a terminal.
pub(super) fn colours(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    let mut found = false;
    while let Some(at) = memchr::memmem::find(rest, b"\x1b[") {
        let code = &rest[at + 2..];
        let end = code
            .iter()
            .position(|byte| !matches!(byte, b'0'..=b'9' | b';'))?;
        // Only colours and "erase to the end of the line", which git prints with them.
        if !matches!(code[end], b'm' | b'K') {
            return None;
        }
        out.extend_from_slice(&rest[..at]);
        rest = &code[end + 1..];
        found = true;
    }
    out.extend_from_slice(rest);
    found.then_some(out)
}

/// Without lines that belong to no part of the patch: fences, tags, prose.
pub(super) fn around(bytes: &[u8]) -> Option<Vec<u8>> {
    let scan = Scan::of(bytes);
    if scan.sections.is_empty() || scan.outside.iter().all(|at| scan.lines[*at].is_blank()) {
        return None;
    }
    let whole: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let mut out = Vec::with_capacity(bytes.len());
    for section in &scan.sections {
        out.extend(whole[section.span.clone()].concat());
    }
    Some(out)
}
